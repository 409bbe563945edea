"""Steps of a user, played on small clusters until nothing is left to happen."""

from __future__ import annotations

import itertools
import time
from functools import partial
from typing import Any, Optional

import pytest

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine import steps
from kubectl_spread.engine.results.answer import TraceEvent
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.results.summary import summarize, Verdict
from kubectl_spread.engine.run import Answer, Limits, Mode, play, Written
from kubectl_spread.engine.search import explore
from kubectl_spread.engine.search.explore import Budget
from kubectl_spread.engine.state import EventKind, State, Step
from kubectl_spread.kubectl.situation import controller_of
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.scheduler.profiles import profiles
from tests.timeline.played import counts, steps_to

Plain = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
WEB = ObjectKey("Deployment", "app", "web")


def node(name: str, zone: str, *, cpu: str = "16", pods: str = "110") -> Plain:
    labels = {HOSTNAME: name, ZONE: zone}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": {"cpu": cpu, "memory": "64Gi", "pods": pods}},
    }


def deployment(replicas: int, *, hard: Optional[str] = ZONE, cpu: str = "100m", **spec: Any) -> Plain:
    constraint = {
        "maxSkew": 1,
        "topologyKey": hard,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": cpu}}}
    pod = {"containers": [container], "topologySpreadConstraints": [constraint] if hard else []}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "app"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod},
            **spec,
        },
    }


def run(objects: list[Plain], *written: Written, **limits: Any) -> Answer:
    """Let the workloads come first, then the steps."""
    settle: tuple[steps.Op, ...] = ()
    return play(cluster_of(objects), profiles(), [settle, *written], limits=Limits(**limits))


THREE_ZONES = [node("a1", "a"), node("b1", "b"), node("c1", "c")]


def test_a_rolling_update_can_leave_a_zone_empty() -> None:
    """KEP-895: old pods are counted, so that new ones can end up uneven; this is one of the outcomes."""
    answer = run([*THREE_ZONES, deployment(3)], steps.Restart(WEB))

    assert answer.last.is_exact
    assert answer.last.is_complete
    assert counts(answer.last, WEB, ZONE) == {"a": (0, 2), "b": (0, 2), "c": (0, 2)}
    assert answer.last.fewest_ready == {WEB: 3}
    assert answer.last.outcomes[0].restarts == {WEB: 3}


def test_a_surge_that_finds_no_room_wedges() -> None:
    """Every node is full: the one pod more stays Pending, and no old pod goes."""
    nodes = [node(name, name[0], pods="1") for name in ("a1", "b1", "c1")]
    answer = run([*nodes, deployment(3)], steps.Restart(WEB))

    (outcome,) = answer.last.outcomes
    assert answer.last.is_exact
    assert not outcome.is_complete
    assert [pod.message for pod in outcome.pending] == [
        (
            "0/3 nodes are available: 3 Too many pods. no new claims to deallocate, "
            "preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."
        )
    ]
    assert outcome.workloads[WEB]._asdict() == {
        "desired": 3,
        "ready": 3,
        "updated": 1,
        "pending": 1,
        "not_created": 0,
        "is_complete": False,
        "refusal": "",
        "has_failed": False,
    }
    assert outcome.restarts == {WEB: 0}


def test_the_way_to_an_outcome_is_told() -> None:
    """As events, in the order they happen."""
    nodes = [node("a1", "a", pods="1")]
    answer = run([*nodes, deployment(1)], steps.Restart(WEB))

    assert answer.last.outcomes[0].trace() == (
        TraceEvent(EventKind.DONE, None, "", 0, "", 1 - 1),
        TraceEvent(EventKind.SCALED, WEB, "", 2, "", 1),
        TraceEvent(EventKind.CREATED, WEB, "web-*", 2, ""),
    )


def test_what_became_of_another_cluster() -> None:
    """A cluster in which a template differs is a rollout."""
    before = cluster_of([*THREE_ZONES, deployment(3)])
    after = cluster_of([*THREE_ZONES, deployment(3, cpu="200m")])
    answer = play(before, profiles(), [(), steps_to(before, after)])

    assert answer.last.is_complete
    assert answer.last.outcomes[0].restarts == {WEB: 3}


