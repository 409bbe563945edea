"""What the parts of a message mean, in plain sentences with their numbers, and what to run next.

The order of the scheduler's checks stands behind several of them: a node is counted under the first that refuses it
(pkg/scheduler/apis/config/v1/default_plugins.go): cordon, node name, taints, node affinity, ports, resources, volumes,
spread constraints, pod affinity, devices, features.
"""

from __future__ import annotations

from typing import NamedTuple

from kubectl_spread.messages import other_components
from kubectl_spread.messages.parse import Message
from kubectl_spread.messages.parse import NO_CLAIMS
from kubectl_spread.messages.parse import parse_all
from kubectl_spread.messages.parse import Part
from kubectl_spread.messages.parse import Preemption
from kubectl_spread.messages.parse import STATE_NOT_FOUND
from kubectl_spread.messages.scheduler_reasons import ReasonKind
from kubectl_spread.messages.scheduler_reasons import squeezed
from kubectl_spread.objects import taints

_EXPLAIN = "kubectl spread explain pod NAME -n NAMESPACE"
_ZONES = "kubectl get nodes -L topology.kubernetes.io/zone"
_TAINTS = "kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints"
_LABELS = "kubectl get nodes --show-labels"
_NODES = "kubectl get nodes"
_REQUESTS = "kubectl describe nodes | grep -A 8 'Allocated resources'"
_PODS = "kubectl get pods -A -o wide"
_CLAIMS = "kubectl get pvc -n NAMESPACE"
_VOLUMES = "kubectl get pv -o custom-columns=NAME:.metadata.name,CLAIM:.spec.claimRef.name,AFFINITY:.spec.nodeAffinity"
_CLASSES = "kubectl get storageclass"
_DRIVERS = "kubectl get csinodes"
_DEVICES = "kubectl get resourceclaims -n NAMESPACE"
_AUTOSCALER = "kubectl get configmap cluster-autoscaler-status -n kube-system -o yaml"
_PRIORITY = "kubectl get pods -A --sort-by=.spec.priority -o custom-columns=NAME:.metadata.name,PRIORITY:.spec.priority"


class Meaning(NamedTuple):
    """What a kind of reason means; `{Those}`, `{them}` and so on stand for its nodes, `{subject}` for what it names."""

    text: str
    commands: tuple[str, ...] = ()


