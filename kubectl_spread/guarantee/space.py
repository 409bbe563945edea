"""States of a group of workloads, and the events between them.

A deleted pod leaves and is created again at once, because the scheduler does not count a terminating pod and its
controller replaces it.

States without the names of workloads and revisions allow more than can really happen, so they can only prove rules.
Workloads and revisions whose pods pass the same filters become one workload. The anti-affinity between the pods of each
is left out, except where a pod stays Pending. Its siblings keep it from at most one domain each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Optional

from kubectl_spread.caching import cached_method
from kubectl_spread.guarantee.controllers import controllers, Replicas
from kubectl_spread.guarantee.model import (
    BITS,
    count_of,
    Disruption,
    Event,
    Filters,
    GroupModel,
    Kind,
    KindFilters,
    matching,
    most_at_once,
    MOST_PODS,
    Next,
    OwnerSpec,
    Spread,
    State,
    TransitionKind,
    with_pod,
)
from kubectl_spread.guarantee.policy import PolicyRule, Regime, REGIMES, RuleKind
from kubectl_spread.guarantee.symmetry import CanonicalLayout, firsts, OwnerNames, Partition, tree

_MOST_KNOWN = 100_000  # answers of the filters that are kept


class Space:
    """States and events of a group in a regime."""

    def __init__(
        self,
        group: GroupModel,
        filters: Callable[[Optional[Disruption]], Filters],
        rules: Sequence[PolicyRule],
        regime: Regime,
        *,
        disruptions: Sequence[Disruption] = (),
    ) -> None:
        """Set up the space.

        Args:
            group: the workloads.
            filters: returns the filters of the nodes as they are, or during a disruption.
            rules: rules that are checked; their keys distinguish nodes.
            regime: events that may happen.
            disruptions: drains and losses that may happen.
        """
        self.group = group
        self.rules = rules
        self.level = regime.level
        self.disruptions = tuple(disruptions) if regime is Regime.DISRUPTIONS else ()
        self._filters = filters
        self._hosts: dict[tuple[int, int, tuple[int, ...]], list[int]] = {}
        self.controllers = controllers(group)
        self._most_pods = sum(most_at_once(owner, owner.most) for owner in group.owners)
        self._judged = [item for item in self.controllers if item.spec.is_judged]
        judged = set(group.judged_kinds)
        self._is_judged = tuple(at in judged for at in range(len(group.kinds)))
        if self.disruptions:  # One for each kind of node or domain: equal ones have equal results.
            first_of = firsts(self.arrangement(0).tree)
            self.disruptions = tuple(
                item for item in self.disruptions if len(item.domains) > 1 or first_of[item.nodes[0]] in item.nodes
            )
        versions = [self.filters(at) for at in range(len(self.disruptions) + 1)] if len(group.owners) > 1 else []
        self._names = OwnerNames(group, versions)
        self.kind_of, self.under_names = self._names.kind_of, self._names.under_names

    # The nodes.

    @cached_method
    def filters(self, facts: int) -> Filters:
        """Return the filters of a version of the nodes: 0 as they are, N + 1 during disruption N."""
        return self._filters(self.disruptions[facts - 1] if facts else None)

    @cached_method
    def arrangement(self, facts: int) -> CanonicalLayout:
        """Return the interchangeable nodes of a version."""
        # The domains that matter, and what distinguishes the nodes otherwise.
        signs: list[list[object]] = [[] for _ in self.group.layout.nodes]
        partitions: list[Partition] = []

        def sign(nodes: Sequence[int]) -> None:
            chosen = set(nodes)
            for at, own in enumerate(signs):
                own.append(at in chosen)

        def divide(domain_of: tuple[int, ...]) -> None:
            partitions.append(Partition(domain_of, ((),) * (max(domain_of, default=-1) + 1)))

        if facts:
            sign(self.disruptions[facts - 1].nodes)
        for version in dict.fromkeys((0, facts)):
            model = self.filters(version)
            rooms = self._rooms(model)
            for at, own in enumerate(signs):
                own += [rooms[at] if rooms else (), tuple(at in item.allowed for item in model.of_kind)]
            for item in model.of_kind:
                for spread in item.spreads:
                    eligible = set(spread.eligible)
                    counts = tuple((number, at in eligible) for at, number in enumerate(spread.base))
                    partitions.append(Partition(spread.domain_of, counts))
                    sign(spread.counted)
                for separation in item.separations:
                    divide(separation.domain_of)
        keys = {rule.topology_key for rule in self.rules if rule.topology_key}
        for key in sorted(keys | {item.topology_key for item in self.disruptions if item.is_loss}):
            divide(self.group.layout.domain_of[key])
        return CanonicalLayout(tree(partitions, [tuple(own) for own in signs]))

    def _rooms(self, model: Filters) -> list[tuple[int, ...]]:
        """Return the room of each node in units of the pods' requests, and no more than all pods need."""
        most, requests = self._most_pods, zip(*(item.requests for item in model.of_kind), strict=True)
        units = [(math.gcd(*each) or 1, most * max(each)) for each in requests]
        return [
            tuple(max(0, min(room, need)) // unit for room, (unit, need) in zip(free, units, strict=True))
            for free in model.free
        ]

    def hosts(self, facts: int, kind: int, contents: tuple[int, ...]) -> list[int]:
        """Return the nodes that pass all filters for a pod of a kind."""
        key = (facts, kind, contents)
        found = self._hosts.get(key)
        if found is None:
            if len(self._hosts) > _MOST_KNOWN:
                self._hosts.clear()
            found = self._hosts[key] = self._filtered(facts, kind, contents)
        return found

    def _filtered(self, facts: int, kind: int, contents: tuple[int, ...]) -> list[int]:
        model = self.filters(facts)
        item = model.of_kind[kind]
        nodes: Any = item.allowed
        for separation in item.separations:
            domain_of, matches = separation.domain_of, separation.matches
            taken = {domain_of[at] for at, content in enumerate(contents) if content and matching(matches, content)}
            nodes = [at for at in nodes if domain_of[at] < 0 or domain_of[at] not in taken]
            if not nodes:
                return []
        for spread in item.spreads:
            nodes = self._within_skew(spread, contents, nodes)
            if not nodes:
                return []
        for resource, wanted in enumerate(item.requests if model.free else ()):
            if wanted:
                amounts = tuple([other.requests[resource] for other in model.of_kind])
                nodes = [at for at in nodes if wanted <= model.free[at][resource] - matching(amounts, contents[at])]
        return list(nodes)

    def _within_skew(self, spread: Spread, contents: tuple[int, ...], nodes: Sequence[int]) -> list[int]:
        counts = list(spread.base)
        domain_of, matches = spread.domain_of, spread.matches
        for at in spread.counted:
            content = contents[at]
            if content:
                counts[domain_of[at]] += matching(matches, content)
        if spread.is_below:
            least = 0
        elif spread.eligible:
            least = min([counts[at] for at in spread.eligible])
        else:
            least = MOST_PODS * len(contents)
        most = spread.max_skew - spread.self_match + least
        return [at for at in nodes if domain_of[at] >= 0 and counts[domain_of[at]] <= most]

    # States.

    def start(self) -> State:
        """Return the state in which no pod exists yet."""
        owners = self.group.owners
        sizes = (
            0 if kind.is_new else 1 if kind.ordinal >= 0 else owners[kind.owner].first for kind in self.group.kinds
        )
        desired = tuple(owner.first for owner in owners)
        return ((0,) * len(self.group.layout.nodes), tuple(sizes), 0, desired)

    def running(self) -> Optional[State]:
        """Return the state with the pods that run now; None if there are none, or more than are wanted."""
        if not self.group.placed:
            return None
        found = self.start()
        for pod in self.group.placed:
            found = with_pod(found, pod.kind, pod.node)
        placed = self.placed_counts(found)
        return found if all(one <= size for one, size in zip(placed, found[1], strict=True)) else None

    def placed_counts(self, state: State) -> list[int]:
        """Return the placed pods of each kind."""
        total = sum(state[0])
        return [total >> (BITS * at) & MOST_PODS for at in range(len(self.group.kinds))]

    def waiting(self, state: State, placed: Sequence[int]) -> list[int]:
        """Return the kinds with a pod that waits for a node."""
        dead = self.dead(state[2])
        return [at for controller in self.controllers for at in controller.waiting(state, placed, dead)]

    def is_wanted(self, state: State, kind: int) -> bool:
        """Return whether a pod of a kind that was just deleted is created again."""
        ordinal, owner = self.group.kinds[kind].ordinal, self.group.kinds[kind].owner
        return ordinal < state[3][owner] if ordinal >= 0 else state[1][kind] > self.placed_counts(state)[kind]

    def judged_waiting_kinds(self, state: State, placed: Sequence[int]) -> list[int]:
        """Return the judged kinds with a pod that waits for a node."""
        return [at for at in self.waiting(state, placed) if self._is_judged[at]]

    def judged_placed_count(self, state: State) -> int:
        """Return the number of placed pods that are judged."""
        is_judged = self._judged_in(state[3])
        return sum([number for at, number in enumerate(self.placed_counts(state)) if is_judged[at]])

    def judged_contents(self, contents: Sequence[int], desired: Sequence[int]) -> tuple[int, ...]:
        """Return only the judged pods in contents; desired: replicas of each workload."""
        kinds = [at for at, is_judged in enumerate(self._judged_in(desired)) if is_judged]
        return tuple(sum(count_of(content, at) << BITS * at for at in kinds) for content in contents)

    def _judged_in(self, desired: Sequence[int]) -> tuple[bool, ...]:
        """Return whether the pods of each kind are judged: those of a deleted workload no longer are."""
        if self.group.shards is None:
            return self._is_judged
        owners = self.group.owners
        return tuple(
            is_judged and not (owners[kind.owner].is_shard and not desired[kind.owner])
            for is_judged, kind in zip(self._is_judged, self.group.kinds, strict=True)
        )

    def judged_replicas(self, state: State) -> int:
        """Return the replicas of the judged workloads."""
        return sum([state[3][item.owner] for item in self._judged])

    def canonical(self, state: State) -> State:
        """Return the representative of all states that differ in interchangeable names only."""
        (contents, sizes, facts, desired), _ = self._names.ordered(state)
        return (self.arrangement(facts).representative(contents), sizes, facts, desired)

    def renaming(self, state: State) -> tuple[State, list[int], Sequence[int]]:
        """Return the representative, with the node that comes to each place, and the workload that gets each name."""
        (contents, sizes, facts, desired), owners = self._names.ordered(state)
        arrangement = self.arrangement(facts)
        return (arrangement.representative(contents), sizes, facts, desired), arrangement.order(contents), owners

    def is_at_rest(self, state: State, controllers: Optional[Sequence[Replicas]] = None) -> bool:
        """Return whether all wanted pods are placed, no others are left, and no rollout is under way.

        controllers: of some workloads; by default of all.
        """
        placed, dead = self.placed_counts(state), self.dead(state[2])
        return not any(
            item.waiting(state, placed, dead) or item.is_rolling(state) or item.condemned(state, placed)
            for item in (self.controllers if controllers is None else controllers)
        )

    def is_settled(self, state: State) -> bool:
        """Return whether nothing happens by itself: no waiting pod finds a node, and no controller acts."""
        placed = self.placed_counts(state)
        if any(self.hosts(state[2], at, state[0]) for at in self.waiting(state, placed)):
            return False
        if state[2]:
            return not self._affected(state)
        is_rolled = any(controller.is_rolling(state) for controller in self.controllers)
        twins = self.arrangement(0).twins(state[0]) if is_rolled else ()
        return not any(
            event.kind is not TransitionKind.ROLLED
            for controller in self.controllers
            for event, _ in (*controller.removed(state, placed), *controller.rollout(state, placed, twins))
        )

    # Events.

    def events(self, state: State) -> Iterator[Next]:
        """Yield all events and the states after them, which are not canonical."""
        placed = self.placed_counts(state)
        arrangement = self.arrangement(state[2])
        nodes, twins = arrangement.distinct(state[0]), arrangement.twins(state[0])
        yield from self._placements(state, placed, nodes)
        if state[2]:
            inside = [node for node in nodes if node in self.disruptions[state[2] - 1].nodes]
            yield from self._restarts(state, inside, TransitionKind.EVICTED)
            yield Event(TransitionKind.RETURNED, disruption=state[2] - 1), (state[0], state[1], 0, state[3])
            return
        for controller in self.controllers:
            yield from controller.removed(state, placed)
        if self.level >= Regime.RESTARTS.level:
            yield from self._restarts(state, nodes)
        for controller in self.controllers:
            if self.level >= Regime.ROLLOUTS.level:
                yield from controller.rollout(state, placed, twins)
            if self.level >= Regime.SCALING.level:
                yield from controller.scaled(state, placed, twins)
        if self.disruptions and self.is_at_rest(state):
            yield from self._begun(state, nodes)

    def _placements(self, state: State, placed: Sequence[int], nodes: Sequence[int]) -> Iterator[Next]:
        is_distinct = set(nodes)
        for kind in self.waiting(state, placed):
            owner = self.group.kinds[kind].owner
            for node in self.hosts(state[2], kind, state[0]):
                if node in is_distinct:
                    yield Event(TransitionKind.PLACED, kind, node, owner), with_pod(state, kind, node)

    def _restarts(
        self, state: State, nodes: Sequence[int], kind: TransitionKind = TransitionKind.RESTARTED
    ) -> Iterator[Next]:
        for node in nodes:
            content = state[0][node]
            for at in range(len(self.group.kinds)) if content else ():
                if count_of(content, at):
                    owner = self.group.kinds[at].owner
                    after = self.controllers[owner].replaced(with_pod(state, at, node, -1), at)
                    yield Event(kind, at, node, owner), after

    def possible_pods(self, state: State) -> int:
        """Return how many pods can run at once before the rollouts that are under way end."""
        placed = self.placed_counts(state)
        return sum([controller.possible_pods(state, placed) for controller in self.controllers])

    # Disruptions.

    def _begun(self, state: State, nodes: Sequence[int]) -> Iterator[Next]:
        arrangement = self.arrangement(0)
        seen: set[State] = set()
        for at, item in enumerate(self.disruptions):
            if len(item.domains) > 1:  # Several domains at once are tried as they are.
                yield Event(TransitionKind.DISRUPTED, disruption=at), (*state[:2], at + 1, state[3])
                continue
            places = nodes
            if item.is_loss:  # one node of each domain
                domain_of = self.group.layout.domain_of[item.topology_key]
                places = list({domain_of[node]: node for node in reversed(nodes) if domain_of[node] >= 0}.values())
            for node in places:
                order = arrangement.swap_with_first(node)
                place = order.index(node)
                if place not in item.nodes:
                    continue
                contents = tuple(state[0][old] for old in order)
                made: State = (contents, state[1], at + 1, state[3])
                if made not in seen:
                    seen.add(made)
                    moved = None if order == sorted(order) else tuple(order)
                    yield Event(TransitionKind.DISRUPTED, node=place, disruption=at, order=moved), made

    def _affected(self, state: State) -> bool:
        return any(state[0][node] for node in self.disruptions[state[2] - 1].nodes)

    # Rules.

    def _keeps_waiting(self, state: State) -> bool:
        """Return whether judged pods wait forever."""
        return bool(self.judged_waiting_kinds(state, self.placed_counts(state))) and self.is_settled(state)

    def dead(self, facts: int) -> frozenset[int]:
        """Return the nodes whose pods do not run."""
        item = self.disruptions[facts - 1] if facts else None
        return frozenset(item.nodes) if item is not None and item.is_loss else frozenset()

    def is_violated(self, rule: PolicyRule, state: State) -> bool:
        """Return whether a state violates a rule."""
        if rule.kind is RuleKind.PLACED:
            return not state[2] and self._keeps_waiting(state)
        if rule.kind is RuleKind.REPLACED:
            return bool(state[2]) and self.disruptions[state[2] - 1].is_loss_of(rule) and self._keeps_waiting(state)
        if rule.is_momentary:
            return self._is_too_full(rule, state)
        if rule.kind is RuleKind.MIN_DOMAINS:
            is_short = len(self.domain_counts(rule.topology_key, state)) < rule.amount.numerator
            return (
                is_short
                and self.is_at_rest(state, self._judged)
                and not (self.dead(state[2]) and self._affected(state))
            )
        if state[2] or not self.is_at_rest(state, self._judged):
            return False
        counts = sorted(self.domain_counts(rule.topology_key, state).values(), reverse=True)
        left = self.judged_placed_count(state) - sum(counts[: rule.lost])
        return left < rule.amount.at_least(self.judged_replicas(state))

    def domain_contents(self, key: str, state: State) -> dict[int, int]:
        """Return the running pods of each domain that has any, as the sum of contents."""
        dead = self.dead(state[2]) if state[2] else ()
        found: dict[int, int] = {}
        for at, (content, domain) in enumerate(zip(state[0], self.group.layout.domain_of[key], strict=True)):
            if content and domain >= 0 and at not in dead:
                found[domain] = found.get(domain, 0) + content
        return found

    def domain_counts(self, key: str, state: State) -> dict[int, int]:
        """Return the running pods of each domain that has any."""
        contents = self.domain_contents(key, state)
        is_judged = self._judged_in(state[3])
        counts = {at: matching(is_judged, content) for at, content in contents.items()}
        return {at: number for at, number in counts.items() if number}

    def base(self, state: State) -> int:
        """Return the number of pods that shares refer to."""
        return max(self.judged_replicas(state), self.judged_placed_count(state))

    def _is_too_full(self, rule: PolicyRule, state: State) -> bool:
        if rule.kind is RuleKind.SEPARATE:
            is_judged = self._judged_in(state[3])
            for item in self._judged:
                matches = tuple(at in item.kinds and is_judged[at] for at in range(len(self.group.kinds)))
                contents = self.domain_contents(rule.topology_key, state).values()
                if any(matching(matches, content) > 1 for content in contents):
                    return True
            return False
        counts = self.domain_counts(rule.topology_key, state)
        most = rule.most(self.base(state))
        return most is not None and max(counts.values(), default=0) > most


def merge_names(space: Space) -> Optional[MergedSpace]:
    """Return the states without the workloads' names; None if this is impossible or makes no difference."""
    group = space.group
    if len(group.kinds) < 2 or space.level > Regime.ROLLOUTS.level or group.placed:
        return None
    if any(kind.ordinal >= 0 for kind in group.kinds) or len(group.judged_kinds) < len(group.kinds):
        return None
    model = space.filters(0)
    first = model.of_kind[0]
    # All pass the same filters, but for the kinds that their anti-affinity keeps away.
    if any(item._replace(separations=()) != first._replace(separations=()) for item in model.of_kind):
        return None
    if any(len(set(spread.matches)) > 1 for item in model.of_kind for spread in item.spreads):
        return None
    return MergedSpace(space)


def _most_of(spec: OwnerSpec) -> int:
    return most_at_once(spec, spec.replicas) if spec.is_rolled else spec.replicas


class MergedSpace(Space):
    """States of a group as if it were one workload."""

    def __init__(self, space: Space) -> None:
        """Merge the workloads of a space."""
        owners = space.group.owners
        pods = sum(owner.replicas for owner in owners)
        whole = OwnerSpec(owners[0].key, pods)
        group = GroupModel(space.group.name, (whole,), (Kind(0),), space.group.layout)
        regime = REGIMES[min(space.level, Regime.RESTARTS.level)]
        model = space.filters(0)
        first = model.of_kind[0]
        spreads = tuple(spread._replace(matches=(spread.matches[0],)) for spread in first.spreads)
        made = Filters((KindFilters(first.allowed, spreads, (), first.requests),), model.free, model.resources)
        # The domains of each anti-affinity, and the most domains from which siblings keep a pod
        siblings: set[tuple[tuple[int, ...], int]] = set()
        for kind, item in zip(space.group.kinds, model.of_kind, strict=True):
            for separation in item.separations:  # Pods of all revisions match, apart from the revision label.
                matched = {other.owner for at, other in enumerate(space.group.kinds) if separation.matches[at]}
                others = sum(_most_of(owners[owner]) for owner in matched)
                siblings.add((separation.domain_of, others - 1 if kind.owner in matched else others))
        self._siblings = sorted(siblings)
        super().__init__(group, lambda _disruption: made, space.rules, regime)
        self._most_pods = sum(map(_most_of, owners))
        self._waits_at = self._most_pods - 1

    def can_prove(self, rule: PolicyRule) -> bool:
        """Return whether the states say enough about a rule."""
        if rule.kind is RuleKind.PLACED:
            return len({domain_of for domain_of, _ in self._siblings}) < 2
        return rule.kind in (RuleKind.MAX_SHARE, RuleKind.MAX_COUNT, RuleKind.MIN_DOMAINS)

    def start(self) -> State:
        """Return the state without pods, in which the surge pods of rollouts are wanted, too."""
        return ((0,) * len(self.group.layout.nodes), (self._most_pods,), 0, (self.group.owners[0].replicas,))

    def is_violated(self, rule: PolicyRule, state: State) -> bool:
        """Return whether a state may violate a rule."""
        if rule.kind is RuleKind.PLACED:
            return sum(state[0]) <= self._waits_at and self._may_wait(state)
        if rule.kind is RuleKind.MIN_DOMAINS:
            is_short = len(self.domain_counts(rule.topology_key, state)) < rule.amount.numerator
            return is_short and sum(state[0]) >= self.group.owners[0].replicas
        return super().is_violated(rule, state)

    def is_settled(self, state: State) -> bool:
        """Return whether nothing may happen by itself: all wanted pods are placed, or some pod may wait."""
        number = sum(state[0])
        return number == self.group.owners[0].replicas or (number <= self._waits_at and self._may_wait(state))

    def _may_wait(self, state: State) -> bool:
        """Return whether siblings can keep a waiting pod from every node that has room for it."""
        hosts = self.hosts(0, 0, state[0])
        if not hosts:
            return True
        for domain_of, most in self._siblings:
            used = {domain_of[at] for at, content in enumerate(state[0]) if content}
            domains = {domain_of[at] for at in hosts}
            if -1 not in domains and domains <= used and len(domains) <= most:
                return True
        return False
