"""Representatives of states that differ in interchangeable nodes, domains and ordinals only.

Two nodes are interchangeable if they agree in selected labels, taints, room and initial pods, and if the user's steps
do not name them. Two zones are interchangeable if their nodes are. One state represents all states that differ in such
names only:

    zone a: a1 {web}  a2 {}        zone a: a1 {}  a2 {}
    zone b: b1 {}     b2 {}   is   zone b: b1 {}  b2 {web}

An outcome stands for all outcomes in which interchangeable domains are exchanged. Domains that a step made different
can still be exchanged if they were interchangeable before it (`Interchange`).
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import factorial, prod
from operator import itemgetter
from typing import Any, Optional

from kubectl_spread.caching import cached_method
from kubectl_spread.containers import grouped, tied
from kubectl_spread.engine import reductions
from kubectl_spread.engine.controllers import deployment, statefulset
from kubectl_spread.engine.search.node_tree import leaves, node_tree, Pins, Tree
from kubectl_spread.engine.state import at_stage, NAMING, NO_ORDINAL, on_node, P, PENDING, Stage, State
from kubectl_spread.engine.world import World
from kubectl_spread.objects.node import Node

_FIRST = itemgetter(0)
Numbers = tuple[int, ...]


Order = tuple[int, ...]  # for each place, the place where its content was before


Contents = Mapping[int, Any]  # Something comparable by node; nodes without anything are missing.


class Arrangement:
    """Nodes in an order that only depends on their contents, as far as they are interchangeable."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.slots = leaves(tree)  # the node of each place
        self.is_trivial = not self.twins({})
        self._bare: dict[P, tuple[int, ...]] = {}

    def contents(self, pods: Iterable[P]) -> dict[int, list[tuple[int, ...]]]:
        """Return the pods of each node, without its name, in order."""
        found: dict[int, list[tuple[int, ...]]] = {}
        bare = self._bare
        for pod in pods:
            at = pod.node
            if at == PENDING:
                at = pod.nominated
                if at == PENDING:
                    continue
            text = bare.get(pod)
            if text is None:
                text = bare[pod] = (*pod[:4], *pod[5:]) if pod.node != PENDING else (*pod[:7], *pod[8:])
            if at in found:
                found[at].append(text)
            else:
                found[at] = [text]
        for texts in found.values():
            if len(texts) > 1:
                texts.sort()
        return found

    def order(self, contents: Contents) -> list[int]:
        """Return the nodes in an order of their contents that is independent of names."""
        return _ordered(self.tree, contents)[1]

    def places(self, contents: Contents) -> Optional[dict[int, int]]:
        """Return the new node of each node's contents; None if all stay."""
        order = self.order(contents)
        return None if order == self.slots else dict(zip(order, self.slots, strict=True))

    @cached_method
    def sort(self, numbers: Numbers) -> tuple[Numbers, Order]:
        """Return equivalent numbers of the places in the same order for all equivalent ones, and the order."""
        _, order = _ordered(self._places, dict(enumerate(numbers)))
        return tuple([numbers[place] for place in order]), tuple(order)

    @cached_property
    def _places(self) -> Tree:
        """Return the tree with places instead of nodes."""
        return _numbered(self.tree, itertools.count())

    def variants(self, numbers: Numbers) -> int:
        """Return how many numbers of the places are equivalent to some."""
        every, same = (_stabilizers(self._places, dict(enumerate(each))) for each in ((0,) * len(numbers), numbers))
        return every // same

    def swaps(self, numbers: Numbers) -> list[Order]:
        """Return exchanges of places that leave sorted numbers as they are, and that generate all others."""
        return [
            order for pairs, order in self._exchanges if all(numbers[one] == numbers[other] for one, other in pairs)
        ]

    @cached_property
    def _exchanges(self) -> list[tuple[list[tuple[int, int]], Order]]:
        """Return the pairs of places of interchangeable neighbours, with the order that exchanges them."""
        exchanges: list[tuple[list[tuple[int, int]], Order]] = []
        neighbours: list[tuple[list[int], list[int]]] = []
        _twins(self._places, {}, neighbours)
        for places in neighbours:
            pairs = list(zip(*places, strict=True))
            other_of = {**dict(pairs), **{other: one for one, other in pairs}}
            exchanges.append((pairs, tuple([other_of.get(at, at) for at in range(len(self.slots))])))
        return exchanges

    @cached_property
    def brothers(self) -> Numbers:
        """Return a number for each place; places of one domain that are interchangeable share it."""
        return tuple(_brothers(self.tree, itertools.count()))

    def twins(self, contents: Contents) -> list[tuple[list[int], list[int]]]:
        """Return neighbours that are interchangeable and have equal contents, as lists of corresponding nodes."""
        found: list[tuple[list[int], list[int]]] = []
        _twins(self.tree, contents, found)
        return found


