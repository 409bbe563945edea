"""What a plan respects, and what it says if there is none: one fact at a time."""

from __future__ import annotations

import copy
import itertools
import time
from typing import Any

import pytest

from kubectl_spread.advice.rebalance import repair as repair_module
from kubectl_spread.advice.rebalance.plan import ObstacleKind, RepairVerdict, UnclearBudget
from kubectl_spread.advice.rebalance.planner import RepairRequest
from kubectl_spread.advice.rebalance.repair import rebalance
from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.objects.keys import Range
from kubectl_spread.report.rebalance import obstacle, render
from kubectl_spread.report.table import Style
from kubectl_spread.scheduler.profiles import profiles
from tests.rebalance.builders import (
    budget,
    constraint,
    evicted,
    HOSTNAME,
    nodes,
    reasons,
    remedies,
    repair,
    repairs,
    workload,
    ZONE,
)

SIX = nodes("a1", "a2", "b1", "b2", "c1", "c2")


def test_what_holds_is_left_alone() -> None:
    assert repairs(SIX, workload("a1 b1 c1")) == ()


def test_the_counts_before_and_after_are_ranges_over_all_outcomes() -> None:
    """Zones b and c are interchangeable: one of them gets the fourth pod."""
    found = repair(SIX, workload("a1 a1 a2 a2"))
    assert found.plan is not None
    (change,) = found.plan.changes

    assert len(found.plan.evictions) == 2
    assert [(item.before, item.after) for item in change.domains] == [
        (4, Range(2, 2)),
        (0, Range(1, 1)),
        (0, Range(1, 1)),
    ]
    assert (change.status.skew, change.skew_after) == (4, Range(1, 1))


def test_a_new_pod_may_land_on_any_of_several_equal_nodes() -> None:
    found = repair(SIX, workload("a1 a1 b1"))
    assert found.plan is not None

    assert found.plan.evictions[0].nodes == ("c1", "c2")
    assert found.plan.evictions[0].places == {ZONE: ("c",)}
    assert found.plan.coverage.outcomes == 1


def test_facts_in_the_middle_of_a_change_are_not_exact() -> None:
    """While a pod is deleted, its successor is still to come, and more may change."""
    pods = workload("a1 a1 a2 b1 b1 b2")
    at_rest = repair(SIX, copy.deepcopy(pods))
    pods[-1]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    found = repair(SIX, pods)
    assert at_rest.plan is not None
    assert found.plan is not None

    assert (at_rest.plan.coverage.is_in_motion, at_rest.plan.coverage.is_exact) == (False, True)
    assert (found.plan.coverage.is_in_motion, found.plan.coverage.is_exact) == (True, False)


def test_two_constraints_are_repaired_together() -> None:
    """The first pod of each crowded node goes, and no pod twice."""
    found = repair(SIX, workload("a1 a1 a2 b1 b1 c1", constraint(), constraint(HOSTNAME)))

    assert found.verdict is RepairVerdict.EVICT
    assert evicted(found) == ["web-h-0", "web-h-3"]


def test_a_soft_constraint_is_repaired_if_asked_for() -> None:
    pods = workload("a1 a1 b1", constraint(soft=True))

    assert repairs(SIX, pods) == ()
    assert len(evicted(repair(SIX, pods, has_soft=True))) == 1


def test_the_least_useful_of_equal_pods_is_evicted() -> None:
    """A pod with a lower deletion cost goes first, as if a controller chose."""
    pods = workload("a1 a1 b1")
    pods[3]["metadata"]["annotations"] = {"controller.kubernetes.io/pod-deletion-cost": "-5"}

    assert evicted(repair(SIX, pods)) == ["web-h-1"]


def test_a_budget_allows_each_eviction_at_its_turn() -> None:
    """One pod may be missing; so the second eviction waits for the first replacement."""
    found = repair(SIX, workload("a1 a1 a1 a2 b1"), budget(maxUnavailable=1))
    assert found.plan is not None

    assert [item.budget for item in found.plan.evictions] == ["web"] * len(found.plan.evictions)
    assert list(found.plan.fewest_ready.values()) == [4]


