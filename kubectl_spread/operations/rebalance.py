"""Plan evictions after which violated constraints hold again; loads numpy."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple, Optional

from kubectl_spread.advice.rebalance.plan import Rebalance
from kubectl_spread.advice.rebalance.planner import RepairRequest
from kubectl_spread.advice.rebalance.repair import rebalance
from kubectl_spread.engine.run import Limits, Mode, play, Watch
from kubectl_spread.errors import SourceError, SpreadError
from kubectl_spread.operations import simulate
from kubectl_spread.operations.cluster_facts import LoadedCluster
from kubectl_spread.operations.selection import missing_targets, Selection

_CREATED = Limits(mode=Mode.FIRST, has_messages=False)


class RebalanceRequest(NamedTuple):
    """The workloads to repair.

    Attributes:
        inputs: the cluster facts, and the manifests whose objects are created first.
        selection: the workloads, in the namespace of the inputs.
        has_soft: repair ScheduleAnyway constraints, too.
        most_moves: most evictions for a group of workloads; None for no limit.
        effort: factor of the limits of the search, which are numbers of states.
    """

    inputs: simulate.SimulateRequest = simulate.SimulateRequest()
    selection: Selection = Selection()
    has_soft: bool = False
    most_moves: Optional[int] = None
    effort: float = 1.0


class RebalanceResult(NamedTuple):
    """The repairs.

    Attributes:
        rebalance: a repair for each group of workloads.
        known: the cluster that was read.
        errors: inputs that could not be read.
        missing: requested workloads or namespaces that do not exist.
        selection: the requested workloads, with their namespace.
        is_interrupted: the user ended the search.
    """

    rebalance: Rebalance
    known: LoadedCluster
    errors: tuple[SourceError, ...]
    missing: tuple[SpreadError, ...]
    selection: Selection
    is_interrupted: bool = False

    @property
    def is_fine(self) -> bool:
        """Return whether every requested object exists, and every violated constraint has a plan."""
        return not self.missing and self.rebalance.is_fine


def rebalance_workloads(
    request: RebalanceRequest, watch: Optional[Watch] = None, *, read: Optional[simulate.SimulateInputs] = None
) -> RebalanceResult:
    """Plan the repairs of a cluster, which `read` has if it was read already.

    Raises:
        RequestError: the request contradicts itself.
        RefusedError: the API server would refuse an object of a manifest.
        SpreadError: an input cannot be read.
    """
    read = read or simulate.read_inputs(request.inputs)
    watch = watch or Watch()
    setup = simulate.SimulationSetup(read)
    known = read.known
    if setup.created.ops:
        outcome = play(known.cluster, known.profiles, [setup.created.ops], limits=_CREATED).last.outcomes[0]
        after, numbers = outcome.cluster(), Counter[str]()
        pods = []
        for pod in after.pods:  # each new pod gets a name
            numbers[pod.key] += pod.name.endswith("-*")
            pods.append(pod._replace(name=f"{pod.name[:-1]}{numbers[pod.key]}") if pod.name.endswith("-*") else pod)
        controllers = setup.situation.cluster.controllers
        known = known._replace(cluster=after._replace(pods=tuple(pods), controllers=controllers))
    selection = request.selection._replace(namespace=read.selected_namespace).named(known.cluster)
    found = rebalance(
        known.cluster,
        known.profiles,
        RepairRequest(
            selection.includes,
            request.has_soft,
            request.most_moves,
            request.effort,
            has_defaults=bool(selection.targets),
        ),
        watch,
    )
    absent = missing_targets(found.checked, selection, known.cluster, is_live=request.inputs.source.or_live().live)
    return RebalanceResult(found, known, setup.errors, absent, selection, watch.is_stopped)
