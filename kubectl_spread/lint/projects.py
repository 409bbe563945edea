"""The projects of one run, one for each root, and the findings on which they agree."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.lint.check_source import Result
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.project import Project, ReplicaRange, TargetCluster, widest_range
from kubectl_spread.lint.registry import findings_by_object, RULES
from kubectl_spread.lint.roots import Held, Root, RootRules, roots
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import SourceFile

if TYPE_CHECKING:
    from kubectl_spread.simulate.cluster_facts import KnownCluster


_MOST_ROOTS = 20  # of one object; a file that hundreds of roots share is not checked hundreds of times


class RunContext(NamedTuple):
    """The settings that all projects of a run share."""

    target: Callable[[SourceFile], TargetCluster]
    facts: Optional[KnownCluster]
    namespace: str


class Projects:
    """The projects of a run. An object of several roots is in several of them."""

    def __init__(self, results: Sequence[Result], rules: RootRules, seen: RunContext) -> None:
        self.roots = roots_of(results, rules, seen.namespace)
        self._projects = [
            Project(
                [subject for item in root.held for subject in item.subjects],
                [item.manifest for item in root.held if not item.subjects],
                target=seen.target,
                facts=seen.facts,
                namespace=seen.namespace,
                root=root,
            )
            for root in self.roots
        ]
        self._chained = {path for root in self.roots for path in root.chains}
        self._holders: dict[int, list[Project]] = {}  # by id() of a manifest
        self._replicas: dict[tuple[int, Route], ReplicaRange] = {}  # by id() of a manifest, and the route in it
        for root, project in zip(self.roots, self._projects, strict=True):
            project.scope = self
            for item in root.held:
                self._holders.setdefault(id(item.manifest), []).append(project)
        self.subjects = tuple(_in_order(results, self._projects))

    @property
    def workloads(self) -> list[Workload]:
        """Return the workloads that the API server would accept, as they would run, each once.

        An autoscaler of the input brings the number of replicas within its bounds.
        """
        return [self._scaled(subject) for subject in self.subjects if not subject.refusals]

    def _scaled(self, subject: Subject) -> Workload:
        owner, bounds = subject.workload, self.replicas(subject)
        if bounds.autoscaler is None or owner.replicas is None:
            return owner
        least = max(owner.replicas, bounds.minimum or 0)
        return owner._replace(replicas=least if bounds.maximum is None else min(least, bounds.maximum))

    def replicas(self, subject: Subject) -> ReplicaRange:
        """Return the replicas in all roots that hold the workload."""
        key = id(subject.manifest), subject.template_route
        if key not in self._replicas:
            holders = self._holders[id(subject.manifest)][:_MOST_ROOTS]
            ranges = [project.replicas_here(project.same(subject)) for project in holders]
            self._replicas[key] = ranges[0] if len(ranges) == 1 else widest_range(ranges)
        return self._replicas[key]

    def is_overlaid(self, manifest: Manifest) -> bool:
        """Return whether a kustomization lists the object's file."""
        return bool(self._chained) and os.path.abspath(manifest.document.source.name) in self._chained

    def findings(self, codes: Container[str] = RULES) -> list[Finding]:
        """Return the findings of the rules. For an object in several roots, return the findings that each root has."""
        found: dict[int, dict[int, list[Finding]]] = {}  # by id() of a manifest and of a project
        alone: list[Finding] = []
        for root, project in zip(self.roots, self._projects, strict=True):
            held = (id(item.manifest) for item in root.held)
            asked = {key for key in held if project in self._holders[key][:_MOST_ROOTS]}
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
        return [*alone, *(finding for findings in shared for finding in findings)]


def roots_of(results: Sequence[Result], rules: RootRules, namespace: str) -> list[Root]:
    """Return the roots of the inputs."""
    return roots([result.source for result in results], _held(results, namespace), rules)


