"""Running pods are further apart than `maxSkew`.

A constraint is looked at when a pod is scheduled, and never again: pods that end, nodes that come and rolling updates
leave the others where they are. New pods go to the emptiest domains, and until these have caught up the fullest one
gets none; one that cannot catch up keeps pods Pending.

The descheduler's `RemovePodsViolatingTopologySpreadConstraint`, or a restart of the workload, spreads them anew.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.accounts import accounts
from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.subject import Subject
from kubectl_spread.lint.wording import named


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find hard constraints that the pods which run do not meet now."""
    for constraint, account in accounts(subject, project):
        live = project.facts.live(subject.workload, constraint) if project.facts is not None else None
        if live is None or not account.counts_own or live.skew <= account.max_skew:
            continue
        against = (
            f"{named(live.emptiest)} {live.least}" if live.emptiest else f"fewer than {account.min_domains} domains"
        )
        route = subject.route(constraint, "maxSkew")
        yield Found(
            f"running pods have a skew of {live.skew}: `{live.fullest}` has {live.most}, {against}, "
            f"maxSkew is {account.max_skew}",
            subject.place(route),
            subject.path(route),
            "nothing moves them: restart the workload, or let the descheduler do it",
        )
