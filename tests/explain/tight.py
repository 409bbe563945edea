"""Small clusters where a pod that asks for much finds no node, for several reasons at once."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.naive.builders import claim, HOSTNAME, LATE, node, pod, using, volume, ZONE

Plain = dict[str, Any]
Strategy = st.SearchStrategy[Any]

WEB = {"matchLabels": {"app": "web"}}
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_TAINTS = (
    {"key": "dedicated", "value": "a", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "b", "effect": "NoExecute"},
    {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
)


def _of(*values: Any) -> Strategy:
    return st.sampled_from(values)


def apart(key: str, app: str) -> Plain:
    """Required anti-affinity of one term."""
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {"podAntiAffinity": {_REQUIRED: [term]}}


@st.composite
def _node(draw: st.DrawFn, name: str) -> Plain:
    labels = {HOSTNAME: name}
    for key, values in ((ZONE, ("a", "b", "c", None)), ("disk", ("ssd", "hdd", None)), ("rack", ("1", "2", "3", "4"))):
        value = draw(_of(*values))
        if value is not None:
            labels[key] = value
    spec: Plain = {"taints": draw(st.lists(_of(*_TAINTS), max_size=2, unique_by=str))}
    if draw(_of(False, False, True)):
        spec["unschedulable"] = True
    return node(name, labels=labels, allocatable={"cpu": draw(_of("1", "2")), "pods": draw(_of("9", "1"))}, spec=spec)


@st.composite
def _running(draw: st.DrawFn, name: str, nodes: list[str]) -> Plain:
    app = draw(_of("web", "web", "db"))
    made = pod(name, on=draw(_of(*nodes)), labels={"app": app}, requests={"cpu": draw(_of("1", "500m", "0"))})
    if draw(_of(True, False)):
        made["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": draw(_of(80, 81))}]
    if app == "db" and draw(st.booleans()):
        made["spec"]["affinity"] = apart(draw(_of(HOSTNAME, ZONE)), "web")
    owner = draw(_of(None, "ReplicaSet", "StatefulSet"))
    if owner:
        reference = {"apiVersion": "apps/v1", "kind": owner, "name": app, "controller": True, "uid": app}
        made["metadata"]["ownerReferences"] = [reference]
    return made


def constraint(key: str, **more: Any) -> Plain:
    """A hard constraint on pods of `web`."""
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": WEB, **more}


@st.composite
def _incoming(draw: st.DrawFn) -> Plain:
    made = pod("new", labels={"app": "web"}, requests={"cpu": draw(_of("1", "1500m")), "memory": "1Gi"})
    spec = made["spec"]
    keys = draw(st.lists(_of(ZONE, HOSTNAME, "rack"), max_size=2, unique=True))
    policies = st.fixed_dictionaries({}, optional={"nodeTaintsPolicy": _of("Honor"), "minDomains": _of(3)})
    spec["topologySpreadConstraints"] = [constraint(key, **draw(policies)) for key in keys]
    affinity: Plain = {}
    if draw(st.booleans()):
        spec["nodeSelector"] = {"disk": "ssd"}
    if draw(st.booleans()):
        expressions = [
            {"key": "rack", "operator": "NotIn", "values": [draw(_of("1", "2"))]},
            {"key": ZONE, "operator": "In", "values": ["a", "b"]},
        ]
        terms = [{"matchExpressions": expressions}]
        if draw(_of(False, False, True)):
            terms.append({"matchExpressions": [{"key": "disk", "operator": "Exists"}]})
        affinity["nodeAffinity"] = {_REQUIRED: {"nodeSelectorTerms": terms}}
    if draw(st.booleans()):
        affinity.update(apart(draw(_of(HOSTNAME, ZONE)), draw(_of("web", "db"))))
    if draw(_of(False, False, True)):
        terms = [{"topologyKey": key, "labelSelector": WEB} for key in draw(_of([ZONE], [ZONE, "rack"]))]
        affinity["podAffinity"] = {_REQUIRED: terms}
    if draw(st.booleans()):
        spec["containers"][0]["ports"] = [{"containerPort": port, "hostPort": port} for port in (80, 81)]
    if draw(_of(False, False, True)):
        spec["volumes"] = using("data")
    return {**made, "spec": {**spec, "affinity": affinity}}


@st.composite
def tight_cases(draw: st.DrawFn) -> Plain:
    """A case in the form of a recording, without what is expected."""
    nodes = [f"n{at}" for at in range(draw(st.integers(2, 5)))]
    pods = [draw(_running(f"p{at}", nodes)) for at in range(draw(st.integers(0, 6)))]
    terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [draw(_of("a", "b"))]}]}]
    volumes = [volume("pv", nodeAffinity={"required": {"nodeSelectorTerms": terms}}), claim("data", volume="pv"), LATE]
    return {"objects": [*(draw(_node(name)) for name in nodes), *pods, *volumes], "incoming": [draw(_incoming())]}
