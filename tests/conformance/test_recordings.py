"""The real scheduler's decisions, replayed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from typing import Optional

import pytest

from kubectl_spread.cluster.assemble import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects import read
from kubectl_spread.objects import spread
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.validation import constraint_errors
from kubectl_spread.scheduler.config import profiles
from kubectl_spread.scheduler.config import version_of
from kubectl_spread.scheduler.cycle import Filtered
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.preemption import post_filter
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.source import SourceFile

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
            params.append(pytest.param(family, {}, id=family, marks=skip))
        else:
            params += [pytest.param(family, case, id=f"{family}-{case['id']}") for case in _cases(names[family])]
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
    columns = Columns(cluster_of(case["objects"] + case["incoming"]))
    by_name = profiles(_config(case.get("schedulerConfig")), version_of(case.get("kubernetesVersion", "1.36")))
    scheduler = Scheduler(columns, by_name, all_nodes=True)
    for incoming, expected in zip(case["incoming"], case["expected"], strict=True):
        pod = read.pod(incoming)
        decided = _decision(pod, scheduler, preempts=bool(case.get("preempt")))

        assert {key: value for key, value in expected.items() if key != "pod"} == decided, pod.name
        if "placed" in expected:
            scheduler.bind(pod, columns.index[expected["placed"]])


def _decision(pod: Pod, scheduler: Scheduler, *, preempts: bool) -> Case:
    """What we say of one pod, in the form of a recording."""
    if pod.cls.gates:
        return {"feasible": [], "gated": f"waiting for scheduling gates: [{' '.join(pod.cls.gates)}]"}
    filtered = scheduler.filter(pod)
    diagnosis = filtered.diagnosis()
    decided: Case = {"feasible": sorted(diagnosis.feasible)}
    if diagnosis.pre_filter_message:
        decided["preFilter"] = diagnosis.pre_filter_message
    else:
        decided.update(_rejected(filtered))
    if diagnosis.feasible:
        return {**decided, **_scored(pod, filtered, scheduler)}
    found = post_filter(pod, filtered, scheduler) if preempts else None
    decided["message"] = diagnosis.message(found.message if found is not None else "")
    if found is not None and found.node:
        decided["nominated"] = found.node
    return decided


def _rejected(filtered: Filtered) -> Case:
    diagnosis = filtered.diagnosis()
    statuses = dict(diagnosis.statuses)
    if filtered.narrowed_by:
        statuses.update(dict.fromkeys(diagnosis.absent, diagnosis.absent_status))
    rejected = {
        name: {"plugin": status.plugin, "code": status.code.value, "reasons": list(status.reasons)}
        for name, status in statuses.items()
    }
    return {"rejected": rejected} if rejected else {}


def _scored(pod: Pod, filtered: Filtered, scheduler: Scheduler) -> Case:
    scores = scheduler.score(pod, filtered)
    names = [scheduler.columns.nodes[at].name for at in scores.nodes]
    table = {
        name: {**{plugin: int(row[at]) for plugin, row in scores.by_plugin.items()}, "total": int(scores.total[at])}
        for at, name in enumerate(names)
    }
    return {"scores": table, "placed": min(scheduler.columns.nodes[at].name for at in scores.hosts())}


def _config(text: Optional[str]) -> Optional[Case]:
    if text is None:
        return None
    (document,) = compose.compose(SourceFile("schedulerConfig", text))
    assert isinstance(document, compose.Document)
    config: Case = nodes.to_plain(document.root)
    return config


def _cases(file: Path) -> Iterator[Case]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
