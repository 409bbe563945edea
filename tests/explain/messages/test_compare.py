"""What was said then, and what would be said now."""
# ruff: noqa: E501, ISC004 (lines are kept as the scheduler writes them)

from __future__ import annotations

import pytest

from kubectl_spread.explain.messages.catalogue import ReasonKind
from kubectl_spread.explain.messages.compare import compare, Comparison, ComparisonResult, CountChange
from kubectl_spread.report.explain.pod_report import counts as sentence

NOW = (
    "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 node(s) had untolerated taint(s). no new "
    "claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
)


def test_the_same_text_is_the_same_whatever_dots_end_it() -> None:
    found = compare(NOW.rstrip("."), NOW + ".")

    assert Comparison(ComparisonResult.SAME, 3, 3) == found
    assert "the same as now" == sentence(found)


@pytest.mark.parametrize(
    "then",
    [
        # 1.21
        "0/3 nodes are available: 1 node(s) didn't match node selector, 1 node(s) had taint {a: }, that the pod didn't "
        "tolerate, 1 node(s) had taint {b: c}, that the pod didn't tolerate.",
        # 1.28
        "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint {a: }, 1 "
        "node(s) had untolerated taint {b: c}. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
        # a node that a name in the affinity leaves out
        "0/3 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity], 2 node(s) had untolerated taint(s). no new "
        "claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
    ],
)
def test_another_releases_words_for_the_same_counts(then: str) -> None:
    found = compare(then, NOW)

    assert Comparison(ComparisonResult.SAME_BUT_WORDING, 3, 3) == found
    assert "the same as now, as another release writes it" == sentence(found)


def test_what_the_old_summary_says_twice_counts_once() -> None:
    then = "0/2 nodes are available: 2 node(s) didn't match pod affinity/anti-affinity, 2 node(s) didn't match pod anti-affinity rules."

    assert (
        ComparisonResult.SAME_BUT_WORDING
        is compare(then, "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules.").outcome
    )


def test_a_reason_of_the_whole_pod_is_of_all_nodes() -> None:
    then = "0/2 nodes are available: 2 pod has unbound immediate PersistentVolumeClaims."

    assert (
        ComparisonResult.SAME_BUT_WORDING
        is compare(then, "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found").outcome
    )


def test_one_change() -> None:
    found = compare("0/5 nodes are available: 2 Insufficient cpu.", "0/6 nodes are available: 1 Insufficient cpu.")

    assert (
        Comparison(ComparisonResult.DIFFERENT, 5, 6, (CountChange(ReasonKind.RESOURCES, "Insufficient cpu", 2, 1),))
        == found
    )
    assert "then 2 Insufficient cpu of 5 nodes; now 1 of 6" == sentence(found)


def test_several_changes() -> None:
    found = compare(
        "0/2 nodes are available: 2 Insufficient cpu.", "0/2 nodes are available: 1 Insufficient cpu, 1 Too many pods."
    )

    assert "2 nodes then, 2 now: Insufficient cpu: 2 then, 1 now; Too many pods: 0 then, 1 now" == sentence(found)


def test_more_nodes_with_nothing_else_changed_is_a_difference() -> None:
    found = compare("0/2 nodes are available: 1 Too many pods.", "0/3 nodes are available: 1 Too many pods.")

    assert ComparisonResult.DIFFERENT is found.outcome
    assert "the same reasons; then 2 nodes, now 3 nodes" == sentence(found)


def test_preemption_is_compared_where_both_say_what_it_came_to() -> None:
    found = compare(
        NOW, NOW.replace("3 Preemption is", "1 No preemption victims found for incoming pod, 2 Preemption is")
    )

    assert ((), 2) == (found.changes, len(found.preemption))
    assert (
        "the same reasons; of preemption Preemption is not helpful for scheduling: 3 then, 2 now; No preemption victims found "
        "for incoming pod: 0 then, 1 now" == sentence(found)
    )


@pytest.mark.parametrize(
    "then", ["", "what?", "0/3 nodes are available: 3 Insuf...", "no nodes available to schedule pods"]
)
def test_what_is_no_list_of_nodes_is_not_compared(then: str) -> None:
    found = compare(then, NOW)

    assert ComparisonResult.INCOMPARABLE is found.outcome
    assert "not comparable" == sentence(found)
