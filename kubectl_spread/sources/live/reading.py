"""Reader of a live cluster as a `Cluster`: kinds in parallel, each page reduced to the scheduler's view on arrival."""

from __future__ import annotations

import contextlib
import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple, Optional, Union

from kubectl_spread.cluster.building.build import ClusterBuilder
from kubectl_spread.cluster.building.shapes import SHAPES
from kubectl_spread.cluster.sharing.prune import prune_object
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.errors import ClusterError, ConfigError, SourceError
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.pod_reader import PodReader, PodTexts
from kubectl_spread.objects.releases.version import nearest_release, note_on, plain_text, Release, server_release
from kubectl_spread.objects.selectors import NODE_POOL
from kubectl_spread.sources.live import kubeconfig, resources, scheduler
from kubectl_spread.sources.live.flags import Flags, seconds
from kubectl_spread.sources.live.resources import (
    KARPENTER,
    NODES,
    PODS,
    PROVISIONING,
    Question,
    Resource,
    resource_of,
    STORAGE,
)
from kubectl_spread.sources.live.transport import CONNECTIONS, Response, Task, Transport
from kubectl_spread.text import json_stream
from kubectl_spread.text.wording import short

Plain = dict[str, Any]

_ACTIVE = {"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"}
# Seconds that a parsing thread may block receiving ones; Python's default is 5 ms.
_SWITCH_S = 0.0005


class Version(NamedTuple):
    """The server's version string, and the release whose rules apply."""

    text: str
    release: Release
    note: str = ""

    @property
    def snapshot_text(self) -> str:
        """Return the version as a snapshot has it."""
        return plain_text(self.text)

    @property
    def minor(self) -> int:
        """Return the minor version of the release whose rules apply."""
        return self.release.minor


class LiveFacts(NamedTuple):
    """A cluster, decoding errors, kinds that may not be read, and the scheduler's configuration."""

    cluster: Cluster
    errors: tuple[SourceError, ...]
    unread: tuple[resources.ForbiddenKind, ...]
    scheduler: scheduler.ConfigurationText
    objects: tuple[Plain, ...] = ()  # as in a snapshot, on request


class _Collected(NamedTuple):
    assembler: ClusterBuilder
    errors: list[SourceError]
    objects: list[Plain]
    unread: Optional[resources.ForbiddenKind] = None


class Session:
    """A connection to one cluster for one run of the program, opened on first use.

    Raises:
        SourceError: a kubeconfig cannot be read.
        ConfigError: a flag is invalid.
        ClusterError: no cluster is named.
    """

    def __init__(self, flags: Flags) -> None:
        self.target = kubeconfig.load(flags)
        self._timeout_s = _timeout_s(flags)
        self._transport: Optional[Transport] = None
        self._version: Optional[Version] = None

    @property
    def transport(self) -> Transport:
        """Return the transport; credentials are loaded on first use.

        Raises:
            ClusterError: there are no usable credentials.
        """
        if self._transport is None:
            from kubectl_spread.sources.live import credentials

            self._transport = Transport(
                credentials.credentials(self.target, connections=CONNECTIONS),
                impersonation=self.target.impersonation,
                timeout_s=self._timeout_s,
                compresses=self.target.compresses,
            )
        return self._transport

    @property
    def version(self) -> Version:
        """Return the server's version, which is requested once.

        Raises:
            ClusterError: the server does not report it.
        """
        if self._version is None:
            self._version = _version(self.transport)
        return self._version

    def read(self, question: Question, *, minor: int, finds_scheduler: bool) -> LiveFacts:
        """Read the objects that a question needs.

        Args:
            question: the question.
            minor: minor version of the release whose rules apply.
            finds_scheduler: whether to look for the scheduler's configuration.

        Raises:
            ClusterError: the cluster cannot be read, or reading its nodes is forbidden.
        """
        with _switching():
            return _read(self.transport, question, minor=minor, finds_scheduler=finds_scheduler)

    def names(self, kind: str, namespace: str, *, most: int) -> list[str]:
        """Return the names of the first objects of a kind in a namespace; an empty namespace means the context's.

        Raises:
            ClusterError: the cluster refuses the list.
        """
        resource = resource_of(kind)
        if resource is None:
            return []
        where = (namespace or self.target.namespace) if resource.is_namespaced else ""
        answer = self.transport.get(resource.path(where), {"limit": str(most)})
        if answer.status != 200:
            raise ClusterError(answer.message)
        with contextlib.suppress(ValueError, RecursionError, KeyError, TypeError):
            return sorted(str(item["metadata"]["name"]) for item in json.loads(answer.body)["items"])
        return []

    def close(self) -> None:
        """Close all connections."""
        if self._transport is not None:
            self._transport.close()


