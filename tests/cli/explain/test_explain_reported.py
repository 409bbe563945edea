"""What `explain` makes of the cluster's own words: old messages, pods that never came, events of others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.cli.main import run

ZONE = "topology.kubernetes.io/zone"
NOW = (
    "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: "
    "0/2 nodes are available: 2 Preemption is not helpful for scheduling."
)

Plain = dict[str, Any]


def node(name: str, **metadata: str) -> Plain:
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": {ZONE: "a"}, **metadata},
        "status": {"allocatable": {"cpu": "1", "memory": "4Gi", "pods": "10"}},
    }


def pod(name: str, *, message: str = "", bound: str = "", cpu: str = "2", **metadata: Any) -> Plain:
    refused = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "labels": {"app": "web"}, **metadata},
        "spec": {
            "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}],
            **({"nodeName": bound} if bound else {}),
        },
        "status": {
            "phase": "Running" if bound else "Pending",
            "conditions": [{**refused, "lastTransitionTime": "2026-11-21T10:00:00Z"}] if message else [],
        },
    }


def event(about: tuple[str, str], reason: str, message: str, *, last: str = "2026-11-21T10:00:00Z") -> Plain:
    kind, name = about
    return {
        "kind": "Event",
        "metadata": {"name": f"{name}.{reason}", "namespace": "shop"},
        "involvedObject": {"kind": kind, "namespace": "shop", "name": name},
        "reason": reason,
        "message": message,
        "type": "Warning",
        "count": 4,
        "lastTimestamp": last,
    }


def workload(kind: str, name: str, replicas: int, *, owner: str = "", **fields: Any) -> Plain:
    reference = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": owner, "controller": True}]
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "shop", **({"ownerReferences": reference} if owner else {})},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "100m"}}}]},
            },
            **fields.pop("spec", {}),
        },
        **fields,
    }


class Explained:
    """Runs `explain` on facts, as text without line breaks and as a document."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder = folder
        self._capsys = capsys

    def __call__(self, what: str, *objects: Plain, flags: tuple[str, ...] = ()) -> tuple[int, str, Plain]:
        facts = self._folder / "facts.json"
        facts.write_text(json.dumps({"kind": "List", "items": list(objects)}), encoding="utf-8")
        command = ["explain", what, "-n", "shop", "--snapshot", str(facts), *flags]
        code = run([*command, "--details"])
        text = " ".join(self._capsys.readouterr().out.split())
        assert code == run([*command, "-o", "json"])
        document = json.loads(self._capsys.readouterr().out)
        jsonschema.validate(document, schemas.load("explanation"))
        return code, text, document


@pytest.fixture
def explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Explained:
    return Explained(tmp_path, capsys)


def test_a_message_that_still_holds_is_called_that(explained: Explained) -> None:
    code, text, document = explained("pod/web-1", node("n1"), node("n2"), pod("web-1", message=NOW))

    assert code == 1
    assert f"Message: {NOW} This is the message in the pod's status (2026-11-21T10:00:00Z)." in text
    assert document["lastMessage"]["comparison"] == "same"


def test_a_message_in_the_words_of_another_release_is_the_same(explained: Explained) -> None:
    old = NOW.replace(" no new claims to deallocate,", "")
    _, text, document = explained("pod/web-1", node("n1"), node("n2"), pod("web-1", message=old))

    assert document["lastMessage"]["comparison"] == "same"
    assert ", written as 1.24 to 1.33 writes it; the rules of 1.36 are followed here." in text


def test_a_message_of_another_number_of_nodes_is_outdated(explained: Explained) -> None:
    old = NOW.replace("2 ", "1 ").replace("0/2", "0/1")
    _, text, document = explained(
        "pod/web-1",
        node("n1", creationTimestamp="2026-11-01T00:00:00Z"),
        node("n2", creationTimestamp="2026-11-21T10:05:00Z"),
        pod("web-1", message=old),
    )

    assert document["lastMessage"]["comparison"] == "outdated"
    assert "is outdated (then 1 Insufficient cpu of 1 node; now 2 of 2). Since then the number of nodes" in text
    assert document["lastMessage"]["changed"] == ["the number of nodes changed from 1 to 2", "node n2 was created"]


