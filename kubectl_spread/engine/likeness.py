"""Running pods that show the result of their controller's template.

Admission adds fields to pods that no template has: tolerations, sidecars, node selectors. New pods therefore look like
running ones. An adopted pod, or one from before a template's change, shows nothing about new pods.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Optional

from kubectl_spread.objects.affinity import PodAffinityTerm
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.node import DEFAULT_TOLERATIONS
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.objects.workloads.workload import Workload

_PER_POD = frozenset(
    {
        "pod-template-hash",
        "controller-revision-hash",
        "statefulset.kubernetes.io/pod-name",
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/job-completion-index",
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/job-name",
        "controller-uid",
        "job-name",
        "revision",
    }
)
_FIELDS = (
    "requests",
    "node_selector",
    "node_affinity",
    "pod_affinity",
    "pod_anti_affinity",
    "preferred_affinity",
    "preferred_anti_affinity",
    "constraints",
    "scheduler_name",
)


def most_alike(running: Iterable[PodClass], workload: Workload) -> Optional[PodClass]:
    """Return the class of the running pods that are most similar to the template; None if all contradict it.

    Of equally similar classes the most frequent wins. A template without containers contradicts no pod.
    """
    counts = Counter(running)
    if not counts:
        return None
    if workload.kind == "DaemonSet" or not (workload.template.get("spec") or {}).get("containers"):
        return counts.most_common(1)[0][0]
    made = replica(workload, 0).cls
    agreeing = [cls for cls, _ in counts.most_common() if agrees(cls, made)]
    return max(agreeing, key=lambda cls: _common_fields(cls, made), default=None)


def agrees(cls: PodClass, made: PodClass) -> bool:
    """Return whether a pod has every field of its controller's template; admission may have added others."""
    own = dict(cls.requests)
    return (
        _labels(made) <= set(cls.labels)
        and set(made.node_selector) <= set(cls.node_selector)
        and set(made.tolerations) <= {*cls.tolerations, *DEFAULT_TOLERATIONS}
        and made.host_ports == cls.host_ports
        # Sidecars can only add to the requests.
        and all(own.get(name, 0) >= amount for name, amount in made.requests)
        and {_kept(item) for item in made.constraints} <= {_kept(item) for item in cls.constraints}
        and _terms(made) <= _terms(cls)
        and (made.node_affinity.required is None or cls.node_affinity.required is not None)
    )


def _common_fields(cls: PodClass, made: PodClass) -> int:
    return sum(getattr(cls, field) == getattr(made, field) for field in _FIELDS)


def _labels(cls: PodClass) -> set[tuple[str, str]]:
    return {(key, value) for key, value in cls.labels if key not in _PER_POD}


def _kept(item: TopologySpreadConstraint) -> Any:
    """Return a constraint without its selector, to which the API server adds the labels of matchLabelKeys."""
    return item._replace(position=0, label_selector=None, match_label_keys=())


def _terms(cls: PodClass) -> set[tuple[str, str]]:
    """Return the topology keys of each kind of affinity; selectors may differ by matchLabelKeys."""
    kinds: dict[str, tuple[PodAffinityTerm, ...]] = {
        "affinity": cls.pod_affinity,
        "anti-affinity": cls.pod_anti_affinity,
        "preferred affinity": tuple(term for _, term in cls.preferred_affinity),
        "preferred anti-affinity": tuple(term for _, term in cls.preferred_anti_affinity),
    }
    return {(kind, term.topology_key) for kind, terms in kinds.items() for term in terms}
