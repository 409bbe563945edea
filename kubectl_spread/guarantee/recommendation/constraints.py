"""Recommended constraints as fields of a pod template."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from kubectl_spread.guarantee.setup.member import Member
from kubectl_spread.objects.constraints.constraint import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.workloads.workload import POD_TEMPLATE_HASH, Workload

Plain = dict[str, Any]

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class Hard(NamedTuple):
    """A DoNotSchedule constraint of a candidate; 0 and False are left out."""

    topology_key: str
    max_skew: int
    min_domains: int = 0
    honors_taints: bool = False
    by_revision: bool = False


def changed_template(
    workload: Workload,
    candidate: Sequence[Hard],
    selector: Plain,
    *,
    apart: Sequence[str] = (),
    replaced: Sequence[str] = (),
) -> Plain:
    """Return a pod template with recommended constraints; constraints of other keys than `replaced` stay."""
    template = workload.template
    spec = fields(template.get("spec"))
    keys = {item.topology_key for item in candidate}
    keys |= set(replaced)
    others = [item for item in spec.get("topologySpreadConstraints") or () if item.get("topologyKey") not in keys]
    made = [plain_constraint(item, selector, is_stateful=workload.kind == "StatefulSet") for item in candidate]
    changed = {**spec, "topologySpreadConstraints": [*others, *made]}
    if apart:
        changed["affinity"] = _apart(fields(spec.get("affinity")), fields(workload.selector), apart)
    return {**template, "spec": changed}


def _apart(affinity: Plain, selector: Plain, keys: Sequence[str]) -> Plain:
    """Return an affinity that keeps the pods of one workload apart."""
    anti = fields(affinity.get("podAntiAffinity"))
    terms = list(anti.get(REQUIRED) or ())
    known = {item.get("topologyKey") for item in terms}
    terms += [{"topologyKey": key, "labelSelector": selector} for key in keys if key not in known]
    return {**affinity, "podAntiAffinity": {**anti, REQUIRED: terms}}


def plain_constraint(item: Hard, selector: Plain, *, is_stateful: bool = False) -> Plain:
    """Return a hard constraint as a field of a manifest."""
    made: Plain = {
        "maxSkew": item.max_skew,
        "topologyKey": item.topology_key,
        "whenUnsatisfiable": DO_NOT_SCHEDULE,
        "labelSelector": selector,
    }
    if item.min_domains:
        made["minDomains"] = item.min_domains
    if item.honors_taints:
        made["nodeTaintsPolicy"] = "Honor"
    if item.by_revision and not is_stateful:
        made["matchLabelKeys"] = [POD_TEMPLATE_HASH]
    return made


def soft_constraint(key: str, selector: Plain) -> Plain:
    """Return a constraint that spreads the pods as evenly as the hard ones allow."""
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": SCHEDULE_ANYWAY,
        "labelSelector": selector,
    }


def common_selector(members: Sequence[Member]) -> Plain:
    """Return a selector of all pods of the group: of a constraint, or by the labels that all of them have."""
    templates = [item.controller.workload.template for item in members]
    labels = [fields(fields(item.get("metadata")).get("labels")) for item in templates]
    for equal in _selected_labels(templates):
        if all(equal.items() <= item.items() for item in labels):
            return {"matchLabels": dict(equal)}
    own = fields(fields(members[0].controller.workload.selector).get("matchLabels"))
    if len(members) == 1 and own:
        return {"matchLabels": dict(own)}
    common = {key: value for key, value in labels[0].items() if all(item.get(key) == value for item in labels)}
    return {"matchLabels": common} if common else {}


def _selected_labels(templates: Iterable[Plain]) -> Iterator[Plain]:
    """Yield the `matchLabels` of each constraint whose selector has nothing else."""
    for template in templates:
        for constraint in fields(template.get("spec")).get("topologySpreadConstraints") or ():
            selector = fields(constraint.get("labelSelector"))
            if fields(selector.get("matchLabels")) and not selector.get("matchExpressions"):
                yield fields(selector.get("matchLabels"))
