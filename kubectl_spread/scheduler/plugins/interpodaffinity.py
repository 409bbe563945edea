"""InterPodAffinity: required and preferred affinity and anti-affinity, in both directions.

Source: pkg/scheduler/framework/plugins/interpodaffinity/filtering.go, scoring.go (v1.36.2).
Difference: the filter state also exists if upstream skips the plugin (nothing to check). So it can catch up after a pod
with anti-affinity is bound. Until then all its bits are 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Optional, Union

import numpy as np

from kubectl_spread.caching import cached_method
from kubectl_spread.cluster.columns import Bools, Columns, Int32s, Int64s
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.releases.behaviours import (
    IGNORES_PREFERRED_OF_EXISTING,
    POD_AFFINITY_ANY,
    POD_AFFINITY_NAMES_ONE,
    POD_AFFINITY_SKIPS_FILTER,
    POD_AFFINITY_SKIPS_SCORE,
    POD_AFFINITY_WITHOUT_ZERO,
)
from kubectl_spread.objects.releases.version import Release
from kubectl_spread.objects.selectors import PodAffinityTerm, Selector
from kubectl_spread.scheduler.framework.plugin import (
    Bits,
    Code,
    FilterState,
    no_bits,
    NodeIndices,
    Plain,
    Plugin,
    Reason,
    ScoreState,
)
from kubectl_spread.scheduler.plugins import names

REASONS = (
    Reason("node(s) didn't match pod affinity rules", Code.UNSCHEDULABLE_AND_UNRESOLVABLE),
    Reason("node(s) didn't match pod anti-affinity rules", Code.UNSCHEDULABLE),
    Reason("node(s) didn't satisfy existing pods anti-affinity rules", Code.UNSCHEDULABLE),
)


class _Reasons(NamedTuple):
    """The reasons of a release, and the bits of each rule that a node can break."""

    reasons: tuple[Reason, ...]
    affinity: int
    anti_affinity: int
    existing_anti_affinity: int


def _reasons(release: Release) -> _Reasons:
    if POD_AFFINITY_NAMES_ONE.of(release):
        return _Reasons(REASONS, 1, 2, 4)
    return _Reasons((Reason(POD_AFFINITY_ANY.of(release), Code.UNSCHEDULABLE), *REASONS), 3, 5, 9)


class InterPodAffinity(Plugin):
    name = names.INTER_POD_AFFINITY

    def __init__(self, args: Plain, release: Release) -> None:
        super().__init__(args, release)
        self._args = args

    def pre_filter(self, pod_class: PodClass, columns: Columns) -> FilterState:
        return _FilterState(pod_class, columns, self._release)

    def pre_score(self, pod_class: PodClass, columns: Columns) -> ScoreState:
        return _ScoreState(pod_class, columns, self._args, self._release)


class IncomingTerm(NamedTuple):
    """A term of the incoming pod, its namespaceSelector resolved to names.

    Upstream resolves the selector and still keeps it; later it is matched without the namespace's labels. A selector
    that an unlabelled namespace satisfies (only NotIn, DoesNotExist) therefore takes in all of them.
    """

    topology_key: str
    selector: Selector
    namespaces: frozenset[str]
    is_everywhere: bool

    def matches(self, pod_class: PodClass, labels: dict[str, str]) -> bool:
        if not self.is_everywhere and pod_class.namespace not in self.namespaces:
            return False
        return self.selector.matches(labels)


def incoming_term(term: PodAffinityTerm, columns: Columns) -> IncomingTerm:
    spaces, named = term.namespace_selector, frozenset(term.namespaces)
    if spaces is None:
        return IncomingTerm(term.topology_key, term.selector, named, is_everywhere=False)
    named |= {name for name, labels in columns.cluster.namespaces.items() if spaces.matches(labels)}
    return IncomingTerm(term.topology_key, term.selector, named, is_everywhere=spaces.matches({}))


class _DomainTable:
    """A number for each domain, by topology key; `is_recorded` once anything was ever added."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.numbers: dict[str, Int64s] = {}
        self.is_recorded = False

    @property
    def is_empty(self) -> bool:
        return not any(numbers.any() for numbers in self.numbers.values())

    def add(self, key: str, nodes: Union[Int32s, list[int]], amount: int) -> None:
        """Add to the domains of nodes; a node without the label has none."""
        topology = self._columns.topology(key)
        numbers = self.numbers.setdefault(key, np.zeros(len(topology.values), np.int64))
        codes = topology.codes[nodes]
        codes = codes[codes >= 0]
        if len(codes):
            self.is_recorded = True
            np.add.at(numbers, codes, amount)

    def number(self, key: str, node: int) -> int:
        """Return the number of a node's domain, 0 if it has none."""
        code = self._columns.topology(key).codes[node]
        return int(self.numbers[key][code]) if key in self.numbers and code >= 0 else 0

    def positive(self, key: str) -> Bools:
        """Return bool (N,): nodes whose domain has more than 0."""
        numbers = self.numbers.get(key)
        if numbers is None or not len(numbers):
            return np.zeros(self._columns.n, np.bool_)
        codes = self._columns.topology(key).codes
        return (codes >= 0) & (numbers > 0)[codes]

    def anywhere(self) -> Bools:
        """Return the nodes with a domain above 0 for any key, bool (N,)."""
        found = np.zeros(self._columns.n, np.bool_)
        for key in self.numbers:
            found |= self.positive(key)
        return found

    def total(self, nodes: NodeIndices) -> Int64s:
        """Return the sum over the keys of each node's domains, int64 (F,)."""
        result = np.zeros(len(nodes), np.int64)
        for key, numbers in self.numbers.items():
            if len(numbers):
                codes = self._columns.topology(key).codes[nodes]
                result += np.where(codes >= 0, numbers[codes], 0)
        return result


