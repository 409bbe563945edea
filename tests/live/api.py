"""How the tests themselves ask and write, apart from the program; and what records all that the program sends."""

from __future__ import annotations

import contextlib
import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple, Optional

from tests.apiserver import QuietServer

Plain = dict[str, Any]
_PASSED_ON = ("Content-Type", "Content-Encoding", "Retry-After", "Warning", "Location")
_KEPT_BACK = ("host", "authorization", "connection", "content-length")


class Answer(NamedTuple):
    """What the API server said."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def plain(self) -> Any:
        return json.loads(self.body)


class ApiError(Exception):
    """The API server refused what a test needs."""

    def __init__(self, method: str, path: str, answer: Answer) -> None:
        super().__init__(f"{method} {path}: {answer.status} {answer.body[:500].decode('utf-8', 'replace')}")
        self.status = answer.status


class Api:
    """The API server of a kubeconfig, by the credentials there."""

    def __init__(self, kubeconfig: str, context: Optional[str]) -> None:
        from kubernetes import client, config
        from kubernetes.client.rest import RESTClientObject

        self.kubeconfig = kubeconfig
        self.context = context
        self._configuration = configuration = client.Configuration()
        config.load_kube_config(kubeconfig, context, configuration, persist_config=False)
        self._configuration.connection_pool_maxsize = 8
        tls = ssl.create_default_context(cafile=configuration.ssl_ca_cert)
        tls.verify_flags &= ~ssl.VERIFY_X509_STRICT  # Python 3.13 refuses what kubeadm's CAs are
        if not configuration.verify_ssl:
            tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        if configuration.cert_file:
            tls.load_cert_chain(configuration.cert_file, configuration.key_file)
        configuration.ssl_ca_cert = configuration.cert_file = configuration.key_file = None
        self._pool = RESTClientObject(configuration).pool_manager
        self._pool.connection_pool_kw["ssl_context"] = tls
        self._url = str(configuration.host).rstrip("/")

    def send(self, method: str, target: str, *, headers: Any = (), body: bytes = b"") -> Answer:
        """Send a request, and give back the answer as it came."""
        sent = {"Accept": "application/json", **dict(headers), **self._authorization()}
        response = self._pool.request(
            method, self._url + target, headers=sent, body=body or None, preload_content=False, redirect=False
        )
        try:
            content = response.read(decode_content=False)
        finally:
            response.release_conn()
        return Answer(response.status, dict(response.headers), content)

    def ask(self, method: str, path: str, body: Any = None, *, kind: str = "application/json") -> Plain:
        """Send a request that succeeds, with JSON.

        Raises:
            ApiError: it does not.
        """
        text = b"" if body is None else json.dumps(body).encode()
        answer = self.send(method, path, headers={"Content-Type": kind}, body=text)
        if answer.status >= 300:
            raise ApiError(method, path, answer)
        found: Plain = answer.plain
        return found

    def _authorization(self) -> dict[str, str]:
        configuration = self._configuration
        if configuration.refresh_api_key_hook is not None:
            configuration.refresh_api_key_hook(configuration)
        keys = configuration.api_key
        value = keys.get("BearerToken") or keys.get("authorization")
        if not value and configuration.username:
            value = configuration.get_basic_auth_token()
        return {"Authorization": value} if value else {}


class Recorder:
    """A server on this machine that passes on what it is sent, and remembers that."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self.requests: list[tuple[str, str]] = []  # method and target
        self.url = ""

    @contextlib.contextmanager
    def running(self) -> Iterator[Recorder]:
        outer = self

        class Handler(_Handler):
            recorder = outer

        httpd = QuietServer(("127.0.0.1", 0), Handler)
        httpd.daemon_threads = True
        self.url = f"http://127.0.0.1:{httpd.server_address[1]}"
        threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield self
        finally:
            httpd.shutdown()
            httpd.server_close()

    def pass_on(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Answer:
        self.requests.append((method, target))
        return self._api.send(method, target, headers=headers, body=body)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    recorder: Recorder

    def handle(self) -> None:
        with contextlib.suppress(OSError):  # the client hung up
            super().handle()

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _KEPT_BACK}
        answer = self.recorder.pass_on(self.command, self.path, headers, body)
        self.send_response(answer.status)
        for name in _PASSED_ON:
            if name in answer.headers:
                self.send_header(name, answer.headers[name])
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _any  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class names it so)
        pass
