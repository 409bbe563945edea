"""The meaning of each kind of reason, and the commands to run next.

A node is counted under the first check that refuses it (pkg/scheduler/apis/config/v1/default_plugins.go): cordon, node
name, taints, node affinity, ports, resources, volumes, spread constraints, pod affinity, devices, features.
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
    """The meaning of a kind of reason; `{Those}`, `{them}` and so on mean its nodes, `{subject}` its subject."""

    text: str
    commands: tuple[str, ...] = ()


MEANINGS = {
    ReasonKind.SPREAD: Meaning(
        "{Those} passed every earlier check: taints, affinity, ports, resources and volumes. There was room on "
        "{them}, but a topology spread constraint refused the pod: it would make the skew greater than maxSkew. "
        "Domains that the pod cannot use may keep the minimum low.",
        (EXPLAIN, _ZONES),
    ),
    ReasonKind.SPREAD_LABEL: Meaning(
        "{Those} passed every earlier check but {do} not have the label that a DoNotSchedule constraint uses as "
        "topologyKey. Such a node never takes the pod.",
        (EXPLAIN, _ZONES),
    ),
    ReasonKind.TAINT: Meaning(
        "{Those} {have} a taint with the effect NoSchedule or NoExecute that the pod does not tolerate{named}. The "
        "message counts only the first such taint of a node.",
        (_TAINTS,),
    ),
    ReasonKind.NODE_AFFINITY: Meaning(
        "{Those} {do} not have the labels that the pod's nodeSelector or required node affinity asks for.", (_LABELS,)
    ),
    ReasonKind.ADDED_AFFINITY: Meaning(
        "{Those} {do} not match the node affinity that the scheduler's configuration adds to every pod "
        "(addedAffinity).",
        (_LABELS,),
    ),
    ReasonKind.AFFINITY_CONFLICT: Meaning(
        "The pod's node affinity contradicts itself: it names nodes, but no node can meet all of its conditions.",
        (EXPLAIN,),
    ),
    ReasonKind.NARROWED: Meaning(
        "{Those} {were} left out before any other check, because {subject} limits which nodes are considered. With "
        "NodeAffinity, the pod names its nodes, as the pods of a DaemonSet do.",
        (EXPLAIN,),
    ),
    ReasonKind.NODE_NAME: Meaning("{Those} {are} not the node that the pod's nodeName asks for.", (_NODES,)),
    ReasonKind.NODE_LABELS: Meaning(
        "{Those} {do} not have the labels that the scheduler's configuration asks for.", (_LABELS,)
    ),
    ReasonKind.NODE_GONE: Meaning(
        "The node was deleted while the scheduler considered it; the scheduler tries again.", (_NODES,)
    ),
    ReasonKind.UNSCHEDULABLE: Meaning(
        "{Those} {are} cordoned (spec.unschedulable), for example for a drain.", (_NODES,)
    ),
    ReasonKind.NODE_CONDITION: Meaning("{Those} could not take pods: {reason}.", (_NODES,)),
    ReasonKind.RESOURCES: Meaning(
        "{Those} {have} too little {subject} left for the pod's request. Requests count, not usage. A node can be "
        "counted for several resources.",
        (_REQUESTS, EXPLAIN),
    ),
    ReasonKind.TOO_MANY_PODS: Meaning("{Those} already {run} the maximum number of pods (allocatable pods).", (_PODS,)),
    ReasonKind.PORTS: Meaning("On {those} another pod uses a hostPort that this pod needs.", (_PODS,)),
    ReasonKind.SERVICE_AFFINITY: Meaning("{Those} {do} not match the scheduler's service affinity.", (_LABELS,)),
    ReasonKind.POD_AFFINITY: Meaning(
        "{Those} {are} not in the same domain as the pods that the pod's required podAffinity asks for.", (EXPLAIN,)
    ),
    ReasonKind.POD_ANTI_AFFINITY: Meaning(
        "{Those} {are} in the same domain as a pod that the pod's own required podAntiAffinity rejects.", (EXPLAIN,)
    ),
    ReasonKind.EXISTING_ANTI_AFFINITY: Meaning(
        "{Those} {are} in the same domain as a pod whose required podAntiAffinity rejects this pod: the rule is in "
        "the other pod.",
        (EXPLAIN,),
    ),
    ReasonKind.ANY_POD_AFFINITY: Meaning(
        "{Those} {do} not meet a rule of pod affinity or anti-affinity. Before 1.22, the message also contained the "
        "specific reason, so a node is counted twice.",
        (EXPLAIN,),
    ),
    ReasonKind.VOLUME_NODE_AFFINITY: Meaning(
        "A volume of the pod cannot be reached from {those}: usually it is in another zone or on another node.",
        (_CLAIMS, _VOLUMES),
    ),
    ReasonKind.VOLUME_UNAVAILABLE: Meaning(
        "On {those} no PersistentVolume matches a claim of the pod, and its StorageClass cannot create one there.",
        (_CLAIMS, _CLASSES),
    ),
    ReasonKind.VOLUME_SPACE: Meaning(
        "The CSI driver does not have enough space for a claim of the pod where {those} {are}.",
        ("kubectl get csistoragecapacities -A", _CLAIMS),
    ),
    ReasonKind.VOLUME_ZONE: Meaning(
        "{Those} {are} in a different zone or region than a volume of the pod.", (_CLAIMS, _ZONES)
    ),
    ReasonKind.VOLUME_COUNT: Meaning(
        "{Those} {have} as many volumes attached as the CSI driver allows.",
        ("kubectl get csinodes -o custom-columns=NAME:.metadata.name,LIMIT:.spec.drivers[*].allocatable.count",),
    ),
    ReasonKind.VOLUME_IN_USE: Meaning("On {those} another pod uses a disk that only one pod can use.", (_PODS,)),
    ReasonKind.VOLUME_ONE_POD: Meaning(
        "A claim of the pod is ReadWriteOncePod and another pod uses it.", (_CLAIMS, _PODS)
    ),
    ReasonKind.VOLUME_NOT_FOUND: Meaning(
        "A claim of the pod is bound to a PersistentVolume that does not exist{named}.", (_CLAIMS,)
    ),
    ReasonKind.VOLUME_DRIVER: Meaning(
        "{Those} {do} not have the CSI driver of a volume of the pod{named}.", (_DRIVERS,)
    ),
    ReasonKind.CLAIM_UNBOUND: Meaning(
        "A PersistentVolumeClaim of the pod is not bound. Its StorageClass binds claims immediately (or there is no "
        "StorageClass), so the scheduler waits for the volume and has not considered any node.",
        (_CLAIMS, _CLASSES),
    ),
    ReasonKind.CLAIM_NOT_FOUND: Meaning(
        "There is no PersistentVolumeClaim {subject} in the pod's namespace.", (_CLAIMS,)
    ),
    ReasonKind.CLAIM_LOST: Meaning("The PersistentVolumeClaim {subject} has lost its volume.", (_CLAIMS,)),
    ReasonKind.CLAIM_DELETED: Meaning("The PersistentVolumeClaim {subject} is being deleted.", (_CLAIMS,)),
    ReasonKind.CLAIM_AWAITED: Meaning(
        "The claim {subject} of an ephemeral volume has not been created yet.", (_CLAIMS,)
    ),
    ReasonKind.CLAIM_FOREIGN: Meaning(
        "The claim {subject} has the name of the pod's ephemeral volume but belongs to another owner.", (_CLAIMS,)
    ),
    ReasonKind.STORAGE_CLASS_NOT_FOUND: Meaning(
        "A claim uses the StorageClass {subject}, which does not exist.", (_CLASSES,)
    ),
    ReasonKind.DEVICES: Meaning(
        "The devices that the pod's resource claims ask for (dynamic resource allocation) are not available: {reason}.",
        (_DEVICES, "kubectl get resourceslices"),
    ),
    ReasonKind.FEATURES: Meaning(
        "{Those} {do} not declare a feature that the pod needs: usually the kubelet is too old.",
        ("kubectl get nodes -o custom-columns=NAME:.metadata.name,FEATURES:.status.declaredFeatures",),
    ),
    ReasonKind.GATES: Meaning(
        "The pod waits for its scheduling gates {subject}: the scheduler ignores it until they are removed.", ()
    ),
    ReasonKind.POD_GROUP: Meaning("The pod waits until enough pods of its group exist to be placed together.", ()),
    ReasonKind.NO_VICTIMS: Meaning(
        "No pod of lower priority runs on {those}, so there is no pod to evict.", (_PRIORITY,)
    ),
    ReasonKind.NOT_HELPFUL: Meaning(
        "On {those} evicting pods would not help: the reason does not depend on running pods."
    ),
    ReasonKind.GROUP_FULL: Meaning("{Groups} {are} at the maximum size.", (AUTOSCALER,)),
    ReasonKind.GROUP_BACKOFF: Meaning(
        "{Groups} could not add nodes (no capacity, quota or addresses), and the autoscaler waits before it tries "
        "again.",
        (AUTOSCALER,),
    ),
    ReasonKind.GROUP_NOT_READY: Meaning(
        "{Groups} {have} nodes that are not ready, and the autoscaler adds none until they are.", (AUTOSCALER,)
    ),
    ReasonKind.CLUSTER_LIMIT: Meaning(
        "{Groups} cannot grow because the autoscaler's limit for the whole cluster is reached{named}.", (AUTOSCALER,)
    ),
    ReasonKind.GROUP_OTHER: Meaning("{Groups} cannot grow now: {reason}.", (AUTOSCALER,)),
    ReasonKind.CUT: Meaning("The text is cut off here."),
    ReasonKind.UNKNOWN: Meaning(
        "Not a known reason of kube-scheduler 1.16 to 1.36: perhaps the reason of a custom plugin."
    ),
}

# Cut off before the words that distinguish a skew from a missing label.
SPREAD_CUT = Meaning(
    "{Those} passed every earlier check, but a topology spread constraint refused the pod. The text is cut off "
    "before the reason: either the pod would make the skew greater than maxSkew, or {they} {do} not have the "
    "topologyKey label (`missing required label`)."
)
