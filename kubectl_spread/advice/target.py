"""Targets of a change of a pod's manifest: patch (RFC 6902), kubectl commands, and the tool that would revert it.

Sources for managing tools: helm.sh/helm pkg/action/validate.go; argo-cd common/common.go;
fluxcd/kustomize-controller and helm-controller, the labels they set; operator-lifecycle-manager pkg/lib/ownerutil.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Controller
from kubectl_spread.kubectl.merging import json_patch
from kubectl_spread.objects.admission import amount_text, Quantities
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading.plain import Plain
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.text.node import Route

# Kinds that do not replace waiting pods automatically when the template changes.
KEEPING_PODS = frozenset({"ReplicaSet", "ReplicationController", "StatefulSet"})
LEAVE_THEIR_PODS = frozenset({"ReplicaSet", "ReplicationController"})
# Kinds whose template or pod is immutable.
_FIXED = frozenset({"Pod", "Job"})
_RESOURCES = {"Service": "services.serving.knative.dev", "StatefulSet": "statefulset"}


ADD, REMOVE, TEST = "add", "remove", "test"
END = "-"  # Last step of a path; it appends to a list.


class Op(NamedTuple):
    """A single operation; `add` replaces an existing field."""

    op: str
    path: Route
    value: Any = None

    def document(self) -> Plain:
        """Return the operation as a JSON Patch object."""
        document: Plain = {"op": self.op, "path": pointer(self.path)}
        return document if self.op == REMOVE else {**document, "value": self.value}


def put_op(path: Route, value: Any) -> Op:
    """Return the operation that sets a field, whether it exists or not; its parent must exist."""
    return Op(ADD, path, value)


def drop(path: Route) -> Op:
    """Return the operation that removes an existing field."""
    return Op(REMOVE, path)


def test(path: Route, value: Any) -> Op:
    """Return the operation that makes the patch fail if the value differs."""
    return Op(TEST, path, value)


def pointer(path: Route) -> str:
    """Return the path as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def edited(spec: Plain, ops: Iterable[Op]) -> Plain:
    """Return a spec after all operations, in order.

    Raises:
        ValueError: an operation does not fit the spec, or a test fails.
    """
    return json_patch(spec, [op.document() for op in ops])


class TemplateOwner(NamedTuple):
    """An object that holds the template of a pod.

    is_live: the object is in the cluster, so kubectl can change it; otherwise its manifest file is edited. is_guessed:
    its name was derived from the name of the pod's ReplicaSet. is_paused: a Deployment whose rollouts are paused.
    """

    kind: str
    namespace: str
    name: str
    spec: Route
    is_live: bool
    is_guessed: bool = False
    is_paused: bool = False

    @property
    def key(self) -> ObjectKey:
        return ObjectKey(self.kind, self.namespace, self.name)

    @property
    def resource(self) -> str:
        return _RESOURCES.get(self.kind, self.kind.lower())

    @property
    def display_name(self) -> str:
        return f"{self.resource}/{self.name}"

    @property
    def ends_its_pods(self) -> bool:
        """Return whether a change of the template ends all running pods at once instead of a rollout."""
        return self.kind in (*_FIXED, "CronJob")

    def written(self, ops: Sequence[Op], waiting: Sequence[Pod]) -> tuple[list[Plain], list[str]]:
        """Return a change of the pod spec for programs, one entry per object, and the command lines that make it.

        There are no command lines if the object is only in a file. `waiting` are the target's pods without a node that
        must be deleted by a command.
        """
        patch = [op._replace(path=(*self.spec, *op.path)).document() for op in ops]
        own: Plain = {**self.key._asdict(), "patch": patch}
        if not self.is_live:
            return [own], []
        if self.kind in _FIXED:
            again = [("merge", _JOB_AGAIN)] if self.kind == "Job" else []  # without its controller's fields
            line = recreate_command(self.resource, self.name, self.namespace, [("json", patch), *again])
            return [{**own, "replaced": True}], [line]
        rest = ("--type=json", "-p", compact(patch))
        documents, lines = [own], [command("patch", self.resource, self.name, namespace=self.namespace, rest=rest)]
        if self.is_paused:
            patch.append(put_op(("spec", "paused"), False).document())
            lines.append(command("rollout", "resume", self.display_name, namespace=self.namespace))
        if self.kind in KEEPING_PODS and waiting:
            names = [pod.name for pod in waiting]
            documents.append({"kind": "Pod", "namespace": self.namespace, "name": names[0], "deleted": names})
            lines.append(command("delete", "pod", *names, namespace=self.namespace))
        owners = (pod.owner for pod in waiting if self.kind == "CronJob")
        for job in dict.fromkeys(owner.name for owner in owners if owner is not None and owner.kind == "Job"):
            source = f"cronjob/{self.name}"
            documents.append({"kind": "Job", "namespace": self.namespace, "recreatedFrom": source, "name": job})
            lines.append(command("delete", "job", job, namespace=self.namespace))
            lines.append(command("create", "job", job, namespace=self.namespace, rest=(f"--from={source}",)))
        return documents, lines


