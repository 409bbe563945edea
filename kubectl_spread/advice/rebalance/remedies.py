"""Changes that repair constraints or make a plan possible, each simulated.

Rollouts repair constraints: a restart, or a change of the template. One more node, one cordon less, or a weaker
constraint makes a plan of evictions possible.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from kubectl_spread.advice.rebalance.goals import constraint_change, is_broken
from kubectl_spread.advice.rebalance.plan import (
    ConstraintChange,
    Coverage,
    Obstacle,
    ObstacleKind,
    Remedy,
    RemedyKind,
    RestartPlan,
)
from kubectl_spread.advice.rebalance.planner import propose, RepairRequest, Workloads, workloads_of
from kubectl_spread.cluster.snapshot import Cluster, Controller
from kubectl_spread.engine import steps
from kubectl_spread.engine.nodes import set_cordon
from kubectl_spread.engine.results.answer import Outcome
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.run import Limits, Mode, play, StepAnswer
from kubectl_spread.engine.search.explore import weight
from kubectl_spread.explain.status import ConstraintStatus, statuses, WorkloadStatus
from kubectl_spread.objects.constraints.constraint import HONOR, SOFT
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.reading.plain import mappings
from kubectl_spread.objects.selectors import HOSTNAME, ZONE
from kubectl_spread.objects.workloads.workload import created_labels, POD_TEMPLATE_HASH

RESTARTABLE = ("Deployment", "StatefulSet")
_FIRST = Limits(mode=Mode.FIRST, has_messages=False)
_ALL = Limits(max_states=3_000, samples=20, has_messages=False)
_MOST_OUTCOMES = 200  # Most outcomes whose constraints are counted.


def restarts(known: Workloads, keys: Sequence[ObjectKey], request: RepairRequest) -> tuple[RestartPlan, ...]:
    """Return the restarts of all workloads of a group, one after the other; none if they do not repair it."""
    if not all(key.kind in RESTARTABLE and key in known.cluster.controllers for key in keys):
        return ()
    found = roll_out(known, keys, [steps.Restart(key) for key in keys], request)
    if found is None:
        return ()
    played, changes, coverage = found
    running = known.by_key
    return tuple(
        RestartPlan(
            key,
            running[key].running,
            running[key].wanted or running[key].running,
            step.fewest_ready.get(key, 0),
            coverage,
            changes if at == len(keys) - 1 else (),
            volatile_volumes(key, known.cluster),
        )
        for at, (key, step) in enumerate(zip(keys, played, strict=True))
    )


def volatile_volumes(owner: ObjectKey, cluster: Cluster) -> tuple[str, ...]:
    """Return the volumes of a workload's pods whose data is lost with the pod."""
    controller = cluster.controllers.get(owner)
    if controller is None:
        return ()
    spec = controller.workload.pod_spec
    return tuple(
        str(volume.get("name", ""))
        for volume in mappings(spec.get("volumes"))
        if "emptyDir" in volume or "ephemeral" in volume
    )


