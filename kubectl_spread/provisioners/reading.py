"""Plain objects and a table of instance types as a `Provisioning`, with what is not known of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from typing import Any, NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.errors import RequestError, SourceError
from kubectl_spread.objects.reading.plain import fields, mappings, numbered_mappings, Plain
from kubectl_spread.objects.selectors import Labels, NODE_POOL, ZONE
from kubectl_spread.provisioners import objects, versions
from kubectl_spread.provisioners import requirement as algebra
from kubectl_spread.provisioners.objects import Amounts, InstanceType, NodeClaim, NodeFacts, NodePool
from kubectl_spread.provisioners.requirement import OF_PROVIDERS, WELL_KNOWN

ANY_POOL = "*"  # in a table: instance types of every pool that has none of its own
TABLE, SETTINGS = ("InstanceTypes", ""), ("Karpenter", "")  # among the NodePools of cluster facts, if a user gives them
_IMAGE = re.compile(r"(?:^|/)karpenter/controller:v?([0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4})(?![0-9])")


class GapKind(Enum):
    """What is not known."""

    INSTANCE_TYPES = "instanceTypes"  # the types of a pool
    MORE_TYPES = "moreTypes"  # a pool may have other types than those that run
    DOMAINS = "domains"  # the values of a label that a pool's nodes may have
    PROVIDER = "provider"  # which provider runs, if pools name classes of several
    DRAW = "draw"  # what Karpenter draws at random
    RELEASE = "release"  # a rule of this release that is not simulated
    SEARCH = "search"  # there are more outcomes than were searched


class Gap(NamedTuple):
    """A fact on which an answer depends; `key` is the label of `DOMAINS`."""

    kind: GapKind
    pool: str = ""
    key: str = ""


class Options(NamedTuple):
    """Settings of Karpenter that no object shows.

    provider: group of the node classes of the running provider; empty if it is not known.
    """

    version: str = versions.RECORDED
    ignores_preferences: bool = False  # PREFERENCE_POLICY=Ignore
    relaxes_min_values: bool = False  # MIN_VALUES_POLICY=BestEffort
    ignores_resource_claims: bool = True  # IGNORE_DRA_REQUESTS
    well_known: frozenset[str] = WELL_KNOWN
    provider: str = ""


class Provisioning(NamedTuple):
    """NodePools and what belongs to them.

    types: by pool, with samples for pools that no table describes.
    """

    pools: tuple[NodePool, ...] = ()
    claims: tuple[NodeClaim, ...] = ()
    types: dict[str, tuple[InstanceType, ...]] = {}  # noqa: RUF012 (never written to)
    nodes: dict[str, NodeFacts] = {}  # noqa: RUF012
    gaps: tuple[Gap, ...] = ()
    options: Options = Options()


def with_settings(cluster: Cluster, path: str, table: Any, version: Optional[str]) -> Cluster:
    """Return cluster facts with a table of instance types of a file, if there is a path, and a release of Karpenter.

    Raises:
        RequestError: it is not a release.
        SourceError: the table cannot be read.
    """
    given: dict[tuple[str, str], Any] = {TABLE: table} if path else {}
    for problem in instance_types(table)[1]:
        raise SourceError(path, problem)
    if version:
        try:
            versions.rules(version)
        except ValueError as error:
            raise RequestError(f"--karpenter-version: {error}; write 1.13 or 1.8.1") from error
        given[SETTINGS] = {"version": version}
    return cluster._replace(provisioning={**cluster.provisioning, **given})


def of_cluster(cluster: Cluster) -> Provisioning:
    """Return what cluster facts have of Karpenter, with its release and settings if its Deployment is among them."""
    plains = dict(cluster.provisioning)
    table, given = plains.pop(TABLE, None), plains.pop(SETTINGS, {})
    found: dict[str, Any] = {"version": versions.RECORDED}
    for controller in cluster.controllers.values():
        for container in mappings(controller.workload.pod_spec.get("containers")):
            match = _IMAGE.search(str(container.get("image") or ""))
            if match is not None:
                variables = numbered_mappings(container.get("env"))
                found = {str(item.get("name")): item.get("value") for _, item in variables} | {"version": match[1]}
    found |= given
    groups = {objects.class_ref(plain).group for plain in plains.values() if plain["kind"] == "NodePool"}
    options = Options(
        found["version"],
        ignores_preferences=found.get("PREFERENCE_POLICY") == "Ignore",
        relaxes_min_values=found.get("MIN_VALUES_POLICY") == "BestEffort",
        ignores_resource_claims=found.get("IGNORE_DRA_REQUESTS") != "false",
        well_known=WELL_KNOWN.union(*(OF_PROVIDERS.get(group, ()) for group in groups)),
    )
    return read(plains.values(), cluster, table=table, options=options)


def read(
    plains: Iterable[Plain],
    cluster: Cluster,
    *,
    table: Any = None,
    options: Options = Options(),  # noqa: B008 (immutable)
) -> Provisioning:
    """Read NodePools, NodeClaims, node classes and what Karpenter reads of Nodes; other kinds are left out.

    Args:
        plains: objects that decode; of two with one name the later wins.
        cluster: its nodes are samples of instance types for pools without a table.
        table: instance types by the name of their pool, or by `*`; any value is accepted.
        options: settings of Karpenter.
    """
    pools: dict[str, NodePool] = {}
    claims: dict[str, NodeClaim] = {}
    zones: dict[tuple[str, str], tuple[str, ...]] = {}
    nodes: dict[str, NodeFacts] = {}
    for plain in plains:
        kind, name = str(plain.get("kind")), fields(plain, "metadata").get("name") or ""
        is_karpenters = str(plain.get("apiVersion")).startswith("karpenter.sh/")  # other groups have NodePools, too
        if kind == "NodePool" and is_karpenters:
            pools[name] = objects.node_pool(plain, options.well_known, options.provider)
        elif kind == "NodeClaim" and is_karpenters:
            claims[name] = objects.node_claim(plain)
        elif kind == "Node":
            nodes[name] = objects.node_facts(plain)
        elif kind.endswith("NodeClass"):
            subnets = mappings(fields(plain, "status").get("subnets"))
            zones[kind, name] = tuple(sorted({item["zone"] for item in subnets if item.get("zone")}))
    given, _ = instance_types(table)
    # Labels, capacity and allocatable of what runs, or was launched: samples of instance types
    running = [
        (node.labels, (nodes.get(node.name) or NodeFacts()).capacity or node.allocatable, node.allocatable)
        for node in cluster.nodes
    ]
    running += [(claim.labels, claim.capacity, claim.allocatable) for claim in claims.values() if claim.allocatable]
    types: dict[str, tuple[InstanceType, ...]] = {}
    gaps: list[Gap] = []
    for name in pools:
        if name in given or ANY_POOL in given:
            types[name] = given.get(name, given.get(ANY_POOL, ()))
            continue
        samples: dict[str, InstanceType] = {}
        for labels, capacity, allocatable in running:
            if labels.get(NODE_POOL) == name:
                new = _sample(labels, capacity, allocatable, options.well_known)
                samples[new.name] = _joined(samples[new.name], new) if new.name in samples else new
        types[name] = tuple(samples.values())
        gaps.append(Gap(GapKind.MORE_TYPES if samples else GapKind.INSTANCE_TYPES, name))
    if not options.provider and len({pool.class_ref.group for pool in pools.values()}) > 1:
        gaps.append(Gap(GapKind.PROVIDER))
    every = [pool._replace(zones=zones.get(pool.class_ref[1:], ())) for pool in pools.values()]
    return Provisioning(tuple(every), tuple(claims.values()), types, nodes, tuple(gaps), options)


def instance_types(table: Any) -> tuple[dict[str, tuple[InstanceType, ...]], list[str]]:
    """Read a table of instance types by pool; an entry that cannot be read is left out, and is a problem."""
    found: dict[str, tuple[InstanceType, ...]] = {}
    if not isinstance(table, dict):
        return found, [] if table is None else ["not a mapping of pools to instance types"]
    problems: list[str] = []
    for pool, entries in table.items():
        types: list[InstanceType] = []
        for at, entry in enumerate(entries if isinstance(entries, list) else [entries]):
            wrong = objects.problems(entry) if isinstance(entry, dict) and entry.get("name") else ["no name"]
            problems += [f"{pool}[{at}]: {text}" for text in wrong]
            types += [] if wrong else [objects.instance_type(entry)]
        found[str(pool)] = tuple(types)
    return found, problems


def _sample(labels: Labels, capacity: Amounts, allocatable: Amounts, well_known: Iterable[str]) -> InstanceType:
    """Return the instance type that a running node shows: its well-known labels, in its zone."""
    shown = {key: labels[key] for key in well_known if key in labels and key != NODE_POOL}
    offering = labels.get(ZONE, ""), labels.get(algebra.CAPACITY_TYPE, "on-demand")
    name = labels.get(algebra.INSTANCE_TYPE, "")
    return InstanceType(name, capacity, allocatable, algebra.of_labels(shown), (offering,))


def _joined(one: InstanceType, other: InstanceType) -> InstanceType:
    """Return one type for two machines of it: the offerings of both, the room of the smaller."""
    least = {name: min(amount, other.allocatable.get(name, 0)) for name, amount in one.allocatable.items()}
    both = {
        key: algebra.requirement(key, "In", item.values | other.requirements[key].values)
        for key, item in one.requirements.items()
        if key in other.requirements
    }
    offerings = tuple(dict.fromkeys((*one.offerings, *other.offerings)))
    return InstanceType(one.name, one.capacity, least, both, offerings)
