"""Placing the replicas of workloads."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.cluster.build import add_objects, cluster_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine.placing import seeded_pick
from kubectl_spread.explain.explanation import explain
from kubectl_spread.explain.placement import Certainty, Placement
from kubectl_spread.explain.replicas import place
from kubectl_spread.objects.releases.version import nearest_release, release_of
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.scheduler.profiles import profiles

Plain = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"


def node(name: str, cpu: str = "1", zone: str = "", **spec: Any) -> Plain:
    labels = {"kubernetes.io/hostname": name, **({ZONE: zone} if zone else {})}
    status = {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "10"}}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}


def running(name: str, on: str, cpu: str = "1", owner: Plain | None = None, **spec: Any) -> Plain:
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    metadata: Plain = {"name": name, "labels": {"app": name.partition("-")[0]}}
    if owner:
        metadata["ownerReferences"] = [{**owner, "controller": True}]
    return {"kind": "Pod", "metadata": metadata, "spec": {"nodeName": on, "containers": [container], **spec}}


def workload(kind: str = "Deployment", name: str = "web", replicas: int = 1, cpu: str = "1", **spec: Any) -> Workload:
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container], **spec}}
    count = None if kind == "DaemonSet" else replicas
    return Workload(kind, "apps/v1", "default", name, count, template)


def nodes_of(placement: Placement) -> list[str]:
    return [pod.node for pod in placement.placed]


def placed(cluster: Cluster, *owners: Workload) -> list[Placement]:
    return place(owners, cluster, profiles())


def test_workloads_compete_by_priority_and_are_reported_as_given() -> None:
    """There is room for one pod: the one of higher priority gets it, although it is given last."""
    low, high = placed(cluster_of([node("n1")]), workload(name="low"), workload(name="high", priority=10))

    assert ([], ["n1"]) == (nodes_of(low), nodes_of(high))
    assert ["low-1"] == [item.pod.name for item in low.pending]


def test_a_pod_goes_where_the_scheduler_scores_highest() -> None:
    """The emptier node is less allocated; there is no choice."""
    (web,) = placed(cluster_of([node("n1", "4"), node("n2", "4"), running("db-0", "n1")]), workload())

    assert (["n2"], Certainty.CERTAIN) == (nodes_of(web), web.certainty)


def test_nodes_of_equal_score_are_a_choice() -> None:
    """The first by name is taken, and the placement is only possible."""
    (web,) = placed(cluster_of([node("n2"), node("n1")]), workload())

    assert (["n1"], Certainty.POSSIBLE) == (nodes_of(web), web.certainty)
    assert [2] == [pod.hosts for pod in web.placed]


def test_pods_that_run_already_are_the_first_replicas() -> None:
    """The Deployment's ReplicaSet owns the running pod; only the second replica is placed."""
    replicaset = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1"}
    deployment = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "controller": True}]
    facts = [
        node("n1"),
        node("n2"),
        {"kind": "ReplicaSet", "metadata": {"name": "web-1", "ownerReferences": deployment}},
        running("web-1-x", "n1", owner=replicaset),
    ]
    (web,) = placed(cluster_of(facts), workload(replicas=2))

    assert ["n1", "n2"] == nodes_of(web)
    assert [0, 1] == [pod.fitting for pod in web.placed]


def test_a_daemonset_gets_a_pod_for_each_node_it_may_run_on() -> None:
    """A tainted node gets none; a cordoned one does, for daemons tolerate the cordon."""
    taint = [{"key": "gpu", "value": "", "effect": "NoSchedule"}]
    cluster = cluster_of([node("n1"), node("n2", taints=taint), node("n3", unschedulable=True)])
    (agent,) = placed(cluster, workload("DaemonSet", "agent"))

    assert (["n1", "n3"], 0) == (nodes_of(agent), len(agent.pending))


def test_a_daemon_that_no_node_can_take_is_pending_on_each() -> None:
    """The controller creates it, and the scheduler rejects its claim."""
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "none"}}]
    storage = {"kind": "StorageClass", "metadata": {"name": "known"}}
    (agent,) = placed(cluster_of([node("n1"), node("n2"), storage]), workload("DaemonSet", "agent", volumes=volumes))

    assert ([], ["agent-n1", "agent-n2"]) == (nodes_of(agent), [item.pod.name for item in agent.pending])


def test_a_daemon_that_does_not_fit_its_node_is_pending() -> None:
    (agent,) = placed(cluster_of([node("n1", "2"), node("n2", "500m")]), workload("DaemonSet", "agent"))
    (pending,) = agent.pending

    assert ["n1"] == nodes_of(agent)
    assert pending.explanation.message.startswith(
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )


