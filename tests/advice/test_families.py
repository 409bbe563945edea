"""What is offered in clusters of one family each, and what never is."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from kubectl_spread.advice.change import Setback, Suggestion, Suggestions, Why
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.report.explain.suggestions import effect_sentence, lines, none_lines
from kubectl_spread.report.table import Style
from tests.advice.test_cases import suggestions
from tests.judge import pending_families

Plain = dict[str, Any]


@functools.cache
def offered(family: str, *, most: int = 10) -> tuple[tuple[Suggestion, ...], ...]:
    """The suggestions for the first five clusters of a family in which a pod waits."""
    found = [items for seed in range(10) if (items := pending_families.generated(family, seed)) is not None]
    return tuple(suggestions(items, most=most) for items in found[:5])


def titles(found: tuple[Suggestion, ...]) -> str:
    return "; ".join(item.title for item in found)


@pytest.mark.parametrize(
    ("family", "first"),
    [
        ("one_pod_per_claim", ("run one replica: one pod at a time may use claim one",)),
        ("canary_is_counted", ("add track notin (canary) to the selector of the constraint on ",)),
        (
            "idle_nodes_are_tainted",
            ("set nodeTaintsPolicy: Honor in ", "tolerate the taint dedicated=batch:NoSchedule"),
        ),
    ],
)
def test_this_comes_first(family: str, first: tuple[str, ...]) -> None:
    """The first suggestion ends the reason for which the pod waits."""
    for found in offered(family):
        assert found[0].title.startswith(first)


@pytest.mark.parametrize(
    ("family", "title"),
    [
        ("selector_without_own_pods", "select the pod's own labels: app: web"),
        ("cordon_and_a_later_ordinal", "uncordon node"),
        ("required_affinity", " a preferred one"),
        ("volumes_at_the_limit", "add a node with cpu 100m free"),
    ],
)
def test_this_is_offered(family: str, title: str) -> None:
    """It is among the suggestions in most of the clusters."""
    found = offered(family)

    assert sum(title in titles(items) for items in found) >= 0.6 * len(found)


@pytest.mark.parametrize("family", pending_families.FAMILIES)
def test_the_workload_itself_is_never_stopped(family: str) -> None:
    """Its replicas are never set to 0, and the strategy of a rollout changes before its template."""
    for item in (item for found in offered(family) for item in found):
        assert not any("--replicas=0" in line for line in item.commands)
        patches = [line for line in item.commands if " patch " in line]
        assert not any("rollingUpdate" in line for line in patches[1:])


def test_a_node_of_another_tier_comes_last() -> None:
    """It is labelled only after everything else, and the answer says which tier loses it."""
    for found in offered("node_of_another_tier"):
        places = [at for at, item in enumerate(found) if "no longer belongs to tier=" in item.gives_up]

        assert places in ([], [len(found) - 1])


def test_a_change_that_helps_some_pods_says_how_many_still_wait() -> None:
    """The cordoned node takes the next ordinal; the one after it has no room."""
    partial = [item for found in offered("cordon_and_a_later_ordinal") for item in found if not item.is_complete]

    assert partial
    for item in partial:
        assert f"{item.effect.pending_after} other pod" in effect_sentence(item)


def test_a_lost_node_with_a_pod_of_a_stateful_set() -> None:
    """Deleting the node lets the pod be created elsewhere, while it may still run."""
    items = pending_families.lost_node()
    found = suggestions(items, most=10)

    deleting = next(item for item in found if item.title.startswith("delete node c1"))
    assert any(note.startswith("make sure that c1 is off: db-2 may still run there") for note in deleting.notes)


def test_the_answer_says_why_the_obvious_change_does_not_help() -> None:
    """One line for each of the most obvious changes."""
    message = "0/2 nodes are available: 2 Insufficient cpu."
    failed = (
        Setback(Why.POD_WAITS, 1, message=message, title="set maxSkew: 2"),
        Setback(Why.OWN_WAIT, 2, ObjectKey("Deployment", "shop", "web"), title="uncordon node b1"),
        Setback(Why.OTHERS_WAIT, 1, ObjectKey("Deployment", "shop", "api"), title="delete pod api-1"),
    )

    assert none_lines(Suggestions(tried=7, failed=failed)) == [
        "No change that was tried helps; 7 changes tried, such as:",
        f"  - set maxSkew: 2: the pod still finds no node ({message})",
        "  - uncordon node b1: in the end 2 pods of Deployment web would still be Pending",
        "  - delete pod api-1: in the end 1 other pod of Deployment api would be Pending",
    ]


@pytest.mark.parametrize(("verified", "expected"), [(5, "--suggestions 10"), (22, "--suggestions 22")])
def test_the_answer_names_the_number_that_shows_all(verified: int, expected: str) -> None:
    (item, *_), *_ = offered("one_pod_per_claim")

    assert lines(Suggestions((item,), verified=verified), Style(is_detailed=True))[-1].endswith(
        f"more changes: {expected}"
    )
