"""Facts about a constraint on this cluster that surprise people, a sentence each."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

import numpy as np

from kubectl_spread.cluster.columns import Bools
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.columns import distinct
from kubectl_spread.explain.constraints.node_reasons import NodeReasons
from kubectl_spread.explain.wording import counted
from kubectl_spread.explain.wording import listed
from kubectl_spread.explain.wording import MOST_NAMES
from kubectl_spread.explain.wording import nodes
from kubectl_spread.objects.labels import HOSTNAME
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.taints import NO_EXECUTE
from kubectl_spread.objects.taints import OUTAGES
from kubectl_spread.scheduler.cycle import Filtered
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts

_MOST_ALIKE = 4


def notes(
    counts: DomainCounts, cls: PodClass, filtered: Filtered, *, usable: Bools, why_not: NodeReasons, is_hard: bool
) -> Iterator[str]:
    """Sentences; usable: bool (N,), nodes that pass everything but the spread constraints."""
    columns = filtered.columns
    yield from _about_selector(counts, cls)
    yield from _nobody_has(counts, columns)
    yield from _ceiling(counts, usable)
    yield from _hidden(counts, columns, why_not)
    yield from _only_one(counts, is_hard=is_hard)
    yield from _shared_hostnames(counts, columns)
    yield from _empty_value(counts, columns)
    yield from _alike(counts)
    yield from _cordoned(counts, filtered)
    yield from _outages(counts, columns, usable)
    yield from _finished(counts, cls, columns)


def _about_selector(counts: DomainCounts, cls: PodClass) -> Iterator[str]:
    constraint = counts.constraint
    if constraint.selector.is_empty:
        yield "an empty labelSelector selects all pods in the API, but the scheduler counts none of them for it"
    elif constraint.selector.requirements is None:
        yield (
            "without a labelSelector no pod is counted: every domain stays at 0, and the constraint spreads nothing, "
            "but it switches the default constraints off"
        )
    elif not constraint.self_match_num:
        own = ", ".join(f"{key}={value}" for key, value in cls.labels[:4]) or "none"
        yield f"pods like this one (labels: {own}) are never counted, so the constraint does not spread them"


def _nobody_has(counts: DomainCounts, columns: Columns) -> Iterator[str]:
    """A key without domains: a hard constraint refuses every node, a soft one does nothing and says nothing."""
    key = counts.constraint.topology_key
    if not columns.n or (counts.topology.codes >= 0).any():
        return
    near = _near(key, columns)
    meant = f"; is {near} meant?" if near else ""
    yield f"no node has the label {key}: there are no domains to spread over{meant}"


def _only_one(counts: DomainCounts, *, is_hard: bool) -> Iterator[str]:
    """One domain is always as full as the emptiest; of a soft constraint those count that the pod fits into."""
    constraint = counts.constraint
    if not constraint.self_match_num or constraint.selector.is_empty or counts.is_below_min_domains:
        return
    if counts.domains_num == 1:
        value = counts.topology.values[int(np.flatnonzero(counts.eligible)[0])]
        told = value or chr(34) * 2
        if is_hard or len(counts.topology.values) == 1:
            yield f"{told} is the only domain: there is nothing to spread over"
        else:
            yield f"the pod fits into no other domain than {told}, so the constraint decides nothing for it"


def _near(key: str, columns: Columns) -> str:
    """The label of the nodes that is most like a key: one of the same name with another prefix, or one that is near."""
    labels = sorted({label for node in columns.nodes for label in node.labels})
    same = [label for label in labels if label.rpartition("/")[2] == key.rpartition("/")[2]]
    return next(iter(same or difflib.get_close_matches(key, labels, 1, cutoff=0.8)), "")


def _alike(counts: DomainCounts) -> Iterator[str]:
    """Values that somebody meant to be the same."""
    found: dict[str, list[str]] = {}
    for at, value in enumerate(counts.topology.values):
        if counts.eligible[at]:
            found.setdefault(value.casefold(), []).append(value)
    several = [sorted(values) for values in found.values() if len(values) > 1]
    if several:
        groups = "; ".join(" and ".join(values[:_MOST_ALIKE]) for values in sorted(several)[:_MOST_ALIKE])
        yield f"{groups} differ only in upper and lower case, and are domains of their own"


def _finished(counts: DomainCounts, cls: PodClass, columns: Columns) -> Iterator[str]:
    """Matching pods that are done: they are listed still, and count no more."""
    selector = counts.constraint.selector
    if selector.is_empty or selector.requirements is None:
        return
    found = [
        pod
        for pod in columns.cluster.pods
        if not pod.is_visible
        and pod.node_name
        and pod.namespace == cls.namespace
        and selector.matches(dict(pod.cls.labels))
    ]
    if found:
        verb, do = ("has", "does") if len(found) == 1 else ("have", "do")
        names = listed([pod.name for pod in found[:MOST_NAMES]], of=len(found))
        yield f"{counted(len(found), 'matching pod')} {verb} finished and {do} not count: {names}"


def _ceiling(counts: DomainCounts, usable: Bools) -> Iterator[str]:
    """What the domains at the minimum allow the others, as long as they cannot grow."""
    constraint, topology = counts.constraint, counts.topology
    if not constraint.self_match_num or constraint.selector.is_empty or not counts.domains_num:
        return
    most = f"{counts.min_match_num} + {constraint.max_skew} = {counts.min_match_num + constraint.max_skew}"
    if counts.is_below_min_domains:
        yield (
            f"as long as there are fewer than {constraint.min_domains} domains, each holds at most {most} matching pods"
        )
        return
    at_minimum = counts.eligible & (counts.match_num == counts.smallest_match_num)
    can_grow = np.zeros(len(topology.values) + 1, np.bool_)
    can_grow[topology.codes[usable]] = True
    stuck = np.flatnonzero(at_minimum & ~can_grow[:-1])
    if len(stuck):
        values = sorted(topology.values[at] for at in stuck.tolist())
        verb, noun = ("stays", "it takes") if len(values) == 1 else ("stay", "they take")
        yield (
            f"{listed(values)} {verb} at {counts.min_match_num} as long as {noun} no pod: "
            f"no other domain may hold more than {most}"
        )


def _hidden(counts: DomainCounts, columns: Columns, why_not: NodeReasons) -> Iterator[str]:
    """Domains that are not there because their nodes lack the key of another constraint."""
    topology = counts.topology
    own = f"lacks the label {counts.constraint.topology_key}"
    for code, sentence in enumerate(why_not.sentences):
        if not sentence.startswith("lacks the label ") or sentence == own:
            continue
        lacking = (why_not.codes == code) & (topology.codes >= 0)
        hidden = distinct(topology.codes[lacking])
        values = sorted(topology.values[at] for at in hidden.tolist() if not counts.eligible[at])
        if values:
            key = sentence.removeprefix("lacks the label ")
            noun = "domain" if len(values) == 1 else "domains"
            verb = "lacks" if int(lacking.sum()) == 1 else "lack"
            yield (
                f"{nodes(lacking, columns)} {verb} {key}, which another constraint asks for: "
                f"{noun} {listed(values)} {'is' if len(values) == 1 else 'are'} not counted here either"
            )


def _shared_hostnames(counts: DomainCounts, columns: Columns) -> Iterator[str]:
    topology = counts.topology
    if counts.constraint.topology_key != HOSTNAME or not len(topology.values):
        return
    sizes = np.bincount(topology.codes[topology.codes >= 0], minlength=len(topology.values))
    shared = np.flatnonzero(sizes > 1)
    for at in shared[:2].tolist():
        who = nodes(topology.codes == at, columns)
        yield f"{who} share {HOSTNAME}={topology.values[at]}: they are one domain"
    if len(shared) > 2:
        yield f"{counted(len(shared) - 2, 'more value')} of {HOSTNAME} shared by several nodes"


def _empty_value(counts: DomainCounts, columns: Columns) -> Iterator[str]:
    topology = counts.topology
    if "" in topology.values and counts.eligible[topology.values.index("")]:
        found = counts.included & (topology.codes == topology.values.index(""))
        verb = "has" if int(found.sum()) == 1 else "have"
        key = counts.constraint.topology_key
        yield f"{nodes(found, columns)} {verb} an empty {key}: it counts as a domain of its own"


def _cordoned(counts: DomainCounts, filtered: Filtered) -> Iterator[str]:
    """Cordons that came without their taint: nodeTaintsPolicy looks at taints alone."""
    if not counts.constraint.honors_taints:
        return
    for verdict in filtered.verdicts:
        if verdict.plugin == names.NODE_UNSCHEDULABLE:
            found = counts.included & (verdict.bits != 0)
            if found.any():
                who = nodes(found, filtered.columns)
                verb, still = ("is", "it") if int(found.sum()) == 1 else ("are", "them")
                yield f"{who} {verb} cordoned without the cordon taint, so nodeTaintsPolicy Honor still counts {still}"


def _outages(counts: DomainCounts, columns: Columns, usable: Bools) -> Iterator[str]:
    """Nodes that are down and yet take pods, because every pod tolerates that for a while."""
    if not columns.has_taints:
        return
    found: dict[str, list[str]] = {}
    for at in np.flatnonzero(counts.included & usable).tolist():
        for taint in columns.nodes[at].taints:
            if taint.effect == NO_EXECUTE and taint.key in OUTAGES:
                found.setdefault(taint.key, []).append(columns.nodes[at].name)
    for key, who in found.items():
        verb = "is" if len(who) == 1 else "are"
        yield (
            f"{listed(who)} {verb} {OUTAGES[key]}, and the pod tolerates {key}:NoExecute (by default for 300 s): "
            f"it is counted and may be chosen"
        )
