"""InterPodAffinity (PreFilter, Filter): required affinity and anti-affinity, in both directions.

Source: pkg/scheduler/framework/plugins/interpodaffinity/filtering.go (v1.36.2).
Difference: the state exists also where upstream skips (nothing to check), so that it can be kept up to date when
a pod with anti-affinity is bound later; all its bits are 0 then.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kubectl_spread.cluster.columns import Bools
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.columns import Int64s
from kubectl_spread.objects.affinity import PodAffinityTerm
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.framework.plugin import bit
from kubectl_spread.scheduler.framework.plugin import Bits
from kubectl_spread.scheduler.framework.plugin import FilterState
from kubectl_spread.scheduler.framework.plugin import no_bits
from kubectl_spread.scheduler.framework.status import Code
from kubectl_spread.scheduler.framework.status import Reason
from kubectl_spread.scheduler.plugins import names

REASONS = (
    Reason("node(s) didn't match pod affinity rules", Code.UNSCHEDULABLE_AND_UNRESOLVABLE),
    Reason("node(s) didn't match pod anti-affinity rules", Code.UNSCHEDULABLE),
    Reason("node(s) didn't satisfy existing pods anti-affinity rules", Code.UNSCHEDULABLE),
)


class InterPodAffinity:
    name = names.INTER_POD_AFFINITY

    def pre_filter(self, cls: PodClass, columns: Columns) -> FilterState:
        return _State(cls, columns)


class _IncomingTerm(NamedTuple):
    """A term of the incoming pod, its namespaceSelector resolved to names.

    Upstream resolves the selector and keeps it all the same; later it is matched without the namespace's labels.
    A selector that an unlabelled namespace satisfies (only NotIn, DoesNotExist) therefore takes in all of them.
    """

    topology_key: str
    term: PodAffinityTerm
    namespaces: frozenset[str]
    is_everywhere: bool

    def matches(self, pod: Pod, labels: dict[str, str]) -> bool:
        if not self.is_everywhere and pod.cls.namespace not in self.namespaces:
            return False
        return self.term.selector.matches(labels)


class _DomainTable:
    """How many pods count in each domain, by topology key."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._counts: dict[str, Int64s] = {}

    @property
    def is_empty(self) -> bool:
        return not any(counts.any() for counts in self._counts.values())

    def add(self, key: str, node: int) -> None:
        topology = self._columns.topology(key)
        counts = self._counts.setdefault(key, np.zeros(len(topology.values), np.int64))
        if topology.codes[node] >= 0:
            counts[topology.codes[node]] += 1

    def positive(self, key: str) -> Bools:
        """Bool (N,): nodes whose domain has a count."""
        if key not in self._counts or not len(self._counts[key]):
            return np.zeros(self._columns.n, np.bool_)
        codes = self._columns.topology(key).codes
        return (codes >= 0) & (self._counts[key] > 0)[codes]

    def anywhere(self) -> Bools:
        """Bool (N,): nodes that have a counting domain of any key."""
        found = np.zeros(self._columns.n, np.bool_)
        for key in self._counts:
            found |= self.positive(key)
        return found


class _State:
    reasons = REASONS
    narrowed = None

    def __init__(self, cls: PodClass, columns: Columns) -> None:
        self._cls = cls
        self._labels = dict(cls.labels)
        self._columns = columns
        self._namespace_labels = columns.labels_of(cls.namespace)
        self._affinity_terms = tuple(_incoming(term, columns) for term in cls.pod_affinity)
        self._anti_affinity_terms = tuple(_incoming(term, columns) for term in cls.pod_anti_affinity)
        self._affinity = _DomainTable(columns)
        self._anti_affinity = _DomainTable(columns)
        self._existing_anti_affinity = _DomainTable(columns)
        for node, pods in enumerate(columns.pods):
            for pod in pods:
                self.pod_added(pod, node)

    def filter(self) -> Bits:
        columns = self._columns
        bits = no_bits(columns)
        existing = self._existing_anti_affinity.anywhere()
        bits[existing] = bit(2)
        for term in self._anti_affinity_terms:
            bits[self._anti_affinity.positive(term.topology_key)] = bit(1)
        if self._affinity_terms:
            bits[~self._satisfies_affinity()] = bit(0)
        return bits

    def pod_added(self, pod: Pod, node: int) -> None:
        """Terminating pods count here, unlike in PodTopologySpread."""
        for existing in pod.cls.pod_anti_affinity:
            if existing.matches(self._cls.namespace, self._labels, self._namespace_labels):
                self._existing_anti_affinity.add(existing.topology_key, node)
        if not self._affinity_terms and not self._anti_affinity_terms:
            return
        labels = dict(pod.cls.labels)
        if self._affinity_terms and all(term.matches(pod, labels) for term in self._affinity_terms):
            for term in self._affinity_terms:
                self._affinity.add(term.topology_key, node)
        for term in self._anti_affinity_terms:
            if term.matches(pod, labels):
                self._anti_affinity.add(term.topology_key, node)

    def _satisfies_affinity(self) -> Bools:
        """Bool (N,): every term's key is there and has a matching pod, or this is the first pod of its group."""
        columns = self._columns
        keyed = np.ones(columns.n, np.bool_)
        found = np.ones(columns.n, np.bool_)
        for term in self._affinity_terms:
            keyed &= columns.topology(term.topology_key).codes >= 0
            found &= self._affinity.positive(term.topology_key)
        is_first = self._affinity.is_empty and self._matches_itself()
        return keyed if is_first else keyed & found

    def _matches_itself(self) -> bool:
        incoming = Pod("", "", self._cls)
        return all(term.matches(incoming, self._labels) for term in self._affinity_terms)


def _incoming(term: PodAffinityTerm, columns: Columns) -> _IncomingTerm:
    selector = term.namespace_selector
    if selector is None:
        return _IncomingTerm(term.topology_key, term, frozenset(term.namespaces), is_everywhere=False)
    selected = {name for name, labels in columns.cluster.namespaces.items() if selector.matches(labels)}
    return _IncomingTerm(
        term.topology_key, term, frozenset(selected.union(term.namespaces)), is_everywhere=selector.matches({})
    )
