"""JUnit's XML: a suite for each group, a case for each rule in each regime."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

from kubectl_spread.errors import SourceError
from kubectl_spread.guarantee.policy.wording import rule_text
from kubectl_spread.guarantee.verdict import GroupResult, ProofStatus, RuleVerdict
from kubectl_spread.report.guarantee import words
from kubectl_spread.report.junit import case, Suites


def junit(title: str, groups: Sequence[GroupResult], errors: Iterable[SourceError] = ()) -> str:
    """Return the document; a rule that is not decided is skipped, with the reason."""
    suites = Suites(f"kubectl spread guarantee {title}")
    for group in groups:
        verdicts = [verdict for item in group.results for verdict in item.rules]
        failures = sum(item.verdict is ProofStatus.REFUTED for item in verdicts)
        skipped = sum(item.verdict in (ProofStatus.UNDECIDED, ProofStatus.NOT_APPLICABLE) for item in verdicts)
        suite = suites.suite(group.name, tests=len(verdicts), failures=failures, skipped=skipped)
        for item in group.results:
            for verdict in item.rules:
                _case(suite, verdict, group.name, regime=words.REGIMES[item.regime])
    problems = [str(error) for error in errors]
    if problems:
        suite = suites.suite("inputs", tests=len(problems), errors=len(problems))
        for problem in problems:
            case(suite, "input", of="inputs", result="error", message=problem)
    return str(suites)


def _case(suite: ET.Element, verdict: RuleVerdict, group: str, *, regime: str) -> None:
    name = f"{rule_text(verdict.rule)}: {regime}"
    if verdict.verdict is ProofStatus.REFUTED and verdict.witness is not None:
        settled = verdict.once_settled
        is_kept = settled.witness is None
        witness = settled.witness or verdict.witness
        answer = f"{words.VERDICTS[settled.verdict]} {words.SETTLED}; {words.MOVING}: " if is_kept else ""
        message = f"{answer}{words.violation(witness)}"
        way = "\n".join(filter(None, [words.coincidence(witness), *words.story(witness)]))
        case(suite, name, of=group, result="failure", text=way, type=verdict.rule.kind.value, message=message)
    elif verdict.verdict is ProofStatus.UNDECIDED:
        why = f"after {verdict.states:,} states" if verdict.states else _NOT_SIMULATED
        case(suite, name, of=group, result="skipped", message=f"not decided {why}")
    elif verdict.verdict is ProofStatus.NOT_APPLICABLE:
        case(suite, name, of=group, result="skipped", message="the number of replicas has no range")
    else:
        case(suite, name, of=group)


_NOT_SIMULATED = "because it depends on something that is not simulated"
