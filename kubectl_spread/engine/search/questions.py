"""Questions to the scheduler that have the same answer, up to interchangeable nodes and labels that nothing selects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Optional

from kubectl_spread.engine.search.arrangement import Arrangement
from kubectl_spread.engine.search.symmetry import Symmetry
from kubectl_spread.engine.state import Deletion, P, PENDING, State
from kubectl_spread.engine.world import World
from kubectl_spread.objects.affinity import PodAffinityTerm
from kubectl_spread.objects.pod import PodClass

_MOST_NODES = 64  # With more nodes, few questions are equal, and the order takes longer than the answer.


class SchedulingQuestion(NamedTuple):
    """A question: `key` is equal for equal questions, and `order` are the nodes in the order of the key."""

    key: tuple[Any, ...]
    order: list[int]


class Questions:
    """Finds equal questions about the nodes for a pod."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._arrangements: dict[tuple[int, Any], Optional[Arrangement]] = {}
        self._numbered = 0
        self._traits: frozenset[Any] = frozenset()
        self._like: list[int] = []
        self._like_at: dict[PodClass, int] = {}

    def question(self, pod: P, state: State, without: tuple[P, ...] = ()) -> Optional[SchedulingQuestion]:
        """Return the question for a waiting pod; None if names matter, so that only equal states are equal questions.

        `without` are pods to ignore, as if they were gone.
        """
        if state.claims or len(self._world.node_names) > _MOST_NODES or not self._world.classes[pod.cls].constraints:
            return None
        arrangement = self._arrangement(state.facts)
        if arrangement is None or self._world.classes[pod.cls].node_affinity.required:
            return None
        contents = self._contents(state.pods, without)
        if contents is None:
            return None
        _, order = arrangement.order(contents)
        seen = tuple([tuple(contents[node]) if node in contents else None for node in order])
        return SchedulingQuestion((self._like[pod.cls], state.facts, self._traits, seen), order)

    def likeness(self, cls: int) -> int:
        """Return a number that is equal for classes of pods that differ in owners and unselected labels only."""
        if self._numbered != len(self._world.classes):
            self._number()
        return self._like[cls]

    def _contents(self, pods: Iterable[P], without: tuple[P, ...]) -> Optional[dict[int, list[int]]]:
        """Return the pods of each node as the scheduler sees them, as sorted numbers; None if a pod is nominated."""
        like = self._like
        found: dict[int, list[int]] = {}
        for pod in pods:
            node = pod.node
            if node == PENDING:
                if pod.nominated != PENDING:
                    return None
                continue
            end = pod.end
            number = 3 * like[pod.cls] + (_SEEN_END[end] if end else 0)
            if node in found:
                found[node].append(number)
            else:
                found[node] = [number]
        for pod in [item for item in without if item.node != PENDING]:
            found[pod.node].remove(3 * like[pod.cls] + _SEEN_END[pod.end])
        for numbers in found.values():
            if len(numbers) > 1:
                numbers.sort()
        return found

    def _arrangement(self, facts: int) -> Optional[Arrangement]:
        if self._numbered != len(self._world.classes):
            self._number()
        key = (facts, self._traits)
        if key not in self._arrangements:
            self._arrangements[key] = Symmetry(self._world, State((), (), facts)).nodes
        return self._arrangements[key]

    def _number(self) -> None:
        """Number the classes: equal ones differ in labels that nothing selects, and in their owners."""
        classes = self._world.classes
        traits = frozenset(trait for cls in (*classes, *self._world.background_affinities) for trait in _traits(cls))
        if traits != self._traits:
            self._traits, self._like, self._like_at = traits, [], {}
        visible = {trait[1] for trait in traits if trait[0] == "selected"}
        for cls in classes[len(self._like) :]:
            labels = tuple(label for label in cls.labels if label[0] in visible)
            bare = cls._replace(labels=labels, owner=None, owner_uid="")
            self._like.append(self._like_at.setdefault(bare, len(self._like)))
        self._numbered = len(classes)


_SEEN_END: dict[int, int] = {
    Deletion.ALIVE: 0,
    Deletion.TERMINATING: 1,
    Deletion.PREEMPTED: 2,
    Deletion.HELD: 1,
}


def _traits(cls: PodClass) -> Iterator[tuple[Any, ...]]:
    """Yield the parts of a class that make labels of pods, or nodes, different."""
    for item in cls.constraints:
        yield "key", item.topology_key
        for key in (*item.selected_keys, *item.match_label_keys):
            yield "selected", key
    for term in _terms(cls):
        yield "key", term.topology_key
        for requirement in term.selector.requirements or ():
            yield "selected", requirement.key
    yield "nodes", cls.node_selector
    yield "affinity", cls.node_affinity


def _terms(cls: PodClass) -> Iterator[PodAffinityTerm]:
    yield from cls.pod_affinity
    yield from cls.pod_anti_affinity
    for _, term in (*cls.preferred_affinity, *cls.preferred_anti_affinity):
        yield term
