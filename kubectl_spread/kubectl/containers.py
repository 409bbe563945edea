"""The commands `kubectl set image`, `set resources` and `set env`: changes of containers in pod templates.

Source: staging/src/k8s.io/kubectl/pkg/cmd/set/set_image.go, set_resources.go, set_env.go, helper.go (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Optional

from kubectl_spread.errors import RefusedError
from kubectl_spread.kubectl import rollout, targets
from kubectl_spread.kubectl.parsing import Command, StepError
from kubectl_spread.kubectl.situation import CommandEffect, Situation
from kubectl_spread.kubectl.targets import NamedTargets
from kubectl_spread.objects.amounts import quantity
from kubectl_spread.objects.reading.plain import fields, mappings

Plain = dict[str, Any]
_Change = Callable[[Plain], Plain]

_FIELDS = ("initContainers", "containers")
_EVERY = "*"


def set_image(command: Command, situation: Situation) -> CommandEffect:
    """Change images of containers in pod templates."""
    images = dict(_image(word) for word in targets.pairs_of(command))
    if command.arguments and not images:
        raise StepError("at least one image update is required")
    found = targets.find_targets(command, situation, has_pairs=True)
    if not images:
        raise StepError("at least one image update is required")
    note = "a new image restarts the container of pod {} where it is"
    return _changed(found, situation, lambda template: _with_images(template, images), of_pod=note)


def _image(word: str) -> tuple[str, str]:
    name, equals, image = word.partition("=")
    if not equals or not name or not image:
        raise StepError(f"invalid image update {word}; write it as CONTAINER=IMAGE")
    return name, image


def _with_images(template: Plain, images: Mapping[str, str]) -> Plain:
    """Return a template with other images; `*` is every container."""
    spec = template.get("spec") or {}
    names = {item.get("name") for field in _FIELDS for item in mappings(spec.get(field))}
    for name in images:
        if name != _EVERY and name not in names:
            raise RefusedError(f'error: unable to find container named "{name}"')
    return _with_containers(template, lambda container: _with_image(container, images))


def _with_image(container: Plain, images: Mapping[str, str]) -> Plain:
    image = images.get(str(container.get("name")), images.get(_EVERY))
    return container if image is None else {**container, "image": image}


def set_resources(command: Command, situation: Situation) -> CommandEffect:
    """Change requests and limits of containers in pod templates."""
    wanted = {name: _quantities(command.value(name)) for name in ("limits", "requests") if command.value(name)}
    if not wanted:
        raise StepError("you must specify an update to requests or limits (in the form of --requests/--limits)")
    found = targets.find_targets(command, situation)
    pattern = command.value("containers", _EVERY)

    def change(container: Plain) -> Plain:
        resources = dict(fields(container.get("resources")))
        for name, amounts in wanted.items():
            resources[name] = {**fields(resources.get(name)), **amounts}
        return {**container, "resources": resources}

    note = "the API server refuses new resources of pod {}, except by its subresource `resize`"
    return _changed(found, situation, _of_containers(pattern, change), of_pod=note)


def _quantities(text: str) -> dict[str, str]:
    """Return the amounts of `cpu=200m,memory=512Mi`.

    Raises:
        StepError: it is no such text.
    """
    found = {}
    for word in text.split(","):
        name, equals, amount = word.partition("=")
        if not equals or "=" in amount:
            raise StepError(f"Invalid argument syntax {word}, expected <resource>=<value>")
        try:
            quantity.parse(amount)
        except quantity.QuantityError as error:
            raise StepError(str(error)) from None
        found[name] = amount
    return found


def set_env(command: Command, situation: Situation) -> CommandEffect:
    """Change environment variables of containers in pod templates, which restarts the pods."""
    updates = dict(_variable(word) for word in (*targets.pairs_of(command), *command.values("env")))
    found = targets.find_targets(command, situation, has_pairs=True)
    if not updates:
        raise StepError("at least one environment variable must be provided")
    overwrites = command.value("overwrite", "true") != "false"

    def change(container: Plain) -> Plain:
        return _with_variables(container, updates, overwrites=overwrites)

    note = "the API server refuses new environment variables of pod {}"
    return _changed(found, situation, _of_containers(command.value("containers", _EVERY), change), of_pod=note)


def _variable(word: str) -> tuple[str, Optional[str]]:
    """Return the variable that KEY=VALUE sets or KEY- removes.

    Raises:
        StepError: it does neither.
    """
    name, equals, value = word.partition("=")
    if equals and name:
        return name, value
    if not equals and word.endswith("-") and len(word) > 1:
        return word[:-1], None
    raise StepError(f'environment variables must be of the form key=value, and "{word}" is not')


def _with_variables(container: Plain, updates: Mapping[str, Optional[str]], *, overwrites: bool) -> Plain:
    """Return a container with other environment variables.

    Raises:
        RefusedError: a variable has a value that may not be overwritten.
    """
    known = {str(item.get("name")): item for item in mappings(container.get("env"))}
    for name, value in updates.items():
        before = known.get(name, {}).get("value")
        if value is not None and name in known and not overwrites:
            raise RefusedError(f"error: '{name}' already has a value ({before or ''}), and --overwrite is false")
        if value is None:
            known.pop(name, None)
        else:
            known[name] = {"name": name, "value": value}
    return {**container, "env": list(known.values())}


def _of_containers(pattern: str, change: _Change) -> _Change:
    """Return the change of a template's containers with names like a pattern."""

    def changed(template: Plain) -> Plain:
        spec = fields(template.get("spec"))
        names = [str(item.get("name")) for field in _FIELDS for item in mappings(spec.get(field))]
        if not any(fnmatchcase(name, pattern) for name in names):
            raise RefusedError(f"error: unable to find container named {pattern}")
        return _with_containers(
            template, lambda item: change(item) if fnmatchcase(str(item.get("name")), pattern) else item
        )

    return changed


def _with_containers(template: Plain, change: _Change) -> Plain:
    """Return a template with each container changed."""
    spec = fields(template.get("spec"))
    changed = {field: [change(item) for item in mappings(spec.get(field))] for field in _FIELDS if spec.get(field)}
    return {**template, "spec": {**spec, **changed}}


def _changed(found: NamedTargets, situation: Situation, change: _Change, *, of_pod: str) -> CommandEffect:
    """Return the effect of changing the templates of workloads; pods themselves stay as they are."""
    done = CommandEffect()
    for target in found.targets:
        if target.kind == "Pod":
            done += CommandEffect(notes=(of_pod.format(target.name),))
            continue
        plain = rollout.workload_object(target, situation)
        template = change(plain["spec"].get("template") or {})
        done += rollout.change_workload(situation, target, rollout.with_template(plain, template))
    return done
