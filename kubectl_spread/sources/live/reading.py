"""Reader of a live cluster as a `Cluster`: kinds in parallel, each page reduced to the scheduler's view on arrival."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, NamedTuple, Optional

from kubectl_spread.cluster.build import ClusterBuilder
from kubectl_spread.cluster.prune import prune_object
from kubectl_spread.cluster.shapes import SHAPES
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.errors import ClusterError, ConfigError, SourceError
from kubectl_spread.objects.amounts.quantity import seconds
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import as_text, fields, numbered_mappings, Plain, value_at
from kubectl_spread.objects.reading.pod_reader import PodReader
from kubectl_spread.objects.releases.version import nearest_release, note_on, Release, server_release
from kubectl_spread.sources.live import kubeconfig, resources, scheduler
from kubectl_spread.sources.live.flags import Flags
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
from kubectl_spread.text.wording import short

_ACTIVE = {"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"}
# Seconds that a parsing thread may block receiving ones; Python's default is 5 ms.
_SWITCH_S = 0.0005


class Version(NamedTuple):
    """The server's version string, and the release whose rules apply."""

    text: str
    release: Release
    note: str = ""


class LiveFacts(NamedTuple):
    """A cluster, decoding errors, kinds that may not be read, and the scheduler's configuration."""

    cluster: Cluster
    errors: tuple[SourceError, ...]
    unread: tuple[resources.ForbiddenKind, ...]
    scheduler: scheduler.ConfigurationText
    objects: tuple[Plain, ...] = ()  # as in a snapshot, on request


class Session:
    """A connection to one cluster for one run of the program, opened on first use.

    Raises:
        SourceError: a kubeconfig cannot be read.
        ConfigError: a flag is invalid.
        ClusterError: no cluster is named.
    """

    def __init__(self, flags: Flags) -> None:
        self.target = kubeconfig.load(flags)
        written = flags.request_timeout
        timeout_s = 0.0 if written is None else seconds(written)
        if timeout_s is None:
            raise ConfigError((SourceError("--request-timeout", f"not a duration: {written}; write 30s"),))
        self._timeout_s = timeout_s

    @cached_property
    def transport(self) -> Transport:
        """Return the transport; credentials are loaded on first use.

        Raises:
            ClusterError: there are no usable credentials.
        """
        from kubectl_spread.sources.live import credentials

        return Transport(
            credentials.credentials(self.target, connections=CONNECTIONS),
            impersonation=self.target.impersonation,
            timeout_s=self._timeout_s,
            compresses=self.target.compresses,
        )

    @cached_property
    def version(self) -> Version:
        """Return the server's version, which is requested once.

        Raises:
            ClusterError: the server does not report it.
        """
        answer = self.transport.get("/version")
        text = str(fields(answer.content).get("gitVersion") or "") if answer.status == 200 else ""
        release = server_release(text)
        if release is None:
            said = text or f"{answer.status} {answer.message}"
            host = self.transport.host
            raise ClusterError(f"the server {host} does not report its version: it answered {said}")
        return Version(text, nearest_release(release), note_on(release))

    def read(self, question: Question, *, minor: int, finds_scheduler: bool) -> LiveFacts:
        """Read the objects that a question needs.

        Args:
            question: the question.
            minor: minor version of the release whose rules apply.
            finds_scheduler: whether to look for the scheduler's configuration.

        Raises:
            ClusterError: the cluster cannot be read, or reading its nodes is forbidden.
        """
        before = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_S)
        try:
            return _read(self.transport, question, minor=minor, finds_scheduler=finds_scheduler)
        finally:
            sys.setswitchinterval(before)

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
        items = numbered_mappings(value_at(answer.content, ("items",)))
        return sorted(filter(None, (as_text(fields(item, "metadata").get("name")) for _, item in items)))

    def close(self) -> None:
        """Close all connections."""
        if "transport" in vars(self):
            self.transport.close()


def _read(transport: Transport, question: Question, *, minor: int, finds_scheduler: bool) -> LiveFacts:
    """Return the facts with what could not be read, and the kinds that were read completely."""
    configuration = Task(partial(scheduler.find_configuration, transport)) if finds_scheduler else None
    has_new_nodes = question.keeps_objects or question.has_new_nodes
    karpenter = Task(partial(_version_of_karpenter, transport)) if has_new_nodes else None
    builder = ClusterBuilder()
    collected: dict[Resource, _ListReader] = {}

    def collect(wanted: tuple[Resource, ...]) -> None:
        tasks = {resource: Task(partial(_collect, transport, question, resource)) for resource in wanted}
        for resource, task in tasks.items():
            collected[resource] = task.result()
            builder.update(collected[resource].builder)

    collect(question.resources(minor))
    cluster, namespace = builder.cluster(), question.namespace
    uses_claims = any(pod.cls.volumes for pod in cluster.pods if not namespace or pod.namespace == namespace)
    if STORAGE[0] not in collected and question.is_about_pods and uses_claims:
        collect(STORAGE)
    version = "" if karpenter is None else karpenter.result()
    if version:
        has_all = question.is_overview and not namespace  # Deployments
        served = tuple(item._replace(version=version) for item in PROVISIONING)
        collect(served if has_all else (*served, KARPENTER))
    if collected[NODES].errors and not builder.has_nodes:
        raise collected[NODES].errors[0]
    parts = collected.values()
    unread = tuple(part.unread for part in parts if part.unread is not None)
    cluster = builder.cluster()._replace(
        read_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        unread=tuple(dict.fromkeys(part.fact for part in unread)),
        complete=frozenset(item.kind for item in collected if not item.selector).difference(
            part.resource.kind for part in unread
        ),
    )
    return LiveFacts(
        cluster,
        tuple(error for part in parts for error in part.errors),
        unread,
        scheduler.ConfigurationText(None, "as given") if configuration is None else configuration.result(),
        tuple(plain for part in parts for plain in part.objects),
    )


