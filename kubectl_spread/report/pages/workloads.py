"""The page of `status -o html`, and pictures of workloads, as they run and as a check predicts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Optional

from kubectl_spread.caching import cached_method
from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster, Unread
from kubectl_spread.engine.workloads import newest_hash
from kubectl_spread.explain.placement import Placement, predictions
from kubectl_spread.explain.status import (
    ConstraintState,
    ConstraintStatus,
    statuses,
    WorkloadStatus,
)
from kubectl_spread.guarantee.evaluate import PolicyStatus
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.selectors import ZONE
from kubectl_spread.objects.workloads.workload import REVISION_LABEL_OF
from kubectl_spread.report import documents, status
from kubectl_spread.report.check import rollouts, workloads
from kubectl_spread.report.check.report import CheckReport, PageFacts
from kubectl_spread.report.pages.drawing import (
    added_nodes,
    BADGES,
    constraint_chart,
    draw,
    drawn_nodes,
    DrawnNode,
    DrawnPod,
    Look,
    map_key,
    Shape,
)
from kubectl_spread.report.pages.page import PageSource
from kubectl_spread.report.pages.page import render as render_page
from kubectl_spread.report.table import unpainted
from kubectl_spread.report.wording import resource
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import REASONS
from kubectl_spread.text.wording import count_noun, safe

Picture = dict[str, Any]

_MOST_PICTURES = 60
_MOST_NODES = 150_000  # in all pictures of a page together
_MOST_MESSAGES = 3
_MOST_ROWS = 2000
TONES = ("bad", "warn", "good", "soft")  # the worst first
_RUNNING = Look("running")
_CURRENT = Look("current revision")
_EARLIER = Look("earlier revision", Shape.EARLIER, hue=1)
_NEW = Look("placed by this check", Shape.NEW, hue=2)
_OTHER = Look("pod of another workload that a constraint counts", Shape.OTHER, hue=5)
_TERMINATING = Look("terminating: still on its node, no longer counted", Shape.TERMINATING, hue=5)
_PENDING = Look("Pending", Shape.PENDING, hue=4)
_UNPREDICTED = Look("node not predictable", Shape.PENDING, hue=3)


class ClusterPods:
    """The pods of a cluster by workload, and by the class that equal pods share."""

    def __init__(
        self, cluster: Cluster, new: Collection[str] = frozenset(), *, unpredicted: Collection[str] = frozenset()
    ) -> None:
        """Index the pods.

        Args:
            cluster: the cluster.
            new: uids of pods that a prediction added.
            unpredicted: uids of pods whose nodes are not predictable.
        """
        self.cluster = cluster
        self._new = new
        self._unpredicted = unpredicted
        self._owned = OwnedPods(cluster)
        self._classes: dict[str, dict[int, list[Pod]]] = {}
        for pod in cluster.pods:
            if pod.is_visible:
                self._classes.setdefault(pod.namespace, {}).setdefault(id(pod.cls), []).append(pod)

    @cached_method
    def nodes(self, key: str) -> list[DrawnNode]:
        """Return the nodes of the cluster in the domains of a topology key."""
        return drawn_nodes(self.cluster.nodes, key)

    def owned_pods(self, key: ObjectKey) -> list[Pod]:
        """Return the pods of a workload; a pod without a controller is its own."""
        found = self._owned.pods_named(key.namespace, key.name) if key.kind == "Pod" else self._owned.of(key)
        return [pod for pod in found if pod.is_visible]

    def drawn_pods(self, key: ObjectKey, constraints: Iterable[ConstraintStatus]) -> list[DrawnPod]:
        """Return the pods of a workload, and the other pods that its constraints count."""
        own = self.owned_pods(key)
        controller = self.cluster.controllers.get(key)  # of the pods that it creates now
        if controller is not None:
            current = newest_hash(controller.workload, own, self.cluster)
        else:
            current = _revision(max(own, key=lambda pod: pod.created).cls, key) if own else ""
        has_several = len({_revision(pod.cls, key) for pod in own if pod.uid not in self._new}) > 1
        drawn, seen = [], set[int]()
        for pod in own:
            look = _RUNNING
            if pod.terminating:
                look = _TERMINATING
            elif not pod.node_name:
                look = _UNPREDICTED if pod.uid in self._unpredicted else _PENDING
            elif pod.uid in self._new:
                look = _NEW
            elif has_several:
                look = _CURRENT if _revision(pod.cls, key) == current else _EARLIER
            drawn.append(DrawnPod(pod.name, pod.node_name, look))
            seen.add(id(pod))
        selectors = [item.selector for item in constraints if item.selector is not None]
        for same in self._classes.get(key.namespace, {}).values():
            labels = dict(same[0].cls.labels)
            if any(not selector.is_empty and selector.matches(labels) for selector in selectors):
                others = (pod for pod in same if pod.node_name and not pod.terminating and id(pod) not in seen)
                drawn += [DrawnPod(pod.name, pod.node_name, _OTHER) for pod in others]
        return drawn


def _revision(pod_class: PodClass, key: ObjectKey) -> str:
    found = dict(pod_class.labels).get(REVISION_LABEL_OF.get(key.kind, ""), "")
    return found.removeprefix(f"{key.name}-") if key.kind == "StatefulSet" else found


def render(
    statuses: Sequence[WorkloadStatus],
    cluster: Cluster,
    source: PageSource,
    *,
    nothing: str = "No workloads found",
    unread: Sequence[Unread] = (),
    policy: Optional[PolicyStatus] = None,
) -> str:
    """Return the page of running workloads; `nothing` is its title if there are none."""
    pods, most = ClusterPods(cluster), most_pictures(cluster)
    states = Counter(item.state for status in statuses for item in status.constraints)
    ordered = sorted(statuses, key=rank)
    header = status.header(has_namespace=True, is_wide=False)
    anchors = {item.key: f"w{at}" for at, item in enumerate(ordered[:most], 1)}
    tones = {item.key: tone(item) for item in ordered[:_MOST_ROWS]}
    rows = [
        {"cells": row.cells, "anchor": anchors.get(key, ""), "tone": tones[key]}
        for row in status.rows(ordered[:_MOST_ROWS], has_namespace=True, is_wide=False)
        for key in (ObjectKey(*row.about[:3]),)
    ]
    troubled = sum(not item.is_fine for item in statuses)
    title = f"{count_noun(len(statuses), 'workload')}: every DoNotSchedule constraint holds, and no pod is Pending"
    if troubled:
        verbs = "violates a constraint or lacks" if troubled == 1 else "violate constraints or lack"
        title = f"{count_noun(len(statuses), 'workload')}: {troubled} {verbs} pods"
    return render_page(
        "status.html",
        source,
        script="status.js",
        title=title if statuses else nothing,
        risk=_risk(statuses, pods),
        tone=min((tone(item) for item in statuses), key=TONES.index, default="soft"),
        numbers=[
            ("workloads", len(statuses), "soft"),
            ("constraints violated", states[ConstraintState.VIOLATED], "bad"),
            ("partly counted", states[ConstraintState.PARTLY_COUNTED], "bad"),
            ("uneven (allowed)", states[ConstraintState.UNEVEN], "warn"),
            ("pods Pending", sum(len(status.pending) for status in statuses), "bad"),
        ],
        header=header,
        rows=rows,
        more_rows=max(0, len(ordered) - _MOST_ROWS),
        workloads=[{**picture(item, pods), "anchor": anchors[item.key]} for item in ordered[:most]],
        more=max(0, len(ordered) - most),
        unread=documents.line(documents.of_workloads(unread)),
        kept_policy=policy,
        status=status,
    )


def _risk(statuses: Collection[WorkloadStatus], pods: ClusterPods) -> str:
    """Return how many workloads lose all their pods with one zone; of all zones, the worst."""
    zones = {node.name: node.labels[ZONE] for node in pods.cluster.nodes if ZONE in node.labels}
    lasting = [item for item in statuses if item.running and item.key.kind not in _ENDING]
    lost: Counter[str] = Counter()
    for item in lasting:
        bound = (pod for pod in pods.owned_pods(item.key) if pod.node_name and not pod.terminating)
        found = {zones.get(pod.node_name, "") for pod in bound}
        lost.update(found if len(found) == 1 else ())
    lost.pop("", None)
    if not lost or len(set(zones.values())) < 2:
        return ""
    zone, number = min(lost.items(), key=lambda item: (-item[1], item[0]))
    whose = "its" if number == 1 else "their"
    return f"{number} of {count_noun(len(lasting), 'workload')} cannot survive zone {zone}: all {whose} pods run there."


_NOT_SPREAD = REASONS[0].text  # in the scheduler's message
_ENDING = ("Job", "CronJob", "DaemonSet")  # a node that is lost takes their pods along in any case


def most_pictures(cluster: Cluster) -> int:
    """Return the number of pictures on a page: fewer in large clusters, so that a page takes a few seconds."""
    return max(10, min(_MOST_PICTURES, _MOST_NODES // max(1, len(cluster.nodes))))


def picture(workload: WorkloadStatus, pods: ClusterPods, made: Iterable[Node] = ()) -> Picture:
    """Return the drawing of a workload, with nodes that Karpenter adds, and the charts of its constraints."""
    key = map_key((item.topology_key for item in workload.constraints), pods.cluster.nodes)
    words = status.state_text(worst(workload), workload)
    wanted, of = workload.running, ""
    if workload.wanted is not None:
        wanted, of = workload.wanted, f"{workload.running} of "
    numbers = [f"{of}{count_noun(wanted, 'pod')} on a node"]
    numbers += [f"{workload.terminating} terminating"] if workload.terminating else []
    numbers += [f"{len(workload.pending)} Pending"] if workload.pending else []
    # The scheduler's messages about Pending pods, with the number of their pods
    messages = Counter(pod.message for pod in workload.pending)
    if workload.uncreated is not None:
        messages[workload.uncreated.message] = workload.uncreated.number
    not_spread = sum(_NOT_SPREAD in pod.message for pod in workload.pending)
    return {
        "name": resource(workload.key),
        "namespace": workload.key.namespace,
        "badge": words or "no constraints",
        "tone": tone(workload),
        "numbers": ", ".join(numbers),
        "drawing": draw(
            key, pods.nodes(key) + added_nodes(made, key), pods.drawn_pods(workload.key, workload.constraints)
        ),
        "anchor": "",
        "charts": [constraint_chart(item, not_spread=not_spread) for item in workload.constraints],
        "messages": [{"text": text, "pods": count_noun(number, "pod")} for text, number in messages.items() if text][
            :_MOST_MESSAGES
        ],
        "why": workload.why,
        "lines": [],
    }


def rank(workload: WorkloadStatus) -> int:
    """Return the place of a workload on a page: those with problems come first."""
    return TONES.index(tone(workload))


def worst(workload: WorkloadStatus) -> Optional[ConstraintState]:
    """Return the worst state of a workload's constraints."""
    states = [item.state for item in workload.constraints]
    return min(states, key=lambda state: TONES.index(BADGES[state][1]), default=None)


