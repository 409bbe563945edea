"""Changes of a constraint: maxSkew, minDomains, policies, topology key, whenUnsatisfiable, and its selector."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kubectl_spread.advice.change import Change, ids_of, Ladder, Proposal, Rank
from kubectl_spread.advice.problem import PASSING_LABELS, PendingPodProblem
from kubectl_spread.advice.target import drop, END, Op, put_op, test
from kubectl_spread.explain.constraint_report import ConstraintReport
from kubectl_spread.lint.topology_keys import intended_key
from kubectl_spread.objects.constraints.constraint import HONOR, IGNORE, plain_constraint, SCHEDULE_ANYWAY
from kubectl_spread.objects.selectors import DOMAIN_NOUNS, HOSTNAME, LEGACY
from kubectl_spread.text import scalars
from kubectl_spread.text.node import Route
from kubectl_spread.text.wording import nearest

FIELD = "topologySpreadConstraints"
_RENAMED = {**LEGACY, **{old: new for new, old in LEGACY.items()}}
_MOST_SKEW = 1_000
_TIGHT = 3  # Up to this maxSkew, even a few pods are spread.


def propose(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Propose changes of each hard constraint of the pod."""
    reports = problem.reports
    if problem.owner.kind == "DaemonSet" and reports:
        yield Change(  # Each of its pods is bound to its own node, so a constraint can only keep it Pending.
            f"remove {FIELD}: a DaemonSet has one pod on each node anyway",
            [drop((FIELD,))],
            family="whenUnsatisfiable",
            rank=Rank.MISTAKE,
        )
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


def _guarded(report: ConstraintReport, *ops: Op) -> tuple[Op, ...]:
    """Return the operations after a test that the same constraint is still at this position."""
    return (test(route(report, "topologyKey"), report.constraint.topology_key), *ops)


def _edit(
    problem: PendingPodProblem,
    report: ConstraintReport,
    title: str,
    *ops: Op,
    rank: Rank,
    gives_up: str = "",
    weight: int = 0,
    is_enough: bool = True,
) -> Change:
    """Return an edit of a constraint's field, which names the family; `is_enough` if it loosens no other."""
    return Change(
        title,
        _guarded(report, *ops),
        family=str(ops[0].path[2]),
        rank=rank,
        weight=weight,
        relaxes=ids_of(problem, position=report.constraint.position) if is_enough else (),
        gives_up=gives_up,
    )


def constraint_name(problem: PendingPodProblem, report: ConstraintReport) -> str:
    """Return a constraint's name for sentences: its key, or its position if several share the key."""
    key = report.constraint.topology_key
    same = [item for item in problem.constraints if item.topology_key == key]
    return f"the constraint on {key}" if len(same) == 1 else f"{FIELD}[{report.constraint.position}]"


def _max_skew(problem: PendingPodProblem, report: ConstraintReport) -> Iterator[Proposal]:
    """Raise maxSkew step by step.

    The first value lets this pod into some usable domain. The last is the most that all pods could need.
    """
    usable = {domain.skew_if_placed for domain in report.domains if domain.usable and domain.skew_if_placed is not None}
    if not usable:
        return
    now = report.constraint.max_skew
    least = max(min(usable), now + 1)
    most = min(max(usable) + len(problem.own), max(problem.replicas, len(problem.own)), _MOST_SKEW)
    if least > most:
        return

    def step(at: int) -> Change:
        value = least + at
        return _edit(
            problem,
            report,
            f"set maxSkew: {value} in {constraint_name(problem, report)}",
            put_op(route(report, "maxSkew"), value),
            rank=Rank.WIDE_SKEW if value > max(_TIGHT, now) and 2 * value > problem.replicas else Rank.MAX_SKEW,
            weight=value - now,
            gives_up=f"domains of {report.constraint.topology_key} may differ by {value} pods instead of {now}",
        )

    yield Ladder(max(1, most - least + 1), step)


