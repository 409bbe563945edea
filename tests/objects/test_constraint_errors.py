"""The API server's validation of constraints, of pods that are created and of templates."""

from __future__ import annotations

from typing import Any, Optional

import pytest

from kubectl_spread.objects import validation
from kubectl_spread.objects.constraints import constraint as constraint_reader
from kubectl_spread.objects.releases import behaviours
from kubectl_spread.objects.releases.version import LATEST
from kubectl_spread.objects.validation import constraint_errors

VALID = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
P = "spec.topologySpreadConstraints[0]"
TWICE = "exists in both matchLabelKeys and labelSelector"
APP = {"matchLabels": {"app": "x"}}
APP_IN = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["x"]}]}


def errors(*constraints: dict[str, Any], labels: Optional[dict[str, str]], minor: Optional[int] = None) -> list[str]:
    """The errors of constraints; `labels` is None for a template."""
    plain = {"topologySpreadConstraints": list(constraints)}
    return [
        error.text()
        for error in constraint_errors(constraint_reader.constraints(plain), created_with=labels, minor=minor)
    ]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"maxSkew": None}, [f"{P}.maxSkew: Invalid value: 0: must be greater than zero"]),
        ({"maxSkew": -3}, [f"{P}.maxSkew: Invalid value: -3: must be greater than zero"]),
        ({"topologyKey": ""}, [f"{P}.topologyKey: Required value: can not be empty"]),
        ({"topologyKey": "a b!!"}, []),
        (
            {"whenUnsatisfiable": None},
            [f'{P}.whenUnsatisfiable: Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnyway"'],
        ),
        (
            {"whenUnsatisfiable": 'do"not'},
            [
                (
                    f'{P}.whenUnsatisfiable: Unsupported value: "do\\"not": supported values: "DoNotSchedule", '
                    '"ScheduleAnyway"'
                )
            ],
        ),
        ({"minDomains": 0}, [f"{P}.minDomains: Invalid value: 0: must be greater than zero"]),
        (
            {"minDomains": -1, "whenUnsatisfiable": "ScheduleAnyway"},
            [
                f"{P}.minDomains: Invalid value: -1: must be greater than zero",
                (
                    f"{P}.minDomains: Invalid value: -1: can only use minDomains if whenUnsatisfiable=DoNotSchedule, "
                    "not ScheduleAnyway"
                ),
            ],
        ),
        (
            {"nodeAffinityPolicy": "honor", "nodeTaintsPolicy": ""},
            [
                f'{P}.nodeAffinityPolicy: Unsupported value: "honor": supported values: "Honor", "Ignore"',
                f'{P}.nodeTaintsPolicy: Unsupported value: "": supported values: "Honor", "Ignore"',
            ],
        ),
        (
            {"matchLabelKeys": ["bad key!"]},
            [f"{P}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set"],
        ),
        ({"labelSelector": APP}, []),
        ({"labelSelector": {}}, []),
        (
            {
                "labelSelector": {
                    "matchExpressions": [{"key": "a", "operator": "In"}, {"key": "b", "operator": "Equals"}]
                }
            },
            [
                (
                    f"{P}.labelSelector.matchExpressions[0].values: Required value: must be specified when `operator` "
                    "is 'In' or 'NotIn'"
                ),
                (
                    f'{P}.labelSelector.matchExpressions[1].operator: Invalid value: "Equals": not a valid selector '
                    "operator"
                ),
            ],
        ),
        (
            {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["x"]}]}},
            [
                (
                    f"{P}.labelSelector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is "
                    "'Exists' or 'DoesNotExist'"
                )
            ],
        ),
    ],
)
@pytest.mark.parametrize("labels", [None, {}, {"app": "x"}], ids=["template", "pod", "labelled pod"])
def test_a_template_and_a_pod_are_told_the_same(
    change: dict[str, Any], expected: list[str], labels: Optional[dict[str, str]]
) -> None:
    """Without matchLabelKeys it does not matter which it is."""
    assert expected == errors({**VALID, **change}, labels=labels)


@pytest.mark.parametrize(
    ("keys", "selector", "labels", "expected"),
    [
        # a template is not merged: only what is written twice in the selector is an error
        (["app"], APP, None, []),
        (["app"], APP_IN, None, []),
        (["app"], {**APP, **APP_IN}, None, [f'{P}[0]: Invalid value: "app": {TWICE}']),
        (["v", "v"], {}, None, []),
        # a pod is merged with the labels it is created with
        (["app"], APP, {"app": "x"}, [f'{P}[0]: Invalid value: "app": {TWICE}']),
        (["app"], APP, {}, []),
        (["app"], APP, {"other": "x"}, []),
        (["app"], APP_IN, {"app": "x"}, [f'{P}[0]: Invalid value: "app": {TWICE}']),
        (["v", "app"], APP, {"app": "x", "v": "1"}, [f'{P}[1]: Invalid value: "app": {TWICE}']),
        (["v", "v"], {}, {"v": "1"}, [f'{P}[1]: Invalid value: "v": {TWICE}']),
        (["v"], {}, {"v": "1"}, []),
    ],
)
def test_a_match_label_key_may_not_be_in_the_selector_too(
    keys: list[str], selector: dict[str, Any], labels: Optional[dict[str, str]], expected: list[str]
) -> None:
    """A Deployment is accepted whose pods are all refused; the path lacks the field's name."""
    assert expected == errors({**VALID, "matchLabelKeys": keys, "labelSelector": selector}, labels=labels)


