"""Changes of the pods that a constraint counts, if it selects wrong pods or pods of an old revision."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.explain.constraints.report import ConstraintReport
from kubectl_spread.suggest.change import Ladder, of_constraint, of_spec, Rank, single
from kubectl_spread.suggest.editing.patch import END, Op, put_op
from kubectl_spread.suggest.moves.constraints import constraint_name, guard_ops, route
from kubectl_spread.suggest.problem import PASSING_LABELS, PendingPodProblem


def propose(problem: PendingPodProblem) -> Iterator[Ladder]:
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
