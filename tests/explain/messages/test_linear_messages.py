"""Reading a message takes work in proportion to its length, whoever wrote it: steps are counted, not seconds."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

from kubectl_spread.explain.messages import catalogue, meaning, parse, pasted_text
from tests.explain.steps import attacks, Matcher

pytestmark = pytest.mark.slow

SIZE = 300
TIMES = 3
SEARCHED = (
    "pasted_text._BETWEEN_FIELDS",
    "pasted_text._COMPILED",
    "pasted_text._COUNTS",
    "pasted_text._NOT_SCALED",
    "pasted_text._ESCAPED",
    "parse._COLUMNS",
    "parse._FOLDED",
    "parse._SHOWN",
)  # anywhere in a text, with some more; all others are matched at a place
ALSO_SEARCHED = frozenset(("pasted_text.HEADER", "pasted_text._BARE", "parse._REASON_END", "parse._SENTENCE_END"))
WHOLE = frozenset(("pasted_text._AROUND", "pasted_text._KEY", "pasted_text._CONNECTORS"))  # matched with whole lines
MOST = 6.5  # times the steps for three times the text; quadratic work would be 9


def patterns_of(value: Any, name: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    """The patterns in a module's value, with a name each."""
    if isinstance(value, re.Pattern):
        yield name, value
    elif isinstance(value, tuple):
        for at, item in enumerate(value):
            label = getattr(item, "name", "") or at
            yield from patterns_of(item, f"{name}/{label}")


PATTERNS = dict(
    found
    for module in (meaning, parse, pasted_text, catalogue)
    for key, value in vars(module).items()
    if not key.startswith("__")
    for found in patterns_of(value, f"{module.__name__.rpartition('.')[2]}.{key}")
)


def test_the_patterns_that_are_used_in_another_way_exist() -> None:
    assert set(PATTERNS) >= ALSO_SEARCHED | WHOLE
    assert all(any(name.startswith(prefix) for name in PATTERNS) for prefix in SEARCHED)


def steps(name: str, pattern: re.Pattern[str], text: str) -> int:
    """What a pattern does with a text, used as the parser uses it."""
    matcher = Matcher(pattern, text, is_whole=name in WHOLE)
    if name.startswith(SEARCHED) or name in ALSO_SEARCHED:
        matcher.find_all()
    else:
        matcher.match()
    return matcher.steps


def test_the_counting_matcher_agrees_with_re() -> None:
    """It finds what `re` finds, on every pattern and on texts made for it."""
    for name, pattern in PATTERNS.items():
        for text in itertools.islice(attacks(pattern, 15), 2):
            lower = text.lower()
            if name in WHOLE:
                assert Matcher(pattern, lower, is_whole=True).match() == bool(pattern.fullmatch(lower)), (name, text)
            else:
                found = Matcher(pattern, lower).find_all()
                assert bool(found) == bool(pattern.search(lower)), (name, text)


def test_the_counting_matcher_sees_more_than_linear_work() -> None:
    """What issue reports found: nested quantifiers, and a start at every character of a run."""
    nested = re.compile(r"(?:\w+=\S+ *)+!")
    runs = re.compile(r"\s+!")

    assert steps("nested", nested, "a=a" * 8) > 3 * steps("nested", nested, "a=a" * 6)
    assert steps("pasted_text._COUNTS.runs", runs, " " * 200) > 3 * steps("pasted_text._COUNTS.runs", runs, " " * 100)


@pytest.mark.parametrize("name", PATTERNS)
def test_every_pattern_takes_linear_work(name: str) -> None:
    """Three times the text takes about three times the steps, once white space is collapsed."""
    pattern = PATTERNS[name]
    if name in ("pasted_text._BLANKS", "pasted_text._EMPTY_LINES", "pasted_text._NEW_LINES"):
        return  # they collapse white space themselves: one class, matched greedily, nothing after it
    for few, many in zip(attacks(pattern, SIZE), attacks(pattern, TIMES * SIZE), strict=True):
        small, large = pasted_text.collapse_blanks(few), pasted_text.collapse_blanks(many)
        if len(small) < SIZE // 2:
            continue  # nothing but white space
        growth = (steps(name, pattern, large) + 1) / (steps(name, pattern, small) + 1)
        assert growth <= MOST * len(large) / len(small) / TIMES, (growth, small[:80])


def calls(action: Callable[[], object]) -> int:
    """How many functions, of Python and of C, an action calls."""
    counted = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(None)
    return counted


HOSTILE = (
    "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1{}!",
    "0/1 nodes are available: 1 Insufficient cpu.\n{}",
)


@pytest.mark.parametrize(
    "pump",
    [
        " ",
        "a=a",
        "\t",
        "1 x, ",
        "1 node(s) had taint {, ",
        "0/1 nodes are available: ",
        "\\",
        "no nodes available to schedule pods ",
        "incompatible requirements, ",
        '"',
        ", and ",
        "unsatisfiable topology constraint for ",
        "error validating data: ",
        "\n\n",
        "[",
        "pod triggered scale-up: [",
        "Pod x is invalid: ",
        "0/3 nodes are available: 1 x. ",
    ],
)
@pytest.mark.parametrize("template", HOSTILE)
def test_a_hostile_message_takes_linear_work(template: str, pump: str) -> None:  # fmt: skip
    few, many = (template.format(pump * (size // len(pump))) for size in (4_000, 8_000))

    assert calls(lambda: parse.parse_all(many)) <= 2.4 * calls(lambda: parse.parse_all(few)) + 500


def test_a_message_beyond_the_cap_is_read_up_to_it() -> None:
    """A condition of a megabyte costs no more than one of 50,000 characters, and the rest is named."""
    text = "0/3 nodes are available: 3 Insufficient cpu. " + "x" * 1_000_000
    found = parse.parse(text)

    assert "(what follows the first 50000 characters was not read)" == found.not_understood[-1]
    assert calls(lambda: parse.parse_all(text)) < 2 * calls(lambda: parse.parse_all(text[:50_000])) + 500
