"""States of a group of workloads, and the events between them.

Events without a choice are merged. A deleted pod leaves and is created again at once, because the scheduler does not
count a terminating pod and its controller replaces it. In a Deployment's rollout, new pods can be scheduled before the
old ReplicaSet has deleted the pods that they replace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, Optional

from kubectl_spread.guarantee.model import (
    BITS,
    count_of,
    Disruption,
    Event,
    fenceposts,
    Filters,
    GroupModel,
    HostFinder,
    Kind,
    LossKind,
    most_at_once,
    MOST_PODS,
    Next,
    Spread,
    State,
    TransitionKind,
)
from kubectl_spread.guarantee.ordinals import OrdinalRollouts
from kubectl_spread.guarantee.policy.policy import PolicyRule, Regime, RuleKind
from kubectl_spread.guarantee.symmetry import CanonicalLayout, OwnerNames, Partition, tree

_MOST_VICTIMS = 64  # choices of pods that a ReplicaSet deletes at once
_ORDER = {regime: at for at, regime in enumerate(Regime)}


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
        self.level = _ORDER[regime]
        self.disruptions = tuple(disruptions) if self.level == _ORDER[Regime.DISRUPTIONS] else ()
        self._filters = filters
        self._known: dict[int, Filters] = {}
        self._arrangements: dict[int, CanonicalLayout] = {}
        finder = HostFinder(self.filters)
        self.hosts, self.matching = finder.hosts, finder.matching
        kinds = group.kinds
        self._units = [1 << (BITS * at) for at in range(len(kinds))]
        self._of_owner = [
            [at for at, kind in enumerate(kinds) if kind.owner == owner] for owner in range(len(group.owners))
        ]
        self._ordinals = [any(kinds[at].ordinal >= 0 for at in mine) for mine in self._of_owner]
        self._judged_owners = [at for at, owner in enumerate(group.owners) if owner.is_judged]
        judged = set(group.judged_kinds)
        self._is_judged = tuple(at in judged for at in range(len(kinds)))
        self.ordinals = OrdinalRollouts(group, self._of_owner)
        self.disruptions = self._distinct_disruptions()
        versions = [self.filters(at) for at in range(len(self.disruptions) + 1)] if len(group.owners) > 1 else []
        self._names = OwnerNames(group, versions, self.matching)
        self.kind_of, self.under_names = self._names.kind_of, self._names.under_names

    # The nodes.

    def _distinct_disruptions(self) -> tuple[Disruption, ...]:
        """Return one disruption for each kind of node or domain: equal ones have equal results."""
        if not self.disruptions:
            return ()
        firsts = self.arrangement(0).firsts()
        return tuple(item for item in self.disruptions if len(item.domains) > 1 or firsts[item.nodes[0]] in item.nodes)

    def filters(self, facts: int) -> Filters:
        """Return the filters of a version of the nodes: 0 as they are, N + 1 during disruption N."""
        found = self._known.get(facts)
        if found is None:
            found = self._known[facts] = self._filters(self.disruptions[facts - 1] if facts else None)
        return found

    def arrangement(self, facts: int) -> CanonicalLayout:
        """Return the interchangeable nodes of a version."""
        found = self._arrangements.get(facts)
        if found is None:
            found = self._arrangements[facts] = CanonicalLayout(tree(*self._structure(facts)))
        return found

    def _structure(self, facts: int) -> tuple[list[Partition], list[Any]]:
        """Return the domains that matter, and what distinguishes the nodes otherwise."""
        signs: list[list[object]] = [[] for _ in self.group.layout.nodes]
        partitions: list[Partition] = []
        if facts:
            _sign(signs, set(self.disruptions[facts - 1].nodes))
        for version in (0, facts) if facts else (0,):
            model = self.filters(version)
            for at, sign in enumerate(signs):
                sign += [model.free[at] if model.free else (), tuple(at in item.allowed for item in model.of_kind)]
            for item in model.of_kind:
                partitions += [_by_spread(spread) for spread in item.spreads]
                partitions += [_plain(separation.domain_of) for separation in item.separations]
                for spread in item.spreads:
                    _sign(signs, set(spread.counted))
        partitions += [_plain(self.group.layout.domain_of[key]) for key in self._named_keys()]
        return partitions, [tuple(sign) for sign in signs]

    def _named_keys(self) -> list[str]:
        """Return the topology keys that rules and losses name."""
        keys = {rule.topology_key for rule in self.rules if rule.topology_key}
        return sorted(keys | {item.topology_key for item in self.disruptions if item.kind is LossKind.LOSS})

    # States.

    def start(self) -> State:
        """Return the state in which no pod exists yet."""
        desired = tuple(owner.first for owner in self.group.owners)
        sizes = tuple(self._first_size(kind) for kind in self.group.kinds)
        return ((0,) * len(self.group.layout.nodes), sizes, 0, desired)

    def running(self) -> Optional[State]:
        """Return the state with the pods that run now; None if there are none, or more than are wanted."""
        if not self.group.placed:
            return None
        contents, sizes, facts, desired = self.start()
        made = list(contents)
        for pod in self.group.placed:
            made[pod.node] += self._units[pod.kind]
        found = (tuple(made), sizes, facts, desired)
        placed = self.placed_counts(found)
        return found if all(one <= size for one, size in zip(placed, sizes, strict=True)) else None

    def _first_size(self, kind: Kind) -> int:
        if kind.is_new:
            return 0
        return 1 if kind.ordinal >= 0 else self.group.owners[kind.owner].first

    def unit(self, kind: int) -> int:
        """Return the content of a node with one pod of a kind."""
        return self._units[kind]

    def placed_counts(self, state: State) -> list[int]:
        """Return the placed pods of each kind."""
        total = sum(state[0])
        return [total >> (BITS * at) & MOST_PODS for at in range(len(self.group.kinds))]

    def waiting(self, state: State, placed: Sequence[int]) -> list[int]:
        """Return the kinds with a pod that waits for a node."""
        found: list[int] = []
        for owner, mine in enumerate(self._of_owner):
            if not self._ordinals[owner]:
                found += [at for at in mine if state[1][at] > placed[at]]
                continue
            found += self.ordinals.kinds_to_create(owner, state, placed, dead=self.dead(state[2]))
        return found

    def judged_waiting_kinds(self, state: State, placed: Sequence[int]) -> list[int]:
        """Return the judged kinds with a pod that waits for a node."""
        return [at for at in self.waiting(state, placed) if self._is_judged[at]]

    def judged_placed_count(self, state: State) -> int:
        """Return the number of placed pods that are judged."""
        is_judged = self._judged_in(state)
        return sum([number for at, number in enumerate(self.placed_counts(state)) if is_judged[at]])

    def judged_contents(self, contents: Sequence[int], desired: Sequence[int]) -> tuple[int, ...]:
        """Return only the judged pods in contents; desired: replicas of each workload."""
        kinds = [at for at, is_judged in enumerate(self._existing(desired)) if is_judged]
        return tuple(sum(count_of(content, at) * self._units[at] for at in kinds) for content in contents)

    def _judged_in(self, state: State) -> tuple[bool, ...]:
        """Return whether the pods of each kind are judged: those of a deleted workload no longer are."""
        return self._is_judged if self.group.shards is None else self._existing(state[3])

    def _existing(self, desired: Sequence[int]) -> tuple[bool, ...]:
        owners = self.group.owners
        return tuple(
            is_judged and not (owners[kind.owner].is_shard and not desired[kind.owner])
            for is_judged, kind in zip(self._is_judged, self.group.kinds, strict=True)
        )

    def judged_replicas(self, state: State) -> int:
        """Return the replicas of the judged workloads."""
        return sum([state[3][owner] for owner in self._judged_owners])

    def canonical(self, state: State) -> State:
        """Return the representative of all states that differ in interchangeable names only."""
        return self.renaming(state)[0]

    def renaming(self, state: State) -> tuple[State, list[int], Sequence[int]]:
        """Return the representative, with the node that comes to each place, and the workload that gets each name."""
        (contents, sizes, facts, desired), owners = self._names.ordered(state)
        placed, nodes = self.arrangement(facts).ordered(contents)
        return (placed, sizes, facts, desired), nodes, owners

    def is_rolling(self, state: State) -> bool:
        """Return whether a rollout is under way."""
        return any(self._rolls(state, owner) for owner in range(len(self._of_owner)))

    def _rolls(self, state: State, owner: int) -> bool:
        if self._ordinals[owner]:
            return self.ordinals.is_rolling(owner, state)
        return self.group.owners[owner].is_rolled and bool(state[1][self._of_owner[owner][1]])

    def is_at_rest(self, state: State) -> bool:
        """Return whether all wanted pods are placed, no others are left, and no rollout is under way."""
        placed = self.placed_counts(state)
        return not self.waiting(state, placed) and not self.is_rolling(state) and not self._condemned(state, placed)

    def _condemned(self, state: State, placed: Sequence[int]) -> list[int]:
        """Return the kinds of placed pods whose ordinals are out of range, or whose workload was deleted."""
        return [
            at
            for owner, mine in enumerate(self._of_owner)
            if self._ordinals[owner] or self.group.owners[owner].is_shard
            for at in mine
            if placed[at] and (self.group.kinds[at].ordinal >= state[3][owner] or not state[3][owner])
        ]

    def is_settled(self, state: State) -> bool:
        """Return whether nothing happens by itself: no waiting pod finds a node, and no controller acts."""
        placed = self.placed_counts(state)
        if any(self.hosts(state[2], at, state[0]) for at in self.waiting(state, placed)):
            return False
        if state[2]:
            return not self._affected(state)
        if any(True for _ in self._condemned_removed(state, placed)):
            return False
        return not any(
            event.kind is not TransitionKind.ROLLED
            for owner in range(len(self._of_owner))
            for event, _ in self._rollout(state, owner, placed)
        )

    # Events.

    def events(self, state: State) -> Iterator[Next]:
        """Yield all events and the states after them, which are not canonical."""
        placed = self.placed_counts(state)
        nodes = self.arrangement(state[2]).distinct(state[0])
        yield from self._placements(state, placed, nodes)
        if state[2]:
            yield from self._disrupted(state, nodes)
            return
        yield from self._condemned_removed(state, placed)
        if self.level >= _ORDER[Regime.RESTARTS]:
            yield from self._restarts(state, nodes)
        for owner in range(len(self.group.owners)):
            if self.level >= _ORDER[Regime.ROLLOUTS]:
                yield from self._rollout(state, owner, placed)
            if self.level >= _ORDER[Regime.SCALING]:
                yield from self._scaled(state, owner, placed)
        if self.disruptions and self.is_at_rest(state):
            yield from self._begun(state, nodes)

    def _placements(self, state: State, placed: Sequence[int], nodes: Sequence[int]) -> Iterator[Next]:
        is_distinct = set(nodes)
        for kind in self.waiting(state, placed):
            owner = self.group.kinds[kind].owner
            for node in self.hosts(state[2], kind, state[0]):
                if node in is_distinct:
                    yield Event(TransitionKind.PLACED, kind, node, owner), self._with(state, kind, node)

    def _with(self, state: State, kind: int, node: int, number: int = 1) -> State:
        contents = list(state[0])
        contents[node] += self._units[kind] * number
        return (tuple(contents), state[1], state[2], state[3])

    def _restarts(
        self, state: State, nodes: Sequence[int], kind: TransitionKind = TransitionKind.RESTARTED
    ) -> Iterator[Next]:
        for node in nodes:
            content = state[0][node]
            for at in range(len(self.group.kinds)) if content else ():
                if count_of(content, at):
                    after = self.ordinals.replace_pod(self._with(state, at, node, -1), at)
                    yield Event(kind, at, node, self.group.kinds[at].owner), after

    def _rollout(self, state: State, owner: int, placed: Sequence[int]) -> Iterator[Next]:
        if self._ordinals[owner]:
            yield from self.ordinals.events(owner, state, placed)
        elif self.group.owners[owner].is_rolled:
            yield from self._two_revisions(state, owner, placed)

    def _sized(self, state: State, kind: int, size: int) -> State:
        sizes = list(state[1])
        sizes[kind] = size
        return (state[0], tuple(sizes), state[2], state[3])

    def _two_revisions(self, state: State, owner: int, placed: Sequence[int]) -> Iterator[Next]:
        """Yield the events of a Deployment's rollout."""
        old, new = self._of_owner[owner]
        wanted = state[3][owner]
        if not self._rolls(state, owner):
            if wanted:
                yield from self._rollout_begun(state, owner, placed)
            return
        yield from self._old_removed(state, owner, placed)
        if not state[1][old] and not placed[old] and state[1][new] == wanted == placed[new]:
            yield Event(TransitionKind.FINISHED, new, owner=owner), self._finished(state, old=old, new=new)

    def _rollout_begun(self, state: State, owner: int, placed: Sequence[int]) -> Iterator[Next]:
        new = self._of_owner[owner][1]
        if fenceposts(self.group.owners[owner], state[3][owner])[0]:
            yield Event(TransitionKind.ROLLED, new, owner=owner), self._grown(state, owner)
            return
        for event, after in self._old_removed(state, owner, placed):  # Without surge, an old pod goes first.
            yield event._replace(kind=TransitionKind.ROLLED, pods=new, is_shrunk=True), after

    def _grown(self, state: State, owner: int) -> State:
        """Return the state after the new ReplicaSet is scaled up as far as the surge allows."""
        spec, (old, new) = self.group.owners[owner], self._of_owner[owner]
        wanted = state[3][owner]
        room = wanted + fenceposts(spec, wanted)[0] - state[1][old] - state[1][new]
        return self._sized(state, new, min(wanted, state[1][new] + max(0, room)))

    def _old_removed(self, state: State, owner: int, placed: Sequence[int]) -> Iterator[Next]:
        """Yield smaller sizes of the old ReplicaSet, or the deletions of its surplus pods.

        New pods may be placed in between. The Deployment goes on once the surplus pods are deleted.
        """
        spec, (old, new) = self.group.owners[owner], self._of_owner[owner]
        wanted, size = state[3][owner], state[1][old]
        if placed[old] > size:
            yield from self._surplus_removed(state, owner, placed[old] - size)
            return
        spare = size + placed[new] - (wanted - fenceposts(spec, wanted)[1])
        for number in range(1, min(size, spare) + 1):
            after = self._grown(self._sized(state, old, size - number), owner)
            yield Event(TransitionKind.SHRUNK, old, owner=owner, number=size - number, is_shrunk=True), after

    def _surplus_removed(self, state: State, owner: int, excess: int) -> Iterator[Next]:
        old, new = self._of_owner[owner]
        ranks = [count_of(content, old) + count_of(content, new) for content in state[0]]
        for contents in self._victims(state[0], old, excess, ranks=ranks):
            gone = [node for node, (one, other) in enumerate(zip(state[0], contents, strict=True)) if one != other]
            node = gone[0] if excess == 1 else -1
            yield Event(TransitionKind.REMOVED, old, node, owner, number=excess), (contents, *state[1:])

    def possible_pods(self, state: State) -> int:
        """Return how many pods can run at once before the rollouts that are under way end."""
        placed = self.placed_counts(state)
        number = 0
        for owner, (spec, wanted) in enumerate(zip(self.group.owners, state[3], strict=True)):
            if self._ordinals[owner] or not spec.is_rolled:
                number += wanted
            elif not self._rolls(state, owner):
                number += most_at_once(spec, wanted)
            else:
                old, new = (state[1][at] for at in self._of_owner[owner])
                surge, unavailable = fenceposts(spec, wanted)
                removed = min(old, max(0, old + new - (wanted - unavailable)))  # At most, in one step.
                number += max(placed[self._of_owner[owner][0]] + new, old + min(wanted, wanted + surge - old + removed))
        return number

    def _finished(self, state: State, *, old: int, new: int) -> State:
        contents = tuple(
            content + count_of(content, new) * (self._units[old] - self._units[new]) for content in state[0]
        )
        sizes = list(state[1])
        sizes[old], sizes[new] = sizes[new], 0
        return (contents, tuple(sizes), state[2], state[3])

    def _scaled(self, state: State, owner: int, placed: Sequence[int]) -> Iterator[Next]:
        spec, mine = self.group.owners[owner], self._of_owner[owner]
        if self._rolls(state, owner) or spec.bounds is None:
            return
        if self._ordinals[owner] and self.ordinals.is_marked(owner, state):
            return
        if spec.is_shard:
            yield from self._shard_changed(state, owner, placed)
            return
        for wanted in range(spec.bounds.least, spec.bounds.most + 1):
            if wanted == state[3][owner]:
                continue
            desired = list(state[3])
            desired[owner] = wanted
            event = Event(TransitionKind.SCALED, mine[0], owner=owner, number=wanted)
            after: State = (state[0], state[1], state[2], tuple(desired))
            if self._ordinals[owner]:
                yield event, after
                continue
            resized = self._sized(after, mine[0], wanted)
            excess = placed[mine[0]] - wanted
            if excess <= 0:
                yield event, resized
                continue
            for contents in self._victims(state[0], mine[0], excess):
                yield event, (contents, *resized[1:])

    def _shard_changed(self, state: State, owner: int, placed: Sequence[int]) -> Iterator[Next]:
        """Yield the creation or the deletion of a whole workload; its old pods are gone before it is created again."""
        shards, kind = self.group.shards, self._of_owner[owner][0]
        if not state[3][owner] and any(placed[at] for at in self._of_owner[owner]):
            return
        exists = bool(state[3][owner])
        number = sum(bool(state[3][at]) for at, spec in enumerate(self.group.owners) if spec.is_shard)
        if shards is None or (number <= shards.least if exists else number >= shards.most):
            return
        wanted = 0 if exists else self.group.owners[owner].replicas
        desired = list(state[3])
        desired[owner] = wanted
        after: State = (state[0], state[1], state[2], tuple(desired))
        event = Event(TransitionKind.DELETED if exists else TransitionKind.CREATED, kind, owner=owner, number=wanted)
        yield event, after if self._ordinals[owner] else self._sized(after, kind, wanted)

    def _victims(
        self, contents: tuple[int, ...], kind: int, excess: int, *, ranks: Optional[Sequence[int]] = None
    ) -> Iterator[tuple[int, ...]]:
        """Yield the contents after a ReplicaSet has deleted its surplus pods, those of the fullest nodes first.

        ranks: number of the workload's pods on each node; by default, of the kind's.
        """
        by_rank: dict[int, list[int]] = {}
        for node, content in enumerate(contents):
            number = count_of(content, kind)
            if number:
                by_rank.setdefault(ranks[node] if ranks else number, []).append(node)
        made = list(contents)
        for rank in sorted(by_rank, reverse=True):
            pods = [node for node in by_rank[rank] for _ in range(count_of(contents[node], kind))]
            if excess >= len(pods):
                for node in pods:
                    made[node] -= self._units[kind]
                excess -= len(pods)
                continue
            seen: set[tuple[int, ...]] = set()
            for chosen in combinations(pods, excess):
                if chosen not in seen and len(seen) < _MOST_VICTIMS:
                    seen.add(chosen)
                    rest = list(made)
                    for node in chosen:
                        rest[node] -= self._units[kind]
                    yield tuple(rest)
            return
        yield tuple(made)

    def _condemned_removed(self, state: State, placed: Sequence[int]) -> Iterator[Next]:
        """Yield removals of pods with ordinals out of range, the highest first, and of deleted workloads' pods."""
        all_condemned = self._condemned(state, placed)
        for owner in dict.fromkeys(self.group.kinds[at].owner for at in all_condemned):
            condemned = [at for at in all_condemned if self.group.kinds[at].owner == owner]
            if self.group.owners[owner].is_ordered and state[3][owner]:
                if self.ordinals.missing(owner, state, placed):
                    continue
                condemned = condemned[-1:]
            for at in condemned:
                for node, content in enumerate(state[0]):
                    if count_of(content, at):
                        yield Event(TransitionKind.REMOVED, at, node, owner), self._with(state, at, node, -1)

    # Disruptions.

    def _begun(self, state: State, nodes: Sequence[int]) -> Iterator[Next]:
        arrangement = self.arrangement(0)
        seen: set[State] = set()
        for at, item in enumerate(self.disruptions):
            if len(item.domains) > 1:  # Several domains at once are tried as they are.
                yield Event(TransitionKind.DISRUPTED, disruption=at), (*state[:2], at + 1, state[3])
                continue
            for node in nodes if item.kind is LossKind.DRAIN else self._one_of_each(item.topology_key, nodes):
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

    def _one_of_each(self, key: str, nodes: Sequence[int]) -> list[int]:
        domain_of = self.group.layout.domain_of[key]
        return list({domain_of[node]: node for node in reversed(nodes) if domain_of[node] >= 0}.values())

    def _affected(self, state: State) -> bool:
        return any(state[0][node] for node in self.disruptions[state[2] - 1].nodes)

    def _disrupted(self, state: State, nodes: Sequence[int]) -> Iterator[Next]:
        item = self.disruptions[state[2] - 1]
        inside = [node for node in nodes if node in item.nodes]
        yield from self._restarts(state, inside, TransitionKind.EVICTED)
        yield Event(TransitionKind.RETURNED, disruption=state[2] - 1), (state[0], state[1], 0, state[3])

    # Rules.

    def _keeps_waiting(self, state: State) -> bool:
        """Return whether judged pods wait forever."""
        return self.is_settled(state) and bool(self.judged_waiting_kinds(state, self.placed_counts(state)))

    def _is_complete(self, state: State) -> bool:
        """Return whether the judged workloads are at rest."""
        placed = self.placed_counts(state)
        if self.judged_waiting_kinds(state, placed) or any(self._rolls(state, owner) for owner in self._judged_owners):
            return False
        return not any(self._is_judged[at] for at in self._condemned(state, placed))

    def dead(self, facts: int) -> frozenset[int]:
        """Return the nodes whose pods do not run."""
        item = self.disruptions[facts - 1] if facts else None
        return frozenset(item.nodes) if item is not None and item.kind is LossKind.LOSS else frozenset()

    def is_violated(self, rule: PolicyRule, state: State) -> bool:
        """Return whether a state violates a rule."""
        if rule.kind is RuleKind.PLACED:
            return not state[2] and self._keeps_waiting(state)
        if rule.is_momentary:
            return self._is_too_full(rule, state)
        if rule.kind is RuleKind.MIN_DOMAINS:
            is_short = len(self.domain_counts(rule.topology_key, state)) < rule.amount.numerator
            return is_short and self._is_complete(state) and not (self.dead(state[2]) and self._affected(state))
        return self._does_not_survive(rule, state)

    def domain_contents(self, key: str, state: State) -> dict[int, int]:
        """Return the running pods of each domain that has any, as the sum of contents."""
        dead = self.dead(state[2]) if state[2] else ()
        found: dict[int, int] = {}
        for at, domain in enumerate(self.group.layout.domain_of[key]):
            content = state[0][at]
            if content and domain >= 0 and at not in dead:
                found[domain] = found.get(domain, 0) + content
        return found

    def domain_counts(self, key: str, state: State) -> dict[int, int]:
        """Return the running pods of each domain that has any."""
        contents = self.domain_contents(key, state)
        is_judged = self._judged_in(state)
        counts = {at: self.matching(is_judged, content) for at, content in contents.items()}
        return {at: number for at, number in counts.items() if number}

    def base(self, state: State) -> int:
        """Return the number of pods that shares refer to."""
        return max(self.judged_replicas(state), self.judged_placed_count(state))

    def _is_too_full(self, rule: PolicyRule, state: State) -> bool:
        if rule.kind is RuleKind.SEPARATE:
            is_judged = self._judged_in(state)
            for mine in [self._of_owner[owner] for owner in self._judged_owners]:
                matches = tuple(at in mine and is_judged[at] for at in range(len(self.group.kinds)))
                if any(
                    self.matching(matches, item) > 1 for item in self.domain_contents(rule.topology_key, state).values()
                ):
                    return True
            return False
        counts = self.domain_counts(rule.topology_key, state)
        most = rule.most(self.base(state))
        return most is not None and max(counts.values(), default=0) > most

    def _does_not_survive(self, rule: PolicyRule, state: State) -> bool:
        if not state[2]:
            if not self._is_complete(state):
                return False
            counts = sorted(self.domain_counts(rule.topology_key, state).values(), reverse=True)
            left = self.judged_placed_count(state) - sum(counts[: rule.lost])
            return left < rule.amount.at_least(self.judged_replicas(state))
        item = self.disruptions[state[2] - 1]
        is_meant = item.kind is LossKind.LOSS and item.topology_key == rule.topology_key
        return is_meant and len(item.domains) == rule.lost and self._keeps_waiting(state)


def _sign(signs: list[list[object]], nodes: set[int]) -> None:
    """Add to the sign of each node whether it is one of some nodes."""
    for at, sign in enumerate(signs):
        sign.append(at in nodes)


def _by_spread(spread: Spread) -> Partition:
    """Return the domains of a constraint, with their counts without the group."""
    eligible = set(spread.eligible)
    return Partition(spread.domain_of, tuple((number, at in eligible) for at, number in enumerate(spread.base)))


def _plain(domain_of: tuple[int, ...]) -> Partition:
    return Partition(domain_of, ((),) * (max(domain_of, default=-1) + 1))
