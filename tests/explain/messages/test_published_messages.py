"""Messages that people published when they asked for help: who wrote each, what its parts say, and what to run first.

The expected reading of each was judged by hand. Names of pods, nodes and companies are shortened.
"""
# ruff: noqa: E501, ISC004, Q003 (messages are kept as they were published)

from __future__ import annotations

import json
from typing import NamedTuple

import pytest

from kubectl_spread.explain.messages import meaning
from kubectl_spread.explain.messages.parse import Message, parse_all


class Published(NamedTuple):
    """A text; its messages as `component kind`, with `number kind subject` of each part; the first command."""

    text: str
    messages: tuple[str, ...]
    first: str


EXPLAIN = "kubectl spread explain pod NAME -n NAMESPACE"
AUTOSCALER = "kubectl get configmap cluster-autoscaler-status -n kube-system -o yaml"
PROVISIONERS = "kubectl get provisioners -o wide"
POOLS = "kubectl get nodepools -o wide"
GROUPS = "kubectl get podgroups.scheduling.volcano.sh -n NAMESPACE"
QUOTA = "kubectl describe resourcequota -n NAMESPACE"
LIMITS = "kubectl describe limitrange -n NAMESPACE"
WEBHOOKS = "kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations"
CLAIMS = "kubectl get pvc -n NAMESPACE"
CHART = "helm template RELEASE CHART | kubectl spread check -"
CHECK = "kubectl spread check FILE"
DIFF = "kubectl diff -f FILE"
EVENTS = "kubectl get events -n NAMESPACE --field-selector reason=FailedCreate"

SCHEDULER = (
    Published(
        " Warning  FailedScheduling   22m (x4 over 40m)   default-scheduler   0/3 nodes are available: 1 node(s) had no available volume zone, 1 node(s) had taints that the pod didn't tolerate, 1 node(s) were not ready.",
        ("kube-scheduler nodes: 1 volumeZone, 1 taint, 1 nodeCondition",), EXPLAIN),
    Published(
        """\
Events:
  Type     Reason            Age                   From               Message
  ----     ------            ----                  ----               -------
  Warning  FailedScheduling  30m                   default-scheduler  0/29 nodes are available: 18 Insufficient cpu, 2 Too many pods, 21 Insufficient memory, 8 node(s) had untolerated taint {eks.amazonaws.com/compute-type: fargate}. preemption: 0/29 nodes are available: 1 Insufficient cpu, 18 Insufficient memory, 3 No preemption victims found for incoming pod, 8 Preemption is not helpful for scheduling..
  Normal   Nominated         30m                   karpenter          Pod should schedule on: machine/bottlerocket-prov-4m5qp
""",
        ("kube-scheduler nodes: 18 resource cpu, 2 pods, 21 resource memory, 8 taint {eks.amazonaws.com/compute-type: fargate}; "
         "preemption: 1 resource cpu, 18 resource memory, 3 noVictims, 8 preemptionNotHelpful",
         "Karpenter karpenterNominated"), EXPLAIN),
    Published(
        """\
0s          Warning   FailedScheduling          pod/testapp-5f8b56c8fc-w9kgn        0/19 nodes are available: 1 node(s) had untolerated taint {windowsContainers: true}, 2 node(s) had untolerated taint {eks.amazonaws.com/compute-type: fargate}, 4 node(s) didn't match Pod's node affinity/selector, 4 node(s) didn't match pod anti-affinity rules, 8 node(s) didn't match pod topology spread constraints. preemption: 0/19 nodes are available: 12 No preemption victims found for incoming pod, 7 Preemption is not helpful for scheduling.
0s          Normal    Killing                   pod/testapp-7cbfc97986-5j2dt        Stopping container testapp
0s          Normal    SuccessfulDelete          replicaset/testapp-7cbfc97986       Deleted pod: testapp-7cbfc97986-5j2dt
""",
        ("kube-scheduler nodes: 1 taint {windowsContainers: true}, 2 taint {eks.amazonaws.com/compute-type: fargate}, 4 nodeAffinity, "
         "4 antiAffinity, 8 constraint; preemption: 12 noVictims, 7 preemptionNotHelpful",), "kubectl spread explain pod testapp-5f8b56c8fc-w9kgn -n NAMESPACE"),
    Published(
        """\
  Type     Reason            Age                    From               Message
  ----     ------            ----                   ----               -------
  Warning  FailedScheduling  2m17s                  default-scheduler  0/6 nodes are available: 1 node(s) had untolerated taint {unschedulable: true}, 2 node(s) didn't match pod topology spread constraints, 3 node(s) had untolerated taint {node-role.kubernetes.io/master: }. preemption: 0/6 nodes are available: 2 node(s) didn't match pod topology spread constraints, 4 Preemption is not helpful for scheduling.
  Warning  FailedScheduling  2m14s (x2 over 2m14s)  default-scheduler  0/6 nodes are available: 1 node(s) had untolerated taint {unschedulable: true}, 2 node(s) didn't match pod topology spread constraints, 3 node(s) had untolerated taint {node-role.kubernetes.io/master: }. preemption: 0/6 nodes are available: 2 node(s) didn't match pod topology spread constraints, 4 Preemption is not helpful for scheduling.
""",
        ("kube-scheduler nodes: 1 taint {unschedulable: true}, 2 constraint, 3 taint {node-role.kubernetes.io/master: }; "
         "preemption: 2 constraint, 4 preemptionNotHelpful",), EXPLAIN),
    Published(
        """\
 - deployment/leeroy-app: 0/3 nodes are available: 1 Insufficient memory, 1 node(s) had taint {ToBeDeletedByClusterAutoscaler: 1623436397}, that the pod didn't tolerate, 2 Insufficient cpu.
    - pod/leeroy-app-c469448b5-wb2db: 0/3 nodes are available: 1 Insufficient memory, 1 node(s) had taint {ToBeDeletedByClusterAutoscaler: 1623436397}, that the pod didn't tolerate, 2 Insufficient cpu.
""",
        ("kube-scheduler nodes: 1 resource memory, 1 taint {ToBeDeletedByClusterAutoscaler: 1623436397}, 2 resource cpu",), EXPLAIN),
    Published(
        """\
status:
  conditions:
  - lastProbeTime: null
    lastTransitionTime: "2019-11-11T12:29:26Z"
    message: '0/1 nodes are available: 1 Insufficient cpu.'
    reason: Unschedulable
    status: "False"
    type: PodScheduled
  phase: Pending
  qosClass: Guaranteed
""",
        ("kube-scheduler nodes: 1 resource cpu",), EXPLAIN),
    Published(
        "0/4 nodes are available: 1 node(s) had no available volume zone, 2 Insufficient cpu, 3 Insufficient memory.",
        ("kube-scheduler nodes: 1 volumeZone, 2 resource cpu, 3 resource memory",), EXPLAIN),
    Published(
        "FailedScheduling Pod/overflow-869c5856b9-t6slm: 0/2 nodes are available:\n  1 Insufficient cpu,\n  1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }",
        ("kube-scheduler nodes: 1 resource cpu, 1 taint {node-role.kubernetes.io/control-plane: }",), "kubectl spread explain pod overflow-869c5856b9-t6slm -n NAMESPACE"),
    Published(
        "2m57s       Warning   FailedScheduling          pod/keeper-577cccc7db-s4r4v                                                0/1 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.\n"
        "39h         Normal    SuccessfulCreate          replicaset/keeper-577cccc7db                                               Created pod: keeper-577cccc7db-s4r4v\n"
        "39h         Normal    ScalingReplicaSet         deployment/keeper-executor                                                 Scaled up replica set keeper-executor-7d5c457795 to 1\n",
        ("kube-scheduler nodes: 1 taint {node.kubernetes.io/unreachable: }; preemption: 1 preemptionNotHelpful",), "kubectl spread explain pod keeper-577cccc7db-s4r4v -n NAMESPACE"),
    Published(
        "2017-09-22T12:23:11.528159673Z I0922 12:23:11.527958       1 factory.go:517] Unable to schedule kube-system kube-dns-autoscaler-3067162316-k8jw4: no nodes are registered to the cluster; waiting",
        ("kube-scheduler noNodes",), "kubectl get nodes"),
    Published(
        "I0922 12:23:11.529607       1 event.go:217] Event(v1.ObjectReference{Kind:\"Pod\", Namespace:\"kube-system\", Name:\"kube-dns-autoscaler-3067162316-k8jw4\", UID:\"f34d195f\", APIVersion:\"v1\", ResourceVersion:\"234\", FieldPath:\"\"}): type: 'Warning' reason: 'FailedScheduling' no nodes available to schedule pods",
        ("kube-scheduler noNodes",), "kubectl get nodes"),
    Published(
        "I0831 11:20:03.577000   37249 factory.go:322] \"Unable to schedule pod; no fit; waiting\" pod=\"test-product/web-r4v9s\" err=\"0/100 nodes are available: 100 Insufficient memory.\"",
        ("kube-scheduler nodes: 100 resource memory",), EXPLAIN),
    Published(
        "E0611 03:14:02.104113       1 factory.go:503] Error scheduling default/postgres-replica-0: error while running \"VolumeBinding\" filter plugin for pod \"postgres-replica-0\": pod has unbound immediate PersistentVolumeClaims; retrying",
        ("kube-scheduler claimUnbound",), CLAIMS),
    Published(
        "  Warning  FailedScheduling  <unknown>  default-scheduler  selectedNode annotation value \"\" not set to scheduled node \"ip-172-18-14-249.ec2.internal\"",
        ("kube-scheduler selectedNode",), CLAIMS),
    Published(
        "  Warning  FailedScheduling  41h    default-scheduler  error while running \"VolumeBinding\" prebind plugin for pod \"redis-ha-server-0\": Failed to bind volumes: timed out waiting for the condition\n"
        "  Warning  FailedScheduling  41h    default-scheduler  error while running \"VolumeBinding\" prebind plugin for pod \"redis-ha-server-0\": Failed to bind volumes: timed out waiting for the condition\n",
        ("kube-scheduler volumeBindingUnnamed",), CLAIMS),
    Published(
        "Warning  FailedScheduling  2m1s  default-scheduler  running PreBind plugin \"VolumeBinding\": binding volumes: context deadline exceeded",
        ("kube-scheduler volumeBindingUnnamed",), CLAIMS),
    Published(
        "AssumePod failed: pod monitoring/alertmanager-main-0 state wasn't initial but get assumed",
        ("kube-scheduler cacheError",), "kubectl logs -n kube-system -l component=kube-scheduler --tail=100"),
    Published(
        """\
  Warning  FailedScheduling    25s   default-scheduler        pod has unbound immediate PersistentVolumeClaims
  Normal   Scheduled           21s   default-scheduler        Successfully assigned default/app to ip-172-18-15-56.ec2.internal
  Warning  FailedAttachVolume  20s   attachdetach-controller  AttachVolume.Attach failed for volume "pvc-970102a5" : rpc error: code = Internal desc = Could not attach volume "vol-0feca9e2" to node "i-0a647985": IncorrectState: vol-0feca9e2 is not 'available'.
\t\t   status code: 400, request id: 96e5c6cf-79dd-4273-889f-1bc526f5f280
""",
        ("kube-scheduler nodes: - claimUnbound", "kube-scheduler assigned", "kube-controller-manager attachFailed"), EXPLAIN),
    Published(
        """\
  Warning  FailedScheduling   5m21s (x2 over 5m21s)  default-scheduler   0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found
  Normal   Scheduled          5m21s                  default-scheduler   Successfully assigned blob/blobfusestapod2 to aks-aksnp0lab1-35475183-vmss000002
  Normal   NotTriggerScaleUp  7m10s                  cluster-autoscaler  pod didn't trigger scale-up: 1 pod has unbound immediate PersistentVolumeClaims
  Normal   Pulling            5m21s                  kubelet             Pulling image "nginx"
  Normal   Pulled             5m19s                  kubelet             Successfully pulled image "nginx" in 1.053s (1.053s including waiting). Image size: 62960551 bytes.
""",
        ("kube-scheduler nodes: - claimUnbound", "kube-scheduler assigned", "cluster-autoscaler notScaled: 1 claimUnbound"), EXPLAIN),
)  # fmt: skip

