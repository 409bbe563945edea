"""Words that the forms of a plan share."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.advice.rebalance.plan import UnclearBudget
from kubectl_spread.text.wording import safe


def series(names: Sequence[str], last: str = "and") -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    shown = [safe(name) for name in names]
    return f"{', '.join(shown[:-1])} {last} {shown[-1]}" if len(shown) > 1 else "".join(shown)


def unclear_budget(item: UnclearBudget) -> str:
    """Return why a budget may select the pods of a plan, although nothing shows that it does."""
    budget = f"PodDisruptionBudget {safe(item.namespace)}/{safe(item.name)}"
    if item.selector_error:
        return f"{budget} may cover these pods: its selector is invalid ({safe(item.selector_error)})."
    return f"{budget} may cover these pods: it could not be read."
