"""Messages that a terminal, a column, a pager or a person cut: the text says so, and its known part is explained."""
# ruff: noqa: E501 (messages are kept as they were published)

from __future__ import annotations

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.explain.messages.meaning import commands, cut_sentence, inconsistency, meaning, meaning_of_whole
from kubectl_spread.explain.messages.parse import Message, parse, parse_all

SKEW = "node(s) didn't match pod topology spread constraints"
WHOLE = """kubectl get pod NAME -n NAMESPACE -o jsonpath='{.status.conditions[?(@.type=="PodScheduled")].message}'"""


def parts_of(message: Message) -> str:
    """The parts as `number kind subject`, with `...` behind a part that is cut."""
    return ", ".join(
        " ".join(filter(None, [str(part.number or "-"), part.kind.value, part.subject, "..." if part.is_cut else ""]))
        for part in message.parts
    )


CUT = (
    # an ellipsis in place of reasons
    ("0/3 nodes are available: 3 ...", "3 cut ...", "it gives no reason for at least 3 nodes."),
    ("3/3 nodes are available: 3 ...", "3 cut ...", "it gives no reason for at least 3 nodes."),
    ("0/3 nodes are available: 1 node(s) were unschedulable, 2 ... (2 more)", "1 cordon, 2 cut ...", "it gives no reason for at least 2 nodes."),
    ("0/6 nodes are available: 3 Insufficient cpu, ... and 2 more", "3 resource cpu", "it gives no reason for at least 3 nodes."),
    ("0/4 nodes are available: 1 Insufficient cpu, [...]", "1 resource cpu", "it gives no reason for at least 3 nodes."),
    ("0/4 nodes are available: [...] 1 Insufficient cpu.", "1 resource cpu", "it gives no reason for at least 3 nodes."),
    ("0/4 nodes are available: 1 Insufficient cpu, etc.", "1 resource cpu", "it gives no reason for at least 3 nodes."),
    ("0/9 nodes are available: ... 9 Insufficient memory", "9 resource memory", "it may lack reasons."),
    ("`0/3 nodes are available: ... didn't match PersistentVolume's node affinity`", "- volumeNodeAffinity", "it may lack reasons."),
    ("`0/N nodes are available: ... Insufficient rdma/hca_shared_devices`", "- resource rdma/hca_shared_devices", "it may lack reasons."),
    ("...3 node(s) had untolerated taint {dedicated: gpu}, 2 Insufficient cpu.", "3 taint {dedicated: gpu}, 2 resource cpu", "it may lack reasons."),
    ("[...] Insufficient memory, 2 node(s) had untolerated taint {x: y}.", "- resource memory, 2 taint {x: y}", "it may lack reasons."),
    ("pod didn't trigger scale-up: 1 max node group size reached, 2 ...", "1 nodeGroupFull, 2 cut ...", "it gives no reason for at least 2 node groups."),
    # within a reason: by the width of a column, a pager, a person
    ("0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kuber...", "1 taint ...", "it gives no reason for at least 2 nodes."),
    ("8s          Warning   FailedScheduling   pod/web-0     0/3 nodes are available: 3 node(s) didn't match Pod's node affi", "3 nodeAffinity ...", "it may lack reasons."),
    (f"0/5 nodes are available: 2 Insufficient cpu, 3 {SKEW[:-15]}…", "2 resource cpu, 3 constraint ...", "it may lack reasons."),
    (f"0/5 nodes are available: 2 Insufficient cpu, 3 {SKEW[:-15]}>", "2 resource cpu, 3 constraint ...", "it may lack reasons."),
    (f"0/5 nodes are available: 2 Insufficient cpu, 3 {SKEW} (truncated)", "2 resource cpu, 3 constraint ...", "it may lack reasons."),
    (f"Message:               0/5 nodes are available: 5 {SKEW} (missing requ", "5 constraintLabelMissing ...", "it may lack reasons."),
    ("`0/1 nodes are available: 1 node(s)...`", "1 cut ...", "it gives no reason for at least 1 node."),
    ("…odes are available: 2 Insufficient cpu, 1 node(s) had untolerated taint {a: b}.", "2 resource cpu, 1 taint {a: b}", "it may lack reasons."),
    ("0/5 nodes are available: 3 node(s) had untolerated taint {a: b}, 2 Insufficient mem…", "3 taint {a: b}, 2 resource mem ...", "it may lack reasons."),
    ("0/5 nodes are available: 5 Insufficient cpu...", "5 resource cpu", "it may lack reasons."),
    ("0/4 nodes are available: 4 node(s) had volume node affinity conflict <truncated>", "4 volumeNodeAffinity", "it may lack reasons."),
    ("0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAff...", "2 narrowed ...", "it may lack reasons."),
    ("NAME   REASON             MESSAGE\nweb-0  FailedScheduling   0/3 nodes are available: 1 node(s) had untolerated tai...\n", "1 taint ...", "it gives no reason for at least 2 nodes."),
    # after a comma
    (f"Warning  FailedScheduling  73s   \ndefault-scheduler  0/2 nodes are available:\n1 {SKEW},\n", "1 constraint", "it gives no reason for at least 1 node."),
)  # fmt: skip


@pytest.mark.parametrize(("text", "parts", "lack"), CUT)
def test_a_cut_list_says_what_it_lacks(text: str, parts: str, lack: str) -> None:
    message = parse(text)

    assert parts == parts_of(message)
    assert f"The text is cut off: {lack}" == cut_sentence(message)
    assert () == message.not_understood
    assert message.form == "notScaled" or commands(message._replace(pod=""))[:2] == (
        "kubectl spread explain pod NAME -n NAMESPACE",
        WHOLE,
    )


