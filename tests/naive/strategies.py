"""Clusters that are odder than the recorded ones, in the form of a recording without what is expected.

Objects are as the API server would have stored them; pods that come in are as somebody would create them. What a
case is made of is drawn first (`_Taste`), so that most cases combine a few oddities and not all of them.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from hypothesis import strategies as st

Plain = dict[str, Any]
Strategy = st.SearchStrategy[Any]

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
HOSTNAME = "kubernetes.io/hostname"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
OLD_REGION = "failure-domain.beta.kubernetes.io/region"
LONGEST = "v" * 63
GPU = "example.com/gpu"

TOPOLOGY_KEYS = (ZONE, HOSTNAME, "rack", REGION, OLD_ZONE, "nowhere")
NAMESPACES = ("default", "other", "third")
PRIORITIES = (0, 0, 0, 5, 10, -5)

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _of(*values: Any) -> Strategy:
    return st.sampled_from(values)


def _lists(of: Strategy, most: int, least: int = 0) -> Strategy:
    return st.lists(of, min_size=least, max_size=most)


@cache
def _one_in(number: int) -> Strategy:
    return st.integers(0, number - 1).map(lambda drawn: drawn == number - 1)


@st.composite
def _sometimes(draw: st.DrawFn, value: Strategy, *, one_in: int = 3) -> Any:
    """None, or the value in one of so many cases."""
    return draw(value) if draw(_one_in(one_in)) else None


@st.composite
def _fields(draw: st.DrawFn, one_in: int, fields: dict[str, Strategy]) -> Plain:
    """Each of the fields, or not; cases shrink to none of them."""
    return {name: draw(value) for name, value in fields.items() if draw(_one_in(one_in))}


# Labels and selectors. Keys that matchLabelKeys names are never in a selector, as validation demands.

_VALUES = _of("a", "b", "", LONGEST)
_POD_LABELS = _fields(
    2, {"app": _of("web", "db", "", LONGEST), "tier": _VALUES, "version": _of("1", "2", ""), "hash": _of("x", "y")}
)


@st.composite
def _expression(draw: st.DrawFn, keys: tuple[str, ...], values: tuple[str, ...]) -> Plain:
    operator = draw(_of("In", "NotIn", "Exists", "DoesNotExist"))
    written = {"key": draw(st.sampled_from(keys)), "operator": operator}
    if operator in ("In", "NotIn"):
        written["values"] = draw(_lists(st.sampled_from(values), 2, 1))
    return written


_SELECTORS = st.one_of(
    _of({"matchLabels": {"app": "web"}}, {"matchLabels": {"app": "web"}}, {}, {"matchLabels": {"app": ""}}),
    _fields(
        2,
        {
            "matchLabels": _fields(2, {"app": _of("web", "db", LONGEST), "tier": _VALUES}),
            "matchExpressions": _lists(_expression(("app", "tier"), ("web", "db", "a", "b", "")), 2),
        },
    ),
)
_NAMESPACE_SELECTORS = st.one_of(
    _of({}, {"matchLabels": {"team": "x"}}),
    st.fixed_dictionaries({"matchExpressions": _lists(_expression(("team",), ("x", "y", "")), 2, 1)}),
)


# Quantities.

_CPU = _of("100m", "1", "0", "0.5", "100.5m", "1e-1", "250m", "2", "3n")
_MEMORY = _of("1Gi", "64Mi", "0", "1e9", "0.5", "1500000k", "200Mi", "128974848")
_COUNTS = _of("1", "2", "0")
_HUGE = _of("9E", "8Ei", "-1", "1P", "9223372036854775807", "100E", "92233720368547759")
_REQUESTS = _fields(
    2,
    {
        "cpu": _CPU,
        "memory": _MEMORY,
        "ephemeral-storage": _of("1Gi", "0", "1"),
        GPU: _COUNTS,
        "hugepages-2Mi": _of("2Mi", "0", "4Mi"),
        "attachable-volumes-x": _COUNTS,
        "unknown": _COUNTS,
        "example.com/not/qualified": _COUNTS,
    },
)
_RESOURCES = _fields(2, {"requests": _REQUESTS, "limits": _REQUESTS})
_POD_LEVEL = _fields(
    2,
    {
        name: _fields(2, {"cpu": _CPU, "memory": _MEMORY, "hugepages-2Mi": _of("2Mi", "4Mi")})
        for name in ("requests", "limits")
    },
)


# Nodes.

_TAINTS = st.lists(
    st.fixed_dictionaries(
        {
            "key": _of("dedicated", "node.kubernetes.io/unschedulable", "gpu"),
            "value": _of("", "a", "b"),
            "effect": _of("PreferNoSchedule", "NoSchedule", "NoExecute"),
        }
    ),
    max_size=2,
    unique_by=lambda taint: (taint["key"], taint["effect"]),
)
_ALLOCATABLE = _fields(
    2,
    {
        "cpu": _of("2", "4", "0", "500m", "0.5", "1930m"),
        "memory": _of("4Gi", "8Gi", "0", "1e9", "500Mi"),
        "pods": _of("110", "3", "0", "1"),
        "ephemeral-storage": _of("10Gi", "0"),
        GPU: _of("2", "0", "1"),
        "hugepages-2Mi": _of("4Mi", "0"),
    },
)
_ROOMY = _of("110", "110", "2", "1").map(
    lambda slots: {
        "cpu": "4",
        "memory": "8Gi",
        "pods": slots,
        "ephemeral-storage": "20Gi",
        GPU: "4",
        "hugepages-2Mi": "64Mi",
        "attachable-volumes-x": "9",
    }
)
_IMAGE_NAMES = _of("web:1", "web:latest", "big", "host:5000/big", "db@sha256:abc")
_IMAGES = _lists(
    st.fixed_dictionaries(
        {"names": _lists(_IMAGE_NAMES, 2, 1), "sizeBytes": _of(900 * 2**20, 24 * 2**20, 10**6, 5 * 2**30, 0)}
    ),
    2,
)
_NODE_LABELS = _fields(
    2,
    {
        ZONE: _of("a", "b", "c", "", LONGEST),
        "rack": _of("a", "b", "c", ""),
        "rank": _of("1", "5", "abc", "007", "-3", ""),
        "tier": _VALUES,
        REGION: _of("r", "s"),
        OLD_ZONE: _of("a", "b", "old"),
        OLD_REGION: _of("r", ""),
    },
)


class _Taste:
    """What a case is about: how likely each group of oddities is in it."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.roomy = draw(_of(True, True, True, False))
        self.huge = draw(_one_in(12))
        self.taints = draw(st.booleans())
        self.volumes = draw(_one_in(4))
        self.affinity = draw(st.booleans())
        self.nodes = draw(st.booleans())
        self.spread = draw(st.booleans())
        self.ports = draw(_one_in(4))
        self.priorities = draw(_one_in(3))
        self.resources = draw(st.booleans())
        self.gates = draw(_one_in(30))


