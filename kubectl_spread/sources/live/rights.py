"""What may not be read: that it is missing, what is uncertain without it, and the rule that would allow it."""

from __future__ import annotations

from typing import NamedTuple

from kubectl_spread.errors import ClusterError
from kubectl_spread.sources.live.resources import NODES
from kubectl_spread.sources.live.resources import Resource


class Unread(NamedTuple):
    """A kind that is forbidden; `namespace`: the only one in which it could be read."""

    resource: Resource
    namespace: str = ""

    @property
    def rule(self) -> str:
        """The rule of a ClusterRole that allows it."""
        return rbac_rule(self.resource.group, self.resource.plural, "list")

    def __str__(self) -> str:
        where = f" in all namespaces, only in `{self.namespace}`" if self.namespace else ""
        return (
            f"may not list {self.resource.plural}{where}: {self.resource.doubt}; "
            f"the ClusterRole rule that allows it: {self.rule}"
        )


def rbac_rule(group: str, plural: str, verb: str) -> str:
    """A rule as it stands in a Role or ClusterRole: `{apiGroups: [""], resources: [nodes], verbs: [list]}`."""
    quoted = group or '""'
    return f"{{apiGroups: [{quoted}], resources: [{plural}], verbs: [{verb}]}}"


def without_nodes(message: str) -> ClusterError:
    """The error where nodes are forbidden; no answer makes sense without them."""
    return ClusterError(
        f"{message}: {NODES.doubt}; the ClusterRole rule that allows it: {rbac_rule('', NODES.plural, 'list')}"
    )
