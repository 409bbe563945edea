"""Reasons why a pod found no node, and the sentence in which the scheduler reports them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from kubectl_spread.objects.releases.behaviours import PRE_FILTER_MESSAGE_ONCE, SECOND_DOT
from kubectl_spread.objects.releases.version import LATEST, Release
from kubectl_spread.scheduler.framework.status import Code, Status

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
        text = f"0/{number} nodes are available:{self._body()}"
        if not post_filter_message:
            return text
        return f"{text} {post_filter_message}{'.' if SECOND_DOT.of(self.release) else ''}"

    def _body(self) -> str:
        if self.pre_filter_message:
            count = "" if PRE_FILTER_MESSAGE_ONCE.of(self.release) else f"{self.node_count} "
            return f" {count}{self.pre_filter_message}."
        counts: Counter[str] = Counter()
        for name, status in self.statuses.items():
            for reason in status.reasons:
                counts[reason] += self.sizes.get(name, 1)
        for reason in self.absent_status.reasons if self.absent else ():
            counts[reason] += sum(self.sizes.get(name, 1) for name in self.absent)
        # Strings are sorted, not numbers: "10 x" comes before "2 y".
        entries = sorted((f"{count} {reason}" for reason, count in counts.items()), key=str.encode)
        return f" {', '.join(entries)}." if entries else ""
