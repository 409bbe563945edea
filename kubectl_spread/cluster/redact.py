"""Redaction of snapshots: names are replaced so that the scheduler decides the same.

Every string has one replacement everywhere, so that selectors select the same pods and references still hold.
Replacements of one category are in the order of the names, because the scheduler sorts by name: `node-07` comes before
`node-08`. A name that is made of others is made of their replacements: `statefulset-1-0`.

These stay: keys of labels, taints and resources; kinds, drivers, provisioners, names of schedulers; numbers and times;
Kubernetes' own words, in messages, too. All other strings are replaced, in unforeseen fields, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Optional

from kubectl_spread.cluster.shapes import fields_of, SHAPES
from kubectl_spread.containers import grouped
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import fields, mappings, Plain, rows
from kubectl_spread.objects.reading.read import normalized_image
from kubectl_spread.objects.selectors import HOSTNAME, NAMESPACE_NAME, REGION, ZONE
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.objects.workloads.workload import REVISION_LABEL_OF

_WELL_KNOWN_ADDRESSES = frozenset({"", "0.0.0.0", "::", "127.0.0.1", "::1"})  # noqa: S104 (the API's meaning of no IP)
_SHORT_NUMBER = re.compile(r"[+-]?[0-9]{1,4}\Z")
_NUMBER = re.compile(r"[+-]?[0-9]+\Z")

# Values of labels and annotations, and names of objects that every cluster has.
_VALUES = frozenset(
    """
    ON_DEMAND SPOT amd64 arm arm64 control-plane default false fargate kube-node-lease kube-public kube-system
    linux master no on-demand ppc64le rbd reserved s390x spot system-cluster-critical system-node-critical true windows
    yes
    """.split()  # noqa: SIM905 (a list that is read as words)
) | {""}


# Words of messages.
_MESSAGE_WORDS = frozenset(
    """
    0 [nodeaffinity a able add admission affinity after all allocatable allocate allowed already an and
    annotation anti-affinity any are as at attach available back-off backoff be because been bind binding
    blocked bound but by can cannot capacity change claim claims class cluster condition conditions conflict
    connection constraint constraint(s) constraints container controller cordoned could count cpu create created
    creating creation daemonset daemonsets deadline deallocate declared default definition deleted deleting
    denied deployment detached did didn't disk disruption does domain domains driver due each eligible empty
    enforced enough ephemeral ephemeral-storage error errors evicted eviction exceeded existing exists expected
    extended external failed fails false fields file find first for forbidden found free from gate gates gib
    group had has have helpful host hostname http https if ignored image immediate in incoming incorrect
    insufficient internal invalid io is it its job jobs key kind kubelet label labels limit limit: limited
    limits list lost many match matched matches max maximum memory message method mi minimum missing mount
    mounted must name named namespace needs network new no node node(s) nodeaffinity nodeaffinity] nodename
    nodes nodeselector non-empty none not not-ready number object of on only operation or other out owner patch
    pending persistent persistent_volume persistentvolume persistentvolume's persistentvolumeclaim
    persistentvolumeclaims plugin(s) pod pod's pods pods' policy port ports preempt preempted preemption
    preemptionpolicy preemptionpolicy=never priority process progress provision provisioned provisioning quota
    reached ready reason refused reject rejected replica replicas replicaset request requested requests required
    requirement requirements resource resourcequota resources restricted retry rule rules running satisfied
    satisfy schedulable schedule scheduled scheduler scheduling security see selected selector server service
    set should single single-node size skip skipped slots sorted spec specified spread started state statefulset
    status still stopped storage storageclass store succeeded successful successfully synced taint taint(s)
    taints template that the them there these this time timed timeout to tolerate tolerated tolerates too
    topology topologykey true type unable unavailable unbound undefined unexpected unhealthy unknown unreachable
    unresolvable unschedulable until untolerated update used user using valid value values version victim
    victims volume volumes wait waiting was webhook were when which while will with within without would zone
    zones
    """.split()  # noqa: SIM905 (a list that is read as words)
)

# Of a name that is several things, the first counts.
_ORDER = """
    node node-pool namespace workload pod claim volume storage-class priority-class zone region revision image disk uid
    value
    """.split()  # noqa: SIM905 (a list that is read as words)
_RANKS = {category: at for at, category in enumerate(_ORDER)}

_WORD = re.compile(r"[A-Za-z0-9_.:/@+%'()-]+")
_EDGES = ".,:;'()"


def redact_objects(objects: Iterable[Plain]) -> Iterator[Plain]:
    """Replace the names in objects that were pruned."""
    every = list(objects)
    names = _Names(every)
    for plain in every:
        yield replace_strings(plain, names.of)


class _Names:
    """The replacement of every string."""

    def __init__(self, objects: list[Plain]) -> None:
        self._category: dict[str, str] = {}
        self._compared: set[str] = set()  # label keys whose values are compared as numbers
        self._values: dict[str, set[str]] = {}  # by label key
        self._keys: set[str] = set()
        self._workloads: set[str] = set()
        self._claim_templates: set[str] = set()
        self._composed: dict[str, tuple[str, ...]] = {}  # the names that a name is composed of, if an object shows them
        self._known: dict[str, str] = {}
        for plain in objects:
            self._look_at(plain)
        self._assign()

    def of(self, role: str, text: str) -> str:
        """Return the replacement of a string."""
        if role == "message":
            return _WORD.sub(lambda match: self._word(match[0]), text)
        return self._known.get(text, text)

    def _look_at(self, plain: Plain) -> None:
        kind, metadata = str(plain.get("kind")), fields(plain, "metadata")
        if kind in KINDS and kind not in ("Pod", "PodTemplate"):
            self._workloads.add(metadata.get("name") or "")
        owners = mappings(metadata.get("ownerReferences"))
        self._workloads |= {item.get("name") or "" for item in owners if item.get("kind") != "Node"}
        spec = fields(plain, "spec")
        if kind == "Pod":
            self._look_at_pod(metadata, spec)
        for template in mappings(spec.get("volumeClaimTemplates")):
            self._claim_templates.add(fields(template, "metadata").get("name") or "")
        replace_strings(plain, self._collect)

    def _look_at_pod(self, metadata: Plain, spec: Plain) -> None:
        """Note which names contain the pod's name, and which names the pod's name consists of."""
        name, prefix = metadata.get("name") or "", metadata.get("generateName") or ""
        if prefix.endswith("-") and name.startswith(prefix) and len(name) > len(prefix):
            self._composed[name] = prefix[:-1], name[len(prefix) :]
            self._note("pod", name[len(prefix) :])
        for volume in mappings(spec.get("volumes")):
            claim = fields(volume, "persistentVolumeClaim").get("claimName") or ""
            if volume.get("ephemeral") is not None:
                made_for = name, volume.get("name") or ""
                self._composed["-".join(made_for)] = made_for
            elif name and claim.endswith(f"-{name}"):
                self._composed[claim] = claim[: -len(name) - 1], name
                self._note("claim", claim[: -len(name) - 1])

    def _collect(self, role: str, text: str) -> str:
        if role == "key":
            self._keys.add(text)
        elif role.startswith("compared:"):
            self._compared.add(role.partition(":")[2])
        elif role.startswith("label:"):
            key = role.partition(":")[2]
            self._values.setdefault(key, set()).add(text)
            self._note(ROLE_OF_LABEL.get(key, "value"), text)
        elif role != "message":
            self._note(role, text)
        return text

    def _note(self, category: str, text: str) -> None:
        known = self._category.get(text)
        if known is None or _RANKS.get(category, len(_RANKS)) < _RANKS.get(known, len(_RANKS)):
            self._category[text] = category

    def _assign(self) -> None:
        made = {text: parts for text in self._category if (parts := self._parts(text)) is not None}
        for parts in made.values():
            for part in parts:
                self._category.setdefault(part, "revision")
        # Each string is replaced by its category and a number, unless it is made of others, or reveals nothing.
        stays = _VALUES | {text for key in self._compared for text in self._values.get(key, ()) if _NUMBER.match(text)}
        by_category = grouped(
            (category, text)
            for text, category in self._category.items()
            if (text not in made or category == "node")
            and text not in (_WELL_KNOWN_ADDRESSES if category == "address" else stays)
            and not (_SHORT_NUMBER.match(text) and category not in ("node", "address"))
        )
        for category, texts in by_category.items():
            width = len(str(len(texts)))
            tag = ":1" if category == "image" else ""  # so that no tag is added
            for number, text in enumerate(sorted(texts), 1):
                self._known[text] = f"{category}-{number:0{width}d}{tag}"
        for text in sorted(made, key=len):
            if self._category[text] != "node":
                self._known[text] = "-".join(self._known.get(part, part) for part in made[text])

    def _parts(self, text: str) -> Optional[tuple[str, ...]]:
        """Return the names that a name is made of: workload, number or revision, claim template."""
        if text in self._composed:
            return self._composed[text]
        before, dash, last = text.rpartition("-")
        if not dash or text in self._claim_templates:
            return None
        is_number = last.isdecimal() and len(last) <= 4
        is_revision = "revision" in (self._category.get(last), self._category.get(text))
        if before in self._workloads and (is_number or is_revision):
            return before, last
        if is_number:
            outer = before.rpartition("-")
            if outer[0] in self._workloads and outer[2].isdecimal():
                return outer[0], outer[2], last
            for template in self._claim_templates:
                if before.startswith(f"{template}-") and before[len(template) + 1 :] in self._workloads:
                    return template, before[len(template) + 1 :], last
        return None

    def _word(self, word: str) -> str:
        """Return a word of a message: Kubernetes' own words stay, names are replaced, all other words are hidden."""
        bare = word.strip(_EDGES)
        if not bare or word.lower() in _MESSAGE_WORDS or bare.lower() in _MESSAGE_WORDS or bare in self._keys:
            return word
        if re.fullmatch(r"[0-9./]+(?:[mkMGTPE]i?)?", bare):
            return word
        at = word.index(bare)
        return f"{word[:at]}{self._known.get(bare, 'redacted')}{word[at + len(bare) :]}"


