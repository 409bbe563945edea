"""Lower limits of the number of events until a rule is violated, for a directed search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Optional

from kubectl_spread.guarantee.event import State
from kubectl_spread.guarantee.model import Alive, Spread
from kubectl_spread.guarantee.states.space import Space
from kubectl_spread.policy.policy import Regime, REGIMES
from kubectl_spread.policy.rule import PolicyRule, RuleKind

_NEVER = 1_000_000  # events: the rule cannot be violated any more


def distance_of(space: Space, rule: PolicyRule) -> Callable[[State], int]:
    """Return a lower limit of the number of events until a rule is violated."""
    if rule.kind in (RuleKind.MIN_DOMAINS, RuleKind.SURVIVE):
        if rule.kind is RuleKind.SURVIVE and rule.lost == 1 and _is_stepwise(space) and _counts_all_pods(space):
            return CrowdedDomain(space, rule)
        return lambda state: _unplaced(space, state)
    if rule.kind not in (RuleKind.MAX_SHARE, RuleKind.MAX_COUNT):
        return lambda _: 0
    missing = CrowdedDomain(space, rule)
    if space.level or not any(item.separations for item in space.filters(0).of_kind):
        return missing
    least = (rule.most(space.group.fewest) or 0) + 1  # A share of more pods allows more.
    domains = sorted(set(space.group.layout.domain_of[rule.topology_key]) - {-1})

    def possible(state: State) -> int:
        counts = space.domain_counts(rule.topology_key, state)
        can_come = _can_come(space, rule.topology_key, state)
        if all(counts.get(at, 0) + can_come(at) < least for at in domains):
            return _NEVER
        return missing(state)

    return possible


def _is_stepwise(space: Space) -> bool:
    """Return whether an event deletes at most one pod, and the sizes in a state limit the pods that can be placed."""
    is_scaled = space.level >= REGIMES.index(Regime.SCALING)
    return not is_scaled and not any(kind.is_new for kind in space.group.kinds)


def _counts_all_pods(space: Space) -> bool:
    return not space.disruptions and len(space.group.judged_kinds) == len(space.group.kinds)


class Target(NamedTuple):
    """Pods in one domain that violate a rule, as long as there are not more pods in all."""

    pods: int
    most_in_all: int


class Outer(NamedTuple):
    """Domains of a constraint that contain the rule's domains.

    members: the rule's domains in each. max_skew: of the constraint; None without one.
    """

    members: tuple[tuple[int, ...], ...]
    max_skew: Optional[int]


class CrowdedDomain:
    """Lower limit of the events until one domain has too many pods.

    Before a domain gets its k-th pod, all other domains have at least k - maxSkew pods. If the domain lies in a larger
    one, the larger one has the pods of its parts, and its own constraint asks for pods in the other large domains.
    The surplus pods are deleted afterwards, until the domain has too large a share.
    """

    def __init__(self, space: Space, rule: PolicyRule) -> None:
        """Set up the limit for a rule about the pods of a domain."""
        self._space = space
        self._rule = rule
        self._key = rule.topology_key
        self._is_stepwise = _is_stepwise(space) and _counts_all_pods(space)
        skew = _common_skew(space, self._key)
        self._skew = None if skew is None else skew.max_skew
        domain_of = space.group.layout.domain_of[self._key]
        self._domains = sorted(set(domain_of) - {-1})
        self._outers = [Outer((tuple(self._domains),), None), *self._larger()]
        is_rolled = space.level >= REGIMES.index(Regime.ROLLOUTS)
        self._most = Alive(space.group, has_surge=is_rolled, is_scaled=False)(range(len(space.group.kinds)))
        self._targets = tuple(self._violations())
        # When the last new pod of a StatefulSet runs, its rollout is over. A Deployment needs one more event.
        has_end = rule.kind is RuleKind.SURVIVE and all(kind.ordinal < 0 for kind in space.group.kinds)
        self._ends = int(has_end)

    def _larger(self) -> Iterator[Outer]:
        """Yield the common constraints by larger domains."""
        domain_of = self._space.group.layout.domain_of
        for key in sorted({spread.topology_key for item in self._space.filters(0).of_kind for spread in item.spreads}):
            skew = _common_skew(self._space, key) if key != self._key and key in domain_of else None
            outer_of = None if skew is None else _around(domain_of[self._key], domain_of[key])
            if skew is not None and outer_of is not None:
                members = [tuple(at for at in self._domains if outer_of[at] == outer) for outer in skew.eligible]
                yield Outer(tuple(members), skew.max_skew)

    def _violations(self) -> Iterator[Target]:
        """Yield the numbers of pods in a domain that violate the rule, and the most pods in all with which they do."""
        group, rule = self._space.group, self._rule
        wanted = group.judged_replicas if self._is_stepwise else group.fewest
        if rule.kind is RuleKind.SURVIVE:
            yield Target(max(0, wanted - rule.amount.at_least(wanted) + 1), wanted)
            return
        least = (rule.most(wanted) or 0) + 1  # A share of more pods allows more.
        if not self._is_stepwise:
            yield Target(least, _NEVER)
            return
        for pods in range(least, max(least, self._most) + 1):
            fitting = [number for number in range(wanted, self._most + 1) if (rule.most(number) or 0) < pods]
            if fitting:
                yield Target(pods, fitting[-1])
            if fitting and fitting[-1] >= self._most:
                return

    def __call__(self, state: State) -> int:
        """Return the limit for a state."""
        counts = self._space.domain_counts(self._key, state)
        placed = self._space.judged_placed_count(state)
        room = sum(state[1]) if self._is_stepwise else _NEVER
        best = _NEVER
        for target in self._targets:
            found = [
                min(self._nearest(target, outer, counts, placed=placed, room=room), default=_NEVER)
                for outer in self._outers
            ]
            best = min(best, max(found))
        return best + self._ends if self._space.is_rolling(state) else best

    def _nearest(
        self, target: Target, outer: Outer, counts: dict[int, int], *, placed: int, room: int
    ) -> Iterator[int]:
        """Yield, for each larger domain, the fewest events until a domain in it has too many pods."""
        floor = 0 if self._skew is None else max(0, target.pods - self._skew)
        sums, below = _sums(outer, counts, floor)
        for at, mine in enumerate(outer.members):
            if not mine:
                continue
            fullest = max([counts.get(domain, 0) for domain in mine])
            if fullest >= target.pods:
                yield self._finished(target, placed, 0)
                continue
            inside = target.pods + (len(mine) - 1) * floor
            other = 0 if outer.max_skew is None else max(0, inside - outer.max_skew)
            coming, in_all = target.pods - fullest + below[at] - max(0, floor - fullest), inside
            for number, members in enumerate(outer.members):
                if number != at:
                    coming += max(below[number], other - sums[number])
                    in_all += max(other, len(members) * floor)
            if not self._is_stepwise:
                yield coming
            elif in_all <= self._most:
                # Surge pods need a rollout.
                rollout = 1 + self._ends if in_all > room else 0
                yield self._finished(target, placed, max(coming, in_all - placed)) + rollout

    def _finished(self, target: Target, placed: int, coming: int) -> int:
        """Return the events that place pods, and that delete surplus pods."""
        if self._rule.kind is RuleKind.SURVIVE:
            coming = max(coming, target.most_in_all - placed)
        return coming + max(0, placed + coming - target.most_in_all)


def _sums(outer: Outer, counts: dict[int, int], floor: int) -> tuple[list[int], list[int]]:
    """Return the pods of each larger domain, and how many its domains lack until each has `floor`."""
    in_each = [[counts.get(at, 0) for at in mine] for mine in outer.members]
    return [sum(own) for own in in_each], [sum([max(0, floor - count) for count in own]) for own in in_each]


def _around(inner: Sequence[int], outer: Sequence[int]) -> Optional[dict[int, int]]:
    """Return the outer domain of each inner one, from both domains of each node; None if one lies in two."""
    found: dict[int, int] = {}
    for one, other in zip(inner, outer, strict=True):
        if (one < 0) != (other < 0) or found.setdefault(one, other) != other:
            return None
    return found


def _can_come(space: Space, key: str, state: State) -> Callable[[int], int]:
    """Return a function that counts the waiting pods that anti-affinity does not keep away from a domain."""
    domain_of = space.group.layout.domain_of[key]
    contents = space.domain_contents(key, state)
    waiting = Counter(space.unplaced_kinds(state))
    model = space.filters(0)

    def number(domain: int) -> int:
        total = 0
        for kind, pods in waiting.items():
            own = [item for item in model.of_kind[kind].separations if item.domain_of == domain_of]
            if not any(space.matching(item.matches, contents.get(domain, 0)) for item in own):
                total += 1 if any(item.matches[kind] for item in own) else pods
        return total

    return number


def _common_skew(space: Space, key: str) -> Optional[Spread]:
    """Return the loosest constraint by a key if every pod has one that counts all pods on all nodes; else None."""
    if space.disruptions or len(space.group.judged_kinds) < len(space.group.kinds):
        return None
    domain_of = space.group.layout.domain_of[key]
    found: list[Spread] = []
    for item in space.filters(0).of_kind:
        own = [
            spread for spread in item.spreads if spread.topology_key == key and _counts_everything(spread, domain_of)
        ]
        if not own:
            return None
        found.append(min(own, key=lambda spread: spread.max_skew))
    return max(found, key=lambda spread: spread.max_skew) if found else None


def _counts_everything(spread: Spread, domain_of: Sequence[int]) -> bool:
    """Return whether a constraint counts all pods of the group and no others, on all nodes with the label."""
    is_plain = bool(spread.self_match) and not spread.is_below and not any(spread.base)
    labelled = {node for node, domain in enumerate(domain_of) if domain >= 0}
    same = all(spread.domain_of[node] == domain_of[node] for node in labelled)
    return is_plain and same and all(spread.matches) and labelled <= set(spread.counted)


def _unplaced(space: Space, state: State) -> int:
    """Return a lower limit of the events until all pods are placed, or until some are lost again."""
    if state[2]:
        return 0
    return max(0, space.group.fewest - space.judged_placed_count(state))
