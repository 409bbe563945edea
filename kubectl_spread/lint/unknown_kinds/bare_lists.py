"""Constraints whose pods are unknown: in values of charts, in patches, in custom resources.

They get every check that needs no pod: the API server's rules, keys that no node has, deprecated keys, and hard
constraints that count tainted nodes.
"""

from __future__ import annotations

import copy
from collections.abc import Container, Iterator, Sequence
from typing import Any, Optional

from kubectl_spread.lint.admission import fixes, hints
from kubectl_spread.lint.admission import fixes as spelling
from kubectl_spread.lint.finding import Finding, Fix, Place
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.placeholder import has_placeholder, is_filled_in
from kubectl_spread.lint.registry import RULES
from kubectl_spread.lint.run_rules import check_subject
from kubectl_spread.lint.workload import FIELD, reference, repair, Subject
from kubectl_spread.objects.constraints import constraint as constraint_reader
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.constraints.constraint_lists import ConstraintList
from kubectl_spread.objects.constraints.operators import operator_of
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.validation import constraint_errors, FieldError, Rule
from kubectl_spread.objects.workloads.kinds import PodPlace
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.objects.workloads.workload import DEFAULT_NAMESPACE, Workload
from kubectl_spread.text.node import Route

Plain = dict[str, Any]

# Rules about workloads that read no pod fields; SPR301 handles these subjects.
WITHOUT_A_POD = frozenset({"SPR216", "SPR301", "SPR302", "SPR602"})
_OF_FINAL = frozenset({"SPR201", "SPR202"})  # if no chart, operator or base adds a selector
_SHAPE = decode.ListOf(decode.TOPOLOGY_SPREAD_CONSTRAINT)
# The chart or the operator may add missing fields; only the created pod shows that.
_NEEDS_A_POD = frozenset({Rule.MATCH_KEYS_WITHOUT_SELECTOR})
_NEAR = 0.8  # Prometheus has `additionalLabelSelectors`
_MISSING = {
    Rule.MAX_SKEW_NOT_POSITIVE: "maxSkew",
    Rule.TOPOLOGY_KEY_MISSING: "topologyKey",
    Rule.WHEN_UNSATISFIABLE_MISSING: "whenUnsatisfiable",
}


class BareSubject(Subject):
    """Constraints without a pod. Routes lead from the root of their manifest, and only `route` makes them."""

    has_pod = False
    is_final: bool

    def __init__(self, manifest: Manifest, found: ConstraintList) -> None:
        self.found = found
        self._paths: dict[Route, str] = {}
        spec = {FIELD: _decodable(found.entries)}
        owner = Workload(
            kind=manifest.kind,
            api_version=manifest.api_version,
            namespace=manifest.namespace or DEFAULT_NAMESPACE,
            name=manifest.name,
            replicas=None,
            template={"spec": spec},
            is_foreign=True,
        )
        super().__init__(manifest, owner, PodPlace((), ()), frozenset(), spec=spelling.corrected_spec(spec))
        self.constraints = tuple(item for item in self.constraints if not self._is_open(item))
        is_own = not manifest.document.is_embedded and not found.is_patch
        self.operator = operator_of(manifest.kind, manifest.api_version, found.route) if is_own else None
        self.is_final = self._is_final()

    def route(self, constraint: TopologySpreadConstraint, *steps: str | int) -> Route:
        """Return the route of a constraint, or of something in it."""
        return self.at(constraint.position, steps)

    def at(self, position: int, steps: Route) -> Route:
        """Return the route of something in an entry, and remember its path."""
        route = self.found.route_of(position, steps)
        self._paths[route] = self.found.path_of(position, steps)
        return route

    def path(self, route: Route) -> str:
        """Return a route as the API server prints it in the object that the constraints are for."""
        return self._paths.get(route, "")

    def selector_hint(self) -> str:
        """Return the hint for a missing selector. It is general, because the pods of these constraints are unknown."""
        return "add a labelSelector that matches the labels of the pods that these constraints are for"

    def _is_final(self) -> bool:
        """Return whether no chart, operator or base adds a selector to the constraints."""
        is_copied = self.operator is not None and self.operator.as_written and not self._has_other_fields
        return is_copied or (self.found.is_patch and self.found.is_complete)

    @property
    def _has_other_fields(self) -> bool:
        """Return whether an entry has fields of its operator, which may say what to select."""
        known = decode.TOPOLOGY_SPREAD_CONSTRAINT.fields
        return any(name not in known for entry in self.found.entries if isinstance(entry, dict) for name in entry)

    def _is_open(self, constraint: TopologySpreadConstraint) -> bool:
        """Return whether a constraint cannot be judged, because another tool has yet to write its key."""
        return has_placeholder(constraint.topology_key) or not constraint.topology_key