Replace = Callable[[str, str], str]  # from the role of a string and the string to its replacement

_PERCENT = re.compile(r"[0-9]+%\Z")

# The kind of name in a label's value, by the label's key; by default `value`.
ROLE_OF_LABEL = {
    HOSTNAME: "node",
    NAMESPACE_NAME: "namespace",
    "karpenter.sh/nodepool": "node-pool",
    **dict.fromkeys((ZONE, "failure-domain.beta.kubernetes.io/zone"), "zone"),
    **dict.fromkeys((REGION, "failure-domain.beta.kubernetes.io/region"), "region"),
    "statefulset.kubernetes.io/pod-name": "pod",
    **dict.fromkeys(REVISION_LABEL_OF.values(), "revision"),
    "controller-revision-hash": "revision",
}
_ZONES = ("zone", "region")
_MAPS_OF_LABELS = ("labels", "matchLabels", "nodeSelector", "annotations", "selector")
_OF_KINDS = {
    "Node": "node",
    "CSINode": "node",
    "Namespace": "namespace",
    "Pod": "pod",
    "PersistentVolumeClaim": "claim",
    "PersistentVolume": "volume",
    "StorageClass": "storage-class",
    "PriorityClass": "priority-class",
    "RuntimeClass": "runtime-class",
    "CSIDriver": "",  # stays
}

