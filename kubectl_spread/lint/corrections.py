"""Hints and fixes for fields that the API server refuses or drops, the pod spec that was meant, and fixes of rules."""

from __future__ import annotations

import re
import string
from typing import Any, Optional

from kubectl_spread.lint.finding import DocumentFix, Fix
from kubectl_spread.lint.workload import FIELD, Subject
from kubectl_spread.objects.constraints.constraint import (
    DO_NOT_SCHEDULE,
    HONOR,
    IGNORE,
    SCHEDULE_ANYWAY,
    TopologySpreadConstraint,
)
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import Plain, value_at
from kubectl_spread.objects.validation import FieldError, Rule
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.text import node as nodes
from kubectl_spread.text.edit import Change, Drop, Edit, Put, Rename
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import SourceFile, Span
from kubectl_spread.text.wording import did_you_mean, nearest

INTEGERS = (decode.Atom.INT32, decode.Atom.INT64)

PLACEHOLDER = "this looks like a placeholder: check the rendered manifest"

_LONGEST_QUOTED = 40  # characters of a value that a hint writes out

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")

_FIXED = {
    Rule.TOPOLOGY_KEY_MISSING: "name a node label, such as topology.kubernetes.io/zone or kubernetes.io/hostname",
    Rule.WHEN_UNSATISFIABLE_MISSING: "write DoNotSchedule (pods wait) or ScheduleAnyway (a preference)",
    Rule.DUPLICATE_CONSTRAINT: "merge them, or use DoNotSchedule for one and ScheduleAnyway for the other",
    Rule.MIN_DOMAINS_NOT_POSITIVE: "remove minDomains, which means 1",
    Rule.MIN_DOMAINS_ON_SOFT: "remove minDomains, or use whenUnsatisfiable: DoNotSchedule",
    Rule.MATCH_KEYS_WITHOUT_SELECTOR: "add a labelSelector; without one the constraint counts no pods",
    Rule.MATCH_KEY_IN_SELECTOR: "remove the key from matchLabelKeys: the selector already has it",
    Rule.MATCH_KEY_SYNTAX: "matchLabelKeys takes label keys, such as pod-template-hash",
}


_OF_SPECS = {
    "maxUnavailable": "let a rollout create or delete a pod first: write 1 or more for maxSurge or maxUnavailable",
    "labels": "give the pod template the labels that spec.selector names",
    "requests": "request no more than the limit",
}


def hint_for_spec(error: FieldError) -> str:
    """Return the hint for an error of SPR116."""
    for end, hint in _OF_SPECS.items():
        if error.path.endswith(end):
            return hint
    if error.detail.endswith("completion mode is Indexed"):
        is_missing = error.path.endswith("completions")
        return f"write {'the number of completions' if is_missing else '100000 or less'}, or leave completionMode out"
    if error.path not in ("updateStrategy", "minReplicas", "maxReplicas", "metrics"):
        return "write 0 or more"
    from kubectl_spread.objects.releases.behaviours import HPA_FROM_ZERO, STATEFULSET_RECREATE  # 4 ms

    if error.path == "updateStrategy":
        since = STATEFULSET_RECREATE.begin
        return f"write RollingUpdate or OnDelete; Recreate is for Deployments, and for StatefulSets from {since} on"
    if error.path == "maxReplicas":
        return "write a number of at least 1 and of at least minReplicas"
    return f"write minReplicas: 1; 0 takes an object or external metric, from {HPA_FROM_ZERO.begin} on"


def hint_for_rule(rule: Rule, value: Any) -> str:
    """Return the hint for a broken rule of the API server; `value` is the value at its place."""
    if rule in _FIXED:
        return _FIXED[rule]
    if rule is Rule.MAX_SKEW_NOT_POSITIVE:
        what = "maxSkew has no default" if value is None else "write 1 or more"
        return f"{what}; 1 spreads most evenly"
    if rule in (Rule.WHEN_UNSATISFIABLE_INVALID, Rule.INCLUSION_POLICY_INVALID):
        return did_you_mean(value, WORDS[rule])
    if value in ("", None) or not isinstance(value, str):
        return ""
    return did_you_mean(value, _OPERATORS, cutoff=0.5)


