"""Words that the forms of a simulation's answer share."""

from __future__ import annotations

from typing import Optional

from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.timeline.results.domain_pods import Range
from kubectl_spread.timeline.results.summary import Ending, StepSummary, Verdict

_MOST_DOMAINS = 12
VERDICTS = {
    Verdict.COMPLETES: "completes",
    Verdict.NOT_KNOWN: "not known",
    Verdict.MAY_GET_STUCK: "may get stuck",
    Verdict.GETS_STUCK: "gets stuck",
}


def span(found: Range) -> str:
    """Return `2`, or `1 to 2`."""
    return str(found.least) if found.least == found.most else f"{found.least} to {found.most}"


def plural(number: int, noun: str) -> str:
    """Return `1 pod`, `2 pods`, with commas between thousands."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def pods(found: Range) -> str:
    """Return `1 pod`, `1 to 2 pods`."""
    return f"{span(found)} pod" if found == Range(1, 1) else f"{span(found)} pods"


def name(key: Optional[OwnerKey]) -> str:
    """Return `Deployment shop/web`."""
    return "" if key is None else f"{key.kind} {key.namespace}/{key.name}"


def share(part: int, whole: int) -> str:
    """Return the share of outcomes: `in 2 of 3 outcomes`; empty if there is only one outcome."""
    if whole < 2:
        return ""
    return "in every outcome" if part == whole else f"in {part:,} of {whole:,} outcomes"


def depends_on(gap: str) -> str:
    """Return a line about something that makes the verdict `not known`."""
    return f"not simulated, and the outcome depends on it: {gap}"


def sampled(step: StepSummary) -> str:
    """Return the words before numbers that hold for some outcomes only; empty if all outcomes are known."""
    return "" if step.is_exact else "in the sampled runs " if step.runs > 1 else "in one sampled run "


def certainty(step: StepSummary) -> str:
    """Return the extent of the search, and the limits of its answer."""
    visited = f"({plural(step.states, 'state')} visited)"
    if not step.endings:
        return f"The search ended before it found an outcome {visited}."
    if step.is_exact:
        return f"{_found(step)} {visited}."
    if not step.runs:
        return f"Other outcomes are possible {visited}."
    most = max(step.endings, key=lambda ending: ending.runs)
    how = f"{most.runs:,} of {step.runs:,} sampled runs end" if step.runs > 1 else "The one sampled run ends"
    return f"{how} {_numbers(most)}; other outcomes are possible {visited}."


def _numbers(ending: Ending) -> str:
    """Return the pods in each domain, `2-2-2`, if the ending is about one workload with few domains; else `so`."""
    for by_key in list(ending.counts.values())[:1] if len(ending.counts) == 1 else ():
        for topology_key, counts in by_key.items():
            values = ending.domains[topology_key]
            if len(values) <= _MOST_DOMAINS:
                return "-".join(str(sum(counts.get(value, {}).values())) for value in values)
    return "so"


def _found(step: StepSummary) -> str:
    number = len(step.endings)
    if number > 1:
        return f"There are {number:,} different outcomes, all of them found"
    ranges = [domain.after for item in step.workloads for spread in item.spreads for domain in spread.domains]
    if any(found.least < found.most for found in ranges):
        return "There is one outcome, apart from the names of interchangeable domains"
    return "There is one outcome"
