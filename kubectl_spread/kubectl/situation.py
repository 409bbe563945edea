"""The cluster's workloads and nodes as later commands find them, after earlier commands were accepted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster, Controller, key_of
from kubectl_spread.engine import steps
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.objects.workloads.workload import REVISION_LABEL_OF, workload
from kubectl_spread.text.scalars import natural

Plain = dict[str, Any]


class CommandReader(Protocol):
    """Reader of the files and texts of commands. It records an error in one object and continues with the others."""

    def objects(
        self, paths: tuple[str, ...], directories: tuple[str, ...], *, recursive: bool, namespace: str
    ) -> list[Plain]:
        """Return the decodable objects of manifests and kustomizations, each with its namespace."""
        ...

    def value(self, text: str, name: str) -> Any:
        """Return the value of a JSON or YAML text.

        Raises:
            SourceError: it is neither.
        """
        ...

    def value_of_file(self, path: str) -> Any:
        """Return the value of a JSON or YAML file.

        Raises:
            SourceError: it cannot be read, or is neither.
        """
        ...


class CommandEffect(NamedTuple):
    """Effect of a command: operations of the simulation, and the workloads concerned.

    refusal: kubectl's message if it stops halfway, for example a drain that may not evict a pod. notes: hints for the
    user about the command. labelled: workloads of pods that get labels or annotations, which may change nothing else.
    """

    ops: tuple[steps.Op, ...] = ()
    concerns: frozenset[ObjectKey] = frozenset()
    refusal: str = ""
    notes: tuple[str, ...] = ()
    labelled: frozenset[ObjectKey] = frozenset()

    def __add__(self, other: tuple[Any, ...]) -> CommandEffect:
        """Return the combination of two effects, in order."""
        more = CommandEffect(*other)
        return CommandEffect(
            (*self.ops, *more.ops),
            self.concerns | more.concerns,
            self.refusal or more.refusal,
            tuple(dict.fromkeys((*self.notes, *more.notes))),
            self.labelled | more.labelled,
        )


class Situation:
    """The cluster as commands find it; its pods are the pods from the start.

    namespace: of the objects that the command names. default_namespace: for commands that name no namespace.
    """

    def __init__(self, cluster: Cluster, read: CommandReader, namespace: str) -> None:
        self.cluster = cluster
        self.namespace = self.default_namespace = namespace
        self.read = read
        self.applied: dict[ObjectKey, Plain] = {}  # the manifest that an earlier command applied last
        self._histories: dict[ObjectKey, list[Plain]] = {}
        self.lost: set[str] = set()  # names of unreachable nodes
        self.unknown: set[ObjectKey] = set()  # workloads whose template is unknown by now

    def put(self, controller: Controller) -> steps.Apply:
        """Add or replace a workload, and return the operation."""
        owner = controller.workload
        key = key_of(owner)
        before = self.cluster.controllers.get(key)
        if before is not None:
            self.history(key)
            controller = controller._replace(progress=before.progress)
        self.cluster = self.cluster._replace(controllers={**self.cluster.controllers, key: controller})
        if owner.kind in REVISION_LABEL_OF:
            self._remember(key, owner.template)
        return steps.Apply(controller)

    def remove(self, key: ObjectKey) -> None:
        """Remove a workload."""
        controllers = {known: item for known, item in self.cluster.controllers.items() if known != key}
        self.cluster = self.cluster._replace(controllers=controllers)
        self._histories.pop(key, None)
        self.applied.pop(key, None)

    def put_nodes(self, nodes: Iterable[Node]) -> None:
        """Add or replace nodes by name."""
        by_name = {node.name: node for node in self.cluster.nodes} | {node.name: node for node in nodes}
        self.cluster = self.cluster._replace(nodes=tuple(sorted(by_name.values(), key=lambda node: node.name)))

    def remove_nodes(self, names: Iterable[str]) -> None:
        """Remove nodes."""
        gone = set(names)
        self.cluster = self.cluster._replace(nodes=tuple(node for node in self.cluster.nodes if node.name not in gone))

    def node(self, name: str) -> Node:
        """Return a node that exists."""
        return next(node for node in self.cluster.nodes if node.name == name)

    def history(self, key: ObjectKey) -> list[Plain]:
        """Return the previous templates of a workload, the latest last."""
        if key not in self._histories:
            self._histories[key] = [*self._recorded(key)]
            self._remember(key, self.cluster.controllers[key].workload.template)
        return self._histories[key]

    def _recorded(self, key: ObjectKey) -> list[Plain]:
        """Return the templates of a Deployment's ReplicaSets or of ControllerRevisions, the oldest first.

        A template that the cluster facts lack is empty.
        """
        cluster = self.cluster
        if key in cluster.revisions:
            return [item.template for item in cluster.revisions[key]]
        sets = [
            cluster.controllers[made]
            for made, owner in cluster.owners.items()
            if owner == key and made in cluster.controllers
        ]
        sets.sort(key=lambda item: (natural(item.revision) or 0, item.workload.name))
        return [item.workload.template for item in sets]

    def _remember(self, key: ObjectKey, template: Plain) -> None:
        from kubectl_spread.engine.world import same_template  # numpy: 80 ms

        known = self._histories.setdefault(key, [])
        for at, item in enumerate(known):
            if same_template(item, template):
                del known[at]
                break
        known.append(template)

    def pods_of(self, key: ObjectKey) -> list[str]:
        """Return the names of a workload's pods at the start."""
        return [pod.name for pod in OwnedPods(self.cluster).of(key)]


def plain_of(controller: Controller) -> Plain:
    """Return a workload as an API object, with the fields that are in the cluster facts."""
    owner = controller.workload
    groups = KINDS[owner.kind].groups
    metadata: Plain = {"name": owner.name, "namespace": owner.namespace}
    metadata |= {"labels": dict(controller.labels)} if controller.labels else {}
    metadata |= {"annotations": dict(controller.annotations)} if controller.annotations else {}
    version = owner.api_version or (f"{min(groups)}/v1" if "" not in groups else "v1")
    return {"apiVersion": version, "kind": owner.kind, "metadata": metadata, "spec": controller.spec}


def controller_of(plain: Plain) -> Controller:
    """Return a workload from an API object that decodes."""
    metadata = plain.get("metadata") or {}
    return Controller(
        workload(plain, str(plain["kind"])),
        spec=plain.get("spec") or {},
        labels=dict(metadata.get("labels") or {}),
        annotations=dict(metadata.get("annotations") or {}),
    )
