"""`check` of what runs: workloads as the cluster has them, their Pending pods and their next rollouts; loads numpy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from typing import NamedTuple
from typing import Optional

from kubectl_spread.cli.absent import absent
from kubectl_spread.cli.absent import is_missing
from kubectl_spread.cli.absent import no_namespace
from kubectl_spread.cli.checking import Asked
from kubectl_spread.cli.checking import Read
from kubectl_spread.cli.options import Facts
from kubectl_spread.cli.targets import Named
from kubectl_spread.cluster.prune import kept
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.snapshot import Controller
from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.errors import SpreadError
from kubectl_spread.objects.kinds import KINDS
from kubectl_spread.objects.labels import Labels
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.selector import Selector
from kubectl_spread.objects.workload import Workload
from kubectl_spread.report.check import Running
from kubectl_spread.report.table import listed
from kubectl_spread.simulate.controllers import is_changed
from kubectl_spread.simulate.rollout import lost
from kubectl_spread.simulate.rollout import Rollouts
from kubectl_spread.simulate.rollout import Stuck
from kubectl_spread.simulate.rollout import uncreated
from kubectl_spread.simulate.rollout import waiting
from kubectl_spread.simulate.status import workload_of
from kubectl_spread.simulate.under_way import under_way
from kubectl_spread.text.emit import emitted
from kubectl_spread.text.source import SourceFile

Plain = dict[str, Any]

_MOST_NAMES = 6


class Wanted(NamedTuple):
    """Which workloads are checked; `namespace` is empty for all."""

    named: Named
    selector: Optional[Selector]
    namespace: str

    def includes(self, key: OwnerKey, labels: Labels) -> bool:
        """Whether a workload is asked about."""
        if self.namespace and key.namespace != self.namespace:
            return False
        return self.named.includes(key.kind, key.name) and (self.selector is None or self.selector.matches(labels))

    @property
    def where(self) -> str:
        """For people."""
        return f"in namespace {self.namespace}" if self.namespace else "in all namespaces"


class Found(NamedTuple):
    """The workloads as texts that were read, what was named and is not there, and what else there is to say."""

    read: Read
    running: Running
    absent: tuple[SpreadError, ...]
    notes: tuple[str, ...]


def check(known: Facts, asked: Asked, wanted: Wanted) -> Found:
    """Read the workloads that run, explain their Pending pods, and try their next rollouts."""
    cluster = known.cluster
    controllers = [
        (key, controller)
        for key, controller in sorted(cluster.controllers.items())
        if key not in cluster.owners and wanted.includes(key, controller.labels)
    ]
    results = [asked.check(_source(controller)) for _, controller in controllers]
    pending = list(_pending(cluster, wanted))
    waits = {key for key, _ in pending}
    rollouts = Rollouts(cluster, known.profiles)
    settled = [(key, controller) for key, controller in controllers if key not in waits]
    begun = tuple(under_way(settled, cluster, known.profiles))
    ends = {item.key for item in begun if item.is_stuck}
    stuck = [
        found
        for key, controller in settled
        if key not in ends and (found := rollouts.stuck(controller.workload, controller.spec)) is not None
    ]
    seen = {*(key for key, _ in controllers), *waits}
    running = Running(
        tuple(waiting(pending, cluster, known.profiles)),
        tuple(stuck),
        tuple(lost(_of_wanted(cluster.bound(), cluster, wanted), cluster)),
        tuple(uncreated((key for key, _ in controllers), cluster)),
        begun,
    )
    read = Read(results, [], len(results), [], is_whole=False)
    return Found(read, running, _absent(seen, wanted, cluster), _notes(wanted, cluster))


def replaced(owners: Iterable[Workload], specs: dict[str, Plain], known: Facts) -> Running:
    """What becomes of rollouts that manifests start: workloads that the cluster has with another template.

    Args:
        owners: the workloads of the manifests.
        specs: the `spec` of each, by the workload's key.
        known: the facts.
    """
    rollouts = Rollouts(known.cluster, known.profiles)
    stuck: list[Stuck] = []
    for owner in owners:
        if is_changed(owner, known.cluster):
            found = rollouts.stuck(owner, specs.get(owner.key, {}))
            stuck += [found] if found is not None else []
    return Running(stuck=tuple(stuck))


def _source(controller: Controller) -> SourceFile:
    """A workload as `kubectl get -o yaml` would print it, as far as a snapshot has it, so that lines are the same."""
    owner = controller.workload
    metadata: Plain = {"name": owner.name, "namespace": owner.namespace}
    metadata |= {"labels": dict(controller.labels)} if controller.labels else {}
    metadata |= {"annotations": controller.annotations} if controller.annotations else {}
    groups = KINDS[owner.kind].groups
    version = owner.api_version or (f"{min(groups)}/v1" if "" not in groups else "v1")
    # An object with a status comes out of a cluster, where selectors are complete and pods may have a node.
    status = {"observedGeneration": 1}
    plain: Plain = {"apiVersion": version, "kind": owner.kind, "metadata": metadata, "spec": controller.spec}
    text = emitted({**(kept(plain) or plain), "status": status})
    return SourceFile(f"{owner.namespace}/{owner.kind.lower()}/{owner.name}", text)


def _pending(cluster: Cluster, wanted: Wanted) -> Iterable[tuple[OwnerKey, Pod]]:
    return _of_wanted((pod for pod in cluster.pending() if not pod.terminating), cluster, wanted)


def _of_wanted(pods: Iterable[Pod], cluster: Cluster, wanted: Wanted) -> Iterable[tuple[OwnerKey, Pod]]:
    """Those pods that are asked about, with their workloads."""
    for pod in pods:
        key = workload_of(pod, cluster)
        controller = cluster.controllers.get(key)
        if wanted.includes(key, controller.labels if controller is not None else dict(pod.cls.labels)):
            yield key, pod


def _absent(seen: set[OwnerKey], wanted: Wanted, cluster: Cluster) -> tuple[SpreadError, ...]:
    there = {(key.kind, key.name) for key in seen}
    found = tuple(
        absent(target.kind, target.name, namespace=wanted.namespace, cluster=cluster)
        for target in wanted.named.targets
        if (target.kind, target.name) not in there
    )
    return (no_namespace(wanted.namespace),) if not found and is_missing(wanted.namespace, cluster) else found


def _notes(wanted: Wanted, cluster: Cluster) -> tuple[str, ...]:
    """What is there and cannot be checked: workloads that only their pods tell of."""
    unseen: dict[str, None] = {}
    for pod in cluster.bound():
        key = workload_of(pod, cluster)
        if (
            key.kind in KINDS
            and key.kind != "Pod"
            and key not in cluster.controllers
            and wanted.includes(key, dict(pod.cls.labels))
        ):
            unseen[f"{key.kind.lower()}/{key.name}"] = None
    if not unseen:
        return ()
    names = listed(unseen, most=_MOST_NAMES)
    return (
        f"of {names} the cluster facts have the pods alone: `kubectl get deployments,statefulsets -A` has the rest",
    )
