"""API server and user, from kubeconfig files merged like kubectl's, with its flags on top.

If several files have a `current-context`, the client takes the last and kubectl the first, which may be another
cluster. The client also ignores `as` silently. So files are merged here, and the client gets one context with one
cluster and one user, with all paths resolved.

Source: k8s.io/client-go/tools/clientcmd, loader.go (Load, ResolveLocalPaths), client_config.go (getContext,
getCluster, getAuthInfo); k8s.io/client-go/rest/plugin.go and plugin/pkg/client/auth (v0.36.2).
Difference: an expired OIDC token is not renewed. Renewing it would contact another server than the cluster's, and
rewrite the kubeconfig.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import time
from collections.abc import Iterable
from typing import NamedTuple, Optional
from urllib.parse import quote, urlsplit

from kubectl_spread.errors import ClusterError, ConfigError, NoClusterError, SourceError
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import fields, mappings, Plain
from kubectl_spread.sources import files
from kubectl_spread.sources.live.flags import Flags
from kubectl_spread.sources.single_document import documents
from kubectl_spread.text import compose
from kubectl_spread.text.node import Route

_BASE64 = ("certificate-authority-data", "client-certificate-data", "client-key-data")
_PATHS = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
_OTHER_CREDENTIALS = ("tokenFile", "exec", "auth-provider", "username", "password")
_MAX_TOKEN_BYTES = 1 << 20
_SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_REMOVED = {"gcp": "gke-gcloud-auth-plugin", "azure": "kubelogin"}
_EARLY_S = 10  # client-go's expiryDelta

_CONFIG = decode.types(
    """\
ExecEnvVar: name, value string
ExecConfig: command, apiVersion, installHint string; args []string; env []ExecEnvVar; provideClusterInfo bool
AuthProviderConfig: name string; config map[string]string
Cluster: server, tls-server-name, certificate-authority, proxy-url, certificate-authority-data string;
  insecure-skip-tls-verify, disable-compression bool
AuthInfo: client-certificate, client-certificate-data, client-key, client-key-data, token, tokenFile, as, as-uid string;
  username, password string; as-groups []string; as-user-extra map[string][]string; auth-provider AuthProviderConfig;
  exec ExecConfig
Context: cluster, user, namespace string
NamedCluster: name string; cluster Cluster
NamedAuthInfo: name string; user AuthInfo
NamedContext: name string; context Context
Config: kind, apiVersion, current-context string; clusters []NamedCluster; users []NamedAuthInfo;
  contexts []NamedContext
"""
)["Config"]
_SECTIONS = ("clusters", "users", "contexts")


class Entry(NamedTuple):
    """A cluster, user or context, with its place in a file."""

    plain: Plain
    file: Optional[compose.Document] = None
    route: Route = ()

    def error(self, key: str, message: str) -> Exception:
        """Return an error about one of its fields."""
        return ClusterError(message) if self.file is None else self.file.error((*self.route, key), message)


class MergedFiles(NamedTuple):
    """The entries of all files by section and name; `paths` are the files that were read."""

    paths: tuple[str, ...]
    current: str
    sections: dict[str, dict[str, Entry]]


def names(explicit: Optional[str], section: str) -> list[str]:
    """Return the names in one section of the kubeconfig files: `contexts`, `clusters` or `users`.

    Raises:
        SourceError: a kubeconfig cannot be read.
    """
    return sorted(merge_files(paths_of(explicit), is_explicit=explicit is not None).sections[section])


def paths_of(explicit: Optional[str]) -> list[str]:
    """Return the paths of --kubeconfig, else of KUBECONFIG, else the default path."""
    if explicit is not None:
        return [explicit]
    listed = [path for path in os.environ.get("KUBECONFIG", "").split(os.pathsep) if path]
    return listed or [os.path.join(os.path.expanduser("~"), ".kube", "config")]


def merge_files(paths: Iterable[str], *, is_explicit: bool) -> MergedFiles:
    """Merge the files: for each name, the first file that has it wins. Missing files are skipped."""
    current, sections = "", {section: dict[str, Entry]() for section in _SECTIONS}
    present = tuple(path for path in dict.fromkeys(paths) if is_explicit or os.path.exists(path))
    for file in filter(None, map(_read, present)):
        current = current or str(file.plain.get("current-context") or "")
        for section, entries in sections.items():
            seen: set[str] = set()
            for index, item in enumerate(mappings(file.plain.get(section))):
                name = str(item.get("name") or "")
                if name in seen:
                    raise file.error((section, index, "name"), f"{section} has two of the name `{name}`")
                seen.add(name)
                key = section[:-1]
                entries.setdefault(name, Entry(item.get(key) or {}, file, (section, index, key)))
    return MergedFiles(present, current, sections)


def _read(path: str) -> Optional[compose.Document]:
    """Return a file's content; None if it is empty."""
    for document in documents(files.read_text(path)):
        if document.plain is None:
            continue
        if not isinstance(document.plain, dict):
            raise document.error((), "not a kubeconfig: it is not a mapping")
        for problem in decode.type_problems(document.plain, _CONFIG):
            raise document.error(problem.route, decode.problem_text(problem))
        return document
    return None


