"""Verdicts on the rules of a policy, and the way to a violation in the names of the cluster's objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.guarantee.bound import Bound
from kubectl_spread.guarantee.model import BITS, Event, Gap, LossKind, MOST_PODS, State, total_of, TransitionKind
from kubectl_spread.guarantee.policy.evaluate import evaluate, Evaluation, GroupPod, GroupState
from kubectl_spread.guarantee.policy.policy import PolicyRule, Regime, RuleKind
from kubectl_spread.guarantee.space import Space
from kubectl_spread.objects.keys import ObjectKey

_MANY_CHANCES = 12


class WitnessEvent(NamedTuple):
    """An event on the way to a violation.

    ordinal: of a StatefulSet's pod, -1 if it is not known. is_new: of the new revision. number: of replicas. nodes: of
    the pods that are deleted at once. domains: that are drained or lost, with their key. kept: new size of the old
    ReplicaSet, -1 if it does not change.
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


class StuckPods(NamedTuple):
    """Pods of a workload that wait forever."""

    owner: ObjectKey
    number: int


class Witness(NamedTuple):
    """A way to a violation, from no pods or from the running pods.

    evaluation: the rule at the end. counts: pods per domain at the end, of the rule's key or of each. waiting: pods
    that stay Pending. has_surge: the group has more pods than it wants then. during: disruption at the end. is_settled:
    nothing moves by itself at the end. chances: events that could have gone another way.
    """

    events: tuple[WitnessEvent, ...]
    is_shortest: bool
    evaluation: Evaluation
    counts: dict[str, dict[str, int]]
    waiting: tuple[StuckPods, ...] = ()
    has_surge: bool = False
    from_running: bool = False
    during: Optional[WitnessEvent] = None
    is_settled: bool = False
    chances: int = 0

    @property
    def is_coincidence(self) -> bool:
        """Return whether so many events could have gone another way that all of them are a coincidence."""
        return self.chances >= _MANY_CHANCES

    @property
    def waiting_pods(self) -> Optional[int]:
        """Return the pods that stay Pending, if that violates the rule."""
        kind = self.evaluation.rule.kind
        is_meant = kind is RuleKind.PLACED or (kind is RuleKind.SURVIVE and self.during is not None)
        return sum(item.number for item in self.waiting) if is_meant else None


def witness(space: Space, rule: PolicyRule, way: Sequence[State], *, is_shortest: bool) -> Witness:
    """Return a way of states as events, with the numbers at its end."""
    steps = _trace(space, way)
    is_from_running = way[0] != space.canonical(space.start())
    ordinals = _ordinals(space, steps, is_from_running=is_from_running)
    begin = (space.running() if is_from_running else None) or space.start()
    contents = steps[-1].contents if steps else begin[0]
    before = [begin[0], *(step.contents for step in steps)]
    events = tuple(_event(space, *item) for item in zip(steps, ordinals, before, strict=False))
    last = way[-1]
    during = _during(events, last)
    dead = _dead_nodes(space, steps, last)
    owners = steps[-1].owners if steps else tuple(space.renaming(begin)[2])
    waiting = _waiting(space, last, owners)
    named = dict(zip(owners, last[3], strict=True))
    contents = space.judged_contents(contents, [named[owner] for owner in range(len(owners))])
    situation = _situation(space, contents, last, dead=dead, waiting=waiting)
    keys = [rule.topology_key] if rule.topology_key else list(space.group.layout.domain_of)
    counts = {key: _counts(space, key, contents, dead=dead) for key in keys}
    result = next(iter(evaluate([rule], situation)))
    if rule.kind is RuleKind.SURVIVE and last[2]:
        result = result._replace(number=sum(item.number for item in waiting), is_violated=True)
    return Witness(
        events,
        is_shortest,
        result,
        counts,
        waiting,
        space.judged_placed_count(last) + sum(item.number for item in waiting) > space.judged_replicas(last),
        is_from_running,
        during,
        is_settled=space.is_settled(last),
        chances=sum(step.is_chance for step in steps),
    )


def _during(events: Sequence[WitnessEvent], last: State) -> Optional[WitnessEvent]:
    """Return the disruption at the end."""
    begun = [item for item in events if item.kind is TransitionKind.DISRUPTED]
    return begun[-1] if last[2] and begun else None


def _dead_nodes(space: Space, steps: Sequence[_Step], last: State) -> frozenset[int]:
    if not space.dead(last[2]):
        return frozenset()
    return frozenset(next(step.nodes for step in reversed(steps) if step.event.kind is TransitionKind.DISRUPTED))


