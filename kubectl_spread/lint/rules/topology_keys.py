"""Topology keys: labels that nodes have, lack or share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Union

from kubectl_spread.cluster.facts import ConstraintFacts
from kubectl_spread.lint import corrections, queries, topology_keys
from kubectl_spread.lint.finding import (
    EITHER,
    Fix,
    Knowledge,
    rule,
    RuleFinding,
    SAFE,
    Severity,
)
from kubectl_spread.lint.queries import constraint_facts, lacks_nowhere, shadowed_constraints
from kubectl_spread.lint.topology_keys import intended_key, SUCCESSORS
from kubectl_spread.lint.wording import domain, list_names, none_of
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors import HOSTNAME, key_errors, REGION, ZONE
from kubectl_spread.text.edit import Put
from kubectl_spread.text.node import Route
from kubectl_spread.text.wording import count_noun, did_you_mean


@rule("SPR216", "`topologyKey` cannot be a label key", speaks_from=Knowledge.UNKNOWN)
def impossible_topology_key(subject: Subject) -> Iterator[RuleFinding]:
    """Find keys that break the syntax of labels."""
    for constraint in subject.constraints:
        key = constraint.topology_key
        errors = key_errors(key) if key else []
        if errors and not intended_key(key):
            then = "all pods stay Pending" if constraint.is_hard else "the constraint has no effect"
            yield RuleFinding(
                f"no node can have a label `{key}`, so {then} ({errors[0]})",
                subject.route(constraint, "topologyKey"),
                "write the key of a label that the nodes have",
            )


@rule(
    "SPR302",
    "`topologyKey` is a misspelt label of Kubernetes",
    one_of=("topologySpreadConstraints", "affinity"),
    needs_constraints=False,
    speaks_from=Knowledge.UNKNOWN,
    fixes_from=Knowledge.UNKNOWN,
    fixes=EITHER,
)
def unknown_well_known_key(subject: Subject) -> Iterator[RuleFinding]:
    """Find keys that are nearly a well-known label, or that have a reserved prefix and are none."""
    for key, route, otherwise, item in _written_keys(subject):
        if topology_keys.is_reported(key, subject.facts) and (otherwise or not _has_nodes(subject)):
            known = intended_key(key)
            fix = None
            if known and "/" in key:
                fix = (
                    # Anti-affinity that takes effect may leave pods Pending.
                    Fix(f"write `{known}`", (Put(route, known),), is_safe=not (item.is_required and item.repels))
                    if isinstance(item, queries.Term)
                    else corrections.with_key(subject, item, known)
                )
            yield RuleFinding(
                f"Kubernetes does not set the label `{key}`. If no node has it, {otherwise or 'all pods stay Pending'}",
                route,
                f"did you mean `{known}`?" if known else _RESERVED,
                severity=None if known and "/" in key else Severity.WARNING,
                fix=fix,
            )


_RESERVED = "its prefix is reserved for Kubernetes: check that your nodes have the label, or use a prefix of your own"


def _written_keys(subject: Subject) -> Iterator[tuple[str, Route, str, Union[queries.Term, TopologySpreadConstraint]]]:
    """Yield the keys of affinity terms and constraints, their routes, and what follows if no node has them.

    It is empty where all pods stay Pending then.
    """
    for term in queries.terms(subject):
        required = "this term keeps no pods apart" if term.repels else ""
        route = (*term.route, "topologyKey")
        yield term.topology_key, route, required if term.is_required else "this term has no effect", term
    for item in subject.constraints:
        then = "" if item.is_hard else "the pods are not spread"
        yield item.topology_key, subject.route(item, "topologyKey"), then, item


def _has_nodes(subject: Subject) -> bool:
    """Return whether all pods of an object from a cluster run, so nodes have the labels it needs."""
    status = fields(subject.manifest.plain, "status")
    if subject.kind == "Pod":
        return bool(status and subject.spec.get("nodeName"))
    wanted = status.get("replicas")
    return bool(wanted) and wanted == status.get("updatedReplicas") == status.get("readyReplicas")


# By the new label; source: pkg/api/node/util.go, deprecatedNodeLabels (v1.36.2).
_SINCE = {"kubernetes.io/arch": "1.14", "kubernetes.io/os": "1.14"}


@rule(
    "SPR602",
    "`topologyKey` is a deprecated label",
    Severity.WARNING,
    speaks_from=Knowledge.UNKNOWN,
    fixes_from=Knowledge.UNKNOWN,
    fixes=SAFE,
    around=("NodePool",),
)
def deprecated_key(subject: Subject) -> Iterator[RuleFinding]:
    """Find keys that have a successor."""
    for constraint in subject.constraints:
        now = SUCCESSORS.get(constraint.topology_key)
        if now:
            is_set, key, since = now not in (ZONE, REGION), constraint.topology_key, _SINCE.get(now, "1.17")
            then = "cannot run on" if constraint.is_hard else "are not spread over"
            none = ". Karpenter adds no node for them: for it, the label has no domain"
            none = none if constraint.is_hard and subject.has_karpenter else ""
            yield RuleFinding(
                f"the label `{key}` is deprecated since {since}; nodes still have it"
                if is_set
                else f"the pods {then} nodes without the label `{key}`, which is deprecated since {since}{none}",
                subject.route(constraint, "topologyKey"),
                f"use `{now}`",
                severity=Severity.INFO if is_set else None,
                fix=corrections.with_key(subject, constraint, now),
            )


@rule("SPR603", "`topologyKey` has no prefix", Severity.INFO, is_opinion=True)
def private_key(subject: Subject) -> Iterator[RuleFinding]:
    """Find keys without a prefix that are not meant to be a label of Kubernetes."""
    for constraint in subject.constraints:
        key = constraint.topology_key
        if not key or "/" in key or topology_keys.is_reported(key, subject.facts):
            continue
        then = "cannot run on" if constraint.is_hard else "are not spread over"
        yield RuleFinding(
            f"the label `{key}` has no prefix, so neither Kubernetes nor its providers set it. The pods {then} nodes "
            "without it",
            subject.route(constraint, "topologyKey"),
            f"use a prefix of your own: example.com/{key}",
        )


@rule(
    "SPR606",
    "two constraints have the same `topologyKey`, and tools may merge them into one",
    Severity.INFO,
)
def merge_key_clash(subject: Subject) -> Iterator[RuleFinding]:
    """Find keys of both a hard and a soft constraint; twice the same is refused (SPR105).

    Not where one of the two is to be removed anyway (SPR211).
    """
    first: dict[str, TopologySpreadConstraint] = {}
    idle = {soft.position for soft, _ in shadowed_constraints(subject)}
    for constraint in subject.constraints:
        if constraint.position in idle:
            continue
        earlier = first.setdefault(constraint.topology_key, constraint)
        if earlier is constraint or not constraint.topology_key:
            continue
        if earlier.when_unsatisfiable != constraint.when_unsatisfiable:
            yield RuleFinding(
                f"kubectl apply, kubectl patch and kustomize take the two constraints over `{constraint.topology_key}` "
                "for one, so one of them may get lost",
                subject.route(constraint, "topologyKey"),
                "keep one of the two, or use kubectl apply --server-side",
                subject.related("the other constraint", subject.route(earlier, "topologyKey")),
            )


@rule(
    "SPR901",
    "no node that the pods may use has the label of a hard constraint",
    needs_facts=True,
)
def key_absent_everywhere(subject: Subject) -> Iterator[RuleFinding]:
    """Find hard constraints over labels that no usable node has; a misspelt label is another rule's."""
    if subject.cluster.gets_nodes(subject.workload):
        return
    for constraint, account in constraint_facts(subject):
        key = constraint.topology_key
        if not constraint.is_hard or lacks_nowhere(account) or topology_keys.is_reported(key, subject.facts):
            continue
        if account.nodes_with_key:
            others = count_noun(account.nodes_with_key, "node")
            nodes = none_of(account.candidates, " that the pods can use")
            only = f" (only {others} that they cannot use)"
            hint = "label the nodes that the pods can use, or let them use others"
        else:
            nodes, only, known = none_of(account.nodes), "", subject.cluster.node_keys
            alike = sorted(name for name in known if name.rpartition("/")[2] == key.rpartition("/")[2])
            hint = f"did you mean `{alike[0]}`?" if alike else did_you_mean(key, sorted(known)) or "label the nodes"
        yield RuleFinding(
            f"{nodes} has the label `{key}`{only}, so all pods stay Pending",
            subject.route(constraint, "topologyKey"),
            hint,
        )