def test_a_pod_that_names_its_node_goes_there() -> None:
    """Nobody asks the scheduler, so that a full node takes it too, and a cordoned one."""
    cluster = cluster_of([node("n1"), node("n2", "0", unschedulable=True)])
    (web,) = placed(cluster, workload(replicas=2, nodeName="n2"))

    assert (["n2", "n2"], Certainty.CERTAIN) == (nodes_of(web), web.certainty)


def test_a_pod_that_names_a_node_that_does_not_exist_has_it_all_the_same() -> None:
    """It has a node, so that no scheduler looks at it; that the node is missing is a fact of its own."""
    (web,) = placed(cluster_of([node("n1")]), workload(nodeName="gone"))

    assert (["gone"], ("web-1",)) == (nodes_of(web), web.on_missing_nodes)
    assert () == web.unpredicted


def test_gated_pods_are_told_and_not_placed() -> None:
    (web,) = placed(cluster_of([node("n1")]), workload(schedulingGates=[{"name": "wait"}]))

    assert ([], 0, ["web-1"]) == (nodes_of(web), len(web.pending), [pod.pod for pod in web.gated])


def test_a_pod_of_an_unknown_scheduler_is_not_predictable() -> None:
    (web,) = placed(cluster_of([node("n1")]), workload(schedulerName="mine"))

    assert (Certainty.NOT_PREDICTABLE, ("the scheduler mine",)) == (web.certainty, web.not_predictable)
    assert ([], [], 1) == (nodes_of(web), list(web.pending), web.replicas)


CLAIM = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}


def test_a_pod_with_resource_claims_is_placed_nowhere_and_takes_no_room() -> None:
    """There is room for one: the pod after it gets it, and says whom it did not see."""
    gpu, web = placed(cluster_of([node("n1")]), workload(name="gpu", **CLAIM), workload())

    assert ([], ("resource claims",), 1) == (nodes_of(gpu), gpu.not_predictable, gpu.replicas)
    assert (["n1"], Certainty.POSSIBLE) == (nodes_of(web), web.certainty)
    assert ("Deployment default/gpu",) == web.not_counted


def test_pods_that_come_before_one_that_is_not_predictable_do_not_depend_on_it() -> None:
    """Unless another scheduler takes it, which waits for nobody."""
    cluster = cluster_of([node("n1")])
    web, _ = placed(cluster, workload(), workload(name="gpu", **CLAIM))
    raced, _ = placed(cluster, workload(), workload(name="mine", schedulerName="mine"))

    assert (Certainty.CERTAIN, ()) == (web.certainty, web.not_counted)
    assert (Certainty.POSSIBLE, ("Deployment default/mine",)) == (raced.certainty, raced.not_counted)


def test_gates_hold_back_a_pod_whatever_else_it_depends_on() -> None:
    (web,) = placed(cluster_of([node("n1")]), workload(schedulingGates=[{"name": "wait"}], **CLAIM))

    assert (["web-1"], ()) == ([pod.pod for pod in web.gated], web.unpredicted)


@pytest.mark.parametrize(
    ("configuration", "resource", "expected"),
    [
        ({"profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Mine"}]}}}]}, "", ("the plugin Mine",)),
        ({"profiles": [{"plugins": {"postBind": {"enabled": [{"name": "Mine"}]}}}]}, "", ()),
        ({"extenders": [{"urlPrefix": "http://x", "filterVerb": "f"}]}, "", ("the extender http://x",)),
        ({"extenders": [{"urlPrefix": "http://x"}]}, "", ()),
        (
            {"extenders": [{"urlPrefix": "http://x", "bindVerb": "b", "managedResources": [{"name": "a.b/c"}]}]},
            "a.b/c",
            ("the extender http://x",),
        ),
        (
            {"extenders": [{"urlPrefix": "http://x", "bindVerb": "b", "managedResources": [{"name": "a.b/c"}]}]},
            "",
            (),
        ),
        ({}, "gpus.example/full", ("the devices of the class full",)),
        ({}, "deviceclass.resource.kubernetes.io/half", ("the devices of the class half",)),
    ],
)
def test_what_the_configuration_adds_makes_a_pod_not_predictable(
    configuration: Plain, resource: str, expected: tuple[str, ...]
) -> None:
    """A foreign plugin, an extender that wants the pod, a device class behind a resource."""
    capacity = node("n1", "4")
    capacity["status"]["allocatable"]["a.b/c"] = "4"
    device_class = {
        "kind": "DeviceClass",
        "metadata": {"name": "full"},
        "spec": {"extendedResourceName": "gpus.example/full"},
    }
    owner = workload()
    if resource:
        owner.template["spec"]["containers"][0]["resources"]["requests"][resource] = "1"
    (web,) = place([owner], cluster_of([capacity, device_class]), profiles(configuration))

    assert expected == web.not_predictable
    assert (0 if expected else 1) == len(web.placed)


