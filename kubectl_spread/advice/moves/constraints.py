"""Changes of a constraint: maxSkew, minDomains, policies, topology key, whenUnsatisfiable, and its selector."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kubectl_spread.advice.change import Change, Ladder, of_constraint, of_spec, Rank, single
from kubectl_spread.advice.patch import drop, END, Op, put_op, test
from kubectl_spread.advice.problem import PASSING_LABELS, PendingPodProblem
from kubectl_spread.explain.constraints.report import ConstraintReport
from kubectl_spread.lint.topology_keys import intended_key
from kubectl_spread.objects.constraints.constraint import HONOR, IGNORE, SCHEDULE_ANYWAY, TopologySpreadConstraint
from kubectl_spread.objects.selectors import HOSTNAME, REGION, ZONE
from kubectl_spread.text.node import Route
from kubectl_spread.text.wording import nearest

FIELD = "topologySpreadConstraints"
_SUCCESSORS = {"failure-domain.beta.kubernetes.io/zone": ZONE, "failure-domain.beta.kubernetes.io/region": REGION}
_RENAMED = {**_SUCCESSORS, **{new: old for old, new in _SUCCESSORS.items()}}
_MOST_SKEW = 1_000
_TIGHT = 3  # Up to this maxSkew, even a few pods are spread.


def propose(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Propose changes of each hard constraint of the pod."""
    reports = problem.reports
    if problem.owner.kind == "DaemonSet" and reports:
        yield single(_of_daemons())
    for report in reports:
        yield from _keys(problem, report)
        yield from _policies(problem, [report])
        yield from _min_domains(problem, report)
        yield from _max_skew(problem, report)
        yield from _softened(problem, report)
    if len(reports) > 1:
        yield from _policies(problem, reports)
    yield from _defaults(problem)


def route(report: ConstraintReport, *steps: str) -> Route:
    """Return the path of a constraint's field in the pod spec."""
    return (FIELD, report.constraint.position, *steps)


def guard_ops(report: ConstraintReport, *ops: Op) -> tuple[Op, ...]:
    """Return the operations after a test that the same constraint is still at this position."""
    return (test(route(report, "topologyKey"), report.constraint.topology_key), *ops)


def constraint_name(problem: PendingPodProblem, report: ConstraintReport) -> str:
    """Return a constraint's name for sentences: its key, or its position if several share the key."""
    key = report.constraint.topology_key
    same = [item for item in problem.pod.cls.constraints if item.topology_key == key]
    return f"the constraint on {key}" if len(same) == 1 else f"{FIELD}[{report.constraint.position}]"


def _max_skew(problem: PendingPodProblem, report: ConstraintReport) -> Iterator[Ladder]:
    """Raise maxSkew step by step.

    The first value lets this pod into some usable domain. The last is the most that all pods could need.
    """
    usable = {domain.skew_if_placed for domain in report.domains if domain.usable and domain.skew_if_placed is not None}
    if not usable:
        return
    now = report.constraint.max_skew
    least = max(min(usable), now + 1)
    most = min(max(usable) + len(problem.given.own), max(problem.replicas, len(problem.given.own)), _MOST_SKEW)
    if least > most:
        return

    def step(at: int) -> Change:
        value = least + at
        return of_spec(
            f"set maxSkew: {value} in {constraint_name(problem, report)}",
            guard_ops(report, put_op(route(report, "maxSkew"), value)),
            family="maxSkew",
            rank=Rank.WIDE_SKEW if value > max(_TIGHT, now) and 2 * value > problem.replicas else Rank.MAX_SKEW,
            weight=value - now,
            relaxes=of_constraint(problem, report.constraint.position),
            gives_up=f"domains of {report.constraint.topology_key} may differ by {value} pods instead of {now}",
        )

    yield Ladder(max(1, most - least + 1), step)


