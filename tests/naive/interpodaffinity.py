"""InterPodAffinity.

Source: pkg/scheduler/framework/plugins/interpodaffinity/plugin.go, filtering.go, scoring.go (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from tests.naive import objects
from tests.naive.framework import CycleState, Handle, MAX_NODE_SCORE, SKIP, Status, SUCCESS, unresolvable, unschedulable
from tests.naive.nodeinfo import AffinityTerm, NodeInfo, PodInfo

Plain = dict[str, Any]
Counts = dict[tuple[str, str], int]  # by (topology key, value)


class PreFilterState:
    """Matching pods by topology pair: of existing pods' anti-affinity, of the pod's affinity and anti-affinity."""

    def __init__(self, pod: PodInfo, namespace_labels: dict[str, str]) -> None:
        self.pod_info = pod
        self.namespace_labels = namespace_labels
        self.existing_anti_affinity_counts: Counts = {}
        self.affinity_counts: Counts = {}
        self.anti_affinity_counts: Counts = {}

    def clone(self) -> PreFilterState:
        twin = PreFilterState(self.pod_info, self.namespace_labels)
        twin.existing_anti_affinity_counts = dict(self.existing_anti_affinity_counts)
        twin.affinity_counts = dict(self.affinity_counts)
        twin.anti_affinity_counts = dict(self.anti_affinity_counts)
        return twin

    def update_with_pod(self, other: PodInfo, node: NodeInfo, delta: int) -> None:
        own = self.pod_info
        update_with_anti_affinity_terms(
            self.existing_anti_affinity_counts,
            other.required_anti_affinity_terms,
            pod=own.pod,
            namespace_labels=self.namespace_labels,
            node=node,
            delta=delta,
        )
        update_with_affinity_terms(
            self.affinity_counts, own.required_affinity_terms, pod=other.pod, node=node, delta=delta
        )
        # Namespace selectors of the pod's own terms were unrolled, so the other pod's namespace labels are not
        # looked up. The selector stays all the same, and is asked about no labels.
        update_with_anti_affinity_terms(
            self.anti_affinity_counts,
            own.required_anti_affinity_terms,
            pod=other.pod,
            namespace_labels=None,
            node=node,
            delta=delta,
        )


def update(counts: Counts, node: NodeInfo, key: str, delta: int) -> None:
    """Change the count of the node's pair; a pair at 0 is forgotten."""
    if key not in node.labels:
        return
    pair = (key, node.labels[key])
    counts[pair] = counts.get(pair, 0) + delta
    if counts[pair] == 0:
        del counts[pair]


def update_with_affinity_terms(
    counts: Counts, terms: list[AffinityTerm], *, pod: Plain, node: NodeInfo, delta: int
) -> None:
    if pod_matches_all_affinity_terms(terms, pod):
        for term in terms:
            update(counts, node, term.topology_key, delta)


def update_with_anti_affinity_terms(
    counts: Counts,
    terms: list[AffinityTerm],
    *,
    pod: Plain,
    namespace_labels: Optional[Mapping[str, str]],
    node: NodeInfo,
    delta: int,
) -> None:
    for term in terms:
        if term.matches(pod, namespace_labels):
            update(counts, node, term.topology_key, delta)


def pod_matches_all_affinity_terms(terms: list[AffinityTerm], pod: Plain) -> bool:
    return bool(terms) and all(term.matches(pod, None) for term in terms)


class PreScoreState:
    """Weights by topology key and value."""

    def __init__(self, pod: PodInfo, namespace_labels: dict[str, str]) -> None:
        self.pod_info = pod
        self.namespace_labels = namespace_labels
        self.topology_score: dict[str, dict[str, int]] = {}

    def process_term(
        self,
        term: AffinityTerm,
        weight: int,
        *,
        pod: Plain,
        namespace_labels: Optional[Mapping[str, str]],
        node: NodeInfo,
    ) -> None:
        if term.topology_key in node.labels and term.matches(pod, namespace_labels):
            scores = self.topology_score.setdefault(term.topology_key, {})
            value = node.labels[term.topology_key]
            scores[value] = scores.get(value, 0) + weight


