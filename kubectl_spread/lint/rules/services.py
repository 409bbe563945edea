"""Services and PodDisruptionBudgets of spread workloads.

Source: pkg/controller/disruption/disruption.go, getExpectedPodCount (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from kubectl_spread.lint.finding import Fix, Knowledge, Label, rule, RuleFinding, Severity, UNSAFE
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import terms
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints import constraint
from kubectl_spread.objects.constraints.constraint import plain_constraint, SCHEDULE_ANYWAY
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import fields, value_at
from kubectl_spread.objects.resources import percentage, scaled_value
from kubectl_spread.objects.selectors import compile_selector, HOSTNAME, ZONE
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.objects.workloads.workload import SCALED_KINDS
from kubectl_spread.text.edit import Put
from kubectl_spread.text.node import Route
from kubectl_spread.text.wording import count_noun


class SimpleBudget(NamedTuple):
    """A budget that says one thing, `field: value`, of workloads whose number of pods can be set.

    `pods` is the fewest healthy pods that the workloads have; None if unknown.
    """

    field: str
    value: Any
    covered: tuple[Subject, ...]
    pods: Optional[int]

    @property
    def resolved_value(self) -> Optional[int]:
        """Return the number that the value comes to; shares are rounded up for either field."""
        return scaled_value(self.value, 1 if self.pods is None else self.pods, round_up=True)

    @property
    def disruptions(self) -> Optional[int]:
        """Return how many pods may be evicted while all are healthy; None if unknown."""
        wanted = self.resolved_value
        if wanted is None:
            return None
        if self.field == "maxUnavailable":
            return wanted if self.pods is not None or wanted == 0 else None
        if (percentage(self.value) or 0) >= 100:
            return 0
        return None if self.pods is None else max(0, self.pods - wanted)


def budget(manifest: Manifest, project: Project) -> Optional[SimpleBudget]:
    """Return a budget over workloads in the input; None if the API server would refuse it, or if it covers other pods.

    The controller reads the scale of the pods' owner. A Job or a DaemonSet has none.
    """
    spec = fields(manifest.plain, "spec")
    written = [name for name in ("maxUnavailable", "minAvailable") if spec.get(name) is not None]
    plain, namespace = spec.get("selector"), manifest.namespace or "default"
    is_about_none = not plain and manifest.api_version == "policy/v1beta1"
    is_refused = not manifest.api_version.startswith("policy/") or not decode.decodes(plain, decode.LABEL_SELECTOR)
    if len(written) != 1 or is_about_none or is_refused:
        return None
    selector = compile_selector(constraint.label_selector(plain))
    covered = project.group(selector, namespace)
    if not covered.applied_workloads or not covered.kinds <= SCALED_KINDS:
        return None
    (name,) = written
    # The input seldom has all pods of a namespace.
    pods = project.fewest_pods(selector, namespace) if selector.requirements else None
    return SimpleBudget(name, spec[name], covered.applied_workloads, pods)


_NAMED = 3  # workloads that a finding shows


@rule(
    "SPR503",
    "a PodDisruptionBudget allows no eviction",
    Severity.WARNING,
    kinds=("PodDisruptionBudget",),
)
def pdb_blocks_eviction(manifest: Manifest, project: Project) -> Iterator[RuleFinding]:
    """Find budgets that allow 0 disruptions of the workloads in the input when all their pods are healthy."""
    found = budget(manifest, project)
    if found is None or found.disruptions != 0:
        return
    if all(project.replicas_here(item).maximum == 0 for item in found.covered):
        return  # there are no pods to evict
    hint = "write maxUnavailable: 1" + (" instead" if found.field == "minAvailable" else "")
    related = tuple(_count(item) for item in found.covered[:_NAMED])
    percent, pods = percentage(found.value), count_noun(found.pods or 0, "pod")
    if project.are_autoscaled(found.covered):
        pods += " (the autoscaler's minimum)"
    reason = f"minAvailable {found.value} of {pods}, rounded up, is {found.resolved_value}"
    if found.field == "maxUnavailable" or (percent is not None and percent >= 100):
        reason = f"{found.field} is {found.value}"
    elif percent is None:
        reason = f"minAvailable asks for {found.resolved_value} of {pods}"
    yield RuleFinding(
        f"{reason}, so no pod can be evicted and kubectl drain never ends", ("spec", found.field), hint, related
    )


def _count(subject: Subject) -> Label:
    """Return where the number of a workload's pods is written."""
    replicas = subject.project.replicas_here(subject)
    if replicas.autoscaler is not None:
        field = "minReplicas" if replicas.autoscaler.kind == "HorizontalPodAutoscaler" else "minReplicaCount"
        place = replicas.autoscaler.place(("spec", field))
        return Label(place, f"{subject.title} can have as few as {count_noun(replicas.minimum or 0, 'pod')}")
    written = subject.node(("spec", "replicas")) is not None
    place = subject.place(("spec", "replicas") if written else ("metadata", "name"))
    place = replicas.origins[0] if replicas.origins else place
    return Label(place, f"the pods of {subject.title}")


