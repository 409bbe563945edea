"""The real scheduler's decisions, replayed."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.objects.constraints import constraint
from kubectl_spread.objects.validation import constraint_errors
from tests.conformance import replay

Case = dict[str, Any]

# What the dry run does not do yet; its families are reported as not run.
NOT_YET: dict[str, str] = {}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    corpus: Path = metafunc.config.getoption("--corpus")
    wanted: list[str] = metafunc.config.getoption("--family")
    if "family" not in metafunc.fixturenames:
        return
    files = sorted(corpus.glob("*.ndjson.gz"))
    names = {file.name.removesuffix(".ndjson.gz"): file for file in files}
    missing = set(wanted) - set(names)
    if missing or not files:
        raise pytest.UsageError(f"no recordings of {', '.join(sorted(missing)) or 'any family'} in {corpus}")
    params = []
    for family in wanted or names:
        if family in NOT_YET:
            skip = pytest.mark.skip(reason=f"family {family} not run: {NOT_YET[family]} not implemented")
            params.append(pytest.param(family, "{}", id=family, marks=skip))
        else:
            params += [pytest.param(family, text, id=f"{family}-{_id(text)}") for text in _texts(names[family])]
    metafunc.parametrize(("family", "text"), params)


def test_agrees_with_the_recording(family: str, text: str) -> None:
    """Every decision of the recording is ours, to the letter."""
    case = json.loads(text)
    if family == "validate" or case.get("mode") == "validate":
        _check_validation(case)
    else:
        _check_scheduling(case)


def _check_validation(case: Case) -> None:
    (pod,) = case["incoming"]
    labels = constraint.labels(pod["metadata"])
    errors = constraint_errors(constraint.constraints(pod["spec"]), created_with=labels)

    assert (case["expected"][0].get("invalid") or []) == [error.text() for error in errors]


def _check_scheduling(case: Case) -> None:
    for pod, expected, decided in replay.decisions(case):
        assert {key: value for key, value in expected.items() if key != "pod"} == decided, pod


def _texts(file: Path) -> Iterator[str]:
    """Yield the lines of a recording, one a case; each test parses its own."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from lines


def _id(text: str) -> str:
    found = re.search(r'"id":"([^"]*)","incoming":', text)
    return found[1] if found else json.loads(text)["id"]
