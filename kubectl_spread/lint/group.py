"""The workloads whose pods one selector matches, with counts that several rules need."""

from __future__ import annotations

import operator
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, Optional, Union

from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import HONOR, IGNORE, TopologySpreadConstraint
from kubectl_spread.objects.selectors import Selector

Requirements = frozenset[tuple[str, str, frozenset[str]]]
Compared = tuple[tuple[str, object], ...]  # the fields that should be alike, with their defaults filled in


Kind = frozenset[tuple[str, Compared]]
_MOST_OF_A_KIND = 2  # the first may be the subject itself, under another template


class Twin(NamedTuple):
    """A workload with constraints over the same key and pods, by their actions.

    `at` is its position in the group. Two are of one `kind` if they have the same actions and fields there.
    """

    at: int
    subject: Subject
    constraints: Mapping[str, TopologySpreadConstraint]
    kind: Kind


class SelectorGroup:
    """Workloads whose pods a selector matches, in order.

    `positions` are those of the members in a larger group, of which this one is a part.
    """

    def __init__(self, members: list[Subject], positions: Optional[Sequence[int]] = None) -> None:
        self.members = members
        self._at: Sequence[int] = range(len(members)) if positions is None else positions
        self._twins: dict[tuple[str, Selector], list[Twin]] = {}

    @cached_property
    def applied_workloads(self) -> tuple[Subject, ...]:
        """Return the workloads that no other object created."""
        return tuple(subject for subject in self.members if not subject.is_owned)

    @cached_property
    def kinds(self) -> frozenset[str]:
        return frozenset(subject.workload.kind for subject in self.applied_workloads)

    @cached_property
    def _independent(self) -> list[Subject]:
        """Return those with a name that no other object made: pods and ReplicaSets of a Deployment are its own."""
        return [subject for subject in self.members if subject.workload.name and not subject.is_owned]

    @cached_property
    def _by_key(self) -> dict[str, list[Subject]]:
        found: dict[str, list[Subject]] = {}
        for subject in self._independent:
            found.setdefault(subject.key, []).append(subject)
        return found

    @cached_property
    def _by_label(self) -> dict[tuple[str, str], list[Subject]]:
        found: dict[tuple[str, str], list[Subject]] = {}
        for subject in self._independent:
            for label in subject.labels.items():
                found.setdefault(label, []).append(subject)
        return found

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {id(subject): at for at, subject in zip(self._at, self.members, strict=True)}

    def others(self, subject: Subject) -> Iterator[Subject]:
        """Yield the other workloads, except copies of this workload and the workloads that it owns."""
        return (other for other in self._independent if other.key != subject.key)

    def other_workloads(self, subject: Subject) -> Iterator[tuple[int, Subject]]:
        """Yield the other workloads with their positions."""
        return ((self._positions[id(other)], other) for other in self.others(subject))

    def position(self, subject: Subject) -> Optional[int]:
        """Return the position of a member."""
        return self._positions.get(id(subject))

    def count_others(self, subject: Subject) -> int:
        """Return how many other workloads there are."""
        if self.members == [subject]:
            return 0  # perf: most groups have one member, and need no tables
        return len(self._independent) - len(self._by_key.get(subject.key, ()))

    def tells_apart(self, subject: Subject, label: tuple[str, str]) -> bool:
        """Return whether some other workload lacks the label."""
        having = len(self._by_label.get(label, ()))
        key, value = label
        own = len([same for same in self._by_key.get(subject.key, ()) if same.labels.get(key) == value])
        return having - own < self.count_others(subject)

    def has_another(self, subject: Subject, labels: Mapping[str, str]) -> bool:
        """Return whether some other workload has all the labels."""
        lists = [self._by_label.get(label, []) for label in labels.items()]
        rarest = min(lists, key=len, default=self._independent)
        return any(other.key != subject.key and labels.items() <= other.labels.items() for other in rarest)

    def twins(self, subject: Subject, constraint: TopologySpreadConstraint) -> Iterator[Twin]:
        """Yield the workloads before a subject with a constraint over the same key and pods, one of each kind.

        Two are of one kind if they have the same actions and fields there.
        """
        if len(self.members) < 2:
            return
        at, own = self._positions[id(subject)], subject.key
        for twin in self.all_twins(constraint.topology_key, subject.selector(constraint)):
            if twin.at < at and twin.subject.key != own:
                yield twin

    def all_twins(self, topology_key: str, selector: Selector) -> list[Twin]:
        """Return the first workloads of each kind with a constraint over a key and the pods of a selector."""
        key = topology_key, selector
        if key not in self._twins:
            self._twins[key] = list(self._kinds(*key))
        return self._twins[key]

    def _kinds(self, topology_key: str, selector: Selector) -> Iterator[Twin]:
        wanted = requirements(selector)
        seen: Counter[Kind] = Counter()
        for at, member in zip(self._at, self.members, strict=True):
            if member.is_owned:
                continue
            theirs = {
                item.when_unsatisfiable: item
                for item in member.constraints
                if item.topology_key == topology_key
                and ((own := member.selector(item)) == selector or requirements(own) == wanted)
            }
            kind = frozenset((action, fields_to_compare(item)) for action, item in theirs.items())
            if theirs and seen[kind] < _MOST_OF_A_KIND:
                seen[kind] += 1
                yield Twin(at, member, theirs, kind)


