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
_CLAUSE = r"[^\n;]*"  # to the end of the line, or of what is said of one node pool
_PATH = r"(?<![\w.\[\]])(?P<path>[\w.\[\]]{0,200}topologySpreadConstraints(?:\[\d+\])*(?:\.\{[^}]*\}|[\w.\[\]])*)"

FORMS = (
    Form("no-nodes", Component.SCHEDULER, r"no nodes available to schedule pods",
         "The scheduler knows of no node at all: either there is none, or none has registered with the API server.",
         ("kubectl get nodes",)),
    Form("gated", Component.API_SERVER, r"scheduling is blocked due to non-empty scheduling gates",
         "The pod has schedulingGates: the scheduler does not look at it, and writes no event, until whatever set the "
         "gates removes them.",
         ("kubectl get pod NAME -n NAMESPACE -o jsonpath='{{.spec.schedulingGates}}'",)),
    Form("skip-deleting", Component.SCHEDULER, r"skip schedule deleting pod:? *(?P<pod>\S+)?",
         "The pod is being deleted, so the scheduler does not place it any more."),
    Form("assigned", Component.SCHEDULER, r"successfully assigned (?P<pod>\S+) to (?P<node>\S+)",
         "The pod found a node, {node}; if it does not run, its kubelet says why.", (_POD,)),
    Form("preempted", Component.SCHEDULER, r"preempted by (?P<pod>(?:pod )?\S+) on node (?P<node>[^\s.]\S*)",
         "A pod of higher priority took this pod's place on node {node}.",
         ("kubectl get pods -A --sort-by=.spec.priority",)),
    Form("permit", Component.SCHEDULER, r'pod "?(?P<pod>[^\s"]+)"? rejected while waiting on permit:?[^\n]*',
         "A node was found, and a plugin that has the last word (gang scheduling, a quota) refused or waited too "
         "long."),
    Form("plugin-error", Component.SCHEDULER,
         r'(?:error: *)?running (?P<plugin>"?\w+"? filter plugin|\w+ plugin "?\w+"?)[^\n]*',
         "A plugin of the scheduler failed, which says nothing of the nodes: the scheduler tries again.", (_POD,)),
    Form("binding", Component.SCHEDULER, r"(?:binding (?:volumes|rejected)|failed to assume)[^\n]*",
         "A node was chosen, and then the pod or its volumes could not be bound to it.",
         ("kubectl get pvc -n NAMESPACE",)),
    Form("scaled-up", Component.CLUSTER_AUTOSCALER, r"pod triggered scale-up:?(?P<groups> *\[[^\n]*\])?",
         "The autoscaler is adding a node for this pod; wait until it is ready.", ("kubectl get nodes",)),
    Form("scale-up-failed", Component.CLUSTER_AUTOSCALER,
         r"node scale up in (?:zones? )?(?P<zones>\S[^\n]*?) associated with this pod failed: *(?P<why>[^\n]*?)"
         r"(?:\. pod is at risk of not being scheduled\.?|$)",
         "The autoscaler asked the cloud for a node and did not get it ({why}); until it does, the pod waits."),
    Form("no-place", Component.CLUSTER_AUTOSCALER,
         r"failed to find place for (?P<pod>\S+):(?: cannot put pod \S+ on any node)?(?P<why>[^\n]*)",
         "The autoscaler would remove a node, and the pods on it, {pod} for one, would fit on no other: the node "
         "stays. "
         "A spread constraint counts as much here as room does.", (_EXPLAIN,)),
    Form("upcoming", Component.CLUSTER_AUTOSCALER,
         r"pod (?P<pod>\S+) marked as unschedulable can be scheduled on (?:node )?(?P<node>\S+?)\. ignoring in scale "
         r"up",
         "The autoscaler believes the pod will fit on {node}, which is on its way or there already, and adds no other. "
         "If the pod stays Pending, the scheduler sees something the autoscaler does not.", (_EXPLAIN,)),
    Form("autoscaler-budget", Component.CLUSTER_AUTOSCALER,
         r"not enough pod disruption budget to move (?P<pod><[^>\s]+>|\S+)",
         "The node of {pod} cannot be emptied: its PodDisruptionBudget allows no eviction now.", (_BUDGETS,)),
    Form("not-removable", Component.CLUSTER_AUTOSCALER,
         r"(?:node )?(?<!\S)(?P<node>\S{1,253}) is not suitable for removal(?:: *| - )(?P<why>[^\n]*)",
         "The autoscaler keeps node {node}: {why}.", (_EXPLAIN,)),
    Form("predicate", Component.CLUSTER_AUTOSCALER,
         r"(?:predicate checking error: *[^\n;]{0,300}; *)?predicateName=(?P<plugin>\w+); *reasons: *(?P<why>[^\n;]*)"
         r"; *debugInfo=[^\n]*",
         "A new node of that group would be refused by the scheduler's plugin {plugin}: {why}.", (_EXPLAIN,)),
    Form("no-expansion", Component.CLUSTER_AUTOSCALER, r"no expansion opti+ons",
         "No node group could be made larger to take the pods that wait.",
         ("kubectl get configmap cluster-autoscaler-status -n kube-system -o yaml",)),
    Form("autoscaler-limit", Component.CLUSTER_AUTOSCALER,
         r"max cluster (?P<resources>[\w./-]+(?:, ?[\w./-]+)*) limit reached",
         "The autoscaler's limit for the whole cluster is reached: {resources}."),
    Form("karpenter-topology", Component.KARPENTER,
         r"unsatisfiable topology constraint for (?P<what>key [^\s,;]+|[\w -]+?)"
         r"(?:, *key=(?P<key>[^\s,;(]+))?"
         r"(?: *\(counts *= *(?P<counts>[^\n;]*?),? *podDomains *= *(?P<podDomains>[^\n;]*?), *nodeDomains *= *"
         r"(?P<nodeDomains>[^\n;]*?)\)?)?(?= *(?:;|$|\n|\)))",
         "No domain of {key} is left in which Karpenter may put the pod without breaking its {what}. It counts all "
         "domains it knows of, those of node pools the pod cannot use among them."),
    Form("karpenter-counts", Component.KARPENTER,
         r"\(?counts *= *(?P<counts>[^\n;]*?)(?:,? *podDomains *= *(?P<podDomains>[^\n;]*?), *nodeDomains *= *"
         r"(?P<nodeDomains>[^\n;]*?))?\)?(?= *(?:;|$|\n))",
         "Karpenter's count of matching pods in each domain, the domains the pod may use, and those the node pool "
         "has."),
    Form("karpenter-pool", Component.KARPENTER,
         r"incompatible with (?P<what>nodepool|provisioner) (?P<pool>\"[^\"]*\"|\S+?)"
         r"(?:, *daemonset overhead=(?P<overhead>\{[^}]*\}|\S+?))?,? *(?=[^,\s]|$)",
         "Karpenter cannot make a node of {pool} for the pod; what follows says why."),
    Form("karpenter-requirements", Component.KARPENTER,
         r"incompatible requirements, *(?P<why>(?:label \"[^\"]*\"[^\n;]*|[^\n;]*?key (?P<key>[^\s,;]+)[^\n;]*))",
         "What the pod asks of its node, by node selector, affinity or an earlier choice of a domain, is nothing the "
         "node "
         "pool may have: {why}."),
    Form("karpenter-instance", Component.KARPENTER,
         rf"no instance type (?:satisfied|has enough|met|which){_CLAUSE}",
         "No instance type of the node pool has room for the pod and the DaemonSets and meets what both ask for."),
    Form("karpenter-taint", Component.KARPENTER, r"did not tolerate (?:taint *\(?taint=)?(?P<taint>[^\s;,)]+)\)?",
         "The node pool's nodes have the taint {taint}, which the pod does not tolerate."),
    Form("karpenter-limit", Component.KARPENTER, rf"all available instance types exceed limits for {_CLAUSE}",
         "The node pool's limits are used up.", ("kubectl get nodepools",)),
    Form("karpenter-no-pool", Component.KARPENTER, r"no (?:nodepools?|provisioners?) found",
         "Karpenter has no node pool to make nodes of.", ("kubectl get nodepools",)),
    Form("karpenter-nominated", Component.KARPENTER, r"pod should schedule on:? *(?P<node>[^\n]*)",
         "Karpenter expects the pod to fit on {node}. If it stays Pending, the scheduler refuses what Karpenter "
         "counts on.",
         (_EXPLAIN,)),
    Form("karpenter-disruption", Component.KARPENTER,
         r"(?:cannot disrupt (?P<what>node|nodeclaim)|unconsolidatable)\b:? *(?P<why>[^\n]*)",
         "Karpenter would remove a node and may not: {why}.", (_BUDGETS,)),
    Form("eviction", Component.API_SERVER,
         r"cannot evict pod as it would violate the pod's disruption budget\.?"
         r"(?: *the disruption budget (?P<budget>\S+) (?P<why>needs[^\n]*?)\.?(?=\s*$|\n|\"))?",
         "The pod's PodDisruptionBudget allows no eviction now (status 429): kubectl drain tries again until it does. "
         "Where the budget is met only once another pod runs, and that pod is Pending, it never does.", (_BUDGETS,)),
    Form("statefulset-create", Component.CONTROLLER,
         r"create pod (?P<pod>\S+) in statefulset (?P<owner>\S+) failed error:(?= )",
         "The StatefulSet {owner} was accepted and its pod {pod} was not; what follows says why. Pods are checked "
         "only when "
         "they are created.", ("kubectl describe statefulset {owner} -n NAMESPACE",)),
    Form("quota", Component.CONTROLLER,
         r"(?:error creating: *)?pods \"(?P<pod>[^\"]*)\" is forbidden: *(?P<why>[^\n]*)",
         "The controller may not create the pod: {why}.", ("kubectl describe resourcequota -n NAMESPACE",)),
    Form("create", Component.CONTROLLER, r"error creating:(?= )",
         "The workload was accepted and its pod was not; what follows says why. Pods are checked only when they are "
         "created.",
         ("kubectl get events -n NAMESPACE --field-selector reason=FailedCreate",)),
    Form("match-label-keys", Component.API_SERVER,
         rf"(?:(?:The )?\b\w{{1,60}} \"(?P<object>[^\"]*)\" is invalid: *)?(?:\[? *)?{_PATH}: *invalid value: *"
         rf"(?P<value>{_QUOTED}): *exists in both matchLabelKeys and labelSelector",
         "The label {value} is in matchLabelKeys and in labelSelector of one constraint; it may be in one of them "
         "only. A "
         "workload's template is not checked for it, so that the workload stands and its pods are refused.", (_CHECK,)),
    Form("validation", Component.API_SERVER,
         rf"(?:(?:The )?\b\w{{1,60}} \"(?P<object>[^\"]*)\" is invalid: *)?(?:\[? *)?{_PATH}: *"
         rf"(?P<error>invalid value|required value|unsupported value|duplicate value|forbidden|too many|not found)"
         rf"(?P<why>(?:{_QUOTED}|[^\n\"])*)",
         "The API server refuses the object: {path} is not as it must be ({error}{why}).", (_CHECK,)),
    Form("validation", Component.API_SERVER, r"(?:The )?\b(?P<path>[A-Z]\w{1,60} \"[^\"]{0,253}\") is "
                                             r"invalid:(?P<error>)(?P<why>[^\n]*)",
         "The API server refuses the object {path}:{why}.", (_CHECK,)),
    Form("decoding", Component.API_SERVER,
         r"(?:error from server \(badrequest\): *)?(?:error when (?:creating|replacing|applying)[^\n:]*: *)?"
         r"(?P<object>\b\w{1,60}) in version (?P<version>\"[^\"]*\"|\S+) cannot be handled as an? \w+: *"
         r"(?:json: cannot unmarshal (?P<given>\w+) into go struct field (?P<field>\S+) of type (?P<type>\S+)"
         r"|strict decoding error: *(?P<why>[^\n]*))",
         "The API server cannot read the object, as the text has another type, or a field, than it knows there."
         , (_CHECK,)),
    Form("null-selector", Component.API_SERVER,
         r"(?:299 - *)?\"?(?<![\w.\[\]])(?P<path>[\w.\[\]]{0,200}topologySpreadConstraints\[\d+\]\.labelSelector): "
         r"*a null labelSelector results in matching no pod\"?",
         "The constraint has no labelSelector: it counts no pod, so that it holds nothing apart.", (_CHECK,)),
    Form("unknown-field", Component.API_SERVER, r"(?:warning: *)?unknown field (?P<field>\"[^\"]*\")(?! in io\.)",
         "The API server knows no field {field} there and drops it; the constraint does not do what it says.",
         (_CHECK,)),
    Form("chart-field", Component.HELM,
         r"(?:error validating (?:data|\"[^\"]*\"): *)*ValidationError\((?P<path>[^)]*)\): *(?P<why>unknown field "
         r"\"[^\"]*\" in [\w.]+"
         r"|[^\n]*)",
         "What Helm or kubectl checks before sending it does not have this shape at {path}: {why}.",
         ("helm template RELEASE CHART | kubectl spread check -",)),
    Form("chart-yaml", Component.HELM,
         r"(?:error: *)?YAML parse error on (?P<file>\S+?): *error converting YAML to JSON: *yaml: *(?:line "
         r"(?P<line>\d+): *)?(?P<why>[^\n]*)",
         "The chart's template {file} does not print YAML: {why}. Most often toYaml of the constraints has a wrong "
         "indent; the line is that of the printed text.",
         ("helm template RELEASE CHART --debug",)),
    Form("chart-values", Component.HELM,
         r"(?<![\w.])(?P<path>[\w.]{0,200}topologySpreadConstraints): *invalid type\. expected: *(?P<type>\w+), "
         r"*given: *(?P<given>\w+)",
         "The chart's own schema wants {path} as {type}, and the values have {given}."),
    Form("argo-cd", Component.ARGO_CD,
         r"(?<![\w.])(?P<path>\.[\w.]{0,200}topologySpreadConstraints\[[^\]]*\][\w.]*)"
         r": *field not declared in schema",
         "Argo CD's built-in schema does not know {path}: it is of an older release than the cluster. Server-side "
         "diff leaves the question to the API server."),
    Form("kops-pending", Component.KOPS, r"system-(?:cluster|node)-critical pod \"?(?P<pod>[^\s\"]+)\"? is pending",
         "kops waits for every system-critical pod, and {pod} is Pending: look at its own message.",
         ("kubectl spread explain pod {pod} -n kube-system",)),
)  # fmt: skip

NOT_SCALED = re.compile(
    r"pod\s+didn't\s+trigger\s+scale-?\s*up(?:\s*\(it\s+wouldn't\s+fit\s+if\s+a\s+new\s+node\s+is\s+added\))?\s*:?",
    re.IGNORECASE,
)
_COMPILED = tuple(
    (form, re.compile(form.shape.replace(" *", r"[^\S\n]*").replace(" ?", r"\s*").replace(" ", r"\s+"), re.IGNORECASE))
    for form in FORMS
)


def find(text: str) -> list[Found]:
    """The sentences of a text that are recognised, in its order; of overlapping ones the first, the special before."""
    found: list[Found] = []
    for rank, (form, shape) in enumerate(_COMPILED):
        for at in shape.finditer(text):
            details = {name: " ".join(value.split()) for name, value in at.groupdict().items() if value}
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
}
