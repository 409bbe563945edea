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

from kubectl_spread.guarantee.gap import GapEffect
from kubectl_spread.guarantee.model import Alive, Filters, GroupModel, KindFilters, Spread
from kubectl_spread.guarantee.policy.rule import PolicyRule, RuleKind


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


def bounds(group: GroupModel, versions: Sequence[Filters], rule: PolicyRule, alive: Alive) -> Optional[Bound]:
    """Return the smallest known limit of the pods that a rule counts in any domain; None if there is none.

    Args:
        group: the workloads.
        versions: filters of the nodes, as they are and during each disruption.
        rule: a rule about the pods of a domain, or of one workload in it.
        alive: the most pods at a time.
    """
    if rule.kind is not RuleKind.SEPARATE:
        return _of_kinds(group, versions, rule.topology_key, group.judged_kinds, alive=alive)
    found = []
    for owner in sorted({group.kinds[at].owner for at in group.judged_kinds}):
        mine = [at for at in group.judged_kinds if group.kinds[at].owner == owner]
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

    The emptiest of D zones takes the pod. If its emptiest node does not, it has at least s pods on each of its k nodes,
    and so have all zones: there are at least D k s pods.
    """
    if model.free or any(item.separations for item in model.of_kind):
        return None
    found = [_always(model, at, alive) for at in kinds]
    if any(item is None for item in found) or not found:
        return None
    return max((item for item in found if item is not None), key=lambda item: item.pods)


def _always(model: Filters, kind: int, alive: Alive) -> Optional[Bound]:
    item = model.of_kind[kind]
    usable = set(item.allowed)
    counted = _counted_kinds(item, usable)
    if counted is None or any(set(model.of_kind[at].allowed) != usable for at in counted):
        return None
    pods = alive(counted)
    if len(item.spreads) == 2:
        return _in_nested_domains(item, pods)
    key = item.spreads[0].topology_key if item.spreads else ""
    return Bound(BoundKind.EMPTIEST, pods, pods, key)


def _counted_kinds(item: KindFilters, usable: set[int]) -> Optional[list[int]]:
    """Return the kinds that the constraints count; None if they are not simple, differ, or are more than two."""
    if not usable or len(item.spreads) > 2 or not all(_is_simple(spread, usable) for spread in item.spreads):
        return None
    selections = {spread.matches for spread in item.spreads}
    if len(selections) > 1:
        return None
    return [at for matches in selections for at, is_matched in enumerate(matches) if is_matched]


def _in_nested_domains(item: KindFilters, pods: int) -> Optional[Bound]:
    """Return the proof for two constraints, if the domains of one are nested in those of the other."""
    fine, coarse = sorted(item.spreads, key=lambda spread: -len(spread.eligible))
    inside: dict[int, set[int]] = {}
    for node in item.allowed:
        inside.setdefault(coarse.domain_of[node], set()).add(fine.domain_of[node])
    is_nested = sum(map(len, inside.values())) == len(fine.eligible)
    least = min(map(len, inside.values()))
    if not is_nested or len(coarse.eligible) * least * fine.max_skew < pods:
        return None
    return Bound(BoundKind.EMPTIEST, pods, pods, coarse.topology_key, len(coarse.eligible), fine.max_skew, times=least)


def _is_simple(spread: Spread, usable: set[int]) -> bool:
    """Return whether every counted domain has a node for the pods, and every such node is counted."""
    if spread.is_below or not spread.self_match or any(spread.base):
        return False
    if not usable <= set(spread.counted):
        return False
    return {spread.domain_of[node] for node in usable} == set(spread.eligible)