AUTOSCALERS = (
    Published(
        "pod didn't trigger scale-up: 12 node(s) didn't match Pod's node affinity/selector, 3 max node group size reached.",
        ("cluster-autoscaler notScaled: 12 nodeAffinity, 3 nodeGroupFull",), "kubectl get nodes --show-labels"),
    Published(
        "I0702 12:46:14.945401       1 event.go:209] Event(v1.ObjectReference{Kind:\"Pod\", Namespace:\"default\", Name:\"hello-world-699d84fcc5-7c4pr\", UID:\"5c8782a9\", APIVersion:\"v1\", ResourceVersion:\"99786677\", FieldPath:\"\"}): type: 'Normal' reason: 'NotTriggerScaleUp' pod didn't trigger scale-up (it wouldn't fit if a new node is added): 1 max limit reached",
        ("cluster-autoscaler notScaled: 1 nodeGroupFull",), AUTOSCALER),
    Published(
        "2023-02-08T18:24:48Z [Normal] pod didn't trigger scale-up: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had taint {k8s.dask.org_dedicated: worker}, that the pod didn't tolerate, 1 in backoff after failed scale-up\n"
        "2023-02-08T18:27:02Z [Warning] 0/3 nodes are available: 1 Insufficient memory, 2 node(s) didn't match Pod's node affinity/selector.\n",
        ("cluster-autoscaler notScaled: 1 nodeAffinity, 1 taint {k8s.dask.org_dedicated: worker}, 1 nodeGroupBackoff",
         "kube-scheduler nodes: 1 resource memory, 2 nodeAffinity"), "kubectl get nodes --show-labels"),
    Published(
        "2019-03-24 02:47:40+00:00 [Warning] 0/11 nodes are available: 1 node(s) had disk pressure, 10 Insufficient memory, 2 Insufficient cpu.\n"
        "2019-03-24 02:47:48+00:00 [Normal] pod didn't trigger scale-up (it wouldn't fit if a new node is added)\n",
        ("kube-scheduler nodes: 1 nodeCondition, 10 resource memory, 2 resource cpu", "cluster-autoscaler notScaled"), EXPLAIN),
    Published(
        """\
  Normal   NotTriggerScaleUp  2m26s (x98 over 12m)  cluster-autoscaler                     pod didn't trigger scale-up (it wouldn't fit if a new node is added): 5 node(s) didn't match Pod's node affinity
  Warning  FailedScheduling   49s (x10 over 12m)    gke.io/optimize-utilization-scheduler  0/5 nodes are available: 1 Insufficient cpu, 4 node(s) didn't match Pod's node affinity.
""",
        ("cluster-autoscaler notScaled: 5 nodeAffinity", "kube-scheduler nodes: 1 resource cpu, 4 nodeAffinity"),
        "kubectl get nodes --show-labels"),
    Published(
        "Normal   NotTriggerScaleUp  3m54s (x29 over 9m)  cluster-autoscaler  pod didn’t trigger scale-up (it wouldn’t fit if a new node is added): 3 max cluster cpu, memory limit reached\n"
        "Warning  FailedScheduling   6s (x7 over 9m3s)    default-scheduler   0/3 nodes are available: 1 Insufficient memory, 2 node(s) had volume node affinity conflict.\n",
        ("cluster-autoscaler notScaled: 3 clusterLimit cpu, memory", "kube-scheduler nodes: 1 resource memory, 2 volumeNodeAffinity"),
        AUTOSCALER),
    Published(
        """\
 Normal  TriggeredScaleUp    18m        cluster-autoscaler pod triggered scale-up: [{ibm://acc///cluster1/nodegroup1 1->2 (max: 8)}]
 Warning FailedScheduling    14m (x2 over 19m) default-scheduler  0/6 nodes are available: 2 node(s) didn't match Pod's node affinity/selector, 4 Insufficient cpu. preemption: 0/6 nodes are available: 2 Preemption is not helpful for scheduling, 4 No preemption victims found for incoming pod.
""",
        ("cluster-autoscaler scaledUp",
         "kube-scheduler nodes: 2 nodeAffinity, 4 resource cpu; preemption: 2 preemptionNotHelpful, 4 noVictims"), "kubectl get nodes"),
    Published(
        "I0523 00:56:27.130123       1 scale_up.go:288] Pod scale-test-6cc69f4cf-hb5km can't be scheduled on aks-sc3-22409415-vmss, predicate checking error: node(s) didn't match pod topology spread constraints; predicateName=PodTopologySpread; reasons: node(s) didn't match pod topology spread constraints; debugInfo=\n"
        "I0523 00:56:27.130143       1 scale_up.go:290] 18 other pods similar to scale-test-6cc69f4cf-hb5km can't be scheduled on aks-sc3-22409415-vmss\n"
        "I0523 00:56:27.130169       1 scale_up.go:437] No pod can fit to aks-sc3-22409415-vmss\n"
        "I0523 00:56:27.130196       1 scale_up.go:400] Skipping node group aks-system-22409415-vmss - max size reached\n",
        ("cluster-autoscaler predicate", "cluster-autoscaler groupRefuses", "cluster-autoscaler groupFull"), EXPLAIN),
    Published(
        "W0906 00:15:33.674846       1 scale_up.go:307] Node group plague-NodeGroup-LHS1EG3DDRK4 is not ready for scaleup\n"
        "I0906 00:15:33.674854       1 scale_up.go:376] No expansion options\n"
        "I0906 00:15:33.674890       1 static_autoscaler.go:305] Calculating unneeded nodes\n"
        "I0906 00:15:33.675005       1 scale_down.go:408] Node ip-10-15-5-57.us-west-2.compute.internal is not suitable for removal - utilization too big (0.876906)\n",
        ("cluster-autoscaler groupNotReady", "cluster-autoscaler noExpansion", "cluster-autoscaler notRemovable"), AUTOSCALER),
    Published(
        "W0511 21:29:05.854451       1 clusterstate.go:294] Disabling scale-up for node group compute-1-AutoScalingGroup until 2023-05-11 21:34:04.970892339 +0000 UTC m=+448.035594703; errorClass=OutOfResource; errorCode=placeholder-cannot-be-fulfilled\n"
        "W0511 21:29:30.133720       1 orchestrator.go:511] Node group compute-1-AutoScalingGroup is not ready for scaleup - backoff\n",
        ("cluster-autoscaler groupBackoff", "cluster-autoscaler groupNotReady"), AUTOSCALER),
    Published(
        "I0511 21:29:05.854411       1 clusterstate.go:1084] Failed adding 68 nodes (68 unseen previously) to group compute-1-AutoScalingGroup due to OutOfResource.placeholder-cannot-be-fulfilled; errorMessages=[]string{\"AWS cannot provision any more instances for this node group\"}",
        ("cluster-autoscaler groupFailed",), AUTOSCALER),
    Published(
        "W0313 12:49:40.563382       1 clusterstate.go:266] Scale-up timed out for node group eks-inference_g4dn4xl-02c6fc6f after 15m5.500491908s",
        ("cluster-autoscaler groupFailed",), AUTOSCALER),
    Published(
        "I0506 14:23:31.057849       1 pod_schedulable.go:165] Pod nginx-to-scaleout-7474d8bb57-dxt2n can't be scheduled on eks-ue1-prod-worker-group, predicate failed: PodToleratesNodeTaints predicate mismatch, reason: node(s) had taints that the pod didn't tolerate, taints on node: []v1.Taint{v1.Taint{Key:\"prod-only\", Value:\"true\", Effect:\"NoSchedule\", TimeAdded:(*v1.Time)(nil)}}",
        ("cluster-autoscaler predicate",), EXPLAIN),
    Published(
        "cluster-autoscaler-76fdd8b4d-tb49v cluster-autoscaler I0223 15:23:21.970141       1 filter_out_schedulable.go:118] Pod default.compute-node-ep-66c8479797-jxrtm marked as unschedulable can be scheduled on node ip-10-6-93-124.us-east-2.compute.internal (based on\n hinting). Ignoring in scale up.",
        ("cluster-autoscaler upcoming",), EXPLAIN),
    Published(
        "I0712 15:14:06.388152       1 filter_out_schedulable.go:157] Pod demo-pause.demo-pause-794558689-244rw marked as unschedulable can be scheduled on node template-node-for-self-workers-2022-upcoming-13. Ignoring in scale up.\n"
        "I0712 15:14:06.388167       1 filter_out_schedulable.go:170] 0 pods were kept as unschedulable based on caching\n"
        "I0712 15:14:06.388193       1 filter_out_schedulable.go:79] Schedulable pods present\n",
        ("cluster-autoscaler upcoming",), EXPLAIN),
)  # fmt: skip

