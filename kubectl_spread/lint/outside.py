"""Constraints outside the pod specs of known kinds: bare lists, nested objects, and YAML inside texts.

The pods of a bare list (in values of charts, patches and custom resources) are not in the text. It gets the API
server's checks, and every rule that speaks from as little as is known about its pods.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.containers import grouped
from kubectl_spread.lint import corrections
from kubectl_spread.lint.admission import check_object, with_nulls
from kubectl_spread.lint.check_source import bare_lists, Reading, Result
from kubectl_spread.lint.finding import Finding, Fix, Knowledge, RuleFinding, Severity
from kubectl_spread.lint.kustomization import FILE_NAMES
from kubectl_spread.lint.placeholder import has_placeholder, is_filled_in, stands_for
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.registry import check_subject, finding_of, findings_by_object, RULES
from kubectl_spread.lint.workload import Completion, FIELD, Subject
from kubectl_spread.objects.constraints import constraint as constraint_reader
from kubectl_spread.objects.constraints import constraint_lists
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.constraints.constraint_lists import ConstraintList, operator_of
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import fields, Plain, value_at
from kubectl_spread.objects.selectors import LabelRequirement
from kubectl_spread.objects.validation import constraint_errors, FieldError, Rule
from kubectl_spread.objects.workloads.kinds import KINDS, leads_to, PodPlace, PodSpecPath
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.objects.workloads.workload import DEFAULT_NAMESPACE, Workload
from kubectl_spread.text import node as nodes
from kubectl_spread.text.compose import Document, SyntaxProblem
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import Place, Span
from kubectl_spread.text.wording import count_noun

if TYPE_CHECKING:
    from kubectl_spread.lint.projects import Projects

_MOST_LEVELS = 4  # of texts in texts
_WITH_PATCHES = frozenset({"Kustomization", "Component", "PatchTransformer", "PatchStrategicMergeTransformer"})


class NestedObjects(NamedTuple):
    """Objects inside another document, which count only for one another."""

    subjects: list[Subject]
    others: list[Manifest]
    has_patches: bool  # of a kustomization: incomplete constraints are merged into others


class _Search(NamedTuple):
    """A search through a value: what it adds to, and how many texts deep it is.

    `own` are the routes of the pods that are checked as a workload. `seen` has the first entry of each list.
    """

    reading: Reading
    world: NestedObjects
    own: tuple[Route, ...]
    seen: set[Span]
    level: int = 0

    def below(self, manifest: Manifest, plain: Any) -> None:
        settings = self.reading.settings
        for part in constraint_lists.search(plain, settings.knows):
            if isinstance(part, constraint_lists.ConstraintList):
                entry = manifest.document.follow((*manifest.route, *part.routes[0]))
                is_own = any(part.route[: len(route)] == route for route in self.own)
                if is_own or (entry is not None and nodes.span(entry) in self.seen):
                    continue  # an alias of a list that was checked
                self.seen.update([] if entry is None else [nodes.span(entry)])
                lists = self.reading.lists
                lists.append(BareSubject(manifest, part, lists))
            elif isinstance(part, constraint_lists.NestedObject):
                self.object(manifest.document, (*manifest.route, *part.route), part.plain)
            elif self.level < _MOST_LEVELS:
                self.text(manifest, part.route)

    def object(self, document: Document, route: Route, plain: Plain) -> None:
        """Check an object of a known kind inside another document."""
        kind, version, settings = plain["kind"], plain["apiVersion"], self.reading.settings
        manifest = Manifest(document, route, plain, kind, version, settings.kinds.of(kind, version))
        findings, subjects = check_object(manifest, settings)
        self.reading.findings += findings
        self.world.subjects.extend(subjects or ())
        if subjects == []:
            self.world.others.append(manifest)

    def text(self, manifest: Manifest, route: Route) -> None:
        """Search the documents in a text; objects of one text belong together."""
        from kubectl_spread.text import embedded  # needed by few documents

        scalar, settings = manifest.document.follow((*manifest.route, *route)), self.reading.settings
        if not isinstance(scalar, nodes.Scalar):
            return
        world = NestedObjects([], [], _is_kustomization(manifest))
        inside = self._replace(world=world, own=(), level=self.level + 1)
        for document in embedded.documents(manifest.source, scalar, settings.may_concern):
            if isinstance(document, SyntaxProblem):
                self.reading.has_other_texts |= constraint_lists.names_a_list(scalar.text)
                continue
            plain, inner = fields(document.plain), manifest._replace(document=document, route=())
            kind, version = plain.get("kind"), plain.get("apiVersion")
            if isinstance(kind, str) and isinstance(version, str):
                if settings.knows(kind, version):
                    inside.object(document, (), plain)
                    continue
                inner = Manifest(document, (), plain, kind, version)
            inside.below(inner, document.plain)
        if world.subjects:
            self.reading.worlds.append(world)


def search(reading: Reading, manifest: Manifest) -> None:
    """Search an object, or a document without one: then its kind is empty."""
    root, kind = manifest.document.follow(manifest.route), manifest.workload_kind
    if root is not None:
        own = () if kind is None else tuple(place.template for place in kind.places(manifest.plain))
        world = NestedObjects([], [], _is_kustomization(manifest))
        _Search(reading, world, own, set()).below(manifest, nodes.to_plain(root))
        if world.subjects:
            reading.worlds.append(world)


def _is_kustomization(manifest: Manifest) -> bool:
    """Return whether an object, or the object around a text, has patches; a kustomization may leave its kind out."""
    is_named = os.path.basename(manifest.source.name) in FILE_NAMES
    return manifest.kind in _WITH_PATCHES or (is_named and not manifest.kind)


# Kinds that install a chart with values.
RELEASES = frozenset(("Application", "ApplicationSet", "HelmRelease", "HelmChart", "HelmChartConfig"))


def partial_check_finding(lists: Iterable[BareSubject]) -> list[Finding]:
    """Return one finding for all custom resources of a file: their lists were checked without their pods.

    Patches, and files that an object carries, are not a custom resource's own constraints.
    """
    subjects = [
        subject
        for subject in lists
        if subject.manifest.kind
        and subject.operator is None
        and not (subject.found.is_patch or subject.found.is_merged)
        and (not subject.manifest.document.is_embedded or subject.manifest.kind in RELEASES)
    ]
    if not subjects:
        return []
    first, kind = subjects[0], subjects[0].manifest.kind
    where = "these are values of a Helm chart: the pods' labels are not in this file"
    hint = "check what the chart renders with these values: helm template ... | kubectl spread check -"
    if kind not in RELEASES:
        where = f"the operator of {kind} creates the pods, and their labels are not known here"
        hint = (
            "add its path to .kubectl-spread.yaml (podspecPaths), or check its pods: kubectl spread check -n NAMESPACE"
        )
    more = f" (and {count_noun(len(subjects) - 1, 'more list')} in this file)" if len(subjects) > 1 else ""
    return [
        Finding(
            RULES["SPR006"],
            f"{where}, so whether labelSelector matches them was not checked{more}",
            first.place(first.found.route, key=True),
            first.manifest.ref,
            first.found.path,
            hint,
        )
    ]


# The chart or the operator may add missing fields; only the created pod shows that.
_NEEDS_A_POD = frozenset({Rule.MATCH_KEYS_WITHOUT_SELECTOR})
_NEAR = 0.8  # Prometheus has `additionalLabelSelectors`
_MISSING = frozenset(
    (Rule.MAX_SKEW_NOT_POSITIVE, Rule.TOPOLOGY_KEY_MISSING, Rule.WHEN_UNSATISFIABLE_MISSING)  # a mandatory field
)
_ABOUT_ACTIONS = (Rule.MIN_DOMAINS_ON_SOFT, Rule.DUPLICATE_CONSTRAINT)


_REPLICAS = ("replicas", "replicaCount", "instances")
_SCALING = ("autoscaling", "hpa", "keda", "horizontalPodAutoscaler")


class BareSubject(Subject):
    """Constraints without a pod. Routes lead from the root of their manifest, and only `route` makes them.

    `siblings` are the lists of the same source. `chart` is the chart whose values these are, if it is in the run, and
    `run` are the labels of the run.
    """

    has_pod = False
    siblings: Sequence[BareSubject]

    def __init__(self, manifest: Manifest, found: ConstraintList, siblings: Sequence[BareSubject] = ()) -> None:
        self.found = found
        self.siblings = siblings
        self.chart: Optional[Chart] = None
        self.run = RunLabels((), ())
        self._paths: dict[Route, str] = {}
        self.problems = list(decode.problems(found.entries, corrections.SHAPE))
        wrong = [problem.route for problem in self.problems if _is_type(problem)]
        spec = {FIELD: with_nulls(found.entries, wrong)}  # rules skip these values
        owner = Workload(
            kind=manifest.kind,
            api_version=manifest.api_version,
            namespace=manifest.namespace or DEFAULT_NAMESPACE,
            name=manifest.name,
            replicas=_replicas_of(manifest.plain, found.route),
            template={"spec": spec},
            is_foreign=True,
        )
        super().__init__(manifest, owner, PodPlace((), ()), frozenset(), spec=corrections.corrected_spec(spec))
        self.constraints = tuple(
            item for item in self.constraints if not (has_placeholder(item.topology_key) or not item.topology_key)
        )
        is_own = not manifest.document.is_embedded and not found.is_patch
        self.operator = operator_of(manifest.kind, manifest.api_version, found.route) if is_own else None

    @property
    def knowledge(self) -> Knowledge:
        """Return how much is known about the pods."""
        is_of_chart = self.chart is not None or self.manifest.kind in RELEASES or self.is_of_values
        is_known = self.found.is_patch or self.found.is_merged or self.operator is not None or is_of_chart
        return Knowledge.PARTLY if is_known else Knowledge.UNKNOWN

    @property
    def is_of_values(self) -> bool:
        """Return whether the file is values of a chart by its name; releases of charts that are elsewhere read such."""
        return not self.manifest.kind and "values" in os.path.basename(self.manifest.source.name)

    @property
    def completion(self) -> Completion:
        """Return whether a chart, an operator or a base adds a selector that is missing."""
        if self.operator is not None:
            # Fields of the operator may say what to select.
            known, entries = decode.TOPOLOGY_SPREAD_CONSTRAINT.fields.keys(), map(fields, self.found.entries)
            is_copied = self.operator.as_written and all(entry.keys() <= known for entry in entries)
            return Completion.NONE if is_copied else Completion.SURE
        if not self.found.is_complete:
            return Completion.SURE
        if self.found.is_patch:
            return Completion.NONE
        return Completion.CHART if self.chart is None else self.chart.completion(self.found.route)

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
    def holder(self) -> Route:
        """Return the route of the mapping that has the constraints."""
        return self.found.route[:-1]

    def replaces(self, position: int) -> bool:
        """Return whether, as a JSON patch, this replaces the constraint at a position of a base."""
        return self.found.routes[0] != self.found.route or str(position) in self.found.labels

    @property
    def is_json_patch(self) -> bool:
        """Return whether this is the value of an operation in a file of its own or in a kustomization."""
        is_in_reach = not self.manifest.document.is_embedded or _is_kustomization(self.manifest)
        return self.found.is_patch and self.found.is_complete and is_in_reach

    def doubt(self, requirement: LabelRequirement) -> str:
        """Return why the pods hardly have a label: it is misspelt, copied, or has the name of another release."""
        key = requirement.key
        others = {name for other in self.siblings if other is not self for name in other.selected_keys}
        similar = "" if key in others else next((other for other in sorted(others) if _is_misspelt(key, other)), "")
        text = self.manifest.source.text.lower()
        # A kind or a group may have the first word of a label key.
        stems = [re.split(r"[./_-]", word.lower())[0].removesuffix("s") for word in (key, similar) if similar]
        if similar and text.count(stems[0]) <= text.count(stems[1]):
            return f"`{key}` is misspelt: other constraints in this file select by `{similar}`"
        names = _release_names(self.manifest)
        if key == _INSTANCE and requirement.operator == "In" and names and set(names).isdisjoint(requirement.values):
            values = " or ".join(f"`{value}`" for value in requirement.values)
            return (
                f"its chart sets `{key}` to the name of the release, as most do: the selector asks for {values}, and "
                f"the release is `{names[0]}`"
            )
        return self._copied(requirement, names) or self.run.without(requirement)

    def _copied(self, requirement: LabelRequirement, names: Sequence[str]) -> str:
        """Return why a label is that of another release: nothing else in this one has the other's name."""
        for value in requirement.values if requirement.key in _OF_AN_APP and names else ():
            other = self.run.releases.get(value)
            selectors = [self.selector(constraint).requirements or () for constraint in self.constraints]
            selected = sum(value in part.values for parts in selectors for part in parts)
            named = len(re.findall(rf"\b{re.escape(value)}\b", self.manifest.document.text))
            if other is not None and value not in names and named == selected:
                return f"`{requirement.key}: {value}` was copied from {other} `{value}`, which nothing else here names"
        return ""

    @property
    def selected_keys(self) -> frozenset[str]:
        """Return the keys of all labels that the constraints select by."""
        return frozenset(key for constraint in self.constraints for key in constraint.selected_keys)


