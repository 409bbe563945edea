"""A recording, replayed by the program, in the form of a recording."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.releases.version import nearest_release, release_of
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.preemption import post_filter
from kubectl_spread.scheduler.profiles import profiles
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.source import SourceFile

Case = dict[str, Any]


def decisions(case: Case) -> Iterator[tuple[str, Case, Case]]:
    """The name of each incoming pod, what is expected of it, and what we say; each is placed where it is expected."""
    columns = Columns(cluster_of(case["objects"] + case["incoming"]))
    by_name = profiles(
        _config(case.get("schedulerConfig")), nearest_release(release_of(case.get("kubernetesVersion", "1.36")))
    )
    scheduler = Scheduler(columns, by_name, all_nodes=True)
    for incoming, expected in zip(case["incoming"], case["expected"], strict=True):
        pod = read.pod(incoming)
        yield pod.name, expected, decision(pod, scheduler, preempts=bool(case.get("preempt")))
        if "placed" in expected:
            scheduler.bind(pod, columns.index[expected["placed"]])


def decision(pod: Pod, scheduler: Scheduler, *, preempts: bool) -> Case:
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


def _rejected(filtered: FilterResult) -> Case:
    diagnosis = filtered.diagnosis()
    statuses = dict(diagnosis.statuses)
    if filtered.narrowed_by and diagnosis.absent_status.reasons:  # most older releases say nothing of them
        statuses.update(dict.fromkeys(diagnosis.absent, diagnosis.absent_status))
    rejected = {
        name: {"plugin": status.plugin, "code": status.code.value, "reasons": list(status.reasons)}
        for name, status in statuses.items()
    }
    return {"rejected": rejected} if rejected else {}


def _scored(pod: Pod, filtered: FilterResult, scheduler: Scheduler) -> Case:
    scores = scheduler.score(pod, filtered)
    names = [scheduler.columns.nodes[at].name for at in scores.nodes]
    table = {
        name: {
            **{plugin: row if isinstance(row, int) else int(row[at]) for plugin, row in scores.by_plugin.items()},
            "total": int(scores.total[at]),
        }
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
