"""Label selectors of constraints: which pods they count."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Optional

from kubectl_spread.lint import corrections
from kubectl_spread.lint.finding import (
    EITHER,
    Fix,
    Knowledge,
    Label,
    rule,
    RuleFinding,
    Severity,
    UNSAFE,
)
from kubectl_spread.lint.placeholder import has_placeholder
from kubectl_spread.lint.project import Neighbours
from kubectl_spread.lint.queries import hard_constraint_facts
from kubectl_spread.lint.workload import Completion, FIELD, Subject
from kubectl_spread.objects.constraints import constraint as constraint_reader
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.decode import LABEL_SELECTOR, TOPOLOGY_SPREAD_CONSTRAINT
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.releases.version import default_release, LATEST
from kubectl_spread.objects.selectors import LabelRequirement, LabelSelector, Selector
from kubectl_spread.objects.workloads.workload import lacks_selector, RELEASE_LABELS, REVISION_LABELS
from kubectl_spread.text import scalars
from kubectl_spread.text.edit import Append, Change, Drop, Put
from kubectl_spread.text.node import Route
from kubectl_spread.text.wording import comma_list, count_noun


@rule(
    "SPR201",
    "a constraint without `labelSelector` counts no pods",
    speaks_from=Knowledge.UNKNOWN,
    fixes=EITHER,
)
def selector_missing(subject: Subject) -> Iterator[RuleFinding]:
    """Find constraints that select nothing; not those refused for their matchLabelKeys (SPR109)."""
    is_certain = subject.completion is Completion.NONE
    for constraint in subject.constraints if subject.completion is not Completion.SURE else ():
        if (
            constraint.label_selector is None
            and not constraint.match_label_keys
            # SPR114 reports a misspelt field, which may be the selector.
            and (subject.spec[FIELD][constraint.position] or {}).keys() <= TOPOLOGY_SPREAD_CONSTRAINT.fields.keys()
        ):
            yield RuleFinding(
                f"labelSelector is missing, {subject.without_selector} and does not spread them"
                if is_certain
                else f"labelSelector is missing: nothing is counted, unless the {subject.completer} adds one",
                subject.route(constraint, "labelSelector"),
                subject.selector_hint(),
                severity=None if is_certain else Severity.INFO,
                fix=corrections.own_selector(subject, constraint, is_safe=not constraint.is_hard),
            )
            if not is_certain:
                return  # once for a list


@rule(
    "SPR202",
    "a constraint with an empty `labelSelector` counts no pods",
    speaks_from=Knowledge.UNKNOWN,
    fixes=UNSAFE,
)
def selector_empty(subject: Subject) -> Iterator[RuleFinding]:
    """Find constraints whose effective selector has no requirement."""
    if not subject.has_pod and subject.completion is not Completion.NONE:
        return
    for constraint in subject.constraints:
        if constraint.match_label_keys and not subject.has_known_labels:
            continue  # the pods may have the labels
        written = fields(subject.workload.template["spec"][FIELD][constraint.position] or {}, "labelSelector")
        if subject.selector(constraint).is_empty and written.keys() <= LABEL_SELECTOR.fields.keys():  # else SPR114
            yield RuleFinding(
                _empty_selector(subject.target.minor),
                subject.route(constraint, "labelSelector"),
                subject.selector_hint(),
                fix=corrections.own_selector(subject, constraint),
            )


def _empty_selector(minor: Optional[int]) -> str:
    from kubectl_spread.objects.releases.behaviours import EMPTY_SELECTOR_COUNTS_NONE as COUNTS_NONE  # 4 ms

    release = LATEST if minor is None else default_release(minor)
    none = COUNTS_NONE.span(LATEST)
    if COUNTS_NONE.of(release):
        return f"labelSelector is empty, so the constraint counts no pods and does not spread them (Kubernetes {none})"
    return f"labelSelector is empty: Kubernetes 1.{release.minor} counts every pod of the namespace, and {none} none"


@rule(
    "SPR203",
    "a constraint does not select the workload's own pods",
    speaks_from=Knowledge.UNKNOWN,
    fixes=UNSAFE,
)
def selector_misses_own_pods(subject: Subject) -> Iterator[RuleFinding]:
    """Find selectors that the labels of the workload's own pods do not match; of a patch, its base has the labels."""
    if not subject.has_pod:  # labels that pods which are not in the text hardly have
        for constraint in subject.constraints:
            for route, requirement in _written(subject, constraint):
                doubt = subject.doubt(requirement)
                if doubt:
                    message = f"the constraint counts none of its pods if {doubt}"
                    yield RuleFinding(message, route, subject.selector_hint(), severity=Severity.WARNING, key=True)
    if subject.knowledge is not Knowledge.KNOWN:
        return
    added = {} if subject.project.root is None else subject.project.root.labels(subject.runner)
    labels = {**subject.labels, **{key: value for key, value in added.items() if value is not None}}
    for constraint in subject.constraints:
        selector = subject.selector(constraint)
        missed = [
            item
            for item in selector.requirements or ()
            if not item.matches(labels)
            and added.get(item.key, "") is not None
            and (subject.has_known_labels or item.key in subject.labels)
            # SPR215 reports a revision label with a fixed value.
            and not (item.operator == "In" and item.key in REVISION_LABELS and subject.kind != "Pod")
            and not any(map(has_placeholder, (subject.labels.get(item.key), item.key, *item.values)))
        ]
        if missed:
            place = (*subject.template_route, "metadata", "labels")
            others = subject.matching(selector)  # it may have been copied
            # Kustomize may still add the label to a workload without a selector.
            yield RuleFinding(
                f"{_unmatched_label(subject, missed[0])}"
                f"{f', as those of {others[0].title} have it' if others else ''}. So the constraint "
                "counts none of these pods, and does not spread them",
                subject.route(constraint, "labelSelector"),
                subject.selector_hint(),
                subject.related("the labels of the pods", place, key=True) if subject.template_labels else (),
                severity=Severity.WARNING
                if (missed[0].key not in subject.labels and lacks_selector(subject.workload))
                else None,
                fix=corrections.own_selector(subject, constraint),
                key=True,
            )


