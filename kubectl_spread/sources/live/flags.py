"""Kubectl's flags for cluster and user, with durations in Go's format. Imports little, to keep `--help` fast."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple, Optional


class Flags(NamedTuple):
    """Flags as written; None or empty if not set."""

    kubeconfig: Optional[str] = None
    context: Optional[str] = None
    cluster: Optional[str] = None
    user: Optional[str] = None
    server: Optional[str] = None
    token: Optional[str] = None
    certificate_authority: Optional[str] = None
    client_certificate: Optional[str] = None
    client_key: Optional[str] = None
    tls_server_name: Optional[str] = None
    insecure_skip_tls_verify: bool = False
    impersonate: Optional[str] = None
    impersonate_uid: Optional[str] = None
    impersonate_group: tuple[str, ...] = ()
    impersonate_user_extra: tuple[str, ...] = ()  # KEY=VALUE
    request_timeout: Optional[str] = None


def as_words(flags: Mapping[str, object]) -> Iterator[str]:
    """Yield flags as they are written on a command line, without those that are not set. No secret is repeated."""
    for field, value in flags.items():
        name = f"--{field.replace('impersonate', 'as').replace('_', '-')}"
        for item in value if isinstance(value, tuple) else (value,):
            if item is not None and item is not False:
                yield name
                yield from () if item is True else ("TOKEN" if field == "token" else _USER.sub("", str(item)),)


_USER = re.compile(r"(?<=://)[^/@]*@")  # a name and a password in a URL


_UNITS_S = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}
_MAX_S = (2**63 - 1) / 1e9  # a time.Duration counts nanoseconds in 64 bits
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(h|ms|m|s|us|µs|μs|ns)", re.ASCII)


def seconds(text: str) -> Optional[float]:
    """Return a duration in seconds, 0 for none; a bare integer is in seconds. Returns None if it is invalid.

    Source: k8s.io/client-go/tools/clientcmd/config.go, ParseTimeout; Go's time.ParseDuration.
    """
    if re.fullmatch(r"[0-9]{1,9}", text, re.ASCII):
        return float(text)
    at, total = 0, 0.0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            return None
        total += float(part[1]) * _UNITS_S[part[2]]
        at = part.end()
    return total if text and total <= _MAX_S else None
