"""The API server's validation of a pod's topology spread constraints, with its messages and in its order.

Source: pkg/apis/core/validation/validation.go, validateTopologySpreadConstraints, ValidateNonnegativeField;
pkg/registry/core/pod/strategy.go, applyMatchLabelKeys;
staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/validation/validation.go, ValidateLabelSelector (v1.36.2).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple, Optional

from kubectl_spread.objects import resources
from kubectl_spread.objects.constraints.constraint import (
    DO_NOT_SCHEDULE,
    HONOR,
    IGNORE,
    SCHEDULE_ANYWAY,
    TopologySpreadConstraint,
)
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import fields, numbered_mappings
from kubectl_spread.objects.releases.field_versions import known_fields
from kubectl_spread.objects.releases.version import default_release, LATEST, Release
from kubectl_spread.objects.selectors import key_errors, Labels, LabelSelector, value_errors
from kubectl_spread.text.node import Route

_ACTIONS = (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY)
_NO_OPTIONS = [(), None, None, None]  # the values of a constraint's optional fields after the selector
_MATCH_KEY_TWICE = "exists in both matchLabelKeys and labelSelector"


class Rule(Enum):
    """The rule that a field error broke; the value is the code of its finding."""

    MAX_SKEW_NOT_POSITIVE = "SPR101"
    TOPOLOGY_KEY_MISSING = "SPR102"
    WHEN_UNSATISFIABLE_MISSING = "SPR103"
    WHEN_UNSATISFIABLE_INVALID = "SPR104"
    DUPLICATE_CONSTRAINT = "SPR105"
    MIN_DOMAINS_NOT_POSITIVE = "SPR106"
    MIN_DOMAINS_ON_SOFT = "SPR107"
    INCLUSION_POLICY_INVALID = "SPR108"
    MATCH_KEYS_WITHOUT_SELECTOR = "SPR109"
    MATCH_KEY_IN_SELECTOR = "SPR110"
    MATCH_KEY_SYNTAX = "SPR111"
    LABEL_SELECTOR_INVALID = "SPR112"
    SPEC_INVALID = "SPR116"


class FieldError(NamedTuple):
    """A field error of the API server.

    `path` is the API server's, below the pod spec. `route` leads to the same place in the manifest. The two can differ.
    """

    rule: Rule
    path: str
    route: Route
    detail: str

    def text(self, root: str = "spec") -> str:
        """Return the error as the API server prints it; `root` is the path of the pod spec."""
        return f"{root}.{self.path}: {self.detail}"


_COUNTS = (
    *("replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"),
    *("parallelism", "completions", "backoffLimit", "ttlSecondsAfterFinished"),
    *("backoffLimitPerIndex", "maxFailedIndexes"),
)


def spec_errors(kind: str, spec: Any, *, minor: Optional[int] = None) -> list[FieldError]:
    """Validate the spec of a workload or an autoscaler outside of its constraints.

    For a workload: numbers, the strategy, whether the selector matches the template, and requests above their limits.

    Values of wrong types are left to the decoder. `minor`: the API server's minor version, the latest recorded one by
    default.

    Source: pkg/apis/apps/validation/validation.go, ValidateStatefulSetSpec, ValidateRollingUpdateDeployment,
    ValidateRollingUpdateDaemonSet, ValidatePodTemplateSpecForReplicaSet; pkg/apis/core/validation/validation.go,
    ValidateContainerResourceRequirements; pkg/apis/autoscaling/validation/validation.go,
    validateHorizontalPodAutoscalerSpec (v1.36.2).
    """
    if not isinstance(spec, dict):
        return []
    release = LATEST if minor is None else default_release(minor)
    if kind == "HorizontalPodAutoscaler":
        return _autoscaler_errors(spec, None if minor is None else release)
    errors = [
        _spec_error(name, value, "must be greater than or equal to 0")
        for name, value in ((name, spec.get(name)) for name in _COUNTS)
        if type(value) is int and value < 0
    ]
    strategy = fields(spec, "updateStrategy")
    named = strategy.get("type")
    if kind == "StatefulSet" and isinstance(named, str) and named not in ("RollingUpdate", "OnDelete", ""):
        from kubectl_spread.objects.releases.behaviours import STATEFULSET_RECREATE  # 4 ms

        if named != "Recreate" or not STATEFULSET_RECREATE.of(release):
            value = f'{{"Type":{decode.go_quote(named)},"RollingUpdate":{_rolling(strategy.get("rollingUpdate"))}}}'
            error = _spec_error("updateStrategy", value, "must be 'RollingUpdate' or 'OnDelete'")
            errors.append(error._replace(route=("updateStrategy", "type")))
    if kind in ("Job", "CronJob"):
        errors += _indexed_errors(spec)
    return [*errors, *_rolling_errors(kind, spec), *_template_errors(kind, spec)]


_MOST_INDEXED = 100_000  # pods at a time


def _indexed_errors(spec: dict[str, Any]) -> Iterator[FieldError]:
    """Yield the errors of a Job whose pods have indexes.

    Source: pkg/apis/batch/validation/validation.go, validateJobSpec (v1.36.2).
    """
    if spec.get("completionMode") != "Indexed":
        return
    if spec.get("completions") is None:
        yield _error(Rule.SPEC_INVALID, ("completions",), "Required value: when completion mode is Indexed")
    parallelism = spec.get("parallelism")
    if isinstance(parallelism, int) and parallelism > _MOST_INDEXED:
        why = f"must be less than or equal to {_MOST_INDEXED} when completion mode is Indexed"
        yield _spec_error("parallelism", parallelism, why)


def _rolling_errors(kind: str, spec: dict[str, Any]) -> Iterator[FieldError]:
    """Yield the error of a rollout that may neither create nor delete a pod first."""
    field = {"Deployment": "strategy", "DaemonSet": "updateStrategy"}.get(kind, "")
    rolling = fields(spec, field, "rollingUpdate")
    surge, unavailable = rolling.get("maxSurge", 0 if kind == "DaemonSet" else None), rolling.get("maxUnavailable")
    if surge in _NONE and unavailable in _NONE:
        why = f"Invalid value: {decode.go_value(unavailable)}: may not be 0 when `maxSurge` is 0"
        why = "Required value: cannot be 0 when maxSurge is 0" if kind == "DaemonSet" else why
        route = (field, "rollingUpdate", "maxUnavailable")
        yield _error(Rule.SPEC_INVALID, route, why)


_NONE = (0, "0%")


def _template_errors(kind: str, spec: dict[str, Any]) -> Iterator[FieldError]:
    """Yield the errors of labels that the selector does not match, and of requests above their limits."""
    template = fields(spec, "template")
    wanted = fields(spec, "selector", "matchLabels")
    labels = fields(template, "metadata").get("labels")
    if kind in _SELECTING and isinstance(labels, dict) and not wanted.items() <= labels.items():
        why = f"Invalid value: {decode.go_value(labels)}: `selector` does not match template `labels`"
        yield _error(Rule.SPEC_INVALID, ("template", "metadata", "labels"), why)
    for at, container in numbered_mappings(fields(template, "spec").get("containers")):
        resources = fields(container, "resources")
        requests, limits = fields(resources, "requests"), fields(resources, "limits")
        for name in [name for name in requests if name in limits and _is_above(requests[name], limits[name])]:
            why = f'Invalid value: "{requests[name]}": must be less than or equal to {name} limit of {limits[name]}'
            route = ("template", "spec", "containers", at, "resources", "requests")
            yield _error(Rule.SPEC_INVALID, (*route, name), why, path=decode.path_text(route))


_SELECTING = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")


def _is_above(request: Any, limit: Any) -> bool:
    """Return whether an amount is above another; False if one cannot be read."""
    try:
        return resources.parse(request) > resources.parse(limit)
    except resources.QuantityError:
        return False


def _autoscaler_errors(spec: dict[str, Any], release: Optional[Release]) -> list[FieldError]:
    """Validate the range of an autoscaler. Cluster facts have no metrics, and no target beside them.

    Of an unknown release, the feature gate HPAScaleToZero may be on.
    """
    least, most = spec.get("minReplicas"), spec.get("maxReplicas")  # None in a part of a manifest
    errors = []
    if type(least) is int and least < 1:
        from kubectl_spread.objects.releases.behaviours import HPA_FROM_ZERO  # 4 ms

        smallest = 0 if release is None or HPA_FROM_ZERO.of(release) else 1
        types = {item.get("type") for _, item in numbered_mappings(spec.get("metrics"))}
        if least < smallest:
            errors.append(_spec_error("minReplicas", least, f"must be greater than or equal to {smallest}"))
        elif "scaleTargetRef" in spec and not types & {"Object", "External"}:
            why = "Forbidden: must specify at least one Object or External metric to support scaling to zero replicas"
            errors.append(_error(Rule.SPEC_INVALID, ("minReplicas",), why, path="metrics"))
    if type(most) is int and most < 1:
        errors.append(_spec_error("maxReplicas", most, "must be greater than 0"))
    if type(most) is type(least) is int and most < least:
        errors.append(_spec_error("maxReplicas", most, "must be greater than or equal to `minReplicas`"))
    return errors


def _spec_error(field: str, value: Any, why: str) -> FieldError:
    return _error(Rule.SPEC_INVALID, (field,), f"Invalid value: {value}: {why}")


def _rolling(rolling: Any) -> str:
    """Return the rollingUpdate of a StatefulSet as the API server prints its internal form."""
    if rolling is None:
        return "null"
    partition, unavailable = fields(rolling).get("partition") or 0, fields(rolling).get("maxUnavailable")
    number = "null" if unavailable is None else decode.go_value(unavailable)
    return f'{{"Partition":{decode.go_value(partition)},"MaxUnavailable":{number}}}'


_LastPositions = dict[tuple[str, str], int]  # of each pair of key and action in the constraints of a pod


def constraint_errors(
    constraints: tuple[TopologySpreadConstraint, ...], *, created_with: Optional[Labels], minor: Optional[int] = None
) -> list[FieldError]:
    """Validate constraints.

    Args:
        constraints: of one pod, in order.
        created_with: the labels of a pod to create; its matchLabelKeys are merged into the selector before validation.
            None for a template, which is validated unchanged.
        minor: the API server's minor version, the latest by default. Fields that it drops are not validated.
    """
    practice = LATEST_PRACTICE
    if minor is not None:
        from kubectl_spread.objects.releases import behaviours  # 4 ms; most runs have only the latest release

        release = default_release(minor)
        practice = Practice(
            behaviours.MATCH_KEYS_ARE_MERGED.of(release),
            behaviours.SELECTOR_IS_VALIDATED.of(release),
            behaviours.LABEL_WORDS.of(release),
        )
        constraints = tuple(known_fields(constraint, release) for constraint in constraints)
    errors: list[FieldError] = []
    last = {(item.topology_key, item.when_unsatisfiable): at for at, item in enumerate(constraints)}
    for constraint in constraints:
        if not _is_sound(constraint, last):
            errors += _constraint_errors(constraint, last, created_with, practice)
    if practice.has_label_words:
        return errors
    return [error._replace(detail=_older_words(error.detail)) for error in errors]


def _is_sound(constraint: TopologySpreadConstraint, last: _LastPositions) -> bool:
    """Return whether a constraint has no error. For speed, only plain constraints are recognised."""
    position, max_skew, topology_key, action, selector, *others = constraint
    if others != _NO_OPTIONS or max_skew <= 0 or not topology_key or action not in _ACTIONS:
        return False
    if last[topology_key, action] > position:
        return False
    if selector is None:
        return True
    return not selector.match_expressions and not any([_label_errors(*label) for label in selector.match_labels])  # noqa: C419


class Practice(NamedTuple):
    """Differences between releases: the rows of `releases.behaviours` about validation."""

    merges_match_keys: bool
    validates_selectors: bool
    has_label_words: bool


LATEST_PRACTICE = Practice(merges_match_keys=True, validates_selectors=True, has_label_words=True)


def _older_words(detail: str) -> str:
    """Return the error of a label in the words of releases up to 1.34."""
    text = re.sub(r"(: (?:name part |prefix part )?must be no more than \d+) bytes\Z", r"\1 characters", detail)
    return re.sub(r": a valid label key (must consist of )", r": a qualified name \1", text)


def _error(rule: Rule, route: Route, detail: str, *, path: str = "") -> FieldError:
    """Return the error of a field; `path` is the API server's, if it differs from the route."""
    return FieldError(rule, path or decode.path_text(route), route, detail)


