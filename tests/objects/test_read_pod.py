"""Pods and nodes from plain values."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.objects.node import Taint, Toleration
from kubectl_spread.objects.pod import HostPort, Owner
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.selectors import LabelRequirement, NodeAffinity, PodAffinityTerm, Selector

CONSTRAINT = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}


def of_pod(spec: dict[str, Any], *fields: str) -> tuple[Any, ...]:
    cls = read.pod({"spec": spec}).cls
    return tuple(getattr(cls, field) for field in fields)


def test_an_empty_pod_has_the_defaults_of_the_api_server() -> None:
    """Namespace default, scheduler default-scheduler, nothing else."""
    pod = read.pod({})

    assert ("", "default", "default/", "", "") == (pod.name, pod.namespace, pod.uid, pod.node_name, pod.phase)
    assert ("default-scheduler", 0, (), (), NodeAffinity()) == (
        pod.cls.scheduler_name,
        pod.cls.priority,
        pod.cls.labels,
        pod.cls.requests,
        pod.cls.node_affinity,
    )


def test_a_bound_terminating_pod_is_read() -> None:
    """Metadata, spec and status each give their part."""
    pod = read.pod(
        {
            "metadata": {
                "name": "web-1",
                "namespace": "shop",
                "uid": "u1",
                "labels": {"b": "2", "a": None},
                "deletionTimestamp": "2024-01-01T00:00:00Z",
            },
            "spec": {"nodeName": "n1", "priority": 10, "preemptionPolicy": "Never", "schedulerName": "other"},
            "status": {"phase": "Running", "nominatedNodeName": "n2"},
        }
    )

    assert ("web-1", "shop", "u1", "n1", "Running", True, "n2") == (
        pod.name,
        pod.namespace,
        pod.uid,
        pod.node_name,
        pod.phase,
        pod.terminating,
        pod.nominated_node,
    )
    assert ((("a", ""), ("b", "2")), 10, "Never", "other") == (
        pod.cls.labels,
        pod.cls.priority,
        pod.cls.preemption_policy,
        pod.cls.scheduler_name,
    )


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"name": "a", "generateName": "b-"}, "a"),
        ({"generateName": "b-"}, "b-"),
        ({}, ""),
    ],
)
def test_a_pod_without_a_name_is_called_by_its_prefix(metadata: dict[str, Any], expected: str) -> None:
    """`generateName` stands for the name that is yet to come."""
    assert expected == read.pod({"metadata": metadata}).name


@pytest.mark.parametrize(
    ("phase", "expected"),
    [("", True), ("Pending", True), ("Running", True), ("Unknown", True), ("Succeeded", False), ("Failed", False)],
)
def test_a_pod_that_has_ended_is_not_visible(phase: str, expected: bool) -> None:
    """The scheduler's informer leaves it out."""
    assert expected == read.pod({"status": {"phase": phase}}).is_visible


@pytest.mark.parametrize(
    ("references", "expected"),
    [
        (None, None),
        ([None, {"kind": "A", "name": "a"}], None),
        (
            [
                {"apiVersion": "v1", "kind": "A", "name": "a", "controller": False},
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "controller": True},
            ],
            Owner("apps/v1", "ReplicaSet", "rs"),
        ),
    ],
)
def test_the_owner_is_the_reference_that_controls(references: Any, expected: Any) -> None:
    """Others only keep the object alive."""
    assert expected == read.controller({"ownerReferences": references})


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"containers": [{"ports": [{"containerPort": 80}]}]}, ()),
        ({"containers": [{"ports": [{"hostPort": 80}]}]}, (HostPort("0.0.0.0", "TCP", 80),)),
        (
            {"containers": [{"ports": [{"hostPort": 53, "protocol": "UDP", "hostIP": "10.0.0.1"}, None]}]},
            (HostPort("10.0.0.1", "UDP", 53),),
        ),
        # with hostNetwork a container port is a host port
        ({"hostNetwork": True, "containers": [{"ports": [{"containerPort": 80}]}]}, (HostPort("0.0.0.0", "TCP", 80),)),
        (
            {"hostNetwork": True, "containers": [{"ports": [{"containerPort": 80, "hostPort": 80}]}]},
            (HostPort("0.0.0.0", "TCP", 80),),
        ),
        ({"hostNetwork": False, "containers": [{"ports": [{"containerPort": 80}]}]}, ()),
        # sidecars take ports, ordinary init containers do not
        ({"initContainers": [{"ports": [{"hostPort": 1}]}]}, ()),
        (
            {"initContainers": [None, {"restartPolicy": "Always", "ports": [{"hostPort": 1}]}]},
            (HostPort("0.0.0.0", "TCP", 1),),
        ),
    ],
)
def test_host_ports_are_those_of_containers_and_sidecars(spec: dict[str, Any], expected: tuple[HostPort, ...]) -> None:
    """With what the API server fills in."""
    assert expected == read.pod({"spec": spec}).cls.host_ports


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (HostPort("0.0.0.0", "TCP", 80), HostPort("0.0.0.0", "TCP", 80), True),
        (HostPort("0.0.0.0", "TCP", 80), HostPort("10.0.0.1", "TCP", 80), True),
        (HostPort("10.0.0.1", "TCP", 80), HostPort("0.0.0.0", "TCP", 80), True),
        (HostPort("10.0.0.1", "TCP", 80), HostPort("10.0.0.1", "TCP", 80), True),
        (HostPort("10.0.0.1", "TCP", 80), HostPort("10.0.0.2", "TCP", 80), False),
        (HostPort("0.0.0.0", "TCP", 80), HostPort("0.0.0.0", "UDP", 80), False),
        (HostPort("0.0.0.0", "TCP", 80), HostPort("0.0.0.0", "TCP", 81), False),
        (HostPort("::", "TCP", 80), HostPort("10.0.0.1", "TCP", 80), False),
    ],
)
def test_host_ports_conflict_on_the_same_address_or_any(one: HostPort, other: HostPort, expected: bool) -> None:
    """0.0.0.0 is every address; `::` is not special."""
    assert expected == one.conflicts(other)