MEANINGS = {
    ReasonKind.SPREAD: Meaning(
        "{Those} passed every earlier check: taints, affinity, ports, resources and volumes. There was room on "
        "{them}, and "
        "a topology spread constraint refused: the pod there would make the skew greater than maxSkew. Domains that "
        "the "
        "pod cannot use may hold the minimum down.",
        (_EXPLAIN, _ZONES),
    ),
    ReasonKind.SPREAD_LABEL: Meaning(
        "{Those} passed every earlier check and {have} not the label that is the topologyKey of a DoNotSchedule "
        "constraint. Such a node never takes the pod.",
        (_EXPLAIN, _ZONES),
    ),
    ReasonKind.TAINT: Meaning(
        "{Those} {have} a taint with the effect NoSchedule or NoExecute that the pod does not tolerate{named}. Only "
        "the "
        "first such taint of a node counts.",
        (_TAINTS,),
    ),
    ReasonKind.NODE_AFFINITY: Meaning(
        "{Those} {have} not the labels that the pod's nodeSelector or required node affinity asks for.", (_LABELS,)
    ),
    ReasonKind.ADDED_AFFINITY: Meaning(
        "{Those} {do} not match the node affinity that the scheduler's configuration adds to every pod "
        "(addedAffinity).",
        (_LABELS,),
    ),
    ReasonKind.AFFINITY_CONFLICT: Meaning(
        "The pod's node affinity contradicts itself: it names nodes in terms that no node can meet together.",
        (_EXPLAIN,),
    ),
    ReasonKind.NARROWED: Meaning(
        "{Those} {were} left out before any other check, as {subject} had narrowed down which nodes to look at. With "
        "NodeAffinity the pod names its nodes, as a DaemonSet's pods do.",
        (_EXPLAIN,),
    ),
    ReasonKind.NODE_NAME: Meaning("{Those} {are} not the node that the pod's nodeName asks for.", (_NODES,)),
    ReasonKind.NODE_LABELS: Meaning(
        "{Those} {have} not the labels the scheduler's configuration asks for.", (_LABELS,)
    ),
    ReasonKind.NODE_GONE: Meaning("The node was deleted while the scheduler looked at it; it tries again.", (_NODES,)),
    ReasonKind.UNSCHEDULABLE: Meaning(
        "{Those} {are} cordoned (spec.unschedulable), by hand or to be drained.", (_NODES,)
    ),
    ReasonKind.NODE_CONDITION: Meaning("{Those} {were} not in a condition to take pods: {reason}.", (_NODES,)),
    ReasonKind.RESOURCES: Meaning(
        "{Those} {have} too little {subject} left for the pod's request. What pods request counts, not what they "
        "use. One "
        "node may be counted here for several resources.",
        (_REQUESTS, _EXPLAIN),
    ),
    ReasonKind.TOO_MANY_PODS: Meaning("{Those} {run} as many pods as {they} may (allocatable pods).", (_PODS,)),
    ReasonKind.PORTS: Meaning("On {those} another pod has a hostPort that this pod asks for.", (_PODS,)),
    ReasonKind.SERVICE_AFFINITY: Meaning("{Those} {do} not match the scheduler's service affinity.", (_LABELS,)),
    ReasonKind.POD_AFFINITY: Meaning(
        "{Those} {are} not in a domain with the pods that the pod's required podAffinity wants beside it.", (_EXPLAIN,)
    ),
    ReasonKind.POD_ANTI_AFFINITY: Meaning(
        "{Those} {are} in a domain with a pod that the pod's own required podAntiAffinity keeps away from.", (_EXPLAIN,)
    ),
    ReasonKind.EXISTING_ANTI_AFFINITY: Meaning(
        "{Those} {are} in a domain with a pod whose required podAntiAffinity keeps this pod away: the rule is in the "
        "other "
        "pod.",
        (_EXPLAIN,),
    ),
    ReasonKind.ANY_POD_AFFINITY: Meaning(
        "{Those} {do} not meet a rule of pod affinity or anti-affinity. Before 1.22 this stood beside the reason "
        "that says "
        "which, so that one node is counted twice.",
        (_EXPLAIN,),
    ),
    ReasonKind.VOLUME_NODE_AFFINITY: Meaning(
        "A volume the pod uses cannot be reached from {those}: most often it is in another zone, or on another node.",
        (_CLAIMS, _VOLUMES),
    ),
    ReasonKind.VOLUME_UNAVAILABLE: Meaning(
        "On {those} no PersistentVolume fits a claim of the pod, and its StorageClass makes none there.",
        (_CLAIMS, _CLASSES),
    ),
    ReasonKind.VOLUME_SPACE: Meaning(
        "The CSI driver has not enough room left for a claim of the pod where {those} {are}.",
        ("kubectl get csistoragecapacities -A", _CLAIMS),
    ),
    ReasonKind.VOLUME_ZONE: Meaning(
        "{Those} {are} in another zone or region than a volume of the pod.", (_CLAIMS, _ZONES)
    ),
    ReasonKind.VOLUME_COUNT: Meaning(
        "{Those} {have} as many volumes attached as the CSI driver allows.",
        ("kubectl get csinodes -o custom-columns=NAME:.metadata.name,LIMIT:.spec.drivers[*].allocatable.count",),
    ),
    ReasonKind.VOLUME_IN_USE: Meaning("On {those} another pod uses a disk of the pod that only one may use.", (_PODS,)),
    ReasonKind.VOLUME_ONE_POD: Meaning(
        "A claim of the pod is ReadWriteOncePod and another pod uses it.", (_CLAIMS, _PODS)
    ),
    ReasonKind.VOLUME_NOT_FOUND: Meaning(
        "A claim of the pod is bound to a PersistentVolume that does not exist{named}.", (_CLAIMS,)
    ),
    ReasonKind.VOLUME_DRIVER: Meaning("{Those} {have} not the CSI driver of a volume of the pod{named}.", (_DRIVERS,)),
    ReasonKind.CLAIM_UNBOUND: Meaning(
        "A PersistentVolumeClaim of the pod is not bound, and its StorageClass binds at once (or there is none), so "
        "that the "
        "scheduler has to wait for the volume. It has looked at no node.",
        (_CLAIMS, _CLASSES),
    ),
    ReasonKind.CLAIM_NOT_FOUND: Meaning(
        "There is no PersistentVolumeClaim {subject} in the pod's namespace.", (_CLAIMS,)
    ),
    ReasonKind.CLAIM_LOST: Meaning("The PersistentVolumeClaim {subject} has lost its volume.", (_CLAIMS,)),
    ReasonKind.CLAIM_DELETED: Meaning("The PersistentVolumeClaim {subject} is being deleted.", (_CLAIMS,)),
    ReasonKind.CLAIM_AWAITED: Meaning("The claim {subject} of an ephemeral volume has not been made yet.", (_CLAIMS,)),
    ReasonKind.CLAIM_FOREIGN: Meaning(
        "The claim {subject} has the name of the pod's ephemeral volume, and is not its own.", (_CLAIMS,)
    ),
    ReasonKind.STORAGE_CLASS_NOT_FOUND: Meaning("There is no StorageClass {subject}, named by a claim.", (_CLASSES,)),
    ReasonKind.DEVICES: Meaning(
        "The devices that the pod's resource claims ask for (dynamic resource allocation) are not to be had: {reason}.",
        (_DEVICES, "kubectl get resourceslices"),
    ),
    ReasonKind.FEATURES: Meaning(
        "{Those} {do} not declare a feature that the pod needs: most often the kubelet is older.",
        ("kubectl get nodes -o custom-columns=NAME:.metadata.name,FEATURES:.status.declaredFeatures",),
    ),
    ReasonKind.GATES: Meaning(
        "The pod waits for its scheduling gates {subject}: the scheduler does not look at it.", ()
    ),
    ReasonKind.POD_GROUP: Meaning("The pod waits until as many pods of its group exist as are placed together.", ()),
    ReasonKind.NO_VICTIMS: Meaning("No pod of lower priority runs on {those}: there is nobody to evict.", (_PRIORITY,)),
    ReasonKind.NOT_HELPFUL: Meaning(
        "On {those} evicting pods would change nothing: what refuses there does not depend on the pods that run."
    ),
    ReasonKind.GROUP_FULL: Meaning("{Groups} {are} at the maximum size.", (_AUTOSCALER,)),
    ReasonKind.GROUP_BACKOFF: Meaning(
        "{Groups} {were} asked for nodes that did not come (no capacity, no quota, no addresses), and the autoscaler "
        "waits "
        "before it asks again.",
        (_AUTOSCALER,),
    ),
    ReasonKind.GROUP_NOT_READY: Meaning(
        "{Groups} {have} nodes that are not ready, and are not made larger until they are.", (_AUTOSCALER,)
    ),
    ReasonKind.CLUSTER_LIMIT: Meaning(
        "For {groups} the autoscaler's limit for the whole cluster is reached{named}.", (_AUTOSCALER,)
    ),
    ReasonKind.GROUP_OTHER: Meaning("{Groups} cannot be made larger now: {reason}.", (_AUTOSCALER,)),
    ReasonKind.CUT: Meaning("The text is cut off here."),
    ReasonKind.UNKNOWN: Meaning(
        "Not a reason of kube-scheduler 1.16 to 1.36 that is known here: perhaps one of a plugin's own."
    ),
}

