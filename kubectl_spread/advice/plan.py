"""A change as a hypothetical cluster, on which pods are placed at once, and as steps for the simulation over time.

For the steps, the problem's cluster is completed first. A controller that the cluster facts lack is built from its
pods, so that it can act. Terminating pods and the like are removed at the start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Optional

from kubectl_spread.advice.problem import PendingPodProblem
from kubectl_spread.advice.recreate import is_made_of, recreated_pod, recreation, whole_spec_of
from kubectl_spread.advice.target import edited, KEEPING_PODS, Op
from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster, Controller, key_of
from kubectl_spread.engine import reading, steps
from kubectl_spread.engine.controllers.deployment import DeploymentSpec
from kubectl_spread.engine.placing import place_in_turn, PlacedPods, Placer
from kubectl_spread.engine.workloads import with_controllers
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading.plain import fields, Plain
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.objects.workloads.replica import controller_of
from kubectl_spread.objects.workloads.workload import created_labels, Workload
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.text.scalars import natural


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
        scheduler = Scheduler(columns, problem.profiles, sampler=sampler)
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
        return tuple(map(self.recreation(is_same_revision=is_same_revision), pods))

    @property
    def model(self) -> Pod:
        """Return the problem's pod after the change."""
        pod = self.problem.pod
        return next((other for other in self.own() if other.key == pod.key), pod)

    def recreation(self, *, is_same_revision: bool = False) -> Callable[[Pod], Pod]:
        """Return the function that re-creates existing pods from the changed template."""
        problem, owner = self.problem, self.new_owner()
        label = "" if is_same_revision else problem.revision_label
        labels = {label: created_labels(owner).get(label, "")} if label else {}
        controller = controller_of(owner) if label and problem.pod.owner is not None else None
        name = self.spec.get("priorityClassName") or ""
        is_same = name == (problem.spec.get("priorityClassName") or "")
        priority = None if is_same else problem.cluster.priority_classes.get(name)
        keeps_owner = controller is None or controller.kind == problem.pod.owner.kind != "ReplicaSet"  # type: ignore[union-attr]
        return recreation(
            problem.spec,
            self.spec,
            labels=labels,
            owner=None if keeps_owner else controller,
            priority=None if priority is None else priority.value,
        )

    def new_owner(self) -> Workload:
        """Return the workload with the changed template, as a new revision."""
        return self.problem.owner.with_pod_spec(self.spec)

    def with_spec(self, ops: Iterable[Op]) -> HypotheticalCluster:
        """Return the cluster after editing the template of the problem's pods."""
        changed = self._replace(spec=edited(self.spec, ops))
        return changed._replace(cluster=with_controllers([changed.new_owner()], self.cluster))

    def with_nodes(self, changed: Iterable[Node], *, without: Iterable[str] = ()) -> HypotheticalCluster:
        """Return the cluster with some nodes replaced or added, and others removed."""
        by_name = {node.name: node for node in (*self.cluster.nodes, *changed)}
        nodes = tuple(by_name[name] for name in sorted(by_name.keys() - {*without}))
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


OTHER_FIELDS = "fields that the scheduler does not read: where {pod} differs in one, it is replaced, too"
_OF_PODS = ("StatefulSet", "DaemonSet")  # An older template of these is often known from its pods only.


