"""Makes the fixes that findings name, as edits of the text, and looks whether they did what they should.

A pass over a text makes all fixes whose edits do not overlap; then the text is parsed and checked again, until nothing
is left to fix. A fix is taken back where the text does not mean what was intended, or where the API server would refuse
more than before.
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

from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.finding import ObjectRef
from kubectl_spread.lint.finding import Repair
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.run import Result
from kubectl_spread.text import compose
from kubectl_spread.text import edit as editing
from kubectl_spread.text import node as nodes
from kubectl_spread.text.edit import Edit
from kubectl_spread.text.source import SourceFile

_MOST_PASSES = 10  # one fix may make another possible; no two undo each other
_UNDECODABLE = "SPR113"


class Refusal(NamedTuple):
    """A fix that was not made, and why."""

    finding: Finding
    reason: str


class Mended(NamedTuple):
    """What is left once everything is fixed that can be: `results` and `findings` as a run of check has them."""

    results: list[Result]
    findings: list[Finding]
    fixed: list[Finding]
    refused: list[Refusal]


class _Attempt(NamedTuple):
    """A fix as edits."""

    finding: Finding
    repair: Repair
    edits: tuple[Edit, ...]


class _Pass(NamedTuple):
    text: str
    done: list[Finding]
    refused: list[Refusal]


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
    fixed: list[Finding] = []
    refused: list[Refusal] = []
    for _ in range(_MOST_PASSES):
        refused = []
        before = len(fixed)
        for at, result in enumerate(results):
            mine = [item for item in findings if item.repair is not None and item.repair.source is result.source]
            done = _mended(result, [item for item in mine if item.repair and is_wanted(item.repair)], recheck)
            fixed += done.done
            refused += done.refused
            if done.done:
                results[at] = recheck(SourceFile(result.source.name, done.text))
        if len(fixed) == before:
            break
        findings = judge(results)
    return Mended(results, findings, fixed, refused)


def _remembering(read: Callable[[SourceFile], Result]) -> Callable[[SourceFile], Result]:
    """The text that a pass ends with was read to see whether it is sound: it is not read again."""
    last: list[Result] = []

    def again(source: SourceFile) -> Result:
        if not last or (last[0].source.name, last[0].source.text) != (source.name, source.text):
            last[:] = [read(source)]
        return last[0]

    return again


def edits_of(repair: Repair) -> tuple[Edit, ...]:
    """The edits that make a fix.

    Raises:
        NoEditError: it cannot be made in this text.
    """
    if repair.document is None:
        return repair.edits
    return tuple(editing.edits(repair.document, repair.fix.changes))


def possible_edits(repair: Repair) -> tuple[Edit, ...]:
    """The edits that make a fix, in the order of their places; none where it cannot be made in this text."""
    try:
        return tuple(sorted(edits_of(repair)))
    except editing.NoEditError:
        return ()


def _mended(result: Result, findings: list[Finding], recheck: Callable[[SourceFile], Result]) -> _Pass:
    """One pass: all fixes at once, or where that goes wrong those that do no harm."""
    if not findings:
        return _Pass(result.source.text, [], [])
    refused: list[Refusal] = []
    attempts = list(_apart(_attempts(findings, refused)))
    kept, harmful = _sifted(result, [], attempts, recheck=recheck)
    return _Pass(_text(result, kept), [attempt.finding for attempt in kept], [*refused, *harmful])


def _sifted(
    result: Result, kept: list[_Attempt], more: list[_Attempt], *, recheck: Callable[[SourceFile], Result]
) -> tuple[list[_Attempt], list[Refusal]]:
    """The attempts that can be made beside those that are kept, and the others; by halving, as few do harm."""
    harm = _harm(result, [*kept, *more], recheck) if more else ""
    if not harm:
        return [*kept, *more], []
    if len(more) == 1:
        return kept, [Refusal(more[0].finding, harm)]
    middle = len(more) // 2
    kept, first = _sifted(result, kept, more[:middle], recheck=recheck)
    kept, second = _sifted(result, kept, more[middle:], recheck=recheck)
    return kept, [*first, *second]


def _attempts(findings: list[Finding], refused: list[Refusal]) -> Iterator[_Attempt]:
    for finding in findings:
        assert finding.repair is not None  # noqa: S101 (only such findings are asked for)
        try:
            yield _Attempt(finding, finding.repair, edits_of(finding.repair))
        except editing.NoEditError as error:
            refused.append(Refusal(finding, str(error)))


def _apart(attempts: Iterable[_Attempt]) -> Iterator[_Attempt]:
    """Those whose edits touch none of an earlier one; the others have their turn in the next pass."""
    taken: list[Edit] = []  # in order; none overlaps another
    for attempt in attempts:
        if not any(_touches(edit, taken) for edit in attempt.edits):
            for edit in attempt.edits:
                insort(taken, edit)
            yield attempt


def _touches(edit: Edit, taken: list[Edit]) -> bool:
    """Whether an edit is about the same characters as another; what is added at the same place is, too."""
    at = bisect_left(taken, edit)
    return any(edit.start <= other.end and other.start <= edit.end for other in taken[max(0, at - 1) : at + 1])


def _text(result: Result, attempts: list[_Attempt]) -> str:
    return editing.with_edits(result.source.text, [edit for attempt in attempts for edit in attempt.edits])


def _harm(result: Result, attempts: list[_Attempt], recheck: Callable[[SourceFile], Result]) -> str:
    """Why the text with the fixes is not what was intended; empty where it is."""
    mended = SourceFile(result.source.name, _text(result, attempts))
    if not _means(mended, result.source, [attempt.repair for attempt in attempts]):
        return "the text would not mean what the fix intends"
    added = _added(_refusals(result), _refusals(recheck(mended)))
    return f"the API server would then refuse more: {', '.join(added)}" if added else ""


def _means(mended: SourceFile, source: SourceFile, repairs: list[Repair]) -> bool:
    """Whether the documents are those that were there, changed as intended; what was no document may be one now."""
    expected, problems = _documents(source)
    for repair in repairs:
        if repair.document is not None:
            number = repair.document.root.start
            expected[number] = editing.changed(expected[number], repair.fix.changes)
    found, problems_left = _documents(mended)
    if problems_left > problems:
        return False
    remaining = iter(found.values())
    return all(_canonical(plain) in map(_canonical, remaining) for plain in expected.values())


def _documents(source: SourceFile) -> tuple[dict[int, Any], int]:
    """The plain values of the documents by where they start, and how many are not YAML."""
    composed = list(compose.compose(source))
    plain = {item.root.start: nodes.to_plain(item.root) for item in composed if isinstance(item, compose.Document)}
    return plain, len(composed) - len(plain)


def _canonical(plain: Any) -> str:
    """A text that tells 1 from true."""
    import json  # 5 ms

    return json.dumps(plain, sort_keys=True)


def _refusals(result: Result) -> Counter[tuple[ObjectRef, str]]:
    """What the API server would not take, by object and rule."""
    return Counter((item.object, item.rule.code) for item in result.findings if item.rule.severity is Severity.ERROR)


def _added(before: Counter[tuple[ObjectRef, str]], after: Counter[tuple[ObjectRef, str]]) -> list[str]:
    """The rules by which more is refused; what else an object has that could not be decoded is not new."""
    hidden = {name for name, code in before if code == _UNDECODABLE}
    return sorted({code for name, code in after - before if code == _UNDECODABLE or name not in hidden})
