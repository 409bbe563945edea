"""The answer of a step's parts holds in every outcome of the whole step, on small random clusters."""

from __future__ import annotations

import random
from typing import Any, Optional

import pytest

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine import run, steps
from kubectl_spread.engine.parts import Splitter
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.results.summary import StepSummary, summarize, Verdict, WorkloadSummary
from kubectl_spread.engine.run import Limits, play
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.scheduler.profiles import profiles
from tests.bench import clusters

Plain = dict[str, Any]
ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
PROFILES = profiles()
_FEW = 3_000  # states of the whole step


class World:
    """A cluster of Deployments that are settled, and a step.

    is_limited: a node takes few pods of some workloads, and each zone has more nodes.
    """

    def __init__(self, seed: int, *, is_limited: bool = False) -> None:
        self.chance = random.Random(seed)
        self.zones = "abc"[: self.chance.choice([2, 3])]
        sizes = [3, 4, 5] if is_limited else [1, 2, 2]
        self.items = [self._node(zone, at) for zone in self.zones for at in range(self.chance.choice(sizes))]
        self.names = [item["metadata"]["name"] for item in self.items]
        self.sizes = {name: self.chance.randint(1, 3) for name in self.chance.choice([["web"], ["web", "api"]])}
        tied = self.chance.random() < 0.3
        for name, size in self.sizes.items():
            self.items += self._deployment(name, size, {"tier": "front"} if tied else {"app": name})
        if self.chance.random() < 0.2:
            self.items += self._deployment("old", 2, {"app": "old"}, node_selector={"disk": "none"})
        if self.chance.random() < 0.3:
            self.items += self._stateful_set("db", self.chance.randint(1, 2))
        if self.chance.random() < 0.3:
            spec = {
                "minAvailable": 1,
                "selector": {"matchLabels": self.chance.choice([{"app": "web"}, {"tier": "front"}])},
            }
            metadata = {"name": "budget", "namespace": "shop"}
            self.items.append(
                {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec}
            )

        if is_limited:
            self._limit()
        self._tie()

    def _limit(self) -> None:
        """Limit the pods of a Deployment on a node, by a hard constraint, by anti-affinity, or by both.

        Some of its pods may be missing, as after nodes were deleted.
        """
        name = self.chance.choice(sorted(self.sizes))
        workloads = [item for item in self.items if item["kind"] in ("Deployment", "ReplicaSet", "Pod")]
        selector = {"matchLabels": self.chance.choice([{"app": name}, {"app": name}, {"tier": "front"}])}
        ways = self.chance.choice([(True, False), (False, True), (True, True)])
        skew = self.chance.choice([1, 1, 2])
        for item in workloads:
            if not item["metadata"]["name"].startswith(name):
                continue
            spec = item["spec"].get("template", {"spec": item["spec"]})["spec"]
            if ways[0]:
                constraint = {"maxSkew": skew, "topologyKey": HOSTNAME, "whenUnsatisfiable": "DoNotSchedule"}
                known = [each for each in spec["topologySpreadConstraints"] if each["topologyKey"] != HOSTNAME]
                spec["topologySpreadConstraints"] = [*known, {**constraint, "labelSelector": selector}]
            if ways[1]:
                term = {"labelSelector": selector, "topologyKey": HOSTNAME}
                spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        pods = [item for item in workloads if item["kind"] == "Pod" and item["metadata"]["name"].startswith(name)]
        for pod in pods[: self.chance.choice([0, 0, 1, 2])]:
            self.items.remove(pod)

    def _tie(self) -> None:
        """Change something that makes workloads depend on each other, or all nodes of a zone refuse pods."""
        workloads = [item for item in self.items if item["kind"] in ("Deployment", "ReplicaSet", "Pod")]
        specs = [item["spec"].get("template", {"spec": item["spec"]})["spec"] for item in workloads]
        web = [spec for spec, item in zip(specs, workloads, strict=True) if item["metadata"]["name"].startswith("web")]
        constraints = [each for spec in web for each in spec.get("topologySpreadConstraints", ())]
        anti = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": HOSTNAME}
        chance = self.chance.random()
        if chance < 0.08:
            hard = {"services": "20", "pods": str(self.chance.randint(3, 8))}
            metadata = {"name": "quota", "namespace": "shop"}
            quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard}}
            self.items.append(quota)
        elif chance < 0.16:
            _set(web, "priority", 1000)
        elif chance < 0.3:
            last = (item for item in self.items if item["metadata"].get("labels", {}).get(ZONE) == self.zones[-1])
            _set([item["spec"] for item in last], "taints", [{"key": "maintenance", "effect": "NoSchedule"}])
        elif chance < 0.38:
            _set(constraints, "nodeTaintsPolicy", "Honor")
        elif chance < 0.46:
            hard_ones = [item for item in constraints if item["whenUnsatisfiable"] == "DoNotSchedule"]
            _set(hard_ones, "minDomains", self.chance.randint(2, 4))
        elif chance < 0.54:
            _set(constraints, "matchLabelKeys", ["pod-template-hash"])
        elif chance < 0.6:
            terms = {"requiredDuringSchedulingIgnoredDuringExecution": [anti]}
            _set(specs, "affinity", {"podAntiAffinity": terms})
        elif chance < 0.7:  # One pod waits, or is missing.
            at = next((at for at, item in enumerate(self.items) if item["metadata"]["name"].startswith("web-1-")), None)
            if at is None:
                return
            waiting = self.items.pop(at)
            if self.chance.random() < 0.5:
                del waiting["spec"]["nodeName"]
                waiting["status"] = {"phase": "Pending"}
                self.items.insert(at, waiting)

    def _node(self, zone: str, at: int) -> Plain:
        spec: Plain = {"unschedulable": True} if self.chance.random() < 0.1 else {}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"{zone}{at}", "labels": {ZONE: zone, HOSTNAME: f"{zone}{at}"}},
            "spec": spec,
            "status": {"allocatable": {"cpu": self.chance.choice(["8", "8", "200m"]), "memory": "8Gi", "pods": "20"}},
        }

    def _deployment(self, name: str, size: int, counted: Plain, *, node_selector: Plain | None = None) -> list[Plain]:
        """Return a Deployment; with a nodeSelector, its last pod waits."""
        constraint = {
            "maxSkew": self.chance.choice([1, 1, 2]),
            "topologyKey": ZONE,
            "whenUnsatisfiable": self.chance.choice(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
            "labelSelector": {"matchLabels": counted},
        }
        containers = [{"name": "c", "image": "pause", "resources": {"requests": {"cpu": "100m"}}}]
        template = {
            "metadata": {"labels": {"app": name, "tier": "front"}},
            "spec": {"containers": containers, "topologySpreadConstraints": [constraint]},
        }
        hashed = {
            "metadata": {"labels": {"app": name, "tier": "front", "pod-template-hash": "1"}},
            "spec": template["spec"],
        }
        items = [
            self._object("Deployment", name, {"replicas": size, "template": template}, name, None),
            self._object("ReplicaSet", f"{name}-1", {"replicas": size, "template": hashed}, name, ("Deployment", name)),
        ]
        for at in range(size):
            pod = self._object("Pod", f"{name}-1-{at}", {}, name, ("ReplicaSet", f"{name}-1"))
            pod["metadata"]["labels"] = dict(hashed["metadata"]["labels"])
            pod["spec"] = {**template["spec"], "nodeName": self.chance.choice(self.names)}
            pod["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
            items.append(pod)
        if node_selector is not None:
            del items[-1]["spec"]["nodeName"]
            items[-1]["status"] = {"phase": "Pending"}
        return items

    def _stateful_set(self, name: str, size: int) -> list[Plain]:
        """Return a StatefulSet whose pods have volumes, each in the zone of its node."""
        containers = [{"name": "c", "image": "pause", "resources": {"requests": {"cpu": "100m"}}}]
        template = {"metadata": {"labels": {"app": name, "tier": "data"}}, "spec": {"containers": containers}}
        claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
        spec = {"replicas": size, "serviceName": name, "template": template, "volumeClaimTemplates": [claim]}
        items = [self._object("StatefulSet", name, spec, name, None)]
        for at in range(size):
            node = self.chance.choice(self.names)
            pod = self._object("Pod", f"{name}-{at}", {}, name, ("StatefulSet", name))
            of_pod = {"controller-revision-hash": "1", "statefulset.kubernetes.io/pod-name": f"{name}-{at}"}
            pod["metadata"]["labels"] = {**template["metadata"]["labels"], **of_pod}
            volume = {"name": "data", "persistentVolumeClaim": {"claimName": f"data-{name}-{at}"}}
            pod["spec"] = {"containers": containers, "volumes": [volume], "nodeName": node}
            pod["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
            term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [node[0]]}]}
            items += [pod, *_bound_claim(f"data-{name}-{at}", {"required": {"nodeSelectorTerms": [term]}})]
        return items

    @staticmethod
    def _object(kind: str, name: str, spec: Plain, app: str, owner: Optional[tuple[str, str]]) -> Plain:
        metadata: Plain = {"name": name, "namespace": "shop", "uid": f"{kind}-{name}"}
        if owner is not None:
            kinds = {"apiVersion": "apps/v1", "kind": owner[0], "name": owner[1], "uid": f"{owner[0]}-{owner[1]}"}
            metadata["ownerReferences"] = [{**kinds, "controller": True}]
        selector = {"matchLabels": {"app": app}}
        version = "v1" if kind == "Pod" else "apps/v1"
        return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": {"selector": selector, **spec}}

    def ops(self, cluster: Cluster) -> tuple[steps.Op, ...]:
        key = ObjectKey("Deployment", "shop", self.chance.choice(sorted(self.sizes)))
        if any(item["kind"] == "StatefulSet" for item in self.items) and self.chance.random() < 0.2:
            key = ObjectKey("StatefulSet", "shop", "db")
        node = self.chance.choice(self.names)
        cordoned = [item["metadata"]["name"] for item in self.items if item["spec"].get("unschedulable")]
        if cordoned and self.chance.random() < 0.3:
            return (steps.Cordon((cordoned[0],), is_cordoned=False),)
        verb = self.chance.randrange(6)
        if verb == 0:
            return (steps.Scale(key, self.chance.randint(0, 4)),)
        if verb == 1:
            return (steps.Restart(key),)
        if verb == 2:
            lost = [name for name in self.names if name[0] == node[0]]
            return (steps.NodesDown(self.chance.choice([(node,), tuple(lost)])),)
        if verb == 3:
            return (steps.Evict(tuple(pod.uid for pod in cluster.pods if pod.node_name == node)),)
        return (steps.Cordon((node,)), steps.Drain((node,)))


