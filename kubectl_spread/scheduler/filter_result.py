"""The answers of the Filter plugins for one pod, and the sentence in which the scheduler reports why none fits.

Source: pkg/scheduler/framework/types.go, Diagnosis (v1.36.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Optional, Union

import numpy as np

from kubectl_spread.cluster.columns import Bools, Columns, Int64s
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.releases.behaviours import LEFT_OUT_REASON, PRE_FILTER_MESSAGE_ONCE, SECOND_DOT
from kubectl_spread.objects.releases.version import LATEST, Release
from kubectl_spread.scheduler.framework.plugin import (
    Bits,
    Code,
    CycleFailure,
    FilterState,
    Rejection,
    Status,
    status_of,
)

NO_NODES = "no nodes available to schedule pods"


class Diagnosis(NamedTuple):
    """The result of every node.

    `statuses` holds the nodes that were filtered and failed, by name. Nodes that a PreFilter result left out are
    in `absent`, with one status for all of them.
    """

    node_count: int
    feasible: tuple[str, ...] = ()
    statuses: dict[str, Status] = {}  # noqa: RUF012 (never written to)
    absent: tuple[str, ...] = ()
    absent_status: Status = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "", ())
    pre_filter_message: str = ""
    pre_filter_plugin: str = ""
    release: Release = LATEST
    error: str = ""  # the cycle failed: there is no FitError
    sizes: Mapping[str, int] = {}  # of nodes that stand for several: their number

    def status(self, node: str) -> Status:
        """Return the recorded status of a node that is not feasible."""
        return self.statuses.get(node, self.absent_status)

    def message(self, post_filter_message: str = "") -> str:
        """Return the FitError, with the suffix that PostFilter adds."""
        if not self.node_count:
            return NO_NODES
        if self.error:
            return self.error
        number = self.node_count + sum(self.sizes.values()) - len(self.sizes)
        text = f"0/{number} nodes are available:"
        if self.pre_filter_message:
            count = "" if PRE_FILTER_MESSAGE_ONCE.of(self.release) else f"{self.node_count} "
            text += f" {count}{self.pre_filter_message}."
        else:
            counts: Counter[str] = Counter()
            for name, status in (*self.statuses.items(), *((name, self.absent_status) for name in self.absent)):
                for reason in status.reasons:
                    counts[reason] += self.sizes.get(name, 1)
            # Strings are sorted, not numbers: "10 x" comes before "2 y".
            entries = sorted((f"{count} {reason}" for reason, count in counts.items()), key=str.encode)
            text += f" {', '.join(entries)}." if entries else ""
        if not post_filter_message:
            return text
        return f"{text} {post_filter_message}{'.' if SECOND_DOT.of(self.release) else ''}"


class PluginResult(NamedTuple):
    """The result of one plugin for every node, valid until the next pod is bound."""

    plugin: str
    state: FilterState

    @property
    def bits(self) -> Bits:
        """Return the reason bits of each node, uint64 (N,): indices into `state.reasons`."""
        return self.state.filter()


class FilterResult(NamedTuple):
    """The plugins' results for one pod, valid until the next pod is bound.

    considered: bool (N,), nodes that were filtered.
    feasible: bool (N,), nodes that fit.
    narrowed_by: plugins whose PreFilter result leaves nodes out.
    nominated: statuses of nodes that fail only because of the pods nominated to them.
    own: the pod's nominated node, if it was filtered although PreFilter leaves it out; else -1.
    """

    columns: Columns
    plugin_results: tuple[PluginResult, ...]
    considered: Bools
    feasible: Bools
    narrowed_by: tuple[str, ...] = ()
    rejection: Union[Rejection, CycleFailure, None] = None
    nominated: dict[int, Status] = {}  # noqa: RUF012 (never written to)
    own: int = -1
    release: Release = LATEST

    def diagnosis(self) -> Diagnosis:
        """Return the statuses by node name, as the scheduler records them."""
        names = [node.name for node in self.columns.nodes]
        if isinstance(self.rejection, CycleFailure):
            return Diagnosis(len(names), absent=tuple(names), release=self.release, error=self.rejection.message)
        if self.rejection is not None:
            message, plugin = self.rejection
            status = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, plugin, (message,))
            return Diagnosis(
                node_count=len(names),
                statuses=dict.fromkeys(names, status),
                absent_status=status,
                pre_filter_message=message,
                pre_filter_plugin=plugin,
                release=self.release,
            )
        considered = self.considered
        if self.own >= 0:
            considered = considered.copy()
            considered[self.own] = True
        # The reason of nodes that a PreFilter result leaves out; most older releases have none.
        left_out = LEFT_OUT_REASON.of(self.release).format(plugins=" ".join(self.narrowed_by))
        reasons = (left_out,) if self.narrowed_by and left_out else ()
        return Diagnosis(
            node_count=len(names),
            feasible=tuple(names[at] for at in np.flatnonzero(self.feasible)),
            statuses={names[at]: status for at, status in self._recorded(considered & ~self.feasible)},
            absent=tuple(names[at] for at in np.flatnonzero(~considered)),
            absent_status=Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "", reasons),
            release=self.release,
        )

    def failures(self, node: int) -> list[Status]:
        """Return the status of every plugin that refuses a node, in the order they run."""
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
        """Return the first failure of a node with pods removed and added; None if the pod would fit."""
        for result in self.plugin_results:
            bits = result.state.filter_with(node, removed, added)
            if bits:
                return status_of(result.plugin, result.state.reasons, bits)
        return None

    def passes(self, is_asked: Callable[[str], bool]) -> Bools:
        """Return the nodes that no plugin of some names refuses, bool (N,)."""
        passes: Bools = self.considered.copy()
        for result in self.plugin_results:
            if is_asked(result.plugin):
                passes &= result.bits == 0
        return passes

    def _recorded(self, nodes: Bools) -> Iterator[tuple[int, Status]]:
        """Yield the first failure of each node: upstream stops there, and the message depends on it."""
        bits = [result.bits for result in self.plugin_results]
        first: Int64s = np.full(self.columns.n, -1, np.int64)
        for number in reversed(range(len(bits))):
            first[bits[number] != 0] = number
        known: dict[tuple[int, int], Status] = {}
        for node, number in zip(np.flatnonzero(nodes).tolist(), first[nodes].tolist(), strict=True):
            if node in self.nominated:
                yield node, self.nominated[node]
                continue
            reasons = bits[number].item(node)
            if (number, reasons) not in known:
                result = self.plugin_results[number]
                known[number, reasons] = status_of(result.plugin, result.state.reasons, reasons)
            yield node, known[number, reasons]
