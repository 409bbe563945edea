"""The meaning of each kind of reason, and the commands to run next.

A node is counted under the first check that refuses it
(pkg/scheduler/apis/config/v1/default_plugins.go): cordon, node name, taints, node affinity, ports, resources, volumes,
spread constraints, pod affinity, devices, features.
"""

from __future__ import annotations

from typing import NamedTuple

from kubectl_spread.messages.reason_kind import ReasonKind

EXPLAIN = "kubectl spread explain pod NAME -n NAMESPACE"
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
AUTOSCALER = "kubectl get configmap cluster-autoscaler-status -n kube-system -o yaml"
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
        (EXPLAIN, _ZONES),
    ),
    ReasonKind.SPREAD_LABEL: Meaning(
        "{Those} passed every earlier check and {have} not the label that is the topologyKey of a DoNotSchedule "
        "constraint. Such a node never takes the pod.",
        (EXPLAIN, _ZONES),
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
        (EXPLAIN,),
    ),
    ReasonKind.NARROWED: Meaning(
        "{Those} {were} left out before any other check, as {subject} had narrowed down which nodes to look at. With "
        "NodeAffinity the pod names its nodes, as a DaemonSet's pods do.",
        (EXPLAIN,),
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
        (_REQUESTS, EXPLAIN),
    ),
    ReasonKind.TOO_MANY_PODS: Meaning("{Those} {run} as many pods as {they} may (allocatable pods).", (_PODS,)),
    ReasonKind.PORTS: Meaning("On {those} another pod has a hostPort that this pod asks for.", (_PODS,)),
    ReasonKind.SERVICE_AFFINITY: Meaning("{Those} {do} not match the scheduler's service affinity.", (_LABELS,)),
    ReasonKind.POD_AFFINITY: Meaning(
        "{Those} {are} not in a domain with the pods that the pod's required podAffinity wants beside it.", (EXPLAIN,)
    ),
    ReasonKind.POD_ANTI_AFFINITY: Meaning(
        "{Those} {are} in a domain with a pod that the pod's own required podAntiAffinity keeps away from.", (EXPLAIN,)
    ),
    ReasonKind.EXISTING_ANTI_AFFINITY: Meaning(
        "{Those} {are} in a domain with a pod whose required podAntiAffinity keeps this pod away: the rule is in the "
        "other "
        "pod.",
        (EXPLAIN,),
    ),
    ReasonKind.ANY_POD_AFFINITY: Meaning(
        "{Those} {do} not meet a rule of pod affinity or anti-affinity. Before 1.22 this stood beside the reason "
        "that says "
        "which, so that one node is counted twice.",
        (EXPLAIN,),
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
    ReasonKind.GROUP_FULL: Meaning("{Groups} {are} at the maximum size.", (AUTOSCALER,)),
    ReasonKind.GROUP_BACKOFF: Meaning(
        "{Groups} {were} asked for nodes that did not come (no capacity, no quota, no addresses), and the autoscaler "
        "waits "
        "before it asks again.",
        (AUTOSCALER,),
    ),
    ReasonKind.GROUP_NOT_READY: Meaning(
        "{Groups} {have} nodes that are not ready, and are not made larger until they are.", (AUTOSCALER,)
    ),
    ReasonKind.CLUSTER_LIMIT: Meaning(
        "For {groups} the autoscaler's limit for the whole cluster is reached{named}.", (AUTOSCALER,)
    ),
    ReasonKind.GROUP_OTHER: Meaning("{Groups} cannot be made larger now: {reason}.", (AUTOSCALER,)),
    ReasonKind.CUT: Meaning("The text is cut off here."),
    ReasonKind.UNKNOWN: Meaning(
        "Not a reason of kube-scheduler 1.16 to 1.36 that is known here: perhaps one of a plugin's own."
    ),
}

# Cut off before the words that tell a skew from a missing label.
SPREAD_CUT = Meaning(
    "{Those} passed every earlier check, and a topology spread constraint refused. The text is cut off before it says "
    "why: either the pod there would make the skew greater than maxSkew, or {they} {do} not have the label that is the "
    "topologyKey (`missing required label`)."
)
