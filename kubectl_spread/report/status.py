"""The answer of `status`: in kubectl's manner, as JSON, and in Prometheus' text format, version 0.0.4.

The schema is schemas/status-report.json.
Source: prometheus/docs, content/docs/instrumenting/exposition_formats.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Unread
from kubectl_spread.errors import SourceError
from kubectl_spread.explain.status import ConstraintState, ConstraintStatus, WorkloadStatus
from kubectl_spread.guarantee.evaluate import Evaluation, GroupStatus, PolicyStatus
from kubectl_spread.guarantee.policy import RuleKind
from kubectl_spread.guarantee.texts import preposition, rule_text, short_key
from kubectl_spread.objects.selectors import domain_noun
from kubectl_spread.report.documents import form, origin, Plain, report_document, to_document
from kubectl_spread.report.explain.constraints import selector_text
from kubectl_spread.report.table import Style, table
from kubectl_spread.report.wording import pods_by_domain, resource
from kubectl_spread.text.wording import comma_list, count_noun, safe

_WIDEST_COUNTS = 24
_MOST_DOMAINS = 20  # that the wide form lists
_NONE = "<none>"
_STATUS_WORDS = {ConstraintState.NO_EFFECT: "no effect", ConstraintState.PARTLY_COUNTED: "partly counted"}


class Row(NamedTuple):
    """A line: its subject, which stays the same while it is watched, and its cells."""

    about: tuple[str, ...]
    cells: tuple[str, ...]


def header(*, has_namespace: bool, is_wide: bool) -> tuple[str, ...]:
    """Return the names of the columns."""
    columns: tuple[str, ...] = ("NAME", "KEY", "MAXSKEW", "WHEN", "DOMAINS", "COUNTS", "SKEW", "STATUS")
    if is_wide:
        columns += ("PODS", "SELECTOR", "SINCE", "REASON")
    return ("NAMESPACE", *columns) if has_namespace else columns


def rows(statuses: Iterable[WorkloadStatus], *, has_namespace: bool, is_wide: bool) -> list[Row]:
    """Return a line for each constraint, and one for each workload without constraints."""
    found = []
    for status in statuses:
        name = resource(status.key)
        first = (status.key.namespace, name) if has_namespace else (name,)
        about = (status.key.kind, status.key.namespace, status.key.name)
        pods = f"{status.running}{'' if status.wanted is None else f'/{status.wanted}'}"  # like READY of kubectl: `2/3`
        for item in status.constraints or (None,):
            cells, state, selector, since, reason = [""] * 6, None, "", status.pending_since, status.why
            if item is not None:
                key = item.topology_key if is_wide else short_key(item.topology_key)
                least = f" of {item.min_domains}" if item.min_domains and item.counts.is_below_min_domains else ""
                cells = [
                    f"{key} (default)" if item.is_default else key,
                    str(item.max_skew),
                    item.when_unsatisfiable,
                    f"{len(item.counts.domains)}{least}",
                    counts_text(item, is_wide=is_wide),
                    _NONE if item.skew is None else str(item.skew),
                ]
                selector = "" if item.selector is None else selector_text(item.selector)
                since = since or (f"after {item.not_before}" if item.not_before else "")
                state, reason = item.state, item.reason
            cells = [*first, *cells, state_text(state, status)]
            cells += [pods, selector, since, reason] if is_wide else []
            position = str(item.position) if item else ""
            found.append(Row((*about, position), tuple(safe(cell) or _NONE for cell in cells)))
    return found


class ColumnWidths:
    """Lines of a table that is continued: columns get wider, and never narrower.

    With a `width`, the first rows begin with the header and wrap if they are wider.
    """

    def __init__(self, width: Optional[int] = None) -> None:
        self._widths: list[int] = []
        self._width = width

    def lines(self, rows: Iterable[tuple[str, ...]]) -> list[str]:
        """Return the lines of further rows, in the columns of earlier calls."""
        rows = list(rows)
        if self._width is not None:
            return table(rows, Style(self._width))
        for row in rows:
            self._widths += [0] * (len(row) - len(self._widths))
            self._widths = [max(width, len(cell)) for width, cell in zip(self._widths, row, strict=True)]
        return [
            "   ".join(cell.ljust(width) for cell, width in zip(row, self._widths, strict=True)).rstrip()
            for row in rows
        ]


def state_text(state: Optional[ConstraintState], status: WorkloadStatus) -> str:
    """Return `violated, pending 2`. A constraint that holds is not `ok` while pods of its workload are Pending."""
    counts = {
        "pending": len(status.pending),
        "on missing nodes": len(status.lost),
        "not created": status.uncreated.number if status.uncreated is not None else 0,
    }
    troubles = [f"{what} {count}" for what, count in counts.items() if count]
    stands = (
        "" if state is None or (troubles and state is ConstraintState.OK) else _STATUS_WORDS.get(state, state.value)
    )
    return ", ".join(filter(None, (stands, *troubles)))


def counts_text(item: ConstraintStatus, *, is_wide: bool) -> str:
    """Return `a=2 b=1 c=0`, or `0..2` if that is too long."""
    domains = item.counts.domains
    if not domains:
        return ""
    if len(domains) <= _MOST_DOMAINS:
        listed = pods_by_domain(domains)
        if is_wide or len(listed) <= _WIDEST_COUNTS:
            return listed
    return f"{item.counts.smallest}..{item.counts.most}"


_MOST_ROWS = 20  # of a policy
POLICY_HEADER = ("NAMESPACE", "GROUP", "RULE", "STATUS", "PODS")


def policy_lines(
    found: PolicyStatus, width: Optional[int], *, has_namespace: bool, has_headers: bool = True
) -> list[str]:
    """Return the verdict, and a table of the rules of each group. Of many rules, the table has the violated ones.

    Without headers, there is a line for each row and nothing else.
    """
    rows = policy_rows(found, has_namespace=has_namespace)
    if not rows:
        return [f"Policy {found.policy.name}: its groups match none of these workloads"]
    header = POLICY_HEADER[not has_namespace :]
    if not has_headers:
        return table([header, *rows], Style(width))[1:]
    bad = [row for row in rows if row[-2] == "violated"]
    groups = count_noun(len(found.groups), "group")
    broken = sum(any(item.is_violated for item in group.rules) for group in found.groups)
    title = f"Policy {found.policy.name}: {f'violated by {broken} of {groups}' if broken else f'kept by {groups}'}"
    shown = rows if len(rows) <= _MOST_ROWS else bad[:_MOST_ROWS]
    left = len(rows) - len(shown)
    lines = table([header, *shown], Style(width)) if shown else []
    which = "of rules that are kept" if len(bad) <= len(shown) else "some violated"
    more = f"{count_noun(left, 'more row')}, {which}: -o json"
    return [title, "", *lines, *([more] if left else [])]


def policy_rows(found: PolicyStatus, *, has_namespace: bool) -> list[tuple[str, ...]]:
    """Return the cells of each rule of each group."""
    rows: list[tuple[str, ...]] = []
    for group in found.groups:
        first = (group.namespace, group.name)[not has_namespace :]
        for item in group.rules:
            state = f"ok ({item.terminating} terminating not counted)" if item.terminating else "ok"
            state = "violated" if item.is_violated else state
            rows.append((*first, rule_text(item.rule, is_now=True), state, _rule_numbers(item)))
    return rows


def _rule_numbers(item: Evaluation) -> str:
    key = item.rule.topology_key
    where = f" ({comma_list(item.domains, most=3)})" if item.domains else ""
    one = f"{preposition(key)} one {domain_noun(key)}{where}" if key else ""
    if item.rule.kind in (RuleKind.MAX_SHARE, RuleKind.MAX_COUNT):
        return f"{item.number} of {item.pods} {one}, {item.limit} allowed"
    if item.rule.kind is RuleKind.MIN_DOMAINS:
        return f"{item.number} {domain_noun(key, plural=item.number != 1)}{where}, {item.limit} required"
    if item.rule.kind is RuleKind.SEPARATE:
        return f"{count_noun(item.number, 'pod')} of one workload {one}, 1 allowed"
    if item.rule.kind is RuleKind.SURVIVE:
        return f"{item.number} left without {domain_noun(key)}{where}, {item.limit} required"
    return f"{count_noun(item.number, 'pod')} Pending"


form(GroupStatus, "name namespace workloads running replicas=wanted rules")
form(
    Evaluation,
    "rule=rule.kind text topologyKey?=rule.topology_key violated domains number limit terminating",
    text=lambda item: rule_text(item.rule, is_now=True),
)


def status_report(
    statuses: Iterable[WorkloadStatus],
    errors: Iterable[SourceError],
    unread: Iterable[Unread],
    policy: Optional[PolicyStatus],
) -> Plain:
    """Return a StatusReport; `policy` is the state of a policy, if one is given."""
    workloads = {"workloads": [to_document(item) for item in statuses]}
    document = report_document("StatusReport", workloads, errors=errors, unread=unread)
    return document | ({} if policy is None else {"policy": to_document(policy, "name=policy.name kept groups")})


form(
    WorkloadStatus,
    "object=key replicas=wanted running terminating pending pendingSince? onMissingNodes=lost notCreated "
    "notCreatedBecause=uncreated.message constraints",
    pending=lambda status: [to_document(pod, "pod=name message since?=refused_since") for pod in status.pending],
    notCreated=lambda status: 0 if status.uncreated is None else status.uncreated.number,
)
form(
    ConstraintStatus,
    "index=position origin topologyKey maxSkew whenUnsatisfiable minDomains selector selfMatch "
    "globalMinimum=counts.minimum domains skew status=state uncounted reason notBefore?",
    origin=origin,
    selector=lambda item: None if item.selector is None else selector_text(item.selector),
    uncounted=lambda item: [] if item.uncounted is None else item.uncounted.pods,
)


_MOST_SERIES = 50  # a constraint with more domains, for example hostnames, has no time series per domain
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


# The name, the help, and the value; None for no sample
_Gauges = tuple[tuple[str, str, Callable[[Any], Optional[int]]], ...]
_OF_CONSTRAINTS: _Gauges = (
    (
        "kubectl_spread_constraint_skew",
        "Pods in the fullest domain minus the global minimum, as the scheduler counts them now.",
        lambda item: item.skew,
    ),
    ("kubectl_spread_constraint_max_skew", "The constraint's maxSkew.", lambda item: item.max_skew),
    (
        "kubectl_spread_constraint_domains",
        "Domains that the constraint counts.",
        lambda item: len(item.counts.domains),
    ),
    (
        "kubectl_spread_constraint_violated",
        "1 if the skew is above maxSkew or no counted node has the label, else 0; also for ScheduleAnyway.",
        lambda item: (
            None
            if item.state is ConstraintState.UNKNOWN
            else int(item.state in (ConstraintState.VIOLATED, ConstraintState.UNEVEN))
        ),
    ),
    (
        "kubectl_spread_constraint_uncounted_pods",
        "Running pods of the workload that the constraint's selector does not match.",
        lambda item: 0 if item.uncounted is None else len(item.uncounted.pods),
    ),
)
_OF_DOMAINS: _Gauges = (
    (
        "kubectl_spread_domain_pods",
        f"Pods that the constraint counts in each domain, for up to {_MOST_SERIES} domains.",
        lambda pods: pods,
    ),
)
_OF_WORKLOADS: _Gauges = (
    ("kubectl_spread_workload_pods_running", "Pods on a node that are not terminating.", lambda item: item.running),
    ("kubectl_spread_workload_pods_pending", "Pods that wait for a node.", lambda item: len(item.pending)),
)
_OF_POLICIES: _Gauges = (
    (
        "kubectl_spread_policy_violated",
        "1 if the running pods violate the rule, else 0.",
        lambda item: int(item.is_violated),
    ),
    (
        "kubectl_spread_policy_value",
        "Pods in the fullest domain, domains in use, pods left after a loss, or Pending pods.",
        lambda item: item.number,
    ),
    ("kubectl_spread_policy_limit", "The most or the least that the rule allows.", lambda item: item.limit),
)


def prometheus_text(statuses: Iterable[WorkloadStatus], policy: Optional[PolicyStatus] = None) -> str:
    """Return every metric in Prometheus' text format, its samples together; it ends with a line break.

    Each status is read once, so that only the samples stay in memory, however many workloads a cluster has.
    """
    levels = (_OF_CONSTRAINTS, _OF_DOMAINS, _OF_WORKLOADS, () if policy is None else _OF_POLICIES)
    samples = {
        name: [f"# HELP {name} {about}", f"# TYPE {name} gauge"] for gauges in levels for name, about, _ in gauges
    }

    def add(gauges: _Gauges, item: object, labels: str) -> None:
        for name, _, value in gauges:
            number = value(item)
            if number is not None:
                samples[name].append(f"{name}{{{labels}}} {number}")

    for status in statuses:
        of_workload = _labels(status.key._asdict())
        for item in status.constraints:
            own = {
                "constraint": str(item.position),
                "origin": origin(item),
                "topology_key": item.topology_key,
                "when_unsatisfiable": item.when_unsatisfiable,
            }
            labels, domains = f"{of_workload},{_labels(own)}", item.counts.domains
            add(_OF_CONSTRAINTS, item, labels)
            for name, pods in domains.items() if len(domains) <= _MOST_SERIES else ():
                add(_OF_DOMAINS, pods, f"{labels},{_labels({'domain': name})}")
        add(_OF_WORKLOADS, status, of_workload)
    for name, group in () if policy is None else ((policy.policy.name, item) for item in policy.groups):
        for rule in group.rules:
            own = {
                "policy": name,
                "namespace": group.namespace,
                "group": group.name,
                "rule": rule.rule.kind.value,
                "topology_key": rule.rule.topology_key,
                "text": rule_text(rule.rule, is_now=True),
            }
            add(_OF_POLICIES, rule, _labels(own))
    return "".join(f"{line}\n" for lines in samples.values() for line in lines)


def _labels(labels: dict[str, str]) -> str:
    """Return labels without control characters, except line breaks, which the format escapes itself."""
    escaped = {key: "\n".join(map(safe, text.split("\n"))).translate(_ESCAPED) for key, text in labels.items()}
    return ",".join(f'{key}="{text}"' for key, text in escaped.items())
