"""Messages as people paste them: what is read out of each, by hand."""
# ruff: noqa: E501, ISC004, Q003 (lines are kept as they were pasted)

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import NamedTuple, Optional

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_spread.explain.messages import catalogue, meaning
from kubectl_spread.explain.messages.catalogue import Component, match, ReasonKind, WORDINGS
from kubectl_spread.explain.messages.parse import Message, parse, parse_all, Part
from kubectl_spread.objects.releases import behaviours
from kubectl_spread.objects.releases.version import LAST_MINOR
from kubectl_spread.scheduler import plugins
from kubectl_spread.scheduler.filter_result import Diagnosis
from kubectl_spread.scheduler.framework.plugin import Code, Reason, Status

Counted = list[tuple[Optional[int], str]]


class Case(NamedTuple):
    """A message and what is in it: nodes, `number kind subject` of each part, and the same of preemption."""

    text: str
    nodes: Optional[int]
    parts: str
    preemption: Optional[str] = None
    era: Optional[tuple[int, int]] = None
    words: tuple[str, ...] = ()


NEW = "no new claims to deallocate"
# Written by kube-scheduler 1.36.2, or pasted by users; the thread stands before some.
CASES = (
    Case("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector. no new claims "
         "to deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption "
         "is not helpful for scheduling.",
         2, "1 resource cpu, 1 nodeAffinity", "1 noVictims, 1 preemptionNotHelpful", (34, 38), (NEW,)),
    Case("0/2 nodes are available: 1 node(s) didn't find available persistent volumes to bind, 1 node(s) didn't match pod "
         "topology spread constraints. no new claims to deallocate, preemption: 0/2 nodes are available: 1 No preemption "
         "victims found for incoming pod, 1 Preemption is not helpful for scheduling.",
         2, "1 volumeUnavailable, 1 constraint", "1 noVictims, 1 preemptionNotHelpful", (34, 38), (NEW,)),
    Case("0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) had untolerated "
         "taint(s). no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.",
         2, "1 constraint, 1 taint", "not eligible due to preemptionPolicy=Never", (34, 38), (NEW,)),
    Case("0/3 nodes are available: waiting for minCount pods from a gang to be scheduled.",
         3, "- podGroup", None, (35, 38)),
    Case("0/2 nodes are available: persistentvolumeclaim \"missing\" not found. not found",
         2, "- claimNotFound missing", None, (34, 38), ("not found",)),
    Case("0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found",
         2, "- claimUnbound", None, (34, 38), ("not found",)),
    Case("0/3 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod topology spread constraints, 1 node(s) had "
         "untolerated taint(s). no new claims to deallocate, preemption: 0/3 nodes are available: 1 Insufficient cpu, 1 No "
         "preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.",
         3, "1 resource cpu, 1 constraint, 1 taint", "1 resource cpu, 1 noVictims, 1 preemptionNotHelpful", (34, 38), (NEW,)),
    Case("0/3 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) didn't match pod "
         "topology spread constraints (missing required label), 1 node(s) had untolerated taint(s).",
         3, "1 constraint, 1 constraintLabelMissing, 1 taint", None, (34, 38)),
    Case("0/3 nodes are available: 1 node(s) didn't match pod topology spread constraints, 2 node(s) didn't match "
         "PersistentVolume's node affinity.", 3, "1 constraint, 2 volumeNodeAffinity", None, (33, 38)),
    Case("0/5 nodes are available: 1 node(s) were unschedulable, 4 node(s) didn't satisfy plugin(s) [NodeAffinity].",
         5, "1 cordon, 4 narrowed [NodeAffinity]", None, (24, 38)),
    Case("k/k#106396            0/8 nodes are available: 1 node(s) were unschedulable, 3 node(s) didn't match node "
         "selector, 4 node(s) didn't match pod topology spread constraints.",
         8, "1 cordon, 3 nodeAffinity, 4 constraint", None, (16, 19)),
    Case("k/k#107464            0/3 nodes are available: 2 node(s) didn't match pod topology spread constraints, 1 node(s) "
         "had taint {node_group: special}, that the pod didn't tolerate.",
         3, "2 constraint, 1 taint {node_group: special}", None, (18, 23)),
    Case("0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) had untolerated taint "
         "{node-role.kubernetes.io/control-plane: }. preemption: 0/2 nodes are available: 1 Preemption is not helpful for "
         "scheduling, 1 node(s) didn't match pod topology spread constraints.",
         2, "1 constraint, 1 taint {node-role.kubernetes.io/control-plane: }", "1 preemptionNotHelpful, 1 constraint", (24, 33)),
    Case("0/10 nodes are available: 3 node(s) had volume node affinity conflict, 7 node(s) didn't match Pod's node "
         "affinity/selector. preemption: 0/10 nodes are available: 10 Preemption is not helpful for scheduling..",
         10, "3 volumeNodeAffinity, 7 nodeAffinity", "10 preemptionNotHelpful", (26, 28)),
    Case("0/401 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 1 Too many pods, 3 node(s) didn't match pod "
         "anti-affinity rules, 397 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, "
         "preemption: 0/401 nodes are available: 3 node(s) didn't match pod anti-affinity rules, 398 Preemption is not "
         "helpful for scheduling.",
         401, "1 resource cpu, 1 resource memory, 1 pods, 3 antiAffinity, 397 nodeAffinity",
         "3 antiAffinity, 398 preemptionNotHelpful", (34, 38), (NEW,)),
    Case("0/5 nodes are available: 2 node(s) didn't match pod affinity/anti-affinity, 2 node(s) didn't match pod "
         "anti-affinity rules, 3 node(s) had taints that the pod didn't tolerate.",
         5, "2 affinityOrAntiAffinity, 2 antiAffinity, 3 taint", None, (16, 18)),
    Case("0/4 nodes are available: 1 node(s) were not ready, 1 node(s) had disk pressure, 2 Insufficient nvidia.com/gpu.",
         4, "1 nodeCondition, 1 nodeCondition, 2 resource nvidia.com/gpu", None, (16, 17)),
    Case("[Unschedulable] 0/1 nodes are available: 1 persistentvolumeclaim \"minecraft-data-pvc\" not found.",
         1, "1 claimNotFound minecraft-data-pvc", None, (16, 25)),
    Case("pod has unbound immediate PersistentVolumeClaims (repeated 3 times)", None, "- claimUnbound", None, (16, 21)),
    Case("0/4 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 3 cannot "
         "allocate all claims. still not schedulable, preemption: 0/4 nodes are available: 4 Preemption is not helpful for "
         "scheduling.", 4, "1 taint {node-role.kubernetes.io/control-plane: }, 3 devices", "4 preemptionNotHelpful",
         (34, 34), ("still not schedulable",)),
    Case("0/3 nodes are available: waiting for ephemeral volume controller to create the persistentvolumeclaim \"a-b\". "
         "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
         3, "- claimAwaited a-b", "3 preemptionNotHelpful", (24, 33)),
    Case("0/2 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, 1 node(s) exceed max "
         "volume count", 2, "1 port, 1 volumeLimit"),
    Case("0/3 nodes are available: 1 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s), 2 node(s) "
         "didn't match Pod's required features.", 3, "1 volumeNotFound, 2 feature", None, (35, 38)),
)  # fmt: skip

