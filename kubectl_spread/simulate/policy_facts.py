"""Policies against the workloads of a check, within a small limit of states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TYPE_CHECKING

from kubectl_spread.cluster.facts import RefutedRule
from kubectl_spread.cluster.snapshot import Cluster, Controller, key_of
from kubectl_spread.guarantee.policy.policy import Policy
from kubectl_spread.guarantee.policy.texts import rule_text, violation_text
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.scheduler.framework.profile import Profile

if TYPE_CHECKING:  # 10 ms
    from kubectl_spread.guarantee.verdict import GroupResult

Plain = dict[str, Any]

_MOST_STATES = 3_000  # for each regime of a group
_EVENTS = {
    "creation": "the order in which the pods are created",
    "restarts": "restarts of pods",
    "rollouts": "a rollout",
    "scaling": "scaling",
    "disruptions": "a drained node or a lost domain",
}


def refuted_rules(
    workload: Workload,
    members: Iterable[Controller],
    policies: Iterable[Policy],
    cluster: Cluster,
    profiles: Mapping[str, Profile],
) -> Iterator[RefutedRule]:
    """Yield the violated rules of the groups whose first workload is this one; `members` may be in groups with it."""
    from kubectl_spread.engine.search.limit import Limit
    from kubectl_spread.guarantee.members import groups_of, KINDS, member_of
    from kubectl_spread.guarantee.prove import prove

    found = [member_of(key_of(item.workload), item, cluster) for item in members if item.workload.kind in KINDS]
    around = {item.key: item.controller for item in found}
    cluster = cluster._replace(controllers={**cluster.controllers, **around})
    for policy in policies:
        for spec in policy.groups:
            for part in groups_of(spec, found):
                if part[0].controller.workload.key == workload.key:
                    limit = Limit(_MOST_STATES)
                    result = prove(part, cluster, profiles, spec.rules, regimes=policy.regimes, limit=limit)
                    yield from _refuted(policy, result)


def _refuted(policy: Policy, result: GroupResult) -> Iterator[RefutedRule]:
    """Yield each refuted rule once, with the first regime that violates it, if possible once settled."""
    seen = set()
    for regime in result.results:
        for verdict in regime.rules:
            if verdict.witness is None or verdict.rule in seen:
                continue
            seen.add(verdict.rule)
            every = (item for one in result.results for item in one.rules if item.rule == verdict.rule)
            settled = next((item.once_settled for item in every if item.once_settled.witness is not None), None)
            shown = settled or verdict
            witness = shown.witness or verdict.witness
            events = _EVENTS[(shown.regime or regime.regime).value]
            message = violation_text(witness.evaluation, waiting=witness.waiting_pods)
            yield RefutedRule(policy.name, rule_text(verdict.rule), events, message, settled is not None)
