"""Groups that a selector matches are those that a look at every group finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.cluster.columns import LabelGroup, LabelGroups
from kubectl_spread.objects.selectors import LabelRequirement, Selector

WORDS = st.sampled_from(["a", "b", "c"])
LABELS = st.dictionaries(WORDS, WORDS, max_size=2).map(lambda found: tuple(sorted(found.items())))
GROUPS = st.lists(st.tuples(WORDS, LABELS, st.booleans()).map(lambda item: LabelGroup(*item)), max_size=10)
REQUIREMENTS = st.one_of(
    st.tuples(WORDS, st.just("In"), st.lists(WORDS, min_size=1, max_size=2).map(tuple)),
    st.tuples(WORDS, st.sampled_from(["Exists", "DoesNotExist"]), st.just(())),
).map(lambda item: LabelRequirement(*item))
SELECTORS = st.none() | st.lists(REQUIREMENTS, max_size=2).map(tuple)


@pytest.mark.slow
@given(GROUPS, GROUPS, GROUPS, WORDS, SELECTORS)
def test_groups_are_found_by_label_as_by_search(
    first: list[LabelGroup],
    later: list[LabelGroup],
    fresh: list[LabelGroup],
    namespace: str,
    requirements: tuple[LabelRequirement, ...] | None,
) -> None:
    """Also if there were fewer groups when the selector was asked for."""
    groups, selector = LabelGroups(), Selector(requirements)
    asked: list[LabelGroup] = []
    for more in (first, later, fresh):
        for group in more:
            at = groups.add(group)
            assert groups.all[at] == group
        asked += more
        every = groups.all
        matched = [group.namespace == namespace and selector.matches(dict(group.labels)) for group in every]
        counted = [found and not group.terminating for found, group in zip(matched, every, strict=True)]

        assert every == list(dict.fromkeys(asked))
        assert groups.all_matches(namespace, selector).tolist() == matched
        assert groups.matching(namespace, selector).tolist() == counted
