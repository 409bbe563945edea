"""The workloads and other objects that are applied together, for rules that look around a workload; their groups.

A group has the workloads whose pods one selector matches, with counts that several rules need.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.caching import cached_method
from kubectl_spread.containers import grouped
from kubectl_spread.lint.kustomization import Scaling
from kubectl_spread.lint.roots import Root
from kubectl_spread.lint.workload import Area, Subject
from kubectl_spread.objects.constraints.constraint import HONOR, IGNORE, TopologySpreadConstraint
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.releases import field_versions
from kubectl_spread.objects.selectors import LabelRequirement, Selector
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.objects.workloads.workload import DEFAULT_NAMESPACE, knative_scale, Workload
from kubectl_spread.text.glob import upwards
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import Place, SourceFile

if TYPE_CHECKING:
    from kubectl_spread.lint.projects import Projects
    from kubectl_spread.operations.known_cluster import KnownCluster


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


_KEDA_MINIMUM, _KEDA_MAXIMUM = 0, 100  # of a ScaledObject that names none


class ReplicaRange(NamedTuple):
    """The fewest and the most replicas of a workload; None if unknown.

    `autoscaler` is the HorizontalPodAutoscaler or ScaledObject that sets them. `written` is the number in the manifest,
    which an overlay may replace. `origins` are the places in kustomizations that set the number.
    """

    minimum: Optional[int]
    maximum: Optional[int]
    autoscaler: Optional[Manifest] = None
    written: Optional[int] = None
    origins: tuple[Place, ...] = ()

    @property
    def likely(self) -> Optional[int]:
        """Return the maximum; the number in the manifest if the maximum is unknown."""
        return self.written if self.maximum is None else self.maximum


def _whole_number(value: Any) -> Optional[int]:
    """Return a whole number, 3.0 as well as 3; None for another value, which a tool may replace."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value // 1:
        return None
    return int(value)


def _of_autoscaler(autoscaler: Manifest) -> ReplicaRange:
    spec = fields(autoscaler.plain, "spec")
    if autoscaler.kind == "ScaledObject":
        least, most = spec.get("minReplicaCount", _KEDA_MINIMUM), spec.get("maxReplicaCount", _KEDA_MAXIMUM)
    else:
        least, most = spec.get("minReplicas", 1), spec.get("maxReplicas")
    return ReplicaRange(_whole_number(least), _whole_number(most), autoscaler)


def _of_overlay(overlay: Optional[Scaling], written: Optional[int]) -> ReplicaRange:
    """Return the replicas that an overlay sets; those in the manifest if it sets none."""
    if overlay is None:
        return ReplicaRange(written, written, written=written)
    _, count, origin = overlay
    origins = () if origin is None or count is None else (origin,)
    return ReplicaRange(count, count, written=written, origins=origins)


def widest_range(ranges: Sequence[ReplicaRange]) -> ReplicaRange:
    """Return the range of a workload that several roots or overlays have, from the least to the most."""
    if len(ranges) == 1:
        return ranges[0]
    least = [item.minimum for item in ranges if item.minimum is not None]
    most = [item.maximum for item in ranges if item.maximum is not None]
    autoscaler = next((item.autoscaler for item in ranges if item.autoscaler is not None), None)
    written = [item.written for item in ranges if item.written is not None]
    return ReplicaRange(
        min(least) if len(least) == len(ranges) else None,
        max(most) if len(most) == len(ranges) else None,
        autoscaler,
        max([*written, *most], default=None),
        tuple(dict.fromkeys(origin for item in ranges for origin in item.origins)),
    )


class TargetCluster(NamedTuple):
    """The cluster that the manifests are for: its minor version and its autoscaler, if known.

    `thresholds` are those of rules, by code, that the configuration sets for it.
    """

    minor: Optional[int] = None
    autoscaler: str = ""
    thresholds: tuple[tuple[str, int], ...] = ()

    def threshold(self, code: str, default: int) -> int:
        """Return the threshold of a rule."""
        return dict(self.thresholds).get(code, default)

    def stores(self, field: str) -> bool:
        """Return whether the API server keeps a field of constraints; an unknown version keeps it."""
        return field_versions.stores(field, self.minor)


class RunContext(NamedTuple):
    """The settings that all projects of a run share: the target cluster of each file, and the default namespace."""

    target: Callable[[SourceFile], TargetCluster] = lambda _: TargetCluster()
    facts: Optional[KnownCluster] = None
    namespace: str = DEFAULT_NAMESPACE


