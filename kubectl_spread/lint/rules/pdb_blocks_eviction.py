"""A PodDisruptionBudget lets no pod be evicted.

Evictions are refused while they would leave fewer healthy pods than the budget asks for. Percentages are rounded up
for both fields: `minAvailable: 67%` of 3 pods asks for all 3. A budget that asks for all pods refuses every eviction
even when everything is well: `kubectl drain` waits for ever, node upgrades stall, and the descheduler cannot mend a
spread that went uneven.

Of a workload with an autoscaler in the input, its fewest replicas count.

Example:
    apiVersion: policy/v1
    kind: PodDisruptionBudget
    metadata: {name: web}
    spec:
      minAvailable: 67%
      selector: {matchLabels: {app: web}}
    ---
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 3
      serviceName: web
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers:
          - {name: web, image: registry.example/web:1.25}

Write `maxUnavailable: 1`, which holds for any number of replicas.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from typing import Optional

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.finding import Place
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.subject import Subject
from kubectl_spread.objects import decode
from kubectl_spread.objects import spread
from kubectl_spread.objects.int_or_percent import percentage
from kubectl_spread.objects.int_or_percent import scaled
from kubectl_spread.objects.manifest import Manifest
from kubectl_spread.objects.plain import fields
from kubectl_spread.objects.selector import compiled
from kubectl_spread.objects.workload import SCALED_KINDS

_NAMED = 3  # workloads that a finding shows


def check(manifest: Manifest, project: Project) -> Iterator[Found]:
    """Find budgets that allow 0 disruptions of the workloads in the input when all their pods are healthy.

    Source: pkg/controller/disruption/disruption.go, getExpectedPodCount (v1.36.2).
    """
    spec = fields(manifest.plain.get("spec"))
    written = [name for name in ("maxUnavailable", "minAvailable") if spec.get(name) is not None]
    covered = _covered(manifest, project)
    if len(written) != 1 or not covered or any(item.workload.kind not in SCALED_KINDS for item in covered):
        return  # nor does the controller know how many pods there are to be
    (name,) = written
    pods = None if _is_everything(spec) else _pods(covered, project)
    why = _blocked(name, spec[name], pods)
    if why and any(project.replicas(item).maximum != 0 for item in covered):
        place = Place(manifest.document.source, manifest.place(("spec", name)))
        hint = "write maxUnavailable: 1" + (" in its place" if name == "minAvailable" else "")
        related = tuple(_count(item, project) for item in covered[:_NAMED])
        yield Found(f"no pod may be evicted: {why}", place, f"spec.{name}", hint, related)


def _blocked(name: str, value: Any, pods: Optional[int]) -> str:
    """Why no number of pods, or not this one, leaves a disruption; empty where it does."""
    if name == "maxUnavailable":
        return f"maxUnavailable is {value}" if scaled(value, 1, round_up=True) == 0 else ""
    percent = percentage(value)
    if percent is not None and percent >= 100:
        return f"minAvailable is {value}"
    wanted = None if pods is None else scaled(value, pods, round_up=True)
    if pods is None or wanted is None or wanted < pods:
        return ""
    if percent is None:
        return f"minAvailable asks for {wanted} of {pods} pods"
    return f"minAvailable {value} of {pods} pods, rounded up, is {wanted}"


def _covered(manifest: Manifest, project: Project) -> list[Subject]:
    """The workloads that the budget is about, each once; none for a budget that the API server would refuse."""
    selector = fields(manifest.plain.get("spec")).get("selector")
    if not manifest.api_version.startswith("policy/") or not decode.decodes(selector, decode.LABEL_SELECTOR):
        return []
    if not selector and manifest.api_version == "policy/v1beta1":
        return []  # an empty one was about no pods
    found = project.matching(compiled(spread.label_selector(selector)), manifest.namespace or "default")
    return [item for item in found if not item.is_owned]


def _is_everything(spec: dict[str, Any]) -> bool:
    """Whether the budget is about all pods of a namespace, of which the input seldom has all."""
    selector = fields(spec.get("selector"))
    return not selector.get("matchLabels") and not selector.get("matchExpressions")


def _pods(covered: list[Subject], project: Project) -> Optional[int]:
    """The fewest pods of the workloads; of one that is written several times, the most it is written with."""
    fewest: dict[str, int] = {}
    for item in covered:
        minimum = project.replicas(item).minimum
        if not minimum:
            return None
        fewest[item.workload.key] = max(minimum, fewest.get(item.workload.key, 0))
    return sum(fewest.values())


def _count(subject: Subject, project: Project) -> Label:
    """Where the number of a workload's pods is written."""
    replicas = project.replicas(subject)
    if replicas.autoscaler is not None:
        field = "minReplicas" if replicas.autoscaler.kind == "HorizontalPodAutoscaler" else "minReplicaCount"
        place = Place(replicas.autoscaler.document.source, replicas.autoscaler.place(("spec", field)))
        return Label(place, f"{subject.workload.kind} {subject.workload.name} may have as few as {replicas.minimum}")
    written = subject.node(("spec", "replicas")) is not None
    place = subject.place(("spec", "replicas") if written else ("metadata", "name"))
    return Label(place, f"the pods of {subject.workload.kind} {subject.workload.name}")