class RunLabels:
    """The labels that the workloads of a run have and that its bare lists select by, and the kinds of its releases."""

    def __init__(self, workloads: Iterable[Subject], lists: Sequence[BareSubject]) -> None:
        self.releases = {item.manifest.name: item.manifest.kind for item in lists if _release_names(item.manifest)}
        self._had = grouped(pair for item in workloads for pair in item.labels.items())
        self._selected = grouped(
            (part.key, value)
            for item in lists
            for constraint in item.constraints
            for part in item.selector(constraint).requirements or ()
            for value in part.values
        )

    def without(self, requirement: LabelRequirement) -> str:
        """Return that no workload has a label, if workloads have all other values that lists select by."""
        had, values = set(self._had.get(requirement.key, ())), set(requirement.values)
        others = set(self._selected.get(requirement.key, ())) - values
        is_telling = len(others) >= _FEWEST_OTHERS and others <= had and values.isdisjoint(had)
        if requirement.operator != "In" or not is_telling:
            return ""
        written = " or ".join(f"`{value}`" for value in requirement.values)
        return f"no workload of this run has {written} for `{requirement.key}`, as it seems: all others are here"


def check_lists(subjects: Sequence[BareSubject], codes: Collection[str], projects: Projects) -> Iterator[Finding]:
    """Yield the API server's errors that hold for any pod, and what the rules find that may speak of such lists.

    A patch whose base is in the run is checked on its base instead.
    """
    charts, run = projects.charts, RunLabels(projects.subjects, subjects)
    alone = Project((), (), projects.context)
    for subject in subjects:
        source = subject.manifest.source
        subject.chart = charts.get(os.path.dirname(source.path)) if charts else None
        subject.run = run
        subject.project = alone
        yield from _api_errors(subject)
        if id(subject.manifest) not in projects.patches.manifests:
            yield from check_subject(subject, codes)


