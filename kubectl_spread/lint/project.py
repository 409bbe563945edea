"""All that one run reads, so that a rule can ask about the objects around a workload."""

from __future__ import annotations

import copy
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from functools import cached_property
from typing import Any
from typing import NamedTuple
from typing import Optional
from typing import Union

from kubectl_spread.lint.facts import ClusterFacts
from kubectl_spread.lint.subject import Subject
from kubectl_spread.objects.constraint import TopologySpreadConstraint
from kubectl_spread.objects.manifest import Manifest
from kubectl_spread.objects.selector import Requirement
from kubectl_spread.objects.selector import Selector
from kubectl_spread.text.source import SourceFile

Plain = dict[str, Any]

_KEDA_MINIMUM, _KEDA_MAXIMUM = 0, 100  # of a ScaledObject that names none


class ReplicaRange(NamedTuple):
    """How many replicas a workload has, least and most; None where nothing in the input says it.

    `autoscaler` is the HorizontalPodAutoscaler or ScaledObject that says it.
    """

    minimum: Optional[int]
    maximum: Optional[int]
    autoscaler: Optional[Manifest] = None


class TargetCluster(NamedTuple):
    """The cluster that the manifests are for, as far as somebody says: its minor version, its autoscaler."""

    minor: Optional[int] = None
    autoscaler: str = ""


_ANY = TargetCluster()


