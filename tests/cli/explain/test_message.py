"""`explain --message`: whole outputs, documents and exit codes."""
# ruff: noqa: E501 (lines are kept as the scheduler writes them)

from __future__ import annotations

import io
import json
import sys
from typing import Any, Optional

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.cli.main import run
from kubectl_spread.explain.messages.parse import parse
from kubectl_spread.report.messages import text
from kubectl_spread.report.table import unpainted

MIXED = (
    "0/6 nodes are available: 2 node(s) had untolerated taint(s), 4 node(s) didn't match pod topology spread constraints. no new "
    "claims to deallocate, preemption: 0/6 nodes are available: 2 Preemption is not helpful for scheduling, 4 No preemption "
    "victims found for incoming pod."
)
NARROW = """\
kube-scheduler (worded as in 1.34 and later): none of the 6 nodes takes the pod.

  2  node(s) had untolerated taint(s)
     Those 2 nodes have a taint (NoSchedule or NoExecute) that the pod does not
     tolerate. Only the first such taint of a node is counted. The message does
     not name the taint: none does from 1.34.3 on.
  4  node(s) didn't match pod topology spread constraints
     Those 4 nodes passed every earlier check: taints, node affinity, ports,
     resources and volumes. There was room on them, but a topology spread
     constraint refused the pod: it would make the skew greater than maxSkew.
     Domains that the pod cannot use may keep the minimum low.
Each node is counted under the first check that refused it, and for each
resource that it lacks: after a fix, the next check may refuse it.

Preemption, which evicts pods of lower priority, of 6 nodes:
  2  Preemption is not helpful for scheduling
     Evicting pods does not help: running pods are not the reason.
  4  No preemption victims found for incoming pod
     No pod of lower priority runs on those 4 nodes.

`no new claims to deallocate`: No allocated resource claim of the pod could be
freed. Every such message of newer releases contains these words.

Next:
  kubectl spread explain pod NAME -n NAMESPACE
  kubectl get nodes -L topology.kubernetes.io/zone
  kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints
"""
WIDE = """\
kube-scheduler (worded as in 1.34 and later): none of the 6 nodes takes the pod.

  2  node(s) had untolerated taint(s)
     Those 2 nodes have a taint (NoSchedule or NoExecute) that the pod does not tolerate. Only the first such taint of a
     node is counted. The message does not name the taint: none does from 1.34.3 on.
  4  node(s) didn't match pod topology spread constraints
     Those 4 nodes passed every earlier check: taints, node affinity, ports, resources and volumes. There was room on
     them, but a topology spread constraint refused the pod: it would make the skew greater than maxSkew. Domains that
     the pod cannot use may keep the minimum low.
Each node is counted under the first check that refused it, and for each resource that it lacks: after a fix, the next
check may refuse it.

Preemption, which evicts pods of lower priority, of 6 nodes:
  2  Preemption is not helpful for scheduling
     Evicting pods does not help: running pods are not the reason.
  4  No preemption victims found for incoming pod
     No pod of lower priority runs on those 4 nodes.

`no new claims to deallocate`: No allocated resource claim of the pod could be freed. Every such message of newer
releases contains these words.

Next:
  kubectl spread explain pod NAME -n NAMESPACE
  kubectl get nodes -L topology.kubernetes.io/zone
  kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints
"""
UNKNOWN = """\
kube-scheduler: none of the 3 nodes takes the pod.

  1  my plugin said no
     Not a known reason of kube-scheduler 1.16 to 1.38: perhaps the reason of a
     custom plugin.
  2  Insufficient cpu
     Those 2 nodes have too little cpu left for the pod's request. Requests
     count, not usage.
Each node is counted under the first check that refused it, and for each
resource that it lacks: after a fix, the next check may refuse it.

Not understood:
  my plugin said no

Next:
  kubectl spread explain pod NAME -n NAMESPACE
  kubectl describe nodes | grep -A 8 'Allocated resources'
"""


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")


def test_the_text_at_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["explain", "--message", MIXED])
    out, err = capsys.readouterr()

    assert (0, "") == (code, err)
    assert NARROW == out


def test_the_text_at_160_columns() -> None:
    told = unpainted(text([parse(MIXED)], width=160)).split("\n")

    assert WIDE == "\n".join(told) + "\n"
    assert max(map(len, told)) <= 120


def test_what_is_not_understood_is_said_and_exits_1(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["explain", "--message", "0/3 nodes are available: 1 my plugin said no, 2 Insufficient cpu."])
    out, err = capsys.readouterr()

    assert (1, "error: one part of the text was not understood\n") == (code, err)
    assert UNKNOWN == out


def test_colour_only_adds_codes(capsys: pytest.CaptureFixture[str]) -> None:
    run(["explain", "--message", MIXED, "--color", "always"])
    coloured = capsys.readouterr().out

    assert "\x1b[" in coloured
    assert NARROW == coloured.replace("\x1b[1m", "").replace("\x1b[36m", "").replace("\x1b[0m", "")


def test_control_characters_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    run(["explain", "--message", "0/3 nodes are available: 3 bell \x07 and \x1b]0;title\x07 here."])

    assert not {"\x07", "\x1b"} & set(capsys.readouterr().out)


def explained(text: str, capsys: pytest.CaptureFixture[str]) -> Any:
    run(["explain", "--message", text, "-o", "json"])
    document = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(schemas.load("message")).validate(document)
    return document["messages"]


