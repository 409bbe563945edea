"""Baselines: files with the accepted findings of a project.

Rule, file, object and field identify a finding, not its line. `count` is the number of equal findings. File names are
relative to the baseline's own directory, so the working directory does not matter.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple, Optional

from kubectl_spread.errors import SourceError
from kubectl_spread.lint.finding import Finding
from kubectl_spread.report.documents import API_VERSION, dumps
from kubectl_spread.text.source import SourceFile

_KIND = "Baseline"
_FIELDS = ("code", "file", "kind", "namespace", "name", "path")  # as in identity

Identity = tuple[str, ...]


class Baseline(NamedTuple):
    """Counts of accepted findings by identity; file names are relative to the directory `root`."""

    root: str
    counts: dict[Identity, int]


class BaselineMatch(NamedTuple):
    """The new findings, the number of accepted ones, and the number of accepted ones that no longer exist."""

    findings: list[Finding]
    known: int
    gone: int


def read(source: SourceFile) -> Optional[Baseline]:
    """Return the baseline in a file; None if it is JSON, but not a baseline.

    Raises:
        SourceError: the file is not JSON.
    """
    try:
        document = json.loads(source.text)
    except json.JSONDecodeError as error:
        raise SourceError(
            source.name, f"not JSON: {error.msg.lower()}", line=error.lineno, column=error.colno
        ) from None
    except RecursionError:
        raise SourceError(source.name, "not a baseline: nested too deep") from None
    except ValueError:
        raise SourceError(source.name, "not a baseline: a number has too many digits") from None
    if not isinstance(document, dict) or document.get("kind") != _KIND:
        return None
    entries = document.get("findings")
    if not isinstance(entries, list):
        return None
    counts: Counter[Identity] = Counter()
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("object"), dict):
            return None
        fields, count = {**entry, **entry["object"]}, entry.get("count", 1)
        key = tuple(fields[name] for name in _FIELDS if isinstance(fields.get(name), str))
        if len(key) != len(_FIELDS) or type(count) is not int or count < 1:
            return None
        counts[key] += count
    return Baseline(_root(source.name), counts)


def compare(findings: Iterable[Finding], baseline: Baseline, *, files: Iterable[str], is_whole: bool) -> BaselineMatch:
    """Separate new findings from accepted ones; a decoding error is always new.

    Args:
        findings: all findings of the run.
        baseline: the accepted findings.
        files: the checked files. Findings of other files are not reported as fixed.
        is_whole: whether these are all files of the project, so that findings of missing files are fixed.
    """
    left = Counter(baseline.counts)
    fresh = []
    known = 0
    for finding in findings:
        key = _identity(finding, baseline.root)
        if left[key] > 0 and not finding.is_unreadable:
            left[key] -= 1
            known += 1
        else:
            fresh.append(finding)
    seen = {_relative(name, baseline.root) for name in files}
    fixed = sum(count for key, count in left.items() if is_whole or not _is_unchecked(key, baseline.root, seen))
    return BaselineMatch(fresh, known, fixed)


def render(
    findings: Iterable[Finding], path: str, *, before: Optional[Baseline], files: Iterable[str], is_whole: bool
) -> str:
    """Return the text of a baseline at a path; keep the earlier entries of unchecked files."""
    root = _root(path)
    counts = Counter(_identity(finding, root) for finding in findings if not finding.is_unreadable)
    seen = {_relative(name, root) for name in files}
    for key, count in before.counts.items() if before is not None and not is_whole else ():
        if _is_unchecked(key, root, seen):
            counts[key] += count
    entries = [
        {
            "code": code,
            "file": file,
            "object": {"kind": kind, "namespace": namespace, "name": name},
            "path": path,
            "count": count,
        }
        for (code, file, kind, namespace, name, path), count in sorted(counts.items())
    ]
    return dumps({"apiVersion": API_VERSION, "kind": _KIND, "findings": entries}) + "\n"


def _is_unchecked(key: Identity, root: str, seen: set[str]) -> bool:
    """Return whether an accepted finding is in an existing but unchecked file, or from standard input."""
    name = key[_FIELDS.index("file")]
    return name not in seen and (name.startswith("<") or os.path.exists(os.path.join(root, name)))


def identity(finding: Finding, file: str) -> Identity:
    """Return the identity of a finding without its line: rule, file, kind, namespace and name of the object, field."""
    return (finding.rule.code, file, *finding.object, finding.path)


def _identity(finding: Finding, root: str) -> Identity:
    return identity(finding, _relative(finding.place.source.name, root))


def _relative(name: str, root: str) -> str:
    if name.startswith("<"):
        return name  # standard input
    try:
        return os.path.relpath(name, root).replace(os.sep, "/")
    except ValueError:  # another drive
        return name


def _root(path: str) -> str:
    return os.path.dirname(os.path.abspath(path))
