"""The JSON document of an explanation has what the text has, and holds its schema."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, HealthCheck, settings

from kubectl_spread import schemas
from kubectl_spread.report.explain import document
from kubectl_spread.report.explain.pod_report import PodReport
from tests.explain.shown import conflict_text, constraint_text, explained
from tests.explain.tight import constraint, tight_cases
from tests.naive.builders import HOSTNAME, node, pod, ZONE

Plain = dict[str, Any]


@settings(max_examples=30, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(tight_cases())
@pytest.mark.slow
def test_every_document_holds_its_schema_and_every_line_its_width(case: Plain) -> None:
    found = explained(case["objects"], case["incoming"][0])

    jsonschema.validate(json.loads(json.dumps(document.explanation(PodReport(found)))), schemas.load("explanation"))
    text = [*constraint_text(found, width=80).splitlines(), *conflict_text(found, width=80).splitlines()]
    assert [
        line for line in text if len(line) > 80 and "   " not in line.strip()
    ] == []  # rows of tables are not broken


def test_requirements_and_counts_are_told_in_fields() -> None:
    running = pod("web-1", on="a1", labels={"app": "web", "pod-template-hash": "5d4f"})
    nodes = [
        node("a1", labels={ZONE: "a", HOSTNAME: "a1"}),
        node("b1", labels={ZONE: "b", HOSTNAME: "b1"}, allocatable={"cpu": "250m"}),
    ]
    new = pod("new", labels={"app": "web"}, requests={"cpu": "500m"})
    new["spec"]["topologySpreadConstraints"] = [constraint(ZONE)]

    told = document.explanation(PodReport(explained([*nodes, running], new)))

    assert (told["moreConflicts"], told["conflictsComplete"]) == (0, True)
    assert told["conflicts"][0]["requirements"] == [
        {
            "plugin": "NodeResourcesFit",
            "text": "the cpu request",
            "kind": "resource",
            "key": "cpu",
            "index": None,
            "id": "resource/cpu",
            "parts": [],
            "arithmetic": "needs 500m; b1 has 250m in all",
            "nodes": ["a1"],
        },
        {
            "plugin": "PodTopologySpread",
            "text": "topologySpreadConstraints[0] (topology.kubernetes.io/zone, maxSkew 1)",
            "kind": "constraint",
            "key": ZONE,
            "index": 0,
            "id": f"constraint/0/{ZONE}",
            "parts": [],
            "arithmetic": "1 + 1 - 0 = 2 > 1 in a",
            "nodes": ["b1"],
        },
    ]
    (account,) = told["constraints"]
    assert account["originText"] == "the pod"
    assert account["minimumHeldBy"] == [
        {"domains": ["b"], "nodeCount": 1, "nodes": ["b1"], "whyNot": "Insufficient cpu"}
    ]
    assert account["domains"][0]["pods"] == [
        {
            "owner": "",
            "own": True,
            "count": 1,
            "names": ["web-1"],
            "revisions": [{"revision": "5d4f", "count": 1}],
        }
    ]
    assert account["domains"][0]["terminating"] == {"count": 0, "pods": []}
