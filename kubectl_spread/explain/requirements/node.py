"""Requirements on a node itself: labels, names, features, cordons and taints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Optional

import numpy as np

from kubectl_spread.cluster.columns import Bools, Columns
from kubectl_spread.containers import grouped
from kubectl_spread.explain.requirements.requirement import (
    first_sentences,
    MOST_GROUPS,
    nodes,
    Requirement,
    requirement_text,
    RequirementKind,
    short_list,
    summarize_nodes,
)
from kubectl_spread.objects.affinity import NodeRequirement, NodeSelectorTerm
from kubectl_spread.objects.node import Taint, UNSCHEDULABLE, WELL_KNOWN
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.selectors import LabelRequirement
from kubectl_spread.scheduler.filter_result import FilterResult, PluginResult
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.nodeaffinity import ADDED_AFFINITY_REASON
from kubectl_spread.scheduler.plugins.podtopologyspread.common import match_affinity
from kubectl_spread.text.wording import count_noun

MOST_TAINTS = 24


def node_name(verdict: PluginResult, cls: PodClass, columns: Columns) -> Iterator[Requirement]:
    """Yield a requirement for the node in the pod's `spec.nodeName`."""
    missing = "" if cls.node_name in columns.index else ", which does not exist"
    yield Requirement(
        verdict.plugin,
        f"nodeName {cls.node_name}",
        verdict.bits == 0,
        RequirementKind.NODE_NAME,
        cls.node_name,
        why=lambda _: f"the pod asks for node {cls.node_name} by name{missing}",
    )


def node_affinity(verdict: PluginResult, cls: PodClass, columns: Columns) -> Iterator[Requirement]:
    """Yield each entry of nodeSelector and each required condition; alternative terms are one requirement."""
    plugin = verdict.plugin
    added = [at for at, reason in enumerate(verdict.state.reasons) if reason.text == ADDED_AFFINITY_REASON]
    allowed = (verdict.bits & np.uint64(sum(1 << at for at in added))) == 0
    if not allowed.all():
        text = "the node affinity of the scheduler's profile"
        why = partial(_why_unnamed, "it leaves out", columns)
        yield Requirement(plugin, text, allowed, RequirementKind.ADDED_AFFINITY, why=why)
    for at, (key, value) in enumerate(cls.node_selector):
        allowed = _by_label(LabelRequirement(key, "In", (value,)), columns)
        why = partial(_why_label, key, columns)
        yield Requirement(plugin, f"nodeSelector {key}={value}", allowed, RequirementKind.NODE_SELECTOR, key, at, why)
    terms = cls.node_affinity.required
    if terms is None:
        return
    if len(terms) != 1 or terms[0].is_empty or not terms[0].is_valid:
        allowed = match_affinity(NodeRequirement((), terms), columns)
        why = partial(_why_no_term, terms, columns)
        yield Requirement(plugin, _terms_text(terms), allowed, RequirementKind.NODE_AFFINITY, why=why)
        return
    (term,) = terms
    for at, condition in enumerate((*term.match_expressions, *term.match_fields)):
        if at < len(term.match_expressions):
            allowed, why = _by_label(condition, columns), partial(_why_label, condition.key, columns)
        else:
            allowed = match_affinity(NodeRequirement((), (NodeSelectorTerm((), (condition,)),)), columns)
            why = partial(_why_name, condition)
        text = f"node affinity {requirement_text(condition)}"
        yield Requirement(plugin, text, allowed, RequirementKind.NODE_AFFINITY, condition.key, at, why)


def _by_label(condition: LabelRequirement, columns: Columns) -> Bools:
    """Return the nodes whose label meets a condition: bool (N,)."""
    topology = columns.topology(condition.key)
    of_values = [condition.matches({condition.key: value}) for value in topology.values]
    return np.array([*of_values, condition.matches({})], np.bool_)[topology.codes]  # -1, where it is missing, is last


def _terms_text(terms: tuple[NodeSelectorTerm, ...]) -> str:
    texts = [
        "(an empty term)"
        if term.is_empty
        else f"({', '.join(map(requirement_text, (*term.match_expressions, *term.match_fields)))})"
        for term in terms[:3]
    ]
    if len(terms) > 3:
        texts.append(count_noun(len(terms) - 3, "more term"))
    return f"node affinity {' or '.join(texts) or 'without terms'}"


def _why_no_term(terms: tuple[NodeSelectorTerm, ...], columns: Columns, refused: Bools) -> str:
    if all(term.is_empty or not term.is_valid for term in terms):
        return "no term has conditions that a node can meet"
    return f"{summarize_nodes(refused, columns)} {'meets' if int(refused.sum()) == 1 else 'meet'} no term completely"


def _why_label(key: str, columns: Columns, refused: Bools) -> str:
    """Return `disktype is hdd on a1, a2; disktype is missing on b1`."""
    topology = columns.topology(key)
    codes, counts = np.unique(topology.codes[refused], return_counts=True)
    parts: list[str] = []
    for code, _ in sorted(zip(codes.tolist(), counts.tolist(), strict=True), key=lambda item: -item[1]):
        where = summarize_nodes(refused & (topology.codes == code), columns) if len(parts) < MOST_GROUPS else ""
        value = f"is {topology.values[code] or chr(34) * 2}" if code >= 0 else "is missing"
        parts.append(f"{key} {value} on {where}")
    return first_sentences(parts)


def _why_name(condition: LabelRequirement, _: Bools) -> str:
    return f"it allows {'only' if condition.operator == 'In' else 'every node but'} {short_list(condition.values)}"


