"""Facts about the scheduler that no recording shows, and a few that are too easily lost among them."""

from __future__ import annotations

from typing import Any, Optional

import pytest

from tests.naive import config, gomath
from tests.naive.builders import decide_one, HOSTNAME, node, Plain, pod, terminating, ZONE
from tests.naive.framework import (
    CycleState,
    error,
    Framework,
    Handle,
    NodeToStatus,
    SchedulerError,
    Status,
    SUCCESS,
    unschedulable,
)
from tests.naive.nodeinfo import NodeInfo, PodInfo
from tests.naive.noderesources import build_broken_linear_function
from tests.naive.selectors import new_requirement, ParseError


def preferring(preference: Plain) -> Plain:
    term = {"weight": 50, "preference": preference}
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}


BROKEN = {"matchExpressions": [{"key": "rank", "operator": "Gt", "values": ["abc"]}]}


def test_a_broken_preference_fails_the_cycle_only_where_there_is_a_choice() -> None:
    """PreScore does not run for one feasible node."""
    incoming = pod("p", affinity=preferring(BROKEN))

    assert decide_one([node("a"), node("b")], incoming)["error"].startswith('running PreScore plugin "NodeAffinity": ')
    assert "a" == decide_one([node("a")], incoming)["placed"]


def test_an_empty_preference_is_skipped() -> None:
    """It does not match every node, although it is documented to."""
    decision = decide_one([node("a"), node("b")], pod("p", affinity=preferring({})))

    assert 0 == decision["scores"]["a"]["NodeAffinity"]


@pytest.mark.parametrize(
    "term",
    [
        {},
        BROKEN,
        {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["x", "y"]}]},
        {"matchExpressions": [{"key": "k", "operator": "Exists", "values": ["x"]}]},
        {"matchExpressions": [{"key": "k", "operator": "Near", "values": ["x"]}]},
    ],
)
def test_a_required_term_that_is_empty_or_broken_matches_nothing(term: Plain) -> None:
    """The other terms still count."""
    good = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term, good]}}
    decision = decide_one([node("a", labels={"disk": "ssd"}), node("b")], pod("p", affinity={"nodeAffinity": required}))

    assert ["a"] == decision["feasible"]


def test_a_node_name_is_kept_to() -> None:
    """A pod that names a node goes nowhere else."""
    decision = decide_one([node("a"), node("b")], pod("p", nodeName="b"))

    assert ["b"] == decision["feasible"]
    assert ["node(s) didn't match the requested node name"] == decision["rejected"]["a"]["reasons"]


def test_a_feature_the_pod_uses_has_to_be_declared() -> None:
    """Both features that pods are scheduled by are inferred from the spec."""
    features = ["RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"]
    incoming = pod("p", hostNetwork=True, hostUsers=False)
    incoming["spec"]["containers"][0]["restartPolicyRules"] = [{"action": "RestartAllContainers"}]
    nodes = [
        node("a"),
        node("b", status={"declaredFeatures": features[:1]}),
        node("c", status={"declaredFeatures": features}),
    ]

    rival = pod("rival", status={"nominatedNodeName": "c"})

    assert ["c"] == decide_one([*nodes, rival], incoming)["feasible"]


def test_a_negative_slope_truncates_toward_zero() -> None:
    """Utilisation 33 on (0, 10) to (70, 0) is 53, not 52."""
    shape = [{"utilization": 0, "score": 10}, {"utilization": 70, "score": 0}]

    assert 53 == build_broken_linear_function(shape, 33)
    assert 100 == build_broken_linear_function(shape, 0)
    assert -3 == gomath.round_half_away(-2.5)


