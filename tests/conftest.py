"""Options of the suite."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import zlib
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

# `make check` runs every fourth case of tables with more than 12 cases, and every sixteenth beyond 1,000.
_LONG_TABLES = ((1000, 16), (12, 4))

# Tests of these folders run whole commands or searches, and most faults show in many of them. Of the tests that are not
# slow already, `make check` runs every fourth, sixth, ... The name decides, so a new test changes no other.
_SAMPLED = {
    "advice": 4,
    "cli": 4,
    "examples": 4,
    "explain": 3,
    "guarantee": 4,
    "judge": 4,
    "live": 6,
    "naive": 4,
    "pages": 4,
    "rebalance": 4,
}

TESTS = Path(__file__).parent

RECORDINGS = TESTS / "conformance" / "recordings"


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One worker more than there are processors: some tests wait for servers, browsers and pip."""
    return (os.cpu_count() or 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    """Let `make check` draw the first examples only."""
    if config.getoption("markexpr") == "not slow":
        settings.load_profile("quick")


def pytest_collection_finish() -> None:
    """Exclude all that the collection of tests has made from garbage collection."""
    _collect()


def _collect() -> None:
    """Collect garbage; what is left lasts, so later collections do not look at it again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Run tests without garbage collection, as the program runs, and collect before one in twenty."""
    if not gc.isenabled() and zlib.crc32(item.nodeid.encode()) % 20 == 0:
        _collect()
    gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark most cases of long tables, and most tests of the sampled folders, as slow.

    Folders with uncommitted changes, here or in the package of the same name, run in full.
    """
    if config.getoption("markexpr") != "not slow":
        return
    changed = _changed_folders()
    sizes = Counter((item.path, getattr(item, "originalname", "")) for item in items)
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0]
        size = sizes[item.path, getattr(item, "originalname", "")]
        of_table = next((every for least, every in _LONG_TABLES if size > least), 1)
        every = max(of_table, _SAMPLED.get(folder, 1))
        if folder not in changed and zlib.crc32(item.nodeid.encode()) % every:
            item.add_marker(pytest.mark.slow)


def _changed_folders() -> set[str]:
    """Return the folders of tests/ that belong to uncommitted changes; empty without git."""
    try:
        status = subprocess.run(["git", "status", "--porcelain"], cwd=TESTS, capture_output=True, text=True)
    except OSError:
        return set()
    paths = [line[3:].split("/") for line in status.stdout.splitlines()]
    return {path[1].removesuffix(".py") for path in paths if path[0] in ("kubectl_spread", "tests") and len(path) > 1}


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