def _situation(
    space: Space, contents: Sequence[int], last: State, *, dead: frozenset[int], waiting: Iterable[StuckPods]
) -> GroupState:
    """Return the pods for the evaluation of the rule."""
    group = space.group
    pods = []
    for node, content in enumerate(contents):
        for at in group.judged_kinds:
            kind = group.kinds[at]
            number = content >> (BITS * at) & MOST_PODS
            if node not in dead:
                pods += [GroupPod(group.owners[kind.owner].key, group.layout.nodes[node])] * number
    for item in waiting:
        pods += [GroupPod(item.owner, "")] * item.number
    layout = group.layout
    domains = {
        key: {layout.nodes[node]: layout.values[key][domain] for node, domain in enumerate(domain_of) if domain >= 0}
        for key, domain_of in layout.domain_of.items()
    }
    return GroupState(tuple(pods), space.judged_replicas(last), domains)


def _waiting(space: Space, state: State, owners: Sequence[int]) -> tuple[StuckPods, ...]:
    """Return the waiting pods of a representative; owners: real workload for each of its workloads."""
    placed = space.placed_counts(state)
    found: dict[ObjectKey, int] = {}
    for at in space.judged_waiting_kinds(state, placed):
        kind = space.group.kinds[at]
        number = 1 if kind.ordinal >= 0 else state[1][at] - placed[at]
        if space.group.owners[kind.owner].is_ordered:
            number = 1  # The next pods are created once this one is ready.
        key = space.group.owners[owners[kind.owner]].key
        found[key] = found.get(key, 0) + number
    return tuple(StuckPods(key, number) for key, number in found.items())


def _counts(space: Space, key: str, contents: Sequence[int], *, dead: frozenset[int]) -> dict[str, int]:
    layout = space.group.layout
    found = dict.fromkeys(layout.values[key], 0)
    for node, content in enumerate(contents):
        domain = layout.domain_of[key][node]
        if domain >= 0 and node not in dead:
            found[layout.values[key][domain]] += total_of(content, space.group.judged_kinds)
    return dict(sorted(found.items()))


def _event(space: Space, step: _Step, ordinal: int, before: Sequence[int]) -> WitnessEvent:
    """Return an event with the names of its objects; ordinal: of its pod, from 0 on, or -1; before: all pods."""
    layout = space.group.layout
    owner = space.group.owners[step.owner] if step.owner >= 0 else None
    kind = space.group.kinds[step.pods] if step.pods >= 0 else None
    if kind is not None and kind.ordinal >= 0:  # Also of a pod that has no node.
        ordinal = kind.ordinal
    found = WitnessEvent(
        step.event.kind,
        None if owner is None else owner.key,
        ordinal + owner.first_ordinal if owner is not None and ordinal >= 0 else -1,
        node=layout.nodes[step.node] if step.node >= 0 else "",
        number=step.event.number,
        nodes=() if step.event.node >= 0 else tuple(_deleted(space, step, before)),
        is_new=kind is not None and kind.is_new,
        kept=step.event.number if step.event.is_shrunk else -1,
    )
    return _disrupting(space, step, found) if step.event.disruption >= 0 else found


def _deleted(space: Space, step: _Step, before: Sequence[int]) -> Iterator[str]:
    """Yield the node of each pod that an event deletes."""
    kinds = range(len(space.group.kinds))
    for name, old, new in zip(space.group.layout.nodes, before, step.contents, strict=True):
        yield from [name] * max(0, total_of(old, kinds) - total_of(new, kinds))


def _disrupting(space: Space, step: _Step, found: WitnessEvent) -> WitnessEvent:
    """Return the event of a disruption with the names of its nodes or domains."""
    layout, item = space.group.layout, space.disruptions[step.event.disruption]
    domain_of, values = layout.domain_of[item.topology_key], layout.values[item.topology_key]
    domains = tuple(sorted({values[domain_of[node]] for node in step.nodes}))
    if item.kind is LossKind.DRAIN:
        domains = tuple(layout.nodes[node] for node in step.nodes)
    is_loss = item.kind is LossKind.LOSS
    return found._replace(owner=None, node="", topology_key=item.topology_key, domains=domains, is_loss=is_loss)


class _Step(NamedTuple):
    """An event with the real names: indices of node, workload and kind of pods; -1 for none.

    nodes: of a disruption. contents: the pods on each node after the event, by real node and kind. owners: real
    workload for each workload of the representative after the event. is_chance: a pod was deleted that nobody had to
    delete, or the scheduler chose among nodes that are not interchangeable.
    """

    event: Event
    node: int
    owner: int
    pods: int
    nodes: tuple[int, ...]
    contents: tuple[int, ...]
    owners: tuple[int, ...]
    is_chance: bool = False


