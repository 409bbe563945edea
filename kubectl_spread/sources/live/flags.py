"""Kubectl's flags for cluster and user. Imports little, to keep `--help` fast."""

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
    """Yield the flags that are set, as a command line has them. No token and no password of a URL is repeated."""
    for field, value in flags.items():
        name = f"--{field.replace('impersonate', 'as').replace('_', '-')}"
        for item in value if isinstance(value, tuple) else (value,):
            if item is not None and item is not False:
                yield name
                yield from () if item is True else ("TOKEN" if field == "token" else _USER.sub("", str(item)),)


_USER = re.compile(r"(?<=://)[^?#]*@")  # a name and a password in a URL