def _held(results: Iterable[Result], namespace: str) -> Iterator[Held]:
    for result in results:
        by_manifest: dict[int, list[Subject]] = {}
        for subject in result.subjects:
            by_manifest.setdefault(id(subject.manifest), []).append(subject)
        for subjects in by_manifest.values():
            yield Held(subjects[0].manifest, subjects[0].workload.namespace, tuple(subjects))
        for manifest in result.others:
            yield Held(manifest, manifest.namespace or namespace)


def _in_order(results: Iterable[Result], projects: Iterable[Project]) -> Iterator[Subject]:
    """Yield the subjects of all projects in the order of the sources, each once."""
    known: dict[int, dict[object, Subject]] = {}  # by id() of a manifest
    for project in projects:
        for subject in project.subjects:
            known.setdefault(id(subject.manifest), {}).setdefault(subject.template_route, subject)
    for result in results:
        for subject in result.subjects:
            yield known[id(subject.manifest)][subject.template_route]


def _agreed(held: list[list[Finding]]) -> Iterator[Finding]:
    """Yield the findings of the first root that the others have, too."""
    first, *others = held
    keys = [{_key(finding) for finding in findings} for findings in others]
    for finding in first:
        if all(_key(finding) in known for known in keys):
            yield finding


def _key(finding: Finding) -> tuple[object, ...]:
    return finding.rule.code, finding.path, finding.place.span


_MISSING_SELECTOR = "SPR201"
_LEVELS_UP = 3  # the first takes the separator off


def missing_selectors(results: Sequence[Result]) -> Iterator[Finding]:
    """Yield constraints of patches that have no selector, on no workload that they are merged into."""
    targets: dict[tuple[str, str], list[Subject]] = {}
    for subject in (subject for result in results for subject in result.subjects if not subject.is_partial):
        targets.setdefault((subject.workload.kind, subject.workload.name), []).append(subject)
    for patch in (patch for result in results for patch in _patches(result)):
        same_name = targets.get((patch.workload.kind, patch.workload.name), ())
        bases = [base for base in same_name if _is_in_reach(patch, base)]
        if bases:
            yield from _missing(patch, bases)


def _patches(result: Result) -> Iterator[Subject]:
    """Yield the patches with constraints in a source, those inside other documents included."""
    worlds = () if result.outside is None else (world for world in result.outside.worlds if world.has_patches)
    nested = (subject for world in worlds for subject in world.subjects)
    yield from (subject for subject in (*result.subjects, *nested) if subject.is_partial and subject.constraints)


def _is_in_reach(patch: Subject, base: Subject) -> bool:
    """Return whether a patch may apply to a workload, by their namespaces and directories.

    An overlay is two directories below the directory that it shares with its base: `overlays/production` and `base`.
    """
    namespaces = {patch.manifest.namespace, base.manifest.namespace} - {""}
    above = _directory(patch)
    for _ in range(_LEVELS_UP):
        above = os.path.dirname(above)
    return len(namespaces) < 2 and _directory(base).startswith(os.path.join(above, ""))


def _directory(subject: Subject) -> str:
    """Return the directory of the file, with a separator at its end."""
    return os.path.join(os.path.dirname(os.path.abspath(subject.manifest.document.source.name)), "")


def _missing(patch: Subject, bases: Sequence[Subject]) -> Iterator[Finding]:
    # topologyKey is the merge key of constraints.
    selecting = {item.topology_key for base in bases for item in base.constraints if item.label_selector is not None}
    for constraint in patch.constraints:
        if constraint.label_selector is not None or constraint.match_label_keys or not constraint.topology_key:
            continue
        if constraint.topology_key in selecting:
            continue
        route = patch.route(constraint, "labelSelector")
        names = " and ".join(sorted({f"{base.workload.kind} `{base.workload.name}`" for base in bases}))
        yield Finding(
            RULES[_MISSING_SELECTOR],
            f"the pods are not spread: labelSelector is missing, and {names} has none for this topologyKey either",
            patch.place(route),
            patch.manifest.ref,
            patch.path(route),
            bases[0].selector_hint(),
        )
