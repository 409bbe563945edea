"""Reasons of schedulers and the cluster autoscaler for nodes: every wording since 1.16, and what each kind means.

Source: the ErrReason constants of pkg/scheduler/framework/plugins, before 1.18 those of
pkg/scheduler/algorithm/predicates/error.go, cluster-autoscaler's core/scaleup, and Volcano's pkg/scheduler/api. A
wording of some releases has their minor versions, which identify the release that wrote a message. The releases of
kube-scheduler's texts come from the table of behaviours, if it has a row for them.
"""
# ruff: noqa: ISC004 (a table with texts of several lines)

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.objects.keys import Range
from kubectl_spread.objects.releases import behaviours
from kubectl_spread.objects.releases.behaviours import Behaviour
from kubectl_spread.objects.releases.version import LAST_MINOR

EVERY_MINOR = Range(16, LAST_MINOR)


EXPLAIN = "kubectl spread explain pod NAME -n NAMESPACE"
WHOLE_MESSAGE = (
    """kubectl get pod NAME -n NAMESPACE -o jsonpath='{.status.conditions[?(@.type=="PodScheduled")].message}'"""
)
ZONES = "kubectl get nodes -L topology.kubernetes.io/zone"
_TAINTS = "kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints"
_LABELS = "kubectl get nodes --show-labels"
NODES = "kubectl get nodes"
REQUESTS = "kubectl describe nodes | grep -A 8 'Allocated resources'"
_PODS = "kubectl get pods -A -o wide"
CLAIMS = "kubectl get pvc -n NAMESPACE"
_VOLUMES = "kubectl get pv -o custom-columns=NAME:.metadata.name,CLAIM:.spec.claimRef.name,AFFINITY:.spec.nodeAffinity"
CLASSES = "kubectl get storageclass"
_DRIVERS = "kubectl get csinodes"
_DEVICES = "kubectl get resourceclaims -n NAMESPACE"
AUTOSCALER = "kubectl get configmap cluster-autoscaler-status -n kube-system -o yaml"
_PRIORITY = "kubectl get pods -A --sort-by=.spec.priority -o custom-columns=NAME:.metadata.name,PRIORITY:.spec.priority"


def _since(row: Behaviour[bool]) -> int:
    """Return the minor version in which a behaviour begins."""
    return next(era.since.minor for era in row.eras if era.value)


