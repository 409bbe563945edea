"""Each row of the table that begins after the newest recorded release, observed in the releases on both sides of it."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from kubectl_spread.cli.main import run
from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.releases import behaviours, field_versions
from kubectl_spread.objects.releases.version import LAST_MINOR, Release, release_of
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.preemption import post_filter
from kubectl_spread.scheduler.profiles import profiles
from tests.naive.builders import node, pod
from tests.scheduler.plugins.asking import scored

Plain = dict[str, Any]

CASES = Path(__file__).parents[2] / "cases" / "releases"
NODES = str(CASES / "nodes.yaml")
ENGINE = CASES.parent / "engine"


class Asked:
    """The command line, asked as a user of a release asks it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder = folder
        self._capsys = capsys

    def command(self, version: str, *words: str) -> tuple[int, str]:
        code = run([*words, "--kubernetes-version", version])
        captured = self._capsys.readouterr()
        return code, captured.out + captured.err

    def manifest(self, kind: str, spec: Plain) -> str:
        """Write a workload of three pods."""
        template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
        whole = {"replicas": 3, "selector": {"matchLabels": {"app": "x"}}, "template": template, **spec}
        return self.written(
            {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "db", "namespace": "d"}, "spec": whole}
        )

    def written(self, *objects: Plain) -> str:
        """Write objects into one file."""
        path = self._folder / "objects.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
        return str(path)


@pytest.fixture
def asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    return Asked(tmp_path, capsys)


def empty_selector(version: str, asked: Asked) -> str:
    """Engine and rule agree on whether the pods are counted: c has no room, so counted pods stay Pending."""
    code, told = asked.command(version, "check", str(CASES / "empty-selector.yaml"), "--snapshot", NODES)
    assert code == 1
    is_counted = "2 of 4 replicas placed" in told
    assert is_counted == (f"Kubernetes {version} counts every pod of the namespace" in told)
    assert is_counted != ("does not spread them" in told)
    return "counts every pod" if is_counted else "counts none"


def image_volumes(version: str, asked: Asked) -> str:
    incoming = pod("p", volumes=[{"name": "v", "image": {"reference": "v:1"}}])
    incoming["spec"]["containers"] = [{"name": "c", "image": "a:1"}]
    big = [{"names": ["v:1"], "sizeBytes": 500 << 20}]
    # 500 MiB of 1000, and of 2000: 100 * 477 // 977 and 100 * 477 // 1977.
    return str(scored("ImageLocality", incoming, node("x", status={"images": big}), release=release_of(version)))


def _preemption(version: str, *objects: Plain) -> Any:
    cluster = cluster_of(list(objects))
    scheduler = Scheduler(Columns(cluster), profiles(None, release_of(version)))
    (waiting,) = [item for item in cluster.pods if item.name == "high"]
    return post_filter(waiting, scheduler.filter(waiting), scheduler)


def _full(name: str, victim: str, namespace: str = "default") -> list[Plain]:
    """A node whose CPU one pod uses up."""
    running = pod(victim, on=name, labels={"app": victim}, requests={"cpu": "4"})
    running["metadata"]["namespace"] = namespace
    return [node(name), running]


def preemption_success(version: str, asked: Asked) -> str:
    high = pod("high", requests={"cpu": "4"}, priority=10)
    return str(_preemption(version, *_full("n1", "low"), high).message)


def empty_budget(version: str, asked: Asked) -> str:
    budget = {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "all", "namespace": "a"},
        "spec": {"selector": {}, "minAvailable": 1},
        "status": {"disruptionsAllowed": 0},
    }
    high = pod("high", requests={"cpu": "4"}, priority=10)
    return str(_preemption(version, *_full("n1", "one", "a"), *_full("n2", "two", "b"), budget, high).node)


def gated_nomination(version: str, asked: Asked) -> str:
    gated = pod("gated", requests={"cpu": "4"}, priority=10, status={"nominatedNodeName": "n1"})
    gated["spec"]["schedulingGates"] = [{"name": "x"}]
    cluster = cluster_of([node("n1"), gated, pod("low", requests={"cpu": "1"})])
    scheduler = Scheduler(Columns(cluster), profiles(None, release_of(version)))
    (low,) = [item for item in cluster.pods if item.name == "low"]
    return "fits" if scheduler.filter(low).feasible.any() else "does not fit"


