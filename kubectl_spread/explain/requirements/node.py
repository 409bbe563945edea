"""What a pod asks of a node itself: no cordon, no taint, labels, a name, features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from collections.abc import Iterator
from typing import Optional

import numpy as np

from kubectl_spread.cluster.arrays import Bools
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.explain.requirements.requirement import Requirement
from kubectl_spread.explain.requirements.requirement import RequirementKind
from kubectl_spread.explain.wording import counted
from kubectl_spread.explain.wording import grouped
from kubectl_spread.explain.wording import listed
from kubectl_spread.explain.wording import MOST_GROUPS
from kubectl_spread.explain.wording import nodes
from kubectl_spread.explain.wording import requirement_text
from kubectl_spread.explain.wording import some
from kubectl_spread.objects.affinity import NodeSelectorTerm
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.selector import LabelRequirement
from kubectl_spread.objects.taints import Taint
from kubectl_spread.objects.taints import UNSCHEDULABLE
from kubectl_spread.objects.taints import WELL_KNOWN
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.filter_result import PluginResult
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.nodeaffinity import ADDED_AFFINITY_REASON

MOST_TAINTS = 24


def health(cls: PodClass, filtered: FilterResult) -> list[Requirement]:
    """Return one requirement for cordons, and one for each untolerated taint.

    A cordoned node has `spec.unschedulable` and, from the node controller, a taint that says the same; they come and
    go together and are one requirement. Every taint counts that the pod does not tolerate, not only the first of a
    node. Of more than `MOST_TAINTS`, those that differ in their value alone are one.
    """
    plugins = {verdict.plugin: verdict for verdict in filtered.plugin_results}
    columns = filtered.columns
    cordoned = np.zeros(columns.n, np.bool_)
    if names.NODE_UNSCHEDULABLE in plugins:
        cordoned |= plugins[names.NODE_UNSCHEDULABLE].bits != 0
    masks = untolerated_taints(cls, columns) if names.TAINT_TOLERATION in plugins else {}
    tainted = masks.pop(UNSCHEDULABLE, None)
    found: list[Requirement] = []
    if tainted is not None:
        cordoned |= tainted
    if cordoned.any():
        found.append(
            Requirement(
                names.NODE_UNSCHEDULABLE,
                "a cordon",
                ~cordoned,
                kind=RequirementKind.CORDON,
                why=_why_cordoned(cordoned, columns),
            )
        )
    return found + [
        Requirement(
            names.TAINT_TOLERATION,
            f"taint {key}" if number == 1 else f"taint {key} ({number} taints)",
            ~mask,
            kind=RequirementKind.TAINT,
            key=key,
            why=_why_tainted(taint, mask, columns),
            cause="" if taint is None else _cause_of_taint(taint),
            taint=taint,
        )
        for key, taint, number, mask in _merged(masks)
    ]


def _cause_of_taint(taint: Taint) -> str:
    """Return the taint without its effect: NoSchedule and NoExecute of one key have the same cause."""
    return f"{RequirementKind.TAINT.value}/{taint.key}={taint.value}"


def untolerated_taints(cls: PodClass, columns: Columns) -> dict[Taint, Bools]:
    """Return every untolerated NoSchedule or NoExecute taint with its nodes: bool (N,)."""
    if not columns.has_taints:
        return {}
    with_taints: dict[tuple[Taint, ...], list[int]] = {}
    for at, node in enumerate(columns.nodes):
        if node.taints:
            with_taints.setdefault(node.taints, []).append(at)
    found: dict[Taint, list[int]] = {}
    for taints, at_nodes in with_taints.items():
        for taint in dict.fromkeys(taints):
            if taint.repels and not any(toleration.tolerates(taint) for toleration in cls.tolerations):
                found.setdefault(taint, []).extend(at_nodes)
    return {taint: _mask(at_nodes, columns) for taint, at_nodes in found.items()}


def _mask(at_nodes: list[int], columns: Columns) -> Bools:
    mask = np.zeros(columns.n, np.bool_)
    mask[at_nodes] = True
    return mask


def _merged(masks: dict[Taint, Bools]) -> list[tuple[str, Optional[Taint], int, Bools]]:
    """Return the name, the taint, the number of taints and the nodes (bool (N,)) of each group of taints."""
    if len(masks) <= MOST_TAINTS:
        return [(str(taint), taint, 1, mask) for taint, mask in masks.items()]
    merged: dict[Taint, tuple[int, Bools]] = {}
    for taint, mask in masks.items():
        common = taint._replace(value="")
        count, nodes_so_far = merged.get(common, (0, np.zeros_like(mask)))
        merged[common] = count + 1, nodes_so_far | mask
    ordered = sorted(merged.items(), key=lambda item: (-int(item[1][1].sum()), str(item[0])))
    kept: list[tuple[str, Optional[Taint], int, Bools]] = [
        (str(taint), taint, count, mask) for taint, (count, mask) in ordered[: MOST_TAINTS - 1]
    ]
    rest = ordered[MOST_TAINTS - 1 :]
    if rest:
        count = sum(item[1][0] for item in rest)
        kept.append(("of other keys", None, count, np.logical_or.reduce([item[1][1] for item in rest])))
    return kept


def _why_cordoned(cordoned: Bools, columns: Columns) -> Callable[[Bools], str]:
    def why(among: Bools) -> str:
        found = cordoned & among
        return f"{some(found, columns)} {'is' if int(found.sum()) == 1 else 'are'} cordoned"

    return why


def _why_tainted(taint: Optional[Taint], tainted: Bools, columns: Columns) -> Callable[[Bools], str]:
    """Return `c1 is unreachable`, or of a taint that is not well known: `on c1; the pod does not tolerate it`."""
    state = "" if taint is None else WELL_KNOWN.get(taint.key, "")

    def why(among: Bools) -> str:
        found = tainted & among
        if not state:
            return f"on {some(found, columns)}; the pod does not tolerate it"
        return f"{some(found, columns)} {_be(state, is_one=int(found.sum()) == 1)}"

    return why


def _be(state: str, *, is_one: bool) -> str:
    """Return `is unreachable`, `are control-plane nodes`."""
    if is_one:
        return f"is {state}"
    noun, _, rest = state.removeprefix("a ").partition(" for ")
    return f"are {noun}s{' for ' + rest if rest else ''}" if state.startswith("a ") else f"are {state}"


def node_name(verdict: PluginResult, cls: PodClass, columns: Columns) -> list[Requirement]:
    """Return the node that the pod's own `spec.nodeName` asks for."""
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
    for index, condition in enumerate(term.match_expressions):
        mask = by_label(condition, columns)
        yield Requirement(
            plugin,
            f"node affinity {requirement_text(condition)}",
            mask,
            kind=RequirementKind.NODE_AFFINITY,
            key=condition.key,
            at=index,
            why=_why_label(condition.key, ~mask, columns),
        )
    for index, condition in enumerate(term.match_fields, len(term.match_expressions)):
        mask = _by_name(condition, columns)
        yield Requirement(
            plugin,
            f"node affinity {requirement_text(condition)}",
            mask,
            kind=RequirementKind.NODE_AFFINITY,
            key=condition.key,
            at=index,
            why=_why_name(condition),
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
        shown.append(counted(len(terms) - 3, "more term"))
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
        return f"{some(found, columns)} {'meets' if int(found.sum()) == 1 else 'meet'} no term completely"

    return why


def _why_label(key: str, refused: Bools, columns: Columns) -> Callable[[Bools], str]:
    """Return `disktype is hdd on a1, a2; disktype is missing on b1`."""

    def why(among: Bools) -> str:
        topology = columns.topology(key)
        found = refused & among
        codes, counts = np.unique(topology.codes[found], return_counts=True)
        parts: list[str] = []
        for code, _ in sorted(zip(codes.tolist(), counts.tolist(), strict=True), key=lambda item: -item[1]):
            where = some(found & (topology.codes == code), columns) if len(parts) < MOST_GROUPS else ""
            value = f"is {topology.values[code] or chr(34) * 2}" if code >= 0 else "is missing"
            parts.append(f"{key} {value} on {where}")
        return grouped(parts)

    return why


def _why_name(condition: LabelRequirement) -> Callable[[Bools], str]:
    verb = "only" if condition.operator == "In" else "every node but"
    return lambda among: f"it allows {verb} {listed(condition.values)}"  # noqa: ARG005


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
        text = f"not declared by {some(found, columns)}"
        return f"{text} (kubelet {version})" if version else text

    return why