def test_a_message_that_differs_for_no_known_reason_names_what_may_be_the_cause(explained: Explained) -> None:
    other = NOW.replace("2 Insufficient cpu", "1 Insufficient cpu, 1 node(s) had untolerated taint(s)")
    _, text, document = explained("pod/web-1", node("n1"), node("n2"), pod("web-1", message=other))

    assert document["lastMessage"]["comparison"] == "different"
    assert "no change since then is known. Possible reasons: the scheduler's configuration" in text
    assert f": {other} " in text


def test_the_last_event_counts_where_it_is_later_than_the_condition(explained: Explained) -> None:
    later = event(("Pod", "web-1"), "FailedScheduling", NOW, last="2026-11-21T11:00:00Z")
    old = NOW.replace("0/2", "0/3").replace("2 ", "3 ")
    _, text, document = explained("pod/web-1", node("n1"), node("n2"), pod("web-1", message=old), later)

    assert document["lastMessage"]["comparison"] == "same"
    assert "This is the message in the pod's last event (4 times, last 2026-11-21T11:00:00Z)." in text


def test_a_pod_that_has_its_node_is_old_news(explained: Explained) -> None:
    told = event(("Pod", "web-1"), "FailedScheduling", NOW)
    code, text, document = explained("pod/web-1", node("n1"), pod("web-1", bound="n1", cpu="1"), told)

    assert code == 0
    assert text.startswith("Pod shop/web-1 is bound to node n1.")
    assert "Outdated: reported before the pod was scheduled, in the pod's last event (4 times, " in text
    assert f"last 2026-11-21T10:00:00Z): {NOW}" in text
    assert document["lastMessage"]["comparison"] == "beforeScheduling"


def test_events_of_others_are_told_once_for_each_reason(explained: Explained) -> None:
    scaled = event(("Pod", "web-1"), "NotTriggerScaleUp", "pod didn't trigger scale-up: 1 max node group size reached")
    _, text, document = explained("pod/web-1", node("n1"), node("n2"), pod("web-1"), scaled)

    assert "Other events of the pod: NotTriggerScaleUp (4 times, last 2026-11-21T10:00:00Z): pod didn't trigger" in text
    assert [told["reason"] for told in document["events"]] == ["NotTriggerScaleUp"]


REFUSED = (
    'Error creating: Pod "web-7d9f-x" is invalid: spec.topologySpreadConstraints[0][0]: Invalid value: "app": '
    "exists in both matchLabelKeys and labelSelector"
)


def test_pods_that_a_replica_set_cannot_create_are_told_with_its_event(explained: Explained) -> None:
    """There is no pod, so no scheduler has written anything."""
    code, text, document = explained(
        "deploy/web",
        node("n1"),
        workload("Deployment", "web", 3),
        workload("ReplicaSet", "web-7d9f", 3, owner="web"),
        event(("ReplicaSet", "web-7d9f"), "FailedCreate", REFUSED),
    )

    assert code == 1
    assert text.startswith("Deployment shop/web wants 3 pods: 0 have a node, 3 are not created.")
    assert f"ReplicaSet web-7d9f: FailedCreate (4 times, last 2026-11-21T10:00:00Z): {REFUSED}" in text
    assert document["verdict"] == "NotCreated"
    assert 'The label "app" is in both matchLabelKeys and labelSelector of a constraint; only one of them' in text
    assert document["workload"]["failures"][0]["message"] == REFUSED
    assert document["feasible"] == ["n1"]


