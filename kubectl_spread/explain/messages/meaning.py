"""The meaning of a message and of its parts, and the commands to run next.

The order of the scheduler's checks matters: a node is counted under the first check that refuses it
(pkg/scheduler/apis/config/v1/default_plugins.go): cordon, node name, taints, node affinity, ports, resources, volumes,
spread constraints, pod affinity, devices, features.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kubectl_spread.explain.messages import catalogue
from kubectl_spread.explain.messages.catalogue import (
    COMMANDS,
    Component,
    Form,
    FORMS,
    NODE_POOLS,
    OF_ONE,
    PROVISIONERS,
    ReasonKind,
    ROLES,
    UNNAMED,
    VERDICTS,
    without_space,
)
from kubectl_spread.explain.messages.parse import (
    Message,
    parse_all,
    Part,
    Preemption,
    seconds,
)
from kubectl_spread.objects import node as nodes
from kubectl_spread.objects.releases.behaviours import TAINT_REASON
from kubectl_spread.text.wording import count_noun

_WELL_KNOWN = {
    **{key: state for key, state in nodes.WELL_KNOWN.items() if not state.startswith("a ")},
    "node.kubernetes.io/unschedulable": "cordoned",
    "DeletionCandidateOfClusterAutoscaler": "about to be removed by the cluster autoscaler",
}
_NO_GROUP = (
    "The autoscaler adds no node and gives no reason, so it considered no node group that exists: it has found none "
    "(wrong tags or a wrong cluster name), autoscaling is off, or there are only groups yet to be created."
)
_ERA_OF_TAINTS = f"The message does not name the taint: none does from {TAINT_REASON.eras[-1].since.text} on."
_COUNTS = (
    "Each node is counted under the first check that refused it, and for each resource that it lacks: after a fix, the "
    "next check may refuse it."
)
_COUNTS_SEVERAL = "A node may be counted for several reasons, and after a fix, another check may refuse it."


def meaning(part: Part, *, of_groups: bool = False) -> str:
    """Return the meaning of a part. `of_groups`: the autoscaler counts node groups, not nodes."""
    is_spread_cut = part.kind is ReasonKind.SPREAD and part.is_cut
    text = (catalogue.SPREAD_CUT if is_spread_cut else part.kind.form.meaning).format_map(
        _words(part, of_groups=of_groups)
    )
    if part.kind is ReasonKind.TAINT:
        key = part.subject.strip("{} ").partition(":")[0].strip()
        if not part.subject and "untolerated" in part.reason:
            text += f" {_ERA_OF_TAINTS}"
        elif key in ROLES:
            text += f" {ROLES[key]}"
        elif key in _WELL_KNOWN:
            words = _words(part, of_groups=False)
            text += f" The taint says that {words['those']} {words['are']} {_WELL_KNOWN[key]}."
    if part.may_go_on:
        words = _words(part, of_groups=of_groups)
        text += (
            " The text ends without a full stop: if it is cut off, `(missing required label)` may follow, and "
            f"{words['they']} {words['do']} not have the topologyKey label."
        )
    if part.is_cut and part.kind is not ReasonKind.CUT and not is_spread_cut:
        text += " The text is cut off here."
    return text


def meaning_in_preemption(part: Part) -> str:
    """Return the meaning of a part of a preemption clause: the reasons that remain without the evicted pods."""
    if part.kind in (ReasonKind.NO_VICTIMS, ReasonKind.NOT_HELPFUL, ReasonKind.CUT):
        return meaning(part)
    words = _words(part, of_groups=False)
    return f"Without any pod of lower priority, {words['those']} would still refuse the pod."


def meaning_of_preemption(clause: Preemption) -> str:
    """Return the meaning of a clause without a list; empty if it has one, or unknown words."""
    said = without_space(clause.verdict)
    for word, text in VERDICTS.items():
        if word in said:
            return text
    if clause.parts or clause.verdict:
        return ""
    return "The text is cut off before the result of preemption." if clause.is_cut else "The clause gives no reason."


def meaning_of_words(words: str) -> str:
    """Return the meaning of the words before a preemption clause."""
    return VERDICTS.get(without_space(words), "")


def meaning_of_text(text: str) -> str:
    """Return the meaning of a whole text; empty if it is unknown. The last of several messages counts."""
    messages = parse_all(text)
    return meaning_of_whole(messages[-1]) if messages and messages[-1].form != "unknown" else ""


def meaning_of_whole(message: Message) -> str:
    """Return the meaning of a message as a whole; empty if its parts say everything."""
    if message.form == "unknown":
        return "This is not a known message of the scheduler, an autoscaler or the API server."
    if message.form == "notScaled" and message.is_cut:
        return "The autoscaler adds no node. The message counts node groups, not nodes."
    if message.form == "notScaled":
        limits = sum(part.kind in catalogue.OF_AUTOSCALER for part in message.parts)
        if not message.parts and "wouldn't fit" not in message.text:
            return _NO_GROUP
        if limits == 0:
            cause = "a new node of any group would refuse the pod"
        elif limits == len(message.parts):
            cause = "no node group can grow now"
        else:
            cause = "each node group either cannot grow now, or its new node would refuse the pod"
        return f"The autoscaler adds no node because {cause}. The message counts node groups, not nodes" + (
            ": the autoscaler runs the scheduler's checks on an empty node of each group." if limits == 0 else "."
        )
    if not message.is_of_nodes:
        return fill_template(_form(message).meaning, dict(message.details), of_provisioners=message.of_provisioners)
    if any(part.number is not None for part in message.parts):
        resources = (ReasonKind.RESOURCES, ReasonKind.TOO_MANY_PODS)
        numbers = [part.number or 0 for part in message.parts if part.kind not in resources]
        most = max((part.number or 0 for part in message.parts if part.kind in resources), default=0)
        is_once = message.total is not None and sum(numbers) + most <= message.total
        return _COUNTS if is_once else _COUNTS_SEVERAL
    if not message.parts:
        return ""
    if all(part.kind in catalogue.OF_POD for part in message.parts):
        return "The pod was refused before any node was considered."
    return "The message does not say how many nodes each reason applies to."


def past(messages: Sequence[Message]) -> list[Message]:
    """Return the messages of which the same pod has a later one of the same form."""
    events = sorted((item for item in messages if item.age and item.pod is not None), key=_ago, reverse=True)
    last = {(item.form, item.pod): item for item in events}
    return [item for item in events if _ago(item) > _ago(last[item.form, item.pod])]


def _ago(message: Message) -> float:
    return seconds(message.age)


def is_over(message: Message, end: Message) -> bool:
    """Return whether a later event says that a message holds no longer: the pod has a node, or its volume."""
    ended = _ENDED.get(end.form, ())
    is_same = not message.pod or (end.pod or "").endswith(message.pod.rpartition("/")[2])
    return (
        bool(message.age and end.age)
        and message.form != end.form
        and (message.component in ended or message.form in ended)
        and is_same
        and _ago(message) >= _ago(end)
    )


_ENDED: dict[str, tuple[object, ...]] = {
    "assigned": (Component.SCHEDULER, Component.CLUSTER_AUTOSCALER, Component.KARPENTER, Component.VOLCANO),
    "attached": ("multiAttach", "attachFailed"),
}


def cut_sentence(message: Message) -> str:
    """Return what the text of a message lacks; empty if it is complete, or cut off after its list of reasons."""
    clause = message.preemption
    if not message.is_cut or (clause is not None and clause.is_cut):
        return ""
    if not (message.is_of_nodes or message.form == "notScaled"):
        return "The text is cut off."
    if not message.parts:
        return "The text is cut off before its reasons."
    numbers = {False: 0, True: 0}
    for part in message.parts:
        numbers[part.kind is ReasonKind.CUT] += part.number or 0
    missing = numbers[True] if message.total is None else message.total - numbers[False]
    if missing <= 0 or any(part.number is None for part in message.parts):
        return "The text is cut off: it may lack reasons."
    nodes = count_noun(missing, "node group" if message.form == "notScaled" else "node")
    return f"The text is cut off: it gives no reason for at least {nodes}."


def inconsistency(message: Message) -> str:
    """Return why the numbers of a message cannot be right; empty if they can. A list may add up to more than its total.

    A node that lacks several resources is counted for each, but no reason holds for more nodes than there are.
    """
    if message.free:
        return (
            f"The scheduler writes such a list only if no node is available, and begins it with `0/`, not with "
            f"`{message.free}/`. Perhaps the text was changed."
        )
    clause = message.preemption
    lists = [(message.total, message.parts), *([] if clause is None else [(clause.total, clause.parts)])]
    for total, parts in lists:
        most = max((part.number for part in parts if part.number is not None), default=0)
        if message.is_of_nodes and total is not None and most > total:
            return (
                f"The numbers cannot be right: a reason is counted for {most} nodes, and the message is about {total}. "
                "Perhaps the text was changed, or two messages were joined."
            )
    return ""


def commands(message: Message) -> tuple[str, ...]:
    """Return the commands to run next, the most useful first."""
    parts = sorted(message.parts, key=lambda part: part.kind not in (ReasonKind.SPREAD, ReasonKind.SPREAD_LABEL))
    found = [command for part in parts for command in part.kind.form.commands]
    if message.is_of_nodes:
        found[:0] = [COMMANDS["EXPLAIN"], *([COMMANDS["WHOLE_MESSAGE"]] if message.is_cut else [])]
    if message.form == "notScaled" and not found:
        found.append(COMMANDS["AUTOSCALER"])
    found = [*dict.fromkeys(found)][:_MOST_COMMANDS]
    if message.form not in ("nodes", "notScaled", "unknown"):
        details = {"key": "KEY", **dict(message.details)}
        templates = _form(message).commands
        found = [fill_template(text, details, of_provisioners=message.of_provisioners) for text in templates]
    pod = _POD.fullmatch(message.pod or "")
    return tuple(
        text.replace("pod NAME", f"pod {pod[2]}").replace("-n NAMESPACE", f"-n {pod[1] or 'NAMESPACE'}")
        if pod
        else text
        for text in found
    )


_MOST_COMMANDS = 5
_POD = re.compile(r"(?:([a-z0-9-]{1,63})/)?([a-z0-9-]{1,253})")


def _form(message: Message) -> Form:
    return next(form for form in FORMS if (form.name, form.component) == (message.form, message.component))


def _words(part: Part, *, of_groups: bool) -> dict[str, str]:
    """Return the words for a part's nodes in a sentence about them."""
    one = part.number == 1
    noun = "node group" if of_groups else "node"
    number = "" if part.number is None else f" {part.number}"
    those = f"that {noun}" if one else f"those{number} {noun}s"
    groups = "one node group" if one else f"{part.number} node groups" if part.number is not None else "the node groups"
    return {
        "Those": those[0].upper() + those[1:],
        "those": those,
        "Groups": groups[0].upper() + groups[1:],
        "groups": groups,
        **(OF_ONE if one else dict(zip(OF_ONE, OF_ONE, strict=True))),
        "subject": part.subject or "...",
        "resource": part.subject or "of a resource",
        "named": f": {part.subject}" if part.subject else "",
        "reason": part.reason,
        "oldest": f"1.{catalogue.EVERY_MINOR.least}",
        "newest": f"1.{catalogue.EVERY_MINOR.most}",
    }


def fill_template(template: str, details: dict[str, str], *, of_provisioners: bool = False) -> str:
    """Fill a template with the details of a sentence; missing details get a general name.

    `{nodepool}` and similar names are what Karpenter called them then.
    """
    return template.format_map(_Details({**(PROVISIONERS if of_provisioners else NODE_POOLS), **details}))


class _Details(dict[str, str]):
    def __missing__(self, key: str) -> str:
        if key == "resource":  # `ec2nodeclasses` of EC2NodeClass
            kind = self["kind"].lower()
            return f"{kind}es" if kind.endswith("s") else f"{kind}s"
        return UNNAMED.get(key, "")
