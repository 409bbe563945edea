"""The API server's errors for an object and the pods of its controller; constraints in places without effect."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple, Optional

from kubectl_spread.lint import corrections
from kubectl_spread.lint.finding import Finding, Label, RuleFinding, Severity
from kubectl_spread.lint.placeholder import has_placeholder, is_filled_in, stands_for
from kubectl_spread.lint.registry import finding_of
from kubectl_spread.lint.workload import FIELD, is_live, Subject
from kubectl_spread.objects.constraints import constraint as constraint_reader
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import fields, Plain, value_at
from kubectl_spread.objects.validation import constraint_errors, FieldError, Rule, spec_errors
from kubectl_spread.objects.workloads.kinds import BUILT_IN, EVERY, Kinds, PodPlace, WorkloadKind
from kubectl_spread.objects.workloads.manifest import looks_relevant, Manifest
from kubectl_spread.objects.workloads.workload import (
    created_labels,
    DEFAULT_NAMESPACE,
    is_partial,
    Workload,
    workload,
)
from kubectl_spread.text import node as nodes
from kubectl_spread.text.edit import apply_changes, Put
from kubectl_spread.text.node import Route


class SourceSettings(NamedTuple):
    """Settings for the check of a source.

    `namespace` is that of objects that name none, `minor` the API server's minor version, if it is known. `kinds` have
    pod templates, and `around` are the kinds of other objects that the rules read.
    """

    namespace: str = DEFAULT_NAMESPACE
    minor: Optional[int] = None
    kinds: Kinds = BUILT_IN
    around: frozenset[str] = frozenset()

    def may_concern(self, text: str) -> bool:
        """Return whether a text may hold a workload, an object that the rules read, or constraints."""
        return looks_relevant(text, around=self.around, kinds=self.kinds)

    def knows(self, kind: str, api_version: str) -> bool:
        """Return whether objects of a kind are read."""
        return kind in self.around or self.kinds.of(kind, api_version) is not None


class DecidedBy(Enum):
    """The party that decides the final value of a field: the manifest, another tool, or a base."""

    MANIFEST = "manifest"
    TOOL = "tool"  # which fills in the value
    SAME = "same"  # a tool as well, and it puts the same text everywhere
    LATER = "later"  # the base of a patch, or a tool in a value that another finding reports


_WHERE_FILLED_IN = {
    Rule.LABEL_SELECTOR_INVALID: DecidedBy.SAME,
    Rule.MATCH_KEY_SYNTAX: DecidedBy.SAME,
    Rule.MIN_DOMAINS_ON_SOFT: DecidedBy.LATER,
    Rule.MAX_SKEW_NOT_POSITIVE: DecidedBy.LATER,  # a text is not a number: SPR113
    Rule.MIN_DOMAINS_NOT_POSITIVE: DecidedBy.LATER,
}


def decider_of(manifest: Manifest, owner: Workload, *, error: FieldError, spec: Route) -> DecidedBy:
    """Return who has yet to decide about the field of an error; `spec` is the route of the pod spec."""
    route = (*spec, *error.route)
    if error.rule is Rule.MIN_DOMAINS_ON_SOFT:
        route = (*route[:-1], "whenUnsatisfiable")
    entry, value = _written(manifest, route[: len(spec) + 2]), _written(manifest, route)
    if has_placeholder(entry) or (isinstance(entry, dict) and "$patch" in entry):
        return DecidedBy.LATER
    if stands_for(value, corrections.WORDS.get(error.rule, ())) or any(map(has_placeholder, error.route)):
        return _WHERE_FILLED_IN.get(error.rule, DecidedBy.TOOL)
    if value is None and is_filled_in(manifest.place(route)):
        return DecidedBy.TOOL
    is_missing = value is None or error.rule is Rule.MATCH_KEYS_WITHOUT_SELECTOR
    return DecidedBy.LATER if is_missing and is_partial(owner) else DecidedBy.MANIFEST


_UNRELATED = frozenset(("containers", "initContainers", "resources", "volumes"))  # fields without constraints


def with_nulls(plain: Any, routes: list[Route]) -> Any:
    """Return a plain value with null in the place of some values; null fits every type."""
    return apply_changes(plain, (Put(route, None) for route in routes)) if routes else plain


def as_information(finding: Finding) -> Finding:
    """Return the finding as one about a value that is not what will be applied."""
    return finding._replace(
        rule=finding.rule._replace(severity=Severity.INFO), hint=corrections.PLACEHOLDER, repair=None
    )


def _written(manifest: Manifest, route: Route) -> Any:
    found = manifest.document.follow((*manifest.route, *route))
    return None if found is None else nodes.to_plain(found)


def unhandled_kind_message(manifest: Manifest, why: str) -> str:
    """Return the API server's message for its own kinds; for other kinds their pods fail."""
    if manifest.workload_kind is not None and not manifest.workload_kind.has_fixed_place:
        return f"no pod of this {manifest.kind} can be created: {why}"
    version = manifest.api_version.rpartition("/")[2]
    return f'{manifest.kind} in version "{version}" cannot be handled as a {manifest.kind}: {why}'