def tone(workload: WorkloadStatus) -> str:
    """Return good, warn, bad or soft."""
    if not workload.is_fine:
        return "bad"
    state = worst(workload)
    return "soft" if state is None else BADGES[state][1]


def predicted_pictures(report: CheckReport, facts: PageFacts, cluster: Cluster) -> list[Picture]:
    """Return a picture of each placed workload; those with problems first."""
    results = dict(zip(map(id, report.placements), report.rollouts_of_placements, strict=True))
    troubled, others = list[Picture](), list[Picture]()
    for predicted in predictions(cluster, report.placements):
        pods = ClusterPods(predicted.cluster, predicted.new, unpredicted=predicted.unpredicted)
        placements = predicted.placements
        for item in statuses(predicted.cluster, facts.profiles, wants=lambda key, _: key in placements):  # noqa: B023
            placement = placements[item.key]
            rollout = results[id(placement)]
            is_troubled = bool(placement.stuck or placement.refused or placement.on_missing_nodes)
            is_troubled = is_troubled or (rollout is not None and rollout.is_stuck)
            lines = workloads.details(placement)
            if rollout is not None:
                lines += rollouts.of_placement(rollout, lines)
            words, tone_of_badge = _badge(placement)
            predicted_picture = {
                **picture(item, pods, workloads.new_nodes(placement)),
                "name": safe(placement.workload.key),
                "namespace": "",
                "badge": words,
                "tone": tone_of_badge,
                "numbers": unpainted(workloads.placed_pods(placement)),
                "messages": [],
                "lines": as_paragraphs(lines),
            }
            (troubled if is_troubled else others).append(predicted_picture)
    return troubled + others


