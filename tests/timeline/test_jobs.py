"""Jobs whose pods are deleted: they count as failed, and beyond backoffLimit the Job ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Optional

import pytest

from kubectl_spread.cli.main import run as run_command
from kubectl_spread.engine import steps
from kubectl_spread.engine.run import Answer
from kubectl_spread.objects.keys import ObjectKey
from tests.timeline.test_run import node, run

Plain = dict[str, Any]
JOB = ObjectKey("Job", "app", "batch")
NODES = [node("a1", "a"), node("b1", "b")]
DISRUPTED = {"onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}


def job(*, status: Optional[Plain] = None, **spec: Any) -> Plain:
    template = {"metadata": {"labels": {"app": "batch"}}, "spec": {"containers": [{"name": "c", "image": "pause"}]}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "batch", "namespace": "app", "uid": "batch"},
        "spec": {"completions": 6, "parallelism": 3, "template": template, **spec},
        "status": status or {},
    }


def pod(name: str, at: str, index: Optional[int] = None) -> Plain:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "batch", "uid": "batch", "controller": True}
    labels = {"app": "batch", **({} if index is None else {"batch.kubernetes.io/job-completion-index": str(index)})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "app", "uid": name, "labels": labels, "ownerReferences": [owner]},
        "spec": {"containers": [{"name": "c", "image": "pause"}], "nodeName": at},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


PODS = [pod("batch-x", "a1"), pod("batch-y", "b1"), pod("batch-z", "b1")]


def numbers(answer: Answer) -> set[int]:
    return {len(outcome.pods) for outcome in answer.last.outcomes}


@pytest.mark.parametrize(
    "step",
    [
        steps.DeletePods(("batch-x",)),
        steps.DeletePods(("batch-x",), is_forced=True),
        steps.Evict(("batch-x",)),
        steps.Drain(("a1",)),
        steps.DeleteNodes(("a1",)),
        steps.NodesDown(("a1",)),
    ],
)
def test_a_pod_that_is_deleted_ends_a_job_without_retries(step: steps.Op) -> None:
    """Its other pods are deleted."""
    answer = run([*NODES, job(backoffLimit=0), *PODS], step)

    assert answer.last.is_exact
    alive = {sum(not item.is_terminating for item in outcome.pods) for outcome in answer.last.outcomes}
    assert alive == {0}
    assert all(outcome.workloads[JOB].has_failed for outcome in answer.last.outcomes)
    assert not answer.last.is_complete


@pytest.mark.parametrize(("limit", "failed", "pods"), [(None, 0, 3), (1, 0, 0), (2, 0, 3), (2, 1, 0)])
def test_a_job_endures_as_many_failures_as_its_limit(limit: Optional[int], failed: int, pods: int) -> None:
    """Two of its pods are deleted; the failures in its status count, too."""
    spec = {} if limit is None else {"backoffLimit": limit}
    workload = job(status={"failed": failed}, **spec)
    answer = run([*NODES, workload, *PODS], steps.DeletePods(("batch-x", "batch-y")))

    assert numbers(answer) == {pods}
    assert answer.last.is_complete is (pods > 0)


@pytest.mark.parametrize(
    ("action", "step", "pods"),
    [
        ("Ignore", steps.Evict(("batch-x",)), 3),
        ("Ignore", steps.DeletePods(("batch-x",)), 0),
        ("Count", steps.Evict(("batch-x",)), 0),
        ("FailJob", steps.DeletePods(("batch-x",)), 0),
    ],
)
def test_a_pod_failure_policy_may_ignore_disruptions(action: str, step: steps.Op, pods: int) -> None:
    """`kubectl delete pod` sets no condition DisruptionTarget."""
    policy = {"rules": [{"action": action, **DISRUPTED}]}
    answer = run([*NODES, job(backoffLimit=0, podFailurePolicy=policy), *PODS], step)

    assert numbers(answer) == {pods}


def test_a_policy_can_end_a_job_at_its_first_disruption() -> None:
    policy = {"rules": [{"action": "FailJob", **DISRUPTED}]}
    answer = run([*NODES, job(podFailurePolicy=policy), *PODS], steps.Evict(("batch-x",)))

    assert numbers(answer) == {0}


def test_fewer_pods_at_a_time_are_no_failures() -> None:
    smaller = run([*NODES, job(backoffLimit=0, parallelism=2), *PODS])

    assert numbers(smaller) == {2}
    assert smaller.last.is_complete


@pytest.mark.parametrize("kind", ["Complete", "Failed"])
def test_a_job_that_has_ended_creates_no_pods(kind: str) -> None:
    ended = {"conditions": [{"type": kind, "status": "True"}]}
    answer = run([*NODES, job(status=ended)], steps.Cordon(("a1",)))

    assert numbers(answer) == {0}


def test_a_job_needs_only_the_pods_that_have_not_succeeded() -> None:
    answer = run([*NODES, job(status={"succeeded": 5})])
    indexed = run([*NODES, job(completionMode="Indexed", status={"succeeded": 4, "completedIndexes": "0,2-4"})])

    assert numbers(answer) == {1}
    assert {tuple(item.ordinal for item in outcome.pods) for outcome in indexed.last.outcomes} == {(1, 5)}


def test_a_drain_that_ends_a_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"kind": "List", "items": [*NODES, job(backoffLimit=0), *PODS]}))

    assert run_command(["simulate", "drain", "a1", "--snapshot", str(path)]) == 1
    assert capsys.readouterr().out.splitlines()[:6] == [
        "drain a1: gets stuck",
        "",
        "The facts hold no PodDisruptionBudget of app, so none refuses an eviction here",
        "",
        "Job app/batch gets stuck: 0 of 3 pods ready, 3 old pods deleted, 3 not created",
        "  the Job fails: Job has reached the specified backoff limit",
    ]


def test_the_finalizer_of_a_job_holds_no_pod() -> None:
    """The controller removes it once it has counted the pod, which makes room for the next one."""
    ending = pod("batch-x", "a1")
    ending["metadata"] |= {
        "deletionTimestamp": "2026-01-01T00:00:00Z",
        "finalizers": ["batch.kubernetes.io/job-tracking"],
    }
    answer = run([*NODES, job(parallelism=1, completions=1), ending])

    assert answer.last.is_complete
    assert {tuple(item.is_terminating for item in outcome.pods) for outcome in answer.last.outcomes} == {(False,)}


@pytest.mark.parametrize("end", [{"deletionTimestamp": "2026-01-01T00:00:00Z"}, {}])
def test_a_pod_that_has_failed_is_about_to_be_counted(end: Plain) -> None:
    """So is one that is being deleted, unless the Job replaces only failed pods; then it waits for the end."""
    ending = pod("batch-x", "a1")
    ending["metadata"] |= {**end, "finalizers": ["batch.kubernetes.io/job-tracking"]}
    ending["status"] = {"phase": "Running" if end else "Failed"}
    counted = {**ending, "metadata": {**ending["metadata"], "finalizers": []}}

    assert numbers(run([*NODES, job(completions=1, parallelism=1, backoffLimit=0), ending])) == {0}
    assert numbers(run([*NODES, job(completions=1, parallelism=1, backoffLimit=0), counted])) == {1}
    assert numbers(run([*NODES, job(completions=1, parallelism=1, backoffLimit=1), ending])) == {1}


@pytest.mark.parametrize("index", [None, 0])
def test_a_pod_that_has_succeeded_is_about_to_be_counted(index: Optional[int]) -> None:
    """The Job's controller removes the finalizer once it has counted the pod; a pod without it was counted before."""
    mode = {} if index is None else {"completionMode": "Indexed"}
    done = pod("batch-x", "a1", index)
    done["status"] = {"phase": "Succeeded"}
    done["metadata"]["finalizers"] = ["batch.kubernetes.io/job-tracking"]
    counted = {**done, "metadata": {**done["metadata"], "finalizers": []}}
    status = {"succeeded": 1, **({} if index is None else {"completedIndexes": "0"})}

    last = run([*NODES, job(completions=1, **mode), done], steps.DeleteNodes(("a1",)))
    next_one = run([*NODES, job(completions=2, **mode), done])
    both = run([*NODES, job(completions=2, status=status, **mode), counted])

    assert numbers(last) == {0}
    assert numbers(next_one) == numbers(both) == {1}
    assert {item.ordinal for outcome in next_one.last.outcomes for item in outcome.pods} == {
        None if index is None else 1
    }


