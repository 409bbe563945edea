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
MUST = "must be a mapping"
IN_TYPE = "into Go struct field"
IN_SELECTOR = "LabelSelector.spec.selector."
OF_SPEC, MAP = "DeploymentSpec.spec.selector", "map[string]string"
LABELS, LIST, IN_LIST = "`matchLabels`", "`matchExpressions`", f"{IN_SELECTOR}matchExpressions"
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
        (
            "5",
            f"6:13: error SPR113 `selector` {MUST} ({CANNOT} number {IN_TYPE} {OF_SPEC} of type v1.LabelSelector)",
        ),
        (
            "[a]",
            f"6:13: error SPR113 `selector` {MUST} ({CANNOT} array {IN_TYPE} {OF_SPEC} of type v1.LabelSelector)",
        ),
        (
            "{matchLabels: x}",
            f"6:27: error SPR113 {LABELS} {MUST} ({CANNOT} string {IN_TYPE} {IN_SELECTOR}matchLabels of type {MAP})",
        ),
        (
            "{matchExpressions: [5]}",
            f"6:33: error SPR113 an item of {LIST} {MUST} ({CANNOT} number {IN_TYPE} {IN_LIST} of type {REQUIREMENT})",
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


LONG_NUMBER = "9" * 5000  # Python makes no number of it
CONTAINERS = "/spec/template/spec/containers"
SHORTENED = f'invalid argument "{"9" * 39}…" for'
ROLLED = f"""\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {{name: n1, labels: {{topology.kubernetes.io/zone: a, kubernetes.io/hostname: n1}}}}
  status: {{allocatable: {{cpu: 4, memory: 8Gi, pods: 10}}}}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {{name: web, namespace: default, annotations: {{deployment.kubernetes.io/revision: "{LONG_NUMBER}"}}}}
  spec: &spec
    replicas: 1
    selector: {{matchLabels: {{app: web}}}}
    template:
      metadata:
        labels: {{app: web}}
        annotations: {{autoscaling.knative.dev/min-scale: "{LONG_NUMBER}"}}
      spec: {{containers: [{{name: c, image: i}}]}}
- apiVersion: apps/v1
  kind: ReplicaSet
  metadata: &of
    name: web-1
    namespace: default
    labels: {{app: web, pod-template-hash: "1"}}
    ownerReferences: [{{apiVersion: apps/v1, kind: Deployment, name: web, uid: u, controller: true}}]
    annotations: {{deployment.kubernetes.io/revision: "{LONG_NUMBER}"}}
  spec: *spec
- apiVersion: apps/v1
  kind: ReplicaSet
  metadata: {{<<: *of, name: web-0}}
  spec: {{<<: *spec, replicas: 0}}
- apiVersion: v1
  kind: Pod
  metadata:
    name: web-1-a
    namespace: default
    labels: {{app: web, batch.kubernetes.io/job-completion-index: "{LONG_NUMBER}"}}
    annotations: {{controller.kubernetes.io/pod-deletion-cost: "{LONG_NUMBER}"}}
    ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: u, controller: true}}]
  spec: {{containers: [{{name: c, image: i}}], nodeName: n1}}
  status: {{phase: Running}}
- apiVersion: apps/v1
  kind: StatefulSet
  metadata: {{name: db, namespace: default}}
  spec: {{<<: *spec, selector: {{matchLabels: {{app: db}}}}}}
- apiVersion: v1
  kind: Pod
  metadata:
    name: db-{LONG_NUMBER}
    namespace: default
    labels: {{app: db}}
    ownerReferences: [{{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: u, controller: true}}]
  spec: {{containers: [{{name: c, image: i}}]}}
- apiVersion: batch/v1
  kind: Job
  metadata: {{name: j, namespace: default}}
  spec: {{completionMode: Indexed, template: {{spec: {{containers: [{{name: c, image: i}}]}}}}}}
  status: {{completedIndexes: "0-{LONG_NUMBER},0-99999999999"}}
"""


@pytest.mark.parametrize(
    "command",
    [
        "status -A",
        "explain deploy/web",
        f"explain pod db-{LONG_NUMBER}",
        "check deploy/web",
        "rebalance",
        "guarantee deploy/web --at-most zone=1/2",
        "guarantee sts/db --at-most zone=1/2",
        "snapshot --redact",
        "simulate rollout restart deploy/web",
        "simulate rollout undo deploy/web",
        "simulate scale sts/db --replicas=2",
        f"simulate delete pod db-{LONG_NUMBER}",
        "simulate scale deploy/web --replicas=0",
    ],
)
def test_no_number_in_a_snapshot_is_too_long(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ordinals, revisions, deletion costs, scales and indexes are texts, which may be any."""
    (tmp_path / "facts.yaml").write_text(ROLLED)

    assert run([*command.split(), "--snapshot", str(tmp_path / "facts.yaml")]) in (0, 1)
    assert "Traceback" not in capsys.readouterr().err


ODD = ["{}", "[]", "true", "1.5", "[{a: b}]"]


@pytest.mark.parametrize("command", ["explain deploy/web", "guarantee deploy/web --at-most zone=1/2"])
@pytest.mark.parametrize("odd", ODD)
def test_settings_of_a_rollout_of_another_type_are_the_defaults(
    odd: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are not decoded, because most commands do not need them."""
    rolling = f"{{type: {odd}, rollingUpdate: {{maxSurge: {odd}, maxUnavailable: {odd}, partition: {odd}}}}}"
    settings = f"strategy: {rolling}\n    updateStrategy: {rolling}\n    podManagementPolicy: {odd}\n    replicas: 1"
    (tmp_path / "facts.yaml").write_text(ROLLED.replace("replicas: 1", settings))

    for words in (command, "simulate rollout restart deploy/web", "simulate rollout restart sts/db"):
        assert run([*words.split(), "--snapshot", str(tmp_path / "facts.yaml")]) in (0, 1, 3)
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "code", "error"),
    [
        (
            f"rollout undo deploy/web --to-revision={LONG_NUMBER}",
            2,
            f'{SHORTENED} "--to-revision"',
        ),
        (f"create priorityclass p --value={LONG_NUMBER}", 2, f'{SHORTENED} "--value"'),
        (
            f'patch deploy/web --type=json -p [{{"op":"remove","path":"{CONTAINERS}/{LONG_NUMBER}"}}]',
            1,
            f"the path {CONTAINERS}/999",
        ),
        (f"annotate pod web-1-a controller.kubernetes.io/pod-deletion-cost={LONG_NUMBER} --overwrite", 1, ""),
    ],
)
def test_no_number_of_a_command_is_too_long(
    command: str, code: int, error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "facts.yaml").write_text(ROLLED)

    assert code == run(["simulate", *command.split(), "--snapshot", str(tmp_path / "facts.yaml")])
    assert error in capsys.readouterr().err.splitlines()[0]


def test_outcomes_without_a_domain_have_no_extremes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No node has the key of the constraint."""
    facts = "\n---\n".join(
        NODE.replace("n1", name).replace("topology.kubernetes.io/zone: a", f"kubernetes.io/hostname: {name}")
        for name in ("n1", "n2")
    )
    (tmp_path / "facts.yaml").write_text(facts)
    (tmp_path / "web.yaml").write_text(GOOD.replace("DoNotSchedule", "ScheduleAnyway"))
    args = ["-f", str(tmp_path / "web.yaml"), "--snapshot", str(tmp_path / "facts.yaml")]

    assert run(["simulate", "rollout", "restart", "deploy/web", *args]) in (0, 1)
    assert "Traceback" not in capsys.readouterr().err
