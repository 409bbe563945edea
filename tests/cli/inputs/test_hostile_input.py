"""Values of types that nobody expects: each costs the object that it is in, and ends in no traceback."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run

CONSTRAINT = """\
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: web}}
        matchLabelKeys: [pod-template-hash]
        nodeTaintsPolicy: Honor
"""
GOOD = f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers: [{{name: c, image: web}}]
      topologySpreadConstraints:
{CONSTRAINT}"""
FACTS = ["--topology", "zones=2,nodes=1,cpu=4,memory=4Gi"]
NODE = """\
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {topology.kubernetes.io/zone: a}}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}
"""
CANNOT = 'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal'
IN_TYPE = "into Go struct field"
IN_SELECTOR = "LabelSelector.spec.selector."
REQUIREMENT = "v1.LabelSelectorRequirement"


def checked(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, list[str]]:
    """The exit code, and the findings without the file's name."""
    file = tmp_path / "web.yaml"
    file.write_text(text)
    code = run(["check", str(file), "-o", "concise", "--ignore", "SPR507", *args])
    lines = capsys.readouterr().out.splitlines()
    return code, [line.removeprefix(f"{file}:") for line in lines if line.startswith(str(file))]


@pytest.mark.parametrize("facts", [[], FACTS])
@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("5", f"6:13: error SPR113 {CANNOT} number {IN_TYPE} DeploymentSpec.spec.selector of type v1.LabelSelector"),
        ("[a]", f"6:13: error SPR113 {CANNOT} array {IN_TYPE} DeploymentSpec.spec.selector of type v1.LabelSelector"),
        (
            "{matchLabels: x}",
            f"6:27: error SPR113 {CANNOT} string {IN_TYPE} {IN_SELECTOR}matchLabels of type map[string]string",
        ),
        (
            "{matchExpressions: [5]}",
            f"6:33: error SPR113 {CANNOT} number {IN_TYPE} {IN_SELECTOR}matchExpressions of type {REQUIREMENT}",
        ),
    ],
)
def test_a_selector_of_the_wrong_type_is_one_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], selector: str, expected: str, facts: list[str]
) -> None:
    """With cluster facts, too: the workload cannot be placed."""
    text = GOOD.replace("{matchLabels: {app: web}}\n  template", f"{selector}\n  template")

    assert (3, [expected]) == checked(text, tmp_path, capsys, *facts)


def test_an_empty_key_is_an_unknown_field(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a constraint and in its selector."""
    text = GOOD.replace("        matchLabelKeys", '        "": x\n        matchLabelKeys')
    code, lines = checked(text, tmp_path, capsys)
    (line,) = lines

    assert (1, "16:9: error SPR114 ") == (code, line[: len("16:9: error SPR114 ")])
    assert 'unknown field "spec.template.spec.topologySpreadConstraints[0]."' in line


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_number_of_4301_digits_has_the_wrong_type(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], quote: str
) -> None:
    """Python's limit for such numbers is its own business; no fix is offered."""
    text = GOOD.replace("maxSkew: 1", f"maxSkew: {quote}{'1' * 4301}{quote}")
    code, lines = checked(text, tmp_path, capsys, "--fix", "--unsafe-fixes")

    assert (3, ["12:18: error SPR113"]) == (code, [line[: len("12:18: error SPR113")] for line in lines])
    assert text == (tmp_path / "web.yaml").read_text()


@pytest.mark.parametrize("kind", ["PersistentVolume", "PersistentVolumeClaim"])
def test_a_volume_with_a_scalar_for_a_status_costs_itself_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    """The pods are placed on the rest."""
    facts, file = tmp_path / "facts.yaml", tmp_path / "web.yaml"
    facts.write_text(f"{NODE}---\napiVersion: v1\nkind: {kind}\nmetadata: {{name: v}}\nstatus: 5\n")
    file.write_text(GOOD)
    code = run(["check", str(file), "--snapshot", str(facts)])
    output = capsys.readouterr()

    assert (3, f"error: {facts}:9:9: {kind} v is left out: status: json: cannot unmarshal number") == (
        code,
        output.err.splitlines()[0].partition(" into")[0],
    )
    assert "Deployment default/web: 2 of 2 replicas placed" in output.out


def test_a_null_among_the_arguments_of_plugins_is_an_empty_entry(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As kube-scheduler reads it."""
    config = tmp_path / "scheduler.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles:\n- schedulerName: default-scheduler\n  pluginConfig: [null]\n"
    )

    assert (0, []) == checked(GOOD, tmp_path, capsys, *FACTS, "--scheduler-config", str(config))


@pytest.mark.skipif(os.name == "nt", reason="file names are text there")
@pytest.mark.parametrize("name", ["text", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit"])
def test_a_file_name_that_is_not_utf_8_is_reported_in_every_format(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    """A URI keeps the byte, and lines for people show it escaped."""
    directory = os.fsencode(tmp_path / "in")
    os.mkdir(directory)
    with open(directory + b"/caf\xe9.yaml", "wb") as file:
        file.write(GOOD.replace("maxSkew: 1", "maxSkew: 0").encode())
    target = tmp_path / "out"
    code = run(["check", str(tmp_path / "in"), "-o", f"{name}={target}"])
    capfd.readouterr()

    assert (0 if name == "sarif" else 1) == code
    parts = {"sarif": "caf%E9.yaml", "text": r"caf\xe9.yaml:", "concise": r"caf\xe9.yaml:", "github": r"caf\xe9.yaml,"}
    assert parts.get(name, "caf") in target.read_text(errors="replace")
