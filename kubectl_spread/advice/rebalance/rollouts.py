"""Rollouts that repair constraints: a restart, or a change of the template."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Optional

from kubectl_spread.advice.rebalance import changes
from kubectl_spread.advice.rebalance.evictions import volatile_volumes
from kubectl_spread.advice.rebalance.goals import is_broken
from kubectl_spread.advice.rebalance.plan import ConstraintChange, Coverage, RestartPlan
from kubectl_spread.advice.rebalance.planner import Workloads
from kubectl_spread.cluster.snapshot import Cluster, Controller
from kubectl_spread.engine import steps
from kubectl_spread.engine.results.answer import Outcome
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.run import Limits, Mode, play, StepAnswer, Watch
from kubectl_spread.engine.search.limit import Deadline, NEVER
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.simulate.running.status import counted_workloads, WorkloadStatus

RESTARTABLE = ("Deployment", "StatefulSet")
_FIRST = Limits(mode=Mode.FIRST, has_messages=False, first_run_s=0.0)
_ALL = Limits(max_states=3_000, samples=20, has_messages=False, first_run_s=0.0)
_MOST_OUTCOMES = 200  # Most outcomes whose constraints are counted.


class RestartRollout(NamedTuple):
    """A rollout after which every constraint holds, in each outcome that was visited."""

    steps: tuple[StepAnswer, ...]
    changes: tuple[ConstraintChange, ...]
    coverage: Coverage


def restarts(
    known: Workloads, keys: Sequence[ObjectKey], *, has_soft: bool, deadline: Deadline, watch: Optional[Watch] = None
) -> Optional[tuple[RestartPlan, ...]]:
    """Return the restarts of all workloads of a group, one after the other; None if they do not repair it.

    `deadline` and `watch` can end the search; then the answer is None.
    """
    if not all(key.kind in RESTARTABLE and key in known.cluster.controllers for key in keys):
        return None
    ops = [steps.Restart(key) for key in keys]
    found = roll_out(known, keys, ops, has_soft=has_soft, deadline=deadline, watch=watch)
    if found is None:
        return None
    running = {item.status.key: item.status for item in known.items}
    return tuple(
        RestartPlan(
            key,
            running[key].running,
            running[key].wanted or running[key].running,
            step.fewest_ready.get(key, 0),
            found.coverage,
            found.changes if at == len(keys) - 1 else (),
            volatile_volumes(key, known.cluster),
        )
        for at, (key, step) in enumerate(zip(keys, found.steps, strict=True))
    )


def settle(
    known: Workloads,
    wanted: Mapping[ObjectKey, int],
    *,
    has_soft: bool,
    deadline: Deadline,
    watch: Optional[Watch] = None,
) -> Optional[RestartRollout]:
    """Simulate the changes under way of some workloads; None if these do not repair them. `wanted` are the replicas."""
    ops = [steps.Scale(key, replicas) for key, replicas in wanted.items()]  # Changes nothing, but names the workload.
    return roll_out(known, tuple(wanted), ops, has_soft=has_soft, deadline=deadline, watch=watch)


def roll_out(
    known: Workloads,
    keys: Sequence[ObjectKey],
    ops: Sequence[steps.Op],
    *,
    has_soft: bool,
    deadline: Deadline = NEVER,
    changed: Optional[Mapping[ObjectKey, Controller]] = None,
    watch: Optional[Watch] = None,
) -> Optional[RestartRollout]:
    """Simulate steps; None if a workload does not complete, or a constraint does not hold, in some outcome.

    Args:
        known: all workloads.
        keys: the workloads to repair.
        ops: the steps.
        has_soft: include ScheduleAnyway constraints.
        deadline: of the user.
        changed: controllers as the steps change them.
        watch: can end the search.
    """
    for limits in (_FIRST, _ALL):
        # A step of the first run, or of the search, has its share of the time that the user allows.
        left = None if deadline == NEVER else max(0.0, deadline.at - time.monotonic()) / 2 / (1 + len(ops))
        answer = play(known.cluster, known.profiles, [(), *ops], limits=limits._replace(seconds=left), watch=watch)
        if watch is not None and watch.is_stopped:
            return None
        last = answer.last
        if not last.outcomes or last.is_endless:
            return None
        results = [
            _repaired_status(known, outcome, keys, has_soft=has_soft, changed=changed or {})
            for outcome in last.outcomes[:_MOST_OUTCOMES]
        ]
        if not all(results):
            return None
    bases = [step.basis_for(keys) for step in answer.steps]
    if len(last.outcomes) > _MOST_OUTCOMES:
        bases.append(Basis.SAMPLE)
    basis = next((item for item in bases if not item.is_exact), Basis.ALL_OUTCOMES)
    coverage = Coverage(len(last.outcomes), sum(step.states for step in answer.steps), basis)
    statuses = [item for item in results if item is not None]
    return RestartRollout(answer.steps[1:], _changes(known, statuses, last, has_soft=has_soft), coverage)


def _repaired_status(
    known: Workloads,
    outcome: Outcome,
    keys: Sequence[ObjectKey],
    *,
    has_soft: bool,
    changed: Mapping[ObjectKey, Controller],
) -> Optional[dict[ObjectKey, WorkloadStatus]]:
    """Return the status of the workloads in an outcome; None if it is not good."""
    if not _is_complete(outcome, keys):
        return None
    after = _cluster(outcome, changed)
    broken = {
        (item.status.key, status.position)
        for item in known.items
        for status in item.status.constraints
        if is_broken(status, has_soft=has_soft)
    }
    found = {item.status.key: item.status for item in counted_workloads(after, known.profiles)}
    for key, status in found.items():
        for constraint in status.constraints:
            is_old = key not in keys and (key, constraint.position) in broken
            if is_broken(constraint, has_soft=has_soft) and not is_old:
                return None
    return {key: found[key] for key in keys if key in found}


def _is_complete(outcome: Outcome, keys: Sequence[ObjectKey]) -> bool:
    """Return whether the workloads are complete, and no other workload lost a pod."""
    if not outcome.is_steady or outcome.newly_pending or outcome.blocked:
        return False
    if any(number for key, number in outcome.restarts.items() if key not in keys):
        return False  # A new pod took the place of another one.
    return all(key in outcome.workloads and outcome.workloads[key].is_complete for key in keys)


def _cluster(outcome: Outcome, changed: Mapping[ObjectKey, Controller]) -> Cluster:
    after = outcome.cluster()
    return after._replace(controllers={**after.controllers, **changed})


def _changes(
    known: Workloads, statuses: Sequence[Mapping[ObjectKey, WorkloadStatus]], last: StepAnswer, *, has_soft: bool
) -> tuple[ConstraintChange, ...]:
    found = []
    for item in known.items:
        key = item.status.key
        if key not in statuses[0]:
            continue
        for at, status in enumerate(item.status.constraints):
            if not status.counts.domains or not (has_soft or status.when_unsatisfiable == "DoNotSchedule"):
                continue
            counts = [
                dict(after[key].constraints[at].counts.domains)
                for after in statuses
                if at < len(after[key].constraints)
            ]
            found.append(
                changes.change(
                    key,
                    status,
                    is_violated=is_broken(status, has_soft=has_soft),
                    counts=counts,
                    alike=last.symmetry.alike(status.topology_key),
                )
            )
    return tuple(found)
