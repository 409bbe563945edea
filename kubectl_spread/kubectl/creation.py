"""The command `kubectl create`: from a file, a Deployment, or a Job, also one from a CronJob.

Source: staging/src/k8s.io/kubectl/pkg/cmd/create/create.go, create_deployment.go, create_job.go (v1.36.2).
"""

from __future__ import annotations

import copy
from typing import Any

from kubectl_spread.errors import RefusedError
from kubectl_spread.kubectl import targets
from kubectl_spread.kubectl.editing import manifests
from kubectl_spread.kubectl.kinds import CLUSTER_WIDE, full_name, kind_of, OTHERS
from kubectl_spread.kubectl.parsing import Command, StepError
from kubectl_spread.kubectl.situation import CommandEffect, plain_of, Situation
from kubectl_spread.kubectl.workloads import count_of
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.selectors import labels
from kubectl_spread.text.scalars import natural
from kubectl_spread.text.wording import short

Plain = dict[str, Any]


def create(command: Command, situation: Situation) -> CommandEffect:
    """Create objects that do not exist yet."""
    if command.values("filename") or command.values("kustomize"):
        if command.arguments:
            raise StepError(f"Unexpected args: [{' '.join(command.arguments)}]; name the manifests with -f")
        objects = targets.objects_of_files(command, situation)
    else:
        objects = [_generated(command, situation)]
    for plain in objects:
        _refuse_existing(plain, situation)
    return manifests.apply_objects(objects, situation)


def _generated(command: Command, situation: Situation) -> Plain:
    """Return the object of `create deployment` or `create job`."""
    if not command.arguments:
        raise StepError("must specify one of -f and -k, or `create deployment NAME` or `create job NAME`")
    word, *names = command.arguments
    kind = kind_of(word)
    if kind != "Job" and kind not in _GENERATED:
        raise StepError(f"`create {word}` is not simulated: use `apply -f`")
    if not names or (
        len(names) > 1 and not command.has("image")
    ):  # After --image, the arguments of a container follow.
        raise StepError(f"exactly one NAME is required, got {len(names)}")
    _refuse_name(kind, names[0])
    metadata = {"name": names[0], "namespace": situation.namespace}
    if kind == "Job":
        return _job(command, situation, metadata)
    return _GENERATED[kind](command, metadata)


def _priority_class(command: Command, metadata: Plain) -> Plain:
    """Return a PriorityClass.

    Raises:
        StepError: its value is no number.
    """
    text = command.value("value", "0")
    number = natural(text.removeprefix("-"))
    if number is None:
        raise StepError(f'invalid argument "{short(text)}" for "--value" flag: it takes a number')
    plain: Plain = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "value": -number if text[0] == "-" else number,
    }
    plain["globalDefault"] = command.has("global-default")
    plain["preemptionPolicy"] = command.value("preemption-policy", "PreemptLowerPriority")
    return {**plain, "metadata": {"name": metadata["name"]}}


def _quota(command: Command, metadata: Plain) -> Plain:
    pairs = [word.partition("=") for word in command.value("hard").split(",") if word]
    if any(not equals for _, equals, _ in pairs):
        raise StepError(f"Invalid argument syntax {command.value('hard')}, expected <resource>=<value>")
    spec: Plain = {"hard": {name: amount for name, _, amount in pairs}}
    if command.value("scopes"):
        spec["scopes"] = command.value("scopes").split(",")
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": spec}


def _refuse_name(kind: str, name: str) -> None:
    """Refuse a name that the API server does not accept.

    Raises:
        RefusedError: with the words of kubectl and the API server.
    """
    errors = labels.subdomain_errors(name)
    if errors:
        full = f"{kind}.{full_name(kind).partition('.')[2]}"
        why = f'metadata.name: Invalid value: "{name}": {errors[0]}'
        raise RefusedError(f'error: failed to create {kind.lower()}: {full} "{name}" is invalid: {why}')


def _deployment(command: Command, metadata: Plain) -> Plain:
    own = {"app": metadata["name"]}
    template = {"metadata": {"labels": own}, "spec": {"containers": _containers(command)}}
    replicas = count_of(command) if command.has("replicas") else 1
    spec = {"replicas": replicas, "selector": {"matchLabels": own}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {**metadata, "labels": own}, "spec": spec}


def _containers(command: Command) -> list[Plain]:
    images = [image for value in command.values("image") for image in value.split(",")]
    if not images:
        raise StepError('required flag(s) "image" not set')
    return [{"name": f"c{at}", "image": image} for at, image in enumerate(images)]


def _job(command: Command, situation: Situation, metadata: Plain) -> Plain:
    """Return a Job of an image, or one with the template of a CronJob."""
    if command.has("from") == command.has("image"):
        raise StepError("either --image or --from must be specified")
    if command.has("from"):
        return _of_cron_job(command.value("from"), situation, metadata)
    pod = {"containers": _containers(command), "restartPolicy": "Never"}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": {"spec": pod}}}


def _of_cron_job(text: str, situation: Situation, metadata: Plain) -> Plain:
    word, slash, name = text.partition("/")
    if not slash or kind_of(word) != "CronJob":
        raise RefusedError(f"error: from must be an existing cronjob, as in --from=cronjob/NAME, not {text}")
    target = ObjectKey("CronJob", situation.namespace, name)
    targets.require(target, situation.cluster)
    plain = plain_of(situation.cluster.controllers[target])
    made = copy.deepcopy((plain["spec"].get("jobTemplate") or {}).get("spec") or {})
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": made}


_GENERATED = {"Deployment": _deployment, "PriorityClass": _priority_class, "ResourceQuota": _quota}


def _refuse_existing(plain: Plain, situation: Situation) -> None:
    """Refuse an object that exists.

    Raises:
        RefusedError: with the API server's message.
    """
    kind, metadata = str(plain.get("kind")), plain.get("metadata") or {}
    namespace = "" if kind in CLUSTER_WIDE else metadata.get("namespace") or situation.namespace
    target = ObjectKey(kind, namespace, metadata.get("name") or "")
    cluster = situation.cluster
    is_known = ObjectKey(*target) in cluster.controllers
    if kind in OTHERS or kind == "Pod":
        is_known = any(item == target for item, _ in targets.existing(kind, cluster, namespace))
    if is_known:
        raise RefusedError(f'Error from server (AlreadyExists): {full_name(kind)} "{target.name}" already exists')
