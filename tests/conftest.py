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
settings.register_profile("quick", settings.get_profile("suite"), max_examples=20)
settings.load_profile("suite")

os.environ["COLUMNS"] = "120"  # texts are as wide wherever the tests run

# A suite in the background of a shell ignores Ctrl-C, and so would the processes that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What `make check` runs of tables with more cases than the number: every fourth case, or every sixteenth.
_LONG_TABLES = ((1000, 16), (12, 4))

# Tests of these folders run whole commands or searches, and most faults show in many of them. Of the tests in each file
# that are not slow already, `make check` runs the first and then every fourth, sixth, ...
_SAMPLED = {
    "cli": 4,
    "examples": 4,
    "explain": 3,
    "guarantee": 4,
    "judge": 4,
    "live": 6,
    "naive": 4,
    "pages": 4,
    "rebalance": 4,
    "suggest": 4,
}

TESTS = Path(__file__).parent

RECORDINGS = TESTS / "conformance" / "recordings"


def pytest_configure(config: pytest.Config) -> None:
    """Let `make check` draw the first examples only."""
    if config.getoption("markexpr") == "not slow":
        settings.load_profile("quick")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark most cases of long tables, and most tests of the sampled folders, as slow: always the same ones."""
    _sample_tables(items)
    _sample_folders(items)


def _sample_tables(items: list[pytest.Item]) -> None:
    functions = [item for item in items if isinstance(item, pytest.Function) and hasattr(item, "callspec")]
    sizes = Counter((item.path, item.originalname) for item in functions)
    seen: Counter[tuple[Path, str]] = Counter()
    for item in functions:
        table = item.path, item.originalname
        every = next((every for size, every in _LONG_TABLES if sizes[table] > size), 1)
        if seen[table] % every:
            item.add_marker(pytest.mark.slow)
        seen[table] += 1


def _sample_folders(items: list[pytest.Item]) -> None:
    seen: Counter[Path] = Counter()
    for item in items:
        every = _SAMPLED.get(item.path.relative_to(TESTS).parts[0], 1)
        if every > 1 and item.get_closest_marker("slow") is None:
            if seen[item.path] % every:
                item.add_marker(pytest.mark.slow)
            seen[item.path] += 1


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
