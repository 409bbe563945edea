"""What a rule may ask about the cluster; it is answered by the scheduler's own code, which loads numpy."""

from __future__ import annotations

from typing import Protocol


class ClusterFacts(Protocol):
    """The nodes and pods of a snapshot, or of a made-up cluster."""

    @property
    def node_keys(self) -> frozenset[str]:
        """The label keys that at least one node has."""
        ...

    def domain_count(self, key: str) -> int:
        """How many values a label has among the nodes."""
        ...
