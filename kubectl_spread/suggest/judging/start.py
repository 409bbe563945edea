"""Initial cluster for the changes of a problem, with a controller for its pods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kubectl_spread.cluster.snapshot import Cluster, Controller, key_of, OwnerKey
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.suggest.editing.pod_spec import whole_spec_of
from kubectl_spread.suggest.problem import PendingPodProblem
from kubectl_spread.text.scalars import natural
from kubectl_spread.timeline.setup import reading


def _missing_controllers(problem: PendingPodProblem) -> dict[OwnerKey, Controller]:
    """Return synthesized controllers for the pods whose own the cluster facts lack."""
    if not _can_be_made(problem):
        return {}
    known = problem.cluster.controllers
    keys = (key for key in _makers(problem) if key not in known and key.kind in reading.KINDS)
    return {key: _synthesized(problem, key) for key in keys}


def start_of(problem: PendingPodProblem) -> Cluster:
    """Return the problem's cluster with a controller for its pods, and without owners that are not simulated."""
    cluster, owner = problem.cluster, problem.owner
    controllers = dict(cluster.controllers)
    owners = {key: above for key, above in cluster.owners.items() if above.kind in reading.KINDS}
    top = key_of(owner)
    if not problem.exists:
        if top in controllers and not controllers[top].spec:  # It was only added for a placement.
            del controllers[top]
        return cluster._replace(owners=owners, controllers=controllers)
    controllers |= _missing_controllers(problem)
    if owner.kind == "Deployment":
        sets = {pod.owner.name for pod in (*problem.given.own, *problem.given.running) if pod.owner is not None}
        owners |= {OwnerKey("ReplicaSet", owner.namespace, name): top for name in sets}
        _tell_apart(controllers, [key for key, above in owners.items() if above == top])
    return cluster._replace(controllers=controllers, owners=owners)


def _tell_apart(controllers: dict[OwnerKey, Controller], sets: Sequence[OwnerKey]) -> None:
    """Mark the templates of older ReplicaSets as different, because the cluster facts may omit the difference."""
    known = sorted((key for key in sets if key in controllers), key=lambda key: _revision(controllers[key]))
    for at, key in enumerate(known[:-1]):
        mine = controllers[key]
        later = (controllers[other].workload.template for other in known[at + 1 :])
        if any(mine.workload.template.get("spec") == template.get("spec") for template in later):
            metadata = fields(mine.workload.template.get("metadata"))
            template = {**mine.workload.template, "metadata": {**metadata, "annotations": {"revision": key.name}}}
            controllers[key] = mine._replace(workload=mine.workload._replace(template=template))


def _revision(controller: Controller) -> int:
    return natural(controller.revision) or 0


def _can_be_made(problem: PendingPodProblem) -> bool:
    """Return whether the template can be derived from the pods.

    It cannot if each pod has claims of its own that no claim template creates.
    """
    pods = (*problem.given.own, *problem.given.running)
    own = [{volume.claim.removesuffix(f"-{pod.name}") for volume in pod.cls.volumes} for pod in pods]
    return all(claims == own[0] for claims in own)


def _makers(problem: PendingPodProblem) -> list[OwnerKey]:
    """Return the key of the workload; for a CronJob, the keys of its Jobs."""
    owner = problem.owner
    if owner.kind != "CronJob":
        return [key_of(owner)] if owner.kind in KINDS else []
    jobs = {pod.owner.name for pod in problem.given.own if pod.owner is not None}
    return [OwnerKey("Job", owner.namespace, name) for name in sorted(jobs)]


def _synthesized(problem: PendingPodProblem, key: OwnerKey) -> Controller:
    """Return a controller that is built from its pods."""
    owner, cls = problem.owner, problem.pod.cls
    own = (*problem.given.own, *problem.given.running)
    mine = [pod for pod in own if key.kind != "Job" or (pod.owner is not None and pod.owner.name == key.name)]
    made_claims = {f"{name}-{problem.pod.name}" for name in _claim_templates(problem.pod)}
    kept = tuple(volume for volume in cls.volumes if key.kind != "StatefulSet" or volume.claim not in made_claims)
    template = {"metadata": {"labels": problem.own_labels}, "spec": whole_spec_of(cls._replace(volumes=kept))}
    if owner.template.get("spec") and problem.given.is_template_known:
        template = owner.template
    workload = Workload(
        key.kind,
        owner.api_version,
        key.namespace,
        key.name,
        len(mine) if key.kind == "Job" else problem.replicas,
        template,
        selector=owner.selector or {"matchLabels": problem.own_labels},
        claim_templates=_claim_templates(problem.pod) if key.kind == "StatefulSet" else (),
        first_ordinal=_first_ordinal(mine) if key.kind == "StatefulSet" else 0,
    )
    return Controller(workload)


def _claim_templates(pod: Pod) -> tuple[str, ...]:
    """Return the names of claim templates, derived from the claims of a StatefulSet's pod."""
    names = (volume.claim for volume in pod.cls.volumes if volume.claim.endswith(f"-{pod.name}"))
    return tuple(name.removesuffix(f"-{pod.name}") for name in names)


def _first_ordinal(pods: Iterable[Pod]) -> int:
    found = [number for pod in pods if (number := natural(pod.name.rpartition("-")[2])) is not None]
    return min(found, default=0)
