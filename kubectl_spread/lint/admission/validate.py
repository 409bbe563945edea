"""The API server's errors for an object, and for the pods that its controller creates."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from kubectl_spread.lint.admission import fixes, hints, refusal, spelling, unresolved
from kubectl_spread.lint.admission.misplaced import find_misplaced
from kubectl_spread.lint.admission.unresolved import DecidedBy
from kubectl_spread.lint.finding import Finding, Label, Place
from kubectl_spread.lint.workload import FIELD, is_live, Subject
from kubectl_spread.objects.constraints import constraint_reader
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.reading import decode, workload_shape
from kubectl_spread.objects.validation import constraint_errors, FieldError, Rule
from kubectl_spread.objects.workloads.created_labels import created_labels
from kubectl_spread.objects.workloads.kinds import PodPlace
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.objects.workloads.workload import Workload, workload
from kubectl_spread.text.node import Route

Plain = dict[str, Any]

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
    findings = _undecodable_values(manifest, problems, open_routes)
    is_undecodable = any(item.kind is decode.ProblemKind.TYPE and item.route not in open_routes for item in problems)
    places = kind.places(manifest.plain)
    findings += find_misplaced(manifest, kind, places)
    if is_undecodable:
        return CheckedObject(findings, [], is_undecodable=True)
    subjects = []
    manifest = unresolved.without(manifest, open_routes)
    codes = frozenset({"SPR113"} if open_routes else ())
    for place in places:
        owner = workload(manifest.plain, manifest.kind, at=place, namespace=namespace, is_foreign=kind.is_foreign)
        spec = spelling.corrected_spec(owner.template.get("spec") or {}) if problems else None
        found, subject = _check_pod_spec(manifest, owner, place, spec=spec, codes=codes, minor=minor)
        findings += found
        subjects.append(subject)
    return CheckedObject(findings, subjects)


def _check_pod_spec(
    manifest: Manifest,
    owner: Workload,
    place: PodPlace,
    *,
    spec: Optional[Plain],
    codes: frozenset[str],
    minor: Optional[int],
) -> tuple[list[Finding], Subject]:
    """Check the constraints in one pod spec; `spec` is the same with misspelt fields as meant, None if there are none.

    The workload is refused with the codes of the errors, besides `codes`.
    """
    constraints = constraint_reader.constraints(owner.template.get("spec") or {})
    errors = _field_errors(manifest, owner, place, constraints=constraints, minor=minor)
    lasting = errors if spec is None else _lasting(errors, manifest, owner, place, spec, minor)
    openness = {id(error): unresolved.decider_of(manifest, owner, error=error, spec=place.spec) for error, _ in errors}
    findings = [
        finding if openness[id(error)] is DecidedBy.MANIFEST else unresolved.as_information(finding)
        for error, finding in lasting
        if openness[id(error)] in (DecidedBy.MANIFEST, DecidedBy.TOOL)
    ]
    refusals = codes.union(error.rule.value for error, _ in errors if openness[id(error)] is not DecidedBy.SAME)
    known = constraints if spec is None else None
    subject = Subject(manifest, owner, place, refusals, spec=spec, constraints=known)
    subject.is_open = bool(refusals) and DecidedBy.MANIFEST not in openness.values()
    return findings, subject


def _lasting(
    errors: list[Refused], manifest: Manifest, owner: Workload, place: PodPlace, spec: Plain, minor: Optional[int]
) -> list[Refused]:
    """Return the errors that remain once misspelt fields have the intended names."""
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
        (error, refusal.with_fix(finding, fixes.for_error(error, owner.template, spec, labels=labels), manifest))
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
    finding = refusal.finding(
        error.rule.value,
        manifest,
        (*spec, *error.route),
        message=error.text(root),
        path=f"{root}.{error.path}",
        hint=hints.for_rule(error.rule, refusal.value_at(manifest, (*spec, *error.route))),
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
    return refusal.finding(
        error.rule.value,
        manifest,
        (*spec, *error.route),
        message=f"no pod is created: the {manifest.kind} is accepted, but each of its pods is rejected: {error.text()}",
        path=f"spec.{error.path}",
        hint=hints.for_rule(error.rule, None),
    )


def _undecodable_values(manifest: Manifest, problems: list[decode.Problem], open_routes: list[Route]) -> list[Finding]:
    """Return findings for values that do not decode; open ones only if they concern constraints."""
    return [
        _undecodable(manifest, item, is_open=item.route in open_routes)
        for item in problems
        if item.route not in open_routes or not unresolved.is_unrelated(item)
    ]


def _undecodable(manifest: Manifest, problem: decode.Problem, *, is_open: bool) -> Finding:
    path = decode.path_text(problem.route)
    if problem.kind is decode.ProblemKind.UNKNOWN:
        name = str(problem.route[-1])
        finding = refusal.finding(
            "SPR114",
            manifest,
            problem.route,
            message=refusal.unknown_field(manifest, path),
            path=path,
            hint=hints.for_field(name, problem.route),
            key=True,
        )
        return refusal.with_fix(
            finding, fixes.for_field(problem.route, refusal.value_at(manifest, problem.route[:-1])), manifest
        )
    value, written = refusal.value_at(manifest, problem.route), refusal.text_at(manifest, problem.route)
    finding = refusal.finding(
        "SPR113",
        manifest,
        problem.route,
        message=refusal.unhandled_kind_message(manifest, problem.message),
        path=path,
        hint=hints.for_type(problem, value, written=written),
    )
    if is_open:
        return unresolved.as_information(finding)
    fix = fixes.for_type(problem, value=value, written=written)
    return refusal.with_fix(finding, fix, manifest)._replace(is_unreadable=True)
