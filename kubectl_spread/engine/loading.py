"""Initial state of a timeline from the cluster facts: memory of controllers, stages and ages of pods.

Among ready pods, a ReplicaSet first deletes the ones that became ready last. It compares `floor(log2(age))`, see
`age_classes`. New pods look like running pods that show the result of their controller's template, because admission
adds fields that no template has: tolerations, sidecars, node selectors (`most_alike`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple, Optional

from kubectl_spread.cluster.build import stored_workload
from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster, Controller, JOB_INDEX, JOB_TRACKING
from kubectl_spread.containers import grouped
from kubectl_spread.engine import claims, reading
from kubectl_spread.engine.controllers import deployment, job, replicaset, statefulset
from kubectl_spread.engine.draft import Draft
from kubectl_spread.engine.nodes import is_evicted, tainted_as_cordoned
from kubectl_spread.engine.state import Deletion, NO_ORDINAL, NodeStatus, P, PENDING, slot, Stage, State
from kubectl_spread.engine.world import same_template, World
from kubectl_spread.objects.constraints import constraint
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import DEFAULT_TOLERATIONS, NO_EXECUTE, Node
from kubectl_spread.objects.pod import differences, Pod, PodClass
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors import compile_selector, PodAffinityTerm
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.objects.workloads.workload import (
    PER_POD_LABELS,
    POD_TEMPLATE_HASH,
    revision_label,
    REVISION_LABELS,
    Workload,
)
from kubectl_spread.scheduler.framework.plugin import Profile
from kubectl_spread.text.scalars import natural

_DESIRED = "deployment.kubernetes.io/desired-replicas"
_MOST = "deployment.kubernetes.io/max-replicas"
_HASH = "controller-revision-hash"


_OF_TEMPLATE = (
    "requests",
    "images",
    "node_selector",
    "node_affinity",
    "constraints",
    "pod_anti_affinity",
    "host_ports",
)


class LoadedWorld(NamedTuple):
    """A world and its initial state; live: the workloads whose pods take part."""

    world: World
    state: State
    live: frozenset[ObjectKey]


def load(
    cluster: Cluster,
    profiles: Mapping[str, Profile],
    *,
    touched: Collection[ObjectKey] = (),
    nodes: Collection[str] = (),
    expected: Collection[ObjectKey] = (),
    patience_s: float = float("inf"),
    merged: Mapping[str, Sequence[str]] = {},
    unfinished: Optional[frozenset[ObjectKey]] = None,
) -> LoadedWorld:
    """Return the world of a cluster and its initial state.

    Args:
        cluster: the cluster facts.
        profiles: of the scheduler, by name.
        touched: workloads that take part in any case.
        nodes: nodes whose pods take part.
        expected: controllers that do not exist yet, although their pods do (`reading.with_owners`).
        patience_s: simulated time within a step, in seconds.
        merged: the nodes that each node stands for (`parts`).
        unfinished: the workloads that have unfinished work, if known (`unfinished_workloads`).
    """
    cluster = cluster._replace(nodes=tuple(map(tainted_as_cordoned, cluster.nodes)))
    world = World(cluster, profiles, patience_s=patience_s, merged=merged)
    return _Loading(cluster, world, frozenset(expected)).load(frozenset(touched), frozenset(nodes), unfinished)


def unfinished_workloads(cluster: Cluster, profiles: Mapping[str, Profile]) -> frozenset[ObjectKey]:
    """Return the workloads that have unfinished work."""
    return _Loading(cluster, World(cluster, profiles), frozenset()).unfinished()


def on_nodes(cluster: Cluster, nodes: Collection[str]) -> frozenset[ObjectKey]:
    """Return the workloads that have pods on some nodes."""
    found = {cluster.top_owner(pod) for pod in cluster.pods if pod.node_name in nodes and pod.is_visible}
    return frozenset(key for key in found if key is not None)


class _Loading:
    def __init__(self, cluster: Cluster, world: World, expected: frozenset[ObjectKey]) -> None:
        self.cluster = cluster
        self._expected = expected
        self._owned = OwnedPods(cluster)
        self._overdue = overdue_pods(cluster)
        self.world = world
        self.sets: dict[int, Any] = {}
        self._ages: dict[str, int] = {}
        self._rev_of: dict[tuple[ObjectKey, str], int] = {}  # by controller of the pod, or workload, and hash

    def load(
        self, touched: frozenset[ObjectKey], nodes: frozenset[str], unfinished: Optional[frozenset[ObjectKey]]
    ) -> LoadedWorld:
        visible = [pod for pod in self.cluster.pods if pod.is_visible]
        live = touched | on_nodes(self.cluster, nodes) | (self.unfinished() if unfinished is None else unfinished)
        for key in sorted(key for key in live if key in self.cluster.controllers):
            self._add(key, self.cluster.controllers[key])
        self._ages = age_classes(visible, self.cluster.read_at)
        pods: list[P] = []
        background: list[Pod] = []
        slots: dict[str, Any] = {}
        above_of: dict[int, Optional[ObjectKey]] = {}  # by id of the class, which the pod keeps
        for pod in visible:
            cls = id(pod.cls)
            above = above_of[cls] if cls in above_of else above_of.setdefault(cls, self.cluster.top_owner(pod))
            if above not in live and pod.node_name not in nodes and not self._is_moving(pod):
                background.append(pod)
                continue
            made = self._pod(pod, above)
            slots[pod.uid] = slot(made)
            self.world.names.setdefault(slot(made), []).append(pod.name)
            pods.append(made)
        self.world.background = tuple(background)
        self.world.start = tuple(pods)
        self.world.slot_of = slots
        sets = tuple(self.sets.get(at) for at in range(len(self.world.keys)))
        draft = Draft(self.world, State(tuple(pods), sets, 0))
        for claim in self.cluster.storage.claims.values():
            if claim.is_deleted:
                claims.delete_unused(draft, claim.key)
        return LoadedWorld(self.world, draft.state(), live)

    def unfinished(self) -> frozenset[ObjectKey]:
        """Return the workloads that have unfinished work."""
        moving = (pod for pod in self.cluster.pods if pod.is_visible and self._is_moving(pod))
        found = {key for pod in moving if (key := self.cluster.top_owner(pod)) is not None}
        for key, controller in self.cluster.controllers.items():
            if key.kind in reading.KINDS and key not in self.cluster.owners and self._is_unfinished(key, controller):
                found.add(key)
        return frozenset(found)

    def _is_moving(self, pod: Pod) -> bool:
        """Return whether a pod waits or ends, its node does not exist, or a taint is about to evict it.

        Facts without any node say nothing about the nodes of pods.
        """
        if not pod.node_name or pod.terminating or (pod.node_name not in self.world.node_at and self.cluster.nodes):
            return True
        node = self._evicting.get(pod.node_name)
        return node is not None and is_evicted(node, pod.cls, self.world.patience_s)

    @cached_property
    def _evicting(self) -> dict[str, Node]:
        return {node.name: node for node in self.cluster.nodes if any(t.effect == NO_EXECUTE for t in node.taints)}

    def _is_unfinished(self, key: ObjectKey, controller: Controller) -> bool:
        if key.kind == "DaemonSet":
            return False
        scaler = self.cluster.autoscalers.get(key)
        replicas = reading.wanted_pods(controller)
        if scaler is not None and scaler.nearest(replicas) != replicas:
            return True
        alive = [pod for pod in self._owned.of(key) if pod.is_visible and not pod.terminating]
        sizes = Counter(pod.owner.name for pod in alive if pod.owner is not None)
        if len(alive) != replicas or len(sizes) > 1:
            return True
        if key.kind == "Deployment":
            sets = ((ObjectKey("ReplicaSet", key.namespace, name), size) for name, size in sizes.items())
            known = ((self.cluster.controllers.get(made), size) for made, size in sets)
            return any(
                made is not None and (_size_of(made, size) != size or self._is_outdated(made, controller))
                for made, size in known
            )
        if key.kind != "StatefulSet" or not controller.revision or reading.is_on_delete(controller):
            return False
        first, label = reading.first_ordinal_to_update(controller), revision_label(controller.workload)
        hashes = [pod.labels.get(label, "") for pod in alive if self._ordinal(pod, key, PENDING) >= first]
        return any(text and text != controller.revision for text in hashes)

    def _is_outdated(self, made: Controller, above: Controller) -> bool:
        """Return whether a ReplicaSet has another template than its Deployment, which is about to replace its pods."""
        template, wanted = made.workload.template, above.workload.template
        if not template.get("spec") or above.spec.get("paused"):
            return False  # Shortened facts do not have the template.
        if template["spec"] == wanted.get("spec"):  # perf: nearly all are equal as they are
            template, wanted = ({**item, "spec": {}} for item in (template, wanted))
        if same_template(template, wanted):
            return False
        stored = [stored_workload(item.workload, self.cluster, self.world.minor).template for item in (made, above)]
        return not same_template(*stored)

    def _add(self, key: ObjectKey, controller: Controller) -> None:
        if key.kind not in reading.KINDS or key in self.cluster.owners:
            self.world.leave_out(
                f"{key.kind} {key.namespace}/{key.name}: what its controller does is not simulated", key
            )
            return
        owner = self.world.owner_at[key]
        if key.kind == "Deployment":
            own = self._deployment(key, controller)
            if key in self._expected:
                spec = self.world.specs[own.spec]._replace(is_paused=True, is_orphaned=True)
                own = own._replace(spec=self.world.spec_at[spec])
                for made in self._sets_of.get(key, []):
                    self.world.owner_at.setdefault(made, owner)
            self.sets[owner] = own
        else:
            found = self._other(key, controller)
            self.sets[owner] = None if key in self._expected else found

    def _other(self, key: ObjectKey, controller: Controller) -> Any:
        """Return the state of a controller whose pods carry the revision as a label."""
        label = revision_label(controller.workload)
        running = [pod for pod in self._owned.of(key) if pod.is_visible]
        hashes = Counter(pod.labels.get(label, "") for pod in running) if label else Counter()
        newest = controller.revision if label else ""
        if not newest and hashes:
            newest = hashes.most_common(1)[0][0]
        prefix = f"{key.name}-" if key.kind == "StatefulSet" else ""
        if key in self._expected and label:
            # Pods that a new workload adopts have its template, in fields that the scheduler reads.
            made = replica(stored_workload(controller.workload, self.cluster, self.world.minor), 0).cls
            if any(getattr(pod.cls, name) != getattr(made, name) for pod in running for name in _OF_TEMPLATE):
                newest = f"{prefix}{controller.workload.revision_hash}"
        old = [text for text in hashes if text != newest]
        for text in sorted(old):
            self._old_revision(key, controller.workload, text=text, pods=running)
        spec = reading.spec_of(self.world, controller, known_hash=newest.removeprefix(prefix))
        rev = self.world.specs[spec].rev
        self._rev_of[key, newest] = rev
        self._know(rev, _labelled(running, label, newest))
        own = reading.own_of(self.world, key.kind, spec)
        if isinstance(own, job.JobState):
            return own._replace(failures=controller.progress.failed)
        if isinstance(own, statefulset.StatefulSetState) and old:
            own = own._replace(current=self._rev_of[key, max(old, key=lambda text: hashes[text])])
        return own

    def _old_revision(self, key: ObjectKey, owner: Workload, *, text: str, pods: Iterable[Pod]) -> int:
        """Return a revision that is only known from its pods."""
        written = owner._replace(template=_unknown_template(text), known_hash=text)
        rev = self._rev_of[key, text] = self.world.revision(written, known_hash=text).at
        self._know(rev, _labelled(pods, revision_label(owner), text))
        return rev

    def _know(self, rev: int, pods: list[Pod]) -> None:
        """Model the new pods of a revision on its running pods, with the fields that admission added."""
        usable = [pod.cls for pod in pods if not any(volume.is_ephemeral for volume in pod.cls.volumes)]
        found = most_alike(usable, self.world.revisions[rev].workload)
        if found is not None:
            self.world.known[rev] = found
        running = [pod for pod in pods if self._is_on(pod, NodeStatus.UP)]  # Others say nothing about their template.
        if running and not any(map(_is_ready, running)) and any(map(_is_broken, running)):
            self.world.revisions[rev] = self.world.revisions[rev]._replace(becomes_ready=False)

    def _is_on(self, pod: Pod, status: NodeStatus) -> bool:
        """Return whether the node of a pod has a status."""
        at = self.world.node_at[pod.node_name] if pod.node_name else PENDING
        return self.world.node_status(0, at) is status

    def _deployment(self, key: ObjectKey, controller: Controller) -> deployment.DeploymentState:
        known = self._sets_of.get(key, [])
        pods = [pod for pod in self._owned.of(key) if pod.is_visible]
        unknown = {pod.owner.name for pod in pods if pod.owner is not None} - {item.name for item in known}
        of_facts = [self._set(item, key, controller, pods=pods) for item in known]
        self._make_distinct(of_facts, known, key, pods=pods)
        sets: list[deployment.Set] = []
        for name in sorted(unknown):  # They are only known from their pods.
            mine = _created_by(name, pods)
            text = mine[0].labels.get(POD_TEMPLATE_HASH, name)
            rev = self._old_revision(key, controller.workload, text=text, pods=mine)
            size = sum(not pod.terminating for pod in mine)
            sets.append(deployment.Set(rev, size, controller.workload.replicas or 0, 0))
        sets += of_facts
        newest = "" if known else _hash_of(pods)
        spec = reading.spec_of(self.world, controller, known_hash=newest)
        rev = self.world.specs[spec].rev
        if newest:  # Without ReplicaSets in the facts, pods of the newest revision belong to the current template.
            sets = [item._replace(rev=rev) if self.world.revisions[item.rev].name == newest else item for item in sets]
            self._rev_of[key, newest] = rev
            self._know(rev, _labelled(pods, POD_TEMPLATE_HASH, newest))
        if not sets and controller.workload.selector:
            # The first ReplicaSet adopts the pods with the hash of its template.
            selector = compile_selector(constraint.label_selector(controller.workload.selector))
            for pod in self.cluster.pods:
                is_orphan = pod.owner is None and pod.namespace == key.namespace and POD_TEMPLATE_HASH in pod.labels
                if is_orphan and not pod.terminating and selector.matches(pod.labels):
                    text = f"{key.kind} {key.namespace}/{key.name}: whether its new ReplicaSet adopts pod {pod.name}"
                    self.world.leave_out(text, key)
                    break
        order = tuple(dict.fromkeys([*(item.rev for item in sets if item.rev != rev), rev]))
        return deployment.DeploymentState(spec, tuple(sets), order)

    @cached_property
    def _sets_of(self) -> dict[ObjectKey, list[ObjectKey]]:
        """Return the ReplicaSets of each Deployment that the facts have, the oldest first."""
        pairs = [
            (above, made)
            for made, above in self.cluster.owners.items()
            if made.kind == "ReplicaSet" and made in self.cluster.controllers
        ]
        return grouped(sorted(pairs, key=lambda pair: self._number(pair[1])))

    def _number(self, key: ObjectKey) -> tuple[int, str]:
        return (natural(self.cluster.controllers[key].revision) or 0, key.name)

    def _set(self, key: ObjectKey, owner: ObjectKey, above: Controller, *, pods: list[Pod]) -> deployment.Set:
        controller = self.cluster.controllers[key]
        labels = fields(controller.workload.template, "metadata", "labels")
        text = str(labels.get(POD_TEMPLATE_HASH) or key.name.removeprefix(f"{above.workload.name}-"))
        template = controller.workload.template
        if not template.get("spec"):  # In a shortened snapshot the latest pods have the current template.
            template = above.workload.template if text == _hash_of(pods) else _unknown_template(text)
        workload = above.workload._replace(template=template, known_hash=text)
        rev = self._rev_of[owner, text] = self.world.revision(workload, known_hash=text).at
        mine = _created_by(key.name, pods)
        self._know(rev, mine)
        size = _size_of(controller, sum(not pod.terminating for pod in mine))
        desired = _integer(controller.annotations.get(_DESIRED), above.workload.replicas or 0)
        return deployment.Set(rev, size, desired, _integer(controller.annotations.get(_MOST), 0))

    def _make_distinct(
        self, sets: list[deployment.Set], keys: list[ObjectKey], owner: ObjectKey, *, pods: list[Pod]
    ) -> None:
        """Give each ReplicaSet a revision of its own: shortened facts can have several with equal templates."""
        latest = {item.rev: at for at, item in enumerate(sets)}
        newest = _hash_of(pods)
        for at, (item, key) in enumerate(zip(sets, keys, strict=True)):
            if not self._number(key)[0] and key.name.endswith(f"-{newest}"):
                latest[item.rev] = at
        for at, (item, key) in enumerate(zip(sets, keys, strict=True)):
            if latest[item.rev] != at:
                text, mine = key.name.removeprefix(f"{owner.name}-"), _created_by(key.name, pods)
                hashes = [pod.labels.get(POD_TEMPLATE_HASH, text) for pod in mine] or [text]
                workload = self.world.revisions[item.rev].workload
                sets[at] = item._replace(rev=self._old_revision(owner, workload, text=hashes[0], pods=mine))

    def _pod(self, pod: Pod, key: Optional[ObjectKey]) -> P:
        found = None if key is None else self.world.owner_at.get(key)
        revs: list[int] = []
        if found is not None and key is not None:
            hashes = [*(pod.labels.get(label, "") for label in (POD_TEMPLATE_HASH, _HASH)), ""]
            revs = [self._rev_of[key, text] for text in hashes if (key, text) in self._rev_of]
        owner, rev = (found, revs[0]) if found is not None and revs else (-1, -1)
        if owner < 0 and key is not None and key.kind != "Node":  # a static pod is its kubelet's
            text = f"{key.kind} {key.namespace}/{key.name} is not in the facts: its pods are not created again"
            self.world.notes[text] = None
        stage, end = stage_of(pod), Deletion.ALIVE
        if stage is Stage.BOUND and self._is_on(pod, NodeStatus.DOWN):
            stage = Stage.UNREADY
        if pod.terminating:
            is_held = set(pod.finalizers) - {JOB_TRACKING}
            end = Deletion.HELD if is_held else Deletion.PREEMPTED if pod.is_preempted else Deletion.TERMINATING
            if not is_held and pod.uid in self._overdue and self._is_on(pod, NodeStatus.UP):
                end = Deletion.OVERDUE
        node = self.world.node_at[pod.node_name] if pod.node_name else PENDING
        return P(
            owner,
            rev,
            self._ordinal(pod, key, node),
            self.world.class_index(pod.cls),
            node,
            stage,
            end,
            self.world.node_at.get(pod.nominated_node, PENDING) if node == PENDING else PENDING,
            is_new=False,
            age=self._ages.get(pod.uid, 0),
            cost=pod.deletion_cost,
        )

    def _ordinal(self, pod: Pod, key: Optional[ObjectKey], node: int) -> int:
        if key is None:
            return NO_ORDINAL
        if key.kind == "DaemonSet":
            terms = (term for item in pod.cls.node_affinity.required or () for term in item.match_fields)
            pinned = next((term.values[0] for term in terms if term.values), "")
            return node if node != PENDING else self.world.node_at.get(pinned, NO_ORDINAL)
        if key.kind == "StatefulSet":
            return _integer(pod.name.removeprefix(f"{key.name}-"), NO_ORDINAL)
        text = pod.labels.get(JOB_INDEX, "") if key.kind == "Job" else ""
        return _integer(text, NO_ORDINAL)


def _size_of(made: Controller, pods: int) -> int:
    """Return the replicas of a ReplicaSet, which has a number of pods; shortened facts leave them out."""
    replicas = made.spec.get("replicas")
    return replicas if type(replicas) is int else pods


def _unknown_template(text: str) -> dict[str, Any]:
    """Return a placeholder template for a revision that is only known from its pods."""
    return {"metadata": {"labels": {"revision": text}}, "spec": {}}


def _created_by(name: str, pods: Iterable[Pod]) -> list[Pod]:
    """Return the pods of a ReplicaSet."""
    return [pod for pod in pods if pod.owner is not None and pod.owner.name == name]


def _labelled(pods: Iterable[Pod], key: str, value: str) -> list[Pod]:
    """Return the pods with a label; without the label, its value is empty."""
    return [pod for pod in pods if pod.labels.get(key, "") == value]


def _hash_of(pods: Iterable[Pod]) -> str:
    """Return the most frequent revision hash of the waiting pods, or of all pods if none waits."""
    known = list(pods)
    waiting = [pod for pod in known if not pod.node_name]
    counts = Counter(pod.labels.get(POD_TEMPLATE_HASH, "") for pod in waiting or known)
    return counts.most_common(1)[0][0] if counts else ""


def _integer(text: Optional[str], default: int) -> int:
    number = None if text is None else natural(text)
    return default if number is None else number


def _is_ready(pod: Pod) -> bool:
    return bool(pod.node_name) and (pod.is_ready is True or (pod.is_ready is None and pod.phase in ("", "Running")))


def _is_broken(pod: Pod) -> bool:
    return bool(pod.node_name) and pod.phase == "Running" and pod.is_ready is False and not pod.terminating


def stage_of(pod: Pod) -> Stage:
    """Return the stage of a pod of the cluster."""
    if not pod.node_name:
        return Stage.WAITING
    if _is_ready(pod):
        return Stage.READY
    return Stage.UNREADY if _is_broken(pod) else Stage.BOUND


PATIENCE_S = 3600.0  # Time after the reading of the facts for which an order must hold.
_CHOOSING = frozenset({"ReplicaSet", "ReplicationController", "Job"})  # Other controllers have no choice.


def age_classes(pods: Iterable[Pod], read_at: str) -> dict[str, int]:
    """Return a number for each ready pod of a ReplicaSet or Job, by uid: lower numbers are certainly deleted first.

    Pods of one controller with the same number may be deleted in any order. Pods that are left out have number 0, as
    pods have that are created later.

    Args:
        pods: pods of the cluster facts.
        read_at: when the facts were read, RFC 3339; empty if that is unknown.
    """
    now = _seconds(read_at)
    if now is None:
        return {}
    by_controller = grouped(
        (pod.owner_key, (now - since, pod.uid))
        for pod in pods
        if pod.is_ready and pod.owner is not None and pod.owner.kind in _CHOOSING
        if (since := _seconds(pod.ready_since)) is not None
    )
    numbers: dict[str, int] = {}
    for ages in by_controller.values():
        # The number grows where a pod is at least twice as old as the one before, also when `PATIENCE_S` have passed.
        # The first pod is compared with a pod that is created now.
        number, before = 0, 0.0
        for age, uid in sorted(ages):
            number += age + PATIENCE_S >= 2 * (before + PATIENCE_S)
            before = age
            if number:
                numbers[uid] = number
    return numbers


def overdue_pods(cluster: Cluster) -> frozenset[str]:
    """Return the uids of the terminating pods that a kubelet should have ended long ago.

    If it is not known when the facts were read, it was not before anything in them happened.
    """
    ended = {pod.uid: time for pod in cluster.pods if pod.terminating and (time := _seconds(pod.deleted)) is not None}
    if not ended:
        return frozenset()
    times = (text for pod in cluster.pods for text in (pod.created, pod.ready_since))
    now = _seconds(cluster.read_at) or max((time for text in times if (time := _seconds(text)) is not None), default=0)
    return frozenset(uid for uid, time in ended.items() if time + _OVERDUE_S < now)


_OVERDUE_S = 3600  # after the grace period, which the time of a deletion includes


def _seconds(text: str) -> Optional[float]:
    """Return a time of the API server in seconds; None without a valid time."""
    try:
        time = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return time.timestamp() if time.tzinfo is not None else None


_PER_POD = frozenset(
    {
        *REVISION_LABELS,
        *PER_POD_LABELS,
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/job-name",
        "controller-uid",
        "job-name",
        "revision",
    }
)


def most_alike(running: Iterable[PodClass], workload: Workload) -> Optional[PodClass]:
    """Return the class of the running pods that are most similar to the template; None if all contradict it.

    Of equally similar classes the most frequent wins. A template without containers contradicts no pod.
    """
    counts = Counter(running)
    if not counts:
        return None
    if workload.kind == "DaemonSet" or not workload.pod_spec.get("containers"):
        return counts.most_common(1)[0][0]
    made = replica(workload, 0).cls
    agreeing = [cls for cls, _ in counts.most_common() if agrees(cls, made)]
    return min(agreeing, key=lambda cls: len(differences(cls, made)), default=None)


def agrees(cls: PodClass, made: PodClass) -> bool:
    """Return whether a pod has every field of its controller's template; admission may have added others."""
    own = dict(cls.requests)
    return (
        {(key, value) for key, value in made.labels if key not in _PER_POD} <= set(cls.labels)
        and set(made.node_selector) <= set(cls.node_selector)
        and set(made.tolerations) <= {*cls.tolerations, *DEFAULT_TOLERATIONS}
        and made.host_ports == cls.host_ports
        # Sidecars can only add to the requests.
        and all(own.get(name, 0) >= amount for name, amount in made.requests)
        and {_kept(item) for item in made.constraints} <= {_kept(item) for item in cls.constraints}
        and _terms(made) <= _terms(cls)
        and (made.node_affinity.required is None or cls.node_affinity.required is not None)
    )


