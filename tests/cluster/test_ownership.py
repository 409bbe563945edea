"""The workload of a pod is the object that a user edits; its pods are those that a search through all pods finds."""

from __future__ import annotations

from typing import Any, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.ownership import OwnedPods, workload_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Owner, Pod, PodClass

NAMES = st.sampled_from(["a", "b", "c"])
KINDS = st.sampled_from(["ReplicaSet", "StatefulSet"])
OWNED = st.sampled_from(["ReplicaSet", "StatefulSet", "Deployment"])
KEYS = st.tuples(OWNED, NAMES, NAMES).map(lambda item: ObjectKey(*item))
OWNERS = st.none() | st.tuples(KINDS, NAMES).map(lambda item: Owner("apps/v1", *item))
PODS = st.tuples(NAMES, NAMES, OWNERS).map(lambda item: Pod(item[1], "", PodClass(item[0], owner=item[2])))
CLUSTERS = st.tuples(st.lists(PODS, max_size=8), st.dictionaries(KEYS, KEYS, max_size=4)).map(
    lambda item: Cluster((), tuple(item[0]), owners=item[1])
)


def above(pod: Pod, cluster: Cluster) -> list[ObjectKey]:
    """Every controller above a pod, slowly."""
    found = list(cluster.owners_of(pod)[:1])
    while found and cluster.owners.get(found[-1]) not in (None, *found):
        found.append(cluster.owners[found[-1]])
    return found


@pytest.mark.slow
@given(CLUSTERS, KEYS)
def test_pods_of_a_controller_are_found_in_their_order(cluster: Cluster, key: ObjectKey) -> None:
    assert OwnedPods(cluster).of(key) == [pod for pod in cluster.pods if key in above(pod, cluster)]


@given(CLUSTERS, NAMES, NAMES)
def test_a_pod_is_found_by_its_name(cluster: Cluster, namespace: str, name: str) -> None:
    every = [pod for pod in cluster.pods if (pod.namespace, pod.name) == (namespace, name)]

    assert OwnedPods(cluster).pods_named(namespace, name) == every[:1]


Plain = dict[str, Any]
HASHED = {"pod-template-hash": "5d4f"}
KNATIVE = {**HASHED, "serving.knative.dev/service": "web"}


def owned(kind: str, name: str, owner: Optional[str] = None, labels: Optional[Plain] = None) -> Plain:
    """An object of the namespace `shop` with a controller, given as `Kind name`."""
    metadata: Plain = {"name": name, "namespace": "shop", "labels": labels or {}}
    if owner is not None:
        above_kind, above_name = owner.split()
        metadata["ownerReferences"] = [{"kind": above_kind, "name": above_name, "controller": True}]
    return {"kind": kind, "metadata": metadata, "spec": {"template": {}} if kind != "Pod" else {}}


@pytest.mark.parametrize(
    ("objects", "owner", "labels", "workload"),
    [
        ([("ReplicaSet", "web-5d4f", "Deployment web")], "ReplicaSet web-5d4f", HASHED, "Deployment web"),
        ([("Job", "nightly-1", "CronJob nightly")], "Job nightly-1", {}, "CronJob nightly"),
        ([("ReplicaSet", "web-5d4f", "Rollout web")], "ReplicaSet web-5d4f", {}, "Rollout web"),
        (
            [("ReplicaSet", "web-1-5d4f", "Deployment web-1"), ("Deployment", "web-1", "Revision web-1")],
            "ReplicaSet web-1-5d4f",
            KNATIVE,
            "Service web",
        ),
        ([], "ReplicaSet web-1-5d4f", KNATIVE, "Service web"),
        ([("ReplicaSet", "web-5d4f", None)], "ReplicaSet web-5d4f", HASHED, "ReplicaSet web-5d4f"),
        ([], "ReplicaSet web-5d4f", HASHED, "Deployment web"),
        ([], "ReplicaSet web-5d4f", {}, "ReplicaSet web-5d4f"),
        ([("StatefulSet", "db", "Prometheus db")], "StatefulSet db", {}, "StatefulSet db"),
        ([], "StrimziPodSet kafka", {}, "StrimziPodSet kafka"),
        ([], "ReplicationController web-3", {"deploymentconfig": "web"}, "DeploymentConfig web"),
        ([], "StatefulSet web-0", {"leaderworkerset.sigs.k8s.io/name": "web"}, "LeaderWorkerSet web"),
        ([], "StatefulSet web", {"deploymentconfig": "other"}, "StatefulSet web"),
        ([], None, KNATIVE, "Pod web-1"),
    ],
    ids=[
        "Deployment",
        "CronJob",
        "Argo Rollout",
        "Knative",
        "Knative without its Deployment",
        "orphan ReplicaSet",
        "Deployment without its ReplicaSet",
        "ReplicaSet without a hash",
        "StatefulSet of an operator",
        "unknown kind",
        "DeploymentConfig",
        "LeaderWorkerSet",
        "label of a kind that does not use it",
        "bare pod",
    ],
)
def test_a_pod_belongs_to_the_object_that_a_user_edits(
    objects: list[tuple[str, str, Optional[str]]], owner: Optional[str], labels: Plain, workload: str
) -> None:
    """The facts have the objects given, and a pod."""
    cluster = cluster_of([*(owned(*item) for item in objects), owned("Pod", "web-1", owner, labels)])
    (pod,) = cluster.pods

    found = workload_of(pod, cluster)

    assert (f"{found.kind} {found.name}", found.namespace) == (workload, "shop")
    if owner is not None:
        assert OwnedPods(cluster).of(found) == [pod]


def test_controllers_that_own_each_other_end_the_search() -> None:
    """Neither reference counts."""
    objects = [owned("StatefulSet", "a", "StatefulSet b"), owned("StatefulSet", "b", "StatefulSet a")]
    cluster = cluster_of([*objects, owned("Pod", "a-0", "StatefulSet a")])

    assert workload_of(cluster.pods[0], cluster) == ObjectKey("StatefulSet", "shop", "a")
