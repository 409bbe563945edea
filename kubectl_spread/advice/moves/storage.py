"""Changes for volumes in places that the pod may not use.

A StorageClass may bind too early or allow too few topologies. Claims can be deleted and created again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_spread.advice.actions import (
    Action,
    CreateClaims,
    DeleteClaims,
    EditClass,
    RemovePods,
    ScaleDown,
    SetReplicas,
)
from kubectl_spread.advice.change import Change, Damage, Proposal, Rank
from kubectl_spread.advice.problem import PendingPodProblem
from kubectl_spread.advice.target import drop, Op, put_op, test
from kubectl_spread.cluster.ownership import workload_of
from kubectl_spread.explain.requirements.requirement import RequirementKind
from kubectl_spread.objects.keys import NamespacedName
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading.plain import fields, mappings
from kubectl_spread.objects.storage import Claim, NO_PROVISIONER, StorageClass, WAIT_FOR_FIRST_CONSUMER
from kubectl_spread.objects.workloads.workload import SCALED_KINDS
from kubectl_spread.text.wording import spelling_of

_LOST = "all data in the volumes is lost, unless their reclaim policy keeps them"
_SIZE = "1Gi"


def propose(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Propose changes of the waiting pods' claims and of their StorageClasses."""
    yield from _missing(problem)
    yield from _held(problem)
    # The claims of the waiting pods, except claims in use by a pod with a node: these cannot go away
    keys, there = _named(problem.own), problem.cluster.storage.claims
    used = _named(problem.columns.bound_pods) if keys else {}
    claims = [there[key] for key in keys if key in there and key not in used]
    for name in sorted({claim.storage_class for claim in claims}):
        found = problem.cluster.storage.classes.get(name)
        if found is not None and found.provisioner not in ("", NO_PROVISIONER):
            yield from _of_class(problem, found, [claim for claim in claims if claim.storage_class == name])


def _named(pods: Iterable[Pod]) -> dict[NamespacedName, None]:
    """Return the claims that the pods name, in order."""
    return dict.fromkeys(key for pod in pods for key in pod.cls.claims(with_ephemeral=False))


def _of_class(problem: PendingPodProblem, found: StorageClass, claims: list[Claim]) -> Iterator[Proposal]:
    settled = [claim for claim in claims if claim.volume_name or claim.selected_node is not None]
    name, again = found.name, f"StorageClass {found.name} is deleted and created again"
    # The claims of the pod, or of all waiting pods, are re-created where the pods are scheduled.
    own = problem.pod.cls.claims()
    groups = [[claim for claim in settled if claim.key in own], settled] if found.waits else []
    for chosen in dict.fromkeys(tuple(group) for group in groups if group):
        names = ", ".join(claim.key.name for claim in chosen)
        has_data = any(claim.volume_name for claim in chosen)  # A claim that was never bound holds none.
        what = "claim" if len(chosen) == 1 else "claims"
        yield Change(
            f"delete the {what} {names}, so that new volumes are created where the pods fit",
            (DeleteClaims(tuple(claim.key for claim in chosen)),),
            "claims",
            Rank.CLAIM,
            weight=len(chosen),
            gives_up=_LOST if has_data else "",
            damage=Damage.LOSES_DATA if has_data else Damage.NONE,
        )
    if not found.waits:
        yield _with_class(
            found._replace(waits=True),
            [put_op(("volumeBindingMode",), WAIT_FOR_FIRST_CONSUMER)],
            claims=claims,
            title=f"set volumeBindingMode: {WAIT_FOR_FIRST_CONSUMER} in the StorageClass {name}",
            gives_up=f"{again}; it then creates volumes only for scheduled pods",
        )
    limits = {key: found.allowed_values(key) for key in (report.constraint.topology_key for report in problem.reports)}
    # Is there a domain in which the class provisions no volumes?
    if found.allowed and any(there is not None and problem.values(key) - there for key, there in limits.items()):
        yield _with_class(
            found._replace(allowed=None),
            [drop(("allowedTopologies",))],
            claims=settled,
            title=f"remove allowedTopologies from the StorageClass {name}, so that volumes may be created in every "
            "domain",
            gives_up=f"{again}; its volumes may then be in any domain",
        )


