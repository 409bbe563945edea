"""Kinds beyond those of Kubernetes: where their pods are, whose labels count, and how many there are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Optional

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.lint import pipeline
from kubectl_spread.lint.check_source import check_source, Result
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.registry import RULES
from kubectl_spread.lint.selection import LintPolicy
from kubectl_spread.objects.workloads.kinds import BUILT_IN, Kinds, PodSpecPath, with_paths
from kubectl_spread.text.source import SourceFile
from tests.lint.cases import check_workloads

CONSTRAINT = (
    "{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway,"
    " labelSelector: {matchLabels: {app: web}}}"
)
POD = f"{{metadata: {{labels: {{app: web}}}}, spec: {{topologySpreadConstraints: [{CONSTRAINT}]}}}}"
PLACES = {
    "argoproj.io/v1alpha1 Rollout": "{{template: {pod}}}",
    "serving.knative.dev/v1 Service": "{{template: {pod}}}",
    "apps.openshift.io/v1 DeploymentConfig": "{{template: {pod}}}",
    "apps.kruise.io/v1alpha1 CloneSet": "{{template: {pod}}}",
    "apps.kruise.io/v1beta1 StatefulSet": "{{template: {pod}}}",
    "apps.kruise.io/v1alpha1 DaemonSet": "{{template: {pod}}}",
    "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet": "{{leaderWorkerTemplate: {{workerTemplate: {pod}}}}}",
    "jobset.x-k8s.io/v1alpha2 JobSet": "{{replicatedJobs: [{{template: {{spec: {{template: {pod}}}}}}}]}}",
    "ray.io/v1 RayCluster": "{{workerGroupSpecs: [{{template: {pod}}}]}}",
    "elasticsearch.k8s.elastic.co/v1 Elasticsearch": "{{nodeSets: [{{podTemplate: {pod}}}]}}",
    "kibana.k8s.elastic.co/v1 Kibana": "{{podTemplate: {pod}}}",
}


def manifest(kind: str, spec: str) -> str:
    version, name = kind.split()
    return f"apiVersion: {version}\nkind: {name}\nmetadata: {{name: web, namespace: shop}}\nspec: {spec}\n"


def checked(text: str, kinds: Kinds = BUILT_IN) -> Result:
    return check_source(SourceFile("web.yaml", text), named=True, kinds=kinds)


def codes(text: str, kinds: Kinds = BUILT_IN) -> list[str]:
    """What the API server would say of a text, and the rules about selectors and labels."""
    result = checked(text, kinds)
    asked = [code for code in RULES if code.startswith("SPR2") or code == "SPR403"]
    found = [*result.findings, *check_workloads(Project(result.subjects, result.others), asked)]
    return sorted(finding.rule.code for finding in found)


@pytest.mark.parametrize("kind", PLACES)
def test_a_kind_is_checked_where_it_keeps_its_pods(kind: str) -> None:
    """What the API server would say to the pods, and that they are there."""
    right = manifest(kind, PLACES[kind].format(pod=POD))
    result = checked(right.replace("maxSkew: 1", "maxSkew: 0"))

    assert ["SPR101"] == [finding.rule.code for finding in result.findings]
    assert [] == [finding.rule.code for finding in checked(right).findings]
    assert ["web"] == [item.workload.name for item in checked(right).workloads]


@pytest.mark.parametrize("kind", PLACES)
def test_a_kind_of_another_group_is_somebody_elses(kind: str) -> None:
    text = manifest(kind, PLACES[kind].format(pod=POD.replace("maxSkew: 1", "maxSkew: 0")))
    _, name = kind.split()
    result = checked(text.replace(kind.split(maxsplit=1)[0], "example.com/v1"))

    judged = pipeline.findings_of([result], LintPolicy())

    assert ["SPR101"] == [finding.rule.code for finding in judged.findings], name
    assert ["SPR006"] == [finding.rule.code for finding in judged.unchecked], name
    assert () == result.subjects


def test_a_service_of_the_core_is_none_of_knative() -> None:
    """Even in a text that has both."""
    core = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}}\n"
    both = f"{core}---\n{manifest('serving.knative.dev/v1 Service', f'{{template: {POD}}}')}"

    assert [] == list(checked(core).subjects)
    assert ["serving.knative.dev/v1"] == [item.manifest.api_version for item in checked(both).subjects]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kind: Service\n", False),
        ("kind: Service\napiVersion: serving.knative.dev/v1", True),
        ("kind: ConfigMap\ndata: {x: serving.knative.dev}", False),
        ("kind: Rollout\n", True),
        ('{"kind": "LeaderWorkerSet"}', True),
        ("kind: ServiceList\n", True),
    ],
)
def test_a_text_without_a_workload_is_not_even_parsed(text: str, expected: bool) -> None:
    """A Service only where the group of Knative is named, too."""
    assert expected == BUILT_IN.may_be_in(text)


@pytest.mark.parametrize("kind", ["argoproj.io/v1alpha1 Rollout", "serving.knative.dev/v1 Service"])
def test_misplaced_constraints_are_sent_to_the_place_of_the_kind(kind: str) -> None:
    (finding,) = checked(manifest(kind, f"{{topologySpreadConstraints: [{CONSTRAINT}]}}")).findings

    assert ("SPR115", "spec.topologySpreadConstraints") == (finding.rule.code, finding.path)
    assert "move it to spec.template.spec.topologySpreadConstraints" == finding.hint


def test_misplaced_constraints_of_a_group_go_to_its_workers_or_stay_with_the_leader() -> None:
    """In the leader's template to the leader's pod, elsewhere to the workers'."""
    kind = "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet"
    worker = "spec.leaderWorkerTemplate.workerTemplate.spec.topologySpreadConstraints"
    leader = "spec.leaderWorkerTemplate.leaderTemplate.spec.topologySpreadConstraints"
    constraints = f"topologySpreadConstraints: [{CONSTRAINT}]"
    inside = f"{{leaderWorkerTemplate: {{leaderTemplate: {{{constraints}, spec: {{}}}}, workerTemplate: {POD}}}}}"

    assert [f"move it to {worker}"] == [item.hint for item in checked(manifest(kind, f"{{{constraints}}}")).findings]
    assert [f"move it to {leader}"] == [item.hint for item in checked(manifest(kind, inside)).findings]


