"""Rollouts in a check: whether each completes, and the way in which it gets stuck; loads numpy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.results.summary import PlayedStep, StepSummary, Verdict
from kubectl_spread.engine.state import EventKind
from kubectl_spread.explain.explanation import Explanation
from kubectl_spread.explain.placement import Placement
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.report.documents import form, Plain, plain, to_document
from kubectl_spread.report.explain.verdict import cause
from kubectl_spread.report.simulation import held, VERDICTS, way_to_get_stuck
from kubectl_spread.report.table import paint
from kubectl_spread.report.wording import numbered, resource, share, together
from kubectl_spread.text.wording import comma_list, count_noun, join_with_and, safe


class RolloutKind(Enum):
    """Rollout in question."""

    CREATION = "creation"  # new workloads are created together
    CHANGE = "change"  # a manifest changes a running workload
    CURRENT = "current"  # has begun already
    NEXT = "next"  # `kubectl rollout restart`, once the workload is complete


class RolloutResult(NamedTuple):
    """Verdict on a rollout.

    keys: the workloads; several only if they are created together. because: reason why the verdict is not known.
    played: the simulated step, with the shortest way to get stuck. explanation: of a pod that stays Pending at the end
    of that way. old: number of pods that a current rollout has to replace. copy: 0 for the first manifest of each
    workload, 1 for the next one of the same name.
    """

    keys: tuple[ObjectKey, ...]
    kind: RolloutKind
    verdict: Verdict
    basis: Basis
    because: str = ""
    played: Optional[PlayedStep] = None
    explanation: Optional[Explanation] = None
    old: int = 0
    copy: int = 0

    @property
    def key(self) -> ObjectKey:
        return self.keys[0]

    @property
    def is_creation(self) -> bool:
        return self.kind is RolloutKind.CREATION

    @property
    def is_stuck(self) -> bool:
        """Return whether the rollout gets stuck in some outcome or in all."""
        return self.verdict in (Verdict.MAY_GET_STUCK, Verdict.GETS_STUCK)

    def is_stuck_change(self, placement: Placement) -> bool:
        """Return whether pods that all run have another template in a manifest, and a pod of it finds no node."""
        return self.kind is RolloutKind.CHANGE and self.explanation is not None and not placement.new

    @property
    def is_exact(self) -> bool:
        """Return whether the verdict holds for every possible outcome."""
        return self.basis.is_exact

    @property
    def summary(self) -> Optional[StepSummary]:
        return None if self.played is None else self.played.summary

    @property
    def first_removed_pod(self) -> str:
        """Return the name of the old pod that is deleted before a pod stays Pending; empty if none is."""
        witness = () if self.summary is None else self.summary.witness
        deleted = (event.pod for part in witness for event in part if event.kind is EventKind.DELETED)
        return next((name for name in deleted if not name.endswith("-*")), "")


_LABELS = {
    RolloutKind.CURRENT: "current rollout",
    RolloutKind.CHANGE: "rollout of the change",
    RolloutKind.NEXT: "next rollout",
}
_LIMIT = "the states for rollouts are used up; name fewer workloads"


def of_placement(result: RolloutResult, lines: Iterable[str], *, has_way: bool = True) -> list[str]:
    """Return the lines about the rollout of a placed workload, with the shortest way to get stuck if `has_way`.

    If the `lines` about its placement have the same cause, leave out both.
    """
    text = paint(_outcome(result), "red") if result.is_stuck else _outcome(result)
    label = _LABELS[result.kind].removeprefix("current ")  # a placed workload has no other
    reason, same = _why(result), _cause(result)
    if same and any(line.strip() == same.removeprefix(": ") for line in lines):
        return [f"  {label}: {text}{reason.removesuffix(same)}, for the same reason"]
    return [f"  {label}: {text}{reason}", *(_way(result) if has_way else ())]


def creations(results: Iterable[RolloutResult]) -> list[list[str]]:
    """Return a block of lines for each creation in which some pod may find no node."""
    found = (item for item in results if item.kind is RolloutKind.CREATION and item.is_stuck)
    return [[f"{paint(creation(item), 'red')}{_cause(item)}", *_way(item)] for item in found]


def creation(result: RolloutResult) -> str:
    """Return the first sentence about workloads whose creation may get stuck."""
    summary = result.summary
    assert summary is not None  # noqa: S101 (only a simulation finds it)
    pods = sorted({_pod(item.pod) for item in summary.waiting()})
    names = join_with_and(pods, word="or") or "a pod"
    if result.verdict is Verdict.GETS_STUCK:
        return f"In every order {names} finds no node"
    every = "" if summary.is_exact else " that were found"
    outcomes = f"{summary.stuck_endings} of {count_noun(len(summary.endings), 'outcome')}{every}"
    return f"In some orders {names} finds no node ({outcomes})"


def of_running(results: Iterable[RolloutResult]) -> list[str]:
    """Return the lines about rollouts of running workloads: problems one by one, the others together."""
    known = sorted(results, key=lambda item: not item.is_stuck)
    entries = []
    for item in known:
        if item.is_stuck or item.kind is RolloutKind.CURRENT:
            label, text = paint("Rollout:", "red") if item.is_stuck else "Rollout:", sentence(item)
            reason = text.replace(item.key.name, "")
            entries.append((reason, resource(item.key), [f"{label} {text}", *_way(item)]))
    fine = [item for item in known if item.kind is RolloutKind.NEXT and not item.is_stuck]
    return [*together(entries), *by_answer(fine)]


def sentence(result: RolloutResult) -> str:
    """Return one sentence about a rollout, with the name of its workload."""
    if result.kind is RolloutKind.CREATION:
        return f"{creation(result)}{_cause(result)}"
    old = f" ({count_noun(result.old, 'old pod')} left)" if result.kind is RolloutKind.CURRENT else ""
    which = f"the {_LABELS[result.kind]}{old}"
    return f"{safe(resource(result.key))} in {safe(result.key.namespace)}: {which} {_outcome(result)}{_why(result)}"


def by_answer(results: Sequence[RolloutResult]) -> Iterator[str]:
    """Yield a line for each kind of answer, in words that many workloads share, with the names of its workloads."""
    named: dict[str, Counter[str]] = {}
    seen = Counter(resource(key) for key in {item.key for item in results})
    for item in results:
        text = "completes in every simulated run (other outcomes are possible)"
        if item.verdict is Verdict.NOT_KNOWN or item.is_exact:
            text = _outcome(item)
        where = f" in {item.key.namespace}" if seen[resource(item.key)] > 1 else ""
        named.setdefault(f"{_LABELS[item.kind].capitalize()} {text}", Counter())[f"{resource(item.key)}{where}"] += 1
    for text, names in named.items():
        copies = [f"{name} ({number} copies)" if number > 1 else name for name, number in names.items()]
        yield f"{text}: {safe(comma_list(copies))}"


def _outcome(result: RolloutResult) -> str:
    """Return the verdict, with the part of the outcomes for which it holds."""
    summary = result.summary
    if result.verdict is Verdict.NOT_KNOWN:
        reason = f"it depends on {result.because}" if result.because else _LIMIT
        return f"is not known ({safe(reason)})"
    if result.verdict not in (Verdict.COMPLETES, Verdict.GETS_STUCK):
        some = "" if summary is None else share(summary.stuck_endings, len(summary.endings))
        return f"may get stuck, {some}{'' if result.is_exact else ' that were found'}"
    where = "in every outcome"
    if summary is not None and not result.is_exact:
        runs = "one simulated run" if summary.runs < 2 else f"all of {summary.runs} simulated runs"
        where = f"in {runs} (other outcomes are possible)"
    return f"{VERDICTS[result.verdict]} {where}"


def _why(result: RolloutResult) -> str:
    """Return the pod of the rollout that stays Pending, with the cause, or why the API server refuses its pods."""
    summary = result.summary
    if not result.is_stuck or summary is None:
        return ""
    if summary.is_endless:
        return ", because pods are replaced again and again"
    pods = [item.name for item in summary.stuck if item.owner in result.keys]
    pods += [item.pod for item in summary.waiting() if item.owner in result.keys]
    if pods:
        return f", because {_pod(pods[0])} stays Pending{_cause(result)}"
    own = [item for item in summary.workloads if item.key in result.keys]
    refusals = [item.refusal or item.refused for item in own]
    reasons = [f"the API server refuses new pods: {text}" for text in refusals if text]
    reasons += [held(pod) for item in own for pod in item.held]
    return f", because {safe(reasons[0])}" if reasons else ""


def _pod(name: str) -> str:
    return f"a new pod of {safe(name.removesuffix('-*'))}" if name.endswith("-*") else safe(name)


def _cause(result: RolloutResult) -> str:
    return "" if result.explanation is None else f": {cause(result.explanation)}"


def _way(result: RolloutResult) -> list[str]:
    """Return the way to get stuck, step by step; empty if a rollout completes, or for a single step."""
    sentences = list(map(safe, _sentences(result, is_detailed=False)))
    if len(sentences) < 2:
        return []
    return [f"    {text}" for text in numbered(sentences, where="`simulate` prints all")]


def _sentences(result: RolloutResult, *, is_detailed: bool = True) -> list[str]:
    """Return the events after the user's step. Without `--details`, leave out events that others cause."""
    played = result.played
    if played is None or not (result.is_stuck and played.summary.witness):
        return []
    sentences = way_to_get_stuck(played, (), is_detailed=is_detailed)
    return sentences[1:] if is_detailed else sentences  # the first one tells the step itself


