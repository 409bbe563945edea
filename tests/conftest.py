"""Options of the suite."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ["COLUMNS"] = "120"  # texts are as wide wherever the tests run

RECORDINGS = Path(__file__).parent / "conformance" / "recordings"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance", "recordings of the real scheduler")
    group.addoption("--corpus", type=Path, default=RECORDINGS, help="folder of <family>.ndjson.gz recordings")
    group.addoption("--family", action="append", default=[], help="run only this family (repeatable)")
