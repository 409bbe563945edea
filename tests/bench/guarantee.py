"""Budgets of proofs and recommendations: `python -m tests.bench.guarantee`."""

from __future__ import annotations

import sys
import time
from typing import Any

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine.search.explore import Limit
from kubectl_spread.guarantee import texts
from kubectl_spread.guarantee.members import Member
from kubectl_spread.guarantee.policy import PLACED, PolicyRule
from kubectl_spread.guarantee.prove import prove
from kubectl_spread.guarantee.recommend import recommend
from kubectl_spread.guarantee.recommendation import RecommendationRequest
from kubectl_spread.guarantee.verdict import ProofStatus
from kubectl_spread.kubectl.situation import controller_of
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.sources import topology
from tests.guarantee import cases

PODS, BUDGET_S, RECOMMEND_S = 18, 30, 120
RULES: tuple[PolicyRule, ...] = (
    texts.less_than("hostname=1/3"),
    texts.less_than("zone=1/2"),
    texts.survive("zone", "50%"),
    PLACED,
)


def members(skews: dict[str, int]) -> list[Member]:
    """Return a Deployment of 18 pods with hard constraints."""
    constraints = [{"key": key, "skew": skew, "all": False, "honor": False} for key, skew in skews.items()]
    spec: dict[str, Any] = {"replicas": PODS, "stateful": False, "surge": "25%", "unavailable": "25%"}
    controller = controller_of(cases.manifest("web", {**spec, "constraints": constraints}))
    return [Member(ObjectKey("Deployment", "default", "web"), controller)]


def decided(cluster: Cluster) -> tuple[str, float]:
    start = time.process_time()
    skews = {cases.HOSTNAME: 4, cases.ZONE: 2}
    result = prove(members(skews), cluster, cases.profiles(), RULES, limit=Limit(20_000))
    verdicts = [item.verdict for regime in result.results for item in regime.rules]
    number = sum(item is ProofStatus.UNDECIDED for item in verdicts)
    states = max(item.states for regime in result.results for item in regime.rules)
    return f"{len(verdicts)} verdicts, {number} not decided, up to {states:,} states", time.process_time() - start


def recommended(cluster: Cluster) -> tuple[str, float]:
    start = time.process_time()
    found = recommend(RecommendationRequest(members({}), cluster, cases.profiles(), tuple(RULES), Limit(20_000)))
    best = [(item.topology_key, item.max_skew) for item in found.options[0].constraints] if found.options else []
    return f"{len(found.options)} options of {found.tried} candidates, the best {best}", time.process_time() - start


def main() -> int:
    cluster = topology.load("zones=3,nodes=4")
    failed = 0
    for name, budget_s, run in (
        ("policy over 18 pods on 12 nodes in 3 zones", BUDGET_S, decided),
        ("recommendation for it", RECOMMEND_S, recommended),
    ):
        found, seconds = run(cluster)
        is_over = seconds > budget_s
        failed += is_over
        print(f"{'MISSED' if is_over else 'ok':6} {name}: {seconds:.1f} s of {budget_s} s ({found})")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
