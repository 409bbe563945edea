"""Validation of a KubeSchedulerConfiguration: errors of kube-scheduler's strict decoder, and why it does not start.

The words are kube-scheduler's.

Source: staging/src/k8s.io/kube-scheduler/config/v1/types.go, DecodeNestedObjects, types_pluginargs.go;
staging/src/k8s.io/apimachinery/pkg/runtime/error.go, strictDecodingError; pkg/scheduler/apis/config/validation/
validation.go, validation_pluginargs.go; the defaults applied before: pkg/scheduler/apis/config/v1/defaults.go;
noderesources/fit.go, NewFit (v1.36.2).
Difference: the durations of leaderElection and of DynamicResourcesArgs are not compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, Optional

from kubectl_spread.objects.constraints import spread_args
from kubectl_spread.objects.constraints.spread_args import FieldPlace, LocatedError
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import fields, Plain
from kubectl_spread.objects.resources import is_extended
from kubectl_spread.objects.selectors import key_errors, parse_int64, value_errors
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


REMOVED = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})
_STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_FIELD_OPERATORS = ("In", "NotIn")
_REQUIRED, _PREFERRED = (f"{kind}DuringSchedulingIgnoredDuringExecution" for kind in ("required", "preferred"))


def problems(plain: Plain, api_version: str) -> Iterator[LocatedError]:
    """Yield the reasons why the scheduler does not start, in its order; `api_version` is the file's."""
    burst = fields(plain, "clientConnection").get("burst") or 0
    if burst < 0:
        yield FieldPlace(("clientConnection", "burst")).invalid(burst, "must be non-negative")
    election = fields(plain, "leaderElection")
    lock = election.get("resourceLock") or "leases"
    if election.get("leaderElect") is not False and lock != "leases":
        yield FieldPlace(("leaderElection", "resourceLock")).invalid(lock, 'resourceLock value must be "leases"')
    profiles = [profile or {} for profile in plain.get("profiles") or ()]
    yield from _positive(plain, "parallelism", "should be an integer value greater than zero")
    seen: dict[str, int] = {}
    for at, profile in enumerate(profiles):
        here = FieldPlace(("profiles", at))
        written: Optional[str] = profile.get("schedulerName")
        name = "default-scheduler" if written is None and len(profiles) == 1 else written or ""
        if not name:
            yield here.child("schedulerName").problem("Required value")
        yield from _percentage(profile, here)
        yield from _plugins(profile, here, api_version)
        if name in seen:
            yield here.child("schedulerName").problem(f"Duplicate value: profiles[{seen[name]}].schedulerName")
        seen[name] = at
    yield from _queue_sort(profiles)
    yield from _percentage(plain, FieldPlace(()))
    yield from _positive(plain, "podInitialBackoffSeconds", "must be greater than 0")
    first, most = plain.get("podInitialBackoffSeconds"), plain.get("podMaxBackoffSeconds")
    first, most = 1 if first is None else first, 10 if most is None else most
    if most < first:
        detail = "must be greater than or equal to PodInitialBackoffSeconds"
        yield FieldPlace(("podMaxBackoffSeconds",)).invalid(most, detail)
    yield from _extenders(plain.get("extenders") or ())


def _positive(plain: Plain, field: str, detail: str) -> Iterator[LocatedError]:
    value = plain.get(field)
    if value is not None and value <= 0:
        yield FieldPlace((field,)).invalid(value, detail)


def _percentage(plain: Plain, here: FieldPlace) -> Iterator[LocatedError]:
    value = plain.get("percentageOfNodesToScore")
    if value is not None and not 0 <= value <= 100:
        yield here.child("percentageOfNodesToScore").invalid(value, "not in valid range [0-100]")


