"""Made-up clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.errors import RequestError, SourceError
from kubectl_spread.objects.node import Taint
from kubectl_spread.sources import topology

ZONE = "topology.kubernetes.io/zone"
HEAD = "apiVersion: kubectl-spread/v1\nkind: Topology\n"
GIB = 2**30


def in_file(tmp_path: Path, body: str, *, head: str = HEAD) -> Any:
    path = tmp_path / "topology.yaml"
    path.write_text(head + body, encoding="utf-8")
    return topology.load(str(path))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("zones=2", [("node-a1", "a"), ("node-b1", "b")]),
        ("zones=2,nodes=2", [("node-a1", "a"), ("node-a2", "a"), ("node-b1", "b"), ("node-b2", "b")]),
        (" nodes=2 , zones=1 ", [("node-a1", "a"), ("node-a2", "a")]),
        ("nodes=2", [("node-1", None), ("node-2", None)]),
        ("cpu=4", [("node-1", None)]),
    ],
)
def test_a_specification_gives_each_zone_its_nodes(spec: str, expected: list[Any]) -> None:
    """Zones are called a, b, c; without any, nodes have no zone label."""
    assert expected == [(node.name, node.labels.get(ZONE)) for node in topology.load(spec).nodes]


def test_a_node_has_what_a_kubelet_and_a_cloud_give_it() -> None:
    """Its labels, 16 CPUs, 64 GiB and 110 pod slots unless told otherwise."""
    (node,) = topology.load("zones=1").nodes

    assert {
        "kubernetes.io/hostname": "node-a1",
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        ZONE: "a",
    } == node.labels
    assert {"cpu": 16_000, "memory": 64 * GIB, "pods": 110} == node.allocatable


def test_a_specification_sets_the_size_of_a_node() -> None:
    """In quantities."""
    (node,) = topology.load("cpu=3.5,memory=1.5Gi,pods=7").nodes

    assert {"cpu": 3500, "memory": 3 * GIB // 2, "pods": 7} == node.allocatable


def test_names_of_many_nodes_sort_as_they_are_numbered() -> None:
    """Numbers have leading zeros."""
    expected = [f"node-{zone}{number:02}" for zone in "ab" for number in range(1, 11)]

    assert expected == [node.name for node in topology.load("zones=2,nodes=10").nodes]


def test_more_zones_than_letters_have_numbers() -> None:
    """And no two nodes one name."""
    nodes = topology.load("zones=27,nodes=10").nodes

    assert 270 == len({node.name for node in nodes})
    assert {f"z{number}" for number in range(1, 28)} == {node.labels[ZONE] for node in nodes}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("zones=0", "`zones` is not a number from 1 to 15,000: 0"),
        ("zones=-1", "`zones` is not a number from 1 to 15,000: -1"),
        ("zones=x", "`zones` is not a number from 1 to 15,000: x"),
        ("zones=", "`zones` is not a number from 1 to 15,000: empty"),
        ("zones=٣", "`zones` is not a number from 1 to 15,000: ٣"),
        ("nodes=15001", "`nodes` is not a number from 1 to 15,000: 15001"),
        ("nodes=" + "9" * 5000, "`nodes` is not a number from 1 to 15,000: " + "9" * 39 + "…"),
        ("zones=3,zones=4", "`zones` is given twice"),
        ("memory=-1Gi", "`memory` is less than 0: -1Gi"),
        ("cpu=1x", ("`cpu` is not a quantity: 1x: quantities must match the regular expression "
         "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'; write 4 or 500m")),
        ("memory=1K", "`memory` is not a quantity: 1K: unable to parse quantity's suffix; write 16Gi"),
        ("zone=3", ("unknown key `zone`; it takes zones, nodes, cpu, memory, pods, as in "
         "zones=3,nodes=2,cpu=4,memory=16Gi")),
        ("zones=3,", ("unknown key ``; it takes zones, nodes, cpu, memory, pods, as in "
         "zones=3,nodes=2,cpu=4,memory=16Gi")),
    ],
)  # fmt: skip
def test_a_wrong_specification_says_what_is_wrong(spec: str, expected: str) -> None:
    """And what would be right."""
    with pytest.raises(RequestError) as caught:
        topology.load(spec)

    assert f"--topology: {expected}" == str(caught.value)


@pytest.mark.parametrize("spec", ["none.yaml", "none", "a=b.yaml"])
def test_what_looks_like_a_file_must_be_one(spec: str) -> None:
    """An extension, or no `=`, makes it a path."""
    with pytest.raises(SourceError) as caught:
        topology.load(spec)

    assert f"{spec}: the path does not exist" == str(caught.value)


def test_a_file_describes_groups_of_nodes_and_the_pods_on_them(tmp_path: Path) -> None:
    """Names, zones, labels, taints, cordons and what already runs."""
    cluster = in_file(
        tmp_path,
        """\
