"""The answer of a check is first: whether the pods find nodes, and the command that says what helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_spread.cli.main import run

MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      containers: [{{name: c, image: c, resources: {{requests: {{cpu: "{cpu}"}}}}}}]
      topologySpreadConstraints:
      - {{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}}
"""


def _headings(tmp_path: Path, capsys: pytest.CaptureFixture[str], *cpus: int) -> list[str]:
    """The first line of each block: `web-0` for a workload, the code for a finding."""
    for number, cpu in enumerate(cpus):
        (tmp_path / f"{number}.yaml").write_text(MANIFEST.format(name=f"web-{number}", cpu=cpu))
    run(["check", str(tmp_path), "--topology", "zones=2,nodes=1,cpu=20", "--select", "SPR201"])
    blocks = capsys.readouterr().out.split("\n\n")
    return [block.split("/")[1].split(":")[0] if block.startswith("Deployment ") else "finding" for block in blocks]


def test_a_few_workloads_are_before_the_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ["web-0", "web-1"] == _headings(tmp_path, capsys, 1, 1)[:2]


def test_of_many_only_the_stuck_are_before_the_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = _headings(tmp_path, capsys, 1, 1, 1, 50, 1)

    assert found[0] == "web-3"
    assert found.index("finding") == 1
    assert sorted(found[-4:]) == ["web-0", "web-1", "web-2", "web-4"]


def test_the_command_is_about_the_file_with_the_pending_pod(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two files before it have a workload of the same name, one of which the API server refuses."""
    good, bad = MANIFEST.format(name="web", cpu=1), MANIFEST.format(name="web", cpu=50)
    for name, text in (("a", good), ("b", good.replace("replicas: 2", "replicas: -1")), ("c", bad)):
        (tmp_path / f"{name}.yaml").write_text(text)
    run(["check", str(tmp_path), "--topology", "zones=2,nodes=1,cpu=20"])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.endswith("# and what helps")]

    assert line.startswith(f"    $ kubectl spread explain -f {tmp_path / 'c.yaml'} -n default --topology ")
