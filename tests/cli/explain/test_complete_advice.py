"""What `explain` advises is all that is needed, and it says no more than was simulated."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_spread.advice.problem import of_pod
from kubectl_spread.advice.search import suggest
from kubectl_spread.cli.main import run
from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.explain.explanation import explain
from kubectl_spread.scheduler.profiles import profiles
from tests.judge.clusters import HOSTNAME, ZONE

CASES = Path(__file__).parents[2] / "cases" / "explain"
EXAMPLES = Path(__file__).parents[3] / "examples"


def _explained(path: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    run(["explain", *(arguments or ("-A",)), "--snapshot", str(path)])
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("naff", "Do: write node affinity topology.kubernetes.io/zone in (c) instead of"),
        ("aff", "to app=cache (no matching pod runs on any node: start one, or correct the selector)"),
        ("prio", "It evicts no pod, because its preemptionPolicy is Never; else it would evict shop/batch on c1."),
        ("gate", "Do: check the controller of example.com, which has to remove the gates;"),
    ],
)
def test_the_answer_names(name: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert words in _explained(CASES / f"advice-{name}.yaml", capsys)


@pytest.mark.parametrize(
    ("selector", "labelled"), [({"pool": "gpu"}, ", labelled pool=gpu"), ({"kubernetes.io/os": "linux"}, ""), ({}, "")]
)
def test_a_new_node_is_named_with_the_labels_that_the_pod_needs(selector: dict[str, str], labelled: str) -> None:
    room = {"cpu": "100m", "pods": "110"}
    labels = {HOSTNAME: "a1", ZONE: "a", "kubernetes.io/os": "linux"}
    node = {"kind": "Node", "metadata": {"name": "a1", "labels": labels}, "status": {"allocatable": room}}
    container = {"name": "c", "resources": {"requests": {"cpu": "1"}}}
    pod = {
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"containers": [container], "nodeSelector": selector},
    }
    cluster, known = cluster_of([node, pod]), profiles()
    problem = of_pod(explain(cluster.pending()[0], cluster, known), cluster, known)

    assert problem is not None
    titles = [item.title for item in suggest(problem).items]
    assert f"add a node with cpu 1 free{labelled}" in titles


def test_a_workload_that_is_not_in_the_facts_is_not_promised(
    pods_alone: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name = ("pod", "web-6d4f9c7b58-9pdlw", "-n", "shop")
    out = _explained(Path(pods_alone), capsys, *name)

    assert "in every simulated order" not in out
    assert (
        "Not simulated: the settings of Deployment web, which is not in the facts; defaults were used for its "
        "4 pods." in out
    )


def test_an_unknown_controller_is_not_said_to_keep_its_pods(capsys: pytest.CaptureFixture[str]) -> None:
    out = _explained(EXAMPLES / "scenarios" / "local-volume-pins-a-pod" / "snapshot.yaml", capsys)

    assert "Not simulated to the end. The pod goes to a1. Pods per zone" in out
