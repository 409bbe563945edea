"""docs/rbac.yaml allows what is asked, and no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kubectl_spread.cli.main import run
from kubectl_spread.sources.live import resources
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.source import SourceFile
from tests.apiserver import API, ApiServer
from tests.live.conftest import SHOP

RBAC = Path(__file__).parent.parent.parent / "docs" / "rbac.yaml"
EVERYTHING = resources.Question(
    "shop",
    kinds=("Job", "CronJob", "DaemonSet"),
    texts=("persistentVolumeClaim", "runtimeClassName"),
    has_autoscalers=True,
    has_revisions=True,
).resources(36)


def roles() -> dict[tuple[str, str], set[tuple[str, str, str]]]:
    """Group, plural and verb of every rule, by kind and name of its role."""
    source = SourceFile(str(RBAC), RBAC.read_text(encoding="utf-8"))
    found: dict[tuple[str, str], set[tuple[str, str, str]]] = {}
    for document in compose.compose(source):
        assert isinstance(document, compose.Document)
        plain: Any = nodes.to_plain(document.root)
        found[plain["kind"], plain["metadata"]["name"]] = {
            (group, plural, verb)
            for rule in plain["rules"]
            for group in rule["apiGroups"]
            for plural in rule["resources"]
            for verb in rule["verbs"]
        }
    return found


def test_the_cluster_role_allows_each_list_and_nothing_else() -> None:
    expected = {(resource.group, resource.plural, "list") for resource in EVERYTHING}

    assert expected == roles()["ClusterRole", "kubectl-spread"]


def test_the_role_of_a_namespace_allows_each_list_there_and_nothing_else() -> None:
    expected = {(resource.group, resource.plural, "list") for resource in EVERYTHING if resource.is_namespaced}

    assert expected == roles()["Role", "kubectl-spread"]
    assert {("", "nodes", "list")} == roles()["ClusterRole", "kubectl-spread-nodes"]


def test_the_role_for_karpenter_allows_its_lists() -> None:
    expected = {(resource.group, resource.plural, "list") for resource in resources.PROVISIONING}

    assert expected == roles()["ClusterRole", "kubectl-spread-karpenter"]


def test_the_role_for_the_schedulers_configuration_allows_to_get_it() -> None:
    assert {("", "configmaps", "get")} == roles()["Role", "kubectl-spread-scheduler"]


def test_the_role_of_a_namespace_is_enough_for_an_answer(server: ApiServer, config: str) -> None:
    allowed = {plural for _, plural, _ in roles()["Role", "kubectl-spread"]}
    for _, _, plural, is_namespaced in API.values():
        if plural == "nodes":
            continue
        elsewhere = {f"{plural}@", f"{plural}@kube-system"}
        server.forbidden |= elsewhere if plural in allowed and is_namespaced else {plural}

    assert run(["explain", "deploy/web", "--kubeconfig", config]) == 1
    assert run(["check", str(SHOP / "web.yaml"), "--live", "--kubeconfig", config]) == 1
