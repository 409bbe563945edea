"""New pods that the API server refuses: because of a ResourceQuota, a LimitRange or a missing RuntimeClass.

Source: staging/src/k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go, CheckRequest;
pkg/quota/v1/evaluator/core/pods.go, QuotaV1Pod (v1.36.2). A quota counts a pod until it is gone, or its grace period is
over: pods on dead nodes no longer count, and other terminating pods do.
Differences: a pod that ran at the start and whose template is unknown is charged by its requests, without limits. A
quota without a status starts with the usage of all pods.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TYPE_CHECKING

from kubectl_spread.caching import cached_method
from kubectl_spread.cluster.build import limit_ranges
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine.state import P, State
from kubectl_spread.objects.admission import charges, limit_errors, pod_usage, Quantities, Quota, quota_error
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.reading.plain import Plain
from kubectl_spread.objects.resources import is_scheduled
from kubectl_spread.objects.workloads.workload import Workload

if TYPE_CHECKING:
    from kubectl_spread.engine.world import World


class Charge(NamedTuple):
    """A pod that quotas charge: its spec, and its usage."""

    spec: Plain
    usage: Quantities


def charge(spec: Plain) -> Charge:
    """Return what quotas charge for a pod."""
    return Charge(spec, pod_usage(spec))


class QuotaUsage:
    """The usage of the quotas of a namespace, with the pods that were admitted since it was made."""

    def __init__(self, quotas: Iterable[Quota], used: Callable[[Quota], Quantities]) -> None:
        """Start with the usage of each quota, in the order of their names."""
        self._used = [(quota, dict(used(quota))) for quota in sorted(quotas, key=lambda quota: quota.name)]

    def refusal(self, pod: Charge) -> str:
        """Return the API server's message if a quota refuses a pod; empty if none does."""
        texts = (quota_error(pod.spec, quota, used, usage=pod.usage) for quota, used in self._used)
        return next(filter(None, texts), "")

    def admits_all(self, pods: Iterable[Charge]) -> bool:
        """Return whether there is room for some pods together, which are not charged."""
        now = {quota.name: used for quota, used in self._used}
        other = QuotaUsage((quota for quota, _ in self._used), lambda quota: now[quota.name])
        return not any(map(other.admit, pods))

    def needed(self, pods: Sequence[tuple[Charge, int]]) -> dict[str, Quantities]:
        """Return the limits with which quotas admit pods, for each quota that does not; of equal pods their number."""
        found: dict[str, Quantities] = {}
        for quota, used in self._used:
            more = {name: used.get(name, 0) + each for name, each in _total(quota, pods).items() if name in quota.hard}
            if over := {name: most for name, most in more.items() if most > quota.hard[name]}:
                found[quota.name] = over
        return found

    def admit(self, pod: Charge) -> str:
        """Charge the quotas for a pod, unless one of them refuses it: return its message then."""
        problem = self.refusal(pod)
        if not problem:
            for quota, used in self._used:
                if charges(pod.spec, quota):
                    _add(used, pod.usage)
        return problem


Charged = Iterable[tuple[Charge, int]]  # pods, each with a number of equal ones


def usage_at_start(cluster: Cluster, namespace: str) -> QuotaUsage:
    """Return the usage of the quotas of a namespace: by their status, or else by the pods of the cluster."""
    return QuotaUsage(
        (quota for quota in cluster.quotas if quota.namespace == namespace),
        lambda quota: _total(quota, of_classes(cluster.pods, namespace)) if quota.used is None else quota.used,
    )


def of_classes(pods: Iterable[Pod], namespace: str) -> Charged:
    """Return the pods of a namespace, by their requests."""
    found = [pod.cls for pod in pods if pod.namespace == namespace and pod.is_visible]
    numbers = Counter(map(id, found))
    return [(charge(spec_of_class(cls)), numbers[id(cls)]) for cls in {id(cls): cls for cls in found}.values()]


