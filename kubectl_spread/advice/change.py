"""A proposed change before it is simulated, and suggestions: changes with their simulated effects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import Enum, IntEnum
from typing import NamedTuple, Optional, TYPE_CHECKING, Union

from kubectl_spread.advice.actions import Action, AddNodes, EditNode, EditSpec, SetRollout
from kubectl_spread.advice.plan import HypotheticalCluster
from kubectl_spread.advice.target import Manager, Op
from kubectl_spread.engine.results.certainty import Basis, Certainty, certainty
from kubectl_spread.explain.requirements.requirement import RequirementId
from kubectl_spread.objects.constraints.constraint import ConstraintCounts
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.reading.plain import Plain

if TYPE_CHECKING:
    from kubectl_spread.advice.problem import PendingPodProblem


class Damage(IntEnum):
    """Worst side effect of a change. Suggestions are ordered by it first."""

    NONE = 0
    EVICTS = 1  # the scheduler evicts running pods of a lower priority
    RESTARTS = 2  # Running pods are deleted, and re-created on other nodes.
    KILLS = 3  # Running pods end and are not re-created unchanged.
    LOSES_DATA = 4


class Rank(IntEnum):
    """Order in which an expert would try changes: waiting first, then mistakes, then rules to loosen."""

    WAIT = 0
    MISTAKE = 1  # The written value is an obvious mistake.
    NODE_LABEL = 3
    RECORDON = 4
    NODE_KIND = 5  # Pods select the nodes that can run them.
    AFFINITY_POLICY = 6
    TAINTS_POLICY = 7
    OUTAGE = 8  # nodes that are down come back
    SELECTOR = 9
    REVISION = 10
    REPLICAS = 11  # a claim that one pod may use holds the others back
    MIN_DOMAINS = 12
    ROLLOUT = 14
    HOST_PORT = 15
    UNCORDON = 16
    EMPTY_NODE = 17
    NEW_LABEL = 18
    STORAGE_CLASS = 19
    CLAIM = 20
    IDLE_NODES = 21  # a toleration of a taint whose nodes run no pods
    CAPACITY = 22  # a new node where the nodes of a domain are full
    MAX_SKEW = 24
    NEW_NODE = 27
    FIRST_NODE = 28  # a node in a domain whose nodes are all of the control plane
    OTHER_KEY = 31
    SOFT_CONSTRAINT = 32
    WIDE_SKEW = 33  # a maxSkew that hardly spreads any more
    PRIORITY = 34
    SPREAD_AFFINITY = 35  # a constraint in place of an anti-affinity
    SOFT_AFFINITY = 36
    REQUESTS = 40
    PREFERRED_NODES = 43
    TOLERATION = 44
    NODE_SELECTOR = 45
    TAINT = 50
    SCALED = 52
    MOVED_POD = 54
    SIBLING = 55
    HOLDER = 56
    TERMINATING = 58
    RISKY_TOLERATION = 60
    OTHER_TIER = 62  # a node that has another value of the label on purpose


# Template changes that correct a mistake which keeps the workload from running. All others loosen a rule.
REPAIRS = frozenset(
    (
        Rank.MISTAKE,
        Rank.NODE_KIND,
        Rank.SELECTOR,
        Rank.REVISION,
        Rank.MIN_DOMAINS,
        Rank.ROLLOUT,
        Rank.HOST_PORT,
    )
)
# Node changes that remove a taint or a node, take a node from another tier, or open a domain for workloads.
_LARGE = frozenset((Rank.TAINT, Rank.EMPTY_NODE, Rank.FIRST_NODE, Rank.OTHER_TIER))


class Change(NamedTuple):
    """A proposed change that has not been simulated yet.

    actions: an `Op` edits the pod's manifest. family: changes of one family are alternatives, and only a few of them
    are shown. rank: position in the order in which an expert would try changes. weight: order among changes of one
    rank. relaxes: ids of the requirements (`explain.requirements`) that it loosens; empty if it may loosen any.
    gives_up: a sentence about the drawback. parts: number of proposals combined in it. damage: the worst effect on pods
    and data. fold: group of equivalent changes, such as one per equal node; only the best of a group is shown. Empty if
    the change is in no group.
    """

    title: str
    actions: Sequence[Union[Action, Op]]
    family: str
    rank: int
    weight: int = 0
    relaxes: Collection[RequirementId] = ()
    gives_up: str = ""
    notes: tuple[str, ...] = ()
    parts: int = 1
    damage: Damage = Damage.NONE
    fold: str = ""

    @property
    def is_of_manifest(self) -> bool:
        return all(action.is_of_manifest for action in self.ordered_actions)

    @property
    def edits_template(self) -> bool:
        """Return whether the change edits the pod template, so that the workload's pods are re-created."""
        return any(isinstance(action, Op) for action in self.actions)

    @property
    def is_gentle(self) -> bool:
        """Return whether an expert would try the change before restarting pods.

        Such a change corrects a mistake, or is a small change of nodes.
        """
        return self.rank in REPAIRS or not (self.edits_template or self.rank in _LARGE)

    @property
    def ordered_actions(self) -> list[Action]:
        """Return the actions in the order to carry them out, with all edits of the pod's manifest merged into one.

        The rollout's settings and nodes come before the template: once that has changed, the rollout begins. New nodes
        come before other changes of nodes, as no command adds them.
        """
        ops = tuple(action for action in self.actions if isinstance(action, Op))
        others = [action for action in self.actions if not isinstance(action, Op)]
        edits = [EditSpec(ops)] if ops else []
        first = (SetRollout, AddNodes, EditNode, EditSpec)
        return sorted([*edits, *others], key=lambda action: [not isinstance(action, kind) for kind in first])

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        """Return the hypothetical cluster after all actions of the change."""
        for action in self.ordered_actions:
            scene = action.apply(scene)
        return scene


