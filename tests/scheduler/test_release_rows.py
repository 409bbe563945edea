"""Rows of the table of releases that samples of the recordings do not decide, each observed on both sides.

`SIDES` has what a release does, for the releases before and after each change. Other rows are observed by
`tests/cli/program/test_releases.py`, by `tests/objects/test_constraint_errors.py`, and by the recordings of
`tests/conformance`: `python -m tests.bench.rows` moves each change of those, and expects that a recording differs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.releases import behaviours, field_versions
from kubectl_spread.objects.releases.version import Release, release_of
from kubectl_spread.scheduler.cycle import Scheduler, unsupported_features
from kubectl_spread.scheduler.framework.plugin import Profile
from kubectl_spread.scheduler.preemption import dry_run
from kubectl_spread.scheduler.profiles import profiles
from tests.cli.program.test_releases import SIDES as LATER
from tests.conformance.replay import decision
from tests.naive.builders import claim, HOSTNAME, LATE, node, pod, terminating, using, volume, ZONE
from tests.scheduler.plugins.asking import filtered, scored, U, UU

Plain = dict[str, Any]
_GPU = "example.com/gpu"
_DISK = {"example.com/disk": "1"}


def profile_of(version: str) -> Profile:
    (profile,) = profiles(None, release_of(version)).values()
    return profile


def decided(version: str, incoming: Plain, *objects: Plain, preempts: bool = False, config: Any = None) -> Plain:
    """Return the decision about a pod in the form of a recording."""
    columns = Columns(cluster_of([*objects, incoming]))
    scheduler = Scheduler(columns, profiles(config, release_of(version)), all_nodes=True)
    (asked,) = [item for item in columns.cluster.pods if item.name == incoming["metadata"]["name"]]
    return decision(asked, scheduler, preempts=preempts)


def feasible(version: str, incoming: Plain, *objects: Plain, config: Any = None) -> str:
    return ",".join(decided(version, incoming, *objects, config=config)["feasible"])


def message(version: str, incoming: Plain, *objects: Plain, preempts: bool = False) -> str:
    found: str = decided(version, incoming, *objects, preempts=preempts)["message"]
    return found


def on(name: str, **more: Any) -> Plain:
    """Return a node in a zone of its own."""
    return node(name, labels={HOSTNAME: name, ZONE: name}, **more)


def zonal(name: str, zone: str, **more: Any) -> Plain:
    return node(name, labels={HOSTNAME: name, ZONE: zone}, **more)


# Resources


def resized(version: str) -> str:
    """A bound pod is being made smaller: it still uses 3 CPUs."""
    bound = pod("b", on="n", requests={"cpu": "1"})
    bound["status"] = {"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]}
    return feasible(version, pod("p", requests={"cpu": "2"}), on("n"), bound)


def pod_level(version: str) -> str:
    bound = pod("b", on="n", resources={"requests": {"cpu": "3"}})
    return feasible(version, pod("p", requests={"cpu": "2"}), on("n"), bound)


def zero_of_a_full_resource(version: str) -> str:
    full = on("n", allocatable={_GPU: "1"})
    return feasible(version, pod("p", requests={_GPU: "0"}), full, pod("b", on="n", requests={_GPU: "2"}))


def absent_resource(version: str) -> str:
    resources = [{"name": "cpu", "weight": 1}, {"name": _GPU, "weight": 1}]
    is_old = release_of(version).minor < 22
    name = "NodeResourcesLeastAllocated" if is_old else "NodeResourcesFit"
    strategy = {"type": "LeastAllocated", "resources": resources}
    arguments = {"resources": resources} if is_old else {"scoringStrategy": strategy}
    asking = pod("p", requests={"cpu": "2"})
    return str(scored(name, asking, on("n"), arguments=arguments, release=release_of(version)))


def images(version: str, **spec: Any) -> str:
    big = [{"names": ["big:1"], "sizeBytes": 500 << 20}]
    incoming = pod("p", **spec)
    incoming["spec"]["containers"] = [{"name": "c", "image": "a:1"}]
    return str(scored("ImageLocality", incoming, on("n", status={"images": big}), release=release_of(version)))


def image_of_init_container(version: str) -> str:
    return images(version, initContainers=[{"name": "i", "image": "big:1"}])


def image_of_volume(version: str) -> str:
    return images(version, volumes=[{"name": "v", "image": {"reference": "big:1"}}])


# Spreading


def default_scores(version: str) -> str:
    return str("SelectorSpread" in [item.plugin.name for item in profile_of(version).score])


def default_weight(version: str) -> str:
    found = {item.plugin.name: item.weight for item in profile_of(version).score}
    return str(found["PodTopologySpread"])


def spread(**more: Any) -> Plain:
    selector = {"matchLabels": {"app": "x"}}
    return {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": selector,
        **more,
    }


def without_topology_key(version: str) -> str:
    asking = pod("p", labels={"app": "x"}, topologySpreadConstraints=[spread()])
    return str(filtered("PodTopologySpread", asking, node("n"), release=release_of(version)))


def ignored(version: str) -> str:
    """Return the fields of a pod that the API server drops."""
    term = {"topologyKey": ZONE, "matchLabelKeys": ["a"], "mismatchLabelKeys": ["b"], "namespaceSelector": {}}
    spec = {
        "topologySpreadConstraints": [
            spread(minDomains=2, nodeAffinityPolicy="Ignore", nodeTaintsPolicy="Honor", matchLabelKeys=["a"])
        ],
        "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
        "schedulingGates": [{"name": "wait"}],
        "initContainers": [{"name": "i", "restartPolicy": "Always"}],
        "resources": {"requests": {"cpu": 1}},
        "resourceClaims": [{"name": "gpu"}],
    }
    return ", ".join(field_versions.stored_spec(spec, release_of(version).minor).ignored)


def drops(field: str) -> Callable[[str], str]:
    return lambda version: "dropped" if field in ignored(version).split(", ") else "stored"


def keeps(field: str) -> Callable[[str], str]:
    """Return what the API server does with a field of constraints, as the rules ask about it."""

    def observe(version: str) -> str:
        is_known = field_versions.is_known(field, release_of(version).minor)
        return drops(field)(version) if is_known else "not known"

    return observe


def dry_run_beyond_affinity(version: str) -> str:
    """Without the plugin NodeAffinity, preemption tries a2, which the constraint leaves out, with a pod on a1 or none.

    Up to 1.23 the pod on a2 counts in zone a from the start, and a1 is in the way. Later its eviction changes nothing.
    """
    config = {"profiles": [{"plugins": {"filter": {"disabled": [{"name": "NodeAffinity"}]}}}]}
    term = {"matchExpressions": [{"key": HOSTNAME, "operator": "NotIn", "values": ["a2"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    spec = {"affinity": {"nodeAffinity": required}, "topologySpreadConstraints": [spread()]}
    asking = pod("p", labels={"app": "x"}, priority=10, **spec)
    tainted = {"taints": [{"key": "k", "effect": "NoSchedule"}]}
    nodes = [zonal("a1", "a", spec=tainted), zonal("a2", "a"), zonal("b1", "b", spec=tainted)]
    lower = pod("v2", on="a2", labels={"app": "x"})
    found = []
    for others in ([], [pod("v1", on="a1", labels={"app": "x"}, priority=10)]):
        ended = decided(version, asking, *nodes, lower, *others, preempts=True, config=config)
        found.append("fits" if ended["feasible"] else ended.get("nominated", "waits"))
    return ", ".join(found)


# Affinity


def apart(labels: Plain, *, kind: str = "podAntiAffinity") -> Plain:
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": HOSTNAME}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def preferring(labels: Plain) -> Plain:
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": HOSTNAME}
    return {
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}
    }


def broken_affinity(version: str) -> str:
    asking = pod("p", affinity=apart({"app": "x"}))
    objects = [on("n"), pod("b", on="n", labels={"app": "x"})]
    return str(filtered("InterPodAffinity", asking, *objects, release=release_of(version)))


def scaled_affinity(version: str) -> str:
    asking = pod("p", affinity=preferring({"app": "x"}))
    pods = [pod(f"b{at}", on=name, labels={"app": "x"}) for at, name in enumerate(("a", "b", "b"))]
    return str(scored("InterPodAffinity", asking, on("a"), on("b"), *pods, release=release_of(version)))


def nominated_apart(version: str) -> str:
    """A nominated pod of higher priority keeps away from the labels of a pod without affinity."""
    waiting = pod("w", priority=10, affinity=apart({"app": "x"}), status={"nominatedNodeName": "a"})
    return feasible(version, pod("p", labels={"app": "x"}), on("a"), on("b"), waiting)


def preferred_of_existing(version: str) -> str:
    arguments = {"ignorePreferredTermsOfExistingPods": True}
    bound = pod("b", on="a", affinity=preferring({"app": "x"}))
    asking = pod("p", labels={"app": "x"})
    release = release_of(version)
    return str(scored("InterPodAffinity", asking, on("a"), on("b"), bound, arguments=arguments, release=release))


def fields(*terms: Iterable[str]) -> Plain:
    """Return node affinity with terms that name nodes; each value of a term is a requirement of its own."""
    made = [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]} for name in term]}
        for term in terms
    ]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": made}}}


def one_term_conflicts(version: str) -> str:
    return feasible(version, pod("p", affinity=fields("ab", "a")), on("a"), on("b"))


def node_selector(version: str) -> str:
    return str(filtered("NodeAffinity", pod("p", nodeSelector={"a": "b"}), on("n"), release=release_of(version)))


def node_name(version: str) -> str:
    return str(filtered("NodeName", pod("p", on="other"), on("n"), release=release_of(version)))


def taint(version: str) -> str:
    tainted = on("n", spec={"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]})
    return str(filtered("TaintToleration", pod("p"), tainted, release=release_of(version)))


# Volumes


def volume_gone(version: str) -> str:
    return message(version, pod("p", volumes=using("c")), on("n"), LATE, claim("c", volume="gone"))


def one_pod_claim(*users: Plain) -> list[Plain]:
    modes = ["ReadWriteOncePod"]
    made = volume("v", accessModes=modes, claimRef={"name": "c", "namespace": "default", "uid": "c"}, phase="Bound")
    return [on("a"), on("b"), LATE, claim("c", volume="v", modes=modes), made, *users]


def claim_in_use(version: str) -> str:
    found = decided(version, pod("p", volumes=using("c")), *one_pod_claim(pod("u", on="a", volumes=using("c"))))
    return str(found.get("message", "fits")).partition(". ")[0]


def claim_of_nominated(version: str) -> str:
    waiting = pod("w", priority=10, volumes=using("c"), status={"nominatedNodeName": "a"})
    return feasible(version, pod("p", volumes=using("c")), *one_pod_claim(waiting))


def lost_claim(version: str) -> str:
    lost = {**claim("c", volume="gone"), "status": {"phase": "Lost"}}
    return message(version, pod("p", volumes=using("c")), on("n"), LATE, lost)


def ephemeral_claim(version: str) -> str:
    template = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    return message(version, pod("p", volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": template}}]), on("n"))


def missing_claim(version: str) -> str:
    return message(version, pod("p", volumes=using("c")), on("a"), on("b"))


# The cycle


def first_filter(version: str) -> str:
    tainted = on("n", spec={"taints": [{"key": "k", "effect": "NoSchedule"}]})
    found = decided(version, pod("p", requests={"cpu": "8"}), tainted)
    return str(found["rejected"]["n"]["plugin"])


def own_nomination(version: str) -> str:
    return feasible(version, pod("p", status={"nominatedNodeName": "b"}), on("a"), on("b"))


def gone_node(version: str) -> str:
    return message(version, pod("p", affinity=fields(["gone"])), on("a"))


def left_out(version: str) -> str:
    found = message(version, pod("p", requests={"cpu": "8"}, affinity=fields(["a"])), on("a"), on("b"))
    return found.partition(": ")[2].partition(". ")[0].removesuffix(".")


# Preemption


def tried(version: str, incoming: Plain, *objects: Plain) -> str:
    """Return the nodes that preemption tries."""
    columns = Columns(cluster_of([*objects, incoming]))
    scheduler = Scheduler(columns, profiles(None, release_of(version)))
    (asked,) = [item for item in columns.cluster.pods if item.name == "p"]
    return ",".join(sorted(dry_run(asked, scheduler.filter(asked), scheduler).refused))


def left_out_candidate(version: str) -> str:
    return tried(version, pod("p", requests={"cpu": "8"}, priority=10, affinity=fields(["a"])), on("a"), on("b"))


def refused_candidate(version: str) -> str:
    return tried(version, pod("p", priority=10, volumes=using("c")), on("a"))


def first_victims(version: str) -> str:
    """On both nodes one victim is protected. The important victim of a has no budget."""
    budget = {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "all", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "x"}}, "minAvailable": 1},
        "status": {"disruptionsAllowed": 0},
    }
    numbers = {"a": (1, 5), "b": (3, 2)}
    pods = [
        pod(f"{name}{at}", on=name, labels={"app": "xy"[at]}, requests={"cpu": "2"}, priority=priority)
        for name, priorities in numbers.items()
        for at, priority in enumerate(priorities)
    ]
    asking = pod("p", requests={"cpu": "4"}, priority=10)
    return str(decided(version, asking, on("a"), on("b"), budget, *pods, preempts=True)["nominated"])


def waits_on_nominated(version: str) -> str:
    ending = terminating(pod("v", on="a", requests={"cpu": "4"}))
    others = [on("b"), pod("w", on="b", requests={"cpu": "4"})]
    asking = pod("p", requests={"cpu": "4"}, priority=10, status={"nominatedNodeName": "a"})
    found = decided(version, asking, on("a"), ending, *others, preempts=True)
    return "waits" if "not eligible due to a terminating pod" in found["message"] else str(found.get("nominated"))


# Features


def devices(version: str) -> str:
    device_class = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "d"},
        "spec": {"extendedResourceName": "example.com/disk"},
    }
    cluster = cluster_of([on("n"), device_class])
    return ", ".join(unsupported_features(read.pod(pod("p", requests=_DISK)).cls, profile_of(version), cluster))


def zone_label_of_node(version: str) -> str:
    return str(profile_of(version).labels_topology)


def runs_declared_features(version: str) -> str:
    return str("NodeDeclaredFeatures" in [item.name for item in profile_of(version).pre_filter])


_ANY = "node(s) didn't match pod affinity/anti-affinity"
_OWN = "node(s) didn't match pod anti-affinity rules"
_GONE = "pvc(s) bound to non-existent pv(s)"
_SPREAD = "node(s) didn't match pod topology spread constraints"
_ERROR = 'nodeinfo not found for node name "gone"'
_LEFT_OUT = "1 Insufficient cpu, 1 node is filtered out by the prefilter result"
_IN_USE = "0/2 nodes are available: 2 node has pod using PersistentVolumeClaim with the same name and"
_USED = "0/2 nodes are available: 2 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode"


def none_of_one(reason: str) -> str:
    return f"0/1 nodes are available: {reason}."


def refusal(code: type, reason: str) -> str:
    return str({"n": code(reason)})


# The observation of a row, and what is seen in the releases around its changes.
SIDES: dict[str, tuple[Callable[[str], str], dict[str, str]]] = {
    "fit-skips-zero": (zero_of_a_full_resource, {"1.25": "", "1.26": "n"}),
    "allocation-skips-absent": (absent_resource, {"1.21": "{'n': 25}", "1.22": "{'n': 50}"}),
    "images-of-init-containers": (image_of_init_container, {"1.29": "{'n': 0}", "1.30": "{'n': 24}"}),
    "images-of-volumes": (image_of_volume, {"1.34": "{'n': 0}", "1.35": "{'n': 48}"}),
    "system-default-constraints": (default_scores, {"1.19": "True", "1.20": "False"}),
    "spread-weight": (default_weight, {"1.18": "1", "1.19": "2"}),
    "spread-label-reason": (
        without_topology_key,
        {"1.18": refusal(U, _SPREAD), "1.19": refusal(UU, f"{_SPREAD} (missing required label)")},
    ),
    "min-domains": (keeps("minDomains"), {"1.23": "not known", "1.24": "dropped", "1.26": "dropped", "1.27": "stored"}),
    "inclusion-policies": (keeps("nodeTaintsPolicy"), {"1.24": "not known", "1.25": "dropped", "1.26": "stored"}),
    "match-label-keys": (
        keeps("matchLabelKeys"),
        {"1.24": "not known", "1.25": "dropped", "1.26": "dropped", "1.27": "stored"},
    ),
    "scheduling-gates": (drops("schedulingGates"), {"1.26": "dropped", "1.27": "stored"}),
    "affinity-match-label-keys": (drops("mismatchLabelKeys of podAffinity"), {"1.30": "dropped", "1.31": "stored"}),
    "namespace-selector": (drops("namespaceSelector of podAffinity"), {"1.21": "dropped", "1.22": "stored"}),
    "sidecars": (drops("restartPolicy of init containers"), {"1.28": "dropped", "1.29": "stored"}),
    "pod-resources": (drops("resources of the pod"), {"1.33": "dropped", "1.34": "stored"}),
    "resource-claims": (drops("resourceClaims"), {"1.33": "dropped", "1.34": "stored"}),
    "dry-run-counts-included": (dry_run_beyond_affinity, {"1.23": "a2, waits", "1.24": "fits, waits"}),
    "pod-affinity-names-one": (
        broken_affinity,
        {"1.21": refusal(U, f"{_ANY} rules; {_OWN}"), "1.22": refusal(U, _OWN)},
    ),
    "pod-affinity-any": (
        broken_affinity,
        {"1.20": refusal(U, f"{_ANY}; {_OWN}"), "1.21": refusal(U, f"{_ANY} rules; {_OWN}"), "1.22": refusal(U, _OWN)},
    ),
    "pod-affinity-normalizes": (scaled_affinity, {"1.20": "{'a': 50, 'b': 100}", "1.21": "{'a': 0, 'b': 100}"}),
    "pod-affinity-skips-filter": (nominated_apart, {"1.26": "b", "1.27": "a,b"}),
    "ignore-preferred-terms": (preferred_of_existing, {"1.26": "{'a': 100, 'b': 0}", "1.27": "{'a': 0, 'b': 0}"}),
    "node-affinity-conflict": (one_term_conflicts, {"1.26": "", "1.27": "a"}),
    "node-affinity-reason": (
        node_selector,
        {
            "1.19": refusal(UU, "node(s) didn't match node selector"),
            "1.20": refusal(UU, "node(s) didn't match Pod's node affinity"),
            "1.21": refusal(UU, "node(s) didn't match Pod's node affinity/selector"),
        },
    ),
    "node-name-reason": (
        node_name,
        {
            "1.20": refusal(UU, "node(s) didn't match the requested hostname"),
            "1.21": refusal(UU, "node(s) didn't match the requested node name"),
        },
    ),
    "taint-reason": (
        taint,
        {
            "1.23": refusal(UU, "node(s) had taint {k: v}, that the pod didn't tolerate"),
            "1.24": refusal(UU, "node(s) had untolerated taint {k: v}"),
            "1.34.2": refusal(UU, "node(s) had untolerated taint {k: v}"),
            "1.34.3": refusal(UU, "node(s) had untolerated taint(s)"),
        },
    ),
    "volume-gone-reason": (
        volume_gone,
        {
            "1.22": none_of_one(f"1 {_GONE}"),
            "1.23": none_of_one(f"1 node(s) unavailable due to one or more {_GONE}"),
        },
    ),
    "volume-zone-looks-first": (
        volume_gone,
        {
            "1.26": none_of_one(f"1 node(s) unavailable due to one or more {_GONE}"),
            "1.27": none_of_one('persistentvolume "gone" not found'),
        },
    ),
    "read-write-once-pod": (claim_in_use, {"1.26": "fits", "1.27": f"{_IN_USE} ReadWriteOncePod access mode."}),
    "one-pod-reason": (
        claim_in_use,
        {"1.33": f"{_IN_USE} ReadWriteOncePod access mode.", "1.34": f"{_USED} already in-use by another pod."},
    ),
    "restrictions-skip": (claim_of_nominated, {"1.27": "b", "1.28": "a,b"}),
    "lost-claim": (
        lost_claim,
        {
            "1.22": none_of_one(f"1 {_GONE}"),
            "1.23": none_of_one('1 persistentvolumeclaim "c" bound to non-existent persistentvolume "gone"'),
        },
    ),
    "ephemeral-claims": (
        ephemeral_claim,
        {
            "1.22": none_of_one('1 persistentvolumeclaim "p-v" not found'),
            "1.23": none_of_one(
                '1 waiting for ephemeral volume controller to create the persistentvolumeclaim "p-v"',
            ),
        },
    ),
    "pre-filter-message": (
        missing_claim,
        {
            "1.25": '0/2 nodes are available: 2 persistentvolumeclaim "c" not found.',
            "1.26": '0/2 nodes are available: persistentvolumeclaim "c" not found.',
        },
    ),
    "filter-order": (first_filter, {"1.19": "NodeResourcesFit", "1.20": "TaintToleration"}),
    "nominated-node-first": (own_nomination, {"1.21": "a,b", "1.22": "b"}),
    "gone-node-is-error": (
        gone_node,
        {
            "1.23": none_of_one("1 node(s) didn't match Pod's node affinity/selector"),
            "1.24": _ERROR,
            "1.27.13": _ERROR,
            "1.27.14": none_of_one("1 node is filtered out by the prefilter result"),
            "1.27.16": "0/1 nodes are available:",
            "1.28.0": _ERROR,
            "1.28.9": _ERROR,
            "1.28.10": none_of_one("1 node is filtered out by the prefilter result"),
            "1.28.11": "0/1 nodes are available:",
            "1.29.0": _ERROR,
            "1.29.4": _ERROR,
            "1.29.5": none_of_one("1 node is filtered out by the prefilter result"),
        },
    ),
    "left-out-reason": (
        left_out,
        {
            "1.27.13": "1 Insufficient cpu",
            "1.27.14": _LEFT_OUT,
            "1.27.15": "1 Insufficient cpu",
            "1.28.9": "1 Insufficient cpu",
            "1.28.10": _LEFT_OUT,
            "1.28.11": "1 Insufficient cpu",
            "1.29.4": "1 Insufficient cpu",
            "1.29.5": _LEFT_OUT,
            "1.29.6": "1 Insufficient cpu",
            "1.29.14": "1 Insufficient cpu",
            "1.30.0": _LEFT_OUT,
            "1.30.1": _LEFT_OUT,
            "1.30.2": "1 Insufficient cpu",
            "1.31": "1 Insufficient cpu",
            "1.32": "1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity]",
        },
    ),
    "preemption-tries-left-out": (
        left_out_candidate,
        {
            "1.23": "a",
            "1.24": "a,b",
            "1.27.13": "a,b",
            "1.27.14": "a",
            "1.27.16": "a",
            "1.28.0": "a,b",
            "1.28.9": "a,b",
            "1.28.10": "a",
            "1.29.0": "a,b",
            "1.29.4": "a,b",
            "1.29.5": "a",
        },
    ),
    "preemption-tries-refused": (refused_candidate, {"1.25": "", "1.26": "a", "1.27.14": "a", "1.27.15": ""}),
    "victims-sorted": (first_victims, {"1.28": "a", "1.29": "b"}),
    "waits-for-preempted": (waits_on_nominated, {"1.26": "waits", "1.27": "a"}),
    "resource-claims-for-resources": (devices, {"1.35": "", "1.36": "the devices of the class d"}),
    "topology-labels": (zone_label_of_node, {"1.34": "False", "1.35": "True"}),
    "declared-features": (runs_declared_features, {"1.35": "False", "1.36": "True"}),
}
# Two changes of one row, each with an observation of its own.
SUMS = {(resized, "1.32", "1.33"): ("n", ""), (pod_level, "1.33", "1.34"): ("n", "")}
# From 1.22 on a node names one rule only. Up to 1.23 no node is left out, and none uncounted, whatever these rows say.
HIDDEN = {
    ("pod-affinity-any", "1.22.0", 1),
    ("gone-node-is-error", "1.24.0", -1),
    ("preemption-tries-left-out", "1.24.0", -1),
    ("dry-run-counts-included", "1.24.0", -1),
}


@pytest.mark.parametrize(
    ("name", "version"), [(name, version) for name, (_, expected) in SIDES.items() for version in expected]
)
def test_a_row_holds_on_both_sides(name: str, version: str) -> None:
    observe, expected = SIDES[name]

    assert expected[version] == observe(version)


@pytest.mark.parametrize(("scene", "seen"), SUMS.items())
def test_requests_add_up_as_in_the_release(scene: tuple[Callable[[str], str], str, str], seen: tuple[str, str]) -> None:
    observe, *versions = scene

    assert seen == tuple(map(observe, versions))


# A change in another release makes a recording differ.
RECORDED = frozenset(
    (
        *("request-sums", "fit-skips-unrequested", "fit-too-large", "fit-scores", "balance-by-deviation"),
        *("balance-skips", "balance-compares", "defaults-by-owner", "only-included-nodes", "spread-rounds"),
        *("spread-skips-score", "weights-differ", "pod-affinity-skips-score", "node-affinity-narrows"),
        *("node-affinity-skips-score", "prefer-avoid-pods", "volume-affinity-reason", "volume-binding-narrows"),
        *("volume-binding-scores", "volume-binding-skips-score", "zone-labels-are-one", "preemption-in-message"),
        *("second-dot", "resource-claims-score"),
    )
)
VALIDATED = frozenset({"selector-is-validated", "match-keys-are-merged", "label-words"})


def test_every_row_is_observed() -> None:
    observed = [set(SIDES), set(LATER), RECORDED, VALIDATED]

    assert {row.name for row in behaviours.table()} == set().union(*observed)
    assert all(one.isdisjoint(other) for one, other in itertools.combinations(observed, 2))


def shifted(row: behaviours.Behaviour[Any]) -> Iterator[tuple[str, int, tuple[behaviours.Era[Any], ...]]]:
    """Yield the eras of a row after one of its changes came a release, or a patch, earlier or later."""
    for at in range(1, len(row.eras)):
        era = row.eras[at]
        for by in (-1, 1):
            since = Release(era.since.minor, era.since.patch + by) if era.since.patch else Release(era.since.minor + by)
            moved = [*row.eras[:at], behaviours.Era(since, era.value, era.words), *row.eras[at + 1 :]]
            # An era without any release is none.
            kept = [
                one for one, other in itertools.pairwise([*moved, None]) if other is None or one.since < other.since
            ]
            yield era.since.text, by, tuple(kept)


@pytest.mark.parametrize("name", SIDES)
def test_a_change_in_another_release_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The observations depend on the row itself: each of its changes one release earlier or later is seen."""
    observe, expected = SIDES[name]
    (row,) = [item for item in behaviours.table() if item.name == name]
    for since, by, eras in shifted(row):
        with monkeypatch.context() as patched:
            patched.setattr(row, "eras", eras)
            patched.setattr(row, "_values", {})
            seen = {version: observe(version) for version in expected}
        assert (seen == expected) == ((name, since, by) in HIDDEN), (since, by)
