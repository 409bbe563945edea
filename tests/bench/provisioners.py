"""Budget of a round of Karpenter's solver: `python -m tests.bench.provisioners`."""

from __future__ import annotations

import sys
import time

from kubectl_spread.objects.selectors import HOSTNAME, ZONE
from kubectl_spread.provisioners import solve
from tests.karpenter.worlds import instance_type, need, node, pod, pool, spread, World, ZONES

PODS, POOLS, TYPES, NODES, PER_WORKLOAD, BUDGET_S = 200, 5, 300, 20, 20, 2


def world() -> World:
    """Return a cluster in which 200 pods of ten workloads fit nowhere."""
    objects = [pool(f"p{at}", need(ZONE, *ZONES), weight=at) for at in range(POOLS)]
    objects += [node(f"n{at}", ZONES[at % 3], cpu=4) for at in range(NODES)]
    for at in range(PODS):
        app = f"app{at // PER_WORKLOAD}"
        soft = spread(HOSTNAME, app=app, whenUnsatisfiable="ScheduleAnyway")
        objects.append(pod(f"{app}-{at}", topologySpreadConstraints=[spread(app=app), soft]))
    types = [instance_type(f"t{at}", 2 + at % 30, arch="amd64" if at % 2 else "arm64") for at in range(TYPES)]
    return World(*objects, table={"*": types})


def main() -> int:
    found = world()
    start = time.process_time()
    solution = solve.solve(found.cluster, found.pending, found.provisioning)
    seconds = time.process_time() - start
    is_over = seconds > BUDGET_S
    numbers = [len(outcome.nodes) for outcome in solution.outcomes]
    name = f"{PODS} Pending pods, {POOLS} pools, {TYPES} types"
    how_many = f"{min(numbers)} to {max(numbers)} nodes"
    print(f"{'MISSED' if is_over else 'ok':6} {name}: {seconds:.2f} s of {BUDGET_S} s ({how_many})")
    return int(is_over)


if __name__ == "__main__":
    sys.exit(main())