def without_pods(quota: Quota, pods: Iterable[Pod]) -> Quota:
    """Return a quota as it is once some of the pods that it counts are gone."""
    if quota.used is None:
        return quota
    gone = _total(quota, of_classes(pods, quota.namespace))
    return quota._replace(used={name: max(0, number - gone.get(name, 0)) for name, number in quota.used.items()})


def _total(quota: Quota, *charged: Charged) -> Quantities:
    """Return the usage of some pods."""
    used: Quantities = {}
    for pod, number in itertools.chain(*charged):
        if charges(pod.spec, quota):
            _add(used, pod.usage, number)
    return used


def _add(used: Quantities, usage: Quantities, times: int = 1) -> None:
    for name, number in usage.items():
        used[name] = used.get(name, 0) + times * number


def spec_of_class(cls: PodClass) -> Plain:
    """Return a pod's spec with the requests of its class, for pods without a known template."""
    requests = {name: f"{number}m" if name == "cpu" else str(number) for name, number in cls.requests
                if is_scheduled(name)}  # fmt: skip
    return {"containers": [{"name": "", "resources": {"requests": requests}}]}


def lasting_refusal(owner: Workload, cluster: Cluster) -> str:
    """Return the API server's message if every new pod of a workload is refused; empty if none is."""
    spec = owner.pod_spec
    name = spec.get("runtimeClassName") or ""
    if name and "RuntimeClass" in cluster.complete and name not in cluster.runtime_classes:
        return f'pod rejected: RuntimeClass "{name}" not found'
    errors = limit_errors(spec, limit_ranges(owner.namespace, cluster))
    return errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]" if errors else ""


def unknown_class(owner: Workload, cluster: Cluster) -> str:
    """Return the RuntimeClass that a workload's pods name, if the cluster facts may lack it."""
    name = owner.pod_spec.get("runtimeClassName") or ""
    is_known = name in cluster.runtime_classes or "RuntimeClass" in cluster.complete
    return "" if is_known else str(name)


def has_quota(world: World, facts: int, namespace: str) -> bool:
    """Return whether a namespace has a quota, so that the order in which controllers create pods may matter."""
    return any(quota.namespace == namespace for quota in world.facts[facts].cluster.quotas)


def usage_now(world: World, facts: int, namespace: str, pods: Iterable[P]) -> QuotaUsage:
    """Return the usage of the quotas of a namespace, with the pods of a state.

    The status of a quota at the start also counts what is not known here, which stays as it is. A status that counts
    less than the known pods is out of date: the controller of quotas counts again once a pod is gone.
    """
    now, start = _charged(world, facts, namespace, pods), _charged(world, 0, namespace, world.start)
    others = _charged_background(world, namespace)

    def used(quota: Quota) -> Quantities:
        if quota.used is None:
            return _total(quota, others, now)
        known = _total(quota, start)
        found = {name: max(0, number - known.get(name, 0)) for name, number in quota.used.items()}
        _add(found, _total(quota, now))
        return found

    return QuotaUsage((item for item in world.facts[facts].cluster.quotas if item.namespace == namespace), used)


@cached_method
def _charged_background(world: World, namespace: str) -> Charged:
    return of_classes(world.background, namespace)


def _charged(world: World, facts: int, namespace: str, pods: Iterable[P]) -> Charged:
    """Return the pods that quotas count: those whose deletion does not finish are past their time."""
    numbers = Counter((pod.cls, pod.rev) for pod in pods if not pod.end or world.ends(facts, pod))
    return [
        (world.charge_of(cls, rev), number)
        for (cls, rev), number in numbers.items()
        if world.classes[cls].namespace == namespace
    ]


def is_short(world: World, state: State, pod: P) -> bool:
    """Return whether a quota that counts a terminating pod has no room for another one like it."""
    namespace = world.classes[pod.cls].namespace
    if not has_quota(world, state.facts, namespace):
        return False
    return bool(usage_now(world, state.facts, namespace, state.pods).refusal(world.charge_of(pod.cls, pod.rev)))
