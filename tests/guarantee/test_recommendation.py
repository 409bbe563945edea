"""Recommended constraints: each field is recommended where it decides, and what is pasted keeps the policy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from kubectl_spread.cli.main import run
from tests.guarantee.cases import HOSTNAME, ZONE

Plain = dict[str, Any]
REDIS = Path(__file__).parents[2] / "examples/simulations/redis/manifests"
TAINT = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}


def node(name: str, *, taints: list[Plain]) -> Plain:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOSTNAME: name, ZONE: name[0]}},
        "spec": {"taints": taints},
        "status": {"allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"}},
    }


def workload(kind: str, replicas: int) -> Plain:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web:1"}]}}
    spec: Plain = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    if kind == "StatefulSet":
        spec["serviceName"] = "web"
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web"}, "spec": spec}


def recommended(capsys: pytest.CaptureFixture[str], *words: str) -> Plain:
    run(["guarantee", *words, "--recommend", "-o", "json"])
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    found: Plain = group["recommendation"]
    return found


def extra(option: Plain) -> Plain:
    """Return the fields of the first constraint but its key."""
    return {key: value for key, value in option["constraints"][0].items() if value and key != "topologyKey"}


def proved(option: Plain) -> set[str]:
    return {item["regime"] for item in option["regimes"] if item["verdict"] == "proved"}


def test_taints_and_min_domains_are_recommended_where_a_zone_takes_no_pods(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The tainted zone would keep the minimum at 0; without minDomains, a lost zone leaves the pods in two zones."""
    nodes = [node(f"{zone}{number}", taints=[]) for zone in "abc" for number in (1, 2)]
    facts = tmp_path / "facts.json"
    facts.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, node("d1", taints=[TAINT])]}))
    (tmp_path / "web.json").write_text(json.dumps(workload("StatefulSet", 4)))
    words = ("-f", str(tmp_path / "web.json"), "--snapshot", str(facts), "--min-domains", "zone=3")
    first, second = recommended(capsys, *words)["options"]

    assert extra(first) == {"maxSkew": 1, "minDomains": 3, "nodeTaintsPolicy": "Honor"}
    assert extra(second) == {"maxSkew": 1, "nodeTaintsPolicy": "Honor"}
    assert proved(first) - proved(second) == {"disruptions"}