def unknown_field(manifest: Manifest, path: str, what: str) -> str:
    """Return what is wrong with kubectl's message; Helm and others do not ask for strict decoding."""
    if manifest.workload_kind is not None and not manifest.workload_kind.has_fixed_place:
        return f'{what}: strict validation refuses "{path}", or it is dropped'
    refusal = unhandled_kind_message(manifest, f'strict decoding error: unknown field "{path}"')
    return f"{what}: {refusal}. Without strict decoding it is dropped, with a warning from 1.27 on"


_NAMES = (FIELD.lower(), FIELD.lower()[:-1])  # in lower case; also the singular


def _misplaced(manifest: Manifest, kind: WorkloadKind, places: list[PodPlace]) -> Iterator[Finding]:
    """Yield findings for constraints in a place where the API server drops or refuses them."""
    right = {(*place.spec, FIELD) for place in places}
    if not manifest.route:
        written = sum(route[-1] in fields(value_at(manifest.plain, route[:-1])) for route in right)
        if written == manifest.document.text.lower().count(_NAMES[1]):
            return
    for route in _routes_of_constraints(manifest.plain, ()):
        around = next((place for place in places if route[: len(place.template)] == place.template), None)
        if route in right or (kind.is_foreign and around is None):
            continue  # outside its pods a foreign kind may use the name for something else
        home, field = around or kind.usual_place(), decode.path_text(route)
        if route[:-1] == home.spec:
            hint = f"did you mean `{FIELD}`?"
        else:
            hint = f"move it to {decode.path_text((*home.spec, FIELD)).replace('.' + EVERY, EVERY)}"
        fix = corrections.fix_for_misplaced(manifest, route, (*home.spec, FIELD)) if home in places else None
        message = unknown_field(manifest, field, "constraints in this place have no effect")
        yield finding_of("SPR115", manifest, RuleFinding(message, route, hint, fix=fix, key=True), field)


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


def check_object(manifest: Manifest, settings: SourceSettings) -> tuple[list[Finding], Optional[list[Subject]]]:
    """Return the API server's errors for an object, and the workloads in it; None if it does not decode."""
    kind, minor, namespace = manifest.workload_kind, settings.minor, settings.namespace
    if kind is None:
        is_autoscaler = manifest.kind == "HorizontalPodAutoscaler" and manifest.api_version.startswith("autoscaling/")
        return _spec_findings(manifest, ("spec",), minor) if is_autoscaler else [], []
    problems = [
        item
        for item in decode.workload_problems(kind, manifest.plain)
        # Directives of a merge patch are `$patch` and `$setElementOrder/...`.
        if not (item.kind is decode.ProblemKind.UNKNOWN and str(item.route[-1]).startswith("$"))
    ]
    types = [item.route for item in problems if item.kind is decode.ProblemKind.TYPE]
    open_routes = [route for route in types if stands_for(_written(manifest, route))]  # a tool has yet to fill them in
    findings = [
        _undecodable(manifest, item, is_open=item.route in open_routes)
        for item in problems
        if item.route not in open_routes or (FIELD in manifest.document.text and _UNRELATED.isdisjoint(item.route))
    ]
    places = kind.places(manifest.plain)
    findings += _misplaced(manifest, kind, places)
    if len(types) > len(open_routes):
        return findings, None
    subjects = []
    manifest = manifest._replace(plain=with_nulls(manifest.plain, open_routes))
    codes = frozenset({"SPR113"} if open_routes else ())
    if not kind.is_foreign and kind.has_fixed_place:
        root: Route = ("spec", "jobTemplate", "spec") if manifest.kind == "CronJob" else ("spec",)
        wrong = _spec_findings(manifest, root, minor)
        findings += wrong
        codes |= {finding.rule.code for finding in wrong}
    for place in places:
        owner = workload(manifest.plain, manifest.kind, at=place, namespace=namespace, is_foreign=kind.is_foreign)
        spec = corrections.corrected_spec(fields(owner.template, "spec")) if problems else None
        found, subject = _check_pod_spec(manifest, owner, place, spec=spec, codes=codes, minor=minor)
        findings += found
        subjects.append(subject)
    return findings, subjects