class Project:
    """The workloads and the objects around them, and what is known of the cluster they are for.

    Where files are for different clusters, `target` is given as a function of the file.
    """

    def __init__(
        self,
        subjects: Iterable[Subject],
        others: Iterable[Manifest] = (),
        *,
        target: Union[TargetCluster, Callable[[SourceFile], TargetCluster]] = _ANY,
        facts: Optional[ClusterFacts] = None,
    ) -> None:
        self.subjects = tuple(subjects)
        self.target = _ANY if callable(target) else target
        self._target_of = target if callable(target) else None
        self._seen: dict[int, Project] = {}  # by id() of a source
        self.facts = facts
        self._by_kind: dict[str, list[Manifest]] = {}
        for manifest in others:
            self._by_kind.setdefault(manifest.kind, []).append(manifest)
        self._by_label: dict[tuple[str, str, str], list[Subject]] = {}
        self._by_namespace: dict[str, list[Subject]] = {}
        for subject in self.subjects:
            namespace = subject.workload.namespace
            self._by_namespace.setdefault(namespace, []).append(subject)
            for key, value in subject.labels.items():
                self._by_label.setdefault((namespace, key, value), []).append(subject)

    def seen_from(self, manifest: Manifest) -> Project:
        """The project for a rule that asks about this object: `target` is the one that its file is for."""
        source = manifest.document.source
        if self._target_of is None:
            return self
        if id(source) not in self._seen:
            seen = copy.copy(self)
            seen.target = self._target_of(source)
            self._seen[id(source)] = seen
        return self._seen[id(source)]

    def matching(self, selector: Selector, namespace: str) -> list[Subject]:
        """The workloads whose pods a selector matches, in order."""
        if selector.requirements is None:
            return []
        candidates = self._by_namespace.get(namespace, [])
        for requirement in selector.requirements:
            if requirement.operator == "In" and len(requirement.values) == 1:
                candidates = self._by_label.get((namespace, requirement.key, requirement.values[0]), [])
                break
        return [subject for subject in candidates if selector.matches(subject.labels)]

    def of_kind(self, kind: str) -> list[Manifest]:
        """The objects around the workloads that are of a kind, in order."""
        return self._by_kind.get(kind, [])

    def replicas(self, subject: Subject) -> ReplicaRange:
        """The replicas of a workload: what its autoscaler allows, else what it says itself."""
        for autoscaler in self._autoscalers(subject):
            spec = _fields(autoscaler.plain.get("spec"))
            if autoscaler.kind == "ScaledObject":
                least = _whole(spec.get("minReplicaCount"), _KEDA_MINIMUM)
                return ReplicaRange(least, _whole(spec.get("maxReplicaCount"), _KEDA_MAXIMUM), autoscaler)
            most = _whole(spec.get("maxReplicas"), None)
            return ReplicaRange(_whole(spec.get("minReplicas"), 1), most, autoscaler)
        if subject.workload.kind in _COUNT_THEMSELVES:
            return ReplicaRange(subject.workload.replicas, subject.workload.replicas)
        written = subject.controller.get("replicas")
        return ReplicaRange(None, None) if written is None else ReplicaRange(int(written), int(written))

    def group_size(self, subject: Subject, constraint: TopologySpreadConstraint) -> Optional[int]:
        """How many pods a constraint counts at most, those of other workloads included; None where nobody says.

        What the API server refuses has none.
        """
        members = self.matching(subject.selector(constraint), subject.workload.namespace)
        sizes = [self.replicas(member).maximum for member in members if not member.refusals]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def scaled(self, autoscaler: Manifest) -> Optional[Subject]:
        """The workload that an autoscaler is about."""
        target = _fields(_fields(autoscaler.plain.get("spec")).get("scaleTargetRef"))
        kind, namespace = target.get("kind") or "Deployment", autoscaler.namespace or "default"
        return self._by_key.get(f"{kind} {namespace}/{target.get('name')}")

    def backends(self, service: Manifest) -> list[Subject]:
        """The workloads whose pods a Service sends traffic to, in order."""
        selector = _fields(_fields(service.plain.get("spec")).get("selector"))
        if service.api_version != "v1" or not selector or not all(isinstance(item, str) for item in selector.values()):
            return []
        equalities = tuple(Requirement(key, "In", (value,)) for key, value in selector.items())
        return self.matching(Selector(equalities), service.namespace or "default")

    def services(self, subject: Subject) -> list[Manifest]:
        """The Services that send traffic to a workload's pods, in order."""
        return self._services.get(id(subject), [])

    @cached_property
    def _by_key(self) -> dict[str, Subject]:
        return {subject.workload.key: subject for subject in self.subjects}

    @cached_property
    def _services(self) -> dict[int, list[Manifest]]:
        """By the identity of the subject."""
        found: dict[int, list[Manifest]] = {}
        for service in self.of_kind("Service"):
            for subject in self.backends(service):
                found.setdefault(id(subject), []).append(service)
        return found

    def _autoscalers(self, subject: Subject) -> Iterator[Manifest]:
        for manifest in self._by_scaled_name.get(subject.workload.name, ()):
            kind = _scale_target(manifest).get("kind") or "Deployment"
            if kind == subject.workload.kind and _shares_namespace(manifest, subject):
                yield manifest

    @cached_property
    def _by_scaled_name(self) -> dict[str, list[Manifest]]:
        """The autoscalers by the name of their workload."""
        found: dict[str, list[Manifest]] = {}
        for manifest in (*self.of_kind("HorizontalPodAutoscaler"), *self.of_kind("ScaledObject")):
            found.setdefault(str(_scale_target(manifest).get("name")), []).append(manifest)
        return found


# Their number of pods is not in `spec.replicas`, or has a default that no autoscaler changes.
_COUNT_THEMSELVES = ("DaemonSet", "Pod", "PodTemplate", "Job", "CronJob")


def _scale_target(autoscaler: Manifest) -> Plain:
    return _fields(_fields(autoscaler.plain.get("spec")).get("scaleTargetRef"))


def _fields(value: Any) -> Plain:
    """A mapping; an empty one for anything else, as what is around a workload is not validated."""
    return value if isinstance(value, dict) else {}


def _whole(value: Any, default: Optional[int]) -> Optional[int]:
    """A whole number, or what stands for none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def _shares_namespace(manifest: Manifest, subject: Subject) -> bool:
    return (manifest.namespace or "default") == subject.workload.namespace