def check_worlds(worlds: Iterable[NestedObjects], codes: Collection[str], projects: Projects) -> Iterator[Finding]:
    """Yield what the rules find in objects inside other documents, which count only for one another."""
    for world in worlds:
        nested = Project(world.subjects, world.others, projects.context._replace(facts=None))
        for manifest, findings in findings_by_object(nested, codes):
            if id(manifest) not in projects.patches.manifests:
                yield from findings


def _api_errors(subject: BareSubject) -> Iterator[Finding]:
    spec, minor = subject.workload.template["spec"], subject.target.minor
    left_out = frozenset() if subject.completion is Completion.NONE else _NEEDS_A_POD
    errors = [error for error in _errors(constraint_reader.constraints(spec), minor) if error.rule not in left_out]
    meant = {(error.rule, error.route) for error in _errors(constraint_reader.constraints(subject.spec), minor)}
    yield from _undecodable(subject)
    for error in errors:
        if (error.rule, error.route) in meant and _is_certain(subject, error):
            position, steps = int(error.route[1]), error.route[2:]
            route = subject.at(position, steps)
            path = subject.path(route)
            message = f"{path}: {error.detail}"
            value = value_at(subject.found.entries[position], steps)
            hint = corrections.hint_for_rule(error.rule, value)
            fix = _moved(subject, corrections.fix_for_error(error, subject.workload.template, (), labels=None))
            found = finding_of(error.rule.value, subject.manifest, RuleFinding(message, route, hint, fix=fix), path)
            # A chart may fill in what is missing.
            is_unknown = subject.knowledge is Knowledge.UNKNOWN or (subject.is_of_values and subject.chart is None)
            is_open = error.rule in _MISSING and value is None and is_unknown
            yield _uncertain(found) if is_open else found