def test_a_group_has_two_templates() -> None:
    """Both are checked, and each is a workload of its own."""
    spec = f"{{leaderWorkerTemplate: {{size: 4, leaderTemplate: {POD}, workerTemplate: {POD}}}}}"
    text = manifest("leaderworkerset.x-k8s.io/v1 LeaderWorkerSet", spec)
    result = checked(text.replace("maxSkew: 1", "maxSkew: 0"))

    assert [1, 3] == sorted(item.workload.replicas or 0 for item in checked(text).subjects)
    assert [
        f"spec.leaderWorkerTemplate.{name}.spec.topologySpreadConstraints[0].maxSkew"
        for name in ("workerTemplate", "leaderTemplate")
    ] == [finding.path for finding in result.findings]


def test_what_does_not_decode_is_the_pods_own_fault() -> None:
    """Nobody knows what the schema of a custom resource says."""
    text = manifest("argoproj.io/v1alpha1 Rollout", f"{{template: {POD.replace('maxSkew: 1', 'maxSkew: one')}}}")
    (finding,) = checked(text).findings

    assert "SPR113" == finding.rule.code
    begin = "`maxSkew` is `one`, but must be a whole number (no pod of this Rollout can be created: json: cannot unma"
    assert finding.message.startswith(begin)


def test_an_unknown_field_of_a_custom_resource() -> None:
    text = manifest("argoproj.io/v1alpha1 Rollout", f"{{template: {POD.replace('maxSkew: 1', 'maxSkew: 1, skew: 2')}}}")
    (finding,) = checked(text).findings
    field = "spec.template.spec.topologySpreadConstraints[0].skew"

    assert finding.message == (
        f'`skew` is not a field of Kubernetes: strict validation refuses "{field}", or it is dropped'
    )


