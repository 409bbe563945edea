"""A topology spread constraint as it is written in a pod."""

from __future__ import annotations

from typing import NamedTuple, Optional

from kubectl_spread.objects.selectors.selector import LabelSelector

DO_NOT_SCHEDULE = "DoNotSchedule"
SCHEDULE_ANYWAY = "ScheduleAnyway"
HONOR = "Honor"
IGNORE = "Ignore"


class TopologySpreadConstraint(NamedTuple):
    """`spec.topologySpreadConstraints[position]`; a field is None if the manifest does not set it."""

    position: int
    max_skew: int
    topology_key: str
    when_unsatisfiable: str
    label_selector: Optional[LabelSelector] = None
    match_label_keys: tuple[str, ...] = ()
    min_domains: Optional[int] = None
    node_affinity_policy: Optional[str] = None
    node_taints_policy: Optional[str] = None

    @property
    def selected_keys(self) -> frozenset[str]:
        """Return the keys of the labels in labelSelector."""
        if self.label_selector is None:
            return frozenset()
        labels, expressions = self.label_selector
        return frozenset([*[key for key, _ in labels], *[expression.key for expression in expressions]])

    @property
    def is_hard(self) -> bool:
        return self.when_unsatisfiable == DO_NOT_SCHEDULE