# The same, as it is pasted.
TRAPS = (
    Case("  Warning  FailedScheduling  10m (x3 over 5m)  default-scheduler  0/3 nodes are available: 3 Too many pods.",
         3, "3 pods"),
    Case("Warning  FailedScheduling  default-scheduler\n0/12 nodes are available:\n  3 node(s) had untolerated taint "
         "{node-role.kubernetes.io/control-plane},\n  9 node(s) didn't match pod topology\n     spread constraints.\n"
         "preemption: 0/12 nodes are available: 12 Preemption is not helpful for scheduling.",
         12, "3 taint {node-role.kubernetes.io/control-plane}, 9 constraint", "12 preemptionNotHelpful", (24, 33)),
    Case("    message: '0/6 nodes are available: 2 node(s) didn''t match pod topology spread\n      constraints, 4 node(s) "
         "had untolerated taint(s).'\n    reason: Unschedulable\n    status: \"False\"\n    type: PodScheduled\n",
         6, "2 constraint, 4 taint", None, (34, 38)),
    Case('{"lastProbeTime": null, "message": "0/2 nodes are available: persistentvolumeclaim \\"a\\" not found.", '
         '"observedGeneration": 1, "reason": "Unschedulable"}', 2, "- claimNotFound a"),
    Case("0/3 nodes are available: 3 node(s) didn’t match pod topology spread con\nstraints", 3, "3 constraint"),
    Case("`0/3 nodes are available: 3 Insufficient nvidia.com/gpu`", 3, "3 resource nvidia.com/gpu"),
    Case('I1113 07:29:12.82 1 factory.go:449] "Unable to schedule pod; no fit; waiting" pod="redis/proxy-redis-5" err="0/8 '
         "nodes are available: 8 node(s) didn't match node selector.\" ", 8, "8 nodeAffinity", None, (16, 19)),
    Case("> 0/3 nodes are available: 1 Insufficient cpu,\n> 2 node(s) didn't match pod affinity rules.",
         3, "1 resource cpu, 2 affinity"),
    Case("2 Insufficient cpu, 1 node(s) didn't match pod affinity rules", None, "2 resource cpu, 1 affinity"),
)  # fmt: skip

