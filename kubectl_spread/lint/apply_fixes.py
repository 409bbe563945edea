"""Makes the fixes that findings name, as edits of the text, and checks that they did what they should.

A pass over a text makes all fixes whose edits do not overlap. Then the text is parsed and checked again, for the next
pass, which makes those of the first findings that are left. What a fix brings up is shown by the next run, not fixed by
this one. The one exception is what a value of the wrong type hid: it is fixed too, unless something would be deleted.
A fix is taken back if the text does not mean what was intended, or if the API server would refuse more than before.
"""

from __future__ import annotations

from bisect import bisect_left
from bisect import insort
from collections import Counter
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any
from typing import NamedTuple
from typing import Optional

from kubectl_spread.lint.check_source import Result
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.finding import ObjectRef
from kubectl_spread.lint.finding import Repair
from kubectl_spread.lint.finding import Severity
from kubectl_spread.text import compose
from kubectl_spread.text import edit as editing
from kubectl_spread.text.edit import Edit
from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.source import Span

_MOST_PASSES = 10  # one fix may make another possible; no two undo each other
_MOST_TRIED = 100_000  # characters
_UNDECODABLE = "SPR113"


class Refusal(NamedTuple):
    """A fix that was not made, and why."""

    finding: Finding
    reason: str


class Mended(NamedTuple):
    """What is left once everything is fixed that can be: `results` and `findings` as a run of check has them.

    `fixed` and the findings of `refused` are among those that there were before.
    """

    results: list[Result]
    findings: list[Finding]
    fixed: list[Finding]
    refused: list[Refusal]


class _Pair(NamedTuple):
    """A finding of the text as it is now, and what it was before the first fix; the same for one that was hidden."""

    first: Finding
    now: Finding


class _Attempt(NamedTuple):
    """A fix as edits; several findings have one if an anchor's value is used in several places."""

    findings: tuple[Finding, ...]  # as they were first
    repairs: tuple[Repair, ...]
    edits: tuple[Edit, ...]


class _Pass(NamedTuple):
    text: str
    done: list[Finding]
    refused: list[Refusal]


class _Left:
    """The findings of a run that are still to be fixed."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._open: dict[tuple[str, str, ObjectRef], list[Finding]] = {}
        self._undecodable: set[tuple[str, ObjectRef]] = set()
        for finding in findings:
            self._open.setdefault(_kind(finding), []).append(finding)
            if finding.rule.code == _UNDECODABLE and finding.is_unreadable:
                self._undecodable.add((finding.place.source.name, finding.object))

    def drop(self, done: Iterable[Finding]) -> None:
        """Remove findings that are fixed."""
        gone = {id(finding) for finding in done}
        for known in self._open.values():
            known[:] = [item for item in known if id(item) not in gone]

    def pairs(self, findings: Iterable[Finding]) -> Iterator[_Pair]:
        """Yield those of the current findings that may be fixed: each is one of the first ones, or was hidden."""
        by_kind: dict[tuple[str, str, ObjectRef], list[Finding]] = {}
        for finding in findings:
            by_kind.setdefault(_kind(finding), []).append(finding)
        for kind, current in by_kind.items():
            left = {id(item): item for item in self._open.get(kind, ())}
            by_path: dict[str, list[Finding]] = {}
            for item in left.values():
                by_path.setdefault(item.path, []).append(item)
            for now in sorted(current, key=lambda item: item.path not in by_path):
                same = [item for item in by_path.get(now.path, ()) if id(item) in left][:1]
                if left:
                    first = same[0] if same else next(iter(left.values()))
                    del left[id(first)]
                    yield _Pair(first, now)
                elif (kind[0], now.object) in self._undecodable and not _deletes(now):
                    yield _Pair(now, now)

    def gone(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return those of the first findings that are not among the current ones."""
        there = Counter((_kind(item), item.path) for item in findings)
        by_kind = Counter(_kind(item) for item in findings)
        found = []
        for kind, known in self._open.items():
            known = sorted(known, key=lambda item: not there[kind, item.path])  # noqa: PLW2901
            found += known[by_kind[kind] :]
        return found


def _kind(finding: Finding) -> tuple[str, str, ObjectRef]:
    """Return what identifies a finding while the text around it changes; its path may change too."""
    return finding.place.source.name, finding.rule.code, finding.object


def _deletes(finding: Finding) -> bool:
    return finding.repair is not None and any(isinstance(item, editing.Drop) for item in finding.repair.fix.changes)