@pytest.mark.parametrize(
    ("kind", "key", "expected"),
    [
        ("argoproj.io/v1alpha1 Rollout", "rollouts-pod-template-hash", []),
        ("argoproj.io/v1alpha1 Rollout", "pod-template-hash", ["SPR403"]),
        ("serving.knative.dev/v1 Service", "pod-template-hash", []),
        ("serving.knative.dev/v1 Service", "serving.knative.dev/revision", []),
        ("serving.knative.dev/v1 Service", "controller-revision-hash", ["SPR209"]),
        ("apps.openshift.io/v1 DeploymentConfig", "deployment", []),
        ("apps.openshift.io/v1 DeploymentConfig", "pod-template-hash", ["SPR209"]),
        ("apps.kruise.io/v1alpha1 CloneSet", "pod-template-hash", []),
        ("apps.kruise.io/v1alpha1 CloneSet", "controller-revision-hash", []),
        ("apps.kruise.io/v1alpha1 CloneSet", "apps.kruise.io/cloneset-instance-id", ["SPR208"]),
        ("apps.kruise.io/v1beta1 StatefulSet", "pod-template-hash", ["SPR209"]),
        ("apps.kruise.io/v1beta1 StatefulSet", "controller-revision-hash", []),
        ("leaderworkerset.x-k8s.io/v1 LeaderWorkerSet", "leaderworkerset.sigs.k8s.io/group-key", []),
        ("leaderworkerset.x-k8s.io/v1 LeaderWorkerSet", "pod-template-hash", ["SPR209"]),
        ("ray.io/v1 RayCluster", "ray.io/cluster", []),  # nobody knows here what it adds
    ],
)
def test_the_labels_of_a_controller_are_known(kind: str, key: str, expected: list[str]) -> None:
    """As keys of matchLabelKeys."""
    pod = POD.replace("maxSkew: 1", f"maxSkew: 1, matchLabelKeys: [{key}]")

    assert expected == codes(manifest(kind, PLACES[kind].format(pod=pod)))


@pytest.mark.parametrize(
    ("kind", "selected", "expected"),
    [
        ("argoproj.io/v1alpha1 Rollout", "{app: shop}", ["SPR203"]),
        ("argoproj.io/v1alpha1 Rollout", "{tier: web}", ["SPR203"]),
        ("serving.knative.dev/v1 Service", "{serving.knative.dev/service: web}", []),
        ("ray.io/v1 RayCluster", "{app: shop}", ["SPR203"]),
        ("ray.io/v1 RayCluster", "{ray.io/cluster: web}", []),
    ],
)
def test_a_selector_may_name_labels_that_an_operator_adds(kind: str, selected: str, expected: list[str]) -> None:
    """Not another value of a label that the template has."""
    pod = POD.replace("{matchLabels: {app: web}}", f"{{matchLabels: {selected}}}")

    assert expected == codes(manifest(kind, PLACES[kind].format(pod=pod)))


def replicas(text: str) -> tuple[Optional[int], Optional[int]]:
    """Of the first workload."""
    result = checked(text)
    project = Project(result.subjects, result.others)
    return project.subjects[0].replicas[:2]


HPA = """\
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec: {scaleTargetRef: {kind: KIND, name: web}, minReplicas: 2, maxReplicas: 9}
"""
SCALED = """\
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: web, namespace: shop}
spec: {scaleTargetRef: {kind: KIND, name: web}, maxReplicaCount: 7}
"""


