"""The API server's errors for an object, and for the pods that its controller creates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from typing import NamedTuple
from typing import Optional

from kubectl_spread.lint.admission import fixes
from kubectl_spread.lint.admission import hints
from kubectl_spread.lint.admission import spelling
from kubectl_spread.lint.admission import unresolved
from kubectl_spread.lint.admission.unresolved import Open
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.finding import Fix
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.finding import Place
from kubectl_spread.lint.registry import RULES
from kubectl_spread.lint.workload import FIELD
from kubectl_spread.lint.workload import is_live
from kubectl_spread.lint.workload import reference
from kubectl_spread.lint.workload import repair
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects import constraint_reader
from kubectl_spread.objects import decode
from kubectl_spread.objects import workload_shape
from kubectl_spread.objects.constraint import TopologySpreadConstraint
from kubectl_spread.objects.kinds import EVERY
from kubectl_spread.objects.kinds import PodPlace
from kubectl_spread.objects.kinds import WorkloadKind
from kubectl_spread.objects.manifest import Manifest
from kubectl_spread.objects.plain import fields
from kubectl_spread.objects.validation import constraint_errors
from kubectl_spread.objects.validation import FieldError
from kubectl_spread.objects.validation import Rule
from kubectl_spread.objects.workload import created_labels
from kubectl_spread.objects.workload import Workload
from kubectl_spread.objects.workload import workload
from kubectl_spread.text import node as nodes
from kubectl_spread.text.node import Route

Plain = dict[str, Any]

_NAMES = (FIELD.lower(), FIELD.lower()[:-1])  # in whatever case, and of one constraint

Refused = tuple[FieldError, Finding]


class CheckedObject(NamedTuple):
    """The API server's errors for an object, and the workloads in it if it decodes."""

    findings: list[Finding]
    subjects: list[Subject]
    is_undecodable: bool = False


def check_object(manifest: Manifest, namespace: str, *, minor: Optional[int] = None) -> CheckedObject:
    """Check an object as the API server would.

    Args:
        manifest: the object.
        namespace: the namespace of an object that names none.
        minor: the API server's minor version, if it is known.
    """
    kind = manifest.workload_kind
    if kind is None:
        return CheckedObject([], [])
    problems = [item for item in workload_shape.problems(kind, manifest.plain) if not unresolved.is_directive(item)]
    open_routes = [item.route for item in problems if unresolved.is_open(manifest, item)]
    findings = [
        _undecodable(manifest, item, is_open=item.route in open_routes)
        for item in problems
        if item.route not in open_routes or not unresolved.is_beside(item)
    ]
    is_undecodable = any(item.kind is decode.Kind.TYPE and item.route not in open_routes for item in problems)
    places = kind.places(manifest.plain)
    findings += _misplaced(manifest, kind, places)
    if is_undecodable:
        return CheckedObject(findings, [], is_undecodable=True)
    subjects = []
    manifest = unresolved.without(manifest, open_routes)
    for place in places:
        owner = workload(manifest.plain, manifest.kind, at=place, namespace=namespace, is_foreign=kind.is_foreign)
        constraints = constraint_reader.constraints(owner.template.get("spec") or {})
        errors = _field_errors(manifest, owner, place, constraints=constraints, minor=minor)
        spec = spelling.as_meant(owner.template.get("spec") or {}) if problems else None
        lasting = errors if spec is None else _lasting(errors, manifest, owner, place, spec, minor)
        openness = {id(error): unresolved.open_by(manifest, owner, error=error, spec=place.spec) for error, _ in errors}
        findings += [
            finding if openness[id(error)] is Open.NOBODY else unresolved.informing(finding)
            for error, finding in lasting
            if openness[id(error)] in (Open.NOBODY, Open.TOOL)
        ]
        refusals = {error.rule.value for error, _ in errors if openness[id(error)] is not Open.SAME}
        refusals |= {"SPR113"} if open_routes else set()
        known = constraints if spec is None else None
        subjects.append(Subject(manifest, owner, place, frozenset(refusals), spec=spec, constraints=known))
    return CheckedObject(findings, subjects)


def _lasting(
    errors: list[Refused], manifest: Manifest, owner: Workload, place: PodPlace, spec: Plain, minor: Optional[int]
) -> list[Refused]:
    """Return the errors that remain once misspelt fields have the names that are meant."""
    meant = owner._replace(template={**owner.template, "spec": spec}, known_hash=owner.revision_hash)
    constraints = constraint_reader.constraints(spec)
    left = _field_errors(manifest, meant, place, constraints=constraints, minor=minor)
    lasting = {(error.rule, finding.path) for error, finding in left}
    return [(error, finding) for error, finding in errors if (error.rule, finding.path) in lasting]


