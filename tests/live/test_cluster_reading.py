"""Every command on whatever a cluster holds: nothing is created, and nothing but GET is sent."""

from __future__ import annotations

import gzip
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Optional

import jsonschema
import pytest

from kubectl_spread import __version__, schemas
from kubectl_spread.cli.complete import lines
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.source import SourceFile
from tests.live.cluster import Cluster, Scene, SECRET
from tests.live.comparing import differences
from tests.live.conftest import Said, SHOP, Spread

pytestmark = pytest.mark.slow

Plain = dict[str, Any]
WEB = str(SHOP / "web.yaml")
TRIES = 5


@pytest.fixture
def filled(request: pytest.FixtureRequest, cluster: Cluster, may_write: bool) -> Optional[Scene]:
    """Something to look at; where nothing may be created, what is there must do."""
    if not may_write:
        if not cluster.list("Node"):
            pytest.skip("your cluster has no node; with --allow-writes the tests create some")
        return None
    scene: Scene = request.getfixturevalue("scene")
    for zone in "abc":
        scene.node(f"{zone}1", zone, unschedulable=zone == "c")
    selector = {"matchLabels": {"app": "web"}}
    key = "topology.kubernetes.io/zone"
    constraint = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    soft = {**constraint, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {"matchLabels": {"app": "db"}}}
    scene.apply(
        scene.workload("Deployment", "web", replicas=3, constraints=[constraint]),
        scene.workload("StatefulSet", "db", replicas=2, constraints=[soft]),
        scene.workload("StatefulSet", "spread-by-default", replicas=2),
        scene.workload("Pod", "alone", replicas=1),
    )
    job = {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "pause"}]}}}
    cron = {"schedule": "0 0 1 1 *", "suspend": True, "jobTemplate": {"spec": job}}
    selected = {"selector": {"app": "db"}, "clusterIP": "None", "ports": [{"port": 5432}]}
    scene.apply({"kind": "Service", "metadata": {"name": "db", "namespace": scene.namespace}, "spec": selected})
    budget = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    named = {"name": "web", "namespace": scene.namespace}
    scene.apply({"kind": "PodDisruptionBudget", "metadata": named, "spec": budget})
    scene.apply({"kind": "CronJob", "metadata": {"name": "yearly", "namespace": scene.namespace}, "spec": cron})
    scene.wait("web", bound=2, refused=1)
    scene.wait("db", bound=2)
    scene.wait("spread-by-default", bound=2)
    scene.wait("alone", bound=1)
    return scene


@pytest.fixture
def config(filled: Optional[Scene], cluster: Cluster, tmp_path: Path) -> str:
    """A kubeconfig whose namespace is that of the scene, if there is one."""
    return filled.kubeconfig if filled is not None else cluster.kubeconfig(tmp_path)