@pytest.mark.parametrize(
    ("kind", "spec", "beside", "expected"),
    [
        ("argoproj.io/v1alpha1 Rollout", "{{replicas: 4, template: {pod}}}", "", (4, 4)),
        ("argoproj.io/v1alpha1 Rollout", "{{template: {pod}}}", "", (None, None)),
        ("argoproj.io/v1alpha1 Rollout", "{{replicas: 4, template: {pod}}}", HPA, (2, 9)),
        ("argoproj.io/v1alpha1 Rollout", "{{replicas: 4, template: {pod}}}", SCALED, (0, 7)),
        ("argoproj.io/v1alpha1 Rollout", "{{template: {pod}}}", HPA.replace("KIND", "Deployment"), (None, None)),
        ("apps.openshift.io/v1 DeploymentConfig", "{{replicas: 4.0, template: {pod}}}", "", (4, 4)),
        ("serving.knative.dev/v1 Service", "{{replicas: 4, template: {pod}}}", "", (None, None)),
        (
            "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet",
            "{{replicas: 2, leaderWorkerTemplate: {{size: 3, workerTemplate: {pod}}}}}",
            "",
            (6, 6),
        ),
        (
            "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet",
            "{{leaderWorkerTemplate: {{size: 3, leaderTemplate: {{}}, workerTemplate: {pod}}}}}",
            HPA,
            (6, 27),
        ),
        (
            "elasticsearch.k8s.elastic.co/v1 Elasticsearch",
            "{{nodeSets: [{{count: 3, podTemplate: {pod}}}]}}",
            HPA,
            (None, None),
        ),
    ],
)
def test_the_replicas_of_a_kind(kind: str, spec: str, beside: str, expected: Any) -> None:
    """What it says, or its autoscaler; groups times their size."""
    text = manifest(kind, spec.format(pod=POD)) + beside.replace("KIND", kind.split()[1])

    assert expected == replicas(text)


def test_annotations_of_knative_say_how_many() -> None:
    pod = POD.replace("metadata: {", "metadata: {annotations: {autoscaling.knative.dev/max-scale: '5'}, ")

    assert (None, 5) == replicas(manifest("serving.knative.dev/v1 Service", f"{{template: {pod}}}"))


DEPLOYMENT = manifest("apps/v1 Deployment", f"{{replicas: 0, template: {POD}}}")
ROLLOUT = manifest(
    "argoproj.io/v1alpha1 Rollout", "{replicas: 5, workloadRef: {apiVersion: apps/v1, kind: Deployment, name: web}}"
)


def test_a_rollout_may_take_the_template_of_a_deployment() -> None:
    """It has none of its own, and the Deployment's pods are as many as it says."""
    result = checked(f"{DEPLOYMENT}---\n{ROLLOUT}")
    project = Project(result.subjects, result.others)

    assert (["Deployment"], 0) == ([item.workload.kind for item in result.subjects], result.rejected)
    assert [("Rollout", "web", 5)] == [(item.kind, item.name, item.replicas) for item in project.workloads]
    assert (5, 5) == replicas(f"{DEPLOYMENT}---\n{ROLLOUT}")
    assert (2, 9) == replicas(f"{DEPLOYMENT}---\n{ROLLOUT}{HPA.replace('KIND', 'Rollout')}")


@pytest.mark.parametrize(
    ("own", "scaling_down", "expected"),
    [
        (0, "never", "Rollout"),
        (3, "never", "Deployment"),
        (3, "onsuccess", "Rollout"),
        (3, "progressively", "Rollout"),
    ],
)
def test_a_deployment_that_keeps_its_replicas_runs_pods_of_its_own(own: int, scaling_down: str, expected: str) -> None:
    """Until the Rollout scales it down."""
    deployment = DEPLOYMENT.replace("replicas: 0", f"replicas: {own}")
    rollout = ROLLOUT.replace("name: web}}", f"name: web, scaleDown: {scaling_down}}}}}")
    result = checked(f"{deployment}---\n{rollout}")

    assert [expected] == [item.kind for item in Project(result.subjects, result.others).workloads]


@pytest.mark.parametrize(
    ("key", "rollout", "expected"),
    [
        ("pod-template-hash", "", []),
        ("pod-template-hash", ROLLOUT, ["SPR403"]),
        ("rollouts-pod-template-hash", ROLLOUT, []),
        ("rollouts-pod-template-hash", ROLLOUT.replace("shop", "staging"), ["SPR209"]),
    ],
)
def test_the_pods_of_such_a_deployment_have_the_rollouts_label(key: str, rollout: str, expected: list[str]) -> None:
    deployment = DEPLOYMENT.replace("maxSkew: 1", f"maxSkew: 1, matchLabelKeys: [{key}]")

    assert expected == codes(f"{deployment}---\n{rollout}")