class Ladder(NamedTuple):
    """Changes of one kind in increasing strength. The search looks for the first that is enough."""

    size: int
    step: Callable[[int], Change]


Proposal = Union[Change, Ladder]


def ids_of(problem: PendingPodProblem, **wanted: object) -> frozenset[RequirementId]:
    """Return the ids of the requirements with some values in their fields."""
    return frozenset(
        item.id
        for item in problem.explanation.requirements
        if all(getattr(item, name) == value for name, value in wanted.items())
    )


class SpreadChange(NamedTuple):
    """Matching pods per domain of a constraint, before and after the change.

    Domains that the constraint does not count are left out. `after` is one outcome. `ranges` has the lowest and highest
    count of all outcomes, `skews` the lowest and highest skew.
    """

    topology_key: str
    before: ConstraintCounts
    after: ConstraintCounts
    ranges: dict[str, tuple[int, int]] = {}  # noqa: RUF012 (never written to)
    skews: Optional[tuple[int, int]] = None


class Effect(NamedTuple):
    """Simulated effect of a change on the workload, at rest after it.

    placed_before, placed_after, pending_before, pending_after: pods with and without a node; pending_after does not
    count the problem's pod. nodes: nodes of the problem's pod, or of its replacement, in the outcomes found.
    without_node: the workload's pods that have no node now, including pods that the scheduler can place without a
    change. outcomes: number of different outcomes found; basis: whether there are others. restarts: running pods that
    are replaced, the most in any outcome. under_way: how many of these belong to a rollout that has already begun.
    is_new: the change begins another rollout. running: pods that run now. lost: names of pods that end and that no
    controller creates again. volumes: whose data is lost. not_followed: effects that
    were not simulated. is_followed: these do not decide whether the change helps.
    """

    placed_before: int
    placed_after: int
    pending_before: int
    pending_after: int
    nodes: tuple[str, ...]
    spreads: tuple[SpreadChange, ...] = ()
    without_node: int = 0
    outcomes: int = 1
    basis: Basis = Basis.SAMPLE
    restarts: int = 0
    under_way: int = 0
    is_new: bool = False
    running: int = 0
    lost: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    not_followed: tuple[str, ...] = ()
    is_followed: bool = True

    @property
    def is_exact(self) -> bool:
        """Return whether there are no other outcomes."""
        return self.basis.is_exact

    @property
    def certainty(self) -> Certainty:
        """Return POSSIBLE if there are several outcomes, or not all were simulated."""
        ranges = [ends for spread in self.spreads for ends in spread.ranges.values()]
        alike = sum(least < most for least, most in ranges)  # One outcome also stands for exchanges of equal nodes.
        return certainty(self.basis, self.outcomes + alike)


class Suggestion(NamedTuple):
    """A change after which no pod of the workload waits.

    changes: for programs. lines: the changed fields, as they would be written. is_of_manifest: the cluster does not
    change. managed_by: tool that manages the changed object and would revert the change.
    """

    title: str
    changes: tuple[Plain, ...]
    lines: tuple[str, ...]
    commands: tuple[str, ...]
    effect: Effect
    gives_up: str
    notes: tuple[str, ...]
    is_of_manifest: bool
    managed_by: Optional[Manager] = None

    @property
    def verified(self) -> bool:
        """Return whether the change was simulated to its end; else only the waiting pods were simulated."""
        return self.effect.is_followed

    @property
    def is_complete(self) -> bool:
        """Return whether none of the workload's pods stays Pending."""
        return not self.effect.pending_after


class Why(Enum):
    """Reason why a change does not help."""

    NOT_APPLICABLE = "not applicable"
    POD_WAITS = "the pod still finds no node"
    OWN_WAIT = "pods of the workload wait in the end"
    OTHERS_WAIT = "pods of another workload wait in the end"
    NOT_SETTLED = "the cluster does not come to rest"


class Setback(NamedTuple):
    """Why a change does not help: how many pods of which workload wait, or what the scheduler says about the pod."""

    why: Why
    number: int = 0
    owner: Optional[ObjectKey] = None
    message: str = ""
    title: str = ""


class Suggestions(NamedTuple):
    """Suggestions, best first.

    tried: number of simulated changes. verified: how many of them helped. not_tried: changes that were not simulated.
    harmful: changes that help but are not among the items, because they end or restart running pods or lose data.
    failed: if nothing helps, the most obvious changes, and why they do not help.
    """

    items: tuple[Suggestion, ...] = ()
    tried: int = 0
    verified: int = 0
    not_tried: int = 0
    harmful: int = 0
    failed: tuple[Setback, ...] = ()
