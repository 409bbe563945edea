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
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Optional

from kubectl_spread.containers import grouped
from kubectl_spread.lint.check_source import Result
from kubectl_spread.lint.finding import DocumentFix, Finding
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.text import compose
from kubectl_spread.text import edit as editing
from kubectl_spread.text.edit import Drop, Edit
from kubectl_spread.text.source import Place, SourceFile


def _means(fixed: SourceFile, source: SourceFile, repairs: Iterable[DocumentFix]) -> bool:
    """Return whether the documents are the former ones, changed as intended; a new one may have become valid."""
    composed = list(compose.compose(source))
    expected = {item.root.start: item.plain for item in composed if isinstance(item, compose.Document)}
    problems = len(composed) - len(expected)
    changes: dict[int, list[editing.Change]] = {}  # by the offset of the document
    for repair in repairs:
        if repair.document is not None:
            changes.setdefault(repair.document.root.start, []).extend(repair.fix.changes)
    for number, made in changes.items():
        expected[number] = editing.apply_changes(expected[number], made)
    values = list(compose.values(fixed))
    remaining = (item for item in values if not isinstance(item, compose.SyntaxProblem))
    if sum(isinstance(item, compose.SyntaxProblem) for item in values) > problems:
        return False
    return all(_canonical(plain) in map(_canonical, remaining) for plain in expected.values())


def _canonical(plain: Any) -> str:
    """Return a text in which 1 and true differ, and the order of keys does not count (json would cost 2 ms)."""
    if isinstance(plain, dict):
        return repr([(key, _canonical(plain[key])) for key in sorted(plain)])
    return repr([_canonical(item) for item in plain]) if isinstance(plain, list) else repr(plain)


