"""Explanations as one HTML page, without a script."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.cluster.ownership import owner_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.explain.requirements.requirement import RequirementKind
from kubectl_spread.objects.selectors import DOMAIN_NOUNS
from kubectl_spread.report.documents import to_document
from kubectl_spread.report.explain import constraints, document, pod_report, suggestions, text, verdict
from kubectl_spread.report.explain.pod_report import PodReport
from kubectl_spread.report.pages import page
from kubectl_spread.report.pages.drawing import added_nodes, draw, Drawing, DrawnNode, DrawnPod, Look, map_key, Shape
from kubectl_spread.report.pages.page import PageSource
from kubectl_spread.report.pages.workloads import ClusterPods
from kubectl_spread.report.table import Rows, Style

_THIS = Look("this pod", hue=4)
_OTHERS = Look("pod of the same workload")
_PENDING = Look("Pending, too", Shape.PENDING)
_WIDE = Style(width=100_000, is_detailed=True)  # the browser wraps


def render(reports: Sequence[PodReport], source: PageSource, cluster: Cluster) -> str:
    """Return the page; the drawings show the pods of the cluster."""
    pods = ClusterPods(cluster)
    pages = [(report, document.explanation(report), _drawing(report, pods)) for report in reports]
    return page.render(
        "explanation.html",
        source,
        pages=pages,
        title=pages[0][1]["summary"] if len(pages) == 1 else f"{len(pages)} pods explained",
        wide=_WIDE,
        block_of=lambda block: (
            {"header": block.rows[0], "rows": block.rows[1:]}
            if isinstance(block, Rows)
            else {"text": block.strip(), "indent": (len(block) - len(block.lstrip())) // 2}
        ),
        to_document=to_document,
        constraints=constraints,
        pod_report=pod_report,
        suggestions=suggestions,
        text=text,
        verdict=verdict,
    )


def _drawing(report: PodReport, pods: ClusterPods) -> Drawing:
    """Return the nodes, each with the reason why it does not fit, and the pods of the workload with this one."""
    explanation = report.explanation
    pod, key = explanation.pod, map_key((explanation.domain_key,), pods.cluster.nodes)
    words = {
        item.text: f"{DOMAIN_NOUNS.get(item.key, item.key)} constraint"
        for item in explanation.requirements
        if item.kind is RequirementKind.CONSTRAINT
    }
    why = {
        name: tuple(words.get(text, text) for text in group.refused_by or (group.reported,))
        for group in text.groups(explanation)
        for name in group.nodes
    }
    drawn = [DrawnNode(node.name, node.domain, why.get(node.name, ())) for node in pods.nodes(key)]
    drawn += added_nodes(() if report.outlook is None else report.outlook.nodes, key)
    owner = owner_of(pod.cls, pods.cluster)
    others = pods.owned_pods(owner) if owner is not None else ()
    own = "new pod" if explanation.pod.new_of else pod.name
    shown = [DrawnPod(own, pod.node_name, _THIS._replace(shape=Shape.CURRENT if pod.node_name else Shape.PENDING))]
    shown += [
        DrawnPod(other.name, other.node_name, _OTHERS if other.node_name else _PENDING)
        for other in others
        if other.name != pod.name and not other.terminating
    ]
    return draw(key, drawn, shown, keep=explanation.diagnosis.feasible)
