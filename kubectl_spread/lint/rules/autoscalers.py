"""Autoscalers of pods and nodes, and the descheduler."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint import queries
from kubectl_spread.lint.finding import CLUSTER_AUTOSCALER, Fix, KARPENTER, rule, RuleFinding, Severity, UNSAFE
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import hard_constraint_facts, outcome, unreachable_domains
from kubectl_spread.lint.topology_keys import CAPACITY_TYPES, intended_key, is_unknown
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import SCHEDULE_ANYWAY
from kubectl_spread.objects.reading.plain import fields, mappings, numbered_mappings
from kubectl_spread.objects.selectors import HOSTNAME, NODE_POOL, REGION, ZONE
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.text.edit import Put
from kubectl_spread.text.wording import count_noun, join_with_and


@rule(
    "SPR313",
    "a hard constraint asks for as many on-demand as spot pods",
    Severity.INFO,
    is_opinion=True,
)
def even_split_over_capacity_types(subject: Subject) -> Iterator[RuleFinding]:
    """Find hard constraints over labels that say how a node is paid for."""
    if subject.kind == "DaemonSet":
        return
    for constraint in subject.hard_in_group:
        if constraint.topology_key not in CAPACITY_TYPES:
            continue
        pods = subject.likely_group_size(constraint)
        if queries.has_one_domain(subject, constraint) or (pods is not None and pods <= constraint.max_skew):
            continue
        yield RuleFinding(
            f"no value of `{constraint.topology_key}` can have over {count_noun(constraint.max_skew, 'pod')} more than "
            "the emptiest one, so the pods are split evenly. If the nodes of one value are full, pods stay Pending, "
            "even if others have room",
            subject.route(constraint, "topologyKey"),
            "use ScheduleAnyway, or spread over a label with as many values as the share needs",
        )


@rule(
    "SPR505",
    "an autoscaler's minimum is below `minDomains`",
    Severity.INFO,
    kinds=("HorizontalPodAutoscaler", "ScaledObject"),
    is_opinion=True,
)
def hpa_min_below_domains(manifest: Manifest, project: Project) -> Iterator[RuleFinding]:
    """Find autoscalers whose minimum is less than a constraint's minDomains; once an autoscaler."""
    subject = project.scale_target(manifest)
    replicas = None if subject is None else project.replicas_here(subject)
    if subject is None or replicas is None or replicas.autoscaler is not manifest or not replicas.minimum:
        return
    most = max(subject.hard, key=lambda constraint: constraint.min_domains or 1, default=None)
    if most is not None and (most.min_domains or 1) > replicas.minimum:
        field = "minReplicas" if manifest.kind == "HorizontalPodAutoscaler" else "minReplicaCount"
        yield RuleFinding(
            f"the autoscaler's minimum of {count_noun(replicas.minimum, 'replica')} is lower than minDomains "
            f"{most.min_domains}, so after scaling down some of the domains have no pod",
            ("spec", field),
            f"set {field}: {most.min_domains}",
            subject.related(f"minDomains of {subject.title}", subject.route(most, "minDomains")),
        )


_ZONES = 3  # of most regions


@rule(
    "SPR701",
    "one zone or node satisfies a hard constraint, so no autoscaler adds another",
    Severity.WARNING,
    is_opinion=True,
    autoscalers=(CLUSTER_AUTOSCALER, KARPENTER),
    fixes=UNSAFE,
    threshold=_ZONES,
)
def hard_zone_without_min_domains(subject: Subject) -> Iterator[RuleFinding]:
    """Find hard constraints on zone or hostname that one domain satisfies."""
    most = subject.replicas.likely
    if subject.kind in ("DaemonSet", "Pod") or (most is not None and most < 2):
        return
    if not subject.target.stores("minDomains"):
        return
    zones = subject.target.threshold("SPR701", _ZONES)
    for constraint in subject.hard:
        is_open = constraint.min_domains is None and subject.may_count(constraint)
        if constraint.topology_key in (ZONE, HOSTNAME) and is_open:
            route = subject.route(constraint)
            is_zone = constraint.topology_key == ZONE
            where = "in one zone" if is_zone else "on one node"
            yield RuleFinding(
                f"all pods may end up {where}: without minDomains the constraint allows it, and no pod stays Pending "
                "to make the autoscaler add another",
                route,
                f"add minDomains: {zones}"
                if is_zone
                else "add minDomains with the number of nodes that there should be",
                fix=Fix(f"add minDomains: {zones}", (Put((*route, "minDomains"), zones),)) if is_zone else None,
                at=(*route, "topologyKey"),
            )


_SUPPORTED = frozenset({ZONE, HOSTNAME, "karpenter.sh/capacity-type"})
# Its types of instances have them, whatever a NodePool names.
_OF_INSTANCES = frozenset({REGION, "kubernetes.io/arch", "kubernetes.io/os", "node.kubernetes.io/instance-type"})
_OWN = "karpenter."  # how the prefix of its own labels begins, and of those of its providers


