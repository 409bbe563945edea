"""`topologyKey` is a misspelt label of Kubernetes.

`topology.kubernetes.io/hostname` and `kubernetes.io/zone` look right and exist nowhere: the labels are
`kubernetes.io/hostname`, `topology.kubernetes.io/zone` and `topology.kubernetes.io/region`. With DoNotSchedule every
node without the label is refused, so all pods stay Pending; with ScheduleAnyway no node is scored. The terms of pod
affinity and anti-affinity have a `topologyKey`, too: required affinity over a label that no node has keeps all pods
Pending, and anti-affinity keeps no pods apart.

Example:
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

The prefixes `kubernetes.io` and `k8s.io`, and all that end in `.kubernetes.io` or `.k8s.io`, are reserved for
Kubernetes. A label there that Kubernetes does not set, `topology.kubernetes.io/rack`, is a warning, and so is a key
without a prefix, `zone` or `host`: either may be a label of your own. A label under your own prefix is not reported,
nor one that a node of the cluster facts has.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint import fix_builders
from kubectl_spread.lint.finding import Fix
from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import demands
from kubectl_spread.lint.queries import misspelt_keys
from kubectl_spread.lint.topology_keys import meant
from kubectl_spread.lint.workload import Subject
from kubectl_spread.text.edit import Put


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find keys that are nearly a well-known label, or that have a reserved prefix and are none."""
    yield from _of_terms(subject, project)
    for constraint in subject.constraints:
        if misspelt_keys.is_reported(constraint.topology_key, project) and not (
            constraint.is_hard and _has_nodes(subject)
        ):
            known = meant(constraint.topology_key)
            is_certain = bool(known) and "/" in constraint.topology_key
            route = subject.route(constraint, "topologyKey")
            then = "every node is refused" if constraint.is_hard else "no node is scored"
            yield Found(
                f"Kubernetes sets no node label `{constraint.topology_key}`; where nodes lack it, {then}",
                subject.place(route),
                subject.path(route),
                f"did you mean `{known}`?" if known else _RESERVED,
                severity=None if is_certain else Severity.WARNING,
                fix=fix_builders.with_key(subject, constraint, known) if is_certain else None,
            )


_RESERVED = "its prefix is reserved for Kubernetes: check that your nodes have the label, or use a prefix of your own"


def _has_nodes(subject: Subject) -> bool:
    """Whether all pods of an object out of a cluster run, so that nodes have what its hard constraints ask for."""
    status = subject.manifest.plain.get("status")
    if not isinstance(status, dict) or not status:
        return False
    if subject.workload.kind == "Pod":
        return bool(subject.spec.get("nodeName"))
    wanted = status.get("replicas")
    return bool(wanted) and wanted == status.get("updatedReplicas") == status.get("readyReplicas")


def _of_terms(subject: Subject, project: Project) -> Iterator[Found]:
    """Find such keys in the terms of pod affinity and anti-affinity."""
    for term in demands.terms(subject):
        needs_nodes = term.is_required and not term.repels
        if not misspelt_keys.is_reported(term.topology_key, project) or (needs_nodes and _has_nodes(subject)):
            continue
        known = meant(term.topology_key)
        is_certain = bool(known) and "/" in term.topology_key
        yield Found(
            f"Kubernetes sets no node label `{term.topology_key}`; where nodes lack it, {_effect(term)}",
            subject.place(term.route),
            subject.path(term.route),
            f"did you mean `{known}`?" if known else _RESERVED,
            severity=None if is_certain else Severity.WARNING,
            fix=_written(term, known) if is_certain else None,
        )


def _effect(term: demands.Term) -> str:
    if term.is_required:
        return "this term keeps no pods apart" if term.repels else "every node is refused"
    return "this term has no effect"


def _written(term: demands.Term, key: str) -> Fix:
    """The key that is meant. Anti-affinity that comes into force may leave pods Pending."""
    return Fix(f"write `{key}`", (Put(term.route, key),), is_safe=not (term.is_required and term.repels))
