"""Forecast of the placement of a workload with soft constraints, over all choices among equally good nodes.

A soft constraint refuses no node: its effect shows only at the end, and depends on chance if nodes score the same. So a
forecast is a range: for every domain and node the fewest and the most pods over all choices.

Choices that differ only in exchangeable nodes (`node_kinds`) are tried once (`exhaustive.Walk`). A number of pods that
one node gets in some choice, each node of its kind gets in another. If there are too many choices, or if pods differ,
random choices are tried, the same ones each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Optional

import numpy as np

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.tables.arrays import Int32s, Int64s
from kubectl_spread.cluster.tables.columns import Columns
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.records import NamedTuple
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.plugins.podtopologyspread.common import match_node_inclusion_policies, with_all_keys
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubectl_spread.scheduler.sampling import MIN_FEASIBLE_NODES_TO_FIND
from kubectl_spread.simulate import node_kinds
from kubectl_spread.simulate.exhaustive import as_replicaset, Walk
from kubectl_spread.simulate.placement import Placement
from kubectl_spread.simulate.placing import first_by_name, seeded_pick
from kubectl_spread.simulate.replicas import Rehearsal
from kubectl_spread.simulate.running.controllers import missing_replicas

MAX_RUNS = 48
MAX_STEPS = 600  # pods placed in all runs together; a step takes about a quarter of a millisecond
_START = 8  # Cost of starting a run, in steps, plus one per `_NODES_OF_A_STEP` nodes.
_NODES_OF_A_STEP = 12
_LEAST_RUNS = 4  # Fewest runs of a forecast; a large cluster may use more steps for them.
_MOST_STEPS = 2_500


class CountRange(NamedTuple):
    """Lowest and highest value over the runs."""

    least: int
    most: int

    @property
    def is_certain(self) -> bool:
        return self.least == self.most


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
    domains: dict[str, CountRange]
    skew: CountRange


class Forecast(NamedTuple):
    """Forecast for the pods of a workload.

    nodes: by name, the nodes that get a pod in some run. is_exact: the runs represent all choices among the best nodes;
    otherwise they are a sample. skipped: reason why there is no forecast.
    """

    workload: Workload
    replicas: int
    placed: CountRange = CountRange(0, 0)
    constraints: tuple[ConstraintForecast, ...] = ()
    nodes: dict[str, CountRange] = {}  # noqa: RUF012 (never written to)
    runs: int = 0
    is_exact: bool = False
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
        runs: maximum number of runs.
        steps: maximum number of pods to place, over all runs.
    """
    if workload.kind in ("DaemonSet", "PodTemplate"):
        return None
    rehearsal = Rehearsal([workload], cluster, profiles, all_nodes=all_nodes)
    (owner,) = rehearsal.owners
    pods = list(missing_replicas(owner, rehearsal.owned))
    if not pods or not _is_scheduled(pods[0], profiles):
        return None
    scheduler = rehearsal.scheduler()
    filtered = scheduler.filter(pods[0])
    counted = _counted(pods[0].cls, filtered, scheduler)
    if all(item.is_hard for item in counted):
        return None
    affordable = _affordable(len(pods), rehearsal.columns.n, runs, steps)
    if not affordable:
        return Forecast(workload, owner.replicas or len(pods), skipped=_too_many(len(pods), rehearsal.columns.n))
    kinds = None
    is_sampled = not all_nodes and rehearsal.columns.n >= MIN_FEASIBLE_NODES_TO_FIND
    if not is_sampled and not _are_distinct(pods, owner) and filtered.feasible.any():
        kinds = node_kinds.scheduler_kinds(pods[0], filtered, scheduler, counts=[item.counts for item in counted])
    outcomes, is_exact = _outcomes(rehearsal, kinds, affordable, is_sampled=is_sampled)
    made = _forecast(
        workload, counted, _OutcomeRanges(rehearsal.columns, outcomes, kinds if is_exact else None), outcomes
    )
    return made._replace(is_exact=is_exact, is_sampled=is_sampled)


def _forecast(
    workload: Workload, counted: list[_Counted], ranges: _OutcomeRanges, outcomes: list[Placement]
) -> Forecast:
    return Forecast(
        workload=workload,
        replicas=outcomes[0].replicas,
        placed=_range([len(outcome.placed) for outcome in outcomes]),
        constraints=tuple(ranges.constraint(item) for item in counted),
        nodes=ranges.nodes(),
        runs=len(outcomes),
    )


def _is_scheduled(pod: Pod, profiles: Mapping[str, Profile]) -> bool:
    return not pod.cls.gates and not pod.node_name and pod.cls.scheduler_name in profiles


def _too_many(pods: int, nodes: int) -> str:
    shown = "1 node" if nodes == 1 else f"{nodes} nodes"
    return f"{pods} pods are more than a forecast tries on {shown}"


def _are_distinct(pods: list[Pod], owner: Workload) -> bool:
    """Return whether the pods differ, so that it matters which pod gets which node."""
    return bool(pods[0].cls.volumes) or as_replicaset(pods[0], owner, len(pods)) is None


