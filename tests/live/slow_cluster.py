"""An API server in front of the slow controllers, with kubelets and budgets: enough for kubectl to carry out a plan.

A write changes the world; each answer after it lets something else happen. A watch waits until nothing moves.
"""

from __future__ import annotations

import copy
import json
import random
from typing import Any, Optional

from tests.apiserver import ApiServer, key_of, KINDS, missing, Reply, Request, Route, route, status
from tests.controlplane import discovery
from tests.naive.controllers import deployment, disruption, explore, patching, statefulset
from tests.naive.controllers.world import delete_pod, is_active, is_owned_by, is_ready, World

Plain = dict[str, Any]
_REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."


class SlowCluster(ApiServer):
    """A world as an API server shows it.

    evictions: bodies of the requests for evictions, in their order, and the codes of the answers.
    """

    def __init__(self, world: World, *, seed: int = 0) -> None:
        super().__init__([])
        self.world = world
        self.evictions: list[tuple[Plain, int]] = []
        self._chance = random.Random(seed)
        self._publish()

    def settle(self) -> None:
        """Let everything happen until nothing moves."""
        self.world, is_over = explore.walk(self.world, self._chance)
        assert is_over
        self._publish()

    def reply(self, request: Request, user_of_certificate: str = "") -> Reply:
        """Answer discovery and watches; any other answer is about the next moment."""
        found = discovery(request.path) if request.method == "GET" else None
        if found is not None:
            return found
        if "watch" in request.query:
            return self._watched(request)
        answer = super().reply(request, user_of_certificate)
        self.world = explore.step(self.world, self._chance, tempo={}) or self.world
        self._publish()
        return answer

    def write(self, request: Request, user: str) -> Reply:
        """Evict or delete a pod, or patch a workload."""
        to = route(request.path)
        found = None if to is None else self.world.get(to.kind, to.name, to.namespace or "default")
        if to is None or found is None:
            return missing(to or Route("Pod", "", ""))
        body = json.loads(request.body or b"{}")
        if to.subresource == "eviction":
            reply = self._evicted(to, found, body)
            self.evictions.append((body, reply.status))
            return reply
        self.world = self.world.copy()
        if request.method == "DELETE" and to.kind == "Pod":
            delete_pod(self.world, found)
        else:
            assert "strategic" in "".join(request.header("Content-Type"))
            self.world.put(patching.strategic(found, body))
        self._publish()
        return Reply(200, json.dumps(self._shown(found)).encode())

    def _evicted(self, to: Route, pod: Plain, body: Plain) -> Reply:
        """As pkg/registry/core/pod/storage/eviction.go answers."""
        assert (body["apiVersion"], body["kind"], body["metadata"]["name"]) == ("policy/v1", "Eviction", to.name)
        uid = ((body.get("deleteOptions") or {}).get("preconditions") or {}).get("uid", pod["metadata"]["uid"])
        if uid != pod["metadata"]["uid"]:
            message = f'Operation cannot be fulfilled on pods "{to.name}": the UID in the precondition does not match'
            return status(409, "Conflict", message)
        after = disruption.evict(self.world, pod)
        if after is None:
            return status(429, "TooManyRequests", _REFUSED)
        self.world = after
        self._publish()
        return Reply(201, b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}')

    def _watched(self, request: Request) -> Reply:
        """Send what became of the objects that the client knows, once nothing moves."""
        to = route(request.path)
        assert to is not None
        name = request.query.get("fieldSelector", "").partition("metadata.name=")[2]
        before = {key_of(item): item for item in self._states.get(int(request.query.get("resourceVersion") or 0), ())}
        self.settle()
        now = {key_of(item): item for item in self.objects}
        events = []
        for key in sorted({**before, **now}):
            if key[0] != to.kind or key[1] != to.namespace or (name and key[2] != name):
                continue
            events += _events(before.get(key), now.get(key))
        return Reply(200, b"".join(json.dumps(event).encode() + b"\n" for event in events), pause_s=0.05)

    def _publish(self) -> None:
        items = tuple(self._shown(item) for kind in sorted(self.world.kinds) for item in self.world.list(kind))
        with self._lock:
            self._next(items)

    def _shown(self, item: Plain) -> Plain:
        shown = copy.deepcopy(item)
        group, version, *_ = KINDS[item["kind"]]
        shown["apiVersion"] = f"{group}/{version}" if group else version
        shown["metadata"] |= {"resourceVersion": str(self._revision + 1), "generation": 1}
        if item["kind"] in ("Deployment", "ReplicaSet", "StatefulSet"):
            shown["status"] = self._status(item)
        if item["kind"] == "StatefulSet":
            shown["spec"].setdefault("updateStrategy", {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}})
        return shown

    def _status(self, item: Plain) -> Plain:
        is_deployment = item["kind"] == "Deployment"
        sets = deployment.sets_of(self.world, item) if is_deployment else None
        active = self._active([item] if sets is None else sets.all)
        newest = active if sets is None else self._active([] if sets.new is None else [sets.new])
        ready = sum(map(is_ready, active))
        counts = {"replicas": len(active), "readyReplicas": ready, "availableReplicas": ready}
        found: Plain = {"observedGeneration": 1, "updatedReplicas": len(newest), **counts}
        if item["kind"] == "StatefulSet":
            revisions = statefulset.revisions_of(item)
            found |= {"currentRevision": revisions.current, "updateRevision": revisions.update}
        return {name: value for name, value in found.items() if value}

    def _active(self, owners: list[Plain]) -> list[Plain]:
        pods = [pod for pod in self.world.list("Pod") if any(is_owned_by(pod, owner) for owner in owners)]
        return [pod for pod in pods if is_active(pod)]


def _events(old: Optional[Plain], new: Optional[Plain]) -> list[Plain]:
    is_other = old is None or new is None or old["metadata"]["uid"] != new["metadata"]["uid"]
    if old is not None and new is not None and not is_other:
        return [{"type": "MODIFIED", "object": new}]
    found = [] if old is None else [{"type": "DELETED", "object": old}]
    return [*found, *([] if new is None else [{"type": "ADDED", "object": new}])]
