"""The first sentence of an explanation: what happens to the pod, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kubectl_spread.explain.explanation import Explanation, IgnoredFields, PodVerdict
from kubectl_spread.objects.taints import OUTAGES
from kubectl_spread.report.explain.reasons.cause import cause, claim_words, constraint_words, short_key
from kubectl_spread.text.wording import comma_list, count_noun, safe

_MOST_NAMES = 6
_MOST_VICTIMS = 3
_MOST_FINALIZERS = 3

_CONFIGURED = "that is not known: name its file with --scheduler-config"
# Values of messages.message.ReasonKind: importing it compiles hundreds of regular expressions.
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
_MOST_SENTENCES = 2


def sentence(explanation: Explanation) -> str:
    """Return the verdict on one pod."""
    sentence = _SENTENCES.get(explanation.verdict, _pending)
    return f"Pod {safe(explanation.pod.key)} {sentence(explanation)}"


def _running(explanation: Explanation) -> str:
    pod = explanation.pod
    node = safe(pod.node_name)
    waits = " The scheduler is done with it; the kubelet has not started it yet." if _starts(pod.phase) else ""
    if not explanation.outage:
        return f"is bound to node {node}.{waits}{_in_vain(explanation)}{_broken_by_now(explanation)}"
    if waits:
        waits = f" The kubelet of {node} has to start it, and does not answer."
    return f"is bound to node {node}, which is {OUTAGES[explanation.outage]}.{waits}{_broken_by_now(explanation)}"


def _node_gone(explanation: Explanation) -> str:
    owner = explanation.pod.owner
    again = (
        "nothing creates it again" if owner is None else f"{safe(f'{owner.kind} {owner.name}')} then creates another"
    )
    return (
        f"is bound to node {safe(explanation.pod.node_name)}, which does not exist: no kubelet will run it. "
        f"The pod garbage collector deletes it; {again}."
    )


def _finished(explanation: Explanation) -> str:
    return f"has finished ({safe(explanation.pod.phase)}); the scheduler ignores it."


def _terminating(explanation: Explanation) -> str:
    pod = explanation.pod
    when = deletion_text(pod.deleted, pod.finalizers)
    if not pod.node_name:
        return f"has been terminating{when}, and the scheduler ignores terminating pods."
    return (
        f"is terminating on node {safe(pod.node_name)}{when}. Spread constraints no longer count it, "
        "but its resource requests stay reserved until it has ended."
    )


def _gated(explanation: Explanation) -> str:
    gates = comma_list(explanation.pod.cls.gates, most=_MOST_NAMES)
    return f"waits for its scheduling gates: {gates}. The scheduler ignores the pod until they are removed."


def _without_scheduler(explanation: Explanation) -> str:
    name = safe(explanation.pod.cls.scheduler_name)
    return f"waits for a scheduler named {name}, {_scheduler(explanation)}"


def _schedulable(explanation: Explanation) -> str:
    if explanation.assumed:
        first = comma_list((f"{key} is on {node}" for key, node in explanation.assumed), most=_MOST_VICTIMS)
        return f"can be scheduled once {first}: it then fits on {_fits(explanation)}."
    return f"can be scheduled: it fits on {_fits(explanation)}.{_in_vain(explanation)}"


def _waits_for_volume(explanation: Explanation) -> str:
    chosen = comma_list(dict.fromkeys(item.selected_node for item in explanation.claims), most=_MOST_VICTIMS)
    claims = "; ".join(claim_words(item) for item in explanation.claims[:_MOST_VICTIMS])
    noun = "its volume" if len(explanation.claims) == 1 else "its volumes"
    return f"waits for {noun}: the scheduler has chosen node {chosen}, and {claims}."


def _waits_for_preemption(explanation: Explanation) -> str:
    node, victims = safe(explanation.nominated_node), explanation.victims
    names = comma_list((victim.key + deletion_text("", victim.finalizers) for victim in victims), most=_MOST_VICTIMS)
    noun, has = ("pod", "has") if len(victims) == 1 else ("pods", "have")
    return (
        f"waits for {noun} {names} to end on node {node}. The scheduler evicted {'it' if has == 'has' else 'them'} "
        f"to make room, and the pod goes to {node} once {'it has' if has == 'has' else 'they have'} ended."
    )


def _contended(explanation: Explanation) -> str:
    rivals = comma_list(explanation.rivals, most=_MOST_VICTIMS)
    return (
        f"may stay Pending: it fits on {_fits(explanation)}, but the cluster does not have room for all Pending pods. "
        f"The outcome depends on the scheduler's order; it may place {rivals} first.{_last_turn(explanation)}"
    )


def _last_turn(explanation: Explanation) -> str:
    """Return the cause that keeps a pod Pending if its rivals come first."""
    last = explanation.last_turn
    return "" if last is None or last.verdict is not PodVerdict.PENDING else f" Then {cause(last)}."


def _refused_yet(explanation: Explanation) -> str:
    disagreement = explanation.disagreement
    if disagreement is None:
        return _pending(explanation)
    reasons = ", ".join(f"{part.number} {part.reason}" if part.number else part.reason for part in disagreement.parts)
    return (
        f"stays Pending: the scheduler refuses it on every node ({safe(reasons)}), although by the cluster facts it "
        f"fits on {_fits(explanation)}. {' '.join(_must_differ(explanation))}"
    )


def _pending(explanation: Explanation) -> str:
    preempting = explanation.preemption
    if preempting is not None and preempting.node:
        evicted = comma_list((victim.pod.key for victim in preempting.victims), most=_MOST_VICTIMS)
        waits = f"waits for preemption to evict {evicted} on {safe(preempting.node)}"
        return f"{waits}: until then, {cause(explanation)}."
    return f"stays Pending: {cause(explanation)}.{_assumed(explanation)}"


def _assumed(explanation: Explanation) -> str:
    if not explanation.assumed:
        return ""
    first = comma_list((f"{key} on {node}" for key, node in explanation.assumed), most=_MOST_VICTIMS)
    return f" Pending pods that the scheduler places first are counted: {first}."


def _in_vain(explanation: Explanation) -> str:
    """Return a sentence on the first own constraint that does not spread the pod; no event ever reports that."""
    for report in explanation.constraints:
        if report.is_default:
            continue
        words = constraint_words(report)
        if not report.self_match:
            return f" But {words} does not spread pods like this one: it does not count them."
        if report.constraint.is_hard and report.eligible_domains == 1 and len(report.domains) > 1:
            (only,) = (domain.value for domain in report.domains if domain.eligible)
            return f" But {words} spreads nothing: {safe(only) or chr(34) * 2} is the only domain that counts."
    return ""


def _broken_by_now(explanation: Explanation) -> str:
    """Return a sentence on the hard constraint that is violated most today; empty if all hold."""
    skews = explanation.bound_pod.skews if explanation.bound_pod is not None else ()
    broken = [skew for skew in skews if not skew.holds]
    if not broken:
        return ""
    worst = max(broken, key=lambda skew: skew.skew - skew.max_skew)
    own = "The cluster's default" if worst.is_default else "Its"
    short = short_key(worst.topology_key)
    name = safe(f"{own} {f'{short} ' if short else ''}constraint ({worst.topology_key}, maxSkew {worst.max_skew})")
    emptiest = f" {safe(worst.emptiest)}={worst.least}" if worst.emptiest else ""
    return (
        f" {name} is violated now: the skew is {worst.skew} ({safe(worst.fullest)}={worst.most}{emptiest}). "
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
    return what + (f"; is {safe(near[0])} meant?" if near else ".")


def deletion_text(deleted: str, finalizers: Sequence[str]) -> str:
    """Return the time of a pod's deletion and its finalizers: ` since 2026-01-01T10:00:00Z (finalizer x/y)`."""
    when = f" since {safe(deleted)}" if deleted else ""
    if not finalizers:
        return when
    noun = "finalizer" if len(finalizers) == 1 else "finalizers"
    return f"{when} ({noun} {comma_list(finalizers, most=_MOST_FINALIZERS)})"


