"""Fixes of findings, made as edits of the text and checked.

A pass over a text makes all fixes whose edits do not overlap; different lines or entries may be added at one place.
Then the texts are checked again, and the next pass fixes the rest. A fix is accepted if the text then means what the
fix intends, and if no finding remains that was not there before, in any file of the run. So a fix that uncovers
findings is made together with their fixes, unless these delete something, or not at all. Findings that were hidden do
not count: those of an object that could not be decoded, and what rules say of one that the API server refused.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Optional

from kubectl_spread.lint.check_source import Result
from kubectl_spread.lint.finding import DocumentFix, Finding
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.text import compose
from kubectl_spread.text import edit as editing
from kubectl_spread.text.edit import Drop, Edit
from kubectl_spread.text.source import Place, SourceFile, Span


def _means(fixed: SourceFile, source: SourceFile, repairs: Iterable[DocumentFix]) -> bool:
    """Return whether the documents are the former ones, changed as intended; a new one may have become valid."""
    expected, problems = _documents(source)
    changes: dict[int, list[editing.Change]] = {}  # by the offset of the document
    for repair in repairs:
        if repair.document is not None:
            changes.setdefault(repair.document.start, []).extend(repair.fix.changes)
    for number, made in changes.items():
        expected[number] = editing.apply_changes(expected[number], made)
    found, problems_left = _documents(fixed)
    if problems_left > problems:
        return False
    remaining = iter(found.values())
    return all(_canonical(plain) in map(_canonical, remaining) for plain in expected.values())


def _documents(source: SourceFile) -> tuple[dict[int, Any], int]:
    """Return the plain values of the documents by their offsets, and the number of documents that are not YAML."""
    composed = list(compose.compose(source))
    plain = {item.start: item.plain for item in composed if isinstance(item, compose.Document)}
    return plain, len(composed) - len(plain)


def _canonical(plain: Any) -> str:
    """Return a text in which 1 and true differ."""
    return repr(_sorted(plain))


def _sorted(plain: Any) -> Any:
    """Return a value whose mappings are in the order of their keys."""
    if isinstance(plain, dict):
        return {key: _sorted(plain[key]) for key in sorted(plain)}
    return [_sorted(item) for item in plain] if isinstance(plain, list) else plain


_MOST_PASSES = 10  # one fix may make another possible; no two undo each other
_MOST_TRIED = 40  # fixes that are tried one by one, when all together do harm


class SkippedFix(NamedTuple):
    """A fix that was not made, and the reason.

    `finding` is one of the findings before the fixes. `now` is the same finding in the text after the other fixes.
    """

    finding: Finding
    reason: str
    now: Optional[Finding] = None

    @property
    def place(self) -> Place:
        """Return the place in the text after the other fixes."""
        return (self.now or self.finding).place


class FixResult(NamedTuple):
    """The sources after all possible fixes, as a run of check has them.

    `fixed` and the findings of `refused` are among `first`, the findings before the fixes.
    """

    results: list[Result]
    first: list[Finding]
    fixed: list[Finding]
    refused: list[SkippedFix]


class _Attempt(NamedTuple):
    """A fix as edits; several findings have one if an anchor's value is used in several places."""

    findings: tuple[Finding, ...]  # as they were first
    repairs: tuple[DocumentFix, ...]
    edits: tuple[Edit, ...]


class _Pass(NamedTuple):
    """The text of a source after one pass, and the findings that it fixed or could not fix."""

    text: str
    done: list[Finding]
    refused: list[SkippedFix]


def apply_fixes(
    results: list[Result],
    judge: Callable[[list[Result]], list[Finding]],
    *,
    recheck: Callable[[SourceFile], Result],
    is_wanted: Callable[[DocumentFix], bool],
) -> FixResult:
    """Fix the findings that have fixes.

    Args:
        results: the content of the sources.
        judge: returns all findings of a run over them.
        recheck: reads a changed source.
        is_wanted: returns whether to make a fix; it can reject unsafe fixes.
    """
    first = judge(results)
    run = _Run(list(results), first, judge, _remembering(recheck), is_wanted)
    chosen = [item for item in first if item.repair is not None and is_wanted(item.repair)]
    trial = run.make(chosen)
    harmful: dict[int, SkippedFix] = {}  # by id()
    if trial.added:
        suspects = _about_the_same(chosen, trial.added)
        kept = [item for item in chosen if id(item) not in set(map(id, suspects))]
        reason = _reason(trial.added)
        trial = run.make(kept)
        if trial.added:
            suspects, kept, trial = chosen, [], run.make([])
        for number, finding in enumerate(suspects):
            tried = run.make([*kept, finding]) if number < _MOST_TRIED else trial
            if tried.added or number >= _MOST_TRIED:
                harmful[id(finding)] = SkippedFix(finding, _reason(tried.added) if tried.added else reason)
            else:
                kept.append(finding)
                trial = tried
    fixed, reasons = trial.fixed, {**trial.reasons, **harmful}
    if fixed:
        fixed.update((id(item), item) for item in trial.unfixed.vanished_findings(trial.findings))
    done, refused = _in_order(first, fixed, reasons)
    now = {id(item.first): item.now for item in trial.unfixed.tracked_findings(trial.findings)}
    return FixResult(trial.results, first, done, [item._replace(now=now.get(id(item.finding))) for item in refused])


