"""Words that messages of several rules share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from kubectl_spread.objects.node import NodeReason, NodeReasonKind
from kubectl_spread.objects.selectors import domain_noun, DOMAIN_NOUNS, HOSTNAME
from kubectl_spread.text.wording import first_of, join_with_and

_MOST_NAMES = 3


def list_names(names: Iterable[str]) -> str:
    """Return up to three names, and how many more there are."""
    listed = [f"`{name}`" if name else "the empty value" for name in names]
    return join_with_and(first_of(listed, _MOST_NAMES, lambda more: f"{more} more"))


def none_of(number: int, which: str = "") -> str:
    """Return `none of the 6 nodes`, with words that say which nodes; `no node` if there is only one."""
    return f"none of the {number} nodes{which}" if number > 1 else f"no node{which}"


def node_reasons(reasons: Iterable[NodeReason]) -> str:
    """Return why nodes are not counted or cannot run a pod: `untolerated taint a:NoSchedule; cordoned`."""
    return "; ".join(map(node_reason, reasons))


def node_reason(reason: NodeReason) -> str:
    """Return one reason, in the scheduler's words if it has any."""
    known = _NODE_REASONS.get(reason.kind)
    if known is not None:
        return known.format(key=reason.key, taint=reason.taint)
    return ", ".join(reason.words).replace("node(s) ", "")


_NODE_REASONS = {
    NodeReasonKind.OUTSIDE_AFFINITY: "nodeAffinityPolicy Honor: outside the pod's node affinity/selector",
    NodeReasonKind.HONORED_TAINT: "nodeTaintsPolicy Honor: untolerated taint {taint}",
    NodeReasonKind.MISSING_LABEL: "lacks the label {key}",
    NodeReasonKind.UNTOLERATED_TAINT: "untolerated taint {taint}",
    NodeReasonKind.CORDON: "cordoned",
    NodeReasonKind.NO_NODE_FITS: "the pod fits on none of its nodes",
    NodeReasonKind.REFUSED_BY_HARD_CONSTRAINT: "a hard constraint refuses its nodes, and only nodes that fit count",
}


def has_or_have(names: Sequence[str]) -> str:
    """Return the verb for so many domains."""
    return "has" if len(names) == 1 else "have"


def stays_or_stay(pods: int) -> str:
    """Return the verb of so many pods."""
    return "stays" if pods == 1 else "stay"


domain = partial(domain_noun, mark="`")


def in_domain(each: str, key: str) -> str:
    """Return `in each zone`, `on one node`, or ``in each domain of `rack` ``; `each` is the word before the noun."""
    return f"{'on' if key == HOSTNAME else 'in'} {each} {domain(key)}"


def domains(number: int, key: str) -> str:
    """Return `1 zone`, `2 nodes`, or ``2 domains of `rack` ``."""
    return f"{number} {domain(key, plural=number != 1)}"


def named_domains(key: str, values: list[str]) -> str:
    """Return `zone `c``, `nodes `a` and `b``, or ``domain `r1` of `rack` ``."""
    noun, of_key = DOMAIN_NOUNS.get(key, "domain"), "" if key in DOMAIN_NOUNS else f" of `{key}`"
    if values == [""]:
        return f"the {noun}{of_key} with an empty label value"
    return f"{noun}{'' if len(values) == 1 else 's'} {list_names(values)}{of_key}"
