"""Karpenter gives no node the label of `topologyKey`.

## What it does

Reports a key that Karpenter does not spread over and no NodePool in the input names. Without a NodePool in the input
it is info. This rule is an opinion, on by default if the manifests are for Karpenter.

## Why it matters

Karpenter spreads over `topology.kubernetes.io/zone`, `kubernetes.io/hostname`, `karpenter.sh/capacity-type`, the
labels of its instance types, and labels that a NodePool names in `spec.template.metadata.labels` or as the key of a
requirement. For any other key it finds no domain and adds no node. With DoNotSchedule the pods stay Pending.

## Example

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: example.com/rack
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]
    ---
    apiVersion: karpenter.sh/v1
    kind: NodePool
    metadata: {name: general}
    spec:
      template:
        metadata: {labels: {example.com/team: shop}}
        spec:
          requirements:
          - {key: kubernetes.io/arch, operator: In, values: [amd64]}

## Use instead

Name the label and its values in a NodePool, or use the zone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubectl_spread.lint.finding import RuleFinding, Severity
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.topology_keys import intended_key, is_unknown
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors.labels import HOSTNAME, REGION, ZONE
from kubectl_spread.objects.workloads.manifest import Manifest

_SUPPORTED = frozenset({ZONE, HOSTNAME, "karpenter.sh/capacity-type"})
# Its types of instances have them, whatever a NodePool names.
_OF_INSTANCES = frozenset({REGION, "kubernetes.io/arch", "kubernetes.io/os", "node.kubernetes.io/instance-type"})
_OWN = "karpenter."  # how the prefix of its own labels begins, and of those of its providers


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find keys that no NodePool in the input has, except misspelt or deprecated keys (SPR302, SPR602)."""
    pools = [manifest for manifest in project.of_kind("NodePool") if manifest.api_version.startswith("karpenter.sh/")]
    known = _SUPPORTED.union(_OF_INSTANCES, *map(_keys, pools))
    for constraint in subject.constraints:
        key = constraint.topology_key
        if not key or key in known or key.startswith(_OWN) or _is_reported(key):
            continue
        route = subject.route(constraint, "topologyKey")
        yield RuleFinding(
            f"Karpenter adds no node for these pods: it knows the label `{key}` only from a NodePool, and "
            f"{_where(len(pools))}",
            subject.place(route),
            subject.path(route),
            f"add it to spec.template.metadata.labels or to the requirements of a NodePool, or use {ZONE}",
            severity=None if pools else Severity.INFO,
        )


def _is_reported(key: str) -> bool:
    """Return whether SPR302 or SPR602 reports a key."""
    return bool(intended_key(key)) or is_unknown(key) or ".beta.kubernetes.io/" in f".{key}"


def _where(pools: int) -> str:
    if not pools:
        return "the input has none"
    return "the one in the input does not name it" if pools == 1 else f"none of the {pools} in the input names it"


def _keys(pool: Manifest) -> set[str]:
    """Return the labels that the nodes of a pool can have."""
    template = fields(fields(pool.plain.get("spec")).get("template"))
    requirements = fields(template.get("spec")).get("requirements")
    named = {str(item.get("key")) for item in _items(requirements)}
    return named | set(fields(fields(template.get("metadata")).get("labels")))


def _items(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
