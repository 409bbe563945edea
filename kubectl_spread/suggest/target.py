"""What a change of a pod's manifest is made to, and how kubectl makes it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any
from typing import NamedTuple
from typing import Optional

from kubectl_spread.objects.kinds import KINDS
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.workload import Workload
from kubectl_spread.suggest.patch import Op
from kubectl_spread.text.node import Route

# Kinds that do not replace their pods by themselves when the template changes.
_KEEP_THEIR_PODS = frozenset({"ReplicaSet", "ReplicationController", "StatefulSet"})
# Kinds whose template, or whose pod, cannot be changed once it is there.
_FIXED = frozenset({"Pod", "Job"})
_RESOURCES = {"Service": "services.serving.knative.dev", "StatefulSet": "statefulset"}


class Target(NamedTuple):
    """An object that holds the template of a pod.

    is_live: the cluster has it, so that kubectl can change it; a manifest that is yet to be applied is edited.
    is_guessed: its name was taken from that of the pod's ReplicaSet.
    """

    kind: str
    namespace: str
    name: str
    spec: Route
    is_live: bool
    is_guessed: bool = False

    @property
    def resource(self) -> str:
        return _RESOURCES.get(self.kind, self.kind.lower())

    @property
    def called(self) -> str:
        return f"{self.resource}/{self.name}"

    @property
    def makes_revisions(self) -> bool:
        """Whether a change of the template is rolled out."""
        return self.kind not in _FIXED

    def patch(self, ops: Sequence[Op]) -> list[dict[str, Any]]:
        """The JSON patch of the object for operations on its pod spec."""
        return [op.under(self.spec).document() for op in ops]

    def commands(self, ops: Sequence[Op], waiting: Sequence[Pod]) -> list[str]:
        """The command lines that make a change of the pod spec; none for what only a file holds.

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
        if self.kind in _KEEP_THEIR_PODS and waiting:
            names = [pod.name for pod in waiting]
            lines.append(command("delete", "pod", *names, namespace=self.namespace))
        return lines

    def anew(self) -> str:
        """The command line that deletes the object and creates it again as it is: nobody else would."""
        get = command("get", self.resource, self.name, namespace=self.namespace, rest=("-o", "json"))
        return f"{get} | kubectl replace --force -f -"

    def _anew(self, written: str) -> str:
        """Delete the object and create it again, changed."""
        ops = json.loads(written)
        if self.kind == "Job":
            # What the API server gave it, and does not take from anybody.
            ops += [
                {"op": "remove", "path": "/spec/selector"},
                {"op": "remove", "path": "/spec/template/metadata/labels"},
            ]
        get = command("get", self.resource, self.name, namespace=self.namespace, rest=("-o", "json"))
        patch = (
            "kubectl",
            "patch",
            "--local",
            "-f",
            "-",
            "--type=json",
            "-o",
            "json",
            "-p",
            json.dumps(ops, separators=(",", ":")),
        )
        return f"{get} | {shlex.join(patch)} | kubectl replace --force -f -"


def command(verb: str, *words: str, namespace: str = "", rest: Sequence[str] = ()) -> str:
    """A kubectl command line that a shell reads as it is meant, whatever the names are."""
    where = ("-n", namespace) if namespace else ()
    return shlex.join(("kubectl", verb, *words, *where, *rest))


def target_of(owner: Workload, *, is_live: bool, is_guessed: bool = False) -> Target:
    """The target that a workload is."""
    kind = KINDS.get(owner.kind)
    if kind is None:  # nobody knows here where it keeps its template
        return Target(owner.kind, owner.namespace, owner.name, ("spec", "template", "spec"), is_live=False)
    return Target(owner.kind, owner.namespace, owner.name, kind.usual_place().spec, is_live, is_guessed)


def guessed_deployment(pod: Pod, revision_label: str) -> Optional[str]:
    """The name of the Deployment behind a pod whose ReplicaSet is named after it and the template's hash."""
    hashed = dict(pod.cls.labels).get(revision_label, "")
    if pod.owner is None or pod.owner.kind != "ReplicaSet" or not hashed:
        return None
    name = pod.owner.name.removesuffix(f"-{hashed}")
    return name if name and name != pod.owner.name else None
