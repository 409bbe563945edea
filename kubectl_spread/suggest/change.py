"""A change that may help, before anybody has tried it."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple
from typing import Optional
from typing import TYPE_CHECKING

from kubectl_spread.suggest.actions import Action
from kubectl_spread.suggest.actions import EditSpec
from kubectl_spread.suggest.patch import Op
from kubectl_spread.suggest.scene import Scene

if TYPE_CHECKING:
    from kubectl_spread.suggest.problem import Problem


class Rank(IntEnum):
    """How much is given up, the least first: mistakes are mended before rules are loosened."""

    MISTAKE = 0  # what is written cannot have been meant
    AFFINITY_POLICY = 5
    TAINTS_POLICY = 6
    REVISION = 8
    SELECTOR = 10
    MIN_DOMAINS = 12
    ROLLOUT = 14
    MAX_SKEW = 20
    OTHER_KEY = 31
    SOFT_CONSTRAINT = 32
    SOFT_AFFINITY = 36
    REQUESTS = 40
    TOLERATION = 44
    NODE_SELECTOR = 45
    RISKY_TOLERATION = 60
    # Of the cluster.
    NODE_LABEL = 3
    RECORDON = 4
    UNCORDON = 16
    EMPTY_NODE = 17
    NEW_LABEL = 18
    STORAGE_CLASS = 19
    NEW_NODE = 25
    CLAIM = 27
    MOVED_POD = 28
    SIBLING = 29
    TERMINATING = 30
    TAINT = 50
    SCALED = 52


class Change(NamedTuple):
    """Something to do, as far as it can be told beforehand.

    family: changes of one family are alternatives of one kind, of which few are shown. rank: the lower, the less is
    given up. weight: the same among changes of a rank. relaxes: texts of the requirements (`explain.requirements`) that
    it loosens; empty where it may loosen any. gives_up: a sentence. parts: how many proposals it is made of.
    """

    title: str
    actions: tuple[Action, ...]
    family: str
    rank: int
    weight: int = 0
    relaxes: frozenset[str] = frozenset()
    gives_up: str = ""
    notes: tuple[str, ...] = ()
    parts: int = 1

    @property
    def is_of_manifest(self) -> bool:
        return all(action.is_of_manifest for action in self.actions)

    def apply(self, scene: Scene) -> Scene:
        """The scene once all of it is done."""
        for action in self.actions:
            scene = action.apply(scene)
        return scene


class Ladder(NamedTuple):
    """Changes of one kind, each of which does more than the one before: the first that is enough is looked for."""

    size: int
    step: Callable[[int], Optional[Change]]


Proposals = Iterator[Ladder]


def single(change: Change) -> Ladder:
    """A change that has no degrees."""
    return Ladder(1, lambda _: change)


def of_spec(
    title: str,
    ops: Iterable[Op],
    *,
    family: str,
    rank: int,
    weight: int = 0,
    relaxes: Iterable[str] = (),
    gives_up: str = "",
    notes: tuple[str, ...] = (),
) -> Change:
    """A change of the pod's manifest."""
    return Change(title, (EditSpec(tuple(ops)),), family, rank, weight, frozenset(relaxes), gives_up, notes)


def constraint_text(problem: Problem, position: int) -> frozenset[str]:
    """The requirements of the explanation that a constraint is."""
    return frozenset(item.text for item in problem.explanation.requirements if item.position == position)
