"""Results of `check` about workloads: placements of replicas, and problems of running pods; loads numpy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TYPE_CHECKING

from kubectl_spread.containers import grouped
from kubectl_spread.explain.explanation import PodVerdict
from kubectl_spread.explain.pending import WaitingGroup
from kubectl_spread.explain.placement import (
    EvictedPod,
    PendingPod,
    PlacedPod,
    Placement,
    ReplacementPod,
    UnpredictedPod,
)
from kubectl_spread.explain.status import LostPods, UncreatedPods
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.selectors import DOMAIN_NOUNS
from kubectl_spread.report.check.report import RunningResults
from kubectl_spread.report.documents import form, Plain, to_document
from kubectl_spread.report.explain.verdict import cause, ignored_sentence, predicate, sentence
from kubectl_spread.report.table import paint
from kubectl_spread.report.wording import pods_by_domain, resource, together
from kubectl_spread.text.wording import comma_list, count_noun, first_of, safe

if TYPE_CHECKING:  # only loaded if there are NodePools
    from kubectl_spread.provisioners.prospect import Prospect

_MOST = 8


def lines(placement: Placement, headline: str, *, is_brief: bool = False) -> list[str]:
    """Return the result of one workload: the number of placed pods, their domains, and why the others are Pending."""
    out, nodes = [headline], Counter(pod.node for pod in placement.placed)
    if is_brief:
        spread = (
            f", {DOMAIN_NOUNS.get(key, safe(key))} {pods_by_domain(values)}"
            for key, values in placement.domains.items()
            if 0 < len(values) <= _MOST
        )
        return [headline + "".join(spread), *details(placement)]
    if nodes and not placement.domains:
        out.append(f"  nodes: {_counts(dict(sorted(nodes.items())))}")
    for key, values in placement.domains.items():
        out.append(f"  {safe(key)}: {_counts(values) or 'no node has this label'}")
        matching = placement.matching.get(key, values)
        out += [f"    counted by the constraint: {_counts(matching)}"] if matching != values else []
    return out + details(placement)


def details(placement: Placement) -> list[str]:
    """Return the lines about all pods of a workload that are not simply placed."""
    out: list[str] = []
    for group in _groups(placement):
        out += _pending(placement, group)
    if placement.advice:
        out.append(f"    Do: {safe(placement.advice)}")
    if placement.gated:
        names = _names(pod.pod for pod in placement.gated)
        out.append(f"  {count_noun(len(placement.gated), 'pod')} SchedulingGated: {names}")
        out.append(f"    {placement.gated[0].message}")
    if placement.refused:
        out.append(f"  refused by the API server: {_names(item.pod for item in placement.refused)}")
        out.append(f"    {safe(placement.refused[0].message)}")
    if placement.not_created:
        why = "a Deployment that is paused from the start creates no pods"
        if not placement.workload.is_paused:  # a StatefulSet whose first pod waits
            waiting, *_ = (
                *(item.pod.name for item in placement.pending),
                *(item.pod for item in placement.gated),
                *(item.pod for item in placement.refused),
            )
            why = f"podManagementPolicy OrderedReady creates them only once {safe(waiting)} is ready"
        out += [f"  not created: {_names(placement.not_created)}", f"    {why}"]
    evictions = []
    for item in placement.evictions:
        what, again = f"evicting {safe(item.pod.key)} from node {safe(item.pod.node_name)}", item.again
        then = "it has no controller and does not come back"
        if again is not None and again.node:
            then = f"its controller creates it again on node {safe(again.node)}"
        elif again is not None:
            waits = "its controller creates it again, and the new pod stays Pending"
            then = waits if again.message else "it is created again"
        evictions.append(f"  placed after {what}, for {safe(item.by)}: {then}")
    out += first_of(evictions, _MOST, lambda left: f"  and after evicting {count_noun(left, 'more pod')}")
    if placement.on_missing_nodes:
        nodes = {pod.pod: pod.node for pod in placement.placed}
        names = _names(f"{name} ({nodes[name]})" for name in placement.on_missing_nodes)
        out.append(f"  on a node that does not exist: {names}")
        out.append("    no kubelet runs such a pod; the pod garbage collector deletes it")
    if placement.ignored.fields:
        out.append(f"  {ignored_sentence(placement.ignored)}")
    reasons = dict.fromkeys(reason for item in placement.unpredicted for reason in item.reasons)
    if placement.unpredicted:
        out.append(f"  not predictable: {_names(item.pod.name for item in placement.unpredicted)}")
        out.append(f"    because of {safe(' and '.join(reasons))}, which this program does not evaluate")
    assumed = safe(" and ".join(reason for reason in placement.not_predictable if reason not in reasons))
    if assumed:
        out.append(f"  not predictable: the pods use {assumed}; they are placed by the other rules")
    if placement.not_counted:  # other such pods in their way
        out.append(f"  without the pods of {_names(placement.not_counted)}, whose nodes are not predictable")
    return out


def _names(names: Iterable[str]) -> str:
    return comma_list(names, most=_MOST)


def headline(placement: Placement, file: str = "") -> str:
    """Return `Deployment shop/web (web.yaml): 2 of 4 replicas placed, 2 Pending`."""
    return f"{safe(placement.workload.key)}{f' ({safe(file)})' if file else ''}: {placed_pods(placement)}"


def placed_pods(placement: Placement) -> str:
    """Return `2 of 4 replicas placed, 2 Pending`."""
    total, placed = placement.replicas, len(placement.placed)
    running = sum(pod.ran_already for pod in placement.placed)
    noun = "pod" if placement.workload.kind in ("DaemonSet", "Pod") else "replica"
    if running == total == 1 and not placement.on_missing_nodes:
        return f"already running on {safe(placement.placed[0].node)}"
    text = f"{placed} of {count_noun(total, noun)} placed"
    if running:
        text += f", {running} of them already running"
    if placement.stuck:
        text += ", " + paint(f"{len(placement.stuck)} Pending", "red")
    if len(placement.stuck) < len(placement.pending):
        text += f", {len(placement.pending) - len(placement.stuck)} waiting for new nodes"
    if placement.in_any_order is not None:
        text += f"; {placement.in_any_order.least} to {placement.in_any_order.most}, depending on the order of creation"
    if placement.refused:
        text += ", " + paint(f"{len(placement.refused)} refused", "red")
    if placement.not_created:
        text += f", {len(placement.not_created)} not created"
    if placement.unpredicted:
        text += ", " + paint(f"{len(placement.unpredicted)} not predictable", "yellow")
    return text


def _counts(values: dict[str, int]) -> str:
    if len(values) <= _MOST:
        return pods_by_domain(values)
    spread = Counter(values.values())
    parts = [f"{count_noun(number, 'domain')} with {count}" for count, number in sorted(spread.items(), reverse=True)]
    return f"{len(values)} domains: {', '.join(parts[:_MOST])}"


def _groups(placement: Placement) -> Iterable[list[PendingPod]]:
    """Return the Pending pods. Pods that wait for the same reasons are in one entry."""
    groups = grouped((item.explanation.message, item) for item in placement.pending)
    return groups.values()


def _added_nodes(placement: Placement, group: Iterable[PendingPod]) -> dict[str, Prospect]:
    """Return what Karpenter does about pods, by their names."""
    keys = {item.pod.name: item.pod.key for item in group}
    return {name: placement.added_nodes[key] for name, key in keys.items() if key in placement.added_nodes}


def new_nodes(placement: Placement) -> tuple[Node, ...]:
    """Return the nodes that Karpenter adds for the pods."""
    if not placement.added_nodes:
        return ()
    from kubectl_spread.provisioners import prospect

    return prospect.outlook(tuple(placement.added_nodes.values())).nodes


def _pending(placement: Placement, group: list[PendingPod]) -> list[str]:
    """Return the lines about pods that wait for the same reasons; with NodePools first what Karpenter does."""
    explanation, owner = group[0].explanation, placement.workload
    names = _names(item.pod.name for item in group) if owner.has_named_pods else count_noun(len(group), "new pod")
    out = [f"  {paint('Pending', 'red')}: {names}"]
    found = _added_nodes(placement, group)
    if found:
        from kubectl_spread.provisioners import prospect
        from kubectl_spread.report import added_nodes  # loads `provisioners`

        out += [f"    {added_nodes.summary(prospect.outlook(tuple(found.values())))}"]
    out.append(f"    {'no node fits now: ' if found else ''}{cause(explanation)}")
    if explanation.nominated_node:
        victims = _names(pod.key for pod in explanation.victims)
        out.append(f"    preemption would evict {victims} on node {safe(explanation.nominated_node)}")
    return out


def document(placement: Placement) -> Plain:
    """Return a placement for a CheckReport; with NodePools also what Karpenter does about each Pending pod."""
    if not placement.added_nodes:
        return to_document(placement)
    from kubectl_spread.provisioners import prospect
    from kubectl_spread.report import added_nodes  # loads `provisioners`

    groups = (_added_nodes(placement, group) for group in _groups(placement))
    found = [
        {"pod": name, **added_nodes.document(item, prospect.outlook(tuple(alike.values())))}
        for alike in groups
        for name, item in alike.items()
    ]
    advice = {"advice": placement.advice} if placement.advice else {}
    return {**to_document(placement), "karpenter": found, **advice}


form(
    Placement,
    "object replicas placed pods=placed pending gated domains matching certainty inAnyOrder notPredictable unpredicted "
    "notCounted ignoredFields=ignored.fields notCreated evicted=evictions onMissingNodes refused",
    object=lambda placement: to_document(placement.workload, "kind namespace name"),
    placed=lambda placement: len(placement.placed),
)
form(PlacedPod, "pod node alreadyRunning=ran_already choices=hosts fitting")
form(
    PendingPod,
    "pod=pod.name message=explanation.message nominatedNode=explanation.nominated_node victims blockedBy",
    victims=lambda item: [victim.key for victim in item.explanation.victims],
    blockedBy=lambda item: [
        requirement.text for conflict in item.explanation.conflicts[:1] for requirement in conflict.requirements
    ],
)
form(UnpredictedPod, "pod=pod.name dependsOn=reasons")
form(EvictedPod, "pod=pod.key node=pod.node_name by createdAgain=again")
form(ReplacementPod, "node? message?")


class WorkloadLine(NamedTuple):
    """A line about a running workload.

    is_failure: it makes the check fail. reason: equal for lines that differ only in names.
    """

    label: str
    subject: str
    sentence: str
    is_failure: bool = True
    reason: str = ""

    @property
    def text(self) -> str:
        return f"{self.label}: {self.sentence}"


def entries(running: RunningResults) -> list[WorkloadLine]:
    """Return the lines about running workloads, in order."""
    lines = []
    for waiting in running.waiting:
        is_schedulable = waiting.explanation.verdict is PodVerdict.SCHEDULABLE
        label = "Not scheduled yet" if is_schedulable else "Pending"
        name, more = safe(resource(waiting.key)), len(waiting.explanation.others)
        text = sentence(waiting.explanation, waiting.outlook).removesuffix(".")
        text += f" (and {count_noun(more, 'more pod')} of {name})" if more else ""
        runs = waiting.outlook is not None and waiting.outlook.all_run
        reason = f"{label} {predicate(waiting.explanation, waiting.outlook)}"
        lines.append(WorkloadLine(label, name, text, not (is_schedulable or runs), reason))
    for lost in running.lost:
        noun, them = ("pod", "it") if len(lost.pods) == 1 else ("pods", "them")
        name, names = safe(resource(lost.key)), comma_list(lost.pods, most=4)
        text = (
            f"{noun} {names} of {name}: node {safe(lost.node)} does not exist, so no kubelet runs {them}; "
            f"the pod garbage collector deletes {them}"
        )
        lines.append(WorkloadLine("Lost", name, text))
    for item in running.uncreated:
        name = safe(resource(item.key))
        text = f"{item.number} of {item.wanted} pods of {name}: {safe(item.message)}"
        lines.append(WorkloadLine("Not created", name, text))
    return lines


def running_lines(running: RunningResults) -> Iterator[str]:
    """Yield a line for each entry."""
    for_each = (
        (
            item.reason or item.sentence,
            item.subject,
            [f"{paint(f'{item.label}:', 'red') if item.is_failure else f'{item.label}:'} {item.sentence}"],
        )
        for item in entries(running)
    )
    return together(for_each)


form(
    WaitingGroup,
    "object=key pods verdict=explanation.verdict message=explanation.message cause",
    pods=lambda item: [item.explanation.pod.name, *item.explanation.others],
    cause=lambda item: sentence(item.explanation, item.outlook),
)
form(LostPods, "object=key node pods")
form(UncreatedPods, "object=key count=number replicas=wanted message")
