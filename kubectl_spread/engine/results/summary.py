"""Summary of a step's outcomes per workload, domain and revision."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from enum import Enum
from functools import cached_property
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.caching import cached_method
from kubectl_spread.containers import grouped, Numbering
from kubectl_spread.engine.results.answer import Moment, Outcome, PodState, TraceEvent
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.results.domain_pods import domain_pods, DomainPods
from kubectl_spread.engine.run import PartAnswer, StepAnswer
from kubectl_spread.objects.keys import ObjectKey, Range, range_of, sum_of
from kubectl_spread.objects.node import nodes_by_pool, NodesOfPool
from kubectl_spread.objects.selectors import HOSTNAME, ZONE

if TYPE_CHECKING:
    from kubectl_spread.advice.change import Suggestion


class Frame(NamedTuple):
    """Events that happen at once, and the moment after them."""

    events: tuple[TraceEvent, ...]
    moment: Moment


class StepFrames(NamedTuple):
    """The moments of a step.

    before: the beginning of the run. run: one run, event by event. endings: the first outcomes, in the order of the
    summary.
    """

    before: Moment
    run: tuple[Frame, ...]
    endings: tuple[Moment, ...]


MOST_DRAWN_ENDINGS = 12


class Verdict(Enum):
    """Verdict on a step or a workload: completes in all, in some or in no outcomes found, from best to worst."""

    COMPLETES = "completes"
    NO_WORSE = "noWorse"  # in some outcome a workload stays incomplete, but lacks no more than before
    NOT_KNOWN = "notKnown"  # no outcome was found, or something that changes the outcomes is not simulated
    MAY_GET_STUCK = "mayGetStuck"
    GETS_STUCK = "getsStuck"


class WorkloadSpread(NamedTuple):
    """Pods of a workload per domain of one topology key.

    The skew is the most pods that the constraint counts in a domain, minus the fewest.
    on_the_way: the largest skew; None if no constraint of the workload has the key. is_balanced: a constraint counts
    all these pods, so that the skew means something. also_counted: other workloads whose pods the skew counts.
    is_of_revision: it counts the pods of one revision only.
    """

    topology_key: str
    domains: tuple[DomainPods, ...]
    before: Range
    after: Range
    on_the_way: Optional[int]
    is_balanced: bool = True
    also_counted: tuple[ObjectKey, ...] = ()
    is_of_revision: bool = False


class WorkloadSummary(NamedTuple):
    """Summary of a workload that takes part in a step.

    is_concerned: the step names or changes it. is_deleted, is_paused: in every outcome. revision: number of its target
    revision. restarted: number of pods from the start that are gone. fewest_ready: minimum during the step. refusal:
    the API server's message if it refuses new pods in some outcome. has_failed: a Job fails in some outcome.
    terminating: number of the restarted pods that still exist, because their nodes do not answer or a finalizer holds
    them. held: those of a StatefulSet, which creates no other pods of their names. astray: pods that were on nodes
    which the cluster facts lack. refused: the API server's message if it refuses new pods on the way. out_of_reach:
    number of a DaemonSet's pods on nodes that do not answer. pending_before: as pending.
    """

    key: ObjectKey
    verdict: Verdict
    is_concerned: bool
    is_deleted: bool
    is_paused: bool
    was_complete: bool
    desired: Range
    ready_before: Range
    ready: Range
    updated: Range
    pending: Range
    not_created: Range
    restarted: Range
    fewest_ready: int
    revision: int
    spreads: tuple[WorkloadSpread, ...]
    refusal: str = ""
    has_failed: bool = False
    terminating: Range = Range(0, 0)
    held: tuple[PodState, ...] = ()
    astray: tuple[PodState, ...] = ()
    refused: str = ""
    out_of_reach: Range = Range(0, 0)
    pending_before: Range = Range(0, 0)


class PendingPods(NamedTuple):
    """Pods that stay Pending with the same message; outcomes: number of these, pods: number in each."""

    owner: Optional[ObjectKey]
    pod: str
    is_new: bool
    message: str
    pods: Range
    outcomes: int


class BlockedEviction(NamedTuple):
    """A pod that is to be evicted and does not leave its node; outcomes: number of outcomes with it."""

    owner: Optional[ObjectKey]
    pod: str
    node: str
    cause: str
    outcomes: int


class Ending(NamedTuple):
    """A distinct outcome.

    counts: pods by workload, topology key, domain and revision, of domains that have any. domains: all domains of each
    topology key. runs: number of random runs that end so. incomplete: workloads that lack pods or updates. lost: names
    of pods without a controller that are gone.
    """

    is_complete: bool
    is_endless: bool
    counts: dict[ObjectKey, dict[str, dict[str, dict[int, int]]]]
    domains: dict[str, tuple[str, ...]]
    pending: tuple[PodState, ...]
    runs: int = 0
    incomplete: frozenset[ObjectKey] = frozenset()
    lost: tuple[str, ...] = ()


class StepSummary(NamedTuple):
    """Summary of one step.

    basis: whether all outcomes were found, or why the verdict is not known. is_endless: in some outcome pods are
    replaced forever. states: number of visited states. runs: number of random runs. lost: pods without a controller
    that are gone in some outcome, and that no controller creates again. gaps: what changes the outcome and is not
    simulated. is_start_exact: all outcomes of the steps before were found. outcomes: their number, also if a user
    cannot tell them apart. witness: a shortest path to an outcome that does not complete, over this step and the
    previous ones. begin: pods at the start of that path. stuck: Pending pods at its end. together: pods of all
    concerned workloads, if there are several. frames: for drawing, on request. scheduled: pods without a controller
    that had no node before and have one in every outcome, with these nodes. is_blocked: in every outcome an evicted pod
    does not leave. unreached: workloads without an outcome found in time. added: nodes that a provisioner adds.
    """

    verdict: Verdict
    basis: Basis
    is_endless: bool
    states: int
    runs: int
    workloads: tuple[WorkloadSummary, ...]
    refused: tuple[BlockedEviction, ...]
    lost: tuple[str, ...]
    endings: tuple[Ending, ...]
    witness: tuple[tuple[TraceEvent, ...], ...] = ()
    begin: tuple[PodState, ...] = ()
    stuck: tuple[PodState, ...] = ()
    together: tuple[WorkloadSpread, ...] = ()
    frames: Optional[StepFrames] = None
    gaps: tuple[str, ...] = ()
    is_start_exact: bool = True
    scheduled: tuple[tuple[str, tuple[str, ...]], ...] = ()
    outcomes: int = 0
    is_blocked: bool = False
    unreached: tuple[ObjectKey, ...] = ()
    added: tuple[NodesOfPool, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Return whether the numbers hold for all outcomes, and not only the verdict."""
        return self.basis in (Basis.ALL_OUTCOMES, Basis.EVERY_ORDER)

    @property
    def stuck_endings(self) -> int:
        """Return the number of distinct outcomes that are not complete."""
        return sum(not ending.is_complete for ending in self.endings)

    def waiting(self, *, has_names: bool = True) -> list[PendingPods]:
        """Return the Pending pods; without names, those of a workload with one message are one entry."""
        numbers: dict[tuple[Optional[ObjectKey], str, bool, str], dict[int, int]] = {}
        for at, ending in enumerate(self.endings):
            for pod in ending.pending:
                is_named = has_names or pod.owner is None
                kind = (pod.owner, pod.name if is_named else "", is_named and not pod.is_original, pod.message)
                of_ending = numbers.setdefault(kind, {})
                of_ending[at] = of_ending.get(at, 0) + 1
        return [PendingPods(*kind, range_of(found.values()), len(found)) for kind, found in numbers.items()]