def _about_the_same(chosen: list[Finding], added: list[Finding]) -> list[Finding]:
    """Return the findings about the objects of the added ones; all if there are none."""
    objects = {(item.place.source.name, item.object) for item in added}
    found = [item for item in chosen if (item.place.source.name, item.object) in objects]
    return found or chosen


def _reason(added: list[Finding]) -> str:
    return f"then there would be: {', '.join(sorted({item.rule.code for item in added}))}"


class _Trial(NamedTuple):
    """The texts after all passes; `added` are the findings that were not there before."""

    results: list[Result]
    findings: list[Finding]
    added: list[Finding]
    fixed: dict[int, Finding]
    reasons: dict[int, SkippedFix]
    unfixed: UnfixedFindings


class _Run(NamedTuple):
    """A run before its fixes."""

    results: list[Result]
    first: list[Finding]
    judge: Callable[[list[Result]], list[Finding]]
    recheck: Callable[[SourceFile], Result]
    is_wanted: Callable[[DocumentFix], bool]

    def make(self, chosen: list[Finding]) -> _Trial:
        """Make the fixes of some findings, and those of the findings that they uncover."""
        results, findings = list(self.results), self.first
        wanted, unfixed = set(map(id, chosen)), UnfixedFindings(self.first)
        fixed: dict[int, Finding] = {}
        reasons: dict[int, SkippedFix] = {}
        added: list[Finding] = []
        for _ in range(_MOST_PASSES if chosen else 0):
            repairable = [item for item in findings if item.repair is not None and self.is_wanted(item.repair)]
            tracked = [item for item in unfixed.tracked_findings(repairable) if id(item.first) in wanted]
            uncovered = set(map(id, added))
            tracked += [
                TrackedFinding(item, item) for item in repairable if id(item) in uncovered and not _deletes(item)
            ]
            passes = _passes(results, tracked, self.recheck)
            done = [finding for item in passes for finding in item.done]
            fixed.update((id(finding), finding) for finding in done)
            reasons.update((id(refusal.finding), refusal) for item in passes for refusal in item.refused)
            unfixed.drop(fixed.values())
            if not done:
                break
            findings = self.judge(results)
            added = self._added(findings)
        return _Trial(results, findings, added, fixed, reasons, unfixed)

    def _added(self, findings: list[Finding]) -> list[Finding]:
        """Return the findings that were neither there nor hidden before."""
        before = Counter(map(_kind, self.first))
        errors = [item for item in self.first if item.rule.code.startswith(_OF_THE_API_SERVER)]
        refused = {(item.place.source.name, item.object) for item in errors}
        unread = {(item.place.source.name, item.object) for item in errors if item.rule.code == UNDECODABLE}
        found = []
        for item in findings:
            before[_kind(item)] -= 1
            hidden = unread if item.rule.code.startswith(_OF_THE_API_SERVER) else refused
            if before[_kind(item)] < 0 and (item.place.source.name, item.object) not in hidden:
                found.append(item)
        return found


_OF_THE_API_SERVER = "SPR1"


def _deletes(finding: Finding) -> bool:
    """Return whether the fix of a finding removes something."""
    return finding.repair is not None and any(isinstance(change, Drop) for change in finding.repair.fix.changes)


def _in_order(
    first: list[Finding], fixed: dict[int, Finding], reasons: dict[int, SkippedFix]
) -> tuple[list[Finding], list[SkippedFix]]:
    """Return the fixed findings and the refusals of others, in the order of the first findings."""
    refused = [reasons[id(item)] for item in first if id(item) in reasons and id(item) not in fixed]
    return [item for item in first if id(item) in fixed], refused


def _passes(
    results: list[Result], tracked: Iterable[TrackedFinding], recheck: Callable[[SourceFile], Result]
) -> list[_Pass]:
    """Make one pass over each source; `results` then holds the changed ones."""
    by_source: dict[int, list[TrackedFinding]] = {}
    for item in tracked:
        by_source.setdefault(id(item.now.repair and item.now.repair.source), []).append(item)
    passes = []
    for at, result in enumerate(results):
        done = _fixed(result, by_source.get(id(result.source), []))
        passes.append(done)
        if done.done:
            results[at] = recheck(SourceFile(result.source.name, done.text))
    return passes


