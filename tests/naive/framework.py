"""The framework: statuses, the state of a cycle, and the plug-ins of a profile run in order.

Source: pkg/scheduler/framework/interface.go, pkg/scheduler/framework/runtime/framework.go,
pkg/scheduler/framework/cycle_state.go (v1.36.2).
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple, Optional

from tests.naive import objects
from tests.naive.nodeinfo import NodeInfo, PodInfo

Plain = dict[str, Any]
MAX_NODE_SCORE = 100
MAX_INT64 = 2**63 - 1
MIN_INT64 = -(2**63)


class Code(Enum):
    """What a plug-in says, in the words of recordings."""

    SUCCESS = "Success"
    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"
    UNSCHEDULABLE_AND_UNRESOLVABLE = "UnschedulableAndUnresolvable"
    SKIP = "Skip"


class Status(NamedTuple):
    """An answer with its reasons, and the plug-in that gave it."""

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    def is_success(self) -> bool:
        return self.code is Code.SUCCESS

    def is_skip(self) -> bool:
        return self.code is Code.SKIP

    def is_rejected(self) -> bool:
        return self.code in (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE)

    def message(self) -> str:
        return ", ".join(self.reasons)

    def with_plugin(self, name: str) -> Status:
        return self._replace(plugin=name)


SUCCESS = Status(Code.SUCCESS)
SKIP = Status(Code.SKIP)


def unschedulable(*reasons: str) -> Status:
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)


def error(reason: str) -> Status:
    return Status(Code.ERROR, (reason,))


class SchedulerError(Exception):
    """A cycle that is given up with an error rather than a rejection."""


class CycleState:
    """What plug-ins remember within one cycle, by plug-in; values written before Filter have a `clone`."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.skip_filter_plugins: set[str] = set()
        self.skip_score_plugins: set[str] = set()

    def read(self, name: str) -> Any:
        """What a plug-in wrote.

        Raises:
            SchedulerError: nothing, because its earlier extension point is disabled.
        """
        if name not in self.values:
            raise SchedulerError(f'reading "{name}" from cycleState: not found')
        return self.values[name]

    def clone(self) -> CycleState:
        twin = CycleState()
        twin.values = {name: value.clone() for name, value in self.values.items()}
        twin.skip_filter_plugins = self.skip_filter_plugins
        twin.skip_score_plugins = self.skip_score_plugins
        return twin


class Handle:
    """What plug-ins see of the world: a snapshot of nodes, listers by kind, nominated pods."""

    def __init__(self, objects_of_cluster: list[Plain], version: tuple[int, int]) -> None:
        self.version = version
        self.objects = objects_of_cluster
        self.node_infos: list[NodeInfo] = []
        self.nominator: list[PodInfo] = []

    def list(self, kind: str) -> list[Plain]:
        return [item for item in self.objects if item["kind"] == kind]

    def get(self, kind: str, name: str, namespace: Optional[str] = None) -> Optional[Plain]:
        for item in self.list(kind):
            if objects.name_of(item) != name:
                continue
            if namespace is None or objects.namespace_of(item) == namespace:
                return item
        return None

    def node_info(self, name: str) -> Optional[NodeInfo]:
        for info in self.node_infos:
            if info.name == name:
                return info
        return None

    def namespace_labels(self, name: str) -> dict[str, str]:
        """`GetNamespaceLabelsSnapshot`: none for a namespace that is not there."""
        namespace = self.get("Namespace", name)
        return objects.labels_of(namespace) if namespace else {}


class PreFilterResult(NamedTuple):
    """The names that PreFilter leaves over, `None` for all; and the plug-ins that narrowed."""

    node_names: Optional[frozenset[str]]
    plugins: tuple[str, ...] = ()


