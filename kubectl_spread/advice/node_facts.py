"""Facts about nodes: taints that components manage without help, and two spellings of one label.

A taint of a component means that a node is starting, unhealthy or about to be removed. It should be neither tolerated
nor removed by hand. Zone names differ in one character on purpose (us-east-1a, us-east-1b), so a small edit distance
proves little. Two spellings are the same name if only case and punctuation differ, if two letters are swapped, or if
one letter is missing or extra.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable

from kubectl_spread.objects.node import Node, Taint

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


_LEAST = 5  # Shortest name in which a swapped or missing letter is reliable.


def misspelt_values(nodes: Iterable[Node], key: str) -> dict[str, str]:
    """Return the misspelt values of a label, each with the spelling that more nodes have."""
    counts = Counter(node.labels[key] for node in nodes if node.labels.get(key))
    near = _near(counts)
    found: dict[str, str] = {}
    for wrong, number in counts.items():
        right = near.get(wrong, set()) - found.keys()
        best = max(right, key=lambda other: (counts[other], len(other), other), default="")
        if best and (counts[best], len(best), best) > (number, len(wrong), wrong):
            found[wrong] = best
    return found


def _near(names: Iterable[str]) -> dict[str, set[str]]:
    """Return other spellings for each name, without comparing all pairs of names."""
    by_plain: dict[str, list[str]] = defaultdict(list)
    for name in names:
        by_plain[_plain(name)].append(name)
    near: dict[str, set[str]] = defaultdict(set)
    for plain, alike in by_plain.items():
        for other_plain in ({plain} if plain else set()) | _variants(plain):
            for name, other in itertools.product(alike, by_plain.get(other_plain, ())):
                if name != other:
                    near[name].add(other)
                    near[other].add(name)
    return near


def spelling_of(name: str, known: Iterable[str]) -> str:
    """Return the known name that is another spelling of a name; empty without one."""
    near = (other for other in sorted(known) if other != name)
    return next((other for other in near if is_same(name, other) or f"{name}s" == other or f"{other}s" == name), "")


def is_same(one: str, other: str) -> bool:
    """Return whether two names are spellings of the same name."""
    plain = _plain(one), _plain(other)
    return bool(plain[0] == plain[1] != "" or plain[0] in _variants(plain[1]) or plain[1] in _variants(plain[0]))


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


def _variants(plain: str) -> set[str]:
    """Return a plain name with two adjacent letters swapped, or without one letter, except the last character.

    Short names have none, because a letter more or less is no reliable sign of a mistake in them.
    """
    pairs = [at for at in range(len(plain) - 1) if plain[at : at + 2].isalpha()]
    swapped = {f"{plain[:at]}{plain[at + 1]}{plain[at]}{plain[at + 2 :]}" for at in pairs}
    less = {plain[:at] + plain[at + 1 :] for at, character in enumerate(plain) if character.isalpha()} - {plain[:-1]}
    return {name for name in swapped | less if len(name) >= _LEAST} - {plain}
