"""Constraints over only zones or only nodes switch off the default spreading over the other.

## What it does

Reports a workload with constraints over zones and none over nodes, or the reverse. A scheduler with other defaults
(`--scheduler-config`) is SPR910.

## Why it matters

The scheduler spreads a pod without constraints by two preferences of its own, over `kubernetes.io/hostname` and
`topology.kubernetes.io/zone`. A single constraint in the pod replaces both; an empty list does not. With zones alone,
the pods of a zone may share one node. With nodes alone, all pods may be in one zone.

## Example

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      serviceName: web
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers:
          - {name: web, image: registry.example/web:1.25}

## Use instead

Add a ScheduleAnyway constraint over the other key.

## Fix safety

The fix is unsafe: it adds a constraint.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubectl_spread.lint.finding import Fix, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.pod_requirements import host_ports, node_values, PREFERRED, REQUIRED
from kubectl_spread.lint.workload import FIELD, Subject
from kubectl_spread.objects.constraints.constraint import SCHEDULE_ANYWAY, TopologySpreadConstraint
from kubectl_spread.objects.reading.plain import mappings
from kubectl_spread.objects.selectors.labels import HOSTNAME, REGION, ZONE
from kubectl_spread.objects.workloads.workload import SCALED_KINDS
from kubectl_spread.text.edit import Append

_FIRST_MINOR = 20  # of the built-in constraints
_OLD_KEYS = {
    "failure-domain.beta.kubernetes.io/zone": ZONE,
    "failure-domain.beta.kubernetes.io/region": REGION,
}


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find workloads with constraints over zones but not over nodes, or the other way round."""
    if not _has_defaults(subject, project) or project.replicas(subject).likely in (0, 1):
        return
    own = [item for item in subject.constraints if subject.is_in_its_group(item)]
    keys = {_OLD_KEYS.get(item.topology_key, item.topology_key) for item in subject.constraints}
    if not own or not keys <= {ZONE, HOSTNAME, REGION} or (ZONE in keys) == (HOSTNAME in keys):
        return
    missing = HOSTNAME if ZONE in keys else ZONE
    if _is_kept_apart(subject, missing) or _is_moot(subject, missing, project):
        return
    route = (*subject.spec_route, FIELD)
    is_node = missing == HOSTNAME
    what = "pods of one zone may share a node" if is_node else "all pods may end up in one zone"
    yield RuleFinding(
        f"{what}: with these constraints the scheduler no longer spreads over {'nodes' if is_node else 'zones'} by "
        "default",
        subject.place(route, key=True),
        subject.path(route),
        f"add a {SCHEDULE_ANYWAY} constraint over {missing}",
        fix=Fix(
            f"add a {SCHEDULE_ANYWAY} constraint over `{missing}`", (Append(route, _soft(subject, own[0], missing)),)
        ),
    )


def _has_defaults(subject: Subject, project: Project) -> bool:
    """Return whether the pods would be spread by the built-in constraints if they had none.

    These select by the controller. Pods with another kind of controller count only if a Service selects them.
    """
    minor = project.target.minor
    return (
        subject.workload.kind in SCALED_KINDS
        and not subject.refusals
        and not subject.is_owned
        and subject.spec.get("schedulerName") in (None, "", "default-scheduler")
        and not subject.spec.get("nodeName")
        and not (project.facts is not None and project.facts.configured_defaults(subject.workload))  # SPR910
        and (minor is None or minor >= _FIRST_MINOR)
        and (project.facts is None or project.facts.configured_defaults(subject.workload) is None)
    )


def _is_kept_apart(subject: Subject, key: str) -> bool:
    """Return whether anti-affinity, or on a node a port, does for a key what a constraint would."""
    terms: list[dict[str, Any]] = []
    anti_affinity = (subject.spec.get("affinity") or {}).get("podAntiAffinity") or {}
    terms += mappings(anti_affinity.get(REQUIRED))
    for weighted in mappings(anti_affinity.get(PREFERRED)):
        terms.append(weighted.get("podAffinityTerm") or {})
    if any(term.get("topologyKey") == key for term in terms):
        return True
    return key == HOSTNAME and any(host_ports(subject))


def _is_moot(subject: Subject, key: str, project: Project) -> bool:
    """Return whether spreading over a key would change nothing."""
    if project.facts is not None and key not in project.facts.node_keys:
        return True
    most = project.replicas(subject).maximum
    if key == HOSTNAME and most is not None:
        for item in subject.hard:
            if item.topology_key == ZONE and item.max_skew == 1 and most <= max(2, item.min_domains or 1):
                return True
    values = node_values(subject, key)
    return values is not None and len(values) < 2


def _soft(subject: Subject, like: TopologySpreadConstraint, key: str) -> dict[str, Any]:
    """Return a soft constraint over a key that counts what another counts."""
    written = mappings(subject.spec.get(FIELD))[like.position]
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": SCHEDULE_ANYWAY,
        **{name: written[name] for name in ("labelSelector", "matchLabelKeys") if written.get(name)},
    }