class Framework:
    """A profile: its plug-ins by extension point, in run order, and the weights of those that score."""

    def __init__(self, handle: Handle, plugins: dict[str, list[Any]], weights: dict[str, int]) -> None:
        self.handle = handle
        self.plugins = plugins
        self.weights = weights

    def run_pre_enqueue_plugins(self, pod: Plain) -> Status:
        for plugin in self.plugins["preEnqueue"]:
            status: Status = plugin.pre_enqueue(pod)
            if not status.is_success():
                return status.with_plugin(plugin.name)
        return SUCCESS

    def run_pre_filter_plugins(self, state: CycleState, pod: Plain) -> tuple[PreFilterResult, Status]:
        """Prepare the filters.

        Raises:
            SchedulerError: a plug-in failed.
        """
        names: Optional[frozenset[str]] = None
        narrowed: list[str] = []
        rejection: Optional[Status] = None
        for plugin in self.plugins["preFilter"]:
            found, status = plugin.pre_filter(state, pod)
            if status.is_skip():
                state.skip_filter_plugins.add(plugin.name)
                continue
            if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return PreFilterResult(None), status.with_plugin(plugin.name)
            if status.code is Code.UNSCHEDULABLE:
                rejection = status.with_plugin(plugin.name)
            elif not status.is_success():
                raise SchedulerError(f'running PreFilter plugin "{plugin.name}": {status.message()}')
            if found is not None:
                narrowed.append(plugin.name)
                names = found if names is None else names & found
                if not names:
                    return PreFilterResult(names), _nothing_left(narrowed)
        return PreFilterResult(names, tuple(sorted(narrowed))), rejection or SUCCESS

    def run_pre_filter_extension_add_pod(
        self, state: CycleState, pod: Plain, added: PodInfo, *, node: NodeInfo
    ) -> None:
        for plugin in self._extensions(state):
            plugin.add_pod(state, pod, added, node=node)

    def run_pre_filter_extension_remove_pod(
        self, state: CycleState, pod: Plain, removed: PodInfo, *, node: NodeInfo
    ) -> None:
        for plugin in self._extensions(state):
            plugin.remove_pod(state, pod, removed, node=node)

    def _extensions(self, state: CycleState) -> list[Any]:
        return [
            plugin
            for plugin in self.plugins["preFilter"]
            if hasattr(plugin, "add_pod") and plugin.name not in state.skip_filter_plugins
        ]

    def run_filter_plugins(self, state: CycleState, pod: Plain, node: NodeInfo) -> Status:
        """The first answer that is not success.

        Raises:
            SchedulerError: a plug-in failed.
        """
        for plugin in self.plugins["filter"]:
            if plugin.name in state.skip_filter_plugins:
                continue
            status: Status = plugin.filter(state, pod, node)
            if status.is_success():
                continue
            if not status.is_rejected():
                raise SchedulerError(f'running "{plugin.name}" filter plugin: {status.message()}')
            return status.with_plugin(plugin.name)
        return SUCCESS

    def run_filter_plugins_with_nominated_pods(self, state: CycleState, pod: Plain, node: NodeInfo) -> Status:
        """Filter with the pods nominated to the node, if any, and then without them; both have to pass."""
        added, state_with, node_with = self._add_ge_nominated_pods(state, pod, node)
        if added:
            status = self.run_filter_plugins(state_with, pod, node_with)
            if not status.is_success():
                return status
        return self.run_filter_plugins(state, pod, node)

    def _add_ge_nominated_pods(
        self, state: CycleState, pod: Plain, node: NodeInfo
    ) -> tuple[bool, CycleState, NodeInfo]:
        """Add the nominated pods of greater or equal priority to a copy of the node."""
        rivals = [
            rival
            for rival in self.handle.nominator
            if objects.nominated_node_name(rival.pod) == node.name
            and objects.pod_priority(rival.pod) >= objects.pod_priority(pod)
            and objects.uid_of(rival.pod) != objects.uid_of(pod)
        ]
        if not rivals:
            return False, state, node
        node_with, state_with = node.clone(), state.clone()
        for rival in rivals:
            node_with.add_pod(rival)
            self.run_pre_filter_extension_add_pod(state_with, pod, rival, node=node_with)
        return True, state_with, node_with

    def run_pre_score_plugins(self, state: CycleState, pod: Plain, nodes: list[NodeInfo]) -> None:
        """Prepare the scores.

        Raises:
            SchedulerError: a plug-in answered neither success nor skip.
        """
        for plugin in self.plugins["preScore"]:
            status = plugin.pre_score(state, pod, nodes)
            if status.is_skip():
                state.skip_score_plugins.add(plugin.name)
            elif not status.is_success():
                raise SchedulerError(f'running PreScore plugin "{plugin.name}": {status.message()}')

    def run_score_plugins(self, state: CycleState, pod: Plain, nodes: list[NodeInfo]) -> dict[str, dict[str, int]]:
        """Weighted scores by node and plug-in, with their `total`."""
        table: dict[str, dict[str, int]] = {node.name: {} for node in nodes}
        for plugin in self.plugins["score"]:
            if plugin.name in state.skip_score_plugins:
                continue
            scores = [plugin.score(state, pod, node) for node in nodes]
            if hasattr(plugin, "normalize_score"):
                scores = plugin.normalize_score(state, scores, nodes)
            for node, score in zip(nodes, scores, strict=True):
                if not 0 <= score <= MAX_NODE_SCORE:
                    raise SchedulerError(
                        f'plugin "{plugin.name}" returns an invalid score {score}, '
                        "it should in the range of [0, 100] after normalizing"
                    )
                table[node.name][plugin.name] = score * self.weights[plugin.name]
        for scores_of_node in table.values():
            scores_of_node["total"] = sum(scores_of_node.values())
        return table

    def run_post_filter_plugins(
        self, state: CycleState, pod: Plain, statuses: NodeToStatus
    ) -> tuple[Optional[str], Status]:
        """Try to make room: the nominated node, and the answer with the reasons of every plug-in that ran."""
        nominated: Optional[str] = None
        reasons: list[str] = []
        for plugin in self.plugins["postFilter"]:
            result, status = plugin.post_filter(state, pod, statuses)
            if status.is_success() or status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return result, status.with_plugin(plugin.name)
            if not status.is_rejected():
                return None, status.with_plugin(plugin.name)
            nominated = result if result is not None else nominated
            reasons += status.reasons
        return nominated, unschedulable(*reasons)