def _set(items: list[Plain], name: str, value: Any) -> None:
    for item in items:
        item[name] = value


def _bound_claim(name: str, affinity: Plain) -> list[Plain]:
    """Return a claim with its volume."""
    claim = {"name": name, "namespace": "shop", "uid": name, "annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
    size = {"storage": "1Gi"}
    modes = ["ReadWriteOnce"]
    reference = {"kind": "PersistentVolumeClaim", "namespace": "shop", "name": name, "uid": name}
    wanted = {"accessModes": modes, "resources": {"requests": size}, "volumeName": f"pv-{name}"}
    volume = {"capacity": size, "accessModes": modes, "claimRef": reference, "nodeAffinity": affinity}
    bound = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"pv-{name}"}, "spec": volume}
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": claim,
            "spec": wanted,
            "status": {"phase": "Bound"},
        },
        {**bound, "status": {"phase": "Bound"}},
    ]


def _outside(whole: WorkloadSummary, part: WorkloadSummary, keys: frozenset[str]) -> list[str]:
    """Return the numbers of the whole step that are outside of the ranges of a part."""
    wrong = [
        f"{name} {getattr(whole, name)} {getattr(part, name)}"
        for name in ("ready", "pending", "updated", "restarted", "not_created")
        if not all(getattr(part, name).allows(number) for number in getattr(whole, name))
    ]
    if part.fewest_ready > whole.fewest_ready:
        wrong.append(f"fewest ready {whole.fewest_ready} {part.fewest_ready}")
    spreads = {spread.topology_key: {item.value: item.after for item in spread.domains} for spread in part.spreads}
    for spread in whole.spreads:
        for item in spread.domains if spread.topology_key in keys else ():
            merged = spreads[spread.topology_key].get(item.value)
            if merged is None or not all(merged.allows(number) for number in item.after):
                wrong.append(f"{item.value} {item.after} {merged}")
    return wrong


