"""A stand-in for a control plane: the API server with writes and RBAC, the controllers, a scheduler; no kubelets.

It is what `tests/live` run against without a cluster. `python -m tests.controlplane FILE` serves one to other
processes, and writes the kubeconfig of its administrator to FILE.

The scheduler is that of `tests/naive`, which shares nothing with the program. The controllers act at once, after
each write; no pod is ever Running, as without kubelets. What differs from the real ones: a Deployment does not wait
for its new pods to be ready before it deletes those of the old revision, and namespaces go with all they hold.
"""

from __future__ import annotations

import copy
import datetime as dt
import hashlib
import json
import signal
import sys
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Optional

from tests import pki
from tests.advice.applying import patched
from tests.apiserver import (
    ApiServer,
    forbidden,
    key_of,
    KINDS,
    missing,
    NOT_FOUND,
    Reply,
    Request,
    Route,
    route,
    status,
)
from tests.naive.builders import decide_all
from tests.naive.objects import admit

Plain = dict[str, Any]
ADMINISTRATOR = "jane"
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
_CORDONED = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_GATED = "Scheduling is blocked due to non-empty scheduling gates"  # pkg/registry/core/pod/strategy.go
_SECONDS = 300  # plugin/pkg/admission/defaulttolerationseconds
_FOR_A_WHILE = [
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _SECONDS}
    for key in ("not-ready", "unreachable")
]


