"""A stand-in for kube-apiserver: it answers as the real one does, and does wrong what a test asks for.

What its answers look like is taken from recordings of kube-apiserver 1.36.2 (`tests/live/recordings`): order of
fields, pages and their tokens, resourceVersions, the bodies of 400, 401, 403, 404 and 410, chunks, gzip.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple, Optional
from urllib.parse import parse_qs, urlsplit

Plain = dict[str, Any]
RECORDINGS = Path(__file__).parent / "live" / "recordings"
_GZIP_FROM_BYTES = 128 * 1024  # staging/src/k8s.io/apiserver/.../responsewriters/writers.go, defaultGzipThresholdBytes
_CHUNKED_FROM_BYTES = 2048  # net/http's

# kind -> (group, version, plural, is_namespaced)
API = {
    "Node": ("", "v1", "nodes", False),
    "Pod": ("", "v1", "pods", True),
    "Namespace": ("", "v1", "namespaces", False),
    "Service": ("", "v1", "services", True),
    "ConfigMap": ("", "v1", "configmaps", True),
    "ReplicationController": ("", "v1", "replicationcontrollers", True),
    "PersistentVolumeClaim": ("", "v1", "persistentvolumeclaims", True),
    "PersistentVolume": ("", "v1", "persistentvolumes", False),
    "ReplicaSet": ("apps", "v1", "replicasets", True),
    "StatefulSet": ("apps", "v1", "statefulsets", True),
    "Deployment": ("apps", "v1", "deployments", True),
    "DaemonSet": ("apps", "v1", "daemonsets", True),
    "Event": ("", "v1", "events", True),
    "CronJob": ("batch", "v1", "cronjobs", True),
    "Job": ("batch", "v1", "jobs", True),
    "PodDisruptionBudget": ("policy", "v1", "poddisruptionbudgets", True),
    "ControllerRevision": ("apps", "v1", "controllerrevisions", True),
    "HorizontalPodAutoscaler": ("autoscaling", "v2", "horizontalpodautoscalers", True),
    "PriorityClass": ("scheduling.k8s.io", "v1", "priorityclasses", False),
    "StorageClass": ("storage.k8s.io", "v1", "storageclasses", False),
    "CSINode": ("storage.k8s.io", "v1", "csinodes", False),
    "CSIDriver": ("storage.k8s.io", "v1", "csidrivers", False),
    "CSIStorageCapacity": ("storage.k8s.io", "v1", "csistoragecapacities", True),
    "VolumeAttachment": ("storage.k8s.io", "v1", "volumeattachments", False),
    "LimitRange": ("", "v1", "limitranges", True),
    "ResourceQuota": ("", "v1", "resourcequotas", True),
    "RuntimeClass": ("node.k8s.io", "v1", "runtimeclasses", False),
    "DeviceClass": ("resource.k8s.io", "v1", "deviceclasses", False),
    "NodePool": ("karpenter.sh", "v1", "nodepools", False),
    "NodeClaim": ("karpenter.sh", "v1", "nodeclaims", False),
    "EC2NodeClass": ("karpenter.k8s.aws", "v1", "ec2nodeclasses", False),
}
# Kinds that the tests write, and nothing else asks for.
WRITTEN = {
    "ServiceAccount": ("", "v1", "serviceaccounts", True),
    "Lease": ("coordination.k8s.io", "v1", "leases", True),
    "ClusterRole": ("rbac.authorization.k8s.io", "v1", "clusterroles", False),
    "ClusterRoleBinding": ("rbac.authorization.k8s.io", "v1", "clusterrolebindings", False),
    "Role": ("rbac.authorization.k8s.io", "v1", "roles", True),
    "RoleBinding": ("rbac.authorization.k8s.io", "v1", "rolebindings", True),
}
KINDS = {**API, **WRITTEN}


class Request(NamedTuple):
    """What was asked."""

    method: str
    path: str
    query: dict[str, str]
    headers: list[tuple[str, str]]
    body: bytes = b""

    def header(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]


class Route(NamedTuple):
    """What a path names."""

    kind: str
    namespace: str
    name: str = ""
    subresource: str = ""

    @property
    def group(self) -> str:
        return KINDS[self.kind][0]

    @property
    def plural(self) -> str:
        return KINDS[self.kind][2]


def route(path: str) -> Optional[Route]:
    """The kind, namespace and name of a path; None where the server has no such resource."""
    parts = path.strip("/").split("/")
    if len(parts) < 3 or parts[0] not in ("api", "apis"):
        return None
    group, version, rest = ("", parts[1], parts[2:]) if parts[0] == "api" else (parts[1], parts[2], parts[3:])
    namespace = ""
    if rest[:1] == ["namespaces"] and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    kinds = [kind for kind, entry in KINDS.items() if entry[:3] == (group, version, "".join(rest[:1]))]
    return Route(kinds[0], namespace, *rest[1:3]) if kinds else None


class Reply(NamedTuple):
    """What is answered; `cut` breaks the body off after so many bytes, `pause_s` lets it wait, `drip_s` drips."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)
    cut: Optional[int] = None
    pause_s: float = 0.0
    drip_s: float = 0.0