nodeGroups:
- {zones: [e, f], nodes: 1, cpu: 2, memory: 4Gi, labels: {pool: big}, taints: ["gpu=a:NoSchedule", "old:NoExecute"]}
- {name: spare, unschedulable: true, resources: {example.com/gpu: 2}}
- {names: [lone], unschedulable: true, cordonTaint: false}
pods:
- {node: lone, labels: {app: web}, requests: {cpu: 500m}}
- {node: lone, name: db, namespace: shop, count: 2, terminating: true}
""",
    )
    gpu, old = Taint("gpu", "a", "NoSchedule"), Taint("old", "", "NoExecute")
    cordon = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")

    assert [
        ("lone", None, (), True),
        ("node-e1", "e", (gpu, old), False),
        ("node-f1", "f", (gpu, old), False),
        ("spare-1", None, (cordon,), True),
    ] == [(node.name, node.labels.get(ZONE), node.taints, node.unschedulable) for node in cluster.nodes]
    assert {"cpu": 16_000, "memory": 64 * GIB, "pods": 110, "example.com/gpu": 2} == cluster.nodes[3].allocatable
    assert [
        ("default/running-0-0", "lone", False, (("app", "web"),), (("cpu", 500),)),
        ("shop/db-1-0", "lone", True, (), ()),
        ("shop/db-1-1", "lone", True, (), ()),
    ] == [(pod.key, pod.node_name, pod.terminating, pod.cls.labels, pod.cls.requests) for pod in cluster.pods]
    assert {"default", "shop"} == set(cluster.namespaces)


def test_a_namespace_has_the_label_that_the_api_server_gives_it(tmp_path: Path) -> None:
    """The default namespace, and every one that a pod names; a namespaceSelector may ask for it."""
    cluster = in_file(tmp_path, "nodeGroups: [{}]\npods: [{node: node-1, namespace: shop}]\n")

    assert {
        "default": {"kubernetes.io/metadata.name": "default"},
        "shop": {"kubernetes.io/metadata.name": "shop"},
    } == cluster.namespaces


NO_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("nodeGroups: [", ":3:14: not YAML: did not find expected node content while parsing a flow node"),
        ("nodeGroups:\n- {nodes: two}\n", ":4:11: nodeGroups[0].nodes: must be a whole number, not text: two"),
        ("nodeGroups:\n- {cpu: 1x}\n", f":4:9: nodeGroups[0].cpu: 1x: {NO_QUANTITY}"),
        ("nodeGroups:\n- {cpu: -1}\n", ":4:9: nodeGroups[0].cpu: less than 0: -1"),
        (
            "nodeGroups:\n- {names: [a, b, c], zones: 2}\n",
            ":4:11: nodeGroups[0].names: 3 names cannot be divided evenly over 2 zones",
        ),
        (
            "nodeGroups:\n- {}\n- {}\n",
            ":5:3: nodeGroups[1]: a second node is named `node-1`; give the group another name",
        ),
        ("nodeGroups:\n- {}\npods:\n- {node: x}\n", ":6:10: pods[0].node: no node group creates a node named `x`"),
        (
            "nodeGroups:\n- {}\npods:\n- {node: node-1, requests: {cpu: x}}\n",
            f":6:34: pods[0].requests.cpu: x: {NO_QUANTITY}",
        ),
        ("nodeGroups:\n- {nodes: 15000, zones: 2}\n", ": 30,000 nodes are more than 15,000"),
        ("nodeGroups:\n- {nodes: 15000, zones: 15000}\n", ": 225,000,000 nodes are more than 15,000"),
        ("nodeGroups:\n- {}\n---\nmore: 1\n", ":6:1: a topology must be one YAML document, this has 2"),
    ],
)
def test_a_wrong_file_has_the_place_of_what_is_wrong(tmp_path: Path, body: str, expected: str) -> None:
    """Its line and column, where it is one value."""
    with pytest.raises(SourceError) as caught:
        in_file(tmp_path, body)

    assert f"{tmp_path / 'topology.yaml'}{expected}" == str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{HEAD}nodeGroups: []\n", ":3:13: nodeGroups: the list is empty"),
        (
            f"{HEAD}nodeGroups:\n- {{zones: 0}}\n",
            ":4:11: nodeGroups[0].zones: must be a number from 1 to 15,000, or a list of different names of zones",
        ),
        (f"{HEAD}nodeGroups:\n- {{zoness: 3}}\n", ":4:4: nodeGroups[0]: unknown key `zoness`: did you mean `zones`?"),
        (f"{HEAD}nodeGroups:\n- {{nodes: 0}}\n", ":4:11: nodeGroups[0].nodes: must be at least 1, not 0"),
        (f"{HEAD}nodeGroups:\n- {{nodes: 15001}}\n", ":4:11: nodeGroups[0].nodes: must be at most 15,000, not 15001"),
        (f"{HEAD}nodeGroups:\n- {{name: ''}}\n", ":4:10: nodeGroups[0].name: the text is empty"),
        (f"{HEAD}nodeGroups:\n- {{names: [x, x]}}\n", ":4:11: nodeGroups[0].names: `x` is in the list twice"),
        (
            f"{HEAD}nodeGroups:\n- {{taints: ['']}}\n",
            ":4:13: nodeGroups[0].taints[0]: not a taint, such as key=value:NoSchedule: empty",
        ),
        (
            f"{HEAD}nodeGroups:\n- {{taints: [x]}}\n",
            ":4:13: nodeGroups[0].taints[0]: `x` is not a taint, such as key=value:NoSchedule",
        ),
        (f"{HEAD}nodeGroups:\n- {{labels: }}\n", ":4:12: nodeGroups[0].labels: must be a mapping, but is empty"),
        (
            f"{HEAD}nodeGroups:\n- {{unschedulable: [x]}}\n",
            ":4:19: nodeGroups[0].unschedulable: must be true or false, not a list",
        ),
        (f"{HEAD}nodeGroups: [{{}}]\npods: [{{}}]\n", ":4:8: pods[0]: `node` is missing: Name of the pod's node"),
        ("", ": the file is empty"),
        ("# nothing\n", ": the file is empty"),
        ("[]\n", ":1:1: must be a mapping, not a list"),
        ("kind: Topology\n", ":1:1: `apiVersion` is missing: kubectl-spread/v1"),
    ],
)
def test_what_the_schema_refuses_has_a_place(tmp_path: Path, text: str, expected: str) -> None:
    """The words are ours, as in the other files that users write."""
    with pytest.raises(SourceError) as caught:
        in_file(tmp_path, "", head=text)

    assert str(caught.value) == f"{tmp_path / 'topology.yaml'}{expected}"


def test_all_errors_of_a_file_are_reported(tmp_path: Path) -> None:
    """In the order of their places."""
    with pytest.raises(SourceError) as caught:
        in_file(tmp_path, "nodeGroups:\n- {cpus: 3, nodes: 0}\npods: 3\n")

    assert [(error.line, error.column, error.message) for error in (caught.value, *caught.value.others)] == [
        (4, 4, "nodeGroups[0]: unknown key `cpus`: did you mean `cpu`?"),
        (4, 20, "nodeGroups[0].nodes: must be at least 1, not 0"),
        (5, 7, "pods: must be a list, not a number: 3"),
    ]


def test_domains_make_a_node_for_each_combination() -> None:
    """Values that are given twice count once; a node has no label but these."""
    made = topology.from_domains({ZONE: ["b", "a", "a"], "rack": ["r1", "r2"]})

    assert ["a,r1", "a,r2", "b,r1", "b,r2"] == [node.name for node in made.nodes]
    assert {ZONE: "a", "rack": "r2"} == made.nodes[1].labels


@pytest.mark.parametrize("values", [{}, {ZONE: []}])
def test_no_domains_make_no_node(values: Any) -> None:
    assert () == topology.from_domains(values).nodes


def test_too_many_combinations_are_refused() -> None:
    with pytest.raises(SourceError, match="160,000 combinations are more than 15,000"):
        topology.from_domains({key: [str(at) for at in range(400)] for key in ("a", "b")})
