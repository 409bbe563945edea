"""The answer of a check is first: what fails, and the command that says what helps."""

from __future__ import annotations

import inspect
import json
import sys
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


def _lines(tmp_path: Path, capsys: pytest.CaptureFixture[str], *cpus: int, rules: str = "SPR201") -> list[str]:
    for number, cpu in enumerate(cpus):
        (tmp_path / f"{number}.yaml").write_text(MANIFEST.format(name=f"web-{number}", cpu=cpu))
    run(["check", str(tmp_path), "--topology", "zones=2,nodes=1,cpu=20", "--select", rules])
    return capsys.readouterr().out.splitlines()


def _headings(tmp_path: Path, capsys: pytest.CaptureFixture[str], *cpus: int) -> list[str]:
    """The first line of each answer: `web-0` for a workload, `finding` for findings."""
    heads = [line for line in _lines(tmp_path, capsys, *cpus) if line.startswith(("Deployment ", str(tmp_path)))]
    return [line.split("/")[1].split(":")[0] if line.startswith("Deployment ") else "finding" for line in heads]


def test_what_fails_is_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The stuck workload, the error, the workload that is well, and the findings that do not fail."""
    for name, cpu, changes in (("a", 1, ("", "")), ("b", 50, ("", "")), ("c", 1, ("maxSkew: 1", "maxSkew: 0"))):
        text = MANIFEST.format(name=f"web-{name}", cpu=cpu).replace(*changes)
        selector = f"DoNotSchedule, labelSelector: {{matchLabels: {{app: web-{name}}}}}"
        (tmp_path / f"{name}.yaml").write_text(text.replace("DoNotSchedule", selector))
    run(["check", str(tmp_path), "--topology", "zones=2,nodes=1,cpu=20", "--select", "SPR101,SPR401"])
    found = capsys.readouterr().out.splitlines()
    heads = [line for line in found if line.startswith(("Deployment ", str(tmp_path)))]

    assert heads[0].startswith("Deployment default/web-b: 0 of 2 ")
    assert heads[1].startswith(f"{tmp_path / 'c.yaml'}:12:19: error SPR101 ")
    assert heads[2].startswith("Deployment default/web-a: 2 of 2 ")
    assert heads[3].startswith(f"{tmp_path / 'a.yaml'}:12:10: warning SPR401 ")


def test_copies_of_a_workload_are_named_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in "abcd":
        (tmp_path / f"{name}.yaml").write_text(MANIFEST.format(name="web", cpu=1))
    run(["check", str(tmp_path), "--topology", "zones=2,nodes=1,cpu=20", "--select", "SPR101"])

    assert capsys.readouterr().out.endswith("\nNext rollout completes in every outcome: deployment/web (4 copies)\n")


def test_of_many_only_the_stuck_are_before_the_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = _headings(tmp_path, capsys, 1, 1, 1, 50, 1)

    assert found[0] == "web-3"
    assert found.index("finding") == 1
    assert sorted(found[-4:]) == ["web-0", "web-1", "web-2", "web-4"]


def test_each_of_many_that_are_well_has_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = _lines(tmp_path, capsys, *[1] * 12, rules="SPR101")

    assert found[0] == "Deployment default/web-0: 2 of 2 replicas placed, zone a=1 b=1"
    assert found[7].endswith(": 2 of 2 replicas placed, zone a=1 b=1")
    assert found[8] == "and 4 more lines like these: -o concise prints all"
    assert found[9].startswith("Next rollout completes in every outcome: deployment/web-0, ")
    assert len(found) == 10


def test_many_findings_are_in_brief_and_equal_ones_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Five kinds of findings: each has its place, its code, its sentence and its hint, without the source line."""
    text = MANIFEST.format(name="web", cpu=1).replace("maxSkew: 1", "maxSkew: 0")
    other = text.replace("DoNotSchedule", "Sometimes").replace("topology.kubernetes.io/zone", "a b")
    for name, manifest in (("a", text), ("b", text), ("c", other.replace("labelSelector", "selector"))):
        (tmp_path / f"{name}.yaml").write_text(manifest)
    (tmp_path / "d.yaml").write_text(text.replace("maxSkew: 0", "maxSkew: 1, minDomains: 0, matchLabelKeys: [app]"))
    run(["check", str(tmp_path), "--ignore", "SPR301,SPR201"])
    found = capsys.readouterr().out.splitlines()
    first = f"{tmp_path / 'a.yaml'}:12:19: error SPR101 spec.template.spec.topologySpreadConstraints[0].maxSkew: "

    assert found[0].startswith(first)
    assert found[1].startswith("  hint: ")
    assert found[2] == f"  also {tmp_path / 'b.yaml'}:12:19, {tmp_path / 'c.yaml'}:12:19"
    assert not [line for line in found if " | " in line]