def summarize(
    step: StepAnswer,
    concerns: Iterable[ObjectKey],
    *,
    labelled: Iterable[ObjectKey] = (),
    number: int = 1,
    has_frames: bool = False,
) -> StepSummary:
    """Return the summary of a step.

    Args:
        step: result of the simulation.
        concerns: the workloads that the step names or changes.
        labelled: workloads whose pods it labels; they are only concerned if they were complete, or change.
        number: of the step among the reported steps, from 1.
        has_frames: also return the moments of a run, for drawing.
    """
    concerns, labelled = frozenset(concerns), frozenset(labelled)
    if not step.parts or step.outcomes:
        found = _Summary(step, concerns, labelled)
        made = found.make(number)
        if step.parts:
            made = _over_parts(made, step.parts, concerns, labelled)
        return made._replace(frames=found.frames()) if has_frames and step.outcomes else made
    none = StepSummary(Verdict.NOT_KNOWN, step.basis, False, step.states, step.runs, (), (), (), (), outcomes=1)
    gaps = tuple(text for text, key in step.gaps.items() if key is None or key in concerns)
    return _over_parts(none._replace(gaps=gaps), step.parts, concerns, labelled)


def _over_parts(
    one: StepSummary, parts: Iterable[PartAnswer], concerns: frozenset[ObjectKey], labelled: frozenset[ObjectKey]
) -> StepSummary:
    """Return the summary of one run with the numbers of all orders, for the domains that the parts tell apart.

    If there is no run of the whole step, take the end of one run of each part.
    """
    known: dict[Hashable, StepSummary] = {}
    found = [(item, _of_part(item, concerns, labelled, known)) for item in parts]
    workloads = {workload.key: workload for _, summary in found for workload in summary.workloads}
    for workload in one.workloads:
        if workload.verdict is Verdict.NOT_KNOWN and workload.key in workloads:
            workloads[workload.key] = workloads[workload.key]._replace(verdict=workload.verdict)
    verdicts = list(Verdict)
    verdict = Verdict.NOT_KNOWN if one.gaps else max((summary.verdict for _, summary in found), key=verdicts.index)
    if one.endings:
        concerned = [workloads[item.key] for item in one.workloads if item.is_concerned and item.key in workloads]
        together = [spread.topology_key for spread in one.together]
        return one._replace(
            verdict=verdict,
            workloads=tuple(workloads.get(item.key, item) for item in one.workloads),
            together=_sums(concerned, together),
        )
    concerned = [item for item in workloads.values() if item.is_concerned]
    together = [spread.topology_key for spread in concerned[0].spreads] if len(concerned) > 1 else []
    reached = [(item, summary) for item, summary in found if summary.endings]
    ends = [(item.part.keys, min(summary.endings, key=lambda end: end.is_complete)) for item, summary in reached]
    end = Ending(
        all(item.is_complete for _, item in ends),
        any(item.is_endless for _, item in ends),
        {
            key: {name: counts for name, counts in by_key.items() if name in keys}
            for keys, item in ends
            for key, by_key in item.counts.items()
        },
        {name: values for _, item in ends for name, values in item.domains.items()},
        tuple(pod for _, item in ends for pod in item.pending),
        incomplete=frozenset(key for _, item in ends for key in item.incomplete),
    )
    return one._replace(
        verdict=verdict,
        workloads=tuple(item for _, item in sorted(workloads.items())),
        refused=tuple(each._replace(outcomes=1) for _, summary in reached for each in summary.refused),
        endings=(end,) if ends else (),
        together=_sums(concerned, together),
        is_blocked=any(summary.is_blocked for _, summary in reached),
        unreached=tuple(sorted(key for item, summary in found if not summary.endings for key in item.part.workloads)),
    )


