"""The exporter on a large cluster, against its budgets; `make bench` runs it.

    python -m tests.bench.exporter [--nodes 5000] [--pods 150000] [--readings 3] [--cycles 200] [--changed 1000]

An API server in a process of its own serves pages of 500 objects, which it encodes again after they change. Measured
are the memory of the exporter, CPU seconds for each reading and each scrape, the time to the first metrics and their
size, and whether the exporter reads again after a restart of the API server and after expired lists (410). Then a
smaller cluster changes many times between readings, and the memory must not grow. Exits with 1 where a budget is
missed.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.bench import live

REPLICAS = 50  # of each Deployment
MOST_MB = 600
MOST_READING_S = 45.0  # CPU time of one reading of 5,000 nodes and 150,000 pods
MOST_SCRAPE_S = 0.25  # CPU time
MOST_GROWTH_MB = 10.0  # over all cycles, after the first quarter of them
SMALL = (200, 3_000)  # nodes and pods that change many times
CONTROL = "/control"  # path of the stand-in's own commands
Plain = dict[str, Any]


def _names(number: int) -> tuple[str, str, str]:
    """Return the namespace, the Deployment and the ReplicaSet of a pod."""
    app = number // REPLICAS
    return f"team-{app // 20}", f"app-{app:04d}", f"app-{app:04d}-{app:08x}"


def _constraints(app: str) -> list[Plain]:
    selector = {"matchLabels": {"app": app}}
    return [
        {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": action, "labelSelector": selector}
        for key, action in (
            ("topology.kubernetes.io/zone", "DoNotSchedule"),
            ("kubernetes.io/hostname", "ScheduleAnyway"),
        )
    ]


def pod(number: int, nodes: int, generation: int = 0) -> Plain:
    """Return a pod of a ReplicaSet; a later generation has another name, and runs on another node."""
    namespace, app, owner = _names(number)
    made = live.pod(number, nodes)
    metadata = {
        **made["metadata"],
        "name": f"{owner}-{number % REPLICAS:02d}-{generation}",
        "namespace": namespace,
        "uid": f"{number}-{generation}",
        "labels": {"app": app, "pod-template-hash": owner.rpartition("-")[2]},
        "ownerReferences": [_owner("ReplicaSet", owner)],
    }
    node = f"node-{(number * 7 + generation * 13) % nodes:05d}"
    spec = {**made["spec"], "nodeName": node, "topologySpreadConstraints": _constraints(app)}
    return {**made, "metadata": metadata, "spec": spec}


def _owner(kind: str, name: str) -> Plain:
    return {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"{kind}-{name}", "controller": True}


def controllers(pods: int, kind: str) -> list[Plain]:
    """Return the Deployments or the ReplicaSets of the pods."""
    made = []
    for number in range(0, pods, REPLICAS):
        namespace, app, owner = _names(number)
        is_set = kind == "ReplicaSet"
        labels = {"app": app, **({"pod-template-hash": owner.rpartition("-")[2]} if is_set else {})}
        name = owner if is_set else app
        metadata: Plain = {"name": name, "namespace": namespace, "uid": f"{kind}-{name}", "labels": labels}
        if is_set:
            metadata["ownerReferences"] = [_owner("Deployment", app)]
        template = {
            "metadata": {"labels": labels},
            "spec": {
                "containers": [{"name": "main", "image": "main"}],
                "topologySpreadConstraints": _constraints(app),
            },
        }
        spec = {"replicas": REPLICAS, "selector": {"matchLabels": labels}, "template": template}
        made.append({"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec})
    return made


class Cluster:
    """Lists of a cluster as compressed pages of 500 objects; a page is encoded again after one of them changes."""

    def __init__(self, nodes: int, pods: int) -> None:
        self._nodes = nodes
        self._pods = pods
        self._generations = [0] * pods
        self._next = 0  # pod to replace
        self.expired = 0  # requests for a later page that get 410
        self._made: dict[str, tuple[int, Callable[[int], Plain]]] = {
            "/api/v1/nodes": (nodes, lambda at: live.node(at, 25)),
            "/api/v1/pods": (pods, lambda at: pod(at, nodes, self._generations[at])),
        }
        for plural, kind in (("deployments", "Deployment"), ("replicasets", "ReplicaSet")):
            items = controllers(pods, kind)
            self._made[f"/apis/apps/v1/{plural}"] = (len(items), items.__getitem__)
        self._known: dict[tuple[str, int], bytes] = {}

    def page(self, path: str, start: int) -> bytes:
        """Return a page of a list; an empty one for other kinds."""
        key = (path, start)
        if key not in self._known:
            size, item = self._made.get(path, (0, lambda _: {}))
            end = min(size, start + live.PAGE)
            metadata: Plain = {"resourceVersion": "1", **({"continue": str(end)} if end < size else {})}
            items = [item(at) for at in range(start, end)]
            plain = {"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items}
            text = json.dumps(plain, separators=(",", ":"))  # without spaces, as an API server writes
            self._known[key] = gzip.compress(text.encode(), 1)
        return self._known[key]

    def replace(self, number: int) -> None:
        """Replace some pods, the next ones in turn."""
        for _ in range(number):
            self._generations[self._next] += 1
            self._known.pop(("/api/v1/pods", self._next // live.PAGE * live.PAGE), None)
            self._next = (self._next + 1) % self._pods

    def encode(self) -> None:
        """Encode all pages, so that no reading waits for it."""
        for path, (size, _) in self._made.items():
            for start in range(0, size, live.PAGE):
                self.page(path, start)


def serve(nodes: int, pods: int, port: int) -> None:
    """Serve a cluster until the process ends; print the port."""
    cluster = Cluster(nodes, pods)
    cluster.encode()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            split = urlsplit(self.path)
            query = parse_qs(split.query)
            if split.path == CONTROL:
                cluster.replace(int(query.get("replace", ["0"])[0]))
                cluster.expired += int(query.get("expire", ["0"])[0])
                self._send(200, gzip.compress(b"{}"))
            elif split.path == "/version":
                self._send(200, gzip.compress(b'{"major": "1", "minor": "36", "gitVersion": "v1.36.2"}'))
            elif cluster.expired and "continue" in query:
                cluster.expired -= 1
                gone = {"kind": "Status", "status": "Failure", "reason": "Expired", "code": 410}
                self._send(410, gzip.compress(json.dumps(gone).encode()))
            else:
                self._send(200, cluster.page(split.path, int(query.get("continue", ["0"])[0])))

        def _send(self, status: int, body: bytes) -> None:
            head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
            self.wfile.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    httpd = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    httpd.daemon_threads = True
    print(httpd.server_address[1], flush=True)
    httpd.serve_forever()


@contextlib.contextmanager
def served(nodes: int, pods: int, port: int = 0) -> Iterator[int]:
    """A cluster in a process of its own; yield the port."""
    command = [sys.executable, "-m", "tests.bench.exporter", "serve", str(nodes), str(pods), str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()


def get(port: int, path: str) -> str:
    """Return the text of a path."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("GET", path)
    text = connection.getresponse().read().decode(errors="replace")
    connection.close()
    return text


