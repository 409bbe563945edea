"""What a change comes to, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import PreFilterState
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import soft_counts
from kubectl_spread.suggest.actions import Action
from kubectl_spread.suggest.actions import EditSpec
from kubectl_spread.suggest.problem import Problem
from kubectl_spread.suggest.scene import Scene
from kubectl_spread.suggest.suggestion import Effect
from kubectl_spread.suggest.suggestion import Spread
from kubectl_spread.suggest.trial import Trial

_Counts = dict[str, int]


def merged(actions: Sequence[Action]) -> list[Action]:
    """The same with all edits of the pod's manifest as one."""
    ops = tuple(op for action in actions if isinstance(action, EditSpec) for op in action.ops)
    others: list[Action] = [action for action in actions if not isinstance(action, EditSpec)]
    return [EditSpec(ops), *others] if ops else others


def effect(problem: Problem, before: Trial, after: Trial, scene: Scene) -> Effect:
    """The numbers of a change that was simulated."""
    own = {pod.key for pod in problem.given.own}
    pod = next(item for item in scene.own() if item.key == problem.pod.key)
    return Effect(
        placed_before=sum(key in own for key in before.placed),
        placed_after=sum(key in own for key in after.placed),
        pending_before=sum(item.key in own for item in before.refused),
        pending_after=sum(item.key in own for item in after.refused),
        node=after.placed[problem.pod.key],
        spreads=_spreads(_counted(problem.pod, before), _counted(pod, after)),
    )


def _spreads(before: dict[str, _Counts], after: dict[str, _Counts]) -> tuple[Spread, ...]:
    return tuple(
        Spread(key, before.get(key, {}), after.get(key, {}), _skew(before.get(key, {})), _skew(after.get(key, {})))
        for key in dict.fromkeys((*after, *before))
    )


def _skew(counts: _Counts) -> Optional[int]:
    return max(counts.values()) - min(counts.values()) if counts else None


def _counted(pod: Pod, trial: Trial) -> dict[str, _Counts]:
    """Topology key -> value -> pods that the pod's constraints count, of the domains they count."""
    scheduler = trial.scheduler
    filtered = scheduler.filter(pod)
    hard = next((item.state.counts for item in filtered.verdicts if isinstance(item.state, PreFilterState)), ())
    soft = soft_counts(pod.cls, scheduler.columns, filtered.feasible & False, release=filtered.release)
    found: dict[str, _Counts] = {}
    for counts in (*hard, *soft):
        numbers = counts.match_num.tolist()
        values = counts.topology.values
        eligible = {value: numbers[at] for at, value in enumerate(values) if counts.eligible[at]}
        found.setdefault(counts.constraint.topology_key, dict(sorted(eligible.items())))
    return found
