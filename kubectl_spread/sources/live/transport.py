"""HTTP client for the API server. No other module sends requests, and this one sends only GET."""

from __future__ import annotations

import json
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, NamedTuple, NoReturn, Optional, TYPE_CHECKING, TypeVar
from urllib.parse import quote, urlencode

from kubectl_spread import __version__
from kubectl_spread.errors import ClusterError
from kubectl_spread.objects.reading.plain import value_at
from kubectl_spread.sources.live.kubeconfig import host_of

if TYPE_CHECKING:
    from kubectl_spread.sources.live.credentials import Credentials


CONNECTIONS = 6  # at a time
_CONNECT_S, _READ_S = 10.0, 60.0
_ATTEMPTS = 5
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.25, 60.0
_RETRIED = (429, 500, 502, 503, 504)
_CHUNK_BYTES = 1 << 18
_LONGEST_CHAIN = 8
_NO_TUNNEL = "Tunnel connection failed: "  # http.client, before the proxy's status
_PROXY_USER = "; its URL can name a user: http://USER:PASSWORD@HOST:PORT"


class Response(NamedTuple):
    """Response of the API server; `body` is JSON if the status is 200."""

    status: int
    body: bytes

    @property
    def content(self) -> Any:
        """Return the body as plain values; None if it is not JSON."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None

    @property
    def message(self) -> str:
        """Return the `message` of a Status, or else the beginning of the body."""
        message = value_at(self.content, ("message",))
        return str(message) if message else " ".join(self.body[:200].decode("utf-8", "replace").split())


class UnauthorizedError(ClusterError):
    """Error of an API server that does not accept the credentials (401)."""


class Transport:
    """Client of one API server, safe for several threads.

    Args:
        credentials: the pool and the server.
        impersonation: headers that name the user to impersonate.
        timeout_s: limit for one whole request, in seconds; 0 for none.
        compresses: whether to request gzip.
    """

    def __init__(
        self,
        credentials: Credentials,
        *,
        impersonation: tuple[tuple[str, str], ...] = (),
        timeout_s: float = 0.0,
        compresses: bool = True,
    ) -> None:
        self._credentials = credentials
        self._impersonation = impersonation
        self._timeout_s = timeout_s
        self._compresses = compresses
        self._stopped = threading.Event()
        self._turn = threading.BoundedSemaphore(CONNECTIONS)
        self._refreshing = threading.Lock()
        self._room = ByteAllowance()
        self.host = host_of(credentials.server)

    def get(self, path: str, query: Optional[Mapping[str, str]] = None) -> Response:
        """Request one path, again if the server is overloaded or the response breaks off.

        Raises:
            ClusterError: there is no response.
            UnauthorizedError: the credentials are not accepted.
        """
        target = f"{path}?{urlencode(query, quote_via=quote)}" if query else path
        pause_s = _FIRST_PAUSE_S
        has_refreshed = False
        for attempt in range(1, _ATTEMPTS + 1):
            with self._turn:
                answer, wait_s = self._answer(target, is_last=attempt == _ATTEMPTS)
            if answer is not None and answer.status == 401 and not has_refreshed:
                with self._refreshing:
                    has_refreshed = self._credentials.refresh()
                if has_refreshed:
                    continue
            if answer is not None and (answer.status not in _RETRIED or attempt == _ATTEMPTS):
                return self._checked(answer, path)
            wait_s = pause_s if wait_s is None else wait_s
            if wait_s > _LONGEST_PAUSE_S:
                raise ClusterError(f"the server {self.host} asks to retry after {wait_s:.0f} s")
            if self._stopped.wait(wait_s):
                raise ClusterError("interrupted")
            pause_s *= 2
        raise ClusterError(f"the server {self.host} does not accept the credentials for {path}")

    def close(self) -> None:
        """Cancel all waiting retries."""
        self._stopped.set()
        self._credentials.pool.clear()

    def _checked(self, answer: Response, path: str) -> Response:
        if answer.status == 401:
            why = "the credentials of the kubeconfig are missing, wrong or expired"
            if not self._credentials.sends:
                why = "credentials are not sent over plain http, only over https"
            raise UnauthorizedError(
                f"You must be logged in to the server {self.host}: it answered {path} with 401 {answer.message}; {why}"
            )
        if answer.status == 407:
            raise ClusterError(
                f"unable to connect to the server {self.host}: the proxy {self._credentials.proxy} "
                f"refuses: 407 Proxy Authentication Required{_PROXY_USER}"
            )
        if answer.status in _RETRIED:
            raise ClusterError(
                f"the server {self.host} answered {path} with {answer.status} {_ATTEMPTS} times: {answer.message}"
            )
        if 300 <= answer.status < 400:
            raise ClusterError(
                f"the server {self.host} is not an API server: it redirects the request ({answer.status})"
            )
        return answer

    def _answer(self, target: str, *, is_last: bool) -> tuple[Optional[Response], Optional[float]]:
        """Return a response and its retry delay; no response if it broke off before the last attempt.

        The socket's own timeout only bounds each read, which a server that sends a byte now and then never exceeds. If
        the time is over, the connection is abandoned; it ends with the process.
        """
        import urllib3

        try:
            if self._timeout_s:
                task = Task(lambda: self._whole(target))
                if not task.wait(self._timeout_s):
                    raise self._too_slow(self._timeout_s)
                response, body = task.result()
            else:
                response, body = self._whole(target)
        except (urllib3.exceptions.HTTPError, CutOffError) as error:
            if is_last or not _broke_off(error):
                self._fail(error)
            return None, None
        except (TooLargeError, MemoryError):
            raise ClusterError(
                f"the server {self.host} sent more than any list of a cluster holds; is it an API server?"
            ) from None
        kind = str(response.headers.get("Content-Type") or "")
        if response.status == 200 and not kind.startswith("application/json"):
            raise ClusterError(f"the server {self.host} is not an API server: it answered with {kind or 'no type'}")
        after = str(response.headers.get("Retry-After") or "").strip()  # API servers write no dates
        is_number = after.isascii() and after.isdigit() and len(after) < 10
        return Response(response.status, body), float(after) if is_number else None

    def _whole(self, target: str) -> tuple[Any, bytes]:
        """Send a request and read the whole answer."""
        import urllib3

        response = self._credentials.pool.request(
            "GET",
            self._credentials.server + target,
            headers=self._headers(),
            retries=False,
            redirect=False,
            timeout=urllib3.Timeout(
                connect=min(_CONNECT_S, self._timeout_s or _CONNECT_S), read=self._timeout_s or _READ_S
            ),
            preload_content=False,
        )
        is_gzip = str(response.headers.get("Content-Encoding") or "").strip().lower() == "gzip"
        try:
            parts = response.stream(_CHUNK_BYTES, decode_content=False)
            body = read_body(parts, is_gzip=is_gzip, room=self._room)
        except BaseException as error:
            response.close()
            if isinstance(error, ValueError):  # a negative chunk size
                raise urllib3.exceptions.ProtocolError("broken chunk") from error
            raise
        response.release_conn()
        return response, body

    def _too_slow(self, limit_s: float) -> ClusterError:
        return ClusterError(
            f"the server {self.host} did not answer within {limit_s:g} s; --request-timeout sets how long to wait"
        )

    def _headers(self) -> Any:
        from urllib3 import HTTPHeaderDict

        headers = HTTPHeaderDict({"Accept": "application/json", "User-Agent": f"kubectl-spread/{__version__}"})
        headers["Accept-Encoding"] = "gzip" if self._compresses else "identity"
        authorization = self._credentials.authorization()
        if authorization:
            headers["Authorization"] = authorization
        headers.extend(self._impersonation)
        return headers

    def _fail(self, error: Exception) -> NoReturn:
        """Raise an error in kubectl's style for a missing response."""
        from urllib3 import exceptions

        cause = getattr(error, "original_error", None) or error
        if isinstance(error, exceptions.ProxyError):
            message = f"unable to connect to the server {self.host}: {self._proxy_fault(cause)}"
        elif isinstance(cause, exceptions.NewConnectionError) and "refused" in str(cause):
            message = f"the connection to the server {self.host} was refused; is it the right host and port?"
        elif isinstance(cause, exceptions.NameResolutionError):
            message = f"unable to connect to the server: there is no host {self.host}"
        elif isinstance(cause, exceptions.TimeoutError) and not isinstance(cause, exceptions.NewConnectionError):
            raise self._too_slow(
                self._timeout_s or (_CONNECT_S if isinstance(cause, exceptions.ConnectTimeoutError) else _READ_S)
            ) from None
        elif isinstance(cause, exceptions.SSLError):
            # The short form of an OpenSSL error: `certificate verify failed: self-signed certificate`.
            reason = str(cause).partition("] ")[2].rpartition(" (_ssl")[0] or "the server does not use TLS"
            message = f"unable to connect to the server {self.host}: TLS: {reason}"
        elif _broke_off(error):
            message = (
                f"unable to read from the server {self.host}: its answer is incomplete, or is not HTTP{_why(cause)}"
            )
        else:
            message = f"unable to connect to the server {self.host}{_why(cause)}"
        raise ClusterError(message) from None

    def _proxy_fault(self, cause: Exception) -> str:
        """Return what the proxy does not do: `the proxy 10.0.0.1:3128 refuses: 407 Proxy Authentication Required`."""
        from urllib3 import exceptions

        proxy = f"the proxy {self._credentials.proxy}"
        refusal = str(cause).partition(_NO_TUNNEL)[2]
        if refusal:
            return f"{proxy} refuses: {refusal}{_PROXY_USER if refusal.startswith('407') else ''}"
        if isinstance(cause, exceptions.NewConnectionError) and "refused" in str(cause):
            return f"the connection to {proxy} was refused"
        if isinstance(cause, exceptions.NameResolutionError):
            return f"there is no host for {proxy}"
        return f"{proxy} cannot be reached{_why(cause)}"


