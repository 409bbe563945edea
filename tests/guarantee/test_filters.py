"""The numbers of a group give the same nodes as the scheduler's filters."""

from __future__ import annotations

import random

import numpy as np
import pytest

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.guarantee.build import GroupBuilder
from kubectl_spread.guarantee.model import BITS
from kubectl_spread.guarantee.policy import Regime
from kubectl_spread.guarantee.space import Space
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.cycle import Scheduler
from tests.guarantee import cases


@pytest.mark.parametrize("seed", range(40))
def test_hosts_are_the_nodes_that_the_scheduler_finds(seed: int) -> None:
    """For any pods of the group on any nodes, reachable or not."""
    chance = random.Random(seed)
    case = cases.case(seed, "rollouts")
    cluster, profiles = cases.cluster(case), cases.profiles()
    builder = GroupBuilder(cases.members(case), cluster, profiles, cases.KEYS, regime=Regime.ROLLOUTS)
    space = Space(builder.group, builder.filters, (), Regime.ROLLOUTS)
    columns = Columns(cluster)
    scheduler = Scheduler(columns, profiles, all_nodes=True)
    contents = [0] * len(cluster.nodes)
    for number in range(6):
        for kind, cls in enumerate(builder.classes):
            found = scheduler.filter(Pod("next", "next", cls)).feasible
            assert space.hosts(0, kind, tuple(contents)) == np.flatnonzero(found).tolist()
        kind, node = chance.randrange(len(builder.classes)), chance.randrange(len(cluster.nodes))
        name = f"pod-{number}"
        columns.bind(Pod(name, name, builder.classes[kind], cluster.nodes[node].name), node)
        contents[node] += 1 << BITS * kind
