"""`status`: what runs, against its constraints."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.cli.main import run
from tests.cli.running_objects import constraint, deployment, node, pod, replica_set, ZONE, ZONES

Plain = dict[str, Any]

EXAMPLES = Path(__file__).parents[3] / "examples"
SHOP = str(EXAMPLES / "shop" / "cluster.yaml")


@pytest.fixture
def facts(tmp_path: Path) -> Any:
    """Writes cluster facts; their path."""

    def written(*objects: Plain) -> str:
        path = tmp_path / "facts.json"
        nodes = [node(name, zone) for name, zone in ZONES.items()]
        path.write_text(json.dumps({"kind": "List", "items": [*nodes, *objects]}))
        return str(path)

    return written


def report(capsys: pytest.CaptureFixture[str], *args: str) -> Plain:
    run(["status", "-o", "json", *args])
    document: Plain = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schemas.load("status-report"))
    return document


def only(document: Plain) -> Plain:
    (workload,) = document["workloads"]
    (found,) = workload["constraints"]
    result: Plain = found
    return result


def test_the_table_shows_counts_skew_and_what_waits(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["status", "-n", "shop", "--snapshot", SHOP])

    expected = """\
NAME             KEY    MAXSKEW   WHEN            DOMAINS   COUNTS        SKEW   STATUS
deployment/web   zone   1         DoNotSchedule   3         a=1 b=1 c=0   1      pending 2
"""
    assert (1, expected) == (code, capsys.readouterr().out)


def test_the_wide_table_has_whole_keys(facts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    objects = [deployment(constraint()), replica_set(), pod("w-1", "a1"), pod("w-2", "a1")]
    code = run(["status", "-A", "-o", "wide", "--snapshot", facts(*objects)])

    expected = (
        "NAMESPACE   NAME             KEY                           MAXSKEW   WHEN            DOMAINS   COUNTS        "
        "SKEW   STATUS     PODS   SELECTOR   SINCE                        REASON\n"
        "shop        deployment/web   topology.kubernetes.io/zone   1         DoNotSchedule   3         a=2 b=0 c=0   "
        "2      violated   2/3    app=web    after 2026-01-02T00:00:00Z   <none>\n"
    )
    assert (1, expected) == (code, capsys.readouterr().out)


def test_a_soft_constraint_that_is_not_met_is_uneven_and_no_finding(
    facts: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    soft = constraint(when="ScheduleAnyway")
    path = facts(deployment(soft), replica_set(), pod("w-1", "a1"), pod("w-2", "a1"))

    assert run(["status", "-n", "shop", "--snapshot", path]) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith("a=2 b=0 c=0   2      uneven")


def test_terminating_pods_do_not_count(facts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    going = pod("w-2", "a1", metadata={"deletionTimestamp": "2026-01-03T00:00:00Z"})
    document = report(
        capsys, "-A", "--snapshot", facts(deployment(constraint()), replica_set(), pod("w-1", "a1"), going)
    )

    assert only(document)["skew"] == 1
    assert document["workloads"][0]["terminating"] == 1


def test_with_match_label_keys_the_newest_revision_counts(facts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The one with the highest number, though most of the pods are older."""
    keyed = constraint(matchLabelKeys=["pod-template-hash"])
    objects = [deployment(keyed), replica_set(), replica_set("web-2", "2")]
    old = [pod(f"w-{at}", "a1") for at in range(2)]
    new = pod("w-9", "b1", owner="web-2")
    found = only(report(capsys, "-A", "--snapshot", facts(*objects, *old, new)))

    assert [("a", 0), ("b", 1), ("c", 0)] == [(item["value"], item["matching"]) for item in found["domains"]]
    assert found["selector"] == "app=web,pod-template-hash=2"


