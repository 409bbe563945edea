"""What `explain` and `check` say about nodes that do not exist yet, and what a snapshot keeps of NodePools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.cli.main import run
from kubectl_spread.objects.selectors import ZONE
from tests.karpenter.worlds import instance_type, need, node, Plain, pod, pool, spread, terms

MARKED = {
    "phase": "Pending",
    "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2"}],
}
GPU = {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}


def deployment(replicas: int = 6, **constraint: Any) -> Plain:
    container = {"name": "c", "image": "web", "resources": {"requests": {"cpu": "1"}}}
    spec = {"containers": [container], "topologySpreadConstraints": [{**spread(), **constraint}]}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }


def owned(name: str, zone: str, pool_name: str = "general") -> Plain:
    """A node that Karpenter has made."""
    types = {"node.kubernetes.io/instance-type": "small", "karpenter.sh/nodepool": pool_name}
    done = {"karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}
    return node(name, zone, **types, **done)


TWO_ZONES = (owned("a1", "zone-a"), owned("b1", "zone-b"))
GENERAL = pool("general", need(ZONE, "zone-a", "zone-b"))
TAINTED = pool("gpu", need(ZONE, "zone-a", "zone-b", "zone-c"), taints=[GPU])


class Asked:
    """Files of facts and of a manifest, and what commands say about them."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder = folder
        self._capsys = capsys

    def write(self, name: str, *objects: Plain) -> str:
        path = self._folder / name
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
        return str(path)

    def json(self, *args: str, schema: str) -> Any:
        run([*args, "-o", "json"])
        document = json.loads(self._capsys.readouterr().out)
        jsonschema.validate(document, schemas.load(schema))
        return document

    def text(self, *args: str) -> str:
        run([*args])
        return " ".join(self._capsys.readouterr().out.split())


@pytest.fixture
def asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    return Asked(tmp_path, capsys)


def test_a_tainted_pool_brings_a_zone_that_blocks_the_others(asked: Asked) -> None:
    """Each pool in Karpenter's order with its reason, and who brings each domain that is counted."""
    facts, manifest = asked.write("facts.json", *TWO_ZONES, GENERAL, TAINTED), asked.write("web.json", deployment())
    text = asked.text("explain", "-f", manifest, "--snapshot", facts)
    found = asked.json("explain", "-f", manifest, "--snapshot", facts, schema="explanation")["karpenter"]

    assert (
        "A new pod of Deployment default/web stays Pending. Karpenter adds no node, because it counts "
        "topology.kubernetes.io/zone=zone-c with 0 pods: only pool gpu can reach it, and the pod does not tolerate "
        "nvidia.com/gpu=true:NoSchedule. No node fits now: every node is refused by the cpu request"
    ) in text
    assert (
        "Karpenter, pool by pool: pool gpu: did not tolerate taint (taint=nvidia.com/gpu=true:NoSchedule) "
        "pool general: unsatisfiable topology constraint for topology spread, key=topology.kubernetes.io/zone "
        "(counts = zone-a: 2, zone-b: 2, zone-c: 0, podDomains = topology.kubernetes.io/zone Exists, "
        "nodeDomains = topology.kubernetes.io/zone In [zone-a zone-b] "
        "Karpenter counts for topology.kubernetes.io/zone: DOMAIN MATCHING WHO BRINGS IT "
        "zone-a 2 1 node, pools gpu and general zone-b 2 1 node, pools gpu and general zone-c 0 pool gpu"
    ) in text
    assert ("no", "noNode", False) == (found["answer"], found["outcome"], found["certain"])
    assert ["gpu", "general"] == [item["name"] for item in found["pools"]]
    assert ["zone-c"] == [item["value"] for item in found["counted"][0]["domains"] if item["blocks"]]


def test_check_says_it_of_the_pods_that_get_no_node(asked: Asked) -> None:
    facts, manifest = asked.write("facts.json", *TWO_ZONES, GENERAL, TAINTED), asked.write("web.json", deployment())
    text = asked.text("check", manifest, "--snapshot", facts)
    (placement,) = asked.json("check", manifest, "--snapshot", facts, schema="check-report")["placements"]

    assert (
        "Karpenter adds no node, because it counts topology.kubernetes.io/zone=zone-c with 0 pods: only pool gpu"
        in text
    )
    assert [("web-5", "no"), ("web-6", "no")] == [(item["pod"], item["answer"]) for item in placement["karpenter"]]