def mend(
    results: list[Result],
    judge: Callable[[list[Result]], list[Finding]],
    *,
    recheck: Callable[[SourceFile], Result],
    is_wanted: Callable[[Repair], bool],
) -> Mended:
    """Fix what can be fixed.

    Args:
        results: what the sources hold.
        judge: all findings of a run over them.
        recheck: reads a source anew.
        is_wanted: whether a fix is to be made; an unsafe one may not be.
    """
    recheck = _remembering(recheck)
    results, findings = list(results), judge(results)
    before = findings
    left = _Left(findings)
    fixed: dict[int, Finding] = {}  # by id()
    reasons: dict[int, Refusal] = {}
    for _ in range(_MOST_PASSES):
        wanted = [item for item in findings if item.repair is not None and is_wanted(item.repair)]
        by_source: dict[int, list[_Pair]] = {}
        for pair in left.pairs(wanted):
            by_source.setdefault(id(pair.now.repair and pair.now.repair.source), []).append(pair)
        is_changed = False
        for at, result in enumerate(results):
            done = _mended(result, by_source.get(id(result.source), []), recheck)
            fixed.update((id(finding), finding) for finding in done.done)
            reasons.update((id(refusal.finding), refusal) for refusal in done.refused)
            if done.done:
                is_changed = True
                results[at] = recheck(SourceFile(result.source.name, done.text))
        left.drop(fixed.values())
        if not is_changed:
            break
        findings = judge(results)
    fixed.update((id(finding), finding) for finding in left.gone(findings) if fixed)
    refused = [reasons[id(item)] for item in before if id(item) in reasons and id(item) not in fixed]
    return Mended(results, findings, [item for item in before if id(item) in fixed], refused)


def fixable(
    results: Iterable[Result], findings: Iterable[Finding], *, recheck: Callable[[SourceFile], Result]
) -> list[Finding]:
    """Return the findings whose fixes can be made together, as `mend` would make them.

    The fixes of a large input are not tried.
    """
    by_source: dict[int, list[_Pair]] = {}
    for finding in findings:
        if finding.repair is not None:
            by_source.setdefault(id(finding.repair.source), []).append(_Pair(finding, finding))
    found: list[Finding] = []
    budget = _MOST_TRIED
    for result in results:
        pairs = by_source.get(id(result.source), [])
        budget -= len(result.source.text) if pairs else 0
        refused: list[Refusal] = []
        if budget >= 0:
            attempts = list(_apart(_attempts(pairs, refused)))
            refused += _sifted(result, [], attempts, recheck=recheck)[1]
        impossible = {id(refusal.finding) for refusal in refused}
        found += [pair.first for pair in pairs if id(pair.first) not in impossible]
    return found


def _remembering(read: Callable[[SourceFile], Result]) -> Callable[[SourceFile], Result]:
    """Return `read` with a memory of the last text, which a pass has read already to check it."""
    last: list[Result] = []

    def again(source: SourceFile) -> Result:
        if not last or (last[0].source.name, last[0].source.text) != (source.name, source.text):
            last[:] = [read(source)]
        return last[0]

    return again


def edits_of(repair: Repair) -> tuple[Edit, ...]:
    """Return the edits that make a fix.

    Raises:
        NoEditError: it cannot be made in this text.
    """
    if repair.document is None:
        return repair.edits
    return tuple(editing.edits(repair.document, repair.fix.changes))


def possible_edits(repair: Repair) -> tuple[Edit, ...]:
    """Return the edits that make a fix, in the order of their places; none where it cannot be made in this text."""
    try:
        return tuple(sorted(edits_of(repair)))
    except editing.NoEditError:
        return ()


def _mended(result: Result, pairs: list[_Pair], recheck: Callable[[SourceFile], Result]) -> _Pass:
    """Make all fixes at once, or only those that do no harm."""
    if not pairs:
        return _Pass(result.source.text, [], [])
    refused: list[Refusal] = []
    attempts = list(_apart(_attempts(pairs, refused)))
    kept, harmful = _sifted(result, [], attempts, recheck=recheck)
    done = [finding for attempt in kept for finding in attempt.findings]
    return _Pass(_text(result, kept), done, [*refused, *harmful])


def _sifted(
    result: Result, kept: list[_Attempt], more: list[_Attempt], *, recheck: Callable[[SourceFile], Result]
) -> tuple[list[_Attempt], list[Refusal]]:
    """Return the attempts that can be made beside those that are kept, and the others; by halving, as few do harm."""
    harm = _harm(result, [*kept, *more], recheck) if more else ""
    if not harm:
        return [*kept, *more], []
    if len(more) == 1:
        return kept, [Refusal(finding, harm) for finding in more[0].findings]
    middle = len(more) // 2
    kept, first = _sifted(result, kept, more[:middle], recheck=recheck)
    kept, second = _sifted(result, kept, more[middle:], recheck=recheck)
    return kept, [*first, *second]


