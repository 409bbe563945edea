"""`status -w` while the cluster changes."""

from __future__ import annotations

import queue
import signal
import subprocess
import sys
import threading
import time

import pytest

from tests.live.cluster import Cluster, PATIENCE_S, Scene, ZONE


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for one process")
def test_a_change_is_told(scene: Scene, cluster: Cluster) -> None:
    for zone in "ab":
        scene.node(f"{zone}1", zone)
    selector = {"matchLabels": {"app": "web"}}
    hard = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    scene.apply(scene.workload("Deployment", "web", replicas=2, constraints=[hard]))
    scene.wait("web", bound=2)
    before = len(cluster.tool.requests)
    flags = ["status", "-w", "--interval", "0.2", "--no-headers", "--kubeconfig", scene.kubeconfig]
    command = [sys.executable, "-m", "kubectl_spread", *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            lines = _lines(process)
            first = _line_with(lines, "a=1", "b=1")
            scene.scale("Deployment", "web", 4)
            scene.wait("web", bound=4)
            changed = _line_with(lines, "a=2", "b=2")
        finally:
            process.send_signal(signal.SIGINT)
        process.wait(timeout=20)

    assert ["deployment/web", "zone", "1", "DoNotSchedule", "2"] == first.split()[:5] == changed.split()[:5]
    assert 130 == process.returncode
    assert {"GET"} == {method for method, _ in cluster.tool.requests[before:]}
    assert not [target for _, target in cluster.tool.requests[before:] if "watch" in target]


def _lines(process: subprocess.Popen[str]) -> queue.Queue[str]:
    """What a process prints, a line at a time."""
    found: queue.Queue[str] = queue.Queue()
    stdout = process.stdout
    assert stdout is not None

    def read() -> None:
        for line in stdout:
            found.put(line)

    threading.Thread(target=read, daemon=True).start()
    return found


def _line_with(lines: queue.Queue[str], *words: str) -> str:
    """The line that has some words; those of the moments before are passed over."""
    end = time.monotonic() + PATIENCE_S
    while True:
        line = lines.get(timeout=max(end - time.monotonic(), 0.01))
        if all(word in line.replace(",", " ").split() for word in words):
            return line
