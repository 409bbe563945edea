"""The commands `kubectl rollout restart`, `undo`, `pause` and `resume`.

Source: staging/src/k8s.io/kubectl/pkg/cmd/rollout; pkg/polymorphichelpers/objectrestarter.go, rollback.go (v1.36.2).
"""

from __future__ import annotations

from typing import Any

from kubectl_spread.engine import steps
from kubectl_spread.errors import RefusedError
from kubectl_spread.kubectl import targets
from kubectl_spread.kubectl.kinds import full_name
from kubectl_spread.kubectl.parsing import Command, StepError
from kubectl_spread.kubectl.situation import CommandEffect, controller_of, plain_of, Situation
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.text.scalars import natural
from kubectl_spread.text.wording import short

Plain = dict[str, Any]

RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
_ROLLED = ("Deployment", "StatefulSet", "DaemonSet")


def restart(command: Command, situation: Situation) -> CommandEffect:
    """Restart workloads: a new annotation in the template replaces all pods."""
    found = targets.find_targets(command, situation, takes_all=True).targets
    done = CommandEffect()
    for target in found:
        targets.only([target], _ROLLED, "restarting")
        plain = workload_object(target, situation)
        if target.kind == "Deployment" and plain["spec"].get("paused"):
            what = "can't restart paused deployment (run rollout resume first)"
            raise RefusedError(f'error: {full_name(target.kind)} "{target.name}" {what}')
        done += change_workload(
            situation, target, with_template(plain, _restarted(plain, len(situation.history(target))))
        )
    return done


def _restarted(plain: Plain, times: int) -> Plain:
    template = plain["spec"].get("template") or {}
    metadata = template.get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), RESTARTED_AT: f"simulated, revision {times + 1}"}
    return {**template, "metadata": {**metadata, "annotations": annotations}}


def undo(command: Command, situation: Situation) -> CommandEffect:
    """Roll back to the previous template, or to the template of a revision."""
    found = targets.find_targets(command, situation, takes_all=True).targets
    text = command.value("to-revision", "0")
    revision = natural(text)
    if revision is None:
        raise StepError(f'invalid argument "{short(text)}" for "--to-revision" flag: it takes a number')
    done = CommandEffect()
    for target in found:
        targets.only([target], _ROLLED, "rollback")
        plain = workload_object(target, situation)
        if plain["spec"].get("paused"):
            resume_first = (
                "you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again"
            )
            raise RefusedError(f"error: {resume_first}")
        template = _template_before(target, situation, revision)
        if template.get("spec"):
            done += change_workload(situation, target, with_template(plain, template))
        else:
            situation.unknown.add(target)
            done += CommandEffect((steps.Undo(target),), frozenset([target]))
    return done


def _template_before(target: ObjectKey, situation: Situation, revision: int) -> Plain:
    """Return an earlier template; an empty one if the cluster facts only have its pods."""
    history = situation.history(target)
    earlier = history[:-1]
    if not revision:
        if earlier:
            return earlier[-1]
        if target.kind == "Deployment":
            raise RefusedError(f'error: no rollout history found for deployment "{target.name}"')
        raise RefusedError(
            "error: no last revision to roll back to"
            if target in situation.cluster.revisions
            else "error: no last revision to roll back to in the cluster facts, which hold no ControllerRevisions"
        )
    found = _numbered(target, situation, revision)
    if found is None:
        raise RefusedError(f"error: unable to find specified revision {revision} in history")
    return found


def _numbered(target: ObjectKey, situation: Situation, revision: int) -> Plain | None:
    """Return the template of a revision by its number in the rollout history."""
    cluster = situation.cluster
    stored = cluster.revisions.get(target, ())
    for item in stored:
        if item.number == revision:
            return item.template
    for made, owner in cluster.owners.items():
        controller = cluster.controllers.get(made)
        if owner == target and controller is not None and controller.revision == str(revision):
            return controller.workload.template
    history = situation.history(target)
    has_numbers = bool(stored) or target in cluster.owners.values()
    return history[revision - 1] if not has_numbers and revision <= len(history) else None


def pause(command: Command, situation: Situation) -> CommandEffect:
    """Pause the rollouts of Deployments."""
    return _paused(command, situation, is_paused=True)


def resume(command: Command, situation: Situation) -> CommandEffect:
    """Resume paused Deployments."""
    return _paused(command, situation, is_paused=False)


def _paused(command: Command, situation: Situation, *, is_paused: bool) -> CommandEffect:
    found = targets.find_targets(command, situation, takes_all=True).targets
    targets.only(found, ("Deployment",), "pausing" if is_paused else "resuming")
    done = CommandEffect()
    for target in found:
        plain = workload_object(target, situation)
        if bool(plain["spec"].get("paused")) == is_paused:
            what = "is already paused" if is_paused else "is not paused"
            raise RefusedError(f'error: {full_name(target.kind)} "{target.name}" {what}')
        done += change_workload(situation, target, {**plain, "spec": {**plain["spec"], "paused": is_paused}})
    return done


def workload_object(target: ObjectKey, situation: Situation) -> Plain:
    """Return a workload as an API object.

    Raises:
        RefusedError: its template is unknown, or another controller would revert the change.
    """
    if target in situation.unknown:
        raise RefusedError(
            f"error: the template that {full_name(target.kind)} {target.name} went back to is not in the cluster facts"
        )
    owner = situation.cluster.owners.get(target)
    if owner is not None:
        raise RefusedError(
            f"error: {owner.kind} {owner.name} controls {target.kind} {target.name}, and would revert the change"
        )
    return plain_of(situation.cluster.controllers[target])


def with_template(plain: Plain, template: Plain) -> Plain:
    """Return a workload with another template."""
    return {**plain, "spec": {**plain["spec"], "template": template}}


def change_workload(situation: Situation, target: ObjectKey, plain: Plain) -> CommandEffect:
    """Return the effect of changing a workload."""
    before = situation.cluster.controllers[target]
    after = controller_of(plain)._replace(conditions=before.conditions, labels=before.labels)
    return CommandEffect((situation.put(after),), frozenset([ObjectKey(*target)]))
