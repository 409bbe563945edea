"""A KubeSchedulerConfiguration file: read, checked, and brought to the form of v1.

Source: pkg/scheduler/apis/config/validation/validation.go, validation_pluginargs.go (v1.36.2). What older versions
of the file meant comes from their release notes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from typing import NamedTuple

from kubectl_spread.errors import SourceError
from kubectl_spread.objects import decode
from kubectl_spread.objects import gotext
from kubectl_spread.objects.constraint import DO_NOT_SCHEDULE
from kubectl_spread.objects.constraint import SCHEDULE_ANYWAY
from kubectl_spread.objects.labels import key_errors
from kubectl_spread.scheduler.config import LATEST
from kubectl_spread.scheduler.config import profiles
from kubectl_spread.scheduler.config import Version
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.sources import files
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import SourceFile

Plain = dict[str, Any]

GROUP = "kubescheduler.config.k8s.io"
KIND = "KubeSchedulerConfiguration"
_VERSIONS = ("v1", "v1beta3", "v1beta2", "v1beta1", "v1alpha2")
_WITHOUT_DEFAULTING_TYPE = ("v1alpha2",)
_REMOVED = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})

# Plugins of older releases that became a scoring strategy of NodeResourcesFit.
_STRATEGIES = {
    "NodeResourcesLeastAllocated": "LeastAllocated",
    "NodeResourcesMostAllocated": "MostAllocated",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio",
}
_FIELDS = decode.Struct(
    KIND,
    {
        "parallelism": decode.Atom.INT32,
        "percentageOfNodesToScore": decode.Atom.INT32,
        "profiles": decode.ListOf(
            decode.Struct(
                "KubeSchedulerProfile",
                {
                    "schedulerName": decode.Atom.STRING,
                    "percentageOfNodesToScore": decode.Atom.INT32,
                    "plugins": decode.MapOf(
                        decode.Struct(
                            "PluginSet",
                            {
                                field: decode.ListOf(
                                    decode.Struct("Plugin", {"name": decode.Atom.STRING, "weight": decode.Atom.INT32})
                                )
                                for field in ("enabled", "disabled")
                            },
                        )
                    ),
                    "pluginConfig": decode.ListOf(
                        decode.Struct(
                            "PluginConfig", {"name": decode.Atom.STRING, "args": decode.MapOf(decode.Atom.ANY)}
                        )
                    ),
                },
            )
        ),
        "extenders": decode.ListOf(decode.MapOf(decode.Atom.ANY)),
    },
)
_SPREAD_ARGS = decode.Struct(
    "PodTopologySpreadArgs",
    {"defaultingType": decode.Atom.STRING, "defaultConstraints": decode.ListOf(decode.TOPOLOGY_SPREAD_CONSTRAINT)},
)


class Loaded(NamedTuple):
    """The profiles of a file, and what it asks for that is not done."""

    profiles: dict[str, Profile]
    notes: tuple[str, ...]


class _Problem(NamedTuple):
    route: Route
    message: str


def load(path: str, version: Version = LATEST) -> Loaded:
    """Read a configuration.

    Raises:
        SourceError: it cannot be read, or the scheduler would not start with it: with its words, and the place.
    """
    source = files.read_text(path)
    document = _document(source)
    plain = nodes.to_plain(document.root)
    api_version = plain.get("apiVersion") if isinstance(plain, dict) else None
    if not isinstance(plain, dict) or plain.get("kind") != KIND:
        raise _error(source, document, _Problem((), f"not a {KIND}"))
    group, _, written_version = str(api_version).partition("/")
    if group != GROUP or written_version not in _VERSIONS:
        known = ", ".join(f"{GROUP}/{name}" for name in _VERSIONS)
        raise _error(
            source, document, _Problem(("apiVersion",), f"unknown apiVersion {api_version}: there are {known}")
        )
    notes: list[str] = []
    current = _as_v1(plain, written_version, notes)
    for problem in _problems(current):
        raise _error(source, document, problem)
    loaded = profiles(current, version)
    return Loaded(loaded, (*notes, *_not_asked(loaded)))


def _not_asked(loaded: dict[str, Profile]) -> Iterator[str]:
    """What the configuration has that is not evaluated, and whose pods it decides about."""
    for profile in loaded.values():
        for name in profile.foreign:
            yield (
                f"the plugin {name} is not kube-scheduler's own: "
                f"the pods of {profile.scheduler_name} are not predictable"
            )
    for extender in next(iter(loaded.values())).extenders:
        whose = f"that request {' or '.join(sorted(extender.resources))} " if extender.resources else ""
        yield f"the extender {extender.url} is not asked: pods {whose}are not predictable"


def _document(source: SourceFile) -> compose.Document:
    for found in compose.compose(source):
        if isinstance(found, compose.SyntaxProblem):
            line, column = source.position(found.span.start)
            raise SourceError(source.name, found.message, line=line, column=column)
        return found
    raise SourceError(source.name, f"not a {KIND}: the file is empty")


def _error(source: SourceFile, document: compose.Document, problem: _Problem) -> SourceError:
    line, column = source.position(nodes.place(document.root, problem.route).start)
    return SourceError(source.name, problem.message, line=line, column=column)


def _as_v1(plain: Plain, version: str, notes: list[str]) -> Plain:
    """What an older file says, in the form of v1."""
    current = dict(plain)
    if isinstance(current.get("profiles"), dict):
        # Documents of 1.18 show it so, although no release reads it.
        notes.append("`profiles` is a mapping, and is read as a list of that one profile")
        current["profiles"] = [current["profiles"]]
    if version == "v1" or decode.problems(current, _FIELDS):
        return current
    current["profiles"] = [_profile_as_v1(profile or {}, version, notes) for profile in current.get("profiles") or ()]
    return current


def _profile_as_v1(profile: Plain, version: str, notes: list[str]) -> Plain:
    changed = {**profile, "plugins": dict(profile.get("plugins") or {})}
    args = [dict(item) for item in profile.get("pluginConfig") or ()]
    for item in args:
        spread_args = item.get("args") or {}
        is_spread = item.get("name") == names.POD_TOPOLOGY_SPREAD
        if is_spread and version in _WITHOUT_DEFAULTING_TYPE and "defaultConstraints" in spread_args:
            item["args"] = {**spread_args, "defaultingType": "List"}
    score = changed["plugins"].get("score") or {}
    strategies = [entry for entry in score.get("enabled") or () if entry.get("name") in _STRATEGIES]
    if strategies:
        kept = [entry for entry in score["enabled"] if entry not in strategies]
        renamed = {"name": names.NODE_RESOURCES_FIT, "weight": strategies[-1].get("weight") or 1}
        changed["plugins"]["score"] = {**score, "enabled": [*kept, renamed]}
        strategy = _STRATEGIES[strategies[-1]["name"]]
        args.append({"name": names.NODE_RESOURCES_FIT, "args": {"scoringStrategy": {"type": strategy}}})
        notes.append(f"{strategies[-1]['name']} is read as the {strategy} strategy of {names.NODE_RESOURCES_FIT}")
    changed["pluginConfig"] = args
    return changed


def _problems(plain: Plain) -> Iterator[_Problem]:
    """What stops the scheduler, in the order it looks."""
    for problem in decode.problems(plain, _FIELDS):
        yield _Problem(problem.route, problem.message)
        return
    yield from _percentage(plain, ())
    seen: set[str] = set()
    for at, profile in enumerate(plain.get("profiles") or ()):
        route: Route = ("profiles", at)
        name = (profile or {}).get("schedulerName") or "default-scheduler"
        if name in seen:
            yield _Problem(
                (*route, "schedulerName"), f"{_path(route)}.schedulerName: Duplicate value: {gotext.quote(name)}"
            )
        seen.add(name)
        yield from _percentage(profile or {}, route)
        yield from _plugin_names(profile or {}, route)
        yield from _plugin_args(profile or {}, route)


def _percentage(plain: Plain, route: Route) -> Iterator[_Problem]:
    value = plain.get("percentageOfNodesToScore")
    if value is not None and not 0 <= value <= 100:
        at = (*route, "percentageOfNodesToScore")
        yield _Problem(at, f"{_path(at)}: Invalid value: {value}: not in valid range [0-100]")


def _plugin_names(profile: Plain, route: Route) -> Iterator[_Problem]:
    for point, plugins in (profile.get("plugins") or {}).items():
        seen: set[str] = set()
        for at, entry in enumerate((plugins or {}).get("enabled") or ()):
            name = (entry or {}).get("name") or ""
            here = (*route, "plugins", point, "enabled", at)
            if name in _REMOVED:
                yield _Problem(here, f"{_path(here)}: Invalid value: {gotext.quote(name)}: was removed")
            if name in seen:
                yield _Problem(here, f'plugin "{name}" already registered as "{name}"')
            seen.add(name)


def _plugin_args(profile: Plain, route: Route) -> Iterator[_Problem]:
    for at, item in enumerate(profile.get("pluginConfig") or ()):
        args, here = (item or {}).get("args") or {}, (*route, "pluginConfig", at, "args")
        if item.get("name") == names.POD_TOPOLOGY_SPREAD:
            yield from _spread_args(args, here)
        elif item.get("name") == names.INTER_POD_AFFINITY:
            weight = args.get("hardPodAffinityWeight")
            if isinstance(weight, int) and not 0 <= weight <= 100:
                field = (*here, "hardPodAffinityWeight")
                yield _Problem(field, f"{_path(field)}: Invalid value: {weight}: not in valid range [0, 100]")


def _spread_args(args: Plain, route: Route) -> Iterator[_Problem]:
    """Source: validation_pluginargs.go, ValidatePodTopologySpreadArgs."""
    for problem in decode.problems(args, _SPREAD_ARGS):
        yield _Problem((*route, *problem.route), problem.message)
        return
    kind, constraints = args.get("defaultingType") or "System", args.get("defaultConstraints") or ()
    at = (*route, "defaultingType")
    if kind not in ("System", "List"):
        quoted = gotext.quote(kind)
        yield _Problem(at, f'{_path(at)}: Unsupported value: {quoted}: supported values: "System", "List"')
    if kind == "System" and constraints:
        yield _Problem(at, f'{_path(at)}: Invalid value: "System": when .defaultConstraints are not empty')
    pairs: set[tuple[Any, Any]] = set()
    for index, constraint in enumerate(constraints):
        here = (*route, "defaultConstraints", index)
        yield from _default_constraint(constraint or {}, here)
        pair = ((constraint or {}).get("topologyKey"), (constraint or {}).get("whenUnsatisfiable"))
        if pair in pairs:
            quoted = gotext.quote(f"{{{pair[0]}, {pair[1]}}}")
            yield _Problem(here, f"{_path(here)}: Duplicate value: {quoted}")
        pairs.add(pair)


def _default_constraint(constraint: Plain, route: Route) -> Iterator[_Problem]:
    def problem(field: str, message: str) -> _Problem:
        at = (*route, field)
        return _Problem(at, f"{_path(at)}: {message}")

    skew = int(constraint.get("maxSkew") or 0)
    if skew <= 0:
        yield problem("maxSkew", f"Invalid value: {skew}: not in valid range (0, inf)")
    key = constraint.get("topologyKey") or ""
    if not key:
        yield problem("topologyKey", "Required value: can not be empty")
    for detail in key_errors(key) if key else ():
        yield problem("topologyKey", f"Invalid value: {gotext.quote(key)}: {detail}")
    action = constraint.get("whenUnsatisfiable") or ""
    if not action:
        yield problem("whenUnsatisfiable", "Required value: can not be empty")
    elif action not in (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY):
        quoted = gotext.quote(action)
        yield problem(
            "whenUnsatisfiable",
            f'Unsupported value: {quoted}: supported values: "{DO_NOT_SCHEDULE}", "{SCHEDULE_ANYWAY}"',
        )
    if constraint.get("labelSelector") is not None:
        yield problem("labelSelector", "Forbidden: constraint must not define a selector, as they deduced for each pod")


def _path(route: Route) -> str:
    return decode.path_text(route)