class JoinedGroup:
    """Several groups without common members, with the answers of one group of all their members."""

    def __init__(self, parts: list[SelectorGroup]) -> None:
        self._parts = parts

    def others(self, subject: Subject) -> Iterator[Subject]:
        """Yield the other workloads in order; see `SelectorGroup`."""
        import heapq  # few groups are joined

        placed = [part.other_workloads(subject) for part in self._parts]
        return (other for _, other in heapq.merge(*placed, key=operator.itemgetter(0)))

    def count_others(self, subject: Subject) -> int:
        """Return how many other workloads there are."""
        return sum(part.count_others(subject) for part in self._parts)

    def tells_apart(self, subject: Subject, label: tuple[str, str]) -> bool:
        """Return whether some other workload lacks the label."""
        return any(part.tells_apart(subject, label) for part in self._parts)

    def has_another(self, subject: Subject, labels: Mapping[str, str]) -> bool:
        """Return whether some other workload has all the labels."""
        return any(part.has_another(subject, labels) for part in self._parts)

    def twins(self, subject: Subject, constraint: TopologySpreadConstraint) -> Iterator[Twin]:
        """Yield the workloads before a subject with a constraint over the same key and pods; see `SelectorGroup`."""
        import heapq

        key = constraint.topology_key, subject.selector(constraint)
        own = next(at for part in self._parts if (at := part.position(subject)) is not None)
        seen: Counter[Kind] = Counter()
        for twin in heapq.merge(*(part.all_twins(*key) for part in self._parts), key=operator.attrgetter("at")):
            if twin.at >= own:
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
    if here[1] == there[1] and here[3] == there[3] and here[6:] == there[6:]:
        return None  # perf: most are alike as they are written
    pairs = zip(fields_to_compare(here), fields_to_compare(there), strict=True)
    return next((field for field, other in pairs if field != other), None)


class Area(NamedTuple):
    """The place of an object in a search: its file's directory, and whether the object names its namespace."""

    directory: str
    names_namespace: bool


AreaOf = Callable[[Subject], Optional[Area]]  # None if everything in the root counts


class _Positions(NamedTuple):
    """Positions of members: by the directory of their file, and by each directory at or above it."""

    inside: dict[str, list[int]]
    below: dict[str, list[int]]


class Neighbourhoods:
    """The members of a group, by their areas.

    A neighbourhood is joined from parts that other areas share: the members in each directory above the area, those at
    or below it, and all that name their namespace. So the work is linear in the members.
    """

    def __init__(self, group: SelectorGroup, area_of: AreaOf) -> None:
        self._group = group
        self._area_of = area_of
        self._known: dict[Area, Union[SelectorGroup, JoinedGroup]] = {}
        self._parts: dict[tuple[object, ...], SelectorGroup] = {}

    def of(self, subject: Subject) -> Union[SelectorGroup, JoinedGroup]:
        """Return the members that count for one of them, itself included."""
        area = self._area_of(subject)
        if area is None:
            return self._group
        known = self._known.get(area)
        if known is None:
            known = self._known[area] = self._around(area)
        return known

    def _around(self, area: Area) -> Union[SelectorGroup, JoinedGroup]:
        is_named = area.names_namespace
        inside, below = self._unnamed if is_named else self._all
        directory, *above = _upwards(area.directory)
        parts = [self._part(("below", is_named, directory), below.get(directory, []))]
        parts += [self._part(("inside", is_named, upper), inside[upper]) for upper in above if upper in inside]
        if is_named:
            parts.append(self._part(("named",), self._named))
        if sum(len(part.members) for part in parts) == len(self._group.members):
            return self._group
        parts = [part for part in parts if part.members]
        return parts[0] if len(parts) == 1 else JoinedGroup(parts)

    def _part(self, key: tuple[object, ...], positions: list[int]) -> SelectorGroup:
        if key not in self._parts:
            members = self._group.members
            self._parts[key] = SelectorGroup([members[at] for at in positions], positions)
        return self._parts[key]

    @cached_property
    def _areas(self) -> list[Optional[Area]]:
        return [self._area_of(member) for member in self._group.members]

    @cached_property
    def _named(self) -> list[int]:
        return [at for at, area in enumerate(self._areas) if area is not None and area.names_namespace]

    @cached_property
    def _all(self) -> _Positions:
        return self._placed(are_named_too=True)

    @cached_property
    def _unnamed(self) -> _Positions:
        return self._placed(are_named_too=False)

    def _placed(self, *, are_named_too: bool) -> _Positions:
        found = _Positions({}, {})
        for at, area in enumerate(self._areas):
            if area is not None and (are_named_too or not area.names_namespace):
                found.inside.setdefault(area.directory, []).append(at)
                for directory in _upwards(area.directory):
                    found.below.setdefault(directory, []).append(at)
        return found


def _upwards(directory: str) -> Iterator[str]:
    """Yield a directory and all above it."""
    yield directory
    while (above := os.path.dirname(directory)) != directory:
        directory = above
        yield directory
