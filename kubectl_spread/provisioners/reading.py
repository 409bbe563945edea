"""Plain objects and a table of instance types as a `Provisioning`, with what is not known of them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.selectors import ZONE
from kubectl_spread.provisioners import objects, versions
from kubectl_spread.provisioners.objects import InstanceType, NodeClaim, NodeClass, NodeFacts, NodePool
from kubectl_spread.provisioners.requirement import NODE_POOL, requirement, WELL_KNOWN

Plain = dict[str, Any]

ANY_POOL = "*"  # in a table: instance types of every pool that has none of its own


class Problem(NamedTuple):
    """An object, or an entry of a table, that cannot be read, with the decoder's words; it is left out."""

    kind: str
    name: str
    message: str


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
    """NodePools and what belongs to them; `types` by pool, with samples for pools that no table describes."""

    pools: tuple[NodePool, ...] = ()
    claims: tuple[NodeClaim, ...] = ()
    classes: tuple[NodeClass, ...] = ()
    types: dict[str, tuple[InstanceType, ...]] = {}  # noqa: RUF012 (never written to)
    nodes: dict[str, NodeFacts] = {}  # noqa: RUF012
    gaps: tuple[Gap, ...] = ()
    problems: tuple[Problem, ...] = ()
    options: Options = Options()


def read(
    plains: Iterable[Plain],
    cluster: Cluster,
    *,
    table: Any = None,
    options: Options = Options(),  # noqa: B008 (immutable)
) -> Provisioning:
    """Read NodePools, NodeClaims, node classes and what Karpenter reads of Nodes; other kinds are left out.

    Args:
        plains: objects as the API server or a file has them; of two with one name the later wins.
        cluster: its nodes are samples of instance types for pools without a table.
        table: instance types by the name of their pool, or by `*`; any value is accepted.
        options: settings of Karpenter.
    """
    problems: list[Problem] = []
    pools: dict[str, NodePool] = {}
    claims: dict[str, NodeClaim] = {}
    classes: dict[tuple[str, str], NodeClass] = {}
    nodes: dict[str, NodeFacts] = {}
    for plain in plains:
        if not isinstance(plain, dict) or not objects.is_read(plain) or not _is_readable(plain, problems):
            continue
        if plain["kind"] == "NodePool":
            pool = objects.node_pool(plain, options.well_known)
            pools[pool.name] = pool
        elif plain["kind"] == "NodeClaim":
            claim = objects.node_claim(plain)
            claims[claim.name] = claim
        elif plain["kind"] == "Node":
            nodes[(plain.get("metadata") or {}).get("name") or ""] = objects.node_facts(plain)
        else:
            named = objects.node_class(plain)
            classes[named.kind, named.name] = named
    given = _types_of(table, problems)
    found = Provisioning(tuple(pools.values()), tuple(claims.values()), tuple(classes.values()), {}, nodes)
    types: dict[str, tuple[InstanceType, ...]] = {}
    gaps: list[Gap] = []
    for pool in found.pools:
        known = given.get(pool.name, given.get(ANY_POOL))
        types[pool.name] = _samples(pool, cluster, found, options) if known is None else known
        if known is None:
            gaps.append(Gap(GapKind.MORE_TYPES if types[pool.name] else GapKind.INSTANCE_TYPES, pool.name))
    if not options.provider and len({pool.class_ref.group for pool in found.pools}) > 1:
        gaps.append(Gap(GapKind.PROVIDER))
    return found._replace(types=types, gaps=tuple(gaps), problems=tuple(problems), options=options)


def _is_readable(plain: Plain, problems: list[Problem]) -> bool:
    wrong = objects.problems(plain)
    metadata = plain.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    title = name if isinstance(name, str) else ""
    problems += [Problem(str(plain["kind"]), title, decode.problem_text(item)) for item in wrong]
    if not wrong and not title:
        problems.append(Problem(str(plain["kind"]), "", "metadata.name: it has no name"))
    return not wrong and bool(title)


def _types_of(table: Any, problems: list[Problem]) -> dict[str, tuple[InstanceType, ...]]:
    """Read a table of instance types; an entry that cannot be read is left out."""
    found: dict[str, tuple[InstanceType, ...]] = {}
    if not isinstance(table, dict):
        problems += [] if table is None else [Problem("InstanceType", "", "not a mapping of pools to instance types")]
        return found
    for pool, entries in table.items():
        if not isinstance(entries, list):
            problems.append(Problem("InstanceType", str(pool), "not a list of instance types"))
            continue
        types = []
        for at, entry in enumerate(entries):
            wrong = objects.problems({**entry, "kind": ""}) if isinstance(entry, dict) else None
            if wrong:
                problems.append(Problem("InstanceType", f"{pool}[{at}]", decode.problem_text(wrong[0])))
            elif wrong is None or not entry.get("name"):
                problems.append(Problem("InstanceType", f"{pool}[{at}]", "not an instance type with a name"))
            else:
                types.append(objects.instance_type(entry))
        found[str(pool)] = tuple(types)
    return found


def _samples(pool: NodePool, cluster: Cluster, found: Provisioning, options: Options) -> tuple[InstanceType, ...]:
    """Return the instance types that nodes and claims of a pool show; those of one type are joined."""
    seen: dict[str, InstanceType] = {}
    running = [
        (node.labels, (found.nodes.get(node.name) or NodeFacts()).capacity or node.allocatable, node.allocatable)
        for node in cluster.nodes
    ]
    launched = [(claim.labels, claim.capacity, claim.allocatable) for claim in found.claims if claim.allocatable]
    for labels, capacity, allocatable in (*running, *launched):
        if labels.get(NODE_POOL) != pool.name:
            continue
        new = objects.sample(labels, capacity, allocatable, options.well_known)
        old = seen.get(new.name)
        seen[new.name] = new if old is None else _joined(old, new)
    return tuple(seen.values())


def _joined(one: InstanceType, other: InstanceType) -> InstanceType:
    """Return one type for two machines of it: the offerings of both, the room of the smaller."""
    least = {name: min(amount, other.allocatable.get(name, 0)) for name, amount in one.allocatable.items()}
    both = {
        key: requirement(key, "In", item.values | other.requirements[key].values)
        for key, item in one.requirements.items()
        if key in other.requirements
    }
    offerings = tuple(dict.fromkeys((*one.offerings, *other.offerings)))
    return one._replace(allocatable=least, requirements=both, offerings=offerings)


def class_zones(pool: NodePool, classes: Iterable[NodeClass]) -> Optional[tuple[str, ...]]:
    """Return the zones in which the class of a pool has subnets; None if that is not known."""
    return next((item.zones for item in classes if item[:2] == pool.class_ref[1:]), None) or None


def open_type(zones: Optional[tuple[str, ...]]) -> InstanceType:
    """Return a type that stands for unknown ones: as large as needed, in all zones that are possible."""
    return InstanceType("", {}, {}, {} if zones is None else {ZONE: requirement(ZONE, "In", zones)})
