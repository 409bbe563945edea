"""`rebalance`: the command line, the plan as text and JSON, exit codes and messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.cli.main import run
from tests.rebalance import builders

Plain = dict[str, Any]

SHOP = str(Path(__file__).parents[3] / "examples" / "shop" / "running.yaml")


def answer(capsys: pytest.CaptureFixture[str], *args: str) -> Plain:
    """Run with -o json, and return the document, which is valid."""
    run(["rebalance", *args, "-o", "json"])
    document: Plain = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schemas.load("rebalance-plan"))
    return document


def test_a_plan_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    """The pods to delete, where the new ones go, the counts, the certainty, and the commands."""
    code = run(["rebalance", "deploy/api", "-n", "shop", "--soft", "--snapshot", SHOP])

    assert (
        capsys.readouterr().out
        == """\
Deployment shop/api: 1 eviction repairs it
  topology.kubernetes.io/zone (ScheduleAnyway): a=0 b=2; skew 2, maxSkew 1
This plan deletes 1 running pod. Nothing was deleted yet.
  #   POD               NODE   THE NEW POD GOES TO
  1   api-5c4b6-m8ttv   b-1    a-1 or a-2
These cluster facts may lack PodDisruptionBudgets. The commands ask the API server, which refuses an eviction that a
budget does not allow.
Commands:
  echo '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"api-5c4b6-m8ttv","namespace":"shop"}}' | \
kubectl create -f - --raw /api/v1/namespaces/shop/pods/api-5c4b6-m8ttv/eviction &&
  kubectl wait --for=delete pod/api-5c4b6-m8ttv -n shop --timeout=10m &&
  kubectl rollout status deployment/api -n shop --timeout=10m

If a command fails, the rest do not run. Run rebalance again.
"""
    )
    assert code == 0


def test_a_soft_constraint_is_left_alone_without_soft(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["rebalance", "deploy/api", "-n", "shop", "--snapshot", SHOP])

    assert capsys.readouterr().out == (
        "No violated constraint found in shop namespace: there is nothing to rebalance.\n"
    )
    assert code == 0


def test_without_a_plan_the_reasons_and_remedies_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 1, and no command is printed."""
    code = run(["rebalance", "-n", "shop", "--snapshot", SHOP])
    said = capsys.readouterr().out

    assert said.startswith("Deployment shop/web: no plan\n")
    assert "the pod that replaces web-7d9f8-4xk2p or web-7d9f8-9zq7m would stay Pending: 0/4 nodes are" in said
    assert "- uncordon c-1 (`kubectl uncordon c-1`); then 2 evictions would be enough in every outcome" in said
    assert "Commands:" not in said
    assert code == 1


def test_the_document_of_a_plan(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "deploy/api", "-n", "shop", "--soft", "--snapshot", SHOP)
    (repair,) = found["repairs"]
    (eviction,) = repair["plan"]["evictions"]

    assert found["repaired"]
    assert repair["verdict"] == "evict"
    assert eviction["pod"] == "api-5c4b6-m8ttv"
    assert eviction["landsOn"] == ["a-1", "a-2"]
    assert eviction["landsIn"] == {"topology.kubernetes.io/zone": ["a"]}
    assert repair["commands"] == eviction["commands"]
    assert repair["plan"]["smallest"]
    assert repair["plan"]["exact"]


def test_the_document_without_a_plan(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "-n", "shop", "--snapshot", SHOP)
    (repair,) = found["repairs"]

    assert not found["repaired"]
    assert (repair["verdict"], repair["plan"], repair["commands"]) == ("noPlan", None, [])
    assert [item["reason"] for item in repair["obstacles"]] == ["pending"]
    assert repair["remedies"][0]["change"] == "uncordon"
    assert repair["remedies"][0]["nodes"] == ["c-1"]
    assert repair["remedies"][0]["evictions"] == 2


def test_nothing_to_do_is_a_document_too(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "deploy/api", "-n", "shop", "--snapshot", SHOP)

    assert (found["repaired"], found["checked"], found["repairs"]) == (True, 1, [])


