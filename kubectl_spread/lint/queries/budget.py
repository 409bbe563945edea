"""PodDisruptionBudgets: the workloads that they cover, and how many of their pods can be evicted.

Source: pkg/controller/disruption/disruption.go, getExpectedPodCount (v1.36.2).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from kubectl_spread.lint.finding import Place
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.amounts.int_or_percent import percentage, scaled_value
from kubectl_spread.objects.constraints import constraint_reader
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors.selector import compile_selector, Selector
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.objects.workloads.workload import SCALED_KINDS


class SimpleBudget(NamedTuple):
    """A budget that says one thing, `field: value`, of workloads whose number of pods can be set.

    `pods` is the fewest healthy pods that the workloads have; None if unknown.
    """

    manifest: Manifest
    field: str
    value: Any
    covered: tuple[Subject, ...]
    pods: Optional[int]

    @property
    def place(self) -> Place:
        return Place(self.manifest.document.source, self.manifest.place(("spec", self.field)))

    @property
    def path(self) -> str:
        return f"spec.{self.field}"

    @property
    def resolved_value(self) -> Optional[int]:
        """Return the number that the value comes to; shares are rounded up for either field."""
        return scaled_value(self.value, 1 if self.pods is None else self.pods, round_up=True)

    @property
    def disruptions(self) -> Optional[int]:
        """Return how many pods may be evicted while all are healthy; None if unknown."""
        wanted = self.resolved_value
        if wanted is None:
            return None
        if self.field == "maxUnavailable":
            return wanted if self.pods is not None or wanted == 0 else None
        if (percentage(self.value) or 0) >= 100:
            return 0
        return None if self.pods is None else max(0, self.pods - wanted)


def budget(manifest: Manifest, project: Project) -> Optional[SimpleBudget]:
    """Return a budget over workloads in the input; None if the API server would refuse it, or if it covers other pods.

    The controller reads the scale of the pods' owner. A Job or a DaemonSet has none.
    """
    spec = fields(manifest.plain.get("spec"))
    written = [name for name in ("maxUnavailable", "minAvailable") if spec.get(name) is not None]
    selector, namespace = _selector(manifest), manifest.namespace or "default"
    if len(written) != 1 or selector is None:
        return None
    covered = project.group(selector, namespace)
    if not covered.applied_workloads or not covered.kinds <= SCALED_KINDS:
        return None
    (name,) = written
    pods = None if _is_everything(spec) else project.fewest_pods(selector, namespace)
    return SimpleBudget(manifest, name, spec[name], covered.applied_workloads, pods)


def _selector(manifest: Manifest) -> Optional[Selector]:
    selector = fields(manifest.plain.get("spec")).get("selector")
    if not manifest.api_version.startswith("policy/") or not decode.decodes(selector, decode.LABEL_SELECTOR):
        return None
    if not selector and manifest.api_version == "policy/v1beta1":
        return None  # an empty one was about no pods
    return compile_selector(constraint_reader.label_selector(selector))


def _is_everything(spec: dict[str, Any]) -> bool:
    """Return whether the budget is about all pods of a namespace, which the input seldom has completely."""
    selector = fields(spec.get("selector"))
    return not selector.get("matchLabels") and not selector.get("matchExpressions")
