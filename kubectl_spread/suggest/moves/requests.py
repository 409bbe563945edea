"""Requests lowered to the free resources of nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from kubectl_spread.explain.requirements.requirement import Requirement, RequirementKind
from kubectl_spread.objects.amounts import quantity
from kubectl_spread.objects.amounts.resources import CPU, MEMORY
from kubectl_spread.objects.reading.plain import fields, mappings
from kubectl_spread.suggest.change import Change, Ladder, of_spec, Rank
from kubectl_spread.suggest.editing.patch import put_op, test
from kubectl_spread.suggest.problem import PendingPodProblem

_MEBI = 1024 * 1024
_LEAST_PART = 4  # no request is lowered to less than a quarter


def propose(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Lower the largest container's request of a lacking resource, if the containers are known."""
    if not problem.given.is_template_known:
        return
    for resource in (CPU, MEMORY):
        lacking = [
            item
            for item in problem.explanation.requirements
            if item.kind is RequirementKind.RESOURCE and item.key == resource
        ]
        for requirement in lacking:
            yield from _lowered(problem, resource, requirement)


def _lowered(problem: PendingPodProblem, resource: str, requirement: Requirement) -> Iterator[Ladder]:
    container = _largest(problem, resource)
    if container is None:
        return
    at, request = container
    columns = problem.columns
    free = columns.allocatable_of(resource) - columns.requested_of(resource)
    least = request // _LEAST_PART
    rest = dict(problem.pod.cls.requests).get(resource, 0) - request
    room = free[~requirement.allowed] - rest
    amounts = {_rounded(int(amount) // parts, resource) for amount in set(room.tolist()) for parts in range(1, 5)}
    steps = sorted((amount for amount in amounts if least <= amount < request and amount > 0), reverse=True)
    path = ("containers", at, "resources", "requests", resource)
    name = mappings(problem.spec.get("containers"))[at].get("name")

    def step(number: int) -> Change:
        text = _text(steps[number], resource)
        return of_spec(
            f"lower the {resource} request of container {name} to {text}",
            [test(("containers", at, "name"), name), put_op(path, text)],
            family=f"{resource} request",
            rank=Rank.REQUESTS,
            relaxes={requirement.id},
            gives_up=f"{text} of {resource} are reserved for the container instead of {_text(request, resource)}",
        )

    if steps:
        yield Ladder(len(steps), step)


def _largest(problem: PendingPodProblem, resource: str) -> Optional[tuple[int, int]]:
    """Return the index and the request of the container with the largest request; None if no container has one.

    The request is in milli-CPU or bytes.
    """
    found = []
    for at, container in enumerate(mappings(problem.spec.get("containers"))):
        written = fields(fields(container.get("resources")).get("requests")).get(resource)
        if written is not None:
            thousandths = quantity.parse(written)
            found.append((thousandths if resource == CPU else quantity.whole_units(thousandths), at))
    return None if not found else (max(found)[1], max(found)[0])


def _rounded(amount: int, resource: str) -> int:
    """Round an amount down to a value that people write: 10 milli-CPU or 1 MiB."""
    if resource == CPU:
        return amount // 10 * 10 if amount >= 10 else amount
    return amount // _MEBI * _MEBI


def _text(amount: int, resource: str) -> str:
    return f"{amount}m" if resource == CPU else f"{amount // _MEBI}Mi"
