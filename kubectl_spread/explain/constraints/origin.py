"""Where a constraint is written, and what gave it its selector."""

from __future__ import annotations

from typing import Any
from typing import NamedTuple
from typing import Optional

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.explain.requirements.pod_affinity import owner_of
from kubectl_spread.explain.wording import listed
from kubectl_spread.objects.constraint import TopologySpreadConstraint
from kubectl_spread.objects.plain import mappings
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import selecting_owner
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import selecting_services

# Fields of a constraint that are compared with the template's, and what stands for none given.
_FIELDS = {"maxSkew": None, "minDomains": None, "nodeAffinityPolicy": "Honor", "nodeTaintsPolicy": "Ignore"}

Plain = dict[str, Any]


class Origin(NamedTuple):
    """`text` says who has the constraint; `selector_from` the objects that a default constraint's selector is of.

    `merged` are the labels that matchLabelKeys put into the selector, and that nobody wrote there; `absent` the keys of
    it that the pod has no label for.
    """

    text: str = ""
    selector_from: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


def origin_of(
    constraint: TopologySpreadConstraint, cls: PodClass, columns: Columns, *, is_built_in: bool = False
) -> Origin:
    """Of a constraint of the pod, or a default one where the pod has none; `is_built_in`: nobody configured that."""
    if not cls.constraints:
        services = [f"Service {service.name}" for service in selecting_services(cls, columns)]
        owner = selecting_owner(cls)
        known = owner is not None and owner in columns.cluster.owner_selectors
        sources = (*services, *([f"{owner.kind} {owner.name}"] if owner is not None and known else []))
        where = "built into the scheduler" if is_built_in else "defaultConstraints in the scheduler's configuration"
        text = f"a cluster default ({where}), as the pod has none"
        return Origin(f"{text}; its selector is that of {listed(sources)}", sources)
    labels = dict(cls.labels)
    merged = tuple(f"{key}={labels[key]}" for key in constraint.match_label_keys if key in labels)
    absent = tuple(key for key in constraint.match_label_keys if key not in labels)
    return Origin(_of_pod(constraint, cls, columns), (), merged, absent)


def _of_pod(constraint: TopologySpreadConstraint, cls: PodClass, columns: Columns) -> str:
    owner = owner_of(cls, columns)
    if not owner:
        return "the pod"
    template = _template(cls, columns)
    if template is None:
        return f"the pod, as {owner} makes it"
    written = [
        item
        for item in mappings((template.get("spec") or {}).get("topologySpreadConstraints"))
        if (item.get("topologyKey"), item.get("whenUnsatisfiable"))
        == (constraint.topology_key, constraint.when_unsatisfiable)
    ]
    if not written:
        return f"the pod; the template of {owner} has none for this key now"
    changed = _changed(constraint, written[0])
    text = f"the template of {owner}"
    return f"{text}, which says {', '.join(changed)} now: this pod was made before" if changed else text


def _template(cls: PodClass, columns: Columns) -> Optional[Plain]:
    """The pod template of the workload, where the cluster facts have it."""
    if cls.owner is None:
        return None
    key = OwnerKey(cls.owner.kind, cls.namespace, cls.owner.name)
    controller = columns.cluster.controllers.get(columns.cluster.owners.get(key, key))
    return None if controller is None else controller.workload.template


def _changed(constraint: TopologySpreadConstraint, written: Plain) -> list[str]:
    own = {
        "maxSkew": constraint.max_skew,
        "minDomains": constraint.min_domains,
        "nodeAffinityPolicy": constraint.node_affinity_policy,
        "nodeTaintsPolicy": constraint.node_taints_policy,
    }
    return [
        f"{field} {written.get(field) or default or 'not set'}"
        for field, default in _FIELDS.items()
        if (written.get(field) or default) != (own[field] or default)
    ]