KARPENTER = (
    Published(
        "karpenter-5dd479847d-5kxvj controller 2023-10-05T05:27:23.446Z\tERROR\tcontroller.provisioner\tCould not schedule pod, incompatible with provisioner \"monitoring\", daemonset overhead={\"cpu\":\"655m\",\"memory\":\"628000Ki\",\"pods\":\"7\"}, no instance type satisfied resources {\"cpu\":\"2655m\",\"memory\":\"21599520Ki\",\"pods\":\"8\"} and requirements karpenter.k8s.aws/instance-category In [c m r], karpenter.sh/provisioner-name In [monitoring], topology.kubernetes.io/zone In [us-east-1d], type In [karpenter] (no instance type met the scheduling requirements or had a required offering); incompatible with provisioner \"system\", daemonset overhead={\"cpu\":\"655m\",\"memory\":\"628000Ki\",\"pods\":\"7\"}, did not tolerate CriticalAddonsOnly=true:NoSchedule\t{\"commit\": \"322822a\", \"pod\": \"monitoring/prometheus-0\"}",
        ("Karpenter karpenterPool", "Karpenter karpenterInstance", "Karpenter karpenterExcluded", "Karpenter karpenterPool", "Karpenter karpenterTaint"), PROVISIONERS),
    Published(
        "2022-12-05T09:58:42.908Z\tERROR\tcontroller.provisioning\tCould not schedule pod, incompatible with provisioner \"core-system\", did not tolerate node.example.com/system-core=true:NoExecute; incompatible with provisioner \"tenant\", no instance type satisfied resources {\"cpu\":\"7\",\"github.com/fuse\":\"4\",\"memory\":\"8692Mi\",\"pods\":\"1\"} and requirements node.kubernetes.io/instance-type In [m5d.2xlarge m5d.4xlarge m5d.xlarge], topology.kubernetes.io/zone In [eu-central-1a eu-central-1b eu-central-1c], karpenter.sh/provisioner-name In [tenant]\t{\"commit\": \"27a51c0\", \"pod\": \"gitlab/runner-4j6s8g\"}",
        ("Karpenter karpenterPool", "Karpenter karpenterTaint", "Karpenter karpenterPool", "Karpenter karpenterInstance"), PROVISIONERS),
    Published(
        "2023-09-26T10:01:17.777Z\tINFO\tcontroller.provisioner\tprovisioning/provisioner.go:238\tskipping, no resolved instance types found\t{\"commit\": \"637a642\", \"provisioner\": \"default\"}\n"
        "2023-09-26T10:01:17.778Z\tERROR\tcontroller.provisioner\tscheduling/scheduler.go:190\tCould not schedule pod, all available instance types exceed limits for provisioner: \"default\"\t{\"commit\": \"637a642\", \"pod\": \"default/hungry-54d45649c-9tkxt\"}\n",
        ("Karpenter karpenterTypes", "Karpenter karpenterLimit"), PROVISIONERS),
    Published(
        "sre-karpenter-system/karpenter-6b7c8c86d6-rz5ch[controller]: 2022-12-23T14:29:40.675Z\tERROR\tcontroller.provisioner\tCould not schedule pod, incompatible with provisioner \"bull\", no instance type satisfied resources {\"cpu\":\"3\",\"pods\":\"1\"} and requirements karpenter.k8s.aws/instance-family NotIn [z1d], karpenter.sh/provisioner-name In [bull]; all available instance types exceed provisioner limits\t{\"commit\": \"f60dacd\", \"pod\": \"pause/inflate-6886cd9c5f-lxct6\"}",
        ("Karpenter karpenterPool", "Karpenter karpenterInstance", "Karpenter karpenterLimit"), PROVISIONERS),
    Published(
        "2023-03-27T07:04:24.263Z        DEBUG   controller.provisioner  525 out of 616 instance types were excluded because they would breach provisioner limits        {\"commit\": \"dc3af1a\"}",
        ("Karpenter karpenterLimit",),
        "kubectl get provisioners -o custom-columns=NAME:.metadata.name,LIMITS:.spec.limits.resources,USED:.status.resources"),
    Published(
        "{\"level\":\"ERROR\",\"time\":\"2025-05-28T04:00:27.309Z\",\"logger\":\"controller\",\"message\":\"could not schedule pod\",\"commit\":\"0871602\",\"controller\":\"provisioner\",\"namespace\":\"\",\"name\":\"\",\"reconcileID\":\"d7dbf007\",\"Pod\":{\"name\":\"es-data-hot-2-0\",\"namespace\":\"elastic-test\"},\"error\":\"incompatible with nodepool \\\"ingress\\\", daemonset overhead={\\\"cpu\\\":\\\"738m\\\",\\\"memory\\\":\\\"1880Mi\\\",\\\"pods\\\":\\\"8\\\"}, did not tolerate gel.to/workload=ingress:NoSchedule; incompatible with nodepool \\\"elastic\\\", daemonset overhead={\\\"cpu\\\":\\\"738m\\\",\\\"memory\\\":\\\"1880Mi\\\",\\\"pods\\\":\\\"8\\\"}, unsatisfiable topology constraint for topology spread, key=topology.kubernetes.io/zone (counts = eu-west-1a: 1, eu-west-1b: 0, podDomains = topology.kubernetes.io/zone In [eu-west-1a], nodeDomains = topology.kubernetes.io/zone In [eu-west-1a]; incompatible with nodepool \\\"common\\\", daemonset overhead={\\\"cpu\\\":\\\"738m\\\",\\\"memory\\\":\\\"1880Mi\\\",\\\"pods\\\":\\\"8\\\"}, incompatible requirements, key gel.to/workload, gel.to/workload In [elastic] not in gel.to/workload In [common]\"}",
        ("Karpenter karpenterPool", "Karpenter karpenterTaint", "Karpenter karpenterPool", "Karpenter karpenterTopology",
         "Karpenter karpenterPool", "Karpenter karpenterRequirements"), POOLS),
    Published(
        "[pod/karpenter-78748f59d4-hnx82/controller] {\"level\":\"ERROR\",\"time\":\"2026-09-02T13:12:27.029Z\",\"logger\":\"controller\",\"caller\":\"scheduling/scheduler.go:302\",\"message\":\"could not schedule pod\",\"commit\":\"85eeae8\",\"controller\":\"provisioner\",\"Pod\":{\"name\":\"web-1\",\"namespace\":\"shop\"},\"error\":\"no instance type met the scheduling requirements or had enough resources or had a required offering, requirements=karpenter.k8s.aws/ec2nodeclass In [default], karpenter.sh/nodepool In [non-existent-zone], topology.kubernetes.io/zone In [eu-west-2z], resources={\\\"cpu\\\":\\\"750m\\\",\\\"memory\\\":\\\"256Mi\\\",\\\"pods\\\":\\\"3\\\"}; incompatible requirements, key karpenter.sh/nodepool, karpenter.sh/nodepool In [non-existent-zone] not in karpenter.sh/nodepool In [default]\",\"errorCauses\":[{\"error\":\"incompatible requirements, key karpenter.sh/nodepool, karpenter.sh/nodepool In [non-existent-zone] not in karpenter.sh/nodepool In [default]\"}]}",
        ("Karpenter karpenterExcluded", "Karpenter karpenterRequirements"), POOLS),
    Published(
        "2022-02-28T08:04:17.445Z\tINFO\tcontroller.provisioning\tBatched 2 pods in 1.024899682s\t{\"commit\": \"fd19ba2\", \"provisioner\": \"dedicated-ingress-arm64\"}\n"
        "2022-02-28T08:04:17.445Z\tINFO\tcontroller.provisioning\tUnable to schedule pod ingress/traefik-5fcc45756f-qdxv2, incompatible requirements, [] not in [rhv6mc5e], key kubernetes.io/hostname\t{\"commit\": \"fd19ba2\", \"provisioner\": \"dedicated-ingress-arm64\"}\n",
        ("Karpenter karpenterRequirements",), PROVISIONERS),
    Published(
        """\
{"level":"ERROR",
"time":"2025-04-16T17:43:44.030Z",
"logger":"controller",
"message":"could not schedule pod",
"controller":"provisioner",
"namespace":"",
"Pod":{"name":"docapi-7cd65b9f44-pvzlm","namespace":"docapi"},
"error":"**incompatible with nodepool \\"default\\",** daemonset overhead={\\"cpu\\":\\"629m\\",\\"memory\\":\\"1248Mi\\",\\"pods\\":\\"11\\"},
**unsatisfiable topology constraint for pod affinity, key=kubernetes.io/hostname** (counts = ip-10-60-53-184.ec2.internal: 0, ip-10-60-53-209.ec2.internal: 0, podDomains = kubernetes.io/hostname Exists, nodeDomains = kubernetes.io/hostname In [hostname-placeholder-35074]; incompatible with nodepool \\"airflow\\",
daemonset overhead={\\"cpu\\":\\"629m\\",\\"pods\\":\\"11\\"}, did not tolerate app=airflow:NoSchedule"}
""",
        ("Karpenter karpenterPool", "Karpenter karpenterTopology", "Karpenter karpenterPool", "Karpenter karpenterTaint"), POOLS),
    Published(
        """\
  Warning  FailedScheduling  47s   default-scheduler  0/7 nodes are available: 2 Insufficient cpu, 5 node(s) didn't match Pod's node affinity/selector. preemption: 0/7 nodes are available: 2 No preemption victims found for incoming pod, 5 Preemption is not helpful for scheduling.
  Warning  FailedScheduling  46s   karpenter          Failed to schedule pod, incompatible with nodepool "teama-spot", daemonset overhead={"cpu":"150m","pods":"2"}, incompatible requirements, key capacity_type, capacity_type In [on-demand] not in capacity_type In [spot]; incompatible with nodepool "teama-on-demand", daemonset overhead={"cpu":"150m","pods":"2"}, unsatisfiable topology constraint for topology spread, key=capacity-spread (counts = 2: 0 3: 0 1: 2 , podDomains = capacity-spread Exists, nodeDomains = capacity-spread In [1]
""",
        ("kube-scheduler nodes: 2 resource cpu, 5 nodeAffinity; preemption: 2 noVictims, 5 preemptionNotHelpful",
         "Karpenter karpenterPool", "Karpenter karpenterRequirements", "Karpenter karpenterPool", "Karpenter karpenterTopology"), EXPLAIN),
    Published(
        "Failed to schedule pod, incompatible requirements,\nlabel \"nvidia.com/gpu.product\" does not have known values",
        ("Karpenter karpenterRequirements",), POOLS),
    Published(
        "Failed to schedule pod, all available instance types exceed limits for nodepool (NodePool=default)",
        ("Karpenter karpenterLimit",),
        "kubectl get nodepools -o custom-columns=NAME:.metadata.name,LIMITS:.spec.limits,USED:.status.resources"),
    Published(
        "Failed to schedule pod, incompatible requirements, key karpenter.sh/nodepool, karpenter.sh/nodepool In [no-such-pool] not in karpenter.sh/nodepool In [standard]",
        ("Karpenter karpenterRequirements",), POOLS),
    Published(
        "Failed to schedule pod, no instance type has enough resources, requirements=karpenter.kwok.sh/kwoknodeclass In [default], karpenter.sh/capacity-type In [on-demand], karpenter.sh/nodepool In [standard], kubernetes.io/os In [linux], resources={\"cpu\":\"900\",\"pods\":\"1\"}",
        ("Karpenter karpenterFits",), POOLS),
    Published(
        "  Normal                     2m27s  karpenter  Status condition transitioned, Type: Ready, Status: Unknown -> False, Reason: UnhealthyDependents, Message: NodeClassReady=False\n"
        "  Warning                       20s    karpenter  Failed resolving NodeClass\n",
        ("Karpenter karpenterNodeClass", "Karpenter karpenterNodeClass"), POOLS),
    Published(
        "2023-10-02T22:18:41.625Z        ERROR   controller      Reconciler error        {\"commit\": \"2f1a308\", \"controller\": \"node_state\", \"controllerGroup\": \"\", \"controllerKind\": \"Node\", \"Node\": {\"name\":\"ip-192-168-127-151.us-west-2.compute.internal\"}, \"namespace\": \"\", \"name\": \"ip-192-168-127-151.us-west-2.compute.internal\", \"reconcileID\": \"7876abe2\", \"error\": \"resolving node class, resolving node template, getting providerRef, AWSNodeTemplate.karpenter.k8s.aws \\\"default\\\" not found\"}",
        ("Karpenter karpenterNoNodeClass",), "kubectl get awsnodetemplates"),
    Published(
        "Failed resolving NodeClass\nAKSNodeClass.karpenter.azure.com \"roachgrass-1-hhfpvjsbmu\" not found",
        ("Karpenter karpenterNodeClass", "Karpenter karpenterNoNodeClass"), POOLS),
    Published(
        "{\"level\":\"ERROR\",\"time\":\"2024-02-12T10:04:14.064Z\",\"logger\":\"controller.provisioner\",\"message\":\"skipping, unable to resolve instance types, resolving node class, EC2NodeClass.karpenter.k8s.aws \\\"default\\\" not found\",\"commit\":\"ff540d0\",\"nodepool\":\"default\"}",
        ("Karpenter karpenterNoNodeClass",), "kubectl get ec2nodeclasses"),
    Published(
        "{\"level\":\"ERROR\",\"time\":\"2025-02-27T08:11:00.010Z\",\"logger\":\"controller\",\"message\":\"ignoring nodepool, not ready\",\"commit\":\"058c665\",\"controller\":\"provisioner\",\"NodePool\":{\"name\":\"default\"}}\n"
        "{\"level\":\"INFO\",\"time\":\"2025-02-27T08:11:00.010Z\",\"logger\":\"controller\",\"message\":\"no nodepools found\",\"commit\":\"058c665\",\"controller\":\"provisioner\"}\n",
        ("Karpenter karpenterNodeClass", "Karpenter karpenterNoPool"), POOLS),
    Published(
        "{\"level\":\"INFO\",\"time\":\"2025-02-27T08:11:00.010Z\",\"logger\":\"controller\",\"message\":\"skipping, nodepool requirements filtered out all instance types\",\"commit\":\"058c665\",\"controller\":\"provisioner\",\"NodePool\":{\"name\":\"gpu\"}}",
        ("Karpenter karpenterTypes",), POOLS),
    Published(
        "Cannot disrupt NodeClaim: state node doesn't contain both a node and a nodeclaim",
        ("Karpenter karpenterDisruption",), "kubectl get poddisruptionbudgets -n NAMESPACE"),
)  # fmt: skip