# The kind of name in a string, and its fields; for a field of one Go type only, with the type. A string without a role
# is a `value`, so that it is replaced. Roles in `_KEPT` keep Kubernetes' own words and replace all others. Strings of
# the first line stay: keys, resources, kinds, drivers and schedulers.
_ROLES = {
    field: role
    for role, fields in rows(
        """\
: CSINodeDriver.name CSIPersistentVolumeSource.driver CrossVersionObjectReference.apiVersion
  CrossVersionObjectReference.kind DeviceClassSpec.extendedResourceName LabelSelectorRequirement.key
  NodeClassReference.apiVersion NodeClassReference.group NodeClassReference.kind NodeSelectorRequirement.key
  NodeSelectorRequirementWithMinValues.key NodeStatus.declaredFeatures NodeSystemInfo.kubeletVersion
  ObjectReference.kind OwnerReference.apiVersion OwnerReference.kind PodAffinityTerm.matchLabelKeys
  PodAffinityTerm.mismatchLabelKeys PodAffinityTerm.topologyKey PodSpec.schedulerName StorageClass.provisioner
  Taint.key Toleration.key TopologySelectorLabelRequirement.key TopologySpreadConstraint.matchLabelKeys
  TopologySpreadConstraint.topologyKey
prefix: ObjectMeta.generateName
message: message note
namespace: namespace namespaces
node: nodeName nominatedNodeName
uid: uid
volume: volumeName persistentVolumeName
storage-class: storageClassName
priority-class: priorityClassName ScopedResourceSelectorRequirement.values
runtime-class: runtimeClassName
claim: claimName
revision: updateRevision currentPodHash
address: hostIP
asked image: image reference
image: ContainerImage.names
disk: RBDVolumeSource.image pdName volumeID diskURI iqn volumeHandle monitors
zone: Subnet.zone
mount: Volume.name
container: Container.name ContainerStatus.name
gate: PodSchedulingGate.name
component: component reportingComponent reportingController
finalizer: finalizers
reason: reason
condition: Condition.type PodCondition.type PodFailurePolicyOnPodConditionsPattern.type
word: accessModes action completionMode effect nodeAffinityPolicy nodeTaintsPolicy operator phase podManagementPolicy
  podReplacementPolicy preemptionPolicy protocol restartPolicy scopeName scopes status type
  unhealthyPodEvictionPolicy volumeBindingMode volumeMode whenUnsatisfiable
time: completedIndexes creationTimestamp deletionTimestamp deprecatedLastTimestamp eventTime firstTimestamp
  lastObservedTime lastTimestamp lastTransitionTime startTime
"""
    )
    for field in fields.split()
}
# The words that stay, by kind of name: who writes events; reasons and conditions of Kubernetes' own components and of
# the well-known autoscalers.
_KEPT = {
    role: frozenset(words.split())
    for role, words in rows(
        """\
component: default-scheduler kubelet cluster-autoscaler karpenter deployment-controller replicaset-controller
  statefulset-controller daemonset-controller daemon-controller job-controller cronjob-controller
  replication-controller persistentvolume-controller node-controller horizontal-pod-autoscaler
finalizer: foregroundDeletion orphan kubernetes kubernetes.io/pvc-protection kubernetes.io/pv-protection
  batch.kubernetes.io/job-tracking service.kubernetes.io/load-balancer-cleanup
word: Active AlwaysAllow Always Available BestEffort Block Bound Container Count CrossNamespacePodAffinity
  DoesNotExist DoNotSchedule Equal Exists FailIndex FailJob Failed False Filesystem Gt Gte Honor IfHealthyBudget
  Ignore Immediate In InPlaceIfPossible InPlaceOnly Indexed Lost Lt Lte Never NoExecute NoSchedule NonIndexed Normal
  NotBestEffort NotIn NotTerminating OnDelete OnFailure OrderedReady Parallel Pending PersistentVolumeClaim Pod
  PreemptLowerPriority PreferNoSchedule PriorityClass ReCreate ReadOnlyMany ReadWriteMany ReadWriteOnce
  ReadWriteOncePod Recreate Released Restart RestartAllContainers Rolling RollingUpdate Running SCTP ScheduleAnyway
  Succeeded TCP Terminating TerminatingOrFailed True UDP Unknown VolumeAttributesClass WaitForFirstConsumer Warning
condition: AllContainersRestarting Available Bound Complete ContainersReady DiskPressure DisruptionAllowed
  DisruptionTarget Failed FailureTarget FileSystemResizePending Initialized InstanceTerminating MemoryPressure
  ModifyVolumeError ModifyingVolume NamespaceContentRemaining NamespaceDeletionContentFailure
  NamespaceDeletionDiscoveryFailure NamespaceDeletionGroupVersionParsingFailure NamespaceFinalizersRemaining
  NetworkUnavailable PIDPressure PodReadyToStartContainers PodResizeInProgress PodResizePending PodScheduled
  Progressing Ready ReplicaFailure Resizing ScalingActive ScalingLimited AbleToScale SuccessCriteriaMet Suspended
reason: BackOff BackoffLimitExceeded CompletionsReached ContainersNotInitialized ContainersNotReady ContainerCreating
  CrashLoopBackOff Created DaemonSetDaemonPodNotScheduled DeadlineExceeded Deferred DeletingNode
  DeletionByDeviceTaintManager DeletionByPodGC DeletionByTaintManager DeploymentPaused DeploymentResumed
  DisruptionBlocked Evicted EvictionByEvictionAPI ExternalProvisioning FailedAttachVolume FailedBinding FailedCreate
  FailedDaemonPod FailedDelete FailedMount FailedNominate FailedPlacement FailedPostStartHook FailedScheduling
  FailedToCreateRoute FoundNewReplicaSet Infeasible InsufficientPods InvalidSelector InvalidConfiguration
  IssueJSONPatch Killing MinimumReplicasAvailable MinimumReplicasUnavailable NewReplicaSetAvailable
  NewReplicaSetCreated NewReplicaSetReason NodeControllerEviction NodeHasDiskPressure NodeNotReady NodeNotSchedulable
  NodeReady NodeSchedulable NodeShutdown NoPods NoControllers NotTriggerScaleUp Nominated PodCompleted PodFailed
  PodFailurePolicy PodNotScheduled Preempted PreemptionByScheduler ProgressDeadlineExceeded Provisioning
  ProvisioningFailed ProvisioningSucceeded Pulled Pulling QuotaExceeded ReplicaSetCreateError ReplicaSetUpdated
  RecreatingFailedPod RecreatingTerminatedPod Scheduled ScaleDown ScaledDown ScalingReplicaSet SchedulerError
  SchedulingGated Started SufficientPods SuccessfulAttachVolume SuccessfulCreate SuccessfulDelete TaintManagerEviction
  TerminationByKubelet TriggeredScaleUp Unhealthy Unschedulable VolumeBinding WaitForFirstConsumer WaitForPodScheduled
"""
    )
}
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,18}Z|[0-9]+(?:[-,][0-9]+)*")
_CODES = re.compile(r"SPR[0-9]*(?:,SPR[0-9]*)*")


