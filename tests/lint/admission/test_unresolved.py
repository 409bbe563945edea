"""What a manifest leaves to a tool that fills in values, or to what a patch is merged into, is not told as an error."""

from __future__ import annotations

import pytest

from kubectl_spread.lint import pipeline
from kubectl_spread.lint.check_source import check_source, Result
from kubectl_spread.lint.selection import LintPolicy
from kubectl_spread.text.source import SourceFile

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {app}}}}}
  template:
    metadata: {{labels: {{app: {app}}}}}
    spec:
      containers: [{{name: web, image: web}}]
      topologySpreadConstraints:
      - topologyKey: {key}
        whenUnsatisfiable: {action}
        maxSkew: {skew}
        labelSelector: {{matchLabels: {{app: {selected}}}}}
      - topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        maxSkew: 1
        labelSelector: {{matchLabels: {{app: {selected}}}}}
"""
WRITTEN = {
    "replicas": "3",
    "app": "web",
    "key": "topology.kubernetes.io/zone",
    "action": "ScheduleAnyway",
    "skew": "1",
    "selected": "web",
}
PATCH = """\
apiVersion: apps/v1
kind: {kind}
metadata: {{name: web}}
spec:
  template:
    spec:
      topologySpreadConstraints:
"""


def check(text: str) -> Result:
    return check_source(SourceFile("f.yaml", text), named=True)


def found(text: str) -> list[str]:
    """Severity, code and line of what the default rules find."""
    findings = pipeline.findings_of([check(text)], LintPolicy(), is_whole=True).findings
    places = [(item.rule, item.place) for item in findings]
    return [f"{rule.severity.value} {rule.code}@{at.source.position(at.span.start).line}" for rule, at in places]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"replicas": "${REPLICAS:=2}"}, ["info SPR113@5"]),
        ({"replicas": "$REPLICAS"}, ["info SPR113@5"]),
        ({"replicas": "$(REPLICAS)"}, ["info SPR113@5"]),
        ({"replicas": "__REPLICAS__"}, ["info SPR113@5"]),
        ({"replicas": "<%= replicas %>"}, ["info SPR113@5"]),
        ({"replicas": "'{{ replicas }}'"}, ["info SPR113@5"]),
        ({"replicas": "<REPLICAS>"}, ["info SPR113@5"]),
        ({"replicas": "($replicas)"}, ["info SPR113@5"]),
        ({"replicas": "{REPLICAS: ''}"}, ["info SPR113@5"]),
        ({"replicas": "{replicas: ''}"}, ["error SPR113@5"]),
        ({"replicas": "'3'"}, ["error SPR113@5"]),
        ({"replicas": "several"}, ["error SPR113@5"]),
        ({"skew": "${SKEW}"}, ["info SPR113@14"]),
        ({"skew": "#@ data.values.skew"}, ["info SPR101@14"]),
        ({"skew": "#{skew}#"}, ["info SPR101@14"]),
        ({"skew": "# one"}, ["error SPR101@14"]),
        ({"action": "${ACTION:-ScheduleAnyway}"}, ["info SPR104@13"]),
        ({"action": "ScheduleAnyways"}, ["error SPR104@13"]),
        ({"action": "${ACTION}\n        minDomains: 2"}, ["info SPR104@13"]),
        ({"key": "${KEY}"}, []),
        ({"key": "'{{ key }}'"}, []),
        ({"app": "'${APP}'", "selected": "'${APP}'"}, []),
        ({"app": "'${APP}'", "selected": "'${NAME}'"}, []),
        ({"app": "'${APP}'"}, []),
        ({"selected": "'{{ app }}'"}, []),
        ({"selected": "website"}, ["error SPR203@15", "error SPR203@19"]),
        ({"replicas": "REPLICA_COUNT"}, ["info SPR113@5"]),
        ({"skew": "MAX_SKEW"}, ["info SPR113@14"]),
        ({"app": "APP_NAME", "selected": "CHART_NAME"}, []),
        ({"app": "FRONT_END", "selected": "FRONT_ENDS"}, ["error SPR203@15", "error SPR203@19"]),
        ({"action": "DO_NOT_SCHEDULE"}, ["error SPR104@13"]),
        ({"action": "WHEN_UNSATISFIABLE"}, ["info SPR104@13"]),
        ({"action": "MODE"}, ["info SPR104@13"]),
        ({"action": "ScheduleAnyway\n        nodeTaintsPolicy: HONOR_IT"}, ["error SPR108@14"]),
        ({"selected": "web site"}, ["error SPR112@15", "error SPR112@19"]),
    ],
)
def test_a_value_that_a_tool_fills_in_is_no_error(written: dict[str, str], expected: list[str]) -> None:
    """That it is not judged is said once; a label is the same text wherever it stands."""
    assert expected == found(DEPLOYMENT.format_map({**WRITTEN, **written}))


def test_what_else_is_written_is_judged_where_a_value_is_filled_in() -> None:
    text = DEPLOYMENT.format_map({**WRITTEN, "replicas": "${REPLICAS}", "selected": "website"})

    assert ["info SPR113@5", "error SPR203@15", "error SPR203@19"] == found(text)


def test_a_constraint_that_is_filled_in_as_a_whole_lacks_nothing() -> None:
    text = DEPLOYMENT.format_map(WRITTEN) + "      - ${MORE}\n"

    assert ["info SPR113@20"] == found(text)


def test_a_workload_with_a_value_to_be_filled_in_is_not_placed() -> None:
    assert () == check(DEPLOYMENT.format_map({**WRITTEN, "skew": "${SKEW}"})).workloads


@pytest.mark.parametrize(
    ("kind", "entries", "expected"),
    [
        ("Deployment", "{maxSkew: 1, topologyKey: zone.x/y, whenUnsatisfiable: ScheduleAnyway}", []),
        ("Deployment", "{topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway}", []),
        ("Deployment", "{maxSkew: 2, topologyKey: zone.x/y, minDomains: 2}", []),
        ("Deployment", "{$patch: delete, topologyKey: zone}", []),
        ("Deployment", "{$patch: replace}", []),
        ("Deployment", "{topologyKey: zone.x/y, matchLabelKeys: [pod-template-hash]}", []),
        ("Deployment", "{maxSkew: 0, topologyKey: zone.x/y, whenUnsatisfiable: Never}", ["SPR104@8", "SPR101@8"]),
        ("Deployment", "{maxSkew: 1, topologyKey: topology.kubernetes.io/hostname}", ["SPR302@8"]),
        ("Deployment", "{maxSkews: 1, topologyKey: zone.x/y}", ["SPR114@8"]),
        (
            "StatefulSet",
            "{topologyKey: zone.x/y, labelSelector: {matchLabels: {a: b}}, matchLabelKeys: [c]}",
            [],
        ),
        ("DaemonSet", "{maxSkew: 1, topologyKey: zone.x/y, whenUnsatisfiable: ScheduleAnyway}", ["SPR206@7"]),
    ],
)
def test_a_patch_is_not_blamed_for_what_it_leaves_to_its_base(kind: str, entries: str, expected: list[str]) -> None:
    """Only for what it says itself."""
    text = f"{PATCH.format(kind=kind)}      - {entries}\n"

    assert sorted(expected) == sorted(item.split()[1] for item in found(text))
    assert 0 == check(text).rejected or expected


BASE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  template:
    metadata: {metadata}
    spec:
      containers: [{{name: web, image: web}}]
      topologySpreadConstraints:
      - topologyKey: zone.x/y
        whenUnsatisfiable: ScheduleAnyway
        {fields}
"""


