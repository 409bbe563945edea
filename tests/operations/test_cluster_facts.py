"""What is known of a cluster: accounts of constraints, running pods, and clusters of which only domains are known."""

from __future__ import annotations

from typing import Any, Optional

import pytest

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.facts import (
    AntiAffinity,
    ConstraintFacts,
    DomainFacts,
    Impossible,
    PlacedReplicas,
    PodsPerDomain,
    Server,
    UNBOUNDED,
)
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine.placing import max_placed_pods
from kubectl_spread.explain import replicas
from kubectl_spread.explain.replicas import new_pods, Start
from kubectl_spread.objects.constraints import constraint as constraint_reader
from kubectl_spread.objects.constraints.constraint import ConstraintCounts
from kubectl_spread.objects.workloads.workload import Workload, workload
from kubectl_spread.operations.known_cluster import KnownCluster
from kubectl_spread.scheduler import profiles
from kubectl_spread.sources import topology
from tests.naive.builders import claim, HOSTNAME, node, Plain, pod, volume, ZONE

PROFILES = profiles.profiles(None, profiles.LATEST)
IN_A = {"key": ZONE, "operator": "In", "values": ["a"]}
TAINT = [{"key": "t", "effect": "NoSchedule"}]


def spread_over(key: str, **more: Any) -> Plain:
    written = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    return {**written, "labelSelector": {"matchLabels": {"app": "web"}}, **more}


def apart(key: str) -> Plain:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "web"}}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def web(*constraints: Plain, count: int = 3, kind: str = "StatefulSet", **fields: Any) -> Workload:
    spec = {**fields, "topologySpreadConstraints": list(constraints)}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": spec}
    written = {"apiVersion": "apps/v1", "metadata": {"name": "web"}, "spec": {"replicas": count, "template": template}}
    return workload(written, kind)


def account(known: KnownCluster, owner: Workload, position: int = 0) -> Optional[ConstraintFacts]:
    return known.constraint_facts(owner, constraint_reader.constraints(owner.template["spec"])[position])


def own(name: str, on: str, **more: Any) -> Plain:
    item = pod(name, on=on, labels={"app": "web"}, **more)
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "controller": True}
    item["metadata"]["ownerReferences"] = [owner]
    return item


def zones(*names: str, **more: Any) -> list[Plain]:
    return [node(f"n-{zone}", labels={ZONE: zone, HOSTNAME: f"n-{zone}"}, **more) for zone in names]


def test_an_account_leaves_out_the_workloads_own_pods() -> None:
    """Of the pods that the constraint counts, and of the room that they take."""
    full = {"cpu": "3"}
    cluster = cluster_of(
        [*zones("a", "b"), own("web-0", "n-a", requests=full), pod("x", on="n-b", labels={"app": "web"})]
    )
    owner = web(spread_over(ZONE), containers=[{"name": "c", "resources": {"requests": full}}])

    found = account(KnownCluster(cluster), owner)

    assert found is not None
    a, b = (
        DomainFacts("a", 1, 1, 1, 0, counted=True, candidates=1),
        DomainFacts("b", 1, 1, 1, 1, counted=True, candidates=1),
    )
    assert (a, b) == found.domains


def test_room_is_what_the_domains_out_of_reach_leave() -> None:
    tainted = node("n-c", labels={ZONE: "c"}, spec={"taints": TAINT})
    found = account(KnownCluster(cluster_of([*zones("a", "b"), tainted])), web(spread_over(ZONE, maxSkew=2)))

    assert found is not None
    assert (["c"], 0, 2, 4) == (
        [item.value for item in found.unreachable],
        found.minimum,
        found.most_in_a_domain,
        found.room,
    )


def test_room_is_unbounded_where_every_domain_can_grow() -> None:
    found = account(KnownCluster(cluster_of(zones("a", "b"))), web(spread_over(ZONE)))

    assert found is not None
    assert UNBOUNDED == found.room


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("DaemonSet", {}),
        ("StatefulSet", {"nodeName": "n-a"}),
        ("StatefulSet", {"schedulerName": "mine"}),
        ("StatefulSet", {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}),
    ],
)
def test_nothing_is_said_of_pods_that_nobody_can_predict(kind: str, spec: Plain) -> None:
    known, owner = KnownCluster(cluster_of(zones("a", "b"))), web(spread_over(ZONE), kind=kind, **spec)

    assert (None, None, ()) == (account(known, owner), known.outcome(owner), known.anti_affinities(owner))
    assert known.impossible(owner) is None
    assert known.live(owner, constraint_reader.constraints(owner.template["spec"])[0]) is None


def test_a_claim_that_does_not_exist_keeps_nobody_out() -> None:
    """Required affinity to pods that may come does not, either."""
    near = {"podAffinity": apart(ZONE)["podAntiAffinity"]}
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "late"}}]
    found = account(KnownCluster(cluster_of(zones("a"))), web(spread_over(ZONE), affinity=near, volumes=volumes))

    assert found is not None
    assert 1 == found.domains[0].usable