def _why_unnamed(words: str, columns: Columns, refused: Bools) -> str:
    return f"{words} {nodes(refused, columns)}"


def named_nodes(filtered: FilterResult) -> Iterator[Requirement]:
    """Yield the nodes that a PreFilter result leaves, if the plugin that returned it has no Filter."""
    if not filtered.narrowed_by or names.NODE_AFFINITY in {verdict.plugin for verdict in filtered.plugin_results}:
        return
    allowed = filtered.considered.copy()
    if filtered.own >= 0:
        allowed[filtered.own] = True
    text = "the nodes that its node affinity names"
    why = partial(_why_unnamed, "it does not name", filtered.columns)
    yield Requirement(filtered.narrowed_by[0], text, allowed, RequirementKind.NAMED_NODES, why=why)


def features(verdict: PluginResult, cls: PodClass, columns: Columns) -> Iterator[Requirement]:
    """Yield each feature that nodes must declare."""
    for at, feature in enumerate(dict.fromkeys(cls.features)):
        allowed = np.array([feature in node.features for node in columns.nodes], np.bool_)
        why = partial(_why_feature, columns)
        yield Requirement(verdict.plugin, f"feature {feature}", allowed, RequirementKind.FEATURE, feature, at, why)


def _why_feature(columns: Columns, refused: Bools) -> str:
    versions = Counter(columns.nodes[at].kubelet_version for at in np.flatnonzero(refused).tolist())
    version = next(iter(versions)) if len(versions) == 1 else ""
    text = f"not declared by {summarize_nodes(refused, columns)}"
    return f"{text} (kubelet {version})" if version else text


def health(cls: PodClass, filtered: FilterResult) -> Iterator[Requirement]:
    """Yield one requirement for cordons, and one for each untolerated taint.

    A cordoned node has `spec.unschedulable` and an equivalent taint from the node controller. They come and go together
    and are one requirement. Every untolerated taint counts, not only the first of a node. If there are more than
    `MOST_TAINTS`, taints that differ only in their value are merged.
    """
    plugins = {verdict.plugin: verdict for verdict in filtered.plugin_results}
    columns = filtered.columns
    masks = _untolerated_taints(cls, columns) if names.TAINT_TOLERATION in plugins else {}
    cordoned = masks.pop(UNSCHEDULABLE, np.zeros(columns.n, np.bool_))
    if names.NODE_UNSCHEDULABLE in plugins:
        cordoned = cordoned | (plugins[names.NODE_UNSCHEDULABLE].bits != 0)
    why = partial(_why_in_state, "cordoned", columns)
    yield Requirement(names.NODE_UNSCHEDULABLE, "cordon", ~cordoned, RequirementKind.CORDON, why=why)
    for key, taint, number, tainted in _merged(masks):
        state = "" if taint is None else WELL_KNOWN.get(taint.key, "")
        yield Requirement(
            names.TAINT_TOLERATION,
            f"taint {key}" if number == 1 else f"taint {key} ({number} taints)",
            ~tainted,
            RequirementKind.TAINT,
            key,
            why=partial(_why_in_state, state, columns),
            # NoSchedule and NoExecute of one key have the same cause.
            cause="" if taint is None else f"{RequirementKind.TAINT.value}/{taint.key}={taint.value}",
            taint=taint,
        )


def _untolerated_taints(cls: PodClass, columns: Columns) -> dict[Taint, Bools]:
    """Return every untolerated NoSchedule or NoExecute taint with its nodes: bool (N,)."""
    if not columns.has_taints:
        return {}
    with_taints = grouped((node.taints, at) for at, node in enumerate(columns.nodes) if node.taints)
    found: dict[Taint, Bools] = {}
    for taints, at_nodes in with_taints.items():
        for taint in dict.fromkeys(taints):
            if taint.repels and not any(toleration.tolerates(taint) for toleration in cls.tolerations):
                found.setdefault(taint, np.zeros(columns.n, np.bool_))[at_nodes] = True
    return found


def _merged(masks: dict[Taint, Bools]) -> list[tuple[str, Optional[Taint], int, Bools]]:
    """Return the name, the taint, the number of taints and the nodes (bool (N,)) of each group of taints."""
    if len(masks) <= MOST_TAINTS:
        return [(str(taint), taint, 1, mask) for taint, mask in masks.items()]
    by_key = grouped((taint._replace(value=""), mask) for taint, mask in masks.items())
    merged: list[tuple[str, Optional[Taint], int, Bools]] = [
        (str(taint), taint, len(group), np.logical_or.reduce(group)) for taint, group in by_key.items()
    ]
    merged.sort(key=lambda item: (-int(item[3].sum()), item[0]))
    rest = merged[MOST_TAINTS - 1 :]
    if rest:
        number = sum(item[2] for item in rest)
        merged[MOST_TAINTS - 1 :] = [("of other keys", None, number, np.logical_or.reduce([item[3] for item in rest]))]
    return merged


def _why_in_state(state: str, columns: Columns, refused: Bools) -> str:
    """Return `c1 is unreachable`, `a1, a2 are control-plane nodes`, or for an unknown taint: `on c1; ...`."""
    which = summarize_nodes(refused, columns)
    if not state:
        return f"on {which}; the pod does not tolerate it"
    if int(refused.sum()) == 1:
        return f"{which} is {state}"
    noun, _, rest = state.removeprefix("a ").partition(" for ")
    return f"{which} are {noun}s{' for ' + rest if rest else ''}" if state.startswith("a ") else f"{which} are {state}"
