"""Labels, label selectors and affinity: their syntax in the API server's words, as written, and as requirements.

Source: staging/src/k8s.io/apimachinery/pkg/api/validate/content/kube.go, dns.go;
staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/helpers.go, LabelSelectorAsSelector; pkg/labels/selector.go,
LabelRequirement.Matches and Parse, but for `x > 1` and `x < 1` (v1.36.2). Affinity:
staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go;
pkg/scheduler/framework/types.go, AffinityTerm (v1.36.2).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, Optional

Labels = Mapping[str, str]

_AT_THE_ENDS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_BETWEEN = "".join(_AT_THE_ENDS) + "-_."
_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z"  # compiled on first use

_NAME_FORM = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE_FORM = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
    "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_SUBDOMAIN_FORM = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_KEY_FORM = f"a valid label key {_NAME_FORM} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"

ZONE = "topology.kubernetes.io/zone"
NODE_POOL = "karpenter.sh/nodepool"
REGION = "topology.kubernetes.io/region"
HOSTNAME = "kubernetes.io/hostname"
OS = "kubernetes.io/os"
CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")  # of labels and taints
NAMESPACE_NAME = "kubernetes.io/metadata.name"

LEGACY = {REGION: "failure-domain.beta.kubernetes.io/region", ZONE: "failure-domain.beta.kubernetes.io/zone"}
DOMAIN_NOUNS = {ZONE: "zone", REGION: "region", HOSTNAME: "node"}


def domain_noun(key: str, *, plural: bool = False, mark: str = "") -> str:
    """Return `zone`, `node` or `domain of rack` for the domains of a topology key; `mark` is around a key."""
    noun = f"{DOMAIN_NOUNS.get(key, 'domain')}{'s' if plural else ''}"
    return noun if key in DOMAIN_NOUNS else f"{noun} of {mark}{key}{mark}"


def zone_of(labels: Labels) -> tuple[str, ...]:
    """Return the region and the zone of a node; the legacy labels come first."""
    return tuple(labels.get(legacy, labels.get(key, "")) for key, legacy in LEGACY.items())


def key_errors(key: str) -> list[str]:
    """Return the errors of a label key, in order; empty if it is valid."""
    prefix, slash, name = key.partition("/")
    if "/" in name:
        return [_KEY_FORM]
    errors = []
    if not slash:
        name = prefix
    elif not prefix:
        errors.append("prefix part must be non-empty")
    else:
        errors += [f"prefix part {error}" for error in subdomain_errors(prefix)]
    if not name:
        errors.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        errors.append("name part must be no more than 63 bytes")
    if not _is_name(name):
        errors.append(f"name part {_NAME_FORM}")
    return errors


def value_errors(value: str) -> list[str]:
    """Return the errors of a label value, in order; empty if it is valid."""
    errors = []
    if len(value.encode()) > 63:
        errors.append("must be no more than 63 bytes")
    if value and not _is_name(value):
        errors.append(_VALUE_FORM)
    return errors


def _is_name(text: str) -> bool:
    """Return whether all characters of a text are allowed; at start-up this is faster than to compile a pattern."""
    return text[:1] in _AT_THE_ENDS and text[-1:] in _AT_THE_ENDS and not text.strip(_BETWEEN)


def subdomain_errors(text: str) -> list[str]:
    """Return the errors of an object's name, or of a label key's prefix, in order; empty if it is valid."""
    errors = []
    if len(text.encode()) > 253:
        errors.append("must be no more than 253 bytes")
    if re.match(_SUBDOMAIN, text) is None:
        errors.append(_SUBDOMAIN_FORM)
    return errors


_INT64_TEXT = r"[+-]?0*([0-9]{1,19})\Z"  # compiled on the first Gt or Lt


class LabelRequirement(NamedTuple):
    """One condition on one label. `operator` is one of In, NotIn, Exists, DoesNotExist, Gt, Lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Labels) -> bool:
        operator = self.operator
        if operator == "In":
            return labels.get(self.key) in self.values
        if operator == "NotIn":
            return self.key not in labels or labels[self.key] not in self.values
        if operator == "Exists":
            return self.key in labels
        if operator == "DoesNotExist":
            return self.key not in labels
        # Whether Gt or Lt holds: both sides must be base-10 int64
        have = parse_int64(labels.get(self.key, ""))
        want = parse_int64(self.values[0]) if self.values else None
        if have is None or want is None:
            return False
        return have > want if self.operator == "Gt" else have < want


class LabelSelector(NamedTuple):
    """A metav1.LabelSelector as written; `match_labels` sorted by key."""

    match_labels: tuple[tuple[str, str], ...] = ()
    match_expressions: tuple[LabelRequirement, ...] = ()

    def requirements(self) -> tuple[LabelRequirement, ...]:
        equalities = [LabelRequirement(key, "In", (value,)) for key, value in self.match_labels]
        return (*equalities, *self.match_expressions)


