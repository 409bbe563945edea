"""The program and the slow scheduler agree on clusters odder than the recorded ones.

Whoever was wrong where they once differed, the fact is kept here as a case of its own.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, HealthCheck, settings

from tests.naive.builders import claim, HOSTNAME, LATE, node, Plain, pod, using, volume
from tests.naive.core import Core, FAILS
from tests.naive.replay import decide
from tests.naive.strategies import cases

pytestmark = pytest.mark.slow


def agreed(case: Plain) -> list[Plain]:
    """Decide step by step on both sides, the pod placed where both say; what both say of each step."""
    slow = [_without_text(decision) for decision in decide(copy.deepcopy(case))]
    core = Core(case)
    for incoming, expected in zip(case["incoming"], slow, strict=True):
        decided = core.decide(incoming)
        assert decided == expected, incoming["metadata"]["name"]
        if "placed" in decided:
            core.bind(incoming, decided["placed"])
    return slow


def _without_text(decision: Plain) -> Plain:
    """Only the recordings' fields; errors agree in kind, not in words."""
    return FAILS if "error" in decision else {name: value for name, value in decision.items() if name != "pod"}


def one(objects: list[Plain], incoming: Plain, *, preempt: bool = False, profile: Any = None) -> Plain:
    """What both say of one pod."""
    case: Plain = {"objects": objects, "incoming": [incoming], "preempt": preempt}
    if profile is not None:
        case["schedulerConfig"] = json.dumps({"profiles": [profile]})
    (decision,) = agreed(case)
    return decision


@settings(max_examples=80, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_both_say_the_same_of_any_cluster(case: Plain) -> None:
    """Feasible nodes, reasons, messages, every score, nominations, placements and whether the cycle fails."""
    agreed(case)


def test_without_nodes_nothing_else_is_said() -> None:
    """Not even that the pod's claim is missing: PreFilter does not run."""
    assert one([], pod("p", volumes=using("gone"))) == {
        "feasible": [],
        "message": "no nodes available to schedule pods",
    }


NAMED_ELSEWHERE = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["elsewhere"]}]}
            ]
        }
    }
}


def test_a_nominated_node_that_the_pod_does_not_name_keeps_its_own_reason() -> None:
    """It is tried before the nodes are narrowed down, and nothing overwrites what came of it."""
    incoming = pod("p", affinity=NAMED_ELSEWHERE, status={"nominatedNodeName": "a"})

    assert one([node("a"), node("b")], incoming)["message"] == (
        "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, "
        "1 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )


def test_nodes_are_narrowed_down_though_the_filter_of_node_affinity_is_off() -> None:
    """It is PreFilter that does it."""
    profile = {"plugins": {"filter": {"disabled": [{"name": "NodeAffinity"}]}}}

    assert one([node("a")], pod("p", affinity=NAMED_ELSEWHERE), profile=profile)["message"] == (
        "0/1 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )


def test_pod_level_requests_are_completed_by_what_the_spec_of_the_containers_asks() -> None:
    """The API server does it once, at creation: neither a default for scoring nor a later resize plays a part."""
    existing = pod("e", on="a", resources={"limits": {"cpu": "1"}})

    assert one([node("a")], pod("p"))["scores"]["a"]["NodeResourcesFit"] == 97
    assert one([node("a"), existing], pod("p"))["scores"]["a"]["NodeResourcesFit"] == 83


@pytest.mark.parametrize(("reason", "feasible"), [("Infeasible", ["a"]), ("Deferred", [])])
def test_what_a_pod_asks_does_not_count_while_its_resize_is_infeasible(reason: str, feasible: list[str]) -> None:
    """Only what it uses and was given does."""
    status = {
        "conditions": [{"type": "PodResizePending", "status": "True", "reason": reason}],
        "containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}],
    }
    existing = pod("e", on="a", requests={"cpu": "4"}, status=status)

    assert one([node("a"), existing], pod("p", requests={"cpu": "1"}))["feasible"] == feasible


def test_the_status_of_pod_level_resources_counts() -> None:
    """It is the larger of what is asked and what is used."""
    existing = pod("e", on="a", resources={"requests": {"cpu": "1"}}, status={"resources": {"requests": {"cpu": "4"}}})

    assert one([node("a"), existing], pod("p", requests={"cpu": "1"}))["feasible"] == []


def test_an_empty_list_of_preferences_is_none() -> None:
    """The API server does not store it, so that the plug-in is skipped."""
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}}

    assert "NodeAffinity" not in one([node("a")], pod("p", affinity=affinity))["scores"]["a"]


