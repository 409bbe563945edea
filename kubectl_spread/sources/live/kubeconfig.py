"""API server and user, from kubeconfig files merged like kubectl's, with its flags on top.

If several files have a `current-context`, the client takes the last and kubectl the first, which may be another
cluster. The client also ignores `as` silently. So files are merged by `kubeconfig_files`, and the client gets one
context with one cluster and one user, with all paths resolved.

Source: k8s.io/client-go/tools/clientcmd, loader.go (ResolveLocalPaths), client_config.go (getContext,
getCluster, getAuthInfo) (v0.36.2).
"""

from __future__ import annotations

import base64
import binascii
import os
from typing import Any, NamedTuple, Optional
from urllib.parse import urlsplit

from kubectl_spread.errors import ClusterError, ConfigError, NoClusterError, SourceError
from kubectl_spread.sources import files
from kubectl_spread.sources.live import auth_providers
from kubectl_spread.sources.live.flags import Flags
from kubectl_spread.sources.live.kubeconfig_files import Entry, merge_files, MergedFiles, paths_of

Plain = dict[str, Any]

_BASE64 = ("certificate-authority-data", "client-certificate-data", "client-key-data")
_PATHS = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
_OTHER_CREDENTIALS = ("tokenFile", "exec", "auth-provider", "username", "password")
_MAX_TOKEN_BYTES = 1 << 20
_SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


class Impersonation(NamedTuple):
    """User that the API server should impersonate."""

    user: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: tuple[tuple[str, str], ...] = ()


class ApiServer(NamedTuple):
    """An API server, and the user for it.

    `config` is the kubeconfig for the client, with one context. It is None inside a cluster, where the pod's service
    account is used. `sends_credentials` is false over plain http: there kubectl sends none either.
    """

    name: str  # the context, for messages
    server: str
    namespace: str
    config: Optional[Plain]
    impersonation: Impersonation = Impersonation()
    exec_command: str = ""
    install_hint: str = ""
    compresses: bool = True
    sends_credentials: bool = True


def load(flags: Flags) -> ApiServer:
    """Return the API server from the flags, the kubeconfig files or the pod in which we run.

    Raises:
        SourceError: a file cannot be read, with the place in it.
        ConfigError: a flag names an entry that is in no file.
        ClusterError: there is no cluster.
    """
    merged = merge_files(paths_of(flags.kubeconfig), is_explicit=flags.kubeconfig is not None)
    if not merged.clusters and not merged.contexts and not flags.server:
        return _in_cluster(flags, merged)
    context = _context(flags, merged)
    cluster, user = _cluster(flags, merged, context), _user(flags, merged, context)
    plain_cluster, plain_user = _with_flags(cluster, user, flags)
    _check(cluster, user)
    server = str(plain_cluster.get("server") or "")
    _check_server(cluster, server)
    is_secure = server.lower().startswith("https://")
    if is_secure:
        plain_user = auth_providers.with_token(plain_user, user.error)
    else:
        # Source: k8s.io/client-go/tools/clientcmd/client_config.go, ClientConfig (v0.36.2): only TLS gets credentials.
        plain_user = {key: value for key, value in plain_user.items() if key.startswith("as")}
    plugin = plain_user.get("exec") or {}
    return ApiServer(
        name=flags.context or merged.current or host_of(server),
        sends_credentials=is_secure,
        server=server,
        namespace=str(context.plain.get("namespace") or "") or "default",
        config=_one_context(plain_cluster, plain_user),
        impersonation=_impersonation(flags, plain_user),
        exec_command=str(plugin.get("command") or ""),
        install_hint=str(plugin.get("installHint") or ""),
        compresses=not plain_cluster.get("disable-compression"),
    )


def _context(flags: Flags, merged: MergedFiles) -> Entry:
    name = flags.context or merged.current
    context = merged.entry("contexts", name) if name else None
    if context is not None:
        return context
    if flags.context is not None:
        raise _unknown("--context", "context", flags.context, merged.contexts, merged.paths)
    if name and not (flags.cluster or flags.server):
        where, known = ", ".join(merged.paths), _there_are("context", merged.contexts)
        raise ClusterError(f"the current-context `{name}` is not in {where}; {known}")
    if not flags.cluster and not flags.server:
        known = _there_are("context", merged.contexts)
        raise ClusterError(f"{', '.join(merged.paths)} has no current-context: choose one with --context; {known}")
    return Entry({}, None, ())


