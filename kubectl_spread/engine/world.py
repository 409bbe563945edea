"""Data that is constant over time, or numbered when it first appears: nodes, workloads, revisions, pod classes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Optional

from kubectl_spread.caching import cached_method
from kubectl_spread.cluster.build import stored_workload
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.snapshot import Cluster, JOB_INDEX, key_of
from kubectl_spread.containers import grouped, Numbering
from kubectl_spread.engine.refusals import Charge, charge, lasting_refusal, spec_of_class
from kubectl_spread.engine.state import ENDING, NO_ORDINAL, NodeStatus, P, PENDING, slot, Stage, State
from kubectl_spread.objects.keys import NamespacedName, ObjectKey
from kubectl_spread.objects.node import NO_EXECUTE, NO_SCHEDULE, Node, OUT_OF_SERVICE, UNREACHABLE
from kubectl_spread.objects.pod import Pod, PodClass, PodVolume
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.reading.plain import fields, mappings, Plain
from kubectl_spread.objects.releases.version import Release
from kubectl_spread.objects.selectors import HOSTNAME, NodeAffinity
from kubectl_spread.objects.storage import Volume
from kubectl_spread.objects.workloads.replica import controller_of, controller_selector, daemon, replica
from kubectl_spread.objects.workloads.workload import POD_TEMPLATE_HASH, template_hash, Workload
from kubectl_spread.scheduler.framework.plugin import Profile

# Nodes that a provisioner adds for the Pending pods of a cluster: one tuple for each way in which it may choose.
Provisioner = Callable[[Cluster], Iterable[tuple[Node, ...]]]

_OF_ADMISSION = ("priority_classes", "limit_ranges", "runtime_classes")
_ORDINAL_LABELS = ("statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index")


class WorldFacts(NamedTuple):
    """The cluster without its pods; each change of a node, a Service or a budget creates another version.

    nodes: by index in the world; None if a node does not exist. down: indices of unreachable nodes.
    """

    nodes: tuple[Optional[Node], ...]
    cluster: Cluster
    down: frozenset[int] = frozenset()


def is_unreachable(node: Node) -> bool:
    """Return whether a node's kubelet does not answer, by the taint that the node controller sets then."""
    return any(taint.key == UNREACHABLE and taint.effect in (NO_EXECUTE, NO_SCHEDULE) for taint in node.taints)


class Revision(NamedTuple):
    """A template of a workload; written: the workload as it is before admission."""

    at: int
    owner: int
    written: Workload
    workload: Workload
    name: str
    becomes_ready: bool = True
    ends: bool = True

    @property
    def ends_at_once(self) -> bool:
        """Return whether a deleted pod is gone at once: its grace period is 0, so no kubelet is asked."""
        return fields(self.workload.template, "spec").get("terminationGracePeriodSeconds") == 0


def template_pod(workload: Workload) -> Pod:
    """Return a pod as the template says; of a DaemonSet, with the conditions on its nodes that only it looks at."""
    return read.pod({"metadata": {"namespace": workload.namespace}, "spec": workload.pod_spec})


def node_name(workload: Workload) -> str:
    """Return the node that a pod template names in `nodeName`; empty if the scheduler chooses."""
    return str(fields(workload.template, "spec").get("nodeName") or "")


def without_hostnames(cls: PodClass) -> PodClass:
    """Return a class without what limits its pods on single nodes: hard constraints over hostnames, anti-affinity."""
    kept = tuple(item for item in cls.constraints if not (item.is_hard and item.topology_key == HOSTNAME))
    if len(kept) == len(cls.constraints) and not cls.pod_anti_affinity:
        return cls
    return cls._replace(constraints=kept, pod_anti_affinity=())


