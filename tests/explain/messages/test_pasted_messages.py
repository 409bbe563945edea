"""What `explain --message` tells about a message: nothing false, nothing twice, and nothing left out.

The messages are in the words of the components' sources, with our own names.
"""
# ruff: noqa: E501 (messages are kept as they are printed)

from __future__ import annotations

from typing import NamedTuple

import pytest

from kubectl_spread.cli.main import run

ROW = "Warning  FailedScheduling  40s  default-scheduler  0/3 nodes are available: 3 Insufficient cpu. preem"
AGAIN = "Insufficient cpu. preemption: 0/4 nodes are available: 4 No preemption victims found for incoming pod."


class Told(NamedTuple):
    """A text, sentences of its answer, and words that the answer must not have."""

    text: str
    said: tuple[str, ...]
    not_said: tuple[str, ...] = ()


TOLD = {
    "a word that a terminal broke": Told(
        f"{ROW}\nption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.",
        ("No pod of lower priority runs on those 3 nodes.",), ("cut off", "2 times")),
    "a reason that a terminal broke in a box": Told(
        "│ 0/7 nodes are available: 7 node is filtered out by the prefilter resul │\n│ t. preemption: 0/7 nodes are available: 7 Preemption is not helpful for scheduling. │",
        ("by a plugin that limits which nodes are considered. NodeAffinity",), ("...", "resul t")),
    "a shell in a reason": Told(
        "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to b\n[me@host dir]# ls      │ind.",
        ("On that node no PersistentVolume matches",), ("ls", "b ind")),
    "fargate and a claim": Told(
        "Warning  FailedScheduling  3m  fargate-scheduler  Pod not supported on Fargate: volumes not supported: data not supported because: PVC data-0 not bound",
        ("fargate-scheduler: Pod not supported", "It may be bound now."), ("kube-scheduler",)),
    "fargate and fields": Told(
        "Pod not supported on Fargate: fields not supported: HostNetwork, invalid SecurityContext fields: Privileged",
        ("run the pod on EC2 nodes",), ("claim",)),
    "two pools, one reason": Told(
        'Failed to schedule pod, incompatible with nodepool "a", daemonset overhead={"cpu":"1"}, did not tolerate x=y:NoSchedule; incompatible with nodepool "b", daemonset overhead={"cpu":"1"}, did not tolerate x=y:NoSchedule',
        ('nodepool "a": did not tolerate x=y:NoSchedule', 'nodepool "b": did not tolerate x=y:NoSchedule'), ("seen", "next part")),
    "a pool of old among new": Told(
        'incompatible with nodepool "n", did not tolerate x=y:NoSchedule; incompatible with provisioner "o", did not tolerate x=y:NoSchedule',
        ('provisioner "o": did not tolerate',)),
    "the autoscaler without a reason": Told(
        "Normal  NotTriggerScaleUp  10s  cluster-autoscaler  pod didn't trigger scale-up: \n(空)", ("considered no node group",), ("would refuse",)),
    "the autoscaler whose check failed": Told(
        "pod didn't trigger scale-up (it wouldn't fit if a new node is added)\nWarning  FailedScheduling  1s  default-scheduler  0/2 nodes are available: 2 Too many pods.",
        ("a new node of any group would refuse", "the maximum number of pods"), ("Not a known reason",)),
    "counts in brackets": Told(
        "No nodes are available that match all of the following predicates:: Insufficient memory (7), MatchNodeSelector (5), PodToleratesNodeTaints (2).",
        ("Those 7 nodes have too little memory", "Those 5 nodes do not have the labels", "Those 2 nodes have a taint", "1.16 or earlier"), ("does not say how many",)),
    "more counts than nodes": Told(
        "0/6 nodes are available: 2 Insufficient cpu, 6 node(s) didn't match node selector.",
        ("A node may be counted for several reasons", "1.19 or earlier"), ("first check",)),
    "two resources of the same nodes": Told("0/2 nodes are available: 2 Insufficient cpu, 2 Insufficient memory.", ("first check",), ("several reasons",)),
    "no specific reason of affinity": Told(
        "0/8 nodes are available: 1 node(s) didn't match pod affinity/anti-affinity, 7 node(s) didn't match node selector.", ("That node does not meet a rule of pod affinity",), ("twice",)),
    "claims that cannot be freed": Told(
        "0/1 nodes are available: 1 cannot allocate all claims. still not schedulable, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
        ("No claim of the pod could be freed.",), ("made no difference",)),
    "a host port on the node": Told("Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports", ("another pod on the node uses the hostPort",), ("labels",)),
    "a pod that was scheduled": Told(
        "Events:\n  Warning  FailedScheduling  90s (x2 over 2m)  default-scheduler  0/1 nodes are available: 1 Too many pods.\n  Normal  Scheduled  80s  default-scheduler  Successfully assigned shop/web-1 to n1\n",
        ("That was 80s ago, after what follows.", "the maximum number of pods")),
    "a pod that the kubelet refused after it was scheduled": Told(
        "  Normal  Scheduled  9m  default-scheduler  Successfully assigned shop/web-1 to n1\n  Warning  OutOfcpu  9m  kubelet  Node didn't have enough resource: cpu, requested: 500, used: 3800, capacity: 3900\n",
        ("cpu in thousandths of a core",), ("after what follows",)),
    "a volume that was attached": Told(
        'Events:\n  Warning  FailedAttachVolume  70s  attachdetach-controller  Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) db-0\n  Normal  SuccessfulAttachVolume  50s  attachdetach-controller  AttachVolume.Attach succeeded for volume "pvc-1"\n',
        ("That was 50s ago, after what follows.",)),
    "a folded message": Told(
        'status:\n  conditions:\n  - message: >-\n      admission webhook "w.example.com"\n      denied the request: team\n      is missing\n    reason: Failed\n    status: "False"\n', ("denied the request: team is missing",), ("Not understood",)),
    "coscheduling": Told(
        "Warning  FailedScheduling  2m  scheduler-plugins-scheduler  optimistic rejection in PostFilter\nWarning  FailedScheduling  2m  scheduler-plugins-scheduler  0/4 nodes are available: 4 pre-filter pod ns/a cannot find enough sibling pods, current pods number: 1, minMember of group: 3.",
        ("scheduler-plugins-scheduler: optimistic", "until enough pods of its group exist"), ("Not a known",)),
    "the scheduler's cache": Told("AssumePod failed: pod shop/web state wasn't initial but get assumed", ("a fault of the scheduler",), ("pvc",)),
    "an elastic quota": Told(
        "0/5 nodes are available: Insufficient quotas [[example.com/gpu]], quotaName: team, runtime: cpu:4, used: cpu:4, pod's request: cpu:1, exceedDimensions: [example.com/gpu]. preemption: not eligible due to preemptionPolicy=Never.",
        ("elastic quota has too little example.com/gpu", "so preemption was not tried"), ("Those",)),
    "topology of Kueue": Told(
        "couldn't assign flavors to pod set main: topology \"racks\" doesn't allow to fit any of 4 pod(s).\nTotal nodes: 9; excluded: resource \"example.com/gpu\": 9", ("Quota plays no part", "Total nodes: 9"), ("quota left",)),
    "a flavor that is too small": Told(
        "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor a, previously considered podsets requests (0) + current podset request (2) > maximum capacity (1)", ("Waiting does not help",)),
    "no text of the refusal": Told("Warning  FailedCreate  5s (x9 over 1m)  replicaset-controller  Error creating: \n", ("gave no reason",), ("next part",)),
    "an API server without an answer": Told("Error creating: Timeout: request did not complete within requested timeout", ("It is not known whether",), ("accepted",)),
    "no instance type is large enough": Told("no instance type has enough resources, requirements=a In [b]", ("large enough for the pod",), ("offering",)),
    "no requirements and no offering": Told(
        "no instance type met the scheduling requirements or had a required offering, requirements=a In [b]", ("each of these alone leaves none",), ("large enough",)),
    "the limits of a pool": Told('all available instance types exceed limits for nodepool: "x"', ("would exceed the limits",), ("has reached",)),
    "counts over two lines": Told(
        "unsatisfiable topology constraint for topology spread, key=rack (counts = a: 1, b: 0,\npodDomains = rack Exists,\nnodeDomains = rack In [a])", ("nodeDomains = rack In [a]", "get nodes -L rack"), ("zone",)),
    "a gang": Told("3/5 tasks in gang unschedulable: pod group is not ready, 5 Pending, 5 minAvailable", ("3 more must fit", "the group has 5")),
    "a webhook without an answer": Told(
        'Internal error occurred: failed calling webhook "w.example.com": failed to call webhook: Post "https://guard.policy.svc:443/v?timeout=5s": context deadline exceeded',
        ("get services,endpoints guard -n policy",)),
    "volumes of an old kubelet": Told('Unable to mount volumes for pod "db-0_shop(1)": timeout expired', ("The pod has a node",)),
    "a gang without nodes": Told("Reason = [Unschedulable], Message = [0 nodes are available]", ("Volcano: 0 nodes are available", "some more must fit")),
    "SCC": Told('Error creating: pods "web-" is forbidden: unable to validate against any security context constraint: []', ("An empty list means",)),
    "an old service account": Told('pods "web" is forbidden: service account shop/web was not found, retry after the service account is created', ("get serviceaccounts",)),
    "noise around a message": Told(
        "`Events:\n                node.kubernetes.io/unreachable:NoExecute op=Exists for 300s\n  pod-template-hash=123\n7m  7m  1  web.14f4  ReplicaSet  Normal  SuccessfulCreate  replicaset  Created pod: web-1\n0/1 nodes are available: 1 Too many pods.\na few seconds ago",
        ("the maximum number of pods",), ("Not understood",)),
    "names for the commands": Told(
        "Name:             web-1\nNamespace:        shop\nStatus:           Pending\nEvents:\n  Warning  FailedScheduling  5s  default-scheduler  0/1 nodes are available: 1 Too many pods.\n",
        ("kubectl spread explain pod web-1 -n shop",)),
    "the scheduler in the column From": Told("Warning  FailedScheduling  5s  koord-scheduler  0/1 nodes are available: 1 Too many pods.", ("koord-scheduler",), ("kube-scheduler",)),
    "older events": Told(
        f"Events:\n  Warning  FailedScheduling  50m  default-scheduler  0/4 nodes are available: 1 Too many pods, 3 {AGAIN}\n  Warning  FailedScheduling  2m  default-scheduler  0/4 nodes are available: 4 {AGAIN}\n",
        ("Earlier:\n  50m ago: 0/4 nodes are available: 1 Too many pods", "Those 4 nodes have too little cpu"), ("Those 3 nodes",)),
}  # fmt: skip


@pytest.mark.parametrize("name", TOLD)
def test_the_answer_says_it(name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    code = run(["explain", "--message", TOLD[name].text])
    out = capsys.readouterr().out
    flat = out if "\n" in "".join(TOLD[name].said) else " ".join(out.split())

    assert [] == [sentence for sentence in TOLD[name].said if sentence not in flat], out
    assert [] == [words for words in TOLD[name].not_said if words in out], out
    assert code == 0, out
    assert len(out.splitlines()) <= 30


def test_events_of_two_pods_are_both_explained(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        f"{age}  Warning  FailedScheduling  pod/{pod}  0/2 nodes are available: 2 {reason}."
        for age, pod, reason in (("9m", "a", "Insufficient cpu"), ("1m", "b", "Too many pods"))
    ]
    run(["explain", "--message", "\n".join(rows)])

    out = capsys.readouterr().out
    assert "Earlier" not in out
    assert "explain pod a -n" in out
    assert "explain pod b -n" in out
