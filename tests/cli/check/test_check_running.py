"""`check` of what runs, and of manifests that replace it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.cli.main import run
from tests.cli.running_objects import constraint, deployment, node, pod, replica_set

Plain = dict[str, Any]

ZONES = [node("a1", "a"), node("b1", "b"), node("c1", "c")]
HALF = [node("a1", "a"), node("b1", "b", unschedulable=True)]  # no pod finds a node in b
BESIDE = {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(objects: list[Plain], name: str = "facts.json") -> str:
    Path(name).write_text(json.dumps({"kind": "List", "items": objects}))
    return name


def report(capsys: pytest.CaptureFixture[str], *args: str) -> Plain:
    run(["check", *args, "-o", "json"])
    document: Plain = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schemas.load("check-report"))
    return document


def test_what_runs_is_linted_and_its_drift_and_its_pending_pods_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    honor = constraint(matchLabelKeys=["pod-template-hash"])
    pods = [pod("w-1", "a1"), pod("w-2", "a1"), pod("w-3", nodeSelector={"disk": "ssd"})]
    facts = written([*ZONES, deployment(honor), replica_set(), *pods])
    code = run(["check", "-n", "shop", "--snapshot", facts])
    out, err = capsys.readouterr()

    expected = """\
Pending: Pod shop/w-3 stays Pending: every node is refused by nodeSelector disk=ssd (disk is missing on a1, b1, c1)
  $ kubectl spread explain pod w-3 -n shop --snapshot FACTS  # and what helps

shop/deployment/web:19:7: info SPR507 drops-default-spread
  with these constraints the scheduler no longer spreads over nodes by default, so pods of one zone may share a node
  hint: add a ScheduleAnyway constraint over kubernetes.io/hostname

shop/deployment/web:20:18: info SPR908 running-skew-exceeded
  the running pods are unevenly spread: `a` has 2, and `b` and `c` have 0. That is a skew of 2, and maxSkew is 1
  hint: `kubectl spread rebalance` with the same flags says what to do, as nothing else moves the pods; if they \
