"""A default constraint is DoNotSchedule.

It holds for every pod that has a Service or a controller and no constraints of its own. cluster-autoscaler simulates
with the built-in defaults, and Karpenter only where it is told to: both see no reason why such a pod is Pending, or add
nodes that do not help. A default on a label that some nodes lack keeps all pods off these.

Example:
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

Let it be ScheduleAnyway, and write hard constraints where they are needed.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint import scheduler_args
from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.objects import decode
from kubectl_spread.objects import spread_args
from kubectl_spread.objects.constraint import DO_NOT_SCHEDULE
from kubectl_spread.objects.manifest import Manifest


def check(manifest: Manifest, project: Project) -> Iterator[Found]:
    """Find hard constraints in lists that count; not where System forbids the list (SPR802)."""
    for args, here in scheduler_args.readable(manifest):
        if args.get("defaultingType") != spread_args.LIST:
            continue
        for index, constraint in enumerate(args.get("defaultConstraints") or ()):
            if (constraint or {}).get("whenUnsatisfiable") == DO_NOT_SCHEDULE:
                route = here.child("defaultConstraints", index, "whenUnsatisfiable").route
                yield Found(
                    "a hard default holds for every pod without constraints of its own, and cluster-autoscaler does "
                    "not know it",
                    scheduler_args.place(manifest, route),
                    decode.path_text(route),
                    "let it be ScheduleAnyway",
                )
