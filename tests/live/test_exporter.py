"""The exporter: its metrics, and what it does while the API server fails."""

from __future__ import annotations

import contextlib
import gc
import gzip
import http.client
import json
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kubectl_spread import exporter as servers
from kubectl_spread.cli.main import run
from kubectl_spread.exporter import ExporterServer, Poller
from kubectl_spread.operations.cluster_facts import ClusterSource
from kubectl_spread.operations.status import StatusRequest, workload_status
from kubectl_spread.report.status import prometheus_text
from kubectl_spread.sources import policy_file as policies
from kubectl_spread.sources.live import transport as transports
from kubectl_spread.sources.live.flags import Flags
from tests.apiserver import ApiServer, Reply, Request, status
from tests.live.conftest import Kubeconfig, shop_objects

PODS = "/api/v1/pods"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries without long pauses."""
    monkeypatch.setattr(transports, "_FIRST_PAUSE_S", 0.01)


@pytest.fixture
def frozen() -> Iterator[None]:
    """Collections look at the objects of the test alone, not at those of the whole suite."""
    gc.freeze()
    yield
    gc.unfreeze()


def request(config: str, timeout: str = "20s") -> StatusRequest:
    flags = Flags(kubeconfig=config, request_timeout=timeout)
    return StatusRequest(ClusterSource(live=True, connection=flags), namespace="")


@contextlib.contextmanager
def serving(poller: Poller, *, most_age_s: float = 300.0) -> Iterator[ExporterServer]:
    """A server of a poller, whose readings the test makes."""
    with ExporterServer(("127.0.0.1", 0), poller, most_age_s=most_age_s, stuck_s=60.0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield server
        server.shutdown()


def get(server: ExporterServer, path: str, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=20)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    found = answer.status, answer.read(), dict(answer.headers)
    connection.close()
    return found


def samples(text: str) -> dict[str, list[tuple[dict[str, str], float]]]:
    """The samples of each metric; the text must be valid."""
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def value(text: str, name: str, /, **labels: str) -> Optional[float]:
    return next((number for found, number in samples(text).get(name, ()) if labels.items() <= found.items()), None)


def test_the_metrics_are_those_of_status_and_of_the_exporter_itself(config: str, server: ApiServer) -> None:
    """Prometheus' own parser reads them; the API server gets nothing but GET."""
    poller = Poller(request(config), interval_s=30)
    assert poller.read_once()
    with serving(poller) as exporter:
        code, body, headers = get(exporter, "/metrics")
    text = body.decode()
    own = prometheus_text(workload_status(request(config)).statuses)

    assert (200, "text/plain; version=0.0.4; charset=utf-8") == (code, headers["Content-Type"])
    assert own
    assert text.startswith(own)
    assert 1 == value(text, "kubectl_spread_up")
    assert 1 == value(text, "kubectl_spread_readings_total", result="success")
    assert 0 == value(text, "kubectl_spread_readings_total", result="failure")
    assert 1 == value(text, "kubectl_spread_workloads")
    assert 2 == value(text, "kubectl_spread_workload_pods_pending", name="web")
    assert {"kubectl_spread_last_reading_timestamp_seconds", "kubectl_spread_build_info"} <= set(samples(text))
    assert {"GET"} == {item.method for item in server.requests}


@pytest.mark.slow
def test_a_scraper_that_takes_gzip_gets_it(config: str) -> None:
    poller = Poller(request(config), interval_s=30)
    poller.read_once()
    with serving(poller) as exporter:
        _, body, headers = get(exporter, "/metrics", **{"Accept-Encoding": "gzip"})

    assert "gzip" == headers["Content-Encoding"]
    assert b"kubectl_spread_up 1.0" in gzip.decompress(body)


def test_other_paths_are_not_found_and_the_first_page_links_to_the_metrics(config: str) -> None:
    with serving(Poller(request(config), interval_s=30)) as exporter:
        assert 404 == get(exporter, "/secrets")[0]
        assert b"href='/metrics'" in get(exporter, "/")[1]


def test_before_the_first_reading_it_is_not_ready(config: str) -> None:
    with serving(Poller(request(config), interval_s=30)) as exporter:
        ready, _, _ = get(exporter, "/readyz")
        text = get(exporter, "/metrics")[1].decode()

    assert 503 == ready
    assert 0 == value(text, "kubectl_spread_up")
    assert "kubectl_spread_constraint_skew" not in text


