"""All pages in a headless Chromium: their layout at two widths, their script, and their accessibility."""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from tests.browser import needs_browser, run_in_pages

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOP = EXAMPLES / "shop"
WEB = str(EXAMPLES / "simulations" / "manifests" / "web.yaml")
COMMANDS = {
    "status": ["status", "-A", "--snapshot", str(SHOP / "running.yaml")],
    "check": ["check", str(SHOP / "web.yaml"), "--snapshot", str(SHOP / "cluster.yaml")],
    "explain": ["explain", "deploy/web", "-n", "shop", "--snapshot", str(SHOP / "cluster.yaml")],
    "simulate": ["simulate", "-f", WEB, "--topology", "zones=3,nodes=2", "rollout", "restart", "deploy/web"],
    "rebalance": ["rebalance", "-A", "--snapshot", str(EXAMPLES / "rebalance" / "zone-came-back.yaml")],
    "guarantee": ["guarantee", "-f", WEB, "--topology", "zones=3,nodes=2", "--less-than", "zone=1/2"],
    "many": ["check", WEB, "--topology", "zones=3,nodes=1000"],
}
WIDTHS = (420, 1600)

LAYOUT = """document => {
  const box = element => {
    const {left, right, top, bottom} = element.getBoundingClientRect();
    return {left, right, top, bottom};
  };
  const all = selector => [...document.querySelectorAll(selector)];
  const tree = all(".map").map(map => ({
    domains: [...map.querySelectorAll(".domain")].map(domain => ({
      ...box(domain), nodes: [...domain.querySelectorAll(".node")].map(node => ({
        ...box(node), dots: [...node.querySelectorAll(".d")].map(box)}))})),
    apart: [...map.querySelectorAll(".apart")].map(box)}));
  const bars = all("svg.bar").map(svg => ({
    ...box(svg), parts: [...svg.querySelectorAll("rect.part, rect.over")].map(box)}));
  return {width: document.documentElement.clientWidth, wide: document.documentElement.scrollWidth,
    tree: tree.filter(map => map.domains.some(domain => domain.right)), bars: bars.filter(bar => bar.right),
    text: document.body.innerText};
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a page of each command."""
    made = tmp_path_factory.mktemp("pages")
    for name, command in COMMANDS.items():
        run([*command, "-o", f"html={made / name}.html"])
    return made


@pytest.fixture(scope="module")
def layouts(folder: Path) -> dict[tuple[str, int], Any]:
    """The boxes of each page at each width, from one run of the browser."""
    wanted = [(name, width) for name in COMMANDS for width in WIDTHS]
    found = run_in_pages([(folder / f"{name}.html", width) for name, width in wanted], LAYOUT, folder)
    return dict(zip(wanted, found, strict=True))


def is_inside(inner: dict[str, float], outer: dict[str, float]) -> bool:
    return (
        outer["left"] <= inner["left"] + 1
        and inner["right"] <= outer["right"] + 1
        and outer["top"] <= inner["top"] + 1
        and inner["bottom"] <= outer["bottom"] + 1
    )


def overlap(one: dict[str, float], other: dict[str, float]) -> bool:
    return (
        one["left"] < other["right"] - 1
        and other["left"] < one["right"] - 1
        and one["top"] < other["bottom"] - 1
        and other["top"] < one["bottom"] - 1
    )


def boxes_of(layout: Any) -> Iterator[tuple[list[Any], Any]]:
    """Boxes side by side, with the box around them."""
    for map_ in layout["tree"]:
        yield [*map_["domains"], *map_["apart"]], None
        for domain in map_["domains"]:
            yield domain["nodes"], domain
            for node in domain["nodes"]:
                yield node["dots"], node


@needs_browser
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_wider_than_the_screen(name: str, width: int, layouts: dict[tuple[str, int], Any]) -> None:
    found = layouts[name, width]

    assert found["wide"] <= found["width"] <= width


@needs_browser
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "explain"])
def test_dots_are_in_nodes_and_nodes_in_domains(name: str, width: int, layouts: dict[tuple[str, int], Any]) -> None:
    """No boxes beside each other overlap, and each box is inside the one around it."""
    found = list(boxes_of(layouts[name, width]))

    assert len(found) > 5
    for boxes, around in found:
        assert not [(one, other) for at, one in enumerate(boxes) for other in boxes[:at] if overlap(one, other)]
        assert around is None or all(is_inside(box, around) for box in boxes)