def _fewest_ready(version: str, asked: Asked, spec: Plain) -> str:
    path = asked.manifest("StatefulSet", spec)
    words = ("simulate", *["rollout", "restart", "sts/db"], "-n", "d", "-f", path, "--snapshot", NODES)
    code, told = asked.command(version, *words)
    if code:
        return told.splitlines()[-1].partition(": SPR")[2]
    return told[told.index("as few as") :].partition(" during the step")[0]


def max_unavailable(version: str, asked: Asked) -> str:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}
    return _fewest_ready(version, asked, {"updateStrategy": strategy, "podManagementPolicy": "Parallel"})


def recreate(version: str, asked: Asked) -> str:
    return _fewest_ready(version, asked, {"updateStrategy": {"type": "Recreate"}})


def elastic_job(version: str, asked: Asked) -> str:
    """An Indexed Job grows together with its parallelism."""
    patch = ("simulate", "patch", "job", "train", "-p", '{"spec":{"completions":4,"parallelism":4}}', "-n", "ml")
    code, text = asked.command(version, *patch, "--snapshot", str(ENGINE / "jobs.yaml"))
    return text.strip() if code else "accepted"


def surge_on_tainted_node(version: str, asked: Asked) -> str:
    """A new pod beside the old one on a tainted node stays Pending, and takes the whole surge."""
    facts = str(ENGINE / "daemonset-surge-on-tainted-node.yaml")
    _, text = asked.command(version, "simulate", "rollout", "restart", "ds/agent", "-n", "kube", "--snapshot", facts)
    return text.partition("\n")[0].partition(": ")[2]


def hpa_to_zero(version: str, asked: Asked) -> str:
    """`check`, `apply -f` and `patch` agree."""
    spec = {"minReplicas": 0, "maxReplicas": 5, "scaleTargetRef": {"kind": "Deployment", "name": "db"}}
    scaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "db", "namespace": "d"},
        "spec": {**spec, "metrics": [{"type": "External"}]},
    }
    workload = json.loads(Path(asked.manifest("Deployment", {})).read_text())
    path = asked.written(workload, {**scaler, "spec": {**scaler["spec"], "minReplicas": 1}})
    words = ("simulate", "patch", "hpa", "db", "-p", '{"spec":{"minReplicas":0}}', "-n", "d", "-f", path)
    _, patched = asked.command(version, *words, "--snapshot", NODES)
    zero = asked.written(workload, scaler)
    code, checked = asked.command(version, "check", zero)
    _, applied = asked.command(version, "simulate", "apply", "-f", zero, "--snapshot", NODES)
    refused = {
        "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1" in told
        for told in (patched, checked, applied)
    }
    assert refused == {bool(code)}
    return "refused" if code else "accepted"


REFUSED = (
    '116 spec.updateStrategy: Invalid value: {"Type":"Recreate","RollingUpdate":null}: must be \'RollingUpdate\' or '
    "'OnDelete'"
)
FOUND = "preemption: found a potential placement for pod on node n1, preempting 1 victims"
SIDES: dict[str, tuple[Callable[[str, Asked], str], dict[str, str]]] = {
    "empty-selector": (
        empty_selector,
        {
            "1.26": "counts every pod",
            "1.27": "counts none",
            "1.36": "counts none",
            "1.37": "counts none",
            "1.38": "counts every pod",
        },
    ),
    "image-volumes-raise-maximum": (image_volumes, {"1.36": "{'x': 48}", "1.37": "{'x': 24}"}),
    "preemption-success": (preemption_success, {"1.36": "", "1.37": FOUND}),
    "empty-budget": (empty_budget, {"1.37": "n1", "1.38": "n2"}),
    "gated-nomination": (gated_nomination, {"1.36": "fits", "1.37": "does not fit"}),
    "statefulset-max-unavailable": (
        max_unavailable,
        {
            "1.34": "as few as 2",
            "1.35.0": "as few as 1",
            "1.35.4": "as few as 2",
            "1.36": "as few as 2",
            "1.37": "as few as 1",
        },
    ),
    "statefulset-recreate": (recreate, {"1.36": REFUSED, "1.37": "as few as 0"}),
    "elastic-indexed-job": (
        elastic_job,
        {
            "1.26": 'The Job "train" is invalid: spec.completions: Invalid value: 4: field is immutable',
            "1.27": "accepted",
        },
    ),
    "daemonset-surge-leaves-nodes": (
        surge_on_tainted_node,
        {
            "1.25.14": "may get stuck, 1 pod stays Pending",
            "1.25.15": "completes",
            "1.28.2": "may get stuck, 1 pod stays Pending",
            "1.28.3": "completes",
        },
    ),
    "hpa-to-zero": (hpa_to_zero, {"1.36": "refused", "1.37": "accepted"}),
}


