"""Search for changes that help.

Every change is first applied to a copy of the current cluster, on which all waiting pods are scheduled. This is quick,
and rules out most changes. The best of the rest are simulated to their end (`judge`):

    the pod finds a node at this moment ── no ──▶ dropped
    a pod waits in the end that would not have waited ── yes ──▶ dropped

If no single change is enough, pairs are tried.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple, Optional

from kubectl_spread.advice.actions import AddNodes, DeleteClaims
from kubectl_spread.advice.change import (
    Change,
    Damage,
    Effect,
    Ladder,
    Proposal,
    Rank,
    Setback,
    Suggestion,
    Suggestions,
    Why,
)
from kubectl_spread.advice.judge import Judge
from kubectl_spread.advice.moves import constraints, new_nodes, nodes, pods, storage, template
from kubectl_spread.advice.moves.nodes import idle_taints
from kubectl_spread.advice.moves.pods import deleting_first, is_stuck_for_room
from kubectl_spread.advice.plan import HypotheticalCluster
from kubectl_spread.advice.problem import PendingPodProblem
from kubectl_spread.advice.target import LEAVE_THEIR_PODS, manager_of
from kubectl_spread.cluster.ownership import workload_of
from kubectl_spread.cluster.snapshot import key_of
from kubectl_spread.kubectl.applying import lost_data
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.text.wording import comma_list

MOVES: tuple[Callable[[PendingPodProblem], Iterator[Proposal]], ...] = (
    pods.propose_preemption,
    pods.propose_terminating,
    pods.propose_starting,
    pods.propose_leaving,
    pods.propose_stale,
    pods.propose_resumed,
    constraints.propose,
    constraints.propose_selectors,
    template.propose,
    nodes.propose_kinds,
    template.propose_host_ports,
    template.propose_priority,
    pods.propose_rollout,
    template.propose_requests,
    nodes.propose_labels,
    nodes.propose_uncordoned,
    nodes.propose_untainted,
    nodes.propose_recordoned,
    nodes.propose_deleted,
    nodes.propose_selected,
    new_nodes.propose,
    pods.propose,
    storage.propose,
)

MOST = 5
BUDGET_S = 4.0  # Estimated time, so that every machine tries the same.
_MOST_PAIRS = 60
_MOST_EQUAL = 2  # Most equivalent changes that are named.

# Estimated seconds of a trial: base, and per thousand nodes, bound pods, and pods to place.
_COST_S, _NODES_S, _BOUND_S, _PLACED_S = 0.0015, 0.006, 0.0006, 0.2
_PLAYED = 4  # Cost of simulating a change to its end, in trials.
_ROUNDS_S = 0.4  # What Karpenter's rounds cost besides.


def suggest(problem: PendingPodProblem, *, most: int = MOST, budget_s: float = BUDGET_S) -> Suggestions:
    """Return changes that let the pod be scheduled; changes that do less damage and give up less come first.

    Args:
        problem: the pod.
        most: maximum number of suggestions.
        budget_s: estimated seconds to search; changes that are not tried in this time are counted.
    """
    return _Search(problem, budget_s).run(most)


_FOR_NEW_NODES = frozenset(
    ("nodeTaintsPolicy", "nodeAffinityPolicy", "whenUnsatisfiable", "minDomains", "maxSkew", "topologyKey")
    + ("nodeSelector", "nodeAffinity")
)


class TriedChange(NamedTuple):
    """A change that helps at this moment, applied to the cluster.

    waiting: how many of the workload's pods wait right after it. ladder, at: its ladder and its step there. effect:
    None until it is simulated to the end. equals: equivalent changes of other objects, which are
    shown with this one. is_rough: a smaller step may be enough.
    """

    change: Change
    scene: HypotheticalCluster
    waiting: int
    ladder: Ladder
    at: int
    effect: Optional[Effect] = None
    equals: tuple[TriedChange, ...] = ()
    is_rough: bool = False

    @property
    def damage(self) -> Damage:
        """Return the worst effect; re-creating a Job or a bare pod ends its running pods."""
        problem, damage = self.scene.problem, self.change.damage
        if self.effect is not None and self.effect.lost:
            damage = max(damage, Damage.EVICTS)
        if self.effect is not None and self.effect.volumes:
            damage = Damage.LOSES_DATA
        return max(damage, Damage.KILLS) if self.ends_pods and problem.running else damage

    @property
    def ends_pods(self) -> bool:
        """Return whether the commands create the workload again, which ends its pods."""
        target = self.scene.problem.target
        return self.change.is_of_manifest and target.is_live and target.ends_its_pods


class _Search:
    def __init__(self, problem: PendingPodProblem, budget_s: float) -> None:
        self._problem = problem
        self._left_s = budget_s
        # Bound pods are in the columns, so the cluster here only needs the waiting ones.
        waiting = problem.cluster._replace(pods=tuple(problem.cluster.pending()))
        self._scene = HypotheticalCluster(problem, waiting, problem.spec)
        self._conflicts = [  # a part of each merged requirement, in every combination
            frozenset(item.id for item in single)
            for conflict in problem.explanation.conflicts
            for single in itertools.product(*(item.parts or (item,) for item in conflict.requirements))
        ]
        self._tried = 0
        self._not_tried = 0
        self._failed: list[tuple[Change, Setback]] = []
        self._partial: list[TriedChange] = []
        self._others = frozenset(pod.key for pod in (*problem.before, *problem.after))
        self._before = self._scene.place(self._queue(self._scene))
        self._others &= self._before.bound.keys()
        self._own = {pod.key for pod in problem.own}

    @cached_property
    def _judge(self) -> Judge:
        return Judge(self._problem)

    def run(self, most: int) -> Suggestions:
        if self._problem.pod.key in self._before.bound:
            return Suggestions()
        proposals = (item for propose in MOVES for item in propose(self._problem))
        every = (
            item if isinstance(item, Ladder) else Ladder(1, functools.partial(lambda change, _at: change, item))
            for item in proposals
        )
        # Keep one change of each title, and begin with the best rank.
        by_title = {change.title: (change, ladder) for ladder in every for change in [ladder.step(0)]}
        steps = sorted(by_title.values(), key=lambda item: (item[0].rank, item[0].weight))
        ladders = [ladder for _, ladder in steps]
        enough = [
            ladder
            for change, ladder in steps
            if self._is_for_new_nodes(change) or all(_loosens(change, one) for one in self._conflicts)
        ]
        best = arrange(filter(None, map(self._probe, enough)))
        chosen, left = self._judged(best, most)
        if not chosen:
            pairs = itertools.islice(self._pairs(ladders), _MOST_PAIRS)
            chosen, left = self._judged(arrange(filter(None, map(self._probe, pairs))), most)
        chosen = with_partial(chosen, self._partial, min(most, SHOWN))
        items = [_suggestion(item, item.effect) for item in chosen if item.effect is not None]
        items.sort(key=lambda item: not item.verified)
        harmful = sum(map(is_harmful, left))
        is_of_claims = bool(self._problem.explanation.claims)  # No node could help, and the first sentence says so.
        failed = () if items or is_of_claims else tuple(self._explained(*one) for one in most_obvious(self._failed))
        return Suggestions(tuple(items), self._tried, len(items) + len(left), self._not_tried, harmful, failed)

    def _judged(self, best: list[TriedChange], most: int) -> tuple[list[TriedChange], list[TriedChange]]:
        """Simulate changes over time, the best first, until `most` of them help.

        Returns the changes that help, and the changes that were not simulated.

        Harmful changes restart or end running pods, or lose data. By default they are left out if any other change
        helps.
        """
        chosen: list[TriedChange] = []
        for number, item in enumerate(best):
            if len(chosen) == most or (most <= SHOWN and chosen and is_harmful(item)):
                repair = next((other for other in best[number:] if other.change.rank == Rank.MISTAKE), None)
                if repair is not None and repair.waiting and not self._partial:
                    self._held(self._least(repair))
                return chosen, [other for other in best[number:] if not is_redundant(other, chosen)]
            held = None if is_redundant(item, chosen) else self._held(self._least(item))
            if held is not None:  # Which changes of other objects also help in the end? Only a few are tried.
                equals = list(map(self._least, held.equals[:_MOST_EQUAL]))
                effects = [self._judge.judge(other.change, other.scene) for other in equals]
                helps = [isinstance(effect, Effect) and not effect.pending_after for effect in effects]
                chosen.append(held._replace(equals=tuple(itertools.compress(equals, helps))))
        return chosen, []

    def _held(self, item: TriedChange) -> Optional[TriedChange]:
        """Return a change that still helps once the cluster is at rest: this one, or a later step of its ladder."""
        size = item.ladder.size
        steps = [item.at, *(at for at in (item.at + 1, 2 * item.at + 2, size - 1) if item.at < at < size)]
        for at in dict.fromkeys(steps):
            if self._left_s <= 0:
                self._not_tried += 1
                return None
            other = item if at == item.at else self._try(item.ladder, at)
            if other is None:
                continue
            self._left_s -= _PLAYED * self._cost_s(len(self._queue(other.scene)) + len(self._problem.running))
            self._left_s -= _ROUNDS_S if self._problem.cluster.provisioning else 0
            effect = self._judge.judge(other.change, other.scene, is_thorough=True)
            if isinstance(effect, Setback):
                self._failed.append((other.change, effect))
            elif effect.pending_after:
                self._partial.append(other._replace(effect=effect))
                owner = key_of(self._problem.owner)
                self._failed.append((other.change, Setback(Why.OWN_WAIT, effect.pending_after, owner)))
            else:
                return other._replace(effect=effect)
        # Does it help with a rollout that deletes old pods before it creates new ones?
        is_stuck = is_stuck_for_room(self._problem, item.change) and self._problem.running
        for change in deleting_first(self._problem, item.change) if is_stuck else ():
            scene = self._applied(change)
            found = None if scene is None else self._judge.judge(change, scene, is_thorough=True)
            if scene is not None and isinstance(found, Effect) and not found.pending_after:
                return item._replace(change=change, scene=scene, effect=found)
        return None

    def _probe(self, ladder: Ladder) -> Optional[TriedChange]:
        """Try the first step, and the last one if the first does less. `_least` finds the smallest step later."""
        low = self._try(ladder, 0)
        if ladder.size == 1 or (low is not None and not low.waiting):
            return low
        best = self._try(ladder, ladder.size - 1)
        if best is None or (low is not None and low.waiting <= best.waiting):
            return low
        best = best._replace(is_rough=ladder.size > 2)
        return best if ladder.step(0).rank == best.change.rank else self._least(best)

    def _least(self, item: TriedChange) -> TriedChange:
        """Return the first step of a ladder that does as much as the last one."""
        if not item.is_rough:
            return item
        best, under, at = item, 0, item.at  # the step `under` does less, the step `at` as much
        while at - under > 1:
            middle = (under + at) // 2
            found = self._try(item.ladder, middle)
            if found is not None and found.waiting <= best.waiting:
                best, at = found, middle
            else:
                under = middle
        return best._replace(is_rough=False, equals=item.equals)

    def _try(self, ladder: Ladder, at: int) -> Optional[TriedChange]:
        if self._left_s <= 0:
            self._not_tried += 1
            return None
        change = ladder.step(at)
        scene = self._applied(change)
        if scene is None:
            return None
        queue = self._queue(scene)
        self._left_s -= self._cost_s(len(queue))
        self._tried += 1
        needed = {self._problem.pod.key} - scene.ended
        placed = scene.place(queue, needed="".join(needed))
        evicted = [pod for pod in scene.evicted if pod.key not in placed.bound]
        if evicted and change.rank == Rank.WAIT:  # The scheduler evicts them in any case.
            lost = comma_list((pod.name for pod in evicted), most=_MOST_EQUAL)
            change, evicted = change._replace(gives_up=f"{lost} may find no other node"), []
        if evicted or not {*needed, *self._others} <= placed.bound.keys():
            if self._is_for_new_nodes(change) or change.family == pods.RESUMED:
                self._left_s -= _ROUNDS_S / 4  # in one order
                effect = self._judge.judge(change, scene)
                if isinstance(effect, Effect):
                    return TriedChange(change, scene, effect.pending_after, ladder, at)
            others = [workload_of(pod, self._problem.cluster) for pod in placed.refused if pod.key not in self._own]
            setback = (
                Setback(Why.OTHERS_WAIT, others.count(others[0]), others[0]) if others else Setback(Why.OTHERS_WAIT)
            )
            if any(pod.key == self._problem.pod.key for pod in placed.refused):
                setback = Setback(Why.POD_WAITS, 1)
            self._failed.append((change, setback))
            return None
        waiting = sum(pod.key in self._own for pod in placed.refused)
        return TriedChange(change, scene, waiting, ladder, at)

    def _is_for_new_nodes(self, change: Change) -> bool:
        """Return whether Karpenter may add nodes after a change, which the present nodes do not show."""
        return bool(self._problem.cluster.provisioning) and change.family in _FOR_NEW_NODES

    def _applied(self, change: Change) -> Optional[HypotheticalCluster]:
        try:
            scene = change.apply(self._scene)
            for action in change.ordered_actions if self._problem.unusable else ():
                for document in action.written(self._problem).documents:
                    names = {document["name"], *document.get("deleted", ())}
                    if document["kind"] in ("Node", "Pod") and not self._problem.unusable.isdisjoint(names):
                        return None
        except (KeyError, IndexError, TypeError, ValueError):  # The object of an action is missing.
            return None
        return None if change.is_of_manifest and scene == self._scene else scene  # The change may be in place already.

    def _explained(self, change: Change, setback: Setback) -> Setback:
        """Return a setback with its change, and with the scheduler's message if the pod still finds no node."""
        found = setback._replace(title=change.title)
        scene = self._applied(change) if setback.why is Why.POD_WAITS else None
        if scene is None:
            return found
        key = self._problem.pod.key
        placed = scene.place(self._queue(scene), needed=key)
        refused = [pod for pod in placed.refused if pod.key == key]
        return found._replace(message=placed.scheduler.filter(refused[0]).diagnosis().message()) if refused else found

    def _queue(self, scene: HypotheticalCluster) -> list[Pod]:
        """Return all waiting pods by priority; of other workloads, only pods that find a node without the change."""
        problem = self._problem
        before, after = ([pod for pod in pods if pod.key in self._others] for pods in (problem.before, problem.after))
        return sorted([*before, *scene.own(), *after, *scene.evicted], key=lambda pod: -pod.cls.priority)

    def _cost_s(self, pods: int) -> float:
        columns = self._problem.columns
        nodes, bound = columns.n / 1000, len(columns.bound_pods) / 1000
        return _COST_S + nodes * _NODES_S + bound * _BOUND_S + pods / 1000 * _PLACED_S

    def _pairs(self, ladders: list[Ladder]) -> Iterator[Ladder]:
        """Yield pairs of changes that together loosen every conflict; pairs that give up less come first."""
        pairs: list[tuple[int, Ladder, Ladder]] = []
        for one, other in itertools.combinations(ladders, 2):
            changes = one.step(0), other.step(0)
            # A changed template re-creates pods at once. If claims are deleted at the same time, some pods are bound to
            # new volumes before the last command.
            makes_claims = any(isinstance(action, DeleteClaims) for change in changes for action in change.actions)
            clashes = makes_claims and any(change.edits_template for change in changes)
            if (
                changes[0].family != changes[1].family
                and not clashes
                and all(any(_loosens(change, conflict) for change in changes) for conflict in self._conflicts)
            ):
                pairs.append((sum(change.rank for change in changes), one, other))
        for _, one, other in sorted(pairs, key=lambda pair: pair[0]):
            yield _together(one, other)


