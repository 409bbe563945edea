"""What Go's JSON decoder says to values of the wrong type."""

from __future__ import annotations

import math
from typing import Any

import pytest

from kubectl_spread.objects.reading import decode
from kubectl_spread.text.node import Route

POD_SPEC = "json: cannot unmarshal {} into Go struct field PodSpec.{} of type {}"
SPREAD = (
    "json: cannot unmarshal {} into Go struct field TopologySpreadConstraint.spec.topologySpreadConstraints.{} "
    "of type {}"
)
QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def problems(plain: Any, shape: decode.Shape = decode.POD) -> list[tuple[str, Route, str]]:
    return [(problem.kind.value, problem.route, problem.message) for problem in decode.problems(plain, shape)]


@pytest.mark.parametrize(
    ("field", "value", "what", "go_type"),
    [
        ("maxSkew", "1", "string", "int32"),
        ("maxSkew", 1.5, "number 1.5", "int32"),
        ("maxSkew", 3000000000, "number 3000000000", "int32"),
        ("maxSkew", -2147483649, "number -2147483649", "int32"),
        ("maxSkew", True, "bool", "int32"),
        ("maxSkew", [1], "array", "int32"),
        ("maxSkew", {}, "object", "int32"),
        ("minDomains", "2", "string", "int32"),
        ("topologyKey", 1, "number", "string"),
        ("topologyKey", 1.5, "number", "string"),
        ("topologyKey", False, "bool", "string"),
        ("topologyKey", ["zone"], "array", "string"),
        ("whenUnsatisfiable", {}, "object", "string"),
        ("labelSelector", "app=web", "string", "v1.LabelSelector"),
        ("labelSelector", [], "array", "v1.LabelSelector"),
        ("matchLabelKeys", "app", "string", "[]string"),
        ("matchLabelKeys", {"app": "web"}, "object", "[]string"),
        ("nodeTaintsPolicy", 7, "number", "string"),
    ],
)
def test_a_constraint_of_the_wrong_type_is_refused_in_go_s_words(
    field: str, value: Any, what: str, go_type: str
) -> None:
    """The struct, the path without indices, the type; the number itself only where an integer was wanted."""
    plain = {"spec": {"topologySpreadConstraints": [{"maxSkew": 1}, {field: value}]}}
    route = ("spec", "topologySpreadConstraints", 1, field)

    assert [("type", route, SPREAD.format(what, field, go_type))] == problems(plain)


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        (
            {"spec": {"topologySpreadConstraints": {"maxSkew": 1}}},
            [
                (
                    ("spec", "topologySpreadConstraints"),
                    POD_SPEC.format("object", "spec.topologySpreadConstraints", "[]v1.TopologySpreadConstraint"),
                )
            ],
        ),
        ({"spec": []}, [(("spec",), "json: cannot unmarshal array into Go struct field Pod.spec of type v1.PodSpec")]),
        (
            {"metadata": "x"},
            [(("metadata",), "json: cannot unmarshal string into Go struct field Pod.metadata of type v1.ObjectMeta")],
        ),
        (
            {"metadata": {"labels": {"app": 7, "v": "1", "b": True}}},
            [
                (
                    ("metadata", "labels", key),
                    f"json: cannot unmarshal {what} into Go struct field ObjectMeta.metadata.labels of type string",
                )
                for key, what in (("app", "number"), ("b", "bool"))
            ],
        ),
        (
            {"metadata": {"labels": ["app"]}},
            [
                (
                    ("metadata", "labels"),
                    (
                        "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type "
                        "map[string]string"
                    ),
                )
            ],
        ),
        (
            {"spec": {"topologySpreadConstraints": [{"labelSelector": {"matchLabels": []}}]}},
            [
                (
                    ("spec", "topologySpreadConstraints", 0, "labelSelector", "matchLabels"),
                    (
                        "json: cannot unmarshal array into Go struct field LabelSelector.spec."
                        "topologySpreadConstraints."
                        "labelSelector.matchLabels of type map[string]string"
                    ),
                )
            ],
        ),
        (
            {"spec": {"nodeSelector": {"disk": 1}, "hostNetwork": "yes", "priority": "5"}},
            [
                (("spec", "nodeSelector", "disk"), POD_SPEC.format("number", "spec.nodeSelector", "string")),
                (("spec", "hostNetwork"), POD_SPEC.format("string", "spec.hostNetwork", "bool")),
                (("spec", "priority"), POD_SPEC.format("string", "spec.priority", "int32")),
            ],
        ),
        (
            {"spec": {"containers": [{"resources": {"requests": {"cpu": "1x", "memory": "1Gi"}}}]}},
            [(("spec", "containers", 0, "resources", "requests", "cpu"), QUANTITY)],
        ),
        (
            {"spec": {"containers": [{"resources": {"limits": {"cpu": True, "memory": [1]}}}]}},
            [
                (("spec", "containers", 0, "resources", "limits", "cpu"), QUANTITY),
                (("spec", "containers", 0, "resources", "limits", "memory"), QUANTITY),
            ],
        ),
        (
            {"spec": {"tolerations": [{"tolerationSeconds": "300", "key": 1}]}},
            [
                (
                    ("spec", "tolerations", 0, "tolerationSeconds"),
                    (
                        "json: cannot unmarshal string into Go struct field Toleration.spec.tolerations."
                        "tolerationSeconds "
                        "of type int64"
                    ),
                ),
                (
                    ("spec", "tolerations", 0, "key"),
                    "json: cannot unmarshal number into Go struct field Toleration.spec.tolerations.key of type string",
                ),
            ],
        ),
    ],
)
def test_every_wrong_value_is_a_problem_at_its_place(plain: Any, expected: list[tuple[Route, str]]) -> None:
    """All of them, in document order, where Go would stop at the first."""
    assert [("type", route, message) for route, message in expected] == problems(plain)