def documents(results: Iterable[RolloutResult]) -> Plain:
    """Return the rollouts for a CheckReport."""
    known = list(results)
    stuck, under_way = [], []
    for item in known:
        found, pods = item.explanation, () if item.summary is None else item.summary.stuck
        if item.kind in (RolloutKind.NEXT, RolloutKind.CHANGE) and item.is_stuck:
            message, why = ("", "unknown") if found is None else (found.message, cause(found))
            fields = "object=key removedFirst?=first_removed_pod message cause"
            stuck.append(to_document(item, fields, message=message, cause=why))
        elif item.kind is RolloutKind.CURRENT and item.verdict is not Verdict.NOT_KNOWN:
            pod = next(iter(pods), None)
            fields = "object=key end=verdict oldPods=old pending message"
            under_way.append(to_document(item, fields, pending=pod and pod.name, message=pod and pod.message))
    return {"stuckRollouts": stuck, "rolloutsUnderWay": under_way, "rollouts": plain(known)}


form(
    RolloutResult,
    "objects=keys rollout=kind verdict basis exact dependsOn?=because search pending cause witness",
    search=lambda item: (
        item.summary
        and to_document(
            item.summary,
            "outcomes stuckOutcomes states runs",
            outcomes=len(item.summary.endings),
            stuckOutcomes=item.summary.stuck_endings,
        )
    ),
    pending=lambda item: (
        []
        if item.summary is None
        else [to_document(pods, "object=owner pod message outcomes") for pods in item.summary.waiting()]
    ),
    cause=lambda item: None if item.explanation is None or not item.is_stuck else cause(item.explanation),
    witness=_sentences,
)