def _uncertain(finding: Finding) -> Finding:
    """Return the finding as one that a chart or an operator may settle."""
    return finding._replace(rule=finding.rule._replace(severity=Severity.INFO), repair=None)


def _errors(constraints: tuple[TopologySpreadConstraint, ...], minor: Optional[int]) -> list[FieldError]:
    """Return the field errors of pods that have every label in matchLabelKeys."""
    keys = {key: "x" for constraint in constraints for key in constraint.match_label_keys}
    return constraint_errors(constraints, created_with=keys, minor=minor)


def _is_certain(subject: BareSubject, error: FieldError) -> bool:
    """Return whether no tool, base or chart can still change what an error is about."""
    position, steps = int(error.route[1]), error.route[2:]
    found, entry = subject.found, subject.found.entries[position]
    if not isinstance(entry, dict) or any(key.startswith("$") or "(" in key for key in entry):
        return False
    # An error may come from the null that replaces a value of the wrong type.
    wrong = [item.route[1:] for item in subject.problems if _is_type(item) and item.route[0] == position]
    if error.rule is Rule.DUPLICATE_CONSTRAINT:
        wrong = [route for route in wrong if route[0] in ("topologyKey", "whenUnsatisfiable")]
    else:
        wrong = [route for route in wrong if steps == route[: len(steps)] or route == steps[: len(route)]]
    if wrong:
        return False
    if error.rule in _MISSING and entry.get(str(steps[0]) if steps else "") is None:
        is_filled = subject.operator is not None and subject.operator.fills_in
        is_filled |= subject.chart is not None and subject.completion is not Completion.NONE  # its templates may
        if is_filled or not found.is_complete or any(map(has_placeholder, entry)):
            return False
        return not is_filled_in(subject.place(subject.at(position, ())))
    action, value = entry.get("whenUnsatisfiable"), value_at(entry, steps)
    if error.rule in _ABOUT_ACTIONS and (
        not isinstance(action, str) or stands_for(action, corrections.WORDS[Rule.WHEN_UNSATISFIABLE_INVALID])
    ):
        return False
    is_written = value is not None or error.rule is Rule.LABEL_SELECTOR_INVALID
    if not is_written or stands_for(value, corrections.WORDS.get(error.rule, ())) or any(map(has_placeholder, steps)):
        return False
    return found.is_complete or len(steps) >= found.depth