def test_resources_stand_for_no_devices_before_1_36() -> None:
    """The scheduler looks for them on nodes alone."""
    device_class = {"kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {"extendedResourceName": "a.b/c"}}
    owner = workload()
    owner.template["spec"]["containers"][0]["resources"]["requests"]["a.b/c"] = "1"
    (web,) = place([owner], cluster_of([node("n1"), device_class]), profiles(None, nearest_release(release_of("1.35"))))

    assert ["0/1 nodes are available: 1 Insufficient a.b/c."] == [
        item.explanation.message.partition(" no new claims")[0] for item in web.pending
    ]


@pytest.mark.parametrize(("minor", "expected"), [("1.34", False), ("1.35", True)])
def test_pods_get_the_labels_of_their_zone_from_1_35_on(minor: str, expected: bool) -> None:
    """A constraint that selects by the label counts them only then, and refuses the second replica."""
    constraint = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "minDomains": 2,
        "labelSelector": {"matchLabels": {ZONE: "a"}},
    }
    owner = workload(replicas=3, cpu="10m", topologySpreadConstraints=[constraint])
    (web,) = place([owner], cluster_of([node("n1", zone="a")]), profiles(None, nearest_release(release_of(minor))))

    assert expected == any(count for counts in web.matching.values() for count in counts.values())


def test_a_daemonset_s_own_affinity_chooses_its_nodes() -> None:
    """The controller looks at it, before it pins the pods; also where nobody can tell what becomes of them."""
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["b"]}]}
    affinity = {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}},
    }
    cluster = cluster_of([node("n1", zone="a"), node("n2", zone="b")])
    (agent,) = placed(cluster, workload("DaemonSet", "agent", affinity=affinity))
    (claiming,) = placed(cluster, workload("DaemonSet", "agent", affinity=affinity, **CLAIM))

    assert (["n2"], 1) == (nodes_of(agent), agent.replicas)
    assert ["agent-n2"] == [item.pod.name for item in claiming.unpredicted]


def test_whom_preemption_would_evict_is_told() -> None:
    """The message ends before preemption where preemption helps."""
    (web,) = placed(cluster_of([node("n1"), running("low-0", "n1")]), workload(priority=5))
    (pending,) = web.pending

    assert "0/1 nodes are available: 1 Insufficient cpu." == pending.explanation.message
    assert ("n1", ["default/low-0"]) == (
        pending.explanation.nominated_node,
        [victim.key for victim in pending.explanation.victims],
    )


def test_a_preference_that_does_not_parse_aborts_scheduling_where_there_is_a_choice() -> None:
    """With one feasible node nothing is scored, and the pod is placed."""
    term = {"preference": {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["x"]}]}, "weight": 1}
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    (two,) = placed(cluster_of([node("n1"), node("n2")]), workload(affinity=affinity))
    (one,) = placed(cluster_of([node("n1")]), workload(affinity=affinity))

    assert ["n1"] == nodes_of(one)
    assert two.pending[0].explanation.message.startswith('running PreScore plugin "NodeAffinity": ')


@pytest.mark.parametrize(("all_nodes", "expected"), [(True, "n119"), (False, "n000")])
def test_a_large_cluster_is_sampled_unless_all_nodes_are_asked_for(all_nodes: bool, expected: str) -> None:
    """The best of 120 nodes is the last; a search that stops after 100 does not see it."""
    facts = [node(f"n{at:03d}", "2" if at < 119 else "64") for at in range(120)]
    percentage = 100 if all_nodes else 0
    by_name = {name: item._replace(percentage_of_nodes_to_score=percentage) for name, item in profiles().items()}
    (web,) = place([workload()], cluster_of(facts), by_name)

    assert [expected] == nodes_of(web)


def test_a_seed_draws_among_nodes_of_equal_score() -> None:
    """The same seed draws the same nodes; over many seeds every node is drawn."""
    cluster = cluster_of([node("n1"), node("n2"), node("n3")])

    def drawn(seed: int) -> list[str]:
        (web,) = place([workload()], cluster, profiles(), pick=seeded_pick(seed))
        return nodes_of(web)

    assert drawn(7) == drawn(7)
    assert {"n1", "n2", "n3"} == {name for seed in range(30) for name in drawn(seed)}