class _ByClass:
    """Newly bound pods, class by class."""

    def __init__(self, pod_class: PodClass, columns: Columns) -> None:
        self._columns = columns
        self._seen = 0
        self._looks_at_all = pod_class.has_pod_affinity

    def fresh(self) -> Iterator[tuple[int, Int32s, int]]:
        """Yield each class with pods that came or went: their nodes, and 1 or -1."""
        end = len(self._columns.bound_pods)
        if self._seen == end:
            return
        if not self._looks_at_all and not self._columns.has_pod_affinity:
            self._seen = end  # pods without affinity matter only to pods with affinity
            return
        nodes = self._columns.bound_nodes[self._seen : end]
        classes = self._columns.bound_classes[self._seen : end]
        signs = self._columns.bound_signs[self._seen : end] if self._columns.unbound else None
        self._seen = end
        if len(classes) == 1:
            yield int(classes[0]), nodes, 1 if signs is None else int(signs[0])
            return
        order = classes.argsort(kind="stable")
        for own in np.split(order, np.flatnonzero(np.diff(classes[order])) + 1):
            class_at = int(classes[own[0]])
            if signs is None:
                yield class_at, nodes[own], 1
                continue
            for sign in (1, -1):
                changed = nodes[own[signs[own] == sign]]
                if len(changed):
                    yield class_at, changed, sign


class _Effect(NamedTuple):
    """The effect of one pod of a class on the filter's tables: topology keys."""

    existing_anti_affinity: tuple[str, ...]
    affinity: tuple[str, ...]
    anti_affinity: tuple[str, ...]


_NO_EFFECT = _Effect((), (), ())


class _FilterState(FilterState):
    def __init__(self, pod_class: PodClass, columns: Columns, release: Release) -> None:
        self._rules = _reasons(release)
        self.reasons = self._rules.reasons
        self._skips = POD_AFFINITY_SKIPS_FILTER.of(release)
        self._cls = pod_class
        self._labels = dict(pod_class.labels)
        self._columns = columns
        self._namespace_labels = columns.labels_of(pod_class.namespace)
        self._affinity_terms = tuple(incoming_term(term, columns) for term in pod_class.pod_affinity)
        self._anti_affinity_terms = tuple(incoming_term(term, columns) for term in pod_class.pod_anti_affinity)
        self._existing_anti_affinity, self._affinity, self._anti_affinity = self._tables = tuple(
            _DomainTable(columns) for _ in _Effect._fields
        )
        self._fresh = _ByClass(pod_class, columns)
        self._bits: Optional[Bits] = None  # as long as no table changes
        self._fits: Optional[Bools] = None

    def fits(self) -> Bools:
        self._sync()
        if self._fits is None:
            self._fits = self.filter() == 0
        return self._fits

    def filter(self) -> Bits:
        self._sync()
        if self._bits is None:
            self._bits = self._compute()
        return self._bits

    def _compute(self) -> Bits:
        bits = no_bits(self._columns)
        if self._existing_anti_affinity.is_recorded:
            bits[self._existing_anti_affinity.anywhere()] = self._rules.existing_anti_affinity
        for term in self._anti_affinity_terms:
            bits[self._anti_affinity.positive(term.topology_key)] = self._rules.anti_affinity
        if self._affinity_terms:
            bits[~self._satisfies_affinity()] = self._rules.affinity
        return bits

    def filter_with(self, node: int, removed: Sequence[Pod], added: Sequence[Pod]) -> int:
        """Update the tables, read the node's bits, and undo the update."""
        self._sync()
        has_terms = self._affinity_terms or self._anti_affinity_terms
        if self._skips and not has_terms and self._existing_anti_affinity.is_empty:
            return 0  # upstream skipped the plugin, and a pod that comes or goes does not wake it
        self._apply(removed, node, -1)
        self._apply(added, node, 1)
        bits = self._node_bits(node)
        self._apply(added, node, -1)
        self._apply(removed, node, 1)
        return bits

    def _node_bits(self, node: int) -> int:
        if self._affinity_terms and not self._satisfies_affinity()[node]:
            return self._rules.affinity
        if any(self._anti_affinity.number(term.topology_key, node) > 0 for term in self._anti_affinity_terms):
            return self._rules.anti_affinity
        existing = self._existing_anti_affinity
        broken = any(existing.number(key, node) > 0 for key in existing.numbers)
        return self._rules.existing_anti_affinity if broken else 0

    def _sync(self) -> None:
        for class_at, nodes, sign in self._fresh.fresh():
            effect = self._effect_of(class_at)
            if effect is not _NO_EFFECT:
                self._bits = self._fits = None
                self._add(effect, nodes, sign)

    def _apply(self, pods: Sequence[Pod], node: int, sign: int) -> None:
        """Update the tables for a moment, without results computed from them."""
        for pod in pods:
            self._add(self._effect_of(self._columns.class_index(pod.cls)), [node], sign)

    def _add(self, effect: _Effect, nodes: Union[Int32s, list[int]], sign: int) -> None:
        for table, keys in zip(self._tables, effect, strict=True):
            for key in keys:
                table.add(key, nodes, sign)

    @cached_method
    def _effect_of(self, class_at: int) -> _Effect:
        """Return the topology keys that one pod of a class adds to the tables, even if it is terminating."""
        existing = self._columns.classes[class_at]
        against = tuple(
            term.topology_key
            for term in existing.pod_anti_affinity
            if term.matches(self._cls.namespace, self._labels, self._namespace_labels)
        )
        if not self._affinity_terms and not self._anti_affinity_terms:
            return _Effect(against, (), ()) if against else _NO_EFFECT
        labels = dict(existing.labels)
        wants_all = bool(self._affinity_terms) and all(term.matches(existing, labels) for term in self._affinity_terms)
        wanted = tuple(term.topology_key for term in self._affinity_terms) if wants_all else ()
        avoided = tuple(term.topology_key for term in self._anti_affinity_terms if term.matches(existing, labels))
        return _Effect(against, wanted, avoided) if against or wanted or avoided else _NO_EFFECT

    def _satisfies_affinity(self) -> Bools:
        """Return the nodes where each term has its key and a matching pod, or all keys for the first pod of a group."""
        columns = self._columns
        keyed = np.ones(columns.n, np.bool_)
        found = np.ones(columns.n, np.bool_)
        for term in self._affinity_terms:
            keyed &= columns.topology(term.topology_key).codes >= 0
            found &= self._affinity.positive(term.topology_key)
        is_first = self._affinity.is_empty and all(
            term.matches(self._cls, self._labels) for term in self._affinity_terms
        )
        return keyed if is_first else keyed & found


