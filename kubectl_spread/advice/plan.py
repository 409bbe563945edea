"""A change as a hypothetical cluster, on which pods are placed at once, and as steps for the simulation over time.

For the steps, the problem's cluster is completed first. A controller that the cluster facts lack is built from its
pods, so that it can act. Terminating pods and the like are removed at the start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Optional

from kubectl_spread.advice.problem import PendingPodProblem
from kubectl_spread.advice.recreate import is_made_of, recreated_pod, Recreation, whole_spec_of
from kubectl_spread.advice.target import edited, Op
from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster, Controller, key_of
from kubectl_spread.engine import reading, steps
from kubectl_spread.engine.controllers.daemonset import verdict_on
from kubectl_spread.engine.controllers.deployment import DeploymentSpec
from kubectl_spread.engine.world import is_unreachable
from kubectl_spread.objects.amounts.resources import PODS
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.storage import Storage
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.objects.workloads.replica import controller_of, daemon
from kubectl_spread.objects.workloads.workload import created_labels, Workload
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.simulate.placing import place_in_turn, PlacedPods, Placer
from kubectl_spread.simulate.running.controllers import with_controllers
from kubectl_spread.text.scalars import natural

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
    rollout: Optional[DeploymentSpec] = None

    @property
    def is_recreated(self) -> bool:
        """Return whether the problem's pods are re-created from another template."""
        return self.spec is not self.problem.spec

    def place(self, pods: Sequence[Pod], *, needed: str = "") -> PlacedPods:
        """Place pods in order; if the pod with the key `needed` is refused, stop."""
        problem = self.problem
        columns = problem.columns.copy_for_cluster(self.cluster, self.gone)
        sampler = problem.sampler.restart() if columns.nodes is problem.cluster.nodes else None
        scheduler = Scheduler(columns, problem.profiles, all_nodes=problem.all_nodes, sampler=sampler)
        return place_in_turn(pods, Placer(self.cluster, scheduler, problem.release), needed=needed)

    def own(self, *, is_same_revision: bool = False) -> tuple[Pod, ...]:
        """Return the problem's waiting pods after the change.

        `is_same_revision`: they keep the label of their revision although their template changes.
        """
        pods = tuple(pod for pod in self.problem.own if pod.key not in self.ended)
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
        changed = self._replace(spec=edited(self.spec, ops))
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
        own = {pod.key for pod in self.problem.own}
        waiting = frozenset(pod.key for pod in pods if pod.key in own and not pod.node_name)
        deleted = tuple(pod for pod in pods if pod.key not in waiting)
        cluster = self.problem.cluster
        again = [recreated_pod(pod, cluster) for pod in deleted] if replaced else []
        made = tuple(pod for pod in again if pod is not None)
        gone = self.gone | {pod.uid for pod in deleted}
        return self._replace(gone=gone, evicted=(*self.evicted, *made), renewed=self.renewed | waiting)


NOT_FOLLOWED = "how {{owner}} then replaces {pods}: a change of the template usually restarts all of them"
NOT_CREATED = "how {owner} then creates its pods"
OTHER_FIELDS = "fields that the scheduler does not read: where {pod} differs in one, it is replaced, too"
_OF_PODS = ("StatefulSet", "DaemonSet")  # An older template of these is often known from its pods only.
_KEEP_THEIR_PODS = ("ReplicaSet", "ReplicationController", "StatefulSet")


