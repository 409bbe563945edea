"""Cluster facts from what kubectl printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.errors import SourceError
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.sources import snapshot

QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def node(name: str, **allocatable: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": allocatable}}


def pod(name: str, namespace: str = "shop") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}}


OBJECTS = [
    node("n2", cpu="4"),
    node("n1", cpu="2"),
    pod("web"),
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "a"}}},
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": ["whatever"]},
]


def load(tmp_path: Path, text: str, name: str = "facts.yaml") -> snapshot.SnapshotFacts:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return snapshot.load(str(path))


def dumped(*objects: Any, separator: str = "\n") -> str:
    return separator.join(json.dumps(item, indent=2) for item in objects)


WRITTEN = {
    "list": dumped({"apiVersion": "v1", "kind": "List", "items": OBJECTS}),
    "list of lists": dumped({"kind": "List", "items": [{"kind": "List", "items": OBJECTS[:2]}, *OBJECTS[2:]]}),
    "lists of their kind": dumped(
        {"kind": "NodeList", "items": [{**item, "kind": "Node"} for item in OBJECTS[:2]]},
        {"kind": "PodList", "items": [{key: value for key, value in OBJECTS[2].items() if key != "kind"}]},
        {"kind": "NamespaceList", "items": [OBJECTS[3]]},
    ),
    "YAML stream": dumped(*OBJECTS, separator="\n---\n"),
    "YAML with comments": "# facts\n" + dumped(*OBJECTS, separator="\n--- # next\n"),
    "concatenated JSON": dumped(*OBJECTS, separator=""),
    "JSON lines": "\n".join(map(json.dumps, OBJECTS)) + "\n",
    "snapshot": dumped({"apiVersion": "kubectl-spread/v1", "kind": "Snapshot", "items": OBJECTS}),
    "nulls between": dumped({"kind": "List", "items": [None, *OBJECTS, {}, []]}),
}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_however_it_is_written_it_is_one_cluster(tmp_path: Path, text: str) -> None:
    """Lists, streams and JSON; nodes come in the order of their names."""
    cluster, errors, *_ = load(tmp_path, text)

    assert [("n1", 2000), ("n2", 4000)] == [(item.name, item.allocatable["cpu"]) for item in cluster.nodes]
    assert ["shop/web"] == [item.key for item in cluster.pods]
    assert {"shop": {"team": "a"}} == cluster.namespaces
    assert () == errors


def test_a_directory_is_read_with_all_below_it(tmp_path: Path) -> None:
    """Each file gives its part, and what is not a manifest is left alone."""
    (tmp_path / "pods").mkdir()
    (tmp_path / "nodes.json").write_text(dumped(*OBJECTS[:2]))
    (tmp_path / "pods" / "shop.yaml").write_text(dumped(*OBJECTS[2:], separator="\n---\n"))
    (tmp_path / "notes.txt").write_text("not: [yaml")
    cluster, errors, *_ = snapshot.load(str(tmp_path))

    assert (["n1", "n2"], ["shop/web"], ()) == (
        [item.name for item in cluster.nodes],
        [item.key for item in cluster.pods],
        errors,
    )


def test_of_two_objects_with_one_name_the_later_counts(tmp_path: Path) -> None:
    """As when the same is fetched twice."""
    cluster, *_ = load(tmp_path, dumped(node("n1", cpu="1"), node("n1", cpu="2"), pod("a"), pod("a"), pod("a", "b")))

    assert [2000] == [item.allocatable["cpu"] for item in cluster.nodes]
    assert ["shop/a", "b/a"] == [item.key for item in cluster.pods]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            ("kind: Node\nmetadata: {name: n1}\n---\nkind: Node\nmetadata: {name: bad}\nstatus:\n  allocatable:\n"
            "    cpu: 1x\n    memory: 1Gi\n"),
            [f"8:10: Node bad is left out: status.allocatable.cpu: {QUANTITY}"],
        ),
        (
            ("kind: List\nitems:\n- kind: Node\n  metadata: {name: n1}\n- kind: Pod\n  metadata: {name: p}\n  spec:\n"
            "    containers:\n    - resources: {requests: {cpu: 1x, memory: x}}\n"),
            [
                f"9:35: Pod p is left out: spec.containers[0].resources.requests.cpu: {QUANTITY}",
                f"9:47: Pod p is left out: spec.containers[0].resources.requests.memory: {QUANTITY}",
            ],
        ),
        (
            ('{"kind": "Node", "metadata": {"name": "n1"}}\n---\n'
            '{"kind": "Pod", "metadata": {"name": "p", "labels": {"app": 7}}}\n'),
            [
                ("3:61: Pod p is left out: metadata.labels.app: json: cannot unmarshal number into Go struct field "
                "ObjectMeta.metadata.labels of type string")
            ],
        ),
        (
            ('{"kind": "List", "items": [{"kind": "Node", "metadata": {"name": "n1"}},\n'
            ' {"kind": "Pod", "metadata": "p"}]}'),
            [
                ("2:30: Pod ? is left out: metadata: json: cannot unmarshal string into Go struct field Pod.metadata "
                "of type v1.ObjectMeta")
            ],
        ),
        (
            "kind: Node\nmetadata: {name: n1}\n---\nkind: ReplicaSet\nmetadata: {name: r, ownerReferences: x}\n",
            [
                ("5:38: ReplicaSet r is left out: metadata.ownerReferences: json: cannot unmarshal string into Go "
                "struct field ObjectMeta.metadata.ownerReferences of type []v1.OwnerReference")
            ],
        ),
        (
            "kind: Node\nmetadata: {name: n1}\n---\na: [\n---\nb: }\n",
            [
                "5:1: not YAML: did not find expected node content while parsing a flow node",
                "6:4: not YAML: did not find expected node content while parsing a block node",
            ],
        ),
    ],
)  # fmt: skip
def test_what_does_not_decode_is_left_out_and_told(tmp_path: Path, text: str, expected: list[str]) -> None:
    """With its file, line and column; the node n1 is there all the same."""
    cluster, errors, *_ = load(tmp_path, text)

    assert ["n1"] == [item.name for item in cluster.nodes]
    assert [f"{tmp_path / 'facts.yaml'}:{message}" for message in expected] == [str(error) for error in errors]
    assert () == cluster.pods


@pytest.mark.parametrize("text", ["# nothing\n", "{}", "[]", "a: 1\n", "null\n", dumped(pod("a")), "kind: [Node]\n"])
def test_facts_without_a_node_are_an_error(tmp_path: Path, text: str) -> None:
    """Nothing can be placed on no node; the message says how to get some."""
    with pytest.raises(SourceError) as caught:
        load(tmp_path, text)

    assert (
        f"{tmp_path / 'facts.yaml'}: no Node in it, so nothing can be placed; "
        "save the output of `kubectl get nodes,namespaces,pods,replicasets -A -o yaml`"
    ) == str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: [", ":1:5: not YAML: did not find expected node content while parsing a flow node"),
        ("[" * 100_000, ":1:257: not YAML: nested deeper than 256 levels"),
        ('{"a":' * 100_000, ":1:1281: not YAML: nested deeper than 256 levels"),
    ],
)
def test_the_one_error_of_facts_without_a_node_is_the_reason(tmp_path: Path, text: str, expected: str) -> None:
    """Rather than that there is no node."""
    with pytest.raises(SourceError) as caught:
        load(tmp_path, text)

    assert f"{tmp_path / 'facts.yaml'}{expected}" == str(caught.value)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    """By its name."""
    with pytest.raises(SourceError) as caught:
        snapshot.load(str(tmp_path / "none"))

    assert f"{tmp_path / 'none'}: the path does not exist" == str(caught.value)


def test_owners_lead_from_what_is_controlled_to_its_controller(tmp_path: Path) -> None:
    """ReplicaSet to Deployment and Job to CronJob; an owner that does not control is none."""

    def owned(kind: str, name: str, by: str, *, controller: Any) -> dict[str, Any]:
        reference = {"kind": by, "name": f"{name}-owner", "controller": controller}
        return {"kind": kind, "metadata": {"name": name, "namespace": "shop", "ownerReferences": [None, reference]}}

    cluster, errors, *_ = load(
        tmp_path,
        dumped(
            node("n1"),
            owned("ReplicaSet", "rs", "Deployment", controller=True),
            owned("Job", "job", "CronJob", controller=True),
            owned("ReplicaSet", "free", "Thing", controller=None),
        ),
    )

    assert {
        ObjectKey("ReplicaSet", "shop", "rs"): ObjectKey("Deployment", "shop", "rs-owner"),
        ObjectKey("Job", "shop", "job"): ObjectKey("CronJob", "shop", "job-owner"),
    } == cluster.owners
    assert () == errors


def test_storage_objects_are_told_apart_by_all_of_their_name(tmp_path: Path) -> None:
    """Capacities of two namespaces are two; volumes come in the order of their names."""
    capacities = [
        {"kind": "CSIStorageCapacity", "metadata": {"name": "c", "namespace": namespace}, "storageClassName": namespace}
        for namespace in ("a", "b")
    ]
    volumes = [{"kind": "PersistentVolume", "metadata": {"name": name}} for name in ("pv2", "pv1")]
    cluster, *_ = load(tmp_path, dumped(node("n1"), *capacities, *volumes))

    assert ["a", "b"] == [capacity.storage_class for capacity in cluster.storage.capacities]
    assert ["pv1", "pv2"] == list(cluster.storage.volumes)


def test_lists_within_lists_are_no_matter_how_deep(tmp_path: Path) -> None:
    """JSON may nest deeper than Python calls; here as deep as its parser goes."""
    text = '{"kind":"List","items":[' * 200 + json.dumps(node("n1")) + "]}" * 200
    cluster, errors, *_ = load(tmp_path, text)

    assert (["n1"], ()) == ([item.name for item in cluster.nodes], errors)


def test_a_number_too_long_for_python_is_no_quantity(tmp_path: Path) -> None:
    """It is refused like any other, and nothing fails."""
    text = '{"kind":"Node","metadata":{"name":"n1"}}\n---\n{"kind":"Node","status":{"allocatable":{"cpu":%s}}}'
    _, (error,), *_ = load(tmp_path, text % ("9" * 5000))

    assert (
        f"{tmp_path / 'facts.yaml'}:3:47: Node ? is left out: status.allocatable.cpu: "
        "unable to parse numeric part of quantity"
    ) == str(error)


def test_nodes_that_do_not_decode_are_why_there_is_none(tmp_path: Path) -> None:
    """Also where other objects do not decode, too."""
    text = '{"kind":"PersistentVolume","status":5}\n---\n{"kind":"Node","metadata":{"name":false}}'
    with pytest.raises(SourceError) as caught:
        load(tmp_path, text)

    assert (
        f"{tmp_path / 'facts.yaml'}:3:35: Node False is left out: metadata.name: "
        "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.name of type string"
    ) == str(caught.value)


def test_half_a_surrogate_pair_becomes_the_replacement_character(tmp_path: Path) -> None:
    """As in Go; a whole pair is one character."""
    text = '{"kind":"Node","metadata":{"name":"n\\ud800","labels":{"a":"\\ud83d\\ude00"}}}'
    cluster, *_ = load(tmp_path, text)

    assert [("n\ufffd", {"a": "😀"})] == [(item.name, item.labels) for item in cluster.nodes]


def test_several_paths_make_one_cluster(tmp_path: Path) -> None:
    """In the order given: of two objects with one name the later counts."""
    for name, text in (
        ("nodes.yaml", dumped(node("n1", cpu="1"))),
        ("more.yaml", dumped(node("n1", cpu="2"), pod("a"))),
    ):
        (tmp_path / name).write_text(text)
    cluster, *_ = snapshot.load(str(tmp_path / "nodes.yaml"), str(tmp_path / "more.yaml"))

    assert ([2000], ["a"]) == (
        [item.allocatable["cpu"] for item in cluster.nodes],
        [item.name for item in cluster.pods],
    )


def test_what_only_one_object_can_have_is_a_warning_if_several_have_it(tmp_path: Path) -> None:
    """A node that is there twice is none, unless it has other labels; nor are pods without a uid."""
    other = node("n1")
    other["metadata"] |= {"labels": {"zone": "b"}}
    first, second = pod("a"), pod("a", "b")
    for item in (first, second):
        item["metadata"] |= {"uid": "u"}

    assert load(tmp_path, dumped(node("n1"), node("n1"), first, first, pod("c"), pod("d"))).warnings == ()
    (warning,) = load(tmp_path, dumped(node("n1"), other, first, second)).warnings
    assert warning.endswith(
        "facts.yaml: different objects have the name n1, uid u, so the answer may be about the wrong one"
    )


@pytest.mark.parametrize(
    ("metadata", "expected"), [({"continue": "abc"}, 1), ({"continue": ""}, 0), ({}, 0), (None, 0)]
)
def test_a_list_that_goes_on_elsewhere_is_a_warning(
    tmp_path: Path, metadata: dict[str, str] | None, expected: int
) -> None:
    """The pods that are not here would take room."""
    text = json.dumps({"kind": "NodeList", "metadata": metadata, "items": [node("n1")]})
    facts = load(tmp_path, text)

    assert expected == len(facts.warnings)
    assert all("facts.yaml: the NodeList is not complete" in warning for warning in facts.warnings)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("facts.json", '{"kind": "List",\n "items": [1, 2}', "2:16: not JSON: expecting ',' delimiter"),
        ("facts.json", '{"kind": "List"', "1:16: not JSON: expecting ',' delimiter"),
        ("facts.json", '{"kind": yes, "items": [}', "1:10: not JSON: expecting value"),
        ("facts.yaml", '{"kind": "List",\n "items": [1, 2}', "2:16: not JSON: expecting ',' delimiter"),
        ("facts.yaml", '{"kind": yes, "items": [}', "1:25: not YAML: did not find expected node content"),
    ],
)
def test_broken_json_is_called_so(tmp_path: Path, name: str, text: str, expected: str) -> None:
    """In a file that is not called JSON, unless a bare word says that it is YAML."""
    with pytest.raises(SourceError) as raised:
        load(tmp_path, text, name)

    assert str(raised.value).partition(f"{name}:")[2].startswith(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"kind": "NodeList", "items": {}}', "1:31: items of the NodeList: not a list"),
        ('{"kind": "Snapshot", "items": "x"}', "1:31: items of the Snapshot: not a list"),
        ('{"kind": "List", "items": [1]}', "1:28: items[0]: not an object with a kind"),
        ('{"kind": "List", "items": [[], {"kind": 7}]}', "1:32: items[1]: not an object with a kind"),
        ('{"kind": "List", "items": [{"metadata": {}}]}', "1:28: items[0]: not an object with a kind"),
        ('{"items": [1]}', "1:11: items: the list has no kind"),
        ('{"kind": "NodeList", "items": ["n"]}', "1:32: items[0]: not an object with a kind"),
    ],
)
def test_items_that_are_no_objects_are_told(text: str, expected: str, tmp_path: Path) -> None:
    """With other facts that are read the cluster is incomplete, not empty."""
    (tmp_path / "nodes.json").write_text(dumped(node("n1")), encoding="utf-8")
    (tmp_path / "facts.json").write_text(text, encoding="utf-8")
    facts = snapshot.load(str(tmp_path))

    assert [f"{tmp_path / 'facts.json'}:{expected}"] == list(map(str, facts.errors))
    assert ObjectKey("", "default", "") in facts.cluster.undecodable


@pytest.mark.parametrize("kind", ["List", "ConfigMap", None])
def test_the_kind_of_a_list_may_come_after_its_items(tmp_path: Path, kind: str) -> None:
    """As kubectl prints it; the items of what is not a list are none of the cluster's."""
    cluster, *_ = load(tmp_path, dumped(node("n1")) + dumped({"items": [pod("web")], "kind": kind}))

    assert (["shop/web"] if kind == "List" else []) == [item.key for item in cluster.pods]


def test_a_service_of_knative_selects_nothing(tmp_path: Path) -> None:
    """Nor does it take the place of the core's of its name."""
    objects = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}},
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}}},
        {"apiVersion": "serving.knative.dev/v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {}},
    ]
    (tmp_path / "facts.yaml").write_text(json.dumps({"kind": "List", "items": objects}))
    (service,) = snapshot.load(str(tmp_path / "facts.yaml")).cluster.services

    assert {"app": "web"} == service.selector