@pytest.mark.parametrize("kind", ["argoproj.io/v1alpha1 Rollout", "serving.knative.dev/v1 Service"])
def test_a_rollout_runs_two_revisions_for_a_while(kind: str) -> None:
    """So that a maxSkew of all replicas may refuse a node, unless the revisions are told apart."""
    pod = POD.replace("ScheduleAnyway", "DoNotSchedule").replace("maxSkew: 1", "maxSkew: 5")
    if "Service" in kind:
        pod = pod.replace("metadata: {", "metadata: {annotations: {autoscaling.knative.dev/max-scale: '5'}, ")
    label = "rollouts-pod-template-hash" if "Rollout" in kind else "pod-template-hash"
    keyed = pod.replace("maxSkew: 5", f"maxSkew: 5, matchLabelKeys: [{label}]")

    assert "SPR204" not in codes(manifest(kind, f"{{replicas: 5, template: {pod}}}"))
    assert "SPR204" in codes(manifest(kind, f"{{replicas: 5, template: {keyed}}}"))


TEMPLATES = with_paths([PodSpecPath("Widget", "spec.template", group="example.com")])
POOLS = with_paths([PodSpecPath("Widget", "spec.pools[*].template")])
SPECS = with_paths([PodSpecPath("Widget", "spec.podSpec", group="example.com", is_spec=True)])
SPEC = f"{{topologySpreadConstraints: [{CONSTRAINT}]}}"


@pytest.mark.parametrize(
    ("kinds", "spec"),
    [
        (TEMPLATES, f"{{template: {POD}}}"),
        (POOLS, f"{{pools: [{{}}, {{template: {POD}}}]}}"),
        (with_paths([PodSpecPath("Widget", "spec.pools[].template")]), f"{{pools: [{{template: {POD}}}]}}"),
        (with_paths([PodSpecPath("Widget", "spec.pools.template")]), f"{{pools: {{template: {POD}}}}}"),
        (SPECS, f"{{podSpec: {SPEC}}}"),
    ],
)
def test_a_run_names_further_kinds(kinds: Kinds, spec: str) -> None:
    """By the path to a template, through lists too, or to a pod spec."""
    text = manifest("example.com/v1 Widget", spec)
    wrong = text.replace("maxSkew: 1", "maxSkew: 0")

    assert [] == codes(text, kinds)
    assert ["SPR101"] == codes(wrong, kinds)
    assert ["web"] == [item.workload.name for item in checked(text, kinds).workloads]
    assert ["SPR006"] == codes(wrong)


@pytest.mark.parametrize(
    ("group", "version", "expected"),
    [
        ("example.com", "example.com/v1", 1), ("example.com", "example.com/v2", 1), ("example.com", "v1", 0),
        ("example.com", "other.example/v1", 0), (None, "other.example/v1", 1), (None, "v1", 1),
        ("", "v1", 1), ("", "example.com/v1", 0),
    ],
)  # fmt: skip
def test_the_group_of_a_kind_that_a_run_names(group: Optional[str], version: str, expected: int) -> None:
    """None stands for whichever, the empty one for v1."""
    kinds = with_paths([PodSpecPath("Widget", "spec.template", group=group)])

    assert expected == len(checked(manifest(f"{version} Widget", f"{{template: {POD}}}"), kinds).subjects)


def test_a_run_may_name_a_service_of_its_own() -> None:
    kinds = with_paths([PodSpecPath("Service", "spec.template", group="example.com")])
    text = manifest("example.com/v1 Service", f"{{template: {POD}}}")

    assert (1, 0) == (len(checked(text, kinds).subjects), len(checked(text).subjects))


def test_what_a_run_names_counts_before_what_is_known() -> None:
    kinds = with_paths([PodSpecPath("Rollout", "spec.podTemplate", group="argoproj.io")])
    text = manifest("argoproj.io/v1alpha1 Rollout", f"{{podTemplate: {POD}}}")

    assert [True] == [item.workload.is_foreign for item in checked(text, kinds).subjects]


