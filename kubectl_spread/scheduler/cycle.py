"""One scheduling cycle: PreFilter, Filter over all nodes, Score.

Source: pkg/scheduler/schedule_one.go, schedulePod, findNodesThatFitPod, prioritizeNodes;
framework/runtime/framework.go, RunPreFilterPlugins, RunFilterPluginsWithNominatedPods, RunScorePlugins (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import NamedTuple
from typing import Optional
from typing import Union

import numpy as np

from kubectl_spread.cluster.arrays import Bools
from kubectl_spread.cluster.arrays import Int64s
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.behaviours import GONE_NODE_IS_ERROR
from kubectl_spread.objects.behaviours import LEFT_OUT_REASON
from kubectl_spread.objects.behaviours import NOMINATED_FIRST
from kubectl_spread.objects.behaviours import REQUEST_SUMS
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.version import LATEST
from kubectl_spread.objects.version import Release
from kubectl_spread.scheduler.framework.diagnosis import Diagnosis
from kubectl_spread.scheduler.framework.node_values import ScoredTogether
from kubectl_spread.scheduler.framework.plugin import Bits
from kubectl_spread.scheduler.framework.plugin import ByNode
from kubectl_spread.scheduler.framework.plugin import Failure
from kubectl_spread.scheduler.framework.plugin import FilterState
from kubectl_spread.scheduler.framework.plugin import FixedState
from kubectl_spread.scheduler.framework.plugin import is_by_node
from kubectl_spread.scheduler.framework.plugin import NodeIndices
from kubectl_spread.scheduler.framework.plugin import Rejection
from kubectl_spread.scheduler.framework.plugin import Reserving
from kubectl_spread.scheduler.framework.plugin import ScoreState
from kubectl_spread.scheduler.framework.plugin import Skip
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.framework.status import Code
from kubectl_spread.scheduler.framework.status import Status
from kubectl_spread.scheduler.framework.status import status_of
from kubectl_spread.scheduler.sampling import MIN_FEASIBLE_NODES_TO_FIND
from kubectl_spread.scheduler.sampling import Sampler


class PluginResult(NamedTuple):
    """One plugin's answer for every node; right until the next pod is bound."""

    plugin: str
    state: FilterState

    @property
    def bits(self) -> Bits:
        """uint64 (N,) into `state.reasons`."""
        return self.state.filter()


class FilterResult(NamedTuple):
    """What the plugins said of one pod; true until the next pod is bound.

    considered: bool (N,), nodes that were filtered. feasible: bool (N,), nodes that fit. nominated: statuses of nodes
    that fail only because of the pods nominated to them. own: the node that the pod is nominated to, if it was filtered
    although narrowing leaves it out; else -1.
    """

    columns: Columns
    plugin_results: tuple[PluginResult, ...]
    considered: Bools
    feasible: Bools
    narrowed_by: tuple[str, ...] = ()
    rejection: Union[Rejection, Failure, None] = None
    rejected_by: str = ""
    nominated: dict[int, Status] = {}  # noqa: RUF012 (never written to)
    own: int = -1
    release: Release = LATEST

    def diagnosis(self) -> Diagnosis:
        """Names and sentences, made only when somebody asks."""
        names = [node.name for node in self.columns.nodes]
        if isinstance(self.rejection, Failure):
            return Diagnosis(len(names), absent=tuple(names), release=self.release, error=self.rejection.message)
        if self.rejection is not None:
            status = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, self.rejected_by, (self.rejection.message,))
            return Diagnosis(
                node_count=len(names),
                statuses=dict.fromkeys(names, status),
                absent_status=status,
                pre_filter_message=self.rejection.message,
                pre_filter_plugin=self.rejected_by,
                release=self.release,
            )
        considered = self.considered
        if self.own >= 0:
            considered = considered.copy()
            considered[self.own] = True
        return Diagnosis(
            node_count=len(names),
            feasible=tuple(names[at] for at in np.flatnonzero(self.feasible)),
            statuses={names[at]: self._recorded(int(at)) for at in np.flatnonzero(considered & ~self.feasible)},
            absent=tuple(names[at] for at in np.flatnonzero(~considered)),
            absent_status=Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "", self._left_out()),
            release=self.release,
        )

    def _left_out(self) -> tuple[str, ...]:
        """What the release says of nodes that a PreFilter result left out; nothing in most older ones."""
        text = LEFT_OUT_REASON.of(self.release).format(plugins=" ".join(self.narrowed_by))
        return (text,) if self.narrowed_by and text else ()

    def failures(self, node: int) -> list[Status]:
        """Every plugin that refuses a node, not only the first, in the order they run."""
        found = [
            status_of(result.plugin, result.state.reasons, int(result.bits[node]))
            for result in self.plugin_results
            if result.bits[node]
        ]
        if node not in self.nominated:
            return found
        first = self.nominated[node]  # the same plugin may refuse it without the nominated pods, too
        return [first, *(status for status in found if status != first)]

    def filter_with(self, node: int, removed: Sequence[Pod], added: Sequence[Pod]) -> Optional[Status]:
        """The first failure of a node if pods were gone and others came; None where the pod would fit."""
        for result in self.plugin_results:
            bits = result.state.filter_with(node, removed, added)
            if bits:
                return status_of(result.plugin, result.state.reasons, bits)
        return None

    def of_pods(self) -> tuple[FilterState, ...]:
        """The states of plugins whose answer depends on the pods that are bound."""
        return tuple(result.state for result in self.plugin_results if not isinstance(result.state, FixedState))

    def _recorded(self, node: int) -> Status:
        """Upstream stops at the first plugin that refuses a node, and the message depends on it."""
        return self.failures(node)[0]