def _invalid(rule: Rule, route: Route, value: Any, detail: str, *, path: str = "") -> FieldError:
    return _error(rule, route, f"Invalid value: {decode.go_value(value)}: {detail}", path=path)


def _constraint_errors(
    constraint: TopologySpreadConstraint,
    last: _LastPositions,
    created_with: Optional[Labels],
    practice: Practice,
) -> Iterator[FieldError]:
    at: Route = ("topologySpreadConstraints", constraint.position)
    action, number, selector = constraint.when_unsatisfiable, constraint.min_domains, constraint.label_selector
    if constraint.max_skew <= 0:
        yield _invalid(Rule.MAX_SKEW_NOT_POSITIVE, (*at, "maxSkew"), constraint.max_skew, "must be greater than zero")
    if not constraint.topology_key:
        yield _error(Rule.TOPOLOGY_KEY_MISSING, (*at, "topologyKey"), "Required value: can not be empty")
    if action not in _ACTIONS:
        rule = Rule.WHEN_UNSATISFIABLE_INVALID if action else Rule.WHEN_UNSATISFIABLE_MISSING
        yield _error(rule, (*at, "whenUnsatisfiable"), _unsupported(action, *_ACTIONS))
    if last[constraint.topology_key, action] > constraint.position:
        pair = decode.go_quote(f"{{{constraint.topology_key}, {action}}}")
        path = f"{decode.path_text(at)}.{{topologyKey, whenUnsatisfiable}}"
        yield _error(Rule.DUPLICATE_CONSTRAINT, (*at, "topologyKey"), f"Duplicate value: {pair}", path=path)
    if number is not None and number <= 0:
        yield _invalid(Rule.MIN_DOMAINS_NOT_POSITIVE, (*at, "minDomains"), number, "must be greater than zero")
    if number is not None and not constraint.is_hard:
        why = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        yield _invalid(Rule.MIN_DOMAINS_ON_SOFT, (*at, "minDomains"), number, why)
    for field, policy in (
        ("nodeAffinityPolicy", constraint.node_affinity_policy),
        ("nodeTaintsPolicy", constraint.node_taints_policy),
    ):
        if policy not in (None, HONOR, IGNORE):
            yield _error(Rule.INCLUSION_POLICY_INVALID, (*at, field), _unsupported(policy or "", HONOR, IGNORE))
    if practice.merges_match_keys:
        yield from _match_label_keys(constraint, at, created_with)
    else:
        yield from _unmerged_label_keys(constraint, (*at, "matchLabelKeys"))
    if selector is not None and practice.validates_selectors:
        yield from _selector_errors(selector, (*at, "labelSelector"))


