"""Node selectors and node affinity.

Source: pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go (v1.36.2).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from tests.naive import selectors
from tests.naive.framework import (
    CycleState,
    default_normalize_score,
    error,
    Handle,
    SKIP,
    Status,
    SUCCESS,
    unresolvable,
)
from tests.naive.nodeinfo import NodeInfo

Plain = dict[str, Any]

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class PreferredTerm(NamedTuple):
    """A preferred term with its weight."""

    term: selectors.NodeSelectorTerm
    weight: int


class _Preferences(NamedTuple):
    """The terms of the pod."""

    terms: list[PreferredTerm]


def new_preferred_scheduling_terms(terms: list[Plain]) -> list[PreferredTerm]:
    """Parse preferred terms; those without weight or without any condition are left out."""
    return [
        PreferredTerm(selectors.new_node_selector_term(term["preference"]), term["weight"])
        for term in terms
        if term.get("weight") and not selectors.is_empty_node_selector_term(term.get("preference") or {})
    ]


class NodeAffinity:
    """Keep to the nodes a pod selects, and prefer those it prefers."""

    name = "NodeAffinity"

    def __init__(self, args: Plain, handle: Handle) -> None:
        added = args.get("addedAffinity") or {}
        self.added_node_selector: Optional[Plain] = added.get(_REQUIRED)
        self.added_pref_sched_terms = new_preferred_scheduling_terms(added.get(_PREFERRED) or [])
        self.has_added_preferred = bool(added.get(_PREFERRED))

    def pre_filter(self, state: CycleState, pod: Plain) -> tuple[Optional[frozenset[str]], Status]:
        required = _node_affinity(pod).get(_REQUIRED)
        if required is None and self.added_node_selector is None and not pod["spec"].get("nodeSelector"):
            return None, SKIP
        terms = (required or {}).get("nodeSelectorTerms") or []
        if not terms:
            return None, SUCCESS
        names: set[str] = set()
        for term in terms:
            names_of_term = _node_names(term)
            if names_of_term is None:
                # The terms are alternatives: one that names no node admits any.
                return None, SUCCESS
            names |= names_of_term
        if not names:
            return None, unresolvable("pod affinity terms conflict")
        return frozenset(names), SUCCESS

    def filter(self, state: CycleState, pod: Plain, node: NodeInfo) -> Status:
        added = self.added_node_selector
        if added is not None and not selectors.match_node_selector(added, node.node):
            return unresolvable("node(s) didn't match scheduler-enforced node affinity")
        if not selectors.match_required_node_affinity(pod, node.node):
            return unresolvable("node(s) didn't match Pod's node affinity/selector")
        return SUCCESS

    def pre_score(self, state: CycleState, pod: Plain, nodes: list[NodeInfo]) -> Status:
        preferred = _node_affinity(pod).get(_PREFERRED)
        if not preferred and not self.has_added_preferred:  # an empty list is not stored
            return SKIP
        terms = new_preferred_scheduling_terms(preferred or [])
        for preferred_term in terms:
            if preferred_term.term.error:
                return error(preferred_term.term.error)
        state.values[self.name] = _Preferences(terms)
        return SUCCESS

    def score(self, state: CycleState, pod: Plain, node: NodeInfo) -> int:
        total = 0
        for preferred in self.added_pref_sched_terms + state.read(self.name).terms:
            if preferred.term.match(node.node):
                total += preferred.weight
        return total

    def normalize_score(self, state: CycleState, scores: list[int], nodes: list[NodeInfo]) -> list[int]:
        return default_normalize_score(scores, reverse=False)


def _node_affinity(pod: Plain) -> Plain:
    return (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}


def _node_names(term: Plain) -> Optional[set[str]]:
    """The nodes that a term names, if it names any."""
    names: Optional[set[str]] = None
    for field in term.get("matchFields") or []:
        if field["key"] == "metadata.name" and field["operator"] == "In":
            values = set(field.get("values") or [])
            names = values if names is None else names & values
    return names
