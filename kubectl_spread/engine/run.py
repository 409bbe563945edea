"""Simulation of a user's steps on a cluster until no move is left."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import cast, NamedTuple, Optional, Union

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine import reading, steps
from kubectl_spread.engine.loading import load
from kubectl_spread.engine.moves import Moves
from kubectl_spread.engine.oracle import MorePods, Oracle
from kubectl_spread.engine.parts import Part, Splitter
from kubectl_spread.engine.reading import with_owners
from kubectl_spread.engine.results import answer
from kubectl_spread.engine.results.answer import Outcome, View
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.rollouts import CountedRollouts
from kubectl_spread.engine.search import explore
from kubectl_spread.engine.search.explore import Budget, Exploration, search_path
from kubectl_spread.engine.search.symmetry import Interchange, Symmetry
from kubectl_spread.engine.state import forget_refusals, State, Step
from kubectl_spread.engine.world import Provisioner, World
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.scheduler.framework.plugin import Profile
from kubectl_spread.text.wording import comma_list

Written = Union[steps.Op, Sequence[steps.Op]]
_STATES_BEFORE_PARTS = 250  # Most states of a step that is visited whole before its parts are tried.
_PODS_OF_STATES = 50_000  # Most pods of all states of a part.
_COUNTED = 8  # States as counts that are visited instead of one state if a rollout of a part seems to have no more.
_RUNS_OF_A_PART = 3  # if it has more states
_FEW_NODES = 100  # With more nodes, the parts are tried before any other search.
_FEW_NEW = 200  # With more new pods at a time, there is no run of the whole step.
_LAST_RUN_S = 0.4  # after a search was stopped
_KEPT = 5  # One state of this many is kept for the random runs that follow a search that was cut off,
_LEAST_KEPT = 1_000  # and these at least: a low limit is for the search alone.
_MOST_NAMES = 6  # of pods in a note
_MOST_STARTS = 64  # Most outcomes of a step from which the next one starts.
_MOST_REFUSING = 200  # states in which refused pods are looked for


class Mode(Enum):
    """Search mode: all outcomes, a random sample, or the first one."""

    ALL = "all"
    SAMPLE = "sample"
    FIRST = "first"


class Limits(NamedTuple):
    """Limits of a search, counted in ordinary states, so that an answer does not depend on the load of the machine.

    max_states: of a step, for the search for all outcomes and for the random runs that follow if it was cut off; the
    first run is never left out. samples: random runs; with 0 there is not even the first one. patience_s: simulated
    seconds that pass within a step; tolerationSeconds up to this value expire. has_messages: the answer has the
    scheduler's messages for Pending pods and `worst_skew`. Both are slow with many nodes. by_counts: visit the states
    of a rollout as counts of pods per node where these decide; the results are equal, and found sooner. max_counted:
    states as counts of a rollout in a part. max_run: states of one run.
    """

    mode: Mode = Mode.ALL
    max_states: int = 20_000
    samples: int = 100
    seed: int = 0
    patience_s: float = float("inf")
    has_messages: bool = True
    by_counts: bool = True
    max_counted: int = 0
    max_run: int = 400_000


class PartAnswer(NamedTuple):
    """Result of one part of a step: its outcomes include every real one, merged by the domains of its keys.

    simulated: the part that was simulated: this one, or an earlier one of the same shape. completes: whether everything
    completes in every order; False if the same workloads do not complete in any; None if that is not known. If the part
    has too many states, `Part.has_room` or `Part.is_short` proves it, and the outcomes are of some runs.
    """

    part: Part
    simulated: Part
    answer: StepAnswer
    completes: Optional[bool]


class StepAnswer(NamedTuple):
    """Result of one step.

    outcomes: distinct outcomes, equal up to interchangeable nodes. basis: whether there are others. states: number of
    visited states. runs: number of random runs. fewest_ready, worst_skew: extremes over all visited states. gaps:
    features that were not simulated so far, each with the workload whose outcome it changes; None for any. ended:
    number of random runs with each outcome. is_start_exact: all outcomes of the steps before are known.
    parts: of a step that is answered by its parts. Then `outcomes` has that of one run of the whole step, or none if
    that is too long. refused: the API server's message for workloads whose new pods a quota refuses on the way.
    """

    outcomes: tuple[Outcome, ...]
    basis: Basis
    states: int
    runs: int
    fewest_ready: dict[ObjectKey, int]
    worst_skew: dict[tuple[ObjectKey, str], int]
    symmetry: Symmetry
    is_endless: bool = False
    before: tuple[Outcome, ...] = ()  # where the step began
    gaps: Mapping[str, Optional[ObjectKey]] = {}
    ended: tuple[int, ...] = ()
    is_start_exact: bool = True
    parts: tuple[PartAnswer, ...] = ()
    refused: Mapping[ObjectKey, str] = {}

    @property
    def is_exact(self) -> bool:
        """Return whether all outcomes are known."""
        return self.basis.is_exact

    def basis_for(self, keys: Collection[Optional[ObjectKey]]) -> Basis:
        """Return how far the answer holds for some workloads."""
        has_gap = any(key is None or key in keys for key in self.gaps.values())
        return Basis.NOT_SIMULATED if has_gap and self.basis.is_known else self.basis

    @property
    def is_complete(self) -> bool:
        """Return whether everything completes in every outcome, for certain."""
        return self.is_exact and bool(self.outcomes) and all(item.is_complete for item in self.outcomes)

    @property
    def may_wedge(self) -> bool:
        """Return whether some outcome found does not complete."""
        return self.is_endless or any(not item.is_complete for item in self.outcomes)


class Watch:
    """Progress of a search, readable from another thread.

    `stop` ends the search.
    """

    def __init__(self) -> None:
        self.subject = ""  # the group or the scenario that the search is about
        self.step = 0  # the one that is played, from 0
        self.states = 0  # visited in it
        self._until_s: float = 0  # CPU time after which no run goes on; 0 before the search is stopped

    def stop(self) -> None:
        """End the search; a run goes on for a moment, as its end is the least that can be told."""
        self._until_s = self._until_s or time.process_time() + _LAST_RUN_S

    @property
    def is_stopped(self) -> bool:
        return self._until_s > 0

    @property
    def has_begun(self) -> bool:
        """Return whether the search has begun, so that something may be known."""
        return bool(self.subject or self.step or self.states)

    def saw(self, states: int) -> bool:
        """Record the number of visited states, and return whether to stop."""
        self.states = states
        return self.is_stopped

    def is_late(self, _states: int) -> bool:
        """Return whether to stop a run, too."""
        return self.is_stopped and time.process_time() > self._until_s


class Answer(NamedTuple):
    """Result of all steps; notes: features that were not simulated."""

    steps: tuple[StepAnswer, ...]
    notes: tuple[str, ...]

    @property
    def last(self) -> StepAnswer:
        return self.steps[-1]


def play(
    cluster: Cluster,
    profiles: Mapping[str, Profile],
    written: Iterable[Written],
    *,
    limits: Optional[Limits] = None,
    bound: Optional[Columns] = None,
    watch: Optional[Watch] = None,
    splitter: Optional[Splitter] = None,
    provisioner: Optional[Provisioner] = None,
) -> Answer:
    """Play steps one after the other, each until no move is left.

    Args:
        cluster: the cluster facts.
        profiles: of the scheduler, by name.
        written: steps; a sequence of operations is one step, done without waiting in between.
        limits: limits of the search.
        bound: columns with the bound pods of the cluster, perhaps among others; they are not changed.
        watch: shows the progress of the search, and can end it.
        splitter: of the cluster. A single step with too many states may be answered by its parts (`StepAnswer.parts`).
        provisioner: adds nodes for pods that find none; then no step is answered by its parts or by counts.
    """
    ops = [tuple((cast(steps.Op, item),) if hasattr(item, "_fields") else item) for item in written]
    applied = (op.controller for step in ops for op in step if isinstance(op, steps.Apply))
    cluster, expected = with_owners(cluster, applied)
    limits = limits or Limits()
    game = _Game(cluster, profiles, ops, expected, bound, watch or Watch(), provisioner=provisioner)
    if splitter is None or provisioner is not None or limits.mode is not Mode.ALL or len(ops) != 1 or expected:
        return _played(game, limits)[0]
    game = game._replace(cluster=splitter.cluster, bound=game.bound or splitter.columns, unfinished=splitter.unfinished)
    is_large = len(cluster.nodes) > _FEW_NODES
    touched, nodes = steps.find_references(game.cluster, ops[0])
    live: Collection[ObjectKey] = splitter.live(touched, nodes) if is_large else ()
    if not is_large:
        few = limits._replace(max_states=min(limits.max_states, _STATES_BEFORE_PARTS), samples=0)
        answer, live = _played(game, few)
        if answer.last.is_exact:
            return answer
        if answer.last.gaps or game.watch.is_stopped:
            return _played(game, limits)[0]
    found = _parts(game, splitter, splitter.parts(ops[0], live), limits)
    if is_large and game.watch.is_stopped and not found:
        return Answer((_nothing(game),), ())
    if is_large and found and (game.watch.is_stopped or sum(item.part.new for item in found) > _FEW_NEW):
        notes = tuple(_left_out(game.cluster, live, nodes))
        return Answer((_of_parts(found),), notes)
    if not found or any(item.completes is None for item in found):
        return _played(game, limits)[0]
    answer, _ = _played(game, limits._replace(mode=Mode.FIRST))
    if answer.last.gaps or not answer.last.outcomes:
        return answer
    by_parts = _of_parts(found)
    step = answer.last._replace(
        basis=by_parts.basis, parts=found, states=answer.last.states + by_parts.states, runs=by_parts.runs
    )
    return answer._replace(steps=(step,))


def play_part(splitter: Splitter, ops: tuple[steps.Op, ...], key: ObjectKey, *, limits: Limits) -> Optional[StepAnswer]:
    """Play the part of a step that a workload is in; None if the step has no independent parts."""
    game = _Game(splitter.cluster, splitter.profiles, [ops], (), splitter.columns, Watch())
    live = splitter.live(*steps.find_references(splitter.cluster, ops))
    found = _parts(game, splitter, splitter.parts(ops, live, only=key), limits)
    return _of_parts(found) if found else None


def _nothing(game: _Game) -> StepAnswer:
    """Return the answer before any state was visited."""
    symmetry = Symmetry(World(Cluster(()), game.profiles), State((), (), 0), frozenset())
    return StepAnswer((), Basis.STATE_LIMIT, 0, 0, {}, {}, symmetry)


def _of_parts(found: tuple[PartAnswer, ...]) -> StepAnswer:
    """Return the answer of the parts of a step, without a run of the whole step."""
    simulated = list({id(item.answer): item.answer for item in found}.values())
    if any(item.completes is None for item in found):
        basis = Basis.SAMPLE if any(item.outcomes for item in simulated) else Basis.STATE_LIMIT
    elif all(item.is_exact for item in simulated):
        basis = Basis.EVERY_ORDER
    else:
        basis = Basis.ENOUGH_ROOM if all(item.completes for item in found) else Basis.NO_ORDER
    states = sum(item.states for item in simulated)
    return StepAnswer((), basis, states, _RUNS_OF_A_PART, {}, {}, simulated[0].symmetry, parts=found)


def _left_out(cluster: Cluster, involved: Collection[ObjectKey], nodes: Collection[str]) -> Iterator[str]:
    """Yield notes on pods that are in no part of a step."""
    for key in sorted(key for key in involved if key.kind == "DaemonSet"):
        yield f"{key.kind} {key.namespace}/{key.name}: its pods, in a step with so many new pods"
    bare = (pod for pod in cluster.pods if pod.owner is None and pod.is_visible)
    names = [pod.key for pod in bare if not pod.node_name or pod.node_name in nodes]
    if names:
        yield f"pods without a controller, in a step with so many new pods: {comma_list(names, most=_MOST_NAMES)}"


class _Game(NamedTuple):
    """The arguments of `play`, with the steps as operations, and the controllers that do not exist yet."""

    cluster: Cluster
    profiles: Mapping[str, Profile]
    ops: list[tuple[steps.Op, ...]]
    expected: Collection[ObjectKey]
    bound: Optional[Columns]
    watch: Watch
    merged: Mapping[str, tuple[str, ...]] = {}
    provisioner: Optional[Provisioner] = None
    unfinished: Optional[frozenset[ObjectKey]] = None  # workloads of the cluster


def _played(game: _Game, limits: Limits) -> tuple[Answer, Collection[ObjectKey]]:
    """Play the steps; return also the workloads that took part."""
    touched, nodes = steps.find_references(game.cluster, [op for step in game.ops for op in step])
    if game.provisioner is not None:
        daemons = frozenset(key for key in game.cluster.controllers if key.kind == "DaemonSet")
        touched |= steps.playable(game.cluster, daemons)
    while True:
        try:
            player = _Player(game, limits, touched=touched, nodes=nodes)
            return player.run(), player.live
        except MorePods as involved:
            if involved.keys <= touched and involved.nodes <= nodes:
                raise
            touched, nodes = touched | involved.keys, nodes | involved.nodes


def _parts(game: _Game, splitter: Splitter, parts: Iterable[Part], limits: Limits) -> tuple[PartAnswer, ...]:
    """Return the answers of independent parts, which share the limits; none if something is not simulated."""
    found: list[PartAnswer] = []
    left = limits.max_states
    for part in parts:
        same: Optional[PartAnswer] = None if part.shape is None else splitter.solved.get(part.shape)
        if same is None and game.watch.is_stopped:
            same = PartAnswer(part, part, _nothing(game), None)
        elif same is None:
            states = min(left, _PODS_OF_STATES // max(1, len(part.cluster.pods)))
            few = limits._replace(max_states=states, max_counted=_COUNTED * left, samples=_RUNS_OF_A_PART)
            small = game._replace(cluster=part.cluster, ops=[part.ops], bound=None, merged=part.merged, unfinished=None)
            answer = _played(small, few)[0].last
            fine = {_is_fine(item) for item in answer.outcomes}
            ends = {  # what does not complete
                (
                    frozenset(key for key, workload in item.workloads.items() if not workload.is_complete),
                    bool(item.blocked),
                    item.is_steady,
                )
                for item in answer.outcomes
            }
            completes = None
            if fine == {True} and (answer.is_exact or part.has_room):
                completes = True
            elif fine == {False} and len(ends) == 1 and (answer.is_exact or part.is_short):
                completes = False
            same = PartAnswer(part, part, answer, completes)
            left = max(0, left - min(same.answer.states, _COUNTED * states))
            splitter.solved[part.shape] = same
        if same.answer.gaps:
            return ()
        found.append(same._replace(part=part))
    return tuple(found)


def _is_fine(outcome: Outcome) -> bool:
    """Return whether everything completes, or nothing happens: pods that wait before a step may wait after it."""
    if outcome.is_complete or outcome.before is None:
        return outcome.is_complete
    now, before = (Counter(pod._replace(message="") for pod in item.pods) for item in (outcome, outcome.before))
    return outcome.is_steady and not outcome.blocked and now == before


class _Player:
    def __init__(self, game: _Game, limits: Limits, *, touched: Collection[ObjectKey], nodes: Collection[str]) -> None:
        cluster, ops = game.cluster, game.ops
        self._watch = game.watch
        loaded = load(
            cluster,
            game.profiles,
            touched=touched,
            nodes=nodes,
            expected=game.expected,
            patience_s=limits.patience_s,
            merged=game.merged,
            unfinished=game.unfinished,
        )
        self.live = loaded.live
        self._world: World = loaded.world
        self._world.bound = game.bound
        self._world.provisioner = game.provisioner
        self._start = loaded.state
        self._limits = limits
        self._ops = ops
        every = [op for step in ops for op in step]
        for key in steps.creating(cluster, every) - set(touched):
            self._world.leave_out(f"DaemonSet {key.namespace}/{key.name}: its pods on new nodes, in a large cluster")
        uids = [uid for op in every if isinstance(op, steps.ON_PODS) for uid in op.uids]
        slots = [self._world.slot_of[uid] for uid in uids if uid in self._world.slot_of]
        homes = {self._world.node_names[slot[4]] for slot in slots if slot[4] >= 0}
        self._named = steps.named_nodes(every) | homes | steps.pinning(cluster, every)
        self._world.leaving_claims.update(key for op in every if isinstance(op, steps.DeleteClaims) for key in op.keys)
        self._joined = tuple(node for op in every if isinstance(op, steps.ChangeNodes) for node in op.nodes)
        self._oracle = Oracle(self._world)
        for op in every:  # Number all objects of the steps before states are compared.
            if isinstance(op, steps.CreatePod):
                self._world.name_new_pod(op.name, op.cls)
            elif isinstance(op, steps.Apply) and op.controller.workload.kind in reading.KINDS:
                reading.spec_of(self._world, op.controller)

    def run(self) -> Answer:
        starts: tuple[State, ...] = (self._start,)
        view = View(self._world, self._start, message=lambda *_: "")
        befores: tuple[Outcome, ...] = (Outcome(view, self._start, path=tuple),)
        found: list[StepAnswer] = []
        is_exact = True
        for number, ops in enumerate(self._ops):
            self._watch.step, self._watch.states = number, 0
            # Before the last step, the nodes of ordinals may matter later. An autoscaler may remove new ordinals.
            scaled = (key for facts in self._world.facts for key in facts.cluster.autoscalers)
            is_last = number == len(self._ops) - 1
            self._keeps_ordinals = not is_last or any(key.kind == "StatefulSet" for key in scaled)
            self._moves = Moves(self._world, self._oracle, keeps_ordinals=self._keeps_ordinals)
            self._hasty = Moves(self._world, self._oracle, is_hasty=True, keeps_ordinals=self._keeps_ordinals)
            first = len(self._world.ops)
            self._world.ops += ops
            todo = tuple(("op", first + at) for at in range(len(ops)))
            begun = []
            for start in starts:
                pods = tuple(sorted(pod._replace(is_new=False) if pod.is_new else pod for pod in start.pods))
                begun.append(self._moves.begin(start._replace(pods=pods, todo=todo)))
            step = self._step(begun, befores, is_exact=is_exact)
            found.append(step)
            is_exact = step.is_exact and len(step.outcomes) <= _MOST_STARTS
            befores = step.outcomes[:_MOST_STARTS]
            starts = tuple(item.state for item in befores)
        return Answer(tuple(found), tuple(self._world.notes))

    def _step(self, begun: list[Step], befores: tuple[Outcome, ...], *, is_exact: bool) -> StepAnswer:
        starts = [item.state for item in begun]
        symmetries = [self._symmetry(start) for start in starts or [self._start]]
        message = self._oracle.message if self._limits.has_messages else lambda *_: ""
        views = [View(self._world, start, message=message) for start in starts or [self._start]]
        found = self._look(begun, symmetries)
        outcomes: dict[State, Outcome] = {}
        for item, start, view, symmetry, before in zip(found, starts, views, symmetries, befores, strict=False):
            interchange = Interchange(symmetry, *before.interchange.symmetries)
            for end in (*item.steady, *item.loops):
                state = forget_refusals(end)
                if state not in outcomes:
                    path = partial(search_path, (self._moves, self._hasty), symmetry, start, item, end)
                    outcomes[state] = Outcome(
                        view, state, path=path, is_steady=end not in item.loops, before=before, interchange=interchange
                    )
        # Without an outcome, the way so far says nothing.
        states = [state for item in found for state in (*item.came_from, *item.extremes)] if outcomes else []
        ended = sum((item.ended for item in found), Counter[State]())
        is_exact_here = len(found) == len(starts) and all(item.is_exhaustive for item in found)
        basis = Basis.ALL_OUTCOMES if is_exact and is_exact_here else Basis.SAMPLE if outcomes else Basis.STATE_LIMIT
        return StepAnswer(
            tuple(outcomes.values()),
            basis,
            sum(item.states for item in found),
            sum(item.runs for item in found),
            answer.fewest_ready(self._world, states),
            answer.skews(views[0], states) if self._limits.has_messages else {},
            symmetries[0],
            any(item.loops for item in found),
            befores,
            dict(self._world.gaps),
            tuple(ended[state] for state in outcomes),
            is_exact,
            refused=answer.refused_by_quotas(self._world, states[:_MOST_REFUSING]),
        )

    def _symmetry(self, start: State) -> Symmetry:
        return Symmetry(self._world, start, self._named, joined=self._joined, keeps_ordinals=self._keeps_ordinals)

    def _look(self, begun: list[Step], symmetries: list[Symmetry]) -> list[Exploration]:
        limits = self._limits
        budget = Budget(limits.max_states, self._watch.saw)
        found: list[Exploration] = []
        for (_, start, is_settled), symmetry in zip(begun, symmetries, strict=False):
            if not is_settled:
                found.append(Exploration((), False, 1, {start: None}, loops=(start,)))
                continue
            if limits.mode is Mode.FIRST:
                run = Budget(limits.max_run, self._watch.is_late)
                only = explore.one(self._hasty, start, explore.first, budget=run)
                found.append(only._replace(is_literal=True))
                continue
            item, kept = Exploration((), False, 0, {}), float(limits.max_states)
            if limits.mode is Mode.ALL:
                kept /= _KEPT
                budget.keep(kept if kept > _LEAST_KEPT else 0)
                item = explore.everything(
                    Moves(self._world, self._oracle, keeps_ordinals=self._keeps_ordinals, twins=symmetry.twins),
                    [start],
                    canonical=symmetry.canonical,
                    budget=budget,
                    rollouts=CountedRollouts(self._world, self._oracle, symmetry, limits.max_counted)
                    if limits.by_counts and self._world.provisioner is None
                    else None,
                    gives_up=True,
                )
                budget.keep(0)
                if item.is_exhaustive or not limits.samples:
                    found.append(item)
                    continue
            budget.leave(_LEAST_KEPT, kept)
            runs, more = divmod(limits.samples, len(begun))
            runs = max(1, runs + (len(found) < more))  # All starts together have as many runs as asked for.
            found.append(self._sampled(start, symmetry, runs=runs, budget=budget, before=item))
        return found

    def _sampled(
        self, start: State, symmetry: Symmetry, *, runs: int, budget: Budget, before: Exploration
    ) -> Exploration:
        """Follow random paths, after a deterministic first one.

        `before` is the result of a search for all outcomes that was cut off; the runs spend the rest of its budget.
        Without such a search, it has no states.
        """
        came_from, steady, loops = dict(before.came_from), dict.fromkeys(before.steady), dict.fromkeys(before.loops)
        ended: Counter[State] = Counter()
        done = 0
        for at in range(runs):
            chooser = explore.first if at == 0 else explore.at_random(self._limits.seed * 1_000_003 + at)
            run = Budget(self._limits.max_run, self._watch.is_late)
            one = explore.one(self._hasty, start, chooser, canonical=symmetry.canonical, budget=run)
            done += one.runs
            for state, last in one.came_from.items():
                if state not in came_from:
                    came_from[state] = last
                    budget.spend(len(state.pods))
            steady.update(dict.fromkeys(one.steady))
            loops.update(dict.fromkeys(one.loops))
            ended.update(forget_refusals(state) for state in (*one.steady, *one.loops))
            self._watch.states = budget.visited
            if (before.states and budget.is_spent()) or not one.runs or self._watch.is_stopped:
                break
        return before._replace(
            steady=tuple(steady),
            states=len(came_from) + before.states - len(before.came_from),
            came_from=came_from,
            runs=done,
            loops=tuple(loops),
            ended=ended,
        )