@rule(
    "SPR504",
    "a PodDisruptionBudget allows fewer evictions than a zone has pods",
    Severity.INFO,
    kinds=("PodDisruptionBudget",),
    is_opinion=True,
    needs_facts=True,
)
def pdb_smaller_than_domain(manifest: Manifest, project: Project) -> Iterator[RuleFinding]:
    """Find budgets of one workload, spread over the zones of the cluster, that let some of a zone's pods go only."""
    found = budget(manifest, project)
    if found is None or len(found.covered) != 1 or not found.disruptions or not found.pods:
        return
    (subject,) = found.covered
    zones = project.cluster.domain_count(ZONE)
    spread = [item for item in subject.constraints if item.topology_key == ZONE]
    if zones < 2 or not spread:
        return
    share = -(-found.pods // zones)
    if found.disruptions < share:
        yield RuleFinding(
            f"a zone has {share} of {count_noun(found.pods, 'pod')}, and only {found.disruptions} can be evicted at a "
            "time, so draining a zone takes several rounds",
            ("spec", found.field),
            f"write maxUnavailable: {share}, if the other zones can take the load",
            subject.related(f"the pods are spread over {zones} zones", subject.route(spread[0], "topologyKey")),
        )


_REPLICAS = 2  # fewer need no spreading


@rule(
    "SPR506",
    "nothing spreads the replicas behind a Service",
    Severity.INFO,
    is_opinion=True,
    needs_constraints=False,
    around=("Service",),
    speaks_from=Knowledge.KNOWN,
    fixes=UNSAFE,
    threshold=_REPLICAS,
)
def no_spread(subject: Subject) -> Iterator[RuleFinding]:
    """Find workloads of two or more replicas behind a Service without any spreading."""
    if subject.kind not in SCALED_KINDS or subject.constraints or subject.spec.get("nodeName"):
        return
    if subject.patched_keys or fields(subject.spec, "affinity").get("podAntiAffinity"):
        return
    least, most, *_ = subject.replicas
    services = subject.project.services(subject)
    if not services or most is None or most < subject.target.threshold("SPR506", _REPLICAS):
        return
    first = services[0]
    # With the controller's own selector.
    labels = fields(subject.controller, "selector", "matchLabels")
    constraints: list[Any] = [
        plain_constraint(key, SCHEDULE_ANYWAY, {"matchLabels": dict(labels)}) for key in (ZONE, HOSTNAME)
    ]
    route = subject.list_route
    yield RuleFinding(
        f"{'the' if least == most else 'up to'} {most} replicas behind Service `{first.name}` have neither constraints "
        "nor pod anti-affinity, so they may all run on one node or in one zone",
        route,
        "add constraints over zones and nodes",
        (Label(first.place(("metadata", "name")), "sends traffic to them"),),
        fix=Fix("add ScheduleAnyway constraints over zones and nodes", (Put(route, constraints),)) if labels else None,
    )


_ZONES = (ZONE, "failure-domain.beta.kubernetes.io/zone")
_ANNOTATIONS = ("service.kubernetes.io/topology-mode", "service.kubernetes.io/topology-aware-hints")


@rule(
    "SPR509",
    "a Service keeps traffic in the zone, but its pods are not spread over zones",
    Severity.INFO,
    kinds=("Service",),
    is_opinion=True,
)
def traffic_without_spread(manifest: Manifest, project: Project) -> Iterator[RuleFinding]:
    """Find Services with pods that nothing in their manifest spreads over zones; once a Service."""
    route: Route = ("spec", "trafficDistribution")
    if value_at(manifest.plain, route) not in ("PreferClose", "PreferSameZone"):
        annotations = fields(manifest.plain, "metadata", "annotations")
        named = [name for name in _ANNOTATIONS if annotations.get(name) in ("Auto", "auto")]
        if not named:
            return
        route = ("metadata", "annotations", named[0])
    for subject in project.backends(manifest):
        apart = [term.topology_key for term in terms(subject) if term.repels and term.is_required]
        is_spread = not {*apart, *(item.topology_key for item in subject.constraints)}.isdisjoint(_ZONES)
        if subject.kind not in SCALED_KINDS or is_spread:
            continue
        if subject.is_single:
            continue
        yield RuleFinding(
            f"the Service keeps traffic in its zone, but nothing spreads the pods of {subject.title} "
            "over zones, so a zone may have no endpoint",
            route,
            f"add a constraint over {ZONE} to the pods",
            subject.related("the Service selects its pods", ("metadata", "name")),
        )
        return
