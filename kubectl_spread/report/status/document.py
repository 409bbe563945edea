"""The JSON document of `status`; its schema is schemas/status-report.json."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Optional

from kubectl_spread.cluster.snapshot import Unread
from kubectl_spread.errors import SourceError
from kubectl_spread.report.documents import API_VERSION
from kubectl_spread.report.documents import document as unread_document
from kubectl_spread.report.explain.constraints import selector_text
from kubectl_spread.report.status.policy import document as policy_document
from kubectl_spread.simulate.running.policies import PolicyStatus
from kubectl_spread.simulate.running.status import ConstraintStatus, WorkloadStatus


def status_report(
    statuses: Iterable[WorkloadStatus],
    errors: Iterable[SourceError] = (),
    unread: Iterable[Unread] = (),
    policy: Optional[PolicyStatus] = None,
) -> dict[str, Any]:
    """Return a StatusReport; `policy` is the state of a policy, if one is given."""
    return {
        "apiVersion": API_VERSION,
        "kind": "StatusReport",
        "workloads": [_workload(item) for item in statuses],
        "errors": [
            {"file": error.source, "message": error.message, "line": error.line, "column": error.column}
            for error in errors
        ],
        "unread": unread_document(unread),
        **({} if policy is None else {"policy": policy_document(policy)}),
    }


def _workload(status: WorkloadStatus) -> dict[str, Any]:
    return {
        "object": status.key._asdict(),
        "replicas": status.wanted,
        "running": status.running,
        "terminating": status.terminating,
        "pending": [
            {"pod": pod.name, "message": pod.message, "since": pod.refused_since or None} for pod in status.pending
        ],
        "pendingSince": status.pending_since or None,
        "onMissingNodes": list(status.lost),
        "notCreated": 0 if status.uncreated is None else status.uncreated.number,
        "notCreatedBecause": None if status.uncreated is None else status.uncreated.message,
        "constraints": [_constraint(item) for item in status.constraints],
    }


def _constraint(item: ConstraintStatus) -> dict[str, Any]:
    return {
        "index": item.position,
        "origin": "scheduler" if item.is_default else "pod",
        "topologyKey": item.topology_key,
        "maxSkew": item.max_skew,
        "whenUnsatisfiable": item.when_unsatisfiable,
        "minDomains": item.min_domains,
        "selector": None if item.selector is None else selector_text(item.selector),
        "selfMatch": item.self_match,
        "globalMinimum": item.global_minimum,
        "domains": [domain._asdict() for domain in item.domains],
        "skew": item.skew,
        "status": item.state.value,
        "uncounted": [] if item.uncounted is None else list(item.uncounted.pods),
        "reason": item.reason,
        "notBefore": item.not_before or None,
    }