def _unsupported(value: str, *supported: str) -> str:
    choices = ", ".join(map(decode.go_quote, supported))
    return f"Unsupported value: {decode.go_quote(value)}: supported values: {choices}"


_WITHOUT_SELECTOR = "Forbidden: must not be specified when labelSelector is not set"


def _match_label_keys(
    constraint: TopologySpreadConstraint, at: Route, created_with: Optional[Labels]
) -> Iterator[FieldError]:
    keys, selector = constraint.match_label_keys, constraint.label_selector
    root: Route = (*at, "matchLabelKeys")
    if not keys:
        return
    if selector is None:
        yield _error(Rule.MATCH_KEYS_WITHOUT_SELECTOR, root, _WITHOUT_SELECTOR)
        return
    for index, key in enumerate(keys):
        for detail in key_errors(key):
            yield _invalid(Rule.MATCH_KEY_SYNTAX, (*root, index), key, detail)
    # Creating a pod with these labels appends an expression for each key.
    appended = [key for key in keys if created_with is not None and key in created_with]
    positions = {key: index for index, key in enumerate(keys)}
    seen = {key for key, _ in selector.match_labels}
    for key in (*(expression.key for expression in selector.match_expressions), *appended):
        if key in positions and key in seen:
            index = positions[key]
            path = f"{decode.path_text(at)}[{index}]"  # the API server leaves `.matchLabelKeys` out
            yield _invalid(Rule.MATCH_KEY_IN_SELECTOR, (*root, index), key, _MATCH_KEY_TWICE, path=path)
        seen.add(key)


