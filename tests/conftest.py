"""Options of the suite."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No test fails because the machine is slow, and each run draws the same examples.
settings.register_profile(
    "suite", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")

os.environ["COLUMNS"] = "120"  # texts are as wide wherever the tests run

# A suite in the background of a shell ignores Ctrl-C, and so would the processes that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Of a table with more cases than this, `make check` runs every fourth.
_LONG_TABLE, _EVERY = 12, 4

RECORDINGS = Path(__file__).parent / "conformance" / "recordings"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark three of four cases of long tables as slow, always the same ones."""
    functions = [item for item in items if isinstance(item, pytest.Function) and hasattr(item, "callspec")]
    sizes = Counter((item.path, item.originalname) for item in functions)
    seen: Counter[tuple[Path, str]] = Counter()
    for item in functions:
        table = item.path, item.originalname
        if sizes[table] > _LONG_TABLE and seen[table] % _EVERY:
            item.add_marker(pytest.mark.slow)
        seen[table] += 1


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance", "recordings of the real scheduler")
    group.addoption("--corpus", type=Path, default=RECORDINGS, help="folder of <family>.ndjson.gz recordings")
    group.addoption("--family", action="append", default=[], help="run only this family (repeatable)")

    group = parser.getgroup("live", "tests/live against a real cluster")
    group.addoption("--kubeconfig", metavar="FILE", help="the cluster to test against, instead of a stand-in")
    group.addoption("--context", metavar="NAME", help="the context of --kubeconfig to use")
    group.addoption(
        "--allow-writes",
        action="store_true",
        help="let the tests create namespaces, roles and nodes made of nothing in that cluster, and remove them",
    )