@rule(
    "SPR702",
    "Karpenter gives no node the label of `topologyKey`",
    Severity.WARNING,
    is_opinion=True,
    around=("NodePool",),
    autoscalers=(KARPENTER,),
)
def karpenter_key(subject: Subject) -> Iterator[RuleFinding]:
    """Find keys that no NodePool in the input has, except misspelt or deprecated keys (SPR302, SPR602)."""
    pools = [
        manifest for manifest in subject.project.of_kind("NodePool") if manifest.api_version.startswith("karpenter.sh/")
    ]
    known = {*_SUPPORTED, *_OF_INSTANCES}
    for pool in pools:  # the labels that the nodes of a pool can have
        template = fields(pool.plain, "spec", "template")
        requirements = numbered_mappings(fields(template, "spec").get("requirements"))
        known |= {str(item.get("key")) for _, item in requirements}
        known.update(fields(template, "metadata", "labels"))
    where = f"none of the {len(pools)} in the input names it" if pools else "the input has none"
    where = "the one in the input does not name it" if len(pools) == 1 else where
    for constraint in subject.constraints:
        key = constraint.topology_key
        if not key or ((key in known or key.startswith(_OWN)) and key != NODE_POOL):
            continue
        if intended_key(key) or is_unknown(key) or ".beta.kubernetes.io/" in f".{key}":
            continue  # SPR302, SPR602
        why = "it never counts the names of NodePools as domains"
        if key != NODE_POOL:
            why = f"it knows the label `{key}` only from a NodePool, and {where}"
        yield RuleFinding(
            f"Karpenter adds no node for these pods: {why}",
            subject.route(constraint, "topologyKey"),
            f"add it to spec.template.metadata.labels or to the requirements of a NodePool, or use {ZONE}",
            severity=None if pools else Severity.INFO,
        )


@rule(
    "SPR703",
    "Karpenter adds nodes for a ScheduleAnyway constraint",
    Severity.INFO,
    is_opinion=True,
    autoscalers=(KARPENTER,),
)
def karpenter_soft_is_hard(subject: Subject) -> Iterator[RuleFinding]:
    """Find soft constraints; once a workload."""
    most, soft = subject.replicas.likely, list(filter(subject.may_count, subject.soft))
    if subject.kind == "DaemonSet" or not soft or (most is not None and most < 2):
        return
    first, *rest = soft
    yield RuleFinding(
        "Karpenter adds a node rather than put two pods in one domain, and keeps it: it first treats ScheduleAnyway "
        "like DoNotSchedule",
        subject.route(first, "whenUnsatisfiable"),
        "raise maxSkew, or set Karpenter's preference policy to Ignore",
        subject.related("also here", *(subject.route(item, "whenUnsatisfiable") for item in rest)),
    )


@rule(
    "SPR706",
    "Karpenter counts a domain in which it adds no node for the pods",
    Severity.WARNING,
    needs=("DoNotSchedule",),
    around=("NodePool",),
)
def pool_domain_out_of_reach(subject: Subject) -> Iterator[RuleFinding]:
    """Find hard constraints that count values of a NodePool which no pool gives to nodes for these pods."""
    plains = [manifest.plain for manifest in subject.project.of_kind("NodePool")]
    if not plains or subject.kind == "DaemonSet" or not subject.has_pod:
        return
    from kubectl_spread.objects.workloads.replica import replica
    from kubectl_spread.provisioners import topology  # 20 ms

    for constraint in subject.hard:
        for names, values in topology.out_of_reach(constraint, replica(subject.workload, 0).cls, plains).items():
            which = f"NodePool{'s' if len(names) > 1 else ''} {join_with_and(names)}"
            yield RuleFinding(
                f"pods stay Pending once every other `{constraint.topology_key}` has "
                f"{count_noun(constraint.max_skew, 'pod')}: Karpenter counts {join_with_and(values)}, which only "
                f"{which} names, and adds no node for these pods there",
                subject.route(constraint, "topologyKey"),
                "set nodeTaintsPolicy: Honor if the pods do not tolerate its taints; otherwise name the other values "
                "in their nodeAffinity",
            )


@rule(
    "SPR707",
    "Karpenter makes nodes for the first term of a node affinity only",
    Severity.WARNING,
    needs=("DoNotSchedule", "affinity"),
    is_opinion=True,
    autoscalers=(KARPENTER,),
)
def karpenter_reads_one_term(subject: Subject) -> Iterator[RuleFinding]:
    """Find hard constraints over a key for which the terms of a node affinity name different values."""
    affinity = fields(subject.spec, "affinity", "nodeAffinity")
    required = fields(affinity, "requiredDuringSchedulingIgnoredDuringExecution")
    terms = [mappings(term.get("matchExpressions")) for term in mappings(required.get("nodeSelectorTerms"))]
    for constraint in subject.hard:
        named = [[item for item in term if item.get("key") == constraint.topology_key] for term in terms]
        if any(item != named[0] for item in named):
            yield RuleFinding(
                "pods may stay Pending beside empty new nodes: Karpenter makes nodes for the first term of the node "
                "affinity, and kube-scheduler counts the domains of all terms",
                subject.route(constraint, "topologyKey"),
                f"write one term that names all values of {constraint.topology_key}",
            )


