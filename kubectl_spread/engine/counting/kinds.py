"""Kinds of a Deployment's pods, and contents of nodes: the kinds of the pods on one node, as numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from kubectl_spread.engine.controllers import replicaset
from kubectl_spread.engine.state import at_stage, on_node, P, Stage

_BOUND, _READY = int(Stage.BOUND), int(Stage.READY)
_HERE = 0  # any node

EMPTY = 0  # the content of a node without pods


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

    def __init__(self, newest: int) -> None:
        """Set up the kinds; `newest` is the revision to which the Deployment rolls out."""
        self.newest = newest
        self.pods: list[P] = []  # by kind, on any node
        self.revs: list[int] = []  # by kind
        self.are_ready: list[bool] = []  # by kind; False for the newest revision, whose ready pods are counted
        self.contents: list[tuple[int, ...]] = [()]  # sorted kinds
        self._kind_of: dict[P, int] = {}
        self._content_of: dict[tuple[int, ...], int] = {(): EMPTY}
        self._added: dict[tuple[int, int], int] = {}
        self._removed: dict[tuple[int, int, int], int] = {}
        self._ranked: dict[tuple[int, int], tuple[DeletionCandidates, ...]] = {}

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
        ordered = tuple(sorted(kinds))
        found = self._content_of.get(ordered)
        if found is None:
            found = self._content_of[ordered] = len(self.contents)
            self.contents.append(ordered)
        return found

    def add(self, content: int, kind: int) -> int:
        """Return a content with one more pod."""
        key = (content, kind)
        found = self._added.get(key)
        if found is None:
            found = self._added[key] = self.content((*self.contents[content], kind))
        return found

    def remove(self, content: int, kind: int, count: int) -> int:
        """Return a content without some pods of a kind."""
        key = (content, kind, count)
        found = self._removed.get(key)
        if found is None:
            kinds = list(self.contents[content])
            for _ in range(count):
                kinds.remove(kind)
            found = self._removed[key] = self.content(kinds)
        return found

    def rank(self, content: int, rev: int) -> tuple[DeletionCandidates, ...]:
        """Return the pods of a revision in a content, with their ranks among all pods to delete."""
        key = (content, rev)
        found = self._ranked.get(key)
        if found is None:
            kinds = self.contents[content]
            found = self._ranked[key] = tuple(
                DeletionCandidates(replicaset.rank(self.pods[kind], len(kinds)), kind, count)
                for kind, count in sorted(Counter(kinds).items())
                if self.revs[kind] == rev
            )
        return found

    def bound_pods(self, contents: Iterable[int], nodes: Iterable[int]) -> list[P]:
        """Return the pods of contents on their nodes."""
        return [
            on_node(self.pods[kind], node)
            for content, node in zip(contents, nodes, strict=True)
            for kind in self.contents[content]
        ]
