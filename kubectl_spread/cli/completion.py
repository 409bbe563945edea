"""`kubectl_complete-spread`: what kubectl asks when a shell completes `kubectl spread`.

It is called with the words after `spread`, the last one being completed, and prints a candidate a line with a tab and
what it means; the last line is a number that says what else the shell may offer. Nothing else is printed, and the
program always ends well, for kubectl throws away what a program says that fails.

Source: k8s.io/kubectl pkg/cmd/plugin_completion.go (v0.36.2); spf13/cobra completions.go, ShellCompDirective.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NoReturn

from click.shell_completion import CompletionItem
from click.shell_completion import ShellComplete

from kubectl_spread.cli.main import commands
from kubectl_spread.text.wording import safe

# What cobra calls directives: files may be offered, or directories, or nothing but the candidates.
_FILES, _DIRECTORIES, _NO_FILES, _NO_SPACE = 0, 16, 4, 2
_OF_TYPES = {"file": _FILES, "dir": _DIRECTORIES}


def main() -> NoReturn:
    """Print the candidates and leave, whatever still waits for an answer."""
    output = sys.stdout
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        if sys.stderr is not None:
            os.dup2(nowhere.fileno(), sys.stderr.fileno())  # also what a credential plugin has to say
        with contextlib.suppress(Exception):
            text = "".join(f"{line}\n" for line in lines(sys.argv[1:]))
            output.write(text)
            output.flush()
    os._exit(0)


def lines(words: list[str]) -> list[str]:
    """What kubectl is told for some words."""
    items = candidates(words)
    plain = [item for item in items if item.type == "plain"]
    directive = next((_OF_TYPES[item.type] for item in items if item.type in _OF_TYPES), _NO_FILES)
    goes_on = any(str(item.value).endswith("/") for item in plain)
    return [*map(_line, plain), f":{directive | _NO_SPACE if goes_on else directive}"]


def candidates(words: list[str]) -> list[CompletionItem]:
    """What click offers for some words."""
    *before, incomplete = words or [""]
    complete = ShellComplete(commands, {}, "kubectl spread", "_KUBECTL_SPREAD_COMPLETE")
    return complete.get_completions(before, incomplete)


def _line(item: CompletionItem) -> str:
    value = safe(str(item.value))
    return f"{value}\t{safe(item.help)}" if item.help else value
