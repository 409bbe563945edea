"""How a cluster is reached, as whom, and what is said where it is not."""

from __future__ import annotations

import base64
import json
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from tests.apiserver import ApiServer, QuietServer, Reply, status
from tests.live.conftest import AsUser, exec_user, Kubeconfig, shop_objects
from tests.pki import Authority

ARGS = ["explain", "pod/web-6d4f9c7b58-9pdlw"]


def refused(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    """The error of a command that reads nothing."""
    code = run([*ARGS, *args])
    out, err = capsys.readouterr()

    assert (code, out) == (3, "")
    return err


def text_of(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def test_a_bearer_token_is_sent(secure: ApiServer, as_user: AsUser) -> None:
    secure.tokens = {"secret": "jane"}

    assert run([*ARGS, "--kubeconfig", as_user({"token": "secret"})]) == 1
    assert {("Bearer secret",)} == {tuple(request.header("Authorization")) for request in secure.requests}


def test_a_token_file_is_read_relative_to_its_kubeconfig(secure: ApiServer, as_user: AsUser, tmp_path: Path) -> None:
    secure.tokens = {"secret": "jane"}
    (tmp_path / "token").write_text("secret\n")

    assert run([*ARGS, "--kubeconfig", as_user({"tokenFile": "token"})]) == 1


def test_a_token_of_the_command_line_counts_before_the_kubeconfigs(secure: ApiServer, as_user: AsUser) -> None:
    secure.tokens = {"secret": "jane"}
    config = as_user(exec_user("-c", "raise SystemExit(1)"))

    assert run([*ARGS, "--kubeconfig", config, "--token", "secret"]) == 1


def test_an_expired_token_is_told(secure: ApiServer, as_user: AsUser, capsys: pytest.CaptureFixture[str]) -> None:
    secure.tokens = {"secret": "jane"}
    err = refused(capsys, "--kubeconfig", as_user({"token": "old"}))
    host = secure.url.removeprefix("https://")

    assert err == (
        f"error: You must be logged in to the server {host}: it answered /version with 401 Unauthorized; "
        "the credentials of the kubeconfig are missing, wrong or expired\n"
    )


def test_name_and_password_are_sent(secure: ApiServer, as_user: AsUser) -> None:
    run([*ARGS, "--kubeconfig", as_user({"username": "u", "password": "p"})])

    assert {("Basic dTpw",)} == {tuple(request.header("Authorization")) for request in secure.requests}


CREDENTIALS: dict[str, dict[str, Any]] = {
    "a token": {"token": "secret"},
    "a token file": {"tokenFile": "token"},
    "a name and a password": {"username": "u", "password": "p"},
    "an exec plugin": exec_user("-c", "raise SystemExit('it is run')"),
    "an auth provider": {"auth-provider": {"name": "oidc", "config": {"id-token": "x"}}},
}


@pytest.mark.slow
@pytest.mark.parametrize("user", CREDENTIALS.values(), ids=CREDENTIALS)
def test_no_credentials_are_sent_over_plain_http(
    user: dict[str, Any],
    server: ApiServer,
    kubeconfig: Kubeconfig,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """kubectl sends none either, and does not ask for any."""
    (tmp_path / "token").write_text("secret")
    config = kubeconfig(server.url, user={**user, "as": "jane"})

    assert run([*ARGS, "--kubeconfig", config]) == 1
    assert run([*ARGS, "--kubeconfig", config, "--token", "other"]) == 1
    assert {((), ("jane",))} == {
        (tuple(request.header("Authorization")), tuple(request.header("Impersonate-User")))
        for request in server.requests
    }
    server.faults.append(lambda request: status(401, "Unauthorized", "Unauthorized"))
    capsys.readouterr()
    host = server.url.removeprefix("http://")
    assert refused(capsys, "--kubeconfig", config) == (
        f"error: You must be logged in to the server {host}: it answered /version with 401 Unauthorized; "
        "credentials are not sent over plain http, only over https\n"
    )


def jwt(**claims: Any) -> str:
    """A JSON Web Token that nobody signed."""
    parts = ({"alg": "none"}, claims)
    return ".".join(
        [*(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts), "s"]
    )


def oidc(**config: str) -> dict[str, Any]:
    return {"auth-provider": {"name": "oidc", "config": config}}


def test_the_token_of_an_oidc_provider_is_sent(secure: ApiServer, as_user: AsUser) -> None:
    token = jwt(exp=time.time() + 3600)
    secure.tokens = {token: "jane"}

    assert run([*ARGS, "--kubeconfig", as_user(oidc(**{"id-token": token}))]) == 1


PROVIDERS: dict[str, tuple[dict[str, Any], str]] = {
    "gcp": (
        {"auth-provider": {"name": "gcp", "config": {"cmd-path": "/bin/false"}}},
        "the gcp auth plugin has been removed from kubectl: use the exec plugin gke-gcloud-auth-plugin instead",
    ),
    "azure": (
        {"auth-provider": {"name": "azure"}},
        "the azure auth plugin has been removed from kubectl: use the exec plugin kubelogin instead",
    ),
    "unknown": ({"auth-provider": {"name": "openstack"}}, "no auth provider found for name `openstack`"),
    "expired": (
        oidc(**{"id-token": jwt(exp=5), "idp-issuer-url": "https://127.0.0.1:1", "refresh-token": "r"}),
        (
            "the `id-token` of the oidc auth provider has expired; any kubectl command renews it, "
            "such as `kubectl version`"
        ),
    ),
    "no token": (oidc(), "the oidc auth provider has no `id-token`; log in first"),
    "no expiry": (oidc(**{"id-token": jwt()}), "the `id-token` of the oidc auth provider is not a JSON Web Token"),
    "no JWT": (oidc(**{"id-token": "a.ü.c"}), "the `id-token` of the oidc auth provider is not a JSON Web Token"),
    "an absurd expiry": (
        oidc(**{"id-token": jwt(exp=[1])}),
        "the `id-token` of the oidc auth provider is not a JSON Web Token",
    ),
}


@pytest.mark.parametrize(("user", "said"), PROVIDERS.values(), ids=PROVIDERS)
def test_an_auth_provider_that_kubectl_refuses_is_refused(
    user: dict[str, Any], said: str, secure: ApiServer, as_user: AsUser, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is asked, neither of the cluster nor of the provider, and no command of the kubeconfig is run."""
    config = as_user(user)
    lines = Path(config).read_text(encoding="utf-8").splitlines()
    ((line, column),) = [
        (number, text.index(": ") + 3) for number, text in enumerate(lines, 1) if '"auth-provider"' in text
    ]

    assert refused(capsys, "--kubeconfig", config) == f"error: {config}:{line}:{column}: {said}\n"
    assert [] == secure.requests


SERVERS = [
    "http://[::1",
    "https://",
    "https://host:port",
    "https://host:99999",
    "ftp://host",
    "https://ho st",
    "https:///path",
    "http://user:secret@[::1",
    "http://user:sec/ret:secret@host",
    "http://secret:secret/secret@host",
]


@pytest.mark.parametrize("url", SERVERS)
def test_a_server_that_is_no_url_is_told_at_its_place(
    url: str, kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str]
) -> None:
    config = kubeconfig(url)
    err = refused(capsys, "--kubeconfig", config)

    assert err.startswith(f"error: {config}:")
    assert "is not the URL of an API server" in err
    assert "secret" not in err
    assert "is not the URL of an API server" in refused(
        capsys, "--kubeconfig", kubeconfig("https://x"), "--server", url
    )


def test_a_password_in_the_servers_url_is_never_printed(
    server: ApiServer, kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str]
) -> None:
    url = server.url.replace("http://", "http://jane:hunter2@")
    run([*ARGS, "--kubeconfig", kubeconfig(url)])
    run([*ARGS, "--kubeconfig", kubeconfig(url), "--server", url])
    server.faults.append(lambda request: status(500, "InternalError", "no"))
    run(["status", "--kubeconfig", kubeconfig(url.replace("127.0.0.1", "no-such-host.invalid"))])
    run(["status", "--server", url, "--kubeconfig", kubeconfig(url), "--request-timeout", "2s"])
    run([*ARGS, "--kubeconfig", kubeconfig(url), "--server", url.replace("hunter2", "a@b/hunter2")])
    out, err = capsys.readouterr()

    assert "hunter2" not in out + err


def test_a_token_file_that_is_no_text_is_told(
    secure: ApiServer, as_user: AsUser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "token").write_bytes(b"\xff\xfe")

    assert "the token file is not UTF-8" in refused(capsys, "--kubeconfig", as_user({"tokenFile": "token"}))
    assert [] == secure.requests


@pytest.mark.parametrize("text", ["9" * 20, "9" * 20 + "s", "1e400s", "9" * 5000 + "h"])
def test_a_timeout_beyond_all_durations_is_wrong_usage(
    text: str, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*ARGS, "--kubeconfig", config, "--request-timeout", text]) == 2
    assert capsys.readouterr().err == f"error: --request-timeout: not a duration: {text}; write 30s\n"


@pytest.mark.slow
def test_the_certificate_of_a_server_is_verified(
    authority: Authority, kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str]
) -> None:
    with ApiServer(shop_objects()).running(tls=authority.server) as server:
        trusted = kubeconfig(server.url, cluster={"certificate-authority": str(authority.ca)})
        by_data = kubeconfig(server.url, cluster={"certificate-authority-data": text_of(authority.ca)}, name="data")
        unknown = kubeconfig(server.url, name="unknown")

        assert run([*ARGS, "--kubeconfig", trusted]) == 1
        assert run([*ARGS, "--kubeconfig", by_data]) == 1
        capsys.readouterr()
        err = refused(capsys, "--kubeconfig", unknown)
        assert "TLS: certificate verify failed: " in err
        assert err.startswith("error: unable to connect to the server 127.0.0.1:")
        assert run([*ARGS, "--kubeconfig", unknown, "--certificate-authority", str(authority.ca)]) == 1
        assert run([*ARGS, "--kubeconfig", unknown, "--insecure-skip-tls-verify"]) == 1
        assert run([*ARGS, "--kubeconfig", trusted, "--tls-server-name", "kubernetes"]) == 1
        capsys.readouterr()
        assert "certificate verify failed" in refused(capsys, "--kubeconfig", trusted, "--tls-server-name", "other")


@pytest.mark.parametrize("by_data", [True, False])
def test_a_client_certificate_is_shown_and_leaves_no_file_behind(
    by_data: bool, authority: Authority, kubeconfig: Kubeconfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    user: dict[str, Any] = {"client-certificate": str(authority.client_cert), "client-key": str(authority.client_key)}
    if by_data:
        user = {
            "client-certificate-data": text_of(authority.client_cert),
            "client-key-data": text_of(authority.client_key),
        }
    stand_in = ApiServer(shop_objects())
    stand_in.tokens = {"nobody has it": "x"}  # who has no certificate is anonymous, and may do nothing
    with stand_in.running(tls=authority.server) as server:
        ca = {"certificate-authority": str(authority.ca)}
        code = run([*ARGS, "--kubeconfig", kubeconfig(server.url, cluster=ca, user=user)])

        assert code == 1
        assert run([*ARGS, "--kubeconfig", kubeconfig(server.url, cluster=ca, name="anonymous")]) == 3
    assert [] == list(scratch.iterdir())


def test_an_exec_plugin_gives_a_token(secure: ApiServer, as_user: AsUser, plugin: Path, tmp_path: Path) -> None:
    secure.tokens = {"fresh": "jane"}
    (tmp_path / "status.json").write_text(json.dumps({"token": "fresh"}))

    assert run([*ARGS, "--kubeconfig", as_user(exec_user(str(plugin)))]) == 1
    info = json.loads((tmp_path / "info.json").read_text())
    assert info["kind"] == "ExecCredential"


def test_an_exec_plugin_gives_a_certificate(
    authority: Authority, kubeconfig: Kubeconfig, plugin: Path, tmp_path: Path
) -> None:
    certificate = {
        "clientCertificateData": authority.client_cert.read_text(),
        "clientKeyData": authority.client_key.read_text(),
    }
    (tmp_path / "status.json").write_text(json.dumps(certificate))
    stand_in = ApiServer(shop_objects())
    stand_in.tokens = {"nobody has it": "x"}
    with stand_in.running(tls=authority.server) as server:
        ca = {"certificate-authority": str(authority.ca)}

        assert run([*ARGS, "--kubeconfig", kubeconfig(server.url, cluster=ca, user=exec_user(str(plugin)))]) == 1


FAILURES: dict[str, tuple[dict[str, Any], str]] = {
    "it fails": (
        exec_user("-c", "import sys; sys.exit('please log in\\nfirst')"),
        f"error: exec credential plugin `{sys.executable}` failed: exec: process returned 1. please log in first\n",
    ),
    "there is none": (
        exec_user(command="no-such-plugin", installHint="get it from\nexample.com"),
        (
            "error: exec credential plugin `no-such-plugin` failed: [Errno 2] No such file or directory: "
            "'no-such-plugin'; get it from example.com\n"
        ),
    ),
    "it gives nothing": (
        exec_user("-c", 'print(\'{"apiVersion": "client.authentication.k8s.io/v1", "kind": "x", "status": {}}\')'),
        (
            f"error: exec credential plugin `{sys.executable}` failed: exec: missing token or clientCertificateData "
            "field in plugin output\n"
        ),
    ),
}


ANSWERS = [
    "[]",
    "5",
    "null",
    "{}",
    "{",
    '{"status": 5}',
    '{"status": []}',
    '{"status": {"token": 5}}',
    '{"status": {"token": ["a"]}}',
    '{"status": {"token": "t", "expirationTimestamp": "soon"}}',
    '{"status": {"token": "t", "expirationTimestamp": 5}}',
    '{"status": {"clientCertificateData": 5, "clientKeyData": {}}}',
    "[" * 5000,
    "\\xff",
]


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_plugin_that_answers_nonsense_is_no_bug_of_ours(
    answer: str, as_user: AsUser, capsys: pytest.CaptureFixture[str]
) -> None:
    text = answer.replace('{"status"', '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "x", "status"')
    script = f"import sys; sys.stdout.buffer.write({text!r}.encode().replace(b'\\\\xff', b'\\xff'))"
    code = run([*ARGS, "--kubeconfig", as_user(exec_user("-c", script))])
    out, err = capsys.readouterr()

    assert code in (1, 3), err
    assert (code == 3) == (out == "")


@pytest.mark.skipif(sys.platform == "win32", reason="other words there")
@pytest.mark.parametrize(("user", "said"), FAILURES.values(), ids=FAILURES)
def test_an_exec_plugin_that_fails_is_an_error_and_no_anonymous_request(
    user: dict[str, Any], said: str, secure: ApiServer, as_user: AsUser, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said == refused(capsys, "--kubeconfig", as_user(user))
    assert [] == secure.requests


def test_impersonation_of_the_flags_is_sent(server: ApiServer, config: str) -> None:
    flags = ["--as", "jäne", "--as-uid", "7", "--as-group", "dev", "--as-group", "ops", "--as-user-extra", "a/B=c"]
    run([*ARGS, "--kubeconfig", config, *flags])
    sent = [
        (name, value.encode("latin-1").decode())
        for name, value in server.requests[0].headers
        if name.lower().startswith("impersonate")
    ]

    assert [
        ("Impersonate-User", "jäne"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "dev"),
        ("Impersonate-Group", "ops"),
        ("Impersonate-Extra-a%2Fb", "c"),
    ] == sent


def test_impersonation_of_the_kubeconfig_is_sent(server: ApiServer, kubeconfig: Kubeconfig) -> None:
    user = {"as": "jane", "as-groups": ["dev"], "as-user-extra": {"reason": ["a", "b"]}}
    run([*ARGS, "--kubeconfig", kubeconfig(server.url, user=user)])
    sent = [(name, value) for name, value in server.requests[0].headers if name.lower().startswith("impersonate")]

    assert [
        ("Impersonate-User", "jane"),
        ("Impersonate-Group", "dev"),
        ("Impersonate-Extra-reason", "a"),
        ("Impersonate-Extra-reason", "b"),
    ] == sent


def test_groups_without_a_user_are_wrong_usage(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*ARGS, "--kubeconfig", config, "--as-group", "dev"]) == 2
    assert capsys.readouterr().err == (
        "error: --as: --as-uid, --as-group and --as-user-extra need a user: add --as USER\n"
    )


def test_a_server_that_does_not_listen_is_told(kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    assert refused(capsys, "--kubeconfig", kubeconfig(f"http://127.0.0.1:{port}")) == (
        f"error: the connection to the server 127.0.0.1:{port} was refused; is it the right host and port?\n"
    )


def test_a_host_that_does_not_exist_is_told(kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, "--kubeconfig", kubeconfig("https://no-such-host.invalid:6443")) == (
        "error: unable to connect to the server: there is no host no-such-host.invalid:6443\n"
    )


PROXIES = {
    "http://user:secret@[::1": "its URL is not valid",
    "http://user:secret/secret@proxy": "its URL is not valid",
    "ftp://user:secret@proxy": "its URL must begin with http:// or https://",
    "secret": "its URL must begin with http:// or https://",
}


@pytest.mark.parametrize("url", PROXIES)
def test_a_proxy_that_is_no_url_is_refused_without_its_password(
    url: str, kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str]
) -> None:
    err = refused(capsys, "--kubeconfig", kubeconfig("https://far.invalid", cluster={"proxy-url": url}))

    assert err.partition(": the proxy cannot be used: ")[2] == f"{PROXIES[url]}\n"


def test_a_proxy_is_asked(kubeconfig: Kubeconfig, server: ApiServer) -> None:
    run([*ARGS, "--kubeconfig", kubeconfig("http://far.invalid:8080", cluster={"proxy-url": server.url})])

    assert {("far.invalid:8080",)} == {tuple(request.header("Host")) for request in server.requests}


@pytest.mark.parametrize(
    ("user", "header"),
    [
        ("shop:s3cr%40t@", ["Basic c2hvcDpzM2NyQHQ="]),
        ("shop@", ["Basic c2hvcDo="]),
        ("sh%C3%B6p:a%3Ab@", ["Basic c2jDtnA6YTpi"]),
        ("", []),
    ],
)
def test_a_proxy_gets_its_user_and_password(
    user: str, header: list[str], kubeconfig: Kubeconfig, server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """As kubectl sends them; nothing of them is printed."""
    url = server.url.replace("http://", f"http://{user}")
    run([*ARGS, "--kubeconfig", kubeconfig("http://far.invalid:8080", cluster={"proxy-url": url})])

    assert {tuple(header)} == {tuple(request.header("Proxy-Authorization")) for request in server.requests}
    assert "s3cr" not in "".join(capsys.readouterr())


class RefusingProxy(BaseHTTPRequestHandler):
    """A proxy that lets nobody through."""

    status = 407

    def do_GET(self) -> None:
        self.send_error(self.status)

    do_CONNECT = do_GET  # noqa: N815 (the name of the method)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name in http.server)
        pass


USER_HINT = "; its URL can name a user: http://USER:PASSWORD@HOST:PORT"


@pytest.mark.parametrize(
    ("server_url", "status", "said"),
    [
        ("https://far.invalid:6443", 407, f"refuses: 407 Proxy Authentication Required{USER_HINT}"),
        ("https://far.invalid:6443", 403, "refuses: 403 Forbidden"),
        ("http://far.invalid:6443", 407, f"refuses: 407 Proxy Authentication Required{USER_HINT}"),
    ],
)
def test_a_proxy_that_refuses_is_named(
    server_url: str, status: int, said: str, kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither its user nor its password is printed."""
    handler = type("Refusing", (RefusingProxy,), {"status": status})
    with QuietServer(("127.0.0.1", 0), handler) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        host = f"127.0.0.1:{proxy.server_port}"
        url = f"http://shop:secret@{host}"
        err = refused(capsys, "--kubeconfig", kubeconfig(server_url, cluster={"proxy-url": url}))
        proxy.shutdown()

    assert f"error: unable to connect to the server far.invalid:6443: the proxy {host} {said}\n" == err


def test_a_proxy_that_does_not_answer_is_named(kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        host = f"127.0.0.1:{closed.getsockname()[1]}"
    err = refused(
        capsys, "--kubeconfig", kubeconfig("https://far.invalid:6443", cluster={"proxy-url": f"http://{host}"})
    )

    said = f"unable to connect to the server far.invalid:6443: the connection to the proxy {host} was refused"
    assert f"error: {said}\n" == err


@pytest.mark.parametrize(("exempt", "hosts"), [("", {"far.invalid:8080"}), ("10.0.0.0/8,.invalid", set())])
def test_the_environments_proxy_is_asked_unless_the_server_is_exempt(
    exempt: str,
    hosts: set[str],
    kubeconfig: Kubeconfig,
    server: ApiServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    monkeypatch.setenv("no_proxy", exempt)
    run([*ARGS, "--kubeconfig", kubeconfig("http://far.invalid:8080")])

    assert hosts == {"".join(request.header("Host")) for request in server.requests}


def test_a_request_timeout_counts(server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]) -> None:
    server.faults.append(lambda request: Reply(200, b"{}", pause_s=5) if request.path == "/version" else None)
    host = server.url.removeprefix("http://")

    assert refused(capsys, "--kubeconfig", config, "--request-timeout", "300ms") == (
        f"error: the server {host} did not answer within 0.3 s; --request-timeout sets how long to wait\n"
    )


def test_a_server_that_drips_does_not_get_around_the_timeout(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.faults.append(lambda request: Reply(200, b" " * 60, drip_s=0.05) if request.path == "/version" else None)

    assert "did not answer within 0.4 s" in refused(capsys, "--kubeconfig", config, "--request-timeout", "400ms")


def test_no_duration_is_wrong_usage(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*ARGS, "--kubeconfig", config, "--request-timeout", "soon"]) == 2
    assert capsys.readouterr().err == "error: --request-timeout: not a duration: soon; write 30s\n"


def test_what_is_no_api_server_is_told(server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]) -> None:
    page = Reply(200, b"<html>log in</html>", (("Content-Type", "text/html"),))
    server.faults.append(lambda request: page)
    host = server.url.removeprefix("http://")

    assert refused(capsys, "--kubeconfig", config) == (
        f"error: the server {host} is not an API server: it answered with text/html\n"
    )
    server.faults[:] = [lambda request: Reply(302, b"", (("Location", "http://127.0.0.1:1/"),))]
    assert "it redirects the request (302)" in refused(capsys, "--kubeconfig", config)


def test_connections_are_kept_open(server: ApiServer, config: str) -> None:
    run([*ARGS, "--kubeconfig", config])

    assert server.connections <= 6 < len(server.requests)