@needs_browser
def test_domains_are_beside_each_other_on_a_wide_screen_and_below_each_other_on_a_narrow_one(
    layouts: dict[tuple[str, int], Any],
) -> None:
    narrow, wide = ([domain["top"] for domain in layouts["status", width]["tree"][0]["domains"]] for width in WIDTHS)

    assert len(set(narrow)) == len(narrow) > 1
    assert len(set(wide)) == 1


@needs_browser
def test_bars_are_as_long_as_their_counts(layouts: dict[tuple[str, int], Any]) -> None:
    """The first violated constraint of the example has 3, 0 and 0 pods; 1 is allowed."""
    for width in WIDTHS:
        first, *_ = layouts["status", width]["bars"]
        lengths = [part["right"] - part["left"] for part in first["parts"]]

        assert lengths[1] == pytest.approx(2 * lengths[0], rel=0.01)
        assert sum(lengths) == pytest.approx(first["right"] - first["left"], rel=0.01)


SLIDE = """async (document, window) => {
  const shown = () => [...document.querySelectorAll(".frame")].filter(frame => frame.getClientRects().length).length;
  const texts = [...document.querySelectorAll(".what")];
  const what = () => texts.find(item => item.getClientRects().length).textContent.trim();
  const input = document.querySelector("input"), [back, next] = document.querySelectorAll(".slider button");
  const found = [[shown(), input.getClientRects().length, what()]];
  next.click();
  found.push([shown(), input.value, input.getAttribute("aria-valuetext")]);
  input.value = input.max; input.dispatchEvent(new window.Event("input"));
  next.click();
  found.push([shown(), input.value === input.max, what()]);
  for (let at = 0; at <= input.max; at++) back.click();
  found.push([shown(), input.value, what()]);
  return found;
}"""


@needs_browser
def test_the_slider_shows_one_moment_at_a_time(folder: Path) -> None:
    (found,) = run_in_pages([(folder / "simulate.html", 1000)], SLIDE, folder)

    start, first, end, again = found
    assert start == [1, 1, "Before rollout restart deploy/web"]
    assert first[:2] == [1, "1"]
    assert re.match(r"1 of \d+: rollout restart deploy/web is accepted\.", first[2])
    assert end[:2] == [1, True]
    assert again == [1, "0", "Before rollout restart deploy/web"]


@needs_browser
def test_without_scripts_the_slider_is_hidden_and_every_moment_shown(folder: Path) -> None:
    code = """document => [
      [...document.querySelectorAll(".frame")].every(frame => frame.getClientRects().length),
      document.querySelectorAll(".frame").length, document.querySelector(".slider").getClientRects().length]"""
    (found,) = run_in_pages([(folder / "simulate.html", 1000)], code, folder, script=False)

    assert found[0]
    assert found[1] > 5
    assert found[2] == 0


@needs_browser
def test_the_policy_stops_every_other_script_and_style(folder: Path, tmp_path: Path) -> None:
    """Of a page into which somebody has got markup."""
    text = (folder / "simulate.html").read_text(encoding="utf-8")
    added = "<style>h1 { color: rgb(1, 2, 3) !important }</style><script>document.title = 'taken'</script>"
    (tmp_path / "page.html").write_text(text.replace("</main>", f"{added}</main>"), encoding="utf-8")
    code = "(document, window) => [document.title, window.getComputedStyle(document.querySelector('h1')).color]"
    (found,) = run_in_pages([(tmp_path / "page.html", 1000)], code, tmp_path)

    assert found[0] == "rollout restart deploy/web: completes"
    assert found[1] != "rgb(1, 2, 3)"


AXE = """async (document, window) => {
  for (const item of document.querySelectorAll("details")) item.open = true;
  const result = await window.axe.run(document, {resultTypes: ["violations"]});
  return result.violations.map(item => [item.id, item.nodes.slice(0, 3).map(node => node.html.slice(0, 200))]);
}"""


