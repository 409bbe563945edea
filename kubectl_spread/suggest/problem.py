"""A pod that stays Pending, and all that a change of it may look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any
from typing import NamedTuple
from typing import Optional

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.label_groups import LabelGroup
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.snapshot import Controller
from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.explain.constraints.report import ConstraintReport
from kubectl_spread.explain.constraints.report import passes_all_but_spread
from kubectl_spread.explain.explanation import Explanation
from kubectl_spread.objects.labels import OS
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.selector import Selector
from kubectl_spread.objects.workload import PER_POD_LABELS
from kubectl_spread.objects.workload import RELEASE_LABELS
from kubectl_spread.objects.workload import REVISION_LABEL_OF
from kubectl_spread.objects.workload import REVISION_LABELS
from kubectl_spread.objects.workload import Workload
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.sampling import Sampler
from kubectl_spread.suggest.rollout_settings import ON_DELETE
from kubectl_spread.suggest.rollout_settings import RolloutSettings
from kubectl_spread.suggest.rollout_settings import settings_of
from kubectl_spread.suggest.target import TemplateOwner

Plain = dict[str, Any]

_NOT_ITS_OWN = frozenset({*REVISION_LABELS, *PER_POD_LABELS, *RELEASE_LABELS, "controller-uid", "job-name"})


class Given(NamedTuple):
    """What a problem is made of.

    pod: the one that is asked about. owner: whose template is changed; its `template` is what the pod was made of, as
    far as that is known. own: the pods of the owner that have no node, `pod` among them, in the order they are
    scheduled. before, after: the pods of other owners that wait as well, and come before or after them. running: the
    owner's pods that have a node. pending: how many of `own` find no node as things are. is_contended: the pod fits,
    but there is not room for it and the pods before it; which of them waits is up to the order.
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
    """A pod that stays Pending; what is worked out of it is worked out once."""

    def __init__(self, given: Given, columns: Optional[Columns] = None) -> None:
        self.given = given
        self.pod, self.owner, self.target = given.pod, given.owner, given.target
        self.cluster, self.profiles = given.cluster, given.profiles
        self.explanation = given.explanation
        self._columns = columns
        self._counted: dict[Selector, list[LabelGroup]] = {}

    @property
    def spec(self) -> Plain:
        """The spec that the pod is made of, at least what may be changed of it."""
        found: Plain = self.owner.template.get("spec") or {}
        return found

    @property
    def release(self) -> Profile:
        """Any profile of the scheduler: what they have in common is that of the release."""
        return next(iter(self.profiles.values()))

    @property
    def reports(self) -> list[ConstraintReport]:
        """The pod's own hard constraints: those that a change of its manifest reaches."""
        return [item for item in self.explanation.constraints if item.constraint.is_hard and not item.is_default]

    @cached_property
    def columns(self) -> Columns:
        """The cluster as it is; nobody may bind anything here."""
        return self._columns or Columns(self.cluster)

    @cached_property
    def sampler(self) -> Sampler:
        """The order in which a scheduler looks at the nodes."""
        return Sampler(self.cluster.nodes)

    @cached_property
    def filtered(self) -> FilterResult:
        """What the plugins say of the pod before any change."""
        return Scheduler(self.columns, self.profiles, sampler=self.sampler.anew()).filter(self.pod)

    @cached_property
    def usable(self) -> list[int]:
        """Nodes that refuse the pod because of nothing but its spread constraints."""
        return [int(at) for at in passes_all_but_spread(self.filtered).nonzero()[0]]

    @cached_property
    def exists(self) -> bool:
        """Whether the cluster has the pod; else it is one of a manifest that is yet to be applied."""
        return any(pod is self.pod or pod.uid == self.pod.uid for pod in self.cluster.pending())

    @cached_property
    def rollout(self) -> RolloutSettings:
        """How the workload replaces its pods."""
        return settings_of(self.controller, self.owner.kind)

    @property
    def controller(self) -> Optional[Controller]:
        """The workload as the cluster has it; None where the facts do not."""
        return self.cluster.controllers.get(OwnerKey(self.owner.kind, self.owner.namespace, self.owner.name))

    @cached_property
    def operating_system(self) -> str:
        """The operating system of the pods: of the nodes that the workload runs on, else of those that fit.

        Empty where no node says its operating system.
        """
        own = {node.name: node.labels[OS] for node in self.cluster.nodes if OS in node.labels}
        asked = dict(self.pod.cls.node_selector).get(OS, "")
        running = Counter(own[pod.node_name] for pod in self.given.running if pod.node_name in own)
        fitting = Counter(own[name] for at in self.usable if (name := self.columns.nodes[at].name) in own)
        for counts in (running, fitting, Counter(own.values())):
            if counts and not asked:
                asked = max(counts, key=lambda name: (counts[name], name == "linux", name))
        return asked

    def counted(self, selector: Selector) -> list[LabelGroup]:
        """The labels of pods that run in the pod's namespace and that a selector matches."""
        found = self._counted.get(selector)
        if found is None:
            matching = self.columns.matches(self.pod.namespace, selector, 0)
            groups = self.columns.groups
            found = self._counted[selector] = [groups[at] for at in matching.nonzero()[0]]
        return found

    @cached_property
    def own_labels(self) -> dict[str, str]:
        """The labels that the owner's pods have for good: no revision's, and none of a single pod."""
        labels = dict(self.pod.cls.labels)
        return {key: value for key, value in labels.items() if key not in _NOT_ITS_OWN and key not in _COPIED}

    @property
    def revision_label(self) -> str:
        """The label that each revision of the template has a value of its own for; empty where there is none.

        So it is where nobody knows whether the pods that run are of another revision than a manifest.
        """
        found = REVISION_LABEL_OF.get(self.owner.kind, "")
        is_unknown = not self.target.is_live and bool(self.given.running) and not self.owner.known_hash
        return found if found in dict(self.pod.cls.labels) and not is_unknown else ""

    @property
    def replicas(self) -> int:
        """How many pods the workload is to have, once no rollout is under way."""
        given, label = self.given, self.revision_label
        if given.is_template_known and self.owner.replicas is not None:
            return self.owner.replicas
        own = dict(self.pod.cls.labels).get(label)
        old = sum(dict(pod.cls.labels).get(label) != own for pod in given.running)
        return max(old, len(given.own) + len(given.running) - old)

    @cached_property
    def outdated(self) -> tuple[Pod, ...]:
        """Running pods of an older revision: a rollout that is under way replaces them anyway."""
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
        """The number of a pod's ReplicaSet among those of its Deployment; None where the facts do not say it."""
        owner = pod.owner
        key = None if owner is None else OwnerKey(owner.kind, pod.namespace, owner.name)
        found = None if key is None else self.cluster.controllers.get(key)
        return int(found.revision) if found is not None and found.revision.isdecimal() else None

    @property
    def rivals(self) -> tuple[Pod, ...]:
        """Pending pods of other workloads that may take the room before the pod."""
        return self.given.before if self.given.is_contended else ()

    @cached_property
    def missing(self) -> int:
        """How many pods the workload's controller has yet to create."""
        if not self.exists or self.controller is None or self.owner.kind not in _CREATING:
            return 0
        return max(0, self.replicas - len(self.given.own) - len(self.given.running))

    def is_own(self, labels: Mapping[str, str]) -> bool:
        """Whether labels are those of the owner's pods, of whichever revision."""
        return all(labels.get(key) == value for key, value in self.own_labels.items())


_CREATING = ("Deployment", "ReplicaSet", "ReplicationController")
_COPIED = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
