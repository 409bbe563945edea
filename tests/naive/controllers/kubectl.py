"""Command lines of kubectl as actions on a world: what people do with the commands that are printed.

Only forms that change a cluster are known. Whatever is not, or what the API server would refuse, is an error.
"""

from __future__ import annotations

import copy
import json
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

from ruamel.yaml import YAML

from kubectl_spread.kubectl.kinds import kind_of
from kubectl_spread.kubectl.parsing import StepError
from tests.naive import objects
from tests.naive.controllers import actions, admission, deployment, nodes, patching, validation
from tests.naive.controllers.actions import Action
from tests.naive.controllers.world import owner_reference, terminated, World

Plain = dict[str, Any]

FORCED = "naive/forced"


class UnknownCommandError(Exception):
    """A command line that is not modelled here."""


class Words(NamedTuple):
    """A command line: its verb, its other words, its flags."""

    verb: str
    rest: list[str]
    flags: dict[str, str]

    @property
    def namespace(self) -> str:
        return self.flags.get("namespace") or "default"


_SHORT = {"n": "namespace", "p": "patch", "f": "filename", "o": "output", "l": "selector"}
_BARE = frozenset({"force", "overwrite", "local", "all", "now", "ignore-not-found"})


def words(text: str) -> Words:
    """Read one command line, without pipes."""
    parts = shlex.split(text)
    if len(parts) < 2 or parts[0] != "kubectl":
        raise UnknownCommandError(text)
    rest, flags = [], {}
    queue = parts[1:]
    while queue:
        word = queue.pop(0)
        if not word.startswith("-") or word == "-":
            rest.append(word)
            continue
        name, sign, value = word.lstrip("-").partition("=")
        name = _SHORT.get(name, name)
        if not sign:
            value = "true" if name in _BARE or not queue else queue.pop(0)
        flags[name] = value
    return Words(rest[0], rest[1:], flags)


def script(commands: list[str]) -> tuple[Action, ...]:
    """Command lines as actions, one after another."""
    return tuple(("kubectl", text) for text in commands)


def run(world: World, text: str) -> Iterator[World]:
    """What a command line does.

    Raises:
        UnknownCommandError: a form that is not modelled.
        patching.PatchError: the API server refuses.
    """
    text, _, document = text.partition("<<")
    if document:
        _, _, document = document.partition("\n")
        document = document.rpartition("\n")[0]
    pipe = _piped(text)
    if len(pipe) == 2 and pipe[0].startswith("echo "):
        text, document = pipe[1], shlex.split(pipe[0])[1]
    elif len(pipe) > 1:
        yield from _replaced(world, pipe)
        return
    parsed = words(text)
    if parsed.verb not in _VERBS:
        raise UnknownCommandError(text)
    yield from _VERBS[parsed.verb](world, parsed, document)


def check_deleted(world: World, commands: list[str]) -> None:
    """Check that what is to be deleted is there before anything is done.

    Raises:
        patching.PatchError: it is not.
    """
    for text in commands:
        if text.startswith("kubectl delete ") and "|" not in text:
            parsed = words(text)
            for kind, name in references(parsed):
                _found(world, kind, name, parsed.namespace)


