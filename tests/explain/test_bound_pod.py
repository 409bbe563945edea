"""Pods that are on a node already, as the scheduler would see them today."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.explain.explanation import bound_pod_report, BoundPodReport, explain, NodeToday
from kubectl_spread.explain.forecast import forecast
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.report.explain import scores as text
from kubectl_spread.report.explain.document import explanation
from kubectl_spread.report.explain.pod_report import PodReport
from kubectl_spread.report.table import lay_out, Style
from kubectl_spread.scheduler.profiles import profiles


def lines(bound: BoundPodReport, node: str) -> list[str]:
    """The text of the blocks."""
    return lay_out(text.bound_pod_blocks(bound, node, Style(is_detailed=True)))


Plain = dict[str, Any]

SCHEMAS = Path(__file__).parents[2] / "schemas"
ZONE = "topology.kubernetes.io/zone"
SAID = "This is the cluster as it is now, without this pod. Its state at the time of scheduling is not recorded."


def node(name: str, zone: str, cpu: str = "4", **spec: Any) -> Plain:
    labels = {"kubernetes.io/hostname": name, ZONE: zone}
    status = {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "10"}}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}


def hard(**fields: Any) -> Plain:
    selector = {"matchLabels": {"app": "web"}}
    fields = {"whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector, **fields}
    return {"maxSkew": 1, "topologyKey": ZONE, **fields}


def pod(name: str, on: str, *constraints: Plain, cpu: str = "1", **spec: Any) -> Plain:
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    spec = {"nodeName": on, "containers": [container], "topologySpreadConstraints": list(constraints), **spec}
    return {"kind": "Pod", "metadata": {"name": name, "labels": {"app": name.partition("-")[0]}}, "spec": spec}


SPEC = pod("web", "", hard(whenUnsatisfiable="ScheduleAnyway"))["spec"]


def stands(cluster: Cluster, at: int = 0) -> BoundPodReport:
    return bound_pod_report(cluster.pods[at], cluster, profiles())


def test_a_zone_came_back() -> None:
    """Three pods in zone a, none in the others: allowed once, not today."""
    pods = [pod(f"web-{at}", "a1", hard()) for at in range(3)]
    cluster = cluster_of([node("a1", "a"), node("b1", "b"), node("c1", "c"), *pods])

    assert [
        SAID,
        "If it were scheduled now, it would go to any of b1, c1.",
        "  a1 would refuse it now, PodTopologySpread: node(s) didn't match pod topology spread constraints",
        (
            "topologySpreadConstraints[0] (topology.kubernetes.io/zone): skew now 3 > maxSkew 1 (a has 3, b has 0): "
            "the constraint is checked at scheduling time only"
        ),
        "",
        "Both nodes score 454, so the scheduler may choose either of them: b1, c1.",
    ] == lines(stands(cluster), "a1")


def test_a_pod_where_it_belongs() -> None:
    cluster = cluster_of([node("a1", "a"), node("b1", "b"), pod("web-1", "a1", hard()), pod("web-2", "b1")])
    found = stands(cluster)

    assert NodeToday.SAME_NODE is found.again
    assert [
        SAID,
        "If it were scheduled now, it would go to the same node.",
        "topologySpreadConstraints[0] (topology.kubernetes.io/zone): skew now 0 <= maxSkew 1 (a has 1, a has 1)",
        "",
        "a1 is the only node that fits, so the scheduler takes it without scoring.",
    ] == lines(found, "a1")


def test_a_pod_that_might_be_elsewhere() -> None:
    found = stands(cluster_of([node("a1", "a"), node("b1", "b"), pod("web-1", "b1")]))

    assert NodeToday.ANY_OF_SEVERAL is found.again
    assert "If it were scheduled now, its node would be one of several with the highest score." in lines(found, "b1")


def test_a_pod_that_would_find_no_node() -> None:
    """Its node was tainted since."""
    taint = [{"key": "gpu", "value": "", "effect": "NoSchedule"}]
    found = stands(cluster_of([node("a1", "a", taints=taint), pod("web-1", "a1")]))

    assert [
        SAID,
        "If it were scheduled now, it would find no node.",
        "  a1 would refuse it now, TaintToleration: node(s) had untolerated taint(s)",
    ] == lines(found, "a1")


def test_too_few_domains_have_no_emptiest() -> None:
    """With fewer domains than minDomains the minimum is 0."""
    cluster = cluster_of([node("a1", "a"), *(pod(f"web-{at}", "a1", hard(minDomains=2)) for at in range(2))])
    (skew,) = stands(cluster).skews

    assert (2, "", 0, 1) == (skew.counts.skew, skew.counts.emptiest, skew.counts.minimum, skew.excess)
    assert "(a has 2, the minimum is 0)" in lines(stands(cluster), "a1")[3]


def test_a_nomination_of_the_past_does_not_matter() -> None:
    """The scheduler tries the nominated node first; of a pod that runs, the field is only a trace."""
    item = {**pod("web-1", "a1"), "status": {"nominatedNodeName": "a1"}}
    found = stands(cluster_of([node("a1", "a"), node("b1", "b", "8"), item]))

    assert (NodeToday.ANOTHER_NODE, ("b1",)) == (found.again, found.scores.hosts if found.scores else ())


def test_what_nobody_can_know() -> None:
    """Static pods, other schedulers, and nodes that are not in the facts."""
    static = pod("etcd", "a1")
    static["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "Node", "name": "a1", "controller": True}]
    cluster = cluster_of([node("a1", "a"), static, pod("web-1", "a1", schedulerName="mine"), pod("web-2", "gone")])

    assert [
        ["Why the pod is on this node is not known: it is a static pod of its node, which no scheduler places."],
        ["Why the pod is on this node is not known: the scheduler mine is not one of the known profiles."],
        ["Why the pod is on this node is not known: its node gone is not in the cluster facts."],
    ] == [lines(stands(cluster, at), "a1") for at in range(3)]


def test_the_document_has_it_all() -> None:
    cluster = cluster_of([node("a1", "a"), node("b1", "b", "8"), pod("web-1", "a1", hard())])
    told = explanation(PodReport(explain(cluster.pods[0], cluster, profiles())))

    assert ("Running", "anotherNode", ["b1"]) == (told["verdict"], told["boundPod"]["ifScheduledNow"], told["hosts"])
    assert [0, 0] == [domain["matching"] for domain in told["constraints"][0]["domains"]]
    assert ["a1", "b1"] == sorted(told["scores"])


@pytest.mark.slow
def test_every_part_of_the_document_keeps_to_the_schema() -> None:
    """A pod that stands, one that could be scheduled, one that preempts and one that cannot; with a forecast."""
    soft = hard(whenUnsatisfiable="ScheduleAnyway")
    taint = [{"key": "spot", "value": "", "effect": "PreferNoSchedule"}]
    pods = [
        pod("web-1", "a1", hard()),
        pod("web-2", "", soft),
        pod("web-3", "", cpu="4", priority=10, nodeSelector={ZONE: "a"}),
        pod("web-4", "", cpu="99", priority=10),
    ]
    cluster = cluster_of([node("a1", "a"), node("b1", "b", taints=taint), *pods])
    owner = Workload("Deployment", "apps/v1", "default", "web", 4, {"metadata": pods[1]["metadata"], "spec": SPEC})
    foretold = forecast(owner, cluster, profiles())
    documents = [explanation(PodReport(explain(item, cluster, profiles()), forecast=foretold)) for item in cluster.pods]
    parts = ("boundPod", "scores", "preemption", "forecast")

    assert [
        ["boundPod", "scores", "forecast"],
        ["scores", "forecast"],
        ["preemption", "forecast"],
        ["preemption", "forecast"],
    ] == [[part for part in parts if part in document] for document in documents]
    for document in documents:
        jsonschema.validate(document, json.loads((SCHEMAS / "explanation.json").read_text()))


def test_what_refuses_a_pod_with_and_without_nominated_pods_is_told_once() -> None:
    nominated = {**pod("web-9", "", hard()), "status": {"nominatedNodeName": "a1"}}
    pods = [pod("web-1", "a1", hard()), pod("web-2", "a1", hard()), nominated]
    found = stands(cluster_of([node("a1", "a"), node("b1", "b"), *pods]))

    assert ["PodTopologySpread"] == [status.plugin for status in found.refusals]
