"""Commands against a live cluster, end to end."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from tests.apiserver import API, ApiServer, Reply
from tests.live.conftest import Kubeconfig, SHOP, shop_objects

PENDING = "pod/web-6d4f9c7b58-9pdlw"
FACTS = str(SHOP / "cluster.yaml")
WEB = str(SHOP / "web.yaml")
NOTE = (
    "note: cluster kind, Kubernetes v1.36.2; scheduler configuration: not known, default assumed; "
    "--scheduler-config names it\n"
)

OF_KARPENTER = {"NodePool", "NodeClaim", "EC2NodeClass"}  # tests/live/test_node_pools.py
COMMANDS = {
    "explain a pod": ["explain", PENDING],
    "explain a workload": ["explain", "deploy/web"],
    "explain a pod as JSON": ["explain", PENDING, "-o", "json"],
    "explain a manifest": ["explain", "-f", WEB],
    "check a manifest": ["check", WEB],
    "check a manifest as JSON": ["check", WEB, "-o", "json"],
    "simulate a rollout": ["simulate", "rollout", "restart", "deploy/web", "--effort", "quick"],
    "rebalance a workload": ["rebalance", "deploy/web"],
    "rebalance as JSON": ["rebalance", "deploy/web", "--soft", "-o", "json"],
    "simulate a drain as JSON": ["simulate", "drain", "a-1", "-o", "json"],
}


@pytest.mark.parametrize("args", COMMANDS.values(), ids=COMMANDS)
def test_a_live_cluster_gives_the_answers_that_its_snapshot_gives(
    args: list[str], config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    of_snapshot = run([*args, "-n", "shop", "--snapshot", FACTS])
    expected = capsys.readouterr()
    of_live = run([*args, "--live", "--kubeconfig", config])
    out, err = capsys.readouterr()

    without_notes = re.sub(_NO_BUDGETS, "", expected.out).replace(f" --snapshot {FACTS}", "")
    assert (of_snapshot, without_notes) == (of_live, without_flags(out, config))
    assert NOTE + expected.err == err.replace(f"--kubeconfig {config}", f"--snapshot {FACTS}")


# The live cluster has no budgets, and a snapshot without any may lack them.
_NO_BUDGETS = r'(?<="notes": \[)\s+"The facts hold no PodDisruptionBudget[^"\n]*"(?:,|\s+(?=\]))'


def without_flags(text: str, config: str) -> str:
    """Return an answer whose commands to copy have lost the flags for the cluster."""
    return text.replace(f" --kubeconfig {config}", "")


@pytest.mark.parametrize("args", COMMANDS.values(), ids=COMMANDS)
def test_commands_send_get_alone(args: list[str], server: ApiServer, config: str) -> None:
    run([*args, "--live", "--kubeconfig", config])

    assert {"GET"} == {request.method for request in server.requests}
    assert not [request for request in server.requests if "watch" in request.query]


@pytest.mark.slow
def test_explain_asks_the_live_cluster_where_no_other_facts_are_named(
    server: ApiServer, config: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", config)
    code = run(["explain", PENDING])

    assert code == 1
    assert capsys.readouterr().out.startswith("Pod shop/web-6d4f9c7b58-9pdlw stays Pending: ")
    assert server.requests


def test_check_asks_no_cluster_unless_told_to(server: ApiServer, config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", config)
    run(["check", WEB])

    assert [] == server.requests


@pytest.mark.parametrize("other", [["--snapshot", FACTS], ["--topology", "nodes=2"]])
def test_live_and_other_facts_exclude_each_other(
    other: list[str], config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(["explain", PENDING, "--live", "--kubeconfig", config, *other])

    assert code == 2
    assert f"error: --live and {other[0]} exclude each other\n" in capsys.readouterr().err


@pytest.mark.skipif(int(version("kubernetes").split(".")[0]) < 37, reason="older packages import them by themselves")
def test_models_and_apis_of_the_client_are_not_imported(config: str) -> None:
    program = (
        "import sys; from kubectl_spread.cli.main import run; "
        f"run({['explain', PENDING, '--kubeconfig', config]!r}); "
        "print([name for name in sys.modules if name.startswith(('kubernetes.client.models.', "
        "'kubernetes.client.api.', 'kubernetes.client.apis'))], 'kubernetes.client.rest' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)

    assert done.stdout.splitlines()[-1] == "[] True"


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(set(API) - {"Node", "Pod", "ConfigMap"} - OF_KARPENTER))
def test_a_kind_that_may_not_be_listed_is_named_with_its_doubt_and_its_rule(
    kind: str, server: ApiServer, config: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    group, _, plural, _ = API[kind]
    server.forbidden = {plural}
    manifest = tmp_path / "web.yaml"
    manifest.write_text(
        "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\nspec:\n  schedule: '* * * * *'\n  jobTemplate:\n"
        "    spec:\n      template:\n        spec:\n          restartPolicy: Never\n"
        "          runtimeClassName: kata\n"
        "          containers: [{name: c, image: i}]\n"
        "          volumes: [{name: v, persistentVolumeClaim: {claimName: v}}]\n"
    )
    run(["explain", "-f", str(manifest), "--kubeconfig", config])
    scaled = tmp_path / "db.yaml"  # autoscalers matter to workloads that can be scaled
    scaled.write_text(
        "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n  serviceName: db\n"
        "  selector: {matchLabels: {app: db}}\n  template:\n    metadata: {labels: {app: db}}\n"
        "    spec: {containers: [{name: c, image: i}]}\n"
    )
    run(["explain", "-f", str(scaled), "--kubeconfig", config])
    run(["explain", "daemonset/x", "cronjob/x", "--kubeconfig", config])
    run(["simulate", "rollout", "undo", "statefulset/x", "--kubeconfig", config])
    quoted = group or '""'
    rule = f"; the ClusterRole rule that allows it: {{apiGroups: [{quoted}], resources: [{plural}], verbs: [list]}}"
    (warning,) = {line for line in capsys.readouterr().err.splitlines() if line.startswith("warning: ")}

    assert warning.startswith(f"warning: may not list {plural}: ")
    assert warning.endswith(rule)


def test_without_nodes_there_is_no_answer(server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]) -> None:
    server.forbidden = {"nodes"}
    code = run(["explain", PENDING, "--kubeconfig", config])

    said = (
        'error: nodes is forbidden: User "admin" cannot list resource "nodes" in API group "" at the cluster scope: '
        "nothing can be placed; the ClusterRole rule that allows it: "
        '{apiGroups: [""], resources: [nodes], verbs: [list]}\n'
    )

    assert (3, "", said) == (code, *capsys.readouterr())


def test_who_may_read_one_namespace_gets_an_answer_for_it(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.forbidden = {"pods@", "services@", "replicasets@"}
    code = run(["explain", PENDING, "--kubeconfig", config])
    out, err = capsys.readouterr()

    assert code == 1
    assert out.startswith("Pod shop/web-6d4f9c7b58-9pdlw stays Pending: ")
    said = (
        "warning: may not list pods in all namespaces, only in `shop`: pods of other namespaces are not counted "
        "and take no room, so predictions may be wrong; the ClusterRole rule that allows it: "
        '{apiGroups: [""], resources: [pods], verbs: [list]}'
    )
    assert [said] == [line for line in err.splitlines() if "list pods" in line]
    assert 3 == err.count("in all namespaces, only in `shop`")


def test_unknown_groups_of_older_servers_are_no_error(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.missing_groups = {"resource.k8s.io"}
    code = run(["explain", PENDING, "--kubeconfig", config])

    assert (code, capsys.readouterr().err) == (1, NOTE)


VERSIONS = {
    "v1.26.3": "note: cluster kind, Kubernetes v1.26.3; ",
    "v1.29.3-gke.1234": "note: cluster kind, Kubernetes v1.29.3-gke.1234; ",
}


@pytest.mark.parametrize(("version", "said"), VERSIONS.items())
def test_the_servers_version_chooses_the_rules(
    version: str, said: str, server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["explain", PENDING, "-n", "shop", "--snapshot", FACTS, "--kubernetes-version", version])
    expected = capsys.readouterr().out
    server.version = version
    run(["explain", PENDING, "--kubeconfig", config])
    out, err = capsys.readouterr()

    assert expected == without_flags(out, config)
    assert err.startswith(said)


def test_a_version_that_is_not_known_yet_is_followed_by_the_last_known_rules(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.version = "v1.41.0"
    code = run(["explain", PENDING, "--kubeconfig", config])
    err = capsys.readouterr().err

    assert code == 1
    assert err.startswith("note: Kubernetes 1.41 is not known: 1.38 rules, not yet compared with recordings\n")
    assert "note: cluster kind, Kubernetes v1.41.0, by the rules of 1.38; " in err


def test_the_version_asked_for_counts_before_the_servers(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["explain", PENDING, "--kubeconfig", config, "--kubernetes-version", "1.30"])

    assert capsys.readouterr().err.startswith("note: cluster kind, Kubernetes v1.36.2, by the rules of 1.30; ")


def test_the_version_of_the_server_is_the_one_that_rules_about_versions_know(
    server: ApiServer, config: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.version = "v1.25.1"
    manifest = tmp_path / "web.yaml"
    manifest.write_text((SHOP / "web.yaml").read_text().replace("maxSkew: 1", "maxSkew: 1\n        minDomains: 2", 1))
    run(["check", str(manifest), "--live", "--kubeconfig", config, "-o", "concise"])
    with_live = without_flags(capsys.readouterr().out, config)
    run(["check", str(manifest), "--kubernetes-version", "1.25", "-n", "shop", "--snapshot", FACTS, "-o", "concise"])

    assert capsys.readouterr().out.replace(f" --snapshot {FACTS} --kubernetes-version 1.25", "") == with_live
    assert "SPR601 Kubernetes 1.25 silently drops `minDomains`" in with_live


NASTY = "\x1b[31mred\x1b[0m\r\n::error::x\u202e</script>"


def test_names_from_a_cluster_cannot_move_the_cursor(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    node = {**shop_objects()[1], "metadata": {"name": NASTY, "labels": {"kubernetes.io/hostname": NASTY}}}
    server.put(node)
    run(["explain", PENDING, "--kubeconfig", config])
    out, err = capsys.readouterr()

    assert "\\x1b[31mred" in out
    assert not [char for char in out + err if not char.isprintable() and char != "\n"]


def test_messages_from_a_cluster_cannot_move_the_cursor(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.faults.append(lambda request: Reply(418, NASTY.encode()) if request.path == "/api/v1/nodes" else None)
    code = run(["explain", PENDING, "--kubeconfig", config])
    err = capsys.readouterr().err

    assert code == 3
    assert "\\x1b[31mred" in err
    assert not [char for char in err if not char.isprintable() and char != "\n"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for one process")
@pytest.mark.parametrize("stuck", ["/version", "/api/v1/pods"])
def test_ctrl_c_ends_a_command_at_once(stuck: str, server: ApiServer, config: str) -> None:
    server.faults.append(lambda request: Reply(200, b"{}", pause_s=30) if request.path == stuck else None)
    command = [sys.executable, "-m", "kubectl_spread", "explain", PENDING, "--kubeconfig", config]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 30
    while stuck not in [request.path for request in server.requests] and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)  # The server would answer after 30.

    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err


def test_the_namespace_is_that_of_the_context_unless_one_is_named(
    server: ApiServer, kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str]
) -> None:
    other = kubeconfig(server.url, namespace="other")
    code = run(["explain", PENDING, "--kubeconfig", other])

    assert code == 1
    assert 'error: namespaces "other" not found\n' in capsys.readouterr().err
    assert run(["explain", PENDING, "--kubeconfig", other, "-n", "shop"]) == 1
    assert capsys.readouterr().out.startswith("Pod shop/")


def test_nodes_that_do_not_decode_are_no_cluster_without_nodes(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = [item for item in server.objects if item["kind"] == "Node"]
    server.put(*({**node, "metadata": {**node["metadata"], "labels": 5}} for node in nodes))
    code = run(["status", "-A", "--kubeconfig", config])
    err = capsys.readouterr().err

    assert code == 3
    assert "metadata.labels: json: cannot unmarshal number" in err
    assert "has no node" not in err


def test_a_cluster_without_nodes_is_answered(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The pod stays Pending in the scheduler's words; status and check answer, too."""
    for item in [item for item in server.objects if item["kind"] == "Node"]:
        server.delete("Node", item["metadata"]["name"])
    code = run(["explain", PENDING, "--details", "--kubeconfig", config])
    out, err = capsys.readouterr()

    assert code == 1
    assert "error" not in err
    assert "stays Pending: the cluster has no nodes." in out
    assert "no nodes available to schedule pods" in out
    assert run(["status", "--kubeconfig", config]) in (0, 1)
    assert run(["check", "--kubeconfig", config]) == 1
