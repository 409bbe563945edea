"""Changes of nodes: cordons, taints, labels, and the nodes that pods select.

A taint of a component means that a node is starting, unhealthy or about to be removed. It should be neither tolerated
nor removed by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Optional

from kubectl_spread.advice.actions import DeleteNode, EditNode
from kubectl_spread.advice.change import Change, ids_of, Ladder, Proposal, Rank
from kubectl_spread.advice.moves.constraints import has_meant_key
from kubectl_spread.advice.problem import PendingPodProblem
from kubectl_spread.advice.target import put_op
from kubectl_spread.containers import grouped
from kubectl_spread.explain.constraint_report import ConstraintReport
from kubectl_spread.explain.requirements.requirement import RequirementKind
from kubectl_spread.objects.node import first_untolerated, Node, OUT_OF_SERVICE, OUTAGES, Taint, UNSCHEDULABLE
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from kubectl_spread.objects.selectors import CONTROL_PLANE, HOSTNAME, LEGACY, OS, REGION, ZONE
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.text.wording import comma_list, misspelt, spelling_of

_PREFIXES = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "node.cluster.x-k8s.io/",
    "node.cilium.io/",
    "aws-node-termination-handler/",
    "readiness.k8s.io/",
    "karpenter.sh/disrupt",
)
_KEYS = frozenset(
    {
        "ToBeDeletedByClusterAutoscaler",
        "DeletionCandidateOfClusterAutoscaler",
        "karpenter.sh/unregistered",
        "karpenter.sh/unhealthy",
        "cloud.google.com/impending-node-termination",
        "remediation.medik8s.io/exclude-from-remediation",
        "eks.amazonaws.com/compute-type",  # Fargate places its pods itself
        "virtual-kubelet.io/provider",
    }
)
_SUFFIXES = ("/agent-not-ready", "/not-ready", "/uninitialized", "/startup", "/out-of-service")

# A node has these until it is Ready, or again once it is not.
_STARTING = (
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/network-unavailable",
    "node.cloudprovider.kubernetes.io/uninitialized",
    "node.cluster.x-k8s.io/uninitialized",
    "karpenter.sh/unregistered",
)
_LEAVING = (
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
    "node.cloudprovider.kubernetes.io/shutdown",
    OUT_OF_SERVICE,
    "cloud.google.com/impending-node-termination",
)
_LEAVING_PREFIXES = ("karpenter.sh/disrupt", "aws-node-termination-handler/")


def is_of_system(taint: Taint) -> bool:
    """Return whether a component of the cluster manages the taint."""
    key = taint.key
    return key in _KEYS or key.startswith(_PREFIXES) or key.endswith(_SUFFIXES)


def is_leaving(node: Node) -> bool:
    """Return whether an autoscaler or the cloud is about to remove the node."""
    return any(taint.key in _LEAVING or taint.key.startswith(_LEAVING_PREFIXES) for taint in node.taints)


def is_down(node: Node) -> bool:
    """Return whether the node controller reports the node as not Ready or unreachable."""
    return any(taint.key in OUTAGES and taint.repels for taint in node.taints)


def temporary_taints(node: Node) -> tuple[Taint, ...]:
    """Return the taints that the node loses when it becomes Ready; none for a node that is being removed."""
    if is_leaving(node):
        return ()
    ends = ("/agent-not-ready", "/not-ready", "/uninitialized")
    return tuple(item for item in node.taints if item.repels and (item.key in _STARTING or item.key.endswith(ends)))


def is_unfit(nodes: Iterable[Node]) -> bool:
    """Return whether all of the nodes are down or being removed; False if there are none."""
    found = list(nodes)
    return bool(found) and all(is_down(node) or is_leaving(node) for node in found)


def is_control_plane(node: Node) -> bool:
    """Return whether a node belongs to the control plane."""
    return any(key in node.labels for key in CONTROL_PLANE) or any(taint.key in CONTROL_PLANE for taint in node.taints)


def misspelt_values(nodes: Iterable[Node], key: str) -> dict[str, str]:
    """Return the misspelt values of a label, each with the spelling that more nodes have."""
    return misspelt(Counter(node.labels[key] for node in nodes if node.labels.get(key)))


_NAMED = 4  # nodes that a title names
_MOST_AT_ONCE = 32  # nodes of one group that are changed at once


def idle_taints(problem: PendingPodProblem) -> frozenset[Taint]:
    """Return the taints set by users that keep the pod off a node without workload pods."""
    untolerated = problem.columns.untolerated_taints(problem.pod.cls.tolerations)
    return frozenset(
        taint
        for node, taint in zip(problem.cluster.nodes, untolerated, strict=True)
        if taint is not None and not is_of_system(taint) and not problem.pods_of_workloads(node.name)
    )


def equal_groups(nodes: Iterable[Node]) -> list[list[Node]]:
    """Return nodes in groups that the scheduler only distinguishes by name, in the given order."""

    def kind(node: Node) -> Hashable:
        labels = frozenset((key, value) for key, value in node.labels.items() if key != HOSTNAME and value != node.name)
        return labels, node.taints, node.unschedulable, frozenset(node.allocatable.items())

    return list(grouped((kind(node), node) for node in nodes).values())


def names_of(nodes: Sequence[Node], equal: int) -> str:
    """Return `node a`, `nodes a, b` or `nodes a, b (2 of 100 equal nodes)`."""
    what = "node" if len(nodes) == 1 else "nodes"
    of = f" ({len(nodes)} of {equal} equal nodes)" if equal > len(nodes) else ""
    return f"{what} {comma_list((node.name for node in nodes), most=_NAMED)}{of}"


def equal_ladder(nodes: Sequence[Node], change: Callable[[Sequence[Node], str], Change]) -> Ladder:
    """Return changes of one node of a group, of two, and so on.

    Args:
        nodes: of one group.
        change: makes the change of some nodes; the text names them.
    """
    size = min(len(nodes), _MOST_AT_ONCE)
    return Ladder(size, lambda at: change(nodes[: at + 1], names_of(nodes[: at + 1], len(nodes))))


_MOST = 4  # Most nodes that are proposed for one kind of change.


def _ladders(
    problem: PendingPodProblem, nodes: Iterable[Node], change: Callable[[Sequence[Node], str], Change]
) -> Iterator[Ladder]:
    """Yield changes of equal nodes; domains at the global minimum, which lack a pod, come first."""
    held = {
        (report.constraint.topology_key, value) for report in problem.reports for value in report.counts.smallest_in
    }
    nodes = (node for node in nodes if node.name not in problem.unusable)
    nodes = sorted(nodes, key=lambda node: (-sum(item in held for item in node.labels.items()), node.name))
    return (equal_ladder(group, change) for group in equal_groups(nodes)[:_MOST])


def propose_uncordoned(problem: PendingPodProblem) -> Iterator[Proposal]:
    cordoned = (node for node in problem.cluster.nodes if node.unschedulable and not is_leaving(node))
    relaxes = ids_of(problem, kind=RequirementKind.CORDON)

    def change(nodes: Sequence[Node], named: str) -> Change:
        return Change(
            f"uncordon {named}",
            tuple(EditNode(node.name, uncordoned=True) for node in nodes),
            "uncordon",
            Rank.UNCORDON,
            weight=len(nodes),
            relaxes=relaxes,
            gives_up=f"pods go to {named} again: check first why {'they are' if len(nodes) > 1 else 'it is'} cordoned",
            fold="uncordon",
        )

    return _ladders(problem, cordoned, change)


def propose_untainted(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Remove a taint that a user has put on nodes; taints that cluster components set are left alone."""
    tolerations, every = problem.pod.cls.tolerations, problem.cluster.nodes
    removable = {
        node.taints: taint
        for node in every
        if (taint := first_untolerated(node.taints, tolerations)) is not None
        and not any(is_of_system(other) for other in node.taints)
    }
    chosen = (node for node in every if node.taints in removable and not is_control_plane(node))

    def change(nodes: Sequence[Node], named: str) -> Change:
        taint = removable[nodes[0].taints]
        return Change(
            f"remove the taint {taint} from {named}",
            tuple(EditNode(node.name, untainted=(taint,)) for node in nodes),
            "taint",
            Rank.TAINT,
            weight=len(nodes),
            gives_up=f"{taint} no longer keeps {named} free of pods",
            fold=f"taint {taint}",
        )

    return _ladders(problem, chosen, change)


