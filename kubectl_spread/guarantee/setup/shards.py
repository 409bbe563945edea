"""Further workloads of a group that grows by whole workloads, such as the shards of a database."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from kubectl_spread.guarantee.setup.member import Member
from kubectl_spread.objects.reading.plain import fields

Plain = dict[str, Any]

_NUMBERED = re.compile(r"(.*?)([0-9]+)\Z")


def more_shards(members: Sequence[Member], number: int) -> list[Member]:
    """Return further shards like the last one, under new names and with labels of their own."""
    taken = {member.key.name for member in members}
    found: list[Member] = []
    model = members[-1]
    own = _own_labels(members)
    for at in range(number):
        name = _next_name(model.key.name, taken)
        taken.add(name)
        found.append(_copy(model, name, _renamed(own, model.key.name, name, number=len(members) + at)))
    return found


def _own_labels(members: Sequence[Member]) -> dict[str, str]:
    """Return the labels of the last shard's pods whose values identify the shard."""
    labels = [_labels(member) for member in members]
    model = labels[-1]
    if len(members) == 1:
        name = members[0].key.name
        return {key: value for key, value in model.items() if name in value}
    return {key: value for key, value in model.items() if any(item.get(key) != value for item in labels[:-1])}


def _labels(member: Member) -> dict[str, str]:
    found = fields(fields(member.controller.workload.template.get("metadata")).get("labels"))
    return {key: value for key, value in found.items() if isinstance(value, str)}


def _next_name(name: str, taken: set[str]) -> str:
    """Return the name with the next free number at its end."""
    match = _NUMBERED.match(name)
    stem, number = (match[1], int(match[2])) if match else (f"{name}-", 1)
    while f"{stem}{number}" in taken or f"{stem}{number}" == name:
        number += 1
    return f"{stem}{number}"


def _renamed(own: Mapping[str, str], name: str, other: str, *, number: int) -> dict[str, tuple[str, str]]:
    """Return old and new value of each label that identifies a shard."""
    match = _NUMBERED.match(other)
    last = match[2] if match else str(number)
    found = {}
    for key, value in own.items():
        by_number = _NUMBERED.match(value)
        if name in value:
            found[key] = (value, value.replace(name, other))
        else:
            found[key] = (value, f"{by_number[1]}{last}" if by_number else f"{value}-{last}")
    return found


def _copy(model: Member, name: str, renamed: Mapping[str, tuple[str, str]]) -> Member:
    workload = model.controller.workload
    changed = workload._replace(
        name=name, template=_changed(workload.template, renamed), selector=_changed(workload.selector, renamed)
    )
    spec = {**_changed(model.controller.spec, renamed), "template": changed.template}
    controller = model.controller._replace(workload=changed, spec=spec)
    return model._replace(key=model.key._replace(name=name), controller=controller, is_extra=True)


def _changed(value: Any, renamed: Mapping[str, tuple[str, str]]) -> Any:
    """Return a value with other labels, in `labels` and in selectors."""
    if isinstance(value, list):
        return [_changed(item, renamed) for item in value]
    if not isinstance(value, dict):
        return value
    made = {key: _changed(item, renamed) for key, item in value.items()}
    for place in ("labels", "matchLabels"):
        if isinstance(made.get(place), dict):
            made[place] = {key: _new(key, item, renamed) for key, item in made[place].items()}
    if "operator" in made and isinstance(made.get("values"), list):
        made["values"] = [_new(made.get("key"), item, renamed) for item in made["values"]]
    return made


def _new(key: Any, value: Any, renamed: Mapping[str, tuple[str, str]]) -> Any:
    old, new = renamed.get(key, (None, None))
    return new if value == old and new is not None else value