def compare(seed: int, *, is_limited: bool = False) -> Optional[list[str]]:
    """Return what the parts say wrongly; None if the step has no parts, or is too large to be visited whole."""
    world = World(seed, is_limited=is_limited)
    cluster = cluster_of(world.items)
    ops = world.ops(cluster)
    whole = play(cluster, PROFILES, [ops], limits=Limits(max_states=_FEW, samples=1)).last
    if not whole.is_exact or whole.gaps:
        return None
    concerns = {ObjectKey("Deployment", "shop", name) for name in world.sizes}
    expected = summarize(whole, concerns)
    by_run = answer_by_parts(cluster, ops, {"_STATES_BEFORE_PARTS": 0})  # Even a step with few states has parts here.
    alone = answer_by_parts(cluster, ops, {"_FEW_NODES": 0, "_FEW_NEW": -1})  # without a run of the whole step
    if not alone.parts:
        return None if not by_run.parts else ["parts with a run only"]
    return [*_wrong(expected, alone, concerns), *(_wrong(expected, by_run, concerns) if by_run.parts else ())]


def answer_by_parts(
    cluster: Cluster, ops: tuple[steps.Op, ...], constants: dict[str, int], *, by_counts: bool = True
) -> run.StepAnswer:
    with pytest.MonkeyPatch.context() as patch:
        for name, number in constants.items():
            patch.setattr(run, name, number)
        limits = Limits(by_counts=by_counts)
        return run.play(cluster, PROFILES, [ops], limits=limits, splitter=Splitter(cluster, PROFILES)).last


