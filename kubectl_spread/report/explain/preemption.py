"""Preemption as text: the pods to evict and the choice of the node, or why it does not help."""

from __future__ import annotations

from kubectl_spread.explain.preemption import NoPreemptionReason, PreemptionReport, Unhelpful
from kubectl_spread.report.table import Block, Rows
from kubectl_spread.report.wording import name
from kubectl_spread.scheduler.preemption import Candidate, NOW
from kubectl_spread.text.wording import comma_list, count_noun, first_of, join_with_and

_MOST_REASONS = 8
_MOST_VICTIMS = 10
_MOST_EQUAL = 5


def blocks(found: PreemptionReport) -> list[Block]:
    """Return the effect of preemption, or the reason why it cannot help."""
    if found.not_eligible:
        return [f"Preemption: {found.not_eligible}"]
    if found.node:
        out: list[Block] = [f"Preemption would evict {count_noun(len(found.victims), 'pod')} on {found.node}:"]
        victims = []
        for victim in found.victims:
            parts = [f"priority {victim.pod.cls.priority}"]
            if victim.owner is not None:
                parts.append(f"of {name(victim.owner)}{', the workload of the pod itself' * victim.is_sibling}")
            if victim.counted_by:
                parts.append(f"counted by {', '.join(victim.counted_by)}: the count there drops by one")
            parts += ["its eviction breaks a PodDisruptionBudget"] if victim.breaks_budget else []
            victims.append(f"  {victim.pod.key}: {'; '.join(parts)}")
        out += first_of(victims, _MOST_VICTIMS, lambda left: f"  and {left} more")
        out += _choice(found)
    else:
        out = ["Preemption does not help:"]
        reasons = [f"  {_unhelpful(group)}" for group in found.unhelpful]
        out += first_of(reasons, _MOST_REASONS, lambda left: f"  and for {count_noun(left, 'more reason')}")
    if (other := found.other_node) is not None:
        out.append(
            f"Without {other.pod.key} on {other.pod.node_name}, which {other.counted_by} counts in the same domain, "
            f"{other.node} would take the pod; "
            "the scheduler does not try that: it evicts only on the node where the pod is to go."
        )
    return out


def _choice(found: PreemptionReport) -> list[Block]:
    if found.criterion is None:
        return ["  the only node where preemption helps"]
    if found.equals:
        names = join_with_and(first_of((found.node, *found.equals), _MOST_EQUAL, lambda left: f"{left} more"))
        text = f"{names} are equal in every criterion, so the scheduler may choose"
        out: list[Block] = [f"  {text} {'either' if len(found.equals) == 1 else 'any of them'}"]
    else:
        text = f"preferred to {found.choices[1].node} because of {found.criterion.value}"
        out = [f"  chosen among {found.candidates} nodes, {text}:"]
    rows: list[tuple[str, ...]] = [("NODE", "PDB VIOLATIONS", "HIGHEST PRIORITY", "SUM", "VICTIMS", "EARLIEST START")]
    for choice in found.choices:
        numbers = (choice.violations, highest(choice), priorities(choice), len(choice.victims))
        rows.append((choice.node, *map(str, numbers), earliest(choice) or "-"))
    out.append(Rows(tuple(rows), "    "))
    if found.candidates > len(found.choices):
        out.append(f"    and {count_noun(found.candidates - len(found.choices), 'more node')}")
    return out


def highest(choice: Candidate) -> int:
    """Return the highest priority of the victims; 0 without any."""
    return choice.highest if choice.victims else 0


def priorities(choice: Candidate) -> int:
    """Return the sum of the victims' priorities as they are."""
    return sum(victim.cls.priority for victim in choice.victims)


def earliest(choice: Candidate) -> str:
    """Return when the earliest victim of the highest priority started; empty if no start is known."""
    return "" if choice.earliest == NOW else choice.earliest


def _unhelpful(group: Unhelpful) -> str:
    number, nodes = count_noun(len(group.nodes), "node"), comma_list(group.nodes)
    one = len(group.nodes) == 1
    if group.why is NoPreemptionReason.NO_LOWER_PRIORITY:
        return f"{number} {'has' if one else 'have'} no pod of lower priority: {nodes}"
    reasons = ", ".join(group.reasons)
    if group.why is NoPreemptionReason.REFUSED_EVEN_SO:
        its = "its" if one else "their"
        return f"{number} would refuse the pod even without {its} pods of lower priority ({reasons}): {nodes}"
    return f"evicting pods would not help on {number}{f' ({reasons})' if reasons else ''}: {nodes}"
