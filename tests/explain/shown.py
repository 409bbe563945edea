"""What `explain` shows of a pod's constraints and conflicts, for objects of a test."""

from __future__ import annotations

import copy
import json
from typing import Any, Optional

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.explain.explanation import explain, Explanation
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.releases.version import nearest_release, release_of
from kubectl_spread.report.explain import constraints, verdict
from kubectl_spread.report.table import Style
from kubectl_spread.scheduler.profiles import profiles

Plain = dict[str, Any]


def explained(objects: list[Plain], incoming: Plain, *, config: str = "") -> Explanation:
    """The pod explained as the command does it."""
    cluster = cluster_of(copy.deepcopy([*objects, incoming]))
    return explain(
        read.pod(incoming),
        cluster,
        profiles(json.loads(config) if config else None, nearest_release(release_of("1.36"))),
    )


def constraint_text(explanation: Explanation, *, width: Optional[int] = None) -> str:
    """The accounts of all constraints."""
    style = Style(width or 1_000, is_detailed=True)
    return "\n".join(line for report in explanation.constraints for line in constraints.lines(report, style))


def conflict_text(explanation: Explanation, *, width: Optional[int] = None) -> str:
    """The sets that leave no node."""
    return "\n".join(verdict.conflict_lines(explanation, Style(width)))