def test_a_budget_does_not_expect_pods_without_a_controller() -> None:
    """A bare pod is healthy, and none of the three pods that the budget expects: one may be missing.

    Without it, the pod that is not ready has to go first.
    """
    pods = workload("a1 a1 b1")
    pods[4]["status"]["conditions"][0]["status"] = "False"
    bare = copy.deepcopy(pods[2])
    bare["metadata"] |= {"name": "bare", "uid": "bare", "ownerReferences": []}
    bare["spec"] |= {"nodeName": "b2", "topologySpreadConstraints": []}
    request = {"wants": lambda key, _: key.name == "web"}
    found = repair(SIX, pods, bare, budget(maxUnavailable=1), **request)
    without = repair(SIX, pods, budget(maxUnavailable=1), **request)

    assert evicted(found) == ["web-h-0"]
    assert len(evicted(without)) == 2
    assert evicted(without)[0] == "web-h-2"


def test_a_budget_over_pods_of_a_daemon_set_allows_nothing() -> None:
    """A DaemonSet has no scale, so the controller of budgets cannot work out a percentage."""
    labels = {"tier": "front"}
    daemon = workload("b1 b2", constraint(soft=True, app="agent"), name="agent", kind="DaemonSet", labels=labels)
    del daemon[0]["spec"]["replicas"]
    wide = budget(maxUnavailable="50%")
    wide["spec"]["selector"] = {"matchLabels": labels}
    found = repair(SIX, workload("a1 a1 b1", labels=labels), daemon, wide, wants=lambda key, _: key.name == "web")

    assert reasons(found) == ["refused"]


def test_a_budget_that_allows_nothing_blocks_evictions() -> None:
    """A ReplicaSet has no rollout: only another budget helps."""
    found = repair(SIX, workload("a1 a1 b1", kind="ReplicaSet"), budget(maxUnavailable=0))

    assert (found.verdict, reasons(found)) == (RepairVerdict.NO_PLAN, ["refused"])
    assert remedies(found)[0] == "budget"
    assert found.obstacles[0].message == "The disruption budget web needs 3 healthy pods and has 3 currently"


@pytest.mark.parametrize(
    ("amounts", "error"),
    [
        ({"minAvailable": "abc"}, 'minAvailable "abc" is neither a number nor a percentage'),
        ({"minAvailable": "50"}, 'minAvailable "50" is neither a number nor a percentage'),
        ({"maxUnavailable": "5 %"}, 'maxUnavailable "5 %" is neither a number nor a percentage'),
        ({"minAvailable": 1.5}, 'minAvailable "1.5" is neither a number nor a percentage'),
        ({"minAvailable": "101%"}, 'minAvailable "101%" is more than 100%'),
        ({"maxUnavailable": -1}, "maxUnavailable -1 is negative"),
        ({"minAvailable": -1}, "minAvailable -1 is negative"),
        ({"minAvailable": 1, "maxUnavailable": 1}, "minAvailable and maxUnavailable are both set"),
    ],
)
def test_the_invalid_field_of_a_budget_is_named(amounts: dict[str, object], error: str) -> None:
    """The API server refuses such a budget, so what it is to allow is unknown, and no eviction is planned."""
    found = repair(SIX, workload("a1 a1 b1", kind="ReplicaSet"), budget(**amounts))

    assert found.obstacles[0].message == f"The disruption budget web is invalid: {error}"


@pytest.mark.parametrize(
    ("selector", "error"),
    [
        (
            {"matchExpressions": [{"key": "app", "operator": "in", "values": ["web"]}]},
            'spec.selector.matchExpressions[0].operator: Invalid value: "in": not a valid selector operator',
        ),
        (
            {"matchExpressions": [{"key": "app", "operator": "In"}]},
            (
                "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' "
                "or 'NotIn'"
            ),
        ),
    ],
)
def test_a_budget_with_an_invalid_selector_may_cover_the_pods(selector: dict[str, object], error: str) -> None:
    """The commands evict, because `kubectl delete` would ignore the budget."""
    found = repair(SIX, workload("a1 a1 b1"), budget(maxUnavailable=0, selector=selector))
    assert found.plan is not None

    assert found.plan.unclear_budgets == (UnclearBudget("shop", "web", error),)
    assert [item.asks_budgets for item in found.plan.evictions] == [True]