class World:
    """Numbering of all objects that states refer to."""

    def __init__(
        self,
        cluster: Cluster,
        profiles: Mapping[str, Profile],
        *,
        is_never_ready: Callable[[Workload], bool] = lambda _: False,
        never_ends: Callable[[Workload], bool] = lambda _: False,
        patience_s: float = float("inf"),
        merged: Mapping[str, Sequence[str]] = {},
    ) -> None:
        """Set up the world of a cluster.

        `patience_s` is the simulated time within a step: tolerationSeconds and the delays of Jobs up to it expire.
        `merged`: the nodes that each node stands for (`parts`). By default all bound pods become ready, and end when
        they are deleted.
        """
        self.patience_s = patience_s
        self.cluster = cluster
        self.profiles = profiles
        self._is_never_ready, self._never_ends = is_never_ready, never_ends
        self.owner_at = Numbering[ObjectKey]()  # of a workload, perhaps by more than one key
        self.keys = self.owner_at.listed
        self.revisions: list[Revision] = []
        self._class_at = Numbering[PodClass]()
        self.classes = self._class_at.listed
        self.spec_at = Numbering[Any]()
        self.specs = self.spec_at.listed
        self.node_at = Numbering(node.name for node in cluster.nodes)
        self.node_names = self.node_at.listed
        down = frozenset(at for at, node in enumerate(cluster.nodes) if is_unreachable(node))
        self.facts: list[WorldFacts] = [WorldFacts(cluster.nodes, cluster._replace(pods=()), down)]
        self.background: tuple[Pod, ...] = ()
        self.start: tuple[P, ...] = ()  # the other pods at the start
        self.provisioner: Optional[Provisioner] = None
        self.additions: dict[State, tuple[tuple[Node, ...], ...]] = {}  # of the provisioner
        self.merged = merged
        self.bound: Optional[Columns] = None  # Bound pods at the start, if they are counted already.
        self.names: dict[Any, list[str]] = {}  # names of pods at the start or of a CreatePod, by slot
        self.claim_templates: dict[int, dict[str, Plain]] = {}  # by workload: claim template by name
        self.leaving_claims = {item.key for item in cluster.storage.claims.values() if item.is_deleted}
        self.notes: dict[str, None] = {}  # what was not simulated
        self.gaps: dict[str, Optional[ObjectKey]] = {}  # those that change the outcome, with the workload, or for any
        self.ops: list[Any] = []  # the steps of the user, by number; kept alive, so that each id() stays unique
        self.may_lag = False  # whether there is a state in which controllers have not acted yet
        self.restarted: dict[tuple[int, int], int] = {}  # new revision by old revision and identity of the step
        self.slot_of: dict[str, Any] = {}  # by uid of an initial pod
        self.looks: dict[tuple[int, bool], int] = {}  # of background pods: by id of the class, and whether they end
        self.look_numbers = Numbering[str]()
        self._revisions_of: dict[int, list[Revision]] = {}  # by workload
        self._cls_of: dict[tuple[int, int, int], int] = {}
        self._admissions: list[Cluster] = [cluster]  # with different objects that admission reads
        self._admission_of: dict[int, int] = {}  # by class
        self.known: dict[int, PodClass] = {}  # by revision, of a pod that runs; its new pods are modelled on it
        self._shape_at = Numbering[PodClass]()
        # The number of the objects that admission read when a pod of a shape was created
        self.admission_of_shape: dict[int, int] = {}
        self._next_facts: dict[Any, int] = {}

    @property
    def release(self) -> Release:
        return next(iter(self.profiles.values())).release

    @property
    def minor(self) -> int:
        return self.release.minor

    def own(self, sets: Sequence[Any], key: ObjectKey) -> Any:
        """Return what the controller of a workload remembers; None if the workload does not exist."""
        owner = self.owner_at.get(key)
        return None if owner is None or owner >= len(sets) else sets[owner]

    @property
    def is_widened(self) -> bool:
        """Return whether nodes stand for others: a pod may go to every node that fits."""
        return bool(self.merged)

    def revision(self, written: Workload, *, known_hash: str = "") -> Revision:
        """Return the revision of a workload with the template, a new one if there is none.

        A revision that is only known from its pods has no template; it is found by its hash.
        """
        owner, stored = self.owner_at[key_of(written)], stored_workload(written, self.cluster, self.minor)
        for known in self.revisions_of(owner):
            is_of_pods = not known.workload.pod_spec.get("containers")
            is_named = is_of_pods and written.known_hash != "" and written.known_hash == known.name
            if is_named or same_template(known.workload.template, stored.template):
                return known
        name = known_hash or written.known_hash or stored._replace(known_hash="").revision_hash
        workload = stored._replace(known_hash=name)
        made = Revision(
            len(self.revisions),
            owner,
            written,
            workload,
            name,
            not self._is_never_ready(workload),
            not self._never_ends(workload),
        )
        self.revisions.append(made)
        self._revisions_of.setdefault(owner, []).append(made)
        if workload.selector is not None and workload.kind not in ("Pod", "Job"):  # for default constraints
            controller = controller_of(workload)
            key = ObjectKey(controller.kind, workload.namespace, controller.name)
            selectors = {**self.cluster.owner_selectors, key: controller_selector(workload)}
            self.cluster = self.cluster._replace(owner_selectors=selectors)
            self.facts = [
                item._replace(cluster=item.cluster._replace(owner_selectors=selectors)) for item in self.facts
            ]
        return made

    def revisions_of(self, owner: int) -> Sequence[Revision]:
        """Return the revisions of a workload, in the order of their first use."""
        return [self.revisions[item.at] for item in self._revisions_of.get(owner, ())]

    def is_named(self, rev: int, text: str) -> bool:
        """Return whether a hash in a ReplicaSet's name is that of a revision, with or without admitted fields."""
        return text in (self.revisions[rev].name, template_hash(self.revisions[rev].written.template))

    def class_index(self, cls: PodClass) -> int:
        """Return the index of a pod class."""
        return self._class_at[without_hostnames(cls) if self.is_widened else cls]

    def name_new_pod(self, name: str, cls: PodClass) -> None:
        """Number the class of a pod that a step creates, and store the pod's name."""
        pod = P(-1, -1, NO_ORDINAL, self.class_index(cls), PENDING, Stage.WAITING)
        for made in (pod, pod._replace(is_new=False)):  # It is new in the step that creates it only.
            self.names.setdefault(slot(made), []).append(name)

    def cls_of(self, rev: int, ordinal: int = NO_ORDINAL, *, admission: int = 0) -> int:
        """Return the class of a pod that a controller creates from a revision.

        Args:
            rev: the revision.
            ordinal: of a StatefulSet's or an indexed Job's pod; of a DaemonSet's, the index of its node.
            admission: number of the objects that admission reads (`admission`).
        """
        key = (rev, ordinal, admission)
        at = self._cls_of.get(key)
        if at is None:
            made = self._made(rev, ordinal)
            if admission:  # It has the fields in which a later admission differs from the first one.
                owners = (self._stored(rev, self._admissions[number]) for number in (0, admission))
                pods = (daemon(owner, "") if owner.kind == "DaemonSet" else replica(owner, 0) for owner in owners)
                fields_of = zip(PodClass._fields, *(pod.cls for pod in pods), strict=True)
                changed: dict[str, Any] = {name: new for name, old, new in fields_of if old != new}
                made = made._replace(**changed)
            at = self._cls_of[key] = self.class_index(made)
            self._admission_of.setdefault(at, admission)
        return at

    def class_of_new_pods(self, rev: int) -> Optional[PodClass]:
        """Return the class of a revision's pods; None for a DaemonSet, whose pods are each bound to one node."""
        workload = self.revisions[rev].workload
        return None if workload.kind == "DaemonSet" else self.classes[self.cls_of(rev, workload.first_ordinal)]

    @cached_method
    def admission(self, facts: int) -> int:
        """Return a number of the classes and limits that admission applies to new pods; 0 for those at the start."""
        cluster, known = self.facts[facts].cluster, self._admissions
        for at, other in enumerate(known):
            if all(getattr(cluster, name) == getattr(other, name) for name in _OF_ADMISSION):
                return at
        known.append(cluster)
        return len(known) - 1

    def admission_of(self, cls: int) -> int:
        """Return the number of the objects that admission read when a pod of a class was created."""
        return self._admission_of.get(cls, 0)

    def _stored(self, rev: int, cluster: Cluster) -> Workload:
        """Return the workload of a revision with the fields that admission adds to its pods."""
        return stored_workload(self.revisions[rev].written, cluster, self.minor)

    @cached_method
    def charge_of(self, cls: int, rev: int) -> Charge:
        """Return what quotas charge for a pod: by its template if that is known, else by its class."""
        template = {} if rev < 0 else self._stored(rev, self._admissions[self.admission_of(cls)]).template
        return charge(template.get("spec") or spec_of_class(self.classes[cls]))

    @cached_method
    def lasting_refusal(self, rev: int, facts: int) -> str:
        """Return the API server's message if it refuses every new pod of a revision now; empty if it does not."""
        cluster = self.facts[facts].cluster
        is_known = bool(self.revisions[rev].written.template.get("spec"))
        return lasting_refusal(self._stored(rev, cluster), cluster) if is_known else ""

    def _made(self, rev: int, ordinal: int) -> PodClass:
        workload, known = self.revisions[rev].workload, self.known.get(rev)
        if workload.kind == "DaemonSet":
            return daemon(workload, self.node_names[ordinal]).cls
        if known is not None:
            made = known if ordinal == NO_ORDINAL else _with_ordinal(known, workload, ordinal)
        else:
            made = replica(workload, max(0, ordinal - workload.first_ordinal)).cls
        name = node_name(workload)
        if not name:
            return made
        text = f"{workload.key}: its pods bypass the scheduler, because nodeName is set; "
        if name in self.node_at:
            self.leave_out(f"{text}whether the kubelet of {name} accepts them is not simulated", key_of(workload))
        else:
            self.notes[f"{text}{name} does not exist, so they never run"] = None
        return made._replace(node_name=name)

    def leave_out(self, text: str, key: Optional[ObjectKey] = None) -> None:
        """Record something that is not simulated and changes the outcome of a workload, or of any."""
        self.notes[text] = None
        self.gaps[text] = key

    @cached_method
    def shape(self, cls: int) -> int:
        """Return a number that is equal for pods that differ in their ordinal only, if no decision depends on it."""
        bare = full = self.classes[cls]
        if self.is_anonymous(cls):
            reserved = [self._reserved(full, volume) for volume in full.volumes]
            reach = (
                "" if item is None else repr((item.terms, sorted(item.labels.items()), sorted(item.access_modes)))
                for item in reserved
            )
            bare = full._replace(
                labels=tuple(item for item in full.labels if item[0] not in (*_ORDINAL_LABELS, JOB_INDEX)),
                volumes=tuple(volume._replace(claim=text) for volume, text in zip(full.volumes, reach, strict=True)),
            )
        found = self._shape_at[bare]
        self.admission_of_shape.setdefault(found, self.admission_of(cls))
        return found

    def is_anonymous(self, cls: int) -> bool:
        """Return whether pods that only differ in their ordinal are equivalent, including their volumes."""
        full = self.classes[cls]
        return all(volume.claim and self._reserved(full, volume) is not None for volume in full.volumes)

    @cached_property
    def _volume_of(self) -> dict[NamespacedName, Volume]:
        """Return volumes by their claims, but for claims that end: the next one of the name may get another volume."""
        found = ((item.claim, item) for item in self.cluster.storage.volumes.values() if item.claim is not None)
        return {claim: volume for claim, volume in found if claim not in self.leaving_claims}

    def _reserved(self, cls: PodClass, volume: PodVolume) -> Optional[Volume]:
        """Return the volume that is reserved for a claim."""
        return self._volume_of.get(NamespacedName(cls.namespace, volume.claim))

    def changed_facts(self, facts: int, key: Any, change: Callable[[WorldFacts], WorldFacts]) -> int:
        """Return the index of the facts after a change, which is computed once per `key`."""
        found = self._next_facts.get((facts, key))
        if found is None:
            before = self.facts[facts]
            missing = len(self.node_names) - len(before.nodes)
            made = change(before._replace(nodes=(*before.nodes, *[None] * missing)))
            cluster = made.cluster._replace(nodes=tuple(node for node in made.nodes if node is not None))
            found = len(self.facts)
            self.facts.append(made._replace(cluster=cluster))
            self._next_facts[facts, key] = found
        return found

    @cached_property
    def _background_classes(self) -> Collection[PodClass]:
        return {id(pod.cls): pod.cls for pod in self.background}.values()

    @cached_property
    def lowest(self) -> float:
        """Return the lowest priority of the background pods."""
        return min((cls.priority for cls in self._background_classes), default=float("inf"))

    @cached_property
    def background_affinities(self) -> tuple[PodClass, ...]:
        """Return the classes of background pods with pod affinity: they select other pods by labels and domains.

        Their requirements on nodes are left out, because these pods have their nodes.
        """
        return tuple(
            cls._replace(node_selector=(), node_affinity=NodeAffinity(), constraints=())
            for cls in self._background_classes
            if cls.has_pod_affinity
        )

    def columns(self, cluster: Cluster) -> Columns:
        """Return separate columns for a cluster, with the background pods only."""
        cluster = cluster._replace(pods=self.background)
        return Columns(cluster) if self.bound is None else self.bound.copy_for_cluster(cluster, self._others)

    @cached_property
    def _others(self) -> frozenset[str]:
        """Return the uids of pods that are bound at the start and not in the background."""
        bound = () if self.bound is None else self.bound.bound_pods
        return frozenset(pod.uid for pod in bound).difference(pod.uid for pod in self.background)

    @cached_property
    def on_node(self) -> Mapping[str, list[Pod]]:
        """Return the background pods by their nodes."""
        return grouped((pod.node_name, pod) for pod in self.background)

    @cached_method
    def evicting(self, facts: int) -> frozenset[int]:
        """Return the nodes that do not exist, or have a NoExecute taint."""
        every = ((at, self.node(facts, at)) for at in range(len(self.node_names)))
        return frozenset(
            at for at, node in every if node is None or any(taint.effect == NO_EXECUTE for taint in node.taints)
        )

    def node_status(self, facts: int, at: int) -> NodeStatus:
        """Return the status of the node of a pod, by the node's index."""
        if at == PENDING:
            return NodeStatus.UNBOUND
        if self.node(facts, at) is None:
            return NodeStatus.MISSING
        return NodeStatus.DOWN if at in self.facts[facts].down else NodeStatus.UP

    def ends(self, facts: int, pod: P) -> bool:
        """Return whether a kubelet, or the API server for a pod without a node, finishes the deletion of a pod.

        On a dead node that is out of service, the pod garbage collector does.
        Source: pkg/controller/podgc/gc_controller.go, gcTerminating (v1.36.2).
        """
        if pod.end not in ENDING:
            return False
        status, node = self.node_status(facts, pod.node), self.node(facts, pod.node)
        if status is NodeStatus.DOWN and node is not None:
            return any(taint.key == OUT_OF_SERVICE for taint in node.taints)
        is_held = pod.rev >= 0 and not self.revisions[pod.rev].ends
        return status is NodeStatus.UNBOUND or (status is NodeStatus.UP and not is_held)

    def node(self, facts: int, at: int) -> Optional[Node]:
        """Return a node in its current form; None if it does not exist."""
        nodes = self.facts[facts].nodes
        return nodes[at] if 0 <= at < len(nodes) else None


