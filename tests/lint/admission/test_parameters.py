"""Parameters of OpenShift Templates: defaults are used, and values without a default are unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.objects.workloads import manifest

TEMPLATE = """\
apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: shop}
parameters: PARAMETERS
objects:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: "${NAME}"}
  spec:
    replicas: ${{REPLICAS}}
    selector: {matchLabels: {app: "${NAME}"}}
    template:
      metadata: {labels: {app: "${NAME}"}}
      spec:
        containers: [{name: web, image: "web:${TAG}"}]
        topologySpreadConstraints:
        - maxSkew: ${{SKEW}}
          topologyKey: ${KEY}
          whenUnsatisfiable: ScheduleAnyway
          labelSelector: {matchLabels: {app: "${NAME}"}}
"""
NAMES = ("REPLICAS", "SKEW", "KEY", "NAME")
VALUES = ("3", "1", "topology.kubernetes.io/zone", "web")


def _template(*values: str) -> str:
    return TEMPLATE.replace(
        "PARAMETERS", str([{"name": name, "value": value} for name, value in zip(NAMES, values, strict=False)])
    )


def _checked(text: str, capsys: pytest.CaptureFixture[str], *flags: str) -> tuple[int, list[str], str]:
    Path("template.yaml").write_text(text)
    code = run(["check", "template.yaml", "-o", "concise", *flags])
    out, err = capsys.readouterr()
    return code, out.splitlines(), err.splitlines()[0]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_defaults_are_the_values(capsys: pytest.CaptureFixture[str]) -> None:
    """The workload is checked and placed with them."""
    code, out, err = _checked(_template(*VALUES), capsys, "--topology", "zones=3", "--select", "SPR1")

    assert (0, ["Deployment default/web: 3 of 3 replicas placed"]) == (code, out)
    assert "checked 1 workload in 1 file: no findings, no pod Pending" == err


@pytest.mark.parametrize("values", [(), ("3",), VALUES[:1], ("", "", "", ""), ("three", "1", "a/b", "web")])
def test_values_without_a_default_are_unknown(values: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """The workload is neither accepted nor rejected; a default of the wrong type is no value either."""
    code, out, err = _checked(_template(*values), capsys)

    assert 0 == code
    assert all(" info SPR113 " in line for line in out)
    assert err.endswith(", 1 workload with placeholders")
    assert "rejected" not in err


def test_an_error_besides_placeholders_rejects_the_workload(capsys: pytest.CaptureFixture[str]) -> None:
    text = _template().replace("ScheduleAnyway", "DoNotScedule")
    code, _, err = _checked(text, capsys)

    assert (1, True) == (code, err.endswith(", 1 workload rejected"))


def test_a_default_of_one_replica_is_no_reason_to_remove_constraints(capsys: pytest.CaptureFixture[str]) -> None:
    """Another value may be given when the template is processed."""
    _, out, _ = _checked(_template("1", *VALUES[1:]), capsys, "--select", "SPR205")

    assert [] == out


def test_labels_keep_their_placeholders(capsys: pytest.CaptureFixture[str]) -> None:
    """A fix copies them, and they follow the parameter."""
    text = _template(*VALUES).replace('          labelSelector: {matchLabels: {app: "${NAME}"}}\n', "")
    Path("template.yaml").write_text(text)
    run(["check", "template.yaml", "--fix", "--unsafe-fixes", "--select", "SPR201"])

    assert ["          labelSelector:", "            matchLabels:", '              app: "${NAME}"'] == [
        line for line in Path("template.yaml").read_text().splitlines() if line not in text.splitlines()
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${{N}}", 3),
        ("${N}", "3"),
        ("a-${N}-${N}", "a-3-3"),
        ("a-${{N}}", "a-${{N}}"),
        ("${X}", "${X}"),
        ("${{X}}", "${{X}}"),
        ("${{T}}", "text"),
        ("${{L}}", [1]),
        ("${", "${"),
        (5, 5),
    ],
)
def test_a_placeholder_is_evaluated_as_oc_process_does(text: object, value: object) -> None:
    """Double braces are for values that are not texts, and must be the whole text."""
    known = {"N": "3", "T": "text", "L": "[1]"}
    plain = {"spec": {"values": [text]}}

    filled, routes = manifest.fill_defaults(plain, known)

    assert {"spec": {"values": [value]}} == filled
    assert {"spec": {"values": [text]}} == plain
    assert (frozenset() if text == value else {("spec", "values", 0)}) == routes


@pytest.mark.parametrize("parameters_", [None, 5, "x", [5], [{}], [{"name": 5, "value": "x"}], [{"name": "a"}]])
def test_absurd_parameters_have_no_defaults(parameters_: object) -> None:
    assert {} == manifest.parameter_defaults({"parameters": parameters_})