def test_reasons_of_extended_resources_are_sorted() -> None:
    """Upstream gives them in the order of a Go map, which is none."""
    requests = {"hugepages-2Mi": "2Mi", "attachable-volumes-x": "1"}

    assert one([node("a")], pod("p", requests=requests))["rejected"]["a"]["reasons"] == [
        "Insufficient attachable-volumes-x",
        "Insufficient hugepages-2Mi",
    ]


def test_scores_wrap_around_as_go_does() -> None:
    """A hundred times 9E does not fit into 64 bits."""
    huge = node("a", allocatable={"memory": "9E", "cpu": "0"})

    assert one([huge], pod("p"))["scores"]["a"]["NodeResourcesFit"] == 0


def test_a_score_out_of_range_fails_the_cycle_where_there_is_a_choice() -> None:
    """Sizes that do not exist lead to one; a single node is taken without a score."""
    odd = [node(name, allocatable={"memory": "0", "cpu": "92233720368547759"}) for name in ("a", "b")]
    negative = pod("p", requests={"cpu": "-1"})
    few = [node(name, allocatable={"memory": "0"}) for name in ("a", "b")]

    assert one(few, negative) == FAILS
    assert one(few[:1], negative)["placed"] == "a"
    assert one(odd, pod("p"))


def test_the_balance_before_the_pod_wraps_around_too() -> None:
    """What is requested without the pod is a difference of 64 bits like any other; here the score is out of range."""
    odd = node("b", allocatable={"cpu": "-1", "memory": "9223372036854775807"})
    existing = pod("e", on="b", requests={"cpu": "100E"})

    assert one([node("a"), odd, existing], pod("p", requests={"cpu": "500m"})) == FAILS


@pytest.mark.parametrize("uid", ["another", "the-claim"])
def test_a_volume_held_for_a_claim_of_another_life_is_not_its_own(uid: str) -> None:
    """The name alone does not do where a UID is given."""
    held = volume("v", claimRef={"namespace": "default", "name": "c", "uid": uid})
    wanting = claim("c", metadata={"uid": "the-claim"})

    assert bool(one([node("a"), LATE, held, wanting], pod("p", volumes=using("c")))["feasible"]) == (uid == "the-claim")


def test_a_volume_held_for_the_claim_is_not_looked_at_in_another_class() -> None:
    """Volumes are listed by the claim's class."""
    held = volume("v", storage_class="other", claimRef={"namespace": "default", "name": "c"})

    assert one([node("a"), LATE, held, claim("c")], pod("p", volumes=using("c")))["feasible"] == []


def test_sizes_of_volumes_are_compared_exactly() -> None:
    """Not in whole bytes."""
    small = volume("v", capacity={"storage": "0.4"})
    wanting = claim("c", resources={"requests": {"storage": "0.5"}})

    assert one([node("a"), LATE, small, wanting], pod("p", volumes=using("c")))["feasible"] == []


