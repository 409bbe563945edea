"""Sentences about proofs: bounds, violations, the events of a way, and what is not followed."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence

from kubectl_spread.containers import grouped
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.guarantee.bound import Bound, BoundKind
from kubectl_spread.guarantee.model import Gap, GapKind, TransitionKind
from kubectl_spread.guarantee.policy import PolicyRule, Regime, RuleKind
from kubectl_spread.guarantee.texts import rule_text, violation_text
from kubectl_spread.guarantee.verdict import GroupResult, ProofStatus, RuleVerdict, Witness, WitnessEvent, worst
from kubectl_spread.objects.selectors import domain_noun
from kubectl_spread.report.wording import find_no_node, pods_by_domain, short_name, without_repeats
from kubectl_spread.text.wording import comma_list, count_noun

_NOT_CHECKED = "not checked"
VERDICTS = {
    ProofStatus.PROVED: "proved",
    ProofStatus.REFUTED: "refuted",
    ProofStatus.UNDECIDED: "not decided",
    ProofStatus.NOT_APPLICABLE: _NOT_CHECKED,
}
SETTLED, MOVING = "once settled", "while pods move"
_MOST_DOMAINS = 12
_MOST_OTHERS = 3  # names of other workloads


def short_verdict(item: RuleVerdict) -> str:
    """Return the verdict on a rule in a regime, in a few words."""
    is_idle = item.verdict is ProofStatus.NOT_APPLICABLE and item.rule.kind is RuleKind.REPLACED
    return "-" if is_idle else VERDICTS[item.verdict]


def policy_verdict(results: Sequence[GroupResult]) -> str:
    """Return the verdict on a policy, with the one once nothing moves by itself any more if it differs."""
    return verdict_text([item for result in results for each in result.results for item in each.rules])


def verdict_text(items: Sequence[RuleVerdict]) -> str:
    """Return the worst of some verdicts, with the one once nothing moves by itself any more if it differs."""
    verdict, settled = worst([item.verdict for item in items]), worst([item.once_settled.verdict for item in items])
    if verdict is ProofStatus.NOT_APPLICABLE:
        return "nothing to decide"
    if verdict is settled:
        return VERDICTS[verdict]
    return f"{VERDICTS[settled]} {SETTLED}, {VERDICTS[verdict]} {MOVING}"


def policy_answer(results: Sequence[GroupResult]) -> str:
    """Return the verdict on the policy's own rules, and on implied ones if it is worse or as bad, with these rules."""
    verdict = worst([item.verdict for item in results])
    every = [(regime, item) for result in results for found in by_rule(result) for regime, item in found]
    if verdict is ProofStatus.PROVED:
        left = {regime.value: None for regime, item in every if short_verdict(item) == _NOT_CHECKED}
        return f"{policy_verdict(results)}{f' ({comma_list(list(left), most=5)} not checked)' if left else ''}"
    if verdict is ProofStatus.NOT_APPLICABLE:
        return policy_verdict(results)
    own = [item for _, item in every if not item.rule.is_implied]
    own_verdict = worst([item.verdict for item in own])
    answer = "own rules proved"
    if own_verdict is not ProofStatus.PROVED:
        answer = f"{verdict_text(own)}: {'; '.join(_rules_with(own_verdict, results, is_implied=False))}"
    implied = _rules_with(verdict, results, is_implied=True)
    rules = "rules" if len(implied) > 1 else "rule"
    return f"{answer}; implied {rules} {VERDICTS[verdict]}: {'; '.join(implied)}" if implied else answer