def test_revisions_are_counted_separately_where_a_rollout_would_leave_a_zone_empty(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """When the old pods go, the new ones that were spread with them are left uneven."""
    (tmp_path / "web.json").write_text(json.dumps(workload("Deployment", 4)))
    words = ("-f", str(tmp_path / "web.json"), "--topology", "zones=3,nodes=2", "--min-domains", "zone=3")
    rollouts = recommended(capsys, *words, "--regime", "rollouts")["options"]
    restarts = recommended(capsys, *words, "--regime", "restarts")["options"]

    assert [extra(item) for item in rollouts] == [{"maxSkew": 1, "matchLabelKeys": ["pod-template-hash"]}]
    assert [extra(item) for item in restarts] == [{"maxSkew": 1}]


@pytest.mark.slow
def test_no_max_skew_keeps_six_shards_below_half_of_a_zone(capsys: pytest.CaptureFixture[str]) -> None:
    """Up to 2 shards can wait for each other; from 3 on, a zone can hold 6 of 12 pods once no zone is empty."""
    words = (
        "-f",
        str(REDIS / "3-zones-6-shards.yaml"),
        "--topology",
        "zones=3,nodes=4",
        "--regime",
        "creation",
    )
    found = recommended(capsys, *words, "--less-than", "zone=1/2", "--separate", "zone")
    reasons = {
        item["constraints"][0]["maxSkew"]: (item["verdict"]["rule"]["kind"], item["verdict"]["witness"]["number"])
        for item in found["attempts"]
    }

    assert found["exhaustive"]
    assert found["relaxed"]
    assert reasons == {1: ("placed", 1), 2: ("placed", 2), 3: ("maxShare", 6), 4: ("maxShare", 6), 5: ("maxShare", 6)}


@pytest.mark.parametrize(
    ("kind", "replicas", "rules"),
    [
        ("StatefulSet", 6, ("--at-most", "zone=1/2")),
        ("StatefulSet", 6, ("--at-most", "zone=1/2", "--at-most", "hostname=1/3")),
        ("Deployment", 4, ("--min-domains", "zone=3")),
        ("StatefulSet", 3, ("--separate", "zone")),
        ("StatefulSet", 5, ("--survive", "zone", "--keep", "quorum")),
    ],
)
def test_pasted_constraints_have_no_findings_and_keep_the_policy(
    kind: str, replicas: int, rules: tuple[str, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Each option is tried. No key has two constraints, of which kubectl apply would lose one (SPR606)."""
    (tmp_path / "web.json").write_text(json.dumps(workload(kind, replicas)))
    facts = ("--topology", "zones=3,nodes=2")
    regimes = ("--regime", "creation", "--regime", "restarts", "--regime", "rollouts")
    options = recommended(capsys, "-f", str(tmp_path / "web.json"), *facts, *rules, *regimes)["options"]

    assert options
    for option in options:
        plain = workload(kind, replicas)
        plain["spec"]["template"]["spec"] |= option["patches"][0]["patch"]["spec"]["template"]["spec"]
        pasted = tmp_path / "pasted.json"
        pasted.write_text(json.dumps(plain))
        assert run(["guarantee", "-f", str(pasted), *facts, *rules, *regimes, "-o", "json"]) == 0
        capsys.readouterr()
        run(["check", str(pasted), *facts, "--no-config", "-o", "json"])
        assert json.loads(capsys.readouterr().out)["findings"] == []


def test_a_constraint_that_proves_nothing_more_is_left_out(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """With at most 2 pods on each of 2 nodes, 5 pods use 2 zones anyway."""
    (tmp_path / "web.json").write_text(json.dumps(workload("Deployment", 5)))
    facts = ("-f", str(tmp_path / "web.json"), "--topology", "zones=3,nodes=2")
    options = recommended(capsys, *facts, "--max-count", "hostname=2", "--min-domains", "zone=2")["options"]

    assert [[(item["topologyKey"], item["maxSkew"]) for item in option["constraints"]] for option in options] == [
        [(HOSTNAME, 1)]
    ]
    assert [option["soft"] for option in options] == [[ZONE]]


def test_what_is_proved_once_settled_is_recommended(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """During a rollout a zone can hold more than half of the pods; afterwards it does not."""
    (tmp_path / "web.json").write_text(json.dumps(workload("Deployment", 4)))
    facts = ("-f", str(tmp_path / "web.json"), "--topology", "zones=3,nodes=2")
    found = recommended(capsys, *facts, "--at-most", "zone=1/2")
    run(["guarantee", *facts, "--at-most", "zone=1/2", "--recommend", "--details"])
    text = " ".join(capsys.readouterr().out.split())
    (option,) = found["options"]
    (rollouts,) = [item for item in option["regimes"] if item["regime"] == "rollouts"]

    assert extra(option) == {"maxSkew": 2, "matchLabelKeys": ["pod-template-hash"]}
    assert not found["exceptInRollouts"]
    assert (rollouts["verdict"], rollouts["settledVerdict"]) == ("refuted", "proved")
    assert "rollouts: at most 1/2 of the pods in one zone: once settled, a zone holds at most 2 pods: maxSkew 2" in text
    assert "at most 1/2 of the pods in one zone: not guaranteed while pods move (rollouts, disruptions)" in text


def test_separate_pods_need_a_domain_each(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "web.json").write_text(json.dumps(workload("StatefulSet", 3)))
    facts = ("-f", str(tmp_path / "web.json"), "--topology", "zones=2,nodes=2", "--regime", "creation")
    (option,) = recommended(capsys, *facts, "--separate", "hostname")["options"]
    run(["guarantee", *facts, "--separate", "hostname", "--recommend"])

    assert option["neededDomains"] == [{"topologyKey": HOSTNAME, "domains": 3}]
    assert "\nDo: set required anti-affinity by hostname" in capsys.readouterr().out


@pytest.mark.parametrize(("rules", "max_skew", "nodes"), [((), 2, 4), (("--at-most", "zone=1/2"), 1, 7)])
def test_full_nodes_that_count_need_others_with_room(
    rules: tuple[str, ...], max_skew: int, nodes: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """While a node is full and keeps no pod, every other one takes maxSkew pods at most."""
    (tmp_path / "web.json").write_text(json.dumps(workload("Deployment", 7)))
    facts = ("-f", str(tmp_path / "web.json"), "--topology", "zones=3,nodes=3", "--regime", "creation")
    (option, *_) = recommended(capsys, *facts, *rules, "--max-count", "hostname=2")["options"]

    assert option["constraints"][0]["topologyKey"] == option["neededDomains"][0]["topologyKey"] == HOSTNAME
    assert option["constraints"][0]["maxSkew"] == max_skew
    assert option["neededDomains"][0]["domains"] == nodes


def test_new_volumes_are_left_aside(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Whether every pod finds a node is not decided with them, and the cost of the option says so."""
    kafka = workload("StatefulSet", 3)
    kafka["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]
    (tmp_path / "web.json").write_text(json.dumps(kafka))
    facts = ("-f", str(tmp_path / "web.json"), "--topology", "zones=3,nodes=2", "--regime", "restarts")
    rules = ("--survive", "zone", "--keep", "quorum")
    (option,) = recommended(capsys, *facts, *rules)["options"]
    run(["guarantee", *facts, *rules, "--recommend", "--details"])
    text = " ".join(capsys.readouterr().out.split())

    assert option["newVolumes"]
    assert extra(option) == {"maxSkew": 1}
    assert [item["verdict"] for item in option["regimes"][0]["rules"]] == ["proved", "notApplicable", "undecided"]
    assert (
        "new volumes are not simulated: each pod finds a node without them, but they can keep a pod in the zone of its "
        "first node" in text
    )


def test_the_candidates_that_do_not_work_are_listed_with_their_fields(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The fields of a candidate are not taken for another candidate."""
    (tmp_path / "web.json").write_text(json.dumps(workload("Deployment", 3)))
    facts = ("-f", str(tmp_path / "web.json"), "--topology", "zones=3,nodes=2", "--replicas", "2..4")
    run(["guarantee", *facts, "--less-than", "zone=2/3", "--recommend", "--details"])
    text = " ".join(capsys.readouterr().out.split())

    assert (
        "maxSkew 1 with nodeTaintsPolicy Honor, 1 with nodeTaintsPolicy Honor and minDomains 3: zone c holds 2 of 3 "
        "pods; 1 allowed (rollouts)." in text
    )


def test_constraints_that_keep_the_policy_stay_as_they_are(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Redis over three zones with four nodes each: with `at most`, there is nothing to change."""
    words = ("-f", str(REDIS / "3-zones-3-shards.yaml"), "--topology", "zones=3,nodes=4", "--regime", "creation")
    rules = ("--less-than", "hostname=1/3", "--less-than", "zone=1/2", "--separate", "zone")
    found = recommended(capsys, *words, *rules)
    run(["guarantee", *words, *rules, "--recommend", "--details"])
    best = found["options"][0]

    assert found["relaxed"]
    assert (best["changes"], best["patches"], best["commands"]) == (0, [], [])
    assert [item["maxSkew"] for item in best["constraints"]] == [1, 2]
    assert (
        "Do: keep maxSkew 1 by hostname with maxSkew 2 by zone, required anti-affinity by zone, as it is"
    ) in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("constraint", [{}, {"nodeAffinityPolicy": "Ignore"}])
def test_no_change_is_recommended_where_every_rule_is_proved(
    constraint: Plain, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Anti-affinity keeps the policy, or a constraint with a field that no candidate has."""
    redis = workload("StatefulSet", 3)
    selector = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": ZONE}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [selector]}}
    spread = {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", **selector, **constraint}
    spec = redis["spec"]["template"]["spec"]
    spec.update({"topologySpreadConstraints": [spread]} if constraint else {"affinity": apart})
    (tmp_path / "web.json").write_text(json.dumps(redis))
    facts = ("-f", str(tmp_path / "web.json"), "--topology", "zones=3,nodes=2", "--at-most", "zone=1/2")
    (option,) = recommended(capsys, *facts)["options"]
    run(["guarantee", *facts, "--recommend"])

    assert (option["changes"], option["commands"]) == (0, [])
    assert "\nDo: keep the constraints as they are\n" in capsys.readouterr().out

    run(["guarantee", *facts, "--separate", "zone", "--recommend"])
    kept = "the constraints as they are" if constraint else "required anti-affinity by zone, as it is"
    assert f"\nDo: keep {kept}\n" in capsys.readouterr().out


def test_a_reason_for_a_smaller_max_skew_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    """maxSkew 2 lets 2 of 4 pods into a zone, as the rule does; a rollout is why it is not recommended."""
    web = Path(__file__).parents[1] / "cases/policy/web.yaml"
    run(["guarantee", "-f", str(web), "--topology", "zones=3,nodes=2", "--at-most", "zone=1/2", "--recommend"])
    text = " ".join(capsys.readouterr().out.split())

    assert "a zone may hold 2 of 4 pods. maxSkew 1 is proved to keep that." in text
    assert "it allows 2" not in text


def test_the_command_comes_first_and_why_nothing_helps_is_said_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "web.json").write_text(json.dumps(workload("Deployment", 4)))
    words = ("guarantee", "-f", str(tmp_path / "web.json"), "--at-most", "zone=1/2", "--recommend", "--topology")
    run([*words, "zones=3,nodes=2"])
    lines = capsys.readouterr().out.splitlines()
    assert (lines[1].startswith("Do: set "), lines[2].startswith("  $ kubectl patch ")) == (True, True)

    run([*words, "zones=1,nodes=2"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:4] == [
        "No constraints keep the policy and leave no pod Pending on these nodes.",
        "at most 1/2 of the pods in one zone: a zone may hold 2 of 4 pods, so 2 zones are needed; there is 1.",
        "",
    ]
    assert sum("one zone" in line for line in lines) == 3  # the first line, the reason, and the table


def test_the_same_is_said_once_for_equal_workloads(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Workloads of one group that differ in their labels share a block of YAML, and equal groups a recommendation."""
    items = []
    for name in ("cache-0", "cache-1", "cache-2"):
        plain = json.loads(json.dumps(workload("StatefulSet", 2)).replace('"web"', f'"{name}"'))
        plain["spec"]["template"]["metadata"]["labels"]["group"] = "cache"
        items.append(plain)
    (tmp_path / "cache.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    words = ["-f", str(tmp_path / "cache.json"), "--topology", "zones=3,nodes=2", "--regime", "creation", "--recommend"]
    run(["guarantee", *words, "-l", "group=cache", "--at-most", "zone=1/2", "--separate", "zone", "--details"])
    together = capsys.readouterr().out
    run(["guarantee", *words, "--at-most", "zone=1/2", "--details"])
    apart = capsys.readouterr().out

    assert together.count("topologySpreadConstraints:") == 1
    assert together.count("kubectl patch") == 3
    run(["guarantee", *words, "-l", "group=cache", "--at-most", "zone=1/2", "--separate", "zone"])
    assert "  # 2 more commands with other labels; --details prints all of them\n" in capsys.readouterr().out
    assert apart.count("topologySpreadConstraints:") == 1
    assert "Recommended constraints for default/cache-2: those for default/cache-0, with its own labels." in apart


def test_what_a_recommendation_removes_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A constraint is replaced as a whole."""
    web = workload("Deployment", 5)
    fields = {"maxSkew": 3, "minDomains": 3, "whenUnsatisfiable": "DoNotSchedule"}
    written = {"topologyKey": ZONE, "labelSelector": web["spec"]["selector"], **fields}
    web["spec"]["template"]["spec"]["topologySpreadConstraints"] = [written]
    (tmp_path / "web.json").write_text(json.dumps(web))
    facts = ("-f", str(tmp_path / "web.json"), "--topology", "zones=3,nodes=2", "--regime", "creation")
    run(["guarantee", *facts, "--at-most", "zone=2/5", "--recommend"])
    text = " ".join(capsys.readouterr().out.split())

    assert "Do: set maxSkew 1 by zone" in text
    assert "it removes minDomains 3" in text


def test_the_pods_that_a_recommendation_replaces_are_not_held_against_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Two of three pods run in one zone now; a rollout with the constraint puts one into each."""
    web = {**workload("Deployment", 3), "metadata": {"name": "web", "uid": "web"}}
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "web", "controller": True}
    sets = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web-1", "uid": "web-1", "ownerReferences": [owner]},
        "spec": web["spec"],
    }
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"web-1-{at}",
                "labels": {"app": "web", "pod-template-hash": "1"},
                "ownerReferences": [{**owner, "kind": "ReplicaSet", "name": "web-1", "uid": "web-1"}],
            },
            "spec": {"containers": [{"name": "web", "image": "web:1"}], "nodeName": name},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        }
        for at, name in enumerate(("a1", "b1", "b1"))
    ]
    facts = tmp_path / "facts.json"
    nodes = [node(name, taints=[]) for name in ("a1", "b1", "c1")]
    facts.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, web, sets, *pods]}))
    found = recommended(capsys, "deploy/web", "--snapshot", str(facts), "--less-than", "zone=1/2")

    assert extra(found["options"][0]) == {"maxSkew": 1, "matchLabelKeys": ["pod-template-hash"]}
    assert not found["relaxed"]