class Plan:
    """Steps of a change, collected from its actions in order."""

    def __init__(self, problem: PendingPodProblem, start: Cluster, scene: Optional[HypotheticalCluster] = None) -> None:
        """Begin without steps; scene: the cluster after the whole change, if anything changes."""
        self.problem = problem
        self._start, self._scene = start, scene
        self._controllers: dict[ObjectKey, Controller] = {}
        self.nodes = {node.name: node for node in start.nodes}
        self.storage = start.storage
        self.ended: set[str] = set()  # uids of pods that are removed at the start
        self.ops: list[steps.Op] = []
        self.deleted: set[str] = set()  # uids of pods
        self.not_followed: list[str] = []
        self.is_followed = True  # The effects left out do not decide the result.
        self.has_new_template = False

    @property
    def start(self) -> Cluster:
        """Return the cluster at the start."""
        if not self.ended:
            return self._start
        return self._start._replace(pods=tuple(pod for pod in self._start.pods if pod.uid not in self.ended))

    def ops_after(self, began: Optional[Cluster]) -> tuple[steps.Op, ...]:
        """Return the steps, for the pods of an earlier moment if it is given; pods that came later are left out."""
        if began is None:
            return tuple(self.ops)
        uids, keys = {pod.key: pod.uid for pod in began.pods}, {pod.uid: pod.key for pod in self._start.pods}

        def known(found: Iterable[str]) -> tuple[str, ...]:
            return tuple(uids[keys[uid]] for uid in found if keys.get(uid) in uids)

        ops = (op._replace(uids=known(op.uids)) if isinstance(op, steps.DeletePods) else op for op in self.ops)
        return (steps.DeletePods(known(sorted(self.ended)), is_forced=True), *ops)

    def _is_alone(self, pod: Pod) -> bool:
        """Return whether no controller replaces the pod.

        A controller that the cluster facts lack is built from its pods here.
        """
        key = pod.owner_key
        if key is None:
            return True
        if key not in self._start.controllers and key.kind in (*KEEPING_PODS, "Job"):
            count = sum(other.is_visible and not other.terminating for other in OwnedPods(self._start).of(key))
            labels = {name: value for name, value in pod.cls.labels if not name.startswith("topology.kubernetes.io/")}
            template = {"metadata": {"labels": labels}, "spec": whole_spec_of(pod.cls)}
            version = pod.owner.api_version if pod.owner is not None else ""
            made = Controller(Workload(key.kind, version, key.namespace, key.name, count, template))
            self._start = self._start._replace(controllers={**self._start.controllers, key: made})
        return False

    def edit_template(self, ops: Sequence[Op]) -> None:
        """Change the spec of the problem's pods.

        Raises:
            KeyError, IndexError, TypeError, ValueError: the patch does not fit the object.
        """
        self.has_new_template = True
        key = self._key()
        if not self.problem.exists:
            self.create_written(ops)
        elif key is None or key.kind not in reading.KINDS or not (key.kind == "Job" or key in self._start.controllers):
            # Its behaviour is unknown: only the waiting pods are replaced.
            owner, running = self.problem.owner, len(self.problem.running)
            self.delete_pods(self.problem.own)
            self.ops += [steps.CreatePod(pod.name, pod.cls) for pod in self._new_pods()]
            if owner.kind != "Pod":
                pods = "its running pod" if running == 1 else f"its {running} running pods"
                text = f"then replaces {pods}: a change of the template usually restarts all of them"
                self.not_followed.append(
                    f"how {owner.kind} {owner.name} {text if running else 'then creates its pods'}"
                )
                self.is_followed = False
        elif key.kind == "Job":  # Delete the Jobs whose pods wait, and create them again.
            for job in filter(None, dict.fromkeys(pod.owner_key for pod in self.problem.own)):
                known = self._controller(job)
                self.ops.append(steps.Delete(job))
                self._apply(known._replace(workload=_patched(known.workload, ops)))
        else:
            known, owner = self._controller(key), self.problem.owner
            if self.problem.controller is None:
                text = f"the settings of {owner.kind} {owner.name}, which is not in the facts"
                self.not_followed.append(f"{text}; defaults were used for its {self.problem.replicas} pods")
            spec = {name: value for name, value in known.spec.items() if name != "paused"}
            self._apply(known._replace(spec=spec, workload=self._rolled_back(_patched(known.workload, ops))))
            if key.kind in KEEPING_PODS:
                self.ops.append(steps.DeleteSome(steps.PodMatch(key, is_pending=True)))

    def _rolled_back(self, workload: Workload) -> Workload:
        """Return a changed workload with the hash of the older revision whose running pods have its template.

        Its controller then keeps these pods. Without the older template, fields that no pod shows are unknown.
        """
        problem, spec = self.problem, workload.pod_spec
        same = [pod for pod in problem.outdated_pods if workload.kind in _OF_PODS and is_made_of(pod, spec)]
        if not same:
            return workload
        if all(known.template.get("spec") != spec for known in problem.cluster.revisions.get(key_of(workload), ())):
            self.not_followed.append(OTHER_FIELDS.format(pod=same[0].name))
        return workload._replace(known_hash=same[0].labels[problem.revision_label])

    def create_written(self, ops: Sequence[Op] = ()) -> None:
        """Apply the manifest of the problem's workload, edited or as it is."""
        key = self._key()
        if key is not None and key.kind in reading.KINDS:
            known = self._controller(key)
            self._apply(known._replace(workload=_patched(known.workload, ops)))
            self.has_new_template = True
            return
        for pod in self._new_pods() if ops else self.problem.own:
            self.ops.append(steps.CreatePod(pod.name, pod.cls))

    def _new_pods(self) -> list[Pod]:
        """Return the waiting pods as they are created from the changed template."""
        return [] if self._scene is None else list(map(self._scene.recreation(), self.problem.own))

    def edit_strategy(self, rolling: Plain) -> None:
        """Change the rollout strategy of a Deployment, before its template changes."""
        key = self._key()
        if key is not None and key.kind == "Deployment":
            known = self._controller(key)
            strategy = {**fields(known.spec, "strategy"), "rollingUpdate": rolling}
            changed = known._replace(spec={**known.spec, "strategy": strategy})
            self._controllers[key] = changed
            if self.problem.exists:
                self._apply(changed)

    def set_replicas(self, replicas: int) -> None:
        """Scale the problem's own workload."""
        key = self._key()
        if key is None:
            return
        known = self._controller(key)
        self._controllers[key] = known._replace(workload=known.workload._replace(replicas=replicas))
        if self.problem.exists:
            self.ops.append(steps.Scale(key, replicas))
        elif not self.has_new_template:
            self.create_written()

    def delete_pods(self, pods: Iterable[Pod]) -> None:
        """Delete pods; their controllers create replacements."""
        gone = tuple(pods)
        self.ended |= {pod.uid for pod in gone if pod.node_name and self._is_alone(pod)}
        self.deleted |= {pod.uid for pod in gone}
        uids = tuple(pod.uid for pod in gone if pod.uid not in self.ended)
        self.ops.append(steps.DeletePods(uids))

    def _key(self) -> Optional[ObjectKey]:
        owner = self.problem.owner
        if owner.kind == "Pod":
            return None
        key = key_of(owner)
        return key._replace(kind="Job") if owner.kind == "CronJob" else key

    def _controller(self, key: ObjectKey) -> Controller:
        if key in self._controllers:
            return self._controllers[key]
        if self.problem.exists:
            return self._start.controllers[key]
        # The workload of a manifest, with the settings of the cluster's object.
        return (self.problem.controller or Controller(self.problem.owner))._replace(workload=self.problem.owner)

    def _apply(self, controller: Controller) -> None:
        owner = controller.workload
        self._controllers[key_of(owner)] = controller
        self.ops.append(steps.Apply(controller))


