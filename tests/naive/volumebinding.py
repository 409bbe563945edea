"""Claims and the volumes they have, could have, or will be given.

Source: pkg/scheduler/framework/plugins/volumebinding/volume_binding.go, binder.go,
staging/src/k8s.io/component-helpers/storage/volume/pv_helpers.go (v1.36.2). In-tree volumes are not translated;
of volumes of one size the smallest name is taken, where the scheduler may take any.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple, Optional

from tests.naive import objects, requests, selectors
from tests.naive.framework import CycleState, Handle, SKIP, Status, SUCCESS, unresolvable
from tests.naive.nodeinfo import NodeInfo
from tests.naive.volumezone import get_persistent_volume_claim_class

Plain = dict[str, Any]

SELECTED_NODE = "volume.kubernetes.io/selected-node"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"

NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
NOT_ENOUGH_SPACE = "node(s) did not have enough free storage"
PV_NOT_EXIST = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


class BindingInfo(NamedTuple):
    """A volume that a claim would be bound to."""

    claim: Plain
    volume: Plain


class PodVolumes(NamedTuple):
    """What placing the pod on a node would reserve."""

    static_bindings: list[BindingInfo]
    dynamic_provisions: list[Plain]


class PodVolumeClaims(NamedTuple):
    """The claims of a pod by what is to be done about them."""

    bound: list[Plain]
    unbound_delay_binding: list[Plain]
    unbound_immediate: list[Plain]


class _StateData:
    """The pod's claims; and, filled by Filter, what each node would reserve."""

    def __init__(self, claims: PodVolumeClaims) -> None:
        self.claims = claims
        self.pod_volumes_by_node: dict[str, PodVolumes] = {}

    def clone(self) -> _StateData:
        return self  # shared, as upstream