def check(subject: BareSubject, minor: Optional[int] = None) -> list[Finding]:
    """Return the API server's errors about the constraints that hold for any pod; `minor`: its version, if known."""
    spec = subject.workload.template["spec"]
    left_out = frozenset() if subject.is_final else _NEEDS_A_POD
    errors = [error for error in _errors(constraint_reader.constraints(spec), minor) if error.rule not in left_out]
    meant = {(error.rule, error.route) for error in _errors(constraint_reader.constraints(subject.spec), minor)}
    lasting = [error for error in errors if (error.rule, error.route) in meant and _is_certain(subject, error)]
    return [*_unknown_fields(subject), *_wrong_types(subject), *(_finding(subject, error) for error in lasting)]


def check_rules(subjects: Sequence[BareSubject], project: Project, codes: Container[str]) -> list[Finding]:
    """Return the findings of the rules that need no pod."""
    found: list[Finding] = []
    for subject in subjects:
        possible = WITHOUT_A_POD | (_OF_FINAL if subject.is_final else frozenset())
        wanted = [RULES[code] for code in sorted(possible) if code in codes]
        found += check_subject(subject, project, wanted)
    return found


def _decodable(entries: list[Any]) -> list[Any]:
    """Return the constraints with null in place of values of the wrong type, so that rules skip these values."""
    found = entries
    for problem in decode.problems(entries, _SHAPE):
        if problem.kind is decode.ProblemKind.TYPE:
            found = copy.deepcopy(entries) if found is entries else found
            holder: Any = found
            for step in problem.route[:-1]:
                holder = holder[step]
            holder[problem.route[-1]] = None
    return found


def _errors(constraints: tuple[TopologySpreadConstraint, ...], minor: Optional[int]) -> list[FieldError]:
    """Return the field errors of pods that have every label in matchLabelKeys."""
    keys = {key: "x" for constraint in constraints for key in constraint.match_label_keys}
    return constraint_errors(constraints, created_with=keys, minor=minor)


def _is_certain(subject: BareSubject, error: FieldError) -> bool:
    """Return whether no tool, base or chart can still change what an error is about."""
    _, position, *steps = error.route
    entry = subject.found.entries[int(position)]
    if not isinstance(entry, dict) or any(key.startswith("$") or "(" in key for key in entry):
        return False
    name = str(steps[0]) if steps else ""
    written = entry.get(name)
    if not decode.decodes(entry, decode.TOPOLOGY_SPREAD_CONSTRAINT) and _is_about_a_wrong_type(error, entry):
        return False
    if error.rule in _MISSING and (written is None or name not in entry):
        return _is_missing(subject, int(position), entry)
    if _depends_on_open(error.rule, entry) or not _is_written(error.rule, entry, tuple(steps)):
        return False
    return subject.found.is_complete or len(steps) >= subject.found.depth


def _is_written(rule: Rule, entry: Plain, steps: Route) -> bool:
    """Return whether the value that an error is about is written, and no placeholder."""
    value = _at(entry, steps)
    if any(map(has_placeholder, (value, *steps))):
        return False
    return value is not None or rule is Rule.LABEL_SELECTOR_INVALID


def _is_about_a_wrong_type(error: FieldError, entry: Plain) -> bool:
    """Return whether an error comes from the null that replaces a value of the wrong type."""
    steps = error.route[2:]
    wrong = [item.route for item in decode.problems(entry, decode.TOPOLOGY_SPREAD_CONSTRAINT) if _is_type(item)]
    if error.rule is Rule.DUPLICATE_CONSTRAINT:
        return any(route[0] in ("topologyKey", "whenUnsatisfiable") for route in wrong)
    return any(steps == route[: len(steps)] or route == steps[: len(route)] for route in wrong)


