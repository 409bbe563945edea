"""What the scheduler keeps of pods and nodes: resources, affinity terms, used host ports, image sizes.

Source: pkg/scheduler/framework/types.go, pkg/scheduler/backend/cache/cache.go (images) (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Optional

from tests.naive import gomath, objects, requests, selectors

Plain = dict[str, Any]
DEFAULT_BIND_ALL_HOST_IP = "0.0.0.0"

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class Resource:
    """Whole units by name, CPU in milli-units; a name that is not there counts as 0."""

    def __init__(self) -> None:
        self.amounts: dict[str, int] = {}

    def __getitem__(self, name: str) -> int:
        return self.amounts.get(name, 0)

    def add(self, wanted: requests.ResourceList, sign: int = 1) -> None:
        for name, thousandths in wanted.items():
            if name in ("cpu", "memory", "ephemeral-storage", "pods") or requests.is_scalar_resource_name(name):
                self.amounts[name] = gomath.int64(self[name] + sign * requests.value(name, thousandths))

    def copy(self) -> Resource:
        twin = Resource()
        twin.amounts = dict(self.amounts)
        return twin


class AffinityTerm(NamedTuple):
    """A term of pod affinity or anti-affinity; `weight` is 0 where it is required."""

    namespaces: frozenset[str]
    selector: selectors.Selector
    topology_key: str
    namespace_selector: selectors.Selector
    weight: int

    def matches(self, pod: Plain, namespace_labels: Optional[Mapping[str, str]]) -> bool:
        """Whether a pod is one the term speaks of.

        Args:
            pod: the pod.
            namespace_labels: those of its namespace; none count as no labels.
        """
        in_namespace = objects.namespace_of(pod) in self.namespaces
        if not in_namespace and not self.namespace_selector.matches(namespace_labels or {}):
            return False
        return self.selector.matches(objects.labels_of(pod))


def new_affinity_term(pod: Plain, term: Plain, weight: int = 0) -> AffinityTerm:
    return AffinityTerm(
        get_namespaces_from_pod_affinity_term(pod, term),
        selectors.label_selector_as_selector(term.get("labelSelector")),
        term.get("topologyKey") or "",
        selectors.label_selector_as_selector(term.get("namespaceSelector")),
        weight,
    )


def get_namespaces_from_pod_affinity_term(pod: Plain, term: Plain) -> frozenset[str]:
    if not term.get("namespaces") and term.get("namespaceSelector") is None:
        return frozenset([objects.namespace_of(pod)])
    return frozenset(term.get("namespaces") or [])


class PodInfo:
    """A pod with its affinity terms parsed and its requests summed."""

    def __init__(self, pod: Plain) -> None:
        self.pod = pod
        self.required_affinity_terms = _required(pod, "podAffinity")
        self.required_anti_affinity_terms = _required(pod, "podAntiAffinity")
        self.preferred_affinity_terms = _preferred(pod, "podAffinity")
        self.preferred_anti_affinity_terms = _preferred(pod, "podAntiAffinity")
        self.requests, self.non_zero_requests = calculate_resource(pod)

    @property
    def has_affinity(self) -> bool:
        """`podWithAffinity`: it has either stanza, even an empty one."""
        affinity = self.pod["spec"].get("affinity") or {}
        return affinity.get("podAffinity") is not None or affinity.get("podAntiAffinity") is not None


def _required(pod: Plain, kind: str) -> list[AffinityTerm]:
    group = (pod["spec"].get("affinity") or {}).get(kind) or {}
    return [new_affinity_term(pod, term) for term in group.get(_REQUIRED) or []]


def _preferred(pod: Plain, kind: str) -> list[AffinityTerm]:
    group = (pod["spec"].get("affinity") or {}).get(kind) or {}
    return [
        new_affinity_term(pod, weighted["podAffinityTerm"], weighted["weight"])
        for weighted in group.get(_PREFERRED) or []
    ]


def calculate_resource(pod: Plain) -> tuple[requests.ResourceList, requests.ResourceList]:
    """What a pod on a node takes: its requests, and its requests with defaults for what no container names."""
    plain = requests.pod_requests(pod, use_status=True)
    missing = requests.NON_ZERO_DEFAULTS
    if requests.is_pod_level_requests_set(pod):
        missing = {name: amount for name, amount in missing.items() if name not in plain}
    return plain, requests.pod_requests(pod, missing, use_status=True)


class Image(NamedTuple):
    """An image as the whole cluster has it."""

    size_bytes: int
    nodes: set[str]


class NodeInfo:
    """A node and the pods on it."""

    def __init__(self, node: Plain) -> None:
        self.node = node
        self.pods: list[PodInfo] = []
        self.requested = Resource()
        self.non_zero_requested = Resource()
        self.allocatable = Resource()
        self.allocatable.add(requests.resource_list((node.get("status") or {}).get("allocatable")))
        self.used_ports: set[tuple[str, str, int]] = set()
        self.image_states: dict[str, Image] = {}

    @property
    def name(self) -> str:
        return objects.name_of(self.node)

    @property
    def labels(self) -> dict[str, str]:
        return objects.labels_of(self.node)

    def clone(self) -> NodeInfo:
        twin = NodeInfo(self.node)
        twin.pods = list(self.pods)
        twin.requested = self.requested.copy()
        twin.non_zero_requested = self.non_zero_requested.copy()
        twin.used_ports = set(self.used_ports)
        twin.image_states = self.image_states
        return twin

    def add_pod(self, pod: PodInfo) -> None:
        self.pods.append(pod)
        self.requested.add(pod.requests)
        self.non_zero_requested.add(pod.non_zero_requests)
        self.used_ports.update(host_ports(pod.pod))

    def remove_pod(self, pod: PodInfo) -> None:
        """Take a pod off. Ports are a set: one that another pod holds too is free afterwards."""
        uid = objects.uid_of(pod.pod)
        self.pods = [other for other in self.pods if objects.uid_of(other.pod) != uid]
        self.requested.add(pod.requests, -1)
        self.non_zero_requested.add(pod.non_zero_requests, -1)
        self.used_ports.difference_update(host_ports(pod.pod))


def host_ports(pod: Plain) -> list[tuple[str, str, int]]:
    """`GetHostPorts`: (IP, protocol, port) of containers and sidecars."""
    holders = list(objects.containers(pod))
    holders += [item for item in objects.init_containers(pod) if objects.is_restartable_init_container(item)]
    found = []
    for container in holders:
        for port in container.get("ports") or []:
            if (port.get("hostPort") or 0) > 0:
                ip = port.get("hostIP") or DEFAULT_BIND_ALL_HOST_IP
                found.append((ip, port.get("protocol") or "TCP", port["hostPort"]))
    return found


def check_conflict(used: set[tuple[str, str, int]], wanted: tuple[str, str, int]) -> bool:
    """`HostPortInfo.CheckConflict`: the wildcard address meets every address."""
    ip, protocol, port = wanted
    if ip == DEFAULT_BIND_ALL_HOST_IP:
        return any((protocol, port) == (other, number) for _, other, number in used)
    return wanted in used or (DEFAULT_BIND_ALL_HOST_IP, protocol, port) in used


def add_node_image_states(infos: list[NodeInfo]) -> None:
    """Give every node the images it reports; the size is what the first node to report an image said."""
    known: dict[str, Image] = {}
    for info in infos:
        for image in (info.node.get("status") or {}).get("images") or []:
            for name in image.get("names") or []:
                state = known.setdefault(name, Image(image.get("sizeBytes") or 0, set()))
                state.nodes.add(info.name)
                info.image_states[name] = state
