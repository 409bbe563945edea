"""Affinity, anti-affinity and host ports next to constraints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from kubectl_spread.lint import queries, topology_keys
from kubectl_spread.lint.finding import (
    Fix,
    Knowledge,
    Label,
    rule,
    RuleFinding,
    SAFE,
    Severity,
    UNSAFE,
)
from kubectl_spread.lint.queries import constraint_facts, outcome, PREFERRED
from kubectl_spread.lint.wording import domain, domains, in_domain, stays_or_stay
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import HONOR, IGNORE
from kubectl_spread.objects.reading.plain import fields, mappings, value_at
from kubectl_spread.objects.resources import percentage, scaled_value
from kubectl_spread.objects.selectors import HOSTNAME
from kubectl_spread.objects.workloads.workload import POD_TEMPLATE_HASH
from kubectl_spread.text.edit import Put
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import Place, Span
from kubectl_spread.text.wording import count_noun


@rule(
    "SPR212",
    "a constraint has no effect next to pod anti-affinity over the same key",
    Severity.INFO,
    needs=("affinity",),
)
def anti_affinity_redundant(subject: Subject) -> Iterator[RuleFinding]:
    """Find constraints that count nothing but what anti-affinity keeps at one."""
    if subject.kind == "DaemonSet":
        return  # SPR206
    for constraint in subject.in_group:
        if subject.likely_group_size(constraint) in (0, 1):
            continue
        term = queries.keeps_apart(subject, constraint)
        if term is not None:
            yield RuleFinding(
                "required pod anti-affinity already allows only one pod "
                f"{in_domain('each', constraint.topology_key)}, so the constraint has no effect",
                subject.route(constraint, "topologyKey"),
                "remove the constraint or the anti-affinity",
                subject.related("the pod anti-affinity", term.route),
            )


@rule(
    "SPR305",
    "required pod affinity contradicts a constraint over the same key",
    needs=("affinity",),
)
def affinity_contradiction(subject: Subject) -> Iterator[RuleFinding]:
    """Find hard constraints against an affinity to the same pods over the same key."""
    most = subject.replicas.likely
    for constraint in subject.hard_in_group:
        if most is not None and most <= constraint.max_skew:
            continue
        if queries.has_one_domain(subject, constraint):
            continue  # SPR207
        for term in queries.own_terms(subject, repels=False):
            if term.topology_key == constraint.topology_key and term.selector.requirements:
                route, key = subject.route(constraint, "topologyKey"), constraint.topology_key
                yield RuleFinding(
                    f"required pod affinity wants all pods {in_domain('one', key)}, but maxSkew allows only "
                    f"{constraint.max_skew} more there than in the emptiest one. Once there are two "
                    f"{domain(key, plural=True)}, all but {count_noun(constraint.max_skew, 'pod')} stay Pending",
                    route,
                    "remove the pod affinity or the constraint",
                    subject.related("the pod affinity", term.route),
                )


@rule(
    "SPR306",
    "anti-affinity allows fewer pods than an autoscaler may ask for",
    Severity.WARNING,
    needs=("affinity",),
    needs_facts=True,
    needs_constraints=False,
)
def anti_affinity_cap(subject: Subject) -> Iterator[RuleFinding]:
    """Find anti-affinity with room for an autoscaler's minimum and not for its maximum."""
    replicas = subject.replicas
    if replicas.autoscaler is None or replicas.minimum is None or replicas.maximum is None:
        return
    bound = queries.narrowest(subject)
    if bound is not None and replicas.minimum <= bound.room < replicas.maximum:
        field = "maxReplicaCount" if replicas.autoscaler.kind == "ScaledObject" else "maxReplicas"
        yield RuleFinding(
            f"required pod anti-affinity allows one pod {in_domain('each', bound.topology_key)}, and only "
            f"{domains(bound.room, bound.topology_key)} can take one. If the {replicas.autoscaler.kind} asks for its "
            f"maximum of {replicas.maximum}, {count_noun(replicas.maximum - bound.room, 'replica')} "
            f"{stays_or_stay(replicas.maximum - bound.room)} Pending",
            queries.route_of(subject, bound),
            "use a spread constraint over this key with maxSkew 1, which also places the other pods",
            (Label(replicas.autoscaler.place(("spec", field)), "the maximum"),),
        )


