"""What a finding says beside the API server's sentence: hints and other places."""

from __future__ import annotations

import json
import textwrap
from typing import Any, Optional

import pytest

from kubectl_spread.lint.check_source import check_source
from kubectl_spread.lint.finding import Finding
from kubectl_spread.text.source import SourceFile

LABELS = "spec.template.metadata.labels"
REQUESTS = "spec.template.spec.containers[0].resources.requests"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n"
KEYED: dict[str, Any] = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchExpressions": [{"key": "hash", "operator": "In", "values": ["1"]}]},
    "matchLabelKeys": ["hash"],
}


def findings(spec: str) -> tuple[Finding, ...]:
    """The findings of a Pod with these lines in its spec."""
    return check_source(SourceFile("f", POD + spec), named=True).findings


def constraint(fields: str) -> str:
    return f"  topologySpreadConstraints:\n  - {{topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, {fields}}}\n"


def hints(spec: str) -> dict[str, str]:
    return {finding.rule.code: finding.hint for finding in findings(spec)}


def pod(**more: Any) -> str:
    metadata = {"name": "p", "labels": {"hash": "1"}, **more.pop("metadata", {})}
    spec = {"topologySpreadConstraints": [KEYED]}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, **more})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("maxSkew: 0", "write 1 or more; 1 spreads most evenly"),
        ("maxSkew: -1", "write 1 or more; 1 spreads most evenly"),
        ("minDomains: 1", "maxSkew has no default; 1 spreads most evenly"),
        ("maxSkew: null", "maxSkew has no default; 1 spreads most evenly"),
    ],
)
def test_a_missing_skew_and_a_wrong_one_have_hints_of_their_own(fields: str, expected: str) -> None:
    """Who wrote a number need not be told that there is no default."""
    assert expected == hints(constraint(fields))["SPR101"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (constraint("maxSkew: '${SKEW}'"), "this looks like a placeholder: check the rendered manifest"),
        (constraint("maxSkew: '{{ .skew }}'"), "this looks like a placeholder: check the rendered manifest"),
        (constraint("maxSkew: '1'"), "write the number without quotes"),
        (constraint("maxSkew: one"), ""),
        (constraint("maxSkew: 1, labelSelector: {matchLabels: {a: 1}}"), 'write "1"'),
        (constraint("maxSkew: 1, labelSelector: [a]"), "it is a mapping, not a list"),
        (constraint("maxSkew: 1, matchLabelKeys: {a: b}"), "make it a list: put it in brackets"),
        ("  topologySpreadConstraints:\n    maxSkew: 1\n", "make it a list: start with a dash"),
        ("  containers: [{name: c, resources: {requests: {memory: 1Gb}}}]\n", "write 1G"),
        ("  containers: [{name: c, resources: {requests: {memory: 100mi}}}]\n", "write 100Mi"),
        ("  containers: [{name: c, resources: {requests: {cpu: 500 m}}}]\n", "write 500m"),
        ("  containers: [{name: c, resources: {requests: {cpu: 2cores}}}]\n", ""),
        (
            "  topologySpreadConstraints:\n  - maxSkew: 1\n    labelSelector:\n    - matchLabels: {a: b}\n",
            "remove the dash: it is a mapping, not a list",
        ),
        (
            "  topologySpreadConstraints:\n  - labelSelector:\n      matchLabels:\n      - a: b\n",
            "remove the dash: it is a mapping, not a list",
        ),
    ],
)
def test_a_wrong_type_has_the_hint_that_fits_what_is_written(spec: str, expected: str) -> None:
    """Placeholders, quotes, dashes."""
    assert expected == hints(spec)["SPR113"]


@pytest.mark.parametrize("name", ["topologySpreadConstraint", "TopologySpreadConstraints"])
def test_a_misspelt_field_at_its_place_need_not_be_moved(name: str) -> None:
    """Only its name is wrong."""
    assert {"SPR115": "did you mean `topologySpreadConstraints`?"} == hints(f"  {name}: []\n")


def test_a_misplaced_field_is_to_be_moved() -> None:
    """Also where it is misspelt besides."""
    expected = {"SPR115": "move it to spec.topologySpreadConstraints"}

    assert expected == hints("  containers: []\ntopologySpreadConstraints: []\n")
    assert expected == hints("  containers: []\ntopologySpreadConstraint: []\n")