BATCH = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: batch, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: batch}}
  template:
    metadata: {labels: {app: batch}}
    spec:
      containers: [{name: c, image: batch}]
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: batch}}
"""


def test_the_workloads_of_a_manifest_are_created_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The workload exists then, and the scheduler has spread its pods."""
    path = tmp_path / "batch.yaml"
    path.write_text(BATCH)
    found = answer(capsys, "deploy/batch", "-n", "shop", "--snapshot", SHOP, "-f", str(path))

    assert (found["checked"], found["repairs"]) == (1, [])
    assert answer(capsys, "deploy/batch", "-n", "shop", "--snapshot", SHOP)["checked"] == 0


def test_a_workload_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["rebalance", "deploy/nope", "-n", "shop", "--snapshot", SHOP])
    said = capsys.readouterr()

    assert said.out == ""
    assert said.err == 'error: deployments.apps "nope" not found in namespace "shop" of the cluster facts\n'
    assert code == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-A", "-n", "shop"], "error: --namespace and --all-namespaces exclude each other\n"),
        (["-A", "deploy/web"], "error: a resource by name and --all-namespaces exclude each other\n"),
        (
            ["--effort", "much"],
            "error: invalid value for '--effort': 'much' is not one of 'quick', 'normal', 'thorough'",
        ),
        (["--max-moves", "0"], "error: invalid value for '--max-moves': 0 is not in the range x>=1\n"),
    ],
)
def test_wrong_usage(args: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["rebalance", *args, "--snapshot", SHOP])

    assert capsys.readouterr().err.startswith(message)
    assert code == 2


def test_an_input_that_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["rebalance", "--snapshot", "nowhere.yaml"])

    assert "nowhere.yaml" in capsys.readouterr().err
    assert code == 3


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"selector": {"matchLabels": {"app": 5}}},
            (
                "PodDisruptionBudget shop/web may cover these pods: it could not be read. The commands ask the API "
                "server, which refuses an eviction that a budget does not allow."
            ),
        ),
        (
            {"selector": {"matchExpressions": [{"key": "app", "operator": "is", "values": ["web"]}]}},
            (
                "PodDisruptionBudget shop/web may cover these pods: its selector is invalid "
                '(spec.selector.matchExpressions[0].operator: Invalid value: "is": not a valid selector operator). The '
                "commands ask the API server, which refuses an eviction that a budget does not allow."
            ),
        ),
    ],
)
def test_a_budget_that_may_cover_the_pods(
    change: Plain, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No pod is deleted past it, although other budgets are known."""
    unclear, other = builders.budget(maxUnavailable=1), builders.budget("db", maxUnavailable=1)
    unclear["spec"] |= change
    items = [*builders.nodes("a1", "b1", "c1"), *builders.workload("a1 a1 b1"), unclear, other]
    facts = tmp_path / "facts.json"
    facts.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    run(["rebalance", "-n", "shop", "--snapshot", str(facts)])
    text = capsys.readouterr().out
    run(["rebalance", "-n", "shop", "--snapshot", str(facts), "-o", "json"])
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schemas.load("rebalance-plan"))
    (repair,) = document["repairs"]

    assert said in " ".join(text.split())
    assert "/pods/web-h-0/eviction &&" in text
    assert "kubectl delete" not in text
    assert not repair["plan"]["budgetsKnown"]
    assert [item["name"] for item in repair["plan"]["unclearBudgets"]] == ["web"]


def test_a_document_that_cannot_be_read_may_hold_budgets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The commands ask the API server."""
    items = [*builders.nodes("a1", "b1", "c1"), *builders.workload("a1 a1 b1"), builders.budget("db", maxUnavailable=1)]
    facts = tmp_path / "facts.yaml"
    facts.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}) + "\n---\nkind: [\n")
    run(["rebalance", "-n", "shop", "--snapshot", str(facts)])
    text = capsys.readouterr().out

    assert "These cluster facts may lack PodDisruptionBudgets." in text
    assert "/pods/web-h-0/eviction &&" in text