class ControlPlane(ApiServer):
    """A cluster that can be written to."""

    def __init__(self, *, version: str = "v1.36.2") -> None:
        super().__init__([], version=version)
        self._writing = threading.RLock()
        self.tokens = {"nobody has it": "nobody"}  # who shows no certificate is anonymous
        for name in ("default", "kube-system", "kube-node-lease"):
            self._create("Namespace", "", {"metadata": {"name": name}})
        self._settle()

    def reply(self, request: Request, user_of_certificate: str = "") -> Reply:
        """Discovery, which kubectl asks for, and everything else."""
        found = discovery(request.path) if request.method == "GET" else None
        return found or super().reply(request, user_of_certificate)

    def is_forbidden(self, to: Route, verb: str, user: str) -> bool:
        """RBAC, where it is not the administrator who asks."""
        return user != ADMINISTRATOR and not any(_allows(rule, to, verb) for rule in self._rules(user, to.namespace))

    def _rules(self, user: str, namespace: str) -> Iterator[Plain]:
        """Those that are bound to a user, everywhere or in a namespace."""
        for binding in self.objects:
            of = binding["kind"]
            is_here = of == "ClusterRoleBinding" or (of == "RoleBinding" and key_of(binding)[1] == namespace)
            if is_here and any(_user(subject) == user for subject in binding.get("subjects") or ()):
                to = binding["roleRef"]
                role = self.find(Route(to["kind"], namespace if to["kind"] == "Role" else "", to["name"]))
                yield from (role or {}).get("rules") or ()

    def write(self, request: Request, user: str) -> Reply:
        """Create, replace, patch or delete, and let the controllers act on it."""
        to = route(request.path)
        if to is None:
            return NOT_FOUND
        if self.is_forbidden(to, _VERBS[request.method], user):
            return forbidden(user, _VERBS[request.method], to)
        with self._writing:
            reply = self._written(request, to)
            if to.kind != "Lease":
                self._settle()
            return reply

    def _written(self, request: Request, to: Route) -> Reply:
        body = json.loads(request.body or b"{}")
        if request.method == "POST":
            return self._posted(to, body)
        found = self.find(to)
        if found is None:
            return missing(to)
        if request.method == "DELETE":
            return self._deleted(found, body)
        changed = body
        if request.method == "PATCH":
            changed = _patched(found, "".join(request.header("Content-Type")), body)
            if changed is None:
                return status(422, "Invalid", "the server rejected our request due to an error in our request")
        return _answer(200, self._replace(found, changed))

    def _posted(self, to: Route, body: Plain) -> Reply:
        namespace = self.find(Route("Namespace", "", to.namespace)) if to.namespace else {"metadata": {}}
        if namespace is None:
            return missing(Route("Namespace", "", to.namespace))
        name = body["metadata"].get("name", "")
        if name and self.find(to._replace(name=name)) is not None:
            message = f'{to.plural} "{name}" already exists'
            return status(409, "AlreadyExists", message, details={"name": name, "kind": to.plural})
        return _answer(201, self._create(to.kind, to.namespace, body))

    def _deleted(self, found: Plain, options: Plain) -> Reply:
        """Remove an object; a pod on a node stays until its kubelet has ended it, which is never."""
        period_s = options.get("gracePeriodSeconds")
        if period_s is None:
            period_s = found.get("spec", {}).get("terminationGracePeriodSeconds", 30)
        if found["kind"] == "Pod" and found["spec"].get("nodeName") and period_s:
            found = copy.deepcopy(found)
            found["metadata"].update(deletionTimestamp=_now(), deletionGracePeriodSeconds=period_s)
            return _answer(200, self._stored(found))
        self._remove(found)
        return _answer(200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"})

    def _create(self, kind: str, namespace: str, body: Plain) -> Plain:
        made = copy.deepcopy(body)
        group, version, _, is_namespaced = KINDS[kind]
        made |= {"kind": kind, "apiVersion": f"{group}/{version}" if group else version}
        metadata = made["metadata"]
        metadata.setdefault("name", metadata.get("generateName", "") + uuid.uuid4().hex[:5])
        metadata |= {"uid": str(uuid.uuid4()), "creationTimestamp": _now(), "generation": 1}
        if is_namespaced:
            metadata["namespace"] = namespace
        return self._stored(_ADMITTED.get(kind, lambda item: item)(made))

    def _replace(self, old: Plain, new: Plain) -> Plain:
        new = copy.deepcopy(new)
        for field in ("uid", "creationTimestamp", "generation"):
            if field in old["metadata"]:
                new["metadata"][field] = old["metadata"][field]
        if old.get("spec") != new.get("spec"):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
        return self._stored(new)

    def _stored(self, item: Plain) -> Plain:
        item["metadata"]["resourceVersion"] = str(self._revision + 1)
        self.put(item)
        return item

    def _remove(self, item: Plain) -> None:
        key = key_of(item)
        inside = key[2] if item["kind"] == "Namespace" else None
        with self._lock:
            self._next(
                tuple(x for x in self.objects if key_of(x) != key and (inside is None or key_of(x)[1] != inside))
            )

    def _of(self, kind: str) -> list[Plain]:
        return [item for item in self.objects if item["kind"] == kind]

    # Controllers: each makes one change, and says whether there was any.

    def _settle(self) -> None:
        steps: tuple[Callable[[], bool], ...] = (
            self._service_accounts,
            self._garbage,
            self._taints,
            self._deployments,
            self._replicas,
            self._schedule,
        )
        while any(step() for step in steps):
            pass

    def _service_accounts(self) -> bool:
        for namespace in self._of("Namespace"):
            to = Route("ServiceAccount", namespace["metadata"]["name"], "default")
            if self.find(to) is None:
                self._create(to.kind, to.namespace, {"metadata": {"name": to.name}})
                return True
        return False

    def _garbage(self) -> bool:
        """Remove what belongs to something that is no more."""
        uids = {item["metadata"].get("uid") for item in self.objects}
        for item in self.objects:
            owners = item["metadata"].get("ownerReferences") or ()
            if owners and not any(owner["uid"] in uids for owner in owners):
                self._remove(item)
                return True
        return False

    def _taints(self) -> bool:
        """Let taints follow readiness and cordon."""
        for node in self._of("Node"):
            conditions = node.get("status", {}).get("conditions") or ()
            is_ready = any((item["type"], item["status"]) == ("Ready", "True") for item in conditions)
            before = node["spec"].get("taints") or []
            wanted = {_NOT_READY["key"]: not is_ready, _CORDONED["key"]: bool(node["spec"].get("unschedulable"))}
            taints = [taint for taint in before if wanted.get(taint["key"], True)]
            known = {taint["key"] for taint in taints}
            taints += [taint for taint in (_NOT_READY, _CORDONED) if wanted[taint["key"]] and taint["key"] not in known]
            if taints != before:
                self._stored({**node, "spec": {**node["spec"], "taints": taints}})
                return True
        return False

    def _deployments(self) -> bool:
        return any(self._rolled_out(item) for item in self._of("Deployment"))

    def _rolled_out(self, deployment: Plain) -> bool:
        spec = deployment["spec"]
        revision = _hash(spec["template"])
        own = [item for item in self._of("ReplicaSet") if _is_owned(item, deployment)]
        for old in own:
            if not old["metadata"]["name"].endswith(revision) and old["spec"]["replicas"]:
                self._replace(old, {**old, "spec": {**old["spec"], "replicas": 0}})
                return True
        current = next((item for item in own if item["metadata"]["name"].endswith(revision)), None)
        if current is None:
            self._create("ReplicaSet", key_of(deployment)[1], _replica_set(deployment, revision, number=len(own) + 1))
            return True
        if current["spec"]["replicas"] != spec.get("replicas", 1):
            self._replace(current, {**current, "spec": {**current["spec"], "replicas": spec.get("replicas", 1)}})
            return True
        return False

    def _replicas(self) -> bool:
        return any(self._counted(item) for item in (*self._of("ReplicaSet"), *self._of("StatefulSet")))

    def _counted(self, owner: Plain) -> bool:
        """Create or delete one pod of a ReplicaSet, or of a StatefulSet whose pods need not wait for each other."""
        if owner["kind"] == "StatefulSet" and owner.get("status", {}).get("updateRevision") != _revision_of(owner):
            self._replace(owner, {**owner, "status": {"updateRevision": _revision_of(owner)}})
            return True
        wanted = owner["spec"].get("replicas", 1)
        own = [pod for pod in self._of("Pod") if _is_owned(pod, owner) and "deletionTimestamp" not in pod["metadata"]]
        if len(own) > wanted:
            self._deleted(max(own, key=_is_first_to_go), {})
            return True
        if len(own) < wanted:
            names = {pod["metadata"]["name"] for pod in own}
            self._create("Pod", key_of(owner)[1], _pod(owner, names))
            return True
        return False

    def _schedule(self) -> bool:
        """Bind all pods that find a node; where none does, write why."""
        waiting = [pod for pod in self._of("Pod") if _is_waiting(pod)]
        if not waiting:
            return False
        waiting.sort(key=lambda pod: (-(pod["spec"].get("priority") or 0), int(pod["metadata"]["resourceVersion"])))
        names = {key_of(pod) for pod in waiting}
        others = [item for item in self.objects if key_of(item) not in names and item["kind"] in _SEEN]
        decisions = list(zip(waiting, decide_all(others, *waiting, preempt=True), strict=True))
        bound = [(pod, decision) for pod, decision in decisions if decision.get("placed")]
        changes = [_told(pod, decision) for pod, decision in bound or decisions]
        changed = [new for (old, _), new in zip(bound or decisions, changes, strict=True) if new != old]
        for pod in changed:
            self.put(pod)  # of the same resourceVersion: its place in the queue
            if not pod["spec"].get("nodeName"):
                self._say_why(pod)
        return bool(changed)

    def _say_why(self, pod: Plain) -> None:
        """Write the event that the scheduler writes, a new one for each attempt."""
        condition = pod["status"]["conditions"][0]
        if condition["reason"] != "Unschedulable":
            return
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        event = {
            "metadata": {"name": f"{name}.{uuid.uuid4().hex[:16]}"},
            "involvedObject": {"kind": "Pod", "namespace": namespace, "name": name, "uid": pod["metadata"]["uid"]},
            "reason": "FailedScheduling",
            "message": condition["message"],
            "source": {},
            "firstTimestamp": None,
            "lastTimestamp": None,
            "type": "Warning",
            "eventTime": condition["lastTransitionTime"].replace("Z", ".000000Z"),
            "action": "Scheduling",
            "reportingComponent": "default-scheduler",
            "reportingInstance": "default-scheduler-stand-in",
        }
        self._create("Event", namespace, event)


_SEEN = ("Node", "Pod", "Namespace", "Service", "ReplicaSet", "ReplicationController", "StatefulSet")


def _now() -> str:
    return dt.datetime.now(dt.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _answer(code: int, item: Plain) -> Reply:
    return Reply(code, json.dumps(item).encode())


def _user(subject: Plain) -> str:
    if subject["kind"] == "ServiceAccount":
        return f"system:serviceaccount:{subject['namespace']}:{subject['name']}"
    return str(subject["name"])


def _allows(rule: Plain, to: Route, verb: str) -> bool:
    asked = (("apiGroups", to.group), ("resources", to.plural), ("verbs", verb))
    return all({"*", value} & set(rule.get(field) or ()) for field, value in asked)


def _patched(item: Plain, kind: str, body: Any) -> Optional[Plain]:
    """An object with a patch; None where that cannot be done."""
    if kind == "application/json-patch+json":
        changed = copy.deepcopy(item)
        try:
            patched(changed, [{**op, "op": op["op"].replace("replace", "add")} for op in body])
        except (AssertionError, KeyError, IndexError):
            return None
        return changed
    if kind == "application/strategic-merge-patch+json" and not _is_plain_merge(body):
        return None
    merged: Plain = _merged(item, body)
    return merged


def _is_plain_merge(body: Any, *, route_to: str = "") -> bool:
    """Whether a strategic merge does what a merge does: lists are replaced where they are atomic, as taints are."""
    if isinstance(body, dict):
        return all(not key.startswith("$") and _is_plain_merge(value, route_to=key) for key, value in body.items())
    return not isinstance(body, list) or route_to == "taints" or not any(isinstance(value, dict) for value in body)


def _merged(item: Any, change: Any) -> Any:
    """RFC 7396."""
    if not isinstance(change, dict):
        return copy.deepcopy(change)
    merged = dict(item) if isinstance(item, dict) else {}
    for key, value in change.items():
        merged[key] = _merged(merged.get(key), value)
        if value is None:
            del merged[key]
    return merged


def _pod_admitted(pod: Plain) -> Plain:
    pod = admit(pod)
    spec = pod["spec"]
    spec.setdefault("schedulerName", "default-scheduler")
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("priority", 0)
    spec["tolerations"] = [*(spec.get("tolerations") or ()), *_FOR_A_WHILE]
    pod["status"] = {"phase": "Pending"}
    return pod


def _node_admitted(node: Plain) -> Plain:
    """As plugin/pkg/admission/nodetaint has it, a new node is not ready."""
    node.setdefault("spec", {})
    node["spec"]["taints"] = [*(node["spec"].get("taints") or ()), _NOT_READY]
    return node


def _namespace_admitted(namespace: Plain) -> Plain:
    labels = namespace["metadata"].setdefault("labels", {})
    labels["kubernetes.io/metadata.name"] = namespace["metadata"]["name"]
    return {**namespace, "status": {"phase": "Active"}}


_ADMITTED: dict[str, Callable[[Plain], Plain]] = {
    "Pod": _pod_admitted,
    "Node": _node_admitted,
    "Namespace": _namespace_admitted,
}


def _hash(template: Plain) -> str:
    return hashlib.sha256(json.dumps(template, sort_keys=True).encode()).hexdigest()[:10]


def _reference(owner: Plain) -> Plain:
    metadata = owner["metadata"]
    found = {field: owner[field] for field in ("apiVersion", "kind")}
    return {**found, "name": metadata["name"], "uid": metadata["uid"], "controller": True, "blockOwnerDeletion": True}


def _is_owned(item: Plain, owner: Plain) -> bool:
    owners = item["metadata"].get("ownerReferences") or ()
    return any(one["uid"] == owner["metadata"]["uid"] for one in owners)


def _replica_set(deployment: Plain, revision: str, *, number: int) -> Plain:
    hashed = {"pod-template-hash": revision}
    template = copy.deepcopy(deployment["spec"]["template"])
    template["metadata"]["labels"] |= hashed
    labels = {**deployment["spec"]["selector"]["matchLabels"], **hashed}
    return {
        "metadata": {
            "name": f"{deployment['metadata']['name']}-{revision}",
            "labels": dict(template["metadata"]["labels"]),
            "annotations": {"deployment.kubernetes.io/revision": str(number)},
            "ownerReferences": [_reference(deployment)],
        },
        "spec": {
            "replicas": deployment["spec"].get("replicas", 1),
            "selector": {"matchLabels": labels},
            "template": template,
        },
    }


def _pod(owner: Plain, names: set[str]) -> Plain:
    template = copy.deepcopy(owner["spec"]["template"])
    metadata = {"labels": template["metadata"]["labels"], "ownerReferences": [_reference(owner)]}
    name = owner["metadata"]["name"]
    if owner["kind"] == "StatefulSet":
        at = next(at for at in range(len(names) + 1) if f"{name}-{at}" not in names)
        metadata["name"] = f"{name}-{at}"
        metadata["labels"] |= {
            "controller-revision-hash": _revision_of(owner),
            "statefulset.kubernetes.io/pod-name": f"{name}-{at}",
            "apps.kubernetes.io/pod-index": str(at),
        }
    else:
        metadata["generateName"] = f"{name}-"
    return {"metadata": metadata, "spec": template["spec"]}


def _revision_of(stateful_set: Plain) -> str:
    return f"{stateful_set['metadata']['name']}-{_hash(stateful_set['spec']['template'])}"


def _is_first_to_go(pod: Plain) -> tuple[bool, str]:
    """Pods without a node go first, then the one of the highest number."""
    return not pod["spec"].get("nodeName"), str(pod["metadata"]["name"])


def _is_waiting(pod: Plain) -> bool:
    return not pod["spec"].get("nodeName") and "deletionTimestamp" not in pod["metadata"]


def _told(pod: Plain, decision: Plain) -> Plain:
    """A pod with what the scheduler decided of it."""
    told: Plain = {"type": "PodScheduled", "lastProbeTime": None, "lastTransitionTime": _now()}
    spec, state = pod["spec"], pod["status"]
    if decision.get("placed"):
        spec, condition = {**spec, "nodeName": decision["placed"]}, {**told, "status": "True"}
    elif "gated" in decision:
        condition = {**told, "status": "False", "reason": "SchedulingGated", "message": _GATED}
    elif "message" in decision:
        condition = {**told, "status": "False", "reason": "Unschedulable", "message": decision["message"]}
    else:
        return pod  # of a scheduler that is not there
    for old in state.get("conditions") or ():
        if {**old, "lastTransitionTime": ""} == {**condition, "lastTransitionTime": ""}:
            return pod
    return {**pod, "spec": spec, "status": {**state, "conditions": [condition]}}


def discovery(path: str) -> Optional[Reply]:
    """What kubectl asks about the API itself."""
    parts = path.strip("/").split("/")
    if path == "/api":
        return _answer(200, {"kind": "APIVersions", "versions": ["v1"]})
    if path == "/apis":
        versions = sorted({entry[:2] for entry in KINDS.values() if entry[0]})
        groups = [{"name": group, "versions": [_group_version(group, version)]} for group, version in versions]
        for group in groups:
            group["preferredVersion"] = group["versions"][0]
        return _answer(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
    if (parts[0], len(parts)) not in (("api", 2), ("apis", 3)):
        return None
    wanted = ("", parts[1]) if parts[0] == "api" else (parts[1], parts[2])
    verbs = ["create", "delete", "get", "list", "patch", "update"]
    resources = [
        {"name": plural, "singularName": kind.lower(), "namespaced": is_namespaced, "kind": kind, "verbs": verbs}
        for kind, (group, version, plural, is_namespaced) in KINDS.items()
        if (group, version) == wanted
    ]
    if not resources:
        return NOT_FOUND
    named = _group_version(*wanted)["groupVersion"]
    return _answer(200, {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": named, "resources": resources})


def _group_version(group: str, version: str) -> Plain:
    return {"groupVersion": f"{group}/{version}" if group else version, "version": version}


def kubeconfig(server: str, authority: pki.Authority) -> Plain:
    """The administrator's kubeconfig; of two contexts the other one leads nowhere."""
    user = {"client-certificate": str(authority.client_cert), "client-key": str(authority.client_key)}
    clusters = {
        "stand-in": {"server": server, "certificate-authority": str(authority.ca)},
        "gone": {"server": "https://127.0.0.1:1"},
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "gone",
        "clusters": [{"name": name, "cluster": cluster} for name, cluster in clusters.items()],
        "users": [{"name": ADMINISTRATOR, "user": user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": ADMINISTRATOR}} for name in clusters],
    }


def main() -> None:
    """Serve until interrupted."""
    target = Path(sys.argv[1])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory() as folder:
        authority = pki.authority(Path(folder))
        with ControlPlane().running(tls=authority.server) as server:
            config = {**kubeconfig(server.url, authority), "current-context": "stand-in"}
            target.write_text(json.dumps(config, indent=2), encoding="utf-8")
            print(f"{server.url}, kubeconfig {target}", flush=True)  # noqa: T201
            threading.Event().wait()


if __name__ == "__main__":
    main()