def _wrong(expected: StepSummary, found: run.StepAnswer, concerns: set[ObjectKey]) -> list[str]:
    """Return what the summary of parts says wrongly: only `not known` may hide a verdict."""
    summary = summarize(found, concerns)
    of_key = {item.key: item for item in summary.workloads}
    parts = {key: item for item in found.parts for key in item.part.workloads}
    wrong = (
        [] if summary.verdict in (Verdict.NOT_KNOWN, expected.verdict) else [f"{expected.verdict} {summary.verdict}"]
    )
    for item in expected.workloads:
        if item.key in parts:
            verdict = of_key[item.key].verdict
            wrong += [] if verdict in (Verdict.NOT_KNOWN, item.verdict) else [f"{item.key.name} {verdict}"]
            if parts[item.key].answer.is_exact:
                outside = _outside(item, of_key[item.key], parts[item.key].part.keys)
                wrong += [f"{item.key.name}: {text}" for text in outside]
    return wrong


@pytest.mark.parametrize("seed", range(150))
def test_parts_hold_in_every_outcome(seed: int) -> None:
    assert not compare(seed)


@pytest.mark.parametrize("seed", range(100))
def test_parts_of_pods_that_share_no_node_hold_in_every_outcome(seed: int) -> None:
    assert not compare(seed, is_limited=True)


@pytest.mark.parametrize("is_limited", [False, True])
def test_enough_random_steps_have_parts(is_limited: bool) -> None:
    answered = [compare(seed, is_limited=is_limited) for seed in range(150, 200)]

    assert sum(item is not None for item in answered) >= 10
    assert not any(answered)


