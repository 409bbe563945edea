"""Lines of `check` about running workloads: one for each group of Pending pods."""

from __future__ import annotations

from typing import NamedTuple, Union

from kubectl_spread.explain.explanation import PodVerdict
from kubectl_spread.report.check.report import RunningResults
from kubectl_spread.report.documents import form, Plain, to_document
from kubectl_spread.report.explain.verdict import sentence
from kubectl_spread.report.table import paint
from kubectl_spread.simulate.running.problems import LostPods, UncreatedPods, WaitingGroup
from kubectl_spread.text.wording import comma_list, count_noun, safe

_MOST_PODS = 4


class WorkloadLine(NamedTuple):
    """A line about a running workload; is_failure: it makes the check fail."""

    label: str
    subject: str
    sentence: str
    is_failure: bool = True

    @property
    def text(self) -> str:
        return f"{self.label}: {self.sentence}"


def entries(running: RunningResults) -> list[WorkloadLine]:
    """Return the lines about running workloads, in order."""
    return [
        *map(waiting_line, running.waiting),
        *(WorkloadLine("Lost", _name(item), _lost(item)) for item in running.lost),
        *(WorkloadLine("Not created", _name(item), _uncreated(item)) for item in running.uncreated),
    ]


def lines(running: RunningResults, *, colour: bool) -> list[str]:
    """Return one line for each entry."""
    return [
        f"{paint(f'{item.label}:', 'red', colour=colour) if item.is_failure else f'{item.label}:'} {item.sentence}"
        for item in entries(running)
    ]


def document(running: RunningResults) -> Plain:
    """Return the same for a CheckReport."""
    return to_document(running, "pending=waiting onMissingNodes=lost notCreated=uncreated")


form(
    WaitingGroup,
    "object=key pods verdict=explanation.verdict message=explanation.message cause",
    pods=lambda item: [item.explanation.pod.name, *item.explanation.others],
    cause=lambda item: sentence(item.explanation),
)
form(LostPods, "object=key node pods")
form(UncreatedPods, "object=key count=number replicas=wanted message")


def _lost(item: LostPods) -> str:
    noun, them = ("pod", "it") if len(item.pods) == 1 else ("pods", "them")
    names = safe(comma_list(item.pods, most=_MOST_PODS))
    return (
        f"{noun} {names} of {_name(item)}: node {safe(item.node)} does not exist, so no kubelet runs {them}; "
        f"the pod garbage collector deletes {them}"
    )


def _uncreated(item: UncreatedPods) -> str:
    return f"{item.number} of {item.wanted} pods of {_name(item)}: {safe(item.message)}"


def waiting_line(item: WaitingGroup) -> WorkloadLine:
    """Return the line about Pending pods of a workload."""
    is_schedulable = item.explanation.verdict is PodVerdict.SCHEDULABLE
    label = "Not scheduled yet" if is_schedulable else "Pending"
    return WorkloadLine(label, _name(item), _waiting(item), not is_schedulable)


def _waiting(item: WaitingGroup) -> str:
    more = len(item.explanation.others)
    text = sentence(item.explanation).removesuffix(".")
    return f"{text} (and {count_noun(more, 'more pod')} of {_name(item)})" if more else text


def _name(item: Union[WaitingGroup, LostPods, UncreatedPods]) -> str:
    return safe(f"{item.key.kind.lower()}/{item.key.name}")