def test_rollouts_without_extra_pods_are_recommended_where_extra_pods_break_the_policy(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The strategy is part of the patch, and what is pasted keeps the policy."""
    scenario = Path(__file__).parents[2] / "examples/scenarios/selector-counts-another-component"
    rules = ("--less-than", "zone=2/3", "--min-domains", "zone=2", "--snapshot", str(scenario / "snapshot.yaml"))
    words = (*rules, *(word for name in ("creation", "restarts", "rollouts") for word in ("--regime", name)))
    found = recommended(capsys, "-f", str(scenario / "before.yaml"), *words)
    patch = found["options"][0]["patches"][0]["patch"]["spec"]
    run(["guarantee", "-f", str(scenario / "before.yaml"), *words, "--recommend"])
    out = capsys.readouterr().out
    plain = YAML(typ="safe").load(scenario / "before.yaml")
    plain["spec"]["template"]["spec"] |= patch["template"]["spec"]
    plain["spec"]["strategy"] = patch["strategy"]
    (tmp_path / "web.json").write_text(json.dumps(plain))
    run(["guarantee", "-f", str(tmp_path / "web.json"), *words, "-o", "json"])

    assert patch["strategy"] == {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    assert found["refused"]["regime"] == "rollouts"
    assert not found["exceptInRollouts"]
    assert json.loads(capsys.readouterr().out)["settledVerdict"] == "proved"
    assert "No constraints keep the policy while rollouts start extra pods. Without extra pods, these do:" in out
    assert "rollouts replace one pod at a time" in out
    assert (
        "\nmaxSkew 1 by zone with matchLabelKeys pod-template-hash does not work: 1 pod stays Pending (rollouts).\n"
        in out
    )


def test_nodes_with_room_are_needed_for_the_most_replicas(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """One pod on each node: 4 pods need 4 nodes, but the range goes to 6."""
    manifest = tmp_path / "web.json"
    manifest.write_text(json.dumps(workload("StatefulSet", 4)))
    words = ("-f", str(manifest), "--max-count", "hostname=1", "--topology", "zones=3,nodes=3", "--replicas", "3..6")
    found = recommended(capsys, *words)["options"][0]

    assert [item["domains"] for item in found["neededDomains"]] == [6]


def test_why_a_rule_is_not_decided_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    """A recommendation does not repeat what is not simulated."""
    scenario = Path(__file__).parents[2] / "examples/scenarios/pods-on-unlabelled-nodes-do-not-count"
    words = ("-f", str(scenario / "web.yaml"), "--topology", str(scenario / "cluster.yaml"), "--recommend")
    run(["guarantee", *words, "--less-than", "zone=2/3", "--min-domains", "zone=2"])

    assert capsys.readouterr().out.count("the constraints also count pods of") == 1


@pytest.mark.slow
def test_options_that_rollouts_break_are_proved_in_few_states(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """With all states, each takes as long as the whole search for candidates."""
    manifest = tmp_path / "web.json"
    manifest.write_text(json.dumps(workload("Deployment", 6)))
    rules = ("--max-count", "hostname=1", "--min-domains", "zone=3", "--replicas", "3..9")
    found = recommended(capsys, "-f", str(manifest), "--topology", "zones=3,nodes=3", *rules)

    assert found["exceptInRollouts"]
    for option in found["options"]:
        assert all(rule["states"] <= 5_001 for item in option["regimes"] for rule in item["rules"])


def test_a_rule_that_no_number_of_pods_keeps_is_the_reason(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A quorum of one pod is that pod."""
    manifest = tmp_path / "web.json"
    manifest.write_text(json.dumps(workload("Deployment", 1)))
    words = ("--topology", "zones=3,nodes=1", "--survive", "zone", "--keep", "quorum", "--recommend")
    run(["guarantee", "-f", str(manifest), *words])

    assert (
        "\na quorum left after losing 1 zone, if all have a node: a zone may hold 0 of 1 pod, so none.\n"
        in capsys.readouterr().out
    )