def test_a_budget_of_another_namespace_with_an_invalid_selector_covers_none_of_the_pods() -> None:
    own = budget("db", maxUnavailable=0)
    other = budget(maxUnavailable=0, selector={"matchExpressions": [{"key": "app", "operator": "in"}]})
    other["metadata"]["namespace"] = "bank"
    found = repair(SIX, workload("a1 a1 b1"), own, other)
    assert found.plan is not None

    assert found.plan.unclear_budgets == ()
    assert [item.asks_budgets for item in found.plan.evictions] == [False]


def test_budgets_of_another_namespace_do_not_show_that_all_are_known() -> None:
    """The facts may be the output of `kubectl get` in some namespaces."""
    other = budget(maxUnavailable=0)
    other["metadata"]["namespace"] = "bank"
    found = repair(SIX, workload("a1 a1 b1"), other)
    assert found.plan is not None

    assert (found.plan.has_all_budgets, found.plan.evictions[0].asks_budgets) == (False, True)


def test_a_rollout_is_the_way_round_a_budget() -> None:
    """It creates new pods first, and counts only these."""
    own = constraint(matchLabelKeys=["pod-template-hash"])
    surge = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    found = repair(SIX, workload("a1 a1 b1", own, strategy=surge), budget(maxUnavailable=0))

    assert (found.verdict, reasons(found)) == (RepairVerdict.RESTART, ["refused"])
    assert [(item.key.name, item.pods, item.fewest_ready) for item in found.restarts] == [("web", 3, 3)]


def test_a_replacement_without_room_is_no_repair() -> None:
    """Zones b and c are full of other pods, which are not moved."""
    small = nodes("a1", cpu="8") + nodes("b1", "c1", cpu="1")
    other = workload("b1 c1", constraint(soft=True, app="db"), name="db")
    found = repair(small, workload("a1 a1"), other, wants=lambda key, _: key.name == "web")

    assert (found.verdict, reasons(found)) == (RepairVerdict.NO_PLAN, ["pending"])
    assert "Insufficient cpu" in found.obstacles[0].message


def test_no_pod_of_lower_priority_is_displaced() -> None:
    """Preemption would make room, at the cost of another pod."""
    small = nodes("a1", cpu="8") + nodes("b1", "c1", cpu="1")
    other = workload("b1 c1", constraint(soft=True, app="db"), name="db")
    found = repair(small, workload("a1 a1", spec={"priority": 100}), other, wants=lambda key, _: key.name == "web")

    assert (found.verdict, reasons(found)) == (RepairVerdict.NO_PLAN, ["displaces"])


def test_volumes_keep_pods_in_their_zone() -> None:
    """Neither pod of zone a can leave it, and the answer names them."""
    pods = workload("a1 a2 b1", kind="StatefulSet")
    claims = []
    for at, zone in enumerate("aab"):
        term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
        volume = {"persistentVolumeClaim": {"claimName": f"data-web-{at}"}, "name": "data"}
        pods[1 + at]["spec"]["volumes"] = [volume]
        claims += [
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": f"pv-{at}"},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "capacity": {"storage": "1Gi"},
                    "csi": {"driver": "disk", "volumeHandle": f"pv-{at}"},
                    "claimRef": {"namespace": "shop", "name": f"data-web-{at}", "uid": f"claim-{at}"},
                    "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
                },
                "status": {"phase": "Bound"},
            },
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {
                    "name": f"data-web-{at}",
                    "namespace": "shop",
                    "uid": f"claim-{at}",
                    "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
                },
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "volumeName": f"pv-{at}",
                    "resources": {"requests": {"storage": "1Gi"}},
                },
                "status": {"phase": "Bound"},
            },
        ]
    found = repair(SIX, pods, claims)

    assert reasons(found)[0] == "pinned"
    assert found.obstacles[0].pods == ("web-0", "web-1", "web-2")


