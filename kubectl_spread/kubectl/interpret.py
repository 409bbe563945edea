"""Translation of a command to operations of the simulation, after earlier commands; `patch`, `label` and `annotate`.

Source: staging/src/k8s.io/kubectl/pkg/cmd/patch/patch.go; cmd/label/label.go; cmd/annotate/annotate.go (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Optional

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.shapes import SHAPES
from kubectl_spread.engine import steps
from kubectl_spread.engine.nodes import tainted_as_cordoned
from kubectl_spread.engine.steps import direct_references
from kubectl_spread.errors import RefusedError, SourceError
from kubectl_spread.kubectl import applying, merging, nodes, workloads
from kubectl_spread.kubectl.kinds import full_name, labels_of, OTHERS, plain_of, records
from kubectl_spread.kubectl.nodes import node_of, put_nodes
from kubectl_spread.kubectl.parsing import Command, StepError
from kubectl_spread.kubectl.situation import Part, Situation
from kubectl_spread.kubectl.targets import find_targets, kinds_of, only, pairs_of
from kubectl_spread.kubectl.workloads import scale_workload
from kubectl_spread.objects import validation
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.decode import type_of_kind
from kubectl_spread.objects.reading.plain import fields, Plain
from kubectl_spread.objects.reading.read import DELETION_COST
from kubectl_spread.objects.releases.version import Release
from kubectl_spread.objects.selectors import key_errors, Labels, value_errors
from kubectl_spread.objects.workloads.kinds import BUILT_IN
from kubectl_spread.objects.workloads.workload import REPLICATED_KINDS
from kubectl_spread.text.scalars import natural

_Changes = Mapping[str, Optional[str]]  # None removes a label or an annotation

_TYPES = ("strategic", "merge", "json")


def patch(command: Command, situation: Situation) -> Iterator[Part]:
    """Change fields of workloads, pods, nodes and objects around workloads."""
    kind = command.value("type", "strategic").lower()
    if kind not in _TYPES:
        raise StepError(f'--type must be one of [json merge strategic], not "{kind}"')
    targets = find_targets(command, situation)
    text, file = command.value("patch"), command.value("patch-file")
    if bool(text) == bool(file):
        raise StepError("must specify --patch or --patch-file containing the contents of the patch")
    try:
        change = situation.read.value(text, "--patch") if text else situation.read.value_of_file(file)
    except SourceError as error:
        if text:
            raise StepError(str(error)) from None
        raise
    subresource = command.value("subresource")
    if command.has("subresource") and subresource != "scale":
        raise StepError(f"--subresource={subresource} of `patch` is not simulated")
    for target in targets:
        if subresource == "scale":
            only([target], REPLICATED_KINDS, "scaling")
            replicas = fields(change, "spec").get("replicas")
            if type(replicas) is not int or replicas < 0:
                raise StepError("a patch of the scale subresource has a number in spec.replicas")
            yield from scale_workload(target, situation, replicas)
        elif target.kind in OTHERS:
            yield from _other(target, change, kind, situation)
        elif target.kind == "Pod":
            before = labels_of(records("Pod", situation.cluster).get(target))
            plain = {"kind": "Pod", "metadata": {"name": target.name, "labels": dict(before)}, "spec": {}}
            changes = change if isinstance(change, list) else []
            paths = [f"{fields(one).get(name)}/" for one in changes for name in ("path", "from")]
            is_of_spec = any(path.startswith("/spec/") for path in paths)
            after: Plain = plain if is_of_spec else _patched(plain, change, kind, target, situation.release)
            if is_of_spec or after.get("spec"):
                raise StepError("of a pod only the labels can be patched here: changes of its spec are not simulated")
            now = fields(after, "metadata", "labels")
            yield _label_pods([target], {**dict.fromkeys(before), **now}, situation)
        else:
            plain = situation.workload_to_change(target)
            after = _patched(plain, change, kind, target, situation.release)
            yield situation.put(after)


def _patched(plain: Plain, change: Any, kind: str, target: ObjectKey, release: Release) -> Plain:
    """Return an object with a patch applied; `release` is the API server's.

    Raises:
        RefusedError: it does not fit, or the API server would not accept the object.
    """
    try:
        after = merging.apply_patch(plain, change, kind)
    except merging.PatchError as error:
        named = f'{full_name(target.kind)} "{target.name}"'
        raise RefusedError(f"The request is invalid: the server rejected our request: {named}: {error}") from None
    of_workload = BUILT_IN.of(target.kind, str(plain.get("apiVersion", "")))
    problems = decode.problems(after, type_of_kind(of_workload) if of_workload else SHAPES[target.kind])
    if problems:
        where = decode.path_text(problems[0].route)
        raise RefusedError(f"Error from server (BadRequest): {where}: {problems[0].message}")
    name = fields(after, "metadata").get("name")
    if name != target.name:
        what = f"the name of the object ({name or ''}) does not match the name on the URL ({target.name})"
        raise RefusedError(f"Error from server (BadRequest): {what}")
    if after.get("kind") != target.kind:
        raise RefusedError(f"Error from server (BadRequest): the kind of {target.kind} {target.name} cannot be changed")
    spec = {"maxReplicas": 0, **fields(after, "spec")}  # of an autoscaler: 0 if the patch removes it
    for wrong in validation.spec_errors(target.kind, spec, minor=release.minor) if target.kind in OTHERS else ():
        raise RefusedError(f'The {target.kind} "{target.name}" is invalid: {wrong.text()}')
    return after


def _other(target: ObjectKey, change: Any, kind: str, situation: Situation) -> Iterator[Part]:
    """Patch the fields of a node, a Service, a volume or the like that matter to pods."""
    if target.kind in ("PriorityClass", "LimitRange"):
        raise StepError(f"a patch of {full_name(target.kind)} is not simulated; use `delete` and `create`")
    record = records(target.kind, situation.cluster)[target]
    after = _patched(plain_of(target, record), change, kind, target, situation.release)
    spec = fields(after, "spec")
    if target.kind == "PersistentVolumeClaim":
        yield f"a change of claim {target.name} moves no pod"
        return
    if target.kind == "Namespace":
        yield from situation.change(target.kind, {target: fields(after, "metadata", "labels")})
        return
    if target.kind == "PodDisruptionBudget":
        if "selector" in spec:
            raise StepError("a patch of a budget's selector is not simulated; use `apply -f`")
        if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
            wrong = "spec: Invalid value: minAvailable and maxUnavailable cannot be both set"
            raise RefusedError(f'The {target.kind} "{target.name}" is invalid: {wrong}')
    read = next(iter(records(target.kind, cluster_of([after])).values()))
    changed = record._replace(**{field: getattr(read, field) for field in OTHERS[target.kind].patched})
    if target.kind == "Node":
        changed = tainted_as_cordoned(changed)
    if target.kind == "PersistentVolume":
        if any(claim.volume_name == target.name for claim in situation.cluster.storage.claims.values()):
            changed = changed._replace(claim=record.claim, claim_uid=record.claim_uid)
        elif changed.claim is None:  # A released volume is available again.
            changed = changed._replace(is_available=True)
    yield from situation.change(target.kind, {target: changed})
    if target.kind == "HorizontalPodAutoscaler":
        yield next(key for key, item in situation.cluster.autoscalers.items() if item is changed)
        yield changed.note


def label(command: Command, situation: Situation) -> Iterator[Part]:
    """Change labels of nodes, pods and namespaces."""
    if command.arguments:
        _changes(pairs_of(command), "label")  # As kubectl does, before it looks for the objects.
    targets = find_targets(command, situation, has_pairs=True)
    changes = _changes(pairs_of(command), "label")
    yield from _note_of_new_pods(command, situation)
    nodes = [node_of(situation, target.name) for target in targets if target.kind == "Node"]
    if nodes:
        changed = [node._replace(labels=_with(node.labels, changes, command)) for node in nodes]
        yield from put_nodes(situation, changed)
    pods = [target for target in targets if target.kind == "Pod"]
    if pods:
        known = records("Pod", situation.cluster)
        for target in pods:
            _with(labels_of(known.get(target)), changes, command)
        yield _label_pods(pods, changes, situation)
    for target in targets:
        if target.kind == "Namespace":
            before = situation.cluster.namespaces.get(target.name, {})
            yield from situation.change(target.kind, {target: _with(before, changes, command)})
    if any(target.kind not in ("Node", "Pod", "Namespace") for target in targets):
        yield "labels of a workload itself move no pod; those of its pods are in its template"


def _note_of_new_pods(command: Command, situation: Situation) -> tuple[str, ...]:
    """Return a note if a command selects pods, and some only come to exist in the simulation."""
    is_selecting = "Pod" in kinds_of(command) and (command.has("all") or command.has("selector"))
    if not is_selecting or all(key.namespace != situation.namespace for key in situation.applied):
        return ()
    return ("not simulated: new labels and annotations of pods that this simulation creates",)


def _changes(words: Sequence[str], noun: str) -> dict[str, Optional[str]]:
    """Return the labels or annotations that KEY=VALUE sets and KEY- removes."""
    if not words:
        raise StepError(f"at least one {noun} update is required")
    changes: dict[str, Optional[str]] = {}
    for word in words:
        key, equals, value = word.partition("=")
        name = key if equals else key.removesuffix("-")
        errors = [*key_errors(name), *(value_errors(value) if equals and noun == "label" else ())]
        if errors:
            raise StepError(f'invalid {noun} "{word}": {errors[0]}')
        changes[name] = value if equals else None
    return changes


def _with(before: Labels, changes: _Changes, command: Command) -> dict[str, str]:
    """Return labels with changes.

    Raises:
        RefusedError: kubectl would refuse to overwrite one.
    """
    for key, value in changes.items():
        if value is not None and before.get(key, value) != value and not command.has("overwrite"):
            raise RefusedError(f"error: '{key}' already has a value ({before[key]}), and --overwrite is false")
    return {key: value for key, value in {**before, **changes}.items() if value is not None}


def _label_pods(targets: Sequence[ObjectKey], changes: _Changes, situation: Situation) -> steps.LabelPods:
    """Return the step that changes labels of running pods; pods that earlier steps create keep their labels."""
    known = records("Pod", situation.cluster)
    uids = tuple(known[target].uid for target in targets if target in known)
    return steps.LabelPods(uids, tuple(sorted(changes.items(), key=lambda item: item[0])))


def annotate(command: Command, situation: Situation) -> Iterator[Part]:
    """Change annotations: the deletion cost of pods decides which of them a scale-down deletes."""
    targets = find_targets(command, situation, has_pairs=True)
    changes = _changes(pairs_of(command), "annotation")
    known = records("Pod", situation.cluster)
    new = _note_of_new_pods(command, situation)
    if DELETION_COST not in changes or not any(target.kind == "Pod" for target in targets):
        idle = (f"of annotations, only {DELETION_COST} of pods changes what happens",)
        yield from new if new and DELETION_COST in changes else idle
        return
    pods = {target: known[target] for target in targets if target in known}
    text = changes[DELETION_COST]
    digits = natural("0" if text is None else text.removeprefix("-"))
    if text is not None and (digits is None or str(int(text)) != text or not -(2**31) <= int(text) < 2**31):
        wrong = f'Invalid value: "{text}": must be a 32bit integer'
        raise RefusedError(f"metadata.annotations[{DELETION_COST}]: {wrong}")
    cost = int(text or 0)  # 0 without the annotation
    for pod in pods.values():
        if text is not None and not command.has("overwrite") and pod.deletion_cost not in (0, cost):
            before = f"'{DELETION_COST}' already has a value ({pod.deletion_cost})"
            raise RefusedError(f"error: {before}, and --overwrite is false")
    situation.change("Pod", {target: pod._replace(deletion_cost=cost) for target, pod in pods.items()})
    yield steps.SetCost(tuple(pod.uid for pod in pods.values()), cost)
    yield from new


class CommandEffect(NamedTuple):
    """Effect of a command: operations of the simulation, and the workloads concerned.

    refusal: kubectl's message if it stops halfway. notes: hints for the user about the command. labelled: workloads of
    pods that get labels or annotations, which may change nothing else.
    """

    ops: tuple[steps.Op, ...] = ()
    concerns: frozenset[ObjectKey] = frozenset()
    refusal: str = ""
    notes: tuple[str, ...] = ()
    labelled: frozenset[ObjectKey] = frozenset()


_HANDLERS: dict[str, Callable[[Command, Situation], Iterable[Part]]] = {
    "rollout restart": workloads.restart,
    "rollout undo": workloads.undo,
    "rollout pause": partial(workloads.pause, is_paused=True),
    "rollout resume": partial(workloads.pause, is_paused=False),
    "scale": workloads.scale,
    "set image": workloads.set_image,
    "set resources": workloads.set_resources,
    "set env": workloads.set_env,
    "apply": applying.apply,
    "create": applying.create,
    "delete": applying.delete,
    "patch": patch,
    "label": label,
    "annotate": annotate,
    "drain": nodes.drain,
    "cordon": nodes.cordon,
    "uncordon": partial(nodes.cordon, is_cordoned=False),
    "taint": nodes.taint,
    "lose": nodes.lose,
    "restore": nodes.restore,
    "add-nodes": nodes.add_nodes,
}


def effect(command: Command, situation: Situation) -> CommandEffect:
    """Return the effect of a command, and update the situation as if the command was accepted and has settled.

    Raises:
        StepError: kubectl would print its usage.
        RefusedError: kubectl or the API server would refuse it.
        ClusterError: the cluster facts lack something.
    """
    situation.namespace = command.value("namespace") or situation.default_namespace
    return combine(_HANDLERS[command.verb.name](command, situation), situation)


def combine(parts: Iterable[Part], situation: Situation) -> CommandEffect:
    """Return the effect of a command from what it yields, and let the situation settle."""
    cluster, found = situation.cluster, list(parts)
    situation.settle()
    ops = [item for item in found if not isinstance(item, (str, ObjectKey, RefusedError))]
    keys: tuple[list[steps.Op], list[steps.Op]] = ([], [])
    for op in ops:
        keys[isinstance(op, (steps.LabelPods, steps.SetCost))].append(op)
    changed, labelled = (direct_references(cluster, of_kind)[0] for of_kind in keys)
    return CommandEffect(
        tuple(ops),
        changed.union(
            (item for item in found if isinstance(item, ObjectKey)),
            (op.key for op in ops if isinstance(op, steps.ON_WORKLOADS)),  # also a Job of a CronJob
        ),
        next((str(item) for item in found if isinstance(item, RefusedError)), ""),
        tuple(dict.fromkeys(item for item in found if isinstance(item, str))),
        labelled,
    )
