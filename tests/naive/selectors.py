"""Label selectors, node selectors and tolerations.

Source: staging/src/k8s.io/apimachinery/pkg/labels/selector.go, .../apis/meta/v1/helpers.go,
staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go,
staging/src/k8s.io/api/core/v1/toleration.go (v1.36.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Optional

Plain = dict[str, Any]

_INTEGER = re.compile(r"[+-]?[0-9]+\Z")
_NAME = re.compile(r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]\Z")


class ParseError(ValueError):
    """A requirement that cannot be built."""


class Requirement(NamedTuple):
    """One condition on a set of labels."""

    key: str
    operator: str
    values: tuple[str, ...]

    def matches(self, labels: Mapping[str, str]) -> bool:
        if self.operator == "In":
            return self.key in labels and labels[self.key] in self.values
        if self.operator == "NotIn":
            return self.key not in labels or labels[self.key] not in self.values
        if self.operator == "Exists":
            return self.key in labels
        if self.operator == "DoesNotExist":
            return self.key not in labels
        return self._compares(labels)

    def _compares(self, labels: Mapping[str, str]) -> bool:
        found = parse_int(labels.get(self.key, ""))
        wanted = parse_int(self.values[0])
        if found is None or wanted is None:
            return False
        return found > wanted if self.operator == "Gt" else found < wanted


class Selector(NamedTuple):
    """Requirements that are all to hold; `nothing` is the selector that matches no labels, and is not empty."""

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False

    def matches(self, labels: Mapping[str, str]) -> bool:
        if self.nothing:
            return False
        return all(requirement.matches(labels) for requirement in self.requirements)

    def empty(self) -> bool:
        return not self.nothing and not self.requirements

    def add(self, requirements: Iterable[Requirement]) -> Selector:
        """Narrow it down; nothing stays nothing."""
        return Selector(self.requirements + tuple(requirements), self.nothing)


NOTHING = Selector(nothing=True)


def parse_int(text: str) -> Optional[int]:
    """`strconv.ParseInt(text, 10, 64)`."""
    if not _INTEGER.match(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def new_requirement(key: str, operator: str, values: Iterable[str]) -> Requirement:
    """Build a requirement.

    Raises:
        ParseError: key, operator and values do not go together.
    """
    given = tuple(values)
    if operator in ("In", "NotIn"):
        valid = bool(given)
    elif operator in ("Exists", "DoesNotExist"):
        valid = not given
    elif operator in ("Gt", "Lt"):
        valid = len(given) == 1 and parse_int(given[0]) is not None
    else:
        valid = False
    if not valid or not _is_qualified_name(key) or not all(map(_is_label_value, given)):
        raise ParseError(f"{key} {operator} {given}")
    return Requirement(key, operator, given)


def _is_qualified_name(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    return len(name) <= 63 and bool(_NAME.match(name)) and (not slash or bool(prefix)) and "/" not in prefix


def _is_label_value(text: str) -> bool:
    return not text or (len(text) <= 63 and bool(_NAME.match(text)))


def label_selector_as_selector(selector: Optional[Plain]) -> Selector:
    """Parse a `LabelSelector`: none matches nothing, an empty one everything."""
    if selector is None:
        return NOTHING
    requirements = []
    for key, value in (selector.get("matchLabels") or {}).items():
        requirements.append(new_requirement(key, "In", [value]))
    for expression in selector.get("matchExpressions") or []:
        operator = expression["operator"]
        if operator in ("Gt", "Lt"):
            raise ParseError(operator)
        requirements.append(new_requirement(expression["key"], operator, expression.get("values") or []))
    return Selector(tuple(requirements))


def selector_from_set(labels: Mapping[str, str]) -> Selector:
    """`labels.SelectorFromSet`: equality, without validation."""
    return Selector(tuple(Requirement(key, "In", (value,)) for key, value in labels.items()))


class NodeSelectorTerm(NamedTuple):
    """A term of a node selector; `error` is set where it did not parse."""

    labels: tuple[Requirement, ...]
    fields: tuple[Requirement, ...]
    error: str

    def match(self, node: Plain) -> bool:
        """Whether it matches a node.

        Raises:
            ParseError: the term did not parse.
        """
        if self.error:
            raise ParseError(self.error)
        node_labels = node["metadata"].get("labels") or {}
        if not all(requirement.matches(node_labels) for requirement in self.labels):
            return False
        name = node["metadata"].get("name")
        # Upstream leaves fields out when there are none to compare with.
        return not name or all(requirement.matches({"metadata.name": name}) for requirement in self.fields)


def is_empty_node_selector_term(term: Plain) -> bool:
    return not term.get("matchExpressions") and not term.get("matchFields")


def new_node_selector_term(term: Plain) -> NodeSelectorTerm:
    try:
        labels = [
            new_requirement(expression["key"], expression["operator"], expression.get("values") or [])
            for expression in term.get("matchExpressions") or []
        ]
        fields = [_new_field(field) for field in term.get("matchFields") or []]
    except ParseError as error:
        return NodeSelectorTerm((), (), str(error))
    return NodeSelectorTerm(tuple(labels), tuple(fields), "")


def _new_field(field: Plain) -> Requirement:
    values = tuple(field.get("values") or ())
    if field["operator"] not in ("In", "NotIn") or len(values) != 1:
        raise ParseError(f"{field['key']} {field['operator']} {values}")
    return Requirement(field["key"], field["operator"], values)


def match_node_selector(selector: Plain, node: Plain) -> bool:
    """Whether any of its terms matches; one that is empty or does not parse matches nothing."""
    for term in selector.get("nodeSelectorTerms") or []:
        if is_empty_node_selector_term(term):
            continue
        try:
            if new_node_selector_term(term).match(node):
                return True
        except ParseError:
            continue
    return False


def match_required_node_affinity(pod: Plain, node: Plain) -> bool:
    """`GetRequiredNodeAffinity(pod).Match(node)`: the pod's nodeSelector and its required node affinity."""
    labels = node["metadata"].get("labels") or {}
    if not selector_from_set(pod["spec"].get("nodeSelector") or {}).matches(labels):
        return False
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required is None or match_node_selector(required, node)


def tolerates_taint(toleration: Plain, taint: Plain) -> bool:
    """`Toleration.ToleratesTaint`, with the comparison operators off, as they are by default."""
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint.get("key"):
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Equal":
        return (toleration.get("value") or "") == (taint.get("value") or "")
    return operator == "Exists"


def tolerations_tolerate_taint(tolerations: Iterable[Plain], taint: Plain) -> bool:
    return any(tolerates_taint(toleration, taint) for toleration in tolerations)


def find_matching_untolerated_taint(node: Plain, pod: Plain) -> Optional[Plain]:
    """The first taint that keeps the pod away, if any: NoSchedule or NoExecute, not tolerated."""
    tolerations = pod["spec"].get("tolerations") or []
    taints: list[Plain] = (node.get("spec") or {}).get("taints") or []
    for taint in taints:
        if taint.get("effect") not in ("NoSchedule", "NoExecute"):
            continue
        if not tolerations_tolerate_taint(tolerations, taint):
            return taint
    return None
