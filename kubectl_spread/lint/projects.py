"""The projects of one run, one for each root, and the findings on which they agree."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from kubectl_spread.caching import cached_method
from kubectl_spread.containers import grouped
from kubectl_spread.lint.check_source import Result
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.kustomization import FILE_NAMES, Kustomization
from kubectl_spread.lint.project import applied, Project, ReplicaRange, RunContext, widest_range
from kubectl_spread.lint.registry import check_subject, findings_by_object, RULES
from kubectl_spread.lint.roots import names_in, reached, RootRules, roots_of
from kubectl_spread.lint.workload import FIELD, Subject
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.workloads.kinds import PodPlace
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.objects.workloads.workload import Workload, workload
from kubectl_spread.text.glob import is_below
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import Place, Span

_MOST_ROOTS = 20  # of one object; a file that hundreds of roots share is not checked hundreds of times


class Projects:
    """The projects of a run. An object of several roots is in several of them."""

    def __init__(self, results: Sequence[Result], rules: RootRules, context: RunContext) -> None:
        self.context = context
        self.roots = roots_of(results, rules, context.namespace)
        self.patches = Patches(results, rules.kustomizations)
        self.charts = rules.charts
        self._projects = [
            Project(
                [subject for item in root.held for subject in item.subjects],
                [item.manifest for item in root.held if not item.subjects],
                context,
                root=root,
                scope=self,
            )
            for root in self.roots
        ]
        self._holders = grouped(  # by id() of a manifest
            (id(item.manifest), project)
            for root, project in zip(self.roots, self._projects, strict=True)
            for item in root.held
        )
        self.subjects = tuple(
            self._holders[id(subject.manifest)][0].same(subject) for result in results for subject in result.subjects
        )

    @property
    def workloads(self) -> list[Workload]:
        """Return the workloads that the API server would accept, as they would run, each once.

        An autoscaler of the input brings the number of replicas within its bounds. Of overlays that set the number, the
        largest one counts.
        """
        found = []
        for subject in applied(self.subjects):
            owner, bounds = subject.workload, self.replicas(subject)
            if bounds.autoscaler is not None and owner.replicas is not None:
                least = max(owner.replicas, bounds.minimum or 0)
                owner = owner._replace(replicas=least if bounds.maximum is None else min(least, bounds.maximum))
            elif bounds.origins and bounds.maximum is not None:
                owner = owner._replace(replicas=bounds.maximum)
            found.append(owner)
        return found

    @cached_method
    def replicas(self, subject: Subject) -> ReplicaRange:
        """Return the replicas in all roots that hold the workload."""
        holders = self._holders[id(subject.manifest)][:_MOST_ROOTS]
        return widest_range([project.replicas_here(project.same(subject)) for project in holders])

    def findings(self, codes: Collection[str] = RULES) -> list[Finding]:
        """Return the findings of the rules. For an object in several roots, return the findings that each root has.

        A patch is checked on each of its bases, and not by itself.
        """
        found: dict[int, dict[int, list[Finding]]] = {}  # by id() of a manifest and of a project
        alone: list[Finding] = []
        for root, project in zip(self.roots, self._projects, strict=True):
            held = (id(item.manifest) for item in root.held)
            asked = {
                key for key in held if key not in self.patches.manifests and project in self._holders[key][:_MOST_ROOTS]
            }
            for manifest, findings in findings_by_object(project, codes, asked):
                if len(self._holders[id(manifest)]) == 1:
                    alone += findings
                elif findings:
                    found.setdefault(id(manifest), {}).setdefault(id(project), []).extend(findings)
        shared = (
            _agreed(list(by_project.values()))
            for key, by_project in found.items()
            if len(by_project) == len(self._holders[key][:_MOST_ROOTS])
        )
        return [*alone, *(finding for findings in shared for finding in findings), *self._of_patches(codes)]

    def _of_patches(self, codes: Collection[str]) -> Iterator[Finding]:
        """Yield what the rules find in patches on their bases, once for each place."""
        seen: set[tuple[object, ...]] = set()
        for patch, bases in self.patches.joined:
            for base in bases:
                joined = JoinedSubject(patch, base)
                users = self.patches.users(patch, base, self._holders[id(base.manifest)])
                held = [list(check_subject(self._with(joined, base, user).subjects[0], codes)) for user in users]
                for finding in _agreed(held):
                    key = finding.rule.code, finding.place.source.name, finding.place.span
                    if key not in seen and finding.path:
                        seen.add(key)
                        yield finding if patch.has_pod else finding._replace(repair=None)

    def _with(self, joined: Subject, base: Subject, holder: Project) -> Project:
        """Return the project of a root with a patched workload in the place of its base."""
        around = [item for item in holder.subjects if item.manifest is not base.manifest]
        return Project(
            [joined, *around] if len(around) < _MOST_AROUND else [joined],
            holder.others,
            self.context._replace(facts=None),
            root=holder.root,
        )


def _agreed(held: list[list[Finding]]) -> Iterator[Finding]:
    """Yield the findings of the first root that the others have, too."""
    first, *others = held
    keys = [{_key(finding) for finding in findings} for findings in others]
    for finding in first:
        if all(_key(finding) in known for known in keys):
            yield finding


def _key(finding: Finding) -> tuple[object, ...]:
    return finding.rule.code, finding.path, finding.place.span


_LEVELS_UP = 2
_MOST_AROUND = 300  # workloads of a project that a patched one is compared with

# The fields by which kustomize merges the items of a list; other lists are replaced.
_MERGE_KEYS = {
    "containers": ("name",),
    "initContainers": ("name",),
    "volumes": ("name",),
    FIELD: ("topologyKey", "whenUnsatisfiable"),
}


_KEPT = "kept"


class JoinedSubject(Subject):
    """A workload as a patch leaves it; the routes of the patch's constraints lead through the patch."""

    def __init__(self, patch: Subject, base: Subject) -> None:
        """Merge a strategic merge patch, or the list in a JSON patch, into its base."""
        self.patch = patch
        self.own = len(patch.spec[FIELD])
        written = base.spec.get(FIELD) or []
        self.kept: list[tuple[Subject, int]] = []  # constraints that follow those of the patch, and their positions
        if patch.has_pod:
            plain = merged(base.manifest.plain, patch.manifest.plain)
            owner = workload(plain, base.kind, namespace=base.workload.namespace)
            rest = owner.template["spec"][FIELD][self.own :]
            self.kept += [(base, at) for at, item in enumerate(written) if any(item is other for other in rest)]
        else:
            plain, owner = base.manifest.plain, base.workload
            lists = [item for item in patch.siblings if item.manifest.document is patch.manifest.document]
            self.kept += [(item, at) for item in lists if item is not patch for at in range(len(item.spec[FIELD]))]
            self.kept += [(base, at) for at in range(len(written)) if not any(item.replaces(at) for item in lists)]
            spec = {**base.spec, FIELD: [*patch.spec[FIELD], *(item.spec[FIELD][at] for item, at in self.kept)]}
            owner = owner._replace(template={**owner.template, "spec": spec})
        manifest = patch.manifest._replace(plain=plain, kind=base.manifest.kind, api_version=base.manifest.api_version)
        super().__init__(manifest, owner, PodPlace(base.template_route, base.spec_route), frozenset())
        self.runner = base.manifest._replace(plain=plain)

    def with_runner(self, runner: Manifest) -> Subject:  # noqa: ARG002 (a patch is checked as one of its base)
        """Return this workload, also if another object takes its template."""
        return self

    @property
    def holder(self) -> Route:
        """Return the route of the mapping that has the constraints."""
        return self.patch.holder

    def at(self, position: int, steps: Route) -> Route:
        """Return the route of something in a constraint; it begins with `kept` if the patch does not have it."""
        return self.patch.at(position, steps) if position < self.own else (_KEPT, position - self.own, *steps)

    def path(self, route: Route) -> str:
        """Return a route as the API server prints it; empty for a constraint that the patch does not have."""
        return "" if route[:1] == (_KEPT,) else self.patch.path(route)

    @property
    def without_selector(self) -> str:
        """Return why the selector of the base does not count."""
        return f"also in {self.kind} `{self.workload.name}`, so the constraint counts no pods"

    def place(self, route: Route, *, key: bool = False) -> Place:
        """Return the place of a value: of the constraints in the patch, of everything else in the base."""
        if route[:1] == (_KEPT,):
            item, position = self.kept[int(route[1])]
            return item.place(item.at(position, route[2:]), key=key)
        own = (*self.holder, FIELD)
        return (self.manifest if route[: len(own)] == own else self.runner).place(route, key=key)


