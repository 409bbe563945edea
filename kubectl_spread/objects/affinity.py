"""Node affinity, pod affinity and pod anti-affinity.

Source: staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go;
pkg/scheduler/framework/types.go, AffinityTerm (v1.36.2).
"""

from __future__ import annotations

from typing import NamedTuple, Optional

from kubectl_spread.objects.selectors import key_errors, LabelRequirement, Labels, parse_int64, Selector, value_errors

_VALUE_COUNTS = {"In": "some", "NotIn": "some", "Exists": "none", "DoesNotExist": "none", "Gt": "one", "Lt": "one"}


class NodeSelectorTerm(NamedTuple):
    """Conditions on a node's labels and on `metadata.name`. A node must meet all of them."""

    match_expressions: tuple[LabelRequirement, ...] = ()
    match_fields: tuple[LabelRequirement, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.match_expressions and not self.match_fields

    @property
    def is_valid(self) -> bool:
        """Return whether the scheduler can parse it; a term it cannot parse matches no node."""
        return all(map(_is_valid_expression, self.match_expressions)) and all(
            field.operator in ("In", "NotIn") and len(field.values) == 1 for field in self.match_fields
        )

    def matches(self, labels: Labels, name: str) -> bool:
        """Return whether a node meets the term; without a name, conditions on `metadata.name` are ignored."""
        if self.is_empty or not self.is_valid:
            return False
        fields = {"metadata.name": name}
        return all(expression.matches(labels) for expression in self.match_expressions) and (
            not name or all(field.matches(fields) for field in self.match_fields)
        )


class PreferredTerm(NamedTuple):
    """A term that adds `weight` (1 to 100) to a node's raw score."""

    weight: int
    term: NodeSelectorTerm


class NodeAffinity(NamedTuple):
    """`spec.affinity.nodeAffinity`; `required` is None if the field is not set, and () matches no node."""

    required: Optional[tuple[NodeSelectorTerm, ...]] = None
    preferred: tuple[PreferredTerm, ...] = ()


class NodeRequirement(NamedTuple):
    """nodeSelector and required node affinity together (GetRequiredNodeAffinity)."""

    node_selector: tuple[tuple[str, str], ...]
    terms: Optional[tuple[NodeSelectorTerm, ...]]

    @property
    def is_empty(self) -> bool:
        return not self.node_selector and self.terms is None

    def matches(self, labels: Labels, name: str) -> bool:
        if any(labels.get(key) != value for key, value in self.node_selector):
            return False
        return self.terms is None or any(term.matches(labels, name) for term in self.terms)


class PodAffinityTerm(NamedTuple):
    """A required term; `selector` has the pod's matchLabelKeys and mismatchLabelKeys merged in.

    If `namespace_selector` is None, `namespaces` is never empty: without a list it holds the pod's own namespace.
    """

    topology_key: str
    selector: Selector
    namespaces: tuple[str, ...]
    namespace_selector: Optional[Selector] = None

    def matches(self, pod_namespace: str, pod_labels: Labels, namespace_labels: Labels) -> bool:
        selects_namespace = pod_namespace in self.namespaces or (
            self.namespace_selector is not None and self.namespace_selector.matches(namespace_labels)
        )
        return selects_namespace and self.selector.matches(pod_labels)


class WeightedTerm(NamedTuple):
    """A preferred term, which adds or takes `weight`."""

    weight: int
    term: PodAffinityTerm


def _is_valid_expression(requirement: LabelRequirement) -> bool:
    """Return whether the scheduler accepts a condition on labels.

    Source: pkg/labels/selector.go, NewRequirement.
    """
    wanted = _VALUE_COUNTS.get(requirement.operator)
    count = len(requirement.values)
    if wanted is None or (wanted == "some" and not count) or (wanted == "none" and count):
        return False
    if wanted == "one" and (count != 1 or parse_int64(requirement.values[0]) is None):
        return False
    return not key_errors(requirement.key) and not any(map(value_errors, requirement.values))
