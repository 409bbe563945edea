"""Errors that may not occur because a tool or a base has yet to fill in the value."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from enum import Enum
from typing import Any, cast

from kubectl_spread.lint.admission import hints
from kubectl_spread.lint.finding import Finding, Place, Severity
from kubectl_spread.lint.placeholder import has_placeholder, is_filled_in
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.validation import FieldError, Rule
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.objects.workloads.workload import is_partial, Workload
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
