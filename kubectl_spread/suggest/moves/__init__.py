"""Proposals of changes. Each module proposes changes of one kind; `judge` decides whether they help."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator

from kubectl_spread.suggest.change import Ladder
from kubectl_spread.suggest.moves import affinity
from kubectl_spread.suggest.moves import constraints
from kubectl_spread.suggest.moves import host_ports
from kubectl_spread.suggest.moves import new_nodes
from kubectl_spread.suggest.moves import node_kinds
from kubectl_spread.suggest.moves import node_labels
from kubectl_spread.suggest.moves import nodes
from kubectl_spread.suggest.moves import pods
from kubectl_spread.suggest.moves import priorities
from kubectl_spread.suggest.moves import requests
from kubectl_spread.suggest.moves import rollout
from kubectl_spread.suggest.moves import selectors
from kubectl_spread.suggest.moves import stale
from kubectl_spread.suggest.moves import storage
from kubectl_spread.suggest.moves import waiting
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
