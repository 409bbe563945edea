"""What each kind of requirement says."""

from __future__ import annotations

from typing import Any

from kubectl_spread.explain.explanation import Explanation
from tests.explain.shown import explained
from tests.explain.tight import apart
from tests.naive.builders import claim, HOSTNAME, LATE, node, pod, using, volume, ZONE

Plain = dict[str, Any]

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def said(found: Explanation) -> list[tuple[str, str, str]]:
    """Of each requirement that refuses a node its kind, what it is, and why."""
    return [(item.kind.value, item.text, item.arithmetic) for item in found.requirements]


def nodes(count: int = 2, **more: Any) -> list[Plain]:
    """`n0` in zone `a`, `n1` in zone `b`, and so on."""
    return [node(f"n{at}", labels={HOSTNAME: f"n{at}", ZONE: "abcdef"[at]}, **more) for at in range(count)]


def test_a_claim_that_one_pod_may_use_is_told_with_the_pod_that_uses_it() -> None:
    storage = [volume("pv", accessModes=["ReadWriteOncePod"]), claim("data", volume="pv", modes=["ReadWriteOncePod"])]
    holder = pod("db-0", on="n1", volumes=using("data"))

    assert said(explained([*nodes(), *storage, holder], pod("new", volumes=using("data")))) == [
        ("claimInUse", "claim data, which one pod at a time may use", "used by db-0 on n1")
    ]


def test_a_disk_that_a_node_mounts_once_is_told() -> None:
    disk = [{"name": "v", "gcePersistentDisk": {"pdName": "logs"}}]

    assert said(explained([*nodes(), pod("db-0", on="n1", volumes=disk)], pod("new", volumes=disk))) == [
        ("disk", "disk gce logs", "in use by db-0 on n1")
    ]


def test_zones_of_a_volume_are_told_by_its_labels_and_its_node_affinity() -> None:
    terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["a", "b"]}]}]
    storage = [
        volume("pv", labels={ZONE: "a"}, nodeAffinity={"required": {"nodeSelectorTerms": terms}}),
        claim("data", volume="pv"),
    ]

    assert said(explained([*nodes(3), *storage, LATE], pod("new", volumes=using("data")))) == [
        (
            "claim",
            "the volume of claim data",
            f"volume pv is bound to nodes with {ZONE} in (a,b) and the volume's {ZONE} a: not n1, n2",
        )
    ]


def test_a_claim_without_its_volume_and_claims_that_find_none_are_told() -> None:
    missing = explained([*nodes(), claim("data", volume="gone"), LATE], pod("new", volumes=using("data")))
    waiting = explained([*nodes(), claim("a"), claim("b"), LATE], pod("new", volumes=using("a", "b")))

    assert [said(missing), said(waiting)] == [
        [],  # VolumeZone rejects the pod before any node is looked at
        [("unboundClaims", "a volume for claims a, b", "no volume can be bound or created on n0, n1")],
    ]


def test_the_limit_of_volumes_is_told_with_the_driver() -> None:
    storage = [volume(name) for name in ("pv-1", "pv-2")]
    storage += [claim("one", volume="pv-1"), claim("two", volume="pv-2"), LATE]
    limit = {
        "kind": "CSINode",
        "metadata": {"name": "n1"},
        "spec": {"drivers": [{"name": "disk", "nodeID": "n1", "allocatable": {"count": 1}}]},
    }
    running = pod("db-0", on="n1", volumes=using("one"))

    assert said(explained([*nodes(), *storage, limit, running], pod("new", volumes=using("two")))) == [
        ("volumeLimit", "the limit of volumes per node", "1 node at the limit of a CSI driver: n1 (disk 1)")
    ]


