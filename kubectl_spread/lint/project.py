"""The workloads and other objects that are applied together, for rules that look around a workload."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Optional, TYPE_CHECKING, Union

from kubectl_spread.lint.group import Area, JoinedGroup, Neighbourhoods, SelectorGroup
from kubectl_spread.lint.kustomization import ReplicasOrigin, Scaling, UnknownReplicas
from kubectl_spread.lint.roots import Root
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors import LabelRequirement, Selector
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.objects.workloads.workload import DEFAULT_NAMESPACE, knative_scale, Workload
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import SourceFile

if TYPE_CHECKING:
    from kubectl_spread.lint.projects import Projects
    from kubectl_spread.simulate.cluster_facts import KnownCluster


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
    origins: tuple[ReplicasOrigin, ...] = ()

    @property
    def likely(self) -> Optional[int]:
        """Return the maximum; the number in the manifest if the maximum is unknown."""
        return self.written if self.maximum is None else self.maximum


def whole_number(value: Any, default: Optional[int]) -> Optional[int]:
    """Return a whole number, 3.0 as well as 3, or the default."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value // 1:
        return default
    return int(value)


def of_autoscaler(autoscaler: Manifest) -> ReplicaRange:
    spec = fields(autoscaler.plain.get("spec"))
    if autoscaler.kind == "ScaledObject":
        least = whole_number(spec.get("minReplicaCount"), _KEDA_MINIMUM)
        return ReplicaRange(least, whole_number(spec.get("maxReplicaCount"), _KEDA_MAXIMUM), autoscaler)
    most = whole_number(spec.get("maxReplicas"), None)
    return ReplicaRange(whole_number(spec.get("minReplicas"), 1), most, autoscaler)


def of_overlay(overlay: Optional[Scaling], written: Optional[int]) -> ReplicaRange:
    """Return the replicas that an overlay sets; those in the manifest if it sets none."""
    if overlay is None:
        return ReplicaRange(written, written, written=written)
    _, count, origin = overlay
    if isinstance(count, UnknownReplicas):
        return ReplicaRange(None, None, written=written)
    return ReplicaRange(count, count, written=written, origins=() if origin is None else (origin,))


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


def times(groups: ReplicaRange, size: int) -> ReplicaRange:
    """Return the range of pods in so many groups."""
    if size == 1:
        return groups
    least, most = (None if number is None else number * size for number in groups[:2])
    written = None if groups.written is None else groups.written * size
    return groups._replace(minimum=least, maximum=most, written=written)


Plain = dict[str, Any]


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


_ANY = TargetCluster()


