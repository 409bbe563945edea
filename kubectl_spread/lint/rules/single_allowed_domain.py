"""The pods can run in only one domain.

## What it does

Reports a constraint if nodeSelector or required node affinity allows only one value of its topology key.

## Why it matters

Only nodes that the pod may use count (`nodeAffinityPolicy` is Honor by default). The single domain is compared with
itself, so any number of pods may go there. With `minDomains` of 2 or more it takes at most `maxSkew` pods and the rest
stay Pending: that is an error if the workload has more. For Jobs, whose pods end, and for other schedulers it is a
warning.

## Example

    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      replicas: 3
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          nodeSelector: {topology.kubernetes.io/zone: eu-1a}
          containers: [{name: web, image: web}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

## Use instead

Allow more values, spread over the hostname within the zone, or remove the constraint.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from kubectl_spread.lint.finding import Label, RuleFinding, Severity
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import min_domains, pod_requirements
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import IGNORE, TopologySpreadConstraint
from kubectl_spread.text.node import Route
from kubectl_spread.text.wording import count_noun


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find constraints over a label for which the pods accept only one value. SPR307 reports those with Ignore."""
    if subject.workload.kind == "DaemonSet" or subject.spec.get("nodeName"):
        return  # SPR206, SPR210
    for constraint in subject.constraints:
        values = pod_requirements.node_values(subject, constraint.topology_key)
        if values is None or len(values) != 1 or constraint.node_affinity_policy == IGNORE:
            continue
        if not subject.is_in_its_group(constraint) or project.likely_group_size(subject, constraint) in (0, 1):
            continue
        (value,) = values
        effect = _effect(subject, constraint, project)
        route = subject.route(constraint, "topologyKey")
        yield RuleFinding(
            f"{effect}: the pods can only run where `{constraint.topology_key}` is `{value}`",
            subject.place(route),
            subject.path(route),
            "allow more values, or remove the constraint",
            (Label(subject.place(_cause(subject, constraint), key=True), "allows only one value"),),
            severity=_severity(subject, constraint, project),
        )


def _severity(subject: Subject, constraint: TopologySpreadConstraint, project: Project) -> Optional[Severity]:
    """Return an error where pods stay Pending in every cluster."""
    least = project.replicas(subject).minimum
    is_too_many = least is not None and least > constraint.max_skew and min_domains.stays_pending(subject)
    return Severity.ERROR if is_too_many and _is_capped(subject, constraint, project) else None


def _is_capped(subject: Subject, constraint: TopologySpreadConstraint, project: Project) -> bool:
    return constraint.is_hard and bool(min_domains.allowed_values(subject, constraint, project))


def _effect(subject: Subject, constraint: TopologySpreadConstraint, project: Project) -> str:
    if _is_capped(subject, constraint, project):
        pods = count_noun(constraint.max_skew, "pod")
        return f"only {pods} can run, as there are fewer domains than minDomains {constraint.min_domains}"
    return "the constraint spreads nothing"


def _cause(subject: Subject, constraint: TopologySpreadConstraint) -> Route:
    selected = (*subject.spec_route, "nodeSelector", constraint.topology_key)
    if subject.node(selected) is not None:
        return selected
    return (*subject.spec_route, "affinity", "nodeAffinity", pod_requirements.REQUIRED)