class Selector(NamedTuple):
    """A compiled selector: all requirements must hold; None selects nothing, () everything."""

    requirements: Optional[tuple[LabelRequirement, ...]]

    @property
    def is_empty(self) -> bool:
        """Return the "everything" selector, which PodTopologySpread counts as 0."""
        return self.requirements == ()

    def matches(self, labels: Labels) -> bool:
        if self.requirements is None:
            return False
        for requirement in self.requirements:  # perf: a third faster than all()  # noqa: SIM110
            if not requirement.matches(labels):
                return False
        return True

    def plus(self, *more: LabelRequirement) -> Selector:
        """Return this selector with further conditions; a selector that selects nothing stays unchanged."""
        if self.requirements is None or not more:
            return self
        return Selector((*self.requirements, *more))


NOTHING = Selector(None)
# The meaning of `{}` in releases in which it counts pods: every pod lacks this label, so NotIn holds.
EVERY_POD = Selector((LabelRequirement("", "NotIn"),))


def compile_selector(selector: Optional[LabelSelector]) -> Selector:
    """Return the selector the scheduler evaluates; without a selector, one that matches nothing."""
    return NOTHING if selector is None else Selector(selector.requirements())


def parse_int64(text: str) -> Optional[int]:
    """Return Go's ParseInt(text, 10, 64); None if it fails."""
    match = re.match(_INT64_TEXT, text)
    if match is None:
        return None
    number = -int(match[1]) if text[0] == "-" else int(match[1])
    return number if -(2**63) <= number < 2**63 else None


_TOKEN = re.compile(r"\s*(==|!=|=|!|,|\(|\)|[^\s=!,()]+)")
_OPERATORS = {"=": "In", "==": "In", "!=": "NotIn", "in": "In", "notin": "NotIn"}


class SelectorError(ValueError):
    """A text is not a label selector; `str()` says why."""


def parse(text: str) -> Selector:
    """Return the requirements of a selector; an empty text selects everything.

    Raises:
        SelectorError: it is not a selector.
    """
    reader = _Reader(text)
    found: list[LabelRequirement] = []
    while reader.peek():
        found.append(_requirement(reader))
        if reader.peek():
            reader.take(",")
            if not reader.peek():
                raise SelectorError(f"unable to parse requirement: found '', expected: identifier after ',': {text}")
    return Selector(tuple(found))


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _TOKEN.findall(text)
        if re.sub(r"\s", "", text) != "".join(self._tokens):
            raise SelectorError(f"unable to parse the selector: {text}")

    def peek(self) -> str:
        return self._tokens[0] if self._tokens else ""

    def next(self) -> str:
        if not self._tokens:
            raise SelectorError(f"unable to parse requirement: it ends too early: {self._text}")
        token: str = self._tokens.pop(0)
        return token

    def take(self, wanted: str) -> None:
        found = self.next()
        if found != wanted:
            raise SelectorError(f"unable to parse requirement: found '{found}', expected: '{wanted}'")


def _requirement(reader: _Reader) -> LabelRequirement:
    if reader.peek() == "!":
        reader.next()
        return LabelRequirement(_key(reader.next()), "DoesNotExist")
    key = _key(reader.next())
    operator = reader.peek()
    if operator in ("", ","):
        return LabelRequirement(key, "Exists")
    if operator not in _OPERATORS:
        raise SelectorError(f"unable to parse requirement: found '{operator}', expected: in, notin, =, ==, !=")
    reader.next()
    if operator in ("in", "notin"):
        return LabelRequirement(key, _OPERATORS[operator], _values(reader))
    value = "" if reader.peek() in ("", ",") else reader.next()
    return LabelRequirement(key, _OPERATORS[operator], (_value(value),))


def _values(reader: _Reader) -> tuple[str, ...]:
    reader.take("(")
    found: list[str] = []
    while reader.peek() != ")":
        found.append(_value("" if reader.peek() == "," else reader.next()))
        if reader.peek() != ")":
            reader.take(",")
    reader.take(")")
    if not found:
        raise SelectorError("unable to parse requirement: for 'in', 'notin' operators, values set can't be empty")
    return tuple(found)


def _key(text: str) -> str:
    return _valid(text, "key", key_errors(text))


def _value(text: str) -> str:
    return _valid(text, "values", value_errors(text))


def _valid(text: str, field: str, errors: list[str]) -> str:
    if errors:
        raise SelectorError(f'unable to parse requirement: {field}: Invalid value: "{text}": {errors[0]}')
    return text


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
