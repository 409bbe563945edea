"""Hints for fields that the API server refuses."""

from __future__ import annotations

from typing import Any, Optional

from kubectl_spread.objects.constraints.constraint import DO_NOT_SCHEDULE, HONOR, IGNORE, SCHEDULE_ANYWAY
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.validation import Rule
from kubectl_spread.text.node import Route
from kubectl_spread.text.wording import did_you_mean

INTEGERS = (decode.Atom.INT32, decode.Atom.INT64)

_FIELD = "topologySpreadConstraints"
PLACEHOLDER = "this looks like a placeholder: check the rendered manifest"

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")

_FIXED = {
    Rule.TOPOLOGY_KEY_MISSING: "name a node label, such as topology.kubernetes.io/zone or kubernetes.io/hostname",
    Rule.WHEN_UNSATISFIABLE_MISSING: "write DoNotSchedule (pods wait) or ScheduleAnyway (a preference)",
    Rule.DUPLICATE_CONSTRAINT: "merge them, or use DoNotSchedule for one and ScheduleAnyway for the other",
    Rule.MIN_DOMAINS_NOT_POSITIVE: "remove minDomains, which means 1",
    Rule.MIN_DOMAINS_ON_SOFT: "remove minDomains, or use whenUnsatisfiable: DoNotSchedule",
    Rule.MATCH_KEYS_WITHOUT_SELECTOR: "add a labelSelector; without one the constraint counts no pods",
    Rule.MATCH_KEY_IN_SELECTOR: "remove the key from matchLabelKeys: the selector already has it",
    Rule.COUNT_NEGATIVE: "write 0 or more",
    Rule.MATCH_KEY_SYNTAX: "matchLabelKeys takes label keys, such as pod-template-hash",
}


def for_rule(rule: Rule, value: Any) -> str:
    """Return the hint for a broken rule of the API server; `value` is the value at its place."""
    if rule in _FIXED:
        return _FIXED[rule]
    if rule is Rule.MAX_SKEW_NOT_POSITIVE:
        what = "maxSkew has no default" if value is None else "write 1 or more"
        return f"{what}; 1 spreads most evenly"
    if rule is Rule.WHEN_UNSATISFIABLE_INVALID:
        return did_you_mean(value, (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY))
    if rule is Rule.INCLUSION_POLICY_INVALID:
        return did_you_mean(value, (HONOR, IGNORE))
    if value in ("", None) or not isinstance(value, str):
        return ""
    return did_you_mean(value, _OPERATORS, cutoff=0.5)


def for_type(problem: decode.Problem, value: Any, *, written: str) -> str:
    """Return the hint for a value that does not decode; empty if there is none.

    Args:
        problem: the type of the value and of the field.
        value: the value in the text.
        written: the text of the value.
    """
    if needs_quotes(problem):
        return "put the value in quotes"
    if problem.expected in INTEGERS and isinstance(value, str):
        return "write the number without quotes" if value.strip().lstrip("+-").isdecimal() else ""
    return _for_shape(problem.expected, value, is_block=not written.startswith(("[", "{")))


def needs_quotes(problem: decode.Problem) -> bool:
    """Return whether a number or Boolean is in the place of a string."""
    return problem.expected is decode.Atom.STRING and problem.given in ("number", "bool")


def for_field(name: str, route: Route, *, cutoff: float = 0.6) -> str:
    """Return the hint for a field that a constraint, or its selector, does not have; empty if none is near."""
    fields = decode.TOPOLOGY_SPREAD_CONSTRAINT.fields
    if route[-3:-2] == (_FIELD,):
        if name in decode.LABEL_SELECTOR.fields:
            return f"`{name}` belongs under `labelSelector`"
        return did_you_mean(name, fields, cutoff=cutoff)
    if name in fields:
        return f"`{name}` belongs to the constraint, not to its selector"
    near = did_you_mean(name, (*decode.LABEL_SELECTOR.fields, "key", "operator", "values"))
    return near or "labels to match go under `matchLabels`"


def _for_shape(expected: Optional[decode.Shape], value: Any, *, is_block: bool) -> str:
    """Return the hint for a list in place of a mapping, and the reverse."""
    if isinstance(value, list) and isinstance(expected, (decode.Struct, decode.MapOf)):
        return "remove the dash: it is a mapping, not a list" if is_block else "it is a mapping, not a list"
    if isinstance(value, dict) and isinstance(expected, decode.ListOf):
        return "make it a list: start with a dash" if is_block else "make it a list: put it in brackets"
    return ""
