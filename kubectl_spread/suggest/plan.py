"""What a change does to a cluster, in the steps of the engine over time.

The cluster of the problem is completed first: a workload that the facts do not have is made of its pods, so that its
controller can act. What only ends by itself, as a terminating pod, is gone from the beginning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any
from typing import Optional

from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.snapshot import Controller
from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.objects.kinds import KINDS
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.plain import fields
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.storage import Storage
from kubectl_spread.objects.workload import Workload
from kubectl_spread.suggest import daemons
from kubectl_spread.suggest import patch
from kubectl_spread.suggest.patch import Op
from kubectl_spread.suggest.pod_spec import whole_spec_of
from kubectl_spread.suggest.problem import Problem
from kubectl_spread.timeline import reading
from kubectl_spread.timeline import steps

Plain = dict[str, Any]

NOT_FOLLOWED = "how {{owner}} then replaces {pods}: a change of the template usually restarts all of them"
NOT_CREATED = "how {owner} then creates its pods"
_KEEP_THEIR_PODS = ("ReplicaSet", "ReplicationController", "StatefulSet")


class Plan:
    """Steps that are collected from the actions of a change, in their order."""

    def __init__(self, problem: Problem, start: Cluster) -> None:
        self._problem = problem
        self._start = start
        self._controllers: dict[OwnerKey, Controller] = {}
        self._nodes = {node.name: node for node in start.nodes}
        self.ended: set[str] = set()  # uids of pods that are gone from the beginning
        self._storage = start.storage
        self.ops: list[steps.Op] = []
        self.replaces_waiting = False
        self.deleted: set[str] = set()  # uids of pods
        self._made: dict[OwnerKey, Controller] = {}
        self.not_followed: list[str] = []
        self.is_followed = True  # nothing was left out that decides whether the change holds
        self.has_new_template = False
        self.daemons: Counter[str] = Counter()  # pods of DaemonSets that are created, by node

    @property
    def start(self) -> Cluster:
        """The cluster in the beginning."""
        start = self._start
        if self._made:
            start = start._replace(controllers={**start.controllers, **self._made})
        if self.ended:
            start = start._replace(pods=tuple(pod for pod in start.pods if pod.uid not in self.ended))
        return start

    def _is_alone(self, pod: Pod) -> bool:
        """Whether nothing creates a pod again; a controller that the facts do not have is made of its pods."""
        if pod.owner is None:
            return True
        key = OwnerKey(pod.owner.kind, pod.namespace, pod.owner.name)
        if key not in self._start.controllers and key.kind in _REPLACING and key not in self._made:
            self._made[key] = _like(pod, key, self._start)
        return False

    def edit_template(self, ops: Sequence[Op], made: Callable[[Pod], Pod]) -> None:
        """Change the spec of the problem's pods; `made` tells a pod of the changed template.

        Raises:
            KeyError, IndexError, TypeError, ValueError: the patch does not fit the object.
        """
        self.has_new_template = self.replaces_waiting = True
        problem = self._problem
        key = self._key()
        if not problem.exists:
            self._create_edited(ops, made)
        elif key is None or key.kind not in reading.KINDS or not self._has(key):
            self._replace_waiting(made)
        elif key.kind == "Job":
            self._recreate_jobs(ops)
        else:
            known = self._controller(key)
            spec = {name: value for name, value in known.spec.items() if name != "paused"}
            self._apply(known._replace(spec=spec, workload=_patched(known.workload, ops)))
            if key.kind in _KEEP_THEIR_PODS and problem.exists:
                self.delete_pods(problem.given.own)

    def create_written(self) -> None:
        """Apply the manifest of the problem's workload as it is."""
        self._create_edited((), lambda pod: pod)

    def _create_edited(self, ops: Sequence[Op], made: Callable[[Pod], Pod]) -> None:
        """Apply the manifest of the problem's workload, edited."""
        key = self._key()
        if key is not None and key.kind in reading.KINDS:
            known = written_controller(self._problem)
            self._apply(known._replace(workload=_patched(known.workload, ops)))
            return
        for pod in map(made, self._problem.given.own):
            self.ops.append(steps.CreatePod(pod.name, pod.cls))

    def edit_strategy(self, rolling: Plain) -> None:
        """Change how a Deployment replaces its pods."""
        key = self._key()
        if key is not None and key.kind == "Deployment":
            known = self._controller(key)
            strategy = {**fields(known.spec.get("strategy")), "rollingUpdate": rolling}
            self._apply(known._replace(spec={**known.spec, "strategy": strategy}))

    def scale(self, key: OwnerKey, replicas: int) -> None:
        """Give another workload fewer replicas."""
        self.ops.append(steps.Scale(key, replicas))

    def change_node(self, name: str, change: Callable[[Node], Node]) -> None:
        """Change a node.

        Raises:
            KeyError: it is not there.
        """
        before = self._nodes[name]
        node = self._nodes[name] = change(before)
        self.ops.append(steps.ChangeNodes((node,)))
        self._start_daemons(daemons.coming(self._start, before, node), name)

    def add_nodes(self, nodes: Iterable[Node]) -> None:
        """Let new nodes join, with room for what DaemonSets put on them."""
        for node in nodes:
            pods = daemons.coming(self._start, None, node)
            self.ops.append(steps.ChangeNodes((daemons.with_room(node, pods),)))
            self._start_daemons(pods, node.name)

    def _start_daemons(self, pods: Sequence[Pod], node: str) -> None:
        self.ops += [steps.CreatePod(pod.name, pod.cls) for pod in pods]
        self.daemons[node] += len(pods)

    def delete_node(self, name: str) -> None:
        """Delete a node object."""
        self.ops.append(steps.DeleteNodes((name,)))

    def delete_pods(self, pods: Iterable[Pod]) -> None:
        """Delete pods; their controllers make others."""
        gone = tuple(pods)
        self.ended |= {pod.uid for pod in gone if pod.node_name and self._is_alone(pod)}
        self.deleted |= {pod.uid for pod in gone}
        uids = tuple(pod.uid for pod in gone if pod.uid not in self.ended)
        own = [pod for pod in self._problem.given.own if pod.uid in uids]
        self.replaces_waiting |= bool(own)
        self.ops.append(steps.DeletePods(uids))

    def end_pods(self, pods: Iterable[Pod]) -> None:
        """Let pods be gone that end anyway."""
        self.ended |= {pod.uid for pod in pods}

    def change_storage(self, change: Callable[[Storage], Storage]) -> None:
        """Change claims, volumes and their classes."""
        self._storage = change(self._storage)
        self.ops.append(steps.ChangeFacts(self._start._replace(storage=self._storage)))

    def _key(self) -> Optional[OwnerKey]:
        owner = self._problem.owner
        if owner.kind == "Pod":
            return None
        key = OwnerKey(owner.kind, owner.namespace, owner.name)
        return key._replace(kind="Job") if owner.kind == "CronJob" else key

    def _has(self, key: OwnerKey) -> bool:
        return key.kind == "Job" or key in self._start.controllers

    def _controller(self, key: OwnerKey) -> Controller:
        found = self._controllers.get(key)
        if found is not None:
            return found
        return self._start.controllers[key] if self._problem.exists else written_controller(self._problem)

    def _apply(self, controller: Controller) -> None:
        owner = controller.workload
        self._controllers[OwnerKey(owner.kind, owner.namespace, owner.name)] = controller
        self.ops.append(steps.Apply(controller))

    def _recreate_jobs(self, ops: Sequence[Op]) -> None:
        """Delete the Jobs whose pods wait, and create them again."""
        waiting = [pod.owner for pod in self._problem.given.own if pod.owner is not None]
        for owner in dict.fromkeys(waiting):
            key = OwnerKey(owner.kind, self._problem.pod.namespace, owner.name)
            known = self._controller(key)
            self.ops.append(steps.Delete(key))
            self._apply(known._replace(workload=_patched(known.workload, ops)))

    def _replace_waiting(self, made: Callable[[Pod], Pod]) -> None:
        """Replace the pods that wait, and no others: what their controller does about them is not known."""
        owner, pods = self._problem.owner, self._problem.given.own
        self.delete_pods(pods)
        for pod in pods:
            anew = made(pod)
            self.ops.append(steps.CreatePod(anew.name, anew.cls))
        if owner.kind != "Pod":
            running = len(self._problem.given.running)
            words = {0: NOT_CREATED, 1: NOT_FOLLOWED.format(pods="its running pod")}
            told = words.get(running, NOT_FOLLOWED.format(pods=f"its {running} running pods"))
            self.not_followed.append(told.format(owner=f"{owner.kind} {owner.name}"))
            self.is_followed = False


