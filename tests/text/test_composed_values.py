"""Values written as YAML and JSON, and read back; mutated manifests, and what becomes of them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from kubectl_spread.errors import SourceError
from kubectl_spread.lint.check_source import check_source
from kubectl_spread.sources.files import decode_text
from kubectl_spread.text import compose, node
from kubectl_spread.text.source import SourceFile

FUZZ = settings(deadline=None, max_examples=150, derandomize=True, database=None)

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
KEYS = st.text(st.characters(codec="utf-8", max_codepoint=0xFFFF), max_size=12)  # no pairs of escapes
# What may stand in YAML as it is: no control characters, no line breaks, no noncharacters.
PRINTED = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cn", "Cs", "Zl", "Zp"], exclude_characters="\ufeff"),
    max_size=12,
)
# What YAML 1.1 and 1.2 write and read alike without quotes; the writer folds two spaces into one.
WORDS = st.text("abcxyz é💥./_-=()", max_size=30).map(lambda text: " ".join(f"s{text}s".split()))
NUMBERS = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1)
FINITE = NUMBERS | st.floats(allow_nan=False, allow_infinity=False)


def nested(
    scalars: st.SearchStrategy[Any], texts: st.SearchStrategy[str], keys: st.SearchStrategy[str]
) -> st.SearchStrategy[Any]:
    return st.recursive(
        scalars | texts,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=8,
    )


def composed(text: str) -> compose.Document:
    (found,) = read(SourceFile("f", text))
    assert isinstance(found, compose.Document)
    return found


def read(source: SourceFile) -> list[compose.Document | compose.SyntaxProblem]:
    """The documents of a source; their values are those that are read without nodes."""
    found = list(compose.compose(source))
    shown = [repr(item.plain if isinstance(item, compose.Document) else item) for item in found]
    assert shown == list(map(repr, compose.values(source)))
    return found


def every_node(root: node.Node) -> list[node.Node]:
    """The nodes of a tree, keys among them."""
    found, stack = [], [root]
    while stack:
        item = stack.pop()
        found.append(item)
        if isinstance(item, node.Mapping):
            stack += [part for pair in item.pairs for part in pair]
        elif isinstance(item, node.Sequence):
            stack += item.items
    return found


@FUZZ
@given(value=nested(FINITE, TEXTS, KEYS), indent=st.none() | st.integers(0, 3))
def test_escaped_json_is_read_back(value: Any, indent: int | None) -> None:
    """Any text can be written in ASCII, whatever it holds."""
    assert [value] == node.to_plain(composed(json.dumps([value], indent=indent)).root)


@pytest.mark.slow
@FUZZ
@given(value=nested(FINITE, PRINTED, PRINTED), indent=st.none() | st.integers(0, 3))
def test_json_is_read_back(value: Any, indent: int | None) -> None:
    """With the characters themselves."""
    assert [value] == node.to_plain(composed(json.dumps([value], indent=indent, ensure_ascii=False)).root)


@pytest.mark.slow
@FUZZ
@given(
    value=nested(NUMBERS | st.floats(allow_nan=False), WORDS, WORDS.map(lambda text: text.replace(" ", ""))),
    flow=st.sampled_from([None, True, False]),
    width=st.sampled_from([20, 80, 4096]),
)
def test_yaml_is_read_back(value: Any, flow: bool | None, width: int) -> None:
    """As another library writes it: block or flow, folded or not."""
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style, yaml.width, yaml.allow_unicode = flow, width, True
    stream = io.StringIO()
    yaml.dump([value], stream)

    assert [value] == node.to_plain(composed(stream.getvalue()).root)


PLAIN_WORDS = st.text("abcxyz0159.-_é💥", min_size=1, max_size=8).filter(lambda text: text[0] in "abcxyzé💥015")


@pytest.mark.slow
@FUZZ
@given(
    st.lists(
        st.tuples(PLAIN_WORDS, PLAIN_WORDS | st.lists(PLAIN_WORDS, max_size=3)),
        min_size=1,
        unique_by=lambda pair: pair[0],
    ),
    st.sampled_from(["\n", "\r\n", " # c\n", "\n\n"]),
)
def test_a_plain_scalar_is_the_text_at_its_place(pairs: list[tuple[str, Any]], line_break: str) -> None:
    """Every node lies within the text, and within its parent; a plain scalar is what stands there."""
    lines = []
    for key, value in pairs:
        lines.append(f"{key}: [{', '.join(value)}]" if isinstance(value, list) else f"{key}: {value}")
    text = line_break.join(lines) + line_break
    root = composed(text).root
    found = every_node(root)

    assert [] == [item for item in found if not root.start <= item.start <= item.end <= root.end <= len(text)]
    scalars = [item for item in found if isinstance(item, node.Scalar)]
    assert [item.text for item in scalars] == [text[item.start : item.end] for item in scalars]
    assert len(scalars) == sum(1 + (len(value) if isinstance(value, list) else 1) for _, value in pairs)


MANIFEST = """\
# comment
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: &labels {app: web, "v": '1'}}
spec:
  replicas: 3
  template:
    metadata: {labels: {<<: *labels, tier: é}}
    spec:
      containers:
      - name: c
        resources: {requests: {cpu: 100m, memory: 1.5Gi}}
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        matchLabelKeys: [pod-template-hash]
        labelSelector:
          matchExpressions: [{key: app, operator: In, values: [web]}]