def _unmerged_label_keys(constraint: TopologySpreadConstraint, root: Route) -> Iterator[FieldError]:
    """Yield errors of matchLabelKeys up to 1.33: the path names the field, and any overlap is refused.

    Source: validateMatchLabelKeysInTopologySpread (v1.33.3).
    """
    keys, selector = constraint.match_label_keys, constraint.label_selector
    if keys and selector is None:
        yield _error(Rule.MATCH_KEYS_WITHOUT_SELECTOR, root, _WITHOUT_SELECTOR)
    selected = set() if selector is None else {requirement.key for requirement in selector.requirements()}
    for index, key in enumerate(keys):
        for detail in key_errors(key):
            yield _invalid(Rule.MATCH_KEY_SYNTAX, (*root, index), key, detail)
        if key in selected:
            yield _invalid(Rule.MATCH_KEY_IN_SELECTOR, (*root, index), key, _MATCH_KEY_TWICE)


def selector_error(selector: LabelSelector) -> str:
    """Return the first error of the `spec.selector` of an object, as the API server writes it; empty without errors."""
    error = next(_selector_errors(selector, ("spec", "selector")), None)
    return "" if error is None else f"{error.path}: {error.detail}"


def _selector_errors(selector: LabelSelector, root: Route) -> Iterator[FieldError]:
    """Yield errors in the order of keys; the API server walks matchLabels in random order."""
    rule = Rule.LABEL_SELECTOR_INVALID
    for key, value in selector.match_labels:
        labels: Route = (*root, "matchLabels")
        for text, detail in _label_errors(key, value):
            yield _invalid(rule, (*labels, key), text, detail, path=decode.path_text(labels))
    for index, (key, operator, values) in enumerate(selector.match_expressions):
        at: Route = (*root, "matchExpressions", index)
        if operator in ("In", "NotIn"):
            if not values:
                why = "Required value: must be specified when `operator` is 'In' or 'NotIn'"
                yield _error(rule, (*at, "values"), why)
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                why = "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                yield _error(rule, (*at, "values"), why)
        else:
            yield _invalid(rule, (*at, "operator"), operator, "not a valid selector operator")
        for detail in key_errors(key):
            yield _invalid(rule, (*at, "key"), key, detail)
        for position, value in enumerate(values):
            for detail in value_errors(value):
                yield _invalid(rule, (*at, "values", position), value, detail)


@functools.lru_cache(maxsize=4096)
def _label_errors(key: str, value: str) -> tuple[tuple[str, str], ...]:
    """Return the errors of a key or a value. They are cached, because many workloads share most labels."""
    return (*((key, detail) for detail in key_errors(key)), *((value, detail) for detail in value_errors(value)))