def test_random_ways_are_never_exact() -> None:
    answer = run([*THREE_ZONES, deployment(3)], steps.Restart(WEB), mode=Mode.SAMPLE, samples=20)

    assert not answer.last.is_exact
    assert answer.last.runs == 20
    assert {outcome.is_complete for outcome in answer.last.outcomes} == {True}


def test_random_ways_are_shared_out_among_all_starts() -> None:
    """The second step begins in several outcomes of the first, and still follows as many ways as asked for."""
    answer = run([*THREE_ZONES, deployment(3)], steps.Restart(WEB), steps.Restart(WEB), mode=Mode.SAMPLE, samples=20)

    assert len(answer.steps[1].outcomes) > 1
    assert answer.last.runs == 20


def test_all_starts_and_the_runs_after_them_share_the_limit_of_states() -> None:
    """The second step begins in several outcomes of the first; none of them is searched with the whole limit."""
    written = [steps.Restart(WEB), steps.Restart(WEB)]
    answer = run([*THREE_ZONES, deployment(6)], *written, max_states=2_000, samples=20, by_counts=False)

    assert answer.steps[0].is_exact
    assert len(answer.last.before) > 1
    assert answer.last.basis is Basis.SAMPLE
    assert answer.last.states < 2_000 + 1_000 + 100  # with the runs, and the end of the last one


def test_one_way_is_quick_and_never_certain() -> None:
    answer = run([*THREE_ZONES, deployment(3)], steps.Restart(WEB), mode=Mode.FIRST)

    assert not answer.last.is_complete
    assert [outcome.is_complete for outcome in answer.last.outcomes] == [True]


def running(owner: str, name: str, at: str, *, template_hash: str) -> Plain:
    """A ready pod of a ReplicaSet."""
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "controller": True}
    labels = {"app": "web", "pod-template-hash": template_hash}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "app",
            "uid": name,
            "labels": labels,
            "ownerReferences": [reference],
        },
        "spec": {**deployment(1)["spec"]["template"]["spec"], "nodeName": at},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


def replica_set(name: str, replicas: int, *, template_hash: str) -> Plain:
    template = deployment(1)["spec"]["template"]
    labels = {"app": "web", "pod-template-hash": template_hash}
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "controller": True}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": name,
            "namespace": "app",
            "ownerReferences": [owner],
            "annotations": {"deployment.kubernetes.io/revision": "1"},
        },
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {**template, "metadata": {"labels": labels}},
        },
    }


def snapshot(*, with_replica_sets: bool) -> Cluster:
    pods = [running("web-abc", f"web-abc-{at}", at, template_hash="abc") for at in ("a1", "b1", "c1")]
    sets = [replica_set("web-abc", 3, template_hash="abc")] if with_replica_sets else []
    return cluster_of([*THREE_ZONES, deployment(3), *sets, *pods])


def test_a_running_cluster_is_steady() -> None:
    """Also where the facts have no ReplicaSets."""
    for with_replica_sets in (True, False):
        answer = play(snapshot(with_replica_sets=with_replica_sets), profiles(), [()])

        assert answer.last.is_complete
        assert answer.last.states == 1


def test_a_deleted_pod_is_made_again_from_its_controllers_template() -> None:
    answer = play(snapshot(with_replica_sets=True), profiles(), [steps.DeletePods(("web-abc-a1",))])

    assert answer.last.is_complete
    assert [outcome.restarts for outcome in answer.last.outcomes] == [{WEB: 1}]
    assert sorted(pod.name for pod in answer.last.outcomes[0].pods) == ["web-*", "web-abc-b1", "web-abc-c1"]


