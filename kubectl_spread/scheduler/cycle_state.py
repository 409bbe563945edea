"""The plugins' states for a pod class: PreFilter and PreScore run once for all pods of the class.

Source: pkg/scheduler/framework/runtime/framework.go, RunPreFilterPlugins, RunPreScorePlugins (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Optional, Union

import numpy as np

from kubectl_spread.cluster.columns import Bools, Columns
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.releases.behaviours import GONE_NODE_IS_ERROR
from kubectl_spread.objects.releases.version import LATEST, Release
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
    """The plugins' states for one pod class."""

    def __init__(
        self,
        pod_class: PodClass,
        states: tuple[tuple[str, FilterState], ...],
        rejection: Union[Rejection, CycleFailure, None] = None,
        rejected_by: str = "",
        release: Release = LATEST,
        node_names: Mapping[str, frozenset[str]] = _NOT_NARROWED,
    ) -> None:
        """Set the state; `node_names`: by plugin, the only nodes that its PreFilter result leaves, filtering or not."""
        self._cls = pod_class
        self._states = states
        self.rejection = rejection
        self.rejected_by = rejected_by
        self._considered: Optional[Bools] = None
        self._plugin_results = tuple(PluginResult(plugin, state) for plugin, state in states)
        self._changing = [state for _, state in states if not isinstance(state, FixedState)]
        self._release = release
        self._node_names = node_names
        self._score_states: Optional[tuple[ScoreState, ...]] = None
        self._deciding: Optional[tuple[tuple[int, ScoreState], ...]] = None
        self._only_prepared: Optional[tuple[ScoreState, ...]] = None

    def filter_result(self, columns: Columns) -> FilterResult:
        considered = self._nodes_to_filter(columns)
        feasible = self._fixed.copy()
        for state in self._changing:
            feasible &= state.fits()
        return FilterResult(
            columns, self._plugin_results, considered, feasible, tuple(self._node_names), release=self._release
        )

    def reserve(self, node: int) -> None:
        for _, state in self._states:
            if isinstance(state, Reserving):
                state.reserve(node)

    def score_states(self, profile: Profile, columns: Columns) -> tuple[ScoreState, ...]:
        if self._score_states is None:
            self._score_states = tuple(plugin.pre_score(self._cls, columns) for plugin, _ in profile.score)
        return self._score_states

    def deciding(self, profile: Profile, columns: Columns) -> tuple[tuple[int, ScoreState], ...]:
        """Return weights and states whose sum is the total. States that depend on the node alone are already summed."""
        if self._deciding is None:
            weighted = [
                (weight, state)
                for (_, weight), state in zip(profile.score, self.score_states(profile, columns), strict=True)
            ]
            by_node = [(weight, state) for weight, state in weighted if is_by_node(state)]
            others = [(weight, state) for weight, state in weighted if not is_by_node(state)]
            # This comes last, because errors of other plugins' PreScore precede a score that is out of range.
            self._deciding = (*others, (1, _together(by_node, columns))) if by_node else tuple(others)
        return self._deciding

    def unscored_states(self, profile: Profile, columns: Columns) -> tuple[ScoreState, ...]:
        """Return the states of plugins whose PreScore runs and whose Score does not: these can only fail."""
        if self._only_prepared is None:
            self._only_prepared = tuple(plugin.pre_score(self._cls, columns) for plugin in profile.pre_score)
        return self._only_prepared

    def _nodes_to_filter(self, columns: Columns) -> Bools:
        if self._considered is None:
            considered = np.ones(columns.n, np.bool_)
            for left in self._node_names.values():
                considered &= np.array([node.name in left for node in columns.nodes], np.bool_)
            self._considered = considered
            self._fixed = considered.copy()
            for _, state in self._states:
                if isinstance(state, FixedState):
                    self._fixed &= state.fits()
        return self._considered


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
    for plugin in profile.pre_filter:
        answer: Union[FilterState, Skip, Rejection] = plugin.pre_filter(pod_class, columns)
        if isinstance(answer, Rejection):
            return CycleState(pod_class, (), answer, plugin.name)
        if isinstance(answer, Skip):
            continue
        states[plugin.name] = answer
        if answer.node_names is not None:
            node_names[plugin.name] = answer.node_names
            if not frozenset.intersection(*node_names.values()):
                return CycleState(pod_class, (), _unsatisfied(tuple(node_names)))
    if node_names and GONE_NODE_IS_ERROR.of(profile.release):
        gone = frozenset.intersection(*node_names.values()) - columns.index.keys()
        if gone:
            return CycleState(pod_class, (), CycleFailure(f'nodeinfo not found for node name "{min(gone)}"'))
    filtering = tuple((name, states[name]) for name in profile.filter_order if name in states)
    return CycleState(pod_class, filtering, release=profile.release, node_names=node_names)


def _unsatisfied(plugins: tuple[str, ...]) -> Rejection:
    """Return the rejection when the PreFilter results of these plugins leave no node."""
    if len(plugins) == 1:
        return Rejection(f"node(s) didn't satisfy plugin {plugins[0]}")
    return Rejection(f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(plugins))}] simultaneously")
