"""The first sentence of an explanation: what happens to the pod, and why; and the conflicts behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Optional, TYPE_CHECKING

import numpy as np

from kubectl_spread.explain.constraint_report import ConstraintReport
from kubectl_spread.explain.explanation import ClaimProblem, ClaimTrouble, Explanation, IgnoredFields, PodVerdict
from kubectl_spread.explain.requirements.requirement import (
    Cause,
    Requirement,
    RequirementKind,
    selector_text,
    UnmetRequirement,
)
from kubectl_spread.objects.node import OUTAGES
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.selectors import DOMAIN_NOUNS, HOSTNAME
from kubectl_spread.report.table import Style, wrap
from kubectl_spread.report.wording import also_counted
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.text.wording import comma_list, count_noun, join_with_and, safe

if TYPE_CHECKING:  # only loaded if there are NodePools
    from kubectl_spread.provisioners.prospect import Outlook

_MOST_NAMES = 6
_MOST_FEW = 3
_MOST_REFUSALS = 4
_MOST_CONFLICTS = 5
_MOST_SENTENCES = 2
_BY_NAME = "metadata.name"  # the field by which a DaemonSet pins its pods


def sentence(explanation: Explanation, outlook: Optional[Outlook] = None) -> str:
    """Return the verdict on one pod; `outlook`: what Karpenter does about it, if it finds no node now."""
    which = "The next pod" if explanation.verdict is PodVerdict.NOT_CREATED else "Pod"
    who = f"A new pod of {explanation.pod.new_of}" if explanation.pod.new_of else f"{which} {explanation.pod.key}"
    return f"{safe(who)} {predicate(explanation, outlook)}"


def predicate(explanation: Explanation, outlook: Optional[Outlook] = None) -> str:
    """Return the verdict without the pod."""
    if outlook is None:
        return _SENTENCES.get(explanation.verdict, _pending)(explanation)
    from kubectl_spread.report import added_nodes  # loads `provisioners`

    stays = added_nodes.stays_pending(outlook)
    then = f"{'stays Pending' if stays else 'finds no node now'}. {added_nodes.summary(outlook)}"
    return f"{then} No node fits now: {cause(explanation)}.{_also_counted(explanation)}"


def _running(explanation: Explanation) -> str:
    node, is_starting = safe(explanation.pod.node_name), explanation.pod.phase == "Pending"
    state = f", which is {OUTAGES[explanation.outage]}" if explanation.outage else ""
    waits = " The scheduler is done with it; the kubelet has not started it yet." if is_starting else ""
    if state and is_starting:
        waits = f" The kubelet of {node} has to start it, and does not answer."
    in_vain = "" if state else _in_vain(explanation)
    return f"is bound to node {node}{state}.{waits}{in_vain}{_broken_by_now(explanation)}"


def _node_gone(explanation: Explanation) -> str:
    owner, node = explanation.pod.owner, safe(explanation.pod.node_name)
    then = "nothing creates it again" if owner is None else f"{safe(f'{owner.kind} {owner.name}')} then creates another"
    return (
        f"is bound to node {node}, which does not exist: no kubelet will run it. The pod garbage collector deletes it; "
        f"{then}."
    )


def _terminating(explanation: Explanation) -> str:
    ends = ending_text(explanation.pod, explanation.outage)
    if not explanation.pod.node_name:
        return f"{ends}, and the scheduler ignores terminating pods."
    return f"{ends}. Spread constraints no longer count it, but its resource requests stay reserved until it has ended."


def _schedulable(explanation: Explanation) -> str:
    if explanation.assumed:
        first = comma_list((f"{key} is on {node}" for key, node in explanation.assumed), most=_MOST_FEW)
        return f"can be scheduled once {first}: it then fits on {_fits(explanation)}."
    return f"can be scheduled: it fits on {_fits(explanation)}.{_also_counted(explanation)}{_in_vain(explanation)}"


def _waits_for_volume(explanation: Explanation) -> str:
    chosen = comma_list(dict.fromkeys(item.selected_node for item in explanation.claims), most=_MOST_FEW)
    claims = "; ".join(claim_words(item) for item in explanation.claims[:_MOST_FEW])
    noun = "its volume" if len(explanation.claims) == 1 else "its volumes"
    return f"waits for {noun}: the scheduler has chosen node {chosen}, and {claims}."


def _waits_for_preemption(explanation: Explanation) -> str:
    node, victims = safe(explanation.nominated_node), explanation.victims
    names = comma_list((victim.key + deletion_text("", victim.finalizers) for victim in victims), most=_MOST_FEW)
    noun, them, they_have = ("pod", "it", "it has") if len(victims) == 1 else ("pods", "them", "they have")
    return (
        f"waits for {noun} {names} to end on node {node}. The scheduler evicted {them} to make room, and the pod goes "
        f"to {node} once {they_have} ended."
    )


def _contended(explanation: Explanation) -> str:
    last = explanation.last_turn  # the cause that keeps it Pending if its rivals come first
    then = f" Then {cause(last)}." if last is not None and last.verdict is PodVerdict.PENDING else ""
    return (
        f"may stay Pending: it fits on {_fits(explanation)}, but the cluster does not have room for all Pending pods. "
        "The outcome depends on the scheduler's order; it may place "
        f"{comma_list(explanation.rivals, most=_MOST_FEW)} first.{then}"
    )


def _refused_by_scheduler(explanation: Explanation) -> str:
    """Return the scheduler's reasons, and a sentence for each kind of reason that the facts do not explain."""
    parts, unexplained = explanation.disagreement or ((), ())
    constraints = explanation.pod.cls.constraints
    spread = (
        "The pod has no constraint of its own, so the scheduler's configuration must have a hard default constraint "
        f"{_CONFIGURED}."
    )
    if constraints:
        spread = "The pod has only soft constraints, so a hard constraint must have been added to it since."
    if any(constraint.is_hard for constraint in constraints):
        spread = "It must count other pods or other domains than the facts show."
    words = {**_BY_KIND, **dict.fromkeys(_SPREAD, spread)}
    kinds = sorted((part.kind.value for part in unexplained), key=lambda kind: kind not in _SPREAD)
    sentences = dict.fromkeys(words.get(kind, _OTHER) for kind in kinds)
    reasons = safe(", ".join(f"{part.number} {part.reason}" if part.number else part.reason for part in parts))
    return (
        f"stays Pending: the scheduler refuses it on every node ({reasons}), although by the cluster facts it fits on "
        f"{_fits(explanation)}. {' '.join([*sentences][:_MOST_SENTENCES])}"
    )