def test_an_eviction_by_name_spares_an_equal_pod() -> None:
    """Of two equal pods on one node, only the named one is evicted."""
    pods = [running("web-abc", name, "a1", template_hash="abc") for name in ("one", "two")]
    objects = [*THREE_ZONES, deployment(2), replica_set("web-abc", 2, template_hash="abc"), *pods]
    answer = play(cluster_of(objects), profiles(), [steps.Evict(("one",))])

    assert answer.last.is_complete
    assert [outcome.restarts for outcome in answer.last.outcomes] == [{WEB: 1}]


def test_a_budget_blocks_a_drain() -> None:
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "app"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": 3},
    }
    answer = run([*THREE_ZONES, deployment(3), budget], steps.Drain(("a1",)))

    (outcome,) = answer.last.outcomes
    assert [blocked.cause for blocked in outcome.blocked] == [
        "The disruption budget web needs 3 healthy pods and has 3 currently"
    ]
    assert not outcome.is_complete


@pytest.mark.parametrize("waiting", ["a", "b", "c", ""])
@pytest.mark.parametrize("names", ["ab", "abc", "abcd"])
def test_each_replica_set_with_an_equal_template_is_a_revision(names: str, waiting: str) -> None:
    """Facts that somebody shortened: the pods of all of them still have a future that ends, and a way to it."""
    objects: list[Plain] = [*THREE_ZONES, deployment(2)]
    for name, at in zip(names, itertools.cycle(("a1", "b1", "c1"))):
        objects.append(replica_set(f"web-{name}", 1, template_hash=name))
        del objects[-1]["metadata"]["annotations"]
        objects.append(running(f"web-{name}", f"{name}-1", at, template_hash=name))
        if name == waiting:  # The pods that wait are those of the newest ReplicaSet.
            del objects[-1]["spec"]["nodeName"]
    answer = play(cluster_of(objects), profiles(), [()], limits=Limits())

    assert answer.last.is_exact
    assert not answer.last.is_endless
    assert {item.workloads[WEB].ready for item in answer.last.outcomes} == {2}
    assert all(item.trace() for item in answer.last.outcomes)


def _running(name: str, host: str, *, cpu: str = "100m", **spec: Any) -> Plain:
    """A bare pod that takes no part in a step."""
    container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "app", "uid": name, "labels": {"app": name}},
        "spec": {"nodeName": host, "containers": [container], **spec},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _repels(key: str, labels: dict[str, str]) -> Plain:
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": key}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def test_other_pods_may_repel_one_revision_only() -> None:
    """The pod of version v1 is bound to a1, which has more room; a guard there does not tolerate version v2."""
    guard = _running("guard", "a1", affinity=_repels(HOSTNAME, {"version": "v2"}))
    others = [node("a1", "a"), node("b1", "b"), guard, _running("big", "b1", cpu="8")]
    first, second = (deployment(1, strategy={"type": "Recreate"}) for _ in range(2))
    first["spec"]["template"]["metadata"]["labels"]["version"] = "v1"
    second["spec"]["template"]["metadata"]["labels"]["version"] = "v2"

    answer = run([*others, first], steps_to(cluster_of([*others, first]), cluster_of([*others, second])))

    hosts = [[pod.node for outcome in step.outcomes for pod in outcome.pods] for step in answer.steps]
    assert hosts == [["a1"], ["b1"]]


def test_nodes_in_the_rack_of_a_guard_are_not_interchangeable_with_others() -> None:
    """The guard on a1 keeps pods out of its rack, so that only the nodes of rack 2 remain."""
    nodes = [node(name, "a") for name in ("a1", "a2", "a3", "a4")]
    for item, rack in zip(nodes, ("1", "1", "2", "2"), strict=True):
        item["metadata"]["labels"]["rack"] = rack
    guard = _running("guard", "a1", affinity=_repels("rack", {"app": "web"}))

    answer = run([*nodes, guard, deployment(2)])

    assert answer.last.is_exact
    hosts = {pod.node for outcome in answer.last.outcomes for pod in outcome.pods}
    assert hosts <= {"a3", "a4"}
    alike = answer.last.symmetry.alike(HOSTNAME)
    assert alike["a2"] != alike["a3"] == alike["a4"]


