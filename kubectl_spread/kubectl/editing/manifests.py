"""The command `kubectl apply`.

Source: staging/src/k8s.io/kubectl/pkg/cmd/apply/apply.go (v1.36.2).
"""

from __future__ import annotations

from typing import Any, Optional

from kubectl_spread.cluster.building import apply_manifests
from kubectl_spread.cluster.building.build import admitted_workload, autoscaler
from kubectl_spread.cluster.building.shapes import LAST_APPLIED
from kubectl_spread.cluster.snapshot import Controller, key_of
from kubectl_spread.engine import steps
from kubectl_spread.engine.setup.owners import with_owners
from kubectl_spread.errors import RefusedError
from kubectl_spread.kubectl import targets
from kubectl_spread.kubectl.editing import merging, three_way
from kubectl_spread.kubectl.parsing import Command, StepError
from kubectl_spread.kubectl.situation import CommandEffect, controller_of, plain_of, Situation
from kubectl_spread.kubectl.workloads import SCALED
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.reading.plain import mappings
from kubectl_spread.objects.storage import claim
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.objects.workloads.workload import workload
from kubectl_spread.text.wording import join_with_and

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
    return apply_objects(objects, situation)


def apply_objects(objects: list[Plain], situation: Situation) -> CommandEffect:
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
            done += CommandEffect((steps.ChangeFacts(situation.cluster),), frozenset([key]))
        elif kind in KINDS and kind not in ("PodTemplate", "Service"):
            done += apply_workload(plain, situation)
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
    situation.cluster = apply_manifests.add_objects(cluster._replace(budgets=budgets), objects, situation.namespace)
    return CommandEffect((steps.ChangeFacts(situation.cluster),))


def _pod(plain: Plain, situation: Situation) -> CommandEffect:
    metadata = plain.get("metadata") or {}
    name, namespace = metadata.get("name") or "", metadata.get("namespace") or situation.namespace
    if any((pod.namespace, pod.name) == (namespace, name) for pod in situation.cluster.pods):
        return CommandEffect(notes=(f"pod {name} exists already: changing it moves no pod",))
    owner = admitted_workload(workload(plain, "Pod", namespace=namespace), situation.cluster)
    return CommandEffect((steps.CreatePod(name, replica(owner, 0).cls),))


def apply_workload(plain: Plain, situation: Situation) -> CommandEffect:
    """Return the effect of applying a workload."""
    metadata = plain.get("metadata") or {}
    key = ObjectKey(str(plain["kind"]), metadata.get("namespace") or situation.namespace, metadata.get("name") or "")
    before = situation.cluster.controllers.get(key)
    notes: tuple[str, ...] = ()
    manifest = plain
    if before is not None:
        live, last = plain_of(before), situation.applied.get(key) or three_way.last_applied(before.annotations)
        plain = _merged(live, manifest, last, key)
        refuse_changes(live, plain)
        notes = _notes(key, live, plain, last)
    after = controller_of(plain)
    notes += _adopted(after, situation) if before is None else ()
    situation.unknown.discard(key)
    situation.applied[key] = manifest
    return CommandEffect((situation.put(after),), frozenset([key]), notes=notes)


def _adopted(new: Controller, situation: Situation) -> tuple[str, ...]:
    """Let a new workload adopt ReplicaSets without a controller, and return a note about them."""
    cluster = situation.cluster
    owners = with_owners(cluster, [new]).cluster.owners
    own = [made for made, owner in owners.items() if owner == key_of(new.workload) and made not in cluster.owners]
    if not own:
        return ()
    situation.cluster = cluster._replace(owners={**cluster.owners, **{made: key_of(new.workload) for made in own}})
    names = join_with_and([_short(made) for made in sorted(own)])
    return (f"{_short(key_of(new.workload))} adopts {names}, which no controller has",)


def _notes(key: ObjectKey, live: Plain, after: Plain, last: Optional[Plain]) -> tuple[str, ...]:
    """Return the notes about an object that kubectl did not apply before, or that loses its number of replicas."""
    if last is not None:
        replicas = live["spec"].get("replicas", 1)
        is_lost = "replicas" not in after["spec"] and replicas != 1 and key.kind in SCALED
        what = "goes back to 1 replica: the manifest leaves out spec.replicas, which the last one had"
        return (f"{_short(key)} {what}",) if is_lost else ()
    if live["spec"] == after["spec"]:
        return ()
    what = "so fields that the manifest leaves out stay as they are"
    return (f"{_short(key)} has no annotation {LAST_APPLIED} in the cluster facts, {what}",)


def _short(key: ObjectKey) -> str:
    return targets.short_name(ObjectKey(*key))


def _merged(live: Plain, manifest: Plain, last: Optional[Plain], key: ObjectKey) -> Plain:
    """Return a live object with a manifest applied.

    Raises:
        RefusedError: they do not fit.
    """
    try:
        return three_way.three_way_merge(live, manifest, last)
    except merging.PatchError as error:
        raise RefusedError(f"error: error when applying patch: {_short(key)}: {error}") from None


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
        changed = next((name for name in sorted(fields) if _value(name, before) != _value(name, after)), None)
        return changed or ("volumeClaimTemplates" if _claims(before) != _claims(after) else None)
    if kind == "Job":
        from kubectl_spread.engine.world import same_template  # numpy: 80 ms

        is_same = same_template(before.get("template") or {}, after.get("template") or {})
        return None if is_same else "template"
    return None


def _claims(spec: Plain) -> list[Any]:
    """Return the claims that a StatefulSet creates, with the fields that manifests set."""
    return [claim(plain)._replace(uid="", is_new=False) for plain in mappings(spec.get("volumeClaimTemplates"))]


def _value(name: str, spec: Plain) -> Any:
    default = {"podManagementPolicy": "OrderedReady"}.get(name)
    # A snapshot leaves out the name of the Service, which is then not compared.
    return None if name == "serviceName" else spec.get(name) or default
