"""`topologyKey` is a misspelt label of Kubernetes.

## What it does

Reports a `topologyKey` that is nearly a well-known node label, in constraints and in the terms of pod affinity and
anti-affinity. `topology.kubernetes.io/hostname` and `kubernetes.io/zone` do not exist: the labels are
`kubernetes.io/hostname`, `topology.kubernetes.io/zone` and `topology.kubernetes.io/region`.

It is a warning for a key without a prefix, such as `zone`, and for an unknown key with a prefix reserved for
Kubernetes, such as `topology.kubernetes.io/rack`: you may have set either yourself. Keys with your own prefix, and
labels that a node of the known cluster has, are not reported.

## Why it matters

With DoNotSchedule, or in required pod affinity, every node without the label is refused and all pods stay Pending.
ScheduleAnyway has no effect, and anti-affinity keeps no pods apart.

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
          containers: [{name: web, image: web}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: kubernetes.io/region
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

## Use instead

Write the well-known label.

    - maxSkew: 1
      topologyKey: topology.kubernetes.io/region
      whenUnsatisfiable: ScheduleAnyway
      labelSelector: {matchLabels: {app: web}}

## Fix safety

The fix is safe in constraints: no node has the misspelt label. In required anti-affinity it is unsafe, as the term
takes effect for the first time and pods may stay Pending.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Fix, RuleFinding, Severity
from kubectl_spread.lint.fixing import fix_builders
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import misspelt_keys, pod_requirements
from kubectl_spread.lint.topology_keys import intended_key
from kubectl_spread.lint.workload import Subject
from kubectl_spread.text.edit import Put


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find keys that are nearly a well-known label, or that have a reserved prefix and are none."""
    yield from _of_terms(subject, project)
    for constraint in subject.constraints:
        if misspelt_keys.is_reported(constraint.topology_key, project) and not (
            constraint.is_hard and _has_nodes(subject)
        ):
            known = intended_key(constraint.topology_key)
            is_certain = bool(known) and "/" in constraint.topology_key
            route = subject.route(constraint, "topologyKey")
            then = _REFUSED if constraint.is_hard else "the pods are not spread"
            yield RuleFinding(
                _message(then, constraint.topology_key),
                subject.place(route),
                subject.path(route),
                f"did you mean `{known}`?" if known else _RESERVED,
                severity=None if is_certain else Severity.WARNING,
                fix=fix_builders.with_key(subject, constraint, known) if is_certain else None,
            )


_REFUSED = "all pods stay Pending"
_RESERVED = "its prefix is reserved for Kubernetes: check that your nodes have the label, or use a prefix of your own"


def _message(then: str, key: str) -> str:
    return f"{then} if no node has the label `{key}`, which Kubernetes does not set"


def _has_nodes(subject: Subject) -> bool:
    """Return whether all pods of an object from a cluster run, so nodes have the labels it needs."""
    status = subject.manifest.plain.get("status")
    if not isinstance(status, dict) or not status:
        return False
    if subject.workload.kind == "Pod":
        return bool(subject.spec.get("nodeName"))
    wanted = status.get("replicas")
    return bool(wanted) and wanted == status.get("updatedReplicas") == status.get("readyReplicas")


def _of_terms(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find such keys in the terms of pod affinity and anti-affinity."""
    for term in pod_requirements.terms(subject):
        needs_nodes = term.is_required and not term.repels
        if not misspelt_keys.is_reported(term.topology_key, project) or (needs_nodes and _has_nodes(subject)):
            continue
        known = intended_key(term.topology_key)
        is_certain = bool(known) and "/" in term.topology_key
        yield RuleFinding(
            _message(_effect(term), term.topology_key),
            subject.place(term.route),
            subject.path(term.route),
            f"did you mean `{known}`?" if known else _RESERVED,
            severity=None if is_certain else Severity.WARNING,
            fix=_written(term, known) if is_certain else None,
        )


def _effect(term: pod_requirements.Term) -> str:
    if term.is_required:
        return "this term keeps no pods apart" if term.repels else _REFUSED
    return "this term has no effect"


def _written(term: pod_requirements.Term, key: str) -> Fix:
    """Return the intended key. Anti-affinity that takes effect may leave pods Pending."""
    return Fix(f"write `{key}`", (Put(term.route, key),), is_safe=not (term.is_required and term.repels))
