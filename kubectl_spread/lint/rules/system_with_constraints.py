"""Default constraints are set with `defaultingType: System`.

## What it does

Reports `defaultConstraints` with `defaultingType: System`, which is the default. Configurations of v1alpha2 have no
`defaultingType`, and use the list.

## Why it matters

System stands for the scheduler's own two constraints. kube-scheduler does not start with a list of others.

## Example

    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    profiles:
    - schedulerName: default-scheduler
      pluginConfig:
      - name: PodTopologySpread
        args:
          defaultingType: System
          defaultConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway

## Use instead

Write `defaultingType: List`, which replaces the two, or remove the list.

## Fix safety

The fix is unsafe: the list replaces the built-in defaults.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint import scheduler_args
from kubectl_spread.lint.finding import Fix, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.objects.constraints import spread_args
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.text.edit import Put


def check(manifest: Manifest, project: Project) -> Iterator[RuleFinding]:
    """Find lists that System forbids."""
    for error in scheduler_args.errors(manifest, spread_args.SpreadArgsRule.SYSTEM_WITH_CONSTRAINTS):
        fix = Fix("write defaultingType: List", (Put(error.route, spread_args.LIST),))
        yield scheduler_args.finding_of(manifest, error, hint="write defaultingType: List")._replace(fix=fix)
