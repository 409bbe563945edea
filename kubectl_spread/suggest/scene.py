"""A moment to simulate: the cluster of a problem, with changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from typing import NamedTuple

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.replica import controller_of
from kubectl_spread.objects.workload import created_labels
from kubectl_spread.objects.workload import Workload
from kubectl_spread.simulate.controllers import with_controllers
from kubectl_spread.suggest import patch
from kubectl_spread.suggest.patch import Op
from kubectl_spread.suggest.problem import Problem
from kubectl_spread.suggest.recreated import Recreation

Plain = dict[str, Any]


class Scene(NamedTuple):
    """What is simulated.

    cluster: nodes and storage as they are then; its bound pods are those of the problem's cluster, `gone` aside.
    spec: that of the problem's pods. gone: uids of bound pods that are deleted. evicted: the pods that their
    controllers create in their place; they must find nodes, too.
    """

    problem: Problem
    cluster: Cluster
    spec: Plain
    gone: frozenset[str] = frozenset()
    evicted: tuple[Pod, ...] = ()

    @property
    def is_recreated(self) -> bool:
        """Whether the problem's pods are created anew, from another template."""
        return self.spec is not self.problem.spec

    def own(self) -> tuple[Pod, ...]:
        """The problem's pods that wait for a node, as they are then."""
        pods = self.problem.given.own
        if not self.is_recreated:
            return pods
        recreation = self.recreation()
        return tuple(map(recreation.pod, pods))

    def recreation(self) -> Recreation:
        """What makes pods of the changed template out of those there are."""
        problem, owner = self.problem, self.new_owner()
        label = problem.revision_label
        labels = {label: created_labels(owner).get(label, "")} if label else {}
        controller = controller_of(owner) if label and problem.pod.owner is not None else None
        keeps_owner = controller is None or controller.kind == problem.pod.owner.kind != "ReplicaSet"  # type: ignore[union-attr]
        return Recreation(problem.spec, self.spec, labels=labels, owner=None if keeps_owner else controller)

    def new_owner(self) -> Workload:
        """The workload with the changed template: of a new revision."""
        owner = self.problem.owner
        return owner._replace(template={**owner.template, "spec": self.spec}, known_hash="")

    def with_spec(self, ops: Iterable[Op]) -> Scene:
        """The problem's pods made of another template."""
        changed = self._replace(spec=patch.applied(self.spec, ops))
        return changed._replace(cluster=with_controllers([changed.new_owner()], self.cluster))

    def with_nodes(self, changed: Iterable[Node], *, without: Iterable[str] = ()) -> Scene:
        """Some nodes replaced or added, some taken away."""
        by_name = {node.name: node for node in self.cluster.nodes}
        by_name |= {node.name: node for node in changed}
        for name in without:
            by_name.pop(name, None)
        nodes = tuple(sorted(by_name.values(), key=lambda node: node.name))
        return self._replace(cluster=self.cluster._replace(nodes=nodes))

    def without_pods(self, pods: Iterable[Pod], *, replaced: bool) -> Scene:
        """Pods deleted; `replaced`: their controllers create others like them."""
        deleted = tuple(pods)
        anew = tuple(created_again(pod) for pod in deleted) if replaced else ()
        gone = self.gone | {pod.uid for pod in deleted}
        return self._replace(gone=gone, evicted=(*self.evicted, *anew))


def created_again(pod: Pod) -> Pod:
    """The pod that takes the place of a deleted one, without what binding added to it."""
    bound_labels = {"topology.kubernetes.io/zone", "topology.kubernetes.io/region"}
    labels = tuple(item for item in pod.cls.labels if item[0] not in bound_labels)
    cls = pod.cls if labels == pod.cls.labels else pod.cls._replace(labels=labels)
    return pod._replace(cls=cls, uid=f"{pod.uid}/anew", node_name="", nominated_node="", phase="Pending")
