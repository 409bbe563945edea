"""Running pods of a workload that the selector of its own spread constraint does not match."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Optional

from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.selectors import compile_selector, Labels
from kubectl_spread.text.wording import comma_list


class UncountedPods(NamedTuple):
    """The running pods that are not counted. `key` is a label that keeps the first of them out, `value` its value.

    `value` is None if the pod lacks the label. matched: the number of running pods that the selector matches.
    """

    matched: int
    pods: tuple[str, ...]
    key: str
    value: Optional[str]

    @property
    def sentence(self) -> str:
        """Return `the selector matches 2 of the 3 running pods: etcd-0 lacks `new``."""
        total = self.matched + len(self.pods)
        lacks, has = ("lacks", "has") if len(self.pods) == 1 else ("lack", "have")
        why = f"{lacks} `{self.key}`" if self.value is None else f"{has} `{self.key}: {self.value}`"
        return f"the selector matches {self.matched} of the {total} running pods: {comma_list(self.pods, most=3)} {why}"


def find_uncounted(
    constraint: TopologySpreadConstraint, own: Iterable[Pod], next_labels: Labels
) -> Optional[UncountedPods]:
    """Find the running pods that a constraint leaves out. Return None if it counts all, or leaves them out by intent.

    matchLabelKeys are ignored: their purpose is to count one revision only. A selector that matches neither the
    workload's next pod nor any running pod is ignored, too.

    Args:
        constraint: of the workload's pods.
        own: the workload's running pods.
        next_labels: the labels of the pod that the workload's controller would create next.
    """
    selector = compile_selector(constraint.label_selector)
    if selector.requirements is None or selector.is_empty:
        return None
    running = list(own)
    missed = [pod for pod in running if not selector.matches(pod.labels)]
    matched = len(running) - len(missed)
    if not missed or not (matched or selector.matches(next_labels)):
        return None
    labels = missed[0].labels
    key = next(item.key for item in selector.requirements if not item.matches(labels))
    return UncountedPods(matched, tuple(sorted(pod.name for pod in missed)), key, labels.get(key))
