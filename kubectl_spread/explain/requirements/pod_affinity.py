"""Required pod affinity and anti-affinity, of the pod and of running pods.

A pod satisfies a pod's affinity if it matches all terms. All terms also decide whether the pod may be the first of its
group (`interpodaffinity`). Each term is a separate requirement about the domains of these pods.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.columns import Bools, Columns, unique
from kubectl_spread.cluster.ownership import owner_of
from kubectl_spread.explain.requirements.node import Indices, pods_of, pods_on_nodes
from kubectl_spread.explain.requirements.requirement import (
    first_sentences,
    MOST_GROUPS,
    Requirement,
    RequirementKind,
    selector_text,
    summarize_nodes,
)
from kubectl_spread.objects.affinity import PodAffinityTerm
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.selectors import HOSTNAME, Selector
from kubectl_spread.scheduler.filter_result import PluginResult
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.interpodaffinity import incoming_term

MOST_OTHERS = 16


def requirements(verdict: PluginResult, cls: PodClass, columns: Columns) -> Iterator[Requirement]:
    """Yield the pod's own terms, then the anti-affinity of running pods, in the plugin's order."""
    terms = cls.pod_affinity
    classes = _matching(terms, columns) if terms else []
    located = [_domains(term.topology_key, classes, columns) for term in terms]
    labels = dict(cls.labels)
    is_own = all(incoming_term(term, columns).matches(cls, labels) for term in terms)
    is_first = is_own and not any(domains.nodes.any() for domains in located)
    for at, (term, domains) in enumerate(zip(terms, located, strict=True)):
        text = f"pod affinity on {domains.key} to {_selected(term.selector)}"
        allowed = domains.codes >= 0 if is_first else domains.nodes
        why = partial(_why_alone, domains, columns)
        yield Requirement(verdict.plugin, text, allowed, RequirementKind.AFFINITY, domains.key, at, why)
    own: list[tuple[Requirement, _Domains]] = []
    for at, term in enumerate(cls.pod_anti_affinity):
        domains = _domains(term.topology_key, _matching((term,), columns), columns)
        text = f"pod anti-affinity on {domains.key} against {_selected(term.selector)}"
        rule = _rule(text, RequirementKind.ANTI_AFFINITY, domains.key, domains, columns)._replace(at=at)
        own.append((rule._replace(cause=rule.id), domains))
        yield own[-1][0]
    others = _others(cls, columns)
    for (key, namespace, topology_key, selector), domains in others[:MOST_OTHERS]:
        owner = "" if key is None else f"{key.kind} {key.name}"
        place = f" of namespace {namespace}" if namespace else ""
        text = f"the anti-affinity of {owner or 'pods without a controller'}{place} on {topology_key} "
        text += f"against {_selected(selector)}"
        rule = _rule(text, RequirementKind.OTHERS_ANTI_AFFINITY, f"{owner}{place}/{topology_key}", domains, columns)
        # It has the cause of the own rule that it mirrors.
        mirrored = (
            item.cause
            for item, others in own
            if others.key == domains.key
            and np.isin(domains.pods, others.pods).all()
            and np.array_equal(item.allowed, rule.allowed)
        )
        yield rule._replace(cause=next(mirrored, ""))
    if len(others) > MOST_OTHERS:
        allowed = ~np.logical_or.reduce([domains.nodes for _, domains in others[MOST_OTHERS:]])
        yield Requirement(
            names.INTER_POD_AFFINITY,
            f"the anti-affinity of {len(others) - MOST_OTHERS} more workloads",
            allowed,
            RequirementKind.OTHERS_ANTI_AFFINITY,
            why=lambda refused: f"their pods keep the pod away from {summarize_nodes(refused, columns)}",
        )


class _Domains(NamedTuple):
    """The domains of a key that have certain pods.

    pods: indices into `bound_pods`. codes: int32 (N,) of the key. nodes: bool (N,), the nodes of these domains.
    """

    key: str
    pods: Indices
    codes: NDArray[np.int32]
    nodes: Bools


def _domains(key: str, classes: Iterable[bool], columns: Columns) -> _Domains:
    """Return the domains with pods of some classes; `classes`: whether each class is one of them."""
    topology, pods = columns.topology(key), pods_of(classes, columns)
    has = np.zeros(len(topology.values) + 1, np.bool_)
    has[topology.codes[columns.bound_nodes[pods]]] = True
    has[-1] = False  # nodes without the key
    return _Domains(key, pods, topology.codes, has[topology.codes])


def _rule(text: str, kind: RequirementKind, key: str, domains: _Domains, columns: Columns) -> Requirement:
    """Return an anti-affinity rule: it refuses the domains of the pods."""
    why = partial(_pods_in_domains, domains, columns)
    return Requirement(names.INTER_POD_AFFINITY, text, ~domains.nodes, kind, key, why=why)


# The anti-affinity of another workload's pods: owner, namespace (empty for the pod's own), topology key and selector.
_Against = tuple[Optional[ObjectKey], str, str, Selector]


def _others(cls: PodClass, columns: Columns) -> list[tuple[_Against, _Domains]]:
    """Return the domains that each other workload keeps the pod out of, the one with the most nodes first."""
    if not columns.has_pod_affinity:
        return []
    labels, namespace_labels = dict(cls.labels), columns.labels_of(cls.namespace)
    classes: dict[_Against, set[int]] = {}
    for at, known in enumerate(columns.classes):
        for term in known.pod_anti_affinity:
            if term.matches(cls.namespace, labels, namespace_labels):
                owner = owner_of(known, columns.cluster)
                namespace = "" if known.namespace == cls.namespace else known.namespace
                classes.setdefault((owner, namespace, term.topology_key, term.selector), set()).add(at)
    located = [
        (who, _domains(who[2], (at in of_who for at in range(len(columns.classes))), columns))
        for who, of_who in classes.items()
    ]
    kept = [(who, domains) for who, domains in located if domains.nodes.any()]
    return sorted(kept, key=lambda item: -int(item[1].nodes.sum()))


def _matching(terms: tuple[PodAffinityTerm, ...], columns: Columns) -> list[bool]:
    """Return whether the pods of each class match all terms."""
    incoming = [incoming_term(term, columns) for term in terms]
    return [
        all(term.matches(known, labels) for term in incoming)
        for known in columns.classes
        for labels in [dict(known.labels)]
    ]


def _selected(selector: Selector) -> str:
    return "any pod" if selector.is_empty else selector_text(selector)


def _pods_in_domains(domains: _Domains, columns: Columns, refused: Bools) -> str:
    """Return `zone a has web-0 on a1; zone b has db-0 on b1`."""
    codes = unique(domains.codes[refused])
    of_pods = domains.codes[columns.bound_nodes[domains.pods]]
    if len(codes) > MOST_GROUPS or domains.key == HOSTNAME:
        pods = domains.pods[np.isin(of_pods, codes)]
        return f"matching pods already run: {pods_on_nodes(pods.tolist(), columns)}"
    values = columns.topology(domains.key).values
    return first_sentences(
        f"{domains.key}={values[code]} has {pods_on_nodes(domains.pods[of_pods == code].tolist(), columns)}"
        for code in codes.tolist()
    )


def _why_alone(domains: _Domains, columns: Columns, refused: Bools) -> str:
    lacking = refused & (domains.codes < 0)
    parts = []
    if (refused & ~lacking).any():
        text = "no matching pod runs on any node: start one, or correct the selector"
        if len(domains.pods):
            text = f"matching pods run elsewhere: {pods_on_nodes(domains.pods.tolist(), columns)}"
        parts.append(text)
    if lacking.any():
        parts.append(f"{domains.key} is missing on {summarize_nodes(lacking, columns)}")
    return first_sentences(parts)
