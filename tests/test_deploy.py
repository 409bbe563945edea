"""The manifests, alerts and dashboard of the exporter fit the program."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from kubectl_spread import __version__
from kubectl_spread.cli.main import run
from kubectl_spread.report import status

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
FILES = sorted(DEPLOY.rglob("*.yaml"))
OWN = {  # of the exporter itself, and of policies
    "kubectl_spread_up",
    "kubectl_spread_readings_total",
    "kubectl_spread_last_reading_duration_seconds",
    "kubectl_spread_last_reading_timestamp_seconds",
    "kubectl_spread_resource_forbidden",
    "kubectl_spread_undecodable_objects",
    "kubectl_spread_workloads",
    "kubectl_spread_policy_violated",
}


def documents(path: Path) -> list[dict[str, Any]]:
    return [item for item in YAML(typ="safe").load_all(path.read_text(encoding="utf-8")) if item]


OBJECTS = [item for path in FILES for item in documents(path)]


def of_kind(kind: str) -> dict[str, Any]:
    (found,) = (item for item in OBJECTS if item["kind"] == kind)
    return found


def test_our_own_strict_profile_has_no_finding(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == run(["check", "--no-config", "--profile", "strict", "-R", str(DEPLOY), "--fail-on", "info"])
    assert "" == capsys.readouterr().out


def test_the_rights_are_those_of_the_page_about_rights() -> None:
    """And nothing but list."""
    (page, *_) = documents(ROOT / "docs" / "rbac.yaml")
    role = of_kind("ClusterRole")

    assert page["rules"] == role["rules"]
    assert {"list"} == {verb for rule in role["rules"] for verb in rule["verbs"]}


def test_the_deployment_is_what_the_restricted_standard_asks_for() -> None:
    spec = of_kind("Deployment")["spec"]["template"]["spec"]
    (container,) = spec["containers"]

    assert (True, {"type": "RuntimeDefault"}) == (
        spec["securityContext"]["runAsNonRoot"],
        spec["securityContext"]["seccompProfile"],
    )
    assert {"drop": ["ALL"]} == container["securityContext"]["capabilities"]
    assert (False, True) == (
        container["securityContext"]["allowPrivilegeEscalation"],
        container["securityContext"]["readOnlyRootFilesystem"],
    )
    assert of_kind("ServiceAccount")["metadata"]["name"] == spec["serviceAccountName"]
    assert {"subjects": of_kind("ServiceAccount")["metadata"]["name"]} == {
        "subjects": of_kind("ClusterRoleBinding")["subjects"][0]["name"]
    }


def test_the_arguments_are_valid(capsys: pytest.CaptureFixture[str]) -> None:
    """Up to the cluster, which is not there."""
    (container,) = of_kind("Deployment")["spec"]["template"]["spec"]["containers"]

    assert 3 == run(["exporter", *container["args"], "--kubeconfig", "/no/such/file"])
    assert capsys.readouterr().err.startswith("error: /no/such/file")


@pytest.mark.parametrize("name", ["exporter", "operator"])
@pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl")
def test_kustomize_builds_it(name: str) -> None:
    done = subprocess.run(["kubectl", "kustomize", str(DEPLOY / name)], capture_output=True, text=True)
    built = [item for item in YAML(typ="safe").load_all(done.stdout) if item]
    (deployment,) = (item for item in built if item["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]

    assert 0 == done.returncode, done.stderr
    assert container["image"].endswith(f":v{__version__}")
    assert {"Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Service"} < {b["kind"] for b in built}


def test_alerts_and_panels_use_metrics_that_exist() -> None:
    """And every panel asks for a namespace, where its metric has one."""
    known = {line.split()[2] for line in status.prometheus_text([]).splitlines() if line.startswith("# TYPE")} | OWN
    rules = of_kind("PrometheusRule")["spec"]["groups"][0]["rules"]
    board = json.loads((DEPLOY / "dashboard.json").read_text(encoding="utf-8"))
    asked = [rule["expr"] for rule in rules] + [item["expr"] for panel in board["panels"] for item in panel["targets"]]
    assert not [text for text in asked if re.search(r"\b(?:by|on) \((?!cluster,)", text)]  # several clusters
    used = {name for text in asked for name in re.findall(r"\bkubectl_spread_\w+", text)}

    assert used <= known
    assert {
        "kubectl_spread_constraint_violated",
        "kubectl_spread_workload_pods_pending",
        "kubectl_spread_constraint_uncounted_pods",
        "kubectl_spread_policy_violated",
        "kubectl_spread_up",
        "kubectl_spread_resource_forbidden",
        "kubectl_spread_undecodable_objects",
        "kubectl_spread_workloads",
        "kubectl_spread_last_reading_timestamp_seconds",
    } <= {name for rule in rules for name in re.findall(r"\bkubectl_spread_\w+", rule["expr"])}
    assert len(board["panels"]) == len({panel["id"] for panel in board["panels"]})
    assert [] == [panel["title"] for panel in board["panels"] if "unit" not in panel["fieldConfig"]["defaults"]]


def test_the_page_about_monitoring_names_every_alert_and_every_metric() -> None:
    page = (ROOT / "docs" / "monitoring.md").read_text(encoding="utf-8")
    alerts = [rule["alert"] for rule in of_kind("PrometheusRule")["spec"]["groups"][0]["rules"]]
    metrics = [line.split()[2] for line in status.prometheus_text([]).splitlines() if line.startswith("# TYPE")]

    assert alerts == re.findall(r"^\| `(Spread\w+)` \|", page, re.MULTILINE)
    assert [] == [name for name in metrics if f"`{name}`" not in page]


def test_the_container_has_the_pinned_libraries_and_no_root() -> None:
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")

    assert "--require-hashes" in text
    assert re.search(r"^USER 65532", text, re.MULTILINE)
    for line in re.findall(r"^COPY ([^-].*) \S+$", text, re.MULTILINE):
        assert all((ROOT / name).exists() for name in line.split()), line
