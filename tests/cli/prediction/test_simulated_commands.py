"""What `simulate` answers to commands about bare pods, refused drains, empty directories and owned ReplicaSets."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.engine import run as engine_run
from tests.cli import running_objects as shop
from tests.timeline.test_run import deployment, node, replica_set, running, THREE_ZONES

Plain = dict[str, Any]


def pod(name: str, **spec: Any) -> Plain:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": name},
        "spec": {"containers": [{"name": "c", "image": "pause"}], **spec},
        "status": {"phase": "Running" if "nodeName" in spec else "Pending"},
    }


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    return tmp_path / "facts.json"


def simulate(facts: Path, objects: list[Plain], *step: str) -> int:
    facts.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": objects}))
    return run(["simulate", *step, "--snapshot", str(facts)])


def test_a_bare_pod_that_a_label_lets_fit_gets_a_node(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    objects = [node("n1", "a"), pod("solo", nodeSelector={"disk": "ssd"})]

    assert simulate(facts, objects, "label", "node", "n1", "disk=ssd") == 0
    assert capsys.readouterr().out.splitlines()[:3] == [
        "label node n1 disk=ssd: completes",
        "",
        "pod solo goes to n1",
    ]
    assert simulate(facts, objects, "label", "node", "n1", "disk=ssd", "-o", "json") == 0
    (step,) = json.loads(capsys.readouterr().out)["steps"]
    assert (step["lostPods"], step["scheduledPods"]) == ([], [{"pod": "solo", "nodes": ["n1"]}])


def test_a_bare_pod_that_is_drained_is_gone(facts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The pod of an earlier step has its name, too."""
    made = tmp_path / "solo.json"
    made.write_text(json.dumps(pod("solo")))
    steps = ["apply", "-f", str(made), "--then", "drain n1 --force"]

    assert simulate(facts, [node("n1", "a"), pod("old", nodeName="n1")], *steps) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "pod solo goes to n1"
    assert "Gone, and no controller creates them again: old, solo" in lines