def replace_strings(plain: Plain, replace: Replace) -> Plain:
    """Return an object of a known kind with its strings replaced."""
    kind = str(plain.get("kind"))
    found = _walk(
        {key: item for key, item in plain.items() if key not in ("kind", "apiVersion")}, SHAPES[kind], kind, replace
    )
    named: Plain = {key: plain[key] for key in ("apiVersion", "kind") if key in plain}
    return {**named, **found}


def _walk(value: Any, shape: decode.Shape, role: str, replace: Replace) -> Any:
    """Return a value with its strings replaced.

    Args:
        value: decodes as `shape`.
        shape: its type.
        role: the kind of name that a string is; for an object, its kind.
        replace: returns the replacement of a string, by its role.
    """
    if value is None:
        return None
    if isinstance(shape, decode.ListOf):
        return [_walk(item, shape.item, role, replace) for item in value]
    if isinstance(shape, decode.Struct):
        return _struct(value, shape, role, replace)
    if isinstance(shape, decode.MapOf):
        return _map(value, shape, role, replace)
    if isinstance(value, str) and shape is not decode.Atom.QUANTITY:
        return _string(value, shape, role, replace)
    if isinstance(value, (dict, list)):  # of any type: it only matters whether it is there
        return {} if isinstance(value, dict) else [{} for _ in value]
    return value


