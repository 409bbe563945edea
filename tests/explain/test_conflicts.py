"""Sets of requirements that leave no node: each is infeasible, and every part of it is not."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st

from kubectl_spread.explain.requirements import requirement
from kubectl_spread.explain.requirements.collect import requirements
from kubectl_spread.explain.requirements.requirement import causes, conflict_sets, Requirement, RequirementKind
from tests.explain.relaxed import asked, left
from tests.explain.tight import tight_cases
from tests.naive.strategies import cases

pytestmark = pytest.mark.slow

Plain = dict[str, Any]

many = settings(
    max_examples=120, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)

# Dropping one of these drops volumes, which the limit of volumes counts.
_ABOUT_VOLUMES = {RequirementKind.DISK, RequirementKind.UNBOUND_CLAIMS, RequirementKind.CLAIM_IN_USE}


@many
@given(st.one_of(tight_cases(), tight_cases(), cases()))
def test_no_node_meets_a_set_and_some_node_every_part_of_it(case: Plain) -> None:
    """The scheduler says so, asked about a pod that has the requirements of the set only."""
    of = asked(case)
    if of is None or not of.cluster.nodes:
        return
    found = requirements(of.pod.cls, of.filtered)
    for conflict in conflict_sets(found, has_words=True)[0][:6]:
        chosen = conflict.requirements
        others = {item.kind for item in found if item not in chosen}
        if any(item.kind is RequirementKind.VOLUME_LIMIT for item in chosen) and others & _ABOUT_VOLUMES:
            continue
        assert left(of, chosen, found) == set(), [item.text for item in chosen]
        for size in range(len(chosen)):
            for part in itertools.combinations(chosen, size):
                assert left(of, part, found), ([item.text for item in part], [item.text for item in chosen])


@many
@given(st.one_of(tight_cases(), tight_cases(), cases()))
def test_what_is_left_without_one_requirement_is_what_the_scheduler_says(case: Plain) -> None:
    """Also where the pod fits: each mask is the difference that the requirement makes."""
    of = asked(case)
    if of is None or not of.cluster.nodes:
        return
    found = requirements(of.pod.cls, of.filtered)
    if any(item.kind is RequirementKind.VOLUME_LIMIT for item in found):
        return
    for item in found:
        alone = {node.name for node, fits in zip(of.cluster.nodes, item.allowed, strict=True) if fits}
        assert left(of, [item], found) == alone, item.text


def _requirement(allowed: tuple[bool, ...], at: int) -> Requirement:
    return Requirement("Plugin", f"r{at}", np.array(allowed, np.bool_), at=at, why=lambda among: f"{int(among.sum())}")


@st.composite
def _masks(draw: st.DrawFn) -> list[Requirement]:
    nodes, count = draw(st.integers(1, 7)), draw(st.integers(0, 6))
    masks = [draw(st.tuples(*[st.booleans()] * nodes)) for _ in range(count)]
    return [_requirement(mask, at) for at, mask in enumerate(masks)]


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(_masks())
def test_all_sets_are_found_the_smallest_first(found: list[Requirement]) -> None:
    """Every subset is tried."""
    expected: list[tuple[int, ...]] = []
    for size in range(1, len(found) + 1):
        for chosen in itertools.combinations(range(len(found)), size):
            fits = np.logical_and.reduce([found[at].allowed for at in chosen])
            if not fits.any() and not any(set(other) <= set(chosen) for other in expected):
                expected.append(chosen)

    sets, more, is_complete = conflict_sets(found, has_words=False)

    told = [tuple(item.at for item in conflict.requirements) for conflict in sets]
    assert told == expected[: requirement.MAX_SETS]
    assert more == max(0, len(expected) - requirement.MAX_SETS)
    assert is_complete


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(_masks(), st.integers(0, 2**6 - 1))
def test_a_cause_has_a_reason_for_each_node(found: list[Requirement], choosing: int) -> None:
    """Either requirements leave it out, or one refuses it. No cause is without words, and none repeats another."""
    affinity = RequirementKind.NODE_AFFINITY
    found = [item._replace(kind=affinity) if choosing >> at & 1 else item for at, item in enumerate(found)]
    names = [f"n{at}" for at in range(len(found[0].allowed))] if found else []
    every = causes(found, conflict_sets(found, has_words=False)[0], names, has_words=False)

    assert sum(len(cause.ids) for cause in every) == len({item for cause in every for item in cause.ids})
    for cause in every:
        assert cause.narrowing or cause.refusals
        assert {name for item in cause.refusals for name in item.nodes} >= set(cause.decisive)


def test_sets_beyond_the_first_are_counted() -> None:
    """Five nodes that either of two requirements refuses each: 2 ** 5 sets."""
    found = [_requirement(tuple(node != at // 2 for node in range(5)), at) for at in range(10)]

    sets, more, is_complete = conflict_sets(found, has_words=False)

    assert (len(sets), more, is_complete) == (20, 12, True)


def test_the_search_ends_where_there_are_too_many_sets() -> None:
    """Twenty such nodes: a million sets of twenty requirements each, of which one is told."""
    found = [_requirement(tuple(node != at // 2 for node in range(20)), at) for at in range(40)]

    sets, _, is_complete = conflict_sets(found, has_words=False)

    assert not is_complete
    assert [[item.at for item in conflict.requirements] for conflict in sets] == [list(range(0, 40, 2))]


def test_each_requirement_speaks_of_the_nodes_that_those_before_it_leave() -> None:
    first = _requirement((False, False, True), 0)
    second = _requirement((False, True, False), 1)

    ((conflict,), *_) = conflict_sets([first, second], has_words=True)

    assert conflict.arithmetic == ("2", "1")