# Cut off: the last part is only begun.
CUT = (
    Case("0/34 nodes are available: 26 node(s) didn't match Pod's node...", 34, "26 nodeAffinity"),
    Case("0/3 nodes are available: 3 node(s) didn't match pod topology spread constr", 3, "3 constraint"),
    Case("0/3 nodes are available: 1 Insufficient cpu, 2 ...", 3, "1 resource cpu, 2 cut"),
    Case("0/3 nodes are available: 3 node(s) had untolerated taint {node-role.kub...", 3, "3 taint"),
    Case("0/3 nodes are available: 3 Too many pods. preemption: 0/3 nodes are avail...", 3, "3 pods", ""),
    Case("0/3 nodes are available: 3 Too many pods. no new cl...", 3, "3 pods", ""),
)  # fmt: skip


def told(parts: tuple[Part, ...]) -> str:
    """The parts, as the cases have them."""
    return ", ".join(
        f"{'-' if part.number is None else part.number} {part.kind.value} {part.subject}".rstrip() for part in parts
    )


def read(message: Message) -> tuple[object, ...]:
    """What a case says, and what was left over."""
    clause = message.preemption
    preemption = None if clause is None else clause.verdict or told(clause.parts)
    era = None if message.era is None else (message.era.least, message.era.most)
    return message.total, told(message.parts), preemption, era, message.post_filter, message.not_understood


@pytest.mark.parametrize("case", [*CASES, *TRAPS], ids=lambda case: case.text[:60])
def test_every_part_is_understood(case: Case) -> None:
    found = parse_all(case.text)

    assert [(case.nodes, case.parts, case.preemption, case.era, case.words, ())] == [read(item) for item in found]
    assert not found[0].is_cut


@pytest.mark.parametrize("case", CUT, ids=lambda case: case.text[-40:])
def test_what_is_cut_off_is_understood_as_far_as_it_goes(case: Case) -> None:
    found = parse(case.text)

    assert (case.nodes, case.parts, case.preemption, ()) == (*read(found)[:3], found.not_understood)
    assert found.is_cut


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text[:60])
@pytest.mark.parametrize("width", [30, 57])
def test_a_message_that_a_terminal_broke_anywhere_says_the_same(case: Case, width: int) -> None:
    """Within a word, too."""
    broken = "\n".join(case.text[at : at + width] for at in range(0, len(case.text), width))
    found = parse(broken)

    assert (case.nodes, case.parts.replace(" ", "")) == (found.total, told(found.parts).replace(" ", ""))
    assert () == found.not_understood