VOLCANO = (
    Published(
        "1/1 tasks in gang unschedulable: pod group is not ready, 1 Pending, 1 minAvailable; Pending: 1 Undetermined",
        ("Volcano gang",), GROUPS),
    Published(
        "  Warning  PodGroupPending  7m44s (x2 over 7m44s)  vc-controller-manager  PodGroup default:job-sample unschedule,reason: 1/0 tasks in gang unschedulable: pod group is not ready, 1 minAvailable",
        ("Volcano gang",), GROUPS),
    Published(
        """\
  conditions:
  - lastTransitionTime: "2022-08-25T09:28:19Z"
    message: '12/8 tasks in gang unschedulable: pod group is not ready, 20 minAvailable,
      8 Running'
    reason: NotEnoughResources
    status: "True"
    transitionID: 154b09d2-11ba-4c3c-b3d1-76e97ff8c2aa
    type: Unschedulable
  phase: Unknown
  running: 8
""",
        ("Volcano gang",), GROUPS),
    Published(
        "  Warning  FailedScheduling  111s  volcano  10/6 tasks in gang unschedulable: job is not ready, 10 minAvailable, 6 Pending.\n"
        "  Warning  FailedScheduling  104s  volcano  10/10 tasks in gang unschedulable: job is not ready, 10 Pending, 10 minAvailable.\n",
        ("Volcano gang", "Volcano gang"), GROUPS),
    Published(
        """\
  Warning  Unschedulable  18s (x12 over 29s)  volcano  1/1 tasks in gang unschedulable: pod group is not ready, 1 Pending, 1 minAvailable; Pending: 1 Unschedulable
  Normal   Unschedulable  17s (x13 over 29s)  volcano  resource in cluster is overused
""",
        ("Volcano gang", "Volcano overused"), GROUPS),
    Published("0/203 nodes are unavailable: 75 Insufficient cpu.", ("Volcano nodes: 75 resource cpu",), EXPLAIN),
    Published(
        "0/1100 nodes are unavailable: 177 Insufficient memory, 260 Insufficient cpu, 599 node(s) didn't match Pod's node affinity/selector",
        ("Volcano nodes: 177 resource memory, 260 resource cpu, 599 nodeAffinity",), EXPLAIN),
    Published(
        "Predicates failed for task <mpi-test/forty-1-worker-0> on node <node1>: task mpi-test/forty-1-worker-0 on node node1 fit failed: node(s) resource fit failed",
        ("Volcano taskRefused",), "kubectl spread explain pod forty-1-worker-0 -n mpi-test"),
    Published(
        "I0115 10:12:11.618831       1 predicate_helper.go:75] Predicates failed for task <spark/wizard-exec-303> on node <mix-music94>: task spark/wizard-exec-303 on node mix-music94 fit failed: plugin NodeUnschedulable predicates failed node(s) were unschedulable",
        ("Volcano taskRefused",), "kubectl spread explain pod wizard-exec-303 -n spark"),
    Published(
        "Warning  Unschedulable  2m9s (x2068 over 36m)  volcano\n   0/1 tasks in gang unschedulable: pod group is not ready,\n   1 Succeeded, 4 minAvailable",
        ("Volcano gang",), GROUPS),
    Published(
        "    Reason:  NotEnoughResources\n    Message: 12/12 tasks in gang unschedulable: ... Pending: 4 Schedulable, 8 Unschedulable.",
        ("Volcano gang",), GROUPS),
)  # fmt: skip