def _rules_with(verdict: ProofStatus, results: Sequence[GroupResult], *, is_implied: bool) -> list[str]:
    """Return the rules with a verdict as their worst one, of several groups with the number of groups."""
    every = (found for result in results for found in by_rule(result) if found[0][1].rule.is_implied is is_implied)
    numbers = grouped(
        (
            rule_text(found[0][1].rule),
            (
                worst([item.verdict for _, item in found]) is verdict,
                worst([item.once_settled.verdict for _, item in found]) is verdict,
            ),
        )
        for found in every
    )
    few = {1: "1 group", 2: "both groups"}
    where = {}
    for text, has in numbers.items():
        number, settled = (sum(column) for column in zip(*has, strict=True))
        if 0 < settled < number:
            where[text] = f"{settled} of {len(has)} groups; {number - settled} more {MOVING}"
        elif number == len(has):
            where[text] = few.get(number, f"all {number} groups")
        elif number:
            where[text] = f"{number} of {len(has)} groups"
    return [f"{text} ({groups})" if len(results) > 1 else text for text, groups in where.items()]


Verdicts = Sequence[tuple[Regime, RuleVerdict]]


def by_rule(result: GroupResult) -> list[Verdicts]:
    """Return the verdicts in all regimes on each rule."""
    every = [[(item.regime, verdict) for verdict in item.rules] for item in result.results]
    return list(zip(*every, strict=True))


def answers(found: Verdicts) -> list[tuple[str, Verdicts]]:
    """Return the verdicts on a rule once settled, and those while pods move if there are others."""
    settled = [(regime, item.once_settled) for regime, item in found]
    if all(item.verdict is other.verdict for (_, item), (_, other) in zip(found, settled, strict=True)):
        return [("", settled)]
    return [(SETTLED, settled), (MOVING, found)]


def coincidence(witness: Witness) -> str:
    """Return a sentence about a way with many events that could have gone another way; empty for another."""
    if not witness.is_coincidence:
        return ""
    return f"This is a coincidence of {witness.chances} steps: each of them could have gone another way."


def proof(verdict: RuleVerdict, *, is_detailed: bool = True) -> str:
    """Return how a rule was proved: the bound, and with all details its arithmetic, or the number of states."""
    if verdict.bound is not None:
        return bound_text(verdict.bound, verdict.rule, is_detailed=is_detailed)
    if not is_detailed:
        return ""
    if verdict.basis is not Basis.ALL_OUTCOMES:
        return f"all {verdict.states:,} states were visited, whatever the workloads' names"
    return f"all {verdict.states:,} states were visited"


def decisions(verdicts: Verdicts, *, has_more: bool = False, is_detailed: bool = True) -> dict[str, list[Regime]]:
    """Return how a rule was decided, and the regimes that were decided so; has_more: what follows is named, too."""
    regimes: dict[str, list[Regime]] = {}
    for regime, verdict in verdicts:
        if verdict.verdict is ProofStatus.NOT_APPLICABLE:
            continue
        text = "refuted"
        if verdict.verdict is ProofStatus.PROVED:
            text = ": ".join(filter(None, ("proved", proof(verdict, is_detailed=is_detailed))))
        elif verdict.basis is Basis.STATE_LIMIT and not verdict.states:
            text = "not decided: the search ended before"
        elif verdict.basis is Basis.STATE_LIMIT:
            text = f"not decided: no violation in {verdict.states:,} visited states"
            text += ", and there are more" if has_more else ""
        elif verdict.verdict is ProofStatus.UNDECIDED:
            text = "not decided: it depends on something that is not simulated"
            text += "; see below" if has_more else ""
        regimes.setdefault(text, []).append(regime)
    return regimes


