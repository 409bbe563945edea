"""Groups of workloads whose pods are judged together."""

from __future__ import annotations

from kubectl_spread.guarantee.setup.member import Member
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.selectors.selector import compile_selector
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.policy.policy import GroupSpec


def matches(member: Member, spec: GroupSpec) -> bool:
    """Return whether the pods of a workload belong to a group."""
    if spec.namespace and member.key.namespace != spec.namespace:
        return False
    return spec.selector is None or spec.selector.matches(_labels(_pod_class(member)))


def scale(member: Member, spec: GroupSpec) -> Member:
    """Return a workload with the range of its replicas, or of the number of workloads."""
    if spec.shards is not None:
        return member._replace(bounds=None, shards=spec.shards)
    return member._replace(bounds=spec.replicas or member.bounds)


def by_selectors(members: list[Member]) -> list[list[Member]]:
    """Return groups of workloads whose constraints count each other's pods, in order."""
    classes = [_pod_class(member) for member in members]
    group_of = list(range(len(members)))
    for at, cls in enumerate(classes):
        for other_at, other in enumerate(classes):
            if at != other_at and _counts(cls, other):
                old, new = sorted((group_of[at], group_of[other_at]), reverse=True)
                group_of = [new if item == old else item for item in group_of]
    return [
        [member for member, item in zip(members, group_of, strict=True) if item == group]
        for group in dict.fromkeys(group_of)
    ]


def _counts(cls: PodClass, other: PodClass) -> bool:
    """Return whether a constraint of one pod counts another."""
    if cls.namespace != other.namespace:
        return False
    selectors = [compile_selector(item.label_selector) for item in cls.constraints]
    return any(not item.is_empty and item.matches(_labels(other)) for item in selectors)


def _pod_class(member: Member) -> PodClass:
    return replica(member.controller.workload, 0).cls


def _labels(cls: PodClass) -> dict[str, str]:
    return dict(cls.labels)
