"""Commands of kubectl 1.36 that carry out a plan; they are printed, never run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from shlex import quote

from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.rebalance.plan import Eviction, EvictionPlan, RestartPlan

_PATIENCE = "10m"
_ROLLED = ("Deployment", "StatefulSet")


def of_plan(plan: EvictionPlan, wanted: dict[OwnerKey, int]) -> list[str]:
    """Return the commands of all evictions; each eviction ends with a wait until the new pod is ready."""
    return [command for eviction in plan.evictions for command in of_eviction(eviction, wanted[eviction.owner])]


def of_eviction(eviction: Eviction, wanted: int) -> Iterator[str]:
    """Yield the commands of an eviction.

    A pod of a budget is evicted, so that the API server asks the budget once more. Any other pod is deleted. kubectl
    1.36 has no command for one eviction, so the request is sent to the pod's subresource.
    """
    name, namespace = eviction.pod, eviction.owner.namespace
    if eviction.budget:
        request = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": namespace},
        }
        text = quote(json.dumps(request, separators=(",", ":")))
        yield f"echo {text} | kubectl create -f - --raw {quote(f'/api/v1/namespaces/{namespace}/pods/{name}/eviction')}"
        yield f"kubectl wait --for=delete {quote(f'pod/{name}')} -n {quote(namespace)} --timeout={_PATIENCE}"
    else:
        yield f"kubectl delete pod {quote(name)} -n {quote(namespace)}"
    yield until_ready(eviction.owner, wanted)


def until_ready(key: OwnerKey, wanted: int) -> str:
    """Return the command that waits until all pods of a workload are ready."""
    target, namespace = quote(f"{key.kind.lower()}/{key.name}"), quote(key.namespace)
    if key.kind in _ROLLED:
        return f"kubectl rollout status {target} -n {namespace}"
    condition = quote(f"jsonpath={{.status.readyReplicas}}={wanted}")
    return f"kubectl wait --for={condition} {target} -n {namespace} --timeout={_PATIENCE}"


def of_restart(restart: RestartPlan) -> list[str]:
    """Return the commands of a rollout restart."""
    target = quote(f"{restart.key.kind.lower()}/{restart.key.name}")
    return [
        f"kubectl rollout restart {target} -n {quote(restart.key.namespace)}",
        until_ready(restart.key, restart.wanted),
    ]
