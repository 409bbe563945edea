"""Which spread constraints a pod has, and what they count.

Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, plugin.go,
pkg/scheduler/framework/plugins/helper/spread.go (v1.36.2).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.naive import objects, selectors
from tests.naive.framework import Handle
from tests.naive.nodeinfo import NodeInfo, PodInfo

Plain = dict[str, Any]

HOSTNAME = "kubernetes.io/hostname"

SYSTEM_DEFAULT_CONSTRAINTS = [
    {"topologyKey": HOSTNAME, "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 3},
    {"topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 5},
]

# Owners whose selector is taken over: the lister and whether it is a plain map of labels.
_OWNERS = {
    ("v1", "ReplicationController"): True,
    ("apps/v1", "ReplicaSet"): False,
    ("apps/v1", "StatefulSet"): False,
}


class TopologySpreadConstraint(NamedTuple):
    """A constraint as the plug-in uses it."""

    max_skew: int
    topology_key: str
    selector: selectors.Selector
    min_domains: int
    node_affinity_policy: str
    node_taints_policy: str

    def match_node_inclusion_policies(self, pod: Plain, node: Plain) -> bool:
        if self.node_affinity_policy == "Honor" and not selectors.match_required_node_affinity(pod, node):
            return False
        if self.node_taints_policy == "Honor":
            return selectors.find_matching_untolerated_taint(node, pod) is None
        return True


def filter_topology_spread_constraints(
    constraints: list[Plain], pod_labels: dict[str, str], action: str
) -> list[TopologySpreadConstraint]:
    """Parse the constraints with an action; match label keys narrow the selector by the pod's present labels.

    Raises:
        selectors.ParseError: a selector is broken.
    """
    found = []
    for written in constraints:
        if written.get("whenUnsatisfiable") != action:
            continue
        selector = selectors.label_selector_as_selector(written.get("labelSelector"))
        keys = {key: pod_labels[key] for key in written.get("matchLabelKeys") or [] if key in pod_labels}
        if keys:
            selector = merge_label_set_with_selector(keys, selector)
        found.append(_new_constraint(written, selector))
    return found


def _new_constraint(written: Plain, selector: selectors.Selector) -> TopologySpreadConstraint:
    return TopologySpreadConstraint(
        max_skew=written["maxSkew"],
        topology_key=written["topologyKey"],
        selector=selector,
        min_domains=1 if written.get("minDomains") is None else written["minDomains"],
        node_affinity_policy=written.get("nodeAffinityPolicy") or "Honor",
        node_taints_policy=written.get("nodeTaintsPolicy") or "Ignore",
    )


def merge_label_set_with_selector(labels: dict[str, str], selector: selectors.Selector) -> selectors.Selector:
    return selector.add(selectors.selector_from_set(labels).requirements)


def build_default_constraints(
    handle: Handle, pod: Plain, defaults: list[Plain], *, action: str
) -> list[TopologySpreadConstraint]:
    """The cluster's constraints of an action, with the selector that is deduced for the pod; none without one."""
    constraints = filter_topology_spread_constraints(defaults, objects.labels_of(pod), action)
    if not constraints:
        return []
    selector = default_selector(handle, pod)
    if selector.empty():
        return []
    return [constraint._replace(selector=selector) for constraint in constraints]


def default_selector(handle: Handle, pod: Plain) -> selectors.Selector:
    """What Services and the controller of a pod select, all at once."""
    labels: dict[str, str] = {}
    for service in get_pod_services(handle, pod):
        labels.update(service["spec"]["selector"])
    owner = objects.controller_of(pod)
    kind = (owner.get("apiVersion") or "", owner.get("kind") or "")
    if kind not in _OWNERS:
        return selectors.selector_from_set(labels)
    found = handle.get(kind[1], owner["name"], objects.namespace_of(pod))
    if found is None:
        return selectors.selector_from_set(labels)
    if _OWNERS[kind]:
        return selectors.selector_from_set({**labels, **(found["spec"].get("selector") or {})})
    try:
        other = selectors.label_selector_as_selector(found["spec"].get("selector"))
    except selectors.ParseError:
        return selectors.selector_from_set(labels)
    return selectors.selector_from_set(labels).add(other.requirements)


def get_pod_services(handle: Handle, pod: Plain) -> list[Plain]:
    """Services of the namespace that select the pod; one without a selector selects nothing."""
    found = []
    for service in handle.list("Service"):
        selector = (service.get("spec") or {}).get("selector")
        if selector is None or objects.namespace_of(service) != objects.namespace_of(pod):
            continue
        if selectors.selector_from_set(selector).matches(objects.labels_of(pod)):
            found.append(service)
    return found


def count_pods_match_selector(pods: list[PodInfo], selector: selectors.Selector, namespace: str) -> int:
    """Count the pods of a namespace that match. Terminating ones do not count; an empty selector counts none."""
    if selector.empty():
        return 0
    count = 0
    for info in pods:
        if objects.is_terminating(info.pod) or objects.namespace_of(info.pod) != namespace:
            continue
        if selector.matches(objects.labels_of(info.pod)):
            count += 1
    return count


def node_labels_match_spread_constraints(labels: dict[str, str], constraints: list[TopologySpreadConstraint]) -> bool:
    """Whether a node has the key of every constraint."""
    return all(constraint.topology_key in labels for constraint in constraints)


def is_hostname(constraint: TopologySpreadConstraint) -> bool:
    return constraint.topology_key == HOSTNAME


def pods_on(node: NodeInfo, constraint: TopologySpreadConstraint, namespace: str) -> int:
    return count_pods_match_selector(node.pods, constraint.selector, namespace)
