"""No fix of any rule adds a finding of any rule, in any file of the run."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
import yaml

from kubectl_spread.lint import pipeline
from kubectl_spread.lint.check_source import Result
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.fixing import apply_fixes
from kubectl_spread.lint.selection import LintPolicy, RuleProfile
from kubectl_spread.text.source import SourceFile
from tests.lint.test_mutations import CORPUS, read

pytestmark = pytest.mark.slow

SEEDS = range(120)  # runs of about 300 files
ZONE, HOST, KARPENTER = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "karpenter.sh/capacity-type"
KEYS = [
    ZONE,
    HOST,
    HOST,
    KARPENTER,
    "failure-domain.beta.kubernetes.io/zone",
    "topology.kubernetes.io/hostname",
    "rack",
]
TERM = "requiredDuringSchedulingIgnoredDuringExecution"


def constraint(of: random.Random, app: str) -> dict[str, Any]:
    """A constraint that the API server takes, with a selector that often is not quite right."""
    action = of.choice(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"])
    labels = of.choice([{"app": app}, {"app": app}, {"app": "web"}, {"tier": "x"}, {"app": app, "version": "1"}, {}])
    found: dict[str, Any] = {"maxSkew": of.choice([1, 1, 2, 9]), "topologyKey": of.choice(KEYS)}
    found["whenUnsatisfiable"] = action
    if of.random() < 0.85:
        found["labelSelector"] = {"matchLabels": labels} if of.random() < 0.9 else {}
    if action == "DoNotSchedule" and of.random() < 0.3:
        found["minDomains"] = of.choice([1, 2, 3, 9])
    if of.random() < 0.3:
        found["nodeTaintsPolicy"] = of.choice(["Honor", "Ignore"])
    if "labelSelector" in found and of.random() < 0.3:
        found["matchLabelKeys"] = of.choice([["pod-template-hash"], ["controller-revision-hash"], ["tier"]])
    return found


def workload(of: random.Random, name: str) -> dict[str, Any]:
    kind = of.choice(["Deployment", "Deployment", "StatefulSet", "DaemonSet", "Job"])
    labels = {"app": name, **({"version": "1"} if of.random() < 0.5 else {})}
    unique = {(item["topologyKey"], item["whenUnsatisfiable"]): item for item in (constraint(of, name) for _ in "ab")}
    pod: dict[str, Any] = {"containers": [{"name": "c", "image": "c"}]}
    pod["topologySpreadConstraints"] = list(unique.values())
    if of.random() < 0.3:
        term = {"topologyKey": of.choice([ZONE, HOST]), "labelSelector": {"matchLabels": {"app": name}}}
        pod["affinity"] = {of.choice(["podAffinity", "podAntiAffinity"]): {TERM: [term]}}
    if of.random() < 0.2:
        pod["nodeSelector"] = {ZONE: "a"}
    spec: dict[str, Any] = {"template": {"metadata": {"labels": labels}, "spec": pod}}
    if kind == "Job":
        pod["restartPolicy"] = "Never"
        spec["parallelism"] = of.choice([1, 3])
    else:
        spec["selector"] = {"matchLabels": {"app": name}}
    if kind in ("Deployment", "StatefulSet") and of.random() < 0.9:
        spec["replicas"] = of.choice([0, 1, 2, 3, 6])
    if kind == "Deployment" and of.random() < 0.4:
        surge = of.choice([{"maxSurge": 0, "maxUnavailable": 1}, {"maxSurge": 1, "maxUnavailable": 0}])
        spec["strategy"] = of.choice([{"type": "Recreate"}, {"rollingUpdate": surge}])
    version = "batch/v1" if kind == "Job" else "apps/v1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def beside(of: random.Random, name: str) -> dict[str, Any]:
    """An object that rules read beside a workload."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    return of.choice(
        [
            {
                "apiVersion": "autoscaling/v2",
                "kind": "HorizontalPodAutoscaler",
                "metadata": {"name": name},
                "spec": {"scaleTargetRef": target, "minReplicas": of.choice([1, 3]), "maxReplicas": of.choice([3, 20])},
            },
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": name},
                "spec": {"minAvailable": of.choice([1, 3, "100%"]), "selector": {"matchLabels": {"app": name}}},
            },
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": name},
                "spec": {"selector": {"app": name}, "trafficDistribution": of.choice(["PreferClose", None])},
            },
        ]
    )


def run_of(seed: int) -> list[SourceFile]:
    """Two or three files that are applied together."""
    of = random.Random(seed)
    files = []
    for at in range(of.choice([2, 3])):
        objects = [workload(of, name) for name in of.sample(["web", "api", "db"], of.choice([1, 2]))]
        objects += [beside(of, of.choice(["web", "api", "db"])) for _ in range(of.choice([0, 1]))]
        text = yaml.safe_dump_all(objects, default_flow_style=of.choice([False, None]), sort_keys=False)
        files.append(SourceFile(f"{at}.yaml", text))
    return files


def added_by_fixes(sources: list[SourceFile], profile: RuleProfile, *, unsafe: bool) -> list[tuple[object, ...]]:
    """The findings of a run after its fixes that it did not have before; refusals of the API server hide others."""
    policy = LintPolicy(profile)

    def judge(results: list[Result]) -> list[Finding]:
        return pipeline.findings_of(results, policy).findings

    def kinds(findings: list[Finding]) -> Counter[tuple[object, ...]]:
        return Counter((item.place.source.name, item.object, item.rule.code) for item in findings)

    before = judge([read(source) for source in sources])
    refused = {(item.place.source.name, item.object) for item in before if item.rule.code.startswith("SPR1")}
    fixed = apply_fixes(
        [read(source) for source in sources],
        judge,
        recheck=read,
        is_wanted=lambda repair: unsafe or repair.fix.is_safe,
    )
    again = [read(SourceFile(result.source.name, result.source.text)) for result in fixed.results]
    return [key for key in kinds(judge(again)) - kinds(before) if key[:2] not in refused]


@pytest.mark.parametrize(
    ("profile", "unsafe"), [(RuleProfile.DEFAULT, False), (RuleProfile.DEFAULT, True), (RuleProfile.STRICT, True)]
)
@pytest.mark.parametrize("first", range(0, len(SEEDS), 20))
def test_fixes_of_generated_runs_add_no_finding(first: int, profile: RuleProfile, *, unsafe: bool) -> None:
    for seed in SEEDS[first : first + 20]:
        assert [] == added_by_fixes(run_of(seed), profile, unsafe=unsafe), seed


def test_the_generated_runs_have_many_findings_with_fixes() -> None:
    found: Counter[str] = Counter()
    for seed in SEEDS[:100]:
        results = [read(source) for source in run_of(seed)]
        findings = pipeline.findings_of(results, LintPolicy(RuleProfile.STRICT))
        found.update(item.rule.code for item in findings.findings if item.repair is not None)

    assert 15 <= len(found), found


@pytest.mark.parametrize("at", range(len(CORPUS)))
def test_fixes_of_the_corpus_add_no_finding(at: int) -> None:
    assert [] == added_by_fixes([SourceFile("a.yaml", CORPUS[at])], RuleProfile.STRICT, unsafe=True)