def _string(text: str, shape: decode.Atom, role: str, replace: Replace) -> str:
    if not role:
        replace("key", text)
        return text
    if shape is decode.Atom.ANY and _PERCENT.match(text):
        return text
    if role == "prefix":
        return f"{replace('workload', text[:-1])}-" if text.endswith("-") else replace("workload", text)
    if role == "asked image":
        return replace("image", normalized_image(text))
    if role == "disk" and text.startswith("aws://"):
        text = text.rpartition("/")[2]
    if text in _KEPT.get(role, ()) or (role == "time" and _TIME.fullmatch(text)):
        return text
    return replace("value" if role in ("word", "time") else role, text)


def _map(value: Plain, shape: decode.MapOf, role: str, replace: Replace) -> Plain:
    """Return a mapping; only labels, annotations and amounts of resources keep their keys."""
    if role == "disruptedPods":
        return {replace("pod", key): None for key in value}
    if role not in _MAPS_OF_LABELS and shape.value is not decode.Atom.QUANTITY:
        return {replace("value", key): _walk(item, shape.value, "value", replace) for key, item in value.items()}
    for key in value:
        replace("key", key)
    if shape.value is decode.Atom.QUANTITY:
        return value
    if role == "annotations":
        return {key: _annotation(key, text or "", replace) for key, text in value.items()}
    return {key: _label(key, text or "", replace) for key, text in value.items()}


