"""Questions about a workload that several rules ask: what its pods require, its rollouts, and facts of a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.cluster.facts import ConstraintFacts, DomainFacts
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.workload import FIELD, Subject
from kubectl_spread.objects.constraints import constraint as constraint_reader
from kubectl_spread.objects.constraints.constraint import HONOR, IGNORE, TopologySpreadConstraint
from kubectl_spread.objects.reading.plain import fields, mappings, Plain, strings, value_at
from kubectl_spread.objects.resources import percentage, scaled_value
from kubectl_spread.objects.selectors import compile_selector, LabelRequirement, Selector
from kubectl_spread.objects.workloads.workload import POD_TEMPLATE_HASH, Workload
from kubectl_spread.text.node import Route

if TYPE_CHECKING:
    from kubectl_spread.cluster.facts import AntiAffinity, PlacedReplicas


REQUIRED, PREFERRED = (f"{kind}DuringSchedulingIgnoredDuringExecution" for kind in ("required", "preferred"))


def tolerates_all(subject: Subject) -> bool:
    """Return whether the pods tolerate every NoSchedule taint, including a cordoned node's."""
    return any(
        entry.get("operator") == "Exists" and not entry.get("key") and entry.get("effect") in (None, "", "NoSchedule")
        for entry in mappings(subject.spec.get("tolerations"))
    )


def node_values(subject: Subject, key: str) -> Optional[frozenset[str]]:
    """Return the values of a node label that nodeSelector and node affinity allow; None for any."""
    named = fields(subject.spec, "nodeSelector").get(key)
    selected = None if named is None else frozenset({named})
    affinity = fields(subject.spec, "affinity", "nodeAffinity")
    terms = mappings(fields(affinity, REQUIRED).get("nodeSelectorTerms"))
    values = [_term_values(term, key) for term in terms]
    if not values or None in values:  # one of the terms must hold
        return selected
    affine = frozenset[str]().union(*(item for item in values if item is not None))
    return affine if selected is None else selected & affine


def has_own_volumes(subject: Subject) -> bool:
    """Return whether each pod has volumes of its own, which may tie it to a zone."""
    if subject.workload.claim_templates:
        return True
    of_volumes = ("storage", "volumeclaim", "persistence", "datavolumeclaim")
    holder = fields(value_at(subject.manifest.plain, subject.holder))
    return not subject.has_pod and any(name.lower().startswith(of_volumes) for name in holder)


def has_one_domain(subject: Subject, constraint: TopologySpreadConstraint) -> bool:
    """Return whether the pods accept one value of a constraint's key only, and no other domain is counted."""
    values = None if constraint.node_affinity_policy == IGNORE else node_values(subject, constraint.topology_key)
    return values is not None and len(values) < 2


class Term(NamedTuple):
    """An affinity or anti-affinity term to other pods, and the route of the term; `selector` has its keys merged in."""

    plain: Plain
    is_required: bool
    repels: bool
    route: Route
    selector: Selector

    @property
    def topology_key(self) -> str:
        return self.plain.get("topologyKey") or ""


def terms(subject: Subject) -> Iterator[Term]:
    """Yield the terms of pod affinity and anti-affinity, preferred ones included."""
    for kind in ("podAffinity", "podAntiAffinity"):
        held = fields(subject.spec, "affinity").get(kind) or {}
        route, repels = (*subject.spec_route, "affinity", kind), kind == "podAntiAffinity"
        for when, below in ((REQUIRED, ()), (PREFERRED, ("podAffinityTerm",))):
            for index, entry in enumerate(mappings(held.get(when))):
                term = fields(entry, *below)
                keys = [key for key in term.get("matchLabelKeys") or () if key in subject.labels]
                selector = compile_selector(constraint_reader.label_selector(term.get("labelSelector")))
                selector = selector.plus(*(LabelRequirement(key, "In", (subject.labels[key],)) for key in keys))
                yield Term(term, when == REQUIRED, repels, (*route, when, index, *below), selector)


def own_terms(subject: Subject, *, repels: bool = True) -> Iterator[Term]:
    """Yield the required terms of anti-affinity, or of affinity, that are about the workload's own pods.

    One with mismatchLabelKeys is about others.
    """
    for term in terms(subject):
        plain = term.plain
        named, by_label = strings(plain.get("namespaces")), plain.get("namespaceSelector")
        # Labels of namespaces are unknown.
        is_near = subject.workload.namespace in named or by_label == {} or (not named and by_label is None)
        if not term.is_required or term.repels != repels or plain.get("mismatchLabelKeys") or not is_near:
            continue
        if term.selector.requirements is not None and term.selector.matches(subject.labels):
            yield term


