"""The workloads of a cluster that an operation covers, and errors for requested objects that the cluster facts lack."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.errors import ClusterError, NotFoundError, SpreadError
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.workloads.kinds import KINDS

if TYPE_CHECKING:
    from kubectl_spread.cluster.snapshot import Cluster, Unread
    from kubectl_spread.objects.selectors import Labels, Selector


class ObjectName(NamedTuple):
    """An object by kind and name."""

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

    @property
    def all_kinds(self) -> tuple[str, ...]:
        """Return the kinds of the targets and the kinds that are named, sorted; empty for every kind."""
        return tuple(sorted({target.kind for target in self.targets} | self.kinds))

    @property
    def place(self) -> str:
        """Return `in namespace shop` or `in all namespaces`."""
        return f"in namespace {self.namespace}" if self.namespace else "in all namespaces"


# The kinds between a workload and its pods.
_BETWEEN = {"Deployment": ("ReplicaSet",), "CronJob": ("Job",)}


def missing_error(kind: str, name: str, *, namespace: str, cluster: Cluster) -> SpreadError:
    """Return the error for an object that is no workload of the facts.

    It is a NotFoundError, or a ClusterError if a permission is missing. If the object belongs to a workload, the
    message names the workload.
    """
    if is_missing(namespace, cluster):
        return no_namespace(namespace)
    workload = _workload_above(ObjectKey(kind, namespace, name), cluster)
    if workload is not None:
        word = KINDS[workload.kind].names[0] if workload.kind in KINDS else workload.kind
        belongs = f"belongs to {workload.kind} {namespace}/{workload.name}"
        return NotFoundError(f'{_full_name(kind)} "{name}" {belongs}: name {word}/{workload.name} instead')
    unread = [item for item in cluster.unread if _hides(item, kind, namespace)]
    if unread:
        return ClusterError(f'{_full_name(kind)} "{name}": {_missing_rights(unread)}')
    return NotFoundError(f'{_full_name(kind)} "{name}" not found in namespace "{namespace}" of the cluster facts')


def missing_targets(seen: Iterable[ObjectKey], selection: Selection, cluster: Cluster) -> tuple[SpreadError, ...]:
    """Return errors for named workloads that are not among those seen, or for the namespace."""
    there = {(key.kind, key.name) for key in seen}
    absent = tuple(
        missing_error(target.kind, target.name, namespace=selection.namespace, cluster=cluster)
        for target in selection.targets
        if (target.kind, target.name) not in there
    )
    is_nowhere = not absent and is_missing(selection.namespace, cluster)
    return (no_namespace(selection.namespace),) if is_nowhere else absent


def _workload_above(key: ObjectKey, cluster: Cluster) -> Optional[ObjectKey]:
    """Return the workload that an object belongs to; None if it belongs to none, or does not exist."""
    from kubectl_spread.cluster.ownership import top_of, workload_of

    if key.kind == "Pod":
        own = (pod for pod in cluster.pods if pod.name == key.name and pod.namespace == key.namespace)
        found = next((workload_of(pod, cluster) for pod in own), key)
    else:
        found = top_of(key, cluster)
    return None if found == key else found


def is_missing(namespace: str, cluster: Cluster) -> bool:
    """Return whether a namespace does not exist; False if the facts do not contain every namespace."""
    return bool(namespace) and "Namespace" in cluster.complete and namespace not in cluster.namespaces


def no_namespace(namespace: str) -> NotFoundError:
    """Return the error for a namespace that does not exist, in kubectl's words."""
    return NotFoundError(f'namespaces "{namespace}" not found')


def _hides(item: Unread, kind: str, namespace: str) -> bool:
    return item.kind in (kind, "Pod", *_BETWEEN.get(kind, ())) and item.namespace != namespace


def _missing_rights(unread: list[Unread]) -> str:
    from kubectl_spread.sources.live.resources import rbac_rule, resource_of

    plurals = " and ".join(item.plural for item in unread)
    groups = {item.plural: found.group for item in unread if (found := resource_of(item.kind)) is not None}
    rules = ", ".join(rbac_rule(group, plural, "list") for plural, group in groups.items())
    return f"may not list {plurals}, so whether it exists is not known; the ClusterRole rules that allow it: {rules}"


def _full_name(kind: str) -> str:
    """Return `deployments.apps`, as kubectl names a resource."""
    from kubectl_spread.sources.live.resources import resource_of

    resource = resource_of(kind)
    if resource is not None:
        return f"{resource.plural}.{resource.group}" if resource.group else resource.plural
    entry = KINDS[kind]
    group = min(entry.groups, default="")
    plural = f"{kind.lower()}s"
    return f"{plural}.{group}" if group else plural
