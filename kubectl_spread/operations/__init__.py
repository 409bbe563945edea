"""The operations of the program as functions: check, fix, explain, simulate, rebalance, status, snapshot.

```python
from kubectl_spread import operations

result = operations.check_files(operations.CheckRequest(paths=("deploy/",), recursive=True))
```

Each function takes one request and returns one result, both named tuples. If there is no result it raises a
`kubectl_spread.errors.SpreadError`. Modules are loaded on first use, so importing this package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from kubectl_spread.operations.check import check_files as check_files
    from kubectl_spread.operations.check import CheckRequest as CheckRequest
    from kubectl_spread.operations.check import CheckResult as CheckResult
    from kubectl_spread.operations.check_cluster import check_workloads as check_workloads
    from kubectl_spread.operations.check_cluster import ClusterCheckRequest as ClusterCheckRequest
    from kubectl_spread.operations.cluster_facts import ClusterSource as ClusterSource
    from kubectl_spread.operations.cluster_facts import Notice as Notice
    from kubectl_spread.operations.explain import explain_pods as explain_pods
    from kubectl_spread.operations.explain import ExplainRequest as ExplainRequest
    from kubectl_spread.operations.explain import ExplainResult as ExplainResult
    from kubectl_spread.operations.fix import fix_files as fix_files
    from kubectl_spread.operations.fix import FixPreview as FixPreview
    from kubectl_spread.operations.fix import preview_fixes as preview_fixes
    from kubectl_spread.operations.guarantee import guarantee_policy as guarantee_policy
    from kubectl_spread.operations.guarantee import GuaranteeRequest as GuaranteeRequest
    from kubectl_spread.operations.guarantee import GuaranteeResult as GuaranteeResult
    from kubectl_spread.operations.rebalance import rebalance_workloads as rebalance_workloads
    from kubectl_spread.operations.rebalance import RebalanceRequest as RebalanceRequest
    from kubectl_spread.operations.rebalance import RebalanceResult as RebalanceResult
    from kubectl_spread.operations.rule_choice import RuleChoice as RuleChoice
    from kubectl_spread.operations.selection import ObjectName as ObjectName
    from kubectl_spread.operations.selection import Selection as Selection
    from kubectl_spread.operations.simulate import simulate_commands as simulate_commands
    from kubectl_spread.operations.simulate import SimulateRequest as SimulateRequest
    from kubectl_spread.operations.simulate import SimulateResult as SimulateResult
    from kubectl_spread.operations.snapshot import SnapshotRequest as SnapshotRequest
    from kubectl_spread.operations.snapshot import SnapshotResult as SnapshotResult
    from kubectl_spread.operations.snapshot import take_snapshot as take_snapshot
    from kubectl_spread.operations.snapshot import write_snapshot as write_snapshot
    from kubectl_spread.operations.status import StatusRequest as StatusRequest
    from kubectl_spread.operations.status import StatusResult as StatusResult
    from kubectl_spread.operations.status import workload_status as workload_status

_PUBLIC = {
    "check": ("CheckRequest", "CheckResult", "check_files"),
    "check_cluster": ("ClusterCheckRequest", "check_workloads"),
    "cluster_facts": ("ClusterSource", "Notice"),
    "explain": ("ExplainRequest", "ExplainResult", "explain_pods"),
    "fix": ("FixPreview", "fix_files", "preview_fixes"),
    "guarantee": ("GuaranteeRequest", "GuaranteeResult", "guarantee_policy"),
    "rule_choice": ("RuleChoice",),
    "selection": ("Selection", "ObjectName"),
    "rebalance": ("RebalanceRequest", "RebalanceResult", "rebalance_workloads"),
    "simulate": ("SimulateRequest", "SimulateResult", "simulate_commands"),
    "snapshot": ("SnapshotRequest", "SnapshotResult", "take_snapshot", "write_snapshot"),
    "status": ("StatusRequest", "StatusResult", "workload_status"),
}
_MODULES = {name: module for module, names in _PUBLIC.items() for name in names}


def __getattr__(name: str) -> Any:
    """Return a public name from the module that has it."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