ELSEWHERE = (
    ("no nodes available to schedule pods", "kube-scheduler noNodes"),
    ("Scheduling is blocked due to non-empty scheduling gates", "kube-apiserver gated"),
    ("skip schedule deleting pod: shop/web-1", "kube-scheduler skipDeleting"),
    ("unsatisfiable topology constraint for topology spread, key=capacity-spread (counts = 1: 1, 10: 0, 2: 0, 3: 0, ..., "
     "podDomains = capacity-spread Exists, nodeDomains = capacity-spread In [1])", "Karpenter karpenterTopology"),
    ('incompatible with nodepool "sre-amd64", daemonset overhead={...}, unsatisfiable topology constraint for topology '
     "spread, key=topology.kubernetes.io/zone (counts = eu-central-1c: 1 and 12 other(s), podDomains = "
     "topology.kubernetes.io/zone In [eu-central-1c], nodeDomains = topology.kubernetes.io/zone In [eu-central-1c];",
     "Karpenter karpenterPool, Karpenter karpenterTopology"),
    ("counts = : 0, eastus2-1: 2, eastus2-2: 1, eastus2-3: 1", "Karpenter karpenterCounts"),
    ("(counts = , podDomains = topology.kubernetes.io/zone Exists, nodeDomains = topology.kubernetes.io/zone Exists",
     "Karpenter karpenterCounts"),
    ("incompatible requirements, [] not in [rhv6mc5e], key kubernetes.io/hostname", "Karpenter karpenterRequirements"),
    ("failed to find place for smash/nginx-deployment-...: cannot put pod ... on any node", "cluster-autoscaler noPlace"),
    ("Pod ... marked as unschedulable can be scheduled on node template-node-for-...-upcoming-13. Ignoring in scale up.",
     "cluster-autoscaler upcoming"),
    ("not enough pod disruption budget to move <pod-name>", "cluster-autoscaler autoscalerBudget"),
    ("nodeA is not suitable for removal: can reschedule only 0 out of 1 pods", "cluster-autoscaler notRemovable"),
    ("predicateName=NodeAffinity; reasons: node(s) didn't match Pod's node affinity; debugInfo=", "cluster-autoscaler predicate"),
    ('system-cluster-critical pod "coredns-545b87966c-hlkxb" is pending', "kops kopsPending"),
    ("Cannot evict pod as it would violate the pod's disruption budget.", "kube-apiserver eviction"),
    ("Error: YAML parse error on vault-secrets-operator/templates/deployment.yaml: error converting YAML to JSON: yaml: line "
     "119: mapping values are not allowed in this context", "Helm chartYaml"),
    ('ValidationError(Deployment.spec.template.spec.topologySpreadConstraints[0]): unknown field "matchLabels" in '
     "io.k8s.api.core.v1.TopologySpreadConstraint", "Helm chartField"),
    ("topologySpreadConstraints: Invalid type. Expected: object, given: array", "Helm chartValues"),
    ('.spec.template.spec.topologySpreadConstraints[topologyKey="kubernetes.io/hostname",whenUnsatisfiable='
     '"DoNotSchedule"].matchLabelKeys: field not declared in schema', "Argo CD argoCd"),
    ("spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero", "kube-apiserver validation"),
    ('The Deployment "web" is invalid: spec.template.spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: '
     'Duplicate value: "{topology.kubernetes.io/zone, DoNotSchedule}"', "kube-apiserver validation"),
    ('400 Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field '
     "TopologySpreadConstraint.spec.template.spec.topologySpreadConstraints.maxSkew of type int32", "kube-apiserver decoding"),
    ('Warning header: 299 - "spec.template.spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in '
     'matching no pod"', "kube-apiserver nullSelector"),
    ('FailedCreate (ReplicaSet): Error creating: Pod "web-1" is invalid: spec.topologySpreadConstraints[0][0]: Invalid value: '
     '"app": exists in both matchLabelKeys and labelSelector', "kube-controller-manager create, kube-apiserver matchLabelKeys"),
    ("FailedCreate (StatefulSet): Create Pod db-0 in StatefulSet db failed error: Pod \"db-0\" is invalid: "
     'spec.topologySpreadConstraints[0][0]: Invalid value: "app": exists in both matchLabelKeys and labelSelector',
     "kube-controller-manager statefulsetCreate, kube-apiserver matchLabelKeys"),
    ("pod didn't trigger scale-up (it wouldn't fit if a new node is added): 1 node(s) had volume node affinity conflict, 2 "
     "node(s) didn't match node selector", "cluster-autoscaler notScaled"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), ELSEWHERE, ids=[text[:50] for text, _ in ELSEWHERE])
def test_messages_of_other_components_are_told_apart(text: str, expected: str) -> None:
    found = parse_all(text)

    assert expected == ", ".join(f"{item.component.value} {item.form}" for item in found)
    assert [()] * len(found) == [item.not_understood for item in found]


def test_the_autoscaler_counts_node_groups_and_its_list_has_commas_within() -> None:
    found = parse(
        "(combined from similar events): pod didn't trigger scale-up: 1 in backoff after failed scale-up, 6 node(s) had taint "
        "{workload: always-on}, that the pod didn't tolerate, 1 max cluster cpu, memory limit reached, 2 max node group size "
        "reached"
    )

    assert "1 nodeGroupBackoff, 6 taint {workload: always-on}, 1 clusterLimit cpu, memory, 2 nodeGroupFull" == told(
        found.parts
    )
    assert "Those 6 node groups have a taint" in meaning.meaning(found.parts[1], of_groups=True)
    assert () == found.not_understood


