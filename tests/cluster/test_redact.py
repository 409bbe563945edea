"""Recorded decisions of the scheduler are the same without names.

A configuration that names a label's value (`addedAffinity`) is left out: it stands beside a snapshot, not in it.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from kubectl_spread.cluster.sharing.prune import prune_object
from kubectl_spread.cluster.sharing.redact import redact_objects
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
