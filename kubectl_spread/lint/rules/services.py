"""Services and PodDisruptionBudgets of spread workloads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

from kubectl_spread.lint.finding import Fix, Label, Place, RuleFinding, Severity
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.budget import budget, SimpleBudget
from kubectl_spread.lint.queries.pod_requirements import REQUIRED
from kubectl_spread.lint.rule import object_rule, UNSAFE, workload_rule
from kubectl_spread.lint.wording import workload_name
from kubectl_spread.lint.workload import FIELD, Subject
from kubectl_spread.objects.amounts.int_or_percent import percentage
from kubectl_spread.objects.constraints.constraint import SCHEDULE_ANYWAY
from kubectl_spread.objects.reading.decode import path_text
from kubectl_spread.objects.reading.plain import fields, mappings
from kubectl_spread.objects.selectors.labels import HOSTNAME, ZONE
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.objects.workloads.workload import SCALED_KINDS
from kubectl_spread.text.edit import Put
from kubectl_spread.text.node import Route
from kubectl_spread.text.wording import count_noun

_NAMED = 3  # workloads that a finding shows


@object_rule(
    "SPR503",
    "pdb-blocks-eviction",
    "a PodDisruptionBudget allows no eviction",
    Severity.WARNING,
    kinds=("PodDisruptionBudget",),
)
def pdb_blocks_eviction(manifest: Manifest, project: Project) -> Iterator[RuleFinding]:
    """Find budgets that allow 0 disruptions of the workloads in the input when all their pods are healthy."""
    found = budget(manifest, project)
    if found is None or found.disruptions != 0:
        return
    if all(project.replicas(item).maximum == 0 for item in found.covered):
        return  # there are no pods to evict
    hint = "write maxUnavailable: 1" + (" instead" if found.field == "minAvailable" else "")
    related = tuple(_count(item, project) for item in found.covered[:_NAMED])
    yield RuleFinding(
        f"no pod can be evicted, so kubectl drain never ends: {_reason(found)}", found.place, found.path, hint, related
    )


def _reason(found: SimpleBudget) -> str:
    percent = percentage(found.value)
    if found.field == "maxUnavailable" or (percent is not None and percent >= 100):
        return f"{found.field} is {found.value}"
    pods = count_noun(found.pods or 0, "pod")
    if percent is None:
        return f"minAvailable asks for {found.resolved_value} of {pods}"
    return f"minAvailable {found.value} of {pods}, rounded up, is {found.resolved_value}"


def _count(subject: Subject, project: Project) -> Label:
    """Return where the number of a workload's pods is written."""
    replicas = project.replicas(subject)
    if replicas.autoscaler is not None:
        field = "minReplicas" if replicas.autoscaler.kind == "HorizontalPodAutoscaler" else "minReplicaCount"
        place = Place(replicas.autoscaler.document.source, replicas.autoscaler.place(("spec", field)))
        return Label(
            place, f"{workload_name(subject.workload)} can have as few as {count_noun(replicas.minimum or 0, 'pod')}"
        )
    written = subject.node(("spec", "replicas")) is not None
    place = subject.place(("spec", "replicas") if written else ("metadata", "name"))
    place = replicas.origins[0].place if replicas.origins else place
    return Label(place, f"the pods of {workload_name(subject.workload)}")


