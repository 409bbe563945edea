"""Sentences: why there is no plan, and what would make one possible."""

from __future__ import annotations

from collections import Counter

from kubectl_spread.advice.rebalance.plan import Obstacle, ObstacleKind, Remedy, RemedyKind
from kubectl_spread.report.rebalance.words import series
from kubectl_spread.report.simulation.text import name, plural

_MOST_NAMES = 5


def obstacle(item: Obstacle) -> str:
    """Return why evictions do not repair the constraints."""
    return _OBSTACLES[item.kind](item)


def _pods(item: Obstacle) -> str:
    shown = list(item.pods[:_MOST_NAMES])
    left = len(item.pods) - len(shown)
    return series([*shown, plural(left, "other pod")] if left else shown)


def _any_pod(item: Obstacle) -> str:
    """Return the names of pods, only one of which is evicted: "a, b or c"."""
    shown = list(item.pods[:_MOST_NAMES])
    left = len(item.pods) - len(shown)
    shown += [f"one of {left} others" if left > 1 else "another pod"] if left else []
    return " or ".join(part for part in (", ".join(shown[:-1]), *shown[-1:]) if part)


def _controller(item: Obstacle) -> str:
    kind = "" if item.owner is None else item.owner.kind
    if kind == "Pod":
        return f"{name(item.owner)} has no controller: nothing would create it again"
    if kind in ("Job", "CronJob"):
        return f"{name(item.owner)} counts an evicted pod as failed, so its pods are not evicted"
    return f"{name(item.owner)}: what a {kind} does after an eviction is not simulated"


def _absent(item: Obstacle) -> str:
    return (
        f"{name(item.owner)} is not in the cluster facts, so it is not known how it replaces pods; "
        "add the object to the snapshot"
    )


def _unknown_claims(item: Obstacle) -> str:
    return (
        f"the PersistentVolumeClaims of {_pods(item)} are not in the cluster facts: their volumes may keep the pods in "
        "their zones, and a new pod would then stay Pending; add PersistentVolumeClaims, PersistentVolumes and "
        "StorageClasses to the facts"
    )


def _uncounted(item: Obstacle) -> str:
    verb = "is" if len(item.pods) == 1 else "are"
    return (
        f"the constraint on {series(item.topology_keys)} counts only some pods of {name(item.owner)}: "
        f"{_pods(item)} {verb} missed by its selector, so its counts say nothing about them"
    )


def _no_domain(item: Obstacle) -> str:
    return f"no node that counts has the label {series(item.topology_keys)}: every new pod would stay Pending"


def _unsettled(item: Obstacle) -> str:
    return (
        f"{name(item.owner)} is still changing: a rollout or another change under way replaces or removes running "
        "pods; wait until it is over"
    )


def _unreachable(item: Obstacle) -> str:
    said = f"no distribution of these pods satisfies the constraint on {series(item.topology_keys)}"
    if not item.pods:
        return f"{said} of {name(item.owner)}"
    return f"{said} of {name(item.owner)}: it also counts pods of {_pods(item)}, which this plan may not evict"


def _conflict(item: Obstacle) -> str:
    return (
        f"no distribution of the pods of {name(item.owner)} satisfies its constraints on {series(item.topology_keys)} "
        "together: some domains have too few nodes for their share of the pods, so any pod that is evicted for one "
        "constraint violates another"
    )


def _pinned(item: Obstacle) -> str:
    verb = "is" if len(item.pods) == 1 else "are"
    whose = "its" if len(item.pods) == 1 else "their"
    key = series(item.topology_keys)
    return f"{_pods(item)} {verb} bound to one domain of {key} by {whose} volumes, and cannot leave it"


def _pending(item: Obstacle) -> str:
    said = f": {item.message}" if item.message else ""
    return f"the pod that replaces {_any_pod(item)} would stay Pending{said}"


def _uncreated(item: Obstacle) -> str:
    return (
        f"the pod that replaces {_any_pod(item)} would not be created, because its controller waits for another pod; "
        "`kubectl spread explain` says why that one is Pending"
    )


def _refused(item: Obstacle) -> str:
    return f"the eviction of {_any_pod(item)} would be refused: {item.message}"


def _displaces(item: Obstacle) -> str:
    return f"the pod that replaces {_any_pod(item)} would take the place of another pod (preemption)"


def _unready(item: Obstacle) -> str:
    return f"the pod that replaces {_any_pod(item)} would not become ready, as no pod of its revision is"


