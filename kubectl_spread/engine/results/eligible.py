"""Nodes that a workload's constraint counts, and the skew over their domains.

Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, matchNodeInclusionPolicies,
nodeLabelsMatchSpreadConstraints (v1.36.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple, Optional

from kubectl_spread.engine.state import P
from kubectl_spread.engine.world import World
from kubectl_spread.objects.constraints.constraint import HONOR, TopologySpreadConstraint
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import PodClass


class NodeDomains(NamedTuple):
    """The domain of each node that a constraint counts, by the node's index; `domains`: the number of domains."""

    domain_of: dict[int, str]
    domains: int

    def skew(self, pods: Iterable[P]) -> int:
        """Return the number of pods in the fullest domain minus the number in the emptiest."""
        found = self.domain_of
        counts = Counter(found[pod.node] for pod in pods if not pod.end and pod.node in found).values()
        if not counts:
            return 0
        return max(counts) - (min(counts) if len(counts) == self.domains else 0)


def class_of(world: World, rev: int) -> Optional[PodClass]:
    """Return the class of a revision's pods; None for a DaemonSet, whose pods are each bound to one node."""
    workload = world.revisions[rev].workload
    if workload.kind == "DaemonSet":
        return None
    return world.classes[world.cls_of(rev, workload.first_ordinal)]


def counted_nodes(world: World, facts: int, revs: Iterable[int], topology_key: str) -> NodeDomains:
    """Return the nodes that a constraint of some revision counts; without a constraint, all that have the key."""
    classes = [cls for rev in revs if (cls := class_of(world, rev)) is not None]
    constraints = [
        _Constraint(cls, item, _keys(cls, item.is_hard))
        for cls in classes
        for item in cls.constraints
        if item.topology_key == topology_key
    ]
    found = {
        at: node.labels[topology_key]
        for at, node in enumerate(world.facts[facts].nodes)
        if node is not None and topology_key in node.labels and _is_counted(node, constraints)
    }
    return NodeDomains(found, len(set(found.values())))


class _Constraint(NamedTuple):
    """A constraint of a pod class; `keys` are those that a node must have to be counted."""

    cls: PodClass
    constraint: TopologySpreadConstraint
    keys: frozenset[str]


def _is_counted(node: Node, constraints: Collection[_Constraint]) -> bool:
    return not constraints or any(_counts(node, *item) for item in constraints)


def _counts(node: Node, cls: PodClass, constraint: TopologySpreadConstraint, keys: frozenset[str]) -> bool:
    if not keys <= node.labels.keys():
        return False
    if constraint.node_affinity_policy in (None, HONOR) and not cls.node_requirement.matches(node.labels, node.name):
        return False
    return constraint.node_taints_policy != HONOR or all(
        not taint.repels or any(item.tolerates(taint) for item in cls.tolerations) for taint in node.taints
    )


def _keys(cls: PodClass, is_hard: bool) -> frozenset[str]:  # noqa: FBT001 (hard or soft constraints)
    """Return the keys that a node must have to be counted: those of all hard, or all soft, constraints."""
    return frozenset(item.topology_key for item in cls.constraints if item.is_hard == is_hard)