def test_claims_that_do_not_exist_yet_make_a_pod_not_predictable_and_not_pending() -> None:
    """Neither ephemeral volumes, nor claim templates, nor any claim where nothing is known of storage."""
    ephemeral = workload(name="cache", volumes=[{"name": "tmp", "ephemeral": {}}])
    template = workload("StatefulSet", "db")._replace(claim_templates=("data",))
    claimed = workload(name="files", volumes=[{"name": "f", "persistentVolumeClaim": {"claimName": "files"}}])
    placements = placed(cluster_of([node("n1", "8")]), ephemeral, template, claimed)

    assert [["n1"]] * 3 == [nodes_of(placement) for placement in placements]
    assert [("claims that are not in the cluster facts (kubectl get pv,pvc,storageclasses -A)",)] * 3 == [
        item.not_predictable for item in placements
    ]


def test_a_statefulset_s_pod_goes_where_its_claim_is_bound() -> None:
    """The claim made for an earlier pod of that name is used again."""
    claim = {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-db-0", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": {"volumeName": "pv"},
    }
    terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["b"]}]}]
    volume = {
        "kind": "PersistentVolume",
        "metadata": {"name": "pv"},
        "spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}},
    }
    owner = workload("StatefulSet", "db")._replace(claim_templates=("data",))
    (db,) = placed(cluster_of([node("n1", "8", "a"), node("n2", zone="b"), claim, volume]), owner)

    assert (["n2"], Certainty.CERTAIN) == (nodes_of(db), db.certainty)


def test_replicas_of_a_deployment_are_spread_by_default_without_a_service() -> None:
    """Its ReplicaSet selects them; by resources alone the larger node would take both."""
    owner = workload(replicas=2, cpu="10m")._replace(selector={"matchLabels": {"app": "web"}})
    cluster = cluster_of([node("n1", "64", "a"), node("n2", "60", "b")])
    (web,) = placed(cluster, owner)

    assert ["n1", "n2"] == nodes_of(web)


def test_new_replicas_carry_the_hash_of_those_that_run() -> None:
    """So that matchLabelKeys counts them together."""
    replicaset = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1"}
    deployment = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "controller": True}]
    first_pod = running("web-1-x", "n1", owner=replicaset, cpu="10m")
    first_pod["metadata"]["labels"]["pod-template-hash"] = "1"
    constraint = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "matchLabelKeys": ["pod-template-hash"],
    }
    first_pod["spec"]["topologySpreadConstraints"] = [constraint]
    facts = [
        node("n1", "64"),
        node("n2"),
        {"kind": "ReplicaSet", "metadata": {"name": "web-1", "ownerReferences": deployment}},
        first_pod,
    ]
    owner = workload(replicas=2, cpu="10m", topologySpreadConstraints=[constraint])
    (web,) = placed(cluster_of(facts), owner)

    assert ["n1", "n2"] == nodes_of(web)


def test_two_pods_that_preempt_do_not_share_a_victim() -> None:
    """The first is nominated to n1 and in the way of the second there, which evicts on n2."""
    cluster = cluster_of([node("n1"), node("n2"), running("low-1", "n1"), running("low-2", "n2")])
    (web,) = placed(cluster, workload(replicas=2, priority=5))

    assert ["n1", "n2"] == [item.explanation.nominated_node for item in web.pending]


def test_the_pods_of_a_replicaset_are_its_own_and_its_deployment_s() -> None:
    replicaset = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1"}
    deployment = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "controller": True}]
    facts = [
        node("n1", "4"),
        {"kind": "ReplicaSet", "metadata": {"name": "web-1", "ownerReferences": deployment}},
        running("web-1-x", "n1", owner=replicaset),
    ]
    owners = [workload("ReplicaSet", "web-1"), workload("Deployment", "web")]

    assert [[True], [True]] == [[pod.ran_already for pod in item.placed] for item in placed(cluster_of(facts), *owners)]


def test_all_pods_that_a_constraint_selects_are_counted_beside_the_workload_s_own() -> None:
    """A pod of another owner with the same label counts for the constraint, and is not the workload's."""
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    facts = [node("n1", "4", "a"), node("n2", "4", "b"), running("web-x", "n1")]
    (web,) = placed(cluster_of(facts), workload(topologySpreadConstraints=[constraint]))

    assert {ZONE: {"a": 0, "b": 1}} == web.domains
    assert {ZONE: {"a": 1, "b": 1}} == web.matching


