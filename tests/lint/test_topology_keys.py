"""Which label a topologyKey is meant to be, and which prefixes are reserved for Kubernetes."""

from __future__ import annotations

import pytest

from kubectl_spread.lint.topology_keys import intended_key, is_unknown

ZONE, REGION, HOSTNAME = "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "kubernetes.io/hostname"

MEANT = {
    ZONE: """zone zones az availability-zone availability_zone kubernetes.io/zone kubernetes.io/zones
        topology.kubernetes.io/zones topology.kubernetes.io/Zone topology.kubernetes.io/az node.kubernetes.io/zone
        topology.kubernetes.io/availability-zone beta.kubernetes.io/zone failure-domain.kubernetes.io/zone
        topology.k8s.io/zone k8s.io/zone topology/zone topology.kubernetes/zone topology.kubernetes.io.zone
        topology.kubernets.io/zone topology.kubernetes.com/zone failure-domain.beta.kubernetes.io/zones""",
    REGION: """region kubernetes.io/region failure-domain.kubernetes.io/region topology.kubernetes.io/regions
        node.kubernetes.io/region topology.kubernetes.io.region""",
    HOSTNAME: """hostname host node nodes node-name nodeName topology.kubernetes.io/hostname kubernetes.io/host
        kubernetes.io/node kubernetes.io/nodename node.kubernetes.io/hostname kubernetes/hostname
        beta.kubernetes.io/hostname kubernetes.io.hostname kubernetes.io/hostnam
        failure-domain.beta.kubernetes.io/hostname""",
    "node.kubernetes.io/instance-type": """node.kubernetes.io/instancetype node.kubernetes.io/instance-types
        beta.kubernetes.io/instancetype""",
}
UNKNOWN = """topology.kubernetes.io/rack kubernetes.io/name kubernetes.io/pool topology.k8s.io/rack storage.k8s.io/tier
    scheduling.kubernetes.io/group"""
LEFT_ALONE = """kubernetes.io/hostname kubernetes.io/os kubernetes.io/arch node.kubernetes.io/instance-type
    beta.kubernetes.io/os
    failure-domain.beta.kubernetes.io/zone node.kubernetes.io/lifecycle node.kubernetes.io/instance-tier
    node-role.kubernetes.io/node team.node-restriction.kubernetes.io/zone feature.node.kubernetes.io/cpu-model.family
    kops.k8s.io/instancegroup minikube.k8s.io/name example.com/zone example.com/host rack topology.gke.io/zone
    topology.ebs.csi.aws.com/zone topology.k8s.aws/zone-id karpenter.sh/capacity-type kubernetes.azure.com/agentpool
    node.cluster.x-k8s.io/zone kubernetes.io topology.kubernetes.io/ zone/"""


@pytest.mark.parametrize(("key", "label"), [(key, label) for label, keys in MEANT.items() for key in keys.split()])
def test_a_misspelt_key_means_the_label_that_it_is_nearest_to(key: str, label: str) -> None:
    """A synonym under a prefix of Kubernetes, or under none, and a slip of the pen."""
    assert label == intended_key(key)


@pytest.mark.parametrize("key", UNKNOWN.split())
def test_a_label_that_kubernetes_does_not_set_is_unknown_under_its_prefixes(key: str) -> None:
    """It is like no label that exists, but the prefix is reserved."""
    assert ("", True) == (intended_key(key), is_unknown(key))


@pytest.mark.parametrize("key", LEFT_ALONE.split())
def test_labels_that_exist_or_are_private_are_left_alone(key: str) -> None:
    """So are those that kubelets, operators of clusters and projects of Kubernetes choose themselves."""
    assert ("", False) == (intended_key(key), is_unknown(key))
