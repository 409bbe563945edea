"""The schemas that editors and other validators use agree with the rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from referencing import Registry, Resource

from kubectl_spread import schemas
from kubectl_spread.objects.constraints import constraint as constraint_reader
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.validation import constraint_errors
from kubectl_spread.objects.workloads.kinds import EVERY, KINDS, WorkloadKind
from kubectl_spread.objects.workloads.manifest import manifests
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import SourceFile

ROOT = Path(__file__).parent.parent
BEYOND_SCHEMA = {"SPR105", "SPR110"}  # they compare one part with another
CONSTRAINT = Draft7Validator(schemas.load("topology-spread-constraint"))
WORKLOAD = Draft7Validator(
    schemas.load("workload"),
    registry=Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema))
        for schema in (schemas.load("workload"), schemas.load("topology-spread-constraint"))
    ),
)

KEYS = st.sampled_from(
    ["app", "example.com/app", "", "/app", "a/b/c", "Example.com/app", "-app", "app_", "x" * 63, "x" * 64, "a..b/c"]
)
VALUES = st.sampled_from(["web", "", "-web", "a b", "x" * 63, "x" * 64, None, 1, True])
REQUIREMENTS = st.fixed_dictionaries(
    {},
    optional={
        "key": KEYS,
        "operator": st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "in", "Gt", ""]),
        "values": st.none() | st.lists(VALUES, max_size=2),
        "value": VALUES,
    },
)
SELECTORS = st.fixed_dictionaries(
    {},
    optional={
        "matchLabels": st.none() | st.dictionaries(KEYS, VALUES, max_size=2),
        "matchExpressions": st.none() | st.lists(REQUIREMENTS, max_size=2),
        "app": st.just("web"),
    },
)
POLICIES = st.sampled_from(["Honor", "Ignore", "honor", "", None, 1])
WHOLE = st.sampled_from([1, 2, 2.0, 0, -1, 1.5, "1", None, True, 2**31, 2**31 - 1])
ACTIONS = st.sampled_from(["DoNotSchedule", "ScheduleAnyway", "doNotSchedule", "", None])
CONSTRAINTS = st.fixed_dictionaries(
    {"maxSkew": st.just(1), "topologyKey": st.just("zone"), "whenUnsatisfiable": ACTIONS},
    optional={
        "labelSelector": st.none() | SELECTORS,
        "matchLabelKeys": st.none() | st.lists(KEYS, max_size=2),
        "minDomains": WHOLE,
        "nodeAffinityPolicy": POLICIES,
        "nodeTaintsPolicy": POLICIES,
        "NodeTaintsPolicy": st.just("Honor"),
    },
)
BARE = st.fixed_dictionaries({}, optional={"maxSkew": WHOLE, "topologyKey": KEYS, "whenUnsatisfiable": ACTIONS})


def is_refused(constraint: Any) -> bool:
    """Whether the decoder or the validation refuses a constraint, as far as a schema can say it."""
    if decode.problems(constraint, decode.TOPOLOGY_SPREAD_CONSTRAINT):
        return True
    errors = constraint_errors(
        constraint_reader.constraints({"topologySpreadConstraints": [constraint]}), created_with=None
    )
    return any(error.rule.value not in BEYOND_SCHEMA for error in errors)


@pytest.mark.slow
@settings(max_examples=700)
@given(CONSTRAINTS | BARE)
@example({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 2})
def test_the_schema_refuses_what_the_api_server_refuses(constraint: dict[str, Any]) -> None:
    assert is_refused(constraint) == (not CONSTRAINT.is_valid(constraint))


FILES = sorted(
    path
    for folder in ("examples", "tests/examples/cases", "tests/lint/published")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".yaml", ".json")
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_schema_of_workloads_finds_the_constraints(path: Path) -> None:
    """In every manifest that the tests have, it refuses those with a constraint that is refused, and no others."""
    for document in compose.compose(SourceFile(path.name, path.read_text(encoding="utf-8-sig"))):
        if not isinstance(document, compose.Document):
            continue
        for manifest in manifests(document):
            if manifest.workload_kind is None:
                continue
            routes = [
                (*manifest.route, *place.spec, "topologySpreadConstraints")
                for place in manifest.workload_kind.places(manifest.plain)
            ]
            written = [found for route in routes if (found := nodes.follow(document.root, route)) is not None]
            expected = any(is_refused(item) for found in written for item in nodes.to_plain(found) or ())

            assert expected == (not WORKLOAD.is_valid(manifest.plain)), manifest.name


def test_the_schema_of_workloads_knows_every_kind() -> None:
    conditions = [condition["if"]["properties"]["kind"]["const"] for condition in schemas.load("workload")["allOf"]]

    assert sorted(KINDS) == conditions


def within(route: Route, value: Any) -> Any:
    """A value at the end of a route."""
    for step in reversed(route):
        value = [value] if step == EVERY else {step: value}
    return value


@pytest.mark.parametrize(("kind", "template"), [(kind, route) for kind in KINDS.values() for route in kind.templates])
@pytest.mark.parametrize(("skew", "expected"), [(1, True), (0, False)])
def test_the_schema_of_workloads_looks_where_a_kind_keeps_its_pods(
    kind: WorkloadKind, template: Route, skew: int, expected: bool
) -> None:
    """At each of its places, and in the group of the kind."""
    constraint = {"maxSkew": skew, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    plain = within((*template, "spec", "topologySpreadConstraints"), [constraint])
    groups = sorted(kind.groups)
    versions = [f"{group}/v1" if group else "v1" for group in groups]

    assert [expected] * len(groups) == [
        WORKLOAD.is_valid({"apiVersion": version, "kind": kind.kind, **plain}) for version in versions
    ]


def test_a_service_of_the_core_is_no_workload() -> None:
    assert WORKLOAD.is_valid({"apiVersion": "v1", "kind": "Service", "spec": {"template": "none"}})


@pytest.mark.parametrize("name", ["topology-spread-constraint", "workload"])
def test_the_schemas_are_schemas(name: str) -> None:
    Draft7Validator.check_schema(schemas.load(name))
