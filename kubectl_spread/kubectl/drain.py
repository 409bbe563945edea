"""The command `kubectl drain`: pods that it evicts, and pods that keep it from starting.

Source: staging/src/k8s.io/kubectl/pkg/drain/filters.go, makeFilters; pkg/cmd/drain/drain.go (v1.36.2).
Difference: whether a pod has an emptyDir volume is only known from its workload's template.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine import steps
from kubectl_spread.kubectl import nodes, targets
from kubectl_spread.kubectl.parsing import Command
from kubectl_spread.kubectl.situation import CommandEffect, Situation
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading.plain import fields, mappings
from kubectl_spread.objects.selectors.selector import Selector

_DAEMON = "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
_LOCAL = "cannot delete Pods with local storage (use --delete-emptydir-data to override)"
_BARE = "cannot delete cannot delete Pods that declare no controller (use --force to override)"  # kubectl's own words


class DrainOptions(NamedTuple):
    """Options that select the pods of a drain."""

    selector: Optional[Selector]
    ignores_daemons: bool
    deletes_local: bool
    is_forced: bool


def drain(command: Command, situation: Situation) -> CommandEffect:
    """Cordon nodes, then evict their pods; a node with pods that need an explicit option only gets cordoned."""
    names = nodes.named_nodes(command, situation)
    text = command.value("pod-selector")
    choice = DrainOptions(
        targets.selector(text) if text else None,
        command.has("ignore-daemonsets"),
        command.has("delete-emptydir-data") or command.has("delete-local-data"),
        command.has("force"),
    )
    done = nodes.cordoning(names, situation, is_cordoned=True)
    refusals = {name: _refusal(name, choice, situation.cluster) for name in names}
    able = tuple(name for name in names if not refusals[name])
    if able:
        done += CommandEffect((steps.Drain(able, choice.selector, command.has("disable-eviction")),))
    said = "\n".join(
        f'error: unable to drain node "{name}" due to error: {why}, continuing command...'
        for name, why in refusals.items()
        if why
    )
    notes = tuple(f"node/{name} stays cordoned, and keeps its pods" for name, why in refusals.items() if why)
    return done + CommandEffect((), _owners_on(names, situation.cluster), said, notes)


def _refusal(node: str, choice: DrainOptions, cluster: Cluster) -> str:
    """Return kubectl's message if it evicts no pod of a node; empty if it starts."""
    found: dict[str, list[str]] = {}
    for pod in cluster.pods:
        if pod.node_name == node and _is_selected(pod, choice):
            why = _why_not(pod, choice, cluster)
            if why:
                found.setdefault(why, []).append(pod.key)
    texts = [f"{why}: {', '.join(sorted(pods))}" for why, pods in found.items()]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]" if texts else ""


def _is_selected(pod: Pod, choice: DrainOptions) -> bool:
    return choice.selector is None or choice.selector.matches(dict(pod.cls.labels))


def _why_not(pod: Pod, choice: DrainOptions, cluster: Cluster) -> str:
    """Return the reason why kubectl does not evict a pod; empty if it evicts or skips it."""
    if pod.owner is not None and pod.owner.kind == "Node":  # a mirror pod
        return ""
    if pod.owner is not None and pod.owner.kind == "DaemonSet":
        return "" if choice.ignores_daemons or not pod.is_visible else _DAEMON
    if _has_local_storage(pod, cluster) and pod.is_visible and not choice.deletes_local:
        return _LOCAL
    if pod.owner is None and pod.is_visible and not choice.is_forced:
        return _BARE
    return ""


def _has_local_storage(pod: Pod, cluster: Cluster) -> bool:
    key = cluster.top_owner(pod)
    controller = None if key is None else cluster.controllers.get(key)
    if controller is None:
        return False
    spec = fields(controller.workload.template.get("spec"))
    return any("emptyDir" in volume for volume in mappings(spec.get("volumes")))


def _owners_on(names: Iterable[str], cluster: Cluster) -> frozenset[ObjectKey]:
    """Return the workloads with pods to evict on the nodes."""
    wanted = set(names)
    found = {cluster.top_owner(pod) for pod in cluster.bound_pods() if pod.node_name in wanted}
    return frozenset(key for key in found if key is not None and key.kind not in ("DaemonSet", "Node"))
