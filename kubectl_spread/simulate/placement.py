"""Placement of a workload's pods, and its certainty."""

from __future__ import annotations

from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine.results.certainty import Certainty
from kubectl_spread.explain.explanation import Explanation, IgnoredFields
from kubectl_spread.objects.keys import Range
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.workloads.workload import Workload

if TYPE_CHECKING:  # only loaded if there are NodePools
    from kubectl_spread.provisioners.prospect import Prospect


class PlacedPod(NamedTuple):
    """A pod and its node.

    `fitting` is the number of nodes that fit. `hosts` is the number of these with the highest score; the scheduler may
    take any of them. Both are 0 for a pod that already ran.
    """

    pod: str
    node: str
    fitting: int
    hosts: int

    @property
    def ran_already(self) -> bool:
        return self.fitting == 0


class PendingPod(NamedTuple):
    """A pod that found no node, with the explanation of that moment; pods of one class share it."""

    pod: Pod
    explanation: Explanation


class UntriedPod(NamedTuple):
    """A pod that the scheduler never tries, because of its gates or because the API server refuses to create it."""

    pod: str
    message: str


class UnpredictedPod(NamedTuple):
    """A pod whose node cannot be predicted, and the features it depends on."""

    pod: Pod
    reasons: tuple[str, ...]


class EvictedPod(NamedTuple):
    """A pod that preemption evicts to make room for another one.

    `again`: the replacement that its controller creates, with its node (empty if it is Pending) and the scheduler's
    message. None if no controller replaces it.
    """

    pod: Pod
    by: str
    again: Optional[ReplacementPod] = None


class ReplacementPod(NamedTuple):
    """Outcome for the pod that replaces an evicted one."""

    node: str
    message: str = ""


class Placement(NamedTuple):
    """Placement of the pods of one workload.

    domains: topology key -> value -> the workload's pods, for each key of its constraints.
    matching: the same for all pods that the first constraint of the key selects, of any workload.
    unpredicted: pods that are neither placed nor Pending.
    not_counted: other workloads with such pods; the placement leaves these pods out.
    not_predictable: features that the pods use and that are not evaluated.
    not_created: pods that their controller creates only after the pods before them run.
    evictions: pods of lower priority that preemption evicts for the workload's pods.
    on_missing_nodes: placed pods whose node does not exist.
    refused: pods that admission refuses.
    first_replica: the workload's first pod, as its controller creates it.
    in_any_order: the placed pods over all orders of creation, if other workloads are created as well and they differ.
    added_nodes: by the key of a Pending pod, what Karpenter does about it; empty without NodePools.
    advice: a change with which all of them find a node, if Karpenter adds none.
    """

    workload: Workload
    placed: tuple[PlacedPod, ...]
    pending: tuple[PendingPod, ...]
    gated: tuple[UntriedPod, ...]
    domains: dict[str, dict[str, int]]
    certainty: Certainty
    not_predictable: tuple[str, ...] = ()
    matching: dict[str, dict[str, int]] = {}  # noqa: RUF012 (never written to)
    first: Optional[Explanation] = None  # of the first placed pod, on request
    moment: Optional[Cluster] = None  # the cluster when the first pod stayed Pending, else when the first was placed
    unpredicted: tuple[UnpredictedPod, ...] = ()
    not_counted: tuple[str, ...] = ()
    ignored: IgnoredFields = IgnoredFields()
    not_created: tuple[str, ...] = ()
    evictions: tuple[EvictedPod, ...] = ()
    on_missing_nodes: tuple[str, ...] = ()
    refused: tuple[UntriedPod, ...] = ()
    first_replica: Optional[Pod] = None
    in_any_order: Optional[Range] = None
    added_nodes: dict[str, Prospect] = {}  # noqa: RUF012 (never written to)
    advice: str = ""

    @property
    def new(self) -> int:
        """Return the number of pods that do not run yet, and that the scheduler may place."""
        return self.replicas - len(self.refused) - len(self.gated) - sum(pod.ran_already for pod in self.placed)

    @property
    def stuck(self) -> list[PendingPod]:
        """Return the Pending pods for which it is not certain that Karpenter adds a node."""
        waiting = {key for key, found in self.added_nodes.items() if found.runs}
        return [item for item in self.pending if item.pod.key not in waiting]

    @property
    def replicas(self) -> int:
        created = len(self.placed) + len(self.pending) + len(self.gated) + len(self.unpredicted)
        return created + len(self.not_created) + len(self.refused)
