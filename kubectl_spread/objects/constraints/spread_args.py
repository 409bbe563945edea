"""Errors of a KubeSchedulerConfiguration, in kube-scheduler's words: of any field, and of PodTopologySpread's args.

Source: staging/src/k8s.io/apimachinery/pkg/util/validation/field/errors.go;
pkg/scheduler/apis/config/validation/validation_pluginargs.go (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple

from kubectl_spread.objects.constraints.constraint import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import mappings, Plain
from kubectl_spread.objects.selectors import key_errors
from kubectl_spread.text.node import Route


class LocatedError(NamedTuple):
    """An error and its place."""

    route: Route
    message: str


class FieldPlace(NamedTuple):
    """A field: its place in the file, and the number of leading steps that the scheduler's path leaves out."""

    route: Route
    hidden: int = 0

    def child(self, *steps: Any) -> FieldPlace:
        return self._replace(route=(*self.route, *steps))

    def problem(self, kind: str, detail: str = "", *, path: str = "") -> LocatedError:
        text = f"{path or decode.path_text(self.route[self.hidden :])}: {kind}"
        return LocatedError(self.route, f"{text}: {detail}" if detail else text)

    def invalid(self, value: Any, detail: str, *, path: str = "") -> LocatedError:
        written = decode.go_value(value) if value is not None else "null"
        return self.problem(f"Invalid value: {written}", detail, path=path)

    def unsupported(self, value: str, known: tuple[str, ...]) -> LocatedError:
        values = ", ".join(map(decode.go_quote, known))
        return self.problem(f"Unsupported value: {decode.go_quote(value)}", f"supported values: {values}")

    def duplicate(self, value: str) -> LocatedError:
        return self.problem(f"Duplicate value: {decode.go_quote(value)}")

    def label_key(self, key: str) -> Iterator[LocatedError]:
        """Yield the errors of a label key at this place."""
        for detail in key_errors(key):
            yield self.invalid(key, detail)


SYSTEM, LIST = "System", "List"

SHAPE = decode.types(
    "PodTopologySpreadArgs!: apiVersion, kind, defaultingType string; defaultConstraints []TopologySpreadConstraint",
    decode.TYPES,
)["PodTopologySpreadArgs"]


class SpreadArgsRule(Enum):
    """The rule that an error broke; the value is the code of its finding."""

    DEFAULT_HAS_SELECTOR = "SPR801"
    SYSTEM_WITH_CONSTRAINTS = "SPR802"
    DEFAULT_INVALID = "SPR804"


ArgsError = tuple[SpreadArgsRule, LocatedError]  # the rule that the error broke


def errors(args: Plain, here: FieldPlace) -> Iterator[ArgsError]:
    """Yield the errors that stop the scheduler, in the order of its checks, for args that decode."""
    kind, constraints = args.get("defaultingType") or SYSTEM, mappings(args.get("defaultConstraints"))
    field = here.child("defaultingType")
    if kind not in (SYSTEM, LIST):
        yield (SpreadArgsRule.DEFAULT_INVALID, field.unsupported(kind, (SYSTEM, LIST)))
    if kind == SYSTEM and constraints:
        problem = field.invalid(SYSTEM, "when .defaultConstraints are not empty")
        yield (SpreadArgsRule.SYSTEM_WITH_CONSTRAINTS, problem)
    pairs: set[tuple[Any, Any]] = set()
    for index, constraint in enumerate(constraints):
        at = here.child("defaultConstraints", index)
        for problem in _invalid(constraint, at):
            yield (SpreadArgsRule.DEFAULT_INVALID, problem)
        if constraint.get("labelSelector") is not None:
            detail = "constraint must not define a selector, as they deduced for each pod"
            yield (SpreadArgsRule.DEFAULT_HAS_SELECTOR, at.child("labelSelector").problem("Forbidden", detail))
        pair = constraint.get("topologyKey"), constraint.get("whenUnsatisfiable")
        if pair in pairs:
            yield (SpreadArgsRule.DEFAULT_INVALID, at.duplicate(f"{{{pair[0]}, {pair[1]}}}"))
        pairs.add(pair)


def _invalid(constraint: Plain, here: FieldPlace) -> Iterator[LocatedError]:
    skew = int(constraint.get("maxSkew") or 0)
    if skew <= 0:
        yield here.child("maxSkew").invalid(skew, "not in valid range (0, inf)")
    key, field = constraint.get("topologyKey") or "", here.child("topologyKey")
    if not key:
        yield field.problem("Required value", "can not be empty")
    yield from field.label_key(key) if key else ()
    action, field = constraint.get("whenUnsatisfiable") or "", here.child("whenUnsatisfiable")
    if not action:
        yield field.problem("Required value", "can not be empty")
    elif action not in (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY):
        yield field.unsupported(action, (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY))