def _remembering(read: Callable[[SourceFile], Result]) -> Callable[[SourceFile], Result]:
    """Return `read` with a memory of the last text, which a pass has read already to check it."""
    last: list[Result] = []

    def again(source: SourceFile) -> Result:
        if not last or (last[0].source.name, last[0].source.text) != (source.name, source.text):
            last[:] = [read(source)]
        return last[0]

    return again


def edits_of(repair: DocumentFix) -> tuple[Edit, ...]:
    """Return the edits that make a fix.

    Raises:
        NoEditError: it cannot be made in this text.
    """
    if repair.document is None:
        return repair.edits
    return tuple(editing.edits(repair.document, repair.fix.changes))


def possible_edits(repair: DocumentFix) -> tuple[Edit, ...]:
    """Return the edits of a fix, in the order of their places; none if the fix cannot be made in this text."""
    try:
        return tuple(sorted(edits_of(repair)))
    except editing.NoEditError:
        return ()


def _fixed(result: Result, pairs: list[TrackedFinding]) -> _Pass:
    """Make all fixes at once, or only those that the text allows."""
    if not pairs:
        return _Pass(result.source.text, [], [])
    refused: list[SkippedFix] = []
    attempts = list(_apart(_attempts(pairs, refused)))
    kept, harmful = _sifted(result, [], attempts)
    done = [finding for attempt in kept for finding in attempt.findings]
    return _Pass(_text(result, kept), done, [*refused, *harmful])


_OTHER_MEANING = "the text would not mean what the fix intends"


def _sifted(result: Result, kept: list[_Attempt], more: list[_Attempt]) -> tuple[list[_Attempt], list[SkippedFix]]:
    """Return the attempts that can be made together with `kept`, and the refused ones; halve, as few do harm."""
    repairs = [repair for attempt in (*kept, *more) for repair in attempt.repairs]
    text = SourceFile(result.source.name, _text(result, [*kept, *more]))
    if not more or _means(text, result.source, repairs):
        return [*kept, *more], []
    if len(more) == 1:
        return kept, [SkippedFix(finding, _OTHER_MEANING) for finding in more[0].findings]
    middle = len(more) // 2
    kept, first = _sifted(result, kept, more[:middle])
    kept, second = _sifted(result, kept, more[middle:])
    return kept, [*first, *second]


def _attempts(pairs: list[TrackedFinding], refused: list[SkippedFix]) -> Iterator[_Attempt]:
    """Yield the fixes as edits. Findings of one rule at one place have the same fix: an alias repeats its anchor."""
    at_place: dict[tuple[str, int, Span], list[TrackedFinding]] = {}
    for pair in pairs:
        place = pair.now.rule.code, id(pair.now.place.source), pair.now.place.span
        at_place.setdefault(place, []).append(pair)
    for group in at_place.values():
        if len({pair.now.path for pair in group}) == 1:
            yield from (attempt for pair in group if (attempt := _attempt([pair], refused)) is not None)
        elif (attempt := _attempt(group, refused)) is not None:
            yield attempt


def _attempt(group: list[TrackedFinding], refused: list[SkippedFix]) -> Optional[_Attempt]:
    """Return the fix of the findings at one place: the edits of all findings with a possible fix."""
    repairs = tuple(pair.now.repair for pair in group if pair.now.repair is not None)
    edits: dict[Edit, None] = {}
    problem = ""
    for repair in repairs:
        try:
            edits.update(dict.fromkeys(edits_of(repair)))
        except editing.NoEditError as error:
            problem = problem or str(error)
    if not edits:
        refused += [SkippedFix(pair.first, problem) for pair in group]
        return None
    return _Attempt(tuple(pair.first for pair in group), repairs, tuple(edits))


def _apart(attempts: Iterable[_Attempt]) -> Iterator[_Attempt]:
    """Yield the attempts whose edits touch no earlier ones; the others wait for the next pass."""
    taken: list[Edit] = []  # in order; no two of them touch, except different additions
    for attempt in attempts:
        if not any(_touches(edit, taken) for edit in attempt.edits):
            for edit in attempt.edits:
                insort(taken, edit)
            yield attempt


def _touches(edit: Edit, taken: list[Edit]) -> bool:
    """Return whether an edit touches the characters of another, or adds the same field at the same place."""
    first, last = bisect_left(taken, (edit.start,)), bisect_right(taken, (edit.end, math.inf))
    return any(
        edit.start <= other.end and other.start <= edit.end and not _are_separate(edit, other)
        for other in taken[max(0, first - 1) : last]
    )


def _are_separate(edit: Edit, other: Edit) -> bool:
    """Return whether both only add text at one place, and not the same field."""
    at_one_place = edit.start == edit.end == other.start == other.end
    return at_one_place and edit.text.partition(":")[0] != other.text.partition(":")[0]


def _text(result: Result, attempts: list[_Attempt]) -> str:
    return editing.with_edits(result.source.text, [edit for attempt in attempts for edit in attempt.edits])


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
