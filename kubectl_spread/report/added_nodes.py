"""Whether Karpenter adds a node for a Pending pod: sentences, sections and documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_spread.containers import grouped
from kubectl_spread.objects.keys import Range
from kubectl_spread.objects.selectors import ZONE
from kubectl_spread.provisioners.objects import NodePool, PoolState
from kubectl_spread.provisioners.prospect import CountedDomain, CountedDomains, Fate, Outlook, Prospect
from kubectl_spread.provisioners.reading import Gap, GapKind
from kubectl_spread.provisioners.refusals import Cause, Counts, Refusal, texts, Unfit
from kubectl_spread.provisioners.requirement import Clash
from kubectl_spread.report.documents import form, Plain, to_document
from kubectl_spread.report.table import Block, Rows
from kubectl_spread.report.wording import nodes_of_pools, series
from kubectl_spread.text.wording import count_noun, safe

_STATES = {
    PoolState.NOT_READY: "it is not ready",
    PoolState.INVALID: "Karpenter refuses it",
    PoolState.DELETED: "it is being deleted",
    PoolState.STATIC: "it has a fixed number of nodes",
    PoolState.OTHER_PROVIDER: "its node class is of another provider",
    PoolState.NO_TYPE: "none of its instance types fits its own requirements",
}
_GAPS = {
    GapKind.INSTANCE_TYPES: "the instance types of {pools}, which the facts do not show",
    GapKind.MORE_TYPES: "other instance types of {pools} than those that run",
    GapKind.DOMAINS: "the values of {key} that nodes of {pools} may have",
    GapKind.PROVIDER: "which provider runs",
    GapKind.DRAW: "what Karpenter draws at random",
    GapKind.RELEASE: "a rule of this release that is not simulated",
    GapKind.SEARCH: "outcomes that were not searched",
}
_WHY = {
    Cause.LIMITS: "its limits are reached",
    Cause.INSTANCE_TYPES: "none of its instance types fits",
    Cause.VOLUME: "it does not reach the pod's volume",
    Cause.HOST_PORT: "the host port is taken there",
    Cause.MIN_VALUES: "its minValues cannot be met",
    Cause.SPREAD: "no {key} that it reaches keeps maxSkew and minDomains",
    Cause.AFFINITY: "no {key} that it reaches has the pods that the pod's affinity asks for",
    Cause.ANTI_AFFINITY: "each {key} that it may get has, or may get, pods that anti-affinity keeps apart",
}


def summary(found: Outlook, no_node: str = "no node") -> str:
    """Return what becomes of equal pods that find no node now: `Karpenter adds 1 node ..., and the pod runs there.`."""
    told, added, running, total = found.most_telling, nodes_of_pools(found.added), found.running, found.pods
    on = () if added else told.answer.existing
    is_one = sum(item.number.most for item in found.added) + len(on) == 1
    lead = f"Karpenter adds {added}" if added else f"Karpenter adds {no_node}"
    if on and not added:
        lead = f"Karpenter counts on {'node' if is_one else 'nodes'} {series(on)}, so it adds {no_node}"
    message = safe(told.refused).rstrip(".")
    uses = f"will not use {'it' if is_one else 'them'}" if added else "refuses the pod there"
    unused = f"kube-scheduler {uses}: {message}"
    if told.answer.ignored:
        reasons = (reason.partition("; specify a well known label")[0] for reason in told.answer.ignored)
        return f"Karpenter does not look at this pod: {safe('; '.join(reasons))}."
    if found.gaps:
        depends = f"Whether Karpenter adds a node depends on {series(gaps(found.gaps), 'and on')}."
        if not (added or on):
            return depends
        return f"{depends} If it helps, {lead}{f', but {unused}' if told.refused else ''}."
    if found.fate is Fate.RUN:
        them = "the pod runs" if total == 1 else f"{'both' if total == 2 else f'all {total}'} pods run"
        return f"{lead}, and {them} there{'' if found.all_run else ' (in the ways that were searched)'}."
    if found.fate is Fate.NOT_USED:
        return f"{lead}, but {unused}."
    why = without(told, "Karpenter" if found.fate is Fate.SOME_RUN else "it")
    why = f"kube-scheduler refuses the new nodes: {message}" if told.refused else why
    if found.fate is Fate.SOME_RUN:
        least, most = total - running.most, total - running.least
        stay = f"{Range(least, most)} {'stays' if most == 1 else 'stay'} Pending"
        run = "runs" if running.most == 1 else "run"
        if total == 1:
            return f"{lead}, and the pod may run there; else it stays Pending: {why}."
        return f"{lead}. {running} of the {total} pods {run} there, and {stay}: {why}."
    return f"{lead}, because {why}."


def stays_pending(found: Outlook) -> bool:
    """Return whether no pod runs in the end."""
    return found.fate in (Fate.NO_NODE, Fate.NOT_USED)


def without(found: Prospect, who: str) -> str:
    """Return why no pool gets a node for a pod; `who`: Karpenter."""
    # Zones in which a pool has types that fit, none of which is available now
    unfit = [item.detail for item in found.answer.errors if isinstance(item.detail, Unfit)]
    wanted = [
        item for each in unfit if each.compatible & each.fitting and not each.offered for item in each.requirements
    ]
    zones = {zone for item in wanted if item.key == ZONE and not item.complement for zone in item.values}
    blocking = blocked(found, who)
    if zones:
        where = series(sorted(zones), "or")
        return f"that depends on capacity in zone {where}, where no machine that fits is available now"
    if blocking:
        return "; ".join(blocking)
    general = [_said(item) for item in found.answer.errors if not item.pool]
    of_pools = grouped((_why(found, pool), pool.name) for pool in found.pools)
    return "; ".join(general or (f"{_pools(names)}: {why}" for why, names in of_pools.items()))


def gaps(gaps: Iterable[Gap]) -> Iterator[str]:
    """Yield what is not known; pools with the same gap come together."""
    pools = grouped(((gap.kind, gap.key), gap.pool) for gap in gaps)
    for (kind, key), names in pools.items():
        yield _GAPS[kind].format(pools=_pools(names), key=safe(key))


def _pools(names: Iterable[str]) -> str:
    every = [safe(name) for name in names]
    return f"{'pool' if len(every) == 1 else 'pools'} {series(every)}"


def blocked(found: Prospect, who: str) -> list[str]:
    """Return clauses about the domains that hold the minimum, and in which no pool makes a node for the pod."""
    values: dict[tuple[str, str], dict[str, None]] = {}
    unknown = dict.fromkeys(safe(counted.key) for counted in found.counted if not counted.domains)
    for counted in found.counted:
        for domain in counted.domains:
            if domain.blocks:
                why = f"with {count_noun(domain.matching, 'pod')}: {_reached(counted, domain, found)}"
                values.setdefault((safe(counted.key), why), {})[safe(domain.value)] = None
    counts = [f"{who} counts {key}={series(names)} {why}" for (key, why), names in values.items()]
    return [*(f"{who} knows no domain of {key}" for key in unknown), *counts]


def _reached(counted: CountedDomains, domain: CountedDomain, found: Prospect) -> str:
    """Return who brings a domain, and why no node comes there."""
    if not domain.pools:
        return f"only {count_noun(domain.nodes, 'node')} that {'exists is' if domain.nodes == 1 else 'exist are'} in it"
    only = f"only {_pools(domain.pools)} can reach it"
    why = {pool.name: _why(found, pool, counted.key) for pool in found.pools}
    if len(domain.pools) == 1:
        return f"{only}, and {why[domain.pools[0]]}"
    reasons = (f"{safe(name)}: {why[name]}" for name in domain.pools)
    return f"{only} ({'; '.join(reasons)})"


def _why(found: Prospect, pool: NodePool, key: str = "") -> str:
    """Return why a pool has no node for the pod; `key`: in a domain of this label."""
    refusal = found.refusals.get(pool.name)
    if refusal is None:
        return _STATES.get(pool.state, "it makes no node there")
    if refusal.cause is Cause.TAINT:
        taints = refusal.detail if isinstance(refusal.detail, tuple) else ()
        return f"the pod does not tolerate {series(safe(str(taint)) for taint in taints)}"
    if isinstance(refusal.detail, Clash):
        return f"the pod's rules pick a different {safe(refusal.key)} each"
    if refusal.cause in (Cause.REQUIREMENT, Cause.UNKNOWN_LABEL):
        return f"its {safe(refusal.key)} does not match the pod"
    if refusal.cause is Cause.SPREAD and refusal.key == key and isinstance(refusal.detail, Counts):
        own = refusal.detail.node_domains
        only = f"a node for the pod can only be in {series(sorted(own.values), 'or')}"
        return "it names this value, but makes no node there" if own.complement else only
    return _WHY[refusal.cause].format(key=safe(refusal.key)) if refusal.cause in _WHY else _said(refusal)


def _said(refusal: Refusal) -> str:
    return safe("; ".join(texts(refusal)))


def _pool(found: Prospect, pool: NodePool) -> Plain:
    """Return what a pool does about the pod: its nodes, or the first reason against them."""
    name, nodes = pool.name, [node for node in found.answer.new if node.pool == pool.name]
    return {
        "name": name,
        "state": pool.state.value,
        "reason": pool.reason,
        "refusedFor": texts(found.refusals[name]) if name in found.refusals else [],
        "zones": sorted({zone for node in nodes for zone in node.zones}),
        "instanceTypes": sorted({name for node in nodes for name in node.types}),
    }


def _line(pool: Plain) -> str:
    """Return the same as a line; empty if the pool was not asked."""
    zones, types, state, reason = pool["zones"], pool["instanceTypes"], pool["state"], pool["reason"]
    where = f" in zone {series(zones, 'or')}" if zones else ""
    what = "; ".join(pool["refusedFor"])
    if zones or types:
        what = f"a node{where}{', ' if types else ''}{series(types, 'or')}"
    if state != PoolState.USED.value:
        what = f"{_STATES[PoolState(state)]}{': ' if reason else ''}{reason}"
    return f"  pool {safe(pool['name'])}: {safe(what)}" if what else ""


def section(found: Outlook) -> list[Block]:
    """Return the section of a report on a pod; the first block is its heading."""
    told, rest = found.most_telling, ", for the pods that stay Pending" if found.fate is Fate.SOME_RUN else ""
    blocks: list[Block] = [f"Karpenter, pool by pool{rest}:"]
    blocks += filter(None, (_line(_pool(told, pool)) for pool in told.pools))
    for counted in {item.key: item for item in reversed(told.counted)}.values():  # pools see the same counts
        rows = [("DOMAIN", "MATCHING", "WHO BRINGS IT")]
        for item in counted.domains:
            bringers = [count_noun(item.nodes, "node")] if item.nodes else []
            bringers += [_pools(item.pools)] if item.pools else []
            rows.append((item.value, str(item.matching), ", ".join(bringers)))
        if counted.domains:
            blocks += [f"  Karpenter counts for {safe(counted.key)}:", Rows(tuple(rows), indent="    ")]
    return blocks if len(blocks) > 1 else []


def document(found: Prospect, of_equal: Outlook) -> Plain:
    """Return the field `karpenter` of an Explanation, or of a Pending pod of a CheckReport."""
    return {**to_document(of_equal), **to_document(found)}


form(
    Outlook,
    "outcome=fate summary pods running addedNodes=added certain=all_run",
    summary=summary,
)
form(
    Prospect,
    "answer=answer.answer dependsOn ignored=answer.ignored nodes=answer.existing schedulerMessage=refused "
    "alwaysRefused pools counted",
    alwaysRefused=lambda item: bool(item.refused) and all(place.refused for place in item.places),
    dependsOn=lambda item: [to_document(gap) for gap in item.answer.gaps],
    pools=lambda item: [_pool(item, pool) for pool in item.pools],
)
form(CountedDomains, "pool topologyKey=key domains")
