"""A pod that stays Pending, with the data for finding changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Optional

from kubectl_spread.advice.recreate import spec_of
from kubectl_spread.advice.target import target_of, TemplateOwner
from kubectl_spread.cluster.columns import Columns, LabelGroup
from kubectl_spread.cluster.ownership import inferred_deployment, OwnedPods, workload_of
from kubectl_spread.cluster.snapshot import Cluster, Controller, key_of
from kubectl_spread.engine import reading
from kubectl_spread.engine.claims import NewClaims, with_claims
from kubectl_spread.engine.controllers.deployment import DeploymentSpec
from kubectl_spread.engine.steps import Op
from kubectl_spread.engine.workloads import has_constraints_of, missing_replicas, running_pods, with_controllers
from kubectl_spread.explain.constraint_report import ConstraintReport
from kubectl_spread.explain.explanation import Explanation, PodVerdict
from kubectl_spread.explain.placement import Placement
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading.plain import Plain
from kubectl_spread.objects.selectors import OS, REGION, Selector, ZONE
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.objects.workloads.workload import (
    PER_POD_LABELS,
    RELEASE_LABELS,
    REPLICATED_KINDS,
    REVISION_LABEL_OF,
    REVISION_LABELS,
    Workload,
)
from kubectl_spread.scheduler.cycle import Sampler, Scheduler
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.framework.plugin import Profile
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import passes_all_but_spread
from kubectl_spread.text.scalars import natural

# Labels of a pod that its workload's template does not have, or that change with each release.
PASSING_LABELS = frozenset(
    {*REVISION_LABELS, *PER_POD_LABELS, *RELEASE_LABELS, "controller-uid", "job-name", ZONE, REGION}
)


@dataclass(eq=False)
class PendingPodProblem:
    """A pod that stays Pending. Derived values are computed once.

    pod: the Pending pod to place. owner: workload whose template is changed; its `template` may be incomplete. own: the
    owner's pods without a node, including `pod`, in scheduling order. before, after: waiting pods of other owners,
    scheduled before or after them. running: the owner's pods with a node. pending: number of pods in `own` that find no
    node without a change. is_contended: the pod fits, but there is no room for both it and the pods before it. The
    order decides which of them waits. columns: of the unchanged cluster; callers must not bind pods in them.
    began, past: the cluster at the start, and the steps that have led to this one in some order; None and none if it is
    as it was read. unusable: names of nodes and pods that no change may be about. not_predictable: features
    that the pods use and that are left out.
    """

    pod: Pod
    owner: Workload
    target: TemplateOwner
    cluster: Cluster
    columns: Columns
    profiles: Mapping[str, Profile]
    explanation: Explanation
    own: tuple[Pod, ...]
    running: tuple[Pod, ...]
    pending: int
    before: tuple[Pod, ...] = ()
    after: tuple[Pod, ...] = ()
    is_template_known: bool = True
    is_contended: bool = False
    began: Optional[Cluster] = None
    past: tuple[tuple[Op, ...], ...] = ()
    unusable: frozenset[str] = frozenset()
    not_predictable: tuple[str, ...] = ()

    @property
    def spec(self) -> Plain:
        """Return the spec from which the pod is created, with at least its editable fields."""
        return self.owner.pod_spec

    @property
    def release(self) -> Profile:
        """Return any profile of the scheduler, for settings that depend on its release only."""
        return next(iter(self.profiles.values()))

    @property
    def constraints(self) -> tuple[TopologySpreadConstraint, ...]:
        return self.pod.cls.constraints

    @property
    def reports(self) -> list[ConstraintReport]:
        """Return the reports of the pod's own hard constraints, which its manifest can change."""
        return [item for item in self.explanation.constraints if item.constraint.is_hard and not item.is_default]

    @cached_property
    def sampler(self) -> Sampler:
        """Return the order in which the scheduler examines the nodes."""
        return Sampler(self.cluster.nodes)

    @cached_property
    def filter_result(self) -> FilterResult:
        """Return the plugins' verdicts on the pod before any change."""
        return Scheduler(self.columns, self.profiles, sampler=self.sampler.restart()).filter(self.pod)

    @cached_property
    def usable(self) -> list[int]:
        """Return the indices of the nodes that only spread constraints rule out."""
        return [int(at) for at in passes_all_but_spread(self.filter_result).nonzero()[0]]

    @cached_property
    def exists(self) -> bool:
        """Return whether the pod exists in the cluster; else it is from a manifest that is not applied yet."""
        return any(pod is self.pod or pod.uid == self.pod.uid for pod in self.cluster.pending())

    @cached_property
    def rollout(self) -> DeploymentSpec:
        """Return the settings by which the workload replaces its pods; the defaults of its kind if they are unknown."""
        controller = self.controller or Controller(self.owner)
        if self.owner.kind != "DaemonSet":
            return reading.deployment_spec(controller)
        spec = reading.daemonset_spec(controller)
        return DeploymentSpec(0, 0, spec.surge, spec.unavailable)

    @property
    def may_surge(self) -> bool:
        """Return whether new pods are created before old ones are deleted."""
        none, settings = (0, "0", "0%"), self.rollout
        return not settings.is_recreate and (settings.surge not in none or settings.unavailable in none)

    @property
    def controller(self) -> Optional[Controller]:
        """Return the workload's object in the cluster; None if the cluster facts lack it."""
        return self.cluster.controllers.get(key_of(self.owner))

    @cached_property
    def operating_system(self) -> str:
        """Return the operating system of the pods; empty if no node has its label.

        The pod's node selector decides first, then the nodes of the workload's running pods, then the nodes that fit.
        """
        own = {node.name: node.labels[OS] for node in self.cluster.nodes if OS in node.labels}
        asked = dict(self.pod.cls.node_selector).get(OS, "")
        running = Counter(own[pod.node_name] for pod in self.running if pod.node_name in own)
        fitting = Counter(own[name] for at in self.usable if (name := self.columns.nodes[at].name) in own)
        for counts in (running, fitting, Counter(own.values())):
            if counts and not asked:
                asked = max(counts, key=lambda name: (counts[name], name == "linux", name))
        return asked

    def pods_of_workloads(self, node: str) -> list[Pod]:
        """Return the pods of a node except DaemonSet and static pods."""
        pods = self.columns.pods[self.columns.index[node]]
        return [pod for pod in pods if pod.owner is None or pod.owner.kind not in ("DaemonSet", "Node")]

    def values(self, key: str) -> set[str]:
        """Return the values of a label of nodes."""
        return {node.labels[key] for node in self.cluster.nodes if key in node.labels}

    def counted_groups(self, selector: Selector) -> list[LabelGroup]:
        """Return the label groups of running pods in the pod's namespace that a selector matches."""
        matching = self.columns.matches(self.pod.namespace, selector)
        return [group for at, group in self.running_groups.items() if matching[at]]

    @property
    def running_groups(self) -> dict[int, LabelGroup]:
        """Return the label groups of running pods by their numbers; clusters that were tried may have more."""
        return {at: self.columns.groups[at] for at in self.columns.bound_groups.tolist()}

    @cached_property
    def own_labels(self) -> dict[str, str]:
        """Return the labels that all pods of the owner share, without revision labels and per-pod labels."""
        labels = self.pod.labels
        return {key: value for key, value in labels.items() if key not in PASSING_LABELS}

    @property
    def revision_label(self) -> str:
        """Return the label whose value differs in each revision of the template; empty if there is none."""
        found = REVISION_LABEL_OF.get(self.owner.kind, "")
        return found if found in self.pod.labels else ""

    @property
    def replicas(self) -> int:
        """Return how many pods the workload should have once no rollout is under way."""
        label = self.revision_label
        if self.is_template_known and self.owner.replicas is not None:
            return self.owner.replicas
        own = self.pod.labels.get(label)
        old = sum(pod.labels.get(label) != own for pod in self.running)
        return max(old, len(self.own) + len(self.running) - old)

    @cached_property
    def outdated_pods(self) -> tuple[Pod, ...]:
        """Return the running pods of an older revision, which the rollout replaces anyway, ongoing or to be applied."""
        label = self.revision_label
        is_on_delete = self.controller is not None and reading.is_on_delete(self.controller)
        if not label or self.target.is_paused or is_on_delete:
            return ()
        current = self.controller.revision if self.controller and self.owner.kind == "StatefulSet" else ""
        own, mine = self.pod.labels.get(label), self._revision_of(self.pod)
        found = []
        for pod in self.running:
            theirs, old = pod.labels.get(label), self._revision_of(pod)
            is_newest = bool(current) or mine is None or old is None or old < mine
            if is_newest and theirs not in (None, current or own):
                found.append(pod)
        return tuple(found)

    def _revision_of(self, pod: Pod) -> Optional[int]:
        """Return the revision of a pod's ReplicaSet in its Deployment; None if the cluster facts lack it."""
        key = pod.owner_key
        found = None if key is None else self.cluster.controllers.get(key)
        return None if found is None else natural(found.revision)

    @property
    def rivals(self) -> tuple[Pod, ...]:
        """Return the Pending pods of other workloads that may take the room before the pod."""
        return self.before if self.is_contended else (*self.before, *self.after)

    @cached_property
    def missing(self) -> int:
        """Return how many pods the workload's controller has yet to create."""
        if not self.exists or self.controller is None or self.owner.kind not in REPLICATED_KINDS:
            return 0
        return max(0, self.replicas - len(self.own) - len(self.running))

    def is_own(self, labels: Mapping[str, str]) -> bool:
        """Return whether a pod of the owner, of any revision, has these labels."""
        return _lasting(labels.items()) in self._own_label_sets

    @cached_property
    def _own_label_sets(self) -> frozenset[frozenset[tuple[str, str]]]:
        return frozenset(_lasting(pod.cls.labels) for pod in (*self.own, *self.running))