def test_no_clock_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits are counted in states, so that an answer does not depend on the load of the machine."""
    objects = [*THREE_ZONES, deployment(4)]
    ticks = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: float(next(ticks)))
    monkeypatch.setattr(time, "process_time", lambda: float(next(ticks)))

    assert run(objects, steps.Restart(WEB)).last.is_exact
    assert not next(ticks)


def test_two_replicasets_that_shrink_together_rank_on_what_each_has_seen() -> None:
    """Each may choose before it sees what the other deletes: both pods that stay can be on one node."""
    old, new = (replica_set(name, 2, template_hash=name[4:]) for name in ("web-abc", "web-def"))
    new["spec"]["template"]["spec"] = {"containers": [{"name": "c", "image": "other"}]}
    for item in (old, new):
        item["metadata"]["annotations"]["deployment.kubernetes.io/desired-replicas"] = "4"
    names = [(name, at) for name in ("web-abc", "web-def") for at in ("a1", "b1")]
    pods = [running(name, f"{name}-{at}", at, template_hash=name[4:]) for name, at in names]
    web = deployment(4, paused=True)
    web["spec"]["template"]["spec"] = new["spec"]["template"]["spec"]
    nodes = [node("a1", "a"), node("b1", "b")]
    scaled = [steps.Scale(WEB, 2)]
    answer = play(cluster_of([*nodes, web, old, new, *pods]), profiles(), [scaled])

    assert answer.last.is_exact
    assert {len({pod.node for pod in outcome.pods}) for outcome in answer.last.outcomes} == {1, 2}


def test_a_run_that_a_limit_cuts_off_has_no_outcome() -> None:
    """Then nothing is known: not that the step may get stuck, and no number of pods."""
    answer = run([*THREE_ZONES], steps.Apply(controller_of(deployment(40))), max_states=10, max_run=30)

    step = summarize(answer.last, [WEB])
    assert (answer.last.basis, answer.last.outcomes) == (Basis.STATE_LIMIT, ())
    assert (step.verdict, step.workloads, step.endings) == (Verdict.NOT_KNOWN, (), ())


def test_states_with_many_pods_count_for_several() -> None:
    """A state takes time in proportion to its pods."""
    large = [node(name, name[0], cpu="500", pods="1000") for name in ("a1", "b1", "c1")]

    found = [run(large, steps.Apply(controller_of(deployment(n))), max_run=2_500, mode=Mode.FIRST) for n in (300, 900)]

    assert [bool(item.last.outcomes) for item in found] == [True, False]


def test_sampled_runs_are_counted_for_each_outcome() -> None:
    answer = run([*THREE_ZONES, deployment(3)], steps.Restart(WEB), mode=Mode.SAMPLE, samples=20)

    assert answer.last.basis is Basis.SAMPLE
    assert sum(answer.last.ended) == answer.last.runs == 20
    assert sum(ending.runs for ending in summarize(answer.last, [WEB]).endings) == 20


class Tree:
    """States that are numbers, each with some children; no state can be left out."""

    repeating: tuple[State, ...] = ()
    is_cut = False

    def __init__(self, width: int, most: int) -> None:
        self._width, self._most = width, most

    def after(self, state: State) -> list[Any]:
        children = range(state.facts * self._width + 1, state.facts * self._width + self._width + 1)
        return [partial(Step, (), state._replace(facts=at)) for at in children if at <= self._most]

    def may_repeat(self, _: State) -> bool:
        return False


@pytest.mark.parametrize(
    ("width", "most", "gives_up", "visited"),
    [
        (1, 3_000, True, 3_001),  # few states wait at any time
        (4, 5_000, True, 1_005),  # three of four wait
        (4, 5_000, False, 5_001),
        (4, 900, True, 901),  # too few states to tell
    ],
)
def test_a_search_gives_up_if_most_of_its_states_wait(width: int, most: int, gives_up: bool, visited: int) -> None:
    moves: Any = Tree(width, most)
    found = explore.everything(moves, [State((), (), 0)], budget=Budget(50_000), gives_up=gives_up)

    assert found.states == visited
    assert found.is_exhaustive is (visited > most)
