"""Requirements on a node itself: labels, names and features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Optional

import numpy as np

from kubectl_spread.cluster.tables.columns import Bools, Columns
from kubectl_spread.explain.requirements.requirement import Requirement, RequirementKind
from kubectl_spread.explain.wording import (
    first_sentences,
    MOST_GROUPS,
    nodes,
    requirement_text,
    short_list,
    summarize_nodes,
)
from kubectl_spread.objects.affinity import NodeSelectorTerm
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.selectors.selector import LabelRequirement
from kubectl_spread.scheduler.filter_result import FilterResult, PluginResult
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.nodeaffinity import ADDED_AFFINITY_REASON
from kubectl_spread.text.wording import count_noun


def node_name(verdict: PluginResult, cls: PodClass, columns: Columns) -> list[Requirement]:
    """Return a requirement for the node in the pod's `spec.nodeName`."""
    text = f"the pod asks for node {cls.node_name} by name"
    if cls.node_name not in columns.index:
        text += ", which does not exist"
    return [
        Requirement(
            verdict.plugin,
            f"nodeName {cls.node_name}",
            verdict.bits == 0,
            kind=RequirementKind.NODE_NAME,
            key=cls.node_name,
            why=lambda among: text,  # noqa: ARG005
        )
    ]


def node_affinity(verdict: PluginResult, cls: PodClass, columns: Columns) -> list[Requirement]:
    """Return each entry of nodeSelector and each required condition; alternative terms are one requirement."""
    found: list[Requirement] = []
    added = [at for at, reason in enumerate(verdict.state.reasons) if reason.text == ADDED_AFFINITY_REASON]
    refused = (verdict.bits & np.uint64(sum(1 << at for at in added))) != 0
    if refused.any():
        found.append(
            Requirement(
                verdict.plugin,
                "the node affinity of the scheduler's profile",
                ~refused,
                kind=RequirementKind.ADDED_AFFINITY,
                why=lambda among: f"it leaves out {nodes(refused & among, columns)}",
            )
        )
    for index, (key, value) in enumerate(cls.node_selector):
        condition = LabelRequirement(key, "In", (value,))
        mask = by_label(condition, columns)
        found.append(
            Requirement(
                verdict.plugin,
                f"nodeSelector {key}={value}",
                mask,
                kind=RequirementKind.NODE_SELECTOR,
                key=key,
                at=index,
                why=_why_label(key, ~mask, columns),
            )
        )
    if cls.node_affinity.required is not None:
        found += _required(verdict.plugin, cls.node_affinity.required, columns)
    return found


def _required(plugin: str, terms: tuple[NodeSelectorTerm, ...], columns: Columns) -> Iterator[Requirement]:
    if len(terms) != 1 or terms[0].is_empty or not terms[0].is_valid:
        mask = np.zeros(columns.n, np.bool_)
        for term in terms:
            mask |= _meets(term, columns)
        yield Requirement(
            plugin,
            _terms_text(terms),
            mask,
            kind=RequirementKind.NODE_AFFINITY,
            why=_why_no_term(terms, ~mask, columns),
        )
        return
    (term,) = terms
    for index, condition in enumerate((*term.match_expressions, *term.match_fields)):
        is_label = index < len(term.match_expressions)
        mask = by_label(condition, columns) if is_label else _by_name(condition, columns)
        yield Requirement(
            plugin,
            f"node affinity {requirement_text(condition)}",
            mask,
            kind=RequirementKind.NODE_AFFINITY,
            key=condition.key,
            at=index,
            why=_why_label(condition.key, ~mask, columns) if is_label else _why_name(condition),
        )


def by_label(condition: LabelRequirement, columns: Columns) -> Bools:
    """Return the nodes whose label meets a condition: bool (N,)."""
    topology = columns.topology(condition.key)
    of_values = [condition.matches({condition.key: value}) for value in topology.values]
    return np.array([*of_values, condition.matches({})], np.bool_)[topology.codes]  # -1, where it is missing, is last


def _by_name(condition: LabelRequirement, columns: Columns) -> Bools:
    return np.array([condition.matches({condition.key: node.name}) for node in columns.nodes], np.bool_)


