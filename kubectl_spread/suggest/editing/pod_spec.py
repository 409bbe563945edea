"""Pod specs reconstructed from the fields that the scheduler reads.

They serve pods whose manifest is not in the cluster facts. They contain the fields that a change may edit: constraints,
affinity, node selector and tolerations. Reading such a spec yields the same values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Optional

from kubectl_spread.objects.affinity import NodeSelectorTerm, PodAffinityTerm, WeightedTerm
from kubectl_spread.objects.amounts.resources import CPU, PODS
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.selectors.selector import LabelRequirement, LabelSelector, Selector
from kubectl_spread.objects.taints import DEFAULT_TOLERATIONS
from kubectl_spread.objects.workloads.workload import REVISION_LABELS

Plain = dict[str, Any]

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def spec_of(cls: PodClass) -> Plain:
    """Return the editable fields of the spec of a pod of this class."""
    return _without_empty(
        {
            "topologySpreadConstraints": [_constraint(item, dict(cls.labels)) for item in cls.constraints],
            "nodeSelector": dict(cls.node_selector),
            "affinity": _affinity(cls),
            "tolerations": [_without_empty(item._asdict()) for item in own_tolerations(cls)],
        }
    )


def whole_spec_of(cls: PodClass) -> Plain:
    """Return a spec that reads as the class: its editable fields, requests, ports and volumes."""
    requests = {name: _quantity(name, amount) for name, amount in cls.requests if name != PODS}
    ports = [
        {"containerPort": port.port, "hostPort": port.port, "protocol": port.protocol, "hostIP": port.ip}
        for port in cls.host_ports
    ]
    container = {"name": "c", **_without_empty({"resources": _without_empty({"requests": requests}), "ports": ports})}
    claims = [
        {"name": f"v{at}", "persistentVolumeClaim": {"claimName": volume.claim, "readOnly": volume.read_only}}
        for at, volume in enumerate(cls.volumes)
        if volume.claim and not volume.is_ephemeral
    ]
    fixed = _without_empty(
        {
            "volumes": claims,
            "priority": cls.priority,
            "preemptionPolicy": cls.preemption_policy,
            "schedulerName": cls.scheduler_name,
        }
    )
    return {**spec_of(cls), "containers": [container], **fixed}


def _quantity(name: str, amount: int) -> str:
    return f"{amount}m" if name == CPU else str(amount)


def own_tolerations(cls: PodClass) -> list[Any]:
    """Return the tolerations except the ones that admission adds to every pod."""
    return [item for item in cls.tolerations if item not in DEFAULT_TOLERATIONS]


def _constraint(constraint: TopologySpreadConstraint, labels: dict[str, str]) -> Plain:
    """Return a constraint without the selector terms that the API server added for its matchLabelKeys."""
    selector = constraint.label_selector
    if selector is not None:
        added = [LabelRequirement(key, "In", (labels.get(key, ""),)) for key in constraint.match_label_keys]
        written = tuple(item for item in selector.match_expressions if item not in added)
        selector = selector._replace(match_expressions=written)
    return {
        "maxSkew": constraint.max_skew,
        "topologyKey": constraint.topology_key,
        "whenUnsatisfiable": constraint.when_unsatisfiable,
        **_given(
            labelSelector=_label_selector(selector),
            matchLabelKeys=list(constraint.match_label_keys) or None,
            minDomains=constraint.min_domains,
            nodeAffinityPolicy=constraint.node_affinity_policy,
            nodeTaintsPolicy=constraint.node_taints_policy,
        ),
    }


def _label_selector(selector: Optional[LabelSelector]) -> Optional[Plain]:
    if selector is None:
        return None
    return _without_empty(
        {"matchLabels": dict(selector.match_labels), "matchExpressions": _expressions(selector.match_expressions)}
    )


def _affinity(cls: PodClass) -> Plain:
    node = cls.node_affinity
    required = None if node.required is None else {"nodeSelectorTerms": [_node_term(term) for term in node.required]}
    preferred = [{"weight": item.weight, "preference": _node_term(item.term)} for item in node.preferred]
    return _without_empty(
        {
            "nodeAffinity": _given(**{REQUIRED: required, PREFERRED: preferred or None}),
            "podAffinity": _pod_affinity(cls, cls.pod_affinity, cls.preferred_affinity),
            "podAntiAffinity": _pod_affinity(cls, cls.pod_anti_affinity, cls.preferred_anti_affinity),
        }
    )


def _node_term(term: NodeSelectorTerm) -> Plain:
    return _without_empty(
        {"matchExpressions": _expressions(term.match_expressions), "matchFields": _expressions(term.match_fields)}
    )


def _pod_affinity(cls: PodClass, required: Iterable[PodAffinityTerm], preferred: Iterable[WeightedTerm]) -> Plain:
    weighted = [{"weight": item.weight, "podAffinityTerm": _pod_term(item.term, cls)} for item in preferred]
    return _without_empty({REQUIRED: [_pod_term(term, cls) for term in required], PREFERRED: weighted})


def _pod_term(term: PodAffinityTerm, cls: PodClass) -> Plain:
    """Return a pod affinity term as it was written.

    The API server turns matchLabelKeys into a condition on the revision label; this restores it.
    """
    labels = dict(cls.labels)
    own = [LabelRequirement(key, "In", (labels[key],)) for key in REVISION_LABELS if key in labels]
    requirements = term.selector.requirements
    keys = [item.key for item in requirements or () if item in own]
    selector = term.selector if not keys else Selector(tuple(item for item in requirements or () if item not in own))
    namespaces = [] if term.namespaces == (cls.namespace,) else list(term.namespaces)
    return {
        "topologyKey": term.topology_key,
        **_given(
            labelSelector=_selector(selector),
            matchLabelKeys=keys or None,
            namespaces=namespaces or None,
            namespaceSelector=None if term.namespace_selector is None else _selector(term.namespace_selector),
        ),
    }


def _selector(selector: Selector) -> Optional[Plain]:
    if selector.requirements is None:
        return None
    return _without_empty({"matchExpressions": _expressions(selector.requirements)})


def _expressions(requirements: Iterable[LabelRequirement]) -> list[Plain]:
    return [
        {"key": item.key, "operator": item.operator, **({"values": list(item.values)} if item.values else {})}
        for item in requirements
    ]


def _given(**fields: Any) -> Plain:
    return {name: value for name, value in fields.items() if value is not None}


def _without_empty(fields: Plain) -> Plain:
    return {name: value for name, value in fields.items() if value}
