"""Pods of a controller are those that a search through all pods finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.cluster.ownership import pod_named
from kubectl_spread.cluster.ownership import pods_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.objects.pod import Owner
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.pod import PodClass

NAMES = st.sampled_from(["a", "b", "c"])
KINDS = st.sampled_from(["ReplicaSet", "StatefulSet"])
OWNED = st.sampled_from(["ReplicaSet", "StatefulSet", "Deployment"])
KEYS = st.tuples(OWNED, NAMES, NAMES).map(lambda item: OwnerKey(*item))
OWNERS = st.none() | st.tuples(KINDS, NAMES).map(lambda item: Owner("apps/v1", *item))
PODS = st.tuples(NAMES, NAMES, OWNERS).map(lambda item: Pod(item[1], "", PodClass(item[0], owner=item[2])))
CLUSTERS = st.tuples(st.lists(PODS, max_size=8), st.dictionaries(KEYS, KEYS, max_size=4)).map(
    lambda item: Cluster((), tuple(item[0]), owners=item[1])
)


@given(CLUSTERS, KEYS)
def test_pods_of_a_controller_are_found_in_their_order(cluster: Cluster, key: OwnerKey) -> None:
    assert pods_of(key, cluster) == [pod for pod in cluster.pods if key in cluster.owners_of(pod)]


@given(CLUSTERS, NAMES, NAMES)
def test_a_pod_is_found_by_its_name(cluster: Cluster, namespace: str, name: str) -> None:
    every = [pod for pod in cluster.pods if (pod.namespace, pod.name) == (namespace, name)]

    assert pod_named(namespace, name, cluster) == every[:1]
