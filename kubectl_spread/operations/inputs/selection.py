"""The workloads of a cluster that an operation covers."""

from __future__ import annotations

from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.objects.keys import ObjectKey

if TYPE_CHECKING:
    from kubectl_spread.objects.selectors import Labels, Selector


class ObjectName(NamedTuple):
    """An object by kind and name."""

    kind: str
    name: str


class Selection(NamedTuple):
    """Workloads by name, or all of some kinds; all of every kind if there are neither.

    `namespace` is empty for all namespaces.
    """

    targets: tuple[ObjectName, ...] = ()
    kinds: frozenset[str] = frozenset()
    selector: Optional[Selector] = None
    namespace: str = "default"

    def includes(self, key: ObjectKey, labels: Labels) -> bool:
        """Return whether a workload is selected."""
        if self.namespace and key.namespace != self.namespace:
            return False
        if self.targets:
            if ObjectName(key.kind, key.name) not in self.targets:
                return False
        elif self.kinds and key.kind not in self.kinds:
            return False
        return self.selector is None or self.selector.matches(labels)

    @property
    def all_kinds(self) -> tuple[str, ...]:
        """Return the kinds of the targets and the kinds that are named, sorted; empty for every kind."""
        return tuple(sorted({target.kind for target in self.targets} | self.kinds))

    @property
    def place(self) -> str:
        """Return `in namespace shop` or `in all namespaces`."""
        return f"in namespace {self.namespace}" if self.namespace else "in all namespaces"
