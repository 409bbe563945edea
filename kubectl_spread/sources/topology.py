"""Synthetic clusters: `zones=3,nodes=2,cpu=4,memory=16Gi`, or a YAML file of node groups.

A group puts `nodes` nodes into each of its zones. Every node gets the labels of a kubelet and a cloud provider:
hostname, os, arch and zone. Every namespace gets the label that the API server adds.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.errors import joined, RequestError, SourceError
from kubectl_spread.objects import resources
from kubectl_spread.objects.node import NO_SCHEDULE, UNSCHEDULABLE
from kubectl_spread.objects.reading.plain import fields, Plain
from kubectl_spread.objects.selectors import HOSTNAME, NAMESPACE_NAME, ZONE
from kubectl_spread.sources import files
from kubectl_spread.sources.single_document import Document
from kubectl_spread.text.node import Route
from kubectl_spread.text.scalars import natural
from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.wording import short

API_VERSION = "kubectl-spread/v1"
_DEFAULTS = {"cpu": "16", "memory": "64Gi", "pods": "110"}
_AMPLE = {"cpu": "1M", "memory": "1P", "pods": "1M"}
_COUNTS = ("zones", "nodes")
_MAX_NODES = 15_000  # three times the largest cluster that Kubernetes supports
_WRITE = {"cpu": "4 or 500m", "memory": "16Gi", "pods": "110"}
_EXAMPLE = "zones=3,nodes=2,cpu=4,memory=16Gi"


def load(spec: str, *, inside: Optional[str] = None) -> Cluster:
    """Return the cluster that a specification or a file describes.

    `inside` is the directory that must contain the file, if a setting names it.

    Raises:
        RequestError: the specification is wrong.
        SourceError: the file cannot be read, or is wrong; with the place.
    """
    if not spec.strip(" ,"):
        raise RequestError("--topology is empty: write zones=3,nodes=2 or a file")
    if os.path.exists(spec) or spec.endswith(files.EXTENSIONS) or "=" not in spec:
        return cluster_of(objects(files.read_text(spec, inside=inside)))
    try:
        return cluster_of(_made("--topology", [_group_of(spec)], []))
    except SourceError as error:
        raise RequestError(str(error)) from error


def from_domains(values: Mapping[str, Sequence[str]]) -> Cluster:
    """Return a cluster with one node, of ample size, for each combination of label values.

    It only models the domains of these keys. The number of nodes in a domain and all other labels, such as the
    hostname, are unknown. `operations.known_cluster` gets the keys separately.

    Raises:
        SourceError: there are too many combinations.
    """
    count = math.prod(len(set(listed)) for listed in values.values())
    if count > _MAX_NODES:
        raise SourceError("domains", f"{count:,} combinations are more than {_MAX_NODES:,}")
    combinations = itertools.product(*(dict.fromkeys(listed) for listed in values.values())) if values else ()
    made: list[Plain] = [
        {
            "kind": "Node",
            "metadata": {"name": ",".join(chosen), "labels": dict(zip(values, chosen, strict=True))},
            "status": {"allocatable": _AMPLE},
        }
        for chosen in combinations
    ]
    return cluster_of([*made, _namespace("default")])


def _namespace(name: str) -> Plain:
    return {"kind": "Namespace", "metadata": {"name": name, "labels": {NAMESPACE_NAME: name}}}


def _group_of(spec: str) -> Plain:
    group: Plain = {}
    for entry in spec.split(","):
        key, _, value = entry.strip().partition("=")
        if key not in (*_COUNTS, *_DEFAULTS):
            known = ", ".join((*_COUNTS, *_DEFAULTS))
            raise SourceError("--topology", f"unknown key `{short(key)}`; it takes {known}, as in {_EXAMPLE}")
        if key in group:
            raise SourceError("--topology", f"`{key}` is given twice")
        written = short(value) or "empty"
        if key in _COUNTS:
            number = natural(value) or 0
            if not 0 < number <= _MAX_NODES:
                raise SourceError("--topology", f"`{key}` is not a number from 1 to {_MAX_NODES:,}: {written}")
            group[key] = number
            continue
        try:
            is_negative = resources.parse(value) < 0
        except resources.QuantityError as error:
            what = f"`{key}` is not a quantity: {written}: {error}; write {_WRITE[key]}"
            raise SourceError("--topology", what) from None
        if is_negative:
            raise SourceError("--topology", f"`{key}` is less than 0: {written}")
        group[key] = value
    return group


def is_topology(plain: Any) -> bool:
    """Return whether a document is a topology."""
    return isinstance(plain, dict) and (plain.get("apiVersion"), plain.get("kind")) == (API_VERSION, "Topology")


def objects(source: SourceFile) -> list[Plain]:
    """Return the nodes, pods and namespaces that a topology describes.

    Raises:
        SourceError: it is not a valid topology, with the place; `others` are the further errors.
    """
    document = Document(source, "topology")
    made: list[Plain] = []
    if not document.errors:
        try:
            made = _made(source.name, document.value("nodeGroups"), document.value("pods") or [])
        except _BadValueError as bad:
            document.refuse(*bad.args)
    if document.errors:
        raise joined(document.errors)
    return made


class _BadValueError(Exception):
    """A value that the schema allows but the cluster cannot have: its route, and the message."""


def _made(name: str, groups: list[Plain], pods: list[Plain]) -> list[Plain]:
    """Return the nodes of some groups, the pods on them, and their namespaces."""
    count = sum(map(_node_count, groups))
    if count > _MAX_NODES:
        raise SourceError(name, f"{count:,} nodes are more than {_MAX_NODES:,}")
    made: dict[str, Plain] = {}
    for index, group in enumerate(groups):
        for node in _nodes(group, ("nodeGroups", index)):
            node_name = node["metadata"]["name"]
            if node_name in made:
                raise _BadValueError(
                    ("nodeGroups", index), f"a second node is named `{short(node_name)}`; give the group another name"
                )
            made[node_name] = node
    plain_pods = [pod for index, entry in enumerate(pods) for pod in _pods(entry, index, made)]
    used = dict.fromkeys(["default", *(pod["metadata"]["namespace"] for pod in plain_pods)])
    return [*made.values(), *plain_pods, *map(_namespace, used)]


def _zones(group: Plain) -> list[str]:
    zones = group.get("zones", 1)
    if isinstance(zones, list):
        return zones
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [letters[at] if zones <= len(letters) else f"z{at + 1}" for at in range(zones)]


def _node_count(group: Plain) -> int:
    return len(group.get("names") or ()) or group.get("nodes", 1) * len(_zones(group))


def _nodes(group: Plain, route: Route) -> list[Plain]:
    labels = fields(group, "labels")
    zones = _zones(group) if "zones" in group else [""]
    names = group.get("names") or []
    count = _node_count(group)
    if names and len(names) % len(zones):
        raise _BadValueError((*route, "names"), f"{len(names)} names cannot be divided evenly over {len(zones)} zones")
    allocatable = {
        **{key: group.get(key, default) for key, default in _DEFAULTS.items()},
        **fields(group, "resources"),
    }
    _check_quantities(allocatable, route)
    each = count // len(zones)
    return [
        _node(
            names[at] if names else f"{group.get('name', 'node')}-{zone}{at % each + 1:0{len(str(each))}d}",
            {ZONE: zone, **labels} if zone else labels,
            group,
            allocatable,
        )
        for at, zone in enumerate(zone for zone in zones for _ in range(each))
    ]


def _check_quantities(entries: Plain, route: Route) -> None:
    for key, amount in entries.items():
        try:
            is_negative = resources.parse(amount) < 0
        except resources.QuantityError as error:
            raise _BadValueError((*route, key), f"{short(amount)}: {error}") from None
        if is_negative:
            raise _BadValueError((*route, key), f"less than 0: {short(amount)}")


def _node(name: str, labels: dict[str, str], group: Plain, allocatable: dict[str, Any]) -> Plain:
    cordoned = bool(group.get("unschedulable"))
    taints = []
    for text in group.get("taints") or ():  # in the form of `kubectl taint`: key=value:Effect or key:Effect
        pair, _, effect = text.rpartition(":")
        key, _, value = pair.partition("=")
        taints.append({"key": key, "value": value, "effect": effect})
    if cordoned and group.get("cordonTaint", True):
        taints.append({"key": UNSCHEDULABLE.key, "effect": NO_SCHEDULE})
    own = {HOSTNAME: name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": {**own, **labels}},
        "spec": {"taints": taints, "unschedulable": cordoned},
        "status": {"allocatable": allocatable},
    }


def _pods(entry: Plain, index: int, made: dict[str, Plain]) -> list[Plain]:
    node = entry["node"]
    if node not in made:
        raise _BadValueError(("pods", index, "node"), f"no node group creates a node named `{short(node)}`")
    _check_quantities(fields(entry, "requests"), ("pods", index, "requests"))
    spec = {"nodeName": node, "containers": [{"name": "c", "resources": {"requests": fields(entry, "requests")}}]}
    found = []
    for at in range(entry.get("count", 1)):
        name = entry.get("name", "running")
        metadata: Plain = {
            "name": f"{name}-{index}-{at}" if entry.get("count", 1) > 1 or "name" not in entry else name,
            "namespace": entry.get("namespace", "default"),
            "labels": fields(entry, "labels"),
        }
        if entry.get("terminating"):
            metadata["deletionTimestamp"] = "1970-01-01T00:00:00Z"
        found.append({"kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Running"}})
    return found