class VolumeBinding:
    """Keep to the nodes from which the pod's volumes can be reached, and reserve those it is to be given."""

    name = "VolumeBinding"

    def __init__(self, args: Plain, handle: Handle) -> None:
        self.handle = handle

    def pre_filter(self, state: CycleState, pod: Plain) -> tuple[Optional[frozenset[str]], Status]:
        has_claims, problem = self.pod_has_pvcs(pod)
        if problem:
            return None, unresolvable(problem)
        if not has_claims:
            return None, SKIP
        claims = self.get_pod_volume_claims(pod)
        if claims.unbound_immediate:
            return None, unresolvable("pod has unbound immediate PersistentVolumeClaims")
        state.values[self.name] = _StateData(claims)
        return None, SUCCESS

    def pod_has_pvcs(self, pod: Plain) -> tuple[bool, str]:
        """Whether it has claims, and what is wrong with the first that is not usable."""
        names = pod_claim_names(pod)
        for name, is_ephemeral in names:
            claim = self.handle.get("PersistentVolumeClaim", name, objects.namespace_of(pod))
            problem = _problem_with(pod, claim, name=name, is_ephemeral=is_ephemeral)
            if problem:
                return True, problem
        return bool(names), ""

    def get_pod_volume_claims(self, pod: Plain) -> PodVolumeClaims:
        found = PodVolumeClaims([], [], [])
        for name, _ in pod_claim_names(pod):
            claim = self.handle.get("PersistentVolumeClaim", name, objects.namespace_of(pod))
            assert claim is not None
            if is_pvc_fully_bound(claim):
                found.bound.append(claim)
            elif self.is_delay_binding_mode(claim) and not claim["spec"].get("volumeName"):
                found.unbound_delay_binding.append(claim)
            else:
                found.unbound_immediate.append(claim)
        return found

    def is_delay_binding_mode(self, claim: Plain) -> bool:
        storage_class = self.handle.get("StorageClass", get_persistent_volume_claim_class(claim))
        return storage_class is not None and storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"

    def filter(self, state: CycleState, pod: Plain, node: NodeInfo) -> Status:
        found: _StateData = state.read(self.name)
        pod_volumes, reasons = self.find_pod_volumes(found.claims, node)
        if reasons:
            return unresolvable(*reasons)
        found.pod_volumes_by_node[node.name] = pod_volumes
        return SUCCESS

    def find_pod_volumes(self, claims: PodVolumeClaims, node: NodeInfo) -> tuple[PodVolumes, list[str]]:
        """What the node would reserve, and why it cannot: at most one reason each of bound and unbound claims."""
        pod_volumes, unbound_reason = self._find_for_unbound(claims.unbound_delay_binding, node)
        bound_reason = self.check_bound_claims(claims.bound, node)
        reasons = [bound_reason, unbound_reason]
        if bound_reason == PV_NOT_EXIST:
            reasons.reverse()
        return pod_volumes, [reason for reason in reasons if reason]

    def _find_for_unbound(self, claims: list[Plain], node: NodeInfo) -> tuple[PodVolumes, str]:
        to_provision, to_match = [], []
        for claim in claims:
            selected = objects.annotations_of(claim).get(SELECTED_NODE)
            if selected is None:
                to_match.append(claim)
            elif selected == node.name:
                to_provision.append(claim)
            else:
                return PodVolumes([], []), BIND_CONFLICT
        bindings, unmatched = self.find_matching_volumes(to_match, node)
        to_provision += unmatched
        return PodVolumes(bindings, to_provision), self.check_volume_provisions(to_provision, node)

    def check_bound_claims(self, claims: list[Plain], node: NodeInfo) -> str:
        for claim in claims:
            volume = self.handle.get("PersistentVolume", claim["spec"]["volumeName"])
            if volume is None:
                return PV_NOT_EXIST
            if not check_node_affinity(volume, node):
                return NODE_CONFLICT
        return ""

    def find_matching_volumes(self, claims: list[Plain], node: NodeInfo) -> tuple[list[BindingInfo], list[Plain]]:
        """Match claims with volumes, the smallest first; returns the claims without a match, too."""
        bindings: list[BindingInfo] = []
        unmatched = []
        for claim in sorted(claims, key=_requested):
            chosen = [objects.name_of(binding.volume) for binding in bindings]
            volume = find_matching_volume(claim, self._volumes_of_class(claim), node=node, excluded=chosen)
            if volume is None:
                unmatched.append(claim)
            else:
                bindings.append(BindingInfo(claim, volume))
        return bindings, unmatched

    def _volumes_of_class(self, claim: Plain) -> list[Plain]:
        wanted = get_persistent_volume_claim_class(claim)
        volumes = [item for item in self.handle.list("PersistentVolume") if get_persistent_volume_class(item) == wanted]
        return sorted(volumes, key=objects.name_of)

    def check_volume_provisions(self, claims: list[Plain], node: NodeInfo) -> str:
        """Why the first claim that cannot be provisioned for the node cannot."""
        for claim in claims:
            storage_class = self.handle.get("StorageClass", get_persistent_volume_claim_class(claim))
            assert storage_class is not None  # or the claim would not wait for a consumer
            if storage_class.get("provisioner") in (None, "", "kubernetes.io/no-provisioner"):
                return BIND_CONFLICT
            if not match_topology_selector_terms(storage_class.get("allowedTopologies") or [], node.labels):
                return BIND_CONFLICT
            if not self.has_enough_capacity(claim, storage_class, node):
                return NOT_ENOUGH_SPACE
        return ""

    def has_enough_capacity(self, claim: Plain, storage_class: Plain, node: NodeInfo) -> bool:
        """Whether some capacity that the driver reports suffices; a driver need not report any."""
        if "storage" not in ((claim["spec"].get("resources") or {}).get("requests") or {}):
            return True
        driver = self.handle.get("CSIDriver", storage_class["provisioner"])
        if driver is None or not (driver.get("spec") or {}).get("storageCapacity"):
            return True
        size = requests.value("storage", _requested(claim))
        for capacity in self.handle.list("CSIStorageCapacity"):
            if capacity.get("storageClassName") != objects.name_of(storage_class):
                continue
            if capacity_sufficient(capacity, size) and node_has_access(node, capacity):
                return True
        return False

    def pre_score(self, state: CycleState, pod: Plain, nodes: list[NodeInfo]) -> Status:
        return SKIP  # without the gate StorageCapacityScoring there is no scorer

    def score(self, state: CycleState, pod: Plain, node: NodeInfo) -> int:
        return 0

    def reserve(self, state: CycleState, pod: Plain, node_name: str) -> None:
        found = state.values.get(self.name)
        if found is not None and node_name in found.pod_volumes_by_node:
            self.assume_pod_volumes(found.pod_volumes_by_node[node_name], node_name)

    def assume_pod_volumes(self, pod_volumes: PodVolumes, node_name: str) -> None:
        """Hold matched volumes for their claims, and note the node on the claims to be provisioned."""
        for claim, volume in pod_volumes.static_bindings:
            held = copy.deepcopy(volume)
            held["spec"]["claimRef"] = {
                "kind": "PersistentVolumeClaim",
                "namespace": objects.namespace_of(claim),
                "name": objects.name_of(claim),
                "uid": objects.uid_of(claim),
            }
            self._replace(volume, held)
        for claim in pod_volumes.dynamic_provisions:
            selected = copy.deepcopy(claim)
            selected["metadata"]["annotations"] = {**objects.annotations_of(claim), SELECTED_NODE: node_name}
            self._replace(claim, selected)

    def _replace(self, old: Plain, new: Plain) -> None:
        self.handle.objects = [new if item is old else item for item in self.handle.objects]


def _problem_with(pod: Plain, claim: Optional[Plain], *, name: str, is_ephemeral: bool) -> str:
    if claim is None and is_ephemeral:
        return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
    if claim is None:
        return f'persistentvolumeclaim "{name}" not found'
    if (claim.get("status") or {}).get("phase") == "Lost":
        volume_name = claim["spec"].get("volumeName") or ""
        return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{volume_name}"'
    if objects.is_terminating(claim):
        return f'persistentvolumeclaim "{name}" is being deleted'
    if is_ephemeral and objects.controller_of(claim).get("uid") != objects.uid_of(pod):
        keys = f"PVC {objects.key_of(claim)} was not created for pod {objects.key_of(pod)}"
        return f"{keys} (pod is not owner)"
    return ""