def written_controller(problem: Problem) -> Controller:
    """Return the workload of a manifest, with the settings of the one that the cluster has."""
    known = problem.controller
    return Controller(problem.owner) if known is None else known._replace(workload=problem.owner)


_REPLACING = ("ReplicaSet", "ReplicationController", "StatefulSet", "Job")


def _like(pod: Pod, key: OwnerKey, cluster: Cluster) -> Controller:
    """A controller that the facts do not have, made of one of its pods."""
    count = sum(other.is_visible and not other.terminating for other in OwnedPods(cluster).of(key))
    labels = {name: value for name, value in pod.cls.labels if not name.startswith("topology.kubernetes.io/")}
    template = {"metadata": {"labels": labels}, "spec": whole_spec_of(pod.cls)}
    version = pod.owner.api_version if pod.owner is not None else ""
    return Controller(Workload(key.kind, version, key.namespace, key.name, count, template))


def _patched(owner: Workload, ops: Sequence[Op]) -> Workload:
    spec = patch.applied(owner.template.get("spec") or {}, ops)
    return owner._replace(template={**owner.template, "spec": spec}, known_hash="")


def start_of(problem: Problem) -> Cluster:
    """Return the cluster of a problem with a controller for its pods, and none above that is not simulated."""
    cluster, owner = problem.cluster, problem.owner
    controllers = dict(cluster.controllers)
    owners = {key: above for key, above in cluster.owners.items() if above.kind in reading.KINDS}
    if not problem.exists:
        key = OwnerKey(owner.kind, owner.namespace, owner.name)
        if key in controllers and not controllers[key].spec:  # it was put there to be placed
            del controllers[key]
        return cluster._replace(owners=owners, controllers=controllers)
    for key in _makers(problem):
        if key not in controllers and key.kind in reading.KINDS and _can_be_made(problem):
            controllers[key] = _synthesized(problem, key)
    top = OwnerKey(owner.kind, owner.namespace, owner.name)
    if owner.kind == "Deployment":
        sets = {pod.owner.name for pod in (*problem.given.own, *problem.given.running) if pod.owner is not None}
        owners |= {OwnerKey("ReplicaSet", owner.namespace, name): top for name in sets}
        _tell_apart(controllers, [key for key, above in owners.items() if above == top])
    return cluster._replace(controllers=controllers, owners=owners)


