"""Reader of a live cluster as a `Cluster`: kinds in parallel, each page reduced to the scheduler's view on arrival."""

from __future__ import annotations

import itertools
import posixpath
import re
import sys
import time
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, NamedTuple, Optional

from kubectl_spread.cluster.build import ClusterBuilder
from kubectl_spread.cluster.shapes import prune_object, SHAPES
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.errors import ClusterError, ConfigError, SourceError
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import as_text, fields, numbered_mappings, Plain, value_at
from kubectl_spread.objects.reading.read import PodReader
from kubectl_spread.objects.releases.version import nearest_release, note_on, Release, server_release
from kubectl_spread.objects.resources import seconds
from kubectl_spread.sources.live import kubeconfig, resources
from kubectl_spread.sources.live.flags import Flags
from kubectl_spread.sources.live.resources import (
    KARPENTER,
    NODES,
    PODS,
    PROVISIONING,
    Question,
    rbac_rule,
    Resource,
    resource_of,
    segment,
    STORAGE,
)
from kubectl_spread.sources.live.transport import CONNECTIONS, Response, Task, Transport
from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.wording import short

_NAMESPACE = "kube-system"
_PODS = f"/api/v1/namespaces/{_NAMESPACE}/pods"
_SELECTOR = "component=kube-scheduler"  # label of kubeadm and of similar installers


class ConfigurationText(NamedTuple):
    """Text of the configuration, if it is readable, and a remark on its origin."""

    source: Optional[SourceFile]
    said: str
    is_certain: bool = True


def find_configuration(transport: Transport) -> ConfigurationText:
    """Return the configuration of the cluster's scheduler, from its pods and ConfigMaps in kube-system.

    A scheduler that runs as a static pod reads its configuration from its node's disk, which the API server does not
    show. Then the default is used, and the answer says so. Managed clusters do not show their scheduler.
    """
    answer = transport.get(_PODS, {"labelSelector": _SELECTOR, "limit": "10"})
    if answer.status == 403:
        rule = rbac_rule("", "pods", "list")
        return _default(f"pods of {_NAMESPACE} may not be listed: {rule} in a Role there allows it")
    pods = _mappings(answer.content, "items") if answer.status == 200 else []
    if not pods:
        return _default("")  # as in every managed cluster
    for pod in pods:
        path = _config_path(pod)
        if path is not None:
            return _mounted(transport, pod, path)
    return ConfigurationText(None, "default (the scheduler runs without --config)")


def _default(why: str) -> ConfigurationText:
    origin = f"not known, default assumed ({why})" if why else "not known, default assumed"
    return ConfigurationText(None, f"{origin}; --scheduler-config names it", is_certain=False)


def _mappings(value: Any, *route: str) -> list[Plain]:
    """Return the mappings in the list at a route."""
    return [item for _, item in numbered_mappings(value_at(value, route))]


def _config_path(pod: Plain) -> Optional[str]:
    """Return the value of --config in the command of a scheduler's pod; the last one wins."""
    found = None
    for container in _mappings(pod, "spec", "containers"):
        lines = [container.get(key) for key in ("command", "args")]
        words = [str(word) for line in lines if isinstance(line, list) for word in line]
        for word, following in itertools.zip_longest(words, words[1:], fillvalue=""):
            name, equals, value = word.partition("=")
            if name in ("--config", "-config"):
                found = value if equals else following
    return found or None


def _mounted(transport: Transport, pod: Plain, path: str) -> ConfigurationText:
    """Return the configuration at a path of a scheduler's container, if a ConfigMap is mounted there."""
    for container in _mappings(pod, "spec", "containers"):
        for mount in _mappings(container, "volumeMounts"):
            folder = str(mount.get("mountPath") or "").rstrip("/")
            if path != folder and not path.startswith(f"{folder}/"):
                continue
            named = (item for item in _mappings(pod, "spec", "volumes") if item.get("name") == mount.get("name"))
            volume = value_at(next(named, None), ("configMap",))
            if isinstance(value_at(volume, ("name",)), str):
                inside = str(mount.get("subPath") or "") if path == folder else path[len(folder) + 1 :]
                return _of_config_map(transport, volume, posixpath.normpath(inside))
    name = value_at(pod, ("metadata", "name"))
    return _default(f"pod {_NAMESPACE}/{name} reads it from {path} on its node's disk")


def _of_config_map(transport: Transport, volume: Plain, inside: str) -> ConfigurationText:
    name = str(volume["name"])
    items = _mappings(volume, "items")
    key = next((str(item["key"]) for item in items if item.get("path") == inside and item.get("key")), inside)
    where = f"ConfigMap {_NAMESPACE}/{name}"
    answer = transport.get(f"/api/v1/namespaces/{_NAMESPACE}/configmaps/{segment(name)}")
    if answer.status == 403:
        return _default(f"{where} may not be read: {rbac_rule('', 'configmaps', 'get')} in a Role there allows it")
    text = value_at(answer.content, ("data", key))
    if answer.status != 200 or not isinstance(text, str):
        return _default(f"{where} has no `{key}`")
    return ConfigurationText(SourceFile(f"{where}, {key}", text), f"{where}, {key}")


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
    scheduler: ConfigurationText
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
    configuration = Task(partial(find_configuration, transport)) if finds_scheduler else None
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
        ConfigurationText(None, "as given") if configuration is None else configuration.result(),
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