@st.composite
def _node(draw: st.DrawFn, name: str, taste: _Taste) -> Plain:
    labels = draw(_NODE_LABELS)
    hostname = draw(_of(name, name, name, "shared", None))
    if hostname is not None:
        labels[HOSTNAME] = hostname
    spec: Plain = {}
    if taste.taints:
        spec = draw(_fields(4, {"taints": _TAINTS, "unschedulable": _of(True, False)}))
    allocatable = draw(_ROOMY if taste.roomy else _ALLOCATABLE)
    if taste.huge:
        allocatable = {**allocatable, **draw(_fields(2, {"cpu": _HUGE, "memory": _HUGE, GPU: _HUGE, "pods": _HUGE}))}
    status = {"allocatable": allocatable}
    status.update(
        draw(_fields(3, {"images": _IMAGES, "declaredFeatures": st.just(["UserNamespacesHostNetworkSupport"])}))
    )
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": status,
    }


@st.composite
def _nodes(draw: st.DrawFn, taste: _Taste) -> list[Plain]:
    count = 60 if draw(_one_in(40)) else draw(_of(2, 3, 4, 1, 0, 5, 2, 3))
    if count < 60:
        return [draw(_node(f"n{at}", taste)) for at in range(count)]
    # Many domains: few shapes of nodes, each node in a zone of its own, or nearly.
    shapes = [draw(_node("shape", taste)) for _ in range(3)]
    zones = draw(_of(60, 45, 7))
    made = []
    for at in range(count):
        shape = shapes[at * 7 % 3]
        labels = {**shape["metadata"]["labels"], HOSTNAME: f"n{at:02}", ZONE: f"z{at % zones}"}
        made.append({**shape, "metadata": {"name": f"n{at:02}", "labels": labels}})
    return made


# Pods.

_TOLERATIONS = _lists(
    st.one_of(
        _of({"operator": "Exists"}, {"operator": "Exists", "effect": "NoSchedule"}),
        st.builds(
            lambda written, value: {**written, "value": value} if written.get("operator") != "Exists" else written,
            _fields(
                2, {"operator": _of("Equal", "Exists"), "effect": _of("NoSchedule", "PreferNoSchedule", "NoExecute")}
            ).flatmap(
                lambda written: _of("dedicated", "gpu", "node.kubernetes.io/unschedulable").map(
                    lambda key: {**written, "key": key}
                )
            ),
            _of("", "a", "b"),
        ),
    ),
    2,
)


