"""What is said of a constraint: counts as the scheduler has them, the pods behind them, and who holds the minimum."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.explain.constraint_report import ConstraintReport
from kubectl_spread.explain.explanation import explain_filtered
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.releases.version import nearest_release, release_of
from kubectl_spread.report.explain.constraints import note, origin
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.profiles import profiles
from tests.explain.shown import conflict_text, constraint_text, explained
from tests.explain.tight import apart, constraint
from tests.naive.builders import claim, HOSTNAME, node, pod, terminating, using, volume, ZONE

Plain = dict[str, Any]

CONTROL_PLANE = {"taints": [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]}
TENANT = {"taints": [{"key": "dedicated", "value": "tenant-a", "effect": "NoSchedule"}]}


def notes_of(report: ConstraintReport) -> list[str]:
    """The notes of a constraint as sentences."""
    return [note(item) for item in report.notes]


def zoned(name: str, zone: str | None, *, rack: str | None = None, **more: Any) -> Plain:
    """A node of a zone, or of none."""
    labels = {HOSTNAME: name, **({} if zone is None else {ZONE: zone}), **({} if rack is None else {"rack": rack})}
    return node(name, labels=labels, **more)


def owned(item: Plain, kind: str, name: str) -> Plain:
    """A pod with a controller."""
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": name, "controller": True, "uid": name}
    item["metadata"]["ownerReferences"] = [reference]
    return item


def web(name: str, on: str = "", *, revision: str = "", cpu: str = "0") -> Plain:
    """A pod of `web`; one with a revision is of the Deployment."""
    labels = {"app": "web", **({"pod-template-hash": revision} if revision else {})}
    made = pod(name, on=on, labels=labels, requests={"cpu": cpu})
    return owned(made, "ReplicaSet", f"web-{revision}") if revision else made


def replica_set(revision: str) -> Plain:
    """Of the Deployment `web`."""
    labels = {"app": "web", "pod-template-hash": revision}
    item = {
        "kind": "ReplicaSet",
        "metadata": {"name": f"web-{revision}", "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": {}}},
    }
    return owned(item, "Deployment", "web")


def deployment(*spread: Plain) -> Plain:
    """`web`, with constraints in its template."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"topologySpreadConstraints": list(spread)}}
    return {
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template},
    }


def waiting(*spread: Plain, revision: str = "", cpu: str = "0", **spec: Any) -> Plain:
    """The pod that is explained."""
    made = web("new", revision=revision, cpu=cpu)
    made["spec"].update({"topologySpreadConstraints": list(spread), **spec})
    return made


def test_each_group_of_nodes_that_holds_the_minimum_is_named_with_its_reason() -> None:
    nodes = [zoned("cp1", "a", spec=CONTROL_PLANE), zoned("cp2", "b", spec=CONTROL_PLANE)]
    nodes += [zoned("t1", "a", spec=TENANT), zoned("w1", "a"), zoned("w2", "b")]
    found = explained([*nodes, web("web-1", "w1"), web("web-2", "w2")], waiting(constraint(HOSTNAME)))

    assert constraint_text(found, width=110).splitlines() == [
        "topologySpreadConstraints[0]: kubernetes.io/hostname, maxSkew 1, DoNotSchedule",
        "  from the pod",
        "  counts pods of namespace default with app=web, including this pod",
        "  nodeAffinityPolicy Honor, nodeTaintsPolicy Ignore",
        "  emptiest: cp1, cp2, t1 with 0 matching pods each (the global minimum)",
        "  DOMAIN   NODES   USABLE   MATCHING   IF PLACED HERE       FITS",
        "  cp1      1       0        0          0 + 1 - 0 = 1 <= 1   allowed, no usable node",
        "  cp2      1       0        0          0 + 1 - 0 = 1 <= 1   allowed, no usable node",
        "  t1       1       0        0          0 + 1 - 0 = 1 <= 1   allowed, no usable node",
        "  w1       1       1        1          1 + 1 - 0 = 2 > 1    no",
        "  w2       1       1        1          1 + 1 - 0 = 2 > 1    no",
        "  no node can run the pod in cp1, cp2: untolerated taint node-role.kubernetes.io/control-plane:NoSchedule",
        "  no node can run the pod in t1: untolerated taint dedicated=tenant-a:NoSchedule",
        "  matching pods:",
        "    w1: 1 pod without a controller (web-1)",
        "    w2: 1 pod without a controller (web-2)",
    ]