def _numbered(tree: Tree, numbers: Iterator[int]) -> Tree:
    if isinstance(tree, int):
        return next(numbers)
    return tuple(tuple(_numbered(child, numbers) for child in members) for members in tree)


def _brothers(tree: Tree, numbers: Iterator[int]) -> Iterator[int]:
    for members in tree:
        if isinstance(members[0], int):
            yield from [next(numbers)] * len(members)
        else:
            for child in members:
                yield from _brothers(child, numbers)


def _stabilizers(tree: Tree, contents: Contents) -> int:
    """Return the number of exchanges that leave contents as they are."""
    if isinstance(tree, int):
        return 1
    found = 1
    for members in tree:
        alike = Counter(tuple(map(contents.__getitem__, _ordered(child, contents)[1])) for child in members)
        found *= prod(map(factorial, alike.values())) * prod(_stabilizers(child, contents) for child in members)
    return found


_NOTHING: list[Any] = []


def _ordered(tree: Tree, contents: Contents) -> tuple[Any, list[int]]:
    if isinstance(tree, int):
        return contents.get(tree, _NOTHING), [tree]
    keys: list[Any] = []
    order: list[int] = []
    for members in tree:
        if isinstance(members[0], int):
            full = [node for node in members if node in contents]
            if full:
                full.sort(key=contents.__getitem__)
                keys += [_NOTHING] * (len(members) - len(full))
                keys += [contents[node] for node in full]
                order += [node for node in members if node not in contents]
                order += full
            else:  # perf: as in most domains of a large cluster
                keys += [_NOTHING] * len(members)
                order += members
            continue
        wide = [_ordered(child, contents) for child in members]
        if len(wide) > 1:
            wide.sort(key=_FIRST)
        for key, nodes in wide:
            keys.append(key)
            order += nodes
    return keys, order


def _twins(tree: Tree, contents: Contents, found: list[tuple[list[int], list[int]]]) -> None:
    if isinstance(tree, int):
        return
    for members in tree:
        if isinstance(members[0], int):
            pairs = itertools.pairwise(members)
            get = contents.get
            found += [([one], [other]) for one, other in pairs if get(one, _NOTHING) == get(other, _NOTHING)]
            continue
        wide = [_ordered(child, contents) for child in members]
        found += [(last[1], now[1]) for last, now in itertools.pairwise(wide) if last[0] == now[0]]
        for child in members:
            _twins(child, contents, found)


Twins = Sequence[tuple[list[int], list[int]]]  # Pairs of nodes or domains; nodes at one position correspond.


def first_twins(nodes: Sequence[int], twins: Twins) -> Sequence[int]:
    """Return one node for each set of nodes that correspond to each other, the first."""
    if not twins:
        return nodes
    later = {node for _, second in twins for node in second}
    return [node for node in nodes if node not in later] or nodes


def distinct(choices: Sequence[tuple[P, ...]], twins: Twins) -> Sequence[tuple[P, ...]]:
    """Return the choices of pods; keep one of the choices that differ only in interchangeable nodes.

    It is the choice that takes most pods from the first of each pair.
    """
    if not twins:
        return choices
    return [choice for choice in choices if _is_first(choice, twins)]


def _is_first(choice: tuple[P, ...], twins: Twins) -> bool:
    taken = grouped((pod.node, (*pod[:4], *pod[5:], count)) for pod, count in sorted(Counter(choice).items()))
    for first, second in twins:
        if taken.keys().isdisjoint(second):
            continue  # The first has as much or more.
        one = [taken.get(node, []) for node in first]
        other = [taken.get(node, []) for node in second]
        if one < other:
            return False
    return True


Taken = tuple[tuple[int, int], ...]  # indices of candidates, and how many pods are taken of each