class ReasonKind(Enum):
    """Subject of a reason, what it means, and the commands that show more.

    In JSON, requirements of an Explanation of the same subject have the same `kind`. In a meaning, `{Those}`, `{them}`
    and so on are the nodes with the reason, and `{subject}` is its subject.
    """

    meaning: str
    commands: tuple[str, ...]

    def __new__(cls, value: str, meaning: str, *commands: str) -> ReasonKind:  # noqa: PYI034
        kind = object.__new__(cls)
        kind._value_ = value
        kind.meaning = meaning
        kind.commands = commands
        return kind

    # fmt: off
    SPREAD = ("constraint",
            "{Those} passed every earlier check: taints, node affinity, ports, resources and volumes. There was room "
            "on {them}, but a topology spread constraint refused the pod: it would make the skew greater than "
            "maxSkew. Domains that the pod cannot use may keep the minimum low.", EXPLAIN, ZONES)
    SPREAD_LABEL = ("constraintLabelMissing",
            "{Those} passed every earlier check but {do} not have the label that a DoNotSchedule constraint uses as "
            "topologyKey. Such a node never takes the pod.", EXPLAIN, ZONES)
    TAINT = ("taint",
            "{Those} {have} a taint with the effect NoSchedule or NoExecute that the pod does not tolerate{named}. "
            "The message counts only the first such taint of a node.", _TAINTS)
    NODE_AFFINITY = ("nodeAffinity",
            "{Those} {do} not have the labels that the pod's nodeSelector or required node affinity asks for.", _LABELS)
    ADDED_AFFINITY = ("addedAffinity",
            "{Those} {do} not match the node affinity that the scheduler's configuration adds to every pod "
            "(addedAffinity).", _LABELS)
    AFFINITY_CONFLICT = ("nodeAffinityConflict",
            "The pod's node affinity contradicts itself: it names nodes, but no node can meet all of its conditions.",
            EXPLAIN)
    NARROWED = ("narrowed",
            "{Those} {were} left out before any other check, because {subject} limits which nodes are considered. "
            "With NodeAffinity, the pod names its nodes, as the pods of a DaemonSet do.", EXPLAIN)
    NODE_NAME = ("nodeName", "{Those} {are} not the node that the pod's nodeName asks for.", NODES)
    NODE_LABELS = ("nodeLabels",
            "{Those} {do} not have the labels that the scheduler's configuration asks for.", _LABELS)
    NODE_GONE = ("nodeGone",
            "The node was deleted while the scheduler considered it; the scheduler tries again.", NODES)
    UNSCHEDULABLE = ("cordon", "{Those} {are} cordoned (spec.unschedulable), for example for a drain.", NODES)
    NODE_CONDITION = ("nodeCondition", "{Those} could not take pods: {reason}.", NODES)
    RESOURCES = ("resource",
            "{Those} {have} too little {resource} left for the pod's request. Requests count, not usage. A node can "
            "be counted for several resources.", REQUESTS, EXPLAIN)
    TOO_MANY_PODS = ("pods", "{Those} already {run} the maximum number of pods (allocatable pods).", _PODS)
    PORTS = ("port", "On {those} another pod uses a hostPort that this pod needs.", _PODS)
    SERVICE_AFFINITY = ("serviceAffinity", "{Those} {do} not match the scheduler's service affinity.", _LABELS)
    POD_AFFINITY = ("affinity",
            "{Those} {are} not in the same domain as the pods that the pod's required podAffinity asks for.", EXPLAIN)
    POD_ANTI_AFFINITY = ("antiAffinity",
            "{Those} {are} in the same domain as a pod that the pod's own required podAntiAffinity rejects.", EXPLAIN)
    EXISTING_ANTI_AFFINITY = ("othersAntiAffinity",
            "{Those} {are} in the same domain as a pod whose required podAntiAffinity rejects this pod: the rule is "
            "in the other pod.", EXPLAIN)
    ANY_POD_AFFINITY = ("affinityOrAntiAffinity",
            "{Those} {do} not meet a rule of pod affinity or anti-affinity. Before "
            f"1.{_since(behaviours.POD_AFFINITY_NAMES_ONE)}, the message also contained the specific reason, so a node "
            "is counted twice.", EXPLAIN)
    VOLUME_NODE_AFFINITY = ("volumeNodeAffinity",
            "A volume of the pod cannot be reached from {those}: usually it is in another zone or on another node.",
            CLAIMS, _VOLUMES)
    VOLUME_UNAVAILABLE = ("volumeUnavailable",
            "On {those} no PersistentVolume matches a claim of the pod, and its StorageClass cannot create one there.",
            CLAIMS, CLASSES)
    VOLUME_SPACE = ("volumeSpace",
            "The CSI driver does not have enough space for a claim of the pod where {those} {are}.",
            "kubectl get csistoragecapacities -A", CLAIMS)
    VOLUME_ZONE = ("volumeZone",
            "{Those} {are} in a different zone or region than a volume of the pod.", CLAIMS, ZONES)
    VOLUME_COUNT = ("volumeLimit",
            "{Those} {have} as many volumes attached as the CSI driver allows.",
            "kubectl get csinodes -o custom-columns=NAME:.metadata.name,LIMIT:.spec.drivers[*].allocatable.count")
    VOLUME_IN_USE = ("volumeInUse", "On {those} another pod uses a disk that only one pod can use.", _PODS)
    VOLUME_ONE_POD = ("claimInUse", "A claim of the pod is ReadWriteOncePod and another pod uses it.", CLAIMS, _PODS)
    VOLUME_NOT_FOUND = ("volumeNotFound",
            "A claim of the pod is bound to a PersistentVolume that does not exist{named}.", CLAIMS)
    VOLUME_DRIVER = ("volumeDriver", "{Those} {do} not have the CSI driver of a volume of the pod{named}.", _DRIVERS)
    CLAIM_UNBOUND = ("claimUnbound",
            "A PersistentVolumeClaim of the pod is not bound. Its StorageClass binds claims immediately (or there is "
            "no StorageClass), so the scheduler waits for the volume and has not considered any node.",
            CLAIMS, CLASSES)
    CLAIM_NOT_FOUND = ("claimNotFound", "There is no PersistentVolumeClaim {subject} in the pod's namespace.", CLAIMS)
    CLAIM_LOST = ("claimLost", "The PersistentVolumeClaim {subject} has lost its volume.", CLAIMS)
    CLAIM_DELETED = ("claimDeleted", "The PersistentVolumeClaim {subject} is being deleted.", CLAIMS)
    CLAIM_AWAITED = ("claimAwaited", "The claim {subject} of an ephemeral volume has not been created yet.", CLAIMS)
    CLAIM_FOREIGN = ("claimForeign",
            "The claim {subject} has the name of the pod's ephemeral volume but belongs to another owner.", CLAIMS)
    STORAGE_CLASS_NOT_FOUND = ("storageClassNotFound",
            "A claim uses the StorageClass {subject}, which does not exist.", CLASSES)
    DEVICES = ("devices",
            "The devices that the pod's resource claims ask for (dynamic resource allocation) are not available: "
            "{reason}.", _DEVICES, "kubectl get resourceslices")
    FEATURES = ("feature",
            "{Those} {do} not declare a feature that the pod needs: usually the kubelet is too old.",
            "kubectl get nodes -o custom-columns=NAME:.metadata.name,FEATURES:.status.declaredFeatures")
    GATES = ("schedulingGates",
            "The pod waits for its scheduling gates {subject}: the scheduler ignores it until they are removed.")
    POD_GROUP = ("podGroup", "The pod waits until enough pods of its group exist to be placed together.")
    NO_VICTIMS = ("noVictims", "No pod of lower priority runs on {those}, so there is no pod to evict.", _PRIORITY)
    NOT_HELPFUL = ("preemptionNotHelpful",
            "On {those} evicting pods would not help: the reason does not depend on running pods.")
    GROUP_FULL = ("nodeGroupFull", "{Groups} {are} at the maximum size.", AUTOSCALER)
    GROUP_BACKOFF = ("nodeGroupBackoff",
            "{Groups} could not add nodes (no capacity, quota or addresses), and the autoscaler waits before it "
            "tries again.", AUTOSCALER)
    GROUP_NOT_READY = ("nodeGroupNotReady",
            "{Groups} {have} nodes that are not ready, and the autoscaler adds none until they are.", AUTOSCALER)
    CLUSTER_LIMIT = ("clusterLimit",
            "{Groups} cannot grow because the autoscaler's limit for the whole cluster is reached{named}.", AUTOSCALER)
    GROUP_OTHER = ("nodeGroupOther", "{Groups} cannot grow now: {reason}.", AUTOSCALER)
    CUT = ("cut", "The text is cut off here.")
    UNKNOWN = ("unknown",
            f"Not a known reason of kube-scheduler 1.{EVERY_MINOR.least} to 1.{EVERY_MINOR.most}: perhaps the reason "
            "of a custom plugin.")
    # fmt: on