def test_the_pods_behind_each_count_are_told_and_those_that_do_not_count() -> None:
    """Another revision, a DaemonSet, a terminating pod, a node without the label, another namespace."""
    leaving = terminating(web("web-2", "c1", revision="5d4f"))
    leaving["metadata"]["finalizers"] = ["example.com/hold"]
    elsewhere = web("web-7", "a1")
    elsewhere["metadata"]["namespace"] = "other"
    objects = [
        *(zoned("a1", "a"), zoned("b1", "b"), zoned("c1", "c", allocatable={"cpu": "50m"}), zoned("x1", None)),
        *(replica_set("5d4f"), replica_set("7c9b"), deployment({**constraint(ZONE), "maxSkew": 2})),
        *(web("web-0", "a1", revision="5d4f"), web("web-8", "a1", revision="7c9b"), leaving, elsewhere),
        *(web("web-1", "b1", revision="5d4f"), owned(web("agent-1", "a1"), "DaemonSet", "agent")),
        *(web("web-5", "x1", revision="5d4f"), web("web-6", "x1", revision="5d4f")),
    ]
    found = explained(objects, waiting(constraint(ZONE), revision="7c9b", cpu="500m"))

    assert constraint_text(found, width=110).splitlines() == [
        "topologySpreadConstraints[0]: topology.kubernetes.io/zone, maxSkew 1, DoNotSchedule",
        "  from an older template of Deployment web, which now has maxSkew 2",
        "  counts pods of namespace default with app=web, including this pod",
        "  nodeAffinityPolicy Honor, nodeTaintsPolicy Ignore",
        "  emptiest: c with 0 matching pods (the global minimum)",
        "  DOMAIN   NODES   USABLE   MATCHING   IF PLACED HERE       FITS",
        "  a        1       1        3          3 + 1 - 0 = 4 > 1    no",
        "  b        1       1        1          1 + 1 - 0 = 2 > 1    no",
        "  c        1       0        0          0 + 1 - 0 = 1 <= 1   allowed, no usable node",
        "  no node can run the pod in c: Insufficient cpu",
        "  1 node without this label: x1",
        "  matching pods:",
        "    a: 2 of Deployment web (web-0, web-8), 1 of them of another revision (5d4f); 1 of DaemonSet agent",
        "      (agent-1)",
        "    b: 1 of Deployment web (web-1), of another revision (5d4f)",
        "  the selector also matches DaemonSet agent: 1 in a",
        (
            "  c is at 0, as its only matching pod web-2 on c1 has been terminating since 2026-01-01T00:00:00Z "
            "(finalizer"
        ),
        "    example.com/hold)",
        "  2 matching pods on x1 do not count (web-5, web-6): lacks the label topology.kubernetes.io/zone",
        "  pods of other namespaces match and do not count: 1 in other",
    ]


def test_what_match_label_keys_add_is_not_told_as_written() -> None:
    """The API server stores it in the pod's selector as if somebody had."""
    stored = constraint(ZONE, matchLabelKeys=["pod-template-hash", "tier"])
    stored["labelSelector"] = {
        "matchLabels": {"app": "web"},
        "matchExpressions": [{"key": "pod-template-hash", "operator": "In", "values": ["7c9b"]}],
    }
    template = deployment(constraint(ZONE, matchLabelKeys=["pod-template-hash", "tier"]))
    objects = [zoned("a1", "a"), replica_set("7c9b"), template, web("web-0", "a1", revision="5d4f")]
    found = explained(objects, waiting(stored, revision="7c9b"))

    assert constraint_text(found).splitlines() == [
        "topologySpreadConstraints[0]: topology.kubernetes.io/zone, maxSkew 1, DoNotSchedule",
        "  from the template of Deployment web",
        "  counts pods of namespace default with app=web,pod-template-hash=7c9b, including this pod",
        "  of these, pod-template-hash=7c9b comes from matchLabelKeys",
        "  matchLabelKeys tier is ignored: the pod has no such label",
        "  nodeAffinityPolicy Honor, nodeTaintsPolicy Ignore",
        "  emptiest: a with 0 matching pods (the global minimum)",
        "  DOMAIN   NODES   USABLE   MATCHING   IF PLACED HERE       FITS",
        "  a        1       1        0          0 + 1 - 0 = 1 <= 1   yes",
        "  a is the only domain, so there is nothing to spread over",
    ]