def pod_claim_names(pod: Plain) -> list[tuple[str, bool]]:
    """The claims of a pod's volumes, and whether they are those of ephemeral volumes."""
    found = []
    for volume in pod["spec"].get("volumes") or []:
        if volume.get("persistentVolumeClaim") is not None:
            found.append((volume["persistentVolumeClaim"]["claimName"], False))
        elif volume.get("ephemeral") is not None:
            found.append((f"{objects.name_of(pod)}-{volume['name']}", True))
    return found


def is_pvc_fully_bound(claim: Plain) -> bool:
    return bool(claim["spec"].get("volumeName")) and BIND_COMPLETED in objects.annotations_of(claim)


def get_persistent_volume_class(volume: Plain) -> str:
    annotations = objects.annotations_of(volume)
    if "volume.beta.kubernetes.io/storage-class" in annotations:
        return annotations["volume.beta.kubernetes.io/storage-class"]
    return volume["spec"].get("storageClassName") or ""


def _requested(claim: Plain) -> int:
    """Thousandths of a byte."""
    wanted = requests.resource_list((claim["spec"].get("resources") or {}).get("requests"))
    return wanted.get("storage", 0)


def _capacity(volume: Plain) -> int:
    """Thousandths of a byte."""
    return requests.resource_list(volume["spec"].get("capacity")).get("storage", 0)


def find_matching_volume(claim: Plain, volumes: list[Plain], *, node: NodeInfo, excluded: list[str]) -> Optional[Plain]:
    """The volume held for the claim, or else the smallest free one that will do."""
    smallest: Optional[Plain] = None
    for volume in volumes:
        held = is_volume_bound_to_claim(volume, claim)
        if objects.name_of(volume) in excluded or (volume["spec"].get("claimRef") and not held):
            continue
        if _capacity(volume) < _requested(claim) or check_volume_mode_mismatches(claim, volume):
            continue
        if objects.is_terminating(volume):
            continue
        node_affinity_valid = check_node_affinity(volume, node)
        if held:
            return volume if node_affinity_valid else None
        if not node_affinity_valid or not _is_free_and_fits(claim, volume):
            continue
        if smallest is None or _capacity(volume) < _capacity(smallest):
            smallest = volume
    return smallest


def _is_free_and_fits(claim: Plain, volume: Plain) -> bool:
    if (volume.get("status") or {}).get("phase") != "Available":
        return False
    selector = claim["spec"].get("selector")
    if selector is not None:
        parsed = selectors.label_selector_as_selector(selector)
        if not parsed.matches(objects.labels_of(volume)):
            return False
    return check_access_modes(claim, volume)


def is_volume_bound_to_claim(volume: Plain, claim: Plain) -> bool:
    reference = volume["spec"].get("claimRef")
    if not reference:
        return False
    if objects.name_of(claim) != reference.get("name") or objects.namespace_of(claim) != reference.get("namespace"):
        return False
    return not reference.get("uid") or reference["uid"] == objects.uid_of(claim)


def check_volume_mode_mismatches(claim: Plain, volume: Plain) -> bool:
    return (claim["spec"].get("volumeMode") or "Filesystem") != (volume["spec"].get("volumeMode") or "Filesystem")


def check_access_modes(claim: Plain, volume: Plain) -> bool:
    return set(claim["spec"].get("accessModes") or []) <= set(volume["spec"].get("accessModes") or [])


def check_node_affinity(volume: Plain, node: NodeInfo) -> bool:
    """Whether the volume can be reached from a node. Only labels are looked at: field requirements always hold."""
    required = (volume["spec"].get("nodeAffinity") or {}).get("required")
    if required is None:
        return True
    return selectors.match_node_selector(required, {"metadata": {"labels": node.labels}})


def match_topology_selector_terms(terms: list[Plain], labels: dict[str, str]) -> bool:
    if not terms:
        return True
    for term in terms:
        expressions = term.get("matchLabelExpressions") or []
        if expressions and all(labels.get(item["key"]) in (item.get("values") or []) for item in expressions):
            return True
    return False


def capacity_sufficient(capacity: Plain, size_bytes: int) -> bool:
    limit = capacity.get("maximumVolumeSize")
    if limit is None:
        limit = capacity.get("capacity")
    return limit is not None and requests.value("storage", requests.parse(limit)) >= size_bytes


def node_has_access(node: NodeInfo, capacity: Plain) -> bool:
    """Whether the capacity is the node's; one without a topology is nobody's."""
    topology = capacity.get("nodeTopology")
    if topology is None:
        return False
    return selectors.label_selector_as_selector(topology).matches(node.labels)