class InterPodAffinity:
    """Keep pods together, or apart."""

    name = "InterPodAffinity"

    def __init__(self, args: Plain, handle: Handle) -> None:
        self.handle = handle
        weight = args.get("hardPodAffinityWeight")
        self.hard_pod_affinity_weight: int = 1 if weight is None else weight
        self.ignores_preferred_terms: bool = bool(args.get("ignorePreferredTermsOfExistingPods"))

    def merge_affinity_term_namespaces_if_not_empty(self, term: AffinityTerm) -> AffinityTerm:
        """Add the namespaces that the selector selects, unless it is empty and so selects all anyway."""
        if term.namespace_selector.empty():
            return term
        selected = [
            objects.name_of(namespace)
            for namespace in self.handle.list("Namespace")
            if term.namespace_selector.matches(objects.labels_of(namespace))
        ]
        return term._replace(namespaces=term.namespaces.union(selected))

    def pre_filter(self, state: CycleState, pod: Plain) -> tuple[Optional[frozenset[str]], Status]:
        info = PodInfo(pod)
        merge = self.merge_affinity_term_namespaces_if_not_empty
        info.required_affinity_terms = list(map(merge, info.required_affinity_terms))
        info.required_anti_affinity_terms = list(map(merge, info.required_anti_affinity_terms))
        found = PreFilterState(info, self.handle.namespace_labels(objects.namespace_of(pod)))
        for node in self.handle.node_infos:
            for existing in node.pods:
                found.update_with_pod(existing, node, 1)
        has_terms = info.required_affinity_terms or info.required_anti_affinity_terms
        if not found.existing_anti_affinity_counts and not has_terms:
            return None, SKIP
        state.values[self.name] = found
        return None, SUCCESS

    def add_pod(self, state: CycleState, pod: Plain, added: PodInfo, *, node: NodeInfo) -> None:
        state.read(self.name).update_with_pod(added, node, 1)

    def remove_pod(self, state: CycleState, pod: Plain, removed: PodInfo, *, node: NodeInfo) -> None:
        state.read(self.name).update_with_pod(removed, node, -1)

    def filter(self, state: CycleState, pod: Plain, node: NodeInfo) -> Status:
        found: PreFilterState = state.read(self.name)
        if not satisfy_pod_affinity(found, node):
            return unresolvable("node(s) didn't match pod affinity rules")
        if not satisfy_pod_anti_affinity(found, node):
            return unschedulable("node(s) didn't match pod anti-affinity rules")
        if not satisfy_existing_pods_anti_affinity(found, node):
            return unschedulable("node(s) didn't satisfy existing pods anti-affinity rules")
        return SUCCESS

    def pre_score(self, state: CycleState, pod: Plain, nodes: list[NodeInfo]) -> Status:
        info = PodInfo(pod)
        has_constraints = bool(info.preferred_affinity_terms or info.preferred_anti_affinity_terms)
        if self.ignores_preferred_terms and not has_constraints:
            return SKIP
        merge = self.merge_affinity_term_namespaces_if_not_empty
        info.preferred_affinity_terms = list(map(merge, info.preferred_affinity_terms))
        info.preferred_anti_affinity_terms = list(map(merge, info.preferred_anti_affinity_terms))
        found = PreScoreState(info, self.handle.namespace_labels(objects.namespace_of(pod)))
        for node in self.handle.node_infos:
            for existing in node.pods:
                if has_constraints or existing.has_affinity:
                    self.process_existing_pod(found, existing, node=node)
        if not found.topology_score:
            return SKIP
        state.values["PreScore" + self.name] = found
        return SUCCESS

    def process_existing_pod(self, found: PreScoreState, existing: PodInfo, *, node: NodeInfo) -> None:
        """Weigh the pod's preferences about an existing pod, and that pod's about it."""
        pod, labels = found.pod_info.pod, found.namespace_labels
        for term in found.pod_info.preferred_affinity_terms:
            found.process_term(term, term.weight, pod=existing.pod, namespace_labels=None, node=node)
        for term in found.pod_info.preferred_anti_affinity_terms:
            found.process_term(term, -term.weight, pod=existing.pod, namespace_labels=None, node=node)
        if self.hard_pod_affinity_weight > 0:
            for term in existing.required_affinity_terms:
                found.process_term(term, self.hard_pod_affinity_weight, pod=pod, namespace_labels=labels, node=node)
        for term in existing.preferred_affinity_terms:
            found.process_term(term, term.weight, pod=pod, namespace_labels=labels, node=node)
        for term in existing.preferred_anti_affinity_terms:
            found.process_term(term, -term.weight, pod=pod, namespace_labels=labels, node=node)

    def score(self, state: CycleState, pod: Plain, node: NodeInfo) -> int:
        found: PreScoreState = state.read("PreScore" + self.name)
        return sum(
            scores.get(node.labels.get(key, ""), 0)
            for key, scores in found.topology_score.items()
            if key in node.labels
        )

    def normalize_score(self, state: CycleState, scores: list[int], nodes: list[NodeInfo]) -> list[int]:
        lowest, highest = min(scores, default=0), max(scores, default=0)
        if highest == lowest:
            return [0 for _ in scores]
        span = float(highest - lowest)
        return [int(float(MAX_NODE_SCORE) * (float(score - lowest) / span)) for score in scores]


def satisfy_pod_affinity(found: PreFilterState, node: NodeInfo) -> bool:
    """Whether a match of every term runs in the node's domains, or the pod is the first of its kind."""
    pods_exist = True
    for term in found.pod_info.required_affinity_terms:
        if term.topology_key not in node.labels:
            return False
        if found.affinity_counts.get((term.topology_key, node.labels[term.topology_key]), 0) <= 0:
            pods_exist = False
    if pods_exist:
        return True
    terms = found.pod_info.required_affinity_terms
    return not found.affinity_counts and pod_matches_all_affinity_terms(terms, found.pod_info.pod)


def satisfy_pod_anti_affinity(found: PreFilterState, node: NodeInfo) -> bool:
    for term in found.pod_info.required_anti_affinity_terms:
        if term.topology_key in node.labels:
            pair = (term.topology_key, node.labels[term.topology_key])
            if found.anti_affinity_counts.get(pair, 0) > 0:
                return False
    return True


def satisfy_existing_pods_anti_affinity(found: PreFilterState, node: NodeInfo) -> bool:
    return all(found.existing_anti_affinity_counts.get(pair, 0) <= 0 for pair in node.labels.items())