@rule(
    "SPR902",
    "some nodes that the pods may use lack the label of a constraint",
    Severity.WARNING,
    needs_facts=True,
)
def key_absent_somewhere(subject: Subject) -> Iterator[RuleFinding]:
    """Find constraints over labels that some usable nodes lack; one finding for a group of nodes."""
    reported: set[str] = set()
    known = sorted(constraint_facts(subject), key=lambda item: not item[0].is_hard)
    for constraint, account in known:
        key = constraint.topology_key
        lacking = [name for name in account.without_key if name not in reported]
        if (
            not lacking
            or (constraint.is_hard and not lacks_nowhere(account))
            or topology_keys.is_reported(key, subject.facts)
        ):
            continue
        reported.update(lacking)
        then = "new pods never go to" if constraint.is_hard else "ScheduleAnyway constraints give no score to"
        lack = "lacks" if len(lacking) == 1 else "lack"
        message = (
            f"{none_of(account.candidates, ' that the pod can use')} has the label `{key}`, so the constraint has no "
            "effect"
            if len(account.without_key) == account.candidates
            else f"{len(lacking)} of {account.candidates} nodes that the pod can use {lack} the label `{key}`, so "
            f"{then} "
            f"{list_names(lacking)}"
        )
        yield RuleFinding(
            message + (_hidden(known, constraint) if constraint.is_hard else ""),
            subject.route(constraint, "topologyKey"),
            f"label the nodes: kubectl label node {lacking[0]} {key}=...",
        )


