"""Workloads, and the pods their controllers make."""

from __future__ import annotations

import re
from typing import Any, Optional

import pytest

from kubectl_spread.objects.node import Toleration
from kubectl_spread.objects.pod import Owner
from kubectl_spread.objects.selectors import LabelRequirement, NodeSelectorTerm
from kubectl_spread.objects.workloads import replica
from kubectl_spread.objects.workloads.kinds import BUILT_IN, find_kind, PodPlace
from kubectl_spread.objects.workloads.workload import created_labels, knative_scale, Workload, workload

NOT_READY = Toleration("node.kubernetes.io/not-ready", "Exists", "", "NoExecute", seconds=300)
UNREACHABLE = Toleration("node.kubernetes.io/unreachable", "Exists", "", "NoExecute", seconds=300)
TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {}}


def made(kind: str, spec: Any, *, api_version: str = "apps/v1") -> Workload:
    return workload({"apiVersion": api_version, "metadata": {"name": "web", "namespace": "shop"}, "spec": spec}, kind)


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        ("Pod", {}, 1),
        ("PodTemplate", {}, 1),
        *(
            (kind, spec, replicas)
            for kind in ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController")
            for spec, replicas in (
                (None, 1), ({}, 1), ({"replicas": None}, 1), ({"replicas": 0}, 0), ({"replicas": 7}, 7),
                ({"replicas": 3.0}, 3), ({"replicas": -1}, 0),
            )
        ),
        ("DaemonSet", {"replicas": 7}, None),
        ("Job", {}, 1),
        ("Job", {"parallelism": 4}, 4),
        ("Job", {"parallelism": 4, "completions": 3}, 3),
        ("Job", {"parallelism": 4, "completions": 9}, 4),
        ("Job", {"completions": 9}, 1),
        ("Job", {"parallelism": 0}, 0),
        ("Job", {"parallelism": 4, "suspend": True}, 0),
        ("Job", {"parallelism": 4, "suspend": False}, 4),
        ("CronJob", {}, 1),
        ("CronJob", {"jobTemplate": {"spec": {"parallelism": 4, "completions": 2}}}, 2),
        ("CronJob", {"jobTemplate": {"spec": {"suspend": True}}}, 0),
        ("CronJob", {"suspend": True, "jobTemplate": {"spec": {"parallelism": 4}}}, 0),
        ("CronJob", {"jobTemplate": None}, 1),
        *((kind, {"replicas": 7, "template": TEMPLATE}, 7) for kind in ("Rollout", "DeploymentConfig", "CloneSet")),
        ("Service", {"template": TEMPLATE}, 1),
        *(
            ("Service", {"template": {"metadata": {"annotations": {f"autoscaling.knative.dev/{name}": number}}}}, pods)
            for name, number, pods in (
                ("min-scale", "3", 3), ("minScale", "3", 3), ("min-scale", "0", 1), ("min-scale", "many", 1),
                ("max-scale", "3", 1),
            )
        ),
    ],
)  # fmt: skip
def test_a_workload_runs_as_many_pods_at_a_time(kind: str, spec: Any, expected: Optional[int]) -> None:
    """Its replicas, by default one; of a Job what runs at once; a DaemonSet has no number."""
    assert expected == made(kind, spec).replicas


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("Deployment", {"template": TEMPLATE}),
        ("Job", {"template": TEMPLATE}),
        ("CronJob", {"jobTemplate": {"spec": {"template": TEMPLATE}}}),
    ],
)
def test_the_template_is_found(kind: str, spec: Any) -> None:
    """Where each kind keeps it; a CronJob two levels deeper."""
    assert TEMPLATE == made(kind, spec).template


@pytest.mark.parametrize("plain", [{}, {"spec": None}, {"spec": {"template": None}}])
def test_a_workload_without_a_template_has_an_empty_one(plain: Any) -> None:
    """Null is the same as nothing."""
    assert {} == workload(plain, "Deployment").template