def test_fit_scores_without_pod_level_requests() -> None:
    """It scores 100m and 200Mi per container; the balance does see the pod's 2 CPUs."""
    incoming = pod("p", resources={"requests": {"cpu": "2", "memory": "1Gi"}})
    scores = decide_one([node("a"), node("b", allocatable={"cpu": "8"})], incoming)["scores"]

    assert [97, 97] == [scores[name]["NodeResourcesFit"] for name in "ab"]
    assert scores["a"]["NodeResourcesBalancedAllocation"] != scores["b"]["NodeResourcesBalancedAllocation"]


def test_pod_level_limits_complete_pod_level_requests() -> None:
    """From the containers' sum where they name the resource, from the limit where they do not."""
    limits = {"limits": {"cpu": "8", "memory": "9Gi"}}
    decision = decide_one([node("a")], pod("p", requests={"cpu": "1"}, resources=limits))

    assert ["Insufficient memory"] == decision["rejected"]["a"]["reasons"]


@pytest.mark.parametrize(("reason", "feasible"), [("Deferred", []), ("Infeasible", ["a"])])
def test_a_resized_pod_takes_the_most_of_spec_and_status(reason: str, feasible: list[str]) -> None:
    """Unless the resize is infeasible: then what was asked for does not count."""
    running = pod("r", on="a", requests={"cpu": "3"})
    running["status"] = {
        "conditions": [{"type": "Other"}, {"type": "PodResizePending", "reason": reason}],
        "containerStatuses": [
            {"name": "c", "resources": {"requests": {"cpu": "1"}}, "allocatedResources": {"cpu": "2"}}
        ],
    }

    assert feasible == decide_one([node("a"), running], pod("p", requests={"cpu": "2"}))["feasible"]


def test_the_status_of_pod_level_resources_counts() -> None:
    """As that of containers does; without a pending resize."""
    running = pod("r", on="a", resources={"requests": {"cpu": "1"}}, status={"resources": {"requests": {"cpu": "3"}}})

    assert [] == decide_one([node("a"), running], pod("p", requests={"cpu": "2"}))["feasible"]


def test_a_configured_scalar_nobody_has_is_left_out_of_the_score() -> None:
    """So a strategy of that alone scores 0."""
    for kind in ("LeastAllocated", "RequestedToCapacityRatio"):
        text = f"""
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: {kind}
        resources: [{{name: example.com/gpu}}, {{name: foo}}]
        requestedToCapacityRatio: {{shape: [{{utilization: 0, score: 10}}]}}
"""
        decision = decide_one([node("a")], pod("p"), text=text)

        assert 0 == decision["scores"]["a"]["NodeResourcesFit"]


def test_an_image_volume_counts_without_a_slot() -> None:
    """Its bytes are added, its container is not."""
    images = {"images": [{"names": ["big:latest"], "sizeBytes": 1000 * 2**20}]}
    volumes = [{"name": "v", "image": {"reference": "big"}}]

    assert 100 == decide_one([node("a", status=images)], pod("p", volumes=volumes))["scores"]["a"]["ImageLocality"]


def test_system_defaults_put_unlabelled_nodes_into_a_zone_of_their_own() -> None:
    """Five nodes, two zones: the weights are ln 7 and ln 5."""
    labels = {"app": "x"}
    nodes = [
        node("a1", labels={HOSTNAME: "a1", ZONE: "A"}),
        node("a2", labels={HOSTNAME: "a2", ZONE: "A"}),
        node("b1", labels={HOSTNAME: "b1", ZONE: "B"}),
        node("nh", labels={ZONE: "B"}),
        node("u1", labels={HOSTNAME: "u1"}),
    ]
    running = [pod(f"p{number}", on=on, labels=labels) for number, on in enumerate(["a1", "a1", "b1", "u1", "nh"])]
    service = {"kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": labels}}
    scores = decide_one([*nodes, *running, service], pod("p", labels=labels))["scores"]

    assert [60, 122, 92, 152, 200] == [scores[name]["PodTopologySpread"] for name in ("a1", "a2", "b1", "nh", "u1")]


def hard_zone(**more: Any) -> list[Plain]:
    selector = {"matchLabels": {"app": "x"}}
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    return [{**constraint, **more}]


