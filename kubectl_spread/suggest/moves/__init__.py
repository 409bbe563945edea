"""Proposals of changes. Each module proposes changes of one kind; `judge` decides whether they help."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kubectl_spread.suggest.change import Ladder
from kubectl_spread.suggest.moves import (
    affinity,
    constraints,
    host_ports,
    pods,
    priorities,
    requests,
    rollout,
    selectors,
    stale,
    storage,
    waiting,
)
from kubectl_spread.suggest.moves.on_nodes import new_nodes, node_kinds, node_labels, nodes
from kubectl_spread.suggest.problem import PendingPodProblem

Move = Callable[[PendingPodProblem], Iterator[Ladder]]

MOVES: tuple[Move, ...] = (
    waiting.propose,
    stale.propose,
    constraints.propose,
    selectors.propose,
    affinity.propose,
    node_kinds.propose,
    host_ports.propose,
    priorities.propose,
    rollout.propose,
    requests.propose,
    node_labels.propose,
    nodes.propose,
    new_nodes.propose,
    pods.propose,
    storage.propose,
)
