"""Statuses and reasons.

Source: staging/src/k8s.io/kube-scheduler/framework/interface.go, Code (v1.36.2).
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Code(Enum):
    """A status code; the value is upstream's name for it."""

    SUCCESS = "Success"
    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"
    UNSCHEDULABLE_AND_UNRESOLVABLE = "UnschedulableAndUnresolvable"
    SKIP = "Skip"


class Reason(NamedTuple):
    """A reason why a node is rejected; bit i of a plugin's filter result means its i-th reason.

    If upstream uses one text with two codes (does not fit now, can never fit), there are two reasons.
    """

    text: str
    code: Code


class Status(NamedTuple):
    """The result of one plugin for one node."""

    code: Code
    plugin: str
    reasons: tuple[str, ...]


def status_of(plugin: str, reasons: tuple[Reason, ...], bits: int) -> Status:
    """Return the status of a node's bits; one unresolvable reason makes it unresolvable."""
    named = [reason for at, reason in enumerate(reasons) if bits >> at & 1]
    unresolvable = any(reason.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE for reason in named)
    code = Code.UNSCHEDULABLE_AND_UNRESOLVABLE if unresolvable else Code.UNSCHEDULABLE
    return Status(code, plugin, tuple(reason.text for reason in named))
