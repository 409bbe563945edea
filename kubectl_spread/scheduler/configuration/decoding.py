"""The errors of kube-scheduler's strict decoder for a KubeSchedulerConfiguration.

Source: staging/src/k8s.io/kube-scheduler/config/v1/types.go, DecodeNestedObjects, types_pluginargs.go;
staging/src/k8s.io/apimachinery/pkg/runtime/error.go, strictDecodingError (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from kubectl_spread.objects.constraints import spread_args
from kubectl_spread.objects.reading import decode
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.text.node import Route

Plain = dict[str, Any]

POINTS = (
    "preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit", "preBind",
    "bind", "postBind",
)  # fmt: skip
_OTHER_POINTS = ("multiPoint", "placementGenerate", "placementScore", "placementFeasible", "podGroupPostFilter")
_STRICT = "strict decoding error: "

_STRING, _BOOL, _INT32, _INT64 = decode.Atom.STRING, decode.Atom.BOOL, decode.Atom.INT32, decode.Atom.INT64
_STRINGS = decode.ListOf(_STRING)
_TYPE = {"apiVersion": _STRING, "kind": _STRING}


def _struct(name: str, /, **fields: Any) -> decode.Struct:
    return decode.Struct(name, fields, closed=True)


def _args(name: str, /, **fields: Any) -> decode.Struct:
    return _struct(name, **_TYPE, **fields)


_PLUGIN_SET = _struct(
    "PluginSet",
    enabled=decode.ListOf(_struct("Plugin", name=_STRING, weight=_INT32)),
    disabled=decode.ListOf(_struct("Plugin", name=_STRING, weight=_INT32)),
)
_PROFILE = _struct(
    "KubeSchedulerProfile",
    schedulerName=_STRING,
    percentageOfNodesToScore=_INT32,
    percentageOfPlacementsToScore=_INT32,
    plugins=_struct("Plugins", **dict.fromkeys((*POINTS, *_OTHER_POINTS), _PLUGIN_SET)),
    pluginConfig=decode.ListOf(_struct("PluginConfig", name=_STRING, args=decode.MapOf(decode.Atom.ANY))),
)
_EXTENDER = _struct(
    "Extender",
    **dict.fromkeys(("urlPrefix", "filterVerb", "preemptVerb", "prioritizeVerb", "bindVerb", "httpTimeout"), _STRING),
    **dict.fromkeys(("enableHTTPS", "nodeCacheCapable", "ignorable"), _BOOL),
    weight=_INT64,
    tlsConfig=_struct(
        "ExtenderTLSConfig",
        insecure=_BOOL,
        **dict.fromkeys(("serverName", "certFile", "keyFile", "caFile", "certData", "keyData", "caData"), _STRING),
    ),
    managedResources=decode.ListOf(_struct("ExtenderManagedResource", name=_STRING, ignoredByScheduler=_BOOL)),
)
_CONFIGURATION = _struct(
    "KubeSchedulerConfiguration",
    **_TYPE,
    **dict.fromkeys(("parallelism", "percentageOfNodesToScore", "percentageOfPlacementsToScore"), _INT32),
    **dict.fromkeys(("podInitialBackoffSeconds", "podMaxBackoffSeconds"), _INT64),
    **dict.fromkeys(("enableProfiling", "enableContentionProfiling", "delayCacheUntilActive"), _BOOL),
    leaderElection=_struct(
        "LeaderElectionConfiguration",
        leaderElect=_BOOL,
        **dict.fromkeys(
            ("leaseDuration", "renewDeadline", "retryPeriod", "resourceLock", "resourceName", "resourceNamespace"),
            _STRING,
        ),
    ),
    clientConnection=_struct(
        "ClientConnectionConfiguration",
        **dict.fromkeys(("kubeconfig", "acceptContentTypes", "contentType"), _STRING),
        qps=decode.Atom.ANY,
        burst=_INT32,
    ),
    profiles=decode.ListOf(_PROFILE),
    extenders=decode.ListOf(_EXTENDER),
)
_RESOURCES = decode.ListOf(_struct("ResourceSpec", name=_STRING, weight=_INT64))
_SHAPE = decode.ListOf(_struct("UtilizationShapePoint", utilization=_INT32, score=_INT32))
_TERM = _struct(
    "NodeSelectorTerm",
    **dict.fromkeys(
        ("matchExpressions", "matchFields"),
        decode.ListOf(_struct("NodeSelectorRequirement", key=_STRING, operator=_STRING, values=_STRINGS)),
    ),
)
_ADDED_AFFINITY = _struct(
    "NodeAffinity",
    requiredDuringSchedulingIgnoredDuringExecution=_struct("NodeSelector", nodeSelectorTerms=decode.ListOf(_TERM)),
    preferredDuringSchedulingIgnoredDuringExecution=decode.ListOf(
        _struct("PreferredSchedulingTerm", weight=_INT32, preference=_TERM)
    ),
)
_ARGS = {
    names.DEFAULT_PREEMPTION: _args(
        "DefaultPreemptionArgs", minCandidateNodesPercentage=_INT32, minCandidateNodesAbsolute=_INT32
    ),
    names.DYNAMIC_RESOURCES: _args("DynamicResourcesArgs", filterTimeout=_STRING, bindingTimeout=_STRING),
    names.INTER_POD_AFFINITY: _args(
        "InterPodAffinityArgs", hardPodAffinityWeight=_INT32, ignorePreferredTermsOfExistingPods=_BOOL
    ),
    names.NODE_AFFINITY: _args("NodeAffinityArgs", addedAffinity=_ADDED_AFFINITY),
    names.NODE_RESOURCES_BALANCED_ALLOCATION: _args("NodeResourcesBalancedAllocationArgs", resources=_RESOURCES),
    names.NODE_RESOURCES_FIT: _args(
        "NodeResourcesFitArgs",
        ignoredResources=_STRINGS,
        ignoredResourceGroups=_STRINGS,
        scoringStrategy=_struct(
            "ScoringStrategy",
            type=_STRING,
            resources=_RESOURCES,
            requestedToCapacityRatio=_struct("RequestedToCapacityRatioParam", shape=_SHAPE),
        ),
    ),
    names.POD_TOPOLOGY_SPREAD: spread_args.SHAPE,
    names.VOLUME_BINDING: _args("VolumeBindingArgs", bindTimeoutSeconds=_INT64, shape=_SHAPE),
}


class _Nested(NamedTuple):
    """A problem in the args of one plugin; the route leads to the first one."""

    route: Route
    message: str
    is_strict: bool


def problem(plain: Plain, *, strict: bool) -> Optional[decode.Problem]:
    """Return the first decoding problem of the file, in one sentence. Unknown fields count only if `strict`."""
    found = decode.problems(plain, _CONFIGURATION)
    for item in found:
        if item.kind is decode.ProblemKind.TYPE:
            return item
    nested = list(_nested(plain))
    for inner in nested:
        if not inner.is_strict:
            return decode.Problem(decode.ProblemKind.TYPE, inner.route, inner.message)
    unknown = [(item.route, item.message.removeprefix(_STRICT)) for item in found]
    unknown += [(inner.route, inner.message) for inner in nested]
    if not strict or not unknown:
        return None
    return decode.Problem(
        decode.ProblemKind.UNKNOWN, unknown[0][0], _STRICT + ", ".join(dict.fromkeys(message for _, message in unknown))
    )


def _nested(plain: Plain) -> Iterator[_Nested]:
    for at, profile in enumerate(plain.get("profiles") or ()):
        for index, item in enumerate((profile or {}).get("pluginConfig") or ()):
            name, args = (item or {}).get("name") or "", (item or {}).get("args") or {}
            found = decode.problems(args, _ARGS[name]) if name in _ARGS else []
            if found:
                place = ("profiles", at, "pluginConfig", index, "args")
                where = f"decoding .profiles[{at}].pluginConfig[{index}]: "
                yield _of_plugin(found, name, place, where)


def _of_plugin(found: list[decode.Problem], name: str, place: Route, where: str) -> _Nested:
    what = f"decoding args for plugin {name}: "
    for item in found:
        if item.kind is decode.ProblemKind.TYPE:
            return _Nested((*place, *item.route), f"{where}{what}{item.message}", is_strict=False)
    fields = ", ".join(item.message.removeprefix(_STRICT) for item in found)
    return _Nested((*place, *found[0].route), f"{where}{_STRICT}{what}{_STRICT}{fields}", is_strict=True)


def decoded(plain: Plain) -> Plain:
    """Return what Go decodes of a decodable file: a zero value for each null in a list, and no unknown field."""
    found: Plain = _filled(plain, _CONFIGURATION)
    for profile in found.get("profiles") or ():
        for item in profile.get("pluginConfig") or ():
            shape = _ARGS.get(item.get("name") or "")
            if shape is not None and item.get("args"):
                item["args"] = _filled(item["args"], shape)
    return found


def _filled(value: Any, shape: decode.Shape) -> Any:
    if isinstance(shape, decode.ListOf) and isinstance(value, list):
        zero = {} if isinstance(shape.item, decode.Struct) else ""
        return [_filled(zero if item is None else item, shape.item) for item in value]
    if isinstance(shape, decode.Struct) and isinstance(value, dict):
        return {key: _filled(inner, shape.fields[key]) for key, inner in value.items() if key in shape.fields}
    return value