def test_without_match_label_keys_both_revisions_count(facts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    objects = [deployment(constraint()), replica_set(), replica_set("web-2", "2"), pod("w-1", "a1")]
    found = only(report(capsys, "-A", "--snapshot", facts(*objects, pod("w-9", "b1", owner="web-2"))))

    assert [1, 1, 0] == [item["matching"] for item in found["domains"]]


def test_nodes_that_a_policy_leaves_out_do_not_count(facts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    honor = constraint(nodeTaintsPolicy="Honor")
    tainted = node("d1", "d", taints=[{"key": "gpu", "effect": "NoSchedule"}])
    counted = only(report(capsys, "-A", "--snapshot", facts(tainted, deployment(constraint()), replica_set())))
    left_out = only(report(capsys, "-A", "--snapshot", facts(tainted, deployment(honor), replica_set())))

    assert ["a", "b", "c", "d"] == [item["value"] for item in counted["domains"]]
    assert ["a", "b", "c"] == [item["value"] for item in left_out["domains"]]


def test_fewer_domains_than_min_domains_make_the_minimum_0(facts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    objects = [deployment(constraint(minDomains=4)), replica_set()]
    pods = [pod(f"w-{zone}-{at}", f"{zone}1") for zone in "abc" for at in range(2)]
    found = only(report(capsys, "-A", "--snapshot", facts(*objects, *pods)))

    assert ("violated", 0, 2) == (found["status"], found["globalMinimum"], found["skew"])
    assert found["reason"] == "fewer than 4 domains"
    run(["status", "-A", "--snapshot", facts(*objects, *pods)])
    assert "3 of 4    a=2 b=2 c=2   2 " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"labelSelector": None}, "its selector counts no pod"),
        ({"labelSelector": {}}, "its selector counts no pod"),
        (
            {"labelSelector": {"matchLabels": {"app": "wbe"}}},
            "its selector matches neither the workload's own pods nor others",
        ),
        ({"topologyKey": "rack", "whenUnsatisfiable": "ScheduleAnyway"}, "no node that counts has the label"),
    ],
)
def test_what_has_no_effect_says_why(
    facts: Any, capsys: pytest.CaptureFixture[str], changed: Plain, reason: str
) -> None:
    found = only(report(capsys, "-A", "--snapshot", facts(deployment({**constraint(), **changed}), replica_set())))

    assert ("noEffect", reason) == (found["status"], found["reason"])


