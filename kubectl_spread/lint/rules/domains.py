"""Domains that constraints count, and the pods that they allow there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Optional, TYPE_CHECKING

from kubectl_spread.lint import corrections, queries
from kubectl_spread.lint.finding import Fix, rule, RuleFinding, Severity, UNSAFE
from kubectl_spread.lint.queries import (
    constraint_facts,
    hard_constraint_facts,
    has_one_domain,
    lacks_nowhere,
    outcome,
    shadowed_constraints,
    surge,
    Unreachable,
    unreachable_domains,
    with_fewest_replicas,
    with_field,
)
from kubectl_spread.lint.wording import domain, domains, in_domain, named_domains, node_reasons, stays_or_stay
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import HONOR, IGNORE, TopologySpreadConstraint
from kubectl_spread.objects.node import NodeReasonKind
from kubectl_spread.objects.selectors import HOSTNAME, ZONE
from kubectl_spread.text.edit import Put
from kubectl_spread.text.node import Route
from kubectl_spread.text.wording import count_noun, join_with_and

if TYPE_CHECKING:
    from kubectl_spread.cluster.facts import Impossible, PlacedReplicas
    from kubectl_spread.objects.workloads.workload import Workload
    from kubectl_spread.operations.known_cluster import KnownCluster


def find_conflict(subject: Subject) -> Optional[tuple[PlacedReplicas, Impossible]]:
    """Return why the hard constraints together leave a pod Pending; None if a placement exists or one alone does.

    It is the fewest replicas of a workload as `check` places them, and the best that any placement can do.
    """
    if subject.facts is None or not subject.hard or subject.refusals:
        return None
    became = outcome(subject)
    if became is None or not became.falls_short:
        return None
    # Other rules report one constraint or anti-affinity that alone leaves too little room.
    hard = [account for constraint, account in constraint_facts(subject) if constraint.is_hard]
    if not all(lacks_nowhere(account) for account in hard) or any(account.room < became.pods for account in hard):
        return None
    bound = queries.narrowest(subject)
    if bound is not None and bound.room < became.pods:
        return None
    best = subject.facts.impossible(with_fewest_replicas(subject))
    return None if best is None else (became, best)


@rule("SPR204", "`maxSkew` is so large that the constraint never refuses a node", Severity.WARNING)
def max_skew_never_binds(subject: Subject) -> Iterator[RuleFinding]:
    """Find hard constraints that no number of the workload's pods can violate."""
    most = subject.replicas.maximum
    if most is None or most < 2:
        return
    for constraint in subject.hard:
        pods = most + surge(subject, constraint, most)
        selector = subject.selector(constraint)
        if constraint.max_skew < pods or queries.keeps_apart(subject, constraint) is not None:
            continue  # SPR212
        is_alone = subject.matching(selector) == [subject]
        if is_alone if subject.has_pod else subject.names_itself(constraint):
            yield RuleFinding(
                f"there are at most {pods} pods, so maxSkew {constraint.max_skew} never refuses a node. All pods may "
                f"end up {in_domain('one', constraint.topology_key)}",
                subject.route(constraint, "maxSkew"),
                f"write 1, which spreads most evenly; any value below {pods} has an effect",
            )


@rule(
    "SPR207",
    "the pods can run in only one domain",
    Severity.WARNING,
    one_of=("nodeSelector", "affinity"),
)
def single_allowed_domain(subject: Subject) -> Iterator[RuleFinding]:
    """Find constraints over a label for which the pods accept only one value. SPR307 reports those with Ignore."""
    if subject.kind == "DaemonSet" or subject.spec.get("nodeName"):
        return  # SPR206, SPR210
    for constraint in subject.in_group:
        values = queries.node_values(subject, constraint.topology_key)
        if values is None or len(values) != 1 or constraint.node_affinity_policy == IGNORE:
            continue
        if subject.likely_group_size(constraint) in (0, 1):
            continue
        (value,) = values
        is_capped = constraint.is_hard and bool(queries.allowed_values(subject, constraint))
        effect = ". So the constraint spreads nothing"
        if is_capped:
            pods = count_noun(constraint.max_skew, "pod")
            effect = f", and minDomains {constraint.min_domains} asks for more domains. So only {pods} can run"
        cause: Route = (*subject.spec_route, "nodeSelector", constraint.topology_key)
        if subject.node(cause) is None:
            cause = (*subject.spec_route, "affinity", "nodeAffinity", queries.REQUIRED)
        # It is an error where pods stay Pending in every cluster.
        least = subject.replicas.minimum
        is_too_many = least is not None and least > constraint.max_skew and queries.stays_pending(subject)
        yield RuleFinding(
            f"the pods can only run where `{constraint.topology_key}` is `{value}`{effect}",
            subject.route(constraint, "topologyKey"),
            "allow more values, or remove the constraint",
            subject.related("allows only one value", cause, key=True),
            severity=Severity.ERROR if is_too_many and is_capped else None,
        )


