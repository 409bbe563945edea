"""Configuration of the cluster's scheduler, found through its pods and ConfigMaps in kube-system.

A scheduler that runs as a static pod reads its configuration from its node's disk, which the API server does not show.
Then the default is used, and the answer says so. Managed clusters do not show their scheduler.
"""

from __future__ import annotations

import itertools
import posixpath
from typing import Any, NamedTuple, Optional

from kubectl_spread.objects.reading.plain import numbered_mappings, Plain, value_at
from kubectl_spread.sources.live.resources import rbac_rule, segment
from kubectl_spread.sources.live.transport import Transport
from kubectl_spread.text.source import SourceFile

_NAMESPACE = "kube-system"
_PODS = f"/api/v1/namespaces/{_NAMESPACE}/pods"
_SELECTOR = "component=kube-scheduler"  # label of kubeadm and of similar installers


class ConfigurationText(NamedTuple):
    """Text of the configuration, if it is readable, and a remark on its origin."""

    source: Optional[SourceFile]
    said: str
    is_certain: bool = True


def find_configuration(transport: Transport) -> ConfigurationText:
    """Return the configuration of the cluster's scheduler."""
    answer = transport.get(_PODS, {"labelSelector": _SELECTOR, "limit": "10"})
    if answer.status == 403:
        rule = rbac_rule("", "pods", "list")
        return _default(f"pods of {_NAMESPACE} may not be listed: {rule} in a Role there allows it")
    pods = _mappings(answer.content, "items") if answer.status == 200 else []
    if not pods:
        return _default("")  # as in every managed cluster
    for pod in pods:
        path = _config_path(pod)
        if path is not None:
            return _mounted(transport, pod, path)
    return ConfigurationText(None, "default (the scheduler runs without --config)")


def _default(why: str) -> ConfigurationText:
    origin = f"not known, default assumed ({why})" if why else "not known, default assumed"
    return ConfigurationText(None, f"{origin}; --scheduler-config names it", is_certain=False)


def _mappings(value: Any, *route: str) -> list[Plain]:
    """Return the mappings in the list at a route."""
    return [item for _, item in numbered_mappings(value_at(value, route))]


def _config_path(pod: Plain) -> Optional[str]:
    """Return the value of --config in the command of a scheduler's pod; the last one wins."""
    found = None
    for container in _mappings(pod, "spec", "containers"):
        lines = [container.get(key) for key in ("command", "args")]
        words = [str(word) for line in lines if isinstance(line, list) for word in line]
        for word, following in itertools.zip_longest(words, words[1:], fillvalue=""):
            name, equals, value = word.partition("=")
            if name in ("--config", "-config"):
                found = value if equals else following
    return found or None


def _mounted(transport: Transport, pod: Plain, path: str) -> ConfigurationText:
    """Return the configuration at a path of a scheduler's container, if a ConfigMap is mounted there."""
    for container in _mappings(pod, "spec", "containers"):
        for mount in _mappings(container, "volumeMounts"):
            folder = str(mount.get("mountPath") or "").rstrip("/")
            if path != folder and not path.startswith(f"{folder}/"):
                continue
            named = (item for item in _mappings(pod, "spec", "volumes") if item.get("name") == mount.get("name"))
            volume = value_at(next(named, None), ("configMap",))
            if isinstance(value_at(volume, ("name",)), str):
                inside = str(mount.get("subPath") or "") if path == folder else path[len(folder) + 1 :]
                return _of_config_map(transport, volume, posixpath.normpath(inside))
    name = value_at(pod, ("metadata", "name"))
    return _default(f"pod {_NAMESPACE}/{name} reads it from {path} on its node's disk")


def _of_config_map(transport: Transport, volume: Plain, inside: str) -> ConfigurationText:
    name = str(volume["name"])
    items = _mappings(volume, "items")
    key = next((str(item["key"]) for item in items if item.get("path") == inside and item.get("key")), inside)
    where = f"ConfigMap {_NAMESPACE}/{name}"
    answer = transport.get(f"/api/v1/namespaces/{_NAMESPACE}/configmaps/{segment(name)}")
    if answer.status == 403:
        return _default(f"{where} may not be read: {rbac_rule('', 'configmaps', 'get')} in a Role there allows it")
    text = value_at(answer.content, ("data", key))
    if answer.status != 200 or not isinstance(text, str):
        return _default(f"{where} has no `{key}`")
    return ConfigurationText(SourceFile(f"{where}, {key}", text), f"{where}, {key}")
