"""Requirements of a pod's volumes for a node."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kubectl_spread.cluster.tables.columns import Bools, Columns
from kubectl_spread.explain.requirements.requirement import Requirement, RequirementKind
from kubectl_spread.explain.requirements.resources import Indices, masks_by_reason, why_pods
from kubectl_spread.explain.wording import first_sentences, requirement_text, short_list, summarize_nodes
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.storage import Claim, NamespacedName, READ_WRITE_ONCE_POD, Volume
from kubectl_spread.scheduler.filter_result import FilterResult, PluginResult
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.volumes.binding import NO_SPACE_REASON, NO_VOLUME_REASON
from kubectl_spread.scheduler.plugins.volumes.restrictions import is_conflict
from kubectl_spread.scheduler.plugins.volumes.zone import allowed_nodes, topologies_of, VolumeTopology
from kubectl_spread.text.wording import count_noun

# The reasons of VolumeBinding that are about claims to be bound.
_WHY_UNBOUND = {
    NO_VOLUME_REASON: "no volume can be bound or created",
    NO_SPACE_REASON: "too little free storage",
}


def claims(cls: PodClass, filtered: FilterResult) -> list[Requirement]:
    """Return each claim that has a volume, and one requirement for all unbound claims.

    A volume's node affinity (VolumeBinding) and its zone labels (VolumeZone) are one requirement: they only
    change together. Unbound claims are one requirement, as they compete for volumes.
    """
    by_plugin = {verdict.plugin: verdict for verdict in filtered.plugin_results}
    columns = filtered.columns
    found: list[Requirement] = []
    names_seen: set[str] = set()
    for index, volume in enumerate(cls.volumes):
        if not volume.claim or volume.claim in names_seen:
            continue
        names_seen.add(volume.claim)
        key_of = columns.storage.claims_of(cls._replace(volumes=(volume,)))
        claim = key_of[0][1]
        if claim is not None and claim.volume_name:
            by_zone = names.VOLUME_ZONE in by_plugin and not volume.is_ephemeral
            by_affinity = names.VOLUME_BINDING in by_plugin and claim.is_bound
            requirement = _bound(claim, columns, by_affinity=by_affinity, by_zone=by_zone)
            found.append(requirement._replace(at=index))
    verdict = by_plugin.get(names.VOLUME_BINDING)
    if verdict is not None:
        found += _unbound(verdict, cls, columns)
    return found


def _bound(claim: Claim, columns: Columns, *, by_affinity: bool, by_zone: bool) -> Requirement:
    volume = columns.storage.volumes.get(claim.volume_name)
    mask = np.ones(columns.n, np.bool_)
    topologies: list[VolumeTopology] = []
    if volume is None:
        mask[:] = not by_affinity
    else:
        if by_affinity:
            mask &= columns.storage.reachable(volume)
        topologies = topologies_of(volume.labels) if by_zone else []
        if topologies:
            mask &= allowed_nodes(topologies, columns)
    return Requirement(
        names.VOLUME_BINDING if by_affinity else names.VOLUME_ZONE,
        f"the volume of claim {claim.key.name}",
        mask,
        kind=RequirementKind.CLAIM,
        key=claim.key.name,
        why=lambda among: _why_bound(claim.volume_name, volume, topologies, ~mask & among, columns),
    )


def _why_bound(
    name: str, volume: Volume | None, topologies: list[VolumeTopology], refused: Bools, columns: Columns
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


def _unbound(verdict: PluginResult, cls: PodClass, columns: Columns) -> list[Requirement]:
    waiting = [
        key.name
        for key, claim in columns.storage.claims_of(cls)
        if claim is not None and columns.storage.waits(claim) and not claim.is_bound
    ]
    if not waiting:
        return []
    masks = {text: mask for text, mask in masks_by_reason(verdict).items() if text in _WHY_UNBOUND}
    mask = np.logical_and.reduce(list(masks.values()))
    waiting = list(dict.fromkeys(waiting))
    noun = "claim" if len(waiting) == 1 else "claims"
    return [
        Requirement(
            verdict.plugin,
            f"a volume for {noun} {short_list(waiting)}",
            mask,
            kind=RequirementKind.UNBOUND_CLAIMS,
            key=",".join(waiting),
            why=_why_unbound(masks, _selected(waiting, cls, columns), columns),
        )
    ]


def _selected(waiting: list[str], cls: PodClass, columns: Columns) -> dict[str, str]:
    """Return the chosen node of each claim that has one."""
    claims_by_name = {name: columns.storage.claims.get(NamespacedName(cls.namespace, name)) for name in waiting}
    return {name: claim.selected_node for name, claim in claims_by_name.items() if claim and claim.selected_node}


def _why_unbound(masks: dict[str, Bools], selected: dict[str, str], columns: Columns) -> Callable[[Bools], str]:
    def why(among: Bools) -> str:
        parts = [f"the volume of claim {name} is being created for node {node}" for name, node in selected.items()]
        if parts and not any(columns.nodes[at].name in selected.values() for at in np.flatnonzero(among).tolist()):
            return first_sentences(parts)
        for text, mask in masks.items():
            found = ~mask & among
            if found.any():
                parts.append(f"{_WHY_UNBOUND[text]} on {summarize_nodes(found, columns)}")
        return first_sentences(parts)

    return why


def restrictions(verdict: PluginResult, cls: PodClass, columns: Columns) -> list[Requirement]:
    """Return claims that only one pod can use, and disks that a node can mount once."""
    found: list[Requirement] = []
    claims_of = columns.storage.claims_of(cls, with_ephemeral=False)
    exclusive = {key.name for key, claim in claims_of if claim and READ_WRITE_ONCE_POD in claim.access_modes}
    for name in sorted(exclusive):
        using = _pods_of(
            [
                known.namespace == cls.namespace
                and any(volume.claim == name and not volume.is_ephemeral for volume in known.volumes)
                for known in columns.classes
            ],
            columns,
        )
        mask = np.full(columns.n, not len(using), np.bool_)
        why = _why_exclusive(name, using, columns)
        text = f"claim {name} (only one pod can use it)"
        found.append(Requirement(verdict.plugin, text, mask, kind=RequirementKind.CLAIM_IN_USE, key=name, why=why))
    for index, own in enumerate(cls.volumes):
        if not own.disk:
            continue
        using = _pods_of(
            [any(volume.disk and is_conflict(own, volume) for volume in known.volumes) for known in columns.classes],
            columns,
        )
        mask = np.ones(columns.n, np.bool_)
        mask[columns.bound_nodes[using]] = False
        name = " ".join(own.disk[:3])
        why_disk = why_pods(using, columns, "in use by")
        found.append(
            Requirement(
                verdict.plugin, f"disk {name}", mask, kind=RequirementKind.DISK, key=name, at=index, why=why_disk
            )
        )
    return found


def _pods_of(of_classes: list[bool], columns: Columns) -> Indices:
    """Return the pods of some classes as indices into `bound_pods`."""
    return np.flatnonzero(np.array([*of_classes, False], np.bool_)[columns.bound_classes])


def _why_exclusive(name: str, using: Indices, columns: Columns) -> Callable[[Bools], str]:
    used = why_pods(using, columns, "in use by")
    everywhere = np.ones(columns.n, np.bool_)
    return lambda among: f"claim {name} is {used(everywhere)}"  # noqa: ARG005


def limits(verdict: PluginResult, cls: PodClass, columns: Columns) -> list[Requirement]:  # noqa: ARG001
    """Return how many volumes of a CSI driver a node can attach."""
    found = []
    for mask in masks_by_reason(verdict).values():
        why = _why_limit(~mask, columns)
        found.append(
            Requirement(
                verdict.plugin, "the limit of volumes per node", mask, kind=RequirementKind.VOLUME_LIMIT, why=why
            )
        )
    return found


def _why_limit(full: Bools, columns: Columns) -> Callable[[Bools], str]:
    def why(among: Bools) -> str:
        at = np.flatnonzero(full & among)
        shown = []
        for node in at[:3].tolist():
            name = columns.nodes[node].name
            limit = columns.storage.storage.limits.get(name) or {}
            shown.append(f"{name} ({', '.join(f'{driver} {count}' for driver, count in sorted(limit.items()))})")
        return f"{count_noun(len(at), 'node')} at the limit of a CSI driver: {short_list(shown, of=len(at))}"

    return why
