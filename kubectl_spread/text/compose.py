"""YAML and JSON text to documents with places.

The only importer of ruamel.yaml. Nodes are built from the events of its C parser rather than from its composed
nodes. So an alias keeps its own place, nesting and aliasing are bounded early, and one pass is enough. A stream is cut
at its `---` lines first, so that a syntax error in one document does not hide the others. `json_nodes` parses JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from typing import Any, NamedTuple, Optional, Union

from kubectl_spread.errors import SourceError
from kubectl_spread.text import scalars
from kubectl_spread.text.node import (
    children_of,
    collection,
    follow,
    is_merge,
    Mapping,
    Node,
    place,
    Route,
    Scalar,
    Sequence,
    to_plain,
)
from kubectl_spread.text.source import SourceFile, Span
from kubectl_spread.text.wording import short

MAX_DEPTH = 256  # levels; the deepest Kubernetes object nests about 20

# These three are compiled on first use.
_CUT = r"(?m)^(?:---(?=[ \t\r\n]|\Z)|\.\.\.[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z))"
# kubectl treats each of these lines as a separator. After it, only white space and comments are allowed.
_SEPARATOR = r"(?m)^---(?![ \t]*\{\{)[^\r\n]*[^\s][^\r\n]*"
_SEPARATOR_TEXT = r"(?m)^---[ \t]*(?P<text>[^\s#][^\r\n]*)"
# Nothing in these can match in two ways, so that they cost no more than the text is long.
_COMMENTS = r"\s*(?:#[^\r\n]*(?:[\r\n]\s*|\Z))*"
_DIRECTIVES = r"\s*(?:[#%][^\r\n]*(?:[\r\n]\s*|\Z))*"

_LIKE_JSON = r"""\s*(?:\{\s*["}]|\[)"""

_BEGINS_AS_JSON = r"""\s*\{\s*\""""

# The pure Python parser reads flow style as kubectl does, and takes 10 s for a megabyte.
_ONLY_C_REFUSES = "found unexpected ':'"
_MOST_READ_AGAIN = 500_000  # characters

_QUOTES = frozenset("'\"|>")  # the first characters of scalars that are not plain

# Tags whose scalars are resolved by their text; of any other, the text itself is the value.
_RESOLVED_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("bool", "int", "float", "null", "timestamp"))


class Chunk(NamedTuple):
    """The text of one document, and its offset in the source."""

    start: int
    text: str

    @property
    def is_blank(self) -> bool:
        """Return whether the document is only comments and white space."""
        first = self.text.lstrip()[:1]
        return not first or (first == "#" and _is_only(_COMMENTS, self.text))


class Document:
    """One document of a source; `number` counts the documents from 0, empty ones not counted.

    The value of a scalar in another document has no number.
    """

    def __init__(self, source: SourceFile, root: Node, number: Optional[int] = None) -> None:
        self.source = source
        self.root = root
        self.number = number

    @property
    def is_embedded(self) -> bool:
        """Return whether it is the value of a scalar in another document."""
        return self.number is None

    @cached_property
    def plain(self) -> Any:
        """The JSON value; it is not to be changed, as the document keeps it."""
        return to_plain(self.root)

    def follow(self, route: Route) -> Optional[Node]:
        """Return the node at a route, or None if the route leaves the document."""
        return follow(self.root, route)

    def place(self, route: Route, *, key: bool = False) -> Span:
        """Return the span to show for a route, see `node.place`."""
        return place(self.root, route, key=key)

    def error(self, route: Route, message: str) -> SourceError:
        """Return an error at the place of a route."""
        return self.source.error(self.place(route).start, message)

    @property
    def text(self) -> str:
        return self.source.text[self.root.start : self.root.end]


class SyntaxProblem(NamedTuple):
    """A document that is not YAML, or not valid JSON although it begins as JSON: the parser's message and its place."""

    source: SourceFile
    span: Span
    message: str
    language: str = "YAML"

    @property
    def sentence(self) -> str:
        """Return `not YAML: did not find expected ',' or '}'`."""
        return f"not {self.language}: {self.message}"


def chunks(text: str) -> list[Chunk]:
    """Cut a stream before every `---` line and after every `...` line.

    In the first column either marker ends a document in any context (YAML 1.2, 9.1.4). Inside a block scalar it
    would be indented. So this is exact. Directives stay with the document they precede.
    """
    markers = re.finditer(_CUT, text) if "---" in text or "..." in text else ()
    starts = [0, *(match.start() if match[0] == "---" else match.end() for match in markers)]
    ends = [*starts[1:], len(text)]
    cut: list[Chunk] = []
    held = 0
    for start, end in zip(starts, ends, strict=True):
        piece = text[start:end]
        if "%" in piece and end < len(text) and _is_only(_DIRECTIVES, piece):
            continue  # `held` still points at it
        if end > held:
            cut.append(Chunk(held, text[held:end]))
        held = end
    return cut


def separator_texts(text: str) -> Iterator[Span]:
    """Yield the text that follows `---` on a line, except for the actions of templates.

    Source: staging/src/k8s.io/apimachinery/pkg/util/yaml/decoder.go, YAMLReader.Read (v1.36.2).
    """
    if "---" not in text:
        return
    for match in re.finditer(_SEPARATOR_TEXT, text):
        if not match["text"].startswith("{{"):
            yield Span(match.start("text"), match.start("text") + len(match["text"].rstrip()))


def _is_only(lines: str, text: str) -> bool:
    match = re.match(lines, text)
    return match is not None and match.end() == len(text)


def documents(source: SourceFile, wanted: Callable[[str], bool] = bool) -> Iterator[Document]:
    """Yield the documents of a source, except parts that are not YAML; see `compose`."""
    return (found for found in compose(source, wanted) if isinstance(found, Document))


def compose(source: SourceFile, wanted: Callable[[str], bool] = bool) -> Iterator[Union[Document, SyntaxProblem]]:
    """Compose the documents of a source, without the empty documents.

    Args:
        source: the text.
        wanted: returns whether to parse a chunk, by its text.
    """
    index = 0
    for chunk in chunks(source.text):
        for found in () if chunk.is_blank or not wanted(chunk.text) else compose_roots(source, chunk):
            if isinstance(found, SyntaxProblem):
                yield found
            else:
                yield Document(source, found, index)
                index += 1


def values(source: SourceFile) -> Iterator[Union[Any, SyntaxProblem]]:
    """Yield the JSON values of the documents of a source, which take less time and memory than their nodes."""
    for chunk in chunks(source.text):
        plain = None if chunk.is_blank else _value(chunk)
        if plain is not None:
            yield plain
            continue
        for found in () if chunk.is_blank else compose_roots(source, chunk):
            yield found if isinstance(found, SyntaxProblem) else to_plain(found)


def compose_roots(source: SourceFile, chunk: Chunk) -> Iterator[Union[Node, SyntaxProblem]]:
    """Yield the roots of a chunk, and the error that ends it. Ignore text on separator lines if it prevents parsing."""
    found: list[Union[Node, SyntaxProblem]] = []
    try:
        found.extend(_roots(chunk))
    except _RefusedError as refused:
        # Blanks take the place of the text on separator lines.
        text = re.sub(_SEPARATOR, lambda match: "---" + " " * (len(match[0]) - 3), chunk.text)
        blanked = Chunk(chunk.start, text)
        if blanked != chunk:
            yield from compose_roots(source, blanked)
            return
        problem = _broken_json(source, chunk, refused)
        found.append(problem or SyntaxProblem(source, Span(refused.start, refused.end), refused.message))
    yield from found


def _broken_json(source: SourceFile, chunk: Chunk, refused: _RefusedError) -> Optional[SyntaxProblem]:
    """Return the JSON error of a text that begins as JSON; None for other texts, or without an error.

    YAML in flow style begins in the same way, unless the file's name says JSON. A YAML parser accepts some texts
    that JSON does not.
    """
    if not re.match(_BEGINS_AS_JSON, chunk.text):
        return None
    from kubectl_spread.text import json_nodes  # json: 5 ms

    found = json_nodes.error(chunk.text)
    if found is None:
        return None
    message, at = found
    start = min(chunk.start + at, len(source.text))
    is_word = message.startswith(("expecting value", "expecting property name"))
    if is_word and start < refused.start and not source.name.endswith(".json"):
        return None
    return SyntaxProblem(source, Span(start, min(start + 1, len(source.text))), message, "JSON")


def _roots(chunk: Chunk) -> Iterable[Node]:
    """Return the roots of a chunk. Like kubectl, parse it as JSON if it begins like JSON, else as YAML."""
    if re.match(_LIKE_JSON, chunk.text):
        from kubectl_spread.text import json_nodes  # json: 5 ms

        try:
            return json_nodes.roots(chunk.text, chunk.start, max_depth=MAX_DEPTH)
        except json_nodes.NotJSONError:
            pass  # the YAML parser reports the error, if there is one
    return _Composer(chunk).documents()


class _SpecialError(Exception):
    """A document has an anchor, a tag, a key that is repeated or no text, or is no collection."""


def _value(chunk: Chunk) -> Any:
    """Return the value of a YAML collection without anything special; None for all else, also for errors."""
    if chunk.text.lstrip()[:1] in ("{", "["):
        return None
    from _ruamel_yaml import CParser  # 20 ms
    from ruamel.yaml import events
    from ruamel.yaml.error import YAMLError

    next_event = CParser(chunk.text).get_event
    try:
        before = next_event(), next_event()
        first = next_event()
        if tuple(map(type, before)) != (events.StreamStartEvent, events.DocumentStartEvent):
            return None
        plain = None if type(first) is events.ScalarEvent else _plain_value(first, next_event, events, 0)
        after = next_event(), next_event()
    except (YAMLError, _SpecialError):
        return None
    return plain if tuple(map(type, after)) == (events.DocumentEndEvent, events.StreamEndEvent) else None


def _plain_value(event: Any, next_event: Callable[[], Any], events: Any, depth: int) -> Any:
    """Return the value that begins with an event, below so many collections."""
    if event.anchor is not None or event.ctag is not None or depth >= MAX_DEPTH:
        raise _SpecialError
    scalar = events.ScalarEvent
    if type(event) is scalar:
        return scalars.resolve(event.value) if event.implicit[0] else event.value
    if type(event) is events.SequenceStartEvent:
        items = []
        while type(end := next_event()) is not events.SequenceEndEvent:
            items.append(_plain_value(end, next_event, events, depth + 1))
        return items
    found: dict[str, Any] = {}
    while type(end := next_event()) is scalar:
        key = scalars.plain_key_text(end.value) if end.implicit[0] else end.value
        if end.anchor is not None or end.ctag is not None or key in found or key == "<<":
            raise _SpecialError
        found[key] = _plain_value(next_event(), next_event, events, depth + 1)
    if type(end) is not events.MappingEndEvent:
        raise _SpecialError
    return found


class _RefusedError(Exception):
    def __init__(self, start: int, end: int, message: str) -> None:
        super().__init__(start, end, message)
        self.start = start
        self.end = end
        self.message = message


_Measure = tuple[int, int]  # the nodes and levels of a node with all its aliases expanded


class _Composer:
    """A builder of one chunk's nodes from parser events."""

    def __init__(self, chunk: Chunk) -> None:
        from ruamel.yaml import events  # 20 ms

        self.events = events
        self.base = chunk.start
        self.text = chunk.text
        self.anchors: dict[str, Optional[Node]] = {}
        self.measures: dict[int, _Measure] = {}  # by id() of an anchored node that an alias repeats

    def documents(self) -> Iterator[Node]:
        """Yield the roots of the chunk, and raise the refusal that ends it, if there is one."""
        from _ruamel_yaml import CParser  # 20 ms
        from ruamel.yaml.error import YAMLError

        text, count = self.text, 0
        if text.lstrip()[:1] in ("{", "[") and "\\u" in text:
            from kubectl_spread.text import json_nodes  # json: 5 ms

            text = json_nodes.as_yaml(text)
        try:
            for root in self._roots(CParser(text).get_event):
                yield root
                count += 1
        except YAMLError as error:
            again = self._read_again(text, error)
            if again is None:
                raise self._refusal(error) from None
            yield from again[count:]

    def _refusal(self, error: Any) -> _RefusedError:
        """Return the parser's error with its place; of a character that YAML forbids, the reader counts it in bytes."""
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        if mark is not None:
            at = mark.index
        else:
            before = self.text.encode("utf-8", "surrogatepass")[: getattr(error, "position", 0) or 0]
            at = len(before.decode("utf-8", "ignore"))
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        context = getattr(error, "context", None)
        start, end = self.base + at, self.base + len(self.text)
        return _RefusedError(start, min(start + 1, end), f"{problem} {context}" if context else str(problem))

    def _read_again(self, text: str, error: Any) -> Optional[list[Node]]:
        """Return the roots of a text that only libyaml refuses, `{image: nginx:1.27}`; None for other texts."""
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError

        if getattr(error, "problem", None) != _ONLY_C_REFUSES or len(text) > _MOST_READ_AGAIN:
            return None
        events = YAML(typ="safe", pure=True).parse(text)
        try:
            return list(self._roots(partial(next, events, None)))
        except YAMLError:
            return None

    def _roots(self, next_event: Callable[[], Any]) -> Iterator[Node]:
        """Yield the roots of a stream of events that ends with None."""
        event = next_event()
        while event is not None:
            if type(event) is self.events.DocumentStartEvent:
                self.anchors, self.measures = {}, {}
                root = self._node(next_event(), next_event, 0)
                self._refuse_excessive_aliasing(root)
                if not (isinstance(root, Scalar) and root.plain and not root.text):
                    yield root
            event = next_event()

    def _node(self, event: Any, next_event: Callable[[], Any], depth: int) -> Node:
        """Return the node that begins with an event, below so many collections."""
        if type(event) is self.events.ScalarEvent:
            return self._scalar(event)
        if type(event) is self.events.AliasEvent:
            return self._alias(event, depth)
        is_mapping = type(event) is self.events.MappingStartEvent
        end_event = self.events.MappingEndEvent if is_mapping else self.events.SequenceEndEvent
        start = self.base + event.start_mark.index
        self._refuse_depth(depth + 1, start, start + 1)
        if event.anchor is not None:
            self.anchors[event.anchor] = None  # not to be used before its end
        children: list[Node] = []
        while type(child := next_event()) is not end_event:
            children.append(self._node(child, next_event, depth + 1))
        # The parser ends a block collection at the token after it, past comments and blank lines.
        end = self.base + child.end_mark.index if event.flow_style or not children else children[-1].end
        if is_mapping:
            _refuse_keys(children)
        node = collection(start, end, children, is_mapping=is_mapping)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def _scalar(self, event: Any) -> Scalar:
        tag, base = event.ctag, self.base
        plain = event.implicit[0] if tag is None else str(tag) in _RESOLVED_TAGS
        node = Scalar(base + event.start_mark.index, base + event.end_mark.index, event.value, plain=plain)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def _alias(self, event: Any, depth: int) -> Node:
        start, end = self.base + event.start_mark.index, self.base + event.end_mark.index
        name = event.anchor
        if name not in self.anchors:
            raise _RefusedError(start, end, f"unknown anchor `{short(name)}`")
        anchored = self.anchors[name]
        if anchored is None:
            raise _RefusedError(start, end, f"anchor `{short(name)}` contains itself")
        measure = self.measures.get(id(anchored))
        if measure is None:
            measure = self.measures[id(anchored)] = self._measure(anchored)
        self._refuse_depth(depth + measure[1], start, end)
        import copy  # 1 ms; few manifests have aliases

        again = copy.copy(anchored)
        again.start, again.end, again.origin = start, end, anchored
        return again

    def _refuse_depth(self, depth: int, start: int, end: int) -> None:
        if depth > MAX_DEPTH:
            raise _RefusedError(start, end, f"nested deeper than {MAX_DEPTH} levels")

    def _measure(self, node: Node) -> _Measure:
        """Return the size of a node; the anchors of its aliases are measured already."""
        if node.origin is not None:
            return self.measures[id(node.origin)]
        if isinstance(node, Scalar):
            return 1, 0
        parts = list(map(self._measure, children_of(node)))
        return 1 + sum(size for size, _ in parts), 1 + max((height for _, height in parts), default=0)

    def _refuse_excessive_aliasing(self, root: Node) -> None:
        """Refuse a document whose aliases expand to more than kubectl allows.

        Source: go.yaml.in/yaml/v2 decode.go, allowedAliasRatio.
        """
        if not self.measures:
            return
        size, _ = self._measure(root)
        aliased = size - _written(root)
        allowed = min(0.99, max(0.1, 0.99 - 0.89 * (size - 400_000) / 3_600_000))
        if aliased > 100 and size > 1000 and aliased / size > allowed:
            message = f"document contains excessive aliasing: {size} nodes when written out"
            raise _RefusedError(root.start, root.start + 1, message)


def _refuse_keys(children: list[Node]) -> None:
    """Refuse keys that kubectl refuses: a collection as a key (`{{ template }}` is one), or a merge of no mapping.

    Source: go.yaml.in/yaml/v2 decode.go, mapping and merge.
    """
    for at in range(0, len(children), 2):
        key = children[at]
        if not isinstance(key, Scalar):
            raise _RefusedError(key.start, key.end, "invalid map key: a mapping or sequence")
        if key.text == "<<" and is_merge(key):
            value = children[at + 1]
            merged = value.items if isinstance(value, Sequence) and value.origin is None else [value]
            if not all(isinstance(item, Mapping) for item in merged):
                raise _RefusedError(key.start, key.end, "map merge requires map or sequence of maps as the value")


def _written(node: Node) -> int:
    """Return how many nodes the text has, an alias counting as one."""
    if node.origin is not None or isinstance(node, Scalar):
        return 1
    return 1 + sum(map(_written, children_of(node)))
