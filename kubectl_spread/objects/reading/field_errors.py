"""Field errors of a KubeSchedulerConfiguration, in kube-scheduler's words, with their places.

Source: staging/src/k8s.io/apimachinery/pkg/util/validation/field/errors.go (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from kubectl_spread.objects.reading import decode, go_format
from kubectl_spread.objects.selectors.labels import key_errors
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
        written = go_format.value(value) if value is not None else "null"
        return self.problem(f"Invalid value: {written}", detail, path=path)

    def unsupported(self, value: str, known: tuple[str, ...]) -> LocatedError:
        values = ", ".join(map(go_format.quote, known))
        return self.problem(f"Unsupported value: {go_format.quote(value)}", f"supported values: {values}")

    def duplicate(self, value: str) -> LocatedError:
        return self.problem(f"Duplicate value: {go_format.quote(value)}")

    def label_key(self, key: str) -> Iterator[LocatedError]:
        """Yield the errors of a label key at this place."""
        for detail in key_errors(key):
            yield self.invalid(key, detail)