DESCRIBED = """\
Events:
  Type     Reason            Age                    From               Message
  ----     ------            ----                   ----               -------
  Warning  FailedScheduling  2m17s                  default-scheduler  0/6 nodes are available: 6 Insufficient cpu.
  Warning  FailedScheduling  2m14s (x2 over 2m14s)  default-scheduler  0/6 nodes are available: 6 Insufficient cpu.
  Normal   Nominated         2m                     karpenter          Pod should schedule on: nodeclaim/a-1
  Warning  FailedScheduling  1m                     default-scheduler  0/7 nodes are available: 7 Too many pods.
"""


def test_several_messages_are_told_apart_and_equal_ones_counted() -> None:
    found = parse_all(DESCRIBED)

    assert [("nodes", 6, 3), ("karpenterNominated", None, 1), ("nodes", 7, 1)] == [
        (item.form, item.total, item.times) for item in found
    ]
    assert [(), (), ()] == [item.not_understood for item in found]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("0/3 nodes are available: 3 my plugin said no, 1 Insufficient cpu.", ("my plugin said no",)),
        ("0/3 nodes are available: 3 Insufficient cpu. another plugin was asked.", ("another plugin was asked.",)),
        ("0/3 nodes are available: 3 Insufficient cpu.\nHow do I fix it?", ("How do I fix it?",)),
        ("0/3 nodes are available: 3 Insufficient cpu. preemption: the moon is full.", ("the moon is full",)),
        ("nothing of ours", ("nothing of ours",)),
        ("What is this?\n0/3 nodes are available: 3 Insufficient cpu.", ("What is this?",)),
    ],
)
def test_what_is_not_understood_is_kept_word_for_word(text: str, rest: tuple[str, ...]) -> None:
    assert rest == parse(text).not_understood


def reasons_of_plugins() -> Iterator[str]:
    """Every text that our own plugins write, of every release."""
    for module in pkgutil.walk_packages(plugins.__path__, f"{plugins.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            for reason in value if isinstance(value, tuple) else (value,):
                if isinstance(reason, Reason):
                    yield reason.text
        for name, value in vars(importlib.import_module(module.name)).items():
            if name.endswith(("_REASON", "UNBOUND_IMMEDIATE")) and isinstance(value, str):
                yield value
    for row in behaviours.table():
        for era in row.eras:
            if isinstance(era.value, str) and era.value:
                yield era.value.format(key="a", value="b", plugins="NodeAffinity")


def test_the_table_has_every_reason_of_our_own_plugins() -> None:
    texts = sorted(set(reasons_of_plugins()))
    found = {text: match(text, 0) for text in texts}

    assert len(texts) > 20
    assert [] == [text for text, match_of in found.items() if match_of is None or match_of.end != len(text)]


def test_every_kind_has_a_meaning_and_every_form_can_be_told() -> None:
    parts = [Part(number, "x", kind, "y") for kind in ReasonKind for number in (None, 1, 4)]

    assert all(kind.form.meaning for kind in ReasonKind)
    assert [] == [part for part in parts if "{" in meaning.meaning(part) or len(meaning.meaning(part)) < 20]
    for form in catalogue.FORMS:
        bare = meaning.fill_template(form.meaning, {})
        assert "{" not in bare
        assert not re.search(r"\wit gave no reason", bare), form.name


def test_wordings_are_of_releases_that_there_are() -> None:
    assert [] == [entry for entry in WORDINGS if not 16 <= entry.since <= entry.until <= LAST_MINOR]


KNOWN = sorted(
    {entry.text for entry in WORDINGS if not entry.text.startswith(("max ", "in back", "not ready", "node group"))}
)
TEXTS = st.sampled_from(
    [*KNOWN, "Insufficient cpu", "Insufficient example.com/foo", "node(s) had untolerated taint {a: b}"]
)


@pytest.mark.slow
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.lists(TEXTS, min_size=1, max_size=6), st.lists(TEXTS, max_size=4), st.integers(0, 30))
def test_what_our_own_diagnosis_writes_is_read_back(own: list[str], tried: list[str], absent: int) -> None:
    """Counts and words, of the list and of the preemption clause."""
    written = diagnosis(own, absent)
    nested = diagnosis(tried, absent) if tried else None
    suffix = "" if nested is None else f"no new claims to deallocate, preemption: {nested.message()}"
    found = parse(written.message(suffix))

    assert written.node_count == found.total
    assert counts(written) == {part.reason: part.number for part in found.parts}
    if nested is not None:
        assert found.preemption is not None
        assert counts(nested) == {part.reason: part.number for part in found.preemption.parts}
    assert ((), False) == (found.not_understood, found.is_cut)


