"""Constraints outside the pod specs of known kinds: bare lists, nested objects, and YAML inside texts.

The pods of a bare list (in values of charts, patches and custom resources) are unknown. It gets every check that needs
no pod: the API server's rules, keys that no node has, deprecated keys, and hard constraints that count tainted nodes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any, NamedTuple, Optional

from kubectl_spread.lint import corrections
from kubectl_spread.lint.admission import api_finding, check_object, with_nulls
from kubectl_spread.lint.check_source import Result
from kubectl_spread.lint.finding import Finding, Fix, Severity
from kubectl_spread.lint.placeholder import has_placeholder, is_filled_in
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.registry import check_subject, RULES
from kubectl_spread.lint.selection import NamedPath
from kubectl_spread.lint.workload import FIELD, Subject
from kubectl_spread.objects.constraints import constraint as constraint_reader
from kubectl_spread.objects.constraints import constraint_lists
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.constraints.constraint_lists import ConstraintList, operator_of
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import value_at
from kubectl_spread.objects.validation import constraint_errors, FieldError, Rule
from kubectl_spread.objects.workloads.kinds import Kinds, leads_to, PodPlace, PodSpecPath
from kubectl_spread.objects.workloads.manifest import looks_relevant, Manifest
from kubectl_spread.objects.workloads.workload import DEFAULT_NAMESPACE, Workload
from kubectl_spread.text import node as nodes
from kubectl_spread.text.compose import SyntaxProblem
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import Place
from kubectl_spread.text.wording import count_noun

_MOST_LEVELS = 4  # of texts in texts
_WITH_PATCHES = frozenset({"Kustomization", "Component", "PatchTransformer", "PatchStrategicMergeTransformer"})


class NestedObjects(NamedTuple):
    """Objects inside another document, which count only for one another."""

    subjects: list[Subject]
    others: list[Manifest]
    has_patches: bool  # of a kustomization: incomplete constraints are merged into others


class _Target(NamedTuple):
    """What a search through a value adds to, and how many texts deep it is."""

    world: NestedObjects
    is_own: Callable[[Route], bool]
    seen: set[int]  # the id() of the first entry of each list
    level: int = 0


class Outside:
    """Constraints outside the known pod specs of a source; `skipped` are texts with constraints that are not YAML."""

    def __init__(self, kinds: Kinds, around: frozenset[str], namespace: str, minor: Optional[int] = None) -> None:
        """Set up a search with the kinds of workloads, the kinds of other objects, and the default namespace."""
        self.findings: list[Finding] = []
        self.lists: list[BareSubject] = []
        self.worlds: list[NestedObjects] = []
        self.skipped: list[Place] = []
        self._kinds = kinds
        self._around = around
        self._namespace = namespace
        self._minor = minor

    def search(self, manifest: Manifest, *, is_own: Callable[[Route], bool]) -> None:
        """Search an object, or a document without one.

        Args:
            manifest: of an unknown kind, or with an empty kind for a document that is not an object.
            is_own: returns whether the list at a route belongs to a pod spec that is checked as a workload.
        """
        root = nodes.follow(manifest.document.root, manifest.route)
        if root is not None:
            target = _Target(NestedObjects([], [], manifest.kind in _WITH_PATCHES), is_own, set())
            self._below(manifest, nodes.to_plain(root), target)
            if target.world.subjects:
                self.worlds.append(target.world)

    def _below(self, manifest: Manifest, plain: Any, target: _Target) -> None:
        for found in constraint_lists.search(plain, self._is_known):
            if isinstance(found, constraint_lists.ConstraintList):
                entry = nodes.follow(manifest.document.root, (*manifest.route, *found.routes[0]))
                if target.is_own(found.route) or (entry is not None and id(entry) in target.seen):
                    continue  # an alias of a list that was checked
                target.seen.add(id(entry))
                subject = BareSubject(manifest, found)
                self.lists.append(subject)
                self.findings += check_list(subject, self._minor)
            elif isinstance(found, constraint_lists.NestedObject):
                kind, version = found.plain["kind"], found.plain["apiVersion"]
                route, known = (*manifest.route, *found.route), self._kinds.of(kind, version)
                self._object(Manifest(manifest.document, route, found.plain, kind, version, known), target.world)
            elif target.level < _MOST_LEVELS:
                self._text(manifest, found.route, target)

    def _is_known(self, kind: str, api_version: str) -> bool:
        return kind in self._around or self._kinds.of(kind, api_version) is not None

    def _object(self, manifest: Manifest, world: NestedObjects) -> None:
        """Check an object of a known kind inside another document."""
        checked = check_object(manifest, self._namespace, minor=self._minor)
        self.findings += checked.findings
        world.subjects.extend(checked.subjects)
        if not checked.subjects and not checked.is_undecodable:
            world.others.append(manifest)

    def _text(self, manifest: Manifest, route: Route, target: _Target) -> None:
        """Search the documents in a text; objects of one text belong together."""
        from kubectl_spread.text import embedded  # needed by few documents

        source = manifest.document.source
        scalar = nodes.follow(manifest.document.root, (*manifest.route, *route))
        if not isinstance(scalar, nodes.Scalar):
            return
        world = NestedObjects([], [], manifest.kind in _WITH_PATCHES)
        inside = target._replace(world=world, is_own=lambda _: False, level=target.level + 1)
        wanted = functools.partial(looks_relevant, around=self._around, kinds=self._kinds)
        for found in embedded.documents(source, scalar, wanted):
            if isinstance(found, SyntaxProblem):
                self.skipped += [Place(source, found.span)] * constraint_lists.names_a_list(scalar.text)
                continue
            plain, inner = found.plain, manifest._replace(document=found, route=())
            kind, version = (plain.get("kind"), plain.get("apiVersion")) if isinstance(plain, dict) else (None, None)
            if isinstance(kind, str) and isinstance(version, str):
                inner = Manifest(found, (), plain, kind, version, self._kinds.of(kind, version))
                if self._is_known(kind, version):
                    self._object(inner, world)
                    continue
            self._below(inner, plain, inside)
        if world.subjects:
            self.worlds.append(world)


_OF_A_CHART = "check what the chart renders with these values: helm template ... | kubectl spread check -"
_HINT = "add its path to .kubectl-spread.yaml (podspecPaths), or check the workloads that it creates"
_HINTS = dict.fromkeys(("Application", "ApplicationSet", "HelmRelease", "HelmChart", "HelmChartConfig"), _OF_A_CHART)


def partial_check_finding(outside: Outside) -> list[Finding]:
    """Return one finding for all custom resources of a file: their lists were checked without their pods."""
    subjects = [subject for subject in outside.lists if _is_unmapped(subject)]
    if not subjects:
        return []
    first = subjects[0]
    manifest, more = first.manifest, len(subjects) - 1
    what = f"{manifest.kind} of {manifest.api_version}" if manifest.api_version else manifest.kind
    why = _why(manifest, what, is_one=not more)
    others = f" and {count_noun(more, 'more list')} in this file" if more else ""
    return [
        Finding(
            RULES["SPR006"],
            f"`{FIELD}`{others} {'were' if more else 'was'} checked only in part, {why}",
            place_of(first),
            manifest.ref,
            first.found.path,
            _HINTS.get(manifest.kind, _HINT),
        )
    ]


def _why(manifest: Manifest, what: str, *, is_one: bool) -> str:
    if manifest.workload_kind is None:
        return f"because it is not known where {_article(what)} {what} has its pods"
    return f"because {'it is' if is_one else 'they are'} outside the known pod specs of {_article(what)} {what}"


def _is_unmapped(subject: BareSubject) -> bool:
    """Return whether constraints are a custom resource's own: not a patch, and not a file that it carries."""
    manifest = subject.manifest
    is_patch = subject.found.is_patch or subject.found.is_merged
    if not manifest.kind or is_patch or subject.operator is not None:
        return False
    return not manifest.document.is_embedded or manifest.kind in _HINTS


