"""Controllers of a group's workloads: the pods that wait, rollouts, scaling, and the pods that are removed.

Events without a choice are merged. In a Deployment's rollout, new pods can be scheduled before the old ReplicaSet has
deleted the pods that they replace. A StatefulSet's rollout deletes pods from the highest ordinal down to the partition,
each once the pods above it are ready. A pod that is created during it is of the new revision.

Source: pkg/controller/statefulset/stateful_set_control.go, updateStatefulSet (v1.36.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from operator import itemgetter
from typing import Optional

from kubectl_spread.engine.search.symmetry import choices, Twins
from kubectl_spread.guarantee.model import (
    BITS,
    count_of,
    Event,
    fenceposts,
    GroupModel,
    most_at_once,
    Next,
    State,
    total_of,
    TransitionKind,
    with_pod,
)

_MOST_CHOICES = 64  # of pods that a ReplicaSet deletes at once; of more, one is tried


class Replicas:
    """The controller of pods that stand for each other: one ReplicaSet, or an old and a new one of a Deployment.

    is_cut: some choices of pods that it may delete were left out.
    """

    has_ordinals = False

    def __init__(self, group: GroupModel, owner: int) -> None:
        self.is_cut = False
        self.owner, self.spec, self.group = owner, group.owners[owner], group
        self.kinds = [at for at, kind in enumerate(group.kinds) if kind.owner == owner]

    def missing(self, state: State, placed: Sequence[int]) -> list[int]:
        """Return the kinds with a wanted pod that is not placed."""
        return [at for at in self.kinds if state[1][at] > placed[at]]

    def waiting(self, state: State, placed: Sequence[int], dead: Iterable[int]) -> list[int]:  # noqa: ARG002
        """Return the kinds with a pod that waits for a node; dead: lost nodes."""
        return self.missing(state, placed)

    def has_new(self, state: State) -> bool:
        """Return whether there is a new revision, whether or not its rollout goes on."""
        return self.spec.is_rolled and bool(state[1][self.kinds[1]])

    def is_rolling(self, state: State) -> bool:
        """Return whether a rollout still has pods to change."""
        return self.has_new(state)

    def condemned(self, state: State, placed: Sequence[int]) -> list[int]:
        """Return the kinds of placed pods whose ordinals are out of range, or whose workload was deleted."""
        if not (self.has_ordinals or self.spec.is_shard):
            return []
        wanted, kinds = state[3][self.owner], self.group.kinds
        return [at for at in self.kinds if placed[at] and (kinds[at].ordinal >= wanted or not wanted)]

    def replaced(self, state: State, kind: int) -> State:  # noqa: ARG002
        """Return the state in which a deleted pod is created again."""
        return state

    # Events.

    def _event(self, kind: TransitionKind, pods: int, *, node: int = -1, number: int = 1) -> Event:
        return Event(kind, pods, node, self.owner, number)

    def removed(self, state: State, placed: Sequence[int]) -> Iterator[Next]:
        """Yield removals of condemned pods, of ordered ones the highest ordinal first."""
        condemned = self.condemned(state, placed)
        if condemned and self.spec.is_ordered and state[3][self.owner]:
            condemned = [] if self.missing(state, placed) else condemned[-1:]
        for at in condemned:
            for node, content in enumerate(state[0]):
                if count_of(content, at):
                    yield self._event(TransitionKind.REMOVED, at, node=node), with_pod(state, at, node, -1)

    def rollout(self, state: State, placed: Sequence[int], twins: Twins) -> Iterator[Next]:
        """Yield the beginning, the next step, or the end of a rollout; twins: nodes that would do the same."""
        wanted = state[3][self.owner]
        if not self.spec.is_rolled:
            return
        old, new = self.kinds
        if self.is_rolling(state):
            yield from self._old_removed(state, placed, twins)
            if not state[1][old] and not placed[old] and state[1][new] == wanted == placed[new]:
                sizes = {old: state[1][new], new: 0}
                yield self._event(TransitionKind.FINISHED, new), _finished(resized(state, sizes), {old: new})
        elif wanted and fenceposts(self.spec, wanted)[0]:
            yield self._event(TransitionKind.ROLLED, new), self._grown(state)
        elif wanted:
            for event, after in self._old_removed(state, placed, twins):  # Without surge, an old pod goes first.
                yield event._replace(kind=TransitionKind.ROLLED, pods=new, is_shrunk=True), after

    def _grown(self, state: State) -> State:
        """Return the state after the new ReplicaSet is scaled up within the surge."""
        (old, new), wanted = self.kinds, state[3][self.owner]
        room = wanted + fenceposts(self.spec, wanted)[0] - state[1][old] - state[1][new]
        return resized(state, {new: min(wanted, state[1][new] + max(0, room))})

    def _old_removed(self, state: State, placed: Sequence[int], twins: Twins) -> Iterator[Next]:
        """Yield smaller sizes of the old ReplicaSet, or the deletions of its surplus pods.

        New pods may be placed in between. The Deployment goes on once the surplus pods are deleted.
        """
        (old, new), wanted = self.kinds, state[3][self.owner]
        size = state[1][old]
        excess = placed[old] - size
        if excess > 0:
            for contents in self._victims(state[0], old, excess, twins):
                both = enumerate(zip(state[0], contents, strict=True))
                node = next(at for at, (one, other) in both if one != other) if excess == 1 else -1
                yield self._event(TransitionKind.REMOVED, old, node=node, number=excess), (contents, *state[1:])
            return
        spare = size + placed[new] - (wanted - fenceposts(self.spec, wanted)[1])
        for left in range(size - 1, size - min(size, spare) - 1, -1):
            event = self._event(TransitionKind.SHRUNK, old, number=left)._replace(is_shrunk=True)
            yield event, self._grown(resized(state, {old: left}))

    def possible_pods(self, state: State, placed: Sequence[int]) -> int:
        """Return how many pods can run at once before a rollout that is under way ends."""
        wanted = state[3][self.owner]
        if self.has_ordinals or not self.spec.is_rolled:
            return wanted
        if not self.is_rolling(state):
            return most_at_once(self.spec, wanted)
        old, new = (state[1][at] for at in self.kinds)
        surge, unavailable = fenceposts(self.spec, wanted)
        removed = min(old, max(0, old + new - (wanted - unavailable)))  # At most, in one step.
        return max(placed[self.kinds[0]] + new, old + min(wanted, wanted + surge - old + removed))

    def scaled(self, state: State, placed: Sequence[int], twins: Twins) -> Iterator[Next]:
        """Yield other numbers of replicas, or the creation or deletion of a whole workload."""
        spec, kind, now = self.spec, self.kinds[0], state[3][self.owner]
        if self.has_new(state) or spec.bounds is None:
            return
        if spec.is_shard:
            yield from self._shard_changed(state, placed)
            return
        for wanted in range(spec.bounds.least, spec.bounds.most + 1):
            if wanted == now:
                continue
            after = self._wanting(state, wanted)
            excess = 0 if self.has_ordinals else placed[kind] - wanted
            for contents in self._victims(state[0], kind, excess, twins) if excess > 0 else (state[0],):
                yield self._event(TransitionKind.SCALED, kind, number=wanted), (contents, *after[1:])

    def _shard_changed(self, state: State, placed: Sequence[int]) -> Iterator[Next]:
        """Yield the creation or the deletion of a whole workload; its old pods are gone before it is created again."""
        shards, exists = self.group.shards, bool(state[3][self.owner])
        number = sum(bool(state[3][at]) for at, spec in enumerate(self.group.owners) if spec.is_shard)
        if shards is None or (number <= shards.least if exists else number >= shards.most):
            return
        if exists or not any(placed[at] for at in self.kinds):
            wanted = 0 if exists else self.spec.replicas
            event = TransitionKind.DELETED if exists else TransitionKind.CREATED
            yield self._event(event, self.kinds[0], number=wanted), self._wanting(state, wanted)

    def _wanting(self, state: State, wanted: int) -> State:
        """Return the state with another number of replicas."""
        desired = (*state[3][: self.owner], wanted, *state[3][self.owner + 1 :])
        after = (state[0], state[1], state[2], desired)
        return after if self.has_ordinals else resized(after, {self.kinds[0]: wanted})

    def _victims(self, contents: tuple[int, ...], kind: int, excess: int, twins: Twins) -> Iterator[tuple[int, ...]]:
        """Yield the contents after a ReplicaSet has deleted surplus pods, those on the fullest nodes first."""
        unit = 1 << BITS * kind
        by_rank: dict[int, dict[int, int]] = {}
        for node, content in enumerate(contents):
            if content and count_of(content, kind):
                by_rank.setdefault(total_of(content, self.kinds), {})[node] = count_of(content, kind)
        made = list(contents)
        for rank in sorted(by_rank, reverse=True):
            pods = by_rank[rank]
            if excess >= (number := sum(pods.values())):
                for node, count in pods.items():
                    made[node] -= count * unit
                excess -= number
                continue
            nodes, are_alike = _by_twins(pods, twins)
            found = choices(tuple([pods[node] for node in nodes]), are_alike, excess, _MOST_CHOICES)
            if found is None:
                self.is_cut = True
                named = (at for at, node in sorted(enumerate(nodes), key=itemgetter(1)) for _ in range(pods[node]))
                found = [tuple(Counter(islice(named, excess)).items())]
            for chosen in found:
                rest = list(made)
                for at, count in chosen:
                    rest[nodes[at]] -= count * unit
                yield tuple(rest)
            return
        yield tuple(made)


def _by_twins(nodes: Iterable[int], twins: Twins) -> tuple[list[int], tuple[bool, ...]]:
    """Return nodes with twins next to each other, and whether each is a twin of the one before it."""
    first_of: dict[int, int] = {}
    for first, second in twins:
        if len(first) == 1:
            first_of[second[0]] = first_of.get(first[0], first[0])
    ordered = sorted(nodes, key=lambda node: (first_of.get(node, node), node))
    pairs = pairwise([-1, *(first_of.get(node, node) for node in ordered)])
    return ordered, tuple([one == other for one, other in pairs])


class Ordinals(Replicas):
    """The controller of a StatefulSet whose ordinals are followed one by one.

    The size of a kind is 1 for the revision that an ordinal has or gets. The kind without an ordinal has no pods: its
    size is 1 while there is a new revision.
    """

    has_ordinals = True

    def __init__(self, group: GroupModel, owner: int) -> None:
        super().__init__(group, owner)
        kinds = [(at, group.kinds[at]) for at in self.kinds]
        self._old, self._new = (
            [at for at, kind in kinds if kind.ordinal >= 0 and kind.is_new is is_new] for is_new in (False, True)
        )  # by ordinal
        self._marker = next((at for at, kind in kinds if kind.ordinal < 0), None)

    def has_new(self, state: State) -> bool:
        """Return whether there is a new revision, whether or not its rollout goes on."""
        return self._marker is not None and bool(state[1][self._marker])

    def is_rolling(self, state: State) -> bool:
        """Return whether a rollout still has pods to change."""
        is_live = self.has_new(state) and not self.spec.is_on_delete
        return is_live and any(state[1][self._old[at]] for at in self._changed(state))

    def _changed(self, state: State) -> Iterable[int]:
        """Return the ordinals that a rollout changes, the highest first."""
        return range(state[3][self.owner] - 1, self.spec.partition - 1, -1)

    def missing(self, state: State, placed: Sequence[int]) -> list[int]:
        """Return the kinds of the wanted pods that are not placed, the lowest ordinal first."""
        kinds = self._old[: state[3][self.owner]]
        kinds = [new if state[1][new] else old for old, new in zip(kinds, self._new or kinds, strict=False)]
        return [at for at in kinds if not placed[at]]

    def waiting(self, state: State, placed: Sequence[int], dead: Iterable[int]) -> list[int]:
        """Return the kinds of the missing pods that the controller creates now; dead: lost nodes.

        With podManagementPolicy OrderedReady, all pods before a new one are ready. Those on lost nodes are not.
        """
        kinds = self.missing(state, placed)
        if not kinds or not self.spec.is_ordered:
            return kinds
        ordinal = self.group.kinds[kinds[0]].ordinal
        below = [*self._old[:ordinal], *self._new[:ordinal]]
        return [] if any(total_of(state[0][node], below) for node in dead) else kinds[:1]

    def replaced(self, state: State, kind: int) -> State:
        """Return the state in which a deleted pod is created again, of the new revision during a rollout."""
        item, spec = self.group.kinds[kind], self.spec
        is_kept = item.ordinal < spec.partition and not spec.is_on_delete
        return state if item.is_new or is_kept or not self.has_new(state) else self._renewed(state, item.ordinal)

    def _renewed(self, state: State, ordinal: int) -> State:
        return resized(state, {self._old[ordinal]: 0, self._new[ordinal]: 1})

    def _next_removal(self, state: State, placed: Sequence[int]) -> Optional[int]:
        """Return the ordinal that the rollout deletes next; None if it waits or has ended."""
        if self.spec.is_on_delete:
            return None
        surplus = [*self._old[state[3][self.owner] :], *self._new[state[3][self.owner] :]]  # deleted first
        if self.spec.is_ordered and (self.missing(state, placed) or any(placed[at] for at in surplus)):
            return None
        for ordinal in self._changed(state):
            if state[1][self._old[ordinal]]:
                return ordinal
            if not placed[self._new[ordinal]]:
                return None
        return None

    def rollout(self, state: State, placed: Sequence[int], twins: Twins) -> Iterator[Next]:  # noqa: ARG002
        """Yield the beginning, the next deletion, or the end of a rollout."""
        marker, wanted = self._marker, state[3][self.owner]
        if marker is None or not wanted:
            return
        if not state[1][marker]:
            yield self._event(TransitionKind.ROLLED, marker), resized(state, {marker: 1})
            return
        ordinal = self._next_removal(state, placed)
        if ordinal is not None:  # The pod may be Pending.
            kind, after = self._old[ordinal], self._renewed(state, ordinal)
            node = next((at for at, content in enumerate(state[0]) if count_of(content, kind)), -1)
            after = after if node < 0 else with_pod(after, kind, node, -1)
            yield self._event(TransitionKind.REMOVED, kind, node=node), after
        if all(state[1][at] and placed[at] for at in self._new[:wanted]):
            after = resized(state, {**dict.fromkeys(self._old, 1), **dict.fromkeys(self._new, 0), marker: 0})
            renamed = dict(zip(self._old, self._new, strict=True))
            yield self._event(TransitionKind.FINISHED, marker), _finished(after, renamed)


def controllers(group: GroupModel) -> list[Replicas]:
    """Return the controllers of all workloads."""
    ordinals = {kind.owner for kind in group.kinds if kind.ordinal >= 0}
    return [(Ordinals if owner in ordinals else Replicas)(group, owner) for owner in range(len(group.owners))]


def resized(state: State, sizes: Mapping[int, int]) -> State:
    """Return a state with other sizes of some kinds."""
    return (state[0], tuple([sizes.get(at, size) for at, size in enumerate(state[1])]), state[2], state[3])


def _finished(state: State, kinds: Mapping[int, int]) -> State:
    """Return a state in which pods of new kinds become those of the old kinds, by which they are given."""
    shifts = [(new, (1 << BITS * old) - (1 << BITS * new)) for old, new in kinds.items()]
    contents = (content + sum(count_of(content, new) * shift for new, shift in shifts) for content in state[0])
    return (tuple(contents), *state[1:])
