"""Spread constraints, affinity and anti-affinity as groups that count pods per domain.

A group knows domains before any node has them: every value that a pool or one of its instance types could have.

    pool wide: zone In [a b c]          counts of a new group: a 0, b 0, c 0
    pool pin:  zone In [a]              pods for pin: a 1, b 0, c 0 -> the next does not fit, skew 2

Source: sigs.k8s.io/karpenter pkg/controllers/provisioning/scheduling/topology.go, topologygroup.go,
topologynodefilter.go, topologydomaingroup.go (v1.13.0).
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kubectl_spread.cluster.shapes import SHAPES
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.constraints.constraint import HONOR, TopologySpreadConstraint
from kubectl_spread.objects.node import Taint, Toleration
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import Plain
from kubectl_spread.objects.selectors import (
    compile_selector,
    HOSTNAME,
    LabelRequirement,
    Labels,
    PodAffinityTerm,
    Selector,
)
from kubectl_spread.provisioners import pods, reading
from kubectl_spread.provisioners import requirement as algebra
from kubectl_spread.provisioners.objects import InstanceType, NodePool
from kubectl_spread.provisioners.refusals import Cause
from kubectl_spread.provisioners.requirement import Requirement, Requirements

Taints = tuple[Taint, ...]
Tolerations = tuple[Toleration, ...]
Domains = dict[str, dict[str, list[Taints]]]  # key -> value -> taints of the pools that could have it


@functools.lru_cache(maxsize=65536)
def untolerated(taints: Taints, tolerations: Tolerations) -> Taints:
    """Return the taints that no toleration covers, PreferNoSchedule included."""
    return tuple(taint for taint in taints if not any(item.tolerates(taint) for item in tolerations))


def domains_of(pools: Iterable[tuple[NodePool, tuple[InstanceType, ...]]]) -> Domains:
    """Return every value that a pool or one of its types could have, negative ones included (buildDomainGroups)."""
    found: Domains = {}
    for pool, types in pools:
        of_types = (algebra.plus(pool.allowed, item.requirements).values() for item in types)
        own = (item for item in pool.allowed.values() if item.operator == "In")
        for item in itertools.chain(*of_types, own):
            of_key = found.setdefault(item.key, {})
            for value in item.values:
                known = of_key.setdefault(value, [])
                if () not in known and pool.taints not in known:
                    known.append(pool.taints)
    return found


class Group(NamedTuple):
    """A constraint or a term. Pods with equal identities share the group of the pod that came first.

    selector: for the pods of the round. A constraint without a selector counts all running pods.
    tolerations: of the first pod; domains of pools with other taints are left out, unless a constraint ignores taints.
    terms: of the node affinity, with nodeSelector; if a constraint honors affinity, a node that counts meets one.
    """

    cause: Cause
    key: str
    namespaces: frozenset[str]
    selector: Selector
    tolerations: Tolerations
    max_skew: int = 2**31 - 1
    min_domains: int = 0
    terms: tuple[tuple[Requirement, ...], ...] = ()
    honors_affinity: bool = False
    honors_taints: bool = False

    def selects(self, pod: PodClass) -> bool:
        return pod.namespace in self.namespaces and self.selector.matches(dict(pod.labels))

    def has_node(self, taints: Taints, requirements: Requirements) -> bool:
        """Return whether pods on a node count: it meets what the policies of a constraint honor."""
        if self.honors_taints and untolerated(taints, self.tolerations):
            return False
        if not self.honors_affinity or not self.terms:
            return True
        return not all(algebra.clash(requirements, {item.key: item for item in term}) for term in self.terms)

    @property
    def identity(self) -> tuple[object, ...]:
        """Return what Karpenter hashes. Of a node filter's terms only the keys are part of it, not their values.

        Karpenter's hash skips fields that are not exported, and combines the terms so that two equal ones cancel out.
        Source: TopologyGroup.Hash; github.com/mitchellh/hashstructure, SlicesAsSets.
        """
        parts: tuple[object, ...] = ()
        if self.cause is Cause.SPREAD:
            keys = (frozenset(item.key for item in term) for term in self.terms)
            parts = (_odd(keys), _odd(self.tolerations), self.honors_affinity, self.honors_taints)
        wanted = self.selector.requirements
        selected = None if wanted is None else frozenset((item[0], item[1], frozenset(item[2])) for item in wanted)
        return self.cause, self.key, self.namespaces, self.max_skew, parts, selected


def _odd(items: Iterable[object]) -> frozenset[object]:
    """Return the items that occur an odd number of times."""
    return frozenset(item for item, number in Counter(items).items() if number % 2)


def of_constraint(constraint: TopologySpreadConstraint, pod: PodClass, *, policies: bool = True) -> Group:
    """Return the group of a constraint; without `policies` (before 1.3) affinity is honored and taints are not."""
    labels = dict(pod.labels)
    selector = compile_selector(constraint.label_selector)
    if policies:
        keys = [key for key in constraint.match_label_keys if key in labels]
        more = [LabelRequirement(key, "In", (labels[key],)) for key in keys]
        selector = selector.plus(*(item for item in more if item not in (selector.requirements or ())))
    selected, required = algebra.of_labels(dict(pod.node_selector)), pod.node_affinity.required
    named = [algebra.of_expressions(term.match_expressions) for term in required or ()]
    wanted = [selected] if required is None else [algebra.plus(selected, items) for items in named]
    return Group(
        cause=Cause.SPREAD,
        key=constraint.topology_key,
        namespaces=frozenset((pod.namespace,)),
        selector=selector,
        tolerations=pod.tolerations,
        max_skew=constraint.max_skew,
        min_domains=constraint.min_domains or 0,
        terms=tuple(tuple(found[key] for key in sorted(found)) for found in wanted),
        honors_affinity=not policies or (constraint.node_affinity_policy or HONOR) == HONOR,
        honors_taints=policies and constraint.node_taints_policy == HONOR,
    )


def of_term(cause: Cause, term: PodAffinityTerm, pod: PodClass, namespaces: Mapping[str, Labels]) -> Group:
    """Return the group of a term of pod affinity or anti-affinity."""
    selected = term.namespace_selector
    names = {name for name, labels in namespaces.items() if selected is not None and selected.matches(labels)}
    spaces = frozenset(names | set(term.namespaces))
    return Group(cause, term.topology_key, spaces, term.selector, pod.tolerations)


def empty_domains(group: Group, domains: Domains) -> dict[str, int]:
    """Return the domains that pools give a new group, without pods (ForEachDomain)."""
    ignores_taints = group.cause is Cause.SPREAD and not group.honors_taints
    return {
        value: 0
        for value, taints in domains.get(group.key, {}).items()
        if ignores_taints or any(not untolerated(each, group.tolerations) for each in taints)
    }


def picks(
    group: Group, counts: Mapping[str, int], pod_domains: Requirement, node_domains: Requirement, *, selects: bool
) -> list[Iterable[str]]:
    """Return the sets of domains of which Karpenter draws one for the node; none if no domain will do.

    Args:
        group: the constraint or the term.
        counts: its pods per domain.
        pod_domains: what the pod itself allows.
        node_domains: what the node allows.
        selects: whether it selects the pod that is placed.
    """
    key, cause = group.key, group.cause
    # If there are no such pods, a pod that selects itself begins with any domain.
    begins = (
        cause is Cause.AFFINITY
        and selects
        and not any(number > 0 and pod_domains.has(value) for value, number in counts.items())
    )
    if key == HOSTNAME and len(node_domains.values) == 1:  # A new node is not among the domains yet.
        (host,) = node_domains.values
        number = counts.get(host, 0)
        if cause is Cause.SPREAD:
            fits = number + selects <= group.max_skew  # A new host can always be made, so the minimum is 0.
        else:
            fits = not number if cause is Cause.ANTI_AFFINITY else pod_domains.has(host) and (number > 0 or begins)
        return [(host,)] if fits else []
    reached = [value for value in counts if node_domains.has(value)]
    if cause is Cause.SPREAD:
        # The minimum of the pod's own domains, 0 if they are fewer than minDomains (domainMinCount)
        numbers = [number for value, number in counts.items() if pod_domains.has(value)]
        is_zero = key == HOSTNAME or len(numbers) < group.min_domains
        minimum = 0 if is_zero else min(numbers, default=2**31 - 1)
        # The criterion is kube-scheduler's: existing matches plus the pod itself exceed the minimum by at most maxSkew.
        allowed = {value: counts[value] for value in reached if counts[value] + selects - minimum <= group.max_skew}
        least = min(allowed.values(), default=0)
        return [(value,) for value, number in sorted(allowed.items()) if number == least]
    is_affinity = cause is Cause.AFFINITY
    found = [value for value in reached if (counts[value] > 0) == is_affinity and pod_domains.has(value)]
    if found or not begins:
        return [found] if found else []
    both = algebra.intersection(pod_domains, node_domains)
    first, second = ([value for value in counts if item.has(value)] or [""] for item in (both, pod_domains))
    chosen = {frozenset((one, other)) - {""} for one in first for other in second} - {frozenset[str]()}
    return sorted(chosen, key=sorted)


def recorded(group: Group, counts: dict[str, int], requirements: Requirements) -> dict[str, int]:
    """Return the counts after a pod was placed on a node with some requirements.

    A pod counts if its node has one domain; for anti-affinity it counts in each domain that its node might get.
    """
    domains = algebra.get(requirements, group.key)
    if group.cause is not Cause.ANTI_AFFINITY and domains.only is None:
        return counts
    return {**counts, **{value: counts.get(value, 0) + 1 for value in domains.values}}


def out_of_reach(
    constraint: TopologySpreadConstraint, pod: PodClass, plains: Iterable[Plain]
) -> dict[tuple[str, ...], list[str]]:
    """Return the values that a constraint counts and no pool gives to nodes for a pod, by the pools that name them.

    Empty if no pool gives any value: then the pods fit no pool, whatever the constraint.
    """
    key, wanted = constraint.topology_key, pods.required(pod)
    found = reading.read((item for item in plains if decode.decodes(item, SHAPES["NodePool"])), Cluster(()))
    domains = {pool.name: domains_of([(pool, (InstanceType("", {}, {}, {}),))]) for pool in found.pools}
    group = of_constraint(constraint, pod)
    asked = algebra.get(wanted, key)
    counted = {value for item in domains.values() for value in empty_domains(group, item) if asked.has(value)}
    reached = set()
    for pool in found.pools:
        have = pool.template
        if not (untolerated(pool.taints, pod.tolerations) or algebra.clash(have, wanted, algebra.WELL_KNOWN)):
            reached |= {value for value in counted if (have.get(key) or asked).has(value)}
    missing: dict[tuple[str, ...], list[str]] = {}
    for value in sorted(counted - reached) if reached else ():
        names = (name for name, item in sorted(domains.items()) if value in item.get(key, {}))
        missing.setdefault(tuple(names), []).append(value)
    return missing
