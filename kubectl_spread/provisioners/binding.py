"""What kube-scheduler does once the nodes of an outcome exist: it places the pods by its own rules, or refuses them.

Karpenter does not bind pods. Where the two disagree, a node is created and the pod still waits:

    pod ─▶ Karpenter: a node in zone a ─▶ node-1 (zone a) ─▶ kube-scheduler: skew 2 ─▶ node-1 stays empty
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, Optional

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.selectors import HOSTNAME, NODE_POOL, ZONE
from kubectl_spread.provisioners.machines import total
from kubectl_spread.provisioners.pods import is_of_daemon, requests_of
from kubectl_spread.provisioners.reading import Provisioning
from kubectl_spread.provisioners.requirement import CAPACITY_TYPE, INSTANCE_TYPE
from kubectl_spread.provisioners.solve import NewNode, Outcome, PodAnswer, solve
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.profile import Profile

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

    `with_daemons`: what DaemonSets take of a node is taken already.
    """
    choices = max((len(node.zones) for node in outcome.nodes), default=1)
    for choice in range(min(max(1, choices), _MOST_ZONES)):
        names = {node.name for node in cluster.nodes}
        made = []
        for new in outcome.nodes:
            name = next(name for at in itertools.count(1) if (name := f"{new.pool}{NEW}{at}") not in names)
            names.add(name)
            made.append(_node(new, provisioning, name=name, choice=choice, with_daemons=with_daemons))
        yield tuple(made)


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


def _node(new: NewNode, provisioning: Provisioning, *, name: str, choice: int, with_daemons: bool) -> Node:
    """Return a node of the smallest type that Karpenter leaves; `choice`: in which of the zones that are left."""
    pool = next(item for item in provisioning.pools if item.name == new.pool)
    types = [item for item in provisioning.types.get(new.pool, ()) if item.name in new.types]
    chosen = min(types, key=lambda item: tuple(sorted(item.allocatable.items())), default=None)
    labels = {key: value for key, item in new.requirements.items() if (value := item.only) is not None}
    labels.update({pool.class_ref.label: pool.class_ref.name, NODE_POOL: new.pool, HOSTNAME: name})
    if chosen is not None:
        labels.update({key: value for key, item in chosen.requirements.items() if (value := item.only) is not None})
        labels[INSTANCE_TYPE] = chosen.name
    if new.zones:
        labels[ZONE] = new.zones[choice % len(new.zones)]
    if new.capacity_types:
        labels[CAPACITY_TYPE] = new.capacity_types[0]
    if chosen is None:
        room = dict.fromkeys(new.requests, _NO_LIMIT)
    else:
        own = total(*(requests_of(pod.cls) for pod in new.pods))
        daemons = {name: amount - own.get(name, 0) for name, amount in new.requests.items() if with_daemons}
        room = {name: amount - daemons.get(name, 0) for name, amount in chosen.allocatable.items()}
    return Node(name=name, labels=labels, taints=pool.taints, allocatable=room)


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
