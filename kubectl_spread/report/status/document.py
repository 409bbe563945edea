"""The JSON document of `status`; its schema is schemas/status-report.json."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional

from kubectl_spread.cluster.snapshot import Unread
from kubectl_spread.errors import SourceError
from kubectl_spread.report.documents import (
    API_VERSION,
    error_documents,
    form,
    origin,
    Plain,
    to_document,
    unread_documents,
)
from kubectl_spread.report.explain.constraints import selector_text
from kubectl_spread.report.status.policy import document as policy_document
from kubectl_spread.simulate.running.policies import PolicyStatus
from kubectl_spread.simulate.running.status import ConstraintStatus, WorkloadStatus


def status_report(
    statuses: Iterable[WorkloadStatus],
    errors: Iterable[SourceError] = (),
    unread: Iterable[Unread] = (),
    policy: Optional[PolicyStatus] = None,
) -> Plain:
    """Return a StatusReport; `policy` is the state of a policy, if one is given."""
    return {
        "apiVersion": API_VERSION,
        "kind": "StatusReport",
        "workloads": [to_document(item) for item in statuses],
        "errors": error_documents(errors),
        "unread": unread_documents(unread),
        **({} if policy is None else {"policy": policy_document(policy)}),
    }


form(
    WorkloadStatus,
    "object=key replicas=wanted running terminating pending pendingSince? onMissingNodes=lost notCreated "
    "notCreatedBecause=uncreated.message constraints",
    pending=lambda status: [to_document(pod, "pod=name message since?=refused_since") for pod in status.pending],
    notCreated=lambda status: 0 if status.uncreated is None else status.uncreated.number,
)
form(
    ConstraintStatus,
    "index=position origin topologyKey maxSkew whenUnsatisfiable minDomains selector selfMatch globalMinimum domains "
    "skew status=state uncounted reason notBefore?",
    origin=origin,
    selector=lambda item: None if item.selector is None else selector_text(item.selector),
    uncounted=lambda item: [] if item.uncounted is None else item.uncounted.pods,
)
