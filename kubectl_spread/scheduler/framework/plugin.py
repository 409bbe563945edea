"""The interface of plugins: statuses and reasons, states, scores; and a profile, which has the plugins.

Upstream asks a plugin about one node at a time. Here a plugin answers for all nodes at once, with bits and arrays.
This is the one deliberate departure from the framework's interface, and it makes a cycle a handful of array
operations. A plugin keeps a state for each pod class. The state syncs with the bound pods on each use, so that
replicas share the work and other classes cost nothing.

Source: staging/src/k8s.io/kube-scheduler/framework/interface.go, Code (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple, Optional, Protocol, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.columns import Bools, Columns, Int64s
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.releases.behaviours import TOPOLOGY_LABELS
from kubectl_spread.objects.releases.version import LATEST, Release

Plain = dict[str, Any]
Bits = NDArray[np.uint64]  # (N,): 0 fits, else bit i set where reason i holds
NodeIndices = NDArray[np.intp]  # (F,): the feasible nodes


class Code(Enum):
    """A status code; the value is upstream's name for it."""

    SUCCESS = "Success"
    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"
    UNSCHEDULABLE_AND_UNRESOLVABLE = "UnschedulableAndUnresolvable"
    SKIP = "Skip"


class Reason(NamedTuple):
    """A reason why a node is rejected; bit i of a plugin's filter result means its i-th reason.

    If upstream uses one text with two codes (does not fit now, can never fit), there are two reasons.
    """

    text: str
    code: Code


class Status(NamedTuple):
    """The result of one plugin for one node."""

    code: Code
    plugin: str
    reasons: tuple[str, ...]


def status_of(plugin: str, reasons: tuple[Reason, ...], bits: int) -> Status:
    """Return the status of a node's bits; one unresolvable reason makes it unresolvable."""
    named = [reason for at, reason in enumerate(reasons) if bits >> at & 1]
    unresolvable = any(reason.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE for reason in named)
    code = Code.UNSCHEDULABLE_AND_UNRESOLVABLE if unresolvable else Code.UNSCHEDULABLE
    return Status(code, plugin, tuple(reason.text for reason in named))


class Plugin:
    """A plugin: upstream's name, the arguments of its configuration, which decode, and the release to follow."""

    name = ""

    def __init__(self, args: Plain, release: Release) -> None:  # noqa: ARG002 (most plugins have no arguments)
        self._release = release


class Skip(NamedTuple):
    """A PreFilter result: there is nothing to filter for this pod."""


class Rejection(NamedTuple):
    """PreFilter: no node can take the pod, independent of the state of nodes; `plugin` is the one that says so."""

    message: str
    plugin: str = ""


class CycleFailure(NamedTuple):
    """The cycle fails for the pod, without a status for any node."""

    message: str


class FilterState(Protocol):
    """A Filter plugin's state for one pod class.

    reasons: the reason of each bit, in order. node_names: the names of the only nodes worth filtering; None for all.
    """

    reasons: tuple[Reason, ...]
    node_names: Optional[frozenset[str]] = None

    def fits(self) -> Bools:
        """Return whether the bits of each node are 0 now, bool (N,); do not write to this array of the state."""
        fits: Bools = self.filter() == 0
        return fits

    def filter(self) -> Bits:
        """Return the bits of every node of this moment. The array is the state's own: do not write to it."""

    def filter_with(self, node: int, removed: Sequence[Pod], added: Sequence[Pod]) -> int:
        """Return the bits of one node with pods removed from it and added to it (RemovePod, AddPod)."""

    def reserve(self, node: int) -> None:  # noqa: ARG002 (most states have nothing to reserve)
        """Reserve resources for the pod on its node (the Reserve extension point)."""
        return


class FilterPlugin(Protocol):
    """A plugin of the PreFilter and Filter extension points."""

    @property
    def name(self) -> str:
        """Upstream's name."""

    def pre_filter(self, pod_class: PodClass, columns: Columns) -> Union[FilterState, Skip, Rejection]:
        """Prepare the filter state from the pod and the cluster."""


class ScoreState(Protocol):
    """A Score plugin's state for one pod class."""

    def score(self, feasible: NodeIndices) -> Union[Int64s, int, None]:
        """Return the normalised scores of the feasible nodes, 0 to 100.

        A number is the score of every node; None if PreScore skips the plugin.
        """


