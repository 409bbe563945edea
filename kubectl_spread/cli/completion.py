"""`kubectl_complete-spread`: the program that kubectl runs to complete `kubectl spread` in a shell.

Its arguments are the words after `spread`; the last one is to be completed. It prints one candidate per line, with a
tab and a description. The last line is a number with further options for the shell. It prints nothing else, and always
exits with 0, because kubectl discards the output of a failed program.

Source: k8s.io/kubectl pkg/cmd/plugin_completion.go (v0.36.2); spf13/cobra completions.go, ShellCompDirective.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NoReturn

from click.shell_completion import CompletionItem, ShellComplete

from kubectl_spread.cli.main import commands
from kubectl_spread.text.wording import safe

# cobra's directives: the shell may add files, or directories, or nothing to the candidates.
_FILES, _DIRECTORIES, _NO_FILES, _NO_SPACE = 0, 16, 4, 2
_OF_TYPES = {"file": _FILES, "dir": _DIRECTORIES}


def main() -> NoReturn:
    """Print the candidates and exit, without waiting for unfinished requests."""
    output = sys.stdout
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        if sys.stderr is not None:
            os.dup2(nowhere.fileno(), sys.stderr.fileno())  # this also silences credential plugins
        with contextlib.suppress(Exception):
            text = "".join(f"{line}\n" for line in lines(sys.argv[1:]))
            output.write(text)
            output.flush()
    os._exit(0)


def lines(words: list[str]) -> list[str]:
    """Return the lines to print for some words."""
    items = candidates(words)
    plain = [item for item in items if item.type == "plain"]
    directive = next((_OF_TYPES[item.type] for item in items if item.type in _OF_TYPES), _NO_FILES)
    goes_on = any(str(item.value).endswith("/") for item in plain)
    return [*map(_line, plain), f":{directive | _NO_SPACE if goes_on else directive}"]


def candidates(words: list[str]) -> list[CompletionItem]:
    """Return click's candidates for some words."""
    *before, incomplete = words or [""]
    complete = ShellComplete(commands, {}, "kubectl spread", "_KUBECTL_SPREAD_COMPLETE")
    return complete.get_completions(before, incomplete)


def _line(item: CompletionItem) -> str:
    value = safe(str(item.value))
    return f"{value}\t{safe(item.help)}" if item.help else value
