"""Hard constraints that no placement of the replicas satisfies together."""

from __future__ import annotations

from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import anti_affinity
from kubectl_spread.lint.queries.on_cluster import constraint_facts, lacks_nowhere, outcome, with_fewest_replicas
from kubectl_spread.lint.workload import Subject

if TYPE_CHECKING:  # without cluster facts there are none of these
    from kubectl_spread.cluster.facts import Impossible, PlacedReplicas


class Unsatisfiable(NamedTuple):
    """The fewest replicas of a workload as `check` places them, and the best that any placement can do."""

    outcome: PlacedReplicas
    best: Impossible


def find_conflict(subject: Subject, project: Project) -> Optional[Unsatisfiable]:
    """Return why the hard constraints together leave a pod Pending; None if a placement exists or one alone does."""
    if project.facts is None or not subject.hard or subject.refusals:
        return None
    became = outcome(subject, project)
    if became is None or not became.falls_short or _has_single_cause(subject, project, pods=became.pods):
        return None
    best = project.facts.impossible(with_fewest_replicas(subject, project))
    return None if best is None else Unsatisfiable(became, best)


def _has_single_cause(subject: Subject, project: Project, *, pods: int) -> bool:
    """Return whether one constraint or anti-affinity alone leaves too little room, which other rules report."""
    hard = [account for constraint, account in constraint_facts(subject, project) if constraint.is_hard]
    if not all(lacks_nowhere(account) for account in hard) or any(account.room < pods for account in hard):
        return True
    bound = anti_affinity.narrowest(subject, project)
    return bound is not None and bound.room < pods
