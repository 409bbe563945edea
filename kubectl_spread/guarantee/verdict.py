"""Verdicts on the rules of a policy, and the way to a violation in the names of the cluster's objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.guarantee.bound import Bound
from kubectl_spread.guarantee.evaluate import evaluate, Evaluation, GroupPod, GroupState
from kubectl_spread.guarantee.model import count_of, Event, Gap, State, total_of, TransitionKind
from kubectl_spread.guarantee.policy import PolicyRule, Regime, RuleKind
from kubectl_spread.guarantee.space import Space
from kubectl_spread.objects.keys import ObjectKey

_MANY_CHANCES = 12


class WitnessEvent(NamedTuple):
    """An event on the way to a violation.

    ordinal: of a StatefulSet's pod, -1 if it is not known. is_new: of the new revision. number: of replicas. nodes: of
    the pods that are deleted at once. domains: that are drained or lost, with their key. kept: new size of the old
    ReplicaSet, -1 if it does not change. is_surplus: the pod was one too many, and is not created again.
    """

    kind: TransitionKind
    owner: Optional[ObjectKey] = None
    ordinal: int = -1
    is_new: bool = False
    node: str = ""
    number: int = 1
    nodes: tuple[str, ...] = ()
    topology_key: str = ""
    domains: tuple[str, ...] = ()
    is_loss: bool = False
    kept: int = -1
    is_surplus: bool = False


class StuckPods(NamedTuple):
    """Pods of a workload that wait forever."""

    owner: ObjectKey
    number: int


class Witness(NamedTuple):
    """A way to a violation, from no pods or from the running pods.

    evaluation: the rule at the end. counts: pods per domain at the end, of the rule's key or of each. waiting: pods
    that stay Pending. has_surge: the group has more pods than it wants then. is_settled:
    nothing moves by itself at the end. chances: events that could have gone another way.
    """

    events: tuple[WitnessEvent, ...]
    is_shortest: bool
    evaluation: Evaluation
    counts: dict[str, dict[str, int]]
    waiting: tuple[StuckPods, ...] = ()
    has_surge: bool = False
    from_running: bool = False
    is_settled: bool = False
    chances: int = 0

    @property
    def is_coincidence(self) -> bool:
        """Return whether so many events could have gone another way that all of them are a coincidence."""
        return self.chances >= _MANY_CHANCES

    @property
    def waiting_pods(self) -> Optional[int]:
        """Return the pods that stay Pending, if that violates the rule."""
        is_meant = self.evaluation.rule.kind in (RuleKind.PLACED, RuleKind.REPLACED)
        return self.evaluation.number if is_meant else None


def witness(space: Space, rule: PolicyRule, way: Sequence[State], *, is_shortest: bool) -> Witness:
    """Return a way of states as events, with the numbers at its end."""
    run = _Run(space, way[0])
    for state in way[1:]:
        run.follow(state)
    last, group = way[-1], space.group
    waiting = run.waiting(last)
    desired = dict(zip(run.owners, last[3], strict=True))
    contents = space.judged_contents(run.contents, [desired[owner] for owner in range(len(desired))])
    pods = [
        GroupPod(group.owners[group.kinds[at].owner].key, group.layout.nodes[node])
        for node, content in enumerate(contents)
        if node not in run.dead
        for at in group.judged_kinds
        for _ in range(count_of(content, at))
    ]
    pods += [GroupPod(item.owner, "") for item in waiting for _ in range(item.number)]
    domains = {
        key: {
            name: group.layout.values[key][at]
            for name, at in zip(group.layout.nodes, domain_of, strict=True)
            if at >= 0
        }
        for key, domain_of in group.layout.domain_of.items()
    }
    situation = GroupState(tuple(pods), space.judged_replicas(last), domains)
    result = next(iter(evaluate([rule], situation)))
    stuck = sum(item.number for item in waiting)
    keys = [rule.topology_key] if rule.topology_key else list(domains)
    return Witness(
        tuple(run.events),
        is_shortest,
        result,
        {
            key: dict(sorted((dict.fromkeys(group.layout.values[key], 0) | situation.counts(key)).items()))
            for key in keys
        },
        waiting,
        space.judged_placed_count(last) + stuck > space.judged_replicas(last),
        run.is_from_running,
        is_settled=space.is_settled(last),
        chances=run.chances,
    )


class _Run:
    """A way under real names: nodes and owners are those of the representative's. dead: lost nodes."""

    def __init__(self, space: Space, first: State) -> None:
        running = space.running()
        self.is_from_running = first != space.canonical(space.start())
        begin = space.start() if running is None or not self.is_from_running else running
        self._space = space
        self._now, self._nodes, owners = space.renaming(begin)
        self.owners = list(owners)
        self.contents = begin[0]
        self.events: list[WitnessEvent] = []
        self.chances = 0
        self.dead: frozenset[int] = frozenset()
        self._homes = [[-1] * spec.most for spec in space.group.owners]  # Node of each ordinal, -1 for none.
        placed = space.group.placed if self.is_from_running else ()
        for pod in sorted(placed, key=lambda pod: pod.ordinal, reverse=True):
            mine = self._homes[space.group.kinds[pod.kind].owner]
            mine[pod.ordinal if 0 <= pod.ordinal < len(mine) else mine.index(-1)] = pod.node

    def follow(self, wanted: State) -> None:
        """Go on to the next representative.

        An event is a chance if a pod was deleted that nobody had to delete, or if the scheduler chose among nodes that
        are not interchangeable.
        """
        space = self._space
        following = list(space.events(self._now))
        event, raw = next((event, raw) for event, raw in following if space.canonical(raw) == wanted)
        self.chances += event.kind is TransitionKind.RESTARTED or any(
            other.kind is event.kind is TransitionKind.PLACED and other.pods == event.pods and other.node != event.node
            for other, _ in following
        )
        if event.order is not None:
            self._nodes = [self._nodes[old] for old in event.order]
        contents = space.under_names(raw[0], self._nodes, self.owners)
        named = self._disrupting(event) if event.disruption >= 0 else self._named(event, contents)
        is_restart = event.kind is TransitionKind.RESTARTED
        named = named._replace(is_surplus=is_restart and not space.is_wanted(raw, event.pods))
        self.events.append(named)
        self.contents = contents
        self._now, order, exchanged = space.renaming(raw)
        self._nodes = [self._nodes[old] for old in order]
        self.owners = [self.owners[old] for old in exchanged]

    def _disrupting(self, event: Event) -> WitnessEvent:
        """Return the begin or the end of a disruption."""
        layout, item = self._space.group.layout, self._space.disruptions[event.disruption]
        nodes = sorted(self._nodes[at] for at in item.nodes)
        domain_of, values = layout.domain_of[item.topology_key], layout.values[item.topology_key]
        domains = (
            sorted({values[domain_of[node]] for node in nodes}) if item.is_loss else [layout.nodes[at] for at in nodes]
        )
        self.dead = frozenset(nodes if item.is_loss and event.kind is TransitionKind.DISRUPTED else ())
        return WitnessEvent(event.kind, topology_key=item.topology_key, domains=tuple(domains), is_loss=item.is_loss)

    def _named(self, event: Event, contents: Sequence[int]) -> WitnessEvent:
        """Return an event with the names of its objects; contents: after it."""
        group = self._space.group
        owner = self.owners[event.owner] if event.owner >= 0 else -1
        node = self._nodes[event.node] if event.node >= 0 else -1
        at = self._space.kind_of(event.pods, owner)
        kind = group.kinds[at] if at >= 0 else None
        ordinal = -1 if kind is None else kind.ordinal
        spec = group.owners[owner] if owner >= 0 else None
        if spec is not None and kind is not None and spec.is_stateful and node >= 0:
            # States do not always tell ordinals apart. A new pod has the lowest free one.
            homes, is_placed = self._homes[owner], event.kind is TransitionKind.PLACED
            there = [number for number, home in enumerate(homes) if home == (-1 if is_placed else node)]
            if ordinal < 0:
                ordinal = there[0] if is_placed else there[-1]
            homes[ordinal] = node if is_placed else -1
        gone: list[str] = []
        if event.node < 0:
            kinds = range(len(group.kinds))
            for name, old, new in zip(group.layout.nodes, self.contents, contents, strict=True):
                gone += [name] * max(0, total_of(old, kinds) - total_of(new, kinds))
        return WitnessEvent(
            event.kind,
            None if spec is None else spec.key,
            ordinal + spec.first_ordinal if spec is not None and ordinal >= 0 else -1,
            node=group.layout.nodes[node] if node >= 0 else "",
            number=event.number,
            nodes=tuple(gone),
            is_new=kind is not None and kind.is_new,
            kept=event.number if event.is_shrunk else -1,
            is_loss=event.kind is TransitionKind.EVICTED and node in self.dead,
        )

    def waiting(self, state: State) -> tuple[StuckPods, ...]:
        """Return the waiting pods of the last representative."""
        space = self._space
        placed = space.placed_counts(state)
        found: dict[ObjectKey, int] = {}
        for at in space.judged_waiting_kinds(state, placed):
            kind = space.group.kinds[at]
            number = 1 if kind.ordinal >= 0 else state[1][at] - placed[at]
            if space.group.owners[kind.owner].is_ordered:
                number = 1  # The next pods are created once this one is ready.
            key = space.group.owners[self.owners[kind.owner]].key
            found[key] = found.get(key, 0) + number
        return tuple(StuckPods(key, number) for key, number in found.items())


