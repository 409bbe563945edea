"""Objects named by a command: TYPE NAME, TYPE/NAME, a selector, all, or a file."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any

from kubectl_spread.cluster.ownership import workload_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.errors import ClusterError, RefusedError
from kubectl_spread.kubectl.kinds import CLUSTER_WIDE, full_name, kind_of, labels_of, OTHERS, records
from kubectl_spread.kubectl.parsing import Command, StepError
from kubectl_spread.kubectl.situation import Situation
from kubectl_spread.objects import selectors as selector_text
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors import Selector
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.text.scalars import natural
from kubectl_spread.text.wording import comma_list

_MIXED = (
    "there is no need to specify a resource type as a separate argument when passing arguments in resource/name form "
    "(e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'"
)
_HINT = "hint: run `kubectl get {kind} {name} -n {namespace} -o yaml > {name}.yaml`, and add `--snapshot {name}.yaml`"


def short_name(target: ObjectKey) -> str:
    """Return an object as kubectl prints it: `deployment.apps/web`."""
    plural, dot, group = full_name(target.kind).partition(".")
    return f"{plural.removesuffix('s')}{dot}{group}/{target.name}"


def find_targets(
    command: Command, situation: Situation, *, has_pairs: bool = False, takes_all: bool = False
) -> tuple[ObjectKey, ...]:
    """Return the objects that a command names.

    Args:
        command: the command.
        situation: the existing objects.
        has_pairs: whether KEY=VALUE, KEY:EFFECT and KEY- follow the names.
        takes_all: whether a type alone names all its objects.

    Raises:
        StepError: kubectl would print its usage.
        RefusedError: an object does not exist.
    """
    namespace = situation.namespace
    words = command.arguments[: len(command.arguments) - len(pairs_of(command))] if has_pairs else command.arguments
    if command.has("filename") or command.has("kustomize"):
        if words:
            raise StepError("when paths, URLs, or stdin is provided as input, you may not specify resource arguments")
        objects = objects_of_files(command, situation)  # except kinds that never affect pods
        keys = [key_of_object(plain, situation) for plain in objects if plain.get("kind") in {*KINDS, *OTHERS}]
        return _existing(keys, command, situation)
    if not words:
        raise StepError(f"one or more resources must be specified as <resource> <name> or <resource>/<name>: "
                        f"`{command.verb.name} {command.verb.arguments}`")  # fmt: skip
    is_selecting = command.has("selector") or command.has("all")
    named = () if is_selecting else _named(words, situation)
    if named:
        return named
    if is_selecting or (takes_all and len(words) == 1 and "/" not in words[0]):
        return _selected(command, words, situation, "" if command.has("all-namespaces") else namespace)
    if any("/" in word for word in words):
        parts = [word.partition("/") for word in words]
        if any(not slash for _, slash, _ in parts):
            raise StepError(_MIXED)
        if any(not kind or not name or "/" in name for kind, _, name in parts):
            raise StepError("arguments in resource/name form must have a single resource and name")
        pairs = [(kind_of(kind), name) for kind, _, name in parts]
    else:
        kinds = [kind_of(word) for word in words[0].split(",")]
        if len(words) < 2:
            raise StepError("resource(s) were provided, but no name was specified")
        pairs = [(kind, name) for kind in kinds for name in words[1:]]
    keys = [ObjectKey(kind, "" if kind in CLUSTER_WIDE else namespace, name) for kind, name in pairs]
    return _existing(keys, command, situation)


def _named(words: Sequence[str], situation: Situation) -> tuple[ObjectKey, ...]:
    """Return the pods and workloads of names without a type; empty if the words are something else.

    Raises:
        StepError: several have a name.
    """
    with contextlib.suppress(StepError):
        kind_of(words[0].partition("/")[0].partition(",")[0])
        return ()
    keys = (ObjectKey(kind, situation.namespace, word) for word in words for kind in KINDS)
    found = tuple(key for key in keys if key in records(key.kind, situation.cluster))
    if len(found) > len(words):
        raise StepError(f"name one of {', '.join(map(short_name, found))}")
    return found if len(found) == len(words) else ()


def _existing(targets: Iterable[ObjectKey], command: Command, situation: Situation) -> tuple[ObjectKey, ...]:
    """Return the targets; a missing one is an error, or is skipped with --ignore-not-found."""
    found = []
    for target in targets:
        try:
            require(target, situation.cluster)
        except RefusedError:
            if not command.has("ignore-not-found"):
                raise
        else:
            found.append(target)
    return tuple(found)


def pairs_of(command: Command) -> tuple[str, ...]:
    """Return the arguments of a command from its first KEY=VALUE, KEY:EFFECT or KEY- on (GetResourcesAndPairs)."""
    return tuple(itertools.dropwhile(lambda word: re.search(r"[=:]|-\Z", word) is None, command.arguments))


def _selected(command: Command, words: Sequence[str], situation: Situation, namespace: str) -> tuple[ObjectKey, ...]:
    """Return all objects of some kinds that a selector matches."""
    if len(words) > 1 or "/" in words[0]:
        what = "a selector" if command.has("selector") else "--all"
        raise StepError(f"name cannot be provided when {what} is specified")
    wanted = selector(command.value("selector"))
    found: list[ObjectKey] = []
    kinds = [kind_of(word) for word in words[0].split(",")]
    for kind in kinds:
        if command.has("selector") and kind in OTHERS and not OTHERS[kind].has_labels:
            raise StepError(f"labels of {full_name(kind)} are not read; name the objects")
        objects = records(kind, situation.cluster)
        found += [key for key, item in objects.items() if wanted.matches(dict(labels_of(item)))]
    chosen = tuple(key for key in found if namespace in ("", key.namespace) or not key.namespace)
    # Pods come and go from step to step: the cluster facts need not hold those that a step concerns.
    if not chosen and "Pod" not in kinds and not command.has("ignore-not-found"):
        where = f" in {namespace} namespace" if namespace and not set(kinds) <= set(CLUSTER_WIDE) else ""
        raise RefusedError(f"No resources found{where}.{_elsewhere(found)}")
    return chosen


def _elsewhere(found: Iterable[ObjectKey]) -> str:
    """Return a hint at the namespaces that have such objects; empty without any."""
    namespaces = sorted({key.namespace for key in found if key.namespace})
    if not namespaces:
        return ""
    have = "namespace {} has" if len(namespaces) == 1 else "namespaces {} have"
    return f" hint: {have.format(comma_list(namespaces, most=3))} such objects; add `-n {namespaces[0]}`"


def selector(text: str) -> Selector:
    """Return the selector of -l.

    Raises:
        StepError: it is invalid.
    """
    try:
        return selector_text.parse(text)
    except selector_text.SelectorError as error:
        raise StepError(str(error)) from None


def require(target: ObjectKey, cluster: Cluster) -> None:
    """Check that an object exists.

    Raises:
        RefusedError: it does not, with kubectl's message.
        ClusterError: the cluster facts lack its kind.
    """
    if target in records(target.kind, cluster):
        return
    if target.kind == "Pod":  # A StatefulSet may create it.
        name, _, number = target.name.rpartition("-")
        above, ordinal = cluster.controllers.get(ObjectKey("StatefulSet", target.namespace, name)), natural(number)
        first = 0 if above is None else above.workload.first_ordinal
        if above is not None and ordinal is not None and first <= ordinal < first + (above.workload.replicas or 0):
            return
    if target.namespace and "Namespace" in cluster.complete and target.namespace not in cluster.namespaces:
        raise RefusedError(f'Error from server (NotFound): namespaces "{target.namespace}" not found')
    if cluster.is_unread(target):
        raise ClusterError(f'may not list {full_name(target.kind)}, so whether "{target.name}" exists is not known')
    if text := only_pods(target, cluster):
        raise RefusedError(f"error: {text}")
    where = f' in namespace "{target.namespace}"' if target.namespace else ""
    others = [key for key in records(target.kind, cluster) if key.name == target.name]
    refusal = f'Error from server (NotFound): {full_name(target.kind)} "{target.name}" not found{where}'
    hint = _elsewhere(others)
    raise RefusedError(refusal + (f";{hint}" if hint else ""))


def only_pods(target: ObjectKey, cluster: Cluster) -> str:
    """Return how to add a workload to cluster facts that hold only its pods; empty if they hold none."""
    if all(workload_of(pod, cluster) != target for pod in cluster.pods):
        return ""
    kind = full_name(target.kind)
    hint = _HINT.format(kind=kind, name=target.name, namespace=target.namespace)
    return f'the cluster facts hold pods of {kind} "{target.name}", but not the object itself; {hint}'


def kinds_of(command: Command) -> frozenset[str]:
    """Return the kinds that the arguments of a command name, without unknown ones."""
    found = set()
    for word in command.arguments:
        for part in word.partition("/")[0].split(","):
            try:
                found.add(kind_of(part))
            except StepError:
                continue
    return frozenset(found)


def objects_of_files(command: Command, situation: Situation) -> list[dict[str, Any]]:
    """Return the objects of the files and kustomizations that a command names.

    Raises:
        RefusedError: an object names another namespace than --namespace (resource.RequireNamespace).
    """
    objects = situation.read.objects(
        command.values("filename"),
        command.values("kustomize"),
        recursive=command.has("recursive"),
        namespace=situation.namespace,
    )
    for plain in objects if command.value("namespace") else ():
        namespace = fields(plain, "metadata").get("namespace")
        if plain.get("kind") not in CLUSTER_WIDE and namespace != situation.namespace:
            what = f'"{namespace}" does not match the namespace "{situation.namespace}"'
            pass_it = f"You must pass '--namespace={namespace}' to perform this operation."
            raise RefusedError(f"error: the namespace from the provided object {what}. {pass_it}")
    return objects


def key_of_object(plain: dict[str, Any], situation: Situation) -> ObjectKey:
    """Return the key of an object in a manifest."""
    kind, metadata = str(plain.get("kind")), fields(plain, "metadata")
    namespace = "" if kind in CLUSTER_WIDE else metadata.get("namespace") or situation.namespace
    generated = f"{metadata['generateName']}*" if metadata.get("generateName") else ""
    return ObjectKey(kind, namespace, metadata.get("name") or generated)


def only(targets: Iterable[ObjectKey], kinds: Iterable[str], verb: str) -> None:
    """Check that all targets are of kinds that a verb accepts.

    Raises:
        RefusedError: one is not.
    """
    known = set(kinds)
    for target in targets:
        if target.kind not in known:
            raise RefusedError(f'error: {full_name(target.kind)} "{target.name}" {verb} is not supported')
