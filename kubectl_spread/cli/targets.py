"""Arguments that name objects, read as kubectl reads them."""

from __future__ import annotations

import os
from typing import Optional, TYPE_CHECKING

import click

from kubectl_spread.objects.workloads.kinds import find_kind, KINDS
from kubectl_spread.operations.selection import ObjectName, Selection

if TYPE_CHECKING:
    from kubectl_spread.objects.selectors import Selector

_MIXED = (
    "there is no need to specify a resource type as a separate argument when passing arguments in resource/name form"
)


def selection(
    words: tuple[str, ...],
    label_selector: Optional[str],
    ctx: click.Context,
    *,
    verb: str,
    takes_names: bool = True,
) -> Selection:
    """Return which workloads the arguments and -l select, in every namespace.

    Raises:
        click.UsageError: kubectl would refuse them, too.
    """
    names = parse_targets(words, ctx, verb=verb, takes_names=takes_names)
    return names._replace(selector=_selector(label_selector, names, ctx))


def namespace_of(
    chosen: Selection, namespace: Optional[str], ctx: click.Context, *, all_namespaces: bool
) -> Optional[str]:
    """Return the namespace of -n and -A: None for the context's, empty for all.

    Raises:
        click.UsageError: -A excludes -n and names.
    """
    if all_namespaces and (namespace is not None or chosen.targets):
        what = "--namespace" if namespace is not None else "a resource by name"
        raise click.UsageError(f"{what} and --all-namespaces exclude each other", ctx)
    return "" if all_namespaces else namespace or None


def without_files(words: tuple[str, ...], paths: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words without names of existing files, and the paths of -f with these files."""
    files = tuple(word for word in words if os.path.isfile(word))
    return tuple(word for word in words if word not in files), (*paths, *files)


def parse_targets(words: tuple[str, ...], ctx: click.Context, *, verb: str, takes_names: bool = True) -> Selection:
    """Parse `deploy`, `deploy,sts`, `deploy web api`, `deploy/web sts/db`, or names alone, `web`.

    Args:
        words: the arguments.
        ctx: of the command, for its usage.
        verb: the command's action, for messages.
        takes_names: whether a word that is no type is the name of a pod or workload of any type.

    Raises:
        click.UsageError: kubectl would refuse them, too.
    """
    if not words:
        return Selection()
    slashed = ["/" in word for word in words]
    if any(slashed):
        if not all(slashed):
            raise click.UsageError(_MIXED, ctx)
        return Selection(tuple(_target(word, ctx, verb=verb) for word in words))
    if takes_names and "," not in words[0] and find_kind(words[0]) is None:
        return Selection(tuple(ObjectName("", word) for word in words))
    kinds = [_kind(word, ctx, verb=verb, is_alone=len(words) == 1) for word in words[0].split(",")]
    if len(words) == 1:
        return Selection(kinds=frozenset(kinds))
    return Selection(tuple(ObjectName(kind, name) for kind in kinds for name in words[1:]))


def _selector(text: Optional[str], asked: Selection, ctx: click.Context) -> Optional[Selector]:
    """Return the selection with the label selector of -l.

    Raises:
        click.UsageError: it is not a selector, or names are given, too.
    """
    if text is None:
        return None
    if asked.targets:
        raise click.UsageError("name cannot be provided when a selector is specified", ctx)
    from kubectl_spread.objects import selectors as selector_text

    try:
        return selector_text.parse(text)
    except selector_text.SelectorError as error:
        raise click.UsageError(str(error), ctx) from None


def _target(word: str, ctx: click.Context, *, verb: str) -> ObjectName:
    kind_word, _, name = word.partition("/")
    if not kind_word or not name or "/" in name:
        raise click.UsageError("arguments in resource/name form must have a single resource and name", ctx)
    return ObjectName(_kind(kind_word, ctx, verb=verb), name)


def _kind(word: str, ctx: click.Context, *, verb: str, is_alone: bool = False) -> str:
    kind = find_kind(word)
    if kind is None or kind == "PodTemplate":
        known = ", ".join(entry.names[0] for key, entry in KINDS.items() if key != "PodTemplate")
        wrong = f"`{word}` is not a resource type with pods" + (f" to {verb}" if kind is not None else "")
        hint = f"; write deploy/{word}" if is_alone and word and kind is None else ""
        raise click.UsageError(f"{wrong}{hint}. Types: {known}", ctx)
    return kind
