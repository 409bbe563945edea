"""API objects as the API server stores them: plain dicts, their accessors, and what admission adds to a pod.

Source: pkg/apis/core/v1/defaults.go, pkg/registry/core/pod/strategy.go (v1.36.2). Not done here, because nothing in
a recording shows it: LimitRanger, RuntimeClass, PriorityClass, DefaultTolerationSeconds.
"""

from __future__ import annotations

import copy
from typing import Any

from tests.naive import requests

Plain = dict[str, Any]
Labels = dict[str, str]


def labels_of(item: Plain) -> Labels:
    return item.get("metadata", {}).get("labels") or {}


def annotations_of(item: Plain) -> Labels:
    return item.get("metadata", {}).get("annotations") or {}


def name_of(item: Plain) -> str:
    return item["metadata"].get("name") or ""


def namespace_of(item: Plain) -> str:
    return item["metadata"].get("namespace") or "default"


def uid_of(item: Plain) -> str:
    return item["metadata"].get("uid") or ""


def key_of(item: Plain) -> str:
    return f"{namespace_of(item)}/{name_of(item)}"


def is_terminating(item: Plain) -> bool:
    return bool(item["metadata"].get("deletionTimestamp"))


def pod_priority(pod: Plain) -> int:
    """`corev1helpers.PodPriority`: no priority is 0."""
    return pod["spec"].get("priority") or 0


def nominated_node_name(pod: Plain) -> str:
    return (pod.get("status") or {}).get("nominatedNodeName") or ""


def is_terminated(pod: Plain) -> bool:
    """A pod that the scheduler's informer filters out."""
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def containers(pod: Plain) -> list[Plain]:
    return pod["spec"].get("containers") or []


def init_containers(pod: Plain) -> list[Plain]:
    return pod["spec"].get("initContainers") or []


def is_restartable_init_container(container: Plain) -> bool:
    return container.get("restartPolicy") == "Always"


def controller_of(item: Plain) -> Plain:
    """The owner reference that controls, or an empty one."""
    owners: list[Plain] = item["metadata"].get("ownerReferences") or []
    for owner in owners:
        if owner.get("controller"):
            return owner
    return {}


def admit(pod: Plain) -> Plain:
    """Return the pod as it is stored: defaulted, its match label keys merged, with a UID."""
    stored = copy.deepcopy(pod)
    set_defaults_pod(stored)
    apply_match_label_keys(stored)
    stored["metadata"].setdefault("uid", key_of(stored))
    return stored


def set_defaults_pod(pod: Plain) -> None:
    for container in containers(pod) + init_containers(pod):
        _default_requests_to_limits(container)
    default_pod_requests(pod)
    if pod["spec"].get("hostNetwork"):
        default_host_network_ports(containers(pod))
        default_host_network_ports(init_containers(pod))


def _default_requests_to_limits(container: Plain) -> None:
    limits = (container.get("resources") or {}).get("limits") or {}
    if limits:
        container["resources"]["requests"] = {**limits, **(container["resources"].get("requests") or {})}


def default_pod_requests(pod: Plain) -> None:
    """Complete pod-level requests, but only where there are pod-level limits."""
    resources = pod["spec"].get("resources") or {}
    limits = resources.get("limits") or {}
    if not limits:
        return
    wanted = dict(resources.get("requests") or {})
    for name, thousandths in requests.aggregate_container_requests(pod).items():
        if name not in wanted and name in ("cpu", "memory"):
            wanted[name] = f"{thousandths}m"
    for name, limit in limits.items():
        if name not in wanted and requests.is_supported_pod_level_resource(name):
            wanted[name] = limit
    resources["requests"] = wanted


def default_host_network_ports(of: list[Plain]) -> None:
    for container in of:
        for port in container.get("ports") or []:
            if not port.get("hostPort"):
                port["hostPort"] = port["containerPort"]


def apply_match_label_keys(pod: Plain) -> None:
    """Merge the values of match label keys into the selectors of constraints and of affinity terms."""
    labels = labels_of(pod)
    for constraint in pod["spec"].get("topologySpreadConstraints") or []:
        _merge(constraint, labels, keys=constraint.get("matchLabelKeys"), operator="In")
    affinity = pod["spec"].get("affinity") or {}
    for kind in ("podAffinity", "podAntiAffinity"):
        group = affinity.get(kind) or {}
        terms = list(group.get("requiredDuringSchedulingIgnoredDuringExecution") or [])
        for weighted in group.get("preferredDuringSchedulingIgnoredDuringExecution") or []:
            terms.append(weighted["podAffinityTerm"])
        for term in terms:
            _merge(term, labels, keys=term.get("matchLabelKeys"), operator="In")
            _merge(term, labels, keys=term.get("mismatchLabelKeys"), operator="NotIn")


def _merge(holder: Plain, labels: Labels, *, keys: Any, operator: str) -> None:
    selector = holder.get("labelSelector")
    if selector is None:
        return
    for key in keys or []:
        if key in labels:
            added = {"key": key, "operator": operator, "values": [labels[key]]}
            selector["matchExpressions"] = [*(selector.get("matchExpressions") or []), added]