def test_unknown_fields_have_one_wording() -> None:
    """In a constraint or as one: kubectl's sentence, and what becomes of the field without strict decoding."""
    found = findings(f"{constraint('maxSkew: 1, minDomain: 2')}  topologySpreadConstraint: []\n")
    refusal = 'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "{}"'
    sentence = f"{{}}: {refusal}. Without strict decoding it is dropped, with a warning from 1.27 on"
    unknown, misplaced = "`minDomain` is not a field of Kubernetes", "constraints in this place have no effect"

    assert [
        ("SPR114", sentence.format(unknown, "spec.topologySpreadConstraints[0].minDomain")),
        ("SPR115", sentence.format(misplaced, "spec.topologySpreadConstraint")),
    ] == [(finding.rule.code, finding.message) for finding in found]


def test_a_duplicate_constraint_names_the_one_that_repeats_it() -> None:
    """The finding is at the first, as the API server has it; the third is the same, the second is not."""
    spec = (
        "  topologySpreadConstraints:\n"
        "  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}\n"
        "  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}\n"
        "  - {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}\n"
    )
    (finding,) = findings(spec)
    places = [finding.place, *(label.place for label in finding.related)]

    assert [(6, 31), (8, 31)] == [place.source.position(place.span.start) for place in places]
    assert ["repeated here"] == [label.text for label in finding.related]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (pod(), ["SPR110"]),
        (pod(status={}), ["SPR110"]),
        (pod(status={"phase": "Pending"}), []),
        (pod(metadata={"uid": "0"}), []),
    ],
    ids=["new", "empty status", "status", "uid"],
)
def test_a_pod_of_a_cluster_is_not_created_again(text: str, expected: list[str]) -> None:
    """Its matchLabelKeys were merged into the selector when it was created; a new pod's would be there twice."""
    result = check_source(SourceFile("f", text), named=True)

    assert expected == [finding.rule.code for finding in result.findings]


def test_rejected_workloads_are_counted() -> None:
    """What cannot be decoded, and what the rules refuse; a Service is not a workload."""
    text = "\n---\n".join(
        (
            POD + "  containers: []\n",
            POD + constraint("maxSkew: 0"),
            POD + constraint("maxSkew: one"),
            "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n",
        )
    )
    result = check_source(SourceFile("f", text), named=True)

    assert (1, 2) == (len(result.workloads), result.rejected)


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (
            "apiVersion: batch/v1\nkind: Job\nmetadata: {name: sums}\nspec:\n  template:\n    spec:\n",
            "select the workload's own pods: labelSelector: {matchLabels: {batch.kubernetes.io/job-name: sums}}",
        ),
        (
            POD,
            "the pods have no label to select: add one in metadata.labels, and select it: matchLabels: {app: p}",
        ),
        (
            (
                "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\n"
                "spec:\n  jobTemplate:\n    spec:\n      template:\n        spec:\n"
            ),
            (
                "the pods have no label to select: add one in spec.jobTemplate.spec.template.metadata.labels, "
                "and select it: matchLabels: {app: c}"
            ),
        ),
    ],
)
def test_a_selector_for_pods_without_labels_is_one_that_can_be_written(manifest: str, expected: str) -> None:
    """A label of the controller, if it is the same for all its pods; else one that is to be added."""
    indent = (len(manifest.splitlines()[-1]) - len(manifest.splitlines()[-1].lstrip())) * " "
    lines = textwrap.indent(constraint("maxSkew: 1"), indent)
    (subject,) = check_source(SourceFile("f", manifest + lines), named=True).subjects

    assert expected == subject.selector_hint()


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        ("Deployment", "{replicas: -1}", "spec.replicas: Invalid value: -1: must be greater than or equal to 0"),
        ("Job", "{parallelism: -2}", "spec.parallelism: Invalid value: -2: must be greater than or equal to 0"),
        (
            "Deployment",
            "{progressDeadlineSeconds: -1}",
            "spec.progressDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0",
        ),
        ("StatefulSet", "{replicas: 0}", None),
        (
            "CronJob",
            "{jobTemplate: {spec: {completions: -3}}}",
            "spec.jobTemplate.spec.completions: Invalid value: -3: must be greater than or equal to 0",
        ),
        (
            "Job",
            "{completionMode: Indexed, parallelism: 3}",
            "spec.completions: Required value: when completion mode is Indexed",
        ),
        (
            "CronJob",
            "{jobTemplate: {spec: {completionMode: Indexed, completions: 100001, parallelism: 100001}}}",
            (
                "spec.jobTemplate.spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when "
                "completion mode is Indexed"
            ),
        ),
        ("Job", "{completionMode: Indexed, completions: 3}", None),
        ("Job", "{completionMode: NonIndexed, parallelism: 3}", None),
        ("Deployment", "{completionMode: Indexed}", None),
    ],
)
def test_a_number_is_refused_with_the_words_of_the_api_server(kind: str, spec: str, expected: str | None) -> None:
    group = "batch" if kind in ("Job", "CronJob") else "apps"
    text = f"apiVersion: {group}/v1\nkind: {kind}\nmetadata: {{name: web}}\nspec: {spec}\n"
    result = check_source(SourceFile("f", text), named=True)
    assert [item.message for item in result.findings if item.rule.code == "SPR116"] == [expected] * bool(expected)
    if expected:
        assert not result.workloads
        assert result.placeholders == 0


