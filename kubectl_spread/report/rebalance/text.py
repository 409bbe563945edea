"""A plan for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubectl_spread.advice.rebalance.plan import (
    ConstraintChange,
    Coverage,
    DomainChange,
    Eviction,
    EvictionPlan,
    ObstacleKind,
    Rebalance,
    Repair,
    RepairVerdict,
    RestartPlan,
)
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.objects.selectors.labels import HOSTNAME
from kubectl_spread.report.rebalance import commands, reasons
from kubectl_spread.report.rebalance.words import series, unclear_budget
from kubectl_spread.report.simulation.text import name, plural
from kubectl_spread.report.table import paint, table, wrap

_MOST_DOMAINS = 12
_MOST_NODES = 4
_MOST_EVICTIONS = 40
_UNTRIED = (  # obstacles with which not every remedy is tried
    ObstacleKind.CONTROLLER,
    ObstacleKind.ABSENT,
    ObstacleKind.UNKNOWN_CLAIMS,
    ObstacleKind.UNSETTLED,
    ObstacleKind.UNCOUNTED,
    ObstacleKind.NO_DOMAIN,
    ObstacleKind.TOO_MANY,
    ObstacleKind.GAVE_UP,
)
_STYLES = {RepairVerdict.EVICT: "green", RepairVerdict.RESTART: "green", RepairVerdict.NO_PLAN: "red"}


def render(found: Rebalance, *, width: int, colour: bool, is_wide: bool = False) -> str:
    """Return the answer; `is_wide`: long lists are complete."""
    blocks: list[str] = []
    for item in found.repairs:
        blocks += ["\n".join(block) for block in RepairText(item, width=width, colour=colour, is_wide=is_wide).blocks()]
    if found.is_cut_short:
        reason = "; --timeout gives it more time" if found.is_late else ", to keep the answer quick"
        blocks.append(f"A search was cut short{reason}.")
    if found.notes:
        lines = [line for note in found.notes for line in wrap(note, width, indent="  ", hanging="  ")]
        blocks.append("\n".join(["Not simulated:", *lines]))
    return "\n\n".join(blocks)


class RepairText:
    """The parts of the answer for one repair, as lines."""

    def __init__(self, item: Repair, *, width: int, colour: bool = False, is_wide: bool = False) -> None:
        """Prepare an answer; `width` is the number of columns of a line."""
        self.item = item
        self.width = width
        self.colour = colour
        self.is_wide = is_wide

    def blocks(self) -> Iterator[list[str]]:
        """Yield the parts that have lines."""
        parts: list[Iterable[str]] = [self._headline()]
        if self.item.verdict is RepairVerdict.EVICT and self.item.plan is not None:
            parts += self._evictions(self.item.plan)
        elif self.item.verdict is RepairVerdict.RESTART:
            parts += self._restart(self.item.restarts)
        else:
            parts += [self.obstacles(), self.remedies()]
        for part in parts:
            lines = list(part)
            if lines:
                yield lines

    def _wrap(self, text: str, indent: str = "") -> list[str]:
        return wrap(text, self.width, indent=indent, hanging="  " if indent else "")

    def _headline(self) -> Iterator[str]:
        names = series([name(key) for key in self.item.keys])
        yield f"{names}: {paint(self.verdict(), _STYLES[self.item.verdict], colour=self.colour)}"
        for change in self.item.before:
            yield from self._wrap(f"{self._whose(change)}{_violation(change, is_wide=self.is_wide)}", "  ")

    def verdict(self) -> str:
        """Return the result in a few words."""
        item = self.item
        if item.verdict is RepairVerdict.RESTART:
            return "a rollout restart repairs it"
        if item.verdict is RepairVerdict.NO_PLAN or item.plan is None:
            is_open = any(found.kind is ObstacleKind.GAVE_UP for found in item.obstacles)
            return "no plan found in the time given" if is_open else "no plan"
        if not item.plan.evictions:
            return "repaired without an eviction, once the cluster settles"
        return f"{plural(len(item.plan.evictions), 'eviction')} repair{'s' * (len(item.plan.evictions) == 1)} it"

    def _whose(self, change: ConstraintChange) -> str:
        return f"{change.owner.name}: " if len(self.item.keys) > 1 else ""

    def _evictions(self, plan: EvictionPlan) -> Iterator[Iterable[str]]:
        if plan.evictions:
            yield [*self.warning(plan), *self._table(plan)]
        for change in plan.changes:
            yield self._change(change)
        yield self.certainty(plan)
        yield self.alternative(self.item.restarts)
        if plan.evictions:
            yield self.reservations(plan)
            yield self._commands(commands.of_plan(plan))

    def _commands(self, lines: list[str]) -> Iterator[str]:
        yield "Commands:"
        yield from (f"  {line}" for line in commands.script_lines(lines))
        yield from wrap("If one of them fails, those after it do not run. Make a new plan then.", self.width)

    def reservations(self, plan: EvictionPlan) -> Iterator[str]:
        """Yield reservations about the plan: uncertain facts, and changes that must end before."""
        if plan.unsettled:
            yield from self._wrap(
                f"Wait first: a rollout or another change of {series([name(key) for key in plan.unsettled])} is under "
                "way, and this plan begins when it is over."
            )
        doubts = [unclear_budget(item) for item in plan.unclear_budgets]
        doubts += [] if plan.has_all_budgets else ["These cluster facts may lack PodDisruptionBudgets."]
        if doubts:
            yield from self._wrap(
                f"{' '.join(doubts)} The commands ask the API server, which refuses an eviction that a budget does not "
                "allow."
            )
        if plan.autoscaled:
            names = series([name(key) for key in plan.autoscaled])
            yield from self._wrap(
                f"A HorizontalPodAutoscaler may change the replicas of {names} in the meantime. Make a new plan then."
            )

    def warning(self, plan: EvictionPlan) -> Iterator[str]:
        """Yield a warning with the number of pods that the plan deletes."""
        number = len(plan.evictions)
        what = "1 running pod" if number == 1 else f"{number} running pods, one after the other"
        yield from self._wrap(
            f"This plan deletes {what}. Nothing was deleted yet. "
            + ("" if number == 1 else "Continue only once the new pod is ready. ")
            + _losses(plan.evictions)
        )

    def _table(self, plan: EvictionPlan) -> list[str]:
        rows = [("", "POD", "NODE", "THE NEW POD GOES TO")]
        shown = plan.evictions if self.is_wide else plan.evictions[:_MOST_EVICTIONS]
        rows += [(str(at), item.pod, item.node, landing_nodes(item)) for at, item in enumerate(shown, 1)]
        lines = table([(at or "#", *cells) for at, *cells in rows], self.width, indent="  ")
        left = len(plan.evictions) - len(shown)
        return [*lines, f"  and {plural(left, 'more eviction')}; --wide lists all"] if left else lines

    def _change(self, change: ConstraintChange) -> Iterator[str]:
        head = (f"{self._whose(change)}{change.topology_key}", "before", "after")
        shown = _shown(change.domains, is_wide=self.is_wide)
        rows = [(item.value or '""', str(item.before), span(item.after)) for item in shown]
        yield from table([head, *rows], self.width, indent="  ")
        if len(shown) < len(change.domains):
            yield f"  and {plural(len(change.domains) - len(shown), 'more domain')}"
        after = "" if change.skew_after is None else f" before, {span(change.skew_after)} after"
        yield from self._wrap(f"Skew {change.skew}{after}; maxSkew is {change.max_skew}{_min_domains(change)}.", "  ")

    def certainty(self, plan: EvictionPlan) -> Iterator[str]:
        """Yield what was visited, and what holds."""
        yield from self._wrap(_covered(plan.coverage, plan.evictions, "No other pod is moved."))
        if plan.evictions:
            yield from self._wrap(f"{_smallest(plan)} {self._ready(plan.fewest_ready)}")

    @property
    def _wanted(self) -> int:
        return sum(self.item.wanted.values())

    def _ready(self, fewest: dict[ObjectKey, int]) -> str:
        """Return how many pods stay ready."""
        parts = [f"{number} of {plural(self.item.wanted[key], 'pod')}" for key, number in fewest.items()]
        if len(parts) > 1:
            parts = [f"{part} of {key.name}" for part, key in zip(parts, fewest, strict=True)]
        return f"At least {series(parts)} {'stays' if list(fewest.values()) == [1] else 'stay'} ready on the way."

    def alternative(self, restarts: tuple[RestartPlan, ...]) -> Iterator[str]:
        """Yield the effect of a rollout restart instead of evictions."""
        if restarts and self.item.plan is not None:
            pods = sum(item.pods for item in restarts)
            ready = min(item.fewest_ready for item in restarts)
            yield from self._wrap(
                f"A rollout restart repairs it, too: it replaces all {plural(pods, 'pod')}, and "
                f"{ready} stay ready on the way. {_simulated(restarts[-1].coverage)}"
            )

    def restart_warning(self, restarts: tuple[RestartPlan, ...]) -> Iterator[str]:
        """Yield a warning with the number of pods that the restarts replace."""
        pods = sum(item.pods for item in restarts)
        yield from self._wrap(
            f"This plan replaces {'the running pod' if pods == 1 else f'all {pods} running pods'}. "
            f"Nothing was replaced yet. {_losses_of_restart(self.item)}".strip()
        )

    def _restart(self, restarts: tuple[RestartPlan, ...]) -> Iterator[Iterable[str]]:
        yield self.restart_warning(restarts)
        yield self.why_restart(restarts)
        for change in restarts[-1].changes:
            yield self._change(change)
        yield self._wrap(_covered(restarts[-1].coverage, (), ""))
        yield self._commands([line for item in restarts for line in commands.of_restart(item)])

    def why_restart(self, restarts: tuple[RestartPlan, ...]) -> Iterator[str]:
        """Yield why a rollout restart is better than evictions."""
        ready = min(item.fewest_ready for item in restarts)
        if self.item.plan is not None:
            number, left = len(self.item.plan.evictions), sum(self.item.plan.fewest_ready.values())
            yield from self._wrap(
                f"Why not evict: {plural(number, 'eviction')} would repair it, too, but leave only {left} of "
                f"{plural(self._wanted, 'pod')} ready on the way. The rollout creates new pods first: {ready} stay "
                "ready."
            )
            return
        yield "Why not evict:"
        for reason in self.item.obstacles:
            yield from self._wrap(f"- {reasons.obstacle(reason)}", "  ")
        yield from self._wrap(f"The rollout keeps at least {ready} of {plural(self._wanted, 'pod')} ready.")

    def obstacles(self) -> Iterator[str]:
        """Yield why there is no plan."""
        yield "Why:"
        for item in self.item.obstacles:
            yield from self._wrap(f"- {reasons.obstacle(item)}", "  ")

    def remedies(self) -> Iterator[str]:
        """Yield what would help."""
        if not self.item.remedies and any(item.kind in _UNTRIED for item in self.item.obstacles):
            return
        if not self.item.remedies:
            yield from self._wrap(
                "No node to add, no cordon to remove and no weaker constraint was found that makes a plan possible."
            )
            return
        yield "What would help, each simulated:"
        for item in self.item.remedies:
            yield from self._wrap(f"- {reasons.remedy(item)}", "  ")


def _violation(change: ConstraintChange, *, is_wide: bool) -> str:
    shown = _shown(change.domains, is_wide=is_wide)
    counts = " ".join(f"{item.value}={item.before}" for item in shown)
    more = f" and {plural(len(change.domains) - len(shown), 'more domain')}" if len(shown) < len(change.domains) else ""
    return (
        f"{change.topology_key} ({change.when_unsatisfiable}): {counts}{more}; "
        f"skew {change.skew}, maxSkew {change.max_skew}{_min_domains(change)}"
    )


def _min_domains(change: ConstraintChange) -> str:
    if change.min_domains is None or len(change.domains) >= change.min_domains:
        return ""
    return f", with fewer than minDomains ({change.min_domains}) domains, so that the minimum is 0"


def _shown(domains: tuple[DomainChange, ...], *, is_wide: bool) -> tuple[DomainChange, ...]:
    """Return the domains to list; of many, the changed ones come first, then the fullest."""
    if is_wide or len(domains) <= _MOST_DOMAINS:
        return domains
    ranked = sorted(domains, key=lambda item: (not _changes(item), -item.before))
    chosen = set(ranked[:_MOST_DOMAINS])
    return tuple(item for item in domains if item in chosen)


def _changes(domain: DomainChange) -> bool:
    return domain.after is not None and domain.after != Range(domain.before, domain.before)


def span(found: Range | None) -> str:
    """Return `2`, or `1 to 2`; empty without a plan."""
    return "" if found is None else str(found)


def landing_nodes(item: Eviction) -> str:
    """Return the nodes on which the new pod may land; their domain instead of many names."""
    if len(item.nodes) <= _MOST_NODES:
        return series(item.nodes, "or")
    places = {key: values for key, values in item.places.items() if key != HOSTNAME and values}
    if not places:
        return f"one of {len(item.nodes)} nodes"
    key = min(places, key=lambda key: (len(places[key]), key))
    return f"one of {len(item.nodes)} nodes in {series(list(places[key][:_MOST_NODES]), 'or')}"


def _losses(evictions: Iterable[Eviction]) -> str:
    """Return which pods lose data."""
    found = [item for item in evictions if item.volatile]
    if not found:
        return ""
    volumes = series(sorted({volume for item in found for volume in item.volatile}))
    pods = series([item.pod for item in found[:_MOST_NODES]])
    more = f" and {len(found) - _MOST_NODES} more" if len(found) > _MOST_NODES else ""
    return f"The data of these pods in {volumes} (emptyDir or ephemeral) is lost: {pods}{more}."


def _losses_of_restart(item: Repair) -> str:
    volumes = sorted({volume for found in item.restarts for volume in found.volatile})
    return f"The data of its pods in {series(volumes)} (emptyDir or ephemeral) is lost." if volumes else ""


def _smallest(plan: EvictionPlan) -> str:
    if plan.is_smallest:
        return "No shorter list of evictions is enough."
    are = "is" if plan.at_least == 1 else "are"
    return f"At least {plural(plan.at_least, 'eviction')} {are} needed; no list shorter than this one was found."


def _simulated_outcomes(number: int) -> str:
    return "the only outcome that was simulated" if number == 1 else f"all {number:,} outcomes that were simulated"


def _covered(coverage: Coverage, evictions: Sequence[Eviction], more: str) -> str:
    if coverage.is_exact:
        where = (
            f" in all {coverage.outcomes:,} outcomes" if coverage.outcomes != 1 else ", in the only possible outcome"
        )
        if coverage.outcomes == 1 and any(len(item.nodes) > 1 for item in evictions):
            where = ", whichever of several equal nodes takes a pod"
        states = plural(coverage.states, "state")
        return f"The constraints hold afterwards{where} ({states} visited). {more}".rstrip()
    if coverage.is_in_motion:
        return (
            f"The constraints hold afterwards in {_simulated_outcomes(coverage.outcomes)} "
            f"({plural(coverage.states, 'state')} visited). But these cluster facts are of a moment in which pods are "
            "created or deleted, so other outcomes are possible. Wait until this is over, and make a new plan."
        )
    if coverage.basis is Basis.NOT_SIMULATED:
        return (
            f"The constraints hold afterwards in {_simulated_outcomes(coverage.outcomes)} "
            f"({plural(coverage.states, 'state')} visited). What is not simulated can change this."
        )
    return (
        f"The constraints hold afterwards in all {coverage.outcomes:,} outcomes that were simulated "
        f"({plural(coverage.states, 'state')} visited). Not every state was visited, so other outcomes are possible."
    )


def _simulated(coverage: Coverage) -> str:
    if coverage.is_exact:
        return f"The constraints hold afterwards in every outcome ({plural(coverage.states, 'state')} visited)."
    return "The constraints hold afterwards in the outcomes that were simulated; others are possible."