def test_copies_of_a_workload_are_told_with_their_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, cpu in (("a", 1), ("b", 50)):
        (tmp_path / f"{name}.yaml").write_text(MANIFEST.format(name="web", cpu=cpu))
    run(["check", str(tmp_path), "--topology", "zones=2,nodes=1,cpu=20", "-o", "concise", "--select", "SPR101"])
    found = capsys.readouterr().out.splitlines()

    assert found[0] == f"Deployment default/web ({tmp_path / 'a.yaml'}): 2 of 2 replicas placed"
    assert found[1] == f"Deployment default/web ({tmp_path / 'b.yaml'}): 0 of 2 replicas placed, 2 Pending"


def test_each_copy_of_a_workload_has_its_own_rollout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """New pods of the second find no room beside the old ones."""
    for name, cpu in (("a", 1), ("b", 15)):
        (tmp_path / f"{name}.yaml").write_text(MANIFEST.format(name="web", cpu=cpu))
    code = run(["check", str(tmp_path), "--topology", "zones=2,nodes=1,cpu=20", "--select", "SPR101"])
    found = [line for line in capsys.readouterr().out.splitlines() if "rollout" in line]

    assert code == 1
    assert found[0].startswith("  next rollout: gets stuck in every outcome, because a new pod of web stays Pending: ")
    assert found[1] == "  next rollout: completes in every outcome"


def test_a_copy_without_pods_has_no_rollout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The rollout of the second copy is not told of the first."""
    stuck = MANIFEST.format(name="web", cpu=15)
    (tmp_path / "a.yaml").write_text(stuck.replace("replicas: 2", "replicas: 0"))
    (tmp_path / "b.yaml").write_text(stuck)
    where = [str(tmp_path), "--topology", "zones=2,nodes=1,cpu=20", "--select", "SPR101"]
    run(["check", *where])
    stuck_copy, other = capsys.readouterr().out.split("\n\n")
    run(["check", *where, "-o", "gitlab"])
    (entry,) = json.loads(capsys.readouterr().out)

    assert stuck_copy.startswith(f"Deployment default/web ({tmp_path / 'b.yaml'}): 2 of 2 replicas placed")
    assert "next rollout: gets stuck in every outcome" in stuck_copy
    assert other.startswith(f"Deployment default/web ({tmp_path / 'a.yaml'}): 0 of 0 replicas placed")
    assert "rollout" not in other
    assert entry["location"]["path"].endswith("b.yaml")


def test_many_copies_of_a_workload(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their number is not limited by the depth of the stack."""
    for number in range(300):
        (tmp_path / f"{number}.yaml").write_text(MANIFEST.format(name="web", cpu=1))
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 200)
    try:
        code = run(["check", str(tmp_path), "--topology", "zones=2,nodes=1,cpu=20", "--select", "SPR101"])
    finally:
        sys.setrecursionlimit(limit)

    assert code == 0
    assert "checked 300 workloads" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["check"], ["explain", "-f"]])
def test_a_manifest_that_the_api_server_refuses_is_not_placed(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The running Deployment has another selector."""
    snapshot = Path(__file__).parents[3] / "examples" / "shop" / "cluster.yaml"
    manifest = tmp_path / "web.yaml"
    manifest.write_text(MANIFEST.format(name="web", cpu=1).replace("app: web", "app: other"))
    code = run([*command, str(manifest), "--snapshot", str(snapshot), "-n", "shop"])
    out, err = capsys.readouterr()

    assert code == 1
    assert "field is immutable" in out + err
    assert "replicas placed" not in out
    assert "can be scheduled" not in out


def test_the_command_is_about_the_file_with_the_pending_pod(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two files before it have a workload of the same name, one of which the API server refuses."""
    good, bad = MANIFEST.format(name="web", cpu=1), MANIFEST.format(name="web", cpu=50)
    for name, text in (("a", good), ("b", good.replace("replicas: 2", "replicas: -1")), ("c", bad)):
        (tmp_path / f"{name}.yaml").write_text(text)
    run(["check", str(tmp_path), "--topology", "zones=2,nodes=1,cpu=20"])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.endswith("# and what helps")]

    assert line.startswith(f"    $ kubectl spread explain -f {tmp_path / 'c.yaml'} -n default --topology ")