def test_check_says_what_to_do(asked: Asked) -> None:
    """The change was carried out first: Karpenter adds nodes then, and kube-scheduler uses them."""
    facts, manifest = asked.write("facts.json", *TWO_ZONES, GENERAL, TAINTED), asked.write("web.json", deployment())
    (placement,) = asked.json("check", manifest, "--snapshot", facts, schema="check-report")["placements"]
    change = "set nodeTaintsPolicy: Honor in the constraint on topology.kubernetes.io/zone"

    assert change == placement["advice"]
    assert f"Do: {change}" in asked.text("check", manifest, "--snapshot", facts)
    assert f"Do: {change} Both Pending pods find a node" in asked.text("explain", "-f", manifest, "--snapshot", facts)


def test_pools_may_be_among_the_manifests(asked: Asked) -> None:
    """As in a repository that has them beside the workloads."""
    facts = asked.write("facts.json", *TWO_ZONES)
    manifests = asked.write("all.json", deployment(), GENERAL, TAINTED)

    assert "Karpenter" not in asked.text("check", asked.write("web.json", deployment()), "--snapshot", facts)
    assert "Karpenter adds no node" in asked.text("check", manifests, "--snapshot", facts)
    assert "Karpenter adds no node" in asked.text("explain", "-f", manifests, "--snapshot", facts)


def test_where_taints_are_honored_the_zone_does_not_count(asked: Asked) -> None:
    facts = asked.write("facts.json", *TWO_ZONES, GENERAL, TAINTED)
    manifest = asked.write("web.json", deployment(nodeTaintsPolicy="Honor"))
    text = asked.text("explain", "-f", manifest, "--snapshot", facts)

    assert (
        "A new pod of Deployment default/web finds no node now. Karpenter adds 2 nodes of pool general (1 in "
        "zone zone-a, 1 in zone zone-b), and both pods run there."
    ) in text
    assert "Do:" not in text
    assert "pool general: a node in zone zone-a, small" in asked.text(
        "explain", "-f", manifest, "--snapshot", facts, "--details"
    )


def test_where_karpenter_helps_all_commands_say_that_the_pods_run(asked: Asked) -> None:
    """No suggestion, and the exit code of success, as for `simulate`."""
    facts = asked.write("facts.json", *TWO_ZONES, GENERAL)
    manifest = asked.write("web.json", deployment())
    named = [manifest, "--snapshot", facts]
    karpenter = asked.json("explain", "-f", *named, schema="explanation")["karpenter"]
    (placement,) = asked.json("check", *named, schema="check-report")["placements"]
    runs = ("run", True, 2, {"min": 2, "max": 2})

    for found in (karpenter, *placement["karpenter"]):
        assert runs == (found["outcome"], found["certain"], found["pods"], found["running"])
        assert [("general", {"min": 2, "max": 2}, {"min": 0, "max": 0})] == [
            (item["pool"], item["nodes"], item["unused"]) for item in found["addedNodes"]
        ]
    assert "advice" not in placement
    assert 0 == run(["check", *named, "--fail-on", "never"])
    assert 0 == run(["explain", "-f", *named])
    assert "4 of 6 replicas placed, 2 waiting for new nodes" in asked.text("check", *named)


@pytest.mark.parametrize(
    "key",
    ["karpenter.sh/nodepool", "karpenter.k8s.aws/instance-family", "node.kubernetes.io/instance-type", ZONE],
)
def test_no_suggestion_sets_a_label_that_nodes_are_made_with(asked: Asked, key: str) -> None:
    """A node with a label of Karpenter's that is not true of it would be taken for another."""
    bare = node("old", "zone-a")
    del bare["metadata"]["labels"][ZONE]
    web = deployment(2, topologyKey=key)
    facts = asked.write("facts.json", bare, pool("general", limits={"cpu": "0"}))
    named = ["explain", "-f", asked.write("web.json", web), "--snapshot", facts, "--suggestions", "10"]
    found = asked.json(*named, schema="explanation")["suggestions"]

    assert found or key == ZONE
    assert not [command for item in found for command in item["commands"] if f"{key}=" in command]