were placed again, the numbers could be `a` 1, `b` 1, `c` 0
"""
    assert expected.replace("FACTS", facts) == out
    assert err == "checked 1 workload in namespace shop: 2 findings, 1 pod Pending\n"
    assert code == 1


def test_pending_pods_that_are_alike_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    pods = [pod(f"w-{at}", nodeSelector={"disk": "ssd"}) for at in range(3)]
    facts = written([*ZONES, deployment(constraint()), replica_set(), *pods])
    run(["check", "deploy/web", "-n", "shop", "--snapshot", facts])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Pending:")]

    assert [True] == [line.endswith(" (and 2 more pods of deployment/web)") for line in lines]


def test_a_pod_that_would_fit_now_is_told_and_no_finding(capsys: pytest.CaptureFixture[str]) -> None:
    keyed = constraint(matchLabelKeys=["pod-template-hash"])
    facts = written([*ZONES, deployment(keyed), replica_set(), pod("w-1")])

    assert run(["check", "-n", "shop", "--snapshot", facts]) == 0
    out, err = capsys.readouterr()

    assert out.startswith("Not scheduled yet: Pod shop/w-1 can be scheduled: it fits on 3 nodes (a1, b1, c1)")
    assert "1 pod waits to be scheduled" in err
    assert "Pending" not in err


def test_a_rollout_that_finds_no_place_beside_the_old_pods_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    facts = written([*HALF, deployment(constraint(), replicas=1, **BESIDE), replica_set(), pod("w-1", "a1")])
    document = report(capsys, "-n", "shop", "--snapshot", facts)

    assert [("web", None)] == [(item["object"]["name"], item["removedFirst"]) for item in document["stuckRollouts"]]
    assert document["stuckRollouts"][0]["message"].startswith("0/2 nodes are available: 1 node(s) didn't match pod")
    assert run(["check", "-n", "shop", "--ignore", "SPR", "--snapshot", facts]) == 1


@pytest.mark.parametrize(
    ("changed", "spec"),
    [
        (constraint(matchLabelKeys=["pod-template-hash"]), BESIDE),  # old pods do not count
        (constraint(), {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}),  # the old one goes first
        (constraint(), {"strategy": {"type": "Recreate"}}),
        (constraint(2), BESIDE),
    ],
)
def test_a_rollout_that_gets_on_is_not_told(changed: Plain, spec: Plain, capsys: pytest.CaptureFixture[str]) -> None:
    facts = written([*HALF, deployment(changed, replicas=1, **spec), replica_set(), pod("w-1", "a1")])

    assert [] == report(capsys, "-n", "shop", "--snapshot", facts)["stuckRollouts"]


def stateful(updates: str = "RollingUpdate") -> list[Plain]:
    """Two pods in one zone, where the other one is cordoned since."""
    owner = [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "controller": True}]
    found = deployment(constraint(), replicas=2, updateStrategy={"type": updates})
    found["kind"] = "StatefulSet"
    return [found, *(pod(f"web-{at}", "a1", metadata={"ownerReferences": owner}) for at in range(2))]


def test_a_stateful_set_removes_its_last_pod_first(capsys: pytest.CaptureFixture[str]) -> None:
    document = report(capsys, "-n", "shop", "--snapshot", written([*HALF, *stateful()]))

    assert ["web-1"] == [item["removedFirst"] for item in document["stuckRollouts"]]
    assert [] == report(capsys, "-n", "shop", "--snapshot", written([*HALF, *stateful("OnDelete")]))["stuckRollouts"]


def test_a_manifest_that_changes_the_template_starts_a_rollout(capsys: pytest.CaptureFixture[str]) -> None:
    """Old pods count for its first pod; without a change it is the next rollout that gets stuck."""
    stored = deployment(constraint(), replicas=1, **BESIDE)
    facts = written([*HALF, stored, replica_set(), pod("w-1", "a1")])
    changed = json.loads(json.dumps(stored))
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = "web:2"

    same = report(capsys, "-f", written([stored], "same.json"), "--snapshot", facts)
    new = report(capsys, "-f", written([changed], "new.json"), "--snapshot", facts)

    found = [[(item["rollout"], item["verdict"], item["exact"]) for item in each["rollouts"]] for each in (same, new)]
    assert found == [[("next", "getsStuck", True)], [("change", "getsStuck", True)]]
    assert [1] == [len(item["pods"]) for item in new["placements"]]


def test_a_changed_template_with_revisions_counts_its_own_pods_only(capsys: pytest.CaptureFixture[str]) -> None:
    stored = deployment(constraint(matchLabelKeys=["pod-template-hash"]), replicas=1, **BESIDE)
    facts = written([*HALF, stored, replica_set(), pod("w-1", "a1")])
    changed = json.loads(json.dumps(stored))
    changed["spec"]["replicas"] = 2
    same = report(capsys, "-f", written([changed], "more.json"), "--snapshot", facts)
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = "web:2"
    new = report(capsys, "-f", written([changed], "new.json"), "--snapshot", facts)

    assert [1] == [len(item["pending"]) for item in same["placements"]]
    assert [0] == [len(item["pending"]) for item in new["placements"]]


def test_workloads_are_chosen_as_kubectl_chooses(capsys: pytest.CaptureFixture[str]) -> None:
    facts = written([*ZONES, deployment(constraint(), labels={"team": "x"}), replica_set()])

    for args, number in (
        (["-n", "shop"], 1),
        ([], 1),  # the file's only namespace
        (["-n", "other"], 0),
        (["-A"], 1),
        (["-A", "-l", "team=x"], 1),
        (["-A", "-l", "team=y"], 0),
        (["deploy/web", "-n", "shop"], 1),
    ):
        assert (args, number) == (args, report(capsys, *args, "--snapshot", facts)["checked"]["workloads"])


def test_a_file_is_a_file_though_it_looks_like_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    Path("deploy").mkdir()
    manifest = deployment(constraint())
    Path("deploy/web").write_text(json.dumps(manifest))

    assert ["deploy/web"] == list({item["file"] for item in report(capsys, "deploy/web")["findings"]})


@pytest.mark.parametrize("args", [["-A"], ["-n", "shop"], ["deploy/web"], ["-l", "app=web"], ["--live"]])
def test_without_a_cluster_there_is_nothing_to_check(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", *args]) == 3
    assert capsys.readouterr().err.startswith("error: no cluster is configured: ")


NOTHING = (
    "name a file or directory to check, or - for standard input; or put `paths` in .kubectl-spread.yaml; "
    "or name a cluster whose workloads to check, with --kubeconfig or --snapshot"
)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], f"error: {NOTHING}\n"),
        (["-A", "web.yaml"], "error: -A, -l and TYPE/NAME check running workloads; they cannot"),
        (["deploy/web", "-f", "web.yaml"], "error: -A, -l and TYPE/NAME check running workloads; they cannot"),
        (["-A", "-n", "shop", "--snapshot", "f"], "error: --namespace and --all-namespaces exclude each other"),
        (["-A", "--fix", "--snapshot", "f"], "error: running workloads have no file: --fix, --diff and --show-files"),
        (["-l", "a=(", "--snapshot", "f"], "error: unable to parse requirement: "),
    ],
)
def test_wrong_usage(args: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", *args]) == 2
    assert capsys.readouterr().err.startswith(message)


def test_what_is_named_and_is_not_there_is_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["check", "deploy/nope", "-n", "shop", "--snapshot", written(ZONES)])

    assert code == 1
    assert capsys.readouterr().err.startswith(
        'error: deployments.apps "nope" not found in namespace "shop" of the cluster facts\n'
    )


def test_of_what_only_pods_tell_is_said_so(capsys: pytest.CaptureFixture[str]) -> None:
    run(["check", "-n", "shop", "--snapshot", written([*ZONES, replica_set(), pod("w-1", "a1")])])

    assert (
        "note: the snapshot has the pods of deployment/web but not the Deployment, so it was not checked"
        in capsys.readouterr().err
    )


def test_an_annotation_of_the_cluster_suppresses(capsys: pytest.CaptureFixture[str]) -> None:
    owner = deployment(constraint())
    owner["metadata"]["annotations"] = {"spread.kubectl.io/ignore": "SPR401 we roll by hand"}
    document = report(capsys, "-A", "--snapshot", written([*ZONES, owner, replica_set()]))

    assert "SPR401" not in {item["code"] for item in document["findings"]}
    assert document["checked"]["ignored"] == 1


HOSTILE = 'x\x1b[31m"\\\n\x9bred\u202e'


@pytest.mark.parametrize("output", ["text", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit"])
def test_names_of_the_cluster_cannot_move_the_cursor(output: str, capsys: pytest.CaptureFixture[str]) -> None:
    evil = deployment(constraint(topologyKey=HOSTILE), replicas=2)
    evil["metadata"]["name"] = HOSTILE
    evil["metadata"]["namespace"] = f"{HOSTILE}/../.."
    waiting = pod(HOSTILE, metadata={"ownerReferences": [], "namespace": HOSTILE}, nodeSelector={HOSTILE: HOSTILE})
    facts = written([*ZONES, node("e1", HOSTILE), evil, replica_set(), waiting, pod("w-1", "a1")])
    run(["check", "-A", "-o", output, "--snapshot", facts])
    out, err = capsys.readouterr()

    assert out.replace("\n", "").isprintable()
    assert err.replace("\n", "").isprintable()
    assert out
    if output in ("json", "sarif", "gitlab"):
        json.loads(out)
    if output == "jsonl":
        assert [json.loads(line) for line in out.splitlines()]


def quota(pods: str) -> Plain:
    """A limit of pods in the namespace, all of it used."""
    metadata = {"name": "few", "namespace": "shop"}
    return {
        "kind": "ResourceQuota",
        "metadata": metadata,
        "spec": {"hard": {"pods": pods}},
        "status": {"hard": {"pods": pods}, "used": {"pods": pods}},
    }


REFUSED = 'pods "web-1" is forbidden: exceeded quota: few, requested: pods=1, used: pods=0, limited: pods=0'
HEADLINE = "Deployment shop/web: 0 of 3 replicas placed, 3 refused"


def told(output: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What is said of a manifest whose pods a quota refuses."""
    manifest = written([deployment(constraint(), replicas=3)], "web.json")
    run(["check", manifest, "-o", output, "--snapshot", written([*ZONES, quota("0")])])
    return capsys.readouterr().out


