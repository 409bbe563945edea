"""A pod that stays Pending, with the data for finding changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Cluster, Controller, OwnerKey
from kubectl_spread.cluster.tables.columns import Columns
from kubectl_spread.cluster.tables.label_groups import LabelGroup
from kubectl_spread.explain.constraints.report import ConstraintReport, passes_all_but_spread
from kubectl_spread.explain.explanation import Explanation
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.selectors.labels import OS, REGION, ZONE
from kubectl_spread.objects.selectors.selector import Selector
from kubectl_spread.objects.taints import Taint
from kubectl_spread.objects.workloads.workload import (
    PER_POD_LABELS,
    RELEASE_LABELS,
    REVISION_LABEL_OF,
    REVISION_LABELS,
    Workload,
)
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.sampling import Sampler
from kubectl_spread.suggest.editing.target import TemplateOwner
from kubectl_spread.suggest.judging.rollout_settings import ON_DELETE, RolloutSettings, settings_of
from kubectl_spread.suggest.system_taints import is_of_system
from kubectl_spread.text.scalars import natural

Plain = dict[str, Any]

# Labels of a pod that its workload's template does not have, or that change with each release.
PASSING_LABELS = frozenset(
    {*REVISION_LABELS, *PER_POD_LABELS, *RELEASE_LABELS, "controller-uid", "job-name", ZONE, REGION}
)


class ProblemInput(NamedTuple):
    """Input of a problem.

    pod: the Pending pod to place. owner: workload whose template is changed; its `template` may be incomplete. own: the
    owner's pods without a node, including `pod`, in scheduling order. before, after: waiting pods of other owners,
    scheduled before or after them. running: the owner's pods with a node. pending: number of pods in `own` that find no
    node without a change. is_contended: the pod fits, but there is no room for both it and the pods before it. The
    order decides which of them waits.
    """

    pod: Pod
    owner: Workload
    target: TemplateOwner
    cluster: Cluster
    profiles: Mapping[str, Profile]
    explanation: Explanation
    before: tuple[Pod, ...]
    own: tuple[Pod, ...]
    after: tuple[Pod, ...]
    running: tuple[Pod, ...]
    is_template_known: bool
    pending: int
    all_nodes: bool = False
    is_contended: bool = False


class PendingPodProblem:
    """A pod that stays Pending. Derived values are computed once."""

    def __init__(self, given: ProblemInput, columns: Optional[Columns] = None) -> None:
        self.given = given
        self.pod, self.owner, self.target = given.pod, given.owner, given.target
        self.cluster, self.profiles = given.cluster, given.profiles
        self.explanation = given.explanation
        self._columns = columns
        self._counted: dict[Selector, list[LabelGroup]] = {}

    @property
    def spec(self) -> Plain:
        """Return the spec from which the pod is created, with at least its editable fields."""
        found: Plain = self.owner.template.get("spec") or {}
        return found

    @property
    def release(self) -> Profile:
        """Return any profile of the scheduler, for settings that depend on its release only."""
        return next(iter(self.profiles.values()))

    @property
    def reports(self) -> list[ConstraintReport]:
        """Return the reports of the pod's own hard constraints, which its manifest can change."""
        return [item for item in self.explanation.constraints if item.constraint.is_hard and not item.is_default]

    @cached_property
    def columns(self) -> Columns:
        """Return the columns of the unchanged cluster; callers must not bind pods in them."""
        return self._columns or Columns(self.cluster)

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
    def rollout(self) -> RolloutSettings:
        """Return the settings by which the workload replaces its pods."""
        return settings_of(self.controller, self.owner.kind)

    @property
    def controller(self) -> Optional[Controller]:
        """Return the workload's object in the cluster; None if the cluster facts lack it."""
        return self.cluster.controllers.get(OwnerKey(self.owner.kind, self.owner.namespace, self.owner.name))

    @cached_property
    def operating_system(self) -> str:
        """Return the operating system of the pods; empty if no node has its label.

        The pod's node selector decides first, then the nodes of the workload's running pods, then the nodes that fit.
        """
        own = {node.name: node.labels[OS] for node in self.cluster.nodes if OS in node.labels}
        asked = dict(self.pod.cls.node_selector).get(OS, "")
        running = Counter(own[pod.node_name] for pod in self.given.running if pod.node_name in own)
        fitting = Counter(own[name] for at in self.usable if (name := self.columns.nodes[at].name) in own)
        for counts in (running, fitting, Counter(own.values())):
            if counts and not asked:
                asked = max(counts, key=lambda name: (counts[name], name == "linux", name))
        return asked

    def workload_pods(self, node: Node) -> list[Pod]:
        """Return the pods of a node except DaemonSet and static pods."""
        pods = self.columns.pods[self.columns.index[node.name]]
        return [pod for pod in pods if pod.owner is None or pod.owner.kind not in ("DaemonSet", "Node")]

    @cached_property
    def idle_taints(self) -> frozenset[Taint]:
        """Return the taints set by users that keep the pod off a node without workload pods."""
        untolerated = zip(self.cluster.nodes, self.columns.untolerated_taints(self.pod.cls.tolerations), strict=True)
        return frozenset(
            taint
            for node, taint in untolerated
            if taint is not None and not is_of_system(taint) and not self.workload_pods(node)
        )

    def counted_groups(self, selector: Selector) -> list[LabelGroup]:
        """Return the label groups of running pods in the pod's namespace that a selector matches."""
        found = self._counted.get(selector)
        if found is None:
            matching = self.columns.matches(self.pod.namespace, selector, 0)
            groups = self.columns.groups
            found = self._counted[selector] = [groups[at] for at in matching.nonzero()[0]]
        return found

    @cached_property
    def own_labels(self) -> dict[str, str]:
        """Return the labels that all pods of the owner share, without revision labels and per-pod labels."""
        labels = dict(self.pod.cls.labels)
        return {key: value for key, value in labels.items() if key not in PASSING_LABELS}

    @property
    def revision_label(self) -> str:
        """Return the label whose value differs in each revision of the template; empty if there is none.

        It is also empty if the running pods may or may not be of the manifest's revision.
        """
        found = REVISION_LABEL_OF.get(self.owner.kind, "")
        is_unknown = not self.target.is_live and bool(self.given.running) and not self.owner.known_hash
        return found if found in dict(self.pod.cls.labels) and not is_unknown else ""

    @property
    def replicas(self) -> int:
        """Return how many pods the workload should have once no rollout is under way."""
        given, label = self.given, self.revision_label
        if given.is_template_known and self.owner.replicas is not None:
            return self.owner.replicas
        own = dict(self.pod.cls.labels).get(label)
        old = sum(dict(pod.cls.labels).get(label) != own for pod in given.running)
        return max(old, len(given.own) + len(given.running) - old)

    @cached_property
    def outdated_pods(self) -> tuple[Pod, ...]:
        """Return the running pods of an older revision, which an ongoing rollout replaces anyway."""
        label = self.revision_label
        if not label or self.target.is_paused or not self.target.is_live or self.rollout.type == ON_DELETE:
            return ()
        return tuple(pod for pod in self.given.running if self._is_older(pod, label))

    def _is_older(self, pod: Pod, label: str) -> bool:
        theirs = dict(pod.cls.labels).get(label)
        if self.controller is not None and self.owner.kind == "StatefulSet" and self.controller.revision:
            return theirs not in (None, self.controller.revision)
        own, old = (self._revision_of(item) for item in (self.pod, pod))
        is_newest = own is None or old is None or old < own
        return is_newest and theirs not in (None, dict(self.pod.cls.labels).get(label))

    def _revision_of(self, pod: Pod) -> Optional[int]:
        """Return the revision of a pod's ReplicaSet in its Deployment; None if the cluster facts lack it."""
        owner = pod.owner
        key = None if owner is None else OwnerKey(owner.kind, pod.namespace, owner.name)
        found = None if key is None else self.cluster.controllers.get(key)
        return None if found is None else natural(found.revision)

    @property
    def rivals(self) -> tuple[Pod, ...]:
        """Return the Pending pods of other workloads that may take the room before the pod."""
        return self.given.before if self.given.is_contended else ()

    @cached_property
    def missing(self) -> int:
        """Return how many pods the workload's controller has yet to create."""
        if not self.exists or self.controller is None or self.owner.kind not in _CREATING:
            return 0
        return max(0, self.replicas - len(self.given.own) - len(self.given.running))

    def is_own(self, labels: Mapping[str, str]) -> bool:
        """Return whether a pod of the owner, of any revision, has these labels."""
        return _lasting(labels) in self._own_label_sets

    @cached_property
    def _own_label_sets(self) -> frozenset[frozenset[tuple[str, str]]]:
        return frozenset(_lasting(dict(pod.cls.labels)) for pod in (*self.given.own, *self.given.running))


def _lasting(labels: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """Return labels without those in which pods of one workload differ."""
    own = {*REVISION_LABELS, *PER_POD_LABELS, ZONE, REGION}
    return frozenset((key, value) for key, value in labels.items() if key not in own)


CREATING_AT_WILL = ("Deployment", "ReplicaSet", "ReplicationController")  # Their pods stand for each other.
_CREATING = (*CREATING_AT_WILL, "StatefulSet")
