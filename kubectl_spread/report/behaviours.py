"""Differences between a release and the newest recorded one, as text and JSON."""

from __future__ import annotations

from typing import Any

from kubectl_spread.objects.releases.behaviours import Behaviour, Impact, table
from kubectl_spread.objects.releases.version import LATEST, MEASURED, nearest_release, Release
from kubectl_spread.report.documents import Plain, report_document, to_document
from kubectl_spread.text.wording import count_noun

_HEADINGS = {
    Impact.PLACEMENT: "Where pods go",
    Impact.TEXT: "Reasons, codes and messages",
    Impact.SCORES: "The table of scores",
    Impact.TIME: "What controllers do",
    Impact.VALIDATION: "What the API server refuses",
}
_NEWEST = f"1.{LATEST.minor}"


def text(release: Release) -> str:
    """Return the differences from the latest release, grouped by their effect, with the upstream files."""
    compared = nearest_release(release)
    if compared == LATEST:
        return f"Kubernetes {LATEST.text} is the release that all others are compared with"
    rows = [row for row in table() if row.differs(compared)]
    number = count_noun(len(rows), "difference") if rows else "no difference is known"
    lines = [f"Kubernetes {compared.text} and {LATEST.text}: {number} ({_measured(compared)})"]
    for effect, heading in _HEADINGS.items():
        of_effect = [row for row in rows if row.effect is effect]
        lines += ["", f"{heading}:"] if of_effect else []
        for row in of_effect:
            newest = row.era(LATEST)
            lines += [
                f"  {row.name} ({row.reader})",
                f"    {compared.text}: {row.era(compared).words}",
                f"    {_NEWEST}: {newest.words}",
                f"    from {_change(row, compared)}, {row.source}",
            ]
    return "\n".join(lines)


def document(release: Release) -> Plain:
    """Return the same for `-o json`."""
    compared = nearest_release(release)
    fields = {
        "release": compared.text,
        "comparedWith": LATEST.text,
        "measured": MEASURED.get(compared.minor) == compared.patch,
        "behaviours": [
            to_document(
                row,
                "name plugin=reader effect behaviour since recorded newest newestSince source",
                behaviour=row.era(compared).words,
                since=_version(row.era(compared).since),
                recorded=row.era(compared).is_recorded,
                newest=row.era(LATEST).words,
                newestSince=_version(row.era(LATEST).since),
            )
            for row in table()
            if row.differs(compared)
        ],
    }
    return report_document("Behaviours", fields)


def _change(row: Behaviour[Any], compared: Release) -> str:
    """Return the release in which the later one of two behaviours began, and whether it was recorded."""
    later = max(row.era(compared), row.era(LATEST), key=lambda era: era.since)
    return f"{_version(later.since)}{'' if later.is_recorded else ' (not recorded)'}"


def _version(release: Release) -> str:
    """Return `1.24`, or `1.34.3` for a change in a patch release."""
    return release.text if release.patch else f"1.{release.minor}"


def _measured(release: Release) -> str:
    patch = MEASURED.get(release.minor)
    if patch is None:
        return "this release was not measured"
    return "measured" if patch == release.patch else f"measured: 1.{release.minor}.{patch}"
