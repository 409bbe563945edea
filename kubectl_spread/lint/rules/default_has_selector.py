"""A default constraint has a `labelSelector`.

## What it does

Reports a `labelSelector` in the `defaultConstraints` of a KubeSchedulerConfiguration, even an empty one.

## Why it matters

kube-scheduler does not start with it. A default constraint counts, for each pod, the pods of its own Service and
controllers.

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
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

## Use instead

Remove the selector.

## Fix safety

The fix is safe: kube-scheduler does not start with the field.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint import scheduler_args
from kubectl_spread.lint.finding import Fix, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.objects.constraints import spread_args
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.text.edit import Drop


def check(manifest: Manifest, project: Project) -> Iterator[RuleFinding]:
    """Find selectors of default constraints."""
    for error in scheduler_args.errors(manifest, spread_args.SpreadArgsRule.DEFAULT_HAS_SELECTOR):
        fix = Fix("remove labelSelector", (Drop(error.route),), is_safe=True)
        yield scheduler_args.finding_of(manifest, error, hint="remove labelSelector", key=True)._replace(fix=fix)