def _article(word: str) -> str:
    return "an" if word[:1] in "AEIOaeio" else "a"


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
        wrong = [problem.route for problem in decode.problems(found.entries, _SHAPE) if _is_type(problem)]
        spec = {FIELD: with_nulls(found.entries, wrong)}  # rules skip these values
        owner = Workload(
            kind=manifest.kind,
            api_version=manifest.api_version,
            namespace=manifest.namespace or DEFAULT_NAMESPACE,
            name=manifest.name,
            replicas=None,
            template={"spec": spec},
            is_foreign=True,
        )
        super().__init__(manifest, owner, PodPlace((), ()), frozenset(), spec=corrections.corrected_spec(spec))
        self.constraints = tuple(
            item for item in self.constraints if not (has_placeholder(item.topology_key) or not item.topology_key)
        )
        is_own = not manifest.document.is_embedded and not found.is_patch
        self.operator = operator_of(manifest.kind, manifest.api_version, found.route) if is_own else None
        is_copied = self.operator is not None and self.operator.as_written and not self._has_other_fields
        self.is_final = is_copied or (self.found.is_patch and self.found.is_complete)

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

    @property
    def _has_other_fields(self) -> bool:
        """Return whether an entry has fields of its operator, which may say what to select."""
        known = decode.TOPOLOGY_SPREAD_CONSTRAINT.fields
        return any(name not in known for entry in self.found.entries if isinstance(entry, dict) for name in entry)


