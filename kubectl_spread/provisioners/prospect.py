"""What becomes of pods that find no node: rounds of Karpenter, and of kube-scheduler on the nodes that come.

    added_nodes(cluster, pods, profiles)  ->  Prospect by the key of a pod
    outlook(prospects of equal pods)      ->  Outlook, the one answer that all commands give

A `Prospect` has Karpenter's answer, each pool with the first reason why it makes no node for the pod, what Karpenter
counts in each domain and who brings it, and the domains that block: they hold the minimum, and no node may come there.
Karpenter draws at random, and the provider chooses among zones, so the rounds may go in several ways.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.keys import Range, range_of
from kubectl_spread.objects.node import Node, nodes_by_pool, NodesOfPool
from kubectl_spread.objects.pod import Pod
from kubectl_spread.provisioners import binding, reading, topology
from kubectl_spread.provisioners import pods as pod_rules
from kubectl_spread.provisioners.binding import Place
from kubectl_spread.provisioners.machines import types_of
from kubectl_spread.provisioners.objects import NodePool, PoolState
from kubectl_spread.provisioners.reading import Gap, GapKind
from kubectl_spread.provisioners.refusals import Cause, Counts, Refusal
from kubectl_spread.provisioners.solve import PodAnswer, solve
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.text.scalars import by_number

_MOST_TRIES = 600  # of a pod by kube-scheduler, in all ways together; one way is always followed to its end


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

    answer, pools, nodes: of the last round of the first way in which the pod does not run, or of the first way.
    reached: the domains of each pool's nodes. places: at the end of each way. is_complete: there are no other ways.
    """

    answer: PodAnswer
    pools: tuple[NodePool, ...]
    nodes: tuple[Node, ...]
    reached: dict[str, topology.Domains]
    places: tuple[Place, ...]
    is_complete: bool

    @property
    def is_running(self) -> bool:
        """Return whether the pod runs at the end of every way."""
        return all(place.is_running for place in self.places)

    @property
    def runs(self) -> bool:
        """Return whether it is certain that the pod runs in the end."""
        return self.is_running and self.is_complete and {gap.kind for gap in self.answer.gaps} <= {GapKind.DRAW}

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Return the missing facts; where a draw gives no node, Karpenter draws again in the next round."""
        return tuple(gap for gap in self.answer.gaps if gap.kind not in (GapKind.DRAW, GapKind.SEARCH))

    @property
    def refused(self) -> str:
        """Return what kube-scheduler says of the nodes, where it does not use them."""
        return next((place.refused for place in self.places if place.refused), "")

    @property
    def refusals(self) -> dict[str, Refusal]:
        """Return the first reason of each pool against a node for the pod; without a pool's name for all pools."""
        return {item.pool: item for item in reversed(self.answer.errors)}

    @property
    def counted(self) -> tuple[CountedDomains, ...]:
        """Return what is counted for the constraints that leave no place."""
        return tuple(self._counted(item, item.detail) for item in self.answer.errors if isinstance(item.detail, Counts))

    def _counted(self, refusal: Refusal, counts: Counts) -> CountedDomains:
        key, domains = refusal.key, []
        giving = [pool.name for pool in self.pools if pool.state in (PoolState.USED, PoolState.NO_TYPE)]
        least = min((number for value, number in counts.domains if counts.pod_domains.has(value)), default=0)
        nodes = Counter(node.labels.get(key) for node in self.nodes)
        for value, number in sorted(counts.domains, key=lambda item: by_number(item[0])):
            is_least = number == least and counts.pod_domains.has(value)
            blocks = refusal.cause is Cause.SPREAD and is_least and not counts.node_domains.has(value)
            pools = tuple(name for name in giving if value in self.reached[name].get(key, {}))
            domains.append(CountedDomain(value, number, pools, nodes[value], blocks))
        return CountedDomains(refusal.pool, key, tuple(domains))


class Fate(Enum):
    """What becomes of pods that find no node now."""

    RUN = "run"  # all of them
    SOME_RUN = "someRun"
    NOT_USED = "notUsed"  # Karpenter adds a node, or counts on one, and kube-scheduler does not use it
    NO_NODE = "noNode"
    DEPENDS = "depends"


