"""What is suggested does what is said, whoever does it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, HealthCheck, Phase, settings
from ruamel.yaml import YAML

from kubectl_spread import schemas
from kubectl_spread.advice.change import Suggestions
from kubectl_spread.advice.problem import of_pod
from kubectl_spread.advice.search import suggest
from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.explain.explanation import explain
from kubectl_spread.report.documents import to_document
from kubectl_spread.report.explain import document as document  # noqa: PLC0414 (the form of suggestions)
from kubectl_spread.report.explain.suggestions import lines
from kubectl_spread.report.table import Style, unpainted
from kubectl_spread.scheduler.profiles import profiles
from tests.advice.applying import applied
from tests.advice.strategies import Case, cases
from tests.naive.builders import decide_all

Plain = dict[str, Any]
PROFILES = profiles()
SCENARIOS = Path(__file__).parents[2] / "examples" / "scenarios"
SNAPSHOTS = [path for path in sorted(SCENARIOS.glob("*/snapshot.yaml")) if "phase: Pending}" in path.read_text("utf-8")]
VALIDATOR = jsonschema.Draft202012Validator(
    {"type": "array", "items": {"$ref": "#/$defs/suggestion"}, "$defs": schemas.load("explanation")["$defs"]}
)


def suggestions_for(case: Case) -> Suggestions:
    """What is suggested for the first pod that waits."""
    cluster = cluster_of([*case.objects, *case.waiting])
    pod = next(item for item in cluster.pods if item.name == case.waiting[0]["metadata"]["name"])
    problem = of_pod(explain(pod, cluster, PROFILES), cluster, PROFILES)
    return Suggestions() if problem is None else suggest(problem, most=50)


def placed(case: Case, changes: list[Plain]) -> dict[str, bool]:
    """Whether each pod that waits finds a node once the changes are done, as the slow scheduler says."""
    objects, waiting = applied(case.objects, case.waiting, changes)
    decisions = decide_all(objects, *waiting)
    return {decision["pod"].partition("/")[2]: bool(decision["feasible"]) for decision in decisions}


@settings(
    max_examples=40,
    phases=[Phase.generate],
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(cases())
@pytest.mark.slow
def test_every_suggestion_places_the_pod(case: Case) -> None:
    """Done to the objects by the test, and asked of another scheduler: the pod fits.

    What a new template comes to is played in tests/naive, with controllers.
    """
    for item in suggestions_for(case).items:
        if item.is_of_manifest:
            continue
        found = placed(case, list(item.changes))

        assert found[case.waiting[0]["metadata"]["name"]], item.title


@pytest.mark.slow
@settings(max_examples=20, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_suggestions_can_be_told(case: Case) -> None:
    """The document follows its schema, lines of prose are not too long, and shells read the commands."""
    found = suggestions_for(case)
    text = list(map(unpainted, lines(found, Style(width=80, is_detailed=True))))
    prose = [line for line in text if not line.startswith("     ") and not line.lstrip().startswith("$")]

    told = json.loads(json.dumps([to_document(item) for item in found.items]))
    assert not [error.message for error in VALIDATOR.iter_errors(told)]
    assert not [line for line in prose if len(line) > 80 and " " in line.strip()[20:]]
    assert all(shlex.split(command)[0] == "kubectl" for item in found.items for command in item.commands)


@pytest.mark.parametrize("path", SNAPSHOTS, ids=lambda path: path.parent.name)
def test_every_suggestion_for_an_example_places_the_pod(path: Path) -> None:
    """The same for the Pending pods of the examples, which have volumes, other workloads and rollouts."""
    items = YAML(typ="safe", pure=True).load(path)["items"]
    pending = [item for item in items if item["kind"] == "Pod" and "nodeName" not in item["spec"]]
    objects = [_with_defaults(item) for item in items if item not in pending]
    case = Case(objects, [_with_defaults(item) for item in pending])
    found = suggestions_for(case).items

    assert found
    for item in found:
        assert all(placed(case, list(item.changes)).values()), item.title


def _with_defaults(item: Plain) -> Plain:
    """With the fields that the builders write, too."""
    return {"spec": {}, "status": {}, **item}
