"""A spread constraint as text: its counts, its minimum and its domains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_spread.containers import grouped
from kubectl_spread.explain.constraint_notes import Note, NoteKind, Origin, OriginKind
from kubectl_spread.explain.constraint_report import ConstraintReport, CountedPods, DomainReport
from kubectl_spread.explain.requirements import requirement
from kubectl_spread.explain.requirements.collect import constraint_name
from kubectl_spread.explain.requirements.requirement import short_list
from kubectl_spread.lint.wording import node_reason, node_reasons
from kubectl_spread.objects.constraints.constraint import HONOR, IGNORE
from kubectl_spread.objects.node import NodeReason, OUTAGES
from kubectl_spread.objects.selectors import Selector
from kubectl_spread.report.explain.verdict import deletion_text
from kubectl_spread.report.table import domain_table, paragraphs, Style, wrap
from kubectl_spread.report.wording import short_name
from kubectl_spread.text.wording import comma_list, count_noun, first_of, safe

_MOST_NAMES = 6
_MOST_DOMAINS = 20
_FEW_DOMAINS = 8  # without all details
_MOST_PODS = 3
_MOST_LINES = 8  # of one kind


def lines(report: ConstraintReport, style: Style) -> list[str]:
    """Return the text about one constraint: its counting, its emptiest domain, its domains, and surprises.

    With all details also the origin, ordinary policies and the counted pods.
    """
    is_detailed, every = style.is_detailed, report.domains
    out = wrap(heading(report), style, hanging="    ")
    out += paragraphs(facts(report, is_detailed=is_detailed), style, indent="  ", hanging="  ")
    visible = domains_to_show(every, _MOST_DOMAINS if is_detailed else _FEW_DOMAINS)
    rows = [
        (
            domain.value or '""',
            str(domain.nodes),
            str(domain.usable),
            str(domain.matching) if domain.eligible else "-",
            inequality(domain, report),
            _fits(domain, report),
        )
        for domain in visible
    ]
    if rows:
        head = ("DOMAIN", "NODES", "USABLE", "MATCHING", "IF PLACED HERE", "FITS")
        out += domain_table(head, rows, of=len(every), style=style)
    return out + paragraphs(details(report, is_detailed=is_detailed), style, indent="  ", hanging="  ")


def heading(report: ConstraintReport) -> str:
    """Return `topologySpreadConstraints[0]: topology.kubernetes.io/zone, maxSkew 1, DoNotSchedule`."""
    constraint = report.constraint
    name = constraint_name(constraint.position, is_default=report.is_default)
    return f"{name}: {constraint.topology_key}, maxSkew {constraint.max_skew}, {constraint.when_unsatisfiable}"


def details(report: ConstraintReport, *, is_detailed: bool = True) -> Iterator[str]:
    """Yield the lines below the table of domains: why domains are unusable, the counted pods, and notes."""
    yield from _reason_lines("not eligible:", [(domain.value, domain.why_not) for domain in report.domains])
    if is_detailed:
        unusable = [(domain.value, domain.unusable_because) for domain in report.domains if domain.eligible]
        yield from _reason_lines("no node can run the pod in", unusable)
    if report.without_key:
        names = comma_list(report.without_key)
        yield f"{count_noun(len(report.without_key), 'node')} without this label: {names}"
    if is_detailed:
        yield from _matching_pods(report)
    yield from _uncounted_pods(report)
    yield from (note(item) for item in report.notes)


def facts(report: ConstraintReport, *, is_detailed: bool = True) -> Iterator[str]:
    """Yield sentences about the origin of a constraint, the pods that it counts, and its emptiest domain."""
    constraint = report.constraint
    is_ordinary = report.origin.kind in (OriginKind.POD, OriginKind.POD_OF_OWNER, OriginKind.TEMPLATE)
    if not constraint.topology_key or constraint.max_skew < 1:
        yield "the API server refuses such a constraint"
    if (is_detailed or not is_ordinary) and (source := origin(report.origin)):
        yield f"from {source}"
    own = ", including this pod" if report.self_match else "; this pod does not match, so it adds 0"
    if report.self_match and report.selector.is_empty:
        own = "; this pod alone adds 1"
    namespace = f"namespace {report.namespace}" if report.namespace else "the namespace"
    yield f"counts pods of {namespace} with {selector_text(report.selector)}{own}"
    if report.origin.merged and is_detailed:
        yield f"of these, {comma_list(report.origin.merged)} comes from matchLabelKeys"
    if report.origin.absent:
        absent = comma_list(report.origin.absent)
        yield f"matchLabelKeys {absent} is ignored: the pod has no such label"
    policies = constraint.node_affinity_policy or HONOR, constraint.node_taints_policy or IGNORE
    if is_detailed or policies != (HONOR, IGNORE):
        yield "nodeAffinityPolicy {}, nodeTaintsPolicy {}".format(*policies)
    if not constraint.is_hard:
        yield "ScheduleAnyway: no node is refused; fuller domains only get a lower score"
    if not report.eligible_domains:
        yield "the global minimum is 0: no domain is eligible"
    elif report.counts.is_below_min_domains:
        number = count_noun(report.eligible_domains, "eligible domain")
        are = "is" if report.eligible_domains == 1 else "are"
        yield f"the global minimum is 0: {number} {are} fewer than minDomains {report.min_domains}"
    elif is_detailed:
        emptiest = report.counts.smallest_in
        pods = f"{count_noun(report.counts.minimum, 'matching pod')}{' each' if len(emptiest) > 1 else ''}"
        yield f"emptiest: {_values(emptiest)} with {pods} (the global minimum)"


def _values(values: Iterable[str]) -> str:
    return comma_list(value or '""' for value in values)


def domains_to_show(domains: tuple[DomainReport, ...], most: int = _MOST_DOMAINS) -> tuple[DomainReport, ...]:
    """Return all domains if there are few; else a selection, half of them feasible and half usable but full.

    Each half has the emptiest domains first. If one half is short, the other half grows, then the remaining domains
    follow.
    """
    if len(domains) <= most:
        return domains
    ordered = sorted(domains, key=lambda domain: (not domain.eligible, domain.matching, domain.value))
    fitting = [domain for domain in ordered if domain.eligible and domain.fits]
    full = [domain for domain in ordered if domain.eligible and not domain.fits and domain.usable]
    other = [domain for domain in ordered if not domain.eligible or not (domain.fits or domain.usable)]
    of_full = full[: max(most // 2, most - len(fitting))]
    return (*fitting[: most - len(of_full)], *of_full, *other)[:most]


def inequality(domain: DomainReport, report: ConstraintReport) -> str:
    """Return `1 + 1 - 0 = 2 > 1`, or why the domain does not count."""
    if domain.skew_if_placed is None:
        return "not eligible"
    holds = domain.skew_if_placed <= report.constraint.max_skew
    return (
        f"{domain.matching} + {int(report.self_match)} - {report.counts.minimum} = {domain.skew_if_placed} "
        f"{'<=' if holds else '>'} {report.constraint.max_skew}"
    )


def _fits(domain: DomainReport, report: ConstraintReport) -> str:
    if not report.constraint.is_hard or not domain.eligible:
        return "-"
    if domain.fits and not domain.usable:
        return "allowed, no usable node"
    return "yes" if domain.fits else "no"


def _reason_lines(text: str, reasons: list[tuple[str, tuple[NodeReason, ...]]]) -> Iterator[str]:
    """Yield a line for each reason with the domains that share it; for each part of a reason if there are too many."""
    groups = grouped((why, value) for value, why in reasons if why)
    if len(groups) > _MOST_LINES:
        groups = grouped(((part,), value) for value, why in reasons for part in why)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    for why, values in ordered[:_MOST_LINES]:
        yield f"{text} {_values(values)}: {node_reasons(why)}"
    if len(ordered) > _MOST_LINES:
        yield f"{text} {count_noun(sum(len(values) for _, values in ordered[_MOST_LINES:]), 'more domain')}"


def _uncounted_pods(report: ConstraintReport) -> Iterator[str]:
    """Yield the matching pods that do not count: terminating, on nodes that do not count, and of other namespaces."""
    having = [domain for domain in report.domains if domain.terminating]
    for domain in having[:_MOST_LINES]:
        value, number = domain.value or '""', len(domain.terminating)
        leaving = [
            f"{pod.name} on {pod.node} has been terminating{deletion_text(pod.since, pod.finalizers)}"
            for pod in domain.terminating
        ]
        if number == 1 and not domain.matching:
            yield f"{value} is at 0, as its only matching pod {leaving[0]}"
            continue
        which = first_of(leaving, _MOST_PODS, lambda left: f"and {left} more")
        yield f"{value}: {count_noun(number, 'matching pod')} not counted, as terminating: {'; '.join(which)}"
    if len(having) > _MOST_LINES:
        yield f"and pods are terminating in {count_noun(len(having) - _MOST_LINES, 'more domain')}"
    if report.ignored_pods and not report.ignored:
        yield f"{count_noun(report.ignored_pods, 'matching pod')} on nodes that are not counted"
    for item in report.ignored[:_MOST_LINES]:
        where, names = short_list(item.node_names, of=item.nodes), short_list(item.names, of=item.number)
        why = f": {node_reason(item.why)}" if item.why else ""
        verb = "does" if item.number == 1 else "do"
        yield f"{count_noun(item.number, 'matching pod')} on {where} {verb} not count ({names}){why}"
    if report.other_namespaces:
        parts = [f"{number} in {namespace}" for namespace, number in report.other_namespaces]
        named = first_of(parts, _MOST_PODS, lambda left: f"in {left} more")
        yield f"pods of other namespaces match and do not count: {', '.join(named)}"


def _matching_pods(report: ConstraintReport) -> Iterator[str]:
    """Yield the counted pods of each domain, and the other workloads that the selector matches."""
    having = [domain for domain in domains_to_show(report.domains) if domain.pods]
    if having:
        yield "matching pods:"
    for domain in having[:_MOST_LINES]:
        parts = [_workload(pods, report) for pods in domain.pods[:_MOST_PODS]]
        more = sum(pods.number for pods in domain.pods[_MOST_PODS:])
        parts += [f"{more} of others"] if more else []
        yield f"  {domain.value or chr(34) * 2}: {'; '.join(parts)}"
    total = sum(bool(domain.pods) for domain in report.domains)
    if total > _MOST_LINES:
        yield f"  and in {count_noun(total - _MOST_LINES, 'more domain')}"
    others = grouped(
        (pods.owner, (value, pods.number))
        for value, pods in ((domain.value, pods) for domain in report.domains for pods in domain.pods)
        if not pods.is_own and pods.owner is not None
    )
    ordered = sorted(others.items(), key=lambda item: (-sum(number for _, number in item[1]), item[0]))
    for owner, numbers in ordered[:_MOST_PODS]:
        where = ", ".join(f"{number} in {value or chr(34) * 2}" for value, number in numbers[:_MOST_NAMES])
        more = len(numbers) - _MOST_NAMES
        rest = f" and in {count_noun(more, 'more domain')}" if more > 0 else ""
        static = "static pods of " if owner.kind == "Node" else ""
        yield f"the selector also matches {static}{short_name(owner)}: {where}{rest}"
    if len(others) > _MOST_PODS:
        yield f"and {count_noun(len(others) - _MOST_PODS, 'more workload')}"


def _workload(pods: CountedPods, report: ConstraintReport) -> str:
    """Return `3 of Deployment web (web-1, web-2, web-3), 2 of them of another revision (5d4f)`."""
    owner = short_name(pods.owner)
    text = f"{pods.number} of {owner}"
    if pods.owner is None:
        text = f"{count_noun(pods.number, 'pod')} without a controller"
    elif pods.owner.kind == "Node":  # mirror pods
        text = f"{count_noun(pods.number, 'static pod')} of {owner}"
    text += f" ({short_list(pods.names, of=pods.number)})"
    others = [(name, number) for name, number in pods.revisions if name != report.revision]
    if not pods.is_own or not report.revision or not others:
        return text
    number = sum(number for _, number in others)
    whose = "another revision" if len(others) == 1 else "other revisions"
    which = comma_list((name for name, _ in others), most=_MOST_PODS)
    of_them = f"{number} of them " if number < pods.number else "all " if number > 1 else ""
    return f"{text}, {of_them}of {whose} ({which})"


def selector_text(selector: Selector) -> str:
    """Return a selector as kubectl writes it."""
    return safe(requirement.selector_text(selector))


def note(item: Note) -> str:
    """Return the sentence of a note, without a full stop."""
    one, only_one = item.number == 1, len(item.values) == 1
    return _NOTES[item.kind].format(
        **item._asdict() | {"values": short_list(item.values), "names": short_list(item.names, of=item.number)},
        labels=", ".join(item.values) or "none",
        alike="; ".join(" and ".join(values) for values in item.groups),
        meant=f"; did you mean {item.near}?" if item.near else "",
        limit=f"{item.minimum} + {item.max_skew} = {item.limit}",
        matching_pods=f"matching {'pod' if item.limit == 1 else 'pods'}",
        finished=count_noun(item.number, "matching pod"),
        shared=count_noun(item.number, "more value"),
        down=OUTAGES.get(item.key, ""),
        lack="lacks" if one else "lack",
        have="has" if one else "have",
        do="does" if one else "do",
        are="is" if one else "are",
        them="it" if one else "them",
        they_count="it still counts" if one else "they still count",
        domains="domain" if only_one else "domains",
        domains_are="is" if only_one else "are",
    )


_NOTES = {
    NoteKind.EMPTY_SELECTOR: (
        "an empty labelSelector matches all pods in the API, but the scheduler counts none of them"
    ),
    NoteKind.NO_SELECTOR: (
        "without a labelSelector no pod is counted, so the constraint spreads nothing, "
        "but it switches the default constraints off"
    ),
    NoteKind.NOT_SELF_MATCHING: (
        "pods like this one (labels: {labels}) are not counted, so the constraint does not spread them"
    ),
    NoteKind.NO_DOMAINS: "no node has the label {key}, so there are no domains to spread over{meant}",
    NoteKind.BELOW_MIN_DOMAINS: ("with fewer than {number} domains, each can hold at most {limit} {matching_pods}"),
    NoteKind.HIDDEN_DOMAINS: (
        "{names} {lack} {key}, the key of another constraint, so {domains} {values} {domains_are} not counted here "
        "either"
    ),
    NoteKind.ONLY_DOMAIN: "{values} is the only domain, so there is nothing to spread over",
    NoteKind.FITS_ONE_DOMAIN: ("the pod fits into no domain other than {values}, so the constraint does not affect it"),
    NoteKind.SHARED_HOSTNAME: "{names} share {key}={values}, so they are one domain",
    NoteKind.MORE_SHARED_HOSTNAMES: "{shared} of {key} shared by several nodes",
    NoteKind.EMPTY_VALUE: "{names} {have} an empty {key}, which counts as a separate domain",
    NoteKind.CASE_VARIANTS: "{alike} differ only in upper and lower case, so they are separate domains",
    NoteKind.CORDON_WITHOUT_TAINT: (
        "{names} {are} cordoned without the cordon taint, so nodeTaintsPolicy Honor still counts {them}"
    ),
    NoteKind.OUTAGE: (
        "{names} {are} {down}, but the pod tolerates {key}:NoExecute (by default for 300 s), so {they_count} and can "
        "be chosen"
    ),
    NoteKind.FINISHED_PODS: "{finished} {have} finished and {do} not count: {names}",
}


def origin(item: Origin) -> str:
    """Return the origin of a constraint: `the template of Deployment web`; empty if it is unknown."""
    sources = short_list(item.selector_from)
    return _ORIGINS[item.kind].format(
        owner=short_name(item.owner),
        changes=", ".join(f"{field} {'not set' if value is None else value}" for field, value in item.changed),
        uses=f"; it uses the selector of {sources}" if sources else "",
    )


_ORIGINS = {
    OriginKind.UNKNOWN: "",
    OriginKind.BUILT_IN_DEFAULT: (
        "a cluster default (built into the scheduler), because the pod has no constraints{uses}"
    ),
    OriginKind.CONFIGURED_DEFAULT: (
        "a cluster default (defaultConstraints in the scheduler's configuration), because the pod has no "
        "constraints{uses}"
    ),
    OriginKind.POD: "the pod",
    OriginKind.POD_OF_OWNER: "the pod, created by {owner}",
    OriginKind.FORMER_TEMPLATE: "the pod; the template of {owner} no longer has a constraint for this key",
    OriginKind.CHANGED_TEMPLATE: "an older template of {owner}, which now has {changes}",
    OriginKind.TEMPLATE: "the template of {owner}",
}
