"""What a rule may ask about the cluster; it is answered by the scheduler's own code, which loads numpy.

All questions but `node_keys` and `server` are about one workload. None, or nothing, answers for one whose pods
nobody can predict: of a DaemonSet, a PodTemplate, a scheduler that is not known, or with spec.nodeName.
"""

from __future__ import annotations

from typing import Optional
from typing import Protocol
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # records that are there where there are facts
    from kubectl_spread.objects.account import Account
    from kubectl_spread.objects.account import AntiAffinity
    from kubectl_spread.objects.account import Impossible
    from kubectl_spread.objects.account import Live
    from kubectl_spread.objects.account import Outcome
    from kubectl_spread.objects.account import Server
    from kubectl_spread.objects.constraint import TopologySpreadConstraint
    from kubectl_spread.objects.workload import Workload


class ClusterFacts(Protocol):
    """The nodes and pods of a snapshot, or of a made-up cluster."""

    @property
    def node_keys(self) -> frozenset[str]:
        """The label keys that at least one node has."""
        ...

    def domain_count(self, key: str) -> int:
        """How many values a label has among the nodes."""
        ...

    @property
    def server(self) -> Optional[Server]:
        """The version of the API server; None where no node tells one."""
        ...

    def account(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[Account]:
        """A constraint on the cluster without the workload's own pods."""
        ...

    def live(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[Live]:
        """A hard constraint and the workload's pods that run; None where none of them does."""
        ...

    def anti_affinities(self, workload: Workload) -> tuple[AntiAffinity, ...]:
        """The required anti-affinities that keep the workload's own pods apart."""
        ...

    def outcome(self, workload: Workload) -> Optional[Outcome]:
        """What becomes of the workload's pods, as `check` places them."""
        ...

    def impossible(self, workload: Workload) -> Optional[Impossible]:
        """What keeps some pod out in every way the scheduler could place them.

        None where there is a way, where hard constraints are not the reason, or there are too many ways to look at.
        """
        ...

    def configured_defaults(self, workload: Workload) -> Optional[tuple[TopologySpreadConstraint, ...]]:
        """The default constraints that the scheduler's configuration has instead of those built in, which are None."""
        ...