def _pending(explanation: Explanation) -> str:
    preempting, never = explanation.preemption, ""
    if preempting is not None and preempting.node:
        evicted = comma_list((victim.pod.key for victim in preempting.victims), most=_MOST_FEW)
        where = f"{evicted} on {safe(preempting.node)}"
        never = f" It evicts no pod, because its preemptionPolicy is Never; else it would evict {where}."
    if preempting is not None and preempting.node and not preempting.not_eligible:
        waits = f"waits for preemption to evict {where}"
        if equals := preempting.equals:
            are = "is" if len(equals) == 1 else "are"
            waits += f", or pods on {comma_list(equals, most=_MOST_FEW)}, which {are} equal in every criterion"
        return f"{waits}: until then, {cause(explanation)}."
    first = comma_list((f"{key} on {node}" for key, node in explanation.assumed), most=_MOST_FEW)
    assumed = f" Pending pods that the scheduler places first are counted: {first}." if first else ""
    return f"stays Pending: {cause(explanation)}.{never}{_also_counted(explanation)}{assumed}{_in_vain(explanation)}"


def _also_counted(explanation: Explanation) -> str:
    """Return ` Pods of Deployment web-canary are counted, too.`, if a hard constraint counts them."""
    owners = dict.fromkeys(
        pods.owner
        for report in explanation.constraints
        if report.constraint.is_hard
        for domain in report.domains
        for pods in domain.pods
        if not pods.is_own and pods.owner is not None
    )
    return f" P{also_counted(list(owners))[1:]}." if owners else ""


def _in_vain(explanation: Explanation) -> str:
    """Return a sentence on the first own constraint that does not spread the pod; no event ever reports that."""
    named = {item.position for cause in explanation.causes for item in cause.narrowing}
    for report in explanation.constraints:
        if report.is_default or report.constraint.position in named:
            continue
        words = _constraint_words(report)
        if not report.self_match:
            wrong = (
                f" Correct its selector {safe(selector_text(report.selector))}." if report.selector.requirements else ""
            )
            return f" But {words} does not spread pods like this one: it does not count them.{wrong}"
        if report.constraint.is_hard and report.eligible_domains == 1 and len(report.domains) > 1:
            (only,) = (domain.value for domain in report.domains if domain.eligible)
            return f" But {words} spreads nothing: {safe(only) or chr(34) * 2} is the only domain that counts."
    return ""


