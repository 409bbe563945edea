"""A default constraint is DoNotSchedule.

## What it does

Reports DoNotSchedule in the `defaultConstraints` of a KubeSchedulerConfiguration.

## Why it matters

The constraint applies to every pod that has a Service or a controller and no constraints of its own. cluster-autoscaler
simulates with the built-in defaults, and Karpenter uses others only if configured. Neither knows why such a pod is
Pending, so they add no node, or a node that does not help. If some nodes lack the label, no such pod goes there.

## Example

    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    profiles:
    - schedulerName: default-scheduler
      pluginConfig:
      - name: PodTopologySpread
        args:
          defaultingType: List
          defaultConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule

## Use instead

Use ScheduleAnyway, and write hard constraints into the workloads that need them.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint import scheduler_args
from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.objects.constraints import spread_args
from kubectl_spread.objects.constraints.constraint import DO_NOT_SCHEDULE
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.workloads.manifest import Manifest


def check(manifest: Manifest, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints in lists that count; not where System forbids the list (SPR802)."""
    for args, here in scheduler_args.decodable_args(manifest):
        if args.get("defaultingType") != spread_args.LIST:
            continue
        for index, constraint in enumerate(args.get("defaultConstraints") or ()):
            if (constraint or {}).get("whenUnsatisfiable") == DO_NOT_SCHEDULE:
                route = here.child("defaultConstraints", index, "whenUnsatisfiable").route
                yield RuleFinding(
                    "pods without constraints of their own may stay Pending, and cluster-autoscaler adds no node "
                    "for them: it does not know this default",
                    scheduler_args.place(manifest, route),
                    decode.path_text(route),
                    "use ScheduleAnyway",
                )
