"""Show running workloads against their spread constraints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.errors import SpreadError
from kubectl_spread.operations import cluster_facts
from kubectl_spread.operations.cluster_facts import ClusterSource
from kubectl_spread.operations.selection import missing_targets, own_namespace, Selection, unmatched_group

if TYPE_CHECKING:  # these load numpy
    from kubectl_spread.explain.status import WorkloadStatus
    from kubectl_spread.guarantee.evaluate import PolicyStatus
    from kubectl_spread.guarantee.policy import Policy
    from kubectl_spread.operations.cluster_facts import LoadedCluster
    from kubectl_spread.sources.live.reading import Session


class StatusRequest(NamedTuple):
    """The workloads to show.

    Attributes:
        source: the cluster facts; the live cluster if none are named.
        selection: the workloads, in `namespace`.
        namespace: None for the context's; empty for all.
        shows_all: also show workloads without constraints of their own.
        policy: rules for the running pods.
    """

    source: ClusterSource = ClusterSource()
    selection: Selection = Selection()
    namespace: Optional[str] = None
    shows_all: bool = False
    policy: Optional[Policy] = None


class StatusResult(NamedTuple):
    """The workloads and their constraints.

    Attributes:
        statuses: one for each workload.
        known: the cluster that was read, and the inputs that could not be read.
        selection: the requested workloads, with their namespace.
        missing: requested workloads or namespaces that do not exist.
        policy: the rules with their numbers, if a policy is given.
    """

    statuses: list[WorkloadStatus]
    known: LoadedCluster
    selection: Selection
    missing: tuple[SpreadError, ...]
    policy: Optional[PolicyStatus] = None

    @property
    def is_fine(self) -> bool:
        """Return whether every requested object exists, and every workload meets its constraints and the policy."""
        is_kept = self.policy is None or self.policy.is_kept
        return is_kept and not self.missing and all(status.is_fine for status in self.statuses)


def workload_status(request: StatusRequest) -> StatusResult:
    """Count the pods of each constraint's domains once.

    Raises:
        RequestError: the request contradicts itself.
        SourceError: the cluster facts cannot be read.
        ClusterError: the live cluster cannot be read.
    """
    return StatusReader(request).read()


_MOST_NODES = 300  # In larger clusters the check takes longer than the status.


def count_workloads_with_findings(found: StatusResult, source: ClusterSource) -> int:
    """Return how many of the workloads `check` reports something about; 0 in a large cluster, where nothing is checked.

    Raises:
        SpreadError: the configuration cannot be followed.
    """
    if len(found.known.cluster.nodes) > _MOST_NODES:
        return 0
    from kubectl_spread.operations import check_cluster
    from kubectl_spread.operations.check import CheckRequest

    minor = max(profile.minor for profile in found.known.profiles.values())
    source = source._replace(kubernetes_version=f"1.{minor}", listener=cluster_facts.ignore)
    selection = found.selection
    asked = CheckRequest(source=source, namespace=selection.namespace, selection=selection, known=found.known)
    return len({item.object for item in check_cluster.check_workloads(asked).report.findings})


class StatusReader:
    """A reader of the status, which can be read repeatedly; it uses one connection to a live cluster."""

    def __init__(self, request: StatusRequest) -> None:
        """Open the source without reading it yet.

        Raises:
            RequestError: the request contradicts itself.
        """
        self.source = request.source.or_live()
        self.session: Optional[Session] = cluster_facts.open_session(self.source)
        own = self.session.target.namespace if self.session is not None else None  # a file's is known once it is read
        self._namespace = own if request.namespace is None else request.namespace
        self.selection = request.selection._replace(namespace=self._namespace or "")
        self.shows_all = request.shows_all or bool(self.selection.targets)
        self._policy = request.policy

    def read(self, *, is_again: bool = False) -> StatusResult:
        """Return the workloads as they are now; `is_again` as in `cluster_facts.load`.

        Raises:
            SpreadError: as `workload_status` does.
            RequestError, ConfigError: a group of the policy matches none of all workloads.
        """
        statuses, known, policy = self.stream(is_again=is_again)
        is_whole = self.selection == Selection(namespace=self.selection.namespace)
        if policy is not None and policy.unmatched and is_whole and not is_again:
            raise unmatched_group(policy.unmatched[0], policy.policy)
        shown = list(statuses)
        seen = (status.key for status in shown)
        missing = missing_targets(seen, self.selection, known.cluster, is_live=self.session is not None)
        return StatusResult(shown, known, self.selection, missing, policy)

    def stream(
        self, *, is_again: bool = False
    ) -> tuple[Iterator[WorkloadStatus], LoadedCluster, Optional[PolicyStatus]]:
        """Return the workloads one by one: in a large cluster, all of them together need much memory.

        Besides them, return the cluster and the result of the policy.

        Raises:
            SpreadError: as `workload_status` does.
        """
        from kubectl_spread.sources.live.resources import Question

        kinds = self.selection.all_kinds
        question = Question(self.selection.namespace, kinds, is_overview=not kinds, shows_defaults=self.shows_all)
        known = cluster_facts.load(self.source, self.session, question, is_again=is_again)
        namespace = own_namespace(self._namespace, self.session, known.cluster)
        self.selection = self.selection._replace(namespace=namespace).named(known.cluster)
        from kubectl_spread.explain.status import statuses  # numpy: 80 ms
        from kubectl_spread.guarantee.evaluate import policy_status

        found = statuses(known.cluster, known.profiles, wants=self.selection.includes)
        shown = (status for status in found if self.shows_all or status.has_own)
        policy = self._policy and policy_status(self._policy, known.cluster, wants=self.selection.includes)
        return shown, known, policy
