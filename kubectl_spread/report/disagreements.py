"""What must be different in the cluster from what is known here, where the scheduler refuses a pod that fits."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.explain.explanation import Explanation

_CONFIGURED = "that is not known here: give it with --scheduler-config"
_SPREAD = ("spread", "spread-label-missing")
_BY_KIND = {
    "taint": "A node must have a taint or a cordon that the facts do not show.",
    "unschedulable": "A node must have a taint or a cordon that the facts do not show.",
    "node-condition": "A node must have a taint or a cordon that the facts do not show.",
    "scheduler-node-affinity": f"The scheduler's configuration must add a node affinity (addedAffinity) {_CONFIGURED}.",
    "node-affinity": "Nodes must have other labels than the facts show.",
    "resources": "There must be less room than the facts show: pods that they lack, or smaller nodes.",
    "too-many-pods": "There must be less room than the facts show: pods that they lack, or smaller nodes.",
    "ports": "Nodes must run pods that the facts lack.",
    "unknown": "A plugin of the scheduler that is not known here must have refused it.",
}
_OTHER = "The scheduler must see objects, or have a configuration, that the facts do not show."
_MOST = 2


def must_differ(explanation: Explanation) -> list[str]:
    """Return a sentence for each kind of reason that the facts do not explain, the first few."""
    found = explanation.disagreement
    kinds = () if found is None else tuple(part.kind.value for part in found.unexplained)
    return list(dict.fromkeys(_sentences(kinds, explanation)))[:_MOST]


def _sentences(kinds: tuple[str, ...], explanation: Explanation) -> Iterator[str]:
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
