"""Numbers that may be written as a share, such as maxSurge and minAvailable.

Source: staging/src/k8s.io/apimachinery/pkg/util/intstr/intstr.go, GetScaledValueFromIntOrPercent (v1.36.2).
Difference: what is neither is None, not an error.
"""

from __future__ import annotations

from typing import Any
from typing import Optional


def percentage(value: Any) -> Optional[int]:
    """The number of a text such as `25%`."""
    if isinstance(value, str) and value.endswith("%") and value[:-1].isdecimal():
        return int(value[:-1])
    return None


def scaled(value: Any, total: int, *, round_up: bool) -> Optional[int]:
    """A number as it is, never below 0, or a percentage of a total."""
    if isinstance(value, int) and not isinstance(value, bool):
        return max(0, value)
    percent = percentage(value)
    if percent is None:
        return None
    return -(-total * percent // 100) if round_up else total * percent // 100
