"""Rules that the recordings hardly show."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.objects.selectors import HOSTNAME, ZONE
from kubectl_spread.provisioners import refusals, topology
from kubectl_spread.provisioners.reading import Options
from kubectl_spread.provisioners.solve import Answer
from tests.karpenter.worlds import instance_type, need, node, pod, pool, spread, TYPES, World, ZONES

OF_POOL = {
    "karpenter.sh/nodepool": "all",
    "karpenter.sh/registered": "true",
    "node.kubernetes.io/instance-type": "small",
}
DELETED = "2026-01-01T00:00:00Z"


def claim(name: str = "all-1", **fields: Any) -> dict[str, Any]:
    """A launched NodeClaim."""
    room = {"cpu": "2", "memory": "8Gi", "pods": "110"}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": name, "labels": {**OF_POOL, ZONE: "zone-a"}, **fields.pop("metadata", {})},
        "spec": {"nodeClassRef": {"group": "karpenter.test.sh", "kind": "TestNodeClass", "name": "default"}, **fields},
        "status": {"providerID": "fake:///1", "capacity": room, "allocatable": room},
    }


def with_provider(found: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """A node of the claim."""
    return {**found, "spec": {"providerID": "fake:///1", **spec}}


def texts(world: World, name: str = "web-0") -> list[str]:
    """What Karpenter says of a pod."""
    return [text for reason in world.answers[name].errors for text in refusals.texts(reason)]


def test_pods_of_a_node_that_is_deleted_get_another_place() -> None:
    """They take part, and the node takes nobody."""
    going = with_provider(node("n", "zone-a", **OF_POOL))
    going["metadata"]["deletionTimestamp"] = DELETED
    world = World(pool(), going, pod("old-0", on="n"), pod("web-0"))

    (outcome,) = world.solution.outcomes
    assert {"default/old-0", "default/web-0"} == {one.key for new in outcome.nodes for one in new.pods}
    assert {} == outcome.existing


@pytest.mark.parametrize(("initialized", "nodes"), [(False, 0), (True, 1)])
def test_start_up_taints_are_ignored_until_a_node_is_initialized(initialized: bool, nodes: int) -> None:
    """Later, the same taint keeps pods away."""
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    own = {"key": "cilium", "effect": "NoSchedule"}
    labels = {**OF_POOL, **({"karpenter.sh/initialized": "true"} if initialized else {})}
    starting = with_provider(node("n", "zone-a", **labels), taints=[taint, own])
    world = World(pool(), claim(startupTaints=[own]), starting, pod("web-0"))

    assert (nodes, nodes) == world.nodes


def test_a_claim_without_a_node_takes_pods() -> None:
    """Its labels and its room are those of the claim; a deleted one takes none."""
    assert ("all-1",) == World(pool(), claim(), pod("web-0")).answers["web-0"].existing
    gone = claim(metadata={"deletionTimestamp": DELETED})
    assert (1, 1) == World(pool(), gone, pod("web-0")).nodes


def test_limits_count_existing_nodes() -> None:
    """The first new node may become the largest type that is left."""
    full = with_provider(node("n", "zone-a", **OF_POOL))
    world = World(pool(limits={"cpu": 3}), full, pod("other-0", on="n", cpu="2"), pod("web-0"))
    assert ["all available instance types exceed limits for nodepool (NodePool=all)"] == texts(world)

    world = World(pool(limits={"nodes": 1}), full, pod("other-0", on="n", cpu="2"), pod("web-0"))
    assert ["node limits have been exhausted for nodepool (NodePool=all)"] == texts(world)

    older = World(
        pool(limits={"nodes": 1}),
        full,
        pod("other-0", on="n", cpu="2"),
        pod("web-0"),
        options=Options(version="1.10.0"),
    )
    assert Answer.YES is older.answers["web-0"].answer


@pytest.mark.parametrize(("relaxes", "answer"), [(False, Answer.NO), (True, Answer.YES)])
def test_min_values(relaxes: bool, answer: Answer) -> None:
    """With BestEffort a pool is used although it has too few types."""
    wanted = {**need("node.kubernetes.io/instance-type", "small", "large", "huge"), "minValues": 2}
    world = World(pool("all", wanted), pod("web-0", cpu="4"), options=Options(relaxes_min_values=relaxes))

    assert answer is world.answers["web-0"].answer
    said = [text.partition(", requirements")[0] for text in texts(world)]
    expected = "minValues requirement is not met for label(s) (label(s)=[node.kubernetes.io/instance-type])"
    assert ([] if relaxes else [expected]) == said


def test_host_ports_of_daemons() -> None:
    """A port that each new node's DaemonSet takes is free nowhere."""
    port = {"containerPort": 80, "hostPort": 80, "protocol": "TCP"}
    web = pod("web-0")
    web["spec"]["containers"][0]["ports"] = [port]
    daemon = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "proxy", "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": web["spec"]},
        },
    }

    (text,) = texts(World(pool(), daemon, web))
    assert text.startswith("checking host port usage, pod hostport conflicts with existing hostport configuration")


