"""Running pods that are or become uneven."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding, Severity
from kubectl_spread.lint.queries import constraint_facts, hard_constraint_facts, with_fewest_replicas
from kubectl_spread.lint.rule import rule
from kubectl_spread.lint.topology_keys import CAPACITY_TYPES
from kubectl_spread.lint.wording import has_or_have, list_names
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.selectors import HOSTNAME

_SHOWN = 6  # domains that a hint lists


@rule("SPR908", "running pods violate `maxSkew`", Severity.INFO, needs_facts=True)
def running_skew_exceeded(subject: Subject) -> Iterator[RuleFinding]:
    """Find hard constraints that the pods which run do not meet now."""
    for constraint, account in constraint_facts(subject):
        live = subject.cluster.live(subject.workload, constraint)
        if live is None or live.skew is None or not account.counts_own or live.skew <= account.max_skew:
            continue
        against = (
            f"{list_names(live.minimum_in)} {has_or_have(live.minimum_in)} {live.minimum}"
            if live.minimum_in
            else f"there are fewer than {account.min_domains} domains, so the emptiest counts as 0"
        )
        hint = "`kubectl spread rebalance` with the same flags says what to do, as nothing else moves the pods"
        again = subject.cluster.place_again(subject.workload, constraint)
        others = {item.value: item.matching for item in account.domains}
        counts = {} if again is None else {value: number + others.get(value, 0) for value, number in again.domains}
        numbers = counts.values()
        if again is not None and 0 < len(counts) <= _SHOWN and max(numbers) - min(numbers) <= account.max_skew:
            shown = ", ".join(f"`{value}` {number}" for value, number in counts.items())
            hint += f"; if they were placed again, the numbers {'would' if again.is_certain else 'could'} be {shown}"
        yield RuleFinding(
            f"the running pods are unevenly spread: `{live.fullest}` has {live.most}, and {against}. That is a skew of "
            f"{live.skew}, and maxSkew is {account.max_skew}",
            subject.route(constraint, "maxSkew"),
            hint,
        )


@rule(
    "SPR913",
    "pods end up less even than a ScheduleAnyway constraint asks for",
    Severity.INFO,
    needs_facts=True,
)
def soft_spread_lost(subject: Subject) -> Iterator[RuleFinding]:
    """Find soft constraints that the placement does not meet, where there are no hard ones."""
    if subject.hard:
        return
    for constraint, account in constraint_facts(subject):
        # Even zones make nodes uneven, and SPR313 is about the keys of capacity.
        is_second = constraint.topology_key == HOSTNAME and len(subject.constraints) > 1
        if is_second or constraint.topology_key in CAPACITY_TYPES or not subject.is_in_its_group(constraint):
            continue
        workload = with_fewest_replicas(subject)
        spread = subject.cluster.place(workload, constraint)
        usable = {domain.value: domain.matching for domain in account.domains if domain.usable}
        numbers = {value: number for value, number in (spread.domains if spread else ()) if value in usable}
        filled = [value for value, number in numbers.items() if number]
        if spread is None or len(numbers) < 2 or not filled:
            continue
        counted = {value: numbers[value] + matching for value, matching in usable.items()}
        fullest = max(filled, key=lambda value: counted[value])
        emptiest = min(counted, key=lambda value: counted[value])
        most, least = counted[fullest], counted[emptiest]
        if most - least <= account.max_skew:
            continue
        of_all, others = f" of the {workload.replicas or 1}", ""
        if counted != numbers:
            of_all, others = "", ", including counted pods of other workloads"
        yield RuleFinding(
            "ScheduleAnyway is only a preference, and other scores or a lack of room outweigh it. "
            f"`{fullest}` {'ends' if spread.is_certain else 'may end'} up with {most}{of_all} pods and `{emptiest}` "
            f"with {least}{others}. That is a skew of {most - least}, and maxSkew is {account.max_skew}",
            subject.route(constraint, "whenUnsatisfiable"),
            "remove what outweighs it, or use DoNotSchedule",
        )


@rule("SPR914", "scaling down leaves running pods beyond `maxSkew`", Severity.INFO, needs_facts=True)
def scale_down_skew(subject: Subject) -> Iterator[RuleFinding]:
    """Find hard constraints that running pods meet now, and do not once there are as few as the files allow."""
    fewest = subject.replicas.minimum
    if not fewest:
        return
    for constraint, account in hard_constraint_facts(subject):
        now = subject.cluster.live(subject.workload, constraint)
        then = subject.cluster.scale_down(subject.workload, constraint, fewest)
        if now is None or then is None or now.skew is None or then.skew is None:
            continue
        if now.skew > account.max_skew or then.skew <= account.max_skew:
            continue
        yield RuleFinding(
            f"a ReplicaSet removes pods by node, not by constraint. After scaling down to {fewest} at once, at best "
            f"`{then.fullest}` has {then.most}, and {list_names(then.minimum_in)} {has_or_have(then.minimum_in)} "
            f"{then.minimum}. That is a skew of {then.skew}, and maxSkew is {account.max_skew}",
            subject.route(constraint, "maxSkew"),
            "also spread over nodes, or restart the workload after scaling down",
        )