def _spec_findings(manifest: Manifest, root: Route, minor: Optional[int]) -> list[Finding]:
    """Return the findings for what the API server refuses in a spec outside the pods; `root` is its route."""
    path = decode.path_text(root)
    return [
        finding_of(
            "SPR116",
            manifest,
            RuleFinding(error.text(path), (*root, *error.route), corrections.hint_for_spec(error)),
            f"{path}.{error.path}",
        )
        for error in spec_errors(manifest.kind, value_at(manifest.plain, root), minor=minor)
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
    errors = lasting = _field_errors(manifest, owner, place, minor)
    if spec is not None:  # some errors end once misspelt fields have the intended names
        meant = owner._replace(template={**owner.template, "spec": spec}, known_hash=owner.revision_hash)
        lasting = _field_errors(manifest, meant, place, minor)
    remaining = {(error.rule, finding.path) for error, finding in lasting}
    findings: list[Finding] = []
    is_decided = Rule.SPEC_INVALID.value in codes
    for error, finding in errors:
        decider = decider_of(manifest, owner, error=error, spec=place.spec)
        is_decided |= decider is DecidedBy.MANIFEST
        codes |= set() if decider is DecidedBy.SAME else {error.rule.value}
        if (error.rule, finding.path) in remaining and decider in (DecidedBy.MANIFEST, DecidedBy.TOOL):
            findings.append(finding if decider is DecidedBy.MANIFEST else as_information(finding))
    subject = Subject(manifest, owner, place, codes, spec=spec)
    subject.is_open = bool(codes) and not is_decided
    return findings, subject


def _field_errors(
    manifest: Manifest, owner: Workload, place: PodPlace, minor: Optional[int]
) -> list[tuple[FieldError, Finding]]:
    """Return the API server's errors for the object, and for the pods that its controller creates."""
    constraints = constraint_reader.constraints(fields(owner.template, "spec"))
    if not constraints:
        return []
    created_with = None if place.template or is_live(manifest) else created_labels(owner)
    errors = constraint_errors(constraints, created_with=created_with, minor=minor)
    later: list[FieldError] = []
    if place.template and any(constraint.match_label_keys for constraint in constraints):
        # Creating a pod merges matchLabelKeys into the selector.
        known = {(error.rule, error.route) for error in errors}
        created = constraint_errors(constraints, created_with=created_labels(owner), minor=minor)
        later = [error for error in created if (error.rule, error.route) not in known]
    labels = fields(owner.selector, "matchLabels")  # it may not decode
    labels = labels or constraint_reader.labels(fields(owner.template, "metadata"))
    root = decode.path_text(place.spec)
    refused = []
    for error in (*errors, *later):
        route = (*place.spec, *error.route)
        message, path, value = error.text(root), f"{root}.{error.path}", _written(manifest, route)
        if error in later:
            rejected = f"the {manifest.kind} is accepted, but each of its pods is rejected"
            message, path, value = f"no pod is created: {rejected}: {error.text()}", f"spec.{error.path}", None
        hint = corrections.hint_for_rule(error.rule, value)
        fix = corrections.fix_for_error(error, owner.template, place.spec, labels=labels)
        problem = RuleFinding(message, route, hint, fix=fix)
        if error.rule is Rule.DUPLICATE_CONSTRAINT:
            pairs = [(item.topology_key, item.when_unsatisfiable) for item in constraints]
            first = int(error.route[1])
            again = pairs.index(pairs[first], first + 1)
            there = manifest.place((*place.spec, FIELD, again, "topologyKey"))
            problem = problem._replace(related=(Label(there, "repeated here"),))
        refused.append((error, finding_of(error.rule.value, manifest, problem, path)))
    return refused


def _undecodable(manifest: Manifest, problem: decode.Problem, *, is_open: bool) -> Finding:
    route, path = problem.route, decode.path_text(problem.route)
    if problem.kind is decode.ProblemKind.UNKNOWN:
        hint = corrections.hint_for_field(str(route[-1]), route)
        message = unknown_field(manifest, path, f"`{route[-1]}` is not a field of Kubernetes")
        fix = corrections.fix_for_field(route, _written(manifest, route[:-1]))
        return finding_of("SPR114", manifest, RuleFinding(message, route, hint, fix=fix, key=True), path)
    source, span = manifest.place(route)
    value, written = _written(manifest, route), source.text[span.start : span.end]
    hint = corrections.hint_for_type(problem, value, written=written)
    fix = corrections.fix_for_type(problem, value=value, written=written)
    refusal = unhandled_kind_message(manifest, problem.message)
    message = corrections.type_sentence(problem, refusal, written=written)
    finding = finding_of("SPR113", manifest, RuleFinding(message, route, hint, fix=fix), path)
    return as_information(finding) if is_open else finding._replace(is_unreadable=True)
