"""The findings that are not fixed yet: which of the current findings is which of the first ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kubectl_spread.lint.finding import Finding
from kubectl_spread.objects.keys import ObjectKey

UNDECODABLE = "SPR113"


class TrackedFinding(NamedTuple):
    """A current finding, and the same one before the first fix."""

    first: Finding
    now: Finding


class UnfixedFindings:
    """The findings of a run that are not fixed yet, recognised again while the text changes."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._open: dict[tuple[str, str, ObjectKey], list[Finding]] = {}
        for finding in findings:
            self._open.setdefault(_kind(finding), []).append(finding)

    @property
    def is_empty(self) -> bool:
        """Return whether all findings are fixed."""
        return not any(self._open.values())

    def drop(self, done: Iterable[Finding]) -> None:
        """Remove findings that are fixed."""
        fixed = {id(finding) for finding in done}
        for known in self._open.values():
            known[:] = [item for item in known if id(item) not in fixed]

    def tracked_findings(self, findings: Iterable[Finding]) -> Iterator[TrackedFinding]:
        """Yield the current findings that may be fixed: each one is among the first findings.

        Fixes can uncover findings, for example in an object that did not decode. The run has not shown these, so
        their fixes wait for the next run.
        """
        by_kind: dict[tuple[str, str, ObjectKey], list[Finding]] = {}
        for finding in findings:
            by_kind.setdefault(_kind(finding), []).append(finding)
        for kind, current in by_kind.items():
            left = {id(item): item for item in self._open.get(kind, ())}
            by_path: dict[str, list[Finding]] = {}
            for item in left.values():
                by_path.setdefault(item.path, []).append(item)
            for now in sorted(current, key=lambda item: item.path not in by_path):
                same = [item for item in by_path.get(now.path, ()) if id(item) in left][:1]
                if not left:
                    break
                first = same[0] if same else next(iter(left.values()))
                del left[id(first)]
                yield TrackedFinding(first, now)

    def vanished_findings(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return those of the first findings that are not among the current ones."""
        there = Counter((_kind(item), item.path) for item in findings)
        by_kind = Counter(_kind(item) for item in findings)
        found = []
        for kind, known in self._open.items():
            known = sorted(known, key=lambda item: not there[kind, item.path])  # noqa: PLW2901
            found += known[by_kind[kind] :]
        return found


def _kind(finding: Finding) -> tuple[str, str, ObjectKey]:
    """Return what identifies a finding while the text around it changes; its path may change too."""
    return finding.place.source.name, finding.rule.code, finding.object
