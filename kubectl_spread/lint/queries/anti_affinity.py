"""Required anti-affinity of a workload's pods to each other, on the nodes of a cluster."""

from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.pod_requirements import REQUIRED
from kubectl_spread.lint.workload import Subject
from kubectl_spread.text.node import Route

if TYPE_CHECKING:  # without cluster facts there are none of these
    from kubectl_spread.cluster.facts import AntiAffinity


def narrowest(subject: Subject, project: Project) -> Optional[AntiAffinity]:
    """Return the anti-affinity that lets the fewest pods in."""
    if project.facts is None or subject.refusals:
        return None
    return min(project.facts.anti_affinities(subject.workload), key=lambda bound: bound.room, default=None)


def route_of(subject: Subject, bound: AntiAffinity) -> Route:
    """Return the route of the term's topologyKey."""
    return (*subject.spec_route, "affinity", "podAntiAffinity", REQUIRED, bound.position, "topologyKey")