Kind = ReasonKind


class Wording(NamedTuple):
    """A reason as some releases write it: from the minor version `since` to `until`, both included.

    is_of_pod: a reason of the pod as a whole, before any node is looked at.
    start: if it is set, `text` is a regular expression with the group `subject`, and this is how it begins.
    """

    text: str
    kind: Kind
    since: int = EVERY_MINOR.least
    until: int = EVERY_MINOR.most
    is_of_pod: bool = False
    start: str = ""


def _of_row(row: Behaviour[str], kind: ReasonKind, *, since: int = EVERY_MINOR.least) -> Iterator[Wording]:
    """Yield the plain texts of a row with the releases that write them; the first text came in `since`."""
    for era in row.eras:
        if not era.value or "{" in era.value:
            continue
        first, last = row.minors(era.since)
        yield Wording(era.value, kind, since if era is row.eras[0] else first, last)


class ReasonMatch(NamedTuple):
    """A reason in a text: its wording, its end, and its subject (a resource, taints, a claim, plugins)."""

    wording: Wording
    end: int
    subject: str = ""


OF_AUTOSCALER = frozenset(
    (
        Kind.GROUP_FULL,
        Kind.GROUP_BACKOFF,
        Kind.GROUP_NOT_READY,
        Kind.CLUSTER_LIMIT,
        Kind.GROUP_OTHER,
    )
)  # reasons why a node group cannot grow, whatever the pod asks for