def test_a_domain_that_another_key_hides_is_named() -> None:
    nodes = [zoned("a1", "a", rack="r1"), zoned("a2", "a", rack="r2"), zoned("b1", "b")]
    found = explained(nodes, waiting(constraint(ZONE), constraint("rack")))

    assert constraint_text(found).splitlines() == [
        "topologySpreadConstraints[0]: topology.kubernetes.io/zone, maxSkew 1, DoNotSchedule",
        "  from the pod",
        "  counts pods of namespace default with app=web, including this pod",
        "  nodeAffinityPolicy Honor, nodeTaintsPolicy Ignore",
        "  emptiest: a with 0 matching pods (the global minimum)",
        "  DOMAIN   NODES   USABLE   MATCHING   IF PLACED HERE       FITS",
        "  a        2       2        0          0 + 1 - 0 = 1 <= 1   yes",
        "  b        1       1        -          not eligible         -",
        "  not eligible: b: lacks the label rack",
        "  b1 lacks rack, the key of another constraint, so domain b is not counted here either",
        "  a is the only domain, so there is nothing to spread over",
        "topologySpreadConstraints[1]: rack, maxSkew 1, DoNotSchedule",
        "  from the pod",
        "  counts pods of namespace default with app=web, including this pod",
        "  nodeAffinityPolicy Honor, nodeTaintsPolicy Ignore",
        "  emptiest: r1, r2 with 0 matching pods each (the global minimum)",
        "  DOMAIN   NODES   USABLE   MATCHING   IF PLACED HERE       FITS",
        "  r1       1       1        0          0 + 1 - 0 = 1 <= 1   yes",
        "  r2       1       1        0          0 + 1 - 0 = 1 <= 1   yes",
        "  1 node without this label: b1",
    ]


def test_scoring_counts_a_node_only_if_it_has_the_keys_of_all_own_constraints() -> None:
    soft = [{**constraint(key), "whenUnsatisfiable": "ScheduleAnyway"} for key in (ZONE, "rack")]
    nodes = [zoned("a1", "a", rack="r1"), zoned("b1", "b", rack="r2"), zoned("b2", "b")]
    found = explained([*nodes, web("web-1", "b1"), web("web-2", "b2")], waiting(*soft))

    zones = found.constraints[0]
    assert {"a": 0, "b": 1} == {item.value: item.matching for item in zones.domains}


