"""The exceptions of the package.

SpreadError
├── SourceError      an input could not be read: exit code 3
├── ClusterError     the cluster could not be reached, or does not let us read: exit code 3
├── ConfigError      the configuration cannot be followed: exit code 2
├── RequestError     a request contradicts itself, or names a value that does not exist: exit code 2
├── NotFoundError    the cluster facts hold no such object: exit code 1
└── RefusedError     kubectl or the API server would refuse a step: exit code 1

What is wrong with a user's manifest or cluster is a value (`Finding`, `Status`, `Problem`), never an
exception; a wrong command line is click's `UsageError`.
"""

from __future__ import annotations

from collections.abc import Sequence


class SpreadError(Exception):
    """Base class; `str()` is one line for the user, without a full stop."""

    @property
    def problems(self) -> tuple[SpreadError, ...]:
        """Return all that is wrong, by place: of most errors, the error itself."""
        return (self,)


class SourceError(SpreadError):
    """An input could not be read.

    `line` and `column` are 1-based, or 0 for the input as a whole. `others` are further errors of the same input.
    `is_aside`: nobody named the input, and it names no constraints.
    """

    others: tuple[SourceError, ...] = ()
    is_aside = False

    def __init__(self, source: str, message: str, *, line: int = 0, column: int = 0) -> None:
        super().__init__(source, message, line, column)
        self.source = source
        self.message = message
        self.line = line
        self.column = column

    @property
    def problems(self) -> tuple[SpreadError, ...]:
        return (self, *self.others)

    def __str__(self) -> str:
        place = f"{self.source}:{self.line}:{self.column}" if self.line else self.source
        return f"{place}: {self.message}"


def joined(errors: Sequence[SourceError]) -> SourceError:
    """Return the first of several errors, with the others."""
    first, *others = errors
    first.others = tuple(others)
    return first


class ClusterError(SpreadError):
    """The API server cannot be found, reached or asked."""


class NoClusterError(ClusterError):
    """No cluster is configured; `why` names the files that name none."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why

    def __str__(self) -> str:
        return f"no cluster is configured: {self.why}. Use --kubeconfig, --snapshot or --topology"


class ConfigError(SpreadError):
    """A configuration asks for what there is not; `problems` are all that is wrong with it, by place."""

    def __init__(self, problems: tuple[SourceError, ...]) -> None:
        super().__init__(problems)
        self._problems = problems

    @property
    def problems(self) -> tuple[SourceError, ...]:
        return self._problems

    def __str__(self) -> str:
        return str(self.problems[0])


class RequestError(SpreadError):
    """A request contradicts itself, or names a value that does not exist. It is worded for the command line."""


class NotFoundError(SpreadError):
    """The cluster facts hold no object of that name."""


class RefusedError(SpreadError):
    """kubectl or the API server would refuse a step; `str()` is the line that kubectl prints."""
