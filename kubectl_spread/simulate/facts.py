"""What the lint rules ask about a cluster (`lint.facts.ClusterFacts`), answered with the scheduler's own code."""

from __future__ import annotations

from functools import cached_property

from kubectl_spread.cluster.snapshot import Cluster


class KnownCluster:
    """The nodes and pods of a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @cached_property
    def node_keys(self) -> frozenset[str]:
        """The label keys that at least one node has."""
        return frozenset(key for node in self._cluster.nodes for key in node.labels)

    def domain_count(self, key: str) -> int:
        """How many values a label has among the nodes."""
        return len({node.labels[key] for node in self._cluster.nodes if key in node.labels})
