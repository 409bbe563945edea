"""Labels that a pod gets when it is bound to a node."""

from __future__ import annotations

from kubectl_spread.objects.labels import Labels
from kubectl_spread.objects.labels import REGION
from kubectl_spread.objects.labels import ZONE
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.framework.profile import Profile


class TopologyLabels:
    """The zone and region labels that the PodTopologyLabels admission copies from the node.

    Pods of one class that get the same labels share one labelled class, so that later comparisons are quick.
    """

    def __init__(self, release: Profile) -> None:
        """`release` is any profile of the scheduler: all of them follow the same release."""
        self._copies = release.labels_topology
        # By id() of a class; the entry keeps the class, so that its id() stays its own.
        self._known: dict[tuple[int, tuple[tuple[str, str], ...]], tuple[PodClass, PodClass]] = {}

    def add(self, pod: Pod, node_labels: Labels) -> Pod:
        """Return the pod with the labels of its node."""
        copied = tuple((key, node_labels[key]) for key in (ZONE, REGION) if key in node_labels)
        if not copied or not self._copies:
            return pod
        found = self._known.get((id(pod.cls), copied))
        if found is None:
            own = {**dict(pod.cls.labels), **dict(copied)}
            found = pod.cls, pod.cls._replace(labels=tuple(sorted(own.items())))
            self._known[id(pod.cls), copied] = found
        return pod._replace(cls=found[1])
