"""Reading of many pods: replicas that differ only in per-pod fields are checked and read once.

Replicas have one template, and a cluster has a thousand times fewer templates than pods. The shared part of a pod is
the pod without its per-pod fields, which `_OWN` names. Fields that the program never reads are not in `decode.POD`.
"""

from __future__ import annotations

import marshal
from typing import Any, NamedTuple, Optional

from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.reading import decode, read
from kubectl_spread.objects.reading.plain import Plain

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

    def pod(self, plain: Plain) -> Optional[Pod]:
        """Return the pod as `read.pod` reads it; None if it does not decode."""
        template = _template(plain)
        cls = None if template is None else self._classes.get(template)
        if cls is not None:
            return read.pod(plain, cls)
        if not decode.decodes(plain, decode.POD):
            return None
        pod = read.pod(plain)
        if template is not None and not any(volume.is_ephemeral for volume in pod.cls.volumes):
            self._classes[template] = pod.cls
        return pod


def _template(plain: Plain) -> Optional[bytes]:
    """Return the shared part of replicas, as a key; None if a per-pod field does not decode, or the rest is too deep.

    Two pods with one key decode alike and have the same PodClass: besides the shared fields it depends only on whether
    the pod is bound.
    """
    wrong: list[str] = []
    shared = _shared(plain, _POD, wrong)
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