def _loosens(change: Change, conflict: frozenset[str]) -> bool:
    return not change.relaxes or not conflict.isdisjoint(change.relaxes)


def _together(one: Ladder, other: Ladder) -> Ladder:
    """Return a ladder that combines two: steps of the first, each with the last step of the second."""
    last = other.step(other.size - 1)

    def step(at: int) -> Change:
        first = one.step(at)
        return Change(
            f"{first.title}, and {last.title}",
            (*first.actions, *last.actions),
            f"{first.family}, {last.family}",
            max(first.rank, last.rank),
            first.weight + last.weight + min(first.rank, last.rank),
            damage=max(first.damage, last.damage),
            parts=2,
            gives_up="; ".join(filter(None, (first.gives_up, last.gives_up))),
            notes=(*first.notes, *last.notes),
        )

    return Ladder(one.size, step)


SHOWN = 3  # Number of suggestions to show by default.
_IDLE = (Rank.IDLE_NODES, Rank.TAINTS_POLICY)
ALL = 10  # From this number on, harmful suggestions are shown, too.


def arrange(found: Iterable[TriedChange]) -> list[TriedChange]:
    """Return the suggestions in the order to show them."""
    found = list(found)
    buys_late = any(
        item.scene.problem.cluster.provisioning or (item.change.rank in _IDLE and idle_taints(item.scene.problem))
        for item in found
    )
    ordered = _distinct(sorted(found, key=lambda item: _order(item, buys_late=buys_late)))
    first: list[TriedChange] = []
    for item in ordered:
        is_new = not any(item.change.family == one.change.family for one in first)
        worth = (item.waiting, item.change.parts) <= (ordered[0].waiting, ordered[0].change.parts)
        if len(first) < SHOWN and is_new and worth and not is_harmful(item):
            first.append(item)
    return [*first, *(item for item in ordered if not any(item is one for one in first))]


