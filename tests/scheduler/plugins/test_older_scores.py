"""Score plugins that only older releases have: SelectorSpread and NodePreferAvoidPods."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.objects.releases.version import Release
from tests.naive.builders import node, pod, ZONE
from tests.scheduler.plugins.asking import scored

Plain = dict[str, Any]

OLD = Release(19, 16)
WEB = {"app": "web"}
SERVICE = {"kind": "Service", "metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": WEB}}


def web(on: str, count: int) -> list[Plain]:
    return [pod(f"{on}-{at}", on=on, labels=WEB) for at in range(count)]


BARE = [node("x"), node("y"), node("z"), *web("x", 3), *web("y", 1)]
ZONED = [
    node("a1", labels={ZONE: "A"}),
    node("a2", labels={ZONE: "A"}),
    node("b1", labels={ZONE: "B"}),
    *web("a1", 2),
    *web("b1", 1),
]


@pytest.mark.parametrize(
    ("incoming", "objects", "expected"),
    [
        # Three pods are the most, so a node scores 100 times a third of the difference.
        pytest.param(pod("p", labels=WEB), [*BARE, SERVICE], {"x": 0, "y": 66, "z": 100}, id="nodes"),
        pytest.param(pod("p", labels=WEB), BARE, {"x": 100, "y": 100, "z": 100}, id="no Service selects the pod"),
        pytest.param(
            pod("p", labels=WEB, topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "k"}]),
            [*BARE, SERVICE],
            {"x": 0, "y": 0, "z": 0},
            id="a pod with constraints of its own",
        ),
        # Nodes: a1 0, a2 100, b1 50. Zones: A 2 of 2 is 0, B 1 of 2 is 50. A third of the node, two of the zone.
        pytest.param(pod("p", labels=WEB), [*ZONED, SERVICE], {"a1": 0, "a2": 33, "b1": 50}, id="zones count twice"),
    ],
)
def test_selector_spread_prefers_nodes_and_zones_with_fewer_pods(
    incoming: Plain, objects: list[Plain], expected: dict[str, int]
) -> None:
    """The default of releases without built-in default constraints."""
    assert expected == scored("SelectorSpread", incoming, *objects, release=OLD)


def owned(kind: str, uid: str) -> Plain:
    made = pod("p")
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": "web", "uid": uid, "controller": True}
    made["metadata"]["ownerReferences"] = [reference]
    return made


AVOIDS = (
    '{"preferAvoidPods": [{"podSignature": {"podController": '
    '{"kind": "ReplicaSet", "name": "web", "uid": "u-1", "controller": true}}}]}'
)


@pytest.mark.parametrize(
    ("incoming", "expected"),
    [
        pytest.param(owned("ReplicaSet", "u-1"), {"avoiding": 0, "n": 100}, id="its controller is named"),
        pytest.param(owned("ReplicaSet", "u-2"), {"avoiding": 100, "n": 100}, id="another controller"),
        pytest.param(owned("StatefulSet", "u-1"), {"avoiding": 100, "n": 100}, id="kinds that are not looked at"),
        pytest.param(pod("p"), {"avoiding": 100, "n": 100}, id="no controller"),
    ],
)
def test_a_node_may_avoid_the_pods_of_a_controller(incoming: Plain, expected: dict[str, int]) -> None:
    """The annotation names kind and uid."""
    avoiding = node("avoiding")
    avoiding["metadata"]["annotations"] = {"scheduler.alpha.kubernetes.io/preferAvoidPods": AVOIDS}

    assert expected == scored("NodePreferAvoidPods", incoming, avoiding, node("n"), release=OLD)


def test_dynamic_resources_scores_every_node_0_without_claims() -> None:
    """The plugin takes part in every release that has it."""
    assert {"x": 0, "y": 0, "z": 0} == scored("DynamicResources", pod("p"), *BARE)
