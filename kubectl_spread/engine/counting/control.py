"""The Deployment's controller without nodes: sizes of ReplicaSets, and numbers of pods.

The arithmetic is that of `controllers.deployment`; its results are cached, because few combinations of numbers occur.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Optional

from kubectl_spread.caching import cached_method
from kubectl_spread.containers import Numbering
from kubectl_spread.engine.controllers import deployment, replicaset
from kubectl_spread.engine.controllers.deployment import DeploymentSpec, DeploymentState, RevisionPods
from kubectl_spread.engine.state import at_stage, on_node, P, Stage

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
        self.pods: list[P] = []  # by kind, on any node
        self.revs: list[int] = []  # by kind
        self.are_ready: list[bool] = []  # by kind; False for the newest revision, whose ready pods are counted
        self._kind_of: dict[P, int] = {}
        self._content_of = Numbering[tuple[int, ...]]([()])  # of sorted kinds
        self.contents = self._content_of.listed

    def kind(self, pod: P) -> int:
        """Return the kind of a bound pod."""
        if pod.rev == self.newest and pod.stage == _READY:
            pod = at_stage(pod, _BOUND)
        bare = on_node(pod, _HERE)
        found = self._kind_of.get(bare)
        if found is None:
            found = self._kind_of[bare] = len(self.pods)
            self.pods.append(bare)
            self.revs.append(pod.rev)
            self.are_ready.append(pod.rev != self.newest and pod.stage == _READY)
        return found

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
            if self.revs[kind] == rev
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


class Excess(NamedTuple):
    """Pods that a ReplicaSet has to delete: a revision and a number."""

    rev: int
    number: int


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


class ScaledDown(NamedTuple):
    """A control after old ReplicaSets were scaled down, and the pods that are deleted at once."""

    control: int
    excess: Optional[Excess]


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

    def __init__(self, spec: DeploymentSpec, spec_at: int, kinds: PodKinds, *, becomes_ready: bool) -> None:
        self._numbers = Numbering[Control]()
        self.all = self._numbers.listed
        self._spec = spec
        self._spec_at = spec_at
        self._kinds = kinds
        self._becomes_ready = becomes_ready

    def number(self, control: Control) -> int:
        """Return the number of a control."""
        return self._numbers[control]

    @cached_method
    def options(self, at: int) -> Options:
        """Return the next steps of the controller."""
        control = self.all[at]
        excess = self._excess(control)
        unready = self._unready(control)
        rest = self.number(self._settled(control._replace(ready=control.ready + unready))) if unready else None
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
        for item in self._rolled(before):
            after = self.all[item.control]
            if after.waiting > new:
                return self.number(after._replace(waiting=after.waiting - new, bound=control.bound))
        return None

    @cached_method
    def bind(self, at: int, kind: int) -> int:
        """Return the control after a waiting pod was bound and is of a kind."""
        control = self.all[at]
        counts = _changed(control.bound, ((kind, 1),))
        return self.number(control._replace(waiting=control.waiting - 1, bound=counts))

    @cached_method
    def delete(self, at: int, gone: tuple[tuple[int, int], ...]) -> int:
        """Return the control after bound pods were deleted; `gone` are kinds and numbers."""
        control = self.all[at]
        counts = _changed(control.bound, ((kind, -count) for kind, count in gone))
        return self.number(self._settled(control._replace(bound=counts, before=None)))

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
        for rev, count in zip(self._kinds.revs, control.bound, strict=False):
            found[rev] += count
        return found

    def _seen(self, control: Control) -> RevisionPods:
        """Return the pods as the controller sees them."""
        active = self._by_rev(control)
        active[self._kinds.newest] += control.waiting
        available = Counter({self._kinds.newest: control.ready})
        for rev, is_ready, count in zip(self._kinds.revs, self._kinds.are_ready, control.bound, strict=False):
            available[rev] += count if is_ready else 0
        return RevisionPods(available, active)

    def _state(self, control: Control) -> DeploymentState:
        return DeploymentState(self._spec_at, control.sets)

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
        return Excess(first.rev, active[first.rev] - first.size)

    def _settled(self, control: Control) -> Control:
        """Return the control after all changes without a choice."""
        for _ in range(_MOST_SYNCS):
            seen = self._seen(control)
            found = deployment.sync(self._spec, self._state(control), seen)
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
            found = deployment.sync(self._spec, self._state(ready), self._seen(ready))
            if found is None or not found.is_scale_down:
                continue
            after = self._settled(ready._replace(sets=found.sets))
            is_faster = after.waiting > 0 and not control.waiting  # New pods may be bound before old ones go.
            if is_faster and self._kinds.is_widened:
                after = after._replace(before=control)
            yield ScaledDown(self.number(after), None if is_faster else self._excess(after))


def _changed(counts: tuple[int, ...], changes: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """Return counts by kind after changes; a new kind comes last."""
    found = list(counts)
    for kind, count in changes:
        found += [0] * (kind + 1 - len(found))
        found[kind] += count
    return tuple(found)
