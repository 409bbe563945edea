"""One condition that a node must meet before it can take a pod."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple
from typing import Optional

from kubectl_spread.cluster.arrays import Bools


class RequirementKind(Enum):
    """What a requirement comes from, and so what could be changed about it."""

    CONSTRAINT = "constraint"  # key: the topology key
    CORDON = "cordon"
    NODE_NAME = "nodeName"
    TAINT = "taint"  # key: the taint, `key=value:effect`; of several, the part they share
    ADDED_AFFINITY = "addedAffinity"
    NODE_SELECTOR = "nodeSelector"  # key: the label
    NODE_AFFINITY = "nodeAffinity"  # key: the label of one expression; empty where several terms are one requirement
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
    """One condition that a node must meet.

    allowed: bool (N,), the nodes that meet it. `position` is that of a spread constraint, None for anything else;
    `at` the place in the pod's own list (constraints, expressions, terms, ports, volumes), where it has one. `why`
    says in one sentence, with numbers, why some nodes do not meet it; given bool (N,), it speaks of those alone. It
    is right until the next pod is bound. `cause` is equal for requirements that one cause makes; empty where a
    requirement has a cause of its own. `parts` are the requirements that one of `causes.merged` stands for.
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

    @property
    def arithmetic(self) -> str:
        """Why the nodes that do not meet it do not."""
        return self.why(~self.allowed)

    @property
    def id(self) -> str:
        """A name that stays the same as long as the pod does: `taint/dedicated=x:NoSchedule`, `constraint/0`."""
        if self.parts:
            return "+".join(part.id for part in self.parts)
        parts = (self.kind.value, "" if self.at is None else str(self.at), self.key)
        return "/".join(part for part in parts if part)