def _is_type(problem: decode.Problem) -> bool:
    return problem.kind is decode.ProblemKind.TYPE


def _undecodable(subject: BareSubject) -> Iterator[Finding]:
    """Yield the fields that are nearly those of a constraint, unless templates read them, and values of a wrong type.

    No pod can be created with such a value. They have no fix, because a chart may print them unchanged.
    """
    is_copied = subject.completion is Completion.NONE  # only the API server reads it
    for problem in subject.problems:
        position, steps = int(problem.route[0]), problem.route[1:]
        if not steps or len(steps) < subject.found.depth:
            continue
        entry, route = subject.found.entries[position], subject.at(position, steps)
        path, place, value = subject.path(route), subject.place(route), value_at(entry, steps)
        if _is_type(problem):
            if not stands_for(value) and not is_filled_in(place):
                written = place.source.text[slice(*place.span)]
                hint = corrections.hint_for_type(problem, value, written=written)
                message = corrections.type_sentence(problem, f"{path}: {problem.message}", written=written)
                yield finding_of("SPR113", subject.manifest, RuleFinding(message, route, hint), path)
            continue
        name = str(steps[-1])
        hint = corrections.hint_for_field(name, (FIELD, *problem.route), cutoff=_NEAR)
        if not hint or (subject.chart is not None and subject.chart.names(name)):
            continue
        fix = _moved(subject, corrections.fix_for_field((FIELD, *problem.route), value_at(entry, steps[:-1])))
        why = f': strict validation refuses "{path}", or it is dropped'
        if not is_copied:
            reader = f"has no effect unless the {subject.completer} reads it"
            why = f", and {'no template of the chart reads it' if subject.chart is not None else reader}"
        message = f"`{name}` is not a field of Kubernetes{why}"
        finding = finding_of("SPR114", subject.manifest, RuleFinding(message, route, hint, fix=fix, key=True), path)
        yield finding if is_copied else _uncertain(finding)