def same_template(one: Plain, other: Plain) -> bool:
    """Return whether two templates are equal but for the hash of a Deployment, empty lists and default values.

    The API server has added default values to those that controllers compare; a manifest leaves them out.
    Source: pkg/controller/deployment/util/deployment_util.go, EqualIgnoreHash; pkg/apis/core/v1/defaults.go (v1.36.2).
    """
    return _without_hash(one) == _without_hash(other)


def _without_hash(template: Plain) -> Plain:
    metadata = fields(template, "metadata")
    labels = fields(metadata, "labels")
    kept = {key: value for key, value in labels.items() if key != POD_TEMPLATE_HASH}
    rest = {key: value for key, value in metadata.items() if key not in ("labels", "creationTimestamp") and value}
    spec = _without(fields(template, "spec"), _POD_DEFAULTS)
    for field in ("initContainers", "containers"):
        if field in spec:
            spec[field] = [_without_container_defaults(item) for item in mappings(spec[field])]
    return {"metadata": {**rest, "labels": kept}, "spec": _without_empty(spec)}


def _without(plain: Plain, defaults: Plain) -> Plain:
    """Return fields without those that have their default value."""
    return {key: value for key, value in plain.items() if key not in defaults or value != defaults[key]}


_POD_DEFAULTS: Plain = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "securityContext": {},
}
_CONTAINER_DEFAULTS: Plain = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "resources": {},
}


