"""Pod classes that request the same share what plugins know of nodes' accounts."""

from __future__ import annotations

from typing import Any

import numpy as np

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.resources import Sums
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.profiles import profiles


class Thing:
    pass


def columns() -> Columns:
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "9"}
    nodes: list[dict[str, Any]] = [
        {"kind": "Node", "metadata": {"name": f"n{at}"}, "status": {"allocatable": allocatable}} for at in range(4)
    ]
    return Columns(cluster_of(nodes))


def pod(name: str, cpu: str) -> Pod:
    """A pod with labels, and so a class, of its own."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}
    metadata = {"name": name, "namespace": "test", "uid": name, "labels": {"app": name}}
    return read.pod({"kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}})


def test_is_made_once_for_a_key() -> None:
    """The same thing comes back, another one for another key."""
    nodes = columns()
    first = nodes.share((Thing, 1), Thing)
    assert nodes.share((Thing, 1), Thing) is first
    assert nodes.share((Thing, 2), Thing) is not first


def test_other_sums_share_nothing_with_those_before() -> None:
    """What was made while requests were added up in another way is made anew."""
    nodes = columns()
    first = nodes.share((Thing,), Thing)
    nodes.follow(next(sums for sums in Sums if sums is not nodes.sums))
    assert nodes.share((Thing,), Thing) is not first


def test_classes_that_share_are_answered_as_if_they_did_not() -> None:
    """Pods of several classes go where schedulers that start anew for each pod put them."""
    kept = Scheduler(columns(), profiles())
    bound: list[tuple[Pod, int]] = []
    for at in range(14):
        mine = pod(f"p{at}", ("500m", "1", "1500m")[at % 3])
        fresh = Scheduler(columns(), profiles())
        for other, node in bound:
            fresh.bind(other, node)
        now, anew = kept.filter(mine), fresh.filter(mine)
        assert np.array_equal(now.feasible, anew.feasible)
        if not now.feasible.any():
            assert now.diagnosis() == anew.diagnosis()
            continue
        hosts = kept.hosts(mine, now)
        assert hosts.tolist() == fresh.hosts(mine, anew).tolist()
        assert kept.score(mine, now).total.tolist() == fresh.score(mine, anew).total.tolist()
        kept.bind(mine, int(hosts[-1]))
        bound.append((mine, int(hosts[-1])))
    assert len(bound) > 8
