"""Trial of an archive as a user meets it: unpacked, with an empty PATH and environment.

`python release/trial.py ARCHIVE` checks its size and its answers, and with `--times` its start-up time as well; it
prints the numbers. It uses only the standard library, so that it runs on every system of the release workflow.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
MOST_UNPACKED_MB = 120
MOST_HELP_MS, MOST_CHECK_MS = 120, 180
_RUNS = 9
_USUAL_START_MS = 12  # CPU of `python -I -S -c pass` on an idle machine of the year 2024
_WEB = ROOT / "examples" / "shop" / "web.yaml"
_RUNNING = ROOT / "examples" / "shop" / "running.yaml"


class Question(NamedTuple):
    """Arguments of the program, with the exit code and a text of the answer."""

    words: tuple[str, ...]
    code: int
    answer: str


QUESTIONS = (
    Question(("version",), 0, "Client Version: v"),
    Question(("--help",), 0, "Usage: kubectl spread "),
    Question(("check", str(_WEB)), 0, "warning SPR401 missing-revision-key"),
    Question(("check", str(_WEB), "--topology", "zones=3,nodes=2,cpu=4,memory=16Gi"), 0, "4 of 4 replicas placed"),
    Question(("explain", "-f", str(_WEB), "--topology", "zones=3,nodes=2,cpu=4,memory=16Gi"), 0, "fits on 6 nodes"),
    Question(("status", "-A", "--snapshot", str(_RUNNING)), 1, "statefulset/db"),
    Question(("simulate", "uncordon", "c-1", "--snapshot", str(_RUNNING)), 0, "uncordon c-1: completes"),
    Question(("rule", "SPR903"), 0, "## What it does"),
    Question(("demo", "mistakes"), 0, "error SPR101"),
    Question(("explain", "--message", "0/1 nodes are available: 1 Insufficient cpu."), 0, "Insufficient cpu"),
    Question(("status", "--kubeconfig", "no-such-file", "-A"), 3, ""),
    Question(("lsp", "--help"), 0, "language server"),
)


def main() -> int:
    """Unpack an archive, try it, and print the numbers; return 1 if anything is wrong."""
    archive = Path(sys.argv[1])
    timed = "--times" in sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        unpack(archive, home)
        problems = [*_size(home), *_answers(home), *(_times(home) if timed else [])]
    for problem in problems:
        sys.stderr.write(f"error: {archive.name}: {problem}\n")
    return int(bool(problems))


def unpack(archive: Path, target: Path) -> None:
    """Unpack an archive with the modes of its files."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(target)  # noqa: S202 (we built it)
    else:
        with tarfile.open(archive) as packed_tar:
            packed_tar.extractall(target)  # noqa: S202


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the program with no PATH and no environment. Windows needs the name of its own directory."""
    program = home / ("kubectl-spread.exe" if os.name == "nt" else "kubectl-spread")
    kept = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    command = [str(program), *words]
    return subprocess.run(
        command, check=False, env=kept, cwd=home, capture_output=True, text=True, encoding="utf-8", timeout=300
    )


def _size(home: Path) -> list[str]:
    files = [path for path in home.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    sys.stdout.write(f"unpacked: {size:.0f} MB in {len(files)} files\n")
    problems = [f"unpacked it has {size:.0f} MB, more than {MOST_UNPACKED_MB}"] if size > MOST_UNPACKED_MB else []
    return problems + [f"it has a link: {path}" for path in home.rglob("*") if path.is_symlink()]


def _answers(home: Path) -> list[str]:
    problems = []
    for question in QUESTIONS:
        done = run(home, *question.words)
        if done.returncode != question.code or question.answer not in done.stdout or "Traceback" in done.stderr:
            said = (done.stderr or done.stdout)[-500:]
            problems.append(f"`{' '.join(question.words)}` exited with {done.returncode}: {said}")
    return problems


def _times(home: Path) -> list[str]:
    """Compare start-up times with their limits, both for an idle machine; Windows does not report them."""
    if os.name == "nt":
        return []
    python = _least_ms([sys.executable, "-I", "-S", "-c", "pass"])
    load = max(1.0, python / _USUAL_START_MS)
    program = str(home / "kubectl-spread")
    problems = []
    for words, limit in ((("--help",), MOST_HELP_MS), (("check", str(_WEB)), MOST_CHECK_MS)):
        measured = _least_ms([program, *words])
        sys.stdout.write(
            f"{words[0]}: {measured:.0f} ms of CPU; Python alone {python:.0f} ms; limit {limit * load:.0f} ms\n"
        )
        if measured > limit * load:
            problems.append(f"`{words[0]}` takes {measured:.0f} ms of CPU, more than {limit * load:.0f}")
    return problems


def _least_ms(command: list[str]) -> float:
    """Return the least CPU time of several runs in milliseconds."""
    import resource

    least = float("inf")
    for _ in range(_RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=False, env={}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least * 1000


if __name__ == "__main__":
    sys.exit(main())