def _kept(item: TopologySpreadConstraint) -> Any:
    """Return a constraint without its selector, to which the API server adds the labels of matchLabelKeys."""
    return item._replace(position=0, label_selector=None, match_label_keys=())


def _terms(cls: PodClass) -> set[tuple[str, str]]:
    """Return the topology keys of each kind of affinity; selectors may differ by matchLabelKeys."""
    kinds: dict[str, tuple[PodAffinityTerm, ...]] = {
        "affinity": cls.pod_affinity,
        "anti-affinity": cls.pod_anti_affinity,
        "preferred affinity": tuple(term for _, term in cls.preferred_affinity),
        "preferred anti-affinity": tuple(term for _, term in cls.preferred_anti_affinity),
    }
    return {(kind, term.topology_key) for kind, terms in kinds.items() for term in terms}


class RemainingPods(NamedTuple):
    """Pods after a scale-down.

    kept: pods that stay in every outcome. tied: pods of which any `number` stay, because nothing decides between them.
    """

    kept: tuple[Pod, ...]
    tied: tuple[Pod, ...]
    number: int


def remaining_pods(pods: Sequence[Pod], replicas: int, *, read_at: str = "") -> RemainingPods:
    """Return the pods that stay if a ReplicaSet without other pods is scaled down.

    Args:
        pods: its active pods.
        replicas: the new number of pods.
        read_at: when the cluster facts were read, RFC 3339; if it is unknown, so are the ages of the pods.
    """
    states = _numbered(pods, read_at)
    order = replicaset.order(states, replicaset.ranks(states), max(0, len(pods) - replicas))
    tied = {state.ordinal for state in order.tied}
    gone = {state.ordinal for state in order.certain} | tied
    return RemainingPods(
        tuple(pod for at, pod in enumerate(pods) if at not in gone),
        tuple(pod for at, pod in enumerate(pods) if at in tied),
        len(order.tied) - order.left,
    )


def deleted_first(pods: Iterable[Pod]) -> list[Pod]:
    """Return pods in the order in which a ReplicaSet deletes them, of equal ones the youngest first."""
    youngest = sorted(pods, key=lambda pod: pod.created, reverse=True)
    states = _numbered(youngest)
    return [youngest[state.ordinal] for state in sorted(states, key=replicaset.ranks(states))]


def _numbered(pods: Sequence[Pod], read_at: str = "") -> list[P]:
    """Return the states of a ReplicaSet's pods, with their places as ordinals."""
    nodes = {name: at for at, name in enumerate(dict.fromkeys(pod.node_name for pod in pods))}
    ages = age_classes(pods, read_at)
    return [
        P(0, 0, at, 0, nodes[pod.node_name], stage_of(pod), age=ages.get(pod.uid, 0), cost=pod.deletion_cost)
        for at, pod in enumerate(pods)
    ]
