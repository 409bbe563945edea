"""What the rules that need cluster facts call an error is one, on clusters odder than those of their cases."""

from __future__ import annotations

import json
from typing import Any, Optional

import pytest
from hypothesis import event, given, HealthCheck, settings
from hypothesis import strategies as st

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine.placing import max_placed_pods
from kubectl_spread.explain import replicas
from kubectl_spread.explain.placement import Placement
from kubectl_spread.explain.replicas import as_replicaset, new_pods, Start
from kubectl_spread.lint.check_source import check_source
from kubectl_spread.lint.finding import Finding, Severity
from kubectl_spread.lint.project import Project, RunContext
from kubectl_spread.lint.registry import RULES
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.operations.known_cluster import KnownCluster
from kubectl_spread.scheduler import profiles
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.text.source import SourceFile
from tests.lint.cases import check_workloads
from tests.naive.builders import HOSTNAME, node, Plain, pod, ZONE
from tests.naive.strategies import cases

pytestmark = pytest.mark.slow

PROFILES = profiles.profiles(None, profiles.LATEST)
CODES = frozenset(rule.code for rule in RULES.values() if rule.needs_facts)
NOT_PLACED = {"SPR901", "SPR903", "SPR904", "SPR906", "SPR907"}
APART = {"labelSelector": {"matchLabels": {"app": "web"}}}
odd = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


def written(kind: str, count: int, template: Plain) -> Optional[Subject]:
    """A workload as a manifest; None for one that the API server could not read."""
    metadata = {"labels": template["metadata"].get("labels") or {}}
    namespace = template["metadata"].get("namespace", "default")
    manifest = {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"replicas": count, "template": {"metadata": metadata, "spec": template["spec"]}},
    }
    subjects = check_source(SourceFile("web.yaml", json.dumps(manifest)), named=True).subjects
    return subjects[0] if subjects else None


def placed(subject: Subject, cluster: Cluster) -> Placement:
    (placement,) = replicas.place([subject.workload], cluster, PROFILES)
    return placement


def errors(subject: Subject, cluster: Cluster) -> list[Finding]:
    findings = check_workloads(Project([subject], (), RunContext(facts=KnownCluster(cluster, PROFILES))), CODES)
    for finding in findings:
        event(f"{finding.rule.code} {finding.rule.severity.value}")
    return [finding for finding in findings if finding.rule.severity is Severity.ERROR]


def assert_only_pending_pods_are_errors(subject: Subject, cluster: Cluster) -> None:
    found = [finding for finding in errors(subject, cluster) if finding.rule.code in NOT_PLACED]
    if found:
        assert placed(subject, cluster).pending, [finding.message for finding in found]


@settings(odd, max_examples=40)
@given(cases(), st.sampled_from(("Deployment", "StatefulSet", "ReplicaSet")), st.integers(1, 6))
def test_no_error_where_all_pods_are_placed(case: Plain, kind: str, count: int) -> None:
    """On the clusters that the scheduler is compared on."""
    cluster = cluster_of(case["objects"])
    for incoming in case["incoming"][:2]:
        subject = written(kind, count, incoming)
        gates = incoming["spec"].get("schedulingGates")
        if subject is not None and cluster.nodes and not gates:
            assert_only_pending_pods_are_errors(subject, cluster)


