"""Notes on skipped input of a check: templates, texts that are not YAML, and kinds that the facts lack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kubectl_spread.text.wording import count_noun

if TYPE_CHECKING:  # imported where they are used, so that --help stays fast
    from kubectl_spread.lint.check_source import Result

_NAMED = 3  # files that a line names


def notes(results: Sequence[Result]) -> tuple[str, ...]:
    """Return the lines for people; none if all was read."""
    templates = [result for result in results if result.is_template]
    naming = [result.source.name for result in templates if _names_constraints(result)]
    texts = [
        f"{place.source.name}:{place.source.position(place.span.start).line}"
        for result in results
        if result.outside is not None
        for place in result.outside.skipped
    ]
    found = []
    if templates:
        verb = "names" if len(naming) == 1 else "name"
        which = f", {len(naming)} of them {verb} a constraint: {_listed(naming)}" if naming else ""
        found.append(f"{count_noun(len(templates), 'template')} not checked{which}")
    if texts:
        what = "text that names" if len(texts) == 1 else "texts that name"
        found.append(
            f"{len(texts)} {what} constraints and {'is' if len(texts) == 1 else 'are'} not YAML, "
            f"not checked: {_listed(texts)}"
        )
    return tuple(found)


def unapplied_kinds(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """Return the line about kinds that decide about new pods, and that the cluster facts do not hold."""
    return (f"the cluster facts hold no {' and no '.join(kinds)} objects, so none is applied",) if kinds else ()


def claim_quotas(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the line about quotas that may refuse the claims of pods."""
    quotas = "quota" if len(names) == 1 else "quotas"
    text = f"{quotas} {', '.join(names)} {'limits' if len(names) == 1 else 'limit'} claims, which are not counted"
    return (f"{text}: the API server may refuse some of them",) if names else ()


def _names_constraints(result: Result) -> bool:
    return any(finding.rule.code == "SPR002" for finding in result.findings)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