def test_an_empty_class_annotation_wins() -> None:
    """The field is looked at only where the annotation is missing."""
    wanting = claim("c", metadata={"annotations": {"volume.beta.kubernetes.io/storage-class": ""}})

    assert one([node("a"), LATE, volume("v"), wanting], pod("p", volumes=using("c")))["preFilter"] == (
        "pod has unbound immediate PersistentVolumeClaims"
    )


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ([], 'persistentvolumeclaim "c" not found'),
        ([claim("c", storage_class="")], "PersistentVolumeClaim had no pv name and storageClass name"),
        ([claim("c", storage_class="x")], 'storageclass.storage.k8s.io "x" not found'),
        ([claim("c"), {**LATE, "volumeBindingMode": "Immediate"}], "PersistentVolume had no name"),
        ([claim("c", volume="v")], 'persistentvolume "v" not found'),
    ],
)
def test_volume_zone_rejects_claims_where_nothing_else_does(objects: list[Plain], message: str) -> None:
    """With the plug-ins disabled that would have found it first."""
    disabled = [{"name": "VolumeRestrictions"}, {"name": "VolumeBinding"}]

    decision = one([node("a"), *objects], pod("p", volumes=using("c")), profile=_without(disabled))

    assert decision["preFilter"] == message


def _without(disabled: list[Plain]) -> Plain:
    return {"plugins": {"multiPoint": {"disabled": disabled}}}


UNPARSABLE = {
    "nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {
                "weight": 1,
                "preference": {"matchExpressions": [{"key": "rank", "operator": "Gt", "values": ["abc"]}]},
            }
        ]
    }
}


@pytest.mark.parametrize(
    ("score", "fails"),
    [
        ({"disabled": [{"name": "NodeAffinity"}]}, True),
        ({"disabled": [{"name": "*"}]}, False),
        ({}, True),
    ],
)
def test_a_preference_that_does_not_parse_fails_the_cycle_unless_nothing_scores(score: Plain, *, fails: bool) -> None:
    """PreScore runs for a plug-in whose Score is disabled, but not where no plug-in scores at all."""
    decision = one([node("a"), node("b")], pod("p", affinity=UNPARSABLE), profile={"plugins": {"score": score}})

    assert (decision == FAILS) == fails


def test_a_score_plugin_listed_again_without_a_weight_weighs_one() -> None:
    """Whatever its weight in MultiPoint: the list of the extension point is looked at first."""
    profile = {"plugins": {"score": {"enabled": [{"name": "TaintToleration"}]}}}

    assert one([node("a")], pod("p"), profile=profile)["scores"]["a"]["TaintToleration"] == 100


def test_an_error_of_a_post_filter_plugin_silences_those_before_it() -> None:
    """DynamicResources fails to find its state, and what preemption said is lost."""
    profile = {"plugins": {"postFilter": {"enabled": [{"name": "DefaultPreemption"}]}}}

    assert one([node("a")], pod("p", volumes=using("gone")), preempt=True, profile=profile)["message"] == (
        '0/1 nodes are available: persistentvolumeclaim "gone" not found. not found'
    )


def test_the_selector_of_a_replication_controller_overrides_those_of_services() -> None:
    """Both are maps and are merged, whereas what other controllers select is added."""
    labels = {"app": "web"}
    service = {"kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": labels}}
    controller = {
        "kind": "ReplicationController",
        "metadata": {"name": "rc", "namespace": "default"},
        "spec": {"selector": {"app": "db"}},
    }
    incoming = pod("p", labels=labels)
    incoming["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "ReplicationController", "name": "rc", "uid": "rc", "controller": True}
    ]
    nodes = [node("a", labels={HOSTNAME: "a"}), node("b", labels={HOSTNAME: "b"})]
    decision = one([*nodes, service, controller, pod("q", on="a", labels={"app": "db"})], incoming)

    assert decision["scores"]["a"]["PodTopologySpread"] < decision["scores"]["b"]["PodTopologySpread"]


def test_nodes_left_out_are_not_told_of_where_the_nominated_node_is_taken() -> None:
    """The result of PreFilter is looked at only if the nominated node does not do."""
    named = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [named]}}
    incoming = pod("p", affinity={"nodeAffinity": required}, status={"nominatedNodeName": "a"})
    decision = one([node("a"), node("b")], incoming)

    assert ["a"] == decision["feasible"]
    assert "rejected" not in decision


