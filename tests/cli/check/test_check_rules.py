"""How `check` runs the rules about workloads: over all inputs, in the order of the files."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run

WEB = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: NAME}
spec:
  replicas: 3
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
      - maxSkew: SKEW
        topologyKey: KEY
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: web}}
        nodeTaintsPolicy: Honor
"""
SCALED = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: a}, maxReplicas: 9}
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: a}
spec: {selector: {app: web}}
"""
ZONE = "topology.kubernetes.io/zone"

Check = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    """Run `check`: its exit code, and the findings as `file:line severity code`."""
    monkeypatch.chdir(tmp_path)

    def checked(*args: str) -> tuple[int, list[str]]:
        code = run(["check", *args, "-o", "concise"])
        heads = re.findall(r"^(\S+:\d+):\d+: (\w+ SPR\d+)", capsys.readouterr().out, re.MULTILINE)
        return code, [f"{place} {what}" for place, what in heads]

    return checked


def write(name: str, *, skew: str = "1", key: str = ZONE) -> str:
    Path(f"{name}.yaml").write_text(WEB.replace("NAME", name).replace("SKEW", skew).replace("KEY", key))
    return f"{name}.yaml"


def test_findings_stand_in_the_order_of_the_files_and_lines(check: Check) -> None:
    """Not the API server's first and the other rules' after them; only the text for people has errors first."""
    files = [write("b", skew="5", key="kubernetes.io/zone"), write("a", skew="0")]

    assert (
        1,
        ["b.yaml:11 error SPR302", "b.yaml:13 warning SPR502"] + ["a.yaml:10 error SPR101", "a.yaml:13 warning SPR502"],
    ) == check(*files)


def test_an_autoscaler_in_another_file_counts(check: Check) -> None:
    """It allows 9 replicas, of which 3 in one zone may be too many."""
    file = write("a", skew="3")
    Path("scaled.yaml").write_text(SCALED)

    assert (0, ["a.yaml:10 warning SPR204"]) == check(file, "--select", "SPR204")
    assert (0, []) == check(file, "scaled.yaml", "--select", "SPR204")


def test_a_bare_key_is_a_warning_unless_nodes_have_it(check: Check) -> None:
    """`zone` may be a label of the cluster's own."""
    file = write("a", key="zone")
    Path("nodes.yaml").write_text(
        "\n---\n".join(
            f"apiVersion: v1\nkind: Node\nmetadata: {{name: n{zone}, labels: {{zone: {zone}}}}}\n"
            "status: {allocatable: {cpu: 4, pods: 9}}\n"
            for zone in "ab"
        )
    )

    assert (0, ["a.yaml:11 warning SPR302"]) == check(file)
    assert (0, []) == check(file, "--snapshot", "nodes.yaml")
    assert (1, ["a.yaml:11 warning SPR302"]) == check(file, "--fail-on", "warning")


def test_rules_that_are_ignored_do_not_count(check: Check) -> None:
    file = write("a", skew="0", key="kubernetes.io/zone")

    assert (1, ["a.yaml:11 error SPR302"]) == check(file, "--ignore", "SPR1")
    assert (1, ["a.yaml:10 error SPR101"]) == check(file, "--select", "SPR1,SPR2")
    assert (0, []) == check(file, "--ignore", "SPR1", "--ignore", "unknown-well-known-key")


def test_a_selection_that_leaves_no_rule_is_warned_of(check: Check, capsys: pytest.CaptureFixture[str]) -> None:
    file = write("a", skew="0")
    capsys.readouterr()
    codes = [
        run(["check", file, *options]) for options in (("--select", "SPR1", "--ignore", "SPR1"), ("--ignore", "ALL"))
    ]
    warned = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning: ")]

    assert ([0, 0], ["warning: no rule is selected: --ignore leaves out everything that is selected"]) == (
        codes,
        warned,
    )


def test_an_unknown_rule_is_wrong_usage(check: Check) -> None:
    assert (2, []) == check(write("a"), "--select", "SPR000")


@pytest.mark.parametrize("option", [("--select", "SPR2"), ("--ignore", "ALL")])
def test_what_cannot_be_decoded_is_told_whichever_rules_are_asked_for(check: Check, option: tuple[str, str]) -> None:
    """No rule has seen it, so that without a finding it would pass for clean."""
    assert (3, ["a.yaml:10 error SPR113"]) == check(write("a", skew="one"), *option)


