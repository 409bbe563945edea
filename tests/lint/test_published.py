"""Manifests as they are published, in our own words."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from kubectl_spread.lint.run import check_source
from kubectl_spread.lint.run import Result
from kubectl_spread.sources.files import decoded
from kubectl_spread.text.source import SourceFile

FOLDER = Path(__file__).parent / "published"


class Expected(NamedTuple):
    """The workloads that can be placed, and every finding as `code@line`; what is not listed must not be found."""

    workloads: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()


# The first line of each file says what it is shaped like. JSON has no comments: `kubectl-get-pod.json` is what
# `kubectl get pod -o json` prints, `scripted-deployment.json` what Python's json.dumps writes.
EXPECTED = {
    "anchored-labels.yaml": Expected(findings=("SPR105@33",)),
    "backup-cronjob.yaml": Expected(findings=("SPR107@35",)),
    "chart-template-commented.yaml": Expected(findings=("SPR002@7",)),
    "chart-template-one-call.yaml": Expected(findings=("SPR002@2",)),
    "chart-template-values-only.yaml": Expected(findings=("SPR002@7",)),
    "chart-template.yaml": Expected(findings=("SPR002@5",)),
    "chart-tests.yaml": Expected(),
    "chart-values.yaml": Expected(),
    "compact-deployment.yaml": Expected(workloads=("Deployment default/brief",)),
    "concatenated-constraints.yaml": Expected(findings=("SPR105@24",)),
    "database-statefulset.yaml": Expected(workloads=("StatefulSet bank/ledger",)),
    "directory-statefulset.yaml": Expected(workloads=("StatefulSet default/people-store",)),
    "exporter-daemonset.yaml": Expected(workloads=("DaemonSet watch/meters-meter-exporter",)),
    "gitops-application.yaml": Expected(findings=("SPR006@19",)),
    "kubectl-get-list.yaml": Expected(workloads=("Deployment post/parcel",)),
    "kubectl-get-pod.json": Expected(workloads=("Pod fair/wheel-6f7d9c-x2x4",)),
    "mesh-deployment.yaml": Expected(findings=("SPR113@32", "SPR113@38")),
    "misplaced-statefulset.yaml": Expected(workloads=("StatefulSet default/log-raft",), findings=("SPR115@14",)),
    "nested-manifests.yaml": Expected(findings=("SPR101@40",)),
    "openshift-template.yaml": Expected(findings=("SPR006@22",)),
    "operator-resources.yaml": Expected(findings=("SPR006@13", "SPR006@30")),
    "paper-pod.yaml": Expected(workloads=("Pod default/probe",)),
    "policy-controllers.yaml": Expected(workloads=("Deployment default/refused01", "StatefulSet default/refused02")),
    "rendered-chart.yaml": Expected(workloads=("Deployment default/bakery", "Pod default/bakery-test-connection")),
    "rendered-webhook.yaml": Expected(workloads=("Deployment gate/gate-hook",)),
    "resource-definition.yaml": Expected(),
    "scanner-statefulset.yaml": Expected(workloads=("StatefulSet default/pier-scanner",), findings=("SPR003@32",)),
    "scripted-deployment.json": Expected(workloads=("Deployment default/carousel",)),
    "spread-policy.yaml": Expected(),
    "windows-deployment.yaml": Expected(findings=("SPR103@19",)),
}


def check(name: str) -> Result:
    return check_source(SourceFile(name, decoded(name, (FOLDER / name).read_bytes())), named=True)


def found(result: Result) -> tuple[str, ...]:
    places = ((finding.rule.code, finding.place) for finding in result.findings)
    return tuple(f"{code}@{place.source.position(place.span.start).line}" for code, place in places)


def test_every_published_manifest_has_an_expectation() -> None:
    assert sorted(EXPECTED) == sorted(path.name for path in FOLDER.iterdir())


@pytest.mark.parametrize("name", EXPECTED)
def test_a_published_manifest_has_the_findings_it_deserves_and_no_others(name: str) -> None:
    assert EXPECTED[name].findings == found(check(name))


@pytest.mark.parametrize("name", EXPECTED)
def test_the_workloads_of_a_published_manifest_are_those_the_server_would_take(name: str) -> None:
    assert EXPECTED[name].workloads == tuple(checked.workload.key for checked in check(name).workloads)


def test_a_file_from_windows_keeps_its_line_ends() -> None:
    raw = (FOLDER / "windows-deployment.yaml").read_bytes()

    assert raw.count(b"\n") == raw.count(b"\r\n")