class Plan:
    """Steps of a change, collected from its actions in order."""

    def __init__(self, problem: PendingPodProblem, start: Cluster) -> None:
        self._problem = problem
        self._start = start
        self._controllers: dict[ObjectKey, Controller] = {}
        self._nodes = {node.name: node for node in start.nodes}
        self.ended: set[str] = set()  # uids of pods that are removed at the start
        self._storage = start.storage
        self.ops: list[steps.Op] = []
        self.replaces_waiting = False
        self.deleted: set[str] = set()  # uids of pods
        self._made: dict[ObjectKey, Controller] = {}
        self.not_followed: list[str] = []
        self.is_followed = True  # The effects left out do not decide the result.
        self.has_new_template = False

    @property
    def start(self) -> Cluster:
        """Return the cluster at the start."""
        start = self._start
        if self._made:
            start = start._replace(controllers={**start.controllers, **self._made})
        if self.ended:
            start = start._replace(pods=tuple(pod for pod in start.pods if pod.uid not in self.ended))
        return start

    def _is_alone(self, pod: Pod) -> bool:
        """Return whether no controller replaces the pod.

        A controller that the cluster facts lack is built from its pods here.
        """
        if pod.owner is None:
            return True
        key = ObjectKey(pod.owner.kind, pod.namespace, pod.owner.name)
        if key not in self._start.controllers and key.kind in _REPLACING and key not in self._made:
            self._made[key] = _like(pod, key, self._start)
        return False

    def edit_template(self, ops: Sequence[Op], made: Callable[[Pod], Pod]) -> None:
        """Change the spec of the problem's pods; `made` returns a pod of the changed template.

        Raises:
            KeyError, IndexError, TypeError, ValueError: the patch does not fit the object.
        """
        self.has_new_template = self.replaces_waiting = True
        problem = self._problem
        key = self._key()
        if not problem.exists:
            self._create_edited(ops, made)
        elif key is None or key.kind not in reading.KINDS or not (key.kind == "Job" or key in self._start.controllers):
            self._replace_waiting(made)
        elif key.kind == "Job":
            self._recreate_jobs(ops)
        else:
            known = self._controller(key)
            spec = {name: value for name, value in known.spec.items() if name != "paused"}
            self._apply(known._replace(spec=spec, workload=self._rolled_back(_patched(known.workload, ops))))
            if key.kind in _KEEP_THEIR_PODS and problem.exists:
                self.delete_pods(problem.own)

    def _rolled_back(self, workload: Workload) -> Workload:
        """Return a changed workload with the hash of the older revision whose running pods have its template.

        Its controller then keeps these pods. Without the older template, fields that no pod shows are unknown.
        """
        problem, spec = self._problem, workload.template.get("spec") or {}
        same = [pod for pod in problem.outdated_pods if workload.kind in _OF_PODS and is_made_of(pod, spec)]
        if not same:
            return workload
        if all(known.template.get("spec") != spec for known in problem.cluster.revisions.get(key_of(workload), ())):
            self.not_followed.append(OTHER_FIELDS.format(pod=same[0].name))
        return workload._replace(known_hash=dict(same[0].cls.labels)[problem.revision_label])

    def create_written(self) -> None:
        """Apply the manifest of the problem's workload unchanged."""
        self._create_edited((), lambda pod: pod)

    def _create_edited(self, ops: Sequence[Op], made: Callable[[Pod], Pod]) -> None:
        """Apply the manifest of the problem's workload, edited."""
        key = self._key()
        if key is not None and key.kind in reading.KINDS:
            known = self._controller(key)
            self._apply(known._replace(workload=_patched(known.workload, ops)))
            self.has_new_template = True
            return
        for pod in map(made, self._problem.own):
            self.ops.append(steps.CreatePod(pod.name, pod.cls))

    def edit_strategy(self, rolling: Plain) -> None:
        """Change the rollout strategy of a Deployment, before its template changes."""
        key = self._key()
        if key is not None and key.kind == "Deployment":
            known = self._controller(key)
            strategy = {**fields(known.spec.get("strategy")), "rollingUpdate": rolling}
            changed = known._replace(spec={**known.spec, "strategy": strategy})
            self._controllers[key] = changed
            if self._problem.exists:
                self._apply(changed)

    def set_replicas(self, replicas: int) -> None:
        """Scale the problem's own workload."""
        key = self._key()
        if key is None:
            return
        self.replaces_waiting = True
        known = self._controller(key)
        self._controllers[key] = known._replace(workload=known.workload._replace(replicas=replicas))
        if self._problem.exists:
            self.ops.append(steps.Scale(key, replicas))
        elif not self.has_new_template:
            self.create_written()

    def scale(self, key: ObjectKey, replicas: int) -> None:
        """Scale down another workload."""
        self.ops.append(steps.Scale(key, replicas))

    def change_node(self, name: str, change: Callable[[Node], Node], *, is_up: bool = False) -> None:
        """Change a node; `is_up` lets one that does not answer become Ready.

        Raises:
            KeyError: the node does not exist.
        """
        if is_up and is_unreachable(self._nodes[name]):
            self.ops.append(steps.NodesUp((name,)))
        node = self._nodes[name] = change(self._nodes[name])
        self.ops.append(steps.ChangeNodes((node,)))

    def add_nodes(self, nodes: Iterable[Node]) -> None:
        """Add steps in which new nodes join, with room for their DaemonSet pods."""
        for node in nodes:
            pods = daemon_pods(self._start, node)
            self.ops.append(steps.ChangeNodes((with_room(node, pods),)))

    def delete_node(self, name: str) -> None:
        """Delete a node object."""
        self.ops.append(steps.DeleteNodes((name,)))

    def delete_pods(self, pods: Iterable[Pod]) -> None:
        """Delete pods; their controllers create replacements."""
        gone = tuple(pods)
        self.ended |= {pod.uid for pod in gone if pod.node_name and self._is_alone(pod)}
        self.deleted |= {pod.uid for pod in gone}
        uids = tuple(pod.uid for pod in gone if pod.uid not in self.ended)
        own = [pod for pod in self._problem.own if pod.uid in uids]
        self.replaces_waiting |= bool(own)
        self.ops.append(steps.DeletePods(uids))

    def end_pods(self, pods: Iterable[Pod]) -> None:
        """Remove pods from the start that would end anyway."""
        self.ended |= {pod.uid for pod in pods}

    def change_storage(self, change: Callable[[Storage], Storage]) -> None:
        """Change claims, volumes and their classes."""
        self._storage = change(self._storage)
        self.ops.append(steps.ChangeFacts(self._start._replace(storage=self._storage)))

    def _key(self) -> Optional[ObjectKey]:
        owner = self._problem.owner
        if owner.kind == "Pod":
            return None
        key = key_of(owner)
        return key._replace(kind="Job") if owner.kind == "CronJob" else key

    def _controller(self, key: ObjectKey) -> Controller:
        found = self._controllers.get(key)
        if found is not None:
            return found
        return self._start.controllers[key] if self._problem.exists else written_controller(self._problem)

    def _apply(self, controller: Controller) -> None:
        owner = controller.workload
        self._controllers[key_of(owner)] = controller
        self.ops.append(steps.Apply(controller))

    def _recreate_jobs(self, ops: Sequence[Op]) -> None:
        """Delete the Jobs whose pods wait, and create them again."""
        waiting = [pod.owner for pod in self._problem.own if pod.owner is not None]
        for owner in dict.fromkeys(waiting):
            key = ObjectKey(owner.kind, self._problem.pod.namespace, owner.name)
            known = self._controller(key)
            self.ops.append(steps.Delete(key))
            self._apply(known._replace(workload=_patched(known.workload, ops)))

    def _replace_waiting(self, made: Callable[[Pod], Pod]) -> None:
        """Replace only the waiting pods, because their controller's behaviour is unknown."""
        owner, pods = self._problem.owner, self._problem.own
        self.delete_pods(pods)
        for pod in pods:
            replacement = made(pod)
            self.ops.append(steps.CreatePod(replacement.name, replacement.cls))
        if owner.kind != "Pod":
            running = len(self._problem.running)
            words = {0: NOT_CREATED, 1: NOT_FOLLOWED.format(pods="its running pod")}
            template = words.get(running, NOT_FOLLOWED.format(pods=f"its {running} running pods"))
            self.not_followed.append(template.format(owner=f"{owner.kind} {owner.name}"))
            self.is_followed = False


