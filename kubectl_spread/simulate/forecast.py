"""Forecast of the placement of a workload with soft constraints, over all choices among equally good nodes.

A soft constraint refuses no node: its effect shows only at the end, and depends on chance if nodes score the same. So a
forecast is a range: for every domain and node the fewest and the most pods over all choices.

The engine over time finds the outcomes (`timeline.placements`). Choices that differ only in interchangeable nodes are
tried once. A number of pods that one node gets in some choice, each node of its kind gets in another. If there are too
many choices, random ones are tried, the same ones each time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Optional

import numpy as np

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.tables.columns import Columns, Int32s, Int64s
from kubectl_spread.engine.placements import every_placement, NodeCounts
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.search import node_kinds
from kubectl_spread.objects.keys import Range, range_of
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts, soft_counts
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubectl_spread.scheduler.sampling import MIN_FEASIBLE_NODES_TO_FIND
from kubectl_spread.simulate.replicas import new_pods, Rehearsal
from kubectl_spread.simulate.running.controllers import missing_replicas, running_pods

MAX_RUNS = 48
MAX_STEPS = 600  # pods placed in all runs together; a step takes about a quarter of a millisecond
_START = 8  # Cost of starting a run, in steps, plus one per `_NODES_OF_A_STEP` nodes.
_NODES_OF_A_STEP = 12
_LEAST_RUNS = 4  # Fewest runs of a forecast; a large cluster may use more steps for them.
_MOST_STEPS = 2_500


class ConstraintForecast(NamedTuple):
    """Forecast for one constraint.

    domains: the workload's pods per domain, for eligible domains and domains that get a pod. skew: between the fullest
    and the emptiest eligible domain, over all pods that the constraint counts.
    """

    position: int
    is_default: bool
    is_hard: bool
    topology_key: str
    max_skew: int
    domains: dict[str, Range]
    skew: Range


class Forecast(NamedTuple):
    """Forecast for the pods of a workload.

    nodes: by name, the nodes that get a pod in some run. basis: whether the runs represent all choices among the best
    nodes, or are a sample. skipped: reason why there is no forecast.
    """

    workload: Workload
    replicas: int
    placed: Range = Range(0, 0)
    constraints: tuple[ConstraintForecast, ...] = ()
    nodes: dict[str, Range] = {}  # noqa: RUF012 (never written to)
    runs: int = 0
    basis: Basis = Basis.SAMPLE
    is_sampled: bool = False  # the scheduler does not look at every node of so large a cluster
    skipped: str = ""


def forecast(
    workload: Workload,
    cluster: Cluster,
    profiles: Mapping[str, Profile],
    *,
    all_nodes: bool = False,
    runs: int = MAX_RUNS,
    steps: int = MAX_STEPS,
) -> Optional[Forecast]:
    """Place a workload's pods in many ways; returns None if it has no soft constraint or its pods have no choice.

    Args:
        workload: its running pods stay on their nodes.
        cluster: the cluster for the other pods.
        profiles: of the scheduler, by name.
        all_nodes: examine every node, also if the scheduler would stop early.
        runs: maximum number of random runs.
        steps: maximum number of pods to place, over all random runs.
    """
    if workload.kind in ("DaemonSet", "PodTemplate"):
        return None
    rehearsal = Rehearsal([workload], cluster, profiles, all_nodes=all_nodes)
    (owner,) = rehearsal.owners
    pod = next(missing_replicas(owner, rehearsal.owned), None)
    if pod is None or pod.cls.gates or pod.node_name or pod.cls.scheduler_name not in profiles:
        return None
    scheduler = rehearsal.scheduler()
    filtered = scheduler.filter(pod)
    counted = _counted(pod.cls, filtered, scheduler)
    if all(item.is_hard for item in counted):
        return None
    is_sampled = not all_nodes and rehearsal.columns.n >= MIN_FEASIBLE_NODES_TO_FIND
    new = new_pods(rehearsal, profiles, all_nodes=not is_sampled)
    pods, columns = len(new.pods), rehearsal.columns
    affordable = _affordable(pods, columns.n, runs, steps)
    if not affordable:
        shown = "1 node" if columns.n == 1 else f"{columns.n} nodes"
        skipped = f"{pods} pods are more than a forecast tries on {shown}"
        return Forecast(workload, owner.replicas or 0, skipped=skipped)
    kinds = None
    if new.all_nodes and new.are_equal and filtered.feasible.any():
        kinds = node_kinds.scheduler_kinds(pod, filtered, scheduler, counts=[item.counts for item in counted])
    most_states = 1 + pods * (affordable // 2)  # before random runs: half of their time
    found = every_placement(new, kinds, max_states=most_states, runs=affordable)
    ran: Int64s = np.zeros(columns.n, np.int64)  # the workload's running pods on each node, (N,)
    for running in running_pods(owner, rehearsal.owned):
        if running.node_name in columns.index:
            ran[columns.index[running.node_name]] += 1
    ranges = _OutcomeRanges(columns, found.counts, ran=ran, kinds=kinds if found.basis.is_exact else None)
    return Forecast(
        workload,
        max(owner.replicas or pods, ranges.placed.most),
        ranges.placed,
        tuple(map(ranges.constraint, counted)),
        ranges.nodes(),
        found.runs,
        found.basis,
        is_sampled,
    )


def _affordable(pods: int, nodes: int, runs: int, steps: int) -> int:
    """Return how many runs the steps allow; 0 if that is too few for a forecast."""
    of_a_run = pods + _START + nodes // _NODES_OF_A_STEP
    if steps // of_a_run < _LEAST_RUNS:
        return _LEAST_RUNS if _LEAST_RUNS * of_a_run <= _MOST_STEPS else 0
    return min(runs, steps // of_a_run)


class _Counted(NamedTuple):
    """Counts of a constraint before any pod is placed."""

    counts: DomainCounts
    is_hard: bool
    is_default: bool


def _counted(pod_class: PodClass, filtered: FilterResult, scheduler: Scheduler) -> list[_Counted]:
    """Return the constraints that the scheduler follows, its defaults included, in written order."""
    columns = scheduler.columns
    profile = scheduler.profile_of(pod_class)
    plugin = next((item.plugin for item in profile.score if isinstance(item.plugin, PodTopologySpread)), None)
    if plugin is None:
        return []
    found, require_all = list[_Counted](), plugin.requires_all_keys(pod_class)
    for hard in (True, False):
        constraints, feasible = plugin.constraints(pod_class, columns, hard=hard), None if hard else filtered.feasible
        for counts in soft_counts(constraints, pod_class, columns, feasible, require_all=require_all):
            found.append(_Counted(counts, hard, not pod_class.constraints))
    return sorted(found, key=lambda item: item.counts.constraint.position)


class _OutcomeRanges:
    """Ranges over outcomes.

    placed: the workload's pods that run or find a node.
    """

    def __init__(
        self, columns: Columns, outcomes: Sequence[NodeCounts], *, ran: Int64s, kinds: Optional[list[int]]
    ) -> None:
        """Set up the outcomes.

        Args:
            columns: the nodes.
            outcomes: new pods by node.
            ran: the running pods on each node, int64 (N,).
            kinds: kind of each node, if the outcomes also represent exchanges of nodes of one kind.
        """
        self._columns = columns
        self._kinds = kinds
        self._ran = ran
        self._new: Int64s = np.zeros((len(outcomes), columns.n), np.int64)  # (runs, N)
        for run, outcome in enumerate(outcomes):
            for node, count in outcome.items():
                self._new[run, node] = count
        self.placed = range_of((self._new.sum(axis=1) + ran.sum()).tolist())

    def nodes(self) -> dict[str, Range]:
        ran = self._ran
        found = {}
        for at, range_ in enumerate(self._shared([range_of(column) for column in self._new.T.tolist()])):
            if range_.most or ran[at]:
                already = int(ran[at])
                found[self._columns.nodes[at].name] = Range(range_.least + already, range_.most + already)
        return found

    def constraint(self, item: _Counted) -> ConstraintForecast:
        counts, codes = item.counts, item.counts.topology.codes
        values = counts.topology.values
        constraint = counts.constraint
        matching = counts.match_num + constraint.self_match_num * self._by_domain(self._new * counts.included, codes)
        outcomes = [counts.now(row) for row in np.unique(matching, axis=0)]
        found = self._domains(codes, len(values))
        order = sorted(range(len(values)), key=lambda code: values[code])
        return ConstraintForecast(
            position=constraint.position,
            is_default=item.is_default,
            is_hard=item.is_hard,
            topology_key=constraint.topology_key,
            max_skew=constraint.max_skew,
            domains={values[code]: found[code] for code in order if counts.eligible[code] or found[code].most},
            skew=range_of(int(outcome.skew or 0) for outcome in outcomes),
        )

    def _domains(self, codes: Int32s, size: int) -> list[Range]:
        ran = self._by_domain(self._ran[np.newaxis], codes)[0]
        ranges = [range_of(column) for column in self._by_domain(self._new, codes).T.tolist()]
        sizes = np.bincount(codes[codes >= 0], minlength=size)
        shared = self._shared([ranges[code] if code >= 0 else Range(0, 0) for code in codes.tolist()])
        for at, code in enumerate(codes.tolist()):
            if code >= 0 and sizes[code] == 1:  # A domain of one node has the range of its node.
                ranges[code] = shared[at]
        return [Range(least + int(more), most + int(more)) for (least, most), more in zip(ranges, ran, strict=True)]

    def _by_domain(self, pods: Int64s, codes: Int32s) -> Int64s:
        """Return the number of pods per run and domain, int64 (runs, D)."""
        size = int(codes.max(initial=-1)) + 1
        found: Int64s = np.zeros((len(pods), size), np.int64)
        for run, row in enumerate(pods):
            found[run] = np.bincount(codes[codes >= 0], weights=row[codes >= 0], minlength=size)
        return found

    def _shared(self, ranges: list[Range]) -> list[Range]:
        """Return the range of each node, merged over all nodes of its kind."""
        if self._kinds is None:
            return ranges
        of_kind: dict[int, Range] = {}
        for kind, (least, most) in zip(self._kinds, ranges, strict=True):
            known = of_kind.get(kind, Range(least, most))
            of_kind[kind] = Range(min(known.least, least), max(known.most, most))
        return [of_kind[kind] for kind in self._kinds]
