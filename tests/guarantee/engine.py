"""Verdicts on policies against the engine of `simulate`, on random small cases.

The engine has all controllers move by move. Its scheduler has no scores here, so that every node that passes the
filters may be chosen, as in the proofs. The way to each violation is replayed event by event, and no outcome of the
engine may violate a rule that is proved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from itertools import groupby, permutations
from typing import NamedTuple, Optional

from kubectl_spread.engine import reading, steps
from kubectl_spread.engine.loading import load
from kubectl_spread.engine.moves import Moves
from kubectl_spread.engine.oracle import Oracle
from kubectl_spread.engine.search.explore import Limit
from kubectl_spread.engine.state import Deletion, State
from kubectl_spread.guarantee.evaluate import evaluate, GroupPod, GroupState, node_domains
from kubectl_spread.guarantee.model import TransitionKind
from kubectl_spread.guarantee.policy import PolicyRule, Regime, RuleKind
from kubectl_spread.guarantee.prove import prove
from kubectl_spread.guarantee.verdict import ProofStatus, RuleVerdict, Witness, WitnessEvent
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.scheduler.profiles import profiles
from tests.guarantee import cases

NO_SCORES = {"profiles": [{"plugins": {"score": {"disabled": [{"name": "*"}]}}}]}
Places = frozenset[tuple[tuple[int, int], int]]  # number of pods by workload and node
_DEPLOYED = (TransitionKind.ROLLED, TransitionKind.FINISHED)


class Replayed(Enum):
    """Whether the engine can take the way to a violation."""

    ALLOWED = "allowed"
    REFUSED = "refused"
    TOO_LARGE = "too large"


class TooLargeError(Exception):
    """The engine has more states than the limit."""


class EngineCase:
    """A case in the engine: its states, before and after operations."""

    def __init__(self, case: cases.Plain, *, most: int = 20_000) -> None:
        """Load the nodes; the workloads are created by `start`."""
        self.case = case
        self._most = most
        self._cluster = cases.cluster(case)
        self._members = cases.members(case)
        self._world = load(self._cluster, profiles(NO_SCORES), touched=(), nodes=()).world
        self._start = State((), (), 0)
        for member in self._members:
            reading.spec_of(self._world, member.controller)
        self._moves = Moves(self._world, Oracle(self._world))
        self._after: dict[State, list[State]] = {}

    # States of the engine.

    def start(self) -> State:
        """Return the state in which the workloads are created."""
        return self.with_ops(self._start, [steps.Apply(member.controller) for member in self._members])

    def with_ops(self, state: State, ops: Sequence[steps.Op]) -> State:
        """Return a state in which a user does something more."""
        first = len(self._world.ops)
        self._world.ops += ops
        return state._replace(todo=(*state.todo, *(("op", first + at) for at in range(len(ops)))))

    def after(self, state: State) -> list[State]:
        """Return the states after one move."""
        found = self._after.get(state)
        if found is None:
            found = self._after[state] = list(dict.fromkeys(way().state for way in self._moves.after(state)))
        return found

    def places(self, state: State) -> Places:
        """Return the pods that the scheduler counts, by workload and node."""
        pods = [pod for pod in state.pods if pod.node >= 0 and pod.end == Deletion.ALIVE]
        return frozenset(Counter((pod.owner, pod.node) for pod in pods).items())

    def steady(self, starts: Iterable[State]) -> list[State]:
        """Return the states without further moves.

        Raises:
            TooLargeError: there are too many states.
        """
        return [state for state in self._reached(starts) if not self.after(state)]

    def _reached(self, starts: Iterable[State], is_allowed: Optional[Callable[[Places], bool]] = None) -> list[State]:
        """Return the states that moves lead to, through allowed places only."""
        seen = dict.fromkeys(starts)
        queue = list(seen)
        while queue:
            for other in self.after(queue.pop()):
                if other not in seen and (is_allowed is None or is_allowed(self.places(other))):
                    seen[other] = None
                    queue.append(other)
            if len(seen) > self._most:
                raise TooLargeError
        return list(seen)

    # Ways to violations.

    def replayed(self, witness: Witness) -> Replayed:
        """Return whether the engine can take a way, and is stuck at its end if the way says so."""
        beliefs = [self.start()]
        try:
            for events in _in_batches(witness.events):
                beliefs = self._after_batch(beliefs, events)
                if not beliefs:
                    return Replayed.REFUSED
            is_allowed = any(self._ends(state, witness) for state in beliefs)
        except TooLargeError:
            return Replayed.TOO_LARGE
        return Replayed.ALLOWED if is_allowed else Replayed.REFUSED

    def _after_batch(self, beliefs: list[State], events: Sequence[WitnessEvent]) -> list[State]:
        """Return the states after events in their order, or else in another order."""
        for order in permutations(events):
            after = beliefs
            for event in order:
                after = self._follow(after, event)
            if after:
                return after
        return []

    def _follow(self, beliefs: Iterable[State], event: WitnessEvent) -> list[State]:
        """Return the states after an event and moves that place and delete no pod."""
        found: dict[State, None] = {}
        ops = self._ops(event)
        for state in beliefs:
            before = self.places(state)
            wanted = self._wanted(before, event)
            begun = [state, self.with_ops(state, ops)] if ops and self._may_happen_alone(event) else None
            begins = begun or [self.with_ops(state, ops) if ops else state]
            if wanted is None:
                found |= dict.fromkeys(self._shrunk(begins, before, event))
                continue
            if event.kind is TransitionKind.SCALED:
                found |= dict.fromkeys(begins)  # The StatefulSet's controller has not seen the command yet.
            reached = self._reached(begins, frozenset({before, wanted}).__contains__)
            found |= dict.fromkeys(item for item in reached if self.places(item) == wanted and not item.todo)
        return list(found)

    @staticmethod
    def _may_happen_alone(event: WitnessEvent) -> bool:
        """Return whether a controller may delete the pod itself: during a rollout of a Deployment."""
        return event.kind is TransitionKind.RESTARTED

    def _wanted(self, before: Places, event: WitnessEvent) -> Optional[Places]:
        """Return the places after an event; None if it deletes pods on nodes that it does not name."""
        if event.kind is TransitionKind.SCALED and event.owner is not None and event.owner.kind == "Deployment":
            return None
        counts = Counter(dict(before))
        if event.owner is not None and event.node:
            at = (self._world.owner_at[event.owner], self._world.node_names.index(event.node))
            counts[at] += 1 if event.kind is TransitionKind.PLACED else -1
        return frozenset((+counts).items())

    def _shrunk(self, begins: Iterable[State], before: Places, event: WitnessEvent) -> Iterator[State]:
        """Yield the states after a Deployment is scaled: it deletes surplus pods, and none is placed."""
        if event.owner is None:
            return
        owner = self._world.owner_at[event.owner]
        most = dict(before)
        others = {at: count for at, count in before if at[0] != owner}

        def is_less(places: Places) -> bool:
            after = dict(places)
            return others.items() <= after.items() and all(count <= most.get(at, 0) for at, count in places)

        for state in self._reached(begins, is_less):
            number = sum(count for (at, _), count in self.places(state) if at == owner)
            if not state.todo and number <= event.number:
                yield state

    def _ops(self, event: WitnessEvent) -> list[steps.Op]:
        """Return what the user or the environment does in an event."""
        if event.kind is TransitionKind.DISRUPTED:
            nodes = self._nodes(event)
            return [steps.NodesDown(nodes) if event.is_loss else steps.Cordon(nodes)]
        if event.kind is TransitionKind.RETURNED:
            nodes = self._nodes(event)
            return [steps.NodesUp(nodes) if event.is_loss else steps.Cordon(nodes, is_cordoned=False)]
        if event.owner is None:
            return []
        if event.kind in (TransitionKind.RESTARTED, TransitionKind.EVICTED):
            return [steps.DeleteSome(steps.PodMatch(event.owner, node=event.node), 1, is_forced=True)]
        if event.kind is TransitionKind.ROLLED:
            return [steps.Restart(event.owner)]
        if event.kind is TransitionKind.SCALED:
            return [steps.Scale(event.owner, event.number)]
        return []

    def _nodes(self, event: WitnessEvent) -> tuple[str, ...]:
        if not event.is_loss:
            return event.domains
        labels = {name: node["labels"].get(event.topology_key) for name, node in self.case["nodes"].items()}
        return tuple(name for name, value in labels.items() if value in event.domains)

    def _ends(self, state: State, witness: Witness) -> bool:
        """Return whether a state has the numbers of a way's end, and keeps pods Pending if the way says so."""
        changes = [event for event in witness.events if event.domains]
        is_lost = bool(changes) and changes[-1].kind is TransitionKind.DISRUPTED and changes[-1].is_loss
        dead = self._nodes(changes[-1]) if is_lost else ()
        for key, counts in witness.counts.items():
            mine = dict.fromkeys(counts, 0)
            for (_, node), number in self.places(state):
                name = self._world.node_names[node]
                value = self.case["nodes"][name]["labels"].get(key)
                if value is not None and name not in dead:
                    mine[value] += number
            if mine != counts:
                return False
        if witness.waiting_pods is None:
            return True
        return all(any(pod.node < 0 for pod in item.pods) for item in self.steady([state]))

    # Outcomes.

    def situation(self, state: State, rules: Iterable[PolicyRule], desired: int) -> GroupState:
        """Return the pods of a state for the evaluation of rules."""
        pods = [
            GroupPod(self._world.keys[pod.owner], self._world.node_names[pod.node] if pod.node >= 0 else "")
            for pod in state.pods
            if pod.end == Deletion.ALIVE
        ]
        return GroupState(tuple(pods), desired, node_domains(self._cluster, rules))

    def owners(self) -> list[ObjectKey]:
        """Return the workloads."""
        return [member.key for member in self._members]


