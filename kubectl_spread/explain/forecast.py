"""Forecast of the placement of a workload with soft constraints, over all choices among equally good nodes.

A soft constraint refuses no node: its effect shows only at the end, and depends on chance if nodes score the same. So a
forecast is a range: for every domain and node the fewest and the most pods over all choices.

The engine over time finds the outcomes (`engine.placing`). Choices that differ only in interchangeable nodes are
tried once. A number of pods that one node gets in some choice, each node of its kind gets in another. If there are too
many choices, random ones are tried, the same ones each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Optional

import numpy as np

from kubectl_spread.cluster.columns import Int64s
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine.placing import every_placement, NodeCounts
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.results.domain_pods import ranges_of
from kubectl_spread.engine.search.symmetry import Symmetry
from kubectl_spread.engine.workloads import missing_replicas, running_pods
from kubectl_spread.explain.replicas import new_pods, Start
from kubectl_spread.objects.keys import Range, range_of
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.scheduler.cycle import ALL, MIN_FEASIBLE_NODES_TO_FIND, Scheduler
from kubectl_spread.scheduler.framework.plugin import Profile
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubectl_spread.text.wording import count_noun

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
    runs: int = MAX_RUNS,
    steps: int = MAX_STEPS,
) -> Optional[Forecast]:
    """Place a workload's pods in many ways; returns None if it has no soft constraint or its pods have no choice.

    Args:
        workload: its running pods stay on their nodes.
        cluster: the cluster for the other pods.
        profiles: of the scheduler, by name.
        runs: maximum number of random runs.
        steps: maximum number of pods to place, over all random runs.
    """
    if workload.kind in ("DaemonSet", "PodTemplate"):
        return None
    start = Start([workload], cluster, profiles)
    (owner,) = start.owners
    pod = next(missing_replicas(owner, start.owned), None)
    if pod is None or pod.cls.gates or pod.node_name or pod.cls.scheduler_name not in profiles:
        return None
    scheduler = Scheduler(start.columns, profiles)
    filtered = scheduler.filter(pod)
    # The constraints that the scheduler follows, its defaults included, before any pod is placed
    scoring = (item.plugin for item in scheduler.profile_of(pod.cls).score)
    plugin = next((item for item in scoring if isinstance(item, PodTopologySpread)), None)
    every = () if plugin is None else plugin.counts(pod.cls, scheduler.columns, filtered.feasible)
    counted = sorted(every, key=lambda item: item[0].constraint.position)
    if all(is_hard for _, is_hard in counted):
        return None
    percentage = scheduler.profile_of(pod.cls).percentage_of_nodes_to_score
    is_sampled = percentage < ALL and start.columns.n >= MIN_FEASIBLE_NODES_TO_FIND
    new = new_pods(start, profiles, all_nodes=not is_sampled)
    pods, columns = len(new.pods), start.columns
    # The runs that the steps allow, or more steps for the fewest runs
    of_a_run = pods + _START + columns.n // _NODES_OF_A_STEP
    affordable = min(runs, steps // of_a_run) if steps // of_a_run >= _LEAST_RUNS else _LEAST_RUNS
    if affordable * of_a_run > max(steps, _MOST_STEPS):
        skipped = f"{count_noun(pods, 'pod')} are more than a forecast tries on {count_noun(columns.n, 'node')}"
        return Forecast(workload, owner.replicas or 0, skipped=skipped)
    most_states = 1 + pods * (affordable // 2)  # before random runs: half of their time
    found = every_placement(new, max_states=most_states, runs=affordable)
    ran = Counter(
        columns.index[pod.node_name] for pod in running_pods(owner, start.owned) if pod.node_name in columns.index
    )
    symmetry = found.symmetry if found.basis.is_exact else None
    at_nodes = ranges_of(range(columns.n), {} if symmetry is None else symmetry.paths, found.counts)
    placed = range_of(outcome.total() + ran.total() for outcome in found.counts)
    return Forecast(
        workload,
        max(owner.replicas or pods, placed.most),
        placed,
        tuple(
            _forecast_of(counts, found.counts, ran, symmetry, is_hard=is_hard, is_default=not pod.cls.constraints)
            for counts, is_hard in counted
        ),
        {columns.nodes[at].name: _more(new, ran[at]) for at, new in at_nodes.items() if new.most or ran[at]},
        found.runs,
        found.basis,
        is_sampled,
    )


def _forecast_of(
    counts: DomainCounts,
    outcomes: Sequence[NodeCounts],
    ran: NodeCounts,
    symmetry: Optional[Symmetry],
    *,
    is_hard: bool,
    is_default: bool,
) -> ConstraintForecast:
    """Return the ranges of one constraint.

    Args:
        counts: before any pod is placed.
        outcomes: new pods by node.
        ran: the running pods by node.
        symmetry: the interchangeable nodes, if outcomes stand for others.
        is_hard: whether the constraint is.
        is_default: whether the workload has no constraints of its own.
    """
    constraint, values = counts.constraint, counts.topology.values
    codes: list[int] = counts.topology.codes.tolist()
    by_domain: list[Counter[int]] = []
    matching: dict[bytes, Int64s] = {}  # perf: many outcomes have equal numbers
    for outcome in outcomes:
        numbers, pods = np.array(counts.match_num), Counter[int]()
        for node, new in outcome.items():
            if codes[node] >= 0:
                pods[codes[node]] += new
                numbers[codes[node]] += new * constraint.self_match_num * int(counts.included[node])
        by_domain.append(pods)
        matching[numbers.tobytes()] = numbers
    signatures = {} if symmetry is None else symmetry.alike(constraint.topology_key)
    alike = {code: signatures[value] for code, value in enumerate(values) if value in signatures}
    ranges, already = ranges_of(range(len(values)), alike, by_domain), Counter[int]()
    for node, code in enumerate(codes):
        already[code] += ran[node]
    return ConstraintForecast(
        position=constraint.position,
        is_default=is_default,
        is_hard=is_hard,
        topology_key=constraint.topology_key,
        max_skew=constraint.max_skew,
        domains={
            values[code]: found
            for code in sorted(range(len(values)), key=values.__getitem__)
            if (found := _more(ranges[code], already[code])).most or counts.eligible[code]
        },
        skew=range_of(int(counts.now(numbers).skew or 0) for numbers in matching.values()),
    )


def _more(found: Range, number: int) -> Range:
    return Range(found.least + number, found.most + number)