@needs_browser
@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_axe_finds_no_violation(is_dark: bool, folder: Path, tmp_path: Path) -> None:
    """axe-core runs in copies without the policy, which would stop it."""
    pytest.importorskip("axe_core_python", reason="axe-core-python is not installed")
    axe = importlib.resources.files("axe_core_python") / "axe.min.js"
    (tmp_path / "axe.js").write_text(axe.read_text(encoding="utf-8"), encoding="utf-8")
    for name in COMMANDS:
        text = (folder / f"{name}.html").read_text(encoding="utf-8")
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
        text = text.replace("</body>", '<script src="axe.js"></script></body>')
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
    wanted = [(tmp_path / f"{name}.html", width) for name in COMMANDS for width in WIDTHS]
    found = run_in_pages(wanted, AXE, tmp_path, dark=is_dark)

    assert [] == [(page.name, width, result) for (page, width), result in zip(wanted, found, strict=True) if result]


ROWS = """document => [...document.querySelectorAll("tbody tr")].map(row => [...row.children].map(
  cell => [cell.getBoundingClientRect().top, window.getComputedStyle(cell).display]))"""


@needs_browser
def test_cells_of_a_row_are_beside_each_other(folder: Path) -> None:
    wanted = [(folder / f"{name}.html", 1600) for name in ("explain", "guarantee")]
    for rows in run_in_pages(wanted, ROWS, folder):
        assert rows
        for row in rows:
            assert {"table-cell"} == {display for _, display in row}
            assert 1 == len({round(top) for top, _ in row})


PRINTED = """document => ({
  frames: [...document.querySelectorAll(".frame")].map(frame => frame.getClientRects().length > 0),
  slider: [...document.querySelectorAll(".slider")].some(bar => bar.getClientRects().length),
  details: [...document.querySelectorAll("details.more > :not(summary)")].every(item => item.getClientRects().length),
  wide: document.documentElement.scrollWidth <= document.documentElement.clientWidth})"""


@needs_browser
def test_on_paper_every_moment_is_shown_and_no_slider(folder: Path, tmp_path: Path) -> None:
    """The print style is in force in these copies, after the script has hidden all moments but one."""
    pages = []
    for name in COMMANDS:
        text = (folder / f"{name}.html").read_text(encoding="utf-8").replace("@media print", "@media all")
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
        pages.append((tmp_path / f"{name}.html", 700))
    found = dict(zip(COMMANDS, run_in_pages(pages, PRINTED, tmp_path), strict=True))

    assert len(found["simulate"]["frames"]) > 5
    assert len(found["guarantee"]["frames"]) > 3
    for item in found.values():
        assert all(item["frames"])
        assert not item["slider"]
        assert item["details"]
        assert item["wide"]


KEYS = """(document, window) => {
  const bar = document.querySelector(".slider"), input = bar.querySelector("input");
  const found = [...bar.querySelectorAll("button, input")].map(item => {
    item.focus();
    return [item.tagName, item.type, document.activeElement === item, item.tabIndex,
      window.getComputedStyle(item).outlineStyle];
  });
  input.stepUp(3); input.dispatchEvent(new window.Event("input", {bubbles: true}));
  return [found, input.value, [...document.querySelectorAll(".frame")].findIndex(item => item.getClientRects().length)];
}"""


@needs_browser
@pytest.mark.parametrize("name", ["simulate", "guarantee"])
def test_the_slider_is_a_native_one_that_keys_move(name: str, folder: Path) -> None:
    """Tab reaches Back, the slider and Next in turn; a step of the slider shows the moment of its number."""
    (found,) = run_in_pages([(folder / f"{name}.html", 1000)], KEYS, folder)
    controls, value, shown = found

    assert [["BUTTON", "button", True, 0], ["INPUT", "range", True, 0], ["BUTTON", "button", True, 0]] == [
        item[:4] for item in controls
    ]
    assert ("3", 3) == (value, shown)


WHOLE = """(document, window) => [...document.querySelectorAll(".frame")].map(frame => [
  frame.querySelectorAll(".domain").length, frame.querySelectorAll(".domain.same").length,
  frame.querySelectorAll(".plan .d").length])"""


@needs_browser
def test_the_script_draws_what_a_moment_shares_with_the_one_before(folder: Path) -> None:
    """Without the script these domains say `as before`."""
    (drawn,) = run_in_pages([(folder / "simulate.html", 1000)], WHOLE, folder)
    (plain,) = run_in_pages([(folder / "simulate.html", 1000)], WHOLE, folder, script=False)

    assert [domains for domains, _, _ in drawn] == [domains for domains, _, _ in plain]
    assert 0 == sum(same for _, same, _ in drawn)
    assert 0 == plain[0][1]
    assert sum(same for _, same, _ in plain) > 5
    assert all(dots >= 3 for _, _, dots in drawn)
