"""The decisions of Karpenter's solver, replayed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.karpenter import replay

LEAST_DECIDED = 0.98


@pytest.mark.slow
def test_agrees_with_the_recordings(corpus: Path) -> None:
    """At least 98 % of the cases are decided, and all of the decided ones are right.

    A case is decided if all outcomes are known, and no item differs that never did when it was recorded. It is right
    if each recorded outcome is predicted, with pods of one workload interchangeable; if an item that is equal in all
    predicted outcomes was equal in all recorded ones and has their value; and if each recorded text is predicted.
    """
    number, undecided, wrong = 0, [], {}
    for plain in replay.plains(corpus):
        case = replay.read(plain)
        found = replay.compare(case, replay.solution(case))
        number += 1
        if found.undecided or not found.is_complete:
            undecided.append(case.id)
        elif found.missing or found.wrong or found.texts:
            wrong[case.id] = found

    assert {} == wrong
    assert 0 < number
    assert len(undecided) <= (1 - LEAST_DECIDED) * number, undecided