def _in_batches(events: Iterable[WitnessEvent]) -> Iterator[list[WitnessEvent]]:
    """Yield events one by one, but commands that scale workloads one after the other together.

    Their order makes no difference. But in the engine, a StatefulSet deletes its surplus pods before the next command.
    """
    for is_scaled, batch in groupby(events, key=lambda event: event.kind is TransitionKind.SCALED):
        found = list(batch)
        yield from [found] if is_scaled else [[event] for event in found]


class Compared(NamedTuple):
    """Result of a comparison; differences: texts. replayed: number of ways by their result."""

    differences: tuple[str, ...]
    replayed: Counter[Replayed]
    outcomes: int


def compared(seed: int, regime: str, *, most: int = 20_000) -> Compared:
    """Compare the verdicts on one case with the engine."""
    case = cases.case(seed, regime)
    rules = cases.rules(case)
    result = prove(
        cases.members(case), cases.cluster(case), cases.profiles(), rules,
        regimes=[Regime(regime)], limit=Limit(max_states=300_000),
    )  # fmt: skip
    verdicts = result.results[0].rules
    engine = EngineCase(case, most=most)
    found: list[str] = []
    replayed: Counter[Replayed] = Counter()
    for verdict in verdicts:
        if verdict.witness is not None and not _is_merged_rollout(verdict.witness):
            how = engine.replayed(verdict.witness)
            replayed[how] += 1
            if how is Replayed.REFUSED:
                found.append(f"{seed} {regime} {verdict.rule}: the engine does not allow the way to the violation")
    try:
        ends = _ends(engine, regime, case)
    except TooLargeError:
        return Compared(tuple(found), replayed, 0)
    for state, desired, is_disturbed in ends:
        found += _broken(engine, state, verdicts, desired=desired, is_disturbed=is_disturbed, seed=seed, regime=regime)
    if regime == Regime.CREATION.value:
        found += _never_broken(engine, [state for state, _, _ in ends], verdicts, case=case, seed=seed)
    return Compared(tuple(dict.fromkeys(found)), replayed, len(ends))


