"""Topology spread constraints as they are written in a pod, and their numbers of matching pods per domain."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from typing import Any, NamedTuple, Optional

from kubectl_spread.objects.reading.plain import fields, mappings, Plain, strings
from kubectl_spread.objects.selectors import LabelRequirement, LabelSelector


class DomainNumbers(Mapping[str, int]):
    """A number, 0 or more, for each of some domains.

    Args:
        values: the domains, sorted; objects with the same domains share them.
        numbers: place in `values` -> number, without the zeros, in ascending order.
    """

    __slots__ = ("_numbers", "_values")

    def __init__(self, values: tuple[str, ...], numbers: dict[int, int]) -> None:
        self._values = values
        self._numbers = numbers

    def __getitem__(self, value: str) -> int:
        """Return the number of a domain.

        Raises:
            KeyError: it is not one of the domains.
        """
        at = bisect_left(self._values, value)
        if at == len(self._values) or self._values[at] != value:
            raise KeyError(value)
        return self._numbers.get(at, 0)

    def __iter__(self) -> Iterator[str]:
        """Yield the domains."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return how many domains there are."""
        return len(self._values)

    def items(self) -> ItemsView[str, int]:
        """Return the domains with their numbers."""
        return _Items(self)

    def values(self) -> ValuesView[int]:
        """Return the numbers of all domains."""
        return _Values(self)

    def all(self) -> Iterator[int]:
        """Yield the numbers of all domains: looking each of them up would take longer."""
        numbers = self._numbers
        return (numbers.get(at, 0) for at in range(len(self._values)))

    def __repr__(self) -> str:
        """Return the numbers as those of a dict."""
        return repr(dict(self))

    @property
    def largest(self) -> int:
        """Return the largest number; 0 without domains."""
        return max(self._numbers.values(), default=0)

    @property
    def smallest(self) -> int:
        """Return the smallest number; 0 without domains."""
        return min(self._numbers.values(), default=0) if len(self._numbers) == len(self._values) else 0


class _Items(ItemsView[str, int]):
    """The domains with their numbers, in order."""

    _mapping: DomainNumbers

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return zip(self._mapping, self._mapping.all(), strict=True)


class _Values(ValuesView[int]):
    """The numbers of all domains, in order."""

    _mapping: DomainNumbers

    def __iter__(self) -> Iterator[int]:
        return self._mapping.all()


DO_NOT_SCHEDULE = "DoNotSchedule"
SCHEDULE_ANYWAY = "ScheduleAnyway"
SOFT: Plain = {"whenUnsatisfiable": SCHEDULE_ANYWAY, "minDomains": None}  # fields of a constraint that is made soft
HONOR = "Honor"
IGNORE = "Ignore"


class TopologySpreadConstraint(NamedTuple):
    """`spec.topologySpreadConstraints[position]`; a field is None if the manifest does not set it."""

    position: int
    max_skew: int
    topology_key: str
    when_unsatisfiable: str
    label_selector: Optional[LabelSelector] = None
    match_label_keys: tuple[str, ...] = ()
    min_domains: Optional[int] = None
    node_affinity_policy: Optional[str] = None
    node_taints_policy: Optional[str] = None

    @property
    def selected_keys(self) -> frozenset[str]:
        """Return the keys of the labels in labelSelector."""
        if self.label_selector is None:
            return frozenset()
        labels, expressions = self.label_selector
        return frozenset([*[key for key, _ in labels], *[expression.key for expression in expressions]])

    @property
    def is_hard(self) -> bool:
        return self.when_unsatisfiable == DO_NOT_SCHEDULE


class ConstraintCounts(NamedTuple):
    """Matching pods of a constraint in each eligible domain.

    domains: value of the topology key -> matching pods, sorted by value.
    is_below_min_domains: there are fewer eligible domains than minDomains, so that the global minimum is 0.
    """

    domains: Mapping[str, int]
    is_below_min_domains: bool = False

    @property
    def most(self) -> int:
        """Return the matching pods of the fullest domain; 0 without domains."""
        domains = self.domains
        return domains.largest if isinstance(domains, DomainNumbers) else max(domains.values(), default=0)

    @property
    def fullest(self) -> str:
        """Return the first domain that has the most; empty without domains."""
        most = self.most
        return next((value for value, number in self.domains.items() if number == most), "")

    @property
    def smallest(self) -> int:
        """Return the matching pods of the emptiest domain, minDomains aside; 0 without domains."""
        domains = self.domains
        return domains.smallest if isinstance(domains, DomainNumbers) else min(domains.values(), default=0)

    @property
    def minimum(self) -> int:
        """Return the global minimum, with which the scheduler compares each domain."""
        return 0 if self.is_below_min_domains else self.smallest

    @property
    def smallest_in(self) -> tuple[str, ...]:
        """Return the domains that have the smallest count."""
        smallest = self.smallest
        return tuple(value for value, number in self.domains.items() if number == smallest)

    @property
    def minimum_in(self) -> tuple[str, ...]:
        """Return the domains that hold the global minimum; none if minDomains makes it 0."""
        return () if self.is_below_min_domains else self.smallest_in

    @property
    def emptiest(self) -> str:
        """Return the first domain that holds the global minimum; empty if minDomains makes it 0."""
        return next(iter(self.minimum_in), "")

    @property
    def skew(self) -> Optional[int]:
        """Return the matching pods of the fullest domain minus the global minimum; None without domains."""
        return self.most - self.minimum if self.domains else None


def labels(metadata: Plain) -> dict[str, str]:
    """Return `metadata.labels`; a null value is the empty string."""
    written = metadata.get("labels")
    return {key: value or "" for key, value in written.items()} if written else {}


def plain_constraint(topology_key: str, when_unsatisfiable: str, selector: Any, *, max_skew: int = 1) -> Plain:
    """Return a constraint as a field of a manifest."""
    return {
        "maxSkew": max_skew,
        "topologyKey": topology_key,
        "whenUnsatisfiable": when_unsatisfiable,
        "labelSelector": selector,
    }


def constraints(spec: Plain) -> tuple[TopologySpreadConstraint, ...]:
    """Return `spec.topologySpreadConstraints` in order."""
    return tuple(
        [
            TopologySpreadConstraint(  # perf: without the names of the fields
                position,
                int(plain.get("maxSkew") or 0),
                plain.get("topologyKey") or "",
                plain.get("whenUnsatisfiable") or "",
                label_selector(plain.get("labelSelector")),
                strings(plain.get("matchLabelKeys")),
                None if (least := plain.get("minDomains")) is None else int(least),
                plain.get("nodeAffinityPolicy"),
                plain.get("nodeTaintsPolicy"),
            )
            for position, plain in enumerate(mappings(spec.get("topologySpreadConstraints")))
        ]
    )


def label_selector(plain: Optional[Plain]) -> Optional[LabelSelector]:
    """Read a LabelSelector; None stays None, which selects nothing."""
    if plain is None:
        return None
    equal = fields(plain, "matchLabels")
    return LabelSelector(
        tuple(sorted([(key, value or "") for key, value in equal.items()])),
        tuple(map(requirement, mappings(plain.get("matchExpressions")))),
    )


def requirement(plain: Plain) -> LabelRequirement:
    """Read one entry of `matchExpressions` or `matchFields`."""
    return LabelRequirement(plain.get("key") or "", plain.get("operator") or "", strings(plain.get("values")))