def csi_node(name: str, driver: str, count: int) -> Plain:
    drivers = [{"name": driver, "allocatable": {"count": count}}]
    return {"kind": "CSINode", "metadata": {"name": name}, "spec": {"drivers": drivers}}


def test_disks_of_in_tree_plugins_count_for_the_driver_that_attaches_them() -> None:
    """n1 takes one volume of the driver, and has one: a PersistentVolume's there, an inline one that comes."""
    claim = {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": {"volumeName": "pv"},
    }
    volume = {
        "kind": "PersistentVolume",
        "metadata": {"name": "pv"},
        "spec": {"awsElasticBlockStore": {"volumeID": "aws://a/vol-1"}},
    }
    using = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    facts = [
        node("n1", "64"),
        csi_node("n1", "ebs.csi.aws.com", 1),
        claim,
        volume,
        running("db-0", "n1", volumes=using),
    ]
    disks = [[{"name": "v", "awsElasticBlockStore": {"volumeID": name}}] for name in ("vol-2", "vol-3")]
    (full,) = placed(cluster_of(facts), workload("Pod", volumes=disks[0]))
    (free,) = placed(cluster_of([*facts[:1], *facts[2:]]), workload("Pod", volumes=disks[1]))

    assert "0/1 nodes are available: 1 node(s) exceed max volume count." in full.pending[0].explanation.message
    assert ["n1"] == nodes_of(free)


@pytest.mark.parametrize(("uid", "is_own"), [("u1", True), ("u2", False), (None, False)])
def test_the_claim_of_an_ephemeral_volume_has_to_be_the_pod_s_own(uid: str | None, is_own: bool) -> None:
    """Another pod of the same name, or somebody, may have made it."""
    owners = [{"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": uid, "controller": True}] if uid else []
    claim = {
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": "web-tmp",
            "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
            "ownerReferences": owners,
        },
        "spec": {"volumeName": "pv"},
    }
    pending = running("web", "", volumes=[{"name": "tmp", "ephemeral": {}}])
    pending["metadata"]["uid"] = "u1"
    cluster = cluster_of([node("n1"), claim, {"kind": "PersistentVolume", "metadata": {"name": "pv"}}, pending])
    found = explain(cluster.pods[0], cluster, profiles())

    assert is_own == (found.message == "")
    assert is_own or "PVC default/web-tmp was not created for pod default/web (pod is not owner)" in found.message


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"minAvailable": 2}, 1),
        ({"minAvailable": "50%"}, 1),
        ({"maxUnavailable": 1}, 1),
        ({"maxUnavailable": "34%"}, 2),
        ({"maxUnavailable": 5}, 3),
        ({"minAvailable": 9}, 0),
        ({}, 0),
    ],
)
def test_a_budget_that_is_applied_allows_what_its_controller_would(spec: Plain, expected: int) -> None:
    """Three pods run."""
    cluster = cluster_of([node("n1", "8"), *(running(f"web-{at}", "n1") for at in range(3))])
    budget = {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec},
    }
    (found,) = add_objects(cluster, [budget], "default").budgets

    assert expected == found.disruptions_allowed


def test_what_the_cluster_has_of_a_budget_stays() -> None:
    """It has a status; the manifest has none."""
    budget = {"kind": "PodDisruptionBudget", "metadata": {"name": "web"}, "status": {"disruptionsAllowed": 7}}
    cluster = cluster_of([node("n1"), budget])

    assert [7] == [item.disruptions_allowed for item in add_objects(cluster, [budget], "default").budgets]


def test_a_namespace_that_is_applied_keeps_the_labels_it_has() -> None:
    """And gets the one that the API server gives it."""
    namespace = {"kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "a"}}}
    written = {"kind": "Namespace", "metadata": {"name": "shop", "labels": {"tier": "b"}}}
    cluster = add_objects(cluster_of([node("n1"), namespace]), [written], "default")

    assert {"team": "a", "tier": "b", "kubernetes.io/metadata.name": "shop"} == cluster.namespaces["shop"]


def test_a_pod_that_was_refused_is_tried_again_when_others_raise_the_minimum() -> None:
    """a2's pod is refused while zone b is empty, and placed once b1's pod is; a3's would be one too many."""
    spread = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "nodeAffinityPolicy": "Ignore",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    cluster = cluster_of([*(node(name, zone="a") for name in ("a1", "a2", "a3")), node("b1", zone="b")])
    (found,) = placed(cluster, workload("DaemonSet", topologySpreadConstraints=[spread]))

    assert ["a1", "b1", "a2"] == nodes_of(found)
    assert ["web-a3"] == [item.pod.name for item in found.pending]
