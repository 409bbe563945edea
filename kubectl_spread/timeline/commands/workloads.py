"""The commands `kubectl scale` and `kubectl set image`.

Source: staging/src/k8s.io/kubectl/pkg/cmd/scale/scale.go; pkg/cmd/set/set_image.go (v1.36.2).
"""

from __future__ import annotations

from typing import Any

from kubectl_spread.errors import RefusedError
from kubectl_spread.objects.reading.plain import mappings
from kubectl_spread.timeline import steps
from kubectl_spread.timeline.commands import rollout, targets
from kubectl_spread.timeline.commands.parsing import Command, StepError
from kubectl_spread.timeline.commands.situation import CommandEffect, controller_of, plain_of, Situation
from kubectl_spread.timeline.commands.targets import CommandTarget

Plain = dict[str, Any]

SCALED = ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController")
_NO_COUNT = "The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0"
MOST_REPLICAS = 100_000


def scale(command: Command, situation: Situation) -> CommandEffect:
    """Change the number of replicas."""
    replicas = count_of(command)
    found = targets.find_targets(command, situation).targets
    done = CommandEffect()
    for target in found:
        if target.kind not in SCALED:
            raise RefusedError("Error from server (NotFound): the server could not find the requested resource")
        _check_current(command, target, situation)
        done += scale_workload(target, situation, replicas)
    return done


def count_of(command: Command) -> int:
    """Return the number of --replicas.

    Raises:
        StepError: it is missing, no number, or too large.
    """
    text = command.value("replicas")
    if not text:
        raise StepError(_NO_COUNT)
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()):
        raise StepError(f'invalid argument "{text}" for "--replicas" flag: it takes a number')
    significant = digits.lstrip("0") or "0"
    if text.startswith("-") and significant != "0":
        raise StepError(_NO_COUNT)
    if len(significant) > len(str(MOST_REPLICAS)) or int(significant) > MOST_REPLICAS:
        raise StepError(f"--replicas={text}: the largest number simulated is {MOST_REPLICAS:,}")
    return int(significant)


def _check_current(command: Command, target: CommandTarget, situation: Situation) -> None:
    wanted = command.value("current-replicas", "-1")
    now = situation.cluster.controllers[target.key].workload.replicas
    if wanted != "-1" and wanted != str(now):
        raise RefusedError(f"error: Expected replicas to be {wanted}, was {now}")


def scale_workload(target: CommandTarget, situation: Situation, replicas: int) -> CommandEffect:
    """Return the effect of scaling a workload."""
    if target.key in situation.cluster.owners:
        rollout.workload_object(target, situation)
    plain = plain_of(situation.cluster.controllers[target.key])
    after = controller_of({**plain, "spec": {**plain["spec"], "replicas": replicas}})
    situation.put(_like(after, situation.cluster.controllers[target.key]))
    return CommandEffect((steps.Scale(target.key, replicas),), frozenset([target.key]))


def _like(after: Any, before: Any) -> Any:
    return after._replace(
        conditions=before.conditions, labels=before.labels, annotations=before.annotations, revision=before.revision
    )


def set_image(command: Command, situation: Situation) -> CommandEffect:
    """Change images of containers in pod templates."""
    images = dict(_pair(word) for word in targets.pairs_of(command))
    if command.arguments and not images:
        raise StepError("at least one image update is required")
    found = targets.find_targets(command, situation, has_pairs=True)
    if not images:
        raise StepError("at least one image update is required")
    done = CommandEffect()
    for target in found.targets:
        if target.kind == "Pod":
            done += CommandEffect(notes=(f"a new image restarts the container of pod {target.name} where it is",))
            continue
        plain = rollout.workload_object(target, situation)
        template = _with_images(plain["spec"].get("template") or {}, images)
        done += rollout.change_workload(situation, target, rollout.with_template(plain, template))
    return done


def _pair(word: str) -> tuple[str, str]:
    name, equals, image = word.partition("=")
    if not equals or not name or not image:
        raise StepError(f"invalid image update {word}; write it as CONTAINER=IMAGE")
    return name, image


def _with_images(template: Plain, images: dict[str, str]) -> Plain:
    """Return a template with other images; `*` is every container."""
    spec = template.get("spec") or {}
    names = {item.get("name") for field in ("initContainers", "containers") for item in mappings(spec.get(field))}
    for name in images:
        if name != "*" and name not in names:
            raise RefusedError(f'error: unable to find container named "{name}"')
    changed = {
        field: [_with_image(item, images) for item in mappings(spec.get(field))]
        for field in ("initContainers", "containers")
        if spec.get(field)
    }
    return {**template, "spec": {**spec, **changed}}


def _with_image(container: Plain, images: dict[str, str]) -> Plain:
    image = images.get(str(container.get("name")), images.get("*"))
    return container if image is None else {**container, "image": image}
