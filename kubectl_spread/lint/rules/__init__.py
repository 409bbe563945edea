"""Rules about workloads and other objects, a module for each subject.

What the API server refuses is found where objects are read, in `lint.check_source`.
"""

from kubectl_spread.lint.rules import (
    affinity,
    autoscalers,
    defaults,
    domains,
    match_label_keys,
    running,
    selectors,
    services,
    target,
    topology_keys,
    volumes,
    workloads,
)

__all__ = [
    "affinity",
    "autoscalers",
    "defaults",
    "domains",
    "match_label_keys",
    "running",
    "selectors",
    "services",
    "target",
    "topology_keys",
    "volumes",
    "workloads",
]