def roll_out(
    known: Workloads,
    keys: Sequence[ObjectKey],
    ops: Sequence[steps.Op],
    request: RepairRequest,
    *,
    changed: Optional[Mapping[ObjectKey, Controller]] = None,
) -> Optional[tuple[tuple[StepAnswer, ...], tuple[ConstraintChange, ...], Coverage]]:
    """Simulate steps, and return them, and the constraints before and after them.

    Return None if a workload does not complete, or a constraint does not hold, in some outcome.

    Args:
        known: all workloads.
        keys: the workloads to repair.
        ops: the steps.
        request: extent of the search.
        changed: controllers as the steps change them.
    """
    watch, has_soft = request.watch, request.has_soft
    size = _size(known, keys)
    some = _ALL if size == 1 else _ALL._replace(mode=Mode.SAMPLE, samples=-(-_ALL.samples // size))
    for limits in (_FIRST, some):
        answer = play(known.cluster, known.profiles, [(), *ops], limits=limits, watch=watch)
        last = answer.last
        if watch.is_stopped or not last.outcomes or last.is_endless:
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
    by_outcome = [item for item in results if item is not None]
    changes = tuple(
        constraint_change(
            key,
            status,
            has_soft=has_soft,
            counts=[own[at].counts.domains for after in by_outcome if at < len(own := after[key].constraints)],
            alike=last.symmetry.alike(status.topology_key),
        )
        for item in known.items
        if (key := item.key) in by_outcome[0]
        for at, status in enumerate(item.constraints)
        if status.counts.domains and (has_soft or status.is_hard)
    )
    return answer.steps[1:], changes, coverage


def _size(known: Workloads, keys: Sequence[ObjectKey]) -> int:
    """Return how many ordinary states a state with some workloads counts for."""
    pods = sum(item.wanted or item.running for item in known.items if item.key in keys)
    return weight(pods + len(known.cluster.nodes))


def _repaired_status(
    known: Workloads,
    outcome: Outcome,
    keys: Sequence[ObjectKey],
    *,
    has_soft: bool,
    changed: Mapping[ObjectKey, Controller],
) -> Optional[dict[ObjectKey, WorkloadStatus]]:
    """Return the status of the workloads in an outcome; None if one is not complete, or another one lost a pod."""
    if not outcome.is_steady or outcome.newly_pending or outcome.blocked:
        return None
    if any(number for key, number in outcome.restarts.items() if key not in keys):
        return None  # A new pod took the place of another one.
    if not all(key in outcome.workloads and outcome.workloads[key].is_complete for key in keys):
        return None
    after = outcome.cluster()
    after = after._replace(controllers={**after.controllers, **changed})
    broken = {
        (item.key, status.position)
        for item in known.items
        for status in item.constraints
        if is_broken(status, has_soft=has_soft)
    }
    found = {item.key: item for item in statuses(after, known.profiles, has_counts=True)}
    for key, status in found.items():
        for constraint in status.constraints:
            is_old = key not in keys and (key, constraint.position) in broken
            if is_broken(constraint, has_soft=has_soft) and not is_old:
                return None
    return {key: found[key] for key in keys if key in found}


NEW_DOMAIN = "a new domain"  # No domain of a cluster is called so: a label's value has no space.
_MOST_REMEDIES = 4
_MOST_NEW_NODES = 3
_MOST_TRIED = 12  # sets of new nodes
_STATES_OF_ONE = 5_000  # for one change
_STATES_OF_A_ROLLOUT = 1_000  # about, in all its runs


_BY_REVISION = {"matchLabelKeys": [POD_TEMPLATE_HASH]}
_HONOR = {"nodeTaintsPolicy": HONOR}
# Changes of a constraint: its new fields, and the field that gets a number. Of each group, one is enough.
_TEMPLATES: tuple[dict[RemedyKind, tuple[dict[str, Any], str]], ...] = (
    {RemedyKind.BY_REVISION: (_BY_REVISION, "")},
    {RemedyKind.HONOR_TAINTS: (_HONOR, ""), RemedyKind.HONOR_BY_REVISION: ({**_HONOR, **_BY_REVISION}, "")},
    {RemedyKind.MIN_DOMAINS: ({}, "minDomains"), RemedyKind.MIN_DOMAINS_BY_REVISION: (_BY_REVISION, "minDomains")},
    {RemedyKind.MAX_SKEW: ({}, "maxSkew")},
    {RemedyKind.SOFTEN: (SOFT, "")},
)
_OF_REVISIONS = (RemedyKind.BY_REVISION, RemedyKind.HONOR_BY_REVISION, RemedyKind.MIN_DOMAINS_BY_REVISION)
_OF_HARD = (RemedyKind.HONOR_TAINTS, RemedyKind.HONOR_BY_REVISION, RemedyKind.SOFTEN)


@dataclass
class _Case:
    """The group to repair, its violated constraints, and the states that may still be visited."""

    known: Workloads
    keys: tuple[ObjectKey, ...]
    broken: Sequence[tuple[ObjectKey, ConstraintStatus]]
    request: RepairRequest
    states: int

    @property
    def topology_keys(self) -> dict[str, int]:
        """Return the keys of all constraints, with their numbers of domains."""
        return {
            status.topology_key: len(status.counts.domains)
            for item in self.known.items
            if item.key in self.keys
            for status in item.constraints
        }

    @property
    def is_late(self) -> bool:
        return self.request.watch.is_stopped or self.states <= 0


def remedies(
    known: Workloads, keys: Sequence[ObjectKey], found: Iterable[Obstacle], request: RepairRequest
) -> tuple[tuple[Remedy, ...], int]:
    """Return a few changes after which the constraints can hold, the least harmful first, and the states that are left.

    Args:
        known: all workloads.
        keys: the workloads to repair.
        found: why there is no plan.
        request: extent of the searches.
    """
    broken = tuple(
        (item.key, status)
        for item in known.items
        for status in item.constraints
        if item.key in keys and is_broken(status, has_soft=request.has_soft)
    )
    case = _Case(known, tuple(keys), broken, request, request.limit.max_states)
    made: list[Remedy] = []
    kinds = {item.kind for item in found}
    if ObstacleKind.TOO_MANY in kinds:
        return (), case.states  # A higher limit is enough.
    templates = (functools.partial(_templates, changes) for changes in _TEMPLATES)
    for way in (*((_budgets,) if ObstacleKind.REFUSED in kinds else ()), _uncordoned, _nodes, *templates):
        if len(made) == _MOST_REMEDIES or case.is_late:
            break
        remedy = next(way(case), None)
        has_smaller = any(item.kind is RemedyKind.BY_REVISION for item in made)  # A smaller change is enough.
        if remedy is not None and not (has_smaller and remedy.kind in _OF_REVISIONS):
            made.append(remedy)
    return tuple(made), case.states


def _with_plan(case: _Case, cluster: Cluster, remedy: Remedy) -> Iterator[Remedy]:
    """Yield a remedy with the length of the plan on the changed cluster, if there is one."""
    known = workloads_of(cluster, case.known.profiles)
    size = _size(known, case.keys)
    limit = case.request.limit._replace(max_states=min(_STATES_OF_ONE, case.states) // size)
    found = propose(known, case.keys, case.request._replace(limit=limit))
    case.states -= found.board.states * size
    plan = found.result.plan
    if plan is not None:
        yield remedy._replace(evictions=len(plan), is_exact=all(item.is_exact for _, item in plan))


def _budgets(case: _Case) -> Iterator[Remedy]:
    """Let each budget of the workloads allow one disruption."""
    cluster = case.known.cluster
    for at, budget in enumerate(cluster.budgets):
        if not any(
            budget.namespace == pod.namespace
            and cluster.top_owner(pod) in case.keys
            and budget.selector.matches(pod.labels)
            for pod in cluster.bound_pods()
        ):
            continue
        changed = budget._replace(min_available=None, max_unavailable=1)
        budgets = (*cluster.budgets[:at], changed, *cluster.budgets[at + 1 :])
        remedy = Remedy(RemedyKind.BUDGET, case.keys[0], name=budget.name, number=1)
        yield from _with_plan(case, cluster._replace(budgets=budgets), remedy)


def _uncordoned(case: _Case) -> Iterator[Remedy]:
    """Uncordon one node, or all cordoned nodes."""
    cluster = case.known.cluster
    names = [node.name for node in cluster.nodes if node.unschedulable]
    for chosen in [*[[name] for name in names[:_MOST_TRIED]], *([names] if len(names) > 1 else [])]:
        nodes = tuple(set_cordon(node, is_cordoned=False) if node.name in chosen else node for node in cluster.nodes)
        remedy = Remedy(RemedyKind.UNCORDON, case.keys[0], nodes=tuple(chosen))
        yield from _with_plan(case, cluster._replace(nodes=nodes), remedy)


def _nodes(case: _Case) -> Iterator[Remedy]:
    """Add a few nodes, each like one that exists; domains with few pods or few nodes come first."""
    models = list(_models(case))
    sizes = range(1, _MOST_NEW_NODES + 1)
    sets = itertools.chain.from_iterable(itertools.combinations_with_replacement(models, size) for size in sizes)
    cluster = case.known.cluster
    for chosen in itertools.islice(sets, _MOST_TRIED):
        if case.is_late:
            return
        new = []
        for at, model in enumerate(chosen, 1):
            name = f"{model.name}-new-{at}"
            new.append(model._replace(name=name, labels={**model.labels, HOSTNAME: name}, created=""))
        key = _coarse(case)
        # Without a constraint on the key, equal new nodes need no place of their own.
        is_named = len({model.name for model in chosen}) > 1 or key in case.topology_keys
        places = tuple(model.labels.get(key, "") * is_named for model in chosen)
        remedy = Remedy(RemedyKind.ADD_NODES, case.keys[0], topology_key=key, nodes=places, like=chosen[0].name)
        yield from _with_plan(case, cluster._replace(nodes=(*cluster.nodes, *new)), remedy)


def _coarse(case: _Case) -> str:
    """Return the key by which places of new nodes are named: the one with the fewest domains, or else the zone."""
    keys = case.topology_keys
    return min(keys.keys() - {HOSTNAME}, key=lambda key: (keys[key], key), default=ZONE)


def _models(case: _Case) -> Iterator[Node]:
    """Yield one usable node for each domain: those with few pods come first, then those with few nodes."""
    coarse = _coarse(case)
    counted = {
        value: matching
        for _, status in case.broken
        if status.topology_key == coarse
        for value, matching in status.counts.domains.items()
    }
    usable: dict[str, Node] = {}
    sizes: dict[str, int] = {}
    for node in case.known.cluster.nodes:
        place = node.labels.get(coarse, "")
        sizes[place] = sizes.get(place, 0) + 1
        if not node.unschedulable and not any(taint.repels for taint in node.taints):
            usable.setdefault(place, node)
    anywhere = next(iter(usable.values()), None)
    if anywhere is not None and any(status.counts.is_below_min_domains for _, status in case.broken):
        yield anywhere._replace(labels={**anywhere.labels, coarse: NEW_DOMAIN})
    for place in sorted(sizes, key=lambda item: (counted.get(item, 0), sizes[item], item)):
        if place in usable:
            yield usable[place]
        elif place and anywhere is not None:
            yield anywhere._replace(labels={**anywhere.labels, coarse: place})


def _templates(changes: Mapping[RemedyKind, tuple[dict[str, Any], str]], case: _Case) -> Iterator[Remedy]:
    """Change a constraint of a template, which starts a rollout; yield each change after which it ends well.

    matchLabelKeys counts only pods of the new revision, nodeTaintsPolicy leaves out nodes that the pods do not
    tolerate, minDomains is the number of domains, and maxSkew is the smallest value that is enough.
    """
    for key, status in case.broken:
        if status.is_default or key.kind not in RESTARTABLE or key not in case.known.cluster.controllers:
            continue
        for kind, (new_fields, name) in changes.items():
            if kind in _OF_HARD and not status.is_hard:
                continue
            skews = dict.fromkeys((status.max_skew + 1, status.skew or 0))
            numbers = {
                "maxSkew": [skew for skew in skews if skew > status.max_skew],
                "minDomains": [len(status.counts.domains)] * status.counts.is_below_min_domains,
            }
            for number in numbers.get(name, [0]):
                fields = {**new_fields, **({name: number} if name else {})}
                controller, is_softened = case.known.cluster.controllers[key], kind is RemedyKind.SOFTEN
                # Without pods of its own to count, a constraint would only lose the others.
                selector, own = status.selector, created_labels(controller.workload)
                counts_own = key.kind == "Deployment" and selector is not None and selector.matches(own)
                if case.is_late or (kind in _OF_REVISIONS and not counts_own):
                    continue
                changed = controller._replace(
                    workload=controller.workload.with_constraint_fields({status.position: fields})
                )
                request = case.request._replace(has_soft=case.request.has_soft and not is_softened)
                case.states -= _STATES_OF_A_ROLLOUT * _size(case.known, case.keys)
                found = roll_out(case.known, case.keys, [steps.Apply(changed)], request, changed={key: changed})
                if found is not None:
                    remedy = Remedy(kind, key, status.topology_key, number=number, position=status.position)
                    yield remedy._replace(is_rollout=True, is_exact=found[2].is_exact)
