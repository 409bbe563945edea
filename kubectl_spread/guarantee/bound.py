"""Limits of the pods in a domain that follow from the filters alone, whatever the order of events.

A spread constraint with maxSkew s over D domains allows at most `floor((N + (D - 1) s) / D)` of N pods in a domain.
When the last of its pods came, every other domain had at least `count - s` pods. With a domain without pods, or with
minDomains, the limit is s. Deleting pods does not raise the limit. But N is the largest number of pods at any time, so
the limit says little after a scale-down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from operator import attrgetter
from typing import NamedTuple, Optional

from kubectl_spread.containers import grouped
from kubectl_spread.guarantee.model import Filters, GapEffect, KindFilters, most_at_once, MOST_PODS, Spread
from kubectl_spread.guarantee.policy import PolicyRule, Regime, RuleKind
from kubectl_spread.guarantee.space import Space


class BoundKind(Enum):
    """Reason of a limit."""

    ALL_PODS = "allPods"  # there are not more pods
    SKEW = "skew"
    EMPTY_DOMAIN = "emptyDomain"  # a domain that counts stays empty
    MIN_DOMAINS = "minDomains"
    ANTI_AFFINITY = "antiAffinity"
    ROOM = "room"
    PARTS = "parts"  # the sum of the limits of smaller domains
    EMPTIEST = "emptiest"  # the emptiest domain always takes a pod
    RUNNING = "running"  # that many run there now
    OWNERS = "owners"  # the sum over workloads or revisions that are counted separately


class Bound(NamedTuple):
    """Most pods in a domain.

    most: the limit. pods: most pods at a time. domains, max_skew: of the constraint. topology_key: of the constraint.
    part: bound of a smaller domain, or of one workload. times: number of parts.
    """

    kind: BoundKind
    most: int
    pods: int
    topology_key: str = ""
    domains: int = 0
    max_skew: int = 0
    part: Optional[tuple[object, ...]] = None
    times: int = 0


_LOOK = attrgetter("topology_key", "max_skew", "matches", "counted", "self_match", "is_below")
_MOST = attrgetter("most")


class Limits:
    """Limits of the pods of a group in a regime."""

    def __init__(self, space: Space) -> None:
        self._space, self._group = space, space.group
        self._has_surge = space.level >= Regime.ROLLOUTS.level
        self._is_scaled = space.level >= Regime.SCALING.level

    def pods(self, kinds: Iterable[int]) -> int:
        """Return the most pods of some kinds that run or wait at a time."""
        by_owner = grouped((kind.owner, kind) for kind in map(self._group.kinds.__getitem__, kinds))
        total = 0
        for owner, mine in by_owner.items():
            spec = self._group.owners[owner]
            most = spec.most if self._is_scaled else spec.replicas
            if any(kind.ordinal >= 0 for kind in mine):
                most = len({kind.ordinal for kind in mine if 0 <= kind.ordinal < most})
            elif self._has_surge and len({kind.is_new for kind in mine}) > 1:
                most = most_at_once(spec, most)
            total += most
        return total

    def in_domain(self, rule: PolicyRule, kinds: Sequence[int]) -> Bound:
        """Return the smallest known limit of the pods of some kinds that a rule counts in any domain."""
        if rule.kind is not RuleKind.SEPARATE:
            return self._in_domain(rule.topology_key, kinds)
        by_owner = grouped((self._group.kinds[at].owner, at) for at in kinds)
        return max((self._in_domain(rule.topology_key, by_owner[owner]) for owner in sorted(by_owner)), key=_MOST)

    def _in_domain(self, key: str, kinds: Sequence[int]) -> Bound:
        group, pods = self._group, self.pods(kinds)
        found = [Bound(BoundKind.ALL_PODS, pods, pods)]
        if group.has_gap(GapEffect.EVERYTHING):
            return found[0]
        limits = [self._by_separation]
        if not group.has_gap(GapEffect.COUNTS):
            limits.append(self._by_skew)
        if not group.has_gap(GapEffect.PREEMPTION):
            limits.append(self._by_room)
        versions = [self._space.filters(at) for at in range(len(self._space.disruptions) + 1)]
        for limit in limits:  # of the nodes as they are, and during each disruption
            known = [bound for model in versions if (bound := limit(model, key, kinds)) is not None]
            if len(known) == len(versions):
                found.append(max(known, key=_MOST))
        found += self._by_parts(key, kinds)
        found += self._by_owner(key, kinds)
        best = min(found, key=_MOST)
        # Filters do not limit the pods that run now.
        places = Counter(group.layout.domain_of[key][pod.node] for pod in group.placed if pod.kind in kinds)
        running = max((number for domain, number in places.items() if domain >= 0), default=0)
        return Bound(BoundKind.RUNNING, running, pods, key) if running > best.most else best

    def _by_skew(self, model: Filters, key: str, kinds: Sequence[int]) -> Optional[Bound]:
        """Return the limit by a spread constraint that all the kinds have and that counts all of them and their nodes.

        A constraint of larger domains limits the smaller ones in them, too.
        """
        items = [model.of_kind[at] for at in kinds]
        found = [
            self._skew_bound(model, spread)
            for spread in items[0].spreads
            if _contains(spread, self._group.layout.domain_of[key])
            and all(any(_LOOK(other) == _LOOK(spread) for other in item.spreads) for item in items)
            and all(spread.matches[at] for at in kinds)
            and {at for at, domain in enumerate(spread.domain_of) if domain >= 0} <= set(spread.counted)
        ]
        return min(found, key=_MOST, default=None)

    def _skew_bound(self, model: Filters, spread: Spread) -> Bound:
        """Return `min(N, floor((N + (D - 1) s) / D))`, or s if some domain stays empty."""
        pods = self.pods(at for at, is_matched in enumerate(spread.matches) if is_matched) + sum(spread.base)
        size, skew = len(spread.eligible), spread.max_skew + 1 - spread.self_match
        usable = {spread.domain_of[node] for item in model.of_kind for node in item.allowed}
        if spread.is_below:
            kind, most = BoundKind.MIN_DOMAINS, skew
        elif any(at not in usable and not spread.base[at] for at in spread.eligible):
            kind, most = BoundKind.EMPTY_DOMAIN, skew
        else:
            kind, most = BoundKind.SKEW, (pods + (size - 1) * skew) // size if size else pods
        return Bound(kind, min(pods, most), pods, spread.topology_key, size, skew)

    def _by_separation(self, model: Filters, key: str, kinds: Sequence[int]) -> Optional[Bound]:
        """Return the limit of one pod of a workload by its anti-affinity."""
        for separation in model.of_kind[kinds[0]].separations:
            joins: dict[int, set[int]] = {}
            for node, domain in enumerate(self._group.layout.domain_of[key]):
                if domain >= 0:
                    joins.setdefault(domain, set()).add(separation.domain_of[node])
            is_within = all(len(found) == 1 and -1 not in found for found in joins.values())
            is_mutual = all(
                any(
                    other.domain_of == separation.domain_of and all(other.matches[at] for at in kinds)
                    for other in model.of_kind[kind].separations
                )
                for kind in kinds
            )
            if is_within and is_mutual:
                return Bound(BoundKind.ANTI_AFFINITY, 1, self.pods(kinds), separation.topology_key)
        return None

    def _by_room(self, model: Filters, key: str, kinds: Sequence[int]) -> Optional[Bound]:
        """Return the limit by the resources of the nodes of a domain."""
        allowed = {node for at in kinds for node in model.of_kind[at].allowed}
        least = [min(model.of_kind[kind].requests[at] for kind in kinds) for at in range(len(model.resources))]
        if not model.free:
            return None
        room: Counter[int] = Counter()
        for node, domain in enumerate(self._group.layout.domain_of[key]):
            if domain >= 0 and node in allowed:
                if not any(least):
                    return None
                fits = [max(0, free) // one for free, one in zip(model.free[node], least, strict=True) if one]
                room[domain] += min(fits)
        pods = self.pods(kinds)
        return Bound(BoundKind.ROOM, min(pods, max(room.values(), default=0)), pods)

    def _by_parts(self, key: str, kinds: Sequence[int]) -> Iterator[Bound]:
        """Yield the limits of a domain by the limits of the smaller domains in it."""
        domain_of, pods = self._group.layout.domain_of[key], self.pods(kinds)
        for fine, inner in self._group.layout.domain_of.items():
            parts: dict[int, set[int]] = {}
            for node, domain in enumerate(domain_of):
                if domain >= 0:
                    parts.setdefault(domain, set()).add(inner[node])
            if fine == key or not parts or -1 in set().union(*parts.values()) or max(inner) <= max(domain_of):
                continue
            part, times = self._in_domain(fine, kinds), max(map(len, parts.values()))
            if part.most * times < pods:
                yield Bound(BoundKind.PARTS, part.most * times, pods, fine, part=part, times=times)

    def _by_owner(self, key: str, kinds: Sequence[int]) -> Iterator[Bound]:
        """Yield the limit of a domain by the limits of each workload, or of each revision, in it."""
        parts = grouped((self._group.kinds[at].owner, at) for at in kinds)
        if len(parts) == 1:
            parts = {at: [at] for at in kinds if self._group.kinds[at].ordinal < 0}
        if len(parts) > 1:
            each = [self._in_domain(key, part) for part in parts.values()]
            pods, most = self.pods(kinds), sum(item.most for item in each)
            yield Bound(BoundKind.OWNERS, min(pods, most), pods, key, part=max(each, key=_MOST), times=len(each))

    def placement(self, facts: int, kinds: Sequence[int]) -> Optional[Bound]:
        """Return the proof that a waiting pod always finds a node; None if it does not follow from the filters alone.

        The zone with the fewest pods passes its constraint, and it has less than 1/D of them. If its nodes together can
        hold more, one of them takes the pod. `facts`: the version of the nodes.
        """
        found = [bound for at in kinds if (bound := self._placement(self._space.filters(facts), at)) is not None]
        return max(found, key=attrgetter("pods"), default=None) if len(found) == len(kinds) else None

    def _placement(self, model: Filters, kind: int) -> Optional[Bound]:
        """Return the proof for one kind, by the domains of a constraint, or by all allowed nodes together."""
        item = model.of_kind[kind]
        everything = (True,) * len(model.of_kind)
        is_plain = (
            not model.free
            and not item.separations
            and all(not spread.is_below and spread.self_match and not any(spread.base) for spread in item.spreads)
        )
        for top in (*sorted(item.spreads, key=lambda spread: len(spread.eligible)), None):
            matches = everything if top is None else top.matches
            pods = self.pods(at for at, is_matched in enumerate(matches) if is_matched)
            most = pods - 1  # In the emptiest domain.
            if top is not None:
                usable = {top.domain_of[node] for node in item.allowed}
                if top.is_below or not top.self_match or usable != set(top.eligible) or not usable:
                    continue
                if not set(item.allowed) <= set(top.counted):
                    continue
                most = (pods + sum(top.base) - 1) // len(usable)
                if not is_plain or any(spread.matches != matches for spread in item.spreads):
                    most += self.pods(at for at, is_matched in enumerate(matches) if not is_matched)
            room = _room(model, item, top)
            if room <= most:
                continue
            key = "" if top is None else top.topology_key
            if not is_plain or len(item.spreads) > (0 if top is None else 2):
                return Bound(BoundKind.ROOM, room, most, key)
            fine = next((spread for spread in item.spreads if spread is not top), None)
            if fine is None or top is None:
                return Bound(BoundKind.EMPTIEST, pods if top else 0, pods if top else 0, key)
            size, skew = len(top.eligible), fine.max_skew
            return Bound(BoundKind.EMPTIEST, pods, pods, key, size, skew, times=room // skew)
        return None


def _contains(spread: Spread, domain_of: Sequence[int]) -> bool:
    """Return whether every domain of a key lies within one domain of the constraint.

    Nodes without the constraint's label take none of the pods.
    """
    outer: dict[int, int] = {}
    pairs = zip(domain_of, spread.domain_of, strict=True)
    return all(outer.setdefault(one, other) == other for one, other in pairs if one >= 0 and other >= 0)


def _room(model: Filters, item: KindFilters, top: Optional[Spread]) -> int:
    """Return how many pods of the group each domain can hold before all its nodes refuse a kind.

    Smaller domains are limited by other constraints and by anti-affinity, nodes by their resources. 0 if the domains
    are not nested.
    """
    nodes = [node for node in item.allowed if all(spread.domain_of[node] >= 0 for spread in item.spreads)]
    # How many pods of the group each node can hold, whatever their kinds
    each = [max(item.requests[at] for item in model.of_kind) for at in range(len(model.resources))]
    free = model.free or ((),) * (max(nodes, default=0) + 1)
    rooms = (
        min([max(0, one) // most for one, most in zip(free[at], each, strict=True) if most], default=MOST_PODS)
        for at in nodes
    )
    groups = [([node], room) for node, room in zip(nodes, rooms, strict=True)]
    levels: list[tuple[tuple[int, ...], Sequence[int]]] = [(other.domain_of, ()) for other in item.separations]
    for spread in item.spreads:
        if spread is not top:  # 'existing matching num' + 'if self-match' - 'global minimum' <= 'maxSkew'
            spare = spread.max_skew + 1 - spread.self_match
            levels.append((spread.domain_of, [spare - number for number in spread.base]))
    levels.sort(key=lambda level: -len(set(level[0])))
    whole = (0,) * (max(nodes, default=0) + 1) if top is None else top.domain_of
    for domain_of, limits in levels:
        groups = _joined(groups, domain_of, limits or (1,) * len(domain_of))
    return min((room for _, room in _joined(groups, whole, ())), default=0)


def _joined(
    groups: Sequence[tuple[list[int], int]], domain_of: Sequence[int], limits: Sequence[int]
) -> list[tuple[list[int], int]]:
    """Return the nodes of each domain, with the pods that it can hold."""
    joined: dict[int, tuple[list[int], int]] = {}
    for nodes, room in groups:
        domains = {domain_of[node] for node in nodes}
        if len(domains) > 1:
            return []
        domain = domains.pop()
        others, sum_ = joined.get(domain, ([], 0))
        joined[domain] = (others + nodes, sum_ + room)
    return [
        (nodes, min(room, limits[domain]) if limits and domain >= 0 else room)
        for domain, (nodes, room) in joined.items()
    ]
