"""A constraint in the form the plugin works with.

Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go (v1.36.2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kubectl_spread.cluster.columns import Bools, Columns
from kubectl_spread.objects.constraints.constraint import HONOR, TopologySpreadConstraint
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.releases import behaviours
from kubectl_spread.objects.releases.field_versions import known_fields
from kubectl_spread.objects.releases.version import LATEST, Release
from kubectl_spread.objects.selectors import compile_selector, EVERY_POD, LabelRequirement, NodeRequirement, Selector


class Constraint(NamedTuple):
    """topologySpreadConstraint: defaults filled in, the selector compiled with its matchLabelKeys."""

    position: int
    max_skew: int
    topology_key: str
    selector: Selector
    min_domains: int
    honors_affinity: bool
    honors_taints: bool
    self_match_num: int  # 1 when the selector matches the incoming pod's own labels


def filter_topology_spread_constraints(
    pod_class: PodClass, *, hard: bool, release: Release = LATEST
) -> tuple[Constraint, ...]:
    """Return the pod's constraints of one action, in order."""
    labels = dict(pod_class.labels)
    return tuple(
        _internal(known_fields(constraint, release), labels, effective_selector(constraint, labels, release))
        for constraint in pod_class.constraints
        if constraint.is_hard == hard
    )


def effective_selector(
    constraint: TopologySpreadConstraint, labels: dict[str, str], release: Release = LATEST
) -> Selector:
    """Return labelSelector with the matchLabelKeys that the pod has; keys that it lacks are ignored.

    The API server writes the keys into the selector when it creates a pod. The scheduler adds them again from the pod's
    current labels. So the selector of a stored pod whose label changed matches nothing.
    """
    selector = compile_selector(constraint.label_selector)
    if selector.is_empty and not behaviours.EMPTY_SELECTOR_COUNTS_NONE.of(release):
        selector = EVERY_POD
    for key in known_fields(constraint, release).match_label_keys:
        if key in labels:
            requirement = LabelRequirement(key, "In", (labels[key],))
            if requirement not in (selector.requirements or ()):
                selector = selector.plus(requirement)
    return selector


def with_selector(
    constraints: tuple[TopologySpreadConstraint, ...], pod_class: PodClass, selector: Selector, *, hard: bool
) -> tuple[Constraint, ...]:
    """Return default constraints of one action, with the selector that was deduced for the pod."""
    labels = dict(pod_class.labels)
    return tuple(_internal(constraint, labels, selector) for constraint in constraints if constraint.is_hard == hard)


def _internal(constraint: TopologySpreadConstraint, labels: dict[str, str], selector: Selector) -> Constraint:
    return Constraint(
        position=constraint.position,
        max_skew=constraint.max_skew,
        topology_key=constraint.topology_key,
        selector=selector,
        min_domains=1 if constraint.min_domains is None else constraint.min_domains,
        honors_affinity=constraint.node_affinity_policy in (None, HONOR),
        honors_taints=constraint.node_taints_policy == HONOR,
        self_match_num=int(selector.matches(labels)),
    )


def match_affinity(requirement: NodeRequirement, columns: Columns) -> Bools:
    """Return the nodes that nodeAffinityPolicy Honor includes, bool (N,)."""
    if requirement.is_empty:
        return np.ones(columns.n, np.bool_)
    return np.array([requirement.matches(node.labels, node.name) for node in columns.nodes], np.bool_)


def match_taints(pod_class: PodClass, columns: Columns) -> Bools:
    """Return bool (N,): nodes that nodeTaintsPolicy Honor includes, without regard to `spec.unschedulable`."""
    if not columns.has_taints:
        return np.ones(columns.n, np.bool_)
    codes, _ = columns.tainted.first(pod_class.tolerations)
    return codes < 0


def match_node_inclusion_policies(constraint: Constraint, pod_class: PodClass, columns: Columns) -> Bools:
    """Return bool (N,): nodes whose pods and domains a constraint counts, its key aside."""
    included = np.ones(columns.n, np.bool_)
    if constraint.honors_affinity:
        included &= match_affinity(pod_class.node_requirement, columns)
    if constraint.honors_taints:
        included &= match_taints(pod_class, columns)
    return included


def with_all_keys(constraints: tuple[Constraint, ...], columns: Columns) -> Bools:
    """Return the nodes with the label of every constraint, bool (N,) (nodeLabelsMatchSpreadConstraints)."""
    present = np.ones(columns.n, np.bool_)
    for constraint in constraints:
        present &= columns.topology(constraint.topology_key).codes >= 0
    return present