def choices(there: Sequence[int], are_alike: Sequence[bool], count: int, most: int) -> Optional[list[Taken]]:
    """Return how many pods are taken of each candidate, without zeros; None if there are too many ways.

    Args:
        there: pods of each candidate.
        are_alike: whether a candidate is interchangeable with the one before it; then it gives no more than that one.
        count: pods to take.
        most: ways.
    """
    starts = [at for at in range(len(there)) if not are_alike[at]]
    groups = [range(at, end) for at, end in zip(starts, [*starts[1:], len(there)], strict=True)]
    if len(groups) > most and 0 < count < sum(there):
        return None  # Each group may be the one that is spared.
    room = [*itertools.accumulate([0, *(sum(there[at] for at in group) for group in reversed(groups))])][::-1]

    def ways(number: int, left: int) -> Iterator[Taken]:
        if number == len(groups):
            yield ()
            return
        group = groups[number]
        here = room[number] - room[number + 1]
        for taken in range(min(left, here), max(0, left - room[number + 1]) - 1, -1):
            for counts in _partitions(taken, there[group[0]], len(group)):
                for rest in ways(number + 1, left - taken):
                    yield (*zip(group, counts, strict=False), *rest)

    found = list(itertools.islice(ways(0, count), most + 1))
    found.sort(key=lambda taken: [(-at, some) for at, some in taken])
    return None if len(found) > most else found


