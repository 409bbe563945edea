"""The suggestions of cases on which the answer was wrong once: what an expert would do first, and what never."""

from __future__ import annotations

import functools
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from kubectl_spread.advice.change import Suggestion
from kubectl_spread.advice.problem import of_pod
from kubectl_spread.advice.search import suggest
from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.explain.explanation import explain
from kubectl_spread.report.explain.suggestions import effect_sentence
from kubectl_spread.scheduler.profiles import profiles

Plain = dict[str, Any]
CASES = Path(__file__).parents[1] / "cases" / "explain"
PROFILES = profiles()
IN_ZONES = "in the constraint on topology.kubernetes.io/zone"

# The title of the first suggestion, and how many running pods it restarts.
FIRST = {
    "P105b": (f"set maxSkew: 2 {IN_ZONES}", 0),
    "P22": ("add kubernetes.io/os: linux to nodeSelector, as only nodes with linux can run these pods", 2),
    "P56-md3": ("wait until node c1 is Ready again; the scheduler then tries again", 0),
    "P67": (f"set maxSkew: 2 {IN_ZONES}", 4),
    "cc": ("add a node to zone c with cpu 100m free", 0),
    "cronjob": ("add a node to zone c with cpu 100m free", 0),
    "job": ("add a node to zone c with cpu 100m free", 0),
    "n1": ("set nodeTaintsPolicy: Honor in the constraint on kubernetes.io/hostname", 2),
    "o02": ("add track: green to the selector of the constraint on topology.kubernetes.io/zone", 2),
    "o04": ("add a node with cpu 1500m free", 2),
    "o05": ("set maxSurge: 0 and maxUnavailable: 1, so that an old pod is deleted before a new one is created", 3),
    "o07": (
        "only wait: preemption evicts batch-abc12-r0 from b1, and this pod takes its place",
        0,
    ),
    "o08": ("correct the label topology.kubernetes.io/zone of node n3: us-east-1b instead of us-east1b", 0),
    "o14": ("wait until node c1 (1 of 2 equal nodes) is Ready again; the scheduler then tries again", 0),
    "o15": ("uncordon nodes nc000, nc001 (2 of 334 equal nodes)", 0),
    "o17": ("lower the cpu request of container c to 200m", 0),
    "o26b": ("create the missing claim nope", 0),
    "o27": ("drop hostPort 80, so that a node takes more than one of these pods", 2),
    "o28": (
        (
            "add nvidia.com/gpu.present: true to nodeSelector, as only such nodes have nvidia.com/gpu, and give b1 "
            "this label, and set maxSurge: 0 and maxUnavailable: 1, so that an old pod is deleted before a new one is "
            "created"
        ),
        1,
    ),
    "o32": (
        "wait for pod web-abc12-old (terminating since 2026-11-22T00:00:00Z) to end on b1: then its place is free",
        0,
    ),
    "o33": ("write nodeSelector disktype: ssd instead of diskType: ssd, which no node has", 0),
    "o45": ("stop pod u on a1, which holds claim c1: one pod at a time may use it", 0),
    "o48": ("wait until node c1 is removed, as the taint says", 0),
    "paused": (f"set nodeTaintsPolicy: Honor {IN_ZONES}", 2),
    "deadlock": (f"set nodeTaintsPolicy: Honor {IN_ZONES}", 1),
    "uneven": (f"set minDomains: 2 {IN_ZONES}, the number of existing domains", 2),
}


def objects(name: str) -> list[Plain]:
    """A copy of the objects of a case."""
    path = next(CASES.glob(f"{name}.*"))
    if path.suffix == ".gz":
        items: list[Plain] = json.loads(gzip.decompress(path.read_bytes()))["items"]
        return items
    found: list[Plain] = YAML(typ="safe").load(path)["items"]
    return found


def suggestions(items: list[Plain], *, most: int = 3) -> tuple[Suggestion, ...]:
    """What is suggested for the first pod that waits."""
    cluster = cluster_of(items)
    waiting = cluster.pending()[0]
    problem = of_pod(explain(waiting, cluster, PROFILES), cluster, PROFILES)
    return () if problem is None else suggest(problem, most=most).items


@functools.cache
def usual(name: str) -> tuple[Suggestion, ...]:
    """The few that are told where nobody asks for more."""
    return suggestions(objects(name))