def _affordable(pods: int, nodes: int, runs: int, steps: int) -> int:
    """Return how many runs the steps allow; 0 if that is too few for a forecast."""
    of_a_run = pods + _START + nodes // _NODES_OF_A_STEP
    if steps // of_a_run < _LEAST_RUNS:
        return _LEAST_RUNS if _LEAST_RUNS * of_a_run <= _MOST_STEPS else 0
    return min(runs, steps // of_a_run)


def _has_choice(rehearsal: Rehearsal, found: list[Placement]) -> bool:
    """Run once, and return whether a pod had several best nodes; the run is added to `found`."""
    (placement,) = rehearsal.run(first_by_name)
    found.append(placement)
    return any(pod.hosts > 1 for pod in placement.placed)


def _outcomes(
    rehearsal: Rehearsal, kinds: Optional[list[int]], runs: int, *, is_sampled: bool
) -> tuple[list[Placement], bool]:
    """Place the pods in every way that differs by kinds of nodes; if there are too many, use random ways."""
    found: list[Placement] = []
    if kinds is not None:
        walk = Walk(kinds)
        while len(found) < runs // 2:
            walk.start()
            (placement,) = rehearsal.run(walk.pick)
            found.append(placement)
            if any(item.explanation.nominated_node for item in placement.pending):
                break  # Preemption depends on more than the number of pods per node.
            walk.finish()
            if walk.is_over:
                return found, True
    elif not _has_choice(rehearsal, found):
        return found, not is_sampled
    for seed in range(runs - len(found)):
        (placement,) = rehearsal.run(seeded_pick(seed))
        found.append(placement)
    return found, False


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
    found: list[_Counted] = []
    for hard in (True, False):
        constraints = plugin.constraints(pod_class, columns, hard=hard) if plugin is not None else ()
        keyed = with_all_keys(constraints, columns)
        for constraint in constraints:
            included = keyed & match_node_inclusion_policies(constraint, pod_class, columns)
            counts = DomainCounts(constraint, pod_class, columns, included, None if hard else filtered.feasible)
            found.append(_Counted(counts, hard, not pod_class.constraints))
    return sorted(found, key=lambda item: item.counts.constraint.position)


class _OutcomeRanges:
    """Ranges over outcomes.

    `kinds`: kind of each node, if the outcomes also represent exchanges of nodes of one kind.
    """

    def __init__(self, columns: Columns, outcomes: list[Placement], kinds: Optional[list[int]]) -> None:
        self._columns = columns
        self._kinds = kinds
        # int64 (runs, N): the workload's pods; `_new` without those that ran already.
        self._pods: Int64s = np.zeros((len(outcomes), columns.n), np.int64)
        self._new: Int64s = np.zeros((len(outcomes), columns.n), np.int64)
        for run, outcome in enumerate(outcomes):
            for pod in outcome.placed:
                if pod.node in columns.index:
                    self._pods[run, columns.index[pod.node]] += 1
                    self._new[run, columns.index[pod.node]] += not pod.ran_already

    def nodes(self) -> dict[str, CountRange]:
        ran = (self._pods - self._new)[0]
        found = {}
        for at, range_ in enumerate(self._shared([_range(column) for column in self._new.T.tolist()])):
            if range_.most or ran[at]:
                already = int(ran[at])
                found[self._columns.nodes[at].name] = CountRange(range_.least + already, range_.most + already)
        return found

    def constraint(self, item: _Counted) -> ConstraintForecast:
        counts, codes = item.counts, item.counts.topology.codes
        values = counts.topology.values
        constraint = counts.constraint
        matching = counts.match_num + constraint.self_match_num * self._by_domain(self._new * counts.included, codes)
        outcomes = [counts.now(row) for row in _distinct_rows(matching)]
        found = self._domains(codes, len(values))
        order = sorted(range(len(values)), key=lambda code: values[code])
        return ConstraintForecast(
            position=constraint.position,
            is_default=item.is_default,
            is_hard=item.is_hard,
            topology_key=constraint.topology_key,
            max_skew=constraint.max_skew,
            domains={values[code]: found[code] for code in order if counts.eligible[code] or found[code].most},
            skew=_range([outcome.skew or 0 for outcome in outcomes]),
        )

    def _domains(self, codes: Int32s, size: int) -> list[CountRange]:
        ran = self._by_domain(self._pods - self._new, codes)[0]
        ranges = [_range(column) for column in self._by_domain(self._new, codes).T.tolist()]
        sizes = np.bincount(codes[codes >= 0], minlength=size)
        shared = self._shared([ranges[code] if code >= 0 else CountRange(0, 0) for code in codes.tolist()])
        for at, code in enumerate(codes.tolist()):
            if code >= 0 and sizes[code] == 1:  # A domain of one node has the range of its node.
                ranges[code] = shared[at]
        return [
            CountRange(least + int(more), most + int(more)) for (least, most), more in zip(ranges, ran, strict=True)
        ]

    def _by_domain(self, pods: Int64s, codes: Int32s) -> Int64s:
        """Return the number of pods per run and domain, int64 (runs, D)."""
        size = int(codes.max(initial=-1)) + 1
        found: Int64s = np.zeros((len(pods), size), np.int64)
        for run, row in enumerate(pods):
            found[run] = np.bincount(codes[codes >= 0], weights=row[codes >= 0], minlength=size)
        return found

    def _shared(self, ranges: list[CountRange]) -> list[CountRange]:
        """Return the range of each node, merged over all nodes of its kind."""
        if self._kinds is None:
            return ranges
        of_kind: dict[int, CountRange] = {}
        for kind, (least, most) in zip(self._kinds, ranges, strict=True):
            known = of_kind.get(kind, CountRange(least, most))
            of_kind[kind] = CountRange(min(known.least, least), max(known.most, most))
        return [of_kind[kind] for kind in self._kinds]


def _distinct_rows(numbers: Int64s) -> Int64s:
    """Return the distinct rows of an array (runs, D), as int64 (M, D); many are often equal."""
    by_content = {row.tobytes(): row for row in numbers}
    return np.array(list(by_content.values()), np.int64)


def _range(numbers: list[int]) -> CountRange:
    return CountRange(int(min(numbers)), int(max(numbers)))