def _hidden(known: list[tuple[TopologySpreadConstraint, ConstraintFacts]], lacked: TopologySpreadConstraint) -> str:
    """Return which domains of other hard constraints do not count because of a missing label."""
    if sum(1 for constraint, account in known if constraint.is_hard and account.without_key) > 1:
        return ""
    text = ""
    for constraint, account in known:
        key, values = constraint.topology_key, [item.value for item in account.hidden_domains]
        if constraint.is_hard and key not in (lacked.topology_key, HOSTNAME) and values:
            does, noun = ("does", f"a {domain(key)}") if len(values) == 1 else ("do", domain(key, plural=True))
            text += f". Because of this, {list_names(values)} {does} not count as {noun}"
    return text


@rule(
    "SPR911",
    "nodes share a hostname, so a hard constraint counts them as one node",
    Severity.WARNING,
    needs_facts=True,
)
def shared_hostname(subject: Subject) -> Iterator[RuleFinding]:
    """Find hard constraints over the hostname where nodes that the pods may use share it; soft ones count by node."""
    for constraint, account in constraint_facts(subject):
        if not constraint.is_hard or not account.sharing:
            continue
        value, nodes = account.sharing[0]
        more = len(account.sharing) - 1
        others = f" ({more} more {'value is' if more == 1 else 'values are'} shared)" if more else ""
        yield RuleFinding(
            f"{list_names(nodes)} have the same `kubernetes.io/hostname`, `{value}`{others}, so together they get as "
            "many pods as one other node",
            subject.route(constraint, "topologyKey"),
            "give each machine its own hostname; a label corrected by hand lasts until the kubelet restarts",
        )