def diagnosis(reasons: list[str], absent: int) -> Diagnosis:
    """A node for each reason, and some that were never looked at."""
    statuses = {f"n{at}": Status(Code.UNSCHEDULABLE, "P", (reason,)) for at, reason in enumerate(reasons)}
    names = tuple(f"a{at}" for at in range(absent))
    status = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "", ("node(s) didn't satisfy plugin(s) [NodeAffinity]",))
    return Diagnosis(len(statuses) + absent, (), statuses, names, status)


def counts(of: Diagnosis) -> dict[str, int]:
    out: dict[str, int] = {}
    for status in of.statuses.values():
        for reason in status.reasons:
            out[reason] = out.get(reason, 0) + 1
    for reason in of.absent_status.reasons if of.absent else ():
        out[reason] = out.get(reason, 0) + len(of.absent)
    return out


FRAGMENTS = st.sampled_from(
    ["0/3 nodes are available:", " ", "\n", ", ", ". ", "3 ", "node(s) ", "Insufficient", "preemption:", "...", "`", '"', "{", "}",
     "not found", "counts = ", "topologySpreadConstraints[0]: ", "invalid value", "Warning", "pod didn't trigger scale-up", "\\n"]
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.one_of(st.text(max_size=200), st.lists(FRAGMENTS, max_size=30).map("".join)))
def test_garbage_is_no_error(text: str) -> None:
    for item in parse_all(text):
        assert item.form
        meaning.meaning_of_whole(item)
        meaning.commands(item)


@pytest.mark.parametrize(
    "text", ["a", " ", "[", "1 x, ", "pod ", "0/3 nodes are available: ", "predicate checking error: "]
)
def test_long_texts_are_read_to_their_limit(text: str) -> None:
    """A form that tries each place again would take hours."""
    (message,) = parse_all((text * 100_000)[:100_000] + "x")

    assert message.component is (Component.SCHEDULER if "nodes" in text else Component.UNKNOWN)


def test_what_is_too_long_is_not_read_and_that_is_said() -> None:
    found = parse("0/3 nodes are available: 3 Insufficient cpu." + "\n" * 60_000 + "0/4 nodes are available: 4 x")

    assert ("(what follows the first 50000 characters was not read)",) == found.not_understood


