"""Inputs on which we were wrong once: the exit code, the first sentences, and the best suggestion."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

from kubectl_spread.cli.main import run

CASES = Path(__file__).parents[2] / "cases"
MISSING = "  db-2 was on node gone, which is not in the cluster facts"


class Case(NamedTuple):
    """A command whose words with a slash are files of the cases; lines: some of the answer, in their order."""

    words: str
    code: int
    lines: tuple[str, ...]


def on_missing_node(command: str, code: int, *lines: str) -> Case:
    """A command for a cluster in which a pod is on a node that is not there."""
    return Case(f"{command} --snapshot engine/node-not-in-facts.json", code, lines)


def with_dead_node(command: str, code: int, *lines: str) -> Case:
    """A command for a cluster with an unreachable node c1, a Job of a CronJob, and a static pod on a1."""
    return Case(f"simulate {command} -n app --snapshot engine/dead-node-and-cronjob.yaml", code, lines)


def next_rollout(workload: str, facts: str, because: str = "") -> Case:
    """A check of a cluster in which the next rollout of a workload gets stuck."""
    first = f"Rollout: {workload} in shop: the next rollout gets stuck in every outcome"
    return Case(
        f"check -n shop --snapshot engine/{facts}.json", 1, (f"{first}, because {because}" if because else first,)
    )


REPORTED = "Job app/report-1 completes: 1 of 1 pod ready, as few as 0 during the step, 1 old pod deleted"
ANSWERS = (
    Case(
        "simulate rollout restart ds/agent -n app --snapshot engine/daemons-and-full-quota.yaml", 1,
        (
            "rollout restart ds/agent: gets stuck",
            (
                "  the API server refuses new pods: exceeded quota: full, requested: pods=1, used: pods=2, "
                "limited: pods=2"
            ),
        ),
    ),
    Case(
        "simulate 'scale deploy/web --replicas=2 -n app' --snapshot engine/pools.yaml", 0,
        ("scale deploy/web --replicas=2 -n app: completes",),
    ),
    Case(
        "simulate scale deploy/web --replicas=4 -n app --snapshot engine/pools.yaml "
        "--scheduler-config engine/added-affinity.yaml", 0,
        (
            "scale deploy/web --replicas=4: completes",
            "  a                             0        4",
            "  b                             0        0",
        ),
    ),
    with_dead_node(
        "drain c1 b1", 1,
        "drain c1 b1: gets stuck",
        "Pods that do not leave their nodes:",
        "  web-h1-b on c1: it stays Terminating, and kubectl waits for it",
        "  b                             1        1",
    ),
    with_dead_node(
        "drain c1 b1 --skip-wait-for-delete-timeout=1", 0,
        "drain c1 b1 --skip-wait-for-delete-timeout=1: completes",
        "  b                             1        0",
    ),
    with_dead_node(
        "drain c1 --timeout=60", 2,
        'error: invalid argument "60" for "--timeout" flag: time: missing unit in duration "60"',
    ),
    with_dead_node("drain a1", 0, "drain a1: completes", REPORTED),
    with_dead_node("delete node a1", 0, "delete node a1: completes", REPORTED),
    with_dead_node(
        "delete job report-1", 0, "delete job report-1: completes", "Job app/report-1 is deleted; 1 pod gone"
    ),
    next_rollout(
        "deployment/web", "quota-is-full",
        (
            "the API server refuses new pods: exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3"
        ),
    ),
    next_rollout(
        "deployment/web", "limit-above-requests",
        "the API server refuses new pods: minimum cpu usage per Container is 500m, but request is 100m",
    ),
    next_rollout("statefulset/db", "unready-ordinal", "db-1 does not become ready on b1"),
    Case(
        "simulate scale sts/db --replicas=2 -n shop --snapshot engine/unready-ordinal.json", 0,
        (
            "scale sts/db --replicas=2: no worse than before",
            "StatefulSet shop/db was not complete before, and stays so: 1 of 2 pods ready",
            "  db-1 does not become ready on b1",
        ),
    ),
    Case(
        "check -n shop --snapshot engine/scheduling-gates.json", 1,
        (
            (
                "Pending: Pod shop/web-h1web-b1 waits for its scheduling gates: x/y. The scheduler ignores the pod "
                "until they are removed (and 1 more pod of deployment/web)"
            ),
        ),
    ),
    Case(
        "simulate rollout restart deploy/web -n shop --snapshot engine/scheduling-gates.json", 1,
        (
            "rollout restart deploy/web: gets stuck, 3 pods stay Pending",
            "  3 pods of Deployment shop/web",
            "    scheduling gates are not removed: x/y",
        ),
    ),
    Case(
        "simulate drain a1 --force --snapshot engine/budget-of-a-bare-pod.json", 1,
        (
            "drain a1 --force: gets stuck",
            "  bare on a1: The disruption budget p needs 0 healthy pods and has 1 currently",
        ),
    ),
    Case(
        "simulate rollout restart deploy/web -n shop --snapshot engine/claim-for-one-node.json", 1,
        (
            "rollout restart deploy/web: not known",
            (
                "not simulated, and the outcome depends on it: claim data for pods on two nodes, as its volume is "
                "attached to one node at a time"
            ),
        ),
    ),
    Case(
        "check -n shop --snapshot engine/claim-for-one-node.json", 0,
        (
            (
                "Next rollout is not known (it depends on claim data for pods on two nodes, as its volume is attached "
                "to one node at a time): deployment/web"
            ),
        ),
    ),
    next_rollout("deployment/web", "recreate-on-dead-node"),
    Case(
        "check -n shop --snapshot engine/ordinal-on-dead-node.json", 1,
        tuple(
            f"Not created: 1 of 3 pods of statefulset/{name}: they are created only once {name}-1, which is "
            "terminating on b1, is gone"
            for name in ("db", "pz")
        ),
    ),
    on_missing_node(
        "simulate rollout restart sts/db", 0,
        "rollout restart sts/db: completes",
        "StatefulSet default/db completes: 3 of 3 pods ready, as few as 2 during the step, 3 old pods deleted",
        MISSING,
    ),
    on_missing_node(
        "simulate scale sts/db --replicas=5", 0,
        "scale sts/db --replicas=5: completes",
        "StatefulSet default/db completes: 5 of 5 pods ready, as few as 2 during the step, 1 old pod deleted",
        MISSING,
    ),
    on_missing_node(
        "simulate delete pod db-1", 0,
        "delete pod db-1: completes",
        "StatefulSet default/db completes: 3 of 3 pods ready, as few as 1 during the step, 2 old pods deleted",
        MISSING,
    ),
    on_missing_node(
        "simulate set image sts/db *=x:2", 0,
        "set image sts/db '*=x:2': completes",
        "StatefulSet default/db completes: 3 of 3 pods ready, as few as 2 during the step, 3 old pods deleted",
        MISSING,
    ),
    on_missing_node(
        "simulate drain n00000 --ignore-daemonsets", 1,
        "drain n00000 --ignore-daemonsets: gets stuck, 1 pod stays Pending",
        "StatefulSet default/db gets stuck: 2 of 3 pods ready, as few as 1 during the step, 2 old pods deleted, 1 "
        "Pending",
        MISSING,
    ),
    on_missing_node(
        "explain pod db-2", 1,
        (
            "Pod default/db-2 is bound to node gone, which does not exist: no kubelet will run it. The pod garbage "
            "collector deletes it; StatefulSet db then creates another."
        ),
    ),
    Case(
        "simulate rollout restart sts/db -n shop --snapshot engine/statefulset-on-lost-node.yaml", 0,
        (
            "rollout restart sts/db: completes",
            "StatefulSet shop/db completes: 3 of 3 pods ready, as few as 2 during the step, 3 old pods deleted",
            "  db-2 was on node c1, which is not in the cluster facts",
        ),
    ),
    Case(
        "explain pt -n shop --snapshot engine/terminating-snapshot.json", 1,
        ("Pod shop/pt has been terminating since 2026-11-22T00:00:00Z, and the scheduler ignores terminating pods.",),
    ),
    Case(
        "simulate delete pod pt -n shop --snapshot engine/terminating-snapshot.json", 0,
        ("delete pod pt: completes", "No workload changes."),
    ),
    Case(
        "simulate apply -f engine/terminating-manifest.json --snapshot engine/terminating-snapshot.json", 1,
        ("Deployment default/web gets stuck: 0 of 3 pods ready, 3 Pending", "  no node has the label rack"),
    ),
    Case(
        "explain -f engine/terminating-manifest.json --snapshot engine/terminating-snapshot.json", 1,
        (
            "Deployment default/web: 0 of 3 replicas placed, 3 Pending.",
            "Do: label node a1 with rack=rack-1",
            "  $ kubectl label node a1 rack=rack-1 --overwrite",
        ),
    ),
    Case(
        "simulate create -f engine/orphaned-deployment.yaml --snapshot engine/orphaned-replicaset.yaml -n shop", 0,
        (
            "deployment.apps/web adopts replicaset.apps/web-h1, which no controller has",
            "Deployment shop/web completes: 5 of 5 pods ready",
        ),
    ),
    Case(
        "check engine/counted-by-each-other.yaml --snapshot engine/counted-by-each-other-snapshot.json.gz", 1,
        ("Deployment default/apin: 1 of 3 replicas placed, 2 Pending; 1 to 3, depending on the order of creation",),
    ),
    Case(
        "explain -f engine/read-write-once-pod-app.yaml --snapshot engine/read-write-once-pod.yaml", 1,
        (
            "Deployment shop/web: 1 of 2 replicas placed, 1 Pending.",
            "Do: run one replica: one pod at a time may use claim one",
            (
                "  Note: for several replicas, give each pod a claim of its own (claim templates of a StatefulSet), or "
                "use a volume with the access mode ReadWriteMany."
            ),
        ),
    ),
    Case(
        "guarantee policy/web.yaml --topology zones=3,nodes=2 --at-most zone=1/2 --shards 3..5", 1,
        (
            "Policy of the command line: refuted: at most 1/2 of the pods in one zone",
            "  creation, restarts: proved: a zone holds at most 2 pods",
            "  rollouts, scaling, disruptions: refuted: zone c holds 3 of 4 pods; 2 allowed",
        ),
    ),
    Case(
        "guarantee policy/web.yaml --topology zones=3,nodes=2 --policy policy/regimes-of-objects.yaml", 2,
        (
            (
                "error: policy/regimes-of-objects.yaml:3:11: regimes[0]: must be one of creation, restarts, rollouts, "
                "scaling, disruptions: a mapping"
            ),
        ),
    ),
    Case(
        "simulate taint node a1 x=y:NoSchedule --then 'rollout restart ds/agent -n kube' "
        "--snapshot engine/daemonset-on-labelled-nodes.yaml", 0,
        (
            "Step 2: rollout restart ds/agent -n kube: completes",
            "DaemonSet kube/agent completes: 1 of 1 pod ready, as few as 0 during the step, 2 old pods deleted",
        ),
    ),
    Case(
        "simulate rollout restart ds/agent -n kube --snapshot engine/daemonset-on-dead-node.yaml", 1,
        (
            "rollout restart ds/agent: gets stuck",
            (
                "DaemonSet kube/agent gets stuck: 2 of 2 pods ready, 0 of the current template, 1 old pod stays "
                "Terminating"
            ),
            "  1. Pod agent-c1 on c1 is deleted.",
        ),
    ),
    Case(
        "simulate rollout restart ds/agent -n kube --snapshot engine/daemonset-surge-on-tainted-node.yaml", 0,
        (
            "rollout restart ds/agent: completes",
            "DaemonSet kube/agent completes: 2 of 2 pods ready, 3 old pods deleted",
        ),
    ),
    Case(
        "simulate taint node b1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute "
        "--snapshot engine/statefulset-with-terminating-pod.yaml", 0,
        (
            "taint node b1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute: completes",
            "StatefulSet shop/db completes: 3 of 3 pods ready",
        ),
    ),
    Case(
        "simulate taint nodes --all maint=1:NoExecute --snapshot engine/pod-that-tolerates-a-minute.yaml", 1,
        (
            "taint nodes --all maint=1:NoExecute: never settles, because pods are replaced again and again",
            "Deployment shop/web never settles: 1 of 1 pod ready, as few as 0 during the step, 1 old pod deleted",
            "The shortest way into the repetition (--details prints every event):",
            "There is one outcome (9 states visited).",
        ),
    ),
    Case(
        "simulate set image sts/db c=img:2 -n shop --snapshot engine/statefulset-with-partition.yaml", 0,
        ("set image sts/db c=img:2: completes", "  its updateStrategy leaves 2 pods of the old template"),
    ),
    Case(
        """simulate patch sts db -n shop -p '{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}' """
        "--then 'set image sts/db c=img:2 -n shop' --snapshot engine/statefulset-with-partition.yaml", 0,
        (
            "Step 2: set image sts/db c=img:2 -n shop: completes",
            "StatefulSet shop/db completes: 3 of 3 pods ready",
            "  its updateStrategy leaves 3 pods of the old template",
        ),
    ),
    Case(
        """simulate patch pod web-h1web-b1 -n shop --type=json -p '[{"op":"remove","path":"/spec/schedulingGates"}]' """
        "--snapshot engine/gated-pods.yaml", 2,
        ("error: of a pod only the labels can be patched here: changes of its spec are not simulated",),
    ),
)  # fmt: skip

JOBS = "--snapshot engine/jobs.yaml -n ml"
REFUSALS = {
    f"simulate set image job/loose c=img:9 {JOBS}": (
        'The Job "loose" is invalid: spec.template: Invalid value: field is immutable'
    ),
    f'simulate patch job loose -p \'{{"spec":{{"completions":7}}}}\' {JOBS}': (
        'The Job "loose" is invalid: spec.completions: Invalid value: 7: field is immutable'
    ),
    f'simulate patch job train -p \'{{"spec":{{"completions":4}}}}\' {JOBS}': (
        'The Job "train" is invalid: spec.completions: Invalid value: 4: can only be modified in tandem with '
        "spec.parallelism"
    ),
    f'simulate patch job train -p \'{{"spec":{{"completionMode":"NonIndexed"}}}}\' {JOBS}': (
        'The Job "train" is invalid: spec.completionMode: Invalid value: "NonIndexed": field is immutable'
    ),
    'simulate patch sts db -n shop -p \'{"spec":{"serviceName":"x"}}\' '
    "--snapshot engine/statefulset-with-terminating-pod.yaml": (
        'The StatefulSet "db" is invalid: spec: Forbidden: updates to statefulset spec for fields other than '
        "'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
        "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
    ),
}


@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: case.words)
def test_the_answer(case: Case, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(CASES)
    code = run(shlex.split(case.words))
    told = capsys.readouterr()
    lines = iter((told.out or told.err).splitlines())

    assert code == case.code
    assert all(line in lines for line in case.lines), told


@pytest.mark.parametrize("words", REFUSALS)
def test_the_refusal(words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Immutable fields stay as they are, whatever command changes them."""
    monkeypatch.chdir(CASES)

    assert run(shlex.split(words)) == 1
    assert capsys.readouterr().err == f"{REFUSALS[words]}\n"