def test_nodes_with_one_host_name_and_a_domain_without_a_name_are_told() -> None:
    twin = zoned("n2", "a")
    twin["metadata"]["labels"][HOSTNAME] = "n1"
    found = explained([zoned("n1", "a"), twin, zoned("n3", "")], waiting(constraint(HOSTNAME), constraint(ZONE)))

    assert constraint_text(found).splitlines() == [
        "topologySpreadConstraints[0]: kubernetes.io/hostname, maxSkew 1, DoNotSchedule",
        "  from the pod",
        "  counts pods of namespace default with app=web, including this pod",
        "  nodeAffinityPolicy Honor, nodeTaintsPolicy Ignore",
        "  emptiest: n1, n3 with 0 matching pods each (the global minimum)",
        "  DOMAIN   NODES   USABLE   MATCHING   IF PLACED HERE       FITS",
        "  n1       2       2        0          0 + 1 - 0 = 1 <= 1   yes",
        "  n3       1       1        0          0 + 1 - 0 = 1 <= 1   yes",
        "  n1, n2 share kubernetes.io/hostname=n1, so they are one domain",
        "topologySpreadConstraints[1]: topology.kubernetes.io/zone, maxSkew 1, DoNotSchedule",
        "  from the pod",
        "  counts pods of namespace default with app=web, including this pod",
        "  nodeAffinityPolicy Honor, nodeTaintsPolicy Ignore",
        '  emptiest: "", a with 0 matching pods each (the global minimum)',
        "  DOMAIN   NODES   USABLE   MATCHING   IF PLACED HERE       FITS",
        '  ""       1       1        0          0 + 1 - 0 = 1 <= 1   yes',
        "  a        2       2        0          0 + 1 - 0 = 1 <= 1   yes",
        "  n3 has an empty topology.kubernetes.io/zone, which counts as a separate domain",
    ]


def test_a_cordon_without_its_taint_and_a_tolerated_outage_are_told() -> None:
    down = {"taints": [{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]}
    nodes = [zoned("a1", "a"), zoned("c1", "c", spec={"unschedulable": True}), zoned("d1", "d", spec=down)]
    tolerations = [{"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}]
    pods = [web("web-1", "a1"), web("web-3", "d1")]
    new = waiting(constraint(ZONE, nodeTaintsPolicy="Honor"), tolerations=tolerations)
    found = explained([*nodes, *pods], new)

    assert constraint_text(found, width=100).splitlines() == [
        "topologySpreadConstraints[0]: topology.kubernetes.io/zone, maxSkew 1, DoNotSchedule",
        "  from the pod",
        "  counts pods of namespace default with app=web, including this pod",
        "  nodeAffinityPolicy Honor, nodeTaintsPolicy Honor",
        "  emptiest: c with 0 matching pods (the global minimum)",
        "  DOMAIN   NODES   USABLE   MATCHING   IF PLACED HERE       FITS",
        "  a        1       1        1          1 + 1 - 0 = 2 > 1    no",
        "  c        1       0        0          0 + 1 - 0 = 1 <= 1   allowed, no usable node",
        "  d        1       1        1          1 + 1 - 0 = 2 > 1    no",
        "  no node can run the pod in c: cordoned",
        "  matching pods:",
        "    a: 1 pod without a controller (web-1)",
        "    d: 1 pod without a controller (web-3)",
        "  c1 is cordoned without the cordon taint, so nodeTaintsPolicy Honor still counts it",
        "  d1 is unreachable, but the pod tolerates node.kubernetes.io/unreachable:NoExecute (by default for",
        "    300 s), so it still counts and can be chosen",
    ]


def test_a_default_constraint_says_what_gave_it_its_selector() -> None:
    service = {"kind": "Service", "metadata": {"name": "front", "namespace": "default"}, "spec": {}}
    service["spec"] = {"selector": {"app": "web"}}
    default = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    args = {"defaultingType": "List", "defaultConstraints": [default]}
    config = json.dumps({"profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": args}]}]})
    objects = [zoned("a1", "a"), zoned("b1", "b", allocatable={"cpu": "0"}), service, replica_set("5d4f")]
    new = waiting(revision="5d4f", cpu="1")
    found = explained([*objects, web("web-1", "a1", revision="5d4f")], new, config=config)

    assert constraint_text(found, width=110).splitlines() == [
        "defaultConstraints[0]: topology.kubernetes.io/zone, maxSkew 1, DoNotSchedule",
        "  from a cluster default (defaultConstraints in the scheduler's configuration), because the pod has no",
        "    constraints; it uses the selector of Service front, ReplicaSet web-5d4f",
        "  counts pods of namespace default with app=web,pod-template-hash=5d4f, including this pod",
        "  nodeAffinityPolicy Honor, nodeTaintsPolicy Ignore",
        "  emptiest: b with 0 matching pods (the global minimum)",
        "  DOMAIN   NODES   USABLE   MATCHING   IF PLACED HERE       FITS",
        "  a        1       1        1          1 + 1 - 0 = 2 > 1    no",
        "  b        1       0        0          0 + 1 - 0 = 1 <= 1   allowed, no usable node",
        "  no node can run the pod in b: Insufficient cpu",
        "  matching pods:",
        "    a: 1 of Deployment web (web-1)",
    ]


