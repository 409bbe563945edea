"""Who controls which pods of a cluster, looked up instead of searched for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from typing import Generic
from typing import TypeVar

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.objects.pod import Pod

S = TypeVar("S")
T = TypeVar("T")

_KEPT = 2


class _Derived(Generic[S, T]):
    """What was made of the last few values, which never change; told apart by identity, as they are large."""

    def __init__(self, make: Callable[[S], T]) -> None:
        self._make = make
        self._kept: list[tuple[S, T]] = []

    def of(self, source: S) -> T:
        for known, made in self._kept:
            if known is source:
                return made
        made = self._make(source)
        self._kept = [(source, made), *self._kept[: _KEPT - 1]]
        return made


def _by_controller(pods: tuple[Pod, ...]) -> dict[OwnerKey, list[tuple[int, Pod]]]:
    found: dict[OwnerKey, list[tuple[int, Pod]]] = {}
    for at, pod in enumerate(pods):
        if pod.owner is not None:
            key = OwnerKey(pod.owner.kind, pod.namespace, pod.owner.name)
            found.setdefault(key, []).append((at, pod))
    return found


def _made_by(owners: dict[OwnerKey, OwnerKey]) -> dict[OwnerKey, list[OwnerKey]]:
    found: dict[OwnerKey, list[OwnerKey]] = {}
    for made, owner in owners.items():
        found.setdefault(owner, []).append(made)
    return found


_PODS: _Derived[tuple[Pod, ...], dict[OwnerKey, list[tuple[int, Pod]]]] = _Derived(_by_controller)
_MADE: _Derived[dict[OwnerKey, OwnerKey], dict[OwnerKey, list[OwnerKey]]] = _Derived(_made_by)
_NAMED: _Derived[tuple[Pod, ...], dict[tuple[str, str], Pod]] = _Derived(
    lambda pods: {(pod.namespace, pod.name): pod for pod in reversed(pods)}
)


def pods_of(key: OwnerKey, cluster: Cluster) -> list[Pod]:
    """The pods that a controller has, itself or through others that it controls, in the order of the cluster."""
    pods, found = _PODS.of(cluster.pods), []
    for controller in (key, *_MADE.of(cluster.owners).get(key, ())):
        found += pods.get(controller, [])
    found.sort(key=_place)
    return [pod for _, pod in found]


def pod_named(namespace: str, name: str, cluster: Cluster) -> list[Pod]:
    """The first pod of a name; none where there is no such pod."""
    found = _NAMED.of(cluster.pods).get((namespace, name))
    return [] if found is None else [found]


def _place(item: tuple[int, Any]) -> int:
    return item[0]