def test_pods_whose_data_is_lost_are_named() -> None:
    spec = {"volumes": [{"name": "cache", "emptyDir": {}}, {"name": "conf", "configMap": {"name": "web"}}]}
    found = repair(SIX, workload("a1 a1 b1", spec=spec))
    assert found.plan is not None

    assert [item.volatile for item in found.plan.evictions] == [("cache",)]


def test_workloads_that_count_each_other_are_repaired_together() -> None:
    """One constraint counts both; either pod may go, and two evictions are enough."""
    own = constraint()
    own["labelSelector"] = {"matchLabels": {"tier": "front"}}
    labels = {"tier": "front"}
    found = repair(SIX, workload("a1 a1 b1", own, labels=labels), workload("a2 b1", own, name="api", labels=labels))

    assert [key.name for key in found.keys] == ["api", "web"]
    assert len(evicted(found)) == 1


def test_a_constraint_that_counts_pods_of_others_names_them() -> None:
    """Only the named workload may be moved, and its pods are too few."""
    own = constraint()
    own["labelSelector"] = {"matchLabels": {"tier": "front"}}
    labels = {"tier": "front"}
    other = workload("a1 a1 a2 a2", own, name="api", labels=labels)
    found = repair(SIX, workload("b1", own, labels=labels), other, wants=lambda key, _: key.name == "web")

    assert reasons(found) == ["unreachable"]
    assert found.obstacles[0].pods == ("Deployment shop/api",)


def test_a_constraint_that_misses_its_own_pods_is_not_limited_to_a_revision() -> None:
    """It would count no pod any more."""
    missing = workload("b1", constraint(app="api"))
    found = repair(SIX, missing, workload("a1 a1 a2 a2", name="api"), wants=lambda key, _: key.name == "web")

    assert reasons(found) == ["unreachable"]
    assert "matchLabelKeys" not in remedies(found)


def test_each_plan_begins_where_the_one_before_ends() -> None:
    """Both workloads want the only free place of zone c: the second one has no plan."""
    crowded = [*nodes("a1", "a2", cpu="16"), *nodes("b1", cpu="16"), *nodes("c1", cpu="1")]
    first, second = workload("a1 a1 b1"), workload("a1 a1 b1", name="xyz")

    assert [item.verdict for item in repairs(crowded, first)] == [RepairVerdict.EVICT]
    assert [item.verdict for item in repairs(crowded, second)] == [RepairVerdict.EVICT]
    assert [item.verdict for item in repairs(crowded, first, second)] == [RepairVerdict.EVICT, RepairVerdict.NO_PLAN]


def test_the_unfinished_work_of_others_goes_on() -> None:
    """Another workload lacks one of three pods: it gets one more, which takes the last place of zone c."""
    crowded = [*nodes("a1", cpu="16"), *nodes("b1", cpu="16"), *nodes("c1", cpu="1")]
    other = workload("a1 b1", constraint(app="db"), name="db", replicas=3)
    request = RepairRequest(lambda key, _: key.name == "web")
    answer = rebalance(cluster_of([*crowded, *workload("a1 a1 b1"), *other]), profiles(), request)
    (found,) = answer.repairs

    assert (found.verdict, reasons(found)) == (RepairVerdict.NO_PLAN, ["pending"])
    assert "1 Insufficient cpu" in found.obstacles[0].message
    assert answer.notes == ()  # every pod's controller and revision are known


def test_more_evictions_than_allowed_are_no_plan() -> None:
    found = repair(SIX, workload("a1 a1 a1 a1"), most_moves=1)

    assert reasons(found) == ["tooMany"]
    assert found.obstacles[0].number == 2
    assert found.remedies == ()


@pytest.mark.parametrize("kind", ["StatefulSet", "Deployment"])
def test_claims_that_are_not_in_the_facts_may_keep_the_pods_in_their_zones(kind: str) -> None:
    """An evicted pod whose volume is in its old zone would stay Pending; nor is a restart recommended."""
    pods = copy.deepcopy(workload("a1 a1 b1", kind=kind))
    for item in pods:
        if item["kind"] == "Pod":
            name = item["metadata"]["name"]
            item["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": f"data-{name}"}}]
    found = repair(SIX, pods)

    assert (found.verdict, reasons(found), found.restarts) == (RepairVerdict.NO_PLAN, ["unknownClaims"], ())