def running_pictures(facts: PageFacts, cluster: Cluster) -> list[Picture]:
    """Return a picture of each running workload with constraints; those with problems first."""
    pods = ClusterPods(cluster)
    wants = facts.wants or (lambda *_: False)
    found = [item for item in statuses(cluster, facts.profiles, wants=wants) if item.has_own or not item.is_fine]
    return [picture(item, pods) for item in sorted(found, key=rank)[: most_pictures(cluster)]]


def as_paragraphs(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Return indented lines as texts with their indentation, 0 for the lines below a heading."""
    return [
        {"text": line.strip(), "indent": min(2, max(0, (len(line) - len(line.lstrip())) // 2 - 1))}
        for line in map(unpainted, lines)
    ]


def _badge(placement: Placement) -> tuple[str, str]:
    """Return the words and the tone of the worst state of a pod."""
    states = (
        (placement.stuck, "{} Pending", "bad"),
        (placement.pending, "{} waiting for new nodes", "warn"),
        (placement.refused, "{} refused", "bad"),
        (placement.on_missing_nodes, "on missing nodes", "bad"),
        (placement.gated, "gated", "warn"),
        (placement.unpredicted, "not predictable", "warn"),
    )
    return next(((words.format(len(pods)), tone) for pods, words, tone in states if pods), ("placed", "good"))
