"""Changes that make a plan possible, each simulated, such as one more node, one cordon less, or a weaker constraint."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Optional

from kubectl_spread.advice.rebalance.goals import is_broken
from kubectl_spread.advice.rebalance.plan import Obstacle, ObstacleKind, Remedy, RemedyKind
from kubectl_spread.advice.rebalance.planner import propose, RepairGroup, SearchOptions, Workloads, workloads_of
from kubectl_spread.advice.rebalance.rollouts import RESTARTABLE, roll_out
from kubectl_spread.cluster.snapshot import Cluster, Controller
from kubectl_spread.engine import steps
from kubectl_spread.engine.nodes import set_cordon
from kubectl_spread.objects.constraints.constraint import DO_NOT_SCHEDULE, HONOR, SCHEDULE_ANYWAY
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.reading.plain import mappings
from kubectl_spread.objects.selectors import HOSTNAME, ZONE
from kubectl_spread.objects.workloads.workload import POD_TEMPLATE_HASH
from kubectl_spread.simulate.running.status import ConstraintStatus

NEW_DOMAIN = "a new domain"  # No domain of a cluster is called so: a label's value has no space.
_MOST_REMEDIES = 4
_MOST_NEW_NODES = 3
_MOST_TRIED = 12  # sets of new nodes
_STATES_OF_ONE = 5_000  # for one change


_FIELDS: dict[RemedyKind, dict[str, Any]] = {
    RemedyKind.SOFTEN: {"whenUnsatisfiable": SCHEDULE_ANYWAY},
    RemedyKind.HONOR_TAINTS: {"nodeTaintsPolicy": HONOR},
    RemedyKind.BY_REVISION: {"matchLabelKeys": [POD_TEMPLATE_HASH]},
    RemedyKind.HONOR_BY_REVISION: {"nodeTaintsPolicy": HONOR, "matchLabelKeys": [POD_TEMPLATE_HASH]},
}


class _Case:
    """The group to repair, its violated constraints, and the states that may still be visited."""

    def __init__(
        self,
        known: Workloads,
        keys: Sequence[ObjectKey],
        broken: Sequence[tuple[ObjectKey, ConstraintStatus]],
        options: SearchOptions,
    ) -> None:
        self.known, self.keys, self.broken, self.options = known, tuple(keys), broken, options
        self.states = options.limit.max_states

    @property
    def is_late(self) -> bool:
        return self.options.watch.is_stopped or self.states <= 0 or self.options.limit.is_late()


def remedies(
    known: Workloads, keys: Sequence[ObjectKey], found: Iterable[Obstacle], options: SearchOptions
) -> tuple[Remedy, ...]:
    """Return a few changes after which the constraints can hold, the least harmful first.

    Args:
        known: all workloads.
        keys: the workloads to repair.
        found: why there is no plan.
        options: extent of the searches.
    """
    broken = tuple(
        (item.status.key, status)
        for item in known.items
        for status in item.status.constraints
        if item.status.key in keys and is_broken(status, has_soft=options.has_soft)
    )
    case = _Case(known, keys, broken, options)
    made: list[Remedy] = []
    kinds = {item.kind for item in found}
    if ObstacleKind.TOO_MANY in kinds:
        return ()  # A higher limit is enough.
    for way in _ways(kinds):
        if len(made) == _MOST_REMEDIES or case.is_late:
            break
        remedy = next(way(case), None)
        if remedy is not None and _is_superfluous(remedy, made):
            continue
        made += [] if remedy is None else [remedy]
    return tuple(made)


def _is_superfluous(remedy: Remedy, made: Iterable[Remedy]) -> bool:
    """Return whether a smaller change of the same constraint is enough."""
    return remedy.kind is RemedyKind.HONOR_BY_REVISION and any(item.kind is RemedyKind.BY_REVISION for item in made)


def _ways(kinds: set[ObstacleKind]) -> Iterator[Any]:
    if ObstacleKind.REFUSED in kinds:
        yield _budgets
    yield _uncordoned
    yield _nodes
    yield _by_revision
    yield _honouring
    yield _weaker
    yield _softer


def _evictions(case: _Case, cluster: Cluster) -> Optional[tuple[int, bool]]:
    """Return the length of the plan on a changed cluster, and whether it is exact; None without a plan."""
    known = workloads_of(cluster, case.known.profiles)
    limit = case.options.limit._replace(max_states=min(_STATES_OF_ONE, case.states))
    found = propose(known, RepairGroup(case.keys), case.options._replace(limit=limit))
    case.states -= found.board.states
    plan = found.result.plan
    return None if plan is None else (len(plan.slots), plan.is_exact)


def _budgets(case: _Case) -> Iterator[Remedy]:
    """Let each budget of the workloads allow one disruption."""
    cluster = case.known.cluster
    for at, budget in enumerate(cluster.budgets):
        if not any(
            budget.namespace == pod.namespace
            and cluster.top_owner(pod) in case.keys
            and budget.selector.matches(dict(pod.cls.labels))
            for pod in cluster.bound_pods()
        ):
            continue
        changed = budget._replace(min_available=None, max_unavailable=1)
        budgets = (*cluster.budgets[:at], changed, *cluster.budgets[at + 1 :])
        found = _evictions(case, cluster._replace(budgets=budgets))
        if found is not None:
            yield Remedy(
                RemedyKind.BUDGET, case.keys[0], name=budget.name, number=1, evictions=found[0], is_exact=found[1]
            )


def _uncordoned(case: _Case) -> Iterator[Remedy]:
    """Uncordon one node, or all cordoned nodes."""
    cluster = case.known.cluster
    names = [node.name for node in cluster.nodes if node.unschedulable]
    for chosen in [*[[name] for name in names[:_MOST_TRIED]], *([names] if len(names) > 1 else [])]:
        nodes = tuple(set_cordon(node, is_cordoned=False) if node.name in chosen else node for node in cluster.nodes)
        found = _evictions(case, cluster._replace(nodes=nodes))
        if found is not None:
            yield Remedy(RemedyKind.UNCORDON, case.keys[0], nodes=tuple(chosen), evictions=found[0], is_exact=found[1])


def _nodes(case: _Case) -> Iterator[Remedy]:
    """Add a few nodes, each like one that exists; domains with few pods or few nodes come first."""
    models = list(_models(case))
    sizes = range(1, _MOST_NEW_NODES + 1)
    sets = itertools.chain.from_iterable(itertools.combinations_with_replacement(models, size) for size in sizes)
    cluster = case.known.cluster
    for chosen in itertools.islice(sets, _MOST_TRIED):
        if case.is_late:
            return
        new = tuple(_copy(model, at) for at, model in enumerate(chosen, 1))
        found = _evictions(case, cluster._replace(nodes=(*cluster.nodes, *new)))
        if found is not None:
            yield Remedy(
                RemedyKind.ADD_NODES,
                case.keys[0],
                topology_key=_coarse(case),
                nodes=tuple(model.labels.get(_coarse(case), "") for model in chosen),
                like=chosen[0].name,
                evictions=found[0],
                is_exact=found[1],
            )


def _coarse(case: _Case) -> str:
    """Return the key by which places of new nodes are named: the one with the fewest domains, or else the zone."""
    keys = {
        status.topology_key: len(status.counts.domains)
        for item in case.known.items
        if item.status.key in case.keys
        for status in item.status.constraints
    }
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


def _copy(node: Node, number: int) -> Node:
    name = f"{node.name}-new-{number}"
    return node._replace(name=name, labels={**node.labels, HOSTNAME: name}, created="")


def _by_revision(case: _Case) -> Iterator[Remedy]:
    """Count only pods of the new revision, so that a rollout ends evenly."""
    for key, status in _own_constraints(case):
        if status.selector is not None:
            yield from _template(case, key, status, RemedyKind.BY_REVISION, 0)


def _honouring(case: _Case) -> Iterator[Remedy]:
    """Leave out nodes with taints that the pods do not tolerate."""
    for key, status in _own_constraints(case):
        if status.when_unsatisfiable == DO_NOT_SCHEDULE:
            yield from _template(case, key, status, RemedyKind.HONOR_TAINTS, 0)
            yield from _template(case, key, status, RemedyKind.HONOR_BY_REVISION, 0)


def _weaker(case: _Case) -> Iterator[Remedy]:
    """Raise maxSkew to the smallest value with which a rollout ends well."""
    for key, status in _own_constraints(case):
        for skew in dict.fromkeys((status.max_skew + 1, status.skew or 0)):
            if skew > status.max_skew:
                yield from _template(case, key, status, RemedyKind.MAX_SKEW, skew)


def _softer(case: _Case) -> Iterator[Remedy]:
    for key, status in _own_constraints(case):
        if status.when_unsatisfiable == DO_NOT_SCHEDULE:
            yield from _template(case, key, status, RemedyKind.SOFTEN, 0)


def _own_constraints(case: _Case) -> Iterator[tuple[ObjectKey, ConstraintStatus]]:
    for key, status in case.broken:
        if not status.is_default and key.kind in RESTARTABLE and key in case.known.cluster.controllers:
            yield key, status


def _template(case: _Case, key: ObjectKey, status: ConstraintStatus, kind: RemedyKind, number: int) -> Iterator[Remedy]:
    """Change a constraint of the template, which starts a rollout; yield the change if the rollout ends well."""
    is_by_revision = "matchLabelKeys" in _FIELDS.get(kind, {})
    if case.is_late or (is_by_revision and key.kind != "Deployment"):
        return
    fields: dict[str, Any] = {**_FIELDS.get(kind, {}), **({"maxSkew": number} if number else {})}
    changed = _patched(case.known.cluster.controllers[key], status.position, fields)
    found = roll_out(
        case.known,
        case.keys,
        [steps.Apply(changed)],
        has_soft=case.options.has_soft and kind is not RemedyKind.SOFTEN,
        deadline=case.options.limit.deadline,
        changed={key: changed},
        watch=case.options.watch,
    )
    if found is not None:
        yield Remedy(
            kind,
            key,
            topology_key=status.topology_key,
            number=number,
            position=status.position,
            is_rollout=True,
            is_exact=found.coverage.is_exact,
        )


def _patched(controller: Controller, position: int, fields: dict[str, Any]) -> Controller:
    owner = controller.workload
    spec = owner.template.get("spec") or {}
    written = [dict(item) for item in mappings(spec.get("topologySpreadConstraints"))]
    written[position].update(fields)
    if "whenUnsatisfiable" in fields:
        written[position].pop("minDomains", None)
    template = {**owner.template, "spec": {**spec, "topologySpreadConstraints": written}}
    return controller._replace(workload=owner._replace(template=template, known_hash=""))