@object_rule(
    "SPR504",
    "pdb-smaller-than-domain",
    "a PodDisruptionBudget allows fewer evictions than a zone has pods",
    Severity.INFO,
    kinds=("PodDisruptionBudget",),
    is_opinion=True,
    needs_facts=True,
)
def pdb_smaller_than_domain(manifest: Manifest, project: Project) -> Iterator[RuleFinding]:
    """Find budgets of one workload, spread over the zones of the cluster, that let some of a zone's pods go only."""
    found = budget(manifest, project)
    if found is None or len(found.covered) != 1 or project.facts is None or not found.disruptions or not found.pods:
        return
    (subject,) = found.covered
    zones = project.facts.domain_count(ZONE)
    spread = [item for item in subject.constraints if item.topology_key == ZONE]
    if zones < 2 or not spread:
        return
    share = -(-found.pods // zones)
    if found.disruptions < share:
        place = subject.place(subject.route(spread[0], "topologyKey"))
        yield RuleFinding(
            f"draining a zone takes several rounds: it has {share} of {count_noun(found.pods, 'pod')}, and only "
            f"{found.disruptions} can be evicted at a time",
            found.place,
            found.path,
            f"write maxUnavailable: {share}, if the other zones can take the load",
            (Label(place, f"the pods are spread over {zones} zones"),),
        )


@workload_rule(
    "SPR506",
    "no-spread",
    "nothing spreads the replicas behind a Service",
    Severity.INFO,
    is_opinion=True,
    needs_constraints=False,
    around=("Service",),
    needs_whole=True,
    fixes=UNSAFE,
)
def no_spread(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find workloads of two or more replicas behind a Service without any spreading."""
    if subject.workload.kind not in SCALED_KINDS or subject.constraints or subject.spec.get("nodeName"):
        return
    if (subject.spec.get("affinity") or {}).get("podAntiAffinity"):
        return
    most = project.replicas(subject).maximum
    services = project.services(subject)
    if not services or most is None or most < 2:
        return
    first = services[0]
    route = (*subject.spec_route, FIELD)
    yield RuleFinding(
        f"the {most} replicas behind Service `{first.name}` may all run on one node or in one zone: they have neither "
        "constraints nor pod anti-affinity",
        subject.place(route),
        subject.path(route),
        "add constraints over zones and nodes",
        (Label(Place(first.document.source, first.place(("metadata", "name"))), "sends traffic to them"),),
        fix=_fix(subject),
    )


def _fix(subject: Subject) -> Optional[Fix]:
    """Return soft constraints over zones and nodes, with the controller's own selector."""
    labels = fields(fields(subject.controller.get("selector")).get("matchLabels"))
    if not labels:
        return None
    constraints: list[Any] = [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": SCHEDULE_ANYWAY,
            "labelSelector": {"matchLabels": dict(labels)},
        }
        for key in (ZONE, HOSTNAME)
    ]
    return Fix("add ScheduleAnyway constraints over zones and nodes", (Put((*subject.spec_route, FIELD), constraints),))


_ZONES = (ZONE, "failure-domain.beta.kubernetes.io/zone")
_ANNOTATIONS = ("service.kubernetes.io/topology-mode", "service.kubernetes.io/topology-aware-hints")


@object_rule(
    "SPR509",
    "traffic-without-spread",
    "a Service keeps traffic in the zone, but its pods are not spread over zones",
    Severity.INFO,
    kinds=("Service",),
    is_opinion=True,
)
def traffic_without_spread(manifest: Manifest, project: Project) -> Iterator[RuleFinding]:
    """Find Services with pods that nothing in their manifest spreads over zones; once a Service."""
    route = _by_zone(manifest)
    if route is None:
        return
    for subject in project.backends(manifest):
        if subject.workload.kind not in SCALED_KINDS or _is_spread(subject):
            continue
        if project.replicas(subject).likely in (0, 1):
            continue
        yield RuleFinding(
            f"a zone may have no endpoint: the Service keeps traffic in its zone, and nothing spreads the pods of "
            f"{workload_name(subject.workload)} over zones",
            Place(manifest.document.source, manifest.place(route)),
            path_text(route),
            f"add a constraint over {ZONE} to the pods",
            (Label(subject.place(("metadata", "name")), "the Service selects its pods"),),
        )
        return


def _by_zone(manifest: Manifest) -> Optional[Route]:
    """Return the route of the field or annotation that keeps traffic in the zone."""
    if fields(manifest.plain.get("spec")).get("trafficDistribution") in ("PreferClose", "PreferSameZone"):
        return ("spec", "trafficDistribution")
    annotations = fields(fields(manifest.plain.get("metadata")).get("annotations"))
    for name in _ANNOTATIONS:
        if annotations.get(name) in ("Auto", "auto"):
            return ("metadata", "annotations", name)
    return None


def _is_spread(subject: Subject) -> bool:
    """Return whether a constraint, or required anti-affinity, is about zones."""
    if any(constraint.topology_key in _ZONES for constraint in subject.constraints):
        return True
    anti_affinity = (subject.spec.get("affinity") or {}).get("podAntiAffinity") or {}
    required = mappings(anti_affinity.get(REQUIRED))
    return any(term.get("topologyKey") in _ZONES for term in required)
