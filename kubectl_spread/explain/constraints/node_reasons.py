"""Why nodes are not counted, and why they cannot run a pod: a sentence for each group of nodes, not for each node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kubectl_spread.cluster.columns import Bools
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.columns import distinct
from kubectl_spread.cluster.columns import Int32s
from kubectl_spread.cluster.columns import Int64s
from kubectl_spread.explain.requirements.requirement import Requirement
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.taints import Taint
from kubectl_spread.scheduler.cycle import Filtered
from kubectl_spread.scheduler.cycle import Verdict
from kubectl_spread.scheduler.framework.status import status_of
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.common import Constraint
from kubectl_spread.scheduler.plugins.podtopologyspread.common import match_affinity

_MOST = 3  # reasons of one domain


class NodeReasons(NamedTuple):
    """A sentence for each node that needs one.

    codes: int64 (N,), index into `sentences`, -1 for a node that needs none.
    """

    codes: Int64s
    sentences: tuple[str, ...]

    @property
    def key(self) -> tuple[bytes, tuple[str, ...]]:
        """A value that is equal for equal reasons."""
        return self.codes.tobytes() if self.sentences else b"", self.sentences

    def of(self, at: int) -> str:
        """The sentence of one node, empty where it needs none."""
        code = int(self.codes[at])
        return self.sentences[code] if code >= 0 else ""

    def by_domain(self, domains: Int32s) -> dict[int, str]:
        """Of each domain the most frequent sentences of its nodes; domains: int32 (N,), -1 where there is none."""
        told = (self.codes >= 0) & (domains >= 0)
        if not told.any():
            return {}
        pairs, counts = np.unique(
            domains[told].astype(np.int64) * max(1, len(self.sentences)) + self.codes[told], return_counts=True
        )
        found: dict[int, list[tuple[int, int]]] = {}
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
            domain, code = divmod(pair, max(1, len(self.sentences)))
            found.setdefault(domain, []).append((-count, code))
        return {
            domain: "; ".join(self.sentences[code] for _, code in sorted(reasons)[:_MOST])
            for domain, reasons in found.items()
        }


class _Making:
    """Sentences in the order they are met."""

    def __init__(self, columns: Columns) -> None:
        self._codes: Int64s = np.full(columns.n, -1, np.int64)
        self._sentences: dict[str, int] = {}

    def say(self, sentence: str, mask: Bools) -> None:
        """Say something of nodes of which nothing was said; mask: bool (N,)."""
        fresh = mask & (self._codes < 0)
        if fresh.any():
            self._codes[fresh] = self._sentences.setdefault(sentence, len(self._sentences))

    def made(self) -> NodeReasons:
        return NodeReasons(self._codes, tuple(self._sentences))


def _first_untolerated(cls: PodClass, columns: Columns) -> dict[Taint, Bools]:
    """Nodes (bool (N,)) by their first taint that is not tolerated."""
    codes, taints = columns.tainted.first(cls.tolerations)
    return {taint: codes == at for at, taint in enumerate(taints)}


class Untold(NamedTuple):
    """What several constraints ask about one pod: worked out once.

    affinity: bool (N,), nodes that its node affinity and nodeSelector take. tainted: nodes by their first taint that
    is not tolerated.
    """

    affinity: Bools
    tainted: dict[Taint, Bools]


def untold(cls: PodClass, columns: Columns) -> Untold:
    """What decides whether nodes are counted."""
    return Untold(match_affinity(cls.node_requirement, columns), _first_untolerated(cls, columns))


def not_counted(constraint: Constraint, keys: tuple[str, ...], known: Untold, columns: Columns) -> NodeReasons:
    """Why a constraint does not count nodes; `keys` are those of all constraints of its action."""
    making = _Making(columns)
    if constraint.honors_affinity:
        making.say("nodeAffinityPolicy Honor: outside the pod's node affinity/selector", ~known.affinity)
    if constraint.honors_taints:
        for taint, mask in known.tainted.items():
            making.say(f"nodeTaintsPolicy Honor: untolerated taint {taint}", mask)
    for key in keys:
        making.say(f"lacks the label {key}", columns.topology(key).codes < 0)
    return making.made()


# Plugins of which a requirement says more than the reason does.
_NAMED = (
    names.NODE_AFFINITY,
    names.NODE_PORTS,
    names.VOLUME_RESTRICTIONS,
    names.VOLUME_BINDING,
    names.VOLUME_ZONE,
    names.INTER_POD_AFFINITY,
)


def not_usable(filtered: Filtered, known: Untold, *, refusing: Sequence[Requirement] = ()) -> NodeReasons:
    """Why nodes cannot run the pod whatever the spread: the first plugin that refuses each of them.

    `refusing`: the pod's requirements, where they are to be named, rather than the plugin's reason.
    """
    making = _Making(filtered.columns)
    for at, status in filtered.nominated.items():
        mask = np.zeros(filtered.columns.n, np.bool_)
        mask[at] = True
        for verdict in filtered.verdicts:
            mask &= verdict.bits == 0
        making.say(", ".join(status.reasons).replace("node(s) ", ""), mask)
    for verdict in filtered.verdicts:
        if verdict.plugin != names.POD_TOPOLOGY_SPREAD and verdict.bits.any():
            for requirement in refusing:
                if requirement.plugin == verdict.plugin and verdict.plugin in _NAMED:
                    making.say(requirement.text, ~requirement.allowed)
            _say(verdict, known, making)
    return making.made()


def _say(verdict: Verdict, known: Untold, making: _Making) -> None:
    """A plugin's own reasons, with the taint where it is one."""
    bits = verdict.bits
    if verdict.plugin == names.TAINT_TOLERATION:
        for taint, mask in known.tainted.items():
            making.say(f"untolerated taint {taint}", mask)
    elif verdict.plugin == names.NODE_UNSCHEDULABLE:
        making.say("cordoned", bits != 0)
    else:
        for value in distinct(bits[bits != 0]).tolist():
            reasons = status_of(verdict.plugin, verdict.state.reasons, value).reasons
            making.say(", ".join(reasons).replace("node(s) ", ""), bits == np.uint64(value))