def applied(subjects: Sequence[Subject]) -> list[Subject]:
    """Return the workloads that the API server would accept. A ReplicaSet of a Deployment here is left out."""
    keys = {subject.key for subject in subjects}
    return [subject for subject in subjects if not (subject.refusals or subject.maker in keys)]


class Project:
    """Workloads and other objects that are applied together, with facts about their target cluster.

    `scope` has the other projects of the run.
    """

    def __init__(
        self,
        subjects: Iterable[Subject],
        others: Iterable[Manifest] = (),
        context: RunContext = RunContext(),  # noqa: B008 (immutable)
        *,
        root: Optional[Root] = None,
        scope: Optional[Projects] = None,
    ) -> None:
        self.scope = scope
        self.root = root
        self.target_of, self.facts, self.namespace = context
        self.others = tuple(others)
        self._by_kind = grouped((manifest.kind, manifest) for manifest in self.others)
        self._rollouts = self._referring_rollouts()
        run = (item if (by := self._rollout_of(item)) is None else item.with_runner(by) for item in subjects)
        self.subjects = tuple(item.of_project(self, number) for number, item in enumerate(run))
        self._by_namespace = grouped((subject.workload.namespace, subject) for subject in self.subjects)
        self._by_label = grouped(
            ((subject.workload.namespace, *label), subject)
            for subject in self.subjects
            for label in subject.labels.items()
        )

    @property
    def cluster(self) -> KnownCluster:
        """Return the cluster facts, for rules that run only with them."""
        assert self.facts is not None  # noqa: S101 (the registry sees to it)
        return self.facts

    @cached_property
    def namespaces(self) -> list[str]:
        """Return the namespaces that workloads are in, by name."""
        return sorted(self._by_namespace)

    @property
    def workloads(self) -> list[Workload]:
        """Return the workloads that the API server would accept, as they would run."""
        return [subject.workload for subject in applied(self.subjects)]

    def matching(self, selector: Selector, namespace: str) -> list[Subject]:
        """Return the workloads whose pods a selector matches, in order; the list belongs to the project."""
        return self.group(selector, namespace).members

    @cached_method
    def around(self, selector: Selector, namespace: str) -> Neighbourhoods:
        """Return the workloads whose pods a selector matches, by their areas."""
        return Neighbourhoods(self.group(selector, namespace))

    @cached_method
    def group(self, selector: Selector, namespace: str) -> SelectorGroup:
        """Return the workloads whose pods a selector matches."""
        if selector.requirements is None:
            return SelectorGroup([])
        candidates = self._by_namespace.get(namespace, [])
        for requirement in selector.requirements:
            if requirement.operator == "In" and len(requirement.values) == 1:
                having = self._by_label.get((namespace, requirement.key, requirement.values[0]), [])
                candidates = min(candidates, having, key=len)
        return SelectorGroup([subject for subject in candidates if selector.matches(subject.labels)])

    def of_kind(self, kind: str) -> list[Manifest]:
        """Return the objects around the workloads that are of a kind, in order."""
        return self._by_kind.get(kind, [])

    def namespace_of(self, manifest: Manifest) -> str:
        """Return the namespace that an object is applied to."""
        return manifest.namespace or self.namespace

    @cached_method
    def replicas_here(self, subject: Subject) -> ReplicaRange:
        """Return the replicas of a workload as this root has them."""
        owner, runner = subject.workload, subject.runner
        if owner.is_foreign:
            known = None if subject.has_pod else owner.replicas
            return ReplicaRange(known, known, written=known)
        autoscaler = self._autoscalers.get(f"{runner.kind} {self.namespace_of(runner)}/{runner.name}")
        if autoscaler is None and owner.kind in _COUNT_THEMSELVES:
            return ReplicaRange(owner.replicas, owner.replicas)
        if autoscaler is None and owner.kind == "Service":
            return ReplicaRange(*knative_scale(owner.template))
        written = _whole_number(fields(runner.plain, "spec").get("replicas"))
        if autoscaler is not None:
            groups = _of_autoscaler(autoscaler)
        elif ("spec", "replicas") in runner.defaults:
            groups = ReplicaRange(None, None, written=written)
        else:
            overlaid = (None if self.root is None else self.root.replicas(runner)) or [None]
            groups = widest_range([_of_overlay(item, written) for item in overlaid])
        size = owner.group.size
        least, most, _, written, _ = groups
        least, most, written = (None if number is None else number * size for number in (least, most, written))
        return groups._replace(minimum=least, maximum=most, written=written)

    @cached_method
    def members_size(self, selector: Selector, namespace: str, number: str) -> Optional[int]:
        """Return the sum of one of the numbers of `ReplicaRange` over matching workloads; None if one lacks it."""
        members = (item for item in self.matching(selector, namespace) if not item.refusals)
        sizes = [getattr(item.replicas, number) for item in members]
        return None if None in sizes else sum(sizes)

    @cached_method
    def are_autoscaled(self, subjects: tuple[Subject, ...]) -> bool:
        """Return whether an autoscaler sets the replicas of any of the workloads."""
        return any(self.replicas_here(item).autoscaler for item in subjects)

    @cached_method
    def fewest_pods(self, selector: Selector, namespace: str) -> Optional[int]:
        """Return the fewest pods that a selector matches; None if unknown."""
        fewest: dict[str, int] = {}  # of a workload with several manifests the largest number
        for item in self.group(selector, namespace).applied_workloads:
            minimum = self.replicas_here(item).minimum  # a budget is about the pods of its own overlay
            if not minimum:
                return None
            fewest[item.workload.key] = max(minimum, fewest.get(item.workload.key, 0))
        return sum(fewest.values())

    def same(self, subject: Subject) -> Subject:
        """Return this project's own record of a workload, which another object may run in this project."""
        return self._by_template[id(subject.manifest), subject.template_route]

    @cached_property
    def _by_template(self) -> dict[tuple[int, Route], Subject]:
        return {(id(subject.manifest), subject.template_route): subject for subject in self.subjects}

    def scale_target(self, autoscaler: Manifest) -> Optional[Subject]:
        """Return the workload that an autoscaler is about."""
        return self._by_key.get(self._scaled_key(autoscaler))

    def _scaled_key(self, autoscaler: Manifest) -> str:
        target = fields(autoscaler.plain, "spec", "scaleTargetRef")
        return f"{target.get('kind') or 'Deployment'} {self.namespace_of(autoscaler)}/{target.get('name')}"

    def backends(self, service: Manifest) -> list[Subject]:
        """Return the workloads whose pods a Service sends traffic to, in order."""
        selector = fields(service.plain, "spec", "selector")
        if service.api_version != "v1" or not selector or not all(isinstance(item, str) for item in selector.values()):
            return []
        equalities = tuple(LabelRequirement(key, "In", (value,)) for key, value in selector.items())
        return self.matching(Selector(equalities), self.namespace_of(service))

    def services(self, subject: Subject) -> list[Manifest]:
        """Return the Services that send traffic to a workload's pods, in order."""
        return self._services.get(id(subject), [])

    @cached_property
    def _by_key(self) -> dict[str, Subject]:
        return {subject.workload.key: subject for subject in self.subjects}

    @cached_property
    def _services(self) -> dict[int, list[Manifest]]:
        """Return the Services by the id() of a subject."""
        return grouped(
            (id(subject), service) for service in self.of_kind("Service") for subject in self.backends(service)
        )

    @cached_property
    def _autoscalers(self) -> dict[str, Manifest]:
        """Return the first autoscaler of each workload, by the workload's key."""
        found: dict[str, Manifest] = {}
        for manifest in (*self.of_kind("HorizontalPodAutoscaler"), *self.of_kind("ScaledObject")):
            found.setdefault(self._scaled_key(manifest), manifest)
        return found

    def _referring_rollouts(self) -> dict[tuple[str, str], Manifest]:
        """Return the Rollouts that take their template from a Deployment, by its namespace and name.

        Source: argoproj/argo-rollouts docs, migrating by workloadRef.
        """
        found = {}
        for manifest in self.of_kind("Rollout"):
            reference = fields(manifest.plain, "spec", "workloadRef")
            if manifest.workload_kind is not None and reference.get("kind") == "Deployment":
                found[self.namespace_of(manifest), str(reference.get("name"))] = manifest
        return found

    def _rollout_of(self, subject: Subject) -> Optional[Manifest]:
        """Return the Rollout that runs a Deployment's pods in its place; None also where both run some."""
        owner = subject.workload
        found = self._rollouts.get((owner.namespace, owner.name)) if owner.kind == "Deployment" else None
        if found is None:
            return None
        scaling_down = found.plain["spec"]["workloadRef"].get("scaleDown")
        return found if not owner.replicas or scaling_down in ("onsuccess", "progressively") else None


# Their number of pods is not in `spec.replicas`, or has a default that no autoscaler changes.
_COUNT_THEMSELVES = ("DaemonSet", "Pod", "PodTemplate", "Job", "CronJob")
