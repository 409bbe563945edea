"""Proposals of changes. Each module proposes changes of one kind; `judge` decides whether they help."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kubectl_spread.advice.change import Ladder
from kubectl_spread.advice.moves import constraints, new_nodes, nodes, pods, storage, template
from kubectl_spread.advice.problem import PendingPodProblem

Move = Callable[[PendingPodProblem], Iterator[Ladder]]

MOVES: tuple[Move, ...] = (
    pods.propose_waiting,
    pods.propose_stale,
    constraints.propose,
    constraints.propose_selectors,
    template.propose,
    nodes.propose_kinds,
    template.propose_host_ports,
    template.propose_priority,
    pods.propose_rollout,
    template.propose_requests,
    nodes.propose_labels,
    nodes.propose,
    new_nodes.propose,
    pods.propose,
    storage.propose,
)