# Cut off before the words that tell a skew from a missing label.
_SPREAD_CUT = Meaning(
    "{Those} passed every earlier check, and a topology spread constraint refused. The text is cut off before it says "
    "why: either the pod there would make the skew greater than maxSkew, or {they} {do} not have the label that is the "
    "topologyKey (`missing required label`)."
)
_WELL_KNOWN = {
    **{key: state for key, state in taints.WELL_KNOWN.items() if not state.startswith("a ")},
    "node.kubernetes.io/unschedulable": "cordoned",
    "DeletionCandidateOfClusterAutoscaler": "about to be removed by the cluster autoscaler",
}
_ROLES = {
    "node-role.kubernetes.io/control-plane": "It marks control-plane nodes, which take no ordinary pods.",
    "node-role.kubernetes.io/master": "It marks control-plane nodes, which take no ordinary pods.",
    "eks.amazonaws.com/compute-type": "It marks nodes that EKS Fargate made for one pod each.",
    "virtual-kubelet.io/provider": "It marks virtual nodes, which stand for a service and not for a machine.",
}
_OF_POD = frozenset(
    (
        ReasonKind.CLAIM_UNBOUND,
        ReasonKind.CLAIM_NOT_FOUND,
        ReasonKind.CLAIM_LOST,
        ReasonKind.CLAIM_DELETED,
        ReasonKind.CLAIM_AWAITED,
        ReasonKind.CLAIM_FOREIGN,
        ReasonKind.STORAGE_CLASS_NOT_FOUND,
        ReasonKind.VOLUME_NOT_FOUND,
        ReasonKind.AFFINITY_CONFLICT,
        ReasonKind.DEVICES,
        ReasonKind.GATES,
        ReasonKind.POD_GROUP,
    )
)  # refusals of a pod as a whole, before any node is looked at