def _nothing_left(narrowed: list[str]) -> Status:
    if len(narrowed) == 1:
        return unresolvable(f"node(s) didn't satisfy plugin {narrowed[0]}")
    return unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(narrowed))}] simultaneously")


class NodeToStatus:
    """Statuses by node; nodes that were never filtered share the absent one."""

    def __init__(self) -> None:
        self.statuses: dict[str, Status] = {}
        self.absent = unresolvable()

    def get(self, name: str) -> Status:
        return self.statuses.get(name, self.absent)

    def nodes_for_status_code(self, nodes: list[NodeInfo], code: Code) -> list[NodeInfo]:
        return [node for node in nodes if self.get(node.name).code is code]


def fit_error(
    num_all_nodes: int, statuses: NodeToStatus, *, pre_filter_msg: str = "", post_filter_msg: str = ""
) -> str:
    """`FitError.Error`: how many nodes failed for which reason, sorted as text."""
    message = f"0/{num_all_nodes} nodes are available:"
    if pre_filter_msg:
        message += f" {pre_filter_msg}."
    else:
        histogram: dict[str, int] = {}
        for status in statuses.statuses.values():
            for reason in status.reasons:
                histogram[reason] = histogram.get(reason, 0) + 1
        absent = num_all_nodes - len(statuses.statuses)
        for reason in statuses.absent.reasons if absent > 0 else ():
            histogram[reason] = histogram.get(reason, 0) + absent
        parts = sorted((f"{count} {reason}" for reason, count in histogram.items()), key=str.encode)
        if parts:
            message += f" {', '.join(parts)}."
    return f"{message} {post_filter_msg}" if post_filter_msg else message


def default_normalize_score(scores: list[int], *, reverse: bool) -> list[int]:
    """Scale to 0..100 by the highest.

    Source: pkg/scheduler/framework/plugins/helper/normalize_score.go (v1.36.2).
    """
    highest = max(scores, default=0)
    if highest == 0:
        return [MAX_NODE_SCORE if reverse else score for score in scores]
    scaled = [MAX_NODE_SCORE * score // highest for score in scores]
    return [MAX_NODE_SCORE - score for score in scaled] if reverse else scaled