def _without_container_defaults(container: Plain) -> Plain:
    image = str(container.get("image") or "").rpartition("/")[2]
    is_latest = "@" not in image and (":" not in image or image.endswith(":latest"))
    defaults = {**_CONTAINER_DEFAULTS, "imagePullPolicy": "Always" if is_latest else "IfNotPresent"}
    kept = _without(container, defaults)
    if "ports" in kept:
        kept["ports"] = [_without(port, {"protocol": "TCP"}) for port in mappings(kept["ports"])]
    return kept


def _without_empty(value: Any) -> Any:
    """Return a value without its empty lists and its empty node selector, which count as absent."""
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = ((key, item) for key, item in value.items() if item != [] and (key != "nodeSelector" or item))
    return {key: _without_empty(item) for key, item in kept}


def _with_ordinal(cls: PodClass, workload: Workload, ordinal: int) -> PodClass:
    """Return the class of another pod of a StatefulSet or an indexed Job."""
    labels = dict(cls.labels)
    before = labels.get(_ORDINAL_LABELS[0], "")
    name = f"{workload.name}-{ordinal}"
    found = {_ORDINAL_LABELS[0]: name, _ORDINAL_LABELS[1]: str(ordinal), JOB_INDEX: str(ordinal)}
    labels.update({key: value for key, value in found.items() if key in labels})
    made = {f"{template}-{before}": f"{template}-{name}" for template in workload.claim_templates}
    volumes = tuple(volume._replace(claim=made.get(volume.claim, volume.claim)) for volume in cls.volumes)
    return cls._replace(labels=tuple(sorted(labels.items())), volumes=volumes)