@pytest.mark.parametrize(("name", "feasible"), [("another", ["a"]), ("default-scheduler", [])])
def test_a_pod_nominated_by_another_scheduler_is_not_in_the_way(name: str, feasible: list[str]) -> None:
    """It is in that scheduler's queue, of which this one knows nothing."""
    status = {"nominatedNodeName": "a"}
    other = pod("q", requests={"cpu": "4"}, priority=1, status=status, schedulerName=name)

    assert feasible == one([node("a"), other], pod("p", requests={"cpu": "1"}))["feasible"]


@pytest.mark.parametrize("plugin", ["NodeResourcesFit", "NodeResourcesBalancedAllocation"])
def test_pods_are_no_resource_to_score(plugin: str) -> None:
    """Only cpu, memory, ephemeral storage and scalars have an account there."""
    resources = [{"name": "cpu", "weight": 1}, {"name": "pods", "weight": 1}]
    strategy = {"scoringStrategy": {"type": "LeastAllocated", "resources": resources}}
    args = strategy if plugin == "NodeResourcesFit" else {"resources": resources}
    profile = {"pluginConfig": [{"name": plugin, "args": args}]}
    decision = one([node("a", allocatable={"cpu": "4"})], pod("p", requests={"cpu": "2"}), profile=profile)

    assert {"NodeResourcesFit": 50, "NodeResourcesBalancedAllocation": 75}[plugin] == decision["scores"]["a"][plugin]


@pytest.mark.parametrize("name", ["example.com/a/b", "Example.com/gpu", f"{'p' * 250}.com/gpu", "example.com/-gpu"])
def test_a_resource_whose_name_is_not_qualified_is_dropped(name: str) -> None:
    """`requests.` is put before it to tell; with it a prefix of 250 characters is too long."""
    assert ["a"] == one([node("a")], pod("p", requests={name: "1"}))["feasible"]


@pytest.mark.parametrize("owner", [None, "somebody", "default/p"])
def test_the_claim_of_an_ephemeral_volume_has_to_be_the_pods_own(owner: Any) -> None:
    """Whoever controls it must have the uid of the pod."""
    metadata = {"ownerReferences": [{"uid": owner, "name": "p", "kind": "Pod", "controller": True}]} if owner else {}
    objects = [node("a"), volume("v"), claim("p-e", volume="v", metadata=metadata), LATE]
    decision = one(objects, pod("p", volumes=[{"name": "e", "ephemeral": {}}]))
    message = "PVC default/p-e was not created for pod default/p (pod is not owner)"

    assert (None if owner == "default/p" else message) == decision.get("preFilter")


def test_the_first_bound_claim_that_is_wrong_is_told() -> None:
    """A volume that is missing comes after one that the node does not reach."""
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z"]}]}
    reached = volume("v", nodeAffinity={"required": {"nodeSelectorTerms": [term]}})
    objects = [node("a"), node("b", labels={"zone": "z"}), reached, claim("c", volume="v"), claim("d", volume="gone")]
    profile = {"plugins": {"multiPoint": {"disabled": [{"name": "VolumeZone"}]}}}
    rejected = one([*objects, LATE], pod("p", volumes=using("c", "d")), profile=profile)["rejected"]

    assert ["node(s) didn't match PersistentVolume's node affinity"] == rejected["a"]["reasons"]
    missing = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
    assert [missing] == rejected["b"]["reasons"]


def test_a_claim_for_the_node_without_a_name_fits_nowhere() -> None:
    """The annotation is there, and no node is called like it."""
    selected = {"annotations": {"volume.kubernetes.io/selected-node": ""}}
    objects = [node("a"), volume("v"), claim("c", metadata=selected), LATE]

    assert [] == one(objects, pod("p", volumes=using("c")))["feasible"]


def test_of_victims_that_have_not_started_the_last_listed_stay() -> None:
    """Were the first listed to stay, b would lose two pods like a, and a come first by name."""
    small = {"requests": {"cpu": "1"}, "priority": 1}
    objects = [node("a"), pod("w", on="a", requests={"cpu": "2"}, priority=5), pod("x1", on="a", **small)]
    objects += [pod("x2", on="a", **small), node("b"), pod("y1", on="b", requests={"cpu": "2"}, priority=1)]
    objects += [pod("y2", on="b", **small), pod("y3", on="b", **small)]

    assert "b" == one(objects, pod("p", requests={"cpu": "2"}, priority=5), preempt=True)["nominated"]


