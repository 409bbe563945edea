"""StatefulSets whose ordinals are followed one by one, and their rollouts.

A rollout deletes pods from the highest ordinal down to the partition, each once the pods above it are ready. A pod that
is created during it is of the new revision.

Source: pkg/controller/statefulset/stateful_set_control.go, updateStatefulSet (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Optional

from kubectl_spread.guarantee.model import BITS, count_of, Event, GroupModel, Next, State, TransitionKind


class OrdinalRollouts:
    """Sizes of the kinds of StatefulSets: 1 for the revision that an ordinal has or gets, and 1 during a rollout."""

    def __init__(self, group: GroupModel, of_owner: Sequence[Sequence[int]]) -> None:
        """Sort the kinds of each workload by ordinal and revision."""
        self._group = group
        self._marker: dict[int, int] = {}
        self._old: list[dict[int, int]] = []
        self._new: list[dict[int, int]] = []
        for owner, mine in enumerate(of_owner):
            kinds = [(at, group.kinds[at]) for at in mine]
            is_ordinal = any(kind.ordinal >= 0 for _, kind in kinds)
            self._old.append({kind.ordinal: at for at, kind in kinds if kind.ordinal >= 0 and not kind.is_new})
            self._new.append({kind.ordinal: at for at, kind in kinds if kind.ordinal >= 0 and kind.is_new})
            for at, kind in kinds:
                if is_ordinal and kind.ordinal < 0:
                    self._marker[owner] = at

    def is_marked(self, owner: int, state: State) -> bool:
        """Return whether there is a new revision, whether or not its rollout goes on."""
        return owner in self._marker and bool(state[1][self._marker[owner]])

    def is_rolling(self, owner: int, state: State) -> bool:
        """Return whether a rollout still has pods to change."""
        spec = self._group.owners[owner]
        if not self.is_marked(owner, state) or spec.is_on_delete:
            return False
        return any(state[1][self._old[owner][at]] for at in self._changed(owner, state))

    def _changed(self, owner: int, state: State) -> list[int]:
        """Return the ordinals that a rollout changes, the highest first."""
        return list(range(state[3][owner] - 1, self._group.owners[owner].partition - 1, -1))

    def missing(self, owner: int, state: State, placed: Sequence[int]) -> list[int]:
        """Return the kinds of the wanted pods that are not placed, the lowest ordinal first."""
        kinds = [self._kind(owner, ordinal, state) for ordinal in range(state[3][owner])]
        return [at for at in kinds if not placed[at]]

    def kinds_to_create(self, owner: int, state: State, placed: Sequence[int], *, dead: Iterable[int]) -> list[int]:
        """Return the kinds of the missing pods that the controller creates now; dead: lost nodes.

        With podManagementPolicy OrderedReady, all pods before a new one are ready. Those on lost nodes are not.
        """
        kinds = self.missing(owner, state, placed)
        if not kinds or not self._group.owners[owner].is_ordered:
            return kinds
        ordinal = self._group.kinds[kinds[0]].ordinal
        below = [at for each in (self._old[owner], self._new[owner]) for number, at in each.items() if number < ordinal]
        return [] if any(count_of(state[0][node], at) for node in dead for at in below) else kinds[:1]

    def _kind(self, owner: int, ordinal: int, state: State) -> int:
        """Return the kind of an ordinal, of the revision that it has or gets."""
        new = self._new[owner].get(ordinal)
        return self._old[owner][ordinal] if new is None or not state[1][new] else new

    def replace_pod(self, state: State, kind: int) -> State:
        """Return the state in which a deleted pod is created again, of the new revision during a rollout."""
        item = self._group.kinds[kind]
        if item.is_new or item.ordinal < 0 or not self.is_marked(item.owner, state):
            return state
        spec = self._group.owners[item.owner]
        if item.ordinal < spec.partition and not spec.is_on_delete:
            return state
        return self._changed_revision(state, item.owner, item.ordinal)

    def _changed_revision(self, state: State, owner: int, ordinal: int) -> State:
        sizes = list(state[1])
        sizes[self._old[owner][ordinal]] = 0
        sizes[self._new[owner][ordinal]] = 1
        return (state[0], tuple(sizes), state[2], state[3])

    def next_removal(self, owner: int, state: State, placed: Sequence[int]) -> Optional[int]:
        """Return the ordinal that the rollout deletes next; None if it waits or has ended."""
        spec = self._group.owners[owner]
        if not self.is_marked(owner, state) or spec.is_on_delete:
            return None
        if spec.is_ordered and (self.missing(owner, state, placed) or self._has_surplus(owner, state, placed)):
            return None
        for ordinal in self._changed(owner, state):
            if state[1][self._old[owner][ordinal]]:
                return ordinal
            if not placed[self._new[owner][ordinal]]:
                return None
        return None

    def _has_surplus(self, owner: int, state: State, placed: Sequence[int]) -> bool:
        """Return whether pods with ordinals out of range are left, which are deleted first."""
        surplus = range(state[3][owner], len(self._old[owner]))
        return any(placed[kinds[at]] for kinds in (self._old[owner], self._new[owner]) if kinds for at in surplus)

    def events(self, owner: int, state: State, placed: Sequence[int]) -> Iterator[Next]:
        """Yield the beginning, the next deletion, or the end of a rollout."""
        marker = self._marker.get(owner)
        if marker is None or not state[3][owner]:
            return
        if not state[1][marker]:
            sizes = list(state[1])
            sizes[marker] = 1
            yield Event(TransitionKind.ROLLED, marker, owner=owner), (state[0], tuple(sizes), state[2], state[3])
            return
        ordinal = self.next_removal(owner, state, placed)
        if ordinal is not None:
            yield self._removed(owner, ordinal, state)
        if all(state[1][at] and placed[at] for number, at in self._new[owner].items() if number < state[3][owner]):
            yield Event(TransitionKind.FINISHED, marker, owner=owner), self._finished(owner, state)

    def _removed(self, owner: int, ordinal: int, state: State) -> Next:
        """Return the deletion of a pod of the old revision, which may be Pending."""
        kind = self._old[owner][ordinal]
        after = self._changed_revision(state, owner, ordinal)
        node = next((at for at, content in enumerate(state[0]) if count_of(content, kind)), -1)
        if node < 0:
            return Event(TransitionKind.REMOVED, kind, owner=owner), after
        contents = list(state[0])
        contents[node] -= 1 << (BITS * kind)
        return Event(TransitionKind.REMOVED, kind, node, owner), (tuple(contents), *after[1:])

    def _finished(self, owner: int, state: State) -> State:
        """Return the state in which the new revision is the only one."""
        contents = list(state[0])
        sizes = list(state[1])
        for ordinal, new in self._new[owner].items():
            old = self._old[owner][ordinal]
            sizes[old], sizes[new] = 1, 0
            for at, content in enumerate(contents):
                contents[at] += count_of(content, new) * ((1 << (BITS * old)) - (1 << (BITS * new)))
        sizes[self._marker[owner]] = 0
        return (tuple(contents), tuple(sizes), state[2], state[3])