HASH = "[bcdfghjklmnpqrstvwxz2456789]+"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("Pod", {}),
        ("ReplicaSet", {}),
        ("ReplicationController", {}),
        ("Deployment", {"pod-template-hash": HASH}),
        (
            "StatefulSet",
            {
                "controller-revision-hash": f"web-{HASH}",
                "statefulset.kubernetes.io/pod-name": "web-2",
                "apps.kubernetes.io/pod-index": "2",
            },
        ),
        ("DaemonSet", {"controller-revision-hash": HASH, "pod-template-generation": "1"}),
        ("Rollout", {"rollouts-pod-template-hash": HASH}),
        ("DeploymentConfig", {"deploymentconfig": "web", "deployment": "web-1"}),
        (
            "CloneSet",
            {
                "controller-revision-hash": f"web-{HASH}",
                "pod-template-hash": HASH,
                "apps.kruise.io/cloneset-instance-id": HASH,
            },
        ),
        *(
            (
                kind,
                {
                    "batch.kubernetes.io/job-name": "web",
                    "batch.kubernetes.io/controller-uid": HASH,
                    "job-name": "web",
                    "controller-uid": HASH,
                },
            )
            for kind in ("Job", "CronJob")
        ),
    ],
)
def test_a_controller_adds_its_labels(kind: str, expected: dict[str, str]) -> None:
    """Beside those of the template."""
    owner = Workload(kind, "v1", "shop", "web", 3, {"metadata": {"labels": {"app": "web"}}})
    labels = created_labels(owner, 2)

    assert {"app", *expected} == set(labels)
    assert "web" == labels["app"]
    assert all(re.fullmatch(pattern, labels[key]) for key, pattern in expected.items())


def test_the_hash_follows_the_template() -> None:
    """Equal templates have equal hashes, others another."""
    one, same, other = (
        created_labels(made("Deployment", {"template": {"spec": {"priority": priority}}})) for priority in (1, 1, 2)
    )

    assert one == same
    assert one != other


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("Pod", ["web", "web"]),
        ("StatefulSet", ["web-0", "web-1"]),
        ("Deployment", ["web-1", "web-2"]),
        ("Job", ["web-1", "web-2"]),
    ],
)
def test_pods_are_named_after_their_workload(kind: str, expected: list[str]) -> None:
    """A StatefulSet counts from 0; a random suffix becomes a number from 1."""
    assert expected == [replica.replica(made(kind, {}), ordinal).name for ordinal in range(2)]


def test_a_replica_is_the_pod_of_the_template() -> None:
    """In the workload's namespace, owned by it, unbound."""
    spec = {"template": {"metadata": {"labels": {"app": "web"}}, "spec": {"nodeSelector": {"disk": "ssd"}}}}
    pod = replica.replica(made("ReplicaSet", spec), 0)

    assert ("shop", "web-1", "") == (pod.namespace, pod.name, pod.node_name)
    assert ((("app", "web"),), (("disk", "ssd"),)) == (pod.cls.labels, pod.cls.node_selector)
    assert Owner("apps/v1", "ReplicaSet", "web") == pod.cls.owner


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (None, [NOT_READY, UNREACHABLE]),
        ([{"key": "gpu", "operator": "Exists"}], [Toleration("gpu", "Exists"), NOT_READY, UNREACHABLE]),
        (
            [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}],
            [NOT_READY._replace(seconds=None), UNREACHABLE],
        ),
        (
            [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}],
            [Toleration("node.kubernetes.io/not-ready", "", "", "NoSchedule"), NOT_READY, UNREACHABLE],
        ),
        (
            [{"key": "node.kubernetes.io/unreachable", "operator": "Exists"}],
            [Toleration("node.kubernetes.io/unreachable", "Exists"), NOT_READY],
        ),
        ([{"operator": "Exists"}], [Toleration("", "Exists")]),
        ([{"operator": "Exists", "effect": "NoExecute"}], [Toleration("", "Exists", "", "NoExecute")]),
        (
            [{"operator": "Exists", "effect": "NoSchedule"}],
            [Toleration("", "Exists", "", "NoSchedule"), NOT_READY, UNREACHABLE],
        ),
    ],
)
def test_a_created_pod_tolerates_nodes_that_are_lost_for_a_while(own: Any, expected: list[Toleration]) -> None:
    """DefaultTolerationSeconds adds two tolerations, unless the pod has its own."""
    pod = replica.replica(made("Deployment", {"template": {"spec": {"tolerations": own}}}), 0)

    assert tuple(expected) == pod.cls.tolerations


def tolerated(key: str, effect: str) -> Toleration:
    return Toleration(f"node.kubernetes.io/{key}", "Exists", "", effect)


DAEMON = [
    tolerated("not-ready", "NoExecute"),
    tolerated("unreachable", "NoExecute"),
    tolerated("disk-pressure", "NoSchedule"),
    tolerated("memory-pressure", "NoSchedule"),
    tolerated("pid-pressure", "NoSchedule"),
    tolerated("unschedulable", "NoSchedule"),
]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, DAEMON),
        ({"hostNetwork": False}, DAEMON),
        ({"hostNetwork": True}, [*DAEMON, tolerated("network-unavailable", "NoSchedule")]),
        ({"tolerations": [{"key": "gpu", "operator": "Exists"}]}, [Toleration("gpu", "Exists"), *DAEMON]),
    ],
)
def test_a_daemon_tolerates_what_ails_a_node(spec: Any, expected: list[Toleration]) -> None:
    """Pressure, cordons and lost nodes; with hostNetwork also that its network is not up."""
    assert tuple(expected) == replica.daemon(made("DaemonSet", {"template": {"spec": spec}}), "n1").cls.tolerations