@pytest.mark.parametrize("seed", range(30))
def test_counts_of_pods_change_no_answer_of_a_part(seed: int) -> None:
    """Terminating pods, scores and pods on the same node decide nothing in a part, so counts decide everything."""
    world = World(seed)
    cluster = cluster_of(world.items)
    ops = (steps.Restart(ObjectKey("Deployment", "shop", "web")),)
    alone = {"_FEW_NODES": 0, "_FEW_NEW": -1}
    by_counts, by_pods = (answer_by_parts(cluster, ops, alone, by_counts=is_counted) for is_counted in (True, False))

    found = [summarize(answer, ())._replace(states=0) for answer in (by_counts, by_pods)]
    assert by_counts.basis is by_pods.basis
    assert sorted(found[0].workloads) == sorted(found[1].workloads)


def _answered(items: list[Plain], *ops: steps.Op) -> run.StepAnswer:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "_FEW_NODES", 0)
        cluster = cluster_of(items)
        splitter = Splitter(cluster, PROFILES)
        return run.play(cluster, PROFILES, [ops], limits=Limits(max_states=3_000), splitter=splitter).last


def test_a_drain_of_a_large_node_is_proved() -> None:
    """The orders of ten workloads are too many to visit; each workload alone has few."""
    answer = _answered(clusters.cluster(60, 600, 10)["items"], steps.Drain(("n0000",)))

    assert (answer.basis, len(answer.parts)) == (Basis.EVERY_ORDER, 10)
    summary = summarize(answer, {key for item in answer.parts for key in item.part.workloads})
    assert {item.value: item.after for item in summary.workloads[0].spreads[0].domains} == {
        "a": Range(3, 4),
        "b": Range(3, 4),
        "c": Range(3, 4),
    }


def test_a_rollout_of_many_pods_is_proved_by_room() -> None:
    answer = _answered(clusters.cluster(60, 300, 100)["items"], steps.Restart(ObjectKey("Deployment", "app", "web-1")))

    assert answer.basis is Basis.ENOUGH_ROOM
    assert [item.part.has_room for item in answer.parts] == [True]


def test_a_zone_without_room_is_not_proved() -> None:
    items = clusters.cluster(6, 30, 10)["items"]
    for item in items:
        if item["kind"] == "Node" and item["metadata"]["labels"][ZONE] == "c":
            item["status"]["allocatable"]["pods"] = "5"

    assert not _answered(items, steps.Restart(ObjectKey("Deployment", "app", "web-1"))).parts


def test_a_lost_zone_is_answered_without_a_run_of_the_whole_step() -> None:
    items = clusters.cluster(60, 1_200, 60)["items"]
    lost = tuple(f"n{at:04}" for at in range(0, 60, 3))

    answer = _answered(items, steps.NodesDown(lost))
    summary = summarize(answer, ())

    assert (answer.basis, answer.outcomes, len(answer.parts)) == (Basis.EVERY_ORDER, (), 20)
    assert len({id(item.answer) for item in answer.parts}) == 1, "workloads that differ only in names"
    assert summary.verdict is Verdict.GETS_STUCK
    assert {(item.ready, item.pending) for item in summary.workloads} == {(Range(40, 40), Range(20, 20))}
    assert {pod.owner for pod in summary.endings[0].pending} == {item.key for item in summary.workloads}
    assert {item.message[:27] for item in summary.waiting()} == {"0/60 nodes are available: 2"}


@pytest.mark.parametrize("has_run", [True, False])
def test_what_is_not_simulated_makes_a_proof_of_parts_not_known(has_run: bool) -> None:
    """Whether or not there is a run of the whole step."""
    answer = _answered(clusters.cluster(60, 600, 10)["items"], steps.Drain(("n0000",)))
    answer = answer._replace(gaps={"2 objects that could not be read": None})

    summary = summarize(answer if has_run else answer._replace(outcomes=()), ())
    assert (len(answer.parts), summary.verdict) == (10, Verdict.NOT_KNOWN)
    assert summary.gaps == ("2 objects that could not be read",)
    assert not has_run or {item.verdict for item in summary.workloads} == {Verdict.NOT_KNOWN}