def check_list(subject: BareSubject, minor: Optional[int] = None) -> list[Finding]:
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
    value = value_at(entry, steps)
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


def _finding(subject: BareSubject, error: FieldError) -> Finding:
    _, position, *steps = error.route
    route = subject.at(int(position), tuple(steps))
    path = subject.path(route)
    hint = corrections.hint_for_rule(error.rule, value_at(subject.found.entries[int(position)], tuple(steps)))
    fix = _moved(subject, corrections.fix_for_error(error, subject.workload.template, (), labels=None))
    message = f"{path}: {error.detail}"
    return api_finding(error.rule.value, subject.manifest, route, message=message, path=path, hint=hint, fix=fix)


def _unknown_fields(subject: BareSubject) -> Iterator[Finding]:
    """Yield the fields that are nearly those of a constraint; a chart may have others of its own."""
    for problem in decode.problems(subject.found.entries, _SHAPE):
        if problem.kind is not decode.ProblemKind.UNKNOWN:
            continue
        position, *steps = problem.route
        hint = corrections.hint_for_field(str(steps[-1]), (FIELD, *problem.route), cutoff=_NEAR)
        if not hint or len(steps) <= subject.found.depth - 1:
            continue
        route = subject.at(int(position), tuple(steps))
        path = subject.path(route)
        siblings = value_at(subject.found.entries[int(position)], tuple(steps[:-1]))
        fix = _moved(subject, corrections.fix_for_field((FIELD, *problem.route), siblings))
        message = f'unknown field "{path}": strict validation refuses it, otherwise it is dropped'
        yield api_finding("SPR114", subject.manifest, route, message=message, path=path, hint=hint, key=True, fix=fix)


def _wrong_types(subject: BareSubject) -> Iterator[Finding]:
    """Yield the values with which no pod can be created. They have no fix, because a chart may print them unchanged."""
    for problem in filter(_is_type, decode.problems(subject.found.entries, _SHAPE)):
        position, *steps = problem.route
        value = value_at(subject.found.entries[int(position)], tuple(steps))
        if not steps or has_placeholder(value) or len(steps) < subject.found.depth:
            continue
        route = subject.at(int(position), tuple(steps))
        path, place = subject.path(route), subject.place(route)
        if not is_filled_in(place):
            hint = corrections.hint_for_type(problem, value, written=place.source.text[slice(*place.span)])
            message = f"{path}: {problem.message}"
            yield api_finding("SPR113", subject.manifest, route, message=message, path=path, hint=hint)


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


def unmatched_entries(paths: Sequence[NamedPath], results: Sequence[Result], *, is_whole: bool) -> Iterator[Finding]:
    """Yield entries that match nothing; where the run is not whole, only those whose kind is in it."""
    for named in paths:
        kind, path = named.path.kind, named.path.path
        objects = [manifest for result in results for manifest in _of_kind(named.path, result)]
        if any(leads_to(named.path, manifest.plain) for manifest in objects) or not (objects or is_whole):
            continue
        message = f"no {kind} has `{path}`" if objects else f"no {kind} is in the project"
        yield Finding(
            RULES["SPR006"]._replace(severity=Severity.WARNING),
            f"this entry of podspecPaths matches nothing: {message}",
            named.place,
            hint=_hint(objects, results) if objects else "remove the entry, or correct its kind and group",
        )


def _of_kind(path: PodSpecPath, result: Result) -> list[Manifest]:
    """Return the objects that an entry is for, each once."""
    found = {id(subject.manifest): subject.manifest for subject in result.subjects}
    found.update((id(manifest), manifest) for manifest in result.others)
    return [manifest for manifest in found.values() if manifest.kind == path.kind and _is_in(manifest, path)]


def _is_in(manifest: Manifest, path: PodSpecPath) -> bool:
    group = manifest.api_version.rpartition("/")[0]
    return path.group is None or path.group == group


def _hint(objects: list[Manifest], results: Sequence[Result]) -> str:
    """Return where the objects have constraints, if they have any."""
    lists = [subject for result in results if result.outside is not None for subject in result.outside.lists]
    for subject in lists:
        if any(subject.manifest.plain is manifest.plain for manifest in objects):
            return f"{subject.manifest.kind} {subject.manifest.name} has constraints at `{subject.found.path}`"
    return "check the spelling of the path"
