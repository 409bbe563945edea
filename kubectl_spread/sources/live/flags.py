"""Kubectl's flags for cluster and user. This module imports nothing, to keep `--help` fast."""

from __future__ import annotations

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
    impersonate_extra: tuple[str, ...] = ()  # KEY=VALUE
    request_timeout: Optional[str] = None
