"""Recordings of a real control plane: their clusters, their steps, and their states as a world shows them."""

from __future__ import annotations

import copy
import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Optional

from tests.naive import objects
from tests.naive.controllers import actions, admission, deployment, explore, job, statefulset
from tests.naive.controllers.world import hashed, is_ready, Settings, World

Plain = dict[str, Any]


# A recording goes on once nothing has happened for about two seconds.
_PATIENCE_S = 2


class Seen(NamedTuple):
    """A pod as recordings show it."""

    owner: str
    revision: int
    ordinal: int
    node: str
    ready: bool
    terminating: bool


State = tuple[Seen, ...]


def texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the name of each scenario and its text: thousands of lines are parsed when they are needed."""
    for path in sorted(folder.glob("*.ndjson.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                name = re.match(r'\{"id":"([^"]*)"', line)
                yield (name[1] if name else json.loads(line)["id"]), line


def start(scenario: Plain) -> World:
    """The cluster before the first step."""
    world = World(Settings(configuration=scenario.get("schedulerConfig"), patience_s=_PATIENCE_S))
    for item in scenario["objects"]:
        admission.create(world, _placed(item))
    return world


def _placed(item: Plain) -> Plain:
    """All namespaces of recordings are one."""
    item = copy.deepcopy(item)
    item["metadata"].pop("namespace", None)
    if item["kind"] == "Node":
        item["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    reference = (item.get("spec") or {}).get("claimRef")
    if reference:
        reference["namespace"] = "default"
    return item


def script(step: Plain, number: int) -> tuple[actions.Action, ...]:
    step = dict(step)
    for verb in ("apply", "addNodes"):
        if verb in step:
            step[verb] = [_placed(item) for item in step[verb]]
    return actions.script_of(step, number)


def begin(world: World, step: Plain, number: int) -> World:
    """The moment at which a step begins; what was left of the step before is given up."""
    after = world.copy()
    after.drain = None
    after.script = script(step, number)
    return after


def revisions(scenario: Plain) -> dict[tuple[str, str], list[str]]:
    """Templates by workload, in the order in which they are first used."""
    world = start({**scenario, "objects": []})
    found: dict[tuple[str, str], list[str]] = {}
    for number, step in enumerate(scenario["steps"]):
        for verb, argument in script(step, number):
            if verb not in ("apply", "patch", "restart") or argument["kind"] not in _TEMPLATED:
                continue
            world.script = ((verb, argument),)
            (world,) = actions.sync(world)
            for kind in _TEMPLATED:
                for item in world.list(kind):
                    names = found.setdefault((kind, item["metadata"]["name"]), [])
                    if template_name(item) not in names:
                        names.append(template_name(item))
    return found


_TEMPLATED = ("Deployment", "StatefulSet", "DaemonSet", "Job")
_LABELS = {"Deployment": deployment.HASH, "StatefulSet": statefulset.REVISION, "DaemonSet": statefulset.REVISION}


def template_name(item: Plain) -> str:
    """What the pods of a workload's template carry in their revision label."""
    if item["kind"] == "Deployment":
        return hashed(deployment.template_of(item))
    short = hashed(item["spec"]["template"])
    return f"{item['metadata']['name']}-{short}" if item["kind"] == "StatefulSet" else short


def seen(world: World, names: dict[tuple[str, str], list[str]]) -> State:
    """The state of a moment."""
    return tuple(sorted(_seen(world, pod, names) for pod in world.pods()))


def _seen(world: World, pod: Plain, names: dict[tuple[str, str], list[str]]) -> Seen:
    kind, name = actions.owner_of(world, pod)
    revision, ordinal = 1, -1
    if kind in _LABELS:
        label = objects.labels_of(pod).get(_LABELS[kind], "")
        revision = names[kind, name].index(label) + 1 if label in names.get((kind, name), []) else 0
    if kind == "StatefulSet":
        ordinal = statefulset.ordinal_of(pod)
    elif job.INDEX in objects.annotations_of(pod):
        ordinal = int(objects.annotations_of(pod)[job.INDEX])
    owner = f"{kind}/{name}" if kind != "Pod" else "Pod"
    node = pod["spec"].get("nodeName") or ""
    return Seen(owner, revision, ordinal, node, is_ready(pod), objects.is_terminating(pod))