def _is_merged_rollout(witness: Witness) -> bool:
    """Return whether the way has a Deployment's rollout, of which the proofs merge events."""
    return any(
        event.kind in _DEPLOYED and event.owner is not None and event.owner.kind == "Deployment"
        for event in witness.events
    )


End = tuple[State, int, bool]  # a steady state, the wanted pods, and whether nodes are cordoned or lost


def _ends(engine: EngineCase, regime: str, case: cases.Plain) -> list[End]:
    """Return steady states of the engine: after the creation, and after one operation of the regime."""
    created = engine.steady([engine.start()])
    desired = sum(item["replicas"] for item in case["workloads"].values())
    found: list[End] = [(state, desired, False) for state in created]
    by_places = list({engine.places(state): state for state in created}.values())[:6]
    for state in by_places:
        is_whole = all(pod.node >= 0 for pod in state.pods)
        for ops, wanted, is_disturbed in _operations(engine, regime, case):
            if is_disturbed and not is_whole:
                continue  # A disruption begins when all pods are placed.
            after = engine.steady([engine.with_ops(state, ops)])
            found += [(item, wanted, is_disturbed) for item in after]
    return found


def _operations(engine: EngineCase, regime: str, case: cases.Plain) -> Iterator[tuple[list[steps.Op], int, bool]]:
    """Yield operations of a regime with the wanted pods after them, and whether nodes stay closed."""
    desired = sum(item["replicas"] for item in case["workloads"].values())
    level = [item.value for item in Regime].index(regime)
    for key in engine.owners():
        spec = case["workloads"][key.name]
        if level >= 1:
            yield [steps.DeleteSome(steps.PodMatch(key), 1)], desired, False
            yield [steps.DeleteSome(steps.PodMatch(key))], desired, False
        if level >= 2:
            yield [steps.Restart(key)], desired, False
        for number in spec.get("range", ()) if level >= 3 else ():
            yield [steps.Scale(key, number)], desired - spec["replicas"] + number, False
    for node in case["nodes"] if level >= 4 else ():
        yield [steps.Drain((node,))], desired, True