def _softened(problem: PendingPodProblem, report: ConstraintReport) -> Iterator[Proposal]:
    constraint = report.constraint
    key = constraint.topology_key
    title = f"set whenUnsatisfiable: ScheduleAnyway in {constraint_name(problem, report)}"
    ops = [put_op(route(report, "whenUnsatisfiable"), SCHEDULE_ANYWAY)]
    if has_meant_key(problem, report):  # Without it, the constraint would not spread anything.
        key = _known_as(problem, key)
        repair, op = _corrected(report, key)
        title, ops = f"{repair}, and set whenUnsatisfiable: ScheduleAnyway", [op, *ops]
    if constraint.min_domains is not None:
        ops.append(drop(route(report, "minDomains")))
    relaxes = ids_of(problem, position=constraint.position) if len(problem.reports) == 1 else ()
    if any((item.topology_key, item.when_unsatisfiable) == (key, SCHEDULE_ANYWAY) for item in problem.constraints):
        stays = "one" if key == constraint.topology_key else f"one on {key}"
        title = f"remove the DoNotSchedule constraint on {constraint.topology_key}; the ScheduleAnyway {stays} stays"
        ops, relaxes = [drop((FIELD, constraint.position))], ()
    yield Change(
        title,
        _guarded(report, *ops),
        family="whenUnsatisfiable",
        rank=Rank.SOFT_CONSTRAINT,
        weight=max(0, 10 - len(report.domains)),  # A key with more domains spreads better.
        relaxes=relaxes,
        gives_up=f"an even spread over {key} becomes a preference: any number of pods may share a domain",
    )


