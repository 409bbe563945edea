"""Messages about Pending pods as people paste them, as tables; the page `catalogue.md` shows them.

Other tables have the reasons of schedulers and of the cluster autoscaler for nodes, in every wording since 1.16. A
wording of some releases has their minor versions, which identify the release that wrote a message. The releases of
kube-scheduler's texts come from the table of behaviours, if it has a row for them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.objects.keys import Range
from kubectl_spread.objects.releases import behaviours
from kubectl_spread.objects.releases.behaviours import Behaviour
from kubectl_spread.objects.releases.version import LAST_MINOR


class Component(Enum):
    """The component that wrote a message."""

    SCHEDULER = "kube-scheduler"
    FARGATE = "fargate-scheduler"
    VOLCANO = "Volcano"
    CLUSTER_AUTOSCALER = "cluster-autoscaler"
    KARPENTER = "Karpenter"
    API_SERVER = "kube-apiserver"
    CONTROLLER = "kube-controller-manager"
    KOPS = "kops"
    KUBECTL = "kubectl"
    KUBELET = "kubelet"
    VOLUME_CONTROLLER = "persistentvolume-controller"
    PROVISIONER = "external-provisioner"
    KUEUE = "Kueue"
    HELM = "Helm"
    ARGO_CD = "Argo CD"
    VALIDATOR = "a schema validator"
    UNKNOWN = "unknown"


class Form(NamedTuple):
    """A sentence of a component; or a reason, which has no component and no shape.

    shape: a regular expression without regard to capitals, with the blanks as the page writes them.
    """

    name: str
    component: Component
    shape: str
    meaning: str
    commands: tuple[str, ...] = ()


def _items(section: str) -> dict[str, str]:
    return dict(re.findall(r"^- (.+?): (.*)$", section, re.MULTILINE))


def with_fragments(pattern: str, component: Component = Component.UNKNOWN) -> str:
    """Return a pattern with the fragments that it names, which may be of a component."""

    def fragment(at: re.Match[str]) -> str:
        found = FRAGMENTS.get(f"{at[1]} {component.value}") or FRAGMENTS[at[1]]
        return with_fragments(found, component)

    return re.sub(r"\(\?&(\w+)\)", fragment, pattern)


def _forms(section: str, component: Component) -> Iterator[Form]:
    for part in re.split(r"^### ", section, flags=re.MULTILINE)[1:]:
        name, *lines = part.splitlines()
        yield Form(
            name,
            component,
            with_fragments("".join(line.strip() for line in lines if line.startswith(_CODE)), component),
            " ".join(line for line in lines if line and not line.startswith((_CODE, "- "))),
            tuple(COMMANDS.get(line[2:], line[2:]) for line in lines if line.startswith("- ")),
        )


_CODE = "    "
with open(os.path.join(os.path.dirname(__file__), "catalogue.md"), encoding="utf-8") as _page:
    _parts = re.split(r"^## (.+)\n", _page.read(), flags=re.MULTILINE)
*_tables, _reasons, _wordings = _parts[2:22:2]
FRAGMENTS, COMMANDS, UNNAMED, NODE_POOLS, PROVISIONERS, VERDICTS, ROLES, OF_ONE = map(_items, _tables)
REASONS = {form.name: form for form in _forms(_reasons, Component.UNKNOWN)}
# Reason, whether it is of the pod, first and last minor version, text or begin, pattern; empty without one.
_ROWS = re.findall(r"^- (\w+)(, pod)?(?:, (\d*)\.\.(\d*))?: (.*)(?:\n  (.*))?$", _wordings, re.MULTILINE)
FORMS = tuple(
    form
    for components, section in zip(_parts[21::2], _parts[22::2], strict=True)
    for component in components.split(", ")
    for form in _forms(section, Component(component))
)


EVERY_MINOR = Range(16, LAST_MINOR)


def _since(row: Behaviour[bool]) -> int:
    """Return the minor version in which a behaviour begins."""
    return next(era.since.minor for era in row.eras if era.value)


class ReasonKind(Enum):
    """Subject of a reason; the value is the heading of its meaning in the catalogue."""

    SPREAD = "constraint"
    SPREAD_LABEL = "constraintLabelMissing"
    TAINT = "taint"
    NODE_AFFINITY = "nodeAffinity"
    ADDED_AFFINITY = "addedAffinity"
    AFFINITY_CONFLICT = "nodeAffinityConflict"
    NARROWED = "narrowed"
    NODE_NAME = "nodeName"
    NODE_LABELS = "nodeLabels"
    NODE_GONE = "nodeGone"
    UNSCHEDULABLE = "cordon"
    NODE_CONDITION = "nodeCondition"
    RESOURCES = "resource"
    TOO_MANY_PODS = "pods"
    PORTS = "port"
    SERVICE_AFFINITY = "serviceAffinity"
    POD_AFFINITY = "affinity"
    POD_ANTI_AFFINITY = "antiAffinity"
    EXISTING_ANTI_AFFINITY = "othersAntiAffinity"
    ANY_POD_AFFINITY = "affinityOrAntiAffinity"
    VOLUME_NODE_AFFINITY = "volumeNodeAffinity"
    VOLUME_UNAVAILABLE = "volumeUnavailable"
    VOLUME_SPACE = "volumeSpace"
    VOLUME_ZONE = "volumeZone"
    VOLUME_COUNT = "volumeLimit"
    VOLUME_IN_USE = "volumeInUse"
    VOLUME_ONE_POD = "claimInUse"
    VOLUME_NOT_FOUND = "volumeNotFound"
    VOLUME_DRIVER = "volumeDriver"
    CLAIM_UNBOUND = "claimUnbound"
    CLAIM_NOT_FOUND = "claimNotFound"
    CLAIM_LOST = "claimLost"
    CLAIM_DELETED = "claimDeleted"
    CLAIM_AWAITED = "claimAwaited"
    CLAIM_FOREIGN = "claimForeign"
    STORAGE_CLASS_NOT_FOUND = "storageClassNotFound"
    DEVICES = "devices"
    FEATURES = "feature"
    GATES = "schedulingGates"
    POD_GROUP = "podGroup"
    ELASTIC_QUOTA = "elasticQuota"
    CARD = "card"
    NO_VICTIMS = "noVictims"
    NOT_HELPFUL = "preemptionNotHelpful"
    GROUP_FULL = "nodeGroupFull"
    GROUP_BACKOFF = "nodeGroupBackoff"
    GROUP_NOT_READY = "nodeGroupNotReady"
    CLUSTER_LIMIT = "clusterLimit"
    GROUP_OTHER = "nodeGroupOther"
    CUT = "cut"
    UNKNOWN = "unknown"

    @property
    def form(self) -> Form:
        """Return the meaning, and the commands that show more."""
        return REASONS[self.value]


class Wording(NamedTuple):
    """A reason as some releases write it: from the minor version `since` to `until`, both included.

    is_of_pod: a reason of the pod as a whole, before any node is looked at.
    start: if it is set, `text` is a regular expression with the group `subject`, and this is how it begins.
    """

    text: str
    kind: ReasonKind
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
        ReasonKind.GROUP_FULL,
        ReasonKind.GROUP_BACKOFF,
        ReasonKind.GROUP_NOT_READY,
        ReasonKind.CLUSTER_LIMIT,
        ReasonKind.GROUP_OTHER,
    )
)  # reasons why a node group cannot grow, whatever the pod asks for

_PREEMPTION_SINCE = _since(behaviours.PREEMPTION_IN_MESSAGE)
_WRITTEN = [
    Wording(
        with_fragments(shape) or text,
        ReasonKind(reason),
        int(since or EVERY_MINOR.least),
        int(until or EVERY_MINOR.most),
        is_of_pod=bool(of_pod),
        start=text if shape else "",
    )
    for reason, of_pod, since, until, text, shape in _ROWS
]
WORDINGS = (
    *(wording for wording in _WRITTEN if not wording.start),
    Wording("node(s) didn't match pod topology spread constraints (missing required label)", ReasonKind.SPREAD_LABEL,
            since=_since(behaviours.SPREAD_LABEL_REASON)),
    Wording("pod affinity terms conflict", ReasonKind.AFFINITY_CONFLICT, since=_since(behaviours.NODE_AFFINITY_NARROWS),
            is_of_pod=True),
    Wording("No preemption victims found for incoming pod", ReasonKind.NO_VICTIMS, since=_PREEMPTION_SINCE),
    Wording("Preemption is not helpful for scheduling", ReasonKind.NOT_HELPFUL, since=_PREEMPTION_SINCE),
    *_of_row(behaviours.TAINT_REASON, ReasonKind.TAINT),
    *_of_row(behaviours.NODE_AFFINITY_REASON, ReasonKind.NODE_AFFINITY),
    *_of_row(behaviours.NODE_NAME_REASON, ReasonKind.NODE_NAME),
    *_of_row(behaviours.POD_AFFINITY_ANY, ReasonKind.ANY_POD_AFFINITY),
    *_of_row(behaviours.VOLUME_AFFINITY_REASON, ReasonKind.VOLUME_NODE_AFFINITY),
    *_of_row(behaviours.ONE_POD_REASON, ReasonKind.VOLUME_ONE_POD, since=22),
    *_of_row(behaviours.VOLUME_GONE_REASON, ReasonKind.VOLUME_NOT_FOUND, since=20),
)  # fmt: skip
_PATTERNS = tuple(wording for wording in _WRITTEN if wording.start)

OF_POD = frozenset(entry.kind for entry in (*WORDINGS, *_PATTERNS) if entry.is_of_pod)  # before any node is looked at

# Cut off before the words that distinguish a skew from a missing label.
SPREAD_CUT = (
    "{Those} passed every earlier check, but a topology spread constraint refused the pod. The text is cut off "
    "before the reason: either the pod would make the skew greater than maxSkew, or {they} {do} not have the "
    "topologyKey label (`missing required label`)."
)

_COMPILED = tuple(
    (entry, re.compile(entry.text.replace(", ?", r",\s*").replace(" ?", r"\s*").replace(" ", r"\s+"), re.IGNORECASE))
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


def kind_beginning(text: str) -> Optional[ReasonKind]:
    """Return the kind of a reason that is cut off: None if no wording begins like it, CUT if several do."""
    start = without_space(text)
    if not start:
        return ReasonKind.CUT
    begun = [
        pair for pair in _STARTS if pair[0].startswith(start) or (start.startswith(pair[0]) and pair[0][-1] in '{["')
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
