"""Which pods a ReplicaSet keeps, against every order in which it may remove them."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Optional

from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_spread.simulate.scale_down import least_uneven

NODES = {"a1": "a", "a2": "a", "b1": "b", "c1": "c", "x1": None}


def narrowest(nodes: list[str], others: dict[str, int], replicas: int) -> int:
    """The least that domains are apart, over all ways to remove pods of equal rank."""
    ranks = Counter(nodes)
    skews = []
    for kept in itertools.combinations(range(len(nodes)), replicas):
        gone = [at for at in range(len(nodes)) if at not in kept]
        if all(ranks[nodes[stays]] <= ranks[nodes[goes]] for stays in kept for goes in gone):
            counts = Counter(NODES[nodes[at]] for at in kept)
            left = [others[domain] + counts[domain] for domain in others]
            skews.append(max(left) - min(left))
    return min(skews)


@settings(deadline=None, derandomize=True, database=None, max_examples=300)
@given(
    st.lists(st.sampled_from(sorted(NODES)), min_size=1, max_size=7),
    st.fixed_dictionaries({domain: st.integers(0, 2) for domain in "abc"}),
    st.integers(0, 6),
)
def test_no_order_of_removing_leaves_less_apart(nodes: list[str], others: dict[str, int], replicas: int) -> None:
    pods: list[tuple[str, Optional[str]]] = [(node, NODES[node]) for node in nodes]
    found = least_uneven(pods, others, replicas)

    if replicas >= len(nodes):
        assert found is None
    else:
        assert found is not None
        assert narrowest(nodes, others, replicas) == found.skew


def test_many_domains_are_not_compared() -> None:
    others = {f"n{at}": 0 for at in range(65)}

    assert least_uneven([("n1", "n1"), ("n2", "n2")], others, 1) is None
