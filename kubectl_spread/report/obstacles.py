"""Sentences of `rebalance`: why there is no plan, and what would make one possible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from kubectl_spread.advice.rebalance.plan import Obstacle, ObstacleKind, Remedy, RemedyKind, UnclearBudget
from kubectl_spread.report.wording import name, plural, series
from kubectl_spread.text.wording import safe

_MOST_NAMES = 5


def obstacle(item: Obstacle) -> str:
    """Return why evictions do not repair the constraints."""
    return _OBSTACLES[item.kind](item)


def _pods(item: Obstacle) -> str:
    left = len(item.pods) - _MOST_NAMES
    return series([*item.pods[:_MOST_NAMES], *([plural(left, "other pod")] if left > 0 else [])])


def _any_pod(item: Obstacle) -> str:
    """Return the names of pods, only one of which is evicted: "a, b or c"."""
    shown = list(item.pods[:_MOST_NAMES])
    left = len(item.pods) - len(shown)
    shown += [f"one of {left} others" if left > 1 else "another pod"] if left else []
    return " or ".join(part for part in (", ".join(shown[:-1]), *shown[-1:]) if part)


def _are(item: Obstacle) -> str:
    return "is" if len(item.pods) == 1 else "are"


def _controller(item: Obstacle) -> str:
    kind = "" if item.owner is None else item.owner.kind
    if kind == "Pod":
        return f"{name(item.owner)} has no controller: nothing would create it again"
    if kind in ("Job", "CronJob"):
        return f"{name(item.owner)} counts an evicted pod as failed, so its pods are not evicted"
    return f"{name(item.owner)}: what a {kind} does after an eviction is not simulated"


def _unreachable(item: Obstacle) -> str:
    text = f"no distribution of these pods satisfies the constraint on {series(item.topology_keys)}"
    if not item.pods:
        return f"{text} of {name(item.owner)}"
    return f"{text} of {name(item.owner)}: it also counts pods of {_pods(item)}, which this plan may not evict"


_OBSTACLES: dict[ObstacleKind, Callable[[Obstacle], str]] = {
    ObstacleKind.CONTROLLER: _controller,
    ObstacleKind.ABSENT: lambda item: (
        f"{name(item.owner)} is not in the cluster facts, so it is not known how it replaces pods; "
        "add the object to the snapshot"
    ),
    ObstacleKind.UNKNOWN_CLAIMS: lambda item: (
        f"the PersistentVolumeClaims of {_pods(item)} are not in the cluster facts: their volumes may keep the pods in "
        "their zones, and a new pod would then stay Pending; add PersistentVolumeClaims, PersistentVolumes and "
        "StorageClasses to the facts"
    ),
    ObstacleKind.UNSETTLED: lambda item: (
        f"{name(item.owner)} is still changing: a rollout or another change under way replaces or removes running "
        "pods; wait until it is over"
    ),
    ObstacleKind.UNCOUNTED: lambda item: (
        f"the constraint on {series(item.topology_keys)} counts only some pods of {name(item.owner)}: "
        f"{_pods(item)} {_are(item)} missed by its selector, so its counts say nothing about them"
    ),
    ObstacleKind.NO_DOMAIN: lambda item: (
        f"no node that counts has the label {series(item.topology_keys)}: every new pod would stay Pending"
    ),
    ObstacleKind.UNREACHABLE: _unreachable,
    ObstacleKind.CONFLICT: lambda item: (
        f"no distribution of the pods of {name(item.owner)} satisfies its constraints on {series(item.topology_keys)} "
        "together: some domains have too few nodes for their share of the pods, so any pod that is evicted for one "
        "constraint violates another"
    ),
    ObstacleKind.PINNED: lambda item: (
        f"{_pods(item)} {_are(item)} bound to one domain of {series(item.topology_keys)} by "
        f"{'its' if len(item.pods) == 1 else 'their'} volumes, and cannot leave it"
    ),
    ObstacleKind.PENDING: lambda item: (
        f"the pod that replaces {_any_pod(item)} would stay Pending{f': {item.message}' if item.message else ''}"
    ),
    ObstacleKind.UNCREATED: lambda item: (
        f"the pod that replaces {_any_pod(item)} would not be created, because its controller waits for another pod; "
        "`kubectl spread explain` says why that one is Pending"
    ),
    ObstacleKind.REFUSED: lambda item: f"the eviction of {_any_pod(item)} would be refused: {item.message}",
    ObstacleKind.DISPLACES: lambda item: (
        f"the pod that replaces {_any_pod(item)} would take the place of another pod (preemption)"
    ),
    ObstacleKind.UNREADY: lambda item: (
        f"the pod that replaces {_any_pod(item)} would not become ready, as no pod of its revision is"
    ),
    ObstacleKind.ENDLESS: lambda item: f"after the eviction of {_any_pod(item)} pods would be replaced again and again",
    ObstacleKind.RETURNS: lambda _: "new pods may land where they do not help, whichever pods are evicted",
    ObstacleKind.TOO_MANY: lambda item: (
        f"a plan needs at least {plural(item.number, 'eviction')}, more than --max-moves allows"
    ),
    ObstacleKind.GAVE_UP: lambda item: (
        f"the search ended before it had tried everything ({plural(item.number, 'eviction')} tried)"
    ),
}


def remedy(item: Remedy) -> str:
    """Return a change that makes a plan possible, with what follows from it."""
    where = "in every outcome" if item.is_exact else "in every outcome that was simulated"
    effect = "then the constraints hold without an eviction"
    if item.is_rollout:
        effect = f"this starts a rollout, which completes, and all constraints hold {where}"
    elif item.evictions:
        effect = f"then {plural(item.evictions, 'eviction')} would be enough {where}"
    return f"{_CHANGES[item.kind](item)}; {effect}"


def _add_nodes(item: Remedy) -> str:
    counts = Counter(item.nodes)
    if "" in counts:
        return f"add {plural(len(item.nodes), 'node')} like {item.like}"
    parts = [f"{plural(number, 'node')} in {place}" for place, number in counts.items()]
    return f"add {series(parts)} ({item.topology_key}), like {item.like}"


def _constraint(item: Remedy) -> str:
    return f"the constraint on {item.topology_key} of {name(item.owner)}"


_REPELLING = "taints that the pods do not tolerate"
_NEW_PODS = "new pods are spread without counting old ones"
_CHANGES: dict[RemedyKind, Callable[[Remedy], str]] = {
    RemedyKind.ADD_NODES: _add_nodes,
    RemedyKind.UNCORDON: lambda item: f"uncordon {series(item.nodes)} (`kubectl uncordon {' '.join(item.nodes)}`)",
    RemedyKind.BUDGET: lambda item: (
        f"let the disruption budget {item.name} allow one pod to be missing (maxUnavailable: {item.number})"
    ),
    RemedyKind.BY_REVISION: lambda item: (
        f"add matchLabelKeys: [pod-template-hash] to {_constraint(item)}, so that {_NEW_PODS}"
    ),
    RemedyKind.HONOR_BY_REVISION: lambda item: (
        f"set nodeTaintsPolicy: Honor and matchLabelKeys: [pod-template-hash] in {_constraint(item)}, "
        f"so that nodes with {_REPELLING} no longer count, and {_NEW_PODS}"
    ),
    RemedyKind.HONOR_TAINTS: lambda item: (
        f"set nodeTaintsPolicy: Honor in {_constraint(item)}, so that nodes with {_REPELLING} no longer count"
    ),
    RemedyKind.MAX_SKEW: lambda item: (
        f"raise maxSkew of the constraint on {item.topology_key} to {item.number} in {name(item.owner)}"
    ),
    RemedyKind.SOFTEN: lambda item: f"change {_constraint(item)} to ScheduleAnyway, which gives up its guarantee",
}


def unclear_budget(item: UnclearBudget) -> str:
    """Return why a budget may select the pods of a plan, although nothing shows that it does."""
    budget = f"PodDisruptionBudget {safe(item.namespace)}/{safe(item.name)}"
    if item.selector_error:
        return f"{budget} may cover these pods: its selector is invalid ({safe(item.selector_error)})."
    return f"{budget} may cover these pods: it could not be read."