def _broken_by_now(explanation: Explanation) -> str:
    """Return a sentence on the hard constraint that is violated most today; empty if all hold."""
    bound = explanation.bound_pod
    broken = [item for item in bound.skews if item.excess > 0] if bound is not None else []
    if not broken:
        return ""
    worst = max(broken, key=lambda item: item.excess)
    words, counts = _constraint_words(worst), worst.counts
    domains = f"{safe(counts.fullest)}={counts.most}"
    if counts.emptiest:
        domains += f" {safe(counts.emptiest)}={counts.minimum}"
    return (
        f" {words[0].upper()}{words[1:]} is violated now: the skew is {counts.skew} ({domains}). "
        "The scheduler checks it only when it places a pod, and running pods are not moved."
    )


def _scheduler(explanation: Explanation) -> str:
    pods, own = explanation.scheduler, explanation.pod.cls.scheduler_name
    what = "which is not a known scheduler profile"
    import difflib  # 3 ms

    near = difflib.get_close_matches(own, pods.known, 1)
    if pods.placed:
        what += f"; {count_noun(pods.placed, 'pod')} that use it are on nodes, so it existed"
    elif pods.waiting > 1:
        what += f"; none of the {pods.waiting} pods that use it has a node"
    if near:
        return f"{what}; is {safe(near[0])} meant?"
    return f"{what}."


def ending_text(pod: Pod, outage: str) -> str:
    """Return `is terminating on node n1 since 2026-01-01T10:00:00Z`, and when it ends if its node is down."""
    when, node = deletion_text(pod.deleted, pod.finalizers), safe(pod.node_name)
    if not node:
        return f"has been terminating{when}"
    down = f"; {node} is {OUTAGES[outage]}, and the pod ends once {node} is back or deleted" if outage else ""
    return f"is terminating on node {node}{when}{down}"


def deletion_text(deleted: str, finalizers: Sequence[str]) -> str:
    """Return the time of a pod's deletion and its finalizers: ` since 2026-01-01T10:00:00Z (finalizer x/y)`."""
    when = f" since {safe(deleted)}" if deleted else ""
    if not finalizers:
        return when
    noun = "finalizer" if len(finalizers) == 1 else "finalizers"
    return f"{when} ({noun} {comma_list(finalizers, most=_MOST_FEW)})"


def _fits(explanation: Explanation) -> str:
    feasible = explanation.diagnosis.feasible
    return f"{count_noun(len(feasible), 'node')} ({comma_list(feasible)})"


def _outcome(explanation: Explanation) -> str:
    return f"it fits on {_fits(explanation)}" if explanation.diagnosis.feasible else cause(explanation)


_SENTENCES: dict[PodVerdict, Callable[[Explanation], str]] = {
    PodVerdict.RUNNING: _running,
    PodVerdict.NODE_GONE: _node_gone,
    PodVerdict.FINISHED: lambda item: f"has finished ({safe(item.pod.phase)}); the scheduler ignores it.",
    PodVerdict.TERMINATING: _terminating,
    PodVerdict.GATED: lambda item: (
        f"waits for its scheduling gates: {comma_list(item.pod.cls.gates)}. The scheduler ignores "
        "the pod until they are removed."
    ),
    PodVerdict.NO_SCHEDULER: lambda item: (
        f"waits for a scheduler named {safe(item.pod.cls.scheduler_name)}, {_scheduler(item)}"
    ),
    PodVerdict.NOT_PREDICTABLE: lambda item: f"is not predictable: by all other rules {_outcome(item)}.",
    PodVerdict.NOT_CREATED: lambda item: (
        "does not exist yet, so the scheduler has not seen it; once created, "
        f"{'' if item.diagnosis.feasible else 'it stays Pending: '}{_outcome(item)}."
    ),
    PodVerdict.SCHEDULABLE: _schedulable,
    PodVerdict.WAITS_FOR_VOLUME: _waits_for_volume,
    PodVerdict.WAITS_FOR_PREEMPTION: _waits_for_preemption,
    PodVerdict.CONTENDED: _contended,
    PodVerdict.REFUSED: _refused_by_scheduler,
}

