"""NodeVolumeLimits, a table of cases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.naive.builders import claim, node, pod, using, volume
from tests.scheduler.plugins.asking import Answer, filtered, FITS, SKIP, U

Plain = dict[str, Any]

FULL = U("node(s) exceed max volume count")
MADE = {
    "kind": "StorageClass",
    "metadata": {"name": "made"},
    "provisioner": "disk",
    "volumeBindingMode": "WaitForFirstConsumer",
}


def bound(name: str, *, driver: str = "disk") -> tuple[Plain, Plain]:
    source = {"csi": {"driver": driver, "volumeHandle": name}}
    return claim(name, volume=f"v-{name}"), volume(f"v-{name}", phase="Bound", **source)


def limited(count: Any, driver: str = "disk") -> Plain:
    drivers = [{"name": driver, "nodeID": "n", **({} if count is None else {"allocatable": {"count": count}})}]
    return {"kind": "CSINode", "metadata": {"name": "n"}, "spec": {"drivers": drivers}}


def running(*claims: str) -> Plain:
    return pod("running", on="n", volumes=using(*claims))


ONE, TWO, FILES = bound("one"), bound("two"), bound("files", driver="nfs")


@pytest.mark.parametrize(
    ("incoming", "objects", "expected"),
    [
        pytest.param(pod("p"), [limited(0)], SKIP, id="no volumes"),
        pytest.param(pod("p", volumes=using("two")), [limited(2), running("one")], FITS, id="one of two is free"),
        pytest.param(pod("p", volumes=using("two")), [limited(1), running("one")], FULL, id="the limit is reached"),
        pytest.param(pod("p", volumes=using("one")), [limited(0)], FULL, id="a limit of 0"),
        pytest.param(pod("p", volumes=using("one")), [limited(None)], FITS, id="a driver without a limit"),
        pytest.param(pod("p", volumes=using("one")), [], FITS, id="a node without a CSINode"),
        pytest.param(
            pod("p", volumes=using("one")), [limited(1), running("one")], FITS, id="it is on the node already"
        ),
        pytest.param(pod("p", volumes=using("files")), [limited(1), running("one")], FITS, id="another driver"),
        pytest.param(
            pod("p", volumes=using("one")), [limited(1, "nfs"), running("files")], FITS, id="another driver's limit"
        ),
        pytest.param(pod("p", volumes=using("one", "two")), [limited(1)], FULL, id="two at once"),
        pytest.param(
            pod("p", volumes=using("new")), [limited(1), running("one")], FULL, id="a volume that is yet to be made"
        ),
        pytest.param(
            pod("p", volumes=using("two")),
            [
                limited(1),
                {
                    "kind": "VolumeAttachment",
                    "metadata": {"name": "x"},
                    "spec": {"attacher": "disk", "nodeName": "n", "source": {"persistentVolumeName": "v-one"}},
                    "status": {"attached": True},
                },
            ],
            FULL,
            id="an attachment without a pod",
        ),
    ],
)
def test_a_node_attaches_as_many_volumes_as_its_driver_allows(
    incoming: Plain, objects: list[Plain], expected: Answer
) -> None:
    """Distinct volumes of a driver count, also those that are only attached."""
    known = [node("n"), MADE, *ONE, *TWO, *FILES, claim("new", storage_class="made")]
    answers = filtered("NodeVolumeLimits", incoming, *known, *objects)

    assert expected == (answers["n"] if isinstance(answers, dict) else answers)
