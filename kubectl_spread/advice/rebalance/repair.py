"""Repairs for all workloads that violate their constraints.

    workloads ─▶ violated? ─▶ groups that count each other's pods ─▶ search ─┬▶ list of evictions
                                                                             ├▶ rollout restart
                                                                             └▶ obstacles and remedies

Each group's plan begins where the plans of the previous groups end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Optional

from kubectl_spread.advice.rebalance.board import Board
from kubectl_spread.advice.rebalance.goals import changes, conflict, constraint_change, Goal, goals, is_broken, NEVER
from kubectl_spread.advice.rebalance.plan import (
    Coverage,
    Eviction,
    EvictionPlan,
    Obstacle,
    ObstacleKind,
    Rebalance,
    Repair,
    RepairVerdict,
    RestartPlan,
    UnclearBudget,
)
from kubectl_spread.advice.rebalance.planner import (
    GroupSearchResult,
    propose,
    RepairRequest,
    Way,
    Workloads,
    workloads_of,
)
from kubectl_spread.advice.rebalance.remedies import remedies, restarts, roll_out, volatile_volumes
from kubectl_spread.cluster.ownership import OwnedPods, workload_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.containers import grouped
from kubectl_spread.engine import steps
from kubectl_spread.engine.loading import deleted_first
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.run import Watch
from kubectl_spread.engine.search.explore import Limit
from kubectl_spread.explain.status import ConstraintState, WorkloadStatus
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.workloads.workload import REPLICATED_KINDS
from kubectl_spread.scheduler.framework.plugin import Profile
from kubectl_spread.scheduler.plugins.volumes.zone import topologies_of


def chosen_pods(found: Way, board: Board, cluster: Cluster) -> tuple[Pod, ...]:
    """Return the pod of each eviction; among equal pods of one node, the one that a controller would delete first."""
    known = board.world.slot_of
    # The place of a pod that ends may be the same.
    by_slot = grouped((known[pod.uid], pod) for pod in cluster.pods if pod.uid in known and not pod.terminating)
    ordered = {item: deleted_first(sorted(pods, key=lambda pod: pod.name)) for item, pods in by_slot.items()}
    return tuple(ordered[item].pop(0) for item, _ in found)


def evictions(
    found: Way, pods: Iterable[Pod], board: Board, cluster: Cluster, topology_keys: Collection[str]
) -> Iterator[Eviction]:
    """Yield the evictions with the possible nodes of the replacements, and with their domains of some keys."""
    names = board.world.node_names
    labels = {node.name: node.labels for node in cluster.nodes}
    for pod, (_, reached) in zip(pods, found, strict=True):
        owner = cluster.top_owner(pod)
        if owner is None:
            continue
        nodes = tuple(sorted(names[at] for at in reached.nodes))
        yield Eviction(
            pod.name,
            owner,
            pod.node_name,
            nodes,
            {
                key: tuple(sorted({labels[name][key] for name in nodes if name in labels and key in labels[name]}))
                for key in topology_keys
            },
            budget := budget_of(pod, cluster),
            volatile_volumes(owner, cluster),
            bool(budget or unclear_budgets(cluster, pod.namespace)) or not cluster.has_all_budgets(pod.namespace),
            "" if "/" in pod.uid else pod.uid,  # Without a uid in the facts, it is made of the names.
        )


def unclear_budgets(cluster: Cluster, namespace: str) -> tuple[UnclearBudget, ...]:
    """Return the budgets of a namespace whose selected pods are unknown."""
    invalid = [(item.namespace, item.name, item.selector_error) for item in cluster.budgets if item.selector_error]
    lost = [(key.namespace, key.name, "") for key in cluster.undecodable if key.kind == "PodDisruptionBudget"]
    return tuple(UnclearBudget(*item) for item in (*invalid, *lost) if item[0] == namespace)


def budget_of(pod: Pod, cluster: Cluster) -> str:
    """Return the name of the budget that selects a pod; empty if there is none."""
    budgets = (item for item in cluster.budgets if item.namespace == pod.namespace)
    return next((item.name for item in budgets if item.selector.matches(pod.labels)), "")


def beforehand(known: Workloads, keys: Iterable[ObjectKey]) -> Iterator[Obstacle]:
    """Yield the reasons that are clear without a search."""
    of = known.by_key
    for key in keys:
        if key.kind not in REPLICATED_KINDS:
            yield Obstacle(ObstacleKind.CONTROLLER, key)
        elif key not in known.cluster.controllers:
            yield Obstacle(ObstacleKind.ABSENT, key)
        claims = known.cluster.storage.claims
        lost = {  # running pods whose claims are not in the facts; ephemeral claims end with their pods
            pod.name
            for pod in known.cluster.bound_pods()
            if pod.cls.volumes
            and known.cluster.top_owner(pod) == key
            and not claims.keys() >= set(pod.cls.claims(with_ephemeral=False))
        }
        if lost:
            yield Obstacle(ObstacleKind.UNKNOWN_CLAIMS, key, tuple(sorted(lost)))
        for item in of[key].constraints:
            if item.state is ConstraintState.VIOLATED and not item.counts.domains:
                yield Obstacle(ObstacleKind.NO_DOMAIN, key, topology_keys=(item.topology_key,))
            elif item.state is ConstraintState.PARTLY_COUNTED and item.uncounted is not None:
                yield Obstacle(ObstacleKind.UNCOUNTED, key, item.uncounted.pods, topology_keys=(item.topology_key,))


def of_search(known: Workloads, keys: Collection[ObjectKey], proposal: GroupSearchResult) -> Iterator[Obstacle]:
    """Yield the reasons that a search found."""
    result, tally, board = proposal.result, proposal.tally, proposal.board
    unsettled = [key for key in board.unsettled_workloads if key in keys]
    if unsettled:
        yield from (Obstacle(ObstacleKind.UNSETTLED, key) for key in unsettled)
        return
    # The constraints that no distribution of the movable pods satisfies
    states = board.beginning.states
    together = conflict(tally.goals, tally.counts(min(states)))
    for at, goal in enumerate(tally.goals):
        if together == (goal,) or any(tally.needs(state)[at].evictions > proposal.movable for state in states):
            owners = {workload_of(pod, known.cluster) for pod in goal.pods}
            others = sorted(f"{key.kind} {key.namespace}/{key.name}" for key in owners.difference(keys))
            yield Obstacle(ObstacleKind.UNREACHABLE, goal.key, tuple(others), topology_keys=(goal.status.topology_key,))
    if len(together) > 1:
        topology_keys = tuple(goal.status.topology_key for goal in together)
        yield Obstacle(ObstacleKind.CONFLICT, together[0].key, topology_keys=topology_keys)
    yield from pinned_pods(known.cluster, keys, {goal.status.topology_key for goal in tally.goals if goal.key in keys})
    # One obstacle for all pods whose eviction fails with the same message
    found: dict[tuple[ObstacleKind, str], dict[str, None]] = {}
    for item in result.troubles:
        found.setdefault((item.kind, item.message), {}).update(dict.fromkeys(item.pods))
    for kind, message in sorted(found, key=lambda key: list(ObstacleKind).index(key[0])):
        yield Obstacle(kind, None, tuple(found[kind, message]), message)
    if proposal.most < min(result.at_least, proposal.movable + 1) < NEVER and proposal.most < proposal.movable:
        yield Obstacle(ObstacleKind.TOO_MANY, number=result.at_least)
    elif not result.is_over:
        yield Obstacle(ObstacleKind.GAVE_UP, number=result.evictions)
    elif result.evictions and not result.troubles:
        yield Obstacle(ObstacleKind.RETURNS, number=result.evictions)


def pinned_pods(cluster: Cluster, keys: Iterable[ObjectKey], topology_keys: Iterable[str]) -> Iterator[Obstacle]:
    """Yield the pods that volumes keep in their domain of a key."""
    wanted = frozenset(keys)
    nodes = {node.name: node for node in cluster.nodes}
    for topology_key in sorted(topology_keys):
        found: dict[ObjectKey, list[str]] = {}
        for pod in cluster.bound_pods():
            owner = cluster.top_owner(pod)
            node = nodes.get(pod.node_name)
            if owner not in wanted or owner is None or node is None or not pod.cls.volumes:
                continue
            reachable = {other.labels.get(topology_key) for other in cluster.nodes if _allows(pod, other, cluster)}
            if reachable == {node.labels.get(topology_key)}:
                found.setdefault(owner, []).append(pod.name)
        for owner, names in found.items():
            yield Obstacle(ObstacleKind.PINNED, owner, tuple(sorted(names)), topology_keys=(topology_key,))


def _allows(pod: Pod, node: Node, cluster: Cluster) -> bool:
    storage = cluster.storage
    for claim in map(storage.claims.get, pod.cls.claims()):
        volume = storage.volumes.get(claim.volume_name) if claim is not None else None
        if volume is None:
            continue
        zones = topologies_of(volume.labels)
        if not volume.matches_node(node.labels) or not all(
            zone.allows(node.labels, labels_are_one=True) for zone in zones
        ):
            return False
    return True


_STATES = 60_000  # Most states that the search for one group's evictions visits.
_STATES_OF_REMEDIES = 40_000  # of all groups


def rebalance(
    cluster: Cluster,
    profiles: Mapping[str, Profile],
    request: Optional[RepairRequest] = None,
    watch: Optional[Watch] = None,
) -> Rebalance:
    """Return a repair for each group of workloads with violated constraints."""
    request = request or RepairRequest()
    request = request._replace(limit=Limit(int(_STATES * request.effort)), watch=watch or Watch())
    known = workloads_of(cluster, profiles)
    chosen = [
        item for item in known.items if request.wants(item.key, item.labels) and (request.has_defaults or item.has_own)
    ]
    broken = [
        item
        for item in chosen
        if any(
            is_broken(status, has_soft=request.has_soft)
            or (not status.is_fine and status.state is not ConstraintState.UNKNOWN)
            for status in item.constraints
        )
    ]
    return _Repairing(known, request).all(_groups(broken, known), tuple(item.key for item in chosen))


def _groups(broken: Sequence[WorkloadStatus], known: Workloads) -> list[tuple[ObjectKey, ...]]:
    """Return the workloads, those together whose constraints count each other's pods."""
    owned = OwnedPods(known.cluster)
    classes = {item.key: {id(pod.cls): pod.cls for pod in owned.of(item.key)}.values() for item in broken}

    def counts(found: Iterable[Goal], keys: Collection[ObjectKey], others: Iterable[ObjectKey]) -> bool:
        """Return whether a constraint of some workloads counts pods of others."""
        counted = [cls for other in others for cls in classes[other]]
        return any(goal.key in keys and any(map(goal.is_counted, counted)) for goal in found)

    groups: list[list[ObjectKey]] = []
    for key in (item.key for item in broken):
        wanted = frozenset((key, *(other for group in groups for other in group)))
        items = (item for item in known.items if item.key in wanted)
        found = list(goals(items, known.cluster.nodes, wanted, has_soft=True))
        joined = [group for group in groups if counts(found, [key], group) or counts(found, group, [key])]
        groups = [group for group in groups if group not in joined]
        groups.append([*(other for group in joined for other in group), key])
    return [tuple(sorted(group)) for group in groups]


