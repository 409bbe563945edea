"""Trying changes, and choosing among those that help.

Every change is applied to a copy of the cluster, and all pods that wait are scheduled there:

    the pod finds a node ── no ──▶ dropped
    a pod of others that would have found one finds none ── yes ──▶ dropped
    a pod that is deleted for it finds no other place ── yes ──▶ dropped

What is simulated of a changed template is the moment that comes first: the pods that wait are made of the new template
while those that run stay, and count. Whether all pods fit once the rollout has replaced them is looked at for what is
shown, and said where they do not. Changes in pairs are tried where none alone is enough for all pods.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Optional

from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.objects.kinds import KINDS
from kubectl_spread.objects.pod import Pod
from kubectl_spread.simulate.placement import Certainty
from kubectl_spread.simulate.replicas import first
from kubectl_spread.simulate.replicas import seeded
from kubectl_spread.suggest import arrange
from kubectl_spread.suggest import effects
from kubectl_spread.suggest import trial as trials
from kubectl_spread.suggest.change import Change
from kubectl_spread.suggest.change import Ladder
from kubectl_spread.suggest.moves import MOVES
from kubectl_spread.suggest.problem import Problem
from kubectl_spread.suggest.recreated import anew
from kubectl_spread.suggest.scene import Scene
from kubectl_spread.suggest.suggestion import Suggestion
from kubectl_spread.suggest.suggestion import Suggestions
from kubectl_spread.suggest.tried import Tried

MOST = 5
BUDGET_S = 4.0  # of estimated time, so that the same is tried on every machine
_MOST_PAIRS = 60
_SEED = 1

# What a trial takes, about: each, and for every thousand nodes, bound pods, and pods to place.
_COST_S, _NODES_S, _BOUND_S, _PLACED_S = 0.0015, 0.006, 0.0006, 0.2


def suggest(problem: Problem, *, most: int = MOST, budget_s: float = BUDGET_S) -> Suggestions:
    """Changes that let the pod be placed, those that give up the least first.

    Args:
        problem: the pod.
        most: how many to give back.
        budget_s: how long to look, in seconds of estimated time; what was not tried then is counted.
    """
    return _Search(problem, budget_s).run(most)


class _Search:
    def __init__(self, problem: Problem, budget_s: float) -> None:
        self._problem = problem
        self._left_s = budget_s
        # Bound pods are in the columns; nobody looks for them among those of the cluster.
        waiting = problem.cluster._replace(pods=tuple(problem.cluster.pending()))
        self._scene = Scene(problem, waiting, problem.spec)
        self._conflicts = [
            frozenset(item.id for item in single)
            for conflict in problem.explanation.conflicts
            for single in conflict.singles()
        ]
        self._tried = 0
        self._not_tried = 0
        given = problem.given
        self._others = frozenset(pod.key for pod in (*given.before, *given.after))
        self._before = trials.run(self._scene, self._queue(self._scene), pick=first)
        self._others &= self._before.placed.keys()
        own = {pod.key for pod in problem.given.own}
        self._own = own
        self._pending_before = sum(pod.key in own for pod in self._before.refused)

    def run(self, most: int) -> Suggestions:
        if self._problem.pod.key in self._before.placed:
            return Suggestions()
        ladders = _different(ladder for propose in MOVES for ladder in propose(self._problem))
        found = self._climbed(ladder for ladder in ladders if self._may_be_enough(ladder))
        if not any(item.pending == 0 for item in found):
            found += self._climbed(itertools.islice(self._pairs(ladders, found), _MOST_PAIRS))
        best = arrange.arranged(found)
        shown = arrange.shown(best, most)
        items = tuple(self._told(item, is_first=at < arrange.SHOWN) for at, item in enumerate(shown))
        harmful = sum(map(arrange.is_harmful, best)) - sum(map(arrange.is_harmful, shown))
        return Suggestions(items, self._tried, len(best), self._not_tried, harmful)

    def _may_be_enough(self, ladder: Ladder) -> bool:
        """Whether a change loosens something in every set of requirements that leaves no node by itself."""
        change = ladder.step(0)
        return change is not None and all(_loosens(change, conflict) for conflict in self._conflicts)

    def _climbed(self, ladders: Iterable[Ladder]) -> list[Tried]:
        return [item for ladder in ladders if (item := self._climb(ladder)) is not None]

    def _climb(self, ladder: Ladder) -> Optional[Tried]:
        """The first step that does as much as the last one does."""
        low = self._try(ladder, 0)
        if ladder.size == 1 or (low is not None and low.pending == 0):
            return low
        best = self._try(ladder, ladder.size - 1)
        if best is None or (low is not None and low.pending <= best.pending):
            return low
        under, at = 0, ladder.size - 1  # the step `under` does less, the step `at` as much
        while at - under > 1:
            middle = (under + at) // 2
            item = self._try(ladder, middle)
            if item is not None and item.pending <= best.pending:
                best, at = item, middle
            else:
                under = middle
        return best

    def _try(self, ladder: Ladder, at: int) -> Optional[Tried]:
        if self._left_s <= 0:
            self._not_tried += 1
            return None
        change = ladder.step(at)
        if change is None:
            return None
        try:
            scene = change.apply(self._scene)
        except (KeyError, IndexError, TypeError, ValueError):  # what an action is about is not there
            return None
        if change.is_of_manifest and scene == self._scene:  # it is so already
            return None
        queue = self._queue(scene)
        self._left_s -= self._cost_s(len(queue))
        self._tried += 1
        trial = trials.run(scene, queue, pick=first, needed=self._problem.pod.key)
        if not self._is_good(scene, trial):
            return None
        pending = sum(pod.key in self._own for pod in trial.refused)
        return Tried(change, scene, trial, pending) if pending < self._pending_before else None

    def _is_good(self, scene: Scene, trial: trials.Trial) -> bool:
        needed = {self._problem.pod.key, *self._others, *(pod.key for pod in scene.evicted)}
        return needed <= trial.placed.keys()

    def _queue(self, scene: Scene) -> list[Pod]:
        """All pods that wait, those of higher priority first; of others those that find a node anyway."""
        given = self._problem.given
        before, after = ([pod for pod in pods if pod.key in self._others] for pods in (given.before, given.after))
        return sorted([*before, *scene.own(), *after, *scene.evicted], key=lambda pod: -pod.cls.priority)

    def _cost_s(self, pods: int) -> float:
        columns = self._problem.columns
        nodes, bound = columns.n / 1000, len(columns.bound_pods) / 1000
        return _COST_S + nodes * _NODES_S + bound * _BOUND_S + pods / 1000 * _PLACED_S

    def _pairs(self, ladders: list[Ladder], found: list[Tried]) -> Iterator[Ladder]:
        """Two changes that together loosen something in every conflict, those that give up less first."""
        helping = {item.change.title for item in found}
        alone = [ladder for ladder in ladders if (step := ladder.step(0)) is not None and step.title not in helping]
        pairs: list[tuple[int, int, Ladder, Ladder]] = []
        for one, other in itertools.combinations(alone, 2):
            changes = one.step(0), other.step(0)
            if changes[0] is None or changes[1] is None or changes[0].family == changes[1].family:
                continue
            if all(_loosens(changes[0], conflict) or _loosens(changes[1], conflict) for conflict in self._conflicts):
                pairs.append((changes[0].rank + changes[1].rank, len(pairs), one, other))
        for _, _, one, other in sorted(pairs, key=lambda pair: pair[:2]):
            yield _together(one, other)

    def _told(self, item: Tried, *, is_first: bool) -> Suggestion:
        problem, change = self._problem, item.change
        notes = [
            *change.notes,
            *self._of_order(item),
            *self._after_rollout(item),
            *(self._of_ties(item) if is_first else ()),
        ]
        notes += _of_target(problem) if change.is_of_manifest else ()
        scene, actions = self._scene, effects.merged(change.actions)
        return Suggestion(
            title=change.title,
            changes=tuple(action.document(scene) for action in actions),
            lines=tuple(line for action in actions for line in action.lines(scene)),
            commands=tuple(line for action in actions for line in action.commands(scene)),
            effect=effects.effect(problem, self._before, item.trial, item.scene),
            gives_up=change.gives_up,
            notes=tuple(notes),
            certainty=Certainty.POSSIBLE if item.trial.has_ties else Certainty.CERTAIN,
            is_of_manifest=change.is_of_manifest,
        )

    def _after_rollout(self, item: Tried) -> Iterator[str]:
        """Whether all pods fit once each of them is made of the new template."""
        running = self._problem.given.running
        if not item.scene.is_recreated or not running or not self._problem.target.makes_revisions:
            return
        recreation = item.scene.recreation()
        left = max(0, self._problem.replicas - len(self._problem.given.own))
        again = [anew(pod, self._problem.cluster) for pod in running[:left]]
        replaced = [recreation.pod(pod) for pod in again if pod is not None]
        scene = item.scene._replace(gone=item.scene.gone | {pod.uid for pod in running})
        trial = trials.run(scene, [*self._queue(scene), *replaced], pick=first)
        own = self._own | {pod.key for pod in running}
        pending = sum(pod.key in own for pod in trial.refused)
        if pending:
            total = len(self._problem.given.own) + len(replaced)
            yield f"once the rollout has replaced all pods, {pending} of {total} stay Pending"

    def _of_order(self, item: Tried) -> Iterator[str]:
        """Whether the pods that are created again may come first: they need not wait for the one that waited."""
        evicted = {pod.key for pod in item.scene.evicted}
        if not evicted:
            return
        queue = self._queue(item.scene)
        turned = sorted(queue, key=lambda pod: (-pod.cls.priority, pod.key not in evicted))
        if not self._is_good(item.scene, trials.run(item.scene, turned, pick=first)):
            yield "it helps only if the Pending pod is scheduled before the one that is created again"

    def _of_ties(self, item: Tried) -> Iterator[str]:
        """What other choices among equal nodes lead to."""
        if not item.trial.has_ties:
            return
        worst = 0
        for pick in (lambda hosts: int(hosts[-1]), seeded(_SEED)):
            trial = trials.run(item.scene, self._queue(item.scene), pick=pick)
            pending = sum(pod.key in self._own for pod in trial.refused)
            worst = max(worst, pending, 0 if self._is_good(item.scene, trial) else pending + 1)
        if worst > item.pending:
            yield f"where the scheduler chooses otherwise among equal nodes, {worst} stay Pending"


def _of_target(problem: Problem) -> Iterator[str]:
    """What is to be known of the object that a change is made to."""
    target = problem.target
    if target.is_guessed:
        yield f"{target.called} was inferred from the name of the pod's ReplicaSet"
    if target.kind not in KINDS:
        yield f"the pods are made by {target.kind} {target.name}: change it as its controller expects"
    master = problem.cluster.owners.get(OwnerKey(target.kind, target.namespace, target.name))
    if master is not None:
        yield f"{target.called} is controlled by {master.kind} {master.name}, which may undo the change"


def _different(ladders: Iterable[Ladder]) -> list[Ladder]:
    """Ladders without those that begin as another one does, the ones that give up least first."""
    by_start = {step.title: ladder for ladder in ladders if (step := ladder.step(0)) is not None}
    return sorted(by_start.values(), key=_first_rank)


def _first_rank(ladder: Ladder) -> tuple[int, int]:
    change = ladder.step(0)
    return (99, 0) if change is None else (change.rank, change.weight)


def _loosens(change: Change, conflict: frozenset[str]) -> bool:
    return not change.relaxes or bool(change.relaxes & conflict)


def _together(one: Ladder, other: Ladder) -> Ladder:
    """Both, the second as far as it goes; the first as far as needed."""

    def step(at: int) -> Optional[Change]:
        changes = one.step(at % one.size), other.step(other.size - 1)
        if changes[0] is None or changes[1] is None:
            return None
        return changes[0]._replace(
            title=f"{changes[0].title}, and {changes[1].title}",
            actions=(*changes[0].actions, *changes[1].actions),
            family=f"{changes[0].family}, {changes[1].family}",
            rank=max(changes[0].rank, changes[1].rank),
            damage=max(changes[0].damage, changes[1].damage),
            fold="",
            weight=changes[0].weight + changes[1].weight + min(changes[0].rank, changes[1].rank),
            relaxes=frozenset(),
            parts=2,
            gives_up="; ".join(filter(None, (changes[0].gives_up, changes[1].gives_up))),
            notes=(*changes[0].notes, *changes[1].notes),
        )

    return Ladder(one.size, step)