def _endless(item: Obstacle) -> str:
    return f"after the eviction of {_any_pod(item)} pods would be replaced again and again"


def _returns(_item: Obstacle) -> str:
    return "new pods may land where they do not help, whichever pods are evicted"


def _too_many(item: Obstacle) -> str:
    return f"a plan needs at least {plural(item.number, 'eviction')}, more than --max-moves allows"


def _gave_up(item: Obstacle) -> str:
    return f"the search ended before it had tried everything ({plural(item.number, 'eviction')} tried)"


_OBSTACLES = {
    ObstacleKind.CONTROLLER: _controller,
    ObstacleKind.ABSENT: _absent,
    ObstacleKind.UNKNOWN_CLAIMS: _unknown_claims,
    ObstacleKind.UNSETTLED: _unsettled,
    ObstacleKind.UNCOUNTED: _uncounted,
    ObstacleKind.NO_DOMAIN: _no_domain,
    ObstacleKind.UNREACHABLE: _unreachable,
    ObstacleKind.CONFLICT: _conflict,
    ObstacleKind.PINNED: _pinned,
    ObstacleKind.PENDING: _pending,
    ObstacleKind.UNCREATED: _uncreated,
    ObstacleKind.REFUSED: _refused,
    ObstacleKind.DISPLACES: _displaces,
    ObstacleKind.UNREADY: _unready,
    ObstacleKind.ENDLESS: _endless,
    ObstacleKind.RETURNS: _returns,
    ObstacleKind.TOO_MANY: _too_many,
    ObstacleKind.GAVE_UP: _gave_up,
}


def remedy(item: Remedy) -> str:
    """Return a change that makes a plan possible, with what follows from it."""
    return f"{_CHANGES[item.kind](item)}; {_effect(item)}"


def _effect(item: Remedy) -> str:
    where = "in every outcome" if item.is_exact else "in every outcome that was simulated"
    if item.is_rollout:
        return f"this starts a rollout, which completes, and all constraints hold {where}"
    if not item.evictions:
        return "then the constraints hold without an eviction"
    return f"then {plural(item.evictions, 'eviction')} would be enough {where}"


def _add_nodes(item: Remedy) -> str:
    counts = Counter(item.nodes)
    if "" in counts:
        return f"add {plural(len(item.nodes), 'node')} like {item.like}"
    parts = [f"{plural(number, 'node')} in {place}" for place, number in counts.items()]
    return f"add {series(parts)} ({item.topology_key}), like {item.like}"


def _uncordon(item: Remedy) -> str:
    return f"uncordon {series(list(item.nodes))} (`kubectl uncordon {' '.join(item.nodes)}`)"


def _budget(item: Remedy) -> str:
    return f"let the disruption budget {item.name} allow one pod to be missing (maxUnavailable: {item.number})"


def _max_skew(item: Remedy) -> str:
    return f"raise maxSkew of the constraint on {item.topology_key} to {item.number} in {name(item.owner)}"


def _honor(item: Remedy) -> str:
    return f"set nodeTaintsPolicy: Honor in {_constraint(item)}, so that nodes with {_REPELLING} no longer count"


def _by_revision(item: Remedy) -> str:
    return f"add matchLabelKeys: [pod-template-hash] to {_constraint(item)}, so that {_NEW_PODS}"


def _honor_by_revision(item: Remedy) -> str:
    return (
        f"set nodeTaintsPolicy: Honor and matchLabelKeys: [pod-template-hash] in {_constraint(item)}, "
        f"so that nodes with {_REPELLING} no longer count, and {_NEW_PODS}"
    )


def _constraint(item: Remedy) -> str:
    return f"the constraint on {item.topology_key} of {name(item.owner)}"


_REPELLING = "taints that the pods do not tolerate"
_NEW_PODS = "new pods are spread without counting old ones"


def _soften(item: Remedy) -> str:
    return (
        f"change the constraint on {item.topology_key} of {name(item.owner)} to ScheduleAnyway, "
        "which gives up its guarantee"
    )


_CHANGES = {
    RemedyKind.ADD_NODES: _add_nodes,
    RemedyKind.UNCORDON: _uncordon,
    RemedyKind.BUDGET: _budget,
    RemedyKind.BY_REVISION: _by_revision,
    RemedyKind.HONOR_BY_REVISION: _honor_by_revision,
    RemedyKind.HONOR_TAINTS: _honor,
    RemedyKind.MAX_SKEW: _max_skew,
    RemedyKind.SOFTEN: _soften,
}
