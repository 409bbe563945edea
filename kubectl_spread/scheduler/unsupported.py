"""Features that affect placement and that are not evaluated here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.keys import NamespacedName
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.releases.behaviours import CLAIMS_FOR_RESOURCES
from kubectl_spread.scheduler.framework.profile import Profile

UNKNOWN_CLAIMS = "claims that are not in the cluster facts (kubectl get pv,pvc,storageclasses -A)"
_OF_DEVICE_CLASS = "deviceclass.resource.kubernetes.io/"


def unsupported_features(pod_class: PodClass, profile: Optional[Profile], cluster: Cluster) -> tuple[str, ...]:
    """Return the features a pod depends on that are not evaluated, in words; empty if its node can be predicted.

    Args:
        pod_class: the class of the pod.
        profile: the profile that the pod names; None if it does not exist.
        cluster: its device classes may provide the pod's resources.
    """
    if profile is None:
        return (*pod_class.beyond, f"the scheduler {pod_class.scheduler_name}")
    has_unknown = not cluster.storage.has_claims and any(volume.claim for volume in pod_class.volumes)
    claims = (UNKNOWN_CLAIMS,) if has_unknown else ()
    others = (
        *claims,
        *_group(pod_class, cluster),
        *_devices(pod_class, profile, cluster),
        *_configured(pod_class, profile),
    )
    return (*pod_class.beyond, *others)


def _group(pod_class: PodClass, cluster: Cluster) -> Iterator[str]:
    """Return the PodGroup of a pod, whose pods are placed together or not at all."""
    if pod_class.pod_group:
        least = cluster.gangs.get(NamespacedName(pod_class.namespace, pod_class.pod_group))
        yield (
            f"its gang of {least}, pod group {pod_class.pod_group}" if least else f"its pod group {pod_class.pod_group}"
        )


def _devices(pod_class: PodClass, profile: Profile, cluster: Cluster) -> Iterator[str]:
    """Return the extended resources for which the scheduler creates resource claims."""
    if not CLAIMS_FOR_RESOURCES.of(profile.release):
        return
    for resource, _ in pod_class.requests:
        device_class = cluster.device_classes.get(resource, "")
        if resource.startswith(_OF_DEVICE_CLASS):
            device_class = resource.removeprefix(_OF_DEVICE_CLASS)
        if device_class:
            yield f"the devices of the class {device_class}"


def _configured(pod_class: PodClass, profile: Profile) -> Iterator[str]:
    """Return the plugins and extenders that the configuration adds to the scheduler's own."""
    for name in profile.foreign:
        yield f"the plugin {name}"
    for extender in profile.extenders:
        if not extender.resources or any(resource in extender.resources for resource, _ in pod_class.requests):
            yield f"the extender {extender.url}"
