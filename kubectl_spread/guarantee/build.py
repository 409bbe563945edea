"""Groups of workloads and their filters, from the cluster facts; loads numpy.

The filters of a node are the scheduler's own verdicts on the cluster without the group's pods. Constraints,
anti-affinity, host ports and requests among the group's pods are added as numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import Optional

import numpy as np

from kubectl_spread.cluster.build import stored_workload
from kubectl_spread.cluster.columns import Columns, Int64s
from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.containers import grouped
from kubectl_spread.engine.nodes import add_taint, set_cordon
from kubectl_spread.engine.reading import deployment_spec, first_ordinal_to_update, is_on_delete
from kubectl_spread.engine.refusals import Charge, charge, spec_of_class, usage_at_start
from kubectl_spread.guarantee.members import ALONE, hard_constraints, Member, Surroundings
from kubectl_spread.guarantee.model import (
    Disruption,
    Filters,
    Gap,
    GapKind,
    GroupModel,
    Kind,
    KindFilters,
    Layout,
    most_at_once,
    OwnerSpec,
    PlacedPod,
    Separation,
    Spread,
)
from kubectl_spread.guarantee.policy import Regime
from kubectl_spread.objects.constraints.constraint import SCHEDULE_ANYWAY, TopologySpreadConstraint
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.objects.node import NO_EXECUTE, NO_SCHEDULE, Taint, UNREACHABLE
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.releases.behaviours import STATEFULSET_MAX_UNAVAILABLE, STATEFULSET_RECREATE
from kubectl_spread.objects.selectors import HOSTNAME
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.objects.workloads.workload import PER_POD_LABELS, revision_label, Workload
from kubectl_spread.scheduler.cycle import Scheduler, unsupported_features
from kubectl_spread.scheduler.framework.plugin import Profile
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import PreFilterState
from kubectl_spread.text.scalars import natural

_PLAIN = TopologySpreadConstraint(0, 1, HOSTNAME, SCHEDULE_ANYWAY)  # without it, default constraints would apply
_NEW_HASH = "guarantee-new"
PODS = "pods"


class GroupBuilder:
    """Builder of a group's numbers, and of its filters during disruptions."""

    def __init__(
        self, members: Sequence[Member], cluster: Cluster, profiles: Mapping[str, Profile], keys: Iterable[str], *,
        regime: Regime, name: str = "", around: Surroundings = ALONE, has_order: bool = False
    ) -> None:  # fmt: skip
        """Read the workloads.

        Args:
            members: the workloads, with the neighbours that are followed.
            cluster: the cluster facts; pods of the workloads are not counted as others' pods.
            profiles: of the scheduler.
            keys: topology keys of the rules.
            regime: the last regime; ordinals of StatefulSets matter from scaling on.
            name: of the group.
            around: the other pods.
            has_order: tell all ordinals of StatefulSets with podManagementPolicy OrderedReady apart.
        """
        self._profiles = profiles
        self._around = around
        self._has_order = has_order
        self._regime = regime
        self._is_scaled = regime in (Regime.SCALING, Regime.DISRUPTIONS)
        owned = OwnedPods(cluster)
        own = {pod.uid for member in members for pod in owned.of(member.key)}
        self._running = [(member.key, owned.of(member.key)) for member in members]
        self.cluster = cluster._replace(pods=tuple(pod for pod in cluster.bound_pods() if pod.uid not in own))
        self._minor = next(iter(profiles.values())).minor
        workloads = [stored_workload(member.controller.workload, cluster, self._minor) for member in members]
        self._workloads = workloads
        self._gaps = list(around.gaps)
        self.classes: list[PodClass] = []
        kinds: list[Kind] = []
        owners: list[OwnerSpec] = []
        for at, (member, workload) in enumerate(zip(members, workloads, strict=True)):
            made = self._kinds(at, member, workload)
            for kind, cls in made:
                kinds.append(kind)
                self.classes.append(cls)
            owners.append(self._owner(member, workload, made))
            self._gaps += self._features(member.key, workload)
            if owners[-1].is_rolled and workload.kind == "StatefulSet":
                self._gaps += self._strategy(member)
        shards = members[0].shards if self._is_scaled else None
        columns = self._columns = Columns(self.cluster)  # perf: of thousands of pods
        topologies = {key: columns.topology(key) for key in dict.fromkeys((*keys, HOSTNAME))}
        layout = Layout(
            tuple(node.name for node in self.cluster.nodes),
            {key: tuple(item.codes.tolist()) for key, item in topologies.items()},
            {key: item.values for key, item in topologies.items()},
        )
        self.group = GroupModel(name, tuple(owners), tuple(kinds), layout, shards=shards)
        self._hard_selectors = [
            item.selector for cls in self.classes for item in hard_constraints(cls, columns, self._profiles)
        ]
        self.group = self.group._replace(placed=self._placed())
        self._gaps += (*self._other_pods(), *self._quotas(cluster))
        self.group = self.group._replace(gaps=tuple(dict.fromkeys(self._gaps)))

    def _kinds(self, at: int, member: Member, workload: Workload) -> list[tuple[Kind, PodClass]]:
        """Return the kinds of a workload's pods with their classes.

        A StatefulSet has kinds by ordinal and revision if these matter, and the marker of a rollout. Otherwise, its
        rollout is one kind of restart. A Deployment with Recreate deletes all old pods before it creates new ones, as
        restarts of all pods do.
        """
        old = _bare(replica(workload, 0).cls)
        other = workload._replace(known_hash=_NEW_HASH)
        is_rolled = self._regime.level >= Regime.ROLLOUTS.level
        if workload.kind != "StatefulSet":
            is_recreated = fields(member.controller.spec, "strategy").get("type") == "Recreate"
            if not is_rolled or workload.kind != "Deployment" or is_recreated:
                return [(Kind(at), old)]
            return [(Kind(at), old), (Kind(at, is_new=True), _bare(replica(other, 0).cls))]
        label = revision_label(workload)
        is_rolled = is_rolled and bool(label) and label in _filtered_keys(old)
        bounds = member.bounds if member.shards is None and self._is_scaled else None
        is_ordered = self._has_order and workload.is_ordered
        # Pods differ if a filter of some pod depends on a label that has another value for each pod.
        is_apart = any(
            key in PER_POD_LABELS for other in self._workloads for key in _filtered_keys(replica(other, 0).cls)
        )
        if not (is_rolled or bounds is not None or is_ordered or is_apart):
            return [(Kind(at), old)]
        size = max(workload.replicas or 0, 0 if bounds is None else bounds.most)
        found = [(Kind(at, ordinal=number), _bare(replica(workload, number).cls)) for number in range(size)]
        if is_rolled and size:
            found += [(Kind(at, True, number), _bare(replica(other, number).cls)) for number in range(size)]
            found.append((Kind(at, is_new=True), found[-1][1]))
        return found or [(Kind(at), old)]

    def _owner(self, member: Member, workload: Workload, made: list[tuple[Kind, PodClass]]) -> OwnerSpec:
        replicas = workload.replicas or 0
        is_shard = self._is_scaled and member.shards is not None
        bounds = Range(replicas, replicas) if is_shard else member.bounds
        return OwnerSpec(
            member.key,
            replicas,
            rolling=deployment_spec(member.controller),
            is_rolled=any(kind.is_new for kind, _ in made),
            bounds=bounds if self._is_scaled else None,
            is_stateful=workload.kind == "StatefulSet",
            is_ordered=workload.is_ordered,
            is_judged=member.is_judged,
            partition=first_ordinal_to_update(member.controller) - workload.first_ordinal,
            is_on_delete=workload.kind == "StatefulSet" and is_on_delete(member.controller),
            is_shard=is_shard,
            is_extra=member.is_extra,
            first_ordinal=workload.first_ordinal,
        )

    def _features(self, key: ObjectKey, workload: Workload) -> Iterator[Gap]:
        """Yield the features of the pods that are not followed."""
        cls = replica(workload, 0).cls
        node = workload.pod_spec.get("nodeName")
        if node:
            yield Gap(GapKind.NODE_NAME, key, what=str(node))
        if cls.scheduler_name not in self._profiles:
            yield Gap(GapKind.SCHEDULER, key, what=cls.scheduler_name)
            return
        for what in unsupported_features(cls, self._profiles.get(cls.scheduler_name), self.cluster):
            yield Gap(GapKind.FEATURE, key, what=what)
        if cls.gates:
            yield Gap(GapKind.FEATURE, key, what="scheduling gates")
        if any(volume.is_ephemeral for volume in cls.volumes):
            yield Gap(GapKind.FEATURE, key, what="ephemeral volumes")
        if cls.pod_affinity:
            yield Gap(GapKind.AFFINITY, key)
        kind = self._volumes(key, workload)
        if kind is not None:
            yield Gap(kind, key)
        if workload.kind == "StatefulSet" and self._regime is Regime.DISRUPTIONS:
            yield Gap(GapKind.LOST_ORDINALS, key)

    def _strategy(self, member: Member) -> Iterator[Gap]:
        """Yield what is not followed in the update strategy of a StatefulSet: it deletes several pods at a time."""
        release = next(iter(self._profiles.values())).release
        update = fields(member.controller.spec, "updateStrategy")
        if fields(update, "rollingUpdate").get("maxUnavailable") and STATEFULSET_MAX_UNAVAILABLE.of(release):
            yield Gap(GapKind.STRATEGY, member.key, what="maxUnavailable")
        if update.get("type") == "Recreate" and STATEFULSET_RECREATE.of(release):
            yield Gap(GapKind.STRATEGY, member.key, what="Recreate")

    def _volumes(self, key: ObjectKey, workload: Workload) -> Optional[GapKind]:
        """Return how volumes may keep the pods in their zones: from their first nodes on, or from the beginning."""
        volumes = replica(workload, 0).cls.volumes
        created = {f"{template}-{key.name}-" for template in workload.claim_templates}
        if any(volume.claim and not volume.claim.startswith(tuple(created)) for volume in volumes):
            return GapKind.CLAIMS
        claims = [item for item in self.cluster.storage.claims if item.namespace == key.namespace]
        has_pods = any(pods for owner, pods in self._running if owner == key)
        if created and (has_pods or any(item.name.startswith(tuple(created)) for item in claims)):
            return GapKind.CLAIMS  # Running pods have claims, whether or not the facts hold them.
        return GapKind.VOLUMES if created else None

    def _quotas(self, cluster: Cluster) -> Iterator[Gap]:
        """Yield the workloads in whose namespace the quotas have no room for all pods of the regime."""
        for namespace in dict.fromkeys(spec.key.namespace for spec in self.group.owners):
            more: dict[ObjectKey, list[Charge]] = {}
            for spec, workload, (_, pods) in zip(self.group.owners, self._workloads, self._running, strict=True):
                if spec.key.namespace == namespace:
                    is_surging = spec.is_rolled and not spec.is_stateful
                    most = most_at_once(spec, spec.most) if is_surging else spec.most
                    more[spec.key] = [charge(workload.pod_spec)] * max(0, most - len(pods))
            others = [item for item in self._around.unplaced if item.key.namespace == namespace]
            waiting = chain.from_iterable([charge(spec_of_class(item.cls))] * item.number for item in others)
            if not usage_at_start(cluster, namespace).admits_all(chain(*more.values(), waiting)):
                yield from (Gap(GapKind.QUOTA, key) for key in more)

    def _other_pods(self) -> Iterator[Gap]:
        """Yield gaps about other pods that may take room, that can be preempted, or that are taken to stay."""
        first, columns = self.group.owners[0].key, self._columns
        wanted, others = self._wanted(columns), [item for item in self._around.unplaced if item.number]
        both = dict(wanted)
        for item in others:
            for name, amount in (*columns.with_summed_requests(item.cls).requests, (PODS, 1)):
                both[name] = both.get(name, 0) + item.number * amount
        if others and any(both[name] > _least(columns.free(name)) for name in wanted):
            yield Gap(GapKind.ROOM, first, tuple(item.key for item in others))
        if self.cluster.pods and self._resources(columns):
            yield Gap(GapKind.STAYING, first, number=len(self.cluster.pods))
        classes = (*{pod.cls for pod in self.cluster.pods}, *self.classes)
        lowest = min((cls.priority for cls in classes), default=0)
        for kind, cls in zip(self.group.kinds, self.classes, strict=True):
            if cls.priority > lowest and cls.preemption_policy != "Never":
                yield Gap(GapKind.PREEMPTION, self.group.owners[kind.owner].key)
        rolled = tuple(spec.key for spec in self.group.owners if spec.is_rolled and not spec.is_extra)
        if rolled:
            yield Gap(GapKind.ONE_ROLLOUT, others=rolled)

    def _placed(self) -> tuple[PlacedPod, ...]:
        """Return the running pods; none if they cannot be distinguished, or are too many."""
        index = {node.name: at for at, node in enumerate(self.cluster.nodes)}
        found = []
        for owner, (_, pods) in enumerate(self._running):
            for pod in pods:
                if not pod.is_visible or pod.terminating or pod.node_name not in index:
                    continue
                workload = self._workloads[owner]
                number = natural(pod.name.rpartition("-")[2]) if workload.kind == "StatefulSet" else None
                ordinal = -1 if number is None else number - workload.first_ordinal
                kind = next(
                    (
                        at
                        for at, item in enumerate(self.group.kinds)
                        if item.owner == owner and not item.is_new and item.ordinal in (-1, ordinal)
                    ),
                    None,
                )
                if kind is None or not self._is_alike(pod, kind):
                    self._gaps.append(Gap(GapKind.RUNNING, self.group.owners[owner].key))
                    return ()
                found.append(PlacedPod(kind, index[pod.node_name], ordinal))
        for owner, spec in enumerate(self.group.owners):
            number = sum(self.group.kinds[pod.kind].owner == owner for pod in found)
            if number > spec.replicas:
                self._gaps.append(Gap(GapKind.RUNNING, spec.key, number=number))
        return tuple(found)

    def _is_alike(self, pod: Pod, kind: int) -> bool:
        """Return whether constraints count a running pod as they count new pods of its kind."""
        workload = self._workloads[self.group.kinds[kind].owner]
        labels, made = pod.labels, dict(self.classes[kind].labels)
        label = revision_label(workload)
        if label in made:
            labels[label] = made[label]
        return all(selector.matches(labels) == selector.matches(made) for selector in self._hard_selectors)

    def filters(self, disruption: Optional[Disruption] = None) -> Filters:
        """Return the filters on the nodes as they are, or during a disruption."""
        columns = self._columns if disruption is None else Columns(_disrupted(self.cluster, disruption))
        scheduler = Scheduler(columns, self._profiles, all_nodes=True)
        known: dict[PodClass, KindFilters] = {}
        names = self._resources(columns)
        for cls in self.classes:
            if cls not in known:
                requests = {**dict(columns.with_summed_requests(cls).requests), PODS: 1}
                known[cls] = KindFilters(
                    _allowed(cls, scheduler),
                    self._spreads(cls, columns),
                    self._separations(cls, columns),
                    tuple(requests.get(name, 0) for name in names),
                )
        free = tuple(zip(*(columns.free(name).tolist() for name in names), strict=True))
        return Filters(tuple(known[cls] for cls in self.classes), free, names)

    def _resources(self, columns: Columns) -> tuple[str, ...]:
        """Return the resources that all pods together could exhaust on some node."""
        wanted = self._wanted(columns)
        return tuple(sorted(name for name, amount in wanted.items() if amount > _least(columns.free(name))))

    def _wanted(self, columns: Columns) -> dict[str, int]:
        """Return the requests of all pods together."""
        wanted: dict[str, int] = {PODS: 0}
        for kind, cls in zip(self.group.kinds, self.classes, strict=True):
            spec = self.group.owners[kind.owner]
            number = 1 if kind.ordinal >= 0 else spec.most
            if kind.is_new:  # Besides the old pods.
                number = most_at_once(spec, spec.most) - spec.most if kind.ordinal < 0 else 0
            for name, amount in (*columns.with_summed_requests(cls).requests, (PODS, 1)):
                wanted[name] = wanted.get(name, 0) + number * amount
        return wanted

    def _spreads(self, cls: PodClass, columns: Columns) -> tuple[Spread, ...]:
        profile = self._profiles.get(cls.scheduler_name)
        hard = hard_constraints(cls, columns, self._profiles)
        if not hard or profile is None:
            return ()
        found = []
        for counts in PreFilterState(hard, cls, columns, profile.release).counts:
            constraint, codes = counts.constraint, counts.topology.codes
            matches = tuple(
                other.namespace == cls.namespace
                and not constraint.selector.is_empty
                and constraint.selector.matches(dict(other.labels))
                for other in self.classes
            )
            found.append(
                Spread(
                    constraint.topology_key,
                    constraint.max_skew,
                    tuple(codes.tolist()),
                    tuple(np.flatnonzero(counts.included & (codes >= 0)).tolist()),
                    tuple(np.flatnonzero(counts.eligible).tolist()),
                    counts.is_below_min_domains,
                    matches,
                    constraint.self_match_num,
                    tuple(counts.match_num.tolist()),
                    constraint.min_domains,
                )
            )
        return tuple(found)

    def _separations(self, cls: PodClass, columns: Columns) -> tuple[Separation, ...]:
        """Return the anti-affinity between a kind and the others, in both directions, and conflicts of host ports."""
        by_key: dict[str, list[bool]] = {}
        for number, other in enumerate(self.classes):
            for one, target in ((cls, other), (other, cls)):
                for term in one.pod_anti_affinity:
                    namespace = self.cluster.namespaces.get(target.namespace, {})
                    if term.matches(target.namespace, dict(target.labels), namespace):
                        by_key.setdefault(term.topology_key, [False] * len(self.classes))[number] = True
        found = [
            Separation(key, tuple(columns.topology(key).codes.tolist()), tuple(matches))
            for key, matches in by_key.items()
        ]
        ports = tuple(
            any(one.conflicts(item) for one in cls.host_ports for item in other.host_ports) for other in self.classes
        )
        if any(ports):
            found.append(Separation("", tuple(range(columns.n)), ports))
        return tuple(found)


