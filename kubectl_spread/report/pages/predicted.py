"""Pictures for `check`: each workload in the cluster after the prediction, or as it runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.report.check import rollouts
from kubectl_spread.report.check import workloads as placement_text
from kubectl_spread.report.check.report import CheckReport, PageFacts
from kubectl_spread.report.pages import status
from kubectl_spread.report.pages.pods import ClusterPods
from kubectl_spread.simulate.placement import Placement
from kubectl_spread.simulate.predicted import PredictedCluster, predictions
from kubectl_spread.simulate.rollouts.result import RolloutResult
from kubectl_spread.simulate.running.status import statuses, WorkloadStatus

Picture = dict[str, Any]


def pictures(report: CheckReport, facts: PageFacts, cluster: Cluster) -> list[Picture]:
    """Return a picture of each placed workload; those with problems first."""
    left = {item.key: item for item in report.rollouts if not item.is_creation}
    found: list[tuple[bool, Picture]] = []
    for predicted in predictions(cluster, report.placements):
        pods = ClusterPods(predicted.cluster, predicted.new, unpredicted=predicted.unpredicted)
        for item in _statuses(predicted, facts):
            placement = predicted.placements[item.key]
            picture = status.picture(item, predicted.cluster, pods)
            rollout = left.get(item.key)
            is_troubled = _is_troubled(placement) or (rollout is not None and rollout.is_stuck)
            found.append((is_troubled, _with_placement(picture, placement, rollout)))
    return [picture for is_troubled, picture in sorted(found, key=lambda entry: not entry[0])]


def _statuses(predicted: PredictedCluster, facts: PageFacts) -> Iterable[WorkloadStatus]:
    return statuses(predicted.cluster, facts.profiles, wants=lambda key, _: key in predicted.placements)


def running_pictures(facts: PageFacts, cluster: Cluster) -> list[Picture]:
    """Return a picture of each running workload with constraints; those with problems first."""
    pods = ClusterPods(cluster)
    wants = facts.wants or (lambda *_: False)
    found = [item for item in statuses(cluster, facts.profiles, wants=wants) if item.has_own or not item.is_fine]
    return [
        status.picture(item, cluster, pods) for item in sorted(found, key=status.rank)[: status.most_pictures(cluster)]
    ]


def _is_troubled(placement: Placement) -> bool:
    return bool(placement.pending or placement.refused or placement.on_missing_nodes)


def _with_placement(picture: Picture, placement: Placement, rollout: Optional[RolloutResult]) -> Picture:
    """Return the picture with the words of the placement instead of those of a running workload."""
    title, _, numbers = placement_text.headline(placement, colour=False).partition(": ")
    words, tone = _badge(placement)
    return {
        **picture,
        "name": title,
        "namespace": "",
        "badge": words,
        "tone": tone,
        "numbers": numbers,
        "messages": [],
        "lines": as_paragraphs(
            [
                *placement_text.details(placement, colour=False),
                *(rollouts.of_placement(rollout, colour=False) if rollout is not None else ()),
            ]
        ),
    }


def as_paragraphs(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Return indented lines as texts with their indentation, 0 for the lines below a heading."""
    return [
        {"text": line.strip(), "indent": min(2, max(0, (len(line) - len(line.lstrip())) // 2 - 1))} for line in lines
    ]


def _badge(placement: Placement) -> tuple[str, str]:
    if placement.pending:
        return f"{len(placement.pending)} Pending", "bad"
    if placement.refused:
        return f"{len(placement.refused)} refused", "bad"
    if placement.on_missing_nodes:
        return "on missing nodes", "bad"
    if placement.gated:
        return "gated", "warn"
    if placement.unpredicted:
        return "not predictable", "warn"
    return "placed", "good"