class Project:
    """Workloads and other objects that are applied together, with facts about their target cluster.

    If files are for different clusters, `target` is a function of the file.
    """

    def __init__(
        self,
        subjects: Iterable[Subject],
        others: Iterable[Manifest] = (),
        *,
        target: Union[TargetCluster, Callable[[SourceFile], TargetCluster]] = _ANY,
        facts: Optional[KnownCluster] = None,
        namespace: str = DEFAULT_NAMESPACE,
        root: Optional[Root] = None,
    ) -> None:
        """Index workloads; `namespace` is the default one."""
        self.scope: Optional[Projects] = None
        self._root = root
        self._areas: dict[int, Optional[Area]] = {}  # by id() of a manifest
        self.target = _ANY if callable(target) else target
        self._target_of = target if callable(target) else None
        self._seen: dict[TargetCluster, Project] = {}
        self._seen_from: dict[SourceFile, Project] = {}
        self.facts = facts
        self.namespace = namespace
        self._by_kind: dict[str, list[Manifest]] = {}
        for manifest in others:
            self._by_kind.setdefault(manifest.kind, []).append(manifest)
        self._rollouts = self._referring_rollouts()
        self.subjects = tuple(
            item if (by := self._rollout_of(item)) is None else item.with_runner(by) for item in subjects
        )
        self._replicas: dict[int, ReplicaRange] = {}  # by id() of a subject
        self._groups: dict[tuple[str, Selector], SelectorGroup] = {}
        self._neighbourhoods: dict[tuple[str, Selector], Neighbourhoods] = {}
        self._fewest: dict[tuple[str, Selector], Optional[int]] = {}
        self._sizes: dict[tuple[bool, str, Selector], Optional[int]] = {}
        self._by_label: dict[tuple[str, str, str], list[Subject]] = {}
        self._by_namespace: dict[str, list[Subject]] = {}
        for subject in self.subjects:
            namespace = subject.workload.namespace
            self._by_namespace.setdefault(namespace, []).append(subject)
            for key, value in subject.labels.items():
                self._by_label.setdefault((namespace, key, value), []).append(subject)

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
        return [subject.workload for subject in self.subjects if not subject.refusals]

    def for_manifest(self, manifest: Manifest) -> Project:
        """Return the project for a rule that checks this object; its `target` is the target of the object's file."""
        if self._target_of is None:
            return self
        source = manifest.document.source
        known = self._seen_from.get(source)
        if known is None:
            target = self._target_of(source)
            if target not in self._seen:
                seen = Project.__new__(Project)
                vars(seen).update(vars(self), target=target)
                self._seen[target] = seen
            known = self._seen_from[source] = self._seen[target]
        return known

    def matching(self, selector: Selector, namespace: str) -> list[Subject]:
        """Return the workloads whose pods a selector matches, in order; the list belongs to the project."""
        return self.group(selector, namespace).members

    def group(self, selector: Selector, namespace: str) -> SelectorGroup:
        """Return the workloads whose pods a selector matches."""
        known = self._groups.get((namespace, selector))
        if known is None:
            known = self._groups[namespace, selector] = SelectorGroup(self._selected(selector, namespace))
        return known

    def group_around(self, subject: Subject, selector: Selector) -> Union[SelectorGroup, JoinedGroup]:
        """Return those of a selector's workloads that count for one of them; see `neighbours`."""
        key = subject.workload.namespace, selector
        if key not in self._neighbourhoods:
            group = self.group(selector, key[0])
            self._neighbourhoods[key] = Neighbourhoods(group, self._area_of)
        return self._neighbourhoods[key].of(subject)

    def _area_of(self, subject: Subject) -> Optional[Area]:
        key = id(subject.manifest)
        if key not in self._areas:
            self._areas[key] = None if self._root is None else self._root.area(subject.manifest)
        return self._areas[key]

    def _selected(self, selector: Selector, namespace: str) -> list[Subject]:
        if selector.requirements is None:
            return []
        candidates = self._by_namespace.get(namespace, [])
        for requirement in selector.requirements:
            if requirement.operator == "In" and len(requirement.values) == 1:
                having = self._by_label.get((namespace, requirement.key, requirement.values[0]), [])
                candidates = min(candidates, having, key=len)
        return [subject for subject in candidates if selector.matches(subject.labels)]

    def of_kind(self, kind: str) -> list[Manifest]:
        """Return the objects around the workloads that are of a kind, in order."""
        return self._by_kind.get(kind, [])

    def namespace_of(self, manifest: Manifest) -> str:
        """Return the namespace that an object is applied to."""
        return manifest.namespace or self.namespace

    def replicas(self, subject: Subject) -> ReplicaRange:
        """Return the replicas of a workload: from its autoscaler, else from kustomizations, else from its manifest."""
        known = self._replicas.get(id(subject))
        if known is None:
            scope = self.scope
            known = self.replicas_here(subject) if scope is None else scope.replicas(subject)
            self._replicas[id(subject)] = known
        return known

    def is_overlaid(self, subject: Subject) -> bool:
        """Return whether overlays of kustomize may change a workload."""
        return self.scope is not None and self.scope.is_overlaid(subject.manifest)

    def added_labels(self, subject: Subject) -> Mapping[str, Optional[str]]:
        """Return the labels that kustomizations add to a workload's pods; see `Kustomization.labels`."""
        return {} if self._root is None else self._root.labels(subject.manifest)

    def replicas_here(self, subject: Subject) -> ReplicaRange:
        """Return the replicas of a workload as this root has them."""
        owner, runner = subject.workload, subject.runner
        if owner.is_foreign:
            known = None if subject.has_pod else owner.replicas
            return ReplicaRange(known, known, written=known)
        for autoscaler in self._autoscalers(runner):
            return times(of_autoscaler(autoscaler), owner.group.size)
        if owner.kind in _COUNT_THEMSELVES:
            return ReplicaRange(owner.replicas, owner.replicas)
        if owner.kind == "Service":
            return ReplicaRange(*knative_scale(owner.template))
        written = whole_number(fields(runner.plain.get("spec")).get("replicas"), None)
        if ("spec", "replicas") in runner.defaults:
            return times(ReplicaRange(None, None, written=written), owner.group.size)
        overlaid = None if self._root is None else self._root.replicas(runner)
        if overlaid is None:
            return times(ReplicaRange(written, written, written=written), owner.group.size)
        return times(widest_range([of_overlay(item, written) for item in overlaid]), owner.group.size)

    def group_size(self, subject: Subject, constraint: TopologySpreadConstraint) -> Optional[int]:
        """Return how many pods a constraint counts at most, those of other workloads included; None if unknown.

        A workload that the API server refuses has no pods. The subject counts even so, as it will be fixed.
        """
        return self._size(subject, constraint, is_known=True)

    def likely_group_size(self, subject: Subject, constraint: TopologySpreadConstraint) -> Optional[int]:
        """Return the size of a group by the numbers in the manifests, where overlays may replace these."""
        return self._size(subject, constraint, is_known=False)

    def _size(self, subject: Subject, constraint: TopologySpreadConstraint, *, is_known: bool) -> Optional[int]:
        def count(item: Subject) -> Optional[int]:
            return self.replicas(item).maximum if is_known else self.replicas(item).likely

        selector, namespace = subject.selector(constraint), subject.workload.namespace
        key = is_known, namespace, selector
        if key not in self._sizes:
            members = (item for item in self.matching(selector, namespace) if not item.refusals)
            self._sizes[key] = _sum(map(count, members))
        is_left_out = subject.refusals and selector.matches(subject.labels)
        return _sum((self._sizes[key], count(subject))) if is_left_out else self._sizes[key]

    def fewest_pods(self, selector: Selector, namespace: str) -> Optional[int]:
        """Return the fewest pods that a selector matches; None if unknown."""
        key = namespace, selector
        if key not in self._fewest:
            self._fewest[key] = self._fewest_of(self.group(selector, namespace).applied_workloads)
        return self._fewest[key]

    def _fewest_of(self, subjects: Iterable[Subject]) -> Optional[int]:
        """Return the fewest pods of workloads; for a workload with several manifests, use the largest number."""
        fewest: dict[str, int] = {}
        for item in subjects:
            minimum = self.replicas(item).minimum
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
        target = _scale_target(autoscaler)
        kind, namespace = target.get("kind") or "Deployment", self.namespace_of(autoscaler)
        return self._by_key.get(f"{kind} {namespace}/{target.get('name')}")

    def backends(self, service: Manifest) -> list[Subject]:
        """Return the workloads whose pods a Service sends traffic to, in order."""
        selector = fields(fields(service.plain.get("spec")).get("selector"))
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
        found: dict[int, list[Manifest]] = {}
        for service in self.of_kind("Service"):
            for subject in self.backends(service):
                found.setdefault(id(subject), []).append(service)
        return found

    def _autoscalers(self, target: Manifest) -> Iterator[Manifest]:
        for manifest in self._by_scaled_name.get(target.name, ()):
            kind = _scale_target(manifest).get("kind") or "Deployment"
            if kind == target.kind and self.namespace_of(manifest) == self.namespace_of(target):
                yield manifest

    @cached_property
    def _by_scaled_name(self) -> dict[str, list[Manifest]]:
        """Return the autoscalers by the name of their workload."""
        found: dict[str, list[Manifest]] = {}
        for manifest in (*self.of_kind("HorizontalPodAutoscaler"), *self.of_kind("ScaledObject")):
            found.setdefault(str(_scale_target(manifest).get("name")), []).append(manifest)
        return found

    def _referring_rollouts(self) -> dict[tuple[str, str], Manifest]:
        """Return the Rollouts that take their template from a Deployment, by its namespace and name.

        Source: argoproj/argo-rollouts docs, migrating by workloadRef.
        """
        found = {}
        for manifest in self.of_kind("Rollout"):
            reference = fields(fields(manifest.plain.get("spec")).get("workloadRef"))
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


def _scale_target(autoscaler: Manifest) -> Plain:
    return fields(fields(autoscaler.plain.get("spec")).get("scaleTargetRef"))


def _sum(sizes: Iterable[Optional[int]]) -> Optional[int]:
    """Return the sum; None if a number is missing."""
    total = 0
    for size in sizes:
        if size is None:
            return None
        total += size
    return total
