"""Representatives of states that differ in interchangeable nodes, domains and ordinals only.

Two nodes are interchangeable if they agree in selected labels, taints, room and initial pods, and if the user's steps
do not name them. Two zones are interchangeable if their nodes are. One state represents all states that differ in such
names only:

    zone a: a1 {web}  a2 {}        zone a: a1 {}  a2 {}
    zone b: b1 {}     b2 {}   is   zone b: b1 {}  b2 {web}
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from kubectl_spread.engine import reductions
from kubectl_spread.engine.controllers import deployment, ordinals, statefulset
from kubectl_spread.engine.search.arrangement import Arrangement
from kubectl_spread.engine.search.node_tree import node_tree
from kubectl_spread.engine.search.pins import Pins
from kubectl_spread.engine.state import at_stage, NO_ORDINAL, on_node, P, PENDING, Stage, State
from kubectl_spread.engine.world import World
from kubectl_spread.objects.node import Node


class _Pools:
    """Ordinals and readiness that are shared out among equal pods."""

    def __init__(self) -> None:
        self.ready: dict[int, int] = defaultdict(int)  # by owner: how many pods of its newest revision are ready
        self.newest: dict[int, int] = {}
        self.ordinals: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        self.is_used = False


_BOUND, _READY = int(Stage.BOUND), int(Stage.READY)  # perf: members of enums are slow
_ANY = -2  # Placeholder for an ordinal that equal pods may exchange.
_FIRST_GROUP = -3  # Placeholder for an ordinal of the first group of them; the others follow below.


_NO_MARKS: Mapping[str, object] = {}


class Symmetry:
    """Interchangeable nodes of a world, based on one state."""

    def __init__(
        self,
        world: World,
        start: State,
        named: Iterable[str] = (),
        *,
        joined: Collection[Node] = (),
        keeps_ordinals: bool = False,
        marks: Mapping[str, object] = _NO_MARKS,
    ) -> None:
        """Compute the interchangeable nodes and domains.

        Args:
            world: the nodes and all references to them.
            start: initial state; its contents distinguish nodes.
            named: nodes that the user's steps name.
            joined: nodes as the steps create them; a domain that one of them joins is unique.
            keeps_ordinals: whether a later step may depend on the nodes of the ordinals of StatefulSets.
            marks: other distinctions between nodes, by name.
        """
        self._world = world
        self._named, self._joined = tuple(named), joined
        self._keeps_ordinals = keeps_ordinals
        self.facts = start.facts
        self._pins = Pins(world)
        tree = node_tree(world, start, self._named, joined=joined, marks=marks, pins=self._pins)
        self.traits: Mapping[int, str] = tree.traits  # by node; interchangeable nodes have equal traits
        self.nodes = Arrangement(tree.root)
        self.is_trivial = self.nodes.is_trivial
        self._roles: dict[tuple[Any, ...], list[Any]] = {}
        self._plain: dict[P, P] = {}
        self._ready: dict[P, P] = {}
        self._moved: dict[int, dict[P, P]] = defaultdict(dict)
        self._domains = tree.domains
        self._paths = tree.paths

    def of(self, state: State, marks: Mapping[str, object] = _NO_MARKS) -> Symmetry:
        """Return the interchangeable nodes of another state of the same step; `marks` distinguish nodes by name."""
        return Symmetry(
            self._world, state, self._named, joined=self._joined, keeps_ordinals=self._keeps_ordinals, marks=marks
        )

    def canonical(self, state: State) -> State:
        """Return the representative of all states that differ in interchangeable names only."""
        pools = _Pools()
        # Once the user's steps are done, no later step can distinguish new pods.
        pods = list(state.pods) if state.todo else self._anonymous(state, pools)
        todo = state.todo
        if not self.is_trivial:
            place = self.nodes.places(self.nodes.contents(self._pins.nameless(pods)))
            if place is not None:
                pods = [self._placed(pod, place) for pod in pods]
                todo = tuple(self._moved_item(item, place) for item in todo)
        pods.sort()
        found = tuple(sorted(self._all_named(pods, pools)) if pools.is_used else pods)
        if (found, todo) == (state.pods, state.todo):
            return state
        return State(found, state.sets, state.facts, todo, state.claims)

    def twins(self, state: State) -> list[tuple[list[int], list[int]]]:
        """Return pairs of interchangeable nodes or domains with equal pods, in a representative state.

        Each is a list of nodes; those at one position of both lists correspond.
        """
        if self.is_trivial or any(item[0] in ("delete", "evict") for item in state.todo):
            return []
        pods = state.pods if state.todo else self._anonymous(state, _Pools())
        return self.nodes.twins(self.nodes.contents(self._pins.nameless(pods)))

    def _placed(self, pod: P, place: dict[int, int]) -> P:
        """Return a pod on the new node of its node."""
        followed = self._pins.moved(pod, place)
        if followed is not None:
            return followed
        node = place.get(pod.node, pod.node)
        if pod.nominated != PENDING:
            return pod._replace(node=node, nominated=place.get(pod.nominated, pod.nominated))
        if node == pod.node:
            return pod
        known = self._moved[node]
        found = known.get(pod)
        if found is None:
            found = known[pod] = on_node(pod, node)
        return found

    def _moved_item(self, item: tuple[Any, ...], place: dict[int, int]) -> tuple[Any, ...]:
        """Return one of the user's remaining steps, with the pods that it names at their new nodes."""
        if item[0] not in ("delete", "evict"):
            return item
        slots = sorted(self._pins.moved_slot(slot, place) for slot in item[1])
        return (item[0], tuple(slots), *item[2:])

    def _role(self, own: Any) -> Any:
        """Return which pods of a workload lose their readiness or their ordinal: the kind, and the revision."""
        if isinstance(own, deployment.DeploymentState):
            return True, self._world.specs[own.spec].rev
        if isinstance(own, statefulset.StatefulSetState) and self._keeps_ordinals:
            return own.free or None
        if isinstance(own, statefulset.StatefulSetState):
            spec = self._world.specs[own.spec]
            return (False, spec.rev) if own.current == spec.rev else None
        return None

    def _anonymous(self, state: State, pools: _Pools) -> list[P]:
        """Return the pods without ordinals and readiness that do not matter."""
        roles = self._roles.get(state.sets)
        if roles is None:
            roles = self._roles[state.sets] = [self._role(own) for own in state.sets]
        ranked = reductions.ranked_by_readiness(self._world, state)
        if ranked:
            roles = [None if owner in ranked else role for owner, role in enumerate(roles)]
        found = []
        ready: list[int] = []  # owners of pods of the newest revision, any of which may be ready
        for pod in state.pods:
            role = roles[pod.owner] if pod.owner >= 0 else None
            if role is not None and role[0] is True:  # perf: most pods are of Deployments, and ready
                if pod.stage != _READY or pod.rev != role[1] or pod.node == PENDING or pod.end or pod.is_chosen:
                    found.append(pod)
                    continue
                ready.append(pod.owner)
                plain = self._plain.get(pod)
                if plain is None:
                    plain = self._plain[pod] = at_stage(pod, _BOUND)
                found.append(plain)
            else:
                found.append(pod if role is None else self._of_set(pod, role, pools))
        for owner, number in Counter(ready).items():
            pools.ready[owner], pools.newest[owner], pools.is_used = number, roles[owner][1], True
        return found

    def _of_set(self, pod: P, role: Any, pools: _Pools) -> P:
        """Return a pod of a StatefulSet without an ordinal that does not matter."""
        if isinstance(role[0], tuple):
            return self._in_group(pod, role, pools)
        if pod.rev != role[1] or pod.node == PENDING or pod.end:
            return pod
        return self._without_ordinal(pod, pools)

    def _without_ordinal(self, pod: P, pools: _Pools) -> P:
        if not pod.is_new or pod.ordinal < 0 or not self._world.is_anonymous(pod.cls):
            return pod
        shape = self._world.shape(pod.cls)
        pools.ordinals[pod.owner, shape, pod.stage].append(pod.ordinal)
        pools.is_used = True
        return pod._replace(ordinal=_ANY, cls=shape)

    def _in_group(self, pod: P, groups: ordinals.Groups, pools: _Pools) -> P:
        """Return a pod without its ordinal if it may exchange it with equal pods."""
        group = ordinals.group_of(groups, pod.ordinal)
        if group < 0:
            return pod
        pools.ordinals[pod.owner, _FIRST_GROUP - group, NO_ORDINAL].append(pod.ordinal)
        pools.is_used = True
        return pod._replace(ordinal=_FIRST_GROUP - group, cls=self._world.shape(pod.cls))

    def _all_named(self, pods: Iterable[P], pools: _Pools) -> list[P]:
        """Restore anonymous pods: the first pods get the lowest ordinals, and are ready."""
        found = []
        left, newest, known = pools.ready, pools.newest, self._ready
        for pod in pods:
            if pod.ordinal <= _ANY:
                found.append(self._with_ordinal(pod, pools))
            elif (
                pod.stage != _BOUND
                or pod.end
                or pod.is_chosen
                or newest.get(pod.owner) != pod.rev
                or not left[pod.owner]
            ):
                found.append(pod)
            else:  # perf: no function of its own, because most pods are of this kind
                left[pod.owner] -= 1
                ready = known.get(pod)
                if ready is None:
                    ready = known[pod] = at_stage(pod, _READY)
                found.append(ready)
        return found

    def _with_ordinal(self, pod: P, pools: _Pools) -> P:
        is_grouped = pod.ordinal <= _FIRST_GROUP
        key = (pod.owner, pod.ordinal, NO_ORDINAL) if is_grouped else (pod.owner, pod.cls, pod.stage)
        left = pools.ordinals[key]
        lowest = min(left)
        left.remove(lowest)
        admission = self._world.admission_of_shape(pod.cls)
        return pod._replace(ordinal=lowest, cls=self._world.cls_of(pod.rev, lowest, admission=admission))

    def alike(self, key: str) -> dict[str, Any]:
        """Return a signature of each domain of a key; domains with equal signatures are interchangeable."""
        return self._domains.get(key, {})

    def alike_nodes(self, name: str) -> list[str]:
        """Return the nodes that are interchangeable with a node, and the node itself."""
        at = self._world.node_at.get(name, PENDING)
        if at not in self._paths:  # The step adds the node.
            return [name]
        return [self._world.node_names[other] for other, path in self._paths.items() if path == self._paths[at]]
