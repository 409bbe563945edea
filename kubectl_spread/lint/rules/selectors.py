"""Label selectors of constraints: which pods they count."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional, Union

from kubectl_spread.cluster.facts import ConstraintFacts, ForeignPods
from kubectl_spread.lint import fix_builders
from kubectl_spread.lint.finding import Fix, Knowledge, Label, RuleFinding, Severity
from kubectl_spread.lint.group import JoinedGroup, SelectorGroup
from kubectl_spread.lint.placeholder import has_placeholder
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import hard_constraint_facts
from kubectl_spread.lint.rule import (
    EITHER,
    UNSAFE,
    workload_rule,
)
from kubectl_spread.lint.wording import workload_name
from kubectl_spread.lint.workload import Completion, FIELD, Subject
from kubectl_spread.objects.constraints import constraint as constraint_reader
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.decode import LABEL_SELECTOR, TOPOLOGY_SPREAD_CONSTRAINT
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.releases import field_versions
from kubectl_spread.objects.releases.version import default_release, LATEST
from kubectl_spread.objects.selectors import LabelRequirement, Selector
from kubectl_spread.objects.workloads.workload import lacks_selector, RELEASE_LABELS, REVISION_LABELS
from kubectl_spread.text.edit import Append, Change, Drop, Put
from kubectl_spread.text.node import Route
from kubectl_spread.text.wording import count_noun


@workload_rule(
    "SPR201",
    "selector-missing",
    "a constraint without `labelSelector` counts no pods",
    speaks_from=Knowledge.UNKNOWN,
    fixes=EITHER,
)
def selector_missing(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find constraints that select nothing; not those refused for their matchLabelKeys (SPR109)."""
    is_certain = subject.completion is Completion.NONE
    for constraint in subject.constraints if subject.completion is not Completion.SURE else ():
        if (
            constraint.label_selector is None
            and not constraint.match_label_keys
            and not _has_misspelt_field(subject, constraint)
        ):
            yield RuleFinding(
                f"the pods are not spread: labelSelector is missing, {subject.without_selector}"
                if is_certain
                else f"labelSelector is missing: nothing is counted, unless the {subject.completer} adds one",
                subject.route(constraint, "labelSelector"),
                subject.selector_hint(),
                severity=None if is_certain else Severity.INFO,
                fix=fix_builders.own_selector(subject, constraint, is_safe=not constraint.is_hard),
            )
            if not is_certain:
                return  # once for a list


def _has_misspelt_field(subject: Subject, constraint: TopologySpreadConstraint) -> bool:
    """Return whether the constraint has a misspelt field, which SPR114 reports and may be the selector."""
    written = subject.spec[FIELD][constraint.position] or {}
    return any(name not in TOPOLOGY_SPREAD_CONSTRAINT.fields for name in written)