def written_controller(problem: PendingPodProblem) -> Controller:
    """Return the workload of a manifest, with the settings of the cluster's object."""
    known = problem.controller
    return Controller(problem.owner) if known is None else known._replace(workload=problem.owner)


_REPLACING = ("ReplicaSet", "ReplicationController", "StatefulSet", "Job")


def _like(pod: Pod, key: ObjectKey, cluster: Cluster) -> Controller:
    """Return a controller, missing from the cluster facts, that is built from one of its pods."""
    count = sum(other.is_visible and not other.terminating for other in OwnedPods(cluster).of(key))
    labels = {name: value for name, value in pod.cls.labels if not name.startswith("topology.kubernetes.io/")}
    template = {"metadata": {"labels": labels}, "spec": whole_spec_of(pod.cls)}
    version = pod.owner.api_version if pod.owner is not None else ""
    return Controller(Workload(key.kind, version, key.namespace, key.name, count, template))


def _patched(owner: Workload, ops: Sequence[Op]) -> Workload:
    spec = edited(owner.template.get("spec") or {}, ops)
    return owner._replace(template={**owner.template, "spec": spec}, known_hash="")


def _missing_controllers(problem: PendingPodProblem) -> dict[ObjectKey, Controller]:
    """Return synthesized controllers for the pods whose own the cluster facts lack."""
    if not _can_be_made(problem):
        return {}
    known = problem.cluster.controllers
    keys = (key for key in _makers(problem) if key not in known and key.kind in reading.KINDS)
    return {key: _synthesized(problem, key) for key in keys}


def start_of(problem: PendingPodProblem) -> Cluster:
    """Return the problem's cluster with a controller for its pods, and without owners that are not simulated."""
    cluster, owner = problem.cluster, problem.owner
    controllers = dict(cluster.controllers)
    owners = {key: above for key, above in cluster.owners.items() if above.kind in reading.KINDS}
    top = key_of(owner)
    if not problem.exists:
        if top in controllers and not controllers[top].spec:  # It was only added for a placement.
            del controllers[top]
        return cluster._replace(owners=owners, controllers=controllers)
    controllers |= _missing_controllers(problem)
    if owner.kind == "Deployment":
        sets = {pod.owner.name for pod in (*problem.own, *problem.running) if pod.owner is not None}
        owners |= {ObjectKey("ReplicaSet", owner.namespace, name): top for name in sets}
        _tell_apart(controllers, [key for key, above in owners.items() if above == top])
    return cluster._replace(controllers=controllers, owners=owners)


