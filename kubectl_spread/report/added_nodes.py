"""Whether Karpenter adds a node for a Pending pod: sentences, sections and documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Optional

from kubectl_spread.objects.selectors import ZONE
from kubectl_spread.provisioners.prospect import CountedDomain, CountedDomains, PoolProspect, Prospect
from kubectl_spread.provisioners.reading import Gap, GapKind
from kubectl_spread.provisioners.refusals import Cause, Refusal, texts, Unfit
from kubectl_spread.provisioners.solve import Answer, NewNode, PoolState
from kubectl_spread.report.documents import form, Plain, to_document
from kubectl_spread.report.table import Block, Rows
from kubectl_spread.report.wording import series
from kubectl_spread.text.wording import count_noun, safe

HEADING = "Would Karpenter add a node?"

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
}


def summary(found: Prospect) -> str:
    """Return the answer, and the domains that block the pod: `Karpenter adds no node. It counts ...`."""
    return " ".join((verdict(found), *blocked(found)))


def verdict(found: Prospect) -> str:
    """Return `Karpenter adds a node of pool general in zone a or b.`."""
    answer = found.answer
    places = [f"a node of {_new_node(node)}" for node in answer.new]
    adds = f"adds {series(places, 'or')}" if places else ""
    counts_on = f"counts on node {series(answer.existing, 'or')}" if answer.existing else ""
    does = " or ".join(filter(None, (adds, counts_on)))
    if answer.answer is Answer.YES:
        return f"Karpenter {does}{'' if adds else ', so it adds none'}{_refused(found)}."
    if answer.ignored:
        return f"Karpenter does not look at this pod: {safe('; '.join(answer.ignored))}."
    if answer.answer is Answer.NO:
        zones = series(sold_out(answer.errors), "or")
        return (
            f"Karpenter adds no node; that depends on capacity in zone {zones}." if zones else "Karpenter adds no node."
        )
    depends = f"Whether Karpenter adds a node depends on {series(gaps(answer.gaps), 'and on')}."
    return f"{depends} If it helps, Karpenter {does}{_refused(found)}." if does else depends


def sold_out(errors: Iterable[Refusal]) -> list[str]:
    """Return the zones in which a pool has types that fit, none of which is available now."""
    unfit = (item.detail for item in errors if isinstance(item.detail, Unfit))
    wanted = (
        item for each in unfit if each.compatible & each.fitting and not each.offered for item in each.requirements
    )
    return sorted({zone for item in wanted if item.key == ZONE and not item.complement for zone in item.values})


def _refused(found: Prospect) -> str:
    """Return what kube-scheduler then does, where it does not use the node."""
    if not found.refused:
        return ""
    will = "will not use it" if found.is_always_refused else "does not use it in each case"
    return f", but kube-scheduler {will}: {safe(found.refused).rstrip('.')}"


def _new_node(node: NewNode) -> str:
    return f"pool {safe(node.pool)}{_zones(node)}"


def _zones(node: NewNode) -> str:
    return f" in zone {series(node.zones, 'or')}" if node.zones else ""


def gaps(gaps: Iterable[Gap]) -> Iterator[str]:
    """Yield what is not known; pools with the same gap come together."""
    pools: dict[tuple[GapKind, str], list[str]] = {}
    for gap in gaps:
        pools.setdefault((gap.kind, gap.key), []).append(gap.pool)
    for (kind, key), names in pools.items():
        yield _GAPS[kind].format(pools=_pools(names), key=safe(key))


def _pools(names: Iterable[str]) -> str:
    every = [safe(name) for name in names]
    return f"{'pool' if len(every) == 1 else 'pools'} {series(every)}"


def blocked(found: Prospect) -> list[str]:
    """Return a sentence for domains that hold the minimum, and in which no pool makes a node for the pod."""
    values: dict[tuple[str, str], dict[str, None]] = {}
    pools = {pool.name: pool for pool in found.pools}
    for counted in found.counted:
        for domain in counted.domains:
            if domain.blocks:
                why = f"with {count_noun(domain.matching, 'pod')}: {_reached(counted, domain, pools)}"
                values.setdefault((safe(counted.key), why), {})[safe(domain.value)] = None
    return [f"It counts {key}={series(names)} {why}." for (key, why), names in values.items()]


def _reached(counted: CountedDomains, domain: CountedDomain, pools: dict[str, PoolProspect]) -> str:
    """Return who brings a domain, and why no node comes there."""
    if not domain.pools:
        return f"only {count_noun(domain.nodes, 'node')} that {'exists is' if domain.nodes == 1 else 'exist are'} in it"
    only = f"only {_pools(domain.pools)} can reach it"
    if len(domain.pools) == 1:
        return f"{only}, and {_why(pools[domain.pools[0]], counted.key)}"
    reasons = (f"{safe(name)}: {_why(pools[name], counted.key)}" for name in domain.pools)
    return f"{only} ({'; '.join(reasons)})"


def _why(pool: PoolProspect, key: str) -> str:
    refusal = pool.refusal
    if refusal is None:
        return _STATES.get(pool.state, "it makes no node there")
    if refusal.cause is Cause.TAINT:
        taints = refusal.detail if isinstance(refusal.detail, tuple) else ()
        return f"the pod does not tolerate {series(safe(str(taint)) for taint in taints)}"
    if refusal.cause in (Cause.REQUIREMENT, Cause.UNKNOWN_LABEL):
        return f"its {safe(refusal.key)} does not match the pod"
    if refusal.cause is Cause.SPREAD and refusal.key == key:
        return "it names this value, but makes no node there"
    return _WHY.get(refusal.cause) or _said(refusal)


def _said(refusal: Refusal) -> str:
    return safe("; ".join(texts(refusal)))


def pool_line(pool: PoolProspect) -> Optional[str]:
    """Return what a pool does about the pod: its nodes, or the first reason against them; None if it is not asked."""
    if pool.state is not PoolState.USED:
        reason = f": {safe(pool.reason)}" if pool.reason else ""
        return f"{_STATES[pool.state]}{reason}"
    if pool.nodes:
        return "; ".join(_of_node(node) for node in pool.nodes)
    return _said(pool.refusal) if pool.refusal is not None else None


def _of_node(node: NewNode) -> str:
    return f"a node{_zones(node)}{', ' + series(node.types, 'or') if node.types else ''}"


def section(found: Prospect) -> list[Block]:
    """Return the section of a report on a pod; the first block is its heading."""
    lines = ((pool.name, pool_line(pool)) for pool in found.pools)
    general = (f"  {_said(item)}" for item in found.answer.errors if not item.pool)
    blocks: list[Block] = [HEADING, f"  {verdict(found)}", *(f"  {text}" for text in blocked(found)), *general]
    blocks += [f"  pool {safe(name)}: {line}" for name, line in lines if line is not None]
    for counted in _without_repeats(found.counted):
        if not counted.domains:
            blocks.append(f"  Karpenter knows no domain of {safe(counted.key)}.")
            continue
        rows = [(item.value, str(item.matching), _bringers(item)) for item in counted.domains]
        head = ("DOMAIN", "MATCHING", "WHO BRINGS IT")
        blocks += [f"  Karpenter counts for {safe(counted.key)}:", Rows((head, *rows), indent="    ")]
    return blocks


def _without_repeats(counted: Iterable[CountedDomains]) -> Iterator[CountedDomains]:
    """Yield one table for each label; pools that are refused by one constraint see the same counts."""
    seen: dict[str, CountedDomains] = {}
    for item in counted:
        seen.setdefault(item.key, item)
    yield from seen.values()


def _bringers(domain: CountedDomain) -> str:
    nodes = [count_noun(domain.nodes, "node")] if domain.nodes else []
    return ", ".join((*nodes, *([_pools(domain.pools)] if domain.pools else [])))


def document(found: Prospect) -> Plain:
    """Return the field `karpenter` of an Explanation, or of a Pending pod of a CheckReport."""
    return to_document(found)


form(
    Prospect,
    "answer=answer.answer summary dependsOn ignored=answer.ignored nodes=answer.existing schedulerMessage=refused "
    "alwaysRefused=is_always_refused pools counted",
    summary=summary,
    dependsOn=lambda item: [to_document(gap) for gap in item.answer.gaps],
)
form(Gap, "kind pool key")
form(
    PoolProspect,
    "name state reason refusedFor zones instanceTypes",
    refusedFor=lambda item: [] if item.refusal is None else texts(item.refusal),
    zones=lambda item: sorted({zone for node in item.nodes for zone in node.zones}),
    instanceTypes=lambda item: sorted({name for node in item.nodes for name in node.types}),
)
form(CountedDomains, "pool topologyKey=key domains")
form(CountedDomain, "value matching pools nodes blocks")