def _meets(term: NodeSelectorTerm, columns: Columns) -> Bools:
    """Return the nodes that meet every condition of a term: bool (N,); none for an empty or invalid term."""
    mask = np.full(columns.n, not term.is_empty and term.is_valid, np.bool_)
    if mask.any():
        for condition in term.match_expressions:
            mask &= by_label(condition, columns)
        for condition in term.match_fields:
            mask &= _by_name(condition, columns)
    return mask


def _terms_text(terms: tuple[NodeSelectorTerm, ...]) -> str:
    shown = [_term_text(term) for term in terms[:3]]
    if len(terms) > 3:
        shown.append(count_noun(len(terms) - 3, "more term"))
    return f"node affinity {' or '.join(shown) or 'without terms'}"


def _term_text(term: NodeSelectorTerm) -> str:
    if term.is_empty:
        return "(an empty term)"
    return f"({', '.join(map(requirement_text, (*term.match_expressions, *term.match_fields)))})"


def _why_no_term(terms: tuple[NodeSelectorTerm, ...], refused: Bools, columns: Columns) -> Callable[[Bools], str]:
    useless = [term for term in terms if term.is_empty or not term.is_valid]

    def why(among: Bools) -> str:
        if len(useless) == len(terms):
            return "no term has conditions that a node can meet"
        found = refused & among
        return f"{summarize_nodes(found, columns)} {'meets' if int(found.sum()) == 1 else 'meet'} no term completely"

    return why


def _why_label(key: str, refused: Bools, columns: Columns) -> Callable[[Bools], str]:
    """Return `disktype is hdd on a1, a2; disktype is missing on b1`."""

    def why(among: Bools) -> str:
        topology = columns.topology(key)
        found = refused & among
        codes, counts = np.unique(topology.codes[found], return_counts=True)
        parts: list[str] = []
        for code, _ in sorted(zip(codes.tolist(), counts.tolist(), strict=True), key=lambda item: -item[1]):
            where = summarize_nodes(found & (topology.codes == code), columns) if len(parts) < MOST_GROUPS else ""
            value = f"is {topology.values[code] or chr(34) * 2}" if code >= 0 else "is missing"
            parts.append(f"{key} {value} on {where}")
        return first_sentences(parts)

    return why


def _why_name(condition: LabelRequirement) -> Callable[[Bools], str]:
    verb = "only" if condition.operator == "In" else "every node but"
    return lambda among: f"it allows {verb} {short_list(condition.values)}"  # noqa: ARG005


def named_nodes(filtered: FilterResult) -> Optional[Requirement]:
    """Return the nodes that a PreFilter result leaves, if the plugin that returned it has no Filter."""
    if not filtered.narrowed_by or names.NODE_AFFINITY in {verdict.plugin for verdict in filtered.plugin_results}:
        return None
    allowed = filtered.considered.copy()
    if filtered.own >= 0:
        allowed[filtered.own] = True
    return Requirement(
        filtered.narrowed_by[0],
        "the nodes that its node affinity names",
        allowed,
        kind=RequirementKind.NAMED_NODES,
        why=lambda among: f"it does not name {nodes(~allowed & among, filtered.columns)}",
    )


def features(verdict: PluginResult, cls: PodClass, columns: Columns) -> list[Requirement]:
    """Return each feature that nodes must declare."""
    if not verdict.bits.any():
        return []
    found = []
    for index, feature in enumerate(dict.fromkeys(cls.features)):
        mask = np.array([feature in node.features for node in columns.nodes], np.bool_)
        found.append(
            Requirement(
                verdict.plugin,
                f"feature {feature}",
                mask,
                kind=RequirementKind.FEATURE,
                key=feature,
                at=index,
                why=_why_feature(mask, columns),
            )
        )
    return found


def _why_feature(declared: Bools, columns: Columns) -> Callable[[Bools], str]:
    def why(among: Bools) -> str:
        found = ~declared & among
        versions = Counter(columns.nodes[at].kubelet_version for at in np.flatnonzero(found).tolist())
        version = next(iter(versions)) if len(versions) == 1 else ""
        text = f"not declared by {summarize_nodes(found, columns)}"
        return f"{text} (kubelet {version})" if version else text

    return why
