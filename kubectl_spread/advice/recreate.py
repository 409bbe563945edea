"""Pod specs reconstructed from the fields that the scheduler reads, and pods as a controller would create them again.

A spec serves pods whose manifest is not in the cluster facts. It has the fields that a change may edit: constraints,
affinity, node selector and tolerations. Reading it yields the same values. A re-created pod takes only the changed
fields from the template. It keeps all others, such as the ones from admission and the claims of its ordinal.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.node import DEFAULT_TOLERATIONS
from kubectl_spread.objects.pod import differences, Owner, Pod, PodClass
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.reading.plain import fields, Plain
from kubectl_spread.objects.resources import CPU, PODS
from kubectl_spread.objects.selectors import (
    LabelRequirement,
    NodeSelectorTerm,
    PodAffinityTerm,
    REGION,
    Selector,
    WeightedTerm,
    ZONE,
)
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.objects.workloads.workload import REVISION_LABELS

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def spec_of(cls: PodClass) -> Plain:
    """Return the editable fields of the spec of a pod of this class."""
    node = cls.node_affinity
    required = None if node.required is None else {"nodeSelectorTerms": [_node_term(term) for term in node.required]}
    preferred = [{"weight": item.weight, "preference": _node_term(item.term)} for item in node.preferred]
    return _without_empty(
        {
            "topologySpreadConstraints": [_constraint(item, dict(cls.labels)) for item in cls.constraints],
            "nodeSelector": dict(cls.node_selector),
            "affinity": _without_empty(
                {
                    "nodeAffinity": _given(**{REQUIRED: required, PREFERRED: preferred or None}),
                    "podAffinity": _pod_affinity(cls, cls.pod_affinity, cls.preferred_affinity),
                    "podAntiAffinity": _pod_affinity(cls, cls.pod_anti_affinity, cls.preferred_anti_affinity),
                }
            ),
            # Admission adds the others to every pod.
            "tolerations": [
                _without_empty(item._asdict()) for item in cls.tolerations if item not in DEFAULT_TOLERATIONS
            ],
        }
    )


def whole_spec_of(cls: PodClass) -> Plain:
    """Return a spec that reads as the class: its editable fields, requests, ports and volumes."""
    requests = {name: f"{amount}m" if name == CPU else str(amount) for name, amount in cls.requests if name != PODS}
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
            labelSelector=None
            if selector is None
            else _without_empty(
                {
                    "matchLabels": dict(selector.match_labels),
                    "matchExpressions": _expressions(selector.match_expressions),
                }
            ),
            matchLabelKeys=list(constraint.match_label_keys) or None,
            minDomains=constraint.min_domains,
            nodeAffinityPolicy=constraint.node_affinity_policy,
            nodeTaintsPolicy=constraint.node_taints_policy,
        ),
    }


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


def recreation(
    before: Plain,
    after: Plain,
    *,
    labels: dict[str, str],
    owner: Optional[Owner] = None,
    priority: Optional[int] = None,
) -> Callable[[Pod], Pod]:
    """Return the change of a pod spec, as applied to pods. Pods of one class stay in one class.

    A re-created pod has neither a nominated node nor a message of the scheduler.

    Args:
        before: the old pod spec.
        after: the new pod spec.
        labels: labels of the new revision, which replace the old ones.
        owner: controller of the new pods; None if it does not change.
        priority: of the new pods; None if it does not change.
    """

    @functools.cache
    def changed(cls: PodClass) -> PodClass:
        own = dict(cls.labels)
        old, new = _read(cls, own, before), _read(cls, own | labels, after)
        touched = {name: getattr(new, name) for name in differences(old, new)}
        if priority is not None:
            touched |= {"priority": priority, "preemption_policy": ""}
        if new.tolerations != old.tolerations:
            added = [item for item in cls.tolerations if item not in old.tolerations]
            touched["tolerations"] = (*new.tolerations, *added)
        if own | labels != own and any(item.match_label_keys for item in new.constraints):
            touched["constraints"] = new.constraints  # A stored pod's constraints select its own revision.
        return cls._replace(labels=tuple(sorted((own | labels).items())), owner=owner or cls.owner, **touched)

    return lambda pod: pod._replace(cls=changed(pod.cls), nominated_node="", message="", reason="")


def _read(cls: PodClass, labels: dict[str, str], spec: Plain) -> PodClass:
    return read.pod_class(cls.namespace, {"labels": labels}, spec, {})


def recreated_pod(pod: Pod, cluster: Cluster) -> Optional[Pod]:
    """Return the replacement that a controller creates for a deleted pod; None for a pod without a controller.

    It is created from the controller's current template, which may differ from the old pod's.
    """
    if pod.owner is None or pod.owner.kind == "Node":  # The kubelet of a node creates its mirror pods.
        return None
    cls = current_class(pod, cluster)
    labels = tuple(item for item in cls.labels if item[0] not in (ZONE, REGION))
    if labels != cls.labels:
        cls = cls._replace(labels=labels)
    return pod._replace(
        cls=cls,
        uid=f"{pod.uid}/recreated",
        node_name="",
        nominated_node="",
        phase="Pending",
        terminating=False,
        finalizers=(),
        message="",
        reason="",
    )


def current_class(pod: Pod, cluster: Cluster) -> PodClass:
    """Return the class of the pods that a pod's controller creates now; the pod's own if the template is unchanged.

    Fields that the template lacks, such as fields added by admission, are copied from the pod.
    """
    cls, key = pod.cls, pod.owner_key
    known = None if key is None else cluster.controllers.get(key)
    spec = {} if known is None else known.workload.pod_spec
    if key is None or key.kind not in KINDS or not spec.get("containers"):  # The cluster facts lack the template.
        return cls
    made = _read(cls, dict(cls.labels), spec)
    changed = _changed_fields(cls, made, is_daemon=key.kind == "DaemonSet")
    if "requests" in changed:
        changed |= {"nonzero": made.nonzero, "scored": made.scored}
    return cls._replace(**changed) if changed else cls


def is_made_of(pod: Pod, spec: Plain) -> bool:
    """Return whether a pod looks as if it was created from a pod spec, in the fields that the scheduler reads."""
    made = _read(pod.cls, pod.labels, spec)
    is_same = pod.cls.node_selector == made.node_selector and pod.cls.images == made.images
    return is_same and not _changed_fields(pod.cls, made, is_daemon=False)


def _changed_fields(cls: PodClass, made: PodClass, *, is_daemon: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    written, now = spec_of(cls), spec_of(made)
    own = dict(cls.requests)  # Resources that the template does not name may be defaults of admission.
    if any(own.get(name) != amount for name, amount in made.requests if amount):
        found["requests"] = made.requests
    if not set(made.tolerations) <= set(cls.tolerations):
        added = [item for item in cls.tolerations if item in DEFAULT_TOLERATIONS and item not in made.tolerations]
        found["tolerations"] = (*made.tolerations, *added)
    if made.host_ports != cls.host_ports:
        found["host_ports"] = made.host_ports
    if not set(made.node_selector) <= set(cls.node_selector):
        found["node_selector"] = made.node_selector
    if written.get("topologySpreadConstraints") != now.get("topologySpreadConstraints"):
        found["constraints"] = made.constraints
    of_pods = [fields(item, "affinity") for item in (written, now)]
    if any(of_pods[0].get(name) != of_pods[1].get(name) for name in ("podAffinity", "podAntiAffinity")):
        found |= {"pod_affinity": made.pod_affinity, "pod_anti_affinity": made.pod_anti_affinity}
    if not is_daemon and made.node_affinity != cls.node_affinity:
        found["node_affinity"] = made.node_affinity
    return found
