"""Rules about workloads and other objects, a module for each subject.

What the API server refuses is found where objects are read, in `lint.check_source`.
"""

from kubectl_spread.lint.rules import (  # noqa: F401 (each declares its rules)
    affinity,
    autoscalers,
    defaults,
    domains,
    match_label_keys,
    selectors,
    services,
    target,
    topology_keys,
    volumes,
    workloads,
)
