"""`kubectl spread guarantee`, and policies in `status` and `check`."""

from __future__ import annotations

import functools
import json
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from kubectl_spread import schemas
from kubectl_spread.cli.main import run
from tests.manifests import DEPLOYMENT, ZONES

REDIS = Path(__file__).parents[3] / "examples/simulations/redis/manifests"
SHARES = ("--less-than", "hostname=1/3", "--less-than", "zone=1/2", "--separate", "zone")
THREE = ("-f", str(REDIS / "3-zones-3-shards.yaml"), "--topology", "zones=3,nodes=2")


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run(["guarantee", *words])
    out, err = capsys.readouterr()
    return code, out, err


def report(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    _, out, _ = said(capsys, *words, "-o", "json")
    found: dict[str, Any] = json.loads(out)
    jsonschema.validate(found, schemas.load("guarantee-report"))
    return found


def test_three_shards_keep_the_shares_and_can_wait_for_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    """The seed's deadlock is the shortest way to a Pending pod."""
    code, out, err = said(capsys, *THREE, *SHARES, "--regime", "creation")

    assert (code, err) == (1, "")
    assert (
        out
        == f"""\
Policy of the command line: own rules proved; implied rule refuted: every pod finds a node
  $ kubectl spread simulate apply -f {THREE[1]} --topology zones=3,nodes=2  # why pods stay Pending

Group default/redis-0 and 2 more: StatefulSet default/redis-0, StatefulSet default/redis-1, StatefulSet default/redis-2;
  6 pods

  rule                                      creation
  less than 1/3 of the pods on one node     proved
  less than 1/2 of the pods in one zone     proved
  pods of one workload in different zones   proved
  every pod finds a node                    refuted

every pod finds a node:
  creation: refuted: 1 pod stays Pending
    The shortest way there, starting without pods:
    1. Pods go to nodes: redis-0-0 to node-a1, redis-1-0 to node-b1, redis-2-0 to node-c1, redis-2-1 to node-b2,
       redis-1-1 to node-c2.
    2. 1 pod of redis-0 finds no node, and stays Pending.
    Pods by zone at the end: a=1 b=2 c=2.

More: --recommend looks for constraints that keep the policy; --details shows how each rule was proved, and what was
  assumed.
"""
    )


def test_relaxed_shares_end_the_deadlock(capsys: pytest.CaptureFixture[str]) -> None:
    """With `at most` all rules are proved in every regime but scaling, which has no range."""
    shares = ("--at-most", "hostname=1/3", "--at-most", "zone=1/2", "--separate", "zone")
    manifest = str(REDIS / "3-zones-3-shards-relaxed.yaml")
    found = report(capsys, "-f", manifest, "--topology", "zones=3,nodes=2", *shares)

    assert found["verdict"] == "proved"
    assert [item["verdict"] for item in found["groups"][0]["regimes"]] == [
        "proved",
        "proved",
        "proved",
        "notApplicable",
        "proved",
    ]


@pytest.mark.parametrize(
    ("manifest", "topology", "rules", "skews"),
    [
        ("1-zone-3-shards", "zones=1,nodes=6", ("--less-than", "hostname=1/3"), {"kubernetes.io/hostname": 1}),
        ("1-zone-6-shards", "zones=1,nodes=12", ("--less-than", "hostname=1/3"), {"kubernetes.io/hostname": 3}),
        (
            "1-zone-6-shards",
            "zones=1,nodes=6",
            ("--less-than", "hostname=1/3"),
            {"kubernetes.io/hostname": 2},
        ),
    ],
)
def test_the_formula_of_the_nodes_is_recommended(
    manifest: str, topology: str, rules: tuple[str, ...], skews: dict[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    """N/3, one less where 3 divides N; less if no node is empty at the end. No second constraint comes on top."""
    paths = ("-f", str(REDIS / f"{manifest}.yaml"), "--topology", topology)
    found = report(capsys, *paths, *rules, "--recommend", "--regime", "creation", "--regime", "restarts")
    advice = found["groups"][0]["recommendation"]
    best = advice["options"][0]

    assert {item["topologyKey"]: item["maxSkew"] for item in best["constraints"]} == skews
    assert best["soft"] == []
    assert not advice["relaxed"]


def test_the_deadlock_is_why_three_shards_need_relaxed_rules(capsys: pytest.CaptureFixture[str]) -> None:
    """The strict formulas are 1 by node and 2 by zone. With relaxed rules, one number changes: 2 by node."""
    found = report(capsys, *THREE, *SHARES, "--recommend", "--regime", "creation", "--regime", "restarts")
    advice = found["groups"][0]["recommendation"]
    refused = advice["refused"]

    assert [(item["topologyKey"], item["maxSkew"]) for item in refused["constraints"]] == [
        ("kubernetes.io/hostname", 1),
        ("topology.kubernetes.io/zone", 2),
    ]
    assert refused["verdict"]["rule"]["kind"] == "placed"
    assert advice["relaxed"]
    assert [item["maxSkew"] for item in advice["options"][0]["constraints"]] == [2, 2]
    assert advice["options"][0]["changes"] == 1


def test_recommended_constraints_can_be_pasted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A manifest with the fields of the patch keeps the policy."""
    manifest = tmp_path / "web.yaml"
    text = WEB.replace("  selector", "  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}\n  selector")
    manifest.write_text(text, encoding="utf-8")
    facts = ("-f", str(manifest), "--topology", "zones=3,nodes=2")
    rules = ("--at-most", "zone=1/2", "--regime", "creation", "--regime", "restarts", "--regime", "rollouts")
    before = report(capsys, *facts, *rules, "--recommend")
    option = before["groups"][0]["recommendation"]["options"][0]
    yaml = YAML(typ="safe")
    plain = yaml.load(text)
    plain["spec"]["template"]["spec"] |= option["patches"][0]["patch"]["spec"]["template"]["spec"]
    manifest.write_text(json.dumps(plain), encoding="utf-8")
    after = report(capsys, *facts, *rules)

    assert (before["verdict"], after["verdict"]) == ("refuted", "proved")


def test_constraints_that_hold_once_settled_are_recommended(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A zone may hold 4 pods while a rollout runs, but with matchLabelKeys no more than 3 once it is over."""
    manifest = tmp_path / "web.yaml"
    manifest.write_text(WEB, encoding="utf-8")
    words = ("-f", str(manifest), "--topology", "zones=3,nodes=2", "--at-most", "zone=1/2", "--recommend")
    found = report(capsys, *words)["groups"][0]["recommendation"]
    option = found["options"][0]
    rules = {item["regime"]: item["rules"][0] for item in option["regimes"]}

    assert not found["exceptInRollouts"]
    assert option["constraints"][0]["matchLabelKeys"] == ["pod-template-hash"]
    assert (rules["rollouts"]["verdict"], rules["rollouts"]["settled"]["verdict"]) == ("refuted", "proved")


NEAREST = "zon is neither zone, node or region nor a label such as example.com/rack; did you mean `zone`?"

WEB = DEPLOYMENT.replace("replicas: 3", "replicas: 6")

POLICY = """\
apiVersion: kubectl-spread/v1
kind: Policy
name: ha
groups:
- maxShare: {zone: <1/2}
"""


def test_a_policy_file_is_judged_as_junit(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A refuted rule is a failure with its events; scaling without a range is skipped."""
    (tmp_path / "web.yaml").write_text(WEB, encoding="utf-8")
    (tmp_path / "ha.yaml").write_text(POLICY, encoding="utf-8")
    words = ("--policy", str(tmp_path / "ha.yaml"), "-R", "-f", str(tmp_path / "web.yaml"))
    code, out, _ = said(capsys, *words, "--topology", "zones=3,nodes=2", "-o", "junit")
    suite = ET.fromstring(out).find("testsuite")

    assert code == 1
    assert suite is not None
    assert dict(suite.attrib) == {"name": "default/web", "tests": "10", "failures": "4", "skipped": "2"}
    failure, *others = suite.findall("testcase/failure")
    assert failure.get("message") == "zone b holds 3 of 6 pods; 2 allowed"
    assert (failure.text or "").startswith("6 pods of web go to node-a1, node-b1, ")
    assert {other.text for other in others} == {"Refuted already by creation: see there."}


def test_nodes_of_a_way_are_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    folder = REDIS.parents[2] / "scenarios/soft-constraint-outvoted"
    facts = ("-f", str(folder / "before.yaml"), "--topology", str(folder / "cluster.yaml"))
    _, out, _ = said(capsys, *facts, "--at-most", "zone=1/2", "--regime", "creation")

    assert "1. 4 pods of web go to a1, b1 (3)." in out


def test_scaling_down_breaks_a_bound(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Evenly spread pods stay uneven when the ReplicaSet deletes others."""
    text = WEB.replace("containers:", "topologySpreadConstraints: [" + ZONE_SPREAD + "]\n      containers:")
    (tmp_path / "web.yaml").write_text(text, encoding="utf-8")
    facts = ("-f", str(tmp_path / "web.yaml"), "--topology", "zones=3,nodes=2", "--at-most", "zone=1/2")
    found = report(capsys, *facts, "--replicas", "2..6", "--regime", "restarts", "--regime", "scaling")
    first, second = (item["rules"][0] for item in found["groups"][0]["regimes"])

    assert (first["verdict"], first["method"]) == ("proved", "bound")
    assert (second["verdict"], second["firstRegime"]) == ("refuted", "scaling")
    assert any(event["kind"] == "scaled" for event in second["witness"]["events"])


ZONE_SPREAD = (
    "{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, "
    "labelSelector: {matchLabels: {app: web}}}"
)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name a policy: --policy FILE, or rules such as --less-than zone=1/2"),
        (("--survive", "zone"), "--survive zone needs --keep: the pods that must be left, as quorum, 50% or 2"),
        (
            ("--survive", "", "--keep", "1"),
            "--survive '' --keep 1: the empty text is not a label key: name part must be non-empty",
        ),
        (
            ("--survive", "zone", "--keep", "-1"),
            "--survive zone --keep -1: -1 is neither a share nor a number of pods: write quorum, 50% or 2",
        ),
        (
            ("--max-count", "zone=99999999"),
            "invalid value for '--max-count': 99999999: the largest number is 9,999,999",
        ),
        (("--keep", "2", "--max-count", "zone=1"), "--keep is for --survive: write --survive zone --keep quorum"),
        (("--at-most", "rack=1/2"), "no node has the label rack"),
        (("--at-most", "zon=1/2"), f"invalid value for '--at-most': {NEAREST}"),
    ],
)
def test_wrong_usage_is_one_clear_message(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 2."""
    code, out, err = said(capsys, *THREE, *words)

    assert (code, out) == (2, "")
    assert err.splitlines()[0] == f"error: {message}"


def test_a_wrong_policy_file_names_line_and_column(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """So does a topology key that no node has."""
    file = tmp_path / "ha.yaml"
    file.write_text(POLICY.replace("zone:", "example.com/zone:"), encoding="utf-8")
    code, _, err = said(capsys, *THREE, "--policy", str(file))

    assert code == 2
    assert err.startswith(f"error: {file}:5:")


def test_check_reports_a_refuted_policy_of_the_configuration(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rule needs cluster facts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".kubectl-spread.yaml").write_text("policies: [ha.yaml]\nselect: [SPR918]\n", encoding="utf-8")
    (tmp_path / "ha.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "web.yaml").write_text(WEB, encoding="utf-8")

    assert run(["check", "web.yaml", "--topology", "zones=3,nodes=2", "-o", "concise"]) == 1
    assert "SPR918" in capsys.readouterr().out
    assert run(["check", "web.yaml", "-o", "concise"]) == 0


def test_status_checks_running_pods(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Also as metrics, with which the exit code is 0."""
    (tmp_path / "ha.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "facts.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": _facts()}))
    words = ["status", "-n", "shop", "--snapshot", str(tmp_path / "facts.json"), "--policy", str(tmp_path / "ha.yaml")]

    assert run(words) == 1
    assert (
        capsys.readouterr().out
        == """\
Policy ha: violated by 1 of 1 group

GROUP            RULE                                    STATUS     PODS
StatefulSet/db   less than 1/2 of the pods in one zone   violated   2 of 3 in one zone (a), 1 allowed
StatefulSet/db   every pod finds a node                  ok         0 pods Pending
"""
    )
    assert run([*words, "--no-headers"]) == 1
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["StatefulSet/db"] * 2
    assert run([*words, "-o", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schemas.load("status-report"))
    assert document["policy"]["kept"] is False
    assert run([*words, "-o", "html"]) == 1
    assert "<h2>Policy ha: violated</h2>" in capsys.readouterr().out
    assert run([*words, "-o", "prometheus"]) == 0
    out = capsys.readouterr().out
    labels = (
        'policy="ha",namespace="shop",group="StatefulSet/db",rule="maxShare",topology_key="topology.kubernetes.io/zone"'
    )
    assert (
        f'kubectl_spread_policy_violated{{{labels},text="less than 1/2 of the pods in one zone"}} 1' in out.splitlines()
    )


def _facts() -> list[dict[str, Any]]:
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": name[0]}},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
        }
        for name in ("a1", "b1")
    ]
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "c", "image": "c"}]}}
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "db"}}, "template": template}
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "controller": True, "uid": "s"}
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"db-{at}",
                "namespace": "shop",
                "uid": f"u{at}",
                "labels": {"app": "db"},
                "ownerReferences": [owner],
            },
            "spec": {**template["spec"], "nodeName": node},
            "status": {"phase": "Running"},
        }
        for at, node in enumerate(("a1", "a1", "b1"))
    ]
    stateful = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": "shop"}}
    return [*nodes, {**stateful, "spec": spec}, *pods]


