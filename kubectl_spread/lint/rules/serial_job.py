"""Constraints on a Job that runs one pod at a time spread nothing.

## What it does

Reports constraints on a Job or CronJob with `parallelism: 1`, the default. Jobs that may run at the same time are not
reported: those of a CronJob that allows it, or created with `generateName`. A selector that counts other workloads of
the input is not reported either.

## Why it matters

The next pod starts when the previous one has ended, and ended pods do not count. Every pod finds all domains empty, so
there is nothing to spread.

## Example

    apiVersion: batch/v1
    kind: Job
    metadata: {name: report}
    spec:
      completions: 6
      template:
        metadata: {labels: {app: report}}
        spec:
          restartPolicy: Never
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: report}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: report}}
          containers:
          - {name: report, image: registry.example/report:2}

## Use instead

Remove the constraints, or raise `parallelism`.

## Fix safety

The fix is unsafe: it removes the constraints, which may be meant for a larger `parallelism`.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.fixing import fix_builders
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import FIELD, Subject


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find constraints on Jobs that are alone and serial."""
    if not _is_alone(subject) or _at_once(subject) != 1 or not subject.constraints:
        return
    for constraint in subject.constraints:
        matching = project.matching(subject.selector(constraint), subject.workload.namespace)
        if any(other.workload.key != subject.workload.key for other in matching):
            return
    route = (*subject.spec_route, FIELD)
    yield RuleFinding(
        f"this {subject.workload.kind} runs one pod at a time, so the constraints spread nothing",
        subject.place(route, key=True),
        subject.path(route),
        f"remove {FIELD}, or raise parallelism",
        fix=fix_builders.without_constraints(subject),
    )


def _is_alone(subject: Subject) -> bool:
    """Return whether no two Jobs of this manifest run side by side."""
    if subject.workload.kind == "CronJob":
        return subject.controller.get("concurrencyPolicy") in ("Forbid", "Replace")
    return subject.workload.kind == "Job" and bool((subject.manifest.plain.get("metadata") or {}).get("name"))


def _at_once(subject: Subject) -> int:
    """Return the pods that run at a time when the Job is not suspended."""
    spec = subject.controller
    if subject.workload.kind == "CronJob":
        spec = (spec.get("jobTemplate") or {}).get("spec") or {}
    parallelism, completions = spec.get("parallelism"), spec.get("completions")
    at_once = 1 if parallelism is None else int(parallelism)
    return at_once if completions is None else min(at_once, int(completions))
