"""Sentences of the cluster autoscaler and Karpenter.

In `meaning` and `commands`, `{name}` is the text of the group of that name in the shape.
"""

from __future__ import annotations

from kubectl_spread.messages.form import Component, Form

_EXPLAIN = "kubectl spread explain pod NAME -n NAMESPACE"
_ZONES = "kubectl get nodes -L topology.kubernetes.io/zone"
_POD = "kubectl describe pod NAME -n NAMESPACE"
_BUDGETS = "kubectl get poddisruptionbudgets -n NAMESPACE"
_POOLS = "kubectl get nodepools -o wide"
_NODE_CLAIMS = "kubectl get nodeclaims -o wide"
_KARPENTER_LOG = "kubectl logs -n kube-system -l app.kubernetes.io/name=karpenter --tail=100"
_CLAUSE = r"[^\n;]*"  # to the end of the line, or of the clause of one node pool

FORMS = (
    Form("scaledUp", Component.CLUSTER_AUTOSCALER, r"pod triggered scale-up:?(?P<groups> *\[[^\[\]\n]*\])?",
         "The autoscaler is adding a node for this pod. Wait until the node is ready.", ("kubectl get nodes",)),
    Form("scaleUpFailed", Component.CLUSTER_AUTOSCALER,
         r"node scale up in (?:zones? )?(?P<zones>[^\s:;][^\n:;]{0,100}?) associated with this pod failed: *"
         r"(?P<why>(?:[^\n.]|\.(?! pod is at risk|\s|\Z))*)(?:\. pod is at risk of not being scheduled)?\.?",
         "The autoscaler asked the cloud for a node in {zones} but did not get one ({why}). The pod waits until it "
         "does.",
         ("kubectl get configmap cluster-autoscaler-status -n kube-system -o yaml", "kubectl get nodes")),
    Form("noPlace", Component.CLUSTER_AUTOSCALER,
         r"failed to find place for (?P<pod>\S+):(?: cannot put pod \S+ on any node)?(?P<why>[^\n]*)",
         "The autoscaler keeps a node because pods on it, such as {pod}, fit on no other node. Spread constraints "
         "can be the reason, not only resources.", (_EXPLAIN,)),
    Form("upcoming", Component.CLUSTER_AUTOSCALER,
         r"pod (?P<pod>\S+) marked as unschedulable can be scheduled on (?:node )?(?P<node>\S+?)\. ignoring in scale "
         r"up",
         "The autoscaler expects the pod to fit on {node}, which exists or is being added, and adds no other node. "
         "If the pod stays Pending, the scheduler has a reason that the autoscaler does not know.", (_EXPLAIN,)),
    Form("autoscalerBudget", Component.CLUSTER_AUTOSCALER,
         r"not enough pod disruption budget to move (?P<pod><[^>\s]+>|\S+)",
         "The node of {pod} cannot be drained: its PodDisruptionBudget allows no eviction now.", (_BUDGETS,)),
    Form("notRemovable", Component.CLUSTER_AUTOSCALER,
         r"(?:node )?(?<!\S)(?P<node>\S{1,253}) is not suitable for removal(?:: *| - )(?P<why>[^\n]*)",
         "The autoscaler keeps node {node}: {why}.", (_EXPLAIN,)),
    Form("predicate", Component.CLUSTER_AUTOSCALER,
         r"(?:predicate checking error: *[^\n;]{0,200}; *)?predicateName=(?P<plugin>\w+); *reasons: *(?P<why>[^\n;]*)"
         r"; *debugInfo=[^\n]*",
         "The scheduler's plugin {plugin} would refuse a new node of that group: {why}.", (_EXPLAIN,)),
    Form("noExpansion", Component.CLUSTER_AUTOSCALER, r"no expansion opti+ons",
         "No node group can grow to take the Pending pods.",
         ("kubectl get configmap cluster-autoscaler-status -n kube-system -o yaml",)),
    Form("autoscalerLimit", Component.CLUSTER_AUTOSCALER,
         r"max cluster (?P<resources>[\w./-]+(?:, ?[\w./-]+)*) limit reached",
         "The autoscaler's limit for the whole cluster is reached: {resources}.",
         ("kubectl get configmap cluster-autoscaler-status -n kube-system -o yaml",)),
    Form("karpenterTopology", Component.KARPENTER,
         r"unsatisfiable topology constraint for (?P<what>key [^\s,;]{1,200}|[\w -]{1,60}?)"
         r"(?:, *key=(?P<key>[^\s,;(]{1,200}))?(?: *\((?P<counts>counts *=[^\n;]{0,4000}))?(?= *(?:;|\n|\)|\Z))",
         "Karpenter can put the pod into no domain of {key} without breaking its {what}. It counts all domains it "
         "knows, including those of node pools that the pod cannot use.",
         (_EXPLAIN, _ZONES, _POOLS)),
    Form("karpenterCounts", Component.KARPENTER,
         r"\(?(?P<counts>counts *= *[^\s,;=:()]{0,200} *:[^\n;]{0,4000}|counts *= *,[^\n;]{0,4000})",
         "Karpenter's count of matching pods in each domain, the domains that the pod can use, and the domains of "
         "the node pool.",
         (_EXPLAIN, _ZONES, _POOLS)),
    Form("karpenterPool", Component.KARPENTER,
         r"incompatible with (?P<what>nodepool|provisioner) (?P<pool>\"[^\"\n]{0,253}\"|[^\s,\"]{1,253})"
         r"(?:, *daemonset overhead=(?P<overhead>\{[^{}\n]{0,2000}\}|[^\s,]{1,200}))?,? *(?=[^,\s]|\Z)",
         "Karpenter cannot create a node of {pool} for the pod; the next part says why.",
         (_POOLS, "kubectl describe nodepool {pool}", _KARPENTER_LOG)),
    Form("karpenterRequirements", Component.KARPENTER,
         r"incompatible requirements, *(?P<why>(?:label \"[^\"\n]{0,200}\"[^\n;]*"
         r"|[^\n;]{0,200}?key (?P<key>[^\s,;]{1,200})[^\n;]*))",
         "The pod's node selector, its affinity or an already chosen domain excludes every node of the node pool: "
         "{why}.",
         (_POOLS, "kubectl get nodes --show-labels", _EXPLAIN)),
    Form("karpenterTypes", Component.KARPENTER,
         r"nodepool requirements filtered out all (?:compatible )?(?:available )?instance types"
         r"(?: due to (?P<why>minValues incompatibility))?",
         "No available instance type meets the NodePool's requirements, so Karpenter creates no node. The "
         "requirements contradict each other, or the cloud has no capacity for these types now.",
         (_POOLS, "kubectl get events -A --field-selector reason=NoCompatibleInstanceTypes", _KARPENTER_LOG)),
    Form("karpenterInstance", Component.KARPENTER,
         rf"no instance type (?:satisfied|has enough|met|which){_CLAUSE}",
         "No instance type of the node pool is large enough for the pod and the DaemonSets and meets their "
         "requirements.",
         (_POOLS, _POD, _EXPLAIN)),
    Form("karpenterTaint", Component.KARPENTER,
         r"did not tolerate (?:taint *\(?taint=)?(?P<taint>[^\s;,)]{1,200})\)?",
         "The node pool's nodes have the taint {taint}, which the pod does not tolerate.",
         (_POOLS, "kubectl get nodepools -o custom-columns=NAME:.metadata.name,TAINTS:.spec.template.spec.taints")),
    Form("karpenterLimit", Component.KARPENTER,
         rf"all available instance types exceed limits for {_CLAUSE}",
         "The node pool has reached its limits and cannot add nodes.",
         ("kubectl get nodepools -o custom-columns=NAME:.metadata.name,LIMITS:.spec.limits,USED:.status.resources",)),
    Form("karpenterNoPool", Component.KARPENTER, r"no (?:nodepools?|provisioners?) found",
         "Karpenter has no node pool.", ("kubectl get nodepools",)),
    Form("karpenterNominated", Component.KARPENTER, r"pod should schedule on:? *(?P<node>[^\n]*)",
         "Karpenter expects the pod to fit on {node}. If it stays Pending, the scheduler refuses that node.",
         (_EXPLAIN, _NODE_CLAIMS)),
    Form("karpenterDisruption", Component.KARPENTER,
         r"(?:cannot disrupt (?P<what>node|nodeclaim)|unconsolidatable)\b:? *(?P<why>[^\n]*)",
         "Karpenter cannot remove a node: {why}.", (_BUDGETS, _NODE_CLAIMS)),
    Form("karpenterCapacity", Component.KARPENTER,
         r"(?:(?:launching nodeclaim|creating instance)[^\n]{0,200}?: *)?(?P<why>insufficient capacity[^\n]*"
         r"|all requested instance types were unavailable during launch[^\n]*|InsufficientInstanceCapacity[^\n]*)",
         "The cloud has no capacity for the instance types that Karpenter asked for ({why}). Karpenter tries other "
         "types, and these again later.",
         (_NODE_CLAIMS, _POOLS, _KARPENTER_LOG)),
    Form("karpenterFailed", Component.KARPENTER,
         r"failed to schedule pod,(?! *(?:incompatible|no |did not|unsatisfiable|all available|nodepool)) *"
         r"(?P<why>[^\n]*)",
         "Karpenter creates no node for the pod: {why}.", (_POOLS, _KARPENTER_LOG, _EXPLAIN)),
)  # fmt: skip
