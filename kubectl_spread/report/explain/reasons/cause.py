"""The clause that says why no node fits: the decisive nodes, and every reason that refuses them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from kubectl_spread.explain.constraints.report import ConstraintReport, DomainReport
from kubectl_spread.explain.explanation import ClaimProblem, ClaimTrouble, Explanation
from kubectl_spread.explain.requirements.decisive import Cause, UnmetRequirement
from kubectl_spread.explain.requirements.requirement import Requirement, RequirementKind
from kubectl_spread.objects.selectors.labels import HOSTNAME, REGION, ZONE
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.text.wording import comma_list, count_noun, join_with_and, safe

_MOST_NAMES = 6
_MOST_FEW = 3
_MOST_REFUSALS = 4
_BY_NAME = "metadata.name"  # the field by which a DaemonSet pins its pods

# Requirements whose name is already the reason.
_SELF_EVIDENT = (RequirementKind.CORDON, RequirementKind.TAINT, RequirementKind.NODE_NAME)
_SHORT = {ZONE: "zone", HOSTNAME: "node", REGION: "region"}


def cause(explanation: Explanation) -> str:
    """Return why no node fits, from the smallest set of requirements that leaves none."""
    diagnosis = explanation.diagnosis
    if not diagnosis.node_count:
        return "the cluster has no nodes"
    if explanation.claims and diagnosis.pre_filter_message:
        return "; ".join(claim_words(item) for item in explanation.claims[:_MOST_FEW])
    if diagnosis.pre_filter_plugin == names.NODE_AFFINITY:
        return "the terms of its node affinity name different nodes, so no node can match"
    if diagnosis.pre_filter_message:
        return f"it is rejected before any node is considered: {safe(diagnosis.pre_filter_message)}"
    if not explanation.causes:
        return safe(explanation.message) if diagnosis.feasible else "no node fits"
    first, *rest = explanation.causes
    text = _clause(first, explanation)
    return f"{text}. Without that, {_clause(rest[0], explanation)}" if rest else text


def claim_words(trouble: ClaimTrouble) -> str:
    """Return `PersistentVolumeClaim d does not exist in namespace shop`, with the last event of the claim."""
    name = f"PersistentVolumeClaim {trouble.key.name}"
    event = trouble.event
    event_text = "" if event is None else f" (its last event: {event.reason}: {event.message.rstrip('.')})"
    return safe(f"{name} {_claim_predicate(trouble)}{event_text}")


def _claim_predicate(trouble: ClaimTrouble) -> str:
    name, storage_class = trouble.key.name, trouble.storage_class
    if trouble.problem is ClaimProblem.NO_CLASS:
        if storage_class:
            return f"is not bound, and its StorageClass {storage_class} does not exist"
        return "is not bound: it names no StorageClass, and no PersistentVolume is bound to it"
    if trouble.problem is ClaimProblem.PROVISIONING:
        creator = trouble.provisioner or "the provisioner"
        return f"has no volume there yet; {creator} of StorageClass {storage_class} has to create it"
    return {
        ClaimProblem.MISSING: f"does not exist in namespace {trouble.key.namespace}",
        ClaimProblem.NOT_CREATED: "of an ephemeral volume has not been created yet",
        ClaimProblem.FOREIGN: (
            f"already exists without belonging to the pod, so its ephemeral volume {name} cannot be created"
        ),
        ClaimProblem.LOST: f"has lost its volume {trouble.volume}",
        ClaimProblem.NO_VOLUME: f"is bound to volume {trouble.volume}, which does not exist",
        ClaimProblem.DELETED: "is being deleted",
        ClaimProblem.UNBOUND: f"is not bound yet, and its StorageClass {storage_class} binds it before a node is "
        "chosen (volumeBindingMode Immediate)",
        ClaimProblem.BINDING: f"is not bound completely to its volume {trouble.volume} yet",
    }[trouble.problem]


def constraint_words(report: ConstraintReport) -> str:
    """Return `its zone constraint (topology.kubernetes.io/zone, maxSkew 1)`."""
    key = report.constraint.topology_key
    short = _SHORT.get(key)
    own = "the cluster's default" if report.is_default else "its"
    name = f"{own} {short} constraint ({key}," if short else f"{own} constraint ({key},"
    return safe(f"{name} maxSkew {report.constraint.max_skew})")


def short_key(key: str) -> str:
    """Return `zone`, `node` or `region`; empty for other topology keys."""
    return _SHORT.get(key, "")


def _clause(found: Cause, explanation: Explanation) -> str:
    if not found.narrowing:
        return f"every node is refused by {_reasons(found, is_alone=True)}"
    if len(found.narrowing) == 1 and found.narrowing[0].position is not None:
        report = _report(found.narrowing[0], explanation)
        if report is not None:
            return _by_constraint(report, found)
    if not found.decisive:
        return _contradiction(found, explanation)
    parts = [safe(item.text) for item in found.narrowing]
    verb = "leaves" if len(parts) == 1 else "leave"
    where = comma_list(found.decisive, most=_MOST_FEW)
    left = f"{' and '.join(parts)} {verb} only {where}"
    if len(parts) == 1 and found.narrowing[0].key == _BY_NAME:
        owner = explanation.pod.owner
        is_daemon = owner is not None and owner.kind == "DaemonSet"
        left = (
            f"its DaemonSet created it for node {where}" if is_daemon else f"its node affinity names only node {where}"
        )
    return f"{left}, {_refused(found, which=True)}"


def _report(requirement: Requirement, explanation: Explanation) -> Optional[ConstraintReport]:
    reports = {report.constraint.position: report for report in explanation.constraints}
    return reports.get(requirement.position or 0)


def _contradiction(found: Cause, explanation: Explanation) -> str:
    parts = []
    for item in found.narrowing:
        left = [name for name, fits in zip(explanation.node_names, item.allowed.tolist(), strict=True) if fits]
        parts.append(f"{safe(item.text)} leaves {f'only {comma_list(left, most=_MOST_FEW)}' if left else 'no node'}")
    return f"no node meets all of these: {'; '.join(parts)}"


def _refused(found: Cause, *, which: bool) -> str:
    """Return `which is refused by A (why) and by B`, or `and there every node is refused by ...`."""
    if which:
        verb = "is" if len(found.decisive) == 1 else "are"
        return f"which {verb} refused by {_reasons(found)}"
    return f"and there every node is refused by {_reasons(found)}"


def _reasons(found: Cause, *, is_alone: bool = False) -> str:
    """Return every reason: `A (why) and by B (why)`. Add the number of nodes if it does not refuse all."""
    if is_alone and len(found.refusals) == 1:
        (only,) = found.refusals
        return f"{safe(only.requirement.text)}{f': {safe(only.why)}' if only.why else ''}"
    everywhere = [item for item in found.refusals if len(item.nodes) == len(found.decisive)]
    somewhere = [item for item in found.refusals if len(item.nodes) < len(found.decisive)]
    if not everywhere:
        return _several(somewhere)
    names = [_with_numbers(item) for item in everywhere[:_MOST_REFUSALS]]
    left = max(1, _MOST_REFUSALS - len(names))
    names += [f"{_with_numbers(item)} on {comma_list(item.nodes, most=_MOST_FEW)}" for item in somewhere[:left]]
    more = len(found.refusals) - len(names)
    return " and by ".join(names) + (f" and for {count_noun(more, 'more reason')}" if more else "")


def _several(refusals: Sequence[UnmetRequirement]) -> str:
    """Return reasons that refuse different nodes: `taint a:NoSchedule, taint b:NoSchedule`."""
    more = len(refusals) - _MOST_REFUSALS
    names = ", ".join(_with_numbers(item) for item in refusals[:_MOST_REFUSALS])
    return names + (f" and {count_noun(more, 'more reason')}" if more > 0 else "")


def _with_numbers(refusal: UnmetRequirement) -> str:
    """Return `the cpu request (needs 2; n1 has 1 of 4 free)`, with the reason unless the name contains it."""
    item = refusal.requirement
    is_evident = item.kind in _SELF_EVIDENT
    return safe(item.text) + (f" ({safe(refusal.why)})" if refusal.why and not is_evident else "")


def _by_constraint(report: ConstraintReport, found: Cause) -> str:
    words = constraint_words(report)
    if not report.domains:
        return f"no node has the label {safe(report.constraint.topology_key)}, which {words} asks for"
    open_to = [domain for domain in report.domains if domain.fits and found.decisive]
    if not any(domain.eligible for domain in open_to):
        return f"{words} lets it into no domain{_because_of_minimum(report)}{_uncounted(open_to, found)}"
    return f"{words} {_only(open_to, found)}{_without_key(report)}"


def _uncounted(open_to: Sequence[DomainReport], found: Cause) -> str:
    """Return `. c does not count, and its only node c1 is refused by taint x` for domains that do not count."""
    if not open_to:
        return ""
    where = _domains(open_to)
    verb, whose = ("does", "its") if len(open_to) == 1 else ("do", "their")
    only = f"only node {safe(found.decisive[0])} is" if len(found.decisive) == 1 else "nodes are"
    return f". {where} {verb} not count, and {whose} {only} refused by {_reasons(found)}"


def _without_key(report: ConstraintReport) -> str:
    """Return the nodes that would fit if they had the label; the constraint does not count them."""
    if not report.without_key:
        return ""
    names = comma_list(report.without_key, most=_MOST_FEW)
    verb = "lacks" if len(report.without_key) == 1 else "lack"
    return f"; {count_noun(len(report.without_key), 'node')} {verb} its label: {names}"


def _domains(found: Sequence[DomainReport]) -> str:
    """Return the names of a few domains, or the first ones and how many more there are."""
    names = [domain.value or '""' for domain in found]
    return (
        join_with_and([safe(name) for name in names])
        if len(names) <= _MOST_NAMES
        else comma_list(names, most=_MOST_NAMES)
    )


def _only(open_to: Sequence[DomainReport], found: Cause) -> str:
    """Return `lets it only into c, whose only node c1 is refused by a cordon`."""
    where = _domains(open_to)
    if not found.refusals:
        return f"lets it only into {where}, and the nodes there do not fit"
    if all(domain.node_names == (domain.value,) for domain in open_to):
        return f"lets it only onto {where}, {_refused(found, which=True)}"
    if len(open_to) == 1 and open_to[0].nodes == 1:
        only = safe(open_to[0].node_names[0])
        return f"lets it only into {where}, whose only node {only} is refused by {_reasons(found)}"
    return f"lets it only into {where}, {_refused(found, which=False)}"


def _because_of_minimum(report: ConstraintReport) -> str:
    if report.is_below_min_domains:
        have = count_noun(report.eligible_domains, "domain")
        is_one = report.eligible_domains == 1
        return (
            f": there {'is' if is_one else 'are'} {have}, fewer than minDomains {report.min_domains}, so the minimum "
            f"counts as 0, and {'it' if is_one else 'each of them'} has {report.constraint.max_skew} or more"
        )
    return "" if report.eligible_domains else ", because no domain is counted"
