"""States without the names of workloads and revisions.

They allow more than can really happen, so they can only prove rules. Workloads and revisions whose pods pass the same
filters become one workload. The anti-affinity between the pods of each is left out,
except where a pod stays Pending. Its siblings keep it from at most one domain each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Optional

from kubectl_spread.guarantee.model import (
    Event,
    Filters,
    GroupModel,
    Kind,
    KindFilters,
    most_at_once,
    Next,
    OwnerSpec,
    State,
    TransitionKind,
    with_pod,
)
from kubectl_spread.guarantee.policy.policy import PolicyRule, Regime, REGIMES, RuleKind
from kubectl_spread.guarantee.space import Space


def merge_names(space: Space) -> Optional[MergedSpace]:
    """Return the states without the workloads' names; None if this is impossible or makes no difference."""
    group = space.group
    if len(group.kinds) < 2 or space.level > Regime.ROLLOUTS.level or group.placed:
        return None
    if any(kind.ordinal >= 0 for kind in group.kinds) or len(group.judged_kinds) < len(group.kinds):
        return None
    model = space.filters(0)
    first = model.of_kind[0]
    if any(_view(item) != _view(first) for item in model.of_kind[1:]):
        return None
    if any(len(set(spread.matches)) > 1 for item in model.of_kind for spread in item.spreads):
        return None
    return MergedSpace(space)


def _view(item: KindFilters) -> object:
    """Return the filters of a kind without the kinds that its anti-affinity keeps away."""
    return item.allowed, item.requests, item.spreads


def _most_of(spec: OwnerSpec) -> int:
    return most_at_once(spec, spec.replicas) if spec.is_rolled else spec.replicas


class MergedSpace(Space):
    """States of a group as if it were one workload."""

    def __init__(self, space: Space) -> None:
        """Merge the workloads of a space."""
        self._space = space
        owners = space.group.owners
        pods = sum(owner.replicas for owner in owners)
        self._most = sum(_most_of(owner) for owner in owners)
        whole = OwnerSpec(owners[0].key, pods)
        group = GroupModel(space.group.name, (whole,), (Kind(0),), space.group.layout)
        regime = REGIMES[min(space.level, Regime.RESTARTS.level)]
        model = space.filters(0)
        first = model.of_kind[0]
        spreads = tuple(spread._replace(matches=(spread.matches[0],)) for spread in first.spreads)
        made = Filters((KindFilters(first.allowed, spreads, (), first.requests),), model.free, model.resources)
        self._siblings = self._kept_away(model)
        self._waits_at = self._most - 1
        super().__init__(group, lambda _disruption: made, space.rules, regime)

    def _kept_away(self, model: Filters) -> list[tuple[tuple[int, ...], int]]:
        """Return the domains of each anti-affinity, and the most domains from which siblings keep a pod."""
        found = []
        for kind, item in zip(self._space.group.kinds, model.of_kind, strict=True):
            for separation in item.separations:
                matched = {
                    other.owner for at, other in enumerate(self._space.group.kinds) if separation.matches[at]
                }  # Pods of all revisions match a selector, apart from the revision label.
                others = sum(_most_of(self._space.group.owners[owner]) for owner in matched)
                found.append((separation.domain_of, others - 1 if kind.owner in matched else others))
        return sorted(set(found))

    def can_prove(self, rule: PolicyRule) -> bool:
        """Return whether the states say enough about a rule."""
        if rule.kind is RuleKind.PLACED:
            return len({domain_of for domain_of, _ in self._siblings}) < 2
        return rule.kind in (RuleKind.MAX_SHARE, RuleKind.MAX_COUNT, RuleKind.MIN_DOMAINS)

    def start(self) -> State:
        """Return the state without pods, in which the surge pods of rollouts are wanted, too."""
        return ((0,) * len(self.group.layout.nodes), (self._most,), 0, (self.group.owners[0].replicas,))

    def running(self) -> Optional[State]:
        """Return None: running pods are not followed."""
        return None

    def events(self, state: State) -> Iterator[Next]:
        """Yield placements and deletions."""
        nodes = self.arrangement(0).distinct(state[0])
        if sum(state[0]) < self._most:
            is_distinct = set(nodes)
            for node in self.hosts(0, 0, state[0]):
                if node in is_distinct:
                    yield Event(TransitionKind.PLACED, 0, node, 0), with_pod(state, 0, node)
        if self.level >= 1:
            yield from self._restarts(state, nodes)

    def is_violated(self, rule: PolicyRule, state: State) -> bool:
        """Return whether a state may violate a rule."""
        if rule.kind is RuleKind.PLACED:
            return sum(state[0]) <= self._waits_at and self._may_wait(state)
        if rule.kind is RuleKind.MIN_DOMAINS:
            is_short = len(self.domain_counts(rule.topology_key, state)) < rule.amount.numerator
            return is_short and sum(state[0]) >= self.group.owners[0].replicas
        return super().is_violated(rule, state)

    def is_settled(self, state: State) -> bool:
        """Return whether nothing may happen by itself: all wanted pods are placed, or some pod may wait."""
        number = sum(state[0])
        return number == self.group.owners[0].replicas or (number <= self._waits_at and self._may_wait(state))

    def _may_wait(self, state: State) -> bool:
        """Return whether siblings can keep a waiting pod from every node that has room for it."""
        hosts = self.hosts(0, 0, state[0])
        if not hosts:
            return True
        return any(self._is_kept_away(hosts, domain_of, most, state) for domain_of, most in self._siblings)

    def _is_kept_away(self, hosts: Sequence[int], domain_of: tuple[int, ...], most: int, state: State) -> bool:
        used = {domain_of[at] for at, content in enumerate(state[0]) if content}
        domains = {domain_of[at] for at in hosts}
        return -1 not in domains and domains <= used and len(domains) <= most