def _of_part(
    item: PartAnswer,
    concerns: frozenset[ObjectKey],
    labelled: frozenset[ObjectKey],
    known: dict[Hashable, StepSummary],
) -> StepSummary:
    """Return the summary of a part; `known` has the summaries of earlier parts."""
    # The workload of a part, and the one of the same shape that was simulated.
    new, old = next(iter(item.part.workloads)), next(iter(item.simulated.workloads))
    own = (concerns, labelled)
    if new != old:
        own = (concerns & {new} and frozenset((old,)), labelled & {new} and frozenset((old,)))
    key = (id(item.answer), *own)
    if key not in known:
        known[key] = _Summary(item.answer, *own).make(0)
    summary = known[key] if new == old else _renamed(known[key], new)
    workloads = tuple(
        workload._replace(
            spreads=tuple(
                spread._replace(is_balanced=spread.topology_key not in item.part.foreign)
                for spread in workload.spreads
                if spread.topology_key in item.part.keys
            ),
            verdict=_proved(workload.verdict, item),
        )
        for workload in summary.workloads
    )
    return summary._replace(verdict=_proved(summary.verdict, item), workloads=workloads)


def _renamed(summary: StepSummary, key: ObjectKey) -> StepSummary:
    """Return the summary of a part with one workload for another workload of the same shape."""
    name = f"{key.name}-*"
    return summary._replace(
        workloads=tuple(
            item._replace(key=key, held=tuple(pod._replace(name=f"{key.name}-{pod.ordinal}") for pod in item.held))
            for item in summary.workloads
        ),
        refused=tuple(item._replace(owner=key, pod=name) for item in summary.refused),
        endings=tuple(
            item._replace(
                counts=dict(zip([key], item.counts.values(), strict=False)),
                incomplete=frozenset([key] if item.incomplete else ()),
                pending=tuple(pod._replace(owner=key, name=name) for pod in item.pending),
            )
            for item in summary.endings
        ),
    )


