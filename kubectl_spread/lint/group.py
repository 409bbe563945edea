"""The workloads whose pods one selector matches, with counts that several rules need."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple, Optional

from kubectl_spread.caching import cached_method
from kubectl_spread.containers import grouped
from kubectl_spread.lint.workload import Area, Subject
from kubectl_spread.objects.constraints.constraint import HONOR, IGNORE, TopologySpreadConstraint
from kubectl_spread.objects.selectors import Selector
from kubectl_spread.text.glob import upwards

Requirements = frozenset[tuple[str, str, frozenset[str]]]
Compared = tuple[tuple[str, object], ...]  # the fields that should be alike, with their defaults filled in


Kind = frozenset[tuple[str, Compared]]
_MOST_OF_A_KIND = 2  # the first may be the subject itself, under another template


class Twin(NamedTuple):
    """A workload with constraints over the same key and pods, by their actions.

    Two are of one `kind` if they have the same actions and fields there.
    """

    subject: Subject
    constraints: Mapping[str, TopologySpreadConstraint]
    kind: Kind


class SelectorGroup:
    """Workloads whose pods a selector matches, in their order in the project, with tables for `Neighbours`."""

    def __init__(self, members: list[Subject]) -> None:
        self.members = members

    @cached_property
    def applied_workloads(self) -> tuple[Subject, ...]:
        """Return the workloads that no other object created."""
        return tuple(subject for subject in self.members if not subject.is_owned)

    @cached_property
    def kinds(self) -> frozenset[str]:
        return frozenset(subject.kind for subject in self.applied_workloads)

    @cached_property
    def independent(self) -> list[Subject]:
        """Return those with a name that no other object made: pods and ReplicaSets of a Deployment are its own."""
        return [subject for subject in self.applied_workloads if subject.workload.name]

    @cached_property
    def by_key(self) -> dict[str, list[Subject]]:
        return grouped((subject.key, subject) for subject in self.independent)

    @cached_property
    def by_label(self) -> dict[tuple[str, str], list[Subject]]:
        return grouped((label, subject) for subject in self.independent for label in subject.labels.items())

    @cached_method
    def twins(self, topology_key: str, selector: Selector) -> list[Twin]:
        """Return the first workloads of each kind with a constraint over a key and the pods of a selector."""
        wanted = requirements(selector)
        seen: Counter[Kind] = Counter()
        twins = []
        for member in self.applied_workloads:
            theirs = {
                item.when_unsatisfiable: item
                for item in member.constraints
                if item.topology_key == topology_key
                and ((own := member.selector(item)) == selector or requirements(own) == wanted)
            }
            kind = frozenset((action, fields_to_compare(item)) for action, item in theirs.items())
            if theirs and seen[kind] < _MOST_OF_A_KIND:
                seen[kind] += 1
                twins.append(Twin(member, theirs, kind))
        return twins


class Neighbours:
    """The workloads of a selector that count for one of them, in groups without common members."""

    def __init__(self, parts: list[SelectorGroup]) -> None:
        self._parts = parts

    def others(self, subject: Subject) -> Iterator[Subject]:
        """Yield the other workloads in order, except copies of this workload and the workloads that it owns."""
        ordered = heapq.merge(*(part.independent for part in self._parts), key=lambda other: other.number)
        return (other for other in ordered if other.key != subject.key)

    def count_others(self, subject: Subject) -> int:
        """Return how many other workloads there are."""
        if all(part.members == [subject] for part in self._parts):
            return 0  # perf: most groups have one member, and need no tables
        return sum(len(part.independent) - len(part.by_key.get(subject.key, ())) for part in self._parts)

    def tells_apart(self, subject: Subject, label: tuple[str, str]) -> bool:
        """Return whether some other workload lacks the label."""
        key, value = label
        having = sum(len(part.by_label.get(label, ())) for part in self._parts)
        copies = (same for part in self._parts for same in part.by_key.get(subject.key, ()))
        return having - sum(same.labels.get(key) == value for same in copies) < self.count_others(subject)

    def has_another(self, subject: Subject, labels: Mapping[str, str]) -> bool:
        """Return whether some other workload has all the labels."""
        if not labels:
            return bool(self.count_others(subject))
        lists = ([part.by_label.get(label, []) for label in labels.items()] for part in self._parts)
        rarest = (other for having in lists for other in min(having, key=len))
        return any(other.key != subject.key and labels.items() <= other.labels.items() for other in rarest)

    def twins(self, subject: Subject, constraint: TopologySpreadConstraint) -> Iterator[Twin]:
        """Yield the workloads before a subject with a constraint over the same key and pods, the first of each kind.

        Two are of one kind if they have the same actions and fields there.
        """
        if sum(len(part.members) for part in self._parts) < 2:
            return
        key = constraint.topology_key, subject.selector(constraint)
        seen: Counter[Kind] = Counter()
        for twin in heapq.merge(*(part.twins(*key) for part in self._parts), key=lambda twin: twin.subject.number):
            if twin.subject.number >= subject.number:
                return
            seen[twin.kind] += 1
            if seen[twin.kind] <= _MOST_OF_A_KIND and twin.subject.key != subject.key:
                yield twin


def requirements(selector: Selector) -> Requirements:
    """Return the requirements of a selector, in any order."""
    return frozenset((item.key, item.operator, frozenset(item.values)) for item in selector.requirements or ())


def fields_to_compare(constraint: TopologySpreadConstraint) -> Compared:
    """Return the fields of a constraint that should be the same in all workloads of a group."""
    return (
        ("maxSkew", constraint.max_skew),
        ("whenUnsatisfiable", constraint.when_unsatisfiable),
        ("minDomains", constraint.min_domains or 1),
        ("nodeAffinityPolicy", constraint.node_affinity_policy or HONOR),
        ("nodeTaintsPolicy", constraint.node_taints_policy or IGNORE),
    )


def first_difference(here: TopologySpreadConstraint, there: TopologySpreadConstraint) -> Optional[tuple[str, object]]:
    """Return the first field of a constraint that another has with another value; None if they are alike."""
    pairs = zip(fields_to_compare(here), fields_to_compare(there), strict=True)
    return next((field for field, other in pairs if field != other), None)


class Neighbourhoods:
    """The members of a group, by their areas.

    A neighbourhood is joined from parts that other areas share: the members in each directory above the area, those at
    or below it, and all that name their namespace. So the work is linear in the members.
    """

    def __init__(self, group: SelectorGroup) -> None:
        self._group = group
        self._whole = Neighbours([group])
        self._parts: dict[tuple[str, bool, str], list[Subject]] = {}

    def of(self, subject: Subject) -> Neighbours:
        """Return the members that count for one of them, itself included."""
        return self._whole if subject.area is None else self._around(subject.area)

    @cached_method
    def _around(self, area: Area) -> Neighbours:
        if not self._parts:
            for member in self._group.members:
                if (other := member.area) is None:
                    continue
                # An area that names its namespace has all that do, and the others by their directories.
                keys = [("named", True, "")] if other.names_namespace else []
                for is_named in (False,) if other.names_namespace else (False, True):
                    keys += [("below", is_named, directory) for directory in upwards(other.directory)]
                    keys.append(("inside", is_named, other.directory))
                for key in keys:
                    self._parts.setdefault(key, []).append(member)
        is_named = area.names_namespace
        directory, *above = upwards(area.directory)
        keys = [("below", is_named, directory), *(("inside", is_named, upper) for upper in above)]
        keys += [("named", True, "")] if is_named else []
        parts = [self._part(key) for key in keys if key in self._parts]
        is_whole = sum(len(part.members) for part in parts) == len(self._group.members)
        return self._whole if is_whole else Neighbours(parts)

    @cached_method
    def _part(self, key: tuple[str, bool, str]) -> SelectorGroup:
        return SelectorGroup(self._parts[key])