def _partitions(number: int, most: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write a number as the sum of some parts at most, the largest first."""
    if most == 1 or not number:
        yield (1,) * number
        return
    most = min(most, number)
    for full in range(min(parts, number // most), -1, -1):
        left = number - full * most
        if left > (parts - full) * (most - 1):
            return
        for rest in _partitions(left, most - 1, parts - full):
            yield (*[most] * full, *rest)


_Ready = Counter[tuple[int, int]]  # by owner and its newest revision: how many of these pods are ready
_Ordinals = defaultdict[tuple[int, int, int], list[int]]  # that are shared out among equal pods

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
        root, self.traits, self._domains, self.paths = node_tree(
            world, start, self._named, joined=joined, marks=marks, pins=self._pins
        )
        self.nodes = Arrangement(root)
        self.is_trivial = self.nodes.is_trivial
        self._roles: dict[tuple[Any, ...], list[Any]] = {}
        self._plain: dict[P, P] = {}
        self._ready: dict[P, P] = {}
        self._moved: dict[int, dict[P, P]] = defaultdict(dict)

    def of(self, state: State, marks: Mapping[str, object] = _NO_MARKS) -> Symmetry:
        """Return the interchangeable nodes of another state of the same step; `marks` distinguish nodes by name."""
        return Symmetry(
            self._world, state, self._named, joined=self._joined, keeps_ordinals=self._keeps_ordinals, marks=marks
        )

    def canonical(self, state: State) -> State:
        """Return the representative of all states that differ in interchangeable names only."""
        ready, ordinals = _Ready(), _Ordinals(list)
        # Once the user's steps are done, no later step can distinguish new pods.
        pods = list(state.pods) if state.todo else self._anonymous(state, ready, ordinals)
        todo = state.todo
        if not self.is_trivial:
            place = self.nodes.places(self.nodes.contents(self._pins.nameless(pods)))
            if place is not None:
                pods = [self._placed(pod, place) for pod in pods]
                todo = tuple(
                    (item[0], tuple(sorted(self._pins.moved_slot(slot, place) for slot in item[1])), *item[2:])
                    if item[0] in NAMING
                    else item
                    for item in todo
                )
        pods.sort()
        found = tuple(sorted(self._all_named(pods, ready, ordinals)) if ready or ordinals else pods)
        if (found, todo) == (state.pods, state.todo):
            return state
        return State(found, state.sets, state.facts, todo, state.claims)

    def twins(self, state: State) -> list[tuple[list[int], list[int]]]:
        """Return pairs of interchangeable nodes or domains with equal pods, in a representative state.

        Each is a list of nodes; those at one position of both lists correspond.
        """
        if self.is_trivial or any(item[0] in NAMING for item in state.todo):
            return []
        pods = state.pods if state.todo else self._anonymous(state, _Ready(), _Ordinals(list))
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

    def _anonymous(self, state: State, ready: _Ready, ordinals: _Ordinals) -> list[P]:
        """Return the pods without the ordinals and the readiness that do not matter, and collect these."""
        roles = self._roles.get(state.sets)
        if roles is None:
            roles = self._roles[state.sets] = [self._role(own) for own in state.sets]
        ranked = reductions.ranked_by_readiness(self._world, state)
        if ranked:
            roles = [None if owner in ranked else role for owner, role in enumerate(roles)]
        found = []
        for pod in state.pods:
            role = roles[pod.owner] if pod.owner >= 0 else None
            if role is not None and role[0] is True:  # perf: most pods are of Deployments, and ready
                if pod.stage != _READY or pod.rev != role[1] or pod.node == PENDING or pod.end or pod.is_chosen:
                    found.append(pod)
                    continue
                ready[pod.owner, pod.rev] += 1
                plain = self._plain.get(pod)
                if plain is None:
                    plain = self._plain[pod] = at_stage(pod, _BOUND)
                found.append(plain)
            else:
                found.append(pod if role is None else self._of_set(pod, role, ordinals))
        return found

    def _of_set(self, pod: P, role: Any, ordinals: _Ordinals) -> P:
        """Return a pod of a StatefulSet without an ordinal that does not matter, or that equal pods may exchange."""
        if isinstance(role[0], tuple):
            group = statefulset.group_of(role, pod.ordinal)
            if group < 0:
                return pod
            ordinal, key = _FIRST_GROUP - group, (pod.owner, _FIRST_GROUP - group, NO_ORDINAL)
        else:
            is_bound = pod.rev == role[1] and pod.node != PENDING and not pod.end
            if not (is_bound and pod.is_new and pod.ordinal >= 0 and self._world.is_anonymous(pod.cls)):
                return pod
            ordinal, key = _ANY, (pod.owner, self._world.shape(pod.cls), pod.stage)
        ordinals[key].append(pod.ordinal)
        return pod._replace(ordinal=ordinal, cls=self._world.shape(pod.cls))

    def _all_named(self, pods: Iterable[P], ready: _Ready, ordinals: _Ordinals) -> list[P]:
        """Restore anonymous pods: the first pods get the lowest ordinals, and are ready."""
        found = []
        known = self._ready
        for pod in pods:
            if pod.ordinal <= _ANY:
                is_grouped = pod.ordinal <= _FIRST_GROUP
                left = ordinals[(pod.owner, pod.ordinal, NO_ORDINAL) if is_grouped else (pod.owner, pod.cls, pod.stage)]
                lowest = min(left)
                left.remove(lowest)
                admission = self._world.admission_of_shape[pod.cls]
                found.append(pod._replace(ordinal=lowest, cls=self._world.cls_of(pod.rev, lowest, admission=admission)))
            elif pod.stage != _BOUND or pod.end or pod.is_chosen or not ready[pod.owner, pod.rev]:
                found.append(pod)
            else:  # perf: no function of its own, because most pods are of this kind
                ready[pod.owner, pod.rev] -= 1
                named = known.get(pod)
                if named is None:
                    named = known[pod] = at_stage(pod, _READY)
                found.append(named)
        return found

    def alike(self, key: str) -> dict[str, Any]:
        """Return a signature of each domain of a key; domains with equal signatures are interchangeable."""
        return self._domains.get(key, {})

    def alike_nodes(self, name: str) -> list[str]:
        """Return the nodes that are interchangeable with a node, and the node itself."""
        at = self._world.node_at.get(name, PENDING)
        if at not in self.paths:  # The step adds the node.
            return [name]
        return [self._world.node_names[other] for other, path in self.paths.items() if path == self.paths[at]]


class Interchange:
    """Interchangeable domains and nodes after some steps."""

    def __init__(self, *symmetries: Symmetry) -> None:
        """Store the symmetries of the states in which the steps began, from the latest to the first."""
        self.symmetries = symmetries

    @cached_method
    def alike(self, topology_key: str) -> Mapping[str, object]:
        """Return a value for each domain of a key; domains with equal values are interchangeable."""
        found: Mapping[str, object] = {}
        for symmetry in reversed(self.symmetries):
            own = symmetry.alike(topology_key)
            found = _joined(own, found) if own and found else own or found
        return found

    def alike_nodes(self, name: str) -> list[str]:
        """Return the nodes that are interchangeable with a node before one of the steps, and the node itself."""
        found = [name]
        for symmetry in self.symmetries:
            found = list(dict.fromkeys(other for one in found for other in symmetry.alike_nodes(one)))
        return found


def _joined(one: Mapping[str, object], other: Mapping[str, object]) -> dict[str, object]:
    """Return the finest distinction in which domains are alike if they are so in one of two distinctions."""
    values = {**one, **other}
    ties = (grouped((item.get(value, value), value) for value in values).values() for item in (one, other))
    groups = tied(values, itertools.chain(*ties))
    return {value: number for number, group in enumerate(groups) for value in group}
