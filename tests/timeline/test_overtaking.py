"""Races: the user's next command before a controller has reacted, and a pod of lower priority before a preemptor."""

from __future__ import annotations

from collections import Counter
from typing import Any, Optional

from kubectl_spread.engine import steps
from kubectl_spread.engine.results.answer import Outcome
from kubectl_spread.kubectl.situation import controller_of
from kubectl_spread.objects.keys import ObjectKey
from tests.timeline.test_run import deployment, HOSTNAME, node, Plain, run, THREE_ZONES, WEB, ZONE

SHARDS = ObjectKey("StatefulSet", "app", "shards")

NOT_A = {"matchExpressions": [{"key": ZONE, "operator": "NotIn", "values": ["a"]}]}


def container(cpu: str) -> list[Plain]:
    return [{"name": "c", "image": "pause", "resources": {"requests": {"cpu": cpu}}}]


def apart(app: str, key: str) -> Plain:
    """Required anti-affinity to the pods of an application."""
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def spread(app: str, key: str, *, skew: int = 1) -> Plain:
    selector = {"matchLabels": {"app": app}}
    return {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}


def workload(kind: str, name: str, spec: Plain, pod: Plain, *, app: str = "") -> Plain:
    labels = {"app": app or name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "pause"}], **pod}}
    selector = {} if kind == "Job" else {"selector": {"matchLabels": labels}}
    return {
        "apiVersion": "batch/v1" if kind == "Job" else "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "app"},
        "spec": {**spec, **selector, "template": template},
    }


def on_nodes(outcome: Outcome) -> Counter[tuple[str, str]]:
    """Return the number of pods of each workload on each node."""
    return Counter((pod.owner.name, pod.node) for pod in outcome.pods if pod.owner is not None)


def test_a_pod_of_lower_priority_may_come_before_a_preemptor_that_waits() -> None:
    """While two Job pods wait for their victim to end, the node is reserved for both, so that `db` avoids it."""
    classes = [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
        for name, value in (("high", 1000), ("low", 10))
    ]
    nodes = [node("a1", "a", pods="4"), node("b1", "b", pods="3"), node("c1", "c", pods="3"), node("a2", "a", pods="2")]
    tight = [spread("api", ZONE, skew=2), spread("api", HOSTNAME)]
    web = workload("Deployment", "web", {"replicas": 1}, {"priorityClassName": "low", "nodeSelector": {HOSTNAME: "a2"}})
    elsewhere = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [NOT_A]}}}
    placed = {"topologySpreadConstraints": tight, "affinity": elsewhere, "containers": container("200m")}
    placed["priorityClassName"] = "high"
    api = workload("Deployment", "api", {"replicas": 2}, placed)
    waiting = {
        "topologySpreadConstraints": [spread("db", ZONE)],
        "affinity": apart("web", ZONE),
        "containers": container("100m"),
    }
    db = workload("Deployment", "db", {"replicas": 4}, waiting)
    urgent = {
        "topologySpreadConstraints": tight,
        "affinity": apart("web", HOSTNAME),
        "priorityClassName": "high",
        "restartPolicy": "Never",
        "containers": container("200m"),
    }
    job = workload("Job", "job", {"completions": 4, "parallelism": 4}, urgent, app="api")
    answer = run([*classes, *nodes, web, api, db], steps.Apply(controller_of(job)))

    assert answer.last.is_exact
    ends = [on_nodes(outcome) for outcome in answer.last.outcomes]
    assert any(end["db", "a1"] == 2 and end["job", "a1"] == 2 for end in ends)
    assert any(end["db", "a2"] == 1 and end["job", "a1"] == 2 for end in ends)


def member(ordinal: int, at: str) -> Plain:
    """A ready pod of the StatefulSet."""
    labels = {"app": "shards", "controller-revision-hash": "shards-1"}
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "shards", "uid": "shards", "controller": True}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"shards-{ordinal}",
            "namespace": "app",
            "uid": f"shards-{ordinal}",
            "labels": labels,
            "ownerReferences": [owner],
        },
        "spec": {
            "nodeName": at,
            "containers": [{"name": "c", "image": "pause"}],
            "affinity": apart("shards", HOSTNAME),
        },
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


def ordinals(outcome: Outcome) -> dict[Optional[int], str]:
    return {pod.ordinal: pod.node for pod in outcome.pods}


def test_a_drain_may_reach_the_next_node_before_a_pod_is_created_again() -> None:
    """Without web-0, an OrderedReady StatefulSet does not create a later pod."""
    shards = workload("StatefulSet", "shards", {"replicas": 3}, {"affinity": apart("shards", HOSTNAME)})
    shards["metadata"]["uid"] = "shards"
    members = [member(0, "b1"), member(1, "c1"), member(2, "a1")]
    answer = run([*THREE_ZONES, shards, *members], steps.Drain(("a1", "b1")))

    assert answer.last.is_exact
    ends = sorted((ordinals(outcome) for outcome in answer.last.outcomes), key=len)
    assert ends == [{0: "", 1: "c1"}, {0: "", 1: "c1", 2: ""}]


def test_a_drain_may_come_before_the_pods_of_a_scale_down_go() -> None:
    """Then the evicted pod is one of those that are too many, and no other pod is created."""
    nodes = [node("a1", "a", pods="1"), node("b1", "b", pods="2"), node("c1", "c", pods="1")]
    answer = run([*nodes, deployment(4, hard=None)], (steps.Scale(WEB, 3), steps.Drain(("a1",))))

    assert answer.last.is_exact
    ends = {tuple(sorted(Counter(pod.node for pod in outcome.pods).items())) for outcome in answer.last.outcomes}
    assert (("b1", 2), ("c1", 1)) in ends


def test_commands_that_do_not_interact_have_one_order() -> None:
    """Ten applied workloads take no more states than their pods require."""
    created: list[Any] = [
        steps.Apply(
            controller_of(workload("Deployment", f"w{at}", {"replicas": 1}, {"nodeSelector": {HOSTNAME: "a1"}}))
        )
        for at in range(5)
    ]
    answer = run(list(THREE_ZONES), tuple(created))

    assert answer.last.is_exact
    assert len(answer.last.outcomes) == 1


def test_a_pod_of_lower_priority_may_come_before_one_that_does_not_exist_yet() -> None:
    """Controllers create the pods of one `apply` at the same time, so priority orders only those that exist."""
    high = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 1000,
        "preemptionPolicy": "Never",
    }
    api = workload("Deployment", "api", {"replicas": 1}, {"priorityClassName": "high"})
    db = workload("Deployment", "db", {"replicas": 2}, {"affinity": apart("api", HOSTNAME)})
    applied = tuple(steps.Apply(controller_of(item)) for item in (api, db))
    answer = run([high, node("a1", "a", pods="1"), node("b1", "b", pods="1")], applied)

    found = {(count["api"], count["db"]) for count in map(bound, answer.last.outcomes)}
    assert answer.last.is_exact
    assert found == {(1, 1), (0, 2)}


def bound(outcome: Outcome) -> Counter[str]:
    return Counter(pod.owner.name for pod in outcome.pods if pod.owner is not None and pod.node)