_FIELD = "nodeAffinityPolicy"


@rule(
    "SPR307",
    "`nodeAffinityPolicy: Ignore` counts domains that the pod cannot use",
    needs=("nodeAffinityPolicy",),
    fixes=SAFE,
    around=("NodePool",),
)
def affinity_ignored(subject: Subject) -> Iterator[RuleFinding]:
    """Find hard constraints that count domains which the pod's own affinity excludes."""
    affinity = fields(subject.spec, "affinity", "nodeAffinity")
    if not subject.spec.get("nodeSelector") and not affinity.get(queries.REQUIRED):
        return
    if not subject.target.stores(_FIELD):
        return
    known = dict(constraint_facts(subject))
    for constraint in subject.hard_in_group:
        if constraint.node_affinity_policy != IGNORE:
            continue
        pods = subject.likely_group_size(constraint)
        # Fewer pods are SPR204; of a Pod's group others may run.
        if pods is not None and pods <= constraint.max_skew and subject.kind != "Pod":
            continue
        if constraint not in known or any(not item.chosen for item in known[constraint].counted_domains):
            is_certain = constraint in known or queries.node_values(subject, constraint.topology_key) is not None
            route = subject.route(constraint, _FIELD)
            yield RuleFinding(
                (_CERTAIN if is_certain else _POSSIBLE).format(
                    domain=domain(constraint.topology_key),
                    domains=domain(constraint.topology_key, plural=True).capitalize(),
                    pods=count_noun(constraint.max_skew, "pod"),
                )
                + (_OF_KARPENTER if subject.has_karpenter else ""),
                route,
                "remove nodeAffinityPolicy: the default is Honor",
                severity=None if is_certain else Severity.WARNING,
                fix=Fix(f"write {HONOR}", (Put(route, HONOR),), is_safe=True),
            )


_CERTAIN = (
    "pods stay Pending once each {domain} that they can use has {pods}. {domains} that the pod's node affinity "
    "excludes count too, and always have 0"
)
_OF_KARPENTER = ". Karpenter does not count them, so it may add nodes that kube-scheduler does not use"
_POSSIBLE = (
    "pods stay Pending once each {domain} that they can use has {pods}, if the pod's node affinity excludes all "
    "nodes of a {domain}. Such a {domain} counts too, and always has 0"
)


@rule(
    "SPR310",
    "a host port allows only one pod on each node",
    Severity.INFO,
    needs=("containers",),
    is_opinion=True,
)
def host_port_cap(subject: Subject) -> Iterator[RuleFinding]:
    """Find the first port of the node that the pods contend for."""
    pods = subject.replicas.maximum
    if not subject.constraints or subject.kind == "DaemonSet" or pods is None or pods < 2:
        return
    route = next(queries.host_ports(subject), None)
    if route is not None:
        yield RuleFinding(
            f"each node can give this port to only one of the {pods} pods, so pods beyond the number of nodes stay "
            "Pending",
            route,
            "use a Service or a DaemonSet",
        )