_NUMBERS = ("1", "3", "007")
# They pass validation, and the scheduler cannot parse them.
_NO_NUMBERS = ("abc", "-4", "+2", "9" * 20)


@st.composite
def _node_expression(draw: st.DrawFn, numbers: tuple[str, ...] = (*_NUMBERS, *_NO_NUMBERS)) -> Plain:
    operator = draw(_of("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
    if operator in ("Gt", "Lt"):
        return {"key": "rank", "operator": operator, "values": [draw(st.sampled_from(numbers))]}
    written = {"key": draw(_of("tier", ZONE, "rack", "rank", HOSTNAME)), "operator": operator}
    if operator in ("In", "NotIn"):
        written["values"] = draw(_lists(_of("a", "b", "", "n0", "n1", "5", LONGEST), 2, 1))
    return written


_NODE_FIELDS = st.fixed_dictionaries(
    {
        "key": st.just("metadata.name"),
        "operator": _of("In", "In", "NotIn"),
        "values": _of("n0", "n1", "n2", "n3", "elsewhere").map(lambda name: [name]),
    }
)


def _node_affinity(numbers: tuple[str, ...] = (*_NUMBERS, *_NO_NUMBERS)) -> Strategy:
    expressions = _lists(_node_expression(numbers), 2)
    terms = _fields(2, {"matchExpressions": expressions, "matchFields": _lists(_NODE_FIELDS, 2)})
    return _fields(
        2,
        {
            _REQUIRED: st.fixed_dictionaries({"nodeSelectorTerms": _lists(terms, 2, 1)}),
            _PREFERRED: _lists(st.fixed_dictionaries({"weight": _of(1, 100, 30), "preference": terms}), 2),
        },
    )


_NODE_AFFINITY = _node_affinity()


@st.composite
def _pod_term(draw: st.DrawFn) -> Plain:
    term = {"topologyKey": draw(st.sampled_from(TOPOLOGY_KEYS))}
    term.update(
        draw(
            _fields(
                3,
                {"namespaces": _lists(st.sampled_from(NAMESPACES), 2), "namespaceSelector": _NAMESPACE_SELECTORS},
            )
        )
    )
    selector = draw(_sometimes(_SELECTORS, one_in=8)) if draw(_one_in(8)) else draw(_SELECTORS)
    if selector is not None:
        term["labelSelector"] = selector
        term.update(draw(_fields(4, {"matchLabelKeys": _of(["version"]), "mismatchLabelKeys": _of(["hash"])})))
    return term


_POD_TERMS = _fields(
    2,
    {
        _REQUIRED: _lists(_pod_term(), 2),
        _PREFERRED: _lists(st.fixed_dictionaries({"weight": _of(1, 100, 7), "podAffinityTerm": _pod_term()}), 2),
    },
)


@st.composite
def _constraint(draw: st.DrawFn) -> Plain:
    action = draw(_of("DoNotSchedule", "ScheduleAnyway"))
    written = {
        "maxSkew": draw(_of(1, 1, 2, 5)),
        "topologyKey": draw(st.sampled_from(TOPOLOGY_KEYS)),
        "whenUnsatisfiable": action,
    }
    optional: dict[str, Strategy] = {
        "nodeAffinityPolicy": _of("Honor", "Ignore"),
        "nodeTaintsPolicy": _of("Honor", "Ignore"),
    }
    if action == "DoNotSchedule":
        optional["minDomains"] = _of(1, 2, 3, 70)
    selector = None if draw(_one_in(8)) else draw(_SELECTORS)
    if selector is not None:
        written["labelSelector"] = selector
        optional["matchLabelKeys"] = _of(["version"], ["version", "hash"], ["missing"])
    return {**written, **draw(_fields(3, optional))}


_CONSTRAINTS = st.lists(
    _constraint(), max_size=3, unique_by=lambda written: (written["topologyKey"], written["whenUnsatisfiable"])
)
_PORTS = st.lists(
    _fields(2, {"hostPort": _of(80, 81), "hostIP": _of("0.0.0.0", "10.0.0.1", "::"), "protocol": _of("TCP", "UDP")}),
    max_size=2,
)


@st.composite
def _ports(draw: st.DrawFn, *, host_network: bool) -> list[Plain]:
    ports = []
    for port in draw(_PORTS):
        number = port["hostPort"] if host_network and "hostPort" in port else draw(_of(80, 8080))
        ports.append({**port, "containerPort": number, "protocol": port.get("protocol", "TCP")})
    return ports


@st.composite
def _container(draw: st.DrawFn, name: str, taste: _Taste, *, host_network: bool) -> Plain:
    written: Plain = {"name": name, "image": draw(_IMAGE_NAMES)}
    if taste.resources:
        written["resources"] = draw(_RESOURCES)
    elif draw(st.booleans()):
        written["resources"] = {"requests": draw(_of({"cpu": "500m"}, {"cpu": "1", "memory": "1Gi"}, {}))}
    if taste.huge and draw(_one_in(3)):
        written["resources"] = {"requests": draw(_fields(2, {"cpu": _HUGE, "memory": _HUGE, GPU: _HUGE}))}
    if taste.ports and draw(st.booleans()):
        written["ports"] = draw(_ports(host_network=host_network))
    return written


@st.composite
def _init_container(draw: st.DrawFn, name: str, taste: _Taste, *, host_network: bool) -> Plain:
    written = draw(_container(name, taste, host_network=host_network))
    return {**written, "restartPolicy": "Always"} if draw(st.booleans()) else written


_CLAIM_NAMES = ("bound", "late", "later", "single", "missing", "immediate", "held")
_EPHEMERAL_CLAIMS = ("i0-v0", "i0-v1")
_VOLUMES = st.lists(
    st.one_of(
        st.sampled_from(_CLAIM_NAMES).map(lambda name: {"persistentVolumeClaim": {"claimName": name}}),
        st.sampled_from(_CLAIM_NAMES).map(lambda name: {"persistentVolumeClaim": {"claimName": name}}),
        _of(
            {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
            {"emptyDir": {}},
            {"gcePersistentDisk": {"pdName": "disk"}},
            {"gcePersistentDisk": {"pdName": "disk", "readOnly": True}},
            {"awsElasticBlockStore": {"volumeID": "disk", "readOnly": True}},
            {"iscsi": {"targetPortal": "p", "iqn": "disk", "lun": 0, "readOnly": True}},
            {"iscsi": {"targetPortal": "p", "iqn": "disk", "lun": 1}},
            {"rbd": {"monitors": ["a", "b"], "image": "disk"}},
            {"rbd": {"monitors": ["b"], "image": "disk", "pool": "rbd"}},
            {"rbd": {"monitors": ["c"], "image": "disk"}},
            {"image": {"reference": "web"}},
        ),
    ),
    max_size=2,
).map(lambda volumes: [{"name": f"v{at}", **volume} for at, volume in enumerate(volumes)])


@st.composite
def _containers(draw: st.DrawFn, taste: _Taste) -> Plain:
    host_network = taste.ports and draw(_one_in(4))
    count = draw(_of(1, 1, 2))
    found: Plain = {"containers": [draw(_container(f"c{at}", taste, host_network=host_network)) for at in range(count)]}
    if host_network:
        found["hostNetwork"] = True
        found.update(draw(_fields(2, {"hostUsers": st.just(False)})))
    if taste.resources:
        found["initContainers"] = [
            draw(_init_container(f"i{at}", taste, host_network=host_network)) for at in range(draw(_of(0, 0, 1, 2, 3)))
        ]
        found.update(draw(_fields(5, {"overhead": _of({"cpu": "250m"}, {"memory": "0.5"}), "resources": _POD_LEVEL})))
    return found


@st.composite
def _affinity(draw: st.DrawFn, taste: _Taste) -> Plain:
    found: Plain = {}
    if taste.nodes:
        found.update(draw(_fields(2, {"nodeAffinity": _NODE_AFFINITY})))
    if taste.affinity:
        found.update(draw(_fields(2, {"podAffinity": _POD_TERMS, "podAntiAffinity": _POD_TERMS})))
    return found


@st.composite
def _pod_spec(draw: st.DrawFn, taste: _Taste) -> Plain:
    spec: Plain = {**draw(_containers(taste)), "affinity": draw(_affinity(taste))}
    for wanted, one_in, fields in (
        (taste.taints, 2, {"tolerations": _TOLERATIONS}),
        (taste.volumes, 2, {"volumes": _VOLUMES}),
        (taste.spread, 2, {"topologySpreadConstraints": _CONSTRAINTS}),
        (taste.priorities, 1, {"priority": st.sampled_from(PRIORITIES)}),
        (taste.priorities, 4, {"preemptionPolicy": _of("Never", "PreemptLowerPriority")}),
        (taste.nodes, 4, {"nodeSelector": _of({"tier": "a"}, {ZONE: "a"}, {}, {"rack": ""})}),
        (taste.gates, 1, {"schedulingGates": st.just([{"name": "a"}, {"name": "b"}])}),
    ):
        if wanted:
            spec.update(draw(_fields(one_in, fields)))
    return spec


_OWNERS = _of(
    {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs"},
    {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "ss"},
    {"apiVersion": "v1", "kind": "ReplicationController", "name": "rc"},
    {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "gone"},
    {"apiVersion": "batch/v1", "kind": "Job", "name": "job"},
    {"apiVersion": "apps/v1beta1", "kind": "StatefulSet", "name": "ss"},
)


@st.composite
def _pod(draw: st.DrawFn, name: str, taste: _Taste) -> Plain:
    metadata: Plain = {
        "name": name,
        "namespace": draw(_of("default", "default", "default", "other", "third")),
        "labels": draw(st.one_of(_of({"app": "web"}, {"app": "web", "version": "1"}), _POD_LABELS)),
    }
    owner = draw(_sometimes(_OWNERS))
    if owner is not None:
        metadata["ownerReferences"] = [{**owner, "uid": "owner", "controller": draw(_of(True, True, True, False))}]
    spec = draw(_pod_spec(taste))
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {}}


_RESIZES = _fields(2, {"requests": _REQUESTS})
_PREEMPTED = [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]
_UNRESIZABLE = [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]
_DEFERRED = [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]


@st.composite
def _existing(draw: st.DrawFn, name: str, nodes: tuple[str, ...], taste: _Taste) -> Plain:
    """A pod that runs, ends, has ended, is on a node that is gone, or waits for a node it is nominated to."""
    made = draw(_pod(name, taste))
    made["spec"].pop("schedulingGates", None)
    status: Plain = {"phase": draw(_of("Running", "Running", "Running", "Running", "Pending", "Succeeded", "Failed"))}
    if draw(_one_in(6)):
        made["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        status.update(draw(_fields(2, {"conditions": st.just(_PREEMPTED)})))
    if taste.priorities:
        status.update(draw(_fields(2, {"startTime": _of("2026-01-01T00:00:00Z", "2025-06-01T00:00:00Z")})))
    if taste.priorities and draw(_one_in(6)):
        status.update({"nominatedNodeName": draw(st.sampled_from((*nodes, "gone"))), "phase": "Pending"})
    else:
        made["spec"]["nodeName"] = draw(st.sampled_from((*nodes, *nodes, *nodes, "gone")))
        if taste.resources and draw(_one_in(5)):
            status.update(draw(_resized(made)))
    made["status"] = status
    return made


@st.composite
def _resized(draw: st.DrawFn, pod: Plain) -> Plain:
    """What a resize leaves in the status of a pod."""
    found = draw(_fields(2, {"conditions": _of(_UNRESIZABLE, _DEFERRED), "resources": _RESIZES}))
    for field, group in (("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")):
        found[field] = [
            {"name": item["name"], **draw(_fields(2, {"resources": _RESIZES, "allocatedResources": _REQUESTS}))}
            for item in pod["spec"].get(group, ())
        ]
    return found


# Everything else in the cluster.


def _object(kind: str, name: str, spec: Any = None, *, namespace: str = "default", **more: Any) -> Plain:
    metadata = {"name": name, "uid": f"{kind}-{name}", **more.pop("metadata", {})}
    if namespace:
        metadata["namespace"] = namespace
    return {"kind": kind, "metadata": metadata, **({} if spec is None else {"spec": spec}), **more}


@st.composite
def _namespaces(draw: st.DrawFn) -> list[Plain]:
    labels = {name: draw(_of({"team": "x"}, {"team": "y"}, {}, {"team": ""}, None)) for name in NAMESPACES}
    return [
        {"kind": "Namespace", "metadata": {"name": name, "labels": written}}
        for name, written in labels.items()
        if written is not None
    ]


_EQUALITIES = _of({"app": "web"}, {}, {"app": "web", "version": "1"}, {"app": ""}, {"app": "db"}, {"nowhere": "x"})


@st.composite
def _owners(draw: st.DrawFn) -> list[Plain]:
    made = []
    for kind, name in (("ReplicaSet", "rs"), ("StatefulSet", "ss")):
        selector = draw(_sometimes(_SELECTORS, one_in=2))
        if selector is not None:
            made.append(_object(kind, name, {"selector": selector}))
    if draw(_one_in(3)):
        made.append(_object("ReplicationController", "rc", {"selector": draw(_EQUALITIES)}))
    for at in range(draw(_of(0, 0, 1, 2))):
        selector = draw(_sometimes(_EQUALITIES, one_in=2))
        spec = {} if selector is None else {"selector": selector}
        made.append(_object("Service", f"svc{at}", spec, namespace=draw(_of("default", "other"))))
    return made


@st.composite
def _budgets(draw: st.DrawFn) -> list[Plain]:
    made = []
    for at in range(draw(_of(0, 1, 2))):
        selector = draw(_sometimes(_SELECTORS, one_in=2))
        spec = {} if selector is None else {"selector": selector}
        status = draw(
            _fields(2, {"disruptionsAllowed": _of(0, 1, 2), "disruptedPods": _of({"e0": "2026-01-01T00:00:00Z"}, {})})
        )
        made.append(_object("PodDisruptionBudget", f"pdb{at}", spec, status={"disruptionsAllowed": 0, **status}))
    return made


_SIZES = _of("1Gi", "2Gi", "500M", "0.5", "0.4")
_MODES = _of(["ReadWriteOnce"], ["ReadWriteMany", "ReadWriteOnce"], ["ReadWriteOncePod"])
_CLASS_NAMES = ("late", "made", "now", "")
_VOLUME_TERMS = _fields(
    2,
    {
        "matchExpressions": _lists(_node_expression(), 1),
        "matchFields": _lists(_NODE_FIELDS, 1),
    },
)


@st.composite
def _volume(draw: st.DrawFn, name: str) -> Plain:
    spec = {
        "accessModes": draw(_MODES),
        "capacity": {"storage": draw(_SIZES)},
        "storageClassName": draw(st.sampled_from(_CLASS_NAMES)),
    }
    spec.update(
        draw(
            _fields(
                3,
                {
                    "volumeMode": _of("Filesystem", "Block"),
                    "nodeAffinity": st.fixed_dictionaries(
                        {"required": st.fixed_dictionaries({"nodeSelectorTerms": _lists(_VOLUME_TERMS, 2, 1)})}
                    ),
                    "csi": st.fixed_dictionaries({"driver": _of("disk", "net"), "volumeHandle": _of("h1", "h2", name)}),
                    "claimRef": _of(
                        {"namespace": "default", "name": "late"},
                        {"namespace": "default", "name": "held", "uid": "PersistentVolumeClaim-held"},
                        {"namespace": "default", "name": "later", "uid": "another"},
                        {"namespace": "default", "name": "gone"},
                    ),
                },
            )
        )
    )
    labels = draw(
        _fields(4, {ZONE: _of("a", "a__b", "", "b"), OLD_ZONE: _of("a", "b"), REGION: _of("r"), "tier": _VALUES})
    )
    metadata: Plain = {"labels": labels}
    if draw(_one_in(10)):
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    if draw(_one_in(10)):
        metadata["annotations"] = {"volume.beta.kubernetes.io/storage-class": draw(st.sampled_from(_CLASS_NAMES))}
    phase = draw(_of("Available", "Available", "Bound", "Released", "Pending"))
    return _object("PersistentVolume", name, spec, namespace="", metadata=metadata, status={"phase": phase})


@st.composite
def _claim(draw: st.DrawFn, name: str, nodes: tuple[str, ...]) -> Plain:
    spec = {
        "accessModes": ["ReadWriteOncePod"] if name == "single" else draw(_MODES),
        "resources": {"requests": {"storage": draw(_SIZES)}},
        "storageClassName": draw(_of("now", "gone", "")) if name == "immediate" else draw(_of("late", "made", "late")),
    }
    spec.update(draw(_fields(6, {"volumeMode": _of("Filesystem", "Block"), "selector": _SELECTORS})))
    annotations: Plain = {}
    if name in ("bound", "single", *_EPHEMERAL_CLAIMS) and draw(_of(True, True, True, False)):
        spec["volumeName"] = draw(_of("pv0", "pv1", "pv2", "gone"))
        annotations = {"pv.kubernetes.io/bind-completed": "yes"} if not draw(_one_in(8)) else {}
    elif draw(_one_in(4)):
        annotations = {"volume.kubernetes.io/selected-node": draw(st.sampled_from((*nodes, "gone", "")))}
    metadata: Plain = {"annotations": annotations}
    if draw(_one_in(10)):
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    if draw(_one_in(10)):
        annotations["volume.beta.kubernetes.io/storage-class"] = draw(st.sampled_from(_CLASS_NAMES))
    phase = draw(_of("Bound", "Pending", "Pending", "Lost")) if draw(_one_in(5)) else "Pending"
    if name in _EPHEMERAL_CLAIMS:
        owner = {"apiVersion": "v1", "kind": "Pod", "name": name[:2], "uid": draw(_of("default/i0", "gone"))}
        metadata["ownerReferences"] = [{**owner, "controller": draw(_of(True, True, False))}]
    return _object("PersistentVolumeClaim", name, spec, metadata=metadata, status={"phase": phase})


@st.composite
def _storage(draw: st.DrawFn, nodes: tuple[str, ...]) -> list[Plain]:
    topologies = draw(
        _sometimes(
            _of(
                [{"matchLabelExpressions": [{"key": ZONE, "values": ["a", ""]}]}],
                [
                    {"matchLabelExpressions": [{"key": "rack", "values": ["a"]}, {"key": ZONE, "values": ["b"]}]},
                    {"matchLabelExpressions": [{"key": "tier", "values": ["a", "b"]}]},
                ],
                [],
            )
        )
    )
    made_class = {"provisioner": "disk", "volumeBindingMode": "WaitForFirstConsumer"}
    if topologies is not None:
        made_class["allowedTopologies"] = topologies
    late = {"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}
    made = [
        _object("StorageClass", "late", namespace="", **late),
        _object("StorageClass", "made", namespace="", **made_class),
        _object("StorageClass", "now", namespace="", provisioner="disk", volumeBindingMode="Immediate"),
    ]
    made += [draw(_volume(f"pv{at}")) for at in range(draw(_of(1, 2, 3, 0)))]
    made += [
        draw(_claim(name, nodes))
        for name in (*_CLAIM_NAMES, *_EPHEMERAL_CLAIMS)
        if name != "missing" and not draw(_one_in(8))
    ]
    if draw(st.booleans()):
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "i0", "controller": True, "uid": "default/i0"}
        claim = draw(_claim("late", nodes))
        claim["metadata"] = {**claim["metadata"], "name": "i0-v0", "ownerReferences": [owner]}
        made.append(claim)
    for name in nodes[:5]:
        drivers = draw(_lists(_fields(2, {"allocatable": _of({"count": 0}, {"count": 1}, {"count": 2}, {})}), 2))
        spec = {
            "drivers": [{"name": ("disk", "net")[at], "nodeID": name, **written} for at, written in enumerate(drivers)]
        }
        if draw(st.booleans()):
            made.append(_object("CSINode", name, spec, namespace=""))
    if draw(_one_in(2)):
        made.append(_object("CSIDriver", "disk", {"storageCapacity": draw(st.booleans())}, namespace=""))
    for at in range(draw(_of(0, 1, 2))):
        capacity = {"storageClassName": draw(_of("made", "late"))}
        fields = {
            "nodeTopology": _of({}, {"matchLabels": {ZONE: "a"}}),
            "capacity": _SIZES,
            "maximumVolumeSize": _SIZES,
        }
        made.append(_object("CSIStorageCapacity", f"cap{at}", **capacity, **draw(_fields(2, fields))))
    for at in range(draw(_of(0, 0, 1, 2))):
        source = {"persistentVolumeName": draw(_of("pv0", "pv1", "gone"))}
        spec = {"attacher": "disk", "nodeName": draw(st.sampled_from((*nodes, "gone"))), "source": source}
        made.append(_object("VolumeAttachment", f"att{at}", spec, namespace=""))
    return made


# Scheduler configurations.

_FILTERS = (
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
)
_SCORES = (
    "TaintToleration",
    "NodeAffinity",
    "NodeResourcesFit",
    "VolumeBinding",
    "PodTopologySpread",
    "InterPodAffinity",
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
)
_PREPARED = tuple(name for name in _FILTERS if name not in ("NodeUnschedulable", "NodeName", "TaintToleration"))


def _entries(names: tuple[str, ...], most: int, *, weighted: bool = False) -> Strategy:
    fields: Plain = {"name": st.sampled_from(names)}
    if weighted:
        fields["weight"] = _of(1, 7, 100, 0)
    return st.lists(st.fixed_dictionaries(fields), max_size=most, unique_by=lambda entry: entry["name"])


_WEIGHTED = tuple(dict.fromkeys((*_FILTERS, *_SCORES)))
_PLUGIN_SETS = _fields(
    3,
    {
        "multiPoint": _fields(
            2, {"disabled": _entries(_WEIGHTED, 2), "enabled": _entries(_WEIGHTED, 3, weighted=True)}
        ),
        "filter": _fields(2, {"enabled": _entries(_FILTERS, 3), "disabled": _entries(_FILTERS, 2)}),
        "preFilter": _fields(2, {"enabled": _entries(_PREPARED, 3)}),
        "score": _fields(
            2,
            {
                "enabled": _entries(_SCORES, 3, weighted=True),
                "disabled": st.one_of(_of([{"name": "*"}]), _entries(_SCORES, 2)),
            },
        ),
        "postFilter": _of(
            {"disabled": [{"name": "DynamicResources"}]},
            {"disabled": [{"name": "DefaultPreemption"}]},
            {"enabled": [{"name": "DefaultPreemption"}]},
            {"disabled": [{"name": "*"}]},
        ),
    },
)


def _consistent(sets: Plain) -> Plain:
    """Leave out what the scheduler would fail at: a plug-in that runs without the point that prepares it."""
    multi_point = sets.get("multiPoint", {})
    listed = {entry["name"] for entry in multi_point.get("enabled", ())}
    gone = {entry["name"] for entry in multi_point.get("disabled", ())} - listed
    for point in ("filter", "preFilter", "score"):
        entries = sets.get(point, {})
        if "enabled" in entries:
            entries["enabled"] = [entry for entry in entries["enabled"] if entry["name"] not in gone]
    return sets


_WEIGHTED_RESOURCES = st.lists(
    st.fixed_dictionaries(
        {"name": _of("cpu", "memory", GPU, "ephemeral-storage", "pods"), "weight": _of(1, 3, 100, 0)}
    ),
    max_size=3,
    unique_by=lambda resource: resource["name"],
)
_SHAPES = st.lists(
    st.fixed_dictionaries({"utilization": _of(0, 30, 50, 90, 100), "score": _of(0, 3, 7, 10)}),
    min_size=1,
    max_size=4,
    unique_by=lambda point: point["utilization"],
).map(lambda points: sorted(points, key=lambda point: point["utilization"]))
_STRATEGIES = st.one_of(
    st.fixed_dictionaries({"type": _of("LeastAllocated", "MostAllocated"), "resources": _WEIGHTED_RESOURCES}),
    st.fixed_dictionaries(
        {
            "type": st.just("RequestedToCapacityRatio"),
            "resources": _WEIGHTED_RESOURCES,
            "requestedToCapacityRatio": st.fixed_dictionaries({"shape": _SHAPES}),
        }
    ),
)


def _without_selector(constraint: Plain) -> Plain:
    return {name: value for name, value in constraint.items() if name not in ("labelSelector", "matchLabelKeys")}


_PLUGIN_ARGS: dict[str, Strategy] = {
    "NodeResourcesFit": _fields(
        2,
        {
            "scoringStrategy": _STRATEGIES,
            "ignoredResources": st.just([GPU]),
            "ignoredResourceGroups": st.just(["example.com"]),
        },
    ),
    "NodeResourcesBalancedAllocation": st.fixed_dictionaries(
        {
            "resources": st.lists(_of("cpu", "memory", GPU, "ephemeral-storage", "pods"), max_size=4, unique=True).map(
                lambda names: [{"name": name, "weight": 1} for name in names]
            )
        }
    ),
    "PodTopologySpread": st.fixed_dictionaries(
        {
            "defaultingType": st.just("List"),
            "defaultConstraints": _CONSTRAINTS.map(lambda written: list(map(_without_selector, written))),
        }
    ),
    "InterPodAffinity": _fields(
        2, {"hardPodAffinityWeight": _of(0, 1, 100), "ignorePreferredTermsOfExistingPods": st.just(True)}
    ),
    "NodeAffinity": st.fixed_dictionaries({"addedAffinity": _node_affinity(_NUMBERS)}),
}


@st.composite
def configurations(draw: st.DrawFn) -> str:
    """A KubeSchedulerConfiguration as text; JSON, which YAML contains."""
    args = draw(_fields(3, _PLUGIN_ARGS))
    profile: Plain = {"pluginConfig": [{"name": name, "args": written} for name, written in args.items()]}
    if draw(st.booleans()):
        profile["plugins"] = _consistent(draw(_PLUGIN_SETS))
    document = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return json.dumps({**document, "profiles": [profile]})


@st.composite
def cases(draw: st.DrawFn) -> Plain:
    """A cluster, pods that come in one after another, and the scheduler that decides."""
    taste = _Taste(draw)
    nodes = draw(_nodes(taste))
    names = tuple(node["metadata"]["name"] for node in nodes) or ("gone",)
    made = [*nodes, *draw(_namespaces()), *draw(_owners())]
    if taste.volumes:
        made += draw(_storage(names))
    if taste.priorities:
        made += draw(_budgets())
    made += [draw(_existing(f"e{at}", names, taste)) for at in range(draw(st.integers(0, 9)))]
    incoming = _replicas([draw(_pod(f"i{at}", taste)) for at in range(draw(_of(1, 2, 3)))], draw(_of(1, 1, 3)))
    if taste.priorities:
        for pod in incoming:
            pod["status"] = draw(_fields(4, {"nominatedNodeName": st.sampled_from((*names, "gone"))}))
            pod["spec"]["priority"] = draw(_of(10, 5, 0, 20))
    case: Plain = {"objects": made, "incoming": incoming, "preempt": draw(_of(True, True, False))}
    case.update(draw(_fields(4, {"kubernetesVersion": _of("1.34", "1.35"), "schedulerConfig": configurations()})))
    return case


def _replicas(pods: list[Plain], count: int) -> list[Plain]:
    """The pods, the last of them several times: state that is kept from one to the next has to be right."""
    last = pods[-1]
    for at in range(1, count):
        pods.append({**last, "metadata": {**last["metadata"], "name": f"i{len(pods)}-{at}"}, "status": {}})
    return pods