def is_harmful(item: TriedChange) -> bool:
    """Return whether a suggestion restarts or ends running pods by deleting them, or loses data."""
    return item.damage >= Damage.RESTARTS


def with_partial(chosen: list[TriedChange], found: Iterable[TriedChange], most: int) -> list[TriedChange]:
    """Return the suggestions, and where there is room changes after which pods of the workload still wait.

    Each corrects a mistake or changes existing nodes, and restarts nothing. There is always room to correct a mistake.
    """
    partial = [
        item
        for item in _distinct(sorted(found, key=_order))
        if item.change.is_gentle and not is_harmful(item) and not _adds_nodes(item.change) and item.change.parts == 1
    ]
    if partial and partial[0].change.rank == Rank.MISTAKE and len(chosen) >= most > 1:
        return [*chosen[: most - 1], partial[0], *chosen[most - 1 : -1]]
    return [*chosen, *partial[: max(0, most - len(chosen))]]


def most_obvious(failed: Iterable[tuple[Change, Setback]]) -> list[tuple[Change, Setback]]:
    """Return the most obvious changes that do not help, one of each kind; changes that help this pod come first."""
    by_family: dict[str, tuple[Change, Setback]] = {}
    for change, setback in sorted(
        failed, key=lambda item: (item[1].why is Why.POD_WAITS, item[0].rank, item[0].weight)
    ):
        if setback.why is not Why.NOT_APPLICABLE and change.parts == 1:
            by_family.setdefault(change.family, (change, setback))
    return list(by_family.values())[:SHOWN]


