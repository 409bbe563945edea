"""JUnit's XML: a suite for each group, a case for each rule in each regime."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kubectl_spread.errors import SourceError
from kubectl_spread.guarantee.policy.wording import rule_text
from kubectl_spread.guarantee.verdict import GroupResult, ProofStatus, RuleVerdict
from kubectl_spread.report.guarantee import words
from kubectl_spread.report.junit import Case, document, Result, Suite


def junit(title: str, groups: Sequence[GroupResult], errors: Iterable[SourceError] = ()) -> str:
    """Return the document; a rule that is not decided is skipped, with the reason."""
    suites = [
        Suite(
            group.name,
            [_case(verdict, words.REGIMES[item.regime]) for item in group.results for verdict in item.rules],
            ("failures", "skipped"),
        )
        for group in groups
    ]
    problems = [Case("input", [Result("error", {"message": str(error)})]) for error in errors]
    if problems:
        suites.append(Suite("inputs", problems, ("errors",)))
    return document(f"kubectl spread guarantee {title}", suites)


def _case(verdict: RuleVerdict, regime: str) -> Case:
    name = f"{rule_text(verdict.rule)}: {regime}"
    if verdict.verdict is ProofStatus.REFUTED and verdict.witness is not None:
        settled = verdict.once_settled
        witness = settled.witness or verdict.witness
        answer = f"{words.VERDICTS[settled.verdict]} {words.SETTLED}; {words.MOVING}: " if not settled.witness else ""
        attributes = {"type": verdict.rule.kind.value, "message": f"{answer}{words.violation(witness)}"}
        way = "\n".join(filter(None, [words.coincidence(witness), *words.story(witness)]))
        return Case(name, [Result("failure", attributes, way)])
    if verdict.verdict is ProofStatus.UNDECIDED:
        why = f"after {verdict.states:,} states" if verdict.states else _NOT_SIMULATED
        return Case(name, [Result("skipped", {"message": f"not decided {why}"})])
    if verdict.verdict is ProofStatus.NOT_APPLICABLE:
        return Case(name, [Result("skipped", {"message": "the number of replicas has no range"})])
    return Case(name)


_NOT_SIMULATED = "because it depends on something that is not simulated"