def hint_for_type(problem: decode.Problem, value: Any, *, written: str) -> str:
    """Return the hint for a value that does not decode; empty if there is none.

    Args:
        problem: the type of the value and of the field.
        value: the value in the text.
        written: the text of the value.
    """
    if needs_quotes(problem):
        return f'write "{written}"' if len(written) <= _LONGEST_QUOTED else "put the value in quotes"
    if problem.expected in INTEGERS and isinstance(value, str):
        return "write the number without quotes" if value.strip().lstrip("+-").isdecimal() else ""
    if problem.expected is decode.Atom.QUANTITY and isinstance(value, str):
        return _hint_for_quantity(value)
    is_block = not written.startswith(("[", "{"))
    if isinstance(value, list) and isinstance(problem.expected, (decode.Struct, decode.MapOf)):
        return "remove the dash: it is a mapping, not a list" if is_block else "it is a mapping, not a list"
    if isinstance(value, dict) and isinstance(problem.expected, decode.ListOf):
        return "make it a list: start with a dash" if is_block else "make it a list: put it in brackets"
    return ""


_TYPES = {
    decode.Atom.STRING: "text",
    decode.Atom.BOOL: "true or false",
    decode.Atom.INT32: "a whole number",
    decode.Atom.INT64: "a whole number",
    decode.Atom.QUANTITY: "a quantity",
}
_UNITS = ("Ki", "Mi", "Gi", "Ti", "k", "M", "G", "T")


def _hint_for_quantity(value: str) -> str:
    """Return `write 1G` for `1Gb`; empty if the unit that is meant is unknown."""
    number = value.rstrip(string.ascii_letters + " ")
    unit = value[len(number) :].strip().lower()
    near = "m" if unit == "m" else next((name for name in _UNITS if unit.startswith(name.lower())), "")
    return f"write {number}{near}" if number and near else ""


def type_sentence(problem: decode.Problem, message: str, *, written: str) -> str:
    """Return what a value of the wrong type is and must be, then the API server's message."""
    expected, what = problem.expected, "a list" if isinstance(problem.expected, decode.ListOf) else "a mapping"
    if isinstance(expected, decode.Atom):
        what = _TYPES.get(expected, "")
    name = next(step for step in reversed(problem.route) if isinstance(step, str))
    field = f"an item of `{name}`" if isinstance(problem.route[-1], int) else f"`{name}`"
    is_short = what in _TYPES.values() and len(written) <= _LONGEST_QUOTED and "\n" not in written
    range_ = " below 2^31" if expected is decode.Atom.INT32 and problem.given == "number" else ""
    subject = f"{field} is `{written}`, but" if is_short else field
    return f"{subject} must be {what}{range_} ({message})" if what else message


def needs_quotes(problem: decode.Problem) -> bool:
    """Return whether a number or Boolean is in the place of a string."""
    return problem.expected is decode.Atom.STRING and problem.given in ("number", "bool")


def hint_for_field(name: str, route: Route, *, cutoff: float = 0.6) -> str:
    """Return the hint for a field that a constraint, or its selector, does not have; empty if none is near."""
    fields = decode.TOPOLOGY_SPREAD_CONSTRAINT.fields
    if route[-3:-2] == (FIELD,):
        if name in decode.LABEL_SELECTOR.fields:
            return f"`{name}` belongs under `labelSelector`"
        return did_you_mean(name, fields, cutoff=cutoff)
    if name in fields:
        return f"`{name}` belongs to the constraint, not to its selector"
    near = did_you_mean(name, (*decode.LABEL_SELECTOR.fields, "key", "operator", "values"))
    return near or "labels to match go under `matchLabels`"


_INT32 = r"[0-9]{1,9}"

WORDS = {
    Rule.WHEN_UNSATISFIABLE_INVALID: (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY),
    Rule.INCLUSION_POLICY_INVALID: (HONOR, IGNORE),
    Rule.LABEL_SELECTOR_INVALID: _OPERATORS,
}