_ERA_OF_TAINTS = "The message does not name the taint (releases from 1.35 on, and late patches of 1.34, no longer do)."
_COUNTS = (
    "Each node is counted under the first check that refused it: what is mended there may bring to light the next. The "
    "counts are per reason, and a node that lacks several resources is counted for each of them."
)
_NESTED = {
    True: "With every pod of lower priority gone from that node, it would still refuse: {reason}.",
    False: "With every pod of lower priority gone from those {n} nodes, they would still refuse: {reason}.",
}
_VERDICTS = (
    ("preemptionpolicy", "The pod's preemptionPolicy is Never: it evicts nobody, and was not tried."),
    ("terminatingpod", "The pod has evicted others already, and waits until they are gone from its nominated node."),
    ("workloadaware", "Preemption is decided for the pod's whole group, not for this pod."),
    ("placement-based", "Preemption is decided for the pod's whole group, not for this pod."),
    ("nocandidate", "Extenders of the scheduler left no node on which evicting would help."),
    ("podgroup", "The PodGroup the pod names does not exist, so that preemption was not tried."),
)
_WORDS = {
    squeezed(NO_CLAIMS): "No allocated resource claim of the pod could be freed; this stands in every such message "
    "since 1.34.",
    squeezed(STATE_NOT_FOUND): "Preemption was not tried, as the pod was refused before any node was looked at; the "
    "words "
    "`not found` mean no more than that.",
    "stillnotschedulable": "Freeing the pod's own resource claims made no difference.",
    "deallocationofresourceclaimcompleted": "An allocated resource claim of the pod was freed; the scheduler tries "
    "again.",
}


def meaning(part: Part, *, of_groups: bool = False) -> str:
    """What a part says. `of_groups`: the autoscaler counts node groups, not nodes."""
    known = _SPREAD_CUT if part.kind is ReasonKind.SPREAD and part.is_cut else MEANINGS[part.kind]
    text = known.text.format_map(_words(part, of_groups=of_groups))
    if part.kind is ReasonKind.TAINT and not part.subject:
        text = f"{text} {_ERA_OF_TAINTS}" if "untolerated" in part.reason else text
    if part.kind is ReasonKind.TAINT:
        text += _of_taint(part)
    if part.may_go_on:
        words = _words(part, of_groups=of_groups)
        text += (
            " The text ends without a full stop: if it is cut off, `(missing required label)` may follow, and "
            f"{words['they']} {words['do']} not have the label that is the topologyKey."
        )
    if part.is_cut and part.kind is not ReasonKind.CUT and known is not _SPREAD_CUT:
        text += " The text is cut off here."
    return text