def test_too_few_domains_and_a_pod_that_does_not_count_itself() -> None:
    wrong = {**constraint(HOSTNAME), "labelSelector": {"matchLabels": {"app": "wbe"}}}
    found = explained([zoned("a1", "a"), web("web-1", "a1")], waiting(constraint(ZONE, minDomains=3), wrong))

    assert constraint_text(found).splitlines() == [
        "topologySpreadConstraints[0]: topology.kubernetes.io/zone, maxSkew 1, DoNotSchedule",
        "  from the pod",
        "  counts pods of namespace default with app=web, including this pod",
        "  nodeAffinityPolicy Honor, nodeTaintsPolicy Ignore",
        "  the global minimum is 0: 1 eligible domain is fewer than minDomains 3",
        "  DOMAIN   NODES   USABLE   MATCHING   IF PLACED HERE      FITS",
        "  a        1       1        1          1 + 1 - 0 = 2 > 1   no",
        "  matching pods:",
        "    a: 1 pod without a controller (web-1)",
        "  with fewer than 3 domains, each can hold at most 0 + 1 = 1 matching pod",
        "topologySpreadConstraints[1]: kubernetes.io/hostname, maxSkew 1, DoNotSchedule",
        "  from the pod",
        "  counts pods of namespace default with app=wbe; this pod does not match, so it adds 0",
        "  nodeAffinityPolicy Honor, nodeTaintsPolicy Ignore",
        "  emptiest: a1 with 0 matching pods (the global minimum)",
        "  DOMAIN   NODES   USABLE   MATCHING   IF PLACED HERE       FITS",
        "  a1       1       1        0          0 + 0 - 0 = 0 <= 1   yes",
        "  pods like this one (labels: app=web) are not counted, so the constraint does not spread them",
    ]


@pytest.mark.parametrize(
    ("selector", "note"),
    [
        (
            {"labelSelector": {}},
            "an empty labelSelector matches all pods in the API, but the scheduler counts none of them",
        ),
        (
            {"labelSelector": None},
            (
                "without a labelSelector no pod is counted, so the constraint spreads nothing, "
                "but it switches the default constraints off"
            ),
        ),
    ],
)
def test_a_selector_that_counts_nothing_is_told(selector: Plain, note: str) -> None:
    found = explained([zoned("a1", "a"), web("web-1", "a1")], waiting({**constraint(ZONE), **selector}))

    (report,) = found.constraints
    assert notes_of(report) == [note]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("topology.kubernetes.io/hostname", "kubernetes.io/hostname"),
        ("failure-domain.beta.kubernetes.io/zone", ZONE),
        ("topology.kubernetes.io/zones", ZONE),
        ("example.com/rack", ""),
    ],
)
def test_a_key_that_no_node_has_is_told_with_the_one_that_is_like_it(key: str, meant: str) -> None:
    found = explained([zoned("a1", "a"), zoned("b1", "b")], waiting(constraint(key)))

    (report,) = found.constraints
    question = f"; did you mean {meant}?" if meant else ""
    assert notes_of(report) == [f"no node has the label {key}, so there are no domains to spread over{question}"]


def test_values_that_differ_in_case_and_pods_that_are_done_are_told() -> None:
    done = {**web("web-9", "a1"), "status": {"phase": "Succeeded"}}
    nodes = [zoned("a1", "a"), zoned("a2", "A"), zoned("b1", "b"), zoned("d1", "d")]
    found = explained([*nodes, done], waiting(constraint(ZONE)))

    (report,) = found.constraints
    assert notes_of(report) == [
        "A and a differ only in upper and lower case, so they are separate domains",
        "1 matching pod has finished and does not count: web-9",
    ]