def _missing(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Create the claims that the pod names but that do not exist."""
    storage, pod = problem.cluster.storage, problem.pod
    missing = [key.name for key in pod.cls.claims(with_ephemeral=False) if key not in storage.claims]
    if not missing:
        return
    free = [key.name for key in storage.claims if key.namespace == pod.namespace]
    volumes = mappings(problem.spec.get("volumes")) if problem.is_template_known else []
    for name in missing:
        near = spelling_of(name, free)
        for at, volume in enumerate(volumes if near else ()):
            if fields(volume, "persistentVolumeClaim").get("claimName") == name:
                path = ("volumes", at, "persistentVolumeClaim", "claimName")
                title = f"write claimName: {near} instead of {name}, which does not exist"
                yield Change(title, [test(path, name), put_op(path, near)], family="claimName", rank=Rank.MISTAKE)
    classes = sorted(storage.classes.values(), key=lambda item: (not item.is_default, not item.waits, item.name))
    storage_class = {"storageClassName": classes[0].name} if classes else {}
    written = tuple(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": pod.namespace},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                **storage_class,
                "resources": {"requests": {"storage": _SIZE}},
            },
        }
        for name in missing
    )
    yield Change(
        f"create the missing claim{'s' if len(missing) > 1 else ''} {', '.join(missing)}",
        (CreateClaims(written),),
        "missing claim",
        Rank.MISTAKE,
        notes=(
            "write the size, the access mode and the StorageClass that the pod needs; the values shown were simulated",
        ),
    )


def _held(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Stop the other workload that holds a claim for one pod at a time, or run one replica of the own workload."""
    claims = {item.key for item in problem.explanation.requirements if item.kind is RequirementKind.CLAIM_IN_USE}
    own = {NamespacedName(problem.pod.namespace, name) for name in claims}
    holders = [
        pod for pod in problem.cluster.bound_pods() if not pod.terminating and not own.isdisjoint(pod.cls.claims())
    ]
    listed = ", ".join(sorted(claims))
    for pod in holders:
        owner = workload_of(pod, problem.cluster)
        if owner == workload_of(problem.pod, problem.cluster):
            continue
        title = f"stop pod {pod.name} on {pod.node_name}, which holds claim {listed}: one pod at a time may use it"
        action: Action = RemovePods((pod,))
        gives_up = f"pod {pod.name} ends{'' if pod.owner else ', and nothing creates it again'}"
        if pod.owner is not None and owner.kind in SCALED_KINDS:
            pods = [other for other in problem.cluster.bound_pods() if workload_of(other, problem.cluster) == owner]
            action = ScaleDown(owner, 0, tuple(pods))
            gives_up = f"{owner.kind} {owner.name} has no pods until it is scaled up again"
        yield Change(title, (action,), "holder", Rank.HOLDER, gives_up=gives_up, damage=Damage.KILLS)
    if claims and problem.replicas > 1 and problem.owner.kind in SCALED_KINDS:
        is_set = problem.owner.kind == "StatefulSet"
        own_claims = f"claim templates of {'the' if is_set else 'a'} StatefulSet"
        left = max(0, 1 - len(problem.running))  # Its controller deletes Pending pods first.
        yield Change(
            f"run one replica: one pod at a time may use claim {listed}",
            (SetReplicas(1, tuple(problem.own[left:])),),
            "replicas",
            Rank.REPLICAS,
            gives_up=f"{problem.owner.kind} {problem.owner.name} has {problem.replicas - 1} fewer",
            notes=(
                (
                    f"for several replicas, give each pod a claim of its own ({own_claims}), or use a volume with the "
                    "access mode ReadWriteMany"
                ),
            ),
        )


def _with_class(after: StorageClass, ops: list[Op], *, claims: list[Claim], title: str, gives_up: str) -> Change:
    actions: tuple[Action, ...] = (EditClass(after, tuple(ops)),)
    has_data = any(claim.volume_name for claim in claims)
    if claims:
        actions = (*actions, DeleteClaims(tuple(claim.key for claim in claims)))
        title = f"{title}, and create the claims again: {', '.join(claim.key.name for claim in claims)}"
        gives_up += f"; {_LOST}" if has_data else "; the claims have no volume yet, so no data is lost"
    return Change(
        title,
        actions,
        "storage",
        Rank.STORAGE_CLASS,
        weight=len(claims),
        gives_up=gives_up,
        damage=Damage.LOSES_DATA if has_data else Damage.NONE,
        notes=tuple(
            f"`kubectl describe pvc {claim.key.name} -n {claim.key.namespace}` says why it has no volume: a "
            "provisioner that fails now fails with this change, too"
            for claim in claims[:1]
            if not claim.volume_name
        ),
    )
