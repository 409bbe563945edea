"""The sentence that answers the question, in plain words."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from collections.abc import Sequence

from kubectl_spread.explain.conflicts import Conflict
from kubectl_spread.explain.constraints import ConstraintReport
from kubectl_spread.explain.constraints import DomainReport
from kubectl_spread.explain.explanation import Explanation
from kubectl_spread.explain.explanation import Ignored
from kubectl_spread.explain.explanation import Verdict
from kubectl_spread.explain.requirement import Kind
from kubectl_spread.explain.requirement import Requirement
from kubectl_spread.lint.wording import counted
from kubectl_spread.objects.labels import HOSTNAME
from kubectl_spread.objects.labels import REGION
from kubectl_spread.objects.labels import ZONE
from kubectl_spread.report.table import listed
from kubectl_spread.report.table import safe

_MOST_NAMES = 6
_MOST_WITHOUT = 3

# Requirements that say by their name why a node is refused.
_SELF_EVIDENT = (Kind.CORDON, Kind.TAINT, Kind.NODE_NAME)
_MOST_FINALIZERS = 3
_SHORT = {ZONE: "zone", HOSTNAME: "node", REGION: "region"}


def sentence(explanation: Explanation) -> str:
    """The verdict on one pod."""
    pod = explanation.pod
    name = f"Pod {safe(pod.key)}"
    if explanation.verdict is Verdict.RUNNING:
        waits = (
            " The scheduler has done its part: what it waits for now is the kubelet's." if _starts(pod.phase) else ""
        )
        return f"{name} is bound to node {safe(pod.node_name)}.{waits}{_broken_by_now(explanation)}"
    if explanation.verdict is Verdict.FINISHED:
        return f"{name} has finished ({safe(pod.phase)}); the scheduler does not look at it."
    if explanation.verdict is Verdict.TERMINATING:
        when = since(pod.deleted, pod.finalizers)
        return f"{name} has been terminating{when}, and the scheduler passes such a pod over."
    if explanation.verdict is Verdict.GATED:
        gates = listed(pod.cls.gates, most=_MOST_NAMES)
        return f"{name} waits for its scheduling gates: {gates}. No node is sought until whoever set them removes them."
    if explanation.verdict is Verdict.NO_SCHEDULER:
        return f"{name} waits for a scheduler named {safe(pod.cls.scheduler_name)}, {_scheduler(explanation)}"
    if explanation.verdict is Verdict.NOT_PREDICTABLE:
        return f"{name} is not predictable: {_by_the_other_rules(explanation)}."
    if explanation.verdict is Verdict.NOT_CREATED:
        return f"{name} was never created, so no scheduler has seen it; once it is, {_in_future(explanation)}."
    if explanation.verdict is Verdict.SCHEDULABLE:
        return f"{name} can be scheduled: it fits on {_fits(explanation)}.{_in_vain(explanation)}"
    preempting = explanation.preemption
    if preempting is not None and preempting.node:
        evicted = listed((victim.pod.key for victim in preempting.victims), most=_MOST_WITHOUT)
        waits = f"waits for preemption to evict {evicted} on {safe(preempting.node)}"
        return f"{name} {waits}: as it is, {cause(explanation)}."
    return f"{name} stays Pending: {cause(explanation)}."


def _in_vain(explanation: Explanation) -> str:
    """Of the constraints of the pod itself, the first that does nothing for it: no event will ever tell."""
    for report in explanation.constraints:
        if report.is_default:
            continue
        words = constraint_words(report)
        if not report.self_match:
            return f" But {words} does not spread pods like this one: it does not count them."
        if report.eligible_domains == 1 and len(report.domains) > 1:
            (only,) = (domain.value for domain in report.domains if domain.eligible)
            return f" But {words} spreads nothing: {safe(only) or chr(34) * 2} is the only domain that counts."
    return ""


def _broken_by_now(explanation: Explanation) -> str:
    """Of hard constraints that do not hold any more, the one that is furthest from it."""
    skews = explanation.standing.skews if explanation.standing is not None else ()
    broken = [skew for skew in skews if not skew.holds]
    if not broken:
        return ""
    worst = max(broken, key=lambda skew: skew.skew - skew.max_skew)
    own = "The cluster's default" if worst.is_default else "Its"
    short = _SHORT.get(worst.topology_key, "")
    name = safe(f"{own} {f'{short} ' if short else ''}constraint ({worst.topology_key}, maxSkew {worst.max_skew})")
    emptiest = f", {safe(worst.emptiest)} {worst.least}" if worst.emptiest else ""
    return (
        f" {name} does not hold any more: the skew is {worst.skew} ({safe(worst.fullest)} {worst.most}{emptiest}). "
        "It is checked only when a pod is scheduled, and nothing moves pods that run."
    )


def _scheduler(explanation: Explanation) -> str:
    pods, own = explanation.scheduler, explanation.pod.cls.scheduler_name
    what = "which is not one of the profiles known here"
    near = difflib.get_close_matches(own, pods.known, 1)
    if pods.placed:
        what += f"; {counted(pods.placed, 'pod')} with that name are on nodes, so there was one"
    elif pods.waiting > 1:
        what += f"; none of the {pods.waiting} pods that name it has a node"
    return what + (f"; is {safe(near[0])} meant?" if near else ".")


def since(deleted: str, finalizers: Sequence[str]) -> str:
    """` since 2026-01-01T10:00:00Z (finalizer x/y)`: when a pod was deleted, and what it still waits for."""
    when = f" since {safe(deleted)}" if deleted else ""
    if not finalizers:
        return when
    noun = "finalizer" if len(finalizers) == 1 else "finalizers"
    return f"{when} ({noun} {listed(finalizers, most=_MOST_FINALIZERS)})"


def _starts(phase: str) -> bool:
    return phase == "Pending"


def _fits(explanation: Explanation) -> str:
    feasible = explanation.diagnosis.feasible
    return f"{counted(len(feasible), 'node')}: {listed(feasible, most=_MOST_NAMES)}"


def _by_the_other_rules(explanation: Explanation) -> str:
    if not explanation.diagnosis.feasible:
        return f"by the other rules {cause(explanation)}"
    return f"by the other rules it fits on {_fits(explanation)}"


def _in_future(explanation: Explanation) -> str:
    if explanation.diagnosis.feasible:
        return f"it fits on {_fits(explanation)}"
    return f"it stays Pending: {cause(explanation)}"


def cause(explanation: Explanation) -> str:
    """Why no node fits, from the smallest set of requirements that leaves none."""
    diagnosis = explanation.diagnosis
    if not diagnosis.node_count:
        return "the cluster has no nodes"
    if diagnosis.pre_filter_message:
        return f"{diagnosis.pre_filter_plugin} rejects it on every node: {safe(diagnosis.pre_filter_message)}"
    if not explanation.conflicts:
        return safe(explanation.message) if diagnosis.feasible else "no node fits"
    conflict = explanation.conflicts[0]
    spread = [item for item in conflict.requirements if item.position is not None]
    if not spread:
        return _without_spread(conflict)
    if len(spread) > 1:
        return _contradiction(conflict, explanation)
    reports = {report.constraint.position: report for report in explanation.constraints}
    others = [item for item in conflict.requirements if item.position is None]
    return _one_constraint(reports[spread[0].position or 0], others, conflict)


def refused_by(items: Iterable[Requirement]) -> str:
    """`taint x:NoSchedule, the cpu request`."""
    return ", ".join(safe(item.text) for item in items)


def _without_spread(conflict: Conflict) -> str:
    if len(conflict.requirements) == 1:
        why = safe(conflict.arithmetic[0]) if conflict.arithmetic else ""
        return f"every node is refused by {refused_by(conflict.requirements)}{f': {why}' if why else ''}"
    parts = [f"{counted(int((~item.allowed).sum()), 'node')} by {safe(item.text)}" for item in conflict.requirements]
    return f"every node is refused, {', '.join(parts)}"


def _contradiction(conflict: Conflict, explanation: Explanation) -> str:
    parts = []
    for item in conflict.requirements:
        left = [name for name, fits in zip(explanation.node_names, item.allowed, strict=True) if fits]
        parts.append(f"{safe(item.text)} leaves {f'only {listed(left, most=3)}' if left else 'no node'}")
    return f"no node meets all of these: {'; '.join(parts)}"


def constraint_words(report: ConstraintReport) -> str:
    """`its zone constraint (topology.kubernetes.io/zone, maxSkew 1)`."""
    key = report.constraint.topology_key
    short = _SHORT.get(key)
    own = "the cluster's default" if report.is_default else "its"
    name = f"{own} {short} constraint ({key}," if short else f"{own} constraint ({key},"
    return safe(f"{name} maxSkew {report.constraint.max_skew})")


def _with_numbers(conflict: Conflict, items: Sequence[Requirement]) -> str:
    """`the cpu request (asks 2; n1 has 1 of 4 free)`: of one requirement also why, where its name does not say it."""
    names = refused_by(items)
    if len(items) != 1 or len(conflict.arithmetic) != len(conflict.requirements):
        return names
    (item,) = items
    why = conflict.arithmetic[conflict.requirements.index(item)] if item.kind not in _SELF_EVIDENT else ""
    return f"{names} ({safe(why)})" if why else names


def _one_constraint(report: ConstraintReport, others: list[Requirement], conflict: Conflict) -> str:
    words = constraint_words(report)
    if not report.domains:
        return f"no node has the label {safe(report.constraint.topology_key)}, which {words} asks for"
    open_to = [domain for domain in report.domains if domain.eligible and domain.fits]
    if not open_to:
        return f"{words} lets it into no domain{_because_of_minimum(report)}"
    where = listed((domain.value or '""' for domain in open_to), most=_MOST_NAMES)
    what = _with_numbers(conflict, others)
    return f"{words} {_only(open_to, where, what)}{_without_key(report)}"


def _without_key(report: ConstraintReport) -> str:
    """Nodes that might do, had they the label: they are neither counted nor looked at."""
    if not report.without_key:
        return ""
    names = listed(report.without_key, most=_MOST_WITHOUT)
    verb = "lacks" if len(report.without_key) == 1 else "lack"
    return f"; {counted(len(report.without_key), 'node')} {verb} its label: {names}"


def _only(open_to: list[DomainReport], where: str, what: str) -> str:
    """`lets it only into c, whose only node c1 is refused by a cordon`."""
    if not what:
        return f"lets it only into {where}, and the nodes there do not fit"
    if all(domain.node_names == (domain.value,) for domain in open_to):
        verb = "is" if len(open_to) == 1 else "are"
        return f"lets it only onto {where}, which {verb} refused by {what}"
    if len(open_to) == 1 and open_to[0].nodes == 1:
        only = safe(open_to[0].node_names[0])
        return f"lets it only into {where}, whose only node {only} is refused by {what}"
    return f"lets it only into {where}, and there every node is refused by {what}"


def _because_of_minimum(report: ConstraintReport) -> str:
    if report.is_below_min_domains:
        have = counted(report.eligible_domains, "domain")
        verb = "is" if report.eligible_domains == 1 else "are"
        return (
            f": there {verb} {have}, fewer than minDomains {report.min_domains}, so the minimum counts as 0, "
            f"and {'it' if report.eligible_domains == 1 else 'each of them'} has {report.constraint.max_skew} or more"
        )
    if not report.eligible_domains:
        return ", for none is counted"
    return ""


def ignored_sentence(ignored: Ignored) -> str:
    """`ignored by 1.24: minDomains`."""
    return f"ignored by {ignored.version}: {', '.join(ignored.fields)}"