def test_only_scaling_without_a_range_is_not_called_proved(capsys: pytest.CaptureFixture[str]) -> None:
    """No number of replicas changes, so there is nothing to prove; the answer names the missing option."""
    code, out, err = said(capsys, *THREE, "--at-most", "zone=1/2", "--allow-pending", "--regime", "scaling")

    assert (code, err) == (0, "")
    assert out.startswith("Policy of the command line: nothing to decide\n")
    why = (
        "scaling of StatefulSet redis-0, StatefulSet redis-1, StatefulSet redis-2 was not checked: add --replicas "
        "MIN..MAX"
    )
    assert out.endswith("not checked\n\nScaling was not checked: --replicas MIN..MAX adds it.\n")

    _, page, _ = said(capsys, *THREE, "--at-most", "zone=1/2", "--regime", "scaling", "-o", "html")
    assert "<title>Policy of the command line: nothing to decide</title>" in page
    assert why in page

    found = report(capsys, *THREE, "--at-most", "zone=1/2", "--regime", "scaling")
    (group,) = found["groups"]
    assert (found["verdict"], group["verdict"]) == ("notApplicable", "notApplicable")
    assert [item["name"] for item in group["unscaled"]] == ["redis-0", "redis-1", "redis-2"]
    assert group["notes"] == [why]


