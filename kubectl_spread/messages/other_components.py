"""Messages about placing pods that are no lists of nodes: of the scheduler, autoscalers, API server, Helm, Argo CD.

A form is a sentence's shape, what it names, what it means, and what to run next. In `meaning` and `commands`,
`{name}` stands for what the shape's group of that name holds.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple


class Component(Enum):
    """Who wrote a message."""

    SCHEDULER = "kube-scheduler"
    CLUSTER_AUTOSCALER = "cluster-autoscaler"
    KARPENTER = "Karpenter"
    API_SERVER = "kube-apiserver"
    CONTROLLER = "kube-controller-manager"
    KOPS = "kops"
    KUBECTL = "kubectl"
    KUBELET = "kubelet"
    VOLUME_CONTROLLER = "persistentvolume-controller"
    HELM = "Helm"
    ARGO_CD = "Argo CD"
    VALIDATOR = "a schema validator"
    UNKNOWN = "unknown"


class Form(NamedTuple):
    """The shape of a sentence; `shape` is a regular expression without regard to capitals."""

    name: str
    component: Component
    shape: str
    meaning: str
    commands: tuple[str, ...] = ()


class Found(NamedTuple):
    """A sentence that was recognised, from `start` to `end` of a text."""

    form: Form
    start: int
    end: int
    details: dict[str, str]


_EXPLAIN = "kubectl spread explain pod NAME -n NAMESPACE"
_CHECK = "kubectl spread check FILE"
_ZONES = "kubectl get nodes -L topology.kubernetes.io/zone"
_POD = "kubectl describe pod NAME -n NAMESPACE"
_BUDGETS = "kubectl get poddisruptionbudgets -n NAMESPACE"
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_POOLS = "kubectl get nodepools -o wide"
_NODE_CLAIMS = "kubectl get nodeclaims -o wide"
_KARPENTER_LOG = "kubectl logs -n kube-system -l app.kubernetes.io/name=karpenter --tail=100"
_CLAIMS = "kubectl get pvc -n NAMESPACE"
_PODS_OF_NODE = "kubectl get pods -A -o wide --field-selector spec.nodeName=NODE"
_CLAIM = "kubectl describe pvc {claim} -n NAMESPACE"
_OBJECT = r"\b(?P<object>[A-Za-z][\w.-]{0,120} \"[^\"\n]{0,253}\")"  # `Deployment.apps "web"`
_CLAUSE = r"[^\n;]*"  # to the end of the line, or of what is said of one node pool
_PATH = r"(?<![\w.\[\]])(?P<path>[\w.\[\]]{0,200}topologySpreadConstraints(?:\.\{[^}\n]{0,100}\}|[\w.\[\]])*)"

FORMS = (
    Form("noNodes", Component.SCHEDULER, r"(?:cannot schedule pods: *)?no nodes available to schedule pods",
         "The scheduler knows of no node at all: either there is none, or none has registered with the API server.",
         ("kubectl get nodes",)),
    Form("gated", Component.API_SERVER, r"scheduling is blocked due to non-empty scheduling gates",
         "The pod has schedulingGates: the scheduler does not look at it, and writes no event, until whatever set the "
         "gates removes them.",
         ("kubectl get pod NAME -n NAMESPACE -o jsonpath='{{.spec.schedulingGates}}'",)),
    Form("skipDeleting", Component.SCHEDULER, r"skip schedule deleting pod:? *(?P<pod>\S+)?",
         "The pod is being deleted, so the scheduler does not place it any more."),
    Form("assigned", Component.SCHEDULER, r"successfully assigned (?P<pod>\S+) to (?P<node>\S+)",
         "The pod found a node, {node}; if it does not run, its kubelet says why.", (_POD,)),
    Form("preempted", Component.SCHEDULER,
         r"preempted by (?:a pod|(?P<pod>(?:pod )?\S+)) on node (?P<node>[^\s.]\S*?)(?=\.?(?:\s|\Z|[\"'`]))",
         "The scheduler evicted this pod from node {node} to make room for a pod of higher priority.",
         ("kubectl get pods -A --sort-by=.spec.priority --field-selector spec.nodeName={node}",)),
    Form("permit", Component.SCHEDULER, r'pod "?(?P<pod>[^\s"]+)"? rejected while waiting on permit:?[^\n]*',
         "A node was found, and a plugin that has the last word (gang scheduling, a quota) refused or waited too "
         "long."),
    Form("volumeBinding", Component.SCHEDULER,
         r"(?:error: *)?(?:running PreBind plugin \"?VolumeBinding\"?: *)?binding volumes: *"
         r"(?P<why>provisioning failed for PVC \"?(?P<claim>[^\s\"]+)\"?"
         r"|selectedNode annotation (?:reset|value [^\n]{0,200}?) for PVC \"?(?P<claim2>[^\s\"]+)\"?"
         r"|[^\n]{0,200}?(?:PVC|claim|persistentvolumeclaim)s? \"?(?P<claim3>[^\s\",:;.()]+)\"?[^\n]*)",
         "A node was chosen, and the volume of claim {claim} was not ready for it in time ({why}). The scheduler tries "
         "again; until the volume is there, the pod waits.",
         (_CLAIM, "kubectl get events -n NAMESPACE --field-selector involvedObject.name={claim}",
          "kubectl get storageclass")),
    Form("volumeElsewhere", Component.SCHEDULER,
         r"(?:error: *)?(?:running PreBind plugin \"?VolumeBinding\"?: *)?binding volumes: *"
         r"pv \"?(?P<volume>[^\s\"]+)\"? node affinity doesn't match node \"?(?P<node>[^\s\":]+)\"?[^\n]*",
         "Node {node} was chosen, and volume {volume} cannot be reached from it: the claim was bound to a volume of "
         "another node or zone in the meantime. The scheduler tries again.",
         ("kubectl describe pv {volume}", _CLAIMS, "kubectl get storageclass")),
    Form("volumeBindingUnnamed", Component.SCHEDULER,
         r"(?:error: *)?(?:running PreBind plugin \"?VolumeBinding\"?: *)?binding volumes: *(?P<why>[^\n]*)",
         "A node was chosen, and a volume of the pod was not ready for it in time ({why}). The message does not name "
         "the claim: it is one of the pod's claims that are Pending. The scheduler tries again; until the volume is "
         "there, the pod waits.",
         (_CLAIMS, "kubectl describe pvc -n NAMESPACE", "kubectl get storageclass")),
    Form("claimUnbound", Component.SCHEDULER,
         r"(?:error *:? *)?(?:while )?running \"?VolumeBinding\"? filter plugin for pod \"?(?P<pod>[^\s\"]+)\"?: *"
         r"pod has unbound immediate PersistentVolumeClaims",
         "A PersistentVolumeClaim of pod {pod} is not bound, and its StorageClass binds it before a node is chosen. "
         "The scheduler looks at no node until the claim has its volume.", (_CLAIMS, "kubectl get storageclass")),
    Form("claimMissing", Component.SCHEDULER,
         r"(?:error *:? *)?(?:while )?running \"?VolumeBinding\"? filter plugin for pod \"?(?P<pod>[^\s\"]+)\"?: *"
         r"(?:could not find v1\.)?persistentvolumeclaim \"?(?P<claim>[^\s\"]+)\"?(?: not found)?",
         "There is no PersistentVolumeClaim {claim}, which pod {pod} uses.", (_CLAIMS,)),
    Form("pluginError", Component.SCHEDULER,
         r'(?:error: *)?running (?P<plugin>"?\w+"? filter plugin|\w+ plugin "?\w+"?)[^\n]*',
         "A plugin of the scheduler failed, which says nothing of the nodes: the scheduler tries again.", (_POD,)),
    Form("binding", Component.SCHEDULER, r"(?:binding rejected|failed to assume)[^\n]*",
         "A node was chosen, and then the pod or its volumes could not be bound to it.",
         ("kubectl get pvc -n NAMESPACE",)),
    Form("scaledUp", Component.CLUSTER_AUTOSCALER, r"pod triggered scale-up:?(?P<groups> *\[[^\[\]\n]*\])?",
         "The autoscaler is adding a node for this pod; wait until it is ready.", ("kubectl get nodes",)),
    Form("scaleUpFailed", Component.CLUSTER_AUTOSCALER,
         r"node scale up in (?:zones? )?(?P<zones>[^\s:;][^\n:;]{0,100}?) associated with this pod failed: *"
         r"(?P<why>(?:[^\n.]|\.(?! pod is at risk|\s|\Z))*)(?:\. pod is at risk of not being scheduled)?\.?",
         "The autoscaler asked the cloud for a node in {zones} and did not get it ({why}); until it does, the pod "
         "waits.",
         ("kubectl get configmap cluster-autoscaler-status -n kube-system -o yaml", "kubectl get nodes")),
    Form("noPlace", Component.CLUSTER_AUTOSCALER,
         r"failed to find place for (?P<pod>\S+):(?: cannot put pod \S+ on any node)?(?P<why>[^\n]*)",
         "The autoscaler would remove a node, and the pods on it, {pod} for one, would fit on no other: the node "
         "stays. "
         "A spread constraint counts as much here as room does.", (_EXPLAIN,)),
    Form("upcoming", Component.CLUSTER_AUTOSCALER,
         r"pod (?P<pod>\S+) marked as unschedulable can be scheduled on (?:node )?(?P<node>\S+?)\. ignoring in scale "
         r"up",
         "The autoscaler believes the pod will fit on {node}, which is on its way or there already, and adds no other. "
         "If the pod stays Pending, the scheduler sees something the autoscaler does not.", (_EXPLAIN,)),
    Form("autoscalerBudget", Component.CLUSTER_AUTOSCALER,
         r"not enough pod disruption budget to move (?P<pod><[^>\s]+>|\S+)",
         "The node of {pod} cannot be emptied: its PodDisruptionBudget allows no eviction now.", (_BUDGETS,)),
    Form("notRemovable", Component.CLUSTER_AUTOSCALER,
         r"(?:node )?(?<!\S)(?P<node>\S{1,253}) is not suitable for removal(?:: *| - )(?P<why>[^\n]*)",
         "The autoscaler keeps node {node}: {why}.", (_EXPLAIN,)),
    Form("predicate", Component.CLUSTER_AUTOSCALER,
         r"(?:predicate checking error: *[^\n;]{0,200}; *)?predicateName=(?P<plugin>\w+); *reasons: *(?P<why>[^\n;]*)"
         r"; *debugInfo=[^\n]*",
         "A new node of that group would be refused by the scheduler's plugin {plugin}: {why}.", (_EXPLAIN,)),
    Form("noExpansion", Component.CLUSTER_AUTOSCALER, r"no expansion opti+ons",
         "No node group could be made larger to take the pods that wait.",
         ("kubectl get configmap cluster-autoscaler-status -n kube-system -o yaml",)),
    Form("autoscalerLimit", Component.CLUSTER_AUTOSCALER,
         r"max cluster (?P<resources>[\w./-]+(?:, ?[\w./-]+)*) limit reached",
         "The autoscaler's limit for the whole cluster is reached: {resources}.",
         ("kubectl get configmap cluster-autoscaler-status -n kube-system -o yaml",)),
    Form("karpenterTopology", Component.KARPENTER,
         r"unsatisfiable topology constraint for (?P<what>key [^\s,;]{1,200}|[\w -]{1,60}?)"
         r"(?:, *key=(?P<key>[^\s,;(]{1,200}))?(?: *\((?P<counts>counts *=[^\n;]{0,4000}))?(?= *(?:;|\n|\)|\Z))",
         "No domain of {key} is left in which Karpenter may put the pod without breaking its {what}. It counts all "
         "domains it knows of, those of node pools the pod cannot use among them.",
         (_EXPLAIN, _ZONES, _POOLS)),
    Form("karpenterCounts", Component.KARPENTER,
         r"\(?(?P<counts>counts *= *[^\s,;=:()]{0,200} *:[^\n;]{0,4000}|counts *= *,[^\n;]{0,4000})",
         "Karpenter's count of matching pods in each domain, the domains the pod may use, and those the node pool "
         "has.",
         (_EXPLAIN, _ZONES, _POOLS)),
    Form("karpenterPool", Component.KARPENTER,
         r"incompatible with (?P<what>nodepool|provisioner) (?P<pool>\"[^\"\n]{0,253}\"|[^\s,\"]{1,253})"
         r"(?:, *daemonset overhead=(?P<overhead>\{[^{}\n]{0,2000}\}|[^\s,]{1,200}))?,? *(?=[^,\s]|\Z)",
         "Karpenter cannot make a node of {pool} for the pod; what follows says why.",
         (_POOLS, "kubectl describe nodepool {pool}", _KARPENTER_LOG)),
    Form("karpenterRequirements", Component.KARPENTER,
         r"incompatible requirements, *(?P<why>(?:label \"[^\"\n]{0,200}\"[^\n;]*"
         r"|[^\n;]{0,200}?key (?P<key>[^\s,;]{1,200})[^\n;]*))",
         "What the pod asks of its node, by node selector, affinity or an earlier choice of a domain, is nothing the "
         "node pool may have: {why}.",
         (_POOLS, "kubectl get nodes --show-labels", _EXPLAIN)),
    Form("karpenterTypes", Component.KARPENTER,
         r"nodepool requirements filtered out all (?:compatible )?(?:available )?instance types"
         r"(?: due to (?P<why>minValues incompatibility))?",
         "No instance type is left that the NodePool's requirements allow and the cloud has on offer: Karpenter "
         "makes no node of it. The requirements exclude each other, or capacity of the types is used up for now.",
         (_POOLS, "kubectl get events -A --field-selector reason=NoCompatibleInstanceTypes", _KARPENTER_LOG)),
    Form("karpenterInstance", Component.KARPENTER,
         rf"no instance type (?:satisfied|has enough|met|which){_CLAUSE}",
         "No instance type of the node pool has room for the pod and the DaemonSets and meets what both ask for.",
         (_POOLS, _POD, _EXPLAIN)),
    Form("karpenterTaint", Component.KARPENTER,
         r"did not tolerate (?:taint *\(?taint=)?(?P<taint>[^\s;,)]{1,200})\)?",
         "The node pool's nodes have the taint {taint}, which the pod does not tolerate.",
         (_POOLS, "kubectl get nodepools -o custom-columns=NAME:.metadata.name,TAINTS:.spec.template.spec.taints")),
    Form("karpenterLimit", Component.KARPENTER,
         rf"all available instance types exceed limits for {_CLAUSE}",
         "The node pool's limits are used up: it may make no further node.",
         ("kubectl get nodepools -o custom-columns=NAME:.metadata.name,LIMITS:.spec.limits,USED:.status.resources",)),
    Form("karpenterNoPool", Component.KARPENTER, r"no (?:nodepools?|provisioners?) found",
         "Karpenter has no node pool to make nodes of.", ("kubectl get nodepools",)),
    Form("karpenterNominated", Component.KARPENTER, r"pod should schedule on:? *(?P<node>[^\n]*)",
         "Karpenter expects the pod to fit on {node}. If it stays Pending, the scheduler refuses what Karpenter "
         "counts on.",
         (_EXPLAIN, _NODE_CLAIMS)),
    Form("karpenterDisruption", Component.KARPENTER,
         r"(?:cannot disrupt (?P<what>node|nodeclaim)|unconsolidatable)\b:? *(?P<why>[^\n]*)",
         "Karpenter would remove a node and may not: {why}.", (_BUDGETS, _NODE_CLAIMS)),
    Form("karpenterCapacity", Component.KARPENTER,
         r"(?:(?:launching nodeclaim|creating instance)[^\n]{0,200}?: *)?(?P<why>insufficient capacity[^\n]*"
         r"|all requested instance types were unavailable during launch[^\n]*|InsufficientInstanceCapacity[^\n]*)",
         "The cloud has no capacity for the instance types that Karpenter asked for ({why}). It tries others, and "
         "these again later.",
         (_NODE_CLAIMS, _POOLS, _KARPENTER_LOG)),
    Form("karpenterFailed", Component.KARPENTER,
         r"failed to schedule pod,(?! *(?:incompatible|no |did not|unsatisfiable|all available|nodepool)) *"
         r"(?P<why>[^\n]*)",
         "Karpenter makes no node for the pod: {why}.", (_POOLS, _KARPENTER_LOG, _EXPLAIN)),
    Form("waitingForConsumer", Component.VOLUME_CONTROLLER,
         r"waiting for first consumer to be created before binding",
         "The claim's StorageClass binds it once a pod that uses it has a node (WaitForFirstConsumer). That is no "
         "error of the claim: the pod is what to look at, and if there is none yet, nothing is wrong.",
         (_EXPLAIN, _CLAIMS)),
    Form("waitingForPod", Component.VOLUME_CONTROLLER, r"waiting for pod (?P<pod>\S+) to be scheduled",
         "The claim is bound once pod {pod} has a node: look at why the pod is Pending.",
         ("kubectl spread explain pod {pod} -n NAMESPACE",)),
    Form("waitingForProvisioner", Component.VOLUME_CONTROLLER,
         r"waiting for a volume to be created,? either by (?:the )?external provisioner \"?'?(?P<provisioner>[^\s\"']+)"
         r"[^\n]*",
         "The claim waits for {provisioner} to make its volume. If that takes long, the provisioner does not run, or "
         "fails: its log and the claim's events say so.",
         (_CLAIMS, "kubectl get csidrivers", "kubectl get pods -A -o wide")),
    Form("provisioningFailed", Component.VOLUME_CONTROLLER,
         r"failed to provision volume with storageclass \"?(?P<class>[^\s\"]+?)\"?: *(?P<why>[^\n]*)",
         "The provisioner of StorageClass {class} did not make the volume: {why}.",
         (_CLAIMS, "kubectl describe storageclass {class}")),
    Form("noStorageClass", Component.VOLUME_CONTROLLER,
         r"no persistent volumes available for this claim and no storage class is set",
         "The claim names no StorageClass, there is no default one, and no PersistentVolume suits it.",
         (_CLAIMS, "kubectl get storageclass", "kubectl get pv")),
    Form("outOfResource", Component.KUBELET,
         r"(?:pod was rejected: *)?node didn't have enough resource: *(?P<resource>[^\s,]{1,200}), *requested: *"
         r"(?P<requested>\d{1,20}), *used: *(?P<used>\d{1,20}), *capacity: *(?P<capacity>\d{1,20})",
         "The kubelet refused the pod, which was bound to its node: {resource} has capacity {capacity}, of which "
         "{used} are used, and the pod requests {requested}. Another pod was faster, or something set nodeName "
         "and passed the scheduler by. Its controller makes another pod.",
         (_POD, "kubectl describe nodes | grep -A 8 'Allocated resources'")),
    Form("rejectedByNode", Component.KUBELET,
         r"(?:pod was rejected: *)?predicate (?P<plugin>\w{1,60}) failed(?: on this node)?(?:: *(?P<why>[^\n]*))?",
         "The kubelet refused the pod, which was bound to its node: the node does not meet {plugin} any more, as when "
         "its labels changed after the pod was scheduled. Its controller makes another pod.",
         (_POD, "kubectl get nodes --show-labels")),
    Form("evictedByNode", Component.KUBELET, r"the node was low on resource: *(?P<resource>[\w-]{1,60})[^\n]*",
         "The kubelet evicted the pod, as its node ran short of {resource}. Its controller makes another pod; the node "
         "keeps a pressure taint until it has recovered.",
         ("kubectl describe nodes | grep -A 8 Conditions", _POD)),
    Form("criticalPod", Component.KUBELET, r"preempted in order to admit critical pod",
         "The kubelet evicted this pod to make room for a system-critical pod that is bound to the same node.",
         (_POD, "kubectl get pods -A --sort-by=.spec.priority")),
    Form("topologyAffinity", Component.KUBELET, r"resources cannot be allocated with topology locality",
         "The kubelet refused the pod: its Topology Manager finds no aligned set of CPUs and devices on the node. The "
         "scheduler does not look at that.", (_POD,)),
    Form("multiAttach", Component.CONTROLLER,
         r"multi-attach error for volume \"(?P<volume>[^\"\n]{1,253})\"(?P<why>[^\n]*)",
         "Volume {volume} is still attached to another node, and can be attached to one only. The pod starts once it "
         "is detached there: the pod that used it must end, or its node must be gone.",
         ("kubectl get volumeattachments", "kubectl get pods -A -o wide")),
    Form("attachFailed", Component.CONTROLLER,
         r"attachvolume\.attach failed for volume \"(?P<volume>[^\"\n]{1,253})\" *: *(?P<why>[^\n]*)",
         "The pod has a node, and volume {volume} could not be attached to it: {why}.",
         ("kubectl get volumeattachments", _POD)),
    Form("mountFailed", Component.KUBELET,
         r"unable to attach or mount volumes: *unmounted volumes=\[(?P<volumes>[^\[\]\n]{0,500})\][^\n]*",
         "The pod has a node, and its volumes {volumes} are not mounted there yet. That is nothing the scheduler can "
         "change.", (_POD, "kubectl get volumeattachments", _CLAIMS)),
    Form("progressDeadline", Component.CONTROLLER,
         r"(?:deployment|replicaset) \"(?P<owner>[^\"\n]{1,253})\" (?:has timed out progressing|exceeded its progress "
         r"deadline)\.?",
         "The rollout of {owner} made no progress within progressDeadlineSeconds: most often its new pods are Pending "
         "or not Ready.",
         ("kubectl get pods -n NAMESPACE", "kubectl spread explain deploy/NAME -n NAMESPACE")),
    Form("rolloutWaits", Component.KUBECTL,
         r"waiting for (?:deployment|daemon set|statefulset|partitioned roll out|\d{1,9} pods)[^\n]{0,200}?"
         r"(?:to finish|to be ready)(?:: *(?P<why>[^\n]*))?",
         "kubectl rollout status waits ({why}). If the number does not change, look at the new pods: they are Pending "
         "or not Ready.",
         ("kubectl get pods -n NAMESPACE", "kubectl spread explain deploy/NAME -n NAMESPACE")),
    Form("drainRefused", Component.KUBECTL,
         r"cannot delete (?P<what>daemonset-managed pods|pods with local storage|pods (?:not managed|that declare no "
         r"controller)[^\n(]{0,200}) *\((?P<why>use [^\n()]{1,200})\)[^\n]*",
         "kubectl drain evicts nothing until it is told what becomes of these pods: {what} ({why}).",
         (_PODS_OF_NODE,)),
    Form("taintEviction", Component.CONTROLLER, r"marking for deletion pod (?P<pod>\S{1,507})",
         "The node of {pod} has a NoExecute taint that the pod does not tolerate any longer, so the pod is deleted: "
         "the node is most often down.",
         ("kubectl get nodes", "kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints")),
    Form("eviction", Component.API_SERVER,
         r"cannot evict pod as it would violate the pod's disruption budget\.?"
         r"(?: *the disruption budget (?P<budget>\S+) (?P<why>needs[^\n]*?)\.?(?=\s*$|\n|\"))?",
         "The pod's PodDisruptionBudget allows no eviction now (status 429): kubectl drain tries again until it does. "
         "Where the budget is met only once another pod runs, and that pod is Pending, it never does.", (_BUDGETS,)),
    Form("statefulsetCreate", Component.CONTROLLER,
         r"create pod (?P<pod>\S+) in statefulset (?P<owner>\S+) failed error:(?= )",
         "The StatefulSet {owner} was accepted and its pod {pod} was not; what follows says why. Pods are checked "
         "only when "
         "they are created.", ("kubectl describe statefulset {owner} -n NAMESPACE",)),
    Form("podSecurity", Component.CONTROLLER,
         r"(?:error creating: *)?pods \"(?P<pod>[^\"\n]{0,253})\" is forbidden: *(?P<why>violates PodSecurity[^\n]*)",
         "The namespace's Pod Security level does not allow the pod: {why}.",
         ("kubectl get namespace NAMESPACE --show-labels", _CHECK)),
    Form("quota", Component.CONTROLLER,
         r"(?:error creating: *)?pods \"(?P<pod>[^\"\n]{0,253})\" is forbidden: *(?P<why>[^\n]*)",
         "The controller may not create the pod: {why}.", ("kubectl describe resourcequota -n NAMESPACE",)),
    Form("webhook", Component.API_SERVER,
         r"(?:internal error occurred: *)?failed calling webhook \"(?P<webhook>[^\"\n]{0,253})\"(?P<why>[^\n]*)",
         "The API server asks webhook {webhook} about each such object, and got no answer{why}: the object is not "
         "created until the webhook answers, or its failurePolicy is Ignore.",
         ("kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations",)),
    Form("create", Component.CONTROLLER, r"error creating:(?= )",
         "The workload was accepted and its pod was not; what follows says why. Pods are checked only when they are "
         "created.",
         ("kubectl get events -n NAMESPACE --field-selector reason=FailedCreate",)),
    Form("matchLabelKeys", Component.API_SERVER,
         rf"(?:(?:The )?{_OBJECT} is invalid: *)?(?:\[ *)?{_PATH}: *invalid value: *"
         rf"(?P<value>{_QUOTED}): *exists in both matchLabelKeys and labelSelector",
         "The label {value} is in matchLabelKeys and in labelSelector of one constraint; it may be in one of them "
         "only. A "
         "workload's template is not checked for it, so that the workload stands and its pods are refused.", (_CHECK,)),
    Form("validation", Component.API_SERVER,
         rf"(?:(?:The )?{_OBJECT} is invalid: *)?(?:\[ *)?{_PATH}: *"
         rf"(?P<error>invalid value|required value|unsupported value|duplicate value|forbidden|too many|not found)"
         rf"(?P<why>(?:{_QUOTED}|[^\n\"])*)",
         "The API server refuses {object}: {path} is not as it must be ({error}{why}).", (_CHECK,)),
    Form("invalidObject", Component.API_SERVER, rf"(?:The )?{_OBJECT} is invalid: *(?P<why>[^\n]*)",
         "The API server refuses {object}: {why}.", (_CHECK,)),
    Form("decoding", Component.API_SERVER,
         r"(?:error from server \(badrequest\): *)?(?:error when (?:creating|replacing|applying)[^\n:]{0,200}: *)?"
         r"(?P<object>\b\w{1,60}) in version (?P<version>\"[^\"\n]{0,99}\"|[^\s\"]{1,99}) cannot be handled as an? "
         r"\w+: *(?:json: cannot unmarshal (?P<given>\w+) into go struct field (?P<field>\S+) of type (?P<type>\S+)"
         r"|strict decoding error: *(?P<why>[^\n]*))",
         "The API server cannot read the object, as the text has another type, or a field, than it knows there."
         , (_CHECK,)),
    Form("nullSelector", Component.API_SERVER,
         r"(?:299 - *)?\"?(?<![\w.\[\]])(?P<path>[\w.\[\]]{0,200}topologySpreadConstraints\[\d+\]\.labelSelector): "
         r"*a null labelSelector results in matching no pod\"?",
         "The constraint has no labelSelector: it counts no pod, so that it holds nothing apart.", (_CHECK,)),
    Form("unknownField", Component.API_SERVER, r"(?:warning: *)?unknown field (?P<field>\"[^\"]*\")(?! in io\.)",
         "The API server knows no field {field} there and drops it; the constraint does not do what it says.",
         (_CHECK,)),
    Form("kubectlField", Component.KUBECTL,
         r"(?:error: *)?error validating (?P<file>\"[^\"\n]{1,200}\"|STDIN): *(?:error validating data: *)?"
         r"(?:ValidationError\((?P<path>[^)\n]{0,200})\): *)?(?P<why>[^\n]*?)"
         r"(?:; if you choose to ignore these errors[^\n]*|(?=\n|\Z))",
         "kubectl checked {file} against the cluster's schema before sending it, and refused it: {why}.",
         (_CHECK, "kubectl apply --dry-run=server -f FILE")),
    Form("kubectlYaml", Component.KUBECTL,
         r"error parsing (?P<file>\S{1,200}?): *error converting YAML to JSON: *yaml: *(?:line (?P<line>\d{1,9}): *)?"
         r"(?P<why>[^\n]*)",
         "kubectl cannot read {file} as YAML: {why}. Nothing of it was applied.", (_CHECK,)),
    Form("kubectlKind", Component.KUBECTL,
         r"(?:resource mapping not found for name: *\"(?P<object>[^\"\n]{0,253})\"[^\n]{0,200}?: *|unable to recognize "
         r"\"[^\"\n]{0,200}\": *)?no matches for kind \"(?P<kind>[^\"\n]{0,253})\" "
         r"in version \"(?P<version>[^\"\n]{0,253})\"",
         "The API server does not serve {kind} in version {version}: its custom resource definition is missing, or the "
         "release has dropped the version.",
         ("kubectl api-resources", _CHECK)),
    Form("chartField", Component.HELM,
         r"(?:(?:unable to build kubernetes objects from[^\n:]{0,100}: *)?error validating \"\": *)?"
         r"(?:error validating data: *)?ValidationError\((?P<path>[^)\n]{0,200})\): *(?P<why>unknown field "
         r"\"[^\"\n]{0,253}\" in [\w.]+|[^\n]*)",
         "What Helm or kubectl checks before sending it does not have this shape at {path}: {why}.",
         ("helm template RELEASE CHART | kubectl spread check -",)),
    Form("chartCheck", Component.HELM,
         r"(?:unable to build kubernetes objects from[^\n:]{0,100}: *)error validating \"\": *"
         r"(?:error validating data: *)?(?P<why>[^\n]*)",
         "Helm checked the chart's objects against the cluster's schema before sending them, and refused them: {why}.",
         ("helm template RELEASE CHART | kubectl spread check -",)),
    Form("chartYaml", Component.HELM,
         r"(?:error: *)?YAML parse error on (?P<file>\S+?): *error converting YAML to JSON: *yaml: *(?:line "
         r"(?P<line>\d+): *)?(?P<why>[^\n]*)",
         "The chart's template {file} does not print YAML: {why}. Most often toYaml of the constraints has a wrong "
         "indent; the line is that of the printed text.",
         ("helm template RELEASE CHART --debug",)),
    Form("chartValues", Component.HELM,
         r"(?<![\w.])(?P<path>[\w.]{0,200}topologySpreadConstraints): *invalid type\. expected: *(?P<type>\w+), "
         r"*given: *(?P<given>\w+)",
         "The chart's own schema wants {path} as {type}, and the values have {given}.",
         ("helm show values CHART", "helm template RELEASE CHART | kubectl spread check -")),
    Form("argoCd", Component.ARGO_CD,
         r"(?<![\w.])(?P<path>\.[\w.]{0,200}topologySpreadConstraints\[[^\[\]\n]{0,200}\][\w.]*)"
         r": *field not declared in schema",
         "Argo CD's built-in schema does not know {path}: it is of an older release than the cluster. Server-side "
         "diff leaves the question to the API server.",
         ("argocd app diff NAME --server-side-generate",)),
    Form("kopsPending", Component.KOPS, r"system-(?:cluster|node)-critical pod \"?(?P<pod>[^\s\"]+)\"? is pending",
         "kops waits for every system-critical pod, and {pod} is Pending: look at its own message.",
         ("kubectl spread explain pod {pod} -n kube-system",)),
)  # fmt: skip

NOT_SCALED = re.compile(
    r"pod\s+didn't\s+trigger\s+scale-?\s*up(?:\s*\(it\s+wouldn't\s+fit\s+if\s+a\s+new\s+node\s+is\s+added\))?\s*:?",
    re.IGNORECASE,
)
_COUNTS = re.compile(r"\b(counts|podDomains|nodeDomains) ?= ?")
_COMPILED = tuple(
    (form, re.compile(form.shape.replace(" *", r"[^\S\n]*").replace(" ?", r"\s*").replace(" ", r"\s+"), re.IGNORECASE))
    for form in FORMS
)


def find(text: str) -> list[Found]:
    """The sentences of a text that are recognised, in its order; of overlapping ones the first, the special before."""
    found: list[Found] = []
    for rank, (form, shape) in enumerate(_COMPILED):
        for at in shape.finditer(text):
            details = _details(at)
            found.append(Found(form, at.start(), at.end(), {"": f"{rank:03}", **details}))
    found.sort(key=lambda item: (item.start, item.details[""]))
    out: list[Found] = []
    end = 0
    for item in found:
        if item.start >= end and item.end > item.start:
            details = {name: value for name, value in item.details.items() if name}
            out.append(item._replace(details=details))
            end = item.end
    return out


def _details(at: re.Match[str]) -> dict[str, str]:
    """What a sentence names; `claim2` is another place of `claim`, and Karpenter's counts are three details."""
    found: dict[str, str] = {}
    for group, value in at.groupdict().items():
        text = " ".join((value or "").split())
        if text:
            found.update(_counts(text) if group == "counts" else {group.rstrip("0123456789"): text})
    return found


def _counts(text: str) -> dict[str, str]:
    """`counts = a: 1, podDomains = x Exists, nodeDomains = x In [a]` as three details."""
    parts = _COUNTS.split(text.rstrip(" )"))[1:]
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return {name: told for name, part in pairs if (told := part.strip(" ,"))}


def filled(template: str, details: dict[str, str]) -> str:
    """A template with what a sentence names; what it does not name is called by its own name."""
    return template.format_map(_Details(details))


class _Details(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return _UNNAMED.get(key, "")


_UNNAMED = {
    "key": "its topology key",
    "node": "its node",
    "pod": "the pod",
    "why": "it does not say why",
    "owner": "NAME",
    "what": "topology constraint",
    "claim": "NAME",
    "file": "the file",
    "zones": "its zones",
    "object": "the object",
    "plugin": "a check",
}
