"""The way to a violation of a policy as drawings: pods that come and go, and nodes that are drained or lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kubectl_spread.cluster.ownership import workload_of
from kubectl_spread.cluster.snapshot import Cluster, OwnerKey
from kubectl_spread.guarantee.event import TransitionKind
from kubectl_spread.guarantee.witness import Witness, WitnessEvent
from kubectl_spread.objects.selectors.labels import HOSTNAME, ZONE
from kubectl_spread.report.guarantee import words
from kubectl_spread.report.pages.drawing import draw, Drawing, DrawnNode, DrawnPod, Look, order, Shape
from kubectl_spread.report.pages.pods import notes_of
from kubectl_spread.text.scalars import natural

_HUES = 6


class _Place(NamedTuple):
    """A pod on a node. is_new: of the new revision of a rollout."""

    owner: OwnerKey
    ordinal: int
    node: str
    is_new: bool = False


class WitnessArtist:
    """Draws the moments of a way, event by event."""

    def __init__(self, witness: Witness, workloads: Sequence[OwnerKey], cluster: Cluster, topology_key: str) -> None:
        """Begin with no pods, or with the running pods.

        Args:
            witness: the way.
            workloads: of the group.
            cluster: with the nodes, and the running pods.
            topology_key: of the rule; empty if it has none.
        """
        self._witness = witness
        self._workloads = {key: at for at, key in enumerate(workloads)}
        self._cluster = cluster
        self._key = _map_key(cluster, topology_key)
        self._places = list(self._running()) if witness.from_running else []
        self._rolling: set[OwnerKey] = set()
        self._has_revisions = any(event.is_new for event in witness.events)
        self._off: dict[str, str] = {}
        self._looks: dict[Look, None] = {}
        used = {event.node for event in witness.events if event.node} | {place.node for place in self._places}
        self._keep = frozenset(used)

    def moments(self, beginning: str) -> Iterator[tuple[list[str], Drawing]]:
        """Yield the sentences and the drawing of each moment, from the beginning on."""
        yield [beginning], self._drawing(frozenset())
        for event in self._witness.events:
            self._apply(event)
            yield [words.sentence(event)], self._drawing(frozenset({event.node}) if event.node else frozenset())
        if self._witness.waiting:
            yield words.waiting_sentences(self._witness), self._drawing(frozenset(), is_end=True)

    def legend(self) -> tuple[Look, ...]:
        """Return the looks of the dots that were drawn so far."""
        return tuple(sorted(self._looks, key=order))

    def _running(self) -> Iterator[_Place]:
        for pod in self._cluster.pods:
            key = workload_of(pod, self._cluster) if pod.node_name and pod.is_visible and not pod.terminating else None
            if key in self._workloads and key is not None:
                yield _Place(key, _ordinal(key, pod.name), pod.node_name)

    def _apply(self, event: WitnessEvent) -> None:
        kind, owner = event.kind, event.owner
        if kind is TransitionKind.PLACED and owner is not None:
            self._places.append(_Place(owner, event.ordinal, event.node, event.is_new))
        elif kind in (TransitionKind.RESTARTED, TransitionKind.REMOVED, TransitionKind.EVICTED) and event.node:
            self._remove(event)
        elif kind is TransitionKind.ROLLED and owner is not None:
            self._rolling.add(owner)
        elif kind is TransitionKind.FINISHED and owner is not None:
            self._rolling.discard(owner)
            self._places = [item._replace(is_new=False) if item.owner == owner else item for item in self._places]
        elif kind is TransitionKind.DISRUPTED:
            self._disrupt(event)
        elif kind is TransitionKind.RETURNED:
            self._off.clear()

    def _remove(self, event: WitnessEvent) -> None:
        """Remove the pod of an event; of equal pods, any."""
        found = [item for item in self._places if item.owner == event.owner and item.node == event.node]
        same = [item for item in found if item.is_new == event.is_new and event.ordinal in (-1, item.ordinal)]
        if found:
            self._places.remove((*same, *found)[0])

    def _disrupt(self, event: WitnessEvent) -> None:
        nodes = [node.name for node in self._cluster.nodes if node.labels.get(event.topology_key) in event.domains]
        self._off = dict.fromkeys(nodes if event.is_loss else event.domains, "lost" if event.is_loss else "drained")

    def _drawing(self, marked: frozenset[str], *, is_end: bool = False) -> Drawing:
        nodes = [
            DrawnNode(
                node.name,
                node.labels.get(self._key) if self._key else "",
                (self._off[node.name],) if node.name in self._off else notes_of(node),
            )
            for node in self._cluster.nodes
        ]
        pods = [DrawnPod("-*", item.node, self._look(item)) for item in self._places]
        if is_end:
            for waiting in self._witness.waiting:
                look = self._named(waiting.owner, "Pending", Shape.PENDING)
                pods += [DrawnPod("-*", "", look)] * waiting.number
        self._looks.update(dict.fromkeys(pod.look for pod in pods))
        return draw(self._key, nodes, pods, keep=self._keep, marked=marked)

    def _look(self, item: _Place) -> Look:
        if item.owner not in self._rolling or not self._has_revisions:
            return self._named(item.owner, "running", Shape.CURRENT)
        if item.is_new:
            return self._named(item.owner, "new revision", Shape.NEW)
        return self._named(item.owner, "earlier revision", Shape.EARLIER)

    def _named(self, owner: OwnerKey, state: str, shape: Shape) -> Look:
        at = self._workloads.get(owner, 0)
        is_alone = len(self._workloads) == 1
        mark = "" if is_alone else chr(ord("A") + at % 26)
        return Look(state if is_alone else f"{owner.name}, {state}", shape, mark, at % _HUES)


def _ordinal(key: OwnerKey, pod: str) -> int:
    tail = pod.removeprefix(f"{key.name}-")
    ordinal = natural(tail) if key.kind == "StatefulSet" else None
    return -1 if ordinal is None else ordinal


def _map_key(cluster: Cluster, topology_key: str) -> str:
    wanted = [key for key in (topology_key, ZONE) if key and key != HOSTNAME]
    return next((key for key in wanted if any(key in node.labels for node in cluster.nodes)), "")