@functools.cache
def every(name: str) -> tuple[Suggestion, ...]:
    return suggestions(objects(name), most=50)


@pytest.mark.parametrize("name", FIRST)
def test_an_expert_would_do_this_first(name: str) -> None:
    """The first suggestion, and how many running pods it restarts."""
    best = usual(name)[0]

    assert FIRST[name] == (best.title, best.effect.restarts)


@pytest.mark.parametrize("name", FIRST)
def test_nothing_harmful_is_among_the_usual_few(name: str) -> None:
    """No running pod or claim is deleted, nothing is forced or replaced, unless nothing else helps."""
    found = usual(name)
    commands = [command for item in found for command in item.commands]
    running = {item["metadata"]["name"] for item in objects(name) if (item.get("spec") or {}).get("nodeName")}
    harmful = [line for line in commands if "--force" in line or "delete pvc" in line or " scale " in line]
    harmful += [line for line in commands if "delete pod" in line and running & set(line.split())]

    assert len(found) == 1 or not harmful


@pytest.mark.parametrize("name", FIRST)
def test_no_pod_of_the_workload_waits_in_the_end(name: str) -> None:
    """Of no suggestion the note says that pods stay Pending."""
    assert {0} == {item.effect.pending_after for item in usual(name)}
    assert all(item.verified == (name != "P105b") and item.is_complete for item in usual(name))


def test_a_rollout_that_is_not_simulated_is_not_verified() -> None:
    """The facts do not have the StatefulSet, and each of its pods has a claim that no claim template makes."""
    best = usual("P105b")[0]

    assert not best.verified
    assert best.effect.not_followed == (
        "how StatefulSet etcd then replaces its 2 running pods: a change of the template usually restarts all of them",
    )


def test_idle_nodes_are_used_before_a_node_is_bought() -> None:
    """The node of zone c is idle and tainted by a user, so that no new node is needed."""
    found = [(item.title.partition(" in the ")[0], item.effect.restarts) for item in usual("paused")]

    assert found == [
        ("set nodeTaintsPolicy: Honor", 2),
        ("tolerate the taint x=z:NoSchedule", 2),
        ("set maxSkew: 2", 2),
    ]


def test_node_changes_come_before_those_that_restart_pods() -> None:
    """A cordoned node is no idle one: a new node restarts nothing."""
    assert [item.effect.restarts for item in usual("cc")][:1] == [0]


def test_restarts_of_the_rollout_under_way_are_not_those_of_a_new_node() -> None:
    """The old pods are replaced by the rollout that is stuck, whatever lets it go on."""
    added, lowered = usual("o04")

    assert (added.effect.restarts, added.effect.under_way, added.effect.is_new) == (2, 2, False)
    assert (lowered.effect.restarts, lowered.effect.under_way, lowered.effect.is_new) == (2, 2, True)


def test_no_node_is_bought_where_waiting_helps() -> None:
    """The terminating pod gives its place back by itself."""
    assert not [item.title for item in every("o32") if "add a node" in item.title]


def test_the_same_node_in_another_zone_is_told_with_the_first() -> None:
    """A new node helps in zone a and in zone b."""
    added = [item for item in every("o27") if item.title.startswith("add a node")]

    assert [item.title for item in added] == ["add a node to zone a with cpu 100m free"]
    assert "equally good: add a node to zone b with cpu 100m free" in added[0].notes


def test_taints_of_the_system_are_neither_tolerated_nor_removed() -> None:
    """The autoscaler is about to remove the node."""
    titles = [item.title for item in every("o48")]

    assert not [title for title in titles if "tolerate" in title or "remove the taint" in title]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["o14", "o08", "P22"])
def test_no_node_is_added_where_none_belongs(name: str) -> None:
    """The zone is down, its name is misspelt, or its nodes run another operating system."""
    assert not [item.title for item in every(name) if item.title.startswith("add a node to zone")]


@pytest.mark.slow
def test_equal_nodes_are_one_suggestion() -> None:
    """334 cordoned nodes are not proposed one by one."""
    assert 1 == sum(item.title.startswith("uncordon") for item in every("o15"))


