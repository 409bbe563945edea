"""The rollout of one Deployment as counts: contents of places, and a control.

A state of the model is the content of each place and the number of a control. It represents all states of the cluster
in which interchangeable nodes are exchanged, and in which deleted pods may still terminate.

Terminating pods count as gone at once. This is exact if they cannot change the scheduler's choice, which is checked for
each question: however many of them are still on each node, none may become infeasible, and no other node may reach the
highest score.

`controllers.deployment` calculates the same numbers of pods. Its results are cached, because few combinations of
numbers occur.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Optional

import numpy as np

from kubectl_spread.caching import cached_method
from kubectl_spread.containers import grouped, Numbering
from kubectl_spread.engine.controllers import deployment, replicaset
from kubectl_spread.engine.controllers.deployment import DeploymentSpec, RevisionPods
from kubectl_spread.engine.oracle import Oracle
from kubectl_spread.engine.search.node_tree import affinity_terms
from kubectl_spread.engine.search.symmetry import Arrangement, choices, Numbers
from kubectl_spread.engine.state import (
    at_stage,
    Deletion,
    ending,
    NO_ORDINAL,
    of_owner,
    on_node,
    P,
    PENDING,
    Stage,
    State,
)
from kubectl_spread.engine.world import World
from kubectl_spread.scheduler.cycle import Scores
from kubectl_spread.scheduler.framework.plugin import ScoreError
from kubectl_spread.scheduler.plugins import names

_BOUND, _READY = int(Stage.BOUND), int(Stage.READY)


_HERE = 0  # any node


class DeletionCandidates(NamedTuple):
    """Pods of one kind on one node, as candidates for deletion; the lowest rank is deleted first."""

    rank: tuple[int, ...]
    kind: int
    number: int


class PodKinds:
    """Numbers kinds of pods and contents of nodes.

    Pods of the newest revision are of one kind whether they are ready or not: their controller never deletes them, and
    any of them may become ready first.
    """

    def __init__(self, newest: int, *, is_widened: bool) -> None:
        """Set up the kinds; `newest` is the revision to which the Deployment rolls out; see `World.is_widened`."""
        self.newest = newest
        self.is_widened = is_widened
        self._kind_of = Numbering[P]()
        self.pods = self._kind_of.listed  # by kind, on any node; those of the newest revision are not ready
        self._content_of = Numbering[tuple[int, ...]]([()])  # of sorted kinds
        self.contents = self._content_of.listed

    def kind(self, pod: P) -> int:
        """Return the kind of a bound pod."""
        if pod.rev == self.newest and pod.stage == _READY:
            pod = at_stage(pod, _BOUND)
        return self._kind_of[on_node(pod, _HERE)]

    def content(self, kinds: Iterable[int]) -> int:
        """Return the number of a content."""
        return self._content_of[tuple(sorted(kinds))]

    @cached_method
    def add(self, content: int, kind: int) -> int:
        """Return a content with one more pod."""
        return self.content((*self.contents[content], kind))

    @cached_method
    def remove(self, content: int, kind: int, count: int) -> int:
        """Return a content without some pods of a kind."""
        kinds = list(self.contents[content])
        for _ in range(count):
            kinds.remove(kind)
        return self.content(kinds)

    @cached_method
    def rank(self, content: int, rev: int) -> tuple[DeletionCandidates, ...]:
        """Return the pods of a revision in a content, with their ranks among all pods to delete."""
        kinds = self.contents[content]
        pods = [self.pods[one] for one in kinds]  # on one node
        rank = replicaset.rank_on_any_node if self.is_widened else replicaset.ranks(pods)
        return tuple(
            DeletionCandidates(rank(self.pods[kind]), kind, count)
            for kind, count in sorted(Counter(kinds).items())
            if self.pods[kind].rev == rev
        )

    def bound_pods(self, contents: Iterable[int], nodes: Iterable[int]) -> list[P]:
        """Return the pods of contents on their nodes."""
        return [
            on_node(self.pods[kind], node)
            for content, node in zip(contents, nodes, strict=True)
            for kind in self.contents[content]
        ]


_MOST_SYNCS = 1_000


class NotCountable(Exception):  # noqa: N818 (no error: the search continues in another way)
    """The counts alone do not decide what happens."""


Excess = tuple[int, int]  # the revision and the number of the pods that a ReplicaSet has to delete


class Control(NamedTuple):
    """Numbers that the controller reads; bound: pods with a node, by kind.

    ready: ready pods of the newest revision. waiting: its pods without a node. before: the control before old
    ReplicaSets were scaled down, if new pods may be bound before the old ones are deleted.
    """

    sets: tuple[deployment.Set, ...]
    ready: int
    waiting: int
    bound: tuple[int, ...]
    before: Optional[Control] = None


ScaledDown = tuple[int, Optional[Excess]]  # the control after old ReplicaSets were scaled down, pods deleted at once


class Options(NamedTuple):
    """Next steps of the controller.

    rest: the control after all pods have become ready, None if they are. later: the control if more pods had become
    ready before old ReplicaSets were scaled down, with the further pods that would wait then.
    """

    excess: Optional[Excess]
    rolled: tuple[ScaledDown, ...]
    rest: Optional[int]
    is_waiting: bool
    later: Optional[int] = None


class Controls:
    """Numbered controls, and the steps from one to another."""

    def __init__(self, spec: DeploymentSpec, kinds: PodKinds, *, becomes_ready: bool) -> None:
        self.numbers = Numbering[Control]()
        self.all = self.numbers.listed
        self._spec = spec
        self._kinds = kinds
        self._becomes_ready = becomes_ready

    @cached_method
    def options(self, at: int) -> Options:
        """Return the next steps of the controller."""
        control = self.all[at]
        excess = self._excess(control)
        unready = self._unready(control)
        rest = self.numbers[self._settled(control._replace(ready=control.ready + unready))] if unready else None
        rolled = () if excess is not None else tuple(self._rolled(control))
        if self._kinds.is_widened:
            rolled = rolled[:1]  # Pods are deleted in one order, so more of them become ready step by step.
        return Options(excess, rolled, rest, control.waiting > 0, self._later(control))

    def _later(self, control: Control) -> Optional[int]:
        """Return the control with a larger scale-down that began before, if all its new pods so far are bound.

        A deletion before that is one of a smaller scale-down, and of single pods that become ready after it.
        """
        before = control.before
        if before is None or control.waiting or not self._kinds.is_widened:
            return None
        new = sum(control.bound) - sum(before.bound)
        for number, _ in self._rolled(before):
            after = self.all[number]
            if after.waiting > new:
                return self.numbers[after._replace(waiting=after.waiting - new, bound=control.bound)]
        return None

    @cached_method
    def bind(self, at: int, kind: int) -> int:
        """Return the control after a waiting pod was bound and is of a kind."""
        control = self.all[at]
        counts = _changed(control.bound, ((kind, 1),))
        return self.numbers[control._replace(waiting=control.waiting - 1, bound=counts)]

    @cached_method
    def delete(self, at: int, gone: tuple[tuple[int, int], ...]) -> int:
        """Return the control after bound pods were deleted; `gone` are kinds and numbers."""
        control = self.all[at]
        counts = _changed(control.bound, ((kind, -count) for kind, count in gone))
        return self.numbers[self._settled(control._replace(bound=counts, before=None))]

    def available(self, at: int) -> int:
        """Return the number of ready pods."""
        control = self.all[at]
        return sum(self._seen(control).available.values())

    def _unready(self, control: Control) -> int:
        if not self._becomes_ready:
            return 0
        return self._by_rev(control)[self._kinds.newest] - control.ready

    def _by_rev(self, control: Control) -> Counter[int]:
        """Return the bound pods of each revision."""
        found: Counter[int] = Counter()
        for pod, count in zip(self._kinds.pods, control.bound, strict=False):
            found[pod.rev] += count
        return found

    def _seen(self, control: Control) -> RevisionPods:
        """Return the pods as the controller sees them."""
        active = self._by_rev(control)
        active[self._kinds.newest] += control.waiting
        available = Counter({self._kinds.newest: control.ready})
        for pod, count in zip(self._kinds.pods, control.bound, strict=False):
            available[pod.rev] += count if pod.stage == _READY else 0
        return RevisionPods(available, active)

    def _excess(self, control: Control) -> Optional[Excess]:
        active = self._seen(control).active
        shrinking = [item for item in control.sets if active.get(item.rev, 0) > item.size]
        if not shrinking:
            return None
        first = shrinking[0]
        if any(item.rev == self._kinds.newest for item in shrinking):
            raise NotCountable  # it matters which of its pods are ready
        if len(shrinking) > 1 and any(item.size for item in shrinking):
            raise NotCountable  # it matters what each has seen of the others' deletions
        return first.rev, active[first.rev] - first.size

    def _settled(self, control: Control) -> Control:
        """Return the control after all changes without a choice."""
        for _ in range(_MOST_SYNCS):
            seen = self._seen(control)
            found = deployment.sync(self._spec, control.sets, seen)
            if found is not None and not found.is_scale_down:
                control = control._replace(sets=found.sets)
                continue
            missing = {item.rev: item.size - seen.active.get(item.rev, 0) for item in control.sets}
            if any(count > 0 for rev, count in missing.items() if rev != self._kinds.newest):
                raise NotCountable  # an old revision gets new pods
            more = missing.get(self._kinds.newest, 0)
            if more <= 0:
                return control
            control = control._replace(waiting=control.waiting + more)
        raise NotCountable  # the controller does not come to an end

    def _rolled(self, control: Control) -> Iterator[ScaledDown]:
        """Yield the controls after some pods have become ready and old ReplicaSets were scaled down."""
        if all(not item.size or item.rev == self._kinds.newest for item in control.sets):
            return
        for count in range(self._unready(control) + 1):
            ready = control._replace(ready=control.ready + count)
            found = deployment.sync(self._spec, ready.sets, self._seen(ready))
            if found is None or not found.is_scale_down:
                continue
            after = self._settled(ready._replace(sets=found.sets))
            is_faster = after.waiting > 0 and not control.waiting  # New pods may be bound before old ones go.
            if is_faster and self._kinds.is_widened:
                after = after._replace(before=control)
            yield self.numbers[after], None if is_faster else self._excess(after)


def _changed(counts: tuple[int, ...], changes: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """Return counts by kind after changes; a new kind comes last."""
    found = list(counts)
    for kind, count in changes:
        found += [0] * (kind + 1 - len(found))
        found[kind] += count
    return tuple(found)


_BY_NODE = (  # plugins whose score of a node depends on this node alone
    names.NODE_RESOURCES_FIT,
    names.NODE_RESOURCES_BALANCED_ALLOCATION,
    names.NODE_RESOURCES_LEAST_ALLOCATED,
    names.NODE_RESOURCES_MOST_ALLOCATED,
)


_MOST_CHOICES = 20_000  # Most ways to choose pods for deletion at once.

Counts = tuple[Numbers, int]  # contents by place, and the number of a control
Numbered = tuple[tuple[int, int], ...]  # kinds and numbers of pods


class Model:
    """States of a rollout as counts, and the steps between them."""

    def __init__(
        self, world: World, oracle: Oracle, rest: State, *, entries: Sequence[State], owner: int, places: Arrangement
    ) -> None:
        """Set up the model.

        Args:
            world: the nodes and workloads.
            oracle: the scheduler.
            rest: the states without the Deployment.
            entries: the states in which the rollout begins.
            owner: the Deployment.
            places: of the nodes.

        Raises:
            NotCountable: counts do not decide what happens, or terminating pods hold more than resources.
        """
        self.owner = owner
        self._oracle = oracle
        self._rest = rest
        self._own = entries[0].sets[owner]
        self._places = places
        spec: DeploymentSpec = world.specs[self._own.spec]
        revision = world.revisions[spec.rev]
        self.kinds = PodKinds(spec.rev, is_widened=world.is_widened)
        cls = world.cls_of(spec.rev, admission=world.admission(rest.facts))
        self._waiting = P(owner, spec.rev, NO_ORDINAL, cls, PENDING, Stage.WAITING)
        stage = int(Stage.BOUND if revision.becomes_ready else Stage.UNREADY)
        self._new = self.kinds.kind(at_stage(self._waiting, stage))
        self.controls = Controls(spec, self.kinds, becomes_ready=revision.becomes_ready)
        # The most pods of old revisions that may terminate on one node at the same time
        self._terminating: list[P] = []
        for entry in entries if not world.is_widened else ():  # In a widened world, deleted pods are gone at once.
            old = [pod for pod in of_owner(entry.pods, owner) if pod.rev != spec.rev and pod.node >= 0]
            by_node = grouped((pod.node, ending(pod, Deletion.TERMINATING)) for pod in old)
            self._terminating = max([self._terminating, *by_node.values()], key=len)
        self._questions = oracle.questions
        self._seen: list[int] = []  # by content: number of its pods as the scheduler sees them
        self._seen_at = Numbering[tuple[int, ...]]()
        self._contents: list[int] = []  # by that number: a content
        # Default constraints count pods by labels that no pod names.
        self._has_own_constraints = bool(world.classes[cls].constraints)
        classes = [world.classes[pod.cls] for pod in (self._waiting, *self._terminating)]
        for each in classes:  # Terminating pods may only matter to other pods by the resources that they use.
            if each.host_ports or each.volumes or any(True for _ in affinity_terms(each)):
                raise NotCountable
        if len({(each.requests, each.nonzero, each.scored, each.balanced, each.older) for each in classes[1:]}) > 1:
            raise NotCountable

    def counts(self, state: State) -> Counts:
        """Return a state as counts, with nodes at their own places; terminating pods are gone."""
        pods = [pod for pod in of_owner(state.pods, self.owner) if not pod.end]
        bound = [pod for pod in pods if pod.node != PENDING]
        by_node = grouped((pod.node, self.kinds.kind(pod)) for pod in bound)
        if by_node.keys() - set(self._places.slots):
            raise NotCountable
        contents = tuple(self.kinds.content(by_node.get(node, ())) for node in self._places.slots)
        kinds = Counter(kind for found in by_node.values() for kind in found)
        totals = tuple(kinds[kind] for kind in range(len(self.kinds.pods)))
        ready = sum(pod.rev == self.kinds.newest and pod.stage == Stage.READY for pod in bound)
        control = Control(state.sets[self.owner].sets, ready, len(pods) - len(bound), totals)
        return contents, self.controls.numbers[control]

    def state(self, counts: Counts, order: Sequence[int], *, has_waiting: bool = True) -> State:
        """Return counts as a state, perhaps without the pods that wait; `order`: the place in the counts of each node.

        Thousands of waiting pods cost much in each state, and most readers only count pods on nodes.
        """
        contents, at = counts
        control = self.controls.all[at]
        bound = sorted(self.kinds.bound_pods([contents[place] for place in order], self._places.slots))
        ready = control.ready  # The first pods of the newest revision are.
        for place, pod in enumerate(bound):
            if ready and pod.rev == self.kinds.newest and pod.stage == Stage.BOUND:
                ready -= 1
                bound[place] = at_stage(pod, Stage.READY)
        pods = [*self._rest.pods, *bound, *[self._waiting] * (control.waiting if has_waiting else 0)]
        own = self._own._replace(sets=control.sets)
        sets = tuple(own if at == self.owner else other for at, other in enumerate(self._rest.sets))
        return self._rest._replace(pods=tuple(sorted(pods)), sets=sets)

    def after(self, contents: Numbers, control: int) -> list[Counts]:
        """Return the states after each step, with nodes at their own places; none if the state is steady."""
        options = self.controls.options(control)
        found: list[Counts] = []
        if options.excess is not None:
            found += self._deleted(contents, control, options.excess)
        if options.is_waiting:
            found += self._bound(contents, control)
        if options.later is not None:
            found += self._bound(contents, options.later)
        for after, excess in options.rolled:
            found += [(contents, after)] if excess is None else self._deleted(contents, after, excess)
        if not found and options.rest is not None:
            found.append((contents, options.rest))
        return found

    def _bound(self, contents: Numbers, control: int) -> Iterator[Counts]:
        """Yield the states after a waiting pod was bound, once for equal nodes of one domain."""
        hosts = self._hosts(contents)
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
        rank, remove = self.kinds.rank, self.kinds.remove
        rev, number = excess
        pods = tuple([rank(content, rev) for content in contents])
        ways = _deletions(pods, self._places.brothers, tuple(map(contents.index, contents)), number)
        if ways is None:
            raise NotCountable
        for gone, found in ways.items():
            control_after = self.controls.delete(control, gone)
            for taken in found:
                after = list(contents)
                for place, kind, count in taken:
                    after[place] = remove(after[place], kind, count)
                yield tuple(after), control_after

    def _hosts(self, contents: Numbers) -> tuple[int, ...]:
        """Return the places to which a waiting pod may be bound, all equally good; none if it stays Pending."""
        for content in self.kinds.contents[len(self._seen) :]:  # Number the contents that the scheduler tells apart.
            classes = [self.kinds.pods[kind].cls for kind in content]
            if self._has_own_constraints:
                classes = [self._questions.likeness(cls) for cls in classes]
            number = self._seen_at[tuple(sorted(classes))]
            if number == len(self._contents):
                self._contents.append(len(self._seen))
            self._seen.append(number)
        seen, order = self._places.sort(tuple([self._seen[content] for content in contents]))
        return tuple(sorted([order[place] for place in self._asked(seen)]))

    @cached_method
    def _asked(self, seen: Numbers) -> tuple[int, ...]:
        """Ask the scheduler, and compare its answers with different numbers of terminating pods on every node."""
        bound = self.kinds.bound_pods([self._contents[number] for number in seen], self._places.slots)
        place_of = {node: place for place, node in enumerate(self._places.slots)}
        scores: list[Scores] = []
        for count in range(len(self._terminating) + 1):
            more = [on_node(pod, node) for pod in self._terminating[:count] for node in self._places.slots]
            try:
                state = self._rest._replace(pods=tuple(sorted((*self._rest.pods, *bound, *more))))
                scores.append(self._oracle.score(self._waiting, state))
            except ScoreError:
                raise NotCountable from None
        return tuple(place_of[node] for node in _best(scores))


def _best(scores: Sequence[Scores]) -> tuple[int, ...]:
    """Return the nodes with the highest score, if terminating pods cannot change which these are.

    Raises:
        NotCountable: they may.
    """
    first = scores[0]
    nodes = tuple(first.nodes.tolist())
    if any(tuple(other.nodes.tolist()) != nodes for other in scores):
        raise NotCountable
    if len(nodes) < 2:
        return nodes
    for item in scores:  # Scores across nodes must not depend on terminating pods.
        for name, one in first.by_plugin.items():
            if name not in _BY_NODE and not np.array_equal(one, item.by_plugin[name]):
                raise NotCountable
    totals = np.array([item.total for item in scores])  # int64 (numbers of terminating pods, nodes)
    is_best = totals[0] == totals[0].max()
    rest = totals[:, ~is_best]
    if rest.size and rest.max() >= totals[:, is_best].min(axis=0).max():
        raise NotCountable
    return tuple(node for node, best in zip(nodes, is_best.tolist(), strict=True) if best)


@functools.lru_cache(maxsize=8192)  # perf: the same numbers occur in thousands of states
def _deletions(
    pods: tuple[tuple[DeletionCandidates, ...], ...], brothers: Numbers, same: Numbers, left: int
) -> Optional[dict[Numbered, list[list[tuple[int, int, int]]]]]:
    """Return the choices of pods to delete, the lowest ranks first; None if there are too many.

    A choice has places, kinds and numbers of pods. Choices are listed by the number of pods of each kind. Brothers
    with equal values of `same` are interchangeable.
    """
    by_rank = grouped(
        (item.rank, (brothers[at], same[at], at, item)) for at, items in enumerate(pods) for item in items
    )
    taken: list[list[tuple[int, int, int]]] = [[]]
    for rank in sorted(by_rank):
        candidates = sorted(by_rank[rank])
        here = min(left, sum(item.number for *_, item in candidates))
        left -= here
        # Several kinds in a place can only be exchanged together.
        is_simple = len({place for *_, place, _ in candidates}) == len(candidates)
        alike = [is_simple and one[:2] == other[:2] for one, other in itertools.pairwise(candidates)]
        ways = choices([item.number for *_, item in candidates], [False, *alike], here, _MOST_CHOICES)
        if ways is None:
            return None
        named = [[(candidates[at][2], candidates[at][3].kind, count) for at, count in way] for way in ways]
        taken = [before + more for before in taken for more in named]
        if not left:
            break
    by_kind: list[tuple[Numbered, list[tuple[int, int, int]]]] = []
    for choice in taken:
        numbers: Counter[int] = Counter()
        for _, kind, count in choice:
            numbers[kind] += count
        by_kind.append((tuple(sorted(numbers.items())), choice))
    return grouped(by_kind)
