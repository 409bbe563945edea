"""KubeSchedulerConfiguration: the plug-ins of a profile, in run order, with weights and arguments.

Source: pkg/scheduler/apis/config/v1/default_plugins.go, defaults.go,
pkg/scheduler/framework/runtime/framework.go (NewFramework, expandMultiPointPlugins) (v1.36.2).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kubectl_spread.text import compose
from kubectl_spread.text.node import to_plain
from kubectl_spread.text.source import SourceFile
from tests.naive.dynamicresources import DynamicResources, ScoringDynamicResources
from tests.naive.framework import Framework, Handle
from tests.naive.imagelocality import ImageLocality
from tests.naive.interpodaffinity import InterPodAffinity
from tests.naive.nodeaffinity import NodeAffinity
from tests.naive.nodechecks import NodeDeclaredFeatures, NodeName, NodePorts, NodeUnschedulable, SchedulingGates
from tests.naive.noderesources import BalancedAllocation, Fit
from tests.naive.nodevolumelimits import NodeVolumeLimits
from tests.naive.podtopologyspread import PodTopologySpread
from tests.naive.preemption import DefaultPreemption
from tests.naive.tainttoleration import TaintToleration
from tests.naive.volumebinding import VolumeBinding
from tests.naive.volumerestrictions import VolumeRestrictions
from tests.naive.volumezone import VolumeZone

Plain = dict[str, Any]

DEFAULT_SCHEDULER_NAME = "default-scheduler"

# Extension points by the method that implements them.
EXTENSION_POINTS = {
    "preEnqueue": "pre_enqueue",
    "preFilter": "pre_filter",
    "filter": "filter",
    "postFilter": "post_filter",
    "preScore": "pre_score",
    "score": "score",
    "reserve": "reserve",
}

_PLUGINS = (
    SchedulingGates,
    NodeUnschedulable,
    NodeName,
    TaintToleration,
    NodeAffinity,
    NodePorts,
    Fit,
    VolumeRestrictions,
    NodeVolumeLimits,
    VolumeBinding,
    VolumeZone,
    PodTopologySpread,
    InterPodAffinity,
    DefaultPreemption,
    BalancedAllocation,
    ImageLocality,
    NodeDeclaredFeatures,
)

# These decide nothing here: they sort the queue and bind.
_NOT_SIMULATED = frozenset(["PrioritySort", "DefaultBinder"])


class Plugin(NamedTuple):
    """An entry of a plug-in list; weight 0 is none given."""

    name: str
    weight: int = 0


def get_default_plugins(version: tuple[int, int]) -> list[Plugin]:
    """The default MultiPoint list."""
    plugins = [
        Plugin("SchedulingGates"),
        Plugin("PrioritySort"),
        Plugin("NodeUnschedulable"),
        Plugin("NodeName"),
        Plugin("TaintToleration", 3),
        Plugin("NodeAffinity", 2),
        Plugin("NodePorts"),
        Plugin("NodeResourcesFit", 1),
        Plugin("VolumeRestrictions"),
        Plugin("NodeVolumeLimits"),
        Plugin("VolumeBinding"),
        Plugin("VolumeZone"),
        Plugin("PodTopologySpread", 2),
        Plugin("InterPodAffinity", 2),
        Plugin("DynamicResources", 2),
        Plugin("DefaultPreemption"),
        Plugin("NodeResourcesBalancedAllocation", 1),
        Plugin("ImageLocality", 1),
        Plugin("DefaultBinder"),
    ]
    if version >= (1, 36):
        plugins.append(Plugin("NodeDeclaredFeatures"))
    return plugins


def read(text: str) -> Plain:
    """Parse a configuration."""
    (document,) = compose.compose(SourceFile("schedulerConfig", text))
    if isinstance(document, compose.SyntaxProblem):
        raise ValueError(document.message)  # noqa: TRY004
    plain: Plain = to_plain(document.root)
    return plain


def new_profiles(configuration: Plain, handle: Handle) -> dict[str, Framework]:
    """A framework for every profile, by scheduler name."""
    written = configuration.get("profiles") or [{}]
    return {
        profile.get("schedulerName") or DEFAULT_SCHEDULER_NAME: new_framework(profile, handle) for profile in written
    }


def new_framework(profile: Plain, handle: Handle) -> Framework:
    plugin_sets = profile.get("plugins") or {}
    args = {item["name"]: item.get("args") or {} for item in profile.get("pluginConfig") or []}
    multi_point = merge_plugin_set(get_default_plugins(handle.version), plugin_sets.get("multiPoint") or {})
    registry = _registry(handle, args)
    plugins: dict[str, list[Any]] = {}
    for point, method in EXTENSION_POINTS.items():
        names = expand_multi_point_plugins(
            [plugin.name for plugin in multi_point if hasattr(registry.get(plugin.name), method)],
            plugin_sets.get(point) or {},
        )
        plugins[point] = [registry[name] for name in names]
    score = _enabled(plugin_sets.get("score") or {})
    # `score` is looked at first; a weight of 0 or none is 1.
    weights = {plugin.name: plugin.weight or 1 for plugin in [*multi_point, *score]}
    framework = Framework(handle, plugins, weights)
    registry[DefaultPreemption.name].framework = framework
    return framework


def _registry(handle: Handle, args: dict[str, Plain]) -> dict[str, Any]:
    registry: dict[str, Any] = {cls.name: cls(args.get(cls.name, {}), handle) for cls in _PLUGINS}
    scoring = handle.version >= (1, 35)
    registry["DynamicResources"] = (ScoringDynamicResources if scoring else DynamicResources)({}, handle)
    return registry


def _enabled(plugin_set: Plain) -> list[Plugin]:
    return [Plugin(item["name"], item.get("weight") or 0) for item in plugin_set.get("enabled") or []]


def _disabled(plugin_set: Plain) -> set[str]:
    return {item["name"] for item in plugin_set.get("disabled") or []}


def merge_plugin_set(defaults: list[Plugin], plugin_set: Plain) -> list[Plugin]:
    """Defaults without the disabled ones, those listed again replaced in place, and then the rest of the list."""
    disabled = _disabled(plugin_set)
    custom = {plugin.name: plugin for plugin in _enabled(plugin_set)}
    merged = []
    replaced = set()
    if "*" not in disabled:
        for plugin in defaults:
            if plugin.name in disabled:
                continue
            if plugin.name in custom:
                replaced.add(plugin.name)
            merged.append(custom.get(plugin.name, plugin))
    merged += [plugin for plugin in _enabled(plugin_set) if plugin.name not in replaced]
    return merged


def expand_multi_point_plugins(multi_point: list[str], plugin_set: Plain) -> list[str]:
    """Names in run order: MultiPoint plug-ins that the point lists too, the other MultiPoint ones, the other listed.

    Args:
        multi_point: those MultiPoint plug-ins that implement the extension point.
        plugin_set: what the profile says of the extension point.
    """
    enabled = [plugin.name for plugin in _enabled(plugin_set)]
    disabled = _disabled(plugin_set)
    if "*" in disabled:
        return [name for name in enabled if name not in _NOT_SIMULATED]
    # One that the point both disables and enables was not taken from MultiPoint, so it comes last.
    overrides = [name for name in enabled if name in multi_point and name not in disabled]
    expanded = [name for name in multi_point if name not in disabled and name not in enabled]
    rest = [name for name in enabled if name not in overrides]
    return [name for name in overrides + expanded + rest if name not in _NOT_SIMULATED]