class _ScoreState:
    def __init__(self, pod_class: PodClass, columns: Columns, args: Plain, release: Release) -> None:
        self._cls = pod_class
        weight = args.get("hardPodAffinityWeight")
        self._hard_weight = 1 if weight is None else int(weight)
        self._labels = dict(pod_class.labels)
        self._columns = columns
        self._namespace_labels = columns.labels_of(pod_class.namespace)
        self._terms = [(weight, incoming_term(term, columns)) for weight, term in pod_class.preferred_affinity]
        self._terms += [(-weight, incoming_term(term, columns)) for weight, term in pod_class.preferred_anti_affinity]
        self._table = _DomainTable(columns)
        self._fresh = _ByClass(pod_class, columns)
        # Preferred terms of running pods are ignored only for a pod that has no preferred terms of its own.
        ignores = args.get("ignorePreferredTermsOfExistingPods") and IGNORES_PREFERRED_OF_EXISTING.of(release)
        self._skips = bool(ignores) and not self._terms
        self._skips_score = POD_AFFINITY_SKIPS_SCORE.of(release)
        self._with_zero = not POD_AFFINITY_WITHOUT_ZERO.of(release)

    def score(self, feasible: NodeIndices) -> Union[Int64s, int, None]:
        if self._skips:
            return None if self._skips_score else 0
        for class_at, nodes, sign in self._fresh.fresh():
            for key, weight in self._effect_of(class_at):
                self._table.add(key, nodes, sign * weight)
        if not self._table.is_recorded:
            return None if self._skips_score else 0
        return _normalize(self._table.total(feasible), with_zero=self._with_zero)

    @cached_method
    def _effect_of(self, class_at: int) -> list[tuple[str, int]]:
        """Return the weights that one pod of a class adds to its domains, by topology key."""
        existing = self._columns.classes[class_at]
        labels = dict(existing.labels)
        found = [(term.topology_key, weight) for weight, term in self._terms if term.matches(existing, labels)]
        hard = self._hard_weight
        towards = [(hard, term) for term in existing.pod_affinity if hard > 0]
        towards += [(weight, term) for weight, term in existing.preferred_affinity]
        towards += [(-weight, term) for weight, term in existing.preferred_anti_affinity]
        return found + [
            (term.topology_key, weight)
            for weight, term in towards
            if term.matches(self._cls.namespace, self._labels, self._namespace_labels)
        ]


def _normalize(raw: Int64s, *, with_zero: bool) -> Int64s:
    least, most = int(raw.min()), int(raw.max())
    if with_zero:
        least, most = min(least, 0), max(most, 0)
    if most == least:
        return np.zeros_like(raw)
    return (100.0 * ((raw - least).astype(np.float64) / float(most - least))).astype(np.int64)
