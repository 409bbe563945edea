"""Objects in manifests, other than workloads, that the scheduler considers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from kubectl_spread.cluster.building.apply_manifests import add_objects, KINDS
from kubectl_spread.cluster.building.shapes import is_of_another_group, SHAPES
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.errors import SourceError
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.workloads.manifest import Manifest, manifests
from kubectl_spread.text import compose
from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.wording import short

_KIND = re.compile(rf"""["']?kind["']?\s*:\s*["']?(?:{"|".join(KINDS)}|[A-Za-z]*List)\b""")


class AppliedCluster(NamedTuple):
    """A cluster after applying manifests, and read errors of the manifests."""

    cluster: Cluster
    errors: tuple[SourceError, ...]


def looks_like_facts(text: str) -> bool:
    """Return whether a text may contain one of the objects."""
    return _KIND.search(text) is not None


def with_manifests(cluster: Cluster, sources: Iterable[SourceFile], namespace: str) -> AppliedCluster:
    """Return the cluster after applying the manifests, except for their workloads.

    Args:
        cluster: before the manifests.
        sources: the manifests. Invalid YAML is skipped here, because the check reports it.
        namespace: of objects without one.
    """
    found: list[dict[str, Any]] = []
    errors: list[SourceError] = []
    lost: list[ObjectKey] = []
    for source in sources:
        for document in compose.compose(source, looks_like_facts):
            if isinstance(document, compose.SyntaxProblem):
                continue
            for manifest in manifests(document):
                if manifest.kind in KINDS and not is_of_another_group(manifest.plain):
                    wrong = _undecodable(manifest)
                    errors += wrong
                    found += [] if wrong else [manifest.plain]
                    lost += [ObjectKey(manifest.kind, manifest.namespace or namespace, manifest.name)] if wrong else []
    after = cluster._replace(undecodable=(*cluster.undecodable, *lost))
    return AppliedCluster(add_objects(after, found, namespace) if found else after, tuple(errors))


def _undecodable(manifest: Manifest) -> list[SourceError]:
    """Return the errors that prevent an object from being applied."""
    problems = decode.problems(manifest.plain, SHAPES[manifest.kind])
    source = manifest.document.source
    errors = []
    for problem in problems:
        if problem.kind is decode.ProblemKind.TYPE:
            line, column = source.position(manifest.place(problem.route).span.start)
            what = f"{manifest.kind} {short(manifest.name)} is left out: {decode.problem_text(problem)}"
            errors.append(SourceError(source.name, what, line=line, column=column))
    return errors
