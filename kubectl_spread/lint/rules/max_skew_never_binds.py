"""`maxSkew` is as large as the number of pods.

A node is refused where the pods in its domain, the new one included, exceed the smallest domain by more than
`maxSkew`. A domain never holds more than all pods, so a `maxSkew` of that number or more never refuses anything. The
pods of a rolling update beyond `replicas` count too, unless `pod-template-hash` is among the matchLabelKeys.

The number is known where the workload names `replicas`, or an autoscaler in the input names a maximum.

Write a smaller `maxSkew`; 1 spreads evenest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.subject import Subject
from kubectl_spread.objects.constraint import TopologySpreadConstraint
from kubectl_spread.objects.workload import POD_TEMPLATE_HASH


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find hard constraints that no number of the workload's pods can violate."""
    most = project.replicas(subject).maximum
    if most is None or most < 2:
        return
    for constraint in subject.hard:
        pods = most + surge(subject, constraint, most)
        selector = subject.selector(constraint)
        if constraint.max_skew < pods or not selector.matches(subject.labels):
            continue
        if project.matching(selector, subject.workload.namespace) == [subject]:
            route = subject.route(constraint, "maxSkew")
            yield Found(
                f"maxSkew {constraint.max_skew} never refuses a node: there are at most {pods} pods",
                subject.place(route),
                subject.path(route),
                f"1 spreads evenest; anything below {pods} has an effect",
            )


def surge(subject: Subject, constraint: TopologySpreadConstraint, replicas: int) -> int:
    """The pods of a rolling update beyond the replicas, as far as the constraint counts them.

    Source: pkg/controller/deployment/util/deployment_util.go, ResolveFenceposts (v1.36.2).
    """
    if subject.workload.kind != "Deployment" or POD_TEMPLATE_HASH in constraint.match_label_keys:
        return 0
    strategy = subject.controller.get("strategy")
    strategy = strategy if isinstance(strategy, dict) else {}
    if strategy.get("type") == "Recreate":
        return 0
    rolling = strategy.get("rollingUpdate")
    return _share((rolling if isinstance(rolling, dict) else {}).get("maxSurge"), replicas)


def _share(value: Any, replicas: int) -> int:
    """A number, or a percentage rounded up; 25 % where there is none."""
    if isinstance(value, int):
        return max(0, value)
    text = value if isinstance(value, str) else "25%"
    percent = int(text[:-1]) if text.endswith("%") and text[:-1].isdecimal() else 25
    return -(-replicas * percent // 100)