def fix_for_error(error: FieldError, template: Plain, spec: Route, *, labels: Any) -> Optional[Fix]:
    """Return the fix of a broken rule of the API server.

    Args:
        error: the rule, and the route of the wrong field from the pod spec.
        template: the pod template.
        spec: the route of the pod spec.
        labels: the labels that the constraint should select.
    """
    rule, route = error.rule, (*spec, *error.route)
    constraint = template["spec"][FIELD][error.route[1]] or {}
    if rule in WORDS:
        is_a_word = rule is not Rule.LABEL_SELECTOR_INVALID or error.route[-1] == "operator"
        near = nearest(value_at(template["spec"], error.route), WORDS[rule], cutoff=0.5) if is_a_word else ""
        return Fix(f"write {near}", (Put(route, near),), is_safe=True) if near else None
    if rule is Rule.MATCH_KEYS_WITHOUT_SELECTOR and labels:
        return Fix("select the workload's own pods", (Put((*route[:-1], "labelSelector"), {"matchLabels": labels}),))
    keys = constraint.get("matchLabelKeys")
    if rule is Rule.MATCH_KEY_IN_SELECTOR and isinstance(keys, list):  # its only item takes the list with it
        removed = Drop(route if len(keys) > 1 else route[:-1])
        return Fix(f"remove {keys[int(route[-1])]} from {route[-2]}", (removed,), is_safe=True)
    is_soft = constraint.get("whenUnsatisfiable") == SCHEDULE_ANYWAY
    if rule is Rule.MIN_DOMAINS_NOT_POSITIVE or (rule is Rule.MIN_DOMAINS_ON_SOFT and is_soft):
        return Fix("remove minDomains", (Drop(route),), is_safe=True)
    if rule is Rule.MAX_SKEW_NOT_POSITIVE:
        return Fix("set maxSkew to 1", (Put(route, 1),))
    if rule is Rule.WHEN_UNSATISFIABLE_MISSING:
        return Fix(f"add whenUnsatisfiable: {DO_NOT_SCHEDULE}", (Put(route, DO_NOT_SCHEDULE),))
    return None


def fix_for_type(problem: decode.Problem, *, value: Any, written: str) -> Optional[Fix]:
    """Return the fix that puts a string in quotes, as it is written, or takes a number out of them."""
    if needs_quotes(problem):
        return Fix("put the value in quotes", (Put(problem.route, written),), is_safe=True)
    if problem.expected in INTEGERS and isinstance(value, str) and re.fullmatch(_INT32, value.strip()):
        return Fix("write the number without quotes", (Put(problem.route, int(value)),), is_safe=True)
    return None


def fix_for_field(route: Route, siblings: Any) -> Optional[Fix]:
    """Return the fix that gives an unknown field the name it nearly has, unless that field exists too."""
    name = str(route[-1])
    shape = decode.LABEL_SELECTOR if "labelSelector" in route else decode.TOPOLOGY_SPREAD_CONSTRAINT
    near = nearest(name, shape.fields)
    if not near or not isinstance(siblings, dict) or near in siblings:
        return None
    return Fix(f"write {near}", (Rename(route, near),), is_safe=True)


def fix_for_misplaced(manifest: Manifest, route: Route, target: Route) -> Optional[Fix]:
    """Return the fix that moves a list of constraints, if its place is free and no comment would be lost."""
    if manifest.document.follow((*manifest.route, *target)) is not None:
        return None
    node = manifest.document.follow((*manifest.route, *route))
    if not isinstance(node, nodes.Sequence):
        return None
    if route[:-1] == target[:-1]:
        return Fix(f"write {FIELD}", (Rename(route, FIELD),))
    if "#" in manifest.source.text[node.start : node.end]:
        return None
    changes: tuple[Change, ...] = (Put(target, nodes.to_plain(node)), Drop(route))
    return Fix(f"move it to {decode.path_text(target)}", changes)