def _of_taint(part: Part) -> str:
    """What a well-known taint says of its nodes; empty for others."""
    key = part.subject.strip("{} ").partition(":")[0].strip()
    if key in _ROLES:
        return f" {_ROLES[key]}"
    state = _WELL_KNOWN.get(key)
    if state is None:
        return ""
    words = _words(part, of_groups=False)
    return f" The taint says that {words['those']} {words['are']} {state}."


def meaning_in_preemption(part: Part) -> str:
    """What a part of a preemption clause says: a filter's reason is what remained once pods were taken away."""
    if part.kind in (ReasonKind.NO_VICTIMS, ReasonKind.NOT_HELPFUL, ReasonKind.CUT):
        return meaning(part)
    return _NESTED[part.number == 1].format(n=part.number, reason=part.reason)


def meaning_of_preemption(clause: Preemption) -> str:
    """What a clause without a list says; empty where it has one."""
    said = squeezed(clause.verdict)
    for word, text in _VERDICTS:
        if word in said:
            return text
    return "The text is cut off before it says what preemption came to." if clause.is_cut and not clause.parts else ""


def meaning_of_words(words: str) -> str:
    """What the words before a preemption clause say."""
    return _WORDS.get(squeezed(words), "")


def meaning_of_text(text: str) -> str:
    """What a message says as a whole, in plain words; empty where it is not known. Of several the last counts."""
    told = parse_all(text)
    return meaning_of_whole(told[-1]) if told and told[-1].form != "unknown" else ""


def meaning_of_whole(message: Message) -> str:
    """What is to be said of a message as a whole; empty where its parts say all."""
    if message.form == "unknown":
        return "This is no message of the scheduler, an autoscaler or the API server that is known here."
    if message.form == "notScaled":
        return (
            "The autoscaler adds no node, as a node of none of its groups would take the pod. It counts node groups, "
            "not "
            "nodes, and asks the scheduler's own checks about an empty node of each."
        )
    if not message.is_of_nodes:
        return other_components.filled(_form(message).meaning, dict(message.details))
    if any(part.number is not None for part in message.parts):
        return _COUNTS
    if not message.parts:
        return ""
    if all(part.kind in _OF_POD for part in message.parts):
        return "The pod was refused as a whole, before any node was looked at."
    return "The text does not say how many nodes each reason is about."


def commands(message: Message) -> tuple[str, ...]:
    """What to run next, the most telling first; few."""
    if message.form not in ("nodes", "notScaled", "unknown"):
        return tuple(other_components.filled(text, dict(message.details)) for text in _form(message).commands)
    parts = sorted(message.parts, key=lambda part: part.kind not in (ReasonKind.SPREAD, ReasonKind.SPREAD_LABEL))
    found = [command for part in parts for command in MEANINGS[part.kind].commands]
    if message.is_of_nodes:
        found.insert(0, _EXPLAIN)
    if message.form == "notScaled" and not found:
        found.append(_AUTOSCALER)
    return tuple(dict.fromkeys(found))[:_MOST_COMMANDS]


_MOST_COMMANDS = 5


def _form(message: Message) -> other_components.Form:
    return next(
        form for form in other_components.FORMS if (form.name, form.component) == (message.form, message.component)
    )


def _words(part: Part, *, of_groups: bool) -> dict[str, str]:
    """What stands for the nodes of a part in a sentence about them."""
    one = part.number == 1
    noun = "node group" if of_groups else "node"
    number = "" if part.number is None else f" {part.number}"
    those = f"that {noun}" if one else f"those{number} {noun}s"
    groups = "one node group" if one else f"{part.number} node groups" if part.number is not None else "the node groups"
    return {
        "Those": those[0].upper() + those[1:],
        "those": those,
        "Groups": groups[0].upper() + groups[1:],
        "groups": groups,
        "them": "it" if one else "them",
        "they": "it" if one else "they",
        "have": "has" if one else "have",
        "are": "is" if one else "are",
        "were": "was" if one else "were",
        "do": "does" if one else "do",
        "run": "runs" if one else "run",
        "subject": part.subject,
        "named": f": {part.subject}" if part.subject else "",
        "reason": part.reason,
    }
