"""Commands on awkward starts: no hang, no crash, no certainty that the slow controllers contradict.

`python -m tests.bench.awkward [FIRST LAST]` draws a start for each seed and each kind of workload, and runs several
commands of the grammar, `explain` and `check` on it. It prints each fault once, and exits with 1 where there is any.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from kubectl_spread.kubectl.parsing import VERBS
from tests.judge import awkward

Plain = dict[str, Any]
_VERBS_OF_A_START = 7


def commands_of(items: list[Plain], kind: str, seed: int) -> list[awkward.Command]:
    """Return the commands for a start: some verbs of the grammar in turn, `explain` and `check`."""
    verbs = list(VERBS)
    first = _VERBS_OF_A_START * (seed * len(awkward.KINDS) + awkward.KINDS.index(kind))
    chosen = [verbs[(first + number) % len(verbs)] for number in range(_VERBS_OF_A_START)]
    return [*(awkward.simulated(items, verb, seed) for verb in chosen), *awkward.asked(items, seed)]


def main(first: int = 0, last: int = 25, folder: str = "") -> int:
    counts: Counter[str] = Counter()
    known: set[str] = set()
    wrongs = 0
    place = Path(folder or tempfile.mkdtemp())
    place.mkdir(parents=True, exist_ok=True)
    for seed in range(first, last):
        for kind in awkward.KINDS:
            items = awkward.start(kind, seed)
            if items is None:
                counts["no start"] += 1
                continue
            for command in commands_of(items, kind, seed):
                said = awkward.run(items, command, place)
                counts[f"{command.words[0]}: {'hang' if said.code is None else f'exit {said.code}'}"] += 1
                if command.words[0] == "simulate" and said.code in (0, 1):
                    wrong = awkward.contradictions(items, command, said.document)
                    sort = "not compared" if wrong is None else "different" if wrong else "the same"
                    counts[f"exact answers: {sort}"] += 1
                    for text in wrong or ():
                        print(f"{kind} {seed}: {command.text}: {text}", flush=True)
                    if wrong:
                        wrongs += 1
                        saved = {"items": items, "manifests": command.manifests, "words": command.words, "wrong": wrong}
                        (place / f"wrong-{wrongs}.json").write_text(json.dumps(saved), "utf-8")
                if said.fault:
                    counts[f"fault: {said.fault}"] += 1
                    if said.fault not in known:
                        known.add(said.fault)
                        print(f"{kind} {seed}: {command.text}: {said.fault}", flush=True)
                        saved = {"items": items, "manifests": command.manifests, "words": command.words}
                        (place / f"fault-{len(known)}.json").write_text(json.dumps(saved), "utf-8")
    for text, count in sorted(counts.items()):
        print(f"{text}: {count}")
    return int(bool(known or wrongs))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3]), *sys.argv[3:4]))