@pytest.mark.parametrize(
    "affinity",
    [
        None,
        {"nodeAffinity": None},
        {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]
                }
            }
        },
    ],
)
def test_a_daemon_is_pinned_to_its_node(affinity: Any) -> None:
    """By one term on the node's name, which replaces what the template required."""
    pod = replica.daemon(made("DaemonSet", {"template": {"spec": {"affinity": affinity}}}), "n1")
    term = NodeSelectorTerm((), (LabelRequirement("metadata.name", "In", ("n1",)),))

    assert "web-n1" == pod.name
    assert (term,) == pod.cls.node_affinity.required


@pytest.mark.parametrize(
    ("kind", "api_version", "expected"),
    [
        ("Pod", "v1", True), ("Pod", "", True), ("Pod", "apps/v1", False),
        ("Deployment", "apps/v1", True), ("Deployment", "extensions/v1beta1", True), ("Deployment", "v1", False),
        ("Deployment", "example.com/v1", False),
        ("CronJob", "batch/v1beta1", True), ("Job", "apps/v1", False),
        ("Service", "v1", False), ("", "", False), ("Service", "serving.knative.dev/v1", True),
        ("Rollout", "argoproj.io/v1alpha1", True), ("Rollout", "v1", False),
        ("DeploymentConfig", "apps.openshift.io/v1", True), ("CloneSet", "apps.kruise.io/v1alpha1", True),
        ("StatefulSet", "apps.kruise.io/v1beta1", True), ("DaemonSet", "apps.kruise.io/v1alpha1", True),
        ("Deployment", "apps.kruise.io/v1", False), ("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", True),
        ("JobSet", "jobset.x-k8s.io/v1alpha2", True), ("RayCluster", "ray.io/v1", True),
    ],
)  # fmt: skip
def test_a_kind_belongs_to_its_group(kind: str, api_version: str, expected: bool) -> None:
    """A Deployment of another group is somebody else's."""
    assert expected == (BUILT_IN.of(kind, api_version) is not None)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("deploy", "Deployment"), ("deployments", "Deployment"), ("Deployment", "Deployment"),
        ("deployments.apps", "Deployment"), ("deployment.v1.apps", "Deployment"), ("sts", "StatefulSet"), ("po", "Pod"),
        ("cj", "CronJob"), ("rc", "ReplicationController"), ("ds", "DaemonSet"),
        ("service", None), ("services", None), ("", None), ("deployx", None),
        ("ksvc", "Service"), ("services.serving.knative.dev", "Service"), ("service.v1.serving.knative.dev", "Service"),
        ("rollouts.argoproj.io", "Rollout"), ("ro", "Rollout"), ("dc", "DeploymentConfig"), ("clone", "CloneSet"),
        ("lws", "LeaderWorkerSet"), ("statefulsets.apps.kruise.io", "StatefulSet"), ("jobset", "JobSet"),
    ],
)  # fmt: skip
def test_a_kind_has_the_names_that_kubectl_knows(name: str, expected: Optional[str]) -> None:
    """Singular, plural, short, with a group, in any case."""
    assert expected == find_kind(name)


def test_a_statefulset_counts_from_its_first_ordinal() -> None:
    """`spec.ordinals.start` numbers the pods, and is their index label."""
    plain = {"metadata": {"name": "db"}, "spec": {"replicas": 2, "ordinals": {"start": 5}, "template": {}}}
    owner = workload(plain, "StatefulSet")
    labels = dict(replica.replica(owner, 1).cls.labels)

    assert ("db-6", "6") == (replica.replica(owner, 1).name, labels["apps.kubernetes.io/pod-index"])


def test_the_pods_of_an_indexed_job_know_their_index() -> None:
    job = {"completionMode": "Indexed", "completions": 3, "parallelism": 3, "template": {}}
    owner = workload({"metadata": {"name": "import"}, "spec": job}, "Job")

    assert "2" == dict(replica.replica(owner, 2).cls.labels)["batch.kubernetes.io/job-completion-index"]


