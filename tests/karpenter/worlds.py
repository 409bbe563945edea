"""Small clusters with NodePools, as plain objects."""

from __future__ import annotations

from typing import Any, Optional

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.shapes import SHAPES
from kubectl_spread.objects.selectors import HOSTNAME, ZONE
from kubectl_spread.provisioners import reading, solve
from kubectl_spread.provisioners.reading import Options, Provisioning

Plain = dict[str, Any]
ZONES = ("zone-a", "zone-b", "zone-c")


def pool(name: str = "all", *requirements: Plain, **spec: Any) -> Plain:
    """Return a NodePool; without requirements it reaches all zones."""
    labels, taints = spec.pop("labels", {}), spec.pop("taints", [])
    wanted = list(requirements) or [need(ZONE, *ZONES)]
    reference = {"group": "karpenter.test.sh", "kind": "TestNodeClass", "name": "default"}
    claim = {"nodeClassRef": reference, "requirements": wanted, "taints": taints}
    template = {"metadata": {"labels": labels}, "spec": claim}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": template, **spec},
    }


def need(key: str, *values: str, operator: str = "In") -> Plain:
    """Return a requirement."""
    return {"key": key, "operator": operator, "values": list(values)}


def instance_type(name: str, cpu: int, *, zones: tuple[str, ...] = ZONES, arch: str = "amd64") -> Plain:
    """Return an instance type of a table, sold on demand in each zone."""
    return {
        "name": name,
        "capacity": {"cpu": str(cpu), "memory": f"{4 * cpu}Gi", "pods": "110"},
        "overhead": {"cpu": "100m"},
        "requirements": [
            need("node.kubernetes.io/instance-type", name),
            need("kubernetes.io/arch", arch),
            need(ZONE, *zones),
            need("karpenter.sh/capacity-type", "on-demand"),
        ],
        "offerings": [{"zone": zone, "capacityType": "on-demand", "available": True} for zone in zones],
    }


TYPES = {"*": [instance_type("small", 2), instance_type("large", 8)]}


def node(name: str, zone: str, *, cpu: int = 2, host: bool = True, **labels: str) -> Plain:
    """Return a node; without `host` it lacks the label of its name."""
    own = {ZONE: zone, **({HOSTNAME: name} if host else {}), **labels}
    room = {"cpu": str(cpu), "memory": "8Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": own},
        "spec": {},
        "status": {"allocatable": room, "capacity": room},
    }


def pod(name: str, *, on: str = "", cpu: str = "1", **spec: Any) -> Plain:
    """Return a pod with the label `app`; one without a node was found unschedulable."""
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}
    refused = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
    bound = {"nodeName": on} if on else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": name.rpartition("-")[0]}},
        "spec": {"containers": [container], **bound, **spec},
        "status": {"phase": "Running"} if on else {"phase": "Pending", "conditions": refused},
    }


def spread(key: str = ZONE, app: str = "web", **fields: Any) -> Plain:
    """Return a spread constraint."""
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
        **fields,
    }


def terms(*wanted: tuple[str, ...]) -> Plain:
    """Return a required node affinity whose terms allow these zones."""
    each = [{"matchExpressions": [need(ZONE, *zones)]} for zones in wanted]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": each}}}


class World:
    """The objects of a cluster, read, with Karpenter's answer about its Pending pods."""

    def __init__(
        self, *objects: Plain, table: Optional[Plain] = None, options: Optional[Options] = None, known: bool = True
    ) -> None:
        """Read objects; `table=None` is `TYPES`, and without `known` there is no table at all."""
        self.cluster = cluster_of(item for item in objects if item["kind"] in SHAPES)
        given = (TYPES if table is None else table) if known else None
        self.provisioning: Provisioning = reading.read(objects, self.cluster, table=given, options=options or Options())
        self.pending = [found for found in self.cluster.pods if not found.node_name]
        self.solution = solve.solve(self.cluster, self.pending, self.provisioning)

    @property
    def answers(self) -> dict[str, solve.PodAnswer]:
        """The answers by the names of pods."""
        return {answer.pod.name: answer for answer in self.solution.answers}

    @property
    def nodes(self) -> tuple[int, int]:
        """How many nodes Karpenter creates, at least and at most."""
        numbers = [len(outcome.nodes) for outcome in self.solution.outcomes]
        return min(numbers), max(numbers)
