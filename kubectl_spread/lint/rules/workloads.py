"""Workloads whose constraints spread nothing, differ within a group, or whose running pods are or become uneven."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint import corrections
from kubectl_spread.lint.finding import Knowledge, Label, rule, RuleFinding, Severity, UNSAFE
from kubectl_spread.lint.project import fields_to_compare, first_difference
from kubectl_spread.lint.queries import constraint_facts, hard_constraint_facts, with_fewest_replicas
from kubectl_spread.lint.topology_keys import CAPACITY_TYPES
from kubectl_spread.lint.wording import has_or_have, list_names
from kubectl_spread.lint.workload import FIELD, is_live, Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors import HOSTNAME
from kubectl_spread.objects.workloads.workload import POD_TEMPLATE_HASH, REPLICATED_KINDS


@rule("SPR205", "constraints on a workload with one replica spread nothing", Severity.INFO, fixes=UNSAFE)
def single_replica(subject: Subject) -> Iterator[RuleFinding]:
    """Find workloads all of whose constraints count a single pod."""
    count = subject.replicas
    if (subject.has_pod and subject.kind not in REPLICATED_KINDS) or count.maximum != 1 or not subject.constraints:
        return
    if all(_is_about_it_alone(subject, constraint) for constraint in subject.constraints):
        where = list(count.origins)
        if subject.has_pod and not where:
            where.append(subject.place(("spec", "replicas")))
        is_fixed = subject.has_pod and not count.autoscaler and not subject.is_overlaid
        yield RuleFinding(
            "there is only 1 replica, so the constraints spread nothing",
            (*subject.holder, FIELD),
            f"remove {FIELD}",
            () if count.autoscaler else tuple(Label(place, "the number of replicas") for place in where),
            fix=corrections.without_constraints(subject) if is_fixed else None,
            key=True,
        )


def _is_about_it_alone(subject: Subject, constraint: TopologySpreadConstraint) -> bool:
    """Return whether no pod of another workload can be counted."""
    if not subject.has_pod:
        return subject.names_itself(constraint)
    if not subject.is_in_its_group(constraint) or subject.group_size(constraint) != 1:
        return False
    if subject.kind == "Deployment" and POD_TEMPLATE_HASH in constraint.match_label_keys:
        return True
    asked = {item.key for item in subject.selector(constraint).requirements or () if item.operator == "In"}
    return bool(subject.own_labels) and subject.own_labels.keys() <= asked


@rule(
    "SPR206",
    "constraints on a DaemonSet spread nothing",
    Severity.WARNING,
    needs=("DaemonSet",),
    fixes=UNSAFE,
)
def daemonset(subject: Subject) -> Iterator[RuleFinding]:
    """Find constraints whose pods are tied to a node each."""
    if subject.constraints:
        yield RuleFinding(
            "each pod of a DaemonSet is tied to one node, so the constraints have no effect",
            subject.list_route,
            f"remove {FIELD}",
            fix=corrections.without_constraints(subject),
            key=True,
        )


@rule("SPR210", "`nodeName` is set, so the scheduler never sees the pod", needs=("nodeName",))
def node_name_set(subject: Subject) -> Iterator[RuleFinding]:
    """Find constraints on pods that bypass the scheduler."""
    is_bound = subject.kind == "Pod" and is_live(subject.manifest)  # the scheduler may have written it
    if subject.constraints and subject.spec.get("nodeName") and not is_bound:
        yield RuleFinding(
            f"nodeName bypasses the scheduler, so all pods go to node `{subject.spec['nodeName']}`, whatever the "
            "constraints say",
            (*subject.spec_route, "nodeName"),
            "remove nodeName; nodeSelector or node affinity lets the scheduler choose",
        )


@rule(
    "SPR501",
    "workloads that are counted together have different constraints",
    Severity.WARNING,
    speaks_from=Knowledge.KNOWN,
    around=("NodePool",),
)
def inconsistent_group(subject: Subject) -> Iterator[RuleFinding]:
    """Find the first constraint that differs from an earlier workload's constraint over the same pods."""
    for constraint in subject.in_group:
        group = subject.neighbours(constraint)
        for other in group.twins(subject, constraint):
            # The constraint with the same action if there is one.
            twin = other.constraints.get(constraint.when_unsatisfiable)
            ours = [item for item in subject.constraints if item.topology_key == constraint.topology_key]
            if twin is None and len(other.constraints) == len(ours) == 1:
                (twin,) = other.constraints.values()
            found = None if twin is None else first_difference(constraint, twin)
            if found is not None and twin is not None:
                name, value = found
                what = f"{name} {dict(fields_to_compare(twin))[name]} in {other.subject.title}"
                there = Label(other.subject.place(other.subject.route(twin, name)), what)
                either = ". Karpenter takes either number for all of them, which may differ from round to round"
                either = either if name == "minDomains" and subject.has_karpenter else ""
                yield RuleFinding(
                    f"the same pods are counted with {there.text}, here with {name} {value}{either}",
                    subject.route(constraint, name),
                    "give all workloads of a group the same constraints, or each a selector of its own",
                    (there,),
                )
                return


@rule(
    "SPR508",
    "constraints on a Job that runs one pod at a time spread nothing",
    Severity.INFO,
    one_of=("Job", "CronJob"),
    fixes=UNSAFE,
)
def serial_job(subject: Subject) -> Iterator[RuleFinding]:
    """Find constraints on Jobs that are alone and serial."""
    spec = subject.controller
    # No two Jobs of this manifest may run side by side.
    is_alone = bool(fields(subject.manifest.plain, "metadata").get("name"))
    if subject.kind == "CronJob":
        is_alone = spec.get("concurrencyPolicy") in ("Forbid", "Replace")
        spec = fields(spec, "jobTemplate", "spec")
    parallelism, completions = spec.get("parallelism"), spec.get("completions")
    at_once = 1 if parallelism is None else int(parallelism)
    if completions is not None:
        at_once = min(at_once, int(completions))
    if not is_alone or at_once != 1 or not subject.constraints:
        return
    for constraint in subject.constraints:
        matching = subject.matching(subject.selector(constraint))
        if any(other.workload.key != subject.workload.key for other in matching):
            return
    yield RuleFinding(
        f"this {subject.kind} runs one pod at a time, so the constraints spread nothing",
        subject.list_route,
        f"remove {FIELD}, or raise parallelism",
        fix=corrections.without_constraints(subject),
        key=True,
    )


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
