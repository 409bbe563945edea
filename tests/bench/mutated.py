"""The engine over time and the slow controllers on recorded scenarios that were changed at random.

`python -m tests.bench.mutated FOLDER [FIRST LAST [priorities]]` changes strategies, policies, budgets and numbers of
replicas, lets both look at every outcome of each step, and prints where they differ. Exits with 1 where they do. With
`priorities`, some workloads get a priority class, too, so that pods may be preempted.
"""

from __future__ import annotations

import copy
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional

from kubectl_spread.engine.search import explore
from kubectl_spread.engine.search.explore import Budget
from kubectl_spread.engine.state import State
from tests.naive.controllers import recordings as slow
from tests.timeline import recordings
from tests.timeline.reaching import Follower

Plain = dict[str, Any]
LIMIT = 1500  # states of a step, on each side
STEPS = 3


def _rolling(surge: Any, unavailable: Any) -> Plain:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


STRATEGIES = [_rolling(1, 0), _rolling(0, 1), _rolling(2, 1), _rolling("50%", "50%"), {"type": "Recreate"}]


def mutated(plain: Plain, chance: random.Random) -> Plain:
    """Return a scenario in which one thing of each workload is another."""
    plain = copy.deepcopy(plain)
    plain["steps"] = plain["steps"][:STEPS]
    changes = {
        key: chance.choice(_CHANGES) for key in sorted({_name(item) for item in _applied(plain) if "spec" in item})
    }
    seed = chance.random()
    for item in _applied(plain):
        if _name(item) in changes:
            changes[_name(item)](item, random.Random(f"{seed}{_name(item)}"))
    return plain


def with_priorities(plain: Plain, chance: random.Random) -> Plain:
    """Return a scenario in which some workloads have a higher priority than others."""
    plain = copy.deepcopy(plain)
    plain["objects"] = [*plain["objects"], _HIGH]
    for name in sorted({_name(item) for item in _applied(plain) if "template" in item.get("spec", {})}):
        if chance.random() < 0.5:
            for item in _applied(plain):
                if _name(item) == name and "template" in item.get("spec", {}):
                    item["spec"]["template"].setdefault("spec", {})["priorityClassName"] = _HIGH["metadata"]["name"]
    return plain


_HIGH: Plain = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "mutated-high"},
    "value": 1000,
}


def _applied(plain: Plain) -> list[Plain]:
    return [item for step in plain["steps"] for item in step.get("apply", [])]


def _name(item: Plain) -> str:
    return f"{item['kind']}/{item['metadata']['name']}"


def _strategy(item: Plain, chance: random.Random) -> None:
    if item["kind"] == "Deployment":
        item["spec"]["strategy"] = chance.choice(STRATEGIES)
    elif item["kind"] == "StatefulSet":
        item["spec"]["updateStrategy"] = chance.choice(
            [{"type": "OnDelete"}, {"type": "RollingUpdate", "rollingUpdate": {"partition": chance.choice([1, 2])}}]
        )
    elif item["kind"] == "DaemonSet":
        item["spec"]["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "50%"}}


def _policy(item: Plain, chance: random.Random) -> None:
    if item["kind"] == "StatefulSet":
        item["spec"]["podManagementPolicy"] = chance.choice(["Parallel", "OrderedReady"])
    else:
        _strategy(item, chance)


def _replicas(item: Plain, chance: random.Random) -> None:
    if "replicas" in item["spec"]:
        item["spec"]["replicas"] = max(1, item["spec"]["replicas"] + chance.choice([-1, 1]))


def _budget(item: Plain, chance: random.Random) -> None:
    if item["kind"] == "PodDisruptionBudget":
        item["spec"].pop("minAvailable", None)
        item["spec"]["maxUnavailable"] = chance.choice([0, 1, "50%"])
    else:
        _strategy(item, chance)


_CHANGES: list[Callable[[Plain, random.Random], None]] = [_strategy, _policy, _replicas, _budget]


def differences(plain: Plain) -> Optional[str]:
    """Return where the two differ; empty if they agree, None if a step has too many states."""
    follower = Follower(plain, max_states=LIMIT, keeps_ordinals=True)
    ours: list[State] = [State((), (), 0)]
    worlds = [slow.start(plain)]
    for number in range(len(plain["steps"])):
        starts = [follower.start(state, number) for state in ours]
        found = explore.everything(follower.moves, starts, canonical=lambda state: state, budget=Budget(LIMIT))
        if not found.is_exhaustive:
            return None
        ours = list(found.steady)
        theirs, space = slow.outcomes(plain, number, worlds, limit=LIMIT)
        if not space.is_complete:
            return None
        worlds = space.steady
        mine = {_shown(follower, state) for state in ours}
        theirs = {_nameless(state) for state in theirs}
        if mine != theirs:
            lines = [f"step {number + 1}, {len(mine)} and {len(theirs)} outcomes"]
            lines += [f"only the engine: {_brief(state)}" for state in sorted(mine - theirs)[:1]]
            lines += [f"only the slow one: {_brief(state)}" for state in sorted(theirs - mine)[:1]]
            return "\n  ".join(lines)
    return ""


def _nameless(state: slow.State) -> slow.State:
    """Return a state without ordinals: the engine takes one of the orders in which equal pods got theirs."""
    return tuple(sorted(pod._replace(ordinal=-1) for pod in state))


def _shown(follower: Follower, state: State) -> slow.State:
    pods = recordings.told(follower.world, state).elements()
    return tuple(
        sorted(
            slow.Seen(
                "Pod" if pod.owner.startswith("Pod/") else pod.owner,
                pod.revision,
                -1,
                pod.node or "",
                pod.is_ready,
                pod.is_terminating,
            )
            for pod in pods
        )
    )


def _brief(state: slow.State) -> str:
    return ", ".join(
        f"{pod.owner}#{pod.revision}@{pod.node or '-'}{'' if pod.ready else '!'}{'T' if pod.terminating else ''}"
        for pod in state
    )


def main(folder: str, first: str = "0", last: str = "1000", priorities: str = "") -> int:
    counts: Counter[str] = Counter()
    for at, plain in enumerate(recordings.read_folder(Path(folder))):
        if not int(first) <= at < int(last):
            continue
        changed = mutated(plain, random.Random(at))
        found = differences(with_priorities(changed, random.Random(at)) if priorities else changed)
        counts["too large" if found is None else "different" if found else "the same"] += 1
        if found:
            print(f"{plain['id']}: {found}", flush=True)
    print(", ".join(f"{text}: {count}" for text, count in sorted(counts.items())))
    return int(counts["different"] > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