def test_a_template_that_has_changed_or_lost_the_constraint_is_told() -> None:
    nodes = [zoned("a1", "a"), replica_set("5d4f")]

    told = [
        origin(explained([*nodes, *templates], waiting(constraint(ZONE), revision="5d4f")).constraints[0].origin)
        for templates in (
            [],
            [deployment()],
            [deployment(constraint(ZONE))],
            [deployment(constraint(ZONE, minDomains=2))],
        )
    ]

    assert told == [
        "the pod, created by Deployment web",
        "the pod; the template of Deployment web no longer has a constraint for this key",
        "the template of Deployment web",
        "an older template of Deployment web, which now has minDomains 2",
    ]


def test_each_set_says_why_no_node_is_left() -> None:
    """Each requirement is about what those before it leave."""
    db = owned(pod("db-0", on="b1", labels={"app": "db"}), "StatefulSet", "db")
    db["spec"]["affinity"] = apart(HOSTNAME, "web")
    nodes = [zoned("a1", "a"), zoned("a2", "a"), zoned("b1", "b"), zoned("c1", "c", allocatable={"cpu": "250m"})]
    found = explained([*nodes, db, web("web-0", "a1")], waiting(constraint(ZONE), cpu="500m"))

    assert conflict_text(found).splitlines() == [
        "Conflicts (each of these alone keeps the pod Pending):",
        "  1. the cpu request: only a1, a2, b1 left",
        "       needs 500m; c1 has 250m in all",
        "     topologySpreadConstraints[0] (topology.kubernetes.io/zone, maxSkew 1): only b1, c1 left",
        "       1 + 1 - 0 = 2 > 1 in a",
        "     the anti-affinity of StatefulSet db on kubernetes.io/hostname against app=web: only a1, a2, c1 left",
        "       matching pods already run: db-0 on b1",
    ]


def test_a_bound_volume_and_a_taken_port_are_named() -> None:
    terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["b"]}]}]
    storage = [volume("pv-7", nodeAffinity={"required": {"nodeSelectorTerms": terms}}), claim("data", volume="pv-7")]
    holder = web("web-1", "b1")
    ports = [{"containerPort": 80, "hostPort": 80}]
    holder["spec"]["containers"][0]["ports"] = ports
    new = waiting(constraint(ZONE), volumes=using("data"))
    new["spec"]["containers"][0]["ports"] = ports
    found = explained([zoned("a1", "a"), zoned("b1", "b"), *storage, holder], new)

    assert conflict_text(found).splitlines() == [
        "Conflicts (each of these alone keeps the pod Pending):",
        "  1. host port 80: only a1 left",
        "       taken by web-1 on b1",
        "     the volume of claim data: only b1 left",
        "       volume pv-7 is bound to nodes with topology.kubernetes.io/zone=b: not a1",
        "  2. the volume of claim data: only b1 left",
        "       volume pv-7 is bound to nodes with topology.kubernetes.io/zone=b: not a1",
        "     topologySpreadConstraints[0] (topology.kubernetes.io/zone, maxSkew 1): only a1 left",
        "       1 + 1 - 0 = 2 > 1 in b",
    ]


def many_nodes() -> list[Plain]:
    """Forty racks; every other node is tainted, and has a pod."""
    nodes = [zoned(f"n{at:02}", "a", rack=f"r{at:02}", spec=TENANT if at % 2 else {}) for at in range(40)]
    return [*nodes, *(web(f"web-{at}", f"n{at:02}") for at in range(0, 40, 2))]