def test_pods_that_karpenter_does_not_look_at() -> None:
    """Gated and nominated pods are never seen; pods with resource claims are refused."""
    gated = pod("web-0", schedulingGates=[{"name": "wait"}])
    nominated = pod("web-1")
    nominated["status"]["nominatedNodeName"] = "n"
    assert () == World(pool(), gated, nominated).solution.answers

    (text,) = texts(World(pool(), pod("web-0", resourceClaims=[{"name": "gpu"}])))
    assert "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter" == text


def test_preferences_that_are_ignored() -> None:
    """With PREFERENCE_POLICY=Ignore a soft hostname constraint costs no nodes."""
    soft = {"topologySpreadConstraints": [spread(HOSTNAME, whenUnsatisfiable="ScheduleAnyway")]}
    pods = [pod(f"web-{at}", **soft) for at in range(4)]

    assert (4, 4) == World(pool(), *pods).nodes
    assert (1, 1) == World(pool(), *pods, options=Options(ignores_preferences=True)).nodes


def test_groups_share_the_values_of_the_first_filter() -> None:
    """Two workloads that select different zones share one group, so one of them may have any skew."""
    zones = {"a": "zone-a", "b": "zone-b"}
    constraint = {"topologySpreadConstraints": [spread(app="x")]}
    pods = [
        pod(f"{name}-{at}", **constraint, nodeSelector={ZONE: zone}) for name, zone in zones.items() for at in (0, 1)
    ]
    for one in pods:
        one["metadata"]["labels"] = {"app": "x"}

    assert (2, 2) == World(pool(), *pods).nodes


def test_who_brings_a_domain() -> None:
    """Each value that Karpenter counts has the pools that could have it, also one that is only excluded."""
    world = World(pool("a", need(ZONE, "zone-a")), pool("b", need("rack", "r3", operator="NotIn")))
    types = world.provisioning.types
    of_a, of_b = (topology.domains_of([(item, types[item.name])]) for item in world.provisioning.pools)

    assert {"zone-a"} == of_a[ZONE].keys()
    assert set(ZONES) == of_b[ZONE].keys()
    assert {"r3"} == of_b["rack"].keys()


def test_a_random_zone_without_types_is_a_range() -> None:
    """A pick that no type can serve is an error without a second choice, so the number of nodes is a range."""
    arm = instance_type("arm", 4, zones=("zone-a",), arch="arm64")
    selected = {"nodeSelector": {"kubernetes.io/arch": "arm64"}, "topologySpreadConstraints": [spread()]}
    world = World(pool(), pod("web-0", **selected), table={"*": [*TYPES["*"], arm]})

    assert (0, 1) == world.nodes
    assert Answer.DEPENDS is world.answers["web-0"].answer
