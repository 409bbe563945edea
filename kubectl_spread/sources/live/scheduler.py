"""Configuration of the cluster's scheduler, found through its pods and ConfigMaps in kube-system.

A scheduler that runs as a static pod reads its configuration from its node's disk, which the API server does not show.
Then the default is used, and the answer says so. Managed clusters do not show their scheduler.
"""

from __future__ import annotations

import itertools
import json
import posixpath
from typing import Any, NamedTuple, Optional

from kubectl_spread.sources.live.resources import rbac_rule, segment
from kubectl_spread.sources.live.transport import Transport
from kubectl_spread.text.source import SourceFile

Plain = dict[str, Any]

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
    pods = _items(answer.body) if answer.status == 200 else []
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


def _items(body: bytes) -> list[Plain]:
    try:
        items = json.loads(body).get("items")
    except (ValueError, AttributeError, RecursionError):
        return []
    return _mappings(items)


def _containers(pod: Plain) -> list[Plain]:
    return _mappings(_at(pod, "spec", "containers"))


def _mappings(value: Any) -> list[Plain]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _config_path(pod: Plain) -> Optional[str]:
    """Return the value of --config in the command of a scheduler's pod; the last one wins."""
    found = None
    for container in _containers(pod):
        lines = [container.get(key) for key in ("command", "args")]
        words = [str(word) for line in lines if isinstance(line, list) for word in line]
        for word, following in itertools.zip_longest(words, words[1:], fillvalue=""):
            name, equals, value = word.partition("=")
            if name in ("--config", "-config"):
                found = value if equals else following
    return found or None


def _mounted(transport: Transport, pod: Plain, path: str) -> ConfigurationText:
    """Return the configuration at a path of a scheduler's container, if a ConfigMap is mounted there."""
    for container in _containers(pod):
        for mount in _mappings(container.get("volumeMounts")):
            folder = str(_at(mount, "mountPath") or "").rstrip("/")
            if path != folder and not path.startswith(f"{folder}/"):
                continue
            volumes = [item for item in _mappings(_at(pod, "spec", "volumes")) if item.get("name") == mount.get("name")]
            volume = volumes[0] if volumes else None
            if isinstance(_at(volume, "configMap", "name"), str):
                inside = str(_at(mount, "subPath") or "") if path == folder else path[len(folder) + 1 :]
                return _of_config_map(transport, _at(volume, "configMap"), posixpath.normpath(inside))
    name = _at(pod, "metadata", "name")
    return _default(f"pod {_NAMESPACE}/{name} reads it from {path} on its node's disk")


def _of_config_map(transport: Transport, volume: Plain, inside: str) -> ConfigurationText:
    name = str(volume["name"])
    items = _mappings(volume.get("items"))
    key = next((str(item["key"]) for item in items if item.get("path") == inside and item.get("key")), inside)
    where = f"ConfigMap {_NAMESPACE}/{name}"
    answer = transport.get(f"/api/v1/namespaces/{_NAMESPACE}/configmaps/{segment(name)}")
    if answer.status == 403:
        return _default(f"{where} may not be read: {rbac_rule('', 'configmaps', 'get')} in a Role there allows it")
    try:
        text = _at(json.loads(answer.body), "data", key)
    except (ValueError, RecursionError):
        text = None
    if answer.status != 200 or not isinstance(text, str):
        return _default(f"{where} has no `{key}`")
    return ConfigurationText(SourceFile(f"{where}, {key}", text), f"{where}, {key}")