def test_a_pod_that_has_got_a_node_meanwhile_is_deleted() -> None:
    """It waits at the start; the pod of another Job makes room before the command that names it."""
    other = pod("other", "a1")
    other["metadata"] |= {"ownerReferences": [], "labels": {"app": "other"}}
    waiting = pod("batch-x", "")
    for item in (other, waiting):
        item["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    waiting["status"] = {"phase": "Pending"}
    workload = job(backoffLimit=0, parallelism=1, completions=1)
    start = [node("a1", "a", cpu="1"), workload, other, waiting]
    answer = run(start, steps.DeletePods(("other",)), steps.DeletePods(("batch-x",)))

    assert [len(outcome.pods) for outcome in answer.steps[-2].outcomes] == [1]
    assert all(outcome.workloads[JOB].has_failed for outcome in answer.last.outcomes)


@pytest.mark.parametrize("is_at_once", [False, True])
@pytest.mark.parametrize("room", [1, 2])
def test_each_of_two_equal_pods_is_deleted_wherever_it_is_now(room: int, is_at_once: bool) -> None:
    """Both wait at the start. One or both of them get a node, and the Job fails as both are deleted."""
    others = [pod(f"other-{at}", "a1") for at in range(room)]
    for item in others:
        item["metadata"] |= {"ownerReferences": [], "labels": {"app": "other"}}
    waiting = [pod("batch-x", ""), pod("batch-y", "")]
    for item in (*others, *waiting):
        item["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    for item in waiting:
        item["status"] = {"phase": "Pending"}
    names = tuple(item["metadata"]["name"] for item in others)
    script = [(*names, "batch-x", "batch-y")] if is_at_once else [names, ("batch-x", "batch-y")]
    start = [node("a1", "a", cpu=str(room)), job(backoffLimit=1, parallelism=2, completions=2), *others, *waiting]
    answer = run(start, *map(steps.DeletePods, script))

    assert answer.last.is_exact
    assert {outcome.workloads[JOB].has_failed for outcome in answer.last.outcomes} == {True}
