"""Lists in pages. Each page is read and freed before the page after the next is requested."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, Optional

from kubectl_spread.errors import ClusterError
from kubectl_spread.sources.live.tasks import Task
from kubectl_spread.sources.live.transport import Response, Transport
from kubectl_spread.text import json_stream

PAGE = 500
# Page sizes, one per restart; 0 is the whole list at once, which cannot expire.
_LIMITS = (PAGE, 10 * PAGE, 0)
# A server with more pages is assumed never to end.
_MAX_PAGES, _MAX_EMPTY_PAGES = 20_000, 50
# The metadata of a List comes before its items.
_CONTINUE = re.compile(rb'\A\s*\{[^\[\]]{0,400}"continue":\s?"([A-Za-z0-9_=-]+)"')


class Take(NamedTuple):
    """Consumers of a list's items: `item` gets each item, also one that is no object; `scan` is for `json_stream`."""

    item: Callable[[Any], None]
    scan: Optional[json_stream.Scan] = None


class RefusedList(Exception):  # noqa: N818 (an answer, not a failure)
    """Refusal of a list: it does not exist on the API server, or is forbidden."""

    def __init__(self, answer: Response) -> None:
        super().__init__(answer)
        self.answer = answer


def read(transport: Transport, path: str, query: dict[str, str], start: Callable[[], Take]) -> None:
    """Read a list completely, at one resourceVersion.

    If its continue token expires, the list is read again from the beginning, in larger pages.

    Args:
        transport: the API server.
        path: of the list.
        query: selectors.
        start: returns the consumers of items; called again for each restart, which discards all previous items.

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
    """Read all pages of a list; return False if it expires on the way.

    Raises:
        ClusterError: the list never ends.
    """
    answer = transport.get(path, query)
    tokens: set[str] = set()
    empty = 0
    while True:
        if answer.status == 410:
            return False
        if answer.status != 200:
            raise RefusedList(answer)
        match = _CONTINUE.match(answer.body)
        ahead = None
        token = match[1].decode() if match is not None else ""
        if token and token not in tokens:
            ahead = Task(lambda following={**query, "continue": token}: transport.get(path, following))  # type: ignore[misc]
        page = _page(transport, path, answer, take)
        if not page.following:
            return True
        empty = 0 if page.items else empty + 1
        if page.following in tokens or empty >= _MAX_EMPTY_PAGES or len(tokens) >= _MAX_PAGES:
            raise ClusterError(f"the server {transport.host} answered {path} with pages that never end")
        tokens.add(page.following)
        if ahead is not None and page.following == token:
            answer = ahead.result()
        else:
            answer = transport.get(path, {**query, "continue": page.following})


class _Page(NamedTuple):
    """Number of items on a page, and the token of the next page; empty on the last page."""

    items: int
    following: str


def _page(transport: Transport, path: str, answer: Response, take: Take) -> _Page:
    """Pass on the items of one page.

    Raises:
        ClusterError: the answer is not a list.
    """
    taken = object()

    def consume(item: dict[str, Any], document: dict[str, Any]) -> object:  # noqa: ARG001 (as json_stream calls it)
        take.item(item)
        return taken

    try:
        documents = json_stream.values(answer.body.decode(), consume, take.scan)
    except (ValueError, RecursionError):
        documents = []
    document = documents[0] if len(documents) == 1 and isinstance(documents[0], dict) else {}
    metadata, items = document.get("metadata"), document.get("items")
    items = [] if items is None else items  # an empty list of Go
    following = metadata.get("continue") or "" if isinstance(metadata, dict) else None
    if not isinstance(following, str) or not isinstance(items, list):
        raise ClusterError(f"the server {transport.host} answered {path} with something other than a list")
    for item in items:
        if item is not taken:
            take.item(item)
    return _Page(len(items), following)