def _tell_apart(controllers: dict[OwnerKey, Controller], sets: Sequence[OwnerKey]) -> None:
    """Give the older ones of ReplicaSets with one template another one; facts may leave out in what they differ."""
    known = sorted((key for key in sets if key in controllers), key=lambda key: _revision(controllers[key]))
    for at, key in enumerate(known[:-1]):
        mine = controllers[key]
        later = (controllers[other].workload.template for other in known[at + 1 :])
        if any(mine.workload.template.get("spec") == template.get("spec") for template in later):
            metadata = fields(mine.workload.template.get("metadata"))
            template = {**mine.workload.template, "metadata": {**metadata, "annotations": {"revision": key.name}}}
            controllers[key] = mine._replace(workload=mine.workload._replace(template=template))


def _revision(controller: Controller) -> int:
    return int(controller.revision) if controller.revision.isdecimal() else 0


def _can_be_made(problem: Problem) -> bool:
    """Return whether the pods tell the template: not where each has claims of its own that no claim template makes."""
    pods = (*problem.given.own, *problem.given.running)
    own = [{volume.claim.removesuffix(f"-{pod.name}") for volume in pod.cls.volumes} for pod in pods]
    return all(claims == own[0] for claims in own)


def _makers(problem: Problem) -> list[OwnerKey]:
    """The workload, or the Jobs of one that makes Jobs."""
    owner = problem.owner
    if owner.kind != "CronJob":
        return [OwnerKey(owner.kind, owner.namespace, owner.name)] if owner.kind in KINDS else []
    jobs = {pod.owner.name for pod in problem.given.own if pod.owner is not None}
    return [OwnerKey("Job", owner.namespace, name) for name in sorted(jobs)]


def _synthesized(problem: Problem, key: OwnerKey) -> Controller:
    """A controller made of its pods."""
    owner, cls = problem.owner, problem.pod.cls
    own = (*problem.given.own, *problem.given.running)
    mine = [pod for pod in own if key.kind != "Job" or (pod.owner is not None and pod.owner.name == key.name)]
    made_claims = {f"{name}-{problem.pod.name}" for name in _claim_templates(problem.pod)}
    kept = tuple(volume for volume in cls.volumes if key.kind != "StatefulSet" or volume.claim not in made_claims)
    template = {"metadata": {"labels": problem.own_labels}, "spec": whole_spec_of(cls._replace(volumes=kept))}
    if owner.template.get("spec") and problem.given.is_template_known:
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
    """The names of claim templates, as the claims of a StatefulSet's pod have them."""
    names = (volume.claim for volume in pod.cls.volumes if volume.claim.endswith(f"-{pod.name}"))
    return tuple(name.removesuffix(f"-{pod.name}") for name in names)


def _first_ordinal(pods: Iterable[Pod]) -> int:
    found = [int(text) for pod in pods if (text := pod.name.rpartition("-")[2]).isdecimal()]
    return min(found, default=0)
