"""Kinds that commands act on: their words and names, and the objects of each kind in a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Cluster, DisruptionBudget
from kubectl_spread.kubectl.parsing import StepError
from kubectl_spread.objects.admission import amount_text
from kubectl_spread.objects.keys import NamespacedName, ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.selectors import Labels
from kubectl_spread.objects.storage import Volume
from kubectl_spread.objects.workloads.kinds import find_kind, KINDS
from kubectl_spread.text.wording import nearest

Plain = dict[str, Any]

_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


def _volume(volume: Volume) -> Plain:
    claim = volume.claim
    return {"claimRef": None if claim is None else {**claim._asdict(), "uid": volume.claim_uid}}


def _node(node: Node) -> Plain:
    taints = [
        {"key": taint.key, "effect": taint.effect, **({"value": taint.value} if taint.value else {})}
        for taint in node.taints
    ]
    return {"taints": taints or None, "unschedulable": node.unschedulable or None}


def _budget(budget: DisruptionBudget) -> Plain:
    return {
        "minAvailable": budget.min_available,
        "maxUnavailable": budget.max_unavailable,
        "unhealthyPodEvictionPolicy": budget.unhealthy_policy or None,
    }


class OtherKind(NamedTuple):
    """A kind without a pod template that commands may name.

    full_name: in messages, with the group. short: its short name in commands. field: where a Cluster has the objects.
    has_labels: whether they have their labels there. patched: the fields that a patch can change; without any, patches
    are not simulated. spec: returns these fields as in the spec of the API object; None for those that are not set.
    """

    full_name: str
    short: str
    field: str
    is_cluster_wide: bool = False
    has_labels: bool = False
    patched: tuple[str, ...] = ()
    spec: Callable[[Any], Plain] = lambda _: {}


OTHERS = {
    "Node": OtherKind("nodes", "no", "nodes", True, True, ("labels", "taints", "unschedulable"), _node),
    "PodDisruptionBudget": OtherKind(
        "poddisruptionbudgets.policy",
        "pdb",
        "budgets",
        patched=("min_available", "max_unavailable", "unhealthy_policy"),
        spec=_budget,
    ),
    "Service": OtherKind(
        "services",
        "svc",
        "services",
        patched=("selector",),
        spec=lambda item: {"selector": None if item.selector is None else dict(item.selector)},
    ),
    "PersistentVolumeClaim": OtherKind("persistentvolumeclaims", "pvc", "storage.claims"),
    "PersistentVolume": OtherKind(
        "persistentvolumes", "pv", "storage.volumes", True, True, ("labels", "claim", "claim_uid"), _volume
    ),
    "StorageClass": OtherKind(
        "storageclasses.storage.k8s.io",
        "sc",
        "storage.classes",
        is_cluster_wide=True,
        patched=("is_default",),
    ),
    "HorizontalPodAutoscaler": OtherKind(
        "horizontalpodautoscalers.autoscaling",
        "hpa",
        "autoscalers",
        patched=("min_replicas", "max_replicas"),
        spec=lambda item: {"minReplicas": item.min_replicas, "maxReplicas": item.max_replicas},
    ),
    "PriorityClass": OtherKind("priorityclasses.scheduling.k8s.io", "pc", "priority_classes", is_cluster_wide=True),
    "LimitRange": OtherKind("limitranges", "limits", "limit_ranges"),
    "ResourceQuota": OtherKind(
        "resourcequotas",
        "quota",
        "quotas",
        patched=("hard",),
        spec=lambda item: {"hard": {name: amount_text(name, amount) for name, amount in item.hard.items()}},
    ),
    "Namespace": OtherKind("namespaces", "ns", "namespaces", is_cluster_wide=True, has_labels=True),
}
_WORDS = {kind: (kind.lower(), item.full_name.partition(".")[0], item.short) for kind, item in OTHERS.items()}
CLUSTER_WIDE = frozenset(kind for kind, item in OTHERS.items() if item.is_cluster_wide)

# Words for kinds that never affect pods directly.
_IDLE = frozenset(
    (
        *("configmap", "configmaps", "cm", "secret", "secrets", "ingress", "ingresses", "ing"),
        *("serviceaccount", "serviceaccounts", "sa", "role", "roles", "rolebinding", "rolebindings"),
        *("endpoints", "ep", "event", "events", "ev", "lease", "leases", "networkpolicy", "networkpolicies", "netpol"),
    )
)
# Words for kinds that are simulated only as manifests that are applied.
_UNSIMULATED = frozenset(("runtimeclass", "runtimeclasses"))


def full_name(kind: str) -> str:
    """Return a kind as the API server names it in messages: `deployments.apps`."""
    if kind in OTHERS:
        return OTHERS[kind].full_name
    entry = KINDS[kind]
    group = min(entry.groups, default="")
    return f"{entry.names[1]}.{group}" if group else entry.names[1]


def kind_of(word: str) -> str:
    """Return the kind for a word.

    Raises:
        StepError: it does not exist, or never affects pods.
    """
    name, _, group = word.lower().partition(".")
    for kind, words in _WORDS.items():
        own = OTHERS[kind].full_name.partition(".")[2]
        if name in words and (not group or (own and group.endswith(own))):
            return kind
    workload_kind = find_kind(word)
    if workload_kind is not None and workload_kind != "PodTemplate":
        return workload_kind
    if word.lower().partition(".")[0] in _IDLE:
        raise StepError(f"changes of {word} never move a pod, so there is nothing to simulate")
    if word.lower().partition(".")[0] in _UNSIMULATED:
        raise StepError(f"changes of {word} by name are not simulated; use `apply -f` with a manifest")
    known = [name for words in _WORDS.values() for name in words]
    known += [name for entry in KINDS.values() for name in entry.names]
    near = nearest(word.lower(), known)
    raise StepError(
        f'the server doesn\'t have a resource type "{word}"' + (f"; did you mean `{near}`?" if near else "")
    )


def records(kind: str, cluster: Cluster) -> dict[ObjectKey, Any]:
    """Return the objects of a kind: pods, workloads, nodes and the others as the cluster has them.

    A namespace is its labels. Namespaces that are only named by pods and workloads exist, too.
    """
    if kind not in OTHERS and kind != "Pod":
        return {key: item for key, item in sorted(cluster.controllers.items()) if key.kind == kind}
    stored = _stored(kind, cluster)
    if not isinstance(stored, dict):
        return {_key(kind, None, item): item for item in stored}
    found = {_key(kind, at, item): item for at, item in stored.items()}
    if kind == "Namespace":
        used = {pod.namespace for pod in cluster.pods} | {key.namespace for key in cluster.controllers}
        found |= {ObjectKey(kind, "", name): {} for name in sorted(used - cluster.namespaces.keys())}
    return found


def with_records(kind: str, cluster: Cluster, changed: Mapping[ObjectKey, Any]) -> Cluster:
    """Return the cluster with objects of a kind added, replaced, or removed where the object is None."""
    stored, field = _stored(kind, cluster), _field(kind)
    after: Any
    if isinstance(stored, dict):
        named = {_key(kind, at, item): at for at, item in stored.items()}
        every = stored | {named.get(key, key.name): item for key, item in changed.items()}
        after = {at: item for at, item in every.items() if item is not None}
    else:
        every = {_key(kind, None, item): item for item in stored} | dict(changed)
        after = tuple(item for item in every.values() if item is not None)
        after = tuple(sorted(after, key=lambda node: node.name)) if kind == "Node" else after
    holder, _, inner = field.partition(".")
    return cluster._replace(**{holder: getattr(cluster, holder)._replace(**{inner: after}) if inner else after})


def labels_of(record: Any) -> Labels:
    """Return the labels of an object of `records`; none if they are not read."""
    if isinstance(record, dict):
        return record
    return getattr(record, "labels", {})


def plain_of(key: ObjectKey, record: Any) -> Plain:
    """Return the fields of an object that a patch can change, as an API object."""
    spec = {field: value for field, value in OTHERS[key.kind].spec(record).items() if value is not None}
    annotations = {_DEFAULT_CLASS: str(record.is_default).lower()} if key.kind == "StorageClass" else {}
    metadata = {"labels": dict(labels_of(record)), "annotations": annotations, "name": key.name}
    metadata |= {"namespace": key.namespace} if key.namespace else {}
    return {"apiVersion": "v1", "kind": key.kind, "metadata": metadata, "spec": spec}


def _field(kind: str) -> str:
    return "pods" if kind == "Pod" else OTHERS[kind].field


def _stored(kind: str, cluster: Cluster) -> Any:
    found: Any = cluster
    for name in _field(kind).split("."):
        found = getattr(found, name)
    return found


def _key(kind: str, at: Optional[Any], item: Any) -> ObjectKey:
    """Return the key of an object from its place in the cluster."""
    if at is None:
        return ObjectKey(kind, getattr(item, "namespace", ""), item.name)
    if isinstance(at, ObjectKey):  # of the workload that an autoscaler scales
        return ObjectKey(kind, at.namespace, item.name)
    return ObjectKey(kind, *at) if isinstance(at, NamespacedName) else ObjectKey(kind, "", at)
