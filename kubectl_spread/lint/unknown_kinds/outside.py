"""Constraints outside the pod specs of known kinds: bare lists, nested objects, and YAML inside texts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, Optional

from kubectl_spread.lint.admission.validate import check_object
from kubectl_spread.lint.finding import Finding, Place
from kubectl_spread.lint.registry import RULES
from kubectl_spread.lint.unknown_kinds import bare_lists
from kubectl_spread.lint.unknown_kinds.bare_lists import BareSubject
from kubectl_spread.lint.workload import FIELD, reference, Subject
from kubectl_spread.objects.constraints import constraint_lists
from kubectl_spread.objects.workloads.kinds import Kinds
from kubectl_spread.objects.workloads.manifest import looks_relevant, Manifest
from kubectl_spread.text import node as nodes
from kubectl_spread.text.compose import Document, SyntaxProblem
from kubectl_spread.text.node import Route
from kubectl_spread.text.wording import count_noun

_MOST_LEVELS = 4  # of texts in texts
_WITH_PATCHES = frozenset({"Kustomization", "Component", "PatchTransformer", "PatchStrategicMergeTransformer"})


class NestedObjects(NamedTuple):
    """Objects inside another document, which count only for one another."""

    subjects: tuple[Subject, ...]
    others: tuple[Manifest, ...]
    has_patches: bool = False  # of a kustomization: incomplete constraints are merged into others


class Outside(NamedTuple):
    """Constraints outside known pod specs; `skipped` are texts with constraints that are not YAML."""

    findings: list[Finding]
    lists: list[BareSubject]
    worlds: list[NestedObjects]
    skipped: list[Place]


def empty_record() -> Outside:
    """Return an empty record to fill."""
    return Outside([], [], [], [])


class Searching(NamedTuple):
    """The settings of a search: kinds of workloads, kinds of other objects, and the default namespace."""

    kinds: Kinds
    around: frozenset[str]
    namespace: str
    minor: Optional[int] = None

    def manifest(self, manifest: Manifest, outside: Outside, *, is_own: Callable[[Route], bool]) -> None:
        """Search an object, or a document without one.

        Args:
            manifest: of an unknown kind, or with an empty kind for a document that is not an object.
            outside: the collection to add constraints to.
            is_own: returns whether the list at a route belongs to a pod spec that is checked as a workload.
        """
        root = nodes.follow(manifest.document.root, manifest.route)
        if root is not None:
            world = _World([], [])
            self._below(manifest, nodes.to_plain(root), _Target(outside, world, is_own, set()))
            world.add_to(outside, manifest)

    def _below(self, manifest: Manifest, plain: Any, target: _Target) -> None:
        for found in constraint_lists.search(plain, self._is_known):
            if isinstance(found, constraint_lists.ConstraintList):
                if not target.is_own(found.route) and not _is_repeated(manifest, found, target):
                    subject = BareSubject(manifest, found)
                    target.outside.lists.append(subject)
                    target.outside.findings.extend(bare_lists.check(subject, self.minor))
            elif isinstance(found, constraint_lists.NestedObject):
                kind, version = found.plain["kind"], found.plain["apiVersion"]
                route = (*manifest.route, *found.route)
                known = self.kinds.of(kind, version)
                self._object(Manifest(manifest.document, route, found.plain, kind, version, known), target)
            elif target.level < _MOST_LEVELS:
                self._text(manifest, found.route, target)

    def _is_known(self, kind: str, api_version: str) -> bool:
        return kind in self.around or self.kinds.of(kind, api_version) is not None

    def _object(self, manifest: Manifest, target: _Target) -> None:
        """Check an object of a known kind inside another document."""
        checked = check_object(manifest, self.namespace, minor=self.minor)
        target.outside.findings.extend(checked.findings)
        target.world.subjects.extend(checked.subjects)
        if not checked.subjects and not checked.is_undecodable:
            target.world.others.append(manifest)

    def _text(self, manifest: Manifest, route: Route, target: _Target) -> None:
        """Search the documents in a text; objects of one text belong together."""
        from kubectl_spread.text import embedded  # needed by few documents

        source = manifest.document.source
        scalar = nodes.follow(manifest.document.root, (*manifest.route, *route))
        if not isinstance(scalar, nodes.Scalar):
            return
        world = _World([], [])
        inside = target._replace(world=world, is_own=lambda _: False, level=target.level + 1)
        wanted = functools.partial(looks_relevant, around=self.around, kinds=self.kinds)
        for found in embedded.documents(source, scalar, wanted):
            if isinstance(found, SyntaxProblem):
                target.outside.skipped.extend([Place(source, found.span)] * constraint_lists.names_a_list(scalar.text))
            else:
                self._embedded(manifest, found, inside)
        world.add_to(target.outside, manifest)

    def _embedded(self, manifest: Manifest, document: Document, target: _Target) -> None:
        """Search a document in a text: an object, or what belongs to the object that the text is in."""
        plain = document.plain
        inner = manifest._replace(document=document, route=())
        kind, version = (plain.get("kind"), plain.get("apiVersion")) if isinstance(plain, dict) else (None, None)
        if isinstance(kind, str) and isinstance(version, str):
            inner = Manifest(document, (), plain, kind, version, self.kinds.of(kind, version))
            if self._is_known(kind, version):
                self._object(inner, target)
                return
        self._below(inner, plain, target)


class _World(NamedTuple):
    """Objects nested in one document, while they are collected."""

    subjects: list[Subject]
    others: list[Manifest]

    def add_to(self, outside: Outside, manifest: Manifest) -> None:
        if self.subjects:
            has_patches = manifest.kind in _WITH_PATCHES
            outside.worlds.append(NestedObjects(tuple(self.subjects), tuple(self.others), has_patches))


class _Target(NamedTuple):
    """The collections that a search fills, and how many texts deep it is."""

    outside: Outside
    world: _World
    is_own: Callable[[Route], bool]
    seen: set[int]  # the id() of the first entry of each list
    level: int = 0


def _is_repeated(manifest: Manifest, found: constraint_lists.ConstraintList, target: _Target) -> bool:
    """Return whether a list is an alias of a list that was already checked."""
    entry = nodes.follow(manifest.document.root, (*manifest.route, *found.routes[0]))
    if entry is None or id(entry) in target.seen:
        return entry is not None
    target.seen.add(id(entry))
    return False


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
            bare_lists.place_of(first),
            reference(manifest),
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