def _timeout_s(flags: Flags) -> float:
    if flags.request_timeout is None:
        return 0.0
    found = seconds(flags.request_timeout)
    if found is None:
        raise ConfigError((SourceError("--request-timeout", f"not a duration: {flags.request_timeout}; write 30s"),))
    return found


@contextlib.contextmanager
def _switching() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _read(transport: Transport, question: Question, *, minor: int, finds_scheduler: bool) -> LiveFacts:
    found = Task(partial(scheduler.find_configuration, transport)) if finds_scheduler else None
    wanted = question.resources(minor)
    collected = _side_by_side(transport, question, wanted)
    builder = ClusterBuilder()
    _add(collected, builder)
    if STORAGE[0] not in wanted and question.is_about_pods and _uses_claims(builder.cluster(), question.namespace):
        more = _side_by_side(transport, question, STORAGE)
        _add(more, builder)
        collected += more
        wanted += STORAGE
    if (question.keeps_objects or question.has_new_nodes) and _has_karpenter(builder.cluster()):
        has_all = question.is_overview and not question.namespace  # Deployments
        own = () if has_all else (KARPENTER,)
        more = _side_by_side(transport, question, (*PROVISIONING, *own))
        _add(more, builder)
        collected += more
        wanted += PROVISIONING
    unreadable = collected[wanted.index(NODES)].errors
    if unreadable and not builder.has_nodes:
        raise unreadable[0]
    as_given = scheduler.ConfigurationText(None, "as given")
    return _facts(collected, builder, wanted, as_given if found is None else found.result())


def _add(collected: Iterable[_Collected], builder: ClusterBuilder) -> None:
    for part in collected:
        builder.update(part.assembler)


def _facts(
    collected: Iterable[_Collected],
    builder: ClusterBuilder,
    wanted: Iterable[Resource],
    configuration: scheduler.ConfigurationText,
) -> LiveFacts:
    """Return the facts with what could not be read, and the kinds that were read completely."""
    unread = tuple(part.unread for part in collected if part.unread is not None)
    missing = {part.resource.kind for part in unread}
    cluster = builder.cluster()._replace(
        read_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        unread=tuple(part.fact for part in unread),
        complete=frozenset(item.kind for item in wanted if item.kind not in missing),
    )
    errors = tuple(error for part in collected for error in part.errors)
    objects = tuple(plain for part in collected for plain in part.objects)
    return LiveFacts(cluster, errors, unread, configuration, objects)


def _side_by_side(transport: Transport, question: Question, wanted: tuple[Resource, ...]) -> list[_Collected]:
    tasks = [Task(partial(_collect, transport, question, resource)) for resource in wanted]
    return [task.result() for task in tasks]


def _uses_claims(cluster: Cluster, namespace: str) -> bool:
    """Return whether a pod in the namespace has a volume that the scheduler considers."""
    return any(pod.cls.volumes for pod in cluster.pods if not namespace or pod.namespace == namespace)


def _has_karpenter(cluster: Cluster) -> bool:
    """Return whether Karpenter has created a node."""
    return any(NODE_POOL in node.labels for node in cluster.nodes)