_MOST_PASSES = 10  # one fix may make another possible; no two undo each other
_MOST_TRIED, _MANY = 40, 200  # times that fixes are tried, when all together do harm; of more sources fewer


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
    """A fix as edits; it has several repairs if an anchor's value is used in several places."""

    finding: Finding  # as it was first
    repairs: tuple[DocumentFix, ...]
    edits: tuple[Edit, ...]


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

    def repairable(findings: list[Finding]) -> list[Finding]:
        return [item for item in findings if item.repair is not None and is_wanted(item.repair)]

    def make(chosen: list[Finding], harmful: Iterable[SkippedFix] = ()) -> tuple[FixResult, list[Finding]]:
        """Make the fixes of some findings, and those of the findings that they uncover.

        Return also the findings that were not there before.
        """
        made, findings = list(results), first
        wanted, unfixed = set(map(id, chosen)), grouped((_kind(finding), finding) for finding in first)
        fixed: set[int] = set()  # by id()
        refused: list[SkippedFix] = []
        added: list[Finding] = []
        for _ in range(_MOST_PASSES if chosen else 0):
            current = repairable(findings)
            tracked = [pair for pair in _tracked(unfixed, current) if id(pair[0]) in wanted]
            uncovered = set(map(id, added))
            # A fix of an uncovered finding removes nothing.
            tracked += [
                (item, item)
                for item in current
                if id(item) in uncovered
                and not any(isinstance(change, Drop) for change in (item.repair and item.repair.fix.changes) or ())
            ]
            by_source = grouped((id(pair[1].repair and pair[1].repair.source), pair) for pair in tracked)
            done: list[Finding] = []
            for at, result in enumerate(made):
                if id(result.source) in by_source:
                    attempts = list(_attempts(by_source[id(result.source)], refused))
                    kept, others = _sifted(result, [], attempts)
                    refused += others
                    if kept:
                        done += [attempt.finding for attempt in kept]
                        made[at] = recheck(SourceFile(result.source.name, _text(result, kept)))
            fixed.update(map(id, done))
            unfixed = {kind: [item for item in known if id(item) not in fixed] for kind, known in unfixed.items()}
            if not done:
                break
            findings = judge(made)
            added = _added(first, findings)
        if fixed:
            fixed.update(map(id, _vanished(unfixed, findings)))
        now = {id(item): current for item, current in _tracked(unfixed, findings)}
        skipped = {id(item.finding): item._replace(now=now.get(id(item.finding))) for item in (*refused, *harmful)}
        return FixResult(
            made,
            first,
            [item for item in first if id(item) in fixed],
            [skipped[id(item)] for item in first if id(item) in skipped and id(item) not in fixed],
        ), added

    chosen = repairable(first)
    result, added = make(chosen)
    if not added:
        return result
    objects = {(item.place.source.name, item.object) for item in added}
    suspects = [item for item in chosen if (item.place.source.name, item.object) in objects] or chosen
    kept = [item for item in chosen if id(item) not in set(map(id, suspects))]
    reason = _reason(added)
    if make(kept)[1]:
        suspects, kept = chosen, []
    harmful: list[SkippedFix] = []
    blocks = [*grouped((item.rule.code, item) for item in suspects).values()]
    left = _MOST_TRIED // (1 + len(results) // _MANY)
    while blocks:  # Fixes of one rule are made together, and halved where they do harm.
        block = blocks.pop(0)
        added = make([*kept, *block])[1] if left else first
        if not added:
            kept += block
        elif len(block) == 1 or not left:
            why = _reason(added) if left else reason
            harmful += [SkippedFix(finding, why) for finding in block]
        else:
            blocks += [block[: len(block) // 2], block[len(block) // 2 :]]
        left = max(0, left - 1)
    return make(kept, harmful)[0]


def _reason(added: list[Finding]) -> str:
    return f"then there would be: {', '.join(sorted({item.rule.code for item in added}))}"


_OF_THE_API_SERVER = "SPR1"


def _added(first: list[Finding], findings: list[Finding]) -> list[Finding]:
    """Return the findings that were neither there nor hidden before."""
    before = Counter(map(_kind, first))
    errors = [item for item in first if item.rule.code.startswith(_OF_THE_API_SERVER)]
    refused = {(item.place.source.name, item.object) for item in errors}
    unread = {(item.place.source.name, item.object) for item in errors if item.rule.code == UNDECODABLE}
    found = []
    for item in findings:
        before[_kind(item)] -= 1
        hidden = unread if item.rule.code.startswith(_OF_THE_API_SERVER) else refused
        if before[_kind(item)] < 0 and (item.place.source.name, item.object) not in hidden:
            found.append(item)
    return found


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


_OTHER_MEANING = "the text would not mean what the fix intends"


def _sifted(result: Result, kept: list[_Attempt], more: list[_Attempt]) -> tuple[list[_Attempt], list[SkippedFix]]:
    """Return the attempts that can be made together with `kept`, and the refused ones; halve, as few do harm."""
    repairs = [repair for attempt in (*kept, *more) for repair in attempt.repairs]
    text = SourceFile(result.source.name, _text(result, [*kept, *more]))
    if not more or _means(text, result.source, repairs):
        return [*kept, *more], []
    if len(more) == 1:
        return kept, [SkippedFix(more[0].finding, _OTHER_MEANING)]
    middle = len(more) // 2
    kept, first = _sifted(result, kept, more[:middle])
    kept, second = _sifted(result, kept, more[middle:])
    return kept, [*first, *second]


def _attempts(pairs: list[TrackedFinding], refused: list[SkippedFix]) -> Iterator[_Attempt]:
    """Yield the fixes as edits; those whose edits touch earlier ones wait for the next pass."""
    taken: list[Edit] = []  # in order; no two of them touch, except different additions
    for first, now in pairs:
        repairs = () if now.repair is None else (now.repair, *now.repeated)
        edits: dict[Edit, None] = {}
        problem = ""
        for repair in repairs:
            try:
                edits.update(dict.fromkeys(edits_of(repair)))
            except editing.NoEditError as error:
                problem = problem or str(error)
        if not edits:
            refused.append(SkippedFix(first, problem))
        elif not any(_touches(edit, taken) for edit in edits):
            for edit in edits:
                insort(taken, edit)
            yield _Attempt(first, repairs, tuple(edits))


def _touches(edit: Edit, taken: list[Edit]) -> bool:
    """Return whether an edit touches the characters of another, or adds the same field at the same place."""
    begin, end = bisect_left(taken, (edit.start,)), bisect_right(taken, (edit.end, math.inf))
    for other in taken[max(0, begin - 1) : end]:
        is_at_one_place = edit.start == edit.end == other.start == other.end
        is_other_field = is_at_one_place and edit.text.partition(":")[0] != other.text.partition(":")[0]
        if edit.start <= other.end and other.start <= edit.end and not is_other_field:
            return True
    return False


def _text(result: Result, attempts: list[_Attempt]) -> str:
    return editing.with_edits(result.source.text, [edit for attempt in attempts for edit in attempt.edits])


UNDECODABLE = "SPR113"


TrackedFinding = tuple[Finding, Finding]  # one before the first fix, and the same one now


def _tracked(unfixed: Mapping[_Kind, list[Finding]], findings: Iterable[Finding]) -> Iterator[TrackedFinding]:
    """Yield the current findings that may be fixed: each one is among the first findings that are not fixed yet.

    Fixes can uncover findings, for example in an object that did not decode. The run has not shown these, so
    their fixes wait for the next run.
    """
    by_kind = grouped((_kind(finding), finding) for finding in findings)
    for kind, current in by_kind.items():
        left = {id(item): item for item in unfixed.get(kind, ())}
        by_path = grouped((item.path, item) for item in left.values())
        for now in sorted(current, key=lambda item: item.path not in by_path):
            same = [item for item in by_path.get(now.path, ()) if id(item) in left][:1]
            if not left:
                break
            first = same[0] if same else next(iter(left.values()))
            del left[id(first)]
            yield first, now


def _vanished(unfixed: Mapping[_Kind, list[Finding]], findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield those of the first findings that are not fixed, and not among the current ones."""
    there = Counter((_kind(item), item.path) for item in findings)
    by_kind = Counter(_kind(item) for item in findings)
    for kind, known in unfixed.items():
        yield from sorted(known, key=lambda item: not there[kind, item.path])[by_kind[kind] :]


_Kind = tuple[str, str, ObjectKey]


def _kind(finding: Finding) -> _Kind:
    """Return what identifies a finding while the text around it changes; its path may change too."""
    return finding.place.source.name, finding.rule.code, finding.object
