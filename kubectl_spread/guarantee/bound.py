"""Limits of the pods in a domain that follow from the filters alone, whatever the order of events.

A spread constraint with maxSkew s over D domains allows at most `floor((N + (D - 1) s) / D)` of N pods in a domain.
When the last of its pods came, every other domain had at least `count - s` pods. With a domain without pods, or with
minDomains, the limit is s. Deleting pods does not raise the limit. But N is the largest number of pods at any time, so
the limit says little after a scale-down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.guarantee.model import Alive, Filters, GapEffect, GroupModel, KindFilters, MOST_PODS, Spread
from kubectl_spread.guarantee.policy.policy import PolicyRule, RuleKind


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


def bounds(
    group: GroupModel, kinds: Sequence[int], versions: Sequence[Filters], rule: PolicyRule, alive: Alive
) -> Optional[Bound]:
    """Return the smallest known limit of the pods that a rule counts in any domain; None if there is none.

    Args:
        group: the workloads.
        kinds: of the pods that are judged.
        versions: filters of the nodes, as they are and during each disruption.
        rule: a rule about the pods of a domain, or of one workload in it.
        alive: the most pods at a time.
    """
    if rule.kind is not RuleKind.SEPARATE:
        return _of_kinds(group, versions, rule.topology_key, kinds, alive=alive)
    found = []
    for owner in sorted({group.kinds[at].owner for at in kinds}):
        mine = [at for at in kinds if group.kinds[at].owner == owner]
        found.append(_of_kinds(group, versions, rule.topology_key, mine, alive=alive))
    known = [item for item in found if item is not None]
    return max(known, key=lambda item: item.most) if len(known) == len(found) and known else None


def _of_kinds(
    group: GroupModel, versions: Sequence[Filters], key: str, kinds: Iterable[int], *, alive: Alive
) -> Optional[Bound]:
    """Return the limit of the pods of some kinds in a domain of a key."""
    chosen = tuple(kinds)
    pods = alive(chosen)
    found = [Bound(BoundKind.ALL_PODS, pods, pods)]
    if group.has_gap(GapEffect.EVERYTHING):
        return found[0]
    for candidate in _candidates(group):
        of_versions = [candidate(group, model, key, chosen, alive=alive) for model in versions]
        known = [item for item in of_versions if item is not None]
        if len(known) == len(versions) and known:
            found.append(max(known, key=lambda item: item.most))
    found += _by_parts(group, versions, key, chosen, alive=alive)
    found += _by_owner(group, versions, key, chosen, alive=alive)
    best = min(found, key=lambda item: item.most)
    running = _running(group, key, chosen)
    return Bound(BoundKind.RUNNING, running, pods, key) if running > best.most else best


def _candidates(group: GroupModel) -> Iterator[Callable[..., Optional[Bound]]]:
    """Yield the limits on which gaps have no effect."""
    yield _by_separation
    if not group.has_gap(GapEffect.COUNTS):
        yield _by_skew
    if not group.has_gap(GapEffect.PREEMPTION):
        yield _by_room


def _running(group: GroupModel, key: str, kinds: Sequence[int]) -> int:
    """Return the most pods of some kinds that a domain holds now; filters do not limit them."""
    counts: dict[int, int] = {}
    for pod in group.placed:
        domain = group.layout.domain_of[key][pod.node]
        if pod.kind in kinds and domain >= 0:
            counts[domain] = counts.get(domain, 0) + 1
    return max(counts.values(), default=0)


def _by_skew(group: GroupModel, model: Filters, key: str, kinds: tuple[int, ...], *, alive: Alive) -> Optional[Bound]:
    """Return the limit by a spread constraint that all the kinds have and that counts all of them.

    A constraint of larger domains limits the smaller ones in them, too.
    """
    best: Optional[Bound] = None
    items = [model.of_kind[at] for at in kinds]
    for spread in items[0].spreads if items else ():
        if not _contains(spread, group.layout.domain_of[key]) or not all(_has_like(item, spread) for item in items):
            continue
        if not all(spread.matches[at] for at in kinds) or not _counts_all(spread):
            continue
        found = _skew_bound(model, spread, alive)
        best = found if best is None or found.most < best.most else best
    return best


def _has_like(item: KindFilters, spread: Spread) -> bool:
    """Return whether a kind has the same constraint."""
    return any(
        (other.topology_key, other.max_skew, other.matches, other.counted, other.self_match, other.is_below)
        == (spread.topology_key, spread.max_skew, spread.matches, spread.counted, spread.self_match, spread.is_below)
        for other in item.spreads
    )


def _contains(spread: Spread, domain_of: Sequence[int]) -> bool:
    """Return whether every domain of a key lies within one domain of the constraint.

    Nodes without the constraint's label take none of the pods.
    """
    outer: dict[int, int] = {}
    pairs = zip(domain_of, spread.domain_of, strict=True)
    return all(outer.setdefault(one, other) == other for one, other in pairs if one >= 0 and other >= 0)


def _counts_all(spread: Spread) -> bool:
    """Return whether the constraint counts every node of its domains."""
    counted = set(spread.counted)
    return all(domain < 0 or at in counted for at, domain in enumerate(spread.domain_of))


def _skew_bound(model: Filters, spread: Spread, alive: Alive) -> Bound:
    """Return `min(N, floor((N + (D - 1) s) / D))`, or s if some domain stays empty."""
    pods = alive(at for at, is_matched in enumerate(spread.matches) if is_matched) + sum(spread.base)
    size, skew = len(spread.eligible), spread.max_skew + 1 - spread.self_match
    if spread.is_below:
        return Bound(BoundKind.MIN_DOMAINS, min(pods, skew), pods, spread.topology_key, size, skew)
    usable = {spread.domain_of[node] for item in model.of_kind for node in item.allowed}
    if any(at not in usable and not spread.base[at] for at in spread.eligible):
        return Bound(BoundKind.EMPTY_DOMAIN, min(pods, skew), pods, spread.topology_key, size, skew)
    most = min(pods, (pods + (size - 1) * skew) // size) if size else pods
    return Bound(BoundKind.SKEW, most, pods, spread.topology_key, size, skew)


def _by_separation(
    group: GroupModel, model: Filters, key: str, kinds: tuple[int, ...], *, alive: Alive
) -> Optional[Bound]:
    """Return the limit of one pod of a workload by its anti-affinity."""
    domain_of = group.layout.domain_of[key]
    pods = alive(kinds)
    for separation in model.of_kind[kinds[0]].separations if kinds else ():
        joins: dict[int, set[int]] = {}
        for node, domain in enumerate(domain_of):
            if domain >= 0:
                joins.setdefault(domain, set()).add(separation.domain_of[node])
        is_within = all(len(found) == 1 and -1 not in found for found in joins.values())
        mutual = all(
            any(
                other.domain_of == separation.domain_of and all(other.matches[at] for at in kinds)
                for other in model.of_kind[kind].separations
            )
            for kind in kinds
        )
        if is_within and mutual:
            return Bound(BoundKind.ANTI_AFFINITY, 1, pods, separation.topology_key)
    return None


def _by_room(group: GroupModel, model: Filters, key: str, kinds: tuple[int, ...], *, alive: Alive) -> Optional[Bound]:
    """Return the limit by the resources of the nodes of a domain."""
    if not model.free:
        return None
    domain_of = group.layout.domain_of[key]
    allowed = {node for at in kinds for node in model.of_kind[at].allowed}
    room: dict[int, int] = {}
    for node, domain in enumerate(domain_of):
        if domain < 0 or node not in allowed:
            continue
        fits = []
        for at, free in enumerate(model.free[node]):
            least = min(model.of_kind[kind].requests[at] for kind in kinds)
            if least:
                fits.append(max(0, free) // least)
        if not fits:
            return None
        room[domain] = room.get(domain, 0) + min(fits)
    pods = alive(kinds)
    return Bound(BoundKind.ROOM, min(pods, max(room.values(), default=0)), pods)


def _by_parts(
    group: GroupModel, versions: Sequence[Filters], key: str, kinds: tuple[int, ...], *, alive: Alive
) -> list[Bound]:
    """Return the limits of a domain by the limits of the smaller domains in it."""
    found = []
    domain_of = group.layout.domain_of[key]
    pods = alive(kinds)
    for fine, inner in group.layout.domain_of.items():
        parts: dict[int, set[int]] = {}
        for node, domain in enumerate(domain_of):
            if domain >= 0:
                parts.setdefault(domain, set()).add(inner[node])
        most = max((len(item) for item in parts.values()), default=0)
        if fine == key or not parts or any(-1 in item for item in parts.values()) or max(inner) <= max(domain_of):
            continue
        part = _of_kinds(group, versions, fine, kinds, alive=alive)
        if part is not None and part.most * most < pods:
            found.append(Bound(BoundKind.PARTS, part.most * most, pods, fine, part=part, times=most))
    return found


def _by_owner(
    group: GroupModel, versions: Sequence[Filters], key: str, kinds: tuple[int, ...], *, alive: Alive
) -> list[Bound]:
    """Return the limit of a domain by the limits of each workload, or of each revision, in it."""
    parts: dict[object, list[int]] = {}
    for at in kinds:
        kind = group.kinds[at]
        parts.setdefault(kind.owner, []).append(at)
    if len(parts) == 1:
        parts = {kind: [kind] for kind in kinds if group.kinds[kind].ordinal < 0}
    if len(parts) < 2:
        return []
    each = [_of_kinds(group, versions, key, item, alive=alive) for item in parts.values()]
    if any(item is None for item in each):
        return []
    pods = alive(kinds)
    most = sum(item.most for item in each if item is not None)
    largest = max((item for item in each if item is not None), key=lambda item: item.most)
    return [Bound(BoundKind.OWNERS, min(pods, most), pods, key, part=largest, times=len(each))]


def prove_placement(model: Filters, alive: Alive, kinds: Sequence[int]) -> Optional[Bound]:
    """Return the proof that a waiting pod always finds a node; None if this does not follow from the filters alone.

    The zone with the fewest pods passes its constraint, and it has less than 1/D of them. If its nodes together can
    hold more, one of them takes the pod.
    """
    found = [_always(model, at, alive) for at in kinds]
    if any(item is None for item in found) or not found:
        return None
    return max((item for item in found if item is not None), key=lambda item: item.pods)


def _always(model: Filters, kind: int, alive: Alive) -> Optional[Bound]:
    """Return the proof for one kind, by the domains of a constraint, or by all allowed nodes together."""
    item = model.of_kind[kind]
    everything = (True,) * len(model.of_kind)
    is_plain = not model.free and not item.separations and all(map(_is_simple, item.spreads))
    for top in (*sorted(item.spreads, key=lambda spread: len(spread.eligible)), None):
        matches = everything if top is None else top.matches
        pods = alive(at for at, is_matched in enumerate(matches) if is_matched)
        most = pods - 1  # In the emptiest domain.
        if top is not None:
            usable = {top.domain_of[node] for node in item.allowed}
            if top.is_below or not top.self_match or usable != set(top.eligible) or not usable:
                continue
            if not set(item.allowed) <= set(top.counted):
                continue
            most = (pods + sum(top.base) - 1) // len(usable)
            if not is_plain or any(spread.matches != matches for spread in item.spreads):
                most += alive(at for at, is_matched in enumerate(matches) if not is_matched)
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


def _is_simple(spread: Spread) -> bool:
    return not spread.is_below and bool(spread.self_match) and not any(spread.base)


def _room(model: Filters, item: KindFilters, top: Optional[Spread]) -> int:
    """Return how many pods of the group each domain can hold before all its nodes refuse a kind.

    Smaller domains are limited by other constraints and by anti-affinity, nodes by their resources. 0 if the domains
    are not nested.
    """
    nodes = [node for node in item.allowed if all(spread.domain_of[node] >= 0 for spread in item.spreads)]
    groups = [([node], _room_on(model, node)) for node in nodes]
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


def _room_on(model: Filters, node: int) -> int:
    """Return how many pods of the group a node can hold, whatever their kinds."""
    if not model.free:
        return MOST_PODS
    each = [max(item.requests[at] for item in model.of_kind) for at in range(len(model.resources))]
    return min(
        [max(0, free) // most for free, most in zip(model.free[node], each, strict=True) if most], default=MOST_PODS
    )
