"""An explanation as text: the verdict, the evidence, and what together leaves no node."""

from __future__ import annotations

from kubectl_spread.explain.explanation import Explanation
from kubectl_spread.explain.explanation import Ignored
from kubectl_spread.explain.explanation import NodeReport
from kubectl_spread.explain.explanation import Verdict
from kubectl_spread.lint.wording import counted
from kubectl_spread.report import conflicts
from kubectl_spread.report import constraints
from kubectl_spread.report.table import listed
from kubectl_spread.report.table import paint
from kubectl_spread.report.table import safe
from kubectl_spread.report.table import table

_MOST_NAMES = 6


def lines(explanation: Explanation, *, colour: bool) -> list[str]:
    """One pod, told from the verdict to the evidence."""
    out = [paint(verdict_sentence(explanation), "bold", colour=colour)]
    if explanation.others:
        out.append(f"The same holds for {listed(explanation.others, most=_MOST_NAMES)}.")
    if explanation.verdict is Verdict.NOT_PREDICTABLE:
        needs = safe(" and ".join(explanation.beyond))
        out.append(f"Not predictable: the pod depends on {needs}, which the dry run does not evaluate.")
    if explanation.ignored.fields:
        out.append(ignored_sentence(explanation.ignored))
    out += _message(explanation)
    if explanation.nodes:
        out += ["", f"Nodes ({len(explanation.diagnosis.feasible)} of {len(explanation.node_names)} fit):"]
        out += _nodes(explanation)
    for report in explanation.constraints:
        out += ["", *constraints.lines(report)]
    if explanation.conflicts:
        out += ["", *conflicts.lines(explanation)]
    return out


def ignored_sentence(ignored: Ignored) -> str:
    """`ignored by 1.24: minDomains`."""
    return f"ignored by {ignored.version}: {', '.join(ignored.fields)}"


def verdict_sentence(explanation: Explanation) -> str:
    """The one sentence that answers the question."""
    pod = safe(explanation.pod.key)
    if explanation.verdict is Verdict.RUNNING:
        return f"Pod {pod} is bound to node {safe(explanation.pod.node_name)}."
    if explanation.verdict is Verdict.FINISHED:
        return f"Pod {pod} has finished ({explanation.pod.phase}); the scheduler does not look at it."
    if explanation.verdict is Verdict.GATED:
        return f"Pod {pod} waits for its scheduling gates: {listed(explanation.pod.cls.gates, most=_MOST_NAMES)}."
    if explanation.verdict is Verdict.NO_SCHEDULER:
        name = safe(explanation.pod.cls.scheduler_name)
        return f"Pod {pod} waits for a scheduler named {name}, which is not one of the profiles known here."
    if explanation.verdict is Verdict.NOT_PREDICTABLE:
        return f"Pod {pod} is not predictable: {_by_the_other_rules(explanation)}."
    if explanation.verdict is Verdict.SCHEDULABLE:
        nodes = listed(explanation.diagnosis.feasible, most=_MOST_NAMES)
        fit = counted(len(explanation.diagnosis.feasible), "node")
        return f"Pod {pod} can be scheduled: it fits on {fit}: {nodes}."
    return f"Pod {pod} stays Pending: {_why_pending(explanation)}."


def _by_the_other_rules(explanation: Explanation) -> str:
    feasible = explanation.diagnosis.feasible
    if not feasible:
        return f"by the other rules {_why_pending(explanation)}"
    nodes = listed(feasible, most=_MOST_NAMES)
    return f"by the other rules it fits on {counted(len(feasible), 'node')}: {nodes}"


def _why_pending(explanation: Explanation) -> str:
    diagnosis = explanation.diagnosis
    if not diagnosis.node_count:
        return "the cluster has no nodes"
    if diagnosis.pre_filter_message:
        return f"{diagnosis.pre_filter_plugin} rejects it on every node: {safe(diagnosis.pre_filter_message)}"
    if not explanation.conflicts:
        return "no node fits"
    return conflicts.refusal(explanation.conflicts[0])


def _message(explanation: Explanation) -> list[str]:
    if not explanation.message and not explanation.reported:
        return []
    out = [""]
    if explanation.message:
        out += ["Message:", f"  {safe(explanation.message)}"]
    if explanation.nominated_node:
        victims = listed((pod.key for pod in explanation.victims), most=_MOST_NAMES)
        out.append(f"Preemption would evict {victims} on node {safe(explanation.nominated_node)}.")
    if explanation.reported and explanation.reported != explanation.message:
        out += ["Last message in the cluster:", f"  {safe(explanation.reported)}"]
    return out


def _nodes(explanation: Explanation) -> list[str]:
    groups: dict[tuple[str, str], list[NodeReport]] = {}
    for node in explanation.nodes:
        also = "; ".join(_reasons(status.reasons) for status in node.also)
        groups.setdefault((_reasons(node.recorded.reasons), also), []).append(node)
    rows = [("NODES", "REASON", "ALSO FAILING", "NAMES")]
    for (reason, also), nodes in sorted(groups.items(), key=lambda item: -len(item[1])):
        names = listed((node.name for node in nodes), most=_MOST_NAMES)
        rows.append((str(len(nodes)), reason, also or "-", names))
    if explanation.diagnosis.feasible:
        names = listed(explanation.diagnosis.feasible, most=_MOST_NAMES)
        rows.append((str(len(explanation.diagnosis.feasible)), "fits", "-", names))
    return table(rows, indent="  ")


def _reasons(reasons: tuple[str, ...]) -> str:
    return ", ".join(reasons)