def bound_text(bound: Bound, rule: PolicyRule, *, is_detailed: bool) -> str:
    """Return a bound as a sentence, with all details also the arithmetic."""
    if bound.kind is BoundKind.EMPTIEST and bound.domains:
        need, zone = bound.domains * bound.times * bound.max_skew, domain_noun(bound.topology_key)
        return (
            f"the emptiest {zone} takes the pod: its nodes could only be too full after {bound.domains} x "
            f"{bound.times} x {bound.max_skew} = {count_noun(need, 'other pod')}, and there are at most "
            f"{bound.pods - 1}"
        )
    if bound.kind is BoundKind.EMPTIEST:
        where = (
            f"the {domain_noun(bound.topology_key)} with the fewest pods"
            if bound.topology_key
            else "every allowed node"
        )
        return f"{where} always passes the filters"
    if rule.kind in (RuleKind.PLACED, RuleKind.REPLACED):
        room, others = count_noun(bound.most, "pod"), count_noun(bound.pods, "other pod")
        if bound.topology_key:
            where = f"the {domain_noun(bound.topology_key)} with the fewest pods"
            return f"{where} has room for {room}, and holds at most {others}"
        return f"the allowed nodes have room for {room}, and hold at most {others}"
    key = rule.topology_key
    head = f"a {domain_noun(key)} holds at most {count_noun(bound.most, 'pod')}"
    if rule.kind is RuleKind.SEPARATE:
        head = f"a {domain_noun(key)} holds at most {count_noun(bound.most, 'pod')} of a workload"
    return f"{head}: {_reason(bound)}" if is_detailed else head


def _reason(bound: Bound) -> str:
    skew, size, pods = bound.max_skew, bound.domains, bound.pods
    where = domain_noun(bound.topology_key, plural=True) if bound.topology_key else ""
    if bound.kind is BoundKind.SKEW:
        return (
            f"maxSkew {skew} over {size} {where} with at most {count_noun(pods, 'pod')} at a time, "
            f"min({pods}, floor(({pods} + {size - 1} x {skew}) / {size})) = {bound.most}"
        )
    if bound.kind is BoundKind.EMPTY_DOMAIN:
        return f"one of the {size} counted {where} takes no pod, so that the minimum stays 0 and maxSkew {skew} decides"
    if bound.kind is BoundKind.MIN_DOMAINS:
        return f"there are fewer {where} than minDomains, so that the minimum is 0 and maxSkew {skew} decides"
    if bound.kind is BoundKind.ANTI_AFFINITY:
        return "required anti-affinity"
    if bound.kind is BoundKind.RUNNING:
        return "that many run there now"
    if bound.kind is BoundKind.ROOM:
        return "there is no room for more"
    if bound.kind in (BoundKind.PARTS, BoundKind.OWNERS) and isinstance(bound.part, Bound):
        what = f"{bound.times} {where}" if bound.kind is BoundKind.PARTS else f"{bound.times} workloads or revisions"
        each = "on each" if bound.kind is BoundKind.PARTS else "of each"
        return f"{what}, and at most {bound.part.most} {each} ({_reason(bound.part)})"
    return f"there are only {count_noun(bound.pods, 'pod')}"


def violation(witness: Witness) -> str:
    """Return the violation at the end of a way."""
    return violation_text(witness.evaluation, waiting=witness.waiting_pods)


def surge(witness: Witness) -> str:
    """Return the note that surge pods take part; empty if they do not."""
    return "Surge pods of the rollout are counted." if witness.has_surge else ""


def story(witness: Witness) -> list[str]:
    """Return the events of a way, one sentence each; pods that are placed, and equal events, are merged."""
    lines: list[str] = []
    for is_placed, group in itertools.groupby(witness.events, lambda event: event.kind is TransitionKind.PLACED):
        events = list(group)
        if not is_placed or len(events) == 1:
            lines += without_repeats(map(sentence, events))
            continue
        runs = [(pod, [event.node for event in run]) for pod, run in itertools.groupby(events, _pod)]
        places = [(_several(pod, len(nodes)), _nodes(nodes)) for pod, nodes in runs]
        if len(places) == 1:
            lines.append(f"{places[0][0]} go to {places[0][1]}.")
        else:
            separator = ", " if len(places) == len(events) else "; "
            lines.append(f"Pods go to nodes: {separator.join(f'{pods} to {nodes}' for pods, nodes in places)}.")
    return lines if witness.evaluation.rule.is_momentary else [*lines, *waiting_sentences(witness)]


def _several(pod: str, number: int) -> str:
    """Return a number of equal pods as the subject of a sentence."""
    if number == 1:
        return pod.removeprefix("pod ")
    return f"{number} {pod.removeprefix('a ').replace('pod of', 'pods of')}"