def _bare(cls: PodClass) -> PodClass:
    """Return a class without volumes, which are not followed."""
    return cls._replace(volumes=())


def _filtered_keys(cls: PodClass) -> set[str]:
    """Return the label keys on which the hard constraints and the anti-affinity of a pod depend."""
    found = {key for item in cls.constraints if item.is_hard for key in (*item.match_label_keys, *item.selected_keys)}
    return found | {item.key for term in cls.pod_anti_affinity for item in term.selector.requirements or ()}


def _allowed(cls: PodClass, scheduler: Scheduler) -> tuple[int, ...]:
    """Return the nodes that pass every filter that does not depend on the group's pods."""
    if not scheduler.has_profile(cls):
        return ()
    pod = Pod("guarantee", "guarantee", cls._replace(constraints=(_PLAIN,), gates=(), pod_affinity=(), node_name=""))
    return tuple(np.flatnonzero(scheduler.filter(pod).feasible).tolist())


def _disrupted(cluster: Cluster, disruption: Disruption) -> Cluster:
    """Return the cluster with a cordoned node, or with nodes that do not answer."""
    nodes = list(cluster.nodes)
    for at in disruption.nodes:
        if not disruption.is_loss:
            nodes[at] = set_cordon(nodes[at], is_cordoned=True)
            continue
        for effect in (NO_SCHEDULE, NO_EXECUTE):
            nodes[at] = add_taint(nodes[at], Taint(UNREACHABLE, "", effect))
    return cluster._replace(nodes=tuple(nodes))


def disruptions(group: GroupModel, keys: Iterable[str], lost: Iterable[tuple[str, int]] = ()) -> tuple[Disruption, ...]:
    """Return the drains of each node and the losses of each domain.

    Args:
        group: the nodes.
        keys: topology keys whose domains are lost, one at a time.
        lost: topology keys whose domains are lost several at a time.
    """
    layout = group.layout
    hosts = layout.domain_of[HOSTNAME]
    found = [Disruption(False, HOSTNAME, (layout.nodes[at],), (at,)) for at in range(len(layout.nodes)) if hosts]
    sizes = dict.fromkeys([*((key, 1) for key in keys), *lost])
    for key, size in sizes:
        of_domain = grouped((domain, at) for at, domain in enumerate(layout.domain_of[key]))
        for chosen in combinations(range(len(layout.values[key])), size):
            nodes = tuple(sorted(chain.from_iterable(of_domain[domain] for domain in chosen)))
            found.append(Disruption(True, key, tuple(layout.values[key][at] for at in chosen), nodes))
    return tuple(found)


def _least(amounts: Int64s) -> int:
    return int(amounts.min()) if len(amounts) else 0
