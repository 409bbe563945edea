"""`status` in Prometheus' text format, version 0.0.4.

Source: prometheus/docs, content/docs/instrumenting/exposition_formats.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Optional

from kubectl_spread.explain.status import ConstraintState, WorkloadStatus
from kubectl_spread.guarantee.policy.status import PolicyStatus
from kubectl_spread.guarantee.policy.texts import rule_text
from kubectl_spread.report.documents import origin
from kubectl_spread.text.wording import safe

_MOST_DOMAINS = 50  # a constraint with more domains, for example hostnames, has no time series per domain
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


# The name, the help, and the value; None for no sample
_Gauges = tuple[tuple[str, str, Callable[[Any], Optional[int]]], ...]
_OF_CONSTRAINTS: _Gauges = (
    (
        "kubectl_spread_constraint_skew",
        "Pods in the fullest domain minus the global minimum, as the scheduler counts them now.",
        lambda item: item.skew,
    ),
    ("kubectl_spread_constraint_max_skew", "The constraint's maxSkew.", lambda item: item.max_skew),
    (
        "kubectl_spread_constraint_domains",
        "Domains that the constraint counts.",
        lambda item: len(item.counts.domains),
    ),
    (
        "kubectl_spread_constraint_violated",
        "1 if the skew is above maxSkew or no counted node has the label, else 0; also for ScheduleAnyway.",
        lambda item: (
            None
            if item.state is ConstraintState.UNKNOWN
            else int(item.state in (ConstraintState.VIOLATED, ConstraintState.UNEVEN))
        ),
    ),
    (
        "kubectl_spread_constraint_uncounted_pods",
        "Running pods of the workload that the constraint's selector does not match.",
        lambda item: 0 if item.uncounted is None else len(item.uncounted.pods),
    ),
)
_OF_DOMAINS: _Gauges = (
    (
        "kubectl_spread_domain_pods",
        f"Pods that the constraint counts in each domain, for up to {_MOST_DOMAINS} domains.",
        lambda pods: pods,
    ),
)
_OF_WORKLOADS: _Gauges = (
    ("kubectl_spread_workload_pods_running", "Pods on a node that are not terminating.", lambda item: item.running),
    ("kubectl_spread_workload_pods_pending", "Pods that wait for a node.", lambda item: len(item.pending)),
)
_OF_POLICIES: _Gauges = (
    (
        "kubectl_spread_policy_violated",
        "1 if the running pods violate the rule, else 0.",
        lambda item: int(item.is_violated),
    ),
    (
        "kubectl_spread_policy_value",
        "Pods in the fullest domain, domains in use, pods left after a loss, or Pending pods.",
        lambda item: item.number,
    ),
    ("kubectl_spread_policy_limit", "The most or the least that the rule allows.", lambda item: item.limit),
)


def text(statuses: Iterable[WorkloadStatus], policy: Optional[PolicyStatus] = None) -> str:
    """Return every metric, its samples together; the text ends with a line break.

    Each status is read once, so that only the samples stay in memory, however many workloads a cluster has.
    """
    levels = (_OF_CONSTRAINTS, _OF_DOMAINS, _OF_WORKLOADS, () if policy is None else _OF_POLICIES)
    samples = {
        name: [f"# HELP {name} {about}", f"# TYPE {name} gauge"] for gauges in levels for name, about, _ in gauges
    }

    def add(gauges: _Gauges, item: object, labels: str) -> None:
        for name, _, value in gauges:
            number = value(item)
            if number is not None:
                samples[name].append(f"{name}{{{labels}}} {number}")

    for status in statuses:
        of_workload = _labels(status.key._asdict())
        for item in status.constraints:
            own = {
                "constraint": str(item.position),
                "origin": origin(item),
                "topology_key": item.topology_key,
                "when_unsatisfiable": item.when_unsatisfiable,
            }
            labels, domains = f"{of_workload},{_labels(own)}", item.counts.domains
            add(_OF_CONSTRAINTS, item, labels)
            for domain, pods in domains.items() if len(domains) <= _MOST_DOMAINS else ():
                add(_OF_DOMAINS, pods, f"{labels},{_labels({'domain': domain})}")
        add(_OF_WORKLOADS, status, of_workload)
    for name, group in () if policy is None else ((policy.policy.name, item) for item in policy.groups):
        for rule in group.rules:
            own = {
                "policy": name,
                "namespace": group.namespace,
                "group": group.name,
                "rule": rule.rule.kind.value,
                "topology_key": rule.rule.topology_key,
                "text": rule_text(rule.rule, is_now=True),
            }
            add(_OF_POLICIES, rule, _labels(own))
    return "".join(f"{line}\n" for lines in samples.values() for line in lines)


def _labels(labels: dict[str, str]) -> str:
    """Return labels without control characters, except line breaks, which the format escapes itself."""
    escaped = {key: "\n".join(map(safe, text.split("\n"))).translate(_ESCAPED) for key, text in labels.items()}
    return ",".join(f'{key}="{text}"' for key, text in escaped.items())
