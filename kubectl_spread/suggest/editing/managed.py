"""Tool that manages an object, read from its labels and annotations. It reverts manual changes.

Sources: helm.sh/helm pkg/action/validate.go; argo-cd common/common.go; fluxcd/kustomize-controller and
helm-controller, the labels they set; operator-lifecycle-manager pkg/lib/ownerutil.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Controller

_MANAGED_BY = "app.kubernetes.io/managed-by"
_HELM_RELEASE, _HELM_NAMESPACE = "meta.helm.sh/release-name", "meta.helm.sh/release-namespace"
_ARGO_ID, _ARGO_INSTANCE = "argocd.argoproj.io/tracking-id", "argocd.argoproj.io/instance"
_FLUX = (("Flux Kustomization", "kustomize.toolkit.fluxcd.io"), ("Flux HelmRelease", "helm.toolkit.fluxcd.io"))
_OLM_OWNER, _OLM_KIND, _OLM_NAMESPACE = "olm.owner", "olm.owner.kind", "olm.owner.namespace"
_BY_HAND = frozenset({"", "kubectl", "manual", "kustomize"})


class Manager(NamedTuple):
    """Tool that manages an object: a Helm release, an Argo CD Application or an operator's own object."""

    tool: str
    name: str = ""
    namespace: str = ""


def manager_of(controller: Optional[Controller]) -> Optional[Manager]:
    """Return the tool that manages a workload; None if no label or annotation names one.

    Of several tools, return the outermost: Flux and Argo CD come before the Helm release that they install.
    """
    if controller is None:
        return None
    labels, annotations = controller.labels, controller.annotations
    return _flux(labels) or _argo(labels, annotations) or _helm(labels, annotations) or _operator(labels)


def _flux(labels: Mapping[str, str]) -> Optional[Manager]:
    for tool, prefix in _FLUX:
        name = labels.get(f"{prefix}/name")
        if name:
            return Manager(tool, name, labels.get(f"{prefix}/namespace", ""))
    return None


def _argo(labels: Mapping[str, str], annotations: Mapping[str, str]) -> Optional[Manager]:
    """Return the Argo CD Application of an object.

    The tracking id is `app:group/Kind:namespace/name`. An application outside Argo's namespace is `namespace_app`.
    """
    name = annotations.get(_ARGO_ID, "").partition(":")[0] or labels.get(_ARGO_INSTANCE, "")
    namespace, _, app = name.rpartition("_")
    return Manager("Argo CD Application", app, namespace) if app else None


def _helm(labels: Mapping[str, str], annotations: Mapping[str, str]) -> Optional[Manager]:
    name = annotations.get(_HELM_RELEASE, "")
    if not name and labels.get(_MANAGED_BY) not in ("Helm", "Tiller"):
        return None
    return Manager("Helm release", name or labels.get("release", ""), annotations.get(_HELM_NAMESPACE, ""))


def _operator(labels: Mapping[str, str]) -> Optional[Manager]:
    if labels.get(_OLM_OWNER):
        return Manager(labels.get(_OLM_KIND, "operator"), labels[_OLM_OWNER], labels.get(_OLM_NAMESPACE, ""))
    if labels.get("addonmanager.kubernetes.io/mode") == "Reconcile":
        return Manager("addon manager")
    by = labels.get(_MANAGED_BY, "")
    return None if by.lower() in _BY_HAND else Manager(by)
