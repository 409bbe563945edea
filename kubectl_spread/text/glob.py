"""Globs for the names of files and of objects, in the manner of .gitignore, and directories above a file.

`*` and `?` stop at a slash, `**` between slashes is any number of directories, `[a-c]` and `[!a-c]` are sets. A glob
without a slash names a file or directory anywhere. A glob with a slash starts at the root. A glob that matches a
directory matches everything below it. Negation with `!` is not supported.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

_SET = r"\[(!?)(\]?[^\]]*)\]"


class Globs(NamedTuple):
    """Globs, and the absolute path of the directory at which globs with a slash start."""

    root: str
    patterns: tuple[str, ...]

    def match(self, path: str) -> bool:
        """Return whether any glob matches a path, which is relative to the working directory or absolute."""
        if not self.patterns:
            return False
        with contextlib.suppress(ValueError):  # another drive
            path = os.path.relpath(path, self.root).replace(os.sep, "/")
        return any(matches(pattern, path) for pattern in self.patterns)


def upwards(directory: str) -> Iterator[str]:
    """Yield the absolute path of a directory, then those of its parents."""
    here = os.path.abspath(directory)
    yield here
    while (above := os.path.dirname(here)) != here:
        yield above
        here = above


def is_below(path: str, directory: str) -> bool:
    """Return whether a path is a directory, or something in it; both are absolute."""
    return path == directory or path.startswith(os.path.join(directory, ""))


def glob_error(pattern: str) -> str:
    """Return what is wrong with the sets of a glob; empty if nothing is."""
    for step in pattern.split("/"):
        rest = re.sub(_SET, "", step)
        if "[" in rest:
            return "a set without an end: `]` is missing"
        for members in re.findall(_SET, step):
            if any(first > last for first, last in re.findall(r"(?s)(.)-(.)", members[1])):
                return f"a set whose range runs backwards: {members[1]}"
    return ""


def matches(pattern: str, name: str) -> bool:
    """Return whether a glob matches a name whose parts have slashes between them."""
    steps, parts = [step for step in pattern.removeprefix("./").split("/") if step], name.split("/")
    if len(steps) == 1 and not pattern.startswith(("/", "./")):
        steps = ["**", *steps]
    if not steps:  # The root itself is no file or directory below it.
        return False
    reached = {0}  # how many parts the steps so far may take
    for step in steps[:-1]:
        if step == "**":
            reached = set(range(min(reached), len(parts)))
        else:
            reached = {at + 1 for at in reached if at < len(parts) and fnmatch.fnmatchcase(parts[at], step)}
        if not reached:
            return False
    return any(
        at < len(parts) and (steps[-1] == "**" or fnmatch.fnmatchcase(parts[at], steps[-1])) for at in sorted(reached)
    )