@rule(
    "SPR211",
    "a ScheduleAnyway constraint has no effect next to a DoNotSchedule one",
    Severity.INFO,
    needs=("DoNotSchedule", "ScheduleAnyway"),
)
def soft_shadowed_by_hard(subject: Subject) -> Iterator[RuleFinding]:
    """Find soft constraints that a hard one with maxSkew 1 says already."""
    for soft, hard in shadowed_constraints(subject):
        yield RuleFinding(
            f"the DoNotSchedule constraint over `{hard.topology_key}` with maxSkew 1 already allows only the domains "
            "with the fewest pods, so this constraint has no effect",
            subject.route(soft, "whenUnsatisfiable"),
            "remove it, or give the other constraint a larger maxSkew",
            subject.related("the DoNotSchedule constraint", subject.route(hard, "maxSkew")),
        )


_FIELD = "nodeTaintsPolicy"


@rule(
    "SPR301",
    "cordoned and tainted nodes count as empty domains",
    Severity.WARNING,
    fixes=UNSAFE,
)
def tainted_nodes_counted(subject: Subject) -> Iterator[RuleFinding]:
    """Find hard constraints that leave nodeTaintsPolicy to its default."""
    is_tied = subject.kind == "DaemonSet" or subject.spec.get("nodeName")  # SPR206, SPR210
    if is_tied or queries.tolerates_all(subject) or not subject.target.stores(_FIELD):
        return
    for constraint in subject.hard:
        # The cluster facts may be about other labels only.
        if subject.facts is not None and (
            not subject.has_pod
            or subject.refusals
            or subject.facts.constraint_facts(subject.workload, constraint) is not None
        ):
            continue
        if constraint.node_taints_policy is None and _can_stall_at_empty_domain(subject, constraint):
            route = subject.route(constraint, _FIELD)
            is_zone, is_bounded = constraint.topology_key == ZONE, (constraint.min_domains or 1) > 1
            what = (_ZONES if is_zone else _NODES).format(count_noun(constraint.max_skew, "pod"), constraint.max_skew)
            yield RuleFinding(
                what if subject.has_pod else f"if labelSelector matches the pods, {what}",
                route,
                f"add {_FIELD}: {HONOR}{_FEWER.format(constraint.min_domains) if is_bounded else ''}",
                severity=Severity.INFO if is_zone or not subject.has_pod else None,
                fix=None if is_bounded else Fix(_LEAVE_OUT, (Put(route, HONOR),)),
            )


_LEAVE_OUT = "leave out nodes whose taints the pod does not tolerate"
# The minimum is 0 while fewer domains are eligible, so that pods on a cordoned node no longer make room for the next.
_FEWER = ", if at least {} untainted ones remain: with fewer of them than minDomains, the minimum counts as 0"
_NODES = (
    "a cordoned or tainted node still counts as an empty node. With maxSkew {1}, once each other node has {0}, the "
    "next pod stays Pending until that node is back"
)
_ZONES = (
    "a zone whose nodes are all cordoned or tainted still counts as an empty zone. With maxSkew {1}, once each other "
    "zone has {0}, the next pod stays Pending until a node of that zone is back"
)


def _can_stall_at_empty_domain(subject: Subject, constraint: TopologySpreadConstraint) -> bool:
    """Return whether a domain that stays at 0 can keep a pod Pending."""
    key = constraint.topology_key
    if key not in (HOSTNAME, ZONE) or constraint.max_skew < 1:
        return False
    if not (subject.is_in_its_group(constraint) if subject.has_pod else subject.may_count(constraint)):
        return False
    if queries.has_one_domain(subject, constraint):
        return False  # it is its own minimum
    if key == ZONE and queries.has_own_volumes(subject):
        return False  # each pod is tied to the zone of its volume, whatever the policy is
    if queries.keeps_apart(subject, constraint) or (key == HOSTNAME and any(queries.host_ports(subject))):
        return False  # a domain with one of the pods is refused anyway, and any other has room
    is_alone = not subject.has_pod
    pods = subject.replicas.likely if is_alone else subject.likely_group_size(constraint)
    return pods is None or constraint.max_skew < pods


_ALWAYS_FIT = 3  # pods: even two zones, one with a single node, can take them


