"""`simulate` with Karpenter as one more controller: nodes join, and kube-scheduler uses them or not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.objects.selectors import HOSTNAME, ZONE
from tests.karpenter.test_answers import Asked, deployment, GENERAL, owned, TAINTED, TWO_ZONES
from tests.karpenter.worlds import instance_type, need, node, Plain, pod, pool, terms, TYPES


@pytest.fixture
def asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    return Asked(tmp_path, capsys)


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "types.json"
    path.write_text(json.dumps(TYPES))
    return str(path)


def with_affinity(plain: Plain, affinity: Plain) -> Plain:
    plain["spec"]["template"]["spec"]["affinity"] = affinity
    return plain


def test_nodes_join_where_the_pods_need_them(asked: Asked, table: str) -> None:
    """Two nodes have room for four of six pods; Karpenter adds one in each zone."""
    facts, web = asked.write("facts.json", *TWO_ZONES, GENERAL), asked.write("web.json", deployment())
    named = ["simulate", "create", "-f", web, "--snapshot", facts, "--instance-types", table]
    (step,) = asked.json(*named, schema="simulation")["steps"]

    assert "completes" == step["verdict"]
    assert step["exact"]
    one = {"min": 1, "max": 1}
    added = {"pool": "general", "nodes": {"min": 2, "max": 2}, "unused": {"min": 0, "max": 0}}
    assert [{**added, "zones": {"zone-a": one, "zone-b": one}}] == step["addedNodes"]
    assert "Karpenter adds 2 nodes of pool general (1 in zone zone-a, 1 in zone zone-b)" in asked.text(*named)


def test_no_node_joins_where_a_counted_zone_is_out_of_reach(asked: Asked, table: str) -> None:
    """The reason is Karpenter's: a pool whose taint is not tolerated brings a zone that stays empty."""
    facts, web = asked.write("facts.json", *TWO_ZONES, GENERAL, TAINTED), asked.write("web.json", deployment())
    named = ["simulate", "create", "-f", web, "--snapshot", facts, "--instance-types", table]
    (step,) = asked.json(*named, schema="simulation")["steps"]

    assert "getsStuck" == step["verdict"]
    assert "addedNodes" not in step
    assert (
        "Karpenter adds no node, because it counts topology.kubernetes.io/zone=zone-c with 0 pods: only pool gpu"
        in (asked.text(*named))
    )


def test_nodes_that_kube_scheduler_will_not_use_end(asked: Asked, table: str) -> None:
    """Karpenter looks at the first term only, so it makes a node in zone a; kube-scheduler needs one in zone b."""
    running = {"matchLabels": {"app": "web"}}
    facts = asked.write(
        "facts.json", pool(), node("full-a", "zone-a", cpu=1), node("full-b", "zone-b", cpu=1),
        pod("web-0", on="full-a"), pod("other-0", on="full-b"),
    )  # fmt: skip
    web = with_affinity(deployment(1, labelSelector=running), terms(("zone-a",), ("zone-b",)))
    named = ["simulate", "create", "-f", asked.write("web.json", web), "--snapshot", facts, "--instance-types", table]
    (step,) = asked.json(*named, schema="simulation")["steps"]
    text = asked.text(*named)

    assert "getsStuck" == step["verdict"]
    assert {"min": 1, "max": 1} == step["addedNodes"][0]["unused"]
    assert "Karpenter adds 1 node of pool all (zone zone-a); kube-scheduler will not use it" in text
    assert "pod web-*: Karpenter adds 1 node of pool all (zone zone-a), but kube-scheduler will not use it: 0/3" in text
    assert "Karpenter adds node all-new-1." in text