def _label(key: str, text: str, replace: Replace) -> str:
    """Return the replaced value of a label; a volume's may name several zones."""
    if ROLE_OF_LABEL.get(key) in _ZONES and "__" in text:
        return "__".join(replace(f"label:{key}", part) for part in text.split("__"))
    return replace(f"label:{key}", text)


def _annotation(key: str, text: str, replace: Replace) -> str:
    if key.endswith("/selected-node"):
        return replace("node", text)
    if key.endswith("/storage-class"):
        return replace("storage-class", text)
    if key.endswith("/ignore"):
        codes = _CODES.match(text)
        return " ".join(filter(None, (codes[0] if codes else "", "redacted" if " " in text else "")))
    return text if text in _VALUES or _NUMBER.match(text) else replace("value", text)


def _struct(value: Plain, shape: decode.Struct, role: str, replace: Replace) -> Plain:
    fields = fields_of(shape)
    found: Plain = {}
    key = value.get("key") if isinstance(value.get("key"), str) else None
    if value.get("operator") in ("Gt", "Gte", "Lt", "Lte"):
        replace(f"compared:{key}", "")
    for field, item in value.items():
        if field == "values" and isinstance(item, list):
            is_field = key == "metadata.name" and shape.name == "NodeSelectorRequirement"
            found[field] = [replace("node", text) if is_field else _label(key or "", text, replace) for text in item]
        elif field in (*_MAPS_OF_LABELS, "disruptedPods"):
            found[field] = _walk(item, fields[field], field, replace)
        else:
            found[field] = _walk(item, fields[field], _role(shape.name, field, role, value), replace)
    return found


def _role(struct: str, field: str, role: str, value: Plain) -> str:
    name = f"{struct}.{field}"
    if name == "ObjectMeta.name":
        return _of_kind(role)
    if struct in ("OwnerReference", "ObjectReference", "CrossVersionObjectReference") and field == "name":
        return _of_kind(str(value.get("kind") or "PersistentVolumeClaim"))
    if field in ("metadata", "spec", "template", "jobTemplate"):
        return "Pod" if field == "template" else role  # of templates, which may name their pods
    return _ROLES.get(name, _ROLES.get(field, "value"))


def _of_kind(kind: str) -> str:
    if kind in _OF_KINDS:
        return _OF_KINDS[kind]
    return "workload" if kind in KINDS else re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind).lower() or "value"