@rule(
    "SPR708",
    "Karpenter adds one node at a time for anti-affinity over zones",
    Severity.INFO,
    needs=("affinity",),
    needs_constraints=False,
    is_opinion=True,
    autoscalers=(KARPENTER,),
)
def karpenter_adds_one_a_round(subject: Subject) -> Iterator[RuleFinding]:
    """Find required anti-affinity of pods to each other over zones."""
    most = subject.replicas.likely
    for term in queries.own_terms(subject):
        if term.topology_key == ZONE and (most is None or most > 1):
            yield RuleFinding(
                "the pods start one after the other: a new node may be in any zone until it is there, so Karpenter "
                "adds one node, and the next when the pod has its zone",
                (*term.route, "topologyKey"),
                "use a DoNotSchedule constraint over the zone, for which it adds all nodes at once",
            )


_FEW = 3  # pods: a node in each zone, whichever way


@rule(
    "SPR704",
    "cluster-autoscaler adds one node at a time for a hard zone constraint",
    Severity.INFO,
    is_opinion=True,
    autoscalers=(CLUSTER_AUTOSCALER,),
    threshold=_FEW,
)
def autoscaler_adds_single_nodes(subject: Subject) -> Iterator[RuleFinding]:
    """Find hard constraints on the zone that leave no choice."""
    most = subject.replicas.likely
    if subject.kind in ("DaemonSet", "Pod") or (most is not None and most <= subject.target.threshold("SPR704", _FEW)):
        return
    for constraint in subject.hard:
        if constraint.topology_key == ZONE and constraint.max_skew == 1 and subject.may_count(constraint):
            pods = "the pods" if most is None else f"{most} pods"
            yield RuleFinding(
                f"{pods} may stay Pending for a long time: cluster-autoscaler adds one node at a time, because maxSkew "
                "1 allows a zone only one pod more than the emptiest zone",
                subject.route(constraint, "maxSkew"),
                "use ScheduleAnyway for the zone, or raise maxSkew",
            )


_DESCHEDULER = "DeschedulerPolicy"


@rule(
    "SPR705",
    "the descheduler does not restore the spread that a constraint asks for",
    Severity.INFO,
    is_opinion=True,
    around=(_DESCHEDULER,),
)
def not_restored_by_descheduler(subject: Subject) -> Iterator[RuleFinding]:
    """Find fields and constraints that the descheduler ignores; each kind once a workload.

    `minDomains` is for clusters with an autoscaler (SPR701). It is reported only if the run has a policy.
    """
    if subject.kind == "DaemonSet" or subject.is_single:
        return
    policies = subject.project.of_kind(_DESCHEDULER)
    hard, soft = (list(filter(subject.may_count, items)) for items in (subject.hard, subject.soft))
    counted = [item for item in hard if item.min_domains is not None and item.min_domains > 1]
    is_soft_named = any(SCHEDULE_ANYWAY in manifest.document.text for manifest in policies)
    for items, field, message, hint in (
        (
            counted if policies else (),
            "minDomains",
            "pods stay unevenly spread when a domain comes back: the descheduler ignores minDomains",
            "restart the rollout to fill new domains",
        ),
        (
            () if is_soft_named else soft,
            "whenUnsatisfiable",
            "pods stay unevenly spread: the descheduler ignores ScheduleAnyway unless its arguments name it",
            "add ScheduleAnyway to `constraints` of RemovePodsViolatingTopologySpreadConstraint",
        ),
    ):
        if items:
            first, *rest = [subject.route(item, field) for item in items]
            yield RuleFinding(message, first, hint, subject.related("also here", *rest))


_MOST = 10_000  # replicas that are placed, as a maximum may be any number


@rule(
    "SPR915",
    "an autoscaler may ask for more pods than the constraints allow",
    Severity.WARNING,
    needs_facts=True,
)
def autoscaler_beyond_room(subject: Subject) -> Iterator[RuleFinding]:
    """Find workloads whose fewest replicas are placed, and whose most are not because of a hard constraint."""
    replicas = subject.replicas
    least, most = replicas.minimum, replicas.maximum
    if subject.target.autoscaler or replicas.autoscaler is None:
        return
    if least is None or most is None or least >= most:
        return
    # All pods find a node, both with the fewest replicas and with the number in the manifest.
    if any(item is None or item.pending for item in (outcome(subject), subject.cluster.outcome(subject.workload))):
        return
    if not any(hard_constraint_facts(subject)) or any(unreachable_domains(subject)):
        return
    then = subject.cluster.outcome(subject.workload._replace(replicas=min(most, _MOST)))
    if then is None or not then.falls_short or not then.is_spread_conflict:
        return
    yield RuleFinding(
        f"if {replicas.autoscaler.kind} {replicas.autoscaler.name} asks for its maximum of {count_noun(most, 'pod')}, "
        f"only {then.placed} find a node. The rest stay Pending because of {join_with_and(then.conflict)}",
        subject.list_route,
        "make room in the domain that is full, raise maxSkew, or lower the maximum",
        key=True,
    )