@workload_rule(
    "SPR202",
    "selector-empty",
    "a constraint with an empty `labelSelector` counts no pods",
    speaks_from=Knowledge.UNKNOWN,
    fixes=UNSAFE,
)
def selector_empty(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find constraints whose effective selector has no requirement."""
    if not subject.has_pod and subject.completion is not Completion.NONE:
        return
    for constraint in subject.constraints:
        if constraint.match_label_keys and not subject.has_known_labels:
            continue  # the pods may have the labels
        if subject.selector(constraint).is_empty and not _has_misspelt_requirement(subject, constraint):
            yield RuleFinding(
                _empty_selector(project.target.minor),
                subject.route(constraint, "labelSelector"),
                subject.selector_hint(),
                fix=fix_builders.own_selector(subject, constraint),
            )


def _empty_selector(minor: Optional[int]) -> str:
    from kubectl_spread.objects.releases.behaviours import EMPTY_SELECTOR_COUNTS_NONE as COUNTS_NONE  # 4 ms

    release = LATEST if minor is None else default_release(minor)
    none = f"{COUNTS_NONE.span(LATEST)} counts no pods with it"
    if COUNTS_NONE.of(release):
        return f"the pods are not spread: labelSelector is empty, and the scheduler of Kubernetes {none}"
    every = f"Kubernetes 1.{release.minor} counts every pod of the namespace with it"
    return f"labelSelector is empty: the scheduler of {every}, and the scheduler of {none}"


def _has_misspelt_requirement(subject: Subject, constraint: TopologySpreadConstraint) -> bool:
    """Return whether the selector has a misspelt field, which SPR114 reports."""
    entry = subject.workload.template["spec"][FIELD][constraint.position] or {}
    written = entry.get("labelSelector") or {}
    return any(name not in LABEL_SELECTOR.fields for name in written)


@workload_rule(
    "SPR203",
    "selector-misses-own-pods",
    "a constraint does not select the workload's own pods",
    speaks_from=Knowledge.UNKNOWN,
    fixes=UNSAFE,
)
def selector_misses_own_pods(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find selectors that the labels of the workload's own pods do not match; of a patch, its base has the labels."""
    if not subject.has_pod:
        yield from _doubtful_labels(subject)
    if subject.knowledge is not Knowledge.KNOWN:
        return
    added = project.added_labels(subject)
    labels = {**subject.labels, **{key: value for key, value in added.items() if value is not None}}
    for constraint in subject.constraints:
        selector = subject.selector(constraint)
        missed = [
            item
            for item in selector.requirements or ()
            if not item.matches(labels)
            and added.get(item.key, "") is not None
            and (subject.has_known_labels or item.key in subject.labels)
            and not _is_of_a_revision(subject, item)
            and not any(map(has_placeholder, (subject.labels.get(item.key), item.key, *item.values)))
        ]
        if missed:
            place = (*subject.template_route, "metadata", "labels")
            # Kustomize may still add the label to a workload without a selector.
            yield RuleFinding(
                "the pods are not spread, because the constraint does not select them: "
                f"{_unmatched_label(subject, missed[0])}{_owner_of(selector, subject, project)}",
                subject.route(constraint, "labelSelector"),
                subject.selector_hint(),
                (Label(subject.place(place, key=True), "the labels of the pods"),) if subject.template_labels else (),
                severity=Severity.WARNING
                if (missed[0].key not in subject.labels and lacks_selector(subject.workload))
                else None,
                fix=fix_builders.own_selector(subject, constraint),
                key=True,
            )


def _owner_of(selector: Selector, subject: Subject, project: Project) -> str:
    """Return which other workload the selector matches: it may have been copied."""
    others = project.matching(selector, subject.workload.namespace)
    return f", as those of {workload_name(others[0].workload)} have it" if others else ""


def _doubtful_labels(subject: Subject) -> Iterator[RuleFinding]:
    """Yield labels that pods which are not in the text hardly have."""
    for constraint in subject.constraints:
        for item in _written(subject, constraint):
            doubt = subject.doubt(item.requirement)
            if doubt:
                message = f"the constraint counts none of its pods if {doubt}"
                yield RuleFinding(message, item.route, subject.selector_hint(), severity=Severity.WARNING, key=True)


def _is_of_a_revision(subject: Subject, requirement: LabelRequirement) -> bool:
    """Return whether a revision label has a fixed value, which SPR215 reports."""
    is_hash = requirement.operator == "In" and requirement.key in REVISION_LABELS
    return is_hash and subject.workload.kind != "Pod"


def _unmatched_label(subject: Subject, missed: LabelRequirement) -> str:
    have = subject.labels.get(missed.key)
    theirs = f"they have no label `{missed.key}`" if have is None else f"their label `{missed.key}` is `{have}`"
    if missed.operator not in ("In", "NotIn"):
        return f"{theirs}, and the selector asks for {missed.operator}"
    values = ", ".join(f"`{value}`" for value in missed.values)
    return f"{theirs}, and the selector asks for {'' if missed.operator == 'In' else 'none of '}{values}"


_HINT = "move the workloads to one namespace, or select only the workload's own pods"


@workload_rule(
    "SPR213",
    "cross-namespace-group",
    "a constraint selects pods that are only in other namespaces",
    Severity.INFO,
    is_opinion=True,
)
def cross_namespace_group(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find selectors whose only other matches are in another namespace, of the input or of the cluster."""
    found = list(_among_files(subject, project))
    yield from found or _among_pods(subject, project)


def _among_pods(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Yield selectors whose only other matches are pods of other namespaces in the cluster."""
    facts = project.facts
    for constraint in subject.constraints if facts is not None and not subject.refusals else ():
        other_namespaces = project.cluster.pods_of_other_namespaces(subject.workload, constraint)
        if not other_namespaces or project.cluster.others(subject.workload, constraint):
            continue
        pods = ", ".join(
            f"{count_noun(number, 'pod')} of namespace `{namespace}`" for namespace, number in other_namespaces
        )
        is_or_are = "is" if sum(number for _, number in other_namespaces) == 1 else "are"
        yield RuleFinding(
            f"{pods} {is_or_are} not counted, although the selector matches: only pods of namespace "
            f"`{subject.workload.namespace}` count",
            subject.route(constraint, "labelSelector"),
            _HINT,
            key=True,
        )


def _among_files(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Yield selectors whose only other matches are in another namespace of the input."""
    own = subject.workload.namespace
    others = [namespace for namespace in project.namespaces if namespace != own]
    for constraint in subject.constraints if others else ():
        selector = subject.selector(constraint)
        if project.matching(selector, own) != [subject]:
            continue
        found = [
            item
            for namespace in others
            for item in project.matching(selector, namespace)
            if (item.workload.kind, item.workload.name) != (subject.workload.kind, subject.workload.name)
        ]
        if found:
            first = found[0].workload
            yield RuleFinding(
                f"the pods of {workload_name(first)} are not counted, although the selector matches: they are in "
                f"namespace `{first.namespace}`, and only pods of namespace `{own}` count",
                subject.route(constraint, "labelSelector"),
                _HINT,
                tuple(Label(item.place(("metadata",), key=True), "in another namespace") for item in found),
                key=True,
            )


class _Written(NamedTuple):
    """A requirement and its route."""

    route: Route
    requirement: LabelRequirement


@workload_rule(
    "SPR215",
    "volatile-selector-label",
    "a selector contains a label value that changes with the next release",
    Severity.WARNING,
    fixes=UNSAFE,
)
def volatile_selector_label(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find labels of a revision or a release; those of a release that the pods do not have are SPR203's."""
    if subject.workload.kind == "Pod":
        return
    for constraint in subject.constraints:
        volatile = [item for item in _written(subject, constraint) if _is_volatile(subject, item.requirement)]
        if not volatile:
            continue
        first, *rest = sorted(volatile, key=lambda item: item.requirement.matches(subject.labels))
        is_own = first.requirement.matches(subject.labels)
        key = first.requirement.key
        yield RuleFinding(
            _volatile_message(first.requirement, is_own=is_own),
            first.route,
            f"use matchLabelKeys: [{key}], or remove the label" if key in subject.labels else "remove the label",
            tuple(Label(subject.place(item.route, key=True), "also here") for item in rest),
            severity=None if is_own else Severity.ERROR,
            fix=_without_volatile_labels(subject, constraint, volatile, minor=project.target.minor),
            key=True,
        )


def _is_volatile(subject: Subject, requirement: LabelRequirement) -> bool:
    if requirement.operator != "In":
        return False
    is_of_a_release = requirement.key in RELEASE_LABELS and requirement.matches(subject.labels)
    return is_of_a_release or requirement.key in REVISION_LABELS


def _volatile_message(requirement: LabelRequirement, *, is_own: bool) -> str:
    values = ", ".join(f"`{value}`" for value in requirement.values)
    if not is_own:
        return f"the pods are not spread: `{requirement.key}` changes with the pod template, so {values} matches none"
    return (
        f"after the next release only pods with `{requirement.key}` {values} count, and the new ones have another value"
    )


def _written(subject: Subject, constraint: TopologySpreadConstraint) -> Iterator[_Written]:
    """Yield the requirements as they are written."""
    selector = constraint.label_selector
    if selector is None:
        return
    field = subject.route(constraint, "labelSelector")
    for key, value in selector.match_labels:
        yield _Written((*field, "matchLabels", key), LabelRequirement(key, "In", (value,)))
    for index, expression in enumerate(selector.match_expressions):
        yield _Written((*field, "matchExpressions", index), expression)


def _without_volatile_labels(
    subject: Subject, constraint: TopologySpreadConstraint, volatile: list[_Written], *, minor: Optional[int]
) -> Optional[Fix]:
    """Remove the labels from the selector, and let matchLabelKeys take their values from each pod that has them."""
    removed = _removal(subject, constraint, volatile)
    if not removed:
        return None
    keys = list(dict.fromkeys(item.requirement.key for item in volatile if item.requirement.key in subject.labels))
    if not keys or not field_versions.stores("matchLabelKeys", minor):
        return Fix("remove changing labels from the selector", removed)
    route = subject.route(constraint, "matchLabelKeys")
    if constraint.match_label_keys:
        return Fix("move changing labels to matchLabelKeys", (*removed, *(Append(route, key) for key in keys)))
    return Fix("move changing labels to matchLabelKeys", (*removed, Put(route, keys)))


def _removal(subject: Subject, constraint: TopologySpreadConstraint, volatile: list[_Written]) -> tuple[Change, ...]:
    """Return the changes that remove the labels; the workload's own replace them in an empty selector."""
    removed = {item.route for item in volatile}
    kept = [item for item in _written(subject, constraint) if item.route not in removed]
    if not kept:
        labels = fix_builders.selectable(subject, constraint)
        return (Put(subject.route(constraint, "labelSelector"), {"matchLabels": labels}),) if labels else ()
    fields = {item.route[:-1] for item in kept}
    dropped = [item.route if item.route[:-1] in fields else item.route[:-1] for item in volatile]
    return tuple(Drop(route) for route in dict.fromkeys(dropped))


Group = Union[SelectorGroup, JoinedGroup]
_NAMED = 3  # other workloads that a finding names


@workload_rule(
    "SPR502",
    "selector-too-broad",
    "a constraint counts the pods of other workloads",
    Severity.WARNING,
    speaks_from=Knowledge.KNOWN,
    fixes=UNSAFE,
)
def selector_too_broad(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find selectors that also match other workloads' pods; once a workload."""
    if subject.workload.kind == "Pod":
        return  # pods written one by one are spread as a group, if at all
    broad = [(item, group) for item in subject.constraints if (group := _group(subject, item, project)) is not None]
    telling = _all_telling(subject, broad)
    for constraint, group in broad[:1]:
        others = list(itertools.islice(group.others(subject), _NAMED))
        names = ", ".join(workload_name(item.workload) for item in others)
        count = group.count_others(subject)
        more = f" and {count - _NAMED} more" if count > _NAMED else ""
        yield RuleFinding(
            f"pods of other workloads decide where these pods go: the constraint also counts those of {names}{more}",
            subject.route(constraint, "labelSelector"),
            _hint(telling[0][1]),
            tuple(Label(other.name_place, "its pods are counted") for other in others),
            fix=_with_own_labels(subject, telling),
            key=True,
        )


def _all_telling(
    subject: Subject, broad: list[tuple[TopologySpreadConstraint, Group]]
) -> list[tuple[TopologySpreadConstraint, dict[str, str]]]:
    """Return the constraints with their telling labels; constraints that count the same pods have the same labels."""
    known: dict[tuple[object, ...], dict[str, str]] = {}
    found = []
    for item, group in broad:
        key = id(group), item.label_selector, item.match_label_keys
        if key not in known:
            known[key] = _telling(subject, item, group)
        found.append((item, known[key]))
    return found


def _group(subject: Subject, constraint: TopologySpreadConstraint, project: Project) -> Optional[Group]:
    """Return the workloads whose pods a constraint counts, if there are others than the subject."""
    if not subject.is_in_its_group(constraint):
        return None
    group = project.group_around(subject, subject.selector(constraint))
    return group if group.count_others(subject) else None


def _telling(subject: Subject, constraint: TopologySpreadConstraint, group: Group) -> dict[str, str]:
    """Return labels of the controller's selector that no other workload has all of; empty if there are none.

    Labels that the constraint has already are left out, and labels that all other workloads share.
    """
    own = fields(fields(subject.controller.get("selector")).get("matchLabels"))
    known = {*constraint.match_label_keys, *constraint.selected_keys}
    labels = {
        key: value
        for key, value in own.items()
        if key not in known and subject.template_labels.get(key) == value and group.tells_apart(subject, (key, value))
    }
    return {} if group.has_another(subject, labels) else labels


def _hint(labels: dict[str, str]) -> str:
    if not labels:
        return "add a label that only this workload's pods have"
    written = ", ".join(f"{key}: {value}" for key, value in labels.items())
    return f"add to matchLabels a label that only this workload's pods have: {written}"


def _with_own_labels(subject: Subject, telling: list[tuple[TopologySpreadConstraint, dict[str, str]]]) -> Optional[Fix]:
    """Return a fix that narrows every selector; None if one of them would stay too broad."""
    if not all(labels for _, labels in telling):
        return None
    narrowed = (_narrowed(subject, constraint, labels) for constraint, labels in telling)
    return Fix("select only this workload's pods", tuple(itertools.chain.from_iterable(narrowed)))


def _narrowed(subject: Subject, constraint: TopologySpreadConstraint, labels: dict[str, Any]) -> list[Change]:
    route = subject.route(constraint, "labelSelector", "matchLabels")
    if constraint.label_selector is None or not constraint.label_selector.match_labels:
        return [Put(route, labels)]
    return [Put((*route, key), value) for key, value in labels.items()]


_Requirements = frozenset[LabelRequirement]


@workload_rule(
    "SPR605",
    "selector-differs-from-workload",
    "a constraint selects by other labels than its workload",
    Severity.INFO,
    needs=("selector",),
    is_opinion=True,
)
def selector_differs_from_workload(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find selectors that match only the workload's own pods, and differ from the workload's selector."""
    own = _own(subject)
    if not own:
        return
    for constraint in subject.constraints:
        written = _required(constraint)
        if written and written != own and _is_sound(subject, project, constraint):
            yield RuleFinding(
                "the constraint may count other pods than the workload has: "
                f"its selector {_lacking_and_added(written, own)}",
                subject.route(constraint, "labelSelector"),
                subject.selector_hint(),
                (Label(subject.place(("spec", "selector"), key=True), "the workload's selector"),),
                key=True,
            )


def _own(subject: Subject) -> _Requirements:
    """Return the requirements of spec.selector; none where it is of another form, as a ReplicationController's is."""
    plain = subject.workload.selector
    if subject.workload.kind not in _WITH_SELECTOR or not decode.decodes(plain, decode.LABEL_SELECTOR):
        return frozenset()
    selector = constraint_reader.label_selector(plain)
    return frozenset(selector.requirements()) if selector else frozenset()


_WITH_SELECTOR = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")


def _required(constraint: TopologySpreadConstraint) -> _Requirements:
    return frozenset(constraint.label_selector.requirements()) if constraint.label_selector else frozenset()


def _is_sound(subject: Subject, project: Project, constraint: TopologySpreadConstraint) -> bool:
    """Return whether no other rule reports the selector."""
    selector = Selector(tuple(_required(constraint)))
    return selector.matches(subject.labels) and project.matching(selector, subject.workload.namespace) == [subject]


def _lacking_and_added(written: _Requirements, own: _Requirements) -> str:
    parts = [
        f"{what} {', '.join(f'`{key}`' for key in sorted({item.key for item in items}))}"
        for what, items in (("lacks", own - written), ("adds", written - own))
        if items
    ]
    return " and ".join(parts)


@workload_rule(
    "SPR912",
    "counts-foreign-pods",
    "a hard constraint counts running pods of other workloads, which are unevenly spread",
    Severity.WARNING,
    needs_facts=True,
)
def counts_foreign_pods(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints that start from a skew which is not the workload's own."""
    if subject.workload.kind == "Pod":
        return  # pods written one by one are spread as a group, if at all
    for constraint, account in hard_constraint_facts(subject, project):
        found = project.cluster.others(subject.workload, constraint)
        read = {(item.workload.kind, item.workload.name) for item in project.subjects} if found else set()
        others = [item for item in found if (item.kind, item.name) not in read]
        numbers = _numbers(others, account)
        apart = max(numbers.values(), default=0) - min(numbers.values(), default=0)
        if apart:
            names = ", ".join(f"{item.kind} {item.name}" for item in others[:_NAMED])
            more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
            fullest = max(numbers, key=lambda value: numbers[value])
            emptiest = min(numbers, key=lambda value: numbers[value])
            pods = count_noun(numbers.total(), "pod")
            yield RuleFinding(
                f"pods of other workloads keep these pods out of `{fullest}`. The constraint also counts {pods} of "
                f"{names}{more}: "
                f"`{fullest}` has {numbers[fullest]} of them and `{emptiest}` {numbers[emptiest]}",
                subject.route(constraint, "labelSelector"),
                "add a label that only this workload's pods have",
                severity=None if apart > account.max_skew else Severity.INFO,
                key=True,
            )


def _numbers(others: list[ForeignPods], account: ConstraintFacts) -> Counter[str]:
    """Return how many of their pods each domain has that is counted."""
    numbers = Counter({domain.value: 0 for domain in account.counted_domains})
    for item in others:
        numbers.update(value for value in item.domains if value in numbers)
    return numbers


@workload_rule(
    "SPR917",
    "partly-counted",
    "the selector matches only some of the workload's running pods",
    Severity.WARNING,
    needs_facts=True,
)
def partly_counted(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find constraints that leave running pods of their own workload out."""
    for constraint in subject.constraints:
        found = project.cluster.uncounted_pods(subject.workload, constraint)
        if found is None:
            continue
        yield RuleFinding(
            f"new pods are placed as if {count_noun(len(found.pods), 'running pod')} did not exist, because "
            f"{found.sentence}",
            subject.route(constraint, "labelSelector"),
            "select labels that all pods of the workload have and keep",
        )
