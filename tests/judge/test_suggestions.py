"""What suggestions promise comes about when their commands are typed, and when their documents are carried out."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

import pytest

from kubectl_spread.sources import files, topology
from tests.judge import before_applying, clusters, judging, pending_families

Plain = dict[str, Any]

_ROOT = Path(__file__).parents[2]
_CASES = [
    path
    for path in sorted((_ROOT / "tests" / "cases" / "explain").iterdir())
    if path.name.removesuffix(".gz").endswith((".yaml", ".json"))
]
_SCENARIOS = sorted((_ROOT / "examples" / "scenarios").glob("*/snapshot.yaml"))

# The API server refuses the manifests of one scenario.
EXAMPLES = [
    path.parent
    for folder in ("examples/scenarios", "tests/examples/cases")
    for path in sorted((_ROOT / folder).glob("*/cluster.yaml"))
    if path.parent.name != "refused-values"
]

# `python -m tests.bench.suggestions` judges more suggestions of each, 300 clusters, and more ways.
COMES_BACK = 77  # a node that does not answer comes back
COUNTS_DAEMONS = 141  # a constraint counts what a DaemonSet puts on a new node
RACES = 90  # claims and a template, changed together
WEDGES_SOMETIMES = 245  # whether a larger maxSkew is enough is up to the order in which old pods go
ROLLS_BACK = 147  # without a field, the template is the one of an older revision that still runs
COMES_BACK_IN_A_ROLLOUT = 207  # a rollout waits until its first pod is ready, on a node that comes back
SEEDS = (
    *range(0, 30, 2),
    COMES_BACK,
    COUNTS_DAEMONS,
    RACES,
    WEDGES_SOMETIMES,
    ROLLS_BACK,
    COMES_BACK_IN_A_ROLLOUT,
)
_SUGGESTIONS = 3
_WAYS = 2
_LARGE = "o15"  # 1,002 nodes and 400 pods, which the slow controllers take a minute for


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nobody asks the cluster of whoever runs the tests."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))


def snapshots() -> dict[str, Path]:
    """Snapshots in which pods are Pending, by name."""
    found = {path.name.partition(".")[0]: path for path in _CASES}
    found |= {path.parent.name: path for path in _SCENARIOS}
    return {name: path for name, path in found.items() if name == _LARGE or judging.has_pending(judging.load(path))}


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=name) for name, path in snapshots().items() if name != _LARGE],
)
def test_suggestions_for_snapshots_hold(path: Path, tmp_path: Path) -> None:
    """Counts, Pending pods and restarts are as promised, and no other workload's pod is left Pending."""
    found = judging.judged(judging.load(path), tmp_path, most=_SUGGESTIONS, walks=_WAYS)

    assert list(found) == []


@pytest.mark.slow
def test_the_suggestion_for_a_large_cluster_holds(tmp_path: Path) -> None:
    """The pods that the controller has yet to create find nodes, too; most empty nodes are left out."""
    items = judging.load(snapshots()[_LARGE])
    used = {item["spec"].get("nodeName") for item in items if item["kind"] == "Pod"}
    items = [
        item
        for number, item in enumerate(items)
        if item["kind"] != "Node" or item["metadata"]["name"] in used or number % 9 == 0
    ]
    found = judging.judged(items, tmp_path, most=1, walks=1)

    assert list(found) == []


def unapplied(folder: Path) -> tuple[list[Plain], list[Plain]]:
    """The cluster of an example and its manifests."""
    cluster = folder / "cluster.yaml"
    source = files.read_text(str(cluster))
    facts = topology.objects(source) if "kind: Topology" in source.text else judging.load(cluster)
    manifests = [folder / "before.yaml"]
    if not manifests[0].exists():
        named = ("cluster.yaml", "expect.yaml", "after.yaml", "snapshot.yaml")
        manifests = [path for path in sorted(folder.glob("*.yaml")) if path.name not in named]
    items = [item for path in manifests for item in judging.load(path)]
    return facts, [item for item in items if "metadata" in item]  # another cluster has none


def lived(folder: Path) -> Optional[list[Plain]]:
    """The objects some time after an example's manifests were applied to its cluster."""
    return clusters.lived(*unapplied(folder))


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_suggestions_for_examples_hold(folder: Path, tmp_path: Path) -> None:
    """The same some time after the manifests of an example were applied."""
    found = judging.judged(lived(folder) or [], tmp_path, most=_SUGGESTIONS, walks=_WAYS)

    assert list(found) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_suggestions_for_generated_clusters_hold(seed: int, tmp_path: Path) -> None:
    """The same for clusters that were lived in until some pod found no node."""
    items = clusters.generated(seed)
    found = judging.judged(items or [], tmp_path, most=_SUGGESTIONS, walks=_WAYS)

    assert list(found) == []


def test_generated_clusters_have_pending_pods() -> None:
    """Most of the seeds are worth judging."""
    assert sum(clusters.generated(seed) is not None for seed in SEEDS) >= 0.6 * len(SEEDS)


@pytest.mark.slow
@pytest.mark.parametrize("family", pending_families.FAMILIES)
@pytest.mark.parametrize("seed", range(3))
def test_suggestions_for_families_hold(family: str, seed: int, tmp_path: Path) -> None:
    """The same for clusters in which a pod waits for one certain reason."""
    found = judging.judged(pending_families.generated(family, seed) or [], tmp_path, most=_SUGGESTIONS, walks=_WAYS)

    assert list(found) == []


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_suggestions_for_manifests_hold(folder: Path, tmp_path: Path) -> None:
    """The same where the manifests of an example are edited before they are applied."""
    found = before_applying.judged(*unapplied(folder), tmp_path, most=_SUGGESTIONS, walks=_WAYS)

    assert list(found) == []


@pytest.mark.parametrize("seed", SEEDS[:8])
def test_suggestions_for_workloads_of_generated_clusters_hold(seed: int, tmp_path: Path) -> None:
    """The same for a workload that is taken out of a generated cluster and applied to it again."""
    items = clusters.generated(seed)
    if items is not None:
        found = before_applying.judged(*before_applying.taken_out(items), tmp_path, most=_SUGGESTIONS, walks=_WAYS)

        assert list(found) == []
