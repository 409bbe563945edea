"""Manifests as they are published, in our own words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from kubectl_spread.lint import pipeline
from kubectl_spread.lint.check_source import check_source, Result
from kubectl_spread.lint.finding import Finding, Severity
from kubectl_spread.lint.registry import sort_findings
from kubectl_spread.lint.selection import LintPolicy
from kubectl_spread.sources.files import decode_text
from kubectl_spread.text.source import SourceFile

FOLDER = Path(__file__).parent / "published"


class Expected(NamedTuple):
    """The workloads that can be placed, and what the default rules find, as `code@line`; nothing else must be found."""

    workloads: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()


# The first line of each file says what it is shaped like. JSON has no comments: `kubectl-get-pod.json` is what
# `kubectl get pod -o json` prints, `kubectl-get-deployment.json` what it prints of a Deployment from the days before
# matchLabelKeys, `scripted-deployment.json` what Python's json.dumps writes; the others describe themselves.
EXPECTED = {
    "anchored-labels.yaml": Expected(findings=("SPR301@32", "SPR401@32", "SPR105@33", "SPR301@42")),
    "anti-affine.yaml": Expected(workloads=("StatefulSet default/quorum",), findings=("SPR212@29",)),
    "application-set.yaml": Expected(findings=("SPR006@25", "SPR201@26")),
    "autoscaled-web.yaml": Expected(workloads=("Deployment market/kiosk",)),
    "backup-cronjob.yaml": Expected(findings=("SPR107@35",)),
    "bom-stream.yaml": Expected(findings=("SPR112@42",)),
    "broker-resource.yaml": Expected(findings=("SPR006@16",)),
    "canary-rollout.yaml": Expected(workloads=("Rollout default/kite",), findings=("SPR403@33",)),
    "chart-template-commented.yaml": Expected(findings=("SPR002@7",)),
    "chart-template-one-call.yaml": Expected(findings=("SPR002@2",)),
    "chart-template-values-only.yaml": Expected(findings=("SPR002@7",)),
    "chart-template.yaml": Expected(findings=("SPR002@5",)),
    "chart-tests.yaml": Expected(),
    "chart-values-schema.json": Expected(),
    "chart-values.yaml": Expected(),
    "check-schema.yaml": Expected(),
    "ci-workflow.yaml": Expected(),
    "commonly-labelled-base.yaml": Expected(workloads=("Deployment default/stork",), findings=("SPR201@23",)),
    "compact-deployment.yaml": Expected(workloads=("Deployment default/brief",), findings=("SPR401@12",)),
    "compose-file.yaml": Expected(),
    "concatenated-constraints.yaml": Expected(findings=("SPR201@23", "SPR105@24", "SPR201@26")),
    "constraints-in-container.yaml": Expected(workloads=("StatefulSet default/rs0",), findings=("SPR115@20",)),
    "created-by-kubectl.yaml": Expected(workloads=("Deployment default/fresh",), findings=("SPR507@25",)),
    "database-statefulset.yaml": Expected(workloads=("StatefulSet bank/ledger",), findings=("SPR203@60",)),
    "deployment-config.yaml": Expected(workloads=("DeploymentConfig default/abacus",)),
    "directory-statefulset.yaml": Expected(workloads=("StatefulSet default/people-store",), findings=("SPR203@42",)),
    "dns-addon.yaml": Expected(workloads=("Deployment kube-system/names",), findings=("SPR301@69", "SPR401@69")),
    "empty-list.yaml": Expected(workloads=("Deployment default/demo-plain",), findings=("SPR214@19",)),
    "exporter-daemonset.yaml": Expected(workloads=("DaemonSet watch/meters-meter-exporter",), findings=("SPR206@30",)),
    "flux-substitution.yaml": Expected(findings=("SPR113@9", "SPR104@27")),
    "frozen-budget.yaml": Expected(workloads=("StatefulSet default/queue",), findings=("SPR503@7", "SPR304@40")),
    "gateway-golden-daemonset.yaml": Expected(
        workloads=("DaemonSet sluice-system/sluice-default-37a8",), findings=("SPR206@19", "SPR203@20", "SPR209@24")
    ),
    "gateway-golden.yaml": Expected(
        workloads=("Deployment sluice-system/sluice-default-37a8",), findings=("SPR203@27",)
    ),
    "gitops-application.yaml": Expected(findings=("SPR006@13", "SPR102@14", "SPR201@20")),
    "helm-release.yaml": Expected(findings=("SPR006@18",)),
    "jinja-statements.yaml": Expected(findings=("SPR002@9",)),
    "job-spread.yaml": Expected(workloads=("Job default/press", "CronJob default/proof")),
    "json-patch.yaml": Expected(findings=("SPR201@14",)),
    "kafka-resource.yaml": Expected(findings=("SPR301@17", "SPR201@31")),
    "knative-service.yaml": Expected(workloads=("Service default/echo",)),
    "kubectl-get-deployment.json": Expected(workloads=("Deployment fair/ferris",), findings=("SPR401@59",)),
    "kubectl-get-list.yaml": Expected(workloads=("Deployment post/parcel",), findings=("SPR301@52", "SPR401@52")),
    "kubectl-get-pod.json": Expected(workloads=("Pod fair/wheel-6f7d9c-x2x4",)),
    "kubectl-get-pods.yaml": Expected(workloads=("Pod fair/swing-5d8f9c7b6d-2x9kq",)),
    "kubectl-get-replicaset.yaml": Expected(workloads=("ReplicaSet fair/swing-5d8f9c7b6d",)),
    "kustomization-inline.yaml": Expected(findings=("SPR201@18", "SPR101@18")),
    "labels-without-match.yaml": Expected(
        workloads=("Deployment default/helm-gate",), findings=("SPR114@24", "SPR114@28")
    ),
    "mapping-of-objects.json": Expected(findings=("SPR101@13", "SPR302@13")),
    "mesh-deployment.yaml": Expected(findings=("SPR113@32", "SPR113@38")),
    "misplaced-statefulset.yaml": Expected(workloads=("StatefulSet default/log-raft",), findings=("SPR115@14",)),
    "mutating-policy.yaml": Expected(findings=("SPR302@23",)),
    "nested-manifests.yaml": Expected(
        findings=("SPR103@14", "SPR201@14", "SPR101@14", "SPR102@15", "SPR201@40", "SPR101@40")
    ),
    "object-for-list.yaml": Expected(findings=("SPR113@16",)),
    "old-keys.yaml": Expected(workloads=("Deployment default/relic",), findings=("SPR507@19", "SPR602@21")),
    "one-replica.yaml": Expected(workloads=("Deployment default/key-shop",), findings=("SPR205@21",)),
    "openshift-template.json": Expected(workloads=("Deployment default/dial",), findings=("SPR507@22",)),
    "openshift-template.yaml": Expected(findings=("SPR401@23", "SPR113@23")),
    "operator-bundle.yaml": Expected(findings=("SPR006@26",)),
    "operator-resources.yaml": Expected(findings=("SPR006@13", "SPR201@31")),
    "paper-pod.yaml": Expected(workloads=("Pod default/probe",)),
    "patch-directives.yaml": Expected(),
    "patch-soft-zone.yaml": Expected(workloads=("Deployment default/tide-controller",)),
    "patch-with-identity.yaml": Expected(workloads=("Deployment shop/till",)),
    "patches-in-one-file.yaml": Expected(
        workloads=("CronJob default/weir-sweep", "Deployment default/weir-web"), findings=("SPR101@11", "SPR302@29")
    ),
    "pipeline-run.yaml": Expected(),
    "policy-controllers.yaml": Expected(
        workloads=("Deployment default/refused01", "StatefulSet default/refused02"), findings=("SPR502@25",)
    ),
    "policy-mutated.yaml": Expected(workloads=("Deployment default/bean",), findings=("SPR302@23", "SPR203@25")),
    "policy-test.yaml": Expected(),
    "private-keys.yaml": Expected(workloads=("StatefulSet default/archive",)),
    "rendered-chart.yaml": Expected(
        workloads=("Deployment default/bakery", "Pod default/bakery-test-connection"), findings=("SPR507@44",)
    ),
    "rendered-webhook.yaml": Expected(workloads=("Deployment gate/gate-hook",), findings=("SPR507@62",)),
    "resource-definition.yaml": Expected(),
    "scaled-to-zero.yaml": Expected(workloads=("Deployment default/both-keys",)),
    "scanner-statefulset.yaml": Expected(workloads=("StatefulSet default/pier-scanner",), findings=("SPR003@32",)),
    "scheduler-configuration.yaml": Expected(),
    "scored-pods.yaml": Expected(
        findings=("SPR101@8", "SPR202@11", "SPR302@24", "SPR104@25", "SPR102@40", "SPR106@41")
    ),
    "scripted-deployment.json": Expected(
        workloads=("Deployment default/carousel",), findings=("SPR507@30", "SPR301@32", "SPR401@32")
    ),
    "search-cluster.yaml": Expected(workloads=("Elasticsearch default/seek",)),
    "skeleton.yaml": Expected(findings=("SPR113@8", "SPR113@9", "SPR104@11", "SPR113@12")),
    "spread-policy.yaml": Expected(findings=("SPR302@41",)),
    "stable-and-canary.yaml": Expected(
        workloads=("Deployment kube-system/proxy", "Deployment kube-system/proxy-canary"), findings=("SPR502@25",)
    ),
    "suppressed.yaml": Expected(workloads=("Deployment default/lamp",)),
    "terraform-template.yaml": Expected(),
    "two-namespaces.yaml": Expected(workloads=("Deployment left/twin", "Deployment right/twin")),
    "unlabelled-base.yaml": Expected(workloads=("Deployment default/gull",)),
    "virtual-machine.yaml": Expected(findings=("SPR006@17",)),
    "windows-deployment.yaml": Expected(findings=("SPR103@19",)),
    "worker-sets.yaml": Expected(workloads=("LeaderWorkerSet default/oracle", "LeaderWorkerSet default/oracle")),
    "ytt-deployment.yaml": Expected(findings=("SPR101@20",)),
    "zonal-databases.yaml": Expected(workloads=("StatefulSet default/cellar-one",)),
}


def check(name: str) -> Result:
    return check_source(SourceFile(name, decode_text(name, (FOLDER / name).read_bytes())), named=True)


def found(result: Result) -> tuple[Finding, ...]:
    """What the API server says, and what the default rules say of a project that is this one file."""
    judged = pipeline.findings_of([result], LintPolicy(), is_whole=True)
    return tuple(sort_findings([*judged.findings, *judged.unchecked], [result.source]))


def shown(finding: Finding) -> str:
    return f"{finding.rule.code}@{finding.place.source.position(finding.place.span.start).line}"


def test_every_published_manifest_has_an_expectation() -> None:
    assert sorted(EXPECTED) == sorted(path.name for path in FOLDER.iterdir())


@pytest.mark.parametrize("name", EXPECTED)
def test_a_published_manifest_has_the_findings_it_deserves_and_no_others(name: str) -> None:
    assert EXPECTED[name].findings == tuple(map(shown, found(check(name))))


@pytest.mark.parametrize("name", EXPECTED)
def test_a_published_manifest_starts_with_what_it_is_shaped_like(name: str) -> None:
    """JSON has no comments."""
    text = (FOLDER / name).read_text(encoding="utf-8-sig")

    assert name.endswith(".json") or re.match(r"(?:---\n)?#!? As |{{/\* As ", text)


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.iterdir() if path.name.startswith("patch")))
def test_a_patch_has_no_error_that_its_base_decides(name: str) -> None:
    """What it writes itself is another matter."""
    errors = {item.rule.code for item in found(check(name)) if item.rule.severity is Severity.ERROR}

    assert errors <= {"SPR101", "SPR302"}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_workloads_of_a_published_manifest_are_those_the_server_would_take(name: str) -> None:
    assert EXPECTED[name].workloads == tuple(checked.workload.key for checked in check(name).workloads)


def test_a_file_from_windows_keeps_its_line_ends() -> None:
    raw = (FOLDER / "windows-deployment.yaml").read_bytes()

    assert raw.count(b"\n") == raw.count(b"\r\n")