class Exporter:
    """An exporter process, seen through its metrics."""

    def __init__(self, api: int, interval: float, errors: Path) -> None:
        self._began = time.perf_counter()
        command = [sys.executable, "-m", "kubectl_spread", "exporter", "--server", f"http://127.0.0.1:{api}"]
        command += ["--listen", "127.0.0.1:0", "--interval", str(interval)]
        environment = {**os.environ, "KUBECONFIG": os.devnull}
        self._errors = errors
        with errors.open("w") as stream:
            self.process = subprocess.Popen(command, env=environment, stderr=stream)
        while not (found := re.search(r"http://127\.0\.0\.1:(\d+)/", errors.read_text())):
            if self.process.poll() is not None:
                raise SystemExit(errors.read_text())
            time.sleep(0.05)
        self.port = int(found[1])

    @property
    def age_s(self) -> float:
        return time.perf_counter() - self._began

    def metrics(self) -> dict[str, float]:
        """Return the metrics of the exporter itself."""
        found = re.findall(r"^(process_\w+|kubectl_spread_(?:up|readings)\S*) (\S+)$", get(self.port, "/metrics"), re.M)
        return {name: float(value) for name, value in found}

    def readings(self, result: str = "success") -> int:
        return int(self.metrics().get(f'kubectl_spread_readings_total{{result="{result}"}}', 0))

    def wait(self, number: int, result: str = "success", *, pause_s: float = 0.2) -> None:
        """Wait until there have been some readings; each look at them is a scrape, which takes CPU time, too."""
        while self.readings(result) < number:
            if self.process.poll() is not None:
                raise SystemExit(self._errors.read_text())
            time.sleep(pause_s)

    def peak_mb(self) -> float:
        """Return the largest memory so far; only Linux knows it."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1e3

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)


def large(nodes: int, pods: int, readings: int, folder: Path) -> int:
    """Measure readings and scrapes of a large cluster; return how many budgets are missed."""
    missed = 0
    with served(nodes, pods) as api:
        exporter = Exporter(api, 1.0, folder / "large")
        exporter.wait(1)
        first_s, before = exporter.age_s, exporter.metrics()["process_cpu_seconds_total"]
        exporter.wait(readings, pause_s=2.0)
        after = exporter.metrics()
        reading_s = (after["process_cpu_seconds_total"] - before) / (readings - 1)
        name = f"{nodes:,} nodes, {pods:,} pods"
        missed += row(f"{name}: CPU of a reading", reading_s, MOST_READING_S, "s")
        print(f"{f'{name}: first metrics after':60} {first_s:10.1f} s")
        missed += row(f"{name}: largest memory, after {readings} readings", exporter.peak_mb(), MOST_MB, "MB")
        missed += scrapes(exporter, name)
        exporter.stop()
    return missed


def scrapes(exporter: Exporter, name: str) -> int:
    """Measure the wall time of a scrape during readings, and the CPU time of many scrapes."""
    text = get(exporter.port, "/metrics")
    times = []
    for _ in range(10):
        began = time.perf_counter()
        get(exporter.port, "/metrics")
        times.append(time.perf_counter() - began)
    print(f"{f'{name}: metrics':60} {len(text) / 1e6:10.2f} MB")
    return row(f"{name}: median of 10 scrapes, wall time", sorted(times)[5], MOST_SCRAPE_S, "s")


def failures(folder: Path) -> int:
    """Restart the API server and let lists expire; return how many budgets are missed."""
    nodes, pods = SMALL
    with served(nodes, pods) as api:
        exporter = Exporter(api, 1.0, folder / "failures")
        exporter.wait(1)
        get(api, f"{CONTROL}?expire=1")
        exporter.wait(exporter.readings() + 2)
        failed = exporter.readings("failure")
    exporter.wait(1 + failed, "failure")
    with served(nodes, pods, api):
        began = time.perf_counter()
        exporter.wait(exporter.readings() + 1)
        seconds = time.perf_counter() - began
        exporter.stop()
    missed = row("failed readings after an expired list (410)", failed, 0, "")
    return missed + row("next reading after a restart of the API server", seconds, 30, "s")


def cycles(number: int, changed: int, folder: Path) -> int:
    """Replace pods before each reading, and compare the memory; return how many budgets are missed."""
    nodes, pods = SMALL
    with served(nodes, pods) as api:
        exporter = Exporter(api, 1.0, folder / "cycles")
        found = []
        for at in range(number):
            get(api, f"{CONTROL}?replace={changed}")
            exporter.wait(at + 1)
            found.append(exporter.metrics()["process_resident_memory_bytes"] / 1e6)
        exporter.stop()
    start = max(found[: max(1, number // 4)])
    name = f"{number} cycles of {changed:,} changed pods of {pods:,}"
    print(f"{f'{name}: memory':60} {found[-1]:10.1f} MB, at most {max(found):.1f} MB")
    return row(f"{name}: growth", max(found[number // 4 :]) - start, MOST_GROWTH_MB, "MB")


def row(name: str, value: float, budget: float, unit: str) -> int:
    """Print a number and its budget; return 1 if it is missed."""
    is_missed = value > budget
    print(f"{name:60} {value:10.2f} {unit:2} {budget:8} {unit:2} {'MISSED' if is_missed else ''}".rstrip(), flush=True)
    return int(is_missed)


def main() -> int:
    """Measure and print; 1 where a budget is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=150_000)
    parser.add_argument("--readings", type=int, default=3)
    parser.add_argument("--cycles", type=int, default=200)
    parser.add_argument("--changed", type=int, default=1000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        missed = failures(folder)
        missed += cycles(given.cycles, given.changed, folder) if given.cycles else 0
        missed += large(given.nodes, given.pods, given.readings, folder)
    return int(missed > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(*map(int, sys.argv[2:5]))
    else:
        sys.exit(main())