@rule(
    "SPR304",
    "zone and hostname are both DoNotSchedule with `maxSkew` 1",
    Severity.WARNING,
    needs=("DoNotSchedule", "topology.kubernetes.io/zone", "kubernetes.io/hostname"),
    fixes=UNSAFE,
)
def hard_zone_and_hostname(subject: Subject) -> Iterator[RuleFinding]:
    """Find the pair of constraints."""
    by_key = {item.topology_key: item for item in subject.hard if item.max_skew == 1}
    pair = [by_key[key] for key in (ZONE, HOSTNAME) if key in by_key]
    if len(pair) < 2:
        return
    for constraint in pair:
        most, pods = subject.replicas.likely, subject.likely_group_size(constraint)
        if most is None or pods is None or subject.kind == "Pod":
            continue  # a single Pod may be counted with others that run
        if not subject.is_in_its_group(constraint) or pods + surge(subject, constraint, most) <= _ALWAYS_FIT:
            return
    if find_conflict(subject) is None:
        yield RuleFinding(
            "zone and hostname are both DoNotSchedule with maxSkew 1. If zones have different numbers of nodes, both "
            "cannot be satisfied together, and pods may stay Pending although nodes have room",
            subject.route(by_key[HOSTNAME], "whenUnsatisfiable"),
            "use ScheduleAnyway for this one",
            subject.related("the zone's constraint", subject.route(by_key[ZONE], "whenUnsatisfiable")),
            fix=corrections.soften(subject, by_key[HOSTNAME]),
        )


@rule(
    "SPR903",
    "a hard constraint counts a domain in which no node can run the pod",
    needs_facts=True,
    fixes=UNSAFE,
)
def unreachable_domain(subject: Subject) -> Iterator[RuleFinding]:
    """Find counted domains out of reach, and whether honouring taints would help."""
    for fault in unreachable_domains(subject):
        constraint, account, domains, _ = fault
        facts, fewest = subject.cluster, with_fewest_replicas(subject)
        helps = (
            constraint.node_taints_policy != HONOR
            and subject.target.stores("nodeTaintsPolicy")
            and _pending(facts, with_field(fewest, constraint, nodeTaintsPolicy=HONOR), fault) is not None
        )
        route = subject.route(constraint, "nodeTaintsPolicy")
        hint = "make room there, or use ScheduleAnyway"
        if helps:
            hint = "write nodeTaintsPolicy: Honor, so that tainted nodes do not count"
        elif (
            any(reason.kind is NodeReasonKind.CORDON for item in domains for reason in item.unusable_because)
            and _pending(facts.uncordoned(constraint.topology_key, domains), fewest, fault) == 0
        ):
            hint = "uncordon a node there, or use ScheduleAnyway"
        reasons = Counter(item.unusable_because for item in domains if item.unusable_because)
        why = f" ({'; '.join(node_reasons(reason) for reason, _ in reasons.most_common(2))})" if reasons else ""
        key = constraint.topology_key
        is_one = len(domains) == 1
        counts, its_count, it = ("counts", "its count", "it") if is_one else ("count", "the lowest count", "them")
        nowhere = "cannot run this pod" if key == HOSTNAME else f"no node in {it} can run this pod"
        where = named_domains(key, [item.value for item in domains])
        yield RuleFinding(
            f"{where} {counts} towards the skew, but {nowhere}{why}. So {its_count} stays {account.minimum}. With "
            f"maxSkew {account.max_skew}, once every other {domain(key)} has "
            f"{count_noun(account.most_in_a_domain, 'pod')}, the next pod stays Pending",
            subject.route(fault.constraint, "topologyKey"),
            hint,
            severity=fault.severity,
            fix=Fix("count only nodes whose taints the pod tolerates", (Put(route, HONOR),)) if helps else None,
        )


def _pending(facts: KnownCluster, workload: Workload, fault: Unreachable) -> Optional[int]:
    """Return how many pods stay Pending after a change of the cluster or the workload; None if it makes no room."""
    after, room = facts.constraint_facts(workload, fault.constraint), fault.account.room
    became = None if after is None or after.room <= room else facts.outcome(workload)
    return None if became is None or became.pending > max(0, became.pods - room - 1) else became.pending


@rule(
    "SPR905",
    "a hard constraint has only one domain, so it refuses nothing",
    Severity.WARNING,
    needs_facts=True,
)
def single_eligible_domain(subject: Subject) -> Iterator[RuleFinding]:
    """Find hard constraints that compare one domain with itself."""
    most = subject.replicas.maximum
    for constraint, account in hard_constraint_facts(subject):
        if (
            len(account.counted_domains) != 1
            or account.is_below_min_domains
            or (most is not None and most <= account.max_skew)
        ):
            continue
        (only,) = account.counted_domains
        if not only.usable or has_one_domain(subject, constraint):
            continue  # SPR207 says the latter
        number, key = len(account.domains), constraint.topology_key
        alone = f"the only {domain(key)}" if number == 1 else f"the only one of {domains(number, key)} that counts"
        yield RuleFinding(
            f"`{only.value}` is {alone}, so the constraint refuses nothing, and all pods may go there",
            subject.route(constraint, "topologyKey"),
            "write minDomains: 2, so that pods beyond maxSkew wait for a second one",
        )