def test_the_length_is_bounded_and_lines_are_broken() -> None:
    """What matters comes first: domains that fit, then those with the fewest pods."""
    found = explained(many_nodes(), waiting(constraint("rack")))

    assert constraint_text(found, width=80).splitlines() == [
        "topologySpreadConstraints[0]: rack, maxSkew 1, DoNotSchedule",
        "  from the pod",
        "  counts pods of namespace default with app=web, including this pod",
        "  nodeAffinityPolicy Honor, nodeTaintsPolicy Ignore",
        "  emptiest: r01, r03, r05, r07, r09, r11 and 14 more with 0 matching pods each",
        "    (the global minimum)",
        "  DOMAIN  NODES  USABLE  MATCHING  IF PLACED HERE      FITS",
        "  r01     1      0       0         0 + 1 - 0 = 1 <= 1  allowed, no usable node",
        "  r03     1      0       0         0 + 1 - 0 = 1 <= 1  allowed, no usable node",
        "  r05     1      0       0         0 + 1 - 0 = 1 <= 1  allowed, no usable node",
        "  r07     1      0       0         0 + 1 - 0 = 1 <= 1  allowed, no usable node",
        "  r09     1      0       0         0 + 1 - 0 = 1 <= 1  allowed, no usable node",
        "  r11     1      0       0         0 + 1 - 0 = 1 <= 1  allowed, no usable node",
        "  r13     1      0       0         0 + 1 - 0 = 1 <= 1  allowed, no usable node",
        "  r15     1      0       0         0 + 1 - 0 = 1 <= 1  allowed, no usable node",
        "  r17     1      0       0         0 + 1 - 0 = 1 <= 1  allowed, no usable node",
        "  r19     1      0       0         0 + 1 - 0 = 1 <= 1  allowed, no usable node",
        "  r00     1      1       1         1 + 1 - 0 = 2 > 1   no",
        "  r02     1      1       1         1 + 1 - 0 = 2 > 1   no",
        "  r04     1      1       1         1 + 1 - 0 = 2 > 1   no",
        "  r06     1      1       1         1 + 1 - 0 = 2 > 1   no",
        "  r08     1      1       1         1 + 1 - 0 = 2 > 1   no",
        "  r10     1      1       1         1 + 1 - 0 = 2 > 1   no",
        "  r12     1      1       1         1 + 1 - 0 = 2 > 1   no",
        "  r14     1      1       1         1 + 1 - 0 = 2 > 1   no",
        "  r16     1      1       1         1 + 1 - 0 = 2 > 1   no",
        "  r18     1      1       1         1 + 1 - 0 = 2 > 1   no",
        "  and 20 more domains",
        "  no node can run the pod in r01, r03, r05, r07, r09, r11 and 14 more:",
        "    untolerated taint dedicated=tenant-a:NoSchedule",
        "  matching pods:",
        "    r00: 1 pod without a controller (web-0)",
        "    r02: 1 pod without a controller (web-2)",
        "    r04: 1 pod without a controller (web-4)",
        "    r06: 1 pod without a controller (web-6)",
        "    r08: 1 pod without a controller (web-8)",
        "    r10: 1 pod without a controller (web-10)",
        "    r12: 1 pod without a controller (web-12)",
        "    r14: 1 pod without a controller (web-14)",
        "    and in 12 more domains",
    ]


def test_a_report_without_details_has_no_pods() -> None:
    """As `check` needs it for each pod that waits."""
    new = waiting(constraint("rack"))
    columns = Columns(cluster_of([*many_nodes()[:2], web("web-1", "n00"), new]))
    scheduler = Scheduler(columns, profiles(None, nearest_release(release_of("1.36"))))
    waits = read.pod(new)
    found = explain_filtered(waits, scheduler.filter(waits), scheduler)

    assert constraint_text(found).splitlines() == [
        "topologySpreadConstraints[0]: rack, maxSkew 1, DoNotSchedule",
        "  counts pods of the namespace with app=web, including this pod",
        "  nodeAffinityPolicy Honor, nodeTaintsPolicy Ignore",
        "  emptiest: r01 with 0 matching pods (the global minimum)",
        "  DOMAIN   NODES   USABLE   MATCHING   IF PLACED HERE       FITS",
        "  r00      1       1        1          1 + 1 - 0 = 2 > 1    no",
        "  r01      1       0        0          0 + 1 - 0 = 1 <= 1   allowed, no usable node",
        "  no node can run the pod in r01: untolerated taint dedicated=tenant-a:NoSchedule",
    ]
