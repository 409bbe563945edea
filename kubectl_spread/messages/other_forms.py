"""Sentences of controllers, the API server, kubectl, Helm, Argo CD and kops.

In `meaning` and `commands`, `{name}` is the text of the group of that name in the shape.
"""

from __future__ import annotations

from kubectl_spread.messages.form import Component, Form

_EXPLAIN = "kubectl spread explain pod NAME -n NAMESPACE"
_CHECK = "kubectl spread check FILE"
_POD = "kubectl describe pod NAME -n NAMESPACE"
_BUDGETS = "kubectl get poddisruptionbudgets -n NAMESPACE"
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_CLAIMS = "kubectl get pvc -n NAMESPACE"
_PODS_OF_NODE = "kubectl get pods -A -o wide --field-selector spec.nodeName=NODE"
_OBJECT = r"\b(?P<object>[A-Za-z][\w.-]{0,120} \"[^\"\n]{0,253}\")"  # `Deployment.apps "web"`
_PATH = r"(?<![\w.\[\]])(?P<path>[\w.\[\]]{0,200}topologySpreadConstraints(?:\.\{[^}\n]{0,100}\}|[\w.\[\]])*)"

FORMS = (
    Form("waitingForConsumer", Component.VOLUME_CONTROLLER,
         r"waiting for first consumer to be created before binding",
         "The claim's StorageClass binds it once a pod that uses it has a node (WaitForFirstConsumer). The claim is "
         "fine: look at its pod. Without a pod, this is the normal state.",
         (_EXPLAIN, _CLAIMS)),
    Form("waitingForPod", Component.VOLUME_CONTROLLER, r"waiting for pod (?P<pod>\S+) to be scheduled",
         "The claim is bound once pod {pod} has a node: look at why the pod is Pending.",
         ("kubectl spread explain pod {pod} -n NAMESPACE",)),
    Form("waitingForProvisioner", Component.VOLUME_CONTROLLER,
         r"waiting for a volume to be created,? either by (?:the )?external provisioner \"?'?(?P<provisioner>[^\s\"']+)"
         r"[^\n]*",
         "The claim waits for {provisioner} to create its volume. If that takes long, the provisioner is not running"
         " or fails: see its log and the claim's events.",
         (_CLAIMS, "kubectl get csidrivers", "kubectl get pods -A -o wide")),
    Form("provisioningFailed", Component.VOLUME_CONTROLLER,
         r"failed to provision volume with storageclass \"?(?P<class>[^\s\"]+?)\"?: *(?P<why>[^\n]*)",
         "The provisioner of StorageClass {class} did not create the volume: {why}.",
         (_CLAIMS, "kubectl describe storageclass {class}")),
    Form("noStorageClass", Component.VOLUME_CONTROLLER,
         r"no persistent volumes available for this claim and no storage class is set",
         "The claim names no StorageClass, there is no default StorageClass, and no PersistentVolume matches it.",
         (_CLAIMS, "kubectl get storageclass", "kubectl get pv")),
    Form("outOfResource", Component.KUBELET,
         r"(?:pod was rejected: *)?node didn't have enough resource: *(?P<resource>[^\s,]{1,200}), *requested: *"
         r"(?P<requested>\d{1,20}), *used: *(?P<used>\d{1,20}), *capacity: *(?P<capacity>\d{1,20})",
         "The kubelet refused the pod, which was bound to its node: {resource} has capacity {capacity}, of which "
         "{used} are used, and the pod requests {requested}. Another pod was faster, or nodeName was set without the"
         " scheduler. Its controller creates another pod.",
         (_POD, "kubectl describe nodes | grep -A 8 'Allocated resources'")),
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
         r"multi-attach error for volume \"(?P<volume>[^\"\n]{1,253})\"(?P<why>[^\n]*)",
         "Volume {volume} is still attached to another node and can be attached to one node only. The pod starts "
         "after the volume is detached: the other pod must end, or its node must be deleted.",
         ("kubectl get volumeattachments", "kubectl get pods -A -o wide")),
    Form("attachFailed", Component.CONTROLLER,
         r"attachvolume\.attach failed for volume \"(?P<volume>[^\"\n]{1,253})\" *: *(?P<why>[^\n]*)",
         "The pod has a node, but volume {volume} could not be attached to it: {why}.",
         ("kubectl get volumeattachments", _POD)),
    Form("mountFailed", Component.KUBELET,
         r"unable to attach or mount volumes: *unmounted volumes=\[(?P<volumes>[^\[\]\n]{0,500})\][^\n]*",
         "The pod has a node, but its volumes {volumes} are not mounted there yet. The scheduler has no part in "
         "this.", (_POD, "kubectl get volumeattachments", _CLAIMS)),
    Form("progressDeadline", Component.CONTROLLER,
         r"(?:deployment|replicaset) \"(?P<owner>[^\"\n]{1,253})\" (?:has timed out progressing|exceeded its progress "
         r"deadline)\.?",
         "The rollout of {owner} made no progress within progressDeadlineSeconds: usually its new pods are Pending "
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
         "kubectl drain evicts no pod until a flag says what to do with these pods: {what} ({why}).",
         (_PODS_OF_NODE,)),
    Form("taintEviction", Component.CONTROLLER, r"marking for deletion pod (?P<pod>\S{1,507})",
         "The node of {pod} has a NoExecute taint that the pod no longer tolerates, so the pod is deleted: usually "
         "the node is down.",
         ("kubectl get nodes", "kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints")),
    Form("eviction", Component.API_SERVER,
         r"cannot evict pod as it would violate the pod's disruption budget\.?"
         r"(?: *the disruption budget (?P<budget>\S+) (?P<why>needs[^\n]*?)\.?(?=\s*$|\n|\"))?",
         "The pod's PodDisruptionBudget allows no eviction now (status 429): kubectl drain tries again until it "
         "does. If the budget needs another pod that stays Pending, the drain never ends.", (_BUDGETS,)),
    Form("statefulsetCreate", Component.CONTROLLER,
         r"create pod (?P<pod>\S+) in statefulset (?P<owner>\S+) failed error:(?= )",
         "The API server accepted the StatefulSet {owner} but not its pod {pod}; the next part says why. Pods are "
         "validated only when they are created.", ("kubectl describe statefulset {owner} -n NAMESPACE",)),
    Form("podSecurity", Component.CONTROLLER,
         r"(?:error creating: *)?pods \"(?P<pod>[^\"\n]{0,253})\" is forbidden: *(?P<why>violates PodSecurity[^\n]*)",
         "The namespace's Pod Security level does not allow the pod: {why}.",
         ("kubectl get namespace NAMESPACE --show-labels", _CHECK)),
    Form("quota", Component.CONTROLLER,
         r"(?:error creating: *)?pods \"(?P<pod>[^\"\n]{0,253})\" is forbidden: *(?P<why>[^\n]*)",
         "The controller may not create the pod: {why}.", ("kubectl describe resourcequota -n NAMESPACE",)),
    Form("webhook", Component.API_SERVER,
         r"(?:internal error occurred: *)?failed calling webhook \"(?P<webhook>[^\"\n]{0,253})\"(?P<why>[^\n]*)",
         "The API server calls webhook {webhook} for each such object but got no answer{why}. The object is not "
         "created until the webhook answers or its failurePolicy is Ignore.",
         ("kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations",)),
    Form("create", Component.CONTROLLER, r"error creating:(?= )",
         "The API server accepted the workload but not its pod; the next part says why. Pods are validated only when"
         " they are created.",
         ("kubectl get events -n NAMESPACE --field-selector reason=FailedCreate",)),
    Form("matchLabelKeys", Component.API_SERVER,
         rf"(?:(?:The )?{_OBJECT} is invalid: *)?(?:\[ *)?{_PATH}: *invalid value: *"
         rf"(?P<value>{_QUOTED}): *exists in both matchLabelKeys and labelSelector",
         "The label {value} is in both matchLabelKeys and labelSelector of a constraint; only one of them can have "
         "it. A workload's template is not validated for this, so the workload is accepted but its pods are refused.",
         (_CHECK,)),
    Form("validation", Component.API_SERVER,
         rf"(?:(?:The )?{_OBJECT} is invalid: *)?(?:\[ *)?{_PATH}: *"
         rf"(?P<error>invalid value|required value|unsupported value|duplicate value|forbidden|too many|not found)"
         rf"(?P<why>(?:{_QUOTED}|[^\n\"])*)",
         "The API server refuses {object}: {path} is invalid ({error}{why}).", (_CHECK,)),
    Form("invalidObject", Component.API_SERVER, rf"(?:The )?{_OBJECT} is invalid: *(?P<why>[^\n]*)",
         "The API server refuses {object}: {why}.", (_CHECK,)),
    Form("decoding", Component.API_SERVER,
         r"(?:error from server \(badrequest\): *)?(?:error when (?:creating|replacing|applying)[^\n:]{0,200}: *)?"
         r"(?P<object>\b\w{1,60}) in version (?P<version>\"[^\"\n]{0,99}\"|[^\s\"]{1,99}) cannot be handled as an? "
         r"\w+: *(?:json: cannot unmarshal (?P<given>\w+) into go struct field (?P<field>\S+) of type (?P<type>\S+)"
         r"|strict decoding error: *(?P<why>[^\n]*))",
         "The API server cannot read the object: a value has the wrong type, or a field is unknown."
         , (_CHECK,)),
    Form("nullSelector", Component.API_SERVER,
         r"(?:299 - *)?\"?(?<![\w.\[\]])(?P<path>[\w.\[\]]{0,200}topologySpreadConstraints\[\d+\]\.labelSelector): "
         r"*a null labelSelector results in matching no pod\"?",
         "The constraint has no labelSelector: it counts no pod and spreads nothing.", (_CHECK,)),
    Form("unknownField", Component.API_SERVER, r"(?:warning: *)?unknown field (?P<field>\"[^\"]*\")(?! in io\.)",
         "The API server does not know the field {field} and drops it, so the setting has no effect.",
         (_CHECK,)),
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
         "release has dropped the version.",
         ("kubectl api-resources", _CHECK)),
    Form("chartField", Component.HELM,
         r"(?:(?:unable to build kubernetes objects from[^\n:]{0,100}: *)?error validating \"\": *)?"
         r"(?:error validating data: *)?ValidationError\((?P<path>[^)\n]{0,200})\): *(?P<why>unknown field "
         r"\"[^\"\n]{0,253}\" in [\w.]+|[^\n]*)",
         "Helm or kubectl validated the objects and found an error at {path}: {why}.",
         ("helm template RELEASE CHART | kubectl spread check -",)),
    Form("chartCheck", Component.HELM,
         r"(?:unable to build kubernetes objects from[^\n:]{0,100}: *)error validating \"\": *"
         r"(?:error validating data: *)?(?P<why>[^\n]*)",
         "Helm validated the chart's objects against the cluster's schema and refused them: {why}.",
         ("helm template RELEASE CHART | kubectl spread check -",)),
    Form("chartYaml", Component.HELM,
         r"(?:error: *)?YAML parse error on (?P<file>\S+?): *error converting YAML to JSON: *yaml: *(?:line "
         r"(?P<line>\d+): *)?(?P<why>[^\n]*)",
         "The chart's template {file} does not render valid YAML: {why}. Usually the indent after toYaml is wrong. "
         "The line number counts lines of the rendered text.",
         ("helm template RELEASE CHART --debug",)),
    Form("chartValues", Component.HELM,
         r"(?<![\w.])(?P<path>[\w.]{0,200}topologySpreadConstraints): *invalid type\. expected: *(?P<type>\w+), "
         r"*given: *(?P<given>\w+)",
         "The chart's schema requires {path} to be {type}, but the values have {given}.",
         ("helm show values CHART", "helm template RELEASE CHART | kubectl spread check -")),
    Form("argoCd", Component.ARGO_CD,
         r"(?<![\w.])(?P<path>\.[\w.]{0,200}topologySpreadConstraints\[[^\[\]\n]{0,200}\][\w.]*)"
         r": *field not declared in schema",
         "Argo CD's built-in schema does not know {path}, because it is older than the cluster's release. A "
         "server-side diff uses the API server's schema instead.",
         ("argocd app diff NAME --server-side-generate",)),
    Form("kopsPending", Component.KOPS, r"system-(?:cluster|node)-critical pod \"?(?P<pod>[^\s\"]+)\"? is pending",
         "kops waits for every system-critical pod, and {pod} is Pending: look at the message of that pod.",
         ("kubectl spread explain pod {pod} -n kube-system",)),
)  # fmt: skip