def test_a_bare_pod_that_is_drained_can_be_saved(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file has no node, and another node may take the pod; a pod that the user deletes is not wanted again."""
    objects = [node("n1", "a"), pod("old", nodeName="n1")]

    assert simulate(facts, objects, "drain", "n1", "--force") == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("Gone, and no controller creates them again: old")
    assert lines[at + 2].startswith(
        "  $ kubectl get pod old -n default -o json | kubectl patch --local -f - --type=json "
    )
    assert '"/spec/nodeName"' in lines[at + 2]
    assert lines[at + 2].endswith(" > old.json")
    assert lines[at + 3] == "  $ kubectl create -f old.json"
    assert simulate(facts, objects, "delete", "pod", "old") == 0
    assert "  $ " not in capsys.readouterr().out


def test_a_bare_pod_is_not_saved_with_one_of_another_namespace(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The drain takes only one of two pods with the name, and both would be saved to one file."""
    other = pod("solo", nodeName="n2")
    other["metadata"].update(namespace="other", uid="other")
    objects = [node("n1", "a"), node("n2", "a"), pod("solo", nodeName="n1"), other]

    assert simulate(facts, objects, "drain", "n1", "--force") == 0
    output = capsys.readouterr().out
    assert "Gone, and no controller creates them again: solo" in output
    assert "  $ " not in output


def test_a_drain_advises_to_uncordon_an_equal_node(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The drained node is cordoned as well, and a change of it would take the drain back."""
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    nodes = [node("a1", "a"), {**node("a2", "a"), "spec": {"unschedulable": True, "taints": [taint]}}]
    objects = [*nodes, deployment(1), replica_set("web-1", 1, template_hash="1")]

    assert simulate(facts, [*objects, running("web-1", "web-1-a", "a1", template_hash="1")], "drain", "a1") == 1
    assert "Do: uncordon node a2" in capsys.readouterr().out.splitlines()


def test_a_refused_drain_has_its_own_verdict(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    objects = [node("n1", "a"), pod("old", nodeName="n1")]

    assert simulate(facts, objects, "drain", "n1") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "drain n1: kubectl stops before the command is complete"
    assert "node/n1 stays cordoned, and keeps its pods" in lines
    assert simulate(facts, objects, "drain", "n1", "-o", "json") == 1
    (step,) = json.loads(capsys.readouterr().out)["steps"]
    assert step["verdict"] == "refused"


def test_an_empty_directory_is_refused_as_kubectl_does(
    facts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()

    assert simulate(facts, THREE_ZONES, "apply", "-f", str(empty)) == 1
    assert capsys.readouterr().err == (
        f"error: error reading [{empty}]: recognized file extensions are [.json .yaml .yml]\n"
    )


def test_a_deployment_creates_its_deleted_replicaset_again(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """New pods may find their nodes before the garbage collector deletes the old ones."""
    pods = [running("web-abc", f"web-abc-{at}", at, template_hash="abc") for at in ("a1", "b1", "c1")]
    objects = [*THREE_ZONES, deployment(3), replica_set("web-abc", 3, template_hash="abc"), *pods]

    assert simulate(facts, objects, "delete", "rs", "--all", "-n", "app", "-o", "json") == 0
    (step,) = json.loads(capsys.readouterr().out)["steps"]
    (web,) = step["workloads"]
    assert step["notes"] == [
        "Deployment web creates replicaset.apps/web-abc again if its template is the newest",
    ]
    assert (web["verdict"], web["restarted"], web["deleted"]) == ("completes", {"min": 3, "max": 3}, False)
    assert step["lostPods"] == []


def test_a_deleted_claim_of_a_pending_pod_is_created_again(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The new claim has the class of the template, whose provisioner waits for the pod."""
    claims = [{"metadata": {"name": "data"}, "spec": {"storageClassName": "csi", "accessModes": ["ReadWriteOnce"]}}]
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "c", "image": "pause"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "db"}}, "template": template}
    meta = {"name": "db", "namespace": "default", "uid": "db"}
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "db", "controller": True}
    waiting = pod("db-0", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}])
    waiting["metadata"] |= {"labels": {"app": "db"}, "ownerReferences": [owner]}
    objects = [
        node("n1", "a"),
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "csi"},
            "provisioner": "csi.example.com",
            "volumeBindingMode": "WaitForFirstConsumer",
        },
        {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "metadata": meta,
            "spec": {**spec, "volumeClaimTemplates": claims},
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data-db-0", "namespace": "default"},
            "spec": {"storageClassName": "old", "accessModes": ["ReadWriteOnce"]},
        },
        waiting,
    ]

    assert simulate(facts, objects, "delete", "pvc", "data-db-0") == 0
    assert capsys.readouterr().out.startswith(
        "delete pvc data-db-0: completes\n\nStatefulSet default/db completes: 1 of 1 pod ready\n"
    )


def test_the_node_of_a_drain_that_a_budget_refuses_stays_cordoned(capsys: pytest.CaptureFixture[str]) -> None:
    manifest = Path(__file__).parents[3] / "examples" / "simulations" / "manifests" / "web-and-budget.yaml"
    drains = ["drain", "node-a1", "--ignore-daemonsets", "--then", "drain node-b1 --ignore-daemonsets"]

    assert run(["simulate", *drains, "-f", str(manifest), "--topology", "zones=3,nodes=1"]) == 1
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("Pods that do not leave their nodes:")
    assert lines[at + 1].startswith("  web-* on node-b1: The disruption budget web needs 2 healthy pods")
    assert lines[at + 2] == "node-b1 stays cordoned."

    run(["simulate", *drains, "-f", str(manifest), "--topology", "zones=3,nodes=1", "-o", "json"])
    first, second = json.loads(capsys.readouterr().out)["steps"]
    assert (first["verdict"], second["verdict"]) == ("getsStuck", "refused")
    assert [item["node"] for item in second["blockedEvictions"]] == ["node-b1"]


BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"selector": {"matchLabels": {"app": "web"}}},
}