API_SERVER = (
    Published(
        "Error from server (Forbidden): error when creating \"test.yaml\": pods \"test-pod\" is forbidden: exceeded quota: money-quota, requested: requests.cpu=20,requests.memory=60Gi, used: requests.cpu=32575m,requests.memory=90368Mi, limited: requests.cpu=50,requests.memory=140Gi",
        ("kube-apiserver quota",), QUOTA),
    Published(
        "39m         Warning   FailedCreate                      statefulset/es-master                              create Pod es-master-0 in StatefulSet es-master failed error: pods \"es-master-0\" is forbidden: failed quota: fpl-quota: must specify requests.cpu,requests.memory",
        ("kube-controller-manager statefulsetCreate", "kube-apiserver quota"), "kubectl describe statefulset es-master -n NAMESPACE"),
    Published(
        "59m         6d           124       web-6597bc46dc.1576a87b365ab1e4         ReplicaSet                                         Warning   FailedCreate            replicaset-controller                                  (combined from similar events): Error creating: pods \"web-6597bc46dc-2wm8j\" is forbidden: exceeded quota: namespace-quota, requested: limits.cpu=1,limits.memory=2Gi, used: limits.cpu=6,limits.memory=12Gi, limited: limits.cpu=6,limits.memory=12Gi",
        ("kube-controller-manager quota",), QUOTA),
    Published(
        "62s         Warning   FailedCreate                   replicaset/coredns-546565776c                    Error creating: pods \"coredns-546565776c-dhbcc\" is forbidden: minimum memory usage per Container is 90Mi, but request is 70Mi",
        ("kube-controller-manager limitRange",), LIMITS),
    Published(
        " pods \"metrics-server-v0.3.6-cbb9b8dff-gvn87\" is forbidden: [minimum cpu usage per Container is 100m, but request is 5m, minimum memory usage per Container is 90Mi, but request is 50Mi]",
        ("kube-apiserver limitRange",), LIMITS),
    Published(
        "-->  FailedCreate: rails-ex-1 Error creating: pods \"rails-ex-1-\" is forbidden: [minimum memory usage per Pod is 204Mi, but request is 62914560., minimum cpu usage per Pod is 39m, but request is 11m.]",
        ("kube-controller-manager limitRange",), LIMITS),
    Published(
        "Failure executing: POST at: https://10.30.0.1:443/api/v1/namespaces/ci/pods. Message: pods \"job-mb14d\" is forbidden: minimum cpu usage per Pod is 200m, but request is 100m. Received status: Status(apiVersion=v1, code=403, reason=Forbidden, status=Failure, additionalProperties={}).",
        ("kube-apiserver limitRange",), LIMITS),
    Published(
        "Error from server (Forbidden): error when creating \"test_NBody.yml\": admission webhook \"validation.gatekeeper.sh\" denied the request: [userpodlimits] container <cudasample> has no cpu limit, please see https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/\n"
        "[userpodlimits] container <cudasample> has no memory limit, please see https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/",
        ("kube-apiserver webhookDenied",), WEBHOOKS),
    Published(
        "Error from server: error when creating \"pods/echod.yaml\": admission webhook \"image-signature.example.com\" denied the request without explanation",
        ("kube-apiserver webhookDenied",), WEBHOOKS),
    Published(
        "Error from server (InternalError): error when creating \"example.yml\": \nInternal error occurred: failed calling webhook \"mutating-mycrd.domain.com\":\nPost https://mycrd-webhook.namespace.svc:443/mutate?timeout=30s:\nno service port 't' found for service \"mycrd-webhook\"",
        ("kube-apiserver webhook",), WEBHOOKS),
    Published(
        "Error creating: Internal error occurred: failed calling webhook \"webhook-server.webhook-demo.svc\": received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=",
        ("kube-controller-manager create", "kube-apiserver webhook"),
        "kubectl get events -n NAMESPACE --field-selector reason=FailedCreate"),
    Published(
        "  Warning  FailedCreate  7s (x13 over 28s)  replicaset-controller  Error creating: ",
        ("kube-controller-manager createUnsaid",), "kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations"),
    Published(
        "The StatefulSet \"redis-master\" is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'template', and 'updateStrategy' are forbidden.",
        ("kube-apiserver immutable",), DIFF),
    Published(
        "# statefulsets \"web\" was not valid:\n# * spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'template', and 'updateStrategy' are forbidden.",
        ("kube-apiserver immutable",), DIFF),
    Published(
        "2025-07-10T20:39:04.530Z\tERROR\tReconciler error\t{\"controller\": \"druid\", \"controllerKind\": \"Druid\", \"Druid\": {\"name\":\"aa\",\"namespace\":\"druid-ns\"}, \"name\": \"aa\", \"error\": \"StatefulSet.apps \\\"druid-cold\\\" is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden\"}",
        ("kube-apiserver immutable",), DIFF),
    Published(
        "The Deployment \"web\" is invalid: \n* spec.template.spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty\n* spec.template.spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: \"\": supported values: \"DoNotSchedule\", \"ScheduleAnyway\"\n* spec.template.spec.containers[0].image: Required value",
        ("kube-apiserver validation", "kube-apiserver validation", "kube-apiserver validation"), CHECK),
    Published(
        "Status:         Failed\nReason:         UnexpectedAdmissionError\nMessage:        Pod Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0, which is unexpected",
        ("kubelet devicesGone",), "kubectl describe pod NAME -n NAMESPACE"),
)  # fmt: skip

DEPLOYERS = (
    Published(
        "Error: UPGRADE FAILED: cannot patch \"devlake-ui\" with kind Deployment: Deployment.apps \"devlake-ui\" is invalid: spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{\"app.kubernetes.io/instance\":\"devlake\", \"devlakeComponent\":\"ui\"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: field is immutable && cannot patch \"devlake-mysql\" with kind StatefulSet: StatefulSet.apps \"devlake-mysql\" is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'template', 'updateStrategy' are forbidden",
        ("kube-apiserver immutable", "kube-apiserver immutable"), DIFF),
    Published(
        "wave   283d   False   Helm upgrade failed for release wave/wave with chart wave@4.1.0: cannot patch \"wave-wave\" with kind Deployment: Deployment.extensions \"wave-wave\" is invalid: spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{\"app\":\"wave\"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: field is immutable",
        ("kube-apiserver immutable",), DIFF),
    Published(
        "Error: UPGRADE FAILED: error validating \"\": error validating data: [ValidationError(StatefulSet.spec.template.spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm): missing required field \"topologyKey\" in io.k8s.api.core.v1.PodAffinityTerm, ValidationError(StatefulSet.spec.template.spec.topologySpreadConstraints[0]): missing required field \"maxSkew\" in io.k8s.api.core.v1.TopologySpreadConstraint, ValidationError(StatefulSet.spec.template.spec.topologySpreadConstraints[0]): missing required field \"topologyKey\" in io.k8s.api.core.v1.TopologySpreadConstraint]",
        ("Helm chartField", "Helm chartField", "Helm chartField"), CHART),
    Published(
        "Error: UPGRADE FAILED: Deployment.extensions \"efritin-core\" is invalid: spec.template.metadata.labels: Invalid value: {\"app\":\"efritin\",\"release\":\"efritin\"}: `selector` does not match template `labels`",
        ("kube-apiserver validation",), CHECK),
    Published(
        "Error: parse error at (redash/templates/worker-deployment.yaml:83): bad character U+0024 '$'",
        ("Helm chartTemplate",), "helm template RELEASE CHART --debug"),
    Published(
        "Failed to compare desired state to live state: failed to calculate diff: error calculating structured merge diff: error building typed value from live resource: errors:\n"
        "  .spec.template.spec.topologySpreadConstraints[topologyKey=\"kubernetes.io/hostname\",whenUnsatisfiable=\"DoNotSchedule\"].matchLabelKeys: field not declared in schema\n"
        "  .spec.template.spec.topologySpreadConstraints[topologyKey=\"topology.kubernetes.io/zone\",whenUnsatisfiable=\"DoNotSchedule\"].matchLabelKeys: field not declared in schema\n",
        ("Argo CD argoCd", "Argo CD argoCd"), "argocd app diff NAME --server-side-generate"),
    Published(
        "Failed to compare desired state to live state: failed to perform pre-diff normalization: error building typed results: error creating typedLive: .spec.template.spec.topologySpreadConstraints[topologyKey=\"kubernetes.io/hostname\",whenUnsatisfiable=\"DoNotSchedule\"].nodeTaintsPolicy: field not declared in schema",
        ("Argo CD argoCd",), "argocd app diff NAME --server-side-generate"),
    Published(
        "Failed to compare desired state to live state: failed to perform pre-diff normalization: error building typed results: error creating typedLive: .spec.template.spec.containers[name=\"container\"].env: duplicate entries for key [name=\"ENV_TEST\"]",
        ("Argo CD argoDuplicate",), "kubectl apply --server-side --dry-run=server -f FILE"),
)  # fmt: skip