def _collect(transport: Transport, question: Question, resource: Resource) -> _Collected:
    """Return all objects of a kind, or only the question's namespace if others are forbidden."""
    query = _ACTIVE if resource is PODS and not question.wants_finished else resource.query
    reader = _Reader(transport.host, resource, keeps_objects=question.keeps_objects)
    everywhere = resource.path(question.namespace if resource.is_local else "")
    refusal = _refusal(transport, resource, everywhere, query, reader)
    if refusal is None or refusal.status == 404:  # 404: the server lacks this API group
        return reader.collect()
    only = _readable_namespace(question, resource)
    if resource is NODES or (resource is PODS and not only):
        raise resources.without(resource, refusal.message)
    if not only:
        return reader.collect()._replace(unread=resources.ForbiddenKind(resource))
    refusal = _refusal(transport, resource, resource.path(only), query, reader)
    if refusal is None:
        return reader.collect()._replace(unread=resources.ForbiddenKind(resource, only))
    if refusal.status == 404:
        raise _unexpected(transport, resource, refusal.status, refusal.message)
    if resource is PODS:
        raise resources.without(resource, refusal.message)
    return reader.collect()._replace(unread=resources.ForbiddenKind(resource))


def _readable_namespace(question: Question, resource: Resource) -> str:
    """Return the namespace to read if all namespaces are forbidden; empty if there is none, or it was read already."""
    only = question.namespace or question.fallback
    was_read = resource.is_local and only == question.namespace
    return "" if was_read or not resource.is_namespaced else only


def _refusal(
    transport: Transport, resource: Resource, path: str, query: dict[str, str], reader: _Reader
) -> Optional[Response]:
    """Read a list; return the server's answer if it lacks the kind (404) or forbids the list (403).

    Raises:
        ClusterError: the server refuses for another reason.
    """
    refusal = read_list(transport, path, dict(query), reader.start)
    if refusal is not None and refusal.status not in (403, 404):
        raise _unexpected(transport, resource, refusal.status, refusal.message)
    return refusal


def _unexpected(transport: Transport, resource: Resource, status: int, message: str) -> ClusterError:
    return ClusterError(f"the server {transport.host} answered a list of {resource.plural} with {status}: {message}")


class _Reader:
    """Reader of the objects of one list. Values that pods share are cached across restarts."""

    def __init__(self, host: str, resource: Resource, *, keeps_objects: bool = False) -> None:
        self._host = host
        self._resource = resource
        self._texts = PodTexts()
        self._pods = PodReader()
        self._assembler = ClusterBuilder()
        self._errors: list[SourceError] = []
        self._keeps_objects = keeps_objects
        self._objects: list[Plain] = []

    def start(self) -> Take:
        """Start or restart the list."""
        self._assembler, self._errors, self._objects = ClusterBuilder(), [], []
        is_shared = self._resource is PODS and not self._keeps_objects
        return Take(self._pod, self._texts.scan) if is_shared else Take(self._other)

    def collect(self) -> _Collected:
        return _Collected(self._assembler, self._errors, self._objects)

    def _pod(self, item: Any) -> None:
        pod = self._pods.pod(item, self._texts.spec_key) if isinstance(item, dict) else None
        if pod is not None:
            self._assembler.add_pod(pod)
        else:
            self._complain(item)

    def _other(self, item: Any) -> None:
        resource = self._resource
        if isinstance(item, dict):  # Items of a list lack both fields.
            item["kind"], item["apiVersion"] = resource.kind, resource.api_version
        if isinstance(item, dict) and decode.decodes(item, SHAPES[self._resource.kind]):
            self._assembler.add(item)
            if self._keeps_objects:
                self._objects += filter(None, (prune_object(item),))
        else:
            self._complain(item)

    def _complain(self, item: Any) -> None:
        if not isinstance(item, dict):
            self._assembler.leave_out({})
            what = f"an item of the list of {self._resource.plural} is left out: not an object"
            self._errors.append(SourceError(self._host, what))
            return
        self._assembler.leave_out({"kind": self._resource.kind, **item})
        metadata = item.get("metadata")
        name = metadata.get("name", "?") if isinstance(metadata, dict) else "?"
        for problem in decode.problems(item, SHAPES[self._resource.kind]):
            if problem.kind is decode.ProblemKind.TYPE:
                what = f"{self._resource.kind} {short(name)} is left out: {decode.problem_text(problem)}"
                self._errors.append(SourceError(self._host, what))


