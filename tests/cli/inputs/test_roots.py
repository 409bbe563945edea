"""Which objects count for one another in one run of `check`."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from kubectl_spread.cli.main import run

CASES = Path(__file__).parents[2] / "cases" / "lint"

CONSTRAINTS = """\
      - maxSkew: {skew}
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {{matchLabels: {{{labels}}}}}
        matchLabelKeys: [pod-template-hash]
        nodeTaintsPolicy: Honor
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {{matchLabels: {{{labels}}}}}
"""


class Ran(NamedTuple):
    """What a run of `check` gave: `file code` of each finding, and all that it printed."""

    code: int
    findings: list[str]
    out: str


Check = Callable[..., Ran]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)

    def checked(*args: str) -> Ran:
        code = run(["check", "-o", "concise", *args])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        heads = re.findall(r"^(\S+?):\d+:\d+: \w+ (SPR\d+)", out, re.MULTILINE)
        return Ran(code, [" ".join(head) for head in heads], out)

    return checked


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")


def deployment(name: str, *, replicas: int = 3, skew: int = 1, labels: str = "", namespace: str = "") -> str:
    """A Deployment without a finding, but for what the arguments bring."""
    labels = labels or f"app: {name}"
    where = f", namespace: {namespace}" if namespace else ""
    return (
        f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}{where}}}\nspec:\n  replicas: {replicas}\n"
        f"  selector: {{matchLabels: {{{labels}}}}}\n  template:\n    metadata: {{labels: {{{labels}}}}}\n    spec:\n"
        f"      containers: [{{name: web, image: web}}]\n      topologySpreadConstraints:\n"
        + CONSTRAINTS.format(skew=skew, labels=labels)
    )


def autoscaler(name: str, most: int) -> str:
    return (
        f"apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {{name: {name}}}\nspec:\n"
        f"  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: {name}}}\n"
        f"  minReplicas: 1\n  maxReplicas: {most}\n"
    )


def test_a_monorepo_has_the_findings_that_its_directories_have_alone(check: Check) -> None:
    shutil.copytree(CASES / "monorepo", "monorepo")
    alone = check("-R", "monorepo/dev").findings + check("-R", "monorepo/prod").findings

    assert [
        *(f"monorepo/dev/d.yaml {code}" for code in ("SPR205", "SPR204", "SPR303")),
        *(f"monorepo/prod/d.yaml {code}" for code in ("SPR205", "SPR204", "SPR303")),
    ] == alone
    assert alone == check("-R", "monorepo").findings
    assert alone == check("monorepo/dev", "monorepo/prod").findings
    assert alone == check("monorepo/dev/d.yaml", "monorepo/prod/d.yaml").findings


def test_objects_in_several_files_of_a_directory_count_for_one_another(check: Check) -> None:
    write("deploy/web.yaml", deployment("web", replicas=1))
    assert ["deploy/web.yaml SPR205"] == check("deploy").findings
    write("deploy/scaling/hpa.yaml", autoscaler("web", 5))

    assert [] == check("-R", "deploy").findings
    assert [] == check("deploy/web.yaml", "deploy/scaling/hpa.yaml").findings


def test_an_autoscaler_counts_for_the_copy_beside_it(check: Check) -> None:
    for cluster in ("dev", "prod"):
        write(f"clusters/{cluster}/apps/web.yaml", deployment("web", replicas=1))
    write("clusters/prod/scaling/web.yaml", autoscaler("web", 5))

    assert ["clusters/dev/apps/web.yaml SPR205"] == check("-R", "clusters").findings


def test_what_is_in_one_cluster_only_does_not_count_for_another(check: Check) -> None:
    """The canary shares the labels; in prod there is none."""
    for cluster in ("dev", "prod"):
        write(f"{cluster}/web.yaml", deployment("web"))
    write("dev/canary.yaml", deployment("web-canary", labels="app: web"))

    found = check("-R", ".").findings
    assert ["./dev/canary.yaml SPR502", "./dev/web.yaml SPR502"] == found


def test_files_of_one_environment_in_one_directory_belong_together(check: Check) -> None:
    """`hpa-prod.yaml` is for `web-prod.yaml`: their names have more words in common."""
    for name in ("dev", "prod"):
        write(f"web-{name}.yaml", deployment("web", replicas=1))
    write("hpa-dev.yaml", autoscaler("web", 1))
    write("hpa-prod.yaml", autoscaler("web", 5))

    assert ["./web-dev.yaml SPR205"] == check(".").findings


def test_environments_below_each_application_belong_together(check: Check) -> None:
    for environment in ("dev", "prod"):
        write(f"apps/web/{environment}/web.yaml", deployment("web", labels="tier: web", namespace="shop"))
        write(f"apps/api/{environment}/api.yaml", deployment("api"))
    write("apps/api/prod/canary.yaml", deployment("canary", labels="tier: web", namespace="shop"))

    assert ["apps/api/prod/canary.yaml SPR502", "apps/web/prod/web.yaml SPR502"] == check("-R", "apps").findings


def test_an_object_beside_the_copies_has_the_findings_that_hold_in_all(check: Check) -> None:
    write("common.yaml", deployment("common", labels="tier: web"))
    for environment in ("dev", "prod"):
        write(f"{environment}/web.yaml", deployment("web"))
    write("prod/canary.yaml", deployment("canary", labels="tier: web"))
    assert ["./prod/canary.yaml SPR502"] == check("-R", ".").findings

    write("dev/canary.yaml", deployment("canary", labels="tier: web"))
    assert ["./common.yaml SPR502", "./dev/canary.yaml SPR502", "./prod/canary.yaml SPR502"] == (
        check("-R", ".").findings
    )


def test_copies_in_one_file_are_not_summed(check: Check) -> None:
    write("web.yaml", "---\n".join(deployment("web", replicas=replicas, skew=3) for replicas in (2, 4)))

    assert ["web.yaml SPR204"] == check("web.yaml").findings


def test_objects_without_a_name_of_their_own_are_no_copies(check: Check) -> None:
    unnamed = deployment("web", replicas=1).replace("metadata: {name: web}", "metadata: {generateName: web-}")
    assert unnamed != deployment("web", replicas=1)
    write("web.yaml", unnamed)
    assert ["web.yaml SPR205"] == check("web.yaml").findings
    write("web.yaml", f"{unnamed}---\n{unnamed}")

    assert [] == [found for found in check("web.yaml").findings if "SPR205" in found]


def test_another_namespace_or_group_makes_another_object(check: Check) -> None:
    write("a/web.yaml", deployment("web", namespace="one"))
    write("b/web.yaml", deployment("web", namespace="two"))
    write("b/api.yaml", deployment("api", namespace="one", labels="app: web"))

    assert ["./a/web.yaml SPR502", "./b/api.yaml SPR502"] == check("-R", ".").findings


def test_workloads_of_unrelated_directories_are_strangers(check: Check) -> None:
    """Files that are named, and those of one root of the config, belong together."""
    write("web/web.yaml", deployment("web", labels="tier: web"))
    write("api/api.yaml", deployment("api", labels="tier: web"))
    both = ["./api/api.yaml SPR502", "./web/web.yaml SPR502"]

    assert [] == check("-R", ".").findings
    assert both == sorted(f"./{finding}" for finding in check("api/api.yaml", "web/web.yaml").findings)
    write(".kubectl-spread.yaml", "roots: .\n")
    assert both == sorted(check("-R", ".").findings)


@pytest.mark.parametrize("where", ["web", "web/canary", "."])
def test_workloads_of_one_directory_or_one_below_it_count_for_one_another(check: Check, where: str) -> None:
    write("web/web.yaml", deployment("web", labels="tier: web"))
    write(f"{where}/canary.yaml", deployment("canary", labels="tier: web"))
    write("api/api.yaml", deployment("api"))

    assert ["SPR502", "SPR502"] == [finding.split()[1] for finding in check("-R", ".").findings]


def test_a_namespace_that_both_name_joins_directories(check: Check) -> None:
    """One that only one of them names does not, nor do two different ones."""
    write("web/web.yaml", deployment("web", labels="tier: web", namespace="default"))
    write("api/api.yaml", deployment("api", labels="tier: web"))
    write("job/job.yaml", deployment("job", labels="tier: web", namespace="other"))
    assert [] == check("-R", ".").findings

    write("api/api.yaml", deployment("api", labels="tier: web", namespace="default"))
    assert ["./api/api.yaml SPR502", "./web/web.yaml SPR502"] == check("-R", ".").findings


def test_roots_of_the_config_come_before_directories_that_are_named(check: Check) -> None:
    write("teams/one/web.yaml", deployment("web", labels="tier: web", namespace="shop"))
    write("teams/two/api.yaml", deployment("api", labels="tier: web", namespace="shop"))
    assert 2 == len(check("-R", "teams").findings)
    write(".kubectl-spread.yaml", "roots: [teams/*]\n")

    assert [] == check("-R", "teams").findings
    assert [] == check("--project").findings


def test_a_root_of_the_config_joins_the_kustomizations_in_it(check: Check) -> None:
    write(".kubectl-spread.yaml", "roots: clusters/*\n")
    for name, other in (("web", "tier: web"), ("api", "tier: web")):
        write(f"clusters/prod/{name}/{name}.yaml", deployment(name, labels=other))
        write(f"clusters/prod/{name}/kustomization.yaml", f"resources: [{name}.yaml]\n")

    assert [f"./clusters/prod/{name}/{name}.yaml SPR502" for name in ("api", "web")] == check("-R", ".").findings
    assert [] == check("-R", ".", "--no-config").findings


def test_each_directory_named_is_a_root(check: Check) -> None:
    write("one/web.yaml", deployment("web", labels="tier: web", namespace="shop"))
    write("two/api.yaml", deployment("api", labels="tier: web", namespace="shop"))

    assert [] == check("one", "two").findings
    assert 2 == len(check("-R", ".").findings)


KUSTOMIZED = "base/kustomization.yaml", "resources: [web.yaml]\n"


@pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.yml", "Kustomization"])
def test_the_replicas_of_a_base_are_unknown(check: Check, name: str) -> None:
    write("base/web.yaml", deployment("web", replicas=1, skew=3))
    write(f"base/{name}", "resources: [web.yaml]\n")

    assert [] == check("base").findings
    assert [] == check("base/web.yaml").findings  # the kustomization beside it is looked at
    write(f"base/{name}", "resources: [api.yaml]\n")
    assert ["base/web.yaml SPR205"] == check("base/web.yaml").findings


SETTERS = {
    "replicas": "resources: [../../base]\nreplicas:\n- {name: web, count: 2}\n",
    "a strategic merge patch": (
        "resources: [../../base]\npatches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n"
        "    metadata: {name: web}\n    spec: {replicas: 2}\n"
    ),
    "a JSON patch": (
        "resources: [../../base]\npatches:\n- target: {kind: Deployment, name: w.*}\n  patch: |-\n"
        "    - {op: replace, path: /spec/replicas, value: 2}\n"
    ),
    "a file of a JSON patch": (
        "resources: [../../base]\npatchesJson6902:\n- target: {kind: Deployment, name: web}\n  path: scale.yaml\n"
    ),
    "a patch in the old form": "bases: [../../base]\npatchesStrategicMerge: [patch.yaml]\n",
    "a component": "resources: [../../base]\ncomponents: [../../scaled]\n",
}


@pytest.mark.parametrize("text", SETTERS.values(), ids=SETTERS)
def test_overlays_of_the_run_say_how_many_replicas_there_are(check: Check, text: str) -> None:
    write("base/web.yaml", deployment("web", replicas=1, skew=3))
    write(*KUSTOMIZED)
    write("overlays/prod/kustomization.yaml", text)
    write("overlays/prod/scale.yaml", "- {op: add, path: /spec/replicas, value: 2}\n")
    write("overlays/prod/patch.yaml", "kind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2}\n")
    write(
        "scaled/kustomization.yaml",
        "kind: Component\npatches:\n- patch: |-\n    kind: Deployment\n    metadata: {name: web}\n"
        "    spec: {replicas: 2}\n",
    )
    found = check("-R", ".")

    assert "there are at most 2 pods" in found.out
    assert ["./base/web.yaml SPR204"] == found.findings


def test_an_overlay_that_sets_nothing_leaves_the_number_of_the_base(check: Check) -> None:
    write("base/web.yaml", deployment("web", replicas=1))
    write(*KUSTOMIZED)
    write("overlays/dev/kustomization.yaml", "resources: [../../base]\n")
    assert ["./base/web.yaml SPR205"] == check("-R", ".").findings
    write("overlays/prod/kustomization.yaml", "resources: [../../base]\nreplicas: [{name: web, count: 4}]\n")

    assert [] == check("-R", ".").findings


def test_what_an_overlay_adds_counts_for_its_base(check: Check) -> None:
    write("base/web.yaml", deployment("web", replicas=1))
    write(*KUSTOMIZED)
    write("overlays/prod/kustomization.yaml", "resources: [../../base, hpa.yaml]\n")
    write("overlays/prod/hpa.yaml", autoscaler("web", 5))

    assert [] == check("-R", ".").findings


def budget(name: str, available: int) -> str:
    return (
        f"apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: {name}}}\nspec:\n"
        f"  minAvailable: {available}\n  selector: {{matchLabels: {{app: {name}}}}}\n"
    )


def test_a_budget_counts_the_pods_of_its_own_overlay(check: Check) -> None:
    """In dev there is 1 pod, and no budget."""
    write("base/web.yaml", deployment("web", replicas=2))
    write(*KUSTOMIZED)
    write("overlays/dev/kustomization.yaml", "resources: [../../base]\nreplicas: [{name: web, count: 1}]\n")
    write(
        "overlays/prod/kustomization.yaml",
        "resources: [../../base, pdb.yaml]\nreplicas: [{name: web, count: 3}]\n",
    )
    write("overlays/prod/pdb.yaml", budget("web", 2))
    assert [] == check("-R", ".").findings
    write("overlays/prod/pdb.yaml", budget("web", 3))

    assert ["./overlays/prod/pdb.yaml SPR503"] == check("-R", ".").findings


def test_a_patch_is_read_with_what_its_own_overlay_adds(check: Check) -> None:
    """The autoscaler of prod counts in prod, and the base without constraints gets them there."""
    bare = deployment("web", replicas=1).partition("      topologySpread")[0]
    service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}}\n"
    write("base/web.yaml", bare + service)
    write(*KUSTOMIZED)
    write("overlays/dev/kustomization.yaml", "resources: [../../base]\n")
    write("overlays/prod/kustomization.yaml", "resources: [../../base, hpa.yaml]\npatches: [{path: patch.yaml}]\n")
    write("overlays/prod/hpa.yaml", autoscaler("web", 5))
    write(
        "overlays/prod/patch.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    spec:\n"
        "      topologySpreadConstraints:\n" + CONSTRAINTS.format(skew=1, labels="app: web"),
    )

    assert [] == check("-R", ".", "--extend-select", "SPR506").findings


def test_an_overlay_whose_patch_cannot_be_read_leaves_the_replicas_unknown(check: Check) -> None:
    write("base/web.yaml", deployment("web", replicas=1))
    write(*KUSTOMIZED)
    write("overlays/prod/kustomization.yaml", "resources: [../../base]\npatches: [{path: missing.yaml}]\n")

    assert [] == check("-R", ".").findings


def test_kustomizations_that_use_one_another_are_followed_once(check: Check) -> None:
    write("a/kustomization.yaml", "resources: [../b, web.yaml]\n")
    write("a/web.yaml", deployment("web"))
    write("b/kustomization.yaml", "resources: [../a]\n")

    assert [] == check("-R", ".").findings


def test_files_are_shown_with_their_roots(check: Check) -> None:
    write("base/web.yaml", deployment("web"))
    write(*KUSTOMIZED)
    write("overlays/dev/kustomization.yaml", "resources: [../../base]\n")
    write("overlays/prod/kustomization.yaml", "resources: [../../base]\n")
    for cluster in ("dev", "prod"):
        write(f"clusters/{cluster}/web.yaml", deployment("web"))
    write("clusters/readme.yaml", "a: 1\n")
    both = "overlays/dev (kustomization), overlays/prod (kustomization)"

    shown = check("-R", ".", "--show-files")
    assert (0, []) == shown[:2]
    assert [
        f"./base/kustomization.yaml\t{both}",
        f"./base/web.yaml\t{both}",
        "./clusters/dev/web.yaml\tclusters/dev",
        "./clusters/prod/web.yaml\tclusters/prod",
        "./clusters/readme.yaml\t.",
        "./overlays/dev/kustomization.yaml\toverlays/dev (kustomization)",
        "./overlays/prod/kustomization.yaml\toverlays/prod (kustomization)",
    ] == shown.out.splitlines()


def test_a_single_root_is_not_written_beside_each_file(check: Check) -> None:
    write("deploy/web.yaml", deployment("web"))
    write("deploy/api.yaml", deployment("api"))

    assert ["deploy/api.yaml", "deploy/web.yaml"] == check("deploy", "--show-files").out.splitlines()


def test_fix_never_removes_the_constraints_of_a_base(check: Check) -> None:
    write("base/web.yaml", deployment("web", replicas=1))
    write(*KUSTOMIZED)
    write("overlays/dev/kustomization.yaml", "resources: [../../base]\n")

    assert ["./base/web.yaml SPR205"] == check("-R", ".", "--fix", "--unsafe-fixes").findings
    assert deployment("web", replicas=1) == Path("base/web.yaml").read_text()


def test_a_copy_is_placed_as_if_the_other_were_in_another_cluster(
    check: Check, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each has a node of its own for each of its pods; both together would not. No room is left for a rollout."""
    for cluster in ("dev", "prod"):
        write(f"{cluster}/web.yaml", deployment("web"))

    assert 1 == run(["check", "-R", ".", "--topology", "zones=3,nodes=1,cpu=4,pods=1"])
    out = capsys.readouterr().out
    assert 2 == out.count("/web.yaml): 3 of 3 replicas placed")
    assert 2 == out.count("next rollout: gets stuck in every outcome")


def test_a_template_that_no_controller_uses_is_not_placed(check: Check, capsys: pytest.CaptureFixture[str]) -> None:
    write("web.yaml", deployment("web"))
    write("template.yaml", "apiVersion: v1\nkind: PodTemplate\nmetadata: {name: t}\ntemplate: {}\n")

    assert 0 == run(["check", ".", "--topology", "zones=3,nodes=1,cpu=4,pods=2"])
    assert 1 == capsys.readouterr().out.count("replicas placed")
