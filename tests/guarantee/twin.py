"""A slow judge of policies: every order of events on plain data, without bounds, symmetry or merged workloads.

A case is a dict: `nodes` (name to labels, `taint`, `slots`), `workloads` and `rules`. A state is a tuple of pods
(workload, revision, node or None), the sizes of old and new ReplicaSets, the wanted replicas, and the disruption. Pods
of a StatefulSet have (ordinal, revision) instead, and its sizes are whether it is rolled out, and the ordinals that are
of the new revision. What Kubernetes does is written here once more, from the descriptions of its controllers.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any, Optional

Case = dict[str, Any]
REGIMES = ("creation", "restarts", "rollouts", "scaling", "disruptions")


def fullest_first(pods: list[Any], rank: Counter[Any], number: int) -> Iterator[list[Any]]:
    """Yield the choices of pods that a ReplicaSet deletes: those on nodes with the most pods first."""
    ranked = sorted(pods, key=lambda pod: -rank[pod[2]])
    last = rank[ranked[number - 1][2]]
    certain = [pod for pod in ranked if rank[pod[2]] > last]
    tied = [pod for pod in ranked if rank[pod[2]] == last]
    for rest in combinations(tied, number - len(certain)):
        yield [*certain, *rest]


class Twin:
    """All states of a case in one regime."""

    def __init__(self, case: Case, regime: str) -> None:
        self.case = case
        self.nodes: dict[str, Any] = case["nodes"]
        self.workloads: dict[str, Any] = case["workloads"]
        self.level = REGIMES.index(regime)

    # The scheduler.

    def is_open(self, node: str, state: dict[str, Any]) -> bool:
        """No taint keeps the pods away: neither an old one nor one of the disruption."""
        return not self.nodes[node].get("taint") and node not in state["closed"]

    def is_counted(self, node: str, constraint: dict[str, Any], name: str, state: dict[str, Any]) -> bool:
        keys = [item["key"] for item in self.workloads[name]["constraints"]]
        if not all(key in self.nodes[node]["labels"] for key in keys):
            return False
        return not constraint.get("honor") or self.is_open(node, state)

    def fits(self, name: str, revision: Any, node: str, state: dict[str, Any]) -> bool:
        if not self.is_open(node, state):
            return False
        spec = self.workloads[name]
        pods = [pod for pod in state["pods"] if pod[2] is not None]
        if sum(pod[2] == node for pod in pods) >= self.nodes[node].get("slots", 100):
            return False
        if any(self.is_beside(name, node, key, pods) for key in spec.get("apart", ())):
            return False
        return all(
            self.is_within_skew((name, revision), node, constraint, state=state) for constraint in spec["constraints"]
        )

    def is_beside(self, name: str, node: str, key: str, pods: list[Any]) -> bool:
        """A pod of the same workload is in the node's domain."""
        domain = self.nodes[node]["labels"].get(key)
        others = {self.nodes[pod[2]]["labels"].get(key) for pod in pods if pod[0] == name}
        return domain is not None and domain in others

    def is_within_skew(
        self, who: tuple[str, Any], node: str, constraint: dict[str, Any], *, state: dict[str, Any]
    ) -> bool:
        name, revision = who
        key = constraint["key"]
        labels = self.nodes[node]["labels"]
        if key not in labels:
            return False
        counted = [other for other in self.nodes if self.is_counted(other, constraint, name, state)]
        counts = dict.fromkeys((self.nodes[other]["labels"][key] for other in counted), 0)
        for pod in state["pods"]:
            if pod[2] in counted and self.is_seen(name, revision, constraint, pod):
                counts[self.nodes[pod[2]]["labels"][key]] += 1
        least = 0 if len(counts) < constraint.get("min", 1) else min(counts.values(), default=10**9)
        return counts.get(labels[key], 0) + 1 - least <= int(constraint["skew"])

    def is_seen(self, name: str, revision: Any, constraint: dict[str, Any], other: Any) -> bool:
        if not constraint.get("all") and other[0] != name:
            return False
        if not constraint.get("revision"):
            return True
        if self.is_stateful(name):
            return bool(other[0] == name and other[1][1] == revision[1])
        return bool(other[0] == name and other[1] == revision)

    # States.

    def start(self) -> tuple[Any, ...]:
        pods: list[Any] = []
        sizes: dict[str, Any] = {}
        wanted = {}
        for name, spec in self.workloads.items():
            wanted[name] = 0 if spec.get("is_extra") else spec["replicas"]
            sizes[name] = (False, ()) if spec.get("stateful") else (wanted[name], 0)
        return self.frozen({"pods": pods, "sizes": sizes, "wanted": wanted, "closed": (), "lost": False, "loss": None})

    def frozen(self, state: dict[str, Any]) -> tuple[Any, ...]:
        pods = sorted((pod for pod in state["pods"] if pod[2] is not None), key=repr)
        return (
            tuple(pods), tuple(state["sizes"].items()), tuple(state["wanted"].items()), tuple(state["closed"]),
            state["lost"], state["loss"],
        )  # fmt: skip

    def thawed(self, frozen: tuple[Any, ...]) -> dict[str, Any]:
        pods, sizes, wanted, closed, lost, loss = frozen
        return {
            "pods": list(pods), "sizes": dict(sizes), "wanted": dict(wanted), "closed": closed, "lost": lost,
            "loss": loss,
        }  # fmt: skip

    def is_stateful(self, name: str) -> bool:
        return bool(self.workloads[name].get("stateful"))

    def is_rolling(self, name: str, state: dict[str, Any]) -> bool:
        if not self.is_stateful(name):
            return bool(state["sizes"][name][1])
        marked, new = state["sizes"][name]
        return bool(marked) and any(number not in new for number in range(state["wanted"][name]))

    def placed(self, name: str, state: dict[str, Any], revision: Any = None) -> list[Any]:
        return [pod for pod in state["pods"] if pod[0] == name and (revision is None or pod[1] == revision)]

    def waiting(self, state: dict[str, Any]) -> list[tuple[str, Any]]:
        """Return workload and revision, or ordinal, of the pods that wait."""
        found: list[tuple[str, Any]] = []
        for name, spec in self.workloads.items():
            if self.is_stateful(name):
                there = {pod[1][0] for pod in self.placed(name, state)}
                new = state["sizes"][name][1]
                numbers = [number for number in range(state["wanted"][name]) if number not in there]
                missing = [(number, "new" if number in new else "old") for number in numbers]
                if not spec.get("parallel"):
                    missing = [] if self.is_held_up(name, state, numbers[:1]) else missing[:1]
                found += [(name, number) for number in missing]
                continue
            for revision, size in zip(("old", "new"), state["sizes"][name], strict=True):
                found += [(name, revision)] * (size - len(self.placed(name, state, revision)))
        return found

    def is_held_up(self, name: str, state: dict[str, Any], numbers: list[int]) -> bool:
        """A pod before the next one is on a lost node, so it is not ready."""
        dead = state["closed"] if state["lost"] else ()
        return any(pod[2] in dead and pod[1][0] < number for pod in self.placed(name, state) for number in numbers)

    def condemned(self, state: dict[str, Any]) -> list[Any]:
        return [
            pod
            for name in self.workloads
            for pod in self.placed(name, state)
            if self.is_deleted(name, state) or (self.is_stateful(name) and pod[1][0] >= state["wanted"][name])
        ]

    def is_deleted(self, name: str, state: dict[str, Any]) -> bool:
        """A shard was deleted as a whole, or never existed."""
        return "shards" in self.case and not state["wanted"][name]

    def is_at_rest(self, state: dict[str, Any]) -> bool:
        is_rolling = any(self.is_rolling(name, state) for name in self.workloads)
        return not self.waiting(state) and not is_rolling and not self.condemned(state)

    # Events: by themselves, and from outside.

    def after(self, frozen: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        state = self.thawed(frozen)
        return [*self.by_themselves(state), *self.from_outside(state)]

    def by_themselves(self, state: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
        for name, revision in dict.fromkeys(self.waiting(state)):
            for node in self.nodes:
                if self.fits(name, revision, node, state):
                    yield self.frozen({**state, "pods": [*state["pods"], (name, revision, node)]})
        if state["loss"] is not None:
            for pod in state["pods"]:
                if pod[2] in state["closed"]:
                    yield self.without(state, [pod])
            return
        for name in self.workloads:
            yield from self.controlled(state, name)

    def controlled(self, state: dict[str, Any], name: str) -> Iterator[tuple[Any, ...]]:
        """What the controller of a workload does next."""
        if self.is_deleted(name, state):
            for pod in self.placed(name, state):  # The garbage collector has no order.
                yield self.without(state, [pod])
        elif self.is_stateful(name):
            yield from self.scaled_in(state, name)
            yield from self.updated(state, name)
        elif self.is_rolling(name, state):
            yield from self.rolled(state, name)

    def without(self, state: dict[str, Any], gone: list[Any], **changes: Any) -> tuple[Any, ...]:
        left = list(state["pods"])
        for pod in gone:
            left.remove(pod)
        return self.frozen({**state, "pods": left, **changes})

    def scaled_in(self, state: dict[str, Any], name: str) -> Iterator[tuple[Any, ...]]:
        mine = [pod for pod in self.condemned(state) if pod[0] == name]
        if not mine:
            return
        if self.workloads[name].get("parallel"):
            for pod in mine:
                yield self.without(state, [pod])
        elif not any(other == name for other, _ in self.waiting(state)):
            yield self.without(state, [max(mine, key=lambda pod: pod[1])])

    def updated(self, state: dict[str, Any], name: str) -> Iterator[tuple[Any, ...]]:
        """Delete the highest pod of the old revision once those above it are ready; end with the last one."""
        marked, new = state["sizes"][name]
        if not marked:
            return
        wanted = state["wanted"][name]
        there = {pod[1][0]: pod for pod in self.placed(name, state)}
        is_blocked = any(who == name for who, _ in self.waiting(state)) or any(number >= wanted for number in there)
        if self.workloads[name].get("parallel") or not is_blocked:
            for number in reversed(range(wanted)):
                if number not in new:
                    gone = [there[number]] if number in there else []
                    sizes = {**state["sizes"], name: (True, tuple(sorted((*new, number))))}
                    yield self.without(state, gone, sizes=sizes)
                    break
                if number not in there:
                    break
        if all(number in new and number in there for number in range(wanted)):
            pods = [(pod[0], (pod[1][0], "old"), pod[2]) if pod[0] == name else pod for pod in state["pods"]]
            yield self.frozen({**state, "pods": pods, "sizes": {**state["sizes"], name: (False, ())}})

    def deleted(self, state: dict[str, Any], pod: Any) -> tuple[Any, ...]:
        """Delete a pod, which is created again; in a StatefulSet's rollout, with the new revision."""
        name, number = pod[0], pod[1]
        if self.is_stateful(name) and state["sizes"][name][0] and number[1] == "old":
            new = tuple(sorted((*state["sizes"][name][1], number[0])))
            return self.without(state, [pod], sizes={**state["sizes"], name: (True, new)})
        return self.without(state, [pod])

    def fenceposts(self, name: str, wanted: int) -> tuple[int, int]:
        surge, unavailable = self.workloads[name].get("surge", 1), self.workloads[name].get("unavailable", 0)
        return surge, min(wanted, unavailable if surge or unavailable else 1)

    def rolled(self, state: dict[str, Any], name: str) -> Iterator[tuple[Any, ...]]:
        """Lower the size of the old ReplicaSet as far as enough others are available, and raise that of the new one.

        New pods may be placed before the surplus old ones are deleted. A rollout ends when no old one is left.
        """
        old, new = state["sizes"][name]
        wanted = state["wanted"][name]
        surge, unavailable = self.fenceposts(name, wanted)
        olds, news = self.placed(name, state, "old"), self.placed(name, state, "new")
        if len(olds) > old:
            rank = Counter(pod[2] for pod in (*olds, *news))
            for gone in fullest_first(olds, rank, len(olds) - old):
                yield self.without(state, gone)
            return
        for left in range(max(0, wanted - unavailable - len(news)), old):
            grown = min(wanted, max(new, wanted + surge - left))
            yield self.without(state, [], sizes={**state["sizes"], name: (left, grown)})
        if not old and new == wanted == len(news):
            pods = [(name, "old", pod[2]) if pod[0] == name else pod for pod in state["pods"]]
            yield self.frozen({**state, "pods": pods, "sizes": {**state["sizes"], name: (wanted, 0)}})

    def from_outside(self, state: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
        if state["loss"] is not None:
            yield self.frozen({**state, "closed": (), "lost": False, "loss": None})
            return
        if self.level >= 1:
            for pod in state["pods"]:
                yield self.deleted(state, pod)
        if self.level >= 2:
            for name in self.workloads:
                yield from self.rollout(state, name)
        if self.level >= 3:
            for name in self.workloads:
                yield from self.scaled(state, name)
        if self.level >= 4 and self.is_at_rest(state):
            for lost, key, closed in self.disruptions():
                yield self.frozen({**state, "closed": closed, "lost": lost, "loss": key})

    def rollout(self, state: dict[str, Any], name: str) -> Iterator[tuple[Any, ...]]:
        wanted = state["wanted"][name]
        if self.is_stateful(name) and wanted and not state["sizes"][name][0]:
            yield self.frozen({**state, "sizes": {**state["sizes"], name: (True, ())}})
        if self.is_stateful(name) or self.is_rolling(name, state) or not wanted:
            return
        surge = self.fenceposts(name, wanted)[0]
        if surge:
            yield self.frozen({**state, "sizes": {**state["sizes"], name: (wanted, min(wanted, surge))}})
            return
        # A new ReplicaSet of size 0 is not a state of its own here: the first old pod goes at once.
        rolling = {**state, "sizes": {**state["sizes"], name: (wanted, 0)}}
        yield from self.rolled(rolling, name)

    def sharded(self, state: dict[str, Any], name: str) -> Iterator[tuple[Any, ...]]:
        """A whole workload is created or deleted; the names of its pods must be free."""
        least, most = self.case["shards"]
        number = sum(wanted > 0 for wanted in state["wanted"].values())
        spec = self.workloads[name]
        is_marked = bool(state["sizes"][name][0]) if self.is_stateful(name) else self.is_rolling(name, state)
        if is_marked or (number <= least if state["wanted"][name] else number >= most):
            return
        if not state["wanted"][name] and self.placed(name, state):
            return
        wanted = 0 if state["wanted"][name] else spec["replicas"]
        sizes = state["sizes"][name] if self.is_stateful(name) else (wanted, 0)
        changes = {"wanted": {**state["wanted"], name: wanted}, "sizes": {**state["sizes"], name: sizes}}
        yield self.without(state, [], **changes)

    def scaled(self, state: dict[str, Any], name: str) -> Iterator[tuple[Any, ...]]:
        if "shards" in self.case:
            yield from self.sharded(state, name)
            return
        if "range" not in self.workloads[name] or self.is_rolling(name, state):
            return
        if self.is_stateful(name) and state["sizes"][name][0]:
            return
        least, most = self.workloads[name]["range"]
        for wanted in range(least, most + 1):
            if wanted == state["wanted"][name]:
                continue
            changes = {"wanted": {**state["wanted"], name: wanted}}
            if not self.is_stateful(name):
                changes["sizes"] = {**state["sizes"], name: (wanted, 0)}
            mine = self.placed(name, state)
            surplus = 0 if self.is_stateful(name) else len(mine) - wanted
            if surplus <= 0:
                yield self.without(state, [], **changes)
                continue
            for gone in fullest_first(mine, Counter(pod[2] for pod in mine), surplus):
                yield self.without(state, gone, **changes)

    def disruptions(self) -> Iterator[tuple[bool, str, tuple[str, ...]]]:
        """Yield whether the nodes are lost, the key, and the nodes."""
        for node in self.nodes:
            yield False, "drain", (node,)
        keys = dict.fromkeys(rule["key"] for rule in self.case["rules"] if "key" in rule)
        for key in keys:
            for value in sorted({node["labels"][key] for node in self.nodes.values() if key in node["labels"]}):
                closed = tuple(name for name, node in self.nodes.items() if node["labels"].get(key) == value)
                yield True, key, closed

    # Rules.

    def is_stuck(self, state: dict[str, Any]) -> bool:
        """Pods wait, and nothing happens by itself any more."""
        return bool(self.waiting(state)) and not any(True for _ in self.by_themselves(state))

    def violates(self, rule: dict[str, Any], frozen: tuple[Any, ...]) -> bool:
        state = self.thawed(frozen)
        pods = [pod for pod in state["pods"] if not self.is_deleted(pod[0], state)]
        running = [pod for pod in pods if not (state["lost"] and pod[2] in state["closed"])]
        wanted = sum(state["wanted"].values())
        kind = rule["kind"]
        if kind == "placed":
            return state["loss"] is None and self.is_stuck(state)
        key = rule["key"]
        labels = {name: node["labels"].get(key) for name, node in self.nodes.items()}
        counts = Counter(labels[pod[2]] for pod in running if labels[pod[2]] is not None)
        if kind == "separate":
            own = Counter((pod[0], labels[pod[2]]) for pod in running if labels[pod[2]] is not None)
            return max(own.values(), default=0) > 1
        if kind == "share":
            limit = Fraction(rule["share"]) * max(wanted, len(pods))
            most = max(counts.values(), default=0)
            return bool(most) and (most >= limit if rule["strict"] else most > limit)
        if kind == "domains":
            is_dead = state["lost"] and any(pod[2] in state["closed"] for pod in state["pods"])
            return self.is_at_rest(state) and not is_dead and len(counts) < rule["number"]
        if kind == "replaced":
            is_lost = state["lost"] and state["loss"] == key
            return is_lost and not any(pod[2] in state["closed"] for pod in state["pods"]) and self.is_stuck(state)
        if state["loss"] is not None or not self.is_at_rest(state):
            return False
        return len(running) - max(counts.values(), default=0) < wanted // 2 + 1

    def is_settled(self, frozen: tuple[Any, ...]) -> bool:
        """Nothing happens by itself any more."""
        return not any(True for _ in self.by_themselves(self.thawed(frozen)))

    def distances(self, most: int) -> Optional[tuple[list[Optional[int]], list[Optional[int]]]]:
        """Return the fewest events to a violation of each rule, None without one; None if there are many states.

        The second list has those to a violation that nothing ends by itself.
        """
        rules = self.case["rules"]
        found: list[Optional[int]] = [None] * len(rules)
        settled: list[Optional[int]] = [None] * len(rules)
        seen = {self.start(): 0}
        queue = deque(seen)
        while queue:
            state = queue.popleft()
            for at, rule in enumerate(rules):
                if settled[at] is None and self.violates(rule, state):
                    found[at] = seen[state] if found[at] is None else found[at]
                    settled[at] = seen[state] if self.is_settled(state) else None
            for other in self.after(state):
                if other not in seen:
                    seen[other] = seen[state] + 1
                    queue.append(other)
            if len(seen) > most:
                return None
        return found, settled
