"""Credentials for an API server, prepared by the Kubernetes client: server, authorization, TLS.

Only the client's configuration and connection pool are used, not its models and APIs. Some of its behaviour is
corrected here. An exec plugin that fails is an error, not an anonymous request. Certificates and keys in a kubeconfig
are not kept in files. A CA that kubectl accepts is accepted.
"""

from __future__ import annotations

import base64
import contextlib
import logging
import os
import ssl
import sys
import tempfile
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies

from kubectl_spread.errors import ClusterError
from kubectl_spread.sources.files import reason
from kubectl_spread.sources.live.kubeconfig import ApiServer

# Exceptions of the client for an unexpected plugin response or file.
_CLIENT_ERRORS = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, OSError)


class Credentials(NamedTuple):
    """Connection pool of the client, with server, proxy and certificates, and its configuration."""

    pool: Any  # urllib3.PoolManager
    configuration: Any  # kubernetes.client.Configuration
    server: str
    sends: bool = True  # whether the server gets credentials: not over plain http

    @property
    def proxy(self) -> str:
        """Return the host and port of the proxy, without user and password; empty without a proxy."""
        return urlsplit(str(self.configuration.proxy or "")).netloc.rpartition("@")[2]

    def authorization(self) -> str:
        """Return the value of the Authorization header; empty if there is none.

        Raises:
            ClusterError: the token has characters that are invalid in a header.
        """
        keys = self.configuration.api_key
        # Versions up to 35 use the latter.
        found = str(keys.get("BearerToken") or keys.get("authorization") or "").strip()
        if found and not (found.isascii() and found.isprintable()):
            raise ClusterError("the token of the kubeconfig has characters that an HTTP header cannot have")
        return found

    def refresh(self) -> bool:
        """Request a new token if the current one has expired, and return whether it has changed."""
        if self.configuration.refresh_api_key_hook is None:
            return False
        before = self.authorization()
        try:
            with _logged(), _standard_input_kept():
                self.configuration.refresh_api_key_hook(self.configuration)
        except _CLIENT_ERRORS:
            return False
        return self.authorization() != before


def credentials(target: ApiServer, *, connections: int) -> Credentials:
    """Load the client's configuration, and run the exec plugin if there is one.

    Args:
        target: the API server.
        connections: maximum number of open connections.

    Raises:
        ClusterError: the plugin fails, or a certificate or key cannot be read.
    """
    import urllib3
    from kubernetes.client.configuration import Configuration  # 300 ms
    from kubernetes.client.rest import RESTClientObject
    from kubernetes.config import ConfigException

    urllib3.disable_warnings()  # --insecure-skip-tls-verify is a decision
    configuration = Configuration()
    configuration.connection_pool_maxsize = connections
    try:
        with tempfile.TemporaryDirectory(prefix="kubectl-spread-") as folder:
            _load(target, configuration, folder)
            context = _context(configuration)
    except ConfigException as error:
        raise ClusterError(f"{target.name}: {error}") from None
    except OSError as error:  # an error of TLS, too
        raise ClusterError(f"{target.name}: a certificate or key cannot be used: {reason(error)}") from None
    except _CLIENT_ERRORS:
        plugin = f"exec credential plugin `{target.exec_command}` did not return an ExecCredential"
        why = plugin if target.exec_command else "the credentials cannot be used"
        raise ClusterError(f"{target.name}: {why}") from None
    # The proxy of the cluster, or else of the environment: versions of the client differ in their support for proxies.
    of_cluster = ((target.config or {}).get("clusters") or [{}])[0].get("cluster", {}).get("proxy-url")
    proxies = {} if of_cluster else getproxies()
    configuration.proxy = of_cluster or proxies.get(urlsplit(str(configuration.host)).scheme)
    configuration.no_proxy = proxies.get("no")
    configuration.proxy_headers = _proxy_headers(configuration.proxy or "")
    # The context has loaded them, and temporary files are deleted already.
    configuration.ssl_ca_cert = configuration.cert_file = configuration.key_file = None
    try:
        pool = RESTClientObject(configuration).pool_manager
    except (ValueError, ImportError, urllib3.exceptions.HTTPError) as error:
        raise ClusterError(f"{target.name}: the proxy cannot be used: {_proxy_fault(error)}") from None
    pool.connection_pool_kw["ssl_context"] = context
    return Credentials(pool, configuration, str(configuration.host).rstrip("/"), target.sends_credentials)


def _load(target: ApiServer, configuration: Any, folder: str) -> None:
    from kubernetes.config import load_incluster_config, load_kube_config_from_dict

    if target.config is None:
        load_incluster_config(configuration)
        return
    with _logged() as said, _standard_input_kept():
        load_kube_config_from_dict(
            target.config, client_configuration=configuration, persist_config=False, temp_file_path=folder
        )
    if target.exec_command and not configuration.api_key and not configuration.cert_file:
        # Server certificates are loaded for https alone; then a plugin's certificate is of no use either.
        why = f": {said[-1]}" if said else ""
        hint = f"; {' '.join(target.install_hint.split())}" if target.install_hint else ""
        raise ClusterError(f"exec credential plugin `{target.exec_command}` failed{why}{hint}")


def _proxy_headers(url: str) -> dict[str, str]:
    """Return the header with the user and password in the URL of an HTTP proxy; empty without a user.

    Source: Go's net/http transport.go, connectMethod.proxyAuth.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return {}  # the client refuses it
    if parts.username is None or parts.scheme not in ("http", "https"):
        return {}
    user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(user.encode()).decode()}"}


def _proxy_fault(error: Exception) -> str:
    """Return the reason without the URL, which may contain a password."""
    from urllib3.exceptions import ProxySchemeUnknown

    if isinstance(error, ImportError):
        return "SOCKS needs the Python package PySocks"
    if isinstance(error, ProxySchemeUnknown):
        return "its URL must begin with http:// or https://"
    return "its URL is not valid"


def _context(configuration: Any) -> ssl.SSLContext:
    """Return a TLS context like kubectl's: Python 3.13 refuses CAs without a key usage, which many clusters have."""
    context = ssl.create_default_context(cafile=configuration.ssl_ca_cert)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not configuration.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if configuration.cert_file:
        context.load_cert_chain(configuration.cert_file, configuration.key_file)
    return context


@contextlib.contextmanager
def _logged() -> Iterator[list[str]]:
    """Collect the client's log messages, which report a failed plugin, instead of printing them."""
    said: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(" ".join(record.getMessage().split()))

    listener, root = Listener(), logging.getLogger()
    before, root.handlers = root.handlers, [listener]
    try:
        yield said
    finally:
        root.handlers = before


@contextlib.contextmanager
def _standard_input_kept() -> Iterator[None]:
    """Keep a plugin from reading manifests that are piped to us; it may read a terminal."""
    try:
        kept = None if sys.stdin is None or sys.stdin.isatty() else os.dup(0)
    except (OSError, ValueError):
        kept = None
    if kept is None:
        yield
        return
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        yield
    finally:
        os.dup2(kept, 0)
        os.close(kept)
