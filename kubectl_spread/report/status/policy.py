"""Running pods against a policy: a table, JSON and metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from kubectl_spread.guarantee.policy.evaluate import Evaluation
from kubectl_spread.guarantee.policy.rule import RuleKind
from kubectl_spread.guarantee.policy.wording import domain, preposition, rule_text
from kubectl_spread.report.documents import form, Plain, to_document
from kubectl_spread.report.status.prometheus import head, sample
from kubectl_spread.report.table import table
from kubectl_spread.simulate.running.policies import GroupStatus, PolicyStatus
from kubectl_spread.text.wording import comma_list, count_noun

HEADER = ("GROUP", "RULE", "STATUS", "PODS")


def lines(found: PolicyStatus, width: Optional[int], *, has_namespace: bool) -> list[str]:
    """Return a table with a row for each rule of each group."""
    body = rows(found, has_namespace=has_namespace)
    if not body:
        return [f"Policy {found.policy.name}: its groups match none of these workloads"]
    return table([HEADER, *body], width)


def rows(found: PolicyStatus, *, has_namespace: bool) -> list[tuple[str, ...]]:
    """Return the cells of each rule of each group."""
    return [
        (_name(group, has_namespace=has_namespace), rule_text(item.rule), _state(item), _numbers(item))
        for group in found.groups
        for item in group.rules
    ]


def _name(group: GroupStatus, *, has_namespace: bool) -> str:
    return f"{group.namespace}/{group.name}" if has_namespace else group.name


def _state(item: Evaluation) -> str:
    if item.is_violated:
        return "violated"
    return f"ok ({item.terminating} terminating not counted)" if item.terminating else "ok"


def _numbers(item: Evaluation) -> str:
    key = item.rule.topology_key
    where = f" ({comma_list(item.domains, most=3)})" if item.domains else ""
    one = f"{preposition(key)} one {domain(key)}{where}" if key else ""
    if item.rule.kind in (RuleKind.MAX_SHARE, RuleKind.MAX_COUNT):
        return f"{item.number} of {item.pods} {one}, {item.limit} allowed"
    if item.rule.kind is RuleKind.MIN_DOMAINS:
        return f"{item.number} of {item.limit} {domain(key, plural=True)}{where}"
    if item.rule.kind is RuleKind.SEPARATE:
        return f"{item.number} of one workload {one}"
    if item.rule.kind is RuleKind.SURVIVE:
        return f"{item.number} left without {domain(key)}{where}, {item.limit} required"
    return f"{count_noun(item.number, 'pod')} Pending"


def document(found: PolicyStatus) -> Plain:
    """Return the policy's part of a StatusReport."""
    return to_document(found, "name=policy.name kept groups")


form(GroupStatus, "name namespace workloads running replicas=wanted rules")
form(
    Evaluation,
    "rule=rule.kind text topologyKey?=rule.topology_key violated domains number limit terminating",
    text=lambda item: rule_text(item.rule),
)


_METRICS = (
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
    for name, about, value in _METRICS:
        yield from head(name, about)
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
                yield sample(name, labels, value(item))