class ProofStatus(Enum):
    """Answer for one rule in one regime, the worst first; the engine's `Basis` says how far it holds."""

    REFUTED = "refuted"
    UNDECIDED = "undecided"
    PROVED = "proved"
    NOT_APPLICABLE = "notApplicable"


def worst(verdicts: Iterable[ProofStatus]) -> ProofStatus:
    """Return the worst verdict; NOT_APPLICABLE if nothing is to be decided."""
    return min(verdicts, key=list(ProofStatus).index, default=ProofStatus.NOT_APPLICABLE)


class RuleVerdict(NamedTuple):
    """Verdict on a rule in a regime.

    basis: of the answer; None if there is nothing to decide. limit: the most or least that the rule allows, at the
    wanted replicas. bound: that proves the rule in every order. states: number of visited states; 0 if gaps leave the
    rule undecided. regime: in which a witness was found first. witness: way to a violation. settled: verdict once
    nothing moves by itself any more, if the rule is violated while pods move.
    """

    rule: PolicyRule
    basis: Optional[Basis]
    limit: int = 0
    bound: Optional[Bound] = None
    states: int = 0
    regime: Optional[Regime] = None
    witness: Optional[Witness] = None
    settled: Optional[RuleVerdict] = None

    @property
    def verdict(self) -> ProofStatus:
        if self.basis is None:
            return ProofStatus.NOT_APPLICABLE
        if self.witness is not None:
            return ProofStatus.REFUTED
        return ProofStatus.PROVED if self.basis.is_exact else ProofStatus.UNDECIDED

    @property
    def method(self) -> str:
        """Return how the rule was decided. Merged states have all workloads as one; more can happen there."""
        if self.verdict is not ProofStatus.PROVED:
            return "none" if self.witness is None else "witness"
        if self.bound is not None:
            return "bound"
        return "states" if self.basis is Basis.ALL_OUTCOMES else "mergedStates"

    @property
    def once_settled(self) -> RuleVerdict:
        """Return the verdict once nothing moves by itself any more."""
        return self.settled or self