_CONFIGURED = "that is not known: name its file with --scheduler-config"
# Values of messages.catalogue.ReasonKind: importing it compiles hundreds of regular expressions.
_SPREAD = ("constraint", "constraintLabelMissing")
_UNSEEN_TAINT = "A node must have a taint or a cordon that the facts do not show."
_LESS_ROOM = "The nodes must have less free capacity than the facts show: there are more pods, or smaller nodes."
_BY_KIND = {
    "taint": _UNSEEN_TAINT,
    "cordon": _UNSEEN_TAINT,
    "nodeCondition": _UNSEEN_TAINT,
    "addedAffinity": f"The scheduler's configuration must add a node affinity (addedAffinity) {_CONFIGURED}.",
    "nodeAffinity": "Nodes must have other labels than the facts show.",
    "resource": _LESS_ROOM,
    "pods": _LESS_ROOM,
    "port": "Nodes must run pods that the facts lack.",
    "unknown": "A scheduler plugin that this program does not know must have refused it.",
}
_OTHER = "The scheduler must see objects, or have a configuration, that the facts do not show."


def ignored_sentence(ignored: IgnoredFields) -> str:
    """Return `ignored by 1.24: minDomains`."""
    return f"ignored by {ignored.version}: {', '.join(ignored.fields)}"


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
        if explanation.pod.cls.gates:
            return f"scheduling gates are not removed: {comma_list(explanation.pod.cls.gates)}"
        return safe(explanation.message) if diagnosis.feasible else "no node fits"
    first, *rest = explanation.causes
    text = _clause(first, explanation)
    second = _clause(rest[0], explanation) if rest else text
    return text if second == text else f"{text}. Without that, {second}"


def claim_words(trouble: ClaimTrouble) -> str:
    """Return `PersistentVolumeClaim d does not exist in namespace shop`, with the last event of the claim."""
    problem: object = trouble.problem
    if trouble.problem is ClaimProblem.NO_CLASS and not trouble.storage_class:
        problem = "no class is named"
    creator = trouble.provisioner or "the provisioner"
    predicate = _CLAIMS[problem].format(creator=creator, **trouble.key._asdict(), **trouble._asdict())
    if trouble.problem is ClaimProblem.NO_CLASS and trouble.storage_class and trouble.classes:
        predicate += (
            f" (the cluster has {comma_list(trouble.classes, most=_MOST_FEW)}): create the class, or the claim "
        )
        predicate += "again with another class"
    event = trouble.event
    event_text = "" if event is None else f" (its last event: {event.reason}: {event.message.rstrip('.')})"
    return safe(f"PersistentVolumeClaim {trouble.key.name} {predicate}{event_text}")


_CLAIMS: dict[object, str] = {
    ClaimProblem.MISSING: "does not exist in namespace {namespace}",
    ClaimProblem.NOT_CREATED: "of an ephemeral volume has not been created yet",
    ClaimProblem.FOREIGN: (
        "already exists without belonging to the pod, so its ephemeral volume {name} cannot be created"
    ),
    ClaimProblem.LOST: "has lost its volume {volume}",
    ClaimProblem.NO_VOLUME: "is bound to volume {volume}, which does not exist",
    ClaimProblem.DELETED: "is being deleted",
    ClaimProblem.NO_CLASS: "is not bound, and its StorageClass {storage_class} does not exist",
    "no class is named": "is not bound: it names no StorageClass, and no PersistentVolume is bound to it",
    ClaimProblem.UNBOUND: (
        "is not bound yet, and its StorageClass {storage_class} binds it before a node is chosen "
        "(volumeBindingMode Immediate)"
    ),
    ClaimProblem.BINDING: "is not bound completely to its volume {volume} yet",
    ClaimProblem.PROVISIONING: ("has no volume there yet; {creator} of StorageClass {storage_class} has to create it"),
}


def _constraint_words(item: ConstraintReport) -> str:
    """Return `the zone constraint (topology.kubernetes.io/zone, maxSkew 1)`."""
    key = item.constraint.topology_key or '""'
    own = "the cluster's default" if item.is_default else "the"
    short = f" {DOMAIN_NOUNS[key]}" if key in DOMAIN_NOUNS else ""
    return safe(f"{own}{short} constraint ({key}, maxSkew {item.constraint.max_skew})")