def _adds_nodes(change: Change) -> bool:
    return any(isinstance(action, AddNodes) for action in change.actions)


def _order(item: TriedChange, *, buys_late: bool = False) -> tuple[object, ...]:
    """Return the position of a change; new nodes come after idle ones and Karpenter's, even if that restarts pods.

    A change comes late, too, if it loosens a rule and restarts pods that would otherwise keep running.
    """
    change, problem = item.change, item.scene.problem
    target = problem.target
    restarts = target.is_live and target.kind not in LEAVE_THEIR_PODS  # A new template replaces the running pods.
    restarts &= len(problem.running) > len(problem.outdated_pods)
    comes_late = (restarts or not change.edits_template) and not change.is_gentle
    worth = (
        is_harmful(item),
        item.waiting,
        item.damage,
        change.parts,
        comes_late or (buys_late and _adds_nodes(change)),
    )
    return (*worth, change.rank, change.weight, change.title)


def _distinct(found: list[TriedChange]) -> list[TriedChange]:
    """Return the changes without equivalents of an earlier one.

    A new node anywhere is modelled on a node of some domain, so it can equal the proposal for that domain.
    """
    kept: list[TriedChange] = []
    folded: dict[str, list[TriedChange]] = {}
    for item in found:
        if any(item.change.ordered_actions == one.change.ordered_actions for one in kept):
            continue
        fold = item.change.fold
        alike = folded.setdefault(fold, []) if fold else []
        alike.append(item)
        if len(alike) == 1:
            kept.append(item)
    return [item._replace(equals=tuple(folded.get(item.change.fold, ())[1:])) for item in kept]