def _unmatched_label(subject: Subject, missed: LabelRequirement) -> str:
    have = subject.labels.get(missed.key)
    theirs = f"the pods have no label `{missed.key}`" if have is None else f"the pods' label `{missed.key}` is `{have}`"
    if missed.operator not in ("In", "NotIn"):
        return f"{theirs}, but labelSelector asks for {missed.operator}"
    values = ", ".join(f"`{value}`" for value in missed.values)
    return f"{theirs}, but labelSelector asks for {'' if missed.operator == 'In' else 'none of '}{values}"


_HINT = "move the workloads to one namespace, or select only the workload's own pods"


@rule(
    "SPR213",
    "a constraint selects pods that are only in other namespaces",
    Severity.INFO,
    is_opinion=True,
)
def cross_namespace_group(subject: Subject) -> Iterator[RuleFinding]:
    """Find selectors whose only other matches are in another namespace, of the input or of the cluster."""
    found = list(_among_files(subject))
    yield from found or _among_pods(subject)


def _among_pods(subject: Subject) -> Iterator[RuleFinding]:
    """Yield selectors whose only other matches are pods of other namespaces in the cluster."""
    facts = subject.facts
    for constraint in subject.constraints if facts is not None and not subject.refusals else ():
        other_namespaces = subject.cluster.pods_of_other_namespaces(subject.workload, constraint)
        if not other_namespaces or subject.cluster.others(subject.workload, constraint):
            continue
        pods = ", ".join(
            f"{count_noun(number, 'pod')} of namespace `{namespace}`" for namespace, number in other_namespaces
        )
        yield RuleFinding(
            f"labelSelector matches {pods}, but only pods of namespace `{subject.workload.namespace}` count",
            subject.route(constraint, "labelSelector"),
            _HINT,
            key=True,
        )


def _among_files(subject: Subject) -> Iterator[RuleFinding]:
    """Yield selectors whose only other matches are in another namespace of the input."""
    own = subject.workload.namespace
    others = [namespace for namespace in subject.project.namespaces if namespace != own]
    for constraint in subject.constraints if others else ():
        selector = subject.selector(constraint)
        if subject.matching(selector) != [subject]:
            continue
        found = [
            item
            for namespace in others
            for item in subject.project.matching(selector, namespace)
            if (item.kind, item.workload.name) != (subject.kind, subject.workload.name)
        ]
        if found:
            yield RuleFinding(
                f"labelSelector matches the pods of {found[0].title} in namespace `{found[0].workload.namespace}`, but "
                f"only pods of namespace `{own}` count",
                subject.route(constraint, "labelSelector"),
                _HINT,
                tuple(Label(item.place(("metadata",), key=True), "in another namespace") for item in found),
                key=True,
            )


_Written = tuple[Route, LabelRequirement]