def _proved(verdict: Verdict, item: PartAnswer) -> Verdict:
    """Return the verdict on a part, or a workload of it, whose outcomes include every real one, and perhaps others.

    Runs do not show whether something that was incomplete before lacks more in other orders.
    """
    was_complete = all(outcome.is_complete for outcome in item.answer.before)
    is_known = item.answer.is_exact or item.completes or (item.completes is False and was_complete)
    return verdict if is_known and verdict is not Verdict.MAY_GET_STUCK else Verdict.NOT_KNOWN


def _sums(workloads: Sequence[WorkloadSummary], topology_keys: Iterable[str]) -> tuple[WorkloadSpread, ...]:
    """Return the pods of all workloads together, which are independent, for the topology keys that all have."""
    sums: list[WorkloadSpread] = []
    for name in topology_keys:
        spreads = [spread for item in workloads for spread in item.spreads if spread.topology_key == name]
        if len(spreads) < max(1, len(workloads)):
            continue
        domains = tuple(
            DomainPods(same[0].value, sum_of(item.before for item in same), sum_of(item.after for item in same), {})
            for same in zip(*(item.domains for item in spreads), strict=True)
        )
        before, after = ([getattr(item, name) for item in domains] for name in ("before", "after"))
        sums.append(WorkloadSpread(name, domains, _skew(before), _skew(after), None, is_balanced=False))
    return tuple(sums)


def _skew(domains: Sequence[Range]) -> Range:
    """Return the bounds of the skew over domains with these numbers of pods."""
    least = max(item.least for item in domains) - min(item.most for item in domains)
    return Range(max(0, least), max(item.most for item in domains) - min(item.least for item in domains))


