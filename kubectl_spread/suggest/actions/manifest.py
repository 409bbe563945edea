"""Actions that change the manifest of the workload."""

from __future__ import annotations

from typing import Any, NamedTuple

from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading.decode import path_text
from kubectl_spread.suggest.actions.action import object_of
from kubectl_spread.suggest.editing import patch
from kubectl_spread.suggest.editing.patch import Op
from kubectl_spread.suggest.editing.target import command
from kubectl_spread.suggest.judging.hypothetical import HypotheticalCluster
from kubectl_spread.suggest.judging.plan import Plan

Plain = dict[str, Any]


class EditSpec(NamedTuple):
    """Edit of the pod spec."""

    ops: tuple[Op, ...]

    @property
    def is_of_manifest(self) -> bool:
        return True

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene.with_spec(self.ops)

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:
        plan.edit_template(self.ops, scene.recreation().pod)

    def lines(self, scene: HypotheticalCluster) -> list[str]:
        prefix = scene.problem.target.spec
        found = []
        for op in self.ops:
            if op.op == patch.ADD:
                found.append(f"{path_text((*prefix, *op.path)).removesuffix(_APPENDED)}: {_flow(op.value)}")
            elif op.op == patch.REMOVE:
                found.append(f"{path_text((*prefix, *op.path))}: removed")
        return found

    def commands(self, scene: HypotheticalCluster) -> list[str]:
        problem = scene.problem
        return problem.target.commands(self.ops, problem.given.own)

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:
        problem = scene.problem
        return problem.target.document(self.ops, problem.given.own)


_APPENDED = f".{patch.END}"


class SetRollout(NamedTuple):
    """Rollout settings of a Deployment that delete a pod of the old revision before creating a new one."""

    deleted: tuple[Pod, ...]
    unavailable: int = 1

    @property
    def is_of_manifest(self) -> bool:
        return True

    @property
    def _settings(self) -> Plain:
        return {"maxSurge": 0, "maxUnavailable": self.unavailable}

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        settings = scene.problem.rollout._replace(surge=0, unavailable=self.unavailable)
        return scene.without_pods(self.deleted, replaced=False)._replace(rollout=settings)

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        plan.edit_strategy(self._settings)

    def lines(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return [f"spec.strategy.rollingUpdate.{name}: {value}" for name, value in self._settings.items()]

    def commands(self, scene: HypotheticalCluster) -> list[str]:
        target = scene.problem.target
        if not target.is_live:
            return []
        merge = f'{{"spec":{{"strategy":{{"rollingUpdate":{{"maxSurge":0,"maxUnavailable":{self.unavailable}}}}}}}}}'
        rest = ("--type=merge", "-p", merge)
        return [command("patch", target.resource, target.name, namespace=target.namespace, rest=rest)]

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:
        target = scene.problem.target
        path = ("spec", "strategy", "rollingUpdate")
        ops = [patch.put_op((*path, name), value) for name, value in self._settings.items()]
        return [
            {
                **object_of(target.kind, target.namespace, target.name),
                "patch": [op.document() for op in ops],
                "deletesFirst": [pod.name for pod in self.deleted],
            }
        ]


def _flow(value: Any) -> str:
    """Return a value as YAML on one line."""
    import json

    if (
        isinstance(value, str)
        and value.replace("-", "").replace("/", "").replace(".", "").isalnum()
        and value[:1].isalpha()
    ):
        return value
    return json.dumps(value)