def _is_type(problem: decode.Problem) -> bool:
    return problem.kind is decode.ProblemKind.TYPE


def _is_missing(subject: BareSubject, position: int, entry: Plain) -> bool:
    """Return whether a mandatory field is missing, and no tool or operator adds it."""
    is_filled = subject.operator is not None and subject.operator.fills_in
    if is_filled or not subject.found.is_complete or any(map(has_placeholder, entry)):
        return False
    return not is_filled_in(subject.place(subject.at(position, ())))


def _depends_on_open(rule: Rule, entry: Plain) -> bool:
    """Return whether an error is about two fields, and the other one is not known."""
    action = entry.get("whenUnsatisfiable")
    if rule is Rule.MIN_DOMAINS_ON_SOFT:
        return not isinstance(action, str) or has_placeholder(action)
    is_pair = rule is Rule.DUPLICATE_CONSTRAINT
    return is_pair and (not isinstance(action, str) or has_placeholder(action))


def _at(plain: Any, steps: Route) -> Any:
    for step in steps:
        if isinstance(plain, dict):
            plain = plain.get(str(step))
        elif isinstance(plain, list) and isinstance(step, int) and step < len(plain):
            plain = plain[step]
        else:
            return None
    return plain


def _finding(subject: BareSubject, error: FieldError) -> Finding:
    _, position, *steps = error.route
    route = subject.at(int(position), tuple(steps))
    path = subject.path(route)
    value = _at(subject.found.entries[int(position)], tuple(steps))
    fix = fixes.for_error(error, subject.workload.template, (), labels=None)
    return Finding(
        RULES[error.rule.value],
        f"{path}: {error.detail}",
        subject.place(route),
        reference(subject.manifest),
        path,
        hints.for_rule(error.rule, value),
        repair=repair(_moved(subject, fix), subject.manifest),
    )


def _unknown_fields(subject: BareSubject) -> Iterator[Finding]:
    """Yield the fields that are nearly those of a constraint; a chart may have others of its own."""
    for problem in decode.problems(subject.found.entries, _SHAPE):
        if problem.kind is not decode.ProblemKind.UNKNOWN:
            continue
        position, *steps = problem.route
        hint = hints.for_field(str(steps[-1]), (FIELD, *problem.route), cutoff=_NEAR)
        if not hint or len(steps) <= subject.found.depth - 1:
            continue
        route = subject.at(int(position), tuple(steps))
        siblings = _at(subject.found.entries[int(position)], tuple(steps[:-1]))
        fix = fixes.for_field((FIELD, *problem.route), siblings)
        yield Finding(
            RULES["SPR114"],
            f'unknown field "{subject.path(route)}": strict validation refuses it, otherwise it is dropped',
            subject.place(route, key=True),
            reference(subject.manifest),
            subject.path(route),
            hint,
            repair=repair(_moved(subject, fix), subject.manifest),
        )


def _wrong_types(subject: BareSubject) -> Iterator[Finding]:
    """Yield the values with which no pod can be created. They have no fix, because a chart may print them unchanged."""
    for problem in filter(_is_type, decode.problems(subject.found.entries, _SHAPE)):
        position, *steps = problem.route
        value = _at(subject.found.entries[int(position)], tuple(steps))
        if not steps or has_placeholder(value) or len(steps) < subject.found.depth:
            continue
        route = subject.at(int(position), tuple(steps))
        place = subject.place(route)
        if not is_filled_in(place):
            written = place.source.text[place.span.start : place.span.end]
            yield Finding(
                RULES["SPR113"],
                f"{subject.path(route)}: {problem.message}",
                place,
                reference(subject.manifest),
                subject.path(route),
                hints.for_type(problem, value, written=written),
            )


def _moved(subject: BareSubject, fix: Optional[Fix]) -> Optional[Fix]:
    """Return a fix whose routes begin at the list as one whose routes begin at the manifest."""
    if fix is None or subject.found.depth:
        return None
    changes = tuple(
        change._replace(route=subject.found.route_of(int(change.route[1]), change.route[2:])) for change in fix.changes
    )
    return fix._replace(changes=changes)


def place_of(subject: BareSubject) -> Place:
    """Return the place of the list."""
    return subject.place(subject.found.route, key=True)
