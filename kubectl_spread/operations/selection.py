"""The workloads of a cluster that an operation covers, and errors for requested objects that the cluster facts lack."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.errors import ClusterError, ConfigError, NotFoundError, RequestError, SourceError, SpreadError
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.text.wording import comma_list, short

if TYPE_CHECKING:
    from kubectl_spread.cluster.snapshot import Cluster, Controller
    from kubectl_spread.guarantee.policy import GroupSpec, Policy
    from kubectl_spread.objects.selectors import Labels, Selector
    from kubectl_spread.sources.live.reading import Session


class ObjectName(NamedTuple):
    """An object by kind and name. Without a kind, it is the pod or workload with that name (`named`)."""

    kind: str
    name: str


class Selection(NamedTuple):
    """Workloads by name, or all of some kinds; all of every kind if there are neither.

    `namespace` is empty for all namespaces.
    """

    targets: tuple[ObjectName, ...] = ()
    kinds: frozenset[str] = frozenset()
    selector: Optional[Selector] = None
    namespace: str = "default"

    def includes(self, key: ObjectKey, labels: Labels) -> bool:
        """Return whether a workload is selected."""
        if self.namespace and key.namespace != self.namespace:
            return False
        if self.targets:
            if ObjectName(key.kind, key.name) not in self.targets:
                return False
        elif self.kinds and key.kind not in self.kinds:
            return False
        return self.selector is None or self.selector.matches(labels)

    def controllers(self, cluster: Cluster) -> dict[ObjectKey, Controller]:
        """Return the selected workloads that no other workload controls, sorted."""
        return {
            key: controller
            for key, controller in sorted(cluster.controllers.items())
            if key not in cluster.owners and self.includes(key, controller.labels)
        }

    @property
    def keys(self) -> tuple[ObjectKey, ...]:
        """Return the targets with their namespace."""
        return tuple(ObjectKey(target.kind, self.namespace, target.name) for target in self.targets)

    @property
    def all_kinds(self) -> tuple[str, ...]:
        """Return the kinds of the targets and the kinds that are named, sorted; empty for every kind."""
        found = {target.kind for target in self.targets} | self.kinds
        return () if "" in found else tuple(sorted(found))

    def named(self, cluster: Cluster) -> Selection:
        """Return the selection with the kinds of targets that have a name only.

        Raises:
            SpreadError: no pod or workload has the name, or several have it.
        """
        return self._replace(targets=tuple(_with_kind(item, self.namespace, cluster) for item in self.targets))

    @property
    def place(self) -> str:
        """Return `in namespace shop` or `in all namespaces`."""
        return f"in namespace {self.namespace}" if self.namespace else "in all namespaces"


def own_namespace(named: Optional[str], session: Optional[Session], cluster: Cluster) -> str:
    """Return the namespace of a request: the named one, or the context's, or the only one in a file, or `default`."""
    if named is not None:
        return named
    if session is not None:
        return session.target.namespace
    found = namespaces_of(cluster)
    return found[0] if len(found) == 1 else "default"


def namespaces_of(cluster: Cluster, kind: str = "", name: str = "") -> list[str]:
    """Return the namespaces that hold pods or workloads, of a kind and a name if these are given, sorted."""
    pods = (("Pod", pod.namespace, pod.name) for pod in cluster.pods)
    keys = itertools.chain(cluster.controllers, pods)
    return sorted({key[1] for key in keys if kind in ("", key[0]) and name in ("", key[2])})


def _elsewhere(namespaces: Sequence[str]) -> str:
    """Return `shop (-n shop)`, or `shop, web and 3 more (-n NAMESPACE, or -A)`."""
    if len(namespaces) == 1:
        return f"namespace {short(namespaces[0])} (-n {short(namespaces[0])})"
    return f"namespaces {comma_list(namespaces, most=_MOST_NAMESPACES)} (-n NAMESPACE)"


_MOST_NAMESPACES = 3


def _with_kind(target: ObjectName, namespace: str, cluster: Cluster) -> ObjectName:
    if target.kind:
        return target
    from kubectl_spread.cluster.ownership import workload_of

    pods = [pod for pod in cluster.pods if pod.namespace == namespace]
    of_pods = (key for pod in pods for key in (ObjectKey("Pod", namespace, pod.name), workload_of(pod, cluster)))
    keys = (key for key in (*cluster.controllers, *of_pods) if (key.namespace, key.name) == (namespace, target.name))
    kinds = {key.kind for key in keys if key.kind in KINDS}
    if len(kinds) == 1:
        return ObjectName(kinds.pop(), target.name)
    if kinds:
        choices = sorted(f"{KINDS[kind].names[0]}/{target.name}" for kind in kinds)
        raise RequestError(f"{short(target.name)} is the name of several objects: write {' or '.join(choices)}")
    if any(node.name == target.name for node in cluster.nodes):
        node = short(target.name)
        raise NotFoundError(f"{node} is a node: ask for a pod on it with `explain POD --node {node}`")
    what = f'no pod or workload is named "{short(target.name)}" in namespace "{namespace}" of the cluster facts'
    other = namespaces_of(cluster, name=target.name)
    raise NotFoundError(f"{what}; it is in {_elsewhere(other)}" if other else what)


