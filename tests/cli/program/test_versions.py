"""The table of what changed between releases."""

from __future__ import annotations

import ast
import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.explain.messages.catalogue import match
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.releases import behaviours
from kubectl_spread.objects.releases.behaviours import table
from kubectl_spread.objects.releases.version import (
    LAST_MINOR,
    LATEST,
    MEASURED,
    nearest_release,
    note_on,
    Release,
    release_of,
    server_release,
)
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.profiles import profiles
from kubectl_spread.sources import scheduler_config


def test_every_row_is_complete_and_in_order() -> None:
    """Names are unique, eras begin with 1.18 and follow one another, and each says something."""
    assert len({row.name for row in table()}) == len(table())
    for row in table():
        begins = [era.since for era in row.eras]
        assert begins == sorted(set(begins)), row.name
        assert begins[0] == Release(18, 0), row.name
        assert all(era.words and row.source.startswith(("pkg/", "staging/")) for era in row.eras), row.name


def test_every_row_differs_between_two_releases_that_follow_each_other() -> None:
    for row in table():
        values = [era.value for era in row.eras]
        assert all(before != after for before, after in itertools.pairwise(values)), row.name


@pytest.mark.parametrize(
    ("version", "text"),
    [
        ("1.20", "node(s) had taint {a: b}, that the pod didn't tolerate"),
        ("1.34", "node(s) had untolerated taint {a: b}"),
        ("1.34.2", "node(s) had untolerated taint {a: b}"),
        ("1.34.4", "node(s) had untolerated taint(s)"),
        ("v1.34.7-gke.100", "node(s) had untolerated taint(s)"),
        ("1.35", "node(s) had untolerated taint(s)"),
        ("1.37", "node(s) had untolerated taint(s)"),
    ],
)
def test_a_patch_has_its_own_words(version: str, text: str) -> None:
    assert behaviours.TAINT_REASON.of(release_of(version)).format(key="a", value="b") == text


