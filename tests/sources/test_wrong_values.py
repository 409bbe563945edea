"""A wrong value at any place of a file of ours is an error with its place, never a traceback or a whole text."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Union

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.errors import ConfigError, SourceError
from kubectl_spread.operations.check import baseline_in
from kubectl_spread.sources import config, files, scenario, scheduler_config, snapshot, topology
from kubectl_spread.sources import policy_file as policy

Route = tuple[Union[str, int], ...]

HEAD = {"apiVersion": "kubectl-spread/v1"}
TERMS = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}]}
AFFINITY = {"requiredDuringSchedulingIgnoredDuringExecution": TERMS}
METADATA = {
    "name": "n1",
    "namespace": "d",
    "labels": {"a": "b"},
    "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "x", "controller": True}],
    "deletionTimestamp": "2024-01-01T00:00:00Z",
}
CONSTRAINT = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"a": "b"}},
    "minDomains": 2,
}
POD = {
    "containers": [
        {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}, "ports": [{"hostPort": 2}]},
    ],
    "topologySpreadConstraints": [CONSTRAINT],
    "affinity": {"nodeAffinity": AFFINITY},
    "tolerations": [{"key": "k", "operator": "Exists"}],
    "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
    "nodeName": "n1",
}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": POD}
SPEC = {"replicas": 3, "selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
SCORING = {
    "type": "RequestedToCapacityRatio",
    "resources": [{"name": "cpu", "weight": 1}],
    "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 1}]},
}
CONSTRAINTS = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}]
SCHEDULER = {
    "kind": "KubeSchedulerConfiguration",
    "parallelism": 4,
    "extenders": [{"urlPrefix": "http://a", "filterVerb": "f", "weight": 1, "managedResources": [{"name": "a/b"}]}],
    "profiles": [
        {
            "schedulerName": "s",
            "plugins": {
                "score": {
                    "enabled": [{"name": "NodeResourcesFit", "weight": 2}, {"name": "NodeResourcesLeastAllocated"}],
                    "disabled": [{"name": "*"}],
                },
                "filter": {"enabled": [{"name": "EBSLimits"}]},
            },
            "pluginConfig": [
                {
                    "name": "PodTopologySpread",
                    "args": {"defaultConstraints": CONSTRAINTS, "defaultingType": "List"},
                },
                {"name": "NodeResourcesFit", "args": {"scoringStrategy": SCORING, "ignoredResources": ["a"]}},
                {"name": "NodeResourcesLeastAllocated", "args": {"resources": [{"name": "cpu", "weight": 1}]}},
                {"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 3}},
                {"name": "NodeAffinity", "args": {"addedAffinity": AFFINITY}},
            ],
        }
    ],
}
DOCUMENTS: dict[str, Any] = {
    "config": {
        "profile": "strict",
        "extendSelect": ["SPR1"],
        "ignore": ["SPR2"],
        "severity": {"SPR204": "error"},
        "failOn": "warning",
        "kubernetesVersion": "1.30",
        "autoscaler": "karpenter",
        "paths": ["deploy"],
        "exclude": ["vendor"],
        "perFile": [{"files": ["a"], "ignore": ["SPR1"], "severity": {"SPR1": "info"}, "kubernetesVersion": "1.30"}],
        "ignores": [{"rule": ["SPR3"], "kind": "Pod", "name": "w", "namespace": "n", "file": ["d/*"], "reason": "b"}],
        "baseline": "known.json",
        "domains": {"topology.kubernetes.io/zone": ["a", "b"]},
        "podspecPaths": [{"kind": "Foo", "path": "spec.t", "group": "g", "podSpec": False}],
        "roots": ["x"],
        "policies": ["p.yaml"],
    },
    "policy": {
        **HEAD,
        "kind": "Policy",
        "name": "p",
        "regimes": ["creation"],
        "groups": [
            {
                "name": "g",
                "namespace": "n",
                "selector": {
                    "matchLabels": {"a": "b"},
                    "matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}],
                },
                "each": True,
                "replicas": "2..4",
                "maxShare": {"zone": "1/2"},
                "maxCount": {"zone": 3},
                "minDomains": {"zone": 2},
                "separate": ["zone"],
                "survive": [{"key": "zone", "domains": 1, "keep": "quorum"}],
                "placed": False,
            },
            {"selector": {"matchLabels": {"a": "b"}}, "shards": "3..5", "maxShare": {"zone": "<1/2"}},
        ],
    },
    "scenario": {
        **HEAD,
        "kind": "Scenario",
        "name": "s",
        "topology": "zones=3",
        "kubernetesVersion": "1.30",
        "manifests": ["a.yaml"],
        "namespace": "n",
        "outcomes": "sample=3",
        "maxStates": 5,
        "expect": {
            "workload": "deploy/web",
            "complete": True,
            "placed": 3,
            "pending": "0..1",
            "domains": {"zone": [1, 2], "hostname": {"a": "1..2"}},
            "skew": {"zone": 1},
            "message": "m",
        },
        "steps": ["drain n1", {"step": "cordon n1", "expect": {"placed": 1}}],
    },
    "topology": {
        **HEAD,
        "kind": "Topology",
        "nodeGroups": [
            {
                "name": "a",
                "zones": ["a"],
                "nodes": 2,
                "cpu": 2,
                "memory": "4Gi",
                "resources": {"example.com/gpu": 2},
                "labels": {"a": "b"},
                "taints": ["a=b:NoSchedule"],
                "unschedulable": True,
                "cordonTaint": False,
            },
            {"names": ["lone"], "zones": 1},
        ],
        "pods": [
            {
                "node": "lone",
                "count": 2,
                "name": "x",
                "namespace": "n",
                "labels": {"a": "b"},
                "requests": {"cpu": "1"},
                "terminating": True,
            }
        ],
    },
    "baseline": {
        **HEAD,
        "kind": "Baseline",
        "findings": [
            {
                "code": "SPR101",
                "file": "a.yaml",
                "object": {"kind": "Pod", "namespace": "n", "name": "w"},
                "path": "spec",
                "count": 1,
            }
        ],
    },
    "snapshot": {
        **HEAD,
        "kind": "Snapshot",
        "redacted": False,
        "kubernetesVersion": "v1.34.2",
        "schedulerConfiguration": "",
        "readAt": "2024-01-01T00:00:00Z",
        "kinds": ["Node"],
        "unread": [{"kind": "Event", "resource": "events", "namespace": "d"}],
        "items": [
            {
                "kind": "Node",
                "metadata": METADATA,
                "spec": {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}], "unschedulable": True},
                "status": {"allocatable": {"cpu": "4"}, "images": [{"names": ["i"], "sizeBytes": 3}]},
            },
            {
                "kind": "Pod",
                "metadata": METADATA,
                "spec": POD,
                "status": {"phase": "Running", "conditions": [{"type": "PodScheduled", "status": "False"}]},
            },
            {"kind": "Deployment", "metadata": METADATA, "spec": SPEC, "status": {"conditions": []}},
            {
                "kind": "PersistentVolume",
                "metadata": METADATA,
                "spec": {
                    "capacity": {"storage": "1Gi"},
                    "claimRef": {"name": "c"},
                    "nodeAffinity": {"required": TERMS},
                },
            },
            {
                "kind": "HorizontalPodAutoscaler",
                "metadata": METADATA,
                "spec": {"minReplicas": 1, "maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "w"}},
            },
            {
                "kind": "PodDisruptionBudget",
                "metadata": METADATA,
                "spec": {"minAvailable": 1, "selector": {}},
                "status": {"disruptionsAllowed": 1, "disruptedPods": {"a": "t"}},
            },
        ],
    },
    **{
        f"scheduler {version}": {**SCHEDULER, "apiVersion": f"kubescheduler.config.k8s.io/{version}"}
        for version in ("v1", "v1beta3", "v1beta1", "v1alpha2")
    },
}
READERS: dict[str, Callable[[str], Any]] = {
    "config": config.load,
    "policy": policy.load,
    "scenario": scenario.load,
    "topology": topology.load,
    "baseline": lambda path: baseline_in(files.read_text(path)),
    "snapshot": snapshot.load,
    "scheduler": scheduler_config.load,
}
EACH = 4  # values at each place

LONG = "x9" * 2600
LONG_NUMBER = "9" * 5000  # Python makes no number of it.
SCALARS = [
    *(None, True, False, 0, 1, -1, 3, 2.0, 1.5, -0.0, 10**30, float("nan"), float("inf"), LONG_NUMBER),
    *("", "a", "a b", "1..2", "x/y", "1/2", "<1/2", "zone", "50%", "-", "\\", "a\nb", "é\u202e", "\x1b[31m", LONG),
]
KEYS = ["a", "", "name", "key", "zone", "items", "kind", "<<", "b c", "spec", LONG]


def a_value(rng: random.Random, depth: int = 0) -> Any:
    choice = rng.random()
    if choice < 0.5 or depth > 2:
        return rng.choice(SCALARS)
    if choice < 0.75:
        return [a_value(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    return {rng.choice(KEYS): a_value(rng, depth + 1) for _ in range(rng.randint(0, 3))}


def routes(document: Any, route: Route = ()) -> Iterator[Route]:
    yield route
    entries = (
        document.items() if isinstance(document, dict) else enumerate(document if isinstance(document, list) else ())
    )
    for step, inner in entries:
        yield from routes(inner, (*route, step))


def changed(document: Any, route: Route, rng: random.Random) -> str:
    """The text of a document with another value at a route, or with a further key beside it."""
    wrong = a_value(rng)
    if route:
        document = parent = json.loads(json.dumps(document))
        for step in route[:-1]:
            parent = parent[step]
        is_further = isinstance(parent, dict) and rng.random() < 0.15
        parent[rng.choice(KEYS) if is_further else route[-1]] = wrong
    else:
        document = wrong
    text = json.dumps(document).replace(f'"{LONG_NUMBER}"', LONG_NUMBER)
    return text.replace("NaN", ".nan").replace("-Infinity", "-.inf").replace("Infinity", ".inf")


def errors_of(read: Callable[[str], Any], path: Path) -> list[SourceError]:
    try:
        return list(getattr(read(str(path)), "errors", ()))
    except ConfigError as error:
        return list(error.problems)
    except SourceError as error:
        return [error, *error.others]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_any_value_at_any_place_is_an_error_with_its_place_or_fits(name: str, tmp_path: Path) -> None:
    """No error quotes more than 40 characters of a value."""
    rng = random.Random(name)
    path = tmp_path / "document.yaml"
    wrong = 0
    for route in list(routes(DOCUMENTS[name])):
        for _ in range(EACH):
            path.write_text(changed(DOCUMENTS[name], route, rng), encoding="utf-8")
            for error in errors_of(READERS[name.partition(" ")[0]], path):
                wrong += 1
                assert "x9" * 21 not in error.message
                assert error.line or error.message.startswith(("no Node in it", "not a baseline: a number has"))
    assert wrong > 20


CASES = Path(__file__).parent.parent / "cases"


def test_a_mapping_among_the_regimes_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    file = CASES / "policy" / "regimes-of-objects.yaml"

    assert 2 == run(["guarantee", "--policy", str(file), "--topology", "zones=3", "deploy/web"])
    known = "creation, restarts, rollouts, scaling, disruptions"
    assert capsys.readouterr().err == f"error: {file}:3:11: regimes[0]: must be one of {known}: a mapping\n"


WRONG = [
    (["check", "--config", "FILE", "."], 2, "select: {a: b}", ":1:9: select: must be text or a list, not a mapping"),
    (["check", "--topology", "FILE", "."], 3, "{a: b}", ":1:1: `apiVersion` is missing: kubectl-spread/v1"),
    (["check", "--baseline", "FILE", "."], 3, "[1]", ":1:1: must be a mapping, not a list: not a baseline; check"),
    (
        ["check", "--snapshot", "FILE", "."],
        3,
        "kind: NodeList\nitems: {a: b}",
        ":2:8: items of the NodeList: not a list",
    ),
    (["check", "--topology", "zones=1", "--scheduler-config", "FILE", "."], 3, "- a", ":1:1: not a KubeScheduler"),
    (["guarantee", "--policy", "FILE", "deploy/web"], 2, "- a", ":1:1: must be a mapping, not a list"),
]


@pytest.mark.parametrize(("args", "code", "text", "expected"), WRONG, ids=[item[0][1] for item in WRONG])
def test_a_wrong_file_ends_with_its_first_error(
    args: list[str], code: int, text: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wrong.yaml").write_text(text)
    (tmp_path / "web.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: w}\nspec: {containers: [{name: c}]}\n"
    )
    given = [{"FILE": str(tmp_path / "wrong.yaml"), ".": str(tmp_path / "web.yaml")}.get(word, word) for word in args]

    assert code == run(given)
    assert capsys.readouterr().err.startswith(f"error: {tmp_path / 'wrong.yaml'}{expected}")


def test_a_wrong_scenario_cannot_be_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "wrong.yaml").write_text("apiVersion: kubectl-spread/v1\nkind: Scenario\nsteps: [{step: {a: b}}]\n")

    assert 3 == run(["simulate", "run", str(tmp_path / "wrong.yaml")])
    assert "wrong.yaml:3:16: steps[0].step: must be text, not a mapping\n" in capsys.readouterr().out