# The kinds between a workload and its pods.
_BETWEEN = {"Deployment": ("ReplicaSet",), "CronJob": ("Job",)}


def missing_error(key: ObjectKey, cluster: Cluster) -> SpreadError:
    """Return the error for an object that is no workload of the facts.

    It is a NotFoundError, or a ClusterError if a permission is missing. If the object belongs to a workload, the
    message names the workload.
    """
    from kubectl_spread.cluster.ownership import top_of, workload_of
    from kubectl_spread.kubectl.kinds import full_name
    from kubectl_spread.kubectl.targets import only_pods
    from kubectl_spread.sources.live.resources import rbac_rule, resource_of

    kind, namespace, name = key
    if (error := _namespace_error(namespace, cluster)) is not None:
        return error
    pods = (pod for pod in cluster.pods if kind == "Pod" and (pod.namespace, pod.name) == (namespace, name))
    workload = next((workload_of(pod, cluster) for pod in pods), top_of(key, cluster))
    if workload != key:
        word = KINDS[workload.kind].names[0] if workload.kind in KINDS else workload.kind
        belongs = f"belongs to {workload.kind} {namespace}/{workload.name}"
        return NotFoundError(f'{full_name(kind)} "{name}" {belongs}: name {word}/{workload.name} instead')
    unread = [
        item
        for item in cluster.unread
        if (item.kind in (kind, "Pod", *_BETWEEN.get(kind, ())) and item.namespace != namespace)
    ]
    if unread:
        plurals = " and ".join(item.plural for item in unread)
        groups = {item.plural: found.group for item in unread if (found := resource_of(item.kind)) is not None}
        rules = ", ".join(rbac_rule(group, plural, "list") for plural, group in groups.items())
        why = f"may not list {plurals}, so whether it exists is not known; the ClusterRole rules that allow it: {rules}"
        return ClusterError(f'{full_name(kind)} "{name}": {why}')
    if text := only_pods(key, cluster):
        return NotFoundError(text)
    what = f'{full_name(kind)} "{name}" not found in namespace "{namespace}" of the cluster facts'
    other = namespaces_of(cluster, kind, name)
    return NotFoundError(f"{what}; it is in {_elsewhere(other)}" if other else what)


def missing_targets(
    seen: Iterable[ObjectKey], selection: Selection, cluster: Cluster, *, is_live: bool
) -> tuple[SpreadError, ...]:
    """Return errors for named workloads that are not among those seen, or for the namespace.

    A namespace is an error, too, if a file has pods and workloads only in others: nothing was looked at.
    """
    there = {(key.kind, key.name) for key in seen}
    absent = [key for key in selection.keys if (key.kind, key.name) not in there or cluster.is_unread(key)]
    if absent or not selection.namespace:
        return tuple(missing_error(key, cluster) for key in absent)
    if (error := _namespace_error(selection.namespace, cluster)) is not None:
        return (error,)
    others = [] if is_live else namespaces_of(cluster)
    if not others or selection.namespace in others:
        return ()
    what = f'no pods and no workloads in namespace "{selection.namespace}"'
    return (NotFoundError(f"{what}; the cluster facts have {_elsewhere(others)}, or -A for all"),)


def unmatched_group(spec: GroupSpec, policy: Policy) -> SpreadError:
    """Return the error for a group of a policy that matches no workload."""
    whose = f"group {spec.name}: its" if spec.name else "the"
    message = f"{whose} selector matches no workload"
    if not policy.file:
        return RequestError(message)
    return ConfigError((SourceError(policy.file, message, line=spec.line, column=spec.column),))


def _namespace_error(namespace: str, cluster: Cluster) -> Optional[NotFoundError]:
    """Return the error for a namespace that does not exist, in kubectl's words.

    Returns None if it exists, or if the facts do not contain every namespace.
    """
    if not namespace or "Namespace" not in cluster.complete or namespace in cluster.namespaces:
        return None
    return NotFoundError(f'namespaces "{namespace}" not found')