@pytest.mark.parametrize(
    ("row", "first", "last"),
    [
        (behaviours.VOLUME_BINDING_NARROWS, "1.27", "1.28"),
        (behaviours.SECOND_DOT, "1.26", "1.28"),
        (behaviours.BALANCE_COMPARES, "1.36", "1.36"),
        (behaviours.BALANCE_SKIPS, "1.33", "1.36"),
        (behaviours.EMPTY_SELECTOR_COUNTS_NONE, "1.27", "1.36"),
        (behaviours.FIT_SKIPS_UNREQUESTED, "1.28", "1.36"),
        (behaviours.ZONE_LABELS_ARE_ONE, "1.29", "1.36"),
        (behaviours.IMAGES_OF_INIT_CONTAINERS, "1.30", "1.36"),
        (behaviours.SPREAD_ROUNDS, "1.24", "1.36"),
        (behaviours.BALANCE_BY_DEVIATION, "1.22", "1.36"),
        (behaviours.FIT_TOO_LARGE_IS_FINAL, "1.34", "1.36"),
        (behaviours.VOLUME_ZONE_LOOKS_FIRST, "1.27", "1.36"),
        (behaviours.PRE_FILTER_MESSAGE_ONCE, "1.26", "1.36"),
        (behaviours.NOMINATED_FIRST, "1.22", "1.36"),
        (behaviours.VICTIMS_SORTED, "1.29", "1.36"),
        (behaviours.WEIGHTS_DIFFER, "1.23", "1.36"),
        (behaviours.PREEMPTION_IN_MESSAGE, "1.24", "1.36"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_switch_is_on_in_its_releases(row: behaviours.Behaviour[bool], first: str, last: str) -> None:
    on = [minor for minor in range(18, 37) if row.of(release_of(f"1.{minor}"))]

    assert on == list(range(release_of(first).minor, release_of(last).minor + 1))


def test_backports_are_followed_patch_by_patch() -> None:
    """A node that matchFields name and that is gone fails the cycle up to a patch of 1.27, 1.28 and 1.29."""
    row = behaviours.GONE_NODE_IS_ERROR
    found = {version: row.of(release_of(version)) for version in ("1.23", "1.24", "1.27.13", "1.27.14", "1.28.9")}

    assert {"1.23": False, "1.24": True, "1.27.13": True, "1.27.14": False, "1.28.9": True} == found
    assert [False, True, False, False] == [row.of(release_of(text)) for text in ("1.28.10", "1.29.4", "1.29.5", "1.30")]


# The releases that write a reason, from upstream's sources.
RANGES = {
    "node(s) didn't match PersistentVolume's node affinity": (33, 38),
    "node(s) had volume node affinity conflict": (16, 32),
    "node(s) didn't match Pod's node affinity/selector": (21, 38),
    "node(s) didn't match Pod's node affinity": (20, 20),
    "node(s) didn't match node selector": (16, 19),
    "node(s) didn't match pod affinity/anti-affinity": (16, 20),
    "node(s) didn't match pod affinity/anti-affinity rules": (21, 21),
    "pod affinity terms conflict": (24, 38),
    "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode": (22, 33),
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another "
    "pod": (34, 38),
    "No preemption victims found for incoming pod": (24, 38),
    "node(s) didn't satisfy plugin(s) [NodeAffinity]": (24, 38),
    "node is filtered out by the prefilter result": (27, 30),
    "node(s) didn't match the requested hostname": (16, 20),
    "node(s) didn't match the requested node name": (21, 38),
    "pvc(s) bound to non-existent pv(s)": (20, 22),
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)": (23, 38),
    "cannot allocate all claims": (31, 38),
    "No victims found on node a1 for preemptor pod web": (21, 23),
    "node(s) had untolerated taint {a: b}": (24, 34),
    "node(s) had untolerated taint(s)": (34, 38),
    "node(s) had taint {a: b}, that the pod didn't tolerate": (18, 23),
}


@pytest.mark.parametrize(("text", "span"), RANGES.items(), ids=lambda value: str(value)[:50])
def test_the_releases_of_a_wording_are_those_of_the_sources(text: str, span: tuple[int, int]) -> None:
    found = match(text, 0)

    assert found is not None
    assert span == (found.wording.since, found.wording.until)


def test_a_text_of_the_table_is_within_the_releases_of_its_wording() -> None:
    """What a release writes is read back as a message that this release could have written."""
    for row in table():
        for minor in range(18, LAST_MINOR + 1):
            value = row.of(release_of(f"1.{minor}"))
            if not isinstance(value, str) or not value:
                continue
            if row is behaviours.ONE_POD_REASON and not behaviours.ONE_POD.of(release_of(f"1.{minor}")):
                continue  # a text that cannot appear before the access mode counts
            if row is behaviours.VOLUME_GONE_REASON and minor < 20:
                continue  # a volume that is gone was an error
            found = match(value.format(key="a", value="b", plugins="NodeAffinity"), 0)
            assert found is not None, value
            assert found.wording.since <= minor <= found.wording.until, (row.name, minor, value)


def test_a_version_without_a_patch_is_the_one_that_was_measured() -> None:
    assert [Release(20, 15), Release(34, 1), LATEST] == [release_of(f"1.{minor}") for minor in (20, 34, 36)]
    assert set(MEASURED) == set(range(20, 37))


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("v1.29.3-gke.1", Release(29, 3)),
        ("v1.33.5-eks-ba24e9c", Release(33, 5)),
        ("v1.34.2+k3s1", Release(34, 2)),
        ("v1.35.0-alpha.1.10+abc", Release(35, 0)),
        ("v1.37.1", Release(37, 1)),
    ],
)
def test_the_version_of_a_server_is_read_in_full(text: str, release: Release) -> None:
    assert server_release(text) == release == release_of(text)


def test_a_release_that_nobody_measured_is_noted() -> None:
    assert "" == note_on(release_of("1.33.9"))
    assert "1.19 was not measured: its rules are taken from documents" in note_on(release_of("1.19"))
    assert "1.37 rules, not yet compared with recordings" == note_on(release_of("1.37"))
    assert "Kubernetes 1.40 is not known: 1.38 rules, not yet compared with recordings" == note_on(release_of("1.40"))
    assert nearest_release(release_of("1.37")) == Release(37)
    assert nearest_release(release_of("1.40")) == Release(38)
    assert nearest_release(Release(12, 1)) == release_of("1.18")


OLD_CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1beta1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    score:
      disabled: [{name: NodeResourcesLeastAllocated}, {name: NodePreferAvoidPods}]
      enabled: [{name: NodeResourcesMostAllocated, weight: 3}]