def _broke_off(error: Exception) -> bool:
    """Return whether a response ended early, so that a retry may help."""
    from urllib3 import exceptions

    return isinstance(error, (CutOffError, exceptions.ProtocolError, exceptions.IncompleteRead))


def _why(error: Optional[BaseException]) -> str:
    """Return the operating system's message for an error, after a colon; empty if there is none.

    Libraries put their classes and objects into messages, which do not help a user.
    """
    seen = 0
    while error is not None and seen < _LONGEST_CHAIN:
        if isinstance(error, OSError) and error.strerror:
            return f": {error.strerror.lower()}"
        inner = [arg for arg in error.args if isinstance(arg, BaseException)]
        error = inner[0] if inner else (error.__cause__ or error.__context__)
        seen += 1
    return ""


MAX_BODY_BYTES = 1 << 30
# A list of pods compresses by 10 to 60; deflate cannot do better than 1,032.
_MAX_RATIO = 300
_RATIO_FROM_BYTES = 64 << 20
_STEP_BYTES = 1 << 20


class TooLargeError(Exception):
    """A response that is larger than any list of a cluster."""


class CutOffError(Exception):
    """A response that ended early, or does not decode."""


class ByteAllowance:
    """Memory for the bodies that are read at the same time, safe for several threads."""

    def __init__(self) -> None:
        self._taken = 0
        self._lock = threading.Lock()

    def take(self, count: int) -> None:
        """Count more bytes, or fewer if the number is negative.

        Raises:
            TooLargeError: all bodies together exceed `MAX_BODY_BYTES`.
        """
        with self._lock:
            self._taken += count
            if count > 0 and self._taken > MAX_BODY_BYTES:
                raise TooLargeError


