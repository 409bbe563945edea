"""The facts of the first sentence as JSON: causes, claims, pods that come first, and where the scheduler disagrees."""

from __future__ import annotations

from typing import Any

from kubectl_spread.explain.claims import ClaimTrouble
from kubectl_spread.explain.explanation import Explanation
from kubectl_spread.explain.requirements.decisive import Cause


def document(explanation: Explanation) -> dict[str, Any]:
    """Return the fields of an Explanation that its `summary` is made of."""
    return {
        "causes": [_cause(item) for item in explanation.causes],
        "claims": [_claim(item) for item in explanation.claims],
        "assumed": [{"pod": key, "node": node} for key, node in explanation.assumed],
        "rivals": list(explanation.rivals),
        "refusedFor": [] if explanation.disagreement is None else _parts(explanation),
    }


def _parts(explanation: Explanation) -> list[dict[str, Any]]:
    found = explanation.disagreement
    parts = () if found is None else found.parts
    return [{"count": part.number, "reason": part.reason, "kind": part.kind.value} for part in parts]


def _cause(found: Cause) -> dict[str, Any]:
    return {
        "narrowedBy": [item.id for item in found.narrowing],
        "nodes": list(found.decisive),
        "refusedBy": [
            {"id": refusal.requirement.id, "nodes": list(refusal.nodes), "why": refusal.why}
            for refusal in found.refusals
        ],
    }


def _claim(trouble: ClaimTrouble) -> dict[str, Any]:
    event = trouble.event
    return {
        "problem": trouble.problem.value,
        "namespace": trouble.key.namespace,
        "name": trouble.key.name,
        "storageClass": trouble.storage_class,
        "provisioner": trouble.provisioner,
        "volume": trouble.volume,
        "selectedNode": trouble.selected_node,
        "event": None if event is None else {"reason": event.reason, "message": event.message, "last": event.last},
    }
