"""Shell completion of arguments and options.

Names of the kubeconfig are read from its files. Names of the cluster are requested with a timeout of one second.
Without an answer there are no candidates and no messages.

Source: k8s.io/kubectl pkg/cmd/plugin_completion.go (v0.36.2); spf13/cobra completions.go, ShellCompDirective.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from typing import NoReturn, Optional, TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, ShellComplete

from kubectl_spread.cli.main import commands
from kubectl_spread.text.wording import safe

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


FILE = click.Path(readable=False)  # a shell completes it; the reader reports an unreadable file
_PATIENCE_S = 1.0
_MOST_NAMES = 500
_LARGEST_SNAPSHOT = 256 << 10  # bytes; larger snapshots are not read for completion
_LEVELS = ("error", "warning", "info")


def rules(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete codes and names of rules; after a comma, the next one."""
    before, comma, word = incomplete.rpartition(",")
    return [_item(f"{before}{comma}{name}", summary) for name, summary in _known() if _begins(name, word)]


def levels_of_rules(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete RULE=LEVEL: first the rule, then the level."""
    word, equals, level = incomplete.partition("=")
    if equals:
        return [_item(f"{word}={name}") for name in _LEVELS if name.startswith(level)]
    return [_item(f"{name}=", summary) for name, summary in _known() if _begins(name, word)]


def of_kubeconfig(section: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return the completion of the names in one section of the kubeconfig: `contexts`, `clusters` or `users`."""

    def complete(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from kubectl_spread.errors import SpreadError
        from kubectl_spread.sources.live import kubeconfig

        try:
            found = kubeconfig.names(ctx.params.get("kubeconfig"), section)
        except SpreadError:
            return []
        return [_item(name) for name in found if name.startswith(incomplete)]

    return complete


def namespaces(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the namespaces of the cluster."""
    return [_item(name) for name in _names(ctx, "Namespace") if name.startswith(incomplete)]


def targets(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete TYPE, TYPE/NAME, or a NAME after a TYPE."""
    return _targets_after(tuple(ctx.params.get(param.name or "") or ()), ctx, incomplete)


def _beginning(words: dict[str, str], incomplete: str) -> list[CompletionItem]:
    """Return the words with this beginning, and their summaries."""
    return [_item(word, summary) for word, summary in words.items() if word.startswith(incomplete)]


def topology_keys(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the short names of topology keys and the well-known labels."""
    from kubectl_spread.guarantee.policy.texts import LONG_KEYS

    names = {name: key for key, name in LONG_KEYS.items()}
    found = [_item(name, key) for name, key in names.items()] + [_item(key) for key in LONG_KEYS]
    return [item for item in found if item.value.startswith(incomplete)]


def steps(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return a verb with its second word, then kubectl's candidates: TYPE/NAME, or the name of a node."""
    from kubectl_spread.kubectl.grammar import GROUPS, VERBS

    before = tuple(ctx.params.get(param.name or "") or ())
    if not before:
        words = {verb.split()[0]: "" if " " in verb else found.summary for verb, found in VERBS.items()}
        return _beginning(words, incomplete)
    if len(before) == 1 and before[0] in GROUPS:
        seconds = {verb.split()[1]: found.summary for verb, found in VERBS.items() if verb.startswith(f"{before[0]} ")}
        return _beginning(seconds, incomplete)
    if before[0] in ("drain", "cordon", "uncordon"):
        return _beginning(dict.fromkeys(_names(ctx, "Node"), ""), incomplete)
    return _targets_after(before[2 if before[0] in GROUPS else 1 :], ctx, incomplete)


def _targets_after(before: tuple[str, ...], ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    from kubectl_spread.objects.workloads.kinds import find_kind

    word, slash, name = incomplete.partition("/")
    if slash:
        return [_item(f"{word}/{found}") for found in _names(ctx, find_kind(word)) if found.startswith(name)]
    if before and "/" not in before[0]:
        return [_item(found) for found in _names(ctx, find_kind(before[0])) if found.startswith(incomplete)]
    return [_item(found) for found in _types() if found.startswith(incomplete)]


def files_or_targets(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return files and `TYPE/`; after a type that is not a directory, return TYPE/NAME."""
    import os

    from kubectl_spread.objects.workloads.kinds import find_kind

    kind, slash, _ = incomplete.partition("/")
    if slash and find_kind(kind) not in (None, "PodTemplate") and not os.path.isdir(kind):
        return targets(ctx, param, incomplete)
    types = [] if slash else [_item(f"{name}/") for name in _types() if incomplete and name.startswith(incomplete)]
    return [*types, *FILE.shell_complete(ctx, param, incomplete)]


def _types() -> list[str]:
    """Return kubectl's names of the kinds, without the short names."""
    from kubectl_spread.objects.workloads.kinds import KINDS

    return [entry.names[0] for kind, entry in KINDS.items() if kind != "PodTemplate"]


def _names(ctx: click.Context, kind: Optional[str]) -> list[str]:
    """Return the names of a kind in the live cluster or in a snapshot; none if they cannot be read."""
    from kubectl_spread.errors import SpreadError

    try:
        return _in_snapshot(ctx, kind) if ctx.params.get("snapshot") else _in_cluster(ctx, kind)
    except SpreadError:
        return []


def _in_cluster(ctx: click.Context, kind: Optional[str]) -> list[str]:
    """Return the names that the live cluster sends in time; a thread reads them, so that the shell can go on."""
    import threading

    from kubectl_spread.errors import SpreadError
    from kubectl_spread.sources.live.flags import Flags
    from kubectl_spread.sources.live.reading import Session

    given = {field: ctx.params[field] for field in Flags._fields if ctx.params.get(field)}
    session = Session(Flags(**{**given, "request_timeout": f"{_PATIENCE_S}s"}))
    found: list[str] = []

    def ask() -> None:
        with contextlib.suppress(SpreadError):
            found.extend(session.names(kind or "", ctx.params.get("namespace") or "", most=_MOST_NAMES))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(_PATIENCE_S)
    return list(found)


def _in_snapshot(ctx: click.Context, kind: Optional[str]) -> list[str]:
    import os

    from kubectl_spread.sources import snapshot

    paths = tuple(ctx.params["snapshot"])
    if any(not os.path.isfile(path) or os.path.getsize(path) > _LARGEST_SNAPSHOT for path in paths):
        return []
    found: dict[str, None] = {}
    for plain in snapshot.objects(*paths).objects:
        metadata = plain.get("metadata") or {}
        if kind == "Namespace" and metadata.get("namespace"):
            found[metadata["namespace"]] = None
        in_namespace = kind == "Node" or (metadata.get("namespace") or "default") == (
            ctx.params.get("namespace") or "default"
        )
        if plain.get("kind") == kind and (kind == "Namespace" or in_namespace):
            found[metadata.get("name") or ""] = None
    return sorted(found)[:_MOST_NAMES]


def _known() -> list[tuple[str, str]]:
    from kubectl_spread.lint.registry import RULES

    return [(name, rule.summary) for rule in RULES.values() for name in (rule.code, rule.name)]


def _begins(name: str, word: str) -> bool:
    """Return a code in either case, a name only as it is written; before the first letter, codes alone."""
    return name.startswith(word.upper()) or bool(word and name.startswith(word))


def _item(value: str, summary: str = "") -> CompletionItem:
    from click.shell_completion import CompletionItem

    return CompletionItem(value, help=summary)


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
