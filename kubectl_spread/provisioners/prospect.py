"""What becomes of pods that find no node: rounds of Karpenter, and of kube-scheduler on the nodes that come.

    added_nodes(cluster, pods, profiles)  ->  Prospect by the key of a pod
    outlook(prospects of equal pods)      ->  Outlook, the one answer that all commands give

A `Prospect` has Karpenter's answer, each pool with the first reason why it makes no node for the pod, what Karpenter
counts in each domain and who brings it, and the domains that block: they hold the minimum, and no node may come there.
Karpenter draws at random, and the provider chooses among zones, so the rounds may go in several ways.

Karpenter does not bind pods. Where the two disagree, a node is created and the pod still waits:

    pod ─▶ Karpenter: a node in zone a ─▶ node-1 (zone a) ─▶ kube-scheduler: skew 2 ─▶ node-1 stays empty
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.keys import Range, range_of
from kubectl_spread.objects.node import Node, nodes_by_pool, NodesOfPool
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.selectors import HOSTNAME, NODE_POOL, ZONE
from kubectl_spread.provisioners import pods as pod_rules
from kubectl_spread.provisioners import reading, topology
from kubectl_spread.provisioners.machines import total, types_of
from kubectl_spread.provisioners.objects import NodePool, PoolState
from kubectl_spread.provisioners.pods import is_of_daemon, requests_of
from kubectl_spread.provisioners.reading import Gap, GapKind, Provisioning
from kubectl_spread.provisioners.refusals import Cause, Counts, Refusal
from kubectl_spread.provisioners.requirement import CAPACITY_TYPE, INSTANCE_TYPE
from kubectl_spread.provisioners.solve import Outcome, PodAnswer, solve
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.plugin import Profile
from kubectl_spread.text.scalars import by_number

_NO_LIMIT = 2**40  # of a resource, for an instance type that is not known
_MOST_ZONES, _MOST_CHOICES = 6, 12  # of nodes that a provisioner adds, in one round
_MOST_UNUSED, _STEPS = 5, 6_000
NEW = "-new-"  # between the pool and the number in the name of a new node


class Place(NamedTuple):
    """The node on which a pod runs, else the one that Karpenter has for it, if any; kube-scheduler may refuse that."""

    node: Optional[Node] = None
    refused: str = ""
    is_new: bool = False  # Karpenter has added it

    @property
    def is_running(self) -> bool:
        return self.node is not None and not self.refused


def new_nodes(
    cluster: Cluster, outcome: Outcome, provisioning: Provisioning, *, with_daemons: bool = True
) -> Iterator[tuple[Node, ...]]:
    """Yield the nodes of an outcome, for several zones that the provider may choose.

    A node has the smallest type that Karpenter leaves. `with_daemons`: what DaemonSets take of a node is taken already.
    """
    pools = {pool.name: pool for pool in provisioning.pools}
    choices = max((len(new.zones) for new in outcome.nodes), default=1)
    for choice in range(min(max(1, choices), _MOST_ZONES)):
        names = {node.name for node in cluster.nodes}
        nodes = []
        for new in outcome.nodes:
            name = next(name for at in itertools.count(1) if (name := f"{new.pool}{NEW}{at}") not in names)
            names.add(name)
            pool = pools[new.pool]
            types = [item for item in provisioning.types.get(new.pool, ()) if item.name in new.types]
            chosen = min(types, key=lambda item: tuple(sorted(item.allocatable.items())), default=None)
            labels = {key: value for key, item in new.requirements.items() if (value := item.only) is not None}
            labels.update({pool.class_ref.label: pool.class_ref.name, NODE_POOL: new.pool, HOSTNAME: name})
            room = dict.fromkeys(new.requests, _NO_LIMIT)
            if chosen is not None:
                labels.update(
                    {item.key: value for item in chosen.requirements.values() if (value := item.only) is not None}
                )
                labels[INSTANCE_TYPE] = chosen.name
                own = total(*(requests_of(pod.cls) for pod in new.pods))
                daemons = {key: amount - own.get(key, 0) for key, amount in new.requests.items() if with_daemons}
                room = {key: amount - daemons.get(key, 0) for key, amount in chosen.allocatable.items()}
            if new.zones:
                labels[ZONE] = new.zones[choice % len(new.zones)]
            if new.capacity_types:
                labels[CAPACITY_TYPE] = new.capacity_types[0]
            nodes.append(Node(name=name, labels=labels, taints=pool.taints, allocatable=room))
        yield tuple(nodes)


def provisioner(
    provisioning: Provisioning, depends: Callable[[PodAnswer], None] = lambda _: None, *, most_steps: int = _STEPS
) -> Callable[[Cluster], Iterator[tuple[Node, ...]]]:
    """Return what the engine asks for the nodes that join for the Pending pods of a cluster, for each choice.

    Where it would never stop, since kube-scheduler does not use the nodes, it adds some of them. `depends` is called
    with the answers that depend on something. `most_steps`: as for `solve`.
    """

    def added(cluster: Cluster) -> Iterator[tuple[Node, ...]]:
        used = {pod.node_name for pod in cluster.pods if not is_of_daemon(pod)}
        if sum(NEW in node.name and node.name not in used for node in cluster.nodes) >= _MOST_UNUSED:
            return
        solution = solve(cluster, cluster.pending(), provisioning, most_steps=most_steps)
        for answer in solution.answers:
            if answer.gaps and (answer.new or answer.errors):
                depends(answer)
        found: dict[str, tuple[Node, ...]] = {}
        for outcome in solution.outcomes:
            for nodes in new_nodes(cluster, outcome, provisioning, with_daemons=False) if outcome.nodes else ():
                nameless = (node._replace(name="", labels={**node.labels, HOSTNAME: ""}) for node in nodes)
                found.setdefault(repr(sorted(map(repr, nameless))), nodes)
        yield from itertools.islice(found.values(), _MOST_CHOICES)

    return added


def bound(
    cluster: Cluster,
    outcome: Outcome,
    nodes: tuple[Node, ...],
    waiting: Iterable[Pod],
    profiles: Mapping[str, Profile],
) -> tuple[Cluster, dict[str, Place]]:
    """Let kube-scheduler try pods until a whole lap binds none: where Karpenter wants them, then on any node.

    A pod is refused only if no order was found that helps: which of equal pods comes first is not the question here.

    Returns:
        The cluster with the new nodes and the bound pods, and the places of all these pods by their keys.
    """
    meant = {pod.key: name for name, placed in outcome.existing.items() for pod in placed}
    for node, new in zip(nodes, outcome.nodes, strict=True):
        meant.update(dict.fromkeys((pod.key for pod in new.pods), node.name))
    left = {pod.key: pod for pod in sorted(waiting, key=lambda pod: (-pod.cls.priority, pod.created, pod.key))}
    every = tuple(sorted((*cluster.nodes, *nodes), key=lambda node: node.name))
    kept = tuple(pod for pod in cluster.pods if pod.key not in left)
    columns = Columns(cluster._replace(nodes=every, pods=kept))
    scheduler = Scheduler(columns, profiles, all_nodes=True)
    places: dict[str, Place] = {}
    placed: list[Pod] = []
    anywhere, progress = False, True
    while left and (progress or not anywhere):
        anywhere, progress = not progress, False
        for key, pod in tuple(left.items()):
            filtered = scheduler.filter(pod)
            host = columns.index.get(meant.get(key, ""))
            places[key] = Place() if host is None else Place(columns.nodes[host], filtered.diagnosis().message(""))
            if host is None or not filtered.feasible[host]:
                host = int(scheduler.score(pod, filtered).hosts()[0]) if anywhere and filtered.feasible.any() else None
            if host is not None:
                scheduler.bind(pod, host)
                places[key], progress = Place(columns.nodes[host]), True
                placed.append(left.pop(key)._replace(node_name=columns.nodes[host].name))
    return cluster._replace(nodes=every, pods=(*kept, *left.values(), *placed)), places


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
    of_pools = ((pool, types_of(pool, provisioning).types) for pool in provisioning.pools)
    reached = {pool.name: topology.domains_of([(pool, types)]) for pool, types in of_pools}
    asked = (*(pod for pod in cluster.pods if pod.reason == pod_rules.UNSCHEDULABLE), *given)
    pods = {pod.key: pod for pod in asked if pod_rules.takes_part(pod) and pod.cls.scheduler_name in profiles}
    used = {pod.node_name for pod in cluster.pods if not pod_rules.is_of_daemon(pod)}
    old = {node.name for node in cluster.nodes if NEW not in node.name or node.name in used}
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
            for nodes in new_nodes(now, outcome, provisioning)
        ]
        ways += [] if rounds else [(answers, places | dict.fromkeys(waiting, Place()))]
        for outcome, nodes in reversed(rounds):
            tries += len(waiting)
            after, found = bound(now, outcome, nodes, waiting.values(), profiles)
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