def _version(transport: Transport) -> Version:
    answer = transport.get("/version")
    answered: Union[Plain, Any] = None
    if answer.status == 200:
        with contextlib.suppress(ValueError, RecursionError):
            answered = json.loads(answer.body)
    text = str(answered.get("gitVersion") or "") if isinstance(answered, dict) else ""
    release = server_release(text)
    if release is None:
        said = text or f"{answer.status} {answer.message}"
        raise ClusterError(f"the server {transport.host} does not report its version: it answered {said}")
    return Version(text, nearest_release(release), note_on(release))


PAGE = 500
# Page sizes, one per restart; 0 is the whole list at once, which cannot expire.
_LIMITS = (PAGE, 10 * PAGE, 0)
# A server with more pages is assumed never to end.
_MAX_PAGES, _MAX_EMPTY_PAGES = 20_000, 50
# The metadata of a List comes before its items.
_CONTINUE = re.compile(rb'\A\s*\{[^\[\]]{0,400}"continue":\s?"([A-Za-z0-9_=-]+)"')


class Take(NamedTuple):
    """Consumers of a list's items: `item` gets each item, also one that is no object; `scan` is for `json_stream`."""

    item: Callable[[Any], None]
    scan: Optional[json_stream.Scan] = None


def read_list(transport: Transport, path: str, query: dict[str, str], start: Callable[[], Take]) -> Optional[Response]:
    """Read a list completely, at one resourceVersion; return the answer if the server refuses it.

    If its continue token expires, the list is read again from the beginning, in larger pages.

    Args:
        transport: the API server.
        path: of the list.
        query: selectors.
        start: returns the consumers of items; called again for each restart, which discards all previous items.

    Raises:
        ClusterError: it cannot be read.
    """
    for limit in _LIMITS:
        limited = {**query, "limit": str(limit)} if limit else query
        refusal = _pages(transport, path, limited, start())
        if refusal is None or refusal.status != 410:
            return refusal
    raise ClusterError(f"the server {transport.host} lets every list of {path} expire before it is read")


def _pages(transport: Transport, path: str, query: dict[str, str], take: Take) -> Optional[Response]:
    """Read all pages of a list; return the answer that is not a page, such as 410 if the list expires on the way.

    Raises:
        ClusterError: the list never ends.
    """
    answer = transport.get(path, query)
    tokens: set[str] = set()
    empty = 0
    while True:
        if answer.status != 200:
            return answer
        match = _CONTINUE.match(answer.body)
        ahead = None
        token = match[1].decode() if match is not None else ""
        if token and token not in tokens:
            ahead = Task(partial(transport.get, path, {**query, "continue": token}))
        items, following = _page(transport, path, answer, take)
        if not following:
            return None
        empty = 0 if items else empty + 1
        if following in tokens or empty >= _MAX_EMPTY_PAGES or len(tokens) >= _MAX_PAGES:
            raise ClusterError(f"the server {transport.host} answered {path} with pages that never end")
        tokens.add(following)
        if ahead is not None and following == token:
            answer = ahead.result()
        else:
            answer = transport.get(path, {**query, "continue": following})


def _page(transport: Transport, path: str, answer: Response, take: Take) -> tuple[int, str]:
    """Pass on the items of one page; return their number, and the token of the next page, empty on the last one.

    Raises:
        ClusterError: the answer is not a list.
    """
    taken = object()

    def consume(item: dict[str, Any], document: dict[str, Any]) -> object:  # noqa: ARG001 (as json_stream calls it)
        take.item(item)
        return taken

    try:
        documents = json_stream.values(answer.body.decode(), consume, take.scan)
    except (ValueError, RecursionError):
        documents = []
    document = documents[0] if len(documents) == 1 and isinstance(documents[0], dict) else {}
    metadata, items = document.get("metadata"), document.get("items")
    items = [] if items is None else items  # an empty list of Go
    following = metadata.get("continue") or "" if isinstance(metadata, dict) else None
    if not isinstance(following, str) or not isinstance(items, list):
        raise ClusterError(f"the server {transport.host} answered {path} with something other than a list")
    for item in items:
        if item is not taken:
            take.item(item)
    return len(items), following
