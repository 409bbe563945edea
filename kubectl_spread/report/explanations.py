"""An explanation as text: the verdict, the evidence, and what together leaves no node."""

from __future__ import annotations

from kubectl_spread.explain.explanation import ConstraintReport
from kubectl_spread.explain.explanation import DomainReport
from kubectl_spread.explain.explanation import Explanation
from kubectl_spread.explain.explanation import Ignored
from kubectl_spread.explain.explanation import NodeReport
from kubectl_spread.explain.explanation import Verdict
from kubectl_spread.explain.requirements import Conflict
from kubectl_spread.explain.requirements import constraint_name
from kubectl_spread.explain.requirements import Requirement
from kubectl_spread.lint.wording import counted
from kubectl_spread.objects.constraint import HONOR
from kubectl_spread.objects.constraint import IGNORE
from kubectl_spread.objects.selector import Requirement as SelectorRequirement
from kubectl_spread.objects.selector import Selector
from kubectl_spread.report.table import listed
from kubectl_spread.report.table import paint
from kubectl_spread.report.table import safe
from kubectl_spread.report.table import table

_MOST_NAMES = 6
_MOST_DOMAINS = 20
_MOST_CONFLICTS = 5


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
        out += ["", *_constraint(report)]
    if explanation.conflicts:
        out += ["", *_conflicts(explanation)]
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
    return refusal(explanation.conflicts[0])


def refusal(conflict: Conflict) -> str:
    """`every node is refused by A or by B`."""
    texts = [safe(item.text) for item in conflict.requirements]
    return f"every node is refused by {' or by '.join(texts)}"


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


def _constraint(report: ConstraintReport) -> list[str]:
    constraint = report.constraint
    own = "the pod itself is one" if report.self_match else "the pod itself is not one: it adds 0"
    affinity, taints = constraint.node_affinity_policy or HONOR, constraint.node_taints_policy or IGNORE
    name = constraint_name(constraint.position, is_default=report.is_default)
    out = [
        f"{name}: {safe(constraint.topology_key)}, maxSkew {constraint.max_skew}, {constraint.when_unsatisfiable}",
        f"  counts pods of the namespace with {selector_text(report.selector)}; {own}",
        f"  nodeAffinityPolicy {affinity}, nodeTaintsPolicy {taints}",
    ]
    if not constraint.is_hard:
        out.append("  ScheduleAnyway: refuses no node; the numbers only say which domains score lower")
    out.append(f"  {_minimum(report)}")
    out += _domain_table(report)
    if report.without_key:
        names = listed(report.without_key, most=_MOST_NAMES)
        out.append(f"  {counted(len(report.without_key), 'node')} without this label: {names}")
    if report.ignored_pods:
        out.append(f"  {counted(report.ignored_pods, 'matching pod')} on nodes that are not counted")
    return out


def _minimum(report: ConstraintReport) -> str:
    if not report.eligible_domains:
        return "global minimum 0: no domain is eligible"
    if report.is_below_min_domains:
        return (
            f"global minimum 0: {counted(report.eligible_domains, 'eligible domain')}, "
            f"fewer than minDomains {report.min_domains}"
        )
    names = listed((value or '""' for value in report.minimum_in), most=_MOST_NAMES)
    text = f"global minimum {report.global_minimum}, in {names}"
    unusable = [
        domain
        for domain in report.domains
        if domain.value in report.minimum_in and domain.eligible and not domain.usable
    ]
    if unusable and len(unusable) == len(report.minimum_in):
        text += f", where no node can run the pod: {safe(unusable[0].unusable_because)}"
    return text


def _domain_table(report: ConstraintReport) -> list[str]:
    rows = [("DOMAIN", "NODES", "USABLE", "MATCHING", "IF PLACED HERE", "FITS")]
    shown = _shown(report.domains)
    for domain in shown:
        rows.append(
            (
                domain.value or '""',
                str(domain.nodes),
                str(domain.usable),
                str(domain.matching) if domain.eligible else "-",
                _inequality(domain, report),
                _fits(domain, report),
            )
        )
    out = table(rows, indent="  ") if shown else []
    if len(shown) < len(report.domains):
        out.append(f"  and {len(report.domains) - len(shown)} more domains")
    return out


def _shown(domains: tuple[DomainReport, ...]) -> tuple[DomainReport, ...]:
    """All where there are few; else the eligible first, of those the ones that fit, then the emptiest."""
    if len(domains) <= _MOST_DOMAINS:
        return domains
    ordered = sorted(domains, key=lambda domain: (not domain.eligible, not domain.fits, domain.matching, domain.value))
    return tuple(ordered[:_MOST_DOMAINS])


def _inequality(domain: DomainReport, report: ConstraintReport) -> str:
    if domain.skew_if_placed is None:
        return f"not eligible: {domain.why_not}"
    holds = domain.skew_if_placed <= report.constraint.max_skew
    return (
        f"{domain.matching} + {int(report.self_match)} - {report.global_minimum} = {domain.skew_if_placed} "
        f"{'<=' if holds else '>'} {report.constraint.max_skew}"
    )


def _fits(domain: DomainReport, report: ConstraintReport) -> str:
    if not report.constraint.is_hard or not domain.eligible:
        return "-"
    if domain.fits and not domain.usable:
        return f"yes, but no usable node: {domain.unusable_because}"
    return "yes" if domain.fits else "no"


def _conflicts(explanation: Explanation) -> list[str]:
    out = ["What leaves no node (each set by itself keeps the pod Pending):"]
    for number, conflict in enumerate(explanation.conflicts[:_MOST_CONFLICTS], 1):
        lines_of_set = [
            f"{safe(item.text)} leaves {_left(item, explanation.node_names)}" for item in conflict.requirements
        ]
        out.append(f"  {number}. {lines_of_set[0]}")
        out += [f"     {line}" for line in lines_of_set[1:]]
    more = len(explanation.conflicts) - _MOST_CONFLICTS
    if more > 0:
        out.append(f"  and {counted(more, 'larger set')}")
    return out


def _left(requirement: Requirement, names: tuple[str, ...]) -> str:
    left = [name for name, fits in zip(names, requirement.allowed, strict=True) if fits]
    return f"only {listed(left, most=_MOST_NAMES)}" if left else "no node"


def selector_text(selector: Selector) -> str:
    """A selector as kubectl writes it."""
    if selector.requirements is None:
        return "no label selector (which selects none)"
    if selector.is_empty:
        return "any labels (an empty selector, of which the scheduler counts none)"
    return safe(",".join(_requirement_text(item) for item in selector.requirements))


def _requirement_text(item: SelectorRequirement) -> str:
    if item.operator == "In" and len(item.values) == 1:
        return f"{item.key}={item.values[0]}"
    if item.operator == "Exists":
        return item.key
    if item.operator == "DoesNotExist":
        return f"!{item.key}"
    return f"{item.key} {item.operator.lower()} ({','.join(item.values)})"