def targets(cluster: Cluster, filled: Optional[Scene]) -> list[list[str]]:
    """The first object of each kind that can be explained, with its namespace."""
    found = []
    for kind in ("Pod", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicaSet"):
        namespace = filled.namespace if filled is not None and cluster.list(kind, filled.namespace) else ""
        for item in cluster.list(kind, namespace)[:1]:
            metadata = item["metadata"]
            found.append([f"{kind.lower()}/{metadata['name']}", "-n", metadata["namespace"]])
    return found


def in_peace(
    spread: Spread, commands: list[list[str]], live: list[str], kept: list[str], *, is_real: bool
) -> list[tuple[Said, Said]]:
    """What commands say of the cluster and of facts taken of it, where it did not change in between.

    Only a real cluster may change by itself.

    Args:
        spread: the program.
        commands: without facts.
        live: the flags that name the cluster.
        kept: the command that takes the facts; the last word is where to.
        is_real: whether others may use the cluster.
    """
    for _ in range(TRIES):
        before = [spread(*command, *live) for command in commands]
        assert 0 == spread(*kept).code
        after = [spread(*command, *live) for command in commands]
        if [(said.code, said.out) for said in before] == [(said.code, said.out) for said in after]:
            of_facts = [spread(*command, "--snapshot", kept[-1]) for command in commands]
            return list(zip(after, of_facts, strict=True))
    if not is_real:
        pytest.fail("two runs on one cluster that nobody changes say different things")
    pytest.skip("others changed your cluster in each of the attempts, so that two readings cannot be compared")


def plain_of(path: Path) -> Plain:
    """The document of a snapshot, however it is written."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    (document,) = compose.compose(SourceFile(str(path), text))
    assert isinstance(document, compose.Document)
    plain: Plain = nodes.to_plain(document.root)
    return plain


SCHEMAS = {"status": "status-report", "check": "check-report", "explain": "explanation"}


def test_a_cluster_without_nodes_is_answered(cluster: Cluster, spread: Spread, tmp_path: Path) -> None:
    """No pod finds a node, in the scheduler's words; that is not a fault of the input."""
    if cluster.list("Node"):
        pytest.skip("this test needs a cluster without nodes, and yours has some")
    said = spread("explain", "-f", WEB, "--details", "--kubeconfig", cluster.kubeconfig(tmp_path))

    assert said.code == 1
    assert "no nodes available to schedule pods" in said.out


@pytest.mark.parametrize("scope", [["-A"], []], ids=["all namespaces", "one namespace"])
@pytest.mark.parametrize("command", ["status", "check"])
def test_status_and_check_tell_of_what_runs(
    command: str, scope: list[str], filled: Optional[Scene], config: str, spread: Spread
) -> None:
    text = spread(command, *scope, "--kubeconfig", config)
    said = spread(command, *scope, "--kubeconfig", config, "-o", "json")
    jsonschema.validate(said.document, schemas.load(SCHEMAS[command]))

    assert said.code == text.code
    assert said.code in (0, 1)
    assert [] == said.document["errors"]
    assert filled is None or 1 == said.code


def test_status_has_other_formats(filled: Optional[Scene], config: str, spread: Spread) -> None:
    wide = spread("status", "-A", "-a", "-o", "wide", "--kubeconfig", config)
    series = spread("status", "-A", "-o", "prometheus", "--kubeconfig", config)

    assert wide.code in (0, 1)
    assert 0 == series.code
    for line in series.out.splitlines():
        assert line.startswith(("# HELP ", "# TYPE ", "kubectl_spread_"))
    if filled is not None:
        assert "deployment/web" in wide.out
        assert f'namespace="{filled.namespace}"' in series.out


def test_explain_tells_of_every_kind_that_is_there(
    filled: Optional[Scene], cluster: Cluster, config: str, spread: Spread
) -> None:
    for target in targets(cluster, filled):
        text = spread("explain", *target, "--kubeconfig", config)
        said = spread("explain", *target, "--kubeconfig", config, "-o", "json")
        jsonschema.validate(said.document, schemas.load("explanation"))

        assert said.code == text.code, target
        assert said.code in (0, 1), target
        assert text.out, target


def test_what_does_not_exist_is_one_message(config: str, spread: Spread) -> None:
    said = spread("explain", "pod/no-such-pod", "-n", "default", "--kubeconfig", config)

    assert (1, "") == (said.code, said.out)
    assert "no-such-pod" in said.err.splitlines()[-1]


@pytest.mark.parametrize("command", [["explain", "-f"], ["check", "--live", "-f"]], ids=["explain", "check"])
def test_manifests_are_placed_in_the_cluster(command: list[str], config: str, spread: Spread) -> None:
    text = spread(*command, WEB, "--kubeconfig", config)
    said = spread(*command, WEB, "--kubeconfig", config, "-o", "json")
    jsonschema.validate(said.document, schemas.load(SCHEMAS[command[0]]))

    assert said.code == text.code
    assert said.code in (0, 1)


def test_the_version_of_the_server_is_told(cluster: Cluster, config: str, spread: Spread) -> None:
    said = spread("status", "--kubeconfig", config)

    assert said.err.startswith(f"note: cluster test, Kubernetes {cluster.version}; ") or (
        f"note: cluster test, Kubernetes {cluster.version}, by the rules of " in said.err
    )
    asked = spread("version", "--kubeconfig", config)
    assert asked.out.splitlines()[0] == f"Client Version: v{__version__}"
    assert asked.out.splitlines()[-1] == f"Server Version: {cluster.version}"
    assert spread("version", "--client", "--kubeconfig", config).out.splitlines() == asked.out.splitlines()[:-1]


def test_a_server_that_does_not_answer_leaves_the_other_versions(spread: Spread) -> None:
    said = spread("version", "--server", "http://127.0.0.1:9", "-o", "json")

    assert 0 == said.code
    assert said.document.keys() == {"clientVersion", "schedulerRules"}
    assert said.err.startswith("warning: ")


@pytest.mark.parametrize("name", ["facts.json", "facts.yaml", "facts.json.gz", "facts.yaml.gz"])
def test_a_snapshot_gives_the_answers_of_the_cluster(
    name: str, filled: Optional[Scene], cluster: Cluster, config: str, spread: Spread, tmp_path: Path, is_real: bool
) -> None:
    target = tmp_path / name
    commands = [
        ["status", "-A", "-a", "-o", "json"],
        ["check", "-A", "-o", "json"],
        ["explain", "-f", WEB, "-o", "json"],
    ]
    commands += [["explain", *words, "-o", "json"] for words in targets(cluster, filled)]
    live = ["--kubeconfig", config]
    answers = in_peace(spread, commands, live, ["snapshot", *live, "-o", str(target)], is_real=is_real)
    jsonschema.validate(plain_of(target), schemas.load("snapshot"))

    for command, (of_live, of_snapshot) in zip(commands, answers, strict=True):
        assert (command, of_live.code) == (command, of_snapshot.code)
        assert [] == differences(of_live.document, of_snapshot.document), command


def verdicts(status: Plain) -> list[Any]:
    """What of a status has no name in it."""
    found = []
    for workload in status["workloads"]:
        counts = [
            (item["status"], item["skew"], item["globalMinimum"], sorted(one["matching"] for one in item["domains"]))
            for item in workload["constraints"]
        ]
        found.append((workload["replicas"], workload["running"], len(workload["pending"]), counts))
    return sorted(found, key=repr)


def test_a_redacted_snapshot_gives_the_same_verdicts(
    filled: Optional[Scene], config: str, spread: Spread, tmp_path: Path, is_real: bool
) -> None:
    target = tmp_path / "facts.json"
    live = ["--kubeconfig", config]
    commands = [["status", "-A", "-a", "-o", "json"], ["check", "-A", "-o", "json"]]
    kept = ["snapshot", *live, "--redact", "-o", str(target)]
    (status, of_status), (check, of_check) = in_peace(spread, commands, live, kept, is_real=is_real)
    jsonschema.validate(plain_of(target), schemas.load("snapshot"))

    assert (status.code, check.code) == (of_status.code, of_check.code)
    assert verdicts(status.document) == verdicts(of_status.document)
    assert len(check.document["pending"]) == len(of_check.document["pending"])
    assert sorted(item["code"] for item in check.document["findings"]) == sorted(
        item["code"] for item in of_check.document["findings"]
    )
    assert filled is None or filled.namespace not in target.read_text()


def test_the_kubeconfig_itself_leads_to_the_cluster(
    filled: Optional[Scene], cluster: Cluster, config: str, spread: Spread
) -> None:
    """By its own credentials and over TLS, as everything else goes through what records it."""
    api = cluster.api
    own = ["--kubeconfig", api.kubeconfig, *(["--context", api.context] if api.context else [])]
    namespace = ["-n", filled.namespace if filled is not None else "default"]
    for _ in range(TRIES):
        direct = spread("status", *namespace, "-o", "json", *own)
        recorded = spread("status", *namespace, "-o", "json", "--kubeconfig", config)
        if direct.out == recorded.out:
            break

    assert (direct.code, direct.out) == (recorded.code, recorded.out)


def test_names_are_completed(filled: Optional[Scene], cluster: Cluster, config: str, spread: Spread) -> None:
    def values(*words: str) -> set[str]:
        return {line.partition("\t")[0] for line in lines([words[0], "--kubeconfig", config, *words[1:]])[:-1]}

    namespaces = {item["metadata"]["name"] for item in cluster.list("Namespace")}
    assert {"default", "kube-system"} <= values("status", "-n", "") & namespaces
    assert {"test"} == values("status", "--context", "")
    if filled is not None:
        names = {f"pod/{pod['metadata']['name']}" for pod in filled.pods()}
        assert names == values("explain", "pod/")
        assert {"deployment/web"} == values("check", "deployment/")
        assert {"db", "spread-by-default"} == values("status", "sts", "")


def test_nothing_is_asked_about_secrets(config: str, cluster: Cluster, spread: Spread, tmp_path: Path) -> None:
    before = len(cluster.tool.requests)
    for command in (["status", "-A"], ["check", "-A"], ["snapshot", "-o", str(tmp_path / "facts.json")]):
        spread(*command, "--kubeconfig", config)
    sent = cluster.tool.requests[before:]

    assert {"GET"} == {method for method, _ in sent}
    assert not [target for _, target in sent if "secrets" in target]
    text = (tmp_path / "facts.json").read_text()
    assert not [word for word in ("last-applied-configuration", "managedFields", SECRET) if word in text]


def test_a_snapshot_tells_when_the_cluster_was_read(
    filled: Optional[Scene], config: str, spread: Spread, tmp_path: Path
) -> None:
    """A snapshot of this snapshot tells the same time."""
    before = datetime.now(timezone.utc).replace(microsecond=0)
    first, second = tmp_path / "first.json", tmp_path / "second.json"

    assert spread("snapshot", "--kubeconfig", config, "-o", str(first)).code == 0
    read_at = plain_of(first)["readAt"]
    assert before <= datetime.fromisoformat(read_at.replace("Z", "+00:00")) <= datetime.now(timezone.utc)
    assert spread("snapshot", "--snapshot", str(first), "--redact", "-o", str(second)).code == 0
    assert plain_of(second)["readAt"] == read_at
