"""Reader of a KubeSchedulerConfiguration file, which is validated and converted to v1.

The meaning of older versions of the file is taken from their release notes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kubectl_spread.errors import SourceError
from kubectl_spread.objects.reading.plain import fields, Plain
from kubectl_spread.objects.releases.behaviours import FIT_SCORES
from kubectl_spread.objects.releases.version import LATEST, Release
from kubectl_spread.scheduler import validation
from kubectl_spread.scheduler.framework.plugin import Profile
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.profiles import profiles
from kubectl_spread.scheduler.validation import REMOVED
from kubectl_spread.sources import files
from kubectl_spread.sources.single_document import documents
from kubectl_spread.text import compose
from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.wording import short, short_quotes

GROUP = "kubescheduler.config.k8s.io"
KIND = "KubeSchedulerConfiguration"
_VERSIONS = ("v1", "v1beta3", "v1beta2", "v1beta1", "v1alpha2")
_WITHOUT_DEFAULTING_TYPE = ("v1alpha2",)

# Plugins of older releases that became a scoring strategy of NodeResourcesFit.
_STRATEGIES = {
    "NodeResourcesLeastAllocated": "LeastAllocated",
    "NodeResourcesMostAllocated": "MostAllocated",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio",
}


_OWN_PLUGINS = (names.NODE_RESOURCES_LEAST_ALLOCATED, names.NODE_RESOURCES_MOST_ALLOCATED)


class LoadedConfiguration(NamedTuple):
    """Profiles of a file, and notes on its settings that are ignored."""

    profiles: dict[str, Profile]
    notes: tuple[str, ...]


def load(path: str, release: Release = LATEST) -> LoadedConfiguration:
    """Read a configuration.

    Raises:
        SourceError: it cannot be read, or the scheduler would refuse it; with the scheduler's message and the place.
    """
    return read(files.read_text(path), release)


def read(source: SourceFile, release: Release = LATEST) -> LoadedConfiguration:
    """Read the text of a configuration.

    Raises:
        SourceError: as `load` does.
    """
    document = next(documents(source), None)
    if document is None:
        raise SourceError(source.name, f"not a {KIND}: the file is empty")
    plain = document.plain
    api_version = plain.get("apiVersion") if isinstance(plain, dict) else None
    if not isinstance(plain, dict) or plain.get("kind") != KIND:
        raise document.error((), f"not a {KIND}")
    group, _, written_version = str(api_version).partition("/")
    if group != GROUP or written_version not in _VERSIONS:
        known = ", ".join(f"{GROUP}/{name}" for name in _VERSIONS)
        raise document.error(("apiVersion",), f"unknown apiVersion {short(api_version)}: there are {known}")
    notes: list[str] = []
    current = plain
    if isinstance(plain.get("profiles"), dict):
        # The documentation of 1.18 shows this form, although no release reads it.
        notes.append("`profiles` is a mapping, and is read as a list of that one profile")
        current = {**plain, "profiles": [plain["profiles"]]}
    current = _decoded(document, current, strict=written_version == "v1")
    if written_version != "v1":
        # Args of plugins that v1 does not have are decoded as args of their successors.
        older = [_profile_as_v1(item or {}, written_version, notes, release) for item in current.get("profiles") or ()]
        current = _decoded(document, {**current, "profiles": older}, strict=False)
    for problem in validation.problems(current, str(api_version)):
        raise document.error(problem.route, short_quotes(problem.message))
    loaded = profiles(current, release)
    return LoadedConfiguration(loaded, (*notes, *_not_evaluated(loaded)))


def _decoded(document: compose.Document, plain: Plain, *, strict: bool) -> Plain:
    undecodable = validation.problem(plain, strict=strict)
    if undecodable is not None:
        raise document.error(undecodable.route, undecodable.message)
    return validation.decoded(plain)


def _not_evaluated(loaded: dict[str, Profile]) -> Iterator[str]:
    """Yield notes on features of the configuration that are not evaluated, and on the pods that they affect."""
    for profile in loaded.values():
        for name in profile.foreign:
            yield (
                f"the plugin {name} is not kube-scheduler's own: "
                f"the pods of {profile.scheduler_name} are not predictable"
            )
    for extender in next(iter(loaded.values())).extenders:
        whose = f"that request {' or '.join(sorted(extender.resources))} " if extender.resources else ""
        yield f"the extender {extender.url} is not called: pods {whose}are not predictable"


def _profile_as_v1(profile: Plain, version: str, notes: list[str], release: Release) -> Plain:
    changed = {**profile, "plugins": _without_limits(fields(profile, "plugins"), notes)}
    args = [dict(item or {}) for item in profile.get("pluginConfig") or ()]
    for item in args if version in _WITHOUT_DEFAULTING_TYPE else ():
        spread_args = fields(item, "args")
        if item.get("name") == names.POD_TOPOLOGY_SPREAD and "defaultConstraints" in spread_args:
            item["args"] = {**spread_args, "defaultingType": "List"}  # they replace the built-in ones
    score = fields(changed["plugins"], "score")
    renamed_plugins = _STRATEGIES.keys() - (() if FIT_SCORES.of(release) else _OWN_PLUGINS)
    strategies = [entry for entry in score.get("enabled") or () if entry.get("name") in renamed_plugins]
    if strategies:
        kept, plugin = [entry for entry in score["enabled"] if entry not in strategies], strategies[-1]["name"]
        renamed = {"name": names.NODE_RESOURCES_FIT, "weight": strategies[-1].get("weight") or 1}
        changed["plugins"]["score"] = {**score, "enabled": [*kept, renamed]}
        args = _with_strategy(args, plugin)
        notes.append(f"{plugin} is read as the {_STRATEGIES[plugin]} strategy of {names.NODE_RESOURCES_FIT}")
    changed["pluginConfig"] = args
    return changed


def _without_limits(plugins: Plain, notes: list[str]) -> Plain:
    """Return the plugins without the former limits of in-tree volumes, which NodeVolumeLimits replaces."""
    found: Plain = {}
    for point, written in plugins.items():
        enabled = (written or {}).get("enabled") or []
        kept = [entry for entry in enabled if (entry or {}).get("name") not in REMOVED]
        notes += [f"{entry['name']} is read as {names.NODE_VOLUME_LIMITS}" for entry in enabled if entry not in kept]
        found[point] = {**(written or {}), "enabled": kept}
    return found


def _with_strategy(args: list[Plain], plugin: str) -> list[Plain]:
    """Return the profile's args after a plugin has become a scoring strategy, including the plugin's args."""
    own: Plain = next((fields(item, "args") for item in args if item.get("name") == plugin), {})
    fit: Plain = next((fields(item, "args") for item in args if item.get("name") == names.NODE_RESOURCES_FIT), {})
    strategy: Plain = {"type": _STRATEGIES[plugin], "resources": own.get("resources")}
    if plugin == "RequestedToCapacityRatio":
        strategy["requestedToCapacityRatio"] = {"shape": own.get("shape")}
    others = [item for item in args if item.get("name") not in (plugin, names.NODE_RESOURCES_FIT)]
    return [*others, {"name": names.NODE_RESOURCES_FIT, "args": {**fit, "scoringStrategy": strategy}}]