def recorded(state: Plain) -> State:
    return tuple(sorted(_recorded(pod) for pod in state["pods"]))


def _recorded(pod: Plain) -> Seen:
    owner = "Pod" if pod["owner"].startswith("Pod/") else pod["owner"]
    ordinal = pod.get("ordinal", pod.get("index", -1))
    node = pod["node"] or ""
    return Seen(owner, pod["revision"], ordinal, node, pod["ready"], bool(pod.get("terminating")))


def overlap(target: State, names: dict[tuple[str, str], list[str]]) -> explore.Score:
    """A score: how many pods are where they are to be, less those of the last revisions that are elsewhere."""
    wanted = Counter(item[:4] for item in target)
    last = {item[:3] for item in target}

    def score(world: World) -> float:
        there: Counter[Any] = Counter()
        for pod in world.pods():
            if not objects.is_terminating(pod) and pod["spec"].get("nodeName"):
                there[_seen(world, pod, names)[:4]] += 1
        elsewhere = there - wanted
        return sum((there & wanted).values()) - 0.5 * sum(elsewhere[key] for key in elsewhere if key[:3] in last)

    return score


class Reached(NamedTuple):
    """Moments that show a recorded state, and how many walks it took."""

    worlds: list[World]
    walks: int


def reach(
    worlds: list[World], target: Plain, names: dict[tuple[str, str], list[str]], *, walks: int, chance: random.Random
) -> Reached:
    """Look for moments that show a recorded state, by walks that lean towards it.

    Args:
        worlds: where the step begins.
        target: the recorded state.
        names: revisions.
        walks: how many to try at most.
        chance: decides.
    """
    wanted = recorded(target)
    score = overlap(wanted, names)
    found: dict[Any, World] = {}
    for number in range(walks):
        keen = chance.choice((0.7, 0.9, 0.97, 1.0))
        world = _walk(chance.choice(worlds), chance, wanted, names=names, target=target, score=score, keen=keen)
        if world is not None:
            found.setdefault(world.key(), world)
        if found and (len(found) >= _ENOUGH or number >= _MORE * len(found)):
            return Reached(list(found.values()), number + 1)
    return Reached(list(found.values()), walks)


_ENOUGH = 3
_MORE = 6


def _walk(
    world: World, chance: random.Random, wanted: State, *, names: Any, target: Plain, score: Any, keen: float
) -> Optional[World]:
    """The moment at which the state is seen; an unsettled one may be any, one with priorities any after the script."""
    tempo = chance.choice(explore._TEMPOS)
    is_loose = bool(target.get("unsettled")) or any(item.get("value") for item in world.list("PriorityClass"))
    for _ in range(2000 if not target.get("unsettled") else 300):
        after = explore.step(world, chance, tempo=tempo, score=score, keen=keen)
        if after is None:
            return world if seen(world, names) == wanted else None
        is_over = is_loose and not after.script and after.drain is None
        if is_over and seen(after, names) == wanted and (target.get("unsettled") or _only_preempts(after)):
            return after
        world = after
    return None


def _only_preempts(world: World) -> bool:
    """Whether nobody but the scheduler has anything to do."""
    return not any(True for actor in explore.actors(world) if actor.sort != "scheduler" for _ in actor.sync())


def outcomes(scenario: Plain, number: int, worlds: list[World], *, limit: int) -> tuple[set[State], explore.Space]:
    """All states at which a step may end."""
    names = revisions(scenario)
    space = explore.explore([begin(world, scenario["steps"][number], number) for world in worlds], limit=limit)
    return {seen(world, names) for world in space.steady}, space


def replay(scenario: Plain, run: list[Plain], *, walks: int, seed: int = 1) -> int:
    """How many states of a run are found one after another; all of them where the run is a way of the model."""
    chance = random.Random(seed)
    names = revisions(scenario)
    worlds = [start(scenario)]
    for number, target in enumerate(run):
        begun = [begin(world, scenario["steps"][number], number) for world in worlds]
        worlds = reach(begun, target, names, walks=walks, chance=chance).worlds
        if not worlds:
            return number
    return len(run)
