"""VolumeZone, a table of cases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.naive.builders import claim, node, pod, using, volume, ZONE
from tests.scheduler.plugins.asking import filtered, FITS, SKIP, UU

OLD_ZONE, REGION = "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/region"
NO_ZONE = UU("node(s) had no available volume zone")
NODES = {
    "a": {ZONE: "A", REGION: "R"},
    "b": {ZONE: "B", REGION: "R"},
    "old": {OLD_ZONE: "A"},
    "bare": {"kubernetes.io/os": "linux"},
}


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        pytest.param({}, None, id="a volume without labels: nothing to filter"),
        # A node with none of the labels is not looked at.
        pytest.param({ZONE: "A"}, ["a", "bare"], id="zone A"),
        pytest.param({ZONE: "A__B"}, ["a", "b", "bare"], id="two zones in one value"),
        pytest.param({OLD_ZONE: "A"}, ["a", "old", "bare"], id="the old label falls back to the new one"),
        pytest.param({REGION: "R"}, ["a", "b", "bare"], id="a region"),
        pytest.param({ZONE: "A", REGION: "S"}, ["bare"], id="the zone is right, the region is not"),
        pytest.param({"rack": "7"}, None, id="another label"),
    ],
)
def test_labels_of_a_bound_volume_choose_zones(labels: dict[str, str], expected: Any) -> None:
    """The values of a node must be among those of the volume, for every zone and region label."""
    objects = [node(name, labels=found) for name, found in NODES.items()]
    bound = (claim("c", volume="v"), volume("v", phase="Bound", labels=labels))
    answers = filtered("VolumeZone", pod("p", volumes=using("c")), *objects, *bound)

    assert answers == (SKIP if expected is None else {name: FITS if name in expected else NO_ZONE for name in NODES})


@pytest.mark.parametrize(
    ("incoming", "expected"),
    [
        pytest.param(pod("p"), SKIP, id="no volumes"),
        pytest.param(pod("p", volumes=using("late")), SKIP, id="a claim that is not bound yet"),
        pytest.param(pod("p", volumes=using("c")), UU('persistentvolume "gone" not found'), id="a missing volume"),
    ],
)
def test_other_claims(incoming: Any, expected: Any) -> None:
    """Only bound claims are looked at; a volume that is missing refuses all nodes."""
    late = {"kind": "StorageClass", "metadata": {"name": "late"}, "volumeBindingMode": "WaitForFirstConsumer"}
    objects = [node("n", labels={ZONE: "A"}), late, claim("late"), claim("c", volume="gone")]

    assert expected == filtered("VolumeZone", incoming, *objects)
