"""Nodes that pass the scheduler's filters for a kind of pods, given the group's own pods on each node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kubectl_spread.guarantee.model import BITS, count_of, Filters, MOST_PODS, Spread

_MOST_KNOWN = 100_000  # answers of the filters that are kept


class HostFinder:
    """Filters of all versions of the nodes, with caches of their answers."""

    def __init__(self, filters: Callable[[int], Filters]) -> None:
        """Set up the filters; `filters` returns those of a version of the nodes."""
        self.filters = filters
        self._hosts: dict[tuple[int, int, tuple[int, ...]], list[int]] = {}
        self._counts: dict[tuple[bool, ...], dict[int, int]] = {}
        self._sums: dict[tuple[int, ...], dict[int, int]] = {}

    def hosts(self, facts: int, kind: int, contents: tuple[int, ...]) -> list[int]:
        """Return the nodes that pass all filters for a pod of a kind."""
        key = (facts, kind, contents)
        found = self._hosts.get(key)
        if found is None:
            if len(self._hosts) > _MOST_KNOWN:
                self._hosts.clear()
            found = self._hosts[key] = self._filtered(facts, kind, contents)
        return found

    def _filtered(self, facts: int, kind: int, contents: tuple[int, ...]) -> list[int]:
        model = self.filters(facts)
        item = model.of_kind[kind]
        nodes: Any = item.allowed
        for separation in item.separations:
            nodes = self._apart(separation.domain_of, separation.matches, contents, nodes=nodes)
            if not nodes:
                return []
        for spread in item.spreads:
            nodes = self._within_skew(spread, contents, nodes)
            if not nodes:
                return []
        if model.free:
            nodes = [at for at in nodes if self._has_room(model, kind, at, content=contents[at])]
        return list(nodes)

    def _apart(
        self, domain_of: tuple[int, ...], matches: tuple[bool, ...], contents: tuple[int, ...], *, nodes: Sequence[int]
    ) -> list[int]:
        taken = {domain_of[at] for at, content in enumerate(contents) if content and self.matching(matches, content)}
        return [at for at in nodes if domain_of[at] < 0 or domain_of[at] not in taken]

    def _within_skew(self, spread: Spread, contents: tuple[int, ...], nodes: Sequence[int]) -> list[int]:
        counts = list(spread.base)
        domain_of, matches = spread.domain_of, spread.matches
        for at in spread.counted:
            content = contents[at]
            if content:
                counts[domain_of[at]] += self.matching(matches, content)
        if spread.is_below:
            least = 0
        elif spread.eligible:
            least = min([counts[at] for at in spread.eligible])
        else:
            least = MOST_PODS * len(contents)
        most = spread.max_skew - spread.self_match + least
        return [at for at in nodes if domain_of[at] >= 0 and counts[domain_of[at]] <= most]

    def _has_room(self, model: Filters, kind: int, node: int, *, content: int) -> bool:
        wanted = model.of_kind[kind].requests
        for at, room in enumerate(model.free[node]):
            if wanted[at] and wanted[at] > room - self._requested(model, at, content):
                return False
        return True

    def _requested(self, model: Filters, resource: int, content: int) -> int:
        if not content:
            return 0
        amounts = tuple(item.requests[resource] for item in model.of_kind)
        cache = self._sums.setdefault(amounts, {})
        found = cache.get(content)
        if found is None:
            found = cache[content] = sum(count_of(content, at) * amount for at, amount in enumerate(amounts) if amount)
        return found

    def matching(self, matches: tuple[bool, ...], content: int) -> int:
        """Return the number of matching pods in a content."""
        cache = self._counts.get(matches)
        if cache is None:
            cache = self._counts[matches] = {}
        found = cache.get(content)
        if found is None:
            found = cache[content] = sum(
                content >> (BITS * at) & MOST_PODS for at, is_matched in enumerate(matches) if is_matched
            )
        return found