def test_gated_pods_have_no_outcome() -> None:
    known, owner = KnownCluster(cluster_of(zones("a"))), web(spread_over(ZONE), schedulingGates=[{"name": "quota"}])

    assert known.outcome(owner) is None


def test_an_outcome_is_that_of_the_placement_that_is_known() -> None:
    """In the company of others, which may have taken the room; another number of replicas is placed anew."""
    cluster = cluster_of(zones("a", allocatable={"pods": "4"}))
    owner, other = web(spread_over(ZONE)), web(count=3)._replace(name="other")
    known = KnownCluster(cluster, PROFILES, placements=replicas.place([other, owner], cluster, PROFILES))

    became = known.outcome(owner)

    assert became is not None
    assert (1, 2) == (became.placed, became.pending)
    assert PlacedReplicas(2, 0) == known.outcome(owner._replace(replicas=2))


def test_a_workload_without_namespace_is_in_the_one_that_is_named() -> None:
    running = [own(f"web-{at}", "n-a") for at in range(3)]
    for item in running:
        item["metadata"]["namespace"] = "shop"
    cluster, owner = cluster_of([*zones("a", "b"), *running]), web(spread_over(ZONE))
    (constraint,) = constraint_reader.constraints(owner.template["spec"])

    assert ConstraintCounts({"a": 3, "b": 0}) == KnownCluster(cluster, namespace="shop").live(owner, constraint)
    assert KnownCluster(cluster).live(owner, constraint) is None


def test_no_live_skew_without_a_domain() -> None:
    cluster, owner = cluster_of([node("n1"), own("web-0", "n1")]), web(spread_over(ZONE))

    assert KnownCluster(cluster).live(owner, constraint_reader.constraints(owner.template["spec"])[0]) is None


def test_anti_affinity_is_bound_by_domains_that_take_a_pod() -> None:
    known = KnownCluster(cluster_of(zones("a", "b")))

    assert (AntiAffinity(0, ZONE, 2),) == known.anti_affinities(web(affinity=apart(ZONE)))
    assert () == known.anti_affinities(web(affinity=apart("rack")))


@pytest.mark.parametrize(
    ("count", "more"),
    [
        (2, {}),  # a way is found
        (100, {}),  # too many steps
        (4, {"matchLabelKeys": ["apps.kubernetes.io/pod-index"]}),  # each pod is counted for itself
    ],
)
def test_what_is_possible_or_too_much_is_not_impossible(count: int, more: Plain) -> None:
    nodes = [
        *zones("a"),
        *(node(f"b{at}", labels={ZONE: "b", HOSTNAME: f"b{at}"}) for at in range(100 if count > 9 else 3)),
    ]
    owner = web(spread_over(ZONE, **more), spread_over(HOSTNAME, **more), count=count)

    assert KnownCluster(cluster_of(nodes)).impossible(owner) is None


def test_what_is_impossible_is_searched_for_three_workloads_at_most() -> None:
    nodes = [*zones("a"), *(node(f"b{at}", labels={ZONE: "b", HOSTNAME: f"b{at}"}) for at in range(3))]
    known = KnownCluster(cluster_of(nodes))
    owners = [web(spread_over(ZONE), spread_over(HOSTNAME), count=4) for _ in range(4)]

    assert [*[Impossible(3, (0, 1))] * 3, None] == [known.impossible(owner) for owner in owners]
    assert Impossible(3, (0, 1)) == known.impossible(owners[0])


def test_pods_that_evict_others_are_not_searched() -> None:
    """Where they go depends on who is gone by then."""
    nodes = [*zones("a", "b"), node("n-c", labels={ZONE: "c", HOSTNAME: "n-c"}, allocatable={"cpu": "1"})]
    low = pod("low", on="n-c", requests={"cpu": "1"}, priority=-5)
    containers = [{"name": "c", "resources": {"requests": {"cpu": "500m"}}}]
    owner = web(spread_over(ZONE), count=5, containers=containers, preemptionPolicy="PreemptLowerPriority")

    assert KnownCluster(cluster_of([*nodes, low])).impossible(owner) is None


def test_a_configuration_without_the_plugin_has_no_defaults() -> None:
    off = {"profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": "PodTopologySpread"}]}}}]}
    known = KnownCluster(cluster_of(zones("a")), profiles.profiles(off, profiles.LATEST))

    assert () == known.configured_defaults(web())
    assert () == known.configured_defaults(web(schedulerName="mine"))


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ((), None),
        (("", "main"), None),
        (("v1.29.3-gke.1", "v1.30.1"), Server(30, is_certain=False)),
    ],
)
def test_the_server_is_as_old_as_the_newest_kubelet(versions: tuple[str, ...], expected: Optional[Server]) -> None:
    nodes = [node(f"n{at}", status={"nodeInfo": {"kubeletVersion": text}}) for at, text in enumerate(versions)]

    assert expected == KnownCluster(cluster_of(nodes)).server


def domains(**values: list[str]) -> KnownCluster:
    """A cluster of which only the zones are known, or other labels."""
    by_key = {ZONE if key == "zone" else key: listed for key, listed in values.items()}
    return KnownCluster(topology.from_domains(by_key), keys=frozenset(by_key))


