"""What `check` found, in the formats it can be printed in."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any
from typing import NamedTuple
from typing import Optional
from typing import TYPE_CHECKING

from kubectl_spread.errors import SourceError
from kubectl_spread.lint.finding import Finding

if TYPE_CHECKING:  # loads numpy
    from kubectl_spread.cluster.snapshot import Unread
    from kubectl_spread.simulate.placement import Placement
    from kubectl_spread.simulate.rollout import Lost
    from kubectl_spread.simulate.rollout import Stuck
    from kubectl_spread.simulate.rollout import Uncreated
    from kubectl_spread.simulate.rollout import Waiting
    from kubectl_spread.simulate.under_way import UnderWay

# By name, the module of `report` that has a function `render`; the default first.
FORMATS = {
    "text": "text",
    "concise": "concise",
    "json": "json",
    "jsonl": "jsonl",
    "sarif": "sarif",
    "github": "github",
    "gitlab": "gitlab",
    "junit": "junit",
}


class Running(NamedTuple):
    """What was found of workloads that run, or will be replaced: Pending pods, rollouts that get stuck.

    lost: pods on nodes that were deleted. uncreated: pods that may not be created. under_way: how rollouts end that
    have begun.
    """

    waiting: tuple[Waiting, ...] = ()
    stuck: tuple[Stuck, ...] = ()
    lost: tuple[Lost, ...] = ()
    uncreated: tuple[Uncreated, ...] = ()
    under_way: tuple[UnderWay, ...] = ()


class CheckReport(NamedTuple):
    """The outcome of one run; `checked` counts what was looked at, `files` names it."""

    findings: list[Finding]
    placements: list[Placement]
    errors: list[SourceError]
    checked: dict[str, int]
    files: tuple[str, ...]
    running: Optional[Running] = None
    unread: tuple[Unread, ...] = ()
    not_applied: tuple[str, ...] = ()


def render(report: CheckReport, name: str, *, colour: bool) -> str:
    """The report in a format; empty where the format has nothing to say."""
    module = importlib.import_module(f"kubectl_spread.report.{FORMATS[name]}")
    if name == "text":
        text: Callable[..., str] = module.render
        return text(report, colour=colour)
    other: Callable[[Any], str] = module.render
    return other(report)