# Looks at a request before it is answered; what it gives back is the answer instead.
Fault = Callable[[Request], Optional[Reply]]


def status(code: int, reason: str, message: str, **more: Any) -> Reply:
    """A Status, as the API server writes it."""
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": more.pop("metadata", {}),
        "status": "Failure",
        "message": message,
        "reason": reason,
        **more,
        "code": code,
    }
    return Reply(code, json.dumps(body).encode())


def recorded(name: str) -> tuple[int, dict[str, str], Any]:
    """Status, headers and body of a recording."""
    head, _, body = (RECORDINGS / f"{name}.http").read_text(encoding="utf-8").partition("\n\n")
    first, *lines = head.splitlines()
    headers = dict(line.split(": ", 1) for line in lines)
    return int(first.split()[1]), headers, json.loads(body)


class QuietServer(ThreadingHTTPServer):
    """A server that prints no traceback when a client goes away, as some tests end a client on purpose."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class ApiServer:
    """A cluster as an API server shows it.

    `tokens` names the user of each bearer token; without any, everybody is admitted. `forbidden` holds what may not
    be listed: a plural for everywhere and every namespace, or `plural@namespace`, where `plural@` is all namespaces at
    once.
    """

    def __init__(self, objects: list[Plain], *, version: str = "v1.36.2") -> None:
        self.version = version
        self.tokens: dict[str, str] = {}
        self.forbidden: set[str] = set()
        self.missing_groups: set[str] = set()
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self.connections = 0
        self._revision = 1000
        self._states: dict[int, tuple[Plain, ...]] = {self._revision: tuple(objects)}
        self._lock = threading.Lock()
        self._httpd: Optional[QuietServer] = None
        self._scheme = "http"

    @property
    def url(self) -> str:
        assert self._httpd is not None
        return f"{self._scheme}://127.0.0.1:{self._httpd.server_address[1]}"

    @property
    def objects(self) -> tuple[Plain, ...]:
        return self._states[self._revision]

    def put(self, *objects: Plain) -> None:
        """Create objects, or replace those of the same name."""
        with self._lock:
            named = {key_of(item): item for item in (*self.objects, *objects)}
            self._next(tuple(named.values()))

    def delete(self, kind: str, name: str) -> None:
        with self._lock:
            self._next(tuple(item for item in self.objects if (item["kind"], _name(item)) != (kind, name)))

    def compact(self) -> None:
        """Forget all that was before, as etcd does every five minutes."""
        with self._lock:
            self._states = {self._revision: self.objects}

    def _next(self, objects: tuple[Plain, ...]) -> None:
        self._states[self._revision + 1] = objects
        self._revision += 1

    @contextlib.contextmanager
    def running(self, *, tls: Optional[ssl.SSLContext] = None) -> Iterator[ApiServer]:
        """Serve on a free port of this machine."""
        outer = self

        class Handler(_Handler):
            server_of = outer

        self._httpd = QuietServer(("127.0.0.1", 0), Handler)
        self._httpd.daemon_threads = True
        if tls is not None:
            self._scheme = "https"
            self._httpd.socket = tls.wrap_socket(self._httpd.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self._httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield self
        finally:
            self._httpd.shutdown()
            self._httpd.server_close()

    def reply(self, request: Request, user_of_certificate: str = "") -> Reply:
        """The answer to a request."""
        for fault in list(self.faults):
            found = fault(request)
            if found is not None:
                return found
        user = user_of_certificate or self._user(request)
        if user is None:
            return status(401, "Unauthorized", "Unauthorized")
        user = "".join(request.header("Impersonate-User")) or user
        if request.path == "/version":
            return self._version()
        if request.method != "GET":
            return self.write(request, user)
        return self._resource(request, user)

    def write(self, request: Request, user: str) -> Reply:
        """The answer to any other method."""
        return status(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")

    def _user(self, request: Request) -> Optional[str]:
        if not self.tokens:
            return "admin"
        given = "".join(request.header("Authorization"))
        if not given:
            return "system:anonymous"
        return self.tokens.get(given.removeprefix("Bearer "))

    def _version(self) -> Reply:
        body = recorded("version")[2]
        minor = self.version.split(".")[1]
        return Reply(200, json.dumps({**body, "minor": minor, "gitVersion": self.version}).encode())

    def _resource(self, request: Request, user: str) -> Reply:
        parts, custom = request.path.split("/"), self._custom_groups()
        if request.path.removeprefix("/apis/") in custom:
            version = custom[parts[2]]
            return Reply(200, json.dumps({"kind": "APIGroup", "preferredVersion": {"version": version}}).encode())
        if parts[3:4] == [custom.get(parts[2])]:
            parts[3] = "v1"  # as in `KINDS`
        elif "karpenter" in parts[2]:
            return NOT_FOUND
        found = route("/".join(parts))
        if found is None or found.group in self.missing_groups:
            return NOT_FOUND
        verb = "get" if found.name else "list"
        if self.is_forbidden(found, verb, user):
            return forbidden(user, verb, found)
        return self._one(found) if found.name else self._list(found.kind, found.namespace, request)

    def _custom_groups(self) -> dict[str, str]:
        """The groups of custom resources that exist, with their versions."""
        pairs = (item.get("apiVersion", "").partition("/") for item in self.objects)
        return {
            group: version for group, _, version in pairs if "karpenter" in group and group not in self.missing_groups
        }

    def is_forbidden(self, to: Route, verb: str, user: str) -> bool:
        """Whether a user may not do that."""
        return user == "system:anonymous" or bool({to.plural, f"{to.plural}@{to.namespace}"} & self.forbidden)

    def find(self, to: Route) -> Optional[Plain]:
        """The object that is named."""
        key = (to.kind, to.namespace, to.name)
        return next((item for item in self.objects if key_of(item) == key), None)

    def _one(self, to: Route) -> Reply:
        found = self.find(to)
        return missing(to) if found is None else Reply(200, json.dumps(found).encode())

    def _list(self, kind: str, namespace: str, request: Request) -> Reply:
        token, limit = request.query.get("continue", ""), int(request.query.get("limit", "0"))
        revision, start = self._revision, ""
        if token:
            try:
                said = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
            except ValueError:
                return _as_recorded("continue-garbage")
            revision, start = said["rv"], said["start"]
            if revision not in self._states:
                return _as_recorded("continue-expired")
        found = [item for item in self._states[revision] if item["kind"] == kind]
        found = [item for item in found if namespace in ("", _namespace(item))]
        found = sorted((item for item in found if _matches(item, request.query)), key=key_of)
        found = [item for item in found if _start(item) >= start]
        page = found[:limit] if limit else found
        metadata: Plain = {"resourceVersion": str(revision)}
        if len(page) < len(found):
            follow = {"v": "meta.k8s.io/v1", "rv": revision, "start": _start(found[limit])}
            compact = json.dumps(follow, separators=(",", ":")).encode()
            metadata["continue"] = base64.urlsafe_b64encode(compact).decode().rstrip("=")
            if not {"fieldSelector", "labelSelector"} & set(request.query):
                metadata["remainingItemCount"] = len(found) - limit
        items = [{key: value for key, value in item.items() if key not in ("kind", "apiVersion")} for item in page]
        group, version, *_ = KINDS[kind]
        api_version = f"{group}/{version}" if group else version
        body = {"kind": f"{kind}List", "apiVersion": api_version, "metadata": metadata, "items": items}
        return Reply(200, json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode())


def _name(item: Plain) -> str:
    return str(item["metadata"]["name"])


def _namespace(item: Plain) -> str:
    return str(item["metadata"].get("namespace", "default")) if KINDS.get(item["kind"], ("", "", "", 1))[3] else ""


def key_of(item: Plain) -> tuple[str, str, str]:
    return item["kind"], _namespace(item), _name(item)


def _start(item: Plain) -> str:
    """Where a list goes on, as etcd has it: the key of an object."""
    return "/".join(filter(None, (_namespace(item), _name(item)))) + "\0"


def _matches(item: Plain, query: dict[str, str]) -> bool:
    for term in filter(None, query.get("fieldSelector", "").split(",")):
        if term.startswith("metadata.name="):
            if _name(item) != term.partition("=")[2]:
                return False
            continue
        path, _, unwanted = term.partition("!=")
        assert path == "status.phase", term
        if item.get("status", {}).get("phase") == unwanted:
            return False
    labels = item["metadata"].get("labels") or {}
    wanted = [term.partition("=")[::2] for term in filter(None, query.get("labelSelector", "").split(","))]
    return all(labels.get(key) == value for key, value in wanted)


def _as_recorded(name: str) -> Reply:
    code, _, body = recorded(name)
    return Reply(code, json.dumps(body).encode())


NOT_FOUND = Reply(404, b"404 page not found\n", (("Content-Type", "text/plain; charset=utf-8"),))


def missing(to: Route) -> Reply:
    """The answer where an object does not exist."""
    return status(404, "NotFound", f'{to.plural} "{to.name}" not found', details={"name": to.name, "kind": to.plural})


def forbidden(user: str, verb: str, to: Route) -> Reply:
    """The answer to who may not do that."""
    where = f'in the namespace "{to.namespace}"' if to.namespace else "at the cluster scope"
    what = f'{to.plural} "{to.name}"' if to.name else to.plural
    plural_of = f'resource "{to.plural}" in API group "{to.group}"'
    message = f'{what} is forbidden: User "{user}" cannot {verb} {plural_of} {where}'
    details = {"name": to.name, "group": to.group, "kind": to.plural}
    return status(403, "Forbidden", message, details={key: value for key, value in details.items() if value})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_of: ApiServer
    disable_nagle_algorithm = True

    def setup(self) -> None:
        self.server_of.connections += 1
        super().setup()

    def handle(self) -> None:
        with contextlib.suppress(OSError):  # the client hung up, or does not like our certificate
            super().handle()

    def _any(self) -> None:
        split = urlsplit(self.path)
        query = {key: values[-1] for key, values in parse_qs(split.query, keep_blank_values=True).items()}
        request = Request(self.command, split.path, query, list(self.headers.items()), self._body())
        self.server_of.requests.append(request)
        self._send(request, self.server_of.reply(request, self._certified()))

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _any  # noqa: N815

    def _body(self) -> bytes:
        """The body of a request; kubectl sends what it reads from standard input in chunks."""
        if "chunked" not in (self.headers.get("Transfer-Encoding") or ""):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _certified(self) -> str:
        """The common name of the client's certificate, which is its user."""
        if not isinstance(self.connection, ssl.SSLSocket):
            return ""
        subject: Any = (self.connection.getpeercert() or {}).get("subject", ())
        return next((value for part in subject for key, value in part if key == "commonName"), "")

    def _send(self, request: Request, reply: Reply) -> None:
        time.sleep(reply.pause_s)
        body = reply.body
        self.send_response(reply.status)
        for name, value in reply.headers:
            self.send_header(name, value)
        self.send_header("Cache-Control", "no-cache, private")
        if len(body) > _GZIP_FROM_BYTES and "gzip" in "".join(request.header("Accept-Encoding")):
            body = gzip.compress(body, 1)
            self.send_header("Content-Encoding", "gzip")
        if len(body) > _CHUNKED_FROM_BYTES and reply.cut is None and not reply.drip_s:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for at in range(0, len(body), 4096):
                part = body[at : at + 4096]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.write(b"0\r\n\r\n")
            return
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if reply.drip_s:
            for byte in body:
                self.wfile.write(bytes([byte]))
                time.sleep(reply.drip_s)
        self.wfile.write(body[: reply.cut] if not reply.drip_s else b"")
        if reply.cut is not None:
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class names it so)
        pass


def once(path: str, *replies: Optional[Reply]) -> Fault:
    """Answer the requests of a path with these, one after another, where there is one; then as always."""
    left = list(replies)
    lock = threading.Lock()

    def fault(request: Request) -> Optional[Reply]:
        with lock:
            return left.pop(0) if request.path == path and left else None

    return fault
