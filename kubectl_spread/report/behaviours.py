"""Differences between a release and the newest supported one, as text and JSON."""

from __future__ import annotations

from typing import Any

from kubectl_spread.objects.releases.behaviours import Behaviour, Impact, table
from kubectl_spread.objects.releases.version import LATEST, MEASURED, nearest_release, Release

_HEADINGS = {
    Impact.PLACEMENT: "Where pods go",
    Impact.TEXT: "Reasons, codes and messages",
    Impact.SCORES: "The table of scores",
    Impact.VALIDATION: "What the API server refuses",
}
_NEWEST = f"1.{LATEST.minor}"


def text(release: Release) -> str:
    """Return the differences from the latest release, grouped by their effect, with the upstream files."""
    compared = nearest_release(release)
    if compared == LATEST:
        return f"kube-scheduler {LATEST.text} is the release that all others are compared with"
    rows = [row for row in table() if row.differs(compared)]
    lines = [f"kube-scheduler {compared.text} and {LATEST.text}: {_counted(len(rows))} ({_measured(compared)})"]
    for effect, heading in _HEADINGS.items():
        found = [row for row in rows if row.effect is effect]
        if found:
            lines += ["", f"{heading}:"]
        for row in found:
            lines += _row(row, compared)
    return "\n".join(lines)


def document(release: Release) -> dict[str, Any]:
    """Return the same for `-o json`."""
    compared = nearest_release(release)
    return {
        "apiVersion": "kubectl-spread/v1",
        "kind": "Behaviours",
        "release": compared.text,
        "comparedWith": LATEST.text,
        "measured": MEASURED.get(compared.minor) == compared.patch,
        "behaviours": [_item(row, compared) for row in table() if row.differs(compared)],
    }


def _row(row: Behaviour[Any], release: Release) -> list[str]:
    era, newest = row.era(release), row.era(LATEST)
    return [
        f"  {row.name} ({row.reader})",
        f"    {release.text}: {era.words}",
        f"    {_NEWEST}: {newest.words}",
        f"    from {_version(newest.since)}, {row.source}",
    ]


def _item(row: Behaviour[Any], release: Release) -> dict[str, Any]:
    era, newest = row.era(release), row.era(LATEST)
    return {
        "name": row.name,
        "plugin": row.reader,
        "effect": row.effect.value,
        "behaviour": era.words,
        "since": _version(era.since),
        "newest": newest.words,
        "newestSince": _version(newest.since),
        "source": row.source,
    }


def _version(release: Release) -> str:
    """Return `1.24`, or `1.34.3` for a change in a patch release."""
    return release.text if release.patch else f"1.{release.minor}"


def _counted(number: int) -> str:
    if not number:
        return "no difference is known"
    return "1 difference" if number == 1 else f"{number} differences"


def _measured(release: Release) -> str:
    patch = MEASURED.get(release.minor)
    if patch is None:
        return "this release was not measured"
    return "measured" if patch == release.patch else f"measured: 1.{release.minor}.{patch}"