def test_a_rollout_beside_a_closed_zone_is_stuck_in_every_order() -> None:
    """Zone c keeps at most its 33 pods, so a and b take 34 each, and 100 do not fit."""
    items = clusters.cluster(60, 300, 100)["items"]
    for item in items:
        if item["kind"] == "Node" and item["metadata"]["labels"][ZONE] == "c":
            item["spec"] = {"taints": [{"key": "maintenance", "effect": "NoSchedule"}]}

    answer = _answered(items, steps.Restart(ObjectKey("Deployment", "app", "web-1")))

    assert answer.basis is Basis.NO_ORDER
    assert summarize(answer, ()).verdict is Verdict.GETS_STUCK


def test_the_bound_of_a_rollout_is_not_that_of_another_workload() -> None:
    """The pods of a workload that waits beside a restarted one stay."""
    items = clusters.cluster(60, 200, 100)["items"]
    for item in items:
        if item["kind"] == "Node" and item["metadata"]["labels"][ZONE] == "c":
            item["spec"] = {"taints": [{"key": "maintenance", "effect": "NoSchedule"}]}
    del items[-1]["spec"]["nodeName"]
    items[-1]["status"] = {"phase": "Pending"}

    answer = _answered(items, steps.Restart(ObjectKey("Deployment", "app", "web-0")))

    short = {key.name: item.part.is_short for item in answer.parts for key in item.part.workloads}
    assert short == {"web-0": True, "web-1": False}


def test_an_interrupted_search_ends_its_parts() -> None:
    """A part that is not reached has no numbers."""
    cluster = cluster_of(clusters.cluster(120, 600, 10)["items"])
    lost = tuple(f"n{at:04}" for at in range(0, 120, 3))
    splitter = Splitter(cluster, PROFILES)

    watch = run.Watch()
    watch.stop()

    answer = run.play(cluster, PROFILES, [(steps.NodesDown(lost),)], watch=watch, splitter=splitter)
    summary = summarize(answer.last, ())

    assert (summary.verdict, summary.basis) == (Verdict.NOT_KNOWN, Basis.STATE_LIMIT)
    assert [*summary.workloads, *summary.endings, *summary.waiting()] == []


def test_pods_that_are_yet_to_be_created_need_room_too() -> None:
    """Nine nodes take one pod each, and two of the twelve pods are there."""
    items = clusters.cluster(9, 12, 12, is_apart=True)["items"]
    pods = [item for item in items if item["kind"] == "Pod"]

    answer = _answered([item for item in items if item not in pods[2:]], steps.Drain(("n0000",)))

    assert summarize(answer, ()).verdict is Verdict.GETS_STUCK
    assert not any(item.completes for item in answer.parts)


def test_a_node_that_becomes_schedulable_has_its_own_room() -> None:
    """Two nodes are cordoned. One has a pod, and the other takes one of the two that wait."""
    items = clusters.cluster(2, 3, 3, is_apart=True)["items"]
    pods = [item for item in items if item["kind"] == "Pod"]
    for item in items[:2]:
        item["spec"] = {"unschedulable": True}
    for pod in (pods[0], pods[2]):
        del pod["spec"]["nodeName"]
        pod["status"] = {"phase": "Pending"}

    answer = _answered(items, steps.Cordon(("n0000",), is_cordoned=False))

    assert summarize(answer, ()).verdict is Verdict.NO_WORSE
    assert not any(item.completes for item in answer.parts)


def test_labels_that_no_pod_has_yet_may_be_avoided() -> None:
    """A rollout to a new label is under way; pods of another Deployment, which also wait, avoid that label."""
    items = clusters.cluster(150, 20, 10, is_apart=True)["items"]
    for item in items:
        if item["kind"] == "Deployment" and item["metadata"]["name"] == "web-0":
            item["spec"]["template"]["metadata"]["labels"] = {"app": "web-0", "color": "blue"}
        elif item["metadata"]["name"].startswith("web-1"):
            spec = item["spec"].get("template", item)["spec"]
            (term,) = spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            term["labelSelector"] = {"matchLabels": {"color": "blue"}}

    assert not _answered(items, steps.Restart(ObjectKey("Deployment", "app", "web-1"))).parts