def _moved(subject: BareSubject, fix: Optional[Fix]) -> Optional[Fix]:
    """Return a fix whose routes begin at the list as one whose routes begin at the manifest."""
    if fix is None or subject.found.depth:
        return None
    changes = tuple(
        change._replace(route=subject.found.route_of(int(change.route[1]), change.route[2:])) for change in fix.changes
    )
    return fix._replace(changes=changes)


class Chart(NamedTuple):
    """A chart whose templates are in the repository: the texts of those that name constraints."""

    templates: tuple[str, ...]

    def names(self, field: str) -> bool:
        """Return whether a template reads a field with this name."""
        return any(re.search(rf"\b{re.escape(field)}\b", text) for text in self.templates)

    def completion(self, route: Route) -> Completion:
        """Return whether the templates add a selector to the constraints at a route of the values."""
        path = ".".join(str(step) for step in route if isinstance(step, str))
        parts = [part for text in self.templates for part in _parts_about_constraints(text)]
        own = [part for part in parts if f".{path}" in part] or parts
        if any(re.search(_ADDS_SELECTOR, part) for part in own):
            return Completion.SURE
        is_copied = all(re.search(_COPIES, part) and part.partition("\n")[0] in KINDS for part in own)
        return Completion.NONE if own and is_copied else Completion.CHART


_ADDS_SELECTOR = r"(?i)labelSelector|matchLabels|selectorLabels"
_COPIES = r"toYaml|tplvalues\.render"
_PART = r"(?m)^([ \t]*)(?:[\w.-]*opologySpreadConstraints:|\{\{-?\s*(define\s+\"[^\"]*|range\b[^}]*)opologySpread).*$"
_ENDS = {"d": r"\{\{-?\s*define\b", "r": r"\{\{-?\s*end\b"}  # of a definition and of a loop


def _parts_about_constraints(text: str) -> Iterator[str]:
    """Yield the parts of a template that print constraints: below the key, in definitions for it, and in loops.

    The first line of each part is the kind of the object that has it. A definition counts as one of a Deployment.
    """
    for match in re.finditer(_PART, text):
        indent, lines = len(match[1]), text[match.start() :].split("\n")
        last = _ENDS.get((match[2] or "")[:1])
        below = rf"[ \t]{{0,{indent}}}(?![ \t]|- )[\w\"'-]"  # a key that is not below the indentation
        ends = (at for at, line in enumerate(lines[1:], 1) if re.match(last or below, line))
        end = next(ends, len(lines))
        before = text[: match.start()]
        kind = next(reversed(re.findall(r"(?m)^kind:[ \t]*(\w+)", before)), "Deployment")
        yield "\n".join([kind, *before.rsplit("\n", 2)[-2:], *lines[:end]])  # the condition names the values


_INSTANCE = "app.kubernetes.io/instance"
_OF_AN_APP = ("app", "k8s-app", "app.kubernetes.io/name")
_FEWEST_OTHERS = 2  # values of other lists, which must be in the run
_SHORTEST_KEY = 8  # characters of a label key; shorter ones that differ in one letter may both be meant


