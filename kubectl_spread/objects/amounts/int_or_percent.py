"""Numbers that may be written as a share, such as maxSurge and minAvailable.

Source: staging/src/k8s.io/apimachinery/pkg/util/intstr/intstr.go, GetScaledValueFromIntOrPercent (v1.36.2).
Difference: an invalid value is None, not an error.
"""

from __future__ import annotations

import re
from typing import Any, Optional, Union

_PERCENT = r"([0-9]{1,9})%\Z"  # compiled on first use


def percentage(value: Any) -> Optional[int]:
    """Return the number of a text like `25%`; None for anything else."""
    match = re.match(_PERCENT, value) if isinstance(value, str) else None
    return None if match is None else int(match[1])


def int_or_text(value: Any, default: Union[int, str]) -> Union[int, str]:
    """Return a number or a text as it is; the default for anything else, which no API server stores."""
    return value if isinstance(value, str) or type(value) is int else default


def scaled_value(value: Any, total: int, *, round_up: bool) -> Optional[int]:
    """Return a number, at least 0, or a percentage of a total."""
    if isinstance(value, int) and not isinstance(value, bool):
        return max(0, value)
    percent = percentage(value)
    if percent is None:
        return None
    return -(-total * percent // 100) if round_up else total * percent // 100