_SPREAD = "node(s) didn't match pod topology spread constraints"
_PREEMPTION_SINCE = _since(behaviours.PREEMPTION_IN_MESSAGE)
WORDINGS = (
    Wording(_SPREAD, Kind.SPREAD),
    Wording(f"{_SPREAD} (missing required label)", Kind.SPREAD_LABEL, since=_since(behaviours.SPREAD_LABEL_REASON)),
    Wording("node(s) had taints that the pod didn't tolerate", Kind.TAINT, until=18),
    *_of_row(behaviours.TAINT_REASON, Kind.TAINT),
    *_of_row(behaviours.NODE_AFFINITY_REASON, Kind.NODE_AFFINITY),
    Wording("node(s) didn't match scheduler-enforced node affinity", Kind.ADDED_AFFINITY, since=20),
    Wording("pod affinity terms conflict", Kind.AFFINITY_CONFLICT, since=_since(behaviours.NODE_AFFINITY_NARROWS),
            is_of_pod=True),
    *_of_row(behaviours.NODE_NAME_REASON, Kind.NODE_NAME),
    Wording("node is filtered out by the prefilter result", Kind.NARROWED, since=27, until=30),
    Wording("node(s) didn't have the requested labels", Kind.NODE_LABELS, until=22),
    Wording("node not found", Kind.NODE_GONE),
    Wording("node(s) were unschedulable", Kind.UNSCHEDULABLE),
    Wording("node(s) had unknown conditions", Kind.NODE_CONDITION),
    Wording("node(s) were not ready", Kind.NODE_CONDITION, until=17),
    Wording("node(s) were out of disk space", Kind.NODE_CONDITION, until=17),
    Wording("node(s) had disk pressure", Kind.NODE_CONDITION, until=17),
    Wording("node(s) had memory pressure", Kind.NODE_CONDITION, until=17),
    Wording("node(s) had pid pressure", Kind.NODE_CONDITION, until=17),
    Wording("node(s) had unavailable network", Kind.NODE_CONDITION, until=17),
    Wording("Too many pods", Kind.TOO_MANY_PODS),
    Wording("node(s) didn't have free ports for the requested pod ports", Kind.PORTS),
    Wording("node(s) didn't match service affinity", Kind.SERVICE_AFFINITY, until=22),
    *_of_row(behaviours.POD_AFFINITY_ANY, Kind.ANY_POD_AFFINITY),
    Wording("node(s) didn't match pod affinity rules", Kind.POD_AFFINITY),
    Wording("node(s) didn't match pod anti-affinity rules", Kind.POD_ANTI_AFFINITY),
    Wording("node(s) didn't satisfy existing pods anti-affinity rules", Kind.EXISTING_ANTI_AFFINITY),
    *_of_row(behaviours.VOLUME_AFFINITY_REASON, Kind.VOLUME_NODE_AFFINITY),
    Wording("node(s) didn't find available persistent volumes to bind", Kind.VOLUME_UNAVAILABLE),
    Wording("node(s) did not have enough free storage", Kind.VOLUME_SPACE, since=19),
    Wording("node(s) had no available volume zone", Kind.VOLUME_ZONE),
    Wording("node(s) exceed max volume count", Kind.VOLUME_COUNT),
    Wording("node(s) had no available disk", Kind.VOLUME_IN_USE),
    *_of_row(behaviours.ONE_POD_REASON, Kind.VOLUME_ONE_POD, since=22),
    *_of_row(behaviours.VOLUME_GONE_REASON, Kind.VOLUME_NOT_FOUND, since=20),
    Wording("pod has unbound immediate PersistentVolumeClaims", Kind.CLAIM_UNBOUND, is_of_pod=True),
    Wording("pod has unbound PersistentVolumeClaims", Kind.CLAIM_UNBOUND, until=16, is_of_pod=True),
    Wording("PersistentVolumeClaim had no pv name and storageClass name", Kind.CLAIM_UNBOUND, is_of_pod=True),
    Wording("node(s) didn't match Pod's required features", Kind.FEATURES, since=35),
    Wording("resourceclaim in use", Kind.DEVICES, since=26, is_of_pod=True),
    Wording("unallocated immediate resourceclaim", Kind.DEVICES, since=26, until=30, is_of_pod=True),
    Wording("resourceclaim must be reallocated", Kind.DEVICES, since=26, until=31, is_of_pod=True),
    Wording("resourceclaim not available on the node", Kind.DEVICES, since=26),
    Wording("resourceclaim cannot be allocated for the node (unsuitable)", Kind.DEVICES, since=26, until=31),
    Wording("excluded by resource class node filter", Kind.DEVICES, since=26, until=30),
    Wording("waiting for resource driver to allocate resource", Kind.DEVICES, since=26, until=29),
    Wording("waiting for resource driver to provide information", Kind.DEVICES, since=26, until=31),
    Wording("waiting for resource driver", Kind.DEVICES, since=26, until=31),
    Wording("cannot allocate all claims", Kind.DEVICES, since=31),
    Wording("timed out trying to allocate devices", Kind.DEVICES, since=34),
    Wording("cannot fit resource", Kind.DEVICES, since=34),
    Wording("invalid resource pools were encountered", Kind.DEVICES, since=34),
    Wording("No preemption victims found for incoming pod", Kind.NO_VICTIMS, since=_PREEMPTION_SINCE),
    Wording("Preemption is not helpful for scheduling", Kind.NOT_HELPFUL, since=_PREEMPTION_SINCE),
    Wording("max node group size reached", Kind.GROUP_FULL),
    Wording("max limit reached", Kind.GROUP_FULL),
    Wording("max total nodes in cluster reached", Kind.CLUSTER_LIMIT),
    Wording("in backoff after failed scale-up", Kind.GROUP_BACKOFF),
    Wording("not ready for scale-up", Kind.GROUP_NOT_READY),
    Wording("not ready for scaleup", Kind.GROUP_NOT_READY),
    Wording("at least one node can be vertically scaled", Kind.GROUP_OTHER),
    Wording("all-or-nothing would exceed node group size", Kind.GROUP_OTHER),
    Wording("node group can't be atomically scaled", Kind.GROUP_OTHER),
    Wording("node(s) resource fit failed", Kind.RESOURCES),  # of Volcano
    Wording("node(s) pod number exceeded", Kind.TOO_MANY_PODS),  # of Volcano
)  # fmt: skip

