"""Nodes, and the reasons for which nodes are rejected."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.objects.taints import Taint


class Node(NamedTuple):
    """A node; `allocatable` has CPU in milli-cores, everything else in whole units."""

    name: str
    labels: dict[str, str]
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    allocatable: dict[str, int] = {}  # noqa: RUF012 (never written to)
    images: tuple[tuple[str, int], ...] = ()  # name, bytes
    features: tuple[str, ...] = ()  # declared
    kubelet_version: str = ""
    avoids: tuple[tuple[str, str], ...] = ()  # kind and uid of controllers; the node prefers to have none of their pods
    created: str = ""  # as the API server writes times


class NodeReasonKind(Enum):
    """The cause for which nodes are rejected."""

    OUTSIDE_AFFINITY = "outsideAffinity"  # nodeAffinityPolicy Honor: not counted
    HONORED_TAINT = "honoredTaint"  # nodeTaintsPolicy Honor: not counted
    MISSING_LABEL = "missingLabel"  # the topology key of the constraint, or of another one
    UNTOLERATED_TAINT = "untoleratedTaint"
    CORDON = "cordon"
    REQUIREMENT = "requirement"  # a requirement of the pod
    PLUGIN = "plugin"  # a Filter plugin, with its own reasons
    NO_NODE_FITS = "noNodeFits"  # no node of the domain fits, so a soft constraint does not count it
    REFUSED_BY_HARD_CONSTRAINT = "refusedByHardConstraint"  # so a soft constraint does not score it


class NodeReason(NamedTuple):
    """A reason for which nodes are rejected.

    key: the missing label, or the id of the requirement.
    words: the scheduler's reason, or the requirement as it is displayed. It is quoted and never compared.
    """

    kind: NodeReasonKind
    key: str = ""
    taint: Optional[Taint] = None
    words: tuple[str, ...] = ()
