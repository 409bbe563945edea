"""The slow scheduler agrees with the real one on every recording."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.naive.replay import decide

Plain = dict[str, Any]

_SHOWN = 5  # differences, where there are more


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "recordings" not in metafunc.fixturenames:
        return
    corpus: Path = metafunc.config.getoption("--corpus")
    wanted: list[str] = metafunc.config.getoption("--family")
    files = {file.name.removesuffix(".ndjson.gz"): file for file in sorted(corpus.glob("*.ndjson.gz"))}
    families = [family for family in wanted or files if family in files and _is_modelled(files[family])]
    metafunc.parametrize("recordings", [files[family] for family in families], ids=families)


def _is_modelled(file: Path) -> bool:
    """Whether the slow scheduler knows the release of a recording; it is one of scheduling."""
    first = next(_cases(file))
    return file.name != "validate.ndjson.gz" and first.get("kubernetesVersion", "1.36") in ("1.34", "1.36")


@pytest.mark.slow
def test_every_decision_is_the_recorded_one(recordings: Path) -> None:
    """Feasible nodes, reasons, messages, scores, nominations and placements are the same."""
    differences = [difference for case in _cases(recordings) for difference in _differences(case)]

    assert differences[:_SHOWN] == [], f"{len(differences)} decisions differ"


def _cases(file: Path) -> Iterator[Plain]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _differences(case: Plain) -> Iterator[Plain]:
    """Name the fields in which a decision differs, and both their values."""
    for step, (expected, actual) in enumerate(zip(case["expected"], decide(case), strict=True)):
        fields = [field for field in sorted({*expected, *actual}) if expected.get(field) != actual.get(field)]
        if fields:
            both = {field: (expected.get(field), actual.get(field)) for field in fields}
            yield {"case": case["id"], "step": step, **both}
