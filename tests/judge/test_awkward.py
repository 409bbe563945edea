"""Commands on awkward starts end, with an answer that the naive controllers do not contradict: no hang, no crash.

`python -m tests.bench.awkward` draws 2,400 commands.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_spread.kubectl.parsing import VERBS
from tests.bench.awkward import commands_of
from tests.judge import awkward

# Starts on which commands once hung: a pod of an ordered StatefulSet on a node that is gone.
HUNG = (5, 27)
# A start on which an eviction is under way while a command is given.
EVICTED = 65
# A start to which a manifest is applied that names a Deployment twice, once paused.
TWICE = 3024
# Starts on which controllers have work to do while a command is given: sizes of ReplicaSets differ, one has no owner.
UNFINISHED = (1205, 1215, 3101)
STARTS = [
    *((kind, seed) for kind in awkward.KINDS for seed in range(4)),
    *(("StatefulSet", seed) for seed in (*HUNG, EVICTED)),
    ("Pod", TWICE),
    *(("Deployment", seed) for seed in UNFINISHED),
]


@pytest.mark.parametrize(("kind", "seed"), STARTS, ids=[f"{kind} {seed}" for kind, seed in STARTS])
def test_commands_on_an_awkward_start_end(kind: str, seed: int, tmp_path: Path) -> None:
    """Each command answers within its limits, whatever is wrong with the cluster."""
    items = awkward.start(kind, seed)
    assert items is not None
    for command in commands_of(items, kind, seed):
        said = awkward.run(items, command, tmp_path)

        assert not said.fault, command.text
        if command.words[0] == "simulate" and said.code in (0, 1):
            assert not awkward.contradictions(items, command, said.document), command.text


def test_every_verb_is_drawn() -> None:
    """The starts together see all commands of the grammar."""
    drawn = set()
    for kind, seed in STARTS:
        for command in commands_of(awkward.start(kind, seed) or [], kind, seed):
            drawn |= {" ".join(command.words[1:3]), command.words[1]}

    assert drawn >= set(VERBS)


def test_no_suggestion_restarts_more_pods_than_run(tmp_path: Path) -> None:
    """A change that replaces the Pending pod of a Job without running pods restarts none."""
    items = awkward.start("Job", 6) or []
    (command,) = [item for item in awkward.asked(items, 6) if item.words[1] == "job/sweep"]
    suggested = awkward.run(items, command, tmp_path).document["suggestions"]

    assert suggested
    assert {item["rollout"]["restarts"] for item in suggested} == {0}
