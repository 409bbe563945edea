"""The JSON document of `rebalance`; its schema is schemas/rebalance-plan.json."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Optional

from kubectl_spread.advice.rebalance.plan import (
    ConstraintChange,
    Coverage,
    Eviction,
    EvictionPlan,
    Obstacle,
    Rebalance,
    Remedy,
    Repair,
    RepairVerdict,
    RestartPlan,
    UnclearBudget,
)
from kubectl_spread.cluster.snapshot import Unread
from kubectl_spread.errors import SourceError
from kubectl_spread.objects.keys import Range
from kubectl_spread.report.documents import API_VERSION
from kubectl_spread.report.documents import document as unread_document
from kubectl_spread.report.rebalance import commands, reasons
from kubectl_spread.report.rebalance.words import unclear_budget

Plain = dict[str, Any]


def document(
    found: Rebalance,
    errors: Iterable[SourceError] = (),
    unread: Iterable[Unread] = (),
    *,
    is_interrupted: bool = False,
) -> Plain:
    """Return a RebalancePlan."""
    return {
        "apiVersion": API_VERSION,
        "kind": "RebalancePlan",
        "repaired": found.is_fine,
        "interrupted": is_interrupted,
        "cutShort": found.is_cut_short,
        "checked": len(found.checked),
        "repairs": [_repair(item) for item in found.repairs],
        "notes": list(found.notes),
        "errors": [
            {"file": error.source, "message": error.message, "line": error.line, "column": error.column}
            for error in errors
        ],
        "unread": unread_document(unread),
    }


def _repair(item: Repair) -> Plain:
    return {
        "objects": [key._asdict() for key in item.keys],
        "verdict": item.verdict.value,
        "violated": [_constraint(change) for change in item.before],
        "plan": None if item.plan is None else _plan(item.plan),
        "restarts": [_restart(restart) for restart in item.restarts],
        "obstacles": [_obstacle(obstacle) for obstacle in item.obstacles],
        "remedies": [_remedy(remedy) for remedy in item.remedies],
        "commands": _commands(item),
    }


def _commands(item: Repair) -> list[str]:
    """Return the commands of the recommended plan."""
    if item.verdict is RepairVerdict.RESTART:
        return [command for restart in item.restarts for command in commands.of_restart(restart)]
    return [] if item.plan is None else commands.of_plan(item.plan)


def _plan(plan: EvictionPlan) -> Plain:
    return {
        "evictions": [_eviction(item, plan) for item in plan.evictions],
        "atLeast": plan.at_least,
        "smallest": plan.is_smallest,
        "fewestReady": [{"object": key._asdict(), "pods": number} for key, number in plan.fewest_ready.items()],
        "waitsFor": [key._asdict() for key in plan.unsettled],
        "autoscaled": [key._asdict() for key in plan.autoscaled],
        "budgetsKnown": plan.has_all_budgets and not plan.unclear_budgets,
        "unclearBudgets": [_unclear_budget(item) for item in plan.unclear_budgets],
        "inMotion": plan.coverage.is_in_motion,
        "constraints": [_constraint(change) for change in plan.changes],
        **_coverage(plan.coverage),
    }


def _unclear_budget(item: UnclearBudget) -> Plain:
    return {"namespace": item.namespace, "name": item.name, "message": unclear_budget(item)}


def _eviction(item: Eviction, plan: EvictionPlan) -> Plain:
    return {
        "object": item.owner._asdict(),
        "pod": item.pod,
        "node": item.node,
        "landsOn": list(item.nodes),
        "landsIn": {key: list(values) for key, values in item.places.items()},
        "budget": item.budget or None,
        "asksBudgets": item.asks_budgets,
        "lostVolumes": list(item.volatile),
        "commands": list(commands.of_eviction(item, plan)),
    }


def _restart(item: RestartPlan) -> Plain:
    return {
        "object": item.key._asdict(),
        "pods": item.pods,
        "fewestReady": item.fewest_ready,
        "lostVolumes": list(item.volatile),
        "constraints": [_constraint(change) for change in item.changes],
        "commands": commands.of_restart(item),
        **_coverage(item.coverage),
    }


def _coverage(found: Coverage) -> Plain:
    return {"exact": found.is_exact, "outcomes": found.outcomes, "states": found.states}


def _constraint(item: ConstraintChange) -> Plain:
    return {
        "object": item.owner._asdict(),
        "index": item.position,
        "origin": "scheduler" if item.is_default else "pod",
        "topologyKey": item.topology_key,
        "maxSkew": item.max_skew,
        "whenUnsatisfiable": item.when_unsatisfiable,
        "minDomains": item.min_domains,
        "violated": item.is_violated,
        "skew": {"before": item.skew, "after": _span(item.skew_after)},
        "domains": [
            {"value": domain.value, "before": domain.before, "after": _span(domain.after)} for domain in item.domains
        ],
    }


def _span(found: Optional[Range]) -> Optional[Plain]:
    return None if found is None else {"min": found.least, "max": found.most}


def _obstacle(item: Obstacle) -> Plain:
    return {
        "reason": item.kind.value,
        "object": None if item.owner is None else item.owner._asdict(),
        "pods": list(item.pods),
        "topologyKeys": list(item.topology_keys),
        "number": item.number,
        "message": item.message or None,
        "text": reasons.obstacle(item),
    }


def _remedy(item: Remedy) -> Plain:
    return {
        "change": item.kind.value,
        "object": item.owner._asdict(),
        "topologyKey": item.topology_key or None,
        "nodes": list(item.nodes),
        "likeNode": item.like or None,
        "budget": item.name or None,
        "number": item.number,
        "index": item.position if item.is_rollout else None,
        "evictions": item.evictions,
        "rollout": item.is_rollout,
        "exact": item.is_exact,
        "text": reasons.remedy(item),
    }
