"""A condition that a node must meet before it can take a pod."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple, NewType, Optional

from kubectl_spread.cluster.tables.columns import Bools
from kubectl_spread.objects.taints import Taint

RequirementId = NewType("RequirementId", str)


class RequirementKind(Enum):
    """The origin of a requirement, which determines how it can be changed."""

    CONSTRAINT = "constraint"  # key: the topology key
    CORDON = "cordon"
    NODE_NAME = "nodeName"
    TAINT = "taint"  # key: the taint, `key=value:effect`; of several, the part they share
    ADDED_AFFINITY = "addedAffinity"
    NODE_SELECTOR = "nodeSelector"  # key: the label
    NODE_AFFINITY = "nodeAffinity"  # key: the label of one expression; empty if several terms are one requirement
    NAMED_NODES = "namedNodes"
    PORT = "port"
    PODS = "pods"
    RESOURCE = "resource"  # key: the resource
    CLAIM = "claim"  # key: the claim
    UNBOUND_CLAIMS = "unboundClaims"
    CLAIM_IN_USE = "claimInUse"  # key: the claim
    DISK = "disk"
    VOLUME_LIMIT = "volumeLimit"
    AFFINITY = "affinity"  # key: the topology key
    ANTI_AFFINITY = "antiAffinity"  # key: the topology key
    OTHERS_ANTI_AFFINITY = "othersAntiAffinity"  # key: the topology key
    FEATURE = "feature"  # key: the feature
    NOMINATED = "nominated"
    OTHER = "other"


class Requirement(NamedTuple):
    """A condition that a node must meet.

    allowed: bool (N,), the nodes that meet it.
    text: a name for display; never compared.
    position: index of a spread constraint, None for other kinds.
    at: index in the pod's own list (constraints, expressions, terms, ports, volumes), if it has one.
    why: returns one sentence, with numbers: why the nodes of a mask (bool (N,)) do not meet it. Valid until the next
        pod is bound.
    cause: equal for requirements with the same cause; empty if the cause is its own.
    parts: the requirements that `causes.merge_causes` merged into this one.
    taint: of kind TAINT, unless the requirement covers taints of several keys.
    """

    plugin: str
    text: str
    allowed: Bools
    position: Optional[int] = None
    kind: RequirementKind = RequirementKind.OTHER
    key: str = ""
    at: Optional[int] = None
    why: Callable[[Bools], str] = lambda among: ""  # noqa: ARG005
    cause: str = ""
    parts: tuple[Requirement, ...] = ()
    taint: Optional[Taint] = None

    @property
    def arithmetic(self) -> str:
        """Return the explanation for all nodes that do not meet it."""
        return self.why(~self.allowed)

    @property
    def id(self) -> RequirementId:
        """Return a name that stays the same as long as the pod does: `taint/dedicated=x:NoSchedule`, `constraint/0`."""
        if self.parts:
            return RequirementId("+".join(part.id for part in self.parts))
        parts = (self.kind.value, "" if self.at is None else str(self.at), self.key)
        return RequirementId("/".join(part for part in parts if part))
