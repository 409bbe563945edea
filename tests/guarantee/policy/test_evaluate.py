"""Rules on the pods of a group at one moment."""

from __future__ import annotations

from kubectl_spread.guarantee import texts
from kubectl_spread.guarantee.evaluate import evaluate, Evaluation, GroupPod, GroupState
from kubectl_spread.guarantee.policy import PLACED, PolicyRule
from kubectl_spread.guarantee.texts import violation_text
from kubectl_spread.objects.keys import ObjectKey

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
WEB, DB = ObjectKey("Deployment", "shop", "web"), ObjectKey("StatefulSet", "shop", "db")
NODES = {"a1": "a", "a2": "a", "b1": "b", "c1": "c"}


def situation(*pods: str, desired: int = 0) -> GroupState:
    """Return pods on nodes: `web@a1`, `db@` for a Pending one, `web@a1!` for a terminating one."""
    made = []
    for text in pods:
        name, _, node = text.partition("@")
        made.append(GroupPod(DB if name == "db" else WEB, node.rstrip("!"), node.endswith("!")))
    return GroupState(tuple(made), desired or len(made), {ZONE: NODES, HOSTNAME: {name: name for name in NODES}})


def result(rule: PolicyRule, *pods: str, desired: int = 0) -> Evaluation:
    return next(evaluate([rule], situation(*pods, desired=desired)))


def test_a_share_refers_to_the_wanted_pods() -> None:
    """Two of six wanted pods are a third, although only three run."""
    found = result(texts.less_than("zone=1/2"), "web@a1", "web@a2", "web@b1", desired=6)

    assert (found.domains, found.number, found.limit, found.pods, found.is_violated) == (("a",), 2, 2, 6, False)


def test_surge_pods_raise_the_number_that_a_share_refers_to() -> None:
    """Of five running pods at most two are less than half, also if four are wanted."""
    found = result(texts.less_than("zone=1/2"), "web@a1", "web@a2", "web@b1", "web@b1", "web@c1", desired=4)

    assert (found.number, found.limit, found.is_violated) == (2, 2, False)


def test_all_fullest_domains_are_named() -> None:
    """Two zones hold half of the pods."""
    found = result(texts.less_than("zone=1/2"), "web@a1", "web@a2", "web@b1", "web@b1")

    assert (found.domains, found.number, found.limit, found.is_violated) == (("a", "b"), 2, 1, True)


def test_a_terminating_pod_is_named_where_it_decides() -> None:
    """It runs, but counts neither for the scheduler nor for the policy."""
    found = result(texts.max_count("hostname=1"), "web@a1", "web@a1!", "web@b1")

    assert (found.is_violated, found.terminating) == (False, 1)


def test_pods_on_nodes_without_the_label_are_in_no_domain() -> None:
    """They are among the pods that a share refers to."""
    found = result(texts.less_than("zone=1/2"), "web@a1", "web@x1", "web@x1", "web@x1")

    assert (found.number, found.pods, found.is_violated) == (1, 4, False)


def test_domains_in_use_are_counted() -> None:
    """Pending pods use none."""
    found = result(texts.min_domains("zone=3"), "web@a1", "web@b1", "web@")

    assert (found.domains, found.number, found.limit, found.is_violated) == (("a", "b"), 2, 3, True)


def test_pods_of_different_owners_may_share_a_domain() -> None:
    """`separate` is about the pods of one workload."""
    assert not result(texts.separate("zone"), "web@a1", "db@a1").is_violated
    found = result(texts.separate("zone"), "web@a1", "db@a1", "db@a2")
    assert (found.owner, found.domains, found.number, found.is_violated) == (DB, ("a",), 2, True)


def test_the_worst_domains_are_lost() -> None:
    """Of two lost zones, both are the fullest; Pending pods are not left."""
    rule = texts.survive("zone=2", "quorum")
    found = result(rule, "web@a1", "web@a2", "web@b1", "web@b1", "web@c1", "web@")

    assert (found.domains, found.number, found.limit, found.is_violated) == (("a", "b"), 1, 4, True)


def test_a_pending_pod_is_not_placed() -> None:
    """One pod has no node."""
    assert result(PLACED, "web@a1", "web@").is_violated
    assert not result(PLACED, "web@a1", "web@b1").is_violated


def test_a_violation_in_several_domains_is_told_in_the_plural() -> None:
    """Each domain holds that many pods."""
    pods = ("web@a1", "web@a1", "web@b1", "web@b1")

    assert violation_text(result(texts.separate("hostname"), *pods)) == "nodes a1, b1 hold 2 pods of web each"
    assert violation_text(result(texts.separate("hostname"), *pods[:3])) == "node a1 holds 2 pods of web"
    assert violation_text(result(texts.survive("zone=2", "2"), *pods)) == (
        "without zones a, b, 0 pods would be left; 2 required"
    )