def _trace(space: Space, way: Sequence[State]) -> tuple[_Step, ...]:
    """Return the events along a way of representatives, under the names of one run."""
    running = space.running()
    begin = next(item for item in (space.start(), running) if item is not None and space.canonical(item) == way[0])
    now, nodes, owners = space.renaming(begin)
    found = []
    for wanted in way[1:]:
        following = list(space.events(now))
        event, raw = next((event, raw) for event, raw in following if space.canonical(raw) == wanted)
        is_chance = event.kind is TransitionKind.RESTARTED or any(
            other.kind is event.kind is TransitionKind.PLACED and other.pods == event.pods and other.node != event.node
            for other, _ in following
        )
        if event.order is not None:
            nodes = [nodes[old] for old in event.order]
        now, order, exchanged = space.renaming(raw)
        step = _named_step(space, event, raw[0], nodes=nodes, owners=owners, exchanged=exchanged)
        found.append(step._replace(is_chance=is_chance))
        nodes = [nodes[old] for old in order]
        owners = [owners[old] for old in exchanged]
    return tuple(found)


def _named_step(
    space: Space,
    event: Event,
    contents: tuple[int, ...],
    *,
    nodes: Sequence[int],
    owners: Sequence[int],
    exchanged: Sequence[int],
) -> _Step:
    """Return an event under real names; contents: after it, under the names that nodes and owners translate."""
    inside = space.disruptions[event.disruption].nodes if event.disruption >= 0 else ()
    owner = owners[event.owner] if event.owner >= 0 else -1
    return _Step(
        event,
        nodes[event.node] if event.node >= 0 else -1,
        owner,
        space.kind_of(event.pods, owner),
        tuple(sorted(nodes[at] for at in inside)),
        space.under_names(contents, nodes, owners),
        tuple(owners[old] for old in exchanged),
    )


def _ordinals(space: Space, steps: Sequence[_Step], *, is_from_running: bool) -> list[int]:
    """Return the ordinal of each step's pod, -1 for none.

    States do not always tell the pods of a StatefulSet apart. Its controller gives a new pod the lowest free ordinal.
    """
    homes = [[-1] * spec.most for spec in space.group.owners]  # Node of each ordinal, -1 for none.
    for pod in sorted(space.group.placed if is_from_running else (), key=lambda pod: pod.ordinal, reverse=True):
        mine = homes[space.group.kinds[pod.kind].owner]
        mine[pod.ordinal if 0 <= pod.ordinal < len(mine) else mine.index(-1)] = pod.node
    found = []
    for step in steps:
        found.append(-1)
        if step.owner < 0 or step.pods < 0 or step.node < 0 or not space.group.owners[step.owner].is_stateful:
            continue
        mine, is_placed = homes[step.owner], step.event.kind is TransitionKind.PLACED
        there = [at for at, node in enumerate(mine) if node == (-1 if is_placed else step.node)]
        found[-1] = space.group.kinds[step.pods].ordinal
        if found[-1] < 0:
            found[-1] = there[0] if is_placed else there[-1]
        mine[found[-1]] = step.node if is_placed else -1
    return found


class ProofStatus(Enum):
    """Answer for one rule in one regime."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    NOT_APPLICABLE = "notApplicable"


def worst(verdicts: Iterable[ProofStatus]) -> ProofStatus:
    """Return the worst verdict; NOT_APPLICABLE if nothing is to be decided."""
    found = set(verdicts)
    order = (ProofStatus.REFUTED, ProofStatus.UNDECIDED, ProofStatus.PROVED)
    return next((item for item in order if item in found), ProofStatus.NOT_APPLICABLE)


class Method(Enum):
    """How a rule was decided."""

    BOUND = "bound"  # a limit that holds in any order
    STATES = "states"  # every state was visited
    MERGED = "mergedStates"  # every state was visited, with all workloads as one; more can happen there than in fact
    WITNESS = "witness"
    NONE = "none"


class RuleVerdict(NamedTuple):
    """Verdict on a rule in a regime.

    limit: the most or least that the rule allows, at the wanted replicas. states: number of visited states; 0 if gaps
    leave the rule undecided. regime: in which a witness was found first. witness: shortest way to a violation.
    settled: verdict once nothing moves by itself any more, if the rule is violated while pods move.
    """

    rule: PolicyRule
    verdict: ProofStatus
    method: Method
    limit: int = 0
    bound: Optional[Bound] = None
    states: int = 0
    regime: Optional[Regime] = None
    witness: Optional[Witness] = None
    settled: Optional[RuleVerdict] = None

    @property
    def once_settled(self) -> RuleVerdict:
        """Return the verdict once nothing moves by itself any more."""
        return self.settled or self


class RegimeResult(NamedTuple):
    """Verdicts in a regime; why: reason for a regime that does not apply."""

    regime: Regime
    rules: tuple[RuleVerdict, ...]
    seconds: float = 0.0

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