def test_affinity_to_pods_is_told_with_where_they_run() -> None:
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "db"}}}
    new = pod("new", affinity={"podAffinity": {_REQUIRED: [term]}})
    bare = node("x", labels={HOSTNAME: "x"})
    text = f"pod affinity on {ZONE} to app=db"

    assert said(explained([*nodes(), bare], new)) == [
        (
            "affinity",
            text,
            f"no matching pod runs on any node: start one, or correct the selector; {ZONE} is missing on x",
        )
    ]
    assert said(explained([*nodes(), bare, pod("db-0", on="n1", labels={"app": "db"})], new)) == [
        ("affinity", text, f"matching pods run elsewhere: db-0 on n1; {ZONE} is missing on x")
    ]


def test_anti_affinity_is_told_by_domain() -> None:
    new = pod("new", labels={"app": "web"}, affinity=apart(ZONE, "web"))
    running = [pod(f"web-{at}", on=f"n{at % 2}", labels={"app": "web"}) for at in range(3)]

    assert said(explained([*nodes(3), *running], new)) == [
        (
            "antiAffinity",
            f"pod anti-affinity on {ZONE} against app=web",
            f"{ZONE}=a has web-0 on n0, web-2 on n0; {ZONE}=b has web-1 on n1",
        )
    ]


def test_of_many_workloads_with_anti_affinity_the_rest_are_one() -> None:
    """Those that keep the pod from the most nodes have names."""
    running = []
    for at in range(18):
        item = pod(f"db{at}-0", on="n0", labels={"app": "db"})
        item["spec"]["affinity"] = apart(HOSTNAME, "web")
        reference = {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "name": f"db{at:02}",
            "controller": True,
            "uid": "x",
        }
        item["metadata"]["ownerReferences"] = [reference]
        running.append(item)
    roomy = nodes(allocatable={"pods": "99"})

    found = said(explained([*roomy, *running], pod("new", labels={"app": "web"})))

    assert len(found) == 17
    assert found[0] == (
        "othersAntiAffinity",
        "the anti-affinity of StatefulSet db00 on kubernetes.io/hostname against app=web",
        "matching pods already run: db0-0 on n0",
    )
    assert found[-1] == (
        "othersAntiAffinity",
        "the anti-affinity of 2 more workloads",
        "their pods keep the pod away from n0",
    )


def test_anti_affinity_of_another_namespace_says_so() -> None:
    item = pod("db-0", on="n0", labels={"app": "db"})
    item["metadata"]["namespace"] = "other"
    item["spec"]["affinity"] = apart(HOSTNAME, "web")
    item["spec"]["affinity"]["podAntiAffinity"][_REQUIRED][0]["namespaces"] = ["default"]

    ((_, text, _),) = said(explained([*nodes(), item], pod("new", labels={"app": "web"})))

    assert text == (
        "the anti-affinity of pods without a controller of namespace other on kubernetes.io/hostname against app=web"
    )


def test_pods_nominated_to_a_node_are_told() -> None:
    rival = pod("rival", requests={"cpu": "4"}, status={"nominatedNodeName": "n0"}, priority=9)
    new = pod("new", requests={"cpu": "1"})

    found = explained([*nodes(1), rival], new)

    assert said(found) == [("nominated", "the pods nominated to the nodes", "nominated and waiting: rival for n0")]
    assert [len(conflict.requirements) for conflict in found.conflicts] == [1]


def test_features_and_names_are_told() -> None:
    old = nodes(status={"nodeInfo": {"kubeletVersion": "v1.35.0"}})
    new = pod("new", hostNetwork=True, hostUsers=False)
    pinned = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]
    daemon = pod("daemon", affinity={"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": pinned}}})
    anywhere = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["x"]}]}, *pinned, {}, *pinned]
    several = pod("several", affinity={"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": anywhere}}})

    assert [said(explained(old, item)) for item in (new, daemon, several)] == [
        [
            (
                "feature",
                "feature UserNamespacesHostNetworkSupport",
                "not declared by n0, n1 (kubelet v1.35.0)",
            )
        ],
        [("nodeAffinity", "node affinity metadata.name=n1", "it allows only n1")],
        [
            (
                "nodeAffinity",
                f"node affinity ({ZONE}=x) or (metadata.name=n1) or (an empty term) or 1 more term",
                "n0 meets no term completely",
            )
        ],
    ]