class RegimeResult(NamedTuple):
    """Verdicts in a regime."""

    regime: Regime
    rules: tuple[RuleVerdict, ...]

    @property
    def verdict(self) -> ProofStatus:
        """Return the worst verdict of the rules."""
        return worst([item.verdict for item in self.rules])

    @property
    def settled_verdict(self) -> ProofStatus:
        """Return the worst verdict of the rules once nothing moves by itself any more."""
        return worst([item.once_settled.verdict for item in self.rules])


class GroupResult(NamedTuple):
    """Verdicts on a group; neighbours: workloads that were followed as well, because they decide where pods go."""

    name: str
    workloads: tuple[ObjectKey, ...]
    pods: int
    results: tuple[RegimeResult, ...]
    gaps: tuple[Gap, ...] = ()
    neighbours: tuple[ObjectKey, ...] = ()

    @property
    def verdict(self) -> ProofStatus:
        """Return the worst verdict of all regimes."""
        return worst([item.verdict for item in self.results])

    @property
    def settled_verdict(self) -> ProofStatus:
        """Return the worst verdict of all regimes once nothing moves by itself any more."""
        return worst([item.settled_verdict for item in self.results])


def limit_of(rule: PolicyRule, pods: int) -> int:
    """Return the number that a rule allows or demands."""
    if rule.kind is RuleKind.SURVIVE:
        return rule.amount.at_least(pods)
    most = rule.most(pods)
    return rule.amount.numerator if most is None else most
