"""Sentences of kube-scheduler that do not list nodes.

In `meaning` and `commands`, `{name}` is the text of the group of that name in the shape.
"""

from __future__ import annotations

from kubectl_spread.messages.form import Component, Form

_POD = "kubectl describe pod NAME -n NAMESPACE"
_CLAIMS = "kubectl get pvc -n NAMESPACE"
_CLAIM = "kubectl describe pvc {claim} -n NAMESPACE"

FORMS = (
    Form("noNodes", Component.SCHEDULER, r"(?:cannot schedule pods: *)?no nodes available to schedule pods",
         "The cluster has no nodes, or none has registered with the API server.",
         ("kubectl get nodes",)),
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
    Form("volumeBinding", Component.SCHEDULER,
         r"(?:error: *)?(?:running PreBind plugin \"?VolumeBinding\"?: *)?binding volumes: *"
         r"(?P<why>provisioning failed for PVC \"?(?P<claim>[^\s\"]+)\"?"
         r"|selectedNode annotation (?:reset|value [^\n]{0,200}?) for PVC \"?(?P<claim2>[^\s\"]+)\"?"
         r"|[^\n]{0,200}?(?:PVC|claim|persistentvolumeclaim)s? \"?(?P<claim3>[^\s\",:;.()]+)\"?[^\n]*)",
         "A node was chosen, but the volume of claim {claim} was not ready in time ({why}). The scheduler tries "
         "again, and the pod waits until the volume exists.",
         (_CLAIM, "kubectl get events -n NAMESPACE --field-selector involvedObject.name={claim}",
          "kubectl get storageclass")),
    Form("volumeElsewhere", Component.SCHEDULER,
         r"(?:error: *)?(?:running PreBind plugin \"?VolumeBinding\"?: *)?binding volumes: *"
         r"pv \"?(?P<volume>[^\s\"]+)\"? node affinity doesn't match node \"?(?P<node>[^\s\":]+)\"?[^\n]*",
         "Node {node} was chosen, but volume {volume} cannot be reached from it: meanwhile the claim was bound to a "
         "volume of another node or zone. The scheduler tries again.",
         ("kubectl describe pv {volume}", _CLAIMS, "kubectl get storageclass")),
    Form("volumeBindingUnnamed", Component.SCHEDULER,
         r"(?:error: *)?(?:running PreBind plugin \"?VolumeBinding\"?: *)?binding volumes: *(?P<why>[^\n]*)",
         "A node was chosen, but a volume of the pod was not ready in time ({why}). The message does not name the "
         "claim: it is one of the pod's Pending claims. The scheduler tries again, and the pod waits until the "
         "volume exists.",
         (_CLAIMS, "kubectl describe pvc -n NAMESPACE", "kubectl get storageclass")),
    Form("claimUnbound", Component.SCHEDULER,
         r"(?:error *:? *)?(?:while )?running \"?VolumeBinding\"? filter plugin for pod \"?(?P<pod>[^\s\"]+)\"?: *"
         r"pod has unbound immediate PersistentVolumeClaims",
         "A PersistentVolumeClaim of pod {pod} is not bound, and its StorageClass binds it before a node is chosen. "
         "The scheduler considers no node until the claim has its volume.", (_CLAIMS, "kubectl get storageclass")),
    Form("claimMissing", Component.SCHEDULER,
         r"(?:error *:? *)?(?:while )?running \"?VolumeBinding\"? filter plugin for pod \"?(?P<pod>[^\s\"]+)\"?: *"
         r"(?:could not find v1\.)?persistentvolumeclaim \"?(?P<claim>[^\s\"]+)\"?(?: not found)?",
         "Pod {pod} uses the PersistentVolumeClaim {claim}, which does not exist.", (_CLAIMS,)),
    Form("pluginError", Component.SCHEDULER,
         r'(?:error: *)?running (?P<plugin>"?\w+"? filter plugin|\w+ plugin "?\w+"?)[^\n]*',
         "A scheduler plugin failed. This is not about the nodes, and the scheduler tries again.", (_POD,)),
    Form("binding", Component.SCHEDULER, r"(?:binding rejected|failed to assume)[^\n]*",
         "A node was chosen, but the pod or its volumes could not be bound to it.",
         ("kubectl get pvc -n NAMESPACE",)),
)  # fmt: skip
