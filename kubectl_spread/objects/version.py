"""Releases of Kubernetes whose rules are known."""

from __future__ import annotations

import re

FIRST_MINOR, LAST_MINOR = 18, 36


class VersionError(ValueError):
    """Not a version whose rules are known."""


def minor_of(text: str) -> int:
    """The minor version of a release: 36 for `1.36`, 34 for `v1.34.1`.

    Raises:
        VersionError: with a sentence.
    """
    match = re.match(r"v?1\.([0-9]+)\+?(\.[0-9]+)?([-+][-+.0-9A-Za-z]*)?\Z", text)
    if match is None:
        raise VersionError(f"not a Kubernetes version: {text}; write it as 1.{LAST_MINOR}")
    minor = int(match[1])
    if not FIRST_MINOR <= minor <= LAST_MINOR:
        raise VersionError(f"the rules of Kubernetes 1.{minor} are not known: only 1.{FIRST_MINOR} to 1.{LAST_MINOR}")
    return minor
