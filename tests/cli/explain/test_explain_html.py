"""The page of `explain -o html`: whole without a network or scripts, and nothing in a cluster becomes markup."""

from __future__ import annotations

import html
import json
import re
import subprocess
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from tests.browser import CHROMIUM, needs_browser, run_in_pages
from tests.pages.parsing import assert_is_closed_off, Page

EXAMPLES = Path(__file__).parents[3] / "examples"
SHOP = ["explain", "deploy/web", "-n", "shop", "--snapshot", str(EXAMPLES / "shop" / "cluster.yaml")]
OUTVOTED = EXAMPLES / "scenarios" / "soft-constraint-outvoted"


def page(capsys: pytest.CaptureFixture[str], command: list[str]) -> str:
    run([*command, "-o", "html"])
    return capsys.readouterr().out


def test_the_page_asks_for_nothing_and_runs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert_is_closed_off(page(capsys, SHOP))


def test_the_page_says_what_the_text_says(capsys: pytest.CaptureFixture[str]) -> None:
    told = " ".join(Page(page(capsys, SHOP)).text.split())

    assert "allows only zone c. Its only node, cp-1, has the untolerated taint" in told
    assert "1 + 1 - 0 = 2 > 1" in told
    assert "1. Set nodeTaintsPolicy: Honor in the constraint on topology.kubernetes.io/zone" in told
    assert "kubectl patch deployment web -n shop --type=json" in told


HOSTILE = '<script>alert("x")</script>&<b>\x1b[31m'


def test_nothing_in_a_cluster_becomes_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Label values, names, taints and messages come from whoever may write them."""
    zone = "topology.kubernetes.io/zone"
    refused = {"type": "PodScheduled", "status": "False", "message": f"0/2 nodes are available: 2 {HOSTILE}."}
    constraint = {"maxSkew": 1, "topologyKey": zone, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
    pod = {
        "kind": "Pod",
        "metadata": {"name": HOSTILE, "labels": {"app": HOSTILE}},
        "spec": {"topologySpreadConstraints": [constraint], "containers": [], "nodeSelector": {"disk": HOSTILE}},
        "status": {"conditions": [refused]},
    }
    node = {
        "kind": "Node",
        "metadata": {"name": HOSTILE, "labels": {zone: HOSTILE}},
        "spec": {"taints": [{"key": HOSTILE, "effect": "NoSchedule"}]},
    }
    event = {
        "kind": "Event",
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": HOSTILE},
        "reason": HOSTILE,
        "message": HOSTILE,
    }
    facts = tmp_path / "facts.json"
    facts.write_text(json.dumps({"kind": "List", "items": [node, pod, event]}), encoding="utf-8")
    text = page(capsys, ["explain", "pod", HOSTILE.replace("/", "/"), "--snapshot", str(facts)])
    tags = {tag for tag, _ in Page(text).tags}

    assert "script" not in tags
    assert "\x1b" not in text
    assert Page(text).open == []


def shown(file: Path) -> tuple[Path, set[str]]:
    """A browser's screenshot of a page, and what the page asked for by the browser's own log."""
    log, shot = file.with_suffix(".net.json"), file.with_suffix(".png")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
    flags += [
        "--disable-background-networking",
        "--disable-component-update",
        f"--user-data-dir={file.parent / 'user'}",
    ]
    flags += ["--window-size=1000,1400", f"--log-net-log={log}", f"--screenshot={shot}"]
    subprocess.run([CHROMIUM, *flags, file.as_uri()], check=True, capture_output=True, timeout=120)
    asked = [event.get("params", {}) for event in json.loads(log.read_text(encoding="utf-8"))["events"]]
    own = (item for item in asked if str(item.get("network_isolation_key", "")).startswith("file:"))
    return shot, {item["url"] for item in own if not item["url"].startswith("file:")}


@pytest.mark.slow
@needs_browser
def test_a_browser_shows_the_page_without_asking_for_anything_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The log of a page that asks names it; that of this one names nothing, and the screenshot is not blank."""
    page_file, asking = tmp_path / "page.html", tmp_path / "asking.html"
    page_file.write_text(page(capsys, SHOP), encoding="utf-8")
    asking.write_text('<!DOCTYPE html><img src="http://127.0.0.1:9/x.png">', encoding="utf-8")

    assert shown(asking)[1] == {"http://127.0.0.1:9/x.png"}
    shot, asked = shown(page_file)
    assert asked == set()
    assert shot.stat().st_size > 20_000


def headings(text: str) -> list[str]:
    """The headings of a page below the verdict."""
    found = re.findall(r"<h2>(.*?)</h2>", text, re.DOTALL)
    return [html.unescape(heading) for heading in found]


@pytest.mark.parametrize(
    "command",
    [
        SHOP,
        ["explain", "-f", str(OUTVOTED / "before.yaml"), "--topology", str(OUTVOTED / "cluster.yaml")],
        [*SHOP, "--node", "a-1"],
    ],
    ids=["pending", "scores", "one node"],
)
def test_sections_are_those_of_the_text_with_details(
    command: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    run([*command, "--details"])
    lines = [line.rstrip(":.") for line in capsys.readouterr().out.splitlines()]
    found = headings(page(capsys, command))

    assert found
    found = [heading for heading in found if heading != "Where it can go"]  # a picture
    assert sorted(found) == sorted(line for line in lines if line in found)


def test_the_page_names_the_cluster_the_version_and_the_time(capsys: pytest.CaptureFixture[str]) -> None:
    told = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page(capsys, SHOP)))

    assert ["cluster.yaml", "rules of 1.36"] == [Path(told["Cluster"]).name, told["Kubernetes"]]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", told["Time"])


def test_scores_are_a_table_and_every_cell_has_its_heading(capsys: pytest.CaptureFixture[str]) -> None:
    """On a narrow screen a table becomes blocks, in which each cell stands beside the name of its column."""
    command = ["explain", "-f", str(OUTVOTED / "before.yaml"), "--topology", str(OUTVOTED / "cluster.yaml")]
    found = Page(page(capsys, command))
    cells = [attrs for tag, attrs in found.tags if tag == "td"]

    assert {"NODE", "TOTAL", "NodeAffinity", "Domain", "If placed here"} <= {attrs.get("data-label") for attrs in cells}
    assert [] == [attrs for attrs in cells if not attrs.get("data-label")]


@pytest.mark.slow
@needs_browser
def test_the_page_fits_420_pixels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is wider than the screen of a telephone."""
    (tmp_path / "page.html").write_text(page(capsys, SHOP), encoding="utf-8")
    code = "document => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    (found,) = run_in_pages([(tmp_path / "page.html", 420)], code, tmp_path)

    assert found[0] <= found[1] <= 420


def test_each_node_has_its_reason_and_the_pod_is_beside_them(capsys: pytest.CaptureFixture[str]) -> None:
    found = Page(page(capsys, SHOP)).words

    assert "c 0 pods, 1 node cp-1 taint node-role.kubernetes.io/control-plane:NoSchedule no pods" in found
    assert "Pending no node" in found
    assert "this pod" in found
