"""Shell completion of arguments and options.

Names of the kubeconfig are read from its files. Names of the cluster are requested with a timeout of one second.
Without an answer there are no candidates and no messages.

Source: k8s.io/kubectl pkg/cmd/plugin_completion.go (v0.36.2); spf13/cobra completions.go, ShellCompDirective.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NoReturn, Optional

import click
from click.shell_completion import CompletionItem, ShellComplete

from kubectl_spread.cli.main import commands
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.operations.rule_choice import LEVELS
from kubectl_spread.text.wording import safe

FILE = click.Path(readable=False)  # a shell completes it; the reader reports an unreadable file
_PATIENCE_S = 1.0
_MOST_NAMES = 500
_LARGEST_SNAPSHOT = 256 << 10  # bytes; larger snapshots are not read for completion
_NOTHING: Mapping[str, str] = {}


def rules(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete codes and names of rules; after a comma, the next one."""
    before, comma, word = incomplete.rpartition(",")
    return [CompletionItem(f"{before}{comma}{name}", help=summary) for name, summary in _rules(word)]


def levels_of_rules(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete RULE=LEVEL: first the rule, then the level."""
    word, equals, _ = incomplete.partition("=")
    if equals:
        return _beginning((f"{word}={name}" for name in LEVELS), incomplete)
    return [CompletionItem(f"{name}=", help=summary) for name, summary in _rules(word)]


def _rules(word: str) -> Iterator[tuple[str, str]]:
    """Yield codes in either case, and names only as they are written; before the first letter, codes alone."""
    from kubectl_spread.lint.registry import RULES

    for rule in RULES.values():
        for name in (rule.code, rule.name):
            if name.startswith(word.upper()) or (word and name.startswith(word)):
                yield name, rule.summary


def of_kubeconfig(section: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return the completion of the names in one section of the kubeconfig: `contexts`, `clusters` or `users`."""

    def complete(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from kubectl_spread.errors import SpreadError
        from kubectl_spread.sources.live import kubeconfig

        try:
            found = kubeconfig.names(ctx.params.get("kubeconfig"), section)
        except SpreadError:
            return []
        return _beginning(found, incomplete)

    return complete


def namespaces(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the namespaces of the cluster."""
    return _beginning(_names(ctx, "Namespace"), incomplete)


def targets(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete TYPE, TYPE/NAME, or a NAME after a TYPE."""
    return _targets_after(tuple(ctx.params.get(param.name or "") or ()), ctx, incomplete)


def _beginning(words: Iterable[str], incomplete: str, about: Mapping[str, str] = _NOTHING) -> list[CompletionItem]:
    """Return the words with this beginning, and what is said about them."""
    return [CompletionItem(word, help=about.get(word, "")) for word in words if word.startswith(incomplete)]


def topology_keys(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the short names of topology keys and the well-known labels."""
    from kubectl_spread.guarantee.texts import LONG_KEYS

    names = {**{name: key for key, name in LONG_KEYS.items()}, **dict.fromkeys(LONG_KEYS, "")}
    return _beginning(names, incomplete, names)


def steps(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return a verb with its second word, then kubectl's candidates: TYPE/NAME, or the name of a node."""
    from kubectl_spread.kubectl.parsing import GROUPS, VERBS

    before = tuple(ctx.params.get(param.name or "") or ())
    is_group = len(before) == 1 and before[0] in GROUPS
    if not before or is_group:
        words: dict[str, str] = {}
        for verb, found in VERBS.items():
            first, *second = verb.split()
            if not before:
                words[first] = "" if second else found.summary
            elif first == before[0]:
                words[second[0]] = found.summary
        return _beginning(words, incomplete, words)
    if before[0] in ("drain", "cordon", "uncordon"):
        return _beginning(dict.fromkeys(_names(ctx, "Node")), incomplete)
    return _targets_after(before[2 if before[0] in GROUPS else 1 :], ctx, incomplete)


def _targets_after(before: tuple[str, ...], ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    from kubectl_spread.objects.workloads.kinds import find_kind

    word, slash, _ = incomplete.partition("/")
    if slash:
        return _beginning((f"{word}/{found}" for found in _names(ctx, find_kind(word))), incomplete)
    known = _names(ctx, find_kind(before[0])) if before and "/" not in before[0] else _types()
    return _beginning(known, incomplete)


def files_or_targets(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return files and `TYPE/`; after a type that is not a directory, return TYPE/NAME."""
    from kubectl_spread.objects.workloads.kinds import find_kind

    kind, slash, _ = incomplete.partition("/")
    if slash and find_kind(kind) not in (None, "PodTemplate") and not os.path.isdir(kind):
        return targets(ctx, param, incomplete)
    types = _beginning((f"{name}/" for name in _types()), incomplete) if incomplete and not slash else []
    return [*types, *FILE.shell_complete(ctx, param, incomplete)]


def _types() -> list[str]:
    """Return kubectl's names of the kinds, without the short names."""
    from kubectl_spread.objects.workloads.kinds import KINDS

    return [entry.names[0] for kind, entry in KINDS.items() if kind != "PodTemplate"]


def _names(ctx: click.Context, kind: Optional[str]) -> list[str]:
    """Return the names of a kind in a snapshot or a live cluster; none if it cannot be read, or answers too late."""
    from kubectl_spread.errors import SpreadError

    try:
        if ctx.params.get("snapshot"):
            return _in_snapshot(ctx, kind)
        from kubectl_spread.sources.live.flags import Flags
        from kubectl_spread.sources.live.reading import Session
        from kubectl_spread.sources.live.transport import Task

        given = {field: ctx.params[field] for field in Flags._fields if ctx.params.get(field)}
        session = Session(Flags(**{**given, "request_timeout": f"{_PATIENCE_S}s"}))
        # A thread reads the names, so that the shell can go on.
        task = Task(lambda: session.names(kind or "", ctx.params.get("namespace") or "", most=_MOST_NAMES))
        return task.result() if task.wait(_PATIENCE_S) else []
    except SpreadError:
        return []


def _in_snapshot(ctx: click.Context, kind: Optional[str]) -> list[str]:
    from kubectl_spread.sources import snapshot

    paths = tuple(ctx.params["snapshot"])
    if any(not os.path.isfile(path) or os.path.getsize(path) > _LARGEST_SNAPSHOT for path in paths):
        return []
    found: dict[str, None] = {}
    for plain in snapshot.load(*paths, keeps_objects=True).objects:
        metadata = fields(plain, "metadata")
        if kind == "Namespace" and metadata.get("namespace"):
            found[metadata["namespace"]] = None
        in_namespace = kind == "Node" or (metadata.get("namespace") or "default") == (
            ctx.params.get("namespace") or "default"
        )
        if plain.get("kind") == kind and (kind == "Namespace" or in_namespace):
            found[metadata.get("name") or ""] = None
    return sorted(found)[:_MOST_NAMES]


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
    """Return the lines to print for some words: click's candidates, and cobra's directive."""
    *before, incomplete = words or [""]
    complete = ShellComplete(commands, {}, "kubectl spread", "_KUBECTL_SPREAD_COMPLETE")
    items = complete.get_completions(before, incomplete)
    texts = {safe(str(item.value)): item.help for item in items if item.type == "plain"}
    directive = next((_OF_TYPES[item.type] for item in items if item.type in _OF_TYPES), _NO_FILES)
    directive |= _NO_SPACE if any(text.endswith("/") for text in texts) else 0
    shown = [f"{text}\t{safe(about)}" if about else text for text, about in texts.items()]
    return [*shown, f":{directive}"]