def _softened(problem: PendingPodProblem, report: ConstraintReport) -> Iterator[Ladder]:
    constraint = report.constraint
    pairs = {(item.topology_key, item.when_unsatisfiable) for item in problem.pod.cls.constraints}
    relaxes = of_constraint(problem, constraint.position)
    coarse = max(0, 10 - len(report.domains))  # A key with more domains spreads better.
    key = constraint.topology_key
    if (key, SCHEDULE_ANYWAY) in pairs:
        yield single(
            of_spec(
                f"remove the DoNotSchedule constraint on {key}; the ScheduleAnyway one stays",
                guard_ops(report, drop((FIELD, constraint.position))),
                family="whenUnsatisfiable",
                rank=Rank.SOFT_CONSTRAINT,
                weight=coarse,
                gives_up=f"an even spread over {key} becomes a preference: any number of pods may share a domain",
            )
        )
        return
    ops = [put_op(route(report, "whenUnsatisfiable"), SCHEDULE_ANYWAY)]
    if constraint.min_domains is not None:
        ops.append(drop(route(report, "minDomains")))
    yield single(
        of_spec(
            f"set whenUnsatisfiable: ScheduleAnyway in {constraint_name(problem, report)}",
            guard_ops(report, *ops),
            family="whenUnsatisfiable",
            rank=Rank.SOFT_CONSTRAINT,
            weight=coarse,
            relaxes=relaxes if len(problem.reports) == 1 else (),
            gives_up=f"an even spread over {key} becomes a preference: any number of pods may share a domain",
        )
    )


def _of_daemons() -> Change:
    """Remove all constraints of a DaemonSet.

    Each of its pods is bound to its own node, so a constraint can only keep it Pending.
    """
    return of_spec(
        f"remove {FIELD}: a DaemonSet has one pod on each node anyway",
        [drop((FIELD,))],
        family="whenUnsatisfiable",
        rank=Rank.MISTAKE,
    )


