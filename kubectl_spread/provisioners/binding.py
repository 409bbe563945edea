"""What kube-scheduler does once the nodes of an outcome exist: it places the pods by its own rules, or refuses them.

Karpenter does not bind pods. Where the two disagree, a node is created and the pod still waits:

    pod ─▶ Karpenter: a node in zone a ─▶ node-1 (zone a) ─▶ kube-scheduler: skew 2 ─▶ node-1 stays empty
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.tables.columns import Columns
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.selectors import HOSTNAME, ZONE
from kubectl_spread.provisioners.machines import total
from kubectl_spread.provisioners.objects import Amounts, InstanceType
from kubectl_spread.provisioners.pods import requests_of
from kubectl_spread.provisioners.reading import Provisioning
from kubectl_spread.provisioners.requirement import CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL
from kubectl_spread.provisioners.solve import NewNode, Outcome
from kubectl_spread.scheduler.configuration.profiles import profiles
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.profile import Profile

_NO_LIMIT = 2**40  # of a resource, for an instance type that is not known
_MOST_ZONES = 6


class Binding(NamedTuple):
    """The pods of an outcome after kube-scheduler has tried them.

    placed: node by the key of a pod.
    refused: kube-scheduler's message by the key of a pod.
    unused: new nodes without any of these pods.
    """

    nodes: tuple[Node, ...]
    placed: dict[str, str]
    refused: dict[str, str]
    unused: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Return whether kube-scheduler places each pod for which Karpenter sees a place."""
        return not self.refused


def bindings(
    cluster: Cluster, outcome: Outcome, provisioning: Provisioning, *, by_name: Mapping[str, Profile] = profiles()
) -> list[Binding]:
    """Return what kube-scheduler does, for several zones that the provider may choose; one if Karpenter has chosen.

    Args:
        cluster: before the nodes exist.
        outcome: of a round on this cluster.
        provisioning: the pools and types of this round.
        by_name: kube-scheduler's profiles.
    """
    choices = max((len(node.zones) for node in outcome.nodes), default=1)
    found = []
    for choice in range(min(max(1, choices), _MOST_ZONES)):
        named = ((f"{node.pool}-new-{at + 1}", node) for at, node in enumerate(outcome.nodes))
        nodes = tuple(node_of(node, provisioning, name=name, choice=choice) for name, node in named)
        found.append(_bound(cluster, outcome, nodes, by_name))
    return found


def node_of(new: NewNode, provisioning: Provisioning, *, name: str, choice: int = 0) -> Node:
    """Return a node of the smallest type that Karpenter leaves, with room for what DaemonSets do not take.

    Args:
        new: what Karpenter creates.
        provisioning: its pools and types.
        name: of the node, and of its host.
        choice: which of the zones that are left, and so on from the first.
    """
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
    return Node(name=name, labels=labels, taints=pool.taints, allocatable=_room(new, chosen))


def _room(new: NewNode, chosen: Optional[InstanceType]) -> Amounts:
    """Return the allocatable resources of a new node without what its DaemonSets take."""
    own = total(*(requests_of(pod.cls) for pod in new.pods))
    daemons = {name: amount - own.get(name, 0) for name, amount in new.requests.items()}
    if chosen is None:
        return dict.fromkeys(new.requests, _NO_LIMIT)
    return {name: amount - daemons.get(name, 0) for name, amount in chosen.allocatable.items()}


def _bound(cluster: Cluster, outcome: Outcome, nodes: tuple[Node, ...], by_name: Mapping[str, Profile]) -> Binding:
    """Let kube-scheduler try the pods until a whole lap binds none: where Karpenter wants them, then anywhere.

    A pod is refused only if no order was found that helps: which of equal pods comes first is not the question here.
    """
    meant = {pod.key: name for name, placed in outcome.existing.items() for pod in placed}
    waiting = [pod for placed in outcome.existing.values() for pod in placed]
    for node, new in zip(nodes, outcome.nodes, strict=True):
        waiting += new.pods
        meant.update(dict.fromkeys((pod.key for pod in new.pods), node.name))
    waiting.sort(key=lambda pod: (-pod.cls.priority, pod.created, pod.key))
    every = tuple(sorted((*cluster.nodes, *nodes), key=lambda node: node.name))
    pods = tuple(pod for pod in cluster.pods if pod.key not in meant)
    columns = Columns(cluster._replace(nodes=every, pods=pods))
    scheduler = Scheduler(columns, by_name, all_nodes=True)
    placed: dict[str, str] = {}
    refused: dict[str, str] = {}
    anywhere, progress = False, True
    while waiting and (progress or not anywhere):
        anywhere, progress = not progress, False
        for pod in tuple(waiting):
            filtered = scheduler.filter(pod)
            host = columns.index.get(meant[pod.key])
            if host is None or not filtered.feasible[host]:
                host = int(scheduler.score(pod, filtered).hosts()[0]) if anywhere and filtered.feasible.any() else None
            if host is None:
                refused[pod.key] = filtered.diagnosis().message("")
                continue
            scheduler.bind(pod, host)
            placed[pod.key], progress = columns.nodes[host].name, True
            waiting.remove(pod)
            refused.pop(pod.key, None)
    used = set(placed.values())
    return Binding(nodes, placed, refused, tuple(node.name for node in nodes if node.name not in used))