@pytest.mark.parametrize(
    ("spread", "proof"),
    [
        (True, "the zone with the fewest pods has room for 9 pods, and holds at most 1 other pod"),
        (False, "the allowed nodes have room for 27 pods, and hold at most 3 other pods"),
    ],
)
def test_room_for_every_pod_is_told_with_its_numbers(
    spread: bool,
    proof: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Required anti-affinity lets each node take one pod of the workload."""
    labels = {"matchLabels": {"app": "web"}}
    apart = [{"labelSelector": labels, "topologyKey": "kubernetes.io/hostname"}]
    constraint = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": labels,
    }
    spec = {
        "containers": [{"name": "c", "image": "web"}],
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": apart}},
        "topologySpreadConstraints": [constraint] if spread else [],
    }
    template = {"metadata": {"labels": {"app": "web"}}, "spec": spec}
    web = {"replicas": 4, "selector": labels, "template": template}
    path = tmp_path / "web.json"
    path.write_text(
        json.dumps({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": web})
    )
    run(["guarantee", "-f", str(path), "--topology", "zones=3,nodes=9", "--at-most", "zone=1/2", "--details"])

    assert f"creation, restarts: proved: {proof}" in capsys.readouterr().out


ETCD = ("-f", str(REDIS.parents[1] / "manifests" / "etcd.yaml"), "--topology", "zones=3,nodes=2")
QUORUM = ("--survive", "zone", "--keep", "quorum")


def test_enough_are_left_and_others_find_nodes_are_two_rules(capsys: pytest.CaptureFixture[str]) -> None:
    """The zone constraint counts the lost zone, so that its pods wait; the other pods are enough."""
    code, out, _ = said(capsys, *ETCD, *QUORUM)
    assert code == 1
    answer = "own rules proved; implied rule refuted: every pod finds a node while 1 zone is lost"
    assert out.startswith(f"Policy of the command line: {answer}\n")
    assert " a quorum left after losing 1 zone, if all have a node proved " in " ".join(out.split())
    (group,) = report(capsys, *ETCD, *QUORUM)["groups"]
    kinds = {rule["rule"]["kind"]: rule["verdict"] for rule in group["regimes"][-1]["rules"]}
    assert kinds == {"survive": "proved", "replaced": "refuted", "placed": "proved"}

    code, out, _ = said(capsys, *ETCD, *QUORUM, "--allow-pending")
    assert (code, out.splitlines()[0]) == (0, "Policy of the command line: proved (scaling not checked)")


def test_a_pod_that_is_lost_with_its_node_is_not_evicted(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, *ETCD, *QUORUM)[1]
    assert "is created again, as node-a1 is lost (assumed: its Node is deleted or out of service)." in " ".join(
        out.split()
    )
    assert "evicted" not in out


@pytest.mark.skipif(sys.platform == "win32", reason="no signals for one process")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_search_that_is_ended_prints_what_is_known(number: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "web.yaml"
    path.write_text(DEPLOYMENT.replace("replicas: 3", "replicas: 30"))
    rules = [*SHARES, "--min-domains", "zone=3", "--survive", "hostname=2", "--keep", "50%", "--replicas", "20..30"]
    args = ["guarantee", "-f", str(path), "--topology", "zones=5,nodes=12,cpu=1", *rules, "--effort", "thorough"]
    for wait_s in (1.5, 4, 15, 40):  # the search must have begun
        running = subprocess.Popen(
            [sys.executable, "-m", "kubectl_spread", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        time.sleep(wait_s)
        running.send_signal(number)
        out, err = running.communicate(timeout=120)
        if out:
            break

    assert (running.returncode, err) == (130, "")
    assert out.startswith("The search was interrupted: this is what is known so far.\n\nPolicy of the command line: ")


def test_of_several_groups_each_result_has_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Groups with equal results are named together. Tables and ways are of one group, or of --details."""
    path, policy = tmp_path / "all.yaml", tmp_path / "ha.yaml"
    one = DEPLOYMENT.replace("replicas: 3", "replicas: 1").replace("web", "one")
    texts = [one, *(DEPLOYMENT.replace("web", f"web-{number}") for number in range(8))]
    path.write_text("---\n".join(texts), encoding="utf-8")
    policy.write_text(POLICY, encoding="utf-8")
    _, out, _ = said(capsys, "-f", str(path), "--topology", "zones=3,nodes=2", "--policy", str(policy))

    assert out.startswith(
        """\
Policy ha: refuted: less than 1/2 of the pods in one zone (all 9 groups)

less than 1/2 of the pods in one zone:
  refuted: default/one: zone a holds 1 of 1 pod; 0 allowed
  refuted: default/web-0, default/web-1, default/web-2 and 5 more: zone b holds 2 of 3 pods; 1 allowed

every pod finds a node (implied):
  proved: default/one, default/web-0, default/web-1 and 6 more

"""
    )


def test_groups_of_one_name_are_told_apart(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Each workload of a named specification is a group. Implied rules come after those of all specifications."""
    path, policy = tmp_path / "all.yaml", tmp_path / "ha.yaml"
    path.write_text("---\n".join(DEPLOYMENT.replace("web", name) for name in ("web", "api")), encoding="utf-8")
    each = "  each: true\n  minDomains: {zone: 1}\n"
    policy.write_text(f"{POLICY.rstrip()}\n  name: own\n- name: all\n{each}", encoding="utf-8")
    _, out, _ = said(capsys, "-f", str(path), "--topology", "zones=3,nodes=2", "--policy", str(policy))

    assert out.startswith(
        """\
Policy ha: refuted: less than 1/2 of the pods in one zone (both groups)

less than 1/2 of the pods in one zone:
  refuted: default/api, default/web: zone b holds 2 of 3 pods; 1 allowed

pods in at least 1 zone, if all have a node:
  proved: default/api, default/web

every pod finds a node (implied):
  proved: default/api, default/web

"""
    )


def test_of_several_groups_each_says_when_its_verdict_holds_and_what_was_not_checked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """With matchLabelKeys, only a rollout under way leaves too many pods in a zone."""
    spread = f"{ZONES}        matchLabelKeys: [pod-template-hash]\n"
    path, policy = tmp_path / "all.yaml", tmp_path / "ha.yaml"
    path.write_text(f"{WEB}{spread}---\n{WEB.replace('web', 'api')}", encoding="utf-8")
    groups = (("web", ""), ("api", "\n  replicas: 6..7"))
    policy.write_text(
        "apiVersion: kubectl-spread/v1\nkind: Policy\nname: ha\ngroups:\n"
        + "".join(
            f"- name: {name}\n  selector: {{matchLabels: {{app: {name}}}}}\n  maxShare: {{zone: 1/2}}{more}\n"
            for name, more in groups
        ),
        encoding="utf-8",
    )
    _, out, _ = said(capsys, "-f", str(path), "--topology", "zones=3,nodes=2", "--policy", str(policy))

    assert "\n  refuted: default/api: zone " in out
    assert "\n  proved once settled, refuted while pods move: default/web: zone " in out
    assert "\nScaling of default/web was not checked: --replicas MIN..MAX adds it.\n" in out


def test_many_groups_have_a_short_answer(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Also with recommendations, of which the first with a command is in the first twelve lines."""
    texts = [
        DEPLOYMENT.replace("web", f"web-{number}").replace("replicas: 3", f"replicas: {number}")
        for number in range(1, 13)
    ]
    path = tmp_path / "all.yaml"
    path.write_text("---\n".join(texts), encoding="utf-8")
    rules = ("--less-than", "zone=1/2", "--min-domains", "zone=2", "--max-count", "node=3", "--effort", "quick")
    words = ("-f", str(path), "--topology", "zones=3,nodes=2", *rules, "--regime", "creation")
    for more in ((), ("--recommend",)):
        _, out, _ = said(capsys, *words, *more)
        lines = out.splitlines()
        assert len(lines) <= 30
        assert ("$ kubectl patch" in "\n".join(lines[:12])) is bool(more)


def test_what_is_refuted_of_the_own_rules_is_named_first(capsys: pytest.CaptureFixture[str]) -> None:
    """Every pod finds a node is a rule that no policy writes."""
    crowded = ("--topology", "zones=3,nodes=2,pods=1", "--at-most", "zone=1/9", "--regime", "creation")
    _, out, _ = said(capsys, "-f", str(REDIS / "3-zones-6-shards.yaml"), *crowded)

    own, implied = "refuted: at most 1/9 of the pods in one zone", "implied rule refuted: every pod finds a node"
    assert out.splitlines()[0] == f"Policy of the command line: {own}; {implied}"


def test_a_workload_that_only_its_autoscaler_names_is_not_judged(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "hpa.yaml").write_text(
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: api}\n"
        "spec: {maxReplicas: 5, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: api}}\n"
    )
    words = ("-f", str(tmp_path), "--topology", "zones=3,nodes=2", "--max-count", "zone=9", "--regime", "creation")
    code, _, err = said(capsys, *words)
    assert (code, err[:46]) == (2, "error: no Deployment, StatefulSet, ReplicaSet ")

    (tmp_path / "web.yaml").write_text(DEPLOYMENT)
    code, out, _ = said(capsys, *words)
    assert code == 0
    assert "\nNot judged: Deployment default/api\n" in out


def test_of_several_groups_the_first_line_counts_those_that_stay_refuted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """What is not decided has a reason."""
    path, policy = tmp_path / "all.yaml", tmp_path / "ha.yaml"
    spread = f"{ZONE_SPREAD[:-1]}, matchLabelKeys: [pod-template-hash]}}"
    kept = WEB.replace("    spec:\n", f"    spec:\n      topologySpreadConstraints: [{spread}]\n")
    claims = "  serviceName: db\n  volumeClaimTemplates: [{metadata: {name: data}}]\n  template:"
    one = {"kind: Deployment": "kind: StatefulSet", "web": "db", "replicas: 6": "replicas: 1", "  template:": claims}
    database = functools.reduce(lambda text, pair: text.replace(*pair), one.items(), WEB)
    path.write_text(f"{kept}---\n{database}", encoding="utf-8")
    policy.write_text(POLICY, encoding="utf-8")
    words = ("-f", str(path), "--topology", "zones=3,nodes=2", "--policy", str(policy))
    _, out, _ = said(capsys, *words)

    assert out.startswith(
        "Policy ha: refuted: less than 1/2 of the pods in one zone (1 of 2 groups; 1 more while pods move)\n"
    )
    assert "  not decided: default/db: volumes can keep a pod in the zone of its first node\n" in out


def test_equal_pods_that_are_placed_one_after_another_are_named_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A node of several pods has their number, unless all go there."""
    text = WEB.replace("replicas: 6", "replicas: 4")
    (tmp_path / "web.yaml").write_text(
        text.replace("    spec:\n", f"    spec:\n      topologySpreadConstraints: [{ZONE_SPREAD}]\n")
    )
    words = ("-f", str(tmp_path / "web.yaml"), "--topology", "zones=3,nodes=1", "--max-count", "zone=2", "--details")
    _, out, _ = said(capsys, *words)

    assert "    3. Pods go to nodes: a new pod of web to node-c1; 2 pods of web to node-b1, node-a1.\n" in out
    assert "    5. 2 new pods of web go to node-c1.\n" in out
