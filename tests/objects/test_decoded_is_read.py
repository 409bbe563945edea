"""Whatever decodes can be read: the readers look for nothing that the decoder lets be absent, null or odd."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st

from kubectl_spread.cluster.build import ClusterBuilder
from kubectl_spread.cluster.shapes import SHAPES
from kubectl_spread.objects.reading import decode, read
from kubectl_spread.objects.workloads import replica
from kubectl_spread.objects.workloads.workload import workload

pytestmark = pytest.mark.slow

TEXTS = st.sampled_from(["", "a", "In", "Gt", "Always", "5", "x/y", "DoNotSchedule", "n1", "é\x00", "9" * 30])
ATOMS: dict[decode.Atom, st.SearchStrategy[Any]] = {
    decode.Atom.STRING: TEXTS,
    decode.Atom.BOOL: st.booleans(),
    decode.Atom.INT32: st.sampled_from([0, 1, -1, 2**31 - 1, -(2**31), 1.0]),
    decode.Atom.PODS: st.sampled_from([0, 1, -1, 100_000, -(2**31), 1.0]),
    decode.Atom.INT64: st.sampled_from([0, 300, 2**63 - 1, -(2**63), 5.0]),
    decode.Atom.INT_OR_STRING: st.sampled_from([0, 3, -1, "25%", "", "x"]),
    decode.Atom.QUANTITY: st.sampled_from(["1", "1.5Gi", "-1", "+", 2, 0.5, "1e30", "100m"]),
    decode.Atom.ANY: st.sampled_from([1, "x", {}, [None]]),
}


def values(shape: decode.Shape) -> st.SearchStrategy[Any]:
    """Values that decode into a Go type, nulls among them."""
    if isinstance(shape, decode.Atom):
        return st.none() | ATOMS[shape]
    if isinstance(shape, decode.ListOf):
        return st.none() | st.lists(values(shape.item), max_size=2)
    if isinstance(shape, decode.MapOf):
        return st.none() | st.dictionaries(TEXTS | st.just("cpu"), values(shape.value), max_size=2)
    fields = {name: values(field) for name, field in shape.fields.items()}
    return st.none() | st.fixed_dictionaries({}, optional=fields)


FUZZ = settings(
    deadline=None, max_examples=150, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


@FUZZ
@given(values(decode.POD))
def test_a_pod_that_decodes_is_read(plain: Any) -> None:
    """With nulls anywhere, and every field absent or there."""
    assert [] == decode.problems(plain, decode.POD)
    hash(read.pod(plain or {}).cls)


@FUZZ
@given(values(decode.NODE))
def test_a_node_that_decodes_is_read(plain: Any) -> None:
    """With nulls anywhere, and every field absent or there."""
    assert [] == decode.problems(plain, decode.NODE)
    read.node(plain or {})


@pytest.mark.parametrize("kind", ["Pod", "Deployment", "StatefulSet", "Job"])
@settings(FUZZ, max_examples=20)
@given(template=values(decode.POD_TEMPLATE_SPEC))
def test_a_template_that_decodes_has_a_replica(kind: str, template: Any) -> None:
    """Of every kind that makes replicas, and as a daemon."""
    plain = (template or {}) if kind == "Pod" else {"spec": {"template": template}}
    owner = workload({"metadata": {"name": "web"}, **plain} if kind != "Pod" else plain, kind)
    replica.replica(owner, 0)
    replica.daemon(owner._replace(kind="DaemonSet"), "n1")


@pytest.mark.parametrize("kind", sorted(SHAPES))
@settings(FUZZ, max_examples=20)
@given(data=st.data())
def test_an_object_that_decodes_is_a_part_of_the_cluster(kind: str, data: st.DataObject) -> None:
    """Of every kind that a snapshot may hold."""
    plain = data.draw(values(SHAPES[kind])) or {}
    assembler = ClusterBuilder()
    assembler.add({**plain, "kind": kind})
    assembler.cluster()