class _Summary:
    def __init__(self, step: StepAnswer, concerns: frozenset[ObjectKey], labelled: frozenset[ObjectKey]) -> None:
        self.step = step
        self.outcomes = step.outcomes
        self.before = step.before
        keys = {key for item in (*self.outcomes, *self.before) for key in item.workloads}
        self.keys = tuple(sorted(key for key in keys if not any(item.is_adopted(key) for item in self.outcomes)))
        blocked = {item.pod.owner for outcome in self.outcomes for item in outcome.blocked}
        named = concerns | blocked | {key for key in labelled if self._was_complete(key)}
        self.concerns = frozenset(key for key in self.keys if key in named or self._has_changed(key))
        self.bad = tuple(item for item in self.outcomes if not self._is_fine(item))
        self.gaps = {text: key for text, key in step.gaps.items() if key is None or key in concerns | self.concerns}
        lost = {pod.name: pod for outcome in self.outcomes for pod in self._lost(outcome)}
        for _, pod in sorted(lost.items()):
            if pod.maker is not None:
                text = f"{pod.maker.kind} {pod.maker.namespace}/{pod.maker.name}: whether it replaces {pod.name}"
                self.gaps[text] = None
        self.endings = self._endings()

    def make(self, number: int) -> StepSummary:
        """Return the summary; the witness leads over a number of steps, 0 for none."""
        step = self.step
        way = list(self.bad[:1] if number else ())
        while way and len(way) < number and way[0].before is not None:
            way.insert(0, way[0].before)
        blocked: Counter[tuple[Optional[ObjectKey], str, str, str]] = Counter()
        for _, outcome in self.endings:
            blocked.update({(item.pod.owner, item.pod.name, item.pod.node, item.cause): 1 for item in outcome.blocked})
        basis = Basis.NOT_SIMULATED if self.gaps and step.basis.is_known else step.basis
        return StepSummary(
            self._verdict(len(self.bad), self.concerns) if basis.is_known else Verdict.NOT_KNOWN,
            basis,
            step.is_endless,
            step.states,
            step.runs,
            tuple(self._workload(key) for key in self.keys if self.outcomes),
            tuple(BlockedEviction(*item, outcomes) for item, outcomes in blocked.items()),
            tuple(sorted({name for ending, _ in self.endings for name in ending.lost})),
            tuple(ending for ending, _ in self.endings),
            tuple(item.trace() for item in way),
            way[0].before.pods if way and way[0].before is not None else (),
            tuple(pod for pod in self.bad[0].pending if pod.owner in self.concerns) if self.bad else (),
            self._together() if self.outcomes else (),
            gaps=tuple(self.gaps),
            is_start_exact=step.is_start_exact,
            scheduled=self._scheduled(),
            outcomes=len(self.outcomes),
            is_blocked=bool(self.outcomes) and all(outcome.blocked for outcome in self.outcomes),
            added=tuple(nodes_by_pool(outcome.added for outcome in self.outcomes)),
        )

    def frames(self) -> StepFrames:
        """Return the moments of the run to the first outcome that does not complete, else to the first outcome."""
        followed = (*self.bad, *self.outcomes)[0]
        return StepFrames(
            (followed.before or followed).moment(),
            tuple(itertools.starmap(Frame, followed.run())),
            tuple(outcome.moment() for _, outcome in self.endings[:MOST_DRAWN_ENDINGS]),
        )

    def _has_changed(self, key: ObjectKey) -> bool:
        pods = [
            tuple(sorted((pod.number, pod.node, pod.is_ready, pod.is_terminating) for pod in item.pods_of.get(key, ())))
            for item in (*self.before, *self.outcomes)
        ]
        before, after = set(pods[: len(self.before)]), pods[len(self.before) :]
        return any(now not in before for now in after) or any(item.restarts.get(key) for item in self.outcomes)

    def _was_complete(self, key: ObjectKey) -> bool:
        return all(key not in item.workloads or item.workloads[key].is_complete for item in self.before)

    def _is_fine(self, outcome: Outcome) -> bool:
        """Return whether a step completes in an outcome; what was incomplete before may stay so."""
        if not outcome.is_steady or outcome.blocked:
            return False
        if any(pod.owner not in outcome.workloads for pod in outcome.newly_pending):
            return False
        return all(is_settled(outcome, key) or _is_no_worse(outcome, key) for key in outcome.workloads)

    def _verdict(self, bad: int, keys: Iterable[ObjectKey]) -> Verdict:
        """Return the verdict on some workloads that are worse than before, and incomplete, in some outcomes."""
        if bad:
            return Verdict.GETS_STUCK if bad == len(self.outcomes) else Verdict.MAY_GET_STUCK
        if not self.outcomes:
            return Verdict.NOT_KNOWN
        ends = ((item, key) for item in self.outcomes for key in keys if key in item.workloads)
        return Verdict.COMPLETES if all(is_settled(*end) for end in ends) else Verdict.NO_WORSE

    def _workload(self, key: ObjectKey) -> WorkloadSummary:
        with_it = [item for item in self.outcomes if key in item.workloads]
        after = [item.workloads[key] for item in with_it]
        before = [item.workloads[key] for item in self.before if key in item.workloads]
        bad = sum(not is_settled(item, key) and not _is_no_worse(item, key) for item in with_it)
        is_known = all(of is not None and of != key for of in self.gaps.values())
        desired, ready, updated, pending, not_created = (
            range_of(getattr(state, name) for state in (after or before if name == "desired" else after))
            for name in ("desired", "ready", "updated", "pending", "not_created")
        )
        # The pods of a StatefulSet that are terminating or not ready in some outcome
        own = (pod for item in self.outcomes if key.kind == "StatefulSet" for pod in item.pods_of.get(key, ()))
        held = {pod.name: pod for pod in own if pod.is_terminating or (pod.node and not pod.is_ready)}
        return WorkloadSummary(
            key,
            self._verdict(bad, [key]) if is_known else Verdict.NOT_KNOWN,
            key in self.concerns,
            bool(self.outcomes) and not with_it,
            bool(with_it) and all(item.is_paused(key) for item in with_it),
            self._was_complete(key),
            desired,
            range_of(state.ready for state in before),
            ready,
            updated,
            pending,
            not_created,
            range_of(item.restarts.get(key, 0) for item in self.outcomes),
            self.step.fewest_ready.get(key, 0),
            max((item.revision_of(key) for item in self.outcomes), default=0),
            tuple(self._spread([key], topology_key) for topology_key in self._topology_keys(key)),
            next((state.refusal for state in after if state.refusal), ""),
            any(state.has_failed for state in after),
            range_of(
                min(
                    item.restarts.get(key, 0),
                    sum(pod.is_original for pod in item.pods_of.get(key, ()) if pod.is_terminating),
                )
                for item in self.outcomes
            ),
            tuple(pod for _, pod in sorted(held.items())),
            tuple(pod for pod in self._astray if pod.owner == key),
            self.step.refused.get(key, ""),
            range_of(_out_of_reach(item, key) for item in self.outcomes),
            range_of(state.pending for state in before),
        )

    @cached_property
    def _astray(self) -> tuple[PodState, ...]:
        """Return the pods on nodes that do not exist before the step."""
        found: dict[str, PodState] = {}
        for item in self.before:
            names = {node.name for node in item.nodes()[0]}
            found |= {pod.name: pod for pod in item.pods if names and pod.node and pod.node not in names}
        return tuple(pod for _, pod in sorted(found.items()))

    def _topology_keys(self, key: ObjectKey) -> list[str]:
        """Return the keys of a workload's constraints; without any, the zone, or the hostname if there are no zones."""
        found = sorted(topology for owner, topology in self.step.worst_skew if owner == key)
        if found or key.kind == "DaemonSet":
            return found
        return [next((name for name in (ZONE, HOSTNAME) if self._values(name)), HOSTNAME)]

    @cached_method
    def _values(self, topology_key: str) -> list[str]:
        lists = [item.domain_values(topology_key) for item in (*self.before, *self.outcomes)]
        return sorted(set().union(*{id(found): found for found in lists}.values()))

    def _together(self) -> tuple[WorkloadSpread, ...]:
        """Return the pods of all concerned workloads together, for their common topology keys."""
        keys = sorted(key for key in self.concerns if key.kind != "DaemonSet")
        if len(keys) < 2:
            return ()
        common = [name for name in self._topology_keys(keys[0]) if all(name in self._topology_keys(k) for k in keys)]
        return tuple(
            self._spread(keys, name)._replace(
                on_the_way=None,
                is_balanced=any(
                    all({key, *item.also_counted(key, name)}.issuperset(keys) for key in keys) for item in self.outcomes
                ),
            )
            for name in common
        )

    def _spread(self, keys: Sequence[ObjectKey], topology_key: str) -> WorkloadSpread:
        shown = (*self.before[:1], *self.outcomes[:1])
        others = {other for item in shown for key in keys for other in item.also_counted(key, topology_key)}
        return WorkloadSpread(
            topology_key,
            domain_pods(
                self._values(topology_key),
                (self.before, self.outcomes),
                keys,
                topology_key=topology_key,
            ),
            range_of(item.skew(keys, topology_key) for item in self.before),
            range_of(item.skew(keys, topology_key) for item in self.outcomes),
            self.step.worst_skew.get((keys[0], topology_key)),
            also_counted=tuple(sorted(others.difference(keys))),
            is_of_revision=any(item.counts_one_revision(key, topology_key) for item in shown for key in keys),
        )

    def _lost(self, outcome: Outcome) -> list[PodState]:
        """Return the pods without a simulated controller, but for static ones, that are gone in an outcome."""
        kept = {(pod.namespace, pod.name) for pod in outcome.pods if pod.owner is None and not pod.is_terminating}
        before = () if outcome.before is None else outcome.before.pods
        there = (pod for pod in before if pod.owner is None and not pod.is_terminating)
        gone = (pod for pod in there if (pod.namespace, pod.name) not in kept)
        return [pod for pod in gone if pod.maker is None or pod.maker.kind != "Node"]

    def _scheduled(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return the pods without a controller that get a node in every outcome, with the nodes."""
        had = {pod.name for item in self.before for pod in item.pods if pod.owner is None and pod.node}
        nodes = grouped(
            (pod.name, (at, pod.node))
            for at, outcome in enumerate(self.outcomes)
            for pod in outcome.pods
            if pod.owner is None and pod.name and pod.node and pod.name not in had
        )
        number = len(self.outcomes)
        every = {name: [node for _, node in found] for name, found in nodes.items() if len(dict(found)) == number}
        alike = self.outcomes[0].interchange.alike_nodes if self.outcomes else list
        return tuple(
            (name, tuple(sorted({node for one in found for node in alike(one)})))
            for name, found in sorted(every.items())
        )

    def _endings(self) -> tuple[tuple[Ending, Outcome], ...]:
        """Return the outcomes that a user can distinguish."""
        found: dict[str, tuple[Ending, Outcome]] = {}
        lists = Numbering[tuple[str, ...]]()
        for outcome, runs in zip(self.outcomes, self.step.ended, strict=True):
            ending = self._ending(outcome)
            blocked = sorted((item.pod.name, item.pod.node) for item in outcome.blocked)
            pending = sorted((pod.name, pod.message) for pod in ending.pending)
            domains = [lists[values] for values in ending.domains.values()]
            key = repr((ending.is_complete, ending.is_endless, ending.counts, domains, pending, blocked, ending.lost))
            known, followed = found.get(key, (ending, outcome))
            found[key] = (known._replace(runs=known.runs + runs), followed)
        return tuple(found.values())

    def _ending(self, outcome: Outcome) -> Ending:
        counts = {
            key: {
                topology_key: {
                    value: dict(sorted(numbers.items()))
                    for value, numbers in sorted(outcome.by_revision([key], topology_key).items())
                }
                for topology_key in self._topology_keys(key)
            }
            for key in self.keys
            if key in self.concerns
        }
        domains = {name: outcome.domain_values(name) for by_key in counts.values() for name in by_key}
        incomplete = frozenset(key for key in outcome.workloads if not is_settled(outcome, key))
        is_complete = outcome not in self.bad
        lost = tuple(sorted(pod.name for pod in self._lost(outcome) if pod.maker is None))
        pending = outcome.pending
        return Ending(is_complete, not outcome.is_steady, counts, domains, pending, incomplete=incomplete, lost=lost)


def is_settled(outcome: Outcome, key: ObjectKey) -> bool:
    """Return whether a workload has all its pods; a paused Deployment may have pods of the old revision.

    A DaemonSet may lack pods on nodes that do not answer: nothing but the node brings them back.
    """
    state = outcome.workloads[key]
    if not outcome.is_steady or state.pending:
        return False
    away = _out_of_reach(outcome, key)
    is_there = state.ready + away >= state.desired and state.updated >= state.desired
    return state.is_complete or (outcome.is_paused(key) and state.ready >= state.desired) or bool(away and is_there)


def _out_of_reach(outcome: Outcome, key: ObjectKey) -> int:
    """Return the number of a DaemonSet's pods on nodes that do not answer; 0 for any other workload."""
    down = outcome.nodes()[1] if key.kind == "DaemonSet" else ()
    return sum(pod.node in down and not pod.is_terminating for pod in outcome.pods_of.get(key, ())) if down else 0


def _is_no_worse(outcome: Outcome, key: ObjectKey) -> bool:
    """Return whether a workload was incomplete before a step, and lacks no more after it."""
    if outcome.before is None or key not in outcome.before.workloads or is_settled(outcome.before, key):
        return False
    if outcome.revision_of(key) != outcome.before.revision_of(key):
        return False  # A rollout that does not end is no better for having waited before.
    before, after = outcome.before.workloads[key], outcome.workloads[key]
    lacks = (
        (now.desired - now.ready, now.desired - now.updated, now.pending, now.has_failed) for now in (before, after)
    )
    return outcome.is_steady and all(was >= now for was, now in zip(*lacks, strict=True))


class Preparation(NamedTuple):
    """Commands after which the steps complete that budgets or quotas stop now; simulated together with the steps.

    gives_up: a sentence about the drawback. workloads: after the commands, the workloads whose pods were refused.
    """

    commands: tuple[str, ...]
    gives_up: str = ""
    workloads: tuple[WorkloadSummary, ...] = ()


class Release(Enum):
    """Ways to end a pod that stays Terminating because its node does not answer, the safest first."""

    DELETED_NODE = "deleted node"
    OUT_OF_SERVICE = "out of service"
    FORCED = "forced deletion"


class Recovery(NamedTuple):
    """Commands that end pods of StatefulSets on nodes that do not answer, so that they are created again.

    pods: their names, each with the nodes that it may get then. ways: each was simulated after the steps. stuck: other
    such pods, which stay Pending then, and why. is_instead: the last step waits for the pods, and was left out.
    is_example: only one order was simulated.
    """

    nodes: tuple[str, ...]
    pods: dict[str, tuple[str, ...]]
    ways: dict[Release, tuple[str, ...]]
    stuck: dict[str, str]
    is_instead: bool = False
    is_example: bool = False


class PlayedStep(NamedTuple):
    """A step as the user wrote it, and its summary.

    refusal: kubectl's message if it stops halfway. notes: about the step itself. causes: why pods stay Pending, by
    their workload and the scheduler's message. advice: a change for each of some workloads, simulated without the
    others. preparation: commands before all steps, as budgets stop one. recovery: of pods that stay Terminating.
    saving: commands that save the pods which a drain takes away for good, and create them again. quotas: commands
    after the step, if quotas refuse pods.
    """

    text: str
    summary: StepSummary
    refusal: str = ""
    notes: tuple[str, ...] = ()
    causes: dict[tuple[Optional[ObjectKey], str], str] = {}  # noqa: RUF012 (never written to)
    advice: dict[Optional[ObjectKey], Suggestion] = {}  # noqa: RUF012 (never written to)
    preparation: Optional[Preparation] = None
    recovery: Optional[Recovery] = None
    saving: tuple[str, ...] = ()
    quotas: tuple[Preparation, ...] = ()

    @property
    def is_refused(self) -> bool:
        """Return whether kubectl cannot complete the command: it stops, or evicted pods stay on their nodes."""
        return bool(self.refusal) or (self.summary.is_blocked and self.summary.verdict is Verdict.GETS_STUCK)

    @property
    def is_fine(self) -> bool:
        """Return whether kubectl completes the command, and no outcome found is incomplete and worse than before."""
        return not self.refusal and self.summary.verdict in (Verdict.COMPLETES, Verdict.NO_WORSE)


class Simulation(NamedTuple):
    """Results of all steps.

    notes: features that were not simulated. is_interrupted: the user ended the search.
    """

    steps: tuple[PlayedStep, ...]
    notes: tuple[str, ...] = ()
    is_interrupted: bool = False

    @property
    def is_fine(self) -> bool:
        """Return whether every step completes, or makes nothing worse, in every outcome that was found."""
        return all(step.is_fine for step in self.steps)
