"""Redaction leaves no string that it does not know, and recorded decisions of the scheduler are the same without names.

A configuration that names a label's value (`addedAffinity`) is left out: it stands beside a snapshot, not in it.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from kubectl_spread.cluster import shapes
from kubectl_spread.cluster.redact import redact_objects
from kubectl_spread.cluster.shapes import fields_of, prune_object
from kubectl_spread.objects.reading import decode
from tests.conformance.replay import decisions
from tests.conftest import RECORDINGS

Case = dict[str, Any]

EACH = 25  # of the recordings, one in so many
FAMILIES = ("defaults", "filter", "mixed", "odd", "preempt", "score", "subtle", "v1.34", "volumes")


def recorded(family: str) -> Iterator[Case]:
    with gzip.open(RECORDINGS / f"{family}.ndjson.gz", "rt") as lines:
        for number, line in enumerate(lines):
            if number % EACH == 0 and "addedAffinity" not in line:
                yield json.loads(line)


def pruned(case: Case) -> list[Case]:
    return [
        found for plain in (*case["objects"], *case["incoming"]) if (found := prune_object({"kind": "Pod", **plain}))
    ]


def names_of(objects: list[Case]) -> list[str]:
    return [plain["metadata"]["name"] for plain in objects if plain["kind"] == "Node"]


def replayed(case: Case, objects: list[Case], *, nodes: dict[str, str]) -> list[Case]:
    """Each decision, nodes by their number in the order of their names."""
    size = len(case["objects"])
    expected = [{**each, "placed": nodes[each["placed"]]} if "placed" in each else each for each in case["expected"]]
    order = {name: number for number, name in enumerate(sorted(nodes.values()))}
    found = decisions({**case, "objects": objects[:size], "incoming": objects[size:], "expected": expected})
    return [_numbered(decided, order) for _, _, decided in found]


def _numbered(decided: Case, order: dict[str, int]) -> Case:
    return {
        "feasible": sorted(order[name] for name in decided["feasible"]),
        "rejected": {
            order[name]: (each["plugin"], each["code"], len(each["reasons"]))
            for name, each in decided.get("rejected", {}).items()
        },
        "scores": {order[name]: scores for name, scores in decided.get("scores", {}).items()},
        "nominated": order.get(decided.get("nominated", "")),
        "refused at once": "preFilter" in decided,
    }


SECRET = "acme.example/secret-project"
# Strings that stay by design: keys, resources, kinds, API groups, drivers and schedulers (docs/snapshot.md).
KEPT = {
    "CSINodeDriver.name",
    "CSIPersistentVolumeSource.driver",
    "CrossVersionObjectReference.apiVersion",
    "CrossVersionObjectReference.kind",
    "DeviceClassSpec.extendedResourceName",
    "LabelSelectorRequirement.key",
    "NodeClassReference.apiVersion",
    "NodeClassReference.group",
    "NodeClassReference.kind",
    "NodeSelectorRequirement.key",
    "NodeSelectorRequirementWithMinValues.key",
    "NodeStatus.declaredFeatures",
    "NodeSystemInfo.kubeletVersion",
    "ObjectMeta.name of CSIDriver",
    "ObjectReference.kind",
    "OwnerReference.apiVersion",
    "OwnerReference.kind",
    "PodAffinityTerm.matchLabelKeys",
    "PodAffinityTerm.mismatchLabelKeys",
    "PodAffinityTerm.topologyKey",
    "PodSpec.schedulerName",
    "StorageClass.provisioner",
    "Taint.key",
    "Toleration.key",
    "TopologySelectorLabelRequirement.key",
    "TopologySpreadConstraint.matchLabelKeys",
    "TopologySpreadConstraint.topologyKey",
}


def filled(shape: decode.Shape, place: str, secrets: list[str]) -> Any:
    """A value of a type with a secret in each of its strings; `secrets` notes the place of each."""
    if isinstance(shape, decode.Struct):
        return {name: filled(inner, f"{shape.name}.{name}", secrets) for name, inner in fields_of(shape).items()}
    if isinstance(shape, decode.ListOf):
        return [filled(shape.item, place, secrets)]
    if isinstance(shape, decode.MapOf):
        return {"acme.example/key": filled(shape.value, place, secrets)}
    if shape in (decode.Atom.STRING, decode.Atom.ANY):
        secrets.append(place)
        text = f"{SECRET}-{len(secrets) - 1}-"
        return text if shape is decode.Atom.STRING else {text: [text]}
    return None


def left(kind: str) -> tuple[int, set[str]]:
    """The number of strings in an object with everything that its kind can have, and those that stay."""
    secrets: list[str] = []
    plain = {"kind": kind, **filled(shapes.SHAPES[kind], kind, secrets)}
    (found,) = redact_objects([plain])
    text = json.dumps(found)
    return len(secrets), {place for at, place in enumerate(secrets) if f"{SECRET}-{at}-" in text}


def test_every_string_of_every_kind_is_replaced_unless_it_stays_by_design() -> None:
    """The walk finds a new field by itself."""
    walked, stays = 0, set()
    for kind in shapes.SHAPES:
        count, found = left(kind)
        walked += count
        stays |= {f"{place} of {kind}" if place == "ObjectMeta.name" else place for place in found}

    assert stays == KEPT
    assert walked > 3000


def test_a_new_field_is_replaced_until_it_has_a_role(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its name and type."""
    names = ("type", "key", "kind", "name", "status", "driver", "operator", "values", "schedulerName", "startTime")
    new = decode.Struct(
        "NodeCondition",
        {
            **dict.fromkeys(names, decode.Atom.STRING),
            "any": decode.Atom.ANY,
            "texts": decode.ListOf(decode.Atom.STRING),
            "map": decode.MapOf(decode.Atom.STRING),
            "maps": decode.MapOf(decode.Struct("Inner", {"type": decode.Atom.STRING})),
        },
    )
    status = shapes.SHAPES["Node"].fields["status"]
    status = status._replace(fields={**status.fields, "conditions": decode.ListOf(new)})
    monkeypatch.setitem(shapes.SHAPES, "Node", decode.NODE._replace(fields={**decode.NODE.fields, "status": status}))
    condition = filled(new, "", [])
    (found,) = redact_objects([{"kind": "Node", "status": {"conditions": [condition]}}])

    assert SECRET in json.dumps(condition)
    assert "acme.example" not in json.dumps(found)


@pytest.mark.parametrize(
    ("field", "value"),
    [("unhealthyPodEvictionPolicy", "AlwaysAllow"), ("maxUnavailable", "50%"), ("minAvailable", 2)],
)
def test_settings_of_a_budget_stay(field: str, value: Any) -> None:
    """They decide what a drain evicts."""
    (found,) = redact_objects([{"kind": "PodDisruptionBudget", "spec": {field: value}}])

    assert value == found["spec"][field]


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_decisions_do_not_depend_on_names(family: str) -> None:
    seen = 0
    for case in recorded(family):
        objects = pruned(case)
        names = names_of(case["objects"])
        without = list(redact_objects(objects))
        as_they_are = replayed(case, [*case["objects"], *case["incoming"]], nodes=dict(zip(names, names, strict=True)))

        assert as_they_are == replayed(case, objects, nodes=dict(zip(names, names, strict=True)))
        assert as_they_are == replayed(case, without, nodes=dict(zip(names, names_of(without), strict=True)))
        seen += 1
    assert seen
