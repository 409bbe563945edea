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
    """Return the commands of all evictions; `wanted` is the number of replicas of each workload."""
    return [command for eviction in plan.evictions for command in of_eviction(eviction, plan, wanted)]


def of_eviction(eviction: Eviction, plan: EvictionPlan, wanted: dict[OwnerKey, int]) -> Iterator[str]:
    """Yield the commands of an eviction; the last one waits until the new pod is ready.

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
    key = eviction.owner
    yield _until_rolled_out(key) if _is_rolled(key, plan, wanted) else _until_ready(key, plan.ready[key])


def _is_rolled(key: OwnerKey, plan: EvictionPlan, wanted: dict[OwnerKey, int]) -> bool:
    """Return whether `kubectl rollout status` ends: it waits for every replica, also for one that stays Pending."""
    return key.kind in _ROLLED and plan.ready[key] >= wanted[key]


def _until_rolled_out(key: OwnerKey) -> str:
    return f"kubectl rollout status {_target(key)} -n {quote(key.namespace)}"


def _until_ready(key: OwnerKey, ready: int) -> str:
    condition = quote(f"jsonpath={{.status.readyReplicas}}={ready}")
    return f"kubectl wait --for={condition} {_target(key)} -n {quote(key.namespace)} --timeout={_PATIENCE}"


def _target(key: OwnerKey) -> str:
    return quote(f"{key.kind.lower()}/{key.name}")


def of_restart(restart: RestartPlan) -> list[str]:
    """Return the commands of a rollout restart."""
    restarted = f"kubectl rollout restart {_target(restart.key)} -n {quote(restart.key.namespace)}"
    return [restarted, _until_rolled_out(restart.key)]
