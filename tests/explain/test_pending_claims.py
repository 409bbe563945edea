"""Claims that do not exist yet, and claims that never will."""

from __future__ import annotations

from typing import Any

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.explain.explanation import PodVerdict
from kubectl_spread.explain.placement import Certainty, Placement
from kubectl_spread.explain.replicas import place
from kubectl_spread.objects.workloads.workload import Workload, workload
from kubectl_spread.scheduler.profiles import profiles
from tests.explain.test_replicas import node, nodes_of

Plain = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
STORAGE = frozenset({"PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSIDriver", "CSINode"})
NODES = [node("a1", "9", "a"), node("b1", "9", "b")]


def stateful(storage_class: str | None = "fast", replicas: int = 2) -> Workload:
    named = {} if storage_class is None else {"storageClassName": storage_class}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **named}
    plain = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db"},
        "spec": {
            "replicas": replicas,
            "podManagementPolicy": "Parallel",
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}],
            "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "c"}]}},
        },
    }
    return workload(plain, "StatefulSet")


def storage_class(provisioner: str = "kubernetes.io/no-provisioner", *, waits: bool = True, **more: Any) -> Plain:
    mode = "WaitForFirstConsumer" if waits else "Immediate"
    found = {"kind": "StorageClass", "metadata": {"name": "fast"}, "provisioner": provisioner}
    return {**found, "volumeBindingMode": mode, **more}


def volume(name: str, zone: str, size: str = "1Gi", class_name: str = "fast") -> Plain:
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
    return {
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": class_name,
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        },
        "status": {"phase": "Available"},
    }


def facts(*objects: Plain, complete: frozenset[str] = STORAGE) -> Cluster:
    return cluster_of([*NODES, *objects])._replace(complete=complete)


def placed(owner: Workload, cluster: Cluster) -> Placement:
    (found,) = place([owner], cluster, profiles())
    return found


def messages(placement: Placement) -> list[str]:
    return [item.explanation.message for item in placement.pending]


def test_claims_of_a_template_take_the_volumes_that_lie_ready() -> None:
    """There is one volume, in zone b: the first pod goes there, and the second finds none."""
    found = placed(stateful(), facts(storage_class(), volume("pv", "b")))

    assert (["b1"], Certainty.CERTAIN) == (nodes_of(found), found.certainty)
    assert messages(found)[0].startswith(
        "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind."
    )


def test_class_that_makes_volumes_in_one_zone_keeps_the_pods_there() -> None:
    zones = [{"matchLabelExpressions": [{"key": ZONE, "values": ["b"]}]}]
    found = placed(stateful(), facts(storage_class("example.com/disk", allowedTopologies=zones)))

    assert ["b1", "b1"] == nodes_of(found)


def test_driver_that_is_not_installed_makes_no_volume() -> None:
    """The node is chosen, and the pod waits for ever; the words are the volume controller's."""
    found = placed(stateful(replicas=1), facts(storage_class("ebs.csi.aws.com")))
    (pending,) = found.pending

    assert [] == nodes_of(found)
    assert PodVerdict.WAITS_FOR_VOLUME is pending.explanation.verdict
    assert "created either by the external provisioner 'ebs.csi.aws.com' or" in pending.explanation.message


def test_driver_is_taken_to_work_where_anything_shows_it() -> None:
    """A CSIDriver, a CSINode that has it, or facts that may lack these."""
    driver = {"kind": "CSIDriver", "metadata": {"name": "ebs.csi.aws.com"}, "spec": {}}
    on_node = {"kind": "CSINode", "metadata": {"name": "a1"}, "spec": {"drivers": [{"name": "ebs.csi.aws.com"}]}}
    wanted = storage_class("ebs.csi.aws.com")
    found = [
        placed(stateful(), facts(wanted, driver)),
        placed(stateful(), facts(wanted, on_node)),
        placed(stateful(), facts(wanted, complete=frozenset())),
    ]

    assert [2, 2, 2] == [len(item.placed) for item in found]


def test_class_that_binds_at_once_takes_the_smallest_volume() -> None:
    """Nobody looks at the pod's nodes: the volume in zone b is smaller."""
    found = placed(
        stateful(replicas=1), facts(storage_class(waits=False), volume("big", "a", "5Gi"), volume("small", "b", "2Gi"))
    )

    assert ["b1"] == nodes_of(found)


def test_class_that_does_not_exist_leaves_the_claim_unbound() -> None:
    found = placed(stateful("gone", replicas=1), facts())

    assert "pod has unbound immediate PersistentVolumeClaims" in messages(found)[0]


def test_claim_without_a_class_gets_the_default_one() -> None:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    default = {**storage_class(), "metadata": {"name": "fast", "annotations": annotations}}
    found = placed(stateful(None, replicas=1), facts(default, volume("pv", "b")))

    assert ["b1"] == nodes_of(found)


def test_working_provisioner_that_binds_at_once_is_not_predictable() -> None:
    """Nobody knows in which zone it makes the volume."""
    found = placed(stateful(), facts(storage_class("example.com/disk", waits=False)))

    assert Certainty.NOT_PREDICTABLE is found.certainty


def test_claim_that_complete_facts_do_not_hold_is_absent() -> None:
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "nope"}}]
    plain = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}], "volumes": volumes}}
    known, unknown = (
        placed(workload(plain, "Pod"), facts(complete=complete)) for complete in (STORAGE, frozenset[str]())
    )

    assert messages(known)[0].startswith('0/2 nodes are available: persistentvolumeclaim "nope" not found.')
    assert ([], Certainty.NOT_PREDICTABLE) == (messages(unknown), unknown.certainty)
