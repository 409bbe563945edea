"""What a snapshot tells beside what the scheduler reads: workloads, their conditions, events and times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kubectl_spread.cluster.snapshot import Cluster, ClusterEvent, Condition
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.sources import snapshot

REPLICA_SET = ObjectKey("ReplicaSet", "shop", "web-7d9f")
FAILED = 'Pod "web-7d9f-x" is invalid: spec.topologySpreadConstraints[0][0]: Invalid value: "app"'


def _load(tmp_path: Path, *objects: dict[str, Any]) -> Cluster:
    node = {"kind": "Node", "metadata": {"name": "n1"}}
    file = tmp_path / "facts.json"
    file.write_text(json.dumps({"kind": "List", "items": [node, *objects]}), encoding="utf-8")
    facts = snapshot.load(str(file))
    assert facts.errors == ()
    return facts.cluster


def test_a_controller_is_kept_with_its_template_and_conditions(tmp_path: Path) -> None:
    """What a ReplicaSet wants and why it does not get it."""
    condition = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": FAILED}
    cluster = _load(
        tmp_path,
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": "web-7d9f", "namespace": "shop"},
            "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": {"spec": {}}},
            "status": {"conditions": [{**condition, "lastTransitionTime": "2026-11-21T10:00:00Z"}]},
        },
    )
    controller = cluster.controllers[REPLICA_SET]

    assert controller.workload.replicas == 3
    assert controller.conditions == (
        Condition("ReplicaFailure", "True", "FailedCreate", FAILED, "2026-11-21T10:00:00Z"),
    )


def test_events_are_kept_by_object_the_latest_first(tmp_path: Path) -> None:
    """Events of v1 and of events.k8s.io/v1 say the same in other words."""
    about = {"kind": "ReplicaSet", "namespace": "shop", "name": "web-7d9f"}
    cluster = _load(
        tmp_path,
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "a", "namespace": "shop"},
            "involvedObject": about,
            "reason": "FailedCreate",
            "message": FAILED,
            "type": "Warning",
            "count": 7,
            "lastTimestamp": "2026-11-21T10:00:00Z",
            "source": {"component": "replicaset-controller"},
        },
        {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": "b", "namespace": "shop"},
            "regarding": about,
            "reason": "SuccessfulCreate",
            "note": "Created pod: web-7d9f-y",
            "type": "Normal",
            "eventTime": "2026-11-21T10:00:01.000000Z",
            "series": {"count": 2, "lastObservedTime": "2026-11-21T10:00:05.000000Z"},
            "reportingController": "replicaset-controller",
        },
    )

    assert cluster.events[REPLICA_SET] == (
        ClusterEvent(
            REPLICA_SET,
            "SuccessfulCreate",
            "Created pod: web-7d9f-y",
            "Normal",
            2,
            "2026-11-21T10:00:05.000000Z",
            "replicaset-controller",
        ),
        ClusterEvent(
            REPLICA_SET, "FailedCreate", FAILED, "Warning", 7, "2026-11-21T10:00:00Z", "replicaset-controller"
        ),
    )


def test_a_pod_keeps_its_times_and_finalizers(tmp_path: Path) -> None:
    """When it was created, refused and deleted, and what keeps it from going."""
    (pod,) = _load(
        tmp_path,
        {
            "kind": "Pod",
            "metadata": {
                "name": "web-1",
                "creationTimestamp": "2026-11-21T09:00:00Z",
                "deletionTimestamp": "2026-11-21T09:30:00Z",
                "finalizers": ["example.com/hold"],
            },
            "status": {
                "conditions": [
                    {
                        "type": "PodScheduled",
                        "status": "False",
                        "reason": "Unschedulable",
                        "message": "0/1 nodes are available: 1 Too many pods.",
                        "lastTransitionTime": "2026-11-21T09:00:01Z",
                    }
                ]
            },
        },
    ).pods

    assert pod.terminating
    assert (pod.created, pod.deleted, pod.refused_since) == (
        "2026-11-21T09:00:00Z",
        "2026-11-21T09:30:00Z",
        "2026-11-21T09:00:01Z",
    )
    assert (pod.reason, pod.finalizers) == ("Unschedulable", ("example.com/hold",))


def test_what_nothing_depends_on_need_not_decode(tmp_path: Path) -> None:
    """Times and finalizers of the wrong type are left out, and the pod stays."""
    metadata = {"name": "web-1", "creationTimestamp": 5, "finalizers": "none"}
    (pod,) = _load(tmp_path, {"kind": "Pod", "metadata": metadata}).pods

    assert (pod.created, pod.finalizers) == ("", ())
