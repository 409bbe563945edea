"""Revision keys, other match label keys, and what they change in a rollout."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint import corrections
from kubectl_spread.lint.finding import EITHER, Fix, Knowledge, rule, RuleFinding, SAFE, Severity, UNSAFE
from kubectl_spread.lint.queries import replaces_in_place, surge_text
from kubectl_spread.lint.topology_keys import is_reserved
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.selectors import key_errors
from kubectl_spread.objects.workloads.workload import PER_POD_LABELS, POD_TEMPLATE_HASH, REVISION_LABELS, ROLLOUT_HASH
from kubectl_spread.text.edit import Append, Change, Put
from kubectl_spread.text.wording import nearest


@rule(
    "SPR208",
    "`matchLabelKeys` contains a label that is different on every pod",
    needs=("matchLabelKeys",),
    fixes=UNSAFE,
)
def per_pod_match_key(subject: Subject) -> Iterator[RuleFinding]:
    """Find keys that make every pod a group of its own."""
    for constraint in subject.constraints:
        for index, key in enumerate(constraint.match_label_keys):
            if key in PER_POD_LABELS and key in subject.labels:
                yield RuleFinding(
                    f"every pod has its own `{key}`, so each pod counts only itself and the constraint has no effect",
                    subject.route(constraint, "matchLabelKeys", index),
                    "remove the key",
                    fix=Fix(
                        f"remove `{key}` from matchLabelKeys",
                        (corrections.without_match_key(subject, constraint, key),),
                    ),
                )


_NEAR = 0.8


@rule(
    "SPR209",
    "`matchLabelKeys` contains a label that the pods do not have",
    Severity.WARNING,
    needs=("matchLabelKeys",),
    speaks_from=Knowledge.KNOWN,
    fixes=EITHER,
)
def match_key_absent(subject: Subject) -> Iterator[RuleFinding]:
    """Find keys that neither the template nor the controller sets."""
    if subject.kind == "PodTemplate" or not subject.has_known_labels:
        return
    for constraint in subject.constraints:
        if constraint.label_selector is None:
            continue  # refused for it: SPR109
        for index, key in enumerate(constraint.match_label_keys):
            if key_errors(key):
                continue  # refused for that: SPR111
            # SPR403 reports this key of a Rollout.
            if key not in subject.labels and not (subject.kind == "Rollout" and key == POD_TEMPLATE_HASH):
                # A label that controllers set does not belong in a template.
                is_set = key in REVISION_LABELS or key in PER_POD_LABELS or is_reserved(key.rpartition("/")[0])
                yield RuleFinding(
                    f"the pods of this {subject.kind} have no label `{key}`, so the key has no effect",
                    subject.route(constraint, "matchLabelKeys", index),
                    "remove the key" if is_set else "remove the key, or add the label to the pods",
                    fix=_fix(subject, constraint, index),
                )


def _fix(subject: Subject, constraint: TopologySpreadConstraint, index: int) -> Fix:
    """Write the intended label, which changes the counted pods; otherwise remove the key, which has no effect."""
    key = constraint.match_label_keys[index]
    labels = subject.labels.keys() - {*constraint.selected_keys, *constraint.match_label_keys} - {*PER_POD_LABELS}
    labels -= {subject.revision_label} if replaces_in_place(subject) else set()  # SPR404
    near = nearest(key, sorted(labels), cutoff=_NEAR)
    if near:
        route = subject.route(constraint, "matchLabelKeys", index)
        return Fix(f"write `{near}`", (Put(route, near),))
    removal = corrections.without_match_key(subject, constraint, key)
    return Fix(f"remove `{key}` from matchLabelKeys", (removal,), is_safe=True)


@rule(
    "SPR401",
    "old pods count during a rolling update",
    Severity.WARNING,
    needs=("DoNotSchedule",),
    one_of=("Deployment", "Rollout"),
    speaks_from=Knowledge.KNOWN,
    fixes=UNSAFE,
)
def missing_revision_key(subject: Subject) -> Iterator[RuleFinding]:
    """Find Deployments whose hard constraints do not tell revisions apart; once a workload."""
    if not subject.target.stores("matchLabelKeys"):
        return  # nothing to be done
    surge = surge_text(subject)
    if not surge or subject.is_single:
        return
    # SPR403 reports a Rollout's constraint with the key of a Deployment.
    blind = [
        constraint
        for constraint in subject.hard_in_group
        if subject.revision_label not in (*constraint.match_label_keys, *constraint.selected_keys)
        and not (
            subject.kind == "Rollout"
            and POD_TEMPLATE_HASH in constraint.match_label_keys
            and POD_TEMPLATE_HASH not in subject.labels
        )
    ]
    if blind:
        first, *rest = blind
        key = subject.revision_label
        changes: list[Change] = []
        for item in blind:
            route = subject.route(item, "matchLabelKeys")
            changes.append(Append(route, key) if item.match_label_keys else Put(route, [key]))
        yield RuleFinding(
            "during a rolling update the old pods are counted too, so the new pods can end up unevenly spread "
            f"({surge})",
            subject.route(first, "matchLabelKeys"),
            f"add matchLabelKeys: [{key}]",
            subject.related("also here", *map(subject.route, rest)),
            fix=Fix("let each revision count its own pods", tuple(changes)),
        )


@rule(
    "SPR403",
    "an Argo Rollout's pods do not have the label `pod-template-hash`",
    Severity.WARNING,
    needs=("Rollout", "matchLabelKeys"),
    fixes=SAFE,
)
def wrong_hash_label(subject: Subject) -> Iterator[RuleFinding]:
    """Find a Deployment's key in a Rollout whose template does not set it."""
    if POD_TEMPLATE_HASH in subject.labels:
        return
    for constraint in subject.constraints:
        keys = constraint.match_label_keys
        if constraint.label_selector is None or POD_TEMPLATE_HASH not in keys:
            continue
        route = subject.route(constraint, "matchLabelKeys", keys.index(POD_TEMPLATE_HASH))
        removal = corrections.without_match_key(subject, constraint, POD_TEMPLATE_HASH)
        change = removal if ROLLOUT_HASH in keys else Put(route, ROLLOUT_HASH)
        yield RuleFinding(
            f"the pods of a Rollout have no label `{POD_TEMPLATE_HASH}`, so the key has no effect, and the pods of all "
            "revisions count together",
            route,
            f"write {ROLLOUT_HASH}",
            fix=Fix(f"tell revisions apart by `{ROLLOUT_HASH}`", (change,), is_safe=True),
        )


@rule(
    "SPR404",
    "a revision key is used where an update replaces pods in place",
    Severity.INFO,
    needs=("matchLabelKeys",),
    one_of=("StatefulSet", "Deployment", "Rollout"),
    is_opinion=True,
    fixes=UNSAFE,
)
def revision_key_on_statefulset(subject: Subject) -> Iterator[RuleFinding]:
    """Find constraints that tell revisions apart, where updates replace pods in place."""
    if subject.is_single or not replaces_in_place(subject):
        return
    key, kind = subject.revision_label, subject.kind
    who = "a StatefulSet" if kind == "StatefulSet" else f"a {kind} with maxSurge 0"
    for constraint in subject.constraints:
        if constraint.label_selector is None or key not in constraint.match_label_keys:
            continue
        yield RuleFinding(
            f"{who} replaces its pods in place, and with this key new pods do not count old ones. During an update the "
            "first new pods may pile up in one domain",
            subject.route(constraint, "matchLabelKeys", constraint.match_label_keys.index(key)),
            f"remove {key}",
            fix=Fix("count the pods of all revisions", (corrections.without_match_key(subject, constraint, key),)),
        )
