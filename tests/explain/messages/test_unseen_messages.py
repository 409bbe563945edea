"""Messages in the forms of many components: who wrote each part, and that nothing of them is left unread.

Each was written in the words of the component's source, and its answer was read by a person.
"""

from __future__ import annotations

import pytest

from kubectl_spread.explain.messages.parse import parse_all

# ruff: noqa: E501 (messages are kept as they are printed)
MESSAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "describe": (
        "Name:             api-5d8f6c9b7-x2lkq\nNamespace:        prod\nPriority:         0\nService Account:  default\nNode:             <none>\nLabels:           app=api\n                  pod-template-hash=5d8f6c9b7\nAnnotations:      <none>\nStatus:           Pending\nIP:\nIPs:              <none>\nControlled By:    ReplicaSet/api-5d8f6c9b7\nContainers:\n  api:\n    Image:      ghcr.io/acme/api:1.2.3\n    Port:       8080/TCP\n    Limits:\n      cpu:     2\n    Requests:\n      cpu:        2\n      memory:     4Gi\n    Environment:  <none>\n    Mounts:\n      /var/run/secrets/kubernetes.io/serviceaccount from kube-api-access-8j2mn (ro)\nConditions:\n  Type           Status\n  PodScheduled   False\nVolumes:\n  kube-api-access-8j2mn:\n    Type:                    Projected (a volume that contains injected data from multiple sources)\n    TokenExpirationSeconds:  3607\nQoS Class:       Burstable\nNode-Selectors:  disk=ssd\nTolerations:     node.kubernetes.io/not-ready:NoExecute op=Exists for 300s\n                 node.kubernetes.io/unreachable:NoExecute op=Exists for 300s\nTopology Spread Constraints:  topology.kubernetes.io/zone:DoNotSchedule when max skew 1 is exceeded for selector app=api\nEvents:\n  Type     Reason             Age                  From                Message\n  ----     ------             ----                 ----                -------\n  Warning  FailedScheduling   4m12s (x3 over 14m)  default-scheduler   0/9 nodes are available: 3 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 4 node(s) didn't match Pod's node affinity/selector, 2 node(s) didn't match pod topology spread constraints. preemption: 0/9 nodes are available: 2 No preemption victims found for incoming pod, 7 Preemption is not helpful for scheduling.\n  Normal   NotTriggerScaleUp  2m (x12 over 14m)    cluster-autoscaler  pod didn't trigger scale-up: 1 max node group size reached, 2 node(s) didn't match Pod's node affinity/selector\n",
        ("kube-scheduler nodes", "cluster-autoscaler notScaled"),
    ),
    "wrapped": (
        "0/12 nodes are available: 3 node(s) had untolerated\ntaint {dedicated: gpu}, 5 Insufficient\nmemory, 4 node(s) didn't match pod anti-affinity\nrules. preemption: 0/12 nodes are available: 3\nPreemption is not helpful for scheduling, 9 No\npreemption victims found for incoming pod.",
        ("kube-scheduler nodes",),
    ),
    "json-cond": (
        '"conditions": [\n  {\n    "lastProbeTime": null,\n    "lastTransitionTime": "2026-10-01T09:00:00Z",\n    "message": "0/4 nodes are available: 4 node(s) didn\'t satisfy existing pods anti-affinity rules. preemption: 0/4 nodes are available: 4 No preemption victims found for incoming pod.",\n    "reason": "Unschedulable",\n    "status": "False",\n    "type": "PodScheduled"\n  }\n]',
        ("kube-scheduler nodes",),
    ),
    "json-escaped": (
        '{"severity":"WARNING","message":"pod unschedulable: \\"0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu. preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.\\""}',
        ("kube-scheduler nodes",),
    ),
    "volcano": (
        "Warning  Unschedulable  12s (x9 over 3m)  volcano  3/5 tasks in gang unschedulable: pod group is not ready, 2 Pending, 3 Unschedulable, 5 minAvailable; Pending: 2 Undetermined, 3 Unschedulable",
        ("Volcano gang",),
    ),
    "volcano-pod": (
        "Warning  FailedScheduling  2m  volcano  0/8 nodes are unavailable: 2 node(s) had untolerated taint {nvidia.com/gpu: present}, 6 Insufficient nvidia.com/gpu.",
        ("Volcano nodes",),
    ),
    "volcano-all": (
        "all nodes are unavailable: 3 node(s) resource fit failed, 2 plugin predicates predicates failed node(s) didn't match Pod's node affinity/selector.",
        ("Volcano nodes",),
    ),
    "ca1": (
        "pod didn't trigger scale-up (it wouldn't fit if a new node is added): 2 node(s) had untolerated taint {dedicated: batch}, 1 Insufficient cpu, 1 in backoff after failed scale-up",
        ("cluster-autoscaler notScaled",),
    ),
    "ca2": (
        "Normal NotTriggerScaleUp 45s (x30 over 10m) cluster-autoscaler pod didn't trigger scale-up: 2 max node group size reached",
        ("cluster-autoscaler notScaled",),
    ),
    "ca3": (
        "I1001 09:00:00.000000       1 klogx.go:87] Pod prod/api-5d8f6c9b7-x2lkq is unschedulable\nI1001 09:00:00.100000       1 orchestrator.go:546] Pod prod/api-5d8f6c9b7-x2lkq can't be scheduled on pool-a, predicate checking error: node(s) didn't match pod topology spread constraints; predicateName=PodTopologySpread; reasons: node(s) didn't match pod topology spread constraints; debugInfo=\nI1001 09:00:00.200000       1 orchestrator.go:157] No pod can fit to pool-a",
        ("cluster-autoscaler predicate", "cluster-autoscaler groupRefuses"),
    ),
    "ca4": (
        "Normal TriggeredScaleUp 30s cluster-autoscaler pod triggered scale-up: [{eks-workers-1 3->4 (max: 10)}]",
        ("cluster-autoscaler scaledUp",),
    ),
    "karp1": (
        'Warning  FailedScheduling  3m51s  karpenter  Failed to schedule pod, incompatible with nodepool "default", daemonset overhead={"cpu":"180m","memory":"120Mi","pods":"4"}, incompatible requirements, key topology.kubernetes.io/zone, topology.kubernetes.io/zone In [eu-west-1d] not in topology.kubernetes.io/zone In [eu-west-1a eu-west-1b eu-west-1c]',
        ("Karpenter karpenterPool", "Karpenter karpenterRequirements"),
    ),
    "karp2": (
        'incompatible with nodepool "gpu", daemonset overhead={"cpu":"100m","pods":"3"}, did not tolerate nvidia.com/gpu=present:NoSchedule; incompatible with nodepool "general", daemonset overhead={"cpu":"100m","pods":"3"}, no instance type satisfied resources {"cpu":"200100m","memory":"64Gi","pods":"4"} and requirements karpenter.sh/capacity-type In [on-demand], kubernetes.io/arch In [amd64] (no instance type has enough resources)',
        (
            "Karpenter karpenterPool",
            "Karpenter karpenterTaint",
            "Karpenter karpenterPool",
            "Karpenter karpenterInstance",
            "Karpenter karpenterFits",
        ),
    ),
    "karp3": (
        '{"level":"ERROR","time":"2026-09-30T10:11:12.131Z","logger":"controller","message":"could not schedule pod","commit":"abc123","controller":"provisioner","Pod":{"name":"web-0","namespace":"shop"},"error":"all available instance types exceed limits for nodepool: \\"default\\""}',
        ("Karpenter karpenterLimit",),
    ),
    "karp4": (
        '{"level":"ERROR","time":"2026-09-30T10:11:12.131Z","logger":"controller","message":"Reconciler error","controller":"nodepool.readiness","error":"getting nodeclass, EC2NodeClass.karpenter.k8s.aws \\"default\\" not found"}',
        ("Karpenter karpenterNoNodeClass",),
    ),
    "karp-prov": (
        'incompatible with provisioner "default", did not tolerate dedicated=x:NoSchedule',
        ("Karpenter karpenterPool", "Karpenter karpenterTaint"),
    ),
    "karp-topo": (
        'Failed to schedule pod, incompatible with nodepool "default", daemonset overhead={"cpu":"210m","pods":"5"}, unsatisfiable topology constraint for topology spread, key=topology.kubernetes.io/zone (counts = map[eu-west-1a:2 eu-west-1b:2 eu-west-1c:0], podDomains = topology.kubernetes.io/zone Exists, nodeDomains = topology.kubernetes.io/zone In [eu-west-1a eu-west-1b])',
        ("Karpenter karpenterPool", "Karpenter karpenterTopology"),
    ),
    "vol1": (
        'running PreBind plugin "VolumeBinding": binding volumes: timed out waiting for the condition',
        ("kube-scheduler volumeBindingUnnamed",),
    ),
    "vol2": (
        'running PreBind plugin "VolumeBinding": Operation cannot be fulfilled on persistentvolumeclaims "data-db-0": the object has been modified; please apply your changes to the latest version and try again',
        ("kube-scheduler pluginError",),
    ),
    "vol3": ("pod has unbound immediate PersistentVolumeClaims", ("kube-scheduler nodes",)),
    "vol4": (
        'Multi-Attach error for volume "pvc-3f1c" Volume is already exclusively attached to one node and can\'t be attached to another',
        ("kube-controller-manager multiAttach",),
    ),
    "vol5": (
        'AttachVolume.Attach failed for volume "pvc-3f1c" : rpc error: code = Internal desc = Could not attach volume "vol-0abc" to node "i-0123": attachment of disk failed, expected device to be attached but was attaching',
        ("kube-controller-manager attachFailed",),
    ),
    "vol6": (
        'Warning  ProvisioningFailed  30s  ebs.csi.aws.com_ebs-csi-controller-0  failed to provision volume with StorageClass "gp3": rpc error: code = InvalidArgument desc = Volume capabilities MULTI_NODE_MULTI_WRITER not supported',
        ("external-provisioner provisioningFailed",),
    ),
    "vol7": (
        "waiting for first consumer to be created before binding",
        ("persistentvolume-controller waitingForConsumer",),
    ),
    "vol8": (
        "0/3 nodes are available: 3 node(s) exceed max volume count. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.",
        ("kube-scheduler nodes",),
    ),
    "vol9": (
        'failed to provision volume with StorageClass "fast": error generating accessibility requirements: no available topology found',
        ("external-provisioner provisioningFailed",),
    ),
    "vol10": (
        'selectedNode annotation value "ip-10-0-1-5.eu-west-1.compute.internal" not set to scheduled node "ip-10-0-2-9.eu-west-1.compute.internal"',
        ("kube-scheduler selectedNode",),
    ),
    "vol11": (
        'prebind plugin "VolumeBinding" Failed to bind volumes: provisioning failed for PVC "data-db-0"',
        ("kube-scheduler volumeBinding",),
    ),
    "path": (
        '* spec.template.spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "DoNotschedule": supported values: "DoNotSchedule", "ScheduleAnyway"\n* spec.template.spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
        ("kube-apiserver validation", "kube-apiserver validation"),
    ),
    "quota": (
        'Error creating: pods "web-6f7c8d9b5d-" is forbidden: exceeded quota: compute, requested: requests.cpu=2, used: requests.cpu=9, limited: requests.cpu=10',
        ("kube-controller-manager quota",),
    ),
    "quota-user": (
        'Error from server (Forbidden): error when creating "pod.yaml": pods "debug" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=5, limited: pods=5',
        ("kube-apiserver quota",),
    ),
    "137": (
        "0/2 nodes are available: 2 Insufficient cpu. preemption: found a potential placement for pod on node n1, preempting 1 victims",
        ("kube-scheduler nodes",),
    ),
    "group": (
        "pod group preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.",
        ("kube-scheduler gangEvictsNone",),
    ),
    "gates": ("Scheduling is blocked due to non-empty scheduling gates", ("kube-apiserver gated",)),
    "normal": (
        'Events:\n  Type     Reason            Age   From               Message\n  ----     ------            ----  ----               -------\n  Normal   Nominated         10s   karpenter          Pod should schedule on: nodeclaim/default-abcde, node/ip-10-0-0-1\n  Warning  FailedScheduling  12s   default-scheduler  0/1 nodes are available: 1 Insufficient memory. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.\n  Normal   Scheduled         2s    default-scheduler  Successfully assigned shop/web-0 to n1\n  Normal   Pulling           1s    kubelet            Pulling image "x"',
        ("Karpenter karpenterNominated", "kube-scheduler nodes", "kube-scheduler assigned"),
    ),
    "quoted": (
        "> 0/6 nodes are available: 2 node(s) didn’t match pod topology spread constraints (missing required label), 4 node(s) didn’t match pod topology spread constraints.\n> preemption: 0/6 nodes are available: 2 Preemption is not helpful for scheduling, 4 No preemption victims found for incoming pod.",
        ("kube-scheduler nodes",),
    ),
    "dra": (
        "0/3 nodes are available: 3 cannot allocate all claims. still not schedulable, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.",
        ("kube-scheduler nodes",),
    ),
    "describe2": (
        "Name:           db-2\nNamespace:      shop\nPriority:       1000\nNode:           <none>\nLabels:         app=db\nStatus:         Pending\nControlled By:  StatefulSet/db\nConditions:\n  Type           Status\n  PodScheduled   False\nEvents:\n  Type     Reason                  Age                  From                     Message\n  ----     ------                  ----                 ----                     -------\n  Warning  FailedScheduling        5m (x2 over 6m)      default-scheduler        0/6 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling.\n  Warning  FailedScheduling        4m58s                default-scheduler        0/6 nodes are available: 2 node(s) had volume node affinity conflict, 4 node(s) didn't match pod anti-affinity rules. preemption: 0/6 nodes are available: 2 Preemption is not helpful for scheduling, 4 No preemption victims found for incoming pod.\n  Normal   NotTriggerScaleUp       4m57s                cluster-autoscaler       pod didn't trigger scale-up: 3 node(s) had volume node affinity conflict, 1 max node group size reached",
        ("kube-scheduler nodes", "kube-scheduler nodes", "cluster-autoscaler notScaled"),
    ),
    "events": (
        "LAST SEEN   TYPE      REASON              OBJECT          MESSAGE\n2m15s       Warning   FailedScheduling    pod/web-abc-1   0/3 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }, 2 Insufficient memory. preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.\n14m         Normal    SuccessfulCreate    replicaset/web-abc   Created pod: web-abc-1\n14m         Normal    ScalingReplicaSet   deployment/web  Scaled up replica set web-abc to 3 from 2",
        ("kube-scheduler nodes",),
    ),
    "event-json": (
        '{"apiVersion":"v1","count":7,"eventTime":null,"firstTimestamp":"2026-11-01T10:00:00Z","involvedObject":{"kind":"Pod","name":"x","namespace":"d"},"kind":"Event","message":"0/5 nodes are available: 5 node(s) didn\'t have free ports for the requested pod ports. preemption: 0/5 nodes are available: 5 No preemption victims found for incoming pod.","reason":"FailedScheduling","source":{"component":"default-scheduler"},"type":"Warning"}',
        ("kube-scheduler nodes",),
    ),
    "event-yaml": (
        "apiVersion: v1\nkind: Event\nmetadata: {name: x.1, namespace: d}\nreason: FailedScheduling\nmessage: '0/4 nodes are available: 1 node(s) were unschedulable, 3 node(s) didn''t match\n  pod topology spread constraints (missing required label). preemption: 0/4 nodes\n  are available: 4 Preemption is not helpful for scheduling.'\ntype: Warning",
        ("kube-scheduler nodes",),
    ),
    "ca-limits": (
        "pod didn't trigger scale-up: 2 max cluster cpu, memory limit reached, 1 not ready for scale-up",
        ("cluster-autoscaler notScaled",),
    ),
    "ca-pods": (
        "Normal  NotTriggerScaleUp  3m (x40 over 10m)  cluster-autoscaler  pod didn't trigger scale-up: 4 node(s) didn't match pod topology spread constraints, 2 Insufficient memory, 1 node(s) had untolerated taint {cloud.google.com/gke-spot: true}",
        ("cluster-autoscaler notScaled",),
    ),
    "ca-gke": (
        "Normal  TriggeredScaleUp  60s  cluster-autoscaler  pod triggered scale-up: [{https://www.googleapis.com/compute/v1/projects/p/zones/europe-west1-b/instanceGroups/gke-a-grp 1->2 (max: 5)}]",
        ("cluster-autoscaler scaledUp",),
    ),
    "ca-fail": (
        "Warning  FailedToScaleUpGroup  30s  cluster-autoscaler  Scale-up failed for group eks-spot: scale-up timed out after 15m0s",
        ("cluster-autoscaler groupFailed",),
    ),
    "ca-block": (
        "Normal  ScaleDown  8s  cluster-autoscaler  deleting pod for node scale down",
        ("cluster-autoscaler removed",),
    ),
    "karp-nopool": ("no nodepools found", ("Karpenter karpenterNoPool",)),
    "karp-weight": (
        'Warning FailedScheduling 6m karpenter Failed to schedule pod, incompatible with nodepool "spot", daemonset overhead={"cpu":"150m","memory":"240Mi","pods":"5"}, no instance type which had enough resources and the required offering met the scheduling requirements (NodePool: spot); incompatible with nodepool "arm", daemonset overhead={"cpu":"150m"}, incompatible requirements, label "team" does not have known values',
        (
            "Karpenter karpenterPool",
            "Karpenter karpenterTuple",
            "Karpenter karpenterPool",
            "Karpenter karpenterRequirements",
        ),
    ),
    "karp-filter": (
        "NodePool requirements filtered out all compatible available instance types",
        ("Karpenter karpenterTypes",),
    ),
    "karp-ice": (
        '{"level":"ERROR","time":"2026-10-30T10:11:12Z","logger":"controller","message":"failed launching nodeclaim","commit":"x","controller":"nodeclaim.lifecycle","NodeClaim":{"name":"default-9x"},"error":"insufficient capacity, with fleet error(s), InsufficientInstanceCapacity: We currently do not have sufficient c5.4xlarge capacity in the Availability Zone you requested (eu-west-1a)."}',
        ("Karpenter karpenterCapacity",),
    ),
    "karp-disrupt": (
        'Normal  DisruptionBlocked  4m  karpenter  Cannot disrupt Node: pdb "shop/web" prevents pod evictions',
        ("Karpenter karpenterDisruption",),
    ),
    "karp-min": (
        'Failed to schedule pod, incompatible with nodepool "default", daemonset overhead={"cpu":"1"}, minValues requirement is not met for label(s) (label(s)=[karpenter.k8s.aws/instance-family])',
        ("Karpenter karpenterPool", "Karpenter karpenterMinValues"),
    ),
    "mount": (
        "Warning  FailedMount  25s  kubelet  Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[]: timed out waiting for the condition",
        ("kubelet mountFailed",),
    ),
    "mount2": (
        'Warning  FailedMount  3s (x6 over 20s)  kubelet  MountVolume.SetUp failed for volume "cfg" : configmap "web-cfg" not found',
        ("kubelet mountFailed",),
    ),
    "pv": (
        "no persistent volumes available for this claim and no storage class is set",
        ("persistentvolume-controller noStorageClass",),
    ),
    "sc": ('storageclass.storage.k8s.io "fast" not found', ("persistentvolume-controller noSuchClass",)),
    "ext": (
        "Normal  ExternalProvisioning  3s (x5 over 40s)  persistentvolume-controller  Waiting for a volume to be created either by the external provisioner 'ebs.csi.aws.com' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.",
        ("persistentvolume-controller waitingForProvisioner",),
    ),
    "pvcdel": (
        '0/3 nodes are available: persistentvolumeclaim "data-db-0" is being deleted. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
        ("kube-scheduler nodes",),
    ),
    "csinode": (
        'AttachVolume.Attach failed for volume "pvc-1" : CSINode n1 does not contain driver ebs.csi.aws.com',
        ("kube-controller-manager attachFailed",),
    ),
    "vol-space": (
        "0/3 nodes are available: 3 node(s) did not have enough free storage. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
        ("kube-scheduler nodes",),
    ),
    "preempted": (
        "Normal  Preempted  10s  default-scheduler  Preempted by pod 6f1d0b1c-1111-2222-3333-444455556666 on node n1",
        ("kube-scheduler preempted",),
    ),
    "taintmgr": (
        "Normal  TaintManagerEviction  10s  taint-eviction-controller  Marking for deletion Pod shop/db-0",
        ("kube-controller-manager taintEviction",),
    ),
    "nodenotready": (
        "Warning  NodeNotReady  10s  node-controller  Node is not ready",
        ("kube-controller-manager nodeNotReady",),
    ),
    "podsec": (
        'Error creating: pods "web-1-" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false)',
        ("kube-controller-manager podSecurity",),
    ),
    "webhook": (
        'Error from server: error when creating "d.yaml": admission webhook "validate.kyverno.svc-fail" denied the request: policy Deployment/shop/web for resource violation',
        ("kube-apiserver webhookDenied",),
    ),
    "volc-queue": (
        "Warning  FailedScheduling  4s  volcano  pod group is not ready, 1 Pending, 2 minAvailable",
        ("Volcano gang",),
    ),
    "volc2": ("Normal  Unschedulable  1s  volcano  queue resource quota insufficient", ("Volcano overused",)),
    "kueue": (
        "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor default-flavor, 2 more needed",
        ("Kueue kueue",),
    ),
    "eks": ("0/2 nodes are available: 2 Insufficient pods, 2 Too many pods.", ("kube-scheduler nodes",)),
    "openshift": (
        "0/6 nodes are available: 3 node(s) didn't match Pod's node affinity/selector, 3 node(s) had untolerated taint {node-role.kubernetes.io/master: }. preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling..",
        ("kube-scheduler nodes",),
    ),
    "log": (
        'I1101 10:00:00.123456       1 schedule_one.go:1058] "Unable to schedule pod; no fit; waiting" pod="shop/web-0" err="0/3 nodes are available: 3 node(s) didn\'t match pod affinity rules. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."',
        ("kube-scheduler nodes",),
    ),
    "rwop": ("Cannot evict pod as it would violate the pod's disruption budget.", ("kube-apiserver eviction",)),
    "dupl": (
        'The Deployment "web" is invalid: spec.template.spec.topologySpreadConstraints[1]: Duplicate value: "{topology.kubernetes.io/zone, DoNotSchedule}"',
        ("kube-apiserver validation",),
    ),
    "unk": (
        'Error from server (BadRequest): error when creating "web.yaml": Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.template.spec.topologySpreadConstraint"',
        ("kube-apiserver decoding",),
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_every_part_has_its_component_and_form(name: str) -> None:
    text, expected = MESSAGES[name]
    found = parse_all(text)

    assert tuple(f"{item.component.value} {item.form}" for item in found) == expected
    assert not any(item.not_understood for item in found)
