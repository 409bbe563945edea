"""PodTopologySpread: the plugin, its arguments and its default constraints.

Source: pkg/scheduler/framework/plugins/podtopologyspread/plugin.go, common.go, buildDefaultConstraints;
plugins/helper/spread.go, DefaultSelector (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional, Union

from kubectl_spread.cluster.columns import Bools, Columns
from kubectl_spread.cluster.snapshot import Service
from kubectl_spread.objects.constraints.constraint import constraints, SCHEDULE_ANYWAY, TopologySpreadConstraint
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.releases import behaviours
from kubectl_spread.objects.releases.version import LATEST, Release
from kubectl_spread.objects.selectors import HOSTNAME, LabelRequirement, Selector, ZONE
from kubectl_spread.scheduler.framework.plugin import FilterState, Plain, Plugin, Skip
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.common import (
    Constraint,
    filter_topology_spread_constraints,
    match_affinity,
    match_taints,
    with_selector,
)
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts, PreFilterState, soft_counts
from kubectl_spread.scheduler.plugins.podtopologyspread.scoring import PreScoreState

SYSTEM_DEFAULTS = (
    TopologySpreadConstraint(0, 3, HOSTNAME, SCHEDULE_ANYWAY),
    TopologySpreadConstraint(1, 5, ZONE, SCHEDULE_ANYWAY),
)

# The owners whose selector narrows the Services' selector, by kind and exact apiVersion.
_SELECTING_OWNERS = {"ReplicationController": "v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1"}


class PodTopologySpread(Plugin):
    name = names.POD_TOPOLOGY_SPREAD

    def __init__(self, args: Plain, release: Release) -> None:
        """Read the configured default constraints; None for the built-in ones."""
        super().__init__(args, release)
        self.configured_defaults: Optional[tuple[TopologySpreadConstraint, ...]] = None
        is_system = (args.get("defaultingType") or "System") == "System"
        if not is_system or not behaviours.SYSTEM_DEFAULTS.of(release):
            written = () if is_system else args.get("defaultConstraints") or ()
            self.configured_defaults = constraints({"topologySpreadConstraints": written})

    def pre_filter(self, pod_class: PodClass, columns: Columns) -> Union[FilterState, Skip]:
        constraints = self.constraints(pod_class, columns, hard=True)
        return PreFilterState(constraints, pod_class, columns, self._release) if constraints else Skip()

    def pre_score(self, pod_class: PodClass, columns: Columns) -> PreScoreState:
        soft, require_all = self.constraints(pod_class, columns, hard=False), self.requires_all_keys(pod_class)
        return PreScoreState(soft, pod_class, columns, require_all=require_all, release=self._release)

    def counts(
        self, pod_class: PodClass, columns: Columns, feasible: Optional[Bools] = None
    ) -> Iterator[tuple[DomainCounts, bool]]:
        """Yield the counts of each constraint, and whether it is hard; `feasible` are the nodes that fit, if known."""
        hard = self.constraints(pod_class, columns, hard=True)
        yield from ((item, True) for item in PreFilterState(hard, pod_class, columns, self._release).counts)
        soft = self.constraints(pod_class, columns, hard=False)
        if feasible is None:
            # Scoring counts the domains of nodes that fit. These would change with every pod, so full nodes count, too.
            feasible = match_affinity(pod_class.node_requirement, columns) & match_taints(pod_class, columns)
            feasible &= ~columns.unschedulable
        every = soft_counts(soft, pod_class, columns, feasible, require_all=self.requires_all_keys(pod_class))
        yield from ((item, False) for item in every)

    def requires_all_keys(self, pod_class: PodClass) -> bool:
        """Return whether scoring leaves out nodes that lack a key: not for the built-in defaults."""
        return bool(pod_class.constraints) or self.configured_defaults is not None

    def constraints(self, pod_class: PodClass, columns: Columns, *, hard: bool) -> tuple[Constraint, ...]:
        """Return the pod's own constraints of one action, or the cluster's defaults if the pod has none at all."""
        if pod_class.constraints:
            return filter_topology_spread_constraints(pod_class, hard=hard, release=self._release)
        defaults = SYSTEM_DEFAULTS if self.configured_defaults is None else self.configured_defaults
        if not any(constraint.is_hard == hard for constraint in defaults):
            return ()
        selector = default_selector(pod_class, columns, self._release)
        return () if selector.is_empty else with_selector(defaults, pod_class, selector, hard=hard)


def default_selector(pod_class: PodClass, columns: Columns, release: Release = LATEST) -> Selector:
    """Return the selector of the Services that select a pod and of its controller; empty without any."""
    equalities: dict[str, str] = {}
    for service in selecting_services(pod_class, columns):
        equalities.update(service.selector or {})
    more: list[LabelRequirement] = []
    for owner in selecting_owners(pod_class, columns, release):
        found = columns.cluster.owner_selectors.get(owner)
        requirements = () if found is None or found.requirements is None else found.requirements
        if owner.kind == "ReplicationController":
            # Its selector is a map like a Service's and overrides theirs; the selectors of other owners are added.
            equalities.update((requirement.key, requirement.values[0]) for requirement in requirements)
        else:
            more += requirements
    return Selector((*(LabelRequirement(key, "In", (value,)) for key, value in sorted(equalities.items())), *more))


def selecting_services(pod_class: PodClass, columns: Columns) -> list[Service]:
    """Return the Services that select a pod."""
    labels = dict(pod_class.labels)
    return [
        service
        for service in columns.cluster.services
        if service.namespace == pod_class.namespace
        and service.selector is not None
        and service.selector.items() <= labels.items()
    ]


def selecting_owners(pod_class: PodClass, columns: Columns, release: Release = LATEST) -> list[ObjectKey]:
    """Return the controllers whose selectors count: the pod's own, in older releases all that select the pod."""
    if behaviours.DEFAULTS_BY_OWNER.of(release):
        owner = selecting_owner(pod_class)
        return [] if owner is None else [owner]
    labels = dict(pod_class.labels)
    return [
        key
        for kind in _SELECTING_OWNERS
        for key, selector in columns.cluster.owner_selectors.items()
        if key.kind == kind
        and key.namespace == pod_class.namespace
        and selector.requirements
        and selector.matches(labels)
    ]


def selecting_owner(pod_class: PodClass) -> Optional[ObjectKey]:
    """Return the pod's controller, if it is of a kind whose selector counts."""
    owner = pod_class.owner
    if owner is None or _SELECTING_OWNERS.get(owner.kind) != owner.api_version:
        return None
    return pod_class.owner_key
