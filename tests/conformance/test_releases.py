"""Decisions of kube-scheduler 1.20 to 1.35, replayed: a sample of every release's recordings."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.explain.explanation import explain
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.releases.version import MEASURED, nearest_release, release_of
from kubectl_spread.report.explain.document import explanation as document_of
from kubectl_spread.report.explain.pod_report import PodReport
from kubectl_spread.scheduler.profiles import profiles
from tests.conformance import replay
from tests.conformance.measure import cases, measure, SAMPLES

FILES = sorted(SAMPLES.glob("*.ndjson.gz"))
_SHOWN = 3  # differences, where there are more


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.removesuffix(".ndjson.gz"))
def test_every_decision_of_a_release_is_ours(file: Path) -> None:
    """Feasible nodes, reasons, messages, scores and placements are those of the release, to the letter."""
    differences = [
        (case["id"], name, _different(expected, decided))
        for case in cases(file)
        for name, expected, decided in replay.decisions(case)
        if _different(expected, decided)
    ]

    assert differences[:_SHOWN] == [], f"{len(differences)} decisions differ"


def _different(expected: replay.Case, decided: replay.Case) -> dict[str, object]:
    """The fields in which a decision differs, with both values."""
    fields = sorted({*expected, *decided} - {"pod"})
    return {
        field: (expected.get(field), decided.get(field))
        for field in fields
        if expected.get(field) != decided.get(field)
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.removesuffix(".ndjson.gz"))
def test_pods_of_every_release_are_explained(file: Path) -> None:
    """The explanation has the recorded message, and a document can be made of it."""
    for case in itertools.islice(cases(file), 6):
        cluster = cluster_of(case["objects"] + case["incoming"])
        by_name = profiles(
            replay._config(case.get("schedulerConfig")), nearest_release(release_of(case["kubernetesVersion"]))
        )
        found = explain(read.pod(case["incoming"][0]), cluster, by_name)
        recorded = case["expected"][0].get("message", "")

        assert found.message.startswith(recorded) or "gated" in case["expected"][0]
        assert document_of(PodReport(found))["pod"]


def test_every_measured_minor_version_has_a_sample() -> None:
    """1.34 and 1.36 have families of their own; of 1.34 a second patch is here, too."""
    sampled = {release_of(next(cases(file))["kubernetesVersion"]) for file in FILES}

    assert {(minor, patch) for minor, patch in MEASURED.items() if minor not in (34, 36)} | {(34, 7)} == sampled


def test_the_numbers_of_a_release_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """What `python -m tests.conformance.measure` prints is what the documents say."""
    with capsys.disabled():
        count = measure(FILES[0])

    assert (count.decisions, count.decisions) == (count.equal, count.same_node)
    assert str(count).startswith(f"1.20.15: {count.cases} cases, {count.decisions} decisions, {count.equal} equal")
