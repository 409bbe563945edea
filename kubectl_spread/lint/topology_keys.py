"""Well-known node labels, deprecated ones, and the label that a misspelt topologyKey means.

The prefixes `kubernetes.io` and `k8s.io`, and every prefix that ends in `.kubernetes.io` or `.k8s.io`, are reserved for
Kubernetes and its projects. Source: the Kubernetes documentation page on labels and selectors.
"""

from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from kubectl_spread.objects.selectors import HOSTNAME, key_errors, LEGACY, REGION, ZONE
from kubectl_spread.text.wording import nearest

if TYPE_CHECKING:
    from kubectl_spread.operations.known_cluster import KnownCluster

# Replacements of deprecated labels.
SUCCESSORS = {
    **{legacy: key for key, legacy in LEGACY.items()},
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
}

# How a node is paid for.
CAPACITY_TYPES = frozenset(("eks.amazonaws.com/capacityType", "karpenter.sh/capacity-type"))

_SPREAD_OVER = (ZONE, REGION, HOSTNAME)
_NODE_LABELS = frozenset(
    (
        *_SPREAD_OVER,
        *SUCCESSORS,
        *SUCCESSORS.values(),
        "kubernetes.io/role",
        "node.kubernetes.io/windows-build",
    )
)
# By a word that people write, without `-` and `_`, the label that they mean.
_WORDS = {
    **dict.fromkeys(("zone", "zones", "az", "azs", "availabilityzone", "availabilityzones"), ZONE),
    **dict.fromkeys(("region", "regions"), REGION),
    **dict.fromkeys(("hostname", "hostnames", "host", "hosts", "node", "nodes", "nodename", "nodehostname"), HOSTNAME),
}
_RESERVED = ("kubernetes.io", "k8s.io")
# Prefixes under which a zone, a region or a hostname can only be meant to be the well-known one.
_PREFIXES = (
    "",
    *_RESERVED,
    *(f"{first}.{domain}" for domain in _RESERVED for first in ("topology", "node", "beta", "failure-domain")),
    "failure-domain.beta.kubernetes.io",
    *("kubernetes", "k8s", "topology", "topology.kubernetes", "topology.k8s"),  # without their end
)
# Cluster operators, kubelets and projects of Kubernetes set labels of their own choice under these.
_OF_NODES = "node.kubernetes.io"
_OPEN = (
    _OF_NODES,
    "node-restriction.kubernetes.io",
    "node-role.kubernetes.io",
    "kubelet.kubernetes.io",
    "kops.k8s.io",
    "minikube.k8s.io",
)
_NEAR = 0.92


def intended_key(key: str) -> str:
    """Return the well-known label that a key misspells; empty if it is one, or something else."""
    if not key or key in _NODE_LABELS:
        return ""
    prefix, slash, name = key.lower().rpartition("/")
    word = _WORDS.get(name.replace("-", "").replace("_", ""), "")
    if word and prefix in _PREFIXES:
        return word
    if not slash:
        return next((label for label in _SPREAD_OVER if name.replace(".", "/") == label.replace(".", "/")), "")
    if not name or (_is_below(prefix, _OPEN) and prefix != _OF_NODES):
        return ""
    # The whole key is compared, but under a prefix that has names of its own only the name.
    start = len(prefix) + 1 if prefix == _OF_NODES else 0
    known = sorted(label[start:] for label in _NODE_LABELS if label.startswith(key[:start].lower()))
    near = nearest(key[start:], known, cutoff=_NEAR)
    found = key[:start].lower() + near if near else ""
    return SUCCESSORS.get(found, found)


def is_unknown(key: str) -> bool:
    """Return whether a key has a reserved prefix, but no known project sets this label."""
    prefix, _, _ = key.rpartition("/")
    return is_reserved(prefix) and key not in _NODE_LABELS and not _is_below(prefix, _OPEN) and not key_errors(key)


def is_reserved(prefix: str) -> bool:
    """Return whether the prefix of a label key is kept for Kubernetes and its projects."""
    return _is_below(prefix, _RESERVED)


def _is_below(prefix: str, domains: tuple[str, ...]) -> bool:
    return f".{prefix}".endswith(tuple(f".{domain}" for domain in domains))


def is_absent(key: str, facts: Optional[KnownCluster]) -> bool:
    """Return whether no node has the label because it is a misspelt one of Kubernetes."""
    is_there = facts is not None and key in facts.node_keys
    return "/" in key and not is_there and bool(intended_key(key))


def is_reported(key: str, facts: Optional[KnownCluster]) -> bool:
    """Return whether SPR302 reports the key.

    If nodes are known, SPR901 and SPR902 report a key without a prefix, and a key that resembles no well-known label.
    """
    if facts is None:
        return bool(intended_key(key)) or is_unknown(key)
    return is_absent(key, facts)
