"""The errors of kube-scheduler's strict decoder for a KubeSchedulerConfiguration.

Source: staging/src/k8s.io/kube-scheduler/config/v1/types.go, DecodeNestedObjects, types_pluginargs.go;
staging/src/k8s.io/apimachinery/pkg/runtime/error.go, strictDecodingError (v1.36.2).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Optional

from kubectl_spread.objects.constraints import spread_args
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import Plain
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.text.node import Route

POINTS = (
    "preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit", "preBind",
    "bind", "postBind",
)  # fmt: skip
_STRICT = "strict decoding error: "

_TYPES = decode.types(
    """\
Plugin!: name string; weight int32
PluginSet!: enabled, disabled []Plugin
Plugins!: preEnqueue, queueSort, preFilter, filter, postFilter, preScore, score, reserve, permit, preBind PluginSet;
  bind, postBind, multiPoint, placementGenerate, placementScore, placementFeasible, podGroupPostFilter PluginSet
PluginConfig!: name string; args map[string]any
KubeSchedulerProfile!: schedulerName string; percentageOfNodesToScore, percentageOfPlacementsToScore int32;
  plugins Plugins; pluginConfig []PluginConfig
ExtenderTLSConfig!: insecure bool; serverName, certFile, keyFile, caFile, certData, keyData, caData string
ExtenderManagedResource!: name string; ignoredByScheduler bool
Extender!: urlPrefix, filterVerb, preemptVerb, prioritizeVerb, bindVerb, httpTimeout string;
  enableHTTPS, nodeCacheCapable, ignorable bool; weight int64; tlsConfig ExtenderTLSConfig;
  managedResources []ExtenderManagedResource
LeaderElectionConfiguration!: leaderElect bool;
  leaseDuration, renewDeadline, retryPeriod, resourceLock, resourceName, resourceNamespace string
ClientConnectionConfiguration!: kubeconfig, acceptContentTypes, contentType string; qps any; burst int32
KubeSchedulerConfiguration!: apiVersion, kind string;
  parallelism, percentageOfNodesToScore, percentageOfPlacementsToScore int32;
  podInitialBackoffSeconds, podMaxBackoffSeconds int64;
  enableProfiling, enableContentionProfiling, delayCacheUntilActive bool; leaderElection LeaderElectionConfiguration;
  clientConnection ClientConnectionConfiguration; profiles []KubeSchedulerProfile; extenders []Extender
ResourceSpec!: name string; weight int64
UtilizationShapePoint!: utilization, score int32
NodeSelectorRequirement!: key, operator string; values []string
NodeSelectorTerm!: matchExpressions, matchFields []NodeSelectorRequirement
NodeSelector!: nodeSelectorTerms []NodeSelectorTerm
PreferredSchedulingTerm!: weight int32; preference NodeSelectorTerm
NodeAffinity!: requiredDuringSchedulingIgnoredDuringExecution NodeSelector;
  preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm
RequestedToCapacityRatioParam!: shape []UtilizationShapePoint
ScoringStrategy!: type string; resources []ResourceSpec; requestedToCapacityRatio RequestedToCapacityRatioParam
DefaultPreemptionArgs!: apiVersion, kind string; minCandidateNodesPercentage, minCandidateNodesAbsolute int32
DynamicResourcesArgs!: apiVersion, kind, filterTimeout, bindingTimeout string
InterPodAffinityArgs!: apiVersion, kind string; hardPodAffinityWeight int32; ignorePreferredTermsOfExistingPods bool
NodeAffinityArgs!: apiVersion, kind string; addedAffinity NodeAffinity
NodeResourcesBalancedAllocationArgs!: apiVersion, kind string; resources []ResourceSpec
NodeResourcesFitArgs!: apiVersion, kind string; ignoredResources, ignoredResourceGroups []string;
  scoringStrategy ScoringStrategy
VolumeBindingArgs!: apiVersion, kind string; bindTimeoutSeconds int64; shape []UtilizationShapePoint
"""
)
_CONFIGURATION = _TYPES["KubeSchedulerConfiguration"]


def _args_of(plugin: str) -> Optional[decode.Struct]:
    return spread_args.SHAPE if plugin == names.POD_TOPOLOGY_SPREAD else _TYPES.get(f"{plugin}Args")


def problem(plain: Plain, *, strict: bool) -> Optional[decode.Problem]:
    """Return the first decoding problem of the file, in one sentence. Unknown fields count only if `strict`."""
    unknown: dict[str, Route] = {}  # by message; args are read once the rest decodes
    for item in itertools.chain(decode.problems(plain, _CONFIGURATION), _nested(plain)):
        if item.kind is decode.ProblemKind.TYPE:
            return item
        unknown.setdefault(item.message.removeprefix(_STRICT), item.route)
    if not strict or not unknown:
        return None
    return decode.Problem(decode.ProblemKind.UNKNOWN, next(iter(unknown.values())), _STRICT + ", ".join(unknown))


def _nested(plain: Plain) -> Iterator[decode.Problem]:
    """Yield the first problem in the args of each plugin."""
    for at, profile in enumerate(plain.get("profiles") or ()):
        for index, item in enumerate((profile or {}).get("pluginConfig") or ()):
            name, args = (item or {}).get("name") or "", (item or {}).get("args") or {}
            shape = _args_of(name)
            found = [] if shape is None else decode.problems(args, shape)
            if not found:
                continue
            where, what = f"decoding .profiles[{at}].pluginConfig[{index}]: ", f"decoding args for plugin {name}: "
            first = next((item for item in found if item.kind is decode.ProblemKind.TYPE), found[0])
            message = f"{what}{first.message}"
            if first.kind is not decode.ProblemKind.TYPE:  # then all unknown fields are in one message
                unknown = ", ".join(item.message.removeprefix(_STRICT) for item in found)
                message = f"{_STRICT}{what}{_STRICT}{unknown}"
            route = ("profiles", at, "pluginConfig", index, "args", *first.route)
            yield first._replace(route=route, message=f"{where}{message}")


def decoded(plain: Plain) -> Plain:
    """Return what Go decodes of a decodable file: a zero value for each null in a list, and no unknown field."""
    found: Plain = _filled(plain, _CONFIGURATION)
    for profile in found.get("profiles") or ():
        for item in profile.get("pluginConfig") or ():
            shape = _args_of(item.get("name") or "")
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
