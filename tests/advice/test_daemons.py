"""What DaemonSets put on nodes that a suggestion adds or opens is part of what is promised."""

from __future__ import annotations

from tests.advice.strategies import owned
from tests.advice.test_moves import hard, n, spread, suggestions, web
from tests.naive.builders import Plain, pod

DEDICATED = {"key": "dedicated", "value": "db", "effect": "NoSchedule"}


def agents(**spec: object) -> Plain:
    """A DaemonSet whose pods the constraint of `web` counts."""
    container = {"name": "c", "image": "agent", "resources": {"requests": {"cpu": "200m"}}}
    template = {"metadata": {"labels": {"app": "web", "agent": ""}}, "spec": {"containers": [container], **spec}}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"agent": ""}}, "template": template},
    }


def running(node: str, cpu: str = "200m") -> Plain:
    """The DaemonSet's pod on a node."""
    item = pod(f"agent-{node}", on=node, labels={"app": "web", "agent": ""}, requests={"cpu": cpu})
    return owned(item, "DaemonSet", "agent")


ZONES = [n("a1", "a"), n("b1", "b", allocatable={"cpu": "200m", "pods": "10"})]
WEB = [web("w-0", on="a1"), web("w-1", requests={"cpu": "500m"}, **spread(hard()))]
AGENTS = [agents(), running("a1"), running("b1")]


def counts(objects: list[Plain], title: str) -> dict[str, int]:
    """The pods that are counted by zone after a suggestion."""
    found = next(item for item in suggestions(objects, most=20) if item.title.startswith(title))
    return dict(found.effect.spreads[0].after.domains)


def test_a_new_node_gets_the_pod_of_a_daemon_set() -> None:
    """The constraint counts it, and the node has room for it beside what is asked for."""
    title = "add a node to zone b with cpu 500m"

    full = n("a1", "a", allocatable={"cpu": "300m", "pods": "10"})

    assert counts([full, ZONES[1], *WEB, *AGENTS], title) == {"a": 2, "b": 3}
    assert counts([*ZONES, *WEB], title) == {"a": 1, "b": 1}


def test_a_daemon_set_for_other_nodes_puts_nothing_there() -> None:
    elsewhere = agents(nodeSelector={"gpu": "true"})

    assert counts([*ZONES, *WEB, elsewhere], "add a node to zone b with cpu 500m") == {"a": 1, "b": 1}


def test_a_node_without_its_taint_gets_the_pod_of_a_daemon_set() -> None:
    """It was kept away by the taint, as the pod that waits was."""
    tainted = [n("a1", "a"), n("b1", "b", spec={"taints": [DEDICATED]})]

    assert counts([*tainted, *WEB, agents(), running("a1")], "remove the taint") == {"a": 2, "b": 2}


def test_a_cordoned_node_has_its_pod_already() -> None:
    """Pods of DaemonSets tolerate a cordon."""
    cordoned = [n("a1", "a"), n("b1", "b", spec={"unschedulable": True})]

    assert counts([*cordoned, *WEB, *AGENTS], "uncordon") == {"a": 2, "b": 2}