def _starts(phase: str) -> bool:
    return phase == "Pending"


def _fits(explanation: Explanation) -> str:
    feasible = explanation.diagnosis.feasible
    return f"{count_noun(len(feasible), 'node')} ({comma_list(feasible, most=_MOST_NAMES)})"


def _by_the_other_rules(explanation: Explanation) -> str:
    if not explanation.diagnosis.feasible:
        return f"by all other rules {cause(explanation)}"
    return f"by all other rules it fits on {_fits(explanation)}"


def _in_future(explanation: Explanation) -> str:
    if explanation.diagnosis.feasible:
        return f"it fits on {_fits(explanation)}"
    return f"it stays Pending: {cause(explanation)}"


def ignored_sentence(ignored: IgnoredFields) -> str:
    """Return `ignored by 1.24: minDomains`."""
    return f"ignored by {ignored.version}: {', '.join(ignored.fields)}"


_SENTENCES: dict[PodVerdict, Callable[[Explanation], str]] = {
    PodVerdict.RUNNING: _running,
    PodVerdict.NODE_GONE: _node_gone,
    PodVerdict.FINISHED: _finished,
    PodVerdict.TERMINATING: _terminating,
    PodVerdict.GATED: _gated,
    PodVerdict.NO_SCHEDULER: _without_scheduler,
    PodVerdict.NOT_PREDICTABLE: lambda item: f"is not predictable: {_by_the_other_rules(item)}.",
    PodVerdict.NOT_CREATED: (
        lambda item: f"does not exist yet, so the scheduler has not seen it; once created, {_in_future(item)}."
    ),
    PodVerdict.SCHEDULABLE: _schedulable,
    PodVerdict.WAITS_FOR_VOLUME: _waits_for_volume,
    PodVerdict.WAITS_FOR_PREEMPTION: _waits_for_preemption,
    PodVerdict.CONTENDED: _contended,
    PodVerdict.REFUSED: _refused_yet,
}


def _must_differ(explanation: Explanation) -> list[str]:
    """Return a sentence for each kind of reason that the facts do not explain, the first few."""
    found = explanation.disagreement
    kinds = () if found is None else tuple(part.kind.value for part in found.unexplained)
    return list(dict.fromkeys(_differences(kinds, explanation)))[:_MOST_SENTENCES]


def _differences(kinds: tuple[str, ...], explanation: Explanation) -> Iterator[str]:
    for kind in sorted(kinds, key=lambda kind: kind not in _SPREAD):
        if kind not in _SPREAD:
            yield _BY_KIND.get(kind, _OTHER)
        elif any(constraint.is_hard for constraint in explanation.pod.cls.constraints):
            yield "It must count other pods or other domains than the facts show."
        else:
            own = "only soft constraints" if explanation.pod.cls.constraints else "no constraint"
            if explanation.pod.cls.constraints:
                yield f"The pod has {own}, so a hard constraint must have been added to it since."
            else:
                yield (
                    f"The pod has {own} of its own, so the scheduler's configuration must have a hard default "
                    f"constraint {_CONFIGURED}."
                )
