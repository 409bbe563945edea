"""The loop that places pods: ties, refusals, and pods that get another turn."""

from __future__ import annotations

from typing import Any

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.engine.placing import Binding, place_in_turn, PlacedPods, Placer, seeded_pick, Unschedulable
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading import read
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.profiles import profiles
from tests.explain.test_replicas import node

ZONE = "topology.kubernetes.io/zone"
PROFILES = profiles()


def placer(*nodes: dict[str, Any], **options: Any) -> Placer:
    cluster = cluster_of(nodes)
    release = next(iter(PROFILES.values()))
    return Placer(cluster, Scheduler(Columns(cluster), PROFILES), release, **options)


def pod(name: str, *, cpu: str = "1", **spec: Any) -> Pod:
    container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": cpu}}}
    metadata = {"name": name, "namespace": "shop", "labels": {"app": "web"}}
    return read.pod({"metadata": metadata, "spec": {"containers": [container], **spec}})


def nodes_of(placed: PlacedPods) -> dict[str, str]:
    return {key: item.node_name for key, item in placed.bound.items()}


def test_equal_nodes_are_a_tie() -> None:
    """The first by name is picked without a seed."""
    binding = placer(node("a1", "16", "a"), node("b1", "16", "b")).place(pod("web-1"))

    assert isinstance(binding, Binding)
    assert (binding.pod.node_name, binding.fitting, binding.hosts) == ("a1", 2, 2)


def test_a_seed_picks_the_same_nodes_each_time() -> None:
    pods = [pod(f"web-{at}") for at in range(4)]
    runs = [
        nodes_of(place_in_turn(pods, placer(*(node(f"a{at}", "16", "a") for at in range(8)), pick=seeded_pick(7))))
        for _ in range(2)
    ]

    assert runs[0] == runs[1]
    assert set(runs[0].values()) != {"a0"}


def test_a_bound_pod_has_the_zone_of_its_node() -> None:
    found = placer(node("a1", "16", "a")).place(pod("web-1"))

    assert isinstance(found, Binding)
    assert "a" == dict(found.pod.cls.labels)[ZONE]


def test_pods_of_one_class_share_a_refusal_until_something_changes() -> None:
    found = placer(node("a1", "16", "a"))
    first, second = (found.place(pod(f"web-{at}", cpu="64")) for at in range(2))

    assert isinstance(first, Unschedulable)
    assert second is first

    found.place(pod("small", cpu="100m"))

    assert found.place(pod("web-2", cpu="64")) is not first


def test_refused_pods_are_tried_again_after_a_binding() -> None:
    """A pod with affinity to another pod finds its node once that one is bound."""
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": ZONE}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    follower = pod("follower", affinity=affinity)
    follower = follower._replace(cls=follower.cls._replace(labels=(("app", "follower"),)))

    placed = place_in_turn([follower, pod("web-1")], placer(node("a1", "16", "a")))

    assert (["shop/web-1", "shop/follower"], ()) == (list(placed.bound), placed.refused)


def test_a_needed_pod_that_is_refused_ends_the_run() -> None:
    needed, other = pod("needed", cpu="64"), pod("other")

    placed = place_in_turn([needed, other], placer(node("a1", "16", "a")), needed=needed.key)

    assert ({}, (needed,)) == (nodes_of(placed), placed.refused)


def test_a_pod_that_names_its_node_is_bound_there() -> None:
    """On a node that does not exist it is refused."""
    there, nowhere = pod("there", nodeName="b1"), pod("nowhere", nodeName="c1")

    placed = place_in_turn([there, nowhere], placer(node("a1", "16", "a"), node("b1", "16", "b")))

    assert ({"shop/there": "b1"}, (nowhere,)) == (nodes_of(placed), placed.refused)