def _field_errors(
    manifest: Manifest,
    owner: Workload,
    place: PodPlace,
    *,
    constraints: tuple[TopologySpreadConstraint, ...],
    minor: Optional[int],
) -> list[Refused]:
    """Return the API server's errors for the object, and for the pods that its controller creates."""
    if not constraints:
        return []
    spec = place.spec
    if not place.template:
        labels = None if is_live(manifest) else created_labels(owner)
        errors, later = constraint_errors(constraints, created_with=labels, minor=minor), []
    else:
        errors = constraint_errors(constraints, created_with=None, minor=minor)
        later = _later_errors(owner, constraints, errors, minor)
    found = [
        *(_invalid(manifest, spec, error, constraints) for error in errors),
        *(_rejected_later(manifest, spec, error) for error in later),
    ]
    labels = _own_labels(owner)
    return [
        (error, _with_fix(finding, fixes.for_error(error, owner.template, spec, labels=labels), manifest))
        for finding, error in zip(found, [*errors, *later], strict=True)
    ]


def _own_labels(owner: Workload) -> Plain:
    """Return the labels of a workload's selector, or else of its pod template; the selector may not decode."""
    selector: Any = owner.selector
    labels = selector.get("matchLabels") if isinstance(selector, dict) else None
    return (
        labels
        if isinstance(labels, dict) and labels
        else constraint_reader.labels(owner.template.get("metadata") or {})
    )


def _with_fix(finding: Finding, fix: Optional[Fix], manifest: Manifest) -> Finding:
    return finding._replace(repair=repair(fix, manifest))


def _later_errors(
    owner: Workload,
    constraints: tuple[TopologySpreadConstraint, ...],
    errors: list[FieldError],
    minor: Optional[int],
) -> list[FieldError]:
    """Return the errors that only a created pod has: creating it merges matchLabelKeys into the selector."""
    if not any(constraint.match_label_keys for constraint in constraints):
        return []
    known = {(error.rule, error.route) for error in errors}
    created = constraint_errors(constraints, created_with=created_labels(owner), minor=minor)
    return [error for error in created if (error.rule, error.route) not in known]


def _invalid(
    manifest: Manifest, spec: Route, error: FieldError, constraints: tuple[TopologySpreadConstraint, ...]
) -> Finding:
    root = decode.path_text(spec)
    finding = _finding(
        error.rule.value,
        manifest,
        (*spec, *error.route),
        message=error.text(root),
        path=f"{root}.{error.path}",
        hint=hints.for_rule(error.rule, _value_at(manifest, (*spec, *error.route))),
    )
    if error.rule is not Rule.DUPLICATE_CONSTRAINT:
        return finding
    again = (*spec, FIELD, _repetition(constraints, int(error.route[1])), "topologyKey")
    place = Place(manifest.document.source, manifest.place(again))
    return finding._replace(related=(Label(place, "repeated here"),))


def _repetition(constraints: tuple[TopologySpreadConstraint, ...], first: int) -> int:
    """Return the position of the constraint that repeats the first one's key and action."""
    pair = constraints[first].topology_key, constraints[first].when_unsatisfiable
    later = constraints[first + 1 :]
    return next(other.position for other in later if (other.topology_key, other.when_unsatisfiable) == pair)


def _rejected_later(manifest: Manifest, spec: Route, error: FieldError) -> Finding:
    """Return the finding for an object that is accepted, while every pod its controller creates is refused."""
    return _finding(
        error.rule.value,
        manifest,
        (*spec, *error.route),
        message=f"no pod is created: the {manifest.kind} is accepted, but each of its pods is rejected: {error.text()}",
        path=f"spec.{error.path}",
        hint=hints.for_rule(error.rule, None),
    )


