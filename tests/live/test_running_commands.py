"""`status`, `snapshot` and `check` of a live cluster, and of a snapshot taken of it: the same answers."""

from __future__ import annotations

import gzip
import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.cli.commands import rebalance
from kubectl_spread.cli.complete import lines
from kubectl_spread.cli.main import run
from kubectl_spread.operations.cluster_facts import ClusterSource
from kubectl_spread.sources.live.flags import Flags
from tests.apiserver import ApiServer
from tests.cli.running_objects import constraint, deployment, node, pod, replica_set
from tests.live.conftest import Kubeconfig

Plain = dict[str, Any]


def versioned(plain: Plain) -> Plain:
    return {"apiVersion": "apps/v1" if plain["kind"] in ("Deployment", "ReplicaSet") else "v1", **plain}


def objects() -> list[Plain]:
    namespace = {"kind": "Namespace", "metadata": {"name": "shop", "labels": {"kubernetes.io/metadata.name": "shop"}}}
    beside = {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}
    other = deployment(constraint(), replicas=1, **beside)
    other["metadata"] = {"name": "api", "namespace": "shop"}
    nodes = [node("a1", "a"), node("b1", "b"), node("c1", "c", unschedulable=True)]
    waiting = pod("w-3", nodeSelector={"disk": "ssd"})
    secret = {"kind": "Secret", "metadata": {"name": "s", "namespace": "shop"}, "data": {"password": "aHVudGVyMg=="}}
    pods = [pod("w-1", "a1"), pod("w-2", "a1"), waiting]
    return [
        versioned(item) for item in (namespace, *nodes, deployment(constraint()), replica_set(), *pods, other, secret)
    ]


@pytest.fixture
def running() -> Any:
    with ApiServer(objects()).running() as server:
        yield server


@pytest.fixture
def kube(running: ApiServer, kubeconfig: Kubeconfig) -> str:
    return kubeconfig(running.url)


COMMANDS = [
    ["status"],
    ["status", "-A", "-a", "-o", "wide"],
    ["status", "-A", "-o", "json"],
    ["status", "-A", "-o", "prometheus"],
    ["status", "deploy/web", "-o", "json"],
    ["check"],
    ["check", "-A", "-o", "json"],
    ["check", "deploy/api"],
    ["explain", "deploy/web"],
]


@pytest.mark.slow
@pytest.mark.parametrize("redact", [False, True], ids=["plain", "redacted"])
def test_a_snapshot_and_the_live_cluster_give_the_same_answers(
    kube: str, redact: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A redacted one the same but for names, of which `status` is told."""
    target = tmp_path / "facts.json.gz"
    flags = ["--redact"] if redact else []
    assert run(["snapshot", "--kubeconfig", kube, "-o", str(target), *flags]) == 0
    document = json.loads(gzip.decompress(target.read_bytes()))
    capsys.readouterr()

    jsonschema.validate(document, schemas.load("snapshot"))
    assert "aHVudGVyMg" not in json.dumps(document)
    for command in COMMANDS if not redact else [["status", "-A", "-a", "-o", "json"]]:
        code, out = run([*command, "--kubeconfig", kube]), capsys.readouterr().out
        live = code, out.replace(f" --kubeconfig {kube}", "")  # in commands that the answer names
        namespace = [] if "-A" in command else ["-n", "shop"]
        code, out = run([*command, *namespace, "--snapshot", str(target)]), capsys.readouterr().out
        kept = code, out.replace(f" --snapshot {target}", "")

        assert live[1]
        assert (command, numbers(*live) if redact else live) == (command, numbers(*kept) if redact else kept)


def test_a_copied_command_asks_the_same_cluster(kube: str, capsys: pytest.CaptureFixture[str]) -> None:
    """No other kubeconfig is in this place, so that a command without the reader's flags fails."""
    assert run(["status", "-A", "--kubeconfig", kube]) == 1
    named = capsys.readouterr().err.splitlines()[-1].partition(": ")[2]
    assert named == f"kubectl spread check -A --kubeconfig {kube}"
    assert run(shlex.split(named)[2:]) == 1
    named = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("  $ "))
    named = named.removeprefix("  $ ").partition("  #")[0]
    assert named == f"kubectl spread explain pod w-3 -n shop --kubeconfig {kube}"
    assert run(shlex.split(named)[2:]) == 1
    patch = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("  $ "))
    assert patch.startswith(f"  $ kubectl --kubeconfig {kube} ")


