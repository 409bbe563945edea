"""Current rollouts: pods of running workloads that are of an older revision."""

from __future__ import annotations

from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Controller, OwnerKey
from kubectl_spread.objects.constraints import constraint_reader
from kubectl_spread.objects.constraints.uncounted import find_uncounted
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.workloads.created_labels import created_labels
from kubectl_spread.objects.workloads.workload import revision_label, Workload
from kubectl_spread.simulate.running.controllers import newest_hash, running_pods


def old_pods(key: OwnerKey, controller: Controller, owned: OwnedPods) -> list[Pod]:
    """Return the running pods of an older revision, by label or else by the constraints that do not count them."""
    owner = controller.workload
    own = running_pods(owner, owned)
    newest = newest_hash(owner, own, owned.cluster)
    label, prefix = revision_label(owner), f"{owner.name}-" if key.kind == "StatefulSet" else ""
    values = {pod.uid: dict(pod.cls.labels).get(label, "").removeprefix(prefix) for pod in own}
    if newest and any(values.values()):
        return [pod for pod in own if values[pod.uid] != newest]
    return _not_counted(owner, own)


def _not_counted(owner: Workload, own: list[Pod]) -> list[Pod]:
    """Return the running pods that a constraint of the template does not count."""
    labels = created_labels(owner)
    missed = (
        find_uncounted(item, own, labels) for item in constraint_reader.constraints(owner.template.get("spec") or {})
    )
    names = {name for found in missed if found is not None for name in found.pods}
    return [pod for pod in own if pod.name in names]