@pytest.mark.parametrize(
    "text",
    [
        "0/3 nodes are avail...",
        "0/3 nodes are available: ...",
        " team-alpha   Pod   job-ghi-789      FailedScheduling  2      scheduler  0/3 nodes are available…",
        "Workspace Pod is unschedulable: 0/N nodes are available…",
    ],
)
def test_a_text_that_is_cut_before_its_list_says_so(text: str) -> None:
    message = parse(text)

    assert ((), "The text is cut off before its reasons.", ()) == (
        message.parts,
        cut_sentence(message),
        message.not_understood,
    )


@pytest.mark.parametrize("clause", ["preemptio", "preemption: 0/3 n", "preemption: 0/3 nodes are available: 2 No preemption vic"])  # fmt: skip
def test_a_cut_clause_leaves_the_list_complete(clause: str) -> None:
    message = parse(f"0/3 nodes are available: 3 Insufficient cpu. {clause}")

    assert ("", True) == (cut_sentence(message), message.is_cut)
    assert "may lack" not in meaning_of_whole(message)


@pytest.mark.parametrize("end", [".", "..", "", ". preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.."])  # fmt: skip
def test_a_complete_list_is_not_cut(end: str) -> None:
    assert not parse(f"0/3 nodes are available: 3 Insufficient cpu{end}").is_cut


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('Error creating: pods "web-7d4b9c-" is forbidden: exceeded quota: team-a, requested: limits.cpu=1, used: lim...', "quota"),
        ('failed to provision volume with StorageClass "gp3": rpc error: code = Internal desc = Could not crea…', "provisioningFailed"),
    ],
)  # fmt: skip
def test_a_cut_sentence_says_so(text: str, form: str) -> None:
    message = parse(text)

    assert (form, True, "The text is cut off.") == (message.form, message.is_cut, cut_sentence(message))


def test_a_text_that_is_cut_in_its_second_part_says_so() -> None:
    """The beginning of a part is not understood, and the text ends with an ellipsis."""
    message = parse(
        'incompatible with nodepool "default", daemonset overhead={"cpu":"675m","pods":"6"}, incompatible requ...'
    )

    assert ("karpenterPool", "The text is cut off.") == (message.form, cut_sentence(message))
    assert ("incompatible requ...",) == message.not_understood


def test_kubectl_ends_its_own_sentence_with_an_ellipsis() -> None:
    text = 'Waiting for deployment "web" rollout to finish: 1 out of 3 new replicas have been updated...'

    assert not parse(text).is_cut


def test_only_a_list_of_nodes_begins_with_other_numbers() -> None:
    """`3/3 nodes are available:` was changed by hand; `3/3 nodes are available` is another program's sentence."""
    assert "begins it with `0/`" in inconsistency(parse("3/3 nodes are available: 3 Insufficient cpu."))
    assert parse("rook: 3/3 nodes are available").form == "unknown"


def test_a_cut_name_is_left_out() -> None:
    (part,) = parse("0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAff").parts

    assert "by a plugin that limits which nodes are considered. NodeAffinity does" in meaning(part)


def test_groups_without_a_reason_are_not_explained() -> None:
    message = parse("pod didn't trigger scale-up: 2 ...")

    assert "would refuse the pod" not in meaning_of_whole(message) + meaning(message.parts[0], of_groups=True)


def test_the_text_says_it_first(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code = run(["explain", "--message", "0/3 nodes are available: 1 Insufficient cpu, 2 ..."])
    out, err = capsys.readouterr()

    assert (0, "") == (code, err)
    assert [
        "kube-scheduler: none of the 3 nodes takes the pod.",
        "The text is cut off: it gives no reason for at least 2 nodes.",
        "",
        "  1  Insufficient cpu",
    ] == out.splitlines()[:4]
    assert "\n  2  ...\n     The text is cut off here.\n" in out


UNSEEN = (
    ("0/6 nodes are available: 6 Insufficient cpu. preemption: 0/6 nodes are available.", ["nodes: 6 resource cpu"]),
    ("FailedScheduling: `0/1 nodes are available: 1 Too many pods.` and then I added a node", ["nodes: 1 pods"]),
    ("关键诊断行:\n  Warning  FailedScheduling  16m  default-scheduler  0/3 nodes are available: 3 Insufficient memory.", ["nodes: 3 resource memory"]),
    ("Warning  FailedScheduling  1s    volcano  Pod default/vjtest-0 can possibly be assigned to node1", ["taskWaits: "]),
    ("all nodes are unavailable: 1 plugin InterPodAffinity predicates failed node(s) didn't match pod affinity rules.", ["nodes: 1 affinity"]),
    ('Could not schedule pod, incompatible with nodepool "amd64-windows2022", daemonset overhead={"cpu":"30m","pods":"1"}', ["karpenterPool: "]),
    ("E0522 03:05:11.307556       1 mux.go:134] unable to preempt nodes: no nodes available to schedule pods demo/pd-1", ["noNodes: "]),
)  # fmt: skip


@pytest.mark.parametrize(("text", "messages"), UNSEEN)
def test_unseen_messages_are_understood(text: str, messages: list[str]) -> None:
    found = parse_all(text)

    assert messages == [f"{item.form}: {parts_of(item)}" for item in found]
    assert not any(item.not_understood for item in found)
