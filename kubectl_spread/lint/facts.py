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
    from kubectl_spread.objects.account import Others
    from kubectl_spread.objects.account import Outcome
    from kubectl_spread.objects.account import Server
    from kubectl_spread.objects.account import Spread
    from kubectl_spread.objects.constraint import TopologySpreadConstraint
    from kubectl_spread.objects.constraint_counts import ConstraintCounts
    from kubectl_spread.objects.uncounted import Uncounted
    from kubectl_spread.objects.workload import Workload


class ClusterFacts(Protocol):
    """The nodes and pods of a snapshot, or of a made-up cluster."""

    @property
    def node_keys(self) -> frozenset[str]:
        """Return the label keys that at least one node has."""
        ...

    def domain_count(self, key: str) -> int:
        """Return how many values a label has among the nodes."""
        ...

    @property
    def server(self) -> Optional[Server]:
        """Return the version of the API server; None where no node tells one."""
        ...

    def account(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[Account]:
        """Return a constraint on the cluster without the workload's own pods."""
        ...

    def live(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[ConstraintCounts]:
        """Return a hard constraint and the workload's pods that run; None where none of them does."""
        ...

    def uncounted(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[Uncounted]:
        """Return the workload's running pods that a constraint's selector does not match, if it matches others."""
        ...

    def anew(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[Spread]:
        """Return where the pods that run would be if none of them did; None where not all of them would find a node."""
        ...

    def placed(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[Spread]:
        """Return where all pods of a workload of which none runs yet go, as `check` places them."""
        ...

    def others(self, workload: Workload, constraint: TopologySpreadConstraint) -> tuple[Others, ...]:
        """Return the workloads whose running pods a hard constraint counts beside the own."""
        ...

    def elsewhere(self, workload: Workload, constraint: TopologySpreadConstraint) -> tuple[tuple[str, int], ...]:
        """Return how many pods of each other namespace a constraint selects, and does not count."""
        ...

    def scaled_down(
        self, workload: Workload, constraint: TopologySpreadConstraint, replicas: int
    ) -> Optional[ConstraintCounts]:
        """Return the most even result of scaling the running pods of a Deployment or ReplicaSet down."""
        ...

    def has_claims(self, workload: Workload) -> bool:
        """Return whether a claim that a StatefulSet makes for one of its pods is there already."""
        ...

    def volume_values(self, class_name: Optional[str], key: str) -> Optional[frozenset[str]]:
        """Return the values of a node label at which a StorageClass can create a volume for a pod.

        None where it allows any, where a volume of the class lies ready, or the class is not known; without a name it
        is the default one.
        """
        ...

    def anti_affinities(self, workload: Workload) -> tuple[AntiAffinity, ...]:
        """Return the required anti-affinities that keep the workload's own pods apart."""
        ...

    def outcome(self, workload: Workload) -> Optional[Outcome]:
        """Return how many of the workload's pods find a node, as `check` places them."""
        ...

    def impossible(self, workload: Workload) -> Optional[Impossible]:
        """Return why some pod stays Pending in every possible placement.

        None where there is a way, where hard constraints are not the reason, or there are too many ways to look at.
        """
        ...

    def configured_defaults(self, workload: Workload) -> Optional[tuple[TopologySpreadConstraint, ...]]:
        """Return the configured default constraints; None for the built-in ones."""
        ...