# Labels and selector that only the Job controller may set; null removes a field.
_JOB_LABELS = (
    "controller-uid",
    "job-name",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
)
_JOB_AGAIN: Plain = {
    "metadata": {"labels": dict.fromkeys(_JOB_LABELS)},
    "spec": {"selector": None, "template": {"metadata": {"labels": dict.fromkeys(_JOB_LABELS)}}},
}


def compact(value: Any) -> str:
    """Return a value as JSON without spaces."""
    return json.dumps(value, separators=(",", ":"))


def command(verb: str, *words: str, namespace: str = "", rest: Sequence[str] = ()) -> str:
    """Return a kubectl command line, quoted for a shell."""
    where = ("-n", namespace) if namespace else ()
    return shlex.join(("kubectl", verb, *words, *where, *rest))


def quota_commands(namespace: str, limits: Mapping[str, Quantities]) -> list[str]:
    """Return the commands that give the quotas of a namespace, by name, other limits."""
    lines = []
    for quota, of_quota in limits.items():
        patch = {"spec": {"hard": {name: amount_text(name, most) for name, most in of_quota.items()}}}
        rest = ("--type=merge", "-p", compact(patch))
        lines.append(command("patch", "resourcequota", quota, namespace=namespace, rest=rest))
    return lines


def save_command(pod: str, namespace: str) -> str:
    """Return the command line that writes a pod to a file, as it can be created again on any node."""
    removed = [{"op": "remove", "path": path} for path in ("/spec/nodeName", "/metadata/resourceVersion")]
    return f"{_edited('pod', pod, namespace, [('json', removed)])} > {pod}.json"


def recreate_command(resource: str, name: str, namespace: str = "", patches: Iterable[tuple[str, Any]] = ()) -> str:
    """Return the command line that deletes an object and creates it again, with patches, each with its type."""
    return f"{_edited(resource, name, namespace, patches)} | kubectl replace --force -f -"


def _edited(resource: str, name: str, namespace: str, patches: Iterable[tuple[str, Any]]) -> str:
    """Return the command line that prints an object with patches."""
    edits = [
        command("patch", "--local", "-f", "-", f"--type={kind}", "-o", "json", "-p", compact(patch))
        for kind, patch in patches
    ]
    return " | ".join([command("get", resource, name, namespace=namespace, rest=("-o", "json")), *edits])


def target_of(owner: Workload, *, is_live: bool, is_guessed: bool = False, is_paused: bool = False) -> TemplateOwner:
    """Return the template owner for a workload."""
    kind = KINDS.get(owner.kind)
    if kind is None:  # The path of its template is unknown.
        return TemplateOwner(owner.kind, owner.namespace, owner.name, ("spec", "template", "spec"), is_live=False)
    return TemplateOwner(
        owner.kind, owner.namespace, owner.name, kind.usual_place().spec, is_live, is_guessed, is_paused
    )


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
    for tool, prefix in _FLUX:
        name = labels.get(f"{prefix}/name")
        if name:
            return Manager(tool, name, labels.get(f"{prefix}/namespace", ""))
    # The tracking id is `app:group/Kind:namespace/name`. An application outside Argo's namespace is `namespace_app`.
    name = annotations.get(_ARGO_ID, "").partition(":")[0] or labels.get(_ARGO_INSTANCE, "")
    namespace, _, app = name.rpartition("_")
    if app:
        return Manager("Argo CD Application", app, namespace)
    name, by = annotations.get(_HELM_RELEASE, ""), labels.get(_MANAGED_BY, "")
    if name or by in ("Helm", "Tiller"):
        return Manager("Helm release", name or labels.get("release", ""), annotations.get(_HELM_NAMESPACE, ""))
    if labels.get(_OLM_OWNER):
        return Manager(labels.get(_OLM_KIND, "operator"), labels[_OLM_OWNER], labels.get(_OLM_NAMESPACE, ""))
    if labels.get("addonmanager.kubernetes.io/mode") == "Reconcile":
        return Manager("addon manager")
    return None if by.lower() in _BY_HAND else Manager(by)