class Outlook(NamedTuple):
    """The answer about equal pods; `most_telling`: the first of them that does not run, else the first.

    running: how many run in the end. added: nodes that Karpenter adds for them.
    all_run: the pods run however the draws end. nodes: the nodes that one of these ways adds.
    """

    fate: Fate
    pods: int
    running: Range
    added: tuple[NodesOfPool, ...]
    gaps: tuple[Gap, ...]
    most_telling: Prospect
    all_run: bool
    nodes: tuple[Node, ...]


def outlook(prospects: Sequence[Prospect]) -> Outlook:
    """Return the answer about equal pods from the same rounds."""
    ways = list(zip(*(item.places for item in prospects), strict=True))
    running = range_of(sum(place.is_running for place in places) for places in ways)
    gaps = dict.fromkeys(gap for item in prospects for gap in item.gaps)
    told = next((item for item in prospects if not item.is_running), prospects[0])
    fate = Fate.NOT_USED if told.refused else Fate.NO_NODE
    if gaps:
        fate = Fate.DEPENDS
    elif running.most:
        fate = Fate.RUN if running.least == len(prospects) else Fate.SOME_RUN
    added = tuple(nodes_by_pool(map(_added, ways)))
    nodes = tuple(node for node, _ in _added(ways[0]))
    all_run = all(item.runs for item in prospects)
    return Outlook(fate, len(prospects), running, added, tuple(gaps), told, all_run, nodes)


def _added(places: Iterable[Place]) -> Iterable[tuple[Node, bool]]:
    """Return the new nodes among places, and whether pods run there."""
    found: dict[str, tuple[Node, bool]] = {}
    for node, refused, is_new in places:
        if node is not None and is_new:
            found[node.name] = node, not refused or (node.name in found and found[node.name][1])
    return found.values()


def added_nodes(cluster: Cluster, given: Iterable[Pod], profiles: Mapping[str, Profile]) -> dict[str, Prospect]:
    """Return what Karpenter does about pods, of the cluster or of a manifest, by their keys; empty without NodePools.

    Args:
        cluster: its pods that kube-scheduler has marked as unschedulable are in the same rounds.
        given: pods that find no node.
        profiles: kube-scheduler's.
    """
    provisioning = reading.of_cluster(cluster)
    if not provisioning.pools:
        return {}
    of_pools = ((pool, {pool.name: types_of(pool, provisioning).types}) for pool in provisioning.pools)
    reached = {pool.name: topology.domains_of((pool,), types) for pool, types in of_pools}
    asked = (*(pod for pod in cluster.pods if pod.reason == pod_rules.UNSCHEDULABLE), *given)
    pods = {pod.key: pod for pod in asked if pod_rules.takes_part(pod) and pod.cls.scheduler_name in profiles}
    used = {pod.node_name for pod in cluster.pods if not pod_rules.is_of_daemon(pod)}
    old = {node.name for node in cluster.nodes if binding.NEW not in node.name or node.name in used}
    # A way so far: the cluster, the pods that wait, and for each pod the last answer and the place.
    following: list[tuple[Cluster, dict[str, Pod], dict[str, Prospect], dict[str, Place]]] = [(cluster, pods, {}, {})]
    ways: list[tuple[dict[str, Prospect], dict[str, Place]]] = []
    tries = 0
    while following and (not ways or tries < _MOST_TRIES):
        now, waiting, answers, places = following.pop()
        solution = solve(now, waiting.values(), provisioning)
        new = (Prospect(item, solution.pools, now.nodes, reached, (), True) for item in solution.answers)
        answers = answers | {item.answer.pod.key: item for item in new}
        rounds = [
            (outcome, nodes)  # Where a draw gives no node, Karpenter draws again.
            for outcome in solution.outcomes
            if outcome.nodes or outcome.existing
            for nodes in binding.new_nodes(now, outcome, provisioning)
        ]
        ways += [] if rounds else [(answers, places | dict.fromkeys(waiting, Place()))]
        for outcome, nodes in reversed(rounds):
            tries += len(waiting)
            after, found = binding.bound(now, outcome, nodes, waiting.values(), profiles)
            left = {key: pod for key, pod in waiting.items() if not found[key].is_running}
            if left and len(left) < len(waiting):
                following.append((after, left, answers, places | found))
            else:
                ways.append((answers, places | found))
    result = {}
    for key in pods:
        ends = [found[key] for _, found in ways]
        at = next((at for at, place in enumerate(ends) if not place.is_running), 0)
        marked = (place._replace(is_new=place.node is not None and place.node.name not in old) for place in ends)
        result[key] = ways[at][0][key]._replace(places=tuple(marked), is_complete=not following)
    return result
