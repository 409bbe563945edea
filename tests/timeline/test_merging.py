"""Patches do to an object what the API server does to it."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.kubectl import merging

Plain = dict[str, Any]

ZONE = {"topologyKey": "zone", "maxSkew": 1}
HOST = {"topologyKey": "host", "maxSkew": 1}


@pytest.mark.parametrize(
    ("value", "patch", "after"),
    [
        ({"a": 1, "b": {"c": 2}}, {"b": {"d": 3}}, {"a": 1, "b": {"c": 2, "d": 3}}),
        ({"a": 1, "b": 2}, {"b": None}, {"a": 1}),
        ({"b": {"c": 2}}, {"b": {"$patch": "replace", "d": 3}}, {"b": {"d": 3}}),
        ({"b": {"c": 2}}, {"b": {"$patch": "delete"}}, {"b": {}}),
        ({"args": ["a"]}, {"args": ["b"]}, {"args": ["b"]}),
        (
            {"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]},
            {"containers": [{"name": "b", "image": "2"}, {"name": "c", "image": "1"}]},
            {
                "containers": [
                    {"name": "a", "image": "1"},
                    {"name": "b", "image": "2"},
                    {"name": "c", "image": "1"},
                ]
            },
        ),
        (
            {"topologySpreadConstraints": [ZONE, HOST]},
            {"topologySpreadConstraints": [{"topologyKey": "zone", "$patch": "delete"}]},
            {"topologySpreadConstraints": [HOST]},
        ),
        (
            {"topologySpreadConstraints": [ZONE]},
            {"topologySpreadConstraints": [{"topologyKey": "zone", "maxSkew": 2}], "$setElementOrder/x": []},
            {"topologySpreadConstraints": [{"topologyKey": "zone", "maxSkew": 2}]},
        ),
        (
            {"topologySpreadConstraints": [ZONE]},
            {"topologySpreadConstraints": [{"$patch": "replace"}, HOST]},
            {"topologySpreadConstraints": [HOST]},
        ),
        ({"finalizers": ["a", "b"]}, {"$deleteFromPrimitiveList/finalizers": ["a"]}, {"finalizers": ["b"]}),
        (
            {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}},
            {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}},
            {"strategy": {"type": "Recreate"}},
        ),
    ],
)
def test_a_strategic_merge_patch(value: Plain, patch: Plain, after: Plain) -> None:
    assert merging.strategic(value, patch) == after


def test_a_merge_patch_replaces_lists() -> None:
    """RFC 7386."""
    assert merging.merge({"a": [1, 2], "b": {"c": 1}}, {"a": [3], "b": {"c": None}}) == {"a": [3], "b": {}}


@pytest.mark.parametrize(
    ("operations", "after"),
    [
        ([{"op": "add", "path": "/a/-", "value": 3}], {"a": [1, 2, 3]}),
        ([{"op": "add", "path": "/a/0", "value": 0}], {"a": [0, 1, 2]}),
        ([{"op": "replace", "path": "/a/1", "value": 5}], {"a": [1, 5]}),
        ([{"op": "remove", "path": "/a/0"}], {"a": [2]}),
        ([{"op": "add", "path": "/x~1y", "value": 1}], {"a": [1, 2], "x/y": 1}),
        ([{"op": "test", "path": "/a/0", "value": 1}, {"op": "remove", "path": "/a"}], {}),
        ([{"op": "copy", "from": "/a/0", "path": "/b"}], {"a": [1, 2], "b": 1}),
        ([{"op": "move", "from": "/a", "path": "/c"}], {"c": [1, 2]}),
    ],
)  # fmt: skip
def test_a_json_patch(operations: list[Plain], after: Plain) -> None:
    """RFC 6902; the object that is patched stays as it is."""
    value: Plain = {"a": [1, 2]}

    assert merging.json_patch(value, operations) == after
    assert value == {"a": [1, 2]}


@pytest.mark.parametrize(
    ("operations", "message"),
    [
        ({"op": "add"}, "a JSON patch is a list of operations"),
        ([{"op": "add"}], "an operation has `op` and `path`, and this one has not: {'op': 'add'}"),
        ([{"op": "replace", "path": "/b", "value": 1}], "the path /b does not exist"),
        ([{"op": "remove", "path": "/a/7"}], "the path /a/7 does not exist"),
        ([{"op": "test", "path": "/a/0", "value": 2}], "testing value /a/0 failed"),
        ([{"op": "add", "path": "/b"}], "add operation at /b has no value"),
        ([{"op": "remove", "path": ""}], "the whole object cannot be removed"),
        ([{"op": "jump", "path": "/a"}], "unexpected kind of operation: jump"),
    ],
)
def test_a_patch_that_does_not_fit(operations: Any, message: str) -> None:
    with pytest.raises(merging.PatchError) as raised:
        merging.json_patch({"a": [1, 2]}, operations)

    assert str(raised.value) == message


def test_an_item_without_its_key_is_printed_as_go_prints_it() -> None:
    """The API server's message has the item in the form of Go's %v, with sorted keys."""
    item = {"name": "b", "args": ["x", 1, None], "controller": True}
    with pytest.raises(merging.PatchError) as raised:
        merging.strategic({"ownerReferences": []}, {"ownerReferences": [item]})

    shown = "map[args:[x 1 <nil>] controller:true name:b]"
    assert str(raised.value) == f"map: {shown} does not contain declared merge key: uid"
