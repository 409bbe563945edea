"""What is suggested in which trouble: the best three, and what must not be among them."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.advice.change import Suggestion
from kubectl_spread.advice.problem import of_pod
from kubectl_spread.advice.search import suggest
from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.explain.explanation import explain
from kubectl_spread.scheduler import profiles as scheduler_profiles
from tests.advice.strategies import owned, REQUIRED
from tests.naive.builders import claim, HOSTNAME, LATE, node, Plain, pod, using, volume, ZONE

CONTROL_PLANE = {"taints": [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]}
DOWN = {"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]}
WINDOWS = {"taints": [{"key": "os", "value": "windows", "effect": "NoSchedule"}]}


def n(name: str, zone: str = "", *, labels: Any = None, **fields: Any) -> Plain:
    own = {HOSTNAME: name, **({ZONE: zone} if zone else {}), **(labels or {})}
    return node(name, labels=own, **fields)


def web(name: str, *, on: str = "", revision: str = "1", labels: Any = None, **fields: Any) -> Plain:
    own = {"app": "web", "pod-template-hash": revision, **(labels or {})}
    return owned(pod(name, on=on, labels=own, **fields), "ReplicaSet", f"web-{revision}")


def hard(key: str = ZONE, **fields: Any) -> Plain:
    selector = {"matchLabels": {"app": "web"}}
    constraint = {"topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector, "maxSkew": 1}
    return {**constraint, **fields}


def spread(*constraints: Plain) -> Plain:
    return {"topologySpreadConstraints": list(constraints)}


def in_zones(*zones: str) -> Plain:
    expression = {"key": ZONE, "operator": "In", "values": list(zones)}
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}}}


def node_type(operator: str, *values: str) -> Plain:
    expression = {"key": "node-type", "operator": operator, "values": list(values)}
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}}}


def zonal(name: str, zone: str) -> list[Plain]:
    """A claim and its volume, in a zone."""
    terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]
    reference = {"namespace": "default", "name": name, "uid": name}
    affinity = {"required": {"nodeSelectorTerms": terms}}
    return [claim(name, volume=name), volume(name, claimRef=reference, phase="Bound", nodeAffinity=affinity)]


def member(number: int, on: str = "") -> Plain:
    item = pod(f"web-{number}", on=on, labels={"app": "web"}, volumes=using(f"data-web-{number}"), **spread(hard()))
    return owned(item, "StatefulSet", "web")


def daemon(name: str, on: str = "") -> Plain:
    pinned = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}]
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": pinned}}}
    constraints = spread(hard(nodeAffinityPolicy="Ignore"))
    return owned(pod(f"d-{name}", on=on, labels={"app": "web"}, affinity=affinity, **constraints), "DaemonSet", "web")


def suggestions(objects: list[Plain], text: str = "", **options: Any) -> list[Suggestion]:
    cluster = cluster_of(objects)
    profiles = scheduler_profiles.profiles(None, scheduler_profiles.LATEST)
    (item, *_) = cluster.pending()
    problem = of_pod(explain(item, cluster, profiles), cluster, profiles)
    assert problem is not None, text
    return list(suggest(problem, **options).items)


def paused(cpu: str) -> list[Plain]:
    """A paused Deployment whose ReplicaSet still has the template of its Pending pod."""
    labels = {"app": "web"}

    def controller(kind: str, name: str, cpu: str, **own: Any) -> Plain:
        container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
        template = {"metadata": {"labels": labels | own}, "spec": {"containers": [container]}}
        spec = {"replicas": 1, "selector": {"matchLabels": labels | own}, "template": template}
        return {"kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec}

    deployment, old = controller("Deployment", "web", cpu), controller("ReplicaSet", "web-1", "9")
    deployment["spec"]["paused"] = True
    old["spec"]["template"]["metadata"]["labels"] = {**labels, "pod-template-hash": "1"}
    return [n("a1"), deployment, owned(old, "Deployment", "web"), web("w", requests={"cpu": "9"})]


TROUBLES: dict[str, tuple[list[Plain], list[str]]] = {
    "a domain is missing, and nodes lack its label": (
        [
            n("a1", "a"),
            n("b1"),
            *(web(name, on=on, **spread(hard(minDomains=2))) for name, on in (("r", "a1"), ("w", ""))),
        ],
        ["label node b1 with topology.kubernetes.io/zone=zone-2"],
    ),
    "no node has a label of the node affinity": (
        [n("a1"), web("w", **node_type("In", "batch", "compute"))],
        ["label node a1 with node-type=batch, as the node affinity requires"],
    ),
    "the selected node is gone": (
        [n("pool-1"), web("w", nodeSelector={HOSTNAME: "pool-2"})],
        ["remove kubernetes.io/hostname: pool-2 from nodeSelector"],
    ),
    "the scheduler evicts a pod for which there is no room": (
        [
            n("a1"),
            owned(pod("low", on="a1", requests={"cpu": "3"}), "ReplicaSet", "low"),
            web("w", requests={"cpu": "3"}, priority=10),
        ],
        ["only wait: preemption evicts low from a1"],
    ),
    "a paused Deployment has a template that fits": (
        paused("1"),
        ["resume the rollout of deployment/web, which is paused"],
    ),
    "a paused Deployment has a template that fits as little": (
        paused("8"),
        ["add a node"],
    ),
    "the zone of a volume has no node": (
        [n("a1", "a"), n("b1", "b"), LATE, *zonal("data-web-2", "c"), member(2)],
        ["add a node to zone c"],
    ),
    "the only nodes of a volume's zone are down": (
        [
            n("a1", "a"),
            n("c1", "c", spec=DOWN),
            LATE,
            *zonal("one", "c"),
            web("w", volumes=using("one")),
        ],
        ["add a node to zone c"],
    ),
    "a misspelt nodeSelector": (
        [n("a1", "a", labels={"disk": "ssd"}), n("b1"), web("w", nodeSelector={"disk": "sdd"})],
        ["write nodeSelector disk: ssd instead of sdd"],
    ),
    "a label that nodes lack": (
        [n("a1", "a"), web("w", nodeSelector={"disk": "ssd"})],
        ["remove disk: ssd from nodeSelector", "label node a1 with disk=ssd, as nodeSelector requires"],
    ),
    "more domains asked for than the affinity allows": (
        [
            n("a1", "a"),
            n("b1", "b"),
            n("c1", "c"),
            web("r1", on="a1"),
            web("r2", on="b1"),
            web("w", **spread(hard(minDomains=3)), **in_zones("a", "b")),
        ],
        ["set minDomains: 2"],
    ),
    "two constraints that count the control plane": (
        [
            n("cp", "c", spec=CONTROL_PLANE),
            n("a1", "a"),
            n("b1", "b"),
            web("r1", on="a1"),
            web("r2", on="b1"),
            web("w", **spread(hard(), hard(HOSTNAME))),
        ],
        ["set nodeTaintsPolicy: Honor in every DoNotSchedule constraint"],
    ),
    "a node that is down": (
        [
            n("a1", "a"),
            n("b1", "b"),
            n("c1", "c", spec=DOWN),
            web("r1", on="a1"),
            web("r2", on="b1"),
            web("w", **spread(hard())),
        ],
        ["set nodeTaintsPolicy: Honor", "delete node c1"],
    ),
    "Windows nodes that are counted": (
        [
            n("l1", labels={"os": "linux"}),
            n("w1", labels={"os": "windows"}, spec=WINDOWS),
            web("r1", on="l1", nodeSelector={"os": "linux"}),
            web("w", nodeSelector={"os": "linux"}, **spread(hard(HOSTNAME, nodeAffinityPolicy="Ignore"))),
        ],
        ["set nodeAffinityPolicy: Honor"],
    ),
    "the pods of a Job are counted": (
        [
            n("a1", "a"),
            n("b1", "b", allocatable={"cpu": "100m"}),
            *(owned(pod(f"j{at}", on="a1", labels={"app": "web", "job-name": "j"}), "Job", "j") for at in range(2)),
            web("r1", on="b1", requests={"cpu": "100m"}),
            web("w", labels={"component": "server"}, requests={"cpu": "100m"}, **spread(hard())),
        ],
        ["add component: server to the selector"],
    ),
    "no node has room": (
        [
            n("a1", "a", allocatable={"cpu": "2"}),
            *(owned(pod(f"o{at}", on="a1", requests={"cpu": "1"}), "StatefulSet", "other") for at in range(2)),
            web("w", requests={"cpu": "1"}),
        ],
        ["add a node with cpu 1"],
    ),
    "the deprecated label has what the new one lacks": (
        [n("a1", labels={"failure-domain.beta.kubernetes.io/zone": "a"}), web("w", **spread(hard()))],
        ["write topologyKey: failure-domain.beta.kubernetes.io/zone", f"label node a1 with {ZONE}=a"],
    ),
    "a DaemonSet with constraints": (
        [n("a1", "a"), n("a2", "a"), n("b1", "b"), daemon("a1", "a1"), daemon("a2")],
        ["remove topologySpreadConstraints"],
    ),
    "affinity to pods that are nowhere": (
        [
            n("a1", "a"),
            web(
                "w",
                affinity={
                    "podAffinity": {
                        REQUIRED: [{"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "cache"}}}]
                    }
                },
            ),
        ],
        ["make the required pod affinity on topology.kubernetes.io/zone a preferred one"],
    ),
    "a rollout without room for one more": (
        [
            n("a1", "a", allocatable={"cpu": "1"}),
            web("r1", on="a1", revision="old", requests={"cpu": "1"}),
            web("w", requests={"cpu": "1"}),
        ],
        ["set maxSurge: 0 and maxUnavailable: 1"],
    ),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_what_helps_is_among_the_best_three(trouble: str) -> None:
    """The change that a colleague would think of first."""
    objects, wanted = TROUBLES[trouble]
    titles = [item.title for item in suggestions(objects)[:3]]

    assert wanted == [title for title in wanted if any(other.startswith(title) for other in titles)], titles


def test_nodes_are_labelled_for_an_affinity_only_where_that_is_enough() -> None:
    """A condition that a label cannot meet, and a taint."""
    refused = {"tolerations": [], **node_type("NotIn", "web")}
    titles = [item.title for item in suggestions([n("a1", labels={"node-type": "web"}), web("w", **refused)], most=50)]
    objects = [n("a1", spec=WINDOWS), web("w", **node_type("In", "web"))]
    titles += [item.title for item in suggestions(objects, most=50)]

    assert titles
    assert not [title for title in titles if title.startswith("label ")]


def test_what_is_risky_comes_last() -> None:
    """Pods on the control plane are offered after everything else that places all pods."""
    objects, _ = TROUBLES["two constraints that count the control plane"]
    titles = [item.title for item in suggestions(objects, most=50) if item.is_of_manifest]

    assert titles[-1].startswith("tolerate the taint node-role.kubernetes.io/control-plane")


def test_nobody_is_evicted_who_finds_no_other_place() -> None:
    """The only node is full, so that deleting a pod there makes another one wait."""
    objects, _ = TROUBLES["no node has room"]

    assert not [item.title for item in suggestions(objects, most=50) if item.title.startswith("delete pod")]


def test_pods_without_a_controller_are_not_deleted() -> None:
    """Nobody would create them again."""
    full = pod("alone", on="a1", requests={"cpu": "1"})
    objects = [n("a1", allocatable={"cpu": "1"}), full, web("w", requests={"cpu": "1"})]

    assert not [item.title for item in suggestions(objects, most=50) if "alone" in item.title]


def test_two_changes_where_one_is_not_enough() -> None:
    """The pod must be beside the cache, whose node lacks the label and has a taint."""
    beside = {
        "podAffinity": {REQUIRED: [{"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "cache"}}}]}
    }
    cache = pod("cache", on="a1", labels={"app": "cache"})
    objects = [n("a1", spec=WINDOWS), cache, web("w", nodeSelector={"disk": "ssd"}, affinity=beside)]
    best, *_ = suggestions(objects)

    assert "tolerate the taint os=windows:NoSchedule, and remove disk: ssd from nodeSelector" == best.title
    assert 1 == len(best.changes) == len(best.commands)


def test_a_misspelt_key_is_corrected_together_with_what_then_keeps_the_pods_pending() -> None:
    """With the right key, the tainted zone is an empty domain; and a soft constraint needs the right key, too."""
    objects = [n("a1", "a"), n("b1", "b"), n("c1", "c", spec=CONTROL_PLANE)]
    objects += [web(f"w{at}", **spread(hard("topology.kubernetes.io/zon"))) for at in range(4)]
    best, second, *_ = suggestions(objects)
    repair = f"write topologyKey: {ZONE} instead of topology.kubernetes.io/zon, which no node has"

    assert f"{repair}, and set nodeTaintsPolicy: Honor" == best.title
    assert f"{repair}, and set whenUnsatisfiable: ScheduleAnyway" == second.title
    assert 4 == best.effect.placed_after == second.effect.placed_after


def test_a_misspelt_key_is_dropped_where_a_soft_constraint_has_the_right_one() -> None:
    objects = [n("a1", "a"), n("b1", "b"), n("c1", "c", spec=CONTROL_PLANE)]
    both = spread(hard("topology.kubernetes.io/zon"), hard(whenUnsatisfiable="ScheduleAnyway"))
    titles = [item.title for item in suggestions([*objects, *(web(f"w{at}", **both) for at in range(4))], most=50)]

    assert (
        f"remove the DoNotSchedule constraint on topology.kubernetes.io/zon; the ScheduleAnyway one on {ZONE} stays"
        in titles
    )


def test_pods_of_a_copy_of_the_cluster_do_not_run() -> None:
    """Changes are tried on copies of the columns, which share the table of labels."""
    cluster = cluster_of([n("a1", "a"), web("w0", on="a1"), web("w1", nodeSelector={"disk": "ssd"})])
    profiles = scheduler_profiles.profiles(None, scheduler_profiles.LATEST)
    problem = of_pod(explain(cluster.pending()[0], cluster, profiles), cluster, profiles)
    assert problem is not None
    other = cluster_of([web("w2", on="a1", revision="2")]).pods[0]
    problem.columns.copy_for_cluster(cluster, frozenset()).bind(other, 0)

    assert [dict(group.labels)["pod-template-hash"] for group in problem.running_groups.values()] == ["1"]


def test_what_does_not_fit_into_the_budget_is_counted() -> None:
    """And nothing is said of it."""
    objects, _ = TROUBLES["a node that is down"]
    cluster = cluster_of(objects)
    profiles = scheduler_profiles.profiles(None, scheduler_profiles.LATEST)
    problem = of_pod(explain(cluster.pending()[0], cluster, profiles), cluster, profiles)
    found = suggest(problem, budget_s=0.003)

    assert (2, True) == (found.tried, found.not_tried > 3)


@pytest.mark.slow
def test_the_same_is_suggested_every_time() -> None:
    """Neither clocks nor hashes have a say."""
    for objects, _ in TROUBLES.values():
        assert suggestions(objects) == suggestions(objects)


def test_a_cluster_without_nodes_wants_one() -> None:
    """There is nothing to be like."""
    titles = [item.title for item in suggestions([web("w", requests={"cpu": "2"}, nodeSelector={"disk": "ssd"})])]

    assert ["add a node with cpu 2 free, labelled disk=ssd"] == titles


def test_what_an_operator_makes_is_left_to_it() -> None:
    """A patch of what it makes would be undone, and where its own object has the template nobody knows."""
    objects = [n("a1", "a", spec=CONTROL_PLANE), owned(pod("w", labels={"app": "web"}), "Database", "main")]
    (edit,) = [item for item in suggestions(objects) if item.is_of_manifest]

    assert () == edit.commands
    assert ("Database main creates the pods: change the pod template in it",) == edit.notes


def test_a_new_node_has_room_for_others_that_may_take_it_first() -> None:
    """The job fits the small node as well, and the scheduler may put it on the new one before the second pod comes."""
    objects = [n("a1"), web("w0", requests={"cpu": "32"}), web("w1", requests={"cpu": "32"})]
    objects.append(pod("job", requests={"cpu": "1"}))
    best, *_ = suggestions(objects)

    assert "add a node with cpu 65 free" == best.title
    assert (2, 0) == (best.effect.placed_after, best.effect.pending_after)
