"""PodTopologySpread (PreScore, Score, NormalizeScore).

A node scores the better, the fewer matching pods its domains have; constraints over many domains weigh more.

Source: pkg/scheduler/framework/plugins/podtopologyspread/scoring.go (v1.36.2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.columns import Bools, Columns, Int64s, MatchCounter, unique
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.releases.behaviours import SPREAD_ROUNDS, SPREAD_SKIPS_SCORE
from kubectl_spread.objects.releases.version import LATEST, Release
from kubectl_spread.objects.selectors import HOSTNAME
from kubectl_spread.scheduler import gomath
from kubectl_spread.scheduler.framework.plugin import NodeIndices
from kubectl_spread.scheduler.plugins.podtopologyspread.common import (
    Constraint,
    match_node_inclusion_policies,
    with_all_keys,
)

MAX_NODE_SCORE = 100
_FEW_COUNTS = 64  # up to this number of distinct counts, a loop is faster than an array operation


class RawScore(NamedTuple):
    """Scores of one constraint for the scored nodes, before the scores of all constraints are added.

    matching: int64 (F,), matching pods in the domain of each. scores: float64 (F,), the lower the better. domains:
    their number.
    """

    constraint: Constraint
    matching: Int64s
    scores: NDArray[np.floating[Any]]
    domains: int


class PreScoreState:
    """Soft constraints of one pod class, with their matching-pod counts."""

    def __init__(
        self,
        constraints: tuple[Constraint, ...],
        pod_class: PodClass,
        columns: Columns,
        *,
        require_all: bool,
        release: Release = LATEST,
    ) -> None:
        """Leave out nodes that lack a key if `require_all` (false only for the system's default constraints)."""
        self._skips = SPREAD_SKIPS_SCORE.of(release)
        self._rounds = SPREAD_ROUNDS.of(release)
        self._keyed = with_all_keys(constraints, columns) if require_all else np.ones(columns.n, np.bool_)
        self._constraints = [
            _ScoredConstraint(constraint, pod_class, columns, self._keyed, rounds=self._rounds)
            for constraint in constraints
        ]
        self._all_keyed = bool(self._keyed.all())

    def score(self, feasible: NodeIndices) -> Union[Int64s, int, None]:
        if not self._constraints:
            return None if self._skips else MAX_NODE_SCORE
        if self._all_keyed:
            return self._scores(feasible)
        scored = self._keyed[feasible]
        result = np.zeros(len(feasible), np.int64)
        if scored.any():
            result[scored] = self._scores(feasible[scored])
        return result

    def raw(self, feasible: NodeIndices) -> tuple[NodeIndices, tuple[RawScore, ...]]:
        """Return the feasible nodes that have every key, and the raw scores of each constraint."""
        nodes = feasible[self._keyed[feasible]]
        return nodes, tuple(constraint.raw(nodes) for constraint in self._constraints) if len(nodes) else ()

    def _scores(self, counted: NodeIndices) -> Int64s:
        first, *others = self._constraints
        if not others and first.is_by_count:
            return first.normalize(counted)
        total = first.score(counted)
        for constraint in others:
            total += constraint.score(counted)
        return _normalize(_whole(total, rounds=self._rounds))


def _whole(scores: NDArray[np.floating[Any]], *, rounds: bool) -> Int64s:
    """Return whole numbers, as a release makes them."""
    return gomath.round_half_away(scores) if rounds else scores.astype(np.int64)


def _normalize(raw: Int64s) -> Int64s:
    """Score every node by the emptiest and the fullest."""
    least, most = int(raw.min()), int(raw.max())
    return _normalized(raw, least, most) if most else np.full_like(raw, MAX_NODE_SCORE)


T = TypeVar("T", int, Int64s)


def _normalized(raw: T, least: int, most: int) -> T:
    """Score the emptiest node 100, and the fullest the higher the fuller the emptiest is; `most` is above 0.

    No part of it is negative, so that `//` is Go's division.
    """
    return MAX_NODE_SCORE * (most + least - raw) // most


class _ScoredConstraint:
    """A constraint with its matching pods per domain, or per node for the hostname key."""

    def __init__(
        self, constraint: Constraint, pod_class: PodClass, columns: Columns, keyed: Bools, *, rounds: bool
    ) -> None:
        self._rounds = rounds
        topology = columns.topology(constraint.topology_key)
        self._constraint = constraint
        self._counter = MatchCounter(pod_class.namespace, constraint.selector, columns)
        self._has_key: Bools = topology.codes >= 0
        self._all_have_key = bool(self._has_key.all())
        self._by_node = constraint.topology_key == HOSTNAME
        self._included = keyed & match_node_inclusion_policies(constraint, pod_class, columns)
        # A node without the label counts in the domain of the empty value: only default constraints let it come here.
        values = topology.values
        empty = values.index("") if "" in values else len(values)
        self._codes = np.where(self._has_key, topology.codes, empty).astype(np.intp)
        self._in_domain = np.zeros(len(values) + 1, np.int64)

    def score(self, nodes: NodeIndices) -> NDArray[np.floating[Any]]:
        """Return float64 (F,): the constraint's part of each node's raw score."""
        self._sync()
        offset = float(self._constraint.max_skew - 1)
        added: NDArray[np.floating[Any]]
        if self._by_node:
            added = self._counter.counts[nodes] * math.log(len(nodes) + 2) + offset
        else:
            codes = self._codes[nodes]
            weight = math.log(np.count_nonzero(np.bincount(codes)) + 2)
            added = (self._in_domain * weight + offset)[codes]
        if not self._all_have_key:
            added[~self._has_key[nodes]] = 0.0
        return added

    def raw(self, nodes: NodeIndices) -> RawScore:
        scores = self.score(nodes)
        codes = self._codes[nodes]
        if self._by_node:
            return RawScore(self._constraint, self._counter.counts[nodes], scores, len(nodes))
        return RawScore(self._constraint, self._in_domain[codes], scores, len(unique(codes)))

    @property
    def is_by_count(self) -> bool:
        """Return whether every node has a domain, so that domains with as many pods score alike."""
        return self._all_have_key

    def normalize(self, nodes: NodeIndices) -> Int64s:
        """Return the final scores if there is no other constraint, int64 (F,). Compute them once per distinct count."""
        self._sync()
        if self._by_node:
            counts = self._counter.counts[nodes]
            least, most = counts.item(counts.argmin()), counts.item(counts.argmax())  # perf: faster than min and max
            if most - least > _FEW_COUNTS:
                return _normalize(_whole(self.score(nodes), rounds=self._rounds))
            return np.array(self._of_counts(range(least, most + 1), len(nodes)), np.int64)[counts - least]
        codes = self._codes[nodes]
        domains = np.bincount(codes, minlength=len(self._in_domain)).nonzero()[0]
        scores = np.zeros(len(self._in_domain), np.int64)
        scores[domains] = self._of_counts(self._in_domain[domains].tolist(), len(domains))
        return scores[codes]

    def _of_counts(self, counts: Sequence[int], domains: int) -> list[int]:
        """Return the final scores of counts, with the least and the most (perf: for few counts Python is faster)."""
        weight = math.log(domains + 2)
        offset = float(self._constraint.max_skew - 1)
        whole = gomath.round_one if self._rounds else int
        raw = [whole(count * weight + offset) for count in counts]
        least, most = min(raw), max(raw)
        return [_normalized(value, least, most) if most else MAX_NODE_SCORE for value in raw]

    def _sync(self) -> None:
        if self._constraint.selector.is_empty:
            return
        nodes = self._counter.sync()
        if self._by_node or not len(nodes):
            return
        amounts = self._counter.amounts
        if len(nodes) == 1 and isinstance(amounts, int):
            self._in_domain[self._codes[nodes[0]]] += amounts * int(self._included[nodes[0]])
        else:
            counted = self._included[nodes]
            added = amounts if isinstance(amounts, int) else amounts[counted]
            np.add.at(self._in_domain, self._codes[nodes[counted]], added)
