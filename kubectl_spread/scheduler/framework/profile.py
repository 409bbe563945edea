"""A profile: its plugins for each extension point, with order, weights and arguments."""

from __future__ import annotations

from typing import NamedTuple, Optional, TypeVar

from kubectl_spread.objects.releases.behaviours import TOPOLOGY_LABELS
from kubectl_spread.objects.releases.version import LATEST, Release
from kubectl_spread.scheduler.framework.plugin import FilterPlugin, ScorePlugin

_Kind = TypeVar("_Kind")


class WeightedPlugin(NamedTuple):
    plugin: ScorePlugin
    weight: int


class Extender(NamedTuple):
    """A webhook that the scheduler calls, for every pod or for pods that request one of its `resources`."""

    url: str
    resources: frozenset[str] = frozenset()


class Profile(NamedTuple):
    """One scheduling profile, ready to run.

    pre_filter: plugins in the order of the PreFilter point. filter_order: names in the order of the Filter point.
    pre_score: plugins that prepare to score but do not; preparing can fail. post_filter: names in order.
    percentage_of_nodes_to_score: 0 adapts to the number of nodes. foreign: plugins that are not part of kube-scheduler.
    release: the release to follow.
    """

    scheduler_name: str
    pre_filter: tuple[FilterPlugin, ...]
    filter_order: tuple[str, ...]
    score: tuple[WeightedPlugin, ...]
    post_filter: tuple[str, ...]
    gates: bool = True
    percentage_of_nodes_to_score: int = 0
    pre_score: tuple[ScorePlugin, ...] = ()
    foreign: tuple[str, ...] = ()
    extenders: tuple[Extender, ...] = ()
    release: Release = LATEST

    @property
    def minor(self) -> int:
        """Return the minor version of the release."""
        return self.release.minor

    def plugin(self, kind: type[_Kind]) -> Optional[_Kind]:
        """Return the plugin of a class at the PreFilter point; None if the profile has none."""
        return next((item for item in self.pre_filter if isinstance(item, kind)), None)

    @property
    def labels_topology(self) -> bool:
        """Return whether pods get the zone and region labels of their node."""
        return TOPOLOGY_LABELS.of(self.release)
