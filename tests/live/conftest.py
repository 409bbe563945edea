"""An API server to read from, and kubeconfigs that lead to it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.source import SourceFile
from tests import pki
from tests.apiserver import ApiServer
from tests.controlplane import ControlPlane
from tests.controlplane import kubeconfig as kubeconfig_of
from tests.live.api import Api, Recorder
from tests.live.cluster import Cluster, Scene
from tests.pki import Authority

SHOP = Path(__file__).parent.parent.parent / "examples" / "shop"


STAND_IN_ALONE = "not with --kubeconfig: they make the API server fail, or need what only the stand-in has"


def _is_of_any_cluster(path: Path) -> bool:
    return path.name.startswith("test_cluster_")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With a real cluster, only tests that hold for any; without leave to write, only those that read."""
    if not config.getoption("kubeconfig"):
        return
    here = Path(__file__).parent
    others = [item for item in items if item.path.parent == here and not _is_of_any_cluster(item.path)]
    config.stash[_DESELECTED] = len(others)
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]


_DESELECTED = pytest.StashKey[int]()


def pytest_report_collectionfinish(config: pytest.Config) -> str:
    """Why tests are deselected."""
    count = config.stash.get(_DESELECTED, 0)
    return f"{count} tests of the stand-in deselected, {STAND_IN_ALONE}" if count else ""


@pytest.fixture(autouse=True)
def nowhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No kubeconfig of whoever runs the tests, and no proxy."""
    if _is_of_any_cluster(request.path):
        for name in ("KUBECONFIG", "HTTP_PROXY", "http_proxy"):  # what records requests is on this machine
            monkeypatch.delenv(name, raising=False)
        return
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))


def shop_objects() -> list[dict[str, Any]]:
    """The objects of the example."""
    path = SHOP / "cluster.yaml"
    (document,) = compose.compose(SourceFile(str(path), path.read_text(encoding="utf-8")))
    assert isinstance(document, compose.Document)
    items: list[dict[str, Any]] = nodes.to_plain(document.root)["items"]
    return items


@pytest.fixture
def server() -> Iterator[ApiServer]:
    """The example's cluster."""
    with ApiServer(shop_objects()).running() as running:
        yield running


class Kubeconfig(NamedTuple):
    """Writes kubeconfig files."""

    folder: Path

    def __call__(
        self,
        server: str,
        *,
        name: str = "config",
        cluster: dict[str, Any] | None = None,
        user: dict[str, Any] | None = None,
        namespace: str = "shop",
    ) -> str:
        path = self.folder / name
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "kind",
            "clusters": [{"name": "kind", "cluster": {"server": server, **(cluster or {})}}],
            "users": [{"name": "me", "user": user or {}}],
            "contexts": [{"name": "kind", "context": {"cluster": "kind", "user": "me", "namespace": namespace}}],
        }
        path.write_text(json.dumps(config, indent=2), encoding="utf-8")
        return str(path)


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Kubeconfig:
    return Kubeconfig(tmp_path)


@pytest.fixture
def config(server: ApiServer, kubeconfig: Kubeconfig) -> str:
    """A kubeconfig of the example's cluster."""
    return kubeconfig(server.url)


@pytest.fixture
def secure(authority: Authority) -> Iterator[ApiServer]:
    """The example's cluster over TLS: only there are credentials sent."""
    with ApiServer(shop_objects()).running(tls=authority.server) as running:
        yield running


class AsUser(NamedTuple):
    """Writes kubeconfig files of the secure cluster."""

    server: ApiServer
    kubeconfig: Kubeconfig
    authority: Authority

    def __call__(self, user: dict[str, Any]) -> str:
        ca = {"certificate-authority": str(self.authority.ca)}
        return self.kubeconfig(self.server.url, cluster=ca, user=user)


@pytest.fixture
def as_user(secure: ApiServer, kubeconfig: Kubeconfig, authority: Authority) -> AsUser:
    return AsUser(secure, kubeconfig, authority)


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """An exec credential plugin that gives out what is in the file beside it, and keeps what it was told."""
    script = tmp_path / "plugin.py"
    script.write_text(
        "import json, os, pathlib, sys\n"
        "here = pathlib.Path(__file__).parent\n"
        "(here / 'info.json').write_text(os.environ['KUBERNETES_EXEC_INFO'])\n"
        "(here / 'stdin.txt').write_text(sys.stdin.read())\n"
        "status = json.loads((here / 'status.json').read_text())\n"
        "group = 'client.authentication.k8s.io/v1'\n"
        "print(json.dumps({'apiVersion': group, 'kind': 'ExecCredential', 'status': status}))\n",
        encoding="utf-8",
    )
    return script


def exec_user(*args: str, **more: Any) -> dict[str, Any]:
    """A user whose credentials a plugin gives."""
    written = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": list(args),
        "interactiveMode": "Never",
        **more,
    }
    return {"exec": written}


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Certificates of 127.0.0.1 and of the user jane."""
    return pki.authority(tmp_path_factory.mktemp("pki"))


@pytest.fixture(scope="session")
def api(request: pytest.FixtureRequest) -> Iterator[Api]:
    """The API server of --kubeconfig, or a stand-in of a control plane."""
    file, context = request.config.getoption("kubeconfig"), request.config.getoption("context")
    if file:
        yield Api(file, context)
        return
    authority = request.getfixturevalue("authority")
    with ControlPlane().running(tls=authority.server) as server:
        path = request.getfixturevalue("tmp_path_factory").mktemp("cluster") / "config"
        path.write_text(json.dumps(kubeconfig_of(server.url, authority)), encoding="utf-8")
        yield Api(str(path), "stand-in")


@pytest.fixture(scope="session")
def cluster(api: Api) -> Iterator[Cluster]:
    """A cluster, real or not."""
    with Recorder(api).running() as tool, Recorder(api).running() as kubectl:
        found = Cluster(api, tool, kubectl)
        try:
            yield found
        finally:
            found.close()


@pytest.fixture(scope="session")
def may_write(request: pytest.FixtureRequest) -> bool:
    """Whether objects may be created: in a stand-in always."""
    options = request.config
    return bool(options.getoption("allow_writes") or not options.getoption("kubeconfig"))


@pytest.fixture
def is_real(request: pytest.FixtureRequest) -> bool:
    """Whether it is a real cluster, which others may use meanwhile."""
    return bool(request.config.getoption("kubeconfig"))


@pytest.fixture
def scene(request: pytest.FixtureRequest, may_write: bool, tmp_path: Path) -> Iterator[Scene]:
    """A namespace and nodes of the test's own."""
    if not may_write:
        pytest.skip("this test creates objects on your cluster; allow it with --allow-writes")
    with request.getfixturevalue("cluster").scene(tmp_path) as found:
        yield found


class Said(NamedTuple):
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Its JSON."""
        return json.loads(self.out)


class Spread(NamedTuple):
    """Runs `kubectl spread` in this process; nothing but GET may be sent."""

    capsys: pytest.CaptureFixture[str]
    tool: Recorder

    def __call__(self, *args: str) -> Said:
        self.capsys.readouterr()
        code = run(list(args))
        out, err = self.capsys.readouterr()
        assert "Traceback" not in err
        return Said(int(code), out, err)

    def sent_otherwise(self) -> list[tuple[str, str]]:
        """Requests that change something, or watch."""
        return [(method, target) for method, target in self.tool.requests if method != "GET" or "watch" in target]


@pytest.fixture
def spread(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> Iterator[Spread]:
    """The program."""
    found = Spread(capsys, cluster.tool)
    yield found
    assert [] == found.sent_otherwise()
