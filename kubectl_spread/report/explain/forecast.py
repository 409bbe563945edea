"""A forecast as text: ranges of pods by domain, and how far a soft rule is exceeded."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from kubectl_spread.explain.requirements.collect import constraint_name
from kubectl_spread.objects.keys import Range
from kubectl_spread.report.wording import dashed, pods_by_domain
from kubectl_spread.simulate.forecast import ConstraintForecast, Forecast
from kubectl_spread.text.wording import count_noun, safe

_MOST_DOMAINS = 12
_MOST_NODES = 12


def lines(forecast: Forecast) -> list[str]:
    """Return the replicas' final places, by the domains of each constraint and by node."""
    where = f"Where the {count_noun(forecast.replicas, 'replica')} of {safe(forecast.workload.key)} would end up"
    if forecast.skipped:
        return [f"{where} is not forecast: {safe(forecast.skipped)}."]
    out = [f"{where}, {_basis(forecast)}:"]
    if forecast.placed != Range(forecast.replicas, forecast.replicas):
        out.append(f"  placed: {dashed(forecast.placed)} of {forecast.replicas}")
    for constraint in forecast.constraints:
        out += [f"  {line}" for line in _constraint(constraint)]
    if forecast.nodes:
        out.append(f"  nodes: {_counts(forecast.nodes, most=_MOST_NODES)}")
    return out


def _basis(forecast: Forecast) -> str:
    if forecast.basis.is_exact:
        return "for any choice among the best nodes"
    runs = f"over {count_noun(forecast.runs, 'run')}, each with another choice among the best nodes"
    if forecast.runs == 1:
        runs = "in one run, because a single node was always the best"
    if forecast.is_sampled:
        return (
            f"{runs}; in a cluster of this size the scheduler looks at only some of the nodes, so it may choose others"
        )
    return f"{runs}; other choices are possible"


def _constraint(constraint: ConstraintForecast) -> list[str]:
    name = constraint_name(constraint.position, is_default=constraint.is_default)
    counts = _counts(constraint.domains, most=_MOST_DOMAINS) or "no node that fits has this label"
    return [f"{name} ({safe(constraint.topology_key)}): {counts}", f"  {_skew(constraint)}"]


def _counts(ranges: Mapping[str, Range], *, most: int) -> str:
    """Return `a=3 b=1-2`."""
    first = {name: dashed(pods) for name, pods in itertools.islice(ranges.items(), most)}
    return pods_by_domain(first) + (f" and {len(ranges) - most} more" if len(ranges) > most else "")


def _skew(constraint: ConstraintForecast) -> str:
    """Return the final skew, compared with maxSkew."""
    skew, most = constraint.skew, constraint.max_skew
    if skew.most <= most:
        return f"skew {dashed(skew)}, within maxSkew {most}"
    soft = "" if constraint.is_hard else ": ScheduleAnyway does not prevent it"
    how = "exceeds" if skew.least > most else "may exceed"
    return f"skew {dashed(skew)}, {how} maxSkew {most}{soft}"