def _cluster(flags: Flags, merged: MergedFiles, context: Entry) -> Entry:
    if flags.cluster is not None:
        found = merged.entry("clusters", flags.cluster)
        if found is None:
            raise _unknown("--cluster", "cluster", flags.cluster, merged.clusters, merged.paths)
        return found
    name = str(context.plain.get("cluster") or "")
    found = merged.entry("clusters", name)
    if found is None and not flags.server:
        raise context.error("cluster", f"there is no cluster `{name}`; {_there_are('cluster', merged.clusters)}")
    return found or Entry({}, None, ())


def _user(flags: Flags, merged: MergedFiles, context: Entry) -> Entry:
    if flags.user is not None:
        found = merged.entry("users", flags.user)
        if found is None:
            raise _unknown("--user", "user", flags.user, merged.users, merged.paths)
        return found
    name = str(context.plain.get("user") or "")
    found = merged.entry("users", name)
    if name and found is None:
        raise context.error("user", f"there is no user `{name}`; {_there_are('user', merged.users)}")
    return found or Entry({}, None, ())


def _unknown(flag: str, what: str, name: str, known: dict[str, Entry], paths: tuple[str, ...]) -> ConfigError:
    where = ", ".join(paths) or "a kubeconfig, because no file exists"
    return ConfigError((SourceError(flag, f"no {what} `{name}` in {where}; {_there_are(what, known)}"),))


def _there_are(what: str, known: dict[str, Entry]) -> str:
    return f"there are {', '.join(sorted(known))}" if known else f"there is no {what} at all"


def _with_flags(cluster: Entry, user: Entry, flags: Flags) -> tuple[Plain, Plain]:
    """Return cluster and user with resolved paths, overridden by the flags."""
    asked, who = _asked(_resolved(cluster), flags), _resolved(user)
    if flags.token:
        who = {key: value for key, value in who.items() if key not in _OTHER_CREDENTIALS}
        who["token"] = flags.token
    for key, path in (("client-certificate", flags.client_certificate), ("client-key", flags.client_key)):
        if path:
            who.pop(f"{key}-data", None)
            who[key] = os.path.abspath(path)
    if not asked.get("server"):
        raise cluster.error("server", "the cluster has no server")
    if "://" not in asked["server"]:
        asked["server"] = f"http://{asked['server']}"  # as client-go's DefaultServerURL
    return asked, who


def _asked(cluster: Plain, flags: Flags) -> Plain:
    if flags.insecure_skip_tls_verify and flags.certificate_authority:
        message = "--insecure-skip-tls-verify and --certificate-authority exclude each other"
        raise ConfigError((SourceError("--certificate-authority", message),))
    if flags.insecure_skip_tls_verify or flags.certificate_authority:
        cluster = {key: value for key, value in cluster.items() if not key.startswith("certificate-authority")}
        cluster["insecure-skip-tls-verify"] = flags.insecure_skip_tls_verify
    written = {
        "server": flags.server,
        "tls-server-name": flags.tls_server_name,
        "certificate-authority": flags.certificate_authority and os.path.abspath(flags.certificate_authority),
    }
    return {**cluster, **{key: value for key, value in written.items() if value}}


def _resolved(entry: Entry) -> Plain:
    """Return the entry without nulls and empty strings; paths are relative to their file."""
    found = {key: value for key, value in entry.plain.items() if value not in (None, "")}
    if entry.file is None:
        return found
    folder = os.path.dirname(os.path.abspath(entry.file.source.name))
    for key in _PATHS:
        if key in found:
            found[key] = os.path.join(folder, found[key])
    command = (found.get("exec") or {}).get("command")
    if command and os.path.dirname(command):
        found["exec"] = {**found["exec"], "command": os.path.join(folder, command)}
    return found