def test_github_hears_of_refused_pods(capsys: pytest.CaptureFixture[str]) -> None:
    assert f"::error title=Refused::{HEADLINE}: {REFUSED}" in told("github", capsys).splitlines()


def test_junit_fails_for_refused_pods(capsys: pytest.CaptureFixture[str]) -> None:
    root = ET.fromstring(told("junit", capsys))
    (suite,) = (suite for suite in root if suite.get("name") == "placement")
    (failure,) = suite.iter("failure")

    assert (suite.get("failures"), failure.get("type")) == ("1", "Refused")
    assert failure.get("message") == f"{HEADLINE}: {REFUSED}"


def test_sarif_tells_of_refused_pods(capsys: pytest.CaptureFixture[str]) -> None:
    """They are not results, because they have no place in a file; the run itself was successful."""
    (invocation,) = json.loads(told("sarif", capsys))["runs"][0]["invocations"]

    assert invocation["executionSuccessful"]
    assert invocation["toolExecutionNotifications"] == [
        {"level": "warning", "message": {"text": f"Refused: {HEADLINE}: {REFUSED}"}}
    ]


def test_junit_has_a_case_for_each_trouble_of_what_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """A Pending pod fails, as in the other formats."""
    pods = [pod("w-1", "a1"), pod("w-2", "b1"), pod("w-3", nodeSelector={"disk": "ssd"})]
    facts = written([*ZONES, deployment(constraint()), replica_set(), *pods])
    run(["check", "-n", "shop", "--snapshot", facts, "-o", "junit"])
    root = ET.fromstring(capsys.readouterr().out)
    (suite,) = (suite for suite in root if suite.get("name") == "cluster")
    (case,) = suite
    (failure,) = case

    assert (case.get("name"), suite.get("failures")) == ("Running deployment/web", "1")
    assert str(failure.get("message")).startswith("Pending: Pod shop/w-3 stays Pending: every node is refused by")


