"""The rollout of one Deployment as counts: contents of places, and a control.

A state of the model is the content of each place and the number of a control. It represents all states of the cluster
in which interchangeable nodes are exchanged, and in which deleted pods may still terminate.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from kubectl_spread.engine.controllers.deployment import DeploymentSpec
from kubectl_spread.engine.counting.control import Control, Controls, Excess, NotCountable
from kubectl_spread.engine.counting.hosts import Hosts, most_terminating
from kubectl_spread.engine.counting.kinds import DeletionCandidates, EMPTY, PodKinds
from kubectl_spread.engine.counting.places import Numbers, Places
from kubectl_spread.engine.oracle import Oracle
from kubectl_spread.engine.state import at_stage, NO_ORDINAL, of_owner, P, PENDING, Stage, State
from kubectl_spread.engine.world import World

_MOST_CHOICES = 20_000  # Most ways to choose pods for deletion at once.

Counts = tuple[Numbers, int]  # contents by place, and the number of a control
_Candidate = tuple[int, DeletionCandidates]  # a place, and pods there


class Model:
    """States of a rollout as counts, and the steps between them."""

    def __init__(self, world: World, oracle: Oracle, rest: State, *, entries: Sequence[State], owner: int) -> None:
        """Set up the model.

        Args:
            world: the nodes and workloads.
            oracle: the scheduler.
            rest: the states without the Deployment.
            entries: the states in which the rollout begins.
            owner: the Deployment.

        Raises:
            NotCountable: counts do not decide what happens.
        """
        self.owner = owner
        self._rest = rest
        self._own = entries[0].sets[owner]
        spec: DeploymentSpec = world.specs[self._own.spec]
        revision = world.revisions[spec.rev]
        self.kinds = PodKinds(spec.rev)
        cls = world.cls_of(spec.rev, admission=world.admission(rest.facts))
        self._waiting = P(owner, spec.rev, NO_ORDINAL, cls, PENDING, Stage.WAITING)
        stage = int(Stage.BOUND if revision.becomes_ready else Stage.UNREADY)
        self._new = self.kinds.kind(at_stage(self._waiting, stage))
        self.controls = Controls(spec, self._own.spec, self.kinds, becomes_ready=revision.becomes_ready)
        self._world = world
        self._oracle = oracle
        pods = [of_owner(entry.pods, owner) for entry in entries]
        self._terminating = max((most_terminating(item, spec.rev) for item in pods), key=len)

    def at(self, places: Places) -> None:
        """Set the places of the nodes."""
        self._places = places
        self._hosts = Hosts(
            self._world,
            self._oracle,
            self._rest,
            waiting=self._waiting,
            kinds=self.kinds,
            places=places,
            terminating=self._terminating,
        )

    def counts(self, state: State) -> Counts:
        """Return a state as counts, with nodes at their own places; terminating pods are gone."""
        pods = [pod for pod in of_owner(state.pods, self.owner) if not pod.end]
        bound = [pod for pod in pods if pod.node != PENDING]
        by_node: dict[int, list[int]] = {}
        for pod in bound:
            by_node.setdefault(pod.node, []).append(self.kinds.kind(pod))
        if by_node.keys() - set(self._places.nodes):
            raise NotCountable
        contents = tuple(self.kinds.content(by_node.get(node, ())) for node in self._places.nodes)
        kinds = Counter(kind for found in by_node.values() for kind in found)
        totals = tuple(kinds[kind] for kind in range(len(self.kinds.pods)))
        ready = sum(pod.rev == self.kinds.newest and pod.stage == Stage.READY for pod in bound)
        control = Control(state.sets[self.owner].sets, ready, len(pods) - len(bound), totals)
        return contents, self.controls.number(control)

    def state(self, counts: Counts, order: Sequence[int]) -> State:
        """Return counts as a state; `order` has the place in the counts for each place of the nodes."""
        contents, at = counts
        control = self.controls.all[at]
        bound = self.kinds.bound_pods([contents[place] for place in order], self._places.nodes)
        pods = [*self._rest.pods, *self._named_ready(bound, control.ready), *[self._waiting] * control.waiting]
        own = self._own._replace(sets=control.sets)
        sets = tuple(own if at == self.owner else other for at, other in enumerate(self._rest.sets))
        return self._rest._replace(pods=tuple(sorted(pods)), sets=sets)

    def _named_ready(self, pods: Sequence[P], ready: int) -> Iterator[P]:
        """Yield pods; the first ones of the newest revision are ready."""
        for pod in sorted(pods):
            if ready and pod.rev == self.kinds.newest and pod.stage == Stage.BOUND:
                ready -= 1
                yield at_stage(pod, Stage.READY)
            else:
                yield pod

    def after(self, contents: Numbers, control: int) -> list[Counts]:
        """Return the states after each step, with nodes at their own places; none if the state is steady."""
        options = self.controls.options(control)
        found: list[Counts] = []
        if options.excess is not None:
            found += self._deleted(contents, control, options.excess)
        if options.is_waiting:
            found += self._bound(contents, control)
        for rolled in options.rolled:
            if rolled.excess is None:
                found.append((contents, rolled.control))
            else:
                found += self._deleted(contents, rolled.control, rolled.excess)
        if not found and options.rest is not None:
            found.append((contents, options.rest))
        return found

    def _bound(self, contents: Numbers, control: int) -> Iterator[Counts]:
        """Yield the states after a waiting pod was bound, once for equal nodes of one domain."""
        hosts = self._hosts.places(contents)
        if not hosts:
            return
        after = self.controls.bind(control, self._new)
        seen: set[tuple[int, int]] = set()
        for place in hosts:
            key = (self._places.brothers[place], contents[place])
            if key not in seen:
                seen.add(key)
                content = self.kinds.add(contents[place], self._new)
                yield (*contents[:place], content, *contents[place + 1 :]), after

    def _deleted(self, contents: Numbers, control: int, excess: Excess) -> Iterator[Counts]:
        """Yield the states after each choice of pods to delete, once for equal nodes of one domain."""
        by_rank: dict[tuple[int, ...], list[_Candidate]] = {}
        for place, content in enumerate(contents):
            if content != EMPTY:
                for item in self.kinds.rank(content, excess.rev):
                    by_rank.setdefault(item.rank, []).append((place, item))
        left = excess.number
        after = list(contents)
        gone: dict[int, int] = {}
        for rank in sorted(by_rank):
            candidates = by_rank[rank]
            total = sum(item.number for _, item in candidates)
            if total > left:
                like = self._alike(contents, candidates)
                yield from self._chosen(tuple(after), control, candidates, like=like, count=left, gone=gone)
                return
            for place, item in candidates:
                after[place] = self.kinds.remove(after[place], item.kind, item.number)
                gone[item.kind] = gone.get(item.kind, 0) + item.number
            left -= total
            if not left:
                break
        yield tuple(after), self._without(control, gone, ())

    def _alike(self, contents: Numbers, candidates: list[_Candidate]) -> list[object]:
        """Sort candidates, and return a value for each; neighbours with equal values are interchangeable."""
        candidates.sort(key=lambda item: (self._places.brothers[item[0]], contents[item[0]], item[0], item[1].kind))
        if len({place for place, _ in candidates}) < len(candidates):
            return list(range(len(candidates)))  # A place has several kinds, which can only be exchanged together.
        return [(self._places.brothers[place], contents[place]) for place, _ in candidates]

    def _chosen(
        self,
        contents: Numbers,
        control: int,
        candidates: list[_Candidate],
        *,
        like: Sequence[object],
        count: int,
        gone: dict[int, int],
    ) -> Iterator[Counts]:
        """Yield the states after each choice among pods of one rank."""
        kinds = {item.kind for _, item in candidates}
        only = kinds.pop() if len(kinds) == 1 else None
        same = -1 if only is None else self._without(control, gone, [(only, count)])
        removed = self.kinds.remove
        are_alike = tuple([at > 0 and like[at] == like[at - 1] for at in range(len(like))])
        for taken in _choices(tuple([item.number for _, item in candidates]), are_alike, count):
            after = list(contents)
            for at, some in taken:
                place, item = candidates[at]
                after[place] = removed(after[place], item.kind, some)
            if only is None:
                yield tuple(after), self._without(control, gone, [(candidates[at][1].kind, some) for at, some in taken])
            else:
                yield tuple(after), same

    def _without(self, control: int, gone: dict[int, int], more: Iterable[tuple[int, int]]) -> int:
        """Return the control after pods were deleted, as numbers by kind."""
        found = dict(gone)
        for kind, count in more:
            found[kind] = found.get(kind, 0) + count
        return self.controls.delete(control, tuple(sorted(found.items())))


Taken = tuple[tuple[int, int], ...]  # indices of candidates, and how many pods are taken of each


@functools.lru_cache(maxsize=4096)  # perf: the same numbers occur in thousands of states
def _choices(there: tuple[int, ...], are_alike: tuple[bool, ...], count: int) -> list[Taken]:
    """Return how many pods are taken of each candidate, without zeros.

    Args:
        there: pods of each candidate.
        are_alike: whether a candidate is interchangeable with the one before it; then it gives no more than that one.
        count: pods to take.

    Raises:
        NotCountable: there are too many choices.
    """
    room = [*reversed(list(itertools.accumulate(reversed(there)))), 0]
    found: list[Taken] = []

    def add(taken: Taken, at: int, left: int, last: int) -> None:
        if not left:
            found.append(taken)
            if len(found) > _MOST_CHOICES:
                raise NotCountable
            return
        most = min(there[at], left, last if are_alike[at] else left)
        for some in range(max(0, left - room[at + 1]), most + 1):
            add((*taken, (at, some)) if some else taken, at + 1, left - some, some)

    add((), 0, count, 0)
    return found
