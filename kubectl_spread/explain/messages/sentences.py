"""Messages about placing pods that are not lists of nodes: one table with the form, component, meaning and commands.

In `meaning` and `commands`, `{name}` is the text of the group of that name in the shape.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.explain.messages.reasons import AUTOSCALER, CLAIMS, CLASSES, EXPLAIN, NODES, REQUESTS, ZONES


class Component(Enum):
    """The component that wrote a message."""

    SCHEDULER = "kube-scheduler"
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
    """The shape of a sentence; `shape` is a regular expression without regard to capitals.

    In a shape, a blank is any white space, ` ?` is white space or nothing, and ` *` is the same within a line.
    """

    name: str
    component: Component
    shape: str
    meaning: str
    commands: tuple[str, ...] = ()


class MessageStart(NamedTuple):
    """The beginning of a message in a text: a header, a bare list, or a whole sentence with its form and details."""

    start: int
    end: int
    kind: str
    total: Optional[int] = None
    free: int = 0
    form: Optional[Form] = None
    details: Optional[dict[str, str]] = None


NOT_SCALED = re.compile(
    r"pod\s+didn't\s+trigger\s+scale-?\s*up(?:\s*\(it\s+wouldn't\s+fit\s+if\s+a\s+new\s+node\s+is\s+added\))?\s*:?",
    re.IGNORECASE,
)

_CHECK = "kubectl spread check FILE"
_POD = "kubectl describe pod NAME -n NAMESPACE"
_BUDGETS = "kubectl get poddisruptionbudgets -n NAMESPACE"
_POOLS = "kubectl get {nodepools} -o wide"
_NODE_CLAIMS = "kubectl get {nodeclaims} -o wide"
_KARPENTER_LOG = "kubectl logs -n kube-system -l app.kubernetes.io/name=karpenter --tail=100"
_POD_GROUPS = "kubectl get podgroups.scheduling.volcano.sh -n NAMESPACE"
_GANGS = "kubectl get podgroups.scheduling.k8s.io -n NAMESPACE -o yaml"
_QUEUES = "kubectl get queues.scheduling.volcano.sh -o yaml"
_WEBHOOKS = "kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations"
_NEW_PODS = ("kubectl get pods -n NAMESPACE", "kubectl spread explain deploy/NAME -n NAMESPACE")
_CHART = "helm template RELEASE CHART | kubectl spread check -"
_RENDER = "helm template RELEASE CHART --debug"

_CLAUSE = r"[^\n;]*"  # to the end of the line, or of the clause of one node pool
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_OBJECT = r"\b(?P<object>[A-Za-z][\w.-]{0,120} \"[^\"\n]{0,253}\")"  # `Deployment.apps "web"`
_INVALID = rf'(?:(?:The )?{_OBJECT} is invalid: ?|\b(?P<object2>\w{{1,60}} "[^"\n]{{0,253}}") was not valid: ?)'
_FIELD = (  # a path in an object, also as an item of a list
    r"(?:[*\[#] *){0,3}(?<![\w.\]])(?P<path>(?:(?:spec|metadata|status|data)(?![\w-])"
    r"|(?:\w[\w.\[\]]{0,200})?topologySpreadConstraints)(?:\.\{[^}\n]{0,100}\}|[\w.\[\]]){0,200})"
)
_SCHEMA_PATH = r"(?<![\w.])(?P<path>\.spec[\w.]{0,200}(?:\[[^\[\]\n]{0,200}\][\w.]{0,100}){0,4})"  # of Argo CD
_FAULT = r"(?:invalid value|required value|unsupported value|duplicate value|forbidden|too many|too long|not found)"
_REFUSED = (  # a request of a user, as kubectl shows its refusal
    r"(?:error from server(?: \(\w{1,30}\))?: ?)?(?:error when \w{1,20} [^\n:]{0,200}: ?)?"
)
_FORBIDDEN = r"pods \"(?P<pod>[^\"\n]{0,253})\" is forbidden: *"
_BINDING = (  # PreBind in the words of 1.16 to 1.18, and of later releases
    r"(?:error: *)?(?:error )?(?:while )?(?:running (?:PreBind plugin \"?VolumeBinding\"?"
    r"|\"?VolumeBinding\"? prebind plugin for pod \"?(?P<pod>[^\s\"]+?)\"?): *)?"
)
_FILTER = r"(?:error *:? *)?(?:while )?running \"?VolumeBinding\"? filter plugin for pod \"?(?P<pod>[^\s\"]+)\"?: *"

_SCHEDULERS = (
    Form("noNodes", Component.SCHEDULER,
         r"(?:cannot schedule pods: *)?no nodes (?:available to schedule pods(?: (?P<pod>[\w.-]{1,253}/[\w.-]{1,253}))?"
         r"|are registered to the cluster)",
         "The cluster has no nodes, or none has registered with the API server.", (NODES,)),
    Form("gated", Component.API_SERVER, r"scheduling is blocked due to non-empty scheduling gates",
         "The pod has schedulingGates: the scheduler ignores it, and writes no event, until the controller that set "
         "the gates removes them.",
         ("kubectl get pod NAME -n NAMESPACE -o jsonpath='{{.spec.schedulingGates}}'",)),
    Form("skipDeleting", Component.SCHEDULER, r"skip schedule deleting pod:? *(?P<pod>\S+)?",
         "The pod is being deleted, so the scheduler no longer places it."),
    Form("assigned", Component.SCHEDULER, r"successfully assigned (?P<pod>\S+) to (?P<node>\S+)",
         "The pod was scheduled to node {node}. If it does not run, the kubelet's events say why.", (_POD,)),
    Form("preempted", Component.SCHEDULER,
         r"preempted by (?:a pod|(?P<pod>(?:pod )?\S+)) on node (?P<node>[^\s.]\S*?)(?=\.?(?:\s|\Z|[\"'`]))",
         "The scheduler evicted this pod from node {node} to make room for a pod of higher priority.",
         ("kubectl get pods -A --sort-by=.spec.priority --field-selector spec.nodeName={node}",)),
    Form("permit", Component.SCHEDULER, r'pod "?(?P<pod>[^\s"]+)"? rejected while waiting on permit:?[^\n]*',
         "A node was found, but a Permit plugin (for gang scheduling or a quota) rejected the pod or timed out."),
    Form("gangTooSmall", Component.SCHEDULER,
         r"minCount \((?P<count>\d{1,9})\) (?:cannot be|is not yet) satisfied(?:: \d{1,9} scheduled(?:, \d{1,9} "
         r"remaining)?)?",
         "The pod belongs to a gang: kube-scheduler places at least {count} of its pods together, or none. Either pods "
         "of the gang are missing, or there is no room for so many.", (_GANGS, EXPLAIN)),
    Form("gangEvicts", Component.SCHEDULER,
         r"pod group preemption: found a placement for podgroup, preempting (?P<victims>\d{1,9}) victims",
         "The scheduler makes room for the pod's gang by evicting pods of lower priority, and the gang waits until "
         "they have left.", (_GANGS,)),
    Form("gangEvictsNone", Component.SCHEDULER,
         r"pod group preemption: (?P<why>no preemption victims found for incoming preemptor"
         r"|not supported with topology constraints|[^\n;]{0,300}[^\n;.])",
         "Evicting pods does not make room for the pod's gang: {why}.", (_GANGS, EXPLAIN)),
    Form("selectedNode", Component.SCHEDULER,
         rf'{_BINDING}(?:(?:failed to bind|binding) volumes: *)?selectedNode annotation '
         r'(?:reset|value \"[^\"\n]{0,253}\" not set to scheduled node \"(?P<node>[^\"\n]{0,253})\")'
         r'(?: for PVC \"?(?P<claim>[^\s\"]+)\"?)?',
         "The scheduler had chosen {node} for a claim's volume, and the storage provisioner removed this choice from "
         "the claim because it could not create the volume there. The claim's events say why. The scheduler tries "
         "again.",
         (CLAIMS, "kubectl get events -n NAMESPACE --field-selector reason=ProvisioningFailed", CLASSES)),
    Form("volumeBinding", Component.SCHEDULER,
         rf"{_BINDING}(?:failed to bind|binding) volumes: *"
         r"(?P<why>provisioning failed for PVC \"?(?P<claim>[^\s\"]+)\"?"
         r"|[^\n]{0,200}?(?:PVC|claim|persistentvolumeclaim)s? \"?(?P<claim2>[^\s\",:;.()]+)\"?[^\n]*)",
         "A node was chosen, but the volume of claim {claim} was not ready in time ({why}). The scheduler tries "
         "again, and the pod waits until the volume exists.",
         ("kubectl describe pvc {claim} -n NAMESPACE",
          "kubectl get events -n NAMESPACE --field-selector involvedObject.name={claim}", CLASSES)),
    Form("volumeElsewhere", Component.SCHEDULER,
         rf"{_BINDING}(?:failed to bind|binding) volumes: *"
         r"pv \"?(?P<volume>[^\s\"]+)\"? node affinity doesn't match node \"?(?P<node>[^\s\":]+)\"?[^\n]*",
         "Node {node} was chosen, but volume {volume} cannot be reached from it: meanwhile the claim was bound to a "
         "volume of another node or zone. The scheduler tries again.",
         ("kubectl describe pv {volume}", CLAIMS, CLASSES)),
    Form("volumeBindingUnnamed", Component.SCHEDULER,
         rf"{_BINDING}(?:failed to bind|binding) volumes: *(?P<why>[^\n;]*)",
         "A node was chosen, but a volume of the pod was not ready in time ({why}). The message does not name the "
         "claim: it is one of the pod's Pending claims. The scheduler tries again, and the pod waits until the "
         "volume exists.", (CLAIMS, "kubectl describe pvc -n NAMESPACE", CLASSES)),
    Form("claimUnbound", Component.SCHEDULER, rf"{_FILTER}pod has unbound immediate PersistentVolumeClaims",
         "A PersistentVolumeClaim of pod {pod} is not bound, and its StorageClass binds it before a node is chosen. "
         "The scheduler considers no node until the claim has its volume.", (CLAIMS, CLASSES)),
    Form("claimMissing", Component.SCHEDULER,
         rf"{_FILTER}(?:could not find v1\.)?persistentvolumeclaim \"?(?P<claim>[^\s\"]+)\"?(?: not found)?",
         "Pod {pod} uses the PersistentVolumeClaim {claim}, which does not exist.", (CLAIMS,)),
    Form("pluginError", Component.SCHEDULER,
         r'(?:error: *)?running (?P<plugin>"?\w+"? filter plugin|\w+ plugin "?\w+"?)[^\n]*',
         "A scheduler plugin failed. This is not about the nodes, and the scheduler tries again.", (_POD,)),
    Form("binding", Component.SCHEDULER, r"(?:binding rejected|failed to assume|assumepod failed)[^\n]*",
         "A node was chosen, but the pod or its volumes could not be bound to it.", (CLAIMS,)),
    Form("gang", Component.VOLCANO,
         r"(?:podgroup (?P<group>\S{1,300}) unschedule, ?reason: ?)?(?:(?P<tasks>\d{1,9}/\d{1,9}) tasks in gang "
         r"unschedulable: *(?P<why>(?:(?:job|pod group) is not ready|\.\.\.)(?:[,;.]? (?:pending: )?\d{1,9} "
         r"\w{1,30}(?![\w/]))*|0 nodes are available)"
         r"|(?P<why2>pod group is not ready(?:[,;] (?:pending: )?\d{1,9} \w{1,30}(?![\w/]))+))",
         "Volcano starts the pods of a PodGroup together, and fewer than minAvailable can start now. Either pods of "
         "the group are missing, or they do not all fit.",
         (_POD_GROUPS, _QUEUES, EXPLAIN)),
    Form("overused", Component.VOLCANO, r"resource in cluster is overused|queue resource quota insufficient[^\n]*",
         "Volcano does not start the PodGroup yet: its queue, or the whole cluster, has no resources left for the "
         "group's minResources.", (_QUEUES, _POD_GROUPS)),
    Form("taskRefused", Component.VOLCANO,
         r"(?:predicates failed for task <[^>\s]{1,300}> on node <[^>\s]{1,300}>: *)?"
         r"\btask (?P<pod>\S{1,300}) on node (?P<node>\S{1,300}) fit failed: *(?P<why>[^\n]*)",
         "Volcano found that pod {pod} does not fit on node {node}: {why}.", (EXPLAIN, _POD_GROUPS)),
    Form("taskWaits", Component.VOLCANO,
         r"pod (?P<pod>[^\s/]{1,63}/\S{1,253}) can possibly be ass(?:ig|gi)ned to (?P<node>[^\s,]{1,253})",
         "Volcano found room for pod {pod} on node {node}, and binds it only together with the other pods of its "
         "PodGroup, which do not all fit: look at their messages.", (_POD_GROUPS, _QUEUES)),
    Form("kueue", Component.KUEUE, r"couldn't assign flavors to pod set (?P<set>[^\s:]{1,253}): *(?P<why>[^\n]*)",
         "Kueue does not start the workload yet: its ClusterQueue has too little quota left ({why}).",
         ("kubectl get workloads.kueue.x-k8s.io -n NAMESPACE", "kubectl get clusterqueues.kueue.x-k8s.io -o yaml")),
    Form("kopsPending", Component.KOPS, r"system-(?:cluster|node)-critical pod \"?(?P<pod>[^\s\"]+)\"? is pending",
         "kops waits for every system-critical pod, and {pod} is Pending: look at the message of that pod.",
         ("kubectl spread explain pod {pod} -n kube-system",)),
)  # fmt: skip

_CLUSTER_AUTOSCALER = (
    Form("scaledUp", Component.CLUSTER_AUTOSCALER,
         r"pod triggered scale-up:?(?P<groups> *\[[^\[\]\n]*\])?"
         r"|scale-up: *(?:setting )?group (?P<groups2>\S{1,300}) size (?:set )?to \d{1,9}[^\n]*",
         "The autoscaler is adding a node for this pod. Wait until the node is ready.", (NODES,)),
    Form("scaleUpFailed", Component.CLUSTER_AUTOSCALER,
         r"node scale up in (?:zones? )?(?P<zones>[^\s:;][^\n:;]{0,100}?) associated with this pod failed: *"
         r"(?P<why>(?:[^\n.]|\.(?! pod is at risk|\s|\Z))*)(?:\. pod is at risk of not being scheduled)?\.?",
         "The autoscaler asked the cloud for a node in {zones} but did not get one ({why}). The pod waits until it "
         "does.", (AUTOSCALER, NODES)),
    Form("groupFull", Component.CLUSTER_AUTOSCALER, r"skipping node group (?P<group>\S{1,300}) - max size reached",
         "Node group {group} is at its maximum size.", (AUTOSCALER,)),
    Form("groupRefuses", Component.CLUSTER_AUTOSCALER, r"no pod can fit to (?P<group>\S{1,300})",
         "None of the Pending pods would fit on a new node of node group {group}.", (EXPLAIN,)),
    Form("groupNotReady", Component.CLUSTER_AUTOSCALER,
         r"node group (?P<group>\S{1,300}) is not ready for scale-?up(?: - (?P<why>\w{1,60}))?",
         "The autoscaler adds no node to node group {group} now: its nodes are not ready, or its last scale-up failed "
         "(backoff).", (AUTOSCALER, NODES)),
    Form("groupBackoff", Component.CLUSTER_AUTOSCALER,
         r"disabling scale-up for node group (?P<group>\S{1,300}) until (?P<until>\d[\d-]{1,20} [\d:.]{1,30})[^\n;]*"
         r"(?:; *errorClass=(?P<why>[^\n]*))?",
         "The last scale-up of node group {group} failed ({why}). The autoscaler does not try this group again until "
         "{until}.", (AUTOSCALER, NODES)),
    Form("groupFailed", Component.CLUSTER_AUTOSCALER,
         r"(?:failed adding \d{1,9} nodes [^\n]{0,60}?to group (?P<group>\S{1,300}) due to (?P<why>[^\n]*)"
         r"|scale-up timed out for node group (?P<group2>\S{1,300}) (?P<why2>after \S{1,60})"
         r"|scale-up failed for (?:node )?group (?P<group3>\S{1,300}): *(?P<why3>[^\n]*))",
         "The autoscaler asked the cloud for nodes of node group {group} but did not get them ({why}).",
         (AUTOSCALER, NODES)),
    Form("noPlace", Component.CLUSTER_AUTOSCALER,
         r"failed to find place for (?P<pod>\S+):(?: cannot put pod \S+ on any node)?(?P<why>[^\n]*)",
         "The autoscaler keeps a node because pods on it, such as {pod}, fit on no other node. Spread constraints "
         "can be the reason, not only resources.", (EXPLAIN,)),
    Form("upcoming", Component.CLUSTER_AUTOSCALER,
         r"pod (?P<pod>\S+) marked as unschedulable can be scheduled on (?:node )?(?P<node>\S+?)"
         r"(?: \(based on [^()]{0,60}\))?\. ignoring in scale up",
         "The autoscaler expects the pod to fit on {node}, which exists or is being added, and adds no other node. "
         "If the pod stays Pending, the scheduler has a reason that the autoscaler does not know.", (EXPLAIN,)),
    Form("autoscalerBudget", Component.CLUSTER_AUTOSCALER,
         r"not enough pod disruption budget to move (?P<pod><[^>\s]+>|\S+)",
         "The node of {pod} cannot be drained: its PodDisruptionBudget allows no eviction now.", (_BUDGETS,)),
    Form("removed", Component.CLUSTER_AUTOSCALER, r"deleting pod for node scale down",
         "The autoscaler removes the pod's node, which is little used, and evicted the pod. Its controller creates "
         "another pod.", (NODES,)),
    Form("notRemovable", Component.CLUSTER_AUTOSCALER,
         r"(?:node )?(?<!\S)(?P<node>\S{1,253}) is not suitable for removal(?:: *| - )(?P<why>[^\n]*)",
         "The autoscaler keeps node {node}: {why}.", (EXPLAIN,)),
    Form("predicate", Component.CLUSTER_AUTOSCALER,
         r"(?:pod \S{1,300} can't be scheduled on (?P<group>[^\s,]{1,300}), *)?"
         r"(?:(?:predicate checking error: *[^\n;]{0,200}; *)?predicateName=(?P<plugin>\w+); *reasons: *"
         r"(?P<why>[^\n;]*); *debugInfo=[^\n]*"
         r"|predicate failed: *(?P<plugin2>\w{1,60}) predicate mismatch, reason: *(?P<why2>[^\n]*))",
         "The scheduler's plugin {plugin} would refuse a new node of that group: {why}.", (EXPLAIN,)),
    Form("noExpansion", Component.CLUSTER_AUTOSCALER, r"no expansion opti+ons",
         "No node group can grow to take the Pending pods.", (AUTOSCALER,)),
    Form("autoscalerLimit", Component.CLUSTER_AUTOSCALER,
         r"max cluster (?P<resources>[\w./-]+(?:, ?[\w./-]+)*) limit reached",
         "The autoscaler's limit for the whole cluster is reached: {resources}.", (AUTOSCALER,)),
)  # fmt: skip

_KARPENTER = (
    Form("karpenterTopology", Component.KARPENTER,
         r"unsatisfiable topology constraint for (?P<what>key [^\s,;]{1,200}|[\w -]{1,60}?)"
         r"(?:, *key=(?P<key>[^\s,;(]{1,200}))?(?: *\((?P<counts>counts *=[^\n;]{0,4000}))?(?= *(?:;|\n|\)|\Z))",
         "Karpenter can put the pod into no domain of {key} without breaking its {what}. It counts all domains it "
         "knows, including those of {NodePools} that the pod cannot use.", (EXPLAIN, ZONES, _POOLS)),
    Form("karpenterCounts", Component.KARPENTER,
         r"\(?(?P<counts>counts *= *[^\s,;=:()]{0,200} *:[^\n;]{0,4000}|counts *= *,[^\n;]{0,4000})",
         "Karpenter's count of matching pods in each domain, the domains that the pod can use, and the domains of "
         "the {NodePool}.", (EXPLAIN, ZONES, _POOLS)),
    Form("karpenterPool", Component.KARPENTER,
         r"incompatible with (?P<what>nodepool|provisioner) (?P<pool>\"[^\"\n]{0,253}\"|[^\s,\"]{1,253})"
         r"(?:, ?daemonset overhead=(?P<overhead>\{[^{}\n]{0,2000}\}|[^\s,]{1,200}))?,? ?(?=[^,\s]|\Z)",
         "Karpenter cannot create a node of {pool} for the pod; the next part says why.",
         (_POOLS, "kubectl describe {nodepool} {pool}", _KARPENTER_LOG)),
    Form("karpenterRequirements", Component.KARPENTER,
         r"incompatible requirements, ?(?P<why>(?:label \"[^\"\n]{0,200}\"[^\n;]*"
         r"|[^\n;]{0,200}?key (?P<key>[^\s,;]{1,200})[^\n;]*))",
         "The pod's node selector, its affinity or an already chosen domain excludes every node of the {NodePool}: "
         "{why}.", (_POOLS, "kubectl get nodes --show-labels", EXPLAIN)),
    Form("karpenterLabel", Component.KARPENTER, r"label \"(?P<label>[^\"\n]{1,200})\" does not have known values",
         "No node of the {NodePool} has the label {label} that the pod or one of its constraints asks for.",
         (_POOLS, EXPLAIN)),
    Form("karpenterTypes", Component.KARPENTER,
         r"(?:skipping, *)?(?:nodepool requirements filtered out all (?:compatible )?(?:available )?instance types"
         r"(?: due to (?P<why>minValues incompatibility))?|no resolved instance types found)",
         "No available instance type meets the {NodePool}'s requirements, so Karpenter creates no node. The "
         "requirements contradict each other, or the cloud has no capacity for these types now.",
         (_POOLS, "kubectl get events -A --field-selector reason=NoCompatibleInstanceTypes", _KARPENTER_LOG)),
    Form("karpenterInstance", Component.KARPENTER,
         rf"no instance type (?:satisfied|has enough|met|which){_CLAUSE}",
         "No instance type of the {NodePool} is large enough for the pod and the DaemonSets and meets their "
         "requirements.", (_POOLS, _POD, EXPLAIN)),
    Form("karpenterMinValues", Component.KARPENTER, rf"minValues requirement is not met{_CLAUSE}",
         "The {NodePool} asks for a least number of different values (minValues), such as instance families, and too "
         "few instance types that suit the pod are left.", (_POOLS, _KARPENTER_LOG)),
    Form("karpenterTaint", Component.KARPENTER,
         r"did not tolerate (?:taint *\(?taint=)?(?P<taint>[^\s;,)]{1,200})\)?",
         "The nodes of the {NodePool} have the taint {taint}, which the pod does not tolerate.",
         (_POOLS, "kubectl get {nodepools} -o custom-columns=NAME:.metadata.name,TAINTS:{taints}")),
    Form("karpenterLimit", Component.KARPENTER,
         r"(?:all available instance types exceed (?:limits for|provisioner limits)|node limits have been exhausted)"
         rf"{_CLAUSE}"
         r"|\d{1,9} out of \d{1,9} instance types were excluded because they would breach \w{1,30} limits",
         "The {NodePool} has reached its limits and cannot add nodes.",
         ("kubectl get {nodepools} -o custom-columns=NAME:.metadata.name,LIMITS:{limits},USED:.status.resources",)),
    Form("karpenterNoPool", Component.KARPENTER, r"no (?:dynamic )?(?:nodepools?|provisioners?) found",
         "Karpenter has no {NodePool} that is ready.", (_POOLS, _KARPENTER_LOG)),
    Form("karpenterOffering", Component.KARPENTER, rf"no instance type has the required offering{_CLAUSE}",
         "No instance type that suits the pod is available in the zone and capacity type that are left: the cloud has "
         "no capacity there now, or the {NodePool} has no subnet there.", (_POOLS, _NODE_CLAIMS, _KARPENTER_LOG)),
    Form("karpenterVolume", Component.KARPENTER, r"incompatible volume requirements, ?(?P<why>[^\n;]*)",
         "The {NodePool} adds no nodes in the zone of the pod's volume: {why}.", (_POOLS, "kubectl get pv", EXPLAIN)),
    Form("karpenterTwoDomains", Component.KARPENTER,
         r"key (?P<key>[^\s,;]{1,200}), [^\s,;]{1,200} DoesNotExist not in (?P<why>[^\n;]*)",
         "Two rules of the pod picked different domains of {key} in this round. Karpenter draws them at random, so the "
         "next round may succeed.", (EXPLAIN, _KARPENTER_LOG)),
    Form("karpenterReserved", Component.KARPENTER,
         r"one or more instance types with compatible reserved offerings are available, but could not be reserved",
         "Reserved capacity that suits the pod is taken in this round; Karpenter tries again.", (_NODE_CLAIMS,)),
    Form("karpenterHostPort", Component.KARPENTER, r"checking host port usage, ?(?P<why>[^\n;]*)",
         "A host port of the pod is taken on a new node of the {NodePool}, perhaps by a DaemonSet: {why}.",
         (_POOLS, _POD)),
    Form("karpenterNodeClass", Component.KARPENTER,
         r"failed resolving \w{0,30}(?:nodeclass|nodetemplate)|ignoring (?:nodepool|provisioner), not ready"
         r"|(?:status condition transitioned, type: ready, [^\n]{0,200}?message: *)?nodeClassReady=false",
         "The {NodePool} names a node class that does not exist or is not ready, so Karpenter creates no node of it.",
         (_POOLS, "kubectl describe {nodepools}", _KARPENTER_LOG)),
    Form("karpenterNoNodeClass", Component.KARPENTER,
         r"(?:(?:skipping, )?(?:(?:unable to resolve|getting|determining) instance types?|creating scheduler|resolving "
         r"node (?:class|template)|getting providerRef), *)*\b(?P<kind>\w{0,40}(?:NodeClass|NodeTemplate))"
         r"(?:\.[\w.-]{1,60})? \"(?P<name>[^\"\n]{1,253})\" not found",
         "The {NodePool} names {kind} {name}, which does not exist, so Karpenter creates no node of it.",
         ("kubectl get {resource}", _POOLS, _KARPENTER_LOG)),
    Form("karpenterNominated", Component.KARPENTER, r"pod should schedule on:? *(?P<node>[^\n]*)",
         "Karpenter expects the pod to fit on {node}. If it stays Pending, the scheduler refuses that node.",
         (EXPLAIN, _NODE_CLAIMS)),
    Form("karpenterDisruption", Component.KARPENTER,
         r"(?:cannot disrupt (?P<what>node|nodeclaim)|unconsolidatable)\b:? *(?P<why>[^\n]*)",
         "Karpenter cannot remove a node: {why}.", (_BUDGETS, _NODE_CLAIMS)),
    Form("karpenterCapacity", Component.KARPENTER,
         r"(?:(?:launching (?:nodeclaim|machine)|creating instance)[^\n]{0,200}?: *)?"
         r"(?P<why>(?:insufficient capacity|all requested instance types were unavailable during launch"
         r"|InsufficientInstanceCapacity)[^\n]*)",
         "The cloud has no capacity for the instance types that Karpenter asked for ({why}). Karpenter tries other "
         "types, and these again later.", (_NODE_CLAIMS, _POOLS, _KARPENTER_LOG)),
    Form("karpenterFailed", Component.KARPENTER,
         r"failed to schedule pod,(?! *(?:incompatible|no |did not|unsatisfiable|all available|nodepool|node limits"
         r"|key |label |one or more|checking|min)) *"
         r"(?P<why>[^\n]*)",
         "Karpenter creates no node for the pod: {why}.", (_POOLS, _KARPENTER_LOG, EXPLAIN)),
)  # fmt: skip

_VOLUMES_AND_KUBELET = (
    Form("waitingForConsumer", Component.VOLUME_CONTROLLER,
         r"waiting for first consumer to be created before binding",
         "The claim's StorageClass binds it once a pod that uses it has a node (WaitForFirstConsumer). The claim is "
         "fine: look at its pod. Without a pod, this is the normal state.", (EXPLAIN, CLAIMS)),
    Form("waitingForPod", Component.VOLUME_CONTROLLER, r"waiting for pod (?P<pod>\S+) to be scheduled",
         "The claim is bound once pod {pod} has a node: look at why the pod is Pending.",
         ("kubectl spread explain pod {pod} -n NAMESPACE",)),
    Form("waitingForProvisioner", Component.VOLUME_CONTROLLER,
         r"waiting for a volume to be created,? either by (?:the )?external provisioner \"?'?(?P<provisioner>[^\s\"']+)"
         r"[^\n]*",
         "The claim waits for {provisioner} to create its volume. If that takes long, the provisioner is not running"
         " or fails: see its log and the claim's events.",
         (CLAIMS, "kubectl get csidrivers", "kubectl get pods -A -o wide")),
    *(Form("provisioningFailed", component,  # the two differ in their first letter only
           rf"(?-i:{first})ailed to provision volume with storageclass \"?(?P<class>[^\s\"]+?)\"?: *(?P<why>[^\n]*)",
           "The provisioner of StorageClass {class} did not create the volume: {why}.",
           (CLAIMS, "kubectl describe storageclass {class}"))
      for component, first in ((Component.PROVISIONER, "f"), (Component.VOLUME_CONTROLLER, "F"))),
    Form("noSuchClass", Component.VOLUME_CONTROLLER,
         r"storageclass\.storage\.k8s\.io \"(?P<class>[^\"\n]{1,253})\" not found",
         "The claim's StorageClass {class} does not exist, so no volume is created.", (CLASSES, CLAIMS)),
    Form("noStorageClass", Component.VOLUME_CONTROLLER,
         r"no persistent volumes available for this claim and no storage class is set",
         "The claim names no StorageClass, there is no default StorageClass, and no PersistentVolume matches it.",
         (CLAIMS, CLASSES, "kubectl get pv")),
    Form("outOfResource", Component.KUBELET,
         r"(?:pod was rejected: *)?node didn't have enough resource: *(?P<resource>[^\s,]{1,200}), *requested: *"
         r"(?P<requested>\d{1,20}), *used: *(?P<used>\d{1,20}), *capacity: *(?P<capacity>\d{1,20})",
         "The kubelet refused the pod, which was bound to its node: {resource} has capacity {capacity}, of which "
         "{used} are used, and the pod requests {requested}. Another pod was faster, or nodeName was set without the"
         " scheduler. Its controller creates another pod.",
         (_POD, REQUESTS)),
    Form("devicesGone", Component.KUBELET,
         r"(?:pod )?allocate failed due to (?P<why>[^\n]{0,300}?), which is unexpected",
         "The kubelet refused the pod, which was bound to its node: {why}. A device failed, or the scheduler counted "
         "devices that the node no longer has. The pod's controller creates another pod.",
         (_POD, REQUESTS)),
    Form("rejectedByNode", Component.KUBELET,
         r"(?:pod was rejected: *)?predicate (?P<plugin>\w{1,60}) failed(?: on this node)?(?:: *(?P<why>[^\n]*))?",
         "The kubelet refused the pod, which was bound to its node: the node no longer meets {plugin}, for example "
         "because its labels changed after the pod was scheduled. Its controller creates another pod.",
         (_POD, "kubectl get nodes --show-labels")),
    Form("evictedByNode", Component.KUBELET, r"the node was low on resource: *(?P<resource>[\w-]{1,60})[^\n]*",
         "The kubelet evicted the pod because its node ran short of {resource}. Its controller creates another pod. "
         "The node keeps a pressure taint until it has recovered.",
         ("kubectl describe nodes | grep -A 8 Conditions", _POD)),
    Form("criticalPod", Component.KUBELET, r"preempted in order to admit critical pod",
         "The kubelet evicted this pod to make room for a system-critical pod that is bound to the same node.",
         (_POD, "kubectl get pods -A --sort-by=.spec.priority")),
    Form("topologyAffinity", Component.KUBELET, r"resources cannot be allocated with topology locality",
         "The kubelet refused the pod: its Topology Manager finds no aligned set of CPUs and devices on the node. "
         "The scheduler does not check this.", (_POD,)),
    Form("multiAttach", Component.CONTROLLER,
         r"multi-attach error for volume \"(?P<volume>[^\"\n]{1,253})\" *(?P<why>[^\n]*)",
         "Volume {volume} is still attached to another node and can be attached to one node only. The pod starts "
         "after the volume is detached: the other pod must end, or its node must be deleted.",
         ("kubectl get volumeattachments", "kubectl get pods -A -o wide")),
    Form("attachFailed", Component.CONTROLLER,
         r"attachvolume\.attach failed for volume \"(?P<volume>[^\"\n]{1,253})\" *: *(?P<why>[^\n]*)",
         "The pod has a node, but volume {volume} could not be attached to it: {why}.",
         ("kubectl get volumeattachments", _POD)),
    Form("mountFailed", Component.KUBELET,
         r"unable to attach or mount volumes: *unmounted volumes=\[(?P<volumes>[^\[\]\n]{0,500})\][^\n]*"
         r"|MountVolume\.\w{1,30} failed for volume \"(?P<volumes2>[^\"\n]{1,253})\" *: *(?P<why>[^\n]*)",
         "The pod has a node, but its volumes {volumes} are not mounted there yet. The scheduler has no part in "
         "this.", (_POD, "kubectl get volumeattachments", CLAIMS)),
)  # fmt: skip

_CONTROLLERS = (
    Form("progressDeadline", Component.CONTROLLER,
         r"(?:deployment|replicaset) \"(?P<owner>[^\"\n]{1,253})\" (?:has timed out progressing|exceeded its progress "
         r"deadline)\.?",
         "The rollout of {owner} made no progress within progressDeadlineSeconds: usually its new pods are Pending "
         "or not Ready.", _NEW_PODS),
    Form("rolloutWaits", Component.KUBECTL,
         r"waiting for (?:deployment|daemon set|statefulset|partitioned roll out|\d{1,9} pods)[^\n]{0,200}?"
         r"(?:to finish|to be ready)(?:: *(?P<why>[^\n]*))?",
         "kubectl rollout status waits ({why}). If the number does not change, look at the new pods: they are Pending "
         "or not Ready.", _NEW_PODS),
    Form("drainRefused", Component.KUBECTL,
         r"cannot delete (?P<what>daemonset-managed pods|pods with local storage|pods (?:not managed|that declare no "
         r"controller)[^\n(]{0,200}) *\((?P<why>use [^\n()]{1,200})\)(?:(?!, cannot delete)[^\n])*"
         r"(?: there are pending nodes to be drained:(?:\n[\w.-]+)*)?",
         "kubectl drain evicts no pod until a flag says what to do with these pods: {what} ({why}).",
         ("kubectl get pods -A -o wide --field-selector spec.nodeName=NODE",)),
    Form("nodeNotReady", Component.CONTROLLER, r"node is not ready(?=\.?(?:\n|\Z))",
         "The pod's node is not ready. If that lasts, the pod is deleted after its tolerationSeconds (5 minutes by "
         "default), and its controller creates another pod.", (NODES,)),
    Form("taintEviction", Component.CONTROLLER, r"marking for deletion pod (?P<pod>\S{1,507})",
         "The node of {pod} has a NoExecute taint that the pod no longer tolerates, so the pod is deleted: usually "
         "the node is down.",
         (NODES, "kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints")),
    Form("eviction", Component.API_SERVER,
         r"cannot evict pod as it would violate the pod's disruption budget\.?"
         r"(?: *the disruption budget (?P<budget>\S+) (?P<why>needs[^\n]*?)\.?(?=\s*$|\n|\"))?",
         "The pod's PodDisruptionBudget allows no eviction now (status 429): kubectl drain tries again until it "
         "does. If the budget needs another pod that stays Pending, the drain never ends.", (_BUDGETS,)),
    Form("statefulsetCreate", Component.CONTROLLER,
         r"create pod (?P<pod>\S+) in statefulset (?P<owner>\S+) failed error:(?= )",
         "The API server accepted the StatefulSet {owner} but not its pod {pod}; the next part says why. Pods are "
         "validated only when they are created.", ("kubectl describe statefulset {owner} -n NAMESPACE",)),
    *(form for component, prefix in ((Component.CONTROLLER, r"error creating: *"), (Component.API_SERVER, _REFUSED))
      for form in (
        Form("podSecurity", component, rf"{prefix}{_FORBIDDEN}(?P<why>violates PodSecurity[^\n]*)",
             "The namespace's Pod Security level does not allow the pod: {why}.",
             ("kubectl get namespace NAMESPACE --show-labels", _CHECK)),
        Form("limitRange", component, rf"{prefix}{_FORBIDDEN}(?P<why>\[?(?:minimum|maximum) [^\n\]]*\]?)",
             "A LimitRange of the namespace does not allow the pod's requests or limits: {why}.",
             ("kubectl describe limitrange -n NAMESPACE",)),
        Form("quota", component, rf"{prefix}{_FORBIDDEN}(?P<why>(?:exceeded|failed|insufficient) quota[^\n]*)",
             "A ResourceQuota of the namespace does not allow the pod: {why}.",
             ("kubectl describe resourcequota -n NAMESPACE",)),
        Form("serviceAccount", component, rf"{prefix}{_FORBIDDEN}(?P<why>error looking up service account[^\n]*)",
             "The pod's service account does not exist: {why}.", ("kubectl get serviceaccounts -n NAMESPACE",)),
        Form("priorityClass", component,
             rf"{prefix}{_FORBIDDEN}(?P<why>no PriorityClass with name (?P<class>\S{{1,253}}) was found)",
             "The pod's PriorityClass {class} does not exist.", ("kubectl get priorityclasses",)),
        Form("refused", component, rf"{prefix}{_FORBIDDEN}(?P<why>[^\n]*)",
             "The API server does not create the pod: {why}.",
             ("kubectl get events -n NAMESPACE --field-selector reason=FailedCreate",)))),
    Form("notAllowed", Component.API_SERVER,
         rf"{_REFUSED}(?P<object>\S{{1,300}}(?: \"[^\"\n]{{0,253}}\")?) is forbidden: ?"
         r"User \"(?P<user>[^\"\n]{1,300})\" (?P<why>cannot [^\n]*)",
         "No role allows this request: {user} {why}.", ("kubectl auth can-i --list -n NAMESPACE",)),
    Form("webhookDenied", Component.API_SERVER,
         rf"{_REFUSED}admission webhook \"(?P<webhook>[^\"\n]{{0,253}})\" denied the request:? *"
         r"(?P<why>[^\n]*(?:\n\[[^\n]*)*)",
         "The admission webhook {webhook} does not allow the object: {why}.", (_WEBHOOKS,)),
    Form("webhook", Component.API_SERVER,
         rf"{_REFUSED}(?:internal error occurred: *)?failed calling (?:admission )?webhook "
         r"\"(?P<webhook>[^\"\n]{0,253})\"(?:: ?)?(?P<why>[^\n]*(?:(?<=:)\n[^\n]*)*)",
         "The API server calls webhook {webhook} for each such object but got no answer ({why}). The object is not "
         "created until the webhook answers or its failurePolicy is Ignore.", (_WEBHOOKS,)),
    Form("create", Component.CONTROLLER, r"error creating:(?=\s|\Z)",
         "The API server accepted the workload but not its pod; the next part says why. Pods are validated only when"
         " they are created.", ("kubectl get events -n NAMESPACE --field-selector reason=FailedCreate",)),
)  # fmt: skip

_VALIDATION = (
    Form("matchLabelKeys", Component.API_SERVER,
         rf"{_INVALID}?{_FIELD}: *invalid value: *(?P<value>{_QUOTED}): *"
         r"exists in both matchLabelKeys and labelSelector",
         "The label {value} is in both matchLabelKeys and labelSelector of a constraint; only one of them can have "
         "it. A workload's template is not validated for this, so the workload is accepted but its pods are refused.",
         (_CHECK,)),
    Form("immutable", Component.API_SERVER,
         rf"{_INVALID}?{_FIELD}: *(?:forbidden: *(?P<why>updates to \w{{1,60}} spec for fields other than [^\n]*? are "
         rf"forbidden)|invalid value: *(?P<value>(?:{_QUOTED}|(?!: )[^\n\"])*): *(?P<why2>field is immutable))",
         "The API server refuses to change {path} of an existing {object} ({why}). Keep the old value, or delete the "
         "object and create it again.", ("kubectl diff -f FILE",)),
    Form("validation", Component.API_SERVER,
         rf"{_INVALID}?{_FIELD}: *(?P<why>(?P<error>{_FAULT})"
         rf"(?:{_QUOTED}|(?!, *(?:spec|metadata)[\w.\[\]]{{0,200}}: *{_FAULT})[^\n\"])*)",
         "The API server refuses {object}: {path} is invalid ({why}).", (_CHECK,)),
    Form("invalidObject", Component.API_SERVER, rf"{_INVALID}(?P<why>[^\n]*)",
         "The API server refuses {object}: {why}.", (_CHECK,)),
    Form("decoding", Component.API_SERVER,
         r"(?:error from server \(badrequest\): *)?(?:error when (?:creating|replacing|applying)[^\n:]{0,200}: *)?"
         r"(?P<object>\b\w{1,60}) in version (?P<version>\"[^\"\n]{0,99}\"|[^\s\"]{1,99}) cannot be handled as an? "
         r"\w+: *(?:json: cannot unmarshal (?P<given>\w+) into go struct field (?P<field>\S+) of type (?P<type>\S+)"
         r"|strict decoding error: *(?P<why>[^\n]*))",
         "The API server cannot read the object: a value has the wrong type, or a field is unknown.", (_CHECK,)),
    Form("nullSelector", Component.API_SERVER,
         r"(?:299 - *)?\"?(?<![\w.\[\]])(?P<path>[\w.\[\]]{0,200}topologySpreadConstraints\[\d+\]\.labelSelector): "
         r"*a null labelSelector results in matching no pod\"?",
         "The constraint has no labelSelector: it counts no pod and spreads nothing.", (_CHECK,)),
    Form("unknownField", Component.API_SERVER, r"(?:warning: *)?unknown field (?P<field>\"[^\"]*\")(?! in io\.)",
         "The API server does not know the field {field} and drops it, so the setting has no effect.", (_CHECK,)),
    Form("kubectlField", Component.KUBECTL,
         r"(?:error: *)?error validating (?P<file>\"[^\"\n]{1,200}\"|STDIN): *(?:error validating data: *)?"
         r"(?:ValidationError\((?P<path>[^)\n]{0,200})\): *)?(?P<why>[^\n]*?)"
         r"(?:; if you choose to ignore these errors[^\n]*|(?=\n|\Z))",
         "kubectl validated {file} against the cluster's schema and refused it: {why}.",
         (_CHECK, "kubectl apply --dry-run=server -f FILE")),
    Form("kubectlYaml", Component.KUBECTL,
         r"error parsing (?P<file>\S{1,200}?): *error converting YAML to JSON: *yaml: *(?:line (?P<line>\d{1,9}): *)?"
         r"(?P<why>[^\n]*)",
         "kubectl cannot read {file} as YAML: {why}. It applied nothing.", (_CHECK,)),
    Form("kubectlKind", Component.KUBECTL,
         r"(?:resource mapping not found for name: *\"(?P<object>[^\"\n]{0,253})\"[^\n]{0,200}?: *|unable to recognize "
         r"\"[^\"\n]{0,200}\": *)?no matches for kind \"(?P<kind>[^\"\n]{0,253})\" "
         r"in version \"(?P<version>[^\"\n]{0,253})\"",
         "The API server does not serve {kind} in version {version}: its custom resource definition is missing, or the "
         "release has dropped the version.", ("kubectl api-resources", _CHECK)),
    Form("chartField", Component.HELM,
         r"(?:(?:unable to build kubernetes objects from[^\n:]{0,100}: *)?error validating \"\": *)?"
         r"(?:error validating data: *)?\[?ValidationError\((?P<path>[^)\n]{0,200})\): *(?P<why>(?:unknown|missing "
         r"required) field \"[^\"\n]{0,253}\" in [\w.]+|[^\n]*)",
         "Helm or kubectl validated the objects and found an error at {path}: {why}.", (_CHART,)),
    Form("chartCheck", Component.HELM,
         r"(?:unable to build kubernetes objects from[^\n:]{0,100}: *)error validating \"\": *"
         r"(?:error validating data: *)?(?P<why>[^\n]*)",
         "Helm validated the chart's objects against the cluster's schema and refused them: {why}.", (_CHART,)),
    Form("chartYaml", Component.HELM,
         r"(?:error: *)?YAML parse error on (?P<file>\S+?): *error converting YAML to JSON: *yaml: *(?:line "
         r"(?P<line>\d+): *)?(?P<why>[^\n]*)",
         "The chart's template {file} does not render valid YAML: {why}. Usually the indent after toYaml is wrong. "
         "The line number counts lines of the rendered text.", (_RENDER,)),
    Form("chartTemplate", Component.HELM,
         r"(?:error: *)?(?:parse error at \((?P<file>[^()\s:]{1,200}):(?P<line>\d{1,9})\)"
         r"|template: *(?P<file2>[^\s:]{1,200}):(?P<line2>\d{1,9})(?::\d{1,9})?): *(?P<why>[^\n]*)",
         "Helm cannot render the chart's template {file}, line {line}: {why}.", (_RENDER,)),
    Form("chartValues", Component.HELM,
         r"(?<![\w.])(?P<path>[\w.]{0,200}topologySpreadConstraints): *invalid type\. expected: *(?P<type>\w+), "
         r"*given: *(?P<given>\w+)",
         "The chart's schema requires {path} to be {type}, but the values have {given}.",
         ("helm show values CHART", _CHART)),
    Form("argoCd", Component.ARGO_CD,
         rf"{_SCHEMA_PATH}: *field not declared in schema",
         "Argo CD's built-in schema does not know {path}, because it is older than the cluster's release. A "
         "server-side diff uses the API server's schema instead.", ("argocd app diff NAME --server-side-generate",)),
    Form("argoDuplicate", Component.ARGO_CD,
         rf"{_SCHEMA_PATH}: *duplicate entries for key (?P<key>\[[^\[\]\n]{{0,200}}\])",
         "Argo CD cannot compare the object, because the list {path} has two entries with the same key {key}. Remove "
         "one of them in the manifest, and in the cluster.",
         ("kubectl apply --server-side --dry-run=server -f FILE", _CHECK)),
)  # fmt: skip

FORMS = (*_SCHEDULERS, *_CLUSTER_AUTOSCALER, *_KARPENTER, *_VOLUMES_AND_KUBELET, *_CONTROLLERS, *_VALIDATION)

_COUNTS = re.compile(r"\b(counts|podDomains|nodeDomains) ?= ?")
_COMPILED = tuple(
    (form, re.compile(form.shape.replace(" *", r"[^\S\n]*").replace(" ?", r"\s*").replace(" ", r"\s+"), re.IGNORECASE))
    for form in FORMS
)


def find_sentences(text: str) -> list[MessageStart]:
    """Return the known sentences of a text in order; of overlapping ones the first, or the more specific."""
    found: list[tuple[int, int, MessageStart]] = []
    for rank, (form, shape) in enumerate(_COMPILED):
        for at in shape.finditer(text):
            place = MessageStart(at.start(), at.end(), "sentence", form=form, details=_details(at))
            found.append((at.start(), rank, place))
    found.sort(key=lambda item: item[:2])
    out: list[MessageStart] = []
    end = 0
    for start, _, item in found:
        if start < end or item.end == start:
            continue
        # A list of invalid fields names their object once, before the first.
        if out and item.details and "path" in item.details and _BETWEEN_FIELDS.fullmatch(text, end, start):
            last = (out[-1].details or {}).get("object")
            if last:
                item.details.setdefault("object", last)
        out.append(item)
        end = item.end
    return out


_BETWEEN_FIELDS = re.compile(r"[\s,*#]*")


def _details(at: re.Match[str]) -> dict[str, str]:
    """Return the names in a sentence; `claim2` is another group for `claim`; Karpenter's counts are three details."""
    found: dict[str, str] = {}
    for group, value in at.groupdict().items():
        text = " ".join((value or "").split())
        if text:
            found.update(_counts(text) if group == "counts" else {group.rstrip("0123456789"): text})
    return found


def _counts(text: str) -> dict[str, str]:
    """Return `counts = a: 1, podDomains = x Exists, nodeDomains = x In [a]` as three details."""
    parts = _COUNTS.split(text.rstrip(" )"))[1:]
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return {name: value for name, part in pairs if (value := part.strip(" ,"))}
