"""The classes of pods, and the groups of pods that match the same selectors."""

from __future__ import annotations

from kubectl_spread.cluster.tables.label_groups import LabelGroup, LabelGroups
from kubectl_spread.objects.pod import PodClass


class PodClasses:
    """Pod classes in the order of their first pods; equal classes have one index."""

    def __init__(self) -> None:
        self.classes: list[PodClass] = []
        self.has_pod_affinity = False  # whether any class has affinity or anti-affinity to pods
        self.groups = LabelGroups()
        self._group_of: dict[tuple[int, bool], int] = {}  # by class and terminating
        self._by_id: dict[int, int] = {}
        self._by_value: dict[PodClass, int] = {}
        self._kept: list[PodClass] = []  # so that an id() in _by_id stays theirs

    def copy(self) -> PodClasses:
        """Return a copy that can get more classes; it shares the groups of now."""
        other = PodClasses()
        other.classes, other.has_pod_affinity = list(self.classes), self.has_pod_affinity
        other.groups, other._group_of = LabelGroups(self.groups), dict(self._group_of)
        other._by_id, other._by_value = dict(self._by_id), dict(self._by_value)
        other._kept = list(self._kept)
        return other

    def index(self, pod_class: PodClass) -> int:
        """Return the index of a class in `classes`."""
        found = self._by_id.get(id(pod_class))
        if found is None:
            found = self._by_value.setdefault(pod_class, len(self.classes))
            if found == len(self.classes):
                self.classes.append(pod_class)
                self.has_pod_affinity |= pod_class.has_pod_affinity
            self._by_id[id(pod_class)] = found
            self._kept.append(pod_class)
        return found

    def group(self, class_at: int, *, terminating: bool) -> int:
        """Return the index of a class's group."""
        found = self._group_of.get((class_at, terminating))
        if found is None:
            pod_class = self.classes[class_at]
            group = LabelGroup(pod_class.namespace, pod_class.labels, terminating)
            found = self._group_of[class_at, terminating] = self.groups.add(group)
        return found