class ScorePlugin(Protocol):
    """A plugin of the PreScore and Score extension points."""

    @property
    def name(self) -> str:
        """Upstream's name."""

    def pre_score(self, pod_class: PodClass, columns: Columns) -> ScoreState:
        """Prepare the part of the score that does not depend on the feasible nodes."""


class SameScore:
    """The state of a Score plugin that gives every node the same score; None if PreScore skips the plugin."""

    def __init__(self, score: Optional[int]) -> None:
        self._score = score

    def score(self, feasible: NodeIndices) -> Optional[int]:  # noqa: ARG002
        return self._score


class FixedScores:
    """The state of a Score plugin whose scores no binding and no other node can change."""

    def __init__(self, scores: Int64s) -> None:
        self._scores = scores

    def score(self, feasible: NodeIndices) -> Int64s:
        scores: Int64s = self._scores[feasible]
        return scores


class FixedState(FilterState):
    """The state of a Filter plugin that no binding can change."""

    def __init__(self, reasons: tuple[Reason, ...], bits: Bits, node_names: Optional[frozenset[str]] = None) -> None:
        self.reasons = reasons
        self.node_names = node_names
        self._bits = bits
        self._fits: Bools = bits == 0

    def fits(self) -> Bools:
        return self._fits

    def filter(self) -> Bits:
        return self._bits

    def filter_with(self, node: int, removed: Sequence[Pod], added: Sequence[Pod]) -> int:  # noqa: ARG002
        return int(self._bits[node])


def no_bits(columns: Columns) -> Bits:
    """Return bits by which every node fits."""
    return np.zeros(columns.n, np.uint64)


def bit(at: int) -> np.uint64:
    """Return the bit of a reason."""
    found: np.uint64 = np.uint64(1 << at)
    return found


class ScoreError(Exception):
    """PreScore or Score failed, which aborts the cycle: the pod goes to backoff with reason SchedulerError."""

    def __init__(self, plugin: str, message: str) -> None:
        super().__init__(plugin, message)
        self.plugin = plugin
        self.message = message

    def __str__(self) -> str:
        return f'running PreScore plugin "{self.plugin}": {self.message}'


class InvalidScoreError(ScoreError):
    """A score out of range: sizes close to 2^63 overflow Go's arithmetic."""

    def __init__(self, plugin: str, score: int) -> None:
        text = f'plugin "{plugin}" returns an invalid score {score}, it should in the range of [0, 100]'
        super().__init__(plugin, f"{text} after normalizing")

    def __str__(self) -> str:
        return f"applying score defaultWeights on Score plugins: {self.message}"


def in_range(plugin: str, scores: Int64s) -> Int64s:
    """Return the scores.

    Raises:
        InvalidScoreError: a score is not from 0 to 100.
    """
    wrong = scores[(scores < 0) | (scores > 100)]
    if len(wrong):
        raise InvalidScoreError(plugin, int(wrong[0]))
    return scores


_Kind = TypeVar("_Kind")


class WeightedPlugin(NamedTuple):
    plugin: ScorePlugin
    weight: int


class Extender(NamedTuple):
    """A webhook that the scheduler calls, for every pod or for pods that request one of its `resources`."""

    url: str
    resources: frozenset[str] = frozenset()


class Profile(NamedTuple):
    """One scheduling profile, ready to run.

    pre_filter: plugins in the order of the PreFilter point. filter_order: names in the order of the Filter point.
    pre_score: plugins that prepare to score but do not; preparing can fail. post_filter: names in order.
    percentage_of_nodes_to_score: 0 adapts to the number of nodes. foreign: plugins that are not part of kube-scheduler.
    release: the release to follow.
    """

    scheduler_name: str
    pre_filter: tuple[FilterPlugin, ...]
    filter_order: tuple[str, ...]
    score: tuple[WeightedPlugin, ...]
    post_filter: tuple[str, ...]
    gates: bool = True
    percentage_of_nodes_to_score: int = 0
    pre_score: tuple[ScorePlugin, ...] = ()
    foreign: tuple[str, ...] = ()
    extenders: tuple[Extender, ...] = ()
    release: Release = LATEST

    @property
    def minor(self) -> int:
        """Return the minor version of the release."""
        return self.release.minor

    def plugin(self, kind: type[_Kind]) -> Optional[_Kind]:
        """Return the plugin of a class at the PreFilter point; None if the profile has none."""
        return next((item for item in self.pre_filter if isinstance(item, kind)), None)

    @property
    def labels_topology(self) -> bool:
        """Return whether pods get the zone and region labels of their node."""
        return TOPOLOGY_LABELS.of(self.release)