def _queue_sort(profiles: list[Plain]) -> Iterator[LocatedError]:
    """Check that all profiles order the one queue they share in the same way."""
    first = _enabled(profiles[0], "queueSort") if profiles else []
    if len(first) > 1:
        at = FieldPlace(("profiles", 0, "plugins", "queueSort"))
        path = "profiles[0].plugins.queueSort.Enabled"
        yield at.invalid(len(first), "only one queue sort plugin can be enabled", path=path)
    # The plugin sets in their internal form, as Go prints them
    sets: list[dict[str, Any]] = [
        {
            name: [{"Name": item.get("name") or "", "Weight": item.get("weight") or 0} for item in written[field]]
            if written.get(field)
            else None
            for name, field in (("Enabled", "enabled"), ("Disabled", "disabled"))
        }
        for written in (fields(profile, "plugins", "queueSort") for profile in profiles)
    ]
    for at_profile, own in enumerate(sets[1:], 1):
        if [own[key] or [] for key in own] != [sets[0][key] or [] for key in own]:
            yield FieldPlace(("profiles", at_profile, "plugins", "queueSort")).problem(
                f"Invalid value: {_unsorted_json(own)}", "must be the same for all profiles"
            )


def _unsorted_json(value: Any) -> str:
    import json  # 5 ms

    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _enabled(profile: Plain, point: str) -> list[Plain]:
    plugins = fields(profile, "plugins").get(point) or {}
    return [entry or {} for entry in plugins.get("enabled") or ()]


def _plugins(profile: Plain, here: FieldPlace, api_version: str) -> Iterator[LocatedError]:
    removed = f'was invalid in version "v1" (KubeSchedulerConfiguration is version {decode.go_quote(api_version)})'
    is_current = api_version.endswith("/v1")  # in older versions these are the scheduler's own
    for point in POINTS:
        for at, entry in enumerate(_enabled(profile, point)):
            if is_current and entry.get("name") in REMOVED:
                yield here.child("plugins", point, "enabled", at).invalid(entry["name"], removed)
    seen: set[str] = set()
    for at, item in enumerate(profile.get("pluginConfig") or ()):
        name, config = (item or {}).get("name") or "", here.child("pluginConfig", at)
        if name in seen:
            yield config.duplicate(name)
        seen.add(name)
        if is_current and name in REMOVED:
            yield config.invalid(name, removed)
        elif name in _CHECKS:
            yield from _CHECKS[name]((item or {}).get("args") or {}, config.child("args"))
    yield from _when_it_starts(profile, here)


def _when_it_starts(profile: Plain, here: FieldPlace) -> Iterator[LocatedError]:
    """Yield problems that plugins find when the profile is created."""
    for at, item in enumerate(profile.get("pluginConfig") or ()):
        if (item or {}).get("name") == names.NODE_RESOURCES_FIT:
            args = here.child("pluginConfig", at, "args")
            for found in _fit((item or {}).get("args") or {}, args._replace(hidden=len(args.route))):
                yield found._replace(message=f'initializing plugin "{names.NODE_RESOURCES_FIT}": {found.message}')
    for point in (*POINTS, "multiPoint"):
        seen: set[str] = set()
        for at, entry in enumerate(_enabled(profile, point)):
            name = entry.get("name") or ""
            if name in seen:
                route = here.child("plugins", point, "enabled", at).route
                yield LocatedError(route, f'plugin "{name}" already registered as "{name}"')
            seen.add(name)


def _preemption(args: Plain, here: FieldPlace) -> Iterator[LocatedError]:
    """Check the arguments (ValidateDefaultPreemptionArgs)."""
    percentage, absolute = here.child("minCandidateNodesPercentage"), here.child("minCandidateNodesAbsolute")
    part, number = args.get("minCandidateNodesPercentage"), args.get("minCandidateNodesAbsolute")
    part, number = 10 if part is None else part, 100 if number is None else number
    if not 0 <= part <= 100:
        yield percentage.invalid(part, "not in valid range [0, 100]")
    if number < 0:
        yield absolute.invalid(number, "not in valid range [0, inf)")
    if part == number == 0:
        yield percentage.invalid(0, "cannot be zero at the same time as minCandidateNodesAbsolute")
        yield absolute.invalid(0, "cannot be zero at the same time as minCandidateNodesPercentage")


def _pod_affinity(args: Plain, here: FieldPlace) -> Iterator[LocatedError]:
    """Check the arguments (ValidateInterPodAffinityArgs)."""
    weight = args.get("hardPodAffinityWeight")
    if weight is not None and not 0 <= weight <= 100:
        yield here.child("hardPodAffinityWeight").invalid(weight, "not in valid range [0, 100]")