@pytest.mark.parametrize(
    ("name", "version"), [(name, version) for name, (_, found) in SIDES.items() for version in found]
)
def test_a_row_holds_on_both_sides(name: str, version: str, asked: Asked) -> None:
    observe, expected = SIDES[name]

    assert expected[version] == observe(version, asked)


def test_every_row_without_recordings_is_observed() -> None:
    later = {row.name for row in behaviours.table() if not row.eras[-1].is_recorded}

    assert later == {name for name in SIDES if name in later}
    assert set(SIDES) <= {row.name for row in behaviours.table()}


@pytest.mark.parametrize("minor", range(18, LAST_MINOR + 1))
def test_stored_fields_and_rows_agree(minor: int) -> None:
    """What the API server stores, which the rules ask, is what the plugins read."""
    rows = {
        "minDomains": behaviours.MIN_DOMAINS,
        "nodeTaintsPolicy": behaviours.INCLUSION_POLICIES,
        "nodeAffinityPolicy": behaviours.INCLUSION_POLICIES,
        "matchLabelKeys": behaviours.MATCH_LABEL_KEYS,
    }
    release = release_of(f"1.{minor}")

    assert {field: bool(row.of(release)) for field, row in rows.items()} == {
        field: field_versions.stores(field, minor) for field in rows
    }
    spec = field_versions.stored_spec({"schedulingGates": [{"name": "x"}]}, minor).spec
    assert bool(spec.get("schedulingGates")) == behaviours.SCHEDULING_GATES.of(release)


def test_a_span_names_the_releases_that_behave_alike() -> None:
    spans = {row.name: [row.span(era.since) for era in row.eras] for row in behaviours.table()}

    assert spans["empty-selector"] == ["1.18 to 1.26", "1.27 to 1.37", "1.38"]
    assert spans["taint-reason"] == ["1.18 to 1.23", "1.24 to 1.34", "1.34 to 1.38"]
    for row in behaviours.table():
        for era, following in itertools.zip_longest(row.eras, row.eras[1:]):
            first, last = row.minors(era.since)
            inside = [era.since, *(Release(minor) for minor in range(first + 1, last + 1))]
            assert [row.of(release) for release in inside] == [era.value] * len(inside), row.name
            if following is None:
                assert last == LAST_MINOR, row.name
            else:
                assert row.of(following.since) != era.value, row.name
                assert following.since.minor - last == (0 if following.since.patch else 1), row.name


@pytest.mark.parametrize("command", ["check", "explain", "simulate", "guarantee"])
def test_a_pod_of_a_gang_is_not_predicted(command: str, asked: Asked, tmp_path: Path) -> None:
    """A pod of a gang of 4 is never placed alone."""
    group, alone = YAML(typ="safe").load_all(CASES / "gang.yaml")
    template = {"metadata": {"labels": alone["metadata"]["labels"]}, "spec": copy.deepcopy(alone["spec"])}
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "w"}}, "template": template}
    job = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "w", "namespace": "d"}, "spec": spec}
    path = tmp_path / "gang.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [group, job]}))
    words = {
        "check": ("check", str(path)),
        "explain": ("explain", "-f", str(path)),
        "simulate": ("simulate", "scale", "deploy/w", "--replicas=4", "-n", "d", "-f", str(path)),
        "guarantee": ("guarantee", "-f", str(path), "--at-most", "hostname=1/2"),
    }
    _, told = asked.command("1.36", *words[command], "--snapshot", NODES)

    assert "its gang of 4, pod group g" in " ".join(told.split())
    assert "3 of 3 replicas placed" not in told


def test_rules_follow_the_version_that_a_snapshot_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --kubernetes-version, rule and placement both follow the snapshot's own release."""
    items = YAML(typ="safe").load(Path(NODES))["items"]
    snapshot = {"apiVersion": "kubectl-spread/v1", "kind": "Snapshot", "kubernetesVersion": "v1.38.0", "items": items}
    path = tmp_path / "snapshot.json"
    path.write_text(json.dumps(snapshot))

    assert run(["check", str(CASES / "empty-selector.yaml"), "--snapshot", str(path)]) == 1
    told = capsys.readouterr()
    assert "Kubernetes 1.38 counts every pod of the namespace" in told.out
    assert "2 of 4 replicas placed" in told.out
    assert told.err.count("1.38 rules, not yet compared with recordings") == 1
