"""NodeAffinity: nodeSelector, required and preferred node affinity.

Source: pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go (v1.36.2).
"""

from __future__ import annotations

from typing import Optional, Union

import numpy as np

from kubectl_spread.cluster.columns import Columns, Int64s
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.releases import behaviours
from kubectl_spread.objects.releases.version import Release
from kubectl_spread.objects.selectors import NodeRequirement, NodeSelectorTerm, PreferredTerm
from kubectl_spread.scheduler import gomath
from kubectl_spread.scheduler.framework.plugin import (
    Code,
    FilterState,
    FixedState,
    no_bits,
    NodeIndices,
    Plain,
    Plugin,
    Reason,
    Rejection,
    ScoreError,
    ScoreState,
    Skip,
)
from kubectl_spread.scheduler.plugins import names

ADDED_AFFINITY_REASON = "node(s) didn't match scheduler-enforced node affinity"
CONFLICT = "pod affinity terms conflict"


class NodeAffinity(Plugin):
    name = names.NODE_AFFINITY

    def __init__(self, args: Plain, release: Release) -> None:
        super().__init__(args, release)
        self.added = read.node_affinity(fields(args, "addedAffinity"))
        texts = (ADDED_AFFINITY_REASON, behaviours.NODE_AFFINITY_REASON.of(release))
        self._reasons = tuple(Reason(text, Code.UNSCHEDULABLE_AND_UNRESOLVABLE) for text in texts)

    def pre_filter(self, pod_class: PodClass, columns: Columns) -> Union[FilterState, Skip, Rejection]:
        requirement = pod_class.node_requirement
        added = NodeRequirement((), self.added.required)
        if requirement.is_empty and added.is_empty:
            return Skip()
        all_conflict = behaviours.NODE_AFFINITY_ALL_CONFLICT.of(self._release)
        narrows = behaviours.NODE_AFFINITY_NARROWS.of(self._release)
        node_names = _named_nodes(requirement.terms, all_conflict=all_conflict) if narrows else None
        if node_names is not None and not node_names:
            return Rejection(CONFLICT)
        bits = no_bits(columns)
        for at, node in enumerate(columns.nodes):
            if not added.matches(node.labels, node.name):
                bits[at] = 1
            elif not requirement.matches(node.labels, node.name):
                bits[at] = 2
        return FixedState(self._reasons, bits, node_names)

    def pre_score(self, pod_class: PodClass, columns: Columns) -> ScoreState:
        preferred = (*self.added.preferred, *pod_class.node_affinity.preferred)
        return _ScoreState(preferred, columns, skips=behaviours.NODE_AFFINITY_SKIPS_SCORE.of(self._release))


class _ScoreState:
    def __init__(self, preferred: tuple[PreferredTerm, ...], columns: Columns, *, skips: bool) -> None:
        """Score the terms; skip an empty preference and a preference of weight 0, which do not match everything."""
        self._skips = skips and not preferred
        terms = [item for item in preferred if item.weight and not item.term.is_empty]
        self._invalid = any(not item.term.is_valid for item in terms)
        self._raw: Int64s = columns.zeros()
        if terms:
            scores = [
                sum(item.weight for item in terms if item.term.matches(node.labels, node.name))
                for node in columns.nodes
            ]
            self._raw = np.array(scores, np.int64)

    def score(self, feasible: NodeIndices) -> Optional[Int64s]:
        if self._invalid:
            raise ScoreError(names.NODE_AFFINITY, "a preferred term does not parse")
        return None if self._skips else gomath.default_normalize(self._raw[feasible], reverse=False)


def _named_nodes(terms: Optional[tuple[NodeSelectorTerm, ...]], *, all_conflict: bool) -> Optional[frozenset[str]]:
    """Return the nodes that the terms name; None if a term names none, so that every node is a candidate.

    Without `all_conflict` the first term that leaves no node ends the search, and the result is empty.
    """
    if not terms:
        return None
    named: frozenset[str] = frozenset()
    for term in terms:
        names_of_term: Optional[frozenset[str]] = None
        for field in term.match_fields:
            if field.key == "metadata.name" and field.operator == "In":
                values = frozenset(field.values)
                names_of_term = values if names_of_term is None else names_of_term & values
        if names_of_term is None:
            return None
        if not names_of_term and not all_conflict:
            return frozenset()
        named |= names_of_term
    return named