def _defaults(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Give the pod soft constraints of its own, which replace hard default constraints of the scheduler."""
    defaults = [item for item in problem.explanation.constraints if item.constraint.is_hard and item.is_default]
    if not defaults or problem.pod.cls.constraints or not problem.own_labels:
        return
    keys = dict.fromkeys(item.constraint.topology_key for item in defaults)
    written = [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": SCHEDULE_ANYWAY,
            "labelSelector": {"matchLabels": problem.own_labels},
        }
        for key in keys
    ]
    yield single(
        of_spec(
            f"give the pods ScheduleAnyway constraints of their own on {', '.join(keys)}, which replace the "
            "scheduler's defaults",
            [put_op((FIELD,), written)],
            family="own constraints",
            rank=Rank.SOFT_CONSTRAINT,
            gives_up=f"the cluster's default constraint on {', '.join(keys)} becomes a preference for these pods",
        )
    )


def _min_domains(problem: PendingPodProblem, report: ConstraintReport) -> Iterator[Ladder]:
    if not report.is_below_min_domains:
        return
    there = report.eligible_domains
    relaxes = of_constraint(problem, report.constraint.position)
    key, asked = report.constraint.topology_key, report.min_domains
    gives_up = (
        f"the pods no longer wait for {asked} domains of {key}: with fewer domains, the existing ones "
        "may take all of them"
    )
    if there > 1:
        change = of_spec(
            f"set minDomains: {there} in {constraint_name(problem, report)}, the number of existing domains",
            guard_ops(report, put_op(route(report, "minDomains"), there)),
            family="minDomains",
            rank=Rank.MIN_DOMAINS,
            relaxes=relaxes,
            gives_up=gives_up,
        )
    else:
        change = of_spec(
            f"remove minDomains from {constraint_name(problem, report)}",
            guard_ops(report, drop(route(report, "minDomains"))),
            family="minDomains",
            rank=Rank.MIN_DOMAINS,
            relaxes=relaxes,
            gives_up=gives_up,
        )
    yield single(change)


def _policies(problem: PendingPodProblem, reports: list[ConstraintReport]) -> Iterator[Ladder]:
    """Let constraints ignore nodes that the pod may not use, by taints, by affinity, or by both."""
    taints = _changed_policies(reports, _TAINTS) if _has_tainted(problem) else []
    affinity = _changed_policies(reports, _AFFINITY)
    if len(reports) > 1 and max(len(taints), len(affinity)) < 2:
        return
    if taints:
        yield single(_with_policies(problem, reports, {_TAINTS: taints}))
    if affinity:
        yield single(_with_policies(problem, reports, {_AFFINITY: affinity}))
    if taints and affinity:
        yield single(_with_policies(problem, reports, {_TAINTS: taints, _AFFINITY: affinity}))


class _Policy(NamedTuple):
    """A field that decides which nodes a constraint counts."""

    field: str
    rank: Rank
    gives_up: str  # what changes once it is Honor

    def is_honored(self, constraint: TopologySpreadConstraint) -> bool:
        if self.field == "nodeTaintsPolicy":
            return constraint.node_taints_policy == HONOR  # the default is Ignore
        return constraint.node_affinity_policy != IGNORE  # the default is Honor


_TAINTS = _Policy(
    "nodeTaintsPolicy",
    Rank.TAINTS_POLICY,
    "nodes with untolerated taints are no longer counted: if an outage taints a whole zone, "
    "the other zones take its pods",
)
_AFFINITY = _Policy(
    "nodeAffinityPolicy",
    Rank.AFFINITY_POLICY,
    "nodes that the pod's nodeSelector and affinity exclude are no longer counted",
)


def _changed_policies(reports: list[ConstraintReport], policy: _Policy) -> list[ConstraintReport]:
    return [item for item in reports if not policy.is_honored(item.constraint)]


def _with_policies(
    problem: PendingPodProblem, reports: list[ConstraintReport], changed: dict[_Policy, list[ConstraintReport]]
) -> Change:
    """Return the change that sets policies to Honor in the constraints that do not have them yet."""
    where = constraint_name(problem, reports[0]) if len(reports) == 1 else "every DoNotSchedule constraint"
    main, *_ = changed
    return of_spec(
        f"set {' and '.join(policy.field for policy in changed)}: Honor in {where}",
        [
            op
            for policy, items in changed.items()
            for item in items
            for op in guard_ops(item, put_op(route(item, policy.field), HONOR))
        ],
        family=main.field,
        rank=main.rank,
        weight=len(reports) + len(changed) - 2,
        relaxes=frozenset().union(*(of_constraint(problem, item.constraint.position) for item in reports)),
        gives_up="; ".join(policy.gives_up for policy in reversed(changed)),
    )


def _has_tainted(problem: PendingPodProblem) -> bool:
    untolerated = problem.columns.untolerated_taints(problem.pod.cls.tolerations)
    return any(taint is not None for taint in untolerated)


def _keys(problem: PendingPodProblem, report: ConstraintReport) -> Iterator[Ladder]:
    """Replace a topology key that no node has."""
    key = report.constraint.topology_key
    nodes = problem.cluster.nodes
    if len(report.without_key) < len(nodes):
        return
    taken = {(item.topology_key, item.when_unsatisfiable) for item in problem.pod.cls.constraints}
    known = _known_as(problem, key)
    if known:
        if (known, report.constraint.when_unsatisfiable) not in taken:
            yield single(_with_key(report, known, rank=Rank.MISTAKE, gives_up=""))
    elif (
        any(HOSTNAME in node.labels for node in nodes) and (HOSTNAME, report.constraint.when_unsatisfiable) not in taken
    ):
        gives_up = (
            f"the pods are spread over nodes, no longer over domains of {key}: several of the pods may share a domain"
        )
        yield single(_with_key(report, HOSTNAME, rank=Rank.OTHER_KEY, gives_up=gives_up))


def has_meant_key(problem: PendingPodProblem, report: ConstraintReport) -> bool:
    """Return whether no node has the constraint's key, but the nodes have the key that was meant."""
    return len(report.without_key) == problem.columns.n and bool(_known_as(problem, report.constraint.topology_key))


def _known_as(problem: PendingPodProblem, key: str) -> str:
    """Return the node label that a key without nodes probably means; empty if there is none."""
    nodes = problem.cluster.nodes
    present = {label for node in nodes for label in node.labels}
    everywhere = sorted(label for label in present if all(label in node.labels for node in nodes))
    likely = (intended_key(key), _RENAMED.get(key, ""), nearest(key, everywhere, cutoff=0.8))
    return next((label for label in likely if label in present), "")


def _with_key(report: ConstraintReport, label: str, *, rank: int, gives_up: str) -> Change:
    key = report.constraint.topology_key
    return of_spec(
        f"write topologyKey: {label} instead of {key}, which no node has",
        guard_ops(report, put_op(route(report, "topologyKey"), label)),
        family="topologyKey",
        rank=rank,
        gives_up=gives_up,
    )


def propose_selectors(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Propose selectors that match the workload's pods and no others."""
    for report in problem.reports:
        if not report.self_match:
            yield from _own(problem, report)
        else:
            yield from _narrowed(problem, report)
            yield from _revision(problem, report)
    yield from _revisions(problem)


def _own(problem: PendingPodProblem, report: ConstraintReport) -> Iterator[Ladder]:
    """Correct a selector that does not match the pod itself, so that placing the pod changes the count."""
    labels = _stable(problem, report)
    if labels:
        yield single(
            of_spec(
                f"let {constraint_name(problem, report)} select the pod's own labels: {_written(labels)}",
                guard_ops(report, put_op(route(report, "labelSelector"), {"matchLabels": labels})),
                family="labelSelector",
                rank=Rank.MISTAKE,
                relaxes=of_constraint(problem, report.constraint.position),
                gives_up="the pods that were selected so far are no longer counted",
            )
        )


def _stable(problem: PendingPodProblem, report: ConstraintReport) -> dict[str, str]:
    """Return the labels to select by: the controller's selector, else all labels of the pod.

    Keys in matchLabelKeys are left out, because the API server refuses them in the selector.
    """
    own = problem.own_labels
    chosen = (problem.owner.selector or {}).get("matchLabels") or own
    taken = report.constraint.match_label_keys
    return {key: value for key, value in chosen.items() if key not in taken and own.get(key) == value}


def _distinguishing(problem: PendingPodProblem, report: ConstraintReport) -> dict[str, str]:
    """Return labels that only the problem's pods have among the counted pods; empty if there are none."""
    others = _labels_of_others(problem, report)
    if not others:
        return {}
    taken = {*report.constraint.match_label_keys, *report.constraint.selected_keys}
    free = {key: value for key, value in problem.own_labels.items() if key not in taken}
    differing = {key: _differing(key, value, others) for key, value in free.items()}
    alone = [key for key, differs in differing.items() if len(differs) == len(others)]
    chosen = [min(alone)] if alone else [key for key, differs in differing.items() if differs]
    is_enough = len(set().union(*(differing[key] for key in chosen))) == len(others)
    return {key: free[key] for key in chosen} if is_enough else {}


def _labels_of_others(problem: PendingPodProblem, report: ConstraintReport) -> list[dict[str, str]]:
    """Return the labels of the counted pods of other workloads, each set once."""
    labels_of_all = (dict(group.labels) for group in problem.counted_groups(report.selector))
    return [labels for labels in labels_of_all if not problem.is_own(labels)]


def _differing(key: str, value: str, others: list[dict[str, str]]) -> set[int]:
    """Return the positions of the label sets without this value."""
    return {at for at, labels in enumerate(others) if labels.get(key) != value}


def _narrowed(problem: PendingPodProblem, report: ConstraintReport) -> Iterator[Ladder]:
    """Add one label, or all that differ, to a selector that also matches pods of other workloads."""
    chosen = _distinguishing(problem, report)
    if not chosen:
        yield from _without_others(problem, report)
        return
    selector = report.constraint.label_selector
    old = {} if selector is None else dict(selector.match_labels)
    ops = [put_op(route(report, "labelSelector", "matchLabels"), {**old, **chosen})]
    if old:
        ops = [put_op(route(report, "labelSelector", "matchLabels", key), value) for key, value in chosen.items()]
    yield single(
        of_spec(
            f"add {_written(chosen)} to the selector of {constraint_name(problem, report)}",
            guard_ops(report, *ops),
            family="labelSelector",
            rank=Rank.SELECTOR,
            relaxes=of_constraint(problem, report.constraint.position),
            gives_up="the pods of other workloads that are counted now are no longer spread together with these",
        )
    )


def _without_others(problem: PendingPodProblem, report: ConstraintReport) -> Iterator[Ladder]:
    """Stop counting other workloads by a label that their pods have and the own pods lack, such as a canary's."""
    others = _labels_of_others(problem, report)
    taken = {*report.constraint.match_label_keys, *report.constraint.selected_keys, *dict(problem.pod.cls.labels)}
    taken |= PASSING_LABELS
    keys = sorted(set.intersection(*map(set, others)) - taken) if others else []
    if not keys:
        return
    key, values = keys[0], sorted({labels[keys[0]] for labels in others})
    expression = {"key": key, "operator": "NotIn", "values": values}
    selector = report.constraint.label_selector
    path = route(report, "labelSelector", "matchExpressions")
    there = selector is not None and bool(selector.match_expressions)
    owners = [pods.owner for domain in report.domains for pods in domain.pods if pods.owner and not pods.is_own]
    named = ", ".join(dict.fromkeys(f"{owner.kind} {owner.name}" for owner in owners))
    yield single(
        of_spec(
            f"add {key} notin ({', '.join(values)}) to the selector of {constraint_name(problem, report)}"
            + (f", which leaves out {named}" if named else ""),
            guard_ops(report, put_op((*path, END), expression) if there else put_op(path, [expression])),
            family="labelSelector",
            rank=Rank.SELECTOR,
            weight=1,
            relaxes=of_constraint(problem, report.constraint.position),
            gives_up="the pods of other workloads that are counted now are no longer spread together with these",
        )
    )


def _revision(problem: PendingPodProblem, report: ConstraintReport) -> Iterator[Ladder]:
    ops = _revision_ops(problem, report)
    if ops:
        yield single(
            of_spec(
                f"add matchLabelKeys: [{problem.revision_label}] to {constraint_name(problem, report)}",
                guard_ops(report, *ops),
                family="matchLabelKeys",
                rank=Rank.REVISION,
                relaxes=of_constraint(problem, report.constraint.position),
                gives_up=_BY_REVISION,
            )
        )


_BY_REVISION = "each revision is spread by itself: while a rollout lasts, old and new pods together may be uneven"


def _revisions(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Add the revision label to matchLabelKeys of all constraints at once."""
    found = [(report, ops) for report in problem.reports if (ops := _revision_ops(problem, report))]
    if len(found) > 1:
        yield single(
            of_spec(
                f"add matchLabelKeys: [{problem.revision_label}] to every DoNotSchedule constraint",
                [op for report, ops in found for op in guard_ops(report, *ops)],
                family="matchLabelKeys",
                rank=Rank.REVISION,
                weight=1,
                gives_up=_BY_REVISION,
            )
        )


def _revision_ops(problem: PendingPodProblem, report: ConstraintReport) -> list[Op]:
    """Count only the pod's own revision, if pods of another one are counted."""
    label, constraint = problem.revision_label, report.constraint
    if not report.self_match or not label or label in constraint.match_label_keys or label in constraint.selected_keys:
        return []
    own = dict(problem.pod.cls.labels).get(label)
    revisions = {dict(group.labels).get(label, own) for group in problem.counted_groups(report.selector)}
    if revisions <= {own}:
        return []
    return [put_op(route(report, "matchLabelKeys"), [*constraint.match_label_keys, label])]


def _written(labels: dict[str, str]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in labels.items())