@st.composite
def small(draw: st.DrawFn) -> tuple[Cluster, Subject]:
    """Up to four nodes in up to three zones, some tainted, full, or without a label, and up to five pods."""
    made: list[Plain] = []
    for at in range(draw(st.integers(1, 4))):
        labels = {HOSTNAME: f"n{at}", ZONE: draw(st.sampled_from("aab")), "disk": draw(st.sampled_from("xxy"))}
        for key in draw(st.sampled_from(((), (), (), (ZONE,), (HOSTNAME,)))):
            del labels[key]
        taints = draw(st.sampled_from(([], [], [], [{"key": "t", "effect": "NoSchedule"}])))
        cpu = draw(st.sampled_from(("8", "8", "1", "2")))
        made.append(node(f"n{at}", labels=labels, spec={"taints": taints}, allocatable={"cpu": cpu}))
        if draw(st.integers(0, 3)) == 3:
            owner = draw(st.sampled_from(({"app": "web"}, {"app": "db"})))
            made.append(pod(f"e{at}", on=f"n{at}", labels=owner))
    constraints = [
        {
            "maxSkew": draw(st.sampled_from((1, 1, 2))),
            "topologyKey": key,
            "whenUnsatisfiable": draw(st.sampled_from(("DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"))),
            **draw(st.sampled_from((APART, APART, APART, {"labelSelector": {"matchLabels": {"app": "db"}}}))),
        }
        for key in draw(st.sampled_from(((ZONE,), (HOSTNAME,), (ZONE, HOSTNAME), ("disk", ZONE), ())))
    ]
    for constraint in constraints:
        if constraint["whenUnsatisfiable"] == "DoNotSchedule":
            constraint.update(draw(st.sampled_from(({}, {}, {"minDomains": 3}, {"nodeTaintsPolicy": "Honor"}))))
    spec: Plain = {"topologySpreadConstraints": constraints}
    if draw(st.integers(0, 3)) == 3 or not constraints:
        term = {**APART, "topologyKey": draw(st.sampled_from((ZONE, HOSTNAME, "disk")))}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    spec.update(
        draw(st.sampled_from(({}, {}, {"nodeSelector": {"disk": "x"}}, {"tolerations": [{"operator": "Exists"}]})))
    )
    template = pod("web", labels={"app": "web"}, requests=draw(st.sampled_from(({}, {"cpu": "1"}))), **spec)
    subject = written(draw(st.sampled_from(("Deployment", "StatefulSet"))), draw(st.integers(1, 5)), template)
    assert subject is not None

    return cluster_of(made), subject


@settings(odd, max_examples=200)
@given(small())
def test_no_error_where_all_pods_of_a_small_cluster_are_placed(case: tuple[Cluster, Subject]) -> None:
    cluster, subject = case
    assert_only_pending_pods_are_errors(subject, cluster)


@settings(odd, max_examples=100)
@given(small())
def test_the_search_finds_the_most_that_any_order_places(case: tuple[Cluster, Subject]) -> None:
    """Nodes that are alike and states that come again are looked at once, and nothing is lost."""
    cluster, subject = case
    first = replica(subject.workload, 0)
    count = min(subject.workload.replicas or 0, 4)
    owner = as_replicaset(first, subject.workload, count)
    assert owner is not None

    new = new_pods(Start([owner], cluster, PROFILES), PROFILES, all_nodes=True)
    most = max_placed_pods(new, max_states=2000)

    assert most == any_order(cluster, owner, ())


@settings(odd, max_examples=100)
@given(small())
def test_room_is_never_less_than_what_some_order_places(case: tuple[Cluster, Subject]) -> None:
    """What constraints and anti-affinity leave room for, by the account alone."""
    cluster, subject = case
    known = KnownCluster(cluster, PROFILES)
    owner = as_replicaset(replica(subject.workload, 0), subject.workload, min(subject.workload.replicas or 0, 4))
    assert owner is not None

    most = any_order(cluster, owner, ())
    accounts = [known.constraint_facts(subject.workload, constraint) for constraint in subject.hard]

    assert [] == [account for account in accounts if account is not None and account.room < most]
    assert [] == [bound for bound in known.anti_affinities(subject.workload) if bound.room < most]


def any_order(cluster: Cluster, owner: Any, nodes: tuple[int, ...]) -> int:
    """The most pods that find a node after the first ones went to `nodes`, tried one by one."""
    scheduler = Scheduler(Columns(cluster), PROFILES)
    for at, host in enumerate(nodes):
        scheduler.bind(replica(owner, at), host)
    if len(nodes) == owner.replicas:
        return len(nodes)
    feasible = scheduler.filter(replica(owner, len(nodes))).feasible.nonzero()[0].tolist()
    return max((any_order(cluster, owner, (*nodes, host)) for host in feasible), default=len(nodes))
