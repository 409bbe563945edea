"""Objects of Karpenter are read, and what is wrong or missing is a value."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.shapes import SHAPES
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.selectors import ZONE
from kubectl_spread.provisioners import reading, refusals, versions
from kubectl_spread.provisioners.objects import PoolState
from kubectl_spread.provisioners.reading import Gap, GapKind, Options
from kubectl_spread.provisioners.solve import Answer
from kubectl_spread.provisioners.versions import Rule
from tests.karpenter.worlds import instance_type, need, node, pod, pool, spread, TYPES, World

NONE = Cluster(())
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
WHOLE = [
    pool("all", need(ZONE, "a"), limits={"cpu": 4}, weight=3),
    {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": "claim", "labels": {"a": "b"}},
        "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}], "nodeClassRef": {"kind": "EC2NodeClass"}},
        "status": {"providerID": "aws:///1", "capacity": {"cpu": "1"}, "conditions": [{"type": "Ready"}]},
    },
    {"kind": "EC2NodeClass", "metadata": {"name": "default"}, "status": {"subnets": [{"zone": "a"}]}},
    instance_type("small", 2),
]


def places(value: Any, route: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a value."""
    found = [route] if route else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += places(inner, (*route, key))
    return found


def changed(value: Any, route: tuple[Any, ...], new: Any) -> Any:
    """A value with another one at a place."""
    if not route:
        return new
    found = dict(value) if isinstance(value, dict) else list(value)
    found[route[0]] = changed(value[route[0]], route[1:], new)
    return found


@given(st.data())
def test_any_value_anywhere_is_read_or_a_problem(data: st.DataObject) -> None:
    """No input raises, and pods can be solved with what is left."""
    whole = data.draw(st.sampled_from(WHOLE))
    broken = changed(whole, data.draw(st.sampled_from(places(whole))), data.draw(VALUES))
    if "capacity" in broken:
        table = {"*": [broken]}
        assert reading.read([pool()], NONE, table=table).pools
        assert all(reading.instance_types(table)[1])
    else:
        kind = broken.get("kind")
        is_read = isinstance(kind, str) and kind in SHAPES and decode.decodes(broken, SHAPES[kind])
        assert reading.read([pool(), *([broken] if is_read else [])], NONE, table=TYPES).pools


@given(VALUES)
def test_any_value_is_a_table(table: Any) -> None:
    """A table of instance types may be anything."""
    assert reading.read([pool()], NONE, table=table).pools


def test_a_wrong_type_is_told_with_its_path() -> None:
    """The words are those of the API server's decoder."""
    wrong = changed(instance_type("small", 2), ("requirements",), "zone-a")
    _, (problem,) = reading.instance_types({"all": [wrong]})

    assert problem.startswith("all[0]: requirements: ")


def test_v1beta1_names_the_group_of_its_class_otherwise() -> None:
    """`apiVersion` became `group`."""
    old = changed(pool(), ("spec", "template", "spec", "nodeClassRef"), {"apiVersion": "karpenter.k8s.aws/v1beta1"})
    (found,) = reading.read([{**old, "apiVersion": "karpenter.sh/v1beta1"}], NONE).pools

    assert "karpenter.k8s.aws" == found.class_ref.group


def test_a_nodepool_of_another_group_is_not_karpenters() -> None:
    """HyperShift has NodePools, too."""
    assert () == reading.read([{**pool(), "apiVersion": "hypershift.openshift.io/v1beta1"}], NONE).pools


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ({}, PoolState.USED),
        ({"replicas": 2}, PoolState.STATIC),
        ({"labels": {"kubernetes.io/hostname": "x"}}, PoolState.INVALID),
        ({"labels": {"karpenter.sh/team": "x"}}, PoolState.INVALID),
        ({"taints": [{"key": "a b", "effect": "NoSchedule"}]}, PoolState.INVALID),
    ],
)
def test_pools_that_give_no_nodes(change: dict[str, Any], state: PoolState) -> None:
    """Static and invalid pools are told apart."""
    (found,) = World(pool(**change), pod("web-0")).solution.pools

    assert state is found.state


