"""NodeUnschedulable, a table of cases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.naive.builders import node, pod
from tests.scheduler.plugins.asking import Answer, filtered, FITS, UU

KEY = "node.kubernetes.io/unschedulable"
CORDONED = UU("node(s) were unschedulable")


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        pytest.param(None, CORDONED, id="no toleration"),
        pytest.param({"key": KEY, "operator": "Exists", "effect": "NoSchedule"}, FITS, id="key and effect"),
        pytest.param({"key": KEY, "operator": "Exists"}, FITS, id="every effect of the key"),
        pytest.param({"operator": "Exists"}, FITS, id="every taint"),
        pytest.param({"operator": "Exists", "effect": "NoSchedule"}, FITS, id="every taint of the effect"),
        pytest.param({"key": KEY, "effect": "NoSchedule"}, FITS, id="Equal with the empty value"),
        pytest.param({"key": KEY, "value": "true", "effect": "NoSchedule"}, CORDONED, id="Equal with another value"),
        pytest.param({"key": KEY, "operator": "Exists", "effect": "NoExecute"}, CORDONED, id="another effect"),
        pytest.param({"key": "maintenance", "operator": "Exists"}, CORDONED, id="another key"),
        pytest.param({"key": KEY, "operator": "Exists", "effect": "PreferNoSchedule"}, CORDONED, id="a preference"),
    ],
)
def test_a_cordoned_node_needs_a_toleration(toleration: Any, expected: Answer) -> None:
    """The plugin makes up a taint with the empty value and the effect NoSchedule."""
    cordoned = node("n", spec={"unschedulable": True})
    asking = pod("p", tolerations=[toleration] if toleration else [])

    assert {"n": expected, "open": FITS} == filtered("NodeUnschedulable", asking, cordoned, node("open"))


def test_the_taint_of_a_cordoned_node_is_not_looked_at() -> None:
    """Without spec.unschedulable the node fits here, whatever its taints are."""
    tainted = node("n", spec={"taints": [{"key": KEY, "effect": "NoSchedule"}]})

    assert {"n": FITS} == filtered("NodeUnschedulable", pod("p"), tainted)