@pytest.mark.slow
def test_a_restart_of_the_api_server_is_survived(kubeconfig: Kubeconfig) -> None:
    """The last reading is served meanwhile, kubectl_spread_up is 0, and the new address of the kubeconfig is used."""
    told: list[Optional[str]] = []
    with ApiServer(shop_objects()).running() as first:
        config = kubeconfig(first.url)
        poller = Poller(request(config), interval_s=30, report=told.append)
        assert poller.read_once()
        first.faults = [lambda _: Reply(200, b"", cut=0)]  # open connections end as well
    with serving(poller) as exporter:
        assert [False, False] == [poller.read_once(), poller.read_once()]
        down = get(exporter, "/metrics")[1].decode()
        ready = get(exporter, "/readyz")[0]
        with ApiServer(shop_objects()).running() as second:
            kubeconfig(second.url)
            assert poller.read_once()
        up = get(exporter, "/metrics")[1].decode()

    assert (0, 200) == (value(down, "kubectl_spread_up"), ready)
    assert 2 == value(down, "kubectl_spread_workload_pods_pending", name="web")
    assert 2 == value(down, "kubectl_spread_readings_total", result="failure")
    assert 1 == value(up, "kubectl_spread_up")
    assert (None, None) == (told[0], told[-1])
    assert all(problem for problem in told[1:-1])


@pytest.mark.slow
def test_an_old_reading_is_no_longer_served(config: str) -> None:
    poller = Poller(request(config), interval_s=30)
    poller.read_once()
    with serving(poller, most_age_s=0.0) as exporter:
        text = get(exporter, "/metrics")[1].decode()
        ready = get(exporter, "/readyz")[0]

    assert ("kubectl_spread_constraint_skew" in text, ready) == (False, 503)


@pytest.mark.slow
def test_a_list_that_expires_is_read_again(config: str, server: ApiServer) -> None:
    """410 for each second page, as after a compaction; then for every list."""
    server.put(*(pod(number) for number in range(600)))
    expired = status(410, "Expired", "The provided continue parameter is too old")
    server.faults = [lambda asked: expired if asked.path == PODS and "continue" in asked.query else None]
    poller = Poller(request(config), interval_s=30)
    survived = poller.read_once()
    server.faults = [lambda asked: expired if asked.path == PODS else None]
    failed = poller.read_once()
    server.faults = []

    assert [True, False, True] == [survived, failed, poller.read_once()]


@pytest.mark.slow
def test_a_slow_api_server_costs_one_reading(config: str, server: ApiServer) -> None:
    """No answer within --request-timeout is a failure; the next reading starts anew."""
    waiting = [3.0]

    def slow(asked: Request) -> Optional[Reply]:
        if asked.path == PODS and waiting:
            return Reply(200, b"{}", pause_s=waiting.pop())
        return None

    server.faults = [slow]
    told: list[Optional[str]] = []
    poller = Poller(request(config, "1s"), interval_s=30, report=told.append)

    assert [False, True] == [poller.read_once(), poller.read_once()]
    assert "did not answer within 1 s" in (told[0] or "")


def pod(number: int, *, node: Optional[str] = "a-1", app: str = "web") -> dict[str, Any]:
    constraint = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
    }
    spec = {"containers": [{"name": "c", "image": "i"}], "topologySpreadConstraints": [constraint]}
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": app, "controller": True}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{app}-{number}",
            "namespace": "day",
            "labels": {"app": app},
            "ownerReferences": [owner],
        },
        "spec": {**spec, "nodeName": node} if node else spec,
        "status": {"phase": "Running" if node else "Pending"},
    }


@pytest.mark.slow
@pytest.mark.usefixtures("frozen")
def test_a_day_of_events_leaves_nothing_behind(config: str, server: ApiServer) -> None:
    """Pods come, move and go, and lists fail. Each reading is that of a fresh status, and memory does not grow."""
    chance = random.Random(18)
    poller = Poller(request(config), interval_s=30)
    poller.read_once()
    sizes = []
    for _ in range(24):
        for _ in range(2):
            nodes = [None, "a-1", "a-2", "b-1", "b-2"]
            server.put(*(pod(chance.randrange(12), node=chance.choice(nodes)) for _ in range(3)))
            server.delete("Pod", f"web-{chance.randrange(12)}")
            server.compact()
            server.faults = [fault] if chance.random() < 0.2 else []
            assert poller.read_once() == (not server.faults)
        server.faults = []
        assert poller.read_once()
        assert poller.last is not None
        assert prometheus_text(workload_status(request(config)).statuses) == poller.last.text
        server.requests.clear()
        gc.collect()
        sizes.append(len(gc.get_objects()))

    assert poller.failures > 3
    assert sizes[-1] - sizes[4] < 2_000


def fault(asked: Request) -> Optional[Reply]:
    return status(410, "Expired", "too old") if asked.path == PODS else None


@pytest.mark.slow
def test_what_may_not_be_listed_is_a_metric(config: str, server: ApiServer) -> None:
    server.forbidden = {"poddisruptionbudgets"}
    poller = Poller(request(config), interval_s=30)
    poller.read_once()
    with serving(poller) as exporter:
        text = get(exporter, "/metrics")[1].decode()

    assert 1 == value(text, "kubectl_spread_resource_forbidden", resource="poddisruptionbudgets")