# Read for the first time after the others were right: 33 of 51 were.
MORE = (
    Published("  Warning  FailedScheduling  37m (x2 over 37m)   default-scheduler  0/2 nodes are available: 1 node(s) didn't match pod affinity/anti-affinity, 1 node(s) didn't satisfy existing pods anti-affinity rules, 1 node(s) had volume node affinity conflict.\n  Warning  FailedScheduling  36m (x6 over 36m)   default-scheduler  0/3 nodes are available: 1 node(s) didn't match pod affinity/anti-affinity, 1 node(s) didn't satisfy existing pods anti-affinity rules, 1 node(s) had taints that the pod didn't tolerate, 1 node(s) had volume node affinity conflict.\n  Warning  FailedScheduling  95s (x44 over 36m)  default-scheduler  0/3 nodes are avai",
  ("kube-scheduler nodes: 1 affinityOrAntiAffinity, 1 othersAntiAffinity, 1 volumeNodeAffinity","kube-scheduler nodes: 1 affinityOrAntiAffinity, 1 othersAntiAffinity, 1 taint, 1 volumeNodeAffinity","kube-scheduler nodes"),EXPLAIN),
    Published("""Name:           mellow-dream-pool-0-2
Namespace:      minio-mellow-dream
Priority:       0
Node:           <none>
Labels:         controller-revision-hash=mellow-dream-pool-0-59f9555ffb
                statefulset.kubernetes.io/pod-name=mellow-dream-pool-0-2
Status:         Pending
IP:
IPs:            <none>
Controlled By:  StatefulSet/mellow-dream-pool-0
Containers:
  minio:
    Image:       minio/minio:RELEASE.2021-11-09T03-21-45Z
    Args:
      server
      --certs-dir
      /tmp/certs
    Environment:
      MINIO_UPDATE:                  on
      MINIO_ARGS:                    <set to the key 'MINIO_ARGS' in secret 'operator-webhook-secret'>  Optional: false
Events:
  Type     Reason            Age    From               Message
  ----     ------            ----   ----               -------
  Warning  FailedScheduling  3m17s  default-scheduler  0/4 nodes are available: 1 node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't tolerate, 3 node(s) didn't match pod affinity/anti-affinity rules, 3 node(s) didn't match pod anti-affinity rules.
""",("kube-scheduler nodes: 1 taint {node-role.kubernetes.io/master: }, 3 affinityOrAntiAffinity, 3 antiAffinity",),"kubectl spread explain pod mellow-dream-pool-0-2 -n minio-mellow-dream"),
    Published("Warning  FailedScheduling  18m  default-scheduler  0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod..",
  ("kube-scheduler nodes: 1 antiAffinity; preemption: 1 noVictims",),EXPLAIN),
    Published('{"level":"ERROR","time":"2023-11-28T07:49:22.662Z","logger":"controller.provisioner","message":"Could not schedule pod, incompatible with nodepool \\"arm\\", daemonset overhead={\\"cpu\\":\\"180m\\",\\"pods\\":\\"4\\"}, did not tolerate arch=arm64:NoSchedule; incompatible with nodepool \\"x86\\", daemonset overhead={\\"cpu\\":\\"180m\\"}, no instance type satisfied resources {\\"cpu\\":\\"280m\\"} and requirements karpenter.k8s.aws/instance-category In [c hpc m r x and 1 others], kubernetes.io/os In [linux] (no instance type has enough resources)","commit":"1072d3b","pod":"default/web"}',
  ("Karpenter karpenterPool", "Karpenter karpenterTaint", "Karpenter karpenterPool", "Karpenter karpenterInstance", "Karpenter karpenterFits"),POOLS),
    Published('{"level":"ERROR","logger":"controller.provisioner","message":"Could not schedule pod, incompatible with nodepool \\"arm\\", did not tolerate arch=arm64:NoSchedule; incompatible with provisioner \\"x86\\", incompatible requirements, label \\"karpenter.sh/nodepool\\" does not have known values"}',
  ("Karpenter karpenterPool","Karpenter karpenterTaint","Karpenter karpenterPool","Karpenter karpenterRequirements"),POOLS),
    Published("""Events:
  Type     Reason             Age                 From                Message
  ----     ------             ----                ----                -------
  Warning  FailedScheduling   12s (x8 over 10m)   default-scheduler   0/12 nodes are available: 1 node(s) had volume node affinity conflict, 2 Insufficient memory, 2 node(s) didn't match node selector, 9 Insufficient cpu.
  Normal   NotTriggerScaleUp  10s (x18 over 10m)  cluster-autoscaler  pod didn't trigger scale-up (it wouldn't fit if a new node is added): 1 node(s) had volume node affinity conflict, 2 node(s) didn't match node selector
""",("kube-scheduler nodes: 1 volumeNodeAffinity, 2 resource memory, 2 nodeAffinity, 9 resource cpu","cluster-autoscaler notScaled: 1 volumeNodeAffinity, 2 nodeAffinity"),EXPLAIN),
    Published("""| Type  | Reason | Age | From | Message |
| ------------- | ------------- | ------------- | ------------- | ------------- |
| Normal  | NotTriggerScaleUp | 2m4s (x31 over 7m) | cluster-autoscaler | pod didn't trigger scale-up (it wouldn't fit if a new node is added): 2 node(s) had volume node affinity conflict, 1 max limit reached |
| Warning  | FailedScheduling | 14s (x8 over 8m) | default-scheduler | 0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) had volume node affinity conflict. |
""",("cluster-autoscaler notScaled: 2 volumeNodeAffinity, 1 nodeGroupFull","kube-scheduler nodes: 1 cordon, 2 volumeNodeAffinity"),CLAIMS),
    Published("queue resource quota insufficient\n0/0 tasks in gang unschedulable: pod group is not ready, 1 minAvailable",("Volcano overused","Volcano gang"),"kubectl get queues.scheduling.volcano.sh -o yaml"),
    Published("  Warning  FailedScheduling  4m31s  volcano  pod group is not ready, 1 Pending, 1 minAvailable; Pending: 1 Unschedulable",("Volcano gang",),GROUPS),
    Published("    message: '1/0 tasks in gang unschedulable: 0 nodes are available'\n    reason: NotEnoughResources",("Volcano gang",),GROUPS),
    Published("""Status:
  Conditions:
    Last Transition Time:  2020-10-15T09:01:46Z
    Message:               1/1 tasks in gang unschedulable: pod group is not ready, 1 Pending, 1 minAvailable.
    Reason:                NotEnoughResources
    Status:                True
    Transition ID:         a6e36d8a-1672-406e-a9f5-f113174114fe
    Type:                  Unschedulable
  Phase:                   Inqueue
Events:
  Type     Reason         Age                    From     Message
  ----     ------         ----                   ----     -------
  Warning  Unschedulable  69s (x78789 over 26h)  volcano  1/1 tasks in gang unschedulable: pod group is not ready, 1 Pending, 1 minAvailable.
""",("Volcano gang",),GROUPS),
    Published("evicting pod longhorn-system/instance-manager-r-59d4d10e\nerror when evicting pods/\"instance-manager-r-59d4d10e\" -n \"longhorn-system\" (will retry after 5s): Cannot evict pod as it would violate the pod's disruption budget.\nevicting pod longhorn-system/instance-manager-r-59d4d10e\nerror when evicting pods/\"instance-manager-r-59d4d10e\" -n \"longhorn-system\" (will retry after 5s): Cannot evict pod as it would violate the pod's disruption budget.\npod/monitoring-plugin-56ccf75868-tfznk evicted\n",
  ("kube-apiserver eviction",),"kubectl get poddisruptionbudgets -n NAMESPACE"),
    Published("error when evicting pod \"istio-pilot-76899788b6-8hpt2\" (will retry after 5s): Cannot evict pod as it would violate the pod's disruption budget.\nerror when evicting pod \"istio-galley-84749d54b7-smnvj\" (will retry after 5s): Cannot evict pod as it would violate the pod's disruption budget.",("kube-apiserver eviction",),"kubectl get poddisruptionbudgets -n NAMESPACE"),
    Published("E0521 05:58:46.442152 1 drain_controller.go:163] error when evicting pods/\"etcd-0\" -n \"clusters-cl-418-a\" (will retry after 5s): Cannot evict pod as it would violate the pod's disruption budget.",("kube-apiserver eviction",),"kubectl get poddisruptionbudgets -n NAMESPACE"),
    Published("node/ip-10-0-1-2 cordoned\nerror: unable to drain node \"ip-10-0-1-2\" due to error:[cannot delete Pods with local storage (use --delete-emptydir-data to override): shop/web-0, cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): kube-system/kube-proxy-x], continuing command...\nThere are pending nodes to be drained:\n ip-10-0-1-2",
  ("kubectl drainRefused","kubectl drainRefused"),"kubectl get pods -A -o wide --field-selector spec.nodeName=NODE"),
    Published('The Deployment "deployment-2" is invalid: spec.template.spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnyway"',("kube-apiserver validation",),CHECK),
    Published('  Warning  FailedCreate  2s (x12 over 12s)  statefulset-controller  create Pod statefulset-2-0 in StatefulSet statefulset-2 failed error: Pod "statefulset-2-0" is invalid: spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnyway"',
  ("kube-controller-manager statefulsetCreate","kube-apiserver validation"),"kubectl describe statefulset statefulset-2 -n NAMESPACE"),
    Published('Error creating: pods "web-5d" is forbidden: error looking up service account shop/web: serviceaccount "web" not found',("kube-controller-manager serviceAccount",),"kubectl get serviceaccounts -n NAMESPACE"),
    Published('Error creating: pods "web-5d" is forbidden: no PriorityClass with name high was found',("kube-controller-manager priorityClass",),"kubectl get priorityclasses"),
    Published('Warning  FailedCreate  3m (x15 over 5m)  replicaset-controller  Error creating: pods "web-5d" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "web" must set securityContext.allowPrivilegeEscalation=false)',("kube-controller-manager podSecurity",),"kubectl get namespace NAMESPACE --show-labels"),
    Published('Error creating: pods "web-1-" is forbidden: unable to validate against any security context constraint: [provider restricted: .spec.securityContext.fsGroup: Invalid value: []int64{1000}: 1000 is not an allowed group]',("kube-controller-manager scc",),"oc get scc"),
    Published('Error from server (Forbidden): pods is forbidden: User "system:serviceaccount:shop:ci" cannot list resource "pods" in API group "" in the namespace "shop"',("kube-apiserver notAllowed",),"kubectl auth can-i --list -n NAMESPACE"),
    Published('  Warning  FailedMount  2m (x8 over 3m)  kubelet  MountVolume.SetUp failed for volume "config" : configmap "web-config" not found',("kubelet mountFailed",),"kubectl describe pod NAME -n NAMESPACE"),
    Published('  Warning  ProvisioningFailed  3s (x2 over 5s)  persistentvolume-controller  storageclass.storage.k8s.io "manual" not found',("persistentvolume-controller noSuchClass",),"kubectl get storageclass"),
    Published("Warning  FailedScheduling  12s  default-scheduler  0/3 nodes are available: 3 node(s) had untolerated taint {node.cloudprovider.kubernetes.io/uninitialized: true}. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
  ("kube-scheduler nodes: 3 taint {node.cloudprovider.kubernetes.io/uninitialized: true}; preemption: 3 preemptionNotHelpful",),EXPLAIN),
    Published("Scale-up: setting group eks-web-1 size to 7 instead of 6 (max: 10)",("cluster-autoscaler scaledUp",),"kubectl get nodes"),
    Published("  Normal   Unconsolidatable  5m  karpenter  SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node\n  Normal  DisruptionBlocked  18m  karpenter  Cannot disrupt Node: pdb \"default/web\" prevents pod evictions",("Karpenter karpenterDisruption","Karpenter karpenterDisruption"),"kubectl get poddisruptionbudgets -n NAMESPACE"),
    Published('{"level":"ERROR","time":"2024-05-02T10:00:00.000Z","logger":"controller","message":"Reconciler error","controller":"nodeclaim.lifecycle","NodeClaim":{"name":"default-x"},"error":"launching nodeclaim, insufficient capacity, with fleet error(s), InsufficientInstanceCapacity: We currently do not have sufficient m5.large capacity in the Availability Zone you requested (us-east-1a)."}',("Karpenter karpenterCapacity",),"kubectl get nodeclaims -o wide"),
    Published("one or more objects failed to apply, reason: Deployment.apps \"web\" is invalid: spec.template.spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty. Retrying attempt #1 at 3:00PM.",("kube-apiserver validation",),CHECK),
    Published("Error: INSTALLATION FAILED: 1 error occurred:\n\t* Deployment.apps \"web\" is invalid: spec.template.spec.topologySpreadConstraints[0].maxSkew: Required value\n\n",("kube-apiserver validation",),CHECK),
    Published('Error: failed to create resource: Deployment.apps "web" is invalid: [spec.template.spec.containers[0].image: Required value, spec.template.spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero]',("kube-apiserver validation","kube-apiserver validation"),CHECK),
    Published("│   Warning  FailedScheduling  4s    default-scheduler  0/3 nodes are available: 1 node(s) had untolerated taint │\n│ {node-role.kubernetes.io/control-plane: }, 2 node(s) didn't match pod topology spread constraints.             │",
  ("kube-scheduler nodes: 1 taint {node-role.kubernetes.io/control-plane: }, 2 constraint",),EXPLAIN),
    Published("""LAST SEEN   TYPE      REASON              OBJECT                      MESSAGE
45s         Warning   FailedScheduling    pod/web-7d9f-x2x4           0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints (missing required label).
50s         Normal    ScalingReplicaSet   deployment/web              Scaled up replica set web-7d9f to 3
""",("kube-scheduler nodes: 3 constraintLabelMissing",),"kubectl spread explain pod web-7d9f-x2x4 -n NAMESPACE"),
    Published("""NAMESPACE   LAST SEEN   TYPE      REASON              OBJECT                      MESSAGE
shop        45s         Warning   FailedScheduling    pod/web-7d9f-x2x4           0/3 nodes are available: 3 Insufficient cpu.
shop        50s         Normal    Pulled              pod/db-0                    Container image "x" already present on machine
""",("kube-scheduler nodes: 3 resource cpu",),"kubectl spread explain pod web-7d9f-x2x4 -n NAMESPACE"),
    Published("Pod Predicate NodeAffinity failed",("kubelet rejectedByNode",),"kubectl describe pod NAME -n NAMESPACE"),
    Published("Reason:       OutOfcpu\nMessage:      Pod Node didn't have enough resource: cpu, requested: 100, used: 1990, capacity: 2000",("kubelet outOfResource",),"kubectl describe pod NAME -n NAMESPACE"),
    Published("Reason: Evicted\nMessage: The node was low on resource: ephemeral-storage. Container web was using 2Gi, which exceeds its request of 0.",("kubelet evictedByNode",),"kubectl describe nodes | grep -A 8 Conditions"),
    Published("Warning  FailedScheduling  3m  default-scheduler  0/1 nodes are available: persistentvolumeclaim \"data\" is being deleted. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",("kube-scheduler nodes: - claimDeleted data; preemption: 1 preemptionNotHelpful",),EXPLAIN),
    Published("error: timed out waiting for the condition on deployments/web\nerror: deployment \"web\" exceeded its progress deadline",("kube-controller-manager progressDeadline",),"kubectl get pods -n NAMESPACE"),
    Published("""$ kubectl describe deployment web
Conditions:
  Type             Status  Reason
  ----             ------  ------
  Available        False   MinimumReplicasUnavailable
  ReplicaFailure   True    FailedCreate

$ kubectl describe replicaset web-7d8f6c9b54
Events:
  Type     Reason        Age                From                   Message
  ----     ------        ----               ----                   -------
  Warning  FailedCreate  12s (x5 over 30s)  replicaset-controller  Error creating: pods "web-7d8f6c9b54-" is forbidden: exceeded quota: team-quota, requested: requests.cpu=2, used: requests.cpu=9, limited: requests.cpu=10
""",("kube-controller-manager quota",),QUOTA),
    Published("""Warning FailedScheduling 8m55s default-scheduler 0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod..
Warning FailedScheduling 8m54s default-scheduler 0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod..
Normal Scheduled 8m52s default-scheduler Successfully assigned default/nextgen-gw-0 to node2
Normal SuccessfulAttachVolume 8m42s attachdetach-controller AttachVolume.Attach succeeded for volume "pvc-91825c7a-fe95-412a-9f04-a29972f20cd2"
Warning FailedMount 6m49s kubelet Unable to attach or mount volumes: unmounted volumes=[nmap-out vprobe-logs postgres-data content-home], unattached volumes=[], failed to process volumes=[]: timed out waiting for the condition
""",("kube-scheduler nodes: - claimUnbound; preemption: 2 noVictims", "kube-scheduler assigned", "kube-controller-manager attached", "kubelet mountFailed"),EXPLAIN),
    Published("""Events:
  Type     Reason                  Age                   From                        Message
  ----     ------                  ----                  ----                        -------
  Warning  FailedScheduling        <unknown>             default-scheduler           running "VolumeBinding" filter plugin for pod "minio-deployment-7799f5794b-rhnq5": pod has unbound immediate PersistentVolumeClaims
  Warning  FailedScheduling        <unknown>             default-scheduler           running "VolumeBinding" filter plugin for pod "minio-deployment-7799f5794b-rhnq5": pod has unbound immediate PersistentVolumeClaims
  Normal   Scheduled               <unknown>             default-scheduler           Successfully assigned default/minio-deployment-7799f5794b-rhnq5 to vm-0001.novalocal
  Normal   SuccessfulAttachVolume  5m24s                 attachdetach-controller     AttachVolume.Attach succeeded for volume "pvc-fca072e7"
  Warning  FailedMount             4m12s                 kubelet, vm-0001.novalocal  MountVolume.SetUp failed for volume "pvc-fca072e7" : rpc error: code = Internal desc = exit status 5
""",("kube-scheduler claimUnbound", "kube-scheduler assigned", "kube-controller-manager attached", "kubelet mountFailed"),CLAIMS),
    Published("""  Warning  FailedScheduling    44s                default-scheduler        0/5 nodes are available: 5 pod has unbound immediate PersistentVolumeClaims.
  Normal   Scheduled           37s                default-scheduler        Successfully assigned longhorn-system/longhorn-nfs-provisioner-76cb977b9f-76lnw to worker2
  Warning  FailedAttachVolume  21s (x6 over 37s)  attachdetach-controller  AttachVolume.Attach failed for volume "pvc-db670825" : rpc error: code = Internal desc = Bad response statusCode [500]. Status [500 Internal Server Error]. Body: [code=Server Error, detail=, message=unable to attach volume pvc-db670825 to worker2: volume pvc-db670825 not scheduled] from [http://longhorn-backend:9500/v1/volumes/pvc-db670825?action=attach]
""",("kube-scheduler nodes: 5 claimUnbound","kube-scheduler assigned","kube-controller-manager attachFailed"),EXPLAIN),
    Published("""  Warning  FailedScheduling        7m43s                  default-scheduler        0/8 nodes are available: 1 Insufficient memory, 1 node(s) had volume node affinity conflict, 2 node(s) didn't match pod topology spread constraints, 2 node(s) had taint {company.com/dedicated: ingress}, that the pod didn't tolerate, 2 node(s) had taint {company.com/dedicated: monitoring}, that the pod didn't tolerate.
""",("kube-scheduler nodes: 1 resource memory, 1 volumeNodeAffinity, 2 constraint, 2 taint {company.com/dedicated: ingress}, 2 taint {company.com/dedicated: monitoring}",),EXPLAIN),
    Published("""Events:
  Type     Reason              Age                  From                     Message
  ----     ------              ----                 ----                     -------
  Normal   Nominated           118s                 karpenter                Pod should schedule on: machine/arm-4vwlh
  Warning  FailedScheduling    114s (x3 over 119s)  default-scheduler        0/27 nodes are available: 1 node(s) had volume node affinity conflict, 14 node(s) didn't match Pod's node affinity/selector, 5 Insufficient cpu, 5 Insufficient memory, 5 node(s) had untolerated taint {simple.life/gitlab-runner: true}. preemption: 0/27 nodes are available: 20 Preemption is not helpful for scheduling, 7 No preemption victims found for incoming pod..
""",("Karpenter karpenterNominated","kube-scheduler nodes: 1 volumeNodeAffinity, 14 nodeAffinity, 5 resource cpu, 5 resource memory, 5 taint {simple.life/gitlab-runner: true}; preemption: 20 preemptionNotHelpful, 7 noVictims"),EXPLAIN),
    Published('> karpenter-f8c94f455-w6gw5 controller 2023-07-03T21:13:23.572Z\tERROR\tcontroller.provisioner\tCould not schedule pod, incompatible with provisioner "default", no instance type satisfied resources {"cpu":"2","memory":"6Gi","pods":"1"} and requirements karpenter.sh/provisioner-name In [default], topology.kubernetes.io/zone DoesNotExist, karpenter.sh/capacity-type In [on-demand spot] (no instance type met the scheduling requirements or had a required offering){"commit": "698f22f-dirty", "pod": "xxx/xxx"}',
 ("Karpenter karpenterPool", "Karpenter karpenterInstance", "Karpenter karpenterExcluded"),PROVISIONERS),
    Published('# Error from server (Forbidden): deployments.apps is forbidden:\n# User "john" cannot create resource "deployments" in API group "apps" in the namespace "production"',("kube-apiserver notAllowed",),"kubectl auth can-i --list -n NAMESPACE"),
    Published("""kubectl get pod web-7c9d8f5b6-2xk4q -o wide
NAME READY STATUS RESTARTS AGE IP NODE NOMINATED NODE READINESS GATES
web-7c9d8f5b6-2xk4q 0/1 Pending 0 3m <none> <none> <none> <none>
kubectl describe pod web-7c9d8f5b6-2xk4q | grep -A5 Events
Events:
Type Reason Age From Message
---- ------ ---- ---- -------
Warning FailedScheduling 2m default-scheduler 0/4 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 3 node(s) didn't match Pod's node affinity/selector. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.
""",("kube-scheduler nodes: 1 taint {node-role.kubernetes.io/control-plane: }, 3 nodeAffinity; preemption: 4 preemptionNotHelpful",),EXPLAIN),
    Published("2022-06-02T12:13:05.234Z\tDEBUG\tcontroller\tDiscovered subnets: [subnet-097dd9e57d1555d6d (eu-central-1c)]\n2022-06-02T12:13:06.000Z\tERROR\tcontroller.provisioning\tCould not schedule pod, incompatible with provisioner \"default\", incompatible requirements, key topology.kubernetes.io/zone, topology.kubernetes.io/zone In [eu-central-1a] not in topology.kubernetes.io/zone In [eu-central-1b]\t{\"commit\": \"7ac8d11\", \"pod\": \"redis/redis-master-0\"}",
 ("Karpenter karpenterPool","Karpenter karpenterRequirements"),PROVISIONERS),
    Published("Error from server (Forbidden): error when creating \"pod.yaml\": pods \"constraints-cpu-demo-2\" is forbidden: maximum cpu usage per Container is 800m, but limit is 1500m.",("kube-apiserver limitRange",),"kubectl describe limitrange -n NAMESPACE"),
    Published("Message: The node was low on resource: memory. Container x was using 2Gi",("kubelet evictedByNode",),"kubectl describe nodes | grep -A 8 Conditions"),
)  # fmt: skip

