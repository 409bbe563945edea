"""Presentation of a helpful change: its commands, their effect and notes."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.advice import effect
from kubectl_spread.advice.change import Change
from kubectl_spread.advice.judge import Judge, JudgedChange, TriedChange
from kubectl_spread.advice.problem import PendingPodProblem
from kubectl_spread.advice.scene import HypotheticalCluster
from kubectl_spread.advice.suggestion import Effect, Rollout, Suggestion
from kubectl_spread.advice.target import manager_of
from kubectl_spread.engine.results.certainty import Certainty, certainty
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.workloads.kinds import KINDS

_NAMED = 4


def suggestion(item: TriedChange, judged: JudgedChange, judge: Judge) -> Suggestion:
    """Return a helpful change as a suggestion."""
    change, scene = item.change, item.scene
    problem = scene.problem
    plain = scene.problem_scene()
    actions = effect.merge_edits(change.actions)
    notes = [*change.notes, *_of_equals(item), *_of_lost(judged)]
    if change.is_of_manifest:
        notes += [*_of_revision(scene), *_of_target(problem)]
    return Suggestion(
        title=change.title,
        changes=tuple(document for action in actions for document in action.documents(plain)),
        lines=tuple(line for action in actions for line in action.lines(plain)),
        commands=tuple(line for action in actions for line in action.commands(plain)),
        effect=_effect(judged, judge),
        gives_up=change.gives_up,
        notes=tuple(notes),
        certainty=_certainty(judged),
        is_of_manifest=change.is_of_manifest,
        rollout=_rollout(change, judged, problem),
        managed_by=manager_of(problem.controller) if change.is_of_manifest and problem.target.is_live else None,
        verified=judged.is_followed,
    )


def _certainty(judged: JudgedChange) -> Certainty:
    ranges = [ends for values in judged.ranges.values() for ends in values.values()]
    alike = sum(least < most for least, most in ranges)  # One outcome also stands for exchanges of equal nodes.
    return certainty(judged.basis, judged.outcomes + alike)


def _rollout(change: Change, judged: JudgedChange, problem: PendingPodProblem) -> Rollout:
    under_way = min(judged.restarts, len(problem.outdated_pods))
    return Rollout(
        judged.outcomes,
        judged.restarts,
        judged.basis.is_exact,
        judged.not_followed,
        under_way=under_way,
        is_new=change.edits_template,
        running=len(problem.given.running),
    )


def _effect(judged: JudgedChange, judge: Judge) -> Effect:
    given = judge.problem.given
    return Effect(
        placed_before=len(given.running) + len(given.own) - given.pending,
        placed_after=judged.placed,
        pending_before=given.pending,
        pending_after=judged.waiting,
        nodes=judged.nodes,
        spreads=effect.spreads(judge.counts_before, judged.counts, judged.ranges, judged.skews),
        without_node=len(given.own) if given.is_contended else given.pending,
    )


def _of_equals(item: TriedChange) -> Iterator[str]:
    """Yield a note on equivalent changes of other objects."""
    if item.equals:
        yield f"would work as well: {' or '.join(other.change.title for other in item.equals)}"


def _of_lost(judged: JudgedChange) -> Iterator[str]:
    """Yield a note on pods that end and that no controller creates again."""
    if judged.lost:
        listed = ", ".join(judged.lost[:_NAMED])
        yield f"{listed} {'ends' if len(judged.lost) == 1 else 'end'}, and nothing creates {_it(judged.lost)} again"


def _it(names: tuple[str, ...]) -> str:
    return "it" if len(names) == 1 else "them"


def _of_revision(scene: HypotheticalCluster) -> Iterator[str]:
    """Yield a note if the change helps only because the new pods get another revision hash."""
    label = scene.problem.revision_label
    if not label or not scene.is_recreated or not scene.problem.target.is_live:
        return
    placed = scene.place(scene.own(is_same_revision=True), needed=scene.problem.pod.key)
    if scene.problem.pod.key not in placed.bound:
        yield f"the changed pods get a new {label}, and pods with the old one are not counted together with them"


def _of_target(problem: PendingPodProblem) -> Iterator[str]:
    """Yield notes on the object to change."""
    target, running = problem.target, problem.given.running
    if target.is_guessed:
        yield f"{target.display_name} was inferred from the name of the pod's ReplicaSet"
    if target.kind not in KINDS:
        yield f"{target.kind} {target.name} creates the pods: change the pod template in it"
    if target.is_paused:
        yield f"{target.display_name} is paused: once resumed, it also rolls out all other changes since then"
    if target.is_live and target.kind == "CronJob":
        yield "a changed CronJob affects only new Jobs: the current Job is deleted and created again"
    if target.is_live and target.ends_its_pods and running:
        names = ", ".join(pod.name for pod in running[:_NAMED])
        more = f" and {len(running) - _NAMED} more" if len(running) > _NAMED else ""
        yield f"these running pods are deleted and created again: {names}{more}"
    master = problem.cluster.owners.get(ObjectKey(target.kind, target.namespace, target.name))
    if master is not None:
        yield f"{target.display_name} is controlled by {master.kind} {master.name}: change it there, or it is undone"
