"""The API server's errors for an object and the pods of its controller; constraints in places without effect."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, cast, NamedTuple, Optional

from kubectl_spread.lint.admission import fixes, hints, refusal
from kubectl_spread.lint.admission import fixes as spelling
from kubectl_spread.lint.finding import Finding, Label, Place, Severity
from kubectl_spread.lint.placeholder import has_placeholder, is_filled_in
from kubectl_spread.lint.workload import FIELD, is_live, Subject
from kubectl_spread.objects.constraints import constraint as constraint_reader
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.reading import decode, workload_shape
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.validation import constraint_errors, count_errors, FieldError, Rule
from kubectl_spread.objects.workloads.created_labels import created_labels
from kubectl_spread.objects.workloads.kinds import EVERY, PodPlace, WorkloadKind
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.objects.workloads.workload import is_partial, Workload, workload
from kubectl_spread.text import node as nodes
from kubectl_spread.text.node import Route


class DecidedBy(Enum):
    """The party that decides the final value of a field: the manifest, another tool, or a base."""

    MANIFEST = "manifest"
    TOOL = "tool"  # which fills in the value
    SAME = "same"  # a tool as well, and it puts the same text everywhere
    OTHER_FINDING = "otherFinding"  # a tool as well, and another finding reports it
    BASE = "base"  # of a patch


_WHERE_FILLED_IN = {
    Rule.LABEL_SELECTOR_INVALID: DecidedBy.SAME,
    Rule.MATCH_KEY_SYNTAX: DecidedBy.SAME,
    Rule.MIN_DOMAINS_ON_SOFT: DecidedBy.OTHER_FINDING,
    Rule.MAX_SKEW_NOT_POSITIVE: DecidedBy.OTHER_FINDING,  # a text is not a number: SPR113
    Rule.MIN_DOMAINS_NOT_POSITIVE: DecidedBy.OTHER_FINDING,
}


def decider_of(manifest: Manifest, owner: Workload, *, error: FieldError, spec: Route) -> DecidedBy:
    """Return who has yet to decide about the field of an error; `spec` is the route of the pod spec."""
    route = (*spec, *error.route)
    if error.rule is Rule.MIN_DOMAINS_ON_SOFT:
        route = (*route[:-1], "whenUnsatisfiable")
    entry, value = _written(manifest, route[: len(spec) + 2]), _written(manifest, route)
    if isinstance(entry, dict) and "$patch" in entry:
        return DecidedBy.BASE
    if has_placeholder(entry):
        return DecidedBy.OTHER_FINDING
    if any(map(has_placeholder, (value, *error.route))):
        return _WHERE_FILLED_IN.get(error.rule, DecidedBy.TOOL)
    if value is None and is_filled_in(Place(manifest.document.source, manifest.place(route))):
        return DecidedBy.TOOL
    is_missing = value is None or error.rule is Rule.MATCH_KEYS_WITHOUT_SELECTOR
    return DecidedBy.BASE if is_missing and is_partial(owner) else DecidedBy.MANIFEST


def is_unrelated(problem: decode.Problem) -> bool:
    """Return whether a value that does not decode is in a field of containers or volumes, not of constraints."""
    return any(step in ("containers", "initContainers", "resources", "volumes") for step in problem.route)


def is_directive(problem: decode.Problem) -> bool:
    """Return whether an unknown field is a directive of a merge patch: `$patch`, `$setElementOrder/...`."""
    return problem.kind is decode.ProblemKind.UNKNOWN and str(problem.route[-1]).startswith("$")


def is_open(manifest: Manifest, problem: decode.Problem) -> bool:
    """Return whether a value does not decode because a tool has yet to fill it in."""
    return problem.kind is decode.ProblemKind.TYPE and has_placeholder(_written(manifest, problem.route))


def without(manifest: Manifest, routes: Iterable[Route]) -> Manifest:
    """Return the manifest with null in the place of values; null fits every type."""
    found = manifest
    for route in routes:
        if found is manifest:
            import copy  # 1 ms; few manifests have blanks

            found = manifest._replace(plain=copy.deepcopy(manifest.plain))
        holder = functools.reduce(operator.getitem, route[:-1], cast("Any", found.plain))
        holder[route[-1]] = None
    return found


def as_information(finding: Finding) -> Finding:
    """Return the finding as one about a value that is not what will be applied."""
    return finding._replace(rule=finding.rule._replace(severity=Severity.INFO), hint=hints.PLACEHOLDER, repair=None)


def _written(manifest: Manifest, route: Route) -> Any:
    found = nodes.follow(manifest.document.root, (*manifest.route, *route))
    return None if found is None else nodes.to_plain(found)


_NAMES = (FIELD.lower(), FIELD.lower()[:-1])  # in lower case; also the singular


def find_misplaced(manifest: Manifest, kind: WorkloadKind, places: list[PodPlace]) -> list[Finding]:
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
        finding = refusal.finding(
            "SPR115",
            manifest,
            route,
            message=refusal.unknown_field(manifest, field),
            path=field,
            hint=f"did you mean `{FIELD}`?"
            if route[:-1] == home.spec
            else f"move it to {decode.path_text((*home.spec, FIELD)).replace('.' + EVERY, EVERY)}",
            key=True,
        )
        fix = fixes.for_misplaced(manifest, route, (*home.spec, FIELD)) if home in places else None
        findings.append(refusal.with_fix(finding, fix, manifest))
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
    problems = [item for item in workload_shape.problems(kind, manifest.plain) if not is_directive(item)]
    open_routes = [item.route for item in problems if is_open(manifest, item)]
    findings = _undecodable_values(manifest, problems, open_routes)
    is_undecodable = any(item.kind is decode.ProblemKind.TYPE and item.route not in open_routes for item in problems)
    places = kind.places(manifest.plain)
    findings += find_misplaced(manifest, kind, places)
    if is_undecodable:
        return CheckedObject(findings, [], is_undecodable=True)
    subjects = []
    manifest = without(manifest, open_routes)
    negative = _negative_counts(manifest, kind)
    findings += negative
    codes = frozenset(("SPR113",) if open_routes else ()).union(item.rule.code for item in negative)
    for place in places:
        owner = workload(manifest.plain, manifest.kind, at=place, namespace=namespace, is_foreign=kind.is_foreign)
        spec = spelling.corrected_spec(owner.template.get("spec") or {}) if problems else None
        found, subject = _check_pod_spec(manifest, owner, place, spec=spec, codes=codes, minor=minor)
        findings += found
        subject.is_open = subject.is_open and not negative
        subjects.append(subject)
    return CheckedObject(findings, subjects)


def _negative_counts(manifest: Manifest, kind: WorkloadKind) -> list[Finding]:
    """Return findings for negative numbers in the spec of a workload, or of the Jobs that it creates."""
    if kind.is_foreign or not kind.has_fixed_place:
        return []
    root: Route = ("spec", "jobTemplate", "spec") if manifest.kind == "CronJob" else ("spec",)
    spec: Any = manifest.plain
    for step in root:
        spec = fields(spec).get(str(step))
    return [
        refusal.finding(
            error.rule.value,
            manifest,
            (*root, *error.route),
            message=error.text(decode.path_text(root)),
            path=f"{decode.path_text(root)}.{error.path}",
            hint=hints.for_rule(error.rule, None),
        )
        for error in count_errors(spec)
    ]


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
    openness = {id(error): decider_of(manifest, owner, error=error, spec=place.spec) for error, _ in errors}
    findings = [
        finding if openness[id(error)] is DecidedBy.MANIFEST else as_information(finding)
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
        if item.route not in open_routes or not is_unrelated(item)
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
        return as_information(finding)
    fix = fixes.for_type(problem, value=value, written=written)
    return refusal.with_fix(finding, fix, manifest)._replace(is_unreadable=True)