def test_advice_is_what_a_new_node_needs(asked: Asked) -> None:
    """The present node has a taint besides, which does not matter once Karpenter adds another one."""
    tainted = owned("a1", "zone-a")
    tainted["spec"]["taints"] = [GPU]
    web = deployment(2, topologyKey="failure-domain.beta.kubernetes.io/zone")
    facts = asked.write("facts.json", tainted, GENERAL)
    text = asked.text("explain", "-f", asked.write("web.json", web), "--snapshot", facts)

    assert f"Do: write topologyKey: {ZONE} instead of failure-domain.beta.kubernetes.io/zone, which no node has" in text
    assert "tolerate the taint" not in text


def test_check_of_the_running_workloads_says_it_too(asked: Asked) -> None:
    """A Pending pod of the cluster gets a node, so the check is fine; the first sentence says so."""
    waiting = {**pod("web-1", cpu="1"), "status": MARKED}
    facts = [owned("a1", "zone-a"), pod("other-0", on="a1", cpu="2"), waiting]
    helped = asked.write("helped.json", GENERAL, *facts)

    assert 1 == run(["check", "--snapshot", asked.write("facts.json", *facts)])
    assert 0 == run(["check", "--snapshot", helped])
    assert (
        "Pod default/web-1 finds no node now. Karpenter adds 1 node of pool general (zone zone-a), and the pod runs "
        "there. No node fits now:"
    ) in asked.text("check", "--snapshot", helped)


def test_where_only_some_pods_get_a_node_their_number_is_told(asked: Asked) -> None:
    """Once zones a and b have a pod more than zone c, which Karpenter counts, no further node comes."""
    facts = asked.write("facts.json", *TWO_ZONES, owned("c1", "zone-c"), GENERAL, TAINTED)
    manifest = asked.write("web.json", deployment(9))
    text = asked.text("check", manifest, "--snapshot", facts)
    found = asked.json("explain", "-f", manifest, "--snapshot", facts, schema="explanation")["karpenter"]

    assert ("someRun", 3, {"min": 2, "max": 2}) == (found["outcome"], found["pods"], found["running"])
    assert "2 of the 3 pods run there, and 1 stays Pending: Karpenter counts topology.kubernetes.io/zone=zone-c" in text


def test_types_that_no_node_shows_are_named(asked: Asked) -> None:
    """Without a node of the pool it is not known what the pool's machines hold."""
    manifest = asked.write("web.json", deployment())
    facts = asked.write("facts.json", node("a1", "zone-a"), node("b1", "zone-b"), GENERAL)
    found = asked.json("explain", "-f", manifest, "--snapshot", facts, schema="explanation")["karpenter"]

    assert ("depends", [{"kind": "instanceTypes", "pool": "general", "key": ""}]) == (
        found["answer"],
        found["dependsOn"],
    )
    assert "depends" == found["outcome"]
    assert found["summary"].startswith(
        "Whether Karpenter adds a node depends on the instance types of pool general, which the facts do not show. "
        "If it helps, Karpenter adds 2 nodes of pool general (1 in zone zone-a, 1 in zone zone-b)."
    )


def test_a_node_that_kube_scheduler_will_not_use_is_told(asked: Asked) -> None:
    """Karpenter looks at the zone of the first term only; kube-scheduler counts the zones of all terms."""
    constraint = {"topologySpreadConstraints": [spread()], "affinity": terms(("zone-a",), ("zone-b",))}
    facts = asked.write(
        "facts.json",
        pool("general"),
        owned("a1", "zone-a"),
        owned("b1", "zone-b"),
        pod("web-0", on="a1", cpu="2"),
        pod("other-0", on="b1", cpu="2"),
        {**pod("web-1", **constraint), "status": MARKED},
    )
    text = asked.text("explain", "web-1", "--snapshot", facts)
    found = asked.json("explain", "web-1", "--snapshot", facts, schema="explanation")["karpenter"]

    assert (
        "Pod default/web-1 stays Pending. Karpenter adds 1 node of pool general (zone zone-a), but kube-scheduler will "
        "not use it: 0/3 nodes"
    ) in text
    assert (True, ["zone-a"]) == (found["alwaysRefused"], found["pools"][0]["zones"])


