"""NodeAffinity, tables of cases."""

from __future__ import annotations

from typing import Any, Union

import pytest

from tests.naive.builders import node, pod
from tests.scheduler.plugins.asking import Answer, filtered, FITS, scored, SKIP, UU

Plain = dict[str, Any]

NODES = (
    node("big", labels={"size": "32", "disk": "ssd"}),
    node("small", labels={"size": "4", "disk": "hdd"}),
    node("plain", labels={"size": "many"}),
)
NO = UU("node(s) didn't match Pod's node affinity/selector")
ENFORCED = UU("node(s) didn't match scheduler-enforced node affinity")


def requires(*terms: Plain) -> Plain:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


def labels(key: str, operator: str, *values: str) -> Plain:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def named(operator: str, *values: str) -> Plain:
    return {"matchFields": [{"key": "metadata.name", "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({"nodeSelector": {"disk": "ssd"}}, {"big"}, id="nodeSelector"),
        pytest.param({"nodeSelector": {"disk": "ssd", "size": "4"}}, set(), id="every pair of nodeSelector"),
        pytest.param({"affinity": requires(labels("disk", "In", "ssd", "hdd"))}, {"big", "small"}, id="In"),
        pytest.param({"affinity": requires(labels("disk", "NotIn", "hdd"))}, {"big", "plain"}, id="NotIn, absent key"),
        pytest.param({"affinity": requires(labels("disk", "Exists"))}, {"big", "small"}, id="Exists"),
        pytest.param({"affinity": requires(labels("disk", "DoesNotExist"))}, {"plain"}, id="DoesNotExist"),
        pytest.param({"affinity": requires(labels("size", "Gt", "4"))}, {"big"}, id="Gt compares integers"),
        pytest.param(
            {"affinity": requires(labels("size", "Lt", "32"))}, {"small"}, id="Lt skips what is not an integer"
        ),
        pytest.param(
            {"affinity": requires(labels("disk", "In", "ssd"), labels("disk", "In", "hdd"))},
            {"big", "small"},
            id="one term is enough",
        ),
        pytest.param(
            {
                "affinity": requires(
                    {
                        "matchExpressions": [
                            *labels("disk", "Exists")["matchExpressions"],
                            *labels("size", "Gt", "4")["matchExpressions"],
                        ]
                    }
                )
            },
            {"big"},
            id="every expression of a term",
        ),
        pytest.param({"affinity": requires({})}, set(), id="an empty term matches nothing"),
        pytest.param({"affinity": requires(named("NotIn", "big"))}, {"small", "plain"}, id="NotIn of the name"),
        pytest.param(
            {"nodeSelector": {"disk": "hdd"}, "affinity": requires(labels("size", "Gt", "4"))},
            set(),
            id="nodeSelector and affinity",
        ),
    ],
)
def test_a_node_must_match_nodeselector_and_one_required_term(spec: Plain, expected: set[str]) -> None:
    """All others are refused for good."""
    answers = {item["metadata"]["name"]: FITS if item["metadata"]["name"] in expected else NO for item in NODES}

    assert answers == filtered("NodeAffinity", pod("p", **spec), *NODES)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({}, SKIP, id="nothing is required"),
        pytest.param(
            {
                "affinity": requires(
                    {"matchFields": [*named("In", "big")["matchFields"], *named("In", "small")["matchFields"]]}
                )
            },
            UU("pod affinity terms conflict"),
            id="two names in one term",
        ),
    ],
)
def test_prefilter_answers_for_all_nodes(spec: Plain, expected: Union[str, UU]) -> None:
    """Without requirements there is nothing to filter; names that exclude each other leave no node."""
    assert expected == filtered("NodeAffinity", pod("p", **spec), *NODES)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({}, {"big": FITS, "small": ENFORCED, "plain": ENFORCED}, id="added affinity alone"),
        pytest.param(
            {"nodeSelector": {"disk": "hdd"}},
            {"big": NO, "small": ENFORCED, "plain": ENFORCED},
            id="added affinity is asked first",
        ),
    ],
)
def test_added_affinity_of_the_scheduler_is_required_as_well(spec: Plain, expected: dict[str, Answer]) -> None:
    """Its reason is another one."""
    added = requires(labels("disk", "In", "ssd"))["nodeAffinity"]

    assert expected == filtered("NodeAffinity", pod("p", **spec), *NODES, arguments={"addedAffinity": added})


def prefers(*terms: tuple[int, Plain]) -> Plain:
    preferred = [{"weight": weight, "preference": term} for weight, term in terms]
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}


@pytest.mark.parametrize(
    ("affinity", "expected"),
    [
        # Sums: big 80, small 20, plain 0; the highest is 100.
        pytest.param(
            prefers((80, labels("disk", "In", "ssd")), (20, labels("disk", "In", "hdd"))),
            {"big": 100, "small": 25, "plain": 0},
            id="the highest sum is 100",
        ),
        # big 30 + 3, small 3, plain 0: 100 * 3 // 33 = 9.
        pytest.param(
            prefers((30, labels("disk", "In", "ssd")), (3, labels("disk", "Exists"))),
            {"big": 100, "small": 9, "plain": 0},
            id="weights add up, and the division truncates",
        ),
        pytest.param(prefers((5, labels("disk", "In", "nvme"))), {"big": 0, "small": 0, "plain": 0}, id="no match"),
        pytest.param(prefers((5, {})), {"big": 0, "small": 0, "plain": 0}, id="an empty preference matches nothing"),
        pytest.param(None, None, id="no preference: PreScore skips"),
    ],
)
def test_preferred_terms_add_their_weight(affinity: Any, expected: Any) -> None:
    """The sums are normalized so that the highest is 100."""
    assert expected == scored("NodeAffinity", pod("p", **({"affinity": affinity} if affinity else {})), *NODES)
