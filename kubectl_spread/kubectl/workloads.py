"""The commands `kubectl scale`, `rollout` and `set`, which change workloads and their pod templates.

Source: staging/src/k8s.io/kubectl/pkg/cmd/scale/scale.go; cmd/rollout; polymorphichelpers/objectrestarter.go,
rollback.go; cmd/set/set_image.go, set_resources.go, set_env.go, helper.go (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any, Optional

from kubectl_spread.engine import steps
from kubectl_spread.errors import RefusedError
from kubectl_spread.kubectl.kinds import full_name
from kubectl_spread.kubectl.parsing import Command, StepError
from kubectl_spread.kubectl.situation import Part, plain_workload, Situation
from kubectl_spread.kubectl.targets import find_targets, only, pairs_of
from kubectl_spread.objects import resources
from kubectl_spread.objects.keys import MOST_PODS, ObjectKey
from kubectl_spread.objects.reading.plain import fields, mappings, Plain
from kubectl_spread.objects.workloads.workload import REPLICATED_KINDS

_Change = Callable[[Plain], Plain]

RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
_NO_COUNT = "The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0"
_ROLLED = ("Deployment", "StatefulSet", "DaemonSet")
_EVERY = "*"


def scale(command: Command, situation: Situation) -> Iterator[Part]:
    """Change the number of replicas."""
    replicas = count_of(command)
    for target in find_targets(command, situation):
        if target.kind not in REPLICATED_KINDS:
            raise RefusedError("Error from server (NotFound): the server could not find the requested resource")
        expected = command.value("current-replicas", "-1")
        now = situation.cluster.controllers[target].workload.replicas
        if expected not in ("-1", str(now)):
            raise RefusedError(f"error: Expected replicas to be {expected}, was {now}")
        yield from scale_workload(target, situation, replicas)


def count_of(command: Command) -> int:
    """Return the number of --replicas.

    Raises:
        StepError: it is missing, no number, or too large to read.
    """
    number = command.number("replicas", MOST_PODS) if command.value("replicas") else -1
    if number < 0:
        raise StepError(_NO_COUNT)
    return number


def scale_workload(target: ObjectKey, situation: Situation, replicas: int) -> Iterator[Part]:
    """Scale a workload, also one whose template is unknown."""
    is_owned = target in situation.cluster.owners
    plain = situation.workload_to_change(target) if is_owned else plain_workload(situation.cluster.controllers[target])
    situation.put(_with_spec(plain, replicas=replicas))
    yield steps.Scale(target, replicas)
    scaler = situation.cluster.autoscalers.get(target)
    if scaler is not None:
        yield scaler.note


def restart(command: Command, situation: Situation) -> Iterator[Part]:
    """Restart workloads: a new annotation in the template replaces all pods."""
    for target in find_targets(command, situation, takes_all=True):
        only([target], _ROLLED, "restarting")
        plain = situation.workload_to_change(target)
        if target.kind == "Deployment" and plain["spec"].get("paused"):
            what = "can't restart paused deployment (run rollout resume first)"
            raise RefusedError(f'error: {full_name(target.kind)} "{target.name}" {what}')
        number = len(situation.history(target)) + 1
        template = fields(plain["spec"], "template")
        metadata = fields(template, "metadata")
        annotations = {**fields(metadata, "annotations"), RESTARTED_AT: f"simulated, revision {number}"}
        yield situation.put(
            _with_spec(plain, template={**template, "metadata": {**metadata, "annotations": annotations}})
        )


def _with_spec(plain: Plain, **changed: Any) -> Plain:
    """Return a workload with some fields of its spec changed."""
    return {**plain, "spec": {**plain["spec"], **changed}}


def undo(command: Command, situation: Situation) -> Iterator[Part]:
    """Roll back to the previous template, or to the template of a revision."""
    targets = find_targets(command, situation, takes_all=True)
    revision = command.number("to-revision")
    for target in targets:
        only([target], _ROLLED, "rollback")
        plain = situation.workload_to_change(target)
        if plain["spec"].get("paused"):
            resume_first = (
                "you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again"
            )
            raise RefusedError(f"error: {resume_first}")
        history = situation.history(target)
        if revision:
            found = [item for item in history if item.number == revision]
            if not found:
                raise RefusedError(f"error: unable to find specified revision {revision} in history")
        elif len(history) > 1:
            found = history[-2:]
        elif target.kind == "Deployment":
            raise RefusedError(f'error: no rollout history found for deployment "{target.name}"')
        else:
            is_stored = target in situation.cluster.revisions
            where = "" if is_stored else " in the cluster facts, which hold no ControllerRevisions"
            raise RefusedError(f"error: no last revision to roll back to{where}")
        template = found[0].template  # an empty one if the cluster facts only have its pods
        if template.get("spec"):
            yield situation.put(_with_spec(plain, template=template))
        else:
            situation.unknown.add(target)
            yield steps.Undo(target)


def pause(command: Command, situation: Situation, *, is_paused: bool) -> Iterator[Part]:
    """Pause the rollouts of Deployments, or resume them."""
    targets = find_targets(command, situation, takes_all=True)
    only(targets, ("Deployment",), "pausing" if is_paused else "resuming")
    for target in targets:
        plain = situation.workload_to_change(target)
        if bool(plain["spec"].get("paused")) == is_paused:
            what = "is already paused" if is_paused else "is not paused"
            raise RefusedError(f'error: {full_name(target.kind)} "{target.name}" {what}')
        yield situation.put(_with_spec(plain, paused=is_paused))


def set_image(command: Command, situation: Situation) -> Iterator[Part]:
    """Change images of containers in pod templates."""
    images: dict[str, str] = {}
    for word in pairs_of(command):
        name, equals, image = word.partition("=")
        if not equals or not name or not image:
            raise StepError(f"invalid image update {word}; write it as CONTAINER=IMAGE")
        images[name] = image
    if command.arguments and not images:
        raise StepError("at least one image update is required")
    targets = find_targets(command, situation, has_pairs=True)
    if not images:
        raise StepError("at least one image update is required")

    def change(template: Plain) -> Plain:
        names = {item.get("name") for item in _containers(template)}
        for name in images:
            if name not in (_EVERY, *names):
                raise RefusedError(f'error: unable to find container named "{name}"')
        of = {name: images.get(str(name), images.get(_EVERY)) for name in names}
        return _with_containers(
            template, lambda item: item if of[item.get("name")] is None else {**item, "image": of[item.get("name")]}
        )

    note = "a new image restarts the container of pod {} where it is"
    return _change_templates(targets, situation, change, of_pod=note)


def set_resources(command: Command, situation: Situation) -> Iterator[Part]:
    """Change requests and limits of containers in pod templates."""
    amounts: dict[str, dict[str, str]] = {}
    for field in ("limits", "requests"):
        for word in command.value(field).split(",") if command.value(field) else ():
            name, equals, amount = word.partition("=")
            if not equals or "=" in amount:
                raise StepError(f"Invalid argument syntax {word}, expected <resource>=<value>")
            try:
                resources.parse(amount)
            except resources.QuantityError as error:
                raise StepError(str(error)) from None
            amounts.setdefault(field, {})[name] = amount
    if not amounts:
        raise StepError("you must specify an update to requests or limits (in the form of --requests/--limits)")
    targets = find_targets(command, situation)

    def change(container: Plain) -> Plain:
        resources = dict(fields(container, "resources"))
        for name, of_name in amounts.items():
            resources[name] = {**fields(resources, name), **of_name}
        return {**container, "resources": resources}

    note = "the API server refuses new resources of pod {}, except by its subresource `resize`"
    return _change_templates(targets, situation, _of_containers(command, change), of_pod=note)


def set_env(command: Command, situation: Situation) -> Iterator[Part]:
    """Change environment variables of containers in pod templates, which restarts the pods."""
    updates: dict[str, Optional[str]] = {}  # None removes a variable
    for word in (*pairs_of(command), *command.values("env")):
        name, equals, value = word.partition("=")
        if not name or not (equals or (word.endswith("-") and len(word) > 1)):
            raise StepError(f'environment variables must be of the form key=value, and "{word}" is not')
        updates[name if equals else word[:-1]] = value if equals else None
    targets = find_targets(command, situation, has_pairs=True)
    if not updates:
        raise StepError("at least one environment variable must be provided")
    overwrites = command.value("overwrite", "true") != "false"

    def change(container: Plain) -> Plain:
        variables = {str(item.get("name")): item for item in mappings(container.get("env"))}
        for name, value in updates.items():
            if value is None:
                variables.pop(name, None)
                continue
            if name in variables and not overwrites:
                before = variables[name].get("value") or ""
                raise RefusedError(f"error: '{name}' already has a value ({before}), and --overwrite is false")
            variables[name] = {"name": name, "value": value}
        return {**container, "env": list(variables.values())}

    note = "the API server refuses new environment variables of pod {}"
    return _change_templates(targets, situation, _of_containers(command, change), of_pod=note)


def _of_containers(command: Command, change: _Change) -> _Change:
    """Return the change of a template's containers with names like the pattern of --containers."""
    pattern = command.value("containers", _EVERY)

    def changed(template: Plain) -> Plain:
        if not any(fnmatchcase(str(item.get("name")), pattern) for item in _containers(template)):
            raise RefusedError(f"error: unable to find container named {pattern}")
        return _with_containers(
            template, lambda item: change(item) if fnmatchcase(str(item.get("name")), pattern) else item
        )

    return changed


_FIELDS = ("initContainers", "containers")


def _containers(template: Plain) -> list[Plain]:
    spec = fields(template, "spec")
    return [item for field in _FIELDS for item in mappings(spec.get(field))]


def _with_containers(template: Plain, change: _Change) -> Plain:
    """Return a template with each container changed."""
    spec = fields(template, "spec")
    changed = {field: [change(item) for item in mappings(spec.get(field))] for field in _FIELDS if spec.get(field)}
    return {**template, "spec": {**spec, **changed}}


def _change_templates(
    targets: Iterable[ObjectKey], situation: Situation, change: _Change, *, of_pod: str
) -> Iterator[Part]:
    """Change the templates of workloads; pods themselves stay as they are."""
    for target in targets:
        if target.kind == "Pod":
            yield of_pod.format(target.name)
            continue
        plain = situation.workload_to_change(target)
        yield situation.put(_with_spec(plain, template=change(fields(plain["spec"], "template"))))
