"""Answers that no API server gives: they cost a clear message, little memory and at most the timeout."""

from __future__ import annotations

import contextlib
import gzip
import socket
import threading
import tracemalloc
import zlib
from collections.abc import Callable, Iterator

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.sources.live import transport
from kubectl_spread.sources.live import transport as transports
from tests.live.conftest import Kubeconfig

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
Serve = Callable[[socket.socket, threading.Event], None]


@contextlib.contextmanager
def serving(serve: Serve) -> Iterator[str]:
    """Answer every connection with what a function sends; the event is set when the test is over."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    threading.Thread(target=answer, args=(client,), daemon=True).start()

        def answer(client: socket.socket) -> None:
            with client, contextlib.suppress(OSError):
                client.recv(65536)
                serve(client, over)

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            over.set()


def refused(host: str, kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str], *flags: str) -> str:
    code = run(["explain", "pod/p", "--kubeconfig", kubeconfig(f"http://{host}"), *flags])
    out, err = capsys.readouterr()

    assert (3, "") == (code, out)
    return err


def dripping(start: bytes) -> Serve:
    """Send a beginning, and then a byte now and then without an end."""

    def serve(client: socket.socket, over: threading.Event) -> None:
        client.sendall(start)
        while not over.wait(0.02):
            client.sendall(b" ")

    return serve


@pytest.mark.parametrize(
    "start",
    [b"", HEAD, HEAD + b"X: ", HEAD + b"Content-Length: 100000\r\n\r\n", CHUNKED, CHUNKED + b"fff\r\n"],
    ids=["nothing", "headers", "one header", "a body", "a chunk's size", "a chunk"],
)
def test_the_timeout_bounds_the_whole_answer(
    start: bytes, kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str]
) -> None:
    """The server goes on until the test is over: without a bound on the whole answer this test would not end."""
    with serving(dripping(start)) as host:
        assert refused(host, kubeconfig, capsys, "--request-timeout", "300ms") == (
            f"error: the server {host} did not answer within 0.3 s; --request-timeout sets how long to wait\n"
        )


def saying(answer: bytes) -> Serve:
    return lambda client, over: client.sendall(answer)


BROKEN = {
    "it hangs up": b"",
    "no HTTP": b"220 mail.example ESMTP\r\n",
    "a negative chunk": CHUNKED + b"-5\r\n{}\r\n0\r\n\r\n",
    "a chunk of minus one": CHUNKED + b"-1\r\n{}\r\n",
    "a chunk size in words": CHUNKED + b"five\r\n{}\r\n",
    "an endless chunk size": CHUNKED + b"f" * 100_000,
    "no last chunk": CHUNKED + b"2\r\n{}\r\n",
    "a body cut off": HEAD + b"Content-Length: 50\r\n\r\n{",
    "an endless header": HEAD + b"X: " + b"x" * 100_000,
    "too many headers": HEAD + b"X: y\r\n" * 500,
    "gzip cut off": HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"{}" * 500)[:-12],
    "gzip that is none": HEAD + b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
    "gzip with a wrong sum": HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"{}")[:-8] + b"\0" * 8,
}


@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN)
def test_a_broken_answer_is_told_in_words_of_its_own(
    answer: bytes, kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transports, "_FIRST_PAUSE_S", 0.001)
    with serving(saying(answer)) as host:
        err = refused(host, kubeconfig, capsys)

    assert err.startswith(f"error: unable to read from the server {host}: its answer is incomplete, or is not HTTP")
    assert not [word for word in ("Error", "Exception", "(", "object", "bytes read") if word in err]


@pytest.mark.parametrize("length", ["-5", "5" * 30, "abc"])
def test_a_content_length_that_is_no_number_is_no_traceback(
    length: str, kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transports, "_FIRST_PAUSE_S", 0.001)
    with serving(saying(HEAD + f"Content-Length: {length}\r\n\r\n[]".encode())) as host:
        assert host in refused(host, kubeconfig, capsys)


def zeros(count: int) -> bytes:
    """So many MiB of zeros, compressed."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(b"0" * (1 << 20)) for _ in range(count)), packer.flush()])


@pytest.mark.slow
def test_a_body_that_compresses_too_well_is_refused(kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str]) -> None:
    """400 MiB in 400 kB: a list of a cluster does not compress by 1,000."""
    bomb = zeros(400)
    assert len(bomb) < 450_000
    with serving(saying(HEAD + b"Content-Encoding: gzip\r\n\r\n" + bomb)) as host:
        tracemalloc.start()
        try:
            err = refused(host, kubeconfig, capsys)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert err == f"error: the server {host} sent more than any list of a cluster holds; is it an API server?\n"
    assert peak < 200 << 20


def test_a_body_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_BODY_BYTES", 1 << 20)

    with pytest.raises(transport.TooLargeError):
        transport.read_body(iter(lambda: b"0" * 4096, None), is_gzip=False)


def test_bodies_that_are_read_at_the_same_time_share_one_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_BODY_BYTES", 1000)
    room = transport.ByteAllowance()

    def parts() -> Iterator[bytes]:
        yield b"0" * 600
        with pytest.raises(transport.TooLargeError):
            transport.read_body([b"1" * 600], is_gzip=False, room=room)
        assert len(transport.read_body([b"1" * 400], is_gzip=False, room=room)) == 400

    assert len(transport.read_body(parts(), is_gzip=False, room=room)) == 600
    assert len(transport.read_body([b"1" * 1000], is_gzip=False, room=room)) == 1000


def test_memory_that_runs_out_while_a_body_is_read_is_one_message(
    monkeypatch: pytest.MonkeyPatch, kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(room: transport.ByteAllowance, count: int) -> None:
        raise MemoryError

    monkeypatch.setattr(transport.ByteAllowance, "take", full)
    with serving(saying(HEAD + b"Content-Length: 2\r\n\r\n[]")) as host:
        err = refused(host, kubeconfig, capsys)

    assert err == f"error: the server {host} sent more than any list of a cluster holds; is it an API server?\n"


def test_a_body_arrives_in_whatever_parts() -> None:
    text = bytes(range(256)) * 9000
    packed = gzip.compress(text)

    assert text == transport.read_body((packed[at : at + 7] for at in range(0, len(packed), 7)), is_gzip=True)
    assert text == transport.read_body([packed], is_gzip=True)
    assert text == transport.read_body([text[:5], text[5:]], is_gzip=False)
    assert b"" == transport.read_body([], is_gzip=True)
