"""Features that affect placement and that are not evaluated here."""

from __future__ import annotations

from typing import Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.keys import NamespacedName
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.releases.behaviours import CLAIMS_FOR_RESOURCES
from kubectl_spread.scheduler.framework.plugin import Profile

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
    found = list(pod_class.beyond)
    if not cluster.storage.has_claims and any(volume.claim for volume in pod_class.volumes):
        found.append(UNKNOWN_CLAIMS)
    if pod_class.pod_group:  # its pods are placed together or not at all
        least = cluster.gangs.get(NamespacedName(pod_class.namespace, pod_class.pod_group))
        gang = f"its gang of {least}, pod group" if least else "its pod group"
        found.append(f"{gang} {pod_class.pod_group}")
    # The scheduler creates resource claims for extended resources that devices provide.
    for resource, _ in pod_class.requests if CLAIMS_FOR_RESOURCES.of(profile.release) else ():
        device_class = cluster.device_classes.get(resource, "")
        if resource.startswith(_OF_DEVICE_CLASS):
            device_class = resource.removeprefix(_OF_DEVICE_CLASS)
        if device_class:
            found.append(f"the devices of the class {device_class}")
    found += [f"the plugin {name}" for name in profile.foreign]
    requested = {resource for resource, _ in pod_class.requests}
    for extender in profile.extenders:
        if not extender.resources or extender.resources & requested:
            found.append(f"the extender {extender.url}")
    return tuple(found)
