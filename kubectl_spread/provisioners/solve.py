"""What Karpenter would do about pods that fit nowhere: the set of outcomes, and an answer for each pod.

Karpenter draws at random: the zone among equal counts, the order of equal pods, which of several rules is named. So one
round has several outcomes. `solve` visits all of them, and merges states in which only pods of one kind are swapped; if
there are too many, it follows some of them and says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.selectors import HOSTNAME, NODE_POOL, ZONE
from kubectl_spread.provisioners import machines, versions
from kubectl_spread.provisioners import pods as pod_rules
from kubectl_spread.provisioners import requirement as algebra
from kubectl_spread.provisioners.machines import Claim
from kubectl_spread.provisioners.objects import Amounts, NodePool, PoolState
from kubectl_spread.provisioners.reading import Gap, GapKind, Provisioning
from kubectl_spread.provisioners.refusals import Cause, Refusal
from kubectl_spread.provisioners.requirement import Requirements
from kubectl_spread.provisioners.round import Round, State
from kubectl_spread.provisioners.versions import Rule

MOST_STEPS = 30_000  # tries of a pod, times the number of pods: a step takes longer in a large round
_SAMPLES = 6  # states that are followed if there are more


class NewNode(NamedTuple):
    """A NodeClaim that Karpenter would create.

    requirements: after solving, without those that only name the pool.
    types, zones, capacity_types: what is left of them; the provider chooses.
    """

    pool: str
    requirements: Requirements
    types: tuple[str, ...]
    zones: tuple[str, ...]
    capacity_types: tuple[str, ...]
    requests: Amounts
    pods: tuple[Pod, ...]


class Outcome(NamedTuple):
    """One way in which a round may end; `errors` by the key of a pod, one reason for each pool in order."""

    nodes: tuple[NewNode, ...]
    existing: dict[str, tuple[Pod, ...]]
    errors: dict[str, tuple[Refusal, ...]]


class Answer(Enum):
    """Whether a pod gets a node."""

    YES = "yes"
    NO = "no"
    DEPENDS = "depends"


class PodAnswer(NamedTuple):
    """The answer for one pod.

    gaps: what it depends on.
    existing: nodes that exist, and may take it.
    new: nodes that Karpenter may create for it.
    errors: why each pool gives it none, as in the first outcome in which it gets no node.
    ignored: why Karpenter does not look at it, in its words.
    """

    pod: Pod
    gaps: tuple[Gap, ...] = ()
    existing: tuple[str, ...] = ()
    new: tuple[NewNode, ...] = ()
    errors: tuple[Refusal, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def answer(self) -> Answer:
        return Answer.DEPENDS if self.gaps else Answer.NO if self.errors or self.ignored else Answer.YES


class Solution(NamedTuple):
    """All outcomes of a round; `is_complete` is False if only some of them are known."""

    outcomes: tuple[Outcome, ...]
    answers: tuple[PodAnswer, ...]
    pools: tuple[NodePool, ...]  # in the order in which Karpenter tries them; pools without nodes to give come last
    is_complete: bool


def solve(
    cluster: Cluster,
    pending: Iterable[Pod],
    provisioning: Provisioning,
    *,
    most_steps: int = MOST_STEPS,
) -> Solution:
    """Return what Karpenter does about pods that kube-scheduler has found unschedulable.

    Args:
        cluster: nodes, running pods, DaemonSets, volumes.
        pending: the pods; those that Karpenter never looks at are left out.
        provisioning: pools and what belongs to them.
        most_steps: how many tries of a pod are made in search of all outcomes, times the number of pods.
    """
    rules = versions.rules(provisioning.options.version)
    by_weight = sorted(provisioning.pools, key=lambda pool: (pool.weight, pool.name), reverse=True)
    pools = [pool for pool in by_weight if pool.state is PoolState.USED]
    others = [pool for pool in by_weight if pool.state is not PoolState.USED]
    taking = [pod for pod in pending if pod_rules.takes_part(pod)]
    known, refuses = provisioning.options.well_known, Rule.REFUSES_CLAIMS in rules
    ignored = {}
    for pod in taking:
        reasons = pod_rules.refusal_reasons(pod.cls, cluster.storage, known, refuses_claims=refuses)
        if reasons:
            ignored[pod.key] = tuple(reasons)
    solved = [pod for pod in taking if pod.key not in ignored]
    if not pools:
        reason = (Refusal(Cause.NO_POOLS, detail="no dynamic nodepools found"),)
        outcomes, is_complete = [Outcome((), {}, {pod.key: reason for pod in solved})], True
    else:
        game = Round(cluster, solved, provisioning, pools)
        outcomes, is_complete = _outcomes(game, most_steps)
        is_complete = is_complete or not game.templates
        names = {template.pool.name for template in game.templates}
        pools = [pool if pool.name in names else pool._replace(state=PoolState.NO_TYPE) for pool in pools]
    answers = _answers(taking, ignored, outcomes, provisioning, pools, is_complete=is_complete)
    return Solution(tuple(outcomes), tuple(answers), (*pools, *others), is_complete)


def _branches(game: Round, state: State) -> Iterator[State]:
    """Yield the states to which the next pod may lead, one for each way to draw."""
    for at in game.heads(state):
        answers: list[int] = []
        while True:
            taken: list[tuple[int, int]] = []  # each draw with its number of answers

            def choose(number: int, answers: list[int] = answers, taken: list[tuple[int, int]] = taken) -> int:
                taken.append((answers[len(taken)] if len(taken) < len(answers) else 0, number))
                return taken[-1][0]

            yield game.step(state, at, choose)
            while taken and taken[-1][0] + 1 == taken[-1][1]:
                taken.pop()
            if not taken:
                break
            answers = [answer for answer, _ in taken]
            answers[-1] += 1


def _outcomes(game: Round, most_steps: int) -> tuple[list[Outcome], bool]:
    """Return all outcomes of a round and True, or some and False if there are too many steps to them."""
    found: dict[object, Outcome] = {}
    layer = {_key(game, state): state for state in game.begin()}
    steps, most = 0, most_steps // max(1, len(game.pods))
    while layer:
        every = -(-len(layer) // _SAMPLES) if steps > most else 1  # Of many, some are followed, each in one way.
        states, layer = list(layer.values())[::every], {}
        for state in states:
            is_over = True
            for successor in _branches(game, state):
                is_over = False
                steps += 1
                layer.setdefault(_key(game, successor), successor)
                if steps > most:  # One state may have very many ways.
                    break
            if not is_over:
                continue
            claims, used = _shape(game, state)
            errors = Counter((game.kinds[at].number, state.errors[at]) for at in state.tail)
            # Outcomes that differ only in names are one.
            shown = frozenset(Counter(claims).items()), used, frozenset(errors.items())
            if shown not in found:
                found[shown] = Outcome(
                    tuple(_new_node(game, claim) for claim in state.claims),
                    {item.name: tuple(game.pods[at] for at in item.placed) for item in state.machines if item.placed},
                    {game.pods[at].key: state.errors[at] for at in state.tail},
                )
    return list(found.values()), steps <= most


def _shape(game: Round, state: State) -> tuple[list[object], frozenset[object]]:
    """Return what tells the nodes of two states apart: pods of one kind, and names of new nodes, do not."""
    claims: list[object] = [
        (
            claim.pool.name,
            tuple(sorted(game.kinds[at].number for at in claim.placed)),
            frozenset(item for key, item in claim.requirements.items() if key != HOSTNAME),
            claim.mask,
        )
        for claim in state.claims
    ]
    used = ((at, machine) for at, machine in enumerate(state.machines) if machine.placed)
    return claims, frozenset(
        (at, tuple(sorted(game.kinds[one].number for one in item.placed)), frozenset(item.requirements.values()))
        for at, item in used
    )


def _key(game: Round, state: State) -> object:
    """Return what tells two states apart."""
    kinds, (claims, machines) = game.kinds, _shape(game, state)
    hosts = {claim.host: at for at, claim in enumerate(state.claims)}

    def numbers(counts: dict[str, int]) -> frozenset[tuple[object, int]]:
        if hosts.keys().isdisjoint(counts):
            return frozenset(counts.items())
        return frozenset((hosts.get(name, name), number) for name, number in counts.items())

    return (
        tuple(tuple(sorted(kinds[at].number for at in bag)) for bag in state.bags),
        tuple((kinds[at].number, state.pushed.get(at), state.relaxed.get(at), state.errors[at]) for at in state.tail),
        tuple(claims),
        machines,
        frozenset((pool, frozenset(limits.items())) for pool, limits in state.remaining.items()),
        frozenset((number, group, numbers(counts)) for number, (group, counts) in state.groups.items()),
    )


def _new_node(game: Round, claim: Claim) -> NewNode:
    kept, allowed = claim.types.of(claim.mask), claim.requirements
    offerings = [offering for item in kept for offering in machines.sold(item, allowed)]
    zones = {zone for zone, _ in offerings}
    if claim.types.is_open and ZONE in allowed and not allowed[ZONE].complement:
        zones = set(allowed[ZONE].values)
    hidden = (HOSTNAME, NODE_POOL, claim.pool.class_ref.label)
    return NewNode(
        claim.pool.name,
        {key: item for key, item in allowed.items() if key not in hidden},
        tuple(sorted(item.name for item in kept if item.name)),
        tuple(sorted(zones)),
        tuple(sorted({capacity_type for _, capacity_type in offerings if capacity_type})),
        claim.requests,
        tuple(game.pods[at] for at in claim.placed),
    )


def _answers(
    taking: list[Pod],
    ignored: dict[str, tuple[str, ...]],
    outcomes: list[Outcome],
    provisioning: Provisioning,
    pools: list[NodePool],
    *,
    is_complete: bool,
) -> Iterator[PodAnswer]:
    places: list[dict[str, object]] = []
    for outcome in outcomes:
        found: dict[str, object] = {pod.key: node for node in outcome.nodes for pod in node.pods}
        places.append(found | {pod.key: name for name, placed in outcome.existing.items() for pod in placed})
    rules = versions.rules(provisioning.options.version)
    is_simulated = all(versions.is_simulated(pod.cls, rules) for pod in taking if pod.key not in ignored)
    of_types = {gap.pool: gap for gap in provisioning.gaps if gap.pool}
    for pod in taking:
        if pod.key in ignored:
            yield PodAnswer(pod, ignored=ignored[pod.key])
            continue
        existing = tuple(dict.fromkeys(place for one in places if isinstance(place := one.get(pod.key), str)))
        new = [place for one in places if isinstance(place := one.get(pod.key), NewNode)]
        errors = [outcome.errors[pod.key] for outcome in outcomes if pod.key in outcome.errors]
        # The missing facts that could change the answer
        gaps = [gap for gap in provisioning.gaps if not gap.pool]
        names = {node.pool for node in new}
        gaps += [gap for gap in of_types.values() if gap.kind is GapKind.INSTANCE_TYPES and gap.pool in names]
        for refusal in (refusal for reasons in errors for refusal in reasons):
            if refusal.pool in of_types and refusal.cause in (Cause.INSTANCE_TYPES, Cause.MIN_VALUES, Cause.LIMITS):
                gaps.append(of_types[refusal.pool])
        for key in dict.fromkeys(item.topology_key for item in pod.cls.constraints) if new or errors else ():
            for pool in pools if key not in (HOSTNAME, NODE_POOL) else ():
                is_open = algebra.get(pool.allowed, key).operator == "Exists" and not (key == ZONE and pool.zones)
                if pool.name in of_types and is_open:
                    gaps.append(Gap(GapKind.DOMAINS, pool.name, key))
        gaps += [] if is_simulated else [Gap(GapKind.RELEASE)]
        gaps += [Gap(GapKind.DRAW)] if errors and (existing or new) else []
        gaps += [] if is_complete else [Gap(GapKind.SEARCH)]
        distinct = tuple({(node.pool, node.zones, node.types): node for node in reversed(new)}.values())
        yield PodAnswer(pod, tuple(dict.fromkeys(gaps)), existing, distinct, errors[0] if errors else ())
