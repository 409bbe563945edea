"""Clusters in which a Deployment's pods wait, for reasons of many kinds."""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import strategies as st

from tests.naive.builders import HOSTNAME, node, Plain, pod, ZONE

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class Case(NamedTuple):
    """Objects of a cluster, and the pods of one Deployment that wait."""

    objects: list[Plain]
    waiting: list[Plain]


TAINTS = st.sampled_from(
    [
        [],
        [],
        [],
        [{"key": "dedicated", "value": "db", "effect": "NoSchedule"}],
        [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}],
        [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}],
    ]
)


@st.composite
def nodes(draw: Any, number: int) -> Plain:
    """A node of some zone, or of none; it may be tainted, cordoned or small."""
    name = f"n{number}"
    labels = {HOSTNAME: draw(st.sampled_from([name, name, name, "twin"]))}
    zone = draw(st.sampled_from(["a", "b", "b", "c", "", None]))
    if zone is not None:
        labels[ZONE] = zone
    taints = draw(TAINTS)
    spec: Plain = {"taints": taints}
    if any("unschedulable" in taint["key"] for taint in taints) or draw(st.integers(0, 9)) == 0:
        spec["unschedulable"] = True
    room = {"cpu": draw(st.sampled_from(["1", "4", "4"])), "pods": draw(st.sampled_from(["3", "10"]))}
    return node(name, labels=labels, allocatable=room, spec=spec)


@st.composite
def constraints(draw: Any, key: str) -> Plain:
    """A hard constraint, mostly one that counts the Deployment's own pods."""
    selector = draw(
        st.sampled_from([{"app": "web"}, {"app": "web"}, {"app": "web"}, {"tier": "front"}, {"app": "wbe"}])
    )
    optional = {
        "minDomains": draw(st.sampled_from([None, None, 3])),
        "nodeTaintsPolicy": draw(st.sampled_from([None, None, "Honor", "Ignore"])),
        "nodeAffinityPolicy": draw(st.sampled_from([None, None, "Ignore"])),
    }
    return {
        "maxSkew": draw(st.sampled_from([1, 1, 2])),
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": selector},
        **{name: value for name, value in optional.items() if value is not None},
    }


@st.composite
def specs(draw: Any) -> Plain:
    """What the Deployment's pods ask for."""
    keys = draw(st.sampled_from([[ZONE], [ZONE], [HOSTNAME], [ZONE, HOSTNAME], ["topology.kubernetes.io/zones"], []]))
    spec: Plain = {"topologySpreadConstraints": [draw(constraints(key)) for key in keys]}
    if draw(st.integers(0, 3)) == 0:
        spec["nodeSelector"] = {ZONE: draw(st.sampled_from(["a", "b", "d"]))}
    if draw(st.integers(0, 3)) == 0:
        term = {
            "topologyKey": draw(st.sampled_from([HOSTNAME, ZONE])),
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
        spec["affinity"] = {"podAntiAffinity": {REQUIRED: [term]}}
    if draw(st.integers(0, 5)) == 0:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
    return spec


def owned(item: Plain, kind: str, name: str) -> Plain:
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name, "controller": True}
    item["metadata"]["ownerReferences"] = [reference]
    return item


@st.composite
def cases(draw: Any) -> Case:
    """A cluster; whether any pod of it has to wait is for the scheduler to say."""
    objects = [draw(nodes(number)) for number in range(draw(st.integers(2, 6)))]
    names = [item["metadata"]["name"] for item in objects]
    spec, cpu = draw(specs()), draw(st.sampled_from(["100m", "1", "3"]))
    labels = {"app": "web", "tier": "front"}
    template = {"metadata": {"labels": labels}, "spec": {**pod("", requests={"cpu": cpu})["spec"], **spec}}
    has_old = draw(st.booleans())
    pods: list[Plain] = []
    for number, name in enumerate(draw(st.lists(st.sampled_from(names), max_size=5))):
        revision = "old" if has_old else "new"
        made = {**labels, "pod-template-hash": revision}
        item = pod(f"web-{number}", on=name, labels=made, requests={"cpu": cpu}, **spec)
        pods.append(owned(item, "ReplicaSet", f"web-{revision}"))
    for number, name in enumerate(draw(st.lists(st.sampled_from(names), max_size=3))):
        made = {"app": "db", "tier": draw(st.sampled_from(["front", "back"]))}
        pods.append(owned(pod(f"db-{number}", on=name, labels=made, requests={"cpu": "1"}), "StatefulSet", "db"))
    waiting = []
    for number in range(draw(st.integers(1, 3))):
        made = {**labels, "pod-template-hash": "new"}
        item = pod(f"new-{number}", labels=made, requests={"cpu": cpu}, **spec)
        waiting.append(owned(item, "ReplicaSet", "web-new"))
    objects += pods
    if draw(st.booleans()):
        objects += controllers(template, len(pods) + len(waiting))
    return Case(objects, waiting)


def controllers(template: Plain, replicas: int) -> list[Plain]:
    """The Deployment and its ReplicaSets."""
    metadata = {"name": "web", "namespace": "default"}
    selector = {"matchLabels": {"app": "web"}}
    spec = {"replicas": max(1, replicas), "selector": selector, "template": template}
    made = [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}]
    for revision in ("old", "new"):
        item = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {**metadata, "name": f"web-{revision}"}}
        made.append(owned({**item, "spec": {"selector": selector}}, "Deployment", "web"))
    return made
