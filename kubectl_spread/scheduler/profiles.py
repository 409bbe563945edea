"""KubeSchedulerConfiguration: from the document to profiles that run.

Source: pkg/scheduler/apis/config/v1/default_plugins.go, mergePlugins; framework/runtime/framework.go,
expandMultiPointPlugins (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Optional

from kubectl_spread.objects.reading.plain import fields, mappings, Plain
from kubectl_spread.objects.releases import behaviours
from kubectl_spread.objects.releases.version import LATEST, Release
from kubectl_spread.scheduler.framework.plugin import Extender, Plugin, Profile, WeightedPlugin
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.dynamicresources import DynamicResources
from kubectl_spread.scheduler.plugins.imagelocality import ImageLocality
from kubectl_spread.scheduler.plugins.interpodaffinity import InterPodAffinity
from kubectl_spread.scheduler.plugins.nodeaffinity import NodeAffinity
from kubectl_spread.scheduler.plugins.nodedeclaredfeatures import NodeDeclaredFeatures
from kubectl_spread.scheduler.plugins.nodename import NodeName
from kubectl_spread.scheduler.plugins.nodeports import NodePorts
from kubectl_spread.scheduler.plugins.nodepreferavoidpods import NodePreferAvoidPods
from kubectl_spread.scheduler.plugins.noderesources.balanced_allocation import (
    NodeResourcesBalancedAllocation,
)
from kubectl_spread.scheduler.plugins.noderesources.fit import (
    NodeResourcesFit,
    NodeResourcesLeastAllocated,
    NodeResourcesMostAllocated,
)
from kubectl_spread.scheduler.plugins.nodeunschedulable import NodeUnschedulable
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubectl_spread.scheduler.plugins.selectorspread import SelectorSpread
from kubectl_spread.scheduler.plugins.tainttoleration import TaintToleration
from kubectl_spread.scheduler.plugins.volumes.binding import VolumeBinding
from kubectl_spread.scheduler.plugins.volumes.limits import NodeVolumeLimits
from kubectl_spread.scheduler.plugins.volumes.restrictions import VolumeRestrictions
from kubectl_spread.scheduler.plugins.volumes.zone import VolumeZone

DEFAULT_SCHEDULER = "default-scheduler"
POINTS = ("preEnqueue", "preFilter", "filter", "postFilter", "preScore", "score")


class _Known(NamedTuple):
    """A plugin: the points it implements, how to make it, and its default weight."""

    points: str
    make: Callable[[Plain, Release], Any] = Plugin
    weight: int = 0


# In the order of the default MultiPoint list.
_PLUGINS: dict[str, _Known] = {
    names.SCHEDULING_GATES: _Known("preEnqueue"),
    names.PRIORITY_SORT: _Known(""),
    names.NODE_UNSCHEDULABLE: _Known("filter", NodeUnschedulable),
    names.NODE_NAME: _Known("filter", NodeName),
    names.TAINT_TOLERATION: _Known("filter preScore score", TaintToleration, 3),
    names.NODE_AFFINITY: _Known("preFilter filter preScore score", NodeAffinity, 2),
    names.NODE_PORTS: _Known("preFilter filter", NodePorts),
    names.NODE_RESOURCES_FIT: _Known("preFilter filter preScore score", NodeResourcesFit, 1),
    names.VOLUME_RESTRICTIONS: _Known("preFilter filter", VolumeRestrictions),
    names.NODE_VOLUME_LIMITS: _Known("preFilter filter", NodeVolumeLimits),
    names.VOLUME_BINDING: _Known("preFilter filter preScore score", VolumeBinding),
    names.VOLUME_ZONE: _Known("preFilter filter", VolumeZone),
    names.POD_TOPOLOGY_SPREAD: _Known("preFilter filter preScore score", PodTopologySpread, 2),
    names.INTER_POD_AFFINITY: _Known("preFilter filter preScore score", InterPodAffinity, 2),
    names.DYNAMIC_RESOURCES: _Known("preEnqueue preFilter filter postFilter score", DynamicResources, 2),
    names.DEFAULT_PREEMPTION: _Known("preEnqueue postFilter"),
    names.NODE_RESOURCES_BALANCED_ALLOCATION: _Known("preScore score", NodeResourcesBalancedAllocation, 1),
    names.NODE_RESOURCES_LEAST_ALLOCATED: _Known("score", NodeResourcesLeastAllocated, 1),
    names.NODE_RESOURCES_MOST_ALLOCATED: _Known("score", NodeResourcesMostAllocated, 1),
    names.NODE_PREFER_AVOID_PODS: _Known("score", NodePreferAvoidPods, 10000),
    names.SELECTOR_SPREAD: _Known("preScore score", SelectorSpread, 1),
    names.IMAGE_LOCALITY: _Known("score", ImageLocality, 1),
    names.DEFAULT_BINDER: _Known(""),
    names.NODE_DECLARED_FEATURES: _Known("preFilter filter", NodeDeclaredFeatures),
}


# The rows with the releases in which a plugin became a default, stopped being one, and began to score.
_DEFAULT_SINCE = {
    names.DYNAMIC_RESOURCES: behaviours.CLAIMS,
    names.NODE_DECLARED_FEATURES: behaviours.DECLARED_FEATURES,
}
_DEFAULT_UNTIL = {
    names.NODE_RESOURCES_LEAST_ALLOCATED: behaviours.FIT_SCORES,
    names.NODE_PREFER_AVOID_PODS: behaviours.PREFER_AVOID_PODS,
    names.SELECTOR_SPREAD: behaviours.SYSTEM_DEFAULTS,
}
_SCORES_SINCE = {
    names.DYNAMIC_RESOURCES: behaviours.CLAIMS_SCORE,
    names.NODE_RESOURCES_FIT: behaviours.FIT_SCORES,
    names.VOLUME_BINDING: behaviours.VOLUME_BINDING_SCORES,
}
_ON_REQUEST = frozenset({names.NODE_RESOURCES_MOST_ALLOCATED})
# The order of Filter up to 1.19; other plugins come last.
_FIRST_FILTERS = (
    names.NODE_UNSCHEDULABLE,
    names.NODE_RESOURCES_FIT,
    names.NODE_NAME,
    names.NODE_PORTS,
    names.NODE_AFFINITY,
    names.VOLUME_RESTRICTIONS,
    names.TAINT_TOLERATION,
)


# Points after the choice of the pod's node.
_TOO_LATE = frozenset({"postBind"})
_VERBS = ("filterVerb", "prioritizeVerb", "bindVerb", "preemptVerb")


def profiles(document: Optional[Plain] = None, release: Release = LATEST) -> dict[str, Profile]:
    """Return the profiles of a configuration by scheduler name; the default profile if it has none."""
    document = document or {}
    written = document.get("profiles") or [{}]
    global_percentage = int(document.get("percentageOfNodesToScore") or 0)
    # The extenders that filter, prioritize or bind
    extenders = tuple(
        Extender(
            extender.get("urlPrefix") or "",
            frozenset(item.get("name") or "" for item in extender.get("managedResources") or ()),
        )
        for extender in document.get("extenders") or ()
        if any(extender.get(verb) for verb in _VERBS)
    )
    found = [_profile(profile or {}, release, global_percentage)._replace(extenders=extenders) for profile in written]
    return {profile.scheduler_name: profile for profile in found}


def _profile(written: Plain, release: Release, global_percentage: int) -> Profile:
    sets: Plain = fields(written, "plugins")
    args = {item.get("name"): fields(item, "args") for item in mappings(written.get("pluginConfig"))}
    defaults = {name: _default_weight(name, release) for name in _available(release)}
    multi_point = _merged(defaults, sets.get("multiPoint"))
    weights = {**multi_point, **_entries(sets.get("score"), "enabled")}  # 0 or none counts as 1
    every = (*multi_point, *(name for point in POINTS for name in _entries(sets.get(point), "enabled")))
    made = {name: _PLUGINS[name].make(args.get(name, {}), release) for name in every if name in _PLUGINS}
    at = {point: _expanded(point, multi_point, sets.get(point), release) for point in POINTS}
    percentage = written.get("percentageOfNodesToScore")
    filtering, affinity = list(dict.fromkeys((*at["preFilter"], *at["filter"]))), names.NODE_AFFINITY
    return Profile(
        scheduler_name=written.get("schedulerName") or DEFAULT_SCHEDULER,
        pre_filter=tuple(made[name] for name in filtering if hasattr(made[name], "pre_filter")),
        filter_order=tuple(at["filter"]),
        score=tuple(
            WeightedPlugin(made[name], weights.get(name) or 1)
            for name in at["score"]
            if hasattr(made[name], "pre_score")
        ),
        post_filter=tuple(at["postFilter"]),
        gates=names.SCHEDULING_GATES in at["preEnqueue"],
        # PreScore of NodeAffinity can fail, even if its Score does not run.
        pre_score=(made[affinity],)
        if at["score"] and affinity in at["preScore"] and affinity not in at["score"]
        else (),
        percentage_of_nodes_to_score=global_percentage if percentage is None else int(percentage),
        foreign=_foreign(sets),
        release=release,
    )


def _foreign(sets: Plain) -> tuple[str, ...]:
    """Return the enabled plugins that are unknown here and run before a pod is bound, each once."""
    enabled = (
        name for point, written in sets.items() if point not in _TOO_LATE for name in _entries(written, "enabled")
    )
    return tuple(name for name in dict.fromkeys(enabled) if name not in _PLUGINS)


def _available(release: Release) -> list[str]:
    """Return the default plugins of a release, in the order of its MultiPoint list."""
    found = [
        name
        for name in _PLUGINS
        if name not in _ON_REQUEST
        and (name not in _DEFAULT_SINCE or _DEFAULT_SINCE[name].of(release))
        and not (name in _DEFAULT_UNTIL and _DEFAULT_UNTIL[name].of(release))
    ]
    if behaviours.TAINTS_BEFORE_RESOURCES.of(release):
        return found
    return [*_FIRST_FILTERS, *(name for name in found if name not in _FIRST_FILTERS)]


def _default_weight(name: str, release: Release) -> int:
    if name == names.POD_TOPOLOGY_SPREAD:
        return 2 if behaviours.SPREAD_WEIGHS_DOUBLE.of(release) else 1
    weight = _PLUGINS[name].weight
    return weight if behaviours.WEIGHTS_DIFFER.of(release) or weight not in (2, 3) else 1


def _entries(written: Optional[Plain], field: str) -> dict[str, int]:
    """Return the plugins of a list, with their weights."""
    return {item.get("name") or "": int(item.get("weight") or 0) for item in (written or {}).get(field) or ()}


def _merged(defaults: dict[str, int], written: Optional[Plain]) -> dict[str, int]:
    """Merge defaults with the enabled plugins: a default that is listed again is replaced in its place.

    Source: default_plugins.go, mergePluginSet.
    """
    disabled = _entries(written, "disabled")
    kept = {} if "*" in disabled else {name: weight for name, weight in defaults.items() if name not in disabled}
    return {**kept, **_entries(written, "enabled")}


def _expanded(point: str, multi_point: dict[str, int], written: Optional[Plain], release: Release) -> list[str]:
    """Return the plugins of one extension point in the order they run.

    First those of its own list that override MultiPoint, then the rest of MultiPoint, then the rest of its list.
    """
    disabled = _entries(written, "disabled")
    own = [name for name in _entries(written, "enabled") if name in _PLUGINS]
    if "*" in disabled:
        return own
    shared = [
        name
        for name in multi_point
        if name in _PLUGINS
        and name not in disabled
        and point in _PLUGINS[name].points.split()
        and not (point == "score" and name in _SCORES_SINCE and not _SCORES_SINCE[name].of(release))
    ]
    overriding = [name for name in own if name in shared]
    return [*overriding, *(name for name in shared if name not in own), *(name for name in own if name not in shared)]