def test_a_rollout_under_way_is_left_to_end() -> None:
    """Its pods are about to be replaced anyway."""
    changed = workload("a1 a1 b1")
    changed[0] = copy.deepcopy(changed[0])
    changed[0]["spec"]["template"]["spec"]["containers"][0]["image"] = "other"
    found = repair(SIX, changed)

    assert reasons(found) == ["unsettled"]


@pytest.mark.parametrize(
    ("image", "is_paused", "waits"), [("other", False, ["db"]), ("other", True, []), ("pause", False, [])]
)
def test_a_rollout_of_another_workload_that_is_about_to_begin_ends_first(
    image: str, is_paused: bool, waits: list[str]
) -> None:
    """The ReplicaSet of a new template does not exist yet, and the constraint counts the pods that it will replace."""
    tier = {"tier": "front"}
    both = constraint()
    both["labelSelector"] = {"matchLabels": tier}
    other = copy.deepcopy(workload("a2 b1", constraint(soft=True), name="db", labels=tier, paused=is_paused))
    other[0]["spec"]["template"]["spec"]["containers"][0]["image"] = image
    (found,) = repairs(SIX, workload("a1 a1 b1", both, labels=tier), other)
    assert found.plan is not None

    assert [key.name for key in found.plan.unsettled] == waits


def test_a_replacement_that_is_never_created_is_no_repair() -> None:
    """The StatefulSet waits for its Pending pod 1, and creates no other one; fewer pods would be an even spread."""
    half = [*nodes("a1", unschedulable=True), *nodes("b1")]
    pods = workload("b1 b1 b1", kind="StatefulSet")
    found = repair(half, pods[:2], pods[3:])

    assert found.verdict is RepairVerdict.NO_PLAN
    assert "uncreated" in reasons(found)


def test_a_quota_that_refuses_the_replacement_is_named() -> None:
    """The pods were created before the quota."""
    few = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "few", "namespace": "shop"},
        "spec": {"hard": {"pods": "4"}},
        "status": {"hard": {"pods": "4"}, "used": {"pods": "5"}},
    }
    found = repair(SIX, workload("a1 a1 a2 a2 b1"), [few])

    refused = [obstacle(item) for item in found.obstacles if item.kind is ObstacleKind.UNCREATED]
    assert [text.partition("would not be created: ")[2] for text in refused] == [
        "exceeded quota: few, requested: pods=1, used: pods=4, limited: pods=4"
    ]


def test_an_unknown_controller_is_not_simulated() -> None:
    pods = workload("a1 a1 b1")
    pods[1]["metadata"]["ownerReferences"][0] |= {"kind": "Rollout", "apiVersion": "argoproj.io/v1alpha1"}
    rollout = {**pods[0], "apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout"}

    assert reasons(repair(SIX, rollout, pods[1:])) == ["controller"]


def test_pods_of_jobs_are_not_evicted() -> None:
    """A Job would count an eviction as a failure."""
    job = workload("a1 a1 b1", kind="Job")
    job[0]["apiVersion"] = "batch/v1"
    job[0]["spec"] |= {"parallelism": 3, "completions": 3}

    assert reasons(repair(SIX, job)) == ["controller"]


def test_a_controller_that_is_not_in_the_facts_is_not_simulated() -> None:
    found = repair(SIX, workload("a1 a1 b1", kind="StatefulSet")[1:])

    assert reasons(found) == ["absent"]


def test_constraints_that_no_distribution_satisfies_are_named() -> None:
    """Each zone must have three of nine pods, and zones b and c have two nodes, each for one pod."""
    many = nodes("a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1", "c2")
    found = repair(many, workload("a1 a2 a3 b1 b1 b2 c1 c1 c2", constraint(), constraint(HOSTNAME)))

    assert reasons(found)[0] == "conflict"
    assert found.obstacles[0].topology_keys == (ZONE, HOSTNAME)
    assert found.remedies[0].nodes == ("b", "c")
    assert found.remedies[0].evictions == 2