@pytest.mark.parametrize(
    ("least", "third", "commands", "kept"),
    [
        (2, "", ["kubectl uncordon c1"], "2 of 3 pods"),  # The third pod is Pending.
        (3, "c1", ["kubectl scale deployment web -n shop --replicas=4"], "3 of 4 pods"),
        ("100%", "c1", ["kubectl cordon a1", "kubectl rollout restart deployment web -n shop"], "3 of 3 pods"),
    ],
)
def test_what_to_do_before_a_drain_that_a_budget_stops(
    least: int | str, third: str, commands: list[str], kept: str, facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The printed commands are carried out before the drain, which then completes."""
    nodes = [shop.node(name, name[0]) for name in ("a1", "a2", "b1")] + [shop.node("c1", "c", unschedulable=not third)]
    owner = [shop.deployment(shop.constraint(), replicas=3), shop.replica_set()]
    own = [shop.pod(f"web-1-{at}", on) for at, on in enumerate(("a1", "b1", third))]
    objects = [*nodes, *owner, *own, {**BUDGET, "spec": {**BUDGET["spec"], "minAvailable": least}}]

    assert simulate(facts, objects, "drain", "a1") == 1
    out = capsys.readouterr().out
    assert f"Do first, and every step completes, with at least {kept} of Deployment shop/web ready at any time:" in out
    assert [line[4:] for line in out.splitlines() if line.startswith("  $ ")] == commands
    assert "Do: " not in out

    first, *others = [line.removeprefix("kubectl ") for line in (*commands, "drain a1")]
    later = [word for line in others for word in ("--then", line)]
    assert simulate(facts, objects, *shlex.split(first), *later) == 0


def test_nothing_is_advised_that_does_not_let_the_drain_complete(
    facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The drained node is the only one of its zone, so that no new pod may replace its pod."""
    nodes = [shop.node(name, name[0]) for name in ("a1", "b1", "c1")]
    own = [shop.pod(f"web-1-{at}", on) for at, on in enumerate(("a1", "b1", "c1"))]
    budget = {**BUDGET, "spec": {**BUDGET["spec"], "minAvailable": "100%"}}

    owner = [shop.deployment(shop.constraint(), replicas=3), shop.replica_set()]
    assert simulate(facts, [*nodes, *owner, *own, budget], "drain", "a1") == 1
    out = capsys.readouterr().out
    assert "Do first" not in out
    assert "None of the changes that were tried first lets every step complete" in " ".join(out.split())


def test_an_autoscaler_takes_back_replicas_that_a_drain_would_need(
    facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = [shop.node(name, name[0]) for name in ("a1", "a2", "b1", "c1")]
    own = [shop.pod(f"web-1-{at}", on) for at, on in enumerate(("a1", "b1", "c1"))]
    owner = [shop.deployment(shop.constraint(), replicas=3), shop.replica_set()]
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    scaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"minReplicas": 3, "maxReplicas": 9, "scaleTargetRef": target},
    }
    budget = {**BUDGET, "spec": {**BUDGET["spec"], "minAvailable": 3}}

    assert simulate(facts, [*nodes, *owner, *own, budget, scaler], "drain", "a1") == 1
    lines = [line[4:] for line in capsys.readouterr().out.splitlines() if line.startswith("  $ ")]
    assert lines == ["kubectl cordon a1", "kubectl rollout restart deployment web -n shop"]


