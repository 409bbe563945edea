"""Words and names of the kinds that commands act on."""

from __future__ import annotations

from kubectl_spread.kubectl.parsing import StepError
from kubectl_spread.objects.workloads.kinds import find_kind, KINDS
from kubectl_spread.text.wording import nearest

# Kinds without a pod template that commands may name: words, and the full name in messages.
OTHERS = {
    "Node": (("node", "nodes", "no"), "nodes"),
    "PodDisruptionBudget": (("poddisruptionbudget", "poddisruptionbudgets", "pdb"), "poddisruptionbudgets.policy"),
    "Service": (("service", "services", "svc"), "services"),
    "PersistentVolumeClaim": (("persistentvolumeclaim", "persistentvolumeclaims", "pvc"), "persistentvolumeclaims"),
    "PersistentVolume": (("persistentvolume", "persistentvolumes", "pv"), "persistentvolumes"),
    "StorageClass": (("storageclass", "storageclasses", "sc"), "storageclasses.storage.k8s.io"),
    "HorizontalPodAutoscaler": (
        ("horizontalpodautoscaler", "horizontalpodautoscalers", "hpa"),
        "horizontalpodautoscalers.autoscaling",
    ),
    "PriorityClass": (("priorityclass", "priorityclasses", "pc"), "priorityclasses.scheduling.k8s.io"),
    "LimitRange": (("limitrange", "limitranges", "limits"), "limitranges"),
    "ResourceQuota": (("resourcequota", "resourcequotas", "quota"), "resourcequotas"),
    "Namespace": (("namespace", "namespaces", "ns"), "namespaces"),
}
CLUSTER_WIDE = frozenset({"Node", "PersistentVolume", "StorageClass", "PriorityClass", "Namespace"})

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
        return OTHERS[kind][1]
    entry = KINDS[kind]
    group = min(entry.groups, default="")
    return f"{entry.names[1]}.{group}" if group else entry.names[1]


def kind_of(word: str) -> str:
    """Return the kind for a word.

    Raises:
        StepError: it does not exist, or never affects pods.
    """
    for kind, (words, full) in OTHERS.items():
        if word.lower() in (*words, full):
            return kind
    found = find_kind(word)
    if found is not None and found != "PodTemplate":
        return found
    if word.lower().partition(".")[0] in _IDLE:
        raise StepError(f"changes of {word} never move a pod, so there is nothing to simulate")
    if word.lower().partition(".")[0] in _UNSIMULATED:
        raise StepError(f"changes of {word} by name are not simulated; use `apply -f` with a manifest")
    known = [*(name for words, _ in OTHERS.values() for name in words)]
    known += [name for entry in KINDS.values() for name in entry.names]
    near = nearest(word.lower(), known)
    raise StepError(
        f'the server doesn\'t have a resource type "{word}"' + (f"; did you mean `{near}`?" if near else "")
    )
