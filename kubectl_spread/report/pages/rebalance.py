"""The page of `rebalance -o html`: the steps of each plan, and the domains before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_spread.advice.rebalance.plan import ConstraintChange, Rebalance, Repair, RepairVerdict
from kubectl_spread.cluster.snapshot import Cluster, Unread
from kubectl_spread.errors import SourceError
from kubectl_spread.objects.selectors import HOSTNAME
from kubectl_spread.report import documents
from kubectl_spread.report import rebalance as words
from kubectl_spread.report.pages import page
from kubectl_spread.report.pages.drawing import Chart, draw, Drawing, DrawnPod, Look, map_key, Shape
from kubectl_spread.report.pages.workloads import ClusterPods
from kubectl_spread.report.wording import name
from kubectl_spread.text.wording import count_noun

_STAYS = Look("stays")
_LEAVES = Look("is evicted", Shape.TERMINATING, hue=4)


def render(
    found: Rebalance,
    cluster: Cluster,
    source: page.PageSource,
    *,
    errors: Sequence[SourceError],
    unread: Sequence[Unread],
) -> str:
    """Return the page."""
    pods, title = ClusterPods(cluster), "No constraint is violated: there is nothing to rebalance"
    if len(found.repairs) == 1:
        (item,) = found.repairs
        title = f"{', '.join(map(name, item.keys))}: {words.verdict(item)}"
    elif found.repairs:
        repaired = sum(len(item.keys) for item in found.repairs if item.is_repaired)
        workloads = count_noun(sum(len(item.keys) for item in found.repairs), "workload")
        evictions = sum(len(item.plan.evictions) for item in found.repairs if item.plan and item.is_repaired)
        title = f"{repaired} of {workloads} can be repaired"
        title += f", with {count_noun(evictions, 'eviction')}" if evictions else ""
    return page.render(
        "rebalance.html",
        source,
        title=title,
        tone="good" if found.is_fine else "bad",
        errors=errors,
        found=found,
        pictures=[_pictures(item, cluster, pods) for item in found.repairs],
        words=words,
        unread=documents.line(unread),
    )


def _pictures(item: Repair, cluster: Cluster, pods: ClusterPods) -> tuple[Drawing, list[Chart]]:
    """Return the drawing of the pods as they are, and the charts of the constraints.

    Evicted pods have a look of their own, and possible nodes of new pods are marked.
    """
    plan = item.plan if item.verdict is RepairVerdict.EVICT else None
    changes = item.before if plan is None else plan.changes
    if item.verdict is RepairVerdict.RESTART:
        changes = item.restarts[-1].changes
    charts = [chart for change in changes for chart in _charts(change, is_alone=len(item.keys) == 1)]
    evictions = () if plan is None else plan.evictions
    leaving = {(one.owner.namespace, one.pod) for one in evictions}
    drawn = [
        DrawnPod(pod.name, pod.node_name, _LEAVES if (pod.namespace, pod.name) in leaving else _STAYS)
        for key in item.keys
        for pod in pods.owned_pods(key)
        if not pod.terminating
    ]
    coarse = [change.status.topology_key for change in item.before if change.status.topology_key != HOSTNAME]
    topology_key = coarse[0] if coarse else map_key((), cluster.nodes)
    targets = frozenset(node for one in evictions for node in one.nodes)
    return draw(topology_key, pods.nodes(topology_key), drawn, keep=targets, marked=targets), charts


def _charts(change: ConstraintChange, *, is_alone: bool) -> Iterator[Chart]:
    """Yield the pods per domain before, and after if there is a plan; of a range, the most."""
    whose = "" if is_alone else f"{change.owner.name}: "
    title = f"{whose}{change.status.topology_key}, maxSkew {change.status.max_skew}"
    is_hard = change.status.is_hard
    badges = {True: ("violated", "bad"), False: ("ok", "good")}
    counts = {item.value: item.before for item in change.domains}
    badge = badges[change.is_violated]
    yield Chart(f"{title}: before", counts, badge, is_hard=is_hard, skew=f"Skew {change.status.skew}.")
    if change.skew_after is None:
        return
    counts = {item.value: item.after.most for item in change.domains if item.after is not None}
    spans = [f"{item.value} {item.after}" for item in change.domains if item.after and not item.after.is_single]
    skew = f"Skew {change.skew_after}."
    if spans:
        skew += f" Depending on the nodes that the scheduler chooses: {', '.join(spans)}."
    badge = badges[change.skew_after.most > change.status.max_skew]
    yield Chart(f"{title}: after", counts, badge, is_hard=is_hard, skew=skew)
