"""`topologyKey` is a misspelt label of Kubernetes.

`topology.kubernetes.io/hostname` and `kubernetes.io/zone` look right and exist nowhere: the labels are
`kubernetes.io/hostname`, `topology.kubernetes.io/zone` and `topology.kubernetes.io/region`. With DoNotSchedule every
node without the label is refused, so all pods stay Pending; with ScheduleAnyway no node is scored.

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

A key without a prefix, `zone`, is a warning: it may be a label of your own. A label under another prefix is not
reported, nor one that a node of the cluster facts has.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint import remedies
from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.subject import Subject
from kubectl_spread.objects.constraint import TopologySpreadConstraint
from kubectl_spread.objects.labels import HOSTNAME
from kubectl_spread.objects.labels import REGION
from kubectl_spread.objects.labels import ZONE

_KNOWN = {"zone": ZONE, "region": REGION, "hostname": HOSTNAME}
_PREFIXES = ("", "kubernetes.io", "topology.kubernetes.io", "node.kubernetes.io", "k8s.io", "topology.k8s.io")
_NEAR = 0.92


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find keys that are nearly a well-known label."""
    for constraint in subject.constraints:
        if speaks_of(constraint, project) and not (constraint.is_hard and _has_nodes(subject)):
            known, has_prefix = meant(constraint.topology_key), "/" in constraint.topology_key
            route = subject.route(constraint, "topologyKey")
            then = "every node is refused" if constraint.is_hard else "no node is scored"
            yield Found(
                f"Kubernetes sets no node label `{constraint.topology_key}`; where nodes lack it, {then}",
                subject.place(route),
                subject.path(route),
                f"did you mean `{known}`?",
                severity=None if has_prefix else Severity.WARNING,
                fix=remedies.with_key(subject, constraint, known) if has_prefix else None,
            )


def _has_nodes(subject: Subject) -> bool:
    """Whether all pods of an object out of a cluster run, so that nodes have what its hard constraints ask for."""
    status = subject.manifest.plain.get("status")
    if not isinstance(status, dict) or not status:
        return False
    if subject.workload.kind == "Pod":
        return bool(subject.spec.get("nodeName"))
    wanted = status.get("replicas")
    return bool(wanted) and wanted == status.get("updatedReplicas") == status.get("readyReplicas")


def meant(key: str) -> str:
    """The well-known label that a key is meant to be; empty where it is one, or something else."""
    if not key or key in _KNOWN.values() or key.startswith("failure-domain.beta.kubernetes.io/"):
        return ""
    prefix, _, name = key.rpartition("/")
    if prefix.lower() in _PREFIXES and name.lower() in _KNOWN:
        return _KNOWN[name.lower()]
    import difflib  # 3 ms

    near = difflib.get_close_matches(key.lower(), _KNOWN.values(), n=1, cutoff=_NEAR)
    return near[0] if near else ""


def speaks_of(constraint: TopologySpreadConstraint, project: Project) -> bool:
    """Whether this rule reports the key; where nodes are known, one without a prefix is left to SPR901 and SPR902."""
    key, facts = constraint.topology_key, project.facts
    return (facts is None or ("/" in key and key not in facts.node_keys)) and bool(meant(key))