def _clause(found: Cause, explanation: Explanation) -> str:
    if not found.narrowing:
        return _refused(found, "every node", is_one=True).removeprefix(". ")
    reports: dict[Optional[int], ConstraintReport] = {
        item.constraint.position: item for item in explanation.constraints
    }
    first = reports.get(found.narrowing[0].position)
    if len(found.narrowing) == 1 and first is not None:
        return _by_constraint(first, found, explanation)
    if not found.decisive:
        allowed = (
            f"{_requirement_words(item, reports)} allows {remaining_nodes(item, explanation.node_names)}"
            for item in found.narrowing
        )
        return f"no node meets all of these: {'; '.join(allowed)}"
    parts = [_requirement_words(item, reports) for item in found.narrowing]
    where = comma_list(found.decisive, most=_MOST_FEW)
    left = f"{' and '.join(parts)} {'allows' if len(parts) == 1 else 'together allow'} only {where}"
    if len(parts) == 1 and found.narrowing[0].key == _BY_NAME:
        owner = explanation.pod.owner
        is_daemon = owner is not None and owner.kind == "DaemonSet"
        left = f"its {'DaemonSet created it for' if is_daemon else 'node affinity names only'} node {where}"
    return f"{left}{_refused(found, ', which')}"


def _requirement_words(item: Requirement, reports: Mapping[Optional[int], ConstraintReport]) -> str:
    report = None if item.position is None else reports.get(item.position)
    return safe(item.text) if report is None else _constraint_words(report)


def _refused(found: Cause, subject: str, *, is_one: bool = False) -> str:
    """Return what refuses all decisive nodes, and then what refuses some of them.

    `subject`: the words for all, which go on with a verb; `is_one`: in the singular, even if they are several.
    """
    total = len(found.decisive)
    of_all = [item for item in found.refusals if len(item.nodes) == total][:_MOST_REFUSALS]
    of_some = [item for item in found.refusals if len(item.nodes) < total][: max(1, _MOST_REFUSALS - len(of_all))]
    parts = [f"{subject} {_predicate(of_all, is_one=is_one or total == 1)}"] if of_all else []
    for item in of_some:
        where = comma_list(item.nodes, most=_MOST_FEW)
        parts.append(f"{where} {_predicate([item], is_one=len(item.nodes) == 1)}")
    more = len(found.refusals) - len(of_all) - len(of_some)
    parts += [f"and {count_noun(more, 'more reason')}"] if more else []
    return f"{'' if of_all else '. '}{'; '.join(parts)}"


def _predicate(refusals: Sequence[UnmetRequirement], *, is_one: bool) -> str:
    """Return `is cordoned and is refused by the cpu request (needs 2; n1 has 1 of 4 free)`."""
    parts, others = [], []
    for item in refusals:
        kind, text = item.requirement.kind, safe(item.requirement.text)
        if kind is RequirementKind.CORDON:
            parts.append("is cordoned" if is_one else "are cordoned")
        elif kind is RequirementKind.TAINT:
            parts.append(f"{'has' if is_one else 'have'} the untolerated {text}")
        else:
            by_name = kind is RequirementKind.NODE_SELECTOR and item.requirement.key == HOSTNAME
            is_evident = not item.why or by_name or kind is RequirementKind.NODE_NAME
            others.append(text if is_evident else f"{text} ({safe(item.why)})")
    if others:
        parts.append(f"{'is' if is_one else 'are'} refused by {' and by '.join(others)}")
    return join_with_and(parts)