def _patched(owner: Workload, ops: Sequence[Op]) -> Workload:
    return owner.with_pod_spec(edited(owner.pod_spec, ops))


def start_of(problem: PendingPodProblem) -> Cluster:
    """Return the problem's cluster with a controller for its pods, and without owners that are not simulated."""
    cluster, owner = problem.cluster, problem.owner
    controllers = dict(cluster.controllers)
    owners = {key: above for key, above in cluster.owners.items() if above.kind in reading.KINDS}
    top = key_of(owner)
    if not problem.exists and not problem.running:
        if top in controllers and not controllers[top].spec:  # It was only added for a placement.
            del controllers[top]
        return cluster._replace(owners=owners, controllers=controllers)
    controllers |= _synthesized(problem)
    if owner.kind == "Deployment":
        sets = {pod.owner.name for pod in (*problem.own, *problem.running) if pod.owner is not None}
        owners |= {ObjectKey("ReplicaSet", owner.namespace, name): top for name in sets}
        # The cluster facts may omit how the templates of older ReplicaSets differ.
        known = [key for key, above in owners.items() if above == top and key in controllers]
        known.sort(key=lambda key: natural(controllers[key].revision) or 0)
        for at, key in enumerate(known[:-1]):
            mine = controllers[key].workload
            later = (controllers[other].workload.template for other in known[at + 1 :])
            if any(mine.template.get("spec") == template.get("spec") for template in later):
                metadata = {**fields(mine.template, "metadata"), "annotations": {"revision": key.name}}
                changed = mine._replace(template={**mine.template, "metadata": metadata})
                controllers[key] = controllers[key]._replace(workload=changed)
    return cluster._replace(controllers=controllers, owners=owners)


def _synthesized(problem: PendingPodProblem) -> dict[ObjectKey, Controller]:
    """Return the controllers that the cluster facts lack, built from their pods: the workload, or a CronJob's Jobs.

    The template cannot be derived if each pod has claims of its own that no claim template creates.
    """
    owner, pod = problem.owner, problem.pod
    pods = (*problem.own, *problem.running)
    claims = [{volume.claim.removesuffix(f"-{item.name}") for volume in item.cls.volumes} for item in pods]
    if owner.kind not in KINDS or any(item != claims[0] for item in claims):
        return {}
    keys = [key_of(owner)]
    if owner.kind == "CronJob":
        jobs = {item.owner.name for item in problem.own if item.owner is not None}
        keys = [ObjectKey("Job", owner.namespace, name) for name in sorted(jobs)]
    found = {}
    for key in keys:
        if key in problem.cluster.controllers or key.kind not in reading.KINDS:
            continue
        is_set, is_job = key.kind == "StatefulSet", key.kind == "Job"
        mine = [item for item in pods if not is_job or (item.owner is not None and item.owner.name == key.name)]
        made = [volume.claim for volume in pod.cls.volumes if is_set and volume.claim.endswith(f"-{pod.name}")]
        kept = tuple(volume for volume in pod.cls.volumes if volume.claim not in made)
        template = {"metadata": {"labels": problem.own_labels}, "spec": whole_spec_of(pod.cls._replace(volumes=kept))}
        ordinals = [number for item in mine if (number := natural(item.name.rpartition("-")[2])) is not None]
        workload = Workload(
            key.kind,
            owner.api_version,
            key.namespace,
            key.name,
            len(mine) if is_job else problem.replicas,
            owner.template if owner.template.get("spec") and problem.is_template_known else template,
            selector=owner.selector or {"matchLabels": problem.own_labels},
            claim_templates=tuple(name.removesuffix(f"-{pod.name}") for name in made),
            first_ordinal=min(ordinals, default=0) if is_set else 0,
        )
        found[key] = Controller(workload)
    return found
