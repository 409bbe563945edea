"""Steps that turn one cluster into another, and counts of what they lead to."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine import reading, steps
from kubectl_spread.engine.run import StepAnswer
from kubectl_spread.objects.keys import ObjectKey


def steps_to(before: Cluster, after: Cluster) -> tuple[steps.Op, ...]:
    """Return the steps; changes of facts and nodes come before changes of workloads and pods."""
    return (
        *_facts(before, after),
        *_nodes(before, after),
        *_workloads(before, after),
        *_pods(before, after),
    )


def _facts(before: Cluster, after: Cluster) -> Iterator[steps.Op]:
    if any(
        getattr(before, name) is not getattr(after, name) and getattr(before, name) != getattr(after, name)
        for name in steps.FACTS
    ):
        yield steps.ChangeFacts(after)


def _nodes(before: Cluster, after: Cluster) -> Iterator[steps.Op]:
    if before.nodes is after.nodes:
        return
    known = {node.name: node for node in before.nodes}
    changed = tuple(node for node in after.nodes if known.get(node.name) != node)
    if changed:
        yield steps.ChangeNodes(changed)
    gone = known.keys() - {node.name for node in after.nodes}
    if gone:
        yield steps.DeleteNodes(tuple(sorted(gone)))


def _workloads(before: Cluster, after: Cluster) -> Iterator[steps.Op]:
    for key, controller in after.controllers.items():
        known = before.controllers.get(key)
        if key in after.owners or key.kind not in reading.KINDS or known is controller:
            continue
        if known is None or (known.spec, known.workload) != (controller.spec, controller.workload):
            yield steps.Apply(controller)
    for key in before.controllers.keys() - after.controllers.keys():
        if key.kind in reading.KINDS and key not in before.owners:
            yield steps.Delete(key)


def _pods(before: Cluster, after: Cluster) -> Iterator[steps.Op]:
    if before.pods is after.pods:
        return
    known = {pod.uid: pod for pod in before.pods}
    there = {pod.uid for pod in after.pods}
    gone = tuple(uid for uid in known if uid not in there)
    if gone:
        yield steps.DeletePods(gone)
    for pod in after.pods:
        if pod.uid not in known and not pod.node_name:
            yield steps.CreatePod(pod.name, pod.cls)


def counts(step: StepAnswer, key: ObjectKey, topology_key: str) -> dict[str, tuple[int, int]]:
    """Return the fewest and most pods of a workload in each domain, over all outcomes.

    Domains that an earlier step made different keep the names that they have in the outcome of that step.
    """
    alike = step.symmetry.alike(topology_key)
    found: dict[object, tuple[int, int]] = {}
    domains: dict[str, object] = {}
    for outcome in step.outcomes:
        for domain, count in outcome.counts([key], topology_key).items():
            kind = domains[domain] = alike.get(domain, domain)
            least, most = found.get(kind, (count, count))
            found[kind] = (min(least, count), max(most, count))
    return {domain: found[kind] for domain, kind in domains.items()}