@pytest.mark.parametrize(
    ("autoscaler", "codes"),
    [("karpenter", ["SPR701"]), ("cluster-autoscaler", ["SPR704", "SPR701"])],
)
def test_rules_about_an_autoscaler_are_followed_where_it_is_named(
    check: Check, autoscaler: str, codes: list[str]
) -> None:
    """Of 9 pods, that a HorizontalPodAutoscaler allows."""
    file = write("a")
    Path("scaled.yaml").write_text(SCALED)
    _, found = check(file, "scaled.yaml", "--autoscaler", autoscaler)
    _, without = check(file, "scaled.yaml")

    assert codes == [line.split()[-1] for line in found if " SPR7" in line]
    assert [] == [line for line in without if " SPR7" in line]


def test_what_no_rule_asks_for_is_not_read(check: Check, capsys: pytest.CaptureFixture[str]) -> None:
    """Services are for opinions only, budgets for a rule that is on unless ignored."""
    Path("service.yaml").write_text("apiVersion: v1\nkind: Service\nspec: [\n")
    Path("budget.yaml").write_text("apiVersion: policy/v1\nkind: PodDisruptionBudget\nspec: [\n")
    codes = ["--ignore", "ALL", "--select", "SPR001"]
    for arguments, skipped in (
        ([], "not checked: ./budget.yaml"),
        (codes, ""),
        ([*codes, "--select", "no-spread"], "not checked: ./service.yaml"),
    ):
        run(["check", ".", *arguments])
        err = capsys.readouterr().err
        assert skipped in err
        assert bool(skipped) == ("is not YAML" in err)


def test_a_service_of_another_file_counts(check: Check) -> None:
    Path("service.yaml").write_text(
        "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {selector: {app: web}}\n"
    )
    Path("bare.yaml").write_text(
        WEB[: WEB.index("      topologySpread")].replace("NAME", "bare") + "      containers: []\n"
    )

    assert (0, ["bare.yaml:8 info SPR506"]) == check("bare.yaml", "service.yaml", "--select", "SPR506")
    assert (0, []) == check("bare.yaml", "--select", "SPR506")


def test_a_file_that_a_rule_is_ignored_in_counts_for_others(check: Check) -> None:
    Path("service.yaml").write_text(
        "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {selector: {app: web}}\n"
    )
    Path("bare.yaml").write_text(
        WEB[: WEB.index("      topologySpread")].replace("NAME", "bare") + "      containers: []\n"
    )
    Path(".kubectl-spread.yaml").write_text("select: [SPR506]\nperFile:\n- {files: service.yaml, select: [SPR1]}\n")

    assert (0, ["bare.yaml:8 info SPR506"]) == check("bare.yaml", "service.yaml")


RUNNING = """
---
apiVersion: v1
kind: Pod
metadata:
  name: a-NUMBER
  namespace: shop
  labels: {app: web}
  ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: a, uid: u, controller: true}]
spec: {nodeName: na}
"""


def test_what_runs_is_looked_up_in_the_namespace_that_is_named(check: Check) -> None:
    """As the placement does, for a workload that names none."""
    nodes = [
        f"apiVersion: v1\nkind: Node\nmetadata: {{name: n{zone}, labels: {{{ZONE}: {zone}}}}}\n"
        "status: {allocatable: {cpu: 4, pods: 9}}"
        for zone in "ab"
    ]
    pods = "".join(RUNNING.replace("NUMBER", str(at)) for at in range(3))
    Path("nodes.yaml").write_text("\n---\n".join(nodes) + pods)
    file = write("a")

    assert (0, []) == check(file, "--snapshot", "nodes.yaml", "--select", "SPR908")
    assert (0, ["a.yaml:10 info SPR908"]) == check(file, "--snapshot", "nodes.yaml", "--select", "SPR908", "-n", "shop")


def test_each_list_of_a_custom_resource_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are equal, and no alias of each other."""
    entry = "{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}"
    pools = "".join(f"  pool{number}: {{topologySpreadConstraints: [{entry}]}}\n" for number in range(8))
    path = tmp_path / "thing.yaml"
    path.write_text(f"apiVersion: example.com/v1\nkind: Thing\nmetadata: {{name: t}}\nspec:\n{pools}")
    run(["check", str(path), "-o", "concise"])

    assert 8 == capsys.readouterr().out.count("error SPR101 ")
