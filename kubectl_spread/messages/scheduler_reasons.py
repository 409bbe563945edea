"""Reasons of kube-scheduler and cluster-autoscaler for nodes: every wording of 1.16 to 1.36, with its kind.

Source: the ErrReason constants of pkg/scheduler/framework/plugins, before 1.18 those of
pkg/scheduler/algorithm/predicates/error.go, and cluster-autoscaler's core/scaleup. A wording of some releases
has their minor versions, which identify the release that wrote a message.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Optional

from kubectl_spread.messages.reason_kind import ReasonKind

FIRST_MINOR = 16
LAST_MINOR = 36


class Wording(NamedTuple):
    """A reason as some releases write it: from the minor version `since` to `until`, both included."""

    text: str
    kind: ReasonKind
    since: int = FIRST_MINOR
    until: int = LAST_MINOR
    is_of_pod: bool = False  # said of the pod as a whole, before any node is looked at


class ReasonMatch(NamedTuple):
    """A reason in a text: its end, and its subject (a resource, taints, a claim, plugins)."""

    kind: ReasonKind
    end: int
    subject: str = ""
    since: int = FIRST_MINOR
    until: int = LAST_MINOR
    is_of_pod: bool = False


_SPREAD = "node(s) didn't match pod topology spread constraints"
WORDINGS = (
    Wording(_SPREAD, ReasonKind.SPREAD),
    Wording(f"{_SPREAD} (missing required label)", ReasonKind.SPREAD_LABEL, since=19),
    Wording("node(s) had taints that the pod didn't tolerate", ReasonKind.TAINT, until=18),
    Wording("node(s) had untolerated taint(s)", ReasonKind.TAINT, since=34),
    Wording("node(s) didn't match node selector", ReasonKind.NODE_AFFINITY, until=19),
    Wording("node(s) didn't match Pod's node affinity", ReasonKind.NODE_AFFINITY, since=20, until=20),
    Wording("node(s) didn't match Pod's node affinity/selector", ReasonKind.NODE_AFFINITY, since=21),
    Wording("node(s) didn't match scheduler-enforced node affinity", ReasonKind.ADDED_AFFINITY, since=20),
    Wording("pod affinity terms conflict", ReasonKind.AFFINITY_CONFLICT, since=24, is_of_pod=True),
    Wording("node(s) didn't match the requested hostname", ReasonKind.NODE_NAME, until=20),
    Wording("node(s) didn't match the requested node name", ReasonKind.NODE_NAME, since=21),
    Wording("node is filtered out by the prefilter result", ReasonKind.NARROWED, since=27, until=30),
    Wording("node(s) didn't have the requested labels", ReasonKind.NODE_LABELS, until=22),
    Wording("node not found", ReasonKind.NODE_GONE),
    Wording("node(s) were unschedulable", ReasonKind.UNSCHEDULABLE),
    Wording("node(s) had unknown conditions", ReasonKind.NODE_CONDITION),
    Wording("node(s) were not ready", ReasonKind.NODE_CONDITION, until=17),
    Wording("node(s) were out of disk space", ReasonKind.NODE_CONDITION, until=17),
    Wording("node(s) had disk pressure", ReasonKind.NODE_CONDITION, until=17),
    Wording("node(s) had memory pressure", ReasonKind.NODE_CONDITION, until=17),
    Wording("node(s) had pid pressure", ReasonKind.NODE_CONDITION, until=17),
    Wording("node(s) had unavailable network", ReasonKind.NODE_CONDITION, until=17),
    Wording("Too many pods", ReasonKind.TOO_MANY_PODS),
    Wording("node(s) didn't have free ports for the requested pod ports", ReasonKind.PORTS),
    Wording("node(s) didn't match service affinity", ReasonKind.SERVICE_AFFINITY, until=22),
    Wording("node(s) didn't match pod affinity/anti-affinity", ReasonKind.ANY_POD_AFFINITY, until=20),
    Wording("node(s) didn't match pod affinity/anti-affinity rules", ReasonKind.ANY_POD_AFFINITY, since=21, until=21),
    Wording("node(s) didn't match pod affinity rules", ReasonKind.POD_AFFINITY),
    Wording("node(s) didn't match pod anti-affinity rules", ReasonKind.POD_ANTI_AFFINITY),
    Wording("node(s) didn't satisfy existing pods anti-affinity rules", ReasonKind.EXISTING_ANTI_AFFINITY),
    Wording("node(s) had volume node affinity conflict", ReasonKind.VOLUME_NODE_AFFINITY, until=32),
    Wording("node(s) didn't match PersistentVolume's node affinity", ReasonKind.VOLUME_NODE_AFFINITY, since=33),
    Wording("node(s) didn't find available persistent volumes to bind", ReasonKind.VOLUME_UNAVAILABLE),
    Wording("node(s) did not have enough free storage", ReasonKind.VOLUME_SPACE, since=19),
    Wording("node(s) had no available volume zone", ReasonKind.VOLUME_ZONE),
    Wording("node(s) exceed max volume count", ReasonKind.VOLUME_COUNT),
    Wording("node(s) had no available disk", ReasonKind.VOLUME_IN_USE),
    Wording("node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",
            ReasonKind.VOLUME_ONE_POD, since=22, until=33),
    Wording("node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by "
            "another pod", ReasonKind.VOLUME_ONE_POD, since=34),
    Wording("pvc(s) bound to non-existent pv(s)", ReasonKind.VOLUME_NOT_FOUND, since=20, until=22),
    Wording("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)", ReasonKind.VOLUME_NOT_FOUND,
            since=23),
    Wording("pod has unbound immediate PersistentVolumeClaims", ReasonKind.CLAIM_UNBOUND, is_of_pod=True),
    Wording("pod has unbound PersistentVolumeClaims", ReasonKind.CLAIM_UNBOUND, until=16, is_of_pod=True),
    Wording("PersistentVolumeClaim had no pv name and storageClass name", ReasonKind.CLAIM_UNBOUND, is_of_pod=True),
    Wording("node(s) didn't match Pod's required features", ReasonKind.FEATURES, since=35),
    Wording("resourceclaim in use", ReasonKind.DEVICES, since=26, is_of_pod=True),
    Wording("unallocated immediate resourceclaim", ReasonKind.DEVICES, since=26, until=30, is_of_pod=True),
    Wording("resourceclaim must be reallocated", ReasonKind.DEVICES, since=26, until=31, is_of_pod=True),
    Wording("resourceclaim not available on the node", ReasonKind.DEVICES, since=26),
    Wording("resourceclaim cannot be allocated for the node (unsuitable)", ReasonKind.DEVICES, since=26, until=31),
    Wording("excluded by resource class node filter", ReasonKind.DEVICES, since=26, until=30),
    Wording("waiting for resource driver to allocate resource", ReasonKind.DEVICES, since=26, until=29),
    Wording("waiting for resource driver to provide information", ReasonKind.DEVICES, since=26, until=31),
    Wording("waiting for resource driver", ReasonKind.DEVICES, since=26, until=31),
    Wording("cannot allocate all claims", ReasonKind.DEVICES, since=31),
    Wording("timed out trying to allocate devices", ReasonKind.DEVICES, since=34),
    Wording("cannot fit resource", ReasonKind.DEVICES, since=34),
    Wording("invalid resource pools were encountered", ReasonKind.DEVICES, since=34),
    Wording("No preemption victims found for incoming pod", ReasonKind.NO_VICTIMS, since=24),
    Wording("Preemption is not helpful for scheduling", ReasonKind.NOT_HELPFUL, since=24),
    Wording("max node group size reached", ReasonKind.GROUP_FULL),
    Wording("max limit reached", ReasonKind.GROUP_FULL),
    Wording("max total nodes in cluster reached", ReasonKind.CLUSTER_LIMIT),
    Wording("in backoff after failed scale-up", ReasonKind.GROUP_BACKOFF),
    Wording("not ready for scale-up", ReasonKind.GROUP_NOT_READY),
    Wording("not ready for scaleup", ReasonKind.GROUP_NOT_READY),
    Wording("at least one node can be vertically scaled", ReasonKind.GROUP_OTHER),
    Wording("all-or-nothing would exceed node group size", ReasonKind.GROUP_OTHER),
    Wording("node group can't be atomically scaled", ReasonKind.GROUP_OTHER),
)  # fmt: skip


class _Pattern(NamedTuple):
    """A reason with a subject. `start` distinguishes it from others if the text is cut off."""

    pattern: str
    kind: ReasonKind
    start: str
    since: int = FIRST_MINOR
    until: int = LAST_MINOR
    is_of_pod: bool = False


_NAME = r'"?(?P<subject>[^\s",]+?)"?'  # of an object, quoted or not
_END = r"(?=[\s,;]|\.*(?:\s|$))"
_PATTERNS = (
    _Pattern(r"insufficient (?P<subject>[a-z0-9][\w./-]*[\w]|\w)", ReasonKind.RESOURCES, "Insufficient "),
    _Pattern(
        r"node\(s\) had taints? (?P<subject>\{[^{}]*\}), ?that the pod didn't tolerate",
        ReasonKind.TAINT,
        "node(s) had taint {",
        since=18,
        until=23,
    ),
    _Pattern(
        r"node\(s\) had untolerated taints? (?P<subject>\{[^{}]*\})",
        ReasonKind.TAINT,
        "node(s) had untolerated taint {",
        since=24,
        until=34,
    ),
    _Pattern(
        r"node\(s\) didn't satisfy plugins?(?:\(s\))? (?P<subject>\[[^\[\]]*\](?: simultaneously)?|\w+)",
        ReasonKind.NARROWED,
        "node(s) didn't satisfy plugin",
        since=24,
    ),
    _Pattern(
        rf"persistentvolumeclaim {_NAME} not found",
        ReasonKind.CLAIM_NOT_FOUND,
        'persistentvolumeclaim "',
        is_of_pod=True,
    ),
    _Pattern(
        rf"persistentvolumeclaim {_NAME} bound to non-existent persistentvolume \"?[^\s\",]*\"?",
        ReasonKind.CLAIM_LOST,
        'persistentvolumeclaim "',
        since=23,
        is_of_pod=True,
    ),
    _Pattern(
        rf"persistentvolumeclaim {_NAME} is being deleted",
        ReasonKind.CLAIM_DELETED,
        'persistentvolumeclaim "',
        is_of_pod=True,
    ),
    _Pattern(
        rf"waiting for ephemeral volume controller to create the persistentvolumeclaim {_NAME}{_END}",
        ReasonKind.CLAIM_AWAITED,
        "waiting for ephemeral volume controller to create",
        since=23,
        is_of_pod=True,
    ),
    _Pattern(
        r"PVC (?P<subject>\S+) was not created for pod \S+ \(pod is not owner\)",
        ReasonKind.CLAIM_FOREIGN,
        "PVC ",
        since=23,
        is_of_pod=True,
    ),
    _Pattern(rf"persistentvolume {_NAME} not found", ReasonKind.VOLUME_NOT_FOUND, 'persistentvolume "', is_of_pod=True),
    _Pattern(
        rf"(?:storageclass\.storage\.k8s\.io|storageclass) {_NAME} not found",
        ReasonKind.STORAGE_CLASS_NOT_FOUND,
        'storageclass.storage.k8s.io "',
        is_of_pod=True,
    ),
    _Pattern(
        r"(?P<subject>\S+) CSI driver is not installed on the node", ReasonKind.VOLUME_DRIVER, "CSI driver", since=35
    ),
    _Pattern(rf"nodeinfo not found for node name {_NAME}{_END}", ReasonKind.NODE_GONE, "nodeinfo not found"),
    _Pattern(rf"node {_NAME} not found", ReasonKind.NODE_GONE, 'node "'),
    _Pattern(
        r"resource ?claim (?P<subject>\S+) is in the process of being allocated",
        ReasonKind.DEVICES,
        "resource claim ",
        since=31,
        is_of_pod=True,
    ),
    _Pattern(
        r"request (?P<subject>\S+): device class \S+ does not exist",
        ReasonKind.DEVICES,
        "request ",
        since=31,
        is_of_pod=True,
    ),
    _Pattern(
        r"device class (?P<subject>\S+) does not exist", ReasonKind.DEVICES, "device class ", since=31, is_of_pod=True
    ),
    _Pattern(
        rf"resourceclaim(?:\.resource\.k8s\.io)? {_NAME} not found",
        ReasonKind.DEVICES,
        'resourceclaim "',
        since=26,
        is_of_pod=True,
    ),
    _Pattern(
        r"pod \"?(?P<subject>[^\s\"]+)\"?: ResourceClaim not created yet",
        ReasonKind.DEVICES,
        "pod ",
        since=26,
        is_of_pod=True,
    ),
    _Pattern(r"node (?P<subject>\S+): timed out trying to allocate devices", ReasonKind.DEVICES, "node ", since=36),
    _Pattern(
        r"waiting for scheduling gates: (?P<subject>\[[^\[\]]*\])",
        ReasonKind.GATES,
        "waiting for scheduling gates",
        since=26,
        is_of_pod=True,
    ),
    _Pattern(
        r"waiting for minCount pods from a gang to appear in scheduling queue",
        ReasonKind.POD_GROUP,
        "waiting for minCount pods",
        since=35,
        is_of_pod=True,
    ),
    _Pattern(
        r"No victims found on node (?P<subject>\S+) for preemptor pod [^\s,.]+",
        ReasonKind.NO_VICTIMS,
        "No victims found on node ",
        since=21,
        until=23,
    ),
    _Pattern(
        r"max cluster (?P<subject>[\w./-]+(?:, ?[\w./-]+)*) limit reached", ReasonKind.CLUSTER_LIMIT, "max cluster "
    ),
)


_SPACE = re.compile(r" ")
_COMPILED = tuple(
    (entry, re.compile(_SPACE.sub(r"\\s+", entry.pattern.replace(", ?", r",\s*").replace(" ?", r"\s*")), re.IGNORECASE))
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
        end = _end_of(text, at, literal)
        if end and _BOUNDARY.match(text, end):
            best = ReasonMatch(entry.kind, end, "", entry.since, entry.until, entry.is_of_pod)
            break
    for entry_of, compiled in _COMPILED:
        found = compiled.match(text, at)
        if found and (best is None or found.end() > best.end) and _BOUNDARY.match(text, found.end()):
            subject = " ".join((found.groupdict().get("subject") or "").split())
            best = ReasonMatch(entry_of.kind, found.end(), subject, entry_of.since, entry_of.until, entry_of.is_of_pod)
    return best


def kind_beginning(text: str) -> Optional[ReasonKind]:
    """Return the kind of a reason that is cut off: None if no wording begins like it, CUT if several do."""
    start = without_space(text)
    if not start:
        return ReasonKind.CUT
    begun = [
        pair for pair in _STARTS if pair[0].startswith(start) or (start.startswith(pair[0]) and pair[0][-1] in '{"')
    ]
    if not begun:
        return None
    shortest, kind = min(begun, key=lambda pair: len(pair[0]))
    return kind if all(known.startswith(shortest) or of is kind for known, of in begun) else ReasonKind.CUT


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