def fix_for_separator(source: SourceFile, span: Span) -> DocumentFix:
    """Return the fix of text on a separator line: remove a word, or move a part of a document to its own line."""
    line, _ = source.position(span.start)
    after = source.offset(line) + len("---")
    text = source.text[span.start : span.end]
    if text[0].isalnum() and ":" not in text:
        edit = Edit(after, span.end, "")
        return DocumentFix(Fix(f"remove {text}", (), is_safe=True), source, edits=(edit,))
    edit = Edit(after, span.start, "\r\n" if "\r\n" in source.text else "\n")
    return DocumentFix(Fix("put it on a line of its own", (), is_safe=True), source, edits=(edit,))


SHAPE = decode.ListOf(decode.TOPOLOGY_SPREAD_CONSTRAINT)


def corrected_spec(spec: Plain) -> Plain:
    """Return a pod spec that decodes, with each unknown field of its constraints under the known name that is nearest.

    A field is left out if no known name is near, if the near field is written too, or if its value does not fit.
    """
    return {**spec, FIELD: _as_meant(spec.get(FIELD), SHAPE)}


def _as_meant(value: Any, shape: decode.Shape) -> Any:
    if isinstance(value, list) and isinstance(shape, decode.ListOf):
        return [_as_meant(item, shape.item) for item in value]
    if not isinstance(value, dict) or not isinstance(shape, decode.Struct):
        return value
    meant = {}
    for name, item in value.items():
        known = name if name in shape.fields else nearest(name, shape.fields)
        if known not in shape.fields:
            continue
        if known == name or (known not in value and decode.decodes(item, shape.fields[known])):
            meant[known] = _as_meant(item, shape.fields[known])
    return meant


def without_constraints(subject: Subject) -> Optional[Fix]:
    """Remove all constraints; the cluster's soft defaults then apply. None if the pod spec has no other field."""
    if len(subject.spec) == 1:
        return None
    return Fix(f"remove {FIELD}", (Drop((*subject.spec_route, FIELD)),))


def own_selector(subject: Subject, constraint: TopologySpreadConstraint, *, is_safe: bool = False) -> Optional[Fix]:
    """Select the workload's own pods; None if they have no label besides the matchLabelKeys."""
    labels = selectable(subject, constraint)
    if not labels:
        return None
    change = Put(subject.route(constraint, "labelSelector"), {"matchLabels": labels})
    return Fix("select the workload's own pods", (change,), is_safe)


def selectable(subject: Subject, constraint: TopologySpreadConstraint) -> dict[str, str]:
    """Return the labels for a selector of the workload's own pods. The API server refuses matchLabelKeys in it."""
    return {
        key: value
        for key, value in subject.own_labels.items()
        if key not in constraint.match_label_keys and subject.labels.get(key) == value
    }


def soften(subject: Subject, constraint: TopologySpreadConstraint) -> Optional[Fix]:
    """Turn a hard constraint into a soft one; None if the key already has a soft constraint."""
    if any(other.topology_key == constraint.topology_key for other in subject.soft):
        return None
    changes: list[Change] = [Put(subject.route(constraint, "whenUnsatisfiable"), SCHEDULE_ANYWAY)]
    if constraint.min_domains is not None:
        changes.append(Drop(subject.route(constraint, "minDomains")))
    return Fix(f"use {SCHEDULE_ANYWAY}", tuple(changes))


def without_match_key(subject: Subject, constraint: TopologySpreadConstraint, key: str) -> Change:
    """Remove a key from matchLabelKeys, and the list with its last key."""
    field = subject.route(constraint, "matchLabelKeys")
    if len(constraint.match_label_keys) == 1:
        return Drop(field)
    return Drop((*field, constraint.match_label_keys.index(key)))


def with_key(subject: Subject, constraint: TopologySpreadConstraint, key: str) -> Optional[Fix]:
    """Write the intended topologyKey; None if the workload already has a constraint with this key."""
    pairs = {(item.topology_key, item.when_unsatisfiable) for item in subject.constraints}
    if (key, constraint.when_unsatisfiable) in pairs:
        return None
    return Fix(f"write `{key}`", (Put(subject.route(constraint, "topologyKey"), key),), is_safe=True)
