"""The projects of one run, one for each root, and the findings on which they agree."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.lint.check_source import Result
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.grouping.project import Project, TargetCluster
from kubectl_spread.lint.grouping.replica_range import ReplicaRange, widest_range
from kubectl_spread.lint.grouping.roots import Held, Root, RootRules, roots
from kubectl_spread.lint.registry import RULES
from kubectl_spread.lint.run_rules import findings_by_object
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import SourceFile

if TYPE_CHECKING:
    from kubectl_spread.cluster.facts import ClusterFacts

_MOST_ROOTS = 20  # of one object; a file that hundreds of roots share is not checked hundreds of times


class RunContext(NamedTuple):
    """The settings that all projects of a run share."""

    target: Callable[[SourceFile], TargetCluster]
    facts: Optional[ClusterFacts]
    namespace: str


class Projects:
    """The projects of a run. An object of several roots is in several of them."""

    def __init__(self, results: Sequence[Result], rules: RootRules, seen: RunContext) -> None:
        self.roots = roots_of(results, rules, seen.namespace)
        self._projects = [_project(root, seen) for root in self.roots]
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
        for project in self._projects:
            for manifest, findings in findings_by_object(project, codes, is_asked=self._asked(project)):
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

    def _asked(self, project: Project) -> Callable[[Manifest], bool]:
        def is_asked(manifest: Manifest) -> bool:
            return project in self._holders[id(manifest)][:_MOST_ROOTS]

        return is_asked


def roots_of(results: Sequence[Result], rules: RootRules, namespace: str) -> list[Root]:
    """Return the roots of the inputs."""
    return roots([result.source for result in results], _held(results, namespace), rules)


def _project(root: Root, seen: RunContext) -> Project:
    return Project(
        [subject for item in root.held for subject in item.subjects],
        [item.manifest for item in root.held if not item.subjects],
        target=seen.target,
        facts=seen.facts,
        namespace=seen.namespace,
        set_replicas=root.replicas,
        area=root.area,
    )


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