def propose_recordoned(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Add the taint that a node's cordon lacks: a constraint that honours taints counts such a node."""
    nodes = [node for node in problem.cluster.nodes if node.unschedulable and UNSCHEDULABLE not in node.taints]
    if nodes:
        listed = ", ".join(node.name for node in nodes[:_MOST])
        yield Change(
            f"add the taint of a cordon to {listed}, as the node controller does",
            tuple(EditNode(node.name, recordoned=True) for node in nodes[:_MOST]),
            "recordon",
            Rank.RECORDON,
            gives_up="constraints with nodeTaintsPolicy: Honor no longer count the node",
        )


def propose_deleted(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Delete the unusable, empty nodes of one domain at the global minimum, all at once."""
    idle = {  # cordoned or down, with DaemonSet and static pods only
        node.name
        for node in problem.cluster.nodes
        if (node.unschedulable or is_down(node))
        and not (is_control_plane(node) or is_leaving(node))
        # On a node that is down, pods that terminate end only once the node is deleted.
        and all(is_down(node) and pod.terminating for pod in problem.pods_of_workloads(node.name))
    }
    for report in problem.reports if idle else ():
        key = report.constraint.topology_key
        by_value = grouped((node.labels.get(key, ""), node) for node in problem.cluster.nodes)
        for value in report.counts.smallest_in:
            nodes = by_value[value]
            if len(nodes) <= _MOST and all(node.name in idle for node in nodes):
                do = "takes no pods and counts" if len(nodes) == 1 else "take no pods and count"
                yield Change(
                    f"delete {names_of(nodes, len(nodes))}, which {do} as a domain of {key}",
                    tuple(DeleteNode(node.name) for node in nodes),
                    "delete node",
                    Rank.EMPTY_NODE,
                    weight=len(nodes),
                    gives_up="the node is removed; stop its kubelet, or it registers the node again",
                    notes=tuple(_may_still_run(problem, nodes)),
                )


def _may_still_run(problem: PendingPodProblem, nodes: Iterable[Node]) -> Iterator[str]:
    """Yield a warning of a second pod with one identity: a node that is down may still run pods of StatefulSets."""
    down = [node for node in nodes if is_down(node)]
    pods = [pod for node in down for pod in problem.pods_of_workloads(node.name)]
    there = [pod.name for pod in pods if pod.owner is not None and pod.owner.kind == "StatefulSet"]
    who, they = (", ".join(there), "it is") if there else ("pods of StatefulSets", "they are")
    if there or (down and any(key.kind == "StatefulSet" for key in problem.cluster.controllers)):
        yield (
            f"make sure that {down[0].name} is off: {who} may still run there, and would run twice once {they} created "
            "elsewhere"
        )


def propose_selected(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Label nodes that lack only labels that nodeSelector, or the only term of the node affinity, requires.

    Labels that a node has from the beginning are not proposed.
    """
    selector, terms = dict(problem.pod.cls.node_selector), problem.pod.cls.node_affinity.required or ()
    conditions = terms[0].match_expressions if len(terms) == 1 else ()
    asked = {item.key: item.values for item in conditions if item.operator == "In" and item.values}
    asked |= {key: (value,) for key, value in selector.items()}
    missing = {key: values for key, values in asked.items() if not key.startswith(_BORN_WITH)}
    if not missing:
        return
    lacking = [
        node
        for node in _passing_others(problem, problem.cluster.nodes, names.NODE_AFFINITY)
        if any(node.labels.get(key) not in values for key, values in missing.items())
    ]

    def change(nodes: Sequence[Node], named: str) -> Change:
        there = nodes[0].labels
        pairs = tuple((key, values[0]) for key, values in missing.items() if there.get(key) not in values)
        rule = "nodeSelector" if pairs[0][0] in selector else "the node affinity"
        replaced = [f"{key}={there[key]}" for key, _ in pairs if key in there]
        return Change(
            f"label {named} with {', '.join(f'{key}={value}' for key, value in pairs)}, as {rule} requires",
            tuple(EditNode(node.name, pairs) for node in nodes),
            "node label",
            Rank.OTHER_TIER if replaced else Rank.NEW_LABEL,
            weight=len(nodes),
            gives_up=f"{named} no longer belongs to {', '.join(replaced)}" if replaced else "",
            notes=("label a node only if the label is true of it",),
            fold="label for nodeSelector",
        )

    yield from _ladders(problem, lacking, change)


def _passing_others(problem: PendingPodProblem, nodes: Iterable[Node], plugin: str) -> list[Node]:
    """Return the nodes that no other plugin refuses."""
    others = [item.bits for item in problem.filter_result.plugin_results if item.plugin != plugin]
    return [node for node in nodes if not any(bits[problem.columns.index[node.name]] for bits in others)]


_OF_MACHINES = ("karpenter.", "node.kubernetes.io/instance-type")
_OF_PROVISIONED = (*_OF_MACHINES, "topology.")
_BORN_WITH = (*_OF_PROVISIONED, "kubernetes.io/", "node.kubernetes.io/", "beta.kubernetes.io/", "failure-domain.")


_MOST_VALUES = 4  # Most values, and most nodes, that are proposed one by one.
_MOST_LABELLED = 20  # Most nodes that are labelled in one change.
SAME_PLACE = {
    ZONE: (LEGACY[ZONE], "topology.ebs.csi.aws.com/zone", "topology.gke.io/zone"),
    REGION: (LEGACY[REGION],),
}


def propose_labels(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Propose labels that are missing on nodes, or corrections of wrong ones."""
    made = _OF_PROVISIONED if problem.cluster.provisioning else _OF_MACHINES  # nodes are made with these labels
    nodes = problem.cluster.nodes
    for report in problem.reports:
        key = report.constraint.topology_key
        if not key or key.startswith(made):
            continue
        # A value that is a misspelling of another one: us-east1b for us-east-1b
        for wrong, right in misspelt_values(nodes, key).items():
            pairs = [(node, right) for node in nodes if node.labels.get(key) == wrong]
            listed = ", ".join(node.name for node, _ in pairs)
            title = f"correct the label {key} of node {listed}: {right} instead of {wrong}"
            note = f"{wrong} and {right} look like two spellings of one value: label the node only if they are"
            if len(pairs) <= _MOST_LABELLED:
                yield _of_labels(title, key, pairs, Rank.MISTAKE)._replace(notes=(note,))
        empty = [node for node in nodes if node.labels.get(key) == ""]
        if empty and len(empty) <= _MOST_VALUES:
            title = f"remove the empty label {key} from node {', '.join(node.name for node in empty)}"
            change = _of_labels(title, key, [(node, None) for node in empty], Rank.NODE_LABEL)
            yield change._replace(gives_up="the pods no longer go to the node")
        # Nodes that share a hostname label get their own.
        shared = [node for node in nodes if node.labels.get(key, node.name) != node.name]
        values = Counter(node.labels[key] for node in shared)
        twice = [node for node in shared if values[node.labels[key]] > 1]
        if twice and key == HOSTNAME and len(twice) <= _MOST_LABELLED:
            title = f"give each of {', '.join(node.name for node in twice)} its own {key}"
            change = _of_labels(title, key, [(node, node.name) for node in twice], Rank.NODE_LABEL)
            yield change._replace(gives_up="selectors that use the shared value no longer find these nodes")
        missing = [node for node in nodes if key not in node.labels]
        known = [(node, value) for node in missing if (value := _known(node, key))]
        if known and len(known) <= _MOST_LABELLED:
            yield _labelled(known, key, rank=Rank.NODE_LABEL)
        elif missing and not known:
            yield from _unknown(problem, report, missing)


def _known(node: Node, key: str) -> str:
    """Return the value that other labels of a node imply: a label of the same place or a misspelt key."""
    if key == HOSTNAME:
        return node.name
    same = next((node.labels[other] for other in SAME_PLACE.get(key, ()) if node.labels.get(other)), "")
    return same or node.labels.get(spelling_of(key, node.labels), "")


def _unknown(problem: PendingPodProblem, report: ConstraintReport, missing: list[Node]) -> Iterator[Proposal]:
    """Label nodes whose value is unknown: all that would take the pod at once, then one by one."""
    key = report.constraint.topology_key
    unknown: dict[str, Any] = {
        "notes": (f"write the value of {key} that is true of each node; the values shown were simulated",),
        "fold": f"missing label {key}",
    }
    values = [domain.value for domain in sorted(report.domains, key=lambda domain: (domain.matching, domain.value))]
    if not values:
        if len(missing) <= _MOST_LABELLED and not has_meant_key(problem, report):
            made = key.rpartition("/")[2] + "-1"
            yield _labelled([(node, made) for node in missing], key)._replace(**unknown)
        return
    usable = _passing_others(problem, missing, names.POD_TOPOLOGY_SPREAD)
    if usable and report.counts.is_below_min_domains and len(missing) <= _MOST_LABELLED:
        new = f"{key.rpartition('/')[2]}-{len(values) + 1}"  # the domain that is missing, and no spare value
        yield _labelled([(node, new) for node in missing], key, rank=Rank.NODE_LABEL)._replace(**unknown)
    for first in range(min(len(values), _MOST_VALUES)):
        pairs = [(node, values[(first + at) % len(values)]) for at, node in enumerate(usable)]
        if 1 < len(pairs) <= _MOST_LABELLED:
            yield _labelled(pairs, key)._replace(**unknown)
    for node in usable[:_MOST_VALUES]:
        for value in values[:_MOST_VALUES]:
            yield _labelled([(node, value)], key)._replace(**unknown, weight=100)


def _labelled(pairs: Sequence[tuple[Node, str]], key: str, rank: Rank = Rank.NEW_LABEL) -> Change:
    values = dict.fromkeys(value for _, value in pairs)
    if len(values) == 1:
        title = f"label {names_of([node for node, _ in pairs], len(pairs))} with {key}={next(iter(values))}"
    else:
        title = "label nodes: " + ", ".join(f"{node.name} {key}={value}" for node, value in pairs)
    return _of_labels(title, key, pairs, rank)._replace(weight=len(pairs))


def _of_labels(title: str, key: str, pairs: Iterable[tuple[Node, Optional[str]]], rank: Rank) -> Change:
    """Return a change of one label of nodes; None removes it."""
    return Change(title, [EditNode(node.name, ((key, value),)) for node, value in pairs], "node label", rank)


_OF_EVERY_NODE = frozenset({CPU, MEMORY, EPHEMERAL_STORAGE, PODS})


def propose_kinds(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Propose a nodeSelector for the nodes that can run the pods, so that other nodes do not count as domains."""
    if not problem.reports or problem.owner.kind == "DaemonSet":
        return
    # The operating system of the pods, if the cluster has nodes of several
    wanted = problem.operating_system
    if len(problem.values(OS)) > 1:
        yield from _selecting(problem, OS, wanted, f"nodes with {wanted} can run these pods")
    # The nodes with a requested resource, if only some nodes have it
    lacking = (item.key for item in problem.explanation.requirements if item.kind is RequirementKind.RESOURCE)
    for resource in dict.fromkeys(lacking):
        having, others = (
            [node for node in problem.cluster.nodes if bool(node.allocatable.get(resource)) is has_it]
            for has_it in (True, False)
        )
        if resource in _OF_EVERY_NODE or not having or not others:
            continue
        key, value = _label_of(having, others) or (f"{resource}.present", "true")
        unlabelled = [node for node in having if node.labels.get(key) != value]
        if len(unlabelled) <= _MOST_LABELLED:
            yield from _selecting(problem, key, value, f"such nodes have {resource}", unlabelled)


def _label_of(having: Iterable[Node], others: Iterable[Node]) -> tuple[str, str] | None:
    """Return the label that all nodes of one kind have and no other node has; an accelerator's label comes first."""
    common = set.intersection(*(set(node.labels.items()) for node in having))
    common = common.difference(*(node.labels.items() for node in others))
    telling = [
        item for item in common if item[0] != HOSTNAME and not item[0].startswith(("topology.", "failure-domain."))
    ]
    return min(telling, key=lambda item: ("gpu" not in item[0] and "accelerator" not in item[0], item), default=None)


def _selecting(
    problem: PendingPodProblem, key: str, value: str, why: str, unlabelled: Sequence[Node] = ()
) -> Iterator[Proposal]:
    """Select nodes by a label, unless the pods ask for it already; nodes that lack it get it."""
    selector, terms = dict(problem.pod.cls.node_selector), problem.pod.cls.node_affinity.required or ()
    if key in selector or any(item.key == key for term in terms for item in term.match_expressions):
        return
    there = fields(problem.spec, "nodeSelector")
    op = put_op(("nodeSelector", key), value) if there else put_op(("nodeSelector",), {key: value})
    labels = f", and give {', '.join(node.name for node in unlabelled)} this label" if unlabelled else ""
    yield Change(
        f"add {key}: {value} to nodeSelector, as only {why}{labels}",
        (*(EditNode(node.name, ((key, value),)) for node in unlabelled), op),
        "nodeSelector",
        Rank.NODE_KIND,
        weight=len(unlabelled),
        gives_up=f"the pods never run on nodes without {key}={value}",
    )