_PROMISE = re.compile(
    r"\b(?:one|1|single)(?:(?:[ _-]+\w+)?[ _-]+(?:pod|replica|instance|copy))?"
    r"[ _-]+(?:per|(?:on|for)[ _-]+(?:each|every))[ _-]+(?:node|host)\b",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*", re.MULTILINE)
_BOUNDARY = "\n---"


@rule(
    "SPR311",
    "a comment promises one pod per node, but the constraint does not ensure it",
    Severity.INFO,
    is_opinion=True,
)
def not_one_per_node(subject: Subject) -> Iterator[RuleFinding]:
    """Find hard constraints over hostnames for which a comment promises too much."""
    strict = [item for item in subject.hard_in_group if item.topology_key == HOSTNAME and item.max_skew == 1]
    # Something else may keep a second pod away.
    is_apart = any(term.topology_key == HOSTNAME for term in queries.own_terms(subject))
    if not strict or is_apart or subject.kind == "DaemonSet" or any(queries.host_ports(subject)):
        return
    promise = next(_promises(subject), None)
    if promise is None:
        return
    for constraint in strict:
        pods = subject.likely_group_size(constraint)
        least = constraint.min_domains if subject.target.stores("minDomains") else None
        # minDomains may keep the minimum at 0 until each pod has its node.
        is_capped = least is not None and (pods is None or pods <= least)
        if pods not in (0, 1) and not is_capped:
            yield RuleFinding(
                "a comment promises one pod per node, but maxSkew 1 allows a second one once every other node has one",
                subject.route(constraint, "maxSkew"),
                "use required pod anti-affinity, or set minDomains to the number of pods",
                (Label(promise, "promises one pod per node"),),
            )


def _promises(subject: Subject) -> Iterator[Place]:
    """Yield the comments of the object's text, those above it included, and its annotations."""
    manifest = subject.manifest
    source, span = manifest.source, manifest.place(()).span
    extent = span.start, span.end
    if not manifest.route:  # a document, not an item of a List
        end = source.text.find(_BOUNDARY, span.end)
        extent = source.text.rfind(_BOUNDARY, 0, span.start) + 1, len(source.text) if end < 0 else end
    for comment in _COMMENT.finditer(source.text, *extent):
        found = _PROMISE.search(comment[0])
        if found is not None:
            yield Place(source, Span(comment.start() + found.start(), comment.start() + found.end()))
    for metadata in (("metadata",), (*subject.template_route, "metadata")):
        written = subject.node((*metadata, "annotations"))
        for key, field in getattr(written, "fields", {}).items():
            if _PROMISE.search(key) or _PROMISE.search(getattr(field.value, "text", "")):
                yield subject.place((*metadata, "annotations", key), key=True)


_ROLLING = ("spec", "strategy", "rollingUpdate")


@rule(
    "SPR402",
    "a rolling update may never finish because of anti-affinity",
    Severity.WARNING,
    needs=("Deployment", "affinity"),
    needs_constraints=False,
    speaks_from=Knowledge.KNOWN,
    fixes=UNSAFE,
)
def rollout_deadlock(subject: Subject) -> Iterator[RuleFinding]:
    """Find updates that need a domain more than there are replicas; once a workload.

    Source: pkg/controller/deployment/util/deployment_util.go, ResolveFenceposts (v1.36.2): where maxUnavailable and
    maxSurge are both 0 after rounding, one pod may be unavailable.
    """
    replicas = subject.replicas
    rolling = fields(subject.controller, "strategy", "rollingUpdate")
    unavailable, surge = rolling.get("maxUnavailable", "25%"), rolling.get("maxSurge", "25%")
    number = None if replicas.minimum is None else max(2, replicas.minimum)
    if number is None:
        waits = (unavailable == 0 or percentage(unavailable) == 0) and surge != 0 and percentage(surge) != 0
    else:
        is_none = scaled_value(unavailable, number, round_up=False) == 0
        waits = is_none and scaled_value(surge, number, round_up=True) != 0
    if replicas.likely in (0, 1) or subject.is_recreated or not waits:
        return
    terms = {
        term.topology_key: term
        for term in reversed(list(queries.own_terms(subject)))
        if all(item.key != POD_TEMPLATE_HASH for item in term.selector.requirements or ())  # between revisions
        and not topology_keys.is_absent(term.topology_key, subject.facts)
    }
    rollout = subject.facts.rollout(subject.workload) if subject.facts is not None and terms else None
    summary = None if rollout is None else rollout.summary
    if rollout is not None and (summary is None or not summary.stuck_endings):
        return
    for key in sorted(terms, key=lambda key: key == HOSTNAME)[:1]:  # the hostname only if there is no other
        # One pod may be unavailable: the change is at the deepest field that is written.
        written: Route = (*_ROLLING, "maxUnavailable")
        route = written
        value: Any = 1
        while len(route) > 2 and not isinstance(value_at(subject.manifest.plain, route[:-1]), dict):
            route, value = route[:-1], {str(route[-1]): value}
        if rollout is None or summary is None:
            by_default = "" if "maxUnavailable" in rolling else " by default"
            share = f", which is 0 of {number} pods" if number is not None and percentage(unavailable) else ""
            needs = f"one more {domain(key)} than there are replicas"
            message = (
                f"maxUnavailable is {unavailable}{by_default}{share}, so a new pod must start before an old one stops. "
                f"Anti-affinity then needs {needs if number is None else domains(number + 1, key)}, or a rolling "
                "update never finishes"
            )
        else:
            conflict = () if rollout.explanation is None else rollout.explanation.conflict
            because = f" (conflict: {', '.join(conflict)})" if conflict else ""
            number = len(summary.endings)
            outcomes = f"{number} outcomes{'' if rollout.is_exact else ' that were found'}"
            stuck = f"may get stuck: in {summary.stuck_endings} of {outcomes}"
            stuck = "gets stuck:" if summary.stuck_endings == number else stuck
            message = f"the next rolling update {stuck} a new pod finds no node{because}"
        yield RuleFinding(
            message,
            (*terms[key].route, "topologyKey"),
            "set maxUnavailable: 1 under spec.strategy.rollingUpdate",
            subject.related("no old pod may stop first", written) if subject.node(written) is not None else (),
            Severity.INFO if key == HOSTNAME and rollout is None else None,
            Fix("let one old pod stop before its successor is ready", (Put(route, value),)),
        )


@rule(
    "SPR510",
    "preferred node affinity may outweigh constraints that are all ScheduleAnyway",
    Severity.INFO,
    needs=("affinity",),
    is_opinion=True,
)
def preferred_affinity_fights(subject: Subject) -> Iterator[RuleFinding]:
    """Find preferences on pods whose constraints are all soft; once a workload."""
    if subject.hard or not subject.soft or subject.is_single:
        return
    affinity = fields(subject.spec, "affinity", "nodeAffinity")
    for index, term in enumerate(mappings(affinity.get(PREFERRED))):
        preference = fields(term, "preference")
        if not term.get("weight") or not (preference.get("matchExpressions") or preference.get("matchFields")):
            continue
        route = (*subject.spec_route, "affinity", "nodeAffinity", PREFERRED, index)
        are = "the constraint is" if len(subject.soft) == 1 else "all constraints are"
        yield RuleFinding(
            "preferred node affinity scores as much as all ScheduleAnyway constraints together, so all pods may go to "
            "the preferred nodes",
            route,
            "use DoNotSchedule for the constraint that matters, or remove the preference",
            subject.related(f"{are} ScheduleAnyway", subject.route(subject.soft[0], "whenUnsatisfiable")),
            key=True,
            at=(*route, "preference"),
        )
        return


@rule(
    "SPR906",
    "anti-affinity allows fewer pods than there are replicas",
    needs=("affinity",),
    needs_facts=True,
    needs_constraints=False,
)
def replicas_exceed_anti_affinity(subject: Subject) -> Iterator[RuleFinding]:
    """Find anti-affinity that has no domain for some replica; the narrowest of several."""
    bound = queries.narrowest(subject)
    became = outcome(subject) if bound is not None and bound.room else None
    if bound is not None and became is not None and became.falls_short and became.pods > bound.room:
        left = became.pods - bound.room
        yield RuleFinding(
            f"required pod anti-affinity allows one pod {in_domain('each', bound.topology_key)}, and only "
            f"{domains(bound.room, bound.topology_key)} can take one. So {left} of {count_noun(became.pods, 'pod')} "
            f"{stays_or_stay(left)} Pending",
            queries.route_of(subject, bound),
            "use a spread constraint over this key with maxSkew 1, which also places the other pods",
        )
