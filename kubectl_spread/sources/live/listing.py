"""Lists in pages: each page is read and let go before the one after the next is asked for."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any
from typing import Generic
from typing import NamedTuple
from typing import Optional
from typing import TypeVar

from kubectl_spread.errors import ClusterError
from kubectl_spread.sources.live.transport import Answer
from kubectl_spread.sources.live.transport import Transport
from kubectl_spread.text import json_stream

PAGE = 500
# What a page may hold, one restart after another; 0: all of it at once, which cannot expire.
_LIMITS = (PAGE, 10 * PAGE, 0)
# The metadata of a List comes before its items.
_CONTINUE = re.compile(rb'\A\s*\{[^\[\]]{0,400}"continue":\s?"([A-Za-z0-9_=-]+)"')

T = TypeVar("T")


class Take(NamedTuple):
    """What becomes of the items: `item` gets each; `scan` as in `json_stream.values`."""

    item: Callable[[dict[str, Any]], None]
    scan: Optional[json_stream.Scan] = None


class Task(Generic[T]):
    """A call on a thread of its own, which does not keep the process from ending."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._result: list[T] = []
        self._error: Optional[BaseException] = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def result(self) -> T:
        """Wait for it; Ctrl-C is heard meanwhile, on Windows too."""
        while self._thread.is_alive():
            self._thread.join(0.2)
        if self._error is not None:
            raise self._error
        return self._result[0]

    def _run(self) -> None:
        try:
            self._result.append(self._call())
        except BaseException as error:  # noqa: BLE001 (it is raised where the result is asked for)
            self._error = error


class Refused(Exception):  # noqa: N818 (an answer, not a failure)
    """The API server has no such list, or not for us."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        self.answer = answer


def read(transport: Transport, path: str, query: dict[str, str], start: Callable[[], Take]) -> None:
    """Read a list, all of it as it was at one resourceVersion.

    Where its continue token expires the list is read anew from the beginning, in larger pages.

    Args:
        transport: whom to ask.
        path: of the list.
        query: selectors.
        start: gives what takes the items; called again when the list begins anew, and then all before is void.

    Raises:
        Refused: with the answer.
        ClusterError: it cannot be read.
    """
    for limit in _LIMITS:
        limited = {**query, "limit": str(limit)} if limit else query
        if _pages(transport, path, limited, start()):
            return
    raise ClusterError(f"the server {transport.host} lets every list of {path} expire before it is read")


def _pages(transport: Transport, path: str, query: dict[str, str], take: Take) -> bool:
    """All pages of a list; False where it expires on the way."""
    answer = transport.get(path, query)
    while True:
        if answer.status == 410:
            return False
        if answer.status != 200:
            raise Refused(answer)
        told = _CONTINUE.match(answer.body)
        ahead = None
        if told is not None:
            token = told[1].decode()
            ahead = Task(lambda following={**query, "continue": token}: transport.get(path, following))  # type: ignore[misc]
        following = _page(transport, path, answer, take)
        if not following:
            return True
        if ahead is not None and following == token:
            answer = ahead.result()
        else:
            answer = transport.get(path, {**query, "continue": following})


def _page(transport: Transport, path: str, answer: Answer, take: Take) -> str:
    """Hand over the items of one page; the token of the next, or nothing."""

    def taken(item: dict[str, Any], document: dict[str, Any]) -> None:  # noqa: ARG001 (as json_stream calls it)
        take.item(item)

    try:
        documents = json_stream.values(answer.body.decode(), taken, take.scan)
    except (ValueError, RecursionError):
        documents = []
    metadata = documents[0].get("metadata") if len(documents) == 1 and isinstance(documents[0], dict) else None
    if not isinstance(metadata, dict):
        raise ClusterError(f"the server {transport.host} answered {path} with what is no list")
    return str(metadata.get("continue") or "")