def _balanced(args: Plain, here: FieldPlace) -> Iterator[LocatedError]:
    """Check the arguments (ValidateNodeResourcesBalancedAllocationArgs)."""
    seen: set[str] = set()
    for at, resource in enumerate(args.get("resources") or ()):
        name, weight = resource.get("name") or "", resource.get("weight") or 1
        if name in seen:
            yield here.child("resources", at, "name").duplicate(name)
        seen.add(name)
        if weight != 1:
            yield here.child("resources", at, "weight").invalid(weight, "must be 1")


def _volume_binding(args: Plain, here: FieldPlace) -> Iterator[LocatedError]:
    """Check the arguments (ValidateVolumeBindingArgs, with StorageCapacityScoring off)."""
    timeout_s = args.get("bindTimeoutSeconds") or 0
    if timeout_s < 0:
        detail = "invalid BindTimeoutSeconds, should not be a negative value"
        yield here.child("bindTimeoutSeconds").invalid(timeout_s, detail)
    if args.get("shape") is not None:
        points = [
            {"Utilization": point.get("utilization") or 0, "Score": point.get("score") or 0} for point in args["shape"]
        ]
        yield here.child("shape").problem(
            f"Invalid value: {_unsorted_json(points)}",
            "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring",
        )


def _fit(args: Plain, here: FieldPlace) -> Iterator[LocatedError]:
    """Check the arguments (ValidateNodeResourcesFitArgs)."""
    for at, resource in enumerate(args.get("ignoredResources") or ()):
        yield from here.child("ignoredResources", at).label_key(resource or "")
    for at, group in enumerate(args.get("ignoredResourceGroups") or ()):
        field = here.child("ignoredResourceGroups", at)
        if "/" in (group or ""):
            yield field.invalid(group, "resource group name can't contain '/'")
        yield from field.label_key(group or "")
    if args.get("scoringStrategy") is not None:
        yield from _strategy(args["scoringStrategy"], here.child("scoringStrategy"))


def _strategy(strategy: Plain, here: FieldPlace) -> Iterator[LocatedError]:
    kind, ratio = strategy.get("type") or "", strategy.get("requestedToCapacityRatio")
    if kind not in _STRATEGIES:
        yield here.child("type").unsupported(kind, _STRATEGIES)
    for at, resource in enumerate(strategy.get("resources") or ()):
        weight = resource.get("weight") or 1
        if not 0 < weight <= 100:
            detail = f"resource weight of {resource.get('name') or ''} not in valid range (0, 100]"
            yield here.child("resources", at, "weight").invalid(weight, detail)
    field = here.child("requestedToCapacityRatio")
    if kind != "RequestedToCapacityRatio":
        if ratio is not None:
            yield field.problem("Forbidden", "must be nil when type is not RequestedToCapacityRatio")
    elif ratio is None:
        yield field.problem("Required value", "must be specified when type is RequestedToCapacityRatio")
    else:
        yield from _shape(ratio.get("shape") or [], field.child("shape"))


def _shape(points: list[Plain], here: FieldPlace) -> Iterator[LocatedError]:
    """Check the points of a score function (validateFunctionShape)."""
    if not points:
        yield here.problem("Required value", "at least one point must be specified")
        return
    pairs = [(point.get("utilization") or 0, point.get("score") or 0) for point in points]
    for at in range(1, len(pairs)):
        if pairs[at - 1][0] >= pairs[at][0]:
            field = here.child(at, "utilization")
            yield field.invalid(pairs[at][0], "values must be sorted in increasing order")
            break
    for at, (utilization, score) in enumerate(pairs):
        if not 0 <= utilization <= 100:
            yield here.child(at, "utilization").invalid(utilization, "not in valid range [0, 100]")
        if not 0 <= score <= 10:
            yield here.child(at, "score").invalid(score, "not in valid range [0, 10]")


