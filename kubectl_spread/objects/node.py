"""Nodes."""

from __future__ import annotations

from typing import NamedTuple

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