ALL = (*SCHEDULER, *AUTOSCALERS, *KARPENTER, *VOLCANO, *API_SERVER, *DEPLOYERS, *MORE)


def reading(message: Message) -> str:
    """Return a message as the table has it."""
    text = f"{message.component.value} {message.form}"
    lists = [message.parts, *([message.preemption.parts] if message.preemption is not None else [])]
    said = "; preemption: ".join(
        ", ".join(
            f"{'-' if part.number is None else part.number} {part.kind.value} {part.subject}".rstrip() for part in parts
        )
        for parts in lists
    )
    return f"{text}: {said}" if said else text


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.text.strip()[:60])
def test_a_published_message_is_read_as_people_read_it(case: Published) -> None:
    found = parse_all(case.text)

    assert case.messages == tuple(reading(item) for item in found)
    assert [] == [rest for item in found for rest in item.not_understood]
    assert case.first == meaning.commands(found[0])[0]


DESCRIBED = """\
Name:             web-6d4f9c7b58-9pdlw
Namespace:        shop
Priority:         0
Service Account:  default
Node:             <none>
Labels:           app=web
                  pod-template-hash=6d4f9c7b58
Annotations:      <none>
Status:           Pending
IP:
IPs:              <none>
Controlled By:    ReplicaSet/web-6d4f9c7b58
Containers:
  web:
    Image:      nginx:1.27
    Port:       <none>
    Host Port:  <none>
    Command:
      sh
      -c
      sleep 3600
    Limits:
      memory:  50Mi
    Requests:
      memory:     50Mi
    Environment:  <none>
    Mounts:
      /tmp/map.yaml from config (rw,path="map.yaml")
      /var/run/secrets/kubernetes.io/serviceaccount from kube-api-access-n65md (ro)
Conditions:
  Type           Status
  PodScheduled   False
Volumes:
  config:
    Type:      ConfigMap (a volume populated by a ConfigMap)
    Name:      config
    Optional:  false
QoS Class:                    Burstable
Node-Selectors:               <none>
Tolerations:                  node.kubernetes.io/not-ready:NoExecute op=Exists for 300s
                              node.kubernetes.io/unreachable:NoExecute op=Exists for 300s
Topology Spread Constraints:  topology.kubernetes.io/zone:DoNotSchedule when max skew 1 is exceeded for selector app=web
Events:
  Type     Reason             Age                  From                Message
  ----     ------             ----                 ----                -------
  Warning  FailedScheduling   17m (x3 over 22m)    default-scheduler   0/6 nodes are available: 2 node(s) had untolerated taint(s), 4 node(s) didn't match pod topology spread constraints.
  Normal   NotTriggerScaleUp  2m (x12 over 22m)    cluster-autoscaler  pod didn't trigger scale-up: 2 max node group size reached, 1 node(s) didn't match pod topology spread constraints
  Normal   SandboxChanged     1m                   kubelet             Pod sandbox changed, it will be killed and re-created.
"""


