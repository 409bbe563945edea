"""Supported and measured releases of Kubernetes."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple, Optional

from kubectl_spread.text.wording import short

# Decisions were recorded up to RECORDED_MINOR; up to LAST_MINOR, release notes tell what changed.
FIRST_MINOR, RECORDED_MINOR, LAST_MINOR = 18, 36, 38
_PLAUSIBLE_MINOR = LAST_MINOR + 10  # a larger number in a flag or a file counts as a mistake


class Release(NamedTuple):
    """A release, in the order of release numbers: Release(34, 2) is 1.34.2."""

    minor: int
    patch: int = 0

    @property
    def text(self) -> str:
        return f"1.{self.minor}.{self.patch}"


# The patch whose decisions were recorded for each minor version. A version without a patch means this patch.
MEASURED = {
    20: 15,
    21: 9,
    22: 6,
    23: 9,
    24: 17,
    25: 16,
    26: 15,
    27: 16,
    28: 8,
    29: 14,
    30: 10,
    31: 8,
    32: 5,
    33: 3,
    34: 1,
    35: 4,
    36: 2,
}
# The last patches of the minor versions without recordings.
_UNMEASURED = {18: 20, 19: 16}


class VersionError(ValueError):
    """A version that does not parse or is not supported."""


def default_release(minor: int) -> Release:
    """Return the release that a minor version without a patch means."""
    return Release(minor, {**_UNMEASURED, **MEASURED}.get(minor, 0))


LATEST = default_release(RECORDED_MINOR)  # the newest recorded release, which is the default


@functools.lru_cache(maxsize=256)  # the rows of `behaviours` name the same few releases
def release_of(text: str) -> Release:
    """Parse a version: `1.36`, `v1.34.1`, `v1.29.3-gke.1`. Versions newer than all supported ones parse, too.

    Raises:
        VersionError: with a sentence.
    """
    match = re.match(r"v?1\.([0-9]{1,9})\+?(?:\.([0-9]{1,9}))?([-+][-+.0-9A-Za-z]*)?\Z", text)
    if match is None:
        known = f"1.{FIRST_MINOR} to 1.{LAST_MINOR} are known"
        raise VersionError(f"not a Kubernetes version: {short(text)}; write it as 1.{RECORDED_MINOR} ({known})")
    minor = int(match[1])
    if not FIRST_MINOR <= minor <= _PLAUSIBLE_MINOR:
        known = f"only 1.{FIRST_MINOR} to 1.{LAST_MINOR}"
        raise VersionError(f"the rules of Kubernetes 1.{minor} are not known: {known}")
    return default_release(minor) if match[2] is None else Release(minor, int(match[2]))


def minor_of(text: str) -> int:
    """Return the minor version to follow for a version: 34 for `v1.34.1`, 38 for `1.40`.

    Raises:
        VersionError: with a sentence.
    """
    return nearest_release(release_of(text)).minor


def nearest_release(release: Release) -> Release:
    """Return the nearest supported release."""
    if release.minor < FIRST_MINOR:
        return default_release(FIRST_MINOR)
    return default_release(LAST_MINOR) if release.minor > LAST_MINOR else release


def note_on(release: Release) -> str:
    """Return a note that a release was not measured; empty if its minor version was."""
    minor = release.minor
    if minor in MEASURED:
        return ""
    if minor <= RECORDED_MINOR:
        return f"Kubernetes 1.{minor} was not measured: its rules are taken from documents"
    rules = f"1.{nearest_release(release).minor} rules, not yet compared with recordings"
    return rules if minor <= LAST_MINOR else f"Kubernetes 1.{minor} is not known: {rules}"


def plain_text(text: str) -> str:
    """Return the numbers of a version: `1.34.2` for `v1.34.2-gke.100`; empty if the text is not a version."""
    match = re.match(r"v?(1\.[0-9]{1,3}(?:\.[0-9]{1,4})?)\b", text)
    return "" if match is None else match[1]


def server_release(text: str) -> Optional[Release]:
    """Return the release that a `gitVersion` or `kubeletVersion` names, `v1.29.3-gke.1`; None for any other text."""
    match = re.match(r"v?1\.([0-9]{1,3})\b(?:\.([0-9]{1,4})\b)?", text)
    if match is None:
        return None
    return default_release(int(match[1])) if match[2] is None else Release(int(match[1]), int(match[2]))


def kubelet_minor(text: str) -> Optional[int]:
    """Return the minor version in a node's `kubeletVersion` (`v1.29.3-gke.1`); None without one."""
    release = server_release(text)
    return None if release is None else release.minor
