"""Sentences of kube-scheduler that are no list of nodes.

In `meaning` and `commands`, `{name}` stands for the group of that name in the shape.
"""

from __future__ import annotations

from kubectl_spread.messages.form import Component
from kubectl_spread.messages.form import Form

_POD = "kubectl describe pod NAME -n NAMESPACE"
_CLAIMS = "kubectl get pvc -n NAMESPACE"
_CLAIM = "kubectl describe pvc {claim} -n NAMESPACE"

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
)  # fmt: skip
