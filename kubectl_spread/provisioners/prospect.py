"""Whether a Pending pod gets a node that does not exist yet: for each pod one record of facts.

    added_nodes(cluster, pods, profiles)  ->  Prospect by the key of a pod

A `Prospect` has Karpenter's answer, each pool with the first reason why it makes no node for the pod, what Karpenter
counts in each domain and who brings it, and the domains that block: they hold the minimum, and no node may come there.
Once the nodes exist, kube-scheduler decides; where it refuses the pod still, its message is part of the record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.pod import Pod
from kubectl_spread.provisioners import binding, reading, topology
from kubectl_spread.provisioners import pods as pod_rules
from kubectl_spread.provisioners.refusals import Cause, Counts, Refusal
from kubectl_spread.provisioners.solve import NewNode, PodAnswer, PoolState, solve, types_of
from kubectl_spread.scheduler.framework.profile import Profile

_MOST_OUTCOMES = 4  # in which kube-scheduler is asked


class PoolProspect(NamedTuple):
    """One pool in Karpenter's order: why it gives no nodes at all, why none for this pod, or the nodes it gives."""

    name: str
    state: PoolState
    reason: str = ""
    refusal: Optional[Refusal] = None
    nodes: tuple[NewNode, ...] = ()


class CountedDomain(NamedTuple):
    """A domain as Karpenter counts it.

    pools: those whose nodes could be in it. nodes: how many nodes that exist are in it.
    blocks: it holds the minimum, and the pool that was tried makes no node there.
    """

    value: str
    matching: int
    pools: tuple[str, ...]
    nodes: int
    blocks: bool


class CountedDomains(NamedTuple):
    """The domains of a constraint that leaves a pool no place for the pod."""

    pool: str
    key: str
    domains: tuple[CountedDomain, ...]


class Prospect(NamedTuple):
    """What Karpenter does about one pod.

    refused: what kube-scheduler says of it once the nodes exist; empty if it uses them.
    is_always_refused: for all nodes that the provider may choose.
    """

    answer: PodAnswer
    pools: tuple[PoolProspect, ...]
    counted: tuple[CountedDomains, ...]
    refused: str = ""
    is_always_refused: bool = False


def has_pools(cluster: Cluster) -> bool:
    """Return whether Karpenter can add nodes at all."""
    return any(kind == "NodePool" for kind, _ in cluster.provisioning)


def added_nodes(cluster: Cluster, given: Iterable[Pod], profiles: Mapping[str, Profile]) -> dict[str, Prospect]:
    """Return what the next round of Karpenter does about pods, of the cluster or of a manifest, by their keys.

    Args:
        cluster: has NodePools. Its pods that kube-scheduler has marked as unschedulable are in the same round.
        given: pods that find no node.
        profiles: kube-scheduler's.
    """
    provisioning = reading.of_cluster(cluster)
    pods = {pod.key: pod for pod in (*pod_rules.pending(cluster), *given)}
    solution = solve(cluster, pods.values(), provisioning, is_order_known=False)
    bound = [
        binding.bound(cluster, outcome, nodes, profiles)
        for outcome in solution.outcomes[:_MOST_OUTCOMES]
        if outcome.nodes or outcome.existing
        for nodes in binding.new_nodes(cluster, outcome, provisioning)
    ]
    giving = (PoolState.USED, PoolState.NO_TYPE)  # domains
    used = [finding.pool for finding in solution.pools if finding.state in giving]
    reached = {
        pool.name: topology.domains_of((pool,), {pool.name: types_of(pool, provisioning).types}) for pool in used
    }
    found = {}
    for answer in solution.answers:
        key = answer.pod.key
        said = [item.refused.get(key, "") for item in bound if key in item.refused or key in item.placed]
        message = next(filter(None, said), "")
        refusals = {item.pool: item for item in reversed(answer.errors)}
        pools = (
            PoolProspect(
                pool.name,
                state,
                reason,
                refusals.get(pool.name),
                tuple(new for new in answer.new if new.pool == pool.name),
            )
            for pool, state, reason in solution.pools
        )
        counted = (_counted(item, cluster, reached) for item in answer.errors if isinstance(item.detail, Counts))
        found[key] = Prospect(answer, tuple(pools), tuple(counted), message, bool(message) and all(said))
    return found


def _counted(refusal: Refusal, cluster: Cluster, reached: dict[str, topology.Domains]) -> CountedDomains:
    """Return what is counted for the constraint of a refusal, with the pools that could reach each domain."""
    counts, key = refusal.detail, refusal.key
    assert isinstance(counts, Counts)  # noqa: S101
    least = min((number for value, number in counts.domains if counts.pod_domains.has(value)), default=0)
    domains = []
    for value, number in counts.domains:
        is_least = number == least and counts.pod_domains.has(value)
        blocks = refusal.cause is Cause.SPREAD and is_least and not counts.node_domains.has(value)
        nodes = sum(node.labels.get(key) == value for node in cluster.nodes)
        pools = tuple(name for name, values in reached.items() if value in values.get(key, {}))
        domains.append(CountedDomain(value, number, pools, nodes, blocks))
    return CountedDomains(refusal.pool, key, tuple(domains))