_CHANGING_LABELS = frozenset({*REVISION_LABELS, *PER_POD_LABELS, ZONE, REGION})  # Pods of one workload differ in them.


def _lasting(labels: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    return frozenset((key, value) for key, value in labels if key not in _CHANGING_LABELS)


CREATING_AT_WILL = ("Deployment", "ReplicaSet", "ReplicationController")  # Their pods stand for each other.


def of_pod(
    explanation: Explanation,
    cluster: Cluster,
    profiles: Mapping[str, Profile],
    *,
    columns: Optional[Columns] = None,
    placed_first: frozenset[str] = frozenset(),
) -> Optional[PendingPodProblem]:
    """Return the problem of a pod of the cluster; None if no change could make it schedulable.

    `explanation` is of the pod; where the order of Pending pods decides, it is of the pod's last possible turn.
    `columns` are of the cluster, if they exist already, without bound pods. `placed_first` has the keys of the Pending
    pods that take the room at the pod's last turn.
    """
    if explanation.verdict is not PodVerdict.PENDING:
        return None
    pod = explanation.pod
    waiting = [other for other in cluster.pending() if _is_queued(other)]
    siblings = [other for other in waiting if other.key != pod.key and _is_sibling(other, pod, cluster)]
    early, late = ([item for item in siblings if (item.key in placed_first) is is_first] for is_first in (True, False))
    own = [*early, pod, *late]  # in the order of their turns
    keys = {other.key for other in own}
    others = [other for other in waiting if other.key not in keys]
    running = [item for item in cluster.bound_pods() if not item.terminating and _is_sibling(item, pod, cluster)]
    key = workload_of(pod, cluster)
    controller = cluster.controllers.get(key)
    is_known = controller is not None and key.kind in KINDS and has_constraints_of(pod, controller.workload)
    if controller is not None and is_known:
        owner = controller.workload
        is_paused = bool(controller.spec.get("paused")) and owner.kind == "Deployment"
        target = target_of(owner, is_live=True, is_paused=is_paused)
    else:
        version = "" if pod.owner is None else pod.owner.api_version
        template = {"metadata": {"labels": pod.labels}, "spec": spec_of(pod.cls)}
        owner = Workload(key.kind, version, key.namespace, key.name, len(own), template)
        is_guessed = key == inferred_deployment(pod.cls) and key not in cluster.owners_of(pod)
        target = target_of(owner, is_live=True, is_guessed=is_guessed)
    return PendingPodProblem(
        pod=pod,
        owner=owner,
        target=target,
        cluster=cluster,
        columns=columns or Columns(cluster),
        profiles=profiles,
        explanation=explanation,
        before=tuple(other for other in others if other.key in placed_first),
        own=tuple(own),
        after=tuple(other for other in others if other.key not in placed_first),
        running=tuple(running),
        is_template_known=is_known,
        pending=sum(other.key not in placed_first for other in own),
        is_contended=bool(placed_first),
    )


def of_placements(
    placements: Sequence[Placement],
    at: int,
    cluster: Cluster,
    profiles: Mapping[str, Profile],
) -> Optional[PendingPodProblem]:
    """Return the problem of a workload with Pending pods after placing it with others; None if no pod is Pending.

    `placements` come from `explain.replicas.place`, and `at` is the index of the workload's. The other arguments are
    the ones they were made with.
    """
    placement = placements[at]
    owners = [item.workload for item in placements]
    if not placement.pending or placement.pending[0].explanation.verdict is not PodVerdict.PENDING:
        return None
    cluster = with_claims(owners, cluster)
    claims, owned = NewClaims(cluster), OwnedPods(cluster)
    # Unknown claims keep no pod of a placement from its node, and so none after a change.
    owners = [claims.workload_without(item, missing_replicas(item, owned)) for item in owners]
    owner, cluster = owners[at], with_controllers(owners, cluster)
    waiting = [  # The pods that each controller has yet to create and the scheduler would try.
        [pod for pod in missing_replicas(item, owned) if not pod.cls.gates] for item in owners
    ]
    created = {pod.key for pods in waiting for pod in pods}
    others = (pod for pod in cluster.pending() if pod.key not in created and _is_queued(pod))
    return PendingPodProblem(
        pod=next(pod for pod in waiting[at] if pod.key == placement.pending[0].pod.key),
        owner=owner,
        target=target_of(owner, is_live=False),
        cluster=cluster,
        columns=Columns(cluster),
        profiles=profiles,
        explanation=placement.pending[0].explanation,
        before=tuple(pod for pods in waiting[:at] for pod in pods),
        own=tuple(waiting[at]),
        after=(*(pod for pods in waiting[at + 1 :] for pod in pods), *others),
        running=tuple(running_pods(owner, owned)),
        pending=len(placement.pending),
        not_predictable=placement.not_predictable,
    )


def of_change(
    explanation: Explanation, owner: Workload, cluster: Cluster, profiles: Mapping[str, Profile]
) -> Optional[PendingPodProblem]:
    """Return the problem of a pod that stays Pending once a manifest changes a workload whose pods run.

    Returns None if pods of the workload have names of their own, so that a new pod takes the place of an old one.
    """
    if owner.kind not in CREATING_AT_WILL or explanation.verdict is not PodVerdict.PENDING:
        return None
    cluster, pod = with_controllers([owner], cluster), explanation.pod
    return PendingPodProblem(
        pod=pod,
        owner=owner,
        target=target_of(owner, is_live=False),
        cluster=cluster,
        columns=Columns(cluster),
        profiles=profiles,
        explanation=explanation,
        own=(pod,),
        after=tuple(filter(_is_queued, cluster.pending())),
        running=tuple(running_pods(owner, OwnedPods(cluster))),
        pending=1,
    )


def _is_queued(pod: Pod) -> bool:
    """Return whether the scheduler tries to place the pod: it is neither gated nor being deleted."""
    return not pod.cls.gates and not pod.terminating


def _is_sibling(other: Pod, pod: Pod, cluster: Cluster) -> bool:
    """Return whether two pods belong to one workload; a pod without a controller only equals itself."""
    if pod.owner is None:
        return other.key == pod.key
    return other.namespace == pod.namespace and workload_of(other, cluster) == workload_of(pod, cluster)
