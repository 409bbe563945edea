"""Commands of kubectl 1.36 for a POSIX shell that carry out a plan; they are printed, never run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from shlex import quote
from typing import Any

from kubectl_spread.advice.rebalance.plan import Eviction, EvictionPlan, RestartPlan
from kubectl_spread.objects.keys import ObjectKey

_PATIENCE = "10m"


def of_plan(plan: EvictionPlan) -> list[str]:
    """Return the commands of all evictions."""
    return [command for eviction in plan.evictions for command in of_eviction(eviction, plan)]


def of_eviction(eviction: Eviction, plan: EvictionPlan) -> Iterator[str]:
    """Yield the commands of an eviction; the last one waits until the new pod is ready.

    A pod that a budget may select is evicted, so that the API server asks the budget once more. Any other pod is
    deleted. kubectl 1.36 has no command for one eviction, so the request is sent to the pod's subresource.
    """
    name, namespace, key = eviction.pod, eviction.owner.namespace, eviction.owner
    if eviction.asks_budgets:
        text = quote(json.dumps(_request(eviction), separators=(",", ":")))
        yield f"echo {text} | kubectl create -f - --raw {quote(f'/api/v1/namespaces/{namespace}/pods/{name}/eviction')}"
        yield _until_gone(eviction)
    else:
        yield f"kubectl delete pod {quote(name)} -n {quote(namespace)}"
    yield _until_rolled_out(key) if key in plan.rolled_out else _until_ready(key, plan.ready[key])


def _request(eviction: Eviction) -> dict[str, Any]:
    """Return the body of the request; a uid refuses a later pod of the same name, which StatefulSets create."""
    request: dict[str, Any] = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": eviction.pod, "namespace": eviction.owner.namespace},
    }
    if eviction.uid and eviction.owner.kind == "StatefulSet":
        request["deleteOptions"] = {"preconditions": {"uid": eviction.uid}}
    return request


def _until_gone(eviction: Eviction) -> str:
    """Return a command that waits for the end of a pod; `kubectl wait` does not tell two pods of one name apart."""
    pod, namespace = quote(eviction.pod), quote(eviction.owner.namespace)
    if eviction.uid and eviction.owner.kind == "StatefulSet":
        uid = f"kubectl get pod {pod} -n {namespace} --ignore-not-found -o 'jsonpath={{.metadata.uid}}'"
        return f'while [ "$({uid})" = {quote(eviction.uid)} ]; do sleep 1; done'
    return f"kubectl wait --for=delete {quote(f'pod/{eviction.pod}')} -n {namespace} --timeout={_PATIENCE}"


def _until_rolled_out(key: ObjectKey) -> str:
    return f"kubectl rollout status {_target(key)} -n {quote(key.namespace)} --timeout={_PATIENCE}"


def _until_ready(key: ObjectKey, ready: int) -> str:
    """Return a command for a workload whose rollout never ends: paused, on deletion, or with Pending pods."""
    condition = quote(f"jsonpath={{.status.readyReplicas}}={ready}")
    return f"kubectl wait --for={condition} {_target(key)} -n {quote(key.namespace)} --timeout={_PATIENCE}"


def _target(key: ObjectKey) -> str:
    return quote(f"{key.kind.lower()}/{key.name}")


def of_restart(restart: RestartPlan) -> list[str]:
    """Return the commands of a rollout restart."""
    restarted = f"kubectl rollout restart {_target(restart.key)} -n {quote(restart.key.namespace)}"
    return [restarted, _until_rolled_out(restart.key)]


def script_lines(commands: list[str]) -> list[str]:
    """Return the lines of a script in which no command runs after one that failed."""
    return [*(f"{command} &&" for command in commands[:-1]), *commands[-1:]]
