"""NodeAffinity (PreFilter, Filter): nodeSelector and required node affinity.

Source: pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go, PreFilter, Filter (v1.36.2).
"""

from __future__ import annotations

from typing import Optional
from typing import Union

import numpy as np

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.affinity import NodeSelectorTerm
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.framework.plugin import FilterState
from kubectl_spread.scheduler.framework.plugin import FixedState
from kubectl_spread.scheduler.framework.plugin import Rejection
from kubectl_spread.scheduler.framework.plugin import Skip
from kubectl_spread.scheduler.framework.status import Code
from kubectl_spread.scheduler.framework.status import Reason
from kubectl_spread.scheduler.plugins import names

REASONS = (Reason("node(s) didn't match Pod's node affinity/selector", Code.UNSCHEDULABLE_AND_UNRESOLVABLE),)
CONFLICT = "pod affinity terms conflict"


class NodeAffinity:
    name = names.NODE_AFFINITY

    def pre_filter(self, cls: PodClass, columns: Columns) -> Union[FilterState, Skip, Rejection]:
        requirement = cls.node_requirement
        if requirement.is_empty:
            return Skip()
        narrowed = _named_nodes(requirement.terms)
        if narrowed is not None and not narrowed:
            return Rejection(CONFLICT)
        misses = [not requirement.matches(node.labels, node.name) for node in columns.nodes]
        return FixedState(REASONS, np.array(misses, np.uint64), narrowed)


def _named_nodes(terms: Optional[tuple[NodeSelectorTerm, ...]]) -> Optional[frozenset[str]]:
    """The nodes that the terms name; None when a term names none, so that every node must be asked."""
    if not terms:
        return None
    named: frozenset[str] = frozenset()
    for term in terms:
        names_of_term: Optional[frozenset[str]] = None
        for field in term.match_fields:
            if field.key == "metadata.name" and field.operator == "In":
                values = frozenset(field.values)
                names_of_term = values if names_of_term is None else names_of_term & values
        if names_of_term is None:
            return None
        named |= names_of_term
    return named
