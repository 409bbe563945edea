"""Host ports: each uses a port of the node, so that a node runs at most one such pod."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubectl_spread.explain.requirements.requirement import RequirementKind
from kubectl_spread.objects.reading.plain import mappings
from kubectl_spread.suggest.change import Ladder, of_kind, of_spec, Rank, single
from kubectl_spread.suggest.editing.patch import drop, Op, test
from kubectl_spread.suggest.problem import PendingPodProblem

Plain = dict[str, Any]


def propose(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Remove the host ports; a Service reaches the pods by their container ports."""
    refused = of_kind(problem, RequirementKind.PORT)
    if not refused or not problem.given.is_template_known or problem.spec.get("hostNetwork"):
        return
    ports = list(_ports(problem.spec))
    if ports:
        numbers = ", ".join(str(number) for number in dict.fromkeys(number for number, _ in ports))
        what = "hostPort" if len(ports) == 1 else "hostPorts"
        yield single(
            of_spec(
                f"drop {what} {numbers}, so that a node takes more than one of these pods",
                [op for _, ops in ports for op in ops],
                family="hostPort",
                rank=Rank.HOST_PORT,
                relaxes=refused,
                gives_up=f"the pods no longer answer at port {numbers} of their nodes: reach them through a Service",
            )
        )


def _ports(spec: Plain) -> Iterator[tuple[int, tuple[Op, ...]]]:
    for field in ("containers", "initContainers"):
        for at, container in enumerate(mappings(spec.get(field))):
            for number, port in enumerate(mappings(container.get("ports"))):
                if port.get("hostPort"):
                    path = (field, at, "ports", number, "hostPort")
                    yield int(port["hostPort"]), (test(path, port["hostPort"]), drop(path))