def test_too_few_domains_keep_the_minimum_at_zero() -> None:
    """With minDomains 3 and two zones, no zone may have more than maxSkew pods: another zone helps, or minDomains 2."""
    found = repair(nodes("a1", "b1"), workload("a1 a1 b1", constraint(minDomains=3)))

    assert (found.verdict, reasons(found)) == (RepairVerdict.NO_PLAN, ["unreachable"])
    assert (found.remedies[0].nodes, found.remedies[0].evictions) == (("a new domain",), 1)
    assert remedies(found)[1:3] == ["minDomainsAndMatchLabelKeys", "maxSkew"]
    assert found.remedies[1].number == 2


def test_a_constraint_that_cannot_hold_alone_is_the_only_reason() -> None:
    """With minDomains 3, two zones may hold one pod each; the constraint on nodes could hold."""
    two = (constraint(minDomains=3), constraint(HOSTNAME))
    found = repair(nodes("a1", "b1"), workload("a1 a1 a1 b1", *two))

    assert [(item.kind.value, item.topology_keys) for item in found.obstacles] == [("unreachable", (ZONE,))]


def test_new_nodes_have_a_place_only_if_a_constraint_is_about_places() -> None:
    """Two full nodes: any two more help the constraint on nodes."""
    two = nodes("a1", "b1", cpu="2")
    found = repair(two, nodes("c1", unschedulable=True, cpu="0"), workload("a1 a1 b1 b1", constraint(HOSTNAME)))

    assert [(item.nodes, item.like) for item in found.remedies if item.kind.value == "addNodes"] == [(("", ""), "a1")]
    assert "add 2 nodes like a1;" in render(rebalance(cluster_of([]), profiles())._replace(repairs=(found,)), Style(0))


def test_what_repairs_several_workloads_repairs_them() -> None:
    """They count the same pods."""
    both = constraint(app="shared")
    one = workload("a1 a1 a2", both, name="one", labels={"app": "shared"})
    other = workload("a1 b1", both, name="other", labels={"app": "shared"})
    found = rebalance(cluster_of([*SIX, *one, *other]), profiles())

    assert "Deployment shop/one and Deployment shop/other: " in render(found, Style(0))
    assert "2 evictions repair them" in render(found, Style(0))


def crowded() -> list[dict[str, Any]]:
    """Return two workloads that count each other's pods, on nodes with little room."""
    both = constraint(app="shared")
    one = workload("a1 a1 a1 a2 a2 b1 b2 c1", both, name="one", labels={"app": "shared"})
    other = workload("a1 a2 a2 b1 b1 c2", both, name="other", labels={"app": "shared"})
    return [*SIX, *one, *other]


def test_the_answer_does_not_depend_on_the_load_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a limit that the user gives, no clock decides."""
    usual = rebalance(cluster_of(crowded()), profiles())
    now = itertools.count(0, 1_000)
    monkeypatch.setattr(time, "monotonic", lambda: float(next(now)))

    assert rebalance(cluster_of(crowded()), profiles()) == usual
    assert not usual.is_cut_short


def test_a_search_that_reaches_its_limit_of_states_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repair_module, "_STATES", 3)
    found = rebalance(cluster_of(crowded()), profiles())
    (item,) = found.repairs

    assert found.is_cut_short
    assert item.plan is None or not item.plan.coverage.is_exact
    assert "A search was cut short; --effort thorough visits more states." in render(found, Style(120))


def test_an_effort_multiplies_the_limit_of_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repair_module, "_STATES", 3)

    assert not rebalance(cluster_of(crowded()), profiles(), RepairRequest(effort=20_000.0)).is_cut_short


def test_a_pod_without_a_controller_stays_where_it_is() -> None:
    """Its constraint counts the same pods, so the plan for the others repairs it, too."""
    web = workload("a1 a1 a2 b1")
    bare = copy.deepcopy(web[-1])
    bare["metadata"] |= {"name": "bare", "uid": "bare"}
    del bare["metadata"]["ownerReferences"]
    bare["spec"]["nodeName"] = "a2"
    found = repair(SIX, [*web, bare])
    assert found.plan is not None

    assert [key.kind for key in found.keys] == ["Deployment", "Pod"]
    assert "bare" not in evicted(found)