def _attempts(pairs: list[_Pair], refused: list[Refusal]) -> Iterator[_Attempt]:
    """Yield the fixes as edits. Findings of one rule at one place have the same fix: an alias repeats its anchor."""
    at_place: dict[tuple[str, int, Span], list[_Pair]] = {}
    for pair in pairs:
        place = pair.now.rule.code, id(pair.now.place.source), pair.now.place.span
        at_place.setdefault(place, []).append(pair)
    for group in at_place.values():
        if len({pair.now.path for pair in group}) == 1:
            yield from (attempt for pair in group if (attempt := _attempt([pair], refused)) is not None)
        elif (attempt := _attempt(group, refused)) is not None:
            yield attempt


def _attempt(group: list[_Pair], refused: list[Refusal]) -> Optional[_Attempt]:
    """Return the fix of findings at one place, as the edits of those that can be fixed there."""
    repairs = tuple(pair.now.repair for pair in group if pair.now.repair is not None)
    edits: dict[Edit, None] = {}
    problem = ""
    for repair in repairs:
        try:
            edits.update(dict.fromkeys(edits_of(repair)))
        except editing.NoEditError as error:
            problem = problem or str(error)
    if not edits:
        refused += [Refusal(pair.first, problem) for pair in group]
        return None
    return _Attempt(tuple(pair.first for pair in group), repairs, tuple(edits))


def _apart(attempts: Iterable[_Attempt]) -> Iterator[_Attempt]:
    """Yield those whose edits touch none of an earlier one; the others have their turn in the next pass."""
    taken: list[Edit] = []  # in order; none overlaps another
    for attempt in attempts:
        if not any(_touches(edit, taken) for edit in attempt.edits):
            for edit in attempt.edits:
                insort(taken, edit)
            yield attempt


def _touches(edit: Edit, taken: list[Edit]) -> bool:
    """Return whether an edit touches the characters of another, insertions at the same place included."""
    at = bisect_left(taken, edit)
    return any(edit.start <= other.end and other.start <= edit.end for other in taken[max(0, at - 1) : at + 1])


def _text(result: Result, attempts: list[_Attempt]) -> str:
    return editing.with_edits(result.source.text, [edit for attempt in attempts for edit in attempt.edits])


def _harm(result: Result, attempts: list[_Attempt], recheck: Callable[[SourceFile], Result]) -> str:
    """Return why the text with the fixes is not what was intended; empty where it is."""
    mended = SourceFile(result.source.name, _text(result, attempts))
    if not _means(mended, result.source, [repair for attempt in attempts for repair in attempt.repairs]):
        return "the text would not mean what the fix intends"
    added = _added(_refusals(result), _refusals(recheck(mended)))
    return f"the API server would then refuse more: {', '.join(added)}" if added else ""


def _means(mended: SourceFile, source: SourceFile, repairs: list[Repair]) -> bool:
    """Return whether the documents are the former ones, changed as intended; a new one may have become valid."""
    expected, problems = _documents(source)
    changes: dict[int, list[editing.Change]] = {}  # by where the document starts
    for repair in repairs:
        if repair.document is not None:
            changes.setdefault(repair.document.start, []).extend(repair.fix.changes)
    for number, made in changes.items():
        expected[number] = editing.changed(expected[number], made)
    found, problems_left = _documents(mended)
    if problems_left > problems:
        return False
    remaining = iter(found.values())
    return all(_canonical(plain) in map(_canonical, remaining) for plain in expected.values())


def _documents(source: SourceFile) -> tuple[dict[int, Any], int]:
    """Return the plain values of the documents by where they start, and how many are not YAML."""
    composed = list(compose.compose(source))
    plain = {item.start: item.plain for item in composed if isinstance(item, compose.Document)}
    return plain, len(composed) - len(plain)


def _canonical(plain: Any) -> str:
    """Return a text that tells 1 from true."""
    import json  # 5 ms

    return json.dumps(plain, sort_keys=True)


def _refusals(result: Result) -> Counter[tuple[ObjectRef, str]]:
    """Return the errors of the API server, by object and rule."""
    return Counter((item.object, item.rule.code) for item in result.findings if item.rule.severity is Severity.ERROR)


def _added(before: Counter[tuple[ObjectRef, str]], after: Counter[tuple[ObjectRef, str]]) -> list[str]:
    """Return the rules by which more is refused; what else an object has that could not be decoded is not new."""
    hidden = {name for name, code in before if code == _UNDECODABLE}
    return sorted({code for name, code in after - before if code == _UNDECODABLE or name not in hidden})