def test_of_domains_only_the_keys_are_known() -> None:
    """A constraint over another key is not judged, and does not keep a node out; nor does anything else."""
    known = domains(zone=["a", "b"])
    owner = web(
        spread_over(HOSTNAME),
        spread_over(ZONE, minDomains=3),
        nodeSelector={"disk": "ssd"},
        affinity=apart(HOSTNAME),
        schedulerName="default-scheduler",
        containers=[{"name": "c", "resources": {"requests": {"example.com/gpu": "1"}}}],
    )

    found = account(known, owner, 1)

    assert account(known, owner) is None
    assert found is not None
    assert (2, 2, []) == (found.candidates, found.room, found.unreachable)
    constraint = f"topologySpreadConstraints[0] ({ZONE}, maxSkew 1)"
    assert PlacedReplicas(2, 1, (constraint,), is_spread_conflict=True) == known.outcome(owner)
    assert () == known.anti_affinities(owner)
    assert frozenset({ZONE}) == known.node_keys


def test_a_node_selector_over_a_known_key_counts() -> None:
    found = account(domains(zone=["a", "b"]), web(spread_over(ZONE), nodeSelector={ZONE: "b"}))

    assert found is not None
    assert ["b"] == [domain.value for domain in found.counted_domains]


def test_without_any_node_nothing_is_known() -> None:
    assert account(KnownCluster(Cluster(())), web(spread_over(ZONE))) is None


def test_a_claim_that_is_bound_keeps_pods_near_its_volume() -> None:
    """One whose volume is gone keeps them out for good, which is not for these rules to say."""
    near = {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [IN_A]}]}}}
    made = [
        claim("data", volume="pv"),
        volume("pv", phase="Bound", claimRef={"namespace": "default", "name": "data"}, **near),
    ]
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    owner = web(spread_over(ZONE), volumes=volumes)

    found = account(KnownCluster(cluster_of([*zones("a", "b"), *made])), owner)

    assert found is not None
    assert [1, 0] == [domain.usable for domain in found.domains]
    assert account(KnownCluster(cluster_of([*zones("a", "b"), made[0]])), owner) is None


def test_pods_with_host_ports_tell_all_nodes_apart() -> None:
    ports = [{"name": "c", "ports": [{"hostPort": 80, "containerPort": 80}]}]
    known = KnownCluster(cluster_of([*zones("a"), *(node(f"b{at}", labels={ZONE: "b"}) for at in range(3))]))

    assert Impossible(3, (0,)) == known.impossible(web(spread_over(ZONE), count=4, containers=ports))


def test_a_search_that_is_too_long_finds_nothing() -> None:
    """The first path, a then b then b, is not the only one."""
    cluster = cluster_of([*zones("a"), *(node(f"b{at}", labels={ZONE: "b", HOSTNAME: f"b{at}"}) for at in range(3))])
    owner = web(spread_over(ZONE), spread_over(HOSTNAME), count=4, kind="ReplicaSet")
    new = new_pods(Start([owner], cluster, PROFILES), PROFILES, all_nodes=True)

    assert max_placed_pods(new, max_states=3) is None
    assert 3 == max_placed_pods(new, max_states=50)


def test_pods_placed_anew_leave_the_places_of_those_that_run() -> None:
    """Three pods of zone a would be one in each zone."""
    running = [own(f"web-{at}", "n-a") for at in range(3)]
    owner = web(spread_over(ZONE))
    (constraint,) = constraint_reader.constraints(owner.template["spec"])

    found = KnownCluster(cluster_of([*zones("a", "b", "c"), *running])).place_again(owner, constraint)

    assert found is not None
    assert (("a", 1), ("b", 1), ("c", 1)) == found.domains


def test_as_many_are_placed_anew_as_run() -> None:
    """An autoscaler may have made more than are written."""
    running = [own(f"web-{at}", "n-a") for at in range(4)]
    owner = web(spread_over(ZONE), count=1)
    (constraint,) = constraint_reader.constraints(owner.template["spec"])

    found = KnownCluster(cluster_of([*zones("a", "b"), *running])).place_again(owner, constraint)

    assert found is not None
    assert (("a", 2), ("b", 2)) == found.domains


def test_nothing_is_placed_anew_where_it_would_not_find_room() -> None:
    owner = web(spread_over(ZONE, minDomains=3))
    (constraint,) = constraint_reader.constraints(owner.template["spec"])
    running = [own(f"web-{at}", "n-a") for at in range(3)]

    assert KnownCluster(cluster_of([*zones("a", "b"), *running])).place_again(owner, constraint) is None


def test_nothing_is_said_of_where_pods_go_on_nodes_of_which_only_labels_are_known() -> None:
    owner = web({**spread_over(ZONE), "whenUnsatisfiable": "ScheduleAnyway"}, count=2)
    (constraint,) = constraint_reader.constraints(owner.template["spec"])
    cluster = topology.from_domains({ZONE: ["a", "b"]})

    assert PodsPerDomain((("a", 1), ("b", 1)), is_certain=False) == KnownCluster(cluster).place(owner, constraint)
    assert KnownCluster(cluster, keys=frozenset({ZONE})).place(owner, constraint) is None