def test_not_ready_and_foreign_pools() -> None:
    """A condition Ready decides over Karpenter's own checks; pools of another provider are not its own."""
    not_ready = {**pool(), "status": {"conditions": [{"type": "Ready", "status": "False", "message": "no class"}]}}
    (found,) = World(not_ready, pod("web-0")).solution.pools
    assert (PoolState.NOT_READY, "no class") == (found.state, found.reason)

    (foreign,) = World(pool(), pod("web-0"), options=Options(provider="karpenter.k8s.aws")).solution.pools
    assert PoolState.OTHER_PROVIDER is foreign.state


def test_order_of_pools() -> None:
    """The heaviest comes first; of equal ones the later name."""
    found = World(pool("a"), pool("b"), pool("c", weight=5), pod("web-0")).solution.pools

    assert ["c", "b", "a"] == [pool.name for pool in found]


def test_without_a_table_a_new_node_depends_on_the_types() -> None:
    """Taints and requirements still decide for certain."""
    answer = World(pool(), pod("web-0"), known=False).answers["web-0"]
    assert Answer.DEPENDS is answer.answer
    assert (Gap(GapKind.INSTANCE_TYPES, "all"),) == answer.gaps

    refused = World(pool(taints=[{"key": "gpu", "effect": "NoSchedule"}]), pod("web-0"), known=False).answers["web-0"]
    assert Answer.NO is refused.answer
    assert ["did not tolerate taint (taint=gpu:NoSchedule)"] == refusals.texts(refused.errors[0])


def test_an_open_pool_may_have_any_zone() -> None:
    """A spread over zones depends on the zones of a pool that names none, unless its class has subnets."""
    web = pod("web-0", topologySpreadConstraints=[spread()])
    anywhere = pool("all", need("kubernetes.io/arch", "amd64"))
    gap = Gap(GapKind.DOMAINS, "all", ZONE)
    assert gap in World(anywhere, web, known=False).answers["web-0"].gaps

    subnets = {"kind": "TestNodeClass", "metadata": {"name": "default"}, "status": {"subnets": [{"zone": "zone-a"}]}}
    assert gap not in World(anywhere, subnets, web, known=False).answers["web-0"].gaps
    assert gap not in World(pool(), web, known=False).answers["web-0"].gaps


def test_running_nodes_are_samples() -> None:
    """A type that runs surely exists; a pod that fits none of them may fit another."""
    labels = {"karpenter.sh/nodepool": "all", "node.kubernetes.io/instance-type": "m5.large"}
    running = node("n", "zone-a", **labels)
    running["spec"] = {"providerID": "aws:///1"}
    full = pod("other-0", on="n", cpu="2")

    small = World(pool(), running, full, pod("web-0"), known=False).answers["web-0"]
    assert Answer.YES is small.answer
    assert ("m5.large",) == small.new[0].types

    large = World(pool(), running, full, pod("web-0", cpu="64"), known=False).answers["web-0"]
    assert Answer.DEPENDS is large.answer
    assert (Gap(GapKind.MORE_TYPES, "all"),) == large.gaps


@pytest.mark.parametrize(
    ("version", "rule", "holds"),
    [
        ("1.8.0", Rule.FILTERS_DOMAINS, False),
        ("v1.8.1", Rule.FILTERS_DOMAINS, True),
        ("1.8.2", Rule.FILTERS_DOMAINS, False),
        ("1.2.9", Rule.POLICIES, False),
        ("1.3", Rule.POLICIES, True),
        ("1.8.5", Rule.VOLUMES_IN_FILTER, True),
        ("1.9.0", Rule.VOLUMES_IN_FILTER, False),
    ],
)
def test_rules_of_releases(version: str, rule: Rule, holds: bool) -> None:
    """Each rule begins and ends with a release."""
    assert holds == (rule in versions.rules(version))


