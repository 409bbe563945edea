"""Pods of a list's text are what parsing all of it gives, whatever is in them."""

from __future__ import annotations

import json
from typing import Any, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading.read import PodReader
from tests.objects.test_decoded_is_read import FUZZ


def replica(at: int, **spec: Any) -> dict[str, Any]:
    """A pod of a ReplicaSet as an API server writes it."""
    return {
        "metadata": {
            "name": f"web-{at}",
            "namespace": "shop",
            "labels": {"app": "web"},
            "annotations": {"note": '},"spec":{"nodeName":"x"},"status":{}', "managedFields": "["},
            "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:metadata": {}, "f:spec": {".": {}}}}],
        },
        "spec": {
            "volumes": [{"name": f"kube-api-access-{at:05d}", "projected": {"sources": []}}],
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}],
            "nodeName": f"n-{at}",
            **spec,
        },
        "status": {"phase": "Running", "startTime": "2026-11-20T16:10:27Z", "podIP": f"10.0.0.{at}"},
    }


def text_of(pods: list[Any]) -> str:
    return json.dumps({"kind": "PodList", "metadata": {}, "items": pods}, separators=(",", ":"))


def by_text(text: str) -> list[Optional[Pod]]:
    """The pods as a live list is read."""
    reader = PodReader()
    return [reader.pod(item) for item in json.loads(text)["items"]]


def plainly(text: str) -> list[Optional[Pod]]:
    return [PodReader().pod(item) for item in json.loads(text)["items"]]


def test_replicas_share_one_class() -> None:
    text = text_of([replica(at) for at in range(10)])
    found = by_text(text)

    assert plainly(text) == found
    assert len({id(pod.cls) for pod in found if pod is not None}) == 1


ODD: dict[str, list[dict[str, Any]]] = {
    "another request": [replica(1), replica(2, containers=[{"name": "c", "resources": {"requests": {"cpu": "1"}}}])],
    "pending and bound": [replica(1), {**replica(2), "spec": {**replica(1)["spec"], "nodeName": ""}}, replica(3)],
    "other order": [replica(1), dict(reversed(replica(2).items())), replica(3)],
    "no status": [replica(1), {key: replica(2)[key] for key in ("metadata", "spec")}, replica(3)],
    "more after the status": [replica(1), {**replica(2), "zzz": 1}, replica(3)],
    "managedFields are not last": [
        replica(1),
        {**replica(2), "metadata": {"managedFields": [], "name": "x", "labels": {"a": "b"}}},
    ],
    "no managedFields": [replica(1), {**replica(2), "metadata": {"name": "x", "labels": {"a": "b"}}}],
    "escapes": [replica(1, nodeName='a"b'), replica(2, nodeName="a\\"), replica(3, nodeName="é\u2028")],
    "node name twice": [replica(at, x={"nodeName": f"y-{at}"}) for at in range(3)],
    "node name further in": [replica(at, x={"nodeName": f"y-{at}"}, nodeName=None) for at in range(3)],
    "a spec in the spec": [replica(at, x=[{}, {"a": {}, "spec": {"b": at}, "status": {}}]) for at in range(3)],
    "a spec in the metadata": [
        {**replica(at), "metadata": {"name": f"p{at}", "x": {"y": {}, "spec": {"nodeName": "z"}, "status": {}}}}
        for at in range(3)
    ],
    "ephemeral volumes": [
        replica(at, volumes=[{"name": f"kube-api-access-{at:05d}", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}])
        for at in range(3)
    ],
    "what does not decode": [replica(1), {**replica(2), "metadata": {"name": 7}}, replica(3, priority="x")],
    "nulls": [replica(1), {"metadata": None, "spec": None, "status": None}, {}, replica(2)],
}


@pytest.mark.parametrize("pods", ODD.values(), ids=ODD)
def test_odd_pods_are_read_as_parsing_them_does(pods: list[dict[str, Any]]) -> None:
    text = text_of(pods)

    assert repr(plainly(text)) == repr(by_text(text))


SNIPPETS = st.sampled_from(
    ['},"spec":{', '},"status":{', '"managedFields":[', '"nodeName":"', "\\", '"', "]", "a", "{"]
)
STRINGS = st.lists(SNIPPETS, max_size=4).map("".join)
LEAVES = st.one_of(STRINGS, st.none(), st.booleans(), st.integers(0, 3))
KEYS = st.one_of(
    st.sampled_from(["spec", "status", "metadata", "nodeName", "managedFields", "labels", "name"]), STRINGS
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
METADATA = st.fixed_dictionaries(
    {"name": STRINGS},
    optional={"labels": st.dictionaries(STRINGS, STRINGS, max_size=2), "managedFields": st.just([{}])},
)
SPECS = st.dictionaries(KEYS, VALUES, max_size=3) | st.just({"nodeName": "n", "priority": 1})
PODS = st.fixed_dictionaries({"metadata": METADATA, "spec": SPECS, "status": st.dictionaries(KEYS, VALUES, max_size=2)})


@pytest.mark.slow
@FUZZ
@given(st.lists(PODS, min_size=1, max_size=3).map(lambda pods: [*pods, *pods]))
def test_any_pods_are_read_as_parsing_them_does(pods: list[dict[str, Any]]) -> None:
    text = text_of(pods)

    assert repr(plainly(text)) == repr(by_text(text))