def _undecodable(manifest: Manifest, problem: decode.Problem, *, is_open: bool) -> Finding:
    path = decode.path_text(problem.route)
    if problem.kind is decode.Kind.UNKNOWN:
        name = str(problem.route[-1])
        finding = _finding(
            "SPR114",
            manifest,
            problem.route,
            message=_unknown_field(manifest, path),
            path=path,
            hint=hints.for_field(name, problem.route),
            key=True,
        )
        return _with_fix(finding, fixes.for_field(problem.route, _value_at(manifest, problem.route[:-1])), manifest)
    value, written = _value_at(manifest, problem.route), _text_at(manifest, problem.route)
    finding = _finding(
        "SPR113",
        manifest,
        problem.route,
        message=_cannot_be_handled(manifest, problem.message),
        path=path,
        hint=hints.for_type(problem, value, written=written),
    )
    if is_open:
        return unresolved.informing(finding)
    fix = fixes.for_type(problem, value=value, written=written)
    return _with_fix(finding, fix, manifest)._replace(is_unreadable=True)


def _cannot_be_handled(manifest: Manifest, why: str) -> str:
    """Return the API server's message for its own kinds; for other kinds their pods fail."""
    if manifest.workload_kind is not None and not manifest.workload_kind.has_fixed_place:
        return f"no pod of this {manifest.kind} can be created: {why}"
    version = manifest.api_version.rpartition("/")[2]
    return f'{manifest.kind} in version "{version}" cannot be handled as a {manifest.kind}: {why}'


def _unknown_field(manifest: Manifest, path: str) -> str:
    """Return kubectl's message; Helm and others do not ask for strict decoding."""
    if manifest.workload_kind is not None and not manifest.workload_kind.has_fixed_place:
        return f'unknown field "{path}": strict validation refuses it, otherwise it is dropped'
    refusal = _cannot_be_handled(manifest, f'strict decoding error: unknown field "{path}"')
    return f"{refusal}; without strict decoding it is dropped, with a warning from 1.27 on"


def _misplaced(manifest: Manifest, kind: WorkloadKind, places: list[PodPlace]) -> list[Finding]:
    """Return findings for constraints in a place where the API server drops or refuses them."""
    right = {(*place.spec, FIELD) for place in places}
    if not manifest.route and _is_named_rightly(manifest, right):
        return []
    findings = []
    for route in _routes_of_constraints(manifest.plain, ()):
        if route in right or (kind.is_foreign and not any(_is_in(route, place) for place in places)):
            continue  # outside its pods a foreign kind may use the name for something else
        home = next((place for place in places if _is_in(route, place)), kind.usual_place())
        field = decode.path_text(route)
        finding = _finding(
            "SPR115",
            manifest,
            route,
            message=_unknown_field(manifest, field),
            path=field,
            hint=f"did you mean `{FIELD}`?"
            if route[:-1] == home.spec
            else f"move it to {decode.path_text((*home.spec, FIELD)).replace('.' + EVERY, EVERY)}",
            key=True,
        )
        fix = fixes.moved(manifest, route, (*home.spec, FIELD)) if home in places else None
        findings.append(_with_fix(finding, fix, manifest))
    return findings


def _is_in(route: Route, place: PodPlace) -> bool:
    return route[: len(place.template)] == place.template


def _is_named_rightly(manifest: Manifest, right: set[Route]) -> bool:
    """Return whether the text of the object names constraints only in the right places."""
    text = manifest.document.text.lower()
    return text.count(_NAMES[1]) == sum(_has(manifest.plain, route) for route in right)


def _has(plain: Any, route: Route) -> bool:
    """Return whether something is written at a route, null included."""
    for step in route[:-1]:
        plain = plain[step] if isinstance(step, int) else fields(plain).get(step)
    return route[-1] in fields(plain)


def _routes_of_constraints(plain: Any, route: Route) -> Iterator[Route]:
    if isinstance(plain, dict):
        for key, value in plain.items():
            if key.lower() in _NAMES and route[:1] != ("metadata",):
                yield (*route, key)
            elif isinstance(value, (dict, list)):
                yield from _routes_of_constraints(value, (*route, key))
    elif isinstance(plain, list):
        for index, item in enumerate(plain):
            yield from _routes_of_constraints(item, (*route, index))


def _value_at(manifest: Manifest, route: Route) -> Any:
    found = nodes.follow(manifest.document.root, (*manifest.route, *route))
    return None if found is None else nodes.to_plain(found)


def _text_at(manifest: Manifest, route: Route) -> str:
    """Return the text at a route."""
    span = manifest.place(route)
    return manifest.document.source.text[span.start : span.end]


def _finding(
    code: str, manifest: Manifest, route: Route, *, message: str, path: str, hint: str, key: bool = False
) -> Finding:
    return Finding(
        RULES[code],
        message,
        Place(manifest.document.source, manifest.place(route, key=key)),
        reference(manifest),
        path,
        hint,
    )
