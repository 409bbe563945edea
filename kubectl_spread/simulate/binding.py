"""What becomes of a pod as it is bound."""

from __future__ import annotations

from kubectl_spread.objects.labels import Labels
from kubectl_spread.objects.labels import REGION
from kubectl_spread.objects.labels import ZONE
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.framework.profile import Profile


def labelled(pod: Pod, node_labels: Labels, release: Profile) -> Pod:
    """Add the node's zone and region labels, as the PodTopologyLabels admission does at binding.

    `release` is any profile of the scheduler: what they have in common is that of the release.
    """
    copied = {key: node_labels[key] for key in (ZONE, REGION) if key in node_labels}
    if not copied or not release.labels_topology:
        return pod
    own = {**dict(pod.cls.labels), **copied}
    return pod._replace(cls=pod.cls._replace(labels=tuple(sorted(own.items()))))
