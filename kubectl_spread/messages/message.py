"""A message about a Pending pod, taken apart."""

from __future__ import annotations

from typing import NamedTuple, Optional

from kubectl_spread.messages.form import Component
from kubectl_spread.messages.reason_kind import ReasonKind

NO_CLAIMS = "no new claims to deallocate"
STATE_NOT_FOUND = "not found"


class Part(NamedTuple):
    """A reason in a list.

    number: of nodes; None if the text has none.
    subject: the object that the reason names.
    may_go_on: the text ends here without a full stop, and a longer reason begins with the same words.
    """

    number: Optional[int]
    reason: str
    kind: ReasonKind
    subject: str = ""
    is_cut: bool = False
    may_go_on: bool = False


class Preemption(NamedTuple):
    """The outcome of preemption: a list of nodes, or the words that say why it was not tried."""

    total: Optional[int] = None
    parts: tuple[Part, ...] = ()
    verdict: str = ""
    is_cut: bool = False


class MinorRange(NamedTuple):
    """Minor versions of Kubernetes, both included."""

    first: int
    last: int


class Message(NamedTuple):
    """A message about a pod that is not scheduled.

    form: `nodes` for the scheduler's list of nodes, `not-scaled` for the autoscaler's, the name of a form of
    `other_components`, or `unknown`.
    post_filter: the words between the list and the preemption clause.
    times: the number of times it was pasted or, by its event, seen.
    not_understood: unrecognized texts, word for word.
    """

    component: Component
    form: str
    text: str
    total: Optional[int] = None
    parts: tuple[Part, ...] = ()
    post_filter: tuple[str, ...] = ()
    preemption: Optional[Preemption] = None
    era: Optional[MinorRange] = None
    details: tuple[tuple[str, str], ...] = ()
    times: int = 1
    is_cut: bool = False
    not_understood: tuple[str, ...] = ()

    @property
    def is_of_nodes(self) -> bool:
        return self.form == "nodes"
