"""Suggestions for manifests that are yet to be applied: edited as a suggestion says, applied, and left to run."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Optional

from kubectl_spread.cli import main
from tests.judge import judging, living
from tests.judge.judging import Owner, Plain, Trial
from tests.naive import objects
from tests.naive.controllers import actions, explore, kubectl, patching
from tests.naive.controllers.world import World

_STEPS = 1200
_WORKLOADS = ("Deployment", "StatefulSet", "ReplicaSet", "Job")


def judged(facts: list[Plain], manifests: list[Plain], folder: Path, *, most: int, walks: int) -> Iterator[str]:
    """Yield a line for everything that a suggestion for manifests promises in vain.

    Args:
        facts: the objects of the cluster.
        manifests: what is to be applied to it.
        folder: where files may be written.
        most: suggestions for one workload.
        walks: ways to carry out each of them.
    """
    for document in explained(facts, manifests, folder, most=most):
        name, namespace = document["pod"]["name"], document["pod"]["namespace"]
        own = _owner(manifests, name, namespace)
        if own is None or not document["suggestions"]:
            continue
        chance = random.Random(1)
        case = _case(facts, manifests, own, walks=walks, chance=chance)
        for suggestion in document["suggestions"]:
            trials = [_carried_out(case.world, manifests, suggestion, chance) for _ in range(walks)]
            for text in dict.fromkeys(judging.faults_of(case, suggestion, trials)):
                yield f"{name}: {suggestion['title']}: {text}"


def explained(facts: list[Plain], manifests: list[Plain], folder: Path, *, most: int) -> list[Plain]:
    """The documents about the pods of manifests."""
    paths = folder / "facts.json", folder / "manifests.json"
    for path, items in zip(paths, (facts, manifests), strict=True):
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), "utf-8")
    words = ["explain", "-f", str(paths[1]), "--snapshot", str(paths[0]), "-o", "json", "--suggestions", str(most)]
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        main.run(words)
    if not out.getvalue():
        return []
    document = json.loads(out.getvalue())
    found: list[Plain] = document.get("items", [document])
    return found


def _owner(manifests: list[Plain], pod: str, namespace: str) -> Optional[Owner]:
    """The workload of a pod, by its name."""
    named = [item for item in manifests if item["kind"] in _WORKLOADS and pod.startswith(f"{_name(item)}-")]
    best = max(named, key=lambda item: len(_name(item)), default=None)
    return None if best is None else (namespace, best["kind"], _name(best))


def _name(item: Plain) -> str:
    return str(item["metadata"]["name"])


def _case(facts: list[Plain], manifests: list[Plain], own: Owner, *, walks: int, chance: random.Random) -> judging.Case:
    """The cluster before, and what waits of others where the manifests are applied as they are."""
    world = living.world_of(facts)
    baseline: Counter[Owner] = Counter()
    for _ in range(walks):
        trial = _applied(world.copy(), manifests, chance)
        if trial.end is not None:
            baseline |= judging.moment(trial.end).waiting
    return judging.Case(world, own, judging.moment(world, own), baseline, is_known=True)


def _carried_out(world: World, manifests: list[Plain], suggestion: Plain, chance: random.Random) -> Trial:
    """Change the cluster, edit the manifests, and apply them."""
    after, edited = world.copy(), copy.deepcopy(manifests)
    try:
        for change in suggestion["changes"]:
            at = [number for number, item in enumerate(edited) if (item["kind"], _name(item)) == _key(change)]
            if at and "patch" in change:
                edited[at[0]] = patching.json_patched(edited[at[0]], change["patch"])
            else:
                judging.carry_out(after, change)
    except (patching.PatchError, kubectl.UnknownCommandError) as error:
        return Trial(None, False, str(error))
    return _applied(after, edited, chance)


def _key(change: Plain) -> tuple[str, str]:
    return change["kind"], change["name"]


def _applied(world: World, manifests: list[Plain], chance: random.Random) -> Trial:
    try:
        for item in manifests:
            actions.apply(world, copy.deepcopy(item))
        end, is_steady = explore.walk(world, chance, most=_STEPS)
    except (patching.PatchError, kubectl.UnknownCommandError) as error:
        return Trial(None, False, str(error))
    return Trial(end, is_steady)


def taken_out(items: list[Plain]) -> tuple[list[Plain], list[Plain]]:
    """A cluster without its first workload and what that made, and the workload as a manifest."""
    kinds = [item for kind in _WORKLOADS for item in items if item["kind"] == kind]
    first = next(item for item in kinds if not objects.controller_of(item))
    gone = {first["metadata"].get("uid")}
    for _ in range(2):  # its ReplicaSets, their pods
        gone |= {item["metadata"].get("uid") for item in items if objects.controller_of(item).get("uid") in gone}
    facts = [item for item in items if item["metadata"].get("uid") not in gone]
    metadata = {key: first["metadata"][key] for key in ("name", "namespace", "labels") if key in first["metadata"]}
    left_out = ("selector", "paused") if first["kind"] == "Job" else ("paused",)
    spec = {key: value for key, value in first["spec"].items() if key not in left_out}
    manifest = {"apiVersion": first["apiVersion"], "kind": first["kind"], "metadata": metadata, "spec": spec}
    return facts, [manifest]
