"""Pods that share a template are read once, and as if each were read by itself."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.objects.reading import decode, read
from kubectl_spread.objects.reading.read import PodReader
from tests.objects.test_decoded_is_read import FUZZ, values

Route = tuple[Any, ...]

OTHERS = st.sampled_from([None, "x", "", 1, 1.0, True, 0, [], {}, ["x"], [None], {"name": "x"}, "2026-01-01T00:00:00Z"])


def routes(value: Any, route: Route = ()) -> Iterator[Route]:
    """Every place in a plain value but its root."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in steps:
        yield (*route, step)
        yield from routes(item, (*route, step))


def changed(plain: Any, route: Route, other: Any) -> Any:
    """A copy with another value in one place."""
    result = copy.deepcopy(plain)
    inner = result
    for step in route[:-1]:
        inner = inner[step]
    inner[route[-1]] = copy.deepcopy(other)
    return result


@pytest.mark.slow
@FUZZ
@given(st.data())
def test_a_pod_is_read_the_same_after_one_that_is_almost_it(data: st.DataObject) -> None:
    """Whatever differs: what is the pod's own, what replicas share, or a value that does not decode."""
    plain = data.draw(values(decode.POD)) or {}
    plain = {"metadata": {}, "spec": {}, "status": {}, **plain}
    reader = PodReader()
    reader.pod(plain)
    places = [("metadata", "name"), *routes(plain)]
    for _ in range(8):
        other = changed(
            {**plain, "metadata": plain["metadata"] or {}}, data.draw(st.sampled_from(places)), data.draw(OTHERS)
        )
        expected = read.pod(other) if decode.decodes(other, decode.POD) else None

        assert repr(expected) == repr(reader.pod(other))  # which tells 1 from 1.0 and True


def replica(at: int, **volume: Any) -> dict[str, Any]:
    """One of a ReplicaSet's pods, as the API server shows it."""
    return {
        "metadata": {
            "name": f"web-{at}",
            "uid": f"{at}",
            "labels": {"app": "web"},
            "annotations": {"ip": f"10.0.0.{at}"},
        },
        "spec": {
            "nodeName": f"n{at}",
            "containers": [{"name": "c", "volumeMounts": [{"name": f"token-{at}"}]}],
            "volumes": [{"name": f"token-{at}", **volume}],
        },
        "status": {
            "phase": "Running",
            "startTime": f"{at}",
            "conditions": [{"type": "Ready", "lastProbeTime": f"{at}"}],
        },
    }


def test_replicas_have_one_class() -> None:
    """Names, nodes, mounts and times are their own."""
    reader = PodReader()
    first, second = reader.pod(replica(1)), reader.pod(replica(2))

    assert first is not None
    assert second is not None
    assert first.cls is second.cls
    assert ["web-1", "web-2", "n1", "n2"] == [first.name, second.name, first.node_name, second.node_name]


@pytest.mark.parametrize(
    ("route", "other"),
    [
        (("metadata", "labels", "app"), "db"),
        (("metadata", "namespace"), "shop"),
        (("spec", "priority"), 1),
        (("spec", "nodeName"), ""),
        (("spec", "containers", 0, "image"), "web"),
    ],
)
def test_what_a_class_is_made_of_is_not_shared(route: Route, other: Any) -> None:
    """A pod that differs in it is read by itself."""
    reader, plain = PodReader(), replica(1)
    plain["status"]["containerStatuses"] = [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]
    first, second = reader.pod(plain), reader.pod(changed(plain, route, other))

    assert first is not None
    assert second is not None
    assert first.cls != second.cls


def test_an_ephemeral_volume_has_a_claim_of_the_pods_own() -> None:
    """It is named for the pod, so that replicas do not share it."""
    reader = PodReader()
    pods = [reader.pod(replica(at, ephemeral={})) for at in (1, 2)]

    assert ["web-1-token-1", "web-2-token-2"] == [pod.cls.volumes[0].claim for pod in pods if pod is not None]


def test_a_pod_nested_too_deep_for_a_key_is_read_by_itself() -> None:
    """The fields of a closed struct are part of the key, however deep what nobody knows in them is."""
    deep: Any = []
    for _ in range(3000):
        deep = [deep]
    plain = {"metadata": {"name": "web"}, "spec": {"resourceClaims": [deep]}}

    assert read.pod(plain) == PodReader().pod(plain)
