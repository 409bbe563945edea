"""The real scheduler's decisions, replayed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects import read
from kubectl_spread.objects import spread
from kubectl_spread.objects.validation import constraint_errors
from kubectl_spread.scheduler.cycle import Scheduler

Case = dict[str, Any]

# What the dry run does not do yet; its families are reported as not run.
NOT_YET = {
    "defaults": "cluster default constraints",
    "large": "scores",
    "mixed": "scores and scheduler configurations",
    "odd": "scores, nominated pods, preemption",
    "preempt": "preemption",
    "score": "scores",
    "subtle": "scores and scheduler configurations",
    "v1.34": "other scheduler versions",
    "volumes": "volume plugins",
}


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
            params.append(pytest.param(family, {}, id=family, marks=skip))
        else:
            params += [pytest.param(family, case, id=case["id"]) for case in _cases(names[family])]
    metafunc.parametrize(("family", "case"), params)


def test_agrees_with_the_recording(family: str, case: Case) -> None:
    """Every decision of the recording is ours, to the letter."""
    if family == "validate" or case.get("mode") == "validate":
        _check_validation(case)
    else:
        _check_scheduling(case)


def _check_validation(case: Case) -> None:
    (pod,) = case["incoming"]
    labels = spread.labels(pod["metadata"])
    errors = constraint_errors(spread.constraints(pod["spec"]), created_with=labels)

    assert (case["expected"][0].get("invalid") or []) == [error.text() for error in errors]


def _check_scheduling(case: Case) -> None:
    cluster = _cluster(case["objects"])
    scheduler = Scheduler(Columns(cluster))
    for incoming, expected in zip(case["incoming"], case["expected"], strict=True):
        pod = read.pod(incoming)
        diagnosis = scheduler.filter(pod.cls).diagnosis()
        rejected = {
            node.name: {"plugin": status.plugin, "code": status.code.value, "reasons": list(status.reasons)}
            for node in cluster.nodes
            if node.name not in diagnosis.feasible
            for status in [diagnosis.status(node.name)]
        }

        assert expected["feasible"] == sorted(diagnosis.feasible), pod.name
        assert expected.get("preFilter", "") == diagnosis.pre_filter_message, pod.name
        if "preFilter" not in expected:
            assert expected.get("rejected", {}) == rejected, pod.name
        if not diagnosis.feasible:
            assert expected["message"] == diagnosis.message(), pod.name
        if "placed" in expected:
            scheduler.bind(pod, scheduler.columns.index[expected["placed"]])


def _cluster(objects: list[Case]) -> Cluster:
    def of(kind: str) -> list[Case]:
        return [item for item in objects if item["kind"] == kind]

    return Cluster(
        nodes=tuple(sorted(map(read.node, of("Node")), key=lambda node: node.name)),
        pods=tuple(map(read.pod, of("Pod"))),
        namespaces={item["metadata"]["name"]: spread.labels(item["metadata"]) for item in of("Namespace")},
    )


def _cases(file: Path) -> Iterator[Case]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
