"""The result of a check, and the formats it can be printed in."""

from __future__ import annotations

import importlib
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.errors import SourceError
from kubectl_spread.lint.finding import Finding
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.text.source import Place

if TYPE_CHECKING:  # loads numpy
    from kubectl_spread.cluster.snapshot import Cluster, Unread
    from kubectl_spread.explain.pending import WaitingGroup
    from kubectl_spread.explain.placement import Placement
    from kubectl_spread.explain.status import LostPods, UncreatedPods
    from kubectl_spread.objects.selectors import Labels
    from kubectl_spread.report.check.rollouts import RolloutResult
    from kubectl_spread.report.pages.page import PageSource
    from kubectl_spread.scheduler.framework.plugin import Profile


# The module in this package and its renderer, by the name of the format; the default first.
FORMATS = {
    "text": ("text", "render"),
    "concise": ("text", "render_concise"),
    "json": ("formats", "json_document"),
    "yaml": ("formats", "yaml_document"),
    "jsonl": ("formats", "json_lines"),
    "sarif": ("formats", "sarif"),
    "github": ("formats", "github"),
    "gitlab": ("formats", "gitlab"),
    "junit": ("formats", "junit"),
    "html": (".pages.check", "render"),
}


class RunningResults(NamedTuple):
    """The results for running workloads: Pending pods, pods on deleted nodes, and pods that may not be created."""

    waiting: tuple[WaitingGroup, ...]
    lost: tuple[LostPods, ...]
    uncreated: tuple[UncreatedPods, ...]


class PageFacts(NamedTuple):
    """Origin and cluster of a page, which the report does not have.

    wants: selects the running workloads to draw; None if the report is about manifests.
    """

    source: PageSource
    cluster: Optional[Cluster] = None
    profiles: Mapping[str, Profile] = {}
    wants: Optional[Callable[[ObjectKey, Labels], bool]] = None
    notes: tuple[str, ...] = ()


class CheckReport(NamedTuple):
    """The outcome of one run; `checked` counts the checked objects, `files` names the files.

    `unchecked` are findings about what was not checked, for formats that programs read. `explain` is the command that
    says what helps the first Pending pod. `origins` are the places of the placements' manifests, in their order.
    """

    findings: list[Finding]
    placements: list[Placement]
    errors: list[SourceError]
    checked: dict[str, int]
    files: tuple[str, ...]
    running: Optional[RunningResults] = None
    rollouts: tuple[RolloutResult, ...] = ()
    unread: tuple[Unread, ...] = ()
    not_applied: tuple[str, ...] = ()
    unchecked: Sequence[Finding] = ()
    explain: str = ""
    origins: Sequence[Optional[Place]] = ()
    width: Optional[int] = None  # where the lines of the format `text` wrap; None breaks no line
    page: Optional[PageFacts] = None  # for html

    @property
    def are_explained(self) -> list[bool]:
        """Return, for each placement, whether `explain -f` says what helps a pod that finds no node."""
        every = zip(self.placements, self.rollouts_of_placements, strict=True)
        return [bool(item.stuck) or (result is not None and result.is_stuck_change(item)) for item, result in every]

    @property
    def rollouts_of_placements(self) -> list[Optional[RolloutResult]]:
        """Return the rollout of each placed workload, in the order of the placements; None for one without."""
        results = {(item.key, item.copy): item for item in self.rollouts if not item.is_creation}
        return [results.get(copy) for copy in self.copies]

    @property
    def copies(self) -> list[tuple[ObjectKey, int]]:
        """Return, for each placement, its workload and how many earlier placements have the same key."""
        owners = (placement.workload for placement in self.placements)
        keys = [ObjectKey(owner.kind, owner.namespace, owner.name) for owner in owners]
        seen: defaultdict[ObjectKey, Iterator[int]] = defaultdict(itertools.count)
        return [(key, next(seen[key])) for key in keys]


def render(report: CheckReport, name: str, *, width: Optional[int] = None) -> str:
    """Return the report in a format; empty if the format has no output for it."""
    module, function = FORMATS[name]
    renderer: Callable[[CheckReport], str] = getattr(importlib.import_module(f".{module}", __package__), function)
    return renderer(report._replace(width=width))
