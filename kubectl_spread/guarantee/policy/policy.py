"""Policies: rules for groups of pods."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.guarantee.policy.rule import PolicyRule
from kubectl_spread.objects.keys import Range
from kubectl_spread.objects.selectors.selector import Selector


class Regime(Enum):
    """Events during which a policy is to hold. Each regime includes the events of the previous ones."""

    CREATION = "creation"  # the pods are created, in any order
    RESTARTS = "restarts"  # any pods are deleted and created again, at a constant number of replicas
    ROLLOUTS = "rollouts"  # a new template is rolled out
    SCALING = "scaling"  # the number of replicas changes within a range
    DISRUPTIONS = "disruptions"  # a node is drained, or a domain is lost


REGIMES = tuple(Regime)


class GroupSpec(NamedTuple):
    """Pods that a policy is about, and their rules.

    selector: of the pods' labels; None for every workload that is given. namespace: empty for all. is_each: every
    workload is a group of its own. replicas: range of each workload's replicas; None for the range of its autoscaler.
    shards: range of the number of workloads, which are created and deleted as a whole; None if it is constant.
    """

    rules: tuple[PolicyRule, ...]
    name: str = ""
    selector: Optional[Selector] = None
    namespace: str = ""
    is_each: bool = False
    replicas: Optional[Range] = None
    shards: Optional[Range] = None
    line: int = 0
    column: int = 0


class Policy(NamedTuple):
    """A policy: its groups, and the regimes in which it is to hold; `file` is empty for a policy of flags."""

    groups: tuple[GroupSpec, ...]
    name: str = ""
    file: str = ""
    regimes: tuple[Regime, ...] = REGIMES
