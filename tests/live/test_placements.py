"""What a real control plane (1.36.2) placed, and what `check` predicts for the same manifests and cluster.

`recordings/placements.ndjson.gz` has one scenario a line: `id`, `namespace`, `manifests`, `snapshot` (the cluster
before), `real` (pods of each workload that were placed, Pending and gated once nothing moved) and `pendingMessages`.
"""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run

Plain = dict[str, Any]

RECORDINGS = Path(__file__).parent / "recordings" / "placements.ndjson.gz"

# Where the prediction differs, and what the output says of it (docs/limits.md, "Recorded placements that differ").
DIFFERENT: dict[str, str] = {
    "A30_quota": "note: the cluster facts hold no LimitRange and no ResourceQuota objects, so none is applied",
    "A31_limitrange": "note: the cluster facts hold no LimitRange and no ResourceQuota objects, so none is applied",
    "B17_overhead_runtimeclass": "the pods use the runtime class kata, which is not in the cluster facts",
    "B30_dra": "because of resource claims, which this program does not evaluate",
}
# The message is of a later moment, or of a pod of another workload, that the manifests do not have.
OTHER_MESSAGES = {"B04_rollout_fromfile", "D08_gated_count_and_release"}


def _scenarios() -> Iterator[Plain]:
    with gzip.open(RECORDINGS, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


SCENARIOS = {scenario["id"]: scenario for scenario in _scenarios()}


def predicted(scenario: Plain, folder: Path, capsys: pytest.CaptureFixture[str], *flags: str) -> str:
    """What `check` prints for a scenario."""
    manifests, snapshot = folder / "manifests.yaml", folder / "snapshot.json"
    manifests.write_text(scenario["manifests"], encoding="utf-8")
    snapshot.write_text(json.dumps(scenario["snapshot"]), encoding="utf-8")
    args = ["check", str(manifests), "--snapshot", str(snapshot), "-n", scenario["namespace"], "--ignore", "SPR"]
    run([*args, *flags])
    told = capsys.readouterr()
    return told.out if flags else told.out + told.err


def counts(document: Plain) -> list[Plain]:
    """The counts of each workload, as the recordings have them."""
    return [
        {
            "kind": item["object"]["kind"],
            "name": item["object"]["name"],
            "placed": item["placed"],
            "pending": len(item["pending"]),
            "gated": len(item["gated"]),
        }
        for item in document["placements"]
    ]


def messages(document: Plain) -> set[str]:
    """The messages of Pending pods, those included that take the place of evicted ones."""
    again = [pod["createdAgain"] for item in document["placements"] for pod in item["evicted"]]
    return {
        *(pod["message"] for item in document["placements"] for pod in item["pending"]),
        *(item["message"] for item in again if item is not None),
    }


@pytest.mark.parametrize("name", sorted(set(SCENARIOS) - set(DIFFERENT)))
def test_prediction_is_what_the_control_plane_did(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As many pods of each workload are placed, Pending and gated, and the messages are equal to the character."""
    scenario = SCENARIOS[name]
    document = json.loads(predicted(scenario, tmp_path, capsys, "-o", "json"))

    def key(item: Plain) -> tuple[str, str]:
        return item["kind"], item["name"]

    assert sorted(scenario["real"], key=key) == sorted(counts(document), key=key)
    if name not in OTHER_MESSAGES:
        assert set(scenario["pendingMessages"].values()) <= messages(document)


@pytest.mark.parametrize("name", sorted(DIFFERENT))
def test_difference_is_told(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the prediction cannot be that of the control plane, the output says what it does not know."""
    assert DIFFERENT[name] in predicted(SCENARIOS[name], tmp_path, capsys)


@pytest.mark.parametrize("name", ["A30_quota", "A31_limitrange"])
def test_report_names_the_kinds_that_the_snapshot_lacks(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(predicted(SCENARIOS[name], tmp_path, capsys, "-o", "json"))

    assert ["LimitRange", "ResourceQuota"] == document["notApplied"]


# The objects that the snapshots of these scenarios lack, by what the recordings show of them.
ADDED: dict[str, list[Plain]] = {
    "A30_quota": [{"kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"pods": "3"}}}],
    "A31_limitrange": [
        {
            "kind": "LimitRange",
            "metadata": {"name": "l"},
            "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "1"}}]},
        }
    ],
    "B17_overhead_runtimeclass": [
        {
            "kind": "RuntimeClass",
            "metadata": {"name": "kata"},
            "handler": "kata",
            "overhead": {"podFixed": {"cpu": "900m"}},
            "scheduling": {"nodeSelector": {"kata": "y"}},
        }
    ],
}


@pytest.mark.parametrize("name", sorted(ADDED))
def test_prediction_agrees_once_the_snapshot_holds_what_admission_looks_at(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A quota of 3 pods, a default request, a RuntimeClass with an overhead and a nodeSelector."""
    scenario = copy.deepcopy(SCENARIOS[name])
    for item in ADDED[name]:
        metadata = {**item["metadata"], "namespace": scenario["namespace"]}
        scenario["snapshot"]["items"].append({**item, "metadata": metadata})
    document = json.loads(predicted(scenario, tmp_path, capsys, "-o", "json"))

    assert scenario["real"] == counts(document)
    assert set(scenario["pendingMessages"].values()) <= messages(document)
