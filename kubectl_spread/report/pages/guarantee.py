"""The page of `guarantee -o html`: the verdict on each rule, and the way to each violation, event by event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Optional

from kubectl_spread.cluster.ownership import workload_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.errors import SourceError
from kubectl_spread.guarantee.model import TransitionKind
from kubectl_spread.guarantee.policy.policy import RuleKind
from kubectl_spread.guarantee.policy.texts import domain, rule_text
from kubectl_spread.guarantee.recommendation import Recommendation
from kubectl_spread.guarantee.verdict import GroupResult, Witness, WitnessEvent, worst
from kubectl_spread.objects.keys import ObjectKey
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
    letter,
    Look,
    map_key,
    notes_of,
    order,
    Shape,
)
from kubectl_spread.report.pages.moments import frames_of
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


class WitnessArtist:
    """Draws the moments of a way, event by event."""

    def __init__(self, witness: Witness, workloads: Sequence[ObjectKey], cluster: Cluster, topology_key: str) -> None:
        """Begin with no pods, or with the running pods.

        Args:
            witness: the way.
            workloads: of the group.
            cluster: with the nodes, and the running pods.
            topology_key: of the rule; empty if it has none.
        """
        self._witness = witness
        self._workloads = {key: at for at, key in enumerate(workloads)}
        self._cluster = cluster
        self._key = map_key([topology_key], cluster.nodes)
        self._places = []
        for pod in cluster.pods if witness.from_running else ():
            key = workload_of(pod, cluster) if pod.node_name and pod.is_visible and not pod.terminating else None
            if key in self._workloads and key is not None:
                ordinal = natural(pod.name.removeprefix(f"{key.name}-")) if key.kind == "StatefulSet" else None
                self._places.append(_Place(key, -1 if ordinal is None else ordinal, pod.node_name))
        self._rolling: set[ObjectKey] = set()
        self._off: dict[str, str] = {}
        self._has_revisions = any(event.is_new for event in witness.events)
        nodes = {event.node for event in witness.events} | {place.node for place in self._places}
        self._keep = frozenset(nodes - {""})

    def moments(self, beginning: str) -> Iterator[tuple[list[str], Drawing]]:
        """Yield the sentences and the drawing of each moment, from the beginning on."""
        yield [beginning], self._drawing("")
        for event in self._witness.events:
            self._apply(event)
            yield [words.sentence(event)], self._drawing(event.node)
        if self._witness.waiting:
            yield words.waiting_sentences(self._witness), self._drawing("", is_end=True)

    def _apply(self, event: WitnessEvent) -> None:
        kind, owner = event.kind, event.owner
        if kind is TransitionKind.PLACED and owner is not None:
            self._places.append(_Place(owner, event.ordinal, event.node, event.is_new))
        elif kind in (TransitionKind.RESTARTED, TransitionKind.REMOVED, TransitionKind.EVICTED) and event.node:
            there = [item for item in self._places if (item.owner, item.node) == (owner, event.node)]
            same = [item for item in there if item.is_new == event.is_new and event.ordinal in (-1, item.ordinal)]
            for place in (*same, *there)[:1]:  # of equal pods, any
                self._places.remove(place)
        elif kind is TransitionKind.ROLLED and owner is not None:
            self._rolling.add(owner)
        elif kind is TransitionKind.FINISHED and owner is not None:
            self._rolling.discard(owner)
            self._places = [item._replace(is_new=False) if item.owner == owner else item for item in self._places]
        elif kind is TransitionKind.DISRUPTED and event.is_loss:
            lost = [node.name for node in self._cluster.nodes if node.labels.get(event.topology_key) in event.domains]
            self._off = dict.fromkeys(lost, "lost")
        elif kind is TransitionKind.DISRUPTED:
            self._off = dict.fromkeys(event.domains, "drained")
        elif kind is TransitionKind.RETURNED:
            self._off.clear()

    def _drawing(self, marked: str, *, is_end: bool = False) -> Drawing:
        nodes = drawn_nodes(
            self._cluster.nodes,
            self._key,
            lambda node: (self._off[node.name],) if node.name in self._off else notes_of(node),
        )
        pods = [DrawnPod("-*", item.node, self._look(item)) for item in self._places]
        for waiting in self._witness.waiting if is_end else ():
            pods += [DrawnPod("-*", "", self._named(waiting.owner, "Pending", Shape.PENDING))] * waiting.number
        return draw(self._key, nodes, pods, keep=self._keep, marked={marked} - {""})

    def _look(self, item: _Place) -> Look:
        state, shape = ("new revision", Shape.NEW) if item.is_new else ("earlier revision", Shape.EARLIER)
        if item.owner not in self._rolling or not self._has_revisions:
            state, shape = "running", Shape.CURRENT
        return self._named(item.owner, state, shape)

    def _named(self, owner: ObjectKey, state: str, shape: Shape) -> Look:
        if len(self._workloads) == 1:
            return Look(state, shape)
        mark, hue = letter(self._workloads.get(owner, 0))
        return Look(f"{owner.name}, {state}", shape, mark, hue)


Plain = dict[str, Any]

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
    artist = WitnessArtist(witness, result.workloads, cluster, rule.topology_key)
    begin = "the running pods" if witness.from_running else "no pods"
    moments = list(artist.moments(f"At the start: {begin}"))
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
                f"Pods by {domain(key)}",
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
