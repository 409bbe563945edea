"""Simulation of one rollout, within limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Cluster, Controller
from kubectl_spread.cluster.tables.columns import Columns
from kubectl_spread.engine import steps
from kubectl_spread.engine.results.answer import Outcome
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.results.summary import PlayedStep, summarize, Verdict
from kubectl_spread.engine.run import Limits, Mode, play, StepAnswer
from kubectl_spread.engine.search.limit import weight
from kubectl_spread.explain.explanation import examine, Explanation
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.simulate.rollouts.result import RolloutKind, RolloutResult

_STATES = 16_000  # Most ordinary states for all rollouts of one run.
_LEAST_STATES = 100  # Fewer states than this are not enough for a rollout.
_LONGEST_RUN = 4_000  # Most ordinary states of one run.
_SMALL, _LARGE = 60, 1_000  # Nodes and pods of a rollout whose states are all visited, and of one that is simulated.
_EFFORTS = ((3, 1_000, 12), (10, 300, 6), (40, 60, 3))  # Up to this many rollouts: states, random runs of each.
_LEAST_EFFORT = (20, 2)


class Budget:
    """States that are left for the rollouts of one run; counted, so that the load of the machine changes no answer."""

    def __init__(self, states: int = _STATES) -> None:
        self._left = states

    def share(self, rollouts: int) -> int:
        """Return the states for the next one of some rollouts."""
        return max(0, self._left) // max(1, min(rollouts, 3))

    def spend(self, states: int) -> None:
        self._left -= states


class RolloutQuestion(NamedTuple):
    """A rollout to simulate.

    keys: its workloads. text: kubectl's command without `kubectl`. ops: steps of the simulation. controllers: of the
    workloads, after the steps.
    """

    kind: RolloutKind
    keys: tuple[ObjectKey, ...]
    text: str
    ops: tuple[steps.Op, ...]
    controllers: tuple[Controller, ...]
    old: int = 0


class RolloutSearch:
    """Simulator of rollouts on one cluster."""

    def __init__(self, cluster: Cluster, profiles: Mapping[str, Profile], budget: Budget) -> None:
        self._cluster = cluster
        self._profiles = profiles
        self._budget = budget
        self._columns: Optional[Columns] = None

    @property
    def columns(self) -> Columns:
        """Return the bound pods of the cluster."""
        if self._columns is None:
            self._columns = Columns(self._cluster)
        return self._columns

    def answer(self, question: RolloutQuestion, *, rollouts: int = 1) -> RolloutResult:
        """Simulate a rollout; `rollouts` share the states that are left."""
        nodes = len(self._cluster.nodes)  # a DaemonSet has no number of replicas
        pods = sum(nodes if item.workload.replicas is None else item.workload.replicas for item in question.controllers)
        limits = self._limits(pods, rollouts)
        if limits is None:
            return without(question, Basis.STATE_LIMIT)
        found = play(self._cluster, self._profiles, [question.ops], limits=limits, bound=self.columns).last
        self._budget.spend(found.states * weight(pods))
        return self._result(question, found) if found.outcomes else without(question, Basis.STATE_LIMIT)

    def _limits(self, pods: int, rollouts: int) -> Optional[Limits]:
        """Return the limits of a rollout of some pods; None if no states are left for it."""
        left = self._budget.share(rollouts)
        if left < _LEAST_STATES or pods > _LARGE:
            return None
        is_small = len(self._cluster.nodes) + pods <= _SMALL
        mode = Mode.ALL if is_small else Mode.SAMPLE
        states, runs = next(((states, runs) for most, states, runs in _EFFORTS if rollouts <= most), _LEAST_EFFORT)
        runs = runs if is_small else min(runs, 2)
        return Limits(mode, min(states, left), runs, max_run=min(_LONGEST_RUN, left))

    def _result(self, question: RolloutQuestion, found: StepAnswer) -> RolloutResult:
        summary = summarize(found, question.keys)
        stuck = next((outcome for outcome in found.outcomes if _is_stuck(outcome, question)), None)
        return RolloutResult(
            question.keys,
            question.kind,
            summary.verdict,
            summary.basis,
            " and ".join(summary.gaps),
            played=PlayedStep(question.text, summary),
            explanation=None if stuck is None else self._explained(stuck, question),
            old=question.old,
        )

    def _explained(self, outcome: Outcome, question: RolloutQuestion) -> Optional[Explanation]:
        """Explain a Pending pod of the rollout."""
        cluster = outcome.cluster()
        pending = (pod for pod in cluster.pods if _is_pending(pod))
        names = {pod.name for pod in outcome.pending if pod.owner in question.keys}
        pod = next((pod for pod in pending if pod.name in names), None)
        return None if pod is None else examine(pod, cluster, self._profiles).explanation


def _is_stuck(outcome: Outcome, question: RolloutQuestion) -> bool:
    return any(pod.owner in question.keys for pod in outcome.pending)


def _is_pending(pod: Pod) -> bool:
    return not pod.node_name and not pod.terminating


def without(question: RolloutQuestion, basis: Basis, because: str = "") -> RolloutResult:
    """Return the result of a rollout that is not simulated."""
    return RolloutResult(question.keys, question.kind, Verdict.NOT_KNOWN, basis, because, old=question.old)
