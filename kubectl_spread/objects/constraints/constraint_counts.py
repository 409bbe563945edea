"""Matching pods of one constraint per domain, and the skew: the record that every report of a constraint builds on.

```
minDomains 1                     minDomains 4
  5 ┤ █      <- most               5 ┤ █
    │ █                              │ █
  2 ┤ █ █ █  <- minimum              │ █ █ █
    └─a─b─c                        0 ┴─a─b─c─?  <- minimum
  skew = 5 - 2                     skew = 5 - 0
```
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Optional

from kubectl_spread.objects.constraints.domain_numbers import DomainNumbers


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
    def skew(self) -> Optional[int]:
        """Return the matching pods of the fullest domain minus the global minimum; None without domains."""
        return self.most - self.minimum if self.domains else None
