"""JUnit's XML: a suite for each group, a case for each rule in each regime."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence

from kubectl_spread.errors import SourceError
from kubectl_spread.guarantee.verdict import GroupResult, ProofStatus, RuleVerdict
from kubectl_spread.policy.wording import rule_text
from kubectl_spread.report.guarantee import words


def junit(title: str, groups: Sequence[GroupResult], errors: Iterable[SourceError] = ()) -> str:
    """Return the document; a rule that is not decided is skipped, with the reason."""
    root = ET.Element("testsuites", name=_text(f"kubectl spread guarantee {title}"))
    for group in groups:
        _suite(root, group)
    problems = [str(error) for error in errors]
    if problems:
        suite = ET.SubElement(root, "testsuite", name="inputs", tests=str(len(problems)), errors=str(len(problems)))
        for problem in problems:
            case = ET.SubElement(suite, "testcase", name="input", classname="inputs")
            ET.SubElement(case, "error", message=_text(problem))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode")


def _suite(root: ET.Element, group: GroupResult) -> None:
    verdicts = [verdict for item in group.results for verdict in item.rules]
    failed = sum(item.verdict is ProofStatus.REFUTED for item in verdicts)
    skipped = sum(item.verdict in (ProofStatus.UNDECIDED, ProofStatus.NOT_APPLICABLE) for item in verdicts)
    numbers = {"tests": str(len(verdicts)), "failures": str(failed), "skipped": str(skipped)}
    suite = ET.SubElement(root, "testsuite", {"name": _text(group.name), **numbers})
    for item in group.results:
        for verdict in item.rules:
            _case(suite, verdict, group.name, regime=words.REGIMES[item.regime])


def _case(suite: ET.Element, verdict: RuleVerdict, group: str, *, regime: str) -> None:
    name = f"{rule_text(verdict.rule)}: {regime}"
    case = ET.SubElement(suite, "testcase", name=_text(name), classname=_text(group))
    if verdict.verdict is ProofStatus.REFUTED and verdict.witness is not None:
        settled = verdict.once_settled
        is_kept = settled.witness is None
        witness = settled.witness or verdict.witness
        answer = f"{words.VERDICTS[settled.verdict]} {words.SETTLED}; {words.MOVING}: " if is_kept else ""
        message = f"{answer}{words.violation(witness)}"
        failure = ET.SubElement(case, "failure", type=verdict.rule.kind.value, message=_text(message))
        failure.text = _text("\n".join(filter(None, [words.coincidence(witness), *words.story(witness)])))
    elif verdict.verdict is ProofStatus.UNDECIDED:
        why = (
            f"after {verdict.states:,} states"
            if verdict.states
            else "because it depends on something that is not simulated"
        )
        ET.SubElement(case, "skipped", message=f"not decided {why}")
    elif verdict.verdict is ProofStatus.NOT_APPLICABLE:
        ET.SubElement(case, "skipped", message="the number of replicas has no range")


def _text(text: str) -> str:
    """Return text without the characters that XML cannot hold."""
    return "".join(char if char.isprintable() or char in "\n\t" else "?" for char in text)
