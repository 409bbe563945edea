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
from kubectl_spread.provisioners import pods as pod_rules
from kubectl_spread.provisioners import reading, topology
from kubectl_spread.provisioners.binding import Binding, bindings
from kubectl_spread.provisioners.reading import Provisioning
from kubectl_spread.provisioners.refusals import Cause, Counts, Refusal
from kubectl_spread.provisioners.solve import NewNode, PodAnswer, PoolState, Solution, solve, types_of
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
    provisioning = reading.read(cluster.provisioning.values(), cluster)
    pods = {pod.key: pod for pod in (*pod_rules.pending(cluster), *given)}
    solution = solve(cluster, pods.values(), provisioning, is_order_known=False)
    bound = [
        binding
        for outcome in solution.outcomes[:_MOST_OUTCOMES]
        if outcome.nodes or outcome.existing
        for binding in bindings(cluster, outcome, provisioning, by_name=profiles)
    ]
    found = (_prospect(answer, cluster, provisioning, solution) for answer in solution.answers)
    return {item.answer.pod.key: _bound(item, bound) for item in found}


def _bound(found: Prospect, bound: Iterable[Binding]) -> Prospect:
    """Return a prospect with what kube-scheduler does about the pod in the outcomes in which it has a place."""
    key = found.answer.pod.key
    said = [item.refused.get(key, "") for item in bound if key in item.refused or key in item.placed]
    message = next(filter(None, said), "")
    return found._replace(refused=message, is_always_refused=bool(message) and all(said))


def _prospect(answer: PodAnswer, cluster: Cluster, provisioning: Provisioning, solution: Solution) -> Prospect:
    pools = []
    for pool, state, reason in solution.pools:
        refusal = next((item for item in answer.errors if item.pool == pool.name), None)
        nodes = tuple(node for node in answer.new if node.pool == pool.name)
        pools.append(PoolProspect(pool.name, state, reason, refusal, nodes))
    counted = (_counted(item, cluster, provisioning, solution) for item in answer.errors)
    return Prospect(answer, tuple(pools), tuple(item for item in counted if item is not None))


def _counted(
    refusal: Refusal, cluster: Cluster, provisioning: Provisioning, solution: Solution
) -> Optional[CountedDomains]:
    """Return what is counted for the constraint of a refusal; None for another reason."""
    counts = refusal.detail
    if not isinstance(counts, Counts):
        return None
    used = [finding.pool for finding in solution.pools if finding.state is PoolState.USED]
    types = {pool.name: types_of(pool, provisioning).types for pool in used}
    brought = topology.brought_by(refusal.key, used, types)
    least = min((number for value, number in counts.domains if counts.pod_domains.has(value)), default=0)
    domains = []
    for value, number in counts.domains:
        is_least = number == least and counts.pod_domains.has(value)
        blocks = refusal.cause is Cause.SPREAD and is_least and not counts.node_domains.has(value)
        nodes = sum(node.labels.get(refusal.key) == value for node in cluster.nodes)
        domains.append(CountedDomain(value, number, tuple(brought.get(value, ())), nodes, blocks))
    return CountedDomains(refusal.pool, refusal.key, tuple(domains))