def test_the_first_condition_of_its_type_tells_who_evicted_a_pod() -> None:
    """Another one of the same type is not looked at."""
    other = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}
    conditions = [other, {**other, "reason": "PreemptionByScheduler"}]
    victim = pod("v", on="a", requests={"cpu": "4"}, status={"conditions": conditions}, priority=1)
    victim["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    wants = pod("p", requests={"cpu": "3"}, priority=5, status={"nominatedNodeName": "a"})

    assert "a" == one([node("a"), victim], wants, preempt=True)["nominated"]


def test_who_holds_a_claim_for_one_pod_can_be_evicted() -> None:
    """Also from another namespace: the change looks at the name of the claim alone."""
    single = claim("c", storage_class="", volume="v", modes=["ReadWriteOncePod"])
    holder = pod("q", on="a", priority=1, volumes=using("c"))
    foreign = pod("r", on="b", priority=1, volumes=using("c"))
    foreign["metadata"]["namespace"] = "other"
    incoming = pod("p", priority=5, volumes=using("c"))
    objects = [node("a"), node("b"), volume("v", storage_class=""), single, holder]

    assert "a" == one(objects, incoming, preempt=True)["nominated"]
    assert "a" == one([*objects, foreign], incoming, preempt=True)["nominated"]


@pytest.mark.parametrize(("priority", "nominated"), [(1, "a"), (9, None)])
def test_who_mounts_a_disk_can_be_evicted(priority: int, nominated: Any) -> None:
    """If all who mount what the pod wants can be."""
    d, e = ({"name": name, "gcePersistentDisk": {"pdName": name}} for name in "de")
    holder = pod("q", on="a", priority=1, volumes=[d])
    other = pod("r", on="a", priority=priority, volumes=[e])

    decision = one([node("a"), holder, other], pod("p", priority=5, volumes=[d, e]), preempt=True)
    assert nominated == decision.get("nominated")


@pytest.mark.parametrize("limit", [0, 1, 2, None])
def test_a_volume_less_may_be_enough_for_the_limit(limit: Any) -> None:
    """A node without a limit takes any number; one that takes none is not helped by evicting."""
    driver = {"name": "disk"} if limit is None else {"name": "disk", "allocatable": {"count": limit}}
    limits = {"kind": "CSINode", "metadata": {"name": "a"}, "spec": {"drivers": [driver]}}
    objects = [node("a"), volume("v"), volume("w"), claim("c", volume="v"), claim("d", volume="w"), LATE, limits]
    objects += [pod("q", on="a", priority=1, requests={"cpu": "2"}, volumes=using("c"))]
    wants = pod("p", priority=5, requests={"cpu": "3"}, volumes=using("d"))

    assert (None if limit == 0 else "a") == one(objects, wants, preempt=True).get("nominated")


def test_without_volume_restrictions_another_plugin_tells_of_a_missing_claim() -> None:
    """VolumeBinding looks for it too."""
    profile = {"plugins": {"multiPoint": {"disabled": [{"name": "VolumeRestrictions"}]}}}
    decision = one([node("a")], pod("p", volumes=using("gone")), profile=profile)

    assert 'persistentvolumeclaim "gone" not found' == decision["preFilter"]


def test_a_feature_that_the_pod_uses_has_to_be_declared() -> None:
    """Every one of them."""
    rules = {"restartPolicyRules": [{"action": "RestartAllContainers"}]}
    needs = pod("p", hostNetwork=True, hostUsers=False, initContainers=[{"name": "i", **rules}])
    features = ["RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"]
    some, every = ({"declaredFeatures": features[:number]} for number in (1, 2))

    decision = one([node("a"), node("b", status=some), node("c", status=every)], needs)
    assert ["c"] == decision["feasible"]
    assert "NodeDeclaredFeatures" == decision["rejected"]["b"]["plugin"]
