"""Releases of Kubernetes whose rules are known."""

from __future__ import annotations

import re
from typing import Optional

FIRST_MINOR, LAST_MINOR = 18, 36

# The minor version from which on a field of a constraint counts: the first with its feature gate on by default.
FIELD_SINCE: dict[str, int] = {"minDomains": 27, "nodeAffinityPolicy": 26, "nodeTaintsPolicy": 26, "matchLabelKeys": 27}


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


def kubelet_minor(text: str) -> Optional[int]:
    """The minor version that a node's `kubeletVersion` tells, `v1.29.3-gke.1`; None where it tells none."""
    match = re.match(r"v?1\.([0-9]{1,3})\b", text)
    return None if match is None else int(match[1])
