"""A pod with some of its requirements only, and the nodes that the scheduler itself finds for it.

The pod, its cluster and the scheduler's configuration are changed as somebody would change them who drops a
requirement; the scheduler is then asked anew. Three requirements are held as the whole pod decides them, as the
requirements of `explain` are, and are asked one by one of the slow scheduler in `tests/naive`: spread constraints, the
pod's affinity to other pods, and the pods nominated to a node.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from typing import Any, NamedTuple, Optional

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.explain.requirements.requirement import Requirement, RequirementKind
from kubectl_spread.objects.constraints.constraint import SCHEDULE_ANYWAY, TopologySpreadConstraint
from kubectl_spread.objects.node import Node, Taint, Toleration
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.releases.version import nearest_release, release_of
from kubectl_spread.objects.selectors import NodeAffinity, NodeSelectorTerm
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.profiles import profiles
from tests.naive import config, interpodaffinity, objects, podtopologyspread, replay
from tests.naive.framework import CycleState

Plain = dict[str, Any]

HELD = (RequirementKind.CONSTRAINT, RequirementKind.AFFINITY, RequirementKind.NOMINATED)
CORDON = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
# It refuses no node, and a pod that has one gets none of the scheduler's own.
_HARMLESS = TopologySpreadConstraint(0, 1, "nowhere-at-all", SCHEDULE_ANYWAY)


class Asked(NamedTuple):
    """The first pod that comes in, and what the scheduler says of it."""

    case: Plain
    pod: Pod
    cluster: Cluster
    filtered: FilterResult


def asked(case: Plain) -> Optional[Asked]:
    """None where there is no pod, or the scheduler looks at no node for it."""
    if not case["incoming"]:
        return None
    pod, cluster = read.pod(case["incoming"][0]), cluster_of(copy.deepcopy(case["objects"] + case["incoming"]))
    filtered = _scheduler(case, cluster).filter(pod)
    return None if filtered.rejection is not None else Asked(case, pod, cluster, filtered)


def _scheduler(case: Plain, cluster: Cluster, *, with_added_affinity: bool = True) -> Scheduler:
    written = json.loads(case["schedulerConfig"]) if case.get("schedulerConfig") else None
    if written is not None and not with_added_affinity:
        for profile in written.get("profiles") or []:
            for entry in profile.get("pluginConfig") or []:
                (entry.get("args") or {}).pop("addedAffinity", None)
    by_name = profiles(written, nearest_release(release_of(case.get("kubernetesVersion", "1.36"))))
    return Scheduler(Columns(cluster), by_name, all_nodes=True)


def left(of: Asked, kept: Iterable[Requirement], found: Iterable[Requirement]) -> set[str]:
    """The names of the nodes that take the pod when only some of its requirements are kept."""
    kept = list(kept)
    ids = {requirement.id for requirement in kept}
    dropped = [requirement for requirement in found if requirement.id not in ids]
    kinds = {requirement.kind for requirement in kept}
    cluster = _relaxed_cluster(of, dropped)
    scheduler = _scheduler(of.case, cluster, with_added_affinity=RequirementKind.ADDED_AFFINITY in kinds)
    filtered = scheduler.filter(of.pod._replace(cls=_relaxed_class(of.pod.cls, dropped), nominated_node=""))
    assert filtered.rejection is None
    names = {node.name for node, fits in zip(cluster.nodes, filtered.feasible, strict=True) if fits}
    for requirement in kept:
        if requirement.kind in HELD:
            names &= _held(requirement, of)
    return names


def _relaxed_class(cls: PodClass, dropped: list[Requirement]) -> PodClass:
    gone = {(item.kind, item.key, item.at) for item in dropped}
    resources = {item.key for item in dropped if item.kind is RequirementKind.RESOURCE}
    labels = {item.key for item in dropped if item.kind is RequirementKind.NODE_SELECTOR}
    taints = [item.key for item in dropped if item.kind is RequirementKind.TAINT]
    terms = {item.at for item in dropped if item.kind is RequirementKind.ANTI_AFFINITY}
    claims = {name for item in dropped if item.kind is RequirementKind.UNBOUND_CLAIMS for name in item.key.split(",")}
    ports = list(dict.fromkeys(cls.host_ports))
    return cls._replace(
        requests=tuple((name, 0 if name in resources else amount) for name, amount in cls.requests),
        node_selector=tuple((key, value) for key, value in cls.node_selector if key not in labels),
        node_affinity=_relaxed_affinity(cls.node_affinity, dropped),
        tolerations=(*cls.tolerations, *(_toleration(taint) for taint in taints)),
        host_ports=tuple(
            port
            for at, port in enumerate(ports)
            if (RequirementKind.PORT, at) not in {(kind, index) for kind, _, index in gone}
        ),
        volumes=tuple(
            volume
            for at, volume in enumerate(cls.volumes)
            if volume.claim not in claims
            and not any(kind is RequirementKind.DISK and index == at for kind, _, index in gone)
        ),
        pod_anti_affinity=tuple(term for at, term in enumerate(cls.pod_anti_affinity) if at not in terms),
        pod_affinity=(),
        features=tuple(name for name in cls.features if not any(key == name for _, key, _ in gone)),
        constraints=(_HARMLESS,),
    )


def _relaxed_affinity(affinity: NodeAffinity, dropped: list[Requirement]) -> NodeAffinity:
    mine = [item for item in dropped if item.kind is RequirementKind.NODE_AFFINITY]
    if affinity.required is None or not mine:
        return affinity
    if mine[0].at is None:
        return affinity._replace(required=None)
    (term,) = affinity.required
    gone = {item.at for item in mine}
    size = len(term.match_expressions)
    left_over = NodeSelectorTerm(
        tuple(item for at, item in enumerate(term.match_expressions) if at not in gone),
        tuple(item for at, item in enumerate(term.match_fields, size) if at not in gone),
    )
    return affinity._replace(required=None if left_over.is_empty else (left_over,))


def _toleration(text: str) -> Toleration:
    named, _, effect = text.rpartition(":")
    key, _, value = named.partition("=")
    return Toleration(key, "Equal", value, effect)


def _relaxed_cluster(of: Asked, dropped: list[Requirement]) -> Cluster:
    kinds = {item.kind for item in dropped}
    cluster = of.cluster
    storage = cluster.storage
    volumes = dict(storage.volumes)
    for item in dropped:
        if item.kind is RequirementKind.CLAIM:
            name = next(
                claim.volume_name for key, claim in storage.claims.items() if key == (of.pod.namespace, item.key)
            )
            if name in volumes:
                volumes[name] = volumes[name]._replace(terms=None, labels={})
            else:
                volumes[name] = _volume(name)
    limits = {} if RequirementKind.VOLUME_LIMIT in kinds else storage.limits
    in_use = {item.key for item in dropped if item.kind is RequirementKind.CLAIM_IN_USE}
    against = {item.text for item in dropped if item.kind is RequirementKind.OTHERS_ANTI_AFFINITY}
    return cluster._replace(
        nodes=tuple(_relaxed_node(node, kinds) for node in cluster.nodes),
        storage=storage._replace(volumes=volumes, limits=limits),
        pods=tuple(_relaxed_pod(pod, of, against, in_use) for pod in cluster.pods),
    )


def _volume(name: str) -> Any:
    made = {"kind": "PersistentVolume", "metadata": {"name": name}, "spec": {"capacity": {"storage": "9Gi"}}}
    return cluster_of([made]).storage.volumes[name]


def _relaxed_node(node: Node, kinds: set[RequirementKind]) -> Node:
    if RequirementKind.CORDON in kinds:
        node = node._replace(unschedulable=False, taints=tuple(taint for taint in node.taints if taint != CORDON))
    if RequirementKind.PODS in kinds:
        node = node._replace(allocatable={**node.allocatable, "pods": 10**6})
    return node


def _relaxed_pod(pod: Pod, of: Asked, against: set[str], in_use: set[str]) -> Pod:
    """Nominated pods are held; the anti-affinity of others is dropped term by term."""
    top = of.cluster.top_owner(pod)
    owner = "pods without a controller" if top is None else f"{top.kind} {top.name}"
    if pod.namespace != of.pod.namespace:
        owner = f"{owner} of namespace {pod.namespace}"
    terms = tuple(
        term
        for term in pod.cls.pod_anti_affinity
        if not any(text.startswith(f"the anti-affinity of {owner} on {term.topology_key} ") for text in against)
    )
    volumes = tuple(
        volume
        for volume in pod.cls.volumes
        if not (pod.namespace == of.pod.namespace and volume.claim in in_use and not volume.is_ephemeral)
    )
    return pod._replace(cls=pod.cls._replace(pod_anti_affinity=terms, volumes=volumes), nominated_node="")


def _held(requirement: Requirement, of: Asked) -> set[str]:
    """What the slow scheduler says of one requirement of the whole pod."""
    if requirement.kind is RequirementKind.NOMINATED:
        return {node.name for node, fits in zip(of.cluster.nodes, requirement.allowed, strict=True) if fits}
    handle = replay._handle(of.case)
    pod = objects.admit(of.case["incoming"][0])
    framework = config.new_profiles(replay._configuration(of.case), handle)[of.pod.cls.scheduler_name]
    name = "PodTopologySpread" if requirement.kind is RequirementKind.CONSTRAINT else "InterPodAffinity"
    plugin = next(plugin for plugin in framework.plugins["filter"] if plugin.name == name)
    state = CycleState()
    plugin.pre_filter(state, pod)
    found = state.values[name]
    if requirement.kind is RequirementKind.CONSTRAINT:
        at = [item.at for item in hard_constraints(of)].index(requirement.at)
        alone = podtopologyspread.PreFilterState([found.constraints[at]])
        alone.tp_value_to_match_num = [found.tp_value_to_match_num[at]]
        state.values[name] = alone
        return {node.name for node in handle.node_infos if plugin.filter(state, pod, node).is_success()}
    return {node.name for node in handle.node_infos if _meets_term(requirement, found, node)}


def hard_constraints(of: Asked) -> list[Requirement]:
    """Those of the pod's constraints that refuse nodes, in order, whether they refuse one or not."""
    from kubectl_spread.explain.requirements.collect import _of_plugins

    return [item for item in _of_plugins(of.pod.cls, of.filtered) if item.kind is RequirementKind.CONSTRAINT]


def _meets_term(requirement: Requirement, found: Any, node: Any) -> bool:
    terms = found.pod_info.required_affinity_terms
    key = terms[requirement.at].topology_key
    if key not in node.labels:
        return False
    if found.affinity_counts.get((key, node.labels[key]), 0) > 0:
        return True
    own = interpodaffinity.pod_matches_all_affinity_terms(terms, found.pod_info.pod)
    return not found.affinity_counts and own
