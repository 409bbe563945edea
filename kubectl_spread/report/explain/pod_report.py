"""The report on a pod: its explanation, and the messages and events of the cluster about it."""

from __future__ import annotations

from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.advice.change import Suggestions
from kubectl_spread.cluster.snapshot import ClusterEvent
from kubectl_spread.explain.explanation import Explanation, PodVerdict
from kubectl_spread.explain.forecast import Forecast
from kubectl_spread.explain.node_view import NodeView
from kubectl_spread.explain.placement import Placement
from kubectl_spread.explain.reported_message import MessageComparison, ReportedMessage
from kubectl_spread.explain.status import WorkloadState
from kubectl_spread.objects.admission import Quantities
from kubectl_spread.objects.keys import ObjectKey

if TYPE_CHECKING:  # only loaded if there are NodePools
    from kubectl_spread.provisioners.prospect import Outlook


class PodReport(NamedTuple):
    """The explanation of one pod, or of several pods of one class.

    alike: other workloads whose pods wait for the same reason, and which have no report.
    reported: the scheduler's last message.
    comparison: whether the message still holds.
    other_events: events of other components.
    raised_quotas: by the name of each quota that refuses pods of the workload, limits with which all find a node.
    outlook: what Karpenter does about Pending pods; None without NodePools.
    """

    explanation: Explanation
    workload: Optional[WorkloadState] = None
    alike: tuple[ObjectKey, ...] = ()
    placement: Optional[Placement] = None  # of the manifest that the pod is of
    file: str = ""  # of the manifest, if other files have the same workload
    reported: ReportedMessage = ReportedMessage()
    comparison: Optional[MessageComparison] = None
    other_events: tuple[ClusterEvent, ...] = ()
    suggestions: Optional[Suggestions] = None
    raised_quotas: dict[str, Quantities] = {}  # noqa: RUF012 (never written to)
    not_reported: tuple[str, ...] = ()  # Pending pods of the workload that no report covers
    node: Optional[NodeView] = None  # the only requested node
    outlook: Optional[Outlook] = None
    forecast: Optional[Forecast] = None  # of a workload with soft constraints

    @property
    def is_fine(self) -> bool:
        """Return whether nothing keeps the pod from its node, or from staying there until it has ended.

        Karpenter may have to add the node. If the pod is one of a workload, no other pod of it may be Pending
        or be refused by the API server. If all of them have a node, one more may wait.
        """
        if self.workload is not None and self.workload.failures:
            return False
        if self.workload is not None and self.workload.is_whole and self.explanation.pod.new_of:
            return True
        if self.outlook is not None and self.outlook.all_run:
            return not self.not_reported
        if self.not_reported and (self.workload is None or self.workload.finding is None):
            return False
        if self.explanation.verdict is PodVerdict.TERMINATING:
            return bool(self.explanation.pod.node_name)
        return self.explanation.verdict in (PodVerdict.SCHEDULABLE, PodVerdict.RUNNING, PodVerdict.FINISHED)
