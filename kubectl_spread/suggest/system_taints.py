"""Taints that a component of the cluster sets and removes without help.

Such a taint means that a node is starting, unhealthy or about to be removed. It should be neither tolerated nor removed
by hand: the component removes either the taint or the node in time.
"""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_spread.objects.node import Node
from kubectl_spread.objects.taints import Taint

_PREFIXES = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "node.cluster.x-k8s.io/",
    "node.cilium.io/",
    "aws-node-termination-handler/",
    "readiness.k8s.io/",
    "karpenter.sh/disrupt",
)
_KEYS = frozenset(
    {
        "ToBeDeletedByClusterAutoscaler",
        "DeletionCandidateOfClusterAutoscaler",
        "karpenter.sh/unregistered",
        "karpenter.sh/unhealthy",
        "cloud.google.com/impending-node-termination",
        "remediation.medik8s.io/exclude-from-remediation",
        "eks.amazonaws.com/compute-type",  # Fargate places its pods itself
        "virtual-kubelet.io/provider",
    }
)
_SUFFIXES = ("/agent-not-ready", "/not-ready", "/uninitialized", "/startup", "/out-of-service")

# A node has these until it is Ready, or again once it is not.
_STARTING = (
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/network-unavailable",
    "node.cloudprovider.kubernetes.io/uninitialized",
    "node.cluster.x-k8s.io/uninitialized",
    "karpenter.sh/unregistered",
)
_LEAVING = (
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
    "node.cloudprovider.kubernetes.io/shutdown",
    "node.kubernetes.io/out-of-service",
    "cloud.google.com/impending-node-termination",
)
_LEAVING_PREFIXES = ("karpenter.sh/disrupt", "aws-node-termination-handler/")
_DOWN = frozenset({"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})


def is_of_system(taint: Taint) -> bool:
    """Return whether a component of the cluster manages the taint."""
    key = taint.key
    return key in _KEYS or key.startswith(_PREFIXES) or key.endswith(_SUFFIXES)


def ends_when_ready(taint: Taint) -> bool:
    """Return whether the taint is removed automatically once its node is Ready."""
    return taint.key in _STARTING or taint.key.endswith(("/agent-not-ready", "/not-ready", "/uninitialized"))


def is_leaving(node: Node) -> bool:
    """Return whether an autoscaler or the cloud is about to remove the node."""
    return any(taint.key in _LEAVING or taint.key.startswith(_LEAVING_PREFIXES) for taint in node.taints)


def is_down(node: Node) -> bool:
    """Return whether the node controller reports the node as not Ready or unreachable."""
    return any(taint.key in _DOWN and taint.repels for taint in node.taints)


def temporary_taints(node: Node) -> tuple[Taint, ...]:
    """Return the taints that the node loses when it becomes Ready; none for a node that is being removed."""
    if is_leaving(node):
        return ()
    return tuple(taint for taint in node.taints if taint.repels and ends_when_ready(taint))


def is_unfit(nodes: Iterable[Node]) -> bool:
    """Return whether all of the nodes are down or being removed; False if there are none."""
    found = list(nodes)
    return bool(found) and all(is_down(node) or is_leaving(node) for node in found)
