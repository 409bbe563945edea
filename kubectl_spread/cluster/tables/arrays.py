"""Array types, and two operations on them."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]
Number = TypeVar("Number", bound=np.integer)


def unique(numbers: NDArray[Number]) -> NDArray[Number]:
    """Return the numbers sorted, each once (numpy.unique would load numpy.ma, which takes 15 ms)."""
    ordered = np.sort(numbers)
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_new]


class GrowingArray:
    """An int32 array that grows at its end; `last` is its last number."""

    def __init__(self) -> None:
        self._buffer = np.zeros(64, np.int32)
        self._size = 0
        self.last = -1

    @classmethod
    def of(cls, values: Int32s) -> GrowingArray:
        """Return an array that starts with some values."""
        made = cls()
        made._buffer = np.concatenate([values.astype(np.int32), np.zeros(64, np.int32)])
        made._size = len(values)
        made.last = int(values[-1]) if len(values) else -1
        return made

    def append(self, value: int) -> None:
        """Add a number at the end."""
        if self._size == len(self._buffer):
            self._buffer = np.concatenate([self._buffer, np.zeros_like(self._buffer)])
        self._buffer[self._size] = self.last = value
        self._size += 1

    def array(self) -> Int32s:
        """Return the numbers: a view that is valid until the next one is added."""
        return self._buffer[: self._size]
