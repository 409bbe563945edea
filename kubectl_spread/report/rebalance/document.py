"""The JSON document of `rebalance`; its schema is schemas/rebalance-plan.json."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_spread.advice.rebalance.plan import (
    ConstraintChange,
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
from kubectl_spread.report.documents import (
    API_VERSION,
    error_documents,
    form,
    origin,
    Plain,
    to_document,
    unread_documents,
)
from kubectl_spread.report.rebalance import commands, reasons
from kubectl_spread.report.rebalance.words import unclear_budget


def document(
    found: Rebalance,
    errors: Iterable[SourceError] = (),
    unread: Iterable[Unread] = (),
    *,
    is_interrupted: bool = False,
) -> Plain:
    """Return a RebalancePlan."""
    return to_document(
        found,
        "apiVersion kind repaired=fine interrupted cutShort checked repairs notes errors unread",
        apiVersion=API_VERSION,
        kind="RebalancePlan",
        interrupted=is_interrupted,
        checked=len(found.checked),
        errors=error_documents(errors),
        unread=unread_documents(unread),
    )


def _commands(repair: Repair) -> list[str]:
    """Return the commands of the recommended plan."""
    if repair.verdict is RepairVerdict.RESTART:
        return [command for restart in repair.restarts for command in commands.of_restart(restart)]
    return [] if repair.plan is None else commands.of_plan(repair.plan)


_COVERAGE = "exact=coverage.exact outcomes=coverage.outcomes states=coverage.states"
form(
    Repair,
    "objects=keys verdict violated=before plan restarts obstacles remedies commands",
    commands=_commands,
)
form(
    EvictionPlan,
    "evictions atLeast smallest fewestReady waitsFor=unsettled autoscaled budgetsKnown unclearBudgets "
    f"inMotion=coverage.in_motion constraints=changes {_COVERAGE}",
    evictions=lambda plan: [
        to_document(item, commands=list(commands.of_eviction(item, plan))) for item in plan.evictions
    ],
    fewestReady=lambda plan: [{"object": key, "pods": number} for key, number in plan.fewest_ready.items()],
    budgetsKnown=lambda plan: plan.has_all_budgets and not plan.unclear_budgets,
)
form(UnclearBudget, "namespace name message", message=unclear_budget)
form(
    Eviction,
    "object=owner pod node landsOn=nodes landsIn=places budget? asksBudgets lostVolumes=volatile commands",
)
form(
    RestartPlan,
    f"object=key pods fewestReady lostVolumes=volatile constraints=changes commands {_COVERAGE}",
    commands=commands.of_restart,
)
form(
    ConstraintChange,
    "object=owner index=position origin topologyKey maxSkew whenUnsatisfiable minDomains violated skew domains",
    origin=origin,
    skew=lambda change: {"before": change.skew, "after": change.skew_after},
)
form(Obstacle, "reason=kind object=owner pods topologyKeys number message? text", text=reasons.obstacle)
form(
    Remedy,
    "change=kind object=owner topologyKey? nodes likeNode?=like budget?=name number index evictions rollout exact text",
    index=lambda remedy: remedy.position if remedy.is_rollout else None,
    text=reasons.remedy,
)