def test_a_kind_that_becomes_forbidden_is_no_success(config: str, server: ApiServer) -> None:
    """Its series vanish, so that their alerts would end."""
    told: list[Optional[str]] = []
    poller = Poller(request(config), interval_s=30, report=told.append)
    with serving(poller) as exporter:
        poller.read_once()
        before = get(exporter, "/metrics")[1].decode()
        server.forbidden = {"replicasets", "deployments"}
        poller.read_once()
        forbidden = get(exporter, "/metrics")[1].decode()
        server.forbidden = set()
        poller.read_once()
        after = get(exporter, "/metrics")[1].decode()

    assert [1, 0, 1] == [value(text, "kubectl_spread_up") for text in (before, forbidden, after)]
    assert 1 == value(forbidden, "kubectl_spread_resource_forbidden", resource="deployments")
    assert told == [None, "the cluster does not allow to list deployments, replicasets: metrics are missing", None]


def test_connections_are_limited(config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who opens them and sends nothing takes none away for long."""
    monkeypatch.setattr(servers, "_MAX_CONNECTIONS", 3)
    monkeypatch.setattr(servers, "_PATIENCE_S", 0.5)
    with serving(Poller(request(config), interval_s=30)) as exporter:
        address = ("127.0.0.1", exporter.server_address[1])
        silent = [socket.create_connection(address, timeout=20) for _ in range(3)]
        while exporter._free._value:
            time.sleep(0.01)
        refused, _, _ = get(exporter, "/healthz")
        ended = [connection.recv(1) for connection in silent]
        while not exporter._free._value:
            time.sleep(0.01)
        accepted, _, _ = get(exporter, "/metrics")
        for connection in silent:
            connection.close()

    assert (503, [b"", b"", b""], 200) == (refused, ended, accepted)


def test_a_request_that_drips_ends(config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte now and then does not extend its time."""
    monkeypatch.setattr(servers, "_PATIENCE_S", 0.5)
    with serving(Poller(request(config), interval_s=30)) as exporter:
        connection = socket.create_connection(("127.0.0.1", exporter.server_address[1]), timeout=20)
        sent = 0
        with connection, contextlib.suppress(ConnectionError):
            connection.sendall(b"GET /metrics HTTP/1.1\r\nX: ")
            for sent in range(1000):  # noqa: B007 (counted)
                connection.sendall(b"x")
                time.sleep(0.02)

    assert 0 < sent < 999


@pytest.mark.slow
def test_a_policy_adds_its_metrics(config: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("apiVersion: kubectl-spread/v1\nkind: Policy\nname: two-zones\ngroups: [{minDomains: {zone: 2}}]\n")
    poller = Poller(request(config)._replace(policy=policies.load(str(file))), interval_s=30)
    assert poller.read_once()
    with serving(poller) as exporter:
        found = samples(get(exporter, "/metrics")[1].decode())

    assert {"two-zones"} == {labels["policy"] for labels, _ in found["kubectl_spread_policy_violated"]}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals end a process there")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_the_command_serves_until_a_signal(config: str, number: int, code: int) -> None:
    command = [sys.executable, "-m", "kubectl_spread", "exporter", "--kubeconfig", config, "--listen", "127.0.0.1:0"]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        port = int(line.removeprefix("serving http://127.0.0.1:").removesuffix("/metrics\n"))
        assert "the cluster was read\n" == process.stderr.readline()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", "/healthz")
        healthy = connection.getresponse().status
        process.send_signal(number)
        process.wait(20)

    assert (200, code) == (healthy, process.returncode)


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("--listen", "nowhere"), 2, "--listen: `nowhere` is not HOST:PORT, such as 127.0.0.1:9464 or [::]:9464"),
        (("--listen", "127.0.0.1:99999"), 2, "--listen: `127.0.0.1:99999` is not HOST:PORT"),
        (("--listen", "192.0.2.1:1"), 3, "--listen: the address cannot be used: "),
        (("--interval", "0"), 2, "invalid value for '--interval'"),
        (("--snapshot", "x.yaml"), 2, "the exporter reads a live cluster: leave out --snapshot and --topology"),
        (("--kubeconfig", "/no/such/file"), 3, "/no/such/file: "),
    ],
)
def test_bad_input_is_one_message(
    args: tuple[str, ...], code: int, message: str, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = args if "--kubeconfig" in args else ("--kubeconfig", config, *args)

    assert code == run(["exporter", *given])
    assert capsys.readouterr().err.startswith(f"error: {message}")


def test_help_has_no_options_that_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == run(["exporter", "--help"])
    out = capsys.readouterr().out

    assert "--scheduler-config" in out
    assert not [name for name in ("--live", "--snapshot", "--topology", "--seed", "--all-nodes") if name in out]


def test_without_prometheus_client_the_message_has_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)  # type: ignore[arg-type]

    assert 2 == run(["exporter"])
    assert capsys.readouterr().err.startswith(
        "error: the exporter needs prometheus_client, which is not installed: pip install 'kubectl-spread[exporter]'\n"
    )


def test_a_missing_cluster_is_told_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a kubeconfig and outside a cluster."""
    empty = tmp_path / "config"
    empty.write_text(json.dumps({"apiVersion": "v1", "kind": "Config"}))

    assert 3 == run(["exporter", "--kubeconfig", str(empty)])
    assert capsys.readouterr().err.startswith("error: ")
