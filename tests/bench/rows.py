"""Move each change of the rows that only recordings observe: `python -m tests.bench.rows`.

A change that comes one release earlier or later must make a recorded decision differ. Prints the others.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterable

from kubectl_spread.objects.releases import behaviours
from kubectl_spread.objects.releases.version import Release, release_of
from tests.conformance import replay
from tests.conformance.measure import cases, SAMPLES
from tests.scheduler.test_release_rows import RECORDED, shifted

# The changes of `request-sums` that no recording decides; tests/scheduler/test_release_rows.py observes them.
ELSEWHERE = {("request-sums", "1.33.0"), ("request-sums", "1.34.0")}


def main() -> int:
    recorded = _recorded()
    lost = 0
    for row in behaviours.table():
        known = row.eras
        for since, by, eras in shifted(row) if row.name in RECORDED else ():
            changed = [release for release in recorded if _at(known, release) != _at(eras, release)]
            row.eras, row._values = eras, {}
            if (row.name, since) not in ELSEWHERE and not any(_differs(recorded[release]) for release in changed):
                lost += 1
                print(f"{row.name} {since} {by:+}: no recording differs", flush=True)
            row.eras, row._values = known, {}
    print(f"{len(RECORDED)} rows, {lost} changes without a recording that differs")
    return int(bool(lost))


def _recorded() -> dict[Release, list[replay.Case]]:
    """Return the recordings by release: samples of all, and whole families of 1.34 and 1.36."""
    found: dict[Release, list[replay.Case]] = {}
    for file in sorted(SAMPLES.glob("*.ndjson.gz")):
        for case in cases(file):
            found.setdefault(release_of(case["kubernetesVersion"]), []).append(case)
    for file in sorted(SAMPLES.parent.glob("*.ndjson.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for case in map(json.loads, lines if not file.name.startswith(("validate", "large")) else ()):
                if case.get("mode") != "validate":
                    found.setdefault(release_of(case.get("kubernetesVersion") or "1.36"), []).append(case)
    return found


def _at(eras: tuple[behaviours.Era[object], ...], release: Release) -> object:
    return next((era.value for era in reversed(eras) if era.since <= release), eras[0].value)


def _differs(found: Iterable[replay.Case]) -> bool:
    for case in found:
        try:
            for _, expected, decided in replay.decisions(case):
                if any(expected.get(field) != decided.get(field) for field in {*expected, *decided} - {"pod"}):
                    return True
        except (KeyError, TypeError, AttributeError):  # The plugin of the other release does not run in this one.
            return True
    return False


if __name__ == "__main__":
    sys.exit(main())