@pytest.mark.parametrize(
    ("metadata", "fields", "expected"),
    [
        ("{}", "maxSkew: 1", ["error SPR201@10"]),
        ("{}", "labelSelector: {matchLabels: {app: web}}", ["error SPR101@10"]),
        ("{}", "maxSkew: 1\n        labelSelector: {matchLabels: {app: web}}", []),
        ("{labels: {tier: web}}", "maxSkew: 1\n        labelSelector: {matchLabels: {app: web}}", []),
        ("{labels: {app: api}}", "maxSkew: 1\n        labelSelector: {matchLabels: {app: web}}", ["error SPR203@13"]),
    ],
)
def test_a_base_without_a_selector_gets_labels_and_nothing_else(
    metadata: str, fields: str, expected: list[str]
) -> None:
    """From the kustomization that includes it; what constraints lack, it does not add."""
    assert expected == found(BASE.format(metadata=metadata, fields=fields))


def test_a_label_that_a_patch_does_not_write_is_a_warning() -> None:
    """Its base may have it, unless it is one of another value."""
    patch = PATCH.format(kind="Deployment").replace("    spec:", "    metadata: {labels: {version: v2}}\n    spec:")
    entry = "      - {maxSkew: 1, topologyKey: zone.x/y, whenUnsatisfiable: ScheduleAnyway, labelSelector: "

    assert ["warning SPR203@9"] == found(f"{patch}{entry}{{matchLabels: {{app: web}}}}}}\n")
    assert ["error SPR203@9"] == found(f"{patch}{entry}{{matchLabels: {{version: v1}}}}}}\n")


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("Deployment", "    metadata: {labels: {}}\n"),
        ("Deployment", "    metadata: {labels: {app: web}}\n"),
        ("Deployment", "  selector: {matchLabels: {app: web}}\n"),
    ],
)
def test_a_manifest_with_labels_or_a_selector_is_whole(kind: str, more: str) -> None:
    """Also where the labels are none."""
    text = PATCH.format(kind=kind)
    where = "  template:\n" if more.startswith("    ") else "spec:\n"
    text = text.replace(where, where + more, 1)
    text += "      - {maxSkew: 1, topologyKey: zone.x/y, whenUnsatisfiable: ScheduleAnyway}\n"

    assert "error SPR201@9" in found(text)
