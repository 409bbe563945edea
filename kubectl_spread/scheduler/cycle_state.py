"""The plugins' states for a pod class: PreFilter and PreScore run once for all pods of the class.

Source: pkg/scheduler/framework/runtime/framework.go, RunPreFilterPlugins, RunPreScorePlugins (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Union

import numpy as np

from kubectl_spread.cluster.columns import Bools, Columns
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.releases.behaviours import GONE_NODE_IS_ERROR
from kubectl_spread.scheduler.filter_result import FilterResult, PluginResult
from kubectl_spread.scheduler.framework.node_values import ScoredTogether
from kubectl_spread.scheduler.framework.plugin import (
    ByNode,
    CycleFailure,
    FilterState,
    FixedState,
    is_by_node,
    Rejection,
    Reserving,
    ScoreState,
    Skip,
)
from kubectl_spread.scheduler.framework.profile import Profile

_NOT_NARROWED: Mapping[str, frozenset[str]] = {}


class CycleState:
    """The plugins' states for one pod class on one cluster."""

    def __init__(
        self,
        pod_class: PodClass,
        columns: Columns,
        profile: Profile,
        states: tuple[tuple[str, FilterState], ...] = (),
        node_names: Mapping[str, frozenset[str]] = _NOT_NARROWED,
        *,
        rejection: Union[Rejection, CycleFailure, None] = None,
        rejected_by: str = "",
    ) -> None:
        """Set the state; `node_names`: by plugin, the only nodes that its PreFilter result leaves, filtering or not."""
        self._cls = pod_class
        self._columns = columns
        self._profile = profile
        self._states = states
        self.rejection = rejection
        self.rejected_by = rejected_by
        self._plugin_results = tuple(PluginResult(plugin, state) for plugin, state in states)
        self._changing = [state for _, state in states if not isinstance(state, FixedState)]
        self._node_names = node_names

    def filter_result(self) -> FilterResult:
        considered, fixed = self._nodes_to_filter
        feasible = fixed.copy()
        for state in self._changing:
            feasible &= state.fits()
        return FilterResult(
            self._columns,
            self._plugin_results,
            considered,
            feasible,
            tuple(self._node_names),
            release=self._profile.release,
        )

    def reserve(self, node: int) -> None:
        for _, state in self._states:
            if isinstance(state, Reserving):
                state.reserve(node)

    @cached_property
    def score_states(self) -> tuple[ScoreState, ...]:
        return tuple(plugin.pre_score(self._cls, self._columns) for plugin, _ in self._profile.score)

    @cached_property
    def deciding(self) -> tuple[tuple[int, ScoreState], ...]:
        """Return weights and states whose sum is the total. States that depend on the node alone are already summed."""
        weighted = [(weight, state) for (_, weight), state in zip(self._profile.score, self.score_states, strict=True)]
        by_node = [(weight, state) for weight, state in weighted if is_by_node(state)]
        others = [(weight, state) for weight, state in weighted if not is_by_node(state)]
        # This comes last, because errors of other plugins' PreScore precede a score that is out of range.
        return (*others, (1, _together(by_node, self._columns))) if by_node else tuple(others)

    @cached_property
    def unscored_states(self) -> tuple[ScoreState, ...]:
        """Return the states of plugins whose PreScore runs and whose Score does not: these can only fail."""
        return tuple(plugin.pre_score(self._cls, self._columns) for plugin in self._profile.pre_score)

    @cached_property
    def _nodes_to_filter(self) -> tuple[Bools, Bools]:
        """Return the nodes that the PreFilter results leave, and those of them that no fixed state refuses."""
        considered = np.ones(self._columns.n, np.bool_)
        for left in self._node_names.values():
            considered &= np.array([node.name in left for node in self._columns.nodes], np.bool_)
        fixed = considered.copy()
        for _, state in self._states:
            if isinstance(state, FixedState):
                fixed &= state.fits()
        return considered, fixed


def _together(weighted: Sequence[tuple[int, ByNode]], columns: Columns) -> ScoredTogether:
    """Return the sum of some states; classes that share the states share it.

    The sum keeps the states alive, so that their ids stay their own.
    """
    key = (ScoredTogether, *((weight, id(state)) for weight, state in weighted))
    return columns.share(key, lambda: ScoredTogether(weighted, columns))


def prepare(pod_class: PodClass, columns: Columns, profile: Profile) -> CycleState:
    """Run the PreFilter plugins of a profile for a pod class."""
    states: dict[str, FilterState] = {}
    node_names: dict[str, frozenset[str]] = {}
    prepared = partial(CycleState, pod_class, columns, profile)
    for plugin in profile.pre_filter:
        answer: Union[FilterState, Skip, Rejection] = plugin.pre_filter(pod_class, columns)
        if isinstance(answer, Rejection):
            return prepared(rejection=answer, rejected_by=plugin.name)
        if isinstance(answer, Skip):
            continue
        states[plugin.name] = answer
        if answer.node_names is not None:
            node_names[plugin.name] = answer.node_names
            if not frozenset.intersection(*node_names.values()):
                return prepared(rejection=_unsatisfied(tuple(node_names)))
    if node_names and GONE_NODE_IS_ERROR.of(profile.release):
        gone = frozenset.intersection(*node_names.values()) - columns.index.keys()
        if gone:
            return prepared(rejection=CycleFailure(f'nodeinfo not found for node name "{min(gone)}"'))
    return prepared(tuple((name, states[name]) for name in profile.filter_order if name in states), node_names)


def _unsatisfied(plugins: tuple[str, ...]) -> Rejection:
    """Return the rejection when the PreFilter results of these plugins leave no node."""
    if len(plugins) == 1:
        return Rejection(f"node(s) didn't satisfy plugin {plugins[0]}")
    return Rejection(f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(plugins))}] simultaneously")