@pytest.mark.parametrize(
    ("kind", "strategy", "expected"),
    [
        ("StatefulSet", "updateStrategy: {type: 5}", "number into Go struct field StatefulSetUpdateStrategy.spec."),
        ("StatefulSet", "updateStrategy: 5", "number into Go struct field StatefulSetSpec.spec.updateStrategy"),
        ("DaemonSet", "updateStrategy: {type: [a]}", "array into Go struct field DaemonSetUpdateStrategy.spec."),
        ("Deployment", "strategy: {type: 5}", "number into Go struct field DeploymentStrategy.spec.strategy.type"),
        ("Deployment", "strategy: {rollingUpdate: {maxSurge: []}}", "array into Go value of type int32"),
        ("Deployment", "strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 1}}", ""),
        ("StatefulSet", "updateStrategy: {type: OnDelete}", ""),
    ],
)
def test_a_strategy_of_a_wrong_type_is_refused(kind: str, strategy: str, expected: str) -> None:
    text = f"apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: web}}\nspec: {{{strategy}}}\n"
    found = [item for item in check_source(SourceFile("f", text), named=True).findings if item.rule.code == "SPR113"]

    assert len(found) == bool(expected)
    assert all(expected in item.message for item in found)


FROM_ZERO = "must specify at least one Object or External metric to support scaling to zero replicas"


@pytest.mark.parametrize(
    ("spec", "minor", "expected"),
    [
        ("maxReplicas: 5", 36, []),
        ("minReplicas: 0, maxReplicas: 5", 36, ["minReplicas: Invalid value: 0: must be greater than or equal to 1"]),
        ("minReplicas: 0, maxReplicas: 5, metrics: [{type: Object}]", 37, []),
        ("minReplicas: 0, maxReplicas: 5, metrics: [{type: External}]", None, []),  # the feature gate may be on
        (
            "minReplicas: 0, maxReplicas: 5, metrics: [{type: Resource}]",
            37,
            ["metrics: Forbidden: " + FROM_ZERO],
        ),
        ("minReplicas: -1, maxReplicas: 5", 37, ["minReplicas: Invalid value: -1: must be greater than or equal to 0"]),
        ("maxReplicas: 0", 36, ["maxReplicas: Invalid value: 0: must be greater than 0"]),
        (
            "minReplicas: 3, maxReplicas: 2",
            36,
            ["maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`"],
        ),
    ],
)
def test_an_autoscaler_is_validated_as_in_the_release(spec: str, minor: Optional[int], expected: list[str]) -> None:
    text = (
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\n"
        f"spec: {{scaleTargetRef: {{kind: Deployment, name: web}}, {spec}}}\n"
    )
    result = check_source(SourceFile("f", text), named=True, minor=minor)

    assert [item.message for item in result.findings] == [f"spec.{message}" for message in expected]


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        pytest.param(
            {"template": {"metadata": {"labels": {"app": "other"}}}},
            f'{LABELS}: Invalid value: {{"app":"other"}}: `selector` does not match template `labels`',
            "give the pod template the labels that spec.selector names",
            id="labels",
        ),
        pytest.param(
            {"strategy": {"rollingUpdate": {"maxSurge": "0%", "maxUnavailable": 0}}},
            "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0",
            "let a rollout create or delete a pod first: write 1 or more for maxSurge or maxUnavailable",
            id="rollout",
        ),
        pytest.param(
            {
                "template": {
                    "spec": {"containers": [{"resources": {"requests": {"cpu": 2}, "limits": {"cpu": "1500m"}}}]}
                }
            },
            f'{REQUESTS}: Invalid value: "2": must be less than or equal to cpu limit of 1500m',
            "request no more than the limit",
            id="requests",
        ),
    ],
)
def test_a_workload_is_refused_beside_its_constraints(change: dict[str, Any], message: str, hint: str) -> None:
    """The same Deployment without the change has no finding."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "c"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    changed = {**spec, **change, "template": {**template, **change.get("template", {})}}

    def found(spec: dict[str, Any]) -> list[tuple[str, str, str]]:
        plain = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
        every = check_source(SourceFile("f", json.dumps(plain)), named=True).findings
        return [(item.rule.code, item.message, item.hint) for item in every if item.rule.code == "SPR116"]

    assert found(spec) == []
    assert found(changed) == [("SPR116", message, hint)]
