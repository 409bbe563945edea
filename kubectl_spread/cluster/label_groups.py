"""Groups of bound pods that match the same selectors, indexed by label."""

from __future__ import annotations

from typing import NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.caching import cached_method
from kubectl_spread.containers import Numbering
from kubectl_spread.objects.selectors import Selector

Bools = NDArray[np.bool_]

_Label = tuple[str, str, str]  # namespace, key, value


class LabelGroup(NamedTuple):
    """Pods that match exactly the same selectors."""

    namespace: str
    labels: tuple[tuple[str, str], ...]
    terminating: bool


class LabelGroups:
    """Groups in the order they were met.

    LabelGroups made from a base start with its groups, and share the answers about these.
    """

    def __init__(self, base: Optional[LabelGroups] = None) -> None:
        self._base = base
        self._taken = 0 if base is None else len(base)
        self._numbers = Numbering[LabelGroup]()
        self._own = self._numbers.listed
        self._having: dict[_Label, list[int]] = {}  # own groups that have a label
        self._in_namespace: dict[str, list[int]] = {}
        self._indexed = 0  # so many own groups are in the two

    def __len__(self) -> int:
        return self._taken + len(self._own)

    def all(self) -> list[LabelGroup]:
        """Return every group."""
        return [*([] if self._base is None else self._base.all()[: self._taken]), *self._own]

    def add(self, group: LabelGroup) -> int:
        """Add a group if it is new, and return its index."""
        found = self._find(group)
        return self._taken + self._numbers[group] if found is None else found

    def matching(self, namespace: str, selector: Selector, known: int = 0) -> Bools:
        """Return bool (G - known,): groups with counted pods, without the first `known` and terminating ones."""
        start = max(0, known - self._taken)
        own = np.zeros(len(self._own) - start, np.bool_)
        for at in self._candidates(namespace, selector):
            group = self._own[at]
            if at >= start and not group.terminating and selector.matches(dict(group.labels)):
                own[at - start] = True
        if self._base is None or known >= self._taken:
            return own
        return np.concatenate([self._base.first_matching(namespace, selector, self._taken)[known:], own])

    @cached_method
    def first_matching(self, namespace: str, selector: Selector, end: int) -> Bools:
        """Return the matching groups among the first ones, bool (end,)."""
        return self.matching(namespace, selector)[:end]

    def all_matches(self, namespace: str, selector: Selector) -> Bools:
        """Return bool (G,): groups that a selector matches, terminating ones included."""
        every = self.all()
        found = self.matching(namespace, selector)
        for at, group in enumerate(every):
            if group.terminating and group.namespace == namespace:
                found[at] = selector.matches(dict(group.labels))
        return found

    def _find(self, group: LabelGroup) -> Optional[int]:
        found = None if self._base is None else self._base._find(group)  # noqa: SLF001 (of the same class)
        if found is not None and found < self._taken:
            return found
        own = self._numbers.get(group)
        return None if own is None else self._taken + own

    def _candidates(self, namespace: str, selector: Selector) -> list[int]:
        """Return groups that may match: those with a label that the selector requires, if it requires one."""
        for group in self._own[self._indexed :]:
            self._in_namespace.setdefault(group.namespace, []).append(self._indexed)
            for key, value in group.labels:
                self._having.setdefault((group.namespace, key, value), []).append(self._indexed)
            self._indexed += 1
        few = self._in_namespace.get(namespace, [])
        for requirement in selector.requirements or ():
            if requirement.operator == "In" and len(requirement.values) == 1:
                having = self._having.get((namespace, requirement.key, requirement.values[0]), [])
                few = having if len(having) < len(few) else few
        return few