_NAME = r'"?(?P<subject>[^\s",]+?)"?'  # of an object, quoted or not
_END = r"(?=[\s,;]|\.*(?:\s|$))"
_PATTERNS = (
    Wording(r"insufficient (?P<subject>[a-z0-9][\w./-]*[\w]|\w)", Kind.RESOURCES, start="Insufficient "),
    Wording(r"node\(s\) had taints? (?P<subject>\{[^{}]*\}), ?that the pod didn't tolerate", Kind.TAINT,
            since=18, until=23, start="node(s) had taint {"),
    Wording(r"node\(s\) had untolerated taints? (?P<subject>\{[^{}]*\})", Kind.TAINT,
            since=24, until=34, start="node(s) had untolerated taint {"),
    Wording(r"node\(s\) didn't satisfy plugins?(?:\(s\))? (?P<subject>\[[^\[\]]*\](?: simultaneously)?|\w+)",
            Kind.NARROWED, since=24, start="node(s) didn't satisfy plugin(s) ["),
    Wording(rf"persistentvolumeclaim {_NAME} not found", Kind.CLAIM_NOT_FOUND,
            is_of_pod=True, start='persistentvolumeclaim "'),
    Wording(rf"persistentvolumeclaim {_NAME} bound to non-existent persistentvolume \"?[^\s\",]*\"?", Kind.CLAIM_LOST,
            since=23, is_of_pod=True, start='persistentvolumeclaim "'),
    Wording(rf"persistentvolumeclaim {_NAME} is being deleted", Kind.CLAIM_DELETED,
            is_of_pod=True, start='persistentvolumeclaim "'),
    Wording(rf"waiting for ephemeral volume controller to create the persistentvolumeclaim {_NAME}{_END}",
            Kind.CLAIM_AWAITED, since=23, is_of_pod=True, start="waiting for ephemeral volume controller to create"),
    Wording(r"PVC (?P<subject>\S+) was not created for pod \S+ \(pod is not owner\)", Kind.CLAIM_FOREIGN,
            since=23, is_of_pod=True, start="PVC "),
    Wording(rf"persistentvolume {_NAME} not found", Kind.VOLUME_NOT_FOUND,
            is_of_pod=True, start='persistentvolume "'),
    Wording(rf"(?:storageclass\.storage\.k8s\.io|storageclass) {_NAME} not found", Kind.STORAGE_CLASS_NOT_FOUND,
            is_of_pod=True, start='storageclass.storage.k8s.io "'),
    Wording(r"(?P<subject>\S+) CSI driver is not installed on the node", Kind.VOLUME_DRIVER,
            since=35, start="CSI driver"),
    Wording(rf"nodeinfo not found for node name {_NAME}{_END}", Kind.NODE_GONE, start="nodeinfo not found"),
    Wording(rf"node {_NAME} not found", Kind.NODE_GONE, start='node "'),
    Wording(r"resource ?claim (?P<subject>\S+) is in the process of being allocated", Kind.DEVICES,
            since=31, is_of_pod=True, start="resource claim "),
    Wording(r"request (?P<subject>\S+): device class \S+ does not exist", Kind.DEVICES,
            since=31, is_of_pod=True, start="request "),
    Wording(r"device class (?P<subject>\S+) does not exist", Kind.DEVICES,
            since=31, is_of_pod=True, start="device class "),
    Wording(rf"resourceclaim(?:\.resource\.k8s\.io)? {_NAME} not found", Kind.DEVICES,
            since=26, is_of_pod=True, start='resourceclaim "'),
    Wording(r"pod \"?(?P<subject>[^\s\"]+)\"?: ResourceClaim not created yet", Kind.DEVICES,
            since=26, is_of_pod=True, start="pod "),
    Wording(r"node (?P<subject>\S+): timed out trying to allocate devices", Kind.DEVICES,
            since=36, start="node "),
    Wording(r"waiting for scheduling gates: (?P<subject>\[[^\[\]]*\])", Kind.GATES,
            since=26, is_of_pod=True, start="waiting for scheduling gates"),
    Wording(r"waiting for minCount pods from a gang to (?:appear in scheduling queue|be scheduled)", Kind.POD_GROUP,
            since=35, is_of_pod=True, start="waiting for minCount pods"),
    Wording(r"No victims found on node (?P<subject>\S+) for preemptor pod [^\s,.]+", Kind.NO_VICTIMS,
            since=21, until=23, start="No victims found on node "),
    Wording(r"max cluster (?P<subject>[\w./-]+(?:, ?[\w./-]+)*) limit reached", Kind.CLUSTER_LIMIT,
            start="max cluster "),
)  # fmt: skip