def test_null_entries_are_zero_values() -> None:
    """Go decodes a null in a list to the zero value of its type."""
    spec = {
        "tolerations": [None],
        "schedulingGates": [None],
        "containers": [None],
        "initContainers": [None],
        "volumes": [None],
        "topologySpreadConstraints": [{**CONSTRAINT, "matchLabelKeys": [None]}, None],
        "affinity": {
            "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [None]},
            "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [None]},
        },
    }
    tolerations, gates, pod_affinity, constraints = of_pod(spec, "tolerations", "gates", "pod_affinity", "constraints")

    assert (Toleration(),) == tolerations
    assert ("",) == gates
    assert (PodAffinityTerm("", Selector(None), ("default",)),) == pod_affinity
    assert [("zone", ("",)), ("", ())] == [(item.topology_key, item.match_label_keys) for item in constraints]


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ({}, PodAffinityTerm("", Selector(None), ("shop",))),
        ({"labelSelector": {}, "topologyKey": "zone"}, PodAffinityTerm("zone", Selector(()), ("shop",))),
        ({"namespaces": ["a", "b"]}, PodAffinityTerm("", Selector(None), ("a", "b"))),
        ({"namespaceSelector": {}}, PodAffinityTerm("", Selector(None), (), Selector(()))),
        ({"namespaces": ["a"], "namespaceSelector": {}}, PodAffinityTerm("", Selector(None), ("a",), Selector(()))),
        (
            {"labelSelector": {}, "matchLabelKeys": ["v", "absent"], "mismatchLabelKeys": ["w"]},
            PodAffinityTerm(
                "", Selector((LabelRequirement("v", "In", ("1",)), LabelRequirement("w", "NotIn", ("2",)))), ("shop",)
            ),
        ),
        # a stored pod has its keys merged already
        (
            {
                "labelSelector": {"matchExpressions": [{"key": "v", "operator": "In", "values": ["0"]}]},
                "matchLabelKeys": ["v"],
            },
            PodAffinityTerm("", Selector((LabelRequirement("v", "In", ("0",)),)), ("shop",)),
        ),
        ({"matchLabelKeys": ["v"]}, PodAffinityTerm("", Selector(None), ("shop",))),
    ],
)
def test_a_pod_affinity_term_has_its_keys_merged_and_its_namespaces_named(
    term: dict[str, Any], expected: PodAffinityTerm
) -> None:
    """The pod's own namespace stands for none given; a selector that selects nothing stays so."""
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    metadata = {"namespace": "shop", "labels": {"v": "1", "w": "2"}}

    assert (expected,) == read.pod({"metadata": metadata, "spec": {"affinity": affinity}}).cls.pod_affinity


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (None, ""),
        (
            [{"type": "PodScheduled", "status": "False", "message": "0/1 nodes are available"}],
            "0/1 nodes are available",
        ),
        ([{"type": "PodScheduled", "status": "True", "message": "x"}], ""),
        ([None, {"type": "Ready", "status": "False", "message": "x"}], ""),
    ],
)
def test_the_message_is_that_of_the_scheduler(conditions: Any, expected: str) -> None:
    """Of the condition PodScheduled, where it is False."""
    assert expected == read.pod({"status": {"conditions": conditions}}).message


def test_what_the_prediction_does_not_cover_is_named() -> None:
    """Claims for devices."""
    assert (("resource claims",),) == of_pod({"resourceClaims": [{"name": "gpu"}]}, "beyond")
    assert ((),) == of_pod({"resourceClaims": None}, "beyond")


def test_a_node_is_read() -> None:
    """Name, labels, taints and whether it is cordoned; a null taint is an empty one."""
    node = read.node(
        {
            "metadata": {"name": "n1", "labels": {"zone": "a", "x": None}},
            "spec": {"unschedulable": True, "taints": [{"key": "k", "value": "v", "effect": "NoExecute"}, None]},
        }
    )

    assert ("n1", {"zone": "a", "x": ""}, (Taint("k", "v", "NoExecute"), Taint("", "", "")), True) == (
        node.name,
        node.labels,
        node.taints,
        node.unschedulable,
    )
