"""Requirements on a node: its labels, name, features, cordon and taints; its resources, slots, ports and volumes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Optional

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.columns import Bools, Columns
from kubectl_spread.containers import grouped
from kubectl_spread.explain.requirements.requirement import (
    amount,
    first_sentences,
    MOST_GROUPS,
    nodes,
    Requirement,
    requirement_text,
    RequirementKind,
    short_list,
    summarize_nodes,
)
from kubectl_spread.objects.keys import NamespacedName
from kubectl_spread.objects.node import Taint, UNSCHEDULABLE, WELL_KNOWN
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.selectors import LabelRequirement, NodeRequirement, NodeSelectorTerm
from kubectl_spread.objects.storage import READ_WRITE_ONCE_POD, Volume
from kubectl_spread.scheduler.filter_result import FilterResult, PluginResult
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.nodeaffinity import ADDED_AFFINITY_REASON
from kubectl_spread.scheduler.plugins.noderesources.fit import TOO_MANY_PODS
from kubectl_spread.scheduler.plugins.podtopologyspread.common import match_affinity
from kubectl_spread.scheduler.plugins.volumes.binding import NO_SPACE_REASON, NO_VOLUME_REASON
from kubectl_spread.scheduler.plugins.volumes.restrictions import is_conflict
from kubectl_spread.scheduler.plugins.volumes.zone import allowed_nodes, topologies_of, VolumeTopology
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
        yield Requirement(
            plugin,
            "the node affinity of the scheduler's profile",
            allowed,
            RequirementKind.ADDED_AFFINITY,
            why=lambda refused: f"it leaves out {nodes(refused, columns)}",
        )
    for at, (key, value) in enumerate(cls.node_selector):
        allowed = _by_label(LabelRequirement(key, "In", (value,)), columns)
        why = partial(_why_label, key, columns)
        yield Requirement(plugin, f"nodeSelector {key}={value}", allowed, RequirementKind.NODE_SELECTOR, key, at, why)
    terms = cls.node_affinity.required
    if terms is None:
        return
    if len(terms) != 1 or terms[0].is_empty or not terms[0].is_valid:
        texts = [
            "(an empty term)"
            if term.is_empty
            else f"({', '.join(map(requirement_text, (*term.match_expressions, *term.match_fields)))})"
            for term in terms[:3]
        ]
        texts += [count_noun(len(terms) - 3, "more term")] if len(terms) > 3 else []
        text = f"node affinity {' or '.join(texts) or 'without terms'}"

        def no_term(refused: Bools) -> str:
            if all(term.is_empty or not term.is_valid for term in terms):
                return "no term has conditions that a node can meet"
            verb = "meets" if int(refused.sum()) == 1 else "meet"
            return f"{summarize_nodes(refused, columns)} {verb} no term completely"

        allowed = match_affinity(NodeRequirement((), terms), columns)
        yield Requirement(plugin, text, allowed, RequirementKind.NODE_AFFINITY, why=no_term)
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


def named_nodes(filtered: FilterResult) -> Iterator[Requirement]:
    """Yield the nodes that a PreFilter result leaves, if the plugin that returned it has no Filter."""
    if not filtered.narrowed_by or names.NODE_AFFINITY in {verdict.plugin for verdict in filtered.plugin_results}:
        return
    allowed = filtered.considered.copy()
    if filtered.own >= 0:
        allowed[filtered.own] = True
    yield Requirement(
        filtered.narrowed_by[0],
        "the nodes that its node affinity names",
        allowed,
        RequirementKind.NAMED_NODES,
        why=lambda refused: f"it does not name {nodes(refused, filtered.columns)}",
    )


def features(verdict: PluginResult, cls: PodClass, columns: Columns) -> Iterator[Requirement]:
    """Yield each feature that nodes must declare."""

    def why(refused: Bools) -> str:
        versions = {columns.nodes[at].kubelet_version for at in np.flatnonzero(refused).tolist()}
        version = versions.pop() if len(versions) == 1 else ""
        text = f"not declared by {summarize_nodes(refused, columns)}"
        return f"{text} (kubelet {version})" if version else text

    for at, feature in enumerate(dict.fromkeys(cls.features)):
        allowed = np.array([feature in node.features for node in columns.nodes], np.bool_)
        yield Requirement(verdict.plugin, f"feature {feature}", allowed, RequirementKind.FEATURE, feature, at, why)


def health(cls: PodClass, filtered: FilterResult) -> Iterator[Requirement]:
    """Yield one requirement for cordons, and one for each untolerated taint.

    A cordoned node has `spec.unschedulable` and an equivalent taint from the node controller. They come and go together
    and are one requirement. Every untolerated taint counts, not only the first of a node. If there are more than
    `MOST_TAINTS`, taints that differ only in their value are merged.
    """
    plugins = {verdict.plugin: verdict for verdict in filtered.plugin_results}
    columns = filtered.columns
    masks: dict[Taint, Bools] = {}  # the nodes of every untolerated NoSchedule or NoExecute taint
    if names.TAINT_TOLERATION in plugins:
        for taints, at_nodes in grouped((node.taints, at) for at, node in enumerate(columns.nodes)).items():
            for item in taints:
                if item.repels and not any(toleration.tolerates(item) for toleration in cls.tolerations):
                    masks.setdefault(item, np.zeros(columns.n, np.bool_))[at_nodes] = True
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


Indices = NDArray[np.intp]  # into columns.bound_pods

# The reasons of VolumeBinding that are about claims to be bound.
_WHY_UNBOUND = {
    NO_VOLUME_REASON: "no volume can be bound or created",
    NO_SPACE_REASON: "too little free storage",
}


def resources(verdict: PluginResult, cls: PodClass, columns: Columns) -> Iterator[Requirement]:
    """Yield the pod slot, and each requested resource."""
    requests = dict(columns.with_summed_requests(cls).requests)

    def why_full(refused: Bools) -> str:
        full, used, slots = np.flatnonzero(refused), columns.pod_count, columns.slots()
        texts = [f"{columns.nodes[at].name} {used[at]} of {slots[at]}" for at in full[:3].tolist()]
        return f"{count_noun(len(full), 'node')} with as many pods as allowed: {short_list(texts, of=len(full))}"

    for reason, allowed in _masks_by_reason(verdict).items():
        if reason == TOO_MANY_PODS.text:
            text = "the limit of pods per node"
            yield Requirement(verdict.plugin, text, allowed, kind=RequirementKind.PODS, why=why_full)
            continue
        name = reason.removeprefix("Insufficient ")
        if not requests.get(name) and bool(allowed.all()):
            continue  # older releases compare it although the pod requests none
        why = partial(_why_short, name, requests.get(name, 0), columns)
        yield Requirement(verdict.plugin, f"the {name} request", allowed, RequirementKind.RESOURCE, name, why=why)


def _masks_by_reason(verdict: PluginResult) -> dict[str, Bools]:
    """Return the nodes without each reason: bool (N,) by text; reasons that differ only in their code are one."""
    masks: dict[str, int] = {}
    for at, reason in enumerate(verdict.state.reasons):
        masks[reason.text] = masks.get(reason.text, 0) | 1 << at
    return {text: (verdict.bits & np.uint64(mask)) == 0 for text, mask in masks.items()}


_STAYING = ("DaemonSet", "Node")  # kinds of owners


def _why_short(name: str, request: int, columns: Columns, refused: Bools) -> str:
    """Return `needs 500m; n7 has the most free, 250m of 4; 3 of 4 nodes have enough if empty`.

    An empty node still runs its DaemonSet pods and static pods; the words name them if they decide.
    """
    short = np.flatnonzero(refused)
    need = f"needs {amount(name, request)}"
    if not len(short):
        return need
    total = columns.allocatable_of(name)[short]
    free = total - columns.requested_of(name)[short]
    enough = int((total >= request).sum())
    at = int(total.argmax() if not enough else free.argmax())
    node, most = columns.nodes[int(short[at])].name, amount(name, int(total[at]))
    left = f"{amount(name, max(0, int(free[at])))} of {most}"
    if len(short) == 1:
        return f"{need}; {node} has {f'{left} free' if enough else f'{most} in all'}"
    if not enough:
        return f"{need}, more than any of the {len(short)} nodes has: at most {most}, on {node}"
    staying = [
        sum(
            dict(pod.cls.requests).get(name, 0)
            for pod in columns.pods[node]
            if pod.owner and pod.owner.kind in _STAYING
        )
        for node in short.tolist()
    ]
    beside = int((total - np.array(staying) >= request).sum())
    which: object = "all" if beside == len(short) else beside or "none"
    empty = (
        "if empty" if beside == enough else f"with only {'their' if beside > 1 else 'its'} DaemonSet and static pods"
    )
    return f"{need}; of {len(short)} nodes {node} has the most free, {left}; {which} would have enough {empty}"


def ports(verdict: PluginResult, cls: PodClass, columns: Columns) -> Iterator[Requirement]:
    """Yield each host port of the pod, with the pods that use it."""
    for at, port in enumerate(dict.fromkeys(cls.host_ports)):
        users = pods_of(
            (any(port.conflicts(other) for other in known.host_ports) for known in columns.classes), columns
        )
        name = f"{port.port}/{port.protocol}" if port.protocol != "TCP" else str(port.port)
        if port.ip not in ("", "0.0.0.0"):  # noqa: S104 (a wildcard, nothing listens)
            name = f"{port.ip}:{name}"
        why = partial(_why_pods, "taken by", users, columns)
        allowed = _without(users, columns)
        yield Requirement(verdict.plugin, f"host port {name}", allowed, RequirementKind.PORT, name, at, why)


def pods_of(classes: Iterable[bool], columns: Columns) -> Indices:
    """Return the bound pods of some classes; `classes`: whether each class is one of them."""
    return np.flatnonzero(np.array([*classes, False], np.bool_)[columns.bound_classes])


def _without(pods: Indices, columns: Columns) -> Bools:
    """Return the nodes that run none of some pods: bool (N,)."""
    mask = np.ones(columns.n, np.bool_)
    mask[columns.bound_nodes[pods]] = False
    return mask


def _why_pods(verb: str, pods: Indices, columns: Columns, refused: Bools) -> str:
    """Return `taken by web-1 on a1, web-2 on b1 and 3 more`."""
    return f"{verb} {pods_on_nodes(pods[refused[columns.bound_nodes[pods]]].tolist(), columns)}"


def pods_on_nodes(pods: list[int], columns: Columns) -> str:
    """Return up to three pods with their nodes; `pods` are indices into `columns.bound_pods`."""
    places = [(columns.bound_pods[at].known_name, columns.nodes[columns.bound_nodes[at]].name) for at in pods[:3]]
    return short_list([f"{pod} on {node}" for pod, node in places], of=len(pods))


def claims(cls: PodClass, filtered: FilterResult) -> Iterator[Requirement]:
    """Yield each claim that has a volume, and one requirement for all unbound claims.

    A volume's node affinity (VolumeBinding) and its zone labels (VolumeZone) are one requirement: they only
    change together. Unbound claims are one requirement, as they compete for volumes.
    """
    by_plugin = {verdict.plugin: verdict for verdict in filtered.plugin_results}
    columns = filtered.columns
    first_of = {volume.claim: at for at, volume in reversed([*enumerate(cls.volumes)]) if volume.claim}
    for at in sorted(first_of.values()):
        volume = cls.volumes[at]
        claim = columns.storage.claims.get(NamespacedName(cls.namespace, volume.claim))
        if claim is not None and claim.volume_name:
            by_zone = names.VOLUME_ZONE in by_plugin and not volume.is_ephemeral
            by_affinity = names.VOLUME_BINDING in by_plugin and claim.is_bound
            there = columns.storage.volumes.get(claim.volume_name)
            allowed = np.full(columns.n, there is not None or not by_affinity, np.bool_)
            topologies = topologies_of(there.labels) if there is not None and by_zone else []
            if there is not None and by_affinity:
                allowed &= columns.storage.reachable(there)
            if topologies:
                allowed &= allowed_nodes(topologies, columns)
            yield Requirement(
                names.VOLUME_BINDING if by_affinity else names.VOLUME_ZONE,
                f"the volume of claim {claim.key.name}",
                allowed,
                RequirementKind.CLAIM,
                claim.key.name,
                at,
                partial(_why_bound, claim.volume_name, there, topologies, columns),
            )
    verdict = by_plugin.get(names.VOLUME_BINDING)
    if verdict is not None:
        yield from _unbound(verdict, cls, columns)


def _why_bound(
    name: str, volume: Volume | None, topologies: list[VolumeTopology], columns: Columns, refused: Bools
) -> str:
    """Return `volume pv-1 is bound to nodes with topology.kubernetes.io/zone=a: not b1`."""
    if volume is None:
        return f"volume {name} does not exist"
    terms = volume.terms or ()
    where = " or ".join(", ".join(map(requirement_text, term.match_expressions)) for term in terms[:2])
    zones = ", ".join(f"{topology.key} {short_list(sorted(topology.values))}" for topology in topologies)
    parts = [f"nodes with {where}"] if where else []
    parts += [f"the volume's {zones}"] if zones else []
    return f"volume {name} is bound to {' and '.join(parts) or 'no node'}: not {summarize_nodes(refused, columns)}"


def _unbound(verdict: PluginResult, cls: PodClass, columns: Columns) -> Iterator[Requirement]:
    waiting = {
        key.name: claim
        for key, claim in columns.storage.claims_of(cls)
        if claim is not None and columns.storage.waits(claim) and not claim.is_bound
    }
    if not waiting:
        return
    masks = {text: mask for text, mask in _masks_by_reason(verdict).items() if text in _WHY_UNBOUND}
    selected = {name: claim.selected_node for name, claim in waiting.items() if claim.selected_node}

    def why(refused: Bools) -> str:
        parts = [f"the volume of claim {name} is being created for node {node}" for name, node in selected.items()]
        if parts and not any(columns.nodes[at].name in selected.values() for at in np.flatnonzero(refused).tolist()):
            return first_sentences(parts)
        for text, mask in masks.items():
            if (lacking := ~mask & refused).any():
                parts.append(f"{_WHY_UNBOUND[text]} on {summarize_nodes(lacking, columns)}")
        return first_sentences(parts)

    yield Requirement(
        verdict.plugin,
        f"a volume for {'claim' if len(waiting) == 1 else 'claims'} {short_list([*waiting])}",
        np.logical_and.reduce(list(masks.values())),
        RequirementKind.UNBOUND_CLAIMS,
        ",".join(waiting),
        why=why,
    )


def restrictions(verdict: PluginResult, cls: PodClass, columns: Columns) -> Iterator[Requirement]:
    """Yield claims that only one pod can use, and disks that a node can mount once."""
    claims_of = columns.storage.claims_of(cls, with_ephemeral=False)
    exclusive = {key.name for key, claim in claims_of if claim and READ_WRITE_ONCE_POD in claim.access_modes}
    for name in sorted(exclusive):
        users = pods_of(
            (
                known.namespace == cls.namespace
                and any(volume.claim == name and not volume.is_ephemeral for volume in known.volumes)
                for known in columns.classes
            ),
            columns,
        )
        allowed = np.full(columns.n, not len(users), np.bool_)
        text = f"claim {name}, which one pod at a time may use"
        why = partial(_why_pods, "used by", users, columns)
        yield Requirement(verdict.plugin, text, allowed, RequirementKind.CLAIM_IN_USE, name, why=why)
    for at, own in enumerate(cls.volumes):
        if not own.disk:
            continue
        users = pods_of(
            (any(volume.disk and is_conflict(own, volume) for volume in known.volumes) for known in columns.classes),
            columns,
        )
        name = " ".join(own.disk[:3])
        why = partial(_why_pods, "in use by", users, columns)
        allowed = _without(users, columns)
        yield Requirement(verdict.plugin, f"disk {name}", allowed, RequirementKind.DISK, name, at, why)


def limits(verdict: PluginResult, cls: PodClass, columns: Columns) -> Iterator[Requirement]:  # noqa: ARG001
    """Yield how many volumes of a CSI driver a node can attach."""

    def why(refused: Bools) -> str:
        at = np.flatnonzero(refused)
        texts = []
        for node in at[:3].tolist():
            name = columns.nodes[node].name
            limit = columns.storage.storage.limits.get(name) or {}
            texts.append(f"{name} ({', '.join(f'{driver} {count}' for driver, count in sorted(limit.items()))})")
        return f"{count_noun(len(at), 'node')} at the limit of a CSI driver: {short_list(texts, of=len(at))}"

    text = "the limit of volumes per node"
    for allowed in _masks_by_reason(verdict).values():
        yield Requirement(verdict.plugin, text, allowed, kind=RequirementKind.VOLUME_LIMIT, why=why)