@pytest.mark.slow
def test_a_scale_to_ten_thousand_pods_is_answered(capsys: pytest.CaptureFixture[str]) -> None:
    """Six nodes have room for 660 pods; the numbers are those of the one outcome."""
    snapshot = Path(__file__).parents[2] / "cases" / "engine" / "ten-thousand.json"

    assert run(["simulate", "scale", "deploy/web", "--replicas=10000", "--snapshot", str(snapshot)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "scale deploy/web --replicas=10000: gets stuck, 9340 pods stay Pending"
    assert any(line.endswith("gets stuck: 660 of 10,000 pods ready, 9340 Pending") for line in lines)


def test_a_pod_of_a_statefulset_stays_on_its_lost_node(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody confirms that it has ended, so its name is taken, and no other pod gets it."""
    manifest = tmp_path / "db.json"
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "c", "image": "pause"}]}}
    spec = {"replicas": 2, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}}, "template": template}
    manifest.write_text(
        json.dumps({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": spec})
    )

    assert run(["simulate", "lose", "zone=a", "-f", str(manifest), "--topology", "zones=2,nodes=1"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[2:4] == [
        "StatefulSet default/db gets stuck: 1 of 2 pods ready, 1 old pod stays Terminating, 1 not created",
        "  db-0 stays Terminating on node-a1, and is not created again before it is gone",
    ]


def test_pods_of_one_workload_that_wait_for_one_reason_are_told_once(
    facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which pods wait differs between outcomes, and their message does not."""
    running_pod = running("web-abc", "web-abc-1", "a1", template_hash="abc")
    waiting = running("web-abc", "web-abc-2", "", template_hash="abc")
    del waiting["spec"]["nodeName"]
    waiting["status"] = {"phase": "Pending"}
    objects = [
        node("a1", "a", pods="1"),
        deployment(2, hard=None),
        replica_set("web-abc", 2, template_hash="abc"),
        running_pod,
        waiting,
    ]

    assert simulate(facts, objects, "delete", "pod", "web-abc-1", "-n", "app") == 1
    lines = capsys.readouterr().out.splitlines()
    begin = lines.index("Pending:")
    assert [line for line in lines if " of Deployment app/web" in line] == [lines[begin + 1]]
    assert lines[begin + 1] == "  2 pods of Deployment app/web"


def test_a_bare_pod_that_waited_before_is_told_apart(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    objects = [node("n1", "a"), node("n2", "a"), pod("solo", nodeSelector={"disk": "ssd"})]

    assert simulate(facts, objects, "cordon", "n1") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "cordon n1: completes"
    assert "Pending:" not in lines
    assert "Pending already before this step: solo" in lines


def test_a_bare_pod_that_finds_a_node_did_not_wait_before(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A step begins when the cluster has settled; of two pods that want one place, either waits before the step."""
    port = {"image": "pause", "ports": [{"hostPort": 80}]}
    first, second = (
        pod(
            name,
            nodeSelector={"disk": "ssd"},
            containers=[{"name": "c", "resources": {"requests": {"cpu": cpu}}, **port}],
        )
        for name, cpu in (("first", "1"), ("second", "2"))
    )
    place = node("n1", "a")
    place["metadata"]["labels"]["disk"] = "ssd"

    assert simulate(facts, [place, node("n2", "a"), first], "cordon", "n1") == 0
    alone = capsys.readouterr().out.splitlines()
    assert simulate(facts, [place, node("n2", "a"), first, second], "cordon", "n1") == 0
    both = capsys.readouterr().out.splitlines()
    assert (alone[0], alone[2]) == ("cordon n1: completes", "No workload changes.")
    title, _, waiting = both[2].partition(": ")
    assert (both[0], title) == ("cordon n1: completes", "Pending already before this step")
    assert sorted(waiting.replace(", pod", "; pod").split("; ")) == [
        "pod first, in 1 of 2 outcomes",
        "pod second, in 1 of 2 outcomes",
    ]


def test_a_name_alone_is_looked_up(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`restart web` is `rollout restart` of the workload with that name, unless several have it."""
    objects = [node("n1", "a"), WEB, pod("solo")]

    assert simulate(facts, objects, "restart", "web", "-n", "app") == 0
    assert capsys.readouterr().out.startswith("rollout restart web: completes\n")
    assert simulate(facts, objects, "delete", "solo") == 0
    other = {**WEB, "kind": "ReplicaSet"}
    assert simulate(facts, [*objects, other], "restart", "web", "-n", "app") == 2
    assert "name one of replicaset.apps/web, deployment.apps/web" in capsys.readouterr().err


WEB = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "app"},
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": "pause"}]},
        },
    },
}


def manifest_of(path: Path, plain: Plain) -> str:
    path.write_text(json.dumps(plain))
    return str(path)


@pytest.mark.parametrize("verb", ["create", "apply", "delete", "scale --replicas=2"])
def test_manifests_of_another_namespace_are_refused_as_kubectl_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    web = manifest_of(tmp_path / "web.json", WEB)
    step = [*verb.split(), "-f", web, "-n", "prod"]

    assert run(["simulate", *step, "--topology", "zones=3,nodes=1"]) == 1
    assert capsys.readouterr().err == (
        'error: the namespace from the provided object "app" does not match the namespace "prod". '
        "You must pass '--namespace=app' to perform this operation.\n"
    )


def test_a_manifest_with_a_negative_number_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web = manifest_of(tmp_path / "web.json", {**WEB, "spec": {**WEB["spec"], "replicas": -1}})  # type: ignore[dict-item]

    assert run(["simulate", "apply", "-f", web, "--topology", "zones=3,nodes=1"]) == 1
    expected = "SPR116 spec.replicas: Invalid value: -1: must be greater than or equal to 0"
    assert expected in capsys.readouterr().err
    assert run(["check", web, "--topology", "zones=3,nodes=1"]) == 1
    assert "error SPR116 spec-invalid" in capsys.readouterr().out


def test_a_new_deployment_tells_which_replicasets_it_adopts(
    facts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    web = manifest_of(tmp_path / "web.json", WEB)
    orphan = replica_set("web-abc", 3, template_hash="abc")
    orphan["metadata"].pop("ownerReferences", None)
    orphan["metadata"].setdefault("labels", {})["app"] = "web"
    objects = [
        *THREE_ZONES,
        orphan,
        *(running("web-abc", f"web-abc-{at}", at, template_hash="abc") for at in ("a1", "b1", "c1")),
    ]

    assert simulate(facts, objects, "create", "-f", web, "-o", "json") == 0
    (step,) = json.loads(capsys.readouterr().out)["steps"]
    assert step["notes"] == ["deployment.apps/web adopts replicaset.apps/web-abc, which no controller has"]


def test_replicasets_of_new_deployments_are_deleted_like_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A new Deployment, and one that a step changes, has ReplicaSets that only the simulation knows."""
    web = manifest_of(tmp_path / "web.json", WEB)
    given = ["-n", "app", "-f", web, "--topology", "zones=3,nodes=1", "-o", "json"]

    assert run(["simulate", "delete", "rs", "--all", *given]) == 0
    (step,) = json.loads(capsys.readouterr().out)["steps"]
    (note,) = step["notes"]
    name = note.split()[3].removeprefix("replicaset.apps/")
    assert note == f"Deployment web creates replicaset.apps/{name} again if its template is the newest"
    assert step["workloads"][0]["restarted"] == {"min": 3, "max": 3}

    assert run(["simulate", "delete", "rs", name, *given]) == 0
    (step,) = json.loads(capsys.readouterr().out)["steps"]
    assert step["workloads"][0]["restarted"] == {"min": 3, "max": 3}

    assert run(["simulate", "scale", "rs", "-l", "app=web", "--replicas=1", *given]) == 1
    error = f"error: Deployment web controls ReplicaSet {name}, and would revert the change\n"
    assert capsys.readouterr().err == error


def test_the_replicaset_of_an_earlier_step_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web = manifest_of(tmp_path / "web.json", WEB)
    given = ["-n", "app", "-f", web, "--topology", "zones=3,nodes=1", "-o", "json"]

    assert run(["simulate", "set", "image", "deploy/web", "c=new", "--then", "delete rs --all", *given]) == 0
    _, second = json.loads(capsys.readouterr().out)["steps"]
    assert len(second["notes"]) == 2
    assert second["workloads"][0]["restarted"] == {"min": 3, "max": 3}


def test_a_paused_deployment_has_no_revision_of_its_changed_template(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both changes become one revision, and `undo` takes both back."""
    web = manifest_of(tmp_path / "web.json", WEB)
    steps = ["set image deploy/web c=second", "set env deploy/web A=1", "rollout resume deploy/web"]
    then = [word for step in (*steps, "rollout undo deploy/web --to-revision=2") for word in ("--then", step)]
    given = ["-n", "app", "-f", web, "--topology", "zones=3,nodes=1"]

    assert run(["simulate", "rollout", "pause", "deploy/web", *then, *given]) == 0
    then[-1] = "rollout undo deploy/web --to-revision=3"
    assert run(["simulate", "rollout", "pause", "deploy/web", *then, *given]) == 1
    assert capsys.readouterr().err == "error: unable to find specified revision 3 in history\n"


def test_an_orphaned_replicaset_is_adopted_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web = manifest_of(tmp_path / "web.json", WEB)
    given = ["-n", "app", "-f", web, "--topology", "zones=3,nodes=1", "-o", "json"]

    assert run(["simulate", "delete", "deploy", "web", "--cascade=orphan", "--then", f"create -f {web}", *given]) == 0
    _, second = json.loads(capsys.readouterr().out)["steps"]
    assert second["notes"][0].startswith("deployment.apps/web adopts replicaset.apps/web-")


@pytest.mark.parametrize(
    "step", ["label pods --all tier=front", "annotate pods -l app=web controller.kubernetes.io/pod-deletion-cost=5"]
)
def test_pods_of_a_manifest_keep_their_labels_and_a_note_says_so(
    step: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    web = manifest_of(tmp_path / "web.json", WEB)

    assert run(["simulate", *step.split(), "-n", "app", "-f", web, "--topology", "zones=3,nodes=1"]) == 0
    note = "not simulated: new labels and annotations of pods that this simulation creates"
    assert note in capsys.readouterr().out.splitlines()


def test_an_orphaned_replicaset_can_be_deleted(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pods = [running("web-abc", f"web-abc-{at}", at, template_hash="abc") for at in ("a1", "b1", "c1")]
    objects = [*THREE_ZONES, deployment(3), replica_set("web-abc", 3, template_hash="abc"), *pods]
    then = ["--then", "delete rs web-abc -n app"]

    assert simulate(facts, objects, "delete", "deploy", "web", "--cascade=orphan", "-n", "app", *then) == 0
    assert "ReplicaSet app/web-abc is deleted; 3 pods gone" in capsys.readouterr().out.splitlines()


def test_an_orphaned_replicaset_can_be_scaled(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing reverts it: its Deployment is gone."""
    pods = [running("web-abc", f"web-abc-{at}", at, template_hash="abc") for at in ("a1", "b1", "c1")]
    objects = [*THREE_ZONES, deployment(3), replica_set("web-abc", 3, template_hash="abc"), *pods]
    then = ["--then", "scale rs web-abc --replicas=4 -n app", "--then", "scale rs web-abc --replicas=1 -n app"]

    assert simulate(facts, objects, "delete", "deploy", "web", "--cascade=orphan", "-n", "app", *then) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[2] for line in lines if "pods ready" in line or "pod ready" in line] == [
        "3 of 3 pods ready",
        "4 of 4 pods ready",
        "1 of 1 pod ready, 3 old pods deleted",
    ]


def stateful(*nodes: str, **spec: Any) -> list[Plain]:
    """A StatefulSet with a pod on each of some nodes."""
    own = {"name": "db", "namespace": "app", "uid": "db"}
    labels = {"app": "db", "controller-revision-hash": "db-1"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "pause"}], **spec}}
    wanted = {"replicas": len(nodes), "selector": {"matchLabels": {"app": "db"}}, "template": template}
    made = [pod(f"db-{at}", nodeName=name, **spec) for at, name in enumerate(nodes)]
    for item in made:
        above = {"apiVersion": "apps/v1", "kind": "StatefulSet", "controller": True, "name": "db", "uid": "db"}
        item["metadata"] |= {"namespace": "app", "labels": labels, "ownerReferences": [above]}
    status = {"currentRevision": "db-1", "updateRevision": "db-1"}
    return [{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": own, "spec": wanted, "status": status}, *made]


def test_what_ends_a_pod_that_stays_terminating(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The safest way comes first, each works as the next step, and a forced deletion names its danger."""
    objects = [node("a1", "a"), node("b1", "b"), *stateful("a1", "b1")]

    assert simulate(facts, objects, "lose", "zone=a") == 1
    lines = capsys.readouterr().out.splitlines()
    ways = [line.removeprefix("  $ kubectl ") for line in lines if line.startswith("  $ ")]
    assert ways == [
        "delete node a1",
        "taint node a1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute",
        "delete pod db-0 -n app --force --grace-period=0",
    ]
    assert "  Afterwards db-0 goes to b1." in lines
    assert any("If a container still runs, two pods write the same" in line for line in lines)
    for way in ways:
        assert simulate(facts, objects, "lose", "zone=a", "--then", way) == 1
        told = capsys.readouterr().out
        assert f"Step 2: {way}: completes" in told
        assert "created again" not in told.partition("Step 2")[2]


def test_a_pod_that_finds_no_other_node_is_not_forced(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No Node object is deleted for it."""
    terms = [{"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "topology.kubernetes.io/zone"}]
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}

    assert simulate(facts, [node("a1", "a"), node("b1", "b"), *stateful("a1", "b1", affinity=apart)], "lose", "zone=a")
    told = capsys.readouterr().out
    assert "db-0 stays Terminating, and finds no node even if the Node objects are deleted: " in told
    assert "  $ " not in told


def test_pods_of_one_name_are_named_with_their_namespaces(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One of them finds another node, and the other does not."""
    others = stateful("a1", nodeSelector={"kubernetes.io/hostname": "a1"})
    for item in others:
        item["metadata"] |= {"namespace": "other", "uid": f"other-{item['kind']}"}
    others[1]["metadata"]["ownerReferences"][0]["uid"] = "other-StatefulSet"

    assert simulate(facts, [node("a1", "a"), node("b1", "b"), *stateful("a1"), *others], "lose", "zone=a") == 1
    told = capsys.readouterr().out
    assert "Do, so that app/db-0 is created again: " in told
    assert "other/db-0 stays Terminating, and finds no node even if the Node objects are deleted: " in told
    assert "Afterwards app/db-0 goes to b1." in told


def test_a_drain_of_a_dead_node_waits_for_pods_that_other_commands_end(
    facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dead, (controller, held) = node("a1", "a"), stateful("a1")
    dead["spec"] = {"taints": [{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]}
    held["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"

    assert simulate(facts, [dead, node("b1", "b"), controller, held], "drain", "a1") == 1
    told = capsys.readouterr().out
    assert "Do instead, so that db-0 is created again: make sure that a1 is switched off, then delete the Node" in told
    assert "  $ kubectl delete node a1\n" in told


@pytest.mark.parametrize("read", ["2026-01-01T00:10:00Z", "2026-01-02T00:00:00Z"])
def test_a_pod_that_is_long_overdue_does_not_end_soon(
    read: str, facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its kubelet answers, and should have ended it; something in the facts is much later than its end."""
    controller, held = stateful("a1")
    held["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    later = pod("later", nodeName="b1")
    later["metadata"]["creationTimestamp"] = read
    objects = [node("a1", "a"), node("b1", "b"), controller, held, later]
    is_overdue = read.startswith("2026-01-02")

    assert simulate(facts, objects, "drain", "a1") == is_overdue
    told = capsys.readouterr().out
    assert ("db-0 on a1: it stays Terminating, and kubectl waits for it" in told) == is_overdue
    way = "  $ kubectl delete pod db-0 -n app --force --grace-period=0\n"
    assert (way in told and "make sure that its containers have ended, then force" in told) == is_overdue
    assert "delete node" not in told


def _with_quota(pods: int, replicas: int) -> list[Plain]:
    """Two pods of a Deployment, in a namespace whose quota counts one more pod that is not known."""
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "team", "namespace": "app"},
        "spec": {"hard": {"pods": str(pods), "requests.cpu": "100"}},
        "status": {"used": {"pods": "3", "requests.cpu": "1"}},
    }
    mine = [running("web-abc", f"web-abc-{at}", f"{at}1", template_hash="abc") for at in "ab"]
    return [*THREE_ZONES, quota, deployment(replicas), replica_set("web-abc", replicas, template_hash="abc"), *mine]


def test_commands_that_help_against_a_quota(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A larger quota, or as many replicas as it admits: each does what it says when it is the next step."""
    scale = ["scale", "deploy/web", "-n", "app", "--replicas=6"]

    assert simulate(facts, _with_quota(4, 2), *scale) == 1
    lines = capsys.readouterr().out.splitlines()
    ways = [line.removeprefix("  $ kubectl ") for line in lines if line.startswith("  $ ")]
    assert ways == [
        """patch resourcequota team -n app --type=merge -p '{"spec":{"hard":{"pods":"7"}}}'""",
        "scale deployment/web -n app --replicas=3",
    ]
    assert "Do: raise the quota; then 6 of 6 pods of Deployment app/web are ready" in lines
    assert "Or: run as many replicas as the quota admits; then 3 of 3 pods of Deployment app/web are ready" in lines
    for way, ready in zip(ways, (6, 3), strict=True):
        simulate(facts, _with_quota(4, 2), *scale, "--then", way)
        last = capsys.readouterr().out.partition("Step 2")[2]
        assert f"Deployment app/web completes: {ready} of {ready} pods ready" in last
        assert "the API server refuses new pods" not in last


def test_a_rollout_that_a_quota_stops_needs_room_for_the_surge(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    objects = _with_quota(3, 2)
    update = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    next(item for item in objects if item["kind"] == "Deployment")["spec"]["strategy"] = update

    assert simulate(facts, objects, "rollout", "restart", "deploy/web", "-n", "app") == 1
    ways = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  $ ")]
    assert ways == ["""  $ kubectl patch resourcequota team -n app --type=merge -p '{"spec":{"hard":{"pods":"4"}}}'"""]


def test_pods_of_parts_are_on_their_own_nodes(
    facts: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part has one node for all that are alike; the pod that stays Terminating is not there."""
    monkeypatch.setattr(engine_run, "_STATES_BEFORE_PARTS", 0)
    monkeypatch.setattr(engine_run, "_FEW_NODES", 0)
    monkeypatch.setattr(engine_run, "_FEW_NEW", -1)
    objects = [node(f"{zone}{at}", zone) for zone in "ab" for at in range(1, 4)]
    for number in range(1, 4):
        own = json.loads(json.dumps(stateful(f"a{number}", "b1")).replace('"db', f'"db{number}'))
        objects += own

    assert simulate(facts, objects, "lose", "zone=a", "--details") == 1
    told = capsys.readouterr().out
    assert all(f"db{at}-0 stays Terminating on a{at}, and is not created again" in told for at in range(1, 4))


def test_a_pod_that_was_pending_before_is_not_the_step_s(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    waiting = running("web-abc", "web-abc-0", "", template_hash="abc")
    waiting["spec"].pop("nodeName")
    waiting["status"] = {"phase": "Pending"}
    full = node("a1", "a")
    full["status"]["allocatable"] = {"cpu": "0", "pods": "9"}
    objects = [deployment(1), replica_set("web-abc", 1, template_hash="abc"), waiting, full]

    assert simulate(facts, objects, "scale", "deploy/web", "-n", "app", "--replicas=3") == 1
    assert "gets stuck: 0 of 3 pods ready, 3 Pending (1 before)\n" in capsys.readouterr().out


def test_a_daemonset_completes_without_its_pods_on_lost_nodes(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They come back with the nodes only, and a rollout waits for them."""
    own = {"name": "agent", "namespace": "app", "uid": "agent"}
    every = {"tolerations": [{"operator": "Exists"}]}
    of_pods = {"containers": [{"name": "c", "image": "pause"}], **every}
    spec = {
        "selector": {"matchLabels": {"app": "agent"}},
        "template": {"metadata": {"labels": {"app": "agent"}}, "spec": of_pods},
    }
    objects = [*THREE_ZONES, {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": own, "spec": spec}]
    above = {"apiVersion": "apps/v1", "kind": "DaemonSet", "controller": True, "name": "agent", "uid": "agent"}
    for zone in "abc":
        made = pod(f"agent-{zone}", nodeName=f"{zone}1", **every)
        made["metadata"] |= {"namespace": "app", "labels": {"app": "agent"}, "ownerReferences": [above]}
        objects.append(made)

    assert simulate(facts, objects, "lose", "zone=a") == 0
    line = "DaemonSet app/agent completes: 2 of 3 pods ready, 1 on a node that does not answer"
    assert line in capsys.readouterr().out
    assert simulate(facts, objects, "lose", "zone=a", "--then", "rollout restart ds/agent -n app") == 1