def test_a_new_node_has_the_pods_of_its_daemonsets(asked: Asked, tmp_path: Path) -> None:
    """They are there before other pods, so a node has less room: two nodes for two pods."""
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": "500m"}}}
    template = {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [container]}}
    agent = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": template},
    }
    web = deployment(2)
    del web["spec"]["template"]["spec"]["topologySpreadConstraints"]
    path = tmp_path / "types.json"
    path.write_text(json.dumps({"*": [instance_type("small", 2)]}))
    facts, manifest = asked.write("facts.json", pool(), agent), asked.write("web.json", web)
    named = ["simulate", "create", "-f", manifest, "--snapshot", facts, "--instance-types", str(path)]
    (step,) = asked.json(*named, schema="simulation")["steps"]

    assert "completes" == step["verdict"]
    assert {"min": 2, "max": 2} == step["addedNodes"][0]["nodes"]


def test_a_drain_goes_on_when_a_node_has_joined(asked: Asked, table: str) -> None:
    """A budget allows one pod at a time: the next one is evicted once the first runs on a new node."""
    labels = {"app": "web"}
    web = deployment(2)
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": labels}},
    }
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "1", "controller": True}
    pods = [pod(f"web-{at}", on="a1") for at in range(2)]
    for at, item in enumerate(pods):
        item["metadata"] |= {
            "uid": f"p{at}",
            "ownerReferences": [owner],
            "labels": {**labels, "pod-template-hash": "1"},
        }
        item["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    of_web = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "0", "controller": True}
    replica_set = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web-1", "namespace": "default", "uid": "1", "ownerReferences": [of_web]},
        "spec": {"replicas": 2, "selector": {"matchLabels": {**labels, "pod-template-hash": "1"}}},
    }
    del web["spec"]["template"]["spec"]["topologySpreadConstraints"]
    facts = asked.write("facts.json", owned("a1", "zone-a"), GENERAL, web, replica_set, *pods, budget)
    named = ["simulate", "drain", "a1", "--snapshot", facts, "--instance-types", table]
    (step,) = asked.json(*named, schema="simulation")["steps"]

    assert "completes" == step["verdict"]
    assert 1 <= step["addedNodes"][0]["nodes"]["min"]


def test_without_instance_types_the_verdict_is_not_known(asked: Asked) -> None:
    """A pool without nodes may have machines of any size."""
    facts, web = asked.write("facts.json", GENERAL), asked.write("web.json", deployment())
    named = ["simulate", "create", "-f", web, "--snapshot", facts]
    (step,) = asked.json(*named, schema="simulation")["steps"]

    assert "notKnown" == step["verdict"]
    assert ["whether Karpenter adds nodes: the instance types of pool general, which the facts do not show"] == (
        step["notSimulated"]
    )


