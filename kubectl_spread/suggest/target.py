"""What a change of a pod's manifest is made to, and how kubectl makes it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any
from typing import NamedTuple

from kubectl_spread.objects.kinds import KINDS
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.workload import Workload
from kubectl_spread.suggest.patch import Op
from kubectl_spread.text.node import Route

# Kinds that do not replace their pods by themselves when the template changes.
_KEEP_THEIR_PODS = frozenset({"ReplicaSet", "ReplicationController", "StatefulSet"})
_LEAVE_THEIR_PODS = frozenset({"ReplicaSet", "ReplicationController"})
# Kinds whose template, or whose pod, cannot be changed once it is there.
_FIXED = frozenset({"Pod", "Job"})
_RESOURCES = {"Service": "services.serving.knative.dev", "StatefulSet": "statefulset"}


class TemplateOwner(NamedTuple):
    """An object that holds the template of a pod.

    is_live: the cluster has it, so that kubectl can change it; a manifest that is yet to be applied is edited.
    is_guessed: its name was taken from that of the pod's ReplicaSet. is_paused: a Deployment that rolls nothing out.
    """

    kind: str
    namespace: str
    name: str
    spec: Route
    is_live: bool
    is_guessed: bool = False
    is_paused: bool = False

    @property
    def resource(self) -> str:
        return _RESOURCES.get(self.kind, self.kind.lower())

    @property
    def called(self) -> str:
        return f"{self.resource}/{self.name}"

    @property
    def ends_its_pods(self) -> bool:
        """Whether a change of the template ends the running pods at once, instead of replacing them in turn."""
        return self.kind in (*_FIXED, "CronJob")

    @property
    def replaces_its_pods(self) -> bool:
        """Whether a change of the template replaces the pods that run."""
        return self.is_live and self.kind not in _LEAVE_THEIR_PODS

    def patch(self, ops: Sequence[Op]) -> list[dict[str, Any]]:
        """Return the JSON patch of the object for operations on its pod spec."""
        return [op.under(self.spec).document() for op in ops]

    def document(self, ops: Sequence[Op], waiting: Sequence[Pod]) -> list[dict[str, Any]]:
        """Return what a program needs to make a change of the pod spec, by object."""
        own: dict[str, Any] = {"kind": self.kind, "namespace": self.namespace, "name": self.name}
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
        """Return the command lines that make a change of the pod spec; none for what only a file holds.

        Args:
            ops: of the pod spec.
            waiting: the pods of the target that have no node yet, and do not go by themselves.
        """
        if not self.is_live:
            return []
        written = json.dumps(self.patch(ops), separators=(",", ":"))
        if self.kind in _FIXED:
            return [self._anew(written)]
        lines = [
            command("patch", self.resource, self.name, namespace=self.namespace, rest=("--type=json", "-p", written))
        ]
        if self.is_paused:
            lines.append(command("rollout", "resume", self.called, namespace=self.namespace))
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
        """Return the names of the Jobs of a CronJob whose pods wait."""
        jobs = (pod.owner.name for pod in waiting if pod.owner is not None and pod.owner.kind == "Job")
        return list(dict.fromkeys(jobs))

    def anew(self) -> str:
        """Return the command line that deletes the object and creates it again as it is: nobody else would."""
        get = command("get", self.resource, self.name, namespace=self.namespace, rest=("-o", "json"))
        return f"{get} | kubectl replace --force -f -"

    def _anew(self, written: str) -> str:
        """Delete the object and create it again, changed; a Job without what its controller added to it."""
        get = command("get", self.resource, self.name, namespace=self.namespace, rest=("-o", "json"))
        steps = [get, local("json", written)]
        if self.kind == "Job":
            steps.append(local("merge", json.dumps(_JOB_AGAIN, separators=(",", ":"))))
        return " | ".join([*steps, "kubectl replace --force -f -"])


# The labels and the selector that the Job controller gives a Job, and takes from nobody; null removes a field.
_JOB_LABELS = (
    "controller-uid",
    "job-name",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
)
_JOB_AGAIN: dict[str, Any] = {
    "metadata": {"labels": dict.fromkeys(_JOB_LABELS)},
    "spec": {"selector": None, "template": {"metadata": {"labels": dict.fromkeys(_JOB_LABELS)}}},
}


def local(kind: str, patch: str) -> str:
    """A patch of what comes in, nothing of the cluster."""
    return shlex.join(("kubectl", "patch", "--local", "-f", "-", f"--type={kind}", "-o", "json", "-p", patch))


def command(verb: str, *words: str, namespace: str = "", rest: Sequence[str] = ()) -> str:
    """A kubectl command line that a shell reads as it is meant, whatever the names are."""
    where = ("-n", namespace) if namespace else ()
    return shlex.join(("kubectl", verb, *words, *where, *rest))


def target_of(owner: Workload, *, is_live: bool, is_guessed: bool = False, is_paused: bool = False) -> TemplateOwner:
    """The target that a workload is."""
    kind = KINDS.get(owner.kind)
    if kind is None:  # nobody knows here where it keeps its template
        return TemplateOwner(owner.kind, owner.namespace, owner.name, ("spec", "template", "spec"), is_live=False)
    return TemplateOwner(
        owner.kind, owner.namespace, owner.name, kind.usual_place().spec, is_live, is_guessed, is_paused
    )