SPREAD, PINNED = {"topologySpreadConstraints": [spread()]}, {"nodeSelector": {ZONE: "zone-a"}}
CLAIM = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}


@pytest.mark.parametrize(
    ("version", "spec", "is_known"),
    [
        ("1.8.1", SPREAD, True),
        ("1.8.1", PINNED, True),
        ("1.8.1", SPREAD | PINNED, False),
        ("1.11.0", SPREAD | PINNED, False),
        ("1.11.1", SPREAD | PINNED, True),
        ("1.6", SPREAD | CLAIM, False),
        ("1.6", CLAIM, True),
        ("1.6", SPREAD, True),
        ("1.0", SPREAD, True),
    ],
)
def test_an_answer_depends_on_rules_that_are_not_simulated_only_where_they_matter(
    version: str, spec: dict[str, Any], is_known: bool
) -> None:
    """1.8.1 and 1.11.0 filter domains by the pod's node affinity; before 1.9 volumes were part of that filter."""
    world = World(pool(), pod("web-0", **spec), options=Options(version=version))
    answer = world.answers["web-0"]

    assert is_known == (Gap(GapKind.RELEASE) not in answer.gaps)
    assert is_known == (Answer.YES is answer.answer)


@pytest.mark.parametrize(("version", "first"), [("1.4.0", "big-0"), ("1.3.0", "web-0")])
def test_a_pod_that_loses_a_preference_keeps_its_turn_since_1_4(version: str, first: str) -> None:
    """Before, it went to the end of the queue with each preference that it lost; here the only node is taken then."""
    term = {"weight": 1, "preference": {"matchExpressions": [need(ZONE, "nowhere")]}}
    preference = {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}}
    table = {"*": [instance_type("small", 2)]}
    big, web = pod("big-0", cpu="1500m", **preference), pod("web-0")
    answers = World(pool(limits={"cpu": "2"}), big, web, table=table, options=Options(version=version)).answers

    assert [first] == [name for name, answer in answers.items() if Answer.YES is answer.answer]
    assert {Answer.YES, Answer.NO} == {answer.answer for answer in answers.values()}


def test_the_release_and_the_settings_are_those_of_the_deployment() -> None:
    """Its image has the release, its environment the settings; labels of its provider need no value in a pool."""
    container = {
        "name": "controller",
        "image": "public.ecr.aws/karpenter/controller:1.8.1@sha256:0",
        "env": [{"name": "PREFERENCE_POLICY", "value": "Ignore"}],
    }
    of_aws = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    cluster = cluster_of(
        [
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "karpenter", "namespace": "kube-system"},
                "spec": {"template": {"spec": {"containers": [container]}}},
            },
            changed(pool(), ("spec", "template", "spec", "nodeClassRef"), of_aws),
        ]
    )
    options = reading.of_cluster(cluster).options

    assert ("1.8.1", True, False) == options[:3]
    assert "karpenter.k8s.aws/instance-family" in options.well_known
    assert "1.13.0" == reading.of_cluster(NONE).options.version


@pytest.mark.parametrize("env", [5, "ab", [3], [{"name": 1}]])
def test_an_environment_that_is_no_list_of_variables_sets_nothing(env: Any) -> None:
    """The API server would refuse it, and a file may still have it; no release has five digits."""
    container = {"name": "controller", "image": "public.ecr.aws/karpenter/controller:20240101.1.1", "env": env}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "karpenter", "namespace": "kube-system"},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }

    assert reading.of_cluster(NONE).options == reading.of_cluster(cluster_of([deployment])).options


def test_what_is_no_release() -> None:
    """Text that names no release is refused."""
    with pytest.raises(ValueError, match="not a release of Karpenter: latest"):
        versions.rules("latest")