def test_a_command_has_every_flag_of_the_cluster() -> None:
    """Read again, it is the same source; a token is not repeated."""
    texts = {field: field for field in Flags._fields}
    connection = Flags(**{**texts, "insecure_skip_tls_verify": True})._replace(
        impersonate_group=("a", "b c"), impersonate_user_extra=("k=v",), token="TOKEN"
    )
    files = ("a.yaml", "b.yaml")
    source = ClusterSource(False, files, "zones=3", None, "s", "1.34", "i", "1.8", True, 0, connection)
    words = shlex.split(source.command("rebalance", "-A"))
    values = rebalance.command.make_context("rebalance", words[3:]).params
    read = Flags(**{field: values[field] for field in Flags._fields})
    assert read == connection
    found = {field: values[field] for field in ClusterSource._fields if field in values}
    assert source._replace(**found) == source
    assert "secret" not in source._replace(connection=Flags(token="secret")).command("check")


def numbers(code: int, text: str) -> tuple[int, list[str]]:
    found = []
    for workload in json.loads(text)["workloads"]:
        counts = [(item["skew"], item["status"], len(item["domains"])) for item in workload["constraints"]]
        found.append(repr((workload["replicas"], workload["running"], len(workload["pending"]), counts)))
    return code, sorted(found)


def test_what_runs_is_checked_where_no_file_is_named(kube: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["check", "--kubeconfig", kube])
    out, err = capsys.readouterr()

    assert code == 1
    assert "Pending: Pod shop/w-3 stays Pending: " in out
    assert " SPR908 " in out
    assert err.splitlines()[-1].startswith("checked 2 workloads in namespace shop: ")


def test_a_manifest_replaces_what_runs(kube: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its old pods count, as the rollout goes by maxSurge."""
    changed = deployment(constraint(nodeTaintsPolicy="Honor"), replicas=2)
    changed["spec"]["strategy"] = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    changed["spec"]["template"]["spec"]["nodeSelector"] = {"topology.kubernetes.io/zone": "a"}
    changed["spec"]["template"]["spec"]["topologySpreadConstraints"][0]["nodeAffinityPolicy"] = "Ignore"
    manifest = tmp_path / "web.json"
    manifest.write_text(json.dumps(changed))
    run(["check", "-f", str(manifest), "--live", "--kubeconfig", kube, "-o", "json"])
    document = json.loads(capsys.readouterr().out)

    assert ["web"] == [item["object"]["name"] for item in document["stuckRollouts"]]
    cause = document["stuckRollouts"][0]["cause"]
    assert "allows only zone b. Its only node, b1, is refused by nodeSelector" in cause  # c1 is cordoned, so uncounted


def test_only_what_is_needed_is_asked_for(running: ApiServer, kube: str, tmp_path: Path) -> None:
    """And nothing is ever asked about Secrets."""
    for command in (["status", "-A"], ["snapshot", "-o", str(tmp_path / "f.json")], ["check", "-A"]):
        run([*command, "--kubeconfig", kube])

    assert {"GET"} == {request.method for request in running.requests}
    assert not any("secrets" in request.path for request in running.requests)


@pytest.mark.slow
def test_a_cluster_that_is_not_there_is_one_message(kubeconfig: Kubeconfig, tmp_path: Path) -> None:
    nowhere = kubeconfig("http://127.0.0.1:1")
    for command in (["status"], ["snapshot", "-o", str(tmp_path / "f.json")], ["check"], ["status", "-w"]):
        args = [sys.executable, "-m", "kubectl_spread", *command, "--kubeconfig", nowhere]
        done = subprocess.run(args, capture_output=True, text=True, check=False, timeout=60)

        assert (command, 3, "") == (command, done.returncode, done.stdout)
        assert 1 == done.stderr.count("error: ")
    assert not (tmp_path / "f.json").exists()


@pytest.mark.slow
def test_watching_a_live_cluster(running: ApiServer, kube: str) -> None:
    command = [sys.executable, "-m", "kubectl_spread", "status", "-w", "--interval", "0.2", "--kubeconfig", kube]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = [process.stdout.readline().split()[0] for _ in range(3)]
        running.put(versioned(pod("w-4", "b1")))
        changed = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)

    assert ["NAME", "deployment/api", "deployment/web"] == first
    assert changed.split()[0] in ("deployment/api", "deployment/web")
    assert 130 == process.returncode
    assert "Traceback" not in err


def test_names_of_the_cluster_are_completed(running: ApiServer, kube: str) -> None:
    def values(*words: str) -> list[str]:
        return lines([words[0], "--kubeconfig", kube, *words[1:]])[:-1]

    assert ["shop"] == values("status", "-n", "")
    assert ["deployment/api", "deployment/web"] == values("check", "deployment/")
    assert ["web"] == values("status", "deploy", "w")
    assert ["pod/w-1", "pod/w-2", "pod/w-3"] == values("explain", "pod/")
    assert [] == values("explain", "rollout/")
    assert [] == values("status", "--token", "wrong", "pod/nope")
