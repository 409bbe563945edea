"""What `rebalance` promises if the cluster may be read only in part."""

from __future__ import annotations

import json
from collections.abc import Iterator

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.cli.main import run
from tests.apiserver import ApiServer
from tests.live.conftest import Kubeconfig
from tests.rebalance.builders import budget, nodes, workload

UNKNOWN = "These cluster facts may lack PodDisruptionBudgets."
DELETE = " delete pod web-h-0 -n shop &&\n"
EVICT = '  echo \'{"apiVersion":"policy/v1","kind":"Eviction",'


@pytest.fixture
def cluster() -> Iterator[ApiServer]:
    """Three zones, and a workload with two pods in one of them."""
    objects = [*nodes("a1", "b1", "c1"), *workload("a1 a1 b1")]
    objects.append({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    for item in objects:
        item["metadata"].setdefault("uid", f"{item['kind']}-{item['metadata']['name']}")
    for item in objects[4:]:
        for reference in item["metadata"].get("ownerReferences", ()):
            reference["uid"] = f"{reference['kind']}-{reference['name']}"
    with ApiServer(objects).running() as running:
        yield running


@pytest.fixture
def config(cluster: ApiServer, kubeconfig: Kubeconfig) -> str:
    return kubeconfig(cluster.url)


def test_a_pod_without_a_budget_is_deleted(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    """All budgets are known: there are none."""
    code = run(["rebalance", "--kubeconfig", config])
    said = capsys.readouterr().out

    assert code == 0
    assert DELETE in said
    assert UNKNOWN not in said


def test_without_the_right_to_list_budgets_every_eviction_asks_them(
    cluster: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The plan does not promise that no budget refuses, and says what may not be read."""
    cluster.put(budget(maxUnavailable=0))
    cluster.forbidden = {"poddisruptionbudgets"}
    run(["rebalance", "--kubeconfig", config])
    said = capsys.readouterr().out

    assert EVICT in said
    assert DELETE not in said
    assert UNKNOWN in said
    assert said.endswith("\npartly known: may not list poddisruptionbudgets; these objects can change the plan\n")


def test_the_budgets_of_the_own_namespace_are_enough(
    cluster: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Budgets select only pods of their namespace."""
    cluster.forbidden = {"poddisruptionbudgets@"}
    run(["rebalance", "--kubeconfig", config])
    said = capsys.readouterr().out

    assert DELETE in said
    assert UNKNOWN not in said


def test_json_says_that_budgets_are_not_known(
    cluster: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.forbidden = {"poddisruptionbudgets"}
    run(["rebalance", "--kubeconfig", config, "-o", "json"])
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schemas.load("rebalance-plan"))
    (repair,) = document["repairs"]

    assert not repair["plan"]["budgetsKnown"]
    assert [item["asksBudgets"] for item in repair["plan"]["evictions"]] == [True]
    assert document["unread"][0]["kind"] == "PodDisruptionBudget"


def test_a_budget_that_can_be_read_is_respected(
    cluster: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.put(budget(maxUnavailable=0))
    code = run(["rebalance", "--kubeconfig", config])
    said = " ".join(capsys.readouterr().out.split())

    assert code == 1
    assert "would be refused: The disruption budget web needs 3 healthy pods" in said


@pytest.mark.parametrize("plural", ["deployments", "replicasets", "services", "priorityclasses"])
def test_what_may_not_be_read_is_named(
    plural: str, cluster: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is a plan, or a reason why there is none; either way, the kind is named."""
    cluster.forbidden = {plural}
    code = run(["rebalance", "--kubeconfig", config])
    said = capsys.readouterr()

    assert code in (0, 1)
    assert plural in said.out + said.err
