"""A rollout that is called complete without a simulation is complete in a simulation, too."""

from __future__ import annotations

from typing import Any, Optional

import pytest

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.engine import steps
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.results.summary import summarize, Verdict
from kubectl_spread.engine.run import play
from kubectl_spread.operations.rollouts import RolloutChecker
from kubectl_spread.report.check.rollouts import RolloutKind
from kubectl_spread.scheduler.profiles import profiles
from tests.judge import awkward, families

Plain = dict[str, Any]

_PROFILES = profiles()
_KINDS = ("Deployment", "StatefulSet", "DaemonSet")
# Quotas, pods on dead nodes, pods that are not ready, controllers that are at work: each of them decided once.
FOUND = (("quotas", 16), ("quotas", 21), ("dead-nodes", 12), ("dead-nodes", 16), ("dead-nodes", 25))
AWKWARD = (("DaemonSet", 26), ("DaemonSet", 34), ("StatefulSet", 22), ("StatefulSet", 32), ("Deployment", 42))


def _asked(items: Optional[list[Plain]]) -> int:
    """Compare both answers about each workload of a cluster; return how many rollouts were not simulated."""
    cluster = cluster_of(items or [])
    controllers = {key: item for key, item in cluster.controllers.items() if key not in cluster.owners}
    if not cluster.nodes:
        return 0
    found = RolloutChecker(cluster, _PROFILES, controllers).results()
    with_room = [item.key for item in found if item.kind is RolloutKind.NEXT and item.basis is Basis.ENOUGH_ROOM]
    for key in with_room:
        answer = play(cluster, _PROFILES, [steps.Restart(key)]).last
        assert summarize(answer, [key]).verdict is Verdict.COMPLETES, key
    return len(with_room)


@pytest.mark.parametrize(
    ("family", "seed"), [*((name, seed) for name in sorted(families.FAMILIES) for seed in range(6)), *FOUND]
)
def test_family(family: str, seed: int) -> None:
    scenario = families.scenario(family, seed)
    _asked(None if scenario is None else scenario.items)


@pytest.mark.parametrize(("kind", "seed"), [*((kind, seed) for kind in _KINDS for seed in range(8)), *AWKWARD])
def test_awkward_start(kind: str, seed: int) -> None:
    _asked(awkward.start(kind, seed))


def test_the_seeds_are_worth_asking() -> None:
    scenarios = [scenario for seed in range(20) if (scenario := families.scenario("priorities", seed)) is not None]

    assert sum(_asked(scenario.items) for scenario in scenarios) > 5
