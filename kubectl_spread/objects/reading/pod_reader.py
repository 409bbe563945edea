"""Pods in the text of a list: shared parts of replicas are parsed once, unused parts never.

Most of a pod's text is its spec and its managedFields. The specs of replicas differ only in the node and in the name of
the volume with the service account's token. An API server writes both at fixed places:

    {"metadata":{"name":...,"managedFields":[...]},"spec":{...,"nodeName":"a",...},"status":{...}}
     ^ parsed ........... ^ passed over ............  ^ looked up, once its text is known      ^ parsed

In a JSON string every quote has a backslash before it. So `},"spec":{` can only be the end of one value and the
beginning of another. The first pod with a spec is parsed completely, to verify that these values are the pod's own.
A pod with an unverified spec, or in another layout, is parsed as any JSON.

Reading of many pods: replicas that differ only in per-pod fields are checked and read once.

Replicas have one template, and a cluster has a thousand times fewer templates than pods. The shared part of a pod is
the pod without its per-pod fields, which `_OWN` names. Fields that the program never reads are not in `decode.POD`.
"""

from __future__ import annotations

import json
import marshal
import re
from typing import Any, NamedTuple, Optional

from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.reading import decode, read

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


# By Go type: what no PodClass is made of, so that each pod may have its own. (The claim of
# an ephemeral volume is named for the pod and the volume; `_is_shared` sees to that.)
_OWN = {
    "Pod": (),
    "ObjectMeta": ("name", "uid", "annotations"),
    "PodSpec": ("nodeName",),
    "PodStatus": ("phase", "nominatedNodeName", "startTime"),
    "Volume": ("name",),
    # Types with per-pod fields that the program never reads: mounts, times.
    "Container": (),
    "ContainerStatus": (),
    "PodCondition": (),
}


class _Plan(NamedTuple):
    """The steps to separate the per-pod fields of a struct from its shared fields."""

    own: tuple[tuple[str, decode.Shape], ...]
    whole: tuple[str, ...]  # shared as they are
    apart: tuple[tuple[str, _Plan], ...]


def _plan(struct: decode.Struct) -> _Plan:
    names = _OWN[struct.name]
    apart = {
        key: item
        for key, shape in struct.fields.items()
        if isinstance(item := shape.item if isinstance(shape, decode.ListOf) else shape, decode.Struct)
        and item.name in _OWN
    }
    return _Plan(
        own=tuple((key, struct.fields[key]) for key in names),
        whole=tuple(key for key in struct.fields if key not in names and key not in apart),
        apart=tuple((key, _plan(item)) for key, item in apart.items()),
    )


_POD = _plan(decode.POD)


class PodReader:
    """Remembers the PodClass of every template it has seen."""

    def __init__(self) -> None:
        self._classes: dict[bytes, PodClass] = {}

    def pod(self, plain: Plain, spec_key: Optional[SpecKey] = None) -> Optional[Pod]:
        """Return the pod as `read.pod` reads it; None if it does not decode.

        Args:
            plain: the pod.
            spec_key: a key that is equal for pods with equal specs (`PodTexts`), if it is known.
        """
        template = _template(plain, spec_key)
        cls = None if template is None else self._classes.get(template)
        if cls is not None:
            return read.pod(plain, cls)
        if not decode.decodes(plain, decode.POD):
            return None
        pod = read.pod(plain)
        if template is not None and not any(volume.is_ephemeral for volume in pod.cls.volumes):
            self._classes[template] = pod.cls
        return pod


def _template(plain: Plain, spec_key: Optional[SpecKey]) -> Optional[bytes]:
    """Return the shared part of replicas, as a key; None if a per-pod field does not decode, or the rest is too deep.

    Two pods with one key decode alike and have the same PodClass: besides the shared fields it depends only on whether
    the pod is bound.
    """
    wrong: list[str] = []
    shared = _shared(plain, _POD, wrong) if spec_key is None else _shared_except_spec(plain, spec_key, wrong)
    if wrong:
        return None
    spec = plain.get("spec")
    is_bound = isinstance(spec, dict) and bool(spec.get("nodeName"))
    try:
        # Of version 2, which writes equal values alike; from 3 on it depends on how often they are referred to.
        # Other than `==`, it tells 1 from 1.0 and True.
        return marshal.dumps((is_bound, shared), 2)
    except ValueError:
        return None


def _shared_except_spec(plain: Plain, spec_key: SpecKey, wrong: list[str]) -> Any:
    """Return the same as `_shared`, with a number for the spec."""
    others = [_shared(plain.get(key), inner, wrong) for key, inner in _POD.apart if key != "spec"]
    return spec_key.number, tuple(map(plain.get, _POD.whole)), tuple(others)


def _shared(value: Any, plan: _Plan, wrong: list[str]) -> Any:
    """Remove per-pod fields, so that replicas compare equal; `wrong` collects fields that do not decode.

    A struct becomes a tuple, which no JSON value is; something else than a struct is left as it is.
    """
    if isinstance(value, dict):
        get = value.get
        for key, shape in plan.own:
            if not decode.decodes(get(key), shape):
                wrong.append(key)
        shared = tuple(map(get, plan.whole))
        return (shared, *[_shared(get(key), inner, wrong) for key, inner in plan.apart]) if plan.apart else shared
    if isinstance(value, list):
        return [_shared(item, plan, wrong) for item in value]
    return value
