"""Quotas, LimitRanges and autoscalers over time: new pods that the API server refuses, and replicas that go back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Optional

import pytest

from kubectl_spread.cli.main import run as run_command
from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.engine import steps
from kubectl_spread.engine.run import Answer
from kubectl_spread.objects.keys import ObjectKey
from tests.timeline.played import counts
from tests.timeline.test_run import deployment, node, replica_set, run, running, THREE_ZONES, WEB, ZONE

Plain = dict[str, Any]
CASES = Path(__file__).parents[1] / "cases" / "engine"
NAMESPACE = "s-n14-quota-8419"
OTHER = ObjectKey("Deployment", "app", "other")


def quota(hard: Plain, used: Optional[Plain] = None, **spec: Any) -> Plain:
    found: Plain = {"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "app"}}
    found["spec"] = {"hard": hard, **spec}
    return found if used is None else {**found, "status": {"used": used}}


def limits(**item: Any) -> Plain:
    metadata = {"name": "l", "namespace": "app"}
    return {"kind": "LimitRange", "metadata": metadata, "spec": {"limits": [{"type": "Container", **item}]}}


def autoscaler(least: int, most: int, kind: str = "Deployment") -> Plain:
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "app"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": kind, "name": "web"},
            "minReplicas": least,
            "maxReplicas": most,
        },
    }


def other(replicas: int) -> Plain:
    found = deployment(replicas)
    return {**found, "metadata": {"name": "other", "namespace": "app"}}


def like(kind: str, replicas: int, **spec: Any) -> Plain:
    found = deployment(replicas, **spec)
    return {**found, "kind": kind}


def ready(answer: Answer, key: ObjectKey = WEB) -> set[int]:
    return {outcome.workloads[key].ready for outcome in answer.last.outcomes}


def refusals(answer: Answer, key: ObjectKey = WEB) -> set[str]:
    return {outcome.workloads[key].refusal for outcome in answer.last.outcomes}


EXCEEDED = "exceeded quota: q, requested: pods=1, used: pods=5, limited: pods=5"


@pytest.mark.parametrize("used", [None, {"pods": "0"}])
def test_a_quota_ends_a_scale_with_as_many_pods_as_it_admits(used: Optional[Plain]) -> None:
    answer = run([*THREE_ZONES, deployment(3), quota({"pods": "5"}, used)], steps.Scale(WEB, 8))

    assert answer.last.is_exact
    assert ready(answer) == {5}
    assert refusals(answer) == {EXCEEDED}
    assert not answer.last.is_complete


def test_a_status_that_counts_less_than_the_known_pods_is_out_of_date() -> None:
    """The controller of quotas counts the pods again; a status of 1 leaves no room beside 3 pods."""
    pods = [running("web-abc", f"web-abc-{at}", at, template_hash="abc") for at in ("a1", "b1", "c1")]
    objects = [deployment(3), replica_set("web-abc", 3, template_hash="abc"), *pods]
    answer = run([*THREE_ZONES, *objects, quota({"pods": "3"}, {"pods": "1"})], steps.Scale(WEB, 5))

    assert answer.last.is_exact
    assert ready(answer) == {3}
    assert refusals(answer) == {"exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3"}


def test_the_usage_of_a_quota_counts_pods_that_take_no_part() -> None:
    """Of 5 pods, 3 are counted by the status and unknown here."""
    answer = run([*THREE_ZONES, deployment(4), quota({"pods": "5"}, {"pods": "3"})])

    assert ready(answer) == {2}


def test_a_quota_of_another_namespace_or_scope_admits_every_pod() -> None:
    elsewhere = quota({"pods": "1"})
    elsewhere["metadata"]["namespace"] = "default"
    answer = run([*THREE_ZONES, deployment(3), elsewhere])
    scoped = run([*THREE_ZONES, deployment(3), quota({"pods": "1"}, scopes=["BestEffort"])])

    assert ready(answer) == ready(scoped) == {3}
    assert answer.last.is_complete


def test_a_quota_counts_the_requests_that_a_limit_range_adds() -> None:
    workload = deployment(4)
    workload["spec"]["template"]["spec"]["containers"][0]["resources"] = {}
    hard = {"requests.cpu": "1"}
    answer = run([*THREE_ZONES, workload, quota(hard), limits(defaultRequest={"cpu": "300m"})])
    without = run([*THREE_ZONES, workload, quota(hard)])

    assert ready(answer) == {3}
    assert ready(without) == {0}
    assert refusals(without) == {"failed quota: q: must specify requests.cpu for: c"}


def test_a_limit_range_refuses_every_pod_beyond_its_bounds() -> None:
    answer = run([*THREE_ZONES, deployment(3, cpu="2"), limits(max={"cpu": "1"})])

    assert ready(answer) == {0}
    assert refusals(answer) == {"maximum cpu usage per Container is 1, but request is 2"}


@pytest.mark.parametrize(("unavailable", "is_complete"), [(0, False), (1, True)])
def test_a_rollout_needs_room_in_the_quota_for_its_surge(unavailable: int, *, is_complete: bool) -> None:
    """A pod that ends counts until it is gone, and then the new one is created."""
    strategy = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": unavailable}}
    objects = [*THREE_ZONES, deployment(3, strategy=strategy), quota({"count/pods": "3"})]
    answer = run(objects, steps.Restart(WEB))

    assert answer.last.is_exact
    assert answer.last.is_complete is is_complete
    assert ready(answer) == {3}
    assert ({""} if is_complete else {EXCEEDED.replace("pods=5", "pods=3").replace("pods", "count/pods")}) == refusals(
        answer
    )


def test_any_workload_may_get_the_pods_that_a_quota_admits() -> None:
    """Two Deployments want three pods each, and the quota admits four of them."""
    answer = run([*THREE_ZONES, deployment(3, hard=None), other(3), quota({"pods": "4"})])

    pairs = {(item.workloads[WEB].ready, item.workloads[OTHER].ready) for item in answer.last.outcomes}
    assert answer.last.is_exact
    assert pairs == {(1, 3), (2, 2), (3, 1)}


def test_a_workload_gets_the_quota_that_another_one_frees() -> None:
    answer = run(
        [*THREE_ZONES, deployment(3), other(3), quota({"pods": "3"})], steps.Delete(WEB), steps.Scale(OTHER, 3)
    )

    assert ready(answer, OTHER) == {3}


def test_pods_are_created_once_a_quota_grows_or_is_gone() -> None:
    objects = [*THREE_ZONES, deployment(3)]
    small, large = ([*objects, quota({"pods": number})] for number in ("1", "2"))
    grown = run(small, steps.ChangeFacts(cluster_of(large)))
    without = run(small, steps.ChangeFacts(cluster_of(objects)))

    assert (ready(grown), ready(without)) == ({2}, {3})


def test_a_statefulset_waits_for_the_quota_at_its_next_ordinal() -> None:
    key = WEB._replace(kind="StatefulSet")
    answer = run([*THREE_ZONES, like("StatefulSet", 3), quota({"pods": "2"})])

    (outcome,) = {tuple(sorted(pod.name for pod in item.pods)) for item in answer.last.outcomes}
    assert outcome == ("web-0", "web-1")
    assert refusals(answer, key) == {"exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"}


def test_any_ordinal_of_a_parallel_statefulset_may_be_refused() -> None:
    workload = like("StatefulSet", 3, podManagementPolicy="Parallel")
    answer = run([*THREE_ZONES, workload, quota({"pods": "2"})])

    found = {tuple(sorted(pod.name for pod in item.pods)) for item in answer.last.outcomes}
    assert found == {("web-0", "web-1"), ("web-0", "web-2"), ("web-1", "web-2")}


def test_any_node_may_lack_its_daemon_pod() -> None:
    workload = like("DaemonSet", 1)
    (controller,) = cluster_of([workload]).controllers.values()
    answer = run([*THREE_ZONES, quota({"pods": "2"})], steps.Apply(controller))

    assert {len(item.pods) for item in answer.last.outcomes} == {2}
    assert counts(answer.last, WEB._replace(kind="DaemonSet"), ZONE) == {"a": (0, 1), "b": (0, 1), "c": (0, 1)}
    assert not any(item.is_complete for item in answer.last.outcomes)


@pytest.mark.parametrize(("asked", "found"), [(3, 6), (20, 12), (8, 8), (0, 0)])
def test_an_autoscaler_takes_replicas_back_into_its_range(asked: int, found: int) -> None:
    nodes = [node(f"{zone}1", zone) for zone in "ab"]
    answer = run([*nodes, deployment(6), autoscaler(6, 12)], steps.Scale(WEB, asked))

    assert answer.last.is_exact
    assert answer.last.is_complete
    assert ready(answer) == {found}
    assert {outcome.workloads[WEB].desired for outcome in answer.last.outcomes} == {found}


def test_pods_may_go_before_the_autoscaler_asks_for_new_ones() -> None:
    """The new pods may then be elsewhere."""
    answer = run([node("a1", "a"), node("b1", "b"), deployment(2, hard=None), autoscaler(2, 3)], steps.Scale(WEB, 1))

    assert answer.last.fewest_ready == {WEB: 1}
    assert {outcome.restarts[WEB] for outcome in answer.last.outcomes} == {0, 1}


def test_a_running_workload_below_its_range_is_scaled_without_a_command() -> None:
    answer = run([*THREE_ZONES, deployment(2), autoscaler(3, 5)])

    assert ready(answer) == {3}


def _simulated(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    code = run_command(["simulate", *arguments])
    return code, capsys.readouterr().out.splitlines()


def test_a_scale_that_a_real_quota_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """5 of 8 pods run in the end, because the quota counts the defaults of the LimitRange."""
    workload = deployment(4)
    workload["metadata"]["namespace"] = NAMESPACE
    workload["spec"]["template"]["spec"]["containers"][0]["resources"] = {}
    path = tmp_path / "web.json"
    path.write_text(json.dumps(workload))
    asked = ["-f", str(path), "scale", "deploy/web", "--replicas=8", "-n", NAMESPACE]
    code, lines = _simulated(capsys, *asked, "--snapshot", str(CASES / "quota-of-5-pods.json.gz"))

    assert code == 1
    assert lines[0] == "scale deploy/web --replicas=8: gets stuck"
    at = lines.index(f"  the API server refuses new pods: {EXCEEDED}")
    assert lines[at - 1].endswith(": 5 of 8 pods ready, 3 not created")


def test_new_pods_may_be_ready_before_the_autoscaler_takes_them_back() -> None:
    """The ReplicaSet then deletes pods of full nodes first, old ones too."""
    answer = run([*THREE_ZONES, deployment(3, hard=None), autoscaler(1, 3)], steps.Scale(WEB, 5))

    gone = {outcome.restarts[WEB] for outcome in answer.last.outcomes}
    assert ready(answer) == {3}
    assert gone == {0, 1, 2}


def test_an_autoscaler_that_shrinks_a_spread_workload_leaves_it_spread() -> None:
    """The surplus pod is not ready and goes first, or its node has two pods, of which one goes."""
    answer = run([*THREE_ZONES, deployment(3), autoscaler(3, 3)], steps.Scale(WEB, 4))

    assert answer.last.is_exact
    assert counts(answer.last, WEB, ZONE) == {"a": (1, 1), "b": (1, 1), "c": (1, 1)}


def test_a_restart_keeps_the_replicas_that_the_autoscaler_has_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A restart writes the template only. The manifest's 4 replicas were 6 before, and stay 6."""
    small, large = ([deployment(n), autoscaler(6, 12)] for n in (4, 6))
    texts = []
    for number, objects in enumerate((small, large)):
        path = tmp_path / f"{number}.yaml"
        path.write_text("\n---\n".join(map(json.dumps, objects)))
        code, lines = _simulated(
            capsys, "-f", str(path), "rollout", "restart", "deploy/web", "-n", "app", "--topology", "zones=3,nodes=2"
        )
        assert code == 0
        texts.append(lines)

    assert texts[0] == texts[1]
    assert "all of them found" in texts[0][-1]