def _defaults(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Give the pod soft constraints of its own, which replace hard default constraints of the scheduler."""
    defaults = [item for item in problem.explanation.constraints if item.constraint.is_hard and item.is_default]
    if not defaults or problem.constraints or not problem.own_labels:
        return
    keys = dict.fromkeys(item.constraint.topology_key for item in defaults)
    written = [plain_constraint(key, SCHEDULE_ANYWAY, {"matchLabels": problem.own_labels}) for key in keys]
    yield Change(
        f"give the pods ScheduleAnyway constraints of their own on {', '.join(keys)}, which replace the "
        "scheduler's defaults",
        [put_op((FIELD,), written)],
        family="own constraints",
        rank=Rank.SOFT_CONSTRAINT,
        gives_up=f"the cluster's default constraint on {', '.join(keys)} becomes a preference for these pods",
    )


def _min_domains(problem: PendingPodProblem, report: ConstraintReport) -> Iterator[Proposal]:
    if not report.counts.is_below_min_domains:
        return
    there, asked, key = report.eligible_domains, report.min_domains, report.constraint.topology_key
    where, path = constraint_name(problem, report), route(report, "minDomains")
    title, op = f"remove minDomains from {where}", drop(path)
    if there > 1:
        title, op = f"set minDomains: {there} in {where}, the number of existing domains", put_op(path, there)
    gives_up = (
        f"the pods no longer wait for {asked} domains of {key}: with fewer domains, the existing ones "
        "may take all of them"
    )
    yield _edit(problem, report, title, op, rank=Rank.MIN_DOMAINS, gives_up=gives_up)


def _policies(problem: PendingPodProblem, reports: list[ConstraintReport]) -> Iterator[Proposal]:
    """Let constraints ignore nodes that the pod may not use, by taints, by affinity, or by both."""
    tainted = problem.columns.untolerated_taints(problem.pod.cls.tolerations)
    has_taints = any(tainted) or bool(problem.cluster.provisioning)  # NodePools may have some
    changed = {
        _TAINTS: [item for item in reports if item.constraint.node_taints_policy != HONOR and has_taints],
        _AFFINITY: [item for item in reports if item.constraint.node_affinity_policy == IGNORE],
    }
    if len(reports) > 1 and max(map(len, changed.values())) < 2:
        return
    where = constraint_name(problem, reports[0]) if len(reports) == 1 else "every DoNotSchedule constraint"
    keys = {item.constraint.topology_key for item in changed[_TAINTS]}
    noun = DOMAIN_NOUNS.get(keys.pop(), "domain") if len(keys) == 1 else "domain"
    one = "a node" if noun == "node" else f"a whole {noun}"
    for policies in ((_TAINTS,), (_AFFINITY,), (_TAINTS, _AFFINITY)):
        if all(changed[policy] for policy in policies):
            yield Change(
                f"set {' and '.join(policy.field for policy in policies)}: Honor in {where}",
                [
                    op
                    for policy in policies
                    for item in changed[policy]
                    for op in _guarded(item, put_op(route(item, policy.field), HONOR))
                ],
                family=policies[0].field,
                rank=policies[0].rank,
                weight=len(reports) + len(policies) - 2,
                relaxes=frozenset().union(*(ids_of(problem, position=item.constraint.position) for item in reports)),
                gives_up="; ".join(policy.gives_up.format(domain=noun, one=one) for policy in reversed(policies)),
            )


class _Policy(NamedTuple):
    """A field that decides which nodes a constraint counts."""

    field: str
    rank: Rank
    gives_up: str  # what changes once it is Honor


_TAINTS = _Policy(
    "nodeTaintsPolicy",
    Rank.TAINTS_POLICY,
    "if an outage taints {one}, its pods move to the other {domain}s",
)
_AFFINITY = _Policy(
    "nodeAffinityPolicy",
    Rank.AFFINITY_POLICY,
    "nodes that the pod's nodeSelector and affinity exclude are no longer counted",
)


def _keys(problem: PendingPodProblem, report: ConstraintReport) -> Iterator[Proposal]:
    """Replace a topology key that no node has."""
    key = report.constraint.topology_key
    nodes = problem.cluster.nodes
    if len(report.without_key) < len(nodes):
        return
    taken = {item.topology_key for item in problem.constraints if item.is_hard}
    known, rank, gives_up = _known_as(problem, key), Rank.MISTAKE, ""
    if not known and any(HOSTNAME in node.labels for node in nodes):
        known, rank = HOSTNAME, Rank.OTHER_KEY
        gives_up = (
            f"the pods are spread over nodes, no longer over domains of {key}: several of the pods may share a domain"
        )
    if known and known not in taken:
        title, op = _corrected(report, known)
        yield _edit(problem, report, title, op, rank=rank, gives_up=gives_up, is_enough=False)
        if rank is Rank.MISTAKE and any(problem.columns.untolerated_taints(problem.pod.cls.tolerations)):
            noun = DOMAIN_NOUNS.get(known, "domain")
            yield _edit(
                problem,
                report,
                f"{title}, and set {_TAINTS.field}: Honor",
                op,
                put_op(route(report, _TAINTS.field), HONOR),
                rank=rank,
                weight=1,
                gives_up=_TAINTS.gives_up.format(domain=noun, one="a node" if noun == "node" else f"a whole {noun}"),
                is_enough=False,
            )


def _corrected(report: ConstraintReport, key: str) -> tuple[str, Op]:
    """Return the title and the edit that replace a constraint's key."""
    title = f"write topologyKey: {key} instead of {report.constraint.topology_key}, which no node has"
    return title, put_op(route(report, "topologyKey"), key)


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


def propose_selectors(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Propose selectors that match the workload's pods and no others, and that count each revision by itself."""
    revised, label = list[tuple[ConstraintReport, Op]](), problem.revision_label
    for report in problem.reports:
        yield from _narrowed(problem, report) if report.self_match else _own(problem, report)
        # Are pods of another revision counted?
        keys, selected = report.constraint.match_label_keys, report.constraint.selected_keys
        if report.self_match and label and label not in keys and label not in selected:
            own = problem.pod.labels.get(label)
            revisions = {dict(group.labels).get(label, own) for group in problem.counted_groups(report.selector)}
            if not revisions <= {own}:
                revised.append((report, put_op(route(report, "matchLabelKeys"), [*keys, label])))
    title = f"add matchLabelKeys: [{label}] to"
    for report, op in revised:
        title_of_one = f"{title} {constraint_name(problem, report)}"
        yield _edit(problem, report, title_of_one, op, rank=Rank.REVISION, gives_up=_BY_REVISION)
    if len(revised) > 1:
        yield Change(
            f"{title} every DoNotSchedule constraint",
            [op for report, revision in revised for op in _guarded(report, revision)],
            family="matchLabelKeys",
            rank=Rank.REVISION,
            weight=1,
            gives_up=_BY_REVISION,
        )


_BY_REVISION = "each revision is spread by itself: while a rollout lasts, old and new pods together may be uneven"


def _own(problem: PendingPodProblem, report: ConstraintReport) -> Iterator[Proposal]:
    """Correct a selector that does not match the pod itself, so that placing the pod changes the count.

    It selects by the controller's selector, else by all labels of the pod. Keys in matchLabelKeys are left out, because
    the API server refuses them in the selector.
    """
    own, taken = problem.own_labels, report.constraint.match_label_keys
    chosen = (problem.owner.selector or {}).get("matchLabels") or own
    labels = {key: value for key, value in chosen.items() if key not in taken and own.get(key) == value}
    if labels:
        yield _edit(
            problem,
            report,
            f"let {constraint_name(problem, report)} select the pod's own labels: {scalars.pairs(labels.items())}",
            put_op(route(report, "labelSelector"), {"matchLabels": labels}),
            rank=Rank.MISTAKE,
            gives_up="the pods that were selected so far are no longer counted",
        )


def _narrowed(problem: PendingPodProblem, report: ConstraintReport) -> Iterator[Proposal]:
    """Add one label, or all that differ, to a selector that also matches pods of other workloads.

    If these labels do not tell all of them apart, stop counting them by a label that they have and the own pods lack.
    """
    labels_of_all = (dict(group.labels) for group in problem.counted_groups(report.selector))
    others = [labels for labels in labels_of_all if not problem.is_own(labels)]
    if not others:
        return
    selector = report.constraint.label_selector
    taken = {*report.constraint.match_label_keys, *report.constraint.selected_keys}
    free = {key: value for key, value in problem.own_labels.items() if key not in taken}
    differing = {
        key: {at for at, labels in enumerate(others) if labels.get(key) != value} for key, value in free.items()
    }
    alone = [key for key, differs in differing.items() if len(differs) == len(others)]
    keys = [min(alone)] if alone else [key for key, differs in differing.items() if differs]
    where = f"to the selector of {constraint_name(problem, report)}"
    if len(set().union(*(differing[key] for key in keys))) == len(others):
        chosen = {key: free[key] for key in keys}
        old = {} if selector is None else dict(selector.match_labels)
        ops = [put_op(route(report, "labelSelector", "matchLabels"), {**old, **chosen})]
        if old:
            ops = [put_op(route(report, "labelSelector", "matchLabels", key), value) for key, value in chosen.items()]
        title = f"add {scalars.pairs(chosen.items())} {where}"
        yield _edit(problem, report, title, *ops, rank=Rank.SELECTOR, gives_up=_OTHERS_APART)
        return
    common = set.intersection(*map(set, others)) - taken - problem.pod.labels.keys() - PASSING_LABELS
    if common:
        key = min(common)
        values = sorted({labels[key] for labels in others})
        expression = {"key": key, "operator": "NotIn", "values": values}
        path = route(report, "labelSelector", "matchExpressions")
        there = selector is not None and bool(selector.match_expressions)
        owners = [pods.owner for domain in report.domains for pods in domain.pods if pods.owner and not pods.is_own]
        named = ", ".join(dict.fromkeys(f"{owner.kind} {owner.name}" for owner in owners))
        title = f"add {key} notin ({', '.join(values)}) {where}{f', which leaves out {named}' if named else ''}"
        op = put_op((*path, END), expression) if there else put_op(path, [expression])
        yield _edit(problem, report, title, op, rank=Rank.SELECTOR, weight=1, gives_up=_OTHERS_APART)


_OTHERS_APART = "the pods of other workloads that are counted now are no longer spread together with these"