def _nodes(nodes: Sequence[str]) -> str:
    """Return the nodes of equal pods, with the number of pods on each where it is not clear."""
    numbers = Counter(nodes)
    if len(numbers) == 1:
        return comma_list(numbers)
    return comma_list((f"{node} ({number})" if number > 1 else node for node, number in numbers.items()), most=99)


def sentence(event: WitnessEvent) -> str:
    """Return an event as a sentence."""
    template, is_one = _SENTENCES[event.kind], len(event.domains) < 2
    if event.kind is TransitionKind.EVICTED and event.is_loss:
        is_stateful = event.owner is not None and event.owner.kind == "StatefulSet"
        assumption = " (assumed: its Node is deleted or out of service)" if is_stateful else ""
        template = f"{{pod}} is created again, as {{node}} is lost{assumption}."
    elif event.kind is TransitionKind.SHRUNK and not event.number:
        template = "The rollout of {owner} replaces all old pods."
    elif event.kind is TransitionKind.REMOVED and not event.node:
        template = "{pod}, which is Pending, is deleted by the scale-down."
        if event.number > 1:
            template = "{old_pods} of {owner} are deleted: on {nodes}."
    noun = domain_noun(event.topology_key, plural=not is_one) if event.is_loss else "node"
    nodes = comma_list(event.nodes, most=99)
    pods = f"pod{'s' if len(event.nodes) > 1 else ''} on {nodes}"
    return template.format(
        pod=_capital(_pod(event)),
        owner=event.owner.name if event.owner else "",
        object=short_name(event.owner),
        node=event.node,
        nodes=nodes,
        number=event.number,
        old_pods=count_noun(event.number, "old pod"),
        where=_capital(f"{noun} {comma_list(event.domains, most=3)}"),
        lost=f"{'is' if is_one else 'are'} lost" if event.is_loss else "is drained",
        again="" if event.is_surplus else ", and created again",
        kept=f", and keeps {count_noun(event.kept, 'old pod')}" if event.kept >= 0 else "",
        deleted=f", which deletes the {pods}" if event.nodes else "",
    )


def waiting_sentences(witness: Witness) -> list[str]:
    """Return a sentence for each workload whose pods stay Pending."""
    return [
        f"{count_noun(item.number, 'pod')} of {item.owner.name} {find_no_node(item.number)}" for item in witness.waiting
    ]


def _pod(event: WitnessEvent) -> str:
    name = event.owner.name if event.owner else ""
    if event.ordinal >= 0:
        return f"the new pod {name}-{event.ordinal}" if event.is_new else f"pod {name}-{event.ordinal}"
    return f"a {'new ' if event.is_new else ''}pod of {name}"


_WORDS = {"a", "the", "pod", *(f"{noun}{end}" for noun in ("node", "zone", "region") for end in ("", "s"))}


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}" if text.split(" ", 1)[0] in _WORDS else text


_SENTENCES = {
    TransitionKind.PLACED: "{pod} goes to {node}.",
    TransitionKind.RESTARTED: "{pod} on {node} is deleted{again}.",
    TransitionKind.ROLLED: "A rollout of {owner} begins{kept}.",
    TransitionKind.SHRUNK: "The rollout of {owner} keeps {old_pods}, and replaces the others.",
    TransitionKind.REMOVED: "{pod} on {node} is deleted by the scale-down.",
    TransitionKind.FINISHED: "The rollout of {owner} ends.",
    TransitionKind.SCALED: "{owner} is scaled to {number}{deleted}.",
    TransitionKind.CREATED: "{object} is created.",
    TransitionKind.DELETED: "{object} is deleted.",
    TransitionKind.DISRUPTED: "{where} {lost}.",
    TransitionKind.EVICTED: "{pod} is evicted from {node}.",
    TransitionKind.RETURNED: "{where} takes pods again.",
}


