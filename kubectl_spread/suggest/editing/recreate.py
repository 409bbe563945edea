"""Pods as a controller would create them from a changed template.

Only the changed fields are taken from the template. A pod keeps all others: the ones from admission, the claims of its
ordinal, its controller's labels. So no field is lost if the template is only partly known.
"""

from __future__ import annotations

from typing import Any, Optional

from kubectl_spread.cluster.snapshot import Cluster, OwnerKey
from kubectl_spread.objects.pod import Owner, Pod, PodClass
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.taints import DEFAULT_TOLERATIONS
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.suggest.editing.pod_spec import spec_of

Plain = dict[str, Any]

_FIELDS = (
    "requests",
    "nonzero",
    "scored",
    "node_selector",
    "node_affinity",
    "pod_affinity",
    "pod_anti_affinity",
    "preferred_affinity",
    "preferred_anti_affinity",
    "constraints",
    "host_ports",
    "volumes",
)


class Recreation:
    """Change of a pod spec that is applied to pods. Pods of one class stay in one class."""

    def __init__(
        self,
        before: Plain,
        after: Plain,
        *,
        labels: dict[str, str],
        owner: Optional[Owner] = None,
        priority: Optional[int] = None,
    ) -> None:
        """Store the change without reading it yet.

        Args:
            before: the old pod spec.
            after: the new pod spec.
            labels: labels of the new revision, which replace the old ones.
            owner: controller of the new pods; None if it does not change.
            priority: of the new pods; None if it does not change.
        """
        self._priority = priority
        self._before, self._after = before, after
        self._labels, self._owner = labels, owner
        self._known: dict[PodClass, PodClass] = {}

    def pod(self, pod: Pod) -> Pod:
        """Return the re-created pod, without a nominated node or a message of the scheduler."""
        found = self._known.get(pod.cls)
        if found is None:
            found = self._known[pod.cls] = self._changed(pod.cls)
        return pod._replace(cls=found, nominated_node="", message="", reason="")

    def _changed(self, cls: PodClass) -> PodClass:
        labels = {**dict(cls.labels), **self._labels}
        old = _read(cls, dict(cls.labels), self._before)
        new = _read(cls, labels, self._after)
        touched = {field: getattr(new, field) for field in _FIELDS if getattr(new, field) != getattr(old, field)}
        if self._priority is not None:
            touched |= {"priority": self._priority, "preemption_policy": ""}
        if new.tolerations != old.tolerations:
            added = [item for item in cls.tolerations if item not in old.tolerations]
            touched["tolerations"] = (*new.tolerations, *added)
        if labels != dict(cls.labels) and any(item.match_label_keys for item in new.constraints):
            touched["constraints"] = new.constraints  # A stored pod's constraints select its own revision.
        return cls._replace(labels=tuple(sorted(labels.items())), owner=self._owner or cls.owner, **touched)


def _read(cls: PodClass, labels: dict[str, str], spec: Plain) -> PodClass:
    return read.pod_class(cls.namespace, {"labels": labels}, spec, {})


def recreated_pod(pod: Pod, cluster: Cluster) -> Optional[Pod]:
    """Return the replacement that a controller creates for a deleted pod; None for a pod without a controller.

    It is created from the controller's current template, which may differ from the old pod's.
    """
    if pod.owner is None or pod.owner.kind in _NEVER_AGAIN:
        return None
    cls = current_class(pod, cluster)
    labels = tuple(item for item in cls.labels if item[0] not in _OF_ITS_NODE)
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


_NEVER_AGAIN = ("Node",)  # The kubelet of a node creates its mirror pods.
_OF_ITS_NODE = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
# Fields that a template may change in a waiting pod. Additions by admission are not changes.
_COMPARED = (
    "requests",
    "node_selector",
    "node_affinity",
    "pod_affinity",
    "pod_anti_affinity",
    "tolerations",
    "constraints",
    "host_ports",
)


def current_class(pod: Pod, cluster: Cluster) -> PodClass:
    """Return the class of the pods that a pod's controller creates now; the pod's own if the template is unchanged.

    Fields that the template lacks, such as fields added by admission, are copied from the pod.
    """
    cls, owner = pod.cls, pod.owner
    known = None if owner is None else cluster.controllers.get(OwnerKey(owner.kind, pod.namespace, owner.name))
    if known is None or owner is None or owner.kind not in KINDS:
        return cls
    spec = known.workload.template.get("spec") or {}
    if not spec.get("containers"):  # The cluster facts lack the template.
        return cls
    made = _read(cls, dict(cls.labels), spec)
    changed = _changed_fields(cls, made, is_daemon=owner.kind == "DaemonSet")
    if not changed:
        return cls
    if "requests" in changed:
        changed |= {"nonzero": made.nonzero, "scored": made.scored}
    return cls._replace(**changed)


def _changed_fields(cls: PodClass, made: PodClass, *, is_daemon: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    written, now = spec_of(cls), spec_of(made)
    if _is_other_request(cls, made):
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
    of_pods = [fields(item.get("affinity")) for item in (written, now)]
    if any(of_pods[0].get(name) != of_pods[1].get(name) for name in ("podAffinity", "podAntiAffinity")):
        found |= {"pod_affinity": made.pod_affinity, "pod_anti_affinity": made.pod_anti_affinity}
    if not is_daemon and made.node_affinity != cls.node_affinity:
        found["node_affinity"] = made.node_affinity
    return found


def _is_other_request(cls: PodClass, made: PodClass) -> bool:
    """Return whether the template requests another amount of a resource.

    Resources that it does not name are ignored, because admission may add defaults.
    """
    own = dict(cls.requests)
    return any(own.get(name) != amount for name, amount in made.requests if amount)


def differences(old: PodClass, new: PodClass) -> list[str]:
    """Return the names of the fields from the template in which two classes differ."""
    return [field for field in _COMPARED if getattr(old, field) != getattr(new, field)]