@rule(
    "SPR907",
    "no placement of the replicas satisfies all constraints together",
    needs_facts=True,
)
def combined_unsatisfiable(subject: Subject) -> Iterator[RuleFinding]:
    """Find hard constraints without which all pods find nodes, and with which no order of placing them does."""
    found = find_conflict(subject)
    if found is None:
        return
    (became, best), hard = found, subject.hard
    helping = [subject.constraints[position] for position in best.helping]
    blamed = helping[-1] if helping else hard[-1]
    others = [item for item in hard if item is not blamed]
    because = f" (conflict: {join_with_and(became.conflict)})" if became.conflict else ""
    left = became.pods - best.most
    keys = list(dict.fromkeys(f"`{item.topology_key}`" for item in helping))
    yield RuleFinding(
        f"the constraints cannot be satisfied together{because}. So {left} of {count_noun(became.pods, 'pod')} "
        f"{stays_or_stay(left)} Pending however the pods are placed"
        if best.most
        else f"no node satisfies all constraints together{because}. So all pods stay Pending",
        subject.route(blamed, "topologyKey"),
        f"use ScheduleAnyway for {' or '.join(keys) or 'every constraint'}: then all pods find a node",
        subject.related("conflicts with this one", *(subject.route(item, "topologyKey") for item in others)),
    )


@rule(
    "SPR303",
    "`minDomains` is more than the number of pods",
    Severity.INFO,
    needs=("minDomains",),
)
def min_domains_above_replicas(subject: Subject) -> Iterator[RuleFinding]:
    """Find hard constraints whose minimum is 0 in every cluster."""
    replicas = subject.replicas.maximum
    if replicas is None or replicas < 2 or not subject.target.stores("minDomains"):
        return
    for constraint in subject.hard_in_group:
        group = subject.group_size(constraint)
        if group is None or constraint.min_domains is None:
            continue
        pods = group + surge(subject, constraint, replicas)
        if constraint.min_domains > pods:
            route, key = subject.route(constraint, "minDomains"), constraint.topology_key
            facts = None if subject.facts is None else subject.facts.constraint_facts(subject.workload, constraint)
            reached = pods if facts is None else min(pods, len(facts.counted_domains) or pods)
            yield RuleFinding(
                f"minDomains {constraint.min_domains} is more than the {pods} pods, so the emptiest {domain(key)} "
                f"always counts as 0. Each {domain(key)} takes at most {count_noun(constraint.max_skew, 'pod')} in "
                "every cluster",
                route,
                f"write {reached} or less, so that {domain(key, plural=True)} are compared with each other",
            )


@rule("SPR312", "node affinity allows fewer domains than `minDomains`", needs=("minDomains",))
def min_domains_out_of_reach(subject: Subject) -> Iterator[RuleFinding]:
    """Find hard constraints that wait for a domain which no node may be in."""
    for constraint in subject.hard:
        values = queries.allowed_values(subject, constraint)
        if not values or len(values) < 2:
            continue
        replicas = subject.replicas
        least, most = replicas.minimum, replicas.maximum
        room = len(values) * constraint.max_skew
        if most is not None and most + surge(subject, constraint, most) <= room:
            continue
        yield RuleFinding(
            f"node affinity allows {len(values)} values of `{constraint.topology_key}`, fewer than minDomains "
            f"{constraint.min_domains}, so each takes at most {count_noun(constraint.max_skew, 'pod')}. At most "
            f"{count_noun(room, 'pod')} can run in any cluster, and further pods stay Pending",
            subject.route(constraint, "minDomains"),
            f"write minDomains: {len(values)}, or allow more values",
            severity=None
            if least is not None and least > room and queries.stays_pending(subject)
            else Severity.WARNING,
        )


@rule(
    "SPR904",
    "there are fewer domains than `minDomains`, and too few for the replicas",
    needs=("minDomains",),
    needs_facts=True,
)
def too_few_domains(subject: Subject) -> Iterator[RuleFinding]:
    """Find hard constraints that wait for a domain which the cluster does not have."""
    for constraint, account in hard_constraint_facts(subject):
        number, key = len(account.counted_domains), constraint.topology_key
        if not account.is_below_min_domains or not number or queries.allowed_values(subject, constraint):
            continue
        became = outcome(subject)
        if became is None or not became.falls_short or became.pods <= account.room:
            continue
        left = became.pods - account.room
        there_are = "is" if number == 1 else "are"
        yield RuleFinding(
            f"there {there_are} {domains(number, key)}, fewer than minDomains {account.min_domains}, so each takes at "
            f"most {count_noun(account.max_skew, 'pod')}, and {left} of {count_noun(became.pods, 'pod')} "
            f"{stays_or_stay(left)} Pending",
            subject.route(constraint, "minDomains"),
            f"add nodes in another {domain(key)}, or write minDomains: {number}",
        )