def test_a_condition_tells_why_where_no_event_does(explained: Explained) -> None:
    failing = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": REFUSED}
    _, text, _ = explained(
        "deploy/web",
        node("n1"),
        workload("Deployment", "web", 3, status={"conditions": [failing]}),
        workload("ReplicaSet", "web-7d9f", 3, owner="web", status={"conditions": [failing]}),
    )

    assert text.count(REFUSED) == 1


def test_a_stateful_set_in_order_waits_for_the_pod_before(explained: Explained) -> None:
    owner = [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "controller": True}]
    code, text, document = explained(
        "sts/db", node("n1"), node("n2"), workload("StatefulSet", "db", 3), pod("db-0", ownerReferences=owner)
    )

    assert code == 1
    assert "The next pod is created when db-0 is Ready (OrderedReady). That pod has no node yet." in text
    assert (document["pod"]["name"], document["verdict"], document["workload"]["notCreated"]) == ("db-0", "Pending", 2)


def full_quota(pods: int) -> Plain:
    status = {"hard": {"pods": str(pods)}, "used": {"pods": str(pods)}}
    metadata = {"name": "full", "namespace": "shop"}
    return {"kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": status["hard"]}, "status": status}


def test_a_workload_whose_every_pod_a_quota_refuses(explained: Explained) -> None:
    """There is no pod to explain, and no workload that wants a number of pods: the quota is the reason."""
    quota = full_quota(0)
    template = workload("Deployment", "x", 1)["spec"]["template"]
    nightly = {
        "kind": "CronJob",
        "apiVersion": "batch/v1",
        "metadata": {"name": "nightly", "namespace": "shop"},
        "spec": {"schedule": "0 * * * *", "jobTemplate": {"spec": {"template": template}}},
    }
    code, text, document = explained("cronjob/nightly", node("n1"), nightly, quota)

    assert code == 1
    assert "CronJob nightly: new pods are forbidden:" in text
    assert "exceeded quota: full" in document["workload"]["failures"][0]["message"]
    assert document["verdict"] == "NotCreated"


def test_a_workload_of_which_a_quota_refuses_some_pods_is_not_fine(explained: Explained) -> None:
    """Although a further pod would find a node."""
    quota = full_quota(1)
    owned = {"ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "controller": True}]}
    running = pod("web-1", bound="n1", cpu="100m", **owned)
    code, text, _ = explained("deploy/web", node("n1"), workload("Deployment", "web", 2), running, quota)

    assert code == 1
    assert "1 is not created" in text
    assert "exceeded quota: full" in text


@pytest.mark.slow
def test_a_paused_or_silent_controller_is_said(explained: Explained) -> None:
    paused = workload("Deployment", "web", 1, spec={"paused": True})
    suspended = workload("Job", "load", 1, apiVersion="batch/v1", spec={"suspend": True})
    _, told_paused, _ = explained("deploy/web", node("n1"), paused)
    _, told_suspended, document = explained("job/load", node("n1"), suspended)
    _, told_silent, _ = explained("deploy/web", node("n1"), workload("Deployment", "web", 1))

    assert "It is paused: its controller creates no pods from a changed template until it is resumed." in told_paused
    assert "It is suspended: its controller creates no pods." in told_suspended
    assert (document["workload"]["paused"], document["workload"]["suspended"]) == (False, True)
    assert "The cluster facts do not say why; kubectl describe" in told_silent


def test_a_workload_whose_pods_all_run_is_asked_about_its_next_replica(explained: Explained) -> None:
    owner = [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "controller": True}]
    running = pod("db-0", bound="n1", cpu="100m", ownerReferences=owner)
    code, text, document = explained("sts/db", node("n1"), workload("StatefulSet", "db", 1), running)

    assert code == 0
    assert text.startswith("StatefulSet shop/db wants 1 pod: 1 has a node. Pod shop/db-1 can be scheduled")
    assert document["verdict"] == "Schedulable"


