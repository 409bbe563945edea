"""Forbidden reads: the missing kind, the uncertainty without it, and the RBAC rule that would allow it."""

from __future__ import annotations

from typing import NamedTuple

from kubectl_spread.cluster.snapshot import Unread as UnreadKind
from kubectl_spread.errors import ClusterError
from kubectl_spread.sources.live.resources import NODES, PODS, Resource


class ForbiddenKind(NamedTuple):
    """A forbidden kind; `namespace`: the only one in which it could be read."""

    resource: Resource
    namespace: str = ""

    @property
    def rule(self) -> str:
        """Return the ClusterRole rule that allows reading the kind."""
        return rbac_rule(self.resource.group, self.resource.plural, "list")

    @property
    def fact(self) -> UnreadKind:
        """Return the entry for the cluster facts."""
        return UnreadKind(self.resource.kind, self.resource.plural, self.namespace)

    def __str__(self) -> str:
        where = f" in all namespaces, only in `{self.namespace}`" if self.namespace else ""
        return (
            f"may not list {self.resource.plural}{where}: {self.resource.doubt}; "
            f"the ClusterRole rule that allows it: {self.rule}"
        )


def rbac_rule(group: str, plural: str, verb: str) -> str:
    """Return a rule as written in a Role or ClusterRole: `{apiGroups: [""], resources: [nodes], verbs: [list]}`."""
    quoted = group or '""'
    return f"{{apiGroups: [{quoted}], resources: [{plural}], verbs: [{verb}]}}"


_WITHOUT = {NODES.kind: NODES.doubt, PODS.kind: "without pods, running workloads cannot be checked"}


def without(resource: Resource, message: str) -> ClusterError:
    """Return the error for forbidden nodes or pods, without which no answer is possible."""
    rule = rbac_rule(resource.group, resource.plural, "list")
    return ClusterError(f"{message}: {_WITHOUT[resource.kind]}; the ClusterRole rule that allows it: {rule}")
