"""The page of `status -o html`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from tests.cli.running_objects import constraint, deployment, node, pod, replica_set, ZONES
from tests.pages.parsing import assert_is_closed_off, Page

Plain = dict[str, Any]

HOSTILE = '<script>alert("x")</script>&<b>\x1b[31m'


@pytest.fixture
def facts(tmp_path: Path) -> Any:
    """Writes cluster facts; their path."""

    def written(*objects: Plain) -> str:
        path = tmp_path / "facts.json"
        nodes = [node(name, zone) for name, zone in ZONES.items()]
        path.write_text(json.dumps({"kind": "List", "items": [*nodes, *objects]}))
        return str(path)

    return written


def page(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    run(["status", "-A", "-o", "html", *args])
    return capsys.readouterr().out


def two_revisions() -> list[Plain]:
    """Two pods of the current revision, one of the earlier, a terminating and a Pending one."""
    going = pod("w-9", "b1", metadata={"deletionTimestamp": "2026-01-03T00:00:00Z"})
    return [
        deployment(constraint()),
        replica_set(),
        replica_set("web-2", "2"),
        pod("w-1", "a1"),
        pod("w-2", "a1", owner="web-2"),
        pod("w-3", "a1", owner="web-2"),
        going,
        pod("w-4", owner="web-2"),
    ]


def test_the_page_is_closed_off(facts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert_is_closed_off(page(capsys, "--snapshot", facts(*two_revisions())), has_script=True)


def test_each_pod_is_a_dot_in_the_box_of_its_node_by_revision(facts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    found = Page(page(capsys, "--snapshot", facts(*two_revisions()))).words

    assert "a 3 pods, 1 node a1 2 current revision, 1 earlier revision" in found
    assert "b1 1 terminating: still on its node, no longer counted" in found
    assert "c1 no pods" in found
    assert "Pending no node 1 Pending w-4" in found


def test_the_chart_shows_the_minimum_the_limit_and_the_pods_above_it(
    facts: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    text = page(capsys, "--snapshot", facts(*two_revisions()))
    found = Page(text).words

    assert "topology.kubernetes.io/zone, maxSkew 1, DoNotSchedule violated" in found
    assert "Skew 3: the fullest domain has 3, the global minimum is 0. At most 1 is allowed." in found
    assert "3 matching pods 2 over the limit" in found
    assert '<rect class="part" width="10" height="10"/><rect class="over" x="10" width="20" height="10"/>' in text


def test_pods_of_other_workloads_that_a_constraint_counts_are_drawn(
    facts: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = {"namespace": "shop", "name": "alone", "labels": {"app": "web"}, "ownerReferences": []}
    found = Page(
        page(capsys, "--snapshot", facts(deployment(constraint()), replica_set(), pod("x", "b1", metadata=labels)))
    ).words

    assert "b1 1 pod of another workload that a constraint counts" in found


def test_the_table_of_the_terminal_is_on_the_page(facts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    found = Page(page(capsys, "--snapshot", facts(*two_revisions()))).words

    assert "shop deployment/web zone 1 DoNotSchedule 3 a=3 b=0 c=0 3 violated, pending 1" in found


def test_nothing_in_a_cluster_becomes_markup(facts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = constraint(topologyKey=HOSTILE)
    objects = two_revisions()
    nodes = [node(HOSTILE, HOSTILE, taints=[{"key": HOSTILE, "effect": "NoSchedule"}])]
    nodes[0]["metadata"]["labels"][HOSTILE] = HOSTILE
    objects[0] = deployment(constraint(), hostile)
    for item in objects[3:]:
        item["metadata"]["name"] += HOSTILE
    objects[-1]["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "message": HOSTILE}]
    text = page(capsys, "--snapshot", facts(*nodes, *objects))

    assert_is_closed_off(text, has_script=True)
    assert "\x1b" not in text
    assert "&lt;script&gt;" in text


def test_the_page_goes_to_a_file(facts: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    snapshot = facts(*two_revisions())
    code = run(["status", "-A", "-o", f"html={tmp_path / 'page.html'}", "--snapshot", snapshot])

    assert (1, "") == (code, capsys.readouterr().out)
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("form", ["json", "prometheus", "wide"])
def test_every_format_can_go_to_a_file(
    form: str, facts: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    snapshot = facts(*two_revisions())
    run(["status", "-A", "-o", form, "--snapshot", snapshot])
    out = capsys.readouterr().out
    code = run(["status", "-A", "-o", f"{form}={tmp_path / 'file'}", "--snapshot", snapshot])

    assert (0 if form == "prometheus" else 1, "") == (code, capsys.readouterr().out)
    assert out == (tmp_path / "file").read_text()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-o", "html="], "no file is named: html="),
        (["-o", "htm"], "'htm' is not one of 'wide', 'json', 'yaml', 'prometheus', 'html'"),
        (["-w", "-o", "html"], "-w prints changes to standard output, so it cannot write a page or a file"),
        (["-w", "-o", "json=x.json"], "-w prints changes to standard output, so it cannot write a page or a file"),
    ],
)
def test_wrong_outputs_are_wrong_usage(args: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == run(["status", *args])
    assert message in capsys.readouterr().err


def test_a_cluster_without_constraints_has_a_page(facts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        "No workloads with spread constraints found"
        in assert_is_closed_off(page(capsys, "--snapshot", facts()), has_script=True).words
    )


def test_a_page_without_workloads_says_so_in_the_words_of_the_terminal(
    facts: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    snapshot = facts()
    run(["status", "-n", "shop", "-o", "html", "--snapshot", snapshot])
    found = capsys.readouterr()
    run(["status", "-n", "shop", "--snapshot", snapshot])

    assert "No workloads with spread constraints found in shop namespace.\n" == capsys.readouterr().err
    assert "<h1>No workloads with spread constraints found in shop namespace</h1>" in found.out
    assert "every DoNotSchedule constraint holds" not in found.out


def test_the_table_comes_first_and_leads_to_the_pictures(facts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    text = page(capsys, "--snapshot", facts(*two_revisions()))

    assert text.index("<table") < text.index('class="card"')
    assert '<a href="#w1">deployment/web</a>' in text
    assert '<section class="card" id="w1" data-name="shop deployment/web" data-tone="bad">' in text


def test_a_zone_that_takes_all_pods_of_a_workload_is_named(facts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Not if the pods are in two zones."""
    one = [deployment(constraint()), replica_set(), pod("w-1", "a1"), pod("w-2", "a1")]

    text = page(capsys, "--snapshot", facts(*one))
    assert "1 of 1 workload cannot survive zone a: all its pods run there." in Page(text).words
    text = page(capsys, "--snapshot", facts(*one, pod("w-3", "b1")))
    assert "cannot survive" not in text


def test_a_constraint_that_holds_is_not_ok_for_the_pods_that_it_blocks(
    facts: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    message = "0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints."
    waiting = {**pod("w-2"), "status": pending(message)}
    other = {**pod("w-3"), "status": pending("0/3 nodes are available: 3 Insufficient cpu.")}
    text = page(capsys, "--snapshot", facts(deployment(constraint()), replica_set(), pod("w-1", "a1"), waiting, other))

    assert "DoNotSchedule blocks 1 pod" in Page(text).words


def pending(message: str) -> Plain:
    """The status of a pod that the scheduler refused."""
    refused = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    return {"phase": "Pending", "conditions": [refused]}


def test_a_page_says_when_its_facts_were_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not when the page was made."""
    head = {"apiVersion": "kubectl-spread/v1", "kind": "Snapshot", "readAt": "2026-01-02T03:04:05Z"}
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({**head, "items": [node("a1", "a"), deployment(constraint()), replica_set()]}))
    words = Page(page(capsys, "--snapshot", str(path))).words

    assert "Read at 2026-01-02 03:04 UTC" in words
    assert "Time" not in words