# Texts that were read wrongly once: component, form, details, and a part of what is said.
MISREAD = (
    ('error: error validating "deploy.yaml": error validating data: ValidationError(Deployment.spec.template.spec.'
     'topologySpreadConstraints[0]): unknown field "matchLabels" in io.k8s.api.core.v1.TopologySpreadConstraint; if you '
     "choose to ignore these errors, turn validation off with --validate=false",
     "kubectl kubectlField", {"file": '"deploy.yaml"', "path": "Deployment.spec.template.spec.topologySpreadConstraints[0]"},
     'kubectl validated "deploy.yaml" against the cluster\'s schema and refused it.'),
    ('Error: INSTALLATION FAILED: unable to build kubernetes objects from release manifest: error validating "": error '
     'validating data: ValidationError(Deployment.spec): unknown field "x" in io.k8s.api.apps.v1.DeploymentSpec',
     "Helm chartField", {"path": "Deployment.spec"}, "Helm or kubectl validated the objects and found an error"),
    ("error: error parsing web.yaml: error converting YAML to JSON: yaml: line 12: did not find expected key",
     "kubectl kubectlYaml", {"file": "web.yaml", "line": "12"}, "kubectl cannot read web.yaml as YAML"),
    ("Preempted by a pod on node n3", "kube-scheduler preempted", {"node": "n3"},
     "The scheduler evicted this pod from node n3 to make room for a pod of higher priority."),
    ("Preempted by pod 3a1c-77 on node n3.", "kube-scheduler preempted", {"pod": "pod 3a1c-77", "node": "n3"},
     "evicted this pod from node n3"),
    ("Cannot schedule pods: Insufficient cpu.", "kube-scheduler nodes", {},
     "The message does not say how many nodes each reason applies to."),
    ("Cannot schedule pods: no nodes available to schedule pods.", "kube-scheduler noNodes", {},
     "The cluster has no nodes, or none has registered"),
    ('Deployment.apps "web" is invalid: spec.template.spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be '
     "greater than zero",
     "kube-apiserver validation",
     {"object": 'Deployment.apps "web"', "path": "spec.template.spec.topologySpreadConstraints[0].maxSkew"},
     'The API server refuses Deployment.apps "web": spec.template.spec.topologySpreadConstraints[0].maxSkew'),
    ('Deployment.apps "web" is invalid: spec.selector: Invalid value: "x": field is immutable',
     "kube-apiserver immutable", {"object": 'Deployment.apps "web"', "path": "spec.selector"},
     'The API server refuses to change spec.selector of an existing Deployment.apps "web". Keep the old value'),
    ('Deployment.apps "web" is invalid: the object is too old', "kube-apiserver invalidObject",
     {"object": 'Deployment.apps "web"'}, 'The API server refuses Deployment.apps "web".'),
    ('running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "data-web-0"',
     "kube-scheduler volumeBinding", {"claim": "data-web-0"}, "the volume of claim data-web-0 was not ready in time"),
    ('running PreBind plugin "VolumeBinding": binding volumes: timed out waiting for the condition',
     "kube-scheduler volumeBindingUnnamed", {"why": "timed out waiting for the condition"},
     "The message does not name the claim: it is one of the pod's Pending claims."),
    ('running PreBind plugin "VolumeBinding": binding volumes: pv "pv-1" node affinity doesn\'t match node "n1": no match',
     "kube-scheduler volumeElsewhere", {"volume": "pv-1", "node": "n1"}, "volume pv-1 cannot be reached from it"),
    ('error while running "VolumeBinding" filter plugin for pod "web-0": pod has unbound immediate PersistentVolumeClaims',
     "kube-scheduler claimUnbound", {"pod": "web-0"}, "A PersistentVolumeClaim of pod web-0 is not bound"),
    ("NodePool requirements filtered out all compatible available instance types",
     "Karpenter karpenterTypes", {}, "No available instance type meets the NodePool's requirements"),
    ("waiting for first consumer to be created before binding", "persistentvolume-controller waitingForConsumer", {},
     "The claim is fine: look at its pod."),
    ('waiting for a volume to be created, either by external provisioner "ebs.csi.aws.com" or manually by system administrator',
     "persistentvolume-controller waitingForProvisioner", {"provisioner": "ebs.csi.aws.com"},
     "The claim waits for ebs.csi.aws.com to create its volume."),
    ("Pod was rejected: Node didn't have enough resource: cpu, requested: 500, used: 1800, capacity: 2000",
     "kubelet outOfResource", {"resource": "cpu", "requested": "500", "used": "1800", "capacity": "2000"},
     "The kubelet refused the pod, which was bound to its node: cpu has capacity 2000"),
    ("Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
     "kubelet rejectedByNode", {"plugin": "NodeAffinity"}, "the node no longer meets NodeAffinity"),
    ("The node was low on resource: memory. Threshold quantity: 100Mi, available: 20Mi.", "kubelet evictedByNode",
     {"resource": "memory"}, "its node ran short of memory"),
    ('Multi-Attach error for volume "pvc-1" Volume is already exclusively attached to one node and can\'t be attached to another',
     "kube-controller-manager multiAttach", {"volume": "pvc-1"}, "Volume pvc-1 is still attached to another node"),
    ('error: deployment "web" exceeded its progress deadline', "kube-controller-manager progressDeadline",
     {"owner": "web"}, "The rollout of web made no progress"),
    ('Waiting for deployment "web" rollout to finish: 1 out of 3 new replicas have been updated...', "kubectl rolloutWaits",
     {"why": "1 out of 3 new replicas have been updated..."}, "look at the new pods"),
    ("cannot delete Pods with local storage (use --delete-emptydir-data to override): shop/web-0", "kubectl drainRefused",
     {"what": "Pods with local storage"}, "kubectl drain evicts no pod until"),
    ("Marking for deletion Pod shop/web-0", "kube-controller-manager taintEviction", {"pod": "shop/web-0"},
     "has a NoExecute taint"),
    ("TaintManagerEviction: Cancelling deletion of Pod shop/web-0", "kube-controller-manager taintEvictionCancelled",
     {"pod": "shop/web-0"}, "so the pod stays"),
    ("Job has reached the specified backoff limit", "kube-controller-manager jobFailed", {}, "no others are created"),
    ('Failed resolving NodeClass: ec2nodeclasses.karpenter.k8s.aws "default" not found', "Karpenter karpenterNoNodeClass",
     {"name": "default"}, "does not exist"),
    ("waiting for pod web-0 to be scheduled", "persistentvolume-controller waitingForPod", {"pod": "web-0"},
     "look at why the pod is Pending"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "who", "details", "said"), MISREAD)