def test_one_node_is_told_whole(explained: Explained) -> None:
    code, text, document = explained("pod/web-1", node("n1"), node("n2"), pod("web-1"), flags=("--node", "n1"))

    assert code == 1
    assert "NodeResourcesFit Insufficient cpu" in text
    assert "cpu 1 0 1 2 no" in text
    assert document["node"]["name"] == "n1"
    assert "n2" not in text


def test_a_node_that_does_not_exist_is_an_error(
    explained: Explained, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = tmp_path / "facts.json"
    facts.write_text(json.dumps({"kind": "List", "items": [node("n1"), pod("web-1")]}), encoding="utf-8")
    code = run(["explain", "pod/web-1", "-n", "shop", "--node", "n7", "--snapshot", str(facts)])

    assert code == 1
    assert capsys.readouterr().err == 'error: nodes "n7" not found in the cluster facts\n'


def test_a_scheduler_that_is_not_known_is_told_with_its_pods(explained: Explained) -> None:
    other = pod("web-1")
    other["spec"]["schedulerName"] = "default-schedular"
    _, text, document = explained("pod/web-1", node("n1"), other, {**other, "metadata": {"name": "web-2"}})

    assert document["verdict"] == "NoScheduler"
    assert "none of the 2 pods that use it has a node; is default-scheduler meant?" in text


def test_a_pod_that_was_deleted_before_it_had_a_node_is_passed_over(explained: Explained) -> None:
    leaving = pod("web-1", deletionTimestamp="2026-11-21T10:00:00Z", finalizers=["shop/backup"])
    code, text, document = explained("pod/web-1", node("n1"), leaving)

    assert code == 1
    assert text == (
        "Pod shop/web-1 has been terminating since 2026-11-21T10:00:00Z (finalizer shop/backup), and the scheduler "
        "ignores terminating pods."
    )
    assert document["verdict"] == "Terminating"


def test_a_suggestion_of_a_pod_without_a_controller_is_about_that_pod_alone(explained: Explained) -> None:
    """Its command makes one pod anew; the others that are like it stay as they are."""
    pods = [pod(name, cpu="500m") for name in ("web-1", "web-2", "web-3")]
    for item in pods:
        item["spec"]["nodeSelector"] = {"disk": "ssd"}
    _, text, document = explained("pod/web-1", node("n1"), node("n2"), *pods)
    effects = [item["effect"] for item in document["suggestions"]]

    assert "all 3 Pending pods" not in text
    assert [{"before": 1, "after": 0}] * len(effects) == [item["pending"] for item in effects] != []


def test_static_pods_are_told_as_such(explained: Explained) -> None:
    owner = [{"apiVersion": "v1", "kind": "Node", "name": "n1", "controller": True}]
    waiting = pod("web-1")
    waiting["spec"]["topologySpreadConstraints"] = [
        {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
    ]
    _, text, _ = explained("pod/web-1", node("n1"), pod("web-n1", bound="n1", cpu="0", ownerReferences=owner), waiting)

    assert "a: 1 static pod of Node n1 (web-n1) the selector also matches static pods of Node n1: 1 in a" in text


def _waiting(at: int, **more: Any) -> Plain:
    owner = [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "controller": True}]
    labels = {"app": "db", "statefulset.kubernetes.io/pod-name": f"db-{at}"}
    found = pod(f"db-{at}", ownerReferences=owner, labels=labels)
    found["spec"] |= more
    return found


def test_pods_that_differ_in_labels_of_their_own_are_told_as_one(explained: Explained) -> None:
    _, text, document = explained("sts/db", node("n1"), *map(_waiting, range(12)))

    assert "11 more pods are Pending for the same reason: db-1, db-2, db-3, db-4, db-5, db-6 and 5 more." in text
    assert len(document["others"]) == 11


def test_of_many_pods_that_differ_in_their_volumes_some_are_told_and_the_others_named(explained: Explained) -> None:
    waiting = [
        _waiting(at, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": f"data-db-{at}"}}])
        for at in range(12)
    ]
    _, text, document = explained("sts/db", node("n1"), *waiting)

    assert [item["pod"]["name"] for item in document["items"]] == [f"db-{at}" for at in range(8)]
    assert "4 more Pending pods of the workload differ from these in labels or volumes" in text
    assert "not explained: db-8, db-9, db-10, db-11." in text


def test_a_pod_that_preemption_makes_room_for_is_not_said_to_stay(explained: Explained) -> None:
    low, high = pod("low-1", bound="n1", cpu="1"), pod("web-1", cpu="1")
    low["spec"]["priority"], high["spec"]["priority"] = -10, 100
    code, text, document = explained("pod/web-1", node("n1"), low, high)

    assert (code, document["victims"]) == (1, ["shop/low-1"])
    assert text.startswith(
        "Pod shop/web-1 waits for preemption to evict shop/low-1 on n1: until then, every node is refused by the cpu "
        "request (needs 1; n1 has 0 of 1 free). "
    )


def test_equal_nodes_of_a_preemption_are_both_named(explained: Explained) -> None:
    """Nothing decides between them, so the scheduler may choose either."""
    low, other = pod("low-1", bound="n1", cpu="1"), pod("low-2", bound="n2", cpu="1")
    low["spec"]["priority"] = other["spec"]["priority"] = -10
    _, text, _ = explained("pod/web-1", node("n1"), node("n2"), low, other, pod("web-1", cpu="1"))

    assert text.startswith(
        "Pod shop/web-1 waits for preemption to evict shop/low-1 on n1, or pods on n2, which is equal in every "
        "criterion: until then, "
    )


def test_all_equal_nodes_of_a_preemption_are_named(explained: Explained) -> None:
    """Nothing decides among them, and the numbers of the suggestion are compared with the pods of now."""
    nodes = [node(f"n{at}") for at in range(1, 4)]
    low = [pod(f"low-{at}", bound=f"n{at}", cpu="1") for at in range(1, 4)]
    for item in low:
        item["spec"]["priority"] = -10
    _, text, _ = explained("pod/web-1", *nodes, *low, pod("web-1", cpu="1"))

    assert text.startswith(
        "Pod shop/web-1 waits for preemption to evict shop/low-1 on n1, or pods on n2, n3, which are equal in every "
        "criterion: until then, "
    )


def test_one_domain_is_told_in_the_singular(explained: Explained) -> None:
    waiting = pod("web-2", cpu="100m")
    waiting["spec"]["topologySpreadConstraints"] = [
        {
            "maxSkew": 1,
            "minDomains": 3,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
    ]
    _, text, _ = explained("pod/web-2", node("n1"), pod("web-1", bound="n1", cpu="100m"), waiting)

    assert (
        "allows no domain: there is 1 domain, fewer than minDomains 3, so the minimum counts as 0, and it already has "
        "1 or more matching pods."
    ) in text


def test_a_bare_pod_is_created_again_where_its_claim_is(explained: Explained) -> None:
    """Nobody creates it once it is deleted."""
    zones = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["b"]}]}]
    volume = {
        "kind": "PersistentVolume",
        "metadata": {"name": "pv-1"},
        "spec": {
            "storageClassName": "fast",
            "claimRef": {"namespace": "shop", "name": "data"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": zones}},
        },
    }
    claim = {
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": "data",
            "namespace": "shop",
            "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
        },
        "spec": {"storageClassName": "fast", "volumeName": "pv-1"},
    }
    storage_class = {
        "kind": "StorageClass",
        "metadata": {"name": "fast"},
        "provisioner": "disk.example.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    waiting = pod("web-1", cpu="100m")
    waiting["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    _, _, document = explained(
        "pod/web-1", node("n1"), volume, claim, storage_class, waiting, flags=("--suggestions", "10")
    )
    commands = [item["commands"] for item in document["suggestions"]]

    assert [
        (
            "kubectl get pvc data -n shop -o json | kubectl patch --local -f - --type=merge -o json -p "
            '\'{"metadata":{"annotations":{"pv.kubernetes.io/bind-completed":null,'
            '"pv.kubernetes.io/bound-by-controller":null,"volume.kubernetes.io/selected-node":null}},'
            '"spec":{"volumeName":null}}\' | kubectl replace --force -f -'
        ),
        "kubectl get pod web-1 -n shop -o json | kubectl replace --force -f -",
    ] in commands


def test_the_skew_before_preemption_is_the_skew_of_now(explained: Explained) -> None:
    """Zone b has no matching pod yet, although preemption will make room for one in any case."""
    nodes = [node("n1"), {**node("n2"), "metadata": {"name": "n2", "labels": {ZONE: "b"}}}]
    running, low, waiting = pod("web-0", bound="n1", cpu="100m"), pod("low", bound="n2", cpu="1"), pod("web-1", cpu="1")
    low["metadata"]["labels"], low["spec"]["priority"] = {"app": "low"}, -10
    waiting["spec"]["topologySpreadConstraints"] = [
        {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
    ]
    _, text, _ = explained("pod/web-1", *nodes, running, low, waiting)

    assert "Pods per zone: 1 in a, b; skew 0 (was 1)." in text


def test_the_label_that_the_only_allowed_node_lacks_comes_first(explained: Explained) -> None:
    """No domain is eligible, which is not a matter of minDomains."""
    edge, waiting = node("edge-1"), pod("web-1", cpu="100m")
    edge["metadata"]["labels"] = {"kubernetes.io/hostname": "edge-1"}
    waiting["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "edge-1"}
    waiting["spec"]["topologySpreadConstraints"] = [
        {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
    ]
    tainted = {**node("n2"), "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}}
    _, text, _ = explained("pod/web-1", edge, node("n1"), tainted, waiting)

    assert text.startswith(
        f"Pod shop/web-1 stays Pending: edge-1 lacks the label {ZONE}, which the zone constraint ({ZONE}, maxSkew 1) "
        "asks for; every node that has it is refused by nodeSelector kubernetes.io/hostname=edge-1."
    )


def test_a_missing_class_is_told_with_those_of_the_cluster(explained: Explained) -> None:
    """No node helps, so that none is among the examples."""
    waiting = pod("web-1", cpu="100m")
    waiting["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    claim = {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "shop"},
        "spec": {"storageClassName": "gp3-encrypted", "accessModes": ["ReadWriteOnce"]},
        "status": {"phase": "Pending"},
    }
    storage_class = {"kind": "StorageClass", "metadata": {"name": "gp3"}, "provisioner": "ebs.csi.aws.com"}
    _, text, _ = explained("pod/web-1", node("n1"), waiting, claim, storage_class)

    assert text.startswith(
        "Pod shop/web-1 stays Pending: PersistentVolumeClaim data is not bound, and its StorageClass gp3-encrypted "
        "does not exist (the cluster has gp3): create the class, or the claim again with another class."
    )
    assert "still finds no node" not in text


def test_an_empty_node_still_runs_its_daemon_pods(explained: Explained) -> None:
    daemons = [pod(f"agent-{at}", bound=f"n{at}", cpu="100m") for at in (1, 2)]
    for item in daemons:
        item["metadata"]["labels"] = {"app": "agent"}
        item["metadata"]["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "agent", "controller": True}
        ]
    nodes = [node("n1"), node("n2")]
    _, none, _ = explained("pod/web-1", *nodes, *daemons, pod("web-1", cpu="950m"))
    _, some, _ = explained(
        "pod/web-1", *nodes, *daemons[:1], pod("web-0", bound="n2", cpu="1"), pod("web-1", cpu="950m")
    )

    assert "none would have enough with only its DaemonSet and static pods)" in none
    assert "1 would have enough with only its DaemonSet and static pods)" in some