@rule(
    "SPR215",
    "a selector contains a label value that changes with the next release",
    Severity.WARNING,
    fixes=UNSAFE,
)
def volatile_selector_label(subject: Subject) -> Iterator[RuleFinding]:
    """Find labels of a revision or a release; those of a release that the pods do not have are SPR203's."""
    if subject.kind == "Pod":
        return
    for constraint in subject.constraints:
        volatile = [
            (route, item)
            for route, item in _written(subject, constraint)
            if item.operator == "In"
            and (item.key in REVISION_LABELS or (item.key in RELEASE_LABELS and item.matches(subject.labels)))
            and not subject.workload.name.endswith(item.values)  # a workload for each release
        ]
        if not volatile:
            continue
        (route, first), *rest = sorted(volatile, key=lambda item: item[1].matches(subject.labels))
        is_own, key = first.matches(subject.labels), first.key
        values = ", ".join(f"`{value}`" for value in first.values)
        yield RuleFinding(
            f"only pods with `{key}` {values} count, and the pods of the next release have another value"
            if is_own
            else f"`{key}` changes with the pod template, so {values} matches no pod and the pods are not spread",
            route,
            f"use matchLabelKeys: [{key}], or remove the label" if key in subject.labels else "remove the label",
            subject.related("also here", *(other for other, _ in rest), key=True),
            severity=None if is_own else Severity.ERROR,
            fix=_without_volatile_labels(subject, constraint, volatile),
            key=True,
        )


def _written(subject: Subject, constraint: TopologySpreadConstraint) -> Iterator[_Written]:
    """Yield the requirements as they are written."""
    selector = constraint.label_selector
    if selector is None:
        return
    field = subject.route(constraint, "labelSelector")
    for key, value in selector.match_labels:
        yield (*field, "matchLabels", key), LabelRequirement(key, "In", (value,))
    for index, expression in enumerate(selector.match_expressions):
        yield (*field, "matchExpressions", index), expression


def _without_volatile_labels(
    subject: Subject, constraint: TopologySpreadConstraint, volatile: list[_Written]
) -> Optional[Fix]:
    """Remove the labels from the selector, and let matchLabelKeys take their values from each pod that has them."""
    gone = {route for route, _ in volatile}
    kept = {route[:-1] for route, _ in _written(subject, constraint) if route not in gone}
    labels = {} if kept else corrections.selectable(subject, constraint)
    removed: tuple[Change, ...] = ()
    if kept:
        removed = tuple(
            Drop(route) for route in dict.fromkeys(route if route[:-1] in kept else route[:-1] for route, _ in volatile)
        )
    elif labels:  # the workload's own labels replace them in an empty selector
        removed = (Put(subject.route(constraint, "labelSelector"), {"matchLabels": labels}),)
    else:
        return None
    keys = list(dict.fromkeys(item.key for _, item in volatile if item.key in subject.labels))
    if not keys or not subject.target.stores("matchLabelKeys"):
        return Fix("remove changing labels from the selector", removed)
    route = subject.route(constraint, "matchLabelKeys")
    if constraint.match_label_keys:
        return Fix("move changing labels to matchLabelKeys", (*removed, *(Append(route, key) for key in keys)))
    return Fix("move changing labels to matchLabelKeys", (*removed, Put(route, keys)))


_NAMED = 3  # other workloads that a finding names


@rule(
    "SPR502",
    "a constraint counts the pods of other workloads",
    Severity.WARNING,
    speaks_from=Knowledge.KNOWN,
    fixes=UNSAFE,
)
def selector_too_broad(subject: Subject) -> Iterator[RuleFinding]:
    """Find selectors that also match other workloads' pods; once a workload."""
    if subject.kind == "Pod" or subject.replicas.maximum == 1:
        return  # single pods are spread as a group, if at all
    broad = [(item, group) for item in subject.in_group if (group := subject.neighbours(item)).count_others(subject)]
    if not broad:
        return
    known: dict[tuple[object, ...], dict[str, str]] = {}  # constraints that count the same pods have the same labels
    changes: Optional[list[Change]] = []  # None if a selector would stay too broad
    for constraint, group in broad:
        key = id(group), constraint.label_selector, constraint.match_label_keys
        labels = known[key] if key in known else known.setdefault(key, _telling(subject, constraint, group))
        route = subject.route(constraint, "labelSelector", "matchLabels")
        if not labels:
            changes = None
        elif changes is not None and (constraint.label_selector is None or not constraint.label_selector.match_labels):
            changes.append(Put(route, labels))
        elif changes is not None:
            changes += [Put((*route, key), value) for key, value in labels.items()]
    constraint, group = broad[0]
    others = list(itertools.islice(group.others(subject), _NAMED))
    names = ", ".join(item.title for item in others)
    count = group.count_others(subject)
    more = f" and {count - _NAMED} more" if count > _NAMED else ""
    telling = scalars.pairs(next(iter(known.values())).items())
    yield RuleFinding(
        f"the constraint also counts the pods of {names}{more}, which then decide where this workload's pods go",
        subject.route(constraint, "labelSelector"),
        f"add to matchLabels a label that only this workload's pods have: {telling}"
        if telling
        else "add a label that only this workload's pods have",
        tuple(Label(other.place(("metadata", "name")), "its pods are counted") for other in others),
        fix=None if changes is None else Fix("select only this workload's pods", tuple(changes)),
        key=True,
    )