def _by_constraint(report: ConstraintReport, found: Cause, explanation: Explanation) -> str:
    words, key = _constraint_words(report), report.constraint.topology_key or '""'
    wanted = f"the label {safe(key)}, which {words} asks for"
    if not report.domains:
        return f"no node has {wanted}"
    open_to = [domain for domain in report.domains if domain.fits and found.decisive]
    eligible = [domain for domain in open_to if domain.eligible]
    if eligible:  # What refuses the decisive nodes, those of other domains aside?
        aside = {name for domain in open_to if not domain.eligible for name in domain.node_names}
        kept = ((item, tuple(name for name in item.nodes if name not in aside)) for item in found.refusals)
        found = found._replace(
            decisive=tuple(name for name in found.decisive if name not in aside),
            refusals=tuple(item._replace(nodes=nodes) for item, nodes in kept if nodes),
        )
        open_to = eligible
    names = [safe(domain.value or '""') for domain in open_to]
    where = join_with_and(names) if len(names) <= _MOST_NAMES else comma_list(names)
    only = f"Its only node, {safe(found.decisive[0])}," if len(found.decisive) == 1 else "Every node there"
    others = [item.allowed for item in explanation.requirements if item.position != report.constraint.position]
    without_key = set(report.without_key)
    lacking = [  # These nodes would fit if they had the label.
        node
        for node, *allowed in zip(explanation.node_names, *others, strict=True)
        if all(allowed) and node in without_key
    ]
    verb = "lacks" if len(lacking) == 1 else "lack"
    if lacking and not report.eligible_domains:
        shared = tuple(item for item in found.refusals if len(item.nodes) == len(found.decisive))
        rest = _refused(found._replace(refusals=shared or found.refusals), "; every node that has it", is_one=True)
        return f"{comma_list(lacking, most=_MOST_FEW)} {verb} {wanted}{rest}"
    if not eligible:
        uncounted = (
            f". {where} {'does' if len(names) == 1 else 'do'} not count{_refused(found, f'. {only}', is_one=True)}"
        )
        return f"{words} allows no domain{_because_of_minimum(report)}{uncounted if open_to else ''}"
    if all(domain.node_names == (domain.value,) for domain in open_to):
        text = f"{words} allows only {where}{_refused(found, ', which')}"
    else:
        noun = DOMAIN_NOUNS.get(key, "domain")
        refused = _refused(found, f". {only}", is_one=True) if found.refusals else ". No node there fits"
        text = f"{words} allows only {noun if len(names) == 1 else f'{noun}s'} {where}{refused}"
    if not lacking:
        return text
    return f"{text}; {count_noun(len(lacking), 'node')} {verb} its label: {comma_list(lacking, most=_MOST_FEW)}"


def _because_of_minimum(report: ConstraintReport) -> str:
    if not report.eligible_domains:
        return ", because no domain is counted"
    if not report.counts.is_below_min_domains:
        return ""
    is_one = report.eligible_domains == 1
    return (
        f": there {'is' if is_one else 'are'} {count_noun(report.eligible_domains, 'domain')}, fewer than minDomains "
        f"{report.min_domains}, so the minimum counts as 0, and {'it' if is_one else 'each of them'} already has "
        f"{report.constraint.max_skew} or more matching pods"
    )


CONFLICTS = "Conflicts (each of these alone keeps the pod Pending):"


def conflict_lines(explanation: Explanation, style: Style) -> list[str]:
    """Return the sets of requirements that leave no node, with the nodes that each requirement leaves, and why."""
    out = wrap(CONFLICTS, style, hanging="  ")
    for number, conflict in enumerate(explanation.conflicts[:_MOST_CONFLICTS], 1):
        first = f"{number}."
        arithmetic = conflict.arithmetic or ("",) * len(conflict.requirements)
        for item, why in zip(conflict.requirements, arithmetic, strict=True):
            sentence = f"{safe(item.text)}: {remaining_nodes(item, explanation.node_names)} left"
            head, *others = wrap(sentence, style, indent="     ")
            out += [f"  {first:<3}{head[5:]}", *others]
            out += wrap(why, style, indent="       ")
            first = ""
    more = len(explanation.conflicts[_MOST_CONFLICTS:]) + explanation.more_conflicts
    rest = count_noun(more, "more conflict")
    if not explanation.conflicts_are_complete:
        return [*out, f"  and at least {rest}, as the search was stopped" if more else "  and others"]
    return [*out, f"  and {rest}"] if more else out


def remaining_nodes(requirement: Requirement, names: tuple[str, ...]) -> str:
    """Return `only n1, n2`: the nodes that meet a requirement."""
    left = np.flatnonzero(requirement.allowed).tolist()
    if not left:
        return "no node"
    if len(left) > _MOST_NAMES:
        return f"{len(left)} of {count_noun(len(names), 'node')}"
    return f"only {comma_list(names[at] for at in left)}"
