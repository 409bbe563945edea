"""Entries in the `podspecPaths` of a config that match nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_spread.lint.check_source import Result
from kubectl_spread.lint.finding import Finding, Severity
from kubectl_spread.lint.registry import RULES
from kubectl_spread.lint.selection.policy import NamedPath
from kubectl_spread.objects.workloads.kinds import leads_to, PodSpecPath
from kubectl_spread.objects.workloads.manifest import Manifest


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