---
kind: Pod
apiVersion: v1
metadata: {name: p}
spec:
  nodeSelector:
    a: |-
      b
...
""".encode()

PIECES = st.sampled_from(
    [b"null", b"~", b"[]", b"{}", b"[null]", b"-1", b"1e400", b"yes", b"'", b'"', b"- ", b": ", b"&labels ", b"*labels",
     b"<<: ", b"---\n", b"...\n", b"%", b"#", b"\t", b"\n", b"\r", b"\x00", b"\xc3", b"{{", b"}}", b"!!str ", b"? ",
     b"kind: List\nitems: ", b"9" * 5000, b"\xe2\x80\xa8", b"\xc2\x85", b"|", b">"]
)  # fmt: skip
EDITS = st.lists(
    st.tuples(st.integers(0, len(MANIFEST)), st.integers(0, 12), PIECES | st.binary(max_size=3)), max_size=4
)


@pytest.mark.slow
@settings(FUZZ, max_examples=300)
@given(EDITS)
def test_a_mutated_manifest_never_fails_the_check(edits: list[tuple[int, int, bytes]]) -> None:
    """It is refused as no text, or its findings lie within it."""
    raw = MANIFEST
    for at, length, piece in edits:
        raw = raw[:at] + piece + raw[at + length :]
    try:
        text = decode_text("f", raw)
    except SourceError:
        return
    result = check_source(SourceFile("f", text), named=True)
    places = [finding.place for finding in result.findings]
    places += [label.place for finding in result.findings for label in finding.related]

    assert [] == [place.span for place in places if not 0 <= place.span.start <= place.span.end <= len(text)]


def test_the_manifest_that_is_mutated_is_good() -> None:
    """It has no finding, and two workloads."""
    result = check_source(SourceFile("f", MANIFEST.decode()), named=True)

    assert ((), ["web", "p"]) == (result.findings, [checked.workload.name for checked in result.workloads])


ROOT = Path(__file__).parents[2]
FILES = sorted(path for folder in ("examples", "tests/cases", "tests/lint") for path in (ROOT / folder).rglob("*.yaml"))


def test_a_value_without_nodes_is_that_of_the_nodes() -> None:
    """In every manifest here; most of them are read in one go."""
    sources = [SourceFile(path.name, path.read_text(errors="replace")) for path in FILES]
    number = sum(len(read(source)) for source in sources)
    chunks = [chunk for source in sources for chunk in compose.chunks(source.text) if not chunk.is_blank]

    assert sum(compose._value(chunk) is not None for chunk in chunks) > 0.9 * number > 500


@pytest.mark.parametrize(
    "text",
    [
        "0x10: a\n1.50: 'b'\n\"1\": c\ntrue: yes\n~: null\n",
        "'a ''b''': \"c\\nd\"\n? |\n  e\n: >-\n  f\n  g\n",
        "a: b\n  c\nd: 'e\n  f'\ng: 1\n  2\n? h\n  i\n: j\n",
        "# c\na:\n\n  # c\n  b:\n  -\n  - {}\n  - []\n  # c\n\n",
        'a: {b, c: , "d": [e, {f: g}]}  # c\nh: 007\ni: -0.0\nj: .nan\n',
        "a: |+\n  b\n\n\nc: d\u2028  e\n\u00e9: \U0001f4a5\n",
        "--- # c\na: >\n  |\nb: '|'\n'>': \">\"\n...\n",
    ],
)
def test_a_value_of_any_style_is_that_of_the_nodes(text: str) -> None:
    """Keys that are numbers, quotes, blocks, folded lines, empty values and comments."""
    assert read(SourceFile("f", text))
    (chunk,) = compose.chunks(text)
    assert compose._value(chunk) is not None


@pytest.mark.parametrize(
    "text",
    [
        "a: &x 1\nb: *x\n",
        "a: !!str 1\n",
        "a: 1\na: 2\n",
        "1: a\n0x1: b\n",
        "a: &x {b: 1}\nc:\n  <<: *x\n",
        "[a]: 1\n",
        "a: {b\n",
        "text\n",
        '{"a": 1}',
        "a: {image: nginx:1.27}\n",
        f"a: {'[' * 300}{']' * 300}\n",
    ],
)
def test_what_is_special_is_read_with_its_nodes(text: str) -> None:
    """Anchors, tags, keys that are repeated or no text, errors, JSON, and what is nested too deeply."""
    assert read(SourceFile("f", text))
    assert all(compose._value(chunk) is None for chunk in compose.chunks(text))