def _node_affinity(args: Plain, here: FieldPlace) -> Iterator[LocatedError]:
    """Check that terms parse (ValidateNodeAffinityArgs); empty terms and preferences of weight 0 are ignored."""
    affinity, field = fields(args, "addedAffinity"), here.child("addedAffinity")
    terms = (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()
    for at, term in enumerate(terms):
        yield from _term(term or {}, field.child(_REQUIRED, "nodeSelectorTerms", at), ())
    for at, item in enumerate(affinity.get(_PREFERRED) or ()):
        if item.get("weight"):
            # The path of a preference does not name the step `preference`.
            yield from _term(fields(item, "preference"), field.child(_PREFERRED, at), ("preference",))


def _term(term: Plain, here: FieldPlace, step: Route) -> Iterator[LocatedError]:
    for field, check in (("matchExpressions", _expression), ("matchFields", _field_requirement)):
        for at, item in enumerate(term.get(field) or ()):
            shown = here.child(field, at)
            for found in check(item or {}, shown):
                rest = found.route[len(here.route) :]
                yield found._replace(route=(*here.route, *step, *rest))


def _field_requirement(item: Plain, here: FieldPlace) -> Iterator[LocatedError]:
    operator, values = item.get("operator") or "", item.get("values")
    if operator not in _FIELD_OPERATORS:
        yield here.child("operator").unsupported(operator, _FIELD_OPERATORS)
    elif len(values or ()) != 1:
        yield here.child("values").invalid(values, "must have one element")


def _expression(item: Plain, here: FieldPlace) -> Iterator[LocatedError]:
    """Yield the errors of one condition on labels.

    Source: staging/src/k8s.io/apimachinery/pkg/labels/selector.go, NewRequirement (v1.36.2).
    """
    key, operator, values = item.get("key") or "", item.get("operator") or "", item.get("values")
    if operator not in _OPERATORS:
        yield here.child("operator").unsupported(operator, _OPERATORS)
        return
    wrong = key_errors(key)
    if wrong:
        yield here.child("key").invalid(key, "; ".join(wrong))
    yield from _values(operator, values, here.child("values"))
    for at, value in enumerate(values or ()):
        wrong = value_errors(value or "")
        if wrong:
            field = here.child("values", at)
            path = f"{decode.path_text(field.route[field.hidden :])}[{key}]"
            yield field.invalid(value or "", "; ".join(wrong), path=path)


def _values(operator: str, values: Optional[list[str]], field: FieldPlace) -> Iterator[LocatedError]:
    """Check how many values an operator takes."""
    count = len(values or ())
    if operator in ("In", "NotIn") and not count:
        yield field.invalid(values, "for 'in', 'notin' operators, values set can't be empty")
    if operator in ("Exists", "DoesNotExist") and count:
        yield field.invalid(values, "values set must be empty for exists and does not exist")
    if operator in ("Gt", "Lt"):
        if count != 1:
            yield field.invalid(values, "for 'Gt', 'Lt' operators, exactly one value is required")
        for at, value in enumerate(values or ()):
            if parse_int64(value) is None:
                yield field.child(at).invalid(value, "for 'Gt', 'Lt' operators, the value must be an integer")


def _extenders(extenders: Any) -> Iterator[LocatedError]:
    managed: set[str] = set()
    for at, extender in enumerate(extenders):
        here = FieldPlace(("extenders", at))
        weight = extender.get("weight") or 0
        if extender.get("prioritizeVerb") and weight <= 0:
            yield here.child("weight").invalid(weight, "must have a positive weight applied to it")
        for index, resource in enumerate(extender.get("managedResources") or ()):
            name, field = resource.get("name") or "", here.child("managedResources", index, "name")
            wrong = key_errors(name)
            for detail in wrong:
                yield field.invalid(name, detail.replace("a valid label key must", "a qualified name must"))
            if not wrong and not is_extended(name):
                yield field.invalid(name, "is an invalid extended resource name")
            if name in managed:
                yield field.invalid(name, "duplicate extender managed resource name")
            managed.add(name)
    binders = sum(bool(extender.get("bindVerb")) for extender in extenders)
    if binders > 1:
        counted = f"found {binders} extenders implementing bind"
        yield FieldPlace(("extenders",)).invalid(counted, "only one extender can implement bind")


_CHECKS: dict[str, Callable[[Plain, FieldPlace], Iterator[LocatedError]]] = {
    names.DEFAULT_PREEMPTION: _preemption,
    names.INTER_POD_AFFINITY: _pod_affinity,
    names.NODE_AFFINITY: _node_affinity,
    names.NODE_RESOURCES_BALANCED_ALLOCATION: _balanced,
    names.POD_TOPOLOGY_SPREAD: lambda args, here: (error for _, error in spread_args.errors(args, here)),
    names.VOLUME_BINDING: _volume_binding,
}
