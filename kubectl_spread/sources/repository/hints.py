"""Facts in a repository about the clusters on which its manifests run: versions, zones, autoscaler.

Sources: manifests of kind, eksctl, kOps, Cluster API and Karpenter, Terraform modules, command lines, Node objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Optional

from kubectl_spread.lint.rule import CLUSTER_AUTOSCALER, KARPENTER
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.releases.version import minor_of, VersionError
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.sources.repository.scan import file_of, Repository
from kubectl_spread.text.source import SourceFile

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
_VERSION = r"v?(1\.\d{1,2})(?:\.\d+)?(?![\d.])"
_NAMED = (
    re.compile(rf"(?:kindest/node|rancher/k3s):{_VERSION}"),
    re.compile(
        rf"(?i)\b(?:kubernetes|k8s|cluster|min_?master)[-_]?version[\"']?\s*[:=]\s*[\"']?{_VERSION}[\"']?\s*(?:$|[#,}}\s])",
        re.MULTILINE,
    ),
)
_EKS_BLOCK = re.compile(r'^resource\s+"aws_eks_cluster".*?^\}', re.MULTILINE | re.DOTALL)
_EKS_VERSION = re.compile(rf'^\s*version\s*=\s*"{_VERSION}"', re.MULTILINE)
_CHART_VERSION = re.compile(rf"^kubeVersion:\s*[\"']?>=\s*{_VERSION}", re.MULTILINE)
_API_FIELDS = {  # of objects that create clusters or nodes: API group, and routes of the version
    "eksctl.io": (("metadata", "version"),),
    "cluster.x-k8s.io": (("spec", "topology", "version"), ("spec", "template", "spec", "version")),
    "controlplane.cluster.x-k8s.io": (("spec", "version"),),
    "": (("status", "nodeInfo", "kubeletVersion"),),
}


class VersionHint(NamedTuple):
    """A Kubernetes version that a file names; `is_minimum` if it is only a lower bound."""

    file: str
    line: int
    version: str  # such as 1.33
    is_minimum: bool = False

    @property
    def minor(self) -> int:
        return int(self.version.partition(".")[2])


class ZoneHint(NamedTuple):
    """Values of a node label that a file lists."""

    file: str
    key: str
    values: tuple[str, ...]


def versions(repository: Repository) -> list[VersionHint]:
    """Return the versions that files name, once for each file and version; unknown versions are left out."""
    found = [hint for source in repository.sources for hint in _in_text(source)]
    for item in repository.objects:
        for route in _API_FIELDS.get(item.api_version.rpartition("/")[0], ()):
            text = re.match(_VERSION, str(_at(item.plain, route) or ""))
            if text is not None:
                found.append(VersionHint(file_of(item), _line(item), text[1]))
    unique = {(hint.file, hint.version): hint for hint in reversed(found) if _is_known(hint.version)}
    return sorted(unique.values())


def _in_text(source: SourceFile) -> Iterator[VersionHint]:
    for pattern in _NAMED:
        for match in pattern.finditer(source.text):
            yield _hint(source, match.start(), match[1])
    for block in _EKS_BLOCK.finditer(source.text) if source.name.endswith(".tf") else ():
        version = _EKS_VERSION.search(block[0])
        if version is not None:
            yield _hint(source, block.start() + version.start(1), version[1])
    if source.name.endswith("Chart.yaml"):
        for match in _CHART_VERSION.finditer(source.text):
            yield _hint(source, match.start(), match[1])._replace(is_minimum=True)


def _hint(source: SourceFile, at: int, version: str) -> VersionHint:
    return VersionHint(source.name, source.position(at)[0], version)


def _is_known(version: str) -> bool:
    try:
        minor_of(version)
    except VersionError:
        return False
    return True


def zones(repository: Repository) -> list[ZoneHint]:
    """Return the values of topology labels: of nodes, node pools and cluster definitions, by file."""
    keys = {ZONE, *_topology_keys(repository.workloads)} - {HOSTNAME}
    found: dict[tuple[str, str], dict[str, None]] = {}
    for item in repository.objects:
        for key, value in _values(item, keys):
            found.setdefault((file_of(item), key), {})[value] = None
    return [ZoneHint(file, key, tuple(sorted(values))) for (file, key), values in sorted(found.items())]


def _values(item: Manifest, keys: set[str]) -> Iterator[tuple[str, str]]:
    """Return the topology keys and values that a manifest of nodes names."""
    group = item.api_version.rpartition("/")[0]
    spec = fields(item.plain.get("spec"))
    if item.kind == "Node" and group == "":
        return _of_node(item, keys)
    if group == "karpenter.sh":
        return _of_karpenter(spec, keys)
    if group == "eksctl.io":
        return _of_eksctl(item)
    if group == "kops.k8s.io" and item.kind == "Cluster":
        return _of_kops(spec)
    return iter(())


def _of_node(item: Manifest, keys: set[str]) -> Iterator[tuple[str, str]]:
    labels = fields(fields(item.plain.get("metadata")).get("labels"))
    yield from ((key, value) for key, value in labels.items() if key in keys and isinstance(value, str) and value)


def _of_karpenter(spec: Mapping[str, Any], keys: set[str]) -> Iterator[tuple[str, str]]:
    template = fields(fields(spec.get("template")).get("spec"))
    for entry in _list(spec.get("requirements")) + _list(template.get("requirements")):
        if entry.get("key") in keys and entry.get("operator") == "In":
            yield from ((entry["key"], value) for value in entry.get("values") or () if isinstance(value, str))


def _of_eksctl(item: Manifest) -> Iterator[tuple[str, str]]:
    groups = (*_list(item.plain.get("nodeGroups")), *_list(item.plain.get("managedNodeGroups")))
    for holder in (item.plain, *groups):
        yield from ((ZONE, zone) for zone in holder.get("availabilityZones") or () if isinstance(zone, str))


def _of_kops(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    subnets = _list(spec.get("subnets")) + _list(fields(spec.get("networking")).get("subnets"))
    yield from ((ZONE, subnet["zone"]) for subnet in subnets if isinstance(subnet.get("zone"), str))


def _topology_keys(workloads: Iterable[Manifest]) -> Iterator[str]:
    for item in workloads:
        for place in item.workload_kind.places(item.plain) if item.workload_kind is not None else ():
            for constraint in _list(_at(item.plain, (*place.spec, "topologySpreadConstraints"))):
                if isinstance(constraint.get("topologyKey"), str):
                    yield constraint["topologyKey"]


def autoscaler(repository: Repository) -> Optional[tuple[str, str]]:
    """Return the autoscaler whose objects the repository has, and the file; None if there are none, or of both."""
    found: dict[str, str] = {}
    for item in repository.objects:
        group = item.api_version.rpartition("/")[0]
        if group == "karpenter.sh" or group.startswith("karpenter."):
            found.setdefault(KARPENTER, file_of(item))
        elif item.workload_kind is not None and CLUSTER_AUTOSCALER in item.name:
            found.setdefault(CLUSTER_AUTOSCALER, file_of(item))
    return next(iter(found.items())) if len(found) == 1 else None


def _at(plain: Any, route: tuple[Any, ...]) -> Any:
    for step in route:
        if isinstance(plain, dict):
            plain = plain.get(step)
        else:
            plain = plain[step] if isinstance(plain, list) and isinstance(step, int) else None
    return plain


def _list(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _line(item: Manifest) -> int:
    return item.document.source.position(item.place(()).start)[0]
