"""A rolling update may never finish because of anti-affinity.

## What it does

Reports a Deployment whose `maxUnavailable` is 0 after rounding, and whose pods have required anti-affinity to each
other. For the hostname it is info, as there is often a spare node. A term over a misspelt key keeps no pods apart, and
is reported as SPR302.

With cluster facts, the next rollout is simulated over time, and the Deployment is reported only if it gets stuck.

## Why it matters

`maxUnavailable` is rounded down: the default of 25 % is 0 for up to 3 replicas, so every old pod stays until a new one
is ready. The anti-affinity keeps the new pod out of each domain with an old one. Without a free domain the new pod
stays Pending, the old pods wait for it, and the update never ends. A hard constraint that counts both revisions can
stop an update in the same way; see SPR401.

## Example

    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      replicas: 3
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          affinity:
            podAntiAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
              - topologyKey: topology.kubernetes.io/zone
                labelSelector: {matchLabels: {app: web}}
          containers:
          - {name: web, image: registry.example/web:1.25}

## Use instead

Set `maxUnavailable: 1`, or add `matchLabelKeys: [pod-template-hash]` (from 1.31) to the anti-affinity term.

## Fix safety

The fix is unsafe: during an update one pod fewer may be ready.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Optional

from kubectl_spread.cluster.facts import RolloutFacts
from kubectl_spread.lint.finding import Fix, Label, RuleFinding, Severity
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.grouping.replica_range import ReplicaRange
from kubectl_spread.lint.queries import misspelt_keys, pod_requirements
from kubectl_spread.lint.queries.pod_requirements import OwnTerm
from kubectl_spread.lint.wording import domain, domains
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.amounts.int_or_percent import percentage, scaled_value
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors.labels import HOSTNAME
from kubectl_spread.objects.workloads.workload import POD_TEMPLATE_HASH
from kubectl_spread.text.edit import Put
from kubectl_spread.text.node import Route

_ROLLING = ("spec", "strategy", "rollingUpdate")


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find updates that need a domain more than there are replicas; once a workload."""
    replicas = project.replicas(subject)
    if replicas.likely in (0, 1) or not _waits_for_new_pods(subject, replicas):
        return
    terms = {
        term.topology_key: term
        for term in reversed(list(_between_revisions(subject)))
        if not misspelt_keys.is_absent(term.topology_key, project)
    }
    rollout = project.facts.rollout(subject.workload) if project.facts is not None and terms else None
    if rollout is not None and not rollout.stuck:
        return
    for key in _wider_keys(terms)[:1]:
        route = (*terms[key].route, "topologyKey")
        yield RuleFinding(
            _message(key, replicas) if rollout is None else _simulated(rollout),
            subject.place(route),
            subject.path(route),
            "set maxUnavailable: 1 under spec.strategy.rollingUpdate",
            tuple(_written(subject)),
            Severity.INFO if key == HOSTNAME and rollout is None else None,
            Fix("let one old pod stop before its successor is ready", (_one_unavailable(subject),)),
        )


def _wider_keys(terms: Iterable[str]) -> list[str]:
    """Return the topology keys other than the hostname; all of them if there is no other."""
    return [key for key in terms if key != HOSTNAME] or list(terms)


def _message(key: str, replicas: ReplicaRange) -> str:
    number = _fewest(replicas)
    if number is None:
        return (
            f"a rolling update may never finish: it needs one more {domain(key)} than there are replicas, because "
            "maxUnavailable is 0 and anti-affinity keeps new pods away from old ones"
        )
    return (
        f"a rolling update of {number} replicas may never finish: it needs {domains(number + 1, key)}, because "
        "maxUnavailable is 0 and anti-affinity keeps new pods away from old ones"
    )


def _simulated(rollout: RolloutFacts) -> str:
    """Return the message about a rollout that was simulated and gets stuck."""
    because = f" (conflict: {', '.join(rollout.conflict)})" if rollout.conflict else ""
    if rollout.stuck == rollout.outcomes:
        return f"the next rolling update gets stuck: a new pod finds no node{because}"
    share = f"in {rollout.stuck} of {rollout.outcomes} outcomes{'' if rollout.is_exact else ' that were found'}"
    return f"the next rolling update may get stuck: {share} a new pod finds no node{because}"


def _fewest(replicas: ReplicaRange) -> Optional[int]:
    """Return the fewest replicas, but at least 2."""
    return None if replicas.minimum is None else max(2, replicas.minimum)


def _waits_for_new_pods(subject: Subject, replicas: ReplicaRange) -> bool:
    """Return whether maxUnavailable is 0 after rounding.

    Source: pkg/controller/deployment/util/deployment_util.go, ResolveFenceposts (v1.36.2): where both numbers are 0,
    one pod may be unavailable.
    """
    if subject.is_recreated:
        return False
    rolling = fields(fields(subject.controller.get("strategy")).get("rollingUpdate"))
    unavailable, surge = rolling.get("maxUnavailable", "25%"), rolling.get("maxSurge", "25%")
    number = _fewest(replicas)
    if number is None:
        return (unavailable == 0 or percentage(unavailable) == 0) and surge != 0 and percentage(surge) != 0
    return scaled_value(unavailable, number, round_up=False) == 0 and scaled_value(surge, number, round_up=True) != 0


def _between_revisions(subject: Subject) -> Iterator[OwnTerm]:
    """Yield the required terms by which pods of one revision repel those of another."""
    for term in pod_requirements.own_terms(subject, "podAntiAffinity"):
        if all(requirement.key != POD_TEMPLATE_HASH for requirement in term.selector.requirements or ()):
            yield term


def _written(subject: Subject) -> Iterator[Label]:
    route = (*_ROLLING, "maxUnavailable")
    if subject.node(route) is not None:
        yield Label(subject.place(route), "no old pod may stop first")


def _one_unavailable(subject: Subject) -> Put:
    """Return the change that allows one pod to be unavailable, at the deepest field that is written."""
    route: Route = (*_ROLLING, "maxUnavailable")
    value: Any = 1
    while len(route) > 2 and not isinstance(_plain_at(subject, route[:-1]), dict):
        route, value = route[:-1], {str(route[-1]): value}
    return Put(route, value)


def _plain_at(subject: Subject, route: Route) -> Any:
    found: Any = subject.manifest.plain
    for step in route:
        found = fields(found).get(str(step))
    return found
