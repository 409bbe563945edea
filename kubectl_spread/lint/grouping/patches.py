"""Strategic merge patches against the workloads of the run that they are for.

A patch alone may leave a field to its base. If no workload of its kind and name has the field either, it is missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from kubectl_spread.lint.check_source import Result
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.registry import RULES
from kubectl_spread.lint.workload import reference, Subject

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
    for constraint in patch.constraints:
        if constraint.label_selector is not None or constraint.match_label_keys or not constraint.topology_key:
            continue
        if any(_selects(base, constraint.topology_key) for base in bases):
            continue
        route = patch.route(constraint, "labelSelector")
        names = " and ".join(sorted({f"{base.workload.kind} `{base.workload.name}`" for base in bases}))
        yield Finding(
            RULES[_MISSING_SELECTOR],
            f"the pods are not spread: labelSelector is missing, and {names} has none for this topologyKey either",
            patch.place(route),
            reference(patch.manifest),
            patch.path(route),
            bases[0].selector_hint(),
        )


def _selects(base: Subject, topology_key: str) -> bool:
    """Return whether the constraint that a patch is merged into has a selector; topologyKey is the merge key."""
    return any(item.label_selector is not None for item in base.constraints if item.topology_key == topology_key)
