"""Nodes for a waiting pod, by the contents of the nodes.

Terminating pods count as gone at once. This is exact if they cannot change the scheduler's choice, which is checked for
each question. However many of them are still on each node, none may become infeasible, and no other node may reach the
highest score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

import numpy as np

from kubectl_spread.cluster.tables.columns import Int64s
from kubectl_spread.engine.counting.control import NotCountable
from kubectl_spread.engine.counting.kinds import PodKinds
from kubectl_spread.engine.counting.places import Numbers, Places
from kubectl_spread.engine.oracle import Oracle
from kubectl_spread.engine.search.questions import Questions
from kubectl_spread.engine.state import Deletion, ending, on_node, P, State
from kubectl_spread.engine.world import World
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.cycle import Scores
from kubectl_spread.scheduler.framework.plugin import ScoreError
from kubectl_spread.scheduler.plugins import names

_BY_NODE = (  # plugins whose score of a node depends on this node alone
    names.NODE_RESOURCES_FIT,
    names.NODE_RESOURCES_BALANCED_ALLOCATION,
    names.NODE_RESOURCES_LEAST_ALLOCATED,
    names.NODE_RESOURCES_MOST_ALLOCATED,
)


class Hosts:
    """Answers of the scheduler for the waiting pods of one Deployment."""

    def __init__(
        self,
        world: World,
        oracle: Oracle,
        others: State,
        *,
        waiting: P,
        kinds: PodKinds,
        places: Places,
        terminating: Sequence[P],
    ) -> None:
        """Set up the questions.

        Args:
            world: the nodes.
            oracle: the scheduler.
            others: a state with all pods that are not the Deployment's.
            waiting: a pod of the Deployment's newest revision.
            kinds: kinds of the Deployment's pods.
            places: of the nodes.
            terminating: the most pods that may terminate on one node at the same time.

        Raises:
            NotCountable: terminating pods hold more than resources.
        """
        self._oracle = oracle
        self._others = others
        self._waiting = waiting
        self._kinds = kinds
        self._places = places
        self._terminating = terminating
        self._questions = Questions(world)
        self._seen: list[int] = []  # by content: number of its pods as the scheduler sees them
        self._seen_at: dict[tuple[int, ...], int] = {}
        self._contents: list[int] = []  # by that number: a content
        self._found: dict[Numbers, tuple[int, ...]] = {}
        self._known: dict[Numbers, tuple[int, ...]] = {}
        # Default constraints count pods by labels that no pod names.
        self._has_own_constraints = bool(world.classes[waiting.cls].constraints)
        classes = [world.classes[pod.cls] for pod in (waiting, *terminating)]
        if not all(_takes_only_resources(cls) for cls in classes) or len({_resources(cls) for cls in classes[1:]}) > 1:
            raise NotCountable

    def places(self, contents: Numbers) -> tuple[int, ...]:
        """Return the places to which a waiting pod may be bound, all equally good; none if it stays Pending."""
        if len(self._seen) < len(self._kinds.contents):
            self._number()
        seen = tuple([self._seen[content] for content in contents])
        found = self._found.get(seen)
        if found is None:
            ordered, order = self._places.order(seen)
            known = self._known.get(ordered)
            if known is None:
                known = self._known[ordered] = self._asked(tuple([self._contents[number] for number in ordered]))
            found = self._found[seen] = tuple(sorted([order[place] for place in known]))
        return found

    def _number(self) -> None:
        """Number the contents that the scheduler tells apart."""
        for content in self._kinds.contents[len(self._seen) :]:
            alike = tuple(sorted([self._likeness(self._kinds.pods[kind].cls) for kind in content]))
            number = self._seen_at.get(alike)
            if number is None:
                number = self._seen_at[alike] = len(self._contents)
                self._contents.append(len(self._seen))
            self._seen.append(number)

    def _likeness(self, cls: int) -> int:
        """Return a number that is equal for classes of bound pods that the scheduler counts alike."""
        return self._questions.likeness(cls) if self._has_own_constraints else cls

    def _asked(self, contents: Numbers) -> tuple[int, ...]:
        """Ask the scheduler, and compare its answers with different numbers of terminating pods on every node."""
        bound = self._kinds.bound_pods(contents, self._places.nodes)
        place_of = {node: place for place, node in enumerate(self._places.nodes)}
        scores: list[Scores] = []
        for count in range(len(self._terminating) + 1):
            more = [on_node(pod, node) for pod in self._terminating[:count] for node in self._places.nodes]
            try:
                scores.append(self._oracle.score(self._waiting, self._state([*bound, *more])))
            except ScoreError:
                raise NotCountable from None
        return tuple(place_of[node] for node in _best(scores))

    def _state(self, pods: Sequence[P]) -> State:
        return self._others._replace(pods=tuple(sorted((*self._others.pods, *pods))))


def terminate(pod: P) -> P:
    """Return a pod while it terminates."""
    return ending(pod, Deletion.TERMINATING)


def _takes_only_resources(cls: PodClass) -> bool:
    """Return whether terminating pods of a class can only matter to other pods by the resources that they use."""
    terms = (cls.pod_affinity, cls.pod_anti_affinity, cls.preferred_affinity, cls.preferred_anti_affinity)
    return not cls.host_ports and not cls.volumes and not any(terms)


def _resources(cls: PodClass) -> object:
    return cls.requests, cls.nonzero, cls.scored, cls.balanced, cls.older


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
    totals = np.array([_total(item, first) for item in scores])  # int64 (numbers of terminating pods, nodes)
    is_best = totals[0] == totals[0].max()
    rest = totals[:, ~is_best]
    if rest.size and rest.max() >= totals[:, is_best].min(axis=0).max():
        raise NotCountable
    return tuple(node for node, best in zip(nodes, is_best.tolist(), strict=True) if best)


def _total(item: Scores, first: Scores) -> Int64s:
    """Return the total score of each node; scores across nodes must not depend on terminating pods."""
    for name, one in first.by_plugin.items():
        if name not in _BY_NODE and not np.array_equal(one, item.by_plugin[name]):
            raise NotCountable
    return item.total


def most_terminating(pods: Sequence[P], newest: Optional[int]) -> list[P]:
    """Return the pods of old revisions on the node that has most of them, as they terminate."""
    by_node: dict[int, list[P]] = {}
    for pod in pods:
        if pod.rev != newest and pod.node >= 0:
            by_node.setdefault(pod.node, []).append(terminate(pod))
    return max(by_node.values(), key=len, default=[])
