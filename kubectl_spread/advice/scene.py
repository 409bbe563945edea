"""Hypothetical cluster: the cluster of a problem after a change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Optional

from kubectl_spread.advice import patch
from kubectl_spread.advice.patch import Op
from kubectl_spread.advice.problem import PendingPodProblem, RolloutSettings
from kubectl_spread.advice.recreate import recreated_pod, Recreation
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.workloads.replica import controller_of
from kubectl_spread.objects.workloads.workload import created_labels, Workload
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.simulate.placing import place_in_turn, PlacedPods, Placer
from kubectl_spread.simulate.running.controllers import with_controllers

Plain = dict[str, Any]


class HypotheticalCluster(NamedTuple):
    """Cluster and pod template after a change.

    cluster: nodes and storage after the change; its bound pods are the problem's, except `gone`. spec: pod spec of the
    problem's pods. gone: uids of the deleted bound pods. evicted: pods that controllers create as replacements; they
    need nodes, too. renewed: keys of the problem's waiting pods that are deleted and re-created from their controller's
    current template. ended: keys of the problem's waiting pods that their controller deletes when fewer replicas are
    asked for. rollout: rollout settings that replace the workload's own.
    """

    problem: PendingPodProblem
    cluster: Cluster
    spec: Plain
    gone: frozenset[str] = frozenset()
    evicted: tuple[Pod, ...] = ()
    renewed: frozenset[str] = frozenset()
    ended: frozenset[str] = frozenset()
    rollout: Optional[RolloutSettings] = None

    @property
    def is_recreated(self) -> bool:
        """Return whether the problem's pods are re-created from another template."""
        return self.spec is not self.problem.spec

    def problem_scene(self) -> HypotheticalCluster:
        """Return the cluster before any change."""
        return HypotheticalCluster(self.problem, self.cluster, self.problem.spec)

    def place(self, pods: Sequence[Pod], *, needed: str = "") -> PlacedPods:
        """Place pods in order; if the pod with the key `needed` is refused, stop."""
        problem = self.problem
        columns = problem.columns.copy_for_cluster(self.cluster, self.gone)
        sampler = problem.sampler.restart() if columns.nodes is problem.cluster.nodes else None
        scheduler = Scheduler(columns, problem.profiles, all_nodes=problem.given.all_nodes, sampler=sampler)
        return place_in_turn(pods, Placer(self.cluster, scheduler, problem.release), needed=needed)

    def own(self, *, is_same_revision: bool = False) -> tuple[Pod, ...]:
        """Return the problem's waiting pods after the change.

        `is_same_revision`: they keep the label of their revision although their template changes.
        """
        pods = tuple(pod for pod in self.problem.given.own if pod.key not in self.ended)
        if self.renewed:
            cluster = self.problem.cluster
            pods = tuple((recreated_pod(pod, cluster) or pod) if pod.key in self.renewed else pod for pod in pods)
        if not self.is_recreated:
            return pods
        recreation = self.recreation(is_same_revision=is_same_revision)
        return tuple(map(recreation.pod, pods))

    def recreation(self, *, is_same_revision: bool = False) -> Recreation:
        """Return the function object that re-creates existing pods from the changed template."""
        problem, owner = self.problem, self.new_owner()
        label = "" if is_same_revision else problem.revision_label
        labels = {label: created_labels(owner).get(label, "")} if label else {}
        controller = controller_of(owner) if label and problem.pod.owner is not None else None
        keeps_owner = controller is None or controller.kind == problem.pod.owner.kind != "ReplicaSet"  # type: ignore[union-attr]
        return Recreation(
            problem.spec,
            self.spec,
            labels=labels,
            owner=None if keeps_owner else controller,
            priority=self._priority(),
        )

    def _priority(self) -> Optional[int]:
        """Return the value of the new priority class; None if the class does not change."""
        name = self.spec.get("priorityClassName")
        found = self.problem.cluster.priority_classes.get(name or "")
        return None if found is None or name == self.problem.spec.get("priorityClassName") else found.value

    def new_owner(self) -> Workload:
        """Return the workload with the changed template, as a new revision."""
        owner = self.problem.owner
        return owner._replace(template={**owner.template, "spec": self.spec}, known_hash="")

    def with_spec(self, ops: Iterable[Op]) -> HypotheticalCluster:
        """Return the cluster after editing the template of the problem's pods."""
        changed = self._replace(spec=patch.apply_ops(self.spec, ops))
        return changed._replace(cluster=with_controllers([changed.new_owner()], self.cluster))

    def with_nodes(self, changed: Iterable[Node], *, without: Iterable[str] = ()) -> HypotheticalCluster:
        """Return the cluster with some nodes replaced or added, and others removed."""
        by_name = {node.name: node for node in self.cluster.nodes}
        by_name |= {node.name: node for node in changed}
        for name in without:
            by_name.pop(name, None)
        nodes = tuple(sorted(by_name.values(), key=lambda node: node.name))
        return self._replace(cluster=self.cluster._replace(nodes=nodes))

    def without_pods(self, pods: Sequence[Pod], *, replaced: bool) -> HypotheticalCluster:
        """Return the cluster without these pods; with `replaced`, their controllers create new ones."""
        own = {pod.key for pod in self.problem.given.own}
        waiting = frozenset(pod.key for pod in pods if pod.key in own and not pod.node_name)
        deleted = tuple(pod for pod in pods if pod.key not in waiting)
        cluster = self.problem.cluster
        again = [recreated_pod(pod, cluster) for pod in deleted] if replaced else []
        made = tuple(pod for pod in again if pod is not None)
        gone = self.gone | {pod.uid for pod in deleted}
        return self._replace(gone=gone, evicted=(*self.evicted, *made), renewed=self.renewed | waiting)