"""


@pytest.mark.parametrize(
    ("version", "scoring"),
    [
        ("1.20", {"NodeResourcesMostAllocated": 3}),
        ("1.22", {"NodeResourcesFit": 3}),
    ],
)
def test_an_old_configuration_names_the_plugins_of_its_release(
    version: str, scoring: dict[str, int], tmp_path: Path
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(OLD_CONFIG)
    (profile,) = scheduler_config.load(str(file), release_of(version)).profiles.values()
    weights = {item.plugin.name: item.weight for item in profile.score}

    assert scoring == {name: weight for name, weight in weights.items() if "Allocated" in name or "Fit" in name}
    assert "NodePreferAvoidPods" not in weights


def test_a_release_scores_with_the_plugins_that_it_has() -> None:
    def names(version: str) -> set[str]:
        (profile,) = profiles(None, release_of(version)).values()
        return {item.plugin.name for item in profile.score}

    assert "SelectorSpread" in names("1.19")
    assert {"NodeResourcesLeastAllocated", "NodePreferAvoidPods"} <= names("1.21")
    assert not {"SelectorSpread", "NodeResourcesFit", "VolumeBinding"} & names("1.21")
    assert {"NodeResourcesFit", "VolumeBinding"} <= names("1.24")
    assert "DynamicResources" in names("1.35")


def avoiding(uid: str) -> dict[str, Any]:
    """A node that would rather not have the pods of a ReplicaSet."""
    controller = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": uid, "controller": True}
    text = json.dumps({"preferAvoidPods": [{"podSignature": {"podController": controller}}]})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "a", "annotations": {"scheduler.alpha.kubernetes.io/preferAvoidPods": text}},
        "status": {"allocatable": {"cpu": "64", "memory": "64Gi", "pods": "100"}},
    }


@pytest.mark.parametrize(
    ("version", "uid", "expected"), [("1.21", "u1", "b"), ("1.21", "u2", "a"), ("1.22", "u1", "a")]
)
def test_a_node_that_avoids_a_controllers_pods_gets_none_up_to_1_21(version: str, uid: str, expected: str) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u1", "controller": True}
    small = {"metadata": {"name": "b"}, "status": {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "100"}}}
    cluster = cluster_of([avoiding(uid), {"apiVersion": "v1", "kind": "Node", **small}])
    container = {"name": "c", "resources": {"requests": {"cpu": "1", "memory": "2Gi"}}}
    incoming = {"metadata": {"name": "web-1", "ownerReferences": [owner]}, "spec": {"containers": [container]}}
    pod = read.pod(incoming)
    scheduler = Scheduler(Columns(cluster), profiles(None, release_of(version)))

    assert [expected] == [cluster.nodes[at].name for at in scheduler.hosts(pod, scheduler.filter(pod))]


@pytest.mark.parametrize("command", [["check", "web.yaml"], ["explain", "pod", "web"], ["snapshot"]])
def test_an_empty_version_is_a_usage_error(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A variable of a script that is not set must not mean the newest release."""
    assert 2 == run([*command, "--kubernetes-version", ""])
    assert capsys.readouterr().err.startswith("error: --kubernetes-version is empty: name a version such as 1.34\n")


# The rows that each page of a rule, and each module with a sentence, takes its releases from.
_ROWS_OF = {
    "SPR110": ("match-keys-are-merged",),
    "SPR112": ("selector-is-validated",),
    "SPR116": ("statefulset-recreate", "hpa-to-zero"),
    "SPR202": ("empty-selector",),
    "SPR214": ("system-default-constraints",),
    "SPR215": ("match-label-keys",),
    "SPR301": ("inclusion-policies",),
    "SPR401": ("match-label-keys",),
    "SPR402": ("affinity-match-label-keys",),
    "SPR601": ("min-domains", "inclusion-policies", "match-label-keys"),
    "SPR604": ("min-domains", "inclusion-policies", "match-label-keys"),
}
# Of kubectl, of the API server's warnings, and of labels of nodes: the table has none of these. 1.10 is a number.
_OF_OTHERS = {"SPR004", "SPR113", "SPR114", "SPR602", "admission", "topology_keys"}
_PACKAGE = Path(behaviours.__file__).parents[2]
_MINOR = re.compile(r"(?<![\w.:/`-])1\.(\d\d)\b(?![.]\d)")


def _sentences(path: Path) -> str:
    """Return the prose of a page, or the strings of a module without its docstrings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        prose = [line for line in text.splitlines() if not line.startswith("    ")]
        return "\n".join(prose).replace("--kubernetes-version 1.26", "")
    nodes = list(ast.walk(ast.parse(text)))
    docs = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    strings = [node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in docs]
    return "\n".join(text for text in strings if isinstance(text, str))


@pytest.mark.parametrize("path", [*_PACKAGE.rglob("*.md"), *_PACKAGE.rglob("*.py")], ids=lambda path: path.stem)
def test_sentences_name_the_releases_of_the_table(path: Path) -> None:
    name = path.stem.split("-")[0]
    named = {int(minor) for minor in _MINOR.findall(_sentences(path))}
    if path.parent.name in ("releases", "provisioners") or name in _OF_OTHERS or not named:
        return
    if path.stem == "options":
        assert named <= {13, 34}, "examples of versions, of Karpenter's too"
        return

    rows = [row for row in table() if row.name in _ROWS_OF[name]]

    assert named <= {minor for row in rows for era in row.eras for minor in row.minors(era.since)}