def test_a_change_equal_to_what_is_there_is_none() -> None:
    """The Deployment has maxSurge 0 and maxUnavailable 1 already."""
    assert not [item.title for item in every("o04") if "maxSurge" in item.title]


def test_a_skew_that_deadlocks_its_rollout_is_not_suggested() -> None:
    """With maxSkew 2 the second new pod finds no node while the old one runs."""
    assert f"set maxSkew: 2 {IN_ZONES}" not in [item.title for item in every("deadlock")]


def test_a_paused_deployment_is_resumed() -> None:
    """Nothing of a changed template is rolled out otherwise."""
    best = usual("paused")[1]

    assert "kubectl rollout resume deployment/web -n shop" == best.commands[-1]
    assert {"op": "add", "path": "/spec/paused", "value": False} in best.changes[0]["patch"]


def test_a_job_keeps_the_labels_of_its_user() -> None:
    """Only those of its controller are removed, and the pods that die are named."""
    item = next(item for item in every("job") if item.is_of_manifest)

    assert '"batch.kubernetes.io/controller-uid":null' in item.commands[0]
    assert '"path":"/spec/template/metadata/labels"' not in item.commands[0]
    assert "these running pods are deleted and created again: j-1, j-2" in item.notes


def test_a_cron_job_says_what_becomes_of_its_present_job() -> None:
    """Its template is that of the next ones."""
    item = next(item for item in every("cronjob") if item.is_of_manifest)

    assert (
        "kubectl delete job cj-1 -n shop",
        "kubectl create job cj-1 -n shop --from=cronjob/cj",
    ) == item.commands[1:]
    assert "these running pods are deleted and created again: j-1, j-2" in item.notes


@pytest.mark.parametrize(
    ("metadata", "manager"),
    [
        (
            {"annotations": {"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "shop"}},
            ("Helm release", "web", "shop"),
        ),
        (
            {"annotations": {"argocd.argoproj.io/tracking-id": "store:apps/Deployment:shop/web"}},
            ("Argo CD Application", "store", ""),
        ),
        (
            {"labels": {"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux"}},
            ("Flux Kustomization", "apps", "flux"),
        ),
        ({"labels": {"app.kubernetes.io/managed-by": "strimzi"}}, ("strimzi", "", "")),
        ({"labels": {"app.kubernetes.io/managed-by": "kubectl"}}, None),
    ],
)
def test_what_manages_a_workload_is_named(metadata: Plain, manager: tuple[str, str, str] | None) -> None:
    """A change by hand would be undone there."""
    items = objects("P22")
    next(item for item in items if item["kind"] == "Deployment")["metadata"].update(metadata)

    assert manager == suggestions(items)[0].managed_by


@pytest.mark.slow
def test_pods_that_are_yet_to_be_created_need_room_too() -> None:
    """The ReplicaSet has 203 of 400 pods, and a node takes 110 of them."""
    best = usual("o15")[0]

    assert best.title == "uncordon nodes nc000, nc001 (2 of 334 equal nodes)"
    assert (best.effect.placed_before, best.effect.placed_after) == (200, 400)


def test_a_claim_without_a_volume_loses_no_data() -> None:
    """It was never bound; the StorageClass is made anew for it."""
    (best,) = usual("o26c")

    assert best.gives_up == (
        "StorageClass imm is deleted and created again; it then creates volumes only for scheduled pods; "
        "the claims have no volume yet, so no data is lost"
    )


@pytest.mark.parametrize(
    ("name", "title", "where"),
    [
        (
            "o08",
            "correct the label topology.kubernetes.io/zone of node n3: us-east-1b instead of us-east1b",
            "n1 or n2",
        ),
        ("o33", "remove diskType: ssd from nodeSelector", "a1 or b1"),
        ("o45", FIRST["o45"][0], "a1 or a2"),
        ("o48", "wait until node c1 is removed, as the taint says", "a1 or b1"),
    ],
)
def test_the_pod_is_followed_through_all_outcomes(name: str, title: str, where: str) -> None:
    """The answer names each node that the pod itself may get, and no other."""
    chosen = next(item for item in every(name) if item.title == title)

    nodes = effect_sentence(chosen).removeprefix("The pod goes to ").partition(";")[0].rstrip(".")
    assert " or ".join(sorted(nodes.split(" or "))) == where
