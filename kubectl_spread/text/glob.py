"""Globs for the names of files and of objects, in the manner of .gitignore.

`*` and `?` stop at a slash, `**` between slashes is any number of directories, `[a-c]` and `[!a-c]` are sets. A glob
without a slash names a file or directory anywhere. A glob with a slash starts at the root. A glob that matches a
directory matches everything below it. Negation with `!` is not supported.
"""

from __future__ import annotations

import functools
import os
import re
from typing import NamedTuple

_SET = r"\[(!?)(\]?[^\]]*)\]"


class Globs(NamedTuple):
    """Globs, and the absolute path of the directory at which globs with a slash start."""

    root: str
    patterns: tuple[str, ...]

    def match(self, path: str) -> bool:
        """Return whether any glob matches a path, which is relative to the working directory or absolute."""
        return bool(self.patterns) and any(matches(pattern, self._relative(path)) for pattern in self.patterns)

    def _relative(self, path: str) -> str:
        try:
            relative = os.path.relpath(path, self.root)
        except ValueError:  # another drive
            return path
        return relative.replace(os.sep, "/")


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
    return _compiled(pattern).match(name) is not None


@functools.lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    steps = [step for step in pattern.removeprefix("./").split("/") if step]
    is_anchored = pattern.startswith(("/", "./")) or len(steps) > 1
    # Two `**` in a row mean one; together they would be slow.
    steps = [step for at, step in enumerate(steps) if step != "**" or steps[at - 1 : at] != ["**"]]
    parts = [] if is_anchored else ["(?:.*/)?"]
    for at, step in enumerate(steps):
        is_last = at == len(steps) - 1
        if step == "**":
            parts.append(".+" if is_last else "(?:.*/)?")
        else:
            parts.append(_step(step) + ("" if is_last else "/"))
    try:
        return re.compile("".join(parts) + r"(?:/.*)?\Z", re.DOTALL)
    except re.error:  # an invalid set like [z-a] is literal text
        return re.compile(re.escape(pattern) + r"\Z")


def _step(step: str) -> str:
    """Return the regular expression of a part of a glob without slashes."""
    parts, at = [], 0
    while at < len(step):
        found = re.compile(_SET).match(step, at)
        if found is not None and found[2]:
            members = re.sub(r"([\\\[\]^&~|])", r"\\\1", found[2])
            parts.append(f"(?!/)[{'^' if found[1] else ''}{members}]")
            at = found.end()
            continue
        parts.append({"*": "[^/]*", "?": "[^/]"}.get(step[at]) or re.escape(step[at]))
        at += 1
    return "".join(parts)
