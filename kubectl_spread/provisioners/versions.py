"""What differs between releases of Karpenter: one table."""

from __future__ import annotations

import re
from enum import Enum

from kubectl_spread.objects.pod import PodClass

RECORDED = "1.13.0"  # the release whose solver was recorded; the topology of 1.14 is the same
_FORM = re.compile(r"v?([0-9]{1,4})\.([0-9]{1,4})(?:\.([0-9]{1,4}))?(?:[-+].*)?\Z")
_EVER = (9999, 0, 0)


class Rule(Enum):
    """A rule that not all releases have: the release that begins it, the one that ends it, and the pull request."""

    POLICIES = (1, 3, 0), _EVER, 852  # constraints have matchLabelKeys, nodeAffinityPolicy, nodeTaintsPolicy
    IGNORES_PREFERENCES = (1, 4, 0), _EVER, 2122  # PREFERENCE_POLICY is read
    RELAXES_AT_ONCE = (1, 4, 0), _EVER, 2119  # a pod loses all preferences in its turn, and gets them back
    STRICT_DOMAINS = (1, 5, 0), _EVER, 2182  # a preferred node affinity does not limit the domains of a pod
    REFUSES_CLAIMS = (1, 7, 0), _EVER, 2415  # pods with lost or unbound claims are not solved
    REFUSES_RESOURCE_CLAIMS = (1, 7, 0), _EVER, 2384  # pods with resource claims are refused
    FILTERS_DOMAINS = (1, 8, 1), (1, 8, 2), 2639  # domains of pools are filtered by the pod's node affinity
    FILTERS_DOMAINS_AGAIN = (1, 11, 0), (1, 11, 1), 2671  # the second attempt
    VOLUMES_IN_FILTER = (0, 0, 0), (1, 9, 0), 2780  # zones of volumes are part of a constraint's node filter
    COUNTS_NODES = (1, 11, 0), _EVER, 2526  # `limits.nodes` holds for dynamic pools
    ALL_VOLUME_TERMS = (1, 13, 0), _EVER, 2743  # each term of a volume is tried, not only the first
    READINESS_TAINTS = (1, 13, 0), _EVER, 3025  # taints of readiness.k8s.io are start-up taints


def is_simulated(pod: PodClass, of_release: frozenset[Rule]) -> bool:
    """Return whether all rules of a release that matter to a pod are simulated."""
    is_filtered = not of_release.isdisjoint((Rule.FILTERS_DOMAINS, Rule.FILTERS_DOMAINS_AGAIN))
    selects = bool(pod.node_selector or pod.node_affinity.required)
    has_volumes = Rule.VOLUMES_IN_FILTER in of_release and bool(pod.volumes)
    return not (pod.constraints and ((is_filtered and selects) or has_volumes))


def rules(version: str) -> frozenset[Rule]:
    """Return the rules of a release, such as `1.13.0` or `v1.8`.

    Raises:
        ValueError: the text is not a release.
    """
    match = _FORM.match(version)
    if match is None:
        raise ValueError(f"not a release of Karpenter: {version}")
    release = (int(match[1]), int(match[2]), int(match[3] or 0))
    return frozenset(rule for rule in Rule if rule.value[0] <= release < rule.value[1])
