"""A condition that a node must meet before it can take a pod, and the words that all of them share.

Names are as they are: whoever prints them escapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import NamedTuple, NewType, Optional

import numpy as np

from kubectl_spread.cluster.columns import Bools, Columns
from kubectl_spread.objects import resources
from kubectl_spread.objects.node import Taint
from kubectl_spread.objects.selectors import EVERY_POD, LabelRequirement, Selector
from kubectl_spread.text.wording import comma_list, first_of

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
    at: index in the pod's own list (constraints, expressions, terms, ports, volumes), if it has one.
    why: returns one sentence, with numbers: why nodes do not meet it; bool (N,), without nodes that meet it. Valid
        until the next pod is bound.
    cause: equal for requirements with the same cause; empty if the cause is its own.
    parts: the requirements that `causes.merge_causes` merged into this one.
    taint: of kind TAINT, unless the requirement covers taints of several keys.
    """

    plugin: str
    text: str
    allowed: Bools
    kind: RequirementKind = RequirementKind.OTHER
    key: str = ""
    at: Optional[int] = None
    why: Callable[[Bools], str] = lambda nodes: ""  # noqa: ARG005
    cause: str = ""
    parts: tuple[Requirement, ...] = ()
    taint: Optional[Taint] = None

    @property
    def position(self) -> Optional[int]:
        """Return the index of a spread constraint; None for other kinds."""
        return self.at if self.kind is RequirementKind.CONSTRAINT else None

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


MOST_NAMES = 3
MOST_GROUPS = 3


def short_list(names: Sequence[str], *, of: int = 0) -> str:
    """Return up to three names and the number of the others; `of`: the number of all, if `names` is incomplete."""
    return comma_list([name or '""' for name in names], most=MOST_NAMES, of=of)


def nodes(mask: Bools, columns: Columns) -> str:
    """Return up to three node names and the number of the others."""
    found = np.flatnonzero(mask)
    return short_list([columns.nodes[at].name for at in found[:MOST_NAMES].tolist()], of=len(found))


def summarize_nodes(mask: Bools, columns: Columns) -> str:
    """Return `a1, a2`, or `12 nodes (a1, a2, a3 and 9 more)`."""
    number = int(mask.sum())
    text = nodes(mask, columns)
    return text if number <= MOST_NAMES else f"{number} nodes ({text})"


_MOST_DIGITS = 4


def amount(resource: str, value: int) -> str:
    """Return a quantity in the usual units; bytes that need more than four digits as `97.7Mi`."""
    text = resources.amount(resource, value)
    in_bytes = resource in (resources.MEMORY, resources.EPHEMERAL_STORAGE) or resource.startswith("hugepages-")
    if in_bytes and sum(map(str.isdigit, text)) > _MOST_DIGITS:
        for unit, size in (("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20)):
            if value >= 10 * size:
                return f"{value / size:.1f}{unit}"
    return text


def selector_text(selector: Selector) -> str:
    """Return a selector as kubectl writes it, each condition once."""
    if selector.requirements is None:
        return "no label selector (which selects none)"
    if selector.is_empty:
        return "any labels (an empty selector, with which the scheduler counts no pods)"
    if selector == EVERY_POD:
        return "any labels (an empty selector, with which this release counts every pod of the namespace)"
    return ",".join(dict.fromkeys(map(requirement_text, selector.requirements)))


def requirement_text(item: LabelRequirement) -> str:
    """Return one condition on a label as kubectl writes it."""
    if item.operator == "In" and len(item.values) == 1:
        return f"{item.key}={item.values[0]}"
    values = ",".join(item.values)
    forms = {
        "Exists": item.key,
        "DoesNotExist": f"!{item.key}",
        "Gt": f"{item.key} > {values}",
        "Lt": f"{item.key} < {values}",
    }
    return forms.get(item.operator, f"{item.key} {item.operator.lower()} ({values})")


def first_sentences(sentences: Iterable[str]) -> str:
    """Return the first few sentences and the number of the others."""
    return "; ".join(first_of([*sentences], MOST_GROUPS, lambda left: f"and {left} more"))
