"""The command `kubectl apply`.

Difference: a field that the manifest leaves out returns to its default, as if the object had been applied before. The
number of replicas and the annotation of `rollout restart` stay.
"""

from __future__ import annotations

from typing import Any, Optional

from kubectl_spread.cluster.building import apply_manifests
from kubectl_spread.cluster.building.build import autoscaler
from kubectl_spread.cluster.building.stored import admitted
from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.errors import RefusedError
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.objects.workloads.workload import workload
from kubectl_spread.timeline import steps
from kubectl_spread.timeline.commands import targets
from kubectl_spread.timeline.commands.parsing import Command, StepError
from kubectl_spread.timeline.commands.rollout import RESTARTED_AT
from kubectl_spread.timeline.commands.situation import CommandEffect, controller_of, plain_of, Situation

Plain = dict[str, Any]


def apply(command: Command, situation: Situation) -> CommandEffect:
    """Create objects, or change them to match the manifests."""
    if command.arguments:
        raise StepError(f"Unexpected args: [{' '.join(command.arguments)}]; name the manifests with -f")
    if not command.values("filename") and not command.values("kustomize"):
        raise StepError("must specify one of -f and -k")
    objects = targets.objects_of_files(command, situation)
    if command.has("selector"):
        wanted = targets.selector(command.value("selector"))
        objects = [plain for plain in objects if wanted.matches((plain.get("metadata") or {}).get("labels") or {})]
    return applied(objects, situation)


def applied(objects: list[Plain], situation: Situation) -> CommandEffect:
    """Return the effect of applying objects; supporting objects come before workloads."""
    around = [plain for plain in objects if plain.get("kind") in apply_manifests.KINDS]
    done = _around(around, situation) if around else CommandEffect()
    for plain in objects:
        kind = str(plain.get("kind"))
        if kind == "Node":
            node = read.node(plain)
            situation.put_nodes([node])
            done += CommandEffect((steps.ChangeNodes((node,)),))
        elif kind == "Pod":
            done += _pod(plain, situation)
        elif kind == "HorizontalPodAutoscaler":
            key, found = autoscaler(plain)
            autoscalers = {**situation.cluster.autoscalers, key: found}
            situation.cluster = situation.cluster._replace(autoscalers=autoscalers)
        elif kind in KINDS and kind not in ("PodTemplate", "Service"):
            done += workload_applied(plain, situation)
    return done


def _around(objects: list[Plain], situation: Situation) -> CommandEffect:
    """Apply the objects that are not workloads; budgets are replaced by the manifest's."""
    named = {
        (plain["metadata"].get("namespace"), plain["metadata"].get("name"))
        for plain in objects
        if plain.get("kind") == "PodDisruptionBudget"
    }
    cluster = situation.cluster
    budgets = tuple(item for item in cluster.budgets if (item.namespace, item.name) not in named)
    situation.cluster = apply_manifests.applied(cluster._replace(budgets=budgets), objects, situation.namespace)
    return CommandEffect((steps.ChangeFacts(situation.cluster),))


def _pod(plain: Plain, situation: Situation) -> CommandEffect:
    metadata = plain.get("metadata") or {}
    name, namespace = metadata.get("name") or "", metadata.get("namespace") or situation.namespace
    if any((pod.namespace, pod.name) == (namespace, name) for pod in situation.cluster.pods):
        return CommandEffect(notes=(f"pod {name} exists: a change of it moves nothing",))
    owner = admitted(workload(plain, "Pod", namespace=namespace), situation.cluster)
    return CommandEffect((steps.CreatePod(name, replica(owner, 0).cls),))


def workload_applied(plain: Plain, situation: Situation) -> CommandEffect:
    """Return the effect of applying a workload."""
    metadata = plain.get("metadata") or {}
    key = OwnerKey(str(plain["kind"]), metadata.get("namespace") or situation.namespace, metadata.get("name") or "")
    before = situation.cluster.controllers.get(key)
    if before is not None:
        live = plain_of(before)
        plain = _merged(live, plain)
        refuse_changes(live, plain)
    after = controller_of(plain)
    situation.unknown.discard(key)
    return CommandEffect((situation.put(after),), frozenset([key]))


def _merged(live: Plain, plain: Plain) -> Plain:
    spec = dict(plain.get("spec") or {})
    if "replicas" not in spec and "replicas" in live["spec"]:
        spec["replicas"] = live["spec"]["replicas"]
    restarted = _annotations(live["spec"]).get(RESTARTED_AT)
    if restarted is not None and RESTARTED_AT not in _annotations(spec):
        template = spec.get("template") or {}
        metadata = template.get("metadata") or {}
        annotations = {**(metadata.get("annotations") or {}), RESTARTED_AT: restarted}
        spec["template"] = {**template, "metadata": {**metadata, "annotations": annotations}}
    return {**plain, "spec": spec}


def _annotations(spec: Plain) -> Plain:
    metadata = (spec.get("template") or {}).get("metadata") or {}
    found: Plain = metadata.get("annotations") or {}
    return found


def refuse_changes(before: Plain, after: Plain) -> None:
    """Refuse changes of immutable fields.

    Raises:
        RefusedError: with the API server's message.
    """
    kind, name = str(before["kind"]), before["metadata"]["name"]
    field = _changed_field(kind, before["spec"], after.get("spec") or {})
    if field is None:
        return
    if kind == "StatefulSet":
        why = (
            "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
            "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' "
            "are forbidden"
        )
    else:
        why = f"spec.{field}: Invalid value: field is immutable"
    raise RefusedError(f'The {kind} "{name}" is invalid: {why}')


def _changed_field(kind: str, before: Plain, after: Plain) -> Optional[str]:
    if kind in ("Deployment", "ReplicaSet", "DaemonSet"):
        return "selector" if (before.get("selector") or {}) != (after.get("selector") or {}) else None
    if kind == "StatefulSet":
        fields = {"serviceName", "selector", "podManagementPolicy"}
        return next((name for name in sorted(fields) if _value(name, before) != _value(name, after)), None)
    if kind == "Job":
        from kubectl_spread.timeline.world import same_template  # numpy: 80 ms

        is_same = same_template(before.get("template") or {}, after.get("template") or {})
        return None if is_same else "template"
    return None


def _value(name: str, spec: Plain) -> Any:
    default = {"podManagementPolicy": "OrderedReady"}.get(name)
    # A snapshot leaves out the name of the Service, which is then not compared.
    return None if name == "serviceName" else spec.get(name) or default