def _check(cluster: Entry, user: Entry) -> None:
    """Raise errors, with their places, for values that the client would report less clearly."""
    for entry in (cluster, user):
        for key, value in _resolved(entry).items():
            if key in _PATHS and f"{key}-data" not in entry.plain and not os.path.isfile(value):
                raise entry.error(key, f"there is no file {value}")
            if key == "tokenFile":
                _check_text(entry, key, value)
            if key in _BASE64:
                try:
                    base64.b64decode(str(value), validate=True)
                except (binascii.Error, ValueError):
                    raise entry.error(key, f"`{key}` is not base64") from None


def _check_text(entry: Entry, key: str, path: str) -> None:
    try:
        with open(path, "rb") as file:
            file.read(_MAX_TOKEN_BYTES).decode()
    except OSError as error:
        raise entry.error(key, f"{path}: {(error.strerror or 'it cannot be read').lower()}") from None
    except UnicodeDecodeError:
        raise entry.error(key, f"{path}: the token file is not UTF-8") from None


def _check_server(cluster: Entry, server: str) -> None:
    """Refuse a URL without a server."""
    try:
        split = urlsplit(server)
        is_good = split.scheme.lower() in ("http", "https") and bool(split.hostname) and split.port != 0
    except ValueError:  # a bracket that is not closed, a port that is not a number
        is_good = False
    if not is_good or any(char.isspace() or not char.isprintable() for char in server):
        raise cluster.error("server", f"the server `{_without_user(server)}` is not the URL of an API server")


def _without_user(server: str) -> str:
    """Return the host of a broken URL. A password may contain slashes, so everything before the last @ is left out."""
    return host_of(server.rpartition("@")[2])


def host_of(server: str) -> str:
    """Return host and port of a server's URL, without user and password."""
    rest = server.partition("://")[2] or server
    return rest.partition("/")[0].rpartition("@")[2]


def _one_context(cluster: Plain, user: Plain) -> Plain:
    return {
        "current-context": "it",
        "clusters": [{"name": "it", "cluster": cluster}],
        "users": [{"name": "it", "user": user}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
    }


def _impersonation(flags: Flags, user: Plain) -> Impersonation:
    """Return the impersonation from the flags, or else from the user."""
    from_flags = _impersonation_of_flags(flags)
    found = _impersonation_of_user(user) if from_flags == Impersonation() else from_flags
    if not found.user and found != Impersonation():
        raise ConfigError((SourceError("--as", "--as-uid, --as-group and --as-user-extra need a user: add --as USER"),))
    return found


def _impersonation_of_flags(flags: Flags) -> Impersonation:
    pairs = [item.partition("=") for item in flags.impersonate_extra]
    if not all(equals for _, equals, _ in pairs):
        raise ConfigError((SourceError("--as-user-extra", "write it as KEY=VALUE"),))
    extra = tuple((key, value) for key, _, value in pairs)
    return Impersonation(flags.impersonate or "", flags.impersonate_uid or "", flags.impersonate_group, extra)


def _impersonation_of_user(user: Plain) -> Impersonation:
    extra = tuple((key, value) for key, values in (user.get("as-user-extra") or {}).items() for value in values)
    groups = tuple(user.get("as-groups") or ())
    return Impersonation(str(user.get("as") or ""), str(user.get("as-uid") or ""), groups, extra)


def _in_cluster(flags: Flags, merged: MergedFiles) -> ApiServer:
    """Return the cluster of the pod in which we run.

    Raises:
        ClusterError: we do not run in a pod.
    """
    if flags.context is not None:
        raise _unknown("--context", "context", flags.context, merged.contexts, merged.paths)
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port or not os.path.isfile(f"{_SERVICE_ACCOUNT}/token"):
        paths = paths_of(flags.kubeconfig)
        absent = [path for path in paths if not os.path.exists(path)]
        if absent:
            why = f"{', '.join(absent)} {'does' if len(absent) == 1 else 'do'} not exist"
        else:
            why = f"{', '.join(paths)} {'names' if len(paths) == 1 else 'name'} none"
        raise NoClusterError(why)
    try:
        namespace = files.read_text(f"{_SERVICE_ACCOUNT}/namespace").text.strip()
    except SourceError:
        namespace = ""
    server = f"https://{f'[{host}]' if ':' in host else host}:{port}"
    return ApiServer("in-cluster", server, namespace or "default", None, _impersonation(flags, {}))