def _telling(subject: Subject, constraint: TopologySpreadConstraint, group: Neighbours) -> dict[str, str]:
    """Return labels of the controller's selector that no other workload has all of; empty if there are none.

    Labels that the constraint has already are left out, and labels that all other workloads share.
    """
    own = fields(subject.controller, "selector", "matchLabels")
    known = {*constraint.match_label_keys, *constraint.selected_keys}
    labels = {
        key: value
        for key, value in own.items()
        if key not in known and subject.template_labels.get(key) == value and group.tells_apart(subject, (key, value))
    }
    return {} if group.has_another(subject, labels) else labels


@rule(
    "SPR605",
    "a constraint selects by other labels than its workload",
    Severity.INFO,
    needs=("selector",),
    is_opinion=True,
)
def selector_differs_from_workload(subject: Subject) -> Iterator[RuleFinding]:
    """Find selectors that match only the workload's own pods, and differ from the workload's selector."""
    plain = subject.workload.selector  # a ReplicationController's has another form
    if subject.kind not in _WITH_SELECTOR or not decode.decodes(plain, decode.LABEL_SELECTOR):
        return
    own = _required(constraint_reader.label_selector(plain))
    for constraint in subject.constraints if own else ():
        written = _required(constraint.label_selector)
        selector = Selector(tuple(written))
        # Otherwise another rule reports it.
        is_sound = selector.matches(subject.labels) and subject.matching(selector) == [subject]
        if written and written != own and is_sound:
            parts = [
                f"{what} {', '.join(f'`{key}`' for key in sorted({item.key for item in items}))}"
                for what, items in (("lacks", own - written), ("adds", written - own))
                if items
            ]
            yield RuleFinding(
                f"labelSelector {' and '.join(parts)}, compared with the workload's own selector. So the constraint "
                "may count other pods than the workload has",
                subject.route(constraint, "labelSelector"),
                subject.selector_hint(),
                subject.related("the workload's selector", ("spec", "selector"), key=True),
                key=True,
            )


_WITH_SELECTOR = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")


def _required(selector: Optional[LabelSelector]) -> frozenset[LabelRequirement]:
    return frozenset(selector.requirements()) if selector else frozenset()


@rule(
    "SPR912",
    "a hard constraint counts running pods of other workloads, which are unevenly spread",
    Severity.WARNING,
    needs_facts=True,
)
def counts_foreign_pods(subject: Subject) -> Iterator[RuleFinding]:
    """Find hard constraints that start from a skew which is not the workload's own."""
    if subject.kind == "Pod":
        return  # pods written one by one are spread as a group, if at all
    for constraint, account in hard_constraint_facts(subject):
        found = subject.cluster.others(subject.workload, constraint)
        read = {(item.kind, item.workload.name) for item in subject.project.subjects} if found else set()
        others = [item for item in found if (item.kind, item.name) not in read]
        numbers = Counter({item.value: 0 for item in account.counted_domains})  # of their pods, by domain
        numbers.update(value for item in others for value in item.domains if value in numbers)
        apart = max(numbers.values(), default=0) - min(numbers.values(), default=0)
        if apart:
            names = comma_list([f"{item.kind} {item.name}" for item in others], most=_NAMED)
            fullest = max(numbers, key=lambda value: numbers[value])
            emptiest = min(numbers, key=lambda value: numbers[value])
            pods = count_noun(numbers.total(), "pod")
            yield RuleFinding(
                f"the constraint also counts {pods} of {names}: `{fullest}` has {numbers[fullest]} of them and "
                f"`{emptiest}` {numbers[emptiest]}. They keep this workload's pods out of `{fullest}`",
                subject.route(constraint, "labelSelector"),
                "add a label that only this workload's pods have",
                severity=None if apart > account.max_skew else Severity.INFO,
                key=True,
            )


@rule(
    "SPR917",
    "the selector matches only some of the workload's running pods",
    Severity.WARNING,
    needs_facts=True,
)
def partly_counted(subject: Subject) -> Iterator[RuleFinding]:
    """Find constraints that leave running pods of their own workload out."""
    for constraint in subject.constraints:
        found = subject.cluster.uncounted_pods(subject.workload, constraint)
        if found is None:
            continue
        yield RuleFinding(
            f"{found.sentence}. So new pods are placed as if {count_noun(len(found.pods), 'running pod')} did not "
            "exist",
            subject.route(constraint, "labelSelector"),
            "select labels that all pods of the workload have and keep",
        )
