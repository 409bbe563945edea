"""One scheduling cycle: PreFilter, then Filter over all nodes.

Source: pkg/scheduler/schedule_one.go, findNodesThatFitPod; framework/runtime/framework.go, RunPreFilterPlugins,
RunFilterPlugins (v1.36.2).
"""

from __future__ import annotations

from typing import NamedTuple
from typing import Optional
from typing import Union

import numpy as np

from kubectl_spread.cluster.columns import Bools
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.framework.diagnosis import Diagnosis
from kubectl_spread.scheduler.framework.plugin import Bits
from kubectl_spread.scheduler.framework.plugin import FilterPlugin
from kubectl_spread.scheduler.framework.plugin import FilterState
from kubectl_spread.scheduler.framework.plugin import Rejection
from kubectl_spread.scheduler.framework.plugin import Skip
from kubectl_spread.scheduler.framework.status import Code
from kubectl_spread.scheduler.framework.status import Status
from kubectl_spread.scheduler.framework.status import status_of
from kubectl_spread.scheduler.plugins.registry import FILTER_PLUGINS


class Verdict(NamedTuple):
    """One plugin's answer for every node: bits uint64 (N,) into `state.reasons`."""

    plugin: str
    state: FilterState
    bits: Bits


class Filtered(NamedTuple):
    """What the plugins said of one pod.

    considered: bool (N,), nodes that PreFilter left in. feasible: bool (N,), nodes that fit.
    """

    columns: Columns
    verdicts: tuple[Verdict, ...]
    considered: Bools
    feasible: Bools
    narrowed_by: tuple[str, ...] = ()
    rejection: Optional[Rejection] = None
    rejected_by: str = ""

    def diagnosis(self) -> Diagnosis:
        """Names and sentences, made only when somebody asks."""
        names = [node.name for node in self.columns.nodes]
        if self.rejection is not None:
            status = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, self.rejected_by, (self.rejection.message,))
            return Diagnosis(
                len(names), (), dict.fromkeys(names, status), (), status, self.rejection.message, self.rejected_by
            )
        return Diagnosis(
            node_count=len(names),
            feasible=tuple(names[at] for at in np.flatnonzero(self.feasible)),
            statuses={
                names[at]: self._first_failure(int(at)) for at in np.flatnonzero(self.considered & ~self.feasible)
            },
            absent=tuple(names[at] for at in np.flatnonzero(~self.considered)),
            absent_status=Status(
                Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "", (_not_satisfied(self.narrowed_by),) if self.narrowed_by else ()
            ),
        )

    def failures(self, node: int) -> list[Status]:
        """Every plugin that refuses a node, not only the first, in the order they run."""
        return [
            status_of(verdict.plugin, verdict.state.reasons, int(verdict.bits[node]))
            for verdict in self.verdicts
            if verdict.bits[node]
        ]

    def _first_failure(self, node: int) -> Status:
        """Upstream stops at the first plugin that refuses a node, and the message depends on it."""
        return self.failures(node)[0]


class Scheduler:
    """Runs cycles against one cluster, whose columns change as pods are bound.

    The state of every plugin is kept per pod class and told of every binding, so that replicas share the work.
    """

    def __init__(self, columns: Columns, plugins: tuple[FilterPlugin, ...] = FILTER_PLUGINS) -> None:
        self.columns = columns
        self._plugins = plugins
        self._prepared: dict[PodClass, _Prepared] = {}

    def filter(self, cls: PodClass) -> Filtered:
        """Find the nodes that fit a pod of this class."""
        prepared = self._prepared.get(cls)
        if prepared is None:
            prepared = self._prepared[cls] = _prepare(cls, self.columns, self._plugins)
        return prepared.filtered(self.columns)

    def bind(self, pod: Pod, node: int) -> None:
        """Let a pod run on a node; every later cycle sees it."""
        placed = pod._replace(node_name=self.columns.nodes[node].name)
        self.columns.bind(placed, node)
        for prepared in self._prepared.values():
            for _, state in prepared.states:
                state.pod_added(placed, node)


class _Prepared(NamedTuple):
    """The outcome of PreFilter for one pod class."""

    states: tuple[tuple[str, FilterState], ...]
    rejection: Optional[Rejection] = None
    rejected_by: str = ""

    def filtered(self, columns: Columns) -> Filtered:
        none = np.zeros(columns.n, np.bool_)
        if self.rejection is not None:
            return Filtered(columns, (), none, none, (), self.rejection, self.rejected_by)
        verdicts = tuple(Verdict(plugin, state, state.filter()) for plugin, state in self.states)
        narrowing = [(plugin, state.narrowed) for plugin, state in self.states if state.narrowed is not None]
        considered = ~none
        for _, named in narrowing:
            considered &= np.array([node.name in named for node in columns.nodes], np.bool_)
        feasible = considered.copy()
        for verdict in verdicts:
            feasible &= verdict.bits == 0
        return Filtered(columns, verdicts, considered, feasible, tuple(plugin for plugin, _ in narrowing))


def _prepare(cls: PodClass, columns: Columns, plugins: tuple[FilterPlugin, ...]) -> _Prepared:
    states: list[tuple[str, FilterState]] = []
    for plugin in plugins:
        answer: Union[FilterState, Skip, Rejection] = plugin.pre_filter(cls, columns)
        if isinstance(answer, Rejection):
            return _Prepared((), answer, plugin.name)
        if not isinstance(answer, Skip):
            states.append((plugin.name, answer))
    return _Prepared(tuple(states))


def _not_satisfied(plugins: tuple[str, ...]) -> str:
    return f"node(s) didn't satisfy plugin(s) [{' '.join(plugins)}]"
