"""Plain values (parsed YAML or JSON) to objects.

The readers take values that decode: `decode.problems` has found nothing of kind TYPE in them.
"""

from __future__ import annotations

from typing import Any
from typing import Optional

from kubectl_spread.objects import resources
from kubectl_spread.objects import spread
from kubectl_spread.objects.affinity import NodeAffinity
from kubectl_spread.objects.affinity import NodeSelectorTerm
from kubectl_spread.objects.affinity import PodAffinityTerm
from kubectl_spread.objects.affinity import PreferredTerm
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import HostPort
from kubectl_spread.objects.pod import Owner
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.selector import compiled
from kubectl_spread.objects.selector import Requirement
from kubectl_spread.objects.taints import Taint
from kubectl_spread.objects.taints import Toleration

Plain = dict[str, Any]


def node(plain: Plain) -> Node:
    """A Node."""
    metadata, spec = plain.get("metadata") or {}, plain.get("spec") or {}
    taints = tuple(
        Taint(taint.get("key") or "", taint.get("value") or "", taint.get("effect") or "")
        for taint in spec.get("taints") or ()
    )
    return Node(
        name=metadata.get("name") or "",
        labels=spread.labels(metadata),
        taints=taints,
        unschedulable=bool(spec.get("unschedulable")),
        allocatable=resources.allocatable(plain.get("status") or {}),
    )


def pod(plain: Plain) -> Pod:
    """A Pod, with the defaults that the API server fills in."""
    metadata, spec = plain.get("metadata") or {}, plain.get("spec") or {}
    status = plain.get("status") or {}
    bound_to = spec.get("nodeName") or ""
    namespace = metadata.get("namespace") or "default"
    name = metadata.get("name") or metadata.get("generateName") or ""
    return Pod(
        name=name,
        uid=metadata.get("uid") or f"{namespace}/{name}",
        cls=pod_class(namespace, spread.labels(metadata), spec, status if bound_to else {}),
        node_name=bound_to,
        phase=status.get("phase") or "",
        terminating=metadata.get("deletionTimestamp") is not None,
        nominated_node=status.get("nominatedNodeName") or "",
        owner=controller(metadata),
        message=_scheduled_message(status),
    )


def pod_class(namespace: str, pod_labels: dict[str, str], spec: Plain, status: Plain) -> PodClass:
    """What plugins may read of a pod with these labels and this spec."""
    affinity = spec.get("affinity") or {}
    return PodClass(
        namespace=namespace,
        labels=tuple(sorted(pod_labels.items())),
        requests=tuple(sorted(resources.pod_requests(spec, status).items())),
        node_selector=tuple(sorted((key, value or "") for key, value in (spec.get("nodeSelector") or {}).items())),
        node_affinity=node_affinity(affinity.get("nodeAffinity") or {}),
        pod_affinity=_pod_affinity(affinity.get("podAffinity") or {}, namespace, pod_labels),
        pod_anti_affinity=_pod_affinity(affinity.get("podAntiAffinity") or {}, namespace, pod_labels),
        tolerations=tuple(map(toleration, spec.get("tolerations") or ())),
        constraints=spread.constraints(spec),
        host_ports=_host_ports(spec),
        priority=int(spec.get("priority") or 0),
        preemption_policy=spec.get("preemptionPolicy") or "",
        scheduler_name=spec.get("schedulerName") or "default-scheduler",
        gates=tuple(gate.get("name") or "" for gate in spec.get("schedulingGates") or ()),
        beyond=_beyond(spec),
    )


def controller(metadata: Plain) -> Optional[Owner]:
    """The owner that controls an object."""
    for reference in metadata.get("ownerReferences") or ():
        if reference.get("controller"):
            return Owner(reference.get("apiVersion") or "", reference.get("kind") or "", reference.get("name") or "")
    return None


def node_affinity(plain: Plain) -> NodeAffinity:
    """`spec.affinity.nodeAffinity`."""
    required = plain.get("requiredDuringSchedulingIgnoredDuringExecution")
    preferred = plain.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
    return NodeAffinity(
        None if required is None else tuple(map(_term, required.get("nodeSelectorTerms") or ())),
        tuple(PreferredTerm(int(item.get("weight") or 0), _term(item.get("preference"))) for item in preferred),
    )


def _pod_affinity(plain: Plain, namespace: str, pod_labels: dict[str, str]) -> tuple[PodAffinityTerm, ...]:
    required = plain.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
    return tuple(_pod_affinity_term(item or {}, namespace, pod_labels) for item in required)


def _pod_affinity_term(plain: Plain, namespace: str, pod_labels: dict[str, str]) -> PodAffinityTerm:
    """Source: pkg/registry/core/pod/strategy.go, applyMatchLabelKeysAndMismatchLabelKeys (v1.36.2)."""
    selector = compiled(spread.label_selector(plain.get("labelSelector")))
    named = {requirement.key for requirement in selector.requirements or ()}
    for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        for key in plain.get(field) or ():
            if key in pod_labels and key not in named:  # a stored pod has it merged already
                selector = selector.plus(Requirement(key, operator, (pod_labels[key],)))
    namespaces, namespace_selector = tuple(plain.get("namespaces") or ()), plain.get("namespaceSelector")
    if not namespaces and namespace_selector is None:
        namespaces = (namespace,)
    return PodAffinityTerm(
        plain.get("topologyKey") or "",
        selector,
        namespaces,
        None if namespace_selector is None else compiled(spread.label_selector(namespace_selector)),
    )


def toleration(plain: Plain) -> Toleration:
    """One entry of `spec.tolerations`."""
    return Toleration(
        plain.get("key") or "", plain.get("operator") or "", plain.get("value") or "", plain.get("effect") or ""
    )


def _term(plain: Optional[Plain]) -> NodeSelectorTerm:
    plain = plain or {}
    return NodeSelectorTerm(
        tuple(spread.requirement(item or {}) for item in plain.get("matchExpressions") or ()),
        tuple(spread.requirement(item or {}) for item in plain.get("matchFields") or ()),
    )


def _host_ports(spec: Plain) -> tuple[HostPort, ...]:
    """Ports of containers and sidecars; with hostNetwork a container port is a host port."""
    sidecars = (item for item in spec.get("initContainers") or () if item.get("restartPolicy") == "Always")
    found = []
    for container in (*(spec.get("containers") or ()), *sidecars):
        for port in container.get("ports") or ():
            number = port.get("hostPort") or (port.get("containerPort") if spec.get("hostNetwork") else 0)
            if number:
                ip = port.get("hostIP") or "0.0.0.0"  # noqa: S104 (what the API means by no IP)
                found.append(HostPort(ip, port.get("protocol") or "TCP", int(number)))
    return tuple(found)


def _beyond(spec: Plain) -> tuple[str, ...]:
    """Requirements that no plugin here evaluates."""
    found = []
    volumes = spec.get("volumes") or ()
    if any(item.get("persistentVolumeClaim") or item.get("ephemeral") for item in volumes):
        found.append("persistent volume claims")
    if spec.get("resourceClaims"):
        found.append("resource claims")
    return tuple(found)


def _scheduled_message(status: Plain) -> str:
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return condition.get("message") or ""
    return ""
