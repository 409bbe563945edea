"""The page of `guarantee -o html`: the verdict on each rule, and the way to each violation, event by event."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Optional

from kubectl_spread.cluster.ownership import workload_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.errors import SourceError
from kubectl_spread.guarantee.model import TransitionKind
from kubectl_spread.guarantee.policy import RuleKind
from kubectl_spread.guarantee.recommendation import Recommendation
from kubectl_spread.guarantee.texts import rule_text
from kubectl_spread.guarantee.verdict import GroupResult, StuckPods, Witness, worst
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.reading.plain import Plain
from kubectl_spread.objects.selectors import domain_noun
from kubectl_spread.report import proofs as words
from kubectl_spread.report import recommendation
from kubectl_spread.report.guarantee import TONES
from kubectl_spread.report.pages import page
from kubectl_spread.report.pages.drawing import (
    Chart,
    draw,
    Drawing,
    drawn_nodes,
    DrawnPod,
    frames_of,
    letter,
    Look,
    map_key,
    notes_of,
    order,
    Shape,
)
from kubectl_spread.report.table import Style
from kubectl_spread.report.wording import name
from kubectl_spread.text.scalars import natural
from kubectl_spread.text.wording import count_noun


class _Place(NamedTuple):
    """A pod on a node. is_new: of the new revision of a rollout."""

    owner: ObjectKey
    ordinal: int
    node: str
    is_new: bool = False


def _running_pods(workloads: Sequence[ObjectKey], cluster: Cluster) -> Iterator[_Place]:
    for pod in cluster.pods:
        key = workload_of(pod, cluster) if pod.node_name and pod.is_visible and not pod.terminating else None
        if key in workloads and key is not None:
            ordinal = natural(pod.name.removeprefix(f"{key.name}-")) if key.kind == "StatefulSet" else None
            yield _Place(key, -1 if ordinal is None else ordinal, pod.node_name)


def _look(owner: ObjectKey, workloads: Sequence[ObjectKey], state: str, shape: Shape) -> Look:
    if len(workloads) == 1:
        return Look(state, shape)
    mark, hue = letter(workloads.index(owner) if owner in workloads else 0)
    return Look(f"{owner.name}, {state}", shape, mark, hue)


def _moments(
    witness: Witness, beginning: str, workloads: Sequence[ObjectKey], cluster: Cluster
) -> Iterator[tuple[list[str], Drawing]]:
    """Yield the sentences and the drawing of each moment of a way, from the beginning on."""
    map_of = map_key([witness.evaluation.rule.topology_key], cluster.nodes)
    places = list(_running_pods(workloads, cluster)) if witness.from_running else []
    rolling: set[Optional[ObjectKey]] = set()
    off: dict[str, str] = {}  # the nodes that take no pods, and why
    has_revisions = any(event.is_new for event in witness.events)
    keep = {event.node for event in witness.events} | {place.node for place in places}

    def drawing(marked: str, waiting: Iterable[StuckPods] = ()) -> Drawing:
        pods = []
        for place in places:
            state, shape = ("new revision", Shape.NEW) if place.is_new else ("earlier revision", Shape.EARLIER)
            if place.owner not in rolling or not has_revisions:
                state, shape = "running", Shape.CURRENT
            pods.append(DrawnPod("-*", place.node, _look(place.owner, workloads, state, shape)))
        for item in waiting:
            pods += [DrawnPod("-*", "", _look(item.owner, workloads, "Pending", Shape.PENDING))] * item.number
        nodes = drawn_nodes(
            cluster.nodes, map_of, lambda node: (off[node.name],) if node.name in off else notes_of(node)
        )
        return draw(map_of, nodes, pods, keep=keep, marked={marked})

    yield [f"At the start: {beginning}"], drawing("")
    for event in witness.events:
        kind, owner = event.kind, event.owner
        if kind is TransitionKind.PLACED and owner is not None:
            places.append(_Place(owner, event.ordinal, event.node, event.is_new))
        elif kind in (TransitionKind.RESTARTED, TransitionKind.REMOVED, TransitionKind.EVICTED) and event.node:
            there = [item for item in places if (item.owner, item.node) == (owner, event.node)]
            same = [item for item in there if item.is_new == event.is_new and event.ordinal in (-1, item.ordinal)]
            for place in (*same, *there)[:1]:  # of equal pods, any
                places.remove(place)
        elif kind is TransitionKind.ROLLED:
            rolling.add(owner)
        elif kind is TransitionKind.FINISHED:
            rolling.discard(owner)
            places = [item._replace(is_new=False) if item.owner == owner else item for item in places]
        elif kind is TransitionKind.DISRUPTED:
            lost = (node.name for node in cluster.nodes if node.labels.get(event.topology_key) in event.domains)
            off = dict.fromkeys(lost, "lost") if event.is_loss else dict.fromkeys(event.domains, "drained")
        elif kind is TransitionKind.RETURNED:
            off = {}
        yield [words.sentence(event)], drawing(event.node)
    if witness.waiting:
        yield words.waiting_sentences(witness), drawing("", witness.waiting)


_MOST_MOMENTS = 60
_WIDTH = 100


def render(
    title: str,
    groups: Sequence[tuple[GroupResult, Optional[Recommendation]]],
    cluster: Cluster,
    source: page.PageSource,
    *,
    errors: Sequence[SourceError],
    skipped: Sequence[ObjectKey],
) -> str:
    """Return the page; `title` is the policy's name."""
    verdict = worst([result.verdict for result, _ in groups])
    return page.render(
        "guarantee.html",
        source,
        script="steps.js",
        title=f"Policy {title}: {words.policy_answer([result for result, _ in groups])}",
        tone=TONES[verdict],
        groups=[
            (
                result,
                [_way(verdicts, result, cluster) for verdicts in words.by_rule(result)],
                [] if found is None else recommendation.blocks(found, result, Style(_WIDTH, is_detailed=True)),
            )
            for result, found in groups
        ],
        errors=errors,
        skipped=skipped,
        words=words,
        tones=TONES,
        rule_text=rule_text,
        name=name,
        count_noun=count_noun,
    )


def _way(verdicts: words.Verdicts, result: GroupResult, cluster: Cluster) -> Optional[Plain]:
    """Return the way to a violation, if possible to one that stays: its moments, and the pods per domain at its end."""
    answers = words.answers(verdicts)
    refuted = (item for _, found in answers for _, item in found)
    rule, witness = next(((item.rule, item.witness) for item in refuted if item.witness is not None), (None, None))
    if rule is None or witness is None:
        return None
    limit = witness.evaluation.limit if rule.kind in (RuleKind.MAX_SHARE, RuleKind.MAX_COUNT) else None
    begin = "the running pods" if witness.from_running else "no pods"
    moments = list(_moments(witness, begin, result.workloads, cluster))
    looks = dict.fromkeys(look for _, drawing in moments for look in drawing.legend)
    size = -(-len(moments) // _MOST_MOMENTS)
    shown = [
        {"sentences": [text for texts, _ in together for text in texts], "drawing": together[-1][1], "skews": []}
        for together in (moments[at : at + size] for at in range(0, len(moments), size))
    ]
    return {
        "witness": witness,
        "begin": begin,
        "run": frames_of(shown),
        "legend": sorted(looks, key=order),
        "last": moments[-1][1],
        "charts": [
            Chart(
                f"Pods by {domain_noun(key)}",
                counts,
                badge=("above the limit", "bad")
                if limit is not None and max(counts.values(), default=0) > limit
                else ("", ""),
                limit=limit,
                words=("emptiest domain", "most that the rule allows"),
            )
            for key, counts in witness.counts.items()
        ],
    }
