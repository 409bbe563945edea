"""`matchLabelKeys` contains a label that the pods do not have.

## What it does

Reports a key in `matchLabelKeys` that neither the pod template nor the controller sets.

## Why it matters

The scheduler silently leaves out a key that the pod lacks. The usual case is `pod-template-hash`: only the pods of a
Deployment have it, not those of a StatefulSet, a Job or a single Pod. The pods of an Argo Rollout have
`rollouts-pod-template-hash`.

## Example

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      replicas: 3
      selector: {matchLabels: {app: db}}
      template:
        metadata: {labels: {app: db}}
        spec:
          containers: [{name: db, image: db}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: db}}
            matchLabelKeys: [pod-template-hash]
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: db}}

## Use instead

Remove the key, or add the label to the pod template. A StatefulSet needs no revision key, as it replaces its pods in
place (SPR404).

## Fix safety

Removing the key is safe, as the scheduler leaves it out anyway. Replacing it by a similar label that the pods have is
unsafe: it changes which pods count.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Fix, RuleFinding
from kubectl_spread.lint.fixing import fix_builders
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.rollout import replaces_in_place
from kubectl_spread.lint.topology_keys import is_reserved
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.selectors.labels import key_errors
from kubectl_spread.objects.workloads.workload import PER_POD_LABELS, POD_TEMPLATE_HASH, REVISION_LABELS
from kubectl_spread.text.edit import Put

_NEAR = 0.8


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find keys that neither the template nor the controller sets."""
    if subject.workload.kind == "PodTemplate" or not subject.has_known_labels:
        return
    for constraint in subject.constraints:
        if constraint.label_selector is None:
            continue  # refused for it: SPR109
        for index, key in enumerate(constraint.match_label_keys):
            if key_errors(key):
                continue  # refused for that: SPR111
            if key not in subject.labels and not _is_of_another_controller(subject, key):
                route = subject.route(constraint, "matchLabelKeys", index)
                yield RuleFinding(
                    f"the key `{key}` has no effect: the pods of this {subject.workload.kind} do not have the label",
                    subject.place(route),
                    subject.path(route),
                    _hint(key),
                    fix=_fix(subject, constraint, index),
                )


def _hint(key: str) -> str:
    """Return the hint; a label that controllers set does not belong in a template."""
    prefix = key.rpartition("/")[0]
    if key in REVISION_LABELS or key in PER_POD_LABELS or is_reserved(prefix):
        return "remove the key"
    return "remove the key, or add the label to the pods"


def _fix(subject: Subject, constraint: TopologySpreadConstraint, index: int) -> Fix:
    """Write the intended label, which changes the counted pods; otherwise remove the key, which has no effect."""
    import difflib  # 3 ms

    key = constraint.match_label_keys[index]
    labels = subject.labels.keys() - {*constraint.selected_keys, *constraint.match_label_keys} - {*PER_POD_LABELS}
    labels -= {subject.revision_label} if replaces_in_place(subject) else set()  # SPR404
    near = difflib.get_close_matches(key, sorted(labels), n=1, cutoff=_NEAR)
    if near:
        route = subject.route(constraint, "matchLabelKeys", index)
        return Fix(f"write `{near[0]}`", (Put(route, near[0]),))
    removal = fix_builders.without_match_key(subject, constraint, key)
    return Fix(f"remove `{key}` from matchLabelKeys", (removal,), is_safe=True)


def _is_of_another_controller(subject: Subject, key: str) -> bool:
    """Return whether SPR403 reports the key."""
    return subject.workload.kind == "Rollout" and key == POD_TEMPLATE_HASH
