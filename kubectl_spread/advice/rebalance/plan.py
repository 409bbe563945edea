"""Records of a plan: evictions, their effect on each constraint, and the reasons if there is no plan."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.explain.status import ConstraintStatus
from kubectl_spread.objects.keys import ObjectKey, Range


class RepairVerdict(Enum):
    """Result for some workloads.

    EVICT: a list of evictions repairs the constraints. RESTART: only, or better, a rollout restart does. NO_PLAN:
    neither does.
    """

    EVICT = "evict"
    RESTART = "restart"
    NO_PLAN = "noPlan"


class Eviction(NamedTuple):
    """An eviction of a running pod.

    nodes: nodes on which the replacement may land, over all outcomes. places: their domains, by topology key. budget:
    name of the PodDisruptionBudget that selects the pod. volatile: volumes whose data is lost with the pod.
    asks_budgets: the API server has to check budgets: one selects the pod, or one that is not known may. uid: empty if
    unknown.
    """

    pod: str
    owner: ObjectKey
    node: str
    nodes: tuple[str, ...]
    places: dict[str, tuple[str, ...]]
    budget: str
    volatile: tuple[str, ...]
    asks_budgets: bool
    uid: str


class DomainChange(NamedTuple):
    """Matching pods of a domain before and after."""

    value: str
    before: int
    after: Optional[Range]


class ConstraintChange(NamedTuple):
    """A constraint before and after a plan; `after` and `skew_after` are None without a plan.

    status, is_violated: before.
    """

    owner: ObjectKey
    status: ConstraintStatus
    is_violated: bool
    domains: tuple[DomainChange, ...]
    skew_after: Optional[Range]


class Coverage(NamedTuple):
    """What was visited: outcomes at the end, states on the way, and how far the answer holds.

    is_in_motion: the cluster facts are of a moment in which pods are created or deleted, so that others may follow.
    """

    outcomes: int
    states: int
    basis: Basis
    is_in_motion: bool = False

    @property
    def is_exact(self) -> bool:
        """Return whether the constraints hold in every possible outcome."""
        return self.basis.is_exact


class UnclearBudget(NamedTuple):
    """A PodDisruptionBudget whose selected pods are unknown.

    selector_error: why its selector is invalid; empty if the whole object does not decode.
    """

    namespace: str
    name: str
    selector_error: str = ""


class EvictionPlan(NamedTuple):
    """A list of evictions, one after the other, each once the replacement of the previous pod is ready.

    at_least: no list shorter than this repairs the constraints. fewest_ready: the fewest ready pods of each workload on
    the way. ready: its ready pods at the end. unsettled: workloads with a change under way, which has to end before.
    rolled_out: workloads of which `kubectl rollout status` tells when they are complete. autoscaled: workloads whose
    replicas an autoscaler may change meanwhile. has_all_budgets: whether all budgets are in the facts. unclear_budgets:
    those of them that may select the pods.
    """

    evictions: tuple[Eviction, ...]
    at_least: int
    coverage: Coverage
    changes: tuple[ConstraintChange, ...]
    fewest_ready: dict[ObjectKey, int]
    ready: dict[ObjectKey, int]
    unsettled: tuple[ObjectKey, ...] = ()
    rolled_out: frozenset[ObjectKey] = frozenset()
    autoscaled: tuple[ObjectKey, ...] = ()
    has_all_budgets: bool = True
    unclear_budgets: tuple[UnclearBudget, ...] = ()

    @property
    def is_smallest(self) -> bool:
        """Return whether no shorter list repairs the constraints."""
        return len(self.evictions) <= self.at_least


class RestartPlan(NamedTuple):
    """A rollout restart that repairs the constraints in every outcome.

    pods: number of running pods, which it replaces. volatile: volumes whose data is lost with these.
    """

    key: ObjectKey
    pods: int
    wanted: int
    fewest_ready: int
    coverage: Coverage
    changes: tuple[ConstraintChange, ...]
    volatile: tuple[str, ...]


class ObstacleKind(Enum):
    """Reason why evictions do not repair the constraints.

    CONTROLLER: what the controller does is not simulated. ABSENT: the controller is not in the cluster facts.
    UNKNOWN_CLAIMS: claims of running pods are not in the facts, so that their volumes may keep the pods in a zone.
    UNSETTLED: a rollout or another change is under way. UNCOUNTED: the selector misses running pods. NO_DOMAIN: no node
    counts. UNREACHABLE: no distribution of the movable pods satisfies the constraint. CONFLICT: none satisfies all
    constraints together. PINNED: volumes keep pods in their domain. REFUSED: a budget refuses an eviction. PENDING: a
    replacement finds no node. UNCREATED: it is not created, or refused. DISPLACES: a replacement would evict other
    pods. UNREADY: replacements do not become ready. ENDLESS: pods are replaced again and again. RETURNS: evictions
    succeed, but replacements may land where they do not help. TOO_MANY: a plan needs more evictions than allowed.
    GAVE_UP: the search ended early.
    """

    CONTROLLER = "controller"
    ABSENT = "absent"
    UNKNOWN_CLAIMS = "unknownClaims"
    UNSETTLED = "unsettled"
    UNCOUNTED = "uncounted"
    NO_DOMAIN = "noDomain"
    UNREACHABLE = "unreachable"
    CONFLICT = "conflict"
    PINNED = "pinned"
    REFUSED = "refused"
    PENDING = "pending"
    UNCREATED = "uncreated"
    DISPLACES = "displaces"
    UNREADY = "unready"
    ENDLESS = "endless"
    RETURNS = "returns"
    TOO_MANY = "tooMany"
    GAVE_UP = "gaveUp"


class Obstacle(NamedTuple):
    """A reason, with the pods or workloads that it concerns, and the message of a component if there is one."""

    kind: ObstacleKind
    owner: Optional[ObjectKey] = None
    pods: tuple[str, ...] = ()
    message: str = ""
    topology_keys: tuple[str, ...] = ()
    number: int = 0


class RemedyKind(Enum):
    """A change that makes a plan possible."""

    ADD_NODES = "addNodes"
    UNCORDON = "uncordon"
    BUDGET = "budget"
    BY_REVISION = "matchLabelKeys"
    HONOR_TAINTS = "honorTaints"
    HONOR_BY_REVISION = "honorTaintsAndMatchLabelKeys"
    MIN_DOMAINS = "minDomains"
    MIN_DOMAINS_BY_REVISION = "minDomainsAndMatchLabelKeys"
    MAX_SKEW = "maxSkew"
    SOFTEN = "soften"


class Remedy(NamedTuple):
    """A simulated change after which the constraints hold.

    nodes: nodes to uncordon, or for each node to add its domain of `topology_key`. like: node that new nodes resemble.
    name: the budget. number: new value of the changed field. evictions: how many are needed after the change.
    is_rollout: the change starts a rollout that repairs the constraints.
    """

    kind: RemedyKind
    owner: ObjectKey
    topology_key: str = ""
    nodes: tuple[str, ...] = ()
    like: str = ""
    name: str = ""
    number: int = 0
    position: int = 0
    evictions: int = 0
    is_rollout: bool = False
    is_exact: bool = True


class Repair(NamedTuple):
    """Result for workloads that are repaired together.

    keys: the workloads. wanted: the number of their pods. before: their violated constraints. plan, restarts: what
    repairs them. obstacles: why evictions do not. remedies: what would make a plan possible.
    """

    keys: tuple[ObjectKey, ...]
    wanted: dict[ObjectKey, int]
    verdict: RepairVerdict
    before: tuple[ConstraintChange, ...]
    plan: Optional[EvictionPlan]
    restarts: tuple[RestartPlan, ...]
    obstacles: tuple[Obstacle, ...]
    remedies: tuple[Remedy, ...] = ()

    @property
    def is_repaired(self) -> bool:
        """Return whether a plan repairs the constraints in every outcome."""
        return self.verdict is not RepairVerdict.NO_PLAN


class Rebalance(NamedTuple):
    """Result for all selected workloads.

    repairs: those with violated constraints. checked: the selected workloads. notes: features
    that were not simulated. is_cut_short: a limit ended a search.
    """

    repairs: tuple[Repair, ...]
    checked: tuple[ObjectKey, ...]
    notes: tuple[str, ...] = ()
    is_cut_short: bool = False

    @property
    def is_fine(self) -> bool:
        """Return whether every violated constraint has a plan."""
        return all(item.is_repaired for item in self.repairs)