def merged(base: Any, patch: Any, field: str = "") -> Any:
    """Return a value with a strategic merge patch applied, its own items first, so that they keep their positions."""
    if isinstance(base, dict) and isinstance(patch, dict):
        kept = {key: value for key, value in base.items() if key not in patch}
        added = {key: merged(base.get(key), value, key) for key, value in patch.items() if value is not None}
        return {**kept, **added}
    keys = _MERGE_KEYS.get(field)
    if keys and isinstance(base, list) and isinstance(patch, list):
        ours = [{key: fields(item).get(key) for key in keys} for item in patch]

        def same(item: Any, wanted: dict[str, Any]) -> bool:
            return all(value is None or fields(item).get(key) == value for key, value in wanted.items())

        found = [
            merged(next((item for item in base if same(item, wanted)), {}), item)
            for wanted, item in zip(ours, patch, strict=True)
        ]
        return [*found, *(item for item in base if not any(same(item, wanted) for wanted in ours))]
    return patch


class Patches:
    """The patches with constraints of a run, each with the workloads that it changes."""

    def __init__(self, results: Sequence[Result], kustomizations: Mapping[str, Kustomization]) -> None:
        self._kustomizations = kustomizations
        whole = [subject for result in results for subject in result.subjects if not subject.is_partial]
        self._named = grouped(((item.kind, item.workload.name), item) for item in whole)
        self._in_file = grouped((item.manifest.source.path, item) for item in whole)
        joined = [(patch, self._bases(patch)) for result in results for patch in _patches(result)]
        self.joined = [(patch, bases) for patch, bases in joined if bases]
        self.unjoined = [patch.manifest.source.name for patch, bases in joined if not bases]
        self.manifests = {id(patch.manifest) for patch, _ in self.joined}

    def _naming(self, path: str) -> list[Kustomization]:
        """Return the kustomizations that name a file of patches, or that are this file."""
        directory, name = os.path.split(path)
        return [
            item
            for item in self._kustomizations.values()
            if path in item.patches or (name in FILE_NAMES and item.directory == directory)
        ]

    def users(self, patch: Subject, base: Subject, holders: list[Project]) -> list[Project]:
        """Return the projects of a base in which a patch changes it; the first one if no kustomization names it."""
        naming = {item.directory for item in self._naming(patch.manifest.source.path)}
        found = [
            holder
            for holder in holders
            for chain in (holder.root and holder.root.chains_of(base.manifest)) or ()
            if any(not naming.isdisjoint((item.directory, *item.components)) for item in chain)
        ]
        return found[:_MOST_ROOTS] or holders[:1]

    def _bases(self, patch: Subject) -> list[Subject]:
        """Return the workloads that a patch changes, by the kustomizations that name it, or else by its directory."""
        path = patch.manifest.source.path
        naming = self._naming(path)
        if not patch.has_pod:
            at = patch.place(patch.holder).span.start
            targets = [
                (item, target)
                for item in naming
                for where, found in item.patch_targets.items()
                if (path in item.patches and where == path)
                or (isinstance(where, Span) and path not in item.patches and where.start <= at < where.end)
                for target in found
            ]
            return [
                base
                for item, target in targets
                for base, names in self._changed_by(item.directory)
                if target.is_exact and target.covers(base.kind, names)
            ]
        owner = patch.workload
        if naming:
            changed = (found for item in naming for found in self._changed_by(item.directory))
            found = {id(base): base for base, names in changed if owner.kind == base.kind and owner.name in names}
            return list(found.values())
        # An overlay is two directories below the one that it shares with its base: `overlays/production` and `base`.
        above = os.path.dirname(path)
        for _ in range(_LEVELS_UP):
            above = os.path.dirname(above)
        return [
            base
            for base in self._named.get((owner.kind, owner.name), ())
            if len({patch.manifest.namespace, base.manifest.namespace} - {""}) < 2
            and is_below(base.manifest.source.path, above)
        ]

    @cached_method
    def _changed_by(self, directory: str) -> list[tuple[Subject, set[str]]]:
        """Return the workloads that the patches of a kustomization may change, with the names that they have there.

        A component changes what its users list.
        """
        every = self._kustomizations
        users = [every[directory], *(other for other in every.values() if directory in other.components)]
        return [
            (base, set(names_in(chain[:-1], base.workload.name)))
            for user in users
            for path, chain in reached((user,), every)
            for base in self._in_file.get(path, ())
        ]


def _patches(result: Result) -> Iterator[Subject]:
    """Yield the patches with constraints in a source, those inside other documents included."""
    nested = (subject for world in result.worlds if world.has_patches for subject in world.subjects)
    yield from (subject for subject in (*result.subjects, *nested) if subject.is_partial and subject.constraints)
    yield from (item for item in result.lists if item.is_json_patch)
