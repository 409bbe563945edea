"""How the tests keep their nodes' Leases fresh."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane import ControlPlane
from tests.controlplane import kubeconfig as kubeconfig_of
from tests.live.api import Api, Recorder
from tests.live.cluster import Cluster
from tests.live.conftest import Kubeconfig
from tests.pki import Authority

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


class RacingApi(Api):
    """An API whose other user creates each Lease just before this one does."""

    def ask(self, method: str, path: str, body: Any = None, *, kind: str = "application/json") -> dict[str, Any]:
        if method == "POST" and path == LEASES:
            super().ask(method, path, body, kind=kind)
        return super().ask(method, path, body, kind=kind)


@pytest.fixture
def racing(authority: Authority, kubeconfig: Kubeconfig) -> Iterator[Cluster]:
    """A stand-in of a control plane, seen through a RacingApi."""
    with ControlPlane().running(tls=authority.server) as server:
        path = kubeconfig(server.url)
        Path(path).write_text(json.dumps(kubeconfig_of(server.url, authority)), encoding="utf-8")
        api = RacingApi(path, "stand-in")
        with Recorder(api).running() as tool, Recorder(api).running() as kubectl:
            cluster = Cluster(api, tool, kubectl)
            yield cluster
            cluster.close()


def test_lease_that_another_thread_created_first_is_no_failure(racing: Cluster) -> None:
    """A 409 after a 404 means that the Lease exists; the node is created, and its Lease names it."""
    racing.create_node("n1", scene="s", zone="a")
    lease = racing.get("Lease", "n1", "kube-node-lease")
    assert lease is not None
    assert lease["spec"]["holderIdentity"] == "n1"
