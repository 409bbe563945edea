"""The cluster of one run of placing pods: pods are bound to it, and evicted from it."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.labels import REGION
from kubectl_spread.objects.labels import ZONE
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.plugin import NodeIndices
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.simulate.binding import TopologyLabels
from kubectl_spread.simulate.refusals import QuotaUsage

Pick = Callable[[NodeIndices], int]


class Surroundings:
    """A cluster and its scheduler.

    `changes` counts the pods that were bound and evicted: a pod that was refused is worth another try after a change.
    """

    def __init__(
        self, cluster: Cluster, scheduler: Scheduler, profiles: Mapping[str, Profile], *, pick: Pick, explains: bool
    ) -> None:
        self.cluster = cluster
        self.scheduler = scheduler
        self.profiles = profiles
        self.release = next(iter(profiles.values()))  # what the profiles have in common is that of the release
        self._topology_labels = TopologyLabels(self.release)
        self.pick = pick
        self.explains = explains
        self.changes = 0
        self.quotas = QuotaUsage(cluster)

    def bind(self, pod: Pod, node: int) -> None:
        """Let the scheduler bind a pod to a node."""
        self.scheduler.bind(self._labelled(pod, node), node)
        self.changes += 1

    def put(self, pod: Pod, node: int) -> None:
        """Let a pod run on the node that its own spec names; the scheduler has no say."""
        self.scheduler.columns.bind(self._labelled(pod, node), node)
        self.changes += 1

    def evict(self, victims: Sequence[Pod]) -> None:
        """Remove pods from their nodes; what other pods reserved of volumes stays theirs."""
        gone = frozenset(victim.uid for victim in victims)
        columns = self.scheduler.columns
        storage = self.cluster.storage._replace(claims=columns.storage.claims, volumes=columns.storage.volumes)
        staying = tuple(pod for pod in self.cluster.pods if pod.uid not in gone)
        self.cluster = self.cluster._replace(pods=staying, storage=storage)
        self.scheduler = self.scheduler.moved_to(columns.changed(self.cluster, gone))
        self.changes += 1

    def now(self) -> Cluster:
        """The cluster as it is at this moment."""
        others = [pod for pod in self.cluster.pods if not (pod.node_name and pod.is_visible)]
        return self.cluster._replace(pods=(*self.scheduler.columns.bound_pods, *others))

    def created_again(self, pod: Pod) -> Pod:
        """The pod that a controller creates in place of an evicted one, without what binding added to it."""
        labels = pod.cls.labels
        if self.release.labels_topology:
            labels = tuple(item for item in labels if item[0] not in (ZONE, REGION))
        cls = pod.cls if labels == pod.cls.labels else pod.cls._replace(labels=labels)
        return pod._replace(cls=cls, uid=f"{pod.uid}/again", node_name="", nominated_node="", phase="Pending")

    def _labelled(self, pod: Pod, node: int) -> Pod:
        return self._topology_labels.add(pod, self.scheduler.columns.nodes[node].labels)