def is_redundant(item: TriedChange, chosen: Iterable[TriedChange]) -> bool:
    """Return whether a change adds a node or ends the pod, although the pod only has to wait a little."""
    is_costly = _adds_nodes(item.change) or item.ends_pods
    return is_costly and any(one.change.rank is Rank.WAIT and not one.change.notes for one in chosen)


_NAMED = 4


def _suggestion(item: TriedChange, effect: Effect) -> Suggestion:
    """Return a helpful change as a suggestion: its commands, their effect and notes."""
    change, scene = item.change, item.scene
    problem = scene.problem
    written = [action.written(problem) for action in change.ordered_actions]
    notes = list(change.notes)
    if item.equals:
        notes.append(f"equally good: {' or '.join(other.change.title for other in item.equals)}")
    if effect.lost:
        end, it = ("ends", "it") if len(effect.lost) == 1 else ("end", "them")
        notes.append(f"{', '.join(effect.lost[:_NAMED])} {end}, and nothing creates {it} again")
    if effect.volumes and change.damage < Damage.LOSES_DATA:
        notes.append(lost_data(effect.volumes))
    if change.is_of_manifest:
        notes += _notes(scene)
    return Suggestion(
        title=change.title,
        changes=tuple(document for item in written for document in item.documents),
        lines=tuple(line for item in written for line in item.lines),
        commands=tuple(line for item in written for line in item.commands),
        effect=effect,
        gives_up=change.gives_up,
        notes=tuple(notes),
        is_of_manifest=change.is_of_manifest,
        managed_by=manager_of(problem.controller) if change.is_of_manifest and problem.target.is_live else None,
    )


