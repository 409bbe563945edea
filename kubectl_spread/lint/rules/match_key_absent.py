"""`matchLabelKeys` has a label that the pods do not have.

The scheduler leaves out a key that the pod lacks, without a word. `pod-template-hash` is the classic: a Deployment's
ReplicaSets set it, a StatefulSet, a Job or a lone Pod does not have it.

Remove the key, or name the one that the controller sets: `controller-revision-hash` for a StatefulSet.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.subject import Subject
from kubectl_spread.objects.labels import key_errors


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find keys that neither the template nor the controller sets."""
    if subject.workload.kind == "PodTemplate":
        return
    for constraint in subject.constraints:
        if constraint.label_selector is None:
            continue  # refused for it: SPR109
        for index, key in enumerate(constraint.match_label_keys):
            if key not in subject.labels and not key_errors(key):  # refused for that: SPR111
                route = subject.route(constraint, "matchLabelKeys", index)
                yield Found(
                    f"the pods of this {subject.workload.kind} have no label `{key}`, so the key is left out",
                    subject.place(route),
                    subject.path(route),
                    "remove the key, or give the pods the label",
                )