def keeps_apart(subject: Subject, constraint: TopologySpreadConstraint) -> Optional[Term]:
    """Return a required anti-affinity over a constraint's key to at least the pods that it counts.

    With such a term each domain that it allows holds 0 of these pods. So the constraint refuses no domain.
    """
    counted = set(subject.selector(constraint).requirements or ())
    for term in own_terms(subject):
        if term.topology_key == constraint.topology_key and set(term.selector.requirements or ()) <= counted:
            return term
    return None


def _term_values(term: Plain, key: str) -> Optional[set[str]]:
    """Return the values that the expressions of a term, which must all hold, allow."""
    written = map(constraint_reader.requirement, mappings(term.get("matchExpressions")))
    about = [item for item in written if item.key == key]
    allowed = [set(item.values) for item in about if item.operator == "In"]
    refused = (item.values for item in about if item.operator == "NotIn")
    return set.intersection(*allowed).difference(*refused) if allowed else None


def host_ports(subject: Subject) -> Iterator[Route]:
    """Yield where containers ask for a port of the node; with hostNetwork every port is one."""
    field = "containerPort" if subject.spec.get("hostNetwork") else "hostPort"
    for index, container in enumerate(mappings(subject.spec.get("containers"))):
        for number, port in enumerate(mappings(container.get("ports"))):
            if port.get(field):
                yield (*subject.spec_route, "containers", index, "ports", number, field)


def narrowest(subject: Subject) -> Optional[AntiAffinity]:
    """Return the anti-affinity that lets the fewest pods in."""
    if subject.facts is None or subject.refusals:
        return None
    return min(subject.facts.anti_affinities(subject.workload), key=lambda bound: bound.room, default=None)


def route_of(subject: Subject, bound: AntiAffinity) -> Route:
    """Return the route of the term's topologyKey."""
    return (*subject.spec_route, "affinity", "podAntiAffinity", REQUIRED, bound.position, "topologyKey")


def stays_pending(subject: Subject) -> bool:
    """Return whether a pod without room waits for good: pods of Jobs end, other schedulers may differ."""
    is_job = subject.kind in ("Job", "CronJob")
    return not is_job and subject.spec.get("schedulerName") in (None, "", "default-scheduler")


def allowed_values(subject: Subject, constraint: TopologySpreadConstraint) -> frozenset[str]:
    """Return the values that node affinity allows, if they are fewer than minDomains; else an empty set."""
    if (
        subject.kind == "DaemonSet"
        or subject.spec.get("nodeName")  # SPR210
        or constraint.min_domains is None
        or constraint.node_affinity_policy == IGNORE
        or not subject.target.stores("minDomains")
        or not subject.is_in_its_group(constraint)
    ):
        return frozenset()
    values = node_values(subject, constraint.topology_key)
    return values if values is not None and len(values) < constraint.min_domains else frozenset()


_DEFAULT_SURGE = "25%"

# A rollout may run a whole new revision next to the old one.
_UP_TO_TWICE = ("Rollout", "Service", "DeploymentConfig", "CloneSet", "LeaderWorkerSet")


def surge_text(subject: Subject) -> str:
    """Return what lets new pods of a Deployment or Rollout start while old ones run; empty if nothing does.

    Source: pkg/controller/deployment/util/deployment_util.go, ResolveFenceposts (v1.36.2): a maxSurge above 0 is at
    least one pod. Rollouts have `strategy.canary.maxSurge`, and `blueGreen` runs both revisions in full.
    """
    if subject.is_recreated or subject.kind not in ("Deployment", "Rollout"):
        return ""
    strategy = fields(subject.runner.plain, "spec", "strategy")
    if "blueGreen" in strategy:
        return "blueGreen runs both revisions"
    surge = fields(strategy.get("canary" if subject.kind == "Rollout" else "rollingUpdate")).get("maxSurge")
    if surge is None:
        return f"maxSurge is {_DEFAULT_SURGE} by default"
    return "" if surge in (0, "0") or percentage(surge) == 0 else f"maxSurge is {surge}"


def replaces_in_place(subject: Subject) -> bool:
    """Return whether an update stops an old pod before it makes each new one, so that there are never more pods."""
    if subject.kind == "StatefulSet":
        return True
    is_rolled = subject.kind in ("Deployment", "Rollout") and not subject.is_recreated
    return is_rolled and not surge_text(subject)


