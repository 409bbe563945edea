"""An API server to read from, and kubeconfigs that lead to it."""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from typing import NamedTuple

import pytest

from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.source import SourceFile
from tests.apiserver import ApiServer

SHOP = Path(__file__).parent.parent.parent / "examples" / "shop"


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No kubeconfig of whoever runs the tests, and no proxy."""
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


class Authority(NamedTuple):
    """A CA, and certificates that it signed."""

    ca: Path
    server: ssl.SSLContext
    client_cert: Path
    client_key: Path


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Certificates of 127.0.0.1 and of the user jane."""
    folder = tmp_path_factory.mktemp("pki")
    _issue(folder, "ca", "/CN=kubernetes-ca", signed_by="")
    _issue(folder, "server", "/CN=kube-apiserver", signed_by="ca", names="IP:127.0.0.1,DNS:kubernetes")
    _issue(folder, "jane", "/O=team/CN=jane", signed_by="ca")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.crt", folder / "server.key")
    context.load_verify_locations(folder / "ca.crt")
    context.verify_mode = ssl.CERT_OPTIONAL
    return Authority(folder / "ca.crt", context, folder / "jane.crt", folder / "jane.key")


def _issue(folder: Path, name: str, subject: str, *, signed_by: str, names: str = "") -> None:
    key = [
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-keyout",
        str(folder / f"{name}.key"),
    ]
    if not signed_by:
        args = ["req", "-x509", *key, "-subj", subject, "-days", "2", "-out", str(folder / f"{name}.crt")]
        subprocess.run(["openssl", *args], check=True, capture_output=True)
        return
    request = folder / f"{name}.csr"
    subprocess.run(["openssl", "req", *key, "-subj", subject, "-out", str(request)], check=True, capture_output=True)
    extensions = folder / f"{name}.ext"
    extensions.write_text(f"subjectAltName={names}\n" if names else "extendedKeyUsage=clientAuth\n")
    ca = ["-CA", str(folder / f"{signed_by}.crt"), "-CAkey", str(folder / f"{signed_by}.key"), "-CAcreateserial"]
    out = ["-days", "2", "-extfile", str(extensions), "-out", str(folder / f"{name}.crt")]
    subprocess.run(["openssl", "x509", "-req", "-in", str(request), *ca, *out], check=True, capture_output=True)