class Scores(NamedTuple):
    """The scores of the feasible nodes.

    nodes: intp (F,). by_plugin: normalised and weighted, int64 (F,) each; a plugin that skipped is absent. total:
    int64 (F,).
    """

    nodes: NodeIndices
    by_plugin: dict[str, Union[Int64s, int]]
    total: Int64s

    def hosts(self) -> NodeIndices:
        """The nodes with the highest total, in the cluster's order: any of them may be taken."""
        highest: NodeIndices = self.nodes[self.total == self.total.max()]
        highest.sort()
        return highest


class Scheduler:
    """Runs cycles against one cluster, whose columns change as pods are bound."""

    def __init__(
        self,
        columns: Columns,
        profiles: Mapping[str, Profile],
        *,
        all_nodes: bool = False,
        sampler: Optional[Sampler] = None,
    ) -> None:
        """Look at a cluster as a scheduler does that starts.

        Args:
            columns: the cluster.
            profiles: by scheduler name.
            all_nodes: switch sampling off in clusters of 100 nodes and more.
            sampler: one for these nodes, where that was made before.
        """
        self.columns = columns
        self._profiles = profiles
        self._release = next((profile.release for profile in profiles.values()), LATEST)
        self._tries_nominated_first = NOMINATED_FIRST.of(self._release)
        columns.follow(REQUEST_SUMS.of(self._release))
        self._sampler = None if all_nodes else sampler or Sampler(columns.nodes)
        self._prepared: dict[int, CycleState] = {}  # by index of the class in columns.classes
        self._nominated: dict[int, list[Pod]] = {}
        for pod in columns.cluster.pending():
            if self.has_profile(pod.cls):  # another scheduler's queue is not looked at
                self.nominate(pod)

    def moved_to(self, columns: Columns) -> Scheduler:
        """Return a scheduler that goes on with a changed cluster of the same nodes: its nominated pods stay so."""
        other = Scheduler(columns, self._profiles, all_nodes=True)
        other._sampler = self._sampler
        other._nominated = {node: list(pods) for node, pods in self._nominated.items()}
        return other

    @property
    def names(self) -> tuple[str, ...]:
        """The names that pods may give as their scheduler."""
        return tuple(self._profiles)

    def profile_of(self, pod_class: PodClass) -> Profile:
        """The profile that a pod names.

        Raises:
            KeyError: there is none: no scheduler would ever look at the pod.
        """
        return self._profiles[pod_class.scheduler_name]

    def has_profile(self, pod_class: PodClass) -> bool:
        """Whether some profile schedules the pod."""
        return pod_class.scheduler_name in self._profiles

    def nominate(self, pod: Pod) -> None:
        """Let a pending pod that has a nominated node be in the way of others there, until it is bound."""
        at = self.columns.index.get(pod.nominated_node)
        if at is not None:
            self._nominated.setdefault(at, []).append(pod)

    def renominate(self, pods: Sequence[Pod]) -> None:
        """Forget all nominated pods but these."""
        self._nominated = {}
        for pod in pods:
            self.nominate(pod)

    def filter(self, pod: Pod) -> FilterResult:
        """Find the nodes that fit a pod."""
        if not self.columns.n:
            return FilterResult(self.columns, (), _NO_NODE, _NO_NODE)
        prepared = self._prepare(pod.cls)
        if prepared.rejection is not None:
            none = np.zeros(self.columns.n, np.bool_)
            return FilterResult(
                self.columns, (), none, none, (), prepared.rejection, prepared.rejected_by, release=self._release
            )
        filtered = prepared.filtered(self.columns)
        if not self._tries_nominated_first:
            return self._with_nominated(pod, filtered) if self._nominated else filtered
        own = self.columns.index.get(pod.nominated_node)
        if own is not None and not filtered.considered[own]:
            filtered = filtered._replace(own=own)
        if self._nominated:
            filtered = self._with_nominated(pod, filtered)
        if own is not None and filtered.feasible[own]:
            # The pod's own nominated node is tried first, and taken without a look at the others.
            only = np.zeros(self.columns.n, np.bool_)
            only[own] = True
            return filtered._replace(considered=only, feasible=only, narrowed_by=())
        return filtered

    def score(self, pod: Pod, filtered: FilterResult, nodes: Optional[NodeIndices] = None) -> Scores:
        """Score the feasible nodes, of which there is at least one, or some of them.

        Raises:
            ScoreError: a plugin failed; the scheduler would not place the pod.
        """
        profile, prepared = self.profile_of(pod.cls), self._prepare(pod.cls)
        if nodes is None:
            nodes = np.flatnonzero(filtered.feasible)
        for state in prepared.only_prepared(profile, self.columns):
            state.score(nodes)
        same_for_all = 0
        total = np.zeros(len(nodes), np.int64)
        by_plugin: dict[str, Union[Int64s, int]] = {}
        for (plugin, weight), state in zip(profile.score, prepared.score_states(profile, self.columns), strict=True):
            scores = state.score(nodes)
            if scores is not None:
                by_plugin[plugin.name] = weighted = scores * weight
                if isinstance(weighted, int):
                    same_for_all += weighted
                else:
                    total += weighted
        total += same_for_all
        return Scores(nodes, by_plugin, total)

    def hosts(self, pod: Pod, filtered: FilterResult) -> NodeIndices:
        """The nodes that may be taken, in the cluster's order: all with the highest score.

        In a cluster of 100 nodes and more these are the nodes that a search would find before it stops, unless all
        are asked for. One node is taken without scoring.
        """
        nodes = self._search(pod, filtered)
        return nodes if len(nodes) == 1 else self._best(pod, nodes)

    def to_score(self, pod: Pod, filtered: FilterResult) -> NodeIndices:
        """The nodes among which `hosts` would choose now, without moving on to where the next search starts."""
        if self._sampler is None:
            return self._search(pod, filtered)
        start = self._sampler.start
        nodes = self._search(pod, filtered)
        self._sampler.start = start
        return nodes

    def _search(self, pod: Pod, filtered: FilterResult) -> NodeIndices:
        if self._sampler is None or self.columns.n < MIN_FEASIBLE_NODES_TO_FIND:
            return np.flatnonzero(filtered.feasible)
        percentage = self.profile_of(pod.cls).percentage_of_nodes_to_score
        considered = filtered.considered if filtered.narrowed_by else None
        return self._sampler.sample(filtered.feasible, considered, percentage)

    def _best(self, pod: Pod, nodes: NodeIndices) -> NodeIndices:
        """The nodes with the highest total: `score(...).hosts()` without the table."""
        profile, total = self.profile_of(pod.cls), None
        prepared = self._prepare(pod.cls)
        for state in prepared.only_prepared(profile, self.columns):
            state.score(nodes)
        for weight, state in prepared.deciding(profile, self.columns):
            scores = state.score(nodes)
            if scores is not None and not isinstance(scores, int):  # a number for all decides nothing
                weighted = scores if weight == 1 else scores * weight
                total = weighted if total is None else total + weighted
        # perf: argmax takes a quarter of the time of max
        best = nodes if total is None else nodes[total == total[total.argmax()]]
        best.sort()  # in place: an array of this cycle's own
        return best

    def bind(self, pod: Pod, node: int) -> None:
        """Let a pod run on a node; every later cycle sees it."""
        if pod.cls.volumes:
            self._prepare(pod.cls).reserve(node)
        for pods in self._nominated.values():
            pods[:] = [other for other in pods if other.uid != pod.uid]
        self.columns.bind(pod._replace(node_name=self.columns.nodes[node].name), node)

    def nominated_to(self, node: int, pod: Pod) -> list[Pod]:
        """The pods nominated to a node that are in the way of another (addGENominatedPods)."""
        return [
            other
            for other in self._nominated.get(node, ())
            if other.cls.priority >= pod.cls.priority and other.uid != pod.uid
        ]

    def _with_nominated(self, pod: Pod, filtered: FilterResult) -> FilterResult:
        """A node must fit with the pods nominated to it, and without them."""
        failing: dict[int, Status] = {}
        for node in self._nominated:
            added = self.nominated_to(node, pod)
            is_filtered = filtered.considered[node] or node == filtered.own
            status = filtered.filter_with(node, (), added) if added and is_filtered else None
            if status is not None:
                failing[node] = status
        if not failing:
            return filtered
        feasible = filtered.feasible.copy()
        feasible[list(failing)] = False
        return filtered._replace(feasible=feasible, nominated=failing)

    def _prepare(self, pod_class: PodClass) -> CycleState:
        at = self.columns.class_index(pod_class)
        found = self._prepared.get(at)
        if found is None:
            found = self._prepared[at] = _prepare(
                self.columns.counted(pod_class), self.columns, self.profile_of(pod_class)
            )
        return found


