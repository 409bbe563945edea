"""Volumes that are where the pod may not be: classes that choose too early or too narrowly, and claims made anew."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.objects.storage import Claim
from kubectl_spread.objects.storage import NO_PROVISIONER
from kubectl_spread.objects.storage import ObjectKey
from kubectl_spread.objects.storage import StorageClass
from kubectl_spread.objects.storage import WAIT_FOR_FIRST_CONSUMER
from kubectl_spread.suggest.actions import Action
from kubectl_spread.suggest.actions import DeleteClaims
from kubectl_spread.suggest.actions import EditClass
from kubectl_spread.suggest.change import Change
from kubectl_spread.suggest.change import Ladder
from kubectl_spread.suggest.change import Rank
from kubectl_spread.suggest.change import single
from kubectl_spread.suggest.patch import drop
from kubectl_spread.suggest.patch import Op
from kubectl_spread.suggest.patch import put
from kubectl_spread.suggest.problem import Problem

_LOST = "what the volumes hold is lost, unless their reclaim policy keeps them"


def propose(problem: Problem) -> Iterator[Ladder]:
    """Changes of the claims of the pods that wait, and of their classes."""
    claims = _claims(problem)
    classes = {claim.storage_class for claim in claims}
    for name in sorted(classes):
        found = problem.cluster.storage.classes.get(name)
        if found is not None and found.provisioner not in ("", NO_PROVISIONER):
            yield from _of_class(problem, found, [claim for claim in claims if claim.storage_class == name])


def _claims(problem: Problem) -> list[Claim]:
    """The claims of the pods that wait."""
    keys = dict.fromkeys(
        ObjectKey(pod.namespace, volume.claim)
        for pod in problem.given.own
        for volume in pod.cls.volumes
        if volume.claim and not volume.is_ephemeral
    )
    claims = problem.cluster.storage.claims
    return [claims[key] for key in keys if key in claims]


def _of_class(problem: Problem, found: StorageClass, claims: list[Claim]) -> Iterator[Ladder]:
    settled = [claim for claim in claims if claim.volume_name or claim.selected_node is not None]
    missing = [
        value for report in problem.reports for value in _left_out(problem, found, report.constraint.topology_key)
    ]
    if found.waits and settled:
        yield from _made_anew(problem, settled)
    if not found.waits:
        yield single(_waiting(found, claims))
    if found.allowed and missing:
        yield single(_anywhere(found, settled))


def _left_out(problem: Problem, found: StorageClass, key: str) -> list[str]:
    """Domains that the class makes no volumes in."""
    allowed = found.allowed_values(key)
    values = {node.labels[key] for node in problem.cluster.nodes if key in node.labels}
    return [] if allowed is None else sorted(values - allowed)


def _made_anew(problem: Problem, settled: list[Claim]) -> Iterator[Ladder]:
    """Delete the claims of the pod, and of all pods that wait: they are made again where the pods are put."""
    own = {ObjectKey(problem.pod.namespace, volume.claim) for volume in problem.pod.cls.volumes}
    groups = [[claim for claim in settled if claim.key in own], settled]
    for keys in dict.fromkeys(tuple(claim.key for claim in group) for group in groups if group):
        names = ", ".join(key.name for key in keys)
        what = "claim" if len(keys) == 1 else "claims"
        yield single(
            Change(
                f"delete the {what} {names}, and have volumes made anew where the pods fit",
                (DeleteClaims(keys),),
                "claims",
                Rank.CLAIM,
                weight=len(keys),
                gives_up=_LOST,
                notes=_not_made_again(problem, keys),
            )
        )


def _not_made_again(problem: Problem, keys: tuple[ObjectKey, ...]) -> tuple[str, ...]:
    """What is to be said of claims that no StatefulSet makes."""
    pods = problem.given.own
    made = {key for key in keys if any(key.name.endswith(f"-{pod.name}") for pod in pods)}
    alone = [key.name for key in keys if key not in made or problem.owner.kind != "StatefulSet"]
    return (f"create {', '.join(alone)} again: no controller does",) if alone else ()


def _waiting(found: StorageClass, claims: list[Claim]) -> Change:
    after = found._replace(waits=True)
    op = put(("volumeBindingMode",), WAIT_FOR_FIRST_CONSUMER)
    return _with_class(found, after, [op], claims, f"let the StorageClass {found.name} wait: {WAIT_FOR_FIRST_CONSUMER}")


def _anywhere(found: StorageClass, settled: list[Claim]) -> Change:
    after = found._replace(allowed=None)
    title = f"remove allowedTopologies from the StorageClass {found.name}, so that volumes may be made in every domain"
    return _with_class(found, after, [drop(("allowedTopologies",))], settled, title)


def _with_class(found: StorageClass, after: StorageClass, ops: list[Op], claims: list[Claim], title: str) -> Change:
    actions: tuple[Action, ...] = (EditClass(found, after, tuple(ops)),)
    gives_up = "volumes of the class are made in another manner from now on"
    if claims:
        actions = (*actions, DeleteClaims(tuple(claim.key for claim in claims)))
        title = f"{title}, and make the claims anew: {', '.join(claim.key.name for claim in claims)}"
        gives_up = f"{gives_up}; {_LOST}"
    return Change(title, actions, "storage", Rank.STORAGE_CLASS, weight=len(claims), gives_up=gives_up)