def test_the_whole_output_of_kubectl_describe_is_read() -> None:
    found = parse_all(DESCRIBED)

    assert [
        "kube-scheduler nodes: 2 taint, 4 constraint",
        "cluster-autoscaler notScaled: 2 nodeGroupFull, 1 constraint",
    ] == [reading(item) for item in found]
    assert [((), 3), ((), 12)] == [(item.not_understood, item.times) for item in found]


def test_what_stands_after_a_described_pod_is_not_part_of_it() -> None:
    (found,) = parse_all(DESCRIBED.partition("  Normal")[0] + "\nHow do I fix it?\n")

    assert ("How do I fix it?",) == found.not_understood


OBJECT = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web-0", "labels": {"app": "web"}},
    "spec": {"containers": [{"args": ["--message", "hello"], "name": "web"}]},
    "status": {
        "conditions": [
            {
                "message": "0/3 nodes are available: 3 Insufficient cpu.",
                "reason": "Unschedulable",
                "type": "PodScheduled",
            }
        ],
        "phase": "Pending",
    },
}
YAML = """\
apiVersion: v1
kind: Pod
metadata:
  labels:
    app: web
  name: web-0
spec:
  containers:
  - args:
    - --verbose
    - "0"
    name: web
status:
  conditions:
  - lastProbeTime: null
    message: '0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn''t
      match pod topology spread constraints.'
    reason: Unschedulable
    status: "False"
    type: PodScheduled
  phase: Pending
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (json.dumps(OBJECT), "3 resource cpu"),
        (json.dumps(OBJECT, indent=4), "3 resource cpu"),
        (json.dumps({"kind": "List", "items": [OBJECT, OBJECT]}, indent=2), "3 resource cpu"),
        (YAML, "1 taint, 2 constraint"),
    ],
)
def test_a_whole_object_is_read(text: str, expected: str) -> None:
    (found,) = parse_all(text)

    assert (f"kube-scheduler nodes: {expected}", ()) == (reading(found), found.not_understood)


def test_an_object_ends_where_other_text_begins() -> None:
    (found,) = parse_all(f"{YAML}Why is it Pending?\n")

    assert ("Why is it Pending?",) == found.not_understood


@pytest.mark.parametrize(
    ("counts", "cause"),
    [
        ("2 max node group size reached", "because no node group can grow now."),
        ("2 Insufficient cpu", "because a new node of any group would refuse the pod."),
        (
            "2 max node group size reached, 1 Insufficient cpu",
            "because each node group either cannot grow now, or its new node would refuse the pod.",
        ),
    ],
)
def test_why_no_node_is_added_follows_from_the_parts(counts: str, cause: str) -> None:
    (found,) = parse_all(f"pod didn't trigger scale-up: {counts}")

    assert cause in meaning.meaning_of_whole(found)


def test_each_invalid_field_of_a_list_names_the_object() -> None:
    found = parse_all(
        'The Deployment "web" is invalid:\n* spec.replicas: Invalid value: -1: must be greater than or equal to 0\n'
        "* spec.template.spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty\n"
    )

    assert ['Deployment "web"'] * 2 == [dict(item.details)["object"] for item in found]


@pytest.mark.parametrize(
    "text", ["0/3 nodes are available: 3 Insufficient cpu", "0/3 nodes are available: 3 my plugin failed"]
)
@pytest.mark.parametrize("end", ["retrying", "waiting"])
def test_what_the_scheduler_does_next_is_no_part_of_the_message(text: str, end: str) -> None:
    """As the logs of 1.16 to 1.19 end."""
    (found,) = parse_all(f"{text}; {end}")

    assert text == found.text
    assert end not in " ".join(found.not_understood)


def test_noise_is_reported_if_nothing_is_understood() -> None:
    (found,) = parse_all("Normal  Pulled  5m  kubelet  Container image already present on machine")

    assert ("unknown", 1) == (found.form, len(found.not_understood))


@pytest.mark.parametrize(
    "case", [*AUTOSCALERS, *KARPENTER, *VOLCANO, *API_SERVER], ids=lambda case: case.text.strip()[:60]
)
def test_a_published_message_that_a_terminal_broke_says_the_same(case: Published) -> None:
    """After 120 characters, also within words."""
    lines = case.text.replace("\t", " ").split("\n")
    broken = "\n".join(line[at : at + 120] for line in lines for at in range(0, max(1, len(line)), 120))
    found = parse_all(broken)

    assert [text.replace(" ", "") for text in case.messages] == [reading(item).replace(" ", "") for item in found]
    assert [] == [rest for item in found for rest in item.not_understood]


def test_a_message_that_an_editor_broke_at_blanks_says_the_same() -> None:
    text = (
        "Warning  FailedScheduling  46s  karpenter  Failed to schedule pod, incompatible with\n"
        'nodepool "a", daemonset overhead={"cpu":"150m"}, incompatible requirements, key type,\n'
        'type In [on-demand] not in type In [spot]; incompatible with nodepool "b", did not\n'
        "tolerate c=d:NoSchedule\n"
        "How do I fix it?\n"
    )
    found = parse_all(text)

    assert ["karpenterPool", "karpenterRequirements", "karpenterPool", "karpenterTaint"] == [
        item.form for item in found
    ]
    assert ["How do I fix it?"] == [rest for item in found for rest in item.not_understood]