def test_a_hard_key_that_no_node_has_is_violated(facts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = facts(deployment(constraint(topologyKey="rack")), replica_set())
    found = only(report(capsys, "-A", "--snapshot", path))

    assert ("violated", None) == (found["status"], found["skew"])
    assert found["reason"] == "no node that counts has the label: no new pod finds a node"


def test_a_scheduler_that_is_not_known_leaves_it_open(facts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    other = deployment(constraint())
    other["spec"]["template"]["spec"]["schedulerName"] = "volcano"
    path = facts(other, replica_set())

    assert only(report(capsys, "-A", "--snapshot", path))["status"] == "unknown"
    assert run(["status", "-A", "--snapshot", path]) == 0


def test_the_scheduler_s_defaults_are_shown_where_all_is_asked_for(
    facts: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = facts(deployment(), replica_set(), pod("w-1", "a1", topologySpreadConstraints=[]))
    run(["status", "-n", "shop", "--snapshot", path])
    nothing = capsys.readouterr()
    run(["status", "-n", "shop", "-a", "--snapshot", path])

    findings = f"1 workload has findings: kubectl spread check -n shop --snapshot {path}\n"
    assert ("", f"No workloads with spread constraints found in shop namespace.\n{findings}") == nothing
    expected = """\
NAME             KEY                  MAXSKEW   WHEN             DOMAINS   COUNTS           SKEW   STATUS
deployment/web   hostname (default)   3         ScheduleAnyway   3         a1=1 b1=0 c1=0   1      ok
deployment/web   zone (default)       5         ScheduleAnyway   3         a=1 b=0 c=0      1      ok
"""
    assert expected == capsys.readouterr().out


def test_hard_defaults_are_shown_unasked(facts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = facts(deployment(), replica_set(), pod("w-1", "a1", topologySpreadConstraints=[]))
    config = Path(path).with_name("scheduler.yaml")
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
        "- pluginConfig:\n  - name: PodTopologySpread\n    args:\n      defaultingType: List\n"
        "      defaultConstraints:\n"
        f"      - {{maxSkew: 1, topologyKey: {ZONE}, whenUnsatisfiable: DoNotSchedule}}\n"
    )
    run(["status", "-n", "shop", "--snapshot", path, "--scheduler-config", str(config), "--no-headers"])

    assert "deployment/web   zone (default)   1   DoNotSchedule   3   a=1 b=0 c=0   1   ok\n" == capsys.readouterr().out


def test_workloads_are_found_by_name_kind_and_label(facts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = facts(deployment(constraint(), labels={"team": "x"}), replica_set())

    for args, number in (
        (["deploy/web", "-n", "shop"], 1),
        (["deploy", "web", "-n", "shop"], 1),
        (["deploy,sts", "-n", "shop"], 1),
        (["sts", "-n", "shop"], 0),
        (["-A", "-l", "team in (x, y)"], 1),
        (["-A", "-l", "team!=x"], 0),
        (["-A", "-l", "app=web"], 0),  # a label of its pods
    ):
        assert (args, number) == (args, len(report(capsys, *args, "--snapshot", path)["workloads"]))


def test_what_is_named_and_is_not_there_is_a_finding(facts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["status", "deploy/nope", "-n", "shop", "--snapshot", facts()])

    message = 'error: deployments.apps "nope" not found in namespace "shop" of the cluster facts\n'
    assert (1, ("", message)) == (code, capsys.readouterr())


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["widget/web"],
            "error: `widget` is not a resource type with pods. Types: pod, ",
        ),
        (["deploy/web", "-A"], "error: a resource by name and --all-namespaces exclude each other"),
        (["-n", "x", "-A"], "error: --namespace and --all-namespaces exclude each other"),
        (["deploy/web", "-l", "a=b"], "error: name cannot be provided when a selector is specified"),
        (["-l", "a=b=c"], "error: unable to parse requirement: found '=', expected: ','"),
        (["-l", "a in (b"], "error: unable to parse requirement: it ends too early: a in (b"),
        (["-w", "-o", "prometheus"], "error: -w prints only changes, so it cannot print metrics"),
        (["deploy/web/x"], "error: arguments in resource/name form must have a single resource and name"),
    ],
)
def test_wrong_usage(args: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status", *args, "--snapshot", SHOP]) == 2
    assert capsys.readouterr().err.startswith(message)


def test_without_cluster_facts_there_is_nothing_to_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status", "--snapshot", str(tmp_path / "nope.yaml")]) == 3
    assert capsys.readouterr().err.startswith("error: ")


def test_what_cannot_be_read_is_told_beside_what_can(facts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    broken = pod("w-1", "a1")
    broken["spec"]["nodeName"] = 7
    document_code = run(
        ["status", "-A", "-o", "json", "--snapshot", facts(deployment(constraint()), replica_set(), broken)]
    )
    document = json.loads(capsys.readouterr().out)

    assert document_code == 3
    assert ["Pod w-1 is left out"] == [error["message"].partition(":")[0] for error in document["errors"]]


HOSTILE = 'x\x1b[31m"\\\n\x9bred\u202e'


@pytest.mark.parametrize("output", [[], ["-o", "wide"], ["-o", "json"], ["-o", "prometheus"]])
def test_names_of_the_cluster_cannot_move_the_cursor(
    facts: Any, capsys: pytest.CaptureFixture[str], output: list[str]
) -> None:
    evil = deployment(constraint(), labels={"team": HOSTILE})
    evil["metadata"]["name"] = HOSTILE
    waiting = pod("w-1", metadata={"ownerReferences": []})
    waiting["status"] = {"conditions": [{"type": "PodScheduled", "status": "False", "message": HOSTILE}]}
    run(["status", "-A", *output, "--snapshot", facts(evil, waiting, node("e1", HOSTILE))])
    out, err = capsys.readouterr()

    assert out.replace("\n", "").isprintable()
    assert err.replace("\n", "").isprintable()
    if not output:
        assert [3] == list({len(out.splitlines())})  # no line of its own


def test_prometheus_reads_the_metrics_back(facts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    parser = pytest.importorskip("prometheus_client.parser")
    path = facts(deployment(constraint()), replica_set(), pod("w-1", "a1"), pod("w-2"), node("e1", 'q"\\\nz'))
    code = run(["status", "-A", "-o", "prometheus", "--snapshot", path])
    text = capsys.readouterr().out
    families = {family.name: family for family in parser.text_string_to_metric_families(text)}
    domains = {sample.labels["domain"]: sample.value for sample in families["kubectl_spread_domain_pods"].samples}

    assert code == 0
    assert {"gauge"} == {family.type for family in families.values()}
    assert {"a": 1.0, "b": 0.0, "c": 0.0, 'q"\\\nz': 0.0} == domains
    assert [1.0] == [item.value for item in families["kubectl_spread_workload_pods_pending"].samples]


def test_watching_prints_what_changes_until_it_is_interrupted(facts: Any) -> None:
    path = facts(deployment(constraint()), replica_set(), pod("w-1", "a1"))
    command = [sys.executable, "-m", "kubectl_spread", "status", "-A", "-w", "--interval", "0.2", "--snapshot", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = [process.stdout.readline() for _ in range(2)]
        facts(deployment(constraint()), replica_set(), pod("w-1", "a1"), pod("w-2", "a1"))
        changed = process.stdout.readline()
        facts()
        gone = process.stdout.readline()
        Path(path).write_text("{")
        time.sleep(0.8)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)

    assert first[0].split()[:3] == ["NAMESPACE", "NAME", "KEY"]
    assert [line.split()[-1] for line in (first[1], changed, gone)] == ["ok", "violated", "gone"]
    assert (130, "") == (process.returncode, out)
    assert 1 == err.count("error: ")
    assert "Traceback" not in err


def test_the_last_line_says_that_check_has_findings(capsys: pytest.CaptureFixture[str]) -> None:
    """As many workloads as `check` names, with the command; programs get no such line."""
    facts = str(EXAMPLES / "shop" / "running.yaml")
    run(["status", "-A", "--snapshot", facts])
    told = capsys.readouterr().err
    run(["check", "-A", "--snapshot", facts, "-o", "json"])
    named = {tuple(item["object"].values()) for item in json.loads(capsys.readouterr().out)["findings"]}

    assert f"{len(named)} workloads have findings: kubectl spread check -A --snapshot {facts}" == told.splitlines()[-1]
    for more in (["-o", "json"], ["--no-headers"]):
        run(["status", "-A", "--snapshot", facts, *more])
        assert "findings" not in capsys.readouterr().err


def test_running_pods_on_nodes_without_the_label_are_said_not_to_count(
    facts: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = node("x1", "x")
    del bare["metadata"]["labels"]["topology.kubernetes.io/zone"]
    pods = [pod("w-1", "a1"), pod("w-2", "x1"), pod("w-3", "x1")]
    found = only(report(capsys, "-A", "--snapshot", facts(bare, deployment(constraint()), replica_set(), *pods)))

    assert ("ok", "2 matching pods on nodes that do not count") == (found["status"], found["reason"])


def test_a_policy_group_that_matches_nothing_is_an_error_where_all_was_looked_at(
    facts: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of one workload, it says nothing."""
    policy = tmp_path / "policy.yaml"
    group = "{name: gone, selector: {matchLabels: {app: gone}}, minDomains: {zone: 2}}"
    policy.write_text(f"apiVersion: kubectl-spread/v1\nkind: Policy\nname: ha\ngroups:\n- {group}\n")
    path = facts(deployment(constraint()), replica_set(), pod("w-1", "a1"))

    assert run(["status", "-A", "--policy", str(policy), "--snapshot", path]) == 2
    assert "group gone: its selector matches no workload" in capsys.readouterr().err
    assert run(["status", "deploy/web", "-n", "shop", "--policy", str(policy), "--snapshot", path]) == 0


def test_of_many_rules_only_those_that_are_violated_have_rows(
    facts: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Twelve pods without a workload are twelve groups of two rules each."""
    policy = tmp_path / "policy.yaml"
    policy.write_text("apiVersion: kubectl-spread/v1\nkind: Policy\nname: ha\ngroups:\n- minDomains: {zone: 2}\n")
    bare = [pod(f"w-{at}", "a1", metadata={"ownerReferences": []}) for at in range(12)]

    assert run(["status", "-A", "--policy", str(policy), "--snapshot", facts(*bare)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Policy ha: violated by 12 of 12 groups"
    assert [sum(rule in line for line in lines) for rule in ("at least 2 zones", "finds a node")] == [12, 0]
    assert "12 more rows, of rules that are kept: -o json" in lines

    policy.write_text(policy.read_text() + "  placed: false\n")
    bare = [pod(f"w-{at}", "a1", metadata={"ownerReferences": []}) for at in range(21)]
    assert run(["status", "-A", "--policy", str(policy), "--snapshot", facts(*bare)]) == 1
    assert "1 more row, some violated: -o json" in capsys.readouterr().out