def _broken(
    engine: EngineCase,
    state: State,
    verdicts: Sequence[RuleVerdict],
    *,
    desired: int,
    is_disturbed: bool,
    seed: int,
    regime: str,
) -> Iterator[str]:
    """Yield the proved rules that a steady state violates."""
    for verdict in verdicts:
        rule = verdict.rule
        if verdict.verdict is not ProofStatus.PROVED or (is_disturbed and not rule.is_momentary):
            continue
        is_whole = all(pod.node >= 0 for pod in state.pods)
        if rule.kind in (RuleKind.MIN_DOMAINS, RuleKind.SURVIVE) and not is_whole:
            continue
        (result,) = evaluate([rule], engine.situation(state, [rule], desired))
        if result.is_violated:
            yield f"{seed} {regime} {rule}: proved, but an outcome of the engine violates it"


def _never_broken(
    engine: EngineCase, states: Sequence[State], verdicts: Sequence[RuleVerdict], *, case: cases.Plain, seed: int
) -> Iterator[str]:
    """Yield the refuted rules that no outcome of the creation violates: pods only come, so that each end shows it."""
    desired = sum(item["replicas"] for item in case["workloads"].values())
    for verdict in verdicts:
        rule = verdict.rule
        if verdict.verdict is ProofStatus.REFUTED:
            ends = [next(evaluate([rule], engine.situation(state, [rule], desired))) for state in states]
            if not any(end.is_violated for end in ends):
                yield f"{seed} creation {rule}: refuted, but no outcome of the engine violates it"
