"""Effect of a change in numbers: pods per domain and skew."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Optional

from kubectl_spread.advice.actions import Action, AddNodes, EditSpec, SetRollout
from kubectl_spread.advice.suggestion import SpreadChange
from kubectl_spread.explain.constraints.report import hard_counts
from kubectl_spread.objects.constraints.constraint import ConstraintCounts
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import soft_counts

Counts = dict[str, dict[str, int]]  # topology key -> value -> pods
Ranges = dict[str, dict[str, tuple[int, int]]]
Skews = dict[str, tuple[int, int]]  # topology key -> the least and the greatest


def merge_edits(actions: Sequence[Action]) -> list[Action]:
    """Return the actions in the order to carry them out, with all edits of the pod's manifest merged into one.

    The rollout's settings come before the template: once that has changed, the rollout begins. New nodes come before
    other changes of nodes and pods, as no command adds them.
    """
    ops = tuple(op for action in actions if isinstance(action, EditSpec) for op in action.ops)
    settings: list[Action] = [action for action in actions if isinstance(action, SetRollout)]
    nodes = [action for action in actions if isinstance(action, AddNodes)]
    others = [action for action in actions if not isinstance(action, (EditSpec, AddNodes, SetRollout))]
    return [*settings, *([EditSpec(ops)] if ops else []), *nodes, *others]


def spreads(before: Counts, after: Counts, ranges: Ranges, skews: Skews) -> tuple[SpreadChange, ...]:
    """Return the counts per topology key before and after the change, with their range over all outcomes."""
    return tuple(
        SpreadChange(
            key,
            before.get(key, {}),
            after.get(key, {}),
            _skew(before.get(key, {})),
            _skew(after.get(key, {})),
            ranges.get(key, {}),
            skews.get(key),
        )
        for key in dict.fromkeys((*after, *before))
    )


def skews(found: Iterable[Counts]) -> Skews:
    """Return the lowest and the highest skew per topology key over all outcomes."""
    ends: Skews = {}
    for counts in found:
        for key, numbers in counts.items():
            skew = _skew(numbers)
            if skew is not None:
                least, most = ends.get(key, (skew, skew))
                ends[key] = (min(least, skew), max(most, skew))
    return ends


def _skew(counts: dict[str, int]) -> Optional[int]:
    return ConstraintCounts(counts).skew


def count_pods(pod: Pod, scheduler: Scheduler) -> Counts:
    """Return the matching pods per domain of the pod's constraints, for the domains that they count."""
    filtered = scheduler.filter(pod)
    hard = hard_counts(filtered)
    soft = soft_counts(pod.cls, scheduler.columns, filtered.feasible & False, release=filtered.release)
    found: Counts = {}
    for counts in (*hard, *soft):
        found.setdefault(counts.constraint.topology_key, dict(counts.now().domains))
    return found
