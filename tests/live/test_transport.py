"""Only one place sends anything to an API server, and it cannot send anything but GET."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import kubectl_spread

SOURCES = Path(kubectl_spread.__file__).parent
SENDING = {"request", "urlopen", "request_encode_url", "request_encode_body", "call_api", "HTTPConnection"}
WRITING = {"POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS"}


def calls(path: Path) -> Iterator[ast.Call]:
    """Calls that send something, by the name of what is called."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in SENDING:
                yield node


@pytest.mark.slow
def test_one_call_sends_and_its_method_is_get() -> None:
    found = [
        (path.relative_to(SOURCES).as_posix(), call) for path in sorted(SOURCES.rglob("*.py")) for call in calls(path)
    ]
    ((path, call),) = found

    assert "sources/live/transport.py" == path
    assert "'GET'" == ast.unparse(call.args[0])
    assert not [keyword for keyword in call.keywords if keyword.arg in (None, "method", "body", "fields", "json")]


def test_no_other_method_is_named_where_a_cluster_is_read() -> None:
    for path in sorted((SOURCES / "sources" / "live").glob("*.py")):
        constants = {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)}

        assert not WRITING & {value for value in constants if isinstance(value, str)}, path
