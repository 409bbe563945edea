"""Running pods that are or become uneven."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from kubectl_spread.cluster.facts import ConstraintFacts, PodsPerDomain
from kubectl_spread.lint.finding import RuleFinding, Severity
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import constraint_facts, hard_constraint_facts, with_fewest_replicas
from kubectl_spread.lint.rule import workload_rule
from kubectl_spread.lint.topology_keys import CAPACITY_TYPES
from kubectl_spread.lint.wording import has_or_have, list_names
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.selectors import HOSTNAME

_SHOWN = 6  # domains that a hint lists


@workload_rule("SPR908", "running-skew-exceeded", "running pods violate `maxSkew`", Severity.INFO, needs_facts=True)
def running_skew_exceeded(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints that the pods which run do not meet now."""
    for constraint, account in constraint_facts(subject, project):
        live = project.cluster.live(subject.workload, constraint)
        if live is None or live.skew is None or not account.counts_own or live.skew <= account.max_skew:
            continue
        against = (
            f"{list_names(live.minimum_in)} {has_or_have(live.minimum_in)} {live.minimum}"
            if live.minimum_in
            else f"there are fewer than {account.min_domains} domains, so the emptiest counts as 0"
        )
        yield RuleFinding(
            f"the running pods are unevenly spread: `{live.fullest}` has {live.most}, and {against}. That is a skew of "
            f"{live.skew}, and maxSkew is {account.max_skew}",
            subject.route(constraint, "maxSkew"),
            _hint(subject, project, constraint=constraint, most_apart=account.max_skew),
        )


def _hint(subject: Subject, project: Project, *, constraint: TopologySpreadConstraint, most_apart: int) -> str:
    """Return the hint, with the new placement if it satisfies the constraint."""
    what = "restart the workload or run the descheduler, as nothing else moves running pods"
    placed_again = project.cluster.place_again(subject.workload, constraint)
    counts = [number for _, number in placed_again.domains] if placed_again is not None else []
    if placed_again is None or not counts or len(counts) > _SHOWN or max(counts) - min(counts) > most_apart:
        return what
    shown = ", ".join(f"`{value}` {number}" for value, number in placed_again.domains)
    return (
        f"{what}; if they were placed again, the numbers {'would' if placed_again.is_certain else 'could'} be {shown}"
    )


@workload_rule(
    "SPR913",
    "soft-spread-lost",
    "pods end up less even than a ScheduleAnyway constraint asks for",
    Severity.INFO,
    needs_facts=True,
)
def soft_spread_lost(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find soft constraints that the placement does not meet, where there are no hard ones."""
    if subject.hard:
        return
    for constraint, account in constraint_facts(subject, project):
        if not subject.is_in_its_group(constraint) or _is_reported_otherwise(subject, constraint):
            continue
        workload = with_fewest_replicas(subject, project)
        spread = project.cluster.place(workload, constraint)
        message = None if spread is None else _message(spread, account, replicas=workload.replicas or 1)
        if message is not None:
            yield RuleFinding(
                message,
                subject.route(constraint, "whenUnsatisfiable"),
                "remove what outweighs it, or use DoNotSchedule",
            )


def _is_reported_otherwise(subject: Subject, constraint: TopologySpreadConstraint) -> bool:
    """Return whether nodes are the second key, as even zones make them uneven, or SPR313 is about the key."""
    is_second = constraint.topology_key == HOSTNAME and len(subject.constraints) > 1
    return is_second or constraint.topology_key in CAPACITY_TYPES


def _message(spread: PodsPerDomain, account: ConstraintFacts, *, replicas: int) -> Optional[str]:
    """Return the message; None if no domain ends up more than maxSkew above another."""
    usable = {domain.value for domain in account.domains if domain.usable}
    numbers = {value: number for value, number in spread.domains if value in usable}
    filled = [value for value, number in numbers.items() if number]
    if len(numbers) < 2 or not filled:
        return None
    counted = {domain.value: numbers[domain.value] + domain.matching for domain in account.domains if domain.usable}
    fullest = max(filled, key=lambda value: counted[value])
    emptiest = min(counted, key=lambda value: counted[value])
    if counted[fullest] - counted[emptiest] <= account.max_skew:
        return None
    ends = "ends" if spread.is_certain else "may end"
    pods = f"{counted[fullest]} of the {replicas} pods and `{emptiest}` with {counted[emptiest]}"
    if counted != numbers:
        pods = (
            f"{counted[fullest]} pods and `{emptiest}` with {counted[emptiest]}, including counted pods of "
            "other workloads"
        )
    return (
        f"`{fullest}` {ends} up with {pods}. That is a skew of {counted[fullest] - counted[emptiest]}, and maxSkew is "
        f"{account.max_skew}. ScheduleAnyway is only a preference, and other scores or a lack of room outweigh it"
    )


@workload_rule(
    "SPR914", "scale-down-skew", "scaling down leaves running pods beyond `maxSkew`", Severity.INFO, needs_facts=True
)
def scale_down_skew(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints that running pods meet now, and do not once there are as few as the files allow."""
    fewest = project.replicas(subject).minimum
    if not fewest:
        return
    for constraint, account in hard_constraint_facts(subject, project):
        now = project.cluster.live(subject.workload, constraint)
        then = project.cluster.scale_down(subject.workload, constraint, fewest)
        if now is None or then is None or now.skew is None or then.skew is None:
            continue
        if now.skew > account.max_skew or then.skew <= account.max_skew:
            continue
        yield RuleFinding(
            f"after scaling down to {fewest} at once, the pods are unevenly spread: at best `{then.fullest}` has "
            f"{then.most}, and {list_names(then.minimum_in)} {has_or_have(then.minimum_in)} {then.minimum}. That is a "
            f"skew of {then.skew}, and maxSkew is {account.max_skew}: a ReplicaSet removes pods by node, not by "
            "constraint",
            subject.route(constraint, "maxSkew"),
            "also spread over nodes, or restart the workload after scaling down",
        )