def _notes(scene: HypotheticalCluster) -> Iterator[str]:
    """Yield notes on a changed manifest, and on the object to change."""
    problem = scene.problem
    label = problem.revision_label
    if label and scene.is_recreated and problem.target.is_live:
        placed = scene.place(scene.own(is_same_revision=True), needed=problem.pod.key)
        if problem.pod.key not in placed.bound:  # It helps only because the new pods get another revision hash.
            yield f"the changed pods get a new {label}, and pods with the old one are not counted together with them"
    target, running = problem.target, problem.running
    if target.is_guessed and not problem.pod.new_of:
        yield f"{target.display_name} was inferred from the name of the pod's ReplicaSet"
    if target.kind not in KINDS:
        yield f"{target.kind} {target.name} creates the pods: change the pod template in it"
    if target.is_paused:
        yield f"{target.display_name} is paused: once resumed, it also rolls out all other changes since then"
    if target.is_live and target.kind == "CronJob":
        yield "a changed CronJob affects only new Jobs: the current Job is deleted and created again"
    if target.is_live and target.ends_its_pods and running:
        names = comma_list((pod.name for pod in running), most=_NAMED)
        yield f"these running pods are deleted and created again: {names}"
    master = problem.cluster.owners.get(target.key)
    if master is not None:
        yield f"{target.display_name} is controlled by {master.kind} {master.name}: change it there, or it is undone"
