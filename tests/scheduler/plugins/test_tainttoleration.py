"""TaintToleration, tables of cases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.naive.builders import node, pod
from tests.scheduler.plugins.asking import Answer, filtered, FITS, scored, UU

Plain = dict[str, Any]

REFUSED = UU("node(s) had untolerated taint(s)")


def taint(key: str, effect: str = "NoSchedule", value: str = "") -> Plain:
    return {"key": key, "value": value, "effect": effect}


def tainted(name: str, *taints: Plain) -> Plain:
    return node(name, spec={"taints": list(taints)})


@pytest.mark.parametrize(
    ("taints", "tolerations", "expected"),
    [
        pytest.param([], [], FITS, id="no taint"),
        pytest.param([taint("db")], [], REFUSED, id="no toleration"),
        pytest.param([taint("db", "NoExecute")], [], REFUSED, id="NoExecute refuses, too"),
        pytest.param([taint("db", "PreferNoSchedule")], [], FITS, id="PreferNoSchedule never refuses"),
        pytest.param([taint("db", value="a")], [{"key": "db", "value": "a"}], FITS, id="no operator is Equal"),
        pytest.param([taint("db", value="a")], [{"key": "db", "value": "b"}], REFUSED, id="another value"),
        pytest.param([taint("db", value="a")], [{"key": "db", "operator": "Exists"}], FITS, id="Exists, any value"),
        pytest.param([taint("db")], [{"operator": "Exists"}], FITS, id="Exists without a key, any taint"),
        pytest.param(
            [taint("db", "NoExecute")],
            [{"key": "db", "operator": "Exists", "effect": "NoSchedule"}],
            REFUSED,
            id="tolerated for another effect",
        ),
        pytest.param(
            [taint("db"), taint("gpu")], [{"key": "db", "operator": "Exists"}], REFUSED, id="one of two is tolerated"
        ),
        pytest.param(
            [taint("size", value="7")], [{"key": "size", "operator": "Gt", "value": "5"}], REFUSED, id="Gt is off"
        ),
    ],
)
def test_every_taint_that_keeps_pods_away_must_be_tolerated(
    taints: list[Plain], tolerations: list[Plain], expected: Answer
) -> None:
    """NoSchedule and NoExecute refuse; one reason, however many taints there are."""
    assert {"n": expected} == filtered("TaintToleration", pod("p", tolerations=tolerations), tainted("n", *taints))


SOFT = "PreferNoSchedule"


@pytest.mark.parametrize(
    ("tolerations", "expected"),
    [
        # Untolerated soft taints: none 0, one 1, three 3. The score is 100 - 100 * count // 3.
        pytest.param([], {"none": 100, "one": 67, "three": 0}, id="fewer soft taints are better"),
        # none 0, one 0, three 2.
        pytest.param([{"key": "a"}], {"none": 100, "one": 100, "three": 0}, id="a tolerated one does not count"),
        # A toleration of another effect is not considered.
        pytest.param(
            [{"key": "a", "effect": "NoSchedule"}], {"none": 100, "one": 67, "three": 0}, id="the effect matters"
        ),
        pytest.param([{"operator": "Exists"}], {"none": 100, "one": 100, "three": 100}, id="all are tolerated"),
        pytest.param([{"key": "b"}, {"key": "c"}], {"none": 100, "one": 0, "three": 0}, id="equal counts"),
    ],
)
def test_nodes_with_fewer_soft_taints_score_higher(tolerations: list[Plain], expected: dict[str, int]) -> None:
    """The count of untolerated PreferNoSchedule taints, normalized in reverse."""
    nodes = (
        tainted("none", taint("z")),
        tainted("one", taint("a", SOFT)),
        tainted("three", taint("a", SOFT), taint("b", SOFT), taint("c", SOFT)),
    )

    assert expected == scored("TaintToleration", pod("p", tolerations=tolerations), *nodes)


def test_without_soft_taints_all_nodes_score_100() -> None:
    """A highest count of 0 is normalized to 100."""
    assert {"a": 100, "b": 100} == scored("TaintToleration", pod("p"), tainted("a"), tainted("b", taint("db")))
