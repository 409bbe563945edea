"""The page of `guarantee -o html`: the verdict on each rule, and the way to each violation, event by event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Optional

from kubectl_spread.cluster.snapshot import Cluster, OwnerKey
from kubectl_spread.errors import SourceError
from kubectl_spread.guarantee.recommendation.result import Recommendation
from kubectl_spread.guarantee.verdict import GroupResult, ProofStatus, RuleVerdict, worst
from kubectl_spread.guarantee.witness import Witness
from kubectl_spread.policy.policy import Regime
from kubectl_spread.policy.rule import RuleKind
from kubectl_spread.policy.wording import domain, rule_text
from kubectl_spread.report.guarantee import gaps, recommendation, words
from kubectl_spread.report.pages import page
from kubectl_spread.report.pages.charts import bars, Chart
from kubectl_spread.report.pages.frames import frames_of
from kubectl_spread.report.pages.witness import WitnessArtist
from kubectl_spread.report.simulation.words import name
from kubectl_spread.report.table import Style
from kubectl_spread.text.wording import count_noun

Plain = dict[str, Any]

_TONES = {
    ProofStatus.PROVED: "good",
    ProofStatus.REFUTED: "bad",
    ProofStatus.UNDECIDED: "warn",
    ProofStatus.NOT_APPLICABLE: "soft",
}
_MOST_MOMENTS = 60
_WIDTH = 100


def render(
    title: str,
    groups: Sequence[tuple[GroupResult, Optional[Recommendation]]],
    cluster: Cluster,
    source: page.PageSource,
    *,
    errors: Sequence[SourceError] = (),
    skipped: Sequence[OwnerKey] = (),
) -> str:
    """Return the page; `title` is the policy's name."""
    verdict = worst([result.verdict for result, _ in groups])
    answer = words.policy_verdict(verdict, worst([result.settled_verdict for result, _ in groups]))
    return page.render(
        "guarantee.html",
        source,
        script="steps.js",
        title=f"Policy {title}: {answer}",
        tone=_TONES[verdict],
        groups=[_group(result, found, cluster) for result, found in groups],
        errors=[str(error) for error in errors],
        skipped=list(map(name, skipped)),
    )


def _group(result: GroupResult, found: Optional[Recommendation], cluster: Cluster) -> Plain:
    rules = range(len(result.results[0].rules) if result.results else 0)
    by_rule = [[(item.regime, item.rules[at]) for item in result.results] for at in rules]
    lines = [] if found is None else [*recommendation.blocks(found, result, Style(_WIDTH))]
    return {
        "name": result.name,
        "workloads": [name(key) for key in result.workloads],
        "pods": count_noun(result.pods, "pod"),
        "badge": words.policy_verdict(result.verdict, result.settled_verdict),
        "tone": _TONES[result.verdict],
        "regimes": [words.REGIMES[item.regime] for item in result.results],
        "rows": [
            {
                "rule": ", ".join(filter(None, (rule_text(verdicts[0][1].rule), when))),
                "cells": [(words.VERDICTS[item.verdict], _TONES[item.verdict]) for _, item in verdicts],
            }
            for both in by_rule
            for when, verdicts in words.answers(both)
        ],
        "rules": [_rule(verdicts, result, cluster) for verdicts in by_rule],
        "notes": [gaps.sentence(gap) for gap in result.gaps],
        "recommendation": "\n\n".join("\n".join(block) for block in lines if block),
    }


def _rule(verdicts: words.Verdicts, result: GroupResult, cluster: Cluster) -> Plain:
    """Return how a rule was decided, and the way to a violation: to one that stays, if there is one."""
    proofs: dict[tuple[str, str], list[Regime]] = {}
    answers = words.answers(verdicts)
    for when, found in answers:
        for regime, item in found:
            if item.verdict is not ProofStatus.NOT_APPLICABLE:
                proofs.setdefault((when, _how(item)), []).append(regime)
    refuted = next((item for _, found in answers for _, item in found if item.witness is not None), None)
    return {
        "title": rule_text(verdicts[0][1].rule),
        "proofs": [
            f"{when}, {words.regimes_text(regimes)}: {text}" if when else f"{words.regimes_text(regimes)}: {text}"
            for (when, text), regimes in proofs.items()
        ],
        "way": None if refuted is None else _way(refuted, result, cluster),
    }


def _how(item: RuleVerdict) -> str:
    if item.verdict is ProofStatus.PROVED:
        return f"proved: {words.proof(item)}"
    if item.verdict is ProofStatus.REFUTED:
        return "refuted"
    if not item.states:
        return "not decided: it depends on something that is not simulated"
    return f"not decided: no violation in {item.states:,} visited states"


def _way(item: RuleVerdict, result: GroupResult, cluster: Cluster) -> Plain:
    """Return the way to a violation: its moments, and the pods per domain at its end."""
    witness = item.witness
    assert witness is not None  # noqa: S101 (the caller has looked)
    artist = WitnessArtist(witness, result.workloads, cluster, item.rule.topology_key)
    begin = "the running pods" if witness.from_running else "no pods"
    how = "The shortest way there" if witness.is_shortest else "A way there"
    moments = list(artist.moments(f"At the start: {begin}"))
    size = -(-len(moments) // _MOST_MOMENTS)
    shown = [
        {"sentences": [text for texts, _ in together for text in texts], "drawing": together[-1][1], "skews": []}
        for together in (moments[at : at + size] for at in range(0, len(moments), size))
    ]
    return {
        "violation": words.violation(witness),
        "title": f"{how}, from {begin}, event by event",
        "notes": [line for line in (words.coincidence(witness), words.surge(witness)) if line],
        "run": frames_of(shown),
        "legend": artist.legend(),
        "last": moments[-1][1],
        "charts": list(_charts(witness, item)),
        "waiting": [f"{count_noun(pods.number, 'pod')} of {name(pods.owner)} Pending" for pods in witness.waiting],
    }


def _charts(witness: Witness, item: RuleVerdict) -> Iterator[Chart]:
    """Yield the pods per domain at the end of a way, with the limit of the rule if it has one for each domain."""
    rule = item.rule
    has_limit = rule.kind in (RuleKind.MAX_SHARE, RuleKind.MAX_COUNT)
    limit = witness.evaluation.limit if has_limit else None
    for key, counts in witness.counts.items():
        yield _chart(f"Pods by {domain(key)}", counts, limit)


def _chart(title: str, counts: Mapping[str, int], limit: Optional[int]) -> Chart:
    most = max(counts.values(), default=0)
    is_over = limit is not None and most > limit
    least = min(counts.values(), default=0)
    drawn = tuple(bars(counts, limit))
    badge = ("above the limit", "bad") if is_over else ("", "")
    scale = max(most, limit or 0, 1)
    return Chart(
        title, *badge, "", "", drawn, scale, least, limit, True, "emptiest domain", "most that the rule allows"
    )