def _tell_apart(controllers: dict[ObjectKey, Controller], sets: Sequence[ObjectKey]) -> None:
    """Mark the templates of older ReplicaSets as different, because the cluster facts may omit the difference."""
    known = sorted((key for key in sets if key in controllers), key=lambda key: natural(controllers[key].revision) or 0)
    for at, key in enumerate(known[:-1]):
        mine = controllers[key]
        later = (controllers[other].workload.template for other in known[at + 1 :])
        if any(mine.workload.template.get("spec") == template.get("spec") for template in later):
            metadata = fields(mine.workload.template.get("metadata"))
            template = {**mine.workload.template, "metadata": {**metadata, "annotations": {"revision": key.name}}}
            controllers[key] = mine._replace(workload=mine.workload._replace(template=template))


def _can_be_made(problem: PendingPodProblem) -> bool:
    """Return whether the template can be derived from the pods.

    It cannot if each pod has claims of its own that no claim template creates.
    """
    pods = (*problem.own, *problem.running)
    own = [{volume.claim.removesuffix(f"-{pod.name}") for volume in pod.cls.volumes} for pod in pods]
    return all(claims == own[0] for claims in own)


def _makers(problem: PendingPodProblem) -> list[ObjectKey]:
    """Return the key of the workload; for a CronJob, the keys of its Jobs."""
    owner = problem.owner
    if owner.kind != "CronJob":
        return [key_of(owner)] if owner.kind in KINDS else []
    jobs = {pod.owner.name for pod in problem.own if pod.owner is not None}
    return [ObjectKey("Job", owner.namespace, name) for name in sorted(jobs)]


def _synthesized(problem: PendingPodProblem, key: ObjectKey) -> Controller:
    """Return a controller that is built from its pods."""
    owner, cls = problem.owner, problem.pod.cls
    own = (*problem.own, *problem.running)
    mine = [pod for pod in own if key.kind != "Job" or (pod.owner is not None and pod.owner.name == key.name)]
    made_claims = {f"{name}-{problem.pod.name}" for name in _claim_templates(problem.pod)}
    kept = tuple(volume for volume in cls.volumes if key.kind != "StatefulSet" or volume.claim not in made_claims)
    template = {"metadata": {"labels": problem.own_labels}, "spec": whole_spec_of(cls._replace(volumes=kept))}
    if owner.template.get("spec") and problem.is_template_known:
        template = owner.template
    workload = Workload(
        key.kind,
        owner.api_version,
        key.namespace,
        key.name,
        len(mine) if key.kind == "Job" else problem.replicas,
        template,
        selector=owner.selector or {"matchLabels": problem.own_labels},
        claim_templates=_claim_templates(problem.pod) if key.kind == "StatefulSet" else (),
        first_ordinal=_first_ordinal(mine) if key.kind == "StatefulSet" else 0,
    )
    return Controller(workload)


def _claim_templates(pod: Pod) -> tuple[str, ...]:
    """Return the names of claim templates, derived from the claims of a StatefulSet's pod."""
    names = (volume.claim for volume in pod.cls.volumes if volume.claim.endswith(f"-{pod.name}"))
    return tuple(name.removesuffix(f"-{pod.name}") for name in names)


def _first_ordinal(pods: Iterable[Pod]) -> int:
    found = [number for pod in pods if (number := natural(pod.name.rpartition("-")[2])) is not None]
    return min(found, default=0)


def daemon_pods(cluster: Cluster, node: Node) -> list[Pod]:
    """Return the pods that DaemonSets create on a new node."""
    return [daemon(owner, node.name) for owner in _starting(cluster, node)]


def _starting(cluster: Cluster, node: Node) -> Iterator[Workload]:
    for key, controller in cluster.controllers.items():
        owner = controller.workload
        has_pods = bool((owner.template.get("spec") or {}).get("containers"))
        if key.kind == "DaemonSet" and has_pods and verdict_on(owner, node).runs:
            yield owner


def with_room(node: Node, pods: Iterable[Pod]) -> Node:
    """Return a node with additional room for some pods."""
    room = dict(node.allocatable)
    for pod in pods:
        for name, amount in {**dict(pod.cls.requests), PODS: 1}.items():
            if name in room:
                room[name] += amount
    return node._replace(allocatable=room)