def test_evicting_a_terminating_pod_seems_to_help() -> None:
    """It was never counted, but taking it off counts."""
    labels = {"app": "x"}
    objects = [
        node("a", labels={ZONE: "A"}),
        node("b", labels={ZONE: "B"}, spec={"unschedulable": True}),
        terminating(pod("low", on="a", labels=labels, priority=1)),
        pod("high", on="a", labels=labels, priority=9),
    ]
    incoming = pod("p", labels=labels, priority=5, topologySpreadConstraints=hard_zone())

    assert "a" == decide_one(objects, incoming, preempt=True)["nominated"]


@pytest.mark.parametrize("action", ["DoNotSchedule", "ScheduleAnyway"])
def test_a_broken_selector_of_a_constraint_fails_the_cycle(action: str) -> None:
    """It does not make the pod unschedulable."""
    selector = {"matchExpressions": [{"key": "k", "operator": "Gt", "values": ["1"]}]}
    constraints = hard_zone(labelSelector=selector, whenUnsatisfiable=action)
    decision = decide_one([node("a"), node("b")], pod("p", topologySpreadConstraints=constraints))

    assert 'plugin "PodTopologySpread": ' in decision["error"]


def test_a_broken_selector_of_the_owner_is_ignored() -> None:
    """Nothing else selects the pod, so it has no default constraints."""
    selector = {"matchExpressions": [{"key": "k", "operator": "In"}]}
    owner = {"kind": "ReplicaSet", "metadata": {"name": "r", "namespace": "default"}, "spec": {"selector": selector}}
    incoming = pod("p")
    incoming["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "controller": True}
    ]

    assert "PodTopologySpread" not in decide_one([node("a"), owner], incoming)["scores"]["a"]


def test_a_filter_without_its_prefilter_fails_the_cycle() -> None:
    """It finds no state."""
    text = "profiles:\n- plugins: {preFilter: {disabled: [{name: PodTopologySpread}]}}\n"
    decision = decide_one([node("a")], pod("p"), text=text)

    assert 'reading "PodTopologySpread" from cycleState: not found' == decision["error"]


def test_a_pod_of_an_unknown_scheduler_waits() -> None:
    """Without a message."""
    decision = decide_one([node("a")], pod("p", schedulerName="other"))

    assert {"pod": "default/p", "feasible": []} == decision


def test_a_configuration_has_to_be_yaml() -> None:
    """The parser's words are passed on."""
    with pytest.raises(ValueError, match=r"."):
        config.read("profiles: [")


def test_never_means_no_preemption() -> None:
    """The message says so."""
    objects = [node("a"), pod("low", on="a", requests={"cpu": "4"})]
    incoming = pod("p", priority=5, preemptionPolicy="Never", requests={"cpu": "1"})

    assert decide_one(objects, incoming, preempt=True)["message"].endswith(
        "no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never."
    )


@pytest.mark.parametrize(
    ("conditions", "nominated"),
    [
        ([{"type": "Other"}, {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}], None),
        ([{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}], "a"),
        ([], "a"),
    ],
)
def test_victims_that_still_terminate_are_waited_for(conditions: list[Plain], nominated: Optional[str]) -> None:
    """Only where they terminate on the pod's nominated node, by the scheduler's doing."""
    victim = terminating(pod("v", on="a", requests={"cpu": "4"}, status={"conditions": conditions}))
    incoming = pod("p", priority=5, requests={"cpu": "1"}, status={"nominatedNodeName": "a"})
    objects = [node("a"), pod("other", on="a"), victim]

    assert nominated == decide_one(objects, incoming, preempt=True).get("nominated")