class ApiServer(NamedTuple):
    """An API server, and the user for it.

    `config` is the kubeconfig for the client, with one context. It is None inside a cluster, where the pod's service
    account is used. `sends_credentials` is false over plain http: there kubectl sends none either.
    """

    name: str  # the context, for messages
    server: str
    namespace: str
    config: Optional[Plain]
    impersonation: tuple[tuple[str, str], ...] = ()  # headers
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
    if not merged.sections["clusters"] and not merged.sections["contexts"] and not flags.server:
        return _in_cluster(flags, merged)
    context = _context(flags, merged)
    cluster = _chosen("cluster", flags.cluster, merged, context, is_needed=not flags.server)
    user = _chosen("user", flags.user, merged, context, is_needed=bool(context.plain.get("user")))
    plain_cluster, plain_user = _with_flags(cluster, user, flags)
    _check(cluster, user)
    server = str(plain_cluster.get("server") or "")
    _check_server(cluster, server)
    is_secure = server.lower().startswith("https://")
    if is_secure:
        plain_user = _with_token(plain_user, user)
    else:
        # Source: k8s.io/client-go/tools/clientcmd/client_config.go, ClientConfig (v0.36.2): only TLS gets credentials.
        plain_user = {key: value for key, value in plain_user.items() if key.startswith("as")}
    plugin = fields(plain_user, "exec")
    return ApiServer(
        name=flags.context or merged.current or host_of(server),
        sends_credentials=is_secure,
        server=server,
        namespace=str(context.plain.get("namespace") or "") or "default",
        config={
            "current-context": "it",
            "clusters": [{"name": "it", "cluster": plain_cluster}],
            "users": [{"name": "it", "user": plain_user}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        },
        impersonation=_impersonation(flags, plain_user),
        exec_command=str(plugin.get("command") or ""),
        install_hint=str(plugin.get("installHint") or ""),
        compresses=not plain_cluster.get("disable-compression"),
    )


def _context(flags: Flags, merged: MergedFiles) -> Entry:
    contexts = merged.sections["contexts"]
    name = flags.context or merged.current
    if name and name in contexts:
        return contexts[name]
    if flags.context is not None:
        raise _unknown("context", flags.context, merged)
    if not flags.cluster and not flags.server:
        paths, known = ", ".join(merged.paths), _there_are("context", contexts)
        if name:
            raise ClusterError(f"the current-context `{name}` is not in {paths}; {known}")
        raise ClusterError(f"{paths} has no current-context: choose one with --context; {known}")
    return Entry({})


def _chosen(what: str, named: Optional[str], merged: MergedFiles, context: Entry, *, is_needed: bool) -> Entry:
    """Return the cluster or user that a flag names, or else the context."""
    entries = merged.sections[f"{what}s"]
    if named is not None and named not in entries:
        raise _unknown(what, named, merged)
    name = str(context.plain.get(what) or "") if named is None else named
    if name not in entries and is_needed:
        raise context.error(what, f"there is no {what} `{name}`; {_there_are(what, entries)}")
    return entries.get(name, Entry({}))


def _unknown(what: str, name: str, merged: MergedFiles) -> ConfigError:
    where = ", ".join(merged.paths) or "a kubeconfig, because no file exists"
    known = _there_are(what, merged.sections[f"{what}s"])
    return ConfigError((SourceError(f"--{what}", f"no {what} `{name}` in {where}; {known}"),))


def _there_are(what: str, known: dict[str, Entry]) -> str:
    return f"there are {', '.join(sorted(known))}" if known else f"there is no {what} at all"


def _with_flags(cluster: Entry, user: Entry, flags: Flags) -> tuple[Plain, Plain]:
    """Return cluster and user with resolved paths, overridden by the flags."""
    if flags.insecure_skip_tls_verify and flags.certificate_authority:
        message = "--insecure-skip-tls-verify and --certificate-authority exclude each other"
        raise ConfigError((SourceError("--certificate-authority", message),))
    asked, who = _resolved(cluster), _resolved(user)
    if flags.insecure_skip_tls_verify or flags.certificate_authority:
        asked = {key: value for key, value in asked.items() if not key.startswith("certificate-authority")}
        asked["insecure-skip-tls-verify"] = flags.insecure_skip_tls_verify
    written = {
        "server": flags.server,
        "tls-server-name": flags.tls_server_name,
        "certificate-authority": flags.certificate_authority and os.path.abspath(flags.certificate_authority),
    }
    asked |= {key: value for key, value in written.items() if value}
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


def _resolved(entry: Entry) -> Plain:
    """Return the entry without nulls and empty strings; paths are relative to their file."""
    found = {key: value for key, value in entry.plain.items() if value not in (None, "")}
    if entry.file is None:
        return found
    folder = os.path.dirname(entry.file.source.path)
    for key in _PATHS:
        if key in found:
            found[key] = os.path.join(folder, found[key])
    command = fields(found, "exec").get("command")
    if command and os.path.dirname(command):
        found["exec"] = {**found["exec"], "command": os.path.join(folder, command)}
    return found


def _check(cluster: Entry, user: Entry) -> None:
    """Raise errors, with their places, for values that the client would report less clearly."""
    for entry in (cluster, user):
        for key, value in _resolved(entry).items():
            if key in _PATHS and f"{key}-data" not in entry.plain and not os.path.isfile(value):
                raise entry.error(key, f"there is no file {value}")
            try:
                if key == "tokenFile":
                    with open(value, "rb") as file:
                        file.read(_MAX_TOKEN_BYTES).decode()
                elif key in _BASE64:
                    base64.b64decode(str(value), validate=True)
            except OSError as error:
                raise entry.error(key, f"{value}: {(error.strerror or 'it cannot be read').lower()}") from None
            except UnicodeDecodeError:
                raise entry.error(key, f"{value}: the token file is not UTF-8") from None
            except (binascii.Error, ValueError):
                raise entry.error(key, f"`{key}` is not base64") from None


def _check_server(cluster: Entry, server: str) -> None:
    """Refuse a URL without a server."""
    try:
        split = urlsplit(server)
        is_good = split.scheme.lower() in ("http", "https") and bool(split.hostname) and split.port != 0
    except ValueError:  # a bracket that is not closed, a port that is not a number
        is_good = False
    if not is_good or any(char.isspace() or not char.isprintable() for char in server):
        host = host_of(server.rpartition("@")[2])  # a password may contain slashes
        raise cluster.error("server", f"the server `{host}` is not the URL of an API server")


def host_of(server: str) -> str:
    """Return host and port of a server's URL, without user and password."""
    rest = server.partition("://")[2] or server
    return rest.partition("/")[0].rpartition("@")[2]


def _impersonation(flags: Flags, user: Plain) -> tuple[tuple[str, str], ...]:
    """Return the headers of the impersonation that the flags name, or else the user.

    Source: k8s.io/client-go/transport/round_trippers.go, impersonatingRoundTripper (v0.36.2).
    """
    pairs = [item.partition("=") for item in flags.impersonate_user_extra]
    if not all(equals for _, equals, _ in pairs):
        raise ConfigError((SourceError("--as-user-extra", "write it as KEY=VALUE"),))
    name, uid, groups = flags.impersonate or "", flags.impersonate_uid or "", flags.impersonate_group
    extra = [(key, value) for key, _, value in pairs]
    if not (name or uid or groups or extra):
        name, uid, groups = str(user.get("as") or ""), str(user.get("as-uid") or ""), user.get("as-groups") or ()
        extra = [(key, value) for key, values in fields(user, "as-user-extra").items() for value in values]
    if not name and (uid or groups or extra):
        raise ConfigError((SourceError("--as", "--as-uid, --as-group and --as-user-extra need a user: add --as USER"),))
    headers = [
        ("Impersonate-User", name),
        ("Impersonate-Uid", uid),
        *(("Impersonate-Group", group) for group in groups),
    ]
    headers += [(f"Impersonate-Extra-{quote(key.lower(), safe='')}", value) for key, value in extra]
    if any(ord(char) < 32 or ord(char) == 127 for _, value in headers for char in value):
        raise ClusterError("the name to impersonate contains control characters")
    # http.client writes Latin-1, Go UTF-8.
    return tuple((header, value.encode().decode("latin-1")) for header, value in headers if value)


def _in_cluster(flags: Flags, merged: MergedFiles) -> ApiServer:
    """Return the cluster of the pod in which we run.

    Raises:
        ClusterError: we do not run in a pod.
    """
    if flags.context is not None:
        raise _unknown("context", flags.context, merged)
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


def _with_token(user: Plain, entry: Entry) -> Plain:
    """Return the user with the token of its auth provider instead of the provider.

    Raises:
        SourceError: kubectl refuses the provider, or its token has expired.
    """
    provider = user.get("auth-provider")
    if provider is None:
        return user
    name, config = str(provider.get("name") or ""), fields(provider, "config")
    if name in _REMOVED:
        message = f"the {name} auth plugin has been removed from kubectl: use the exec plugin {_REMOVED[name]} instead"
        raise entry.error("auth-provider", message)
    if name != "oidc":
        raise entry.error("auth-provider", f"no auth provider found for name `{name}`")
    rest = {key: value for key, value in user.items() if key != "auth-provider"}
    if rest.get("token") or rest.get("tokenFile"):
        return rest
    token = str(config.get("id-token") or "")
    if not token:
        raise entry.error("auth-provider", "the oidc auth provider has no `id-token`; log in first")
    if _expiry_s(token, entry) < time.time() + _EARLY_S:
        message = (
            "the `id-token` of the oidc auth provider has expired; any kubectl command renews it, "
            "such as `kubectl version`"
        )
        raise entry.error("auth-provider", message)
    return {**rest, "token": token}


def _expiry_s(token: str, entry: Entry) -> float:
    """Return when a JSON Web Token expires, in seconds since 1970."""
    try:
        _, claims, _ = token.split(".")
        expiry = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["exp"]
        return float(expiry)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise entry.error("auth-provider", "the `id-token` of the oidc auth provider is not a JSON Web Token") from None