def read_body(parts: Iterable[bytes], *, is_gzip: bool, room: Optional[ByteAllowance] = None) -> bytes:
    """Return the decoded body.

    Args:
        parts: the body as it arrives.
        is_gzip: whether it is compressed.
        room: memory that it shares with other bodies.

    Raises:
        TooLargeError: it does not fit into the room, or compresses far better than any list.
        CutOffError: the compressed text is incomplete or broken.
    """
    found: list[bytes] = []
    shared = room or ByteAllowance()
    try:
        for piece in _decoded(parts, is_gzip=is_gzip):
            found.append(piece)
            shared.take(len(piece))
        return b"".join(found)
    finally:
        shared.take(-sum(map(len, found)))


def _decoded(parts: Iterable[bytes], *, is_gzip: bool) -> Iterator[bytes]:
    received = decoded = 0
    decoder = zlib.decompressobj(16 + zlib.MAX_WBITS) if is_gzip else None
    for part in parts:
        received += len(part)
        for piece in (part,) if decoder is None else _inflated(decoder, part):
            decoded += len(piece)
            if decoded > _RATIO_FROM_BYTES and decoded > _MAX_RATIO * received:
                raise TooLargeError
            yield piece
    if decoder is not None and received and not decoder.eof:
        raise CutOffError


def _inflated(decoder: zlib._Decompress, part: bytes) -> Iterator[bytes]:
    """Yield the decompressed content of a part, at most `_STEP_BYTES` at a time."""
    try:
        while part:
            yield decoder.decompress(part, _STEP_BYTES)
            part = decoder.unconsumed_tail
    except zlib.error:
        raise CutOffError from None


T = TypeVar("T")
_HEARS_S = 0.2  # Seconds between checks for Ctrl-C while another thread works.


class Task(Generic[T]):
    """A call on its own thread, which does not keep the process from ending."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._result: list[T] = []
        self._error: Optional[BaseException] = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def result(self) -> T:
        """Wait for the result; Ctrl-C works in the meantime, on Windows too."""
        while self._thread.is_alive():
            self._thread.join(_HEARS_S)
        if self._error is not None:
            raise self._error
        return self._result[0]

    def wait(self, seconds: float) -> bool:
        """Wait for the end of the call, up to a time limit; return whether it has ended."""
        end = time.monotonic() + seconds
        while self._thread.is_alive() and (left := end - time.monotonic()) > 0:
            self._thread.join(min(left, _HEARS_S))
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._result.append(self._call())
        except BaseException as error:  # noqa: BLE001 (it is raised where the result is used)
            self._error = error