def test_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    (message,) = explained(MIXED, capsys)

    assert ("kube-scheduler", "nodes", 6, ["1.34", "1.38"]) == tuple(
        message[name] for name in ("component", "form", "nodes", "versions")
    )
    assert [(2, "taint"), (4, "constraint")] == [(part["count"], part["kind"]) for part in message["parts"]]
    assert 6 == message["preemption"]["nodes"]
    assert "kubectl spread explain pod NAME -n NAMESPACE" == message["next"][0]


@pytest.mark.parametrize(
    "text",
    [
        "no nodes available to schedule pods",
        "pod didn't trigger scale-up: 2 max node group size reached",
        'incompatible with nodepool "a", did not tolerate a=b:NoSchedule',
        "0/3 nodes are available: 3 Too many pods. preemption: not eligible due to preemptionPolicy=Never.",
        "0/34 nodes are available: 26 node(s) didn't match Pod's node...",
        "what?",
    ],
)
def test_every_document_follows_the_schema(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert explained(text, capsys)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("0/3 nodes are available: 5 Insufficient cpu, 2 Too many pods.", (5, 3)),
        (
            "0/3 nodes are available: 3 Too many pods. preemption: 0/3 nodes are available: 4 Preemption is not helpful.",
            (4, 3),
        ),
        ("0/3 nodes are available: 3 Insufficient cpu, 3 Insufficient memory.", None),
        ("no nodes available to schedule pods", None),
    ],
)
def test_a_count_above_the_number_of_nodes_is_doubted(
    text: str, counts: Optional[tuple[int, int]], capsys: pytest.CaptureFixture[str]
) -> None:
    """A node may be counted for several resources, but no reason holds for more nodes than there are."""
    doubt = ""
    if counts is not None:
        doubt = (
            f"The numbers cannot be right: a reason is counted for {counts[0]} nodes, and the message is about "
            f"{counts[1]}. Perhaps the text was changed, or two messages were joined."
        )
    assert doubt == explained(text, capsys)[0]["doubt"]
    run(["explain", "--message", text])
    assert (counts is not None) == (doubt[:40] in capsys.readouterr().out and bool(doubt))


@pytest.mark.parametrize(
    ("text", "headline", "first"),
    [
        (
            "pod didn't trigger scale-up: 2 max node group size reached",
            "cluster-autoscaler: no node is added for the pod.",
            "kubectl get configmap cluster-autoscaler-status -n kube-system -o yaml",
        ),
        (
            "0/4 nodes are unavailable: 4 Insufficient nvidia.com/gpu.",
            "Volcano: none of the 4 nodes takes the pod.",
            "kubectl spread explain pod NAME -n NAMESPACE",
        ),
        (
            'Could not schedule pod, incompatible with provisioner "default", did not tolerate a=b:NoSchedule',
            'Karpenter: provisioner "default": did not tolerate a=b:NoSchedule',
            "kubectl get provisioners -o wide",
        ),
        (
            'Error from server (Forbidden): error when creating "a.yaml": pods "a" is forbidden: exceeded quota: q',
            'kube-apiserver: Error from server (Forbidden): error when creating "a.yaml":',
            "kubectl describe resourcequota -n NAMESPACE",
        ),
        (
            'selectedNode annotation value "" not set to scheduled node "n1"',
            'kube-scheduler: selectedNode annotation value "" not set to scheduled node "n1"',
            "kubectl get pvc -n NAMESPACE",
        ),
        (
            'EC2NodeClass.karpenter.k8s.aws "default" not found',
            'Karpenter: EC2NodeClass.karpenter.k8s.aws "default" not found',
            "kubectl get ec2nodeclasses",
        ),
        (
            "Warning  FailedScheduling  1m  default-scheduler  0/1 nodes are available: 1 Too many pods; retrying\n\
Normal   Pulled            1m  kubelet            Container image already present on machine\n",
            "kube-scheduler: the only node does not take the pod.",
            "kubectl spread explain pod NAME -n NAMESPACE",
        ),
    ],
)
def test_the_first_sentence_and_the_first_command(
    text: str, headline: str, first: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(["explain", "--message", text])
    out, err = capsys.readouterr()

    assert (0, "") == (code, err)
    assert headline == out.splitlines()[0]
    assert first == out.partition("Next:\n")[2].splitlines()[0].strip()


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for raw in (MIXED.encode(), MIXED.encode("utf-16")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))

        assert 0 == run(["explain", "--message", "-"])
        assert NARROW == capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "the message is empty"),
        (("pod/a",), "--message cannot be combined with a pod, a node, a manifest or a cluster"),
        (("-o", "html"), "--message supports -o text, json and yaml only"),
        (("--node", "n1"), "--message cannot be combined with a pod, a node, a manifest or a cluster"),
        (("-f", "a.yaml"), "--message cannot be combined with a pod, a node, a manifest or a cluster"),
        (("--topology", "zones=1"), "--message cannot be combined with a pod, a node, a manifest or a cluster"),
    ],
)
def test_wrong_usage(args: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["explain", "--message", "x" if args else " \n", *args])

    assert (2, f"error: {said}\n") == (code, capsys.readouterr().err.split("See ")[0])


def test_a_description_without_events_holds_no_message(capsys: pytest.CaptureFixture[str]) -> None:
    text = "Name:             web-1\nNamespace:        default\nNode:             <none>\nStatus:           Pending\n"
    code = run(["explain", "--message", text])
    out, err = capsys.readouterr()

    assert (code, err) == (1, "error: the text holds no message; paste the Events of the pod, too\n")
    assert out == "This is not a known message of the scheduler, an autoscaler or the API server.\n"


def test_an_unknown_message_is_called_so_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "--message", "foo"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "This is not a known message of the scheduler, an autoscaler or the API server.",
        "",
        "Not understood:",
        "  foo",
    ]
