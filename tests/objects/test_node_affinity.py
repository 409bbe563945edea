"""Which nodes nodeSelector and required node affinity allow."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.objects.reading import read

LABELS = {"zone": "a", "rank": "5", "empty": ""}


def matches(*terms: Any, node_selector: Any = None) -> bool:
    """Whether the node n1 fits a pod with these required terms."""
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}} if terms else None
    pod = read.pod({"spec": {"nodeSelector": node_selector, "affinity": {"nodeAffinity": required}}})
    return pod.cls.node_requirement.matches(LABELS, "n1")


def on_label(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def on_name(operator: str, *values: str) -> dict[str, Any]:
    return {"matchFields": [{"key": "metadata.name", "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (on_label("zone", "In", "a", "b"), True),
        (on_label("zone", "In", "b"), False),
        (on_label("absent", "In", "a"), False),
        (on_label("zone", "NotIn", "b"), True),
        (on_label("zone", "NotIn", "a"), False),
        (on_label("absent", "NotIn", "a"), True),
        (on_label("empty", "Exists"), True),
        (on_label("absent", "Exists"), False),
        (on_label("zone", "DoesNotExist"), False),
        (on_label("absent", "DoesNotExist"), True),
        (on_label("rank", "Gt", "4"), True),
        (on_label("rank", "Gt", "5"), False),
        (on_label("rank", "Lt", "6"), True),
        (on_label("rank", "Lt", "5"), False),
        (on_label("zone", "Gt", "4"), False),
        (on_label("absent", "Lt", "4"), False),
        (on_name("In", "n1"), True),
        (on_name("In", "n2"), False),
        (on_name("NotIn", "n2"), True),
        (on_name("NotIn", "n1"), False),
        ({**on_label("zone", "In", "a"), **on_name("In", "n1")}, True),
        ({**on_label("zone", "In", "a"), **on_name("In", "n2")}, False),
        ({**on_label("zone", "In", "b"), **on_name("In", "n1")}, False),
    ],
)
def test_a_term_matches_when_labels_and_name_do(term: dict[str, Any], expected: bool) -> None:
    """Expressions and fields are ANDed; an absent label satisfies NotIn and DoesNotExist."""
    assert expected == matches(term)


@pytest.mark.parametrize(
    "term",
    [
        {},
        None,
        {"matchExpressions": [], "matchFields": []},
        {"matchExpressions": [None]},
        on_label("rank", "Gt", "x"),
        on_label("rank", "Gt", "4.0"),
        on_label("rank", "Gt", "1", "2"),
        on_label("rank", "Gt"),
        on_label("zone", "In"),
        on_label("zone", "NotIn"),
        on_label("zone", "Exists", "a"),
        on_label("absent", "DoesNotExist", "a"),
        on_label("zone", "in", "a"),
        on_label("zone", "", "a"),
        on_label("bad key", "DoesNotExist"),
        on_label("absent", "NotIn", "bad value"),
        on_name("In", "n1", "n2"),
        on_name("NotIn", "n2", "n3"),
        on_name("NotIn"),
        on_name("Exists"),
    ],
)
def test_a_term_that_is_empty_or_does_not_parse_matches_no_node(term: Any) -> None:
    """The scheduler swallows its error."""
    assert not matches(term)


def test_one_matching_term_is_enough() -> None:
    """Terms are ORed, and one that does not parse spoils no other."""
    assert matches(on_label("zone", "In"), {}, on_label("zone", "In", "b"), on_label("zone", "In", "a"))


def test_required_affinity_without_terms_matches_no_node() -> None:
    """Unlike no required affinity at all."""
    required: dict[str, Any] = {"requiredDuringSchedulingIgnoredDuringExecution": {}}
    pod = read.pod({"spec": {"affinity": {"nodeAffinity": required}}})

    assert not pod.cls.node_requirement.matches(LABELS, "n1")
    assert matches()


@pytest.mark.parametrize(
    ("node_selector", "expected"),
    [
        (None, True), ({}, True), ({"zone": "a"}, True), ({"zone": "b"}, False), ({"empty": ""}, True),
        ({"empty": None}, True), ({"absent": ""}, False), ({"zone": "a", "rank": "6"}, False),
    ],
)  # fmt: skip
def test_a_node_selector_wants_every_label_equal(node_selector: Any, expected: bool) -> None:
    """An absent label is not an empty one."""
    assert expected == matches(node_selector=node_selector)


def test_node_selector_and_affinity_must_both_match() -> None:
    """They are ANDed."""
    assert matches(on_label("rank", "Exists"), node_selector={"zone": "a"})
    assert not matches(on_label("rank", "Exists"), node_selector={"zone": "b"})
    assert not matches(on_label("absent", "Exists"), node_selector={"zone": "a"})