@pytest.mark.parametrize(
    "plain",
    [
        {},
        {"metadata": None, "spec": None, "status": None},
        {"spec": {"topologySpreadConstraints": None}},
        {
            "spec": {
                "topologySpreadConstraints": [None, {"maxSkew": None, "labelSelector": None, "matchLabelKeys": [None]}]
            }
        },
        {"spec": {"topologySpreadConstraints": [{"maxSkew": 1.0, "minDomains": 2e0}]}},
        {"spec": {"topologySpreadConstraints": [{"maxSkew": 2147483647, "minDomains": -2147483648}]}},
        {"metadata": {"labels": {"app": None, "v": ""}}},
        {"spec": {"containers": [{"resources": {"requests": {"cpu": 1, "memory": 1.5, "x": None, "y": "+1.e3"}}}]}},
        {"spec": {"topologySpreadConstraints": [{"labelSelector": {"matchLabels": {"any": "thing"}}}]}},
        {"spec": {"unknown": 1, "hostAliases": "x"}, "extra": []},
        {"spec": {"resourceClaims": ["anything", {"x": 1}, 7]}},
    ],
)
def test_what_decodes_is_no_problem(plain: Any) -> None:
    """Null fits every type; unknown fields outside a constraint are not looked at."""
    assert [] == problems(plain)


@pytest.mark.parametrize(
    ("constraint", "route", "path"),
    [
        ({"maxskew": 1}, ("maxskew",), "maxskew"),
        ({"matchLabels": {}, "maxSkew": 1}, ("matchLabels",), "matchLabels"),
        ({"foo": None}, ("foo",), "foo"),
        ({"labelSelector": {"app": "web"}}, ("labelSelector", "app"), "labelSelector.app"),
        (
            {"labelSelector": {"matchExpressions": [{"value": "x"}]}},
            ("labelSelector", "matchExpressions", 0, "value"),
            "labelSelector.matchExpressions[0].value",
        ),
    ],
)
def test_an_unknown_field_of_a_constraint_is_named_with_its_path(
    constraint: dict[str, Any], route: Route, path: str
) -> None:
    """As a strict decoder does, with indices."""
    message = f'strict decoding error: unknown field "spec.topologySpreadConstraints[0].{path}"'
    plain = {"spec": {"topologySpreadConstraints": [constraint]}}

    assert [("unknown", ("spec", "topologySpreadConstraints", 0, *route), message)] == problems(plain)


@pytest.mark.parametrize(
    ("route", "expected"),
    [
        ((), ""),
        (("spec",), "spec"),
        (("spec", "containers", 0, "name"), "spec.containers[0].name"),
        (("items", 1, 2), "items[1][2]"),
    ],
)
def test_a_path_is_written_with_dots_and_indices(route: Route, expected: str) -> None:
    """As the API server prints paths."""
    assert expected == decode.path_text(route)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 1e300])
def test_a_float_that_is_no_int32_does_not_decode(value: float) -> None:
    """Not even one without a fraction."""
    (problem,) = decode.problems({"priority": value}, decode.POD_SPEC)

    assert (
        f"json: cannot unmarshal number {value} into Go struct field PodSpec.priority of type int32" == problem.message
    )


def test_a_node_s_quantities_are_looked_at() -> None:
    """Allocatable and capacity."""
    plain = {"status": {"allocatable": {"cpu": "1x"}, "capacity": {"memory": "1g"}}}

    assert [
        ("type", ("status", "allocatable", "cpu"), QUANTITY),
        ("type", ("status", "capacity", "memory"), QUANTITY),
    ] == problems(plain, decode.NODE)
