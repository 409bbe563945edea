"""The binding of a waiting pod to a node."""

from __future__ import annotations

from kubectl_spread.engine.draft import Draft
from kubectl_spread.engine.oracle import Oracle
from kubectl_spread.engine.state import P, State, Step
from kubectl_spread.engine.world import World


def bind(world: World, oracle: Oracle, state: State, pod: P, *, node: int, others: int) -> Step:
    """Return the step that binds a pod, with the claims that are bound with it; no controller waits for a binding.

    `others` is the number of other nodes that were equally good.
    """
    draft = Draft(world, state)
    draft.claims = oracle.reserve(pod, node, state)
    draft.bind(pod, node, others=others)
    return draft.step()
