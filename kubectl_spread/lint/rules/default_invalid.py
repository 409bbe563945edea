"""kube-scheduler does not start with its default constraints.

## What it does

Reports `defaultConstraints` that kube-scheduler refuses, with its own message and path.

## Why it matters

A default constraint needs a positive `maxSkew`, a `topologyKey` that is a label key, and DoNotSchedule or
ScheduleAnyway. Two may not have the same key and action, and `defaultingType` is System or List. In v1 unknown fields
are refused too.

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
          - maxSkew: 0
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway

## Use instead

Write what the message asks for.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint import scheduler_args
from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.objects.constraints import spread_args
from kubectl_spread.objects.workloads.manifest import Manifest


def check(manifest: Manifest, project: Project) -> Iterator[RuleFinding]:
    """Find what does not decode, and what is not valid."""
    yield from scheduler_args.decoding_findings(manifest)
    for error in scheduler_args.errors(manifest, spread_args.SpreadArgsRule.DEFAULT_INVALID):
        is_item = isinstance(error.route[-1], int)  # the later of two
        at = error._replace(route=(*error.route, "topologyKey")) if is_item else error
        yield scheduler_args.finding_of(manifest, at)
