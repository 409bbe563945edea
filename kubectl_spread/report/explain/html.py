"""Explanations as one HTML page, without a script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kubectl_spread.cluster.ownership import owner_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.explain.constraints.report import ConstraintReport
from kubectl_spread.explain.requirements.requirement import RequirementKind
from kubectl_spread.report.explain import constraints, nodes, reported_message, suggestions, text, verdict
from kubectl_spread.report.explain import document as explain_document
from kubectl_spread.report.explain.pod_report import PodReport
from kubectl_spread.report.pages import page
from kubectl_spread.report.pages.drawing import added_nodes, draw, Drawing, DrawnNode, DrawnPod, Look, map_key, Shape
from kubectl_spread.report.pages.page import PageSource
from kubectl_spread.report.pages.workloads import ClusterPods
from kubectl_spread.report.table import Block, Rows, Style

_MOST_GROUPS = 30
_MOST_CONFLICTS = 5
_MOST_EVENTS = 4
_THIS = Look("this pod", hue=4)
_OTHERS = Look("pod of the same workload")
_PENDING = Look("Pending, too", Shape.PENDING)
_WIDE = Style(width=100_000, is_detailed=True)  # the browser wraps


def render(reports: Sequence[PodReport], source: PageSource, cluster: Cluster) -> str:
    """Return the page; the drawings show the pods of the cluster."""
    pods = ClusterPods(cluster)
    pages = [{**_page(report), "drawing": _drawing(report, pods)} for report in reports]
    title = pages[0]["document"]["summary"] if len(pages) == 1 else f"{len(pages)} pods explained"
    return page.render("explanation.html", source, pages=pages, title=title)


def _drawing(report: PodReport, pods: ClusterPods) -> Drawing:
    """Return the nodes, each with the reason why it does not fit, and the pods of the workload with this one."""
    explanation = report.explanation
    pod, key = explanation.pod, map_key((explanation.domain_key,), pods.cluster.nodes)
    words = {
        item.text: f"{verdict.SHORT.get(item.key, item.key)} constraint"
        for item in explanation.requirements
        if item.kind is RequirementKind.CONSTRAINT
    }
    why = {
        name: tuple(words.get(text, text) for text in group.refused_by or (group.reported,))
        for group in nodes.groups(explanation)
        for name in group.nodes
    }
    drawn = [DrawnNode(node.name, node.domain, why.get(node.name, ())) for node in pods.nodes(key)]
    drawn += added_nodes(() if report.outlook is None else report.outlook.nodes, key)
    owner = owner_of(pod.cls, pods.cluster)
    others = pods.owned_pods(owner) if owner is not None else ()
    own = "new pod" if explanation.new_of else pod.name
    shown = [DrawnPod(own, pod.node_name, _THIS._replace(shape=Shape.CURRENT if pod.node_name else Shape.PENDING))]
    shown += [
        DrawnPod(other.name, other.node_name, _OTHERS if other.node_name else _PENDING)
        for other in others
        if other.name != pod.name and not other.terminating
    ]
    return draw(key, drawn, shown, keep=explanation.diagnosis.feasible)


def _page(report: PodReport) -> dict[str, Any]:
    explanation, document = report.explanation, explain_document.explanation(report)
    found, searched = nodes.groups(explanation), report.suggestions
    return {
        "document": document,
        "others": text.others_sentence(explanation),
        "headline": text.headline(report) if report.workload is None else "",
        "workload": [] if report.workload is None else text.workload_lines(report.workload),
        "is_about_a_node": report.node is not None,
        "node": [] if report.node is None else list(map(_block, nodes.one_node_blocks(report.node))),
        "last_message": (
            [] if report.comparison is None else reported_message.sentences(report.reported, report.comparison)
        ),
        "shows_nodes": text.shows_nodes(explanation),
        "total": len(explanation.node_names),
        "groups": [
            {**group._asdict(), "which": nodes.which(group.nodes, explanation, _WIDE)} for group in found[:_MOST_GROUPS]
        ],
        "more_groups": len(found) - _MOST_GROUPS,
        "constraints": list(map(_constraint, explanation.constraints, document["constraints"])),
        "conflicts": [
            [
                {"text": item.text, "why": why, "left": verdict.remaining_nodes(item, explanation.node_names)}
                for item, why in zip(conflict.requirements, conflict.arithmetic, strict=True)
            ]
            for conflict in explanation.conflicts[:_MOST_CONFLICTS]
        ],
        "conflicts_heading": verdict.CONFLICTS,
        "sections": [[_block(block) for block in section] for _, section in text.detail_sections(report, _WIDE)],
        "suggestions": [
            {
                "title": suggestions.title(item),
                "lines": item.lines,
                "effect": suggestions.effect_sentence(item),
                "spreads": [suggestions.spread_sentence(spread) for spread in item.effect.spreads],
                "gives_up": item.gives_up,
                "notes": (*item.notes, *filter(None, [suggestions.managed_sentence(item)])),
                "commands": item.commands,
            }
            for item in (() if searched is None else searched.items)
        ],
        "suggestions_heading": suggestions.VERIFIED,
        "no_suggestions": suggestions.none_lines(searched) if searched is not None and not searched.items else [],
        "events": [
            f"{event.reason}{reported_message.times_text(event.last, event.times)}: {event.message}"
            for event in report.other_events[:_MOST_EVENTS]
        ],
        "not_reported": text.not_reported_sentence(report.not_reported) if report.not_reported else "",
    }


def _constraint(report: ConstraintReport, document: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a constraint's section, with its JSON document and the domains that are worth a line."""
    by_value = {domain["value"]: domain for domain in document["domains"]}
    return {
        "heading": constraints.heading(report),
        "document": document,
        "facts": list(constraints.facts(report)),
        "details": list(constraints.details(report)),
        "domains": [by_value[domain.value] for domain in constraints.domains_to_show(report.domains)],
    }


def _block(block: Block) -> dict[str, Any]:
    """Return a paragraph with its indentation, or a table."""
    if isinstance(block, Rows):
        return {"header": block.rows[0], "rows": block.rows[1:]}
    return {"text": block.strip(), "indent": (len(block) - len(block.lstrip())) // 2}
