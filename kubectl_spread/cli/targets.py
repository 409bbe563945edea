"""Arguments that name objects, read as kubectl reads them; what kubectl would refuse is wrong usage."""

from __future__ import annotations

import os
from typing import Optional

import click

from kubectl_spread.objects.workloads.kinds import find_kind, KINDS
from kubectl_spread.operations.selection import ObjectName, Selection

_MIXED = (
    "there is no need to specify a resource type as a separate argument when passing arguments in resource/name form"
)


def selection(
    words: tuple[str, ...], label_selector: Optional[str] = None, *, verb: str, takes_names: bool = True
) -> Selection:
    """Return which workloads the arguments and -l select, in every namespace.

    Args:
        words: `deploy`, `deploy,sts`, `deploy web api`, `deploy/web sts/db`, or names alone, `web`.
        label_selector: the text of -l.
        verb: the command's action, for messages.
        takes_names: whether a word that is no type is the name of a pod or workload of any type.
    """
    found = _named(words, verb, takes_names=takes_names) if words else Selection()
    if label_selector is None:
        return found
    if found.targets:
        raise click.UsageError("name cannot be provided when a selector is specified")
    from kubectl_spread.objects import selectors

    try:
        return found._replace(selector=selectors.parse(label_selector))
    except selectors.SelectorError as error:
        raise click.UsageError(str(error)) from None


def namespace_of(chosen: Selection, namespace: Optional[str], *, all_namespaces: bool) -> Optional[str]:
    """Return the namespace of -n and -A: None for the context's, empty for all; -A excludes -n and names."""
    if all_namespaces and (namespace is not None or chosen.targets):
        what = "--namespace" if namespace is not None else "a resource by name"
        raise click.UsageError(f"{what} and --all-namespaces exclude each other")
    return "" if all_namespaces else namespace or None


def without_files(words: tuple[str, ...], paths: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words without names of existing files, and the paths of -f with these files."""
    files = tuple(word for word in words if os.path.isfile(word))
    return tuple(word for word in words if word not in files), (*paths, *files)


def _named(words: tuple[str, ...], verb: str, *, takes_names: bool) -> Selection:
    slashed = ["/" in word for word in words]
    if any(slashed):
        if not all(slashed):
            raise click.UsageError(_MIXED)
        parts = [word.split("/") for word in words]
        if any(len(part) != 2 or not all(part) for part in parts):
            raise click.UsageError("arguments in resource/name form must have a single resource and name")
        return Selection(tuple(ObjectName(_kind(kind, verb), name) for kind, name in parts))
    if takes_names and "," not in words[0] and find_kind(words[0]) is None:
        return Selection(tuple(ObjectName("", word) for word in words))
    kinds = [_kind(word, verb, is_alone=len(words) == 1) for word in words[0].split(",")]
    if len(words) == 1:
        return Selection(kinds=frozenset(kinds))
    return Selection(tuple(ObjectName(kind, name) for kind in kinds for name in words[1:]))


def _kind(word: str, verb: str, *, is_alone: bool = False) -> str:
    kind = find_kind(word)
    if kind is None or kind == "PodTemplate":
        known = ", ".join(entry.names[0] for key, entry in KINDS.items() if key != "PodTemplate")
        wrong = f"`{word}` is not a resource type with pods" + (f" to {verb}" if kind is not None else "")
        hint = f"; write deploy/{word}" if is_alone and word and kind is None else ""
        raise click.UsageError(f"{wrong}{hint}. Types: {known}")
    return kind
