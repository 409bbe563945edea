"""What a Filter plugin is.

Upstream asks a plugin about one node at a time; here a plugin answers for all nodes at once, with bits. It is
the one deliberate departure from the framework's interface, and it makes a cycle a handful of array operations.

Source: staging/src/k8s.io/kube-scheduler/framework/interface.go, PreFilterPlugin, FilterPlugin (v1.36.2).
"""

from __future__ import annotations

from typing import NamedTuple
from typing import Optional
from typing import Protocol
from typing import Union

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.framework.status import Reason

Bits = NDArray[np.uint64]  # (N,): 0 fits, else bit i set where reason i holds


class Skip(NamedTuple):
    """PreFilter: nothing to filter for this pod."""


class Rejection(NamedTuple):
    """PreFilter: no node can take the pod, whatever its state."""

    message: str


class FilterState(Protocol):
    """What a plugin knows of one pod class; right as long as it hears of every binding."""

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """What the bits mean."""

    @property
    def narrowed(self) -> Optional[frozenset[str]]:
        """The names of the only nodes worth filtering; None for all."""

    def filter(self) -> Bits:
        """The bits of every node, now. The array may be the state's own: do not write to it."""

    def pod_added(self, pod: Pod, node: int) -> None:
        """A pod of any class was bound; the columns already show it."""


class FilterPlugin(Protocol):
    """A plugin of the Filter extension point."""

    @property
    def name(self) -> str:
        """Upstream's name."""

    def pre_filter(self, cls: PodClass, columns: Columns) -> Union[FilterState, Skip, Rejection]:
        """Look at the pod and the cluster once."""


class FixedState:
    """The state of a plugin that no binding can change."""

    def __init__(self, reasons: tuple[Reason, ...], bits: Bits, narrowed: Optional[frozenset[str]] = None) -> None:
        self.reasons = reasons
        self.narrowed = narrowed
        self._bits = bits

    def filter(self) -> Bits:
        return self._bits

    def pod_added(self, pod: Pod, node: int) -> None:
        """Nothing to do."""


def no_bits(columns: Columns) -> Bits:
    """Every node fits."""
    return np.zeros(columns.n, np.uint64)


def bit(at: int) -> np.uint64:
    """The bit of a reason."""
    found: np.uint64 = np.uint64(1 << at)
    return found
