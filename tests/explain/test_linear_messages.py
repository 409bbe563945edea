"""Reading a message takes work in proportion to its length, whoever wrote it: steps are counted, not seconds."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

from kubectl_spread.explain import elsewhere
from kubectl_spread.explain import meanings
from kubectl_spread.explain import messages
from kubectl_spread.explain import reasons
from tests.explain.steps import attacks
from tests.explain.steps import Matcher

SIZE = 1_500
MOST = 2.6  # steps for twice the text; quadratic work would be 4


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
    for module in (elsewhere, meanings, messages, reasons)
    for key, value in vars(module).items()
    if not key.startswith("__")
    for found in patterns_of(value, f"{module.__name__.rpartition('.')[2]}.{key}")
)


def steps(pattern: re.Pattern[str], text: str) -> int:
    """What finding a pattern everywhere in a text takes."""
    matcher = Matcher(pattern, text)
    matcher.find_all()
    return matcher.steps


def test_the_counting_matcher_agrees_with_re() -> None:
    """It finds what `re` finds, on every pattern and on texts made for it."""
    for pattern in PATTERNS.values():
        for text in attacks(pattern, 60):
            lower = text.lower()
            assert Matcher(pattern, lower).find_all() == sum(1 for _ in pattern.finditer(lower)), (pattern, text)


def test_the_counting_matcher_sees_more_than_linear_work() -> None:
    """What issue reports found: nested quantifiers, and a start at every character of a run."""
    nested = re.compile(r"(?:\w+=\S+ *)+!")
    runs = re.compile(r"\s+!")

    assert steps(nested, "a=a" * 8) > 3 * steps(nested, "a=a" * 6)
    assert steps(runs, " " * 200) > 3 * steps(runs, " " * 100)


@pytest.mark.parametrize("name", PATTERNS)
def test_every_pattern_takes_linear_work(name: str) -> None:
    """Twice the text takes about twice the steps, once white space is collapsed."""
    pattern = PATTERNS[name]
    if name in ("messages._BLANKS", "messages._EMPTY_LINES", "messages._NEW_LINES"):
        return  # they collapse white space themselves: one class, matched greedily, nothing after it
    for small, large in zip(attacks(pattern, SIZE), attacks(pattern, 2 * SIZE), strict=True):
        once, twice = messages.collapsed(small), messages.collapsed(large)
        if len(once) < SIZE // 2:
            continue  # nothing but white space
        growth = (steps(pattern, twice) + 1) / (steps(pattern, once) + 1)
        assert growth <= MOST * len(twice) / len(once) / 2, (growth, once[:80])


def calls(action: Callable[[], object]) -> int:
    """How many functions, of Python and of C, an action calls."""
    counted = 0

    def count(frame: FrameType, event: str, argument: object) -> None:  # noqa: ARG001
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


@pytest.mark.parametrize("pump", [" ", "a=a", "\t", "1 x, ", "1 node(s) had taint {, ", "0/1 nodes are available: ", "\\",
                                  "no nodes available to schedule pods ", "incompatible requirements, ", '"', ", and ",
                                  "unsatisfiable topology constraint for ", "error validating data: ", "\n\n", "[",
                                  "pod triggered scale-up: [", "Pod x is invalid: ", "0/3 nodes are available: 1 x. "])
@pytest.mark.parametrize("template", HOSTILE)
def test_a_hostile_message_takes_linear_work(template: str, pump: str) -> None:  # fmt: skip
    few, many = (template.format(pump * (size // len(pump))) for size in (4_000, 8_000))

    assert calls(lambda: messages.parse_all(many)) <= 2.4 * calls(lambda: messages.parse_all(few)) + 500


def test_a_message_beyond_the_cap_is_read_up_to_it() -> None:
    """A condition of a megabyte costs no more than one of 50,000 characters, and the rest is named."""
    text = "0/3 nodes are available: 3 Insufficient cpu. " + "x" * 1_000_000
    found = messages.parse(text)

    assert "(what follows the first 50000 characters was not read)" == found.not_understood[-1]
    assert calls(lambda: messages.parse_all(text)) < 2 * calls(lambda: messages.parse_all(text[:50_000])) + 500
