"""`status` in Prometheus' text format, version 0.0.4.

Source: prometheus/docs, content/docs/instrumenting/exposition_formats.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Optional

from kubectl_spread.guarantee.policy.texts import rule_text
from kubectl_spread.simulate.running.status import ConstraintState, ConstraintStatus, PolicyStatus, WorkloadStatus
from kubectl_spread.text.wording import safe

_MOST_DOMAINS = 50  # a constraint with more domains, for example hostnames, has no time series per domain
_DOMAIN_PODS = "kubectl_spread_domain_pods"
_ABOUT_DOMAINS = f"Pods that the constraint counts in each domain, for up to {_MOST_DOMAINS} domains."
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


# Gauges: the name, the help, and the value; None for a constraint without a sample.
_OF_CONSTRAINTS: tuple[tuple[str, str, Callable[[ConstraintStatus], Optional[int]]], ...] = (
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
_OF_WORKLOADS: tuple[tuple[str, str, Callable[[WorkloadStatus], int]], ...] = (
    ("kubectl_spread_workload_pods_running", "Pods on a node that are not terminating.", lambda item: item.running),
    ("kubectl_spread_workload_pods_pending", "Pods that wait for a node.", lambda item: len(item.pending)),
)


def text(statuses: Iterable[WorkloadStatus]) -> str:
    """Return every metric, its samples together; the text ends with a line break.

    Each status is read once, so that only the samples stay in memory, however many workloads a cluster has.
    """
    samples: dict[str, list[str]] = {
        **{name: [*_head(name, about)] for name, about, _ in _OF_CONSTRAINTS},
        _DOMAIN_PODS: [*_head(_DOMAIN_PODS, _ABOUT_DOMAINS)],
        **{name: [*_head(name, about)] for name, about, _ in _OF_WORKLOADS},
    }
    for status in statuses:
        of_workload = _labels_text(status.key._asdict())
        for item in status.constraints:
            _add_constraint(samples, f"{of_workload},{_labels_text(_labels(item))}", item)
        for name, _, count in _OF_WORKLOADS:
            samples[name].append(_sample(name, of_workload, count(status)))
    return "".join(f"{line}\n" for lines in samples.values() for line in lines)


def _add_constraint(samples: dict[str, list[str]], labels: str, item: ConstraintStatus) -> None:
    for name, _, value in _OF_CONSTRAINTS:
        number = value(item)
        if number is not None:
            samples[name].append(_sample(name, labels, number))
    domains = item.counts.domains
    for domain, pods in domains.items() if len(domains) <= _MOST_DOMAINS else ():
        of_domain = f"{labels},{_labels_text({'domain': domain})}"
        samples[_DOMAIN_PODS].append(_sample(_DOMAIN_PODS, of_domain, pods))


def _head(name: str, about: str) -> tuple[str, str]:
    """Return the two lines before the samples of a metric."""
    return f"# HELP {name} {about}", f"# TYPE {name} gauge"


def _labels(item: ConstraintStatus) -> dict[str, str]:
    return {
        "constraint": str(item.position),
        "origin": "scheduler" if item.is_default else "pod",
        "topology_key": item.topology_key,
        "when_unsatisfiable": item.when_unsatisfiable,
    }


def _sample(name: str, labels: str, value: int) -> str:
    return f"{name}{{{labels}}} {value}"


def _labels_text(labels: dict[str, str]) -> str:
    return ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())


def _escaped(text: str) -> str:
    """Replace control characters, except line breaks, which the format escapes itself."""
    return "\n".join(map(safe, text.split("\n"))).translate(_ESCAPED)


_OF_POLICIES = (
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


def metrics(found: PolicyStatus) -> Iterator[str]:
    """Yield the metrics of a policy, the samples of each together."""
    for name, about, value in _OF_POLICIES:
        yield from _head(name, about)
        for group in found.groups:
            for item in group.rules:
                labels = {
                    "policy": found.policy.name,
                    "namespace": group.namespace,
                    "group": group.name,
                    "rule": item.rule.kind.value,
                    "topology_key": item.rule.topology_key,
                    "text": rule_text(item.rule),
                }
                yield _sample(name, _labels_text(labels), value(item))
