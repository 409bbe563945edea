"""Pods on nodes that are missing or do not answer, terminating pods without a node, controllers without an end."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_spread.cli.main import run as command
from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.engine import steps
from kubectl_spread.engine.controllers import statefulset
from kubectl_spread.engine.draft import Draft
from kubectl_spread.engine.run import play
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.scheduler.profiles import profiles
from tests.timeline.test_condemned import created
from tests.timeline.test_run import deployment, node, replica_set, run, running, THREE_ZONES, WEB

CASES = Path(__file__).parents[1] / "cases" / "engine"
DB = ObjectKey("StatefulSet", "app", "db")


@pytest.mark.parametrize(
    ("line", "facts", "first", "code"),
    [
        ("rollout restart sts/db", "node-not-in-facts.json", "rollout restart sts/db: completes", 0),
        ("scale sts/db --replicas=5", "node-not-in-facts.json", "scale sts/db --replicas=5: completes", 0),
        ("delete pod db-2", "node-not-in-facts.json", "delete pod db-2: completes", 0),
        ("set image sts/db a=x:2", "node-not-in-facts.json", "set image sts/db a=x:2: completes", 0),
        ("drain n00000", "node-not-in-facts.json", "drain n00000: gets stuck, 1 pod stays Pending", 1),
        ("rollout restart sts/db -n shop", "statefulset-on-lost-node.yaml", "rollout restart sts/db: completes", 0),
        (
            "scale sts/db --replicas=2 -n shop",
            "statefulset-on-lost-node.yaml",
            "scale sts/db --replicas=2: completes",
            0,
        ),
    ],
)
def test_a_pod_of_a_statefulset_on_a_missing_node(
    line: str, facts: str, first: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """The garbage collector removes it, and its controller creates it again: no command takes forever."""
    assert command(["simulate", *line.split(), "--snapshot", str(CASES / facts)]) == code
    out = capsys.readouterr().out.splitlines()
    assert out[0] == first
    missing = "  db-2 was on node gone, which is not in the cluster facts"
    assert (missing in out) == (facts == "node-not-in-facts.json")


def test_explain_a_pod_on_a_missing_node(capsys: pytest.CaptureFixture[str]) -> None:
    """The answer says what happens to the pod."""
    command(["explain", "pod", "db-2", "--snapshot", str(CASES / "node-not-in-facts.json")])

    first = "Pod default/db-2 is bound to node gone, which does not exist: no kubelet will run it."
    assert capsys.readouterr().out.startswith(first)


def test_a_terminating_pod_without_a_node(capsys: pytest.CaptureFixture[str]) -> None:
    """It ends, and takes no room on any node. That it is gone afterwards is no consequence of the command."""
    manifest, facts = CASES / "terminating-manifest.json", CASES / "terminating-snapshot.json"

    assert command(["simulate", "apply", "-f", str(manifest), "--snapshot", str(facts)]) == 1
    assert "Gone" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("then", "left"),
    [
        ((), {0, 1, 2, 3}),
        ((steps.DeleteNodes(("b1",)),), {0, 1, 2, 3}),
        ((steps.NodesUp(("b1",)),), {0, 1, 2, 3}),
    ],
    ids=["the node stays dead", "the node is deleted", "the node comes back"],
)
def test_a_dead_node_keeps_its_pods(then: tuple[steps.Op, ...], left: set[int]) -> None:
    """A terminating pod of a StatefulSet keeps its name until its node answers, or its Node object is deleted."""
    answer = run(list(THREE_ZONES), created(), steps.NodesDown(("b1",)), *then)

    for outcome in answer.last.outcomes:
        assert {pod.ordinal for pod in outcome.pods} == left
        assert [pod for pod in outcome.pods if pod.is_terminating and pod.node != "b1"] == []
        assert any(pod.is_terminating for pod in outcome.pods) == (not then)
        assert outcome.is_complete == bool(then)


@pytest.mark.parametrize("changes", [False, True], ids=["it changes nothing", "it takes back its change"])
def test_a_controller_without_an_end(*, changes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search says that the command does not settle; it does not wait for the controller."""

    def act(draft: Draft, owner: int) -> bool:
        if changes:
            own = draft.sets[owner]
            draft.sets[owner] = own._replace(current=1 - own.current)
        return True

    monkeypatch.setattr(statefulset, "act", act)
    answer = run(list(THREE_ZONES), created())

    assert answer.last.is_endless
    assert not answer.last.is_exact
    assert not answer.last.is_complete


def test_a_forced_deletion_needs_no_kubelet() -> None:
    """The pod of a dead node is gone at once, and its StatefulSet creates it again elsewhere."""
    forced = steps.DeleteSome(steps.PodMatch(DB, node="b1"), is_forced=True)
    answer = run(list(THREE_ZONES), created(), steps.NodesDown(("b1",)), forced)

    assert answer.last.is_complete
    assert all(pod.node != "b1" for outcome in answer.last.outcomes for pod in outcome.pods)


def test_a_grace_period_of_0_needs_no_kubelet() -> None:
    """Pods that a taint removes from a dead node are gone at once."""
    db = created()
    db.controller.workload.template["spec"]["terminationGracePeriodSeconds"] = 0
    answer = run(list(THREE_ZONES), db, steps.NodesDown(("b1",)))

    assert answer.last.is_complete
    assert all(pod.node != "b1" for outcome in answer.last.outcomes for pod in outcome.pods)


def test_commands_on_a_lost_domain_and_its_pods(capsys: pytest.CaptureFixture[str]) -> None:
    """A forced deletion after the loss of a zone also takes the pods that are terminating there."""
    line = ["lose", "zone=z1", "--then", "delete pod db-1 --grace-period=0 --force"]

    assert command(["simulate", *line, "--snapshot", str(CASES / "node-not-in-facts.json")]) == 1
    end = ": 2 of 3 pods ready (1 to 2 before), 1 Pending"  # and none that is not created
    assert any(line.endswith(end) for line in capsys.readouterr().out.splitlines())


def test_unready_pods_on_a_dead_node_say_nothing_about_their_template() -> None:
    """New pods become ready elsewhere; a pod that was being started on the dead node does not."""
    dead = node("b1", "b")
    dead["spec"] = {"taints": [{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]}
    pods = [running("web-abc", name, "b1", template_hash="abc") for name in ("one", "two")]
    pods[0]["status"]["conditions"][0]["status"] = "False"
    pods[1]["status"] = {"phase": "Pending"}
    objects = [node("a1", "a"), dead, deployment(3), replica_set("web-abc", 3, template_hash="abc"), *pods]
    answer = play(cluster_of(objects), profiles(), [()])

    (outcome,) = answer.last.outcomes
    assert sorted((pod.node, pod.is_ready) for pod in outcome.pods) == [("a1", True), ("b1", False), ("b1", False)]


def test_a_node_that_answers_is_restored_without_an_effect() -> None:
    """An unready pod stays so; one of a node that did not answer is ready again."""
    unready = running("web-abc", "web-abc-a1", "a1", template_hash="abc")
    unready["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}
    others = [running("web-abc", f"web-abc-{at}", at, template_hash="abc") for at in ("b1", "c1")]
    objects = [*THREE_ZONES, deployment(3), replica_set("web-abc", 3, template_hash="abc"), unready, *others]
    same = run(objects, steps.NodesUp(("a1",)))
    again = run(objects, steps.NodesDown(("b1",)), steps.NodesUp(("b1",)))

    assert {outcome.workloads[WEB].ready for answer in (same, again) for outcome in answer.last.outcomes} == {2}
