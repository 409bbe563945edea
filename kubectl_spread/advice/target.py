"""Targets of a change of a pod's manifest: patch (RFC 6902), kubectl commands, and the tool that would revert it.

Sources for managing tools: helm.sh/helm pkg/action/validate.go; argo-cd common/common.go;
fluxcd/kustomize-controller and helm-controller, the labels they set; operator-lifecycle-manager pkg/lib/ownerutil.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Controller
from kubectl_spread.kubectl.merging import json_patch
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.text.node import Route

Plain = dict[str, Any]

# Kinds that do not replace waiting pods automatically when the template changes.
_KEEP_THEIR_PODS = frozenset({"ReplicaSet", "ReplicationController", "StatefulSet"})
_LEAVE_THEIR_PODS = frozenset({"ReplicaSet", "ReplicationController"})
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

    def under(self, prefix: Route) -> Op:
        """Return the operation for an object that contains this one under the prefix."""
        return self._replace(path=(*prefix, *self.path))

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

    @property
    def replaces_its_pods(self) -> bool:
        """Return whether a change of the template replaces the running pods."""
        return self.is_live and self.kind not in _LEAVE_THEIR_PODS

    def patch(self, ops: Sequence[Op]) -> list[Plain]:
        """Return the JSON patch of the object for operations on its pod spec."""
        return [op.under(self.spec).document() for op in ops]

    def document(self, ops: Sequence[Op], waiting: Sequence[Pod]) -> list[Plain]:
        """Return a change of the pod spec for programs, one entry per object."""
        own: Plain = self.key._asdict()
        own["patch"] = self.patch(ops)
        if self.is_paused:
            own["patch"].append({"op": "add", "path": "/spec/paused", "value": False})
        if self.is_live and self.kind in _FIXED:
            own["replaced"] = True
        found = [own]
        if self.is_live and self.kind == "CronJob":
            again = {"kind": "Job", "namespace": self.namespace, "recreatedFrom": f"cronjob/{self.name}"}
            found += [{**again, "name": job} for job in self.jobs_of(waiting)]
        if self.is_live and self.kind in _KEEP_THEIR_PODS and waiting:
            pods = [pod.name for pod in waiting]
            found.append({"kind": "Pod", "namespace": self.namespace, "name": pods[0], "deleted": pods})
        return found

    def commands(self, ops: Sequence[Op], waiting: Sequence[Pod]) -> list[str]:
        """Return the command lines that change the pod spec; none if the object is only in a file.

        Args:
            ops: of the pod spec.
            waiting: the target's pods without a node that must be deleted by a command.
        """
        if not self.is_live:
            return []
        patch = self.patch(ops)
        if self.kind in _FIXED:
            again = [("merge", _JOB_AGAIN)] if self.kind == "Job" else []  # without its controller's fields
            return [recreate_command(self.resource, self.name, self.namespace, [("json", patch), *again])]
        rest = ("--type=json", "-p", compact(patch))
        lines = [command("patch", self.resource, self.name, namespace=self.namespace, rest=rest)]
        if self.is_paused:
            lines.append(command("rollout", "resume", self.display_name, namespace=self.namespace))
        if self.kind in _KEEP_THEIR_PODS and waiting:
            names = [pod.name for pod in waiting]
            lines.append(command("delete", "pod", *names, namespace=self.namespace))
        if self.kind == "CronJob":
            for job in self.jobs_of(waiting):
                lines.append(command("delete", "job", job, namespace=self.namespace))
                source = (f"--from=cronjob/{self.name}",)
                lines.append(command("create", "job", job, namespace=self.namespace, rest=source))
        return lines

    def jobs_of(self, waiting: Sequence[Pod]) -> list[str]:
        """Return the names of a CronJob's Jobs that have waiting pods."""
        jobs = (pod.owner.name for pod in waiting if pod.owner is not None and pod.owner.kind == "Job")
        return list(dict.fromkeys(jobs))


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


def recreate_command(resource: str, name: str, namespace: str = "", patches: Iterable[tuple[str, Any]] = ()) -> str:
    """Return the command line that deletes an object and creates it again, with patches, each with its type."""
    edits = [
        command("patch", "--local", "-f", "-", f"--type={kind}", "-o", "json", "-p", compact(patch))
        for kind, patch in patches
    ]
    get = command("get", resource, name, namespace=namespace, rest=("-o", "json"))
    return " | ".join([get, *edits, "kubectl replace --force -f -"])


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