def counts_text(counts: dict[str, int]) -> str:
    """Return pods per domain: `a=3 b=2 c=1`."""
    if len(counts) > _MOST_DOMAINS:
        counts = {value: number for value, number in counts.items() if number}
    return pods_by_domain(counts, most=_MOST_DOMAINS)


def regimes_text(regimes: Sequence[Regime]) -> str:
    """Return names of regimes with commas."""
    return ", ".join(item.value for item in regimes)


def gap_sentences(gaps: Iterable[Gap]) -> list[str]:
    """Return what a proof does not follow, one sentence for all workloads that share it."""
    lines = []
    for gap, who in grouped((gap._replace(owner=None), short_name(gap.owner)) for gap in gaps).items():
        names = "" if gap.kind in _OF_ALL else f"{comma_list(who, most=_MOST_OTHERS)}: "
        lines.append(f"{names}{_gap_text(gap)}{_OPEN.get(gap.kind, '')}")
    return lines


def why_undecided(items: Iterable[RuleVerdict], gaps: Iterable[Gap]) -> str:
    """Return why a rule is not decided; gaps: of its group."""
    if any(item.basis is Basis.STATE_LIMIT for item in items):
        return "no violation in the visited states, and there are more"
    return "; ".join(dict.fromkeys(_gap_text(gap) for gap in gaps if gap.is_open))


def _gap_text(gap: Gap) -> str:
    return _GAPS[gap.kind].format(
        others=comma_list(map(short_name, gap.others), most=_MOST_OTHERS),
        what=gap.what,
        number=gap.number,
        pods=count_noun(gap.number, "running pod"),
    )


_OF_ALL = (GapKind.ROOM, GapKind.STAYING, GapKind.ONE_ROLLOUT, GapKind.SAME_CONSTRAINTS, GapKind.NO_RANGE)
_OPEN = {
    GapKind.VOLUMES: (
        ". Whether such a pod finds a node again, and violations that need it in another zone, are not decided"
    ),
    GapKind.CLAIMS: (". Whether the pods find nodes, and violations that need them in other zones, are not decided"),
    GapKind.AFFINITY: ". Whether the pods find nodes, and violations, are not decided",
}
_GAPS = {
    GapKind.FEATURE: "{what}",
    GapKind.VOLUMES: "volumes can keep a pod in the zone of its first node",
    GapKind.CLAIMS: "claims can keep pods in the zones of their volumes",
    GapKind.AFFINITY: "required pod affinity",
    GapKind.SCHEDULER: "the scheduler {what} places the pods, and its rules are unknown",
    GapKind.NODE_NAME: "spec.nodeName sends all pods to {what}, past the scheduler",
    GapKind.QUOTA: "a ResourceQuota may refuse pods",
    GapKind.STRATEGY: "rollouts with {what}, which replace several pods at a time",
    GapKind.RUNNING: "the running pods do not match template and replicas, as during a rollout",
    GapKind.COUNTED: "the constraints also count pods of {others}, which come and go",
    GapKind.APART: "anti-affinity or a host port keeps the pods away from pods of {others}, which come and go",
    GapKind.ROOM: "pods of {others} have no node yet, and may take the room of the group's pods",
    GapKind.PREEMPTION: "the pods may preempt pods of lower priority",
    GapKind.STAYING: "{pods} of other workloads: they are assumed to stay where they are",
    GapKind.ONE_ROLLOUT: "{others}: a rollout is taken to end before the next one begins",
    GapKind.TERMINATING: (
        "Terminating pods do not count. A deleted pod can run for up to {number} s more, and its replacement "
        "can start in the same domain"
    ),
    GapKind.LOST_ORDINALS: (
        "pods on lost nodes stay Terminating. They are replaced once the Nodes are deleted or marked out of "
        "service, which is assumed"
    ),
    GapKind.SAME_CONSTRAINTS: (
        "other constraints for other numbers of shards: {others} and new shards keep those of the manifests"
    ),
    GapKind.NO_RANGE: "scaling of {others} was not checked: add --replicas MIN..MAX",
}