def _version_of_karpenter(transport: Transport) -> str:
    """Return the version of Karpenter's API; empty without Karpenter: lists are forbidden in such a cluster, too."""
    answer = transport.get("/apis/karpenter.sh")
    preferred = fields(answer.content, "preferredVersion").get("version")
    return str(preferred or "v1") if answer.status == 200 else ""


def _collect(transport: Transport, question: Question, resource: Resource) -> _ListReader:
    """Return all objects of a kind, or only the question's namespace if others are forbidden."""
    # Finished pods use no resources.
    query = _ACTIVE if resource is PODS and {"Pod", "Job", "CronJob"}.isdisjoint(question.kinds) else resource.query
    reader = _ListReader(transport.host, resource, keeps_objects=question.keeps_objects)
    only = question.namespace or question.fallback
    first = question.namespace if resource.is_local else ""
    places = (first, only) if only != first and resource.is_namespaced else (first,)
    for place in places:
        refusal = read_list(transport, resource.path(place), query, reader.start)
        if refusal is None or (refusal.status == 404 and place == first):  # 404: the server lacks this API group
            reader.unread = None if place == first else resources.ForbiddenKind(resource, place)
            return reader
        if refusal.status != 403:
            what = f"a list of {resource.plural} with {refusal.status}: {refusal.message}"
            raise ClusterError(f"the server {transport.host} answered {what}")
        message = refusal.message
    if resource in (NODES, PODS):
        raise resources.forbidden_error(resource, message)
    reader.unread = resources.ForbiddenKind(resource)
    return reader


class _ListReader:
    """Reader of the objects of one list, and what it has read. Values that pods share are cached across restarts."""

    def __init__(self, host: str, resource: Resource, *, keeps_objects: bool = False) -> None:
        self._host = host
        self._resource = resource
        self._pods = PodReader()
        self._keeps_objects = keeps_objects
        self.unread: Optional[resources.ForbiddenKind] = None
        self.start()

    def start(self) -> Callable[[Any], None]:
        """Start or restart the list; return the consumer of its items, also of one that is no object."""
        self.builder = ClusterBuilder()
        self.errors: list[SourceError] = []
        self.objects: list[Plain] = []
        return self._take

    def _take(self, item: Any) -> None:
        kind = self._resource.kind
        if not isinstance(item, dict):
            what = f"an item of the list of {self._resource.plural}"
            self.builder.leave_out({})
            self.errors.append(SourceError(self._host, f"{what} is left out: not an object"))
            return
        is_shared = self._resource is PODS and not self._keeps_objects
        if is_shared and (pod := self._pods.pod(item)) is not None:
            self.builder.add_pod(pod)
            return
        item["kind"], item["apiVersion"] = kind, self._resource.api_version  # Items of a list lack both fields.
        if not is_shared and decode.decodes(item, SHAPES[kind]):
            self.builder.add(item)
            if self._keeps_objects:
                self.objects += filter(None, (prune_object(item),))
            return
        self.builder.leave_out(item)
        what = f"{kind} {short(fields(item, 'metadata').get('name', '?'))}"
        problems = map(decode.problem_text, decode.type_problems(item, SHAPES[kind]))
        self.errors += [SourceError(self._host, f"{what} is left out: {text}") for text in problems]


PAGE = 500
# Page sizes, one per restart; 0 is the whole list at once, which cannot expire.
_LIMITS = (PAGE, 10 * PAGE, 0)
# A server with more pages is assumed never to end.
_MAX_PAGES, _MAX_EMPTY_PAGES = 20_000, 50
# The metadata of a List comes before its items.
_CONTINUE = re.compile(rb'\A\s*\{[^\[\]]{0,400}"continue":\s?"([A-Za-z0-9_=-]+)"')


def read_list(
    transport: Transport, path: str, query: dict[str, str], start: Callable[[], Callable[[Any], None]]
) -> Optional[Response]:
    """Read a list completely, at one resourceVersion; return the answer if the server refuses it.

    If its continue token expires, the list is read again from the beginning, in larger pages.

    Args:
        transport: the API server.
        path: of the list.
        query: selectors.
        start: returns the consumer of items; called again for each restart, which discards all previous items.

    Raises:
        ClusterError: it cannot be read.
    """
    for limit in _LIMITS:
        limited = {**query, "limit": str(limit)} if limit else query
        refusal = _pages(transport, path, limited, start())
        if refusal is None or refusal.status != 410:
            return refusal
    raise ClusterError(f"the server {transport.host} lets every list of {path} expire before it is read")


def _pages(transport: Transport, path: str, query: dict[str, str], take: Callable[[Any], None]) -> Optional[Response]:
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


def _page(transport: Transport, path: str, answer: Response, take: Callable[[Any], None]) -> tuple[int, str]:
    """Pass on the items of one page; return their number, and the token of the next page, empty on the last one.

    Raises:
        ClusterError: the answer is not a list.
    """
    document = fields(answer.content)
    metadata, items = document.get("metadata"), document.get("items")
    items = [] if items is None else items  # an empty list of Go
    following = metadata.get("continue") or "" if isinstance(metadata, dict) else None
    if not isinstance(following, str) or not isinstance(items, list):
        raise ClusterError(f"the server {transport.host} answered {path} with something other than a list")
    for item in items:
        take(item)
    return len(items), following