def test_a_budget_with_a_broken_selector_covers_nothing() -> None:
    """So its victim costs as little as any."""
    selector = {"matchExpressions": [{"key": "k", "operator": "In"}]}
    budget = {"kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "default"}}
    objects = [node("a"), pod("low", on="a", labels={"k": "v"}, requests={"cpu": "4"}), budget]
    budget["spec"] = {"selector": selector}

    assert "a" == decide_one(objects, pod("p", priority=5, requests={"cpu": "1"}), preempt=True)["nominated"]


def test_a_new_requirement_checks_its_key() -> None:
    """Prefix and name."""
    for key in ("a b", "/name", "a/b/c", ""):
        with pytest.raises(ParseError):
            new_requirement(key, "Exists", [])


class _Narrowing:
    """A plug-in that leaves given nodes over."""

    def __init__(self, name: str, left: set[str]) -> None:
        self.name = name
        self.left = frozenset(left)

    def pre_filter(self, state: CycleState, item: Plain) -> Any:
        return self.left, SUCCESS


class _Once:
    """A filter that gives the answers it was made with, and then passes."""

    name = "Once"

    def __init__(self, *answers: Status) -> None:
        self.answers = list(answers)

    def filter(self, state: CycleState, item: Plain, info: NodeInfo) -> Status:
        return self.answers.pop(0) if self.answers else SUCCESS


class _Generous:
    """A score out of range."""

    name = "Generous"

    def score(self, state: CycleState, item: Plain, info: NodeInfo) -> int:
        return 101


class _Refusing:
    """A plug-in whose rejection could be preempted away."""

    name = "Refusing"

    def pre_filter(self, state: CycleState, item: Plain) -> Any:
        return None, unschedulable("not now")


@pytest.mark.parametrize(
    ("plugins", "reason"),
    [
        ([_Narrowing("B", set())], "node(s) didn't satisfy plugin B"),
        (
            [_Narrowing("B", {"x"}), _Narrowing("A", {"y"})],
            "node(s) didn't satisfy plugin(s) [A B] simultaneously",
        ),
        ([_Refusing(), _Narrowing("A", {"y"})], "not now"),
    ],
)
def test_plugins_that_leave_no_node_over_reject_the_pod(plugins: list[Any], reason: str) -> None:
    """One alone, two between them; a plain rejection comes out at the end."""
    framework = Framework(Handle([], (1, 36)), {"preFilter": plugins}, {})
    _, status = framework.run_pre_filter_plugins(CycleState(), pod("p"))

    assert reason == status.message()


def test_a_filter_that_fails_fails_the_cycle() -> None:
    """It does not reject the node."""
    framework = Framework(Handle([], (1, 36)), {"filter": [_Once(error("lost"))]}, {})

    with pytest.raises(SchedulerError, match='running "Once" filter plugin: lost'):
        framework.run_filter_plugins(CycleState(), pod("p"), NodeInfo(node("a")))


def test_a_score_out_of_range_fails_the_cycle() -> None:
    """The range is 0 to 100, after normalising."""
    framework = Framework(Handle([], (1, 36)), {"score": [_Generous()]}, {"Generous": 1})

    with pytest.raises(SchedulerError, match='plugin "Generous" returns an invalid score 101'):
        framework.run_score_plugins(CycleState(), pod("p"), [NodeInfo(node("a"))])


def test_a_candidate_without_victims_is_none() -> None:
    """Where a filter rejects a node and then changes its mind, nothing is to be evicted."""
    handle = Handle([], (1, 36))
    info = NodeInfo(node("a"))
    info.add_pod(PodInfo(pod("low", on="a")))
    handle.node_infos = [info]
    framework = config.new_framework({}, handle)
    framework.plugins.update(preFilter=[], filter=[_Once()])
    (preemption,) = (plugin for plugin in framework.plugins["postFilter"] if plugin.name == "DefaultPreemption")
    statuses = NodeToStatus()
    statuses.statuses["a"] = unschedulable("not now")
    nominated, status = preemption.post_filter(CycleState(), pod("p", priority=5), statuses)

    assert nominated is None
    assert 'expected at least one victim pod on node "a"' in status.message()
