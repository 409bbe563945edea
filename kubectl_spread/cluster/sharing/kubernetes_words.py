"""Words that Kubernetes itself uses. They reveal nothing about a cluster, so redaction leaves them."""

from __future__ import annotations

# Values of labels and annotations, and names of objects that every cluster has.
VALUES = frozenset(
    """
    ON_DEMAND SPOT amd64 arm arm64 control-plane default false fargate kube-node-lease kube-public kube-system
    linux master no on-demand ppc64le rbd s390x spot system-cluster-critical system-node-critical true windows
    yes
    """.split()  # noqa: SIM905 (a list that is read as words)
) | {""}

# Who writes events.
COMPONENTS = frozenset(
    """
    default-scheduler kubelet cluster-autoscaler karpenter deployment-controller replicaset-controller
    statefulset-controller daemonset-controller daemon-controller job-controller cronjob-controller
    replication-controller persistentvolume-controller node-controller horizontal-pod-autoscaler
    """.split()  # noqa: SIM905
)

FINALIZERS = frozenset(
    """
    foregroundDeletion orphan kubernetes kubernetes.io/pvc-protection kubernetes.io/pv-protection
    batch.kubernetes.io/job-tracking service.kubernetes.io/load-balancer-cleanup
    """.split()  # noqa: SIM905
)

# Fields with one word of a fixed list, and these words.
FIELDS_OF_WORDS = frozenset(
    """
    accessModes action completionMode effect nodeAffinityPolicy nodeTaintsPolicy operator phase podManagementPolicy
    podReplacementPolicy preemptionPolicy protocol restartPolicy scopeName scopes status type
    unhealthyPodEvictionPolicy volumeBindingMode volumeMode whenUnsatisfiable
    """.split()  # noqa: SIM905
)
WORDS = frozenset(
    """
    Active AlwaysAllow Always Available BestEffort Block Bound Container Count CrossNamespacePodAffinity DoesNotExist
    DoNotSchedule Equal Exists FailIndex FailJob Failed False Filesystem Gt Honor IfHealthyBudget Ignore Immediate In
    InPlaceIfPossible InPlaceOnly Indexed Lost Lt Never NoExecute NoSchedule NonIndexed Normal NotBestEffort NotIn
    NotTerminating OnDelete OnFailure OrderedReady Parallel Pending PersistentVolumeClaim Pod PreemptLowerPriority
    PreferNoSchedule PriorityClass ReCreate ReadOnlyMany ReadWriteMany ReadWriteOnce ReadWriteOncePod Recreate Released
    Restart RestartAllContainers Rolling RollingUpdate Running SCTP ScheduleAnyway Succeeded TCP Terminating
    TerminatingOrFailed True UDP Unknown VolumeAttributesClass WaitForFirstConsumer Warning
    """.split()  # noqa: SIM905
)
# Fields with times, and with lists of numbers.
FIELDS_OF_TIMES = frozenset(
    """
    completedIndexes creationTimestamp deletionTimestamp deprecatedLastTimestamp eventTime firstTimestamp
    lastObservedTime lastTimestamp lastTransitionTime startTime
    """.split()  # noqa: SIM905
)

# Types of conditions, of all kinds that a snapshot holds.
CONDITION_TYPES = frozenset(
    """
    AllContainersRestarting Available Bound Complete ContainersReady DiskPressure DisruptionAllowed DisruptionTarget
    Failed FailureTarget FileSystemResizePending Initialized MemoryPressure ModifyVolumeError ModifyingVolume
    NamespaceContentRemaining NamespaceDeletionContentFailure NamespaceDeletionDiscoveryFailure
    NamespaceDeletionGroupVersionParsingFailure NamespaceFinalizersRemaining NetworkUnavailable PIDPressure
    PodReadyToStartContainers PodResizeInProgress PodResizePending PodScheduled Progressing Ready ReplicaFailure
    Resizing ScalingActive ScalingLimited AbleToScale SuccessCriteriaMet Suspended
    """.split()  # noqa: SIM905
)

# Reasons of conditions and events, of Kubernetes' own components and of the well-known autoscalers.
REASONS = frozenset(
    """
    BackOff BackoffLimitExceeded CompletionsReached ContainersNotInitialized ContainersNotReady ContainerCreating
    CrashLoopBackOff Created DaemonSetDaemonPodNotScheduled DeadlineExceeded Deferred DeletingNode
    DeletionByDeviceTaintManager DeletionByPodGC DeletionByTaintManager DeploymentPaused DeploymentResumed
    DisruptionBlocked Evicted EvictionByEvictionAPI ExternalProvisioning FailedAttachVolume FailedBinding
    FailedCreate FailedDaemonPod FailedDelete FailedMount FailedNominate FailedPlacement FailedPostStartHook
    FailedScheduling FailedToCreateRoute FoundNewReplicaSet Infeasible InsufficientPods InvalidSelector
    InvalidConfiguration IssueJSONPatch Killing MinimumReplicasAvailable MinimumReplicasUnavailable
    NewReplicaSetAvailable NewReplicaSetCreated NewReplicaSetReason NodeControllerEviction NodeHasDiskPressure
    NodeNotReady NodeNotSchedulable NodeReady NodeSchedulable NodeShutdown NoPods NoControllers NotTriggerScaleUp
    Nominated PodCompleted PodFailed PodFailurePolicy PodNotScheduled Preempted PreemptionByScheduler
    ProgressDeadlineExceeded Provisioning ProvisioningFailed ProvisioningSucceeded Pulled Pulling QuotaExceeded
    ReplicaSetCreateError ReplicaSetUpdated RecreatingFailedPod RecreatingTerminatedPod Scheduled ScaleDown ScaledDown
    ScalingReplicaSet SchedulerError SchedulingGated Started SufficientPods SuccessfulAttachVolume SuccessfulCreate
    SuccessfulDelete TaintManagerEviction TerminationByKubelet TriggeredScaleUp Unhealthy Unschedulable
    VolumeBinding WaitForFirstConsumer WaitForPodScheduled
    """.split()  # noqa: SIM905
)

# Words of messages.
MESSAGE_WORDS = frozenset(
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