def surge(subject: Subject, constraint: TopologySpreadConstraint, replicas: int) -> int:
    """Return how many additional pods a rolling update runs that the constraint counts.

    Source: pkg/controller/deployment/util/deployment_util.go, ResolveFenceposts (v1.36.2).
    """
    kind = subject.kind
    if {POD_TEMPLATE_HASH, subject.revision_label} & {*constraint.match_label_keys} & {*subject.labels}:
        return 0
    if kind in _UP_TO_TWICE:
        return replicas
    if kind != "Deployment" or subject.is_recreated:
        return 0
    written = fields(subject.controller, "strategy", "rollingUpdate").get("maxSurge")
    surge = scaled_value(written, replicas, round_up=True)
    return scaled_value(_DEFAULT_SURGE, replicas, round_up=True) or 0 if surge is None else surge


def constraint_facts(subject: Subject) -> Iterator[tuple[TopologySpreadConstraint, ConstraintFacts]]:
    """Yield the constraints of a workload that the API server takes, as the cluster sees them."""
    if subject.facts is None or subject.refusals:
        return
    for constraint in subject.constraints:
        account = subject.facts.constraint_facts(subject.workload, constraint)
        if account is not None:
            yield constraint, account


def hard_constraint_facts(subject: Subject) -> Iterator[tuple[TopologySpreadConstraint, ConstraintFacts]]:
    """Yield the DoNotSchedule constraints that count the workload's own pods.

    Yield none if some label is on no node that the pod may use: then nothing else matters.
    """
    hard = [(constraint, account) for constraint, account in constraint_facts(subject) if constraint.is_hard]
    if all(lacks_nowhere(account) for _, account in hard):
        yield from (item for item in hard if item[1].counts_own)


def lacks_nowhere(account: ConstraintFacts) -> bool:
    """Return whether some node that the pod may use has the label, or no such node exists."""
    return account.nodes_with_key > 0 and (not account.candidates or len(account.without_key) < account.candidates)


def with_fewest_replicas(subject: Subject) -> Workload:
    """Return the workload with its fewest replicas; 1 if no number is written."""
    least = subject.replicas.minimum
    return subject.workload if least is None else subject.workload._replace(replicas=least)


def outcome(subject: Subject) -> Optional[PlacedReplicas]:
    """Return how many of the fewest pods that the workload may have find a node; None if unpredictable."""
    return None if subject.facts is None else subject.facts.outcome(with_fewest_replicas(subject))


def with_field(workload: Workload, constraint: TopologySpreadConstraint, **changed: Any) -> Workload:
    """Return the workload if its constraint had other fields."""
    spec = fields(workload.template, "spec")
    written = list(mappings(spec.get(FIELD)))
    written[constraint.position] = {**written[constraint.position], **changed}
    return workload._replace(template={**workload.template, "spec": {**spec, FIELD: written}})


class Unreachable(NamedTuple):
    """A constraint with counted domains where no node takes the pod, and how bad that is."""

    constraint: TopologySpreadConstraint
    account: ConstraintFacts
    domains: list[DomainFacts]
    severity: Severity


def unreachable_domains(subject: Subject) -> Iterator[Unreachable]:
    """Yield counted domains that no pod can go to; SPR307 reports those outside the pod's node affinity."""
    for constraint, account in hard_constraint_facts(subject):
        domains = [domain for domain in account.unreachable if domain.chosen]
        if not domains or len(account.unreachable) == len(account.counted_domains) or account.is_below_min_domains:
            continue
        became, most = outcome(subject), subject.replicas.maximum
        if became is not None and became.is_preempting:
            continue  # an evicted pod may make room there
        if became is not None and became.falls_short and became.pods > account.room:
            yield Unreachable(constraint, account, domains, Severity.ERROR)
        elif most is None or most + surge(subject, constraint, most) > account.room:  # of an update or autoscaler
            yield Unreachable(constraint, account, domains, Severity.WARNING)


def shadowed_constraints(subject: Subject) -> Iterator[tuple[TopologySpreadConstraint, TopologySpreadConstraint]]:
    """Yield the soft constraints that have no effect, each with the hard one that determines the placement."""
    strict = [item for item in subject.hard_in_group if item.max_skew == 1]
    for soft in subject.soft:
        for hard in strict:
            if _counts(subject, soft) == _counts(subject, hard) and subject.likely_group_size(hard) not in (
                0,
                1,
            ):
                yield soft, hard


def _counts(subject: Subject, constraint: TopologySpreadConstraint) -> tuple[object, ...]:
    """Return which pods a constraint counts, and in which domains."""
    return (
        constraint.topology_key,
        frozenset(subject.selector(constraint).requirements or ()),
        constraint.node_affinity_policy or HONOR,
        constraint.node_taints_policy or IGNORE,
    )