def _release_names(manifest: Manifest) -> tuple[str, ...]:
    """Return the names that the release of a manifest may have, the likeliest first; none if they are unknown."""
    if manifest.kind not in ("HelmRelease", "HelmChart", "Application") or manifest.document.is_embedded:
        return ()
    spec = fields(manifest.plain, "spec")
    written = (spec.get("releaseName"), fields(spec, "source", "helm").get("releaseName"))
    own = next((name for name in written if isinstance(name, str) and name), "")
    target = spec.get("targetNamespace")
    composed = f"{target}-{manifest.name}" if isinstance(target, str) else manifest.name
    names = tuple(name for name in dict.fromkeys((own, composed, manifest.name)) if name)
    return () if any(map(has_placeholder, names)) else names


def _is_misspelt(one: str, other: str) -> bool:
    """Return whether two keys differ in one letter."""
    short, long = sorted((one, other), key=len)
    if len(long) - len(short) > 1 or len(short) < _SHORTEST_KEY or f"{short}s" == long:
        return False
    at = next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    is_letter = long[at : at + 1].isalpha() and (len(short) < len(long) or short[at : at + 1].isalpha())
    return is_letter and short[at + (len(short) == len(long)) :] == long[at + 1 :]


def _replicas_of(plain: Any, route: Route) -> Optional[int]:
    """Return the number of pods that the object or the values have beside a list of constraints; None if unknown.

    The values of a chart of the bjw-s library have `controllers`, each with `pod`, and `defaultPodOptions` for all.
    """
    is_for_all, is_own = route[-2:-1] == ("defaultPodOptions",), route[-4:-3] + route[-2:-1] == ("controllers", "pod")
    holder = fields(value_at(plain, route[: -4 if is_own else -2 if is_for_all else -1])) if route else {}
    scaling = (fields(holder, name) for name in _SCALING)
    if any(item and item.get("enabled", True) for item in scaling):
        return None
    controllers = fields(holder, "controllers")
    if is_for_all or is_own or controllers:
        numbers = [_pods_of(fields(controllers[name])) for name in ([str(route[-3])] if is_own else controllers)]
        return sum(numbers) if numbers and all(isinstance(item, int) for item in numbers) else None
    places = [holder, *(fields(holder, name) for name in ("controller", "deployment"))]  # for one list of all pods
    counts = [place[name] for place in places for name in _REPLICAS if name in place]
    return counts[0] if len(counts) == 1 and isinstance(counts[0], int) else None


def _pods_of(controller: Plain) -> Any:
    """Return how many pods a controller of the bjw-s library has: 1 by default, 0 that are not on a node each."""
    kind = controller.get("type", "deployment")
    if kind in ("job", "cronjob"):
        return fields(controller, kind).get("parallelism", 1)
    return 0 if kind == "daemonset" else controller.get("replicas", 1)


def unmatched_entries(
    paths: Iterable[tuple[PodSpecPath, Place]], results: Sequence[Result], *, is_whole: bool
) -> Iterator[Finding]:
    """Yield entries that match nothing; where the run is not whole, only those whose kind is in it."""
    everything = [subject.manifest for result in results for subject in result.subjects]
    everything += [manifest for result in results for manifest in result.others]
    lists = bare_lists(results)
    for named, place in paths:
        kind, path, group, _ = named
        objects = {
            id(manifest): manifest
            for manifest in everything
            if manifest.kind == kind and group in (None, manifest.api_version.rpartition("/")[0])
        }
        if any(leads_to(named, item.plain) for item in objects.values()) or not (objects or is_whole):
            continue
        message, hint = f"no {kind} is in the project", "remove the entry, or correct its kind and group"
        if objects:
            plains = {id(item.plain) for item in objects.values()}
            held = next((item for item in lists if id(item.manifest.plain) in plains), None)
            message, hint = f"no {kind} has `{path}`", "check the spelling of the path"
            if held is not None:
                hint = f"{held.manifest.kind} {held.manifest.name} has constraints at `{held.found.path}`"
        yield Finding(
            RULES["SPR006"]._replace(severity=Severity.WARNING),
            f"this entry of podspecPaths matches nothing: {message}",
            place,
            hint=hint,
        )
