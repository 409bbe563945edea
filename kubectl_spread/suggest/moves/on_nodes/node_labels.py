"""Node labels that a constraint uses and that are missing, empty, shared or misspelt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_spread.explain.constraints.report import ConstraintReport
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.selectors.labels import HOSTNAME, REGION, ZONE
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.suggest import misspelt
from kubectl_spread.suggest.actions.action import Action
from kubectl_spread.suggest.actions.nodes import EditNode
from kubectl_spread.suggest.change import Change, Ladder, Rank, single
from kubectl_spread.suggest.moves.constraints import has_meant_key
from kubectl_spread.suggest.problem import PendingPodProblem

_MOST = 4  # Most values, and most nodes, that are proposed one by one.
_MOST_LABELLED = 20  # Most nodes that are labelled in one change.
_SAME_PLACE = {
    ZONE: ("failure-domain.beta.kubernetes.io/zone", "topology.ebs.csi.aws.com/zone", "topology.gke.io/zone"),
    REGION: ("failure-domain.beta.kubernetes.io/region",),
}

_Pairs = list[tuple[Node, str]]


def propose(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Propose labels that are missing on nodes, or corrections of wrong ones."""
    for report in problem.reports:
        yield from _misspelt(problem, report)
        yield from _empty(problem, report)
        yield from _shared(problem, report)
        yield from _missing(problem, report)


def _misspelt(problem: PendingPodProblem, report: ConstraintReport) -> Iterator[Ladder]:
    """Correct a value that is a misspelling of another one: us-east1b for us-east-1b."""
    key = report.constraint.topology_key
    for wrong, right in misspelt.values(problem.cluster.nodes, key).items():
        nodes = [node for node in problem.cluster.nodes if node.labels.get(key) == wrong]
        if len(nodes) > _MOST_LABELLED:
            continue
        listed = ", ".join(node.name for node in nodes)
        yield single(
            Change(
                f"correct the label {key} of node {listed}: {right} instead of {wrong}",
                tuple(EditNode(node.name, ((key, right),)) for node in nodes),
                "node label",
                Rank.MISTAKE,
                gives_up="",
                notes=(f"{wrong} and {right} look like two spellings of one value: label the node only if they are",),
            )
        )


def _empty(problem: PendingPodProblem, report: ConstraintReport) -> Iterator[Ladder]:
    key = report.constraint.topology_key
    empty = [node for node in problem.cluster.nodes if node.labels.get(key) == ""]
    if empty and len(empty) <= _MOST:
        yield single(
            Change(
                f"remove the empty label {key} from node {', '.join(node.name for node in empty)}",
                tuple(EditNode(node.name, ((key, None),)) for node in empty),
                "node label",
                Rank.NODE_LABEL,
                gives_up="the pods no longer go to the node" if report.constraint.is_hard else "",
            )
        )


def _shared(problem: PendingPodProblem, report: ConstraintReport) -> Iterator[Ladder]:
    """Give each of the nodes that share a hostname label its own."""
    key = report.constraint.topology_key
    if key != HOSTNAME:
        return
    shared = [node for node in problem.cluster.nodes if key in node.labels and node.labels[key] != node.name]
    values = [node.labels[key] for node in shared]
    twice = [node for node in shared if values.count(node.labels[key]) > 1]
    if twice and len(twice) <= _MOST_LABELLED:
        yield single(
            Change(
                f"give each of {', '.join(node.name for node in twice)} its own {key}",
                tuple(EditNode(node.name, ((key, node.name),)) for node in twice),
                "node label",
                Rank.NODE_LABEL,
                gives_up="selectors that use the shared value no longer find these nodes",
            )
        )


def _missing(problem: PendingPodProblem, report: ConstraintReport) -> Iterator[Ladder]:
    """Label the nodes that lack a constraint's key."""
    key = report.constraint.topology_key
    missing = [node for node in problem.cluster.nodes if key not in node.labels]
    known = [(node, value) for node in missing if (value := _known(node, key))]
    if known and len(known) <= _MOST_LABELLED:
        yield single(_labelled(known, key, rank=Rank.NODE_LABEL, notes=()))
    elif missing and not known:
        yield from _unknown(problem, report, missing)


def _known(node: Node, key: str) -> str:
    """Return the value that other labels of a node imply: a label of the same place or a misspelt key."""
    if key == HOSTNAME:
        return node.name
    same = next((node.labels[other] for other in _SAME_PLACE.get(key, ()) if node.labels.get(other)), "")
    return same or node.labels.get(misspelt.spelling_of(key, node.labels), "")


def _unknown(problem: PendingPodProblem, report: ConstraintReport, missing: list[Node]) -> Iterator[Ladder]:
    """Label nodes whose value is unknown: all that would take the pod at once, then one by one."""
    key = report.constraint.topology_key
    note = (f"write the value of {key} that is true of each node; the values shown were simulated",)
    fold = f"missing label {key}"
    values = [domain.value for domain in sorted(report.domains, key=lambda domain: (domain.matching, domain.value))]
    if not values:
        if len(missing) <= _MOST_LABELLED and not has_meant_key(problem, report):
            made = key.rpartition("/")[2] + "-1"
            yield single(_labelled([(node, made) for node in missing], key, rank=Rank.NEW_LABEL, notes=note, fold=fold))
        return
    usable = [node for node in missing if _would_take(problem, node)]
    for first in range(min(len(values), _MOST)):
        pairs = [(node, values[(first + at) % len(values)]) for at, node in enumerate(usable)]
        if 1 < len(pairs) <= _MOST_LABELLED:
            yield single(_labelled(pairs, key, rank=Rank.NEW_LABEL, notes=note, fold=fold))
    for node in usable[:_MOST]:
        for value in values[:_MOST]:
            yield single(_labelled([(node, value)], key, rank=Rank.NEW_LABEL, notes=note, fold=fold, weight=99))


def _would_take(problem: PendingPodProblem, node: Node) -> bool:
    at = problem.columns.index[node.name]
    others = [item for item in problem.filter_result.plugin_results if item.plugin != names.POD_TOPOLOGY_SPREAD]
    return all(not item.bits[at] for item in others)


def _labelled(
    pairs: Sequence[tuple[Node, str]],
    key: str,
    *,
    rank: int,
    notes: tuple[str, ...],
    fold: str = "",
    weight: int = 0,
) -> Change:
    values = dict.fromkeys(value for _, value in pairs)
    if len(values) == 1:
        listed = ", ".join(node.name for node, _ in pairs)
        title = f"label node {listed} with {key}={next(iter(values))}"
    else:
        title = "label nodes: " + ", ".join(f"{node.name} {key}={value}" for node, value in pairs)
    actions: tuple[Action, ...] = tuple(EditNode(node.name, ((key, value),)) for node, value in pairs)
    return Change(title, actions, "node label", rank, weight=weight + len(pairs), notes=notes, fold=fold)
