"""The account of a spread constraint as text."""

from __future__ import annotations

from kubectl_spread.explain.constraints import ConstraintReport
from kubectl_spread.explain.constraints import DomainReport
from kubectl_spread.explain.requirements import constraint_name
from kubectl_spread.lint.wording import counted
from kubectl_spread.objects.constraint import HONOR
from kubectl_spread.objects.constraint import IGNORE
from kubectl_spread.objects.selector import Requirement
from kubectl_spread.objects.selector import Selector
from kubectl_spread.report.table import listed
from kubectl_spread.report.table import safe
from kubectl_spread.report.table import table

_MOST_NAMES = 6
_MOST_DOMAINS = 20


def lines(report: ConstraintReport) -> list[str]:
    """One constraint: what it counts, its minimum, and its domains."""
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
                inequality(domain, report),
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


def inequality(domain: DomainReport, report: ConstraintReport) -> str:
    """`1 + 1 - 0 = 2 > 1`, or why the domain does not count."""
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


def selector_text(selector: Selector) -> str:
    """A selector as kubectl writes it."""
    if selector.requirements is None:
        return "no label selector (which selects none)"
    if selector.is_empty:
        return "any labels (an empty selector, of which the scheduler counts none)"
    return safe(",".join(_requirement_text(item) for item in selector.requirements))


def _requirement_text(item: Requirement) -> str:
    if item.operator == "In" and len(item.values) == 1:
        return f"{item.key}={item.values[0]}"
    if item.operator == "Exists":
        return item.key
    if item.operator == "DoesNotExist":
        return f"!{item.key}"
    return f"{item.key} {item.operator.lower()} ({','.join(item.values)})"
