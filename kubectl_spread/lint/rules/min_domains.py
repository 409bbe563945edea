"""Domains that `minDomains` asks for."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding, Severity
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import pod_requirements
from kubectl_spread.lint.queries.on_cluster import hard_constraint_facts, outcome
from kubectl_spread.lint.queries.rollout import surge
from kubectl_spread.lint.rule import (
    workload_rule,
)
from kubectl_spread.lint.wording import domain, domains, stays_or_stay
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.releases import field_versions
from kubectl_spread.text.wording import count_noun


@workload_rule(
    "SPR303",
    "min-domains-above-replicas",
    "`minDomains` is more than the number of pods",
    Severity.INFO,
    needs=("minDomains",),
)
def min_domains_above_replicas(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints whose minimum is 0 in every cluster."""
    replicas = project.replicas(subject).maximum
    if replicas is None or replicas < 2 or not field_versions.stores("minDomains", project.target.minor):
        return
    for constraint in subject.hard:
        group = project.group_size(subject, constraint)
        if group is None or constraint.min_domains is None or not subject.is_in_its_group(constraint):
            continue
        pods = group + surge(subject, constraint, replicas)
        if constraint.min_domains > pods:
            route, key = subject.route(constraint, "minDomains"), constraint.topology_key
            yield RuleFinding(
                f"each {domain(key)} takes at most {count_noun(constraint.max_skew, 'pod')} in every cluster: "
                f"minDomains {constraint.min_domains} is more than the {pods} pods, so the emptiest {domain(key)} "
                "always counts as 0",
                subject.place(route),
                subject.path(route),
                f"write {pods} or less, so that {domain(key, plural=True)} are compared with each other",
            )


@workload_rule(
    "SPR312", "min-domains-out-of-reach", "node affinity allows fewer domains than `minDomains`", needs=("minDomains",)
)
def min_domains_out_of_reach(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints that wait for a domain which no node may be in."""
    for constraint in subject.hard:
        values = pod_requirements.allowed_values(subject, constraint, project)
        if not values or len(values) < 2:
            continue
        replicas = project.replicas(subject)
        least, most = replicas.minimum, replicas.maximum
        room = len(values) * constraint.max_skew
        if most is not None and most + surge(subject, constraint, most) <= room:
            continue
        route = subject.route(constraint, "minDomains")
        yield RuleFinding(
            f"at most {count_noun(room, 'pod')} can run in any cluster, and further pods stay Pending. Node affinity "
            f"allows {len(values)} values of `{constraint.topology_key}`, fewer than minDomains "
            f"{constraint.min_domains}, so each takes at most {count_noun(constraint.max_skew, 'pod')}",
            subject.place(route),
            subject.path(route),
            f"write minDomains: {len(values)}, or allow more values",
            severity=None
            if least is not None and least > room and pod_requirements.stays_pending(subject)
            else Severity.WARNING,
        )


@workload_rule(
    "SPR904",
    "too-few-domains",
    "there are fewer domains than `minDomains`, and too few for the replicas",
    needs=("minDomains",),
    needs_facts=True,
)
def too_few_domains(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints that wait for a domain which the cluster does not have."""
    for constraint, account in hard_constraint_facts(subject, project):
        number, key = len(account.counted_domains), constraint.topology_key
        if (
            not account.is_below_min_domains
            or not number
            or pod_requirements.allowed_values(subject, constraint, project)
        ):
            continue
        became = outcome(subject, project)
        if became is None or not became.falls_short or became.pods <= account.room:
            continue
        route = subject.route(constraint, "minDomains")
        left = became.pods - account.room
        there_are = "is" if number == 1 else "are"
        yield RuleFinding(
            f"{left} of {count_noun(became.pods, 'pod')} {stays_or_stay(left)} Pending: there {there_are} "
            f"{domains(number, key)}, fewer than minDomains {account.min_domains}, so each takes at most "
            f"{count_noun(account.max_skew, 'pod')}",
            subject.place(route),
            subject.path(route),
            f"add nodes in another {domain(key)}, or write minDomains: {number}",
        )