OF_POD = frozenset(entry.kind for entry in (*WORDINGS, *_PATTERNS) if entry.is_of_pod)  # before any node is looked at

# Cut off before the words that distinguish a skew from a missing label.
SPREAD_CUT = (
    "{Those} passed every earlier check, but a topology spread constraint refused the pod. The text is cut off "
    "before the reason: either the pod would make the skew greater than maxSkew, or {they} {do} not have the "
    "topologyKey label (`missing required label`)."
)

_SPACE = re.compile(r" ")
_COMPILED = tuple(
    (entry, re.compile(_SPACE.sub(r"\\s+", entry.text.replace(", ?", r",\s*").replace(" ?", r"\s*")), re.IGNORECASE))
    for entry in _PATTERNS
)


def without_space(text: str) -> str:
    """Return a text for comparison: without white space (terminals break words) and in lower case."""
    return "".join(text.split()).casefold()


_LITERALS = tuple(sorted(((without_space(entry.text), entry) for entry in WORDINGS), key=lambda pair: -len(pair[0])))
_STARTS = (
    *((start, entry.kind) for start, entry in _LITERALS),
    *((without_space(entry.start), entry.kind) for entry in _PATTERNS),
)
_BOUNDARY = re.compile(r"$|[\s,.;:\"'`)\]}…<|]")


def match(text: str, at: int) -> Optional[ReasonMatch]:
    """Return the reason at a place of a text; the longest wording if several match."""
    best: Optional[ReasonMatch] = None
    for literal, entry in _LITERALS:
        end = _end_of(text, at, literal) or _end_of(text, at, literal.removeprefix("node(s)"))
        if end and _BOUNDARY.match(text, end):
            best = ReasonMatch(entry, end)
            break
    for entry, compiled in _COMPILED:
        found = compiled.match(text, at)
        if found and (best is None or found.end() > best.end) and _BOUNDARY.match(text, found.end()):
            best = ReasonMatch(entry, found.end(), " ".join((found.groupdict().get("subject") or "").split()))
    return best


def kind_beginning(text: str) -> Optional[Kind]:
    """Return the kind of a reason that is cut off: None if no wording begins like it, CUT if several do."""
    start = without_space(text)
    if not start:
        return Kind.CUT
    begun = [
        pair for pair in _STARTS if pair[0].startswith(start) or (start.startswith(pair[0]) and pair[0][-1] in '{["')
    ]
    if not begun:
        return None
    shortest, kind = min(begun, key=lambda pair: len(pair[0]))
    return kind if all(known.startswith(shortest) or of is kind for known, of in begun) else Kind.CUT


def begins_longer_wording(text: str) -> bool:
    """Return whether a longer wording begins with this text."""
    start = without_space(text)
    return any(known.startswith(start) and known != start for known, _ in _STARTS)


def _end_of(text: str, at: int, literal: str) -> int:
    """Return the end of a squeezed wording in a text, ignoring white space; 0 if the text has none."""
    for char in literal:
        while at < len(text) and text[at].isspace():
            at += 1
        if at >= len(text) or text[at].casefold() != char:
            return 0
        at += 1
    return at