def test_an_autoscaler_and_a_quota_are_explored_in_every_order() -> None:
    """The autoscaler may add the third pod of `web` before or after `other` creates its second one."""
    objects = [*THREE_ZONES, deployment(1), other(1), autoscaler(1, 3), quota({"pods": "4"})]
    answer = run(objects, (steps.Scale(OTHER, 3), steps.Scale(WEB, 5)))

    found = {(item.workloads[WEB].ready, item.workloads[OTHER].ready) for item in answer.last.outcomes}
    assert answer.last.is_exact
    assert found == {(1, 3), (2, 2), (3, 1)}


def test_the_next_pod_of_an_ordered_statefulset_may_take_the_last_room_of_a_quota() -> None:
    """Its first pod may be ready, and its second one created, before the ReplicaSet creates its second."""
    ordered = like("StatefulSet", 3, serviceName="web")
    objects = [*THREE_ZONES, ordered, other(3), quota({"pods": "4"})]
    answer = run(objects)

    key = ObjectKey("StatefulSet", "app", "web")
    found = {(item.workloads[key].ready, item.workloads[OTHER].ready) for item in answer.last.outcomes}
    assert answer.last.is_exact
    assert found == {(1, 3), (2, 2), (3, 1)}


def test_a_surge_pod_that_a_quota_refuses_on_the_way_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rollout completes nevertheless, because an old pod may go first."""
    pods = [running("web-abc", f"web-abc-{at}", at, template_hash="abc") for at in ("a1", "b1", "c1")]
    web = deployment(3, strategy={"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}})
    items = [*THREE_ZONES, web, replica_set("web-abc", 3, template_hash="abc"), *pods, quota({"pods": "3"})]
    (tmp_path / "facts.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    words = ["rollout", "restart", "deploy/web", "-n", "app", "--snapshot", str(tmp_path / "facts.json")]
    code = run_command(["simulate", *words])
    out = capsys.readouterr().out.splitlines()

    assert (code, out[0]) == (0, "rollout restart deploy/web: completes")
    refusal = "exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3"
    assert f"until old pods are gone, the API server refuses new pods: {refusal}" in " ".join(map(str.strip, out))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["patch", "deploy/web", "-p", '{"spec":{"template":{"spec":{"nodeSelector":{"disk":"none"}}}}}'], (1, 2)),
        (["patch", "deploy/web", "-p", '{"spec":{"replicas":2}}'], (2, 2)),
    ],
)
def test_a_command_that_does_not_write_replicas_leaves_them_to_the_autoscaler(
    command: list[str], expected: tuple[int, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """If the autoscaler acts first, 2 old pods are ready when the template changes to one that fits nowhere."""
    old = [replica_set("web-abc", 1, template_hash="abc"), running("web-abc", "web-abc-0", "a1", template_hash="abc")]
    items = [*THREE_ZONES, deployment(1), *old, autoscaler(2, 2)]
    path = tmp_path / "snapshot.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    run_command(["simulate", *command, "-n", "app", "--snapshot", str(path), "-o", "json"])
    (step,) = json.loads(capsys.readouterr().out)["steps"]
    after = step["workloads"][0]["ready"]["after"]

    assert step["exact"]
    assert (after["min"], after["max"]) == expected