@pytest.mark.parametrize(
    "spec",
    ["{}", "{template: }", "none", "[]", "{pools: none}", "{pools: [none, {template: }]}"],
)
@pytest.mark.parametrize("kinds", [POOLS, SPECS])
def test_an_object_without_the_path_is_no_workload(kinds: Kinds, spec: str) -> None:
    result = checked(manifest("example.com/v1 Widget", spec), kinds)

    assert ([], ()) == ([item for item in result.findings if item.rule.code != "SPR113"], result.subjects)


def test_what_a_foreign_kind_has_outside_its_pods_is_checked_in_part() -> None:
    """An operator may well read constraints from elsewhere; inside the pod nothing does."""
    outside = manifest("example.com/v1 Widget", f"{{topologySpreadConstraints: [{CONSTRAINT}], template: {POD}}}")
    inside = manifest("example.com/v1 Widget", f"{{template: {{topologySpreadConstraints: [{CONSTRAINT}]}}}}")

    assert ["SPR006"] == codes(outside, TEMPLATES)
    assert ["SPR115"] == codes(inside, TEMPLATES)


def test_nobody_knows_the_pods_of_a_pod_spec() -> None:
    """Neither their labels nor their number."""
    text = manifest("example.com/v1 Widget", f"{{replicas: 3, podSpec: {SPEC}}}").replace(
        "ScheduleAnyway", "DoNotSchedule"
    )
    (subject,) = checked(text, SPECS).subjects

    assert (3, {}) == (subject.workload.replicas, subject.labels)
    assert (None, None) == Project([subject]).subjects[0].replicas[:2]


def test_a_list_may_hold_kinds_that_a_run_names() -> None:
    text = f"apiVersion: example.com/v1\nkind: WidgetList\nitems:\n- spec: {{template: {POD}}}\n"

    assert 1 == len(checked(text, TEMPLATES).subjects)


def test_the_config_names_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`podspecPaths`, a template or a spec."""
    (tmp_path / "config.yaml").write_text(
        "podspecPaths:\n- {kind: Widget, apiVersion: example.com/v1, path: 'spec.pools[*].template'}\n"
        "- {kind: Gadget, group: example.com, path: spec.podSpec, podSpec: true}\n"
    )
    spec = SPEC.replace("maxSkew: 1", "maxSkew: 0")
    widget = manifest("example.com/v1 Widget", f"{{pools: [{{template: {{spec: {spec}}}}}]}}")
    (tmp_path / "all.yaml").write_text(f"{widget}---\n{manifest('example.com/v1 Gadget', f'{{podSpec: {spec}}}')}")
    code = run(["check", str(tmp_path / "all.yaml"), "--config", str(tmp_path / "config.yaml"), "-o", "concise"])
    found = re.findall(r"SPR101 (\S+)\[0\]", capsys.readouterr().out)

    assert 1 == code
    assert [f"spec.{at}.topologySpreadConstraints" for at in ("pools[0].template.spec", "podSpec")] == found


@pytest.mark.parametrize(
    ("kind", "selector", "refused"),
    [
        ("Deployment", "{matchLabels: {app: on}}", "LabelSelector.spec.selector.matchLabels of type string"),
        ("StatefulSet", "{matchLabels: x}", "LabelSelector.spec.selector.matchLabels of type map[string]string"),
        ("DaemonSet", "5", "DaemonSetSpec.spec.selector of type v1.LabelSelector"),
        ("Deployment", "{matchLabels: {app: web}, other: 1}", ""),
        ("ReplicationController", "{app: on}", "ReplicationControllerSpec.spec.selector of type string"),
        ("ReplicationController", "{app: web}", ""),
    ],
)
def test_the_selector_of_a_controller_must_decode(kind: str, selector: str, refused: str) -> None:
    """The API server refuses the object, whatever its constraints say."""
    version = "v1" if kind == "ReplicationController" else "apps/v1"
    text = f"""\
apiVersion: {version}
kind: {kind}
metadata: {{name: web}}
spec:
  selector: {selector}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: c, image: web}}]}}
"""
    found = check_source(SourceFile("web.yaml", text), named=True).findings

    assert ["SPR113"] * bool(refused) == [finding.rule.code for finding in found]
    assert all(finding.message.endswith(f"{refused})") for finding in found)