def test_a_quota_of_claims_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """It may refuse the claims of a StatefulSet, and is not counted."""
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    database = deployment(constraint(), replicas=1)
    database["kind"] = "StatefulSet"
    database["spec"] |= {"serviceName": "db", "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": asked}]}
    limit = {"persistentvolumeclaims": "1"}
    few = {"kind": "ResourceQuota", "metadata": {"name": "few", "namespace": "shop"}, "spec": {"hard": limit}}
    facts = written([*ZONES, few])
    said = "quota shop/few limits claims, which are not counted: the API server may refuse some of them"
    run(["check", written([database], "db.json"), "--snapshot", facts])
    with_claims = capsys.readouterr().err
    run(["check", written([deployment(constraint(), replicas=1)], "web.json"), "--snapshot", facts])

    assert said in with_claims
    assert said not in capsys.readouterr().err


@pytest.mark.parametrize(("key", "words"), [("not-ready", "not ready"), ("unreachable", "unreachable")])
def test_a_node_that_is_down_is_named(key: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A bound pod that has not started waits for a kubelet that does not answer."""
    down = node("a1", "a", taints=[{"key": f"node.kubernetes.io/{key}", "effect": "NoSchedule"}])
    starting = {**pod("w-1", "a1"), "status": {"phase": "Pending"}}
    run(["explain", "pod", "w-1", "-n", "shop", "--snapshot", written([down, starting])])

    first, *_ = capsys.readouterr().out.splitlines()
    assert first == (
        f"Pod shop/w-1 is bound to node a1, which is {words}. The kubelet of a1 has to start it, and does not answer."
    )


def autoscaler(least: int, most: int) -> Plain:
    """One that scales the Deployment."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"scaleTargetRef": target, "minReplicas": least, "maxReplicas": most},
    }


@pytest.mark.parametrize(("written_replicas", "placed"), [(1, 3), (4, 4), (9, 5), (0, 0)])
def test_an_autoscaler_of_the_cluster_bounds_the_replicas(
    written_replicas: int, placed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """It exists in the cluster only; 0 replicas turn it off."""
    manifest = written([deployment(constraint(), replicas=written_replicas)], "web.json")
    document = report(capsys, manifest, "--snapshot", written([*ZONES, autoscaler(3, 5)]))

    assert [item["replicas"] for item in document["placements"]] == [placed]


def test_an_autoscaler_of_the_manifest_wins(capsys: pytest.CaptureFixture[str]) -> None:
    """It is applied together with the workload."""
    manifest = written([deployment(constraint(), replicas=1), autoscaler(2, 2)], "web.json")
    document = report(capsys, manifest, "--snapshot", written([*ZONES, autoscaler(3, 5)]))

    assert [item["replicas"] for item in document["placements"]] == [2]


def test_directory_without_manifests_says_what_it_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "facts"
    folder.mkdir()
    (folder / "notes.txt").write_text("x")

    assert run(["check", "-A", "--snapshot", str(folder)]) == 3
    assert capsys.readouterr().err == (
        f"error: {folder}: no .yaml, .yml or .json file in the directory, only notes.txt\n"
    )


def test_the_numbers_after_another_placement_count_the_same_pods(capsys: pytest.CaptureFixture[str]) -> None:
    """Those of another workload, too, which the constraint counts."""
    keyed = constraint(matchLabelKeys=[])
    other = [pod(f"o-{at}", f"{zone}1", owner="other") for at, zone in enumerate("aab")]
    facts = written([*ZONES, deployment(keyed), replica_set(), pod("w-1", "a1"), pod("w-2", "a1"), *other])
    run(["check", "-n", "shop", "--snapshot", facts])
    out = capsys.readouterr().out

    assert "`a` has 4, and `c` has 0" in out
    assert "the numbers could be `a` 2, `b` 2, `c` 1" in out


def test_what_runs_changes_no_immutable_field(capsys: pytest.CaptureFixture[str]) -> None:
    labels = {"app": "j"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "c"}]}}
    metadata = {"name": "j", "namespace": "shop"}
    selector = {"matchLabels": labels}
    facts = written([
        node("a1", "a"),
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": template}},
        {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "metadata": metadata,
            "spec": {"selector": selector, "serviceName": "j", "template": template},
        },
    ])  # fmt: skip
    found = report(capsys, "-A", "--snapshot", facts)

    assert "SPR919" not in {item["code"] for item in found["findings"]}
