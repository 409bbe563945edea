"""Why Karpenter places a pod nowhere: facts, and the texts that its events and its log have.

Source: sigs.k8s.io/karpenter pkg/controllers/provisioning/scheduling/nodeclaim.go, topology.go, scheduler.go;
pkg/scheduling/requirements.go, taints.go (v1.13.0). A name of a node that is yet to be made has no number here, and a
label that may be a typo comes without the hint, since Karpenter draws it at random.
"""

from __future__ import annotations

import json
from enum import Enum
from typing import NamedTuple, Optional, Union

from kubectl_spread.objects import resources
from kubectl_spread.objects.node import Taint
from kubectl_spread.provisioners.requirement import Clash, Requirement

PLACEHOLDER = "hostname-placeholder"
_MOST_COUNTS = 25
_TYPO_MILLI_CPU = 10**9


class Cause(Enum):
    """What kept a pod from a pool."""

    TAINT = "taint"
    REQUIREMENT = "requirement"
    UNKNOWN_LABEL = "unknown-label"
    SPREAD = "spread"
    AFFINITY = "affinity"
    ANTI_AFFINITY = "antiaffinity"
    VOLUME = "volume"
    INSTANCE_TYPES = "instance-types"
    LIMITS = "limits"
    HOST_PORT = "host-port"
    MIN_VALUES = "minValues"
    RESERVED = "reserved"
    RESOURCE_CLAIM = "resource-claim"
    NO_TEMPLATE = "no-template"
    NO_POOLS = "no-nodepools"


_TYPES = {Cause.SPREAD: "topology spread", Cause.AFFINITY: "pod affinity", Cause.ANTI_AFFINITY: "pod anti-affinity"}


class Counts(NamedTuple):
    """What Karpenter counted for a constraint or a term, and the domains of the pod and of the node."""

    domains: tuple[tuple[str, int], ...]
    pod_domains: Requirement
    node_domains: Requirement


class Unfit(NamedTuple):
    """Sets of instance types, as bit masks, that meet each of three conditions, and what was asked.

    missing: labels for which minValues is not met.
    """

    compatible: int
    fitting: int
    offered: int
    requirements: tuple[Requirement, ...]
    requests: tuple[tuple[str, int], ...]
    missing: tuple[str, ...] = ()


class Refusal(NamedTuple):
    """Why one pool gets no new node for a pod. `key` is the label of a requirement, a constraint or a term."""

    cause: Cause
    pool: str = ""
    key: str = ""
    detail: Union[str, tuple[Taint, ...], Clash, Counts, Unfit, None] = None


def of_clash(found: Clash, pool: str, *, chosen: int = 0, prefix: str = "", cause: Optional[Cause] = None) -> Refusal:
    """Return the refusal of requirements; `prefix` is what Karpenter writes before it."""
    if found.unknown:
        key = found.unknown[chosen]
        return Refusal(cause or Cause.UNKNOWN_LABEL, pool, key, f'{prefix}label "{key}" does not have known values')
    detail = prefix + _pairs(found) if prefix else found  # without: domains that constraints and terms have picked
    return Refusal(cause or Cause.REQUIREMENT, pool, found.pairs[0][0].key, detail)


def _pairs(found: Clash) -> str:
    return "; ".join(f"key {wanted.key}, {wanted} not in {have}" for wanted, have in found.pairs)


def texts(refusal: Refusal) -> list[str]:
    """Return Karpenter's words: one text, or one for each taint."""
    detail = refusal.detail
    if refusal.cause is Cause.TAINT and isinstance(detail, tuple):
        return [f"did not tolerate taint (taint={taint})" for taint in detail]
    if isinstance(detail, Counts):
        shown = ", ".join(f"{name}: {number}" for name, number in detail.domains[:_MOST_COUNTS])
        more = len(detail.domains) - _MOST_COUNTS
        counts = f"{shown} and {more} other(s)" if more > 0 else shown
        what = f"unsatisfiable topology constraint for {_TYPES[refusal.cause]}, key={refusal.key}"
        domains = f"podDomains = {detail.pod_domains}, nodeDomains = {detail.node_domains}"
        return [f"{what} (counts = {counts}, {domains}"]  # upstream forgets the bracket
    if isinstance(detail, Unfit):
        return [_of_types(detail)]
    if isinstance(detail, Clash):
        return [_pairs(detail)]
    return [str(detail)]


_CONDITIONS = ("met the scheduling requirements", "had enough resources", "had a required offering")
_ALONE = ("met all requirements", "has enough resources", "has the required offering")
_PAIRS = (  # two conditions that some types meet, none of them with the third
    (0, 1, f"which {_CONDITIONS[0]} and {_CONDITIONS[1]}, {_CONDITIONS[2]}"),
    (1, 2, f"which had enough resources and the required offering {_CONDITIONS[0]}"),
    (0, 2, "which met the scheduling requirements and the required offering had the required resources"),
)


def _of_types(unfit: Unfit) -> str:
    wanted = ", ".join(sorted(map(str, unfit.requirements)))
    amounts = {name: resources.amount(name, number) for name, number in unfit.requests}
    asked = f", requirements={wanted}, resources={json.dumps(amounts, separators=(',', ':'))}"
    if unfit.missing:
        return f"minValues requirement is not met for label(s) (label(s)=[{' '.join(unfit.missing)}]){asked}"
    masks = unfit[:3]
    failed = [at for at, mask in enumerate(masks) if not mask]
    pairs = (text for one, other, text in _PAIRS if masks[one] & masks[other])
    why = " or ".join(_CONDITIONS[at] for at in failed) or next(pairs, "met the requirements/resources/offering tuple")
    why = _ALONE[failed[0]] if len(failed) == 1 else why
    is_typo = failed == [1] and dict(unfit.requests).get(resources.CPU, 0) >= _TYPO_MILLI_CPU
    return f"no instance type {why}{asked}{' (CPU request >= 1 Million, m vs M typo?)' if is_typo else ''}"
