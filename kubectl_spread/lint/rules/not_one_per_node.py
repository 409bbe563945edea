"""A comment promises one pod per node, but the constraint does not ensure it.

## What it does

Reports a DoNotSchedule constraint over hostnames with `maxSkew` 1, if a comment or annotation of the object says `one
pod per node` or the like. This rule is an opinion, and off by default.

## Why it matters

`maxSkew: 1` compares nodes with each other. A node gets a second pod once every other node has one, or if it is the
only node that can take the pods.

## Example

    # one pod per node
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      replicas: 3
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers: [{name: web, image: web}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: web}}
            matchLabelKeys: [pod-template-hash]
            nodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

## Use instead

Use required pod anti-affinity over `kubernetes.io/hostname`, or set `minDomains` to the number of pods.

    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: DoNotSchedule
      labelSelector: {matchLabels: {app: web}}
      minDomains: 3
      matchLabelKeys: [pod-template-hash]
      nodeTaintsPolicy: Honor
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kubectl_spread.lint.finding import Label, Place, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import pod_requirements
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.releases import field_versions
from kubectl_spread.objects.selectors.labels import HOSTNAME
from kubectl_spread.text.source import Span

_PROMISE = re.compile(
    r"\b(?:one|1|single)(?:(?:[ _-]+\w+)?[ _-]+(?:pod|replica|instance|copy))?"
    r"[ _-]+(?:per|(?:on|for)[ _-]+(?:each|every))[ _-]+(?:node|host)\b",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*", re.MULTILINE)
_BOUNDARY = "\n---"


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints over hostnames for which a comment promises too much."""
    strict = [item for item in subject.hard if item.topology_key == HOSTNAME and item.max_skew == 1]
    if not strict or _is_one_per_node(subject):
        return
    promise = next(_promises(subject), None)
    if promise is None:
        return
    for constraint in strict:
        if not _is_capped(subject, constraint, project):
            route = subject.route(constraint, "maxSkew")
            yield RuleFinding(
                "a node can get a second pod: maxSkew 1 allows it as soon as every other node has one",
                subject.place(route),
                subject.path(route),
                "use required pod anti-affinity, or set minDomains to the number of pods",
                (Label(promise, "promises one pod per node"),),
            )


def _is_one_per_node(subject: Subject) -> bool:
    """Return whether something else keeps a second pod away."""
    is_apart = any(term.topology_key == HOSTNAME for term in pod_requirements.own_terms(subject, "podAntiAffinity"))
    return is_apart or subject.workload.kind == "DaemonSet" or any(pod_requirements.host_ports(subject))


def _is_capped(subject: Subject, constraint: TopologySpreadConstraint, project: Project) -> bool:
    """Return whether the pods are one, or minDomains may keep the minimum at 0 until each has its node."""
    pods = project.likely_group_size(subject, constraint)
    least = constraint.min_domains if field_versions.stores("minDomains", project.target.minor) else None
    if pods in (0, 1) or not subject.is_in_its_group(constraint):
        return True
    return least is not None and (pods is None or pods <= least)


def _promises(subject: Subject) -> Iterator[Place]:
    """Yield the comments of the object's text, those above it included, and its annotations."""
    source = subject.manifest.document.source
    for comment in _COMMENT.finditer(source.text, *_extent(subject)):
        found = _PROMISE.search(comment[0])
        if found is not None:
            yield Place(source, Span(comment.start() + found.start(), comment.start() + found.end()))
    for metadata in (("metadata",), (*subject.template_route, "metadata")):
        written = subject.node((*metadata, "annotations"))
        for key, field in getattr(written, "fields", {}).items():
            if _PROMISE.search(key) or _PROMISE.search(getattr(field.value, "text", "")):
                yield subject.place((*metadata, "annotations", key), key=True)


def _extent(subject: Subject) -> tuple[int, int]:
    """Return where the text of the object begins and ends: an item of a List, or a document."""
    manifest = subject.manifest
    text, span = manifest.document.source.text, manifest.place(())
    if manifest.route:
        return span.start, span.end
    end = text.find(_BOUNDARY, span.end)
    return text.rfind(_BOUNDARY, 0, span.start) + 1, len(text) if end < 0 else end