@pytest.mark.parametrize("redact", [[], ["--redact"]])
def test_a_snapshot_keeps_what_the_answer_needs(asked: Asked, tmp_path: Path, redact: list[str]) -> None:
    """With placeholders, too; nothing else of a NodePool is in it."""
    secret = {"annotations": {"acme.example/owner": "secret"}, "name": "gpu"}
    tainted = {**TAINTED, "metadata": secret, "spec": {**TAINTED["spec"], "disruption": {"reason": "secret"}}}
    facts = asked.write("facts.json", *TWO_ZONES, GENERAL, tainted)
    kept = str(tmp_path / "kept.json")
    assert 0 == run(["snapshot", "--snapshot", facts, "-o", kept, *redact])
    manifest = asked.write("web.json", deployment())
    found = asked.json("explain", "-f", manifest, "--snapshot", kept, schema="explanation")["karpenter"]

    text = Path(kept).read_text()
    assert "secret" not in text
    assert bool(redact) != ("zone-c" in text)
    assert ["did not tolerate taint (taint=nvidia.com/gpu=true:NoSchedule)"] == found["pools"][0]["refusedFor"]
    assert [2, 2, 0] == [item["matching"] for item in found["counted"][0]["domains"]]


def test_pools_of_other_projects_are_left_out(asked: Asked) -> None:
    """Theirs need not have the same fields."""
    other = {
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "NodePool",
        "metadata": {"name": "workers"},
        "spec": {"template": "none", "replicas": "two"},
    }
    facts = asked.write("facts.json", *TWO_ZONES, other)

    assert "Karpenter" not in asked.text("explain", "-f", asked.write("web.json", deployment()), "--snapshot", facts)


def test_a_pool_that_does_not_decode_is_left_out_and_told(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    broken = {**TAINTED, "spec": {"weight": "much"}}
    facts = asked.write("facts.json", *TWO_ZONES, GENERAL, broken)
    run(["explain", "-f", asked.write("web.json", deployment()), "--snapshot", facts])
    out, err = capsys.readouterr()

    assert "NodePool gpu is left out" in err
    assert "Karpenter adds 2 nodes of pool general" in out


def test_instance_types_and_the_release_may_be_named(asked: Asked, tmp_path: Path) -> None:
    """A table takes the place of samples; a release of which no rule that matters is unknown has an answer, too."""
    facts, manifest = asked.write("facts.json", *TWO_ZONES, GENERAL), asked.write("web.json", deployment(replicas=8))
    table = tmp_path / "types.yaml"
    table.write_text(json.dumps({"general": [instance_type("huge", 64)]}))
    named = ["explain", "-f", manifest, "--snapshot", facts, "--instance-types", str(table)]

    assert "pool general: a node in zone zone-a, huge" in asked.text(*named, "--details")
    assert "depends on a rule of this release that is not simulated" not in asked.text(
        *named, "--karpenter-version", "1.8.1"
    )


@pytest.mark.parametrize(
    ("table", "version", "code", "error"),
    [
        ("{}", "latest", 2, "--karpenter-version: not a release of Karpenter: latest; write 1.13 or 1.8.1"),
        ("[]", "1.13", 3, "not a mapping of pools to instance types"),
        ("{general: [{name: a, capacity: {cpu: x}}]}", "1.13", 3, "general[0]: capacity.cpu"),
    ],
)
def test_wrong_settings_are_refused(
    asked: Asked, tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str, version: str, code: int, error: str
) -> None:
    path = tmp_path / "types.yaml"
    path.write_text(table)
    facts, manifest = asked.write("facts.json", *TWO_ZONES, GENERAL), asked.write("web.json", deployment())
    named = ["--instance-types", str(path), "--karpenter-version", version]

    assert code == run(["explain", "-f", manifest, "--snapshot", facts, *named])
    assert error in " ".join(capsys.readouterr().err.split())