@pytest.mark.parametrize("labels", [None, {}])
@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, []),
        (2, [0]),
        (3, [0, 1]),
    ],
)
def test_all_but_the_last_of_equal_constraints_are_duplicates(
    count: int, expected: list[int], labels: Optional[dict[str, str]]
) -> None:
    """Reported at the earlier index, once for each."""
    assert [
        f"spec.topologySpreadConstraints[{index}].{{topologyKey, whenUnsatisfiable}}: Duplicate value: "
        '"{zone, DoNotSchedule}"'
        for index in expected
    ] == errors(*[VALID] * count, labels=labels)


def test_a_hard_and_a_soft_constraint_on_one_key_are_no_duplicates() -> None:
    """The pair of key and action is what must not repeat."""
    assert [] == errors(VALID, {**VALID, "whenUnsatisfiable": "ScheduleAnyway"}, labels=None)


def test_errors_come_constraint_by_constraint_in_the_order_of_the_rules() -> None:
    """All of constraint 0 before constraint 1."""
    assert [
        "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
        "spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty",
        (
            'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "": supported values: '
            '"DoNotSchedule", "ScheduleAnyway"'
        ),
        'spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{, }"',
        "spec.topologySpreadConstraints[1].maxSkew: Invalid value: 0: must be greater than zero",
        "spec.topologySpreadConstraints[1].topologyKey: Required value: can not be empty",
        (
            'spec.topologySpreadConstraints[1].whenUnsatisfiable: Unsupported value: "": supported values: '
            '"DoNotSchedule", "ScheduleAnyway"'
        ),
    ] == errors({}, {}, labels=None)


KEYS = {"labelSelector": APP, "matchLabelKeys": ["app", "v"]}


@pytest.mark.parametrize(
    ("minor", "expected"),
    [
        (26, []),
        (27, [f'{P}.matchLabelKeys[0]: Invalid value: "app": {TWICE}']),
        (33, [f'{P}.matchLabelKeys[0]: Invalid value: "app": {TWICE}']),
        (34, []),
        (36, []),
    ],
)
def test_a_key_in_both_is_refused_in_templates_up_to_1_33(minor: int, expected: list[str]) -> None:
    """Up to 1.26 the field is dropped before anything is validated; from 1.34 on only the pods are refused."""
    assert errors({**VALID, **KEYS}, labels=None, minor=minor) == expected


def test_keys_are_validated_without_a_selector_up_to_1_33() -> None:
    constraint = {**VALID, "matchLabelKeys": ["a b"]}
    forbidden = f"{P}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set"

    found = errors(constraint, labels=None, minor=30)
    assert errors(constraint, labels=None, minor=34) == [forbidden]
    assert found[0] == forbidden
    assert found[1].startswith(f'{P}.matchLabelKeys[0]: Invalid value: "a b": name part must consist of ')


@pytest.mark.parametrize(
    ("field", "since", "refused"),
    [("minDomains", 27, -1), ("nodeTaintsPolicy", 26, "Foo"), ("matchLabelKeys", 27, ["a b"])],
)
def test_a_field_that_a_release_drops_is_not_validated(field: str, since: int, refused: Any) -> None:
    constraint = {**VALID, "labelSelector": APP, field: refused}

    assert errors(constraint, labels=None, minor=since - 1) == []
    assert errors(constraint, labels=None, minor=since) != []


def test_a_label_selector_is_validated_from_1_27_on() -> None:
    bad = {**VALID, "labelSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}}

    assert errors(bad, labels=None, minor=26) == []
    assert errors(bad, labels=None, minor=27) == errors(bad, labels=None)


def test_older_releases_count_characters_and_name_keys_otherwise() -> None:
    long = {**VALID, "labelSelector": {"matchLabels": {"app": "x" * 64}}}
    slashes = {**VALID, "labelSelector": {"matchLabels": {"a/b/c": "x"}}}

    assert errors(long, labels=None, minor=34)[0].endswith("must be no more than 63 characters")
    assert errors(long, labels=None, minor=36)[0].endswith("must be no more than 63 bytes")
    assert ": a qualified name must consist of" in errors(slashes, labels=None, minor=34)[0]
    assert ": a valid label key must consist of" in errors(slashes, labels=None, minor=35)[0]


def test_the_practice_of_the_latest_release_is_that_of_the_table() -> None:
    """The table is not loaded for the latest release, so both have to say the same."""
    rows = (behaviours.MATCH_KEYS_ARE_MERGED, behaviours.SELECTOR_IS_VALIDATED, behaviours.LABEL_WORDS)

    assert validation.LATEST_PRACTICE == tuple(row.of(LATEST) for row in rows)