def _piped(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|")
    lexer.whitespace_split = True
    parts: list[list[str]] = [[]]
    for word in lexer:
        if word == "|":
            parts.append([])
        else:
            parts[-1].append(word)
    return [shlex.join(part) for part in parts]


def references(parsed: Words) -> list[tuple[str, str]]:
    """Kind and name of each object that is named: `pod a b`, or `pod/a pod/b`."""
    found, kind = [], ""
    for word in parsed.rest:
        sort, slash, name = word.partition("/")
        if slash:
            found.append((_kind(sort), name))
        elif not kind:
            kind = _kind(word)
        else:
            found.append((kind, word))
    return found


def _kind(word: str) -> str:
    try:
        return kind_of(word)
    except StepError:
        raise UnknownCommandError(word) from None


def _found(world: World, kind: str, name: str, namespace: str) -> Plain:
    item = world.get(kind, name, namespace)
    if item is None:
        raise patching.PatchError(f"{kind} {name} not found")
    return item


def _patch(world: World, parsed: Words, document: str) -> Iterator[World]:
    ((kind, name),) = references(parsed)
    before = _found(world, kind, name, parsed.namespace)
    patch = json.loads(parsed.flags["patch"])
    after = actions.patched(before, patch, kind=parsed.flags.get("type") or "strategic")
    validation.update(before, after)
    world.put(after)
    is_last = kind == "Pod" and FORCED in objects.annotations_of(after)
    if is_last and not after["metadata"].get("finalizers"):
        world.remove(after)
    yield world


def _delete(world: World, parsed: Words, document: str) -> Iterator[World]:
    """Delete one object after another; without `--wait=false` the next command waits until they are gone.

    One that is gone already, as its controller was faster, is an error that does no harm.
    """
    is_forced = parsed.flags.get("grace-period") == "0" and "force" in parsed.flags
    todo: list[Action] = []
    gone: list[Action] = []
    for kind, name in references(parsed):
        item = world.get(kind, name, parsed.namespace)
        if item is None:
            continue
        todo.append(("kubectl-delete", (item["kind"], name, parsed.namespace, is_forced)))
        if parsed.flags.get("wait") != "false" and kind in ("Pod", "PersistentVolumeClaim"):
            gone.append(("wait", item["metadata"]["uid"]))
    world.script = (*todo, *gone, *world.script)
    yield world


def delete_one(world: World, argument: tuple[str, str, str, bool]) -> Iterator[World]:
    """The part of `kubectl delete` that is about one object."""
    kind, name, namespace, is_forced = argument
    item = world.get(kind, name, namespace)
    if item is not None and is_forced and kind == "Pod":
        _force(world, item)
    elif item is not None:
        actions.delete(world, item)
    yield world


def _force(world: World, pod: Plain) -> None:
    """No grace period: the pod goes with its last finalizer."""
    if not pod["metadata"].get("finalizers"):
        world.remove(pod)
        return
    pod = terminated(pod)
    pod["metadata"]["annotations"] = {**objects.annotations_of(pod), FORCED: "yes"}
    world.put(pod)


def _label(world: World, parsed: Words, document: str) -> Iterator[World]:
    kind, name, *changes = parsed.rest
    item = world.edit(_found(world, _kind(kind), name, parsed.namespace))
    field = "labels" if parsed.verb == "label" else "annotations"
    values = item["metadata"].setdefault(field, {})
    for change in changes:
        key, sign, value = change.partition("=")
        if sign:
            values[key] = value
        else:
            values.pop(key.removesuffix("-"), None)
    yield world


def _cordon(world: World, parsed: Words, document: str) -> Iterator[World]:
    for name in parsed.rest:
        _found(world, "Node", name, "")
        nodes.cordon(world, name, unschedulable=parsed.verb == "cordon")
    yield world


def _taint(world: World, parsed: Words, document: str) -> Iterator[World]:
    _, name, *changes = parsed.rest
    for change in changes:
        node = _found(world, "Node", name, "")
        text, sign, effect = change.removesuffix("-").rpartition(":")
        key, _, value = (text if sign else effect).partition("=")
        if change.endswith("-"):
            world.put(nodes.without_taint(node, key, effect if sign else ""))
        else:
            world.put(nodes.with_taint(node, {"key": key, "value": value, "effect": effect}))
    yield world


def _scale(world: World, parsed: Words, document: str) -> Iterator[World]:
    for kind, name in references(parsed):
        item = _found(world, kind, name, parsed.namespace)
        world.put({**item, "spec": {**item["spec"], "replicas": int(parsed.flags["replicas"])}})
    yield world


def _rollout(world: World, parsed: Words, document: str) -> Iterator[World]:
    what = parsed.rest[0]
    if what == "status":
        yield world
        return
    for kind, name in references(Words("", parsed.rest[1:], {})):
        item = world.edit(_found(world, kind, name, parsed.namespace))
        spec = item["spec"]
        if what in ("pause", "resume"):
            spec["paused"] = what == "pause"
        elif what == "restart":
            metadata = spec["template"].setdefault("metadata", {})
            metadata["annotations"] = {**(metadata.get("annotations") or {}), actions.RESTARTED_AT: "now"}
        elif what == "undo":
            _undo(world, item, int(parsed.flags.get("to-revision") or 0))
        else:
            raise UnknownCommandError(f"rollout {what}")
    yield world


def _undo(world: World, item: Plain, revision: int) -> None:
    """Take the template of an older revision: the one before, or the one named."""
    if item["kind"] != "Deployment":
        raise UnknownCommandError(f"rollout undo of a {item['kind']}")
    sets = deployment.sets_of(world, item)
    known = {deployment.revision_of(other): other for other in sets.old}
    wanted = known.get(revision) if revision else known.get(max(known, default=0))
    if wanted is None:
        raise patching.PatchError("no rollout history found")
    item["spec"]["template"] = copy.deepcopy(wanted["spec"]["template"])
    item["spec"]["template"]["metadata"]["labels"].pop(deployment.HASH, None)


def _apply(world: World, parsed: Words, document: str) -> Iterator[World]:
    """Apply or create what stands in the document after the command."""
    if parsed.verb == "create" and parsed.rest[:1] == ["job"] and "from" in parsed.flags:
        _, name = parsed.rest
        create_job(world, parsed.flags["from"], name, parsed.namespace)
        yield world
        return
    if not document:
        raise UnknownCommandError("a file that is not there")
    for item in YAML(typ="safe", pure=True).load_all(document):
        for one in item["items"] if item["kind"] == "List" else [item]:
            if parsed.verb == "apply":
                actions.apply(world, one, namespace=parsed.namespace)
            else:
                admission.create(world, one, namespace=parsed.namespace)
    yield world


def create_job(world: World, source: str, name: str, namespace: str) -> None:
    """`kubectl create job NAME --from=cronjob/SOURCE`: the CronJob owns it."""
    item = _found(world, "CronJob", source.partition("/")[2], namespace)
    template = item["spec"]["jobTemplate"]
    metadata = {**copy.deepcopy(template.get("metadata") or {}), "name": name, "namespace": namespace}
    metadata["ownerReferences"] = [owner_reference(item)]
    spec = copy.deepcopy(template["spec"])
    admission.create(world, {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec})


def _replaced(world: World, pipe: list[str]) -> Iterator[World]:
    """`kubectl get ... | kubectl patch --local ... | kubectl replace --force`: deleted, and created changed."""
    get, *edits, last = map(words, pipe)
    if get.verb != "get" or last.verb != "replace" or any(edit.verb != "patch" for edit in edits):
        raise UnknownCommandError(" | ".join(pipe))
    ((kind, name),) = references(get)
    before = _found(world, kind, name, get.namespace)
    item = shown(before)
    for edit in edits:
        item = actions.patched(item, json.loads(edit.flags["patch"]), kind=edit.flags.get("type") or "strategic")
    if "force" not in last.flags:
        raise UnknownCommandError(" | ".join(pipe))
    actions.delete(world, before)
    world.script = (("wait", before["metadata"]["uid"]), ("kubectl-create", json.dumps(item)), *world.script)
    yield world


def shown(item: Plain) -> Plain:
    """What `kubectl get -o json` prints of an object."""
    item = copy.deepcopy(item)
    if item["kind"] == "Job" and not item["spec"].get("manualSelector"):
        validation.write_selector(item)
    return item


def create_again(world: World, text: str) -> Iterator[World]:
    """The part of `kubectl replace --force` that creates the object."""
    item = json.loads(text)
    for field in ("uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "generation"):
        item["metadata"].pop(field, None)
    item.pop("status", None)
    validation.create(item)
    stored = admission.create(world, item)
    if stored["kind"] == "PersistentVolumeClaim":
        stored["status"] = {"phase": "Pending"}
    yield world


_VERBS: dict[str, Any] = {
    "patch": _patch,
    "delete": _delete,
    "label": _label,
    "annotate": _label,
    "cordon": _cordon,
    "uncordon": _cordon,
    "taint": _taint,
    "scale": _scale,
    "rollout": _rollout,
    "apply": _apply,
    "create": _apply,
}