def test_a_type_that_is_not_known_might_have_room(asked: Asked) -> None:
    """No type that runs is large enough: neither `explain` nor `simulate` is sure that Karpenter adds no node."""
    large = deployment()
    large["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "64"}}
    facts, web = asked.write("facts.json", *TWO_ZONES, GENERAL), asked.write("web.json", large)
    (step,) = asked.json("simulate", "create", "-f", web, "--snapshot", facts, schema="simulation")["steps"]

    assert "Whether Karpenter adds a node depends on" in asked.text("explain", "-f", web, "--snapshot", facts)
    assert "notKnown" == step["verdict"]


def test_a_zone_without_capacity_is_named(asked: Asked, tmp_path: Path) -> None:
    """The zone is counted, and no machine is sold there now."""
    sold: dict[str, Any] = instance_type("small", 2)
    for offer in sold["offerings"]:
        offer["available"] = offer["zone"] != "zone-c"
    path = tmp_path / "types.json"
    path.write_text(json.dumps({"*": [sold]}))
    facts, web = asked.write("facts.json", *TWO_ZONES, pool("general")), asked.write("web.json", deployment(7))
    named = ["simulate", "create", "-f", web, "--snapshot", facts, "--instance-types", str(path)]
    (step,) = asked.json(*named, schema="simulation")["steps"]

    assert "getsStuck" == step["verdict"]
    assert "Karpenter adds no node, because that depends on capacity in zone zone-c" in " ".join(step["notes"])


def test_without_pools_karpenter_is_not_mentioned(asked: Asked) -> None:
    facts, web = asked.write("facts.json", *TWO_ZONES), asked.write("web.json", deployment())

    assert "Karpenter" not in asked.text("simulate", "create", "-f", web, "--snapshot", facts)


def test_a_node_that_names_stand_in_for_is_counted_on(asked: Asked, table: str) -> None:
    """The old node has no hostname label: Karpenter counts on it for ever, and kube-scheduler refuses it."""
    constraint = {"maxSkew": 1, "topologyKey": HOSTNAME, "whenUnsatisfiable": "DoNotSchedule"}
    web = deployment(2, **constraint)
    facts = asked.write("facts.json", pool("all", need(ZONE, "zone-a")), node("old", "zone-a", host=False))
    named = ["simulate", "create", "-f", asked.write("web.json", web), "--snapshot", facts, "--instance-types", table]
    (step,) = asked.json(*named, schema="simulation")["steps"]

    assert "getsStuck" == step["verdict"]
    assert (
        "Karpenter counts on node old, so it adds no other node, but kube-scheduler refuses the pod there"
        in asked.text(*named)
    )


def test_a_zone_that_some_outcomes_lack_has_no_pods_in_them(asked: Asked, table: str) -> None:
    """One new node has room for all pods, in a zone that the provider chooses: each zone has all of them or none."""
    web = deployment(3)
    del web["spec"]["template"]["spec"]["topologySpreadConstraints"]
    facts, manifest = asked.write("facts.json", pool("general")), asked.write("web.json", web)
    named = ["simulate", "create", "-f", manifest, "--snapshot", facts, "--instance-types", table]
    (step,) = asked.json(*named, schema="simulation")["steps"]
    (spread,) = step["workloads"][0]["domains"]

    assert "completes" == step["verdict"]
    assert [{"min": 0, "max": 3}] * 3 == [item["after"] for item in spread["domains"]]
    assert 3 == asked.text(*named).count("0 0 to 3")


@pytest.mark.parametrize("where", ["create", "before"])
def test_pools_may_be_among_the_manifests(asked: Asked, table: str, where: str) -> None:
    """As in a repository that has them beside the workloads."""
    facts, web = asked.write("facts.json", *TWO_ZONES), asked.write("web.json", deployment())
    pools = asked.write("pools.json", GENERAL, TAINTED)
    steps = ["-f", pools, "create", "-f", web] if where == "before" else ["create", "-f", web, "-f", pools]
    text = asked.text("simulate", *steps, "--snapshot", facts, "--instance-types", table)

    assert "Karpenter adds no node, because it counts topology.kubernetes.io/zone=zone-c" in text
    assert f"Do: set nodeTaintsPolicy: Honor in the constraint on {ZONE}" in text


def test_exit_code(asked: Asked, table: str) -> None:
    facts, web = asked.write("facts.json", *TWO_ZONES, GENERAL), asked.write("web.json", deployment())

    assert 1 == run(["simulate", "create", "-f", web, "--snapshot", asked.write("few.json", *TWO_ZONES)])
    assert 0 == run(["simulate", "create", "-f", web, "--snapshot", facts, "--instance-types", table])


@pytest.mark.parametrize("command", ["simulate create -f", "explain -f", "check"])
def test_the_page_draws_new_nodes_with_dashes(
    asked: Asked, table: str, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """As it draws other nodes with a note."""
    facts, web = asked.write("facts.json", *TWO_ZONES, GENERAL), asked.write("web.json", deployment())
    run([*command.split(), web, "--snapshot", facts, "--instance-types", table, "-o", "html"])
    page = capsys.readouterr().out

    assert '<span class="note">added by Karpenter</span>' in page
    assert "Karpenter adds 2 nodes of pool general" in page
