"""Constraints whose misspelt fields have the intended names.

The API server drops an unknown field or refuses the object. The missing field is then part of the same mistake, and is
not reported again.
"""

from __future__ import annotations

from typing import Any

from kubectl_spread.objects.reading import decode
from kubectl_spread.text.wording import nearest

Plain = dict[str, Any]

_FIELD = "topologySpreadConstraints"
_SHAPE = decode.ListOf(decode.TOPOLOGY_SPREAD_CONSTRAINT)


def corrected_spec(spec: Plain) -> Plain:
    """Return a pod spec that decodes, with each unknown field of its constraints under the known name that is nearest.

    A field is left out if no known name is near, if the near field is written too, or if its value does not fit.
    """
    return {**spec, _FIELD: _as_meant(spec.get(_FIELD), _SHAPE)}


def _as_meant(value: Any, shape: decode.Shape) -> Any:
    if isinstance(value, list) and isinstance(shape, decode.ListOf):
        return [_as_meant(item, shape.item) for item in value]
    if not isinstance(value, dict) or not isinstance(shape, decode.Struct):
        return value
    meant = {}
    for name, item in value.items():
        known = name if name in shape.fields else nearest(name, shape.fields)
        if known not in shape.fields:
            continue
        if known == name or (known not in value and decode.decodes(item, shape.fields[known])):
            meant[known] = _as_meant(item, shape.fields[known])
    return meant