class _Repairing:
    """Repair of one group after the other."""

    def __init__(self, known: Workloads, request: RepairRequest) -> None:
        self._known = known
        self._request = request
        self._left = int(_STATES_OF_REMEDIES * request.effort)
        self._repaired: list[ObjectKey] = []
        self._evicted: list[str] = []
        self._chosen: tuple[Pod, ...] = ()
        self._notes: dict[str, None] = {}

    def all(self, groups: Sequence[tuple[ObjectKey, ...]], checked: tuple[ObjectKey, ...]) -> Rebalance:
        """Return the repairs of all groups, in order."""
        found = []
        for at, keys in enumerate(groups):
            self._request.watch.step = at
            found.append(self._repair(keys))
        gave_up = any(item.kind is ObstacleKind.GAVE_UP for repair in found for item in repair.obstacles)
        return Rebalance(tuple(found), checked, tuple(self._notes), gave_up)

    def _repair(self, keys: tuple[ObjectKey, ...]) -> Repair:
        known, request = self._known, self._request
        clear = tuple(beforehand(known, keys))
        # Pods of other controllers stay where they are; the others may move around them.
        if any(item.kind is not ObstacleKind.CONTROLLER for item in clear) or len(clear) == len(keys):
            is_unknown = any(item.kind is ObstacleKind.UNKNOWN_CLAIMS for item in clear)
            return self._result(keys, None, () if is_unknown else self._restarts(keys, None), clear)
        proposal = propose(known, keys, request, repaired=self._repaired, earlier=self._evicted)
        self._notes.update(proposal.board.world.notes)
        is_unsettled = bool(set(proposal.board.unsettled_workloads) & set(keys))
        plan = self._settling(keys) if is_unsettled else self._plan(keys, proposal)
        reasons = () if plan is not None else (*clear, *of_search(known, keys, proposal))
        found = self._result(keys, plan, () if is_unsettled else self._restarts(keys, plan), reasons)
        if found.verdict is RepairVerdict.EVICT:
            self._repaired += keys
            self._evicted += [item.uid for item in self._chosen]
        if found.verdict is RepairVerdict.NO_PLAN and not is_unsettled:
            made, self._left = remedies(known, keys, reasons, request._replace(limit=Limit(self._left)))
            return found._replace(remedies=made)
        return found

    def _result(
        self,
        keys: tuple[ObjectKey, ...],
        plan: Optional[EvictionPlan],
        restarts: tuple[RestartPlan, ...],
        reasons: tuple[Obstacle, ...],
    ) -> Repair:
        before = tuple(
            change
            for item in self._known.items
            if item.key in keys
            for status in item.constraints
            if (change := constraint_change(item.key, status, has_soft=self._request.has_soft)).is_violated
        )
        wanted = self._wanted(keys)
        verdict, is_better = RepairVerdict.NO_PLAN, bool(restarts)
        if plan is not None:  # Do restarts keep more pods ready than evictions?
            is_kept = all(item.fewest_ready >= item.wanted and item.coverage.is_exact for item in restarts)
            is_better &= is_kept and sum(plan.fewest_ready.values()) < sum(wanted.values())
            verdict = RepairVerdict.EVICT
        return Repair(keys, wanted, RepairVerdict.RESTART if is_better else verdict, before, plan, restarts, reasons)

    def _wanted(self, keys: tuple[ObjectKey, ...]) -> dict[ObjectKey, int]:
        found = self._known.by_key
        return {key: found[key].running if found[key].wanted is None else found[key].wanted or 0 for key in keys}

    def _settling(self, keys: tuple[ObjectKey, ...]) -> Optional[EvictionPlan]:
        """Return a plan without evictions if a change that is under way repairs the constraints.

        It decides itself which of several equal pods it removes, so no pod can be named for an eviction.
        """
        wanted = self._wanted(keys)
        ops = [steps.Scale(*item) for item in wanted.items()]  # Changes nothing, but names the workloads.
        found = roll_out(self._known, keys, ops, self._request)
        self._chosen = ()
        if found is None:
            return None
        _, changes, coverage = found
        return EvictionPlan((), 0, coverage._replace(basis=Basis.SAMPLE, is_in_motion=True), changes, wanted, wanted)

    def _plan(self, keys: tuple[ObjectKey, ...], proposal: GroupSearchResult) -> Optional[EvictionPlan]:
        found, board = proposal.result.plan, proposal.board
        if found is None:
            return None
        states = found[-1][1].states if found else board.beginning.states
        cluster = self._known.cluster
        topology_keys = sorted({goal.status.topology_key for goal in proposal.tally.goals if goal.key in keys})
        pods = chosen_pods(found, board, cluster)
        self._chosen = pods
        ready = {key: board.ready(states, key) for key in keys}
        fewest = {key: min(number, board.ready(board.beginning.states, key)) for key, number in ready.items()}
        for slot, reached in found:
            key = board.world.keys[slot[0]]
            fewest[key] = min(fewest[key], reached.fewest_ready)
        is_in_motion = not self._repaired and board.is_in_motion
        is_exact = all(item.is_exact for _, item in found) and board.beginning.is_exact and not is_in_motion
        basis = Basis.ALL_OUTCOMES if is_exact else Basis.SAMPLE
        if any(key is None or key in keys for key in board.world.gaps.values()):
            basis = Basis.NOT_SIMULATED
        namespaces = sorted({key.namespace for key in keys})
        return EvictionPlan(
            tuple(evictions(found, pods, board, cluster, topology_keys)),
            proposal.result.at_least,
            Coverage(len(states), sum(item.visited for _, item in found), basis, is_in_motion),
            changes(keys, proposal.tally, states, alike=board.symmetry.alike, has_soft=self._request.has_soft),
            fewest,
            ready,
            tuple(key for key in board.unsettled_workloads if key not in self._repaired),
            frozenset(key for key in keys if board.is_rolled_out(states, key)),
            tuple(key for key in keys if key in cluster.autoscalers),
            all(cluster.has_all_budgets(key.namespace) for key in keys),
            tuple(found for name in namespaces for found in unclear_budgets(cluster, name)),
        )

    def _restarts(self, keys: tuple[ObjectKey, ...], plan: Optional[EvictionPlan]) -> tuple[RestartPlan, ...]:
        """Return restarts if there are no evictions, or if they replace few more pods, and at most `most_moves`."""
        running = sum(item.running for item in self._known.items if item.key in keys)
        most = running if self._request.most_moves is None else self._request.most_moves
        is_enough = plan is not None and 2 * len(plan.evictions) <= running
        if self._request.watch.is_stopped or is_enough or running > most:
            return ()
        return restarts(self._known, keys, self._request)
