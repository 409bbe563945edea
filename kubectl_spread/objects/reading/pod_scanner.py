"""Pods in the text of a list: shared parts of replicas are parsed once, unused parts never.

Most of a pod's text is its spec and its managedFields. The specs of replicas differ only in the node and in the name of
the volume with the service account's token. An API server writes both at fixed places:

    {"metadata":{"name":...,"managedFields":[...]},"spec":{...,"nodeName":"a",...},"status":{...}}
     ^ parsed ........... ^ passed over ............  ^ looked up, once its text is known      ^ parsed

In a JSON string every quote has a backslash before it. So `},"spec":{` can only be the end of one value and the
beginning of another. The first pod with a spec is parsed completely, to verify that these values are the pod's own.
A pod with an unverified spec, or in another layout, is parsed as any JSON.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, Optional

Plain = dict[str, Any]

_DECODER = json.JSONDecoder()
_BEGIN, _SPEC, _STATUS = '{"metadata":{', '},"spec":{', '},"status":{'
_MANAGED, _NODE = '"managedFields":[', '"nodeName":"'
_TOKEN_VOLUME = re.compile('"name":"kube-api-access-[a-z0-9]{5}"')


class SpecKey(NamedTuple):
    """Two pods with one number have one spec, but for node and names of volumes."""

    number: int


class _Spec(NamedTuple):
    key: SpecKey
    plain: Plain  # without the node


class _Places(NamedTuple):
    """The begin and the end of each part of a pod in a text."""

    metadata_end: int
    spec_end: int
    text: str  # of the spec, without the pod's own fields
    node: str


class PodTexts:
    """Remembers the specs that it has met; `spec_key` belongs to the pod scanned last."""

    def __init__(self) -> None:
        self._specs: dict[str, _Spec] = {}
        self.spec_key: Optional[SpecKey] = None

    def scan(self, text: str, at: int) -> Optional[tuple[Any, int]]:
        """Return the pod that begins at `at`, without its managedFields, and its end; None if it must be parsed."""
        self.spec_key = None
        places = _places(text, at)
        if places is None:
            return None
        known = self._specs.get(places.text)
        if known is None:
            return self._first(text, at, places)
        managed = text.find(_MANAGED, at, places.metadata_end)
        if managed >= 0 and not text.startswith("]", places.metadata_end - 1):
            return None  # they are not the last of the metadata
        written = text[at + len(_BEGIN) - 1 : managed if managed >= 0 else places.metadata_end]
        metadata = _parsed(f"{written.rstrip(',')}}}")
        status, end = _DECODER.raw_decode(text, places.spec_end + len(_STATUS) - 1)
        if metadata is None or not text.startswith("}", end):
            return None
        self.spec_key = known.key
        spec = {**known.plain, "nodeName": places.node} if places.node else known.plain
        return {"metadata": metadata, "spec": spec, "status": status}, end + 1

    def _first(self, text: str, at: int, places: _Places) -> tuple[Any, int]:
        """Parse all of a pod. Remember its spec if it equals the text at the spec's usual place."""
        item, end = _DECODER.raw_decode(text, at)
        spec = item.get("spec")
        if not isinstance(spec, dict) or (spec.get("nodeName") or "") != places.node:
            return item, end
        written = text[places.metadata_end + len(_SPEC) - 1 : places.spec_end + 1]
        # A claim of an ephemeral volume is named for the volume.
        if '"ephemeral"' not in written and _parsed(written) == spec:
            self.spec_key = SpecKey(len(self._specs))
            plain = {key: value for key, value in spec.items() if key != "nodeName"}
            self._specs[places.text] = _Spec(self.spec_key, plain)
        return item, end


def _places(text: str, at: int) -> Optional[_Places]:
    if not text.startswith(_BEGIN, at):
        return None
    metadata_end = text.find(_SPEC, at)
    spec_end = text.find(_STATUS, metadata_end)
    if metadata_end < 0 or spec_end < 0:
        return None
    spec = text[metadata_end + len(_SPEC) - 1 : spec_end + 1]
    node = ""
    node_at = spec.find(_NODE)
    if node_at >= 0:
        node_end = spec.find('"', node_at + len(_NODE))
        node = spec[node_at + len(_NODE) : node_end]
        if not node or "\\" in node or spec.find(_NODE, node_end) >= 0:
            return None
        spec = spec[: node_at + len(_NODE)] + spec[node_end:]
    return _Places(metadata_end, spec_end, _TOKEN_VOLUME.sub("", spec), node)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