def test_what_was_read_wrongly_once_is_read_right(text: str, who: str, details: dict[str, str], said: str) -> None:
    found = parse(text)

    assert (who, ()) == (f"{found.component.value} {found.form}", found.not_understood)
    assert details.items() <= dict(found.details).items()
    assert said in meaning.meaning_of_whole(found)
    assert meaning.commands(found)


@pytest.mark.parametrize("end", ["...", "…", " [...]"])
def test_a_text_cut_off_before_the_missing_label_leaves_both_open(end: str) -> None:
    (part,) = parse(f"0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints{end}").parts

    assert part.is_cut
    assert meaning.meaning(part).endswith(
        "The text is cut off before the reason: either the pod would make the skew greater than maxSkew, or they do "
        "not have the topologyKey label (`missing required label`)."
    )


def test_a_text_without_a_full_stop_may_be_cut_off_before_the_missing_label() -> None:
    """Nothing else is said against what stands there."""
    texts = [
        f"0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints{end}" for end in ("", ".")
    ]
    told = [meaning.meaning(parse(text).parts[0]) for text in texts]

    assert told[0] == told[1] + (
        " The text ends without a full stop: if it is cut off, `(missing required label)` may follow, and they do "
        "not have the topologyKey label."
    )


@pytest.mark.parametrize("end", [" (", " (missing req...", " (missing required label"])
def test_a_text_cut_off_within_the_missing_label_is_about_it(end: str) -> None:
    found = parse(f"0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints{end}")

    assert [(part.kind, part.is_cut) for part in found.parts] == [(ReasonKind.SPREAD_LABEL, True)]
    assert () == found.not_understood


@pytest.mark.parametrize(
    ("taint", "said"),
    [
        ("node.kubernetes.io/not-ready: ", "The taint says that those 2 nodes are not ready."),
        ("node.kubernetes.io/unreachable: ", "The taint says that those 2 nodes are unreachable."),
        (
            "ToBeDeletedByClusterAutoscaler: 17",
            "The taint says that those 2 nodes are being removed by the cluster autoscaler.",
        ),
        ("karpenter.sh/disrupted: ", "The taint says that those 2 nodes are being removed by Karpenter."),
        ("node-role.kubernetes.io/control-plane: ", "It marks control-plane nodes, which do not run ordinary pods."),
    ],
)
def test_a_well_known_taint_is_told_by_what_it_says(taint: str, said: str) -> None:
    (part,) = parse(f"0/2 nodes are available: 2 node(s) had untolerated taint {{{taint}}}.").parts

    assert meaning.meaning(part).endswith(said)


def test_insufficient_pods_are_about_the_limit_of_pods() -> None:
    (part,) = parse("0/10 nodes are available: 10 Insufficient pods.").parts

    assert (10, ReasonKind.TOO_MANY_PODS) == (part.number, part.kind)
    assert "Those 10 nodes already run the maximum number of pods (allocatable pods)." == meaning.meaning(part)


def test_every_form_of_karpenter_says_what_to_run_next() -> None:
    forms = [form for form in catalogue.FORMS if form.component is Component.KARPENTER]

    assert [] == [form.name for form in forms if not form.commands]


def test_a_name_of_a_form_is_that_of_one_form() -> None:
    """What a message means is looked up by it."""
    names = [(form.name, form.component) for form in catalogue.FORMS]

    assert len(names) == len(set(names))
