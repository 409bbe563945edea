"""Pods as they would be created anew from a changed template.

Only what the change touches is taken from the template; all else a pod keeps that it has: what admission added, the
claims of its ordinal, the labels of its controller. So nothing is lost where the template is not known as a whole.
"""

from __future__ import annotations

from typing import Any
from typing import Optional

from kubectl_spread.objects import read
from kubectl_spread.objects.pod import Owner
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.pod import PodClass

Plain = dict[str, Any]

_FIELDS = (
    "requests",
    "nonzero",
    "scored",
    "node_selector",
    "node_affinity",
    "pod_affinity",
    "pod_anti_affinity",
    "preferred_affinity",
    "preferred_anti_affinity",
    "constraints",
    "host_ports",
)


class Recreation:
    """A change of a pod spec, done to pods; those of one class are one afterwards, too."""

    def __init__(self, before: Plain, after: Plain, *, labels: dict[str, str], owner: Optional[Owner] = None) -> None:
        """Nothing is read before a pod is asked for.

        Args:
            before: the spec that the pods were made of.
            after: the one they are to be made of.
            labels: those of a revision, which the new pods have instead of the old ones.
            owner: what controls the new pods; None where that is the same.
        """
        self._before, self._after = before, after
        self._labels, self._owner = labels, owner
        self._known: dict[PodClass, PodClass] = {}

    def pod(self, pod: Pod) -> Pod:
        """The pod anew: not nominated to any node, and not refused yet."""
        found = self._known.get(pod.cls)
        if found is None:
            found = self._known[pod.cls] = self._changed(pod.cls)
        return pod._replace(cls=found, nominated_node="", message="", reason="")

    def _changed(self, cls: PodClass) -> PodClass:
        labels = {**dict(cls.labels), **self._labels}
        old = _read(cls, dict(cls.labels), self._before)
        new = _read(cls, labels, self._after)
        touched = {field: getattr(new, field) for field in _FIELDS if getattr(new, field) != getattr(old, field)}
        if new.tolerations != old.tolerations:
            added = [item for item in cls.tolerations if item not in old.tolerations]
            touched["tolerations"] = (*new.tolerations, *added)
        if labels != dict(cls.labels) and any(item.match_label_keys for item in new.constraints):
            touched["constraints"] = new.constraints  # those of a stored pod select its own revision
        return cls._replace(labels=tuple(sorted(labels.items())), owner=self._owner or cls.owner, **touched)


def _read(cls: PodClass, labels: dict[str, str], spec: Plain) -> PodClass:
    return read.pod_class(cls.namespace, {"labels": labels}, spec, {})
