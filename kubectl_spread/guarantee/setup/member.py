"""Workloads of a group."""

from __future__ import annotations

from typing import NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Controller
from kubectl_spread.objects.keys import ObjectKey, Range

KINDS = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"})


class Member(NamedTuple):
    """A workload of a group, as it is stored; bounds: range of its replicas.

    is_judged: its pods are judged. Otherwise they are followed only because they decide where judged pods go. shards:
    range of the number of workloads in its group, each of which is a shard; None if their number is constant. is_extra:
    a shard that does not exist at first.
    """

    key: ObjectKey
    controller: Controller
    bounds: Optional[Range] = None
    is_judged: bool = True
    shards: Optional[Range] = None
    is_extra: bool = False
