"""Builder of a `PendingPodProblem` from a Pending pod or from placed workloads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Optional

from kubectl_spread.cluster.ownership import inferred_deployment, OwnedPods, workload_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.tables.columns import Columns
from kubectl_spread.explain.explanation import Explanation, PodVerdict
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.simulate.pending_claims import NewClaims, with_claims
from kubectl_spread.simulate.placement import Placement
from kubectl_spread.simulate.running.controllers import missing_replicas, running_pods, with_controllers
from kubectl_spread.suggest.editing.pod_spec import spec_of
from kubectl_spread.suggest.editing.target import target_of, TemplateOwner
from kubectl_spread.suggest.problem import PendingPodProblem, ProblemInput


def of_pod(
    explanation: Explanation,
    cluster: Cluster,
    profiles: Mapping[str, Profile],
    *,
    all_nodes: bool = False,
    columns: Optional[Columns] = None,
    placed_first: frozenset[str] = frozenset(),
) -> Optional[PendingPodProblem]:
    """Return the problem of a pod of the cluster; None if no change could make it schedulable.

    `explanation` is of the pod; where the order of Pending pods decides, it is of the pod's last possible turn.
    `columns` are of the cluster, if they exist already, without bound pods. `placed_first` has the keys of the Pending
    pods that take the room at the pod's last turn.
    """
    if explanation.verdict is not PodVerdict.PENDING:
        return None
    pod = explanation.pod
    own, others = _waiting(pod, cluster, placed_first)
    owner, target, is_known = _owner(pod, own, cluster)
    return PendingPodProblem(
        ProblemInput(
            pod=pod,
            owner=owner,
            target=target,
            cluster=cluster,
            profiles=profiles,
            explanation=explanation,
            before=tuple(other for other in others if other.key in placed_first),
            own=tuple(own),
            after=tuple(_without(others, placed_first)),
            running=tuple(_running_siblings(pod, cluster)),
            is_template_known=is_known,
            pending=len(_without(own, placed_first)),
            all_nodes=all_nodes,
            is_contended=bool(placed_first),
        ),
        columns,
    )


def _waiting(pod: Pod, cluster: Cluster, placed_first: frozenset[str]) -> tuple[list[Pod], list[Pod]]:
    """Return the waiting pods of a pod's workload in the order of their turns, and the other waiting pods."""
    waiting = [other for other in cluster.pending() if _is_queued(other)]
    siblings = [other for other in waiting if other.key != pod.key and _is_sibling(other, pod, cluster)]
    first = [other for other in siblings if other.key in placed_first]
    own = [*first, pod, *_without(siblings, placed_first)]
    return own, _without(waiting, {other.key for other in own})


def _running_siblings(pod: Pod, cluster: Cluster) -> Iterator[Pod]:
    return (other for other in cluster.bound_pods() if not other.terminating and _is_sibling(other, pod, cluster))


def _without(pods: Iterable[Pod], keys: AbstractSet[str]) -> list[Pod]:
    return [pod for pod in pods if pod.key not in keys]


def of_placements(
    placements: Sequence[Placement],
    at: int,
    cluster: Cluster,
    profiles: Mapping[str, Profile],
    *,
    all_nodes: bool = False,
) -> Optional[PendingPodProblem]:
    """Return the problem of a workload with Pending pods after placing it with others; None if no pod is Pending.

    `placements` come from `simulate.replicas.place`, and `at` is the index of the workload's. The other arguments are
    the ones they were made with.
    """
    placement = placements[at]
    owner, owners = placement.workload, [item.workload for item in placements]
    if not placement.pending or placement.pending[0].explanation.verdict is not PodVerdict.PENDING:
        return None
    cluster = with_claims(owners, with_controllers(owners, cluster))
    owned = OwnedPods(cluster)
    waiting = _missing_pods(owners, cluster, owned)
    return PendingPodProblem(
        ProblemInput(
            pod=next(pod for pod in waiting[at] if pod.key == placement.pending[0].pod.key),
            owner=owner,
            target=target_of(owner, is_live=False),
            cluster=cluster,
            profiles=profiles,
            explanation=placement.pending[0].explanation,
            before=tuple(pod for pods in waiting[:at] for pod in pods),
            own=tuple(waiting[at]),
            after=(*(pod for pods in waiting[at + 1 :] for pod in pods), *_not_among(cluster.pending(), waiting)),
            running=tuple(running_pods(owner, owned)),
            is_template_known=True,
            pending=len(placement.pending),
            all_nodes=all_nodes,
        )
    )


def _missing_pods(owners: Iterable[Workload], cluster: Cluster, owned: OwnedPods) -> list[list[Pod]]:
    """Return for each workload the pods that its controller has yet to create and the scheduler would try."""
    claims = NewClaims(cluster)
    return [
        [claims.without(pod, owner) for pod in missing_replicas(owner, owned) if not pod.cls.gates] for owner in owners
    ]


def _not_among(pending: Iterable[Pod], waiting: Iterable[Iterable[Pod]]) -> list[Pod]:
    """Return the waiting pods of the cluster that are not among the pods to create."""
    keys = {pod.key for pods in waiting for pod in pods}
    return [pod for pod in pending if pod.key not in keys and _is_queued(pod)]


def _is_queued(pod: Pod) -> bool:
    """Return whether the scheduler tries to place the pod: it is neither gated nor being deleted."""
    return not pod.cls.gates and not pod.terminating


def _is_sibling(other: Pod, pod: Pod, cluster: Cluster) -> bool:
    """Return whether two pods belong to one workload; a pod without a controller only equals itself."""
    if pod.owner is None:
        return other.key == pod.key
    return other.namespace == pod.namespace and workload_of(other, cluster) == workload_of(pod, cluster)


def _owner(pod: Pod, own: Iterable[Pod], cluster: Cluster) -> tuple[Workload, TemplateOwner, bool]:
    """Return the workload of a pod, the object to patch, and whether the written template is known."""
    key = workload_of(pod, cluster)
    controller = cluster.controllers.get(key)
    if controller is not None and _is_made_of(pod, controller.workload):
        is_paused = bool(controller.spec.get("paused")) and controller.workload.kind == "Deployment"
        return controller.workload, target_of(controller.workload, is_live=True, is_paused=is_paused), True
    is_guessed = key == inferred_deployment(pod.cls) and key not in cluster.owners_of(pod)
    version = "" if pod.owner is None else pod.owner.api_version
    template = {"metadata": {"labels": dict(pod.cls.labels)}, "spec": spec_of(pod.cls)}
    owner = Workload(key.kind, version, key.namespace, key.name, len(list(own)), template)
    return owner, target_of(owner, is_live=True, is_guessed=is_guessed), False


def _is_made_of(pod: Pod, owner: Workload) -> bool:
    """Return whether a pod has the template's constraints, as a sign that it is of the current revision."""
    if owner.kind not in KINDS:
        return False
    labels = dict(pod.cls.labels)
    cls = read.pod_class(pod.namespace, {"labels": labels}, owner.template.get("spec") or {}, {})
    made = [(item.topology_key, item.when_unsatisfiable, item.max_skew) for item in cls.constraints]
    return made == [(item.topology_key, item.when_unsatisfiable, item.max_skew) for item in pod.cls.constraints]
