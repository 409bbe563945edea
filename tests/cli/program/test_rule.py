"""What `rule` prints."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.lint.registry import RULES


def test_without_a_word_every_rule_has_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS")

    assert 0 == run(["rule"])
    head, *lines = capsys.readouterr().out.splitlines()

    assert ["CODE", "NAME", "SEVERITY", "RUNS", "FIX", "FINDS"] == head.split()
    assert sorted(RULES) == [line.split()[0] for line in lines]


def test_a_line_says_where_a_rule_is_followed_and_what_can_be_mended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS")

    assert 0 == run(["rule"])
    columns = [re.split(r" {3,}", line) for line in capsys.readouterr().out.splitlines()]
    told = {line[0]: line[2:5] for line in columns}

    assert ["error", "always", "safe, unsafe"] == told["SPR201"]
    assert ["info", "opinion, cluster facts", "<none>"] == told["SPR504"]
    assert ["error", "cluster facts", "unsafe"] == told["SPR903"]


def test_a_page_says_it_too_and_so_does_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == run(["rule", "SPR701"])
    assert 0 == run(["rule", "SPR701", "-o", "json"])
    page, _, document = capsys.readouterr().out.partition("\n[")
    (told,) = json.loads(f"[{document}")

    assert page.startswith("SPR701 hard-zone-without-min-domains (warning, opinion, unsafe fix)\n")
    assert (True, False, ["unsafe"]) == (told["isOpinion"], told["needsClusterFacts"], told["fixes"])
    assert ["cluster-autoscaler", "karpenter"] == told["autoscalers"]


def test_a_rule_has_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    """Its head, and what its module says."""
    assert 0 == run(["rule", "deprecated-key"])
    out = capsys.readouterr().out

    assert out.startswith(
        "SPR602 deprecated-key (warning, safe fix)\n\n`topologyKey` is a deprecated label.\n\n## What it does\n\n"
        "Reports `failure-domain.beta.kubernetes.io/zone` and `/region`, deprecated since 1.17."
    )
    assert "\n\n## Example\n\n    apiVersion: apps/v1\n" in out
    assert out.endswith("## Fix safety\n\nThe fix is safe: nodes with the old label have the new one as well.\n")


def test_several_are_told_in_the_order_of_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == run(["rule", "SPR3", "spr101", "-o", "json"])
    told = json.loads(capsys.readouterr().out)

    assert ["SPR101", *(code for code in RULES if code.startswith("SPR3"))] == [rule["code"] for rule in told]
    assert all(rule["documentation"] for rule in told)


def test_an_unknown_rule_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == run(["rule", "SPR506", "SPRXX"])
    assert "error: no rule is called `SPRXX`\n" in capsys.readouterr().err
    assert 2 == run(["rule", "daemonsett"])
    assert "error: no rule is called `daemonsett`: did you mean `daemonset`?\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("rule", ""), 2, "a rule is empty: name a code"),
        (("check", "web.yaml", "--select", ""), 2, "--select is empty: name a rule"),
        (("check", "web.yaml", "--topology", ","), 2, "--topology is empty: write zones=3,nodes=2 or a file"),
        (("check", "web.yaml", "--topology", "empty.yaml"), 3, "empty.yaml: the file is empty"),
        (("check", "-A", "--snapshot", "folder"), 3, "folder: no file in the directory"),
    ],
)
def test_what_is_empty_is_named(
    args: tuple[str, ...],
    code: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("web.yaml").write_text("kind: Pod\n")
    Path("empty.yaml").write_text("")
    Path("folder").mkdir()

    assert run(list(args)) == code
    assert capsys.readouterr().err.startswith(f"error: {message}")


def test_words_that_name_no_rule_are_searched_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The best match comes first, at most ten are shown, and standard error says how to read a page."""
    monkeypatch.delenv("COLUMNS")

    assert 0 == run(["rule", "minDomains", "autoscaler"])
    out, err = capsys.readouterr()
    head, *lines = out.splitlines()

    assert head.startswith("CODE     NAME ")
    assert "SPR505" == lines[0].split()[0]
    assert len(lines) <= 10
    assert err.endswith("`kubectl spread rule SPR505` prints the page of the best match\n")


def test_the_page_of_a_single_match_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == run(["rule", "cordoned nodes"])
    out, err = capsys.readouterr()

    assert (True, "") == (out.startswith("SPR301 tainted-nodes-counted (warning, unsafe fix)\n\n"), err)


def test_a_search_in_json_has_every_match_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == run(["rule", "minDomains", "autoscaler", "-o", "json"])
    told = [rule["code"] for rule in json.loads(capsys.readouterr().out)]

    assert "SPR505" == told[0]
    assert told != sorted(told)


def test_a_message_of_the_scheduler_has_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == run(["rule", "0/5 nodes are available: 5 node(s) didn't match pod topology spread constraints."])
    assert capsys.readouterr().err.startswith(
        "hint: `kubectl spread explain --message` explains this message in full\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("zebra", "xylophone"), "no rule has the words `zebra xylophone` in its name or page"),
        (("zebra",), "no rule is called `zebra`"),
        (("selector-mising", "daemonset"), "no rule is called `selector-mising`: did you mean `selector-missing`?"),
        (("SPR99",), "no rule is called `SPR99`"),
    ],
)
def test_a_search_without_a_match_is_wrong_usage(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == run(["rule", *words])
    assert f"error: {message}" == capsys.readouterr().err.splitlines()[0]


@pytest.mark.parametrize("words", [(), ("SPR3",), ("cordoned", "nodes")])
def test_lists_and_pages_fit_a_narrow_terminal(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Examples keep their lines, because they are copied."""
    monkeypatch.setenv("COLUMNS", "60")

    assert 0 == run(["rule", *words])
    out = capsys.readouterr().out
    assert [] == [line for line in out.splitlines() if len(line) > 60 and not line.startswith("    ")]


def test_prose_wraps_at_the_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """In a pipe its lines stay as they are written."""
    monkeypatch.setenv("COLUMNS", "60")

    assert 0 == run(["rule", "SPR305"])
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("## Why it matters")
    assert [
        "",
        "The affinity wants all pods in one domain. The constraint",
        "allows at most `maxSkew` more pods there than in the",
        "emptiest domain. With two or more domains the first pods",
        "start and the rest stay Pending.",
        "",
    ] == lines[at + 1 : at + 7]


@pytest.mark.parametrize(
    ("columns", "header"),
    [
        ("60", ["CODE", "FINDS"]),
        ("80", ["CODE", "NAME", "FINDS"]),
        ("120", ["CODE", "NAME", "SEVERITY", "FINDS"]),
        ("200", ["CODE", "NAME", "SEVERITY", "RUNS", "FIX", "FINDS"]),
    ],
)
def test_a_narrow_terminal_has_fewer_columns(
    columns: str, header: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The code and what the rule finds are always there, and each rule has a row."""
    monkeypatch.setenv("COLUMNS", columns)

    assert 0 == run(["rule"])
    head, *lines = capsys.readouterr().out.splitlines()
    assert header == head.split()
    assert sorted(RULES) == [line.split()[0] for line in lines if line[0] != " "]