_NO_NODE: Bools = np.zeros(0, np.bool_)
_NOT_NARROWED: Mapping[str, frozenset[str]] = {}


class CycleState:
    """The states of one pod class."""

    def __init__(
        self,
        pod_class: PodClass,
        states: tuple[tuple[str, FilterState], ...],
        rejection: Union[Rejection, Failure, None] = None,
        rejected_by: str = "",
        release: Release = LATEST,
        node_names: Mapping[str, frozenset[str]] = _NOT_NARROWED,
    ) -> None:
        """`node_names`: node names by the plugin that leaves only them, whether it filters or not."""
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

    def filtered(self, columns: Columns) -> FilterResult:
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
        """Weights and states whose sum is the total, those by node added up already."""
        if self._deciding is None:
            weighted = [
                (weight, state)
                for (_, weight), state in zip(profile.score, self.score_states(profile, columns), strict=True)
            ]
            by_node = [(weight, state) for weight, state in weighted if is_by_node(state)]
            others = [(weight, state) for weight, state in weighted if not is_by_node(state)]
            # Last: what PreScore of another raises comes before a score that is out of range.
            self._deciding = (*others, (1, _together(by_node, columns))) if by_node else tuple(others)
        return self._deciding

    def only_prepared(self, profile: Profile, columns: Columns) -> tuple[ScoreState, ...]:
        """States of plugins whose PreScore runs and whose Score does not: all they can do is fail."""
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
    """Classes that share the states share their sum; it keeps them alive, and so their ids stay theirs."""
    key = (ScoredTogether, *((weight, id(state)) for weight, state in weighted))
    return columns.shared(key, lambda: ScoredTogether(weighted, columns))


def _prepare(pod_class: PodClass, columns: Columns, profile: Profile) -> CycleState:
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
            return CycleState(pod_class, (), Failure(f'nodeinfo not found for node name "{min(gone)}"'))
    filtering = tuple((name, states[name]) for name in profile.filter_order if name in states)
    return CycleState(pod_class, filtering, release=profile.release, node_names=node_names)


def _unsatisfied(plugins: tuple[str, ...]) -> Rejection:
    """No node is left by all the plugins that narrow."""
    if len(plugins) == 1:
        return Rejection(f"node(s) didn't satisfy plugin {plugins[0]}")
    return Rejection(f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(plugins))}] simultaneously")