def test_the_pods_of_a_knative_service_are_those_of_its_revision() -> None:
    """A Deployment stands behind it; the revision has the template's name, or a number."""
    counted = created_labels(made("Service", {"template": TEMPLATE}))
    named = created_labels(made("Service", {"template": {"metadata": {"name": "web-green"}}}))

    assert {"service": "web", "configuration": "web", "revision": "web-00001"} == {
        name: counted[f"serving.knative.dev/{name}"] for name in ("service", "configuration", "revision")
    }
    assert "web" == counted["app"]  # the template's own
    assert ("web-green", "web-green") == (named["app"], named["serving.knative.dev/revision"])
    assert re.fullmatch(HASH, counted["pod-template-hash"])


def test_annotations_say_how_far_a_knative_service_scales() -> None:
    def scale(**annotations: str) -> Any:
        named = {f"autoscaling.knative.dev/{name.replace('_', '-')}": text for name, text in annotations.items()}
        return knative_scale({"metadata": {"annotations": named}})

    assert (None, None) == knative_scale({"metadata": None})
    assert (2, 5) == scale(min_scale="2", max_scale="5")
    assert (0, None) == scale(min_scale="0", max_scale="0")
    assert (2, 5) == scale(minScale="2", maxScale="5")


LEADER = ("spec", "leaderWorkerTemplate", "leaderTemplate")
WORKER = ("spec", "leaderWorkerTemplate", "workerTemplate")


def group_set(at: tuple[str, ...], **templates: Any) -> Workload:
    spec = {"replicas": 2, "leaderWorkerTemplate": {"size": 3, **templates}}
    return workload({"metadata": {"name": "llm"}, "spec": spec}, "LeaderWorkerSet", at=PodPlace(at, (*at, "spec")))


def members(owner: Workload) -> list[tuple[str, str, str]]:
    """Names, groups, indices."""
    prefix = "leaderworkerset.sigs.k8s.io"
    pods = [replica.replica(owner, at) for at in range(owner.replicas or 0)]
    labels = [dict(pod.cls.labels) for pod in pods]
    return [
        (pod.name, own[f"{prefix}/group-index"], own[f"{prefix}/worker-index"])
        for pod, own in zip(pods, labels, strict=True)
    ]


def test_a_group_has_one_leader_and_its_workers() -> None:
    """The leader is the first of its `size` pods."""
    both = {"leaderTemplate": TEMPLATE, "workerTemplate": TEMPLATE}

    assert [("llm-0", "0", "0"), ("llm-1", "1", "0")] == members(group_set(LEADER, **both))
    assert [("llm-0-1", "0", "1"), ("llm-0-2", "0", "2"), ("llm-1-1", "1", "1"), ("llm-1-2", "1", "2")] == members(
        group_set(WORKER, **both)
    )


def test_without_a_leader_template_the_leader_is_like_the_workers() -> None:
    owner = group_set(WORKER, workerTemplate=TEMPLATE)

    assert ["llm-0", "llm-0-1", "llm-0-2", "llm-1", "llm-1-1", "llm-1-2"] == [name for name, _, _ in members(owner)]


def test_leaders_and_workers_have_the_same_revision() -> None:
    both = {"leaderTemplate": TEMPLATE, "workerTemplate": {"spec": {"priority": 1}}}
    revisions = [
        created_labels(group_set(at, **both))["leaderworkerset.sigs.k8s.io/template-revision-hash"]
        for at in (LEADER, WORKER)
    ]

    assert revisions[0] == revisions[1]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("Rollout", ("apps/v1", "ReplicaSet")),
        ("Service", ("apps/v1", "ReplicaSet")),
        ("DeploymentConfig", ("v1", "ReplicationController")),
        ("LeaderWorkerSet", ("apps/v1", "StatefulSet")),
        ("CloneSet", ("apps/v1", "CloneSet")),
    ],
)
def test_what_a_controller_makes_controls_the_pods(kind: str, expected: tuple[str, str]) -> None:
    assert expected == replica.controller_of(made(kind, {"template": TEMPLATE}))[:2]


def test_a_deployment_config_selects_its_deployment() -> None:
    """A map, to which the name of the ReplicationController is added."""
    owner = made("DeploymentConfig", {"selector": {"app": "web"}, "template": TEMPLATE})
    expected = (LabelRequirement("app", "In", ("web",)), LabelRequirement("deployment", "In", ("web-1",)))

    assert expected == replica.controller_selector(owner).requirements


@pytest.mark.parametrize(
    ("kind", "label"),
    [("Rollout", "rollouts-pod-template-hash"), ("Service", "pod-template-hash"), ("Deployment", "pod-template-hash")],
)
def test_a_replica_set_selects_its_revision(kind: str, label: str) -> None:
    owner = made(kind, {"selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE})

    assert LabelRequirement(label, "In", (created_labels(owner)[label],)) in (
        replica.controller_selector(owner).requirements or ()
    )
