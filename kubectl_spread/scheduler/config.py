"""KubeSchedulerConfiguration: from the document to profiles that run.

Source: pkg/scheduler/apis/config/v1/default_plugins.go, mergePlugins; framework/runtime/framework.go,
expandMultiPointPlugins (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from typing import NamedTuple
from typing import Optional

from kubectl_spread.objects import read
from kubectl_spread.objects import spread
from kubectl_spread.objects.version import LAST_MINOR
from kubectl_spread.objects.version import minor_of
from kubectl_spread.scheduler.framework.plugin import ScorePlugin
from kubectl_spread.scheduler.framework.profile import Extender
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.framework.profile import WeightedPlugin
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.dynamicresources import DynamicResources
from kubectl_spread.scheduler.plugins.imagelocality import ImageLocality
from kubectl_spread.scheduler.plugins.interpodaffinity import AffinityArgs
from kubectl_spread.scheduler.plugins.interpodaffinity import InterPodAffinity
from kubectl_spread.scheduler.plugins.nodeaffinity import NODE_AFFINITY_REASON
from kubectl_spread.scheduler.plugins.nodeaffinity import NodeAffinity
from kubectl_spread.scheduler.plugins.nodeaffinity import NodeAffinityArgs
from kubectl_spread.scheduler.plugins.nodedeclaredfeatures import NodeDeclaredFeatures
from kubectl_spread.scheduler.plugins.nodename import NodeName
from kubectl_spread.scheduler.plugins.nodeports import NodePorts
from kubectl_spread.scheduler.plugins.noderesources.balanced_allocation import BalancedArgs
from kubectl_spread.scheduler.plugins.noderesources.balanced_allocation import NodeResourcesBalancedAllocation
from kubectl_spread.scheduler.plugins.noderesources.fit import FitArgs
from kubectl_spread.scheduler.plugins.noderesources.fit import NodeResourcesFit
from kubectl_spread.scheduler.plugins.noderesources.fit import ResourceWeight
from kubectl_spread.scheduler.plugins.noderesources.fit import ScoringStrategy
from kubectl_spread.scheduler.plugins.noderesources.fit import ShapePoint
from kubectl_spread.scheduler.plugins.nodeunschedulable import NodeUnschedulable
from kubectl_spread.scheduler.plugins.podtopologyspread.common import SpreadFields
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import SpreadArgs
from kubectl_spread.scheduler.plugins.tainttoleration import TaintToleration
from kubectl_spread.scheduler.plugins.tainttoleration import UNTOLERATED
from kubectl_spread.scheduler.plugins.volumes.binding import VolumeBinding
from kubectl_spread.scheduler.plugins.volumes.limits import NodeVolumeLimits
from kubectl_spread.scheduler.plugins.volumes.restrictions import VolumeRestrictions
from kubectl_spread.scheduler.plugins.volumes.zone import VolumeZone

Plain = dict[str, Any]

DEFAULT_SCHEDULER = "default-scheduler"
POINTS = ("preEnqueue", "preFilter", "filter", "postFilter", "preScore", "score")


_TAINT = "node(s) had untolerated taint {{{key}: {value}}}"
_OLD_TAINT = "node(s) had taint {{{key}: {value}}}, that the pod didn't tolerate"


class Version(NamedTuple):
    """What differs between releases of the scheduler, as data. What is older than 1.34 comes from release notes."""

    minor: int
    taint_reason: str  # may tell the taint's {key} and {value}
    affinity_reason: str
    fields: SpreadFields  # fields of a constraint that are not ignored
    has_system_defaults: bool
    weights_differ: bool  # TaintToleration 3, NodeAffinity and InterPodAffinity 2; all 1 before
    preemption_is_told: bool  # in the message of a pod that fits nowhere
    claims: bool  # DynamicResources runs, and speaks in that message
    claims_score: bool
    balance_compares: bool  # BalancedAllocation scores the change that the pod makes
    declares_features: bool
    claims_for_resources: bool  # a device class may stand behind an extended resource
    labels_topology: bool  # pods get the zone and region labels of their node


def version_of(text: str) -> Version:
    """The behaviour of a release: `1.36`, `v1.34.1`.

    Raises:
        VersionError: with a sentence.
    """
    minor = minor_of(text)
    taint = UNTOLERATED if minor >= 35 else _TAINT
    return Version(
        minor=minor,
        taint_reason=taint if minor >= 24 else _OLD_TAINT,
        affinity_reason=NODE_AFFINITY_REASON if minor >= 22 else "node(s) didn't match node selector",
        fields=SpreadFields(min_domains=minor >= 27, inclusion_policies=minor >= 26, match_label_keys=minor >= 27),
        has_system_defaults=minor >= 20,
        weights_differ=minor >= 23,
        preemption_is_told=minor >= 24,
        claims=minor >= 34,
        claims_score=minor >= 35,
        balance_compares=minor >= 35,
        declares_features=minor >= 36,
        claims_for_resources=minor >= 36,
        labels_topology=minor >= 35,
    )


LATEST = version_of(f"1.{LAST_MINOR}")


class _Known(NamedTuple):
    """A plugin: the points it implements, its default weight, and how to make it."""

    points: frozenset[str]
    weight: int
    make: Callable[[Plain, Version], Any]


def _known(points: str, make: Callable[[Plain, Version], Any], weight: int = 0) -> _Known:
    return _Known(frozenset(points.split()), weight, make)


def _nothing(args: Plain, version: Version) -> None:  # noqa: ARG001 (the shape of a maker)
    return None


def _fit(args: Plain, version: Version) -> NodeResourcesFit:  # noqa: ARG001
    strategy = args.get("scoringStrategy") or {}
    resources = tuple(
        ResourceWeight(item["name"], int(item.get("weight") or 1)) for item in strategy.get("resources") or ()
    )
    shape = (strategy.get("requestedToCapacityRatio") or {}).get("shape") or ()
    default = ScoringStrategy()
    return NodeResourcesFit(
        FitArgs(
            ScoringStrategy(
                strategy.get("type") or default.type,
                resources or default.resources,
                tuple(ShapePoint(int(point.get("utilization") or 0), int(point.get("score") or 0)) for point in shape),
            ),
            frozenset(args.get("ignoredResources") or ()),
            frozenset(args.get("ignoredResourceGroups") or ()),
        )
    )


def _balanced(args: Plain, version: Version) -> NodeResourcesBalancedAllocation:
    resources = tuple(item["name"] for item in args.get("resources") or ())
    balanced = BalancedArgs(resources) if resources else BalancedArgs()
    return NodeResourcesBalancedAllocation(balanced, compares=version.balance_compares)


def _affinity(args: Plain, version: Version) -> NodeAffinity:
    added = read.node_affinity(args.get("addedAffinity") or {})
    return NodeAffinity(NodeAffinityArgs(added), reason=version.affinity_reason)


def _pod_affinity(args: Plain, version: Version) -> InterPodAffinity:  # noqa: ARG001
    weight = args.get("hardPodAffinityWeight")
    ignores = bool(args.get("ignorePreferredTermsOfExistingPods"))
    return InterPodAffinity(AffinityArgs(1 if weight is None else int(weight), ignores))


def _spread(args: Plain, version: Version) -> PodTopologySpread:
    if (args.get("defaultingType") or "System") == "System":
        return PodTopologySpread(SpreadArgs(None if version.has_system_defaults else ()), version.fields)
    defaults = spread.constraints({"topologySpreadConstraints": args.get("defaultConstraints") or ()})
    return PodTopologySpread(SpreadArgs(defaults), version.fields)


def _taints(args: Plain, version: Version) -> TaintToleration:  # noqa: ARG001
    return TaintToleration(version.taint_reason)


# In the order of the default MultiPoint list.
_PLUGINS: dict[str, _Known] = {
    names.SCHEDULING_GATES: _known("preEnqueue", _nothing),
    names.PRIORITY_SORT: _known("", _nothing),
    names.NODE_UNSCHEDULABLE: _known("filter", lambda *_: NodeUnschedulable()),
    names.NODE_NAME: _known("filter", lambda *_: NodeName()),
    names.TAINT_TOLERATION: _known("filter preScore score", _taints, 3),
    names.NODE_AFFINITY: _known("preFilter filter preScore score", _affinity, 2),
    names.NODE_PORTS: _known("preFilter filter", lambda *_: NodePorts()),
    names.NODE_RESOURCES_FIT: _known("preFilter filter preScore score", _fit, 1),
    names.VOLUME_RESTRICTIONS: _known("preFilter filter", lambda *_: VolumeRestrictions()),
    names.NODE_VOLUME_LIMITS: _known("preFilter filter", lambda *_: NodeVolumeLimits()),
    names.VOLUME_BINDING: _known("preFilter filter preScore score", lambda *_: VolumeBinding()),
    names.VOLUME_ZONE: _known("preFilter filter", lambda *_: VolumeZone()),
    names.POD_TOPOLOGY_SPREAD: _known("preFilter filter preScore score", _spread, 2),
    names.INTER_POD_AFFINITY: _known("preFilter filter preScore score", _pod_affinity, 2),
    names.DYNAMIC_RESOURCES: _known("preEnqueue preFilter filter postFilter score", lambda *_: DynamicResources(), 2),
    names.DEFAULT_PREEMPTION: _known("preEnqueue postFilter", _nothing),
    names.NODE_RESOURCES_BALANCED_ALLOCATION: _known("preScore score", _balanced, 1),
    names.IMAGE_LOCALITY: _known("score", lambda *_: ImageLocality(), 1),
    names.DEFAULT_BINDER: _known("", _nothing),
    names.NODE_DECLARED_FEATURES: _known("preFilter filter", lambda *_: NodeDeclaredFeatures()),
}


# Points after which the pod's node is settled.
_TOO_LATE = frozenset({"postBind"})
_VERBS = ("filterVerb", "prioritizeVerb", "bindVerb", "preemptVerb")


class _Entry(NamedTuple):
    name: str
    weight: int = 0


def profiles(document: Optional[Plain] = None, version: Version = LATEST) -> dict[str, Profile]:
    """The profiles of a configuration by scheduler name; the default profile where it has none."""
    document = document or {}
    written = document.get("profiles") or [{}]
    global_percentage = int(document.get("percentageOfNodesToScore") or 0)
    extenders = _extenders(document)
    found = [_profile(profile or {}, version, global_percentage)._replace(extenders=extenders) for profile in written]
    return {profile.scheduler_name: profile for profile in found}


def _extenders(document: Plain) -> tuple[Extender, ...]:
    """The extenders that are asked something."""
    return tuple(
        Extender(
            extender.get("urlPrefix") or "",
            frozenset(item.get("name") or "" for item in extender.get("managedResources") or ()),
        )
        for extender in document.get("extenders") or ()
        if any(extender.get(verb) for verb in _VERBS)
    )


def _profile(written: Plain, version: Version, global_percentage: int) -> Profile:
    sets: Plain = written.get("plugins") or {}
    args = {item.get("name"): item.get("args") or {} for item in written.get("pluginConfig") or ()}
    available = _available(version)
    defaults = [_Entry(name, _default_weight(name, version)) for name in available]
    multi_point = _merged(defaults, sets.get("multiPoint"))
    weights = _weights(multi_point, _entries(sets.get("score"), "enabled"))
    made = {
        entry.name: _PLUGINS[entry.name].make(args.get(entry.name, {}), version) for entry in _all(sets, multi_point)
    }
    at = {point: _expanded(point, multi_point, sets.get(point), version) for point in POINTS}
    percentage = written.get("percentageOfNodesToScore")
    filtering = list(dict.fromkeys((*at["preFilter"], *at["filter"])))
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
        preemption_is_told=version.preemption_is_told,
        gates=names.SCHEDULING_GATES in at["preEnqueue"],
        pre_score=_failing(at, made),
        percentage_of_nodes_to_score=global_percentage if percentage is None else int(percentage),
        foreign=_foreign(sets),
        claims_for_resources=version.claims_for_resources,
        minor=version.minor,
        labels_topology=version.labels_topology,
    )


def _foreign(sets: Plain) -> tuple[str, ...]:
    """Enabled plugins that are not known here and have a say before the pod is bound, each once."""
    enabled = [
        entry.name
        for point, written in sets.items()
        if point not in _TOO_LATE
        for entry in _entries(written, "enabled")
    ]
    return tuple(name for name in dict.fromkeys(enabled) if name not in _PLUGINS)


def _failing(at: dict[str, list[str]], made: dict[str, Any]) -> tuple[ScorePlugin, ...]:
    """NodeAffinity where it prepares to score and does not: only its PreScore can fail. Without scores nothing runs."""
    name = names.NODE_AFFINITY
    return (made[name],) if at["score"] and name in at["preScore"] and name not in at["score"] else ()


def _available(version: Version) -> list[str]:
    absent = set() if version.declares_features else {names.NODE_DECLARED_FEATURES}
    if not version.claims:
        absent.add(names.DYNAMIC_RESOURCES)
    return [name for name in _PLUGINS if name not in absent]


def _default_weight(name: str, version: Version) -> int:
    if version.weights_differ or name == names.POD_TOPOLOGY_SPREAD:
        return _PLUGINS[name].weight
    return min(_PLUGINS[name].weight, 1)


def _implements(name: str, point: str, version: Version) -> bool:
    if name == names.DYNAMIC_RESOURCES and point == "score" and not version.claims_score:
        return False
    return point in _PLUGINS[name].points


def _entries(written: Optional[Plain], field: str) -> list[_Entry]:
    return [_Entry(item.get("name") or "", int(item.get("weight") or 0)) for item in (written or {}).get(field) or ()]


def _all(sets: Plain, multi_point: list[_Entry]) -> list[_Entry]:
    """Every plugin that some point may run."""
    enabled = [entry for point in POINTS for entry in _entries(sets.get(point), "enabled")]
    return [entry for entry in (*multi_point, *enabled) if entry.name in _PLUGINS]


def _merged(defaults: list[_Entry], written: Optional[Plain]) -> list[_Entry]:
    """Defaults and what the user enables: a default that is listed again is replaced in its place.

    Source: default_plugins.go, mergePluginSet.
    """
    disabled = {entry.name for entry in _entries(written, "disabled")}
    enabled = _entries(written, "enabled")
    again = {entry.name: entry for entry in enabled}
    result: list[_Entry] = []
    replaced: set[str] = set()
    for entry in defaults if "*" not in disabled else ():
        if entry.name in disabled:
            continue
        result.append(again.get(entry.name, entry))
        if entry.name in again:
            replaced.add(entry.name)
    return result + [entry for entry in enabled if entry.name not in replaced]


def _expanded(point: str, multi_point: list[_Entry], written: Optional[Plain], version: Version) -> list[str]:
    """The plugins of one extension point in the order they run.

    First those of its own list that override MultiPoint, then the rest of MultiPoint, then the rest of its list.
    """
    disabled = {entry.name for entry in _entries(written, "disabled")}
    own = [entry.name for entry in _entries(written, "enabled") if entry.name in _PLUGINS]
    if "*" in disabled:
        return own
    shared = [
        entry.name
        for entry in multi_point
        if entry.name in _PLUGINS and _implements(entry.name, point, version) and entry.name not in disabled
    ]
    overriding = [name for name in own if name in shared]
    return [*overriding, *(name for name in shared if name not in own), *(name for name in own if name not in shared)]


def _weights(multi_point: list[_Entry], score: list[_Entry]) -> dict[str, int]:
    """A weight of 0, or none, counts as 1; the list of the score point comes first."""
    weights = {entry.name: entry.weight for entry in multi_point}
    weights.update({entry.name: entry.weight for entry in score})
    return weights
